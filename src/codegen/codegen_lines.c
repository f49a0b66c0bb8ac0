/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_lines: which line of the program each instruction comes from, in assembly that shows it (PsCodegenRequest.want_lines):
 * as debug information whose line numbers are source << 16 | line, the source and the line counted from its first. Code that is
 * compiled to be run has none, and costs nothing for it.
 */
#include "codegen/codegen_int.h"

#include <llvm-c/DebugInfo.h>

#define NAME       "pestle"
#define MAX_LINE   0xffff
#define MAX_SOURCE 0x7fff

void cg_lines_open(Codegen *cg) {
    if (!cg->request->want_lines) return;
    size_t length = sizeof NAME - 1;
    cg->lines = LLVMCreateDIBuilder(cg->module);
    cg->lines_file = LLVMDIBuilderCreateFile(cg->lines, NAME, length, "", 0);
    LLVMDIBuilderCreateCompileUnit(cg->lines, LLVMDWARFSourceLanguageC, cg->lines_file, NAME, length, 1, "", 0,
                                   0, "", 0, LLVMDWARFEmissionLineTablesOnly, 0, 0, 0, "", 0, "", 0);
    LLVMMetadataRef version = LLVMValueAsMetadata(LLVMConstInt(cg->i32, LLVMDebugMetadataVersion(), 0));
    LLVMAddModuleFlag(cg->module, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18, version);
}

void cg_lines_function(Emitter *e) {
    Codegen *cg = e->cg;
    if (!cg->lines) return;
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(cg->lines, cg->lines_file, NULL, 0, LLVMDIFlagZero);
    e->scope = LLVMDIBuilderCreateFunction(cg->lines, cg->lines_file, NAME, sizeof NAME - 1, "", 0,
                                           cg->lines_file, 1, type, 1, 1, 1, LLVMDIFlagZero, 1);
    LLVMSetSubprogram(e->fn, e->scope);
}

void cg_lines_at(Emitter *e, uint32_t span) {
    if (!e->scope || span >= e->cg->m->spans.len) return;
    PsSpan at = e->cg->m->spans.data[span];
    if (!at.source || at.source > MAX_SOURCE || at.line > MAX_LINE) return;
    unsigned line = at.source << 16 | at.line;
    LLVMSetCurrentDebugLocation2(e->b, LLVMDIBuilderCreateDebugLocation(e->cg->ctx, line, 0, e->scope, NULL));
}

/* Functions that were filled by an emitter of another one got its lines. */
static void forget_lines(LLVMValueRef fn) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(fn); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            LLVMInstructionSetDebugLoc(i, NULL);
}

void cg_lines_close(Codegen *cg) {
    if (!cg->lines) return;
    for (LLVMValueRef fn = LLVMGetFirstFunction(cg->module); fn; fn = LLVMGetNextFunction(fn))
        if (!LLVMGetSubprogram(fn)) forget_lines(fn);
    LLVMDIBuilderFinalize(cg->lines);
    LLVMDisposeDIBuilder(cg->lines);
    cg->lines = NULL;
}
