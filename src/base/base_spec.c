/* SPDX-License-Identifier: Apache-2.0
 *
 * base_spec: Python's format specifications, [[fill]align][sign][z][#][0][width][grouping][.precision][type], for numbers.
 * The text is what Python's format() gives for an int (or bool) or a float of the same value.
 *
 * Beyond Python's, where it has nothing: what printf has for integers. The types i and u, its lengths (lld), and a
 * precision, which is the least number of digits.
 *
 * Source of the rules: Python's library reference, "Format Specification Mini-Language". Digits come from printf; the
 * locale's decimal point is replaced. Not here: specifications of strings, `n` by locale.
 */
#include "base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WIDTH 9999

/* -- reading -- */

static size_t utf8_length(const char *text, size_t len) {
    size_t n = 1;
    while (n < len && n < 4 && ((unsigned char)text[n] & 0xc0) == 0x80) n++;
    return n;
}

static bool is_one_of(char c, const char *set) { return c && strchr(set, c); }

/* *at moves on; false: too large. */
static bool read_number(const char *text, size_t len, size_t *at, int *out) {
    for (*out = 0; *at < len && text[*at] >= '0' && text[*at] <= '9'; (*at)++) {
        *out = *out * 10 + (text[*at] - '0');
        if (*out > MAX_WIDTH) return false;
    }
    return true;
}

static char take(const char *text, size_t len, size_t *at, const char *set) {
    return *at < len && is_one_of(text[*at], set) ? text[(*at)++] : 0;
}

/* Whether there is a fill character. */
static bool read_fill(const char *text, size_t len, size_t *at, PsSpec *out) {
    size_t n = len ? utf8_length(text, len) : 0;
    bool given = n && n < len && is_one_of(text[n], "<>=^");
    if (given) {
        memcpy(out->fill, text, n);
        *at = n;
    }
    out->align = take(text, len, at, "<>=^");
    return given;
}

bool ps_spec_parse(const char *text, size_t len, PsSpec *out) {
    size_t at = 0;
    *out = (PsSpec){.fill = " ", .precision = -1};
    bool filled = read_fill(text, len, &at, out);
    out->sign = take(text, len, &at, "+- ");
    out->no_negative_zero = take(text, len, &at, "z") != 0;
    out->alternate = take(text, len, &at, "#") != 0;
    if (take(text, len, &at, "0")) {
        if (!filled) memcpy(out->fill, "0", 2);
        if (!out->align) out->align = '=';
    }
    if (!read_number(text, len, &at, &out->width)) return false;
    out->grouping = take(text, len, &at, ",_");
    if (take(text, len, &at, ".")) {
        size_t start = at;
        if (!read_number(text, len, &at, &out->precision) || at == start) return false;
    }
    bool sized = false;
    while (take(text, len, &at, "hljzt")) sized = true;
    out->type = take(text, len, &at, "bcdoxXneEfFgG%iu");
    return at == len && (!sized || is_one_of(out->type, "diuoxX"));
}

static bool is_float(char letter) { return letter >= PS_FORMAT_F16; }
static bool formats_float(const PsSpec *spec, char letter) {
    return is_float(letter) ? !is_one_of(spec->type, "bcdoxXiu") : is_one_of(spec->type, "eEfFgG%");
}

static bool is_signed(char letter) { return letter >= PS_FORMAT_I8 && letter <= PS_FORMAT_I64; }

bool ps_spec_fits(const PsSpec *spec, char letter) {
    if (spec->grouping == ',' && is_one_of(spec->type, "bcoxXn")) return false;
    if (spec->grouping && is_one_of(spec->type, "cn")) return false;
    if (is_float(letter)) return formats_float(spec, letter);
    if (formats_float(spec, letter)) return true;
    if (spec->no_negative_zero || (spec->type == 'u' && is_signed(letter))) return false;
    if (spec->precision >= 0 && (spec->grouping || is_one_of(spec->type, "cn"))) return false;
    return spec->type != 'c' || (!spec->sign && !spec->alternate);
}

/* -- writing -- */

/* A number's text in parts: sign, prefix (0x), digits before the point, all after them. */
typedef struct Number {
    char sign;
    char prefix[3];
    PsBuf digits, rest;
} Number;

/* printf's text without its sign, with a point for the locale's decimal point. */
static void split(Number *number, const char *text) {
    PsBuf *out = &number->digits;
    for (const char *c = text; *c; c++) {
        bool digit = *c >= '0' && *c <= '9';
        if (*c == '-' && c == text) continue;
        if (out == &number->digits && !digit) {
            out = &number->rest;
            if (*c != 'e' && *c != 'E') {
                ps_buf_add(out, ".", 1);
                while (c[1] && !(c[1] >= '0' && c[1] <= '9') && c[1] != 'e' && c[1] != 'E') c++;
                continue;
            }
        }
        ps_buf_add(out, c, 1);
    }
}

