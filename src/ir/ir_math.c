/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_math: the functions of src/math as IR. Their text is read here with words that build ops (math_int.h, in src/math,
 * says what each means, and reads the same text as C): every word is one op, so the IR computes the same bits.
 *
 * Every value here is a PsRef, so nothing checks their types but the reading as C, and the verifier.
 */
#include "ir/ir.h"
#include "abi/half.h"
#include "math/math.h"

#include <math.h>

typedef struct Math {
    PsBuilder builder;
} Math;

/* F32, F64, U32, U64 and U1 are types of math_int.h: what kind of value a PsRef is. */
#define F32 PsRef
#define F64 PsRef
#define U32 PsRef
#define U64 PsRef
#define U1  PsRef

#define CTX Math *m,
#define IN  m,
#define FN  static

static PsType type_of(Math *m, PsRef a) { return ps_op(m->builder.func, a)->type; }
static bool is_wide(Math *m, PsRef a) { return ps_scalar_size(type_of(m, a)) == 8; }

static PsRef k_f32(Math *m, float value) { return ps_build_const(&m->builder, PS_F32, ps_f32_bits(value)); }
static PsRef k_f64(Math *m, double value) { return ps_build_const(&m->builder, PS_F64, ps_f64_bits(value)); }
static PsRef k_u32(Math *m, unsigned value) { return ps_build_const(&m->builder, PS_U32, value); }
static PsRef k_u64(Math *m, unsigned long long value) { return ps_build_const(&m->builder, PS_U64, value); }

static PsRef one(Math *m, PsOpCode code, PsRef a) { return ps_build_unary(&m->builder, code, a); }
static PsRef two(Math *m, PsOpCode code, PsRef a, PsRef b) { return ps_build_binary(&m->builder, code, a, b); }
static PsRef fused(Math *m, PsRef a, PsRef b, PsRef c) {
    return ps_build_op(&m->builder, PS_OP_FMA, type_of(m, a), (PsRef[]){a, b, c}, 3, 0);
}
static PsRef chosen(Math *m, PsRef c, PsRef a, PsRef b) { return ps_build_select(&m->builder, c, a, b); }
static PsRef as_bits_of(Math *m, PsType type, PsRef a) {
    return ps_build_op(&m->builder, PS_OP_BITCAST, type, &a, 1, 0);
}
static PsRef shift_signed(Math *m, PsRef a, PsRef n) {
    PsRef shifted = two(m, PS_OP_SHR, as_bits_of(m, PS_I32, a), n);
    return as_bits_of(m, PS_U32, shifted);
}
static PsRef signed_float(Math *m, PsRef a) {
    return ps_build_cast(&m->builder, as_bits_of(m, PS_I32, a), PS_F32);
}

/* As in math_int.h. The coefficients, lowest power first, are overwritten. */
static PsRef pairs(Math *m, PsRef x, PsRef *c, int n) {
    for (; n > 1; n = (n + 1) / 2) {
        for (int i = 0; i < n / 2; i++) c[i] = fused(m, c[2 * i + 1], x, c[2 * i]);
        if (n % 2) c[n / 2] = c[n - 1];
        if (n > 2) x = two(m, PS_OP_MUL, x, x);
    }
    return c[0];
}
static PsRef polynomial(Math *m, PsRef x, PsRef *c, int n) {
    if (n > PS_MATH_POLY_HORNER) return fused(m, pairs(m, x, c + 1, n - 1), x, c[0]);
    PsRef y = c[n - 1];
    for (int i = n - 2; i >= 0; i--) y = fused(m, y, x, c[i]);
    return y;
}
static PsRef poly_f32(Math *m, PsRef x, const float *c, int n) {
    PsRef values[PS_MATH_POLY_MAX];
    for (int i = 0; i < n; i++) values[i] = k_f32(m, c[i]);
    return polynomial(m, x, values, n);
}
static PsRef poly_f64(Math *m, PsRef x, const double *c, int n) {
    PsRef values[PS_MATH_POLY_MAX];
    for (int i = 0; i < n; i++) values[i] = k_f64(m, c[i]);
    return polynomial(m, x, values, n);
}

#define K(value)                                                                                               \
    _Generic((value), float : k_f32, double : k_f64, unsigned : k_u32, unsigned long long : k_u64)(m, value)
/* Operands are built from left to right, whatever the C compiler, so that the IR's text is the same everywhere. */
#define SHIFT(build, a, n)                                                                                     \
    ({                                                                                                         \
        PsRef left_ = (a);                                                                                     \
        build(m, left_, n);                                                                                    \
    })
