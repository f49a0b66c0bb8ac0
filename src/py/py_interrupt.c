/* SPDX-License-Identifier: Apache-2.0
 *
 * See py_interrupt.h. A signal handler can reach nothing but globals: the flag and the handler before ours are the two
 * of this folder. Launches of the main thread do not overlap, so there is one of each.
 */
#include "py/py_interrupt.h"

#include <sys/syscall.h>
#include <unistd.h>

static volatile int32_t interrupted;
static void (*volatile handler_before)(int);

static void on_interrupt(int number) {
    interrupted = 1;
    void (*before)(int) = handler_before;
    if (before) before(number);
}

volatile int32_t *py_interrupt_begin(PyInterrupt *interrupt) {
    interrupt->installed = false;
    if (syscall(SYS_gettid) != getpid()) return NULL;
    if (sigaction(SIGINT, NULL, &interrupt->old)) return NULL;
    /* Only before a plain handler such as Python's: SIG_IGN and SIG_DFL keep their meaning. */
    if (interrupt->old.sa_flags & SA_SIGINFO || interrupt->old.sa_handler == SIG_DFL ||
        interrupt->old.sa_handler == SIG_IGN)
        return NULL;
    interrupted = 0;
    handler_before = interrupt->old.sa_handler;
    struct sigaction ours = interrupt->old;
    ours.sa_handler = on_interrupt;
    interrupt->installed = sigaction(SIGINT, &ours, NULL) == 0;
    return interrupt->installed ? &interrupted : NULL;
}

void py_interrupt_end(PyInterrupt *interrupt) {
    if (!interrupt->installed) return;
    struct sigaction now;
    if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == on_interrupt)
        sigaction(SIGINT, &interrupt->old, NULL);
}
