/* SPDX-License-Identifier: Apache-2.0
 *
 * Expressions, through one table from node kind to its rule. Containers are Python's own: a list or tuple in a kernel
 * exists while compiling, with proxies for what is known only later.
 */
#include "front/loop/loop_int.h"

#include <string.h>

typedef PsStatus (*Eval)(Loop *l, PsAst *node, PsValue *out);

static PsValue load_items(Loop *l, const PsValue *value) {
    PsValue loaded = *value;
    loaded.items = ps_arena_alloc(l->front.arena, sizeof *loaded.items * (value->count + 1));
    if (!loaded.items) return *value; /* the arena remembers */
    for (uint32_t i = 0; i < value->count; i++) loaded.items[i] = loop_load(l, &value->items[i]);
    return loaded;
}

static PsValue load_parts(Loop *l, const PsValue *value) {
    PsRef *refs = ps_arena_alloc(l->front.arena, sizeof *refs * (value->count + 1));
    if (!refs) return *value;
    for (uint32_t i = 0; i < value->count; i++) refs[i] = loop_load(l, &value->items[i]).ref;
    return loop_tile(l, value->type, refs);
}

PsValue loop_load(Loop *l, const PsValue *value) {
    switch ((PsValueKind)value->kind) {
    case PS_VALUE_PLACE: return loop_value(l, ps_build_load(loop_b(l), value->ref));
    case PS_VALUE_PARTS: return load_parts(l, value);
    case PS_VALUE_STRUCT: return load_items(l, value);
    default: return *value;
    }
}

/* -- names and constants -- */

static PsStatus eval_name(Loop *l, PsAst *node, PsValue *out) {
    PsBinding *binding = ps_name_find(&l->func->base, node->name);
    if (!binding) return ps_name_outside(&l->front, node->name, out);
    *out = binding->value;
    out->is_static = false;
    return PS_OK;
}

static PsStatus eval_constant(Loop *l, PsAst *node, PsValue *out) {
    (void)l;
    *out = ps_value_python(node->value);
    return PS_OK;
}

/* -- operators -- */

static PsStatus eval_binop(Loop *l, PsAst *node, PsValue *out) {
    PsValue a, b;
    TRY(loop_eval(l, node->a, &a));
    TRY(loop_eval(l, node->b, &b));
    loop_at(l, node);
    return loop_binary(l, (PsAstOp)node->op, &a, &b, out);
}

static PsStatus eval_unaryop(Loop *l, PsAst *node, PsValue *out) {
    PsValue a;
    TRY(loop_eval(l, node->a, &a));
    loop_at(l, node);
    return loop_unary(l, (PsAstOp)node->op, &a, out);
}

/* -- attributes -- */

static PsStatus array_attribute(Loop *l, const PsValue *given, PyObject *key, PsValue *out) {
    const char *name = PyUnicode_AsUTF8(key);
    bool done = false;
    PsValue outside = *given, *base = &outside;
    if (!name) return PS_PYERR;
    if (!strcmp(name, "fill") || !strcmp(name, "subview")) {
        TRY(loop_fill_method(l, base, out));
        out->count = name[0] == 's';
        return PS_OK;
    }
    if (loop_is_view(base) && !strcmp(name, "grad")) return FAIL(l, VIEW_GRAD);
    if (!strcmp(name, "grad") && !base->object) return loop_array_grad(l, base, out);
    if (base->object) TRY(loop_field_attribute(l, base, name, key, out, &done));
    if (done) return PS_OK;
    TRY(loop_from_outside(l, base));
    const PsTypeInfo *info = ps_type_info(l->front.module, base->type);
    if (!strcmp(name, "shape")) return loop_shape(l, base, out);
    if (!strcmp(name, "size")) return loop_array_size(l, base, out);
    if (!strcmp(name, "ndim")) return ps_value_take(&l->front, PyLong_FromLong(loop_axes(l, base)), out);
    if (!strcmp(name, "dtype"))
        return ps_value_take(&l->front, Py_NewRef(l->front.types->dtypes[info->elem]), out);
    return FAIL(l, ATTRIBUTE_OF, loop_describe(l, base), name, "shape, size, ndim, dtype and fill()");
}

