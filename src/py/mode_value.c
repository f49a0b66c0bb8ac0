/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors, matrices and structs in a kernel that runs as plain Python. They are the host's (py_matrix.c, py_struct.c); what
 * differs stands here: their elements and members are numbers with a type that know where they lie, operations go element
 * by element through the rules for numbers, and assigning copies.
 */
#include "py/mode_int.h"
#include "py/py_matrix.h"

bool mode_is_vector(const PyState *state, PyObject *object) { return ps_is_matrix(&state->types, object); }

bool mode_any_vector(const PyState *state, PyObject *const *args, int nargs) {
    for (int i = 0; i < nargs; i++)
        if (mode_is_vector(state, args[i])) return true;
    return false;
}

bool mode_is_typed(const PyState *state, PyObject *object) {
    if (mode_is_number(state, object)) return true;
    return mode_is_vector(state, object) && !((PsMatrixObject *)object)->weak;
}

/* -- elements and members -- */

static PyObject *lying_in(const PyState *state, PyObject *owner, uint32_t index, PsType type, uint64_t bits) {
    ModeNumber *number = (ModeNumber *)mode_number(state, type, bits);
    if (!number) return NULL;
    number->from = Py_NewRef(owner);
    number->index = index;
    return (PyObject *)number;
}

PyObject *mode_element(const PyState *state, const PsMatrixObject *m, uint32_t i) {
    if (m->weak) return ps_matrix_element(m, i);
    return lying_in(state, (PyObject *)m, i, m->elem, m->words[i]);
}

PyObject *mode_member(const PyState *state, PsStructObject *s, int i) {
    PyObject *value = s->values[i];
    PsType type = ps_front_dtype(&state->types, &state->options, PyTuple_GET_ITEM(s->type->types, i));
    uint64_t bits;
    if (!type || mode_is_number(state, value)) return Py_NewRef(value);
    return matrix_bits(value, type, &bits) ? NULL : lying_in(state, (PyObject *)s, (uint32_t)i, type, bits);
}

uint64_t mode_get(const ModeNumber *number) {
    uint64_t bits = number->bits;
    PyObject *from = number->from;
    if (!from) return bits;
    if (matrix_check(from)) return matrix_home_word((PsMatrixObject *)from, number->index);
    if (!py_struct_check(from)) return mode_array_read(number);
    PyObject *value = ((PsStructObject *)from)->values[number->index];
    if (matrix_bits(value, number->type, &bits)) PyErr_Clear();
    return bits;
}

int mode_set(const PyState *state, ModeNumber *number, uint64_t bits) {
    (void)state;
    number->bits = bits;
    PyObject *from = number->from;
    if (!from) return 0;
    if (matrix_check(from)) {
        ((PsMatrixObject *)from)->words[number->index] = bits;
        return py_matrix_write_home((PsMatrixObject *)from);
    }
    if (!py_struct_check(from)) return mode_array_write(number, bits);
    PyObject *value = ps_number_object(number->type, bits);
    if (!value) return -1;
    Py_XSETREF(((PsStructObject *)from)->values[number->index], value);
    return py_struct_write_home((PsStructObject *)from, (int)number->index);
}

/* -- element by element -- */

static bool is_sequence(PyObject *object) { return PyList_Check(object) || PyTuple_Check(object); }

/* Lists become vectors; the shape that all have. NULL with an exception. */
static const PsMatrixObject *take_operands(const PyState *state, PyObject *const *args, int nargs,
                                           PyObject **held) {
    const PsMatrixObject *shape = NULL;
    for (int k = 0; k < nargs; k++) {
        held[k] = is_sequence(args[k]) ? (PyObject *)matrix_from(state, args[k], PS_KIND_NONE) : args[k];
        if (!held[k]) return NULL;
        if (held[k] == args[k]) Py_INCREF(args[k]);
        if (!mode_is_vector(state, held[k])) continue;
        const PsMatrixObject *m = (PsMatrixObject *)held[k];
        bool differ = shape && (m->ndim != shape->ndim || m->n != shape->n || m->m != shape->m);
        if (differ)
            return py_error(state, PS_MSG_MODE_SHAPES, (int)shape->n, (int)shape->m, (int)m->n, (int)m->m),
                   NULL;
        if (!shape) shape = m;
    }
    return shape;
}

/* A product that nobody else has lends its factors (mode_rules.c). */
static PyObject *operand_element(const PyState *state, PyObject *arg, bool lends, uint32_t i) {
    if (!mode_is_vector(state, arg)) return Py_NewRef(arg);
    const PsMatrixObject *m = (PsMatrixObject *)arg;
    ModeNumber *number = (ModeNumber *)mode_element(state, m, i);
    if (!number || !lends) return (PyObject *)number;
    uint32_t n = matrix_count(m);
    number->product = number->lent = true;
    number->a = m->words[n + i];
    number->b = m->words[2 * n + i];
    return (PyObject *)number;
}

/* Of all results, which have one type; with their factors if they are products. */
static PyObject *collect(const PyState *state, const PsMatrixObject *shape, PyObject *numbers) {
    uint32_t n = matrix_count(shape);
    ModeNumber *first = (ModeNumber *)PyList_GET_ITEM(numbers, 0);
    bool product = first->product;
    PsMatrixObject *made =
        matrix_alloc(state, first->type, shape->ndim, shape->n, shape->m, (product ? 3 : 1) * (size_t)n);
    for (uint32_t i = 0; made && i < n; i++) {
        const ModeNumber *number = (ModeNumber *)PyList_GET_ITEM(numbers, i);
        made->words[i] = number->bits;
        if (!product) continue;
        made->words[n + i] = number->a;
        made->words[2 * n + i] = number->b;
    }
    if (made) made->product = product;
    return (PyObject *)made;
}

