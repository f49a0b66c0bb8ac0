/* SPDX-License-Identifier: Apache-2.0
 *
 * The road from IR to a running kernel, through both caches: one process, two threads, another process, after a fork,
 * with a damaged cache and without the compiler. Without libpestle_llvm.so nothing is tested.
 */
#include "unit.h"

#include "driver/driver.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 100000

/* y = y + x * a, and a reduction of y; the constant tells one kernel from another. */
static const char kernel_text[] = "func @main(array<f32,1>, array<f32,1>, f32) -> f32 {\n"
                                  "  %%1:array<f32,1> = arg[0]\n"
                                  "  %%2:array<f32,1> = arg[1]\n"
                                  "  %%3:f32 = arg[2]\n"
                                  "  %%4:i32 = const 0\n"
                                  "  %%5:i32 = dim[0] %%1\n"
                                  "  %%6:f32 = const %d\n"
                                  "  %%7:ptr<f32> = var\n"
                                  "  parfor[0] %%4, %%5 {^ %%8:i32\n"
                                  "    %%9:ptr<f32> = place %%1, %%8\n"
                                  "    %%10:f32 = load %%9\n"
                                  "    %%11:ptr<f32> = place %%2, %%8\n"
                                  "    %%12:f32 = load %%11\n"
                                  "    %%13:f32 = mul %%10, %%3\n"
                                  "    %%14:f32 = add %%13, %%12\n"
                                  "    %%15:f32 = add %%14, %%6\n"
                                  "    store %%11, %%15\n"
                                  "    %%16:f32 = atomic_add %%7, %%15\n"
                                  "  }\n"
                                  "  %%17:f32 = load %%7\n"
                                  "  return %%17\n"
                                  "}\n";

typedef struct Build {
    PsArena arena;
    PsDiag diag;
    PsModule *module;
    PsExecutable *exe;
    PsDriverTimes times;
} Build;

static PsStatus build(Build *b, int constant, bool no_cache) {
    PsBuf text = {0};
    *b = (Build){0};
    ps_arena_init(&b->arena);
    ps_diag_init(&b->diag, &b->arena);
    ps_buf_printf(&text, kernel_text, constant);
    PsStatus status = ps_ir_parse(&b->arena, text.data, text.len, &b->diag, &b->module);
    PsDriverOptions options = {.opt_level = 2, .no_cache = no_cache, .verify = true};
    if (status == PS_OK) status = ps_driver_compile(b->module, &options, &b->exe, &b->times, &b->diag);
    ps_buf_free(&text);
    return status;
}

static void drop(Build *b) {
    ps_executable_release(b->exe);
    ps_arena_free(&b->arena);
}

static float x[N], y[N];

static float run(const PsExecutable *exe, int64_t n, int threads) {
    PsLaunch launch;
    PsFrame *frame = ps_alloc(sizeof *frame + exe->frame_words * sizeof frame->words[0]);
    if (!frame) return -1;
    uint64_t words[7] = {(uintptr_t)x, (uint64_t)n, 4, (uintptr_t)y, (uint64_t)n, 4, 0};
    float a = 2, result;
    memcpy(&words[6], &a, sizeof a);
    memcpy(frame->words, words, sizeof words);
    for (int64_t i = 0; i < n; i++) x[i] = (float)(i % 17) * 0.1f, y[i] = (float)(i % 5) * 0.3f;
    ps_launch_begin(&launch, frame);
    launch.threads = threads;
    int32_t stopped = ps_executable_run(exe, frame);
    memcpy(&result, &frame->words[exe->param_words], sizeof result);
    ps_launch_end(&launch);
    ps_free(frame);
    return stopped ? -1 : result;
}

static bool runs_right(const PsExecutable *exe, int constant) {
    static const int64_t sizes[] = {0, 1, 8, 1000, N};
    bool right = true;
    ps_rt_set_threads(2);
    for (size_t s = 0; s < PS_COUNT(sizes); s++) {
        float one = run(exe, sizes[s], 1), two = run(exe, sizes[s], 2);
        if (memcmp(&one, &two, sizeof one) != 0) right = false;
        for (int64_t i = 0; i < sizes[s]; i++) {
            float contracted = __builtin_fmaf(x[i], 2, (float)(i % 5) * 0.3f) + (float)constant;
            if (y[i] != contracted) right = false;
        }
    }
    return right;
}

