/* SPDX-License-Identifier: Apache-2.0
 *
 * Subscripts and shapes. An index into an array is one integer per axis; a vector or tuple among the indices stands
 * for its elements. Indices stay as wide as they are: an i64 index is not cut to i32.
 */
#include "front/loop/loop_int.h"

/* -- indices -- */

static PsStatus known_index(Loop *l, int64_t value, PsRef *out) {
    if (value < 0) return FAIL(l, NEGATIVE_INDEX, (long long)value);
    *out = ps_build_int(loop_b(l), value <= INT32_MAX ? PS_I32 : PS_I64, value);
    return PS_OK;
}

PsStatus loop_to_index(Loop *l, const PsValue *value, int position, PsRef *out) {
    PsType type = loop_numeric(l, value);
    int64_t known;
    if (!type || loop_is_float(type)) return FAIL(l, INDEX_TYPE, loop_describe(l, value), position);
    if (value->kind == PS_VALUE_PYTHON) {
        if (!ps_number_int(value->object, &known)) return FAIL(l, INDEX_LARGE, loop_describe(l, value));
        return known_index(l, known, out);
    }
    bool wide = ps_scalar_bits(type) == 64 || type == PS_U32;
    return loop_as(l, value, wide ? PS_I64 : PS_I32, out);
}

typedef struct Indices {
    PsValue values[PS_MAX_AXES];
    uint32_t n;
} Indices;

static PsStatus add_index(Loop *l, const PsValue *value, Indices *out) {
    if (out->n == PS_MAX_AXES) return FAIL(l, INDEX_TOO_MANY, PS_MAX_AXES);
    out->values[out->n++] = *value;
    return PS_OK;
}

/* x[I, k] with I a vector of two: three indices. x[None] and x[()] are none. */
static PsStatus flatten(Loop *l, const PsValue *indices, uint32_t n, bool slices, Indices *out) {
    out->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const PsValue *value = &indices[i];
        bool python = value->kind == PS_VALUE_PYTHON;
        if (python && value->object == Py_None && n == 1) continue;
        if (python && PySlice_Check(value->object) && !slices) return FAIL(l, SLICE);
        if (!loop_is_tile(l, value) &&
            !(python && (PyTuple_Check(value->object) || PyList_Check(value->object)))) {
            TRY(add_index(l, value, out));
            continue;
        }
        PsValue *items;
        uint32_t count;
        TRY(loop_items(l, value, &items, &count));
        for (uint32_t k = 0; k < count; k++) TRY(add_index(l, &items[k], out));
    }
    return PS_OK;
}

/* An axis of no length has no nearest index: a fault, checked or not. */
static void check_any(Loop *l, PsRef dim, int axis, PsRef index) {
    PsBuilder *b = loop_b(l);
    PsRef any = ps_build_binary(b, PS_OP_GT, dim, ps_build_int(b, PS_I32, 0));
    PsRef args[4] = {any, ps_build_cast(b, index, PS_I64), ps_build_int(b, PS_I64, axis),
                     ps_build_cast(b, dim, PS_I64)};
    ps_build_op(b, PS_OP_CHECK, PS_KIND_NONE, args, 4, PS_FAULT_BOUNDS);
}

/* boundary="clamp": the nearest index that there is. */
static PsStatus clamp_index(Loop *l, const PsValue *array, int axis, PsRef *index) {
    PsBuilder *b = loop_b(l);
    PsType type = loop_type_of(l, *index);
    PsValue dim;
    TRY(loop_dim(l, array, axis, &dim));
    check_any(l, dim.ref, axis, *index);
    PsRef last = ps_build_binary(b, PS_OP_SUB, ps_build_cast(b, dim.ref, type), ps_build_int(b, type, 1));
    *index = ps_build_binary(b, PS_OP_MIN, *index, last);
    *index = ps_build_binary(b, PS_OP_MAX, *index, ps_build_int(b, type, 0));
    return PS_OK;
}

