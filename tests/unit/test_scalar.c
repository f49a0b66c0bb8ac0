/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of defined results: what every pure op gives on scalars (ir_scalar.c). Integer ops are compared with their
 * definition in 128-bit arithmetic, over all pairs of 8-bit values and over the corners of wider types.
 */
#include "ir/ir.h"
#include "abi/half.h"
#include "math/math.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

typedef __int128 Wide;

static uint64_t mask_of(PsType t) { return t == PS_U1 ? 1 : ~(uint64_t)0 >> (64 - ps_scalar_bits(t)); }
static bool is_int(PsType t) { return ps_scalar_class(t) != PS_CLASS_FLOAT; }
static uint64_t to_bits(PsType t, Wide value) { return (uint64_t)value & mask_of(t); }
static Wide value_of(PsType t, uint64_t bits) {
    uint64_t top = (mask_of(t) >> 1) + 1;
    return ps_scalar_class(t) == PS_CLASS_INT && (bits & top) ? (Wide)bits - (Wide)mask_of(t) - 1 : (Wide)bits;
}

static uint64_t eval2(PsOpCode code, PsType t, uint64_t a, uint64_t b) {
    uint64_t args[] = {a, b};
    return ps_eval_scalar(code, t, t, args);
}
static uint64_t eval1(PsOpCode code, PsType t, uint64_t a) { return ps_eval_scalar(code, t, t, &a); }
static uint64_t cast(PsType from, PsType to, uint64_t a) { return ps_eval_scalar(PS_OP_CAST, from, to, &a); }

static uint64_t f32(float v) { return ps_f32_bits(v); }
static uint64_t f64(double v) { return ps_f64_bits(v); }
static float as_f32(uint64_t bits) { return ps_f32_from_bits((uint32_t)bits); }
static double as_f64(uint64_t bits) { return ps_f64_from_bits(bits); }

/* -- integers against their definition -- */

