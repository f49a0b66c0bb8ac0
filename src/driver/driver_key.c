/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_key: the key of a compiled kernel: a hash of everything that decides its bytes. The module's text holds the
 * program with its line numbers, which are relative to the function, so moving a function does not change its key.
 */
#include "driver/driver_int.h"

#include <stdio.h>
#include <string.h>

#ifndef PS_BUILD_ID
#include "build_id.h"
#endif

PsStatus driver_key(const PsModule *m, int opt_level, const DriverCpu *cpu, PsHash *out) {
    char options[256];
    PsSha256 sha;
    PsBuf text = {0};
    ps_ir_print(m, true, &text);
    int len = snprintf(options, sizeof options, "pestle %s abi %d opt %d checked %d bits %d features ",
                       PS_BUILD_ID, PS_ABI_VERSION, opt_level, m->checked, cpu->vector_bits);
    if (text.failed || len < 0 || len >= (int)sizeof options) {
        ps_buf_free(&text);
        return PS_NOMEM;
    }
    ps_sha256_init(&sha);
    ps_sha256_add(&sha, options, (size_t)len);
    ps_sha256_add(&sha, cpu->features, strlen(cpu->features) + 1);
    ps_sha256_add(&sha, text.data, text.len);
    *out = ps_sha256_end(&sha);
    ps_buf_free(&text);
    return PS_OK;
}
