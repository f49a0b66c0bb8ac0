/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_control: regions and structured control as basic blocks. Serial loops count in i64, whatever the index's type,
 * and are emitted rotated (guard, body, test at the end), the form LLVM's loop passes want, so no pass has to make it.
 *
 * After break, continue, return the rest of a region is dead and is not emitted: a block never gets a second terminator.
 * Calls: where a module has recursion, the caller counts the depth in the task state, as the evaluator does; too deep is a
 * fault, checked or not, because a stack that overflows would end the process.
 *
 * Not here: parfor.
 */
#include "codegen/codegen_int.h"

LLVMBasicBlockRef cg_block(Emitter *e, const char *name) {
    return LLVMAppendBasicBlockInContext(e->cg->ctx, e->fn, name);
}

bool cg_ended(Emitter *e) { return LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(e->b)) != NULL; }

void cg_enter(Emitter *e, LLVMBasicBlockRef block) {
    if (!cg_ended(e)) LLVMBuildBr(e->b, block);
    LLVMPositionBuilderAtEnd(e->b, block);
}

void cg_emit_region(Emitter *e, PsRegion region) {
    if (e->nesting >= CG_MAX_NESTING) {
        PsRef owner = ps_region(e->f, region)->owner;
        cg_unsupported(e->cg, ps_op(e->f, owner)->span, "control nested deeper than %d", CG_MAX_NESTING);
        return;
    }
    e->nesting++;
    for (PsRef r = ps_region(e->f, region)->first; r && !cg_ended(e) && !e->left; r = ps_op(e->f, r)->next)
        cg_emit_op(e, r);
    e->nesting--;
}

void cg_branch_cold(Emitter *e, LLVMValueRef cond, LLVMBasicBlockRef hot, LLVMBasicBlockRef cold) {
    Codegen *cg = e->cg;
    LLVMValueRef branch = LLVMBuildCondBr(e->b, cond, hot, cold);
    LLVMSetMetadata(branch, cg->md_weights, LLVMMetadataAsValue(cg->ctx, cg->cold_weights));
}

void cg_return_fault(Emitter *e) {
    Codegen *cg = e->cg;
    if (e->kind != EMIT_FUNC)
        LLVMBuildRet(e->b, LLVMConstInt(cg->i32, 1, 0));
    else if (e->info->result)
        LLVMBuildRet(e->b, LLVMConstNull(cg->scalars[e->info->result]));
    else
        LLVMBuildRetVoid(e->b);
}

void cg_stop_if(Emitter *e, LLVMValueRef stop) {
    LLVMBasicBlockRef go = cg_block(e, "go"), out = cg_block(e, "stop");
    cg_branch_cold(e, LLVMBuildNot(e->b, stop, ""), go, out);
    LLVMPositionBuilderAtEnd(e->b, out);
    cg_return_fault(e);
    LLVMPositionBuilderAtEnd(e->b, go);
}

/* -- counted loops -- */

void cg_count_begin(Emitter *e, Counter *c, LLVMValueRef lo, LLVMValueRef hi, uint64_t step, bool guarded) {
    c->head = cg_block(e, "loop");
    c->latch = cg_block(e, "next");
    c->leave = cg_block(e, "end");
    c->hi = hi;
    c->step = step;
    c->id = NULL;
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    if (guarded)
        LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, lo, hi, ""), c->head, c->leave);
    else
        LLVMBuildBr(e->b, c->head);
    LLVMPositionBuilderAtEnd(e->b, c->head);
    c->phi = LLVMBuildPhi(e->b, e->cg->i64, "");
    LLVMAddIncoming(c->phi, &lo, &from, 1);
}

