/* SPDX-License-Identifier: Apache-2.0
 *
 * numpy arrays through their C struct. This file and decode_numpy.c alone know it; numpy's headers are not needed to
 * build, numpy is not needed to run, and one build serves numpy 1.24 to 2.x: the fields below have the same offsets in
 * all of them. The type is found when the first array comes by; nothing imports numpy.
 */
#ifndef PS_PY_DECODE_NUMPY_H
#define PS_PY_DECODE_NUMPY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "abi/abi.h"
#include "ir/ir.h"

typedef struct PyNumpy {
    PyTypeObject *type;              /* numpy.ndarray, owned; NULL: no array seen yet */
    PyObject *descrs[PS_SCALAR_END]; /* the dtype object seen with each scalar type, owned */
} PyNumpy;

typedef struct NumpyArray { /* the head of PyArrayObject_fields */
    PyObject_HEAD char *data;
    int nd;
    Py_ssize_t *dimensions, *strides;
    PyObject *base;
    PyObject *descr;
    int flags;
} NumpyArray;
#define NUMPY_C_CONTIGUOUS 0x0001
#define NUMPY_ALIGNED      0x0100
#define NUMPY_WRITEABLE    0x0400

/* Whether the object is a numpy array, or of a class derived from it. Runs no Python code. */
bool numpy_check(PyNumpy *numpy, PyObject *object);
/* Whether the class hides what the data mean: a masked array, a matrix of records, ... */
bool numpy_is_masked(PyObject *object);
bool numpy_is_scalar(PyObject *object); /* numpy.float32(1) and the like, which have a buffer too */
/* The element type; PS_KIND_NONE: one that kernels do not have, or bytes in the other order. */
PsType numpy_element(PyNumpy *numpy, const NumpyArray *array);
/* C order without overlap, in the sense of PsTypeInfo.unit. */
bool numpy_unit(const NumpyArray *array, int item);
void numpy_forget(PyNumpy *numpy);
/* Fills shape and strides of an array that is not in plain C order. */
typedef struct NumpyStrided {
    uint64_t total, longest; /* elements; the longest axis */
    bool unit;
} NumpyStrided;
NumpyStrided numpy_words_strided(const NumpyArray *array, int item, uint64_t *words);

enum { NUMPY_OTHER = -1, NUMPY_REFUSED = -2 };

/* Fills the words of one array: pointer, lengths, strides in bytes; gives the number of elements. NUMPY_OTHER: another
 * type, rank or unit. NUMPY_REFUSED: what is wanted, but misaligned, read-only or too long. */
static inline __attribute__((always_inline)) int64_t numpy_decode(PyNumpy *numpy, const NumpyArray *array,
                                                                  PsType dtype, int ndim, bool unit,
                                                                  PyObject *descr, int required, int item,
                                                                  uint64_t *words) {
    if (array->nd != ndim) return NUMPY_OTHER;
    if (PS_UNLIKELY(array->descr != descr) && numpy_element(numpy, array) != dtype) return NUMPY_OTHER;
    int flags = array->flags;
    words[0] = (uint64_t)(uintptr_t)array->data;
    uint64_t total = 1, longest = 0;
    if (PS_LIKELY(flags & NUMPY_C_CONTIGUOUS)) {
        /* numpy lets the strides of an axis of length 0 or 1 be anything: write what C order says. */
        if (!unit) return NUMPY_OTHER;
        if (ndim == 1) {
            words[1] = total = longest = (uint64_t)array->dimensions[0];
            words[2] = (uint64_t)item;
        } else {
            for (int k = ndim - 1; k >= 0; k--) {
                uint64_t length = (uint64_t)array->dimensions[k];
                words[1 + k] = length;
                words[1 + ndim + k] = (uint64_t)item * total;
                total *= length;
                longest = length > longest ? length : longest;
            }
        }
    } else {
        NumpyStrided strided = numpy_words_strided(array, item, words);
        if (strided.unit != unit) return NUMPY_OTHER;
        total = strided.total;
        longest = strided.longest;
    }
    if (PS_UNLIKELY((flags & required) != required || longest > (uint64_t)PS_INDEX_LIMIT)) return NUMPY_REFUSED;
    return (int64_t)(total &
                     INT64_MAX); /* strides of 0 can make it overflow: it only decides who waits for whom */
}

#endif
