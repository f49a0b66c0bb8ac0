/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_float: arithmetic of floats. No fast-math flag anywhere: LLVM computes what the IR says. f16 and bf16 are
 * widened to f32, computed there and rounded once per op, as the evaluator does. min, max, round, mod and floordiv are written out
 * as ops.def defines them, not as LLVM's intrinsics, whose results for NaNs and zeros vary with the machine.
 */
#include "codegen/codegen_int.h"

#include <string.h>

/* b != b ? a : a < b ? a : b, and > for max. The inner part is what x86's minps computes. */
static LLVMValueRef min_max(Emitter *e, LLVMRealPredicate predicate, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef best = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, predicate, a, b, ""), a, b, "");
    return LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealUNO, b, b, ""), a, best, "");
}

static LLVMValueRef with_sign(Emitter *e, LLVMValueRef size, LLVMValueRef sign) {
    LLVMTypeRef type = LLVMTypeOf(size);
    LLVMValueRef args[2] = {size, sign};
    return cg_intrinsic(e, "llvm.copysign", &type, 1, args, 2);
}

/* C's round: trunc, and one further from zero when half or more was cut off. The difference is exact. */
static LLVMValueRef round_away(Emitter *e, LLVMValueRef a) {
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef whole = cg_unary(e, "llvm.trunc", a);
    LLVMValueRef rest = cg_unary(e, "llvm.fabs", LLVMBuildFSub(e->b, a, whole, ""));
    LLVMValueRef far = LLVMBuildFCmp(e->b, LLVMRealOGE, rest, cg_real(e->cg, type, 0.5), "");
    LLVMValueRef next = LLVMBuildFAdd(e->b, whole, with_sign(e, cg_real(e->cg, type, 1), a), "");
    return LLVMBuildSelect(e->b, far, next, whole, "");
}

/* As CPython's float_rem: fmod, then brought to the sign of b. */
static LLVMValueRef modulo(Emitter *e, PsType type, LLVMValueRef *args) {
    LLVMValueRef b = args[1], zero = LLVMConstNull(LLVMTypeOf(b));
    LLVMValueRef rest = cg_emit_math(e, PS_OP_FMOD, type, args);
    LLVMValueRef below = LLVMBuildFCmp(e->b, LLVMRealOLT, rest, zero, "");
    LLVMValueRef b_below = LLVMBuildFCmp(e->b, LLVMRealOLT, b, zero, "");
    LLVMValueRef differ = LLVMBuildXor(e->b, below, b_below, "");
    LLVMValueRef moved = LLVMBuildSelect(e->b, differ, LLVMBuildFAdd(e->b, rest, b, ""), rest, "");
    LLVMValueRef is_zero = LLVMBuildFCmp(e->b, LLVMRealOEQ, rest, zero, "");
    return LLVMBuildSelect(e->b, is_zero, with_sign(e, zero, b), moved, "");
}

/* As CPython's float_floor_div (ir_scalar.c says why); a / b for b == 0. */
static LLVMValueRef floor_divide(Emitter *e, PsType type, LLVMValueRef *args) {
    LLVMValueRef a = args[0], b = args[1], zero = LLVMConstNull(LLVMTypeOf(b));
    LLVMValueRef one = cg_real(e->cg, LLVMTypeOf(b), 1), half = cg_real(e->cg, LLVMTypeOf(b), 0.5);
    LLVMValueRef rest = cg_emit_math(e, PS_OP_FMOD, type, args), plain = LLVMBuildFDiv(e->b, a, b, "");
    LLVMValueRef below = LLVMBuildFCmp(e->b, LLVMRealOLT, rest, zero, "");
    LLVMValueRef differ = LLVMBuildXor(e->b, below, LLVMBuildFCmp(e->b, LLVMRealOLT, b, zero, ""), "");
    differ = LLVMBuildAnd(e->b, differ, LLVMBuildFCmp(e->b, LLVMRealUNE, rest, zero, ""), "");
    LLVMValueRef near = LLVMBuildFDiv(e->b, LLVMBuildFSub(e->b, a, rest, ""), b, "");
    near = LLVMBuildSelect(e->b, differ, LLVMBuildFSub(e->b, near, one, ""), near, "");
    LLVMValueRef whole = cg_unary(e, "llvm.floor", near), gap = LLVMBuildFSub(e->b, near, whole, "");
    LLVMValueRef far = LLVMBuildFCmp(e->b, LLVMRealOGT, gap, half, "");
    whole = LLVMBuildSelect(e->b, far, LLVMBuildFAdd(e->b, whole, one, ""), whole, "");
    LLVMValueRef is_zero = LLVMBuildFCmp(e->b, LLVMRealOEQ, near, zero, "");
    whole = LLVMBuildSelect(e->b, is_zero, with_sign(e, zero, plain), whole, "");
    return LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOEQ, b, zero, ""), plain, whole, "");
}

