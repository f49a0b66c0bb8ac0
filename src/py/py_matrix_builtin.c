/* SPDX-License-Identifier: Apache-2.0
 *
 * select, cast, isnan, isinf, zero and one of host vectors and matrices: of each element what they are of a number, with
 * the types that a kernel would give. Numbers stand for all elements, lists for vectors and matrices. Builtins that are one
 * operation are in py_matrix_ops.c.
 */
#include "py/mode_int.h"
#include "py/py_matrix.h"

#define MOST_ARGS 8

/* Of an element: typed, or a Python number if the matrix is made of those. */
static PyObject *element(const PyState *state, const PsMatrixObject *m, uint32_t i) {
    return m->weak ? ps_matrix_element(m, i) : mode_number(state, m->elem, m->words[i]);
}

/* Lists among the arguments become matrices; all must have one shape. The first of them; NULL with an exception. */
static const PsMatrixObject *read_args(const PyState *state, PyObject *const *args, Py_ssize_t nargs,
                                       PyObject **held) {
    const PsMatrixObject *shape = NULL;
    for (Py_ssize_t i = 0; i < nargs; i++) {
        bool list = PyList_Check(args[i]) || PyTuple_Check(args[i]);
        held[i] = list ? (PyObject *)matrix_from(state, args[i], PS_KIND_NONE) : Py_NewRef(args[i]);
        if (!held[i]) return NULL;
        if (!matrix_check(held[i])) continue;
        const PsMatrixObject *m = (PsMatrixObject *)held[i];
        if (shape && (m->ndim != shape->ndim || m->n != shape->n || m->m != shape->m))
            return PyErr_Format(PyExc_TypeError, "the shapes differ: (%d, %d) and (%d, %d)", (int)shape->n,
                                (int)shape->m, (int)m->n, (int)m->m),
                   NULL;
        shape = m;
    }
    return shape;
}

/* The numbers of a list as a matrix: of their type, when they have one. */
static PyObject *collect(const PyState *state, const PsMatrixObject *shape, PyObject *numbers) {
    PyObject *first = PyList_GET_ITEM(numbers, 0);
    bool typed = mode_is_number(state, first), real = false, truth = true;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(numbers); i++) {
        real |= PyFloat_Check(PyList_GET_ITEM(numbers, i));
        truth &= PyBool_Check(PyList_GET_ITEM(numbers, i));
    }
    PsType type = typed ? ((ModeNumber *)first)->type : real ? PS_F64 : truth ? PS_U1 : PS_I64;
    PsMatrixObject *made = matrix_new(state, type, !typed, shape->ndim, shape->n, shape->m);
    for (uint32_t i = 0; made && i < matrix_count(made); i++) {
        PyObject *number = PyList_GET_ITEM(numbers, i);
        if (mode_is_number(state, number))
            made->words[i] = ((ModeNumber *)number)->bits;
        else if (ps_number_bits(number, type, &made->words[i]))
            Py_CLEAR(made);
    }
    return (PyObject *)made;
}

static PyObject *one_call(const PyState *state, PyObject *callee, PyObject *const *args, Py_ssize_t nargs,
                          uint32_t i) {
    PyObject *row[MOST_ARGS], *result = NULL;
    Py_ssize_t made = 0;
    for (; made < nargs; made++) {
        bool matrix = matrix_check(args[made]);
        row[made] = matrix ? element(state, (PsMatrixObject *)args[made], i) : Py_NewRef(args[made]);
        if (!row[made]) break;
    }
    if (made == nargs) result = PyObject_Vectorcall(callee, row, (size_t)nargs, NULL);
    for (Py_ssize_t k = 0; k < made; k++) Py_DECREF(row[k]);
    return result;
}

PyObject *matrix_elementwise(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    PyState *state = matrix_state(self);
    PyObject *callee = nargs ? args[0] : Py_None, *held[MOST_ARGS] = {NULL}, *list = NULL, *result = NULL;
    if (!state) return NULL;
    if (!Py_IS_TYPE(callee, state->types.builtin) || --nargs > MOST_ARGS) Py_RETURN_NOTIMPLEMENTED;
    PsBuiltinId id = ((PsBuiltinObject *)callee)->id;
    bool known = id == PS_BUILTIN_SELECT || id == PS_BUILTIN_CAST || id == PS_BUILTIN_ISNAN ||
                 id == PS_BUILTIN_ISINF || id == PS_BUILTIN_ZERO || id == PS_BUILTIN_ONE;
    if (!known) Py_RETURN_NOTIMPLEMENTED;
    if (mode_init(state, PyType_GetModule(Py_TYPE(self)))) return NULL;
    const PsMatrixObject *shape = read_args(state, args + 1, nargs, held);
    if (shape) list = PyList_New(matrix_count(shape));
    for (uint32_t i = 0; list && i < matrix_count(shape); i++) {
        PyObject *number = one_call(state, callee, held, nargs, i);
        if (number)
            PyList_SET_ITEM(list, i, number);
        else
            Py_CLEAR(list);
    }
    if (list) result = collect(state, shape, list);
    Py_XDECREF(list);
    for (Py_ssize_t i = 0; i < nargs; i++) Py_XDECREF(held[i]);
    return result;
}
