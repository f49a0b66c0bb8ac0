/* SPDX-License-Identifier: Apache-2.0
 *
 * The pipeline as a whole: a module means the same before and after it (through the evaluator), checked and not;
 * faults carry the right line and values; ranges are what they should be; no allocation that fails does harm. Single
 * rules are tested by tests/passes.
 */
#include "../unit/unit.h"

#include "passes/passes.h"

typedef struct Memory {
    int32_t i[16];
    float f[64];
    uint64_t results[2];
} Memory;

typedef struct Outcome {
    Memory memory;
    PsEvalResult eval;
    PsSpan span; /* of the fault */
} Outcome;

static PsModule *parse(PsArena *arena, PsDiag *diag, const char *text) {
    PsModule *m = NULL;
    ps_arena_init(arena);
    ps_diag_init(diag, arena);
    return ps_ir_parse(arena, text, strlen(text), diag, &m) == PS_OK ? m : NULL;
}

/* Arguments of every program here: i32[16], f32[8, 8] (unit), an i32, an f32. */
static bool evaluate(const PsModule *m, int32_t number, float real, Outcome *out) {
    *out = (Outcome){0};
    for (int k = 0; k < 16; k++) out->memory.i[k] = k * 5 - 20;
    for (int k = 0; k < 64; k++) out->memory.f[k] = (float)k * 0.75f - 10;
    PsEvalArg args[4] = {
        {.array = {(char *)out->memory.i, 1, {16}, {4}}},
        {.array = {(char *)out->memory.f, 2, {8, 8}, {32, 4}}},
        {.bits = (uint32_t)number},
    };
    memcpy(&args[3].bits, &real, sizeof real);
    if (ps_ir_eval(m, args, 4, 1000000, &out->eval) != PS_OK) return false;
    memcpy(out->memory.results, out->eval.results, sizeof out->memory.results);
    if (out->eval.faulted) out->span = m->spans.data[out->eval.fault.span];
    ps_buf_free(&out->eval.printed);
    return true;
}

/* Runs the passes (NULL: all), then the program. */
static bool outcome(const char *text, const char *passes, bool checked, int32_t number, float real,
                    Outcome *out) {
    PsArena arena;
    PsDiag diag;
    PsModule *m = parse(&arena, &diag, text);
    if (m) m->checked = checked;
    bool good =
        m && ps_passes_run(m, passes, true, NULL, NULL, &diag) == PS_OK && evaluate(m, number, real, out);
    if (!good && diag.set) fprintf(stderr, "%s\n", diag.message.text);
    ps_arena_free(&arena);
    return good;
}

#define HEAD                                                                                                   \
    "func @main(array<i32,1>, array<f32,2,unit>, i32, f32) -> f32, i32 {\n"                                    \
    "%1:array<i32,1> = arg[0]  %2:array<f32,2,unit> = arg[1]  %3:i32 = arg[2]  %4:f32 = arg[3]\n"              \
    "%5:i32 = const 0  %6:i32 = const 1  %7:i32 = dim[0] %2  %8:i32 = dim[1] %2  %9:i32 = dim[0] %1\n"         \
    "%10:f32 = const 0.0\n"

static const char stencil[] = HEAD "%11:i32 = sub %7, %6  %12:i32 = sub %8, %6\n"
                                   "parfor[0] %6, %11, %6, %12 {^ %13:i32, %14:i32\n"
                                   "  %15:i32 = sub %13, %6  %16:i32 = add %14, %6\n"
                                   "  %17:ptr<f32> = place %2, %15, %14  %18:ptr<f32> = place %2, %13, %16\n"
                                   "  %19:f32 = load %17  %20:f32 = load %18  %21:f32 = mul %19, %4\n"
                                   "  %22:f32 = sub %20, %21  %23:i32 = cast %22  %24:i32 = const 15\n"
                                   "  %25:i32 = and %23, %24  %26:ptr<i32> = place %1, %25\n"
                                   "  %27:i32 = atomic_add %26, %14\n"
                                   "}\n"
                                   "return %10, %3\n}\n";

static const char histogram[] =
    HEAD "%11:ptr<i32> = var  %12:ptr<i32> = var  store %12, %3\n"
         "parfor[0] %5, %9 {^ %13:i32\n"
         "  %14:ptr<i32> = place %1, %13  %15:i32 = load %14  %16:i32 = atomic_add %11, %15\n"
         "  %17:u1 = lt %15, %5  if %17 { continue }\n"
         "  %18:i32 = atomic_max %12, %15\n"
         "}\n"
         "%19:i32 = load %11  %20:i32 = load %12  %21:i32 = floordiv %20, %6\n"
         "%22:i32 = xor %19, %21  %23:ptr<i32> = place %1, %5\n"
         "%24:i32 = atomic_cas %23, %19, %22  %25:i32 = atomic_xchg %23, %24\n"
         "return %10, %22\n}\n";

