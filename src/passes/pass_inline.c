/* SPDX-License-Identifier: Apache-2.0
 *
 * inline: calls in parallel loops of small functions become the functions' ops, so that such loops can run in lanes, which do
 * not call. LLVM inlines as much, but only when the choice of lanes has been made.
 *
 * A function goes in that calls none, leaves at its end only, and is small enough for LLVM to inline it as well. Runs when contractions, reductions and grains are settled, so no bit depends on
 * it. Not in checked modules: a fault names the calls that led to it, and such loops have no lanes.
 */
#include "passes/passes_int.h"

#define MAX_SIZE    100  /* ops of a function; as in code generation */
#define MAX_ADDED   3000 /* ops of a kernel's */
#define MAX_NESTING 100  /* regions around a call */

typedef struct Inline {
    PsModule *m;
    PsFunc *f;       /* main */
    bool *fits;      /* by function */
    uint32_t *sizes; /* by function */
    uint32_t added;
} Inline;

/* One call: what values of the function are in main. */
typedef struct Copy {
    PsFunc *to;
    const PsFunc *from;
    PsRef call, result;
    PsRef *map; /* by PsRef of the function */
} Copy;

/* -- which functions -- */

static bool is_last_of_body(const PsFunc *f, PsRef r) { return ps_op(f, r)->region == 1 && !ps_op(f, r)->next; }

static bool fits(const PsModule *m, uint32_t index, uint32_t *size) {
    const PsFunc *f = m->funcs.data[index];
    bool returns = false;
    *size = 0;
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        const PsOp *op = ps_op(f, r);
        if (++*size > MAX_SIZE || op->code == PS_OP_CALL) return false;
        if (op->code != PS_OP_RETURN) continue;
        if (!is_last_of_body(f, r) || op->nargs > 1) return false;
        returns = op->nargs == 1;
    }
    return returns || !f->results.len;
}

static bool is_in_loop(const PsFunc *f, PsRef r) {
    for (int depth = 0; depth < MAX_NESTING; depth++) {
        if (ps_op(f, r)->code == PS_OP_PARFOR) return true;
        r = ps_region(f, ps_op(f, r)->region)->owner;
        if (!r) return false;
    }
    return false;
}

static bool is_wanted(const Inline *c, PsRef r) {
    const PsOp *op = ps_op(c->f, r);
    if (op->code != PS_OP_CALL || !op->imm || op->imm >= c->m->funcs.len || !c->fits[op->imm]) return false;
    const PsFunc *callee = c->m->funcs.data[op->imm];
    if (op->nargs != callee->params.len || c->added + c->sizes[op->imm] > MAX_ADDED) return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (ps_op(c->f, ps_op_arg(c->f, r, i))->type != callee->params.data[i]) return false;
    return is_in_loop(c->f, r);
}

/* -- copying -- */

static bool copy_region(Copy *c, PsBuilder *b, PsRegion region);

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

static bool copy_op(Copy *c, PsBuilder *b, PsRef r) {
    const PsOp *op = ps_op(c->from, r);
    PsVec(PsRef) args = {0};
    if (op->code == PS_OP_ARG) {
        c->map[r] = ps_op_arg(c->to, c->call, (uint32_t)op->imm);
        return true;
    }
    if (op->code == PS_OP_RETURN) {
        c->result = op->nargs ? c->map[ps_op_arg(c->from, r, 0)] : 0;
        return true;
    }
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!ps_vec_push(c->to->module->arena, &args, c->map[ps_op_arg(c->from, r, i)])) return false;
    b->span = op->span;
    c->map[r] = ps_build_op(b, (PsOpCode)op->code, op->type, args.data, op->nargs, op->imm);
    return c->map[r] && copy_control(c, r, c->map[r]);
}

static bool copy_region(Copy *c, PsBuilder *b, PsRegion region) {
    for (PsRef r = ps_region(c->from, region)->first; r; r = ps_op(c->from, r)->next)
        if (!copy_op(c, b, r)) return false;
    return true;
}

/* -- the pass -- */

static bool put_in(Inline *c, PsRef call, PsRef *result) {
    uint64_t index = ps_op(c->f, call)->imm;
    Copy copy = {.to = c->f, .from = c->m->funcs.data[index], .call = call};
    copy.map = ps_arena_alloc(c->m->arena, sizeof *copy.map * copy.from->ops.len);
    PsBuilder b = passes_before(c->f, call);
    if (!copy.map || !copy_region(&copy, &b, 1)) return false;
    c->added += c->sizes[index];
    *result = copy.result;
    return true;
}

static bool put_all_in(Inline *c) {
    PsFunc *f = c->f;
    PsVec(PsRef) calls = {0}, results = {0};
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        PsRef result;
        if (!is_wanted(c, r)) continue;
        if (!put_in(c, r, &result) || !ps_vec_push(c->m->arena, &calls, r)) return false;
        if (!ps_vec_push(c->m->arena, &results, result)) return false;
    }
    if (!calls.len) return true;
    PsRef *becomes = ps_arena_alloc(c->m->arena, sizeof *becomes * f->ops.len);
    if (!becomes) return false;
    for (uint32_t i = 0; i < calls.len; i++) becomes[calls.data[i]] = results.data[i];
    ps_func_remap(f, becomes);
    for (uint32_t i = 0; i < calls.len; i++) ps_op_remove(f, calls.data[i]);
    return true;
}

PsStatus ps_pass_inline(PsModule *m, PsDiag *diag) {
    (void)diag;
    uint32_t n = m->funcs.len;
    if (n < 2 || m->checked) return PS_OK;
    Inline c = {.m = m, .f = m->funcs.data[0]};
    c.fits = ps_arena_alloc(m->arena, sizeof *c.fits * n);
    c.sizes = ps_arena_alloc(m->arena, sizeof *c.sizes * n);
    if (!c.fits || !c.sizes) return PS_NOMEM;
    for (uint32_t i = 1; i < n; i++) c.fits[i] = fits(m, i, &c.sizes[i]);
    return put_all_in(&c) ? PS_OK : PS_NOMEM;
}