static LLVMValueRef fused(Emitter *e, LLVMValueRef *args) {
    LLVMTypeRef type = LLVMTypeOf(args[0]);
    return cg_intrinsic(e, "llvm.fma", &type, 1, args, 3);
}

/* Of f32 or f64, or vectors of them. */
static LLVMValueRef emit_wide(Emitter *e, PsOpCode code, PsType type, LLVMValueRef *args) {
    LLVMValueRef a = args[0], b = args[1];
    switch (code) {
    case PS_OP_ADD: return LLVMBuildFAdd(e->b, a, b, "");
    case PS_OP_SUB: return LLVMBuildFSub(e->b, a, b, "");
    case PS_OP_MUL: return LLVMBuildFMul(e->b, a, b, "");
    case PS_OP_DIV: return LLVMBuildFDiv(e->b, a, b, "");
    case PS_OP_FMA: return fused(e, args);
    case PS_OP_FLOORDIV: return floor_divide(e, type, args);
    case PS_OP_MOD: return modulo(e, type, args);
    case PS_OP_NEG: return LLVMBuildFNeg(e->b, a, "");
    case PS_OP_ABS: return cg_unary(e, "llvm.fabs", a);
    case PS_OP_COPYSIGN: return with_sign(e, a, b);
    case PS_OP_MIN: return min_max(e, LLVMRealOLT, a, b);
    case PS_OP_MAX: return min_max(e, LLVMRealOGT, a, b);
    case PS_OP_SQRT: return cg_unary(e, "llvm.sqrt", a);
    case PS_OP_RSQRT:
        return LLVMBuildFDiv(e->b, cg_real(e->cg, LLVMTypeOf(a), 1), cg_unary(e, "llvm.sqrt", a), "");
    case PS_OP_FLOOR: return cg_unary(e, "llvm.floor", a);
    case PS_OP_CEIL: return cg_unary(e, "llvm.ceil", a);
    case PS_OP_TRUNC: return cg_unary(e, "llvm.trunc", a);
    case PS_OP_RINT: return cg_unary(e, "llvm.rint", a); /* tasks run in the default rounding mode */
    case PS_OP_ROUND: return round_away(e, a);
    default: return cg_emit_math(e, code, type, args);
    }
}

/* What needs no arithmetic stays on the bits: the sign ops, and min and max, which give one of their operands. */
static LLVMValueRef emit_half(Emitter *e, PsOpCode code, PsType type, LLVMValueRef *args) {
    LLVMTypeRef bits = LLVMTypeOf(args[0]);
    if (code == PS_OP_NEG) return LLVMBuildXor(e->b, args[0], cg_int(e->cg, bits, 0x8000), "");
    if (code == PS_OP_ABS) return LLVMBuildAnd(e->b, args[0], cg_int(e->cg, bits, 0x7fff), "");
    if (code == PS_OP_COPYSIGN) {
        LLVMValueRef size = LLVMBuildAnd(e->b, args[0], cg_int(e->cg, bits, 0x7fff), "");
        return LLVMBuildOr(e->b, size, LLVMBuildAnd(e->b, args[1], cg_int(e->cg, bits, 0x8000), ""), "");
    }
    LLVMValueRef wide[3] = {0};
    int n = ps_op_info[code].nargs;
    for (int i = 0; i < n && i < 3; i++) wide[i] = cg_widen(e, type, args[i]);
    if (code == PS_OP_MIN || code == PS_OP_MAX) {
        LLVMRealPredicate predicate = code == PS_OP_MIN ? LLVMRealOLT : LLVMRealOGT;
        LLVMValueRef better = LLVMBuildFCmp(e->b, predicate, wide[0], wide[1], "");
        LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, wide[1], wide[1], "");
        return LLVMBuildSelect(e->b, LLVMBuildOr(e->b, better, nan, ""), args[0], args[1], "");
    }
    LLVMValueRef result = emit_wide(e, code, PS_F32, wide);
    return result ? cg_narrow(e, type, result) : NULL;
}

LLVMValueRef cg_emit_float(Emitter *e, PsOpCode code, PsType type, LLVMValueRef *args) {
    return cg_is_half(type) ? emit_half(e, code, type, args) : emit_wide(e, code, type, args);
}
