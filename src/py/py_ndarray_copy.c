/* SPDX-License-Identifier: Apache-2.0
 *
 * The methods of Ndarrays and fields that copy: fill, copy_from, to_numpy, from_numpy, to_torch, from_torch, tolist.
 * numpy and torch are imported only by those that have their name. numpy has no bf16: such arrays go through f32.
 */
#include "py/py_ndarray.h"

/* -- conversion -- */

/* dst and src have the same axes, types may differ: the rules are those of a cast in a kernel. */
static void convert_axis(const PyNdarray *dst, const PyNdarray *src, int axis, char *to, const char *from) {
    int to_size = ps_scalar_size(dst->dtype), from_size = ps_scalar_size(src->dtype);
    if (axis == ndarray_axes(dst)) {
        uint64_t bits = ndarray_load(from, from_size);
        if (dst->dtype != src->dtype) bits = ps_eval_scalar(PS_OP_CAST, src->dtype, dst->dtype, &bits);
        ndarray_store(to, to_size, bits);
        return;
    }
    bool last = axis + 1 == ndarray_axes(dst);
    if (last && dst->dtype == src->dtype && dst->strides[axis] == to_size && src->strides[axis] == from_size) {
        memmove(to, from, (size_t)(dst->shape[axis] * to_size));
        return;
    }
    for (int64_t i = 0; i < dst->shape[axis]; i++)
        convert_axis(dst, src, axis + 1, to + i * dst->strides[axis], from + i * src->strides[axis]);
}

static void convert(const PyNdarray *dst, const PyNdarray *src) {
    convert_axis(dst, src, 0, dst->data, src->data);
}

static PyNdarray *converted(const PyNdarray *self, PsType dtype) {
    NdarrayForm form = ndarray_form(self);
    form.dtype = dtype;
    PyNdarray *copy = ndarray_make(Py_TYPE(self), &form);
    if (copy) convert(copy, self);
    return copy;
}

static PyObject *refuse_shapes(const PyState *state, const char *method, PyObject *mine, PyObject *other) {
    PyObject *a = mine ? PyObject_Repr(mine) : NULL, *b = other ? PyObject_Repr(other) : NULL;
    const char *x = a ? PyUnicode_AsUTF8(a) : NULL, *y = b ? PyUnicode_AsUTF8(b) : NULL;
    if (x && y) py_error(state, PS_MSG_PY_COPY_SHAPE, method, x, y);
    Py_XDECREF(a);
    Py_XDECREF(b);
    return NULL;
}

/* -- numpy -- */

static PyObject *call_of(const char *module, const char *function, PyObject *arg) {
    PyObject *imported = PyImport_ImportModule(module);
    PyObject *result = imported ? PyObject_CallMethod(imported, function, "O", arg) : NULL;
    Py_XDECREF(imported);
    return result;
}

/* A numpy array of the same memory; of a copy where numpy lacks the type. */
static PyObject *numpy_view(PyNdarray *self, bool *out_copied) {
    *out_copied = self->dtype == PS_BF16;
    if (!*out_copied) return call_of("numpy", "asarray", (PyObject *)self);
    PyNdarray *wide = converted(self, PS_F32);
    PyObject *array = wide ? call_of("numpy", "asarray", (PyObject *)wide) : NULL;
    Py_XDECREF(wide);
    return array;
}

/* Consumes the array. Vectors as matrices of one column. */
static PyObject *with_columns(const PyNdarray *self, PyObject *array) {
    PyObject *shape = array ? ndarray_shape(self, true) : NULL, *one = shape ? Py_BuildValue("(i)", 1) : NULL;
    PyObject *longer = one ? PySequence_Concat(shape, one) : NULL;
    PyObject *result = longer ? PyObject_CallMethod(array, "reshape", "O", longer) : NULL;
    Py_XDECREF(longer);
    Py_XDECREF(one);
    Py_XDECREF(shape);
    Py_XDECREF(array);
    return result;
}

static int same_dtype(PyObject *array, PyObject *dtype) {
    PyObject *mine = PyObject_GetAttrString(array, "dtype"), *wanted = call_of("numpy", "dtype", dtype);
    int same = mine && wanted ? PyObject_RichCompareBool(mine, wanted, Py_EQ) : -1;
    Py_XDECREF(mine);
    Py_XDECREF(wanted);
    return same;
}

