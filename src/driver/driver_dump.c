/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_dump: what the driver prints to stderr when asked: PESTLE_DUMP=fold,asm the module after passes or what LLVM
 * makes of it, PESTLE_TIME=1 a line of times for each kernel. Dumps of the IR are valid input of ps-opt.
 */
#include "driver/driver_int.h"

#include "passes/passes.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

uint64_t driver_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const char *driver_kernel_name(const PsModule *m) {
    const char *name = m->sources.len > 1 ? m->sources.data[1].name : NULL;
    return name ? name : "kernel";
}

/* Whether the comma-separated list has the name, or "all". */
bool driver_dumps(const char *list, const char *name) {
    while (list && *list) {
        size_t len = strcspn(list, ",");
        if ((len == strlen(name) && memcmp(list, name, len) == 0) || (len == 3 && memcmp(list, "all", 3) == 0))
            return true;
        list += len;
        if (*list) list++;
    }
    return false;
}

static bool is_stage(const char *name, size_t len) {
    static const char *const stages[] = {"front", "llvm", "asm", "all", ""};
    for (size_t i = 0; i < PS_COUNT(stages); i++)
        if (strlen(stages[i]) == len && memcmp(stages[i], name, len) == 0) return true;
    for (int i = 0; i < ps_npasses; i++)
        if (strlen(ps_passes[i].name) == len && memcmp(ps_passes[i].name, name, len) == 0) return true;
    return false;
}

PsStatus driver_dump_check(const char *list, PsDiag *diag) {
    while (list && *list) {
        size_t len = strcspn(list, ",");
        if (!is_stage(list, len))
            return ps_diag_fail(diag, (PsSpan){0}, PS_MSG_DRIVER_DUMP, len < 64 ? (int)len : 64, list);
        list += len;
        if (*list) list++;
    }
    return PS_OK;
}

/* One call, so that the dumps of two threads do not mix. */
static void write_dump(const char *stage, const PsBuf *text) {
    PsBuf out = {0};
    ps_buf_printf(&out, "# after %s\n", stage);
    if (text->data) ps_buf_add(&out, text->data, text->len);
    if (!out.failed) fwrite(out.data, 1, out.len, stderr);
    ps_buf_free(&out);
}

void driver_dump_module(const char *list, const char *stage, const PsModule *m) {
    if (!driver_dumps(list, stage)) return;
    PsBuf text = {0};
    ps_ir_print(m, true, &text);
    write_dump(stage, &text);
    ps_buf_free(&text);
}

void driver_dump_text(const char *list, const char *stage, const PsBuf *text) {
    if (driver_dumps(list, stage)) write_dump(stage, text);
}

void driver_show_times(const char *kernel, const PsDriverTimes *t) {
    const struct {
        const char *name;
        uint64_t ns;
    } stages[] = {{"key", t->key},         {"lookup", t->lookup}, {"passes", t->passes}, {"llvm", t->llvm_open},
                  {"codegen", t->codegen}, {"store", t->store},   {"load", t->load}};
    PsBuf out = {0};
    const char *from = t->from_process ? "in memory" : t->from_store ? "from the cache" : "compiled";
    ps_buf_printf(&out, "pestle: %s %s:", kernel, from);
    for (size_t i = 0; i < PS_COUNT(stages); i++)
        if (stages[i].ns) ps_buf_printf(&out, " %s %.3f", stages[i].name, (double)stages[i].ns / 1e6);
    ps_buf_text(&out, " ms\n");
    if (!out.failed) fwrite(out.data, 1, out.len, stderr);
    ps_buf_free(&out);
}