static const char owned[] =
    HEAD "parfor[0] %5, %7 {^ %11:i32\n"
         "  for %5, %8 {^ %12:i32\n"
         "    %13:ptr<f32> = place %2, %11, %5  %14:f32 = cast %12  %15:f32 = atomic_add %13, %14\n"
         "    %16:u1 = gt %15, %4  if %16 { break }\n"
         "  }\n"
         "}\n"
         "return %10, %3\n}\n";

static void test_same_meaning(void) {
    static const char *const programs[] = {stencil, histogram, owned};
    for (unsigned i = 0; i < PS_COUNT(programs); i++) {
        Outcome before, after, checked;
        REQUIRE(outcome(programs[i], "contract", false, 3, 1.25f, &before));
        REQUIRE(outcome(programs[i], NULL, false, 3, 1.25f, &after));
        REQUIRE(outcome(programs[i], NULL, true, 3, 1.25f, &checked));
        CHECK(!before.eval.faulted && !after.eval.faulted && !checked.eval.faulted);
        CHECK_MEMORY(&after.memory, &before.memory, sizeof(Memory));
        CHECK_MEMORY(&checked.memory, &before.memory, sizeof(Memory));
    }
}

/* f[number, 0] += f[i, j] over all, where `real` is below f[i, j]. */
static const char gather[] = HEAD "parfor[0] %5, %7, %5, %8 {^ %11:i32, %12:i32\n"
                                  "  %13:f32 = cast %12  %14:u1 = lt %4, %13\n"
                                  "  if %14 {\n"
                                  "    %15:ptr<f32> = place %2, %3, %5  %16:f32 = atomic_add %15, %13\n"
                                  "  }\n"
                                  "}\n"
                                  "return %10, %3\n}\n";

static void test_element(void) {
    Outcome before, after;
    REQUIRE(outcome(gather, "contract", false, 2, 3.5f, &before));
    REQUIRE(outcome(gather, NULL, false, 2, 3.5f, &after));
    CHECK_MEMORY(&after.memory, &before.memory, sizeof(Memory)); /* small integers: exact in any order */
    /* a loop that never comes to the atomic touches nothing, in bounds or out of them */
    REQUIRE(outcome(gather, NULL, false, 100, 50.0f, &after));
    CHECK(!after.eval.faulted);
    REQUIRE(outcome(gather, NULL, true, 100, 50.0f, &after));
    CHECK(!after.eval.faulted);
    /* one that does faults in the body */
    REQUIRE(outcome(gather, NULL, true, 100, 3.5f, &after));
    REQUIRE(after.eval.faulted);
    CHECK_INT(after.eval.fault.kind, PS_FAULT_BOUNDS);
    CHECK_INT(after.eval.fault.values[0], 100);
}

/* Sums keep their bits in checked mode: the leaves are the same. */
static void test_checked_sum(void) {
    static const char sum[] =
        HEAD "%11:ptr<f32> = var\n"
             "parfor[0] %5, %7, %5, %8 {^ %12:i32, %13:i32\n"
             "  %14:i32 = add %12, %5  %15:i32 = floordiv %14, %3  %16:ptr<f32> = place %2, %15, %13\n"
             "  %17:f32 = load %16  %18:f32 = mul %17, %4  %19:f32 = atomic_add %11, %18\n"
             "}\n"
             "%20:f32 = load %11\n"
             "return %20, %3\n}\n";
    Outcome plain, checked;
    REQUIRE(outcome(sum, NULL, false, 3, 0.1f, &plain));
    REQUIRE(outcome(sum, NULL, true, 3, 0.1f, &checked));
    CHECK_MEMORY(&checked.memory, &plain.memory, sizeof(Memory));
    CHECK(plain.memory.results[0] != 0);
}

