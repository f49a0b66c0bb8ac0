/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_math: math functions as calls of rt's, under names that LLVM knows nothing about, so that it neither folds
 * nor replaces them and the evaluator's bits come out; and integer powers by repeated squaring.
 *
 * ipow multiplies in the order of ir_scalar.c: result *= a for each set bit of the exponent, lowest first, a *= a between
 * them. Constant exponents are unrolled; others call one internal function per type, so that a program with many powers
 * stays small.
 */
#include "codegen/codegen_int.h"

#include "math/math.h"

#include <stdio.h>

static const char *const names[PS_OP_COUNT] = {
#define NAME(OP, op) [PS_OP_##OP] = #op,
    PS_MATH_UNARY(NAME) PS_MATH_BINARY(NAME)
#undef NAME
};

static LLVMTypeRef math_type(const Codegen *cg, PsOpCode code, PsType type) {
    LLVMTypeRef scalar = cg->scalars[type], params[2] = {scalar, scalar};
    return LLVMFunctionType(scalar, params, (unsigned)ps_op_info[code].nargs, 0);
}

static LLVMValueRef math_function(Codegen *cg, PsOpCode code, PsType type) {
    LLVMValueRef *known = &cg->math[code][type == PS_F64];
    if (*known) return *known;
    char name[64];
    snprintf(name, sizeof name, "ps_rt_%s_%s", names[code], type == PS_F64 ? "f64" : "f32");
    LLVMValueRef fn = LLVMAddFunction(cg->module, name, math_type(cg, code, type));
    cg_pure(cg, fn);
    return *known = fn;
}

bool cg_is_math(PsOpCode code) { return names[code] != NULL; }

/* A call for each element of vectors. */
static LLVMValueRef call_each(Emitter *e, LLVMTypeRef type, LLVMValueRef fn, LLVMValueRef *args,
                              unsigned nargs) {
    LLVMTypeRef vector = LLVMTypeOf(args[0]);
    LLVMValueRef all = LLVMGetPoison(cg_like(LLVMGetReturnType(type), args[0]));
    for (unsigned i = 0; i < LLVMGetVectorSize(vector); i++) {
        LLVMValueRef lane = LLVMConstInt(e->cg->i32, i, 0), one[2];
        for (unsigned k = 0; k < nargs; k++) one[k] = LLVMBuildExtractElement(e->b, args[k], lane, "");
        all = LLVMBuildInsertElement(e->b, all, LLVMBuildCall2(e->b, type, fn, one, nargs, ""), lane, "");
    }
    return all;
}

static LLVMValueRef call_scalars(Emitter *e, LLVMTypeRef type, LLVMValueRef fn, LLVMValueRef *args,
                                 unsigned nargs) {
    if (LLVMGetTypeKind(LLVMTypeOf(args[0])) == LLVMVectorTypeKind) return call_each(e, type, fn, args, nargs);
    return LLVMBuildCall2(e->b, type, fn, args, nargs, "");
}

LLVMValueRef cg_emit_math(Emitter *e, PsOpCode code, PsType type, LLVMValueRef *args) {
    if (!names[code] || (type != PS_F32 && type != PS_F64)) return NULL;
    LLVMValueRef fn = math_function(e->cg, code, type);
    if (code >= PS_OP_SIN_FAR && code <= PS_OP_TAN_FAR) return cg_emit_far(e, code, type, fn, args);
    return call_scalars(e, math_type(e->cg, code, type), fn, args, (unsigned)ps_op_info[code].nargs);
}

/* -- ipow -- */

static LLVMValueRef one_of(const Codegen *cg, PsType type) {
    if (type == PS_F32 || type == PS_F64) return LLVMConstReal(cg->scalars[type], 1);
    return LLVMConstInt(cg->scalars[type], 1, 0);
}

static LLVMValueRef one_like(const Codegen *cg, PsType type, LLVMValueRef shape) {
    LLVMTypeRef llvm = LLVMTypeOf(shape);
    return cg_is_float(type) ? cg_real(cg, llvm, 1) : cg_int(cg, llvm, 1);
}

