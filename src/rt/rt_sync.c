/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_sync: a lock, waiting on a word, fork hooks, a watch, a large stack. On futexes, because all of it must be plain memory: a lock
 * is usable from its zero bytes on and can be reset in the child of a fork. Not here: the pool's own waiting, which
 * spins first.
 */
#include "rt/rt_int.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int64_t rt_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void ps_rt_wait(const uint32_t *word, uint32_t value, int64_t ns) {
    struct timespec limit = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, ns < 0 ? NULL : &limit, NULL, 0);
    errno = saved;
}

void ps_rt_wake(const uint32_t *word, int count) {
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
    errno = saved;
}

void ps_rt_lock(PsLock *lock) {
    uint32_t free = 0;
    if (__atomic_compare_exchange_n(&lock->state, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    while (__atomic_exchange_n(&lock->state, 2, __ATOMIC_ACQUIRE) != 0) ps_rt_wait(&lock->state, 2, -1);
}

void ps_rt_unlock(PsLock *lock) {
    if (__atomic_exchange_n(&lock->state, 0, __ATOMIC_RELEASE) == 2) ps_rt_wake(&lock->state, 1);
}

bool ps_rt_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
    return pthread_atfork(before, in_parent, in_child) == 0;
}

/* For threads of ours: Python's signal handlers belong to its own. Faults of a thread itself can't be blocked, and a
 * debugging handler (faulthandler) wants to see them. */
void rt_block_signals(sigset_t *old) {
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < PS_COUNT(own); i++) sigdelset(&set, own[i]);
    pthread_sigmask(SIG_SETMASK, &set, old);
}

static void *watch_main(void *at) {
    PsWatch *watch = at;
    int64_t end = rt_clock_ns() + watch->ns;
    for (;;) {
        if (__atomic_load_n(&watch->stop, __ATOMIC_ACQUIRE)) return NULL;
        int64_t left = end - rt_clock_ns();
        if (left <= 0) break;
        ps_rt_wait(&watch->stop, 0, left);
    }
    watch->act(watch->data);
    return NULL;
}

/* No thread, no message: a watch is a courtesy. */
void ps_rt_watch(PsWatch *watch) {
    sigset_t old;
    pthread_t thread;
    watch->stop = watch->started = 0;
    rt_block_signals(&old);
    if (pthread_create(&thread, NULL, watch_main, watch) == 0) {
        watch->thread = thread;
        watch->started = 1;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void ps_rt_unwatch(PsWatch *watch) {
    if (!watch->started) return;
    __atomic_store_n(&watch->stop, 1, __ATOMIC_RELEASE);
    ps_rt_wake(&watch->stop, INT_MAX);
    pthread_join(watch->thread, NULL);
    watch->started = 0;
}

/* -- a large stack -- */

#define LARGE_STACK ((size_t)16 << 20)

typedef struct Errand {
    void (*work)(void *data);
    void *data;
} Errand;

static void *errand_main(void *at) {
    const Errand *errand = at;
    (void)ps_rt_fp_enter();
    errand->work(errand->data);
    return NULL;
}

bool ps_rt_with_stack(size_t need, void (*work)(void *data), void *data) {
    Errand errand = {work, data};
    pthread_attr_t attr;
    sigset_t old;
    pthread_t thread;
    if (ps_stack_left() >= need) {
        work(data);
        return true;
    }
    if (pthread_attr_init(&attr) != 0) return false;
    rt_block_signals(&old);
    bool made = pthread_attr_setstacksize(&attr, LARGE_STACK) == 0 &&
                pthread_create(&thread, &attr, errand_main, &errand) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (made) pthread_join(thread, NULL);
    return made;
}
