/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_lane_row: the columns of a row of a parallel loop, W at a time. A small body is emitted twice, for turns with all
 * lanes and, masked, for what is left; a large one once, masked, because the time to compile it counts for more, and so
 * one whose loops diverge, which runs under masks anyway, or take the time that masked stores behind them do not. A reduction's stripes go with the columns (codegen_partial.c).
 */
#include "codegen/codegen_int.h"

#define SMALL_BODY  24  /* ops: waits for memory and loop overhead, so that two vectors a turn pay */
#define DOUBLE_BODY 160 /* ops: emitted twice */
#define DOUBLE_WORK                                                                                            \
    32 /* the same, not counting what all lanes share, as the indices of a stencil in many dimensions */

static bool is_small(const Emitter *e, uint32_t most) { return e->parfor->lane_size <= most; }

/* One iteration of W lanes from column `index` on. */
static void emit_turn(Emitter *e, LLVMValueRef index) {
    const Codegen *cg = e->cg;
    PsRef parfor = e->parfor->ref;
    PsRegion region = ps_op(e->f, parfor)->region0;
    const PsRegionInfo *info = ps_region(e->f, region);
    Target target = {.next = cg_block(e, "next")};
    if (cg->uniform.marks[parfor] & CG_DIVERGES) {
        target.off = cg_lane_mask_new(e);
        cg_lane_mask_store(e, cg_lane_none(e), target.off);
    }
    cg_set_index(e, info->params + info->nparams - 1, index);
    e->target = &target;
    e->skip = target.next;
    cg_emit_region(e, region);
    e->target = NULL;
    e->left = false;
    cg_enter(e, target.next);
}

/* Columns at .. at + n, n a multiple of the width (times `unrolled`) where all lanes are active. */
static void emit_turns(Emitter *e, LLVMValueRef at, LLVMValueRef n, bool masked, unsigned unrolled) {
    LLVMTypeRef i64 = e->cg->i64;
    LLVMValueRef end = n, width = LLVMConstInt(i64, e->width, 0);
    Counter c;
    if (masked) {
        LLVMValueRef more = LLVMBuildAdd(e->b, n, LLVMConstInt(i64, e->width - 1, 0), "");
        end = LLVMBuildAnd(e->b, more, LLVMConstInt(i64, ~(uint64_t)(e->width - 1), 0), "");
    }
    cg_count_begin(e, &c, LLVMConstInt(i64, 0, 0), end, (uint64_t)e->width * unrolled, true);
    if (cg_poll_each(e, e->parfor->ref)) cg_poll(e);
    for (unsigned i = 0; i < unrolled; i++) {
        e->stripe = i ? LLVMBuildNSWAdd(e->b, c.phi, LLVMConstInt(i64, (uint64_t)e->width * i, 0), "") : c.phi;
        if (masked) {
            LLVMValueRef left = LLVMBuildSub(e->b, n, e->stripe, "");
            e->mask = e->tail = cg_lane_first(e, left);
            e->is_full = LLVMBuildICmp(e->b, LLVMIntSGE, left, width, "");
        }
        emit_turn(e, LLVMBuildNSWAdd(e->b, at, e->stripe, ""));
        e->mask = e->tail = e->is_full = NULL;
    }
    cg_count_end(e, &c);
}

void cg_lane_row(Emitter *e, LLVMValueRef begin, LLVMValueRef end) {
    LLVMTypeRef i64 = e->cg->i64;
    LLVMValueRef n = LLVMBuildSub(e->b, end, begin, "");
    bool is_large = !is_small(e, DOUBLE_BODY) && e->parfor->lane_work > DOUBLE_WORK;
    if (is_large || e->parfor->masked) {
        emit_turns(e, begin, n, true, 1);
        return;
    }
    unsigned unrolled = is_small(e, SMALL_BODY) ? 2 : 1;
    LLVMValueRef step = LLVMConstInt(i64, ~(uint64_t)(e->width * unrolled - 1), 0);
    LLVMValueRef whole = LLVMBuildAnd(e->b, n, step, "");
    emit_turns(e, begin, whole, false, unrolled);
    emit_turns(e, LLVMBuildAdd(e->b, begin, whole, ""), LLVMBuildSub(e->b, n, whole, ""), true, 1);
}

/* A whole block is written out, so that LLVM keeps its stripes in registers from block to block. */
void cg_lane_block(Emitter *e, LLVMValueRef at, LLVMValueRef n, bool is_whole) {
    if (!is_whole) {
        emit_turns(e, at, n, true, 1);
        return;
    }
    if (cg_poll_each(e, e->parfor->ref)) cg_poll(e);
    for (unsigned i = 0; i < PS_STRIPES; i += e->width) {
        e->stripe = LLVMConstInt(e->cg->i64, i, 0);
        emit_turn(e, LLVMBuildNSWAdd(e->b, at, e->stripe, ""));
    }
}
