/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_module: the entry: survey, emit, optimise, object file. One LLVMContext per compilation, dropped at its end.
 * What fails inside LLVM becomes a message; codegen_target.c says how.
 */
#include "codegen/codegen_int.h"

#include <llvm-c/Target.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- errors -- */

static PsSpan span_at(const Codegen *cg, uint32_t span) {
    return span < cg->m->spans.len ? cg->m->spans.data[span] : (PsSpan){0};
}

void cg_unsupported(Codegen *cg, uint32_t span, const char *format, ...) {
    char text[160];
    va_list args;
    if (cg->status != PS_OK) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cg->status = ps_diag_fail(cg->diag, span_at(cg, span), PS_MSG_CODEGEN_UNSUPPORTED, text);
}

void cg_too_many_locals(Codegen *cg, uint32_t span, int bytes) {
    if (cg->status == PS_OK)
        cg->status = ps_diag_fail(cg->diag, span_at(cg, span), PS_MSG_CODEGEN_LOCALS, bytes);
}

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *data) {
    Codegen *cg = data;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || cg->llvm_error) return;
    cg->llvm_error = LLVMGetDiagInfoDescription(info);
}

uint32_t cg_site(Codegen *cg, PsFaultKind kind, uint32_t span) {
    PsCodeSite site = {.kind = (uint32_t)kind};
    if (span < cg->m->spans.len) site.span = cg->m->spans.data[span];
    if (!ps_vec_push(cg->arena, &cg->out->sites, site)) return 0;
    return cg->out->sites.len - 1;
}

/* -- the module -- */

static LLVMValueRef declare(Codegen *cg, const char *name, LLVMTypeRef *out_type, LLVMTypeRef result,
                            LLVMTypeRef *params, unsigned n) {
    *out_type = LLVMFunctionType(result, params, n, 0);
    LLVMValueRef fn = LLVMAddFunction(cg->module, name, *out_type);
    cg_attribute(cg, fn, "nounwind", 0);
    return fn;
}

static void declare_runtime(Codegen *cg) {
    LLVMTypeRef task[] = {cg->ptr, cg->ptr, cg->i64, cg->i64},
                parallel[] = {cg->ptr, cg->ptr, cg->ptr, cg->i32};
    LLVMTypeRef fault[] = {cg->ptr, cg->i32, cg->i32, cg->ptr}, print[] = {cg->ptr, cg->ptr, cg->ptr};
    cg->task_type = LLVMFunctionType(cg->i32, task, 4, 0);
    cg->parallel_fn = declare(cg, "ps_rt_parallel_for", &cg->parallel_type, cg->i32, parallel, 4);
    cg->fault_fn = declare(cg, "ps_rt_fault", &cg->fault_type, cg->none, fault, 4);
    LLVMTypeRef called[] = {cg->ptr, cg->i32};
    cg->called_fn = declare(cg, "ps_rt_called", &cg->called_type, cg->none, called, 2);
    cg_attribute(cg, cg->called_fn, "cold", 0);
    cg_attribute(cg, cg->fault_fn, "cold", 0);
    cg->warn_fn = declare(cg, "ps_rt_warn", &cg->warn_type, cg->none, called, 2);
    cg_attribute(cg, cg->warn_fn, "cold", 0);
    cg->print_fn = declare(cg, "ps_rt_print", &cg->print_type, cg->none, print, 3);
    LLVMMetadataRef weights[3] = {LLVMMDStringInContext2(cg->ctx, "branch_weights", 14),
                                  LLVMValueAsMetadata(LLVMConstInt(cg->i32, 100000, 0)),
                                  LLVMValueAsMetadata(LLVMConstInt(cg->i32, 1, 0))};
    cg->cold_weights = LLVMMDNodeInContext2(cg->ctx, weights, 3);
}

static void emit_module(Codegen *cg) {
    cg_types_init(cg);
    cg_survey(cg);
    if (cg->request->want_notes) cg->how = ps_arena_alloc(cg->arena, cg->m->funcs.data[0]->ops.len + 1);
    if (ps_arena_failed(cg->arena)) return;
    cg_lines_open(cg);
    declare_runtime(cg);
    cg_declare_funcs(cg);
    if (ps_arena_failed(cg->arena)) return;
    cg_emit_funcs(cg);
    cg_emit_main(cg);
    if (cg->request->want_notes && !ps_arena_failed(cg->arena)) cg_explain(cg);
}

/* Costs as much as a pass; for builds that look for mistakes. */
static bool wants_verifier(void) {
#ifdef NDEBUG
    return getenv("PESTLE_VERIFY") != NULL;
#else
    return true;
#endif
}

static void verify(Codegen *cg) {
    char *message = NULL;
    if (wants_verifier() && LLVMVerifyModule(cg->module, LLVMReturnStatusAction, &message) && !cg->llvm_error)
        cg->llvm_error = LLVMCreateMessage(message);
    LLVMDisposeMessage(message);
}

/* -- results -- */

static void add_text(PsBuf *out, char *text) {
    ps_buf_text(out, text);
    LLVMDisposeMessage(text);
}

