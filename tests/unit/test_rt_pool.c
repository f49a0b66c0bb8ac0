/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread pool and parallel loops: every leaf runs once, the first fault in program order wins, prints and
 * reductions do not depend on threads, and pools survive forks, shutdowns and several launchers at once.
 */
#include "unit.h"

#include "rt/rt_int.h"

#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAVES 1000

/* A launch with the frame that stands beside it; words[0] is what the tasks below work on. */
typedef struct TestLaunch {
    PsLaunch launch;
    union {
        PsFrame frame;
        uint64_t room[8];
    } at;
} TestLaunch;

static void begin(TestLaunch *t, void *data) {
    ps_launch_begin(&t->launch, &t->at.frame);
    t->at.frame.words[0] = (uint64_t)(uintptr_t)data;
}

static void *data_of(const PsTaskState *ts) { return (void *)(uintptr_t)ts->frame->words[0]; }

/* A domain of `leaves` leaves of 64 iterations each. The cost decides whether workers are asked. */
static PsParfor domain(int64_t leaves, int64_t cost) {
    PsParfor parfor = {.ndim = 1, .grain = 64, .cost = cost};
    parfor.hi[0] = leaves * 64;
    return parfor;
}
#define CHEAP     1
#define EXPENSIVE 10000000 /* 10 us an iteration: always worth the workers */

typedef struct Counts {
    int runs[LEAVES];
    int threads[64]; /* leaves run by each thread */
} Counts;

static int32_t count_task(PsTaskState *ts, const PsParfor *parfor, int64_t lo, int64_t hi) {
    Counts *counts = data_of(ts);
    (void)parfor;
    for (int64_t i = lo; i < hi; i++) __atomic_fetch_add(&counts->runs[i], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counts->threads[ts->thread], (int)(hi - lo), __ATOMIC_RELAXED);
    return 0;
}

static bool all_ran_once(const Counts *counts, int64_t leaves) {
    for (int64_t i = 0; i < LEAVES; i++)
        if (counts->runs[i] != (i < leaves)) return false;
    return true;
}

static void test_every_leaf_runs_once(void) {
    static const int64_t sizes[] = {0, 1, 2, 3, 7, 64, 100, LEAVES};
    for (int threads = 1; threads <= 4; threads++) {
        ps_rt_set_threads(threads);
        for (size_t i = 0; i < PS_COUNT(sizes); i++) {
            for (int round = 0; round < 40; round++) {
                Counts counts = {0};
                TestLaunch t;
                begin(&t, &counts);
                PsParfor parfor = domain(sizes[i], round % 2 ? CHEAP : EXPENSIVE);
                CHECK_INT(ps_rt_parallel_for(&t.launch.main, count_task, &parfor, 0), 0);
                CHECK_INT(parfor.leaves, sizes[i]);
                CHECK(all_ran_once(&counts, sizes[i]));
                CHECK_INT(t.launch.main.task, 2);
                ps_launch_end(&t.launch);
            }
        }
    }
}

static void test_many_launches(void) {
    ps_rt_set_threads(2);
    int wrong = 0;
    for (int i = 0; i < 20000; i++) {
        Counts counts;
        memset(&counts, 0, sizeof counts);
        TestLaunch t;
        begin(&t, &counts);
        PsParfor parfor = domain(4, EXPENSIVE / 100);
        wrong += ps_rt_parallel_for(&t.launch.main, count_task, &parfor, 0);
        wrong += !all_ran_once(&counts, 4);
    }
    CHECK_INT(wrong, 0);
}

static int32_t slow_task(PsTaskState *ts, const PsParfor *parfor, int64_t lo, int64_t hi) {
    usleep(1000);
    return count_task(ts, parfor, lo, hi);
}

