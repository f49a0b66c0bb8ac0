/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_lane_memory: locals, loads, stores and atomics of W lanes.
 *
 *     a local that varies        W values where one would be; a store keeps those of inactive lanes, unless they have no more
 *                                use for it: no control that diverges stands between the local and the store
 *     neighbours in memory       one vector load or store, masked where lanes may be inactive
 *     one place for all          a scalar load; of a store the last active lane counts, as in a loop
 *     anything else              AVX-512's gathers and scatters, of 4 and 8 bytes, which write ascending; or lane by lane,
 *                                where inactive lanes use memory of ours: that costs less than a branch
 *     atomics                    a loop over the active lanes, ascending; integer atomics of all lanes on one place whose old
 *                                value nobody wants are combined first, which changes no bits
 *
 * Uniform control is real control and an empty mask is always jumped over, so a scalar load happens only where some lane
 * wants it.
 */
#include "codegen/codegen_int.h"

#include <string.h>

static PsType pointee(const Emitter *e, PsRef place) {
    return ps_type_info(e->cg->m, ps_op(e->f, place)->type)->elem;
}

bool cg_lane_is_local(const Emitter *e, PsRef root) {
    const Uniform *u = &e->cg->uniform;
    return cg_in_lanes(e) && ps_op(e->f, root)->code == PS_OP_VAR && u->inside[root] &&
           u->held[root] == CG_UNEVEN;
}

/* -- locals -- */

/* A u1 per lane is kept as a mask, 0 or all ones; in a tile as bytes. */
static LLVMTypeRef local_type(const Emitter *e, PsType elem) {
    PsType scalar = ps_type_element(e->cg->m, elem);
    if (elem == PS_U1) return cg_lane_mask_type(e);
    LLVMTypeRef vector = cg_lane_type(e, cg_type_stored(e->cg, scalar));
    return elem == scalar ? vector : LLVMArrayType2(vector, (uint64_t)ps_type_count(e->cg->m, elem));
}

LLVMValueRef cg_lane_var(Emitter *e, PsRef r) {
    Codegen *cg = e->cg;
    PsType elem = pointee(e, r);
    uint64_t bytes = cg_type_bytes(cg, elem) * e->width;
    LLVMTypeRef type = local_type(e, elem);
    if (!cg_lane_is_local(e, r)) return cg_emit_var(e, r);
    e->locals += bytes;
    if (e->locals > CG_MAX_LOCALS) {
        cg_too_many_locals(cg, ps_op(e->f, r)->span, CG_MAX_LOCALS);
        return LLVMConstNull(cg->ptr);
    }
    LLVMValueRef local = cg_alloca(e, type, 64);
    if (ps_type_is_scalar(elem)) /* even where nothing reads it: else it would come from the turn before */
        cg_store_at(e, ps_op(e->f, r)->imm ? LLVMGetPoison(type) : LLVMConstNull(type), local, 0, 64);
    else if (ps_op(e->f, r)->imm)
        return local;
    else
        LLVMBuildMemSet(e->b, local, LLVMConstNull(cg->i8), LLVMConstInt(cg->i64, bytes, 0), 64);
    return local;
}

/* At a uniform index; others are found lane by lane. */
LLVMValueRef cg_lane_elem(Emitter *e, PsRef r) {
    PsRef place = ps_op_arg(e->f, r, 0);
    if (cg_lane_step(e, r) != 0) return LLVMConstNull(e->cg->ptr);
    if (!cg_lane_is_local(e, ps_place_root(e->f, place))) return cg_emit_elem(e, r);
    LLVMValueRef strides[PS_MAX_AXES] = {NULL}, at = cg_value(e, place);
    LLVMValueRef width = LLVMConstInt(e->cg->i64, e->width, 0);
    if (!cg_tile_strides(e, place, strides)) return NULL;
    for (uint32_t i = 1; i < ps_op(e->f, r)->nargs; i++) {
        LLVMValueRef size = LLVMBuildMul(e->b, strides[i - 1], width, "");
        LLVMValueRef bytes = LLVMBuildMul(e->b, cg_wide(e, ps_op_arg(e->f, r, i)), size, "");
        at = LLVMBuildGEP2(e->b, e->cg->i8, at, &bytes, 1, "");
    }
    return at;
}