PsStatus loop_attribute(Loop *l, const PsValue *base, PyObject *name, PsValue *out) {
    const char *text = PyUnicode_AsUTF8(name);
    if (!text) return PS_PYERR;
    if (loop_is_structs(l, base)) return loop_structs_attribute(l, base, name, out);
    if (base->kind == PS_VALUE_ARRAY || loop_is_array_object(l, base))
        return array_attribute(l, base, name, out);
    if (base->kind == PS_VALUE_OBJECT) return loop_member(l, base, name, out);
    if (base->kind == PS_VALUE_PYTHON) {
        bool done;
        TRY(loop_object_number(l, base->object, name, out, &done));
        if (!done) TRY(loop_object_property(l, base, name, out, &done));
        if (done) return PS_OK;
        if (loop_is_tile(l, base) && loop_has_method(text) && !l->in_static)
            return loop_tile_attribute(l, base, text, out);
        return ps_python_attribute(&l->front, base->object, name, out);
    }
    if (loop_is_tile(l, base)) return loop_tile_attribute(l, base, text, out);
    if (base->kind == PS_VALUE_STRUCT) return loop_struct_attribute(l, base, name, out);
    PsType type = loop_numeric(l, base);
    if (type && !strcmp(text, "dtype"))
        return ps_value_take(&l->front, Py_NewRef(l->front.types->dtypes[type]), out);
    return FAIL(l, ATTRIBUTE, loop_describe(l, base), text);
}

static PsStatus eval_attribute(Loop *l, PsAst *node, PsValue *out) {
    PsValue base;
    TRY(loop_eval_holder(l, node->a, &base));
    loop_at(l, node);
    return loop_attribute(l, &base, node->name, out);
}

/* -- containers -- */

PsStatus loop_eval_python(Loop *l, PsAst *node, PyObject **out) {
    PsValue value;
    TRY(loop_eval(l, node, &value));
    *out = ps_front_keep(&l->front, ps_value_object(&l->front, &value));
    return *out ? PS_OK : PS_PYERR;
}

static bool holds_proxies(Loop *l, PyObject *object, int depth) {
    if (ps_proxy_check(&l->front, object) || depth > 20) return true;
    if (PyDict_Check(object)) {
        PyObject *key, *value;
        Py_ssize_t at = 0;
        while (PyDict_Next(object, &at, &key, &value))
            if (holds_proxies(l, value, depth + 1)) return true;
        return false;
    }
    if (!PyTuple_Check(object) && !PyList_Check(object)) return false;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); i++)
        if (holds_proxies(l, PySequence_Fast_GET_ITEM(object, i), depth + 1)) return true;
    return false;
}

bool loop_holds_proxies(Loop *l, const PsValue *value) {
    return value->kind != PS_VALUE_PYTHON || holds_proxies(l, value->object, 0);
}

/* The elements of a tuple, list or vector, the rows of a matrix. */
PsStatus loop_items(Loop *l, const PsValue *value, PsValue **out, uint32_t *out_len) {
    if (loop_is_tile(l, value)) return loop_tile_items(l, value, out, out_len);
    if (value->kind != PS_VALUE_PYTHON || !(PyTuple_Check(value->object) || PyList_Check(value->object)))
        return FAIL(l, NOT_A_SEQUENCE, loop_describe(l, value));
    Py_ssize_t n = PySequence_Fast_GET_SIZE(value->object);
    PsValue *items = ps_arena_alloc(l->front.arena, sizeof *items * ((size_t)n + 1));
    if (!items) return PS_NOMEM;
    for (Py_ssize_t i = 0; i < n; i++) {
        TRY(ps_value_take(&l->front, Py_NewRef(PySequence_Fast_GET_ITEM(value->object, i)), &items[i]));
        items[i].is_static = value->is_static;
    }
    *out = items;
    *out_len = (uint32_t)n;
    return PS_OK;
}

typedef PsVec(PsValue) Values;

static PsStatus add_value(Loop *l, Values *values, const PsValue *value) {
    return ps_vec_push(l->front.arena, values, *value) ? PS_OK : PS_NOMEM;
}

static PsStatus add_starred(Loop *l, PsAst *node, Values *values) {
    PsValue value, *items = NULL;
    uint32_t n = 0;
    TRY(loop_eval(l, node->a, &value));
    loop_at(l, node);
    TRY(loop_items(l, &value, &items, &n));
    for (uint32_t i = 0; i < n; i++) {
        PsValue item = loop_load(l, &items[i]);
        TRY(add_value(l, values, &item));
    }
    return PS_OK;
}

PsStatus loop_eval_list(Loop *l, const PsAstList *list, PsValue **out, uint32_t *out_len) {
    Values values = {0};
    for (uint32_t i = 0; i < list->len; i++) {
        PsValue value;
        if (list->items[i]->kind == PS_AST_STARRED) {
            TRY(add_starred(l, list->items[i], &values));
            continue;
        }
        TRY(loop_eval(l, list->items[i], &value));
        TRY(add_value(l, &values, &value));
    }
    *out = values.data;
    *out_len = values.len;
    return PS_OK;
}

