/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_build_tile: builders for tiles. They leave out ops that would only name what there is already: an element, at
 * constant indices, of a tile that was just made; a reshape to the same shape. Front ends take tiles apart and put them
 * together all the time, and every op not made is one no pass has to read. What is computed never changes.
 */
#include "ir/ir_int.h"

#include <string.h>

static const PsTypeInfo *tile_info(const PsBuilder *b, PsRef r) {
    return ps_type_info(b->func->module, ps_op(b->func, r)->type);
}

PsRef ps_build_tile(PsBuilder *b, PsType tile, const PsRef *elements, uint32_t n) {
    return ps_build_op(b, PS_OP_TILE, tile, elements, n, 0);
}

PsRef ps_build_splat(PsBuilder *b, PsType type, PsRef a) {
    if (ps_op(b->func, a)->type == type) return a;
    return ps_build_op(b, PS_OP_SPLAT, type, &a, 1, 0);
}

/* -- elements -- */

/* The constant indices of a tile's element; false: not constant, or outside. */
static bool const_indices(const PsBuilder *b, PsRef tile, const PsRef *indices, uint32_t n, int64_t *out) {
    const PsTypeInfo *info = tile_info(b, tile);
    uint64_t bits;
    if (info->kind != PS_KIND_TILE || n != info->ndim) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!ps_op_is_const(b->func, indices[i], &bits) || bits >= (uint64_t)info->shape[i]) return false;
        out[i] = (int64_t)bits;
    }
    return true;
}

static int64_t flat_index(const PsTypeInfo *info, const int64_t *at) {
    int64_t flat = 0;
    for (int i = 0; i < info->ndim; i++) flat = flat * info->shape[i] + at[i];
    return flat;
}

static void from_flat(const PsTypeInfo *info, int64_t flat, int64_t *at) {
    for (int i = info->ndim - 1; i >= 0; i--) {
        at[i] = flat % info->shape[i];
        flat /= info->shape[i];
    }
}

/* Follows an element through ops that only move elements: the tile it comes from, `at` in it. */
static PsRef find_source(const PsBuilder *b, PsRef tile, int64_t *at) {
    for (;;) {
        const PsOp *op = ps_op(b->func, tile);
        const PsTypeInfo *info = tile_info(b, tile);
        if (op->code != PS_OP_RESHAPE && op->code != PS_OP_BROADCAST && op->code != PS_OP_PERMUTE) return tile;
        PsRef from = ps_op_arg(b->func, tile, 0);
        int64_t moved[PS_MAX_AXES] = {0};
        if (op->code == PS_OP_RESHAPE) from_flat(tile_info(b, from), flat_index(info, at), moved);
        for (int i = 0; i < info->ndim; i++) {
            if (op->code == PS_OP_BROADCAST) moved[i] = tile_info(b, from)->shape[i] == 1 ? 0 : at[i];
            if (op->code == PS_OP_PERMUTE) moved[op->imm >> 4 * i & 15] = at[i];
        }
        memcpy(at, moved, sizeof moved);
        tile = from;
    }
}

PsRef ps_build_extract(PsBuilder *b, PsRef tile, const PsRef *indices, uint32_t n) {
    int64_t at[PS_MAX_AXES] = {0};
    PsRef args[PS_MAX_AXES + 1] = {tile};
    if (n > PS_MAX_AXES) return 0;
    if (const_indices(b, tile, indices, n, at)) {
        PsRef from = find_source(b, tile, at);
        const PsOp *op = ps_op(b->func, from);
        if (op->code == PS_OP_SPLAT) return ps_op_arg(b->func, from, 0);
        if (op->code == PS_OP_TILE)
            return ps_op_arg(b->func, from, (uint32_t)flat_index(tile_info(b, from), at));
    }
    memcpy(args + 1, indices, n * sizeof *indices);
    return ps_build_op(b, PS_OP_EXTRACT, tile_info(b, tile)->elem, args, n + 1, 0);
}

PsRef ps_build_elem(PsBuilder *b, PsRef place, const PsRef *indices, uint32_t n) {
    PsModule *m = b->func->module;
    PsRef args[PS_MAX_AXES + 1] = {place};
    if (n > PS_MAX_AXES) return 0;
    memcpy(args + 1, indices, n * sizeof *indices);
    PsType elem = ps_type_element(m, tile_info(b, place)->elem);
    return ps_build_op(b, PS_OP_ELEM, ps_type_ptr(m, elem), args, n + 1, 0);
}

/* -- other shapes -- */

/* The tile's type in another shape. */
static PsType reshaped(PsBuilder *b, PsRef tile, int ndim, const int64_t *shape) {
    return ps_type_tile(b->func->module, tile_info(b, tile)->elem, ndim, shape);
}

PsRef ps_build_reshape(PsBuilder *b, PsRef tile, int ndim, const int64_t *shape) {
    PsType type = reshaped(b, tile, ndim, shape);
    return type == ps_op(b->func, tile)->type ? tile : ps_build_op(b, PS_OP_RESHAPE, type, &tile, 1, 0);
}

PsRef ps_build_broadcast(PsBuilder *b, PsRef tile, int ndim, const int64_t *shape) {
    PsType type = reshaped(b, tile, ndim, shape);
    return type == ps_op(b->func, tile)->type ? tile : ps_build_op(b, PS_OP_BROADCAST, type, &tile, 1, 0);
}

PsRef ps_build_permute(PsBuilder *b, PsRef tile, const uint8_t *axes) {
    const PsTypeInfo *info = tile_info(b, tile);
    int64_t shape[PS_MAX_AXES];
    uint64_t imm = 0;
    int ndim = info->ndim;
    bool moved = false;
    for (int i = 0; i < ndim; i++) {
        if (axes[i] >= ndim) return 0;
        shape[i] = info->shape[axes[i]];
        imm |= (uint64_t)axes[i] << 4 * i;
        moved |= axes[i] != i;
    }
    return moved ? ps_build_op(b, PS_OP_PERMUTE, reshaped(b, tile, ndim, shape), &tile, 1, imm) : tile;
}

PsRef ps_build_reduce(PsBuilder *b, PsRef tile, int axis, PsCombine combine) {
    const PsTypeInfo *info = tile_info(b, tile);
    int64_t shape[PS_MAX_AXES];
    int n = 0;
    for (int i = 0; i < info->ndim; i++)
        if (i != axis) shape[n++] = info->shape[i];
    PsType type = n ? reshaped(b, tile, n, shape) : info->elem;
    return ps_build_op(b, PS_OP_REDUCE, type, &tile, 1, ps_reduce_imm(axis, combine));
}

PsRef ps_build_reduce_all(PsBuilder *b, PsRef tile, PsCombine combine) {
    int64_t count = ps_type_count(b->func->module, ps_op(b->func, tile)->type);
    return ps_build_reduce(b, ps_build_reshape(b, tile, 1, &count), 0, combine);
}

PsRef ps_build_dot(PsBuilder *b, PsRef a, PsRef c) {
    int64_t shape[2] = {tile_info(b, a)->shape[0], tile_info(b, c)->shape[1]};
    return ps_build_op(b, PS_OP_DOT, reshaped(b, a, 2, shape), (PsRef[]){a, c}, 2, 0);
}