static void test_compile_and_run(void) {
    Build b, again;
    REQUIRE(build(&b, 1, false) == PS_OK);
    CHECK(!b.times.from_process && !b.times.from_store);
    CHECK(b.times.codegen && b.times.passes && b.times.load && b.times.store);
    CHECK_INT(b.exe->param_words, 7);
    CHECK_INT(b.exe->result_words, 1);
    CHECK(runs_right(b.exe, 1));
    CHECK(ps_driver_llvm_is_open());
    REQUIRE(build(&again, 1, false) == PS_OK);
    CHECK(again.times.from_process && !again.times.codegen);
    CHECK_PTR(again.exe, b.exe);
    drop(&b);
    CHECK(runs_right(again.exe, 1));
    drop(&again);
    REQUIRE(build(&b, 2, true) == PS_OK); /* another kernel, and not into the store */
    CHECK(!b.times.from_process && !b.times.store);
    CHECK(runs_right(b.exe, 2));
    drop(&b);
}

/* This program again, as: program NAME. */
static int run_self(const char *name) {
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "test_driver", name, (char *)NULL);
        _exit(99);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int child_warm(void) {
    Build b;
    if (build(&b, 1, false) != PS_OK) return 2;
    if (!b.times.from_store || b.times.codegen) return 3;
    if (ps_driver_llvm_is_open()) return 4;
    if (!runs_right(b.exe, 1)) return 5;
    drop(&b);
    return 7;
}

static int child_cold(void) {
    Build b;
    if (build(&b, 1, false) != PS_OK) return 2;
    if (b.times.from_store || !b.times.codegen) return 3;
    bool right = runs_right(b.exe, 1);
    drop(&b);
    return right ? 7 : 5;
}

static int child_scalar(void) {
    Build b;
    setenv("PESTLE_CPU", "scalar", 1);
    if (build(&b, 1, false) != PS_OK) return 2;
    if (b.times.from_store || strcmp(ps_driver_cpu_features(), "") != 0) return 3;
    bool right = runs_right(b.exe, 1);
    drop(&b);
    return right ? 7 : 5;
}

static int child_no_llvm(void) {
    Build b;
    setenv("PESTLE_LLVM_LIBRARY", "/nonexistent/libpestle_llvm.so", 1);
    if (build(&b, 1, false) != PS_OK || !b.times.from_store) return 2; /* what is stored still runs */
    drop(&b);
    if (build(&b, 12345, false) != PS_FAIL) return 3;
    if (b.diag.message.id != PS_MSG_DRIVER_LLVM || !strstr(b.diag.message.text, "/nonexistent/")) return 4;
    drop(&b);
    unsetenv("PESTLE_LLVM_LIBRARY");
    return 7;
}

static int child_wrong_settings(void) {
    Build b;
    setenv("PESTLE_CPU", "z80", 1);
    if (build(&b, 1, false) != PS_FAIL || b.diag.message.id != PS_MSG_DRIVER_CPU) return 2;
    drop(&b);
    unsetenv("PESTLE_CPU");
    setenv("PESTLE_DUMP", "nopass", 1);
    if (build(&b, 1, false) != PS_FAIL || b.diag.message.id != PS_MSG_DRIVER_DUMP) return 3;
    drop(&b);
    setenv("PESTLE_DUMP", "front,asm,llvm", 1);
    setenv("PESTLE_TIME", "1", 1);
    if (!freopen(getenv("TEST_DUMP"), "w", stderr)) return 4;
    if (build(&b, 1, false) != PS_OK || b.times.from_store || b.times.store) return 5;
    drop(&b);
    fflush(stderr);
    static char text[1 << 20];
    FILE *file = fopen(getenv("TEST_DUMP"), "r");
    size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[got] = 0;
    if (file) fclose(file);
    return strstr(text, "# after front\n") && strstr(text, "# after asm\n") && strstr(text, "compiled:") ? 7
                                                                                                         : 6;
}

