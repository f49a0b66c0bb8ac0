/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes and methods of vectors and matrices, and `@`. Sums and products of elements are taken in ascending order,
 * so they have the same bits everywhere. What needs an algorithm (determinant, inverse) is a func of
 * pestle._linalg, in the language itself.
 */
#include "front/loop/loop_int.h"

#include <string.h>

#define MAX_WRITTEN_OUT 4 /* rows; of larger matrices it is a loop */

typedef struct Call {
    const PsValue *self; /* as it was named: a place, if it lies in memory */
    PsValue value;       /* its value, a tile */
    CallArgs *args;
} Call;

static PsType type_of(const Call *c) { return c->value.type; }
static int ndim(Loop *l, const Call *c) { return loop_tile_ndim(l, type_of(c)); }
static int64_t rows(Loop *l, const Call *c) { return loop_tile_axis(l, type_of(c), 0); }
static int64_t columns(Loop *l, const Call *c) { return loop_tile_axis(l, type_of(c), 1); }

static PsStatus binary(Loop *l, PsAstOp op, const PsValue *a, const PsValue *b, PsValue *out) {
    return loop_binary(l, op, a, b, out);
}

static PsStatus builtin(Loop *l, PsBuiltinId id, const PsValue *a, PsValue *out) {
    PsValue args[1] = {*a};
    CallArgs call = {.args = args, .nargs = 1};
    return loop_call_builtin(l, id, &call, out);
}

static PsValue combined(Loop *l, const PsValue *tile, PsCombine combine) {
    return loop_value(l, ps_build_reduce_all(loop_b(l), tile->ref, combine));
}

/* -- shapes -- */

static PsStatus wants_square(Loop *l, const Call *c) {
    if (ndim(l, c) == 2 && rows(l, c) == columns(l, c)) return PS_OK;
    return FAIL(l, SQUARE, (long long)rows(l, c), (long long)columns(l, c));
}

static PsStatus transpose(Loop *l, Call *c, PsValue *out) {
    if (ndim(l, c) != 2) return FAIL(l, TRANSPOSE);
    *out = loop_value(l, ps_build_permute(loop_b(l), c->value.ref, (const uint8_t[]){1, 0}));
    return PS_OK;
}

/* -- sums -- */

static PsStatus sum(Loop *l, Call *c, PsValue *out) {
    PsRef ref;
    PsType elem = loop_element(l, &c->value);
    TRY(loop_as(l, &c->value, elem == PS_U1 ? PS_I32 : elem, &ref));
    *out = loop_value(l, loop_written(l, ps_build_reduce_all(loop_b(l), ref, PS_COMBINE_ADD)));
    return PS_OK;
}
static PsStatus max(Loop *l, Call *c, PsValue *out) {
    *out = combined(l, &c->value, PS_COMBINE_MAX);
    return PS_OK;
}
static PsStatus min(Loop *l, Call *c, PsValue *out) {
    *out = combined(l, &c->value, PS_COMBINE_MIN);
    return PS_OK;
}

static PsStatus truths(Loop *l, Call *c, PsCombine combine, PsValue *out) {
    PsType elem = loop_element(l, &c->value);
    PsRef ref = c->value.ref;
    if (elem != PS_U1) ref = ps_build_binary(loop_b(l), PS_OP_NE, ref, loop_const_like(l, ref, 0));
    *out = loop_value(l, ps_build_reduce_all(loop_b(l), ref, combine));
    return PS_OK;
}
static PsStatus any(Loop *l, Call *c, PsValue *out) { return truths(l, c, PS_COMBINE_OR, out); }
static PsStatus all(Loop *l, Call *c, PsValue *out) { return truths(l, c, PS_COMBINE_AND, out); }

static PsStatus product_sum(Loop *l, const PsValue *a, const PsValue *b, PsValue *out) {
    PsValue product;
    TRY(binary(l, PS_AST_MULT, a, b, &product));
    Call c = {.value = product};
    return sum(l, &c, out);
}

static PsStatus norm_sqr(Loop *l, Call *c, PsValue *out) { return product_sum(l, &c->value, &c->value, out); }

/* sqrt of the sum of squares, plus eps under the root where the method takes one. */
static PsStatus norm(Loop *l, Call *c, PsValue *out) {
    PsValue square;
    TRY(norm_sqr(l, c, &square));
    if (c->args->nargs) TRY(binary(l, PS_AST_ADD, &square, &c->args->args[0], &square));
    return builtin(l, PS_BUILTIN_SQRT, &square, out);
}

static PsStatus divide_one(Loop *l, const PsValue *by, PsValue *out) {
    PsValue one = ps_value_python(Py_True);
    return binary(l, PS_AST_DIV, &one, by, out);
}

