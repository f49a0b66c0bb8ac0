/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_edit: changing a function that stands: linking ops into regions and out of them, replacing operands, and the
 * questions passes ask before they do. An op that is removed keeps its place in the arrays; nothing refers to it.
 */
#include "ir/ir_int.h"

void ir_link(PsFunc *f, PsRef r, PsRegion region, PsRef before) {
    PsRegionInfo *info = ps_region(f, region);
    PsOp *op = ps_op(f, r);
    op->region = region;
    op->next = before;
    op->prev = before ? ps_op(f, before)->prev : info->last;
    *(op->prev ? &ps_op(f, op->prev)->next : &info->first) = r;
    *(before ? &ps_op(f, before)->prev : &info->last) = r;
}

void ps_op_remove(PsFunc *f, PsRef r) {
    PsOp *op = ps_op(f, r);
    if (!op->region) return;
    PsRegionInfo *info = ps_region(f, op->region);
    *(op->prev ? &ps_op(f, op->prev)->next : &info->first) = op->next;
    *(op->next ? &ps_op(f, op->next)->prev : &info->last) = op->prev;
    op->prev = op->next = 0;
    op->region = 0;
}

void ps_op_move_before(PsFunc *f, PsRef op, PsRef before) {
    if (op == before || !ps_op(f, before)->region) return;
    ps_op_remove(f, op);
    ir_link(f, op, ps_op(f, before)->region, before);
}

void ps_func_replace(PsFunc *f, PsRef old, PsRef value) {
    for (uint32_t i = 0; i < f->args.len; i++) {
        if (f->args.data[i] == old) f->args.data[i] = value;
    }
}

void ps_func_remap(PsFunc *f, const PsRef *map) {
    for (uint32_t i = 0; i < f->args.len; i++) {
        PsRef r = f->args.data[i];
        while (map[r]) r = map[r];
        f->args.data[i] = r;
    }
}

uint32_t *ps_func_count_uses(const PsFunc *f) {
    uint32_t *uses = ps_arena_alloc(f->module->arena, f->ops.len * sizeof *uses);
    if (!uses) return NULL;
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        for (uint32_t i = 0; i < ps_op(f, r)->nargs; i++) uses[ps_op_arg(f, r, i)]++;
    }
    return uses;
}

bool ps_region_contains(const PsFunc *f, PsRegion r, PsRef inner) {
    const PsOp *op = ps_op(f, inner);
    PsRegion at = op->code == PS_OP_PARAM ? op->region0 : op->region;
    while (at && at != r) at = ps_op(f, ps_region(f, at)->owner)->region;
    return at && at == r;
}

PsRef ps_place_root(const PsFunc *f, PsRef place) {
    while (ps_op(f, place)->code == PS_OP_ELEM || ps_op(f, place)->code == PS_OP_PTRADD)
        place = ps_op_arg(f, place, 0);
    return place;
}

bool ps_op_is_const(const PsFunc *f, PsRef r, uint64_t *out_bits) {
    if (ps_op(f, r)->code != PS_OP_CONST) return false;
    *out_bits = ps_op(f, r)->imm;
    return true;
}
