/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_target: LLVM as a machine: set-up once, target machines kept for reuse (making one costs more than compiling a
 * small kernel), the passes to run, and its errors.
 *
 * Threads: any number compile at once, each with an LLVMContext and a machine of its own. Machines wait in slots that are
 * taken and filled by atomic exchange, so there is no lock to hold.
 *
 * Errors: LLVM ends the process on what it calls fatal errors, unless the handler does not return. Ours leaves by
 * longjmp, the one place in Pestle that does: it skips frames of C++ code, whose memory is lost and whose state can't be
 * trusted any more. So the library counts as dead from then on and refuses to compile; what is compiled already goes on.
 */
#include "codegen/codegen_int.h"

#include <llvm-c/Core.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* -- fatal errors -- */

static _Thread_local jmp_buf *escape; /* of the compilation that runs on this thread */
static _Atomic(bool) dead;
static char last_words[512]; /* of the fatal error; written once, before `dead` is set */
static atomic_flag last_words_taken = ATOMIC_FLAG_INIT;

static void on_fatal_error(const char *reason) {
    if (!atomic_flag_test_and_set(&last_words_taken)) {
        snprintf(last_words, sizeof last_words, "%s", reason ? reason : "no reason given");
        atomic_store(&dead, true);
    }
    if (escape) longjmp(*escape, 1);
}

bool cg_guarded(void (*work)(void *data), void *data, const char **out_error) {
    jmp_buf here;
    if (atomic_load(&dead)) {
        *out_error = last_words;
        return false;
    }
    if (setjmp(here)) {
        escape = NULL;
        *out_error = last_words;
        return false;
    }
    escape = &here;
    work(data);
    escape = NULL;
    return true;
}

/* -- once -- */

static void set_up(void) {
    /* What costs much of code generation and gains nothing here: loop strength reduction rewrites addresses that are good
     * already; machine LICM hoists constants into registers that are then spilled; the scheduler is for older machines. */
    const char *const options[] = {"pestle", "-disable-lsr", "-disable-machine-licm", "-enable-misched=false"};
    LLVMInstallFatalErrorHandler(on_fatal_error);
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMParseCommandLineOptions((int)PS_COUNT(options), options, "");
}

static void set_up_once(void) {
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    static _Atomic(bool) done;
    if (atomic_load(&done)) return;
    while (atomic_flag_test_and_set(&busy)) sched_yield();
    if (!atomic_load(&done)) {
        set_up();
        atomic_store(&done, true);
    }
    atomic_flag_clear(&busy);
}

/* -- machines -- */

struct Machine {
    LLVMTargetMachineRef llvm;
    int opt_level;
    char features[]; /* as the request spelled them */
};

#define SLOTS 8
static _Atomic(Machine *) slots[SLOTS];

#if defined(__x86_64__)
static const char triple[] = "x86_64-unknown-linux-gnu", cpu[] = "x86-64";
#elif defined(__aarch64__)
static const char triple[] = "aarch64-unknown-linux-gnu", cpu[] = "generic";
#else
#error "no code generation for this machine yet"
#endif

static void machine_free(Machine *machine) {
    LLVMDisposeTargetMachine(machine->llvm);
    ps_free(machine);
}

static Machine *machine_new(const PsTarget *target, const char *features, const char **out_error) {
    LLVMTargetRef llvm;
    char *message = NULL;
    size_t len = strlen(features);
    if (LLVMGetTargetFromTriple(triple, &llvm, &message)) {
        LLVMDisposeMessage(message);
        *out_error = "it does not know this machine";
        return NULL;
    }
    Machine *machine = ps_alloc(sizeof *machine + len + 1);
    if (!machine) return NULL;
    memcpy(machine->features, features, len);
    machine->opt_level = target->opt_level;
    machine->llvm = LLVMCreateTargetMachine(llvm, triple, cpu, features,
                                            target->opt_level ? LLVMCodeGenLevelLess : LLVMCodeGenLevelNone,
                                            LLVMRelocPIC, LLVMCodeModelSmall);
    if (machine->llvm) return machine;
    ps_free(machine);
    *out_error = "it can't make a target machine";
    return NULL;
}

