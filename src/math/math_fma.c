/* SPDX-License-Identifier: Apache-2.0
 *
 * math_fma: the functions for CPUs with fma. Nothing else is different: contraction is off, here too.
 */
#include "math/math.h"
#if defined(__x86_64__)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx,fma"))), apply_to = function)
#else
#pragma GCC target("avx,fma")
#endif
#include "math/math_int.h"
#define MATH_NAME(op, type) math_fma_##op##_##type
#include "math/math_body.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