static int exponent_of(const char *text) {
    const char *e = strchr(text, 'e');
    return e ? (int)strtol(e + 1, NULL, 10) : 0;
}

/* As repr does, but rounded to so many digits: an exponent from 10 ** (digits - 1) on, else a point. */
static void write_general(Number *number, const PsSpec *spec, double value) {
    char text[MAX_WIDTH + 400];
    int precision = spec->precision < 1 ? 1 : spec->precision;
    snprintf(text, sizeof text, spec->alternate ? "%#.*e" : "%.*e", precision - 1, value);
    int exponent = exponent_of(text);
    bool scientific = exponent < -4 || exponent >= precision - 1;
    if (scientific) { /* %g would drop the exponent of some: its mantissa's zeros go by hand */
        char *e = strchr(text, 'e'), *end = e;
        if (e && precision > 1 && !spec->alternate) {
            while (end[-1] == '0') end--;
            if (!(end[-1] >= '0' && end[-1] <= '9')) end--;
            memmove(end, e, strlen(e) + 1);
        }
    } else {
        snprintf(text, sizeof text, spec->alternate ? "%#.*g" : "%.*g", precision, value);
    }
    split(number, text);
    if (!scientific && !number->rest.len) ps_buf_text(&number->rest, ".0");
}

/* 1e+16 -> 1.e+16 */
static void add_point(Number *number) {
    PsBuf with = {0};
    ps_buf_text(&with, ".");
    ps_buf_add(&with, number->rest.data, number->rest.len);
    ps_buf_free(&number->rest);
    number->rest = with;
}

static void write_printf(Number *number, const PsSpec *spec, char type, double value) {
    static const int default_precision = 6;
    char format[8], text[MAX_WIDTH + 400];
    snprintf(format, sizeof format, spec->alternate ? "%%#.*%c" : "%%.*%c", type);
    /* The type is one of eEfFgG and the text has room for 309 digits and the precision. */
    snprintf(text, sizeof text, format, spec->precision < 0 ? default_precision : spec->precision, value);
    split(number, text);
}

static bool is_zero(const Number *number) {
    for (size_t i = 0; i < number->digits.len; i++)
        if (number->digits.data[i] != '0') return false;
    for (size_t i = 0; i < number->rest.len && !is_one_of(number->rest.data[i], "eE"); i++)
        if (number->rest.data[i] > '0') return false;
    return true;
}

static void write_float(Number *number, const PsSpec *spec, char letter, uint64_t bits, double value) {
    bool negative = signbit(value) && value == value;
    bool upper = is_one_of(spec->type, "EFG");
    double size = fabs(value);
    if (spec->type == '%') size *= 100;
    if (value != value || isinf(size)) {
        ps_buf_text(&number->rest, value != value ? upper ? "NAN" : "nan" : upper ? "INF" : "inf");
    } else if (spec->type == '%') {
        write_printf(number, spec, 'f', size);
    } else if (is_one_of(spec->type, "eEfFgG")) {
        write_printf(number, spec, spec->type, size);
    } else if (spec->type == 'n') {
        write_printf(number, spec, 'g', size);
    } else if (spec->precision >= 0) {
        write_general(number, spec, size);
    } else {
        PsBuf text = {0};
        ps_format_scalar(&text, letter, bits);
        split(number, text.data ? text.data : "");
        bool point = number->rest.len && memchr(number->rest.data, '.', number->rest.len);
        if (spec->alternate && !point) add_point(number);
        ps_buf_free(&text);
    }
    if (spec->type == '%') ps_buf_text(&number->rest, "%");
    if (negative && !(spec->no_negative_zero && is_zero(number))) number->sign = '-';
}

static void write_character(Number *number, uint64_t code) {
    char text[4];
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
    int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = n - 1; i > 0; i--, code >>= 6) text[i] = (char)(0x80 | (code & 0x3f));
    text[0] = (char)(lead[n] | code);
    ps_buf_add(&number->rest, text, (size_t)n);
}

