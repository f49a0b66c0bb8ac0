/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_func: LLVM functions around bodies. main(frame) reads its parameters from frame words; other functions take
 * the task state, then scalars by value, arrays as their words (data, lengths, strides), places as an address and, of
 * tiles, strides. Also how an emitter finds
 * the value of an op, wherever it was computed.
 */
#include "codegen/codegen_int.h"

#include <stdio.h>
#include <string.h>

/* -- opening and closing -- */

bool cg_emitter_open(Emitter *e, Codegen *cg, const PsFunc *f, EmitterKind kind, LLVMValueRef fn,
                     Value *slots) {
    *e = (Emitter){.cg = cg, .f = f, .kind = kind, .fn = fn, .slots = slots, .id = ++cg->next_emitter};
    e->arrays = ps_arena_alloc(cg->arena, sizeof(ArrayWords *) * (f->params.len + 1));
    if (!e->arrays) return false;
    char width[16];
    int len = snprintf(width, sizeof width, "%d", cg->request->target.vector_bits);
    LLVMAddAttributeAtIndex(
        fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(cg->ctx, "prefer-vector-width", 19, width, (unsigned)len));
    cg_attribute(cg, fn, "nounwind", 0);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(cg->ctx, fn, "entry");
    e->body = LLVMAppendBasicBlockInContext(cg->ctx, fn, "body");
    e->entry = LLVMCreateBuilderInContext(cg->ctx);
    e->b = LLVMCreateBuilderInContext(cg->ctx);
    LLVMPositionBuilderAtEnd(e->entry, entry);
    LLVMPositionBuilderAtEnd(e->b, e->body);
    cg_lines_function(e);
    return true;
}

void cg_emitter_close(Emitter *e) {
    LLVMBuildBr(e->entry, e->body);
    LLVMDisposeBuilder(e->entry);
    LLVMDisposeBuilder(e->b);
}

/* -- parameters -- */

static uint32_t words_of(const PsModule *m, PsType type) {
    const PsTypeInfo *info = ps_type_info(m, type);
    if (info->kind == PS_KIND_PTR) return 1 + ps_type_info(m, info->elem)->ndim;
    return info->kind == PS_KIND_ARRAY ? 1 + 2 * info->ndim : 1;
}

uint32_t cg_param_word(const PsFunc *f, uint32_t param) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < param && i < f->params.len; i++) word += words_of(f->module, f->params.data[i]);
    return word;
}

/* In the entry block: every use of the frame is there, and so is at most one address per word and function. */
LLVMValueRef cg_frame_word(Emitter *e, uint32_t word) {
    LLVMBuilderRef back = e->b;
    e->b = e->entry;
    LLVMValueRef at = cg_at(e, e->frame, sizeof(PsFrame) + 8 * (uint64_t)word);
    e->b = back;
    return at;
}

static LLVMValueRef frame_i64(Emitter *e, uint32_t word, LLVMTypeRef type) {
    LLVMBuilderRef back = e->b;
    e->b = e->entry;
    LLVMValueRef value = cg_load_at(e, type, cg_frame_word(e, word), 0, 8);
    e->b = back;
    return value;
}

/* The next word of an array: a parameter of the LLVM function, or a frame word. */
static LLVMValueRef array_word(Emitter *e, uint32_t word, LLVMTypeRef type) {
    return e->kind == EMIT_FUNC ? LLVMGetParam(e->fn, word) : frame_i64(e, word, type);
}

const ArrayWords *cg_array(Emitter *e, PsRef array) {
    const PsOp *op = ps_op(e->f, array);
    uint64_t param = op->imm;
    if (op->code != PS_OP_ARG || param >= e->f->params.len) return NULL;
    if (e->arrays[param]) return e->arrays[param];
    const PsTypeInfo *info = ps_type_info(e->cg->m, e->f->params.data[param]);
    ArrayWords *words = ps_arena_alloc(e->cg->arena, sizeof *words);
    if (!words || info->kind != PS_KIND_ARRAY || !ps_type_is_scalar(info->elem)) return NULL;
    uint32_t word =
        cg_param_word(e->f, (uint32_t)param) + (e->kind == EMIT_FUNC ? 1 : 0); /* after the task state */
    words->data = array_word(e, word++, e->cg->ptr);
    for (uint8_t i = 0; i < info->ndim; i++) words->shape[i] = array_word(e, word++, e->cg->i64);
    for (uint8_t i = 0; i < info->ndim; i++) words->strides[i] = array_word(e, word++, e->cg->i64);
    if (ps_type_unit_axis(info) >= 0)
        words->strides[ps_type_unit_axis(info)] =
            LLVMConstInt(e->cg->i64, (uint64_t)ps_scalar_size(info->elem), 0);
    return e->arrays[param] = words;
}

/* -- values -- */

void cg_set(Emitter *e, PsRef r, LLVMValueRef value, LLVMValueRef wide) {
    e->slots[r] = (Value){value, wide, e->id};
}

/* In a task: a value that main computed, made again or loaded, in the entry block. */
static void capture(Emitter *e, PsRef r) {
    const PsOp *op = ps_op(e->f, r);
    LLVMBuilderRef back = e->b;
    const Home *home = &e->cg->homes[r];
    e->b = e->entry;
    if (op->code == PS_OP_ARG || op->code == PS_OP_DIM || op->code == PS_OP_BASE || op->code == PS_OP_STRIDE) {
        cg_emit_op(e, r);
    } else if (op->code == PS_OP_VAR && home->word) {
        cg_set(e, r, cg_frame_word(e, home->word - 1), NULL);
    } else if (home->word) {
        LLVMValueRef word = cg_frame_word(e, home->word - 1);
        if (ps_type_is_scalar(op->type)) {
            LLVMValueRef bits = cg_load_at(e, e->cg->i64, word, 0, 8);
            cg_set(e, r, cg_from_word(e, op->type, bits), NULL);
        } else {
            cg_set(e, r, cg_load_at(e, e->cg->ptr, word, 0, 8), NULL);
        }
    }
    e->b = back;
}

