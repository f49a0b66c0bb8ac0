/* SPDX-License-Identifier: Apache-2.0
 *
 * Values that pass by value between a kernel and its caller: a vector, matrix or struct parameter is as many scalar
 * parameters of main as it has scalars, and so is a result.
 */
#include "front/loop/loop_int.h"

static PsStatus argument(Loop *l, PsType type, uint32_t *narg, PsRef *out) {
    if (*narg >= LOOP_HIDDEN_ARGS) return loop_hidden_arg(l, (*narg)++ - LOOP_HIDDEN_ARGS, out);
    if (!ps_vec_push(l->front.arena, &loop_b(l)->func->params, type)) return PS_NOMEM;
    *out = ps_build_op(loop_b(l), PS_OP_ARG, type, NULL, 0, (*narg)++);
    return PS_OK;
}

static PsType tile_of(Loop *l, const PsForm *form) {
    return ps_type_tile(l->front.module, form->elem, form->ndim, (int64_t[]){form->n, form->m});
}

static PsStatus argument_parts(Loop *l, const PsForm *form, uint32_t *narg, PsValue *out) {
    PsValue *items = ps_arena_alloc(l->front.arena, sizeof *items * (form->parts + 1));
    const PsForm *part = form + 1;
    if (!items) return PS_NOMEM;
    for (uint32_t i = 0; i < form->parts; i++, part = ps_form_next(part))
        TRY(loop_form_argument(l, part, narg, &items[i]));
    *out = (PsValue){.kind = PS_VALUE_STRUCT, .count = form->parts, .object = form->type, .items = items};
    return PS_OK;
}

PsStatus loop_form_argument(Loop *l, const PsForm *form, uint32_t *narg, PsValue *out) {
    if (form->kind == PS_FORM_STRUCT) return argument_parts(l, form, narg, out);
    PsRef *refs = ps_arena_alloc(l->front.arena, sizeof *refs * (form->words + 1));
    if (!refs) return PS_NOMEM;
    for (uint32_t i = 0; i < form->words; i++) TRY(argument(l, form->elem, narg, &refs[i]));
    *out = form->kind == PS_FORM_MATRIX ? loop_tile(l, tile_of(l, form), refs) : loop_value(l, refs[0]);
    return PS_OK;
}

/* -- results -- */

static PsStatus add(Loop *l, LoopRefs *out, PsRef ref) {
    return ps_vec_push(l->front.arena, out, ref) ? PS_OK : PS_NOMEM;
}

static PsStatus result_matrix(Loop *l, const PsForm *form, const PsValue *given, LoopRefs *out) {
    PsType type = tile_of(l, form), found = loop_tile_type(l, given);
    PsRef ref;
    PsValue list = *given, *value = &list, *items;
    uint32_t n;
    if (!found && given->kind == PS_VALUE_PYTHON &&
        (PyTuple_Check(given->object) || PyList_Check(given->object))) {
        TRY(loop_items(l, given, &items, &n));
        TRY(loop_make_tile(l, items, n, PS_KIND_NONE, value));
        found = value->type;
    }
    if (!found || !loop_same_shape(l, found, type))
        return FAIL(l, RETURN_TILE, loop_describe_type(l, type), loop_describe(l, value));
    TRY(loop_store_value(l, value, type, "Return", &ref));
    PsValue tile = loop_value(l, ref), item;
    for (uint32_t i = 0; i < form->words; i++) {
        TRY(loop_tile_element(l, &tile, i / (uint32_t)form->m, i % (uint32_t)form->m, &item));
        TRY(add(l, out, item.ref));
    }
    return PS_OK;
}

static PsStatus result_parts(Loop *l, const PsForm *form, const PsValue *value, LoopRefs *out) {
    PsValue *items;
    uint32_t n;
    const PsForm *part = form + 1;
    if (form->kind == PS_FORM_STRUCT) {
        PsValue typed;
        TRY(loop_struct_as(l, (PsStructTypeObject *)form->type, value, &typed));
        items = typed.items, n = typed.count;
    } else {
        bool sequence =
            value->kind == PS_VALUE_PYTHON && (PyTuple_Check(value->object) || PyList_Check(value->object));
        if (!sequence) return FAIL(l, RETURN_TUPLE, form->parts, loop_describe(l, value));
        TRY(loop_items(l, value, &items, &n));
    }
    if (n != form->parts) return FAIL(l, RETURN_COUNT, form->parts, n);
    for (uint32_t i = 0; i < n; i++, part = ps_form_next(part)) TRY(loop_form_results(l, part, &items[i], out));
    return PS_OK;
}

PsStatus loop_form_results(Loop *l, const PsForm *form, const PsValue *value, LoopRefs *out) {
    PsRef ref;
    switch (form->kind) {
    case PS_FORM_MATRIX: return result_matrix(l, form, value, out);
    case PS_FORM_STRUCT:
    case PS_FORM_TUPLE: return result_parts(l, form, value, out);
    case PS_FORM_SCALAR: break;
    }
    if (loop_is_tile(l, value))
        return FAIL(l, RETURN_TILE, ps_scalar_name(form->elem), loop_describe(l, value));
    if (!loop_numeric(l, value)) return FAIL(l, RETURN_VALUE, loop_describe(l, value));
    TRY(loop_store_value(l, value, form->elem, "Return", &ref));
    return add(l, out, ref);
}

/* The types of a kernel's results, in order. */
PsStatus loop_form_types(Loop *l, const PsForm *form, PsFunc *f) {
    for (uint32_t k = 0; k < form->nodes; k++) {
        const PsForm *node = &form[k];
        bool leaf = node->kind == PS_FORM_SCALAR || node->kind == PS_FORM_MATRIX;
        for (uint32_t i = 0; leaf && i < node->words; i++)
            if (!ps_vec_push(l->front.arena, &f->results, node->elem)) return PS_NOMEM;
    }
    return PS_OK;
}