static void test_workers_help(void) {
    ps_rt_set_threads(3);
    Counts counts = {0};
    TestLaunch t;
    begin(&t, &counts);
    PsParfor parfor = domain(60, EXPENSIVE);
    CHECK_INT(ps_rt_parallel_for(&t.launch.main, slow_task, &parfor, 0), 0);
    CHECK(counts.threads[0] > 0 && counts.threads[1] > 0 && counts.threads[2] > 0);

    /* Underestimated work is noticed while it runs. */
    memset(&counts, 0, sizeof counts);
    parfor = domain(60, CHEAP);
    CHECK_INT(ps_rt_parallel_for(&t.launch.main, slow_task, &parfor, 0), 0);
    CHECK(all_ran_once(&counts, 60));
    CHECK(counts.threads[1] + counts.threads[2] > 0);

    /* A launch may ask for fewer threads. */
    memset(&counts, 0, sizeof counts);
    t.launch.threads = 1;
    parfor = domain(20, EXPENSIVE);
    CHECK_INT(ps_rt_parallel_for(&t.launch.main, slow_task, &parfor, 0), 0);
    CHECK_INT(counts.threads[0], 20);
    memset(&counts, 0, sizeof counts);
    t.launch.threads = 2;
    CHECK_INT(ps_rt_parallel_for(&t.launch.main, slow_task, &parfor, 0), 0);
    CHECK(counts.threads[1] > 0);
    CHECK_INT(counts.threads[2], 0);
    ps_launch_end(&t.launch);
}

/* -- faults -- */

/* Faults in every leaf whose number is in the list; elsewhere counts. */
static const int64_t bad_leaves[] = {77, 78, 300, 301, 900};
static int32_t faulting_task(PsTaskState *ts, const PsParfor *parfor, int64_t lo, int64_t hi) {
    for (int64_t i = lo; i < hi; i++) {
        ts->leaf = i;
        for (size_t k = 0; k < PS_COUNT(bad_leaves); k++) {
            if (i != bad_leaves[k]) continue;
            ps_rt_fault(ts, 3, 2, (int64_t[]){i, -i});
            ps_rt_fault(ts, 4, 2, (int64_t[]){0, 0}); /* a second one in the leaf counts for nothing */
            return 1;
        }
        count_task(ts, parfor, i, i + 1);
    }
    return 0;
}

static void test_lowest_fault_wins(void) {
    for (int threads = 1; threads <= 4; threads++) {
        ps_rt_set_threads(threads);
        for (int round = 0; round < 50; round++) {
            Counts counts = {0};
            TestLaunch t;
            begin(&t, &counts);
            PsParfor parfor = domain(LEAVES, EXPENSIVE);
            CHECK_INT(ps_rt_parallel_for(&t.launch.main, faulting_task, &parfor, 0), 1);
            CHECK(t.launch.fault.set);
            CHECK_INT(t.launch.fault.leaf, 77);
            CHECK_INT(t.launch.fault.task, 1);
            CHECK_INT(t.launch.fault.site, 3);
            CHECK_INT(t.launch.fault.nvalues, 2);
            CHECK_INT(t.launch.fault.values[0], 77);
            CHECK_INT(t.launch.fault.values[1], -77);
            CHECK_INT(t.launch.main.fault, 1);
            for (int i = 0; i < 77; i++) CHECK_INT(counts.runs[i], 1);
            CHECK_INT(counts.runs[77], 0);
        }
    }
}

static void test_domain_fault(void) {
    TestLaunch t;
    begin(&t, NULL);
    PsParfor parfor = {.ndim = 2, .grain = 1};
    parfor.hi[0] = 5;
    parfor.lo[1] = -3;
    parfor.hi[1] = PS_INDEX_LIMIT + 1;
    CHECK_INT(ps_rt_parallel_for(&t.launch.main, count_task, &parfor, 9), 1);
    CHECK(t.launch.fault.set);
    CHECK_INT(t.launch.fault.site, 9);
    CHECK_INT(t.launch.fault.nvalues, 3);
    CHECK_INT(t.launch.fault.values[0], 1);
    CHECK_INT(t.launch.fault.values[1], -3);
    CHECK_INT(t.launch.fault.values[2], PS_INDEX_LIMIT + 1);
}