/* The counter stays below hi, so that adding the step cannot wrap; hi - lo is a multiple of the step. */
void cg_count_end(Emitter *e, Counter *c) {
    if (LLVMGetInsertBlock(e->b) != c->latch) cg_enter(e, c->latch);
    LLVMValueRef next = LLVMBuildNSWAdd(e->b, c->phi, LLVMConstInt(e->cg->i64, c->step, 0), "");
    LLVMValueRef done = LLVMBuildICmp(e->b, LLVMIntEQ, next, c->hi, "");
    LLVMValueRef branch = LLVMBuildCondBr(e->b, done, c->leave, c->head);
    if (c->id) LLVMSetMetadata(branch, e->cg->md_loop, LLVMMetadataAsValue(e->cg->ctx, c->id));
    LLVMAddIncoming(c->phi, &next, &c->latch, 1);
    LLVMPositionBuilderAtEnd(e->b, c->leave);
}

LLVMValueRef cg_emit_for(Emitter *e, PsRef r) {
    Codegen *cg = e->cg;
    PsRegion region = ps_op(e->f, r)->region0;
    const PsRegionInfo *info = ps_region(e->f, region);
    if (ps_op(e->f, r)->nargs != 2 || info->nparams != 1) {
        cg_unsupported(cg, ps_op(e->f, r)->span, "a `for` of this shape");
        return NULL;
    }
    PsType type = ps_op(e->f, info->params)->type;
    Counter c;
    Chunks chunks;
    bool cut = cg_poll_chunks(e, r);
    LLVMValueRef lo = cg_wide(e, ps_op_arg(e->f, r, 0)), hi = cg_wide(e, ps_op_arg(e->f, r, 1));
    if (cut) cg_chunks_begin(e, &chunks, lo, hi, CG_CHUNK);
    cg_count_begin(e, &c, cut ? chunks.lo : lo, cut ? chunks.end : hi, 1, !cut);
    if (cg_poll_each(e, r)) cg_poll(e);
    LLVMValueRef index = c.phi;
    if (type == PS_I32) {
        index = LLVMBuildTrunc(e->b, c.phi, cg->i32, ""); /* between two i32s */
        LLVMSetNSW(index, 1);
    }
    cg_set(e, info->params, index, c.phi);
    if (ps_op(e->f, r)->imm)
        c.id = cg_rolled_loop(cg);
    else if (cg_stays_scalar(e->f, r))
        c.id = cg_scalar_loop(cg);
    Target target = {.next = c.latch, .leave = cut ? chunks.leave : c.leave, .outer = e->target};
    e->target = &target;
    cg_emit_region(e, region);
    e->target = target.outer;
    cg_count_end(e, &c);
    if (cut) cg_chunks_end(e, &chunks);
    return NULL;
}

/* -- other control -- */

LLVMValueRef cg_emit_if(Emitter *e, PsRef r) {
    PsRegion then = ps_op(e->f, r)->region0, other = then + 1;
    bool has_else = ps_region(e->f, other)->first != 0;
    LLVMBasicBlockRef yes = cg_block(e, "then"), no = has_else ? cg_block(e, "else") : NULL, end = NULL;
    if (!has_else) end = cg_block(e, "fi");
    LLVMBuildCondBr(e->b, cg_arg(e, r, 0), yes, has_else ? no : end);
    LLVMValueRef mask = e->mask;
    for (int side = 0; side < (has_else ? 2 : 1); side++) {
        LLVMPositionBuilderAtEnd(e->b, side ? no : yes);
        e->mask = mask;
        cg_emit_region(e, side ? other : then);
        e->left = false;
        if (cg_ended(e)) continue;
        if (!end) end = cg_block(e, "fi");
        LLVMBuildBr(e->b, end);
    }
    if (end) LLVMPositionBuilderAtEnd(e->b, end); /* else both sides ended, and so does this region */
    return NULL;
}

LLVMValueRef cg_emit_while(Emitter *e, PsRef r) {
    PsRegion test = ps_op(e->f, r)->region0;
    LLVMBasicBlockRef head = cg_block(e, "while"), body = cg_block(e, "do"), end = cg_block(e, "done");
    Target target = {.next = head, .leave = end, .outer = e->target};
    e->target = &target;
    cg_enter(e, head);
    e->yielded = NULL;
    cg_emit_region(e, test);
    if (!cg_ended(e)) {
        LLVMValueRef go = e->yielded ? e->yielded : LLVMConstInt(e->cg->i1, 0, 0);
        LLVMBuildCondBr(e->b, go, body, end);
    }
    LLVMPositionBuilderAtEnd(e->b, body);
    cg_poll(e); /* not at the end: LLVM would not rotate the loop */
    cg_emit_region(e, test + 1);
    if (!cg_ended(e)) LLVMBuildBr(e->b, head);
    e->target = target.outer;
    LLVMPositionBuilderAtEnd(e->b, end);
    return NULL;
}

