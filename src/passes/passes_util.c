/* SPDX-License-Identifier: Apache-2.0
 *
 * passes_util: small questions and changes that several passes need. No pass is here.
 */
#include "passes/passes_int.h"

static void mark_params(const PsFunc *f, PsRef op, PsRef parfor, PsRef *out) {
    const PsOp *o = ps_op(f, op);
    for (uint32_t i = 0; i < o->nregions; i++) {
        const PsRegionInfo *region = ps_region(f, o->region0 + i);
        for (uint32_t k = 0; k < region->nparams; k++) out[region->params + k] = parfor;
    }
}

PsRef *passes_parfor_of(const PsFunc *f) {
    PsRef *out = ps_arena_alloc(f->module->arena, sizeof(PsRef) * f->ops.len);
    if (!out) return NULL;
    PsRef parfor = 0; /* they stand in the body only, so one word holds the state of the walk */
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        const PsOp *o = ps_op(f, r);
        if (o->region == 1) parfor = 0;
        out[r] = parfor;
        if (o->code == PS_OP_PARFOR) parfor = r;
        mark_params(f, r, parfor, out);
    }
    return out;
}

PsBuilder passes_after(PsFunc *f, PsRef op) {
    const PsOp *o = ps_op(f, op);
    PsBuilder b = o->next ? ps_builder_before(f, o->next) : ps_builder_at_end(f, o->region);
    b.span = o->span;
    return b;
}

PsBuilder passes_before(PsFunc *f, PsRef op) {
    PsBuilder b = ps_builder_before(f, op);
    b.span = ps_op(f, op)->span;
    return b;
}

bool passes_become(PsFunc *f, PsRef op, PsOpCode code, const PsRef *args, uint32_t nargs, uint64_t imm) {
    PsOp *o = ps_op(f, op);
    if (nargs > o->nargs) {
        if (!ps_vec_reserve(f->module->arena, &f->args, nargs)) return false;
        o->args = f->args.len;
        f->args.len += nargs;
    }
    for (uint32_t i = 0; i < nargs; i++) f->args.data[o->args + i] = args[i];
    o->code = (uint16_t)code;
    o->nargs = nargs;
    o->imm = imm;
    return true;
}

bool passes_is_exit(const PsFunc *f, PsRef op) {
    PsOpCode code = ps_op(f, op)->code;
    return code == PS_OP_BREAK || code == PS_OP_CONTINUE || code == PS_OP_RETURN;
}

bool passes_in_condition(const PsFunc *f, PsRef op) {
    PsRegion region = ps_op(f, op)->region;
    PsRef owner = ps_region(f, region)->owner;
    return owner && ps_op(f, owner)->code == PS_OP_WHILE && ps_op(f, owner)->region0 == region;
}

void passes_cut_after(PsFunc *f, PsRef op) {
    if (passes_in_condition(f, op)) return;
    for (PsRef next; (next = ps_op(f, op)->next);) ps_op_remove(f, next);
}

bool passes_is_int(const PsModule *m, PsType type) {
    (void)m;
    return ps_type_is_scalar(type) && ps_scalar_class(type) != PS_CLASS_FLOAT;
}

bool passes_is_float(const PsModule *m, PsType type) {
    if (!ps_type_is_scalar(type)) {
        if (ps_type_info(m, type)->kind != PS_KIND_TILE) return false;
        type = ps_type_info(m, type)->elem;
    }
    return ps_type_is_scalar(type) && ps_scalar_class(type) == PS_CLASS_FLOAT;
}

bool passes_is_int_division(PsOpCode code) {
    return code == PS_OP_FLOORDIV || code == PS_OP_MOD || code == PS_OP_TRUNCDIV || code == PS_OP_TRUNCMOD;
}

/* Atomics with a combine, in the order of PsCombine. */
static const PsOpCode atomic_of[] = {
    [PS_COMBINE_ADD] = PS_OP_ATOMIC_ADD, [PS_COMBINE_MUL] = PS_OP_ATOMIC_MUL,
    [PS_COMBINE_MIN] = PS_OP_ATOMIC_MIN, [PS_COMBINE_MAX] = PS_OP_ATOMIC_MAX,
    [PS_COMBINE_AND] = PS_OP_ATOMIC_AND, [PS_COMBINE_OR] = PS_OP_ATOMIC_OR,
    [PS_COMBINE_XOR] = PS_OP_ATOMIC_XOR,
};

bool passes_atomic_combine(PsOpCode code, PsCombine *out) {
    for (uint32_t i = 0; i < PS_COUNT(atomic_of); i++) {
        if (atomic_of[i] != code) continue;
        *out = (PsCombine)i;
        return true;
    }
    return false;
}

bool passes_is_atomic(PsOpCode code) { return code >= PS_OP_ATOMIC_ADD && code <= PS_OP_ATOMIC_CAS; }

int64_t passes_array_param(const PsFunc *f, PsRef array) {
    return ps_op(f, array)->code == PS_OP_ARG ? (int64_t)ps_op(f, array)->imm : -1;
}

int64_t passes_signed(PsType scalar, uint64_t bits) {
    if (ps_scalar_class(scalar) != PS_CLASS_INT) return (int64_t)bits;
    int shift = 64 - ps_scalar_bits(scalar);
    return (int64_t)(bits << shift) >> shift;
}

void passes_note(const PsFunc *f, PsRef op, PsNoteId id, const char *word) {
    PsNote note = {ps_op(f, op)->span, id, word};
    ps_vec_push(f->module->arena, &f->module->notes, note);
}
