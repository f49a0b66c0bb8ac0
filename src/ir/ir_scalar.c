/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_scalar: what each pure op computes on scalars. The one place where its meaning is written: constant folding and
 * the evaluator call it, and generated code is tested against it. ops.def says the same in words.
 *
 * A scalar travels as its bits, zero-extended to 64. Integers of every width (u1 has width 1) are extended to 64 bits,
 * computed there and cut back, which wraps as the type would. f16 and bf16 are computed in f32 and rounded once per
 * op. Comparisons of floats are made in f64, which holds every other float type exactly. Nothing here has undefined
 * behaviour in C. No op is a product and a sum, so there is nothing a C compiler could contract; the build forbids it anyway.
 *
 * Not here: tiles (ir_eval_tile.c), memory, the float functions themselves (src/math).
 */
#include "ir/ir.h"
#include "abi/half.h"
#include "math/math.h"

#include <math.h>

/* -- types -- */

typedef struct ScalarType {
    uint8_t width; /* of an integer, 1 for u1 */
    uint8_t class; /* PsClass */
} ScalarType;
static const ScalarType scalar_types[PS_SCALAR_END] = {
#define PS_SCALAR(id, name, bits, class, ctype) [PS_##id] = {PS_##id == PS_U1 ? 1 : bits, PS_CLASS_##class},
#include "ir/types.def"
};

static bool is_signed(PsType type) { return scalar_types[type].class == PS_CLASS_INT; }
static bool is_float(PsType type) { return scalar_types[type].class == PS_CLASS_FLOAT; }
static uint64_t mask_of(PsType type) { return ~(uint64_t)0 >> (64 - scalar_types[type].width); }

/* An integer of the type as 64 bits: sign-extended when signed. */
static uint64_t extend(PsType type, uint64_t bits) {
    int unused = 64 - scalar_types[type].width;
    bits <<= unused;
    return is_signed(type) ? (uint64_t)((int64_t)bits >> unused) : bits >> unused;
}

/* The f32 that a value of a narrower float type is, and back. */
static float widen(PsType half, uint64_t bits) {
    return half == PS_F16 ? ps_f16_to_f32((uint16_t)bits) : ps_bf16_to_f32((uint16_t)bits);
}
static uint64_t narrow(PsType half, float value) {
    return half == PS_F16 ? ps_f32_to_f16(value) : ps_f32_to_bf16(value);
}
static uint64_t narrow_f64(PsType half, double value) {
    return half == PS_F16 ? ps_f64_to_f16(value) : ps_f64_to_bf16(value);
}

/* Any float exactly. */
static double wide_of(PsType type, uint64_t bits) {
    if (type == PS_F64) return ps_f64_from_bits(bits);
    return type == PS_F32 ? (double)ps_f32_from_bits((uint32_t)bits) : (double)widen(type, bits);
}

/* -- integers -- */

