/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a name gets a value in a kernel that runs as plain Python: the first assignment makes a variable of the value's
 * type, later ones convert to it (loop_assign.c). Functions of the module, called by rewritten functions.
 */
#include "py/mode_int.h"

static PyObject *each_local(const PyState *state, void *data, PyObject *const *args) {
    (void)data;
    return mode_typed(state, args[0]);
}

/* What ti.static gave is of a class of its own, and stays known. */
static bool stays_known(const PyState *state, PyObject *value) {
    PyTypeObject *const kinds[] = {&PyLong_Type, &PyFloat_Type};
    for (size_t i = 0; i < PS_COUNT(kinds); i++)
        if (PyDict_GetItem(state->mode.kept, (PyObject *)kinds[i]) == (PyObject *)Py_TYPE(value)) return true;
    return false;
}

PyObject *mode_local(PyObject *module, PyObject *value) {
    const PyState *state = py_state(module);
    if (mode_is_vector(state, value)) return mode_map(state, each_local, NULL, &value, 1);
    return stays_known(state, value) ? Py_NewRef(value) : mode_typed(state, value);
}

static PyObject *assign_element(const PyState *state, void *data, PyObject *const *args) {
    (void)data;
    return mode_cast_object(state, args[1], ((ModeNumber *)args[0])->type);
}

static bool is_vector_of_numbers(const PyState *state, PyObject *value) {
    if (!mode_is_vector(state, value)) return false;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(value); i++)
        if (!mode_is_number(state, PyList_GET_ITEM(value, i))) return false;
    return true;
}

/* _mode_assign(old, value): what the name is to be bound to. */
PyObject *mode_assign(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    const PyState *state = py_state(module);
    if (nargs != 2) return PyErr_Format(PyExc_TypeError, "_mode_assign() takes 2 arguments");
    PyObject *old = args[0];
    if (is_vector_of_numbers(state, old)) return mode_map(state, assign_element, NULL, args, 2);
    if (!mode_is_number(state, old)) return mode_local(module, args[1]);
    ModeNumber *number = (ModeNumber *)old;
    PyObject *value = mode_cast_object(state, args[1], number->type);
    if (!value || !number->reference || !mode_is_number(state, value)) return value;
    int failed = mode_set(state, number, ((ModeNumber *)value)->bits);
    Py_DECREF(value);
    return failed ? NULL : Py_NewRef(old);
}

/* _mode_annotated(dtype, value): x: dtype = value. */
PyObject *mode_annotated(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    const PyState *state = py_state(module);
    PsType type = nargs == 2 ? ps_front_dtype(&state->types, &state->options, args[0]) : PS_KIND_NONE;
    if (type) return mode_cast_object(state, args[1], type);
    return py_error(state, PS_MSG_MODE_WANTS, "an annotation", "a dtype",
                    nargs ? Py_TYPE(args[0])->tp_name : "?");
}

/* _mode_unpack(values, targets): the values of a tuple target. A target is None: a new name; Ellipsis: a place that
 * converts by itself; a list: targets of its own; anything else: what the name was. */
PyObject *mode_unpack(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    const PyState *state = py_state(module);
    if (nargs != 2 || !PyList_Check(args[1]))
        return PyErr_Format(PyExc_TypeError, "_mode_unpack(values, targets)");
    PyObject *values = PySequence_Fast(args[0], "only sequences can be unpacked"), *targets = args[1];
    PyObject *result = values ? PyList_New(PyList_GET_SIZE(targets)) : NULL;
    Py_ssize_t n = values ? PySequence_Fast_GET_SIZE(values) : 0;
    if (result && n != PyList_GET_SIZE(targets)) {
        py_error(state, PS_MSG_MODE_COUNT, "values to unpack", (long long)PyList_GET_SIZE(targets),
                 (long long)n);
        Py_CLEAR(result);
    }
    for (Py_ssize_t i = 0; result && i < n; i++) {
        PyObject *target = PyList_GET_ITEM(targets, i);
        PyObject *pair[2] = {target, PySequence_Fast_GET_ITEM(values, i)}, *item;
        if (target == Py_Ellipsis)
            item = Py_NewRef(pair[1]);
        else if (target == Py_None)
            item = mode_local(module, pair[1]);
        else if (PyList_CheckExact(target)) {
            PyObject *inner[2] = {pair[1], target};
            item = mode_unpack(module, inner, 2);
        } else
            item = mode_assign(module, pair, 2);
        if (item)
            PyList_SET_ITEM(result, i, item);
        else
            Py_CLEAR(result);
    }
    Py_XDECREF(values);
    return result;
}

