/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_pool: the worker threads, and how they share the leaves of one parallel loop.
 *
 *     ticket (64 bits)   | turn:16 | limit:16 | total:16 | next:16 |
 *
 * A loop is published by one store of the ticket. Whoever moves `next` on by compare-and-swap owns the leaves it
 * passed over: workers with an index below `limit`, and the owner of the pool, who published it. Only after such a
 * claim is `job` read, and the owner can't return before every claimed leaf is counted in `done`, so the job stays
 * valid for whoever holds a claim. A stale ticket does no harm: if the swap succeeds, the ticket is the present one.
 *
 * A worker without work spins for a while, then sleeps. Waking one costs the caller some 15 us on a virtual machine,
 * so the owner does it only for loops that are worth it (rt_parallel.c decides); spinning workers join by themselves.
 * To sleep, a worker counts itself in `sleepers` and then looks at the ticket once more; the owner stores the ticket
 * and then looks at `sleepers`. One of them sees the other (both are sequentially consistent).
 *
 * Locks: none while a loop runs. `owned` is taken without waiting by loops, and with waiting by set-up calls
 * (shutdown); it guards job, done, started and threads[]. fork: the child has no workers and starts over.
 */
#include "rt/rt_int.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SPIN_NS          100000 /* before a thread without work sleeps */
#define SPIN_CROWDED_NS  4000   /* the same when there are more threads than CPUs */
#define STACK_BYTES      ((size_t)8 << 20)
#define PAUSES_PER_CLOCK 32

static struct Pool {
    _Alignas(64) _Atomic uint64_t ticket;
    _Alignas(64) _Atomic uint32_t done; /* leaves that workers finished */
    _Atomic uint32_t owner_sleeps;      /* on `done` */
    _Alignas(64) _Atomic uint32_t wake; /* what sleeping workers wait on */
    _Atomic uint32_t sleepers;
    _Atomic bool stop;
    _Atomic int64_t spin_ns;
    _Alignas(64) _Atomic uint32_t owned;
    _Atomic int target;  /* threads with the caller; 0: not asked yet */
    _Atomic int started; /* workers */
    RtJob job;
    pthread_t threads[PS_RT_MAX_THREADS];
} pool;
static pthread_once_t pool_once = PTHREAD_ONCE_INIT;

/* The child of a fork: no workers, nobody owns anything. The number asked for stays. */
static void forget_workers(void) {
    atomic_store(&pool.ticket, 0);
    atomic_store(&pool.done, 0);
    atomic_store(&pool.owner_sleeps, 0);
    atomic_store(&pool.sleepers, 0);
    atomic_store(&pool.stop, false);
    atomic_store(&pool.started, 0);
    atomic_store(&pool.owned, 0);
}

static void hook_fork(void) { (void)ps_rt_on_fork(NULL, NULL, forget_workers); }

/* -- the ticket -- */

static uint32_t ticket_next(uint64_t t) { return t & 0xffff; }
static uint32_t ticket_total(uint64_t t) { return t >> 16 & 0xffff; }
static uint32_t ticket_limit(uint64_t t) { return t >> 32 & 0xffff; }
static bool has_work(uint64_t t, uint32_t index) {
    return ticket_next(t) < ticket_total(t) && index < ticket_limit(t);
}

static uint64_t make_ticket(uint64_t old, uint32_t limit, uint32_t total, uint32_t next) {
    uint64_t turn = (old >> 48) + 1;
    return turn << 48 | (uint64_t)limit << 32 | (uint64_t)total << 16 | next;
}

/* Long runs first, single leaves at the end. */
static uint32_t run_length(uint32_t left, uint32_t total, uint32_t limit) {
    uint32_t run = left / (4 * limit), most = total / 64;
    if (run > most) run = most;
    return run ? run : 1;
}

static bool claim(uint32_t index, int64_t *lo, int64_t *hi) {
    uint64_t t = atomic_load_explicit(&pool.ticket, memory_order_relaxed);
    while (has_work(t, index)) {
        uint32_t next = ticket_next(t), total = ticket_total(t);
        uint32_t run = run_length(total - next, total, ticket_limit(t));
        if (atomic_compare_exchange_weak_explicit(&pool.ticket, &t, t + run, memory_order_acq_rel,
                                                  memory_order_relaxed)) {
            *lo = next;
            *hi = next + run;
            return true;
        }
    }
    return false;
}

