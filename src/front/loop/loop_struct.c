/* SPDX-License-Identifier: Apache-2.0
 *
 * Structs: values with named members, which are numbers, vectors, matrices and structs. A struct exists in the front end
 * only: it is its members. In a variable each member is a place of its own.
 *
 * A func gets a struct as it is, so a method can change the members of `self`; with a struct type as annotation it gets
 * a copy. Assignment copies.
 */
#include "front/loop/loop_int.h"

static PsStructTypeObject *type_of(const PsValue *value) { return (PsStructTypeObject *)value->object; }

static const char *text_of(PyObject *name) {
    const char *text = PyUnicode_AsUTF8(name);
    if (!text) PyErr_Clear();
    return text ? text : "?";
}

static int find(PyObject *names, PyObject *name) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) == 0) return (int)i;
    return -1;
}

/* "a, b and c" */
static const char *list_names(Loop *l, PyObject *names) {
    const char *text = "";
    Py_ssize_t n = PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < n && text; i++)
        text = ps_arena_format(l->front.arena, "%s%s%s", text,
                               !i          ? ""
                               : i + 1 < n ? ", "
                                           : " and ",
                               text_of(PyTuple_GET_ITEM(names, i)));
    return text && n ? text : "no members";
}

bool loop_is_struct(Loop *l, const PsValue *value) {
    return value->kind == PS_VALUE_STRUCT ||
           (value->kind == PS_VALUE_PYTHON && Py_IS_TYPE(value->object, l->front.types->structure));
}

/* A struct of the host's as one of values. */
static PsStatus open_host(Loop *l, const PsValue *value, PsValue *out) {
    *out = *value;
    if (value->kind != PS_VALUE_PYTHON) return PS_OK;
    PsStructObject *host = (PsStructObject *)value->object;
    uint32_t n = (uint32_t)Py_SIZE(host);
    PsValue *items = ps_arena_alloc(l->front.arena, sizeof *items * (n + 1));
    if (!items) return PS_NOMEM;
    for (uint32_t i = 0; i < n; i++) TRY(ps_value_take(&l->front, Py_NewRef(host->values[i]), &items[i]));
    *out = (PsValue){.kind = PS_VALUE_STRUCT, .count = n, .items = items, .object = (PyObject *)host->type};
    return PS_OK;
}

/* -- making -- */

/* The value as one of the annotation: converted. */
static PsStatus member_as(Loop *l, PyObject *annotation, PyObject *name, const PsValue *value, PsValue *out) {
    PsType type = PS_KIND_NONE;
    PsRef ref;
    if (annotation == Py_None && (loop_is_struct(l, value) || loop_element(l, value))) {
        *out = *value; /* of the host's Struct(a=1), which fixes no types */
        return PS_OK;
    }
    if (Py_IS_TYPE(annotation, l->front.types->struct_type) && loop_numeric(l, value)) {
        CallArgs args = {.args = (PsValue *)value, .nargs = 1}; /* of its first member, as Line(0) */
        TRY(ps_front_deeper(&l->front));
        PsStatus status = loop_make_struct(l, (PsStructTypeObject *)annotation, &args, out);
        l->front.depth--;
        return status;
    }
    if (Py_IS_TYPE(annotation, l->front.types->struct_type))
        return loop_struct_as(l, (PsStructTypeObject *)annotation, value, out);
    if (Py_IS_TYPE(annotation, l->front.types->matrix_type))
        TRY(loop_matrix_type_of(l, annotation, &type));
    else
        type = ps_front_dtype(l->front.types, l->front.options, annotation);
    if (!type) return FAIL(l, MEMBER_VALUE, text_of(name), loop_describe(l, value));
    if (ps_type_is_scalar(type)) {
        if (!loop_numeric(l, value)) return FAIL(l, MEMBER_VALUE, text_of(name), loop_describe(l, value));
        TRY(loop_cast(l, value, type, &ref));
    } else {
        PsValue loaded = loop_load(l, value);
        TRY(loop_store_value(l, &loaded, type, text_of(name), &ref));
    }
    *out = loop_value(l, ref);
    return PS_OK;
}

PsStatus loop_struct_zero(Loop *l, PsStructTypeObject *type, PsValue *out) {
    uint32_t n = (uint32_t)PyTuple_GET_SIZE(type->members);
    PsValue *items = ps_arena_alloc(l->front.arena, sizeof *items * (n + 1)), zero = ps_value_python(Py_False);
    if (!items) return PS_NOMEM;
    *out = (PsValue){.kind = PS_VALUE_STRUCT, .count = n, .items = items, .object = (PyObject *)type};
    for (uint32_t i = 0; i < n; i++) {
        PyObject *annotation = PyTuple_GET_ITEM(type->types, i);
        if (Py_IS_TYPE(annotation, l->front.types->struct_type))
            TRY(loop_struct_zero(l, (PsStructTypeObject *)annotation, &items[i]));
        else
            TRY(member_as(l, annotation, PyTuple_GET_ITEM(type->members, i), &zero, &items[i]));
    }
    return PS_OK;
}

