/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen: a lowered module (after all passes) -> LLVM-C module -> relocatable ELF. Lives in libpestle_llvm.so, which
 * the driver opens only when something must be compiled; ps_codegen_entry is its only exported symbol.
 */
#ifndef PS_CODEGEN_CODEGEN_H
#define PS_CODEGEN_CODEGEN_H

#include "abi/abi.h"
#include "ir/ir.h"

/* What to compile for. The features are LLVM's list ("+avx2,+fma,..."), found by the driver from CPUID so that
 * cache keys need no LLVM. */
typedef struct PsTarget {
    const char *features;
    int vector_bits; /* preferred: 128, 256, 512 */
    int opt_level;   /* 2 normal; 0 for tests: no optimisation, no vectorisation */
} PsTarget;

/* What the runtime must know beside the machine code; written into the object's head. */
typedef struct PsCodeSite {
    uint32_t kind; /* PsFaultKind */
    PsSpan span;
} PsCodeSite;
/* For `explain`: what became of an op, and what it costs each time it runs. */
typedef struct PsCodeNote {
    PsNoteId id;
    PsSpan span;
    const char *text;
    uint32_t bytes, flops; /* moved between the CPU and arrays; an fma counts as two */
} PsCodeNote;
typedef struct PsCode {
    PsBuf elf;            /* caller frees */
    uint32_t frame_words; /* all of the frame: parameters, results, captures */
    uint32_t param_words, result_words;
    uint32_t ntasks;
    bool
        has_unbounded_loops; /* may run for long whatever the arguments: a while, bounds that are neither array lengths
                                 nor constants, recursion, nests of three lengths, many constant iterations */
    bool has_recursion;      /* may need PS_RECURSION_STACK bytes of the stack */
    bool has_nested_loops;   /* may take the square of the arrays' size */
    PsVec(PsCodeSite) sites; /* fault sites, in arena of the module */
    PsVec(PsCodeNote) notes; /* filled when asked for, in arena of the module; in the order of the program */
    PsBuf llvm_ir, assembly; /* filled when asked for */
} PsCode;
typedef struct PsCodegenRequest {
    const PsModule *module;
    PsTarget target;
    bool want_llvm_ir, want_assembly;
    bool want_lines; /* .loc directives in the assembly: of source << 16 | line there */
    bool want_notes; /* and no code: nothing is optimised */
    long *
        fail_after; /* NULL, or for tests: the caller's ps_alloc_fails_after, in and out, as this library has an
                         allocator of its own */
} PsCodegenRequest;

/* Defines `ps_main` (PsMainFn) in the ELF; everything else in it is local. Thread-safe. */
PsStatus ps_codegen_entry(const PsCodegenRequest *request, PsCode *out, PsDiag *diag);
typedef PsStatus (*PsCodegenEntryFn)(const PsCodegenRequest *request, PsCode *out, PsDiag *diag);

#endif
