/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_arith: integer operations. LLVM's own leave cases undefined that ops.def defines: division by 0 and MIN / -1
 * are kept from the machine by choosing another divisor first; shifts by the width or more are replaced afterwards.
 * With a constant on the right none of that is needed. u1 is i1, whose wrapping arithmetic is what ops.def says.
 *
 * Not here: ipow (codegen_math.c), conversions (codegen_cast.c).
 */
#include "codegen/codegen_int.h"

/* Whether v is a constant, and its value: sign-extended, and zero-extended. */
static bool constant(LLVMValueRef v, int64_t *out_signed, uint64_t *out_unsigned) {
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind) v = cg_splat_of(v);
    if (!v || !LLVMIsAConstantInt(v)) return false;
    *out_signed = LLVMConstIntGetSExtValue(v);
    *out_unsigned = LLVMConstIntGetZExtValue(v);
    return true;
}

static LLVMValueRef zero_of(LLVMValueRef v) { return LLVMConstNull(LLVMTypeOf(v)); }

/* A divisor that the machine takes: b, but 1 instead of 0, and instead of -1 when signed. *out_kept: b is it for sure. */
static LLVMValueRef safe_divisor(Emitter *e, bool is_signed, LLVMValueRef b, bool *out_kept) {
    LLVMTypeRef type = LLVMTypeOf(b);
    int64_t s;
    uint64_t u;
    *out_kept = constant(b, &s, &u) && u != 0 && !(is_signed && s == -1);
    if (*out_kept) return b;
    LLVMValueRef one = cg_int(e->cg, type, 1), bad;
    if (is_signed) {
        LLVMValueRef next = LLVMBuildAdd(e->b, b, one, "");
        bad = LLVMBuildICmp(e->b, LLVMIntULT, next, cg_int(e->cg, type, 2), "");
    } else {
        bad = LLVMBuildICmp(e->b, LLVMIntEQ, b, zero_of(b), "");
    }
    return LLVMBuildSelect(e->b, bad, one, b, "");
}

/* What a quotient by `safe` must become for the divisors that safe_divisor replaced. */
static LLVMValueRef restore_quotient(Emitter *e, bool is_signed, LLVMValueRef a, LLVMValueRef b,
                                     LLVMValueRef q) {
    LLVMValueRef zero = zero_of(b);
    if (is_signed) {
        LLVMValueRef minus_one = LLVMConstAllOnes(LLVMTypeOf(b));
        LLVMValueRef is_minus_one = LLVMBuildICmp(e->b, LLVMIntEQ, b, minus_one, "");
        q = LLVMBuildSelect(e->b, is_minus_one, LLVMBuildNeg(e->b, a, ""), q, "");
    }
    return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, b, zero, ""), zero, q, "");
}

static LLVMValueRef trunc_div(Emitter *e, bool is_signed, LLVMValueRef a, LLVMValueRef b) {
    bool kept;
    LLVMValueRef safe = safe_divisor(e, is_signed, b, &kept);
    LLVMValueRef q = is_signed ? LLVMBuildSDiv(e->b, a, safe, "") : LLVMBuildUDiv(e->b, a, safe, "");
    return kept ? q : restore_quotient(e, is_signed, a, b, q);
}

/* By 1 instead of 0 or -1 the remainder is 0, as it should be. */
static LLVMValueRef trunc_mod(Emitter *e, bool is_signed, LLVMValueRef a, LLVMValueRef b) {
    bool kept;
    LLVMValueRef safe = safe_divisor(e, is_signed, b, &kept);
    return is_signed ? LLVMBuildSRem(e->b, a, safe, "") : LLVMBuildURem(e->b, a, safe, "");
}

/* The remainder is not 0 and its sign is not the divisor's. */
static LLVMValueRef crosses(Emitter *e, LLVMValueRef rest, LLVMValueRef divisor) {
    LLVMValueRef zero = zero_of(rest);
    LLVMValueRef differ = LLVMBuildICmp(e->b, LLVMIntSLT, LLVMBuildXor(e->b, rest, divisor, ""), zero, "");
    return LLVMBuildAnd(e->b, differ, LLVMBuildICmp(e->b, LLVMIntNE, rest, zero, ""), "");
}

