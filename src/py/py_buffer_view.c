/* SPDX-License-Identifier: Apache-2.0
 *
 * pestle.BufferView: a range of a one-dimensional Ndarray, as an argument of kernels. It is an Ndarray on the same memory,
 * beside the one that it was made of, so that a launch has nothing to compute.
 *
 * What kernels do with views, and make of arrays themselves, is in front/loop/loop_view.c.
 */
#include "py/mode_int.h"
#include "py/py_ndarray.h"

static PyState *state_of(PyObject *view) { return PyType_GetModuleState(Py_TYPE(view)); }

static int64_t length_of(const PyBufferView *self) { return self->view->shape[0]; }

/* -- making -- */

static PyObject *make(PyState *state, const PyBufferView *parent, PyNdarray *array, int64_t offset,
                      int64_t size) {
    int64_t length = parent ? length_of(parent) : array->shape[0];
    const char *what = parent ? "subview" : "BufferView";
    if (offset < 0 || size < 0 || offset > length || size > length - offset)
        return py_error(state, PS_MSG_PY_VIEW_RANGE, what, (long long)offset, (long long)size,
                        (long long)length);
    PyBufferView *self = (PyBufferView *)state->buffer_view_type->tp_alloc(state->buffer_view_type, 0);
    if (!self) return NULL;
    self->array = (PyNdarray *)Py_NewRef((PyObject *)array);
    self->offset = offset + (parent ? parent->offset : 0);
    self->view = ndarray_view(Py_TYPE((PyObject *)array), parent ? parent->view : array);
    if (!self->view) {
        Py_DECREF(self);
        return NULL;
    }
    self->view->data += offset * self->view->strides[0];
    self->view->shape[0] = size;
    ndarray_view_done(self->view);
    return (PyObject *)self;
}

static int check_axes(const PyState *state, const PyNdarray *array) {
    return array->ndim == 1 ? 0 : (py_error(state, PS_MSG_PY_VIEW_AXES, array->ndim), -1);
}

/* offset and size, given as ints. */
static int read_range(PyObject *args, PyObject *kwargs, const char *format, PyObject **array, int64_t out[2]) {
    static char *names[] = {"arr", "offset", "size", NULL};
    PyObject *given[2];
    bool fits = array ? PyArg_ParseTupleAndKeywords(args, kwargs, format, names, array, &given[0], &given[1])
                      : PyArg_ParseTupleAndKeywords(args, kwargs, format, names + 1, &given[0], &given[1]);
    for (int i = 0; fits && i < 2; i++) {
        PyObject *number = PyNumber_Index(given[i]);
        out[i] = number ? PyLong_AsLongLong(number) : -1;
        Py_XDECREF(number);
        fits = !PyErr_Occurred();
    }
    return fits ? 0 : -1;
}

static PyObject *BufferView_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyState *state = PyType_GetModuleState(type);
    PyObject *array;
    int64_t range[2];
    if (mode_runs(state) && PyTuple_GET_SIZE(args) && Py_IS_TYPE(PyTuple_GET_ITEM(args, 0), state->mode.array))
        return mode_array_view(state, args, kwargs);
    if (read_range(args, kwargs, "OOO:BufferView", &array, range)) return NULL;
    if (!Py_IS_TYPE(array, state->ndarray_type))
        return py_error(state, PS_MSG_PY_VIEW_OF, Py_TYPE(array)->tp_name);
    if (check_axes(state, (PyNdarray *)array)) return NULL;
    return make(state, NULL, (PyNdarray *)array, range[0], range[1]);
}

static PyObject *of_slice(PyState *state, const PyBufferView *parent, PyNdarray *array, PyObject *slice) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(slice, &start, &stop, &step)) return NULL;
    if (step != 1) return py_error(state, PS_MSG_PY_VIEW_STEP, (long long)step);
    PySlice_AdjustIndices((Py_ssize_t)(parent ? length_of(parent) : array->shape[0]), &start, &stop, step);
    return make(state, parent, array, start, stop > start ? stop - start : 0);
}

PyObject *py_buffer_view_of(PyState *state, PyNdarray *array, PyObject *slice) {
    return check_axes(state, array) ? NULL : of_slice(state, NULL, array, slice);
}