#define MOST_ARGS 4
PyObject *mode_map(const PyState *state, PyObject *(*f)(const PyState *, void *, PyObject *const *), void *data,
                   PyObject *const *args, int nargs) {
    PyObject *row[MOST_ARGS], *held[MOST_ARGS] = {NULL}, *list = NULL, *made = NULL;
    bool lends[MOST_ARGS];
    if (nargs > MOST_ARGS)
        return py_error(state, PS_MSG_MODE_COUNT, "vectors in an operation", (long long)MOST_ARGS,
                        (long long)nargs);
    for (int k = 0; k < nargs; k++)
        lends[k] = mode_is_vector(state, args[k]) && mode_lends((PsMatrixObject *)args[k]);
    const PsMatrixObject *shape = take_operands(state, args, nargs, held);
    if (shape) list = PyList_New(matrix_count(shape));
    for (uint32_t i = 0; list && i < matrix_count(shape); i++) {
        int count = 0;
        for (; count < nargs; count++)
            if (!(row[count] = operand_element(state, held[count], lends[count], i))) break;
        PyObject *item = count == nargs ? f(state, data, row) : NULL;
        while (count > 0) Py_DECREF(row[--count]);
        if (item && !mode_is_number(state, item)) { /* an operand is no number */
            made = item == Py_NotImplemented ? item : NULL;
            if (!made) mode_not_a_number(state, "an element of a vector", item), Py_DECREF(item);
            item = NULL;
        }
        if (item)
            PyList_SET_ITEM(list, i, item);
        else
            Py_CLEAR(list);
    }
    if (list) made = collect(state, shape, list);
    Py_XDECREF(list);
    for (int k = 0; k < nargs; k++) Py_XDECREF(held[k]);
    return made;
}

/* -- copies -- */

/* A struct of Python numbers takes the types that a kernel gives it. */
static PyObject *typed_struct(const PyState *state, PyObject *value) {
    PsStructObject *made = (PsStructObject *)py_value_copy(state, value);
    bool plain = false;
    for (Py_ssize_t i = 0; made && i < Py_SIZE(made); i++)
        plain |= PyTuple_GET_ITEM(made->type->types, i) == Py_None;
    if (!made || !plain) return (PyObject *)made;
    PyObject *none = PyTuple_New(0), *dict = PyObject_CallMethod((PyObject *)made, "to_dict", NULL),
             *again = NULL;
    if (none && dict) again = PyObject_Call((PyObject *)state->types.structure, none, dict);
    Py_XDECREF(none);
    Py_XDECREF(dict);
    Py_DECREF(made);
    return again;
}

PyObject *mode_copy(const PyState *state, PyObject *value) {
    if (py_struct_check(value)) return typed_struct(state, value);
    if (!mode_is_vector(state, value)) return Py_NewRef(value);
    const PsMatrixObject *m = (PsMatrixObject *)value;
    PsType elem = !m->weak || m->elem == PS_U1 ? m->elem
                  : m->elem == PS_F64          ? state->options.default_fp
                                               : state->options.default_ip;
    return matrix_cast(m, state, elem, false);
}

PyObject *mode_annotate(const PyState *state, PyObject *annotation, PyObject *value) {
    annotation = ps_front_annotation(&state->types, annotation);
    PsType type = ps_front_dtype(&state->types, &state->options, annotation);
    if (type) return mode_cast_object(state, value, type);
    if (ps_form_known(&state->types, annotation)) return PyObject_CallOneArg(annotation, value);
    return py_error(state, PS_MSG_MODE_WANTS, "an annotation", "a dtype, or a type of vectors or structs",
                    Py_TYPE(annotation)->tp_name);
}

/* -- assigning to a variable that is one -- */

static int set_matrix(const PyState *state, PsMatrixObject *place, PyObject *value) {
    if (mode_is_vector(state, value) || is_sequence(value)) {
        PsMatrixObject *from = matrix_from(state, value, place->elem);
        bool same = from && from->ndim == place->ndim && from->n == place->n && from->m == place->m;
        if (same) memcpy(place->words, from->words, matrix_count(place) * sizeof *place->words);
        if (from && !same)
            py_error(state, PS_MSG_MODE_SHAPES, (int)place->n, (int)place->m, (int)from->n, (int)from->m);
        Py_XDECREF(from);
        return same ? py_matrix_write_home(place) : -1;
    }
    uint64_t bits;
    if (matrix_bits(value, place->elem, &bits)) return -1;
    for (uint32_t i = 0; i < matrix_count(place); i++) place->words[i] = bits;
    return py_matrix_write_home(place);
}

static int set_struct(PsStructObject *place, PyObject *value) {
    PsStructObject *from = (PsStructObject *)PyObject_CallOneArg((PyObject *)place->type, value);
    if (!from) return -1;
    int status = 0;
    for (Py_ssize_t i = 0; !status && i < Py_SIZE(place); i++) {
        Py_XSETREF(place->values[i], Py_NewRef(from->values[i]));
        status = py_struct_write_home(place, (int)i);
    }
    Py_DECREF(from);
    return status;
}

int mode_overwrite(const PyState *state, PyObject *place, PyObject *value) {
    return mode_is_vector(state, place) ? set_matrix(state, (PsMatrixObject *)place, value)
                                        : set_struct((PsStructObject *)place, value);
}
