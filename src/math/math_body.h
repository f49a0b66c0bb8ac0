/* SPDX-License-Identifier: Apache-2.0
 *
 * math_body: all functions as C, under the names MATH_NAME(op, type); included by what says for which CPU. No include
 * guard: it is meant to be read more than once.
 */
#include "math/all.def"

#include "math/math_far.h"

FN F32 fmod_f32(CTX F32 x, F32 y) { return fmodf(x, y); }
FN F64 fmod_f64(CTX F64 x, F64 y) { return fmod(x, y); }

#define PUBLISH(OP, op)                                                                                        \
    F32 MATH_NAME(op, f32)(F32 a) { return op##_f32(a); }                                                      \
    F64 MATH_NAME(op, f64)(F64 a) { return op##_f64(a); }
PS_MATH_UNARY(PUBLISH)
#undef PUBLISH
#define PUBLISH(OP, op)                                                                                        \
    F32 MATH_NAME(op, f32)(F32 a, F32 b) { return op##_f32(a, b); }                                            \
    F64 MATH_NAME(op, f64)(F64 a, F64 b) { return op##_f64(a, b); }
PS_MATH_BINARY(PUBLISH)
#undef PUBLISH
