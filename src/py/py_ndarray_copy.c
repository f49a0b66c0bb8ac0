/* SPDX-License-Identifier: Apache-2.0
 *
 * The methods of pestle.Ndarray that copy: fill, copy_from, to_numpy, from_numpy, tolist. numpy is imported only by
 * those that have its name. numpy has no bf16: such arrays go through f32.
 */
#include "py/py_ndarray.h"

/* -- conversion -- */

/* dst and src have as many elements; types may differ: the rules are those of a cast in a kernel. */
static void convert(PyNdarray *dst, const PyNdarray *src) {
    int to = ps_scalar_size(dst->dtype), from = ps_scalar_size(src->dtype);
    if (dst->dtype == src->dtype) {
        memmove(dst->storage->data, src->storage->data, (size_t)(dst->size * to));
        return;
    }
    for (int64_t i = 0; i < dst->size; i++) {
        uint64_t bits = ndarray_load(src->storage->data + i * from, from);
        ndarray_store(dst->storage->data + i * to, to,
                      ps_eval_scalar(PS_OP_CAST, src->dtype, dst->dtype, &bits));
    }
}

static PyNdarray *converted(const PyNdarray *self, PsType dtype) {
    PyNdarray *copy = ndarray_make(ndarray_state(self), dtype, self->ndim, self->shape);
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

static PyObject *numpy_call(const char *function, PyObject *arg) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *result = numpy ? PyObject_CallMethod(numpy, function, "O", arg) : NULL;
    Py_XDECREF(numpy);
    return result;
}

