/* SPDX-License-Identifier: Apache-2.0
 *
 * See py_view.h. A buffer is tried first: it says whether it may be written. Then __dlpack__, asked for the versioned
 * capsule, with the older one as the fallback. The older one cannot say that its memory must not be written, so arrays
 * of libraries whose arrays never change are known by name here.
 */
#include "py/py_view.h"

#include <string.h>

#include "py/decode_refuse.h"

/* -- the object -- */

static void View_dealloc(PyObject *object) {
    PyView *self = (PyView *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject *class, *value, *trace;
    PyErr_Fetch(&class, &value, &trace); /* releasing may run Python code */
    if (self->buffer.obj) PyBuffer_Release(&self->buffer);
    if (self->managed && self->managed->deleter) self->managed->deleter(self->managed);
    if (self->versioned && self->versioned->deleter) self->versioned->deleter(self->versioned);
    if (PyErr_Occurred()) PyErr_WriteUnraisable(NULL);
    PyErr_Restore(class, value, trace);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyType_Slot view_slots[] = {{Py_tp_dealloc, View_dealloc}, {0}};
static PyType_Spec view_spec = {
    "pestle._View", sizeof(PyView), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, view_slots};

PyTypeObject *py_view_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &view_spec, NULL);
}

/* -- DLPack -- */

/* Whether no array of the class may ever be written. */
static bool is_immutable(PyTypeObject *type) {
    static const char *const modules[] = {"jax", "jaxlib", "pyarrow"};
    PyObject *module = PyObject_GetAttrString((PyObject *)type, "__module__");
    const char *name = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    bool found = false;
    for (size_t i = 0; name && i < PS_COUNT(modules); i++) {
        size_t len = strlen(modules[i]);
        found |= strncmp(name, modules[i], len) == 0 && (name[len] == '.' || !name[len]);
    }
    if (!name) PyErr_Clear();
    Py_XDECREF(module);
    return found;
}

static bool has_dlpack(PyTypeObject *type) {
    PyObject *method = PyObject_GetAttrString((PyObject *)type, "__dlpack__");
    if (!method) PyErr_Clear();
    Py_XDECREF(method);
    return method != NULL;
}

/* The device, where the object says it; -1 with an exception. */
static int check_device(const PyState *state, PyObject *arg, const ScalarPlace *place) {
    DlDevice device = {DL_CPU, 0};
    PyObject *pair = PyObject_CallMethod(arg, "__dlpack_device__", NULL);
    if (!pair) return refuse_export(state, place, arg);
    if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "ii", &device.type, &device.id)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "__dlpack_device__() gave no tuple");
        Py_DECREF(pair);
        return refuse_export(state, place, arg);
    }
    Py_DECREF(pair);
    return dlpack_on_cpu(device) ? 0 : refuse_device(state, place, device);
}

static PyObject *call_dlpack(PyObject *arg) {
    PyObject *method = PyObject_GetAttrString(arg, "__dlpack__");
    PyObject *none = method ? PyTuple_New(0) : NULL;
    PyObject *kwargs = none ? Py_BuildValue("{s(ii)}", "max_version", DL_MAJOR, DL_MINOR) : NULL;
    PyObject *capsule = kwargs ? PyObject_Call(method, none, kwargs) : NULL;
    if (!capsule && kwargs && PyErr_ExceptionMatches(PyExc_TypeError)) { /* from before max_version */
        PyErr_Clear();
        capsule = PyObject_Call(method, none, NULL);
    }
    Py_XDECREF(kwargs);
    Py_XDECREF(none);
    Py_XDECREF(method);
    return capsule;
}

/* Takes what the capsule holds: from here on it is the view's to delete. NULL with an exception: what it holds is of
 * no use. */
static const DlTensor *open_capsule(PyView *self, PyObject *capsule, PyTypeObject *type) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        DlManagedVersioned *found = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (PyCapsule_SetName(capsule, "used_dltensor_versioned")) return NULL;
        self->versioned = found;
        if (found->version.major != DL_MAJOR) {
            PyErr_Format(PyExc_BufferError, "its DLPack version is %u.%u, and this is a program for %d.%d",
                         found->version.major, found->version.minor, DL_MAJOR, DL_MINOR);
            return NULL;
        }
        /* What a kernel writes into a copy would be lost. */
        self->readonly = found->flags & (DL_FLAG_READ_ONLY | DL_FLAG_COPIED);
        return &found->tensor;
    }
    if (!PyCapsule_IsValid(capsule, "dltensor")) {
        PyErr_SetString(PyExc_BufferError, "__dlpack__() gave no DLPack capsule");
        return NULL;
    }
    DlManaged *found = PyCapsule_GetPointer(capsule, "dltensor");
    if (PyCapsule_SetName(capsule, "used_dltensor")) return NULL;
    self->managed = found;
    self->readonly = is_immutable(type);
    return &found->tensor;
}

static int read_tensor(const PyState *state, PyView *self, const DlTensor *tensor, PyObject *arg,
                       const ScalarPlace *place) {
    if (!dlpack_on_cpu(tensor->device)) return refuse_device(state, place, tensor->device);
    self->dtype = dlpack_element(tensor->dtype);
    if (self->dtype == PS_KIND_NONE) return refuse_dlpack_dtype(state, place, arg, tensor->dtype);
    if (tensor->ndim < 0 || tensor->ndim > PS_MAX_AXES) return refuse_axes(state, place, tensor->ndim);
    int64_t item = ps_scalar_size(self->dtype), stride = item;
    self->array.data = dlpack_data(tensor);
    self->array.ndim = tensor->ndim;
    for (int k = tensor->ndim - 1; k >= 0; k--) {
        int64_t length = tensor->shape[k];
        self->array.shape[k] = length;
        self->array.strides[k] =
            tensor->strides ? (int64_t)((uint64_t)tensor->strides[k] * (uint64_t)item) : stride;
        stride = (int64_t)((uint64_t)stride * (uint64_t)length);
    }
    return 0;
}

