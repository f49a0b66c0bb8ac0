/* SPDX-License-Identifier: Apache-2.0
 *
 * Assignments. The first assignment of a runtime value, or of a Python number, makes a local variable of that type;
 * later ones convert to it. Other Python values (functions, dtypes, strings, tuples, what ti.static gives) make the
 * name stand for the value while compiling; such a name can be given another value only where it got the first,
 * because a branch or a loop would have to decide at run time.
 *
 * `+= -= &= |= ^=` are atomic where another iteration may see the place, and plain on an iteration's own locals.
 */
#include "front/loop/loop_int.h"

static const char *text_of(PyObject *name) {
    const char *text = PyUnicode_AsUTF8(name);
    if (!text) PyErr_Clear();
    return text ? text : "?";
}

/* -- names -- */

PsStatus loop_new_local(Loop *l, PyObject *name, PsRef value) {
    PsBuilder *b = loop_b(l);
    PsType type = loop_type_of(l, value);
    PsRef place = ps_build_var(b, type);
    ps_build_store(b, place, value);
    PsValue local = {.kind = PS_VALUE_PLACE, .ref = place, .type = type};
    return ps_name_bind(&l->front, name, PS_BIND_LOCAL, &local);
}

static bool stays_known(Loop *l, const PsValue *value) {
    if (value->kind != PS_VALUE_PYTHON) return !loop_element(l, value);
    return value->is_static || !loop_element(l, value);
}

/* Messages about the value point at the value. */
static PsSpan look_at_value(Loop *l) {
    PsSpan at = l->front.at;
    if (l->value_at.source) l->front.at = l->value_at;
    return at;
}

static PsStatus new_name(Loop *l, PyObject *name, const PsValue *value) {
    PsRef ref;
    if (loop_is_struct(l, value) && !value->is_static) {
        PsValue local;
        TRY(loop_struct_local(l, value, &local));
        return ps_name_bind(&l->front, name, PS_BIND_LOCAL, &local);
    }
    if (stays_known(l, value)) return ps_name_bind(&l->front, name, PS_BIND_CONSTANT, value);
    PsSpan at = look_at_value(l);
    TRY(loop_runtime(l, value, &ref));
    l->front.at = at;
    return loop_new_local(l, name, ref);
}

static PsStatus store_place(Loop *l, const PsValue *place, const PsValue *value) {
    PsRef ref;
    PsSpan at = look_at_value(l);
    TRY(loop_store_value(l, value, place->type, "Assign", &ref));
    l->front.at = at;
    ps_build_store(loop_b(l), place->ref, ref);
    return PS_OK;
}

PsStatus loop_split(Loop *l, const char *what, const PsValue *place, const PsValue *value, PsValue **out) {
    PsValue *parts = *out = ps_arena_alloc(l->front.arena, sizeof *parts * (place->count + 1)), tile;
    PsRef ref;
    int64_t columns = loop_tile_axis(l, place->type, 1);
    if (!parts) return PS_NOMEM;
    if (loop_numeric(l, value)) {
        for (uint32_t i = 0; i < place->count; i++) parts[i] = *value;
        return PS_OK;
    }
    TRY(loop_store_value(l, value, place->type, what, &ref));
    tile = loop_value(l, ref);
    for (uint32_t i = 0; i < place->count; i++)
        TRY(loop_tile_element(l, &tile, i / columns, i % columns, &parts[i]));
    return PS_OK;
}

static PsStatus store_parts(Loop *l, const PsValue *place, const PsValue *value) {
    PsValue *parts;
    TRY(loop_split(l, "Assign", place, value, &parts));
    for (uint32_t i = 0; i < place->count; i++) TRY(store_place(l, &place->items[i], &parts[i]));
    return PS_OK;
}

PsStatus loop_store(Loop *l, const PsValue *place, const PsValue *value) {
    if (place->kind == PS_VALUE_STRUCT) return loop_struct_store(l, place, value);
    return place->kind == PS_VALUE_PARTS ? store_parts(l, place, value) : store_place(l, place, value);
}

static bool is_place(const PsValue *value) {
    return value->kind == PS_VALUE_PLACE || value->kind == PS_VALUE_PARTS || value->kind == PS_VALUE_STRUCT;
}

