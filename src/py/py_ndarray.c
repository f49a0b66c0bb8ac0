/* SPDX-License-Identifier: Apache-2.0
 *
 * pestle.Ndarray: a dense array in C order that needs no numpy. numpy sees its memory through the buffer protocol.
 * Here too: how arrays of ours are made and what their attributes are, fields as well (py_field.c has the rest of
 * those). Elements stand in py_ndarray_item.c, copies and conversions in py_ndarray_copy.c.
 */
#include "py/mode_int.h"
#include "py/py_ndarray.h"

/* -- making -- */

void ndarray_c_order(NdarrayForm *form) {
    form->soa = false;
    for (int k = 0; k < form->ndim; k++) form->order[k] = (uint8_t)k;
}

/* Strides in bytes, from the innermost axis in memory outwards. False: the bytes cannot be addressed. */
static bool form_strides(const NdarrayForm *form, int64_t *out, int64_t *out_bytes) {
    int axes[PS_MAX_AXES] = {0}, n = 0, all = form->ndim + form->edim;
    int64_t lengths[PS_MAX_AXES], strides[PS_MAX_AXES];
    for (int k = 0; form->soa && k < form->edim; k++) axes[n++] = form->ndim + k;
    for (int k = 0; k < form->ndim; k++) axes[n++] = form->order[k];
    for (int k = 0; !form->soa && k < form->edim; k++) axes[n++] = form->ndim + k;
    for (int k = 0; k < all; k++) lengths[k] = form->shape[axes[k]];
    if (!ps_layout_dense(all, lengths, ps_scalar_size(form->dtype), strides, out_bytes)) return false;
    for (int k = 0; k < all; k++) out[axes[k]] = strides[k];
    return true;
}

/* With the last `outer` axes outside; axes of length 1 and empty arrays may have any strides (decode_strided.h). */
static bool is_in_order(const PyNdarray *self, int outer) {
    int64_t inner = ps_scalar_size(self->dtype);
    int axes = ndarray_axes(self), first = axes - 1 - outer;
    for (int i = 0; i < axes; i++) {
        int k = (first - i + axes) % axes;
        if (self->shape[k] == 0) return true;
        if (self->shape[k] != 1 && (i ? self->strides[k] < inner : self->strides[k] != inner)) return false;
        if (self->shape[k] != 1) inner = self->strides[k] * self->shape[k];
    }
    return true;
}

static uint8_t unit_of(const PyNdarray *self) {
    if (is_in_order(self, 0)) return PS_UNIT_C;
    return self->edim && self->ndim && is_in_order(self, self->edim) ? PS_UNIT_SOA : PS_UNIT_NONE;
}

void ndarray_view_done(PyNdarray *view) {
    view->size = 1;
    view->shifted = false;
    for (int k = 0; k < view->ndim; k++) {
        view->size *= view->shape[k];
        view->shifted |= view->offset[k] != 0;
    }
    view->unit = unit_of(view);
}

PyNdarray *ndarray_view(PyTypeObject *type, const PyNdarray *of) {
    PyNdarray *view = (PyNdarray *)type->tp_alloc(type, 0);
    if (!view) return NULL;
    view->storage = of->storage;
    if (view->storage) ps_storage_retain(view->storage);
    view->data = of->data;
    view->dtype = of->dtype;
    view->ndim = of->ndim;
    view->edim = of->edim;
    memcpy(view->shape, of->shape, sizeof view->shape);
    memcpy(view->strides, of->strides, sizeof view->strides);
    memcpy(view->offset, of->offset, sizeof view->offset);
    return view;
}

PyObject *ndarray_outline(const PyNdarray *of) {
    PyNdarray *outline = ndarray_view(Py_TYPE(of), of);
    if (!outline) return PyErr_Clear(), NULL;
    if (outline->storage) ps_storage_release(outline->storage);
    outline->storage = NULL;
    outline->data = NULL;
    ndarray_view_done(outline);
    return (PyObject *)outline;
}

NdarrayForm ndarray_form(const PyNdarray *self) {
    NdarrayForm form = {.dtype = self->dtype, .ndim = self->ndim, .edim = self->edim};
    memcpy(form.shape, self->shape, sizeof form.shape);
    memcpy(form.offset, self->offset, sizeof form.offset);
    ndarray_c_order(&form);
    return form;
}

