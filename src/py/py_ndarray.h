/* SPDX-License-Identifier: Apache-2.0
 *
 * What py_ndarray.c and py_ndarray_copy.c share.
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
PyObject *ndarray_iter(PyObject *self);

#endif
