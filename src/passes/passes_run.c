/* SPDX-License-Identifier: Apache-2.0
 *
 * passes_run: the list of passes (passes.def) and the runner: all of them, or those named, in order.
 */
#include <string.h>

#include "passes/passes_int.h"

const PsPassInfo ps_passes[] = {
#define PS_PASS(name, checked_only, doc) {#name, doc, ps_pass_##name, checked_only},
#include "passes/passes.def"
};
const int ps_npasses = (int)PS_COUNT(ps_passes);

static const PsSpan no_span;

static PsStatus run_one(const PsPassInfo *pass, PsModule *m, bool verify, PsPassHook hook, void *data,
                        PsDiag *diag) {
    if (pass->checked_only && !m->checked) return PS_OK;
    PsStatus status = pass->run(m, diag);
    if (ps_arena_failed(m->arena)) return PS_NOMEM;
    if (status == PS_OK && verify) status = ps_ir_verify(m, pass->name, diag);
    if (status == PS_OK && hook) hook(data, pass->name, m);
    return status;
}

static const PsPassInfo *find(const char *name, size_t len) {
    for (int i = 0; i < ps_npasses; i++)
        if (strlen(ps_passes[i].name) == len && memcmp(ps_passes[i].name, name, len) == 0) return &ps_passes[i];
    return NULL;
}

static PsStatus run_named(PsModule *m, const char *names, bool verify, PsPassHook hook, void *data,
                          PsDiag *diag) {
    for (const char *at = names; *at;) {
        size_t len = strcspn(at, ",");
        const PsPassInfo *pass = find(at, len);
        if (!pass) return ps_diag_fail(diag, no_span, PS_MSG_PASSES_UNKNOWN, len < 64 ? (int)len : 64, at);
        PsStatus status = run_one(pass, m, verify, hook, data, diag);
        if (status != PS_OK) return status;
        at += len;
        if (*at == ',') at++;
    }
    return PS_OK;
}

PsStatus ps_passes_run(PsModule *m, const char *names, bool verify, PsPassHook hook, void *data, PsDiag *diag) {
    if (ps_arena_failed(m->arena)) return PS_NOMEM;
    if (names) return run_named(m, names, verify, hook, data, diag);
    for (int i = 0; i < ps_npasses; i++) {
        PsStatus status = run_one(&ps_passes[i], m, verify, hook, data, diag);
        if (status != PS_OK) return status;
    }
    return PS_OK;
}