static void test_faults(void) {
    static const char bounds[] =
        "source 1 \"k\"\n" HEAD "%11:i32 = sub %3, %6  %12:ptr<f32> = place %2, %6, %11 !1:4:2:4:9\n"
        "store %12, %4  return %10, %3\n}\n";
    static const char division[] =
        "source 1 \"k\"\n" HEAD "%11:i32 = const 7  %12:i32 = mod %11, %3 !1:5:1:5:6\n"
        "return %10, %12\n}\n";
    Outcome out;
    REQUIRE(outcome(bounds, NULL, true, 9, 0, &out));
    REQUIRE(out.eval.faulted && out.eval.fault.nvalues == 3);
    CHECK_INT(out.eval.fault.kind, PS_FAULT_BOUNDS);
    CHECK_INT(out.eval.fault.values[0], 8);
    CHECK_INT(out.eval.fault.values[1], 1);
    CHECK_INT(out.eval.fault.values[2], 8);
    CHECK_INT(out.span.line, 4);
    CHECK_INT(out.span.end_col, 9);
    REQUIRE(outcome(bounds, NULL, true, 0, 0, &out));
    REQUIRE(out.eval.faulted);
    CHECK_INT(out.eval.fault.values[0], -1);

    REQUIRE(outcome(division, NULL, false, 0, 0, &out));
    CHECK(!out.eval.faulted);
    CHECK_INT(out.memory.results[1], 0);
    REQUIRE(outcome(division, NULL, true, 0, 0, &out));
    REQUIRE(out.eval.faulted && out.eval.fault.nvalues == 1);
    CHECK_INT(out.eval.fault.kind, PS_FAULT_DIV_ZERO);
    CHECK_INT(out.eval.fault.values[0], 7);
    CHECK_INT(out.span.line, 5);
}

/* The range of the last value of a body. */
static PsRange range_of_last(const char *body) {
    PsArena arena;
    PsDiag diag;
    char text[1024];
    PsRange range = {1, 0};
    snprintf(
        text, sizeof text,
        "func @main(array<i32,1>, i32, u8, u64, f32) {\n%%1:array<i32,1> = arg[0]  %%2:i32 = arg[1]\n"
        "%%3:u8 = arg[2]  %%4:u64 = arg[3]  %%5:f32 = arg[4]  %%6:i32 = const 10  %%7:i32 = const -3\n%s}\n",
        body);
    PsModule *m = parse(&arena, &diag, text);
    if (m) {
        const PsFunc *f = m->funcs.data[0];
        PsRef last = 0;
        for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r))
            if (ps_op(f, r)->type) last = r;
        range = ps_range_of(f, last);
    } else {
        fprintf(stderr, "%s\n", diag.message.text);
    }
    ps_arena_free(&arena);
    return range;
}

static void test_ranges(void) {
    static const struct {
        const char *body;
        int64_t lo, hi;
    } cases[] = {
        {"%8:i32 = add %6, %7\n", 7, 7},
        {"%8:i32 = add %2, %6\n", INT32_MIN, INT32_MAX},
        {"%8:i32 = dim[0] %1\n", 0, PS_INDEX_LIMIT},
        {"%8:i32 = cast %3\n", 0, 255},
        {"%8:i32 = cast %3 %9:i32 = mul %8, %7\n", -765, 0},
        {"%8:i8 = cast %3\n", -128, 127},
        {"%8:i64 = cast %4\n", INT64_MIN, INT64_MAX},
        {"%8:u64 = const 18446744073709551615\n", INT64_MIN, INT64_MAX},
        {"%8:i32 = cast %5\n", INT32_MIN, INT32_MAX},
        {"%8:i32 = and %2, %6\n", 0, 10},
        {"%8:i32 = mod %2, %6\n", 0, 9},
        {"%8:i32 = mod %2, %7\n", INT32_MIN, INT32_MAX},
        {"%8:i32 = truncmod %2, %6\n", -9, 9},
        {"%8:i32 = floordiv %2, %6\n", -214748365, 214748364},
        {"%8:i32 = truncdiv %2, %6\n", -214748364, 214748364},
        {"%8:i32 = min %2, %6\n", INT32_MIN, 10},
        {"%8:i32 = max %2, %6\n", 10, INT32_MAX},
        {"%8:u1 = lt %2, %6 %9:i32 = select %8, %6, %7\n", -3, 10},
        {"for %7, %6 {^ %8:i32 %9:i32 = add %8, %6 }\n", 7, 19},
        {"for %6, %7 {^ %8:i32 %9:i32 = add %8, %6 }\n", 20, 20},
        {"for %7, %2 {^ %8:i32 %9:i32 = add %8, %6 }\n", INT32_MIN, INT32_MAX},
        {"parfor[0] %2, %2 {^ %8:i32 %9:i32 = add %8, %6 }\n", 10 - PS_INDEX_LIMIT, PS_INDEX_LIMIT + 9},
        {"parfor[0] %7, %2 {^ %8:i32 for %7, %8 {^ %9:i32 %10:i32 = sub %9, %6 } }\n", -13,
         PS_INDEX_LIMIT - 12},
    };
    for (unsigned i = 0; i < PS_COUNT(cases); i++) {
        PsRange r = range_of_last(cases[i].body);
        if (!CHECK_INT(r.lo, cases[i].lo) || !CHECK_INT(r.hi, cases[i].hi))
            fprintf(stderr, "  in %s", cases[i].body);
    }
}