static PsStatus from_dict(Loop *l, PsStructTypeObject *type, PyObject *dict, PsValue *out) {
    PyObject *key, *item;
    TRY(loop_struct_zero(l, type, out));
    for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &item);) {
        int i = PyUnicode_Check(key) ? find(type->members, key) : -1;
        PsValue value = ps_value_python(key);
        if (i < 0) return FAIL(l, MEMBER, loop_describe(l, out), text_of(key), list_names(l, type->members));
        TRY(ps_value_take(&l->front, Py_NewRef(item), &value));
        TRY(member_as(l, PyTuple_GET_ITEM(type->types, i), key, &value, &out->items[i]));
    }
    return PS_OK;
}

PsStatus loop_struct_as(Loop *l, PsStructTypeObject *type, const PsValue *given, PsValue *out) {
    PsValue value;
    PsValue wanted = ps_value_python((PyObject *)type);
    if (given->kind == PS_VALUE_PYTHON && PyDict_Check(given->object))
        return from_dict(l, type, given->object, out);
    if (!loop_is_struct(l, given))
        return FAIL(l, STRUCT_VALUE, loop_describe(l, &wanted), loop_describe(l, given));
    TRY(open_host(l, given, &value));
    uint32_t n = (uint32_t)PyTuple_GET_SIZE(type->members);
    PsValue *items = ps_arena_alloc(l->front.arena, sizeof *items * (n + 1));
    if (!items) return PS_NOMEM;
    bool same = n == value.count;
    for (uint32_t i = 0; i < n && same; i++)
        same = find(type_of(&value)->members, PyTuple_GET_ITEM(type->members, i)) == (int)i;
    if (!same) return FAIL(l, STRUCT_VALUE, loop_describe(l, &wanted), loop_describe(l, given));
    for (uint32_t i = 0; i < n; i++)
        TRY(member_as(l, PyTuple_GET_ITEM(type->types, i), PyTuple_GET_ITEM(type->members, i), &value.items[i],
                      &items[i]));
    *out = (PsValue){.kind = PS_VALUE_STRUCT, .count = n, .items = items, .object = (PyObject *)type};
    return PS_OK;
}

/* The one value that a type was called with: it all, or its first member alone? */
static bool is_whole(Loop *l, PsStructTypeObject *type, const PsValue *value) {
    PyObject *first = PyTuple_GET_SIZE(type->types) ? PyTuple_GET_ITEM(type->types, 0) : NULL;
    bool dict = value->kind == PS_VALUE_PYTHON && PyDict_Check(value->object);
    if (!dict && !loop_is_struct(l, value)) return false;
    if (dict)
        return !first || !Py_IS_TYPE(first, l->front.types->struct_type) || PyTuple_GET_SIZE(type->types) != 1;
    return ps_struct_stands_for(l->front.types, type,
                                value->kind == PS_VALUE_STRUCT ? type_of(value)
                                                               : ((PsStructObject *)value->object)->type);
}

PsStatus loop_make_struct(Loop *l, PsStructTypeObject *type, CallArgs *args, PsValue *out) {
    PyObject *names = type->members;
    if (args->nargs == 1 && !args->nnamed && is_whole(l, type, &args->args[0]))
        return loop_struct_as(l, type, &args->args[0], out);
    TRY(loop_struct_zero(l, type, out));
    if (args->nargs > out->count) return FAIL(l, STRUCT_COUNT, loop_describe(l, out), out->count, args->nargs);
    for (uint32_t i = 0; i < args->nargs + args->nnamed; i++) {
        bool named = i >= args->nargs;
        PyObject *name = named ? args->names[i - args->nargs] : PyTuple_GET_ITEM(names, i);
        int at = find(names, name);
        if (at < 0) return FAIL(l, MEMBER, loop_describe(l, out), text_of(name), list_names(l, names));
        if (named && at < (int)args->nargs) return FAIL(l, CALL_TWICE, loop_describe(l, out), text_of(name));
        TRY(member_as(l, PyTuple_GET_ITEM(type->types, at), name,
                      named ? &args->named[i - args->nargs] : &args->args[i], &out->items[at]));
    }
    return PS_OK;
}

/* -- Struct(a=1, b=v): a type of its own -- */

static PyObject *type_of_member(Loop *l, const PsValue *value) {
    if (loop_is_struct(l, value))
        return value->kind == PS_VALUE_STRUCT ? value->object
                                              : (PyObject *)((PsStructObject *)value->object)->type;
    PsType tile = loop_tile_type(l, value), elem = loop_element(l, value);
    if (!elem) return NULL;
    PyObject *dtype = l->front.types->dtypes[elem];
    if (!tile) return dtype;
    return ps_front_keep(&l->front,
                         ps_matrix_type_new(l->front.types, loop_tile_ndim(l, tile), loop_tile_axis(l, tile, 0),
                                            loop_tile_axis(l, tile, 1), dtype));
}