static PsStatus rebind_constant(Loop *l, PsBinding *binding, const PsValue *value) {
    PsBinding old = *binding;
    if (binding->region != loop_b(l)->region)
        return FAIL(l, CONSTANT_REBIND, text_of(old.name), loop_describe(l, &old.value));
    PsValue kept = *value; /* n = ti.static(3), then n = n + 1: a number known now stays one */
    kept.is_static |=
        value->kind == PS_VALUE_PYTHON && old.value.kind == PS_VALUE_PYTHON && loop_numeric(l, &old.value);
    TRY(new_name(l, old.name, &kept));
    /* The new binding is innermost; it takes the old one's place, whose block may be an outer one. */
    PsFrontFunc *func = &l->func->base;
    PsBinding fresh = func->names.data[--func->names.len];
    *ps_name_find(func, old.name) = fresh;
    return PS_OK;
}

PsStatus loop_assign_name(Loop *l, PsAst *target, const PsValue *value) {
    PsBinding *binding = ps_name_find(&l->func->base, target->name);
    if (!binding) return new_name(l, target->name, value);
    const char *name = text_of(target->name);
    switch ((PsBindKind)binding->kind) {
    case PS_BIND_LOCAL: return loop_store(l, &binding->value, value);
    case PS_BIND_CONSTANT: return rebind_constant(l, binding, value);
    case PS_BIND_INDEX: return FAIL(l, ASSIGN_INDEX, name);
    case PS_BIND_ARGUMENT:
        return binding->value.kind == PS_VALUE_ARRAY ? FAIL(l, ASSIGN_ARRAY, name)
                                                     : FAIL(l, ASSIGN_ARGUMENT, name);
    case PS_BIND_REFERENCE:
        if (is_place(&binding->value)) return loop_store(l, &binding->value, value);
        return FAIL(l, ASSIGN_REFERENCE, name, loop_describe(l, &binding->value));
    }
    return PS_OK;
}

/* -- other targets -- */

static PsStatus assign(Loop *l, PsAst *target, const PsValue *value);

static PsStatus assign_python_item(Loop *l, PsAst *target, const PsValue *base, const PsValue *value) {
    PyObject *key, *object;
    PsBinding *binding = target->a->kind == PS_AST_NAME ? ps_name_find(&l->func->base, target->a->name) : NULL;
    if (!PyList_Check(base->object) && !PyDict_Check(base->object)) {
        return FAIL(l, ASSIGN_TARGET, loop_describe(l, base));
    }
    if (!binding || binding->region != loop_b(l)->region) return FAIL(l, MUTATE, loop_describe(l, base));
    TRY(loop_eval_python(l, target->b, &key));
    object = ps_front_keep(&l->front, ps_value_object(&l->front, value));
    if (!object) return PS_PYERR;
    return PyObject_SetItem(base->object, key, object) ? ps_front_python_failed(&l->front) : PS_OK;
}

/* v.xx = w would give x two values. */
static PsStatus check_swizzle(Loop *l, PyObject *name) {
    const char *text = text_of(name);
    int letters[4], n = loop_swizzle(text, letters);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            if (letters[i] == letters[k]) return FAIL(l, SWIZZLE_TWICE, text, text[i]);
    return PS_OK;
}

static PsStatus assign_place(Loop *l, PsAst *target, const PsValue *value) {
    PsValue place, base;
    TRY(loop_eval_place(l, target->a, &base));
    loop_at(l, target);
    if (target->kind == PS_AST_ATTRIBUTE) {
        if (!loop_is_tile(l, &base) && base.kind != PS_VALUE_STRUCT)
            return FAIL(l, ASSIGN_ATTRIBUTE, loop_describe(l, &base));
        if (base.kind != PS_VALUE_STRUCT) TRY(check_swizzle(l, target->name));
        TRY(loop_attribute(l, &base, target->name, &place));
    } else {
        if (base.kind == PS_VALUE_PYTHON && !ps_is_numpy(base.object, NULL) && !loop_is_array_object(l, &base))
            return assign_python_item(l, target, &base, value);
        TRY(loop_subscript_of(l, target, &base, &place));
    }
    if (loop_is_view(&place)) return loop_at(l, target), FAIL(l, VIEW_STORE);
    return is_place(&place) ? loop_store(l, &place, value) : FAIL(l, READ_ONLY_ELEMENT);
}