/* What of numpy's a dtype of ours is; others as they are. A new reference. */
static PyObject *numpy_dtype_of(const PyState *state, PyObject *dtype) {
    if (!Py_IS_TYPE(dtype, state->types.dtype)) return Py_NewRef(dtype);
    PsType type = ((PsDtypeObject *)dtype)->type;
    static const char *const names[PS_SCALAR_END] = {
        [PS_U1] = "bool",     [PS_I8] = "int8",     [PS_I16] = "int16",   [PS_I32] = "int32",
        [PS_I64] = "int64",   [PS_U8] = "uint8",    [PS_U16] = "uint16",  [PS_U32] = "uint32",
        [PS_U64] = "uint64",  [PS_F16] = "float16", [PS_F32] = "float32", [PS_F64] = "float64",
        [PS_BF16] = "float32"};
    return PyUnicode_FromString(names[type]);
}

static PyObject *numpy_of(PyNdarray *self, bool columns, PyObject *dtype, PyObject *copy) {
    bool copied, must_not = copy == Py_False;
    PyObject *array = numpy_view(self, &copied);
    if (array && columns && self->edim == 1) array = with_columns(self, array);
    if (array && dtype != Py_None) {
        int same = same_dtype(array, dtype);
        PyObject *cast = same == 0 ? PyObject_CallMethod(array, "astype", "O", dtype) : NULL;
        if (same) cast = same > 0 ? Py_NewRef(array) : NULL;
        copied |= same == 0;
        Py_DECREF(array);
        array = cast;
    }
    if (!array || (copy == Py_None) || (copied && !must_not)) return array;
    if (must_not) {
        if (!copied) return array;
        PyErr_SetString(PyExc_ValueError,
                        "Zero-copy not available: numpy has no such elements, or another dtype is "
                        "asked for; leave copy=False out");
    }
    PyObject *result = must_not ? NULL : PyObject_CallMethod(array, "copy", NULL);
    Py_DECREF(array);
    return result;
}

static PyObject *to_numpy(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"dtype", "keep_dims", "copy", NULL};
    PyObject *dtype = Py_None, *columns = Py_False, *copy = Py_True;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOO:to_numpy", names, &dtype, &columns, &copy))
        return NULL;
    if (PyBool_Check(dtype)) { /* keep_dims first, as for Taichi's fields of matrices */
        PyObject *first = dtype;
        dtype = PyBool_Check(columns) ? Py_None : columns;
        columns = first;
    }
    int truth = PyObject_IsTrue(columns);
    PyObject *wanted = truth < 0 ? NULL : numpy_dtype_of(ndarray_state((PyNdarray *)object), dtype);
    PyObject *array = wanted ? numpy_of((PyNdarray *)object, truth, wanted, copy) : NULL;
    Py_XDECREF(wanted);
    return array;
}

/* numpy asks this only when there is no buffer: bf16. */
static PyObject *array_protocol(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", names, &dtype, &copy)) return NULL;
    if (copy == Py_False) {
        PyErr_SetString(PyExc_ValueError,
                        "__array__ copies; numpy.asarray shares the memory where numpy has the type");
        return NULL;
    }
    return numpy_of((PyNdarray *)object, false, dtype, Py_True);
}

/* numpy.copyto(self, array, casting="same_kind") */
static int copy_array(PyNdarray *self, PyObject *array) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *view = numpy ? PyObject_CallMethod(numpy, "asarray", "O", (PyObject *)self) : NULL;
    PyObject *copyto = view ? PyObject_GetAttrString(numpy, "copyto") : NULL;
    PyObject *result = copyto ? PyObject_CallFunction(copyto, "OOs", view, array, "same_kind") : NULL;
    Py_XDECREF(result);
    Py_XDECREF(copyto);
    Py_XDECREF(view);
    Py_XDECREF(numpy);
    return result ? 0 : -1;
}

/* Whether the shape is ours, with an axis of length 1 behind that of the vectors, or before it. */
static int is_of_columns(const PyNdarray *self, PyObject *given) {
    Py_ssize_t n = self->ndim + 2;
    int ones = 0;
    if (PyTuple_GET_SIZE(given) != n) return 0;
    for (Py_ssize_t k = 0; k < n; k++) {
        int64_t length = PyNumber_AsSsize_t(PyTuple_GET_ITEM(given, k), NULL), mine = self->shape[self->ndim];
        if (k < self->ndim && length != self->shape[k]) return 0;
        if (k >= self->ndim && length != 1 && length != mine) return 0;
        ones += k >= self->ndim && length == 1;
    }
    return ones == (self->shape[self->ndim] == 1 ? 2 : 1);
}