PsStatus loop_make_anonymous(Loop *l, CallArgs *args, PsValue *out) {
    uint32_t n = args->nnamed;
    PyObject **keys = args->names;
    PsValue *values = args->named;
    if (args->nargs == 1 && !n && args->args[0].kind == PS_VALUE_PYTHON && PyDict_Check(args->args[0].object)) {
        PyObject *dict = args->args[0].object, *key, *item;
        Py_ssize_t at = 0;
        keys = ps_arena_alloc(l->front.arena, sizeof *keys * ((size_t)PyDict_GET_SIZE(dict) + 1));
        values = ps_arena_alloc(l->front.arena, sizeof *values * ((size_t)PyDict_GET_SIZE(dict) + 1));
        if (!keys || !values) return PS_NOMEM;
        while (PyDict_Next(dict, &at, &key, &item)) {
            keys[n] = key;
            TRY(ps_value_take(&l->front, Py_NewRef(item), &values[n]));
            if (!PyUnicode_Check(key)) return FAIL(l, STRUCT_ARGS);
            n++;
        }
    } else if (args->nargs || !n)
        return FAIL(l, STRUCT_ARGS);
    PyObject *names = ps_front_keep(&l->front, PyTuple_New(n)),
             *types = ps_front_keep(&l->front, PyTuple_New(n));
    if (!names || !types) return PS_PYERR;
    for (uint32_t i = 0; i < n; i++) {
        PyObject *type = type_of_member(l, &values[i]);
        if (!type) return FAIL(l, MEMBER_VALUE, text_of(keys[i]), loop_describe(l, &values[i]));
        PyTuple_SET_ITEM(names, i, Py_NewRef(keys[i]));
        PyTuple_SET_ITEM(types, i, Py_NewRef(type));
    }
    PyObject *type = ps_front_keep(&l->front, ps_struct_type_new(l->front.types, NULL, names, types, NULL));
    if (!type) return PS_PYERR;
    CallArgs named = {.names = keys, .named = values, .nnamed = n};
    return loop_make_struct(l, (PsStructTypeObject *)type, &named, out);
}

/* -- members -- */

PsStatus loop_struct_attribute(Loop *l, const PsValue *base, PyObject *name, PsValue *out) {
    PsStructTypeObject *type = type_of(base);
    int i = find(type->members, name);
    if (i >= 0) {
        *out = base->items[i];
        return PS_OK;
    }
    PyObject *method = type->methods ? PyDict_GetItemWithError(type->methods, name) : NULL;
    if (!method) {
        if (PyErr_Occurred()) return PS_PYERR;
        return FAIL(l, MEMBER, loop_describe(l, base), text_of(name), list_names(l, type->members));
    }
    PsValue *self = ps_arena_alloc(l->front.arena, sizeof *self);
    if (!self) return PS_NOMEM;
    *self = *base;
    *out = (PsValue){.kind = PS_VALUE_METHOD, .object = method, .items = self};
    return PS_OK;
}

/* -- variables -- */

PsStatus loop_struct_local(Loop *l, const PsValue *given, PsValue *out) {
    PsValue value;
    TRY(open_host(l, given, &value));
    *out = value;
    out->items = ps_arena_alloc(l->front.arena, sizeof *out->items * (value.count + 1));
    if (!out->items) return PS_NOMEM;
    for (uint32_t i = 0; i < value.count; i++) {
        PsRef ref;
        if (loop_is_struct(l, &value.items[i])) {
            TRY(loop_struct_local(l, &value.items[i], &out->items[i]));
            continue;
        }
        if (!loop_element(l, &value.items[i]))
            return FAIL(l, MEMBER_VALUE, text_of(PyTuple_GET_ITEM(type_of(&value)->members, i)),
                        loop_describe(l, &value.items[i]));
        TRY(loop_runtime(l, &value.items[i], &ref));
        PsRef place = ps_build_var(loop_b(l), loop_type_of(l, ref));
        ps_build_store(loop_b(l), place, ref);
        out->items[i] = (PsValue){.kind = PS_VALUE_PLACE, .ref = place, .type = loop_type_of(l, ref)};
    }
    return PS_OK;
}

static bool is_place(const PsValue *value) {
    return value->kind == PS_VALUE_PLACE || value->kind == PS_VALUE_PARTS || value->kind == PS_VALUE_STRUCT;
}

/* All members are read before the first is written: a = Pair(a.y, a.x). */
PsStatus loop_struct_store(Loop *l, const PsValue *place, const PsValue *given) {
    PsValue value, loaded;
    TRY(loop_struct_as(l, type_of(place), given, &value));
    loaded = loop_load(l, &value);
    for (uint32_t i = 0; i < place->count; i++) {
        if (!is_place(&place->items[i])) return FAIL(l, READ_ONLY_ELEMENT);
        TRY(loop_store(l, &place->items[i], &loaded.items[i]));
    }
    return PS_OK;
}
