/* SPDX-License-Identifier: Apache-2.0
 *
 * The evaluator on programs in text form: control, calls, memory and its bounds, tiles, prints, partials and their
 * order, limits.
 */
#include "ir/ir.h"
#include "abi/half.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#define STEPS 10000000

/* One program and what came out of it. */
typedef struct Program {
    PsArena arena;
    PsModule *module;
    PsEvalResult result;
    PsStatus status;
} Program;

static bool load(Program *p, const char *text) {
    PsDiag diag;
    *p = (Program){0};
    ps_arena_init(&p->arena);
    ps_diag_init(&diag, &p->arena);
    bool ok = ps_ir_parse(&p->arena, text, strlen(text), &diag, &p->module) == PS_OK &&
              ps_ir_verify(p->module, "parsing", &diag) == PS_OK;
    if (!ok) fprintf(stderr, "%s\n", diag.set ? diag.message.text : "no memory");
    return CHECK(ok);
}

static void unload(Program *p) {
    ps_buf_free(&p->result.printed);
    ps_arena_free(&p->arena);
}

static void run_steps(Program *p, const char *text, const PsEvalArg *args, uint32_t nargs, uint64_t steps) {
    if (load(p, text))
        p->status = ps_ir_eval(p->module, args, nargs, steps, &p->result);
    else
        p->status = PS_FAIL;
    CHECK_INT(p->status, PS_OK);
}

static void run(Program *p, const char *text, const PsEvalArg *args, uint32_t nargs) {
    run_steps(p, text, args, nargs, STEPS);
    CHECK(!p->result.out_of_steps);
}

/* The first result of a main that takes scalars. */
static uint64_t result_of(const char *text, const uint64_t *values, uint32_t count) {
    PsEvalArg args[4] = {0};
    Program p;
    for (uint32_t i = 0; i < count; i++) args[i].bits = values[i];
    run(&p, text, args, count);
    CHECK(!p.result.faulted);
    uint64_t out = p.result.results[0];
    unload(&p);
    return out;
}

static PsEvalArg vector(void *data, int64_t length, int64_t item) {
    return (PsEvalArg){.array = {.data = data, .ndim = 1, .shape = {length}, .strides = {item}}};
}

static void check_fault(const Program *p, PsFaultKind kind, uint32_t count, int64_t a, int64_t b, int64_t c) {
    const PsEvalFault *f = &p->result.fault;
    int64_t want[] = {a, b, c};
    CHECK(p->result.faulted);
    CHECK_INT(f->kind, kind);
    CHECK_INT(f->nvalues, count);
    for (uint32_t i = 0; i < count; i++) CHECK_INT(f->values[i], want[i]);
}

/* -- control -- */

/* a = 10, b = 0; for i in range(n): b += a; a = i; if i == 5: continue; a = 100;  a = 1000; return a + b */
static const char continue_text[] = "func @main(i32) -> i32 {\n"
                                    "  %1:i32 = arg[0]\n"
                                    "  %2:ptr<i32> = var\n"
                                    "  %3:ptr<i32> = var\n"
                                    "  %4:i32 = const 10\n"
                                    "  %5:i32 = const 0\n"
                                    "  %6:i32 = const 5\n"
                                    "  %7:i32 = const 100\n"
                                    "  store %2, %4\n"
                                    "  for %5, %1 {^ %8:i32\n"
                                    "    %9:i32 = load %3\n"
                                    "    %10:i32 = load %2\n"
                                    "    %11:i32 = add %9, %10\n"
                                    "    store %3, %11\n"
                                    "    store %2, %8\n"
                                    "    %12:u1 = eq %8, %6\n"
                                    "    if %12 {\n"
                                    "      continue\n"
                                    "    }\n"
                                    "    store %2, %7\n"
                                    "  }\n"
                                    "  %13:i32 = load %3\n"
                                    "  %14:i32 = const 1000\n"
                                    "  %15:i32 = add %13, %14\n"
                                    "  return %15\n"
                                    "}\n";

static void test_for_continue(void) {
    static const int32_t cases[][2] = {{0, 1000}, {1, 1010}, {5, 1410}, {6, 1510}, {7, 1515}, {-3, 1000}};
    for (size_t i = 0; i < PS_COUNT(cases); i++) {
        uint64_t n = (uint32_t)cases[i][0];
        CHECK_INT(result_of(continue_text, &n, 1), cases[i][1]);
    }
}

