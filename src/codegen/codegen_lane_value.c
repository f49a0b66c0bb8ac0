/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_lane_value: values of W lanes (codegen_uniform.c says which values are vectors), and masks.
 *
 * Masks are integers as wide as the loop's main type, 0 or all ones, which is how AVX2 compares and blends: it would pack
 * and unpack i1s wherever they meet or cross from block to block. AVX-512 has registers for the i1s themselves.
 *
 * Addresses that vary are no values of their own: what reads or writes them asks for one lane after the other
 * (cg_lane_scalar), which computes the address from the lanes of the indices in it, as 64-bit products in vectors cost AVX2
 * more than that; or, with AVX-512, for a vector of all (cg_lane_places).
 */
#include "codegen/codegen_int.h"

#define MAX_SUMS 4 /* one in another, computed lane by lane: of sums of sums twice as many each time */

LLVMTypeRef cg_lane_type(const Emitter *e, LLVMTypeRef element) { return LLVMVectorType(element, e->width); }

int64_t cg_lane_step(const Emitter *e, PsRef r) { return cg_in_lanes(e) ? e->cg->uniform.steps[r] : 0; }

/* -- values -- */

/* lane * step, modulo 2^bits, for each lane. */
static LLVMValueRef multiples(const Emitter *e, LLVMTypeRef type, int64_t step) {
    LLVMValueRef all[PS_STRIPES];
    for (unsigned i = 0; i < e->width; i++) all[i] = LLVMConstInt(type, (uint64_t)step * i, 0);
    return LLVMConstVector(all, e->width);
}

LLVMValueRef cg_lane_splat(Emitter *e, LLVMValueRef one) {
    LLVMTypeRef type = LLVMTypeOf(one);
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) return one;
    if (LLVMIsConstant(one)) {
        LLVMValueRef all[PS_STRIPES];
        for (unsigned i = 0; i < e->width; i++) all[i] = one;
        return LLVMConstVector(all, e->width);
    }
    LLVMValueRef none = LLVMGetPoison(cg_lane_type(e, type));
    LLVMValueRef first = LLVMBuildInsertElement(e->b, none, one, LLVMConstInt(e->cg->i32, 0, 0), "");
    LLVMValueRef zeros = LLVMConstNull(cg_lane_type(e, e->cg->i32));
    return LLVMBuildShuffleVector(e->b, first, none, zeros, "");
}

LLVMValueRef cg_lane_vector(Emitter *e, PsRef r) {
    int64_t step = cg_lane_step(e, r);
    LLVMValueRef value = cg_value(e, r);
    if (step == CG_UNEVEN) return value;
    LLVMValueRef all = cg_lane_splat(e, value);
    return step ? LLVMBuildAdd(e->b, all, multiples(e, LLVMTypeOf(value), step), "") : all;
}

LLVMValueRef cg_operand(Emitter *e, PsRef r, uint32_t i) {
    PsRef operand = ps_op_arg(e->f, r, i);
    return cg_lane_step(e, r) == CG_UNEVEN ? cg_lane_vector(e, operand) : cg_value(e, operand);
}

/* -- one lane -- */

static LLVMValueRef lane_of(Emitter *e, LLVMValueRef vector, unsigned lane) {
    return LLVMBuildExtractElement(e->b, vector, LLVMConstInt(e->cg->i32, lane, 0), "");
}

static LLVMValueRef step_bytes(Emitter *e, LLVMValueRef place, LLVMValueRef bytes) {
    return LLVMBuildGEP2(e->b, e->cg->i8, place, &bytes, 1, "");
}

/* An element of a tile: of a local with a value per lane, W values lie where one would. */
static LLVMValueRef elem_of_lane(Emitter *e, PsRef r, unsigned lane) {
    PsRef place = ps_op_arg(e->f, r, 0);
    LLVMValueRef strides[PS_MAX_AXES] = {NULL}, at = cg_lane_scalar(e, place, lane);
    bool per_lane = cg_lane_is_local(e, ps_place_root(e->f, place));
    if (!cg_tile_strides(e, place, strides)) return LLVMConstNull(e->cg->ptr);
    for (uint32_t i = 1; i < ps_op(e->f, r)->nargs; i++) {
        PsRef index = ps_op_arg(e->f, r, i);
        LLVMValueRef one = cg_convert(e, ps_op(e->f, index)->type, PS_I64, cg_lane_scalar(e, index, lane));
        LLVMValueRef bytes = LLVMBuildMul(e->b, one, strides[i - 1], "");
        if (per_lane) bytes = LLVMBuildMul(e->b, bytes, LLVMConstInt(e->cg->i64, e->width, 0), "");
        at = step_bytes(e, at, bytes);
    }
    if (!per_lane) return at;
    PsType scalar = ps_type_info(e->cg->m, ps_op(e->f, r)->type)->elem;
    return cg_at(e, at, lane * (uint64_t)ps_scalar_size(scalar));
}

