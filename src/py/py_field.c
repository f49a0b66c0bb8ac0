/* SPDX-License-Identifier: Apache-2.0
 *
 * pestle.Field: a dense array that a kernel may use without its being passed: from a global, a closure, an attribute, a
 * list. A field's memory is its own and never moves; kernels hold the fields they use, so a field lives as long as
 * anything may run on it, and options (init, reset) do not touch it.
 *
 * Not here: elements, copies, exports (py_ndarray*.c).
 */
#include "py/py_matrix.h"
#include "py/py_ndarray.h"

static int refuse_order(const PyState *state, const char *what, PsMessageId id, PyObject *found, int last) {
    PyObject *repr = found ? PyObject_Repr(found) : NULL;
    const char *shown = repr ? PyUnicode_AsUTF8(repr) : NULL;
    if (shown) py_error(state, id, what, shown, last);
    Py_XDECREF(repr);
    return -1;
}

static int refuse_axis(const PyState *state, const char *what, PyObject *order, int k, int last) {
    PyObject *letter = PyUnicode_Substring(order, k, k + 1);
    refuse_order(state, what, PS_MSG_PY_FIELD_ORDER_AXIS, letter, last);
    Py_XDECREF(letter);
    return -1;
}

/* "ij", "ji", ...: the axes from the outermost in memory on, the i-th letter from 'i' being axis i. */
int ndarray_read_order(const PyState *state, const char *what, PyObject *order, NdarrayForm *form) {
    uint32_t seen = 0;
    ndarray_c_order(form);
    if (order == Py_None) return 0;
    if (!PyUnicode_Check(order)) return refuse_order(state, what, PS_MSG_PY_FIELD_ORDER, order, 0);
    Py_ssize_t n = PyUnicode_GET_LENGTH(order);
    if (n != form->ndim) return py_error(state, PS_MSG_PY_FIELD_ORDER_AXES, what, form->ndim, (int)n), -1;
    for (int k = 0; k < n; k++) {
        int64_t axis = (int64_t)PyUnicode_READ_CHAR(order, k) - 'i';
        if (axis < 0 || axis >= n) return refuse_axis(state, what, order, k, 'i' + (int)n - 1);
        if (seen >> axis & 1) return refuse_order(state, what, PS_MSG_PY_FIELD_ORDER_TWICE, order, 0);
        seen |= 1u << axis;
        form->order[k] = (uint8_t)axis;
    }
    return 0;
}

typedef struct FieldArgs {
    PyObject *n, *m; /* NULL: the dtype says what the elements are */
    PyObject *dtype, *shape, *order, *name, *offset, *needs_grad, *needs_dual, *layout;
} FieldArgs;

static int read_length(const PyState *state, const char *what, const PyObject *given, PyObject *object,
                       int64_t *out) {
    (void)state;
    *out = 1;
    if (!given) return 0;
    *out = PyIndex_Check(object) ? PyNumber_AsSsize_t(object, NULL) : -1;
    if (*out != -1 || PyIndex_Check(object)) return PyErr_Occurred() ? -1 : 0;
    PyErr_Format(PyExc_TypeError, "%s: the lengths of an element must be ints, found %.100s", what,
                 Py_TYPE(object)->tp_name);
    return -1;
}

/* n and m behind the dtype of a scalar. */
static int read_lengths(const PyState *state, const char *what, const FieldArgs *args, PsElement *out) {
    int64_t n, m;
    if (!args->n) return 0;
    if (read_length(state, what, args->n, args->n, &n) || read_length(state, what, args->m, args->m, &m))
        return -1;
    if (n < 1 || m < 1 || n > PS_MAX_TILE / m)
        return py_error(state, PS_MSG_PY_FIELD_ELEMENT, what, (long long)PS_MAX_TILE, (long long)n,
                        (long long)m),
               -1;
    if (out->edim) {
        PyErr_Format(PyExc_TypeError, "%s: dtype must be of a scalar, such as pestle.f32", what);
        return -1;
    }
    *out = (PsElement){out->dtype, args->m ? 2 : 1, {n, m}};
    return 0;
}

int ndarray_read_element(const PyState *state, const char *what, PyObject *dtype, PyObject *n, PyObject *m,
                         PsElement *out) {
    const FieldArgs args = {.n = n, .m = m};
    if (ps_front_element(&state->types, &state->options, dtype, out))
        return read_lengths(state, what, &args, out);
    py_error(state, PS_MSG_PY_DTYPE, what, Py_TYPE(dtype)->tp_name);
    return -1;
}

void ndarray_set_element(NdarrayForm *form, const PsElement *element) {
    form->dtype = element->dtype;
    form->edim = element->edim;
    for (int k = 0; k < element->edim && form->ndim + k < PS_MAX_AXES; k++)
        form->shape[form->ndim + k] = element->eshape[k];
}

