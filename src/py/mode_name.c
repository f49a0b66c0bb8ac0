/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a name gets a value in a kernel that runs as plain Python: the first assignment makes a variable of the value's
 * type, later ones convert to it (loop_assign.c). Functions of the module, called by rewritten functions.
 */
#include "py/mode_int.h"
#include "py/py_matrix.h"

/* What ti.static gave is of a class of its own, and stays known. */
static bool stays_known(const PyState *state, PyObject *value) {
    PyTypeObject *const kinds[] = {&PyLong_Type, &PyFloat_Type};
    for (size_t i = 0; i < PS_COUNT(kinds); i++)
        if (PyDict_GetItem(state->mode.kept, (PyObject *)kinds[i]) == (PyObject *)Py_TYPE(value)) return true;
    return false;
}

PyObject *mode_local(PyObject *module, PyObject *value) {
    const PyState *state = py_state(module);
    if (mode_is_vector(state, value) || py_struct_check(value)) return mode_copy(state, value);
    return stays_known(state, value) ? Py_NewRef(value) : mode_typed(state, value);
}

/* _mode_assign(old, value): what the name is to be bound to. */
PyObject *mode_assign(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    const PyState *state = py_state(module);
    if (nargs != 2) return PyErr_Format(PyExc_TypeError, "_mode_assign() takes 2 arguments");
    PyObject *old = args[0];
    if (mode_is_typed(state, old) ? !mode_is_number(state, old) : py_struct_check(old))
        return mode_overwrite(state, old, args[1]) ? NULL : Py_NewRef(old);
    if (!mode_is_number(state, old)) return mode_local(module, args[1]);
    ModeNumber *number = (ModeNumber *)old;
    PyObject *value = mode_cast_object(state, args[1], number->type);
    if (!value || !number->reference || !mode_is_number(state, value)) return value;
    int failed = mode_set(state, number, ((ModeNumber *)value)->bits);
    Py_DECREF(value);
    return failed ? NULL : Py_NewRef(old);
}

/* _mode_annotated(annotation, value): x: annotation = value. */
PyObject *mode_annotated(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    if (nargs != 2) return PyErr_Format(PyExc_TypeError, "_mode_annotated(annotation, value)");
    return mode_annotate(py_state(module), args[0], args[1]);
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
    if (type ? mode_is_vector(state, value) || mode_read(state, value, &unused)
             : ps_form_known(types, annotation))
        return mode_annotate(state, annotation, value);
    return py_struct_check(value) ? Py_NewRef(value) : mode_local(module, value);
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
    if (mode_is_typed(state, value) && !mode_is_number(state, value)) return mode_copy(state, value);
    return mode_is_number(state, value) ? mode_typed(state, value) : py_value_copy(state, value);
}

/* _mode_decides(or, left): a true value if `left or ...`, `left and ...` need not evaluate the right side. */
PyObject *mode_decides(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    if (nargs != 2) return PyErr_Format(PyExc_TypeError, "_mode_decides(either, left)");
    if (mode_is_vector(py_state(module), args[1])) Py_RETURN_FALSE;
    int truth = PyObject_IsTrue(args[1]);
    if (truth < 0) return NULL;
    return Py_NewRef(truth == (args[0] == Py_True) ? Py_Ellipsis : Py_False);
}

static PyObject *join_one(const PyState *state, void *either, PyObject *const *args) {
    int a = PyObject_IsTrue(args[0]), b = a < 0 ? -1 : PyObject_IsTrue(args[1]);
    return b < 0 ? NULL : mode_number(state, PS_U1, *(bool *)either ? a | b : a & b);
}

/* _mode_join(or, left, right): the right side is Ellipsis if the left one decided. Of vectors element by element. */
PyObject *mode_join(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    const PyState *state = py_state(module);
    bool either = nargs == 3 && args[0] == Py_True;
    if (nargs != 3) return PyErr_Format(PyExc_TypeError, "_mode_join(either, left, right)");
    if (args[2] == Py_Ellipsis) return Py_NewRef(args[1]);
    return mode_any_vector(state, args + 1, 2) ? mode_map(state, join_one, &either, args + 1, 2)
                                               : Py_NewRef(args[2]);
}