PyNdarray *ndarray_make(PyTypeObject *type, const NdarrayForm *form) {
    int64_t bytes;
    PyNdarray *self = (PyNdarray *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->dtype = form->dtype;
    self->ndim = form->ndim;
    self->edim = form->edim;
    memcpy(self->shape, form->shape, sizeof self->shape);
    memcpy(self->offset, form->offset, sizeof self->offset);
    bool fits = form_strides(form, self->strides, &bytes);
    self->storage = fits ? ps_storage_new(bytes ? (size_t)bytes : 1) : NULL;
    if (!self->storage) {
        Py_DECREF(self);
        return (PyNdarray *)PyErr_NoMemory();
    }
    self->data = self->storage->data;
    ndarray_view_done(self);
    return self;
}

/* Raises with what stands in `object` last. */
static int refuse_shape(const PyState *state, const char *what, int64_t least, PyObject *object,
                        bool too_large) {
    PyObject *repr = PyObject_Repr(object);
    const char *text = repr ? PyUnicode_AsUTF8(repr) : NULL;
    if (text && too_large)
        py_error(state, PS_MSG_PY_SHAPE_SIZE, what, text);
    else if (text)
        py_error(state, PS_MSG_PY_SHAPE, text, what, PS_MAX_AXES, (long long)least, (long long)PS_INDEX_LIMIT);
    Py_XDECREF(repr);
    return -1;
}

/* The axes of a shape: an int, or a sequence of them. -1: none; no exception set. */
static int read_shape(PyObject *object, int64_t least, int64_t *out) {
    PyObject *items = PyIndex_Check(object)                           ? PyTuple_Pack(1, object)
                      : PyTuple_Check(object) || PyList_Check(object) ? PySequence_Tuple(object)
                                                                      : NULL;
    int ndim = items && PyTuple_GET_SIZE(items) <= PS_MAX_AXES ? (int)PyTuple_GET_SIZE(items) : -1;
    for (int k = 0; k < ndim; k++) {
        PyObject *item = PyTuple_GET_ITEM(items, k);
        int64_t length = PyIndex_Check(item) && !PyBool_Check(item) ? PyNumber_AsSsize_t(item, NULL) : -1;
        if (length < least || length > PS_INDEX_LIMIT) {
            ndim = -1;
            break;
        }
        out[k] = length;
    }
    PyErr_Clear();
    Py_XDECREF(items);
    return ndim;
}

void ndarray_refuse_size(const PyState *state, const char *what, PyObject *shape) {
    refuse_shape(state, what, 0, shape, true);
}

int ndarray_read_shape(const PyState *state, const char *what, int64_t least, PyObject *shape,
                       NdarrayForm *form) {
    form->ndim = read_shape(shape, least, form->shape);
    return form->ndim < 0 ? refuse_shape(state, what, least, shape, false) : 0;
}

int ndarray_check_size(const PyState *state, const char *what, PyObject *shape, const NdarrayForm *form) {
    int64_t strides[PS_MAX_AXES], bytes;
    if (form->ndim + form->edim > PS_MAX_AXES) return refuse_shape(state, what, 0, shape, false);
    return form_strides(form, strides, &bytes) ? 0 : refuse_shape(state, what, 0, shape, true);
}

/* What arrays are made from: dtype, shape, needs_grad, layout, order. */
#define NDARRAY_ARGS 5
static int read_shape_and_layout(const PyState *state, const char *what, PyObject *const given[NDARRAY_ARGS],
                                 NdarrayForm *form) {
    if (ndarray_read_shape(state, what, 0, given[1], form)) return -1;
    if (ndarray_read_order(state, what, given[4] ? given[4] : Py_None, form)) return -1;
    return given[3] ? ndarray_read_layout(state, what, given[3], &form->soa) : 0;
}

static PyObject *new_structs(const PyState *state, const char *what, PyObject *const given[NDARRAY_ARGS]) {
    NdarrayForm form = {.dtype = PS_U8};
    int grad = given[2] ? PyObject_IsTrue(given[2]) : 0;
    if (grad < 0 || read_shape_and_layout(state, what, given, &form)) return NULL;
    return py_struct_field_make(state, what, given[0], &form, given[1], NULL, grad);
}

static PyObject *new_array(PyObject *module, const char *what, PyObject *n, PyObject *m,
                           PyObject *const given[NDARRAY_ARGS]) {
    const PyState *state = py_state(module);
    NdarrayForm form = {0};
    PsElement element;
    if (Py_IS_TYPE(given[0], state->types.struct_type) && !n) return new_structs(state, what, given);
    if (ndarray_read_element(state, what, given[0], n, m, &element) ||
        read_shape_and_layout(state, what, given, &form))
        return NULL;
    ndarray_set_element(&form, &element);
    if (ndarray_check_size(state, what, given[1], &form)) return NULL;
    PyNdarray *array = ndarray_make(state->ndarray_type, &form);
    if (array && given[2] && ndarray_add_grad(state, what, given[2], &form, array)) Py_CLEAR(array);
    return (PyObject *)array;
}

PyObject *py_ndarray_new(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    PyState *state = py_state(module);
    static const char *const known[] = {"dtype", "shape", "needs_grad", "layout", "order"};
    PyObject *given[NDARRAY_ARGS] = {0};
    if (nargs > NDARRAY_ARGS)
        return PyErr_Format(PyExc_TypeError,
                            "ndarray() takes dtype, shape, needs_grad, layout and order, found %zd arguments",
                            nargs);
    for (Py_ssize_t i = 0; i < nargs; i++) given[i] = args[i];
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        const char *text = PyUnicode_AsUTF8(name);
        int at = -1;
        for (int k = 0; k < NDARRAY_ARGS; k++)
            if (text && strcmp(text, known[k]) == 0) at = k;
        if (!text) return NULL;
        if (at < 0)
            return py_error(state, PS_MSG_PY_KEYWORD, "ndarray", text,
                            "dtype, shape, needs_grad, layout and order");
        if (given[at]) return PyErr_Format(PyExc_TypeError, "ndarray() got multiple values for '%s'", text);
        given[at] = args[nargs + i];
    }
    if (!given[0] || !given[1])
        return PyErr_Format(PyExc_TypeError, "ndarray() needs dtype and shape; %s is missing",
                            known[given[0] ? 1 : 0]);
    return new_array(module, "ndarray", NULL, NULL, given);
}