/* Layout.AOS, Layout.SOA, or their names. */
int ndarray_read_layout(const PyState *state, const char *what, PyObject *layout, bool *out_soa) {
    *out_soa = false;
    if (layout == Py_None) return 0;
    PyObject *name = PyUnicode_Check(layout) ? Py_NewRef(layout) : PyObject_GetAttrString(layout, "name");
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    bool soa = text && !strcmp(text, "SOA"), aos = text && !strcmp(text, "AOS");
    Py_XDECREF(name);
    PyErr_Clear();
    *out_soa = soa;
    if (soa || aos) return 0;
    PyObject *repr = PyObject_Repr(layout);
    const char *shown = repr ? PyUnicode_AsUTF8(repr) : NULL;
    if (shown) py_error(state, PS_MSG_PY_FIELD_LAYOUT, what, shown);
    Py_XDECREF(repr);
    return -1;
}

static int refuse_offset(const PyState *state, const char *what, PyObject *offset) {
    PyObject *repr = PyObject_Repr(offset);
    const char *shown = repr ? PyUnicode_AsUTF8(repr) : NULL;
    if (shown)
        py_error(state, PS_MSG_PY_FIELD_OFFSET, what, (long long)-PS_INDEX_LIMIT, (long long)PS_INDEX_LIMIT,
                 shown);
    Py_XDECREF(repr);
    return -1;
}

/* The first index of each axis: an int, or one for each. All indices are ones that a loop can have. */
static int read_offset(const PyState *state, const char *what, PyObject *offset, NdarrayForm *form) {
    if (offset == Py_None) return 0;
    bool alone = PyIndex_Check(offset), several = PyTuple_Check(offset) || PyList_Check(offset);
    if (!alone && !several) return refuse_offset(state, what, offset);
    PyObject *items = alone ? PyTuple_Pack(1, offset) : PySequence_Tuple(offset);
    if (!items) return -1;
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    int status = n == form->ndim ? 0 : -1;
    if (status) py_error(state, PS_MSG_PY_FIELD_OFFSET_AXES, what, form->ndim, n);
    for (int k = 0; !status && k < form->ndim; k++) {
        PyObject *item = PyTuple_GET_ITEM(items, k);
        bool index = PyIndex_Check(item) && !PyBool_Check(item);
        int64_t first = index ? PyNumber_AsSsize_t(item, NULL) : INT64_MAX;
        PyErr_Clear();
        if (first < -(int64_t)PS_INDEX_LIMIT || first > (int64_t)PS_INDEX_LIMIT - form->shape[k])
            status = refuse_offset(state, what, offset);
        form->offset[k] = first;
    }
    Py_DECREF(items);
    return status;
}

/* What all kinds of fields are given, but for the elements. -1 with an exception. */
static int read_axes(const PyState *state, const char *what, const FieldArgs *args, NdarrayForm *form) {
    if (args->shape == Py_None && args->offset != Py_None)
        return py_error(state, PS_MSG_PY_FIELD_OFFSET_ALONE, what), -1;
    if (args->shape == Py_None && args->order != Py_None)
        return py_error(state, PS_MSG_PY_FIELD_ORDER_ALONE, what), -1;
    if (args->shape == Py_None) return py_error(state, PS_MSG_PY_FIELD_PLACE, what), -1;
    if (args->name != Py_None && !PyUnicode_Check(args->name)) {
        PyErr_Format(PyExc_TypeError, "%s: name must be a str, found %s", what, Py_TYPE(args->name)->tp_name);
        return -1;
    }
    return ndarray_read_shape(state, what, 1, args->shape, form) ||
                   ndarray_read_order(state, what, args->order, form) ||
                   read_offset(state, what, args->offset, form) ||
                   ndarray_read_layout(state, what, args->layout, &form->soa)
               ? -1
               : 0;
}

static int read_form(const PyState *state, const char *what, const FieldArgs *args, NdarrayForm *form) {
    PsElement element;
    if (ndarray_read_element(state, what, args->dtype, args->n, args->m, &element) ||
        read_axes(state, what, args, form))
        return -1;
    ndarray_set_element(form, &element);
    return ndarray_check_size(state, what, args->shape, form);
}

int ndarray_add_grad(const PyState *state, const char *what, PyObject *needs_grad, const NdarrayForm *form,
                     PyNdarray *array) {
    int grad = PyObject_IsTrue(needs_grad);
    if (grad <= 0) return grad;
    if (ps_scalar_class(form->dtype) != PS_CLASS_FLOAT)
        return py_error(state, PS_MSG_PY_FIELD_GRAD, what, ps_scalar_name(form->dtype)), -1;
    array->grad = (PyObject *)ndarray_make(Py_TYPE(array), form);
    return array->grad ? 0 : -1;
}

