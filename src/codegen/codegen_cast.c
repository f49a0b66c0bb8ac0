/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_cast: conversions, saturating and defined everywhere (ops.def, ir_scalar.c). f16 and bf16 are converted by
 * integer arithmetic, as in abi/half.h, but for f16 <-> f32 on machines that have it (F16C). What is wider than f32 goes
 * to a 16-bit float through an f32 rounded to odd, so that it is rounded only once.
 */
#include "codegen/codegen_int.h"

/* -- 16-bit floats, all taking vectors too -- */

static LLVMValueRef half_bits_to_f32(Emitter *e, LLVMValueRef half) {
    Codegen *cg = e->cg;
    LLVMTypeRef i32 = cg_like(cg->i32, half), f32 = cg_like(cg->f32, half);
    LLVMValueRef bits = LLVMBuildZExt(e->b, half, i32, "");
    LLVMValueRef size = LLVMBuildAnd(e->b, bits, cg_int(cg, i32, 0x7fff), "");
    LLVMValueRef sign =
        LLVMBuildShl(e->b, LLVMBuildAnd(e->b, bits, cg_int(cg, i32, 0x8000), ""), cg_int(cg, i32, 16), "");
    LLVMValueRef up = LLVMBuildShl(e->b, size, cg_int(cg, i32, 13), "");
    /* As an f32 the shifted bits are the value times 2^-112, denormals included; infinities and NaNs are not. */
    LLVMValueRef scaled =
        LLVMBuildFMul(e->b, LLVMBuildBitCast(e->b, up, f32, ""), cg_real(cg, f32, 0x1p112), "");
    LLVMValueRef special = LLVMBuildOr(e->b, up, cg_int(cg, i32, 0x7f800000), "");
    LLVMValueRef is_special = LLVMBuildICmp(e->b, LLVMIntUGE, size, cg_int(cg, i32, 0x7c00), "");
    LLVMValueRef value =
        LLVMBuildSelect(e->b, is_special, special, LLVMBuildBitCast(e->b, scaled, i32, ""), "");
    return LLVMBuildBitCast(e->b, LLVMBuildOr(e->b, value, sign, ""), f32, "");
}

LLVMValueRef cg_widen(Emitter *e, PsType half, LLVMValueRef a) {
    Codegen *cg = e->cg;
    LLVMTypeRef i32 = cg_like(cg->i32, a), f32 = cg_like(cg->f32, a);
    if (half == PS_BF16) {
        LLVMValueRef bits = LLVMBuildShl(e->b, LLVMBuildZExt(e->b, a, i32, ""), cg_int(cg, i32, 16), "");
        return LLVMBuildBitCast(e->b, bits, f32, "");
    }
    if (!cg->has_f16c) return half_bits_to_f32(e, a);
    return LLVMBuildFPExt(e->b, LLVMBuildBitCast(e->b, a, cg_like(cg->f16, a), ""), f32, "");
}

/* A NaN: `quiet` and the upper bits of the payload. */
static LLVMValueRef f32_to_bf16(Emitter *e, LLVMValueRef bits) {
    Codegen *cg = e->cg;
    LLVMTypeRef i32 = LLVMTypeOf(bits);
    LLVMValueRef top = LLVMBuildLShr(e->b, bits, cg_int(cg, i32, 16), "");
    LLVMValueRef odd = LLVMBuildAnd(e->b, top, cg_int(cg, i32, 1), "");
    LLVMValueRef up = LLVMBuildAdd(e->b, LLVMBuildAdd(e->b, bits, odd, ""), cg_int(cg, i32, 0x7fff), "");
    LLVMValueRef rounded = LLVMBuildLShr(e->b, up, cg_int(cg, i32, 16), "");
    LLVMValueRef size = LLVMBuildAnd(e->b, bits, cg_int(cg, i32, 0x7fffffff), "");
    LLVMValueRef nan = LLVMBuildICmp(e->b, LLVMIntUGT, size, cg_int(cg, i32, 0x7f800000), "");
    return LLVMBuildSelect(e->b, nan, LLVMBuildOr(e->b, top, cg_int(cg, i32, 0x40), ""), rounded, "");
}

