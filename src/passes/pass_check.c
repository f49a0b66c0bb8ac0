/* SPDX-License-Identifier: Apache-2.0
 *
 * check: in checked modules, a check right before what it guards: before a place one per axis (index, axis, length), so
 * before an element's place, before an integer division one (dividend). It carries the span of what it guards and runs only where that would.
 * After an integer add, sub, mul or shl that the program wrote, what finds overflow (pass_check_overflow.c).
 *
 * A check that cannot fail is left out (passes_range.c), and so is one that an equal check in this or an enclosing
 * region has already passed: the faults stay the same.
 */
#include "passes/passes_int.h"

typedef struct Length { /* of one axis of an array parameter, as both types; made where the array is */
    PsRef i64, u64;
} Length;

typedef struct Check {
    PsFunc *f;
    PsMap lengths; /* (array, axis) -> index into made */
    PsMap passed;  /* (index, array, axis) or (divisor, dividend, no_axis) -> the check's op */
    PsVec(Length) made;
} Check;

static const uint64_t no_axis = UINT64_MAX;         /* marks divisors in `passed` */
static const uint64_t a_length = (uint64_t)1 << 63; /* marks lengths of tiles, where arrays stand otherwise */

static const Length *length_of(Check *c, PsRef array, uint32_t axis) {
    PsFunc *f = c->f;
    PsArena *arena = f->module->arena;
    uint32_t key[2] = {array, axis};
    uint64_t at;
    if (ps_map_get(&c->lengths, key, sizeof key, &at)) return &c->made.data[at];
    PsBuilder b = passes_after(f, array);
    Length made;
    made.i64 = ps_build_cast(&b, ps_build_op(&b, PS_OP_DIM, PS_I32, &array, 1, axis), PS_I64);
    made.u64 = ps_build_cast(&b, made.i64, PS_U64);
    if (!ps_vec_push(arena, &c->made, made)) return NULL;
    ps_map_put(&c->lengths, key, sizeof key, c->made.len - 1);
    return &c->made.data[c->made.len - 1];
}

/* Whether an equal check comes before on every way here. */
static bool has_passed(Check *c, const uint64_t key[3], PsRef at) {
    uint64_t before;
    if (!ps_map_get(&c->passed, key, 3 * sizeof *key, &before)) return false;
    return ps_region_contains(c->f, ps_op(c->f, (PsRef)before)->region, at);
}

static void note(Check *c, const uint64_t key[3], PsRef check) {
    ps_map_put(&c->passed, key, 3 * sizeof *key, check);
}

static void check_axis(Check *c, PsRef place, uint32_t axis) {
    PsFunc *f = c->f;
    PsRef array = ps_op_arg(f, place, 0), index = ps_op_arg(f, place, axis + 1);
    int64_t param = passes_array_param(f, array);
    uint64_t which = param >= 0 ? (uint64_t)param : (uint64_t)array << 32;
    uint64_t key[3] = {index, which, axis};
    if (passes_in_bounds(f, index, param, axis) || has_passed(c, key, place)) return;
    const Length *length = length_of(c, array, axis);
    if (!length) return;
    PsBuilder b = passes_before(f, place);
    PsRef wide = ps_build_cast(&b, index, PS_I64);
    /* as unsigned numbers, so that one comparison does for both ends */
    PsRef ok = ps_build_binary(&b, PS_OP_LT, ps_build_cast(&b, wide, PS_U64), length->u64);
    PsRef args[4] = {ok, wide, ps_build_int(&b, PS_I64, axis), length->i64};
    note(c, key, ps_build_op(&b, PS_OP_CHECK, PS_KIND_NONE, args, 4, PS_FAULT_BOUNDS));
}

/* An element of a tile's place; its lengths are constants. */
static void check_elem(Check *c, PsRef elem, uint32_t axis) {
    PsFunc *f = c->f;
    PsRef index = ps_op_arg(f, elem, axis + 1);
    const PsTypeInfo *place = ps_type_info(f->module, ps_op(f, ps_op_arg(f, elem, 0))->type);
    int64_t length = ps_type_info(f->module, place->elem)->shape[axis];
    PsRange range = ps_range_of(f, index);
    uint64_t key[3] = {index, a_length | (uint64_t)length, axis};
    if ((range.lo >= 0 && range.hi < length) || has_passed(c, key, elem)) return;
    PsBuilder b = passes_before(f, elem);
    PsRef wide = ps_build_cast(&b, index, PS_I64), end = ps_build_int(&b, PS_I64, length);
    PsRef ok = ps_build_binary(&b, PS_OP_LT, ps_build_cast(&b, wide, PS_U64), ps_build_cast(&b, end, PS_U64));
    PsRef args[4] = {ok, wide, ps_build_int(&b, PS_I64, axis), end};
    note(c, key, ps_build_op(&b, PS_OP_CHECK, PS_KIND_NONE, args, 4, PS_FAULT_BOUNDS));
}

static void check_division(Check *c, PsRef op) {
    PsFunc *f = c->f;
    PsRef a = ps_op_arg(f, op, 0), divisor = ps_op_arg(f, op, 1);
    PsType type = ps_op(f, op)->type;
    if (!passes_is_int(f->module, type)) return;
    PsRange range = ps_range_of(f, divisor);
    uint64_t key[3] = {divisor, a, no_axis}; /* the dividend is part of the message */
    if (range.lo > 0 || range.hi < 0 || has_passed(c, key, op)) return;
    PsBuilder b = passes_before(f, op);
    PsRef ok = ps_build_binary(&b, PS_OP_NE, divisor, ps_build_int(&b, type, 0));
    PsRef args[3] = {ok, ps_build_cast(&b, a, PS_I64)};
    if (type == PS_U64) args[2] = ps_build_int(&b, PS_U1, 1);
    note(c, key, ps_build_op(&b, PS_OP_CHECK, PS_KIND_NONE, args, type == PS_U64 ? 3 : 2, PS_FAULT_DIV_ZERO));
}

static void check_op(Check *c, PsRef op) {
    switch (ps_op(c->f, op)->code) {
    case PS_OP_PLACE:
        for (uint32_t axis = 0; axis + 1 + ps_op(c->f, op)->imm < ps_op(c->f, op)->nargs; axis++)
            check_axis(c, op, axis);
        break;
    case PS_OP_ELEM:
        for (uint32_t axis = 0; axis + 1 < ps_op(c->f, op)->nargs; axis++) check_elem(c, op, axis);
        break;
    case PS_OP_FLOORDIV:
    case PS_OP_MOD:
    case PS_OP_TRUNCDIV:
    case PS_OP_TRUNCMOD: check_division(c, op); break;
    case PS_OP_ADD:
    case PS_OP_SUB:
    case PS_OP_MUL:
    case PS_OP_SHL: passes_check_overflow(c->f, op); break;
    default: break;
    }
}

PsStatus ps_pass_check(PsModule *m, PsDiag *diag) {
    (void)diag;
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        Check c = {.f = m->funcs.data[i]};
        ps_map_init(&c.lengths, m->arena);
        ps_map_init(&c.passed, m->arena);
        for (PsRef r = ps_walk_first(c.f), next; r; r = next) {
            next = ps_walk_next(c.f, r);
            check_op(&c, r);
        }
    }
    return PS_OK;
}