/* Whether the local is kept as masks: a single u1. Tiles of u1 are bytes. */
static bool is_mask_local(const Emitter *e, PsRef place, PsType type) {
    return type == PS_U1 && ps_op(e->f, place)->code == PS_OP_VAR;
}

static unsigned local_align(const Emitter *e, PsRef place, PsType type) {
    return ps_op(e->f, place)->code == PS_OP_VAR ? 64 : (unsigned)ps_scalar_size(type);
}

static LLVMValueRef load_local(Emitter *e, PsRef place, PsType type) {
    LLVMValueRef at = cg_value(e, place);
    if (is_mask_local(e, place, type)) return cg_lane_test(e, cg_lane_mask_load(e, at));
    LLVMTypeRef vector = cg_lane_type(e, cg_type_stored(e->cg, type));
    return cg_from_stored(e, type, cg_load_at(e, vector, at, 0, local_align(e, place, type)));
}

static void store_local(Emitter *e, PsRef place, PsType type, LLVMValueRef value, bool everywhere) {
    LLVMValueRef at = cg_value(e, place);
    if (e->mask && !everywhere) value = cg_lane_select(e, value, load_local(e, place, type));
    if (is_mask_local(e, place, type)) {
        cg_lane_mask_store(e, cg_lane_mask(e, value), at);
        return;
    }
    cg_store_at(e, cg_to_stored(e, type, value), at, 0, local_align(e, place, type));
}

/* -- neighbours in memory -- */

static LLVMValueRef reversed(Emitter *e, LLVMValueRef v) {
    LLVMValueRef order[PS_STRIPES];
    for (unsigned i = 0; i < e->width; i++) order[i] = LLVMConstInt(e->cg->i32, e->width - 1 - i, 0);
    return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(order, e->width), "");
}

/* The lowest address of a row that goes up or down. */
static LLVMValueRef lowest(Emitter *e, LLVMValueRef at, int64_t step) {
    LLVMValueRef back = LLVMConstInt(e->cg->i64, (uint64_t)(step * (int64_t)(e->width - 1)), 0);
    return step > 0 ? at : LLVMBuildGEP2(e->b, e->cg->i8, at, &back, 1, "");
}

/* AVX2 has masked accesses of 4 and 8 bytes only. */
static bool has_masked(const Emitter *e, LLVMTypeRef stored) {
    LLVMTypeRef narrow[2] = {e->cg->i8, e->cg->i16};
    return e->cg->has_masks || (stored != narrow[0] && stored != narrow[1]);
}

/* A call of llvm.masked.load, store, gather or scatter: the alignment is an operand behind the place up to LLVM 21, and the place's attribute
 * after that. */
static LLVMValueRef masked_access(Emitter *e, const char *name, LLVMValueRef *args, unsigned n, unsigned place,
                                  LLVMTypeRef vector, unsigned align) {
    Codegen *cg = e->cg;
    LLVMTypeRef types[2] = {vector, LLVMTypeOf(args[place])};
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(cg->module, id, types, 2), all[4];
    LLVMTypeRef type = LLVMIntrinsicGetType(cg->ctx, id, types, 2);
    bool has_operand = LLVMCountParamTypes(type) > n;
    unsigned at = 0;
    for (unsigned i = 0; i < n; i++) {
        all[at++] = args[i];
        if (has_operand && i == place) all[at++] = LLVMConstInt(cg->i32, align, 0);
    }
    LLVMValueRef call = LLVMBuildCall2(e->b, type, fn, all, at, "");
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    if (!has_operand) LLVMAddCallSiteAttribute(call, place + 1, LLVMCreateEnumAttribute(cg->ctx, kind, align));
    return call;
}

