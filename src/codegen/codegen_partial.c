/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_partial: reductions of parallel loops, with the order of operations that ops.def defines for `partial`, so that
 * their bits depend on neither threads nor vector width:
 *
 *     leaf     PS_STRIPES accumulators per slot begin as the identity; the iteration at column c of a row adds to
 *              stripe (c - first column) % PS_STRIPES. So a row is run in blocks of PS_STRIPES columns, where lane and
 *              stripe go together and LLVM may use vectors of any width.
 *     then     the stripes are folded in halves, in vectors, into one word: partials[leaf][slot]
 *     in main  the words are combined into the local in the order of leaves
 *
 * A small body is emitted twice: for full blocks, whose trip count LLVM then knows, and for the rest of a row. In a loop
 * of one axis only the last leaf has a rest, which is not worth vectors.
 */
#include "codegen/codegen_int.h"

static LLVMTypeRef stripes_type(const Codegen *cg, PsType type, unsigned n) {
    return LLVMVectorType(cg_type_stored(cg, type), n);
}

static PsOpCode op_of(const Slot *slot) { return ps_ir_combine_op(slot->combine); }

/* -- the accumulators of a leaf -- */

static bool stripes_ready(Emitter *e) {
    uint32_t n = e->parfor->slots.len;
    if (e->stripes) return true;
    e->stripes = ps_arena_alloc(e->cg->arena, sizeof *e->stripes * (n + 1));
    if (!e->stripes) return false;
    for (uint32_t i = 0; i < n; i++) {
        LLVMTypeRef element = cg_type_stored(e->cg, e->parfor->slots.data[i].type);
        e->stripes[i] = cg_alloca(e, LLVMArrayType2(element, PS_STRIPES), 64);
    }
    return true;
}

void cg_partials_begin_leaf(Emitter *e) {
    const ParforInfo *parfor = e->parfor;
    if (!parfor->slots.len || !stripes_ready(e)) return;
    for (uint32_t i = 0; i < parfor->slots.len; i++) {
        const Slot *slot = &parfor->slots.data[i];
        uint64_t identity = ps_ir_identity(slot->combine, slot->type);
        LLVMTypeRef type = stripes_type(e->cg, slot->type, PS_STRIPES);
        cg_store_at(e, cg_const(e->cg, slot->type == PS_U1 ? PS_U8 : slot->type, identity, type), e->stripes[i],
                    0, 64);
    }
}

static LLVMValueRef half_of(Emitter *e, LLVMValueRef v, unsigned first, unsigned n) {
    LLVMValueRef mask[PS_STRIPES];
    for (unsigned i = 0; i < n; i++) mask[i] = LLVMConstInt(e->cg->i32, first + i, 0);
    return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(mask, n), "");
}

static LLVMValueRef fold(Emitter *e, const Slot *slot, LLVMValueRef stripes) {
    unsigned n = PS_STRIPES / 2;
    LLVMTypeRef type = stripes_type(e->cg, slot->type, n);
    uint64_t half = (uint64_t)n * (unsigned)ps_scalar_size(slot->type);
    LLVMValueRef low = cg_from_stored(e, slot->type, cg_load_at(e, type, stripes, 0, 64));
    LLVMValueRef high = cg_from_stored(e, slot->type, cg_load_at(e, type, stripes, half, 16));
    LLVMValueRef all = cg_binary(e, op_of(slot), slot->type, low, high);
    for (n /= 2; n >= 1; n /= 2)
        all = cg_binary(e, op_of(slot), slot->type, half_of(e, all, 0, n), half_of(e, all, n, n));
    return LLVMBuildExtractElement(e->b, all, LLVMConstInt(e->cg->i32, 0, 0), "");
}

void cg_partials_end_leaf(Emitter *e, LLVMValueRef record, LLVMValueRef leaf) {
    Codegen *cg = e->cg;
    const ParforInfo *parfor = e->parfor;
    uint32_t n = parfor->slots.len;
    if (!n || !e->stripes) return;
    LLVMValueRef words = cg_load_at(e, cg->ptr, record, offsetof(PsParfor, partials), 8);
    LLVMValueRef bytes = LLVMBuildMul(e->b, leaf, LLVMConstInt(cg->i64, 8 * (uint64_t)n, 0), "");
    LLVMValueRef row = LLVMBuildGEP2(e->b, cg->i8, words, &bytes, 1, "");
    for (uint32_t i = 0; i < n; i++) {
        const Slot *slot = &parfor->slots.data[i];
        cg_store_at(e, cg_to_word(e, slot->type, fold(e, slot, e->stripes[i])), row, 8 * (uint64_t)i, 8);
    }
}

