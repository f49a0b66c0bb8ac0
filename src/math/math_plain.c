/* SPDX-License-Identifier: Apache-2.0
 *
 * math_plain: the functions for any CPU: where there is no instruction for it, fma is libm's, exact and slow. And what
 * everybody calls: the quickest that this CPU has (math_fma.c). Both give the same bits.
 */
#include "math/math.h"
#include "math/math_int.h"

#define MATH_NAME(op, type) math_plain_##op##_##type
#include "math/math_body.h"

#if defined(__x86_64__)
#define QUICK(name) (__builtin_cpu_supports("fma") ? math_fma_##name : math_plain_##name)
#else
#define QUICK(name) math_plain_##name
#endif

#define CHOOSE(OP, op)                                                                                         \
    float ps_math_##op##_f32(float a) { return QUICK(op##_f32)(a); }                                           \
    double ps_math_##op##_f64(double a) { return QUICK(op##_f64)(a); }
PS_MATH_UNARY(CHOOSE)
#undef CHOOSE
#define CHOOSE(OP, op)                                                                                         \
    float ps_math_##op##_f32(float a, float b) { return QUICK(op##_f32)(a, b); }                               \
    double ps_math_##op##_f64(double a, double b) { return QUICK(op##_f64)(a, b); }
PS_MATH_BINARY(CHOOSE)
