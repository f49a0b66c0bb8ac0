/* SPDX-License-Identifier: Apache-2.0
 *
 * Making vectors and matrices: ti.Vector([..]), ti.Matrix([[..]]), and types: vec3(1.0), vec3(v.xy, z), mat2(row, row).
 * A type takes numbers, vectors and lists, whose elements fill it one after the other, or one number for all.
 */
#include "front/loop/loop_int.h"

#include <string.h>

typedef PsVec(PsValue) Values;

/* -- Vector, Matrix -- */

static PsStatus read_dt(Loop *l, const char *name, const CallArgs *args, PsType *out) {
    const PsValue *given = args->nargs > 1 ? &args->args[1] : NULL;
    *out = PS_KIND_NONE;
    for (uint32_t i = 0; i < args->nnamed; i++) {
        if (PyUnicode_CompareWithASCIIString(args->names[i], "dt") != 0 || given)
            return loop_no_keywords(l, name, &(CallArgs){.names = &args->names[i], .nnamed = 1});
        given = &args->named[i];
    }
    if (!given || (given->kind == PS_VALUE_PYTHON && given->object == Py_None)) return PS_OK;
    if (given->kind == PS_VALUE_PYTHON) *out = ps_front_dtype(l->front.types, l->front.options, given->object);
    return *out ? PS_OK : FAIL(l, BUILTIN_DTYPE, name, loop_describe(l, given));
}

static PsStatus converted(Loop *l, const PsValue *value, PsType elem, PsValue *out) {
    PsRef ref;
    TRY(loop_cast(l, value, elem ? elem : loop_element(l, value), &ref));
    *out = loop_value(l, ref);
    return PS_OK;
}

PsStatus loop_make_value(Loop *l, bool vector, CallArgs *args, PsValue *out) {
    const char *name = vector ? "Vector" : "Matrix";
    PsValue *given, *items;
    PsType elem;
    uint32_t n;
    TRY(read_dt(l, name, args, &elem));
    if (args->nargs != 1 && args->nargs != 2) return FAIL(l, MAKE_ARGS, name, args->nargs);
    given = &args->args[0];
    if (given->kind == PS_VALUE_PYTHON && ps_is_numpy(given->object, "ndarray"))
        TRY(ps_value_take(&l->front, PyObject_CallMethod(given->object, "tolist", NULL), given));
    if (loop_is_tile(l, given)) {
        TRY(converted(l, given, elem, out));
    } else {
        bool sequence =
            given->kind == PS_VALUE_PYTHON && (PyTuple_Check(given->object) || PyList_Check(given->object));
        if (!sequence) return FAIL(l, MAKE_FROM, name, loop_describe(l, given));
        TRY(loop_items(l, given, &items, &n));
        TRY(loop_make_tile(l, items, n, elem, out));
    }
    if (vector && loop_tile_ndim(l, out->type) != 1) return FAIL(l, MAKE_VECTOR, loop_describe(l, out));
    return PS_OK;
}

/* -- of a type -- */

PsStatus loop_matrix_type_of(Loop *l, PyObject *object, PsType *out) {
    PsMatrixTypeObject *type = (PsMatrixTypeObject *)object;
    PsType elem = ps_front_dtype(l->front.types, l->front.options, type->dtype);
    *out = ps_type_tile(l->front.module, elem, type->ndim, (int64_t[]){type->n, type->m});
    return *out ? PS_OK : PS_NOMEM;
}

static PsStatus flatten(Loop *l, const PsValue *value, Values *out) {
    PsValue *items;
    uint32_t n;
    if (loop_numeric(l, value)) return ps_vec_push(l->front.arena, out, *value) ? PS_OK : PS_NOMEM;
    bool sequence = loop_is_tile(l, value) || (value->kind == PS_VALUE_PYTHON &&
                                               (PyTuple_Check(value->object) || PyList_Check(value->object)));
    if (!sequence) return FAIL(l, TILE_ELEMENT, loop_describe(l, value));
    TRY(loop_items(l, value, &items, &n));
    TRY(ps_front_deeper(&l->front));
    for (uint32_t i = 0; i < n; i++) TRY(flatten(l, &items[i], out));
    l->front.depth--;
    return PS_OK;
}