#define TWO(op, a, b)                                                                                          \
    ({                                                                                                         \
        PsRef left_ = (a);                                                                                     \
        two(m, op, left_, b);                                                                                  \
    })
#define THREE(build, a, b, c)                                                                                  \
    ({                                                                                                         \
        PsRef first_ = (a), second_ = (b);                                                                     \
        build(m, first_, second_, c);                                                                          \
    })
#define ADD(a, b)      TWO(PS_OP_ADD, a, b)
#define SUB(a, b)      TWO(PS_OP_SUB, a, b)
#define MUL(a, b)      TWO(PS_OP_MUL, a, b)
#define DIV(a, b)      TWO(PS_OP_DIV, a, b)
#define FMA(a, b, c)   THREE(fused, a, b, c)
#define NEG(a)         one(m, PS_OP_NEG, a)
#define ABS(a)         one(m, PS_OP_ABS, a)
#define SQRT(a)        one(m, PS_OP_SQRT, a)
#define RINT(a)        one(m, PS_OP_RINT, a)
#define COPYSIGN(a, b) TWO(PS_OP_COPYSIGN, a, b)
#define LT(a, b)       TWO(PS_OP_LT, a, b)
#define LE(a, b)       TWO(PS_OP_LE, a, b)
#define GT(a, b)       TWO(PS_OP_GT, a, b)
#define GE(a, b)       TWO(PS_OP_GE, a, b)
#define EQ(a, b)       TWO(PS_OP_EQ, a, b)
#define NE(a, b)       TWO(PS_OP_NE, a, b)
#define AND(a, b)      TWO(PS_OP_AND, a, b)
#define OR(a, b)       TWO(PS_OP_OR, a, b)
#define XOR(a, b)      TWO(PS_OP_XOR, a, b)
#define NOT(a)         one(m, PS_OP_NOT, a)
#define SHL(a, n)      TWO(PS_OP_SHL, a, n)
#define USHR(a, n)     TWO(PS_OP_USHR, a, n)
#define ASHR(a, n)     SHIFT(shift_signed, a, n)
#define BITS(a)        bits_of(m, a)
#define FLOAT(a)       float_of(m, a)
#define WIDE(a)        ps_build_cast(&m->builder, a, PS_F64)
#define NARROW(a)      ps_build_cast(&m->builder, a, PS_F32)
#define U64_OF(a)      ps_build_cast(&m->builder, a, PS_U64)
#define U32_OF(a)      ps_build_cast(&m->builder, a, PS_U32)
#define SIGNED_F(a)    signed_float(m, a)
#define POLY(x, table)                                                                                         \
    _Generic((table), const float * : poly_f32, const double * : poly_f64)(m, x, table, (int)PS_COUNT(table))
#define SEL(c, a, b) THREE(chosen, c, a, b)

#define FAR(OP, op, x, y) TWO(PS_OP_##OP##_FAR, x, y)

static PsRef bits_of(Math *m, PsRef a) { return as_bits_of(m, is_wide(m, a) ? PS_U64 : PS_U32, a); }
static PsRef float_of(Math *m, PsRef a) { return as_bits_of(m, is_wide(m, a) ? PS_F64 : PS_F32, a); }

#include "math/all.def"

/* fmod has no definition there. */
#undef F32
#undef F64
typedef PsRef Expand(Math *m, PsRef a, PsRef b);
#define UNARY(OP, op)                                                                                          \
    static PsRef expand_##op##_f32(Math *m, PsRef a, PsRef b) { return (void)b, op##_f32(m, a); }              \
    static PsRef expand_##op##_f64(Math *m, PsRef a, PsRef b) { return (void)b, op##_f64(m, a); }
PS_MATH_UNARY(UNARY)
#define ENTRY(OP, op) [PS_OP_##OP] = {expand_##op##_f32, expand_##op##_f64},

static Expand *const expansions[PS_OP_COUNT][2] = {
    PS_MATH_UNARY(ENTRY)[PS_OP_ATAN2] = {atan2_f32, atan2_f64},
    [PS_OP_POW] = {pow_f32, pow_f64},
    [PS_OP_HYPOT] = {hypot_f32, hypot_f64},
};

PsRef ps_build_math(PsBuilder *b, PsOpCode code, PsRef a, PsRef c) {
    Math m = {.builder = *b};
    PsType type = ps_op(b->func, a)->type;
    if ((unsigned)code >= PS_OP_COUNT || (type != PS_F32 && type != PS_F64)) return 0;
    Expand *expand = expansions[code][type == PS_F64];
    return expand ? expand(&m, a, c) : 0;
}