static PsStatus eval_sequence(Loop *l, PsAst *node, PsValue *out) {
    PsValue *items;
    uint32_t n;
    TRY(loop_eval_list(l, &node->list, &items, &n));
    loop_at(l, node);
    PyObject *list = ps_front_keep(&l->front, PyList_New(n));
    if (!list) return PS_PYERR;
    for (uint32_t i = 0; i < n; i++) {
        PyObject *object = ps_value_object(&l->front, &items[i]);
        if (!object) return PS_PYERR;
        PyList_SET_ITEM(list, i, object);
    }
    if (node->kind == PS_AST_LIST) {
        *out = ps_value_python(list);
        return PS_OK;
    }
    return ps_value_take(&l->front, PyList_AsTuple(list), out);
}

static PsStatus eval_dict(Loop *l, PsAst *node, PsValue *out) {
    PyObject *dict = ps_front_keep(&l->front, PyDict_New()), *key = NULL, *value;
    if (!dict) return PS_PYERR;
    for (uint32_t i = 0; i < node->list.len; i++) {
        if (node->list.items[i]) TRY(loop_eval_python(l, node->list.items[i], &key));
        TRY(loop_eval_python(l, node->body.items[i], &value));
        loop_at(l, node->list.items[i] ? node->list.items[i] : node->body.items[i]);
        int failed = node->list.items[i] ? PyDict_SetItem(dict, key, value) : PyDict_Update(dict, value);
        if (failed) return ps_front_python_failed(&l->front);
    }
    *out = ps_value_python(dict);
    return PS_OK;
}

/* -- the rest -- */

static PsStatus eval_namedexpr(Loop *l, PsAst *node, PsValue *out) {
    PsValue value;
    TRY(loop_eval(l, node->b, &value));
    loop_at(l, node);
    PsSpan outer = l->value_at;
    l->value_at = (PsSpan){0};
    PsStatus status = loop_assign_name(l, node->a, &value);
    l->value_at = outer;
    if (status) return status;
    return loop_eval(l, node->a, out);
}

static PsStatus refuse(Loop *l, PsAst *node, PsValue *out) {
    (void)out;
    static const char *const names[PS_AST_COUNT] = {
#define PS_AST(id, name) [PS_AST_##id] = name,
#include "front/ast/ast.def"
    };
    const char *name =
        node->kind == PS_AST_OTHER_EXPRESSION && node->name ? PyUnicode_AsUTF8(node->name) : names[node->kind];
    if (!name) return PS_PYERR;
    if (node->kind == PS_AST_LAMBDA) return FAIL(l, LAMBDA);
    if (node->kind == PS_AST_TOO_DEEP) return FAIL(l, TOO_DEEP);
    return loop_refuse_node(l, name);
}

static const Eval evals[PS_AST_COUNT] = {
    [PS_AST_NAME] = eval_name,
    [PS_AST_CONSTANT] = eval_constant,
    [PS_AST_BINOP] = eval_binop,
    [PS_AST_UNARYOP] = eval_unaryop,
    [PS_AST_BOOLOP] = loop_eval_boolop,
    [PS_AST_COMPARE] = loop_eval_compare,
    [PS_AST_IFEXP] = loop_eval_ifexp,
    [PS_AST_CALL] = loop_eval_call,
    [PS_AST_ATTRIBUTE] = eval_attribute,
    [PS_AST_SUBSCRIPT] = loop_eval_subscript,
    [PS_AST_TUPLE] = eval_sequence,
    [PS_AST_LIST] = eval_sequence,
    [PS_AST_DICT] = eval_dict,
    [PS_AST_LISTCOMP] = loop_eval_comprehension,
    [PS_AST_DICTCOMP] = loop_eval_comprehension,
    [PS_AST_FSTRING] = loop_eval_fstring,
    [PS_AST_NAMEDEXPR] = eval_namedexpr,
};

PsStatus loop_eval_holder(Loop *l, PsAst *node, PsValue *out) {
    TRY(ps_front_deeper(&l->front));
    loop_at(l, node);
    *out = (PsValue){0};
    PsStatus status = (evals[node->kind] ? evals[node->kind] : refuse)(l, node, out);
    l->front.depth--;
    return status;
}

PsStatus loop_eval_place(Loop *l, PsAst *node, PsValue *out) {
    TRY(loop_eval_holder(l, node, out));
    ps_front_pin_instance(&l->front, out);
    return PS_OK;
}

PsStatus loop_eval(Loop *l, PsAst *node, PsValue *out) {
    TRY(loop_eval_place(l, node, out));
    if (out->kind != PS_VALUE_PLACE && out->kind != PS_VALUE_PARTS && out->kind != PS_VALUE_STRUCT)
        return PS_OK;
    loop_at(l, node);
    bool is_static = out->is_static;
    *out = loop_load(l, out);
    out->is_static = is_static;
    return PS_OK;
}