/* Cuts every file of the store. */
static void damage_store(void) {
    char path[600];
    const char *name = getenv("PESTLE_CACHE_DIR");
    DIR *dir = name ? opendir(name) : NULL;
    for (struct dirent *item; dir && (item = readdir(dir));) {
        if (item->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", name, item->d_name);
        CHECK(truncate(path, 200) == 0);
    }
    if (dir) closedir(dir);
}

static void test_other_processes(void) {
    CHECK_INT(run_self("warm"), 7);
    CHECK_INT(run_self("no-llvm"), 7);
    CHECK_INT(run_self("wrong-settings"), 7);
    CHECK_INT(run_self("scalar"), 7);
    damage_store();
    CHECK_INT(run_self("cold"), 7);
    CHECK_INT(run_self("warm"), 7);
}

static void *build_in_thread(void *out) {
    if (build(out, 500, true) != PS_OK) ((Build *)out)->exe = NULL;
    return NULL;
}

static void test_two_threads(void) {
    pthread_t threads[4];
    Build builds[4];
    int made = 0;
    for (int i = 0; i < 4; i++) REQUIRE(pthread_create(&threads[i], NULL, build_in_thread, &builds[i]) == 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) {
        made += !builds[i].times.from_process;
        CHECK(builds[i].exe && builds[i].exe == builds[0].exe);
    }
    CHECK_INT(made, 1);
    for (int i = 0; i < 4; i++) drop(&builds[i]);
}

/* The child of a fork compiles, runs, and finds what the parent had, even if a thread was compiling. TSan does not
 * support threads there. */
#if defined(__SANITIZE_THREAD__)
enum { WITH_FORK = 0 };
#else
enum { WITH_FORK = 1 };
#endif

static void *build_many(void *out) {
    for (int i = 0; i < 10; i++) {
        if (build(out, 1000 + i, true) != PS_OK) return NULL;
        drop(out);
    }
    return out;
}

static int after_fork(void) {
    Build b;
    alarm(30);
    for (int i = 8; i < 12; i++) {
        if (build(&b, 1000 + i, true) != PS_OK) return 2;
        if (!runs_right(b.exe, 1000 + i)) return 3;
        drop(&b);
    }
    return 7;
}

static void test_fork(void) {
    pthread_t thread;
    Build b;
    void *done = NULL;
    REQUIRE(pthread_create(&thread, NULL, build_many, &b) == 0);
    for (int i = 0; i < 3; i++) {
        int status = 0;
        usleep(7000);
        fflush(NULL);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) _exit(after_fork());
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    pthread_join(thread, &done);
    CHECK(done != NULL);
}

/* Any allocation may fail: a clear status, no crash, and the next time it works. */
static void test_without_memory(void) {
    Build b;
    int failed = 0;
    for (int n = 0; n < 3000; n += n / 4 + 1) {
        ps_alloc_fail_after(n);
        PsStatus status = build(&b, 2000 + n, true);
        ps_alloc_fail_after(-1);
        failed += status != PS_OK;
        CHECK((status == PS_OK) == (b.exe != NULL));
        drop(&b);
        REQUIRE(build(&b, 2000 + n, true) == PS_OK);
        drop(&b);
        if (status == PS_OK) break;
    }
    CHECK(failed > 5);
}

static void test_text(void) {
    Build b = {0};
    PsBuf text = {0}, out = {0};
    ps_arena_init(&b.arena);
    ps_diag_init(&b.diag, &b.arena);
    ps_buf_printf(&text, kernel_text, 3);
    PsDriverOptions options = {.opt_level = 2};
    REQUIRE(ps_ir_parse(&b.arena, text.data, text.len, &b.diag, &b.module) == PS_OK);
    CHECK_INT(ps_driver_text(b.module, &options, "llvm", &out, &b.diag), PS_OK);
    CHECK(out.data && strstr(out.data, "define") && strstr(out.data, "ps_main"));
    CHECK_INT(ps_driver_text(b.module, &options, "pascal", &out, &b.diag), PS_FAIL);
    ps_buf_free(&out);
    ps_buf_free(&text);
    ps_arena_free(&b.arena);
}

static const struct {
    const char *name;
    int (*run)(void);
} children[] = {{"warm", child_warm},
                {"cold", child_cold},
                {"scalar", child_scalar},
                {"no-llvm", child_no_llvm},
                {"wrong-settings", child_wrong_settings}};

static int in_folder(char *folder) {
    char path[100];
    snprintf(path, sizeof path, "%s/cache", folder);
    setenv("PESTLE_CACHE_DIR", path, 1);
    snprintf(path, sizeof path, "%s/dump", folder);
    setenv("TEST_DUMP", path, 1);
    RUN(test_compile_and_run);
    RUN(test_other_processes);
    RUN(test_two_threads);
    RUN(test_text);
    RUN(test_without_memory);
    if (WITH_FORK) RUN(test_fork);
    snprintf(path, sizeof path, "rm -rf %s", folder);
    return system(path) != 0;
}

int main(int argc, char **argv) {
    char folder[] = "/tmp/pestle-test-driver-XXXXXX";
    for (size_t i = 0; argc == 2 && i < PS_COUNT(children); i++)
        if (strcmp(argv[1], children[i].name) == 0) return children[i].run();
    const char *library = getenv("PESTLE_LLVM_LIBRARY");
    if (!library || access(library, R_OK) != 0) {
        fprintf(stderr, "PESTLE_LLVM_LIBRARY names no library: the driver is not tested\n");
        return 77; /* skipped */
    }
    unsetenv("PESTLE_CPU");
    unsetenv("PESTLE_DUMP");
    if (!mkdtemp(folder)) return 1;
    int failed = in_folder(folder);
    return unit_result() || failed;
}
