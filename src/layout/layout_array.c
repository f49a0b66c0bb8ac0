/* SPDX-License-Identifier: Apache-2.0
 *
 * layout_array: where the elements of a dense array lie.
 */
#include "layout/layout.h"

bool ps_layout_dense(int32_t ndim, const int64_t *shape, int64_t item, int64_t *out_strides,
                     int64_t *out_bytes) {
    if (ndim < 0 || ndim > PS_MAX_AXES || item < 0) return false;
    bool empty = false;
    int64_t step = item; /* an empty axis counts as one of length 1: strides stay those of the other axes */
    for (int32_t axis = ndim - 1; axis >= 0; axis--) {
        int64_t length = shape[axis];
        if (length < 0) return false;
        out_strides[axis] = step;
        empty |= length == 0;
        if (length > 1 && __builtin_mul_overflow(step, length, &step)) return false;
    }
    *out_bytes = empty ? 0 : step;
    return true;
}