static bool power_of_two(LLVMValueRef b, unsigned *out_log) {
    int64_t s;
    uint64_t u;
    if (!constant(b, &s, &u) || s <= 0 || (u & (u - 1))) return false;
    *out_log = (unsigned)__builtin_ctzll(u);
    return true;
}

static LLVMValueRef floor_div(Emitter *e, bool is_signed, LLVMValueRef a, LLVMValueRef b) {
    bool kept;
    unsigned log;
    if (!is_signed) return trunc_div(e, false, a, b);
    if (power_of_two(b, &log)) return LLVMBuildAShr(e->b, a, cg_int(e->cg, LLVMTypeOf(a), log), "");
    LLVMValueRef safe = safe_divisor(e, true, b, &kept);
    LLVMValueRef q = LLVMBuildSDiv(e->b, a, safe, "");
    LLVMValueRef rest = LLVMBuildSub(e->b, a, LLVMBuildMul(e->b, q, safe, ""), "");
    LLVMValueRef less = LLVMBuildSExt(e->b, crosses(e, rest, safe), LLVMTypeOf(a), "");
    q = LLVMBuildAdd(e->b, q, less, "");
    return kept ? q : restore_quotient(e, true, a, b, q);
}

static LLVMValueRef floor_mod(Emitter *e, bool is_signed, LLVMValueRef a, LLVMValueRef b) {
    bool kept;
    unsigned log;
    LLVMTypeRef type = LLVMTypeOf(a);
    if (!is_signed) return trunc_mod(e, false, a, b);
    if (power_of_two(b, &log)) return LLVMBuildAnd(e->b, a, cg_int(e->cg, type, ((uint64_t)1 << log) - 1), "");
    LLVMValueRef safe = safe_divisor(e, true, b, &kept);
    LLVMValueRef rest = LLVMBuildSRem(e->b, a, safe, "");
    LLVMValueRef more = LLVMBuildSelect(e->b, crosses(e, rest, safe), safe, zero_of(a), "");
    return LLVMBuildAdd(e->b, rest, more, "");
}

/* The amount in a's type, and whether it is below the width (read as unsigned, whatever its type). */
static LLVMValueRef shift_amount(Emitter *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *out_fits) {
    LLVMTypeRef type = LLVMTypeOf(a);
    unsigned width = cg_int_bits(a);
    if (cg_int_bits(b) < 8) b = LLVMBuildZExt(e->b, b, cg_like(e->cg->i8, b), "");
    *out_fits = LLVMBuildICmp(e->b, LLVMIntULT, b, cg_int(e->cg, LLVMTypeOf(b), width), "");
    unsigned have = cg_int_bits(b);
    if (have < width) return LLVMBuildZExt(e->b, b, type, "");
    return have > width ? LLVMBuildTrunc(e->b, b, type, "") : b;
}

static LLVMValueRef shift(Emitter *e, PsOpCode code, bool is_signed, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(a);
    int64_t s;
    uint64_t u, width = cg_int_bits(a);
    bool arithmetic = code == PS_OP_SHR && is_signed, is_constant = constant(b, &s, &u),
         inside = is_constant && u < width;
    if (is_constant && !inside && !arithmetic) return LLVMConstNull(type);
    LLVMValueRef fits, amount = shift_amount(e, a, b, &fits);
    if (is_constant) amount = cg_int(e->cg, type, inside ? u : width - 1);
    if (arithmetic) {
        if (!is_constant) amount = LLVMBuildSelect(e->b, fits, amount, cg_int(e->cg, type, width - 1), "");
        return LLVMBuildAShr(e->b, a, amount, "");
    }
    LLVMValueRef shifted =
        code == PS_OP_SHL ? LLVMBuildShl(e->b, a, amount, "") : LLVMBuildLShr(e->b, a, amount, "");
    return is_constant ? shifted : LLVMBuildSelect(e->b, fits, shifted, LLVMConstNull(type), "");
}