/* W stripes at once; those of inactive lanes stay as they are. */
static void add_lanes(Emitter *e, const Slot *slot, LLVMValueRef into, LLVMValueRef value) {
    LLVMTypeRef type = cg_lane_type(e, cg_type_stored(e->cg, slot->type));
    unsigned align = (unsigned)ps_scalar_size(slot->type) * e->width;
    if (align > 64) align = 64;
    LLVMValueRef old = cg_from_stored(e, slot->type, cg_load_at(e, type, into, 0, align));
    LLVMValueRef sum = cg_binary(e, op_of(slot), slot->type, old, value);
    sum = cg_lane_select(e, sum, old);
    cg_store_at(e, cg_to_stored(e, slot->type, sum), into, 0, align);
}

LLVMValueRef cg_emit_partial(Emitter *e, PsRef r) {
    const PsOp *op = ps_op(e->f, r);
    const ParforInfo *parfor = e->parfor;
    PsRef var = ps_op_arg(e->f, r, 0);
    uint32_t at = 0;
    while (parfor && at < parfor->slots.len &&
           (parfor->slots.data[at].var != var || parfor->slots.data[at].combine != (PsCombine)op->imm))
        at++;
    if (!parfor || at == parfor->slots.len || !e->stripes || !ps_type_is_scalar(parfor->slots.data[at].type)) {
        cg_unsupported(e->cg, op->span, "`partial` here");
        return NULL;
    }
    const Slot *slot = &parfor->slots.data[at];
    LLVMTypeRef type = cg_type_stored(e->cg, slot->type);
    LLVMValueRef into = LLVMBuildInBoundsGEP2(e->b, type, e->stripes[at], &e->stripe, 1, "");
    if (cg_in_lanes(e)) {
        add_lanes(e, slot, into, cg_lane_vector(e, ps_op_arg(e->f, r, 1)));
        return NULL;
    }
    LLVMValueRef load = cg_load_at(e, type, into, 0, (unsigned)ps_scalar_size(slot->type));
    LLVMValueRef sum =
        cg_binary(e, op_of(slot), slot->type, cg_from_stored(e, slot->type, load), cg_arg(e, r, 1));
    LLVMValueRef store = LLVMBuildStore(e->b, cg_to_stored(e, slot->type, sum), into);
    LLVMSetAlignment(store, (unsigned)ps_scalar_size(slot->type));
    if (e->parallel) { /* each iteration of a block has a stripe of its own */
        LLVMSetMetadata(load, e->cg->md_parallel, e->parallel);
        LLVMSetMetadata(store, e->cg->md_parallel, e->parallel);
    }
    return NULL;
}

/* -- rows in blocks -- */

/* Columns [at, at + n) of the row, one per stripe. */
static void emit_block(Emitter *e, LLVMValueRef at, LLVMValueRef n, bool guarded, bool vectors) {
    if (cg_in_lanes(e)) {
        cg_lane_block(e, at, n, n == LLVMConstInt(e->cg->i64, PS_STRIPES, 0));
        return;
    }
    Counter c;
    cg_count_begin(e, &c, LLVMConstInt(e->cg->i64, 0, 0), n, 1, guarded);
    e->stripe = c.phi;
    cg_emit_columns(e, &c, LLVMBuildNSWAdd(e->b, at, c.phi, ""), vectors);
}

/* The loop over a row's blocks, in chunks where a row may take long. */
typedef struct Blocks {
    Counter c;
    Chunks chunks;
    bool cut;
} Blocks;

static void blocks_begin(Emitter *e, Blocks *blocks, LLVMValueRef begin, LLVMValueRef end, bool guarded) {
    if (blocks->cut) {
        cg_chunks_begin(e, &blocks->chunks, begin, end, CG_CHUNK);
        begin = blocks->chunks.lo;
        end = blocks->chunks.end;
    }
    cg_count_begin(e, &blocks->c, begin, end, PS_STRIPES, guarded && !blocks->cut);
}

static void blocks_end(Emitter *e, Blocks *blocks) {
    cg_count_end(e, &blocks->c);
    if (blocks->cut) cg_chunks_end(e, &blocks->chunks);
}