/* The magnitude of an f32 that rounds to a denormal f16: adding 0.5 leaves the rounded fraction in the lowest bits. */
static LLVMValueRef small_to_f16(Emitter *e, LLVMValueRef size) {
    LLVMTypeRef i32 = LLVMTypeOf(size), f32 = cg_like(e->cg->f32, size);
    LLVMValueRef sum = LLVMBuildFAdd(e->b, LLVMBuildBitCast(e->b, size, f32, ""), cg_real(e->cg, f32, 0.5), "");
    return LLVMBuildSub(e->b, LLVMBuildBitCast(e->b, sum, i32, ""), cg_int(e->cg, i32, 0x3f000000), "");
}

static LLVMValueRef f32_to_half(Emitter *e, LLVMValueRef bits) {
    Codegen *cg = e->cg;
    LLVMTypeRef i32 = LLVMTypeOf(bits);
    LLVMBuilderRef b = e->b;
    LLVMValueRef thirteen = cg_int(cg, i32, 13), size = LLVMBuildAnd(b, bits, cg_int(cg, i32, 0x7fffffff), "");
    LLVMValueRef cut = LLVMBuildLShr(b, size, thirteen, "");
    LLVMValueRef odd = LLVMBuildAnd(b, cut, cg_int(cg, i32, 1), "");
    /* A carry out of the fraction goes into the exponent, up to infinity, as it should. */
    LLVMValueRef up = LLVMBuildAdd(b, LLVMBuildAdd(b, size, odd, ""), cg_int(cg, i32, 0xc8000fff), "");
    LLVMValueRef normal = LLVMBuildLShr(b, up, thirteen, "");
    LLVMValueRef nan =
        LLVMBuildOr(b, LLVMBuildAnd(b, cut, cg_int(cg, i32, 0x3ff), ""), cg_int(cg, i32, 0x7e00), "");
    LLVMValueRef is_nan = LLVMBuildICmp(b, LLVMIntUGT, size, cg_int(cg, i32, 0x7f800000), "");
    LLVMValueRef huge = LLVMBuildSelect(b, is_nan, nan, cg_int(cg, i32, 0x7c00), "");
    LLVMValueRef is_huge = LLVMBuildICmp(b, LLVMIntUGE, size, cg_int(cg, i32, 0x47800000), "");
    LLVMValueRef is_small = LLVMBuildICmp(b, LLVMIntULT, size, cg_int(cg, i32, 0x38800000), "");
    LLVMValueRef value = LLVMBuildSelect(b, is_small, small_to_f16(e, size), normal, "");
    value = LLVMBuildSelect(b, is_huge, huge, value, "");
    LLVMValueRef sign =
        LLVMBuildAnd(b, LLVMBuildLShr(b, bits, cg_int(cg, i32, 16), ""), cg_int(cg, i32, 0x8000), "");
    return LLVMBuildOr(b, value, sign, "");
}

LLVMValueRef cg_narrow(Emitter *e, PsType half, LLVMValueRef a) {
    Codegen *cg = e->cg;
    LLVMTypeRef i16 = cg_like(cg->i16, a);
    if (half == PS_F16 && cg->has_f16c)
        return LLVMBuildBitCast(e->b, LLVMBuildFPTrunc(e->b, a, cg_like(cg->f16, a), ""), i16, "");
    LLVMValueRef bits = LLVMBuildBitCast(e->b, a, cg_like(cg->i32, a), "");
    return LLVMBuildTrunc(e->b, half == PS_BF16 ? f32_to_bf16(e, bits) : f32_to_half(e, bits), i16, "");
}