static PsStatus norm_inv(Loop *l, Call *c, PsValue *out) {
    PsValue length;
    TRY(norm(l, c, &length));
    return divide_one(l, &length, out);
}

static PsStatus normalized(Loop *l, Call *c, PsValue *out) {
    CallArgs none = {0};
    Call plain = {.value = c->value, .args = &none};
    PsValue length, inverse;
    TRY(norm(l, &plain, &length));
    if (c->args->nargs) TRY(binary(l, PS_AST_ADD, &length, &c->args->args[0], &length));
    TRY(divide_one(l, &length, &inverse));
    return binary(l, PS_AST_MULT, &inverse, &c->value, out);
}

/* -- products -- */

static PsStatus wants_tile(Loop *l, const char *name, PsValue *value) {
    if (!loop_is_tile(l, value)) return FAIL(l, METHOD_ARGUMENT, name, loop_describe(l, value));
    PsRef ref;
    TRY(loop_runtime(l, value, &ref));
    *value = loop_value(l, ref);
    return PS_OK;
}

static PsStatus wants_vectors(Loop *l, const char *name, Call *c) {
    PsValue *other = &c->args->args[0];
    TRY(wants_tile(l, name, other));
    if (ndim(l, c) == 1 && loop_tile_ndim(l, other->type) == 1) return PS_OK;
    return FAIL(l, METHOD_VECTORS, name, loop_describe(l, &c->value), loop_describe(l, other));
}

static PsStatus dot(Loop *l, Call *c, PsValue *out) {
    TRY(wants_vectors(l, "dot", c));
    return product_sum(l, &c->value, &c->args->args[0], out);
}

static PsStatus frobenius(Loop *l, Call *c, PsValue *out) {
    TRY(wants_tile(l, "frobenius_inner", &c->args->args[0]));
    return product_sum(l, &c->value, &c->args->args[0], out);
}

static PsStatus difference(Loop *l, const PsValue *a, int i, int j, const PsValue *b, PsValue *out) {
    PsValue parts[4], left, right;
    TRY(loop_tile_element(l, a, i, 0, &parts[0]));
    TRY(loop_tile_element(l, b, j, 0, &parts[1]));
    TRY(loop_tile_element(l, a, j, 0, &parts[2]));
    TRY(loop_tile_element(l, b, i, 0, &parts[3]));
    TRY(binary(l, PS_AST_MULT, &parts[0], &parts[1], &left));
    TRY(binary(l, PS_AST_MULT, &parts[2], &parts[3], &right));
    return binary(l, PS_AST_SUB, &left, &right, out);
}

static PsStatus cross(Loop *l, Call *c, PsValue *out) {
    static const int others[3][2] = {{1, 2}, {2, 0}, {0, 1}};
    PsValue *b = &c->args->args[0], items[3];
    TRY(wants_vectors(l, "cross", c));
    int64_t n = rows(l, c);
    if (n != loop_tile_axis(l, b->type, 0) || (n != 2 && n != 3))
        return FAIL(l, CROSS, loop_describe(l, &c->value), loop_describe(l, b));
    if (n == 2) return difference(l, &c->value, 0, 1, b, out);
    for (int i = 0; i < 3; i++) TRY(difference(l, &c->value, others[i][0], others[i][1], b, &items[i]));
    return loop_make_tile(l, items, 3, PS_KIND_NONE, out);
}

PsStatus loop_matmul(Loop *l, const PsValue *a, const PsValue *b, PsValue *out) {
    PsType left = loop_tile_type(l, a), right = loop_tile_type(l, b);
    PsBuilder *builder = loop_b(l);
    PsRef x, y;
    if (a->kind == PS_VALUE_ARRAY || b->kind == PS_VALUE_ARRAY)
        return FAIL(l, OPERAND_ARRAY, "@", loop_describe(l, a), loop_describe(l, b));
    if (!left || !right) return FAIL(l, OPERANDS, "@", loop_describe(l, a), loop_describe(l, b), "matrices");
    bool row = loop_tile_ndim(l, left) == 1, column = loop_tile_ndim(l, right) == 1;
    int64_t n = row ? 1 : loop_tile_axis(l, left, 0), k = loop_tile_axis(l, left, row ? 0 : 1);
    int64_t m = loop_tile_axis(l, right, 1);
    if (k != loop_tile_axis(l, right, 0)) return FAIL(l, MATMUL, loop_describe(l, a), loop_describe(l, b));
    PsType elem = loop_promote(loop_element(l, a), loop_element(l, b));
    TRY(loop_as(l, a, elem, &x));
    TRY(loop_as(l, b, elem, &y));
    x = ps_build_reshape(builder, x, 2, (const int64_t[]){n, k});
    y = ps_build_reshape(builder, y, 2, (const int64_t[]){k, m});
    PsRef product = loop_written(l, ps_build_dot(builder, x, y));
    if (row && column) {
        PsRef zero = ps_build_int(builder, PS_I32, 0);
        product = ps_build_extract(builder, product, (const PsRef[]){zero, zero}, 2);
    } else if (row || column)
        product = ps_build_reshape(builder, product, 1, row ? &m : &n);
    *out = loop_value(l, product);
    return PS_OK;
}

