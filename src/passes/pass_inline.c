/* SPDX-License-Identifier: Apache-2.0
 *
 * inline: calls in parallel loops become the ops of the functions, so that such loops can run in lanes, which do not call. LLVM
 * inlines as much of the small ones, but only when the choice of lanes has been made.
 *
 * A loop gets all that it calls, and that those call, if it stays of a size that lanes are for; else only functions that are
 * small and call none. Functions that call themselves stay. Runs when contractions, reductions and grains are settled, so no bit
 * depends on it. Not in checked modules: a fault names the calls that led to it. The copying is in pass_inline_copy.c.
 */
#include "passes/pass_inline.h"

#define MAX_SIZE 100 /* ops of a small function; as in code generation */
#define MAX_ADDED                                                                                              \
    3000 /* ops that small functions may add to a kernel, and functions that are called again to a loop */
#define MAX_LOOP    5000 /* ops of a loop with all that it calls */
#define MAX_NESTING 100  /* regions around a call, and functions that call each other */
#define NEVER       UINT32_MAX

typedef struct Inline {
    PsModule *m;
    PsFunc *f;          /* main */
    uint32_t *wholes;   /* by function: ops, with those of all that it calls; NEVER; 0: not known yet */
    bool *is_small;     /* by function */
    PsRef *seen;        /* by function: the last parallel loop in which a call of it was met */
    PsVec(PsRef) loops; /* parallel loops that get all */
    uint32_t added;
} Inline;

/* -- which functions -- */

static uint32_t sum_of(uint32_t a, uint32_t b) { return a == NEVER || b > MAX_LOOP - a ? NEVER : a + b; }

static uint32_t find_whole(Inline *c, uint64_t index, int depth);

/* Ops of a function's, or of one op's regions (`first` .. before `end`). */
static uint32_t size_of(Inline *c, const PsFunc *f, PsRef first, PsRef end, int depth) {
    uint32_t size = 0;
    for (PsRef r = first; r && r != end && size != NEVER; r = ps_walk_next(f, r)) {
        const PsOp *op = ps_op(f, r);
        uint32_t called = op->code == PS_OP_CALL ? find_whole(c, op->imm, depth) : 1;
        if (op->code == PS_OP_RETURN && op->nargs > 1) called = NEVER;
        size = called == NEVER ? NEVER : sum_of(size, called);
    }
    return size;
}

static uint32_t find_whole(Inline *c, uint64_t index, int depth) {
    if (!index || index >= c->m->funcs.len || depth > MAX_NESTING) return NEVER;
    if (c->wholes[index]) return c->wholes[index];
    const PsFunc *f = c->m->funcs.data[index];
    c->wholes[index] = NEVER; /* while it is looked for: then it calls itself */
    c->wholes[index] = size_of(c, f, ps_walk_first(f), 0, depth + 1);
    return c->wholes[index];
}

static bool calls_none(const PsFunc *f) {
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r))
        if (ps_op(f, r)->code == PS_OP_CALL) return false;
    return true;
}

/* -- which calls -- */

static bool is_serial(const PsFunc *f, PsRef loop) {
    PsRef end = ps_walk_skip(f, loop);
    for (PsRef r = ps_walk_next(f, loop); r && r != end; r = ps_walk_next(f, r))
        if (ps_op_info[ps_op(f, r)->code].lane == PS_LANE_SERIAL) return true;
    return false;
}

/* Ops that stand in the loop again because a function is called in more than one place: calls would share them. */
static uint32_t repeated_by(Inline *c, PsRef loop) {
    PsRef end = ps_walk_skip(c->f, loop);
    uint32_t sum = 0;
    for (PsRef r = ps_walk_next(c->f, loop); r && r != end && sum != NEVER; r = ps_walk_next(c->f, r)) {
        const PsOp *op = ps_op(c->f, r);
        if (op->code != PS_OP_CALL) continue;
        if (c->seen[op->imm] == loop) sum = sum_of(sum, find_whole(c, op->imm, 0));
        c->seen[op->imm] = loop;
    }
    return sum;
}

static bool find_loops(Inline *c) {
    for (PsRef r = ps_walk_first(c->f); r; r = ps_walk_next(c->f, r)) {
        if (ps_op(c->f, r)->code != PS_OP_PARFOR || is_serial(c->f, r)) continue;
        if (size_of(c, c->f, ps_walk_next(c->f, r), ps_walk_skip(c->f, r), 0) == NEVER) continue;
        if (repeated_by(c, r) > MAX_ADDED) continue;
        if (!ps_vec_push(c->m->arena, &c->loops, r)) return false;
    }
    return true;
}

/* The parallel loop around an op, or 0. */
static PsRef loop_of(const PsFunc *f, PsRef r) {
    for (int depth = 0; depth < MAX_NESTING; depth++) {
        if (ps_op(f, r)->code == PS_OP_PARFOR) return r;
        r = ps_region(f, ps_op(f, r)->region)->owner;
        if (!r) return 0;
    }
    return 0;
}

static bool gets_all(const Inline *c, PsRef loop) {
    for (uint32_t i = 0; i < c->loops.len; i++)
        if (c->loops.data[i] == loop) return true;
    return false;
}

static bool is_wanted(Inline *c, PsRef r) {
    const PsOp *op = ps_op(c->f, r);
    if (op->code != PS_OP_CALL || find_whole(c, op->imm, 0) == NEVER) return false;
    const PsFunc *callee = c->m->funcs.data[op->imm];
    if (op->nargs != callee->params.len) return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (ps_op(c->f, ps_op_arg(c->f, r, i))->type != callee->params.data[i]) return false;
    PsRef loop = loop_of(c->f, r);
    if (!loop || gets_all(c, loop)) return loop != 0;
    if (!c->is_small[op->imm] || c->added + c->wholes[op->imm] > MAX_ADDED) return false;
    c->added += c->wholes[op->imm];
    return true;
}

/* -- the pass -- */

/* One call after the other; those that come with the copies are for the next round. */
static bool put_in(Inline *c, bool *more) {
    PsFunc *f = c->f;
    PsVec(PsRef) calls = {0}, results = {0};
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r))
        if (is_wanted(c, r) && !ps_vec_push(c->m->arena, &calls, r)) return false;
    *more = calls.len > 0;
    for (uint32_t i = 0; i < calls.len; i++) {
        PsRef result = 0;
        if (!inline_copy(f, calls.data[i], &result) || !ps_vec_push(c->m->arena, &results, result))
            return false;
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
    bool more = true;
    if (n < 2 || m->checked) return PS_OK;
    Inline c = {.m = m, .f = m->funcs.data[0]};
    c.wholes = ps_arena_alloc(m->arena, sizeof *c.wholes * n);
    c.is_small = ps_arena_alloc(m->arena, sizeof *c.is_small * n);
    c.seen = ps_arena_alloc(m->arena, sizeof *c.seen * n);
    if (!c.wholes || !c.is_small || !c.seen || !find_loops(&c)) return PS_NOMEM;
    for (uint32_t i = 1; i < n; i++)
        c.is_small[i] = find_whole(&c, i, 0) <= MAX_SIZE && calls_none(m->funcs.data[i]);
    while (more)
        if (!put_in(&c, &more)) return PS_NOMEM;
    return PS_OK;
}