/* The array in our shape: as it is, or vectors given as matrices of one column or one row. Consumes it; NULL with an
 * exception. */
static PyObject *in_shape(PyNdarray *self, const char *method, PyObject *array) {
    PyObject *shape = array ? PyObject_GetAttrString(array, "shape") : NULL;
    PyObject *given = shape ? PySequence_Tuple(shape) : NULL, *mine = given ? ndarray_shape(self, true) : NULL;
    PyObject *result = NULL;
    int same = mine ? PyObject_RichCompareBool(given, mine, Py_EQ) : -1;
    if (same == 1) result = Py_NewRef(array);
    if (same == 0 && self->edim == 1 && is_of_columns(self, given))
        result = PyObject_CallMethod(array, "reshape", "O", mine);
    else if (same == 0)
        refuse_shapes(ndarray_state(self), method, mine, given);
    Py_XDECREF(mine);
    Py_XDECREF(given);
    Py_XDECREF(shape);
    Py_XDECREF(array);
    return result;
}

static PyObject *from_numpy(PyObject *object, PyObject *given) {
    PyNdarray *self = (PyNdarray *)object, *target = self;
    PyObject *array = in_shape(self, "from_numpy", call_of("numpy", "asarray", given));
    if (!array) return NULL;
    if (self->dtype == PS_BF16) {
        NdarrayForm form = ndarray_form(self);
        form.dtype = PS_F32;
        target = ndarray_make(Py_TYPE(self), &form);
    }
    int failed = !target || copy_array(target, array);
    if (!failed && target != self) convert(self, target);
    if (target && target != self) Py_DECREF(target);
    Py_DECREF(array);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* -- torch -- */

static PyObject *to_torch(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"device", "keep_dims", "copy", NULL};
    PyObject *device = Py_None, *columns = Py_False, *copy = Py_True;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOO:to_torch", names, &device, &columns, &copy))
        return NULL;
    int truth = PyObject_IsTrue(columns);
    if (truth < 0) return NULL;
    PyObject *tensor = call_of("torch", "from_dlpack", object);
    if (tensor && truth && ((PyNdarray *)object)->edim == 1) tensor = with_columns((PyNdarray *)object, tensor);
    if (tensor && copy != Py_False && copy != Py_None) {
        PyObject *clone = PyObject_CallMethod(tensor, "clone", NULL);
        Py_DECREF(tensor);
        tensor = clone;
    }
    if (!tensor || device == Py_None) return tensor;
    PyObject *moved = PyObject_CallMethod(tensor, "to", "O", device);
    Py_DECREF(tensor);
    return moved;
}

static PyObject *from_torch(PyObject *object, PyObject *given) {
    if (!PyObject_HasAttrString(given, "detach"))
        return py_error(ndarray_state((PyNdarray *)object), PS_MSG_PY_COPY_TYPE, "from_torch", "a torch.Tensor",
                        Py_TYPE(given)->tp_name);
    PyObject *plain = PyObject_CallMethod(given, "detach", NULL);
    PyObject *source = in_shape((PyNdarray *)object, "from_torch", plain);
    PyObject *mine = source ? call_of("torch", "from_dlpack", object) : NULL;
    PyObject *result = mine ? PyObject_CallMethod(mine, "copy_", "O", source) : NULL;
    Py_XDECREF(mine);
    Py_XDECREF(source);
    if (!result) return NULL;
    Py_DECREF(result);
    Py_RETURN_NONE;
}

/* -- without either -- */

static void fill_dense(char *data, int64_t count, int size, uint64_t bits) {
    switch (size) {
    case 1: memset(data, (int)bits, (size_t)count); break;
    case 2:
        for (int64_t i = 0; i < count; i++) ((uint16_t *)data)[i] = (uint16_t)bits;
        break;
    case 4:
        for (int64_t i = 0; i < count; i++) ((uint32_t *)data)[i] = (uint32_t)bits;
        break;
    default:
        for (int64_t i = 0; i < count; i++) ((uint64_t *)data)[i] = bits;
    }
}

static void fill_axis(const PyNdarray *self, int axis, char *at, uint64_t bits) {
    int size = ps_scalar_size(self->dtype), axes = ndarray_axes(self);
    if (axis == axes) {
        ndarray_store(at, size, bits);
    } else if (axis + 1 == axes && self->strides[axis] == size) {
        fill_dense(at, self->shape[axis], size, bits);
    } else {
        for (int64_t i = 0; i < self->shape[axis]; i++)
            fill_axis(self, axis + 1, at + i * self->strides[axis], bits);
    }
}

