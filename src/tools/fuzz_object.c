/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_object: libFuzzer on files of the cache: the container as it is, and with a checksum that fits, so that what lies
 * behind the checksum is reached too: head, sites, the ELF and its loading. Nothing is run. Built and run by tools/fuzz.sh.
 */
#include "launch/launch.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink; /* so that reads are not optimised away */

static void use(PsObject *object) {
    const char *error = NULL;
    for (uint32_t i = 0; i < object->nsites; i++) sink += object->sites[i].kind + object->sites[i].span.end_col;
    if (object->param_words + object->result_words > object->frame_words) abort();
    PsLoadedCode *code = ps_load_elf(object->elf, object->elf_size, ps_rt_symbol, "fuzz", &error);
    PsExecutable *exe = code ? ps_executable_new(code, object) : NULL;
    if (exe) {
        ps_executable_release(exe);
        return;
    }
    ps_load_free(code);
    ps_object_free(object);
}

static void read(const uint8_t *data, size_t size, bool fits) {
    PsObject object;
    char *bytes = ps_alloc(size + 8);
    if (!bytes) return;
    memcpy(bytes, data, size);
    if (fits) {
        size = size / 8 * 8;
        uint64_t sum = ps_object_checksum(bytes, size);
        memcpy(bytes + size, &sum, sizeof sum);
        size += sizeof sum;
    }
    if (ps_object_read(bytes, size, &object))
        use(&object);
    else
        ps_free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read(data, size, false);
    read(data, size, true);
    return 0;
}