static LLVMValueRef count(Emitter *e, PsOpCode code, PsType type, LLVMValueRef a) {
    if (type == PS_U1) return code == PS_OP_POPCNT ? a : LLVMBuildNot(e->b, a, "");
    LLVMTypeRef llvm = LLVMTypeOf(a);
    LLVMValueRef args[2] = {a, LLVMConstInt(e->cg->i1, 0, 0)};
    if (code == PS_OP_POPCNT) return cg_intrinsic(e, "llvm.ctpop", &llvm, 1, args, 1);
    return cg_intrinsic(e, code == PS_OP_CLZ ? "llvm.ctlz" : "llvm.cttz", &llvm, 1, args, 2);
}

static LLVMValueRef choose(Emitter *e, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, predicate, a, b, ""), a, b, "");
}

LLVMValueRef cg_emit_int(Emitter *e, PsOpCode code, PsType type, LLVMValueRef *args) {
    LLVMValueRef a = args[0], b = args[1];
    bool is_signed = cg_is_signed(type);
    switch (code) {
    case PS_OP_ADD: return LLVMBuildAdd(e->b, a, b, "");
    case PS_OP_SUB: return LLVMBuildSub(e->b, a, b, "");
    case PS_OP_MUL: return LLVMBuildMul(e->b, a, b, "");
    case PS_OP_FLOORDIV: return floor_div(e, is_signed, a, b);
    case PS_OP_MOD: return floor_mod(e, is_signed, a, b);
    case PS_OP_TRUNCDIV: return trunc_div(e, is_signed, a, b);
    case PS_OP_TRUNCMOD: return trunc_mod(e, is_signed, a, b);
    case PS_OP_NEG: return LLVMBuildNeg(e->b, a, "");
    case PS_OP_ABS: return is_signed ? choose(e, LLVMIntSGT, a, LLVMBuildNeg(e->b, a, "")) : a;
    case PS_OP_MIN: return choose(e, is_signed ? LLVMIntSLT : LLVMIntULT, a, b);
    case PS_OP_MAX: return choose(e, is_signed ? LLVMIntSGT : LLVMIntUGT, a, b);
    case PS_OP_AND: return LLVMBuildAnd(e->b, a, b, "");
    case PS_OP_OR: return LLVMBuildOr(e->b, a, b, "");
    case PS_OP_XOR: return LLVMBuildXor(e->b, a, b, "");
    case PS_OP_NOT: return LLVMBuildNot(e->b, a, "");
    case PS_OP_SHL:
    case PS_OP_SHR:
    case PS_OP_USHR: return shift(e, code, is_signed, a, b);
    case PS_OP_POPCNT:
    case PS_OP_CLZ:
    case PS_OP_CTZ: return count(e, code, type, a);
    default: return NULL;
    }
}

typedef struct Predicates {
    LLVMIntPredicate is_signed, is_unsigned;
    LLVMRealPredicate real; /* all false for a NaN but ne */
} Predicates;

static const Predicates predicates[] = {
    [PS_OP_EQ - PS_OP_EQ] = {LLVMIntEQ, LLVMIntEQ, LLVMRealOEQ},
    [PS_OP_NE - PS_OP_EQ] = {LLVMIntNE, LLVMIntNE, LLVMRealUNE},
    [PS_OP_LT - PS_OP_EQ] = {LLVMIntSLT, LLVMIntULT, LLVMRealOLT},
    [PS_OP_LE - PS_OP_EQ] = {LLVMIntSLE, LLVMIntULE, LLVMRealOLE},
    [PS_OP_GT - PS_OP_EQ] = {LLVMIntSGT, LLVMIntUGT, LLVMRealOGT},
    [PS_OP_GE - PS_OP_EQ] = {LLVMIntSGE, LLVMIntUGE, LLVMRealOGE},
};
_Static_assert(PS_OP_GE - PS_OP_EQ + 1 == PS_COUNT(predicates), "comparisons stand together in ops.def");

LLVMValueRef cg_emit_compare(Emitter *e, PsOpCode code, PsType type, LLVMValueRef a, LLVMValueRef b) {
    const Predicates *p = &predicates[code - PS_OP_EQ];
    if (cg_is_half(type)) a = cg_widen(e, type, a), b = cg_widen(e, type, b);
    if (cg_is_float(type)) return LLVMBuildFCmp(e->b, p->real, a, b, "");
    return LLVMBuildICmp(e->b, cg_is_signed(type) ? p->is_signed : p->is_unsigned, a, b, "");
}
