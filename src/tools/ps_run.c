/* SPDX-License-Identifier: Apache-2.0
 *
 * ps-run: runs a module in text form: evaluated, compiled, or both ways with every bit compared. Prints what the program
 * printed, its results, then every array argument's contents. A fault, a difference or a mistake: "error: ..." on standard
 * error, status 1.
 */
#include "tools/tools_int.h"
#include "driver/driver.h"
#include "launch/launch.h"
#include "passes/passes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: ps-run [-eval | -compile | -both] [OPTION..] FILE [ARGUMENT..]\n"
    "Runs main of a module in text form; FILE - is standard input. An argument is a number, a list such as\n"
    "[[1,2],[3,4]], zeros(3,4), or order(1,0)zeros(3,4): the axes' order in memory.\n"
    "  -eval            by the evaluator (default)\n"
    "  -compile         as machine code, after all passes\n"
    "  -both            both ways, after the same passes; every bit must be equal (a NaN is equal to any "
    "other)\n"
    "  -passes=NAME,..  passes before evaluating (default: none; with -both: all; all: \"all\")\n"
    "  -checked         as if the module said `checked`\n"
    "  -threads=N       at most N threads (default: as many as there are cores)\n"
    "  -opt=N           optimisation of the machine code: 0 or 2 (default)\n"
    "  -steps=N         most steps of the evaluator\n"
    "  -times=N         compile and run N times; print the shortest times\n"
    "  -cache           use the store of compiled kernels\n"
    "  -emit=llvm|asm   print what code generation makes, and run nothing\n";

typedef enum Mode { MODE_EVAL, MODE_COMPILE, MODE_BOTH } Mode;

typedef struct Options {
    Mode mode;
    const char *passes, *emit, *file;
    bool checked, cache;
    long threads, opt, times;
    uint64_t steps;
    char **args;
    int nargs;
} Options;

/* What a run gave, whichever way it ran. */
typedef struct Outcome {
    uint64_t results[PS_MAX_RESULTS];
    PsBuf printed;
    bool faulted;
    uint32_t kind, nvalues;
    PsSpan span;
    int64_t values[PS_FAULT_VALUES];
} Outcome;

/* One run: its own module, for passes change it, and its own copies of the arrays. */
typedef struct Run {
    PsArena arena;
    PsDiag diag;
    PsModule *module;
    ToolsValue *values;
    uint32_t nvalues;
    Outcome outcome;
    PsDriverTimes times; /* of compiling */
    uint64_t running;    /* nanoseconds */
} Run;

/* -- options -- */

static bool read_long(const char *text, const char *name, long low, long high, long *out) {
    char *end;
    *out = strtol(text, &end, 10);
    if (end == text || *end || *out < low || *out > high)
        return tools_error("-%s takes a number from %ld to %ld, not %s", name, low, high, text);
    return true;
}

static bool read_option(const char *arg, Options *o) {
    const char *value;
    long steps;
    if (strcmp(arg, "-eval") == 0)
        o->mode = MODE_EVAL;
    else if (strcmp(arg, "-compile") == 0)
        o->mode = MODE_COMPILE;
    else if (strcmp(arg, "-both") == 0)
        o->mode = MODE_BOTH;
    else if (strcmp(arg, "-checked") == 0)
        o->checked = true;
    else if (strcmp(arg, "-cache") == 0)
        o->cache = true;
    else if ((value = tools_option(arg, "-passes")))
        o->passes = value;
    else if ((value = tools_option(arg, "-emit")))
        o->emit = value;
    else if ((value = tools_option(arg, "-threads")))
        return read_long(value, "threads", 1, 1024, &o->threads);
    else if ((value = tools_option(arg, "-opt")))
        return read_long(value, "opt", 0, 2, &o->opt);
    else if ((value = tools_option(arg, "-times")))
        return read_long(value, "times", 1, 100000, &o->times);
    else if ((value = tools_option(arg, "-steps"))) {
        if (!read_long(value, "steps", 0, 1000000000000, &steps)) return false;
        o->steps = (uint64_t)steps;
    } else
        return tools_error("unknown option %s", arg);
    return true;
}

static bool read_options(int argc, char **argv, Options *o) {
    int at = 1;
    *o = (Options){.opt = 2, .steps = 1000000000};
    for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++)
        if (!read_option(argv[at], o)) return false;
    if (at == argc) return tools_error("expected a file; ps-run -help says more");
    o->file = argv[at];
    o->args = argv + at + 1;
    o->nargs = argc - at - 1;
    return true;
}

/* -- setting up -- */

