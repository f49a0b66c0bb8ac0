/* SPDX-License-Identifier: Apache-2.0
 *
 * Types of results, and values as ops of a wanted type. The table is promote.def.
 */
#include "front/loop/loop_int.h"

#define PS_PROMOTE(type, ...) [PS_##type] = {PS_KIND_NONE, PROMOTE_ROW(__VA_ARGS__)},
#define PROMOTE_ROW(a, b, c, d, e, f, g, h, i, j, k, l, m)                                                     \
    PS_##a, PS_##b, PS_##c, PS_##d, PS_##e, PS_##f, PS_##g, PS_##h, PS_##i, PS_##j, PS_##k, PS_##l, PS_##m
static const uint8_t promoted[PS_SCALAR_END][PS_SCALAR_END] = {
#include "front/loop/promote.def"
};

PsType loop_promote(PsType a, PsType b) { return promoted[a][b]; }

PsType loop_promote_keep(PsType a, PsType b) { return a == b ? a : loop_promote(a, b); }

PsType loop_numeric(Loop *l, const PsValue *value) {
    switch (value->kind) {
    case PS_VALUE_PYTHON: return ps_number_type(&l->front, value->object);
    case PS_VALUE_SCALAR: return value->type;
    case PS_VALUE_PLACE: return ps_type_is_scalar(value->type) ? value->type : PS_KIND_NONE;
    default: return PS_KIND_NONE;
    }
}

static PsStatus not_a_number(Loop *l, const PsValue *value) {
    if (value->kind == PS_VALUE_ARRAY || loop_is_array_object(l, value))
        return FAIL(l, ARRAY_AS_NUMBER, loop_describe(l, value));
    if (value->kind == PS_VALUE_PYTHON && ps_is_numpy(value->object, "ndarray")) return FAIL(l, CAPTURED_NUMPY);
    return FAIL(l, NOT_A_NUMBER, loop_describe(l, value));
}

/* A number beside a tile: as often as the tile has elements. */
static PsStatus repeated(Loop *l, const PsValue *value, PsRef *ref) {
    if (value->like && ps_type_is_scalar(loop_type_of(l, *ref))) *ref = loop_splat(l, *ref, value->like);
    return PS_OK;
}

PsStatus loop_as(Loop *l, const PsValue *value, PsType type, PsRef *out) {
    if (value->kind == PS_VALUE_PYTHON) {
        if (loop_is_tile(l, value)) return loop_host_tile(l, value, type, out);
        if (!loop_numeric(l, value)) return not_a_number(l, value);
        TRY(ps_number_const(&l->front, value->object, type, out));
        return repeated(l, value, out);
    }
    PsValue loaded = loop_load(l, value);
    if (loaded.kind != PS_VALUE_SCALAR && loaded.kind != PS_VALUE_TILE) return not_a_number(l, value);
    *out = ps_build_cast(loop_b(l), loaded.ref, ps_type_with_element(l->front.module, loaded.type, type));
    return repeated(l, value, out);
}

PsStatus loop_runtime(Loop *l, const PsValue *value, PsRef *out) {
    return loop_as(l, value, loop_element(l, value), out);
}

PsStatus loop_cast(Loop *l, const PsValue *value, PsType type, PsRef *out) {
    bool exact;
    if (value->kind != PS_VALUE_PYTHON || !loop_numeric(l, value)) return loop_as(l, value, type, out);
    TRY(ps_number_cast(&l->front, value->object, type, out, &exact));
    return repeated(l, value, out);
}

/* -- stores -- */

static PsStatus warn_loss(Loop *l, const char *what, PsType to, PsType from) {
    uint64_t seen;
    if (ps_map_get(&l->warned, &l->front.at, sizeof l->front.at, &seen)) return PS_OK;
    if (!ps_map_put(&l->warned, &l->front.at, sizeof l->front.at, 1)) return PS_NOMEM;
    const char *text = ps_arena_format(l->front.arena, "%s may lose precision: %s <- %s", what,
                                       ps_scalar_name(to), ps_scalar_name(from));
    return text ? ps_front_warn(&l->front, text) : PS_NOMEM;
}

/* The value for a place of a tile: of its shape, or a number that is repeated. */
static PsStatus fit_tile(Loop *l, const char *what, PsType type, PsValue *value) {
    PsType found = loop_tile_type(l, value);
    if (!found && value->kind == PS_VALUE_PYTHON &&
        (PyTuple_Check(value->object) || PyList_Check(value->object))) {
        PsValue *items;
        uint32_t n;
        TRY(loop_items(l, value, &items, &n));
        TRY(loop_make_tile(l, items, n, PS_KIND_NONE, value));
        found = value->type;
    }
    if (!found) value->like = type;
    if (!found || loop_same_shape(l, found, type)) return PS_OK;
    return FAIL(l, TILE_ASSIGN, what, loop_describe(l, value), loop_describe_type(l, type));
}

PsStatus loop_store_value(Loop *l, const PsValue *given, PsType type, const char *what, PsRef *out) {
    PsValue value = *given;
    PsType elem = ps_type_element(l->front.module, type);
    if (elem != type)
        TRY(fit_tile(l, what, type, &value));
    else if (loop_is_tile(l, &value))
        return FAIL(l, TILE_AS_NUMBER, what, ps_scalar_name(type), loop_describe(l, &value));
    PsType from = loop_element(l, &value);
    if (!from) return not_a_number(l, &value);
    if (value.kind == PS_VALUE_PYTHON && loop_numeric(l, &value)) {
        bool exact;
        TRY(ps_number_cast(&l->front, value.object, elem, out, &exact));
        TRY(repeated(l, &value, out));
        return exact ? PS_OK : warn_loss(l, what, elem, from);
    }
    if (from != elem && loop_promote(elem, from) != elem) TRY(warn_loss(l, what, elem, from));
    return loop_as(l, &value, elem, out);
}