/* -- reductions and prints -- */

static int32_t sum_task(PsTaskState *ts, const PsParfor *parfor, int64_t lo, int64_t hi) {
    (void)ts;
    for (int64_t i = lo; i < hi; i++)
        for (int32_t k = 0; k < parfor->npartials; k++)
            parfor->partials[i * parfor->npartials + k] = (uint64_t)(i * 10 + k);
    return 0;
}

static void test_partials(void) {
    static const int64_t sizes[] = {1, 10, LEAVES, 5};
    ps_rt_set_threads(2);
    TestLaunch t;
    begin(&t, NULL);
    for (size_t s = 0; s < PS_COUNT(sizes); s++) {
        PsParfor parfor = domain(sizes[s], EXPENSIVE);
        parfor.npartials = 3;
        CHECK_INT(ps_rt_parallel_for(&t.launch.main, sum_task, &parfor, 0), 0);
        int wrong = 0;
        for (int64_t i = 0; i < parfor.leaves * 3; i++)
            wrong += parfor.partials[i] != (uint64_t)(i / 3 * 10 + i % 3);
        CHECK_INT(wrong, 0);
    }
    ps_launch_end(&t.launch);

    begin(&t, NULL);
    PsParfor parfor = domain(LEAVES, EXPENSIVE);
    parfor.npartials = 1;
    ps_alloc_fail_after(0);
    CHECK_INT(ps_rt_parallel_for(&t.launch.main, sum_task, &parfor, 0), 1);
    ps_alloc_fail_after(-1);
    CHECK(t.launch.out_of_memory && !t.launch.fault.set);
    ps_launch_end(&t.launch);
}

#define I32                                                                                                    \
    "\x01"                                                                                                     \
    "e"
static int32_t print_task(PsTaskState *ts, const PsParfor *parfor, int64_t lo, int64_t hi) {
    (void)parfor;
    for (int64_t i = lo; i < hi; i++) {
        ts->leaf = i;
        uint64_t values[2] = {(uint64_t)i, (uint64_t)ts->task};
        if (i % 3 == 0) ps_rt_print(ts, "leaf " I32 " of " I32 "\n", values);
        if (i % 6 == 0) ps_rt_print(ts, "again\n", NULL);
    }
    return 0;
}

static void print_something(PsLaunch *launch, PsBuf *out) {
    ps_rt_print(&launch->main, "begin\n", NULL);
    PsParfor parfor = domain(300, EXPENSIVE);
    CHECK_INT(ps_rt_parallel_for(&launch->main, print_task, &parfor, 0), 0);
    ps_rt_print(&launch->main, "between\n", NULL);
    parfor = domain(4, EXPENSIVE);
    CHECK_INT(ps_rt_parallel_for(&launch->main, print_task, &parfor, 0), 0);
    ps_rt_print(&launch->main, "end\n", NULL);
    ps_launch_take_prints(launch, out);
    ps_launch_end(launch);
}

static void test_prints_are_ordered(void) {
    PsBuf want = {0};
    ps_buf_text(&want, "begin\n");
    for (int task = 1; task <= 3; task += 2) {
        for (int i = 0; i < (task == 1 ? 300 : 4); i += 3)
            ps_buf_printf(&want, "leaf %d of %d\n%s", i, task, i % 6 ? "" : "again\n");
        ps_buf_text(&want, task == 1 ? "between\n" : "end\n");
    }
    for (int threads = 1; threads <= 4; threads++) {
        ps_rt_set_threads(threads);
        for (int round = 0; round < 10; round++) {
            TestLaunch t;
            PsBuf got = {0};
            begin(&t, NULL);
            print_something(&t.launch, &got);
            CHECK_STR(got.data, want.data);
            ps_buf_free(&got);
        }
    }
    ps_buf_free(&want);
}