void cg_partials_row(Emitter *e, LLVMValueRef lo, LLVMValueRef col_lo, LLVMValueRef col_hi, bool many_rows) {
    Codegen *cg = e->cg;
    LLVMValueRef stripes = LLVMConstInt(cg->i64, PS_STRIPES, 0),
                 part = LLVMConstInt(cg->i64, PS_STRIPES - 1, 0);
    LLVMValueRef begin = LLVMBuildAdd(e->b, lo, col_lo, ""), length = LLVMBuildSub(e->b, col_hi, col_lo, "");
    LLVMValueRef rest = LLVMBuildAnd(e->b, length, part, "");
    bool twice = e->parfor->size <= CG_DOUBLE_BODY && (!e->parfor->serial || cg_in_lanes(e));
    LLVMValueRef whole = LLVMBuildSub(e->b, length, rest, ""), end = LLVMBuildAdd(e->b, begin, whole, "");
    Blocks blocks = {.cut = many_rows && cg_poll_chunks(e, e->parfor->ref)};
    if (twice) {
        blocks_begin(e, &blocks, begin, end, true);
        emit_block(e, blocks.c.phi, stripes, false, true);
        blocks_end(e, &blocks);
        emit_block(e, end, rest, true, many_rows);
        return;
    }
    LLVMValueRef some = LLVMBuildAdd(e->b, length, part, "");
    LLVMValueRef steps = LLVMBuildAnd(e->b, some, LLVMConstInt(cg->i64, ~(uint64_t)(PS_STRIPES - 1), 0), "");
    LLVMValueRef last = LLVMBuildAdd(e->b, begin, length, "");
    blocks_begin(e, &blocks, begin, LLVMBuildAdd(e->b, begin, steps, ""), false);
    LLVMValueRef left = LLVMBuildSub(e->b, last, blocks.c.phi, "");
    LLVMValueRef less = LLVMBuildICmp(e->b, LLVMIntSLT, left, stripes, "");
    emit_block(e, blocks.c.phi, LLVMBuildSelect(e->b, less, left, stripes, ""), false, true);
    blocks_end(e, &blocks);
}

/* -- in main -- */

void cg_partials_combine(Emitter *e, const ParforInfo *parfor, LLVMValueRef record) {
    Codegen *cg = e->cg;
    uint32_t n = parfor->slots.len;
    if (!n) return;
    LLVMValueRef leaves = cg_load_at(e, cg->i64, record, offsetof(PsParfor, leaves), 8);
    LLVMValueRef words = cg_load_at(e, cg->ptr, record, offsetof(PsParfor, partials), 8);
    LLVMValueRef first[64], sums[64];
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    if (n > PS_COUNT(sums)) {
        cg_unsupported(cg, ps_op(e->f, parfor->ref)->span, "a loop with more than %d reductions",
                       (int)PS_COUNT(sums));
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        const Slot *slot = &parfor->slots.data[i];
        LLVMValueRef stored = cg_load_at(e, cg_type_stored(cg, slot->type), cg_value(e, slot->var), 0,
                                         (unsigned)ps_scalar_size(slot->type));
        first[i] = cg_from_stored(e, slot->type, stored);
    }
    Counter c;
    cg_count_begin(e, &c, LLVMConstInt(cg->i64, 0, 0), leaves, 1, true);
    for (uint32_t i = 0; i < n; i++) {
        sums[i] = LLVMBuildPhi(e->b, LLVMTypeOf(first[i]), "");
        LLVMAddIncoming(sums[i], &first[i], &from, 1);
    }
    LLVMValueRef bytes = LLVMBuildMul(e->b, c.phi, LLVMConstInt(cg->i64, 8 * (uint64_t)n, 0), "");
    LLVMValueRef row = LLVMBuildGEP2(e->b, cg->i8, words, &bytes, 1, "");
    for (uint32_t i = 0; i < n; i++) {
        const Slot *slot = &parfor->slots.data[i];
        LLVMValueRef leaf = cg_from_word(e, slot->type, cg_load_at(e, cg->i64, row, 8 * (uint64_t)i, 8));
        LLVMValueRef sum = cg_binary(e, op_of(slot), slot->type, sums[i], leaf);
        LLVMAddIncoming(sums[i], &sum, &c.latch, 1);
        cg_store_at(e, cg_to_stored(e, slot->type, sum), cg_value(e, slot->var), 0,
                    (unsigned)ps_scalar_size(slot->type));
    }
    cg_count_end(e, &c);
}
