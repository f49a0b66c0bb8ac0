/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_ir: libFuzzer on the text form of the IR. Whatever parses must print as it was read; whatever the verifier takes
 * must go through every pass and still satisfy it, and through the evaluator; passes that may not change results must not;
 * and all of it must bear an allocation that fails. Built and run by tools/fuzz.sh.
 */
#include "ir/ir.h"
#include "passes/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS  20000
#define MAX_PARAMS 8
#define ITEMS      48                                  /* of an array, all axes together */
#define PLAIN      "tiles,fold,plain,grain,layout,dce" /* passes that leave all results as they are */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void stop(const char *what, const PsDiag *diag) {
    fprintf(stderr, "fuzz_ir: %s: %s\n", what,
            diag->set && diag->message.text ? diag->message.text : "no message");
    abort();
}

/* -- a run -- */

typedef struct Run {
    PsArena arena;
    PsDiag diag;
    PsModule *module;
    uint64_t words[MAX_PARAMS][ITEMS]; /* of arrays, whatever their element */
    PsEvalResult result;
    bool ran; /* to the end */
} Run;

/* Parsed and verified. */
static bool begin(Run *run, const uint8_t *data, size_t size) {
    memset(run, 0, sizeof *run);
    ps_arena_init(&run->arena);
    ps_diag_init(&run->diag, &run->arena);
    return ps_ir_parse(&run->arena, (const char *)data, size, &run->diag, &run->module) == PS_OK &&
           ps_ir_verify(run->module, "parsing", &run->diag) == PS_OK;
}

static void end(Run *run) {
    ps_buf_free(&run->result.printed);
    ps_arena_free(&run->arena);
}

/* Axes of length 3, 2 and 1; the elements count up. */
static bool make_array(Run *run, const PsTypeInfo *type, uint32_t param, PsArrayView *out) {
    static const int64_t lengths[PS_MAX_AXES] = {3, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 1};
    int64_t bytes;
    if (!ps_type_is_scalar(type->elem)) return false;
    out->data = (char *)run->words[param];
    out->ndim = type->ndim;
    memcpy(out->shape, lengths, sizeof lengths);
    int64_t item = ps_scalar_size(type->elem);
    if (!ps_layout_dense(out->ndim, out->shape, item, out->strides, &bytes) ||
        bytes > (int64_t)sizeof run->words[0])
        return false;
    for (int64_t i = 0; i < bytes; i++) out->data[i] = (char)(i % item ? 0 : i / item + 1);
    if (type->elem == PS_U1)
        for (int64_t i = 0; i < bytes; i++) out->data[i] &= 1;
    return true;
}

static void evaluate(Run *run) {
    PsEvalArg args[MAX_PARAMS];
    const PsFunc *main = run->module->funcs.data[0];
    if (main->params.len > MAX_PARAMS) return;
    memset(args, 0, sizeof args);
    for (uint32_t i = 0; i < main->params.len; i++) {
        PsType type = main->params.data[i];
        if (ps_type_is_scalar(type))
            args[i].bits = type == PS_U1 ? 1 : 3;
        else if (!make_array(run, ps_type_info(run->module, type), i, &args[i].array))
            return;
    }
    PsStatus status = ps_ir_eval(run->module, args, main->params.len, MAX_STEPS, &run->result);
    run->ran = status == PS_OK && !run->result.faulted && !run->result.out_of_steps;
}

/* -- what must hold -- */

static void check_text(const Run *run) {
    PsBuf first = {0}, second = {0};
    PsArena arena;
    PsDiag diag;
    PsModule *m = NULL;
    ps_arena_init(&arena);
    ps_diag_init(&diag, &arena);
    ps_ir_print(run->module, true, &first);
    if (!first.failed && ps_ir_parse(&arena, first.data, first.len, &diag, &m) != PS_OK &&
        !ps_arena_failed(&arena)) {
        fprintf(stderr, "%s\n", first.data);
        stop("what was printed does not parse", &diag);
    }
    if (m) ps_ir_print(m, true, &second);
    if (m && !second.failed && (first.len != second.len || memcmp(first.data, second.data, first.len) != 0)) {
        fprintf(stderr, "%s\n%s\n", first.data, second.data);
        stop("printed twice, it differs", &diag);
    }
    ps_buf_free(&first);
    ps_buf_free(&second);
    ps_arena_free(&arena);
}

static bool same_bits(PsType type, uint64_t a, uint64_t b) {
    if (a == b) return true;
    if (ps_scalar_class(type) != PS_CLASS_FLOAT) return false;
    return ps_eval_scalar(PS_OP_NE, type, type, (uint64_t[]){a, a}) && /* both are NaNs */
           ps_eval_scalar(PS_OP_NE, type, type, (uint64_t[]){b, b});
}

static void check_same(const Run *a, const Run *b) {
    const PsFunc *main = a->module->funcs.data[0];
    if (!a->ran || !b->ran) return;
    for (uint32_t i = 0; i < main->results.len && i < PS_MAX_RESULTS; i++) {
        PsType type = main->results.data[i];
        if (ps_type_is_scalar(type) && !same_bits(type, a->result.results[i], b->result.results[i]))
            stop("a pass changed a result", &b->diag);
    }
    if (a->result.printed.len != b->result.printed.len) stop("a pass changed what is printed", &b->diag);
    for (uint32_t i = 0; i < main->params.len && i < MAX_PARAMS; i++) {
        const PsTypeInfo *type = ps_type_info(a->module, main->params.data[i]);
        if (type->kind == PS_KIND_ARRAY && ps_scalar_class(type->elem) != PS_CLASS_FLOAT &&
            memcmp(a->words[i], b->words[i], sizeof a->words[i]) != 0)
            stop("a pass changed what is stored", &b->diag);
    }
}

/* A module that the verifier took. Passes may refuse it, with a message; they may not break it. */
static bool run_passes(Run *run, const char *names) {
    PsStatus status = ps_passes_run(run->module, names, true, NULL, NULL, &run->diag);
    if (status == PS_FAIL && run->diag.message.id == PS_MSG_IR_VERIFY)
        stop("a pass broke the module", &run->diag);
    if (status == PS_FAIL && !run->diag.set) stop("a pass failed", &run->diag);
    return status == PS_OK;
}

static void check_passes(const uint8_t *data, size_t size, const Run *plain) {
    Run all, some;
    if (begin(&some, data, size) && run_passes(&some, PLAIN)) {
        evaluate(&some);
        check_same(plain, &some);
    }
    end(&some);
    if (begin(&all, data, size)) {
        all.module->checked = true;
        if (run_passes(&all, NULL)) evaluate(&all);
    }
    end(&all);
}

/* Which allocation fails follows from the input, so that a finding can be repeated. */
static void check_memory(const uint8_t *data, size_t size) {
    uint32_t hash = 2166136261u;
    Run run;
    for (size_t i = 0; i < size; i++) hash = (hash ^ data[i]) * 16777619u;
    ps_alloc_fail_after((long)(hash >> 8) % 200);
    if (begin(&run, data, size)) {
        if (ps_passes_run(run.module, NULL, true, NULL, NULL, &run.diag) == PS_OK) evaluate(&run);
    }
    ps_alloc_fail_after(-1);
    end(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Run run;
    if (begin(&run, data, size)) {
        check_text(&run);
        evaluate(&run);
        check_passes(data, size, &run);
    }
    end(&run);
    check_memory(data, size);
    return 0;
}