static LLVMValueRef scalar_of(Emitter *e, PsRef r, unsigned lane, int depth);

/* 64-bit arithmetic and places, lane by lane; NULL: the op is neither, or is `depth` sums away from the place. */
static LLVMValueRef computed_lane(Emitter *e, PsRef r, unsigned lane, int depth) {
    const PsOp *op = ps_op(e->f, r);
    if (op->code == PS_OP_ELEM) return elem_of_lane(e, r, lane);
    if (op->code == PS_OP_PTRADD)
        return step_bytes(e, scalar_of(e, ps_op_arg(e->f, r, 0), lane, depth),
                          scalar_of(e, ps_op_arg(e->f, r, 1), lane, depth));
    if (op->code == PS_OP_CAST && op->type == PS_I64) {
        PsRef from = ps_op_arg(e->f, r, 0);
        PsType type = ps_op(e->f, from)->type;
        if (!ps_type_is_scalar(type) || cg_is_float(type)) return NULL;
        return cg_convert(e, type, PS_I64, cg_lane_scalar(e, from, lane));
    }
    bool is_sum = op->code == PS_OP_ADD || op->code == PS_OP_SUB || op->code == PS_OP_MUL;
    if (!is_sum || op->type != PS_I64 || !depth) return NULL;
    LLVMValueRef a = scalar_of(e, ps_op_arg(e->f, r, 0), lane, depth - 1);
    LLVMValueRef b = scalar_of(e, ps_op_arg(e->f, r, 1), lane, depth - 1);
    return cg_binary(e, (PsOpCode)op->code, PS_I64, a, b);
}

static LLVMValueRef scalar_of(Emitter *e, PsRef r, unsigned lane, int depth) {
    int64_t step = cg_lane_step(e, r);
    if (step == CG_UNEVEN) {
        LLVMValueRef one = computed_lane(e, r, lane, depth);
        return one ? one : lane_of(e, cg_value(e, r), lane);
    }
    LLVMValueRef value = cg_value(e, r);
    if (!step || !lane) return value;
    if (!ps_type_is_scalar(ps_op(e->f, r)->type))
        return step_bytes(e, value, LLVMConstInt(e->cg->i64, (uint64_t)step * lane, 0));
    return LLVMBuildAdd(e->b, value, LLVMConstInt(LLVMTypeOf(value), (uint64_t)step * lane, 0), "");
}

LLVMValueRef cg_lane_scalar(Emitter *e, PsRef r, unsigned lane) { return scalar_of(e, r, lane, MAX_SUMS); }

/* -- the places of all lanes -- */

static LLVMValueRef sum_of(Emitter *e, LLVMValueRef a, LLVMValueRef b) {
    return !a ? b : !b ? a : LLVMBuildAdd(e->b, a, b, "");
}

/* A place as a scalar `base` and a vector of bytes behind it, or NULL where all lanes are at the base. False: it is none of
 * an array that steps lead to. */
static bool split_place(Emitter *e, PsRef r, LLVMValueRef *base, LLVMValueRef *bytes) {
    const PsOp *op = ps_op(e->f, r);
    int64_t step = cg_lane_step(e, r);
    if (step != CG_UNEVEN) {
        *base = cg_value(e, r);
        *bytes = step ? multiples(e, e->cg->i64, step) : NULL;
        return true;
    }
    if (op->code != PS_OP_PTRADD || !split_place(e, ps_op_arg(e->f, r, 0), base, bytes)) return false;
    PsRef by = ps_op_arg(e->f, r, 1);
    if (cg_lane_step(e, by) == 0)
        *base = step_bytes(e, *base, cg_value(e, by));
    else
        *bytes = sum_of(e, *bytes, cg_lane_vector(e, by));
    return true;
}

LLVMValueRef cg_lane_places(Emitter *e, PsRef place) {
    LLVMValueRef base, bytes;
    if (!split_place(e, place, &base, &bytes) || !bytes) return NULL;
    return LLVMBuildGEP2(e->b, e->cg->i8, base, &bytes, 1, "");
}

/* -- masks -- */

LLVMTypeRef cg_lane_mask_type(const Emitter *e) {
    if (e->cg->has_masks) return cg_lane_type(e, e->cg->i1);
    unsigned bits = 8 * (unsigned)e->parfor->element;
    return cg_lane_type(e, LLVMIntTypeInContext(e->cg->ctx, bits));
}