/* Nested whiles with break: the smallest divisor of n above 1, found by counting. */
static const char while_text[] = "func @main(i64) -> i64 {\n"
                                 "  %1:i64 = arg[0]\n"
                                 "  %2:ptr<i64> = var\n"
                                 "  %3:i64 = const 2\n"
                                 "  %4:i64 = const 1\n"
                                 "  %20:i64 = const 0\n"
                                 "  store %2, %3\n"
                                 "  while {\n"
                                 "    %5:i64 = load %2\n"
                                 "    %6:u1 = lt %5, %1\n"
                                 "    yield %6\n"
                                 "  } do {\n"
                                 "    %7:i64 = load %2\n"
                                 "    %8:i64 = mod %1, %7\n"
                                 "    %9:u1 = eq %8, %20\n"
                                 "    if %9 {\n"
                                 "      break\n"
                                 "    } else {\n"
                                 "      %10:i64 = add %7, %4\n"
                                 "      store %2, %10\n"
                                 "      continue\n"
                                 "    }\n"
                                 "  }\n"
                                 "  %11:i64 = load %2\n"
                                 "  return %11\n"
                                 "}\n";

static void test_while_break(void) {
    static const int64_t cases[][2] = {{91, 7}, {97, 97}, {2, 2}, {4, 2}};
    for (size_t i = 0; i < PS_COUNT(cases); i++) {
        uint64_t n = (uint64_t)cases[i][0];
        CHECK_INT(result_of(while_text, &n, 1), cases[i][1]);
    }
}

static const char fib_text[] = "func @main(i32) -> i32 {\n"
                               "  %1:i32 = arg[0]\n"
                               "  %2:i32 = call[@fib] %1\n"
                               "  return %2\n"
                               "}\n"
                               "func @fib(i32) -> i32 {\n"
                               "  %1:i32 = arg[0]\n"
                               "  %2:i32 = const 2\n"
                               "  %3:i32 = const 1\n"
                               "  %4:u1 = lt %1, %2\n"
                               "  if %4 {\n"
                               "    return %1\n"
                               "  }\n"
                               "  %5:i32 = sub %1, %3\n"
                               "  %6:i32 = call[@fib] %5\n"
                               "  %7:i32 = sub %1, %2\n"
                               "  %8:i32 = call[@fib] %7\n"
                               "  %9:i32 = add %6, %8\n"
                               "  return %9\n"
                               "}\n";

static void test_calls(void) {
    uint64_t n = 15;
    CHECK_INT(result_of(fib_text, &n, 1), 610);
    PsEvalArg arg = {.bits = 100000};
    Program p;
    run(&p, fib_text, &arg, 1);
    check_fault(&p, PS_FAULT_DEPTH, 1, PS_MAX_DEPTH + 1, 0, 0);
    unload(&p);
}

/* A local is zero each time it is reached. */
static void test_locals(void) {
    static const char text[] = "func @main() -> i32, f64 {\n"
                               "  %1:i32 = const 0\n"
                               "  %2:i32 = const 3\n"
                               "  %3:ptr<i32> = var\n"
                               "  for %1, %2 {^ %4:i32\n"
                               "    %5:ptr<i32> = var\n"
                               "    %6:i32 = atomic_add %5, %2\n"
                               "    %7:i32 = load %5\n"
                               "    %8:i32 = atomic_add %3, %7\n"
                               "  }\n"
                               "  %9:i32 = load %3\n"
                               "  %10:f64 = const 2.5\n"
                               "  return %9, %10\n"
                               "}\n";
    Program p;
    run(&p, text, NULL, 0);
    CHECK_INT(p.result.results[0], 9);
    CHECK_DOUBLE(ps_f64_from_bits(p.result.results[1]), 2.5);
    unload(&p);
}

/* -- memory -- */