/* x[-1] with -1 known now, which has a meaning only here. */
static bool known_below(Loop *l, const PsValue *value, PsRef *out) {
    int64_t known;
    if (value->kind != PS_VALUE_PYTHON || !PyLong_Check(value->object)) return false;
    if (!ps_number_int(value->object, &known) || known >= 0) return false;
    *out = ps_build_int(loop_b(l), PS_I64, known);
    return true;
}

/* Checked before it is shifted: the message is about the index in the program, and the difference may wrap. */
static PsStatus check_shifted(Loop *l, const PsValue *array, int axis, int64_t first, PsRef index) {
    PsBuilder *b = loop_b(l);
    PsValue dim;
    TRY(loop_dim(l, array, axis, &dim));
    PsRef wide = ps_build_cast(b, index, PS_I64), length = ps_build_cast(b, dim.ref, PS_I64);
    PsRef shift = ps_build_int(b, PS_I64, first);
    PsRef from = ps_build_cast(b, ps_build_binary(b, PS_OP_SUB, wide, shift), PS_U64);
    PsRef ok = ps_build_binary(b, PS_OP_LT, from, ps_build_cast(b, length, PS_U64));
    PsRef args[5] = {ok, wide, ps_build_int(b, PS_I64, axis), length, shift};
    ps_build_op(b, PS_OP_CHECK, PS_KIND_NONE, args, 5, PS_FAULT_BOUNDS);
    return PS_OK;
}

/* Of a field with an offset. */
static PsStatus shifted_index(Loop *l, const PsValue *array, const PsValue *value, int axis, PsRef *out) {
    PsBuilder *b = loop_b(l);
    int64_t first = loop_first_index(array, axis), known;
    bool is_known = value->kind == PS_VALUE_PYTHON && ps_number_int(value->object, &known);
    if (is_known && loop_numeric(l, value) && known < first)
        return FAIL(l, OFFSET_INDEX, (long long)known, axis, (long long)first);
    if (is_known && known < 0)
        *out = ps_build_int(b, PS_I64, known); /* has a meaning only here */
    else
        TRY(loop_to_index(l, value, axis, out));
    if (l->front.options->checked) TRY(check_shifted(l, array, axis, first, *out));
    *out = ps_build_binary(b, PS_OP_SUB, *out, ps_build_int(b, loop_type_of(l, *out), first));
    return PS_OK;
}

static bool is_shifted(const PsValue *array) {
    return array->object && ((const PsArrayObject *)array->object)->shifted;
}

static PsStatus index_array(Loop *l, const PsValue *base, const Indices *indices, PsValue *out) {
    const PsTypeInfo *info = ps_type_info(l->front.module, base->type);
    PsRef args[PS_MAX_AXES + 1] = {base->ref};
    PsType elem = base->elem ? base->elem : info->elem;
    int axes = loop_axes(l, base);
    if (indices->n != (uint32_t)axes) return FAIL(l, INDEX_COUNT, axes, indices->n);
    for (uint32_t i = 0; i < indices->n; i++) {
        if (is_shifted(base))
            TRY(shifted_index(l, base, &indices->values[i], (int)i, &args[i + 1]));
        else if (!base->clamp || !known_below(l, &indices->values[i], &args[i + 1]))
            TRY(loop_to_index(l, &indices->values[i], (int)i, &args[i + 1]));
        if (base->clamp) TRY(clamp_index(l, base, (int)i, &args[i + 1]));
        if (loop_is_view(base)) TRY(loop_view_index(l, base, &args[i + 1]));
    }
    PsRef place =
        ps_build_op(loop_b(l), PS_OP_PLACE, ps_type_ptr(l->front.module, elem), args, indices->n + 1, 0);
    *out = (PsValue){.kind = PS_VALUE_PLACE, .ref = place, .type = elem, .clamp = base->clamp};
    return PS_OK;
}

/* -- Python containers -- */

