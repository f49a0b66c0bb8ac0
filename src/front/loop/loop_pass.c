/* SPDX-License-Identifier: Apache-2.0
 *
 * Structs and tuples across calls of funcs that are built once. Functions of the IR know neither, so they are taken
 * apart: a member that is a variable of the caller is passed as its place, so that a method can change self; one that is
 * an element of an array as the array and the indices, of which the func makes the place anew; another one as a value.
 * Arrays of structs are passed array by array. A result is stored through places of the caller, one for each number,
 * vector and matrix in it.
 *
 * What cannot be passed so, and makes a call an expansion in place: variables of the serial code around a parallel loop,
 * texts, dtypes and other things of Python's in a tuple.
 */
#include "front/loop/loop_int.h"

static PsType leaf_type(Loop *l, const PsValue *value) {
    PsType tile = loop_tile_type(l, value);
    return tile ? tile : loop_numeric(l, value);
}

static bool is_tuple(const PsValue *value) {
    return value->kind == PS_VALUE_PYTHON && PyTuple_Check(value->object);
}

static PsType ptr_to(Loop *l, PsType type) { return ps_type_ptr(l->front.module, type); }

/* -- arguments -- */

static bool is_element(Loop *l, const PsValue *value) {
    return value->kind == PS_VALUE_PLACE && ps_op(loop_b(l)->func, value->ref)->code == PS_OP_PLACE;
}

/* Elements of arrays with what they are made of: items[0] the array, then the indices. */
PsStatus loop_pass_open(Loop *l, PsValue *value) {
    const PsFunc *f = loop_b(l)->func;
    uint32_t n = value->kind == PS_VALUE_STRUCT ? value->count
                 : is_element(l, value)         ? ps_op(f, value->ref)->nargs
                                                : 0;
    if (!n) return PS_OK;
    PsValue *items = ps_arena_alloc(l->front.arena, sizeof *items * n);
    if (!items) return PS_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        if (value->kind == PS_VALUE_STRUCT) {
            items[i] = value->items[i];
            TRY(loop_pass_open(l, &items[i]));
        } else {
            PsRef part = ps_op_arg(f, value->ref, i);
            items[i] = (PsValue){.kind = i ? PS_VALUE_SCALAR : PS_VALUE_ARRAY, .ref = part};
            items[i].type = ps_op(f, part)->type;
        }
    }
    value->items = items;
    value->count = n;
    return PS_OK;
}

bool loop_can_pass(Loop *l, const PsValue *value) {
    switch (value->kind) {
    case PS_VALUE_STRUCT:
    case PS_VALUE_STRUCTS:
        for (uint32_t i = 0; i < value->count; i++)
            if (!loop_can_pass(l, &value->items[i])) return false;
        return true;
    case PS_VALUE_PLACE: return loop_is_own(l, value->ref) || is_element(l, value);
    case PS_VALUE_SCALAR:
    case PS_VALUE_ARRAY:
    case PS_VALUE_TILE: return true;
    case PS_VALUE_PYTHON: return loop_is_struct(l, value) || loop_numeric(l, value);
    default: return false;
    }
}

PsStatus loop_pass_key(Loop *l, const PsValue *value, LoopKey *out) {
    KeyPart part = {PASS_OBJECT, (uint64_t)(uintptr_t)value->object, value->count};
    bool parts = value->kind == PS_VALUE_STRUCT || value->kind == PS_VALUE_STRUCTS;
    if (value->kind == PS_VALUE_PLACE)
        part = (KeyPart){PASS_PLACE, value->type, value->count};
    else if (value->kind == PS_VALUE_ARRAY)
        part = (KeyPart){value->clamp ? PASS_CLAMPED : PASS_TYPE, value->type | (uint64_t)value->elem << 32,
                         (uint64_t)(uintptr_t)value->object};
    else if (value->kind == PS_VALUE_SCALAR || value->kind == PS_VALUE_TILE)
        part = (KeyPart){PASS_VALUE, value->type, 0};
    else if (parts)
        part.kind = PASS_STRUCT;
    if (!ps_vec_push(l->front.arena, out, part)) return PS_NOMEM;
    for (uint32_t i = 0; loop_is_view(value) && i < 2; i++) TRY(loop_pass_key(l, &value->items[i], out));
    for (uint32_t i = 0; (parts || value->kind == PS_VALUE_PLACE) && i < value->count; i++)
        TRY(loop_pass_key(l, &value->items[i], out));
    return PS_OK;
}

