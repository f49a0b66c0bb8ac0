/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of structs: fields of structs from outside the kernel, and those and ndarrays of structs as arguments. To a
 * kernel each is the arrays of its members (STRUCTS); an element is a struct of places in them.
 *
 * Also here: the gradient arrays of array arguments, which each launch reads from the argument (loop_member.c).
 */
#include "front/loop/loop_int.h"

bool loop_has_leaf(Loop *l, PyObject *object, const PyObject *array) {
    if (!ps_is_structs(l->front.types, object)) return object == array;
    PyObject *members = ((PsStructFieldObject *)object)->members;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(members); i++)
        if (loop_has_leaf(l, PyTuple_GET_ITEM(members, i), array)) return true;
    return false;
}

/* -- making -- */

PsStatus loop_make_structs(Loop *l, PyObject *object, LoopLeaf leaf, void *data, PsValue *out) {
    if (!ps_is_structs(l->front.types, object)) return leaf(l, data, object, out);
    const PsStructFieldObject *array = (const PsStructFieldObject *)object;
    uint32_t n = (uint32_t)PyTuple_GET_SIZE(array->members);
    PsValue *items = ps_arena_alloc(l->front.arena, sizeof *items * (n + 1));
    if (!items) return PS_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        TRY(loop_make_structs(l, PyTuple_GET_ITEM(array->members, i), leaf, data, &items[i]));
    *out = (PsValue){.kind = PS_VALUE_STRUCTS, .count = n, .items = items, .object = object};
    return PS_OK;
}

static PsStatus leaf_from_outside(Loop *l, void *data, PyObject *array, PsValue *out) {
    (void)data;
    *out = ps_value_python(array);
    return loop_from_outside(l, out);
}

PsStatus loop_structs_from_outside(Loop *l, PsValue *value) {
    bool is_static = value->is_static;
    TRY(loop_make_structs(l, value->object, leaf_from_outside, NULL, value));
    value->is_static = is_static;
    return PS_OK;
}

bool loop_is_structs(Loop *l, const PsValue *value) {
    return value->kind == PS_VALUE_STRUCTS ||
           (value->kind == PS_VALUE_PYTHON && ps_is_structs(l->front.types, value->object));
}

const PsValue *loop_first_array(const PsValue *value) {
    while (value->kind == PS_VALUE_STRUCTS) value = &value->items[0];
    return value;
}

/* -- use -- */

PsStructTypeObject *loop_structs_type(const PsValue *value) {
    return ((const PsStructFieldObject *)value->object)->type;
}

PsStatus loop_index_structs(Loop *l, const PsValue *base, const PsValue *indices, uint32_t n, PsValue *out) {
    PsValue *items = ps_arena_alloc(l->front.arena, sizeof *items * (base->count + 1));
    if (!items) return PS_NOMEM;
    for (uint32_t i = 0; i < base->count; i++) TRY(loop_index(l, &base->items[i], indices, n, &items[i]));
    *out = (PsValue){.kind = PS_VALUE_STRUCT,
                     .count = base->count,
                     .items = items,
                     .object = (PyObject *)loop_structs_type(base)};
    return PS_OK;
}

/* The array of a member, or what is known of all of them. */
PsStatus loop_structs_attribute(Loop *l, const PsValue *base, PyObject *name, PsValue *out) {
    const PsStructFieldObject *array = (const PsStructFieldObject *)base->object;
    bool object = base->kind == PS_VALUE_PYTHON;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(array->type->members); i++) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(array->type->members, i), name) != 0) continue;
        *out = object ? ps_value_python(PyTuple_GET_ITEM(array->members, i)) : base->items[i];
        return PS_OK;
    }
    if (PyUnicode_CompareWithASCIIString(name, "grad") == 0 && !object) return loop_array_grad(l, base, out);
    if (PyUnicode_CompareWithASCIIString(name, "grad") == 0 && array->grad) {
        *out = ps_value_python(array->grad);
        return PS_OK;
    }
    if (PyUnicode_CompareWithASCIIString(name, "fill") == 0) return loop_fill_method(l, base, out);
    PsValue value = *base;
    TRY(loop_from_outside(l, &value));
    return loop_attribute(l, loop_first_array(&value), name, out);
}