static void record(void *data, const char *pass, const PsModule *m) {
    (void)m;
    strcat(strcat(data, " "), pass);
}

static void test_runner(void) {
    PsArena arena;
    PsDiag diag;
    char seen[200] = "";
    PsModule *m = parse(&arena, &diag, stencil);
    REQUIRE(m);
    CHECK_INT(ps_passes_run(m, NULL, true, record, seen, &diag), PS_OK);
    CHECK_STR(seen,
              " contract tiles fold reduce plain forward fast_math grain inline reuse sink math layout dce");
    seen[0] = 0;
    CHECK_INT(ps_passes_run(m, "dce,fold,check", true, record, seen, &diag), PS_OK);
    CHECK_STR(seen, " dce fold");
    CHECK_INT(ps_passes_run(m, "dce,unknown", true, NULL, NULL, &diag), PS_FAIL);
    CHECK_INT(diag.message.id, PS_MSG_PASSES_UNKNOWN);
    ps_arena_free(&arena);
}

/* -- tiles: every op of ops.def that takes them, on few elements and on many -- */

static PsRef ramp(PsBuilder *b, PsType elem, int64_t count, int first) {
    PsRef e[32];
    for (int64_t k = 0; k < count; k++) e[k] = ps_build_int(b, elem, elem == PS_U1 ? k % 2 : first + k);
    return ps_build_tile(b, ps_type_tile(b->func->module, elem, 1, &count), e, (uint32_t)count);
}

/* main() -> 8 elements of the op's result on tiles of `count` elements. */
static PsModule *every_op(PsArena *arena, PsOpCode code, int64_t count) {
    PsRule rule = ps_op_info[code].rule;
    PsModule *m = ps_module_new(arena);
    PsFunc *f = ps_func_new(m, "main", 4);
    PsBuilder b = ps_builder_at_end(f, 1);
    PsType first = rule == PS_RULE_INT || rule == PS_RULE_SHIFT ? PS_I32 : PS_F32;
    PsRef a = ramp(&b, first, count, 1), args[3] = {a, ramp(&b, first, count, 2), ramp(&b, first, count, 5)};
    PsType result = ps_op(f, a)->type;
    if (rule == PS_RULE_SHIFT || rule == PS_RULE_IPOW) args[1] = ramp(&b, PS_I32, count, 0);
    if (rule == PS_RULE_SELECT) args[0] = ramp(&b, PS_U1, count, 0);
    if (rule == PS_RULE_COMPARE) result = ps_type_with_element(m, result, PS_U1);
    if (rule == PS_RULE_CAST || rule == PS_RULE_BITCAST) result = ps_type_with_element(m, result, PS_I32);
    PsRef value = ps_build_op(&b, code, result, args, (uint32_t)ps_op_info[code].nargs, 0), out[PS_MAX_RESULTS];
    for (int64_t k = 0; k < PS_MAX_RESULTS; k++) {
        PsRef at = ps_build_int(&b, PS_I32, k * (count - 1) / (PS_MAX_RESULTS - 1));
        out[k] = ps_build_extract(&b, value, &at, 1);
        CHECK(ps_vec_push(arena, &f->results, ps_type_element(m, result)));
    }
    ps_build_op(&b, PS_OP_RETURN, PS_KIND_NONE, out, PS_MAX_RESULTS, 0);
    return m;
}

static bool has_tile_values(const PsModule *m) {
    const PsFunc *f = m->funcs.data[0];
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r))
        if (ps_type_info(m, ps_op(f, r)->type)->kind == PS_KIND_TILE) return true;
    return false;
}

