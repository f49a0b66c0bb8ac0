/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_op: from an op to its emitter, by table; and the small memory accesses to what we laid out ourselves (frame,
 * task state, parfor record), which all files use.
 *
 * An op without an entry is computed by its rule (cg_emit_int, cg_emit_float, cg_emit_compare). What nothing knows, such
 * as the values of tiles that pass tiles did not see, is reported once, and its value is 0 from there on.
 */
#include "codegen/codegen_int.h"

static LLVMValueRef emit_nothing(Emitter *e, PsRef r) {
    (void)e, (void)r;
    return NULL;
}

static LLVMValueRef emit_select(Emitter *e, PsRef r) {
    if (!ps_type_is_scalar(ps_op(e->f, r)->type)) return NULL;
    return LLVMBuildSelect(e->b, cg_operand(e, r, 0), cg_operand(e, r, 1), cg_operand(e, r, 2), "");
}

static LLVMValueRef emit_clock(Emitter *e, PsRef r) {
    (void)r;
    return cg_intrinsic(e, "llvm.readcyclecounter", NULL, 0, NULL, 0);
}

/* Addresses that vary are found lane by lane, where they are used. */
static LLVMValueRef emit_lane_ptradd(Emitter *e, PsRef r) {
    return cg_lane_step(e, r) == CG_UNEVEN ? LLVMConstNull(e->cg->ptr) : cg_emit_ptradd(e, r);
}

static LLVMValueRef emit_by_rule(Emitter *e, PsRef r) {
    const PsOp *op = ps_op(e->f, r);
    const PsOpInfo *info = &ps_op_info[op->code];
    if (op->nargs < 1 || op->nargs > 3 || (int)op->nargs != info->nargs) return NULL;
    PsType type = ps_op(e->f, ps_op_arg(e->f, r, 0))->type;
    if (!ps_type_is_scalar(type) || info->effect != PS_EFFECT_PURE) return NULL;
    LLVMValueRef args[3] = {0};
    for (uint32_t i = 0; i < op->nargs; i++) args[i] = cg_operand(e, r, i);
    if (info->rule == PS_RULE_COMPARE) return cg_emit_compare(e, (PsOpCode)op->code, type, args[0], args[1]);
    if (cg_is_float(type)) return cg_emit_float(e, (PsOpCode)op->code, type, args);
    return cg_emit_int(e, (PsOpCode)op->code, type, args);
}

static const EmitFn emitters[PS_OP_COUNT] = {
    [PS_OP_CONST] = emit_nothing, /* made where they are used */
    [PS_OP_PARAM] = emit_nothing,
    [PS_OP_ARG] = cg_emit_arg,
    [PS_OP_IPOW] = cg_emit_ipow,
    [PS_OP_SELECT] = emit_select,
    [PS_OP_CAST] = cg_emit_cast,
    [PS_OP_BITCAST] = cg_emit_bitcast,
    [PS_OP_VAR] = cg_emit_var,
    [PS_OP_DIM] = cg_emit_dim,
    [PS_OP_PLACE] = cg_emit_place,
    [PS_OP_ELEM] = cg_emit_elem,
    [PS_OP_BASE] = cg_emit_base,
    [PS_OP_STRIDE] = cg_emit_stride,
    [PS_OP_PTRADD] = cg_emit_ptradd,
    [PS_OP_LOAD] = cg_emit_load,
    [PS_OP_VOLATILE] = cg_emit_volatile,
    [PS_OP_ADDRESS] = cg_emit_address,
    [PS_OP_CLOCK] = emit_clock,
    [PS_OP_STORE] = cg_emit_store,
    [PS_OP_ATOMIC_ADD] = cg_emit_atomic,
    [PS_OP_ATOMIC_MUL] = cg_emit_atomic,
    [PS_OP_ATOMIC_MIN] = cg_emit_atomic,
    [PS_OP_ATOMIC_MAX] = cg_emit_atomic,
    [PS_OP_ATOMIC_AND] = cg_emit_atomic,
    [PS_OP_ATOMIC_OR] = cg_emit_atomic,
    [PS_OP_ATOMIC_XOR] = cg_emit_atomic,
    [PS_OP_ATOMIC_XCHG] = cg_emit_atomic,
    [PS_OP_ATOMIC_CAS] = cg_emit_cas,
    [PS_OP_PARTIAL] = cg_emit_partial,
    [PS_OP_IF] = cg_emit_if,
    [PS_OP_FOR] = cg_emit_for,
    [PS_OP_PARFOR] = cg_emit_parfor,
    [PS_OP_WHILE] = cg_emit_while,
    [PS_OP_YIELD] = cg_emit_jump,
    [PS_OP_BREAK] = cg_emit_jump,
    [PS_OP_CONTINUE] = cg_emit_jump,
    [PS_OP_RETURN] = cg_emit_return,
    [PS_OP_CALL] = cg_emit_call,
    [PS_OP_PRINT] = cg_emit_print,
    [PS_OP_CHECK] = cg_emit_check,
    [PS_OP_WARN] = cg_emit_warn,
};