static PyObject *make_structs(const PyState *state, const char *what, const FieldArgs *args) {
    NdarrayForm form = {.dtype = PS_U8};
    int grad = PyObject_IsTrue(args->needs_grad);
    if (grad < 0 || read_axes(state, what, args, &form)) return NULL;
    return py_struct_field_make(state, what, args->dtype, &form, args->shape, args->name, grad);
}

static PyObject *make(PyObject *module, const char *what, const FieldArgs *args) {
    const PyState *state = py_state(module);
    NdarrayForm form = {0};
    if (Py_IS_TYPE(args->dtype, state->types.struct_type) && !args->n) return make_structs(state, what, args);
    if (read_form(state, what, args, &form)) return NULL;
    PyNdarray *field = ndarray_make(state->field_type, &form);
    if (field && args->name != Py_None && PyUnicode_GET_LENGTH(args->name)) field->name = Py_NewRef(args->name);
    if (field && ndarray_add_grad(state, what, args->needs_grad, &form, field)) Py_CLEAR(field);
    return (PyObject *)field;
}

#define NO_ARGS                                                                                                \
    {                                                                                                          \
        .shape = Py_None, .order = Py_None, .name = Py_None, .offset = Py_None, .needs_grad = Py_False,        \
        .needs_dual = Py_False, .layout = Py_None                                                              \
    }
#define COMMON "dtype", "shape", "order", "name", "offset", "needs_grad", "needs_dual", "layout", NULL
#define INTO(args)                                                                                             \
    &(args).dtype, &(args).shape, &(args).order, &(args).name, &(args).offset, &(args).needs_grad,             \
        &(args).needs_dual, &(args).layout

PyObject *py_field_new(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {COMMON};
    FieldArgs given = NO_ARGS;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOOOOOO:field", names, INTO(given))) return NULL;
    return make(module, "field", &given);
}

/* A dict of types is a struct type of its own. */
PyObject *py_field_struct(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"members",    "shape",      "order",  "name", "offset",
                            "needs_grad", "needs_dual", "layout", NULL};
    const PyState *state = py_state(module);
    FieldArgs given = NO_ARGS;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOOOOOO:field", names, INTO(given))) return NULL;
    if (Py_IS_TYPE(given.dtype, state->types.struct_type)) return make(module, "Struct.field", &given);
    if (!PyDict_Check(given.dtype))
        return PyErr_Format(PyExc_TypeError, "Struct.field: expected a dict of names and types, found %.100s",
                            Py_TYPE(given.dtype)->tp_name);
    PyObject *none = PyTuple_New(0), *type = none ? py_types_struct(module, none, given.dtype) : NULL;
    given.dtype = type;
    PyObject *field = type ? make(module, "Struct.field", &given) : NULL;
    Py_XDECREF(type);
    Py_XDECREF(none);
    return field;
}

PyObject *py_field_vector(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"n", COMMON};
    FieldArgs given = NO_ARGS;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OOOOOOO:field", names, &given.n, INTO(given)))
        return NULL;
    return make(module, "Vector.field", &given);
}

PyObject *py_field_matrix(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"n", "m", COMMON};
    FieldArgs given = NO_ARGS;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|OOOOOOO:field", names, &given.n, &given.m, INTO(given)))
        return NULL;
    return make(module, "Matrix.field", &given);
}

/* -- the type -- */

static PyObject *Field_repr(PyObject *object) { return ndarray_repr((PyNdarray *)object, "field"); }

/* A field is something, as None is not; without axes too, where a length is none. */
static int Field_bool(PyObject *self) {
    (void)self;
    return 1;
}

static PyType_Slot field_slots[] = {
    {Py_nb_bool, Field_bool},
    {Py_tp_dealloc, ndarray_dealloc},
    {Py_tp_repr, Field_repr},
    {Py_tp_str, py_field_text},
    {Py_tp_iter, ndarray_iter},
    {Py_tp_getset, ndarray_getset},
    {Py_tp_methods, ndarray_methods},
    {Py_mp_subscript, ndarray_subscript},
    {Py_mp_ass_subscript, ndarray_ass_subscript},
    {Py_mp_length, ndarray_length},
    {Py_bf_getbuffer, ndarray_getbuffer},
    {Py_tp_doc,
     "A dense array that kernels may use without its being passed, made by pestle.field(dtype, shape)."},
    {0},
};
static PyType_Spec field_spec = {
    "pestle.Field", sizeof(PyNdarray), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, field_slots};

PyTypeObject *py_field_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &field_spec, NULL);
}
