/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays that must be held while a kernel uses them: buffers (bytearray, array.array, memoryview, mmap, ctypes, ...)
 * and what comes in a DLPack capsule. A call that has such arguments puts views in their place, launches, and drops the
 * views; the rest of py knows only views.
 */
#ifndef PS_PY_VIEW_H
#define PS_PY_VIEW_H

#include "py/decode_scalar.h"
#include "py/decode_strided.h"

typedef struct PyView {
    PyObject_HEAD PsArrayView array; /* strides in bytes */
    PsType dtype;
    bool readonly;
    Py_buffer buffer;                     /* buffer.obj NULL: not one */
    struct DlManaged *managed;            /* or one of these; its deleter is called at the end */
    struct DlManagedVersioned *versioned; /* the same */
} PyView;
PyTypeObject *py_view_type(PyObject *module);

/* Puts a view in the place of each array argument that needs one; those and only those are then owned. -1 with an
 * exception: none is. Runs Python code: what was decoded before must be decoded again. */
int py_views_take(PyKernel *kernel, PyObject **args);
/* The same of one array: a view, or the array itself (a new reference). NULL with an exception. */
PyObject *py_view_of(PyState *state, const ScalarPlace *place, PyObject *arg);
void py_views_drop(PyKernel *kernel, PyObject **args); /* keeps a pending exception */

/* What a specialisation is made for. 1: described; 0: an object of another kind; -1: exception. */
int py_view_describe(const PyState *state, PyObject *arg, const ScalarPlace *place, PsParam *out);

static inline StridedSource view_source(const PyView *view) {
    const PsArrayView *array = &view->array;
    return (StridedSource){array->data, array->shape, array->strides,
                           1,           array->ndim,  ps_scalar_size(view->dtype)};
}

static inline int64_t view_decode(const PyView *view, const PyPlan *plan, uint64_t *words) {
    if (view->dtype != plan->dtype) return NUMPY_OTHER;
    StridedSource from = view_source(view);
    return strided_decode(plan, &from, view->readonly, words);
}

/* decode_buffer.c: the element type of a buffer's format; PS_KIND_NONE: none, or bytes in the other order. */
PsType buffer_element(const char *format, Py_ssize_t item);

#endif
