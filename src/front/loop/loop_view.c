/* SPDX-License-Identifier: Apache-2.0
 *
 * Views: ranges of arrays of one axis, x[a:b], v.subview(offset, size), BufferView(x, offset, size). A view is the array's
 * own value with an offset and a size beside it (PsValue.items), so memory is known by one name however it is cut. Indices
 * are shifted where an element is named; a func that is built once gets the three apart (loop_pass.c).
 *
 * Bounds that a kernel computes are taken as they are; in checked mode a view that is not inside its array is a fault.
 * A BufferView that is given to the kernel is an array like any other (py/py_buffer_view.c).
 */
#include "front/loop/loop_int.h"

bool loop_is_view(const PsValue *value) { return value->kind == PS_VALUE_ARRAY && value->items; }

static PsRef constant(Loop *l, int64_t value) { return ps_build_int(loop_b(l), PS_I64, value); }

static PsRef wide(Loop *l, PsRef ref) { return ps_build_cast(loop_b(l), ref, PS_I64); }

static PsStatus length_of(Loop *l, const PsValue *array, PsRef *out) {
    PsValue dim;
    TRY(loop_dim(l, array, 0, &dim));
    *out = wide(l, dim.ref);
    return PS_OK;
}

static void check_range(Loop *l, PsRef offset, PsRef size, PsRef length) {
    PsBuilder *b = loop_b(l);
    PsRef zero = constant(l, 0), end = ps_build_binary(b, PS_OP_SUB, length, size);
    PsRef some = ps_build_binary(b, PS_OP_GE, size, zero), in = ps_build_binary(b, PS_OP_LE, offset, end);
    PsRef ok = ps_build_binary(b, PS_OP_AND, ps_build_binary(b, PS_OP_GE, offset, zero),
                               ps_build_binary(b, PS_OP_AND, some, in));
    PsRef args[4] = {ok, offset, size, length};
    ps_build_op(b, PS_OP_CHECK, PS_KIND_NONE, args, 4, PS_FAULT_VIEW);
}

/* offset and size are i64. */
static PsStatus make(Loop *l, const PsValue *array, PsRef offset, PsRef size, PsValue *out) {
    PsBuilder *b = loop_b(l);
    PsRef length;
    if (l->front.options->checked) {
        TRY(length_of(l, array, &length));
        check_range(l, offset, size, length);
    }
    if (loop_is_view(array)) offset = ps_build_binary(b, PS_OP_ADD, offset, wide(l, array->items[0].ref));
    *out = *array;
    out->object = NULL; /* what is known of the whole */
    out->items = ps_arena_alloc(l->front.arena, sizeof *out->items * 2);
    if (!out->items) return PS_NOMEM;
    out->items[0] = loop_value(l, ps_build_cast(b, offset, PS_I32));
    out->items[1] = loop_value(l, ps_build_cast(b, size, PS_I32));
    return PS_OK;
}

/* One axis that begins with 0. */
static PsStatus check_array(Loop *l, const PsValue *array) {
    if (array->kind != PS_VALUE_ARRAY) return FAIL(l, VIEW_OF, loop_describe(l, array));
    if (loop_axes(l, array) != 1 || loop_first_index(array, 0))
        return FAIL(l, VIEW_AXES, loop_describe(l, array));
    return PS_OK;
}

static PsStatus number(Loop *l, const PsValue *value, int position, PsRef *out) {
    int64_t known;
    if (value->kind == PS_VALUE_PYTHON && loop_numeric(l, value) && ps_number_int(value->object, &known)) {
        *out = constant(l, known); /* below 0, too: checked mode says what it is */
        return PS_OK;
    }
    TRY(loop_to_index(l, value, position, out));
    *out = wide(l, *out);
    return PS_OK;
}

