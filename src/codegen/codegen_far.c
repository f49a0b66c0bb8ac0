/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_far: ops such as sin_far(x, y): y, the value that was computed in place, unless x is so large that only the
 * function itself can do it (math.h says from where). That is rare, so it must cost one comparison:
 *
 *     far.sin.f32(x, y)        |x| < limit or NaN ? y : ps_rt_sin_far_f32(x, y)
 *     far.sin.f32.16(x, y)     of vectors: y, or if any lane is that large, slow.sin.f32.16(x, y)
 *     slow.sin.f32.16(x, y)    the external function, lane after lane
 *
 * LLVM's loop vectoriser learns from an attribute of the call which function stands for a vector of calls. So these are no
 * branches while it works, and are inlined, with the branch, when it is done (cg_far_inline).
 */
#include "codegen/codegen_int.h"

#include "math/math.h"

#include <stdio.h>
#include <string.h>

#define NAME_SIZE 48

typedef struct Far {
    const char *op; /* "sin" */
    PsType type;
    unsigned lanes; /* 1: a scalar */
} Far;

static LLVMTypeRef value_type(const Codegen *cg, const Far *far) {
    LLVMTypeRef scalar = cg->scalars[far->type];
    return far->lanes > 1 ? LLVMVectorType(scalar, far->lanes) : scalar;
}

static LLVMTypeRef function_type(const Codegen *cg, const Far *far) {
    LLVMTypeRef type = value_type(cg, far), params[2] = {type, type};
    return LLVMFunctionType(type, params, 2, 0);
}

static void name_of(const Far *far, const char *what, char *out) {
    int len = snprintf(out, NAME_SIZE, "%s.%s.%s", what, far->op, ps_scalar_name(far->type));
    if (far->lanes > 1) snprintf(out + len, NAME_SIZE - (size_t)len, ".%u", far->lanes);
}

static LLVMValueRef add_function(Codegen *cg, const Far *far, const char *what) {
    char name[NAME_SIZE];
    name_of(far, what, name);
    LLVMValueRef fn = LLVMAddFunction(cg->module, name, function_type(cg, far));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    cg_pure(cg, fn);
    cg_attribute(cg, fn, "speculatable", 0);
    cg_attribute(cg, fn, "noinline", 0);
    return fn;
}

/* One lane after the other, those too that are not large: the function gives them back. */
static LLVMValueRef fill_slow(Emitter *e, const Far *far, LLVMValueRef external) {
    Codegen *cg = e->cg;
    Far scalar = {far->op, far->type, 1};
    LLVMValueRef fn = add_function(cg, far, "slow");
    cg_attribute(cg, fn, "cold", 0);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(cg->ctx, fn, "");
    LLVMBasicBlockRef loop = LLVMAppendBasicBlockInContext(cg->ctx, fn, "lane");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(cg->ctx, fn, "");
    LLVMPositionBuilderAtEnd(e->b, entry);
    LLVMBuildBr(e->b, loop);
    LLVMPositionBuilderAtEnd(e->b, loop);
    LLVMValueRef lane = LLVMBuildPhi(e->b, cg->i32, ""), y = LLVMBuildPhi(e->b, value_type(cg, far), "");
    LLVMValueRef args[2] = {LLVMBuildExtractElement(e->b, LLVMGetParam(fn, 0), lane, ""),
                            LLVMBuildExtractElement(e->b, y, lane, "")};
    LLVMValueRef value = LLVMBuildCall2(e->b, function_type(cg, &scalar), external, args, 2, "");
    LLVMValueRef y2 = LLVMBuildInsertElement(e->b, y, value, lane, "");
    LLVMValueRef next = LLVMBuildAdd(e->b, lane, LLVMConstInt(cg->i32, 1, 0), "");
    LLVMValueRef end = LLVMBuildICmp(e->b, LLVMIntEQ, next, LLVMConstInt(cg->i32, far->lanes, 0), "");
    LLVMBasicBlockRef from[2] = {entry, loop};
    LLVMAddIncoming(lane, (LLVMValueRef[]){LLVMConstInt(cg->i32, 0, 0), next}, from, 2);
    LLVMAddIncoming(y, (LLVMValueRef[]){LLVMGetParam(fn, 1), y2}, from, 2);
    LLVMBuildCondBr(e->b, end, done, loop);
    LLVMPositionBuilderAtEnd(e->b, done);
    LLVMBuildRet(e->b, y2);
    return fn;
}

static LLVMValueRef any_large(Emitter *e, const Far *far, LLVMValueRef x) {
    double limit = far->type == PS_F64 ? PS_MATH_FAR_F64 : PS_MATH_FAR_F32;
    LLVMValueRef size = cg_unary(e, "llvm.fabs", x);
    LLVMValueRef large = LLVMBuildFCmp(e->b, LLVMRealOGE, size, cg_real(e->cg, LLVMTypeOf(x), limit), "");
    if (far->lanes == 1) return large;
    LLVMTypeRef mask = LLVMIntTypeInContext(e->cg->ctx, far->lanes);
    LLVMValueRef bits = LLVMBuildBitCast(e->b, large, mask, "");
    return LLVMBuildICmp(e->b, LLVMIntNE, bits, LLVMConstNull(mask), "");
}