static Wide floor_div(Wide a, Wide b) {
    Wide q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/* a ** b for b >= 0, modulo 2 ** 64. */
static Wide power(Wide a, Wide b) {
    uint64_t result = 1, base = (uint64_t)a;
    for (uint64_t n = (uint64_t)b; n; n >>= 1, base *= base) result *= n & 1 ? base : 1;
    return (Wide)result;
}

static Wide define_ipow(Wide a, Wide b) {
    if (b >= 0) return power(a, b);
    return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
}

/* What `a code b` is as a number, before it wraps to the type. */
static Wide define(PsOpCode code, PsType t, Wide a, Wide b) {
    int width = t == PS_U1 ? 1 : ps_scalar_bits(t);
    bool in_range = b >= 0 && b < width;
    Wide bits = (Wide)to_bits(t, a);
    switch (code) {
    case PS_OP_ADD: return a + b;
    case PS_OP_SUB: return a - b;
    case PS_OP_MUL: return (Wide)((unsigned __int128)a * (unsigned __int128)b);
    case PS_OP_FLOORDIV: return b ? floor_div(a, b) : 0;
    case PS_OP_MOD: return b ? a - floor_div(a, b) * b : 0;
    case PS_OP_TRUNCDIV: return b ? a / b : 0;
    case PS_OP_TRUNCMOD: return b ? a % b : 0;
    case PS_OP_MIN: return a < b ? a : b;
    case PS_OP_MAX: return a > b ? a : b;
    case PS_OP_IPOW: return define_ipow(a, b);
    case PS_OP_AND: return a & b;
    case PS_OP_OR: return a | b;
    case PS_OP_XOR: return a ^ b;
    case PS_OP_SHL: return in_range ? (Wide)((uint64_t)bits << (int)b) : 0;
    case PS_OP_SHR: return in_range ? floor_div(a, (Wide)1 << (int)b) : (a < 0 ? -1 : 0);
    case PS_OP_USHR: return in_range ? bits >> (int)b : 0;
    case PS_OP_EQ: return a == b;
    case PS_OP_NE: return a != b;
    case PS_OP_LT: return a < b;
    case PS_OP_LE: return a <= b;
    case PS_OP_GT: return a > b;
    case PS_OP_GE: return a >= b;
    case PS_OP_NEG: return -a;
    case PS_OP_ABS: return a < 0 ? -a : a;
    case PS_OP_NOT: return ~a;
    default: return 0;
    }
}

static Wide define_count(PsOpCode code, PsType t, uint64_t bits) {
    int width = t == PS_U1 ? 1 : ps_scalar_bits(t), ones = 0, leading = 0, trailing = 0;
    for (int i = 0; i < width; i++) ones += bits >> i & 1;
    while (leading < width && !(bits >> (width - 1 - leading) & 1)) leading++;
    while (trailing < width && !(bits >> trailing & 1)) trailing++;
    return code == PS_OP_POPCNT ? ones : code == PS_OP_CLZ ? leading : trailing;
}

static const PsOpCode int_ops[] = {
    PS_OP_ADD, PS_OP_SUB,  PS_OP_MUL,  PS_OP_FLOORDIV, PS_OP_MOD, PS_OP_TRUNCDIV, PS_OP_TRUNCMOD,
    PS_OP_MIN, PS_OP_MAX,  PS_OP_IPOW, PS_OP_AND,      PS_OP_OR,  PS_OP_XOR,      PS_OP_SHL,
    PS_OP_SHR, PS_OP_USHR, PS_OP_EQ,   PS_OP_NE,       PS_OP_LT,  PS_OP_LE,       PS_OP_GT,
    PS_OP_GE,  PS_OP_NEG,  PS_OP_ABS,  PS_OP_NOT,
};
static const PsOpCode count_ops[] = {PS_OP_POPCNT, PS_OP_CLZ, PS_OP_CTZ};

/* One check a type and op: the first pair that differs is reported. */
static void check_pair(PsOpCode code, PsType t, uint64_t a, uint64_t b, int *failures) {
    bool is_test = ps_op_info[code].rule == PS_RULE_COMPARE;
    uint64_t want = to_bits(is_test ? PS_U1 : t, define(code, t, value_of(t, a), value_of(t, b)));
    uint64_t got = eval2(code, t, a, b);
    if (got == want || (*failures)++) return;
    fprintf(stderr, "%s %s 0x%" PRIx64 ", 0x%" PRIx64 " is 0x%" PRIx64 ", expected 0x%" PRIx64 "\n",
            ps_op_info[code].name, ps_scalar_name(t), a, b, got, want);
}

static void test_small_integers(void) {
    static const PsType types[] = {PS_U1, PS_I8, PS_U8};
    for (size_t k = 0; k < PS_COUNT(types); k++) {
        uint64_t end = mask_of(types[k]) + 1;
        for (size_t i = 0; i < PS_COUNT(int_ops); i++) {
            int failures = 0;
            for (uint64_t a = 0; a < end; a++)
                for (uint64_t b = 0; b < end; b++) check_pair(int_ops[i], types[k], a, b, &failures);
            CHECK_INT(failures, 0);
        }
        for (size_t i = 0; i < PS_COUNT(count_ops); i++)
            for (uint64_t a = 0; a < end; a++)
                CHECK_INT(eval1(count_ops[i], types[k], a), define_count(count_ops[i], types[k], a));
    }
}

static void test_wide_integers(void) {
    static const uint64_t corners[] = {
        0,
        1,
        2,
        3,
        5,
        7,
        8,
        15,
        16,
        31,
        32,
        33,
        63,
        64,
        100,
        0x7f,
        0x80,
        0xff,
        0x7fff,
        0x8000,
        0xfffe,
        0xffff,
        0x7fffffff,
        0x80000000,
        0x80000001,
        0xfffffff9,
        0xfffffffe,
        0xffffffff,
        0x100000000,
        0x123456789abcdef0,
        0x7fffffffffffffff,
        0x8000000000000000,
        0x8000000000000001,
        0xfffffffffffffff9,
        0xffffffffffffffff,
    };
    for (PsType t = PS_U1; t < PS_SCALAR_END; t++) {
        for (size_t i = 0; i < PS_COUNT(int_ops) && is_int(t); i++) {
            int failures = 0;
            for (size_t k = 0; k < PS_COUNT(corners) * PS_COUNT(corners); k++)
                check_pair(int_ops[i], t, corners[k / PS_COUNT(corners)] & mask_of(t),
                           corners[k % PS_COUNT(corners)] & mask_of(t), &failures);
            CHECK_INT(failures, 0);
        }
        for (size_t k = 0; k < PS_COUNT(corners) * PS_COUNT(count_ops) && is_int(t); k++) {
            uint64_t a = corners[k / PS_COUNT(count_ops)] & mask_of(t);
            PsOpCode code = count_ops[k % PS_COUNT(count_ops)];
            CHECK_INT(eval1(code, t, a), define_count(code, t, a));
        }
    }
}

/* The results users of other systems found wrong, written out. */
static void test_known_integers(void) {
    static const struct {
        int32_t a, b, div, mod, tdiv, tmod;
    } cases[] = {
        {-7, 2, -4, 1, -3, -1},
        {7, -2, -4, -1, -3, 1},
        {-1, 2, -1, 1, 0, -1},
        {-7, -2, 3, -1, 3, -1},
        {7, 2, 3, 1, 3, 1},
        {5, 0, 0, 0, 0, 0},
        {INT32_MIN, -1, INT32_MIN, 0, INT32_MIN, 0},
        {0, -3, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < PS_COUNT(cases); i++) {
        uint64_t a = (uint32_t)cases[i].a, b = (uint32_t)cases[i].b;
        CHECK_INT((int32_t)eval2(PS_OP_FLOORDIV, PS_I32, a, b), cases[i].div);
        CHECK_INT((int32_t)eval2(PS_OP_MOD, PS_I32, a, b), cases[i].mod);
        CHECK_INT((int32_t)eval2(PS_OP_TRUNCDIV, PS_I32, a, b), cases[i].tdiv);
        CHECK_INT((int32_t)eval2(PS_OP_TRUNCMOD, PS_I32, a, b), cases[i].tmod);
    }
    CHECK_INT(eval2(PS_OP_FLOORDIV, PS_I64, (uint64_t)INT64_MIN, ~(uint64_t)0), INT64_MIN);
    CHECK_INT(eval2(PS_OP_SHR, PS_U32, 0xf0000000, 4), 0x0f000000);
    CHECK_INT(eval2(PS_OP_SHR, PS_I32, 0xf0000000, 4), 0xff000000);
    CHECK_INT(eval2(PS_OP_SHL, PS_I32, 1, 32), 0);
    CHECK_INT(eval2(PS_OP_SHR, PS_I32, 0x80000000, 32), 0xffffffff);
    CHECK_INT(eval2(PS_OP_GE, PS_U64, 1721142608025344941u, 1721142608025339990u + 5000), 0);
}

/* The second operand of a shift and of ipow has a type of its own. */
static void test_mixed_types(void) {
    uint64_t a[] = {0x80, 0xff};
    CHECK_INT(ps_eval_scalar(PS_OP_SHR, PS_I8, PS_U8, a), 0xff);
    CHECK_INT(ps_eval_scalar(PS_OP_SHL, PS_I64, PS_I8, a), 0);
    uint64_t minus_one[] = {0xffffffff, 0xff};
    CHECK_INT(ps_eval_scalar(PS_OP_IPOW, PS_I32, PS_I8, minus_one), 0xffffffff); /* (-1) ** -1 */
    CHECK_INT(ps_eval_scalar(PS_OP_IPOW, PS_I32, PS_U8, minus_one), 0xffffffff); /* (-1) ** 255 */
    uint64_t two[] = {2, 0xffffffff};
    CHECK_INT(ps_eval_scalar(PS_OP_IPOW, PS_I64, PS_I32, two), 0);
    CHECK_INT(ps_eval_scalar(PS_OP_IPOW, PS_I64, PS_U32, two), 0); /* 2 ** 4294967295, wrapped */
    uint64_t three[] = {3, (uint64_t)1 << 63};
    CHECK_INT(ps_eval_scalar(PS_OP_IPOW, PS_U64, PS_U64, three), power(3, (Wide)three[1]));
    uint64_t half[] = {f64(2), 0xffffffff};
    CHECK_DOUBLE(as_f64(ps_eval_scalar(PS_OP_IPOW, PS_F64, PS_I32, half)), 0.5);
    half[1] = 0x80000000;
    CHECK_DOUBLE(as_f64(ps_eval_scalar(PS_OP_IPOW, PS_F64, PS_I32, half)), 0.0);
    half[0] = f64(-1);
    half[1] = (uint64_t)INT64_MIN;
    CHECK_DOUBLE(as_f64(ps_eval_scalar(PS_OP_IPOW, PS_F64, PS_I64, half)), 1.0);
    uint64_t cube[] = {f32(1.1f), 3};
    CHECK_DOUBLE(as_f32(ps_eval_scalar(PS_OP_IPOW, PS_F32, PS_I64, cube)), 1.1f * (1.1f * 1.1f));
    cube[1] = 0;
    CHECK_DOUBLE(as_f32(ps_eval_scalar(PS_OP_IPOW, PS_F32, PS_I64, cube)), 1.0f);
}

static void test_select_bitcast(void) {
    uint64_t args[] = {1, 7, 9};
    CHECK_INT(ps_eval_scalar(PS_OP_SELECT, PS_I32, PS_I32, args), 7);
    args[0] = 0;
    CHECK_INT(ps_eval_scalar(PS_OP_SELECT, PS_F64, PS_F64, args), 9);
    uint64_t one = f32(1);
    CHECK_INT(ps_eval_scalar(PS_OP_BITCAST, PS_F32, PS_I32, &one), 0x3f800000);
}

/* -- floats -- */

static void test_float_arithmetic(void) {
    CHECK_DOUBLE(as_f32(eval2(PS_OP_ADD, PS_F32, f32(0.1f), f32(0.2f))), 0.1f + 0.2f);
    CHECK_DOUBLE(as_f64(eval2(PS_OP_ADD, PS_F64, f64(0.1), f64(0.2))), 0.30000000000000004);
    CHECK_DOUBLE(as_f64(eval2(PS_OP_DIV, PS_F64, f64(1), f64(-0.0))), -INFINITY);
    CHECK(isnan(as_f64(eval2(PS_OP_DIV, PS_F64, f64(0), f64(0)))));
    CHECK_DOUBLE(as_f64(eval2(PS_OP_FLOORDIV, PS_F64, f64(-7), f64(2))), -4);
    CHECK_DOUBLE(as_f32(eval2(PS_OP_FLOORDIV, PS_F32, f32(7), f32(-2))), -4);
    CHECK_DOUBLE(as_f64(eval2(PS_OP_FLOORDIV, PS_F64, f64(1), f64(0.1))), 9); /* 1 / 0.1 rounds up to 10 */
    CHECK_DOUBLE(as_f64(eval2(PS_OP_FLOORDIV, PS_F64, f64(-1), f64(0.1))), -10);
    CHECK_DOUBLE(as_f64(eval2(PS_OP_FLOORDIV, PS_F64, f64(-1), f64(INFINITY))), -1);
    CHECK_DOUBLE(as_f64(eval2(PS_OP_FLOORDIV, PS_F64, f64(0.0), f64(-3))), -0.0);
    CHECK_DOUBLE(as_f64(eval2(PS_OP_FLOORDIV, PS_F64, f64(-2), f64(0.0))), -INFINITY);
    CHECK_INT(isnan(as_f64(eval2(PS_OP_FLOORDIV, PS_F64, f64(INFINITY), f64(2)))), true);
    CHECK_INT(isnan(as_f64(eval2(PS_OP_FLOORDIV, PS_F64, f64(0), f64(0)))), true);
    CHECK_DOUBLE(as_f64(eval1(PS_OP_NEG, PS_F64, f64(0))), -0.0);
    CHECK_DOUBLE(as_f32(eval1(PS_OP_NEG, PS_F32, f32(-0.0f))), 0.0);
    CHECK_DOUBLE(as_f64(eval1(PS_OP_ABS, PS_F64, f64(-0.0))), 0.0);
    CHECK_INT(eval1(PS_OP_NEG, PS_F32, 0x7fc00001), 0xffc00001);
    CHECK_INT(eval1(PS_OP_ABS, PS_F16, 0xfe01), 0x7e01);
    /* One rounding: the product alone would lose the small term. */
    uint64_t fma64[] = {f64(1 + 0x1p-30), f64(1 + 0x1p-30), f64(-1 - 0x1p-29)};
    CHECK_DOUBLE(as_f64(ps_eval_scalar(PS_OP_FMA, PS_F64, PS_F64, fma64)), 0x1p-60);
    uint64_t fma32[] = {f32(1 + 0x1p-12f), f32(1 + 0x1p-12f), f32(-1 - 0x1p-11f)};
    CHECK_DOUBLE(as_f32(ps_eval_scalar(PS_OP_FMA, PS_F32, PS_F32, fma32)), 0x1p-24);
    CHECK_DOUBLE(as_f32(eval1(PS_OP_RSQRT, PS_F32, f32(3))), 1 / sqrtf(3));
    CHECK_DOUBLE(as_f64(eval1(PS_OP_SQRT, PS_F64, f64(2))), sqrt(2));
    CHECK_DOUBLE(as_f64(eval1(PS_OP_ROUND, PS_F64, f64(-2.5))), -3);
    CHECK_DOUBLE(as_f64(eval1(PS_OP_ROUND, PS_F64, f64(0.49999999999999994))), 0);
    CHECK_DOUBLE(as_f32(eval1(PS_OP_FLOOR, PS_F32, f32(-0.5f))), -1);
    CHECK_DOUBLE(as_f64(eval1(PS_OP_RINT, PS_F64, f64(2.5))), 2);
    CHECK_DOUBLE(as_f32(eval1(PS_OP_RINT, PS_F32, f32(-0.5f))), -0.0);
    CHECK_DOUBLE(as_f32(eval1(PS_OP_RINT, PS_F32, f32(3.5f))), 4);
    CHECK_DOUBLE(as_f32(eval1(PS_OP_CEIL, PS_F32, f32(-0.5f))), -0.0);
    CHECK_DOUBLE(as_f32(eval1(PS_OP_TRUNC, PS_F32, f32(-1.5f))), -1);
    CHECK_DOUBLE(as_f64(eval2(PS_OP_MUL, PS_F64, f64(0x1p-1074), f64(1))), 0x1p-1074); /* denormals stay */
}

static void test_copysign(void) {
    static const double values[] = {0.0, 1.5, 65504, 0x1p-24, INFINITY, NAN};
    for (PsType t = PS_F16; t <= PS_F64; t++) {
        uint64_t sign = cast(PS_F64, t, f64(-0.0));
        for (size_t i = 0; i < PS_COUNT(values); i++)
            for (size_t k = 0; k < PS_COUNT(values); k++) {
                uint64_t a = cast(PS_F64, t, f64(values[i])) & ~sign;
                uint64_t b = cast(PS_F64, t, f64(values[k])) & ~sign;
                CHECK_INT(eval2(PS_OP_COPYSIGN, t, a, b), a);
                CHECK_INT(eval2(PS_OP_COPYSIGN, t, a | sign, b), a);
                CHECK_INT(eval2(PS_OP_COPYSIGN, t, a, b | sign), a | sign);
                CHECK_INT(eval2(PS_OP_COPYSIGN, t, a | sign, b | sign), a | sign);
            }
    }
    CHECK_DOUBLE(as_f64(eval2(PS_OP_COPYSIGN, PS_F64, f64(3), f64(-0.0))), -3);
    CHECK_DOUBLE(as_f32(eval2(PS_OP_COPYSIGN, PS_F32, f32(-0.0f), f32(2))), 0.0);
    CHECK_INT(eval2(PS_OP_COPYSIGN, PS_F32, 0x7f800001, 0x80000000), 0xff800001); /* the payload stays */
}

static void test_float_mod(void) {
    static const double cases[][3] = {
        /* a, b, a % b in Python */
        {-7, 2, 1},
        {7, -2, -1},
        {-1, 2, 1},
        {-7, -2, -1},
        {5.5, 2, 1.5},
        {-0.0, 2, 0.0},
        {0.0, -2, -0.0},
        {4, -2, -0.0},
        {-4, 2, 0.0},
        {-1, INFINITY, INFINITY},
        {1, -INFINITY, -INFINITY},
        {3, INFINITY, 3},
        {-1e-20, 1, 1},
        {1e300, 7, 1},
    };
    for (size_t i = 0; i < PS_COUNT(cases); i++)
        CHECK_DOUBLE(as_f64(eval2(PS_OP_MOD, PS_F64, f64(cases[i][0]), f64(cases[i][1]))), cases[i][2]);
    CHECK_DOUBLE(as_f32(eval2(PS_OP_MOD, PS_F32, f32(-7), f32(2))), 1);
    CHECK_DOUBLE(as_f32(eval2(PS_OP_MOD, PS_F32, f32(0.3f), f32(-0.1f))), fmodf(0.3f, -0.1f) + -0.1f);
    CHECK(isnan(as_f64(eval2(PS_OP_MOD, PS_F64, f64(1), f64(0)))));
    CHECK(isnan(as_f64(eval2(PS_OP_MOD, PS_F64, f64(INFINITY), f64(2)))));
    CHECK_DOUBLE(as_f64(eval2(PS_OP_FMOD, PS_F64, f64(-7), f64(2))), -1);
}

static void test_nan_rules(void) {
    for (PsType t = PS_F16; t <= PS_F64; t++) {
        uint64_t nan = cast(PS_F64, t, f64(NAN)), one = cast(PS_F64, t, f64(1)), two = cast(PS_F64, t, f64(2));
        CHECK_INT(eval2(PS_OP_MIN, t, nan, one), one);
        CHECK_INT(eval2(PS_OP_MIN, t, one, nan), one);
        CHECK_INT(eval2(PS_OP_MIN, t, nan, nan), nan);
        CHECK_INT(eval2(PS_OP_MAX, t, nan, one), one);
        CHECK_INT(eval2(PS_OP_MAX, t, one, nan), one);
        CHECK_INT(eval2(PS_OP_MIN, t, two, one), one);
        CHECK_INT(eval2(PS_OP_MAX, t, one, two), two);
        uint64_t minus_zero = cast(PS_F64, t, f64(-0.0));
        CHECK_INT(eval2(PS_OP_MIN, t, minus_zero, 0), 0); /* equal: the second */
        CHECK_INT(eval2(PS_OP_MAX, t, 0, minus_zero), minus_zero);
        CHECK_INT(eval2(PS_OP_EQ, t, nan, nan), 0);
        CHECK_INT(eval2(PS_OP_NE, t, nan, nan), 1);
        CHECK_INT(eval2(PS_OP_LT, t, nan, one), 0);
        CHECK_INT(eval2(PS_OP_GE, t, nan, one), 0);
        CHECK_INT(eval2(PS_OP_LE, t, one, two), 1);
        CHECK_INT(eval2(PS_OP_GT, t, two, one), 1);
        CHECK_INT(eval2(PS_OP_EQ, t, 0, minus_zero), 1);
        CHECK_INT(cast(t, PS_I32, nan), 0);
        CHECK_INT(cast(t, PS_U64, nan), 0);
        CHECK_INT(cast(t, PS_U1, nan), 1);
        CHECK_INT(cast(t, PS_U1, minus_zero), 0);
        CHECK_INT(cast(t, PS_U1, two), 1);
    }
}

static void test_math(void) {
    struct {
        PsOpCode code;
        double (*fn)(double);
    } cases[] = {
#define CASE(OP, op) {PS_OP_##OP, op},
        PS_MATH_UNARY(CASE)
#undef CASE
    };
    for (size_t i = 0; i < PS_COUNT(cases); i++) {
        double wide = cases[i].fn(0.3), narrow = cases[i].fn((double)0.3f); /* ours and libm's: 2 ulp and 1 */
        CHECK_NEAR(as_f64(eval1(cases[i].code, PS_F64, f64(0.3))), wide, 3 * 0x1p-53 * fabs(wide));
        CHECK_NEAR(as_f32(eval1(cases[i].code, PS_F32, f32(0.3f))), narrow, 2 * 0x1p-23 * fabs(narrow));
        uint64_t half = ps_f32_to_f16(0.3f), as_f32_bits = ps_f32_bits(ps_f16_to_f32((uint16_t)half));
        uint64_t result = eval1(cases[i].code, PS_F32, as_f32_bits);
        CHECK_INT(eval1(cases[i].code, PS_F16, half), ps_f32_to_f16(ps_f32_from_bits((uint32_t)result)));
    }
    CHECK_NEAR(as_f64(eval2(PS_OP_ATAN2, PS_F64, f64(1), f64(-1))), atan2(1, -1), 0x1p-51);
    CHECK_NEAR(as_f32(eval2(PS_OP_POW, PS_F32, f32(1.5f), f32(2.5f))), pow(1.5, 2.5), 0x1p-22);
    CHECK_NEAR(as_f64(eval2(PS_OP_POW, PS_F64, f64(2), f64(-0.5))), pow(2, -0.5), 0x1p-53);
    for (int i = -30; i <= 30; i++) { /* what is exact comes out exact */
        CHECK_DOUBLE(as_f64(eval1(PS_OP_LOG2, PS_F64, f64(ldexp(1, i)))), i);
        CHECK_DOUBLE(as_f32(eval1(PS_OP_EXP2, PS_F32, f32((float)i))), ldexp(1, i));
        CHECK_DOUBLE(as_f64(eval2(PS_OP_POW, PS_F64, f64(i), f64(3))), (double)(i * i * i));
        CHECK_DOUBLE(as_f32(eval2(PS_OP_POW, PS_F32, f32((float)i), f32(3))), (double)(i * i * i));
        CHECK_DOUBLE(as_f64(eval1(PS_OP_CBRT, PS_F64, f64((double)(i * i * i)))), i);
    }
    double power = 1;
    for (int i = 0; i <= 22; i++, power *= 10) CHECK_DOUBLE(as_f64(eval1(PS_OP_LOG10, PS_F64, f64(power))), i);
    CHECK_DOUBLE(as_f32(eval1(PS_OP_COS, PS_F32, f32(0))), 1);
    CHECK_DOUBLE(as_f64(eval1(PS_OP_EXPM1, PS_F64, f64(1e-20))), 1e-20);
    CHECK_DOUBLE(as_f64(eval1(PS_OP_LOG1P, PS_F64, f64(-1))), -INFINITY);
    CHECK_DOUBLE(as_f64(eval2(PS_OP_HYPOT, PS_F64, f64(0x3p900), f64(-0x4p900))), 0x5p900);
    CHECK_DOUBLE(as_f32(eval2(PS_OP_HYPOT, PS_F32, f32(-INFINITY), f32(NAN))), INFINITY);
    CHECK_DOUBLE(as_f32(eval2(PS_OP_HYPOT, PS_F32, f32(1e-45f), f32(0))), 1e-45f);
}

static void test_half(void) {
    uint64_t big = cast(PS_I32, PS_F16, 30000), factor = cast(PS_I32, PS_F16, 200);
    CHECK_DOUBLE(as_f32(cast(PS_F16, PS_F32, eval2(PS_OP_MUL, PS_F16, big, factor))), INFINITY);
    uint64_t one = cast(PS_F32, PS_BF16, f32(1)), three = cast(PS_F32, PS_BF16, f32(3));
    CHECK_INT(one, 0x3f80);
    CHECK_INT(eval2(PS_OP_DIV, PS_BF16, one, three), ps_f32_to_bf16(1.0f / 3.0f));
    CHECK_INT(eval2(PS_OP_ADD, PS_F16, 0x3c00, 0x0001), 0x3c00);
    uint64_t tenth[] = {ps_f32_to_f16(1.1f), 3};
    float base = ps_f16_to_f32((uint16_t)tenth[0]);
    CHECK_INT(ps_eval_scalar(PS_OP_IPOW, PS_F16, PS_I32, tenth), ps_f32_to_f16(base * (base * base)));
}

/* -- conversion -- */

static void test_int_casts(void) {
    CHECK_INT(cast(PS_I32, PS_I8, 0x1ff), 0xff);
    CHECK_INT(cast(PS_I8, PS_I32, 0x80), 0xffffff80);
    CHECK_INT(cast(PS_U8, PS_I32, 0x80), 0x80);
    CHECK_INT(cast(PS_I32, PS_U64, 0xffffffff), -1);
    CHECK_INT(cast(PS_I64, PS_U1, (uint64_t)1 << 40), 1);
    CHECK_INT(cast(PS_U1, PS_I64, 1), 1);
    CHECK_DOUBLE(as_f64(cast(PS_U8, PS_F64, 200)), 200);
    CHECK_DOUBLE(as_f64(cast(PS_I8, PS_F64, 200)), -56);
    CHECK_DOUBLE(as_f64(cast(PS_U64, PS_F64, ~(uint64_t)0)), 0x1p64);
    /* One rounding each, though the value passes through no exact float on its way. */
    CHECK_DOUBLE(as_f32(cast(PS_I64, PS_F32, ((uint64_t)1 << 60) + ((uint64_t)1 << 36) + 1)), 0x1p60 + 0x1p37);
    CHECK_DOUBLE(as_f32(cast(PS_U64, PS_F32, 0xffffff8000000001)), 0x1p64);
    CHECK_DOUBLE(as_f32(cast(PS_BF16, PS_F32, cast(PS_I64, PS_BF16, 0x1010000000000001))), 0x1.02p60);
    CHECK_DOUBLE(as_f32(cast(PS_BF16, PS_F32, cast(PS_I64, PS_BF16, 0x1010000000000000))), 0x1p60);
    CHECK_INT(cast(PS_I64, PS_F16, 65520), 0x7c00);
    CHECK_INT(cast(PS_I64, PS_F16, 65519), 0x7bff);
}

static void test_float_casts(void) {
    static const struct {
        double value;
        PsType to;
        uint64_t want;
    } cases[] = {
        {3e9, PS_U32, 3000000000u},
        {3e9, PS_I32, INT32_MAX},
        {-3e9, PS_I32, 0x80000000},
        {-2147483648.9, PS_I32, 0x80000000},
        {2147483647.9, PS_I32, INT32_MAX},
        {-1.9, PS_I32, 0xffffffff},
        {-0.9, PS_U8, 0},
        {-5, PS_U32, 0},
        {255.9, PS_U8, 255},
        {256, PS_U8, 255},
        {127.9, PS_I8, 127},
        {128, PS_I8, 127},
        {-129, PS_I8, 0x80},
        {0x1p63, PS_I64, INT64_MAX},
        {-0x1p63, PS_I64, (uint64_t)INT64_MIN},
        {0x1p63, PS_U64, (uint64_t)1 << 63},
        {0x1p64, PS_U64, UINT64_MAX},
        {INFINITY, PS_U64, UINT64_MAX},
        {-INFINITY, PS_I64, (uint64_t)INT64_MIN},
        {INFINITY, PS_I16, INT16_MAX},
        {NAN, PS_I64, 0},
        {0.25, PS_U1, 1},
        {1 + 0x1p-11 + 0x1p-40, PS_F16, 0x3c01}, /* through f32 it would tie, and go down */
        {1 + 0x1p-8 + 0x1p-40, PS_BF16, 0x3f81},
        {1e300, PS_F16, 0x7c00},
        {0x1p-24, PS_F16, 1},
        {0x1p-25, PS_F16, 0},
    };
    for (size_t i = 0; i < PS_COUNT(cases); i++)
        CHECK_INT(cast(PS_F64, cases[i].to, f64(cases[i].value)), cases[i].want);
    CHECK_DOUBLE(as_f32(cast(PS_F64, PS_F32, f64(1e300))), INFINITY);
    CHECK_DOUBLE(as_f64(cast(PS_F32, PS_F64, f32(0.1f))), (double)0.1f);
    CHECK_INT(cast(PS_F32, PS_I32, f32(2147483648.0f)), INT32_MAX);
    CHECK_INT(cast(PS_F32, PS_U32, f32(-0.0f)), 0);
    CHECK_INT(cast(PS_F16, PS_I8, 0xfc00), 0x80);
}

/* Whatever goes in, the result fits the type, and ops without a value give 0. */
static void test_results_fit(void) {
    uint64_t args[3], state = 12345;
    for (int code = 0; code < PS_OP_COUNT; code++) {
        const PsOpInfo *info = &ps_op_info[code];
        bool has_value =
            info->effect == PS_EFFECT_PURE && info->rule != PS_RULE_NONE && info->rule != PS_RULE_OTHER;
        for (PsType t = PS_U1; t < PS_SCALAR_END; t++) {
            for (int n = 0; n < 20; n++) {
                for (int i = 0; i < 3; i++)
                    args[i] = (state = state * 6364136223846793005u + 1442695040888963407u) & mask_of(t);
                uint64_t got = ps_eval_scalar((PsOpCode)code, t, t, args);
                if (got > mask_of(info->rule == PS_RULE_COMPARE ? PS_U1 : t)) CHECK_INT(got, 0);
                if (!has_value && got != 0) CHECK_STR(info->name, "an op without a value");
            }
        }
    }
    CHECK_INT(ps_eval_scalar(PS_OP_ADD, PS_KIND_NONE, 0, args), 0);
    CHECK_INT(ps_eval_scalar(PS_OP_COUNT, PS_I32, 0, args), 0);
}

int main(void) {
    RUN(test_small_integers);
    RUN(test_wide_integers);
    RUN(test_known_integers);
    RUN(test_mixed_types);
    RUN(test_select_bitcast);
    RUN(test_float_arithmetic);
    RUN(test_copysign);
    RUN(test_float_mod);
    RUN(test_nan_rules);
    RUN(test_math);
    RUN(test_half);
    RUN(test_int_casts);
    RUN(test_float_casts);
    RUN(test_results_fit);
    return unit_result();
}
