/* SPDX-License-Identifier: Apache-2.0
 *
 * math: the math functions with one implementation each, ps_math_<op>_f32 and ps_math_<op>_f64. The two lists below are
 * all there is to say about them: the evaluator, rt (ps_rt_<op>_f32 and _f64, for generated code), code generation and
 * their tests are made from these. Each calls libm's function of that precision for now; implementations of our own
 * replace them here, one by one.
 *
 * Not here: sqrt, floor, ceil, trunc, round, fma. IEEE 754 fixes their results, so code may use the machine's.
 */
#ifndef PS_ABI_MATH_H
#define PS_ABI_MATH_H

#include <math.h>

/* X(OP, op) with the OP of PS_OP_<OP>, one or two floats to a float. */
#define PS_MATH_UNARY(X)                                                                                       \
    X(EXP, exp)                                                                                                \
    X(EXP2, exp2)                                                                                              \
    X(LOG, log)                                                                                                \
    X(LOG2, log2)                                                                                              \
    X(LOG10, log10)                                                                                            \
    X(EXPM1, expm1)                                                                                            \
    X(LOG1P, log1p)                                                                                            \
    X(SIN, sin)                                                                                                \
    X(COS, cos)                                                                                                \
    X(TAN, tan)                                                                                                \
    X(ASIN, asin)                                                                                              \
    X(ACOS, acos)                                                                                              \
    X(ATAN, atan)                                                                                              \
    X(SINH, sinh)                                                                                              \
    X(COSH, cosh)                                                                                              \
    X(TANH, tanh)                                                                                              \
    X(CBRT, cbrt)                                                                                              \
    X(ERF, erf)
#define PS_MATH_BINARY(X)                                                                                      \
    X(ATAN2, atan2)                                                                                            \
    X(POW, pow)                                                                                                \
    X(FMOD, fmod)                                                                                              \
    X(HYPOT, hypot)

#define PS_MATH_DEFINE(OP, op)                                                                                 \
    static inline float ps_math_##op##_f32(float a) { return op##f(a); }                                       \
    static inline double ps_math_##op##_f64(double a) { return op(a); }
PS_MATH_UNARY(PS_MATH_DEFINE)
#undef PS_MATH_DEFINE
#define PS_MATH_DEFINE(OP, op)                                                                                 \
    static inline float ps_math_##op##_f32(float a, float b) { return op##f(a, b); }                           \
    static inline double ps_math_##op##_f64(double a, double b) { return op(a, b); }
PS_MATH_BINARY(PS_MATH_DEFINE)
#undef PS_MATH_DEFINE

#endif
