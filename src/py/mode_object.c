/* SPDX-License-Identifier: Apache-2.0
 *
 * A dataclass argument in a launch as plain Python: a stand-in of the same class, whose members are what they would be as
 * arguments. A member that no kernel could take stays as it is, since the function may not use it.
 */
#include "py/decode_scalar.h"
#include "py/mode_int.h"
#include "py/py_view.h"

static PyObject *object_of(PyKernel *kernel, PyObject *instance, const char *where, PyObject *arrays);

static PyObject *wrap_words(PyState *state, const PyPlan *plan, PyObject *value, const uint64_t *words,
                            PyObject *arrays) {
    if (plan->how != PY_HOW_ARRAY && plan->how != PY_HOW_FIELD && plan->how != PY_HOW_BUFFER)
        return mode_number(state, plan->dtype, words[0]);
    PyObject *array = mode_array_of_words(state, value, plan, words);
    if (array && PyList_Append(arrays, array)) Py_CLEAR(array);
    return array;
}

/* By what it was described as. The view of an array is kept with the arrays: its memory must stay. */
static PyObject *wrap_described(PyKernel *kernel, const PsParam *param, PyObject *value, const char *where,
                                PyObject *arrays) {
    PyState *state = kernel->state;
    const ScalarPlace place = {.what = where};
    uint64_t words[1 + 2 * PS_MAX_AXES];
    uint32_t nwords;
    int64_t elements;
    PyPlan plan;
    PyObject *seen = param->kind == PS_PARAM_ARRAY ? py_view_of(state, &place, value) : Py_NewRef(value);
    if (!seen || PyList_Append(arrays, seen)) {
        Py_XDECREF(seen);
        return NULL;
    }
    py_plans_make(state, param, 1, NULL, &plan, &nwords);
    plan.where = where;
    int fit = py_decode(kernel, &plan, 1, &seen, words, &elements);
    if (fit == 0) py_error(state, PS_MSG_PY_MISMATCH, "Python mode");
    PyObject *made = fit == 1 ? wrap_words(state, &plan, seen, words, arrays) : NULL;
    py_plans_drop(&plan, 1);
    Py_DECREF(seen);
    return made;
}

static PyObject *wrap_member(PyKernel *kernel, PyObject *instance, PyObject *name, PyObject *field,
                             PyObject *value, const char *where, PyObject *arrays) {
    PyObject *annotation = PyObject_GetAttrString(field, "type"), *made = NULL;
    PsParam param;
    int status =
        annotation ? py_member_describe(kernel, Py_TYPE(instance), name, annotation, value, where, &param) : -1;
    if (!status && param.kind == PS_PARAM_OBJECT)
        made = object_of(kernel, value, where, arrays);
    else if (!status && param.kind == PS_PARAM_VALUE)
        made = mode_annotate(kernel->state, annotation, value);
    else if (!status && param.kind != PS_PARAM_TEMPLATE && param.kind != PS_PARAM_STRUCTS)
        made = wrap_described(kernel, &param, value, where, arrays);
    if (!status) Py_XDECREF(param.annotation);
    Py_XDECREF(annotation);
    if (made || (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))) return made;
    PyErr_Clear();
    return Py_NewRef(value);
}

/* The same members, before those of its fields are replaced. */
static PyObject *copy_of(PyObject *instance) {
    PyObject *none = PyTuple_New(0), *made = NULL;
    if (none) made = PyBaseObject_Type.tp_new(Py_TYPE(instance), none, NULL);
    Py_XDECREF(none);
    PyObject *from = made ? PyObject_GetAttrString(instance, "__dict__") : NULL;
    PyObject *to = from ? PyObject_GetAttrString(made, "__dict__") : NULL;
    if (made && !from) PyErr_Clear(); /* slots */
    if (to && PyDict_Update(to, from)) Py_CLEAR(made);
    Py_XDECREF(to);
    Py_XDECREF(from);
    return made;
}

static PyObject *object_of(PyKernel *kernel, PyObject *instance, const char *where, PyObject *arrays) {
    PyObject *fields = PyObject_GetAttrString(instance, "__dataclass_fields__"), *name, *field;
    PyObject *made = fields ? copy_of(instance) : NULL;
    for (Py_ssize_t at = 0; made && PyDict_Next(fields, &at, &name, &field);) {
        PyObject *value = PyObject_GenericGetAttr(instance, name);
        const char *text = value ? PyUnicode_AsUTF8(name) : NULL;
        if (!value) {
            PyErr_Clear();
            continue;
        }
        char place[300];
        snprintf(place, sizeof place, "%.*s.%s'", (int)(strrchr(where, '\'') - where), where,
                 text ? text : "?");
        PyObject *member = wrap_member(kernel, instance, name, field, value, place, arrays);
        if (!member || PyObject_GenericSetAttr(made, name, member)) Py_CLEAR(made);
        Py_XDECREF(member);
        Py_DECREF(value);
    }
    Py_XDECREF(fields);
    return made;
}

PyObject *mode_object(PyKernel *kernel, PyObject *instance, PyObject *name, PyObject *arrays) {
    char where[200];
    const char *text = PyUnicode_AsUTF8(name);
    snprintf(where, sizeof where, "argument '%.100s'", text ? text : "?");
    return object_of(kernel, instance, where, arrays);
}