static PsStatus add_param(Loop *l, PsType type, PsRef *out) {
    PsFunc *f = loop_b(l)->func;
    *out = ps_build_op(loop_b(l), PS_OP_ARG, type, NULL, 0, f->params.len);
    return ps_vec_push(l->front.arena, &f->params, type) ? PS_OK : PS_NOMEM;
}

/* The place of an element, from parameters for the array and the indices. */
static PsStatus element_param(Loop *l, const PsValue *value, PsValue *out) {
    PsRef args[PS_MAX_AXES + 1];
    for (uint32_t i = 0; i < value->count; i++) TRY(add_param(l, value->items[i].type, &args[i]));
    out->ref = ps_build_op(loop_b(l), PS_OP_PLACE, ptr_to(l, value->type), args, value->count, 0);
    out->count = 0;
    return PS_OK;
}

/* Its offset and size. */
static PsStatus view_params(Loop *l, const PsValue *value, PsValue *out) {
    out->items = ps_arena_alloc(l->front.arena, sizeof *out->items * 2);
    if (!out->items) return PS_NOMEM;
    for (int i = 0; i < 2; i++) TRY(loop_pass_param(l, &value->items[i], &out->items[i]));
    return PS_OK;
}

PsStatus loop_pass_param(Loop *l, const PsValue *value, PsValue *out) {
    PsRef ref;
    *out = *value;
    switch (value->kind) {
    case PS_VALUE_STRUCT:
    case PS_VALUE_STRUCTS:
        if (value->kind == PS_VALUE_STRUCTS)
            out->ref = 0; /* which argument of the kernel it is, nobody knows here */
        out->items = ps_arena_alloc(l->front.arena, sizeof *out->items * (value->count + 1));
        if (!out->items) return PS_NOMEM;
        for (uint32_t i = 0; i < value->count; i++) TRY(loop_pass_param(l, &value->items[i], &out->items[i]));
        return PS_OK;
    case PS_VALUE_PLACE:
        if (value->count) return element_param(l, value, out);
        return add_param(l, ptr_to(l, value->type), &out->ref);
    case PS_VALUE_ARRAY:
        out->count = 0;
        TRY(add_param(l, value->type, &out->ref));
        return loop_is_view(value) ? view_params(l, value, out) : PS_OK;
    case PS_VALUE_SCALAR:
        TRY(add_param(l, value->type, &ref));
        *out = loop_value(l, ref);
        return PS_OK;
    case PS_VALUE_TILE:
        TRY(add_param(l, ptr_to(l, value->type), &ref));
        *out = loop_value(l, ps_build_load(loop_b(l), ref));
        return PS_OK;
    default: return PS_OK;
    }
}

PsRef loop_in_memory(Loop *l, PsRef tile) {
    PsRef place = ps_build_var(loop_b(l), loop_type_of(l, tile));
    ps_build_store(loop_b(l), place, tile);
    return place;
}

PsStatus loop_pass_args(Loop *l, const PsValue *value, LoopRefs *out) {
    bool parts =
        value->kind == PS_VALUE_STRUCT || value->kind == PS_VALUE_STRUCTS || value->kind == PS_VALUE_PLACE;
    for (uint32_t i = 0; parts && i < value->count; i++) TRY(loop_pass_args(l, &value->items[i], out));
    if ((parts && (value->kind != PS_VALUE_PLACE || value->count)) || value->kind == PS_VALUE_PYTHON)
        return PS_OK;
    PsRef ref = value->kind == PS_VALUE_TILE ? loop_in_memory(l, value->ref) : value->ref;
    if (!ps_vec_push(l->front.arena, out, ref)) return PS_NOMEM;
    for (int i = 0; loop_is_view(value) && i < 2; i++) TRY(loop_pass_args(l, &value->items[i], out));
    return PS_OK;
}

/* -- results: a shape is a STRUCT (of no type: a tuple) whose items are shapes, SCALARs and TILEs of types only -- */

typedef PsVec(PsValue) Leaves;

typedef struct Taker {
    Loop *l;
    Leaves leaves;
    bool known;   /* only what can be passed */
    bool numbers; /* some leaf is a number of Python's */
} Taker;

