/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors and matrices: what counts as one, its element type, its shape, and bringing operands of an operator to one
 * shape. A vector is a tile of one axis, a matrix a tile of two. An operator on them is one op of the IR, whatever
 * their size.
 *
 * A number beside a vector keeps being a number until the operator has found the type of the result (0.1 beside a
 * vector of f64 is 0.1 to f64's precision); `like` of a value says that it is then repeated.
 *
 * Not here: making them (loop_make.c), their elements (loop_part.c), their methods (loop_method.c).
 */
#include "front/loop/loop_int.h"

#define MANY 16 /* elements: passes compute larger tiles by loops */

static const PsMatrixObject *host_matrix(Loop *l, const PsValue *value) {
    if (value->kind != PS_VALUE_PYTHON || !ps_is_matrix(l->front.types, value->object)) return NULL;
    return (const PsMatrixObject *)value->object;
}

/* -- what a value is -- */

PsType loop_tile_type(Loop *l, const PsValue *value) {
    const PsMatrixObject *host = host_matrix(l, value);
    switch ((PsValueKind)value->kind) {
    case PS_VALUE_TILE:
    case PS_VALUE_PARTS: return value->type;
    case PS_VALUE_PLACE: return ps_type_is_scalar(value->type) ? PS_KIND_NONE : value->type;
    case PS_VALUE_PYTHON:
        return host ? ps_type_tile(l->front.module, loop_element(l, value), host->ndim,
                                   (int64_t[]){host->n, host->m})
                    : PS_KIND_NONE;
    default: return PS_KIND_NONE;
    }
}

bool loop_is_tile(Loop *l, const PsValue *value) { return loop_tile_type(l, value) != PS_KIND_NONE; }

PsType loop_element(Loop *l, const PsValue *value) {
    const PsMatrixObject *host = host_matrix(l, value);
    if (host) {
        if (!host->weak || host->elem == PS_U1) return host->elem;
        return host->elem == PS_F64 ? l->front.options->default_fp : l->front.options->default_ip;
    }
    switch ((PsValueKind)value->kind) {
    case PS_VALUE_TILE:
    case PS_VALUE_PLACE:
    case PS_VALUE_PARTS: return ps_type_element(l->front.module, value->type);
    default: return loop_numeric(l, value);
    }
}

int loop_tile_ndim(Loop *l, PsType tile) { return ps_type_info(l->front.module, tile)->ndim; }
int64_t loop_tile_axis(Loop *l, PsType tile, int axis) {
    return axis < loop_tile_ndim(l, tile) ? ps_type_info(l->front.module, tile)->shape[axis] : 1;
}
int64_t loop_tile_count(Loop *l, PsType tile) { return ps_type_count(l->front.module, tile); }

bool loop_same_shape(Loop *l, PsType a, PsType b) {
    return ps_type_with_element(l->front.module, a, PS_U1) == ps_type_with_element(l->front.module, b, PS_U1);
}

/* -- making -- */

PsType loop_vector_type(Loop *l, PsType elem, int64_t n) { return ps_type_tile(l->front.module, elem, 1, &n); }
PsType loop_matrix_type(Loop *l, PsType elem, int64_t n, int64_t m) {
    return ps_type_tile(l->front.module, elem, 2, (int64_t[]){n, m});
}

/* Whether all of n elements are the same constant: then a large tile is one op with one operand. */
static bool all_one_constant(Loop *l, const PsRef *elements, uint32_t n) {
    uint64_t first, bits;
    if (n <= MANY || !ps_op_is_const(loop_b(l)->func, elements[0], &first)) return false;
    for (uint32_t i = 1; i < n; i++)
        if (!ps_op_is_const(loop_b(l)->func, elements[i], &bits) || bits != first) return false;
    return true;
}

static PsRef build_tile(Loop *l, PsType type, const PsRef *elements, uint32_t n) {
    if (all_one_constant(l, elements, n)) return ps_build_op(loop_b(l), PS_OP_SPLAT, type, elements, 1, 0);
    return ps_build_op(loop_b(l), PS_OP_TILE, type, elements, n, 0);
}

PsValue loop_tile(Loop *l, PsType type, const PsRef *elements) {
    return loop_value(l, build_tile(l, type, elements, (uint32_t)loop_tile_count(l, type)));
}

PsRef loop_splat(Loop *l, PsRef scalar, PsType like) {
    PsType type = ps_type_with_element(l->front.module, like, loop_type_of(l, scalar));
    return ps_build_op(loop_b(l), PS_OP_SPLAT, type, &scalar, 1, 0);
}

PsRef loop_const_like(Loop *l, PsRef like, int64_t value) {
    PsType type = loop_type_of(l, like);
    PsRef number = ps_build_int(loop_b(l), ps_type_element(l->front.module, type), value);
    return ps_type_is_scalar(type) ? number : loop_splat(l, number, type);
}

/* How many elements of a host vector or matrix are to be converted: one, if it is large and all are the same. */
static uint32_t distinct(const PsMatrixObject *host, uint32_t n) {
    if (n <= MANY) return n;
    for (uint32_t i = 1; i < n; i++)
        if (host->words[i] != host->words[0]) return n;
    return 1;
}

/* A host vector or matrix as a tile of the element type. Plain numbers keep their precision. */
PsStatus loop_host_tile(Loop *l, const PsValue *value, PsType elem, PsRef *out) {
    const PsMatrixObject *host = host_matrix(l, value);
    PsType own = host->weak ? elem : host->elem,
           type = ps_type_with_element(l->front.module, loop_tile_type(l, value), own);
    uint32_t count = (uint32_t)loop_tile_count(l, type), n = distinct(host, count);
    PsRef *elements = ps_arena_alloc(l->front.arena, sizeof *elements * n);
    if (!elements) return PS_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        bool exact;
        if (!host->weak) {
            elements[i] = ps_build_const(loop_b(l), own, host->words[i]);
            continue;
        }
        PyObject *number = ps_front_keep(&l->front, ps_matrix_element(host, i));
        if (!number) return PS_PYERR;
        TRY(ps_number_cast(&l->front, number, elem, &elements[i], &exact));
    }
    PsRef tile = n < count ? loop_splat(l, elements[0], type) : build_tile(l, type, elements, n);
    *out = ps_build_cast(loop_b(l), tile, ps_type_with_element(l->front.module, type, elem));
    return PS_OK;
}