PyObject *py_ndarray_vector(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"n", "dtype", "shape", "needs_grad", "layout", "order", NULL};
    PyObject *n, *given[NDARRAY_ARGS] = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|OOO:ndarray", names, &n, &given[0], &given[1],
                                     &given[2], &given[3], &given[4]))
        return NULL;
    return new_array(module, "Vector.ndarray", n, NULL, given);
}

PyObject *py_ndarray_matrix(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"n", "m", "dtype", "shape", "needs_grad", "layout", "order", NULL};
    PyObject *n, *m, *given[NDARRAY_ARGS] = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOO|OOO:ndarray", names, &n, &m, &given[0], &given[1],
                                     &given[2], &given[3], &given[4]))
        return NULL;
    return new_array(module, "Matrix.ndarray", n, m, given);
}

void ndarray_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    PyNdarray *self = (PyNdarray *)object;
    if (self->storage) ps_storage_release(self->storage);
    Py_XDECREF(self->name);
    Py_XDECREF(self->grad);
    type->tp_free(object);
    Py_DECREF(type);
}

/* -- attributes -- */

PyObject *ndarray_shape(const PyNdarray *self, bool elements) {
    int axes = elements ? ndarray_axes(self) : self->ndim;
    PyObject *tuple = PyTuple_New(axes);
    for (int k = 0; tuple && k < axes; k++) {
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
    const PyState *state = ndarray_state((PyNdarray *)self);
    if (mode_runs(state)) { /* numbers with a type */
        PyObject *array = mode_array_of(state, self),
                 *shape = array ? PyObject_GetAttrString(array, "shape") : NULL;
        Py_XDECREF(array);
        return shape;
    }
    return ndarray_shape((PyNdarray *)self, false);
}

static PyObject *get_offset(PyObject *object, void *unused) {
    (void)unused;
    const PyNdarray *self = (PyNdarray *)object;
    PyObject *tuple = PyTuple_New(self->ndim);
    for (int k = 0; tuple && k < self->ndim; k++) {
        PyObject *first = PyLong_FromLongLong(self->offset[k]);
        if (first)
            PyTuple_SET_ITEM(tuple, k, first);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_element_shape(PyObject *object, void *unused) {
    (void)unused;
    const PyNdarray *self = (PyNdarray *)object;
    PyObject *all = ndarray_shape(self, true);
    PyObject *shape = all ? PyTuple_GetSlice(all, self->ndim, ndarray_axes(self)) : NULL;
    Py_XDECREF(all);
    return shape;
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

/* n and m: the element's rows and columns; of scalars there are none. */
static PyObject *get_length(PyObject *object, void *axis) {
    const PyNdarray *self = (PyNdarray *)object;
    int k = axis ? 1 : 0;
    if (!self->edim) {
        PyErr_Format(PyExc_AttributeError, "the elements of this %s are scalars: it has no '%c'",
                     ndarray_kind(self), k ? 'm' : 'n');
        return NULL;
    }
    return PyLong_FromLongLong(k < self->edim ? self->shape[self->ndim + k] : 1);
}

/* Which of the elements' axes and the array's are outside in memory. */
static PyObject *get_layout(PyObject *object, void *unused) {
    (void)unused;
    const PyNdarray *self = (PyNdarray *)object;
    bool soa = false;
    for (int e = self->ndim; e < ndarray_axes(self); e++)
        for (int k = 0; k < self->ndim; k++)
            soa |= self->shape[e] > 1 && self->shape[k] > 1 && self->strides[e] > self->strides[k];
    PyObject *pestle = PyImport_ImportModule("pestle");
    PyObject *layout = pestle ? PyObject_GetAttrString(pestle, "Layout") : NULL;
    PyObject *member = layout ? PyObject_GetAttrString(layout, soa ? "SOA" : "AOS") : NULL;
    Py_XDECREF(layout);
    Py_XDECREF(pestle);
    return member;
}

static PyObject *get_name(PyObject *object, void *unused) {
    (void)unused;
    PyObject *name = ((PyNdarray *)object)->name;
    return name ? Py_NewRef(name) : PyUnicode_FromString("");
}

static PyObject *get_grad(PyObject *self, void *unused) {
    (void)unused;
    PyObject *grad = ((PyNdarray *)self)->grad;
    return Py_NewRef(grad ? grad : Py_None);
}

/* <pestle.field 'x' shape=(3, 4) dtype=f32 element_shape=(3,)> */
PyObject *ndarray_repr(const PyNdarray *self, const char *kind) {
    PyObject *shape = ndarray_shape(self, false), *element = get_element_shape((PyObject *)self, NULL);
    PyObject *name = self->name ? PyUnicode_FromFormat(" %R", self->name) : PyUnicode_FromString("");
    PyObject *text = NULL;
    if (shape && element && name && self->edim)
        text = PyUnicode_FromFormat("<pestle.%s%U shape=%R dtype=%s element_shape=%R>", kind, name, shape,
                                    ps_scalar_name(self->dtype), element);
    else if (shape && element && name)
        text = PyUnicode_FromFormat("<pestle.%s%U shape=%R dtype=%s>", kind, name, shape,
                                    ps_scalar_name(self->dtype));
    Py_XDECREF(name);
    Py_XDECREF(element);
    Py_XDECREF(shape);
    return text;
}

/* What print(x) shows of a field: its values, as the peers do. repr() says what it is. */
PyObject *py_field_text(PyObject *field) {
    PyObject *array = PyObject_CallMethod(field, "to_numpy", NULL), *text = array ? PyObject_Str(array) : NULL;
    Py_XDECREF(array);
    if (text || !PyErr_ExceptionMatches(PyExc_Exception)) return text;
    PyErr_Clear(); /* without numpy, or of a type that it has not */
    return PyObject_Repr(field);
}

static PyObject *Ndarray_repr(PyObject *object) { return ndarray_repr((PyNdarray *)object, "ndarray"); }

Py_ssize_t ndarray_length(PyObject *object) {
    PyNdarray *self = (PyNdarray *)object;
    if (self->ndim) return self->shape[0];
    PyErr_Format(PyExc_TypeError, "a%s without axes has no length",
                 Py_IS_TYPE(object, ndarray_state(self)->field_type) ? " Field" : "n Ndarray");
    return -1;
}

/* -- the buffer protocol -- */

static const char *const formats[PS_SCALAR_END] = {
    [PS_U1] = "?",  [PS_I8] = "b",  [PS_I16] = "h", [PS_I32] = "i", [PS_I64] = "l", [PS_U8] = "B",
    [PS_U16] = "H", [PS_U32] = "I", [PS_U64] = "L", [PS_F16] = "e", [PS_F32] = "f", [PS_F64] = "d",
};

static bool is_dense(const PyNdarray *self) { /* C order without gaps */
    int64_t inner = ps_scalar_size(self->dtype);
    for (int k = ndarray_axes(self) - 1; k >= 0; k--) {
        if (self->shape[k] == 0) return true;
        if (self->shape[k] != 1 && self->strides[k] != inner) return false;
        inner *= self->shape[k];
    }
    return true;
}

int ndarray_getbuffer(PyObject *object, Py_buffer *view, int flags) {
    PyNdarray *self = (PyNdarray *)object;
    int axes = ndarray_axes(self), item = ps_scalar_size(self->dtype);
    const char *refused = !formats[self->dtype] ? "buffers have no format for bf16" : NULL;
    if (!is_dense(self) &&
        ((flags & PyBUF_STRIDES) != PyBUF_STRIDES || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ||
         (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS))
        refused = "the elements of this array have gaps between them";
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && axes > 1) refused = "an Ndarray is in C order";
    view->obj = NULL;
    if (refused) {
        PyErr_SetString(PyExc_BufferError, refused);
        return -1;
    }
    int64_t count = self->size;
    for (int k = self->ndim; k < axes; k++) count *= self->shape[k];
    *view = (Py_buffer){
        .buf = self->data,
        .obj = Py_NewRef(object),
        .len = count * item,
        .itemsize = item,
        .ndim = axes,
        .format = flags & PyBUF_FORMAT ? (char *)formats[self->dtype] : NULL,
        .shape = flags & PyBUF_ND ? (Py_ssize_t *)self->shape : NULL,
        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? (Py_ssize_t *)self->strides : NULL,
    };
    return 0;
}

/* -- the type -- */

PyGetSetDef ndarray_getset[] = {
    {"shape", get_shape, NULL, "The lengths of the axes.", NULL},
    {"offset", get_offset, NULL, "The first index of each axis.", NULL},
    {"dtype", get_dtype, NULL, "The type of a scalar, such as pestle.f32.", NULL},
    {"ndim", get_ndim, NULL, "The number of axes.", NULL},
    {"size", get_size, NULL, "The number of elements.", NULL},
    {"element_shape", get_element_shape, NULL, "The shape of one element: () for scalars.", NULL},
    {"n", get_length, NULL, "Vectors: their length; matrices: their rows.", NULL},
    {"m", get_length, NULL, "Matrices: their columns; vectors: 1.", (void *)1},
    {"layout", get_layout, NULL,
     "Layout.AOS: the scalars of an element lie side by side; Layout.SOA: those of a member.", NULL},
    {"name", get_name, NULL, "What it was called when it was made, or \"\".", NULL},
    {"grad", get_grad, NULL, "What needs_grad=True made room for, or None.", NULL},
    {0},
};
static PyType_Slot ndarray_slots[] = {
    {Py_tp_dealloc, ndarray_dealloc},
    {Py_tp_repr, Ndarray_repr},
    {Py_tp_iter, ndarray_iter},
    {Py_tp_getset, ndarray_getset},
    {Py_tp_methods, ndarray_methods},
    {Py_mp_subscript, ndarray_subscript},
    {Py_mp_ass_subscript, ndarray_ass_subscript},
    {Py_mp_length, ndarray_length},
    {Py_bf_getbuffer, ndarray_getbuffer},
    {Py_tp_doc, "A dense array of numbers, made by pestle.ndarray(dtype, shape)."},
    {0},
};
static PyType_Spec ndarray_spec = {
    "pestle.Ndarray", sizeof(PyNdarray), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, ndarray_slots};

PyTypeObject *py_ndarray_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &ndarray_spec, NULL);
}
