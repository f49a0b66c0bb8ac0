/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_lane_control: branches and loops of W lanes.
 *
 *     uniform                as scalar code does it
 *     an if that diverges    both sides under masks, each jumped over when no lane wants it; a short side without loads,
 *                            stores to memory or jumps is not worth the jump
 *     a loop that diverges   goes round until no lane is left. Its index counts from each lane's first value, so that it is
 *                            uniform where that is, whatever the ends are
 *     break, continue        in loops that diverge set masks; where they may have, the mask is found anew, and an iteration
 *                            that has lost all its lanes is over
 *
 * Nothing runs with an empty mask but short sides, and the test of a while that its last lanes have left by break, which
 * reads at uniform places what it read a turn before: so a scalar load or a uniform loop inside has a lane that wants it.
 */
#include "codegen/codegen_int.h"

#define SHORT_SIDE 16 /* ops; about what a jump costs that is guessed wrong every other time */

static bool has_mark(const Emitter *e, PsRef r, uint8_t mark) { return e->cg->uniform.marks[r] & mark; }

/* -- masks of the iteration -- */

/* After something that may have lost lanes: those that are left of `before`; when none is, on to where others are: behind
 * the side of an if, at the end of the iteration. */
static void go_on_with(Emitter *e, LLVMValueRef before) {
    Target *target = e->target;
    if (!target || !target->off) return;
    e->mask = cg_lane_without(e, before, cg_lane_mask_load(e, target->off));
    LLVMBasicBlockRef go = cg_block(e, "go");
    LLVMBuildCondBr(e->b, cg_lane_any(e, e->mask), go, e->skip);
    LLVMPositionBuilderAtEnd(e->b, go);
}

LLVMValueRef cg_lane_jump(Emitter *e, PsRef r) {
    const PsOp *op = ps_op(e->f, r);
    Target *target = e->target;
    if (op->code == PS_OP_YIELD) {
        e->yielded = cg_arg(e, r, 0);
        return NULL;
    }
    if (!target || !target->off) return cg_emit_jump(e, r);
    cg_lane_mask_add(e, e->mask, target->off);
    if (op->code == PS_OP_BREAK && target->gone) cg_lane_mask_add(e, e->mask, target->gone);
    e->left = true;
    return NULL;
}

/* -- if -- */

static bool is_short_op(const Emitter *e, PsRef r) {
    const PsOp *op = ps_op(e->f, r);
    if (op->code == PS_OP_LOAD || op->code == PS_OP_STORE) {
        PsRef place = ps_op_arg(e->f, r, 0), root = ps_place_root(e->f, place);
        return ps_op(e->f, root)->code == PS_OP_VAR && e->cg->uniform.inside[root] &&
               cg_lane_step(e, place) == 0;
    }
    if (op->code == PS_OP_IPOW || op->code == PS_OP_FMOD || cg_is_math((PsOpCode)op->code)) return false;
    bool divides = op->code == PS_OP_FLOORDIV || op->code == PS_OP_MOD || op->code == PS_OP_TRUNCDIV ||
                   op->code == PS_OP_TRUNCMOD;
    return !divides && (ps_op_info[op->code].effect == PS_EFFECT_PURE || op->code == PS_OP_VAR);
}

/* Adds the ops of a region to *size, up to SHORT_SIDE. */
static bool is_short(const Emitter *e, PsRegion region, int *size) {
    for (PsRef r = ps_region(e->f, region)->first; r; r = ps_op(e->f, r)->next) {
        const PsOp *op = ps_op(e->f, r);
        bool inner = op->code == PS_OP_IF && has_mark(e, r, CG_DIVERGES);
        if (op->code != PS_OP_CONST && ++*size > SHORT_SIDE) return false;
        if (inner ? !is_short(e, op->region0, size) || !is_short(e, op->region0 + 1, size) : !is_short_op(e, r))
            return false;
    }
    return true;
}

