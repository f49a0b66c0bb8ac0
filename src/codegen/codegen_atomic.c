/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_atomic: volatile loads; read-modify-write of a place, relaxed: one value changes as a whole, nothing else is ordered. What the
 * machine or LLVM can do goes to atomicrmw; the rest is a compare-exchange loop on the bits. A u1's
 * byte may come from outside and be more than 1, which counts as true: so it is read as every load of a u1 is, and what
 * is written is 0 or 1.
 */
#include "codegen/codegen_int.h"

typedef enum Way { WAY_LOOP, WAY_RMW } Way;

typedef struct Rmw {
    Way way;
    LLVMAtomicRMWBinOp op;
} Rmw;

/* How each op is done on u1, signed, unsigned, f32 and f64. */
enum { ON_BOOL, ON_SIGNED, ON_UNSIGNED, ON_FLOAT, ON_KINDS };
#define RMW(op)                                                                                                \
    { WAY_RMW, LLVMAtomicRMWBinOp##op }
#define LOOP                                                                                                   \
    { WAY_LOOP, 0 }
static const Rmw ways[][ON_KINDS] = {
    [PS_OP_ATOMIC_ADD - PS_OP_ATOMIC_ADD] = {LOOP, RMW(Add), RMW(Add), RMW(FAdd)},
    [PS_OP_ATOMIC_MUL - PS_OP_ATOMIC_ADD] = {LOOP, LOOP, LOOP, LOOP},
    [PS_OP_ATOMIC_MIN - PS_OP_ATOMIC_ADD] = {LOOP, RMW(Min), RMW(UMin), LOOP},
    [PS_OP_ATOMIC_MAX - PS_OP_ATOMIC_ADD] = {LOOP, RMW(Max), RMW(UMax), LOOP},
    [PS_OP_ATOMIC_AND - PS_OP_ATOMIC_ADD] = {LOOP, RMW(And), RMW(And), LOOP},
    [PS_OP_ATOMIC_OR - PS_OP_ATOMIC_ADD] = {LOOP, RMW(Or), RMW(Or), LOOP},
    [PS_OP_ATOMIC_XOR - PS_OP_ATOMIC_ADD] = {LOOP, RMW(Xor), RMW(Xor), LOOP},
    [PS_OP_ATOMIC_XCHG - PS_OP_ATOMIC_ADD] = {RMW(Xchg), RMW(Xchg), RMW(Xchg), RMW(Xchg)},
};
_Static_assert(PS_OP_ATOMIC_XCHG - PS_OP_ATOMIC_ADD + 1 == PS_COUNT(ways),
               "the atomics stand together in ops.def");

static const PsOpCode combine_of[] = {
    [PS_OP_ATOMIC_ADD - PS_OP_ATOMIC_ADD] = PS_OP_ADD, [PS_OP_ATOMIC_MUL - PS_OP_ATOMIC_ADD] = PS_OP_MUL,
    [PS_OP_ATOMIC_MIN - PS_OP_ATOMIC_ADD] = PS_OP_MIN, [PS_OP_ATOMIC_MAX - PS_OP_ATOMIC_ADD] = PS_OP_MAX,
    [PS_OP_ATOMIC_AND - PS_OP_ATOMIC_ADD] = PS_OP_AND, [PS_OP_ATOMIC_OR - PS_OP_ATOMIC_ADD] = PS_OP_OR,
    [PS_OP_ATOMIC_XOR - PS_OP_ATOMIC_ADD] = PS_OP_XOR,
};

static Rmw way_of(PsOpCode code, PsType type) {
    int on = type == PS_U1        ? ON_BOOL
             : cg_is_float(type)  ? ON_FLOAT
             : cg_is_signed(type) ? ON_SIGNED
                                  : ON_UNSIGNED;
    Rmw rmw = ways[code - PS_OP_ATOMIC_ADD][on];
    if (cg_is_half(type) && code != PS_OP_ATOMIC_XCHG) rmw.way = WAY_LOOP;
    return rmw;
}

/* The bits as a value, and back. */
static LLVMValueRef from_bits(Emitter *e, PsType type, LLVMValueRef bits) {
    if (type == PS_F32 || type == PS_F64) return LLVMBuildBitCast(e->b, bits, e->cg->scalars[type], "");
    return cg_from_stored(e, type, bits);
}
static LLVMValueRef to_bits(Emitter *e, PsType type, LLVMValueRef value) {
    if (type == PS_F32 || type == PS_F64) return LLVMBuildBitCast(e->b, value, cg_type_bits(e->cg, type), "");
    return cg_to_stored(e, type, value);
}

static LLVMValueRef exchange(Emitter *e, PsType type, LLVMValueRef place, LLVMValueRef expected,
                             LLVMValueRef bits) {
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(e->b, place, expected, bits, LLVMAtomicOrderingMonotonic,
                                               LLVMAtomicOrderingMonotonic, 0);
    LLVMSetAlignment(pair, (unsigned)ps_scalar_size(type));
    return pair;
}

/* A read-modify-write that is tried until nothing came between. */
typedef struct Update {
    PsType type;
    PsOpCode combine;               /* with operand; or */
    LLVMValueRef operand, expected; /* operand for old values that equal expected (u1) */
} Update;

static LLVMValueRef loop(Emitter *e, const Update *u, LLVMValueRef place) {
    PsType type = u->type;
    LLVMTypeRef bits_type = cg_type_bits(e->cg, type);
    LLVMValueRef first = cg_load_at(e, bits_type, place, 0, (unsigned)ps_scalar_size(type));
    LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b), again = cg_block(e, "cas"), done = cg_block(e, "done");
    cg_enter(e, again);
    LLVMValueRef old = LLVMBuildPhi(e->b, bits_type, ""), value = u->operand;
    if (u->expected) {
        LLVMBasicBlockRef equal = cg_block(e, "equal");
        LLVMValueRef same = LLVMBuildICmp(e->b, LLVMIntEQ, from_bits(e, type, old), u->expected, "");
        LLVMBuildCondBr(e->b, same, equal, done);
        LLVMPositionBuilderAtEnd(e->b, equal);
    } else {
        value = cg_binary(e, u->combine, type, from_bits(e, type, old), value);
    }
    LLVMValueRef pair = exchange(e, type, place, old, to_bits(e, type, value));
    LLVMValueRef seen = LLVMBuildExtractValue(e->b, pair, 0, ""), ok = LLVMBuildExtractValue(e->b, pair, 1, "");
    LLVMBasicBlockRef end = LLVMGetInsertBlock(e->b);
    LLVMBuildCondBr(e->b, ok, done, again);
    LLVMAddIncoming(old, &first, &from, 1);
    LLVMAddIncoming(old, &seen, &end, 1);
    LLVMPositionBuilderAtEnd(e->b, done);
    return from_bits(e, type, old);
}

