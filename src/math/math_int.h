/* SPDX-License-Identifier: Apache-2.0
 *
 * math_int: the language of the *.def files, read as C. ir_math.c reads the same words as calls of the IR's builder.
 *
 *   K(1.0f)              a constant: f32, f64, u32 (1u) or u64 (1ull)
 *   ADD SUB MUL DIV FMA  one rounding each; integers (unsigned) wrap
 *   LT LE GT GE EQ NE    u1; AND OR XOR NOT on u1 and integers
 *   SHL USHR ASHR        by a constant; ASHR, of u32, copies the top bit
 *   BITS FLOAT           the bits of a float, and back
 *   WIDE NARROW          f32 -> f64 -> f32
 *   U64_OF U32_OF        u32 -> u64 (zeros before it), u64 -> u32 (the lower half)
 *   SIGNED_F             u32, read as a signed number, as f32
 *   POLY(x, table)       the polynomial with these coefficients, lowest power first, one fma each
 *   SEL(c, a, b)         c ? a : b, both computed
 *   FAR(OP, op, x, y)   y, or op x computed elsewhere where |x| is large: one op, and a rare call
 *
 * A function's first parameter is CTX, its first argument IN.
 */
#ifndef PS_MATH_MATH_INT_H
#define PS_MATH_MATH_INT_H

#include "abi/half.h"
#include "base/base.h"

#include <math.h>
#include <string.h>

typedef float F32;
typedef double F64;
typedef uint32_t U32;
typedef uint64_t U64;
typedef bool U1;

#define CTX
#define IN
#define FN static

static inline U32 bits_of_f32(F32 x) { return ps_f32_bits(x); }
static inline U64 bits_of_f64(F64 x) { return ps_f64_bits(x); }
static inline F32 f32_of_bits(U32 x) { return ps_f32_from_bits(x); }
static inline F64 f64_of_bits(U64 x) { return ps_f64_from_bits(x); }
static inline U32 not_u32(U32 a) { return ~a; }
static inline U64 not_u64(U64 a) { return ~a; }
static inline U1 not_u1(U1 a) { return !a; }

/* Few coefficients by Horner's rule. Many in pairs, then pairs of pairs, .. (G. Estrin), as a chain of them takes longer
 * than their arithmetic; the lowest comes last, as its rounding counts most. */
#define DEFINE_POLY(name, T, fused)                                                                            \
    static inline __attribute__((always_inline)) T name(T x, const T *c, int n) {                              \
        T part[PS_MATH_POLY_MAX], y = c[n - 1], power = x;                                                     \
        if (n <= PS_MATH_POLY_HORNER) {                                                                        \
            _Pragma("GCC unroll 32") for (int i = n - 2; i >= 0; i--) y = fused(y, x, c[i]);                   \
            return y;                                                                                          \
        }                                                                                                      \
        _Pragma("GCC unroll 32") for (int i = 1; i < n; i++) part[i - 1] = c[i];                               \
        _Pragma("GCC unroll 8") for (int k = n - 1; k > 1; k = (k + 1) / 2, power = power * power) {           \
            _Pragma("GCC unroll 16") for (int i = 0; i < k / 2; i++) part[i] =                                 \
                fused(part[2 * i + 1], power, part[2 * i]);                                                    \
            if (k % 2) part[k / 2] = part[k - 1];                                                              \
        }                                                                                                      \
        return fused(part[0], x, c[0]);                                                                        \
    }
DEFINE_POLY(poly_f32, F32, fmaf)
DEFINE_POLY(poly_f64, F64, fma)

#define OF_FLOAT(a, f32, f64) _Generic((a), F32 : f32, F64 : f64)
#define OF_BITS(a, u32, u64)  _Generic((a), unsigned : u32, unsigned long : u64, unsigned long long : u64)

#define K(value)       (value)
#define ADD(a, b)      ((a) + (b))
#define SUB(a, b)      ((a) - (b))
#define MUL(a, b)      ((a) * (b))
#define DIV(a, b)      ((a) / (b))
#define FMA(a, b, c)   OF_FLOAT(a, fmaf, fma)(a, b, c)
#define NEG(a)         (-(a))
#define ABS(a)         OF_FLOAT(a, fabsf, fabs)(a)
#define SQRT(a)        OF_FLOAT(a, sqrtf, sqrt)(a)
#define RINT(a)        OF_FLOAT(a, rintf, rint)(a)
#define COPYSIGN(a, b) OF_FLOAT(a, copysignf, copysign)(a, b)
#define LT(a, b)       ((a) < (b))
#define LE(a, b)       ((a) <= (b))
#define GT(a, b)       ((a) > (b))
#define GE(a, b)       ((a) >= (b))
#define EQ(a, b)       ((a) == (b))
#define NE(a, b)       ((a) != (b))
#define AND(a, b)      ((a) & (b))
#define OR(a, b)       ((a) | (b))
#define XOR(a, b)      ((a) ^ (b))
#define NOT(a)         _Generic((a), U32 : not_u32, U64 : not_u64, default : not_u1)(a)
#define SHL(a, n)      ((a) << (n))
#define USHR(a, n)     ((a) >> (n))
#define ASHR(a, n)     ((U32)((int32_t)(a) >> (n)))
#define BITS(a)        OF_FLOAT(a, bits_of_f32, bits_of_f64)(a)
#define FLOAT(a)       OF_BITS(a, f32_of_bits, f64_of_bits)(a)
#define WIDE(a)        ((F64)(a))
#define NARROW(a)      ((F32)(a))
#define U64_OF(a)      ((U64)(a))
#define U32_OF(a)      ((U32)(a))
#define SIGNED_F(a)    ((F32)(int32_t)(a))
#define POLY(x, table) OF_FLOAT(x, poly_f32, poly_f64)(x, table, (int)PS_COUNT(table))
#define SEL(c, a, b)   ((c) ? (a) : (b))

/* math_far.h */
static F32 sin_far_f32(F32 x, F32 y), cos_far_f32(F32 x, F32 y), tan_far_f32(F32 x, F32 y);
static F64 sin_far_f64(F64 x, F64 y), cos_far_f64(F64 x, F64 y), tan_far_f64(F64 x, F64 y);
#define FAR(OP, op, x, y) OF_FLOAT(x, op##_far_f32, op##_far_f64)(x, y)

/* As math.h, for the two ways these are compiled: for any CPU, and for one with fma. */
#define PS_MATH_DECLARE(OP, op)                                                                                \
    float math_plain_##op##_f32(float a), math_fma_##op##_f32(float a);                                        \
    double math_plain_##op##_f64(double a), math_fma_##op##_f64(double a);
PS_MATH_UNARY(PS_MATH_DECLARE)
#undef PS_MATH_DECLARE
#define PS_MATH_DECLARE(OP, op)                                                                                \
    float math_plain_##op##_f32(float a, float b), math_fma_##op##_f32(float a, float b);                      \
    double math_plain_##op##_f64(double a, double b), math_fma_##op##_f64(double a, double b);
PS_MATH_BINARY(PS_MATH_DECLARE)
#undef PS_MATH_DECLARE

#endif
