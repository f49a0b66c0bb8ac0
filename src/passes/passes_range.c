/* SPDX-License-Identifier: Apache-2.0
 *
 * passes_range: what values an integer can have, from constants, array lengths and loop bounds. Used to leave out
 * checks that cannot fail and to compute indices in 64 bits where 32 cannot wrap.
 *
 * The search follows operands for a bounded number of steps and gives the type's range where it stops. u64 is known
 * only as a constant: its values need not fit in the signed range. Locals are not followed (pass ssa, later).
 */
#include "passes/passes_int.h"

#define STEPS 32 /* operands one question may visit */
#define DEPTH 12

typedef struct Search {
    const PsFunc *f;
    int steps;
} Search;

static PsRange range_of(Search *s, PsRef value, int depth);

static const PsRange all = {INT64_MIN, INT64_MAX};

static PsRange type_range(PsType type) {
    if (!ps_type_is_scalar(type) || ps_scalar_class(type) == PS_CLASS_FLOAT || type == PS_U64) return all;
    if (type == PS_U1) return (PsRange){0, 1};
    int bits = ps_scalar_bits(type);
    if (ps_scalar_class(type) == PS_CLASS_UINT) return (PsRange){0, (int64_t)(((uint64_t)1 << bits) - 1)};
    return (PsRange){INT64_MIN >> (64 - bits), INT64_MAX >> (64 - bits)};
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* The exact result when it fits in the type; else anything, as it may wrap. */
static PsRange fit(PsType type, __int128 lo, __int128 hi, bool *exact) {
    PsRange limit = type_range(type);
    if (type == PS_U64) limit.lo = 0;
    *exact = lo >= limit.lo && hi <= limit.hi;
    return *exact ? (PsRange){(int64_t)lo, (int64_t)hi} : type_range(type);
}

static PsRange arithmetic(PsOpCode code, PsType type, PsRange a, PsRange b, bool *exact) {
    __int128 al = a.lo, ah = a.hi, bl = b.lo, bh = b.hi;
    if (code == PS_OP_ADD) return fit(type, al + bl, ah + bh, exact);
    if (code == PS_OP_SUB) return fit(type, al - bh, ah - bl, exact);
    __int128 p[4] = {al * bl, al * bh, ah * bl, ah * bh}, lo = p[0], hi = p[0];
    for (int i = 1; i < 4; i++) {
        lo = p[i] < lo ? p[i] : lo;
        hi = p[i] > hi ? p[i] : hi;
    }
    return fit(type, lo, hi, exact);
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); } /* b > 0 */

/* Division and remainder by something positive. */
static PsRange divided(PsOpCode code, PsType type, PsRange a, PsRange b) {
    if (b.lo <= 0) return type_range(type);
    switch (code) {
    case PS_OP_FLOORDIV:
        return (PsRange){floor_div(a.lo, a.lo < 0 ? b.lo : b.hi), floor_div(a.hi, a.hi < 0 ? b.hi : b.lo)};
    case PS_OP_TRUNCDIV: return (PsRange){a.lo / (a.lo < 0 ? b.lo : b.hi), a.hi / (a.hi < 0 ? b.hi : b.lo)};
    case PS_OP_TRUNCMOD:
        return (PsRange){a.lo >= 0 ? 0 : larger(a.lo, 1 - b.hi), a.hi <= 0 ? 0 : smaller(a.hi, b.hi - 1)};
    default: /* mod */ return a.lo >= 0 ? (PsRange){0, smaller(a.hi, b.hi - 1)} : (PsRange){0, b.hi - 1};
    }
}

/* a & b, where a value that cannot be negative bounds the result. */
static PsRange masked(PsType type, PsRange a, PsRange b) {
    if (a.lo < 0 && b.lo < 0) return type_range(type);
    int64_t hi = a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : smaller(a.hi, b.hi);
    return (PsRange){0, hi};
}

/* The bounds of the loop that a parameter counts: false when it is no loop's. */
static bool loop_bounds(const Search *s, PsRef param, PsRef *lo, PsRef *hi, PsOpCode *code) {
    PsRef owner = ps_region(s->f, ps_op(s->f, param)->region0)->owner;
    *code = owner ? ps_op(s->f, owner)->code : PS_OP_NONE;
    uint32_t axis = (uint32_t)ps_op(s->f, param)->imm;
    if ((*code != PS_OP_FOR && *code != PS_OP_PARFOR) || 2 * axis + 1 >= ps_op(s->f, owner)->nargs)
        return false;
    *lo = ps_op_arg(s->f, owner, 2 * axis);
    *hi = ps_op_arg(s->f, owner, 2 * axis + 1);
    return true;
}