/* Every single allocation of a print may fail; the launch stops then. */
static void test_print_without_memory(void) {
    for (int n = 0; n < 20; n++) {
        TestLaunch t;
        begin(&t, NULL);
        ps_alloc_fail_after(n);
        ps_rt_print(&t.launch.main, "text", NULL);
        ps_alloc_fail_after(-1);
        bool failed = t.launch.out_of_memory;
        PsBuf out = {0};
        ps_launch_take_prints(&t.launch, &out);
        CHECK_STR(failed ? "text" : out.data, "text");
        ps_buf_free(&out);
        ps_launch_end(&t.launch);
        if (!failed) return;
    }
    CHECK(!"a print that succeeds");
}

/* -- the rest of the world -- */

static volatile int32_t interrupt;
static int32_t interrupting_task(PsTaskState *ts, const PsParfor *parfor, int64_t lo, int64_t hi) {
    if (lo >= 100) __atomic_store_n(&interrupt, 1, __ATOMIC_RELAXED);
    return count_task(ts, parfor, lo, hi);
}

static void test_interrupt(void) {
    for (int threads = 1; threads <= 2; threads++) {
        ps_rt_set_threads(threads);
        interrupt = 0;
        Counts counts = {0};
        TestLaunch t;
        begin(&t, &counts);
        t.launch.main.interrupt = &interrupt;
        PsParfor parfor = domain(LEAVES, EXPENSIVE);
        CHECK_INT(ps_rt_parallel_for(&t.launch.main, interrupting_task, &parfor, 0), 1);
        CHECK(t.launch.interrupted && !t.launch.fault.set);
        CHECK_INT(counts.runs[LEAVES - 1], 0);
    }
}

static int32_t mode_task(PsTaskState *ts, const PsParfor *parfor, int64_t lo, int64_t hi) {
    volatile double tiny = 0x1p-1060, third = 1.0;
    if (tiny / 2 != 0x1p-1061 || third / 3 != 0x1.5555555555555p-2) return count_task(ts, parfor, lo, lo);
    return count_task(ts, parfor, lo, hi);
}

/* A caller that rounds up and flushes denormals gets its modes back, and tasks never see them. */
static void test_floating_point_mode(void) {
    ps_rt_set_threads(2);
    fesetround(FE_UPWARD);
#if defined(__x86_64__)
    unsigned mine = _mm_getcsr() | 0x8040;
    _mm_setcsr(mine);
#endif
    Counts counts = {0};
    TestLaunch t;
    begin(&t, &counts);
    PsParfor parfor = domain(200, EXPENSIVE);
    ps_rt_parallel_for(&t.launch.main, mode_task, &parfor, 0);
#if defined(__x86_64__)
    unsigned after = _mm_getcsr();
    _mm_setcsr(0x1f80);
    CHECK_INT(after & ~0x3fu, mine & ~0x3fu);
#endif
    int round = fegetround();
    fesetround(FE_TONEAREST);
#if !defined(__x86_64__)
    CHECK_INT(round, FE_UPWARD);
#endif
    (void)round;
    CHECK(all_ran_once(&counts, 200));
}

