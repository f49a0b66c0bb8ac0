/* SPDX-License-Identifier: Apache-2.0
 *
 * ir: the text form: it round-trips, it is canonical, and the parser survives anything.
 */
#include "../unit/unit.h"
#include "ir/ir.h"

#include <locale.h>
#include <stdlib.h>

/* One of everything. */
static const char sample[] = "checked\n"
                             "source 1 \"blur\"\n"
                             "source 2 \"a \\\"b\\\" \\\\ \\xc3\\xa4\"\n"
                             "func @main(array<f32,2,unit>, array<u8,1>, f64) -> f32, i64 {\n"
                             "  %1:array<f32,2,unit> = arg[0] !1:0:4:0:5\n"
                             "  %2:i32 = dim[1] %1\n"
                             "  %3:i32 = const -2147483648\n"
                             "  %4:u64 = const 18446744073709551615\n"
                             "  %5:u1 = const 1\n"
                             "  %6:f32 = const 0x1.99999ap-4\n"
                             "  %7:f64 = const -0x0p+0\n"
                             "  %8:f64 = const 0x0.0000000000001p-1022\n"
                             "  %9:f32 = const nan(0xffc00001)\n"
                             "  %10:f64 = const -inf\n"
                             "  %11:f16 = const 0x1.ffcp+15\n"
                             "  %12:bf16 = const 0x1p-133\n"
                             "  %13:ptr<f32> = var\n"
                             "  parfor[4096] %3, %2, %3, %2 !1:3:0:5:9 {^ %14:i32, %15:i32\n"
                             "    %16:ptr<f32> = place %1, %14, %15\n"
                             "    %17:f32 = load %16 !2:1:0:1:9\n"
                             "    partial[0] %13, %17\n"
                             "    if %5 {\n"
                             "      continue\n"
                             "    } else {\n"
                             "      %18:f32 = atomic_add %16, %17\n"
                             "    }\n"
                             "  }\n"
                             "  while {\n"
                             "    yield %5\n"
                             "  } do {\n"
                             "    if %5 {\n"
                             "      break\n"
                             "    }\n"
                             "    for %3, %2 {^ %19:i32\n"
                             "    }\n"
                             "  }\n"
                             "  %20:tile<f32,4x4> = splat %6\n"
                             "  %21:tile<f32,4> = reduce[256] %20\n"
                             "  print[\"x = \\x01m\\n\"] %6\n"
                             "  %22:f32 = call[@\"blur.<locals>.f\"] %1, %6\n"
                             "  %23:i64 = const -9223372036854775808\n"
                             "  return %22, %23\n"
                             "}\n"
                             "func @\"blur.<locals>.f\"(array<f32,2,unit>, f32) -> f32 {\n"
                             "  %1:f32 = arg[1]\n"
                             "  call[@g.2]\n"
                             "  return %1\n"
                             "}\n"
                             "func @g.2() {\n"
                             "}\n";

/* The text printed again; NULL and the message when it does not parse. The caller frees the buffer. */
static PsStatus reprint(const char *text, size_t len, bool spans, PsBuf *out, char *message, size_t size) {
    PsArena arena;
    PsDiag diag;
    PsModule *m;
    ps_arena_init(&arena);
    ps_diag_init(&diag, &arena);
    PsStatus status = ps_ir_parse(&arena, text, len, &diag, &m);
    if (status == PS_OK) ps_ir_print(m, spans, out);
    if (status == PS_OK) status = ps_ir_verify(m, "parse", &diag);
    snprintf(message, size, "%s", diag.set ? diag.message.text : "");
    ps_arena_free(&arena);
    return status;
}

static void check_reprint(const char *text, bool spans, const char *want) {
    PsBuf out = {0};
    char message[200];
    CHECK_INT(reprint(text, strlen(text), spans, &out, message, sizeof message), PS_OK);
    CHECK_STR(message, "");
    CHECK_STR(out.data, want);
    ps_buf_free(&out);
}

static void test_round_trip(void) { check_reprint(sample, true, sample); }

static void test_sources_expanded_in_place(void) {
    static const char text[] = "source 1 \"f\"\n"
                               "source 2 \"g\" !1:3:4:3:9\n"
                               "source 3 \"g\" !2:1:0:2:1\n"
                               "func @main() {\n"
                               "  %1:f32 = const 0x0p+0 !3:0:1:0:2\n"
                               "}\n";
    PsBuf out = {0};
    char message[200];
    check_reprint(text, true, text);
    const char *later = "source 1 \"f\" !1:0:0:0:0\nfunc @main() {\n}\n"; /* not one before it */
    CHECK_INT(reprint(later, strlen(later), true, &out, message, sizeof message), PS_FAIL);
    CHECK_STR(message, "line 1: the span's source is not declared above");
    ps_buf_free(&out);
}