static PsRange param_range(Search *s, PsRef param, int depth) {
    PsRange whole = type_range(ps_op(s->f, param)->type);
    PsRef lo, hi;
    PsOpCode code;
    if (!loop_bounds(s, param, &lo, &hi, &code)) return whole;
    if (code == PS_OP_PARFOR) whole = (PsRange){-PS_INDEX_LIMIT, PS_INDEX_LIMIT - 1};
    int64_t first = range_of(s, lo, depth).lo, end = range_of(s, hi, depth).hi;
    PsRange r = {larger(whole.lo, first), end == INT64_MIN ? end : smaller(whole.hi, end - 1)};
    if (r.hi < r.lo) r.hi = r.lo; /* the loop does not run */
    return r;
}

static PsRange cast_range(Search *s, PsRef value, int depth) {
    PsType from = ps_op(s->f, ps_op_arg(s->f, value, 0))->type, to = ps_op(s->f, value)->type;
    PsRange whole = type_range(to), a = range_of(s, ps_op_arg(s->f, value, 0), depth);
    if (to == PS_U1 || !ps_type_is_scalar(from) || ps_scalar_class(from) == PS_CLASS_FLOAT) return whole;
    if (from == PS_U64 && a.lo < 0) return whole;
    if (to == PS_U64) return a.lo >= 0 ? a : whole;
    return a.lo >= whole.lo && a.hi <= whole.hi ? a : whole;
}

static PsRange const_range(const PsOp *o) {
    int64_t v = passes_signed(o->type, o->imm);
    return o->type == PS_U64 && v < 0 ? all : (PsRange){v, v};
}

static PsRange binary_range(Search *s, PsRef value, int depth) {
    const PsOp *o = ps_op(s->f, value);
    PsOpCode code = o->code;
    PsType type = o->type;
    if (type == PS_U64) return all;
    PsRange a = range_of(s, ps_op_arg(s->f, value, 0), depth),
            b = range_of(s, ps_op_arg(s->f, value, 1), depth);
    bool exact;
    switch (code) {
    case PS_OP_MIN: return (PsRange){smaller(a.lo, b.lo), smaller(a.hi, b.hi)};
    case PS_OP_MAX: return (PsRange){larger(a.lo, b.lo), larger(a.hi, b.hi)};
    case PS_OP_AND: return masked(type, a, b);
    case PS_OP_ADD:
    case PS_OP_SUB:
    case PS_OP_MUL: return type == PS_U1 ? type_range(type) : arithmetic(code, type, a, b, &exact);
    case PS_OP_SHR:
        if (b.lo != b.hi || b.lo < 0 || b.lo >= ps_scalar_bits(type)) return type_range(type);
        return (PsRange){a.lo >> b.lo, a.hi >> b.lo};
    default: return divided(code, type, a, b);
    }
}

static PsRange range_of(Search *s, PsRef value, int depth) {
    const PsFunc *f = s->f;
    const PsOp *o = ps_op(f, value);
    PsRange whole = type_range(o->type);
    if (!ps_type_is_scalar(o->type) || ps_scalar_class(o->type) == PS_CLASS_FLOAT) return whole;
    if (o->code == PS_OP_CONST) return const_range(o);
    if (o->code == PS_OP_DIM) return (PsRange){0, PS_INDEX_LIMIT};
    if (s->steps <= 0 || depth <= 0) return whole;
    s->steps--;
    switch (o->code) {
    case PS_OP_PARAM: return param_range(s, value, depth - 1);
    case PS_OP_CAST: return cast_range(s, value, depth - 1);
    case PS_OP_SELECT: {
        PsRange a = range_of(s, ps_op_arg(f, value, 1), depth - 1);
        PsRange b = range_of(s, ps_op_arg(f, value, 2), depth - 1);
        return (PsRange){smaller(a.lo, b.lo), larger(a.hi, b.hi)};
    }
    case PS_OP_ADD:
    case PS_OP_SUB:
    case PS_OP_MUL:
    case PS_OP_MIN:
    case PS_OP_MAX:
    case PS_OP_AND:
    case PS_OP_SHR:
    case PS_OP_FLOORDIV:
    case PS_OP_MOD:
    case PS_OP_TRUNCDIV:
    case PS_OP_TRUNCMOD: return binary_range(s, value, depth - 1);
    default: return whole;
    }
}