static const char scale_text[] = "func @main(array<f32,2>, f32) {\n"
                                 "  %1:array<f32,2> = arg[0]\n"
                                 "  %2:f32 = arg[1]\n"
                                 "  %3:i32 = const 0\n"
                                 "  %4:i32 = dim[0] %1\n"
                                 "  %5:i32 = dim[1] %1\n"
                                 "  parfor[4] %3, %4, %3, %5 {^ %6:i32, %7:i32\n"
                                 "    %8:ptr<f32> = place %1, %6, %7\n"
                                 "    %9:f32 = load %8\n"
                                 "    %10:f32 = mul %9, %2\n"
                                 "    %11:i32 = sub %6, %7\n"
                                 "    %12:f32 = cast %11\n"
                                 "    %13:f32 = add %10, %12\n"
                                 "    store %8, %13\n"
                                 "  }\n"
                                 "}\n";

static void test_strides(void) {
    static const struct {
        int64_t shape[2], strides[2];
        int offset; /* in elements */
    } views[] = {
        {{3, 4}, {16, 4}, 0},    /* C order */
        {{4, 3}, {4, 16}, 0},    /* transposed */
        {{3, 4}, {-16, -4}, 11}, /* reversed */
        {{3, 2}, {16, 8}, 1},    /* every other column */
        {{0, 4}, {16, 4}, 0},    /* empty */
    };
    for (size_t v = 0; v < PS_COUNT(views); v++) {
        float data[12], want[12];
        for (int i = 0; i < 12; i++) data[i] = want[i] = (float)i;
        for (int64_t i = 0; i < views[v].shape[0]; i++)
            for (int64_t j = 0; j < views[v].shape[1]; j++) {
                int64_t at = views[v].offset + (i * views[v].strides[0] + j * views[v].strides[1]) / 4;
                want[at] = want[at] * 2 + (float)(i - j);
            }
        PsEvalArg args[2] = {{.array = {.data = (char *)&data[views[v].offset], .ndim = 2}},
                             {.bits = ps_f32_bits(2)}};
        memcpy(args[0].array.shape, views[v].shape, sizeof views[v].shape);
        memcpy(args[0].array.strides, views[v].strides, sizeof views[v].strides);
        Program p;
        run(&p, scale_text, args, 2);
        CHECK(!p.result.faulted);
        CHECK_MEMORY(data, want, sizeof data);
        unload(&p);
    }
}

static void test_bounds(void) {
    static const char text[] = "func @main(array<i32,2>, i32, i64) -> i32 {\n"
                               "  %1:array<i32,2> = arg[0]\n"
                               "  %2:i32 = arg[1]\n"
                               "  %3:i64 = arg[2]\n"
                               "  %4:ptr<i32> = place %1, %2, %3\n"
                               "  %5:i32 = load %4\n"
                               "  return %5\n"
                               "}\n";
    static const struct {
        int64_t i, j;
        int axis; /* -1: inside */
    } cases[] = {{1, 2, -1}, {0, 3, 1}, {2, 0, 0}, {-1, 2, 0}, {1, -1, 1}, {0, INT64_MAX, 1}, {5, 5, 0}};
    int32_t data[] = {0, 1, 2, 10, 11, 12};
    for (size_t k = 0; k < PS_COUNT(cases); k++) {
        PsEvalArg args[3] = {{.array = {.data = (char *)data, .ndim = 2, .shape = {2, 3}, .strides = {12, 4}}},
                             {.bits = (uint32_t)cases[k].i},
                             {.bits = (uint64_t)cases[k].j}};
        int axis = cases[k].axis;
        Program p;
        run(&p, text, args, 3);
        CHECK_INT(p.result.faulted, axis >= 0);
        if (axis < 0)
            CHECK_INT(p.result.results[0], 12);
        else
            check_fault(&p, PS_FAULT_BOUNDS, 3, axis ? cases[k].j : cases[k].i, axis, axis ? 3 : 2);
        unload(&p);
    }
}

