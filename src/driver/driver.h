/* SPDX-License-Identifier: Apache-2.0
 *
 * driver: IR -> loaded executable. Runs the stages in order: key = SHA-256 of (the module's text as the front end made
 * it, options, build id, LLVM version of the build, CPU features) -> process table -> store -> passes, codegen, store ->
 * load. Opens libpestle_llvm.so on the first real compile and not before.
 */
#ifndef PS_DRIVER_DRIVER_H
#define PS_DRIVER_DRIVER_H

#include "codegen/codegen.h"
#include "ir/ir.h"
#include "launch/launch.h"
#include "object/object.h"

typedef struct PsDriverOptions {
    int opt_level;    /* 2; 0 in tests */
    bool no_cache;    /* neither read nor write the store */
    bool verify;      /* verifier after every pass; default in debug builds and under PESTLE_VERIFY=1 */
    const char *dump; /* passes to dump to stderr, comma-separated; PESTLE_DUMP */
    const volatile int32_t
        *interrupt; /* or NULL. Not 0: stop before the next stage; LLVM itself can't be stopped */
} PsDriverOptions;

typedef struct PsDriverTimes { /* nanoseconds; 0: did not happen */
    uint64_t key, lookup, passes, llvm_open, codegen, store, load;
    bool from_process, from_store;
} PsDriverTimes;

/* Thread-safe. *out is retained for the caller. The module is changed (passes run on it) unless found in a cache. */
PsStatus ps_driver_compile(PsModule *m, const PsDriverOptions *options, PsExecutable **out,
                           PsDriverTimes *times, PsDiag *diag) PS_MUST_CHECK;
/* Text of what a stage makes, for tools: "llvm", "asm", or "lines": assembly that says where in the program it comes from. */
PsStatus ps_driver_text(PsModule *m, const PsDriverOptions *options, const char *what, PsBuf *out,
                        PsDiag *diag) PS_MUST_CHECK;
/* What becomes of the module, in arena of the module: the passes and the decisions of code generation run again, LLVM does
 * not. */
PsStatus ps_driver_explain(PsModule *m, const PsDriverOptions *options, PsCode *out,
                           PsDiag *diag) PS_MUST_CHECK;
const char *ps_driver_cpu_features(void); /* LLVM feature string from CPUID, honouring PESTLE_CPU=avx2|scalar */
/* Code can be generated (again); true: who calls this has to see to ps_driver_close. */
bool ps_driver_open(void);
/* Waits until nobody generates code, and lets nobody begin. To be called before C's exit functions: LLVM's own are among
 * them, and those of objects that it makes while it generates code run before any that could wait for it. */
void ps_driver_close(void);
/* Where libpestle_llvm.so is: beside the object this function stands in, or PESTLE_LLVM_LIBRARY. */
bool ps_driver_llvm_is_open(void);
bool ps_driver_llvm_path(char *out, size_t size); /* false: it does not fit */
/* Opens it now, as the first compile would. */
PsStatus ps_driver_llvm_open(PsDiag *diag) PS_MUST_CHECK;
int ps_driver_vector_bits(void);                    /* of one vector register that kernels use */
PsStore *ps_driver_store(const char **out_warning); /* opened once per process; NULL: none */

#endif
