/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomic updates: ti.atomic_add and its family, and the augmented assignments that mean them. The old value is the
 * result. Whether an update needs to be atomic at all is found later (passes reduce and plain), but for locals of the
 * iteration itself, which never do.
 */
#include "front/loop/loop_int.h"

bool loop_is_own(Loop *l, PsRef place) {
    const PsFunc *f = loop_b(l)->func;
    PsRef root = ps_place_root(f, place);
    if (ps_op(f, root)->code == PS_OP_ARG) /* a variable of a caller's iteration, if it is passed at all */
        return ps_type_info(l->front.module, ps_op(f, root)->type)->kind == PS_KIND_PTR;
    if (ps_op(f, root)->code != PS_OP_VAR) return false;
    return !l->parallel || ps_region_contains(f, l->parallel, root);
}

static bool needs_integers(PsOpCode op) {
    return op == PS_OP_ATOMIC_AND || op == PS_OP_ATOMIC_OR || op == PS_OP_ATOMIC_XOR || op == PS_OP_ATOMIC_CAS;
}

typedef struct Update {
    PsOpCode op;
    bool negate;
    const char *name;
} Update;

static PsStatus update_place(Loop *l, const Update *u, const PsValue *place, const PsValue *value,
                             PsValue *out) {
    PsBuilder *b = loop_b(l);
    PsOpCode op = u->op;
    PsRef ref;
    PsType elem = ps_type_element(l->front.module, place->type);
    if (place->kind != PS_VALUE_PLACE) return FAIL(l, ATOMIC_TARGET, u->name, loop_describe(l, place));
    if (!loop_element(l, value))
        return FAIL(l, OPERANDS, u->name, loop_describe(l, place), loop_describe(l, value), "numbers");
    if (needs_integers(op) && loop_is_float(elem))
        return FAIL(l, ATOMIC_INTEGERS, u->name, ps_scalar_name(elem));
    const char *what = ps_arena_format(l->front.arena, "%s", u->name);
    TRY(loop_store_value(l, value, place->type, what ? what : u->name, &ref));
    if (elem == PS_U1 && op == PS_OP_ATOMIC_ADD)
        op = u->negate ? PS_OP_ATOMIC_XOR : PS_OP_ATOMIC_OR;
    else if (u->negate)
        ref = ps_build_unary(b, PS_OP_NEG, ref);
    if (elem == PS_U1 && op == PS_OP_ATOMIC_MUL) op = PS_OP_ATOMIC_AND;
    ref = ps_build_op(b, op, place->type, (PsRef[]){place->ref, ref}, 2, 0);
    bool wraps = u->negate && ps_scalar_class(elem) == PS_CLASS_UINT; /* x - 1 as a sum always does */
    *out = loop_value(l, wraps ? ref : loop_written(l, ref));
    return PS_OK;
}

PsStatus loop_atomic(Loop *l, PsOpCode op, bool negate, const char *name, const PsValue *place,
                     const PsValue *value, PsValue *out) {
    Update u = {op, negate, name};
    if (place->kind != PS_VALUE_PARTS) return update_place(l, &u, place, value, out);
    PsValue *parts, old = {0};
    PsRef *refs = ps_arena_alloc(l->front.arena, sizeof *refs * (place->count + 1));
    if (!refs) return PS_NOMEM;
    TRY(loop_split(l, name, place, value, &parts));
    for (uint32_t i = 0; i < place->count; i++) {
        TRY(update_place(l, &u, &place->items[i], &parts[i], &old));
        refs[i] = old.ref;
    }
    *out = loop_tile(l, place->type, refs);
    return PS_OK;
}

PsStatus loop_atomic_cas(Loop *l, const CallArgs *args, PsValue *out) {
    const PsValue *place = &args->args[0];
    PsRef expected, fresh;
    if (place->kind != PS_VALUE_PLACE || loop_is_tile(l, place))
        return FAIL(l, ATOMIC_TARGET, "atomic_cas", loop_describe(l, place));
    if (loop_is_float(place->type)) return FAIL(l, ATOMIC_INTEGERS, "atomic_cas", ps_scalar_name(place->type));
    TRY(loop_store_value(l, &args->args[1], place->type, "atomic_cas", &expected));
    TRY(loop_store_value(l, &args->args[2], place->type, "atomic_cas", &fresh));
    *out = loop_value(
        l, ps_build_op(loop_b(l), PS_OP_ATOMIC_CAS, place->type, (PsRef[]){place->ref, expected, fresh}, 3, 0));
    return PS_OK;
}

PsStatus loop_volatile_load(Loop *l, CallArgs *args, PsValue *out) {
    const PsValue *place = &args->args[0];
    if (place->kind == PS_VALUE_ARRAY || loop_is_array_object(l, place) || loop_is_structs(l, place))
        return FAIL(l, VOLATILE_FIELD, loop_describe(l, place));
    if (place->kind == PS_VALUE_PLACE && loop_is_own(l, place->ref)) return FAIL(l, VOLATILE_LOCAL);
    if (place->kind != PS_VALUE_PLACE || loop_is_tile(l, place))
        return FAIL(l, VOLATILE_PLACE, loop_describe(l, place));
    *out = loop_value(l, ps_build_op(loop_b(l), PS_OP_VOLATILE, place->type, &place->ref, 1, 0));
    return PS_OK;
}

/* get_addr(x, [i, j]): of an element of several numbers the first one's. */
PsStatus loop_get_addr(Loop *l, CallArgs *args, PsValue *out) {
    PsValue array = args->args[0], place;
    TRY(loop_from_outside(l, &array));
    if (array.kind != PS_VALUE_ARRAY) return FAIL(l, ADDRESS_ARRAY, loop_describe(l, &args->args[0]));
    TRY(loop_index(l, &array, &args->args[1], 1, &place));
    if (loop_is_tile(l, &place)) {
        PsValue whole = place;
        TRY(loop_tile_element(l, &whole, 0, 0, &place));
    }
    *out = loop_value(l, ps_build_op(loop_b(l), PS_OP_ADDRESS, PS_U64, &place.ref, 1, 0));
    return PS_OK;
}
