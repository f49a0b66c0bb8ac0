/* SPDX-License-Identifier: Apache-2.0
 *
 * rt: what runs beside generated code: the thread pool and parallel-for, partials, faults, the print buffer, math.
 *
 * Lock order and thread rules stand above the pool (rt_pool.c). Several threads may launch at once: one gets the
 * pool's workers, the others run their loops alone. fork: the child starts with no workers and makes its own.
 * No Python here.
 */
#ifndef PS_RT_RT_H
#define PS_RT_RT_H

#include "abi/abi.h"
#include "base/base.h"
#include "layout/layout.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* rt_sync.c: the little synchronisation that other folders need; zero-initialised, never destroyed. */
typedef struct PsLock {
    uint32_t state; /* atomic; 0: free, 1: held, 2: held and somebody waits */
} PsLock;
void ps_rt_lock(PsLock *lock);
void ps_rt_unlock(PsLock *lock);
/* Sleeps while *word == value, at most `ns` (negative: as long as it takes). May return early: ask again. */
void ps_rt_wait(const uint32_t *word, uint32_t value, int64_t ns);
void ps_rt_wake(const uint32_t *word, int count); /* threads that wait on the word */
/* Functions to call around each fork of this process, in that order; false: no memory. */
bool ps_rt_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));
/* Runs act(data) on a thread of its own unless stopped within `ns`; for messages such as "still compiling".
 * The watch is the caller's and lives until stopped; ps_rt_unwatch waits for an act that runs. */
typedef struct PsWatch {
    void (*act)(void *data);
    void *data;
    int64_t ns;
    uint32_t stop, started;
    unsigned long thread;
} PsWatch;
void ps_rt_watch(PsWatch *watch);
void ps_rt_unwatch(PsWatch *watch);
/* Runs work(data) here if `need` bytes of the stack are left, else on a thread of its own with a large stack, and waits for
 * it. False: no such thread could be made, and nothing was run. */
bool ps_rt_with_stack(size_t need, void (*work)(void *data), void *data) PS_MUST_CHECK;

typedef struct PsFault {
    bool set;
    uint32_t site; /* of the object */
    int32_t task;
    int64_t leaf;
    int64_t values[PS_FAULT_VALUES];
    uint32_t nvalues;
    PsFaultCalls calls; /* sites */
} PsFault;

typedef struct PsPrints PsPrints;
#ifdef PS_HOSTILE
#define PS_RT_SMALL_PARTIALS 2
#else
#define PS_RT_SMALL_PARTIALS 32
#endif

/* One launch. Lives on the launcher's stack; init must cost a few stores, nothing more. Several threads write
 * fault, prints and the two flags at the end: those are read after the launch, or atomically. */
typedef struct PsLaunch {
    PsTaskState main;    /* main's own state */
    PsFault fault;       /* lowest (task, leaf) seen */
    PsPrints *prints;    /* NULL until something is printed; freed by ps_launch_end */
    uint64_t *partials;  /* scratch of the current reduction, when large; freed by ps_launch_end */
    size_t partials_cap; /* its words */
    int32_t threads;     /* most threads to use; 0: the pool's number */
    bool out_of_memory, interrupted;
    PsLock lock;                                   /* of fault and prints */
    uint64_t small_partials[PS_RT_SMALL_PARTIALS]; /* never initialised */
} PsLaunch;
/* rt_launch.c: what a launch polls that cannot be interrupted; a launcher may put another flag into main.interrupt. */
extern const volatile int32_t ps_rt_never;
static inline void ps_launch_begin(PsLaunch *launch, PsFrame *frame) {
    frame->launch = launch;
    launch->main = (PsTaskState){.frame = frame, .leaf = -1, .interrupt = &ps_rt_never};
    launch->fault.set = false;
    launch->prints = 0;
    launch->partials = 0;
    launch->partials_cap = 0;
    launch->threads = 0;
    launch->out_of_memory = launch->interrupted = false;
    launch->lock.state = 0;
}
void ps_launch_end(PsLaunch *launch); /* frees what the launch made; prints must have been taken first */
/* Printed text in order (task, leaf, order within the leaf), the same for any number of threads. NULL: dropped. */
void ps_launch_take_prints(PsLaunch *launch, PsBuf *out);
bool ps_launch_warned(const PsLaunch *launch, uint32_t site); /* before the prints are taken */

/* Generated code runs in the default floating-point mode (nearest even, denormals kept, no traps), whatever the
 * caller's thread is set to: mode = ps_rt_fp_enter(); main(frame); ps_rt_fp_leave(mode). Parallel loops do the same. */
static inline uint64_t ps_rt_fp_enter(void) {
#if defined(__x86_64__)
    uint32_t mode = _mm_getcsr();
    if (PS_UNLIKELY((mode & ~0x3fu) != 0x1f80)) _mm_setcsr(0x1f80); /* the low bits are sticky flags */
    return mode;
#elif defined(__aarch64__)
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    if (PS_UNLIKELY(mode != 0)) __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return mode;
#else
    return 0;
#endif
}
static inline void ps_rt_fp_leave(uint64_t mode) {
#if defined(__x86_64__)
    if (PS_UNLIKELY((mode & ~(uint64_t)0x3f) != 0x1f80)) _mm_setcsr((uint32_t)mode);
#elif defined(__aarch64__)
    if (PS_UNLIKELY(mode != 0)) __asm__ volatile("msr fpcr, %0" : : "r"(mode));
#endif
}

/* rt_pool.c */
#define PS_RT_MAX_THREADS 1024
#define PS_RT_MOST_ASKED  4096       /* more than this is taken for a mistake */
void ps_rt_set_threads(int threads); /* 0: as many as the affinity mask and cgroup quota allow */
int ps_rt_threads(void);             /* PESTLE_NUM_THREADS stands for a 0 */
/* The text of PESTLE_NUM_THREADS when it is set to what is no number of threads (it is then ignored), else NULL. */
const char *ps_rt_threads_refused(void);
void ps_rt_shutdown(void); /* joins the workers; the pool may start again */

/* Called by generated code (abi/rt_symbols.def). Return 0, or 1: stop (fault, interrupt, no memory). */
int32_t ps_rt_parallel_for(PsTaskState *ts, PsTaskFn task, PsParfor *parfor, uint32_t domain_site);
void ps_rt_fault(PsTaskState *ts, uint32_t site, uint32_t nvalues, const int64_t *values);
void ps_rt_called(PsTaskState *ts,
                  uint32_t site); /* a function returned with a fault: from where it was called */
void ps_rt_print(PsTaskState *ts, const char *format, const uint64_t *values);
void ps_rt_warn(PsTaskState *ts, uint32_t site); /* remembers the site */

/* rt_print.c: the format: text with \x01 + a letter for each value: the index of its scalar type as 'a' + PsKind
 * (so u1 is 'b'); %-free. Shared with the evaluator through this function. Integers in decimal, u1 as True/False,
 * floats as Python's repr of that precision (shortest that reads back the same). */
void ps_rt_format(PsBuf *out, const char *format, const uint64_t *values);

/* rt_symbols.c: the address of a name of rt_symbols.def, or NULL. */
void *ps_rt_symbol(const char *name);

#endif
