/* SPDX-License-Identifier: Apache-2.0
 *
 * What py_ndarray.c, py_ndarray_copy.c and py_ndarray_export.c share.
 */
#ifndef PS_PY_NDARRAY_H
#define PS_PY_NDARRAY_H

#include "py/decode_scalar.h"

static inline PyState *ndarray_state(const PyNdarray *self) { return PyType_GetModuleState(Py_TYPE(self)); }

/* Zeroed; NULL with an exception. The size must be known to fit (ps_layout_dense). */
PyNdarray *ndarray_make(const PyState *state, PsType dtype, int32_t ndim, const int64_t *shape);
PyObject *ndarray_shape(const PyNdarray *self);
uint64_t ndarray_load(const char *at, int size);
void ndarray_store(char *at, int size, uint64_t bits);

/* py_ndarray_copy.c */
extern PyMethodDef ndarray_methods[];
PyNdarray *ndarray_copy(const PyNdarray *self);
PyObject *ndarray_iter(PyObject *self);

/* py_ndarray_export.c */
PyObject *ndarray_dlpack(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *ndarray_dlpack_device(PyObject *self, PyObject *unused);
PyObject *ndarray_reduce(PyObject *self, PyObject *protocol);

#endif