static LLVMValueRef fill_far(Emitter *e, const Far *far, LLVMValueRef slow) {
    Codegen *cg = e->cg;
    LLVMValueRef fn = add_function(cg, far, "far");
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(cg->ctx, fn, "");
    LLVMBasicBlockRef cold = LLVMAppendBasicBlockInContext(cg->ctx, fn, "far");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(cg->ctx, fn, "");
    LLVMValueRef args[2] = {LLVMGetParam(fn, 0), LLVMGetParam(fn, 1)};
    LLVMPositionBuilderAtEnd(e->b, entry);
    LLVMValueRef near = LLVMBuildNot(e->b, any_large(e, far, args[0]), "");
    cg_branch_cold(e, near, done, cold);
    LLVMPositionBuilderAtEnd(e->b, cold);
    LLVMValueRef value = LLVMBuildCall2(e->b, function_type(cg, far), slow, args, 2, "");
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    LLVMValueRef y = LLVMBuildPhi(e->b, value_type(cg, far), "");
    LLVMAddIncoming(y, (LLVMValueRef[]){args[1], value}, (LLVMBasicBlockRef[]){entry, cold}, 2);
    LLVMBuildRet(e->b, y);
    return fn;
}

/* The function of so many lanes, made when a call first asks for it. */
static LLVMValueRef far_function(Emitter *e, PsOpCode code, const Far *far, LLVMValueRef external) {
    FarFunction *f = &e->cg->far[code - PS_OP_SIN_FAR][far->type == PS_F64];
    LLVMValueRef *known = &f->by_lanes[__builtin_ctz(far->lanes)];
    if (*known) return *known;
    LLVMBasicBlockRef back = LLVMGetInsertBlock(e->b);
    *known = fill_far(e, far, far->lanes > 1 ? fill_slow(e, far, external) : external);
    LLVMPositionBuilderAtEnd(e->b, back);
    e->cg->has_far = true;
    return *known;
}

/* The attribute that names the function of so many lanes. */
static void add_variant(Emitter *e, PsOpCode code, const Far *far, LLVMValueRef external, PsBuf *out) {
    Far scalar = {far->op, far->type, 1};
    char name[NAME_SIZE], vector[NAME_SIZE];
    if (far->lanes < 2) return;
    far_function(e, code, far, external);
    name_of(&scalar, "far", name);
    name_of(far, "far", vector);
    ps_buf_printf(out, "%s_ZGV_LLVM_N%uvv_%s(%s)", out->len ? "," : "", far->lanes, name, vector);
}

/* A task's loop has one width; a function may be inlined into one whose vectors are of f32, or of f64. */
static void add_variants(Emitter *e, PsOpCode code, Far far, LLVMValueRef external, LLVMValueRef call) {
    static const char key[] = "vector-function-abi-variant";
    unsigned bits = (unsigned)e->cg->request->target.vector_bits;
    PsBuf text = {0};
    if (!e->cg->has_vector_loops || e->kind == EMIT_MAIN || (e->parfor && e->parfor->serial)) return;
    for (unsigned size = e->parfor ? (unsigned)e->parfor->element : 4; size <= 8; size *= 2) {
        far.lanes = bits / (8 * size);
        add_variant(e, code, &far, external, &text);
        if (e->parfor) break;
    }
    if (text.len && !text.failed)
        LLVMAddCallSiteAttribute(
            call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
            LLVMCreateStringAttribute(e->cg->ctx, key, sizeof key - 1, text.data, (unsigned)text.len));
    ps_buf_free(&text);
}

LLVMValueRef cg_emit_far(Emitter *e, PsOpCode code, PsType type, LLVMValueRef external, LLVMValueRef *args) {
    static const char *const ops[] = {"sin", "cos", "tan"};
    bool is_vector = LLVMGetTypeKind(LLVMTypeOf(args[0])) == LLVMVectorTypeKind;
    Far far = {ops[code - PS_OP_SIN_FAR], type, is_vector ? LLVMGetVectorSize(LLVMTypeOf(args[0])) : 1};
    LLVMValueRef fn = far_function(e, code, &far, external);
    LLVMValueRef call = LLVMBuildCall2(e->b, function_type(e->cg, &far), fn, args, 2, "");
    if (!is_vector) add_variants(e, code, far, external, call);
    return call;
}

void cg_far_inline(Codegen *cg) {
    for (size_t i = 0; i < PS_COUNT(cg->far) * 2; i++) {
        const FarFunction *f = &cg->far[i / 2][i % 2];
        for (size_t k = 0; k < PS_COUNT(f->by_lanes); k++)
            if (f->by_lanes[k]) cg_expand(cg, f->by_lanes[k]);
    }
}
