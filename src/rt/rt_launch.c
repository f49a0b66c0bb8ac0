/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_launch: what the threads of one launch tell each other and the launcher: faults, the interrupt, lack of memory.
 * The first fault in program order wins, whoever saw it first: lowest task, then lowest leaf, then the first within
 * the leaf (a leaf runs on one thread and stops there). Leaves below a faulted one still run, as they would have.
 */
#include "rt/rt_int.h"

const volatile int32_t ps_rt_never = 0;

bool rt_launch_stops(PsLaunch *launch) {
    if (PS_UNLIKELY(__atomic_load_n(launch->main.interrupt, __ATOMIC_RELAXED) != 0))
        __atomic_store_n(&launch->interrupted, true, __ATOMIC_RELAXED);
    return __atomic_load_n(&launch->interrupted, __ATOMIC_RELAXED) ||
           __atomic_load_n(&launch->out_of_memory, __ATOMIC_RELAXED);
}

int64_t rt_launch_fault_leaf(const PsLaunch *launch) {
    if (PS_LIKELY(!__atomic_load_n(&launch->fault.set, __ATOMIC_ACQUIRE))) return RT_NEVER;
    return __atomic_load_n(&launch->fault.leaf, __ATOMIC_RELAXED);
}

static bool is_before(const PsTaskState *ts, const PsFault *fault) {
    if (!fault->set) return true;
    return ts->task != fault->task ? ts->task < fault->task : ts->leaf < fault->leaf;
}

void ps_rt_fault(PsTaskState *ts, uint32_t site, uint32_t nvalues, const int64_t *values) {
    PsLaunch *launch = ts->frame->launch;
    PsFault *fault = &launch->fault;
    if (nvalues > PS_FAULT_VALUES) nvalues = PS_FAULT_VALUES;
    ps_rt_lock(&launch->lock);
    if (is_before(ts, fault)) {
        fault->site = site;
        fault->task = ts->task;
        fault->nvalues = nvalues;
        fault->calls.n = 0;
        for (uint32_t i = 0; i < PS_FAULT_VALUES; i++) fault->values[i] = i < nvalues ? values[i] : 0;
        __atomic_store_n(&fault->leaf, ts->leaf, __ATOMIC_RELAXED);
        __atomic_store_n(&fault->set, true, __ATOMIC_RELEASE);
    }
    ps_rt_unlock(&launch->lock);
    ts->fault = 1;
}

/* After an interrupt there is no fault, and another leaf's may have taken the place of this one's. */
void ps_rt_called(PsTaskState *ts, uint32_t site) {
    PsLaunch *launch = ts->frame->launch;
    PsFault *fault = &launch->fault;
    ps_rt_lock(&launch->lock);
    if (fault->set && fault->task == ts->task && fault->leaf == ts->leaf)
        ps_fault_add_call(&fault->calls, site);
    ps_rt_unlock(&launch->lock);
}

void ps_launch_end(PsLaunch *launch) {
    ps_free(launch->partials);
    launch->partials = NULL;
    launch->partials_cap = 0;
    if (launch->prints) ps_launch_take_prints(launch, NULL);
}
