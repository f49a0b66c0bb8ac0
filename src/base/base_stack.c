/* SPDX-License-Identifier: Apache-2.0
 *
 * base_stack: how much of this thread's stack is left, for what recurses. Threads may have little (Python's
 * threading.stack_size takes 32 KiB), and a stack that overflows ends the process.
 */
#include "base/base.h"

#include <pthread.h>

#define UNKNOWN ((uintptr_t)1) /* the system doesn't say: taken for enough */

/* The lowest address of this thread's stack, asked once: for the main thread the answer is in a file. */
static uintptr_t lowest(void) {
    static _Thread_local uintptr_t known;
    pthread_attr_t attr;
    void *start;
    size_t size, guard;
    if (known) return known;
    known = UNKNOWN;
    if (pthread_getattr_np(pthread_self(), &attr) != 0) return known;
    if (pthread_attr_getstack(&attr, &start, &size) == 0 && pthread_attr_getguardsize(&attr, &guard) == 0)
        known = (uintptr_t)start + guard;
    pthread_attr_destroy(&attr);
    return known;
}

size_t ps_stack_left(void) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), low = lowest();
    if (low == UNKNOWN) return SIZE_MAX;
    return here > low ? here - low
                      : SIZE_MAX; /* another stack altogether, of a coroutine: nothing is known of it */
}
