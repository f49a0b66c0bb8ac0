/* SPDX-License-Identifier: Apache-2.0
 *
 * Every single allocation between the text of a kernel and its result fails in turn: parser, verifier, evaluator, passes,
 * code generation (its own, not LLVM's), container, store, loader, launch. Each time there is a status and nothing else:
 * no crash, no wrong result, and nothing is kept that makes a later compilation fail. Without libpestle_llvm.so nothing is tested.
 */
#include "unit.h"

#include "driver/driver.h"

#include <stdlib.h>
#include <unistd.h>

#define MOST 4000

/* Each begins with a name that tells one compilation from another. Two locals of main, an inner loop, a reduction. */
static const char loops[] = "source 1 \"%d\"\n"
                            "func @main(array<f32,2,unit>, i32) -> f32 {\n"
                            "  %%1:array<f32,2,unit> = arg[0]\n"
                            "  %%2:i32 = arg[1]\n"
                            "  %%3:ptr<f32> = var\n"
                            "  %%4:i32 = dim[0] %%1\n"
                            "  %%5:i32 = dim[1] %%1\n"
                            "  %%6:i32 = const 0\n"
                            "  parfor[0] %%6, %%4, %%6, %%5 {^ %%7:i32, %%8:i32\n"
                            "    %%9:ptr<f32> = place %%1, %%7, %%8\n"
                            "    %%10:f32 = load %%9\n"
                            "    %%11:ptr<f32> = var\n"
                            "    store %%11, %%10\n"
                            "    for %%6, %%2 {^ %%12:i32\n"
                            "      %%13:f32 = load %%11\n"
                            "      %%14:f32 = const 0x1p+1\n"
                            "      %%15:u1 = gt %%13, %%14\n"
                            "      if %%15 {\n"
                            "        break\n"
                            "      }\n"
                            "      %%16:f32 = const 0x1p-2\n"
                            "      %%17:f32 = add %%13, %%16\n"
                            "      store %%11, %%17\n"
                            "    }\n"
                            "    %%18:f32 = load %%11\n"
                            "    store %%9, %%18\n"
                            "    %%19:f32 = atomic_add %%3, %%18\n"
                            "  }\n"
                            "  %%20:f32 = load %%3\n"
                            "  return %%20\n"
                            "}\n";

/* A recursive function, a print, checks. */
static const char calls[] = "checked\n"
                            "source 1 \"%d\"\n"
                            "func @main(array<f32,2,unit>, i32) -> f32 {\n"
                            "  %%1:array<f32,2,unit> = arg[0]\n"
                            "  %%2:i32 = arg[1]\n"
                            "  %%3:i32 = call[@fib] %%2\n"
                            "  %%4:f32 = cast %%3\n"
                            "  %%5:i32 = dim[0] %%1\n"
                            "  %%6:i32 = const 0\n"
                            "  parfor[0] %%6, %%5 {^ %%7:i32\n"
                            "    %%8:ptr<f32> = place %%1, %%7, %%6\n"
                            "    %%9:f32 = sin %%4\n"
                            "    store %%8, %%9\n"
                            "  }\n"
                            "  print[\"fib is \\x01e\\n\"] %%3\n"
                            "  return %%4\n"
                            "}\n"
                            "func @fib(i32) -> i32 {\n"
                            "  %%1:i32 = arg[0]\n"
                            "  %%2:ptr<i32> = var\n"
                            "  store %%2, %%1\n"
                            "  %%3:i32 = const 1\n"
                            "  %%4:u1 = gt %%1, %%3\n"
                            "  if %%4 {\n"
                            "    %%5:i32 = sub %%1, %%3\n"
                            "    %%6:i32 = call[@fib] %%5\n"
                            "    %%7:i32 = const 2\n"
                            "    %%8:i32 = sub %%1, %%7\n"
                            "    %%9:i32 = call[@fib] %%8\n"
                            "    %%10:i32 = add %%6, %%9\n"
                            "    store %%2, %%10\n"
                            "  }\n"
                            "  %%11:i32 = load %%2\n"
                            "  return %%11\n"
                            "}\n";

/* Rows of 64 columns so that the reduction's partials do not fit in the launch record. */
#define ROWS 300
#define COLS 64
static float data[ROWS][COLS];
static char name_of_kernel[8];

static void fill(void) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) data[i][j] = (float)(i % 7) * 0.25f;
}

typedef struct Outcome {
    PsStatus status;
    float result;
    bool printed;
} Outcome;

static void evaluate(const PsModule *m, Outcome *out) {
    PsEvalArg args[2] = {{.array = {.data = (char *)data,
                                    .ndim = 2,
                                    .shape = {ROWS, COLS},
                                    .strides = {COLS * sizeof(float), sizeof(float)}}},
                         {.bits = 9}};
    PsEvalResult result = {0};
    out->status = ps_ir_eval(m, args, 2, 100000000, &result);
    memcpy(&out->result, result.results, sizeof out->result);
    out->printed = result.printed.data && strcmp(result.printed.data, "fib is 34\n") == 0;
    ps_buf_free(&result.printed);
}