/* What is not the same in lanes; the rest works on vectors where cg_operand gives it some. */
static const EmitFn lane_emitters[PS_OP_COUNT] = {
    [PS_OP_VAR] = cg_lane_var,
    [PS_OP_ELEM] = cg_lane_elem,
    [PS_OP_PTRADD] = emit_lane_ptradd,
    [PS_OP_LOAD] = cg_lane_load,
    [PS_OP_STORE] = cg_lane_store,
    [PS_OP_ATOMIC_ADD] = cg_lane_atomic,
    [PS_OP_ATOMIC_MUL] = cg_lane_atomic,
    [PS_OP_ATOMIC_MIN] = cg_lane_atomic,
    [PS_OP_ATOMIC_MAX] = cg_lane_atomic,
    [PS_OP_ATOMIC_AND] = cg_lane_atomic,
    [PS_OP_ATOMIC_OR] = cg_lane_atomic,
    [PS_OP_ATOMIC_XOR] = cg_lane_atomic,
    [PS_OP_IF] = cg_lane_if,
    [PS_OP_FOR] = cg_lane_for,
    [PS_OP_WHILE] = cg_lane_while,
    [PS_OP_YIELD] = cg_lane_jump,
    [PS_OP_BREAK] = cg_lane_jump,
    [PS_OP_CONTINUE] = cg_lane_jump,
};

/* A value of the op's type that harms nobody, after something unknown. */
static LLVMValueRef placeholder(const Emitter *e, PsType type) {
    if (ps_type_is_scalar(type)) return LLVMConstNull(e->cg->scalars[type]);
    return ps_type_info(e->cg->m, type)->kind == PS_KIND_PTR ? LLVMConstNull(e->cg->ptr) : NULL;
}

void cg_emit_op(Emitter *e, PsRef r) {
    const PsOp *op = ps_op(e->f, r);
    EmitFn emit = op->code < PS_OP_COUNT ? emitters[op->code] : NULL;
    if (cg_in_lanes(e) && op->code < PS_OP_COUNT && lane_emitters[op->code]) emit = lane_emitters[op->code];
    e->slots[r].emitter = 0; /* a reduction's body is emitted twice */
    cg_lines_at(e, op->span);
    LLVMValueRef value = emit ? emit(e, r) : emit_by_rule(e, r);
    if (emit == emit_nothing || op->type == PS_KIND_NONE ||
        ps_type_info(e->cg->m, op->type)->kind == PS_KIND_ARRAY)
        return;
    if (!value) {
        cg_unsupported(e->cg, op->span, "`%s` of this type",
                       op->code < PS_OP_COUNT ? ps_op_info[op->code].name : "an op of that number");
        value = placeholder(e, op->type);
    }
    if (value && e->slots[r].emitter != e->id) cg_set(e, r, value, NULL);
}

LLVMValueRef cg_binary(Emitter *e, PsOpCode code, PsType type, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef args[3] = {a, b, NULL};
    return cg_is_float(type) ? cg_emit_float(e, code, type, args) : cg_emit_int(e, code, type, args);
}

/* -- memory of our own layout -- */

LLVMValueRef cg_alloca(Emitter *e, LLVMTypeRef type, unsigned align) {
    LLVMValueRef local = LLVMBuildAlloca(e->entry, type, "");
    LLVMSetAlignment(local, align);
    return local;
}

LLVMValueRef cg_at(Emitter *e, LLVMValueRef base, uint64_t bytes) {
    if (!bytes) return base;
    LLVMValueRef offset = LLVMConstInt(e->cg->i64, bytes, 0);
    return LLVMBuildInBoundsGEP2(e->b, e->cg->i8, base, &offset, 1, "");
}

LLVMValueRef cg_load_at(Emitter *e, LLVMTypeRef type, LLVMValueRef base, uint64_t bytes, unsigned align) {
    LLVMValueRef load = LLVMBuildLoad2(e->b, type, cg_at(e, base, bytes), "");
    LLVMSetAlignment(load, align);
    return load;
}

void cg_store_at(Emitter *e, LLVMValueRef value, LLVMValueRef base, uint64_t bytes, unsigned align) {
    LLVMSetAlignment(LLVMBuildStore(e->b, value, cg_at(e, base, bytes)), align);
}