static PsStatus unpack(Loop *l, PsAst *target, const PsValue *value) {
    PsValue *items;
    uint32_t n;
    for (uint32_t i = 0; i < target->list.len; i++)
        if (target->list.items[i]->kind == PS_AST_STARRED) {
            loop_at(l, target->list.items[i]);
            return FAIL(l, ASSIGN_STARRED);
        }
    TRY(loop_items(l, value, &items, &n));
    if (n != target->list.len) return FAIL(l, UNPACK_COUNT, target->list.len, n);
    for (uint32_t i = 0; i < n; i++) {
        PsValue item = loop_load(l, &items[i]);
        item.is_static |= value->is_static;
        TRY(assign(l, target->list.items[i], &item));
    }
    return PS_OK;
}

static PsStatus assign(Loop *l, PsAst *target, const PsValue *value) {
    loop_at(l, target);
    switch (target->kind) {
    case PS_AST_NAME: return loop_assign_name(l, target, value);
    case PS_AST_SUBSCRIPT:
    case PS_AST_ATTRIBUTE: return assign_place(l, target, value);
    case PS_AST_TUPLE:
    case PS_AST_LIST: return unpack(l, target, value);
    default: return FAIL(l, ASSIGN_STARRED);
    }
}

/* The same with messages about the value at `source`. Indices in the target may expand funcs that assign, too. */
static PsStatus assign_from(Loop *l, PsAst *target, PsAst *source, const PsValue *value) {
    PsSpan outer = l->value_at;
    l->value_at = source->span;
    l->value_at.source = l->func->base.source;
    PsStatus status = assign(l, target, value);
    l->value_at = outer;
    return status;
}

/* a, b = b, a without a tuple in between: all values first, then the stores. */
static PsStatus assign_pairwise(Loop *l, const PsAstList *targets, const PsAstList *values) {
    PsValue *items;
    uint32_t n;
    TRY(loop_eval_list(l, values, &items, &n));
    for (uint32_t i = 0; i < n; i++) TRY(assign_from(l, targets->items[i], values->items[i], &items[i]));
    return PS_OK;
}

static bool has_starred(const PsAstList *list) {
    for (uint32_t i = 0; i < list->len; i++)
        if (list->items[i]->kind == PS_AST_STARRED) return true;
    return false;
}

PsStatus loop_exec_assign(Loop *l, PsAst *node, Flow *flow) {
    (void)flow;
    PsAst *first = node->list.items[0], *source = node->a;
    if (node->list.len == 1 && first->kind == PS_AST_TUPLE && source->kind == PS_AST_TUPLE &&
        first->list.len == source->list.len && !has_starred(&first->list) && !has_starred(&source->list))
        return assign_pairwise(l, &first->list, &source->list);
    PsValue value;
    TRY(loop_eval(l, source, &value));
    if (value.kind == PS_VALUE_PYTHON && value.object == Py_None && source->kind == PS_AST_CALL) {
        loop_at(l, source);
        return FAIL(l, ASSIGN_NOTHING);
    }
    for (uint32_t i = 0; i < node->list.len; i++) TRY(assign_from(l, node->list.items[i], source, &value));
    return PS_OK;
}

/* x: T = v makes a new variable. */
static PsStatus check_new(Loop *l, PyObject *name) {
    const PsBinding *binding = ps_name_find(&l->func->base, name);
    if (!binding) return PS_OK;
    return binding->kind == PS_BIND_ARGUMENT ? FAIL(l, ASSIGN_ARGUMENT, text_of(name))
                                             : FAIL(l, RECREATE, text_of(name));
}

