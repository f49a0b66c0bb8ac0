/* SPDX-License-Identifier: Apache-2.0
 *
 * See py_interrupt.h. A signal handler can reach nothing but globals: the flag and the handlers before ours are the
 * ones of this folder. Only the main thread uses them, and its launches do not overlap.
 */
#include "py/py_interrupt.h"

#include "rt/rt.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int32_t interrupted;
static void (*volatile handler_before)(int); /* the newest; handler_first: Python's, most likely */
static void (*volatile handler_first)(int);

/* Another library may have put its handler before ours as we put ours before its: then ours is called again. */
static void on_interrupt(int number) {
    static int depth; /* atomic: two threads may be in here */
    int saved = errno, outer = __atomic_fetch_add(&depth, 1, __ATOMIC_RELAXED);
    void (*before)(int) = outer ? handler_first : handler_before;
    if (before && outer < 2) before(number);
    __atomic_fetch_sub(&depth, 1, __ATOMIC_RELAXED);
    /* Last: who sees it asks Python, perhaps on another thread, and must find the signal there. */
    __atomic_store_n(&interrupted, 1, __ATOMIC_RELEASE);
    errno = saved;
}

/* Asked once a thread; again after a fork, whose child begins with its main thread, whichever that was. */
static _Thread_local int8_t known_main; /* 0: not asked, 1: yes, -1: no */
static void forget(void) { known_main = 0; }
static bool in_main_thread(void) {
    static bool hooked; /* under the GIL */
    if (known_main) return known_main > 0;
    if (!hooked) hooked = ps_rt_on_fork(NULL, NULL, forget);
    known_main = syscall(SYS_gettid) == getpid() ? 1 : -1;
    return known_main > 0;
}

/* Puts our handler before the one that stands; false: there is none to stand before. */
static bool install(void) {
    struct sigaction now;
    if (sigaction(SIGINT, NULL, &now)) return false;
    /* Only before a plain handler such as Python's: SIG_IGN and SIG_DFL keep their meaning. */
    if (now.sa_flags & SA_SIGINFO || now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) return false;
    if (now.sa_handler == on_interrupt) return true;
    handler_before = now.sa_handler;
    if (!handler_first) handler_first = now.sa_handler;
    now.sa_handler = on_interrupt;
    return sigaction(SIGINT, &now, NULL) == 0;
}

/* A handler that was replaced is noticed after some milliseconds: asking takes longer than a short launch. */
volatile int32_t *py_interrupt_flag(void) {
    static struct timespec asked;
    static bool installed;
    struct timespec now;
    if (!in_main_thread()) return NULL;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (now.tv_sec != asked.tv_sec || now.tv_nsec != asked.tv_nsec) {
        asked = now;
        installed = install();
    }
    __atomic_store_n(&interrupted, 0, __ATOMIC_RELAXED);
    return installed ? &interrupted : NULL;
}