static PsStatus outer_product(Loop *l, Call *c, PsValue *out) {
    PsValue *b = &c->args->args[0];
    PsRef x, y;
    TRY(wants_vectors(l, "outer_product", c));
    PsType elem = loop_promote(loop_element(l, &c->value), loop_element(l, b));
    const int64_t shape[2] = {rows(l, c), loop_tile_axis(l, b->type, 0)};
    TRY(loop_as(l, &c->value, elem, &x));
    TRY(loop_as(l, b, elem, &y));
    PsBuilder *builder = loop_b(l);
    x = ps_build_reshape(builder, x, 2, (const int64_t[]){shape[0], 1});
    y = ps_build_reshape(builder, y, 2, (const int64_t[]){1, shape[1]});
    x = ps_build_broadcast(builder, x, 2, shape);
    y = ps_build_broadcast(builder, y, 2, shape);
    *out = loop_value(l, ps_build_binary(builder, PS_OP_MUL, x, y));
    return PS_OK;
}

/* -- algorithms -- */

static PsStatus call_linalg(Loop *l, const char *name, PsValue *value, PsValue *out) {
    PyObject *module = ps_front_keep(&l->front, PyImport_ImportModule("pestle._linalg"));
    PyObject *func = module ? ps_front_keep(&l->front, PyObject_GetAttrString(module, name)) : NULL;
    if (!func) return PS_PYERR;
    PsValue callee = ps_value_python(func);
    CallArgs args = {.args = value, .nargs = 1};
    return loop_call(l, &callee, &args, out);
}

static PsStatus trace(Loop *l, Call *c, PsValue *out) {
    PsValue item;
    TRY(wants_square(l, c));
    if (rows(l, c) > MAX_WRITTEN_OUT) return call_linalg(l, "trace", &c->value, out);
    TRY(loop_tile_element(l, &c->value, 0, 0, out));
    for (int64_t i = 1; i < rows(l, c); i++) {
        TRY(loop_tile_element(l, &c->value, i, i, &item));
        TRY(binary(l, PS_AST_ADD, out, &item, out));
    }
    return PS_OK;
}

static PsStatus of_square(Loop *l, Call *c, const char *name, PsValue *out) {
    TRY(wants_square(l, c));
    PsType elem = loop_element(l, &c->value);
    if (!loop_is_float(elem)) {
        PsRef ref;
        TRY(loop_as(l, &c->value, l->front.options->default_fp, &ref));
        c->value = loop_value(l, ref);
    }
    return call_linalg(l, name, &c->value, out);
}

static PsStatus determinant(Loop *l, Call *c, PsValue *out) { return of_square(l, c, "determinant", out); }
static PsStatus inverse(Loop *l, Call *c, PsValue *out) { return of_square(l, c, "inverse", out); }

/* -- the rest -- */

static PsStatus cast(Loop *l, Call *c, PsValue *out) {
    PsValue both[2] = {c->value, c->args->args[0]};
    CallArgs args = {.args = both, .nargs = 2};
    return loop_call_builtin(l, PS_BUILTIN_CAST, &args, out);
}

static PsStatus fill(Loop *l, Call *c, PsValue *out) {
    *out = ps_value_python(Py_None);
    if (c->self->kind != PS_VALUE_PLACE && c->self->kind != PS_VALUE_PARTS)
        return FAIL(l, READ_ONLY_VALUE, loop_describe(l, c->self));
    if (!loop_numeric(l, &c->args->args[0])) return FAIL(l, NOT_A_NUMBER, loop_describe(l, &c->args->args[0]));
    return loop_store(l, c->self, &c->args->args[0]);
}

static PsStatus copy(Loop *l, Call *c, PsValue *out) {
    (void)l;
    *out = c->value;
    return PS_OK;
}

static PsStatus get_shape(Loop *l, Call *c, PsValue *out) {
    PyObject *shape = ndim(l, c) == 1 ? Py_BuildValue("(L)", (long long)rows(l, c))
                                      : Py_BuildValue("(LL)", (long long)rows(l, c), (long long)columns(l, c));
    return ps_value_take(&l->front, shape, out);
}

