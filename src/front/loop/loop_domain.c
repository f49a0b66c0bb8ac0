/* SPDX-License-Identifier: Apache-2.0
 *
 * What a for runs over: ranges, ti.ndrange, arrays. Bounds are evaluated once. A parallel loop's are i32; wider ones are
 * clamped to it, never wrapped, so that a domain too large is refused when the kernel runs. A serial loop with a wider
 * bound has an index that wide.
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
    *out = (PsDomain){.ndim = 1};
    out->lo[0] = args->nargs == 2 ? args->args[0] : zero();
    out->hi[0] = args->args[args->nargs - 1];
    TRY(check_bound(l, &out->lo[0]));
    return check_bound(l, &out->hi[0]);
}

PsStatus loop_array_domain(Loop *l, const PsValue *array, PsDomain *out) {
    *out = (PsDomain){.ndim = ps_type_info(l->front.module, array->type)->ndim};
    for (uint32_t i = 0; i < out->ndim; i++) {
        out->lo[i] = zero();
        out->axes[i] = (uint8_t)i;
        TRY(loop_dim(l, array, (int)i, &out->hi[i]));
    }
    return PS_OK;
}

/* -- ti.ndrange -- */

static PsStatus ndrange_axis(Loop *l, const PsValue *arg, PsValue *lo, PsValue *hi) {
    PsValue *items;
    uint32_t n;
    *lo = zero();
    *hi = *arg;
    bool sequence = loop_is_vector(arg) ||
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
            !ps_number_int(items[i].object, &axis))
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
    if (args->nargs == 0 || args->nargs > PS_MAX_AXES) return FAIL(l, NDRANGE_COUNT, PS_MAX_AXES, args->nargs);
    domain->ndim = args->nargs;
    for (uint32_t i = 0; i < args->nargs; i++) {
        domain->axes[i] = (uint8_t)i;
        TRY(ndrange_axis(l, &args->args[i], &domain->lo[i], &domain->hi[i]));
    }
    for (uint32_t i = 0; i < args->nnamed; i++) {
        if (PyUnicode_CompareWithASCIIString(args->names[i], "axes") != 0)
            return loop_no_keywords(l, "ndrange", args);
        TRY(ndrange_axes(l, &args->named[i], domain));
    }
    *out = (PsValue){.kind = PS_VALUE_NDRANGE, .domain = domain};
    return PS_OK;
}

/* -- bounds -- */

PsStatus loop_parallel_bound(Loop *l, const PsValue *value, PsRef *out) {
    PsBuilder *b = loop_b(l);
    PsType type = loop_numeric(l, value);
    int64_t known;
    PsRef wide;
    TRY(check_bound(l, value));
    if (value->kind == PS_VALUE_PYTHON) {
        ps_number_int(value->object, &known);
        if (known < -(int64_t)PS_INDEX_LIMIT || known > PS_INDEX_LIMIT)
            return FAIL(l, RANGE_LARGE, loop_describe(l, value), (long long)PS_INDEX_LIMIT);
        *out = ps_build_int(b, PS_I32, known);
        return PS_OK;
    }
    if (ps_scalar_bits(type) < 32 || type == PS_I32) return loop_as(l, value, PS_I32, out);
    if (type == PS_U64) {
        wide = ps_build_binary(b, PS_OP_MIN, value->ref, ps_build_int(b, PS_U64, INT32_MAX));
    } else {
        wide = ps_build_binary(b, PS_OP_MIN, ps_build_cast(b, value->ref, PS_I64),
                               ps_build_int(b, PS_I64, INT32_MAX));
        wide = ps_build_binary(b, PS_OP_MAX, wide, ps_build_int(b, PS_I64, INT32_MIN));
    }
    *out = ps_build_cast(b, wide, PS_I32);
    return PS_OK;
}