static bool read_values(Run *run, const Options *o) {
    const PsFunc *main = run->module->funcs.data[0];
    if ((uint32_t)o->nargs != main->params.len)
        return tools_error("main takes %u arguments, %d were given", main->params.len, o->nargs);
    run->values = ps_arena_alloc(&run->arena, sizeof *run->values * (main->params.len + 1));
    if (!run->values) return tools_error("out of memory");
    for (; run->nvalues < main->params.len; run->nvalues++)
        if (!tools_value_parse(run->module, main->params.data[run->nvalues], o->args[run->nvalues],
                               &run->values[run->nvalues]))
            return false;
    return true;
}

/* Parses, runs the passes asked for, reads the arguments. */
static bool set_up(Run *run, const Options *o, const PsBuf *text, const char *passes) {
    run->module = tools_parse(text, &run->diag);
    if (!run->module) return false;
    if (o->checked) run->module->checked = true;
    if (passes) {
        const char *names = strcmp(passes, "all") == 0 ? NULL : passes;
        PsStatus status = ps_passes_run(run->module, names, true, NULL, NULL, &run->diag);
        if (status != PS_OK) return tools_failed(status, &run->diag);
    }
    return read_values(run, o);
}

static void begin(Run *run) {
    *run = (Run){0};
    ps_arena_init(&run->arena);
    ps_diag_init(&run->diag, &run->arena);
}

static void end(Run *run) {
    for (uint32_t i = 0; i < run->nvalues; i++) tools_value_free(&run->values[i]);
    ps_buf_free(&run->outcome.printed);
    ps_arena_free(&run->arena);
}

/* -- evaluating -- */

static bool evaluate(Run *run, const Options *o) {
    const PsModule *m = run->module;
    PsEvalArg *args = ps_arena_alloc(&run->arena, sizeof *args * (run->nvalues + 1));
    if (!args) return tools_error("out of memory");
    for (uint32_t i = 0; i < run->nvalues; i++)
        args[i] = (PsEvalArg){.bits = run->values[i].bits, .array = run->values[i].view};
    PsEvalResult result;
    PsStatus status = ps_ir_eval(m, args, run->nvalues, o->steps, &result);
    run->outcome.printed = result.printed;
    if (status != PS_OK)
        return tools_error(status == PS_NOMEM ? "out of memory" : "the module cannot be evaluated");
    if (result.out_of_steps) return tools_error("stopped after %" PRIu64 " steps", o->steps);
    memcpy(run->outcome.results, result.results, sizeof run->outcome.results);
    run->outcome.faulted = result.faulted;
    run->outcome.kind = result.fault.kind;
    run->outcome.span = m->spans.len > result.fault.span ? m->spans.data[result.fault.span] : (PsSpan){0};
    run->outcome.nvalues = result.fault.nvalues;
    memcpy(run->outcome.values, result.fault.values, sizeof run->outcome.values);
    return true;
}

/* -- compiling -- */

static uint32_t fill_frame(const Run *run, uint64_t *words) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < run->nvalues; i++) {
        const ToolsValue *v = &run->values[i];
        if (words) words[n] = v->is_array ? (uint64_t)(uintptr_t)v->data : v->bits;
        n++;
        for (int32_t axis = 0; v->is_array && axis < v->ndim; axis++) {
            if (words) words[n + (uint32_t)axis] = (uint64_t)v->view.shape[axis];
            if (words) words[n + (uint32_t)(v->ndim + axis)] = (uint64_t)v->view.strides[axis];
        }
        n += 2 * (uint32_t)v->ndim;
    }
    return n;
}