static PsStatus annotated_struct(Loop *l, PsAst *node, PyObject *annotation) {
    PsValue value, typed;
    const char *name = text_of(node->a->name);
    if (!node->c) return FAIL(l, ANNOTATION_VALUE, name);
    TRY(loop_eval(l, node->c, &value));
    loop_at(l, node->a);
    TRY(check_new(l, node->a->name));
    loop_at(l, node->c);
    TRY(loop_struct_as(l, (PsStructTypeObject *)annotation, &value, &typed));
    loop_at(l, node->a);
    return new_name(l, node->a->name, &typed);
}

PsStatus loop_exec_annassign(Loop *l, PsAst *node, Flow *flow) {
    (void)flow;
    PyObject *annotation;
    PsValue value;
    PsRef ref;
    PsAst *target = node->a;
    if (target->kind != PS_AST_NAME) return FAIL(l, ANNOTATION_TARGET);
    TRY(loop_eval_python(l, node->b, &annotation));
    loop_at(l, node->b);
    PsType type = ps_front_dtype(l->front.types, l->front.options, annotation);
    if (Py_IS_TYPE(annotation, l->front.types->struct_type)) return annotated_struct(l, node, annotation);
    bool tile = Py_IS_TYPE(annotation, l->front.types->matrix_type);
    if (tile) TRY(loop_matrix_type_of(l, annotation, &type));
    if (!type) {
        PsValue found = ps_value_python(annotation);
        return FAIL(l, ANNOTATION_TYPE, text_of(target->name), loop_describe(l, &found));
    }
    if (!node->c) return FAIL(l, ANNOTATION_VALUE, text_of(target->name));
    TRY(loop_eval(l, node->c, &value));
    loop_at(l, target);
    TRY(check_new(l, target->name));
    loop_at(l, node->c);
    if (tile || loop_is_tile(l, &value))
        TRY(loop_store_value(l, &value, type, "Assign", &ref));
    else
        TRY(loop_cast(l, &value, type, &ref));
    loop_at(l, target);
    return loop_new_local(l, target->name, ref);
}

/* -- op= -- */

/* What an atomic op means on a u1: 1 + 1 is 2, which is true. */
static PsOpCode plain_op(PsAstOp op, PsType type) {
    static const PsOpCode ops[PS_AST_BITXOR + 1] = {[PS_AST_ADD] = PS_OP_ADD,
                                                    [PS_AST_SUB] = PS_OP_SUB,
                                                    [PS_AST_BITAND] = PS_OP_AND,
                                                    [PS_AST_BITOR] = PS_OP_OR,
                                                    [PS_AST_BITXOR] = PS_OP_XOR};
    if (type == PS_U1 && op == PS_AST_ADD) return PS_OP_OR;
    if (type == PS_U1 && op == PS_AST_SUB) return PS_OP_XOR;
    return ops[op];
}

static const char *const update_names[PS_AST_BITXOR + 1] = {
    [PS_AST_ADD] = "+=",   [PS_AST_SUB] = "-=",    [PS_AST_BITAND] = "&=",
    [PS_AST_BITOR] = "|=", [PS_AST_BITXOR] = "^=",
};

static PsStatus update_plain(Loop *l, PsAstOp op, const PsValue *place, const PsValue *value) {
    PsBuilder *b = loop_b(l);
    PsType elem = ps_type_element(l->front.module, place->type);
    PsRef ref, old = ps_build_load(b, place->ref);
    if (loop_is_float(elem) && op >= PS_AST_BITAND)
        return FAIL(l, ATOMIC_INTEGERS, update_names[op], ps_scalar_name(elem));
    TRY(loop_store_value(l, value, place->type, "Assign", &ref));
    ps_build_store(b, place->ref, loop_written(l, ps_build_binary(b, plain_op(op, elem), old, ref)));
    return PS_OK;
}

static PsStatus update(Loop *l, PsAstOp op, const PsValue *place, const PsValue *value) {
    PsValue old;
    if (loop_is_own(l, place->ref)) return update_plain(l, op, place, value);
    return loop_atomic(l, loop_operator_atomic(op), op == PS_AST_SUB, update_names[op], place, value, &old);
}

static PsStatus update_parts(Loop *l, PsAstOp op, const PsValue *place, const PsValue *value) {
    PsValue *parts;
    TRY(loop_split(l, update_names[op], place, value, &parts));
    for (uint32_t i = 0; i < place->count; i++) TRY(update(l, op, &place->items[i], &parts[i]));
    return PS_OK;
}

