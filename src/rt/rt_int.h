/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_int: what the files of rt share and nobody else needs.
 */
#ifndef PS_RT_RT_INT_H
#define PS_RT_RT_INT_H

#include "rt/rt.h"

#include <signal.h>

/* rt_cpus.c: how many threads can run at once here: affinity mask and cgroup quota; at least 1. */
int rt_count_cpus(void);
/* The least quota of the control groups that `file` names, in CPUs rounded up; INT32_MAX: none. Groups are mounted under
 * `root`. */
int rt_count_quota(const char *file, const char *root);

/* rt_scatter.c: copies of the arrays that a loop only adds to, one for each worker of the pool. */
typedef struct RtScatter {
    int n;
    struct {
        char *data;
        int64_t count, bytes; /* elements; in all */
        size_t at;            /* of a copy, in a worker's part of the memory */
        PsTouch how;
    } arrays[PS_MAX_SCATTERED];
    char *copies;
    size_t part;                       /* bytes of a worker */
    uint8_t joined[PS_RT_MAX_THREADS]; /* workers that have filled their copies */
} RtScatter;
/* Whether copies are possible, and pay for `part` of the loop. The owner of the pool only, as the next two. */
bool rt_scatter_plan(RtScatter *s, const PsParfor *parfor, const PsFrame *frame, int threads, double part);
void rt_scatter_combine(RtScatter *s, PsTaskState *ts, int threads); /* adds them to the arrays */
void rt_scatter_free(void);
void rt_scatter_join(RtScatter *s, PsTaskState *ts); /* a worker: from here on it adds to its copies */

/* rt_pool.c: one parallel loop at a time. The owner prepares `job`, publishes its leaves and works on them too. */
typedef struct RtJob {
    const PsParfor *parfor;
    PsTaskFn task;
    PsFrame *frame;
    int32_t number;     /* PsTaskState.task */
    int64_t piece;      /* leaves to run between two looks at the interrupt */
    bool shared;        /* PsTaskState.shared */
    RtScatter *scatter; /* NULL: no copies */
} RtJob;
bool rt_pool_try_own(void); /* false: another thread's loop has the workers */
void rt_pool_disown(void);
int rt_pool_awake(void); /* workers that would see new work at once */
/* Runs leaves [from, leaves) of the job on at most `threads` threads, this one (with its state `ts`) among them.
 * Sleeping workers are called only when `wake`. Owner only. */
void rt_pool_run(const RtJob *job, PsTaskState *ts, int64_t from, int threads, bool wake);

/* rt_parallel.c: runs [lo, hi) unless the launch stopped or faulted below lo. */
void rt_run_leaves(PsTaskState *ts, const RtJob *job, int64_t lo, int64_t hi);

/* rt_launch.c: whether the launch must stop: no memory, or the interrupt is set (noted in launch->interrupted). */
bool rt_launch_stops(PsLaunch *launch);
/* The lowest leaf of the running task that faulted, or INT64_MAX. */
int64_t rt_launch_fault_leaf(const PsLaunch *launch);

void rt_block_signals(
    sigset_t *old); /* rt_sync.c: of this thread and those it makes; *old: what to set again */

#define RT_NEVER INT64_MAX
int64_t rt_clock_ns(void);
static inline void rt_pause(void) {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

#endif