static bool take_outcome(Run *run, const PsExecutable *exe, PsLaunch *launch, const PsFrame *frame,
                         int32_t rc) {
    Outcome *out = &run->outcome;
    ps_launch_take_prints(launch, &out->printed);
    if (launch->out_of_memory || out->printed.failed) return tools_error("out of memory");
    if (launch->interrupted) return tools_error("interrupted");
    for (uint32_t i = 0; i < exe->result_words && i < PS_COUNT(out->results); i++)
        out->results[i] = frame->words[exe->param_words + i];
    out->faulted = launch->fault.set;
    if (!out->faulted) return !rc || tools_error("main stopped without a fault");
    if (launch->fault.site < exe->object.nsites) {
        out->kind = exe->object.sites[launch->fault.site].kind;
        out->span = exe->object.sites[launch->fault.site].span;
    }
    out->nvalues = launch->fault.nvalues;
    memcpy(out->values, launch->fault.values, sizeof out->values);
    return true;
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void keep_least(uint64_t *least, uint64_t value) {
    if (value && (!*least || value < *least)) *least = value;
}

static bool launch(Run *run, const Options *o, const PsExecutable *exe) {
    if (fill_frame(run, NULL) != exe->param_words) return tools_error("the frame's layout is not the code's");
    PsFrame *frame = ps_alloc(sizeof *frame + sizeof frame->words[0] * exe->frame_words);
    if (!frame) return tools_error("out of memory");
    PsLaunch state;
    fill_frame(run, frame->words);
    ps_launch_begin(&state, frame);
    state.threads = (int32_t)o->threads;
    uint64_t mode = ps_rt_fp_enter(), start = now();
    int32_t rc = exe->main(frame);
    keep_least(&run->running, now() - start);
    ps_rt_fp_leave(mode);
    bool ok = take_outcome(run, exe, &state, frame, rc);
    ps_launch_end(&state);
    ps_free(frame);
    return ok;
}

static PsDriverOptions driver_options(const Options *o) {
    return (PsDriverOptions){.opt_level = (int)o->opt, .no_cache = !o->cache, .verify = true};
}

static bool compile(Run *run, const Options *o) {
    PsExecutable *exe = NULL;
    PsDriverOptions options = driver_options(o);
    PsStatus status = ps_driver_compile(run->module, &options, &exe, &run->times, &run->diag);
    if (status != PS_OK) return tools_failed(status, &run->diag);
    bool ok = true;
    for (long i = 0; ok && i < (o->times ? o->times : 1); i++) ok = launch(run, o, exe);
    ps_executable_release(exe);
    return ok;
}

static bool emit(Run *run, const Options *o, const PsBuf *text) {
    PsBuf out = {0};
    PsDriverOptions options = driver_options(o);
    run->module = tools_parse(text, &run->diag);
    if (!run->module) return false;
    if (o->checked) run->module->checked = true;
    PsStatus status = ps_driver_text(run->module, &options, o->emit, &out, &run->diag);
    if (status == PS_OK && out.data) fwrite(out.data, 1, out.len, stdout);
    ps_buf_free(&out);
    return status == PS_OK || tools_failed(status, &run->diag);
}

/* -- comparing -- */

static bool differ(const char *what, PsType type, uint64_t evaluated, uint64_t compiled) {
    PsBuf text = {0};
    ps_format_scalar(&text, (char)('a' + type), evaluated);
    ps_buf_text(&text, " evaluated, ");
    ps_format_scalar(&text, (char)('a' + type), compiled);
    tools_error("%s differs: %s compiled (0x%" PRIx64 ", 0x%" PRIx64 ")", what, text.data ? text.data : "",
                evaluated, compiled);
    ps_buf_free(&text);
    return false;
}

static bool compare_arrays(const ToolsValue *a, const ToolsValue *b, uint32_t number) {
    for (int64_t i = 0; i < a->count; i++) {
        char what[64];
        uint64_t x = tools_value_get(a, i), y = tools_value_get(b, i);
        if (tools_same(a->elem, x, y)) continue;
        snprintf(what, sizeof what, "element %" PRId64 " of arg%u", i, number);
        return differ(what, a->elem, x, y);
    }
    return true;
}

/* After a fault other leaves may or may not have run, so only the fault itself is compared. */
static bool compare(const Run *a, const Run *b) {
    const Outcome *x = &a->outcome, *y = &b->outcome;
    const PsFunc *main = a->module->funcs.data[0];
    if (x->faulted != y->faulted)
        return tools_error("the %s run faulted alone", x->faulted ? "evaluated" : "compiled");
    if (x->faulted) {
        bool same = x->kind == y->kind && x->nvalues == y->nvalues && x->span.line == y->span.line &&
                    memcmp(x->values, y->values, sizeof x->values[0] * x->nvalues) == 0;
        return same || tools_error("the faults differ");
    }
    if (x->printed.len != y->printed.len ||
        (x->printed.len && memcmp(x->printed.data, y->printed.data, x->printed.len) != 0))
        return tools_error("what was printed differs");
    for (uint32_t i = 0; i < main->results.len && i < PS_MAX_RESULTS; i++) {
        char what[32];
        snprintf(what, sizeof what, "result %u", i);
        if (!tools_same(main->results.data[i], x->results[i], y->results[i]))
            return differ(what, main->results.data[i], x->results[i], y->results[i]);
    }
    for (uint32_t i = 0; i < a->nvalues; i++)
        if (a->values[i].is_array && !compare_arrays(&a->values[i], &b->values[i], i)) return false;
    return true;
}

/* -- printing -- */

static bool report_fault(const Run *run) {
    static const char *const names[] = {
        [PS_FAULT_BOUNDS] = "bounds",    [PS_FAULT_DIV_ZERO] = "division by zero",
        [PS_FAULT_ASSERT] = "assertion", [PS_FAULT_DOMAIN] = "domain",
        [PS_FAULT_DEPTH] = "depth",      [PS_FAULT_RETURN] = "return",
        [PS_FAULT_VIEW] = "view",
    };
    const Outcome *out = &run->outcome;
    PsBuf text = {0};
    ps_buf_printf(&text, "fault: %s", out->kind < PS_COUNT(names) ? names[out->kind] : "unknown");
    for (uint32_t i = 0; i < out->nvalues && i < PS_FAULT_VALUES; i++)
        ps_buf_printf(&text, "%s%" PRId64, i ? ", " : " ", out->values[i]);
    if (out->span.source && out->span.source < run->module->sources.len)
        ps_buf_printf(&text, " at %s:%u:%u", run->module->sources.data[out->span.source].name, out->span.line,
                      out->span.col);
    tools_error("%s", text.data ? text.data : "fault");
    ps_buf_free(&text);
    return false;
}

static bool print_outcome(const Run *run) {
    const PsFunc *main = run->module->funcs.data[0];
    PsBuf out = {0};
    if (run->outcome.printed.data) ps_buf_add(&out, run->outcome.printed.data, run->outcome.printed.len);
    for (uint32_t i = 0; !run->outcome.faulted && i < main->results.len && i < PS_MAX_RESULTS; i++) {
        ps_format_scalar(&out, (char)('a' + main->results.data[i]), run->outcome.results[i]);
        ps_buf_text(&out, "\n");
    }
    for (uint32_t i = 0; !run->outcome.faulted && i < run->nvalues; i++) {
        if (!run->values[i].is_array) continue;
        ps_buf_printf(&out, "arg%u = ", i);
        tools_value_print(&run->values[i], &out);
        ps_buf_text(&out, "\n");
    }
    bool failed = out.failed;
    if (out.data) fwrite(out.data, 1, out.len, stdout);
    ps_buf_free(&out);
    if (failed || fflush(stdout) != 0) return tools_error("cannot write");
    return !run->outcome.faulted || report_fault(run);
}

static bool run_both(const Options *o, const PsBuf *text) {
    Run a, b;
    begin(&a);
    begin(&b);
    bool ok = set_up(&a, o, text, o->passes ? o->passes : "all") && evaluate(&a, o) &&
              set_up(&b, o, text, NULL) && compile(&b, o) && compare(&a, &b) && print_outcome(&a);
    end(&a);
    end(&b);
    return ok;
}

static bool run_timed(const Options *o, const PsBuf *text) {
    uint64_t passes = 0, codegen = 0, running = 0;
    bool ok = true;
    for (long i = 0; ok && i < o->times; i++) {
        Run run;
        begin(&run);
        /* Another key each time, so that it is compiled each time. */
        PsSource source = {.name = ps_arena_format(&run.arena, "run %ld", i), .file = ""};
        ok = set_up(&run, o, text, o->passes) && ps_vec_push(run.module->arena, &run.module->sources, source) &&
             compile(&run, o);
        keep_least(&passes, run.times.passes);
        keep_least(&codegen, run.times.codegen);
        keep_least(&running, run.running);
        end(&run);
    }
    if (ok)
        printf("passes %.3f ms, code generation %.3f ms, run %.3f ms\n", (double)passes / 1e6,
               (double)codegen / 1e6, (double)running / 1e6);
    return ok;
}

static bool run_one(const Options *o, const PsBuf *text) {
    Run run;
    begin(&run);
    bool ok = o->emit ? emit(&run, o, text)
                      : set_up(&run, o, text, o->passes) &&
                            (o->mode == MODE_EVAL ? evaluate : compile)(&run, o) && print_outcome(&run);
    end(&run);
    return ok;
}

int main(int argc, char **argv) {
    Options options;
    PsBuf text = {0};
    if (argc == 2 && strcmp(argv[1], "-help") == 0) return fputs(usage, stdout) < 0;
    bool ok = read_options(argc, argv, &options) && tools_read(options.file, &text);
    bool (*how)(const Options *o, const PsBuf *text) = options.mode == MODE_BOTH ? run_both : run_one;
    if (options.emit) how = run_one;
    if (options.times) how = run_timed;
    ok = ok && how(&options, &text);
    ps_buf_free(&text);
    return !ok;
}
