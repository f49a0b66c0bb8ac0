/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_compile: the road from IR to an executable, stage by stage, each only if the one before did not have it:
 *
 *     key ─► process table ─► store ─► passes ─► codegen ─► container ─► store ─► load ─► process table
 *
 * A dump makes it go all the way, past both caches, and leave no trace in them. Not here: front ends.
 */
#include "driver/driver_int.h"

#include "passes/passes.h"
#include "rt/rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOW_MS 1000 /* a compilation that takes longer says so on a terminal; PESTLE_PROGRESS_MS */

/* One call of ps_driver_compile. */
typedef struct Compile {
    PsModule *module;
    const PsDriverOptions *options;
    const char *dump;
    DriverCpu cpu;
    PsHash key;
    PsDriverTimes *times;
    PsDiag *diag;
} Compile;

/* The time since *mark, which is moved on; at least 1, as 0 means "did not happen". */
static uint64_t lap(uint64_t *mark) {
    uint64_t now = driver_clock_ns(), ns = now - *mark;
    *mark = now;
    return ns ? ns : 1;
}

/* -- the store, opened once per process -- */

static bool store_asked;
static PsStore *the_store;
static const char *store_warning; /* of opening it */

PsStore *ps_driver_store(const char **out_warning) {
    driver_lock();
    if (!store_asked) {
        the_store = ps_store_open(NULL, &store_warning);
        store_asked = the_store || store_warning; /* else there was no memory: again next time */
    }
    driver_unlock();
    if (out_warning) *out_warning = the_store ? ps_store_warning(the_store) : store_warning;
    return the_store;
}

/* -- loading -- */

/* Takes the object over. */
static PsStatus load(Compile *c, PsObject *object, PsExecutable **out) {
    const char *error = "it has no function ps_main";
    PsLoadedCode *code =
        ps_load_elf(object->elf, object->elf_size, ps_rt_symbol, driver_kernel_name(c->module), &error);
    *out = code ? ps_executable_new(code, object) : NULL;
    if (*out) return PS_OK;
    bool short_of_memory = code && ps_load_symbol(code, "ps_main");
    ps_load_free(code);
    ps_object_free(object);
    if (short_of_memory) return PS_NOMEM;
    return ps_diag_fail(c->diag, (PsSpan){0}, PS_MSG_DRIVER_LOAD, error);
}

static bool find_stored(Compile *c, PsExecutable **out) {
    PsObject object;
    uint64_t mark = driver_clock_ns();
    PsStore *store = c->options->no_cache || c->dump ? NULL : ps_driver_store(NULL);
    bool found = store && ps_store_get(store, &c->key, &object);
    c->times->lookup += lap(&mark);
    if (!found) return false;
    PsArena arena; /* an object that can't be loaded is compiled again: its message is nobody's */
    PsDiag *diag = c->diag, quiet;
    ps_arena_init(&arena);
    ps_diag_init(&quiet, &arena);
    c->diag = &quiet;
    bool loaded = load(c, &object, out) == PS_OK;
    c->diag = diag;
    ps_arena_free(&arena);
    c->times->load = lap(&mark);
    c->times->from_store = loaded;
    return loaded;
}

/* -- compiling -- */

static int64_t slow_ns(void) {
    const char *text = getenv("PESTLE_PROGRESS_MS");
    long long ms = text && *text >= '0' && *text <= '9' ? strtoll(text, NULL, 10) : SLOW_MS;
    return (ms < INT32_MAX ? ms : INT32_MAX) * 1000000;
}

static void say_slow(void *data) {
    const char *name = data;
    fprintf(stderr, "pestle: still compiling %s ...\n", name);
}

static void after_pass(void *data, const char *pass, const PsModule *m) {
    const Compile *c = data;
    driver_dump_module(c->dump, pass, m);
}

static PsStatus run_passes(Compile *c) {
    uint64_t mark = driver_clock_ns();
    driver_dump_module(c->dump, "front", c->module);
    PsStatus status = PS_OK;
    if (c->options->verify) status = ps_ir_verify(c->module, "front", c->diag);
    if (status == PS_OK)
        status = ps_passes_run(c->module, NULL, c->options->verify, c->dump ? after_pass : NULL, c, c->diag);
    c->times->passes = lap(&mark);
    return status;
}

static void free_code(PsCode *code) {
    ps_buf_free(&code->elf);
    ps_buf_free(&code->llvm_ir);
    ps_buf_free(&code->assembly);
}