/* A parameter of a func: by value in the type of its annotation, or by reference. */
static PyObject *enter_one(PyObject *module, PyObject *annotation, PyObject *value) {
    const PyState *state = py_state(module);
    const PsFrontTypes *types = &state->types;
    bool reference = annotation == (PyObject *)types->template_annotation ||
                     Py_IS_TYPE(annotation, types->template_annotation) ||
                     Py_IS_TYPE(annotation, types->ref_annotation);
    if (reference && mode_is_number(state, value)) ((ModeNumber *)value)->reference = true;
    if (reference) return Py_NewRef(value);
    PsType type = ps_front_dtype(types, &state->options, annotation);
    ModeOperand unused;
    if (type && (mode_is_vector(state, value) || mode_read(state, value, &unused)))
        return mode_cast_object(state, value, type);
    return mode_local(module, value);
}

/* _mode_enter(annotations, *values): the parameters of a func as its body sees them. */
PyObject *mode_enter(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    PyObject *result = nargs ? PyTuple_New(nargs - 1) : NULL;
    for (Py_ssize_t i = 1; result && i < nargs; i++) {
        PyObject *item = enter_one(module, PyTuple_GET_ITEM(args[0], i - 1), args[i]);
        if (item)
            PyTuple_SET_ITEM(result, i - 1, item);
        else
            Py_CLEAR(result);
    }
    return result;
}

/* _mode_choose(condition, then, otherwise, dry_then, dry_otherwise): `a if c else b`, its arms as functions. What a
 * condition known while compiling picks is taken as it is; else it gets the type of both arms. For that the other arm is
 * computed too: by its dry function where there is one, which calls only what does no harm. */
PyObject *mode_choose(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    const PyState *state = py_state(module);
    ModeOperand a, b;
    uint64_t bits;
    if (nargs != 5) return PyErr_Format(PyExc_TypeError, "_mode_choose() takes 5 arguments");
    int truth = PyObject_IsTrue(args[0]);
    PyObject *value = truth < 0 ? NULL : PyObject_CallNoArgs(args[truth ? 1 : 2]);
    if (!value || !mode_is_number(state, args[0]) || !mode_read(state, value, &a)) return value;
    PyObject *dry = args[truth ? 4 : 3];
    mode_hide();
    PyObject *other = PyObject_CallNoArgs(dry == Py_None ? args[truth ? 2 : 1] : dry);
    mode_unhide();
    if (!other && !PyErr_ExceptionMatches(PyExc_Exception)) { /* Ctrl-C */
        Py_DECREF(value);
        return NULL;
    }
    PsType type = other && mode_read(state, other, &b) ? mode_promote_keep(a.type, b.type) : a.type;
    PyErr_Clear(); /* such as an index that only the condition keeps in bounds */
    PyObject *result = mode_as(state, &a, type, &bits) ? NULL : mode_number(state, type, bits);
    Py_XDECREF(other);
    Py_DECREF(value);
    return result;
}

/* A value that has been rounded: a product is none any more. */
PyObject *mode_round(PyObject *module, PyObject *value) {
    const PyState *state = py_state(module);
    if (mode_is_vector(state, value)) return mode_map(state, each_local, NULL, &value, 1);
    return mode_is_number(state, value) ? mode_typed(state, value) : Py_NewRef(value);
}
