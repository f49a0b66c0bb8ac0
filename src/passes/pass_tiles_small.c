/* SPDX-License-Identifier: Apache-2.0
 *
 * pass_tiles_small: ops on tiles of at most TILES_SMALL elements, as one scalar op for each element. The order of what is
 * computed is that of the evaluator, element by element: sums from the first term on.
 */
#include "passes/pass_tiles.h"

#include <string.h>

static PsRef arg_of(const Tiles *c, PsRef op, uint32_t i) { return ps_op_arg(c->f, op, i); }

/* What element k of a small tile is. */
static void set_element(Tiles *c, uint32_t first, int64_t k, PsRef value) {
    c->elements.data[first + (uint32_t)k] = value;
}

void tiles_small_map(Tiles *c, PsRef op) {
    PsOp o = *ps_op(c->f, op);
    PsBuilder b = passes_before(c->f, op);
    PsType elem = ps_type_element(c->m, o.type);
    int64_t count = tiles_count(c, op);
    uint32_t first = tiles_set_scalars(c, op, count);
    PsRef before[3] = {0}, value = 0;
    for (int64_t k = 0; k < count; k++) {
        PsRef args[3] = {0};
        for (uint32_t i = 0; i < o.nargs && i < PS_COUNT(args); i++)
            args[i] = tiles_element(c, arg_of(c, op, i), k);
        bool same = k && !memcmp(args, before, sizeof args); /* splats */
        if (!same) value = ps_build_op(&b, o.code, elem, args, o.nargs, o.imm);
        memcpy(before, args, sizeof args);
        set_element(c, first, k, value);
    }
}

void tiles_small_splat(Tiles *c, PsRef op) {
    int64_t count = tiles_count(c, op);
    uint32_t first = tiles_set_scalars(c, op, count);
    for (int64_t k = 0; k < count; k++) set_element(c, first, k, arg_of(c, op, 0));
}

void tiles_small_tile(Tiles *c, PsRef op) {
    int64_t count = tiles_count(c, op);
    uint32_t first = tiles_set_scalars(c, op, count);
    for (int64_t k = 0; k < count; k++) set_element(c, first, k, arg_of(c, op, (uint32_t)k));
}

void tiles_small_move(Tiles *c, PsRef op) {
    PsRef from = arg_of(c, op, 0);
    PsTypeInfo to = tiles_info(c, op), source = tiles_info(c, from);
    int axes[PS_MAX_AXES];
    int64_t count = tiles_count(c, op);
    tiles_axes(c, op, axes);
    uint32_t first = tiles_set_scalars(c, op, count);
    for (int64_t k = 0; k < count; k++) {
        int64_t rest = k, at[PS_MAX_AXES] = {0}, flat = 0;
        for (int i = to.ndim - 1; i >= 0; i--) {
            if (axes[i] >= 0) at[axes[i]] = rest % to.shape[i];
            rest /= to.shape[i];
        }
        for (int i = 0; i < source.ndim; i++) flat = flat * source.shape[i] + at[i];
        set_element(c, first, k, tiles_element(c, from, flat));
    }
}

void tiles_small_reduce(Tiles *c, PsRef op) {
    PsBuilder b = passes_before(c->f, op);
    PsRef from = arg_of(c, op, 0);
    PsTypeInfo info = tiles_info(c, from);
    uint64_t imm = ps_op(c->f, op)->imm;
    PsOpCode code = ps_ir_combine_op(ps_reduce_combine(imm));
    int64_t axis = (int64_t)ps_reduce_axis(imm), length = info.shape[axis], inner = 1,
            count = tiles_count(c, op);
    for (int64_t i = axis + 1; i < info.ndim; i++) inner *= info.shape[i];
    uint32_t first = tiles_is_tile(c, op) ? tiles_set_scalars(c, op, count) : 0;
    for (int64_t e = 0; e < count; e++) {
        int64_t at = e / inner * length * inner + e % inner;
        PsRef sum = tiles_element(c, from, at);
        for (int64_t k = 1; k < length; k++)
            sum =
                tiles_build_sum(&b, code, sum, tiles_element(c, from, at + k * inner), imm & PS_REDUCE_WRITTEN);
        if (tiles_is_tile(c, op))
            set_element(c, first, e, sum);
        else
            c->to[op] = sum;
    }
}

