/* SPDX-License-Identifier: Apache-2.0
 *
 * launch_executable: the life of loaded code. Whoever may run it holds a reference: the process table of the driver,
 * each specialisation of a kernel, each launch that outlives them. The last one to go unmaps it.
 */
#include "launch/launch.h"

PsExecutable *ps_executable_new(PsLoadedCode *code, PsObject *object_taken) {
    PsMainFn main = (PsMainFn)ps_load_symbol(code, "ps_main");
    PsExecutable *exe = main ? ps_alloc(sizeof *exe) : NULL;
    if (!exe) return NULL;
    *exe = (PsExecutable){.main = main,
                          .frame_words = object_taken->frame_words,
                          .param_words = object_taken->param_words,
                          .result_words = object_taken->result_words,
                          .flags = object_taken->flags,
                          .code = code,
                          .object = *object_taken,
                          .refs = 1};
    *object_taken = (PsObject){0};
    return exe;
}

void ps_executable_retain(PsExecutable *exe) { __atomic_fetch_add(&exe->refs, 1, __ATOMIC_RELAXED); }

void ps_executable_release(PsExecutable *exe) {
    if (!exe || __atomic_sub_fetch(&exe->refs, 1, __ATOMIC_ACQ_REL) > 0) return;
    ps_load_free(exe->code);
    ps_object_free(&exe->object);
    ps_free(exe);
}