/* -- the type -- */

static PyObject *subview(PyObject *object, PyObject *args, PyObject *kwargs) {
    PyBufferView *self = (PyBufferView *)object;
    int64_t range[2];
    if (read_range(args, kwargs, "OO:subview", NULL, range)) return NULL;
    return make(state_of(object), self, self->array, range[0], range[1]);
}

static PyObject *BufferView_subscript(PyObject *object, PyObject *key) {
    PyBufferView *self = (PyBufferView *)object;
    if (PySlice_Check(key)) return of_slice(state_of(object), self, self->array, key);
    return py_error(state_of(object), PS_MSG_PY_VIEW_INDEX, Py_TYPE(key)->tp_name);
}

static Py_ssize_t BufferView_length(PyObject *self) { return (Py_ssize_t)length_of((PyBufferView *)self); }

static PyObject *get_ndarray(PyObject *self, PyObject *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)((PyBufferView *)self)->array);
}

static PyObject *get_offset(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(((PyBufferView *)self)->offset);
}

static PyObject *get_size(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(length_of((PyBufferView *)self));
}

static PyObject *get_shape(PyObject *self, void *unused) {
    (void)unused;
    return Py_BuildValue("(L)", (long long)length_of((PyBufferView *)self));
}

static PyObject *get_dtype(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(state_of(self)->types.dtypes[((PyBufferView *)self)->view->dtype]);
}

/* BufferView[f32], as an annotation. */
static PyObject *class_getitem(PyObject *class, PyObject *dtype) {
    PyState *state = PyType_GetModuleState((PyTypeObject *)class);
    PyTypeObject *type = state->types.ndarray_annotation;
    PsNdarrayAnnotationObject *made = (PsNdarrayAnnotationObject *)type->tp_alloc(type, 0);
    if (!made) return NULL;
    made->dtype = Py_NewRef(dtype);
    made->ndim = 1;
    made->edim = -1;
    made->needs_grad = -1;
    made->view = true;
    return (PyObject *)made;
}

static PyObject *BufferView_repr(PyObject *object) {
    PyBufferView *self = (PyBufferView *)object;
    return PyUnicode_FromFormat("<pestle.BufferView offset=%lld size=%lld dtype=%s>", (long long)self->offset,
                                (long long)length_of(self), ps_scalar_name(self->view->dtype));
}

static void BufferView_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    Py_XDECREF((PyObject *)((PyBufferView *)object)->array);
    Py_XDECREF((PyObject *)((PyBufferView *)object)->view);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyGetSetDef getset[] = {
    {"offset", get_offset, NULL, "The first element's index in the ndarray.", NULL},
    {"size", get_size, NULL, "The number of elements.", NULL},
    {"shape", get_shape, NULL, "(size,)", NULL},
    {"dtype", get_dtype, NULL, "The type of a scalar, such as pestle.f32.", NULL},
    {0},
};
static PyMethodDef methods[] = {
    {"subview", (PyCFunction)(void (*)(void))subview, METH_VARARGS | METH_KEYWORDS,
     "subview($self, offset, size)\n--\n\nA range of this one, as view[offset:offset + size]."},
    {"get_ndarray", get_ndarray, METH_NOARGS, "get_ndarray($self)\n--\n\nThe ndarray that it is a range of."},
    {"__class_getitem__", class_getitem, METH_O | METH_CLASS,
     "__class_getitem__($type, dtype, /)\n--\n\nAnnotates a parameter."},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_new, BufferView_new},
    {Py_tp_dealloc, BufferView_dealloc},
    {Py_tp_repr, BufferView_repr},
    {Py_tp_getset, getset},
    {Py_tp_methods, methods},
    {Py_mp_subscript, BufferView_subscript},
    {Py_mp_length, BufferView_length},
    {Py_tp_doc,
     "BufferView(arr, offset, size)\n--\n\nA range of a one-dimensional ndarray, arr[offset:offset + "
     "size]. Annotates parameters that take one, alone or with a dtype: BufferView[f32]."},
    {0},
};
static PyType_Spec spec = {"pestle.BufferView", sizeof(PyBufferView), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};

PyTypeObject *py_buffer_view_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
