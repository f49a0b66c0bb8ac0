/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_parfor: parallel loops. In main: fill the PsParfor, call the runtime, combine the partials. As a task:
 *
 *     for leaf in [leaf_lo, leaf_hi)             where the leaf's number matters, or there is more than one axis
 *         rows and columns of the leaf           as ps_layout_leaf computes them
 *         for row in [row_lo, row_hi)            outer indices by division for the first row, then with carries
 *             for col in [col_lo, col_hi)        the loop LLVM makes vectors of
 *                 body
 *
 * Leaves of a one-axis loop whose body neither prints nor faults nor reduces are neighbours, and one loop runs them all.
 *
 * Vectors: the columns' loop says that its iterations are independent, and how many go into a vector. The body's index is
 * an i64 that counts; the i32 that the program sees is cut from it, which the limit on domains makes exact.
 */
#include "codegen/codegen_int.h"

/* -- loop metadata -- */

static LLVMMetadataRef property(Codegen *cg, const char *name, size_t len, LLVMValueRef value) {
    LLVMMetadataRef pair[2] = {LLVMMDStringInContext2(cg->ctx, name, len), LLVMValueAsMetadata(value)};
    return LLVMMDNodeInContext2(cg->ctx, pair, 2);
}

/* A node that begins with itself, as LLVM wants it, so that no two loops share one. A width of 1: no vectors. */
static LLVMMetadataRef loop_id(Codegen *cg, unsigned width, unsigned interleave) {
    LLVMMetadataRef self = LLVMTemporaryMDNode(cg->ctx, NULL, 0);
    LLVMMetadataRef parts[4] = {
        self,
        property(cg, "llvm.loop.vectorize.width", 25, LLVMConstInt(cg->i32, width, 0)),
        property(cg, "llvm.loop.interleave.count", 26, LLVMConstInt(cg->i32, interleave, 0)),
        property(cg, "llvm.loop.vectorize.enable", 26, LLVMConstInt(cg->i1, width > 1, 0)),
    };
    LLVMMetadataRef id = LLVMMDNodeInContext2(cg->ctx, parts, 4);
    LLVMMetadataReplaceAllUsesWith(self, id);
    return id;
}

LLVMMetadataRef cg_scalar_loop(Codegen *cg) { return loop_id(cg, 1, 1); }

/* Neither unrolling nor vectors pay for loops over a tile; they would only take time to compile. */
LLVMMetadataRef cg_rolled_loop(Codegen *cg) {
    LLVMMetadataRef self = LLVMTemporaryMDNode(cg->ctx, NULL, 0);
    LLVMMetadataRef name = LLVMMDStringInContext2(cg->ctx, "llvm.loop.unroll.disable", 24);
    LLVMMetadataRef parts[3] = {
        self,
        LLVMMDNodeInContext2(cg->ctx, &name, 1),
        property(cg, "llvm.loop.vectorize.enable", 26, LLVMConstInt(cg->i1, 0, 0)),
    };
    LLVMMetadataRef id = LLVMMDNodeInContext2(cg->ctx, parts, 3);
    LLVMMetadataReplaceAllUsesWith(self, id);
    return id;
}

/* -- the innermost loop -- */

/* Small bodies wait for memory and loop overhead: two vectors at a time. */
#define SMALL_BODY 24

void cg_set_index(Emitter *e, PsRef param, LLVMValueRef wide) {
    LLVMValueRef index = LLVMBuildTrunc(e->b, wide, e->cg->i32, "");
    LLVMSetNSW(index, 1);
    cg_set(e, param, index, wide);
}

void cg_emit_columns(Emitter *e, Counter *c, LLVMValueRef index, bool vectors) {
    Codegen *cg = e->cg;
    const ParforInfo *parfor = e->parfor;
    PsRegion region = ps_op(e->f, parfor->ref)->region0;
    const PsRegionInfo *info = ps_region(e->f, region);
    if (!parfor->serial) {
        unsigned width = vectors ? (unsigned)(cg->request->target.vector_bits / (8 * parfor->element)) : 1;
        c->id = loop_id(cg, width, vectors && parfor->size <= SMALL_BODY ? 2 : 1);
        e->parallel = LLVMMetadataAsValue(cg->ctx, c->id);
    } else {
        c->id = cg_scalar_loop(cg);
    }
    if (cg_poll_each(e, parfor->ref)) cg_poll(e);
    cg_set_index(e, info->params + info->nparams - 1, index);
    Target target = {.next = c->latch};
    e->target = &target;
    cg_emit_region(e, region);
    e->target = NULL;
    e->parallel = NULL;
    cg_count_end(e, c);
}