/* Each element gets the vector or matrix. */
static int fill_elements(const PyNdarray *self, int axis, char *at, PyObject *value) {
    if (axis == self->ndim) return ndarray_set(self, axis, at, value);
    for (int64_t i = 0; i < self->shape[axis]; i++)
        if (fill_elements(self, axis + 1, at + i * self->strides[axis], value)) return -1;
    return 0;
}

static PyObject *fill(PyObject *object, PyObject *value) {
    PyNdarray *self = (PyNdarray *)object;
    char what[40];
    snprintf(what, sizeof what, "%s.fill", ndarray_kind(self));
    const ScalarPlace place = {NULL, 0, what};
    uint64_t bits;
    bool sequence = self->edim && !PyNumber_Check(value) && PySequence_Check(value);
    if (self->edim && PyTuple_Check(value)) sequence = true;
    if (self->edim && PyObject_HasAttrString(value, "__len__")) sequence = true;
    if (sequence) {
        if (fill_elements(self, 0, self->data, value)) return NULL;
        Py_RETURN_NONE;
    }
    if (PyFloat_Check(value)) { /* as ti.cast does: all elements alike, nothing is lost by mistake */
        if (ps_number_bits(value, self->dtype, &bits)) return NULL;
    } else if (scalar_decode(ndarray_state(self), self->dtype, value, &place, &bits))
        return NULL;
    fill_axis(self, 0, self->data, bits);
    Py_RETURN_NONE;
}

static PyObject *copy_from(PyObject *object, PyObject *other) {
    PyNdarray *self = (PyNdarray *)object;
    PyState *state = ndarray_state(self);
    if (numpy_check(&state->numpy, other)) return from_numpy(object, other);
    if (!Py_IS_TYPE(other, state->ndarray_type) && !Py_IS_TYPE(other, state->field_type))
        return py_error(state, PS_MSG_PY_COPY_TYPE, "copy_from", "a field, an Ndarray or a numpy array",
                        Py_TYPE(other)->tp_name);
    const PyNdarray *source = (const PyNdarray *)other;
    bool same = source->ndim == self->ndim && source->edim == self->edim &&
                memcmp(source->shape, self->shape, sizeof self->shape[0] * (size_t)ndarray_axes(self)) == 0;
    if (!same) {
        PyObject *a = ndarray_shape(self, true), *b = ndarray_shape(source, true);
        refuse_shapes(state, "copy_from", a, b);
        Py_XDECREF(a);
        Py_XDECREF(b);
        return NULL;
    }
    if (source->storage == self->storage && source != self) { /* views of one array may overlap */
        PyNdarray *apart = ndarray_copy(source);
        if (!apart) return NULL;
        convert(self, apart);
        Py_DECREF(apart);
    } else {
        convert(self, source);
    }
    Py_RETURN_NONE;
}

PyNdarray *ndarray_copy(const PyNdarray *self) {
    PyNdarray *copy = converted(self, self->dtype);
    if (!copy) return NULL;
    if (self->name) copy->name = Py_NewRef(self->name);
    if (self->grad && !(copy->grad = (PyObject *)ndarray_copy((PyNdarray *)self->grad))) Py_CLEAR(copy);
    return copy;
}

static PyObject *copy(PyObject *object, PyObject *unused) {
    (void)unused;
    return (PyObject *)ndarray_copy((PyNdarray *)object);
}

/* The copy goes into the memo, so that an object that is reached twice is copied once. */
static PyObject *deepcopy(PyObject *object, PyObject *memo) {
    PyObject *made = copy(object, NULL), *id = made ? PyLong_FromVoidPtr(object) : NULL;
    if (made && (!id || (PyDict_Check(memo) && PyDict_SetItem(memo, id, made)))) Py_CLEAR(made);
    Py_XDECREF(id);
    return made;
}

static PyObject *list_from(const PyNdarray *self, int axis, const char *at) {
    if (axis == ndarray_axes(self))
        return scalar_encode(self->dtype, ndarray_load(at, ps_scalar_size(self->dtype)));
    PyObject *list = PyList_New(self->shape[axis]);
    for (int64_t i = 0; list && i < self->shape[axis]; i++) {
        PyObject *item = list_from(self, axis + 1, at + i * self->strides[axis]);
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, item);
    }
    return list;
}

