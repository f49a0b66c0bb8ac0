/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_effect: what generated code tells the runtime: faults and printed values. Both pass words in a scratch array
 * of the function, one for all such places, because each is read before the call returns.
 */
#include "codegen/codegen_int.h"

#include <string.h>

LLVMValueRef cg_scratch(Emitter *e, uint32_t words) {
    if (words > e->scratch_words || !e->scratch) {
        e->scratch_words = words > PS_FAULT_VALUES ? words : PS_FAULT_VALUES;
        e->scratch = cg_alloca(e, LLVMArrayType2(e->cg->i64, e->scratch_words), 8);
    }
    return e->scratch;
}

void cg_fault(Emitter *e, uint32_t site, LLVMValueRef *values, unsigned n) {
    Codegen *cg = e->cg;
    LLVMValueRef words = cg_scratch(e, PS_FAULT_VALUES);
    for (unsigned i = 0; i < n && i < PS_FAULT_VALUES; i++) cg_store_at(e, values[i], words, 8 * i, 8);
    LLVMValueRef args[4] = {e->ts, LLVMConstInt(cg->i32, site, 0), LLVMConstInt(cg->i32, n, 0), words};
    LLVMBuildCall2(e->b, cg->fault_type, cg->fault_fn, args, 4, "");
    cg_return_fault(e);
}

LLVMValueRef cg_emit_check(Emitter *e, PsRef r) {
    const PsOp *op = ps_op(e->f, r);
    LLVMBasicBlockRef go = cg_block(e, "ok"), stop = cg_block(e, "fault");
    LLVMValueRef values[PS_FAULT_VALUES];
    unsigned n = 0;
    cg_branch_cold(e, cg_arg(e, r, 0), go, stop);
    LLVMPositionBuilderAtEnd(e->b, stop);
    for (; n + 1 < op->nargs && n < PS_FAULT_VALUES; n++) values[n] = cg_wide(e, ps_op_arg(e->f, r, n + 1));
    cg_fault(e, cg_site(e->cg, (PsFaultKind)op->imm, op->span), values, n);
    LLVMPositionBuilderAtEnd(e->b, go);
    return NULL;
}

LLVMValueRef cg_emit_warn(Emitter *e, PsRef r) {
    const PsOp *op = ps_op(e->f, r);
    LLVMBasicBlockRef go = cg_block(e, "ok"), warn = cg_block(e, "warn");
    cg_branch_cold(e, cg_arg(e, r, 0), go, warn);
    LLVMPositionBuilderAtEnd(e->b, warn);
    uint32_t site = cg_site(e->cg, (PsFaultKind)op->imm, op->span);
    LLVMValueRef args[2] = {e->ts, LLVMConstInt(e->cg->i32, site, 0)};
    LLVMBuildCall2(e->b, e->cg->warn_type, e->cg->warn_fn, args, 2, "");
    LLVMBuildBr(e->b, go);
    LLVMPositionBuilderAtEnd(e->b, go);
    return NULL;
}

static LLVMValueRef text(Codegen *cg, const char *chars) {
    size_t len = strlen(chars);
    LLVMValueRef global = LLVMAddGlobal(cg->module, LLVMArrayType2(cg->i8, len + 1), "");
    LLVMSetInitializer(global, LLVMConstStringInContext2(cg->ctx, chars, len, 0));
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    return global;
}

LLVMValueRef cg_emit_print(Emitter *e, PsRef r) {
    Codegen *cg = e->cg;
    const PsOp *op = ps_op(e->f, r);
    if (op->imm >= cg->m->texts.len) {
        cg_unsupported(cg, op->span, "`print` without a text");
        return NULL;
    }
    LLVMValueRef words = cg_scratch(e, op->nargs);
    for (uint32_t i = 0; i < op->nargs; i++) {
        PsRef value = ps_op_arg(e->f, r, i);
        PsType type = ps_op(e->f, value)->type;
        if (!ps_type_is_scalar(type)) {
            cg_unsupported(cg, op->span, "`print` of a value of this type");
            return NULL;
        }
        cg_store_at(e, cg_to_word(e, type, cg_value(e, value)), words, 8 * i, 8);
    }
    LLVMValueRef args[3] = {e->ts, text(cg, cg->m->texts.data[op->imm]), words};
    LLVMBuildCall2(e->b, cg->print_type, cg->print_fn, args, 3, "");
    return NULL;
}
