/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_literal: constants and strings as text and back, bit for bit. Floats are written in hexadecimal, so that nothing
 * is rounded, and by hand, because the C library's ways depend on the locale and the text is a cache key. Decimal
 * floats are read for the convenience of tests, as far as one division or multiplication gives them correctly
 * rounded; others must be written in hexadecimal.
 */
#include "ir/ir_int.h"

#include "abi/half.h"

#include <string.h>

/* -- floats out -- */

static void print_hex_float(double value, PsBuf *out) {
    uint64_t bits = ps_f64_bits(value), fraction = bits & (((uint64_t)1 << 52) - 1);
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (bits >> 63) ps_buf_text(out, "-");
    if (exponent == 0x7ff) {
        ps_buf_text(out, "inf");
        return;
    }
    ps_buf_text(out, exponent ? "0x1" : "0x0");
    if (fraction) {
        int digits = 13;
        while (!(fraction & 15)) {
            fraction >>= 4;
            digits--;
        }
        ps_buf_printf(out, ".%0*llx", digits, (unsigned long long)fraction);
    }
    ps_buf_printf(out, "p%+d", exponent ? exponent - 1023 : fraction ? -1022 : 0);
}

/* As f64, exactly; false for a NaN. */
static bool widen(PsType type, uint64_t bits, double *out) {
    switch (type) {
    case PS_F16: *out = ps_f16_to_f32((uint16_t)bits); break;
    case PS_BF16: *out = ps_bf16_to_f32((uint16_t)bits); break;
    case PS_F32: *out = ps_f32_from_bits((uint32_t)bits); break;
    default: *out = ps_f64_from_bits(bits); break;
    }
    return *out == *out;
}

void ir_print_const(PsType type, uint64_t bits, PsBuf *out) {
    int width = ps_scalar_bits(type);
    double value;
    switch (ps_scalar_class(type)) {
    case PS_CLASS_UINT: ps_buf_printf(out, "%llu", (unsigned long long)bits); break;
    case PS_CLASS_INT:
        if (width < 64 && bits >> (width - 1) & 1) bits |= UINT64_MAX << width;
        ps_buf_printf(out, "%lld", (long long)bits);
        break;
    case PS_CLASS_FLOAT:
        if (widen(type, bits, &value)) {
            print_hex_float(value, out);
        } else {
            ps_buf_printf(out, "nan(0x%llx)", (unsigned long long)bits);
        }
        break;
    }
}

/* -- in -- */

typedef struct Token {
    const char *at, *end;
} Token;

static bool take(Token *t, char c) {
    if (t->at == t->end || *t->at != c) return false;
    t->at++;
    return true;
}

static bool take_text(Token *t, const char *text) {
    size_t len = strlen(text);
    if ((size_t)(t->end - t->at) < len || memcmp(t->at, text, len)) return false;
    t->at += len;
    return true;
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

/* Digits up to the first other character, at least one. False: none, or beyond 64 bits. */
static bool take_digits(Token *t, unsigned base, uint64_t *value) {
    const char *start = t->at;
    for (*value = 0; t->at < t->end && (unsigned)digit_of(*t->at) < base; t->at++) {
        unsigned digit = (unsigned)digit_of(*t->at);
        if (*value > (UINT64_MAX - digit) / base) return false;
        *value = *value * base + digit;
    }
    return t->at > start;
}

static const char *read_integer(PsType type, Token t, uint64_t *out) {
    static const char range[] = "the constant does not fit its type";
    bool negative = take(&t, '-');
    uint64_t value, most = UINT64_MAX >> (64 - (type == PS_U1 ? 1 : ps_scalar_bits(type)));
    if (ps_scalar_class(type) == PS_CLASS_INT) most >>= 1;
    Token digits = t;
    unsigned base = take_text(&digits, "0x") ? 16 : 10;
    if (base == 16) t = digits;
    if (!take_digits(&t, base, &value) || t.at != t.end) return "expected an integer constant of 64 bits";
    if (!negative && value > most) return range;
    if (negative && (ps_scalar_class(type) != PS_CLASS_INT || value > most + 1)) return range;
    if (negative) value = 0 - value;
    *out = value & (UINT64_MAX >> (64 - ps_scalar_bits(type)));
    return NULL;
}

/* The digits of a float: mantissa * base ** -after, leading zeros aside at most 16 hexadecimal or 19 decimal ones. */
static bool take_mantissa(Token *t, unsigned base, uint64_t *mantissa, int *after) {
    bool any = false, point = false;
    *mantissa = 0;
    *after = 0;
    for (; t->at < t->end; t->at++) {
        unsigned digit = (unsigned)digit_of(*t->at);
        if (*t->at == '.' && !point) {
            point = true;
            continue;
        }
        if (digit >= base) break;
        if (*mantissa > (UINT64_MAX - digit) / base || *after > 4000) return false;
        *mantissa = *mantissa * base + digit;
        *after += point;
        any = true;
    }
    return any;
}

static bool take_exponent(Token *t, const char *letters, int *exponent) {
    *exponent = 0;
    if (t->at == t->end || !strchr(letters, *t->at)) return true;
    t->at++;
    bool negative = take(t, '-');
    uint64_t value;
    if (!negative) take(t, '+');
    if (!take_digits(t, 10, &value) || value > 9999) return false;
    *exponent = negative ? -(int)value : (int)value;
    return true;
}

/* mantissa * 2 ** exponent; false when f64 does not hold it exactly. */
static bool scale_binary(uint64_t mantissa, int exponent, double *out) {
    if (!mantissa) {
        *out = 0;
        return true;
    }
    for (; !(mantissa & 1); mantissa >>= 1) exponent++;
    int top = 63 - __builtin_clzll(mantissa); /* the leading one stands for 2 ** (top + exponent) */
    int lead = top + exponent;
    if (top > 52 || lead > 1023 || exponent < -1074) return false;
    uint64_t bits;
    if (lead >= -1022) {
        bits = (uint64_t)(lead + 1023) << 52 | (mantissa << (52 - top) & (((uint64_t)1 << 52) - 1));
    } else {
        bits = mantissa << (exponent + 1074);
    }
    *out = ps_f64_from_bits(bits);
    return true;
}

/* mantissa * 10 ** exponent where both are exact in f64, so that one operation rounds it correctly. */
static bool scale_decimal(uint64_t mantissa, int exponent, double *out) {
    double power = 1;
    if (mantissa >> 53 || exponent > 22 || exponent < -22) return false;
    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++) power *= 10;
    *out = exponent < 0 ? (double)mantissa / power : (double)mantissa * power;
    return true;
}