static LLVMValueRef masked_load(Emitter *e, LLVMTypeRef vector, LLVMValueRef at, LLVMValueRef mask,
                                unsigned align) {
    LLVMValueRef args[3] = {at, cg_lane_test(e, mask), LLVMConstNull(vector)};
    return masked_access(e, "llvm.masked.load", args, 3, 0, vector, align);
}

static void masked_store(Emitter *e, LLVMValueRef row, LLVMValueRef at, LLVMValueRef mask, unsigned align) {
    LLVMValueRef args[3] = {row, at, cg_lane_test(e, mask)};
    masked_access(e, "llvm.masked.store", args, 3, 1, LLVMTypeOf(row), align);
}

static LLVMValueRef load_row(Emitter *e, LLVMTypeRef stored, LLVMValueRef at, int64_t step, unsigned size) {
    LLVMTypeRef vector = cg_lane_type(e, stored);
    at = lowest(e, at, step);
    LLVMValueRef mask = e->mask && step < 0 ? reversed(e, e->mask) : e->mask;
    LLVMValueRef row = mask ? masked_load(e, vector, at, mask, size) : cg_load_at(e, vector, at, 0, size);
    return step < 0 ? reversed(e, row) : row;
}

/* A masked store takes several times as long as a plain one, so a loop that is masked for its last turn's sake only
 * asks first. */
static void store_row(Emitter *e, LLVMValueRef value, LLVMValueRef at, int64_t step, unsigned size) {
    LLVMValueRef row = step < 0 ? reversed(e, value) : value, mask = e->mask;
    at = lowest(e, at, step);
    if (mask && step < 0) mask = reversed(e, mask);
    if (!mask) {
        cg_store_at(e, row, at, 0, size);
        return;
    }
    if (e->mask != e->tail || !e->is_full) {
        masked_store(e, row, at, mask, size);
        return;
    }
    LLVMBasicBlockRef full = cg_block(e, "full"), part = cg_block(e, "part"), done = cg_block(e, "stored");
    LLVMBuildCondBr(e->b, e->is_full, full, part);
    LLVMPositionBuilderAtEnd(e->b, full);
    cg_store_at(e, row, at, 0, size);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, part);
    masked_store(e, row, at, mask, size);
    cg_enter(e, done);
}

/* -- lane by lane -- */

/* Of the thread, so that no two write to it, and none of ours, which LLVM would make a value of, with branches. */
#define SAFE_SIZE sizeof(((PsTaskState *)NULL)->spare)
static LLVMValueRef safe_place(Emitter *e) { return cg_at(e, e->ts, offsetof(PsTaskState, spare)); }

/* Goes from a place to the one it is a constant distance behind, as long as that stays inside the safe place: what lies
 * side by side, such as the components of a vector, then shares the choice between the two. */
static PsRef row_of(const PsFunc *f, PsRef place, unsigned size, uint64_t *distance) {
    uint64_t by;
    *distance = 0;
    while (ps_op(f, place)->code == PS_OP_PTRADD && ps_op_is_const(f, ps_op_arg(f, place, 1), &by)) {
        uint64_t sum = *distance + by;
        if (by > SAFE_SIZE || sum + size > SAFE_SIZE) break;
        *distance = sum;
        place = ps_op_arg(f, place, 0);
    }
    return place;
}

/* The place of a lane, or the safe one where it is inactive. */
static LLVMValueRef lane_place(Emitter *e, PsRef place, unsigned lane, LLVMValueRef bits, unsigned size) {
    uint64_t distance;
    if (!bits) return cg_lane_scalar(e, place, lane);
    LLVMValueRef at = cg_lane_scalar(e, row_of(e->f, place, size, &distance), lane);
    LLVMTypeRef type = LLVMTypeOf(bits);
    LLVMValueRef bit = LLVMBuildAnd(e->b, bits, LLVMConstInt(type, (uint64_t)1 << lane, 0), "");
    LLVMValueRef active = LLVMBuildICmp(e->b, LLVMIntNE, bit, LLVMConstNull(type), "");
    at = LLVMBuildSelect(e->b, active, at, safe_place(e), "");
    LLVMValueRef bytes =
        LLVMConstInt(e->cg->i64, distance, 0); /* from a row that may begin outside the array */
    return distance ? LLVMBuildGEP2(e->b, e->cg->i8, at, &bytes, 1, "") : at;
}

