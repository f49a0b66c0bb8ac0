/* SPDX-License-Identifier: Apache-2.0
 *
 * base_alloc: the one place that calls malloc, so that a test can let any single allocation fail and see whether
 * its caller survives. Not here: pools, statistics, alignment beyond malloc's.
 */
#include "base/base.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Allocations that still succeed before one fails; negative: none will. The only mutable global of base. */
static atomic_long fail_countdown = -1;

void ps_alloc_fail_after(long n) { atomic_store(&fail_countdown, n); }

long ps_alloc_fails_after(void) { return atomic_load(&fail_countdown); }

static bool must_fail(void) {
    if (PS_LIKELY(atomic_load_explicit(&fail_countdown, memory_order_relaxed) < 0)) return false;
    return atomic_fetch_sub(&fail_countdown, 1) == 0;
}

void *ps_alloc(size_t size) {
    if (must_fail()) return NULL;
    return calloc(1, size ? size : 1);
}

void *ps_realloc(void *old, size_t size) {
    if (must_fail()) return NULL;
    return realloc(old, size ? size : 1);
}

void ps_free(void *memory) { free(memory); }
