/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_memory: places, loads and stores. An array is its words: data pointer, lengths, strides in bytes. Locals are
 * allocas, of tiles row-major; main's locals that a task touches are frame words (codegen_survey.c). A tile's place that
 * a function got is its address and a stride an axis, as it may be in an array.
 *
 * Accesses to arrays in a parfor carry its loop id (llvm.mem.parallel_loop_access): iterations are independent, so the
 * vectoriser needs no proof. Accesses to locals do not: an alloca is shared by all iterations until LLVM makes it a
 * value.
 */
#include "codegen/codegen_int.h"

static PsType pointee(const Emitter *e, PsType place) { return ps_type_info(e->cg->m, place)->elem; }

/* A local of main that the task never writes: main waits, so that its value stays and can be loaded once. */
static bool is_fixed(const Emitter *e, PsRef root) {
    if (e->kind != EMIT_TASK || ps_op(e->f, root)->code != PS_OP_VAR || e->cg->homes[root].parfor) return false;
    for (uint32_t i = 0; i < e->parfor->written.len; i++)
        if (e->parfor->written.data[i] == root) return false;
    return true;
}

/* Whether iterations cannot meet at a place: it is in an array, or is only read. */
static bool is_independent(const Emitter *e, PsRef place) {
    PsRef root = ps_place_root(e->f, place);
    uint16_t code = ps_op(e->f, root)->code;
    return code == PS_OP_PLACE || code == PS_OP_BASE || is_fixed(e, root);
}

static LLVMValueRef mark(Emitter *e, PsRef place, LLVMValueRef access) {
    if (e->parallel && is_independent(e, place)) LLVMSetMetadata(access, e->cg->md_parallel, e->parallel);
    return access;
}

LLVMValueRef cg_emit_arg(Emitter *e, PsRef r) {
    const PsOp *op = ps_op(e->f, r);
    uint32_t param = (uint32_t)op->imm;
    if (ps_type_info(e->cg->m, op->type)->kind == PS_KIND_ARRAY) {
        cg_array(e, r);
        return NULL;
    }
    if (param >= e->f->params.len) return NULL;
    if (e->kind == EMIT_FUNC) return e->params[param];
    LLVMBuilderRef back = e->b;
    e->b = e->entry;
    LLVMValueRef word = cg_load_at(e, e->cg->i64, cg_frame_word(e, cg_param_word(e->f, param)), 0, 8);
    LLVMValueRef value = cg_from_word(e, op->type, word);
    e->b = back;
    return value;
}

/* -- locals -- */

#define SMALL_LOCAL 64 /* bytes that are zeroed by a store, not a call of memset */

static LLVMValueRef new_local(Emitter *e, PsRef r, LLVMTypeRef type, uint64_t bytes, unsigned align) {
    if (e->kind == EMIT_MAIN && e->cg->homes[r].word) return cg_frame_word(e, e->cg->homes[r].word - 1);
    e->locals += bytes;
    if (e->locals <= CG_MAX_LOCALS) return cg_alloca(e, type, align);
    cg_too_many_locals(e->cg, ps_op(e->f, r)->span, CG_MAX_LOCALS);
    return LLVMConstNull(e->cg->ptr);
}

LLVMValueRef cg_emit_var(Emitter *e, PsRef r) {
    Codegen *cg = e->cg;
    PsType elem = pointee(e, ps_op(e->f, r)->type), scalar = ps_type_element(cg->m, elem);
    LLVMTypeRef type = cg_type_stored(cg, scalar);
    unsigned align = (unsigned)ps_scalar_size(scalar);
    uint64_t bytes = cg_type_bytes(cg, elem);
    if (elem != scalar) type = LLVMArrayType2(type, (uint64_t)ps_type_count(cg->m, elem));
    LLVMValueRef local = new_local(e, r, type, bytes, align);
    if (ps_op(e->f, r)->imm) return local;
    if (bytes <= SMALL_LOCAL)
        cg_store_at(e, LLVMConstNull(type), local, 0, align);
    else
        LLVMBuildMemSet(e->b, local, LLVMConstNull(cg->i8), LLVMConstInt(cg->i64, bytes, 0), align);
    return local;
}

/* -- arrays -- */

LLVMValueRef cg_emit_dim(Emitter *e, PsRef r) {
    const ArrayWords *array = cg_array(e, ps_op_arg(e->f, r, 0));
    uint64_t axis = ps_op(e->f, r)->imm;
    if (!array || axis >= PS_MAX_AXES || !array->shape[axis]) return NULL;
    LLVMValueRef length = LLVMBuildTrunc(e->b, array->shape[axis], e->cg->i32, "");
    LLVMSetNSW(length, 1);
    cg_set(e, r, length, array->shape[axis]);
    return length;
}

LLVMValueRef cg_emit_base(Emitter *e, PsRef r) {
    const ArrayWords *array = cg_array(e, ps_op_arg(e->f, r, 0));
    return array ? array->data : NULL;
}

LLVMValueRef cg_emit_stride(Emitter *e, PsRef r) {
    const ArrayWords *array = cg_array(e, ps_op_arg(e->f, r, 0));
    uint64_t axis = ps_op(e->f, r)->imm;
    return array && axis < PS_MAX_AXES ? array->strides[axis] : NULL;
}

static LLVMValueRef step(Emitter *e, LLVMValueRef base, LLVMValueRef bytes) {
    return LLVMBuildGEP2(e->b, e->cg->i8, base, &bytes, 1, "");
}