static PsStatus take(Taker *t, const PsValue *value, PsValue *shape);

static PsStatus take_items(Taker *t, const PsValue *items, uint32_t n, PyObject *type, PsValue *shape) {
    Loop *l = t->l;
    PsValue *shapes = ps_arena_alloc(l->front.arena, sizeof *shapes * (n + 1));
    if (!shapes) return PS_NOMEM;
    TRY(ps_front_deeper(&l->front));
    for (uint32_t i = 0; i < n; i++) TRY(take(t, &items[i], &shapes[i]));
    l->front.depth--;
    *shape = (PsValue){.kind = PS_VALUE_STRUCT, .count = n, .items = shapes, .object = type};
    return PS_OK;
}

static PsStatus take(Taker *t, const PsValue *given, PsValue *shape) {
    Loop *l = t->l;
    PsValue value = loop_load(l, given), *items;
    uint32_t n;
    *shape = (PsValue){.kind = PS_VALUE_SCALAR};
    if (value.kind == PS_VALUE_STRUCT) return take_items(t, value.items, value.count, value.object, shape);
    if (is_tuple(&value)) {
        TRY(loop_items(l, &value, &items, &n));
        return take_items(t, items, n, NULL, shape);
    }
    shape->type = leaf_type(l, &value);
    if (shape->type && !ps_type_is_scalar(shape->type)) shape->kind = PS_VALUE_TILE;
    t->known &= shape->type != PS_KIND_NONE;
    t->numbers |= value.kind == PS_VALUE_PYTHON && shape->kind == PS_VALUE_SCALAR;
    return ps_vec_push(l->front.arena, &t->leaves, value) ? PS_OK : PS_NOMEM;
}

/* What both returns fit in; *same: it is the one before. False: they differ in more than the types of elements. */
static bool join(Loop *l, const PsValue *before, const PsValue *now, PsValue *out, bool *same) {
    *out = *before;
    if (before->kind != now->kind || before->count != now->count || before->object != now->object) return false;
    if (before->kind == PS_VALUE_STRUCT) {
        out->items = ps_arena_alloc(l->front.arena, sizeof *out->items * (before->count + 1));
        if (!out->items) return false; /* the arena says so at the end */
        for (uint32_t i = 0; i < before->count; i++)
            if (!join(l, &before->items[i], &now->items[i], &out->items[i], same)) return false;
        return true;
    }
    PsModule *m = l->front.module;
    if (before->kind == PS_VALUE_TILE && !loop_same_shape(l, before->type, now->type)) return false;
    PsType elem = loop_promote_keep(ps_type_element(m, before->type), ps_type_element(m, now->type));
    out->type = ps_type_with_element(m, before->type, elem);
    *same &= out->type == before->type;
    return true;
}

static PsStatus store_leaves(Loop *l, const PsValue *shape, const PsValue **leaf, uint32_t *param) {
    PsRef ref;
    for (uint32_t i = 0; shape->kind == PS_VALUE_STRUCT && i < shape->count; i++)
        TRY(store_leaves(l, &shape->items[i], leaf, param));
    if (shape->kind == PS_VALUE_STRUCT) return PS_OK;
    TRY(loop_as(l, (*leaf)++, ps_type_element(l->front.module, shape->type), &ref));
    PsRef place = ps_build_op(loop_b(l), PS_OP_ARG, ptr_to(l, shape->type), NULL, 0, (*param)++);
    ps_build_store(loop_b(l), place, ref);
    return PS_OK;
}

bool loop_returns_parts(Loop *l, const PsValue *value) { return loop_is_struct(l, value) || is_tuple(value); }

PsStatus loop_return_parts(Loop *l, Instance *instance, const PsValue *value) {
    Taker t = {.l = l, .known = true};
    const PsForm *form = l->func->form;
    PsValue typed = *value, shape, both;
    bool same = true;
    if (form && form->kind == PS_FORM_STRUCT)
        TRY(loop_struct_as(l, (PsStructTypeObject *)form->type, value, &typed));
    TRY(take(&t, &typed, &shape));
    /* A number that the caller may want to know while compiling stays one, where the func can be expanded. */
    if (!t.known || (t.numbers && !instance->recursive && !l->func->early && !l->func->real)) {
        instance->state = INSTANCE_INLINE;
        return PS_FAIL;
    }
    if (!instance->shape.kind) instance->shape = shape;
    if (!join(l, &instance->shape, &shape, &both, &same)) return FAIL(l, RETURN_PARTS, loop_describe(l, value));
    if (!same && !form) {
        instance->widen_shape = both;
        return PS_FAIL;
    }
    instance->returns = true;
    const PsValue *leaf = t.leaves.data;
    uint32_t param = loop_b(l)->func->params.len; /* the places come after all parameters */
    TRY(store_leaves(l, &instance->shape, &leaf, &param));
    ps_build_op(loop_b(l), PS_OP_RETURN, PS_KIND_NONE, NULL, 0, 0);
    return PS_OK;
}

