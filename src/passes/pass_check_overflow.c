/* SPDX-License-Identifier: Apache-2.0
 *
 * check, integer overflow: right after an operation that the program wrote (imm 1) comes a question whether its exact
 * result fits the type, and a warn, or with the module's `overflow` a check. Nothing comes where the operands' ranges say
 * that it fits. Types below 64 bits are computed once more in 64; i64 and u64 by the rules that C programs use.
 */
#include "passes/passes_int.h"

/* The operation in 64 bits gives what the result is worth. */
static PsRef fits_narrow(PsBuilder *b, PsOpCode code, PsRef x, PsRef y, PsRef result, bool is_unsigned) {
    PsType wide = is_unsigned && code == PS_OP_MUL ? PS_U64 : PS_I64;
    PsRef left = ps_build_cast(b, x, wide), right = ps_build_cast(b, y, wide);
    PsRef exact = ps_build_binary(b, code, left, right), found = ps_build_cast(b, result, wide);
    return ps_build_binary(b, PS_OP_EQ, exact, found);
}

/* A product that divided by one operand gives the other; of 0 it is right. */
static PsRef divides_back(PsBuilder *b, PsRef x, PsRef y, PsRef result, PsType type) {
    PsRef zero = ps_build_int(b, type, 0), is_zero = ps_build_binary(b, PS_OP_EQ, x, zero);
    PsRef quotient = ps_build_binary(b, PS_OP_TRUNCDIV, result, x);
    PsRef back = ps_build_binary(b, PS_OP_EQ, quotient, y);
    return ps_build_binary(b, PS_OP_OR, back, is_zero);
}

static PsRef fits_u64(PsBuilder *b, PsOpCode code, PsRef x, PsRef y, PsRef result) {
    if (code == PS_OP_ADD) return ps_build_binary(b, PS_OP_GE, result, x);
    if (code == PS_OP_SUB) return ps_build_binary(b, PS_OP_GE, x, y);
    return divides_back(b, x, y, result, PS_U64);
}

/* A sum that overflows has another sign than both operands; a difference another than the first, whose sign is not the
 * second's. -1 * MIN wraps to MIN, which divides back. */
static PsRef fits_i64(PsBuilder *b, PsOpCode code, PsRef x, PsRef y, PsRef result) {
    if (code != PS_OP_MUL) {
        PsRef first = ps_build_binary(b, PS_OP_XOR, x, result);
        PsRef second = ps_build_binary(b, PS_OP_XOR, y, code == PS_OP_ADD ? result : x);
        PsRef both = ps_build_binary(b, PS_OP_AND, first, second), zero = ps_build_int(b, PS_I64, 0);
        return ps_build_binary(b, PS_OP_GE, both, zero);
    }
    PsRef back = divides_back(b, x, y, result, PS_I64);
    PsRef minus = ps_build_int(b, PS_I64, -1), least = ps_build_int(b, PS_I64, INT64_MIN);
    PsRef first = ps_build_binary(b, PS_OP_NE, x, minus), second = ps_build_binary(b, PS_OP_NE, y, least);
    PsRef other = ps_build_binary(b, PS_OP_OR, first, second);
    return ps_build_binary(b, PS_OP_AND, back, other);
}

static bool known_to_fit(PsFunc *f, PsOpCode code, PsRef x, PsRef y, PsType type) {
    if (code == PS_OP_SHL || type == PS_U64) return false;
    PsRange a = ps_range_of(f, x), b = ps_range_of(f, y);
    int bits = ps_scalar_bits(type);
    bool is_unsigned = ps_scalar_class(type) == PS_CLASS_UINT;
    __int128 least = is_unsigned ? 0 : -((__int128)1 << (bits - 1)),
             most = ((__int128)1 << (is_unsigned ? bits : bits - 1)) - 1;
    for (int i = 0; i < 4; i++) {
        __int128 left = i & 1 ? a.hi : a.lo, right = i & 2 ? b.hi : b.lo;
        __int128 exact = code == PS_OP_ADD ? left + right : code == PS_OP_SUB ? left - right : left * right;
        if (exact < least || exact > most) return false;
    }
    return true;
}

void passes_check_overflow(PsFunc *f, PsRef op) {
    static const PsFaultKind kinds[PS_OP_COUNT] = {[PS_OP_ADD] = PS_FAULT_ADD,
                                                   [PS_OP_SUB] = PS_FAULT_SUB,
                                                   [PS_OP_MUL] = PS_FAULT_MUL,
                                                   [PS_OP_SHL] = PS_FAULT_SHL};
    const PsOp o = *ps_op(f, op);
    PsOpCode code = (PsOpCode)o.code;
    if (!o.imm || o.type == PS_U1 || !passes_is_int(f->module, o.type)) return;
    PsRef x = ps_op_arg(f, op, 0), y = ps_op_arg(f, op, 1), fits;
    if (known_to_fit(f, code, x, y, o.type)) return;
    PsBuilder b = passes_after(f, op);
    bool is_unsigned = ps_scalar_class(o.type) == PS_CLASS_UINT;
    if (code == PS_OP_SHL) { /* what was shifted out does not come back */
        PsRef back = ps_build_binary(&b, PS_OP_SHR, op, y);
        fits = ps_build_binary(&b, PS_OP_EQ, back, x);
    } else if (ps_scalar_bits(o.type) < 64)
        fits = fits_narrow(&b, code, x, y, op, is_unsigned);
    else
        fits = is_unsigned ? fits_u64(&b, code, x, y, op) : fits_i64(&b, code, x, y, op);
    PsOpCode what = f->module->overflow ? PS_OP_CHECK : PS_OP_WARN;
    ps_build_op(&b, what, PS_KIND_NONE, &fits, 1, kinds[code]);
}
