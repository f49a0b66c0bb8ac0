/* SPDX-License-Identifier: Apache-2.0
 *
 * grain: a rough cost of one iteration of each parallel loop, and from it the grain: the smallest leaf worth handing
 * to a thread. Depends on the ops alone, and runs before pass check adds any, so that a loop is cut into the same
 * leaves in checked mode: the cut decides the order of reductions, hence their bits.
 *
 * The figures are picoseconds on a 3 GHz core of scalar code; straight-line iterations count a quarter, as they are
 * vectorised. Being wrong by a factor of four is fine; being different from one run to the next is not.
 */
#include "passes/passes_int.h"

static const int32_t cost_ps[] = {
    [PS_COST_FREE] = 0,      [PS_COST_ADDRESS] = 100,  [PS_COST_SIMPLE] = 300,    [PS_COST_MEMORY] = 300,
    [PS_COST_DIV] = 2000,    [PS_COST_MATH] = 2400,    [PS_COST_TWO_DIV] = 4000,  [PS_COST_SLOW] = 4800,
    [PS_COST_ATOMIC] = 5000, [PS_COST_INT_DIV] = 5000, [PS_COST_PRINT] = 1000000,
};
enum {             /* ps, of what is no single op */
       TURN = 300, /* of a loop, and a branch */
       CALLING = 1500,
       RECURSION = 20000,
};
#define LEAF_PS       20000000 /* 20 us: a leaf's work against the cost of handing it out */
#define MIN_GRAIN     64
#define MAX_GRAIN     65536
#define MAX_COST      INT32_MAX
#define UNKNOWN_TRIPS 16

#define MAX_DEPTH 64 /* of calls; beyond, and in recursion, RECURSION stands for the cost */

enum { NOT_YET, RUNNING, DONE };
typedef struct FuncCost {
    int64_t cost;
    uint8_t state;
} FuncCost;

typedef struct Grain {
    const PsModule *m;
    FuncCost *funcs;
    int depth; /* of calls, while it looks into them */
} Grain;

static int64_t capped(int64_t cost) { return cost < MAX_COST ? cost : MAX_COST; }

static int64_t op_cost(const PsFunc *f, const PsOp *o) {
    int64_t one = cost_ps[ps_op_info[o->code].cost];
    if (one == 0 || passes_is_atomic(o->code)) return one;
    int64_t count = o->type ? ps_type_count(f->module, o->type) : 1;
    return count < MAX_COST / one ? one * count : MAX_COST;
}

static int64_t region_cost(Grain *c, const PsFunc *f, PsRegion region);

static int64_t call_cost(Grain *c, uint32_t callee) {
    FuncCost *memo = &c->funcs[callee];
    if (memo->state == DONE) return memo->cost;
    if (memo->state == RUNNING || c->depth >= MAX_DEPTH) return RECURSION;
    memo->state = RUNNING;
    c->depth++;
    memo->cost = capped(CALLING + region_cost(c, c->m->funcs.data[callee], 1));
    c->depth--;
    memo->state = DONE;
    return memo->cost;
}

static int64_t trips(const PsFunc *f, const PsOp *loop) {
    uint64_t lo, hi;
    PsRef first = f->args.data[loop->args], end = f->args.data[loop->args + 1];
    if (!ps_op_is_const(f, first, &lo) || !ps_op_is_const(f, end, &hi)) return UNKNOWN_TRIPS;
    PsType type = ps_op(f, first)->type;
    int64_t from = passes_signed(type, lo), to = passes_signed(type, hi);
    if (to <= from) return 0;
    uint64_t n = (uint64_t)to - (uint64_t)from;
    return n < MAX_COST ? (int64_t)n : MAX_COST;
}

static int64_t times(int64_t n, int64_t cost) { return capped(n) * capped(cost); } /* both below 2^31 */

static int64_t inner_cost(Grain *c, const PsFunc *f, const PsOp *o) {
    int64_t a = o->nregions > 0 ? region_cost(c, f, o->region0) : 0;
    int64_t b = o->nregions > 1 ? region_cost(c, f, o->region0 + 1) : 0;
    switch (o->code) {
    case PS_OP_IF: return TURN + (a > b ? a : b);
    case PS_OP_FOR: return TURN + times(trips(f, o), a + TURN);
    case PS_OP_WHILE: return times(UNKNOWN_TRIPS, a + b + TURN);
    case PS_OP_CALL: return call_cost(c, (uint32_t)o->imm);
    default: return a + op_cost(f, o);
    }
}

static int64_t region_cost(Grain *c, const PsFunc *f, PsRegion region) {
    int64_t sum = 0;
    for (PsRef r = ps_region(f, region)->first; r; r = ps_op(f, r)->next)
        sum = capped(sum + capped(inner_cost(c, f, ps_op(f, r))));
    return sum;
}

/* Whether LLVM can be expected to run the iterations side by side. */
static bool is_straight(const PsFunc *f, PsRegion region) {
    for (PsRef r = ps_region(f, region)->first; r; r = ps_op(f, r)->next) {
        const PsOp *o = ps_op(f, r);
        if (ps_op_info[o->code].effect == PS_EFFECT_CONTROL || ps_op_info[o->code].effect == PS_EFFECT_IO)
            return false;
        if (ps_op_info[o->code].cost >= PS_COST_ATOMIC) return false;
    }
    return true;
}

static void set_grain(Grain *c, PsFunc *f, PsRef loop) {
    PsRegion body = ps_op(f, loop)->region0;
    int64_t cost = region_cost(c, f, body) / (is_straight(f, body) ? 4 : 1);
    if (cost < 1) cost = 1;
    int64_t grain = (LEAF_PS + cost / 2) / cost;
    grain = grain < MIN_GRAIN ? MIN_GRAIN : grain > MAX_GRAIN ? MAX_GRAIN : grain;
    ps_op(f, loop)->imm = ps_parfor_imm((uint32_t)grain, (uint32_t)cost);
}

PsStatus ps_pass_grain(PsModule *m, PsDiag *diag) {
    (void)diag;
    Grain c = {.m = m, .funcs = ps_arena_alloc(m->arena, sizeof(FuncCost) * (m->funcs.len + 1))};
    if (!c.funcs) return PS_NOMEM;
    if (m->funcs.len == 0) return PS_OK;
    PsFunc *f = m->funcs.data[0]; /* parallel loops are in main only */
    for (PsRef r = ps_region(f, 1)->first; r; r = ps_op(f, r)->next)
        if (ps_op(f, r)->code == PS_OP_PARFOR) set_grain(&c, f, r);
    return PS_OK;
}
