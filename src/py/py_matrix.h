/* SPDX-License-Identifier: Apache-2.0
 *
 * pestle.Vector and pestle.Matrix on the host, between the files that make them.
 *
 *     py_struct.c        types.struct, Struct, dataclass
 *     py_matrix.c        making, indexing, iterating     py_matrix_ops.c     operators
 *     py_matrix_type.c   types.vector, types.matrix      py_matrix_method.c  norm(), dot(), Matrix.zero(), ...
 */
#ifndef PS_PY_MATRIX_H
#define PS_PY_MATRIX_H

#include "py/py_int.h"

PyTypeObject *py_matrix_base_type(PyObject *module);                          /* Matrix */
PyTypeObject *py_matrix_vector_type(PyObject *module, PyTypeObject *base);    /* Vector */
PyTypeObject *py_matrix_type_type(PyObject *module);                          /* of types.vector(...) */
PyObject *py_types_vector(PyObject *module, PyObject *args, PyObject *names); /* types.vector(n, dtype) */
PyObject *py_types_matrix(PyObject *module, PyObject *args, PyObject *names);

extern PyMethodDef matrix_methods[];
extern PyType_Slot matrix_number_slots[];                /* copied into the type's */
PyState *matrix_state(PyObject *self);                   /* of a value */
PyObject *matrix_format(PyObject *self, PyObject *spec); /* py_matrix.c: __format__ */
bool matrix_check(PyObject *object);                     /* a value, of whatever module */
PyObject *py_matrix_to_list(PyObject *self, PyObject *unused);
PyObject *py_matrix_shape(PyObject *self, void *unused);
/* A new one of zeros; a vector has ndim 1 and m 1. */
PsMatrixObject *matrix_new(const PyState *state, PsType elem, bool weak, int ndim, int32_t n, int32_t m);
/* With room for so many words. */
PsMatrixObject *matrix_alloc(const PyState *state, PsType elem, int ndim, int32_t n, int32_t m, size_t words);
/* As Python code sees it: a number; in a kernel that runs as plain Python one with a type. */
PyObject *matrix_element(const PsMatrixObject *m, uint32_t i);
PyObject *matrix_number(const PyState *state, PsType type, uint64_t bits); /* the same, of no place */
static inline uint32_t matrix_count(const PsMatrixObject *m) { return (uint32_t)m->n * (uint32_t)m->m; }
/* From nested sequences, numpy arrays, matrices. elem NONE: plain numbers. NULL with an exception. */
PsMatrixObject *matrix_from(const PyState *state, PyObject *object, PsType elem);
/* The bits of a Python number as the type holds it, converted as ti.cast does. -1 with an exception. */
int matrix_bits(PyObject *number, PsType type, uint64_t *out);
PyObject *matrix_compare(PyObject *a, PyObject *b, int how);
PyObject *matrix_cast(const PsMatrixObject *m, const PyState *state, PsType elem, bool weak);
PyObject *matrix_binary(PsAstOp op, PyObject *a, PyObject *b); /* Py_NotImplemented for strangers */
PyObject *matrix_apply_builtin(PyObject *unused, PyObject *const *args, Py_ssize_t nargs);
PyObject *matrix_matmul(PyObject *a, PyObject *b);
/* m._elementwise(builtin, *args): select(c, a, b), isnan(v), ...; Py_NotImplemented for another callee. */
PyObject *matrix_elementwise(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
double matrix_double(const PsMatrixObject *m, uint32_t i);
PsType matrix_promote(PsType a, PsType b);
/* Elements of arrays (py_ndarray_item.c): the value that lies there, and back again after it was changed. */
PyObject *py_matrix_of_element(const PyNdarray *array, char *at);
int py_struct_write_home(const PsStructObject *value, int i); /* its i-th member, after it was changed */
int py_matrix_write_home(const PsMatrixObject *m);            /* -1 with an exception: the array is read-only */
uint64_t matrix_home_word(const PsMatrixObject *m, uint32_t i); /* what lies there now */

/* py_struct.c */
PyTypeObject *py_struct_type_type(PyObject *module);
PyTypeObject *py_struct_value_type(PyObject *module);
PyObject *py_types_struct(PyObject *module, PyObject *args, PyObject *names);
PyObject *py_dataclass(PyObject *module, PyObject *class);
bool py_struct_check(PyObject *object); /* a value, of whatever module */
/* A vector, matrix or struct of its own, in no array; others as they are. A new reference. */
PyObject *py_value_copy(const PyState *state, PyObject *value);
int py_struct_find(const PsStructTypeObject *type, PyObject *name); /* number of the member; -1: none */
PyObject *py_struct_new(const PyState *state, PsStructTypeObject *type, PyObject *values);

#endif