static void write_integer(Number *number, const PsSpec *spec, bool negative, uint64_t size) {
    static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
    char text[65], *c = text + sizeof text;
    unsigned base = spec->type == 'b' ? 2 : spec->type == 'o' ? 8 : is_one_of(spec->type, "xX") ? 16 : 10;
    if (negative) number->sign = '-';
    do *--c = (spec->type == 'X' ? upper : lower)[size % base];
    while (size /= base);
    size_t len = (size_t)(text + sizeof text - c);
    for (int i = (int)len; i < spec->precision; i++) ps_buf_text(&number->digits, "0");
    ps_buf_add(&number->digits, c, len);
    if (spec->alternate && base != 10) snprintf(number->prefix, sizeof number->prefix, "0%c", spec->type);
}

/* Digits with separators, led by zeros until they take `width` characters. */
static void add_digits(PsBuf *out, const PsSpec *spec, const Number *number, size_t width) {
    size_t group = !spec->grouping ? SIZE_MAX : is_one_of(spec->type, "boxX") ? 4 : 3;
    size_t have = number->digits.len, want = have;
    if (!spec->grouping && width > want) want = width;
    if (spec->grouping && have)
        while (want + (want - 1) / group < width) want++;
    for (size_t i = 0; i < want; i++) {
        if (i && (want - i) % group == 0) ps_buf_add(out, &spec->grouping, 1);
        ps_buf_add(out, i < want - have ? "0" : number->digits.data + (i - (want - have)), 1);
    }
}

static size_t characters(const PsBuf *text) {
    size_t n = 0;
    for (size_t i = 0; i < text->len; i++) n += ((unsigned char)text->data[i] & 0xc0) != 0x80;
    return n;
}

static void pad(PsBuf *out, const PsSpec *spec, size_t count) {
    for (size_t i = 0; i < count; i++) ps_buf_text(out, spec->fill);
}

static void add_number(PsBuf *out, const PsSpec *spec, Number *number) {
    char signs[2] = {number->sign ? number->sign : spec->sign == '-' ? 0 : spec->sign, 0};
    size_t outside = strlen(signs) + strlen(number->prefix) + characters(&number->rest);
    size_t width = (size_t)spec->width;
    bool zeros = spec->align == '=' && !strcmp(spec->fill, "0");
    PsBuf digits = {0};
    add_digits(&digits, spec, number, zeros && width > outside ? width - outside : 0);
    size_t length = outside + digits.len, gap = width > length ? width - length : 0;
    char align = spec->align ? spec->align : spec->type == 'c' ? '<' : '>';
    size_t before = align == '>' ? gap : align == '^' ? gap / 2 : 0;
    pad(out, spec, before);
    ps_buf_text(out, signs);
    ps_buf_text(out, number->prefix);
    if (align == '=') pad(out, spec, gap);
    ps_buf_add(out, digits.data, digits.len);
    ps_buf_add(out, number->rest.data, number->rest.len);
    if (align != '=') pad(out, spec, gap - before);
    out->failed |= digits.failed;
    ps_buf_free(&digits);
}

static int integer_bits(char letter) {
    static const int bits[] = {1, 8, 16, 32, 64, 8, 16, 32, 64};
    return bits[letter - PS_FORMAT_U1];
}

/* Sign-extended or not, as the type says. */
static bool integer_size(char letter, uint64_t bits, uint64_t *out) {
    int unused = 64 - integer_bits(letter);
    uint64_t value = bits << unused >> unused;
    bool negative = is_signed(letter) && bits << unused >> 63;
    if (negative) value = ~value + 1, value = value << unused >> unused;
    *out = value;
    return negative;
}

/* As in printf, a least number of digits leaves nothing for zeros to fill. */
static PsSpec without_zeros(const PsSpec *spec) {
    PsSpec plain = *spec;
    if (plain.align == '=' && !strcmp(plain.fill, "0")) plain.align = '>', memcpy(plain.fill, " ", 2);
    return plain;
}

void ps_format_spec(PsBuf *out, const PsSpec *given, char letter, uint64_t bits) {
    Number number = {0};
    bool digits = given->precision >= 0 && !is_float(letter) && !formats_float(given, letter);
    const PsSpec plain = digits ? without_zeros(given) : *given, *spec = &plain;
    uint64_t size = 0;
    bool negative = is_float(letter) ? false : integer_size(letter, bits, &size);
    if (is_float(letter))
        write_float(&number, spec, letter, bits, ps_format_float_value(letter, bits));
    else if (formats_float(spec, letter))
        write_float(&number, spec, PS_FORMAT_F64, 0, negative ? -(double)size : (double)size);
    else if (spec->type == 'c')
        write_character(&number, negative ? UINT64_MAX : size);
    else
        write_integer(&number, spec, negative, size);
    add_number(out, spec, &number);
    out->failed |= number.digits.failed || number.rest.failed;
    ps_buf_free(&number.digits);
    ps_buf_free(&number.rest);
}
