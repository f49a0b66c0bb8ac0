/* SPDX-License-Identifier: Apache-2.0
 *
 * pestle.Ndarray to others: DLPack and pickling. What DLPack hands out owns the storage, not the Python object, so it
 * may be given back from any thread, with the GIL or without.
 */
#include "py/decode_dlpack.h"
#include "py/py_ndarray.h"

/* -- DLPack -- */

typedef struct Export {
    union {
        DlManaged plain;
        DlManagedVersioned versioned;
    };
    PsStorage *storage;
    int64_t shape[PS_MAX_AXES], strides[PS_MAX_AXES];
} Export;

static void drop(Export *export) {
    ps_storage_release(export->storage);
    ps_free(export);
}

static void delete_plain(DlManaged *self) { drop((Export *)self); }
static void delete_versioned(DlManagedVersioned *self) { drop((Export *)self); }

/* Nobody took it. */
static void free_capsule(PyObject *capsule) {
    const char *name = PyCapsule_GetName(capsule);
    if (name && strncmp(name, "used_", 5) != 0) drop(PyCapsule_GetPointer(capsule, name));
}

static DlTensor tensor_of(const PyNdarray *self, Export *export) {
    int item = ps_scalar_size(self->dtype);
    for (int k = 0; k < ndarray_axes(self); k++) {
        export->shape[k] = self->shape[k];
        export->strides[k] = self->strides[k] / item;
    }
    return (DlTensor){.data = self->data,
                      .device = {DL_CPU, 0},
                      .ndim = ndarray_axes(self),
                      .dtype = dlpack_dtype(self->dtype),
                      .shape = export->shape,
                      .strides = export->strides};
}

static PyObject *export_array(const PyNdarray *self, bool versioned, bool copied) {
    Export *export = ps_alloc(sizeof *export);
    if (!export) return PyErr_NoMemory();
    export->storage = self->storage;
    ps_storage_retain(export->storage);
    if (versioned)
        export->versioned = (DlManagedVersioned){.version = {DL_MAJOR, DL_MINOR},
                                                 .deleter = delete_versioned,
                                                 .flags = copied ? DL_FLAG_COPIED : 0,
                                                 .tensor = tensor_of(self, export)};
    else
        export->plain = (DlManaged){.tensor = tensor_of(self, export), .deleter = delete_plain};
    PyObject *capsule = PyCapsule_New(export, versioned ? "dltensor_versioned" : "dltensor", free_capsule);
    if (!capsule) drop(export);
    return capsule;
}

/* The arguments of __dlpack__ as the array API standard has them. -1 with an exception. */
static int read_request(PyObject *args, PyObject *kwargs, bool *out_versioned, bool *out_copy) {
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    int major = 0, minor = 0, type = DL_CPU, id = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &version, &device,
                                     &copy))
        return -1;
    if (stream != Py_None) {
        PyErr_SetString(PyExc_BufferError, "an Ndarray lies in the CPU's memory: stream must be None");
        return -1;
    }
    if (version != Py_None &&
        !PyArg_Parse(version, "(ii);max_version must be None or two integers", &major, &minor))
        return -1;
    if (device != Py_None && !PyArg_Parse(device, "(ii);dl_device must be None or two integers", &type, &id))
        return -1;
    if (type != DL_CPU || id != 0) {
        PyErr_SetString(PyExc_BufferError,
                        "an Ndarray lies in the CPU's memory: dl_device must be (1, 0) or None");
        return -1;
    }
    int truth = copy == Py_None ? 0 : PyObject_IsTrue(copy);
    *out_versioned = major >= 1;
    *out_copy = truth > 0;
    return truth < 0 ? -1 : 0;
}

PyObject *ndarray_dlpack(PyObject *object, PyObject *args, PyObject *kwargs) {
    bool versioned, copy;
    if (read_request(args, kwargs, &versioned, &copy)) return NULL;
    PyNdarray *self = copy ? ndarray_copy((PyNdarray *)object) : (PyNdarray *)Py_NewRef(object);
    PyObject *capsule = self ? export_array(self, versioned, copy) : NULL;
    Py_XDECREF(self);
    return capsule;
}

PyObject *ndarray_dlpack_device(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return Py_BuildValue("(ii)", DL_CPU, 0);
}

/* -- pickling -- */

/* Protocol 5 can move the bytes without copying them, where the array has a buffer (bf16 has none). */
static PyObject *pickled_bytes(PyNdarray *self, int protocol) {
    if (protocol >= 5 && self->dtype != PS_BF16) return PyPickleBuffer_FromObject((PyObject *)self);
    int64_t scalars = self->size;
    for (int k = self->ndim; k < ndarray_axes(self); k++) scalars *= self->shape[k];
    return PyBytes_FromStringAndSize(self->data, scalars * ps_scalar_size(self->dtype));
}

PyObject *ndarray_reduce(PyObject *object, PyObject *protocol) {
    PyNdarray *self = (PyNdarray *)object;
    if (Py_IS_TYPE(object, ndarray_state(self)->field_type))
        return py_error(ndarray_state(self), PS_MSG_PY_FIELD_PICKLE);
    long number = PyLong_AsLong(protocol);
    if (number == -1 && PyErr_Occurred()) return NULL;
    PyObject *restore = PyObject_GetAttrString(ndarray_state(self)->module, "_ndarray_restore");
    PyObject *shape = restore ? ndarray_shape(self, true) : NULL;
    PyObject *bytes = shape ? pickled_bytes(self, (int)number) : NULL;
    PyObject *result =
        bytes ? Py_BuildValue("O(sOOi)", restore, ps_scalar_name(self->dtype), shape, bytes, self->edim) : NULL;
    Py_XDECREF(bytes);
    Py_XDECREF(shape);
    Py_XDECREF(restore);
    return result;
}

static PsType type_named(const char *name) {
    for (PsType t = 1; t < PS_SCALAR_END; t++)
        if (strcmp(ps_scalar_name(t), name) == 0) return t;
    return PS_KIND_NONE;
}

PyObject *py_ndarray_restore(PyObject *module, PyObject *args) {
    const char *name;
    PyObject *shape, *bytes, *made = NULL;
    int edim = 0;
    if (!PyArg_ParseTuple(args, "sOO|i", &name, &shape, &bytes, &edim)) return NULL;
    PsType type = type_named(name);
    if (type == PS_KIND_NONE) return PyErr_Format(PyExc_ValueError, "no such dtype: %s", name);
    Py_buffer buffer;
    if (PyObject_GetBuffer(bytes, &buffer, PyBUF_SIMPLE)) return NULL;
    PyObject *given[2] = {py_state(module)->types.dtypes[type], shape};
    made = py_ndarray_new(module, given, 2, NULL);
    PyNdarray *array = (PyNdarray *)made;
    if (made && buffer.len != array->size * ps_scalar_size(type)) {
        PyErr_Format(PyExc_ValueError,
                     "the pickle of an Ndarray has %zd bytes of data where its shape needs %lld", buffer.len,
                     (long long)array->size * ps_scalar_size(type));
        Py_CLEAR(made);
    }
    if (made && edim >= 0 && edim <= 2 && edim <= array->ndim) {
        array->ndim -= edim;
        array->edim = edim;
        ndarray_view_done(array);
    }
    if (made) memcpy(array->data, buffer.buf, (size_t)buffer.len);
    PyBuffer_Release(&buffer);
    return made;
}