static void launch(const PsExecutable *exe, Outcome *out) {
    PsLaunch launch;
    PsBuf text = {0};
    PsFrame *frame = ps_alloc(sizeof *frame + exe->frame_words * sizeof frame->words[0]);
    if (!frame) {
        out->status = PS_NOMEM;
        return;
    }
    uint64_t words[6] = {(uintptr_t)data, ROWS, COLS, COLS * sizeof(float), sizeof(float), 9};
    memcpy(frame->words, words, sizeof words);
    ps_launch_begin(&launch, frame);
    int32_t stopped = ps_executable_run(exe, frame);
    CHECK(!launch.fault.set);
    CHECK(!stopped || launch.out_of_memory);
    memcpy(&out->result, &frame->words[exe->param_words], sizeof out->result);
    ps_launch_take_prints(&launch, &text);
    if (launch.out_of_memory || text.failed) out->status = PS_NOMEM;
    out->printed = text.data && strcmp(text.data, "fib is 34\n") == 0;
    ps_buf_free(&text);
    ps_launch_end(&launch);
    ps_free(frame);
}

static void compile(PsModule *m, PsDiag *diag, Outcome *out) {
    PsExecutable *exe = NULL;
    PsDriverTimes times;
    PsDriverOptions options = {.opt_level = 2, .verify = true};
    out->status = ps_driver_compile(m, &options, &exe, &times, diag);
    CHECK((out->status == PS_OK) == (exe != NULL));
    CHECK(out->status != PS_FAIL || (diag->set && diag->message.text));
    if (exe) launch(exe, out);
    ps_executable_release(exe);
}

/* From the text to the result, with the allocation number `fail` failing; negative: none. */
static Outcome go(const char *kernel, int number, bool compiled, long fail, bool *out_failed) {
    PsArena arena;
    PsDiag diag;
    PsModule *m = NULL;
    PsBuf text = {0};
    Outcome out = {0};
    fill();
    ps_buf_printf(&text, kernel, number);
    ps_alloc_fail_after(fail);
    ps_arena_init(&arena);
    ps_diag_init(&diag, &arena);
    out.status = ps_ir_parse(&arena, text.data, text.len, &diag, &m);
    if (out.status == PS_OK) out.status = ps_ir_verify(m, "parsing", &diag);
    if (out.status == PS_OK && compiled)
        compile(m, &diag, &out);
    else if (out.status == PS_OK)
        evaluate(m, &out);
    *out_failed = fail >= 0 && ps_alloc_fails_after() < 0;
    ps_alloc_fail_after(-1);
    ps_arena_free(&arena);
    ps_buf_free(&text);
    return out;
}

static void sweep(const char *kernel, bool compiled) {
    static int number;
    bool failed = true;
    int refused = 0;
    Outcome want = go(kernel, ++number, compiled, -1, &failed);
    REQUIRE(want.status == PS_OK);
    long n = 0;
    for (failed = true; failed && n < MOST; n++) {
        Outcome got = go(kernel, ++number, compiled, n, &failed);
        refused += got.status != PS_OK;
        if (got.status != PS_OK) continue;
        CHECK_DOUBLE(got.result, want.result);
        CHECK_INT(got.printed, want.printed);
    }
    CHECK(!failed && refused > 5);
    Outcome again = go(kernel, number, compiled, -1, &failed);
    CHECK_INT(again.status, PS_OK);
    CHECK_DOUBLE(again.result, want.result);
    fprintf(stderr, "%s %s: %ld allocations, %d of those that failed were refusals\n", name_of_kernel,
            compiled ? "compiled" : "evaluated", n, refused);
}

static void test_loops(void) {
    strcpy(name_of_kernel, "loops");
    sweep(loops, false);
    sweep(loops, true);
}

static void test_calls(void) {
    strcpy(name_of_kernel, "calls");
    sweep(calls, false);
    sweep(calls, true);
}

int main(void) {
    char folder[] = "/tmp/pestle-test-alloc-XXXXXX", command[100];
    const char *library = getenv("PESTLE_LLVM_LIBRARY");
    if (!library || access(library, R_OK) != 0) {
        fprintf(stderr, "PESTLE_LLVM_LIBRARY names no library: the driver is not tested\n");
        return 77; /* skipped */
    }
    if (!mkdtemp(folder)) return 1;
    setenv("PESTLE_CACHE_DIR", folder, 1);
    unsetenv("PESTLE_CPU");
    unsetenv("PESTLE_DUMP");
    RUN(test_loops);
    RUN(test_calls);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    int left = system(command);
    return unit_result() || left;
}
