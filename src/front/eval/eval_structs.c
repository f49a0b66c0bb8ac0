/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of structs as trees of arrays: how many arrays, and whether two make the same program.
 */
#include "front/eval/eval.h"

static bool has_methods(const PsStructTypeObject *type) {
    return type->methods && PyDict_GET_SIZE(type->methods) > 0;
}

static bool same_member_type(PyObject *a, PyObject *b) {
    if (a == b) return true;
    if (Py_TYPE(a) != Py_TYPE(b)) return false;
    if (!strcmp(Py_TYPE(a)->tp_name, "pestle.StructType"))
        return ps_struct_same_type((PsStructTypeObject *)a, (PsStructTypeObject *)b);
    int same = PyObject_RichCompareBool(a, b, Py_EQ); /* of types of matrices, dtypes: no Python code */
    if (same < 0) PyErr_Clear();
    return same == 1;
}

bool ps_struct_same_type(const PsStructTypeObject *a, const PsStructTypeObject *b) {
    if (a == b) return true;
    Py_ssize_t n = PyTuple_GET_SIZE(a->members);
    if (has_methods(a) || has_methods(b) || a->name != b->name || n != PyTuple_GET_SIZE(b->members))
        return false;
    for (Py_ssize_t i = 0; i < n; i++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(a->members, i), PyTuple_GET_ITEM(b->members, i)) != 0 ||
            !same_member_type(PyTuple_GET_ITEM(a->types, i), PyTuple_GET_ITEM(b->types, i)))
            return false;
    return true;
}

uint32_t ps_structs_leaves(const struct PsFrontTypes *types, PyObject *object) {
    if (!ps_is_structs(types, object)) return 1;
    PyObject *members = ((PsStructFieldObject *)object)->members;
    uint32_t n = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(members); i++)
        n += ps_structs_leaves(types, PyTuple_GET_ITEM(members, i));
    return n;
}

const PsArrayObject *ps_structs_first(const struct PsFrontTypes *types, PyObject *object) {
    while (ps_is_structs(types, object)) object = PyTuple_GET_ITEM(((PsStructFieldObject *)object)->members, 0);
    return (const PsArrayObject *)object;
}

bool ps_structs_same_type(const struct PsFrontTypes *types, PyObject *a, PyObject *b) {
    if (Py_TYPE(a) != Py_TYPE(b)) return false;
    if (!ps_is_structs(types, a)) return ps_array_same_type((PsArrayObject *)a, (PsArrayObject *)b);
    const PsStructFieldObject *x = (PsStructFieldObject *)a, *y = (PsStructFieldObject *)b;
    if (!ps_struct_same_type(x->type, y->type)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(x->members); i++)
        if (!ps_structs_same_type(types, PyTuple_GET_ITEM(x->members, i), PyTuple_GET_ITEM(y->members, i)))
            return false;
    return true;
}