static PsStatus make_from(Loop *l, const PsValue *array, const PsValue *offset, const PsValue *size,
                          PsValue *out) {
    PsRef from, count;
    TRY(check_array(l, array));
    TRY(number(l, offset, 0, &from));
    TRY(number(l, size, 0, &count));
    return make(l, array, from, count, out);
}

/* -- x[a:b] -- */

/* A bound of a slice; one known to be negative counts from the end. */
static PsStatus bound(Loop *l, PsAst *node, PsRef length, PsRef otherwise, PsRef *out) {
    PsValue value;
    int64_t known;
    *out = otherwise;
    if (!node) return PS_OK;
    TRY(loop_eval(l, node, &value));
    loop_at(l, node);
    if (value.kind == PS_VALUE_PYTHON && value.object == Py_None) return PS_OK;
    TRY(number(l, &value, 0, out));
    if (value.kind == PS_VALUE_PYTHON && ps_number_int(value.object, &known) && known < 0)
        *out = ps_build_binary(loop_b(l), PS_OP_ADD, length, *out);
    return PS_OK;
}

PsStatus loop_slice(Loop *l, PsAst *node, const PsValue *array, PsValue *out) {
    PsRef length, from, to;
    loop_at(l, node);
    TRY(check_array(l, array));
    if (node->c) return FAIL(l, VIEW_STEP);
    TRY(length_of(l, array, &length));
    TRY(bound(l, node->a, length, constant(l, 0), &from));
    TRY(bound(l, node->b, length, length, &to));
    loop_at(l, node);
    return make(l, array, from, ps_build_binary(loop_b(l), PS_OP_SUB, to, from), out);
}

/* -- calls -- */

static PsStatus take(Loop *l, const char *name, const CallArgs *args, const char *const *names, uint32_t n,
                     PsValue *out) {
    bool found[3] = {false};
    if (args->nargs > n) return FAIL(l, METHOD_COUNT, name, n, "s", args->nargs);
    for (uint32_t i = 0; i < args->nargs; i++) out[i] = args->args[i], found[i] = true;
    for (uint32_t i = 0; i < args->nnamed; i++) {
        uint32_t at = 0;
        while (at < n && PyUnicode_CompareWithASCIIString(args->names[i], names[at])) at++;
        if (at == n || found[at]) return loop_no_keywords(l, name, args);
        out[at] = args->named[i];
        found[at] = true;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!found[i]) return FAIL(l, CALL_MISSING, name, names[i]);
    return PS_OK;
}

static const char *const names[] = {"arr", "offset", "size"};

PsStatus loop_call_view(Loop *l, const CallArgs *args, PsValue *out) {
    PsValue given[3] = {0};
    TRY(take(l, "BufferView", args, names, 3, given));
    TRY(loop_from_outside(l, &given[0]));
    return make_from(l, &given[0], &given[1], &given[2], out);
}

PsStatus loop_call_subview(Loop *l, const PsValue *array, const CallArgs *args, PsValue *out) {
    PsValue given[2] = {0};
    TRY(take(l, "subview", args, names + 1, 2, given));
    return make_from(l, array, &given[0], &given[1], out);
}

/* -- elements -- */

/* Checked before it is shifted, as the message is about the index in the program. */
PsStatus loop_view_index(Loop *l, const PsValue *view, PsRef *index) {
    PsBuilder *b = loop_b(l);
    PsType type = loop_type_of(l, *index);
    if (l->front.options->checked && !view->clamp) {
        PsRef at = wide(l, *index), size = wide(l, view->items[1].ref);
        PsRef ok = ps_build_binary(b, PS_OP_LT, ps_build_cast(b, at, PS_U64), ps_build_cast(b, size, PS_U64));
        PsRef args[4] = {ok, at, constant(l, 0), size};
        ps_build_op(b, PS_OP_CHECK, PS_KIND_NONE, args, 4, PS_FAULT_BOUNDS);
    }
    *index = ps_build_binary(b, PS_OP_ADD, *index, ps_build_cast(b, view->items[0].ref, type));
    return PS_OK;
}
