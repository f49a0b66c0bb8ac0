/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_eval_code: flattens a function for the evaluator: structured regions become one list of instructions with jumps,
 * each op's value a fixed run of words in the frame. So running needs no recursion, whatever the nesting, and an
 * instruction finds its operands without looking at types.
 *
 * The module is one that verifies. What the verifier would refuse gives PS_FAIL here, not a crash.
 * Not here: running (ir_eval.c).
 */
#include "ir/ir_eval_int.h"

#define MAX_FRAME_WORDS ((uint32_t)1 << 22)

/* The loop that break and continue stand in. Jumps whose target is not known yet are chained through `target`. */
typedef struct Loop {
    uint32_t breaks, continues; /* the last such jump + 1; 0: none */
    bool is_parfor;
} Loop;

typedef struct Emit {
    EvalRun *run;
    PsArena *arena;
    const PsModule *module;
    const PsFunc *func;
    EvalFunc *out;
    uint32_t *slots; /* by PsRef; 0: none yet */
    PsVec(EvalPartial) partials;
    bool in_parfor;
    PsStatus status;
} Emit;

static void emit_region(Emit *e, PsRegion region, Loop *loop);

static void fail(Emit *e, PsStatus status) {
    if (e->status == PS_OK) e->status = status;
}

/* -- words -- */

static uint32_t take_words(Emit *e, int64_t count) {
    uint32_t at = e->out->nwords;
    if (count < 0 || count > MAX_FRAME_WORDS - at) {
        fail(e, PS_NOMEM);
        return 1;
    }
    e->out->nwords += (uint32_t)count;
    return at;
}

static int64_t words_of(Emit *e, PsType type) {
    switch (ps_type_info(e->module, type)->kind) {
    case PS_KIND_NONE: return 0;
    case PS_KIND_PTR: return EVAL_PLACE_WORDS;
    case PS_KIND_ARRAY: return 1;
    case PS_KIND_STRUCT: fail(e, PS_FAIL); return 0;
    default: return ps_type_count(e->module, type);
    }
}

static uint32_t slot_of(Emit *e, PsRef ref) {
    if (!e->slots[ref]) e->slots[ref] = take_words(e, words_of(e, ps_op(e->func, ref)->type));
    return e->slots[ref];
}

static bool is_value(const PsModule *m, PsType type) { return ps_type_is_scalar(ps_type_element(m, type)); }

static EvalOperand operand_of(Emit *e, PsRef ref) {
    PsType type = ps_op(e->func, ref)->type;
    EvalOperand o = {.slot = slot_of(e, ref), .count = 1, .type = type};
    if (!is_value(e->module, type)) return o;
    PsType elem = ps_type_element(e->module, type);
    o.count = (uint32_t)ps_type_count(e->module, type);
    o.unused = elem == PS_U1 ? 63 : (uint8_t)(64 - ps_scalar_bits(elem));
    o.has_sign = ps_scalar_class(elem) == PS_CLASS_INT;
    return o;
}

/* -- instructions -- */

/* The index of a new instruction, with the op's operands; 0 when there is no memory. */
static uint32_t emit(Emit *e, EvalCode code, PsRef ref) {
    const PsOp *op = ps_op(e->func, ref);
    EvalOperand *args = ps_arena_alloc(e->arena, sizeof *args * (op->nargs + 1));
    EvalIns ins = {
        .code = (uint16_t)code, .op = op->code, .ref = ref, .nargs = op->nargs, .args = args, .count = 1};
    if (args)
        for (uint32_t i = 0; i < op->nargs; i++) args[i] = operand_of(e, ps_op_arg(e->func, ref, i));
    ins.imm = op->imm;
    if (!args || !ps_vec_push(e->arena, &e->out->code, ins)) {
        fail(e, PS_NOMEM);
        return 0;
    }
    return e->out->code.len - 1;
}

static EvalIns *at(Emit *e, uint32_t index) { return &e->out->code.data[index]; }
static uint32_t here(const Emit *e) { return e->out->code.len; }

static void chain(Emit *e, uint32_t *list, uint32_t jump) {
    if (e->status != PS_OK) return;
    at(e, jump)->target = *list;
    *list = jump + 1;
}

static void land(Emit *e, uint32_t list) {
    while (list && e->status == PS_OK) {
        uint32_t next = at(e, list - 1)->target;
        at(e, list - 1)->target = here(e);
        list = next;
    }
}

static void aim(Emit *e, uint32_t jump, uint32_t target) {
    if (e->status == PS_OK) at(e, jump)->target = target;
}

static void emit_const(Emit *e, PsRef ref) {
    EvalConst c = {slot_of(e, ref), ps_op(e->func, ref)->imm};
    if (!ps_vec_push(e->arena, &e->out->consts, c)) fail(e, PS_NOMEM);
}