/* The factor one is left out, which changes no bits. n > 0. */
static LLVMValueRef power_unrolled(Emitter *e, PsType type, LLVMValueRef a, uint64_t n) {
    LLVMValueRef result = NULL;
    for (; n; n >>= 1) {
        if (n & 1) result = result ? cg_binary(e, PS_OP_MUL, type, result, a) : a;
        if (n > 1) a = cg_binary(e, PS_OP_MUL, type, a, a);
    }
    return result;
}

/* fn(a, n): n unsigned. */
static void fill_power_loop(Emitter *e, PsType type, LLVMValueRef fn) {
    Codegen *cg = e->cg;
    LLVMTypeRef llvm = cg->scalars[type];
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(cg->ctx, fn, "entry");
    LLVMBasicBlockRef loop = LLVMAppendBasicBlockInContext(cg->ctx, fn, "loop");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(cg->ctx, fn, "done");
    LLVMValueRef one = one_of(cg, type), zero = LLVMConstInt(cg->i64, 0, 0);
    LLVMPositionBuilderAtEnd(e->b, entry);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, LLVMGetParam(fn, 1), zero, ""), done, loop);
    LLVMPositionBuilderAtEnd(e->b, loop);
    LLVMValueRef a = LLVMBuildPhi(e->b, llvm, ""), n = LLVMBuildPhi(e->b, cg->i64, "");
    LLVMValueRef result = LLVMBuildPhi(e->b, llvm, "");
    LLVMValueRef odd = LLVMBuildTrunc(e->b, n, cg->i1, "");
    LLVMValueRef times = cg_binary(e, PS_OP_MUL, type, result, a);
    LLVMValueRef result2 = LLVMBuildSelect(e->b, odd, times, result, "");
    LLVMValueRef n2 = LLVMBuildLShr(e->b, n, LLVMConstInt(cg->i64, 1, 0), "");
    LLVMValueRef a2 = cg_binary(e, PS_OP_MUL, type, a, a);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, n2, zero, ""), done, loop);
    LLVMBasicBlockRef from[2] = {entry, loop};
    LLVMAddIncoming(a, (LLVMValueRef[]){LLVMGetParam(fn, 0), a2}, from, 2);
    LLVMAddIncoming(n, (LLVMValueRef[]){LLVMGetParam(fn, 1), n2}, from, 2);
    LLVMAddIncoming(result, (LLVMValueRef[]){one, result2}, from, 2);
    LLVMPositionBuilderAtEnd(e->b, done);
    LLVMValueRef out = LLVMBuildPhi(e->b, llvm, "");
    LLVMAddIncoming(out, (LLVMValueRef[]){one, result2}, from, 2);
    LLVMBuildRet(e->b, out);
}

static LLVMTypeRef power_type(const Codegen *cg, PsType type) {
    LLVMTypeRef params[2] = {cg->scalars[type], cg->i64};
    return LLVMFunctionType(cg->scalars[type], params, 2, 0);
}

static LLVMValueRef power_function(Emitter *e, PsType type) {
    Codegen *cg = e->cg;
    if (cg->ipow[type]) return cg->ipow[type];
    char name[32];
    snprintf(name, sizeof name, "ipow.%s", ps_scalar_name(type));
    LLVMValueRef fn = LLVMAddFunction(cg->module, name, power_type(cg, type));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    cg_pure(cg, fn);
    LLVMBasicBlockRef back = LLVMGetInsertBlock(e->b);
    fill_power_loop(e, type, fn);
    LLVMPositionBuilderAtEnd(e->b, back);
    return cg->ipow[type] = fn;
}