/* After pass layout: addresses, with the object's extent checked in bytes. */
static void test_addresses(void) {
    static const char text[] = "func @main(array<f64,1>, i64) -> f64 {\n"
                               "  %1:array<f64,1> = arg[0]\n"
                               "  %2:i64 = arg[1]\n"
                               "  %3:ptr<f64> = base %1\n"
                               "  %4:i64 = stride[0] %1\n"
                               "  %5:i64 = mul %2, %4\n"
                               "  %6:ptr<f64> = ptradd %3, %5\n"
                               "  %7:f64 = load %6\n"
                               "  store %6, %7\n"
                               "  return %7\n"
                               "}\n";
    double data[] = {1, 2, 3, 4, 5, 6};
    PsEvalArg args[2] = {vector(&data[5], 3, -16), {.bits = 2}};
    Program p;
    run(&p, text, args, 2);
    CHECK_DOUBLE(ps_f64_from_bits(p.result.results[0]), 2);
    unload(&p);
    args[1].bits = 3;
    run(&p, text, args, 2);
    check_fault(&p, PS_FAULT_BOUNDS, 3, -48, -1, 40);
    unload(&p);
    args[1].bits = (uint64_t)-1;
    run(&p, text, args, 2);
    check_fault(&p, PS_FAULT_BOUNDS, 3, 16, -1, 40);
    unload(&p);
}

static void test_atomics(void) {
    static const char text[] = "func @main(array<i32,1>, array<u32,1>) {\n"
                               "  %1:array<i32,1> = arg[0]\n"
                               "  %2:array<u32,1> = arg[1]\n"
                               "  %3:i32 = const 0\n"
                               "  %4:i32 = const 4\n"
                               "  %5:i32 = const 3\n"
                               "  %6:ptr<i32> = place %1, %4\n"
                               "  parfor[1] %3, %4 {^ %7:i32\n"
                               "    %8:i32 = atomic_add %6, %5\n"
                               "    %9:ptr<i32> = place %1, %7\n"
                               "    store %9, %8\n"
                               "  }\n"
                               "  %10:ptr<u32> = place %2, %3\n"
                               "  %11:u32 = const 12\n"
                               "  %12:u32 = const 10\n"
                               "  %13:u32 = atomic_and %10, %12\n"
                               "  %14:u32 = atomic_xor %10, %11\n"
                               "  %15:u32 = atomic_max %10, %11\n"
                               "  %16:u32 = atomic_xchg %10, %12\n"
                               "  %17:u32 = atomic_cas %10, %12, %11\n"
                               "  %18:u32 = atomic_cas %10, %12, %13\n"
                               "  %19:ptr<u32> = place %2, %5\n"
                               "  %20:u32 = atomic_min %19, %16\n"
                               "  %21:u32 = atomic_or %19, %18\n"
                               "  %22:u32 = atomic_mul %19, %17\n"
                               "}\n";
    int32_t a[5] = {-1, -1, -1, -1, 0}, want_a[5] = {0, 3, 6, 9, 12};
    uint32_t b[4] = {14, 0, 0, 20};
    /* 14 & 10 = 10; 10 ^ 12 = 6; max 12; xchg 10 (old 12); cas -> 12; cas stays (old 12) */
    /* min(20, 12) = 12; 12 | 12 = 12; 12 * 10 = 120 */
    uint32_t want_b[4] = {12, 0, 0, 120};
    PsEvalArg args[2] = {vector(a, 5, 4), vector(b, 4, 4)};
    Program p;
    run(&p, text, args, 2);
    CHECK(!p.result.faulted);
    for (size_t i = 0; i < PS_COUNT(a); i++) CHECK_INT(a[i], want_a[i]);
    for (size_t i = 0; i < PS_COUNT(b); i++) CHECK_INT(b[i], want_b[i]);
    unload(&p);
}

static uint64_t size_mask(PsType t) { return ~(uint64_t)0 >> (64 - 8 * ps_scalar_size(t)); }

