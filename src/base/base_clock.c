/* SPDX-License-Identifier: Apache-2.0
 *
 * base_clock: the processor's counter, as generated code reads it (LLVM's readcyclecounter).
 */
#include "base/base.h"

#include <time.h>

int64_t ps_clock_ticks(void) {
#if defined(__x86_64__)
    return (int64_t)__builtin_ia32_rdtsc();
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
#endif
}