static PsStatus index_python(Loop *l, const PsValue *base, const PsValue *indices, uint32_t n, PsValue *out) {
    PyObject *key;
    if (ps_is_numpy(base->object, "ndarray") && !l->in_static) return FAIL(l, CAPTURED_NUMPY);
    for (uint32_t i = 0; i < n; i++)
        if (ps_value_is_runtime(&indices[i]))
            return FAIL(l, PYTHON_INDEX, loop_describe(l, base), loop_describe(l, &indices[i]));
    if (n == 1)
        key = ps_front_keep(&l->front, ps_value_object(&l->front, &indices[0]));
    else {
        key = ps_front_keep(&l->front, PyTuple_New(n));
        for (uint32_t i = 0; key && i < n; i++) {
            PyObject *item = ps_value_object(&l->front, &indices[i]);
            if (!item) return PS_PYERR;
            PyTuple_SET_ITEM(key, i, item);
        }
    }
    if (!key) return PS_PYERR;
    return ps_value_take(&l->front, PyObject_GetItem(base->object, key), out);
}

static bool all_known(const PsValue *indices, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (indices[i].kind != PS_VALUE_PYTHON) return false;
    return true;
}

PsStatus loop_index(Loop *l, const PsValue *given, const PsValue *indices, uint32_t n, PsValue *out) {
    Indices flat;
    PsValue outside = *given, *base = &outside;
    TRY(loop_from_outside(l, base));
    if (base->kind == PS_VALUE_STRUCTS) return loop_index_structs(l, base, indices, n, out);
    bool tile = loop_is_tile(l, base);
    if (base->kind == PS_VALUE_PYTHON && (!tile || all_known(indices, n)))
        return index_python(l, base, indices, n, out);
    if (base->kind != PS_VALUE_ARRAY && !tile) return FAIL(l, NOT_INDEXABLE, loop_describe(l, base));
    TRY(flatten(l, indices, n, tile, &flat));
    return tile ? loop_index_tile(l, base, flat.values, flat.n, out) : index_array(l, base, &flat, out);
}

/* A slice of Python values as a Python slice; anything else is refused where it is used. */
static PsStatus eval_slice(Loop *l, PsAst *node, PsValue *out) {
    PyObject *parts[3] = {Py_None, Py_None, Py_None};
    PsAst *nodes[3] = {node->a, node->b, node->c};
    for (int i = 0; i < 3; i++)
        if (nodes[i]) TRY(loop_eval_python(l, nodes[i], &parts[i]));
    return ps_value_take(&l->front, PySlice_New(parts[0], parts[1], parts[2]), out);
}

static PsAst *first_slice(const PsAstList *list) {
    for (uint32_t i = 0; i < list->len; i++)
        if (list->items[i]->kind == PS_AST_SLICE) return list->items[i];
    return NULL;
}

static PsStatus eval_indices(Loop *l, PsAst *node, PsValue **out, uint32_t *out_n) {
    if (node->kind == PS_AST_TUPLE && !first_slice(&node->list))
        return loop_eval_list(l, &node->list, out, out_n);
    PsAstList one = {&node, 1}, *list = node->kind == PS_AST_TUPLE ? &node->list : &one;
    *out = ps_arena_alloc(l->front.arena, sizeof **out * list->len);
    *out_n = list->len;
    if (!*out) return PS_NOMEM;
    for (uint32_t i = 0; i < list->len; i++) {
        PsAst *item = list->items[i];
        TRY(item->kind == PS_AST_SLICE ? eval_slice(l, item, &(*out)[i]) : loop_eval(l, item, &(*out)[i]));
    }
    return PS_OK;
}

/* x.shape[k]: one op, not a tuple of all lengths. */
static PsStatus eval_dim(Loop *l, PsAst *node, const PsValue *array, PsValue *out) {
    int ndim = loop_axes(l, array);
    PsValue index;
    int64_t axis;
    TRY(loop_eval(l, node->b, &index));
    loop_at(l, node);
    if (index.kind != PS_VALUE_PYTHON || !ps_number_int(index.object, &axis))
        return FAIL(l, PYTHON_INDEX, "shape", loop_describe(l, &index));
    if (axis < -ndim || axis >= ndim) return FAIL(l, SHAPE_AXIS, (long long)axis, loop_describe(l, array));
    return loop_dim(l, array, (int)(axis < 0 ? axis + ndim : axis), out);
}