/* Of integers: `written` as imm 1 of add says. */
PsRef tiles_build_sum(PsBuilder *b, PsOpCode code, PsRef x, PsRef y, bool written) {
    PsRef sum = ps_build_binary(b, code, x, y);
    bool real = passes_is_float(b->func->module, ps_op(b->func, sum)->type);
    if (written && !real && (code == PS_OP_ADD || code == PS_OP_MUL)) ps_op(b->func, sum)->imm = 1;
    return sum;
}

PsRef tiles_build_product(PsBuilder *b, PsRef sum, PsRef x, PsRef y, bool written) {
    PsType type = ps_op(b->func, x)->type;
    if (sum && passes_is_float(b->func->module, type))
        return ps_build_op(b, PS_OP_FMA, type, (PsRef[]){x, y, sum}, 3, 0);
    PsRef product = tiles_build_sum(b, PS_OP_MUL, x, y, written);
    return sum ? tiles_build_sum(b, PS_OP_ADD, product, sum, written) : product;
}

void tiles_small_dot(Tiles *c, PsRef op) {
    PsBuilder b = passes_before(c->f, op);
    PsRef x = arg_of(c, op, 0), y = arg_of(c, op, 1);
    bool written = ps_op(c->f, op)->imm;
    int64_t terms = tiles_info(c, x).shape[1], columns = tiles_info(c, y).shape[1], count = tiles_count(c, op);
    uint32_t first = tiles_set_scalars(c, op, count);
    for (int64_t e = 0; e < count; e++) {
        int64_t row = e / columns * terms, column = e % columns;
        PsRef sum = 0;
        for (int64_t k = 0; k < terms; k++)
            sum = tiles_build_product(&b, sum, tiles_element(c, x, row + k),
                                      tiles_element(c, y, k * columns + column), written);
        set_element(c, first, e, sum);
    }
}

/* -- memory -- */

/* The place of element k. */
static PsRef place_of(Tiles *c, PsBuilder *b, PsRef place, int64_t k) {
    PsTypeInfo info = tiles_info(c, place);
    PsRef at[PS_MAX_AXES];
    for (int i = info.ndim - 1; i >= 0; i--) {
        at[i] = tiles_index(c, k % info.shape[i]);
        k /= info.shape[i];
    }
    return tiles_place(c, b, place, at);
}

void tiles_small_load(Tiles *c, PsRef op) {
    PsBuilder b = passes_before(c->f, op);
    int64_t count = tiles_count(c, op);
    uint32_t first = tiles_set_scalars(c, op, count);
    for (int64_t k = 0; k < count; k++)
        set_element(c, first, k, ps_build_load(&b, place_of(c, &b, arg_of(c, op, 0), k)));
}

void tiles_small_store(Tiles *c, PsRef op) {
    PsBuilder b = passes_before(c->f, op);
    PsRef value = arg_of(c, op, 1);
    for (int64_t k = 0; k < tiles_count(c, value); k++)
        ps_build_store(&b, place_of(c, &b, arg_of(c, op, 0), k), tiles_element(c, value, k));
}

void tiles_small_atomic(Tiles *c, PsRef op) {
    PsOp o = *ps_op(c->f, op);
    PsBuilder b = passes_before(c->f, op);
    PsType elem = ps_type_element(c->m, o.type);
    int64_t count = tiles_count(c, op);
    uint32_t first = tiles_set_scalars(c, op, count);
    for (int64_t k = 0; k < count; k++) {
        PsRef args[3] = {place_of(c, &b, arg_of(c, op, 0), k)};
        for (uint32_t i = 1; i < o.nargs; i++) args[i] = tiles_element(c, arg_of(c, op, i), k);
        set_element(c, first, k, ps_build_op(&b, o.code, elem, args, o.nargs, o.imm));
    }
}
