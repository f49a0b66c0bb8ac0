/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of Ndarrays and fields, read and written from Python: a[i, j], a[()] and a[None] without axes.
 */
#include "py/mode_int.h"
#include "py/py_matrix.h"
#include "py/py_ndarray.h"

static PyObject *refuse_index(const PyNdarray *self, PyObject *found) {
    const char *hint = PySlice_Check(found) ? "; slices: numpy.asarray(array)[...]" : "";
    return py_error(ndarray_state(self), PS_MSG_PY_INDEX_TYPE, ndarray_kind(self), self->ndim,
                    Py_TYPE(found)->tp_name, hint);
}

/* Adds one axis' index to *offset; -1 with an exception. */
static int add_index(const PyNdarray *self, int axis, PyObject *object, int64_t *offset) {
    if (!PyIndex_Check(object)) {
        refuse_index(self, object);
        return -1;
    }
    Py_ssize_t given = PyNumber_AsSsize_t(object, PyExc_IndexError);
    if (given == -1 && PyErr_Occurred()) return -1;
    int64_t length = self->shape[axis], first = self->offset[axis], index = given - first;
    if (given < 0 && !self->shifted) index += length;
    if (index < 0 || index >= length) {
        if (self->shifted)
            py_error(ndarray_state(self), PS_MSG_PY_INDEX_OFFSET, ndarray_kind(self), (long long)given, axis,
                     (long long)first, (long long)(first + length - 1));
        else
            py_error(ndarray_state(self), PS_MSG_PY_INDEX_BOUNDS, ndarray_kind(self), (long long)given, axis,
                     (long long)length);
        return -1;
    }
    *offset += index * self->strides[axis];
    return 0;
}

/* The element that a key names: an int, a tuple of ints, () or None for an array without axes. */
static char *element_of(const PyNdarray *self, PyObject *key) {
    int64_t offset = 0;
    if (key == Py_None && self->ndim == 0) return self->data;
    bool tuple = PyTuple_Check(key);
    Py_ssize_t count = tuple ? PyTuple_GET_SIZE(key) : 1;
    if (!tuple && !PyIndex_Check(key)) {
        refuse_index(self, key);
        return NULL;
    }
    if (count != self->ndim) {
        bool field = Py_IS_TYPE((PyObject *)self, ndarray_state(self)->field_type);
        py_error(ndarray_state(self), PS_MSG_PY_INDEX_COUNT, ndarray_kind(self), self->ndim,
                 field ? "field" : "ndarray", (long long)count);
        return NULL;
    }
    for (int k = 0; k < self->ndim; k++)
        if (add_index(self, k, tuple ? PyTuple_GET_ITEM(key, k) : key, &offset)) return NULL;
    return self->data + offset;
}

/* -- vectors and matrices: values, whose elements may be assigned -- */

/* Where its i-th scalar lies. */
static char *scalar_of(const PyNdarray *array, char *at, uint32_t i) {
    const int64_t *strides = array->strides + array->ndim;
    int64_t columns = array->edim == 2 ? array->shape[array->ndim + 1] : 1;
    return at + (int64_t)i / columns * strides[0] + (array->edim == 2 ? (int64_t)i % columns * strides[1] : 0);
}

PyObject *py_matrix_of_element(const PyNdarray *array, char *at) {
    const int64_t *shape = array->shape + array->ndim;
    int size = ps_scalar_size(array->dtype);
    PsMatrixObject *m = matrix_new(ndarray_state(array), array->dtype, false, array->edim, (int32_t)shape[0],
                                   array->edim == 2 ? (int32_t)shape[1] : 1);
    if (!m) return NULL;
    for (uint32_t i = 0; i < matrix_count(m); i++) m->words[i] = ndarray_load(scalar_of(array, at, i), size);
    m->home = Py_NewRef((PyObject *)array);
    m->at = at;
    return (PyObject *)m;
}

static bool is_in_kernel_array(const PsMatrixObject *m) {
    return Py_IS_TYPE(m->home, matrix_state((PyObject *)m)->mode.array);
}

