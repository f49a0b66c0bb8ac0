/* SPDX-License-Identifier: Apache-2.0
 *
 * What py_ndarray*.c and py_field.c share. pestle.Ndarray and pestle.Field are one C struct (PsArrayObject) and have
 * most of their methods in common; they differ in how they are made and in what kernels do with them.
 */
#ifndef PS_PY_NDARRAY_H
#define PS_PY_NDARRAY_H

#include "py/decode_scalar.h"

static inline PyState *ndarray_state(const PyNdarray *self) { return PyType_GetModuleState(Py_TYPE(self)); }
static inline int ndarray_axes(const PyNdarray *self) { return self->ndim + self->edim; }
/* "Ndarray" or "Field", for messages. */
static inline const char *ndarray_kind(const PyNdarray *self) {
    return strrchr(Py_TYPE(self)->tp_name, '.') + 1;
}

/* What an array is to be made of. `shape` has the axes of the elements last. */
typedef struct NdarrayForm {
    PsType dtype;
    int32_t ndim, edim;
    int64_t shape[PS_MAX_AXES];
    int64_t offset[PS_MAX_AXES]; /* the first index of each axis */
    uint8_t order[PS_MAX_AXES];  /* axes of the array from the outermost in memory on */
    bool soa;                    /* the axes of the elements are outside all others */
} NdarrayForm;
void ndarray_c_order(NdarrayForm *form);
/* Reads a shape, given as an int or a sequence of them, behind nothing: into form->shape and ndim. -1 with an exception
 * that begins with `what`. */
int ndarray_read_shape(const PyState *state, const char *what, int64_t least, PyObject *shape,
                       NdarrayForm *form);
/* Whether the form's bytes can be addressed; -1 with an exception. */
int ndarray_check_size(const PyState *state, const char *what, PyObject *shape, const NdarrayForm *form);
/* Zeroed; NULL with an exception. The size must be known to fit. */
PyNdarray *ndarray_make(PyTypeObject *type, const NdarrayForm *form);
NdarrayForm ndarray_form(const PyNdarray *self); /* in C order */
/* What the elements are: by a dtype, or with n (and m) beside the dtype of a scalar (py_field.c). -1 with an exception. */
int ndarray_read_element(const PyState *state, const char *what, PyObject *dtype, PyObject *n, PyObject *m,
                         PsElement *out);
int ndarray_read_order(const PyState *state, const char *what, PyObject *order, NdarrayForm *form);
int ndarray_read_layout(const PyState *state, const char *what, PyObject *layout, bool *out_soa);
void ndarray_set_element(NdarrayForm *form, const PsElement *element); /* behind the shape */
/* An array of the same form beside it, if asked for. -1 with an exception. */
int ndarray_add_grad(const PyState *state, const char *what, PyObject *needs_grad, const NdarrayForm *form,
                     PyNdarray *array);
/* Other axes of the same memory; a new object of the type. The caller fills shape, strides, data, then calls _done. */
PyNdarray *ndarray_view(PyTypeObject *type, const PyNdarray *of);
void ndarray_view_done(PyNdarray *view);
/* The same type and axes without memory: to compare with. */
PyObject *ndarray_outline(const PyNdarray *of);

PyObject *ndarray_shape(const PyNdarray *self, bool elements); /* with the axes of the elements, or without */
static inline uint64_t ndarray_load(const char *at, int size) {
    uint64_t bits = 0;
    memcpy(&bits, at, (size_t)size); /* little-endian: the low bytes */
    return bits;
}
static inline void ndarray_store(char *at, int size, uint64_t bits) { memcpy(at, &bits, (size_t)size); }

/* py_struct_field.c: of a struct type; form has no element. name NULL: an ndarray. */
PyObject *py_struct_field_make(const PyState *state, const char *what, PyObject *type, const NdarrayForm *form,
                               PyObject *shape, PyObject *name, bool grad);
void ndarray_refuse_size(const PyState *state, const char *what, PyObject *shape);

/* py_ndarray_item.c: elements. */
PyObject *ndarray_subscript(PyObject *self, PyObject *key);
int ndarray_ass_subscript(PyObject *self, PyObject *key, PyObject *value);
/* Stores one element, or one part of it from an axis on: a number goes everywhere. */
int ndarray_set(const PyNdarray *self, int axis, char *at, PyObject *value);
PyObject *ndarray_get(const PyNdarray *self, char *at); /* one element */

/* py_ndarray_copy.c */
extern PyMethodDef ndarray_methods[];
PyNdarray *ndarray_copy(const PyNdarray *self); /* in C order, of the same type */
PyObject *ndarray_iter(PyObject *self);

/* py_ndarray_export.c */
PyObject *ndarray_dlpack(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *ndarray_dlpack_device(PyObject *self, PyObject *unused);
PyObject *ndarray_reduce(PyObject *self, PyObject *protocol);

/* py_ndarray.c: for the type of fields. */
extern PyGetSetDef ndarray_getset[];
void ndarray_dealloc(PyObject *self);
PyObject *ndarray_repr(const PyNdarray *self, const char *kind);
PyObject *py_field_text(PyObject *field); /* str() of fields, of structs too */
Py_ssize_t ndarray_length(PyObject *self);
int ndarray_getbuffer(PyObject *self, Py_buffer *view, int flags);

#endif