/* -- a task's leaves and rows -- */

typedef struct Task {
    int32_t ndim;
    LLVMValueRef record; /* PsParfor */
    LLVMValueRef rows, row_len, rows_per_leaf, pieces, piece_len, lo[PS_MAX_AXES], hi[PS_MAX_AXES];
    LLVMValueRef row_lo, row_hi, col_lo, col_hi; /* of the leaf */
} Task;

static LLVMValueRef field(Emitter *e, LLVMValueRef record, size_t offset) {
    return cg_load_at(e, e->cg->i64, record, offset, 8);
}

/* In the entry block, where no store to an array stands between. */
static void load_record(Emitter *e, Task *t) {
    LLVMBuilderRef back = e->b;
    e->b = e->entry;
    t->row_len = field(e, t->record, offsetof(PsParfor, row_len));
    t->piece_len = field(e, t->record, offsetof(PsParfor, piece_len));
    if (t->ndim > 1) {
        t->rows = field(e, t->record, offsetof(PsParfor, rows));
        t->rows_per_leaf = field(e, t->record, offsetof(PsParfor, rows_per_leaf));
        t->pieces = field(e, t->record, offsetof(PsParfor, pieces));
    }
    for (int32_t i = 0; i < t->ndim; i++) {
        t->lo[i] = field(e, t->record, offsetof(PsParfor, lo) + 8 * (size_t)i);
        if (i > 0 && i + 1 < t->ndim) t->hi[i] = field(e, t->record, offsetof(PsParfor, hi) + 8 * (size_t)i);
    }
    e->b = back;
}

static LLVMValueRef smaller(Emitter *e, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, a, b, ""), a, b, "");
}

/* Columns of the pieces [piece_lo, piece_hi) of a row. */
static void find_columns(Emitter *e, Task *t, LLVMValueRef piece_lo, LLVMValueRef piece_hi) {
    t->col_lo = LLVMBuildMul(e->b, piece_lo, t->piece_len, "");
    t->col_hi = smaller(e, LLVMBuildMul(e->b, piece_hi, t->piece_len, ""), t->row_len);
}

static LLVMValueRef plus_one(Emitter *e, LLVMValueRef v) {
    return LLVMBuildAdd(e->b, v, LLVMConstInt(e->cg->i64, 1, 0), "");
}

static void find_leaf(Emitter *e, Task *t, LLVMValueRef leaf) {
    LLVMValueRef piece = leaf;
    if (t->ndim > 1) {
        LLVMValueRef group = LLVMBuildUDiv(e->b, leaf, t->pieces, "");
        piece = LLVMBuildSub(e->b, leaf, LLVMBuildMul(e->b, group, t->pieces, ""), "");
        t->row_lo = LLVMBuildMul(e->b, group, t->rows_per_leaf, "");
        t->row_hi = smaller(e, LLVMBuildAdd(e->b, t->row_lo, t->rows_per_leaf, ""), t->rows);
    }
    find_columns(e, t, piece, plus_one(e, piece));
}

/* The columns of the current row. */
static void emit_row(Emitter *e, const Task *t) {
    LLVMValueRef lo = t->lo[t->ndim - 1];
    if (e->parfor->slots.len) {
        cg_partials_row(e, lo, t->col_lo, t->col_hi, t->ndim > 1);
        return;
    }
    Counter c;
    Chunks chunks;
    LLVMValueRef begin = LLVMBuildAdd(e->b, lo, t->col_lo, ""), end = LLVMBuildAdd(e->b, lo, t->col_hi, "");
    bool cut = t->ndim > 1 && cg_poll_chunks(e, e->parfor->ref); /* the leaves of one axis are short */
    if (cut) cg_chunks_begin(e, &chunks, begin, end, CG_CHUNK);
    if (cg_in_lanes(e)) {
        cg_lane_row(e, cut ? chunks.lo : begin, cut ? chunks.end : end);
    } else if (cg_scatter_splits(e)) {
        cg_scatter_row(e, cut ? chunks.lo : begin, cut ? chunks.end : end);
    } else {
        cg_count_begin(e, &c, cut ? chunks.lo : begin, cut ? chunks.end : end, 1, false);
        cg_emit_columns(e, &c, c.phi, true);
    }
    if (cut) cg_chunks_end(e, &chunks);
}