LLVMValueRef cg_emit_jump(Emitter *e, PsRef r) {
    const PsOp *op = ps_op(e->f, r);
    if (op->code == PS_OP_YIELD) {
        e->yielded = cg_arg(e, r, 0);
        return NULL;
    }
    LLVMBasicBlockRef to = !e->target ? NULL : op->code == PS_OP_BREAK ? e->target->leave : e->target->next;
    if (to)
        LLVMBuildBr(e->b, to);
    else
        cg_unsupported(e->cg, op->span, "`%s` here", ps_op_info[op->code].name);
    return NULL;
}

LLVMValueRef cg_emit_return(Emitter *e, PsRef r) {
    Codegen *cg = e->cg;
    const PsOp *op = ps_op(e->f, r);
    if (e->kind == EMIT_TASK) {
        cg_unsupported(cg, op->span, "`return` in a parallel loop");
        return NULL;
    }
    if (e->kind == EMIT_FUNC) {
        if (op->nargs && e->info->result)
            LLVMBuildRet(e->b, cg_arg(e, r, 0));
        else if (e->info->result)
            cg_return_fault(e);
        else
            LLVMBuildRetVoid(e->b);
        return NULL;
    }
    for (uint32_t i = 0; i < op->nargs && i < e->f->results.len; i++) {
        PsType type = e->f->results.data[i];
        if (ps_type_is_scalar(type))
            cg_store_at(e, cg_to_word(e, type, cg_arg(e, r, i)), cg_frame_word(e, cg->result_word0 + i), 0, 8);
        else
            cg_unsupported(cg, op->span, "a result of this type");
    }
    LLVMBuildRet(e->b, LLVMConstInt(cg->i32, 0, 0));
    return NULL;
}

/* -- calls -- */

/* The depth before the call, after checking that one more fits. */
static LLVMValueRef enter_depth(Emitter *e, uint32_t span) {
    Codegen *cg = e->cg;
    LLVMValueRef depth = cg_load_at(e, cg->i32, e->ts, offsetof(PsTaskState, depth), 4);
    LLVMValueRef next = LLVMBuildAdd(e->b, depth, LLVMConstInt(cg->i32, 1, 0), "");
    LLVMValueRef fits = LLVMBuildICmp(e->b, LLVMIntSLT, depth, LLVMConstInt(cg->i32, cg->max_depth, 0), "");
    LLVMBasicBlockRef go = cg_block(e, "go"), stop = cg_block(e, "deep");
    cg_branch_cold(e, fits, go, stop);
    LLVMPositionBuilderAtEnd(e->b, stop);
    LLVMValueRef wide = LLVMBuildSExt(e->b, next, cg->i64, "");
    cg_fault(e, cg_site(cg, PS_FAULT_DEPTH, span), &wide, 1);
    LLVMPositionBuilderAtEnd(e->b, go);
    cg_store_at(e, next, e->ts, offsetof(PsTaskState, depth), 4);
    return depth;
}

/* Adds a place: its address, and a tile's strides. */
static bool add_place(Emitter *e, PsRef place, PsType type, LLVMValueRef *args, uint32_t *at) {
    const PsTypeInfo *tile = ps_type_info(e->cg->m, ps_type_info(e->cg->m, type)->elem);
    args[(*at)++] = cg_value(e, place);
    if (tile->kind == PS_KIND_TILE && !cg_tile_strides(e, place, &args[*at])) return false;
    *at += tile->ndim;
    return true;
}

