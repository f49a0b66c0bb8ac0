/* SPDX-License-Identifier: Apache-2.0
 *
 * layout_domain: the cut of a parallel loop's domain into leaves, the units of scheduling and of reduction. The order
 * of a float sum follows from it, so it depends on the domain and the grain alone, and changing it changes results:
 * it is part of the language (docs/reproducibility.md).
 *
 * A leaf has about `target` iterations: the grain, or what gives TARGET_LEAVES leaves if that is more. Rows are the
 * runs of the last axis. Long rows are cut into pieces whose length is a multiple of PS_STRIPES, short ones are taken
 * several to a leaf.
 */
#include "layout/layout.h"

#define TARGET_LEAVES 2048 /* rounding up may double it: never more than PS_MAX_LEAVES */

static int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* The domain's size; false when it is beyond the limits. The bounds of an empty axis do not matter. */
static bool measure(PsParfor *p, int32_t *out_axis, int64_t *out_total) {
    p->rows = 1;
    for (int32_t axis = 0; axis < p->ndim; axis++) {
        int64_t length = 0;
        *out_axis = axis;
        if (p->hi[axis] > p->lo[axis]) {
            if (p->lo[axis] < -PS_INDEX_LIMIT || p->hi[axis] > PS_INDEX_LIMIT) return false;
            length = p->hi[axis] - p->lo[axis];
        }
        if (axis == p->ndim - 1) {
            p->row_len = length;
        } else if (__builtin_mul_overflow(p->rows, length, &p->rows)) {
            return false;
        }
    }
    return !__builtin_mul_overflow(p->rows, p->row_len, out_total);
}

bool ps_layout_cut(PsParfor *p, int32_t *out_axis) {
    int64_t total;
    *out_axis = 0;
    p->rows_per_leaf = p->pieces = p->piece_len = 1;
    p->leaves = 0;
    if (p->ndim < 1 || p->ndim > PS_MAX_AXES || !measure(p, out_axis, &total)) return false;
    if (!p->rows || !p->row_len) return true;
    int64_t target = divide_up(total, TARGET_LEAVES);
    if (target < p->grain) target = p->grain;
    if (p->row_len >= target) {
        p->piece_len = divide_up(target, PS_STRIPES) * PS_STRIPES;
        p->pieces = divide_up(p->row_len, p->piece_len);
        if (p->pieces == 1) p->piece_len = p->row_len;
    } else {
        p->rows_per_leaf = divide_up(target, p->row_len);
        p->piece_len = p->row_len;
    }
    p->leaves = divide_up(p->rows, p->rows_per_leaf) * p->pieces;
    return true;
}

PsLeaf ps_layout_leaf(const PsParfor *p, int64_t leaf) {
    int64_t group = leaf / p->pieces, piece = leaf % p->pieces;
    PsLeaf out = {.row_lo = group * p->rows_per_leaf, .col_lo = piece * p->piece_len};
    out.row_hi = p->rows - out.row_lo < p->rows_per_leaf ? p->rows : out.row_lo + p->rows_per_leaf;
    out.col_hi = p->row_len - out.col_lo < p->piece_len ? p->row_len : out.col_lo + p->piece_len;
    return out;
}
