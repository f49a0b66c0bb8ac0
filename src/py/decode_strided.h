/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of an array that is not numpy's: tensors, buffers, whatever DLPack brings. One pass over shape and strides
 * writes them and finds out what a plan asks for. Axes of length 1 and empty arrays may come with any strides: they get
 * those of C order, so that all arrays that are C order in memory share a specialisation.
 */
#ifndef PS_PY_DECODE_STRIDED_H
#define PS_PY_DECODE_STRIDED_H

#include "py/py_int.h"

typedef struct Strided {
    uint64_t total;   /* elements */
    uint64_t longest; /* axis */
    bool unit;        /* in the sense of PsTypeInfo.unit */
    bool aligned;     /* every element lies at a multiple of its size */
} Strided;

/* Where elements lie. `strides` NULL: C order; `scale`: bytes that a stride of 1 stands for. */
typedef struct StridedSource {
    const void *data;
    const int64_t *shape, *strides;
    int64_t scale;
    int ndim, item; /* axes; bytes of an element */
} StridedSource;

static inline void strided_c_order(const StridedSource *from, uint64_t *words) {
    uint64_t stride = (uint64_t)from->item;
    for (int k = from->ndim - 1; k >= 0; k--) {
        words[1 + from->ndim + k] = stride;
        stride *= (uint64_t)from->shape[k];
    }
}

static inline Strided strided_words(const StridedSource *from, uint64_t *words) {
    Strided out = {1, 0, true, true};
    int64_t inner = from->item; /* bytes that the axes inside this one span */
    uint64_t places = (uint64_t)(uintptr_t)from->data;
    words[0] = places;
    for (int k = from->ndim - 1; k >= 0; k--) {
        int64_t length = from->shape[k];
        int64_t stride = from->strides ? (int64_t)((uint64_t)from->strides[k] * (uint64_t)from->scale) : inner;
        if (length == 1) stride = inner;
        if (k == from->ndim - 1 ? stride != from->item : stride < inner) out.unit = false;
        if (__builtin_mul_overflow(length, stride, &inner)) out.unit = false;
        places |= (uint64_t)stride;
        words[1 + k] = (uint64_t)length;
        words[1 + from->ndim + k] = (uint64_t)stride;
        out.total *= (uint64_t)length;
        if ((uint64_t)length > out.longest) out.longest = (uint64_t)length;
    }
    out.aligned = (places & (uint64_t)(from->item - 1)) == 0;
    if (PS_UNLIKELY(out.total == 0)) {
        strided_c_order(from, words);
        out.unit = out.aligned = true;
    }
    return out;
}

/* As numpy_decode: the number of elements, or NUMPY_OTHER, NUMPY_REFUSED. The dtype has been compared. */
static inline int64_t strided_decode(const PyPlan *plan, const StridedSource *from, bool readonly,
                                     uint64_t *words) {
    if (from->ndim != plan->ndim) return NUMPY_OTHER;
    Strided found = strided_words(from, words);
    if (found.unit != plan->unit) return NUMPY_OTHER;
    if (PS_UNLIKELY(!found.aligned || found.longest > (uint64_t)PS_INDEX_LIMIT ||
                    (found.total && !from->data) || (readonly && (plan->array.required & NUMPY_WRITEABLE))))
        return NUMPY_REFUSED;
    return (int64_t)(found.total & INT64_MAX);
}

#endif
