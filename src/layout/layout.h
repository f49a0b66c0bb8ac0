/* SPDX-License-Identifier: Apache-2.0
 *
 * layout: how things lie in memory and how domains are cut. Now: dense strided arrays, and the cut of a parallel
 * loop's domain into leaves. Layout trees, quantised types and struct layouts come here later.
 */
#ifndef PS_LAYOUT_LAYOUT_H
#define PS_LAYOUT_LAYOUT_H

#include "abi/abi.h"
#include "base/base.h"

/* layout_array.c: a dense array of n axes, strides in bytes (any sign, zero allowed). */
typedef struct PsArrayView {
    char *data;
    int32_t ndim;
    int64_t shape[PS_MAX_AXES];
    int64_t strides[PS_MAX_AXES];
} PsArrayView;
/* C-order strides for the shape; false when the size in bytes overflows int64. */
bool ps_layout_dense(int32_t ndim, const int64_t *shape, int64_t item, int64_t *out_strides,
                     int64_t *out_bytes);

/* layout_domain.c: fills rows .. leaves of a PsParfor from ndim, lo, hi, grain. The cut depends on nothing else
 * (never on threads or vector width): at most PS_MAX_LEAVES leaves, each a run of whole rows or a piece of one
 * row; leaves in ascending row-major order. An empty axis (hi <= lo) gives 0 leaves. False when the number of
 * iterations overflows int64 or a bound lies beyond PS_INDEX_LIMIT (then *out_axis says which axis). */
bool ps_layout_cut(PsParfor *parfor, int32_t *out_axis);
/* The rows [row_lo, row_hi) and the part [col_lo, col_hi) of each (offsets from the last axis' low) of a leaf. */
typedef struct PsLeaf {
    int64_t row_lo, row_hi, col_lo, col_hi;
} PsLeaf;
PsLeaf ps_layout_leaf(const PsParfor *parfor, int64_t leaf);

#endif
