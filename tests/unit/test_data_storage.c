/* SPDX-License-Identifier: Apache-2.0
 *
 * Storage of arrays: aligned, zeroed, writable to its end, counted.
 */
#include "unit.h"

#include "data/data.h"

static void test_sizes(void) {
    static const size_t sizes[] = {
        0, 1, 63, 64, 65, 4096, 1 << 20, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, (6 << 20) + 12345};
    for (size_t i = 0; i < PS_COUNT(sizes); i++) {
        PsStorage *storage = ps_storage_new(sizes[i]);
        REQUIRE(storage != NULL);
        CHECK_INT(storage->size, sizes[i]);
        CHECK_INT((uintptr_t)storage->data % 64, 0);
        size_t nonzero = 0;
        for (size_t k = 0; k < sizes[i]; k += k < 5000 ? 1 : 4093) nonzero += storage->data[k] != 0;
        CHECK_INT(nonzero, 0);
        memset(storage->data, 0x5a, sizes[i]);
        ps_storage_retain(storage);
        ps_storage_release(storage);
        if (sizes[i]) CHECK_INT(storage->data[sizes[i] - 1], 0x5a);
        ps_storage_release(storage);
    }
    ps_storage_release(NULL);
}

static void test_too_large(void) {
    CHECK_PTR(ps_storage_new(SIZE_MAX), NULL);
    CHECK_PTR(ps_storage_new(SIZE_MAX / 5), NULL);
    for (int large = 0; large < 2; large++) {
        ps_alloc_fail_after(0);
        CHECK_PTR(ps_storage_new(large ? 8 << 20 : 100), NULL);
        ps_alloc_fail_after(-1);
    }
}

int main(void) {
    RUN(test_sizes);
    RUN(test_too_large);
    return unit_result();
}
