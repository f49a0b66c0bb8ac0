/* SPDX-License-Identifier: Apache-2.0
 *
 * What a for runs over: ranges, ti.ndrange, arrays. Bounds are evaluated once. A parallel loop's are i32; wider ones are
 * clamped to it, never wrapped, so that a domain too large is refused when the kernel runs. A serial loop with a wider
 * bound has an index that wide: i64, which no bound goes beyond; u64 when both bounds are u64s.
 */
#include "front/loop/loop_int.h"

static PsStatus check_bound(Loop *l, const PsValue *value) {
    PsType type = loop_numeric(l, value);
    int64_t known;
    if (!type || loop_is_float(type)) return FAIL(l, RANGE_TYPE, loop_describe(l, value));
    if (value->kind == PS_VALUE_PYTHON && !ps_number_int(value->object, &known))
        return FAIL(l, RANGE_LARGE, loop_describe(l, value), (long long)INT64_MAX);
    return PS_OK;
}

static PsValue zero(void) { return ps_value_python(Py_False); }

PsStatus loop_range_domain(Loop *l, const CallArgs *args, PsDomain *out) {
    if (args->nnamed) return FAIL(l, RANGE_KEYWORDS);
    if (args->nargs != 1 && args->nargs != 2) return FAIL(l, RANGE_ARGS, args->nargs);
    *out = (PsDomain){.ndim = 1, .is_range = true};
    out->lo[0] = args->nargs == 2 ? args->args[0] : zero();
    out->hi[0] = args->args[args->nargs - 1];
    TRY(check_bound(l, &out->lo[0]));
    return check_bound(l, &out->hi[0]);
}

PsStatus loop_array_domain(Loop *l, const PsValue *array, PsDomain *out) {
    *out = (PsDomain){.ndim = (uint32_t)loop_axes(l, array)};
    for (uint32_t i = 0; i < out->ndim; i++) {
        int64_t first = loop_first_index(array, (int)i);
        out->axes[i] = (uint8_t)i;
        out->lo[i] = zero();
        TRY(loop_dim(l, array, (int)i, &out->hi[i]));
        if (!first) continue;
        PsRef lo = ps_build_int(loop_b(l), PS_I32, first);
        out->lo[i] = loop_value(l, lo);
        out->hi[i] = loop_value(l, ps_build_binary(loop_b(l), PS_OP_ADD, out->hi[i].ref, lo));
    }
    return PS_OK;
}

/* -- ti.ndrange -- */

static PsStatus ndrange_axis(Loop *l, const PsValue *arg, PsValue *lo, PsValue *hi) {
    PsValue *items;
    uint32_t n;
    *lo = zero();
    *hi = *arg;
    bool sequence = loop_is_tile(l, arg) ||
                    (arg->kind == PS_VALUE_PYTHON && (PyTuple_Check(arg->object) || PyList_Check(arg->object)));
    if (sequence) {
        TRY(loop_items(l, arg, &items, &n));
        if (n != 2) return FAIL(l, NDRANGE_ARG, loop_describe(l, arg));
        *lo = items[0];
        *hi = items[1];
    } else if (!loop_numeric(l, arg))
        return FAIL(l, NDRANGE_ARG, loop_describe(l, arg));
    for (int i = 0; i < 2; i++) {
        const PsValue *bound = i ? hi : lo;
        PsType type = loop_numeric(l, bound);
        if (!type || loop_is_float(type)) return FAIL(l, NDRANGE_TYPE, loop_describe(l, bound));
    }
    return PS_OK;
}

static PsStatus ndrange_axes(Loop *l, const PsValue *axes, PsDomain *domain) {
    PsValue *items;
    uint32_t n, seen = 0;
    TRY(loop_items(l, axes, &items, &n));
    if (n != domain->ndim) return FAIL(l, NDRANGE_AXES_COUNT, n, domain->ndim);
    for (uint32_t i = 0; i < n; i++) {
        int64_t axis;
        if (items[i].kind != PS_VALUE_PYTHON || !PyLong_Check(items[i].object) ||
            PyBool_Check(items[i].object) || !ps_number_int(items[i].object, &axis))
            return FAIL(l, NDRANGE_AXES_TYPE, loop_describe(l, &items[i]));
        if (axis < 0 || axis >= n || seen >> axis & 1) return FAIL(l, NDRANGE_AXES, n);
        seen |= 1u << axis;
        domain->axes[i] = (uint8_t)axis;
    }
    domain->has_axes = true;
    return PS_OK;
}

PsStatus loop_make_ndrange(Loop *l, const CallArgs *args, PsValue *out) {
    PsDomain *domain = ps_arena_alloc(l->front.arena, sizeof *domain);
    if (!domain) return PS_NOMEM;
    if (args->nargs > PS_MAX_AXES) return FAIL(l, NDRANGE_COUNT, PS_MAX_AXES, args->nargs);
    domain->ndim = args->nargs;
    for (uint32_t i = 0; i < args->nargs; i++) {
        domain->axes[i] = (uint8_t)i;
        TRY(ndrange_axis(l, &args->args[i], &domain->lo[i], &domain->hi[i]));
    }
    for (uint32_t i = 0; i < args->nnamed; i++) {
        if (PyUnicode_CompareWithASCIIString(args->names[i], "axes") != 0)
            return loop_no_keywords(l, "ndrange", args);
        const PsValue *axes = &args->named[i];
        if (axes->kind != PS_VALUE_PYTHON || axes->object != Py_None) TRY(ndrange_axes(l, axes, domain));
    }
    *out = (PsValue){.kind = PS_VALUE_NDRANGE, .domain = domain};
    return PS_OK;
}