/* Toward zero, with the last bit set when something was lost: rounding that once more rounds the f64 itself. */
static LLVMValueRef round_to_odd(Emitter *e, LLVMValueRef value) {
    Codegen *cg = e->cg;
    LLVMTypeRef i32 = cg_like(cg->i32, value), f32 = cg_like(cg->f32, value);
    LLVMValueRef near = LLVMBuildFPTrunc(e->b, value, f32, ""),
                 back = LLVMBuildFPExt(e->b, near, cg_like(cg->f64, value), "");
    LLVMValueRef bits = LLVMBuildBitCast(e->b, near, i32, "");
    LLVMValueRef over =
        LLVMBuildFCmp(e->b, LLVMRealOGT, cg_unary(e, "llvm.fabs", back), cg_unary(e, "llvm.fabs", value), "");
    LLVMValueRef down = LLVMBuildSub(e->b, bits, LLVMBuildZExt(e->b, over, i32, ""), "");
    LLVMValueRef odd = LLVMBuildOr(e->b, down, cg_int(cg, i32, 1), "");
    LLVMValueRef lost = LLVMBuildFCmp(e->b, LLVMRealONE, back, value, "");
    return LLVMBuildBitCast(e->b, LLVMBuildSelect(e->b, lost, odd, bits, ""), f32, "");
}

/* -- casts -- */

/* What lies below f64's 53 bits becomes one bit that stands for it. */
static LLVMValueRef sticky(Emitter *e, LLVMValueRef size) {
    const Codegen *cg = e->cg;
    LLVMTypeRef i64 = LLVMTypeOf(size);
    LLVMValueRef mask = cg_int(cg, i64, 0xfff), zero = LLVMConstNull(i64);
    LLVMValueRef low = LLVMBuildAnd(e->b, size, mask, "");
    LLVMValueRef some = LLVMBuildICmp(e->b, LLVMIntNE, low, zero, "");
    LLVMValueRef bit = LLVMBuildSelect(e->b, some, cg_int(cg, i64, 0x1000), zero, "");
    LLVMValueRef gathered = LLVMBuildOr(e->b, LLVMBuildXor(e->b, size, low, ""), bit, "");
    LLVMValueRef wide = LLVMBuildICmp(e->b, LLVMIntUGE, size, cg_int(cg, i64, (uint64_t)1 << 52), "");
    return LLVMBuildSelect(e->b, wide, gathered, size, "");
}

static LLVMValueRef int64_to_half(Emitter *e, PsType from, PsType to, LLVMValueRef a) {
    Codegen *cg = e->cg;
    LLVMValueRef negative = LLVMBuildICmp(e->b, LLVMIntSLT, a, LLVMConstNull(LLVMTypeOf(a)), ""), size = a;
    if (from == PS_I64) size = LLVMBuildSelect(e->b, negative, LLVMBuildNeg(e->b, a, ""), a, "");
    LLVMValueRef value = LLVMBuildUIToFP(e->b, sticky(e, size), cg_like(cg->f64, a), "");
    if (from == PS_I64) value = LLVMBuildSelect(e->b, negative, LLVMBuildFNeg(e->b, value, ""), value, "");
    return cg_narrow(e, to, round_to_odd(e, value));
}

static LLVMValueRef int_to_float(Emitter *e, PsType from, PsType to, LLVMValueRef a) {
    Codegen *cg = e->cg;
    if (cg_is_half(to) && (from == PS_I64 || from == PS_U64)) return int64_to_half(e, from, to, a);
    LLVMTypeRef type = cg_like(cg_is_half(to) ? cg->f64 : cg->scalars[to], a);
    LLVMValueRef value =
        cg_is_signed(from) ? LLVMBuildSIToFP(e->b, a, type, "") : LLVMBuildUIToFP(e->b, a, type, "");
    return cg_is_half(to) ? cg_narrow(e, to, round_to_odd(e, value)) : value;
}