static PyObject *tolist(PyObject *object, PyObject *unused) {
    (void)unused;
    return list_from((PyNdarray *)object, 0, ((PyNdarray *)object)->data);
}

PyObject *ndarray_iter(PyObject *object) {
    const PyNdarray *self = (PyNdarray *)object;
    if (self->ndim != 1)
        return PyErr_Format(PyExc_TypeError, "only an Ndarray with one axis can be iterated; this one has %d",
                            self->ndim);
    PyObject *list = PyList_New(self->shape[0]);
    for (int64_t i = 0; list && i < self->shape[0]; i++) {
        PyObject *item = ndarray_get(self, self->data + i * self->strides[0]);
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, item);
    }
    PyObject *iterator = list ? PyObject_GetIter(list) : NULL;
    Py_XDECREF(list);
    return iterator;
}

/* -- one scalar of every element -- */

static PyObject *get_scalar_field(PyObject *object, PyObject *args) {
    const PyNdarray *self = (PyNdarray *)object;
    int64_t at[2] = {0, 0};
    Py_ssize_t n = PyTuple_GET_SIZE(args), extra = n - self->edim;
    bool fits =
        self->edim && (extra == 0 || (extra == 1 && self->edim == 1)); /* a vector may be asked by (i, 0) */
    for (Py_ssize_t k = 0; fits && k < n; k++) {
        at[k] = PyNumber_AsSsize_t(PyTuple_GET_ITEM(args, k), PyExc_IndexError);
        if (at[k] == -1 && PyErr_Occurred()) return NULL;
        fits = at[k] >= 0 && at[k] < (k < self->edim ? self->shape[self->ndim + k] : 1);
    }
    if (!fits)
        return PyErr_Format(PyExc_IndexError, "get_scalar_field: %R names no scalar of elements of %d ax%s",
                            args, self->edim, self->edim == 1 ? "is" : "es");
    PyNdarray *view = ndarray_view(Py_TYPE(object), self);
    if (!view) return NULL;
    for (Py_ssize_t k = 0; k < n && k < self->edim; k++) view->data += at[k] * self->strides[self->ndim + k];
    view->edim = 0;
    ndarray_view_done(view);
    return (PyObject *)view;
}

/* -- the table, of fields too -- */

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

PyMethodDef ndarray_methods[] = {
    {"fill", fill, METH_O, "fill($self, value, /)\n--\n\nSets every element."},
    {"copy_from", copy_from, METH_O,
     "copy_from($self, other, /)\n--\n\nCopies the elements of an array of the same shape."},
    {"to_numpy", WITH_KEYWORDS(to_numpy),
     "to_numpy($self, dtype=None, keep_dims=False, copy=True)\n--\n\nA copy as a numpy array (bf16: as f32). "
     "numpy.asarray(a), or copy=False, shares the memory instead."},
    {"from_numpy", from_numpy, METH_O,
     "from_numpy($self, array, /)\n--\n\nCopies a numpy array of the same shape; its dtype may differ within "
     "its kind."},
    {"to_torch", WITH_KEYWORDS(to_torch),
     "to_torch($self, device=None, keep_dims=False, copy=True)\n--\n\nA copy as a torch tensor."},
    {"from_torch", from_torch, METH_O,
     "from_torch($self, tensor, /)\n--\n\nCopies a torch tensor of the same shape."},
    {"get_scalar_field", get_scalar_field, METH_VARARGS,
     "get_scalar_field($self, *index)\n--\n\nOne scalar of every element, as a view without copying."},
    {"tolist", tolist, METH_NOARGS, "tolist($self)\n--\n\nThe scalars in nested lists."},
    {"__array__", WITH_KEYWORDS(array_protocol),
     "__array__($self, dtype=None, copy=None)\n--\n\nA copy as a numpy array, converted to dtype if given. "
     "copy=False raises ValueError."},
    {"__copy__", copy, METH_NOARGS, "__copy__($self)\n--\n\n"},
    {"__deepcopy__", deepcopy, METH_O, "__deepcopy__($self, memo, /)\n--\n\n"},
    {"__dlpack__", WITH_KEYWORDS(ndarray_dlpack),
     "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "The array's memory for another library, as DLPack has it."},
    {"__dlpack_device__", ndarray_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self)\n--\n\nThe CPU, as DLPack says it: (1, 0)."},
    {"__reduce_ex__", ndarray_reduce, METH_O, NULL},
    {0},
};
