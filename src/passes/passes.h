/* SPDX-License-Identifier: Apache-2.0
 *
 * passes: IR -> IR. One pass a file: pass_fold.c, entry ps_pass_fold, dump flag `fold`, tests tests/passes/fold/.
 * passes.def lists them in the order of the pipeline, with one line of description each.
 *
 * A pass takes a module that verifies and leaves one that verifies, with the same meaning. It never fails on a
 * valid module except for lack of memory (asked once, of the arena, by the runner) and, where it adds loops, for control
 * that is nested to the limit.
 */
#ifndef PS_PASSES_PASSES_H
#define PS_PASSES_PASSES_H

#include "ir/ir.h"

typedef PsStatus (*PsPassFn)(PsModule *m, PsDiag *diag);

typedef struct PsPassInfo {
    const char *name, *doc;
    PsPassFn run;
    bool checked_only; /* skipped unless module->checked */
} PsPassInfo;
extern const PsPassInfo ps_passes[];
extern const int ps_npasses;

/* Called after each pass, e.g. to dump or to time it. */
typedef void (*PsPassHook)(void *data, const char *pass, const PsModule *m);
/* passes_run.c: the whole pipeline, or the named passes "fold,dce". Verifies after every pass when `verify`. */
PsStatus ps_passes_run(PsModule *m, const char *names /* NULL: all */, bool verify, PsPassHook hook, void *data,
                       PsDiag *diag) PS_MUST_CHECK;

/* passes_range.c: analysis: the signed range an integer value can take, from constants, dims, loop bounds. */
typedef struct PsRange {
    int64_t lo, hi;
} PsRange;
PsRange ps_range_of(const PsFunc *f, PsRef value);

#endif