/* a ** -n of an integer: 1 for 1; 1 or -1 for -1; else 0. */
static LLVMValueRef negative_power(Emitter *e, PsType type, LLVMValueRef a, LLVMValueRef n) {
    LLVMTypeRef llvm = LLVMTypeOf(a);
    LLVMValueRef zero = LLVMConstNull(llvm), one = cg_int(e->cg, llvm, 1);
    LLVMValueRef is_one = LLVMBuildICmp(e->b, LLVMIntEQ, a, one, "");
    LLVMValueRef result = zero;
    if (cg_is_signed(type)) {
        LLVMValueRef is_minus = LLVMBuildICmp(e->b, LLVMIntEQ, a, LLVMConstAllOnes(llvm), "");
        LLVMValueRef sign =
            LLVMBuildSelect(e->b, LLVMBuildTrunc(e->b, n, cg_like(e->cg->i1, n), ""), a, one, "");
        result = LLVMBuildSelect(e->b, is_minus, sign, zero, "");
    }
    return LLVMBuildSelect(e->b, is_one, one, result, "");
}

/* The integer n as i64 of its type's sign. */
static LLVMValueRef exponent_as_i64(Emitter *e, PsType type, LLVMValueRef n) {
    if (type == PS_I64 || type == PS_U64) return n;
    LLVMTypeRef i64 = cg_like(e->cg->i64, n);
    return cg_is_signed(type) ? LLVMBuildSExt(e->b, n, i64, "") : LLVMBuildZExt(e->b, n, i64, "");
}

static LLVMValueRef power_by_value(Emitter *e, PsType type, LLVMValueRef a, PsType by, LLVMValueRef exponent) {
    Codegen *cg = e->cg;
    LLVMValueRef n = exponent_as_i64(e, by, exponent), fn = power_function(e, type);
    LLVMValueRef negative = LLVMBuildICmp(e->b, LLVMIntSLT, n, LLVMConstNull(LLVMTypeOf(n)), "");
    LLVMValueRef size = n;
    if (cg_is_signed(by)) size = LLVMBuildSelect(e->b, negative, LLVMBuildNeg(e->b, n, ""), n, "");
    LLVMValueRef args[2] = {a, size};
    LLVMValueRef power = call_scalars(e, power_type(cg, type), fn, args, 2);
    if (!cg_is_signed(by)) return power;
    LLVMValueRef other = cg_is_float(type) ? LLVMBuildFDiv(e->b, one_like(cg, type, power), power, "")
                                           : negative_power(e, type, a, n);
    return LLVMBuildSelect(e->b, negative, other, power, "");
}

static LLVMValueRef power_by_constant(Emitter *e, PsType type, LLVMValueRef a, PsType by,
                                      LLVMValueRef exponent) {
    bool negative = cg_is_signed(by) && LLVMConstIntGetSExtValue(exponent) < 0;
    uint64_t n =
        negative ? 0 - (uint64_t)LLVMConstIntGetSExtValue(exponent) : LLVMConstIntGetZExtValue(exponent);
    if (n == 0) return one_like(e->cg, type, a);
    if (negative && !cg_is_float(type))
        return negative_power(e, type, a, cg_int(e->cg, cg_like(e->cg->i64, a), n));
    LLVMValueRef power = power_unrolled(e, type, a, n);
    return negative ? LLVMBuildFDiv(e->b, one_like(e->cg, type, power), power, "") : power;
}

LLVMValueRef cg_emit_ipow(Emitter *e, PsRef r) {
    PsRef power = ps_op_arg(e->f, r, 1);
    PsType type = ps_op(e->f, r)->type, by = ps_op(e->f, power)->type;
    if (!ps_type_is_scalar(type) || !ps_type_is_scalar(by) || cg_is_float(by)) return NULL;
    LLVMValueRef a = cg_operand(e, r, 0), exponent = cg_operand(e, r, 1), result;
    PsType wide = cg_is_half(type) ? PS_F32 : type; /* one rounding for the whole power, as the evaluator */
    if (wide != type) a = cg_widen(e, type, a);
    LLVMValueRef constant = cg_lane_step(e, power) == 0 ? cg_value(e, power) : exponent;
    if (LLVMIsAConstantInt(constant))
        result = power_by_constant(e, wide, a, by, constant);
    else
        result = power_by_value(e, wide, a, by, exponent);
    return wide != type ? cg_narrow(e, type, result) : result;
}