static PsStatus generate(Compile *c, PsCodegenRequest request, PsCode *out) {
    PsCodegenEntryFn entry;
    uint64_t mark = driver_clock_ns();
    request.module = c->module;
    request.target = (PsTarget){c->cpu.features, c->cpu.vector_bits, c->options->opt_level};
    if (!driver_codegen_begin())
        return ps_diag_fail(c->diag, (PsSpan){0}, PS_MSG_DRIVER_LLVM, "LLVM", "the process is ending");
    bool was_open = ps_driver_llvm_is_open();
    PsStatus status = driver_llvm_open(&entry, c->diag);
    uint64_t opening = lap(&mark);
    if (!was_open) c->times->llvm_open = opening;
    long fail_after = ps_alloc_fails_after();
    if (fail_after >= 0) request.fail_after = &fail_after;
    if (status == PS_OK) status = entry(&request, out, c->diag);
    if (request.fail_after) ps_alloc_fail_after(fail_after);
    driver_codegen_end();
    c->times->codegen = lap(&mark);
    return status;
}

static PsStatus make_container(Compile *c, const PsCode *code, PsObject *out) {
    uint32_t n = code->sites.len;
    PsObjectSite *sites = ps_arena_alloc(c->module->arena, (n + 1) * sizeof *sites);
    if (!sites) return PS_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        sites[i] = (PsObjectSite){code->sites.data[i].kind, code->sites.data[i].span};
    PsObject object = {.param_words = code->param_words,
                       .result_words = code->result_words,
                       .frame_words = code->frame_words,
                       .ntasks = code->ntasks,
                       .flags = (code->has_unbounded_loops ? PS_OBJECT_UNBOUNDED : 0) |
                                (code->has_nested_loops ? PS_OBJECT_NESTED : 0) |
                                (code->has_recursion ? PS_OBJECT_RECURSIVE : 0),
                       .name = driver_kernel_name(c->module),
                       .sites = sites,
                       .nsites = n,
                       .elf = code->elf.data,
                       .elf_size = code->elf.len};
    PsBuf bytes = {0};
    PsStatus status = ps_object_write(&object, &bytes);
    if (status == PS_OK && !ps_object_read(bytes.data, bytes.len, out))
        status = ps_diag_fail(c->diag, (PsSpan){0}, PS_MSG_DRIVER_LOAD, "its container is damaged");
    if (status != PS_OK) ps_buf_free(&bytes);
    return status;
}

static void keep(Compile *c, const PsObject *object) {
    uint64_t mark = driver_clock_ns();
    PsStore *store = c->options->no_cache || c->dump ? NULL : ps_driver_store(NULL);
    if (!store) return;
    ps_store_put(store, &c->key, object->bytes, object->size);
    c->times->store = lap(&mark);
}

static PsStatus look_at_interrupt(Compile *c) {
    const volatile int32_t *interrupt = c->options->interrupt;
    if (!interrupt || !*interrupt) return PS_OK;
    return ps_diag_fail(c->diag, (PsSpan){0}, PS_MSG_DRIVER_INTERRUPTED);
}

static PsStatus compile_module(Compile *c, PsExecutable **out) {
    PsCode code = {0};
    PsObject object = {0};
    PsStatus status = look_at_interrupt(c);
    if (status == PS_OK) status = run_passes(c);
    if (status == PS_OK) status = look_at_interrupt(c);
    if (status == PS_OK)
        status = generate(c,
                          (PsCodegenRequest){.want_llvm_ir = driver_dumps(c->dump, "llvm"),
                                             .want_assembly = driver_dumps(c->dump, "asm")},
                          &code);
    if (status == PS_OK) {
        driver_dump_text(c->dump, "llvm", &code.llvm_ir);
        driver_dump_text(c->dump, "asm", &code.assembly);
        status = make_container(c, &code, &object);
    }
    free_code(&code);
    if (status != PS_OK) return status;
    keep(c, &object);
    uint64_t mark = driver_clock_ns();
    status = load(c, &object, out);
    c->times->load = lap(&mark);
    return status;
}

/* Passes and LLVM recurse; a thread may have a small stack. */
#define COMPILE_STACK ((size_t)2 << 20)

typedef struct Job {
    Compile *compile;
    PsExecutable **out;
    PsStatus status;
} Job;

