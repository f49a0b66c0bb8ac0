/* SPDX-License-Identifier: Apache-2.0
 *
 * pestle.Ndarray: a dense C-order array that needs no numpy. numpy sees its memory through the buffer protocol.
 * Copies and conversions stand in py_ndarray_copy.c.
 */
#include "py/py_ndarray.h"

/* -- making -- */

static PsStorage *storage_for(const PyNdarray *array, int64_t bytes) {
    (void)array;
    PsStorage *storage = ps_storage_new(bytes ? (size_t)bytes : 1);
    if (!storage) PyErr_NoMemory();
    return storage;
}

PyNdarray *ndarray_make(const PyState *state, PsType dtype, int32_t ndim, const int64_t *shape) {
    int64_t strides[PS_MAX_AXES], bytes;
    if (!ps_layout_dense(ndim, shape, ps_scalar_size(dtype), strides, &bytes)) return NULL;
    PyNdarray *self = (PyNdarray *)state->ndarray_type->tp_alloc(state->ndarray_type, 0);
    if (!self) return NULL;
    self->dtype = dtype;
    self->ndim = ndim;
    self->size = bytes / ps_scalar_size(dtype);
    for (int k = 0; k < ndim; k++) {
        self->shape[k] = shape[k];
        self->strides[k] = strides[k];
    }
    self->storage = storage_for(self, bytes);
    if (!self->storage) Py_CLEAR(self);
    return self;
}

/* The axes of a shape: an int, or a sequence of them. -1: none; no exception set. */
static int read_shape(PyObject *object, int64_t *out) {
    PyObject *items = PyIndex_Check(object)                           ? PyTuple_Pack(1, object)
                      : PyTuple_Check(object) || PyList_Check(object) ? PySequence_Tuple(object)
                                                                      : NULL;
    int ndim = items && PyTuple_GET_SIZE(items) <= PS_MAX_AXES ? (int)PyTuple_GET_SIZE(items) : -1;
    for (int k = 0; k < ndim; k++) {
        PyObject *item = PyTuple_GET_ITEM(items, k);
        int64_t length = PyIndex_Check(item) && !PyBool_Check(item) ? PyNumber_AsSsize_t(item, NULL) : -1;
        if (length < 0 || length > PS_INDEX_LIMIT) {
            ndim = -1;
            break;
        }
        out[k] = length;
    }
    PyErr_Clear();
    Py_XDECREF(items);
    return ndim;
}

/* Raises `id`, whose format takes what stands in `object` last. */
static PyObject *refuse_shape(const PyState *state, PyObject *object, bool too_large) {
    PyObject *repr = PyObject_Repr(object);
    const char *text = repr ? PyUnicode_AsUTF8(repr) : NULL;
    if (text && too_large)
        py_error(state, PS_MSG_PY_SHAPE_SIZE, text);
    else if (text)
        py_error(state, PS_MSG_PY_SHAPE, PS_MAX_AXES, (long long)PS_INDEX_LIMIT, text);
    Py_XDECREF(repr);
    return NULL;
}

PyObject *py_ndarray_new(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    PyState *state = py_state(module);
    PyObject *given[2] = {nargs > 0 ? args[0] : NULL, nargs > 1 ? args[1] : NULL};
    static const char *const known[2] = {"dtype", "shape"};
    if (nargs > 2)
        return PyErr_Format(PyExc_TypeError, "ndarray() takes dtype and shape, found %zd arguments", nargs);
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        int at = PyUnicode_CompareWithASCIIString(name, known[0]) == 0   ? 0
                 : PyUnicode_CompareWithASCIIString(name, known[1]) == 0 ? 1
                                                                         : -1;
        const char *text = PyUnicode_AsUTF8(name);
        if (!text) return NULL;
        if (at < 0) return py_error(state, PS_MSG_PY_KEYWORD, "ndarray", text, "dtype and shape");
        if (given[at]) return PyErr_Format(PyExc_TypeError, "ndarray() got multiple values for '%s'", text);
        given[at] = args[nargs + i];
    }
    if (!given[0] || !given[1])
        return PyErr_Format(PyExc_TypeError, "ndarray() needs dtype and shape; %s is missing",
                            known[given[0] ? 1 : 0]);
    PsType dtype = ps_front_dtype(&state->types, &state->options, given[0]);
    if (dtype == PS_KIND_NONE) return py_error(state, PS_MSG_PY_DTYPE, "ndarray", Py_TYPE(given[0])->tp_name);
    int64_t shape[PS_MAX_AXES], strides[PS_MAX_AXES], bytes;
    int ndim = read_shape(given[1], shape);
    if (ndim < 0) return refuse_shape(state, given[1], false);
    if (!ps_layout_dense(ndim, shape, ps_scalar_size(dtype), strides, &bytes))
        return refuse_shape(state, given[1], true);
    return (PyObject *)ndarray_make(state, dtype, ndim, shape);
}