static PyObject *to_numpy(PyObject *object, PyObject *unused) {
    (void)unused;
    PyNdarray *self = (PyNdarray *)object;
    if (self->dtype != PS_BF16) return numpy_call("array", object);
    PyNdarray *wide = converted(self, PS_F32);
    PyObject *array = wide ? numpy_call("asarray", (PyObject *)wide) : NULL;
    Py_XDECREF(wide);
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
    PyObject *array = to_numpy(object, NULL);
    if (!array || dtype == Py_None) return array;
    PyObject *cast = PyObject_CallMethod(array, "astype", "O", dtype);
    Py_DECREF(array);
    return cast;
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

static PyObject *from_numpy(PyObject *object, PyObject *given) {
    PyNdarray *self = (PyNdarray *)object, *target = self;
    PyObject *result = NULL, *shape = NULL, *mine = NULL;
    PyObject *array = numpy_call("asarray", given);
    if (!array || !(shape = PyObject_GetAttrString(array, "shape")) || !(mine = ndarray_shape(self))) goto done;
    int same = PyObject_RichCompareBool(shape, mine, Py_EQ);
    if (same == 0) refuse_shapes(ndarray_state(self), "from_numpy", mine, shape);
    if (same != 1) goto done;
    if (self->dtype == PS_BF16 &&
        !(target = ndarray_make(ndarray_state(self), PS_F32, self->ndim, self->shape)))
        goto done;
    if (!copy_array(target, array)) {
        if (target != self) convert(self, target);
        result = Py_NewRef(Py_None);
    }
    if (target != self) Py_DECREF(target);
done:
    Py_XDECREF(mine);
    Py_XDECREF(shape);
    Py_XDECREF(array);
    return result;
}

/* -- without numpy -- */

static PyObject *fill(PyObject *object, PyObject *value) {
    PyNdarray *self = (PyNdarray *)object;
    static const ScalarPlace place = {NULL, 0, "Ndarray.fill"};
    uint64_t bits;
    if (scalar_decode(ndarray_state(self), self->dtype, value, &place, &bits)) return NULL;
    char *data = self->storage->data;
    switch (ps_scalar_size(self->dtype)) {
    case 1: memset(data, (int)bits, (size_t)self->size); break;
    case 2:
        for (int64_t i = 0; i < self->size; i++) ((uint16_t *)data)[i] = (uint16_t)bits;
        break;
    case 4:
        for (int64_t i = 0; i < self->size; i++) ((uint32_t *)data)[i] = (uint32_t)bits;
        break;
    default:
        for (int64_t i = 0; i < self->size; i++) ((uint64_t *)data)[i] = bits;
    }
    Py_RETURN_NONE;
}

static PyObject *copy_from(PyObject *object, PyObject *other) {
    PyNdarray *self = (PyNdarray *)object;
    PyState *state = ndarray_state(self);
    if (numpy_check(&state->numpy, other)) return from_numpy(object, other);
    if (!Py_IS_TYPE(other, Py_TYPE(object)))
        return py_error(state, PS_MSG_PY_COPY_TYPE, "copy_from", "an Ndarray or a numpy array",
                        Py_TYPE(other)->tp_name);
    const PyNdarray *source = (const PyNdarray *)other;
    bool same = source->ndim == self->ndim &&
                memcmp(source->shape, self->shape, sizeof self->shape[0] * (size_t)self->ndim) == 0;
    if (!same) {
        PyObject *a = ndarray_shape(self), *b = ndarray_shape(source);
        refuse_shapes(state, "copy_from", a, b);
        Py_XDECREF(a);
        Py_XDECREF(b);
        return NULL;
    }
    convert(self, source);
    Py_RETURN_NONE;
}

PyNdarray *ndarray_copy(const PyNdarray *self) { return converted(self, self->dtype); }

static PyObject *copy(PyObject *object, PyObject *unused) {
    (void)unused;
    return (PyObject *)ndarray_copy((PyNdarray *)object);
}

static PyObject *list_from(const PyNdarray *self, int axis, const char *at) {
    if (axis == self->ndim) return scalar_encode(self->dtype, ndarray_load(at, ps_scalar_size(self->dtype)));
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
    return list_from((PyNdarray *)object, 0, ((PyNdarray *)object)->storage->data);
}

PyObject *ndarray_iter(PyObject *object) {
    if (((PyNdarray *)object)->ndim != 1)
        return PyErr_Format(PyExc_TypeError, "only an Ndarray with one axis can be iterated; this one has %d",
                            ((PyNdarray *)object)->ndim);
    PyObject *list = tolist(object, NULL);
    PyObject *iterator = list ? PyObject_GetIter(list) : NULL;
    Py_XDECREF(list);
    return iterator;
}

PyMethodDef ndarray_methods[] = {
    {"fill", fill, METH_O, "fill($self, value, /)\n--\n\nSets every element."},
    {"copy_from", copy_from, METH_O,
     "copy_from($self, other, /)\n--\n\nCopies the elements of an array of the same shape."},
    {"to_numpy", to_numpy, METH_NOARGS,
     "to_numpy($self)\n--\n\nA copy as a numpy array (bf16: as f32). numpy.asarray(a) shares the memory "
     "instead."},
    {"from_numpy", from_numpy, METH_O,
     "from_numpy($self, array, /)\n--\n\nCopies a numpy array of the same shape; its dtype may differ within "
     "its kind."},
    {"tolist", tolist, METH_NOARGS, "tolist($self)\n--\n\nThe elements in nested lists."},
    {"__array__", (PyCFunction)(void (*)(void))array_protocol, METH_VARARGS | METH_KEYWORDS,
     "__array__($self, dtype=None, copy=None)\n--\n\nA copy as a numpy array, converted to dtype if given. "
     "copy=False raises ValueError."},
    {"__copy__", copy, METH_NOARGS, "__copy__($self)\n--\n\n"},
    {"__deepcopy__", copy, METH_O, "__deepcopy__($self, memo, /)\n--\n\n"},
    {"__dlpack__", (PyCFunction)(void (*)(void))ndarray_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "The array's memory for another library, as DLPack has it."},
    {"__dlpack_device__", ndarray_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self)\n--\n\nThe CPU, as DLPack says it: (1, 0)."},
    {"__reduce_ex__", ndarray_reduce, METH_O, NULL},
    {0},
};