/* -- workers -- */

static void wake_workers(int count) {
    if (atomic_load(&pool.sleepers) == 0) return;
    atomic_fetch_add(&pool.wake, 1);
    ps_rt_wake((uint32_t *)&pool.wake, count);
}

/* Takes part in the published loop; true if there was anything to do. */
static bool work(uint32_t index) {
    int64_t lo, hi;
    if (!claim(index, &lo, &hi)) return false;
    RtJob job = pool.job;
    PsTaskState ts = {.frame = job.frame,
                      .leaf = -1,
                      .task = job.number,
                      .thread = (int32_t)index,
                      .shared = job.shared,
                      .interrupt = job.frame->launch->main.interrupt};
    uint32_t finished = 0;
    if (job.scatter) rt_scatter_join(job.scatter, &ts);
    do {
        rt_run_leaves(&ts, &job, lo, hi);
        finished += (uint32_t)(hi - lo);
    } while (claim(index, &lo, &hi));
    atomic_fetch_add(&pool.done, finished); /* from here on the job may be gone */
    if (atomic_load(&pool.owner_sleeps)) ps_rt_wake((uint32_t *)&pool.done, 1);
    return true;
}

/* Until there is work, the pool stops, or the time is over. */
static void spin_for_work(uint32_t index) {
    int64_t end = 0, spin = atomic_load_explicit(&pool.spin_ns, memory_order_relaxed);
    for (;;) {
        for (int i = 0; i < PAUSES_PER_CLOCK; i++) {
            uint64_t t = atomic_load_explicit(&pool.ticket, memory_order_relaxed);
            if (has_work(t, index) || atomic_load_explicit(&pool.stop, memory_order_relaxed)) return;
            rt_pause();
        }
        int64_t now = rt_clock_ns();
        if (!end) end = now + spin;
        if (now >= end) return;
    }
}

/* Sleeps unless there is work. Who was woken for work wakes two more: the owner need not wake everybody itself. */
static void sleep_for_work(uint32_t index) {
    uint32_t seen = atomic_load(&pool.wake);
    atomic_fetch_add(&pool.sleepers, 1);
    if (!has_work(atomic_load(&pool.ticket), index) && !atomic_load(&pool.stop))
        ps_rt_wait((uint32_t *)&pool.wake, seen, -1);
    atomic_fetch_sub(&pool.sleepers, 1);
    if (has_work(atomic_load(&pool.ticket), index)) wake_workers(2);
}

static void *worker_main(void *at) {
    uint32_t index = (uint32_t)(uintptr_t)at;
    (void)ps_rt_fp_enter(); /* new threads inherit their maker's mode */
    while (!atomic_load_explicit(&pool.stop, memory_order_acquire)) {
        if (work(index)) continue;
        spin_for_work(index);
        if (!has_work(atomic_load(&pool.ticket), index)) sleep_for_work(index);
    }
    return NULL;
}

/* So that `threads` threads can work, if the system allows them. Owner only. */
static void start_workers(int threads) {
    int started = atomic_load_explicit(&pool.started, memory_order_relaxed);
    if (started + 1 >= threads) return;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0) return;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigset_t old;
    rt_block_signals(&old);
    for (; started + 1 < threads; started++) {
        char name[32]; /* the kernel takes 15 bytes */
        void *index = (void *)(uintptr_t)(started + 1);
        if (pthread_create(&pool.threads[started], &attr, worker_main, index) != 0) break;
        snprintf(name, sizeof name, "pestle-%d", started + 1);
        pthread_setname_np(pool.threads[started], name);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    atomic_store_explicit(&pool.started, started, memory_order_relaxed);
}

/* -- the owner -- */