static void Ndarray_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    PyNdarray *self = (PyNdarray *)object;
    if (self->storage) ps_storage_release(self->storage);
    type->tp_free(object);
    Py_DECREF(type);
}

/* -- elements -- */

uint64_t ndarray_load(const char *at, int size) {
    uint64_t bits = 0;
    memcpy(&bits, at, (size_t)size); /* little-endian: the low bytes */
    return bits;
}

void ndarray_store(char *at, int size, uint64_t bits) { memcpy(at, &bits, (size_t)size); }

static PyObject *refuse_index(const PyNdarray *self, PyObject *found, const char *hint) {
    return py_error(ndarray_state(self), PS_MSG_PY_INDEX_TYPE, self->ndim, Py_TYPE(found)->tp_name, hint);
}

/* Adds one axis' index to *offset; -1 with an exception. */
static int add_index(const PyNdarray *self, int axis, PyObject *object, int64_t *offset) {
    if (!PyIndex_Check(object)) {
        refuse_index(self, object, PySlice_Check(object) ? "; slices: numpy.asarray(array)[...]" : "");
        return -1;
    }
    Py_ssize_t given = PyNumber_AsSsize_t(object, PyExc_IndexError);
    if (given == -1 && PyErr_Occurred()) return -1;
    int64_t length = self->shape[axis], index = given < 0 ? given + length : given;
    if (index < 0 || index >= length) {
        py_error(ndarray_state(self), PS_MSG_PY_INDEX_BOUNDS, (long long)given, axis, (long long)length);
        return -1;
    }
    *offset += index * self->strides[axis];
    return 0;
}

/* The element that a key names: an int, a tuple of ints, () or None for an array without axes. */
static char *element_of(const PyNdarray *self, PyObject *key) {
    int64_t offset = 0;
    if (key == Py_None && self->ndim == 0) return self->storage->data;
    bool tuple = PyTuple_Check(key);
    Py_ssize_t count = tuple ? PyTuple_GET_SIZE(key) : 1;
    if (!tuple && !PyIndex_Check(key)) {
        refuse_index(self, key, PySlice_Check(key) ? "; slices: numpy.asarray(array)[...]" : "");
        return NULL;
    }
    if (count != self->ndim) {
        py_error(ndarray_state(self), PS_MSG_PY_INDEX_COUNT, self->ndim, (long long)count);
        return NULL;
    }
    for (int k = 0; k < self->ndim; k++)
        if (add_index(self, k, tuple ? PyTuple_GET_ITEM(key, k) : key, &offset)) return NULL;
    return self->storage->data + offset;
}

static PyObject *Ndarray_subscript(PyObject *object, PyObject *key) {
    PyNdarray *self = (PyNdarray *)object;
    const char *at = element_of(self, key);
    return at ? scalar_encode(self->dtype, ndarray_load(at, ps_scalar_size(self->dtype))) : NULL;
}

static int Ndarray_ass_subscript(PyObject *object, PyObject *key, PyObject *value) {
    PyNdarray *self = (PyNdarray *)object;
    static const ScalarPlace place = {NULL, 0, "Ndarray element"};
    uint64_t bits;
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "elements of an Ndarray cannot be deleted");
        return -1;
    }
    char *at = element_of(self, key);
    if (!at || scalar_decode(ndarray_state(self), self->dtype, value, &place, &bits)) return -1;
    ndarray_store(at, ps_scalar_size(self->dtype), bits);
    return 0;
}

