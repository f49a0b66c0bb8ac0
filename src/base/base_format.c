/* SPDX-License-Identifier: Apache-2.0
 *
 * base_format: values as printed text. One source for `print` in compiled code (rt), in the evaluator, in the tools and
 * in messages, so that all print the same. Integers in decimal, u1 as True or False, floats as Python's repr: the
 * fewest digits that read back as the same value of that type, and of those the nearest.
 *
 * The digits come from printf and are tried with strtod in forms without a decimal point, so the locale does not
 * matter. Not here: widths and precisions (base_spec.c).
 */
#include "base/base.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIGITS 17

/* A float type: how to read its bits, and whether a decimal reads back as the same value. */
typedef struct FloatType {
    double (*value)(uint64_t bits);
    bool (*same)(const char *text, double value);
    double smallest_normal;
    int safe_digits; /* a normal value's shortest form, if no longer than this, is its rounding to this many */
} FloatType;

static double f64_value(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double f32_value(uint64_t bits) {
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

static double f16_value(uint64_t bits) {
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 0x3ff);
    double value = exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024, exponent - 25);
    if (exponent == 31) value = fraction ? (double)NAN : (double)INFINITY;
    return bits & 0x8000 ? -value : value;
}

static double bf16_value(uint64_t bits) { return f32_value((bits & 0xffff) << 16); }

static bool f64_same(const char *text, double value) { return strtod(text, NULL) == value; }
static bool f32_same(const char *text, double value) { return (double)strtof(text, NULL) == value; }

/* Whether the nearest value with `bits` significant bits and an exponent of at least `low` is this one: within half of
 * the distance to the neighbours, an exact half going to the even one. Everything is exact in f64. */
static bool small_same(const char *text, double value, int bits, int low) {
    int exponent;
    double mantissa = frexp(value, &exponent), read = strtod(text, NULL);
    int last = exponent - bits < low ? low : exponent - bits; /* of the last bit */
    bool even = fmod(ldexp(value, -last), 2) == 0;
    double above = value + ldexp(0.5, last);
    double below = value - ldexp(mantissa == 0.5 && last > low ? 0.25 : 0.5, last);
    return (read > below && read < above) || (even && (read == below || read == above));
}
static bool f16_same(const char *text, double value) { return small_same(text, value, 11, -24); }
static bool bf16_same(const char *text, double value) { return small_same(text, value, 8, -133); }

static const FloatType float_types[] = {
    {f16_value, f16_same, 0x1p-14, 3},
    {bf16_value, bf16_same, 0x1p-126, 2},
    {f32_value, f32_same, FLT_MIN, FLT_DIG},
    {f64_value, f64_same, DBL_MIN, DBL_DIG},
};

/* Decimal digits d1 d2 .. dn of value = d1.d2 .. dn * 10 ** exponent. */
typedef struct Decimal {
    char digits[MAX_DIGITS + 1];
    int ndigits, exponent;
} Decimal;

static bool reads_back(const FloatType *type, const Decimal *d, double value) {
    char text[MAX_DIGITS + 16];
    snprintf(text, sizeof text, "%se%d", d->digits, d->exponent - d->ndigits + 1);
    return type->same(text, value);
}

/* The next decimal of as many digits. */
static void step_up(Decimal *d) {
    int at = d->ndigits - 1;
    while (at >= 0 && d->digits[at] == '9') d->digits[at--] = '0';
    if (at >= 0) {
        d->digits[at]++;
    } else {
        d->digits[0] = '1'; /* 99.. became 100.. */
        d->exponent++;
    }
}

static void round_to(Decimal *d, double value, int ndigits) {
    char text[MAX_DIGITS + 24];
    int filled = 0;
    snprintf(text, sizeof text, "%.*e", ndigits - 1, value);
    char *end = strchr(text, 'e');
    for (char *c = text; c < end; c++)
        if (*c >= '0' && *c <= '9') d->digits[filled++] = *c;
    d->digits[filled] = 0;
    d->ndigits = filled;
    d->exponent = (int)strtol(end + 1, NULL, 10);
}

/* The shortest decimal of a positive, finite value. A decimal as near as can be may still belong to the neighbour below
 * a power of two, where the step changes, while the next one up is ours; so that one is tried too. */
