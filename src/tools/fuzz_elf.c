/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_elf: libFuzzer on the loader: bytes that claim to be a relocatable object. Nothing of it is run. Built and run by
 * tools/fuzz.sh.
 */
#include "load/load.h"
#include "rt/rt.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load(const uint8_t *data, size_t size) {
    const char *error = NULL;
    PsLoadedCode *code = ps_load_elf(data, size, ps_rt_symbol, "fuzz", &error);
    if (!code && !error) abort();
    if (code) (void)ps_load_symbol(code, "ps_main");
    ps_load_free(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    load(data, size);
    ps_alloc_fail_after(size ? data[size / 2] % 5 : 0);
    load(data, size);
    ps_alloc_fail_after(-1);
    return 0;
}