static void emit_arg(Emit *e, PsRef ref) {
    EvalParam p = {slot_of(e, ref), (uint32_t)ps_op(e->func, ref)->imm, 0};
    if (p.index >= e->func->params.len || ps_op(e->func, ref)->type != e->func->params.data[p.index])
        fail(e, PS_FAIL);
    p.words = (uint32_t)words_of(e, ps_op(e->func, ref)->type);
    if (!ps_vec_push(e->arena, &e->out->params, p)) fail(e, PS_NOMEM);
}

/* -- control -- */

static void emit_if(Emit *e, PsRef ref, Loop *loop) {
    PsRegion region = ps_op(e->func, ref)->region0;
    uint32_t to_else = emit(e, EVAL_JUMP_UNLESS, ref);
    emit_region(e, region, loop);
    if (ps_region(e->func, region + 1)->first) {
        uint32_t to_end = emit(e, EVAL_JUMP, ref);
        aim(e, to_else, here(e));
        emit_region(e, region + 1, loop);
        aim(e, to_end, here(e));
    } else {
        aim(e, to_else, here(e));
    }
}

/* Words of a region's parameters, one after the other; the first. */
static uint32_t take_params(Emit *e, PsRegion region, uint32_t count) {
    const PsRegionInfo *info = ps_region(e->func, region);
    if (info->nparams != count) fail(e, PS_FAIL);
    for (uint32_t i = 0; i < info->nparams; i++) slot_of(e, info->params + i);
    return info->nparams ? e->slots[info->params] : 1;
}

static void emit_for(Emit *e, PsRef ref) {
    Loop loop = {0};
    PsRegion region = ps_op(e->func, ref)->region0;
    uint32_t param = take_params(e, region, 1);
    uint32_t enter = emit(e, EVAL_FOR, ref);
    uint32_t start = here(e);
    emit_region(e, region, &loop);
    land(e, loop.continues);
    uint32_t next = emit(e, EVAL_FOR_NEXT, ref);
    aim(e, next, start);
    aim(e, enter, here(e));
    land(e, loop.breaks);
    if (e->status == PS_OK) at(e, enter)->dst = at(e, next)->dst = param;
}

static void emit_while(Emit *e, PsRef ref) {
    Loop loop = {0};
    PsRegion region = ps_op(e->func, ref)->region0;
    uint32_t start = here(e);
    emit_region(e, region, &loop); /* its yield leaves like a break */
    emit_region(e, region + 1, &loop);
    uint32_t back = emit(e, EVAL_JUMP, ref);
    aim(e, back, start);
    while (loop.continues && e->status == PS_OK) {
        uint32_t next = at(e, loop.continues - 1)->target;
        aim(e, loop.continues - 1, start);
        loop.continues = next;
    }
    land(e, loop.breaks);
}

static void emit_parfor(Emit *e, PsRef ref) {
    Loop loop = {.is_parfor = true};
    const PsOp *op = ps_op(e->func, ref);
    if (op->nargs == 0 || op->nargs % 2 || op->nargs / 2 > PS_MAX_AXES || e->in_parfor) {
        fail(e, PS_FAIL);
        return;
    }
    PsRegion region = op->region0;
    uint32_t param = take_params(e, region, op->nargs / 2);
    uint32_t enter = emit(e, EVAL_PARFOR, ref);
    uint64_t grain = ps_op(e->func, ref)->imm;
    uint32_t start = here(e);
    e->in_parfor = true;
    e->partials.data = NULL;
    e->partials.len = e->partials.cap = 0;
    emit_region(e, region, &loop);
    e->in_parfor = false;
    land(e, loop.continues);
    uint32_t next = emit(e, EVAL_PARFOR_NEXT, ref);
    aim(e, next, start);
    aim(e, enter, here(e));
    if (e->status != PS_OK) return;
    for (int i = 0; i < 2; i++) {
        EvalIns *ins = at(e, i ? next : enter);
        ins->dst = param;
        ins->imm = grain;
        ins->count = e->partials.len;
        ins->u.partials = e->partials.data;
    }
}

static void emit_leave(Emit *e, PsRef ref, Loop *loop) {
    bool stays = ps_op(e->func, ref)->code == PS_OP_CONTINUE;
    if (!loop || (loop->is_parfor && !stays)) {
        fail(e, PS_FAIL);
        return;
    }
    chain(e, stays ? &loop->continues : &loop->breaks, emit(e, EVAL_JUMP, ref));
}

static void emit_yield(Emit *e, PsRef ref, Loop *loop) {
    if (!loop)
        fail(e, PS_FAIL);
    else
        chain(e, &loop->breaks, emit(e, EVAL_JUMP_UNLESS, ref));
}