/* The tile's element type joined over scalars or rows. */
static PsStatus joined_type(Loop *l, const PsValue *items, uint32_t n, PsType *out) {
    *out = PS_KIND_NONE;
    for (uint32_t i = 0; i < n; i++) {
        PsType type = loop_element(l, &items[i]);
        if (!type) return FAIL(l, TILE_ELEMENT, loop_describe(l, &items[i]));
        *out = *out ? loop_promote_keep(*out, type) : type;
    }
    return PS_OK;
}

static bool is_sequence(const PsValue *value) {
    return value->kind == PS_VALUE_PYTHON && (PyTuple_Check(value->object) || PyList_Check(value->object));
}

/* The elements of a row, appended as ops of the type. */
static PsStatus add_row(Loop *l, const PsValue *row, PsType elem, PsRef *out, int64_t m) {
    PsValue *items;
    uint32_t n;
    TRY(loop_items(l, row, &items, &n));
    if (n != m) return FAIL(l, TILE_ROWS, (long long)m, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!loop_numeric(l, &items[i])) return FAIL(l, TILE_ELEMENT, loop_describe(l, &items[i]));
        TRY(loop_cast(l, &items[i], elem, &out[i]));
    }
    return PS_OK;
}

static PsStatus type_of_row(Loop *l, const PsValue *row, PsType *elem, uint32_t *m) {
    PsValue *items;
    PsType type;
    TRY(loop_items(l, row, &items, m));
    if (!*m) return FAIL(l, TILE_EMPTY);
    TRY(joined_type(l, items, *m, &type));
    *elem = *elem ? loop_promote_keep(*elem, type) : type;
    return PS_OK;
}

static PsStatus make_matrix(Loop *l, const PsValue *rows, uint32_t n, PsType elem, PsValue *out) {
    uint32_t m = 0, other;
    PsType joined = PS_KIND_NONE;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_sequence(&rows[i]) && !loop_is_tile(l, &rows[i]))
            return FAIL(l, TILE_ELEMENT, loop_describe(l, &rows[i]));
        TRY(type_of_row(l, &rows[i], &joined, i ? &other : &m));
        if (i && other != m) return FAIL(l, TILE_ROWS, (long long)m, other);
    }
    if (!elem) elem = joined;
    PsType type = loop_matrix_type(l, elem, n, m);
    if (!type) return FAIL(l, TILE_SIZE, (unsigned)PS_MAX_TILE);
    PsRef *elements = ps_arena_alloc(l->front.arena, sizeof *elements * ((size_t)n * m + 1));
    if (!elements) return PS_NOMEM;
    for (uint32_t i = 0; i < n; i++) TRY(add_row(l, &rows[i], elem, elements + (size_t)i * m, m));
    *out = loop_tile(l, type, elements);
    return PS_OK;
}

PsStatus loop_make_tile(Loop *l, const PsValue *items, uint32_t n, PsType elem, PsValue *out) {
    PsType joined;
    if (!n) return FAIL(l, TILE_EMPTY);
    if (is_sequence(&items[0]) || loop_is_tile(l, &items[0])) return make_matrix(l, items, n, elem, out);
    TRY(joined_type(l, items, n, &joined));
    PsType type = loop_vector_type(l, elem ? elem : joined, n);
    if (!type) return FAIL(l, TILE_SIZE, (unsigned)PS_MAX_TILE);
    PsRef *elements = ps_arena_alloc(l->front.arena, sizeof *elements * (n + 1));
    if (!elements) return PS_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        if (!loop_numeric(l, &items[i])) return FAIL(l, TILE_ELEMENT, loop_describe(l, &items[i]));
        TRY(loop_cast(l, &items[i], elem ? elem : joined, &elements[i]));
    }
    *out = loop_tile(l, type, elements);
    return PS_OK;
}

/* -- operands -- */

static PsStatus shape_of_all(Loop *l, uint32_t n, const PsValue *args, PsType *out) {
    *out = PS_KIND_NONE;
    for (uint32_t i = 0; i < n; i++) {
        PsType type = loop_tile_type(l, &args[i]);
        if (!type) continue;
        if (*out && !loop_same_shape(l, *out, type))
            return FAIL(l, TILE_SHAPES, loop_describe_type(l, *out), loop_describe(l, &args[i]));
        if (!*out) *out = type;
    }
    return PS_OK;
}

PsStatus loop_spread(Loop *l, uint32_t n, PsValue *args, PsType *out) {
    TRY(shape_of_all(l, n, args, out));
    if (!*out) return PS_OK;
    for (uint32_t i = 0; i < n; i++) {
        if (is_sequence(&args[i])) {
            PsValue *items;
            uint32_t count;
            TRY(loop_items(l, &args[i], &items, &count));
            TRY(loop_make_tile(l, items, count, PS_KIND_NONE, &args[i]));
        } else if (!loop_is_tile(l, &args[i])) {
            args[i].like = *out;
        } else {
            args[i] = loop_load(l, &args[i]);
        }
    }
    return shape_of_all(l, n, args, out);
}
