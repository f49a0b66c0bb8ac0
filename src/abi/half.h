/* SPDX-License-Identifier: Apache-2.0
 *
 * abi/half: f16 and bf16 by integer arithmetic, the same bits on every machine: rounding is to nearest even whatever
 * the floating-point mode, denormals are kept, a NaN keeps its sign and upper payload bits and becomes quiet. For the
 * evaluator, the builder and the runtime; generated code has the same results.
 *
 * One rounding each: f64 -> f16 is not f64 -> f32 -> f16. An integer wider than f64's 53 bits goes through
 * ps_i64_sticky or ps_u64_sticky, which keep what decides a later rounding to f16, bf16 or f32.
 */
#ifndef PS_ABI_HALF_H
#define PS_ABI_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t ps_f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline float ps_f32_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t ps_f64_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline double ps_f64_from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The f64 with these bits as a 16-bit float of `exponent` + `fraction` + 1 bits. */
static inline uint16_t ps_f64_to_small(uint64_t bits, int exponent, int fraction) {
    const uint32_t inf = ((1u << exponent) - 1) << fraction;
    const int bias = (1 << (exponent - 1)) - 1;
    uint32_t sign = (uint32_t)(bits >> 63) << 15;
    int e = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
    if (e == 0x7ff) {
        if (!mantissa) return (uint16_t)(sign | inf);
        return (uint16_t)(sign | inf | 1u << (fraction - 1) | (uint32_t)(mantissa >> (52 - fraction)));
    }
    e += bias - 1023;
    if (e >= (1 << exponent) - 1) return (uint16_t)(sign | inf);
    if (e < -fraction - 1) return (uint16_t)sign; /* below half of the smallest; f64's own denormals too */
    mantissa |= (uint64_t)1 << 52;
    int drop = 52 - fraction + (e <= 0 ? 1 - e : 0); /* 1 .. 53 */
    uint64_t kept = mantissa >> drop, rest = mantissa & (((uint64_t)1 << drop) - 1);
    uint64_t half = (uint64_t)1 << (drop - 1);
    /* A normal number's leading one adds 1 to the exponent; so does a carry from rounding, up to infinity. */
    uint32_t small = (uint32_t)kept + (e > 0 ? (uint32_t)(e - 1) << fraction : 0);
    if (rest > half || (rest == half && (kept & 1))) small++;
    return (uint16_t)(sign | small);
}

static inline uint16_t ps_f64_to_f16(double value) { return ps_f64_to_small(ps_f64_bits(value), 5, 10); }
static inline uint16_t ps_f64_to_bf16(double value) { return ps_f64_to_small(ps_f64_bits(value), 8, 7); }

/* f32 as f64 by bits: what (double)value gives, with a signalling NaN's payload kept. */
static inline uint16_t ps_f32_to_bf16(float value) {
    uint32_t bits = ps_f32_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
static inline uint16_t ps_f32_to_f16(float value) {
    uint32_t bits = ps_f32_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)((bits >> 16 & 0x8000) | 0x7e00 | (bits >> 13 & 0x3ff));
    return ps_f64_to_f16((double)value);
}

static inline float ps_bf16_to_f32(uint16_t bits) { return ps_f32_from_bits((uint32_t)bits << 16); }
static inline float ps_f16_to_f32(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, e = bits >> 10 & 31, fraction = bits & 0x3ff;
    if (e == 31) return ps_f32_from_bits(sign | 0x7f800000 | fraction << 13);
    if (e) return ps_f32_from_bits(sign | (e + 112) << 23 | fraction << 13);
    float value = (float)fraction * 0x1p-24f; /* exact */
    return ps_f32_from_bits(sign | ps_f32_bits(value));
}

/* A double within 2^11 of the integer, exact below 2^53, that rounds to any type of at most 24 significant bits as
 * the integer itself does: what the double cannot hold is gathered into its last bit. */
static inline double ps_u64_sticky(uint64_t value) {
    if (value >> 53) value = (value & ~(uint64_t)0x7ff) | (uint64_t)((value & 0x7ff) != 0) << 11;
    return (double)value;
}
static inline double ps_i64_sticky(int64_t value) {
    return value < 0 ? -ps_u64_sticky(0 - (uint64_t)value) : ps_u64_sticky((uint64_t)value);
}

#endif