static uint64_t truncdiv(bool has_sign, uint64_t a, uint64_t b) {
    if (b == 0) return 0;
    if (!has_sign) return a / b;
    return b == ~(uint64_t)0 ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t truncmod(bool has_sign, uint64_t a, uint64_t b) {
    if (b == 0 || (has_sign && b == ~(uint64_t)0)) return 0;
    return has_sign ? (uint64_t)((int64_t)a % (int64_t)b) : a % b;
}

/* Whether the remainder is one that floor division brings to the sign of b. */
static bool crosses(bool has_sign, uint64_t rest, uint64_t b) {
    return has_sign && rest != 0 && ((int64_t)rest < 0) != ((int64_t)b < 0);
}

static uint64_t floordiv(bool has_sign, uint64_t a, uint64_t b) {
    return truncdiv(has_sign, a, b) - crosses(has_sign, truncmod(has_sign, a, b), b);
}

static uint64_t floormod(bool has_sign, uint64_t a, uint64_t b) {
    uint64_t rest = truncmod(has_sign, a, b);
    return crosses(has_sign, rest, b) ? rest + b : rest;
}

/* The exponent of ipow: its magnitude, and whether it is negative. An integer type `to` says how to read it; whoever
 * passes a float type there has an i32. */
static uint64_t exponent_of(PsType to, uint64_t bits, bool *out_negative) {
    bool known = ps_type_is_scalar(to) && !is_float(to);
    uint64_t b = extend(known ? to : PS_I32, bits);
    *out_negative = (!known || is_signed(to)) && (int64_t)b < 0;
    return *out_negative ? 0 - b : b;
}

static uint64_t int_ipow(bool has_sign, PsType to, uint64_t a, uint64_t exponent) {
    bool negative;
    uint64_t n = exponent_of(to, exponent, &negative), result = 1;
    if (negative) {
        if (a == 1) return 1;
        if (!has_sign || a != ~(uint64_t)0) return 0;
        return n & 1 ? a : 1;
    }
    for (; n; n >>= 1, a *= a)
        if (n & 1) result *= a;
    return result;
}

static int count_leading_zeros(uint64_t bits, int width) {
    return bits ? __builtin_clzll(bits) - (64 - width) : width;
}
static int count_trailing_zeros(uint64_t bits, int width) { return bits ? __builtin_ctzll(bits) : width; }

/* OP, result of 64 bits. a, b: extended operands; ua: a zero-extended; s: the type is signed; w: its width; raw: the
 * second operand's bits as they came, which as an unsigned number is in [0, w) or not, whatever its own type. */
// clang-format off
#define INT_OPS(X)                                                                                 \
    X(ADD, a + b)                                                                                  \
    X(SUB, a - b)                                                                                  \
    X(MUL, a * b)                                                                                  \
    X(FLOORDIV, floordiv(s, a, b))                                                                 \
    X(MOD, floormod(s, a, b))                                                                      \
    X(TRUNCDIV, truncdiv(s, a, b))                                                                 \
    X(TRUNCMOD, truncmod(s, a, b))                                                                 \
    X(NEG, 0 - a)                                                                                  \
    X(ABS, s && (int64_t)a < 0 ? 0 - a : a)                                                        \
    X(MIN, less(s, a, b) ? a : b)                                                                  \
    X(MAX, less(s, b, a) ? a : b)                                                                  \
    X(IPOW, int_ipow(s, to, a, raw))                                                               \
    X(AND, a & b)                                                                                  \
    X(OR, a | b)                                                                                   \
    X(XOR, a ^ b)                                                                                  \
    X(NOT, ~a)                                                                                     \
    X(SHL, raw < w ? a << raw : 0)                                                                 \
    X(SHR, (uint64_t)(s ? (int64_t)a >> (raw < w ? raw : 63) : (int64_t)(raw < w ? a >> raw : 0))) \
    X(USHR, raw < w ? ua >> raw : 0)                                                               \
    X(POPCNT, (uint64_t)__builtin_popcountll(ua))                                                  \
    X(CLZ, (uint64_t)count_leading_zeros(ua, (int)w))                                              \
    X(CTZ, (uint64_t)count_trailing_zeros(ua, (int)w))                                             \
    X(EQ, a == b)                                                                                  \
    X(NE, a != b)                                                                                  \
    X(LT, less(s, a, b))                                                                           \
    X(LE, !less(s, b, a))                                                                          \
    X(GT, less(s, b, a))                                                                           \
    X(GE, !less(s, a, b))
// clang-format on

static bool less(bool has_sign, uint64_t a, uint64_t b) { return has_sign ? (int64_t)a < (int64_t)b : a < b; }

static uint64_t eval_int(PsOpCode code, PsType type, PsType to, const uint64_t *args) {
    bool s = is_signed(type);
    uint64_t w = (uint64_t)scalar_types[type].width, mask = mask_of(type);
    uint64_t raw = ps_op_info[code].nargs > 1 ? args[1] : 0;
    uint64_t a = extend(type, args[0]), b = extend(type, raw), ua = a & mask;
    switch (code) {
#define CASE(OP, result)                                                                                       \
    case PS_OP_##OP: return (result)&mask;
        INT_OPS(CASE)
#undef CASE
    default: return 0;
    }
}

/* -- floats -- */

/* OP, result in T. a, b, c: operands; F(name): libm's function for T; M(name): ours (math/math.h, and below). */
// clang-format off
#define FLOAT_OPS(X)                 \
    X(ADD, a + b)                    \
    X(SUB, a - b)                    \
    X(MUL, a * b)                    \
    X(FMA, F(fma)(a, b, c))          \
    X(DIV, a / b)                    \
    X(FLOORDIV, M(floordiv)(a, b))   \
    X(MOD, M(mod)(a, b))             \
    X(IPOW, M(ipow)(a, to, args[1])) \
    X(SQRT, F(sqrt)(a))              \
    X(RSQRT, 1 / F(sqrt)(a))         \
    X(FLOOR, F(floor)(a))            \
    X(CEIL, F(ceil)(a))              \
    X(ROUND, F(round)(a))            \
    X(RINT, F(rint)(a))              \
    X(TRUNC, F(trunc)(a))
// clang-format on

/* Python's %, as CPython's float_rem computes it: not a - floor(a / b) * b, which rounds. */
#define FLOAT_MOD(T, name, fmod_, copysign_)                                                                   \
    static T name(T a, T b) {                                                                                  \
        T rest = fmod_(a, b);                                                                                  \
        if (rest == 0) return copysign_(0, b);                                                                 \
        return (rest < 0) != (b < 0) ? rest + b : rest;                                                        \
    }
/* Python's //, as CPython's float_floor_div: a less its remainder is a multiple of b but for rounding, so that the quotient
 * is the whole number next to what comes out. floor(a / b) is one too large where a / b rounds up to a whole number. */
#define FLOAT_FLOORDIV(T, name, fmod_, floor_, copysign_)                                                      \
    static T name(T a, T b) {                                                                                  \
        if (b == 0) return a / b;                                                                              \
        T rest = fmod_(a, b), quotient = (a - rest) / b;                                                       \
        if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;                                                 \
        if (quotient == 0) return copysign_(0, a / b);                                                         \
        T whole = floor_(quotient);                                                                            \
        return quotient - whole > (T)0.5 ? whole + 1 : whole;                                                  \
    }
#define FLOAT_IPOW(T, name)                                                                                    \
    static T name(T a, PsType to, uint64_t exponent) {                                                         \
        bool negative;                                                                                         \
        uint64_t n = exponent_of(to, exponent, &negative);                                                     \
        T result = 1;                                                                                          \
        while (n) {                                                                                            \
            if (n & 1) result *= a;                                                                            \
            a *= a;                                                                                            \
            n >>= 1;                                                                                           \
        }                                                                                                      \
        return negative ? 1 / result : result;                                                                 \
    }
FLOAT_MOD(float, ps_math_mod_f32, ps_math_fmod_f32, copysignf)
FLOAT_MOD(double, ps_math_mod_f64, ps_math_fmod_f64, copysign)
FLOAT_FLOORDIV(float, ps_math_floordiv_f32, ps_math_fmod_f32, floorf, copysignf)
FLOAT_FLOORDIV(double, ps_math_floordiv_f64, ps_math_fmod_f64, floor, copysign)
FLOAT_IPOW(float, ps_math_ipow_f32)
FLOAT_IPOW(double, ps_math_ipow_f64)

static uint64_t eval_f32(PsOpCode code, PsType to, const uint64_t *args) {
    bool two = ps_op_info[code].nargs > 1, three = ps_op_info[code].nargs > 2;
    float a = ps_f32_from_bits((uint32_t)args[0]), b = two ? ps_f32_from_bits((uint32_t)args[1]) : 0,
          c = three ? ps_f32_from_bits((uint32_t)args[2]) : 0;
    switch (code) {
#define F(name) name##f
#define M(name) ps_math_##name##_f32
#define CASE(OP, result)                                                                                       \
    case PS_OP_##OP:                                                                                           \
        return ps_f32_bits(result);
#define CASE1(OP, op) CASE(OP, M(op)(a))
#define CASE2(OP, op) CASE(OP, M(op)(a, b))
        FLOAT_OPS(CASE)
        PS_MATH_UNARY(CASE1)
        PS_MATH_BINARY(CASE2)
#undef F
#undef M
#undef CASE
    default: return 0;
    }
}

static uint64_t eval_f64(PsOpCode code, PsType to, const uint64_t *args) {
    bool two = ps_op_info[code].nargs > 1, three = ps_op_info[code].nargs > 2;
    double a = ps_f64_from_bits(args[0]), b = two ? ps_f64_from_bits(args[1]) : 0,
           c = three ? ps_f64_from_bits(args[2]) : 0;
    switch (code) {
#define F(name) name
#define M(name) ps_math_##name##_f64
#define CASE(OP, result)                                                                                       \
    case PS_OP_##OP: return ps_f64_bits(result);
        FLOAT_OPS(CASE)
        PS_MATH_UNARY(CASE1)
        PS_MATH_BINARY(CASE2)
#undef F
#undef M
#undef CASE
#undef CASE1
#undef CASE2
    default: return 0;
    }
}

static uint64_t eval_half(PsOpCode code, PsType type, PsType to, const uint64_t *args) {
    uint64_t wide[3] = {0};
    for (int i = 0; i < ps_op_info[code].nargs && i < 3; i++) wide[i] = ps_f32_bits(widen(type, args[i]));
    if (code == PS_OP_IPOW) wide[1] = args[1];
    return narrow(type, ps_f32_from_bits((uint32_t)eval_f32(code, to, wide)));
}

/* What the type of the float does not matter for. False: an op of another kind. */
static bool eval_float_common(PsOpCode code, PsType type, const uint64_t *args, uint64_t *out) {
    uint64_t sign = (mask_of(type) >> 1) + 1;
    if (code == PS_OP_NEG) return *out = args[0] ^ sign, true;
    if (code == PS_OP_ABS) return *out = args[0] & ~sign, true;
    if (code == PS_OP_COPYSIGN) return *out = (args[0] & ~sign) | (args[1] & sign), true;
    if (ps_op_info[code].rule != PS_RULE_COMPARE && code != PS_OP_MIN && code != PS_OP_MAX) return false;
    double a = wide_of(type, args[0]), b = wide_of(type, args[1]);
    switch (code) {
    case PS_OP_MIN: return *out = b != b || a < b ? args[0] : args[1], true;
    case PS_OP_MAX: return *out = b != b || a > b ? args[0] : args[1], true;
    case PS_OP_EQ: return *out = a == b, true;
    case PS_OP_NE: return *out = a != b, true;
    case PS_OP_LT: return *out = a < b, true;
    case PS_OP_LE: return *out = a <= b, true;
    case PS_OP_GT: return *out = a > b, true;
    case PS_OP_GE: return *out = a >= b, true;
    default: return false;
    }
}

/* -- conversion -- */

static uint64_t int_to_float(bool has_sign, PsType to, uint64_t a) {
    if (to == PS_F64) return ps_f64_bits(has_sign ? (double)(int64_t)a : (double)a);
    if (to == PS_F32) return ps_f32_bits(has_sign ? (float)(int64_t)a : (float)a);
    return narrow_f64(to, has_sign ? ps_i64_sticky((int64_t)a) : ps_u64_sticky(a));
}

static uint64_t float_to_int(PsType to, double value) {
    int width = scalar_types[to].width;
    double limit = ldexp(1, is_signed(to) ? width - 1 : width);
    if (value != value) return 0;
    if (value >= limit) return mask_of(to) >> is_signed(to);
    if (!is_signed(to)) return value <= 0 ? 0 : (uint64_t)value;
    if (value <= -limit) return (mask_of(to) >> 1) + 1;
    return (uint64_t)(int64_t)value & mask_of(to);
}

static uint64_t cast(PsType type, PsType to, uint64_t bits) {
    if (type == to) return bits;
    if (!is_float(type)) {
        uint64_t a = extend(type, bits);
        if (to == PS_U1) return a != 0;
        return is_float(to) ? int_to_float(is_signed(type), to, a) : a & mask_of(to);
    }
    double value = wide_of(type, bits);
    if (to == PS_U1) return value != 0;
    if (to == PS_F64) return ps_f64_bits(value);
    if (to == PS_F32) return ps_f32_bits((float)value);
    return is_float(to) ? narrow_f64(to, value) : float_to_int(to, value);
}

uint64_t ps_eval_scalar(PsOpCode code, PsType type, PsType to, const uint64_t *args) {
    uint64_t out;
    if ((unsigned)code >= PS_OP_COUNT || !ps_type_is_scalar(type) || ps_op_info[code].nargs < 1) return 0;
    switch (code) {
    case PS_OP_SELECT: return args[0] & 1 ? args[1] : args[2];
    case PS_OP_CAST: return ps_type_is_scalar(to) ? cast(type, to, args[0]) : 0;
    case PS_OP_BITCAST: return args[0];
    default: break;
    }
    if (!is_float(type)) return eval_int(code, type, to, args);
    if (eval_float_common(code, type, args, &out)) return out;
    if (type == PS_F64) return eval_f64(code, to, args);
    return type == PS_F32 ? eval_f32(code, to, args) : eval_half(code, type, to, args);
}