/* Elements of every type go through memory unchanged. */
static void test_element_types(void) {
    for (PsType t = PS_U1; t < PS_SCALAR_END; t++) {
        char text[400];
        const char *name = ps_scalar_name(t);
        snprintf(text, sizeof text,
                 "func @main(array<%s,1>) -> %s {\n"
                 "  %%1:array<%s,1> = arg[0]\n"
                 "  %%2:i32 = const 0\n"
                 "  %%3:i32 = const 1\n"
                 "  %%4:ptr<%s> = place %%1, %%2\n"
                 "  %%5:%s = load %%4\n"
                 "  %%6:ptr<%s> = var\n"
                 "  store %%6, %%5\n"
                 "  %%7:%s = load %%6\n"
                 "  %%8:ptr<%s> = place %%1, %%3\n"
                 "  store %%8, %%7\n"
                 "  return %%7\n"
                 "}\n",
                 name, name, name, name, name, name, name, name);
        uint64_t first = t == PS_U1 ? 1 : 0xf1f2f3f4f5f6f7f8, want = size_mask(t) & first;
        uint64_t data[2] = {first, 0}, second = 0;
        int64_t size = ps_scalar_size(t);
        PsEvalArg arg = vector(data, 2, size);
        Program p;
        run(&p, text, &arg, 1);
        CHECK_INT(p.result.results[0], want);
        memcpy(&second, (char *)data + size, (size_t)size);
        CHECK_INT(second, want);
        unload(&p);
    }
}

/* -- tiles -- */

static void test_tiles(void) {
    static const char text[] = "func @main(i32) -> i32, i32, i32, i32, i32, i32, i32 {\n"
                               "  %1:i32 = arg[0]\n"
                               "  %2:i32 = const 1\n"
                               "  %3:i32 = const 2\n"
                               "  %4:i32 = const 3\n"
                               "  %5:i32 = const -4\n"
                               "  %6:i32 = const 5\n"
                               "  %7:i32 = const 6\n"
                               "  %8:tile<i32,2x3> = tile %2, %3, %4, %5, %6, %7\n"
                               "  %9:tile<i32,2x3> = splat %1\n"
                               "  %10:tile<i32,2x3> = mul %8, %9\n"
                               "  %11:tile<i32,2> = reduce[256] %10\n" /* axis 1, add */
                               "  %12:tile<i32,3> = reduce[3] %10\n"   /* axis 0, max */
                               "  %13:i32 = reduce[0] %11\n"           /* all */
                               "  %14:tile<i32,3x2> = reshape %10\n"
                               "  %15:i32 = const 0\n"
                               "  %16:i32 = extract %14, %3, %15\n" /* [2,0]: fifth */
                               "  %17:i32 = extract %14, %4, %15\n" /* outside */
                               "  %18:tile<i32,2x1> = reshape %11\n"
                               "  %19:tile<i32,2x3> = broadcast %18\n"
                               "  %20:i32 = extract %19, %2, %3\n"
                               "  %21:i32 = extract %12, %15\n"
                               "  %22:tile<u1,2x3> = lt %8, %9\n"
                               "  %23:tile<i32,2x3> = select %22, %8, %9\n"
                               "  %24:tile<i32,3> = reduce[1] %23\n" /* axis 0, mul */
                               "  %25:i32 = reduce[0] %24\n"
                               "  %26:ptr<tile<i32,2x3>> = var\n"
                               "  store %26, %23\n"
                               "  %27:tile<i32,2x3> = load %26\n"
                               "  %28:tile<i64,2x3> = cast %27\n"
                               "  %29:tile<i64,2> = reduce[258] %28\n" /* axis 1, min */
                               "  %30:i64 = extract %29, %2\n"
                               "  %31:i32 = cast %30\n"
                               "  return %13, %16, %17, %20, %21, %25, %31\n"
                               "}\n";
    PsEvalArg arg = {.bits = 3};
    Program p;
    run(&p, text, &arg, 1);
    /* times 3: [3 6 9; -12 15 18]; rows 18, 21; select: [1 2 3; -4 3 3], products of columns -4 6 9 */
    static const int32_t want[] = {39, 15, 0, 21, 3, 11, -4};
    for (size_t i = 0; i < PS_COUNT(want); i++) CHECK_INT((int32_t)p.result.results[i], want[i]);
    unload(&p);
}

/* Elements of a float reduction are added in ascending order. */
static void test_tile_order(void) {
    static const char text[] = "func @main(f32, f32) -> f32 {\n"
                               "  %1:f32 = arg[0]\n"
                               "  %2:f32 = arg[1]\n"
                               "  %3:f32 = neg %1\n"
                               "  %4:tile<f32,4> = tile %1, %2, %3, %2\n"
                               "  %5:f32 = reduce[0] %4\n"
                               "  return %5\n"
                               "}\n";
    uint64_t args[] = {ps_f32_bits(1e8f), ps_f32_bits(1)};
    CHECK_DOUBLE(ps_f32_from_bits((uint32_t)result_of(text, args, 2)), 1);
}

