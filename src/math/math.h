/* SPDX-License-Identifier: Apache-2.0
 *
 * math: the math functions, ps_math_<op>_f32 and ps_math_<op>_f64. The lists below are all there is to say about them:
 * the evaluator, rt (ps_rt_<op>_f32 and _f64, for generated code), code generation and tests are made from these.
 *
 * Each is written once, in the *.def files of this folder, in a small language of macros: float and integer arithmetic,
 * fma, casts of bits, selects. Read as C (math_int.h) it is the function
 * that the evaluator and unexpanded calls run; read as calls of the builder (ir_math.c) it is the IR that pass `math`
 * puts into loops. Every step is one rounding that IEEE 754 fixes, so both give the same bits, at any vector width and
 * on any CPU. docs/math.md has the errors, measured.
 *
 * Not here: sqrt, floor, ceil, trunc, round, fma. IEEE 754 fixes their results, so code may use the machine's. fmod is
 * libm's: its result is exact, hence the same everywhere.
 */
#ifndef PS_MATH_MATH_H
#define PS_MATH_MATH_H

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
    X(HYPOT, hypot)                                                                                            \
    X(SIN_FAR, sin_far)                                                                                        \
    X(COS_FAR, cos_far)                                                                                        \
    X(TAN_FAR, tan_far)                                                                                        \
    X(FMOD, fmod)

/* Where |x| is that large, sin, cos and tan are what sin_far(x, y) and its like compute; below, those give y. */
#define PS_MATH_FAR_F32 0x1p17f
#define PS_MATH_FAR_F64 0x1p30

/* How the texts' polynomials are read: up to so many coefficients; up to so many one after the other. */
#define PS_MATH_POLY_MAX    32
#define PS_MATH_POLY_HORNER 5

#define PS_MATH_DECLARE(OP, op)                                                                                \
    float ps_math_##op##_f32(float a);                                                                         \
    double ps_math_##op##_f64(double a);
PS_MATH_UNARY(PS_MATH_DECLARE)
#undef PS_MATH_DECLARE
#define PS_MATH_DECLARE(OP, op)                                                                                \
    float ps_math_##op##_f32(float a, float b);                                                                \
    double ps_math_##op##_f64(double a, double b);
PS_MATH_BINARY(PS_MATH_DECLARE)
#undef PS_MATH_DECLARE

#endif