static void emit_call(Emit *e, PsRef ref) {
    const PsOp *op = ps_op(e->func, ref);
    if (op->imm >= e->module->funcs.len || op->nargs != e->module->funcs.data[op->imm]->params.len) {
        fail(e, PS_FAIL);
        return;
    }
    for (uint32_t i = 0; i < op->nargs; i++) /* or words would go where there are none */
        if (ps_op(e->func, ps_op_arg(e->func, ref, i))->type != e->module->funcs.data[op->imm]->params.data[i])
            fail(e, PS_FAIL);
    uint32_t dst = op->type ? slot_of(e, ref) : 0;
    uint32_t call = emit(e, EVAL_CALL, ref);
    if (e->status == PS_OK) at(e, call)->dst = dst;
}

/* -- everything else -- */

static const struct {
    EvalFn run;
    PsOpCode op; /* computed with, when it is not the op itself */
} handlers[PS_OP_COUNT] = {
    [PS_OP_SPLAT] = {ir_eval_splat, 0},
    [PS_OP_TILE] = {ir_eval_tile, 0},
    [PS_OP_EXTRACT] = {ir_eval_extract, 0},
    [PS_OP_BROADCAST] = {ir_eval_broadcast, 0},
    [PS_OP_RESHAPE] = {ir_eval_reshape, 0},
    [PS_OP_REDUCE] = {ir_eval_reduce, 0},
    [PS_OP_PERMUTE] = {ir_eval_permute, 0},
    [PS_OP_DOT] = {ir_eval_dot, 0},
    [PS_OP_VAR] = {ir_eval_var, 0},
    [PS_OP_DIM] = {ir_eval_dim, 0},
    [PS_OP_PLACE] = {ir_eval_place, 0},
    [PS_OP_ELEM] = {ir_eval_elem, 0},
    [PS_OP_BASE] = {ir_eval_base, 0},
    [PS_OP_STRIDE] = {ir_eval_stride, 0},
    [PS_OP_PTRADD] = {ir_eval_ptradd, 0},
    [PS_OP_LOAD] = {ir_eval_load, 0},
    [PS_OP_VOLATILE] = {ir_eval_load, 0},
    [PS_OP_ADDRESS] = {ir_eval_address, 0},
    [PS_OP_CLOCK] = {ir_eval_clock, 0},
    [PS_OP_STORE] = {ir_eval_store, 0},
    [PS_OP_ATOMIC_ADD] = {ir_eval_atomic, PS_OP_ADD},
    [PS_OP_ATOMIC_MUL] = {ir_eval_atomic, PS_OP_MUL},
    [PS_OP_ATOMIC_MIN] = {ir_eval_atomic, PS_OP_MIN},
    [PS_OP_ATOMIC_MAX] = {ir_eval_atomic, PS_OP_MAX},
    [PS_OP_ATOMIC_AND] = {ir_eval_atomic, PS_OP_AND},
    [PS_OP_ATOMIC_OR] = {ir_eval_atomic, PS_OP_OR},
    [PS_OP_ATOMIC_XOR] = {ir_eval_atomic, PS_OP_XOR},
    [PS_OP_ATOMIC_XCHG] = {ir_eval_exchange, 0},
    [PS_OP_ATOMIC_CAS] = {ir_eval_exchange, 0},
    [PS_OP_PARTIAL] = {ir_eval_partial, 0},
    [PS_OP_PRINT] = {ir_eval_print, 0},
    [PS_OP_CHECK] = {ir_eval_check, 0},
    [PS_OP_WARN] = {ir_eval_warn, 0},
};

/* Which slot a partial has, made when it is the first of its kind. */
static uint32_t partial_slot(Emit *e, PsRef place, PsCombine combine, const EvalIns *ins) {
    for (uint32_t i = 0; i < e->partials.len; i++)
        if (e->partials.data[i].place == place && e->partials.data[i].combine == combine) return i;
    EvalPartial partial = {.place = place, .operand = ins->args[0], .combine = combine};
    partial.type = ins->type;
    partial.count = ins->args[1].count;
    if (!e->in_parfor) fail(e, PS_FAIL);
    if (!ps_vec_push(e->arena, &e->partials, partial)) fail(e, PS_NOMEM);
    return e->partials.len - 1;
}

