/* SPDX-License-Identifier: Apache-2.0
 *
 * launch: loaded code + arguments in a frame -> run. Shared by Python, ahead-of-time code and C. Python's own part
 * (decoding objects into words) is in py; the budget is in docs/launch.md.
 */
#ifndef PS_LAUNCH_LAUNCH_H
#define PS_LAUNCH_LAUNCH_H

#include "abi/abi.h"
#include "data/data.h"
#include "load/load.h"
#include "object/object.h"
#include "rt/rt.h"

/* Code of one specialisation; reference-counted; lives while a launch runs it. Immutable. */
typedef struct PsExecutable {
    PsMainFn main;
    uint32_t frame_words, param_words, result_words;
    uint32_t flags; /* PS_OBJECT_* */
    PsLoadedCode *code;
    PsObject object; /* sites */
    long refs;       /* atomic */
} PsExecutable;
PsExecutable *
ps_executable_new(PsLoadedCode *code,
                  PsObject *object_taken); /* NULL: no memory, or no ps_main; takes both over only on success */
void ps_executable_retain(PsExecutable *exe);
void ps_executable_release(PsExecutable *exe);

/* One launch of it, in the floating-point mode generated code needs: 0, or 1: stopped (the PsLaunch says why). The
 * frame has frame_words words; ps_launch_begin has been called. */
static inline int32_t ps_executable_run(const PsExecutable *exe, PsFrame *frame) {
    uint64_t mode = ps_rt_fp_enter();
    int32_t stopped = exe->main(frame);
    ps_rt_fp_leave(mode);
    return stopped;
}

#define PS_FRAME_STACK_WORDS 512 /* frames up to this size live on the launcher's stack */

#endif
