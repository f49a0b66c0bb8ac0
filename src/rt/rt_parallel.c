/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_parallel: one parallel loop of a launch: cut its domain into leaves, give them partials, and run them, alone or
 * on the pool. Whether and how threads share the leaves depends on the estimated work, on the clock and on who else
 * is running; what a leaf computes and where it stores its partials depends on none of these.
 *
 * Generated code estimates the work of an iteration, and is wrong where loops depend on data. So a loop that looks
 * too small for the pool starts alone and is timed: when what is left turns out to be worth it, the rest is shared.
 * Not here: the pool itself (rt_pool.c), the cut (layout).
 */
#include "rt/rt_int.h"

/* Work (ns) from which sharing pays, measured with two threads: joining a spinning worker costs about half a
 * microsecond, a sleeping one comes some 30 us late and costs the caller 15. */
#ifdef PS_HOSTILE /* share everything */
#define WORTH_AWAKE_NS  0.0
#define WORTH_ASLEEP_NS 0.0
#else
#define WORTH_AWAKE_NS  2000.0
#define WORTH_ASLEEP_NS 60000.0
#endif
#define PIECE_NS 5000000.0 /* of estimated work between two looks at the interrupt */

/* False: the launch stopped, or faulted below lo. */
static bool run_piece(PsTaskState *ts, PsTaskFn task, const PsParfor *parfor, int64_t lo, int64_t hi) {
    const PsLaunch *launch = ts->frame->launch;
    if (PS_UNLIKELY(rt_launch_stops(ts->frame->launch))) return false;
    int64_t faulted = rt_launch_fault_leaf(launch);
    if (PS_UNLIKELY(lo >= faulted)) return false;
    ts->leaf = lo;
    task(ts, parfor, lo, hi < faulted ? hi : faulted);
    return true;
}

void rt_run_leaves(PsTaskState *ts, const RtJob *job, int64_t lo, int64_t hi) {
    for (int64_t end; lo < hi; lo = end) {
        end = hi - lo > job->piece ? lo + job->piece : hi;
        if (!run_piece(ts, job->task, job->parfor, lo, end)) return;
    }
}

static bool give_partials(PsLaunch *launch, PsParfor *parfor) {
    size_t words = (size_t)parfor->leaves * (size_t)parfor->npartials;
    if (words <= PS_RT_SMALL_PARTIALS) {
        parfor->partials = launch->small_partials;
        return true;
    }
    if (words > launch->partials_cap) {
        ps_free(launch->partials);
        launch->partials = ps_alloc(words * sizeof *launch->partials);
        launch->partials_cap = launch->partials ? words : 0;
    }
    parfor->partials = launch->partials;
    return launch->partials != NULL;
}

/* With atomics: this thread adds to the arrays, workers to copies of their own; or all lock. */
static void share_updates(const RtJob *job, PsTaskState *ts, int64_t from, int threads, bool wake) {
    const PsParfor *parfor = job->parfor;
    RtScatter scatter;
    RtJob updates = *job;
    double part = (double)(parfor->leaves - from) / (double)parfor->leaves;
    if (rt_scatter_plan(&scatter, parfor, job->frame, threads, part))
        updates.scatter = &scatter;
    else
        updates.shared = true;
    ts->shared = updates.shared;
    rt_pool_run(&updates, ts, from, threads, wake);
    ts->shared = 0;
    if (updates.scatter) rt_scatter_combine(&scatter, ts, threads);
}

/* Shares the leaves from `from` on if that pays for `work` ns of work; false: it does not, or the pool is taken. */
static bool share(const RtJob *job, PsTaskState *ts, int64_t from, int threads, double work) {
    if (work < (rt_pool_awake() > 0 ? WORTH_AWAKE_NS : WORTH_ASLEEP_NS)) return false;
    if (!rt_pool_try_own()) return false;
    if (job->parfor->updates)
        share_updates(job, ts, from, threads, work >= WORTH_ASLEEP_NS);
    else
        rt_pool_run(job, ts, from, threads, work >= WORTH_ASLEEP_NS);
    rt_pool_disown();
    return true;
}

/* The clock is looked at after the first leaf, then ever more rarely. */
static void run_alone(const RtJob *job, PsTaskState *ts, int threads) {
    const PsParfor *parfor = job->parfor;
    int64_t leaves = parfor->leaves, most = leaves / 64 + 1, look_at = threads > 1 ? 1 : RT_NEVER;
    int64_t begin = threads > 1 ? rt_clock_ns() : 0;
    for (int64_t done = 0, run = 1; done < leaves; run = most) {
        if (run > leaves - done) run = leaves - done;
        rt_run_leaves(ts, job, done, done + run);
        done += run;
        if (done < look_at || done == leaves) continue;
        look_at = 2 * done;
        double taken = (double)(rt_clock_ns() - begin);
        if (share(job, ts, done, threads, taken / (double)done * (double)(leaves - done))) return;
    }
}

static void run_leaves(PsTaskState *ts, PsTaskFn task, const PsParfor *parfor) {
    const PsLaunch *launch = ts->frame->launch;
    RtJob job = {.parfor = parfor, .task = task, .frame = ts->frame, .number = ts->task};
    int threads = ps_rt_threads();
    if (launch->threads > 0 && launch->threads < threads) threads = launch->threads;
    if (threads > parfor->leaves) threads = (int)parfor->leaves;
    if (parfor->updates < 0) threads = 1;
    double cost = parfor->cost > 0 ? (double)parfor->cost : 1000;
    double work = (double)parfor->rows * (double)parfor->row_len * cost / 1000;
    double piece = PIECE_NS * (double)parfor->leaves / work;
    job.piece = piece > 1 ? (piece < (double)parfor->leaves ? (int64_t)piece : parfor->leaves) : 1;
    if (threads < 2 || !share(&job, ts, 0, threads, work)) run_alone(&job, ts, threads);
}

/* A domain that indices can't count through is a fault of main's own, at the loop's site. */
static int32_t refuse_domain(PsTaskState *ts, const PsParfor *parfor, int32_t axis, uint32_t site) {
    if (axis < 0 || axis >= parfor->ndim) axis = 0;
    int64_t values[3] = {axis, parfor->lo[axis], parfor->hi[axis]};
    ps_rt_fault(ts, site, 3, values);
    return 1;
}

int32_t ps_rt_parallel_for(PsTaskState *ts, PsTaskFn task, PsParfor *parfor, uint32_t domain_site) {
    PsLaunch *launch = ts->frame->launch;
    int32_t axis = 0;
    if (PS_UNLIKELY(!ps_layout_cut(parfor, &axis))) return refuse_domain(ts, parfor, axis, domain_site);
    if (PS_UNLIKELY(parfor->npartials > 0 && parfor->leaves > 0 && !give_partials(launch, parfor))) {
        launch->out_of_memory = true;
        ts->fault = 1;
        return 1;
    }
    ts->task++; /* serial parts have even numbers, loops odd ones */
    uint64_t mode = ps_rt_fp_enter();
    if (parfor->leaves == 1)
        run_piece(ts, task, parfor, 0, 1);
    else if (parfor->leaves > 1)
        run_leaves(ts, task, parfor);
    ps_rt_fp_leave(mode);
    ts->leaf = -1;
    ts->task++;
    if (PS_LIKELY(rt_launch_fault_leaf(launch) == RT_NEVER && !rt_launch_stops(launch))) return 0;
    ts->fault = 1;
    return 1;
}