LLVMValueRef cg_value(Emitter *e, PsRef r) {
    const PsOp *op = ps_op(e->f, r);
    Value *slot = &e->slots[r];
    if (slot->emitter == e->id) return slot->value;
    if (op->code == PS_OP_CONST && ps_type_is_scalar(op->type))
        return cg_const(e->cg, op->type, op->imm, e->cg->scalars[op->type]);
    if (e->kind == EMIT_TASK) {
        capture(e, r);
        if (slot->emitter == e->id) return slot->value;
    }
    cg_unsupported(e->cg, op->span, "the use of a value of `%s` here", ps_op_info[op->code].name);
    LLVMTypeRef type = ps_type_is_scalar(op->type) ? e->cg->scalars[op->type] : e->cg->ptr;
    cg_set(e, r, LLVMConstNull(type), NULL);
    return slot->value;
}

LLVMValueRef cg_arg(Emitter *e, PsRef r, uint32_t i) { return cg_value(e, ps_op_arg(e->f, r, i)); }

LLVMValueRef cg_wide(Emitter *e, PsRef r) {
    PsType type = ps_op(e->f, r)->type;
    LLVMValueRef value = cg_value(e, r);
    if (e->slots[r].emitter == e->id && e->slots[r].wide) return e->slots[r].wide;
    if (type == PS_I64 || type == PS_U64 || !ps_type_is_scalar(type)) return value;
    return cg_convert(e, type, PS_I64, value);
}

/* -- functions of the module -- */

static void declare(Codegen *cg, uint32_t index) {
    const PsFunc *f = cg->m->funcs.data[index];
    FuncInfo *info = &cg->funcs[index];
    uint32_t n = cg_param_word(f, f->params.len) + 1, at = 0;
    LLVMTypeRef *params = ps_arena_alloc(cg->arena, sizeof *params * n);
    if (!params) return;
    params[at++] = cg->ptr;
    for (uint32_t i = 0; i < f->params.len; i++) {
        uint32_t words = words_of(cg->m, f->params.data[i]);
        bool scalar = ps_type_is_scalar(f->params.data[i]);
        params[at++] = scalar ? cg->scalars[f->params.data[i]] : cg->ptr;
        while (--words) params[at++] = cg->i64;
    }
    info->result = f->results.len == 1 ? f->results.data[0] : PS_KIND_NONE;
    if (!ps_type_is_scalar(info->result)) info->result = PS_KIND_NONE;
    info->type = LLVMFunctionType(info->result ? cg->scalars[info->result] : cg->none, params, n, 0);
    info->fn = LLVMAddFunction(cg->module, f->name, info->type);
    LLVMSetLinkage(info->fn, LLVMInternalLinkage);
    cg_attribute(cg, info->fn, info->inlined ? "alwaysinline" : "noinline", 0);
}

void cg_declare_funcs(Codegen *cg) {
    for (uint32_t i = 1; i < cg->m->funcs.len; i++) declare(cg, i);
}

static void emit_func(Codegen *cg, uint32_t index) {
    const PsFunc *f = cg->m->funcs.data[index];
    FuncInfo *info = &cg->funcs[index];
    Emitter e;
    Value *slots = ps_arena_alloc(cg->arena, sizeof *slots * (f->ops.len + 1));
    LLVMValueRef *params = ps_arena_alloc(cg->arena, sizeof *params * (f->params.len + 1));
    if (!slots || !params || !info->fn || !cg_emitter_open(&e, cg, f, EMIT_FUNC, info->fn, slots)) return;
    e.info = info;
    e.ts = LLVMGetParam(info->fn, 0);
    e.params = params;
    for (uint32_t i = 0; i < f->params.len; i++) params[i] = LLVMGetParam(info->fn, cg_param_word(f, i) + 1);
    if (info->recursive) cg_poll(&e);
    cg_emit_region(&e, 1);
    if (!cg_ended(&e)) { /* falling off the end gives zero */
        if (info->result)
            LLVMBuildRet(e.b, LLVMConstNull(cg->scalars[info->result]));
        else
            LLVMBuildRetVoid(e.b);
    }
    cg_emitter_close(&e);
}

void cg_emit_funcs(Codegen *cg) {
    for (uint32_t i = 1; i < cg->m->funcs.len; i++) emit_func(cg, i);
}

/* -- main -- */

void cg_emit_main(Codegen *cg) {
    const PsFunc *f = cg->m->funcs.data[0];
    Value *slots = ps_arena_alloc(cg->arena, sizeof *slots * (f->ops.len + 1));
    LLVMValueRef fn = LLVMAddFunction(cg->module, "ps_main", LLVMFunctionType(cg->i32, &cg->ptr, 1, 0));
    Emitter e;
    if (!slots) return;
    for (uint32_t i = 0; i < cg->parfors.len; i++) cg_emit_task(cg, &cg->parfors.data[i], slots);
    if (!cg_emitter_open(&e, cg, f, EMIT_MAIN, fn, slots)) return;
    e.frame = LLVMGetParam(fn, 0);
    /* The launch record begins with main's task state. */
    LLVMBuilderRef back = e.b;
    e.b = e.entry;
    e.ts = cg_load_at(&e, cg->ptr, e.frame, offsetof(PsFrame, launch), 8);
    e.b = back;
    cg_emit_region(&e, 1);
    if (!cg_ended(&e)) LLVMBuildRet(e.b, LLVMConstInt(cg->i32, 0, 0));
    cg_emitter_close(&e);
}
