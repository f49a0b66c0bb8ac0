/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_eval: executes a module, before or after any pass up to `lanes`: the oracle that generated code is compared with.
 * Nothing is assumed of the arguments' values: bounds are checked at every access, calls have a depth limit, and the
 * caller says how many steps a run may take. One thread, ascending order.
 *
 * ir_eval_int.h tells how the work is divided. Not here: what a scalar op computes (ir_scalar.c).
 */
#include "ir/ir_eval_int.h"

#define MAX_FRAME_BYTES ((size_t)1 << 28) /* of all frames together */

#define PS_SCALAR(id, name, bits, class, ctype)                                                                \
    _Static_assert(PS_FORMAT_##id == 'a' + PS_##id, "base.h's letter of " name);
#include "ir/types.def"

bool ir_eval_stop(EvalRun *run, PsStatus status) {
    run->status = status;
    return false;
}

bool ir_eval_fault(EvalRun *run, PsRef ref, PsFaultKind kind, uint32_t nvalues, const int64_t *values) {
    PsEvalFault *fault = &run->out->fault;
    run->out->faulted = true;
    *fault = (PsEvalFault){.kind = kind, .span = ps_op(run->frame->func->func, ref)->span};
    fault->nvalues = nvalues < PS_FAULT_VALUES ? nvalues : PS_FAULT_VALUES;
    for (uint32_t i = 0; i < fault->nvalues; i++) fault->values[i] = values[i];
    for (const EvalFrame *frame = run->frame; frame->caller; frame = frame->caller)
        ps_fault_add_call(&fault->calls, ps_op(frame->caller->func->func, frame->call->ref)->span);
    return false;
}

bool ir_eval_spend(EvalRun *run, uint64_t steps) {
    run->out->out_of_steps = run->steps < steps;
    run->steps -= run->out->out_of_steps ? run->steps : steps;
    return !run->out->out_of_steps;
}

bool ir_eval_print(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const PsModule *m = run->module;
    if (ins->imm >= m->texts.len) return ir_eval_stop(run, PS_FAIL);
    for (uint32_t i = 0; i < ins->nargs; i++) ins->u.values[i] = words[ins->args[i].slot];
    ps_format_values(&run->out->printed, m->texts.data[ins->imm], ins->u.values);
    return !run->out->printed.failed || ir_eval_stop(run, PS_NOMEM);
}

bool ir_eval_check(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    int64_t values[PS_FAULT_VALUES];
    uint32_t count = 0;
    if (words[ins->args[0].slot] & 1) return true;
    for (uint32_t i = 1; i < ins->nargs && count < PS_FAULT_VALUES; i++)
        values[count++] = ir_eval_int(&ins->args[i], words);
    return ir_eval_fault(run, ins->ref, (PsFaultKind)ins->imm, count, values);
}

/* Warnings are the launch's: results are the same with and without. */
bool ir_eval_warn(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    (void)run, (void)ins, (void)words;
    return true;
}

/* -- frames -- */

static EvalFrame *push_frame(EvalRun *run, uint32_t index, const EvalIns *call) {
    if (!run->funcs[index]) run->funcs[index] = ir_eval_flatten(run, run->module->funcs.data[index]);
    const EvalFunc *func = run->funcs[index];
    if (!func) return NULL;
    size_t size = sizeof(EvalFrame) + sizeof(uint64_t) * func->nwords;
    EvalFrame *frame = size <= run->room ? ps_alloc(size) : NULL;
    if (!frame) {
        run->status = PS_NOMEM;
        return NULL;
    }
    run->room -= size;
    frame->caller = run->frame;
    frame->func = func;
    frame->call = call;
    frame->depth = run->frame ? run->frame->depth + 1 : 0;
    frame->size = size;
    for (uint32_t i = 0; i < func->consts.len; i++)
        frame->words[func->consts.data[i].slot] = func->consts.data[i].bits;
    return run->frame = frame;
}

static void pop_frame(EvalRun *run) {
    EvalFrame *frame = run->frame;
    run->frame = frame->caller;
    run->room += frame->size;
    ps_free(frame);
}

/* Values and places go in as their words, arrays as one. */
static bool enter(EvalRun *run, const EvalIns *call) {
    EvalFrame *caller = run->frame;
    if (caller->depth >= PS_MAX_DEPTH) {
        int64_t depth = caller->depth + 1;
        return ir_eval_fault(run, call->ref, PS_FAULT_DEPTH, 1, &depth);
    }
    EvalFrame *frame = push_frame(run, (uint32_t)call->imm, call);
    if (!frame) return false;
    for (uint32_t i = 0; i < frame->func->params.len; i++) {
        EvalParam param = frame->func->params.data[i];
        const EvalOperand *arg = &call->args[param.index];
        for (uint32_t e = 0; e < param.words; e++) frame->words[param.slot + e] = caller->words[arg->slot + e];
    }
    return ir_eval_spend(run, frame->func->nwords / 8); /* a frame is cleared */
}

/* Back to the caller with the result, or the end of main. */
static void leave(EvalRun *run, const EvalIns *ins) {
    EvalFrame *frame = run->frame, *caller = frame->caller;
    if (!caller) {
        for (uint32_t i = 0; i < ins->nargs && i < PS_COUNT(run->out->results); i++)
            run->out->results[i] = frame->words[ins->args[i].slot];
        run->done = true;
        return;
    }
    uint32_t dst = frame->call->dst;
    if (dst)
        caller->words[dst] = ins->nargs ? frame->words[ins->args[0].slot] : 0; /* ended without a return: 0 */
    pop_frame(run);
}

/* -- the loop -- */

/* i += 1, or i = low; whether it is below high. The parameter has the operands' type. */
static bool turn(const EvalIns *ins, uint64_t *words, bool first) {
    EvalOperand param = ins->args[0];
    if (!first) param.slot = ins->dst;
    int64_t i = ir_eval_int(&param, words), high = ir_eval_int(&ins->args[1], words);
    i += !first; /* it was below high */
    words[ins->dst] = (uint64_t)i << param.unused >> param.unused;
    return i < high;
}

static void run_main(EvalRun *run) {
    uint64_t *words = run->frame->words;
    const EvalIns *code = run->frame->func->code.data, *at = code;
    bool go;
    while (run->steps) {
        run->steps--;
        const EvalIns *ins = at++;
        /* Never NULL: flattened code ends with a return. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
        switch ((EvalCode)ins->code) {
        case EVAL_RUN:
            if (!ins->run(run, ins, words)) return;
            break;
        case EVAL_JUMP: at = code + ins->target; break;
        case EVAL_JUMP_UNLESS:
            if (!(words[ins->args[0].slot] & 1)) at = code + ins->target;
            break;
        case EVAL_FOR:
            if (!turn(ins, words, true)) at = code + ins->target;
            break;
        case EVAL_FOR_NEXT:
            if (turn(ins, words, false)) at = code + ins->target;
            break;
        case EVAL_PARFOR:
            if (!ir_eval_parfor_enter(run, ins, words, &go)) return;
            if (!go) at = code + ins->target;
            break;
        case EVAL_PARFOR_NEXT:
            if (!ir_eval_parfor_next(run, ins, words, &go)) return;
            if (go) at = code + ins->target;
            break;
        case EVAL_CALL:
            if (!enter(run, ins)) return;
            words = run->frame->words;
            at = code = run->frame->func->code.data;
            break;
        case EVAL_RETURN: {
            const EvalIns *call = run->frame->call;
            leave(run, ins);
            if (run->done) return;
            words = run->frame->words;
            code = run->frame->func->code.data;
            at = call + 1;
            break;
        }
        }
    }
    run->out->out_of_steps = true;
}

/* -- entry -- */

static bool set_arguments(EvalRun *run, const PsFunc *func, const PsEvalArg *args) {
    EvalArray *arrays = ps_arena_alloc(&run->arena, sizeof *arrays * (func->params.len + 1));
    EvalFrame *frame = push_frame(run, 0, NULL);
    if (!arrays || !frame) return ir_eval_stop(run, run->status == PS_OK ? PS_NOMEM : run->status);
    for (uint32_t i = 0; i < func->params.len; i++) {
        PsType type = func->params.data[i];
        const PsTypeInfo *info = ps_type_info(run->module, type);
        if (info->kind != PS_KIND_ARRAY) continue;
        if (args[i].array.ndim != info->ndim) return ir_eval_stop(run, PS_FAIL);
        arrays[i] = ir_eval_array(run->module, type, &args[i].array);
    }
    for (uint32_t i = 0; i < frame->func->params.len; i++) {
        EvalParam param = frame->func->params.data[i];
        bool is_array = ps_type_info(run->module, func->params.data[param.index])->kind == PS_KIND_ARRAY;
        frame->words[param.slot] =
            is_array ? (uint64_t)(uintptr_t)&arrays[param.index] : args[param.index].bits;
    }
    return true;
}

PsStatus ps_ir_eval(const PsModule *m, const PsEvalArg *args, uint32_t nargs, uint64_t max_steps,
                    PsEvalResult *out) {
    *out = (PsEvalResult){0};
    if (m->funcs.len == 0 || nargs != m->funcs.data[0]->params.len) return PS_FAIL;
    EvalRun run = {.module = m, .steps = max_steps, .room = MAX_FRAME_BYTES, .out = out};
    ps_arena_init(&run.arena);
    ps_arena_init(&run.parfor.arena);
    run.funcs = ps_arena_alloc(&run.arena, sizeof *run.funcs * m->funcs.len);
    if (!run.funcs) run.status = PS_NOMEM;
    if (run.status == PS_OK && set_arguments(&run, m->funcs.data[0], args)) run_main(&run);
    while (run.frame) pop_frame(&run);
    ps_arena_free(&run.parfor.arena);
    ps_arena_free(&run.arena);
    return run.status;
}