/* The outer indices of a row, from its number. */
static void first_indices(Emitter *e, const Task *t, LLVMValueRef row, LLVMValueRef *index) {
    LLVMValueRef rest = row;
    for (int32_t i = t->ndim - 2; i >= 0; i--) {
        LLVMValueRef offset = rest;
        if (i > 0) {
            LLVMValueRef length = LLVMBuildSub(e->b, t->hi[i], t->lo[i], "");
            LLVMValueRef quotient = LLVMBuildUDiv(e->b, rest, length, "");
            offset = LLVMBuildSub(e->b, rest, LLVMBuildMul(e->b, quotient, length, ""), "");
            rest = quotient;
        }
        index[i] = LLVMBuildAdd(e->b, t->lo[i], offset, "");
    }
}

/* Those of the next row: the last of them goes up, and carries into the one before when it reaches its end. */
static void next_indices(Emitter *e, const Task *t, LLVMValueRef *index) {
    LLVMValueRef carry = LLVMConstInt(e->cg->i64, 1, 0);
    for (int32_t i = t->ndim - 2; i >= 0; i--) {
        LLVMValueRef next = LLVMBuildAdd(e->b, index[i], carry, "");
        if (i > 0) {
            LLVMValueRef over = LLVMBuildICmp(e->b, LLVMIntEQ, next, t->hi[i], "");
            next = LLVMBuildSelect(e->b, over, t->lo[i], next, "");
            carry = LLVMBuildZExt(e->b, over, e->cg->i64, "");
        }
        index[i] = next;
    }
}

static void emit_rows(Emitter *e, Task *t) {
    PsRef params = ps_region(e->f, ps_op(e->f, e->parfor->ref)->region0)->params;
    LLVMValueRef first[PS_MAX_AXES], index[PS_MAX_AXES], phis[PS_MAX_AXES];
    int32_t outer = t->ndim - 1;
    if (!outer) {
        emit_row(e, t);
        return;
    }
    Chunks chunks;
    cg_chunks_begin(e, &chunks, t->row_lo, t->row_hi, CG_CHUNK_ROWS);
    first_indices(e, t, chunks.lo, first);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    Counter c;
    cg_count_begin(e, &c, chunks.lo, chunks.end, 1, false);
    for (int32_t i = 0; i < outer; i++) {
        phis[i] = index[i] = LLVMBuildPhi(e->b, e->cg->i64, "");
        LLVMAddIncoming(phis[i], &first[i], &from, 1);
    }
    for (int32_t i = 0; i < outer; i++) cg_set_index(e, params + (PsRef)i, phis[i]);
    emit_row(e, t);
    cg_enter(e, c.latch);
    next_indices(e, t, index);
    for (int32_t i = 0; i < outer; i++) LLVMAddIncoming(phis[i], &index[i], &c.latch, 1);
    cg_count_end(e, &c);
    cg_chunks_end(e, &chunks);
}

static void emit_leaves(Emitter *e, Task *t, LLVMValueRef leaf_lo, LLVMValueRef leaf_hi) {
    Counter c;
    cg_count_begin(e, &c, leaf_lo, leaf_hi, 1, false);
    if (e->parfor->ordered) cg_store_at(e, c.phi, e->ts, offsetof(PsTaskState, leaf), 8);
    find_leaf(e, t, c.phi);
    cg_partials_begin_leaf(e);
    emit_rows(e, t);
    cg_partials_end_leaf(e, t->record, c.phi);
    cg_count_end(e, &c);
}