/* -- prints and checks -- */

static void test_print(void) {
    static const char text[] = "func @main(i32, f32, f64, u1) {\n"
                               "  %1:i32 = arg[0]\n"
                               "  %2:f32 = arg[1]\n"
                               "  %3:f64 = arg[2]\n"
                               "  %4:u1 = arg[3]\n"
                               "  print[\"a \\x01e|\\x01m|\\x01n|\\x01b\\n\"] %1, %2, %3, %4\n"
                               "}\n";
    PsEvalArg args[4] = {
        {.bits = (uint32_t)-5}, {.bits = ps_f32_bits(0.1f)}, {.bits = ps_f64_bits(1e20)}, {.bits = 1}};
    Program p;
    run(&p, text, args, 4);
    CHECK_STR(p.result.printed.data, "a -5|0.1|1e+20|True\n");
    unload(&p);
}

static const char *formatted(PsBuf *buf, char letter, uint64_t bits) {
    ps_buf_free(buf);
    *buf = (PsBuf){0};
    ps_format_scalar(buf, letter, bits);
    return buf->data;
}

/* As Python prints them. */
static void test_format(void) {
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {1, "1.0"},
        {-0.0, "-0.0"},
        {0.1, "0.1"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e+16"},
        {1e22, "1e+22"},
        {0.0001, "0.0001"},
        {0.00001, "1e-05"},
        {123456.789, "123456.789"},
        {1.0 / 3, "0.3333333333333333"},
        {5e-324, "5e-324"},
        {0x1p-44, "5.684341886080802e-14"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {NAN, "nan"},
        {-INFINITY, "-inf"},
        {9007199254740993, "9007199254740992.0"},
        {1.5e-7, "1.5e-07"},
        {123456789012345680.0, "1.2345678901234568e+17"},
    };
    PsBuf buf = {0};
    for (size_t i = 0; i < PS_COUNT(cases); i++)
        CHECK_STR(formatted(&buf, PS_FORMAT_F64, ps_f64_bits(cases[i].value)), cases[i].text);
    CHECK_STR(formatted(&buf, PS_FORMAT_F32, ps_f32_bits(3.4028235e38f)), "3.4028235e+38");
    CHECK_STR(formatted(&buf, PS_FORMAT_F32, ps_f32_bits(16777216)), "16777216.0");
    CHECK_STR(formatted(&buf, PS_FORMAT_F16, 0x7bff), "65500.0");
    CHECK_STR(formatted(&buf, PS_FORMAT_F16, 0x0001), "6e-08");
    CHECK_STR(formatted(&buf, PS_FORMAT_F16, 0x2e66), "0.1");
    CHECK_STR(formatted(&buf, PS_FORMAT_BF16, 0x3f80), "1.0");
    CHECK_STR(formatted(&buf, PS_FORMAT_BF16, 0xff80), "-inf");
    CHECK_STR(formatted(&buf, PS_FORMAT_I8, 0xff), "-1");
    CHECK_STR(formatted(&buf, PS_FORMAT_U8, 0xff), "255");
    CHECK_STR(formatted(&buf, PS_FORMAT_I64, (uint64_t)INT64_MIN), "-9223372036854775808");
    CHECK_STR(formatted(&buf, PS_FORMAT_U64, UINT64_MAX), "18446744073709551615");
    CHECK_STR(formatted(&buf, PS_FORMAT_U1, 0), "False");
    ps_buf_free(&buf);
}

static void test_check(void) {
    static const char text[] = "source 1 \"f\"\n"
                               "func @main(i32) -> i32 {\n"
                               "  %1:i32 = arg[0]\n"
                               "  %2:i32 = const 0\n"
                               "  %3:u1 = ne %1, %2\n"
                               "  %4:i32 = const -7\n"
                               "  check[1] %3, %4  !1:2:4:2:8\n"
                               "  %5:i32 = floordiv %4, %1\n"
                               "  return %5\n"
                               "}\n";
    uint64_t two = 2;
    CHECK_INT((int32_t)result_of(text, &two, 1), -4);
    PsEvalArg zero = {.bits = 0};
    Program p;
    run(&p, text, &zero, 1);
    check_fault(&p, PS_FAULT_DIV_ZERO, 1, -7, 0, 0);
    CHECK_INT(p.module->spans.data[p.result.fault.span].line, 2);
    unload(&p);
}

/* -- partials -- */

#define ROWS 7
#define COLS 333

static const char partial_text[] = "func @main(array<f32,2>) -> f32, f32, i32 {\n"
                                   "  %1:array<f32,2> = arg[0]\n"
                                   "  %2:ptr<f32> = var\n"
                                   "  %3:ptr<f32> = var\n"
                                   "  %4:ptr<i32> = var\n"
                                   "  %5:i32 = const 0\n"
                                   "  %6:i32 = const 1\n"
                                   "  %7:i32 = dim[0] %1\n"
                                   "  %8:i32 = dim[1] %1\n"
                                   "  %9:f32 = const 0.5\n"
                                   "  store %2, %9\n"
                                   "  parfor[GRAIN] %5, %7, %6, %8 {^ %10:i32, %11:i32\n"
                                   "    %12:ptr<f32> = place %1, %10, %11\n"
                                   "    %13:f32 = load %12\n"
                                   "    partial[0] %2, %13\n"
                                   "    partial[3] %3, %13\n"
                                   "    partial[0] %4, %6\n"
                                   "    %14:u1 = lt %13, %9\n"
                                   "    if %14 {\n"
                                   "      partial[0] %2, %9\n"
                                   "    }\n"
                                   "  }\n"
                                   "  %15:f32 = load %2\n"
                                   "  %16:f32 = load %3\n"
                                   "  %17:i32 = load %4\n"
                                   "  return %15, %16, %17\n"
                                   "}\n";

/* The documented order, written once more: 64 stripes a leaf by column, halves, leaves in order. */
static float sum_in_order(float data[ROWS][COLS], int64_t grain) {
    PsParfor domain = {.ndim = 2, .grain = grain, .lo = {0, 1}, .hi = {ROWS, COLS}};
    int32_t axis;
    float total = 0.5f;
    CHECK(ps_layout_cut(&domain, &axis));
    for (int64_t l = 0; l < domain.leaves; l++) {
        PsLeaf leaf = ps_layout_leaf(&domain, l);
        float stripes[PS_STRIPES];
        for (int s = 0; s < PS_STRIPES; s++) stripes[s] = -0.0f;
        for (int64_t row = leaf.row_lo; row < leaf.row_hi; row++)
            for (int64_t col = leaf.col_lo; col < leaf.col_hi; col++) {
                float *stripe = &stripes[(col - leaf.col_lo) % PS_STRIPES], value = data[row][col + 1];
                *stripe += value;
                if (value < 0.5f) *stripe += 0.5f;
            }
        for (int half = PS_STRIPES / 2; half; half /= 2)
            for (int s = 0; s < half; s++) stripes[s] += stripes[s + half];
        total += stripes[0];
    }
    return total;
}

static void test_partials(void) {
    static float data[ROWS][COLS];
    uint32_t state = 1;
    float largest = 0;
    for (int i = 0; i < ROWS * COLS; i++) {
        state = state * 1664525u + 1013904223u;
        data[i / COLS][i % COLS] = (float)(state >> 8) * 0x1p-24f * (i % 5 ? 1 : 1000);
        if (i % COLS && data[i / COLS][i % COLS] > largest) largest = data[i / COLS][i % COLS];
    }
    static const int grains[] = {1, 64, 100, 700, 100000};
    for (size_t g = 0; g < PS_COUNT(grains); g++) {
        char text[sizeof partial_text + 16];
        const char *at = strstr(partial_text, "GRAIN");
        snprintf(text, sizeof text, "%.*s%d%s", (int)(at - partial_text), partial_text, grains[g], at + 5);
        PsEvalArg arg = {
            .array = {.data = (char *)data, .ndim = 2, .shape = {ROWS, COLS}, .strides = {COLS * 4, 4}}};
        Program p;
        run(&p, text, &arg, 1);
        CHECK_DOUBLE(ps_f32_from_bits((uint32_t)p.result.results[0]), sum_in_order(data, grains[g]));
        CHECK_DOUBLE(ps_f32_from_bits((uint32_t)p.result.results[1]), largest);
        CHECK_INT(p.result.results[2], ROWS * (COLS - 1));
        unload(&p);
    }
}

/* -- limits -- */

static void test_domain(void) {
    static const char text[] = "func @main(i32, i32) -> i32 {\n"
                               "  %1:i32 = arg[0]\n"
                               "  %2:i32 = arg[1]\n"
                               "  %3:i32 = const 0\n"
                               "  %4:i32 = const 1\n"
                               "  %5:ptr<i32> = var\n"
                               "  parfor[0] %3, %4, %1, %2 {^ %6:i32, %7:i32\n"
                               "    %8:i32 = atomic_add %5, %7\n"
                               "  }\n"
                               "  %9:i32 = load %5\n"
                               "  return %9\n"
                               "}\n";
    PsEvalArg args[2] = {{.bits = 0}, {.bits = INT32_MAX}};
    Program p;
    run(&p, text, args, 2);
    check_fault(&p, PS_FAULT_DOMAIN, 3, 1, 0, INT32_MAX);
    unload(&p);
    uint64_t some[] = {(uint32_t)-3, 6}, none[] = {5, 5};
    CHECK_INT((int32_t)result_of(text, some, 2), 9);
    CHECK_INT((int32_t)result_of(text, none, 2), 0);
}

static void test_steps(void) {
    static const char text[] = "func @main() {\n"
                               "  %1:u1 = const 1\n"
                               "  while {\n"
                               "    yield %1\n"
                               "  } do {\n"
                               "  }\n"
                               "}\n";
    Program p;
    run_steps(&p, text, NULL, 0, 1000);
    CHECK(p.result.out_of_steps && !p.result.faulted);
    unload(&p);
    PsEvalArg arg = {.bits = 15};
    run_steps(&p, fib_text, &arg, 1, 50);
    CHECK(p.result.out_of_steps);
    unload(&p);
}

/* Every allocation may fail; whatever happens, nothing crashes and nothing leaks (under a sanitizer). */
static void test_no_memory(void) {
    static float data[ROWS][COLS];
    PsEvalArg args[2] = {
        {.array = {.data = (char *)data, .ndim = 2, .shape = {ROWS, COLS}, .strides = {COLS * 4, 4}}}};
    Program fib, scale;
    REQUIRE(load(&fib, fib_text) && load(&scale, scale_text));
    int failed = 0;
    for (long n = 0; n < 60; n++) {
        PsEvalArg five = {.bits = 5};
        ps_alloc_fail_after(n);
        PsStatus status = ps_ir_eval(fib.module, &five, 1, STEPS, &fib.result);
        ps_alloc_fail_after(-1);
        failed += status == PS_NOMEM;
        CHECK(status == PS_NOMEM || (status == PS_OK && fib.result.results[0] == 5));
        ps_alloc_fail_after(n);
        status = ps_ir_eval(scale.module, args, 2, STEPS, &scale.result);
        ps_alloc_fail_after(-1);
        CHECK(status == PS_NOMEM || status == PS_OK);
    }
    CHECK(failed > 3);
    unload(&fib);
    unload(&scale);
}

static void test_wrong_arguments(void) {
    Program p;
    REQUIRE(load(&p, scale_text));
    PsEvalArg args[2] = {{.array = {.ndim = 1}}};
    CHECK_INT(ps_ir_eval(p.module, args, 1, STEPS, &p.result), PS_FAIL);
    CHECK_INT(ps_ir_eval(p.module, args, 2, STEPS, &p.result), PS_FAIL);
    unload(&p);
}

int main(void) {
    RUN(test_for_continue);
    RUN(test_while_break);
    RUN(test_calls);
    RUN(test_locals);
    RUN(test_strides);
    RUN(test_bounds);
    RUN(test_addresses);
    RUN(test_atomics);
    RUN(test_element_types);
    RUN(test_tiles);
    RUN(test_tile_order);
    RUN(test_print);
    RUN(test_format);
    RUN(test_check);
    RUN(test_partials);
    RUN(test_domain);
    RUN(test_steps);
    RUN(test_no_memory);
    RUN(test_wrong_arguments);
    return unit_result();
}