int py_matrix_write_home(const PsMatrixObject *m) {
    const PyNdarray *array = (const PyNdarray *)m->home;
    if (!array) return 0;
    if (is_in_kernel_array(m))
        return mode_array_set_words((ModeArray *)m->home, m->at, m->words, matrix_count(m));
    for (uint32_t i = 0; i < matrix_count(m); i++)
        ndarray_store(scalar_of(array, m->at, i), ps_scalar_size(array->dtype), m->words[i]);
    return 0;
}

uint64_t matrix_home_word(const PsMatrixObject *m, uint32_t i) {
    const PyNdarray *array = (const PyNdarray *)m->home;
    if (!array) return m->words[i];
    if (is_in_kernel_array(m)) return mode_array_word((ModeArray *)m->home, m->at, i);
    return ndarray_load(scalar_of(array, m->at, i), ps_scalar_size(array->dtype));
}

PyObject *ndarray_get(const PyNdarray *self, char *at) {
    if (self->edim) return py_matrix_of_element(self, at);
    return scalar_encode(self->dtype, ndarray_load(at, ps_scalar_size(self->dtype)));
}

/* In a kernel that runs as plain Python, elements have types, and are checked as kernels check them. */
static bool in_kernel(const PyNdarray *self) { return mode_runs(ndarray_state(self)); }

PyObject *ndarray_subscript(PyObject *object, PyObject *key) {
    PyNdarray *self = (PyNdarray *)object;
    if (PS_UNLIKELY(in_kernel(self))) {
        PyObject *array = mode_array_of(ndarray_state(self), object);
        PyObject *item = array ? PyObject_GetItem(array, key) : NULL;
        Py_XDECREF(array);
        return item;
    }
    if (PySlice_Check(key) && Py_IS_TYPE(object, ndarray_state(self)->ndarray_type))
        return py_buffer_view_of(ndarray_state(self), self, key);
    char *at = element_of(self, key);
    return at ? ndarray_get(self, at) : NULL;
}

static int set_number(const PyNdarray *self, int axis, char *at, uint64_t bits) {
    if (axis == ndarray_axes(self)) {
        ndarray_store(at, ps_scalar_size(self->dtype), bits);
        return 0;
    }
    for (int64_t i = 0; i < self->shape[axis]; i++)
        set_number(self, axis + 1, at + i * self->strides[axis], bits);
    return 0;
}

static bool is_sequence(PyObject *value) {
    return PyTuple_Check(value) || PyList_Check(value) ||
           (!PyUnicode_Check(value) && !PyBytes_Check(value) && PySequence_Check(value) &&
            PyObject_LengthHint(value, -1) >= 0);
}

int ndarray_set(const PyNdarray *self, int axis, char *at, PyObject *value) {
    char what[40];
    snprintf(what, sizeof what, "%s element", ndarray_kind(self));
    const ScalarPlace place = {NULL, 0, what};
    uint64_t bits;
    bool sequence = axis < ndarray_axes(self) && is_sequence(value);
    PyErr_Clear();
    if (!sequence)
        return scalar_decode(ndarray_state(self), self->dtype, value, &place, &bits)
                   ? -1
                   : set_number(self, axis, at, bits);
    PyObject *items = PySequence_Fast(value, "expected a sequence");
    if (!items) return -1;
    int64_t count = PySequence_Fast_GET_SIZE(items);
    int status = count == self->shape[axis] ? 0 : -1;
    if (status)
        py_error(ndarray_state(self), PS_MSG_PY_ELEMENT_LENGTH, what, (long long)self->shape[axis],
                 (long long)count);
    for (int64_t i = 0; !status && i < count && i < PySequence_Fast_GET_SIZE(items); i++)
        status = ndarray_set(self, axis + 1, at + i * self->strides[axis], PySequence_Fast_GET_ITEM(items, i));
    Py_DECREF(items);
    return status;
}

int ndarray_ass_subscript(PyObject *object, PyObject *key, PyObject *value) {
    PyNdarray *self = (PyNdarray *)object;
    if (!value) {
        PyErr_Format(PyExc_TypeError, "elements of an array cannot be deleted");
        return -1;
    }
    if (PS_UNLIKELY(in_kernel(self))) {
        PyObject *array = mode_array_of(ndarray_state(self), object);
        int status = array ? PyObject_SetItem(array, key, value) : -1;
        Py_XDECREF(array);
        return status;
    }
    char *at = element_of(self, key);
    return at ? ndarray_set(self, self->ndim, at, value) : -1;
}
