/* SPDX-License-Identifier: Apache-2.0
 *
 * sink: where both sides of an `if` end with a store to the same element, the value goes to a local and is stored once,
 * behind the `if`:
 *
 *     if c { a[i] = x } else { a[i] = y }        if c { t = x } else { t = y };  a[i] = t
 *
 * In lanes two masked stores become one of whole vectors, and sides that only computed what they stored need no branch. The
 * innermost `if` comes first, so a chain of `elif` ends up with one store, too.
 *
 * Behind the store a side has only what neither reads nor writes arrays and cannot leave. What its place is computed from
 * stands outside, or is cheap and moves there.
 */
#include "passes/passes_int.h"

#define MAX_DEPTH 6  /* of the expressions that are compared */
#define MAX_CHAIN 12 /* ops that move */

/* Whether two values of the sides are computed alike from values outside. */
static bool is_same(const PsFunc *f, PsRef a, PsRef b, int depth) {
    if (a == b) return true;
    const PsOp *x = ps_op(f, a), *y = ps_op(f, b);
    if (!depth || x->code != y->code || x->type != y->type || x->imm != y->imm || x->nargs != y->nargs)
        return false;
    if (ps_op_info[x->code].effect != PS_EFFECT_PURE || x->code == PS_OP_PARAM) return false;
    for (uint32_t i = 0; i < x->nargs; i++)
        if (!is_same(f, ps_op_arg(f, a, i), ps_op_arg(f, b, i), depth - 1)) return false;
    return true;
}

static bool is_of_local(const PsFunc *f, PsRef r) {
    const PsOp *op = ps_op(f, r);
    return (op->code == PS_OP_LOAD || op->code == PS_OP_STORE) &&
           ps_op(f, ps_place_root(f, ps_op_arg(f, r, 0)))->code == PS_OP_VAR;
}

/* The store to an array's element that nothing behind it in the region depends on; 0: none. */
static PsRef last_store(const PsFunc *f, PsRegion region) {
    PsRef r = ps_region(f, region)->last;
    while (r && (ps_op_info[ps_op(f, r)->code].effect == PS_EFFECT_PURE || is_of_local(f, r) ||
                 ps_op(f, r)->code == PS_OP_VAR))
        r = ps_op(f, r)->prev;
    if (!r || ps_op(f, r)->code != PS_OP_STORE || ps_op(f, ps_op_arg(f, r, 0))->code != PS_OP_PLACE) return 0;
    return ps_type_is_scalar(ps_op(f, ps_op_arg(f, r, 1))->type) ? r : 0;
}

/* -- moving a place out of a side -- */

/* What of the region `value` is computed from, outer operands first; false: it cannot move. */
static bool find_chain(const PsFunc *f, PsRef value, PsRegion region, PsRef *chain, uint32_t *n) {
    const PsOp *op = ps_op(f, value);
    if (op->code == PS_OP_PARAM || op->region != region) return true;
    for (uint32_t i = 0; i < *n; i++)
        if (chain[i] == value) return true;
    if (ps_op_info[op->code].effect != PS_EFFECT_PURE || ps_op_info[op->code].cost > PS_COST_SIMPLE)
        return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!find_chain(f, ps_op_arg(f, value, i), region, chain, n)) return false;
    if (*n == MAX_CHAIN) return false;
    chain[(*n)++] = value;
    return true;
}

static bool move_out(PsFunc *f, PsRef place, PsRef branch) {
    PsRef chain[MAX_CHAIN];
    uint32_t n = 0;
    if (!find_chain(f, place, ps_op(f, branch)->region0, chain, &n)) return false;
    for (uint32_t i = 0; i < n; i++) ps_op_move_before(f, chain[i], branch);
    return true;
}

/* -- the store -- */

static bool sink_one(PsFunc *f, PsRef branch) {
    PsRegion then = ps_op(f, branch)->region0;
    PsRef a = last_store(f, then), b = last_store(f, then + 1);
    if (!a || !b) return false;
    PsRef place = ps_op_arg(f, a, 0), value = ps_op_arg(f, a, 1);
    PsType type = ps_op(f, value)->type;
    if (type != ps_op(f, ps_op_arg(f, b, 1))->type || !is_same(f, place, ps_op_arg(f, b, 0), MAX_DEPTH))
        return false;
    if (!move_out(f, place, branch)) return false;
    PsBuilder before = passes_before(f, branch), after = passes_after(f, branch);
    PsRef local = ps_build_var(&before, type);
    if (!local) return false;
    ps_op(f, local)->imm = 1; /* both sides write it */
    after.span = ps_op(f, a)->span;
    ps_op_set_arg(f, a, 0, local);
    ps_op_set_arg(f, b, 0, local);
    ps_build_store(&after, place, ps_build_load(&after, local));
    return true;
}

static void visit_region(PsFunc *f, PsRegion region) {
    for (PsRef r = ps_region(f, region)->first; r; r = ps_op(f, r)->next) {
        for (uint32_t i = 0; i < ps_op(f, r)->nregions; i++) visit_region(f, ps_op(f, r)->region0 + i);
        while (ps_op(f, r)->code == PS_OP_IF && sink_one(f, r)) {
        }
    }
}

PsStatus ps_pass_sink(PsModule *m, PsDiag *diag) {
    (void)diag;
    for (uint32_t i = 0; i < m->funcs.len; i++) visit_region(m->funcs.data[i], 1);
    return PS_OK;
}
