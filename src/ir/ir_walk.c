/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_walk: every op of a function, outer before inner, in order, without recursion or memory. An op may be removed
 * while it is the current one if the next was taken before: by ps_walk_next when it has no regions, by ps_walk_skip
 * when it has.
 */
#include "ir/ir.h"

PsRef ps_walk_first(const PsFunc *f) { return ps_region(f, 1)->first; }

/* The first op of regions lo .. hi - 1, which are neighbours. */
static PsRef first_in(const PsFunc *f, PsRegion lo, PsRegion hi) {
    for (PsRegion r = lo; r < hi; r++) {
        if (ps_region(f, r)->first) return ps_region(f, r)->first;
    }
    return 0;
}

PsRef ps_walk_skip(const PsFunc *f, PsRef at) {
    while (at) {
        const PsOp *op = ps_op(f, at);
        if (op->next) return op->next;
        PsRef owner = ps_region(f, op->region)->owner;
        const PsOp *outer = ps_op(f, owner);
        PsRef first = first_in(f, op->region + 1, outer->region0 + outer->nregions);
        if (first) return first;
        at = owner;
    }
    return 0;
}

PsRef ps_walk_next(const PsFunc *f, PsRef at) {
    const PsOp *op = ps_op(f, at);
    PsRef first = first_in(f, op->region0, op->region0 + op->nregions);
    return first ? first : ps_walk_skip(f, at);
}