static LLVMValueRef load_each(Emitter *e, PsRef place, LLVMTypeRef stored, unsigned size) {
    LLVMValueRef bits = e->mask ? cg_lane_bits(e, e->mask) : NULL, all = LLVMGetPoison(cg_lane_type(e, stored));
    for (unsigned i = 0; i < e->width; i++) {
        LLVMValueRef one = cg_load_at(e, stored, lane_place(e, place, i, bits, size), 0, size);
        all = LLVMBuildInsertElement(e->b, all, one, LLVMConstInt(e->cg->i32, i, 0), "");
    }
    return all;
}

static void store_each(Emitter *e, PsRef place, LLVMValueRef value, unsigned size) {
    LLVMValueRef bits = e->mask ? cg_lane_bits(e, e->mask) : NULL;
    for (unsigned i = 0; i < e->width; i++) {
        LLVMValueRef one = LLVMBuildExtractElement(e->b, value, LLVMConstInt(e->cg->i32, i, 0), "");
        cg_store_at(e, one, lane_place(e, place, i, bits, size), 0, size);
    }
}

/* -- gathers and scatters -- */

bool cg_lane_gathers(const Codegen *cg, PsType type) { return cg->has_masks && ps_scalar_size(type) >= 4; }

static LLVMValueRef active_lanes(Emitter *e) {
    if (e->mask) return cg_lane_test(e, e->mask);
    return LLVMConstAllOnes(cg_lane_type(e, e->cg->i1));
}

static LLVMValueRef gather(Emitter *e, PsRef place, LLVMTypeRef stored, PsType type) {
    unsigned size = (unsigned)ps_scalar_size(type);
    LLVMTypeRef vector = cg_lane_type(e, stored);
    LLVMValueRef places = cg_lane_gathers(e->cg, type) ? cg_lane_places(e, place) : NULL;
    if (!places) return load_each(e, place, stored, size);
    LLVMValueRef args[3] = {places, active_lanes(e), LLVMConstNull(vector)};
    return masked_access(e, "llvm.masked.gather", args, 3, 0, vector, size);
}

/* A scatter takes longer than its stores one after the other, which take longer to compile: where they are many, or masked. */
#define FEW_SCATTERS 4

static void scatter(Emitter *e, PsRef place, LLVMValueRef value, PsType type) {
    unsigned size = (unsigned)ps_scalar_size(type);
    bool scatters = cg_lane_gathers(e->cg, type) && (e->mask || e->parfor->scatters > FEW_SCATTERS);
    LLVMValueRef places = scatters ? cg_lane_places(e, place) : NULL;
    if (!places) {
        store_each(e, place, value, size);
        return;
    }
    LLVMValueRef args[3] = {value, places, active_lanes(e)};
    masked_access(e, "llvm.masked.scatter", args, 3, 1, LLVMTypeOf(value), size);
}

/* -- accesses -- */

/* Masked is said where control masks it, not for the last turn of a row. */
void cg_note_access(const Emitter *e, PsRef r, unsigned how) {
    if (!e->cg->how || e->kind != EMIT_TASK) return;
    if (e->mask && e->mask != e->tail) how |= CG_MASKED;
    e->cg->how[r] |= (uint8_t)how;
}

LLVMValueRef cg_lane_load(Emitter *e, PsRef r) {
    PsRef place = ps_op_arg(e->f, r, 0);
    PsType type = ps_op(e->f, r)->type;
    int64_t at = cg_lane_step(e, place), size = ps_type_is_scalar(type) ? ps_scalar_size(type) : 0;
    LLVMTypeRef stored;
    if (!size) return NULL;
    if (at == 0 && cg_lane_is_local(e, ps_place_root(e->f, place))) return load_local(e, place, type);
    if (at == 0) cg_note_access(e, r, CG_ONE);
    if (at == 0) return cg_emit_load(e, r);
    stored = cg_type_stored(e->cg, type);
    if ((at == size || at == -size) && (!e->mask || has_masked(e, stored))) {
        cg_note_access(e, r, at > 0 ? CG_ROW : CG_BACK);
        return cg_from_stored(e, type, load_row(e, stored, cg_value(e, place), at, (unsigned)size));
    }
    cg_note_access(e, r, CG_EACH);
    return cg_from_stored(e, type, gather(e, place, stored, type));
}

