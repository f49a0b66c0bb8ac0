/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors: the index of a grouped loop and what is computed from it. A vector is its elements and nothing more:
 * operators work element by element, a scalar or a tuple of the same length may stand beside it.
 *
 * Not here: small matrices as tiles of the IR. They come with matrix types.
 */
#include "front/loop/loop_int.h"

bool loop_is_vector(const PsValue *value) { return value->kind == PS_VALUE_VECTOR; }

PsStatus loop_vector_new(Loop *l, uint32_t count, PsValue *out) {
    PsValue *items = ps_arena_alloc(l->front.arena, sizeof *items * (count + 1));
    if (!items) return PS_NOMEM;
    *out = (PsValue){.kind = PS_VALUE_VECTOR, .count = count, .items = items};
    return PS_OK;
}

/* Elements of an operand beside a vector of n; *out NULL: a scalar, the same for all. */
static PsStatus elements(Loop *l, const PsValue *value, uint32_t n, PsValue **out) {
    uint32_t count;
    *out = NULL;
    if (loop_numeric(l, value)) return PS_OK;
    TRY(loop_items(l, value, out, &count));
    return count == n ? PS_OK : FAIL(l, VECTOR_LENGTH, count, n);
}

static uint32_t vector_length(uint32_t nargs, const PsValue *args) {
    for (uint32_t i = 0; i < nargs; i++)
        if (loop_is_vector(&args[i])) return args[i].count;
    return 0;
}

PsStatus loop_vector_map(Loop *l, uint32_t nargs, const PsValue *args,
                         PsStatus (*rule)(Loop *, void *data, const PsValue *args, PsValue *out), void *data,
                         PsValue *out) {
    PsValue *items[4], row[4]; /* no builtin has more operands (builtins.def) */
    uint32_t n = vector_length(nargs, args);
    if (nargs > PS_COUNT(items)) return PS_NOMEM;
    for (uint32_t k = 0; k < nargs; k++) TRY(elements(l, &args[k], n, &items[k]));
    TRY(loop_vector_new(l, n, out));
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < nargs; k++) row[k] = items[k] ? loop_load(l, &items[k][i]) : args[k];
        TRY(rule(l, data, row, &out->items[i]));
    }
    return PS_OK;
}