static void emit_side(Emitter *e, PsRegion region, LLVMValueRef mask) {
    int size = 0;
    bool jumps = !is_short(e, region, &size);
    LLVMBasicBlockRef side = jumps ? cg_block(e, "side") : NULL, end = jumps ? cg_block(e, "fi") : NULL;
    if (!ps_region(e->f, region)->first) return;
    if (jumps) {
        LLVMBuildCondBr(e->b, cg_lane_any(e, mask), side, end);
        LLVMPositionBuilderAtEnd(e->b, side);
    }
    LLVMBasicBlockRef skip = e->skip;
    if (jumps) e->skip = end;
    e->mask = mask;
    cg_emit_region(e, region);
    e->left = false;
    e->skip = skip;
    if (jumps) cg_enter(e, end);
}

LLVMValueRef cg_lane_if(Emitter *e, PsRef r) {
    PsRegion then = ps_op(e->f, r)->region0;
    LLVMValueRef before = e->mask;
    if (has_mark(e, r, CG_DIVERGES)) {
        LLVMValueRef cond = cg_lane_mask(e, cg_lane_vector(e, ps_op_arg(e->f, r, 0)));
        emit_side(e, then, cg_lane_and(e, before, cond));
        emit_side(e, then + 1, cg_lane_without(e, before, cond));
    } else {
        cg_emit_if(e, r);
    }
    e->mask = before;
    if (has_mark(e, r, CG_LOSES) && !cg_ended(e)) go_on_with(e, before);
    return NULL;
}

/* -- loops that diverge -- */

typedef struct LaneLoop {
    Target target;
    LLVMValueRef live, before; /* lanes that go round: in memory; the mask around the loop */
    LLVMBasicBlockRef head, body, end, skip;
} LaneLoop;

static void loop_begin(Emitter *e, LaneLoop *loop) {
    loop->before = e->mask;
    loop->skip = e->skip;
    loop->live = cg_lane_mask_new(e);
    loop->head = cg_block(e, "head");
    loop->body = cg_block(e, "body");
    loop->end = cg_block(e, "end");
    loop->target = (Target){.next = cg_block(e, "next"), .leave = loop->end, .outer = e->target};
    loop->target.off = cg_lane_mask_new(e);
    loop->target.gone = cg_lane_mask_new(e);
    cg_lane_mask_store(e, e->mask, loop->live);
    cg_lane_mask_store(e, cg_lane_none(e), loop->target.gone);
    e->target = &loop->target;
    e->skip = loop->target.next;
}

/* In the head: goes to the body with the live lanes that want another turn, or to the end. */
static void loop_turn(Emitter *e, LaneLoop *loop, LLVMValueRef wants) {
    e->mask = cg_lane_and(e, e->mask, wants);
    LLVMBuildCondBr(e->b, cg_lane_any(e, e->mask), loop->body, loop->end);
    LLVMPositionBuilderAtEnd(e->b, loop->body);
    cg_lane_mask_store(e, e->mask, loop->live);
    cg_lane_mask_store(e, cg_lane_none(e), loop->target.off);
}

/* After the body: who goes round again. */
static void loop_next(Emitter *e, LaneLoop *loop) {
    e->left = false;
    cg_enter(e, loop->target.next);
    LLVMValueRef live = cg_lane_mask_load(e, loop->live), gone = cg_lane_mask_load(e, loop->target.gone);
    cg_lane_mask_store(e, cg_lane_without(e, live, gone), loop->live);
}

static void loop_end(Emitter *e, LaneLoop *loop) {
    LLVMPositionBuilderAtEnd(e->b, loop->end);
    e->target = loop->target.outer;
    e->mask = loop->before;
    e->skip = loop->skip;
}