bool rt_pool_try_own(void) {
    uint32_t nobody = 0;
    if (atomic_load_explicit(&pool.owned, memory_order_relaxed)) return false;
    return atomic_compare_exchange_strong_explicit(&pool.owned, &nobody, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

void rt_pool_disown(void) { atomic_store_explicit(&pool.owned, 0, memory_order_release); }

int rt_pool_awake(void) {
    int started = atomic_load_explicit(&pool.started, memory_order_relaxed);
    return started - (int)atomic_load_explicit(&pool.sleepers, memory_order_relaxed);
}

/* Until the workers have finished `count` leaves. */
static void wait_for_workers(uint32_t count) {
    int64_t end = 0, spin = atomic_load_explicit(&pool.spin_ns, memory_order_relaxed);
    for (;;) {
        for (int i = 0; i < PAUSES_PER_CLOCK; i++) {
            if (atomic_load_explicit(&pool.done, memory_order_acquire) == count) return;
            rt_pause();
        }
        int64_t now = rt_clock_ns();
        if (!end) end = now + spin;
        if (now >= end) break;
    }
    atomic_store(&pool.owner_sleeps, 1);
    for (;;) {
        uint32_t done = atomic_load(&pool.done);
        if (done == count) break;
        ps_rt_wait((uint32_t *)&pool.done, done, -1);
    }
    atomic_store(&pool.owner_sleeps, 0);
}

void rt_pool_run(const RtJob *job, PsTaskState *ts, int64_t from, int threads, bool wake) {
    uint32_t total = (uint32_t)job->parfor->leaves, own = 0;
    start_workers(threads);
    pool.job = *job;
    atomic_store_explicit(&pool.done, 0, memory_order_relaxed);
    uint64_t old = atomic_load_explicit(&pool.ticket, memory_order_relaxed);
    atomic_store(&pool.ticket, make_ticket(old, (uint32_t)threads, total, (uint32_t)from));
    /* With fewer threads than workers any sleeper may be one that may not take part: then wake them all. */
    if (wake) wake_workers(threads <= atomic_load(&pool.started) ? INT_MAX : 1);
    int64_t lo, hi;
    while (claim(0, &lo, &hi)) {
        rt_run_leaves(ts, job, lo, hi);
        own += (uint32_t)(hi - lo);
    }
    wait_for_workers(total - (uint32_t)from - own);
}

/* -- settings -- */

static int clamp_threads(long threads) {
    if (threads < 1) return 1;
    return threads > PS_RT_MAX_THREADS ? PS_RT_MAX_THREADS : (int)threads;
}

/* The number that PESTLE_NUM_THREADS holds; 0 when it holds none. *refused: what it holds instead, or NULL. */
static long asked_threads(const char **refused) {
    const char *text = getenv("PESTLE_NUM_THREADS");
    char *end;
    *refused = NULL;
    if (!text || !*text) return 0;
    long asked = strtol(text, &end, 10);
    if (asked >= 0 && asked <= PS_RT_MOST_ASKED && end > text && *end == 0) return asked;
    *refused = text;
    return 0;
}

const char *ps_rt_threads_refused(void) {
    const char *refused;
    (void)asked_threads(&refused);
    return refused;
}

void ps_rt_set_threads(int threads) {
    const char *refused;
    pthread_once(&pool_once, hook_fork); /* each loop asks for the number first: before anybody owns the pool */
    int cpus = rt_count_cpus();
    long asked = threads > 0 ? threads : asked_threads(&refused);
    threads = clamp_threads(asked ? asked : cpus);
    atomic_store(&pool.spin_ns, threads > cpus ? SPIN_CROWDED_NS : SPIN_NS);
    atomic_store(&pool.target, threads);
}

int ps_rt_threads(void) {
    int threads = atomic_load_explicit(&pool.target, memory_order_relaxed);
    if (PS_LIKELY(threads)) return threads;
    ps_rt_set_threads(0); /* two threads at once may do this, with one result */
    return atomic_load(&pool.target);
}

void ps_rt_shutdown(void) {
    while (!rt_pool_try_own()) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    int started = atomic_load(&pool.started);
    atomic_store(&pool.stop, true);
    atomic_fetch_add(&pool.wake, 1);
    ps_rt_wake((uint32_t *)&pool.wake, INT_MAX);
    for (int i = 0; i < started; i++) pthread_join(pool.threads[i], NULL);
    atomic_store(&pool.started, 0);
    atomic_store(&pool.stop, false);
    rt_scatter_free();
    rt_pool_disown();
}