PsStatus loop_make_typed(Loop *l, PsType type, CallArgs *args, PsValue *out) {
    PsType elem = ps_type_element(l->front.module, type);
    uint32_t n = (uint32_t)loop_tile_count(l, type);
    PsType given = args->nargs == 1 ? loop_tile_type(l, &args->args[0]) : PS_KIND_NONE;
    Values values = {0};
    TRY(loop_no_keywords(l, loop_describe_type(l, type), args));
    if (given && loop_same_shape(l, given, type)) return converted(l, &args->args[0], elem, out);
    for (uint32_t i = 0; i < args->nargs; i++) TRY(flatten(l, &args->args[i], &values));
    PsRef *refs = ps_arena_alloc(l->front.arena, sizeof *refs * (n + 1));
    if (!refs) return PS_NOMEM;
    if (args->nargs == 1 && loop_numeric(l, &args->args[0])) {
        TRY(loop_cast(l, &values.data[0], elem, &refs[0]));
        *out = loop_value(l, loop_splat(l, refs[0], type));
        return PS_OK;
    }
    if (values.len != n) return FAIL(l, MAKE_COUNT, loop_describe_type(l, type), n, values.len);
    for (uint32_t i = 0; i < n; i++) TRY(loop_cast(l, &values.data[i], elem, &refs[i]));
    *out = loop_tile(l, type, refs);
    return PS_OK;
}

/* -- Matrix.rows, .cols, .diag with runtime values -- */

/* A variable, which starts as zeros, and a loop over its diagonal. */
static PsStatus diagonal(Loop *l, PsType type, PsRef value, int64_t n, PsValue *out) {
    PsBuilder *b = loop_b(l), saved = *b;
    PsRef place = ps_build_var(b, type), op,
          bounds[2] = {ps_build_int(b, PS_I32, 0), ps_build_int(b, PS_I32, n)};
    PsRegion region;
    TRY(loop_build_regions(l, PS_OP_FOR, bounds, 2, &op, &region));
    PsRef i = ps_region_add_param(b->func, region, PS_I32);
    b->region = region;
    ps_build_store(b, ps_build_elem(b, place, (const PsRef[]){i, i}, 2), value);
    *b = saved;
    *out = loop_value(l, ps_build_load(b, place));
    return PS_OK;
}

static PsStatus make_diagonal(Loop *l, CallArgs *given, PsValue *out) {
    static const char *const names[2] = {"dim", "val"};
    PsValue values[2] = {0};
    CallArgs both = *given, *args = &both;
    int64_t n;
    PsRef value;
    for (uint32_t i = 0; i < given->nnamed && given->nargs + given->nnamed == 2; i++) { /* dim=3, val=1.0 */
        uint32_t at = PyUnicode_CompareWithASCIIString(given->names[i], names[0]) == 0 ? 0 : 1;
        if (at < given->nargs || PyUnicode_CompareWithASCIIString(given->names[i], names[at]) != 0)
            return loop_no_keywords(l, "diag", &(CallArgs){.names = &given->names[i], .nnamed = 1});
        values[at] = given->named[i];
    }
    if (given->nnamed && given->nargs + given->nnamed == 2) {
        if (given->nargs) values[0] = given->args[0];
        if (given->nnamed == 2 && PyUnicode_Compare(given->names[0], given->names[1]) == 0)
            return FAIL(l, MAKE_DIAGONAL);
        both = (CallArgs){.args = values, .nargs = 2};
    }
    if (args->nargs != 2 || args->args[0].kind != PS_VALUE_PYTHON || !ps_number_int(args->args[0].object, &n) ||
        n < 1 || !loop_numeric(l, &args->args[1]))
        return FAIL(l, MAKE_DIAGONAL);
    TRY(loop_runtime(l, &args->args[1], &value));
    PsType type = loop_matrix_type(l, loop_type_of(l, value), n, n);
    if (!type) return FAIL(l, TILE_SIZE, (unsigned)PS_MAX_TILE);
    return diagonal(l, type, value, n, out);
}

static PsStatus make_rows(Loop *l, CallArgs *args, bool columns, PsValue *out) {
    PsValue *items;
    uint32_t n;
    if (args->nargs != 1) return FAIL(l, MAKE_ARGS, columns ? "Matrix.cols" : "Matrix.rows", args->nargs);
    TRY(loop_items(l, &args->args[0], &items, &n));
    TRY(loop_make_tile(l, items, n, PS_KIND_NONE, out));
    if (columns) *out = loop_value(l, ps_build_permute(loop_b(l), out->ref, (const uint8_t[]){1, 0}));
    return PS_OK;
}

PsStatus loop_make_static(Loop *l, PyObject *callee, CallArgs *args, PsValue *out, bool *done) {
    *done = false;
    if (!PyCFunction_Check(callee) || l->in_static) return PS_OK;
    PyObject *self = PyCFunction_GET_SELF(callee);
    const char *name = ((PyCFunctionObject *)callee)->m_ml->ml_name;
    if (self != (PyObject *)l->front.types->matrix && self != (PyObject *)l->front.types->vector) return PS_OK;
    bool columns = !strcmp(name, "cols");
    *done = columns || !strcmp(name, "rows") || !strcmp(name, "diag");
    if (!*done) return PS_OK;
    if (!strcmp(name, "diag")) return make_diagonal(l, args, out);
    TRY(loop_no_keywords(l, name, args));
    return make_rows(l, args, columns, out);
}
