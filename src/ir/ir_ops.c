/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_ops: ops.def as a table in memory, and what else is plain data about ops: the combines of reductions.
 */
#include "ir/ir.h"

#define VAR (-1)

const PsOpInfo ps_op_info[PS_OP_COUNT] = {
#define PS_OP(id, name, nargs, nregions, rule, imm, effect, grad, lane, cost, doc)                             \
    {                                                                                                          \
        name,           nargs,                                                                                 \
        nregions,       PS_RULE_##rule,                                                                        \
        PS_IMM_##imm,   PS_EFFECT_##effect,                                                                    \
        PS_GRAD_##grad, PS_LANE_##lane,                                                                        \
        PS_COST_##cost, doc},
#include "ir/ops.def"
};

_Static_assert(PS_OP_COUNT <= UINT16_MAX, "PsOp.code is 16 bits");
_Static_assert(PS_OP_NONE == 0, "reference 0 is the placeholder");

static const PsOpCode combine_ops[] = {
    [PS_COMBINE_ADD] = PS_OP_ADD, [PS_COMBINE_MUL] = PS_OP_MUL, [PS_COMBINE_MIN] = PS_OP_MIN,
    [PS_COMBINE_MAX] = PS_OP_MAX, [PS_COMBINE_AND] = PS_OP_AND, [PS_COMBINE_OR] = PS_OP_OR,
    [PS_COMBINE_XOR] = PS_OP_XOR,
};

PsOpCode ps_ir_combine_op(PsCombine combine) {
    return (uint32_t)combine < PS_COUNT(combine_ops) ? combine_ops[combine] : PS_OP_NONE;
}

/* Of each float type, by PsType - PS_F16. */
static const struct FloatBits {
    uint64_t minus_zero, one, nan;
} float_bits[] = {
    [PS_F16 - PS_F16] = {0x8000, 0x3c00, 0x7e00},
    [PS_BF16 - PS_F16] = {0x8000, 0x3f80, 0x7fc0},
    [PS_F32 - PS_F16] = {0x80000000, 0x3f800000, 0x7fc00000},
    [PS_F64 - PS_F16] = {(uint64_t)1 << 63, 0x3ff0000000000000, 0x7ff8000000000000},
};
_Static_assert(PS_F16 + PS_COUNT(float_bits) == PS_SCALAR_END, "the floats are the last scalars");

static uint64_t integer_identity(PsCombine combine, PsType scalar) {
    uint64_t ones = scalar == PS_U1 ? 1 : UINT64_MAX >> (64 - ps_scalar_bits(scalar));
    bool is_signed = ps_scalar_class(scalar) == PS_CLASS_INT;
    switch (combine) {
    case PS_COMBINE_MUL: return 1;
    case PS_COMBINE_MIN: return is_signed ? ones >> 1 : ones;
    case PS_COMBINE_MAX: return is_signed ? ones ^ ones >> 1 : 0;
    case PS_COMBINE_AND: return ones;
    default: return 0;
    }
}

uint64_t ps_ir_identity(PsCombine combine, PsType scalar) {
    if (!ps_type_is_scalar(scalar)) return 0;
    if (ps_scalar_class(scalar) != PS_CLASS_FLOAT) return integer_identity(combine, scalar);
    const struct FloatBits *bits = &float_bits[scalar - PS_F16];
    switch (combine) {
    case PS_COMBINE_ADD: return bits->minus_zero;
    case PS_COMBINE_MUL: return bits->one;
    case PS_COMBINE_MIN:
    case PS_COMBINE_MAX: return bits->nan; /* min and max give the other operand */
    default: return 0;
    }
}