LLVMValueRef cg_emit_ptradd(Emitter *e, PsRef r) { return step(e, cg_arg(e, r, 0), cg_arg(e, r, 1)); }

/* Pass layout makes base, stride and ptradd of places; this is for modules that skipped it. */
LLVMValueRef cg_emit_place(Emitter *e, PsRef r) {
    const PsOp *op = ps_op(e->f, r);
    const ArrayWords *array = cg_array(e, ps_op_arg(e->f, r, 0));
    if (!array || op->nargs > PS_MAX_AXES + 1) return NULL;
    LLVMValueRef at = array->data;
    for (uint32_t axis = 0; axis + 1 < op->nargs; axis++) {
        if (!array->strides[axis]) return NULL;
        LLVMValueRef index = cg_wide(e, ps_op_arg(e->f, r, axis + 1));
        at = step(e, at, LLVMBuildMul(e->b, index, array->strides[axis], ""));
    }
    return at;
}

LLVMValueRef cg_emit_address(Emitter *e, PsRef r) {
    return LLVMBuildPtrToInt(e->b, cg_arg(e, r, 0), e->cg->i64, "");
}

/* -- elements of tiles -- */

bool cg_tile_strides(Emitter *e, PsRef place, LLVMValueRef *out) {
    Codegen *cg = e->cg;
    PsRef root = ps_place_root(e->f, place);
    const PsOp *op = ps_op(e->f, root);
    const PsTypeInfo *tile = ps_type_info(cg->m, pointee(e, ps_op(e->f, place)->type));
    const ArrayWords *array = NULL;
    int first = 0;
    if (op->code == PS_OP_PLACE || op->code == PS_OP_BASE) {
        PsRef of = ps_op_arg(e->f, root, 0);
        array = cg_array(e, of);
        first = ps_type_info(cg->m, ps_op(e->f, of)->type)->ndim - tile->ndim;
        if (!array || first < 0) return false;
    }
    int64_t dense = ps_scalar_size(tile->elem);
    for (int i = tile->ndim - 1; i >= 0; i--) {
        out[i] = LLVMConstInt(cg->i64, (uint64_t)dense, 0);
        if (array) out[i] = array->strides[first + i];
        if (op->code == PS_OP_ARG)
            out[i] = LLVMGetParam(e->fn, cg_param_word(e->f, (uint32_t)op->imm) + 2 + (unsigned)i);
        dense *= tile->shape[i];
    }
    return true;
}

/* All at constant indices. */
static bool is_constant_elem(const Emitter *e, PsRef r) {
    uint64_t bits;
    for (uint32_t i = 1; i < ps_op(e->f, r)->nargs; i++)
        if (!ps_op_is_const(e->f, ps_op_arg(e->f, r, i), &bits)) return false;
    return true;
}

LLVMValueRef cg_emit_elem(Emitter *e, PsRef r) {
    PsRef place = ps_op_arg(e->f, r, 0);
    LLVMValueRef strides[PS_MAX_AXES] = {NULL}, offset = NULL, at = cg_value(e, place);
    LLVMBuilderRef back = e->b;
    if (!cg_tile_strides(e, place, strides)) return NULL;
    if (is_fixed(e, place) && is_constant_elem(e, r)) e->b = e->entry; /* where it is loaded */
    for (uint32_t i = 1; i < ps_op(e->f, r)->nargs; i++) {
        LLVMValueRef more = LLVMBuildMul(e->b, cg_wide(e, ps_op_arg(e->f, r, i)), strides[i - 1], "");
        offset = offset ? LLVMBuildAdd(e->b, offset, more, "") : more;
    }
    LLVMValueRef elem = offset ? step(e, at, offset) : at;
    e->b = back;
    return elem;
}

/* -- accesses -- */

/* Whether the place of a fixed local is known where the task begins. */
static bool is_entry_place(const Emitter *e, PsRef place) {
    uint16_t code = ps_op(e->f, place)->code;
    return code == PS_OP_VAR || !e->cg->homes[place].parfor ||
           (code == PS_OP_ELEM && is_constant_elem(e, place));
}

LLVMValueRef cg_emit_load(Emitter *e, PsRef r) {
    PsRef place = ps_op_arg(e->f, r, 0);
    PsType type = ps_op(e->f, r)->type;
    if (!ps_type_is_scalar(type)) return NULL;
    LLVMValueRef at = cg_value(e, place);
    LLVMBuilderRef back = e->b;
    if (is_fixed(e, ps_place_root(e->f, place)) && is_entry_place(e, place)) e->b = e->entry;
    LLVMValueRef load = cg_load_at(e, cg_type_stored(e->cg, type), at, 0, (unsigned)ps_scalar_size(type));
    LLVMValueRef value = cg_from_stored(e, type, mark(e, place, load));
    e->b = back;
    return value;
}

LLVMValueRef cg_emit_store(Emitter *e, PsRef r) {
    PsRef place = ps_op_arg(e->f, r, 0), value = ps_op_arg(e->f, r, 1);
    PsType type = ps_op(e->f, value)->type;
    if (!ps_type_is_scalar(type)) {
        cg_unsupported(e->cg, ps_op(e->f, r)->span, "`store` of this type");
        return NULL;
    }
    LLVMValueRef stored = cg_to_stored(e, type, cg_value(e, value));
    LLVMValueRef store = LLVMBuildStore(e->b, stored, cg_value(e, place));
    LLVMSetAlignment(store, (unsigned)ps_scalar_size(type));
    mark(e, place, store);
    return NULL;
}