PsRange ps_range_of(const PsFunc *f, PsRef value) {
    Search s = {f, STEPS};
    return range_of(&s, value, DEPTH);
}

bool passes_is_exact(const PsFunc *f, PsRef value) {
    const PsOp *o = ps_op(f, value);
    PsRange a = ps_range_of(f, ps_op_arg(f, value, 0)), b = ps_range_of(f, ps_op_arg(f, value, 1));
    bool exact;
    arithmetic(o->code, o->type, a, b, &exact);
    return exact && o->type != PS_U1;
}

/* -- bounds relative to an array's length -- */

typedef struct Length {
    int64_t param;
    uint32_t axis;
} Length;

static bool under_length(Search *s, PsRef value, const Length *of, int depth, int64_t *out);

/* value = a + b or a - b, exact: the bound of a moves by the largest b can add. */
static bool moved(Search *s, PsRef value, const Length *of, int depth, int64_t *out) {
    const PsFunc *f = s->f;
    PsRef a = ps_op_arg(f, value, 0), b = ps_op_arg(f, value, 1);
    bool sub = ps_op(f, value)->code == PS_OP_SUB;
    if (!sub && ps_op(f, a)->code == PS_OP_CONST) {
        PsRef other = a;
        a = b;
        b = other;
    }
    if (!passes_is_exact(f, value) || !under_length(s, a, of, depth, out)) return false;
    PsRange r = range_of(s, b, depth);
    int64_t by = sub ? r.lo : r.hi;
    if (by < -PS_INDEX_LIMIT || by > PS_INDEX_LIMIT) return false; /* also keeps the sums small */
    *out += sub ? -by : by;
    return true;
}

static bool min_under(Search *s, PsRef value, const Length *of, int depth, int64_t *out) {
    int64_t a = 0, b = 0;
    bool know_a = under_length(s, ps_op_arg(s->f, value, 0), of, depth, &a);
    bool know_b = under_length(s, ps_op_arg(s->f, value, 1), of, depth, &b);
    *out = know_a && know_b ? smaller(a, b) : know_a ? a : b;
    return know_a || know_b;
}

/* Whether value <= length + *out can be shown. */
static bool under_length(Search *s, PsRef value, const Length *of, int depth, int64_t *out) {
    const PsFunc *f = s->f;
    const PsOp *o = ps_op(f, value);
    if (s->steps-- <= 0 || depth <= 0) return false;
    switch (o->code) {
    case PS_OP_DIM:
        *out = 0;
        return o->imm == of->axis && passes_array_param(f, ps_op_arg(f, value, 0)) == of->param;
    case PS_OP_CAST: {
        PsRange a = range_of(s, ps_op_arg(f, value, 0), depth), whole = type_range(o->type);
        if (!passes_is_int(f->module, ps_op(f, ps_op_arg(f, value, 0))->type) || o->type == PS_U1) return false;
        if (o->type == PS_U64 || a.lo < whole.lo || a.hi > whole.hi) return false;
        return ps_op(f, ps_op_arg(f, value, 0))->type != PS_U64 &&
               under_length(s, ps_op_arg(f, value, 0), of, depth - 1, out);
    }
    case PS_OP_PARAM: {
        PsRef lo, hi;
        PsOpCode code;
        if (!loop_bounds(s, value, &lo, &hi, &code) || !under_length(s, hi, of, depth - 1, out)) return false;
        *out -= 1;
        return true;
    }
    case PS_OP_ADD:
    case PS_OP_SUB: return moved(s, value, of, depth - 1, out);
    case PS_OP_MIN: return min_under(s, value, of, depth - 1, out);
    default: return false;
    }
}

bool passes_in_bounds(const PsFunc *f, PsRef index, int64_t param, uint32_t axis) {
    Length of = {param, axis};
    Search s = {f, STEPS / 2};
    int64_t over = 0;
    return param >= 0 && ps_range_of(f, index).lo >= 0 && under_length(&s, index, &of, DEPTH, &over) &&
           over < 0;
}