static void shortest(const FloatType *type, double value, Decimal *out) {
    int n = value < type->smallest_normal ? 1 : type->safe_digits;
    for (round_to(out, value, n); n < MAX_DIGITS && !reads_back(type, out, value); round_to(out, value, ++n)) {
        step_up(out);
        if (reads_back(type, out, value)) break;
    }
    while (out->ndigits > 1 && out->digits[out->ndigits - 1] == '0') out->digits[--out->ndigits] = 0;
}

static void add_zeros(PsBuf *out, int count) {
    for (int i = 0; i < count; i++) ps_buf_add(out, "0", 1);
}

/* Python's layout: an exponent below 1e-4 and from 1e16 on, a point always otherwise. */
static void add_decimal(PsBuf *out, const Decimal *d) {
    if (d->exponent < -4 || d->exponent >= 16) {
        ps_buf_add(out, d->digits, 1);
        if (d->ndigits > 1) ps_buf_printf(out, ".%s", d->digits + 1);
        ps_buf_printf(out, "e%c%02d", d->exponent < 0 ? '-' : '+', abs(d->exponent));
    } else if (d->exponent < 0) {
        ps_buf_text(out, "0.");
        add_zeros(out, -d->exponent - 1);
        ps_buf_text(out, d->digits);
    } else if (d->ndigits <= d->exponent + 1) {
        ps_buf_text(out, d->digits);
        add_zeros(out, d->exponent + 1 - d->ndigits);
        ps_buf_text(out, ".0");
    } else {
        ps_buf_add(out, d->digits, (size_t)d->exponent + 1);
        ps_buf_printf(out, ".%s", d->digits + d->exponent + 1);
    }
}

static void format_float(PsBuf *out, const FloatType *type, uint64_t bits) {
    double value = type->value(bits);
    if (value != value) {
        ps_buf_text(out, "nan");
        return;
    }
    if (signbit(value)) ps_buf_text(out, "-");
    value = fabs(value);
    if (isinf(value)) {
        ps_buf_text(out, "inf");
    } else if (value == 0) {
        ps_buf_text(out, "0.0");
    } else {
        Decimal decimal;
        shortest(type, value, &decimal);
        add_decimal(out, &decimal);
    }
}

void ps_format_scalar(PsBuf *out, char letter, uint64_t bits) {
    switch (letter) {
    case PS_FORMAT_U1: ps_buf_text(out, bits & 1 ? "True" : "False"); break;
    case PS_FORMAT_I8: ps_buf_printf(out, "%d", (int8_t)bits); break;
    case PS_FORMAT_I16: ps_buf_printf(out, "%d", (int16_t)bits); break;
    case PS_FORMAT_I32: ps_buf_printf(out, "%" PRId32, (int32_t)bits); break;
    case PS_FORMAT_I64: ps_buf_printf(out, "%" PRId64, (int64_t)bits); break;
    case PS_FORMAT_U8: ps_buf_printf(out, "%u", (uint8_t)bits); break;
    case PS_FORMAT_U16: ps_buf_printf(out, "%u", (uint16_t)bits); break;
    case PS_FORMAT_U32: ps_buf_printf(out, "%" PRIu32, (uint32_t)bits); break;
    case PS_FORMAT_U64: ps_buf_printf(out, "%" PRIu64, bits); break;
    case PS_FORMAT_F16:
    case PS_FORMAT_BF16:
    case PS_FORMAT_F32:
    case PS_FORMAT_F64: format_float(out, &float_types[letter - PS_FORMAT_F16], bits); break;
    default: ps_buf_text(out, "?"); break;
    }
}

double ps_format_float_value(char letter, uint64_t bits) {
    return float_types[letter - PS_FORMAT_F16].value(bits);
}

/* After \x02 and the letter. Gives what follows the specification's end. */
static const char *format_with_spec(PsBuf *out, const char *text, char letter, uint64_t bits) {
    size_t len = strcspn(text, "\x02");
    PsSpec spec;
    if (ps_spec_parse(text, len, &spec) && ps_spec_fits(&spec, letter))
        ps_format_spec(out, &spec, letter, bits);
    else
        ps_format_scalar(out, letter, bits);
    return text + len + (text[len] != 0);
}

void ps_format_values(PsBuf *out, const char *format, const uint64_t *values) {
    while (*format) {
        size_t plain = strcspn(format, "\x01\x02");
        ps_buf_add(out, format, plain);
        format += plain;
        if (!*format || !format[1]) return;
        char mark = format[0], letter = format[1];
        format += 2;
        if (mark == PS_FORMAT_SPEC)
            format = format_with_spec(out, format, letter, *values++);
        else
            ps_format_scalar(out, letter, *values++);
    }
}