static void *launch_often(void *wrong) {
    for (int i = 0; i < 300; i++) {
        Counts counts;
        memset(&counts, 0, sizeof counts);
        TestLaunch t;
        begin(&t, &counts);
        PsParfor parfor = domain(i % 50 + 1, EXPENSIVE);
        if (ps_rt_parallel_for(&t.launch.main, count_task, &parfor, 0) || !all_ran_once(&counts, i % 50 + 1))
            __atomic_fetch_add((int *)wrong, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void test_several_launchers(void) {
    ps_rt_set_threads(3);
    pthread_t threads[3];
    int wrong = 0;
    for (int i = 0; i < 3; i++) REQUIRE(pthread_create(&threads[i], NULL, launch_often, &wrong) == 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    CHECK_INT(wrong, 0);
}

static int loop_works(int leaves) {
    Counts counts = {0};
    TestLaunch t;
    begin(&t, &counts);
    PsParfor parfor = domain(leaves, EXPENSIVE);
    return ps_rt_parallel_for(&t.launch.main, slow_task, &parfor, 0) == 0 && all_ran_once(&counts, leaves) &&
           counts.threads[1] > 0;
}

__attribute__((unused)) static void test_fork(void) {
    ps_rt_set_threads(2);
    CHECK(loop_works(30));
    for (int i = 0; i < 5; i++) {
        fflush(NULL);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            alarm(20);
            _exit(loop_works(30) ? 7 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        CHECK(loop_works(30));
    }
}

/* A thread that forks while another one has just taken the pool: before there was a worker, too. */
static void test_fork_before_workers(void) {
    ps_rt_set_threads(2);
    REQUIRE(rt_pool_try_own());
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(rt_pool_try_own() ? 7 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    rt_pool_disown();
}

static void test_shutdown(void) {
    ps_rt_set_threads(4);
    for (int i = 0; i < 5; i++) {
        CHECK(loop_works(20));
        ps_rt_shutdown();
        ps_rt_shutdown();
    }
    usleep(1000);
    CHECK(loop_works(20));
    ps_rt_shutdown();
}

static void test_thread_number(void) {
    setenv("PESTLE_NUM_THREADS", "3", 1);
    ps_rt_set_threads(0);
    CHECK_INT(ps_rt_threads(), 3);
    setenv("PESTLE_NUM_THREADS", "many", 1);
    ps_rt_set_threads(0);
    CHECK(ps_rt_threads() >= 1 && ps_rt_threads() <= PS_RT_MAX_THREADS);
    unsetenv("PESTLE_NUM_THREADS");
    ps_rt_set_threads(1 << 30);
    CHECK_INT(ps_rt_threads(), PS_RT_MAX_THREADS);
    ps_rt_set_threads(-5);
    CHECK(ps_rt_threads() >= 1);
}

static void test_symbols(void) {
    CHECK_PTR(ps_rt_symbol("ps_rt_fault"), (void *)ps_rt_fault);
    CHECK_PTR(ps_rt_symbol("memcpy"), (void *)memcpy);
    CHECK_PTR(ps_rt_symbol("system"), NULL);
    CHECK_PTR(ps_rt_symbol(""), NULL);
    double (*power)(double, double) = (double (*)(double, double))ps_rt_symbol("ps_rt_pow_f64");
    float (*root)(float) = (float (*)(float))ps_rt_symbol("ps_rt_cbrt_f32");
    REQUIRE(power && root);
    CHECK_DOUBLE(power(2, 10), 1024);
    CHECK_DOUBLE(root(27), 3);
}

static void ring(void *data) { __atomic_store_n((int *)data, 1, __ATOMIC_RELEASE); }
static void test_watch(void) {
    int rang = 0;
    PsWatch watch = {.act = ring, .data = &rang, .ns = 10000000000};
    ps_rt_watch(&watch);
    ps_rt_unwatch(&watch);
    CHECK_INT(rang, 0);
    watch.ns = 1000;
    ps_rt_watch(&watch);
    for (int i = 0; i < 5000 && !__atomic_load_n(&rang, __ATOMIC_ACQUIRE); i++) usleep(1000);
    ps_rt_unwatch(&watch);
    CHECK_INT(rang, 1);
}

int main(void) {
    RUN(test_fork_before_workers); /* first: no worker has run yet */
    RUN(test_thread_number);
    RUN(test_every_leaf_runs_once);
    RUN(test_many_launches);
    RUN(test_workers_help);
    RUN(test_lowest_fault_wins);
    RUN(test_domain_fault);
    RUN(test_partials);
    RUN(test_prints_are_ordered);
    RUN(test_print_without_memory);
    RUN(test_interrupt);
    RUN(test_floating_point_mode);
    RUN(test_several_launchers);
#if !defined(__SANITIZE_THREAD__) /* which allows no new threads in the child */
    RUN(test_fork);
#endif
    RUN(test_shutdown);
    RUN(test_symbols);
    RUN(test_watch);
    return unit_result();
}