LLVMValueRef cg_lane_while(Emitter *e, PsRef r) {
    PsRegion test = ps_op(e->f, r)->region0;
    LaneLoop loop;
    if (!has_mark(e, r, CG_DIVERGES)) return cg_emit_while(e, r);
    loop_begin(e, &loop);
    cg_enter(e, loop.head);
    e->mask = cg_lane_mask_load(e, loop.live);
    e->yielded = NULL;
    cg_emit_region(e, test);
    LLVMValueRef wants = e->yielded ? cg_lane_mask(e, cg_lane_splat(e, e->yielded)) : cg_lane_none(e);
    loop_turn(e, &loop, wants);
    cg_poll(e);
    cg_emit_region(e, test + 1);
    loop_next(e, &loop);
    LLVMBuildBr(e->b, loop.head);
    loop_end(e, &loop);
    return NULL;
}

/* The index of the loop: of lane 0, as i64, or a vector in memory where lanes begin unevenly. */
typedef struct LaneIndex {
    PsRef param;
    PsType type;
    bool uneven;
    LLVMValueRef phi, memory;
} LaneIndex;

static void index_begin(Emitter *e, LaneIndex *index, PsRef r) {
    PsRef lo = ps_op_arg(e->f, r, 0);
    index->uneven = cg_lane_step(e, lo) == CG_UNEVEN;
    if (!index->uneven) return;
    index->memory = cg_alloca(e, cg_lane_type(e, e->cg->scalars[index->type]), 64);
    cg_store_at(e, cg_lane_vector(e, lo), index->memory, 0, 64);
}

static void index_set(Emitter *e, LaneIndex *index) {
    if (index->uneven) {
        LLVMTypeRef type = cg_lane_type(e, e->cg->scalars[index->type]);
        cg_set(e, index->param, cg_load_at(e, type, index->memory, 0, 64), NULL);
        return;
    }
    LLVMValueRef one = index->phi;
    if (index->type == PS_I32) one = LLVMBuildTrunc(e->b, index->phi, e->cg->i32, "");
    cg_set(e, index->param, one, index->phi);
}

/* All lanes go up. One that is done may wrap, but is not live any more. */
static void index_next(Emitter *e, LaneIndex *index, LLVMBasicBlockRef head) {
    if (index->uneven) {
        LLVMTypeRef type = cg_lane_type(e, e->cg->scalars[index->type]);
        LLVMValueRef at = cg_load_at(e, type, index->memory, 0, 64);
        cg_store_at(e, LLVMBuildAdd(e->b, at, cg_int(e->cg, type, 1), ""), index->memory, 0, 64);
        LLVMBuildBr(e->b, head);
        return;
    }
    LLVMValueRef next = LLVMBuildAdd(e->b, index->phi, LLVMConstInt(e->cg->i64, 1, 0), "");
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, head);
    LLVMAddIncoming(index->phi, &next, &from, 1);
}

LLVMValueRef cg_lane_for(Emitter *e, PsRef r) {
    const PsOp *op = ps_op(e->f, r);
    const PsRegionInfo *info = ps_region(e->f, op->region0);
    LaneIndex index = {.param = info->params};
    LaneLoop loop;
    if (!has_mark(e, r, CG_DIVERGES)) return cg_emit_for(e, r);
    index.type = ps_op(e->f, info->params)->type;
    LLVMValueRef hi = cg_lane_vector(e, ps_op_arg(e->f, r, 1)), first = NULL;
    index_begin(e, &index, r);
    if (!index.uneven) first = cg_wide(e, ps_op_arg(e->f, r, 0));
    loop_begin(e, &loop);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    cg_enter(e, loop.head);
    if (first) {
        index.phi = LLVMBuildPhi(e->b, e->cg->i64, "");
        LLVMAddIncoming(index.phi, &first, &from, 1);
    }
    index_set(e, &index);
    e->mask = cg_lane_mask_load(e, loop.live);
    LLVMValueRef below = LLVMBuildICmp(e->b, LLVMIntSLT, cg_lane_vector(e, index.param), hi, "");
    loop_turn(e, &loop, cg_lane_mask(e, below));
    cg_poll(e);
    cg_emit_region(e, op->region0);
    loop_next(e, &loop);
    index_next(e, &index, loop.head);
    loop_end(e, &loop);
    return NULL;
}