void cg_emit_task(Codegen *cg, ParforInfo *parfor, Value *slots) {
    Emitter e;
    const PsFunc *f = cg->m->funcs.data[0];
    const PsOp *op = ps_op(f, parfor->ref);
    Task t = {.ndim = (int32_t)op->nargs / 2};
    if (!op->nargs || op->nargs % 2 || t.ndim > PS_MAX_AXES ||
        ps_region(f, op->region0)->nparams != op->nargs / 2) {
        cg_unsupported(cg, op->span, "a `parfor` of this shape");
        return;
    }
    parfor->task = LLVMAddFunction(cg->module, "task", cg->task_type);
    LLVMSetLinkage(parfor->task, LLVMInternalLinkage);
    if (!cg_emitter_open(&e, cg, f, EMIT_TASK, parfor->task, slots)) return;
    e.parfor = parfor;
    e.width = parfor->width;
    if (parfor->in_order) e.updates = PLAIN_FORM;
    e.ts = LLVMGetParam(parfor->task, 0);
    t.record = LLVMGetParam(parfor->task, 1);
    LLVMValueRef leaf_lo = LLVMGetParam(parfor->task, 2), leaf_hi = LLVMGetParam(parfor->task, 3);
    LLVMBuilderRef back = e.b;
    e.b = e.entry;
    e.frame = cg_load_at(&e, cg->ptr, e.ts, offsetof(PsTaskState, frame), 8);
    e.b = back;
    load_record(&e, &t);
    if (t.ndim == 1 && !parfor->ordered && !parfor->slots.len) {
        find_columns(&e, &t, leaf_lo, leaf_hi);
        emit_row(&e, &t);
    } else {
        emit_leaves(&e, &t, leaf_lo, leaf_hi);
    }
    LLVMBuildRet(e.b, LLVMConstInt(cg->i32, 0, 0));
    cg_emitter_close(&e);
}

/* -- in main -- */

static const ParforInfo *find_parfor(const Codegen *cg, PsRef r) {
    for (uint32_t i = 0; i < cg->parfors.len; i++)
        if (cg->parfors.data[i].ref == r && cg->parfors.data[i].task) return &cg->parfors.data[i];
    return NULL;
}

/* What the task reads from the frame, but for parameters and locals, which are there already. */
static void store_captures(Emitter *e, const ParforInfo *parfor) {
    for (uint32_t i = 0; i < parfor->captures.len; i++) {
        PsRef r = parfor->captures.data[i];
        PsType type = ps_op(e->f, r)->type;
        LLVMValueRef value = cg_value(e, r);
        if (ps_type_is_scalar(type)) value = cg_to_word(e, type, value);
        cg_store_at(e, value, cg_frame_word(e, e->cg->homes[r].word - 1), 0, 8);
    }
}

static void fill_record(Emitter *e, const ParforInfo *parfor) {
    Codegen *cg = e->cg;
    const PsOp *op = ps_op(e->f, parfor->ref);
    LLVMValueRef record = e->domain;
    int64_t grain = ps_parfor_grain(op->imm);
    cg_store_at(e, LLVMConstInt(cg->i32, op->nargs / 2, 0), record, offsetof(PsParfor, ndim), 4);
    cg_store_at(e, LLVMConstInt(cg->i32, parfor->slots.len, 0), record, offsetof(PsParfor, npartials), 4);
    cg_store_at(e, LLVMConstInt(cg->i64, grain ? (uint64_t)grain : 1, 0), record, offsetof(PsParfor, grain), 8);
    cg_store_at(e, LLVMConstInt(cg->i64, (uint64_t)ps_parfor_cost(op->imm), 0), record,
                offsetof(PsParfor, cost), 8);
    for (uint32_t i = 0; i < op->nargs; i++) {
        size_t at = (i % 2 ? offsetof(PsParfor, hi) : offsetof(PsParfor, lo)) + 8 * (size_t)(i / 2);
        cg_store_at(e, cg_wide(e, ps_op_arg(e->f, parfor->ref, i)), record, at, 8);
    }
    cg_scatter_record(e, parfor, record);
}

LLVMValueRef cg_emit_parfor(Emitter *e, PsRef r) {
    Codegen *cg = e->cg;
    const ParforInfo *parfor = e->kind == EMIT_MAIN ? find_parfor(cg, r) : NULL;
    if (!parfor) {
        cg_unsupported(cg, ps_op(e->f, r)->span, "a parallel loop here");
        return NULL;
    }
    if (!e->domain) e->domain = cg_alloca(e, LLVMArrayType2(cg->i64, sizeof(PsParfor) / 8), 8);
    store_captures(e, parfor);
    fill_record(e, parfor);
    LLVMValueRef site = LLVMConstInt(cg->i32, cg_site(cg, PS_FAULT_DOMAIN, ps_op(e->f, r)->span), 0);
    LLVMValueRef args[4] = {e->ts, parfor->task, e->domain, site};
    LLVMValueRef stopped = LLVMBuildCall2(e->b, cg->parallel_type, cg->parallel_fn, args, 4, "");
    cg_stop_if(e, LLVMBuildICmp(e->b, LLVMIntNE, stopped, LLVMConstInt(cg->i32, 0, 0), ""));
    cg_partials_combine(e, parfor, e->domain);
    return NULL;
}
