/* SPDX-License-Identifier: Apache-2.0
 *
 * pestle.Field: a dense array that a kernel may use without its being passed: from a global, a closure, an attribute, a
 * list. A field's memory is its own and never moves; kernels hold the fields they use, so a field lives as long as
 * anything may run on it, and options (init, reset) do not touch it.
 *
 * Not here: elements, copies, exports (py_ndarray*.c).
 */
#include "py/py_ndarray.h"

/* "ij", "ji", ...: the axes from the outermost in memory on, the i-th letter from 'i' being axis i. */
static int read_order(const PyState *state, PyObject *order, NdarrayForm *form) {
    ndarray_c_order(form);
    if (order == Py_None) return 0;
    const char *text = PyUnicode_Check(order) ? PyUnicode_AsUTF8(order) : NULL;
    int n = text ? (int)strnlen(text, PS_MAX_AXES + 1) : -1;
    uint32_t seen = 0;
    PyErr_Clear();
    for (int k = 0; n == form->ndim && k < n; k++) {
        int axis = text[k] - 'i';
        if (axis < 0 || axis >= n || seen >> axis & 1) n = -1;
        seen |= 1u << (axis & 31);
        form->order[k] = (uint8_t)axis;
    }
    if (n == form->ndim) return 0;
    PyObject *repr = PyObject_Repr(order);
    const char *shown = repr ? PyUnicode_AsUTF8(repr) : NULL;
    if (shown) py_error(state, PS_MSG_PY_FIELD_ORDER, form->ndim, form->ndim == 1 ? "" : "s", shown);
    Py_XDECREF(repr);
    return -1;
}

typedef struct FieldArgs {
    PyObject *dtype, *shape, *order, *name, *offset, *needs_grad, *needs_dual, *layout;
} FieldArgs;

/* What all kinds of fields are given. -1 with an exception. */
static int read_form(const PyState *state, const char *what, const FieldArgs *args, NdarrayForm *form) {
    form->dtype = ps_front_dtype(&state->types, &state->options, args->dtype);
    if (form->dtype == PS_KIND_NONE) {
        py_error(state, PS_MSG_PY_DTYPE, what, Py_TYPE(args->dtype)->tp_name);
        return -1;
    }
    if (args->shape == Py_None) return py_error(state, PS_MSG_PY_FIELD_PLACE, what), -1;
    if (args->offset != Py_None) return py_error(state, PS_MSG_PY_FIELD_OFFSET, what), -1;
    if (args->name != Py_None && !PyUnicode_Check(args->name)) {
        PyErr_Format(PyExc_TypeError, "%s: name must be a str, found %s", what, Py_TYPE(args->name)->tp_name);
        return -1;
    }
    if (ndarray_read_shape(state, what, 1, args->shape, form) || read_order(state, args->order, form))
        return -1;
    return ndarray_check_size(state, what, args->shape, form);
}

static PyNdarray *make(const PyState *state, const FieldArgs *args, const NdarrayForm *form) {
    PyNdarray *field = ndarray_make(state->field_type, form);
    if (field && args->name != Py_None && PyUnicode_GET_LENGTH(args->name)) field->name = Py_NewRef(args->name);
    return field;
}

/* A gradient beside the field. */
static int add_grad(const PyState *state, const char *what, const FieldArgs *args, const NdarrayForm *form,
                    PyNdarray *field) {
    int grad = PyObject_IsTrue(args->needs_grad), dual = PyObject_IsTrue(args->needs_dual);
    if (grad < 0 || dual < 0) return -1;
    if (!grad && !dual) return 0;
    if (ps_scalar_class(form->dtype) != PS_CLASS_FLOAT)
        return py_error(state, PS_MSG_PY_FIELD_GRAD, what, ps_scalar_name(form->dtype)), -1;
    if (!grad) return 0;
    field->grad = (PyObject *)ndarray_make(state->field_type, form);
    return field->grad ? 0 : -1;
}

PyObject *py_field_new(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"dtype", "shape", "order", "name", "offset", "needs_grad", "needs_dual", NULL};
    PyState *state = py_state(module);
    FieldArgs given = {NULL, Py_None, Py_None, Py_None, Py_None, Py_False, Py_False, Py_None};
    NdarrayForm form = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOOOOO:field", names, &given.dtype, &given.shape,
                                     &given.order, &given.name, &given.offset, &given.needs_grad,
                                     &given.needs_dual))
        return NULL;
    if (read_form(state, "field", &given, &form)) return NULL;
    PyNdarray *field = make(state, &given, &form);
    if (field && add_grad(state, "field", &given, &form, field)) Py_CLEAR(field);
    return (PyObject *)field;
}

/* -- the type -- */

static PyObject *Field_repr(PyObject *object) {
    PyNdarray *self = (PyNdarray *)object;
    PyObject *shape = ndarray_shape(self, false), *name = self->name ? PyObject_Repr(self->name) : NULL,
             *text = NULL;
    if (shape && (name || !self->name))
        text =
            name ? PyUnicode_FromFormat("<pestle.field %U shape=%R dtype=%s>", name, shape,
                                        ps_scalar_name(self->dtype))
                 : PyUnicode_FromFormat("<pestle.field shape=%R dtype=%s>", shape, ps_scalar_name(self->dtype));
    Py_XDECREF(name);
    Py_XDECREF(shape);
    return text;
}

/* A field is something, as None is not; without axes too, where a length is none. */
static int Field_bool(PyObject *self) {
    (void)self;
    return 1;
}

static PyType_Slot field_slots[] = {
    {Py_nb_bool, Field_bool},
    {Py_tp_dealloc, ndarray_dealloc},
    {Py_tp_repr, Field_repr},
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