LLVMValueRef cg_lane_store(Emitter *e, PsRef r) {
    PsRef place = ps_op_arg(e->f, r, 0), value = ps_op_arg(e->f, r, 1), root = ps_place_root(e->f, place);
    PsType type = ps_op(e->f, value)->type;
    int64_t at = cg_lane_step(e, place), size = ps_type_is_scalar(type) ? ps_scalar_size(type) : 0;
    bool is_same = ps_op(e->f, root)->code == PS_OP_VAR && e->cg->uniform.inside[root];
    if (at == 0) cg_note_access(e, r, CG_ONE);
    if (!size || (at == 0 && !cg_lane_is_local(e, root) && (is_same || cg_lane_step(e, value) == 0)))
        return cg_emit_store(e, r);
    LLVMValueRef vector = cg_lane_vector(e, value);
    if (at == 0 && cg_lane_is_local(e, root)) {
        bool parted = cg_lanes_part(e->f, &e->cg->uniform, r, ps_op(e->f, root)->region);
        store_local(e, place, type, vector, !parted);
        return NULL;
    }
    LLVMValueRef stored = cg_to_stored(e, type, vector);
    bool is_row =
        (at == size || at == -size) && (!e->mask || has_masked(e, LLVMGetElementType(LLVMTypeOf(stored))));
    if (at != 0) cg_note_access(e, r, !is_row ? CG_EACH : at > 0 ? CG_ROW : CG_BACK);
    if (is_row)
        store_row(e, stored, cg_value(e, place), at, (unsigned)size);
    else
        scatter(e, place, stored, type);
    return NULL;
}

/* -- atomics -- */

/* The combines of integers whose order does not matter, as reductions of a vector; NULL: none. */
static const char *reduction_of(PsOpCode code, PsType type) {
    if (cg_is_float(type) || type == PS_U1) return NULL;
    switch (code) {
    case PS_OP_ATOMIC_ADD: return "llvm.vector.reduce.add";
    case PS_OP_ATOMIC_MIN: return cg_is_signed(type) ? "llvm.vector.reduce.smin" : "llvm.vector.reduce.umin";
    case PS_OP_ATOMIC_MAX: return cg_is_signed(type) ? "llvm.vector.reduce.smax" : "llvm.vector.reduce.umax";
    case PS_OP_ATOMIC_AND: return "llvm.vector.reduce.and";
    case PS_OP_ATOMIC_OR: return "llvm.vector.reduce.or";
    case PS_OP_ATOMIC_XOR: return "llvm.vector.reduce.xor";
    default: return NULL;
    }
}

_Static_assert(PS_OP_ATOMIC_XOR - PS_OP_ATOMIC_ADD == (int)PS_COMBINE_XOR &&
                   PS_OP_ATOMIC_MAX - PS_OP_ATOMIC_ADD == (int)PS_COMBINE_MAX,
               "atomics stand in the order of PsCombine");

/* All lanes into one place at once. */
static void combine_atomic(Emitter *e, PsRef r, const char *reduction) {
    PsOpCode code = (PsOpCode)ps_op(e->f, r)->code;
    PsType type = ps_op(e->f, r)->type;
    LLVMValueRef value = cg_lane_vector(e, ps_op_arg(e->f, r, 1));
    PsCombine combine = (PsCombine)(code - PS_OP_ATOMIC_ADD); /* in one order */
    uint64_t identity = ps_ir_identity(combine, type);
    value = cg_lane_select(e, value, cg_const(e->cg, type, identity, LLVMTypeOf(value)));
    cg_update(e, r, cg_arg(e, r, 0), cg_unary(e, reduction, value));
}