PsStatus loop_subscript_of(Loop *l, PsAst *node, const PsValue *base, PsValue *out) {
    PsValue *indices = NULL;
    uint32_t n = 0;
    if (node->b->kind == PS_AST_TUPLE && first_slice(&node->b->list) && !loop_is_tile(l, base)) {
        loop_at(l, first_slice(&node->b->list));
        return FAIL(l, SLICE);
    }
    PsValue array = *base;
    if (node->b->kind == PS_AST_SLICE) TRY(loop_from_outside(l, &array));
    if (node->b->kind == PS_AST_SLICE && array.kind == PS_VALUE_ARRAY)
        return loop_slice(l, node->b, &array, out);
    TRY(eval_indices(l, node->b, &indices, &n));
    loop_at(l, node);
    return loop_index(l, base, indices, n, out);
}

PsStatus loop_eval_subscript(Loop *l, PsAst *node, PsValue *out) {
    PsValue base;
    PsAst *holder = node->a;
    if (holder->kind == PS_AST_ATTRIBUTE && PyUnicode_CompareWithASCIIString(holder->name, "shape") == 0) {
        TRY(loop_eval(l, holder->a, &base));
        if (!l->in_static) TRY(loop_from_outside(l, &base));
        if (base.kind == PS_VALUE_ARRAY && !(l->in_static && base.object)) return eval_dim(l, node, &base, out);
        loop_at(l, holder);
        TRY(loop_attribute(l, &base, holder->name, &base));
    } else
        TRY(loop_eval_place(l, holder, &base));
    return loop_subscript_of(l, node, &base, out);
}

/* -- shapes -- */

int loop_axes(Loop *l, const PsValue *array) {
    int axes = ps_type_info(l->front.module, array->type)->ndim;
    return array->elem ? axes - ps_type_info(l->front.module, array->elem)->ndim : axes;
}

bool loop_has_elements(Loop *l, const PsValue *array, const PsElement *wanted) {
    const PsTypeInfo *tile = array->elem ? ps_type_info(l->front.module, array->elem) : NULL;
    if (wanted->edim < 0) return true;
    if (wanted->edim != (tile ? tile->ndim : 0)) return false;
    for (int k = 0; k < wanted->edim; k++)
        if (wanted->eshape[k] >= 0 && wanted->eshape[k] != tile->shape[k]) return false;
    return true;
}

PsStatus loop_dim(Loop *l, const PsValue *array, int axis, PsValue *out) {
    PsRef arg = array->ref;
    if (loop_is_view(array) && axis == 0) {
        *out = array->items[1];
        return PS_OK;
    }
    *out = loop_value(l, ps_build_op(loop_b(l), PS_OP_DIM, PS_I32, &arg, 1, (uint64_t)axis));
    return PS_OK;
}

PsStatus loop_array_size(Loop *l, const PsValue *array, PsValue *out) {
    int ndim = loop_axes(l, array);
    TRY(ps_value_take(&l->front, PyLong_FromLong(1), out));
    for (int i = 0; i < ndim; i++) {
        PsValue dim, all = *out;
        TRY(loop_dim(l, array, i, &dim));
        if (i)
            TRY(loop_binary(l, PS_AST_MULT, &all, &dim, out));
        else
            *out = dim;
    }
    return PS_OK;
}

PsStatus loop_shape(Loop *l, const PsValue *array, PsValue *out) {
    int ndim = loop_axes(l, array);
    PyObject *shape = PyTuple_New(ndim);
    for (int i = 0; shape && i < ndim; i++) {
        PsValue dim;
        PsStatus status = loop_dim(l, array, i, &dim);
        PyObject *proxy = status ? NULL : ps_value_object(&l->front, &dim);
        if (!proxy) {
            Py_DECREF(shape);
            return status ? status : PS_PYERR;
        }
        PyTuple_SET_ITEM(shape, i, proxy);
    }
    return ps_value_take(&l->front, shape, out);
}