static void test_canonical(void) {
    check_reprint("# a comment\n\tfunc@main(f32)->f32{%7:f32=arg[0]%3:f32=neg %7 # here\r\nreturn %3}#end",
                  false, "func @main(f32) -> f32 {\n  %1:f32 = arg[0]\n  %2:f32 = neg %1\n  return %2\n}\n");
    check_reprint("func @main() { %1:u1 = const 0 if %1 { } else { } if %1 { return } }", false,
                  "func @main() {\n  %1:u1 = const 0\n  if %1 {\n  }\n  if %1 {\n    return\n  }\n}\n");
    check_reprint("source 1 \"f\" func @main() { return !1:2:3:4:5 }", false,
                  "source 1 \"f\"\nfunc @main() {\n  return\n}\n");
}

static void check_constant(const char *type, const char *literal, const char *want) {
    char text[200], expect[200];
    snprintf(text, sizeof text, "func @main() { %%1:%s = const %s }", type, literal);
    snprintf(expect, sizeof expect, "func @main() {\n  %%1:%s = const %s\n}\n", type, want);
    check_reprint(text, false, expect);
}

static void test_constants(void) {
    check_constant("f64", "3.14159265358979", "0x1.921fb54442d11p+1");
    check_constant("f64", "1e22", "0x1.0f0cf064dd592p+73");
    check_constant("f64", "-2.5E-3", "-0x1.47ae147ae147bp-9");
    check_constant("f32", "0.1", "0x1.99999ap-4");
    check_constant("f32", "1", "0x1p+0");
    check_constant("f32", "0x0.8p1", "0x1p+0");
    check_constant("f32", "0x123", "0x1.23p+8");
    check_constant("f32", "-0x1p500", "-inf");
    check_constant("f64", "0x1.fffffffffffffp+1023", "0x1.fffffffffffffp+1023");
    check_constant("f64", "0x1p-1074", "0x0.0000000000001p-1022");
    check_constant("f32", "0x1p-149", "0x1p-149");
    check_constant("f16", "nan", "nan(0x7e00)");
    check_constant("f64", "nan(0xfff0000000000001)", "nan(0xfff0000000000001)");
    check_constant("i32", "0x7fffffff", "2147483647");
    check_constant("u8", "255", "255");
    check_constant("i8", "-128", "-128");
    check_constant("i64", "-0", "0");
}

static void check_error(const char *text, const char *want) {
    PsBuf out = {0};
    char message[300];
    CHECK_INT(reprint(text, strlen(text), true, &out, message, sizeof message), PS_FAIL);
    CHECK_STR(message, want);
    ps_buf_free(&out);
}

static void test_errors(void) {
    check_error("", "verifier after parse: there is no function main");
    check_error("func", "line 1: expected @");
    check_error("hello", "line 1: expected func, source, checked, overflow, fast_math or deterministic");
    check_error("func @main(f31) {}", "line 1: expected a type");
    check_error("func @main() {\n\n  %1:i32 = cosnt 3\n}", "line 3: there is no operation cosnt");
    check_error("func @main() {\n  %1:i32 = param[0]\n}", "line 2: there is no operation param");
    check_error("func @main() { %1:i32 = neg %2 }", "line 1: %2 is not defined above");
    check_error("func @main() { %1:i32 = const 1 %1:i32 = const 2 }", "line 1: %1 is defined twice");
    check_error("func @main() { %1:i32 = const 1 } func @f() { %2:i32 = neg %1 }",
                "line 1: %1 is not defined above");
    check_error("func @main() { %99999:i32 = const 1 }", "line 1: the number is too large");
    check_error("func @main() { %1 :i32 = const 1 }", "line 1: expected : and a type right behind the value");
    check_error("func @main() { const 1 }", "line 1: a constant is a scalar");
    check_error("func @main() { %1:u8 = const 256 }", "line 1: the constant does not fit its type");
    check_error("func @main() { %1:u8 = const -1 }", "line 1: the constant does not fit its type");
    check_error("func @main() { %1:u1 = const 2 }", "line 1: the constant does not fit its type");
    check_error("func @main() { %1:i32 = const 1.5 }", "line 1: expected an integer constant of 64 bits");
    check_error("func @main() { %1:f32 = const 1e-40 }",
                "line 1: this decimal float must be written in hexadecimal");
    check_error("func @main() { %1:f32 = const 1.2.3 }", "line 1: expected a float constant");
    check_error("func @main() { %1:f64 = const 0x1p2000 }", "line 1: the float is not exact in 64 bits");
    check_error("func @main() { %1:f32 = const nan(0x1) }",
                "line 1: expected nan(0x...) with the bits of a NaN");
    check_error("func @main() { return !1:0:0:0:0 }", "line 1: the span's source is not declared above");
    check_error("source 2 \"x\"", "line 1: sources are numbered from 1 in order");
    check_error("source 1 \"x", "line 1: the string has no end");
    check_error("source 1 \"x\\", "line 1: the string has no end");
    check_error("source 1 \"x\\q\"", "line 1: the string has a character that cannot be");
    check_error("source 1 \"x\\x00\"", "line 1: the string has a character that cannot be");
    check_error("func @main() {} func @main() {}", "line 1: the function is defined twice");
    check_error("func @main() {\ncall[@f]\n\n}", "line 2: the called function is not defined");
    check_error("func @main() {", "line 1: expected }");
    check_error("func @main() { while { } }", "line 1: expected do");
    check_error("func @main(ptr<ptr<f32>>) {}", "line 1: there can be no such type");
    check_error("func @main(array<f32,13>) {}", "line 1: the number is too large");
    check_error("func @main(tile<f32,0>) {}", "line 1: there can be no such type");
    check_error("func @main(tile<f32,1x1x1x1x1x1x1x1x1x1x1x1x1>) {}", "line 1: a tile has at most 12 axes");
    check_error("func @main(ptr<ptr<ptr<ptr<ptr<ptr<f32>>>>>>) {}", "line 1: there can be no such type");
    check_error("func @main() { %?:i32 = const 1 }", "line 1: expected a number");
}