static void check_every_op(PsOpCode code, int64_t count) {
    PsArena arena;
    PsDiag diag;
    PsEvalResult before, after;
    ps_arena_init(&arena);
    ps_diag_init(&diag, &arena);
    PsModule *m = every_op(&arena, code, count);
    bool good = CHECK_INT(ps_ir_verify(m, "test", &diag), PS_OK) &&
                CHECK_INT(ps_ir_eval(m, NULL, 0, 100000, &before), PS_OK) &&
                CHECK_INT(ps_passes_run(m, "tiles", true, NULL, NULL, &diag), PS_OK) &&
                CHECK(!has_tile_values(m)) && CHECK_INT(ps_ir_eval(m, NULL, 0, 100000, &after), PS_OK) &&
                CHECK_MEMORY(&after.results, &before.results, sizeof before.results);
    if (!good) fprintf(stderr, "  in %s of %d elements\n", ps_op_info[code].name, (int)count);
    ps_arena_free(&arena);
}

static void test_tiles_every_op(void) {
    int n = 0;
    for (int code = 1; code < PS_OP_COUNT; code++) {
        PsRule rule = ps_op_info[code].rule;
        if (rule == PS_RULE_NONE || rule == PS_RULE_OTHER) continue;
        check_every_op((PsOpCode)code, 8);
        check_every_op((PsOpCode)code, 20);
        n++;
    }
    CHECK(n > 50);
}

/* Loops that pass tiles would have to nest too deeply are refused. */
static void test_tiles_nesting(void) {
    PsBuf text = {0};
    PsArena arena;
    PsDiag diag;
    ps_buf_text(&text, "func @main(u1, f32) { %1:u1 = arg[0] %2:f32 = arg[1]\n");
    for (int i = 0; i < PS_MAX_NESTING - 3; i++) ps_buf_text(&text, "if %1 {\n");
    ps_buf_text(&text, "%3:tile<f32,5x5> = splat %2 %4:ptr<tile<f32,5x5>> = var store %4, %3\n");
    for (int i = 0; i < PS_MAX_NESTING - 3; i++) ps_buf_text(&text, "}\n");
    ps_buf_text(&text, "}\n");
    PsModule *m = parse(&arena, &diag, text.data);
    REQUIRE(m);
    CHECK_INT(ps_passes_run(m, "tiles", true, NULL, NULL, &diag), PS_FAIL);
    CHECK_INT(diag.message.id, PS_MSG_PASSES_NESTING);
    ps_arena_free(&arena);
    ps_buf_free(&text);
}

static const char tiles[] = "func @main(array<f32,3>, f32, i32) -> f32 {\n"
                            "  %1:array<f32,3> = arg[0] %2:f32 = arg[1] %3:i32 = arg[2]\n"
                            "  %4:ptr<tile<f32,5x5>> = place %1, %3\n"
                            "  %5:tile<f32,5x5> = load %4\n"
                            "  %6:tile<f32,5x5> = dot %5, %5\n"
                            "  %7:tile<f32,5x5> = atomic_add %4, %6\n"
                            "  %8:tile<f32,5> = reduce[0] %7\n"
                            "  %9:tile<f32,5> = splat %2\n"
                            "  %10:tile<f32,5> = mul %8, %9\n"
                            "  %11:tile<f32,5x1> = reshape %10\n"
                            "  %12:tile<f32,5x5> = broadcast %11\n"
                            "  store %4, %12\n"
                            "  %13:f32 = extract %10, %3\n"
                            "  return %13\n"
                            "}\n";

/* Each allocation of a run fails once. */
static void test_no_memory(void) {
    static const char *const programs[] = {stencil, histogram, owned, gather, tiles};
    for (unsigned i = 0; i < PS_COUNT(programs); i++) {
        PsStatus status = PS_NOMEM;
        for (long n = 0; n < 1000 && status != PS_OK; n++) {
            PsArena arena;
            PsDiag diag;
            PsModule *m = parse(&arena, &diag, programs[i]);
            REQUIRE(m);
            m->checked = true;
            ps_alloc_fail_after(n);
            status = ps_passes_run(m, NULL, false, NULL, NULL, &diag);
            ps_alloc_fail_after(-1);
            CHECK(status == PS_OK || status == PS_NOMEM);
            ps_arena_free(&arena);
        }
        CHECK_INT(status, PS_OK);
    }
}

int main(void) {
    RUN(test_same_meaning);
    RUN(test_element);
    RUN(test_checked_sum);
    RUN(test_faults);
    RUN(test_ranges);
    RUN(test_runner);
    RUN(test_tiles_every_op);
    RUN(test_tiles_nesting);
    RUN(test_no_memory);
    return unit_result();
}