static void run_job(void *at) {
    Job *job = at;
    job->status = compile_module(job->compile, job->out);
}

static PsStatus compile_somewhere(Compile *c, PsExecutable **out) {
    Job job = {c, out, PS_NOMEM};
    return ps_rt_with_stack(COMPILE_STACK, run_job, &job) ? job.status : PS_NOMEM;
}

static PsStatus compile_watched(Compile *c, PsExecutable **out) {
    PsWatch watch = {.act = say_slow, .data = (void *)driver_kernel_name(c->module), .ns = slow_ns()};
    bool watched = isatty(STDERR_FILENO);
    if (watched) ps_rt_watch(&watch);
    PsStatus status = compile_somewhere(c, out);
    if (watched) ps_rt_unwatch(&watch);
    return status;
}

static PsStatus find_or_compile(Compile *c, PsExecutable **out) {
    uint64_t mark = driver_clock_ns();
    PsStatus status = driver_key(c->module, c->options->opt_level, &c->cpu, &c->key);
    c->times->key = lap(&mark);
    if (status != PS_OK) return status;
    if (c->dump) return compile_watched(c, out);
    DriverFound found = driver_table_get(&c->key, c->options->interrupt, out);
    c->times->lookup = lap(&mark);
    if (found == DRIVER_STOPPED) return look_at_interrupt(c);
    if (found == DRIVER_READY) {
        c->times->from_process = true;
        return PS_OK;
    }
    if (!find_stored(c, out)) status = compile_watched(c, out);
    driver_table_put(&c->key, status == PS_OK ? *out : NULL);
    return status;
}

static const char *set_variable(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* What every way in does first. */
static PsStatus prepare(Compile *c, PsModule *m, const PsDriverOptions *options, PsDriverTimes *times,
                        PsDiag *diag) {
    *times = (PsDriverTimes){0};
    *c = (Compile){.module = m, .options = options, .times = times, .diag = diag};
    c->dump = options->dump && *options->dump ? options->dump : set_variable("PESTLE_DUMP");
    if (ps_arena_failed(m->arena)) return PS_NOMEM;
    PsStatus status = driver_cpu(&c->cpu, diag);
    return status == PS_OK ? driver_dump_check(c->dump, diag) : status;
}

PsStatus ps_driver_compile(PsModule *m, const PsDriverOptions *options, PsExecutable **out,
                           PsDriverTimes *times, PsDiag *diag) {
    Compile c;
    PsDriverTimes unwanted;
    *out = NULL;
    PsStatus status = prepare(&c, m, options, times ? times : &unwanted, diag);
    if (status == PS_OK) status = find_or_compile(&c, out);
    const char *time = set_variable("PESTLE_TIME");
    if (status == PS_OK && time && strcmp(time, "1") == 0) driver_show_times(driver_kernel_name(m), c.times);
    return status;
}

PsStatus ps_driver_text(PsModule *m, const PsDriverOptions *options, const char *what, PsBuf *out,
                        PsDiag *diag) {
    Compile c;
    PsCode code = {0};
    PsDriverTimes times;
    bool llvm = strcmp(what, "llvm") == 0, lines = strcmp(what, "lines") == 0;
    if (!llvm && !lines && strcmp(what, "asm") != 0)
        return ps_diag_fail(diag, (PsSpan){0}, PS_MSG_DRIVER_DUMP, (int)strnlen(what, 64), what);
    PsStatus status = prepare(&c, m, options, &times, diag);
    if (status == PS_OK) status = run_passes(&c);
    if (status == PS_OK)
        status = generate(
            &c, (PsCodegenRequest){.want_llvm_ir = llvm, .want_assembly = !llvm, .want_lines = lines}, &code);
    if (status == PS_OK) {
        const PsBuf *text = llvm ? &code.llvm_ir : &code.assembly;
        if (text->data) ps_buf_add(out, text->data, text->len);
        if (out->failed) status = PS_NOMEM;
    }
    free_code(&code);
    return status;
}

PsStatus ps_driver_explain(PsModule *m, const PsDriverOptions *options, PsCode *out, PsDiag *diag) {
    Compile c;
    PsDriverTimes times;
    *out = (PsCode){0};
    PsStatus status = prepare(&c, m, options, &times, diag);
    if (status == PS_OK) status = run_passes(&c);
    if (status == PS_OK) status = generate(&c, (PsCodegenRequest){.want_notes = true}, out);
    free_code(out);
    return status;
}