static PsStatus to_list(Loop *l, const PsValue *value, PyObject **out) {
    PsValue *items;
    uint32_t n;
    TRY(loop_items(l, value, &items, &n));
    PyObject *list = *out = ps_front_keep(&l->front, PyList_New(n));
    if (!list) return PS_PYERR;
    for (uint32_t i = 0; i < n; i++) {
        PyObject *item;
        if (loop_is_tile(l, &items[i]))
            TRY(to_list(l, &items[i], &item));
        else if (!(item = ps_front_keep(&l->front, ps_value_object(&l->front, &items[i]))))
            return PS_PYERR;
        PyList_SET_ITEM(list, i, Py_NewRef(item));
    }
    return PS_OK;
}

static PsStatus list_of(Loop *l, Call *c, PsValue *out) {
    PyObject *list;
    TRY(to_list(l, &c->value, &list));
    *out = ps_value_python(list);
    return PS_OK;
}

static const struct {
    const char *name;
    uint32_t min_args, max_args;
    PsStatus (*run)(Loop *, Call *, PsValue *out);
} methods[] = {
    {"norm", 0, 1, norm},
    {"norm_sqr", 0, 0, norm_sqr},
    {"norm_inv", 0, 1, norm_inv},
    {"normalized", 0, 1, normalized},
    {"sum", 0, 0, sum},
    {"max", 0, 0, max},
    {"min", 0, 0, min},
    {"any", 0, 0, any},
    {"all", 0, 0, all},
    {"dot", 1, 1, dot},
    {"cross", 1, 1, cross},
    {"outer_product", 1, 1, outer_product},
    {"frobenius_inner", 1, 1, frobenius},
    {"transpose", 0, 0, transpose},
    {"trace", 0, 0, trace},
    {"determinant", 0, 0, determinant},
    {"inverse", 0, 0, inverse},
    {"cast", 1, 1, cast},
    {"fill", 1, 1, fill},
    {"copy", 0, 0, copy},
    {"get_shape", 0, 0, get_shape},
    {"to_list", 0, 0, list_of},
};

/* -- looking up and calling -- */

static int find(const char *name) {
    for (size_t i = 0; i < PS_COUNT(methods); i++)
        if (!strcmp(methods[i].name, name)) return (int)i;
    return -1;
}

PsStatus loop_tile_attribute(Loop *l, const PsValue *base, const char *name, PsValue *out) {
    PsType type = loop_tile_type(l, base);
    int method = find(name), letters[4];
    Call c = {.value = {.type = type}};
    if (method >= 0) {
        PsValue *self = ps_arena_alloc(l->front.arena, sizeof *self);
        if (!self) return PS_NOMEM;
        *self = *base;
        *out = (PsValue){.kind = PS_VALUE_METHOD, .count = (uint32_t)method, .items = self};
        return PS_OK;
    }
    if (!strcmp(name, "n")) return ps_value_take(&l->front, PyLong_FromLongLong(rows(l, &c)), out);
    if (!strcmp(name, "m")) return ps_value_take(&l->front, PyLong_FromLongLong(columns(l, &c)), out);
    if (!strcmp(name, "ndim")) return ps_value_take(&l->front, PyLong_FromLong(ndim(l, &c)), out);
    if (!strcmp(name, "shape")) return get_shape(l, &c, out);
    if (!strcmp(name, "dtype"))
        return ps_value_take(&l->front, Py_NewRef(l->front.types->dtypes[loop_element(l, base)]), out);
    if (ndim(l, &c) == 1 && loop_swizzle(name, letters)) return loop_swizzle_of(l, base, name, out);
    return FAIL(l, ATTRIBUTE_OF, loop_describe(l, base), name,
                ndim(l, &c) == 1
                    ? "components as in .x, .xyz or .rgb, n, shape, dtype and methods such as norm()"
                    : "n, m, shape, dtype and methods such as transpose()");
}

bool loop_has_method(const char *name) { return find(name) >= 0; }

PsStatus loop_call_method(Loop *l, const PsValue *method, CallArgs *args, PsValue *out) {
    const char *name = methods[method->count].name;
    uint32_t least = methods[method->count].min_args, most = methods[method->count].max_args;
    Call c = {.self = &method->items[0], .args = args};
    PsRef ref;
    for (uint32_t i = 0; i < args->nnamed; i++) { /* norm(eps=...) */
        if (i || args->nargs || !most || PyUnicode_CompareWithASCIIString(args->names[i], "eps") != 0)
            return loop_no_keywords(l, name, args);
        args->args = args->named;
        args->nargs = 1;
    }
    if (args->nargs < least || args->nargs > most)
        return FAIL(l, METHOD_COUNT, name, most, most == 1 ? "" : "s", args->nargs);
    TRY(loop_runtime(l, c.self, &ref));
    c.value = loop_value(l, ref);
    return methods[method->count].run(l, &c, out);
}