Machine *cg_machine_take(const PsTarget *target, const char **out_error) {
    const char *features = target->features ? target->features : "";
    *out_error = NULL;
    set_up_once();
    for (int i = 0; i < SLOTS; i++) {
        Machine *machine = atomic_exchange(&slots[i], NULL);
        if (!machine) continue;
        if (machine->opt_level == target->opt_level && !strcmp(machine->features, features)) return machine;
        cg_machine_give(machine);
    }
    return machine_new(target, features, out_error);
}

void cg_machine_give(Machine *machine) {
    for (int i = 0; i < SLOTS; i++) {
        Machine *none = NULL;
        if (atomic_compare_exchange_strong(&slots[i], &none, machine)) return;
    }
    machine_free(machine);
}

LLVMTargetMachineRef cg_machine_llvm(const Machine *machine) { return machine->llvm; }

/* -- passes -- */

/* What each pass is for, and when it has something to do. Every pass left out is time saved: a launch waits for it. */
typedef enum When { ALWAYS, WITH_LOCALS, WITH_SERIAL_LOOPS, WITHOUT_SERIAL_LOOPS, WITH_LOOPS } When;

static const struct {
    When when;
    const char *text;
} function_passes[] = {
    {WITH_LOCALS, "sroa"},   /* locals become values */
    {ALWAYS, "early-cse"},   /* addresses and lengths once */
    {ALWAYS, "simplifycfg"}, /* small ifs become selects */
    {ALWAYS, "instcombine<no-verify-fixpoint>"},
    {WITHOUT_SERIAL_LOOPS, "loop-mssa(licm)"}, /* a row's address out of its columns' loop */
    {WITH_SERIAL_LOOPS, "loop-mssa(loop-rotate,licm),simplifycfg,loop(indvars,loop-unroll-full)"},
    {WITH_SERIAL_LOOPS, "sroa,early-cse"}, /* what unrolling has laid open */
    {WITH_LOOPS, "loop-vectorize"},
    {ALWAYS, "simplifycfg"},
};
#define LATE 7 /* the first that may see floats being widened: loop-vectorize */

static bool applies(const Codegen *cg, When when) {
    switch (when) {
    case WITH_LOCALS: return cg->has_vars || cg->has_inlined;
    case WITH_SERIAL_LOOPS: return cg->has_loops;
    case WITHOUT_SERIAL_LOOPS: return !cg->has_loops;
    case WITH_LOOPS: return cg->has_loops || cg->has_vector_loops;
    default: return true;
    }
}

/* The passes before LATE, or from it on. */
static void pipeline(const Codegen *cg, bool late, char *out, size_t size) {
    bool inlines = late ? cg->late.len > 0 : cg->has_inlined;
    size_t len = (size_t)snprintf(out, size, "%sfunction(", inlines ? "always-inline," : "");
    for (size_t i = late ? LATE : 0; i < (late ? PS_COUNT(function_passes) : LATE) && len < size; i++)
        if (applies(cg, function_passes[i].when))
            len += (size_t)snprintf(out + len, size - len, "%s,", function_passes[i].text);
    if (len < size) snprintf(out + len - 1, size - len + 1, ")"); /* over the last comma */
}

static void run_passes(Codegen *cg, LLVMTargetMachineRef machine, const char *passes) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(cg->module, passes, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) return;
    char *message = LLVMGetErrorMessage(error);
    if (!cg->llvm_error) cg->llvm_error = LLVMCreateMessage(message);
    LLVMDisposeErrorMessage(message);
}

void cg_optimise(Codegen *cg, LLVMTargetMachineRef machine) {
    char early[512], late[256], all[768];
    if (!cg->request->target.opt_level) return;
    pipeline(cg, false, early, sizeof early);
    pipeline(cg, true, late, sizeof late);
    if (cg->late.len) {
        run_passes(cg, machine, early);
        for (uint32_t i = 0; i < cg->late.len; i++) cg_expand(cg, cg->late.data[i].fn);
        run_passes(cg, machine, late);
    } else {
        snprintf(all, sizeof all, "%s,%s", early, late);
        run_passes(cg, machine, all);
    }
    if (!cg->has_far) return;
    cg_far_inline(cg);
    run_passes(cg, machine, "always-inline,function(simplifycfg)");
}