static void test_nesting(void) {
    PsBuf text = {0}, out = {0};
    char message[200];
    ps_buf_text(&text, "func @main() { %1:u1 = const 1 ");
    for (int i = 0; i < 100000; i++) ps_buf_text(&text, "if %1 { ");
    CHECK_INT(reprint(text.data, text.len, true, &out, message, sizeof message), PS_FAIL);
    CHECK_STR(message, "line 1: regions are nested too deeply");
    text.len = 0;
    ps_buf_text(&text, "func @main() { %1:u1 = const 1 ");
    for (int i = 0; i < PS_MAX_NESTING; i++) ps_buf_text(&text, "if %1 { ");
    for (int i = 0; i <= PS_MAX_NESTING; i++) ps_buf_text(&text, "} ");
    CHECK_INT(reprint(text.data, text.len, true, &out, message, sizeof message), PS_OK);
    text.len = 0;
    for (int i = 0; i < 100000; i++) ps_buf_text(&text, "ptr<");
    CHECK_INT(reprint(text.data, text.len, true, &out, message, sizeof message), PS_FAIL);
    ps_buf_free(&text);
    ps_buf_free(&out);
}

static uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Bytes replaced, removed, doubled, pieces of the text moved: whatever still parses prints to a text that stays. */
static void mutate(char *text, size_t *len, size_t cap, uint32_t *random) {
    static const char signs[] = "%:{}[]<>\"!@^,0123456789#\\\n x\0\xff-";
    for (uint32_t n = 1 + next_random(random) % 4; n--;) {
        size_t at = next_random(random) % *len, from = next_random(random) % *len;
        size_t room = *len - (at > from ? at : from), count = 1 + next_random(random) % 12;
        if (count > room) count = room;
        switch (next_random(random) % 4) {
        case 0: text[at] = signs[next_random(random) % (sizeof signs - 1)]; break;
        case 1: memmove(text + at, text + from, count); break;
        case 2:
            if (*len <= count + 1) break;
            memmove(text + at, text + at + count, *len - at - count);
            *len -= count;
            break;
        default:
            if (*len + count > cap) break;
            memmove(text + at + count, text + at, *len - at);
            *len += count;
        }
    }
}

static void test_mutations(void) {
    enum { CAP = sizeof sample + 100 };
    char text[CAP], message[200];
    uint32_t random = 12345, parsed = 0, bad = 0;
    for (int i = 0; i < 20000; i++) {
        size_t len = sizeof sample - 1;
        memcpy(text, sample, len);
        mutate(text, &len, CAP, &random);
        PsBuf out = {0}, again = {0};
        PsStatus status = reprint(text, len, true, &out, message, sizeof message);
        if ((status != PS_OK) != (message[0] != 0)) bad++;
        if (out.data && !strstr(out.data, "%?")) {
            parsed++;
            reprint(out.data, out.len, true, &again, message, sizeof message);
            if (!again.data || strcmp(out.data, again.data)) bad++;
        }
        ps_buf_free(&out);
        ps_buf_free(&again);
    }
    CHECK_INT(bad, 0);
    CHECK(parsed > 200);
}

static void test_without_memory(void) {
    char message[200];
    PsStatus status = PS_NOMEM;
    long n = 0;
    for (; n < 1000 && status != PS_OK; n++) {
        PsBuf out = {0};
        ps_alloc_fail_after(n);
        status = reprint(sample, sizeof sample - 1, true, &out, message, sizeof message);
        ps_alloc_fail_after(-1);
        CHECK(status == PS_OK || status == PS_NOMEM || out.failed);
        if (status == PS_OK && out.failed) status = PS_NOMEM;
        ps_buf_free(&out);
    }
    CHECK_INT(status, PS_OK);
    CHECK(n > 3);
}

/* A locale with a decimal comma must not change the text. */
static void test_locale(void) {
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) return;
    test_round_trip();
    test_constants();
    setlocale(LC_ALL, "C");
}

int main(void) {
    RUN(test_round_trip);
    RUN(test_sources_expanded_in_place);
    RUN(test_canonical);
    RUN(test_constants);
    RUN(test_errors);
    RUN(test_nesting);
    RUN(test_mutations);
    RUN(test_without_memory);
    RUN(test_locale);
    return unit_result();
}
