/* SPDX-License-Identifier: Apache-2.0
 *
 * inline: a function's ops in place of a call of it. Where it returns before its end, the ops stand in a loop of one turn,
 *
 *     for 0, 1 { .. store result, value; break .. }
 *
 * and a return from loops of its own sets `done` and leaves them one after the other, each followed by `if done { break }`.
 */
#include "passes/pass_inline.h"

/* What values of the function are in the caller. */
typedef struct Copy {
    PsFunc *to;
    const PsFunc *from;
    PsRef call, result;
    PsRef *map;    /* by PsRef of the function */
    bool is_early; /* it returns before its end */
    PsRef result_at,
        done;  /* locals of the caller: where early returns put the result; whether inner loops have to end */
    int loops; /* of the function, around what is copied */
} Copy;

static bool copy_region(Copy *c, PsBuilder *b, PsRegion region);

static bool is_last_of_body(const PsFunc *f, PsRef r) { return ps_op(f, r)->region == 1 && !ps_op(f, r)->next; }

static bool is_loop(const PsOp *op) { return op->code == PS_OP_FOR || op->code == PS_OP_WHILE; }

static bool returns_inside(const PsFunc *f, PsRef op) {
    PsRef end = ps_walk_skip(f, op);
    for (PsRef r = ps_walk_next(f, op); r && r != end; r = ps_walk_next(f, r))
        if (ps_op(f, r)->code == PS_OP_RETURN) return true;
    return false;
}

static bool copy_control(Copy *c, PsRef from, PsRef to) {
    for (uint32_t i = 0; i < ps_op(c->from, from)->nregions; i++) {
        PsRegion source = ps_op(c->from, from)->region0 + i, target = ps_op(c->to, to)->region0 + i;
        const PsRegionInfo *info = ps_region(c->from, source);
        for (uint32_t k = 0; k < info->nparams; k++)
            c->map[info->params + k] =
                ps_region_add_param(c->to, target, ps_op(c->from, info->params + k)->type);
        PsBuilder inner = ps_builder_at_end(c->to, target);
        if (!copy_region(c, &inner, source)) return false;
    }
    return true;
}

static void copy_return(Copy *c, PsBuilder *b, PsRef r) {
    PsRef value = ps_op(c->from, r)->nargs ? c->map[ps_op_arg(c->from, r, 0)] : 0;
    if (!c->is_early) {
        c->result = value;
        return;
    }
    if (value) ps_build_store(b, c->result_at, value);
    if (c->loops) ps_build_store(b, c->done, ps_build_int(b, PS_U1, 1));
    if (!is_last_of_body(c->from, r)) ps_build_op(b, PS_OP_BREAK, PS_KIND_NONE, NULL, 0, 0);
}

/* Behind a loop that the function may have returned from. */
static void leave_if_done(Copy *c, PsBuilder *b) {
    PsRef done = ps_build_load(b, c->done), branch = ps_build_op(b, PS_OP_IF, PS_KIND_NONE, &done, 1, 0);
    PsBuilder inner = ps_builder_at_end(c->to, ps_op(c->to, branch)->region0);
    inner.span = b->span;
    ps_build_op(&inner, PS_OP_BREAK, PS_KIND_NONE, NULL, 0, 0);
}

static bool copy_op(Copy *c, PsBuilder *b, PsRef r) {
    const PsOp *op = ps_op(c->from, r);
    PsVec(PsRef) args = {0};
    b->span = op->span;
    if (op->code == PS_OP_ARG) {
        c->map[r] = ps_op_arg(c->to, c->call, (uint32_t)op->imm);
        return true;
    }
    if (op->code == PS_OP_RETURN) {
        copy_return(c, b, r);
        return true;
    }
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!ps_vec_push(c->to->module->arena, &args, c->map[ps_op_arg(c->from, r, i)])) return false;
    c->map[r] = ps_build_op(b, (PsOpCode)op->code, op->type, args.data, op->nargs, op->imm);
    c->loops += is_loop(op);
    if (!c->map[r] || !copy_control(c, r, c->map[r])) return false;
    c->loops -= is_loop(op);
    if (is_loop(op) && c->is_early && returns_inside(c->from, r)) leave_if_done(c, b);
    return true;
}

static bool copy_region(Copy *c, PsBuilder *b, PsRegion region) {
    for (PsRef r = ps_region(c->from, region)->first; r; r = ps_op(c->from, r)->next)
        if (!copy_op(c, b, r)) return false;
    return true;
}

static bool returns_early(const PsFunc *f) {
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r))
        if (ps_op(f, r)->code == PS_OP_RETURN && !is_last_of_body(f, r)) return true;
    return false;
}

static bool copy_in_loop(Copy *c, PsBuilder *b) {
    PsRef bounds[2] = {ps_build_int(b, PS_I32, 0), ps_build_int(b, PS_I32, 1)};
    if (c->from->results.len) c->result_at = ps_build_var(b, c->from->results.data[0]);
    c->done = ps_build_var(b, PS_U1);
    PsRef loop = ps_build_op(b, PS_OP_FOR, PS_KIND_NONE, bounds, 2, 0);
    PsRegion body = ps_op(c->to, loop)->region0;
    ps_region_add_param(c->to, body, PS_I32);
    PsBuilder inner = ps_builder_at_end(c->to, body);
    if (!copy_region(c, &inner, 1)) return false;
    if (c->result_at) c->result = ps_build_load(b, c->result_at);
    return true;
}

bool inline_copy(PsFunc *to, PsRef call, PsRef *out_result) {
    const PsFunc *from = to->module->funcs.data[ps_op(to, call)->imm];
    Copy copy = {.to = to, .from = from, .call = call, .is_early = returns_early(from)};
    copy.map = ps_arena_alloc(to->module->arena, sizeof *copy.map * from->ops.len);
    PsBuilder b = passes_before(to, call);
    if (!copy.map || !(copy.is_early ? copy_in_loop(&copy, &b) : copy_region(&copy, &b, 1))) return false;
    *out_result = copy.result;
    return true;
}