/* In the type of the expression, then converted. */
static PsStatus replace(Loop *l, PsAstOp op, const PsValue *place, const PsValue *before,
                        const PsValue *value) {
    PsValue after;
    TRY(loop_binary(l, op, before, value, &after));
    return loop_store(l, place, &after);
}

/* Names that are not places: an error, or a value known now. */
static PsStatus update_name(Loop *l, PsAst *node, PsBinding *binding, bool *done) {
    PsValue value, old = binding->value;
    const char *name = text_of(binding->name);
    *done = false;
    if (binding->kind == PS_BIND_INDEX) return FAIL(l, ASSIGN_INDEX, name);
    if (old.kind == PS_VALUE_ARRAY) return FAIL(l, ASSIGN_ARRAY, name);
    if (binding->kind == PS_BIND_ARGUMENT) return FAIL(l, ASSIGN_ARGUMENT, name);
    if (is_place(&old)) return PS_OK;
    if (binding->kind == PS_BIND_REFERENCE) return FAIL(l, ASSIGN_REFERENCE, name, loop_describe(l, &old));
    *done = true;
    TRY(loop_eval(l, node->b, &value));
    loop_at(l, node);
    TRY(loop_binary(l, (PsAstOp)node->op, &old, &value, &value));
    value.is_static = true;
    return loop_assign_name(l, node->a, &value);
}

/* v += [1, 2] of a vector: a list stands for one. */
static PsStatus list_as_tile(Loop *l, const PsValue *place, PsValue *value) {
    PsValue *items;
    uint32_t n;
    bool list = value->kind == PS_VALUE_PYTHON && (PyList_Check(value->object) || PyTuple_Check(value->object));
    if (!list || !loop_is_tile(l, place)) return PS_OK;
    TRY(loop_items(l, value, &items, &n));
    return loop_make_tile(l, items, n, PS_KIND_NONE, value);
}

PsStatus loop_exec_augassign(Loop *l, PsAst *node, Flow *flow) {
    (void)flow;
    PsAst *target = node->a;
    PsAstOp op = (PsAstOp)node->op;
    PsValue place, before = {0}, value;
    if (target->kind == PS_AST_NAME) {
        PsBinding *binding = ps_name_find(&l->func->base, target->name);
        bool done;
        if (binding) TRY(update_name(l, node, binding, &done));
        if (binding && done) return PS_OK;
    }
    TRY(loop_eval_place(l, target, &place));
    bool loads = loop_operator_atomic(op) == PS_OP_NONE; /* before the right side, which may change the place */
    if (loads && (place.kind == PS_VALUE_PLACE || place.kind == PS_VALUE_PARTS)) before = loop_load(l, &place);
    TRY(loop_eval(l, node->b, &value));
    loop_at(l, node);
    if (op == PS_AST_MATMULT && !loop_is_tile(l, &place))
        return FAIL(l, OPERANDS, "@=", loop_describe(l, &place), loop_describe(l, &value), "matrices");
    if (place.kind == PS_VALUE_PARTS && target->kind == PS_AST_ATTRIBUTE) TRY(check_swizzle(l, target->name));
    if (place.kind == PS_VALUE_STRUCT)
        return FAIL(l, OPERANDS, loop_operator_symbol(op), loop_describe(l, &place), loop_describe(l, &value),
                    "numbers");
    if (place.kind == PS_VALUE_ARRAY || loop_is_array_object(l, &place))
        return FAIL(l, OPERAND_ARRAY, loop_operator_symbol(op), loop_describe(l, &place),
                    loop_describe(l, &value));
    if (place.kind != PS_VALUE_PLACE && place.kind != PS_VALUE_PARTS) return FAIL(l, READ_ONLY_ELEMENT);
    if (place.kind == PS_VALUE_PLACE) TRY(list_as_tile(l, &place, &value));
    if (loads) return replace(l, op, &place, &before, &value);
    return place.kind == PS_VALUE_PARTS ? update_parts(l, op, &place, &value) : update(l, op, &place, &value);
}