LLVMValueRef cg_lane_none(Emitter *e) { return LLVMConstNull(cg_lane_mask_type(e)); }
static LLVMValueRef all_lanes(const Emitter *e) { return LLVMConstAllOnes(cg_lane_mask_type(e)); }

/* By a function that instcombine does not see into: it would make i1s of all masks again. */
LLVMValueRef cg_lane_mask(Emitter *e, LLVMValueRef i1s) {
    LLVMTypeRef from = LLVMTypeOf(i1s), to = cg_lane_mask_type(e);
    if (from == to) return i1s;
    if (LLVMIsConstant(i1s) && cg_splat_of(i1s)) return LLVMIsNull(i1s) ? cg_lane_none(e) : all_lanes(e);
    LLVMTypeRef type = LLVMFunctionType(to, &from, 1, 0);
    bool is_new;
    LLVMValueRef fn = cg_late_function(e, "mask", type, &is_new);
    if (is_new) cg_late_return(e, LLVMBuildSExt(e->b, LLVMGetParam(fn, 0), to, ""));
    return LLVMBuildCall2(e->b, type, fn, &i1s, 1, "");
}

LLVMValueRef cg_lane_test(Emitter *e, LLVMValueRef mask) {
    LLVMTypeRef type = LLVMTypeOf(mask);
    if (LLVMGetElementType(type) == e->cg->i1) return mask;
    return LLVMBuildICmp(e->b, LLVMIntSLT, mask, LLVMConstNull(type), "");
}

LLVMValueRef cg_lane_mask_new(Emitter *e) { return cg_alloca(e, cg_lane_mask_type(e), 64); }

LLVMValueRef cg_lane_mask_load(Emitter *e, LLVMValueRef at) {
    return cg_load_at(e, cg_lane_mask_type(e), at, 0, 64);
}

void cg_lane_mask_store(Emitter *e, LLVMValueRef mask, LLVMValueRef at) {
    cg_store_at(e, mask ? mask : all_lanes(e), at, 0, 64);
}

void cg_lane_mask_add(Emitter *e, LLVMValueRef mask, LLVMValueRef at) {
    if (mask) mask = LLVMBuildOr(e->b, cg_lane_mask_load(e, at), mask, "");
    cg_lane_mask_store(e, mask, at);
}

LLVMValueRef cg_lane_and(Emitter *e, LLVMValueRef a, LLVMValueRef b) {
    return !a ? b : !b ? a : LLVMBuildAnd(e->b, a, b, "");
}

LLVMValueRef cg_lane_without(Emitter *e, LLVMValueRef a, LLVMValueRef b) {
    return cg_lane_and(e, a, LLVMBuildNot(e->b, b, ""));
}

LLVMValueRef cg_lane_bits(Emitter *e, LLVMValueRef mask) {
    LLVMTypeRef type = LLVMIntTypeInContext(e->cg->ctx, e->width);
    return mask ? LLVMBuildBitCast(e->b, cg_lane_test(e, mask), type, "") : LLVMConstAllOnes(type);
}

/* Of a mask in a vector register by one test of all its bits: a test of the lanes' signs would be the one that selects ask
 * for, and LLVM would keep its result, packed, beside the mask. */
LLVMValueRef cg_lane_any(Emitter *e, LLVMValueRef mask) {
    unsigned size = 8 * (unsigned)e->parfor->element * e->width;
    bool is_register = mask && !e->cg->has_masks && size <= 256;
    LLVMTypeRef all = LLVMIntTypeInContext(e->cg->ctx, size);
    LLVMValueRef bits = is_register ? LLVMBuildBitCast(e->b, mask, all, "") : cg_lane_bits(e, mask);
    return LLVMBuildICmp(e->b, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)), "");
}

LLVMValueRef cg_lane_first(Emitter *e, LLVMValueRef n) {
    LLVMTypeRef i32 = e->cg->i32;
    LLVMValueRef most = LLVMConstInt(e->cg->i64, e->width, 0);
    LLVMValueRef fewer = LLVMBuildICmp(e->b, LLVMIntSLT, n, most, "");
    LLVMValueRef count = LLVMBuildTrunc(e->b, LLVMBuildSelect(e->b, fewer, n, most, ""), i32, "");
    LLVMValueRef below = LLVMBuildICmp(e->b, LLVMIntSLT, multiples(e, i32, 1), cg_lane_splat(e, count), "");
    return cg_lane_mask(e, below);
}

LLVMValueRef cg_lane_select(Emitter *e, LLVMValueRef value, LLVMValueRef other) {
    return e->mask ? LLVMBuildSelect(e->b, cg_lane_test(e, e->mask), value, other, "") : value;
}