static LLVMValueRef float_to_int(Emitter *e, PsType to, LLVMValueRef a) {
    LLVMTypeRef types[2] = {cg_like(e->cg->scalars[to], a), LLVMTypeOf(a)};
    return cg_intrinsic(e, cg_is_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat", types, 2, &a, 1);
}

/* To a wider float, where instcombine does not see it: it takes x < 0 ? 0 : x, where x was widened, for x > 0 ? x : 0,
 * which has another zero for x = -0.0. Such selects come from min, max and conditional expressions alike. */
static LLVMValueRef extend(Emitter *e, bool to_f64, LLVMValueRef a) {
    Codegen *cg = e->cg;
    LLVMTypeRef from = LLVMTypeOf(a), to = cg_like(to_f64 ? cg->f64 : cg->f32, a);
    LLVMTypeRef type = LLVMFunctionType(to, &from, 1, 0);
    bool is_new;
    LLVMValueRef fn = cg_late_function(e, to_f64 ? "extend.f64" : "extend.f32", type, &is_new);
    if (is_new) {
        LLVMValueRef value = LLVMGetParam(fn, 0);
        if (!to_f64) value = LLVMBuildBitCast(e->b, value, cg_like(cg->f16, value), "");
        cg_late_return(e, LLVMBuildFPExt(e->b, value, to, ""));
    }
    return LLVMBuildCall2(e->b, type, fn, &a, 1, "");
}

static LLVMValueRef float_to_float(Emitter *e, PsType from, PsType to, LLVMValueRef a) {
    if (cg_is_half(to)) return cg_narrow(e, to, from == PS_F64 ? round_to_odd(e, a) : a);
    if (from == to) return a;
    return to == PS_F64 ? extend(e, true, a) : LLVMBuildFPTrunc(e->b, a, cg_like(e->cg->f32, a), "");
}

static LLVMValueRef int_to_int(Emitter *e, PsType from, PsType to, LLVMValueRef a) {
    LLVMTypeRef type = cg_like(e->cg->scalars[to], a);
    unsigned have = cg_int_bits(a), want = LLVMGetIntTypeWidth(e->cg->scalars[to]);
    if (have == want) return a;
    if (have > want) return LLVMBuildTrunc(e->b, a, type, "");
    return cg_is_signed(from) ? LLVMBuildSExt(e->b, a, type, "") : LLVMBuildZExt(e->b, a, type, "");
}

LLVMValueRef cg_convert(Emitter *e, PsType from, PsType to, LLVMValueRef a) {
    if (from == to) return a;
    if (from == PS_F16 && e->cg->has_f16c && cg_is_float(to)) a = extend(e, false, a), from = PS_F32;
    if (cg_is_half(from)) a = cg_widen(e, from, a), from = PS_F32;
    if (cg_is_float(from)) {
        if (cg_is_float(to)) return float_to_float(e, from, to, a);
        if (to != PS_U1) return float_to_int(e, to, a);
        return LLVMBuildFCmp(e->b, LLVMRealUNE, a, LLVMConstNull(LLVMTypeOf(a)), "");
    }
    if (cg_is_float(to)) return int_to_float(e, from, to, a);
    if (to == PS_U1) return LLVMBuildICmp(e->b, LLVMIntNE, a, LLVMConstNull(LLVMTypeOf(a)), "");
    return int_to_int(e, from, to, a);
}

LLVMValueRef cg_emit_cast(Emitter *e, PsRef r) {
    PsRef from = ps_op_arg(e->f, r, 0);
    PsType type = ps_op(e->f, from)->type, to = ps_op(e->f, r)->type;
    if (!ps_type_is_scalar(type) || !ps_type_is_scalar(to)) return NULL;
    if (type == PS_I32 && to == PS_I64 && cg_lane_step(e, r) != CG_UNEVEN) return cg_wide(e, from);
    return cg_convert(e, type, to, cg_operand(e, r, 0));
}

LLVMValueRef cg_emit_bitcast(Emitter *e, PsRef r) {
    PsType from = ps_op(e->f, ps_op_arg(e->f, r, 0))->type, to = ps_op(e->f, r)->type;
    if (!ps_type_is_scalar(from) || !ps_type_is_scalar(to) || ps_scalar_size(from) != ps_scalar_size(to))
        return NULL;
    LLVMValueRef value = cg_operand(e, r, 0);
    return LLVMBuildBitCast(e->b, value, cg_like(e->cg->scalars[to], value), "");
}