static void emit_file(Codegen *cg, LLVMTargetMachineRef machine, LLVMModuleRef module, LLVMCodeGenFileType type,
                      PsBuf *out) {
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, type, &message, &buffer)) {
        if (!cg->llvm_error) cg->llvm_error = LLVMCreateMessage(message);
        LLVMDisposeMessage(message);
        return;
    }
    ps_buf_add(out, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
}

static void emit_files(Codegen *cg, LLVMTargetMachineRef machine) {
    PsCode *out = cg->out;
    if (cg->request->want_llvm_ir) add_text(&out->llvm_ir, LLVMPrintModuleToString(cg->module));
    if (cg->request->want_assembly) {
        LLVMModuleRef copy = LLVMCloneModule(cg->module); /* emitting changes a module */
        emit_file(cg, machine, copy, LLVMAssemblyFile, &out->assembly);
        LLVMDisposeModule(copy);
    }
    emit_file(cg, machine, cg->module, LLVMObjectFile, &out->elf);
}

/* -- the entry -- */

typedef struct Work {
    Codegen *cg;
    Machine *machine;
    const char *refused;
} Work;

static bool failed(const Codegen *cg) {
    return cg->status != PS_OK || cg->llvm_error || ps_arena_failed(cg->arena);
}

static void compile(void *data) {
    Work *work = data;
    Codegen *cg = work->cg;
    work->machine = cg_machine_take(&cg->request->target, &work->refused);
    if (!work->machine) return;
    LLVMTargetMachineRef machine = cg_machine_llvm(work->machine);
    cg->ctx = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(cg->ctx, on_diagnostic, cg);
    cg->module = LLVMModuleCreateWithNameInContext("pestle", cg->ctx);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(cg->module, layout);
    LLVMDisposeTargetData(layout);
    char *triple = LLVMGetTargetMachineTriple(machine);
    LLVMSetTarget(cg->module, triple);
    LLVMDisposeMessage(triple);
    emit_module(cg);
    cg_lines_close(cg);
    if (!failed(cg)) verify(cg);
    if (!failed(cg) && !cg->request->want_notes) {
        cg_optimise(cg, machine);
        if (!failed(cg)) emit_files(cg, machine);
    }
    LLVMDisposeModule(cg->module);
    LLVMContextDispose(cg->ctx);
    cg_machine_give(work->machine);
}

static PsStatus conclude(Codegen *cg, const Work *work) {
    PsCode *out = cg->out;
    PsStatus status = ps_arena_failed(cg->arena) ? PS_NOMEM : cg->status;
    if (status == PS_OK && cg->llvm_error)
        status = ps_diag_fail(cg->diag, (PsSpan){0}, PS_MSG_CODEGEN_LLVM, cg->llvm_error);
    if (status == PS_OK && work->refused)
        status = ps_diag_fail(cg->diag, (PsSpan){0}, PS_MSG_CODEGEN_LLVM, work->refused);
    bool no_memory = ps_arena_failed(cg->arena) || !work->machine || out->elf.failed || out->llvm_ir.failed ||
                     out->assembly.failed;
    if (status == PS_OK && no_memory) status = PS_NOMEM;
    if (cg->llvm_error) LLVMDisposeMessage(cg->llvm_error);
    if (status == PS_OK) return PS_OK;
    ps_buf_free(&out->elf);
    ps_buf_free(&out->llvm_ir);
    ps_buf_free(&out->assembly);
    return status;
}

__attribute__((visibility("default"))) PsStatus ps_codegen_entry(const PsCodegenRequest *request, PsCode *out,
                                                                 PsDiag *diag) {
    const PsModule *m = request->module;
    const char *error;
    *out = (PsCode){0};
    Codegen *cg = ps_arena_alloc(m->arena, sizeof *cg);
    if (!cg || ps_arena_failed(m->arena)) return PS_NOMEM;
    *cg = (Codegen){.m = m, .request = request, .arena = m->arena, .out = out, .diag = diag};
    const char *features = request->target.features ? request->target.features : "";
    cg->has_f16c = strstr(features, "+f16c");
    cg->has_masks = strstr(features, "+avx512vl") && strstr(features, "+avx512bw");
    cg->has_lanes = strstr(features, "+avx2") && strstr(features, "+fma");
    if (!m->funcs.len)
        return ps_diag_fail(diag, (PsSpan){0}, PS_MSG_CODEGEN_UNSUPPORTED, "a module without functions");
    Work work = {.cg = cg};
    if (request->fail_after) ps_alloc_fail_after(*request->fail_after);
    bool finished = cg_guarded(compile, &work, &error);
    if (request->fail_after) *request->fail_after = ps_alloc_fails_after();
    if (request->fail_after) ps_alloc_fail_after(-1);
    if (finished) return conclude(cg, &work);
    ps_buf_free(&out->elf); /* what LLVM held is lost */
    return ps_diag_fail(diag, (PsSpan){0}, PS_MSG_CODEGEN_LLVM, error);
}