LLVMValueRef cg_atomic(Emitter *e, PsOpCode code, PsType type, LLVMValueRef place, LLVMValueRef operand) {
    Rmw rmw = way_of(code, type);
    if (rmw.way == WAY_LOOP) {
        Update update = {.type = type, .operand = operand, .combine = cg_atomic_combine(code)};
        return update.combine ? loop(e, &update, place) : NULL;
    }
    if (rmw.op != LLVMAtomicRMWBinOpFAdd) operand = to_bits(e, type, operand);
    LLVMValueRef old = LLVMBuildAtomicRMW(e->b, rmw.op, place, operand, LLVMAtomicOrderingMonotonic, 0);
    LLVMSetAlignment(old, (unsigned)ps_scalar_size(type));
    return rmw.op != LLVMAtomicRMWBinOpFAdd ? from_bits(e, type, old) : old;
}

PsOpCode cg_atomic_combine(PsOpCode code) {
    size_t at = code - PS_OP_ATOMIC_ADD;
    return at < PS_COUNT(combine_of) ? combine_of[at] : 0;
}

LLVMValueRef cg_emit_atomic(Emitter *e, PsRef r) {
    PsType type = ps_op(e->f, r)->type;
    if (!ps_type_is_scalar(type)) return NULL;
    if (e->together) {
        e->together--;
        return LLVMConstNull(e->cg->scalars[type]);
    }
    if (cg_scatter_together(e, r)) return LLVMConstNull(e->cg->scalars[type]);
    LLVMValueRef old = cg_update(e, r, cg_arg(e, r, 0), cg_arg(e, r, 1));
    return old ? old : LLVMConstNull(e->cg->scalars[type]);
}

LLVMValueRef cg_emit_cas(Emitter *e, PsRef r) {
    PsType type = ps_op(e->f, r)->type;
    if (!ps_type_is_scalar(type)) return NULL;
    if (type == PS_U1) {
        Update update = {.type = type, .operand = cg_arg(e, r, 2), .expected = cg_arg(e, r, 1)};
        return loop(e, &update, cg_arg(e, r, 0));
    }
    LLVMValueRef expected = to_bits(e, type, cg_arg(e, r, 1)), value = to_bits(e, type, cg_arg(e, r, 2));
    LLVMValueRef pair = exchange(e, type, cg_arg(e, r, 0), expected, value);
    return from_bits(e, type, LLVMBuildExtractValue(e->b, pair, 0, ""));
}

/* An atomic load cannot be moved out of a loop for ever or joined with another, and acquires: what was written before
 * the value that it sees is seen too. */
LLVMValueRef cg_emit_volatile(Emitter *e, PsRef r) {
    PsType type = ps_op(e->f, r)->type;
    unsigned size = (unsigned)ps_scalar_size(type);
    LLVMValueRef load = cg_load_at(e, cg_type_bits(e->cg, type), cg_arg(e, r, 0), 0, size);
    LLVMSetOrdering(load, LLVMAtomicOrderingAcquire);
    LLVMSetVolatile(load, 1);
    return from_bits(e, type, load);
}