/* The element an op computes with, and how many: of the value when there is one, of the place's pointee when not. */
static void set_types(Emit *e, EvalIns *ins) {
    const PsModule *m = e->module;
    const PsOp *op = ps_op(e->func, ins->ref);
    PsType value = op->type;
    if (op->code == PS_OP_VAR) value = ps_type_info(m, op->type)->elem;
    if (op->code == PS_OP_STORE || op->code == PS_OP_PARTIAL) value = ins->args[1].type;
    if (is_value(m, value)) {
        ins->count = (uint32_t)ps_type_count(m, value);
        ins->type = ins->to = ps_type_element(m, value);
    }
    if (ins->run != ir_eval_scalar && ins->run != ir_eval_map) return;
    const EvalOperand *first = &ins->args[op->code == PS_OP_SELECT ? 1 : 0];
    if (is_value(m, first->type)) ins->type = ps_type_element(m, first->type);
    PsRule rule = ps_op_info[op->code].rule;
    if (rule == PS_RULE_SHIFT || rule == PS_RULE_IPOW) ins->to = ps_type_element(m, ins->args[1].type);
}

static EvalFn handler_of(Emit *e, const EvalIns *ins) {
    if (handlers[ins->op].run) return handlers[ins->op].run;
    const PsOpInfo *info = &ps_op_info[ins->op];
    if (info->effect != PS_EFFECT_PURE || info->lane != PS_LANE_MAP) return NULL;
    if (ins->nargs < 1 || ins->nargs > 3 || info->nargs != (int)ins->nargs) return NULL;
    /* A select of places copies words; everything else on one element is plain. */
    if (ins->op == PS_OP_SELECT && !is_value(e->module, ins->args[1].type)) return NULL;
    return ps_type_is_scalar(ps_op(e->func, ins->ref)->type) ? ir_eval_scalar : ir_eval_map;
}

static void emit_plain(Emit *e, PsRef ref) {
    uint32_t dst = ps_op(e->func, ref)->type ? slot_of(e, ref) : 0;
    uint32_t index = emit(e, EVAL_RUN, ref);
    if (e->status != PS_OK) return;
    EvalIns *ins = at(e, index);
    ins->dst = dst;
    ins->run = handler_of(e, ins);
    if (!ins->run) {
        fail(e, PS_FAIL);
        return;
    }
    set_types(e, ins);
    if (ins->op == PS_OP_PARTIAL) ins->u.slot = partial_slot(e, ps_op_arg(e->func, ref, 0), ins->imm, ins);
    if (ins->op == PS_OP_VAR)
        ins->u.storage = take_words(e, ((int64_t)ins->count * ps_scalar_size(ins->type) + 7) / 8);
    if (ins->op == PS_OP_PRINT) {
        ins->u.values = ps_arena_alloc(e->arena, sizeof(uint64_t) * (ins->nargs + 1));
        if (!ins->u.values) fail(e, PS_NOMEM);
    }
    if (handlers[ins->op].op) ins->op = (uint16_t)handlers[ins->op].op;
}

static void emit_op(Emit *e, PsRef ref, Loop *loop) {
    switch (ps_op(e->func, ref)->code) {
    case PS_OP_CONST: emit_const(e, ref); break;
    case PS_OP_ARG: emit_arg(e, ref); break;
    case PS_OP_IF: emit_if(e, ref, loop); break;
    case PS_OP_FOR: emit_for(e, ref); break;
    case PS_OP_WHILE: emit_while(e, ref); break;
    case PS_OP_PARFOR: emit_parfor(e, ref); break;
    case PS_OP_YIELD: emit_yield(e, ref, loop); break;
    case PS_OP_BREAK:
    case PS_OP_CONTINUE: emit_leave(e, ref, loop); break;
    case PS_OP_RETURN: emit(e, EVAL_RETURN, ref); break;
    case PS_OP_CALL: emit_call(e, ref); break;
    default: emit_plain(e, ref); break;
    }
}

static void emit_region(Emit *e, PsRegion region, Loop *loop) {
    for (PsRef ref = ps_region(e->func, region)->first; ref && e->status == PS_OK;
         ref = ps_op(e->func, ref)->next)
        emit_op(e, ref, loop);
}

EvalFunc *ir_eval_flatten(EvalRun *run, const PsFunc *func) {
    EvalFunc *out = ps_arena_alloc(&run->arena, sizeof *out);
    Emit e = {.run = run, .arena = &run->arena, .module = run->module, .func = func, .out = out};
    e.slots = ps_arena_alloc(&run->arena, sizeof *e.slots * (func->ops.len + 1));
    if (!out || !e.slots) fail(&e, PS_NOMEM);
    if (e.status == PS_OK) {
        out->func = func;
        out->nwords = 1; /* word 0 belongs to nobody */
        emit_region(&e, 1, NULL);
        /* Falling off the end returns; op 0 is the placeholder, without operands. */
        emit(&e, EVAL_RETURN, 0);
    }
    if (e.status == PS_OK) return out;
    run->status = e.status;
    return NULL;
}