/* The task state and the operands, arrays as their words; NULL: they do not fit the function. */
static LLVMValueRef *call_args(Emitter *e, PsRef r, const PsFunc *callee, uint32_t *out_n) {
    uint32_t n = cg_param_word(callee, callee->params.len) + 1, at = 0;
    LLVMValueRef *args = ps_arena_alloc(e->cg->arena, sizeof *args * n);
    if (!args || ps_op(e->f, r)->nargs != callee->params.len) return NULL;
    args[at++] = e->ts;
    for (uint32_t i = 0; i < callee->params.len; i++) {
        const PsTypeInfo *info = ps_type_info(e->cg->m, callee->params.data[i]);
        PsRef operand = ps_op_arg(e->f, r, i);
        if (ps_type_is_scalar(callee->params.data[i])) {
            args[at++] = cg_value(e, operand);
            continue;
        }
        if (info->kind == PS_KIND_PTR) {
            if (!add_place(e, operand, callee->params.data[i], args, &at)) return NULL;
            continue;
        }
        const ArrayWords *words = info->kind == PS_KIND_ARRAY ? cg_array(e, operand) : NULL;
        if (!words) return NULL;
        args[at++] = words->data;
        for (uint8_t k = 0; k < info->ndim; k++) args[at++] = words->shape[k];
        for (uint8_t k = 0; k < info->ndim; k++) args[at++] = words->strides[k];
    }
    *out_n = at;
    return args;
}

/* Whether, once it is inlined, the call's accesses to memory are to what iterations do not share: arrays, and locals
 * that LLVM has made values of by then. */
static bool is_independent(const Emitter *e, PsRef r, const FuncInfo *callee) {
    if (!callee->inlined || callee->serial || callee->lasts) return false;
    for (uint32_t i = 0; i < ps_op(e->f, r)->nargs; i++) {
        PsRef root = ps_place_root(e->f, ps_op_arg(e->f, r, i));
        if (ps_op(e->f, root)->code != PS_OP_VAR) continue;
        if (e->cg->homes[root].lasts || !e->cg->homes[root].parfor) return false;
    }
    return true;
}

/* Returns when the function did so after a fault, which this call then led to. */
static void pass_fault_on(Emitter *e, uint32_t span) {
    Codegen *cg = e->cg;
    LLVMValueRef fault = cg_load_at(e, cg->i32, e->ts, offsetof(PsTaskState, fault), 4);
    LLVMValueRef fine = LLVMBuildICmp(e->b, LLVMIntEQ, fault, LLVMConstInt(cg->i32, 0, 0), "");
    LLVMBasicBlockRef go = cg_block(e, "go"), stop = cg_block(e, "stop");
    cg_branch_cold(e, fine, go, stop);
    LLVMPositionBuilderAtEnd(e->b, stop);
    LLVMValueRef args[2] = {e->ts, LLVMConstInt(cg->i32, cg_site(cg, PS_FAULT_CALLED, span), 0)};
    LLVMBuildCall2(e->b, cg->called_type, cg->called_fn, args, 2, "");
    cg_return_fault(e);
    LLVMPositionBuilderAtEnd(e->b, go);
}

LLVMValueRef cg_emit_call(Emitter *e, PsRef r) {
    Codegen *cg = e->cg;
    const PsOp *op = ps_op(e->f, r);
    const FuncInfo *info = op->imm && op->imm < cg->m->funcs.len ? &cg->funcs[op->imm] : NULL;
    uint32_t n;
    LLVMValueRef *args = info && info->fn ? call_args(e, r, cg->m->funcs.data[op->imm], &n) : NULL,
                 depth = NULL;
    if (!args) {
        cg_unsupported(cg, op->span, "a call with these arguments");
        return NULL;
    }
    if (cg->has_recursion) depth = enter_depth(e, op->span);
    LLVMValueRef call = LLVMBuildCall2(e->b, info->type, info->fn, args, n, "");
    if (e->parallel && is_independent(e, r, info)) LLVMSetMetadata(call, cg->md_parallel, e->parallel);
    if (depth) cg_store_at(e, depth, e->ts, offsetof(PsTaskState, depth), 4);
    if (cg->has_recursion || info->faults) pass_fault_on(e, op->span);
    if (op->type == PS_KIND_NONE) return NULL;
    return info->result == op->type ? call : NULL;
}