static Py_ssize_t Ndarray_length(PyObject *object) {
    PyNdarray *self = (PyNdarray *)object;
    if (self->ndim) return self->shape[0];
    PyErr_SetString(PyExc_TypeError, "an Ndarray without axes has no length");
    return -1;
}

/* -- attributes -- */

PyObject *ndarray_shape(const PyNdarray *self) {
    PyObject *tuple = PyTuple_New(self->ndim);
    for (int k = 0; tuple && k < self->ndim; k++) {
        PyObject *length = PyLong_FromLongLong(self->shape[k]);
        if (!length) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, k, length);
    }
    return tuple;
}

static PyObject *get_shape(PyObject *self, void *unused) {
    (void)unused;
    return ndarray_shape((PyNdarray *)self);
}

static PyObject *get_dtype(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(ndarray_state((PyNdarray *)self)->types.dtypes[((PyNdarray *)self)->dtype]);
}

static PyObject *get_ndim(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(((PyNdarray *)self)->ndim);
}

static PyObject *get_size(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(((PyNdarray *)self)->size);
}

static PyObject *Ndarray_repr(PyObject *object) {
    PyNdarray *self = (PyNdarray *)object;
    PyObject *shape = ndarray_shape(self);
    PyObject *text =
        shape ? PyUnicode_FromFormat("<pestle.ndarray shape=%R dtype=%s>", shape, ps_scalar_name(self->dtype))
              : NULL;
    Py_XDECREF(shape);
    return text;
}

/* -- the buffer protocol -- */

static const char *const formats[PS_SCALAR_END] = {
    [PS_U1] = "?",  [PS_I8] = "b",  [PS_I16] = "h", [PS_I32] = "i", [PS_I64] = "l", [PS_U8] = "B",
    [PS_U16] = "H", [PS_U32] = "I", [PS_U64] = "L", [PS_F16] = "e", [PS_F32] = "f", [PS_F64] = "d",
};

static int Ndarray_getbuffer(PyObject *object, Py_buffer *view, int flags) {
    PyNdarray *self = (PyNdarray *)object;
    view->obj = NULL;
    if (!formats[self->dtype]) {
        PyErr_SetString(PyExc_BufferError, "buffers have no format for bf16");
        return -1;
    }
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && self->ndim > 1) {
        PyErr_SetString(PyExc_BufferError, "an Ndarray is in C order");
        return -1;
    }
    *view = (Py_buffer){
        .buf = self->storage->data,
        .obj = Py_NewRef(object),
        .len = self->size * ps_scalar_size(self->dtype),
        .itemsize = ps_scalar_size(self->dtype),
        .ndim = self->ndim,
        .format = flags & PyBUF_FORMAT ? (char *)formats[self->dtype] : NULL,
        .shape = flags & PyBUF_ND ? (Py_ssize_t *)self->shape : NULL,
        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? (Py_ssize_t *)self->strides : NULL,
    };
    return 0;
}

/* -- the type -- */

static PyGetSetDef ndarray_getset[] = {
    {"shape", get_shape, NULL, "The lengths of the axes.", NULL},
    {"dtype", get_dtype, NULL, "The element type, such as pestle.f32.", NULL},
    {"ndim", get_ndim, NULL, "The number of axes.", NULL},
    {"size", get_size, NULL, "The number of elements.", NULL},
    {0},
};
static PyType_Slot ndarray_slots[] = {
    {Py_tp_dealloc, Ndarray_dealloc},
    {Py_tp_repr, Ndarray_repr},
    {Py_tp_iter, ndarray_iter},
    {Py_tp_getset, ndarray_getset},
    {Py_tp_methods, ndarray_methods},
    {Py_mp_subscript, Ndarray_subscript},
    {Py_mp_ass_subscript, Ndarray_ass_subscript},
    {Py_mp_length, Ndarray_length},
    {Py_bf_getbuffer, Ndarray_getbuffer},
    {Py_tp_doc, "A dense array of numbers, made by pestle.ndarray(dtype, shape)."},
    {0},
};
static PyType_Spec ndarray_spec = {
    "pestle.Ndarray", sizeof(PyNdarray), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, ndarray_slots};

PyTypeObject *py_ndarray_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &ndarray_spec, NULL);
}
