/* SPDX-License-Identifier: Apache-2.0
 *
 * abi: the 16-bit floats against the processor's and a slow, obvious conversion.
 */
#include "../unit/unit.h"
#include "abi/half.h"

#include <math.h>
#include <stdbool.h>

static double f16_value(uint16_t bits) {
    int e = bits >> 10 & 31, fraction = bits & 0x3ff;
    double value = e ? ldexp(fraction + 1024, e - 25) : ldexp(fraction, -24);
    return bits & 0x8000 ? -value : value;
}

static double bf16_value(uint16_t bits) {
    int e = bits >> 7 & 255, fraction = bits & 0x7f;
    double value = e ? ldexp(fraction + 128, e - 134) : ldexp(fraction, -133);
    return bits & 0x8000 ? -value : value;
}

/* Each finite value comes back, and halves between neighbours go to the even one, a little more or less does not. */
static void check_all(double (*value)(uint16_t), uint16_t (*narrow)(double), float (*widen)(uint16_t),
                      uint32_t inf) {
    bool exact = true, halves = true;
    for (uint32_t bits = 0; bits < inf; bits++) {
        double x = value((uint16_t)bits), next = value((uint16_t)(bits + 1)), middle = x + (next - x) / 2;
        exact &= narrow(x) == bits && narrow(-x) == (bits | 0x8000);
        exact &= widen((uint16_t)bits) == x && widen((uint16_t)(bits | 0x8000)) == -x;
        halves &= narrow(middle) == (bits & 1 ? bits + 1 : bits);
        halves &= narrow(nextafter(middle, INFINITY)) == bits + 1;
        halves &= narrow(nextafter(middle, -INFINITY)) == bits;
    }
    CHECK(exact);
    CHECK(halves);
    CHECK_INT(narrow(INFINITY), inf);
    CHECK_INT(narrow(-INFINITY), inf | 0x8000);
    CHECK_INT(narrow(1e300), inf);
    CHECK_INT(narrow(5e-324), 0);
    CHECK_INT(narrow(-1e-310), 0x8000);
    CHECK(isnan(widen(narrow(NAN))));
    CHECK(isnan(widen(narrow(ps_f64_from_bits(0x7ff0000000000001)))));
}

static void test_f16(void) { check_all(f16_value, ps_f64_to_f16, ps_f16_to_f32, 0x7c00); }
static void test_bf16(void) { check_all(bf16_value, ps_f64_to_bf16, ps_bf16_to_f32, 0x7f80); }

static void test_from_f32(void) {
    bool good = true;
    for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += 9973) {
        float x = ps_f32_from_bits((uint32_t)bits);
        if (isnan(x)) {
            good &= isnan(ps_f16_to_f32(ps_f32_to_f16(x))) && isnan(ps_bf16_to_f32(ps_f32_to_bf16(x)));
            good &= ps_f32_to_f16(x) >> 15 == bits >> 31 && ps_f32_to_bf16(x) >> 15 == bits >> 31;
            continue;
        }
        good &= ps_f32_to_f16(x) == ps_f64_to_f16(x) && ps_f32_to_bf16(x) == ps_f64_to_bf16(x);
    }
    CHECK(good);
}

/* One rounding: 2^60 + 2^36 is half way between neighbours of f32; one more is not. */
static void test_sticky(void) {
    int64_t half = ((int64_t)1 << 60) + ((int64_t)1 << 36);
    CHECK_DOUBLE((float)ps_i64_sticky(half), (float)half);
    CHECK_DOUBLE((float)ps_i64_sticky(half + 1), (float)(half + 1));
    CHECK(ps_i64_sticky(half + 1) != ps_i64_sticky(half));
    CHECK_DOUBLE((float)ps_i64_sticky(-half - 1), (float)(-half - 1));
    CHECK_DOUBLE(ps_i64_sticky(INT64_MIN), -0x1p63);
    CHECK_DOUBLE(ps_i64_sticky(-7), -7.0);
    CHECK_DOUBLE((float)ps_u64_sticky(UINT64_MAX), (float)UINT64_MAX);
    CHECK_INT(ps_f64_to_bf16(ps_i64_sticky(((int64_t)0x101 << 52) + 1)), ps_f64_to_bf16(0x1.02p60));
}

int main(void) {
    RUN(test_f16);
    RUN(test_bf16);
    RUN(test_from_f32);
    RUN(test_sticky);
    return unit_result();
}