/* Memory of one element per lane, filled with the operand. */
static LLVMValueRef spill(Emitter *e, PsRef operand) {
    PsType type = ps_op(e->f, operand)->type;
    LLVMValueRef vector = cg_to_stored(e, type, cg_lane_vector(e, operand));
    LLVMValueRef at = cg_alloca(e, LLVMTypeOf(vector), 64);
    cg_store_at(e, vector, at, 0, 64);
    return at;
}

static LLVMValueRef spill_places(Emitter *e, PsRef place) {
    LLVMValueRef at = cg_alloca(e, LLVMArrayType2(e->cg->ptr, e->width), 8);
    for (unsigned i = 0; i < e->width; i++) cg_store_at(e, cg_lane_scalar(e, place, i), at, 8 * (uint64_t)i, 8);
    return at;
}

static LLVMValueRef slot_of(Emitter *e, LLVMTypeRef type, LLVMValueRef at, LLVMValueRef lane) {
    return LLVMBuildInBoundsGEP2(e->b, type, at, &lane, 1, "");
}

LLVMValueRef cg_lane_atomic(Emitter *e, PsRef r) {
    Codegen *cg = e->cg;
    PsType type = ps_op(e->f, r)->type;
    PsRef place = ps_op_arg(e->f, r, 0);
    if (!ps_type_is_scalar(type)) return NULL;
    bool is_wanted = cg->uses[r] != 0;
    const char *reduction = reduction_of((PsOpCode)ps_op(e->f, r)->code, type);
    if (cg_lane_step(e, place) == 0 && reduction && !is_wanted) {
        cg_note_access(e, r, CG_COMBINED);
        combine_atomic(e, r, reduction);
        return LLVMConstNull(cg_lane_type(e, cg->scalars[type]));
    }
    cg_note_access(e, r, CG_EACH);
    LLVMTypeRef stored = cg_type_stored(cg, type);
    LLVMValueRef operands = spill(e, ps_op_arg(e->f, r, 1)), places = NULL;
    if (cg_lane_step(e, place) != 0) places = spill_places(e, place);
    LLVMValueRef bits = LLVMBuildZExt(e->b, cg_lane_bits(e, e->mask), cg->i64, "");
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b), again = cg_block(e, "lane"), done = cg_block(e, "done");
    cg_enter(e, again);
    LLVMValueRef left = LLVMBuildPhi(e->b, cg->i64, "");
    LLVMValueRef args[2] = {left, LLVMConstInt(cg->i1, 1, 0)};
    LLVMValueRef lane = cg_intrinsic(e, "llvm.cttz", &cg->i64, 1, args, 2);
    LLVMValueRef at =
        places ? cg_load_at(e, cg->ptr, slot_of(e, cg->ptr, places, lane), 0, 8) : cg_value(e, place);
    LLVMValueRef slot = slot_of(e, stored, operands, lane);
    LLVMValueRef value =
        cg_from_stored(e, type, cg_load_at(e, stored, slot, 0, (unsigned)ps_scalar_size(type)));
    LLVMValueRef old = cg_update(e, r, at, value);
    if (is_wanted) cg_store_at(e, cg_to_stored(e, type, old), slot, 0, (unsigned)ps_scalar_size(type));
    LLVMValueRef next = LLVMBuildAnd(e->b, left, LLVMBuildSub(e->b, left, LLVMConstInt(cg->i64, 1, 0), ""), "");
    LLVMBasicBlockRef end = LLVMGetInsertBlock(e->b);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, next, LLVMConstInt(cg->i64, 0, 0), ""), again, done);
    LLVMAddIncoming(left, &bits, &from, 1);
    LLVMAddIncoming(left, &next, &end, 1);
    LLVMPositionBuilderAtEnd(e->b, done);
    return cg_from_stored(e, type, cg_load_at(e, cg_lane_type(e, stored), operands, 0, 64));
}