static const char *read_number(Token t, double *out) {
    uint64_t mantissa;
    int after, exponent;
    bool hex = take_text(&t, "0x");
    if (!take_mantissa(&t, hex ? 16 : 10, &mantissa, &after) ||
        !take_exponent(&t, hex ? "pP" : "eE", &exponent) || t.at != t.end) {
        return "expected a float constant";
    }
    if (hex ? scale_binary(mantissa, exponent - 4 * after, out)
            : scale_decimal(mantissa, exponent - after, out)) {
        return NULL;
    }
    return hex ? "the float is not exact in 64 bits" : "this decimal float must be written in hexadecimal";
}

static uint64_t narrow(PsType type, double value) {
    switch (type) {
    case PS_F16: return ps_f64_to_f16(value);
    case PS_BF16: return ps_f64_to_bf16(value);
    case PS_F32: return ps_f32_bits((float)value);
    default: return ps_f64_bits(value);
    }
}

static const char *read_nan(PsType type, Token t, uint64_t *out) {
    double value;
    if (t.at == t.end) {
        *out = ps_ir_identity(PS_COMBINE_MIN, type);
        return NULL;
    }
    if (!take_text(&t, "(0x") || !take_digits(&t, 16, out) || !take(&t, ')') || t.at != t.end ||
        *out > UINT64_MAX >> (64 - ps_scalar_bits(type)) || widen(type, *out, &value)) {
        return "expected nan(0x...) with the bits of a NaN";
    }
    return NULL;
}

static const char *read_float(PsType type, Token t, uint64_t *out) {
    double value;
    if (take_text(&t, "nan")) return read_nan(type, t, out);
    bool negative = take(&t, '-');
    Token word = t;
    if (take_text(&word, "inf") && word.at == word.end) {
        value = __builtin_inf();
    } else {
        const char *wrong = read_number(t, &value);
        if (wrong) return wrong;
    }
    *out = narrow(type, negative ? -value : value);
    return NULL;
}

const char *ir_read_const(PsType type, const char *token, size_t len, uint64_t *out_bits) {
    Token t = {token, token + len};
    if (!ps_type_is_scalar(type)) return "a constant is a scalar";
    return ps_scalar_class(type) == PS_CLASS_FLOAT ? read_float(type, t, out_bits)
                                                   : read_integer(type, t, out_bits);
}

/* -- strings -- */

void ir_print_string(const char *text, PsBuf *out) {
    ps_buf_text(out, "\"");
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\') {
            ps_buf_printf(out, "\\%c", *at);
        } else if (*at == '\n') {
            ps_buf_text(out, "\\n");
        } else if (*at < 0x20 || *at > 0x7e) {
            ps_buf_printf(out, "\\x%02x", *at);
        } else {
            ps_buf_add(out, at, 1);
        }
    }
    ps_buf_text(out, "\"");
}
