/* SPDX-License-Identifier: Apache-2.0
 *
 * Values by value between Python and a frame: vectors, matrices, structs and tuples as words, one for each scalar. A
 * vector of the right type and shape is copied; lists, tuples, arrays and dicts are read element by element, by the rules
 * for numbers.
 */
#include "py/decode_scalar.h"
#include "py/py_matrix.h"

/* -- to words -- */

bool py_form_quick(const PyState *state, const PsForm *form, PyObject *arg, uint64_t *words) {
    if (form->kind != PS_FORM_MATRIX || !ps_is_matrix(&state->types, arg)) return false;
    const PsMatrixObject *m = (const PsMatrixObject *)arg;
    if (m->elem != form->elem || m->ndim != form->ndim || m->n != form->n || m->m != form->m) return false;
    memcpy(words, m->words, form->words * sizeof *words);
    return true;
}

static int refuse_shape(const PyState *state, const PsForm *form, PyObject *arg, const ScalarPlace *place) {
    char where[200];
    if (py_refuse_proxy(state, arg)) return -1;
    PyObject *repr = PyObject_Repr(arg);
    const char *text = repr ? PyUnicode_AsUTF8(repr) : NULL;
    if (!text) PyErr_Clear();
    if (!text || strlen(text) > 80) text = Py_TYPE(arg)->tp_name;
    if (form->ndim == 1)
        py_error(state, PS_MSG_PY_VECTOR, scalar_place_text(place, where, sizeof where), (int)form->n,
                 ps_scalar_name(form->elem), text);
    else
        py_error(state, PS_MSG_PY_MATRIX, scalar_place_text(place, where, sizeof where), (int)form->n,
                 (int)form->m, ps_scalar_name(form->elem), text);
    Py_XDECREF(repr);
    return -1;
}

/* Elements of a sequence as a tuple; NULL without an exception: it is none. */
static PyObject *elements(PyObject *object) {
    if (PyUnicode_Check(object) || PyDict_Check(object) || !PySequence_Check(object)) return NULL;
    PyObject *items = PySequence_Tuple(object);
    if (!items && PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_Clear();
    return items;
}

static int read_row(const PyState *state, const PsForm *form, PyObject *row, int32_t n,
                    const ScalarPlace *place, PyObject *whole, uint64_t *words) {
    PyObject *items = elements(row);
    int status = items && PyTuple_GET_SIZE(items) == n ? 0 : -1;
    if (status && !PyErr_Occurred()) refuse_shape(state, form, whole, place);
    for (int32_t i = 0; !status && i < n; i++)
        status = scalar_decode(state, form->elem, PyTuple_GET_ITEM(items, i), place, &words[i]);
    Py_XDECREF(items);
    return status;
}

static int read_matrix(const PyState *state, const PsForm *form, PyObject *arg, const ScalarPlace *place,
                       uint64_t *words) {
    if (form->ndim == 1) return read_row(state, form, arg, form->n, place, arg, words);
    PyObject *rows = elements(arg);
    int status = rows && PyTuple_GET_SIZE(rows) == form->n ? 0 : -1;
    if (status && !PyErr_Occurred()) refuse_shape(state, form, arg, place);
    for (int32_t i = 0; !status && i < form->n; i++)
        status = read_row(state, form, PyTuple_GET_ITEM(rows, i), form->m, place, arg, words + i * form->m);
    Py_XDECREF(rows);
    return status;
}

/* A member of a struct or entry of a dict; borrowed from a value kept by the caller. NULL: it has none. */
static PyObject *member(const PyState *state, PyObject *arg, PyObject *name) {
    if (PyDict_Check(arg)) return PyDict_GetItemWithError(arg, name);
    PsStructObject *value = (PsStructObject *)arg;
    int at = py_struct_find(value->type, name);
    (void)state;
    return at < 0 ? NULL : value->values[at];
}

static int read_struct(const PyState *state, const PsForm *form, PyObject *arg, const ScalarPlace *place,
                       uint64_t *words) {
    const PsStructTypeObject *type = (PsStructTypeObject *)form->type;
    bool dict = PyDict_Check(arg);
    char where[200];
    Py_ssize_t count = dict                                      ? PyDict_GET_SIZE(arg)
                       : Py_IS_TYPE(arg, state->types.structure) ? Py_SIZE(arg)
                                                                 : -1;
    if (count != (Py_ssize_t)form->parts) {
        if (py_refuse_proxy(state, arg)) return -1;
        py_error(state, PS_MSG_PY_STRUCT, scalar_place_text(place, where, sizeof where), form->parts,
                 Py_TYPE(arg)->tp_name);
        return -1;
    }
    const PsForm *part = form + 1;
    for (uint32_t i = 0; i < form->parts; i++, part = ps_form_next(part)) {
        PyObject *name = PyTuple_GET_ITEM(type->members, i), *value = member(state, arg, name);
        const char *text = PyUnicode_AsUTF8(name);
        if (!value) {
            if (!PyErr_Occurred())
                py_error(state, PS_MSG_PY_STRUCT_MEMBER, scalar_place_text(place, where, sizeof where),
                         text ? text : "?");
            return -1;
        }
        Py_INCREF(value);
        int status = py_form_read(state, part, value, place, words);
        Py_DECREF(value);
        if (status) return -1;
        words += part->words;
    }
    return 0;
}

int py_form_read(const PyState *state, const PsForm *form, PyObject *arg, const ScalarPlace *place,
                 uint64_t *words) {
    if (py_form_quick(state, form, arg, words)) return 0;
    if (form->kind == PS_FORM_SCALAR) return scalar_decode(state, form->elem, arg, place, words);
    return form->kind == PS_FORM_MATRIX ? read_matrix(state, form, arg, place, words)
                                        : read_struct(state, form, arg, place, words);
}

/* -- from words -- */

static PyObject *make_tuple(const PyState *state, const PsForm *form, const uint64_t *words) {
    PyObject *tuple = PyTuple_New(form->parts);
    const PsForm *part = form + 1;
    for (uint32_t i = 0; tuple && i < form->parts; words += part->words, part = ps_form_next(part), i++) {
        PyObject *item = py_form_encode(state, part, words);
        if (!item) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, item);
    }
    return tuple;
}

PyObject *py_form_encode(const PyState *state, const PsForm *form, const uint64_t *words) {
    if (form->kind == PS_FORM_SCALAR) return scalar_encode(form->elem, words[0]);
    if (form->kind == PS_FORM_MATRIX) {
        PsMatrixObject *m = matrix_new(state, form->elem, false, form->ndim, form->n, form->m);
        if (m) memcpy(m->words, words, form->words * sizeof *words);
        return (PyObject *)m;
    }
    PyObject *parts = make_tuple(state, form, words);
    if (!parts || form->kind == PS_FORM_TUPLE) return parts;
    PyObject *made = py_struct_new(state, (PsStructTypeObject *)form->type, parts);
    Py_DECREF(parts);
    return made;
}