static int take_dlpack(const PyState *state, PyView *self, PyObject *arg, const ScalarPlace *place) {
    if (check_device(state, arg, place) || refuse_negated(state, place, arg)) return -1;
    PyObject *capsule = call_dlpack(arg);
    const DlTensor *tensor = capsule ? open_capsule(self, capsule, Py_TYPE(arg)) : NULL;
    Py_XDECREF(capsule);
    if (!tensor) return refuse_export(state, place, arg);
    return read_tensor(state, self, tensor, arg, place);
}

/* -- buffers -- */

static int take_buffer(const PyState *state, PyView *self, PyObject *arg, const ScalarPlace *place) {
    if (PyObject_GetBuffer(arg, &self->buffer, PyBUF_RECORDS_RO)) {
        self->buffer.obj = NULL;
        bool other = PyErr_ExceptionMatches(PyExc_BufferError);
        PyObject *class, *value, *trace;
        PyErr_Fetch(&class, &value, &trace);
        if (other && has_dlpack(Py_TYPE(arg))) { /* buffers have no bf16, for one */
            Py_XDECREF(class);
            Py_XDECREF(value);
            Py_XDECREF(trace);
            return take_dlpack(state, self, arg, place);
        }
        PyErr_Restore(class, value, trace);
        return refuse_export(state, place, arg);
    }
    const Py_buffer *buffer = &self->buffer;
    self->dtype = buffer_element(buffer->format, buffer->itemsize);
    if (self->dtype == PS_KIND_NONE) return refuse_format(state, place, buffer->format);
    if (buffer->ndim > PS_MAX_AXES) return refuse_axes(state, place, buffer->ndim);
    self->readonly = buffer->readonly;
    self->array.data = buffer->buf;
    self->array.ndim = buffer->ndim;
    int64_t stride = buffer->itemsize;
    for (int k = buffer->ndim - 1; k >= 0; k--) {
        self->array.shape[k] = buffer->shape ? buffer->shape[k] : buffer->len / buffer->itemsize;
        self->array.strides[k] = buffer->strides ? buffer->strides[k] : stride; /* ctypes gives none */
        stride = (int64_t)((uint64_t)stride * (uint64_t)self->array.shape[k]);
    }
    return 0;
}

/* -- arguments -- */

typedef int (*Taker)(const PyState *state, PyView *self, PyObject *arg, const ScalarPlace *place);

/* How the object is taken; NULL: it needs no view, or has nothing that one could be made of. */
static Taker taker_of(PyState *state, PyObject *arg) {
    PyTypeObject *type = Py_TYPE(arg);
    if (type == state->numpy.type || type == state->ndarray_type || type == state->field_type ||
        ps_is_structs(&state->types, arg) || dlpack_known(&state->dlpack, type))
        return NULL;
    bool number = type->tp_as_number && type->tp_as_number->nb_float;
    if (numpy_check(&state->numpy, arg) || (number && numpy_is_scalar(arg))) return NULL;
    if (PyObject_CheckBuffer(arg)) return take_buffer;
    if (dlpack_learn(&state->dlpack, arg)) return NULL;
    return has_dlpack(type) ? take_dlpack : NULL;
}

static PyView *take(PyState *state, const ScalarPlace *place, Taker taker, PyObject *arg) {
    PyView *view = (PyView *)state->view_type->tp_alloc(state->view_type, 0);
    if (view && taker(state, view, arg, place)) Py_CLEAR(view);
    return view;
}

int py_views_take(PyKernel *kernel, PyObject **args) {
    PyState *state = kernel->state;
    for (uint32_t i = 0; i < kernel->signature.nparams; i++) {
        if (kernel->signature.params[i].kind != PS_PARAM_ARRAY) continue;
        Taker taker = taker_of(state, args[i]);
        const ScalarPlace place = {kernel, i, NULL};
        PyView *view = taker ? take(state, &place, taker, args[i]) : NULL;
        if (view) args[i] = (PyObject *)view;
        if (taker && !view) {
            py_views_drop(kernel, args);
            return -1;
        }
    }
    return 0;
}

PyObject *py_view_of(PyState *state, const ScalarPlace *place, PyObject *arg) {
    Taker taker = taker_of(state, arg);
    return taker ? (PyObject *)take(state, place, taker, arg) : Py_NewRef(arg);
}

void py_views_drop(PyKernel *kernel, PyObject **args) {
    for (uint32_t i = 0; i < kernel->signature.nparams; i++) {
        if (!Py_IS_TYPE(args[i], kernel->state->view_type)) continue;
        Py_DECREF(args[i]);
        args[i] = Py_None;
    }
}

/* -- specialising -- */

int py_view_describe(const PyState *state, PyObject *arg, const ScalarPlace *place, PsParam *out) {
    const DlKnown *known = dlpack_known(&state->dlpack, Py_TYPE(arg));
    uint64_t words[1 + 2 * PS_MAX_AXES];
    StridedSource from = {0};
    if (Py_IS_TYPE(arg, state->view_type)) {
        from = view_source((const PyView *)arg);
        out->dtype = ((const PyView *)arg)->dtype;
    } else if (!known) {
        return 0;
    } else if (refuse_or_read(state, place, known, arg, &from, &out->dtype)) {
        return -1;
    }
    out->ndim = from.ndim;
    out->unit = strided_words(&from, words).unit;
    return 1;
}