PsStatus loop_known_ndrange(Loop *l, PsValue *value) {
    if (value->kind != PS_VALUE_PYTHON || !Py_IS_TYPE(value->object, l->front.types->ndrange)) return PS_OK;
    const PsNdrangeObject *object = (PsNdrangeObject *)value->object;
    PsValue bounds = ps_value_python(object->bounds);
    CallArgs args = {0};
    TRY(loop_items(l, &bounds, &args.args, &args.nargs));
    TRY(loop_make_ndrange(l, &args, value));
    for (uint32_t i = 0; i < args.nargs; i++) value->domain->axes[i] = (uint8_t)object->axes[i];
    value->domain->has_axes = object->reordered;
    return PS_OK;
}

/* -- bounds -- */

/* Beyond i32, or of a type that may be. */
static bool is_wide(Loop *l, const PsValue *value) {
    PsType type = loop_numeric(l, value);
    int64_t known;
    if (value->kind == PS_VALUE_PYTHON && ps_number_int(value->object, &known))
        return known < INT32_MIN || known > INT32_MAX;
    return ps_scalar_bits(type) == 64 || type == PS_U32;
}

static bool is_u64(const PsValue *value) {
    return (value->kind == PS_VALUE_SCALAR || value->kind == PS_VALUE_PLACE) && value->type == PS_U64;
}

PsType loop_bounds_type(Loop *l, const PsValue *lo, const PsValue *hi) {
    if (is_u64(lo) && is_u64(hi)) return PS_U64;
    return is_wide(l, lo) || is_wide(l, hi) ? PS_I64 : PS_I32;
}

PsStatus loop_bound_as(Loop *l, const PsValue *value, PsType type, PsRef *out) {
    if (is_u64(value) && type != PS_U64) {
        PsBuilder *b = loop_b(l);
        PsRef fits = ps_build_binary(b, PS_OP_MIN, loop_load(l, value).ref, ps_build_int(b, PS_U64, INT64_MAX));
        *out = ps_build_cast(b, fits, PS_I64);
        return PS_OK;
    }
    return loop_as(l, value, type, out);
}

static PsStatus check_parallel_bound(Loop *l, const PsValue *value) {
    int64_t known;
    TRY(check_bound(l, value));
    if (value->kind != PS_VALUE_PYTHON) return PS_OK;
    ps_number_int(value->object, &known);
    if (known < -(int64_t)PS_INDEX_LIMIT || known > PS_INDEX_LIMIT)
        return FAIL(l, RANGE_LARGE, loop_describe(l, value), (long long)PS_INDEX_LIMIT);
    return PS_OK;
}

/* The i64 moved into [least, most]. */
static PsRef clamp(PsBuilder *b, PsRef value, int64_t least, int64_t most) {
    value = ps_build_binary(b, PS_OP_MIN, value, ps_build_int(b, PS_I64, most));
    return ps_build_binary(b, PS_OP_MAX, value, ps_build_int(b, PS_I64, least));
}

/* IR's loops count in signed integers: those keep the order of unsigned ones whose top bit is flipped. */
PsRef loop_flip_order(Loop *l, PsRef value, PsType type) {
    PsBuilder *b = loop_b(l);
    return ps_build_binary(b, PS_OP_XOR, ps_build_cast(b, value, type), ps_build_int(b, type, INT64_MIN));
}

/* lo < hi of i64s; of u64s before they were cut to i64 too. */
static PsRef any_between(Loop *l, const PsValue *lo, const PsValue *hi, PsRef lo64, PsRef hi64) {
    PsBuilder *b = loop_b(l);
    if (is_u64(lo) && is_u64(hi)) lo64 = loop_load(l, lo).ref, hi64 = loop_load(l, hi).ref;
    PsRef any = ps_build_binary(b, PS_OP_LT, lo64, hi64);
    if (!is_u64(hi) || is_u64(lo)) return any;
    PsRef beyond = ps_build_binary(b, PS_OP_GT, loop_load(l, hi).ref, ps_build_int(b, PS_U64, INT64_MAX));
    return ps_build_binary(b, PS_OP_OR, any, beyond);
}

/* What has iterations keeps some, what has none gets none: both ends beyond i32 must not meet at its end. */
static void clamp_both(PsBuilder *b, PsRef any, PsRef *lo, PsRef *hi) {
    *lo = clamp(b, *lo, INT32_MIN, INT32_MAX - 1);
    *hi = ps_build_select(b, any, clamp(b, *hi, INT32_MIN + 1, INT32_MAX), *lo);
}

PsStatus loop_parallel_bounds(Loop *l, const PsValue *lo, const PsValue *hi, PsRef *out_lo, PsRef *out_hi) {
    PsBuilder *b = loop_b(l);
    TRY(check_parallel_bound(l, lo));
    TRY(check_parallel_bound(l, hi));
    PsType type = loop_bounds_type(l, lo, hi) == PS_I32 ? PS_I32 : PS_I64;
    TRY(loop_bound_as(l, lo, type, out_lo));
    TRY(loop_bound_as(l, hi, type, out_hi));
    if (type == PS_I32) return PS_OK;
    if (lo->kind == PS_VALUE_PYTHON) { /* within the limit */
        *out_hi = clamp(b, *out_hi, INT32_MIN, INT32_MAX);
    } else {
        PsRef any = any_between(l, lo, hi, *out_lo, *out_hi);
        clamp_both(b, any, out_lo, out_hi);
    }
    *out_lo = ps_build_cast(b, *out_lo, PS_I32);
    *out_hi = ps_build_cast(b, *out_hi, PS_I32);
    return PS_OK;
}
