/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_type: scalars in LLVM. As a value, u1 is i1 and f16, bf16 are i16 (their arithmetic is f32's, rounded per op,
 * so LLVM's own half types would add nothing but library calls). In memory u1 is a byte; in a frame word every scalar is
 * its bits, zero-extended. Most helpers take vectors too, for the folding of a reduction's stripes.
 */
#include "codegen/codegen_int.h"

#include <string.h>

static const uint8_t classes[PS_SCALAR_END] = {
#define PS_SCALAR(id, name, bits, class, ctype) [PS_##id] = PS_CLASS_##class,
#include "ir/types.def"
};

bool cg_is_half(PsType scalar) { return scalar == PS_F16 || scalar == PS_BF16; }
bool cg_is_float(PsType scalar) { return classes[scalar] == PS_CLASS_FLOAT; }
bool cg_is_signed(PsType scalar) { return classes[scalar] == PS_CLASS_INT; }

void cg_types_init(Codegen *cg) {
    LLVMContextRef ctx = cg->ctx;
    cg->i1 = LLVMInt1TypeInContext(ctx);
    cg->i8 = LLVMInt8TypeInContext(ctx);
    cg->i16 = LLVMInt16TypeInContext(ctx);
    cg->i32 = LLVMInt32TypeInContext(ctx);
    cg->i64 = LLVMInt64TypeInContext(ctx);
    cg->f16 = LLVMHalfTypeInContext(ctx);
    cg->f32 = LLVMFloatTypeInContext(ctx);
    cg->f64 = LLVMDoubleTypeInContext(ctx);
    cg->ptr = LLVMPointerTypeInContext(ctx, 0);
    cg->none = LLVMVoidTypeInContext(ctx);
    const LLVMTypeRef of[PS_SCALAR_END] = {
        [PS_U1] = cg->i1,    [PS_I8] = cg->i8,   [PS_I16] = cg->i16, [PS_I32] = cg->i32, [PS_I64] = cg->i64,
        [PS_U8] = cg->i8,    [PS_U16] = cg->i16, [PS_U32] = cg->i32, [PS_U64] = cg->i64, [PS_F16] = cg->i16,
        [PS_BF16] = cg->i16, [PS_F32] = cg->f32, [PS_F64] = cg->f64,
    };
    memcpy(cg->scalars, of, sizeof of);
    cg->md_parallel = LLVMGetMDKindIDInContext(ctx, "llvm.mem.parallel_loop_access", 29);
    cg->md_loop = LLVMGetMDKindIDInContext(ctx, "llvm.loop", 9);
    cg->md_weights = LLVMGetMDKindIDInContext(ctx, "prof", 4);
    cg->md_invariant = LLVMGetMDKindIDInContext(ctx, "invariant.load", 14);
}

LLVMTypeRef cg_type_stored(const Codegen *cg, PsType scalar) {
    return scalar == PS_U1 ? cg->i8 : cg->scalars[scalar];
}

uint64_t cg_type_bytes(const Codegen *cg, PsType value) {
    return (uint64_t)ps_type_count(cg->m, value) * (uint64_t)ps_scalar_size(ps_type_element(cg->m, value));
}

LLVMTypeRef cg_type_bits(const Codegen *cg, PsType scalar) {
    switch (ps_scalar_size(scalar)) {
    case 1: return cg->i8;
    case 2: return cg->i16;
    case 4: return cg->i32;
    default: return cg->i64;
    }
}

LLVMTypeRef cg_like(LLVMTypeRef element, LLVMValueRef shape) {
    LLVMTypeRef type = LLVMTypeOf(shape);
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return element;
    return LLVMVectorType(element, LLVMGetVectorSize(type));
}

unsigned cg_int_bits(LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetIntTypeWidth(LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type);
}

LLVMValueRef cg_splat_of(LLVMValueRef vector) {
    if (!LLVMIsConstant(vector)) return NULL;
    LLVMValueRef first = LLVMGetAggregateElement(vector, 0);
    for (unsigned i = 1; i < LLVMGetVectorSize(LLVMTypeOf(vector)); i++)
        if (LLVMGetAggregateElement(vector, i) != first) return NULL;
    return first;
}

/* -- constants -- */

static LLVMValueRef splat(LLVMTypeRef type, LLVMValueRef one) {
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return one;
    LLVMValueRef all[PS_STRIPES];
    unsigned n = LLVMGetVectorSize(type);
    for (unsigned i = 0; i < n && i < PS_STRIPES; i++) all[i] = one;
    return LLVMConstVector(all, n < PS_STRIPES ? n : PS_STRIPES);
}

static LLVMTypeRef element_of(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

/* Through the bits, so that a NaN keeps its payload. */
LLVMValueRef cg_const(const Codegen *cg, PsType scalar, uint64_t bits, LLVMTypeRef type) {
    LLVMTypeRef element = element_of(type);
    LLVMValueRef value;
    if (scalar == PS_F32 || scalar == PS_F64)
        value = LLVMConstBitCast(LLVMConstInt(cg_type_bits(cg, scalar), bits, 0), element);
    else
        value = LLVMConstInt(element, scalar == PS_U1 ? bits & 1 : bits, 0);
    return splat(type, value);
}

LLVMValueRef cg_int(const Codegen *cg, LLVMTypeRef type, uint64_t value) {
    (void)cg;
    return splat(type, LLVMConstInt(element_of(type), value, 0));
}

LLVMValueRef cg_real(const Codegen *cg, LLVMTypeRef type, double value) {
    (void)cg;
    return splat(type, LLVMConstReal(element_of(type), value));
}

/* -- memory and words -- */

LLVMValueRef cg_to_stored(Emitter *e, PsType scalar, LLVMValueRef value) {
    return scalar == PS_U1 ? LLVMBuildZExt(e->b, value, cg_like(e->cg->i8, value), "") : value;
}

/* Any byte but 0 reads as true, so that a boolean array filled by someone else can do no harm. */
LLVMValueRef cg_from_stored(Emitter *e, PsType scalar, LLVMValueRef stored) {
    if (scalar != PS_U1) return stored;
    return LLVMBuildICmp(e->b, LLVMIntNE, stored, LLVMConstNull(LLVMTypeOf(stored)), "");
}

LLVMValueRef cg_to_word(Emitter *e, PsType scalar, LLVMValueRef value) {
    if (scalar == PS_F32 || scalar == PS_F64)
        value = LLVMBuildBitCast(e->b, value, cg_type_bits(e->cg, scalar), "");
    return LLVMBuildZExt(e->b, value, e->cg->i64, "");
}

LLVMValueRef cg_from_word(Emitter *e, PsType scalar, LLVMValueRef word) {
    LLVMValueRef bits = LLVMBuildTrunc(e->b, word, cg_type_bits(e->cg, scalar), "");
    if (scalar == PS_F32 || scalar == PS_F64) return LLVMBuildBitCast(e->b, bits, e->cg->scalars[scalar], "");
    return cg_from_stored(e, scalar, bits);
}

/* -- calls of intrinsics, attributes -- */

LLVMValueRef cg_intrinsic(Emitter *e, const char *name, LLVMTypeRef *types, unsigned ntypes, LLVMValueRef *args,
                          unsigned nargs) {
    Codegen *cg = e->cg;
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(cg->module, id, types, ntypes);
    LLVMTypeRef type = LLVMIntrinsicGetType(cg->ctx, id, types, ntypes);
    return LLVMBuildCall2(e->b, type, fn, args, nargs, "");
}

LLVMValueRef cg_unary(Emitter *e, const char *intrinsic, LLVMValueRef a) {
    LLVMTypeRef type = LLVMTypeOf(a);
    return cg_intrinsic(e, intrinsic, &type, 1, &a, 1);
}

LLVMValueRef cg_late_function(Emitter *e, const char *name, LLVMTypeRef type, bool *out_is_new) {
    Codegen *cg = e->cg;
    *out_is_new = false;
    for (uint32_t i = 0; i < cg->late.len; i++)
        if (!strcmp(cg->late.data[i].name, name) && cg->late.data[i].type == type) return cg->late.data[i].fn;
    LLVMValueRef fn = LLVMAddFunction(cg->module, name, type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    cg_pure(cg, fn);
    cg_attribute(cg, fn, "speculatable", 0);
    cg_attribute(cg, fn, "noinline", 0);
    *out_is_new = true;
    cg->late_back = LLVMGetInsertBlock(e->b);
    LLVMPositionBuilderAtEnd(e->b, LLVMAppendBasicBlockInContext(cg->ctx, fn, ""));
    ps_vec_push(cg->arena, &cg->late, ((LateFunction){name, type, fn}));
    return fn;
}

void cg_late_return(Emitter *e, LLVMValueRef value) {
    LLVMBuildRet(e->b, value);
    LLVMPositionBuilderAtEnd(e->b, e->cg->late_back);
}

void cg_pure(const Codegen *cg, LLVMValueRef fn) {
    static const char *const says[] = {"nounwind", "willreturn", "nosync", "nofree", "memory"};
    for (size_t i = 0; i < PS_COUNT(says); i++) cg_attribute(cg, fn, says[i], 0); /* memory 0: none at all */
}

void cg_expand(const Codegen *cg, LLVMValueRef fn) {
    unsigned noinline = LLVMGetEnumAttributeKindForName("noinline", 8);
    LLVMRemoveEnumAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, noinline);
    cg_attribute(cg, fn, "alwaysinline", 0);
}

void cg_attribute(const Codegen *cg, LLVMValueRef fn, const char *name, uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (!kind) return; /* a hint that this LLVM does not know */
    LLVMAddAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(cg->ctx, kind, value));
}
