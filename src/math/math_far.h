/* SPDX-License-Identifier: Apache-2.0
 *
 * math_far: sin, cos and tan of large x (math.h says how large), by M. Payne and R. Hanek (Radian Reduction for
 * Trigonometric Functions, 1983): x is m 2**e, and only those bits of 2 / pi matter whose product with it is below 4 and
 * above what the result can tell; so x 2 / pi modulo 4 is a product of integers. Plain C, since IR only has the call
 * (ops sin_far and so on). Read by math_body.h, behind the functions themselves.
 */

/* 40 zeros, so that every window starts inside, and the first bits of 2 / pi. */
static const U64 two_over_pi[] = {
    0x0000000000a2f983u, 0x6e4e441529fc2757u, 0xd1f534ddc0db6295u, 0x993c439041fe5163u, 0xabdebbc561b7246eu,
    0x3a424dd2e006492eu, 0xea09d1921cfe1debu, 0x1cb129a73ee88235u, 0xf52ebb4484e99c70u, 0x26b45f7e413991d6u,
    0x39835339f49c845fu, 0x8bbdf9283b1ff897u, 0xffde05980fef2f11u, 0x8b5a0a6d1f6d367eu, 0xcf27cb09b74f463fu,
    0x669e5fea2d7527bau, 0xc7ebe5f17b3d0739u, 0xf78a5292ea6bfb5fu, 0xb11f8d5d08560330u, 0x46fc7b6babf0cfbcu};

/* 64 bits of the table. */
static U64 window(unsigned at) {
    const U64 *word = &two_over_pi[at / 64];
    unsigned s = at % 64;
    return s ? word[0] << s | word[1] >> (64 - s) : word[0];
}

/* x = q pi / 2 + r + *lost, for finite x >= 2**14. */
static F64 far_quarter_f64(F64 x, U64 *q, F64 *lost) {
    U64 bits = bits_of_f64(x), mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
    unsigned at = (unsigned)(bits >> 52) - 1037; /* e + 38: the bit that is worth 2 in the product */
    unsigned __int128 turns = (unsigned __int128)(mantissa * window(at)) << 64;
    turns += (unsigned __int128)mantissa * window(at + 64);
    turns += (unsigned __int128)mantissa * window(at + 128) >> 64;
    U64 top = (U64)(turns >> 64); /* two bits before the point */
    *q = (top + 0x2000000000000000u) >> 62;
    U64 part = top - (*q << 62),
        rough = part & 0xfffffffffffff800u; /* exact as a float; the rest is not negative */
    F64 high = (F64)(int64_t)rough, tail = fma((F64)(U64)turns, 0x1p-64, (F64)(part - rough));
    F64 sum = high + tail, r = sum * 0x1.921fb54442d18p-62; /* pi / 2, less 62 bits */
    F64 error = fma(sum, 0x1.921fb54442d18p-62, -r);
    F64 more = fma(tail - (sum - high), 0x1.921fb54442d18p-62, fma(sum, 0x1.1a62633145c07p-116, error));
    F64 better = r + more;
    *lost = more - (better - r);
    return better;
}

/* As a pair of f32. */
static F32 far_quarter_f32(F32 x, U32 *q, F32 *lost) {
    U64 quarter;
    F64 wide = far_quarter_f64(x, &quarter, &(F64){0});
    F32 r = (F32)wide;
    *q = (U32)quarter;
    *lost = (F32)(wide - (F64)r);
    return r;
}

FN F32 sin_far_f32(F32 x, F32 y) {
    U32 q;
    F32 lost, a = fabsf(x);
    if (__builtin_expect(!(a >= PS_MATH_FAR_F32), 1)) return y;
    if (isinf(x)) return x - x;
    F32 r = far_quarter_f32(a, &q, &lost);
    return sin_end_f32(x, q, r);
}
FN F64 sin_far_f64(F64 x, F64 y) {
    U64 q;
    F64 lost, a = fabs(x);
    if (__builtin_expect(!(a >= PS_MATH_FAR_F64), 1)) return y;
    if (isinf(x)) return x - x;
    F64 r = far_quarter_f64(a, &q, &lost);
    return sin_end_f64(x, q, r);
}
FN F32 cos_far_f32(F32 x, F32 y) {
    U32 q;
    F32 lost, a = fabsf(x);
    if (__builtin_expect(!(a >= PS_MATH_FAR_F32), 1)) return y;
    if (isinf(x)) return x - x;
    F32 r = far_quarter_f32(a, &q, &lost);
    return cos_end_f32(q, r);
}
FN F64 cos_far_f64(F64 x, F64 y) {
    U64 q;
    F64 lost, a = fabs(x);
    if (__builtin_expect(!(a >= PS_MATH_FAR_F64), 1)) return y;
    if (isinf(x)) return x - x;
    F64 r = far_quarter_f64(a, &q, &lost);
    return cos_end_f64(q, r);
}
FN F32 tan_far_f32(F32 x, F32 y) {
    U32 q;
    F32 lost, a = fabsf(x);
    if (__builtin_expect(!(a >= PS_MATH_FAR_F32), 1)) return y;
    if (isinf(x)) return x - x;
    F32 r = far_quarter_f32(a, &q, &lost);
    return tan_end_f32(x, q, r, lost);
}
FN F64 tan_far_f64(F64 x, F64 y) {
    U64 q;
    F64 lost, a = fabs(x);
    if (__builtin_expect(!(a >= PS_MATH_FAR_F64), 1)) return y;
    if (isinf(x)) return x - x;
    F64 r = far_quarter_f64(a, &q, &lost);
    return tan_end_f64(x, q, r, lost);
}