PsStatus loop_parts_params(Loop *l, const PsValue *shape, PsFunc *f) {
    for (uint32_t i = 0; shape->kind == PS_VALUE_STRUCT && i < shape->count; i++)
        TRY(loop_parts_params(l, &shape->items[i], f));
    if (shape->kind == PS_VALUE_STRUCT) return PS_OK;
    return ps_vec_push(l->front.arena, &f->params, ptr_to(l, shape->type)) ? PS_OK : PS_NOMEM;
}

PsStatus loop_parts_args(Loop *l, const PsValue *shape, LoopRefs *out) {
    for (uint32_t i = 0; shape->kind == PS_VALUE_STRUCT && i < shape->count; i++)
        TRY(loop_parts_args(l, &shape->items[i], out));
    if (shape->kind == PS_VALUE_STRUCT) return PS_OK;
    return ps_vec_push(l->front.arena, out, ps_build_var(loop_b(l), shape->type)) ? PS_OK : PS_NOMEM;
}

static PsStatus tuple_of(Loop *l, const PsValue *items, uint32_t n, PsValue *out) {
    PyObject *tuple = ps_front_keep(&l->front, PyTuple_New(n));
    if (!tuple) return PS_PYERR;
    for (uint32_t i = 0; i < n; i++) {
        PyObject *object = ps_value_object(&l->front, &items[i]);
        if (!object) return PS_PYERR;
        PyTuple_SET_ITEM(tuple, i, object);
    }
    *out = ps_value_python(tuple);
    return PS_OK;
}

PsStatus loop_parts_result(Loop *l, const PsValue *shape, const PsRef **place, PsValue *out) {
    if (shape->kind != PS_VALUE_STRUCT) {
        *out = loop_value(l, ps_build_load(loop_b(l), *(*place)++));
        return PS_OK;
    }
    PsValue *items = ps_arena_alloc(l->front.arena, sizeof *items * (shape->count + 1));
    if (!items) return PS_NOMEM;
    for (uint32_t i = 0; i < shape->count; i++) TRY(loop_parts_result(l, &shape->items[i], place, &items[i]));
    if (!shape->object) return tuple_of(l, items, shape->count, out);
    *out = *shape;
    out->items = items;
    return PS_OK;
}

/* -- a shape from an annotation, for funcs that call themselves before they return -- */

static PsStatus shape_of(Loop *l, const PsForm **form, PsValue *out) {
    const PsForm *node = (*form)++;
    *out = (PsValue){.kind = PS_VALUE_SCALAR, .type = node->elem};
    if (node->kind == PS_FORM_MATRIX) {
        out->kind = PS_VALUE_TILE;
        out->type = ps_type_tile(l->front.module, node->elem, node->ndim, (int64_t[]){node->n, node->m});
    }
    if (node->kind == PS_FORM_SCALAR || node->kind == PS_FORM_MATRIX) return out->type ? PS_OK : PS_NOMEM;
    PsValue *items = ps_arena_alloc(l->front.arena, sizeof *items * (node->parts + 1));
    if (!items) return PS_NOMEM;
    for (uint32_t i = 0; i < node->parts; i++) TRY(shape_of(l, form, &items[i]));
    *out = (PsValue){.kind = PS_VALUE_STRUCT, .count = node->parts, .items = items};
    if (node->kind == PS_FORM_STRUCT) out->object = node->type;
    return PS_OK;
}

PsStatus loop_annotated_shape(Loop *l, const PsForm *form, PsValue *out) {
    *out = (PsValue){0};
    if (!form || (form->kind != PS_FORM_STRUCT && form->kind != PS_FORM_TUPLE)) return PS_OK;
    return shape_of(l, &form, out);
}
