/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_eval_tile: pure ops in the evaluator: one scalar, a tile element by element, and the ops that make, take apart and
 * reduce tiles. Tiles are row-major runs of words. What a scalar op computes stands in ir_scalar.c.
 */
#include "ir/ir_eval_int.h"

#include <string.h>

bool ir_eval_scalar(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    (void)run;
    uint64_t values[3];
    for (uint32_t i = 0; i < ins->nargs; i++) values[i] = words[ins->args[i].slot];
    words[ins->dst] = ps_eval_scalar(ins->op, ins->type, ins->to, values);
    return true;
}

/* A scalar among the operands (a condition, a shift) goes with every element. */
bool ir_eval_map(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    uint64_t values[3];
    for (uint32_t e = 0; e < ins->count; e++) {
        for (uint32_t i = 0; i < ins->nargs; i++)
            values[i] = words[ins->args[i].slot + (ins->args[i].count > 1 ? e : 0)];
        words[ins->dst + e] = ps_eval_scalar(ins->op, ins->type, ins->to, values);
    }
    return ir_eval_spend(run, ins->count);
}

bool ir_eval_splat(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    for (uint32_t e = 0; e < ins->count; e++) words[ins->dst + e] = words[ins->args[0].slot];
    return ir_eval_spend(run, ins->count);
}

bool ir_eval_tile(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    if (ins->nargs != ins->count) return ir_eval_stop(run, PS_FAIL);
    for (uint32_t e = 0; e < ins->count; e++) words[ins->dst + e] = words[ins->args[e].slot];
    return ir_eval_spend(run, ins->count);
}

bool ir_eval_extract(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const PsTypeInfo *tile = ps_type_info(run->module, ins->args[0].type);
    uint64_t at = 0;
    bool inside = true;
    if (ins->nargs != 1u + tile->ndim) return ir_eval_stop(run, PS_FAIL);
    for (int i = 0; i < tile->ndim; i++) {
        int64_t index = ir_eval_int(&ins->args[i + 1], words);
        if (index < 0 || index >= tile->shape[i]) inside = false;
        at = at * (uint64_t)tile->shape[i] + (uint64_t)index;
    }
    words[ins->dst] = inside ? words[ins->args[0].slot + at] : 0;
    return true;
}

bool ir_eval_broadcast(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const PsTypeInfo *from = ps_type_info(run->module, ins->args[0].type);
    const PsTypeInfo *to = ps_type_info(run->module, ps_op(run->frame->func->func, ins->ref)->type);
    if (from->ndim != to->ndim) return ir_eval_stop(run, PS_FAIL);
    for (uint32_t e = 0; e < ins->count; e++) {
        uint64_t rest = e, at = 0, step = 1;
        for (int i = to->ndim - 1; i >= 0; i--) {
            uint64_t index = rest % (uint64_t)to->shape[i];
            rest /= (uint64_t)to->shape[i];
            if (from->shape[i] != 1) at += index * step;
            step *= (uint64_t)from->shape[i];
        }
        if (at >= ins->args[0].count) return ir_eval_stop(run, PS_FAIL);
        words[ins->dst + e] = words[ins->args[0].slot + at];
    }
    return ir_eval_spend(run, ins->count);
}

bool ir_eval_reshape(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    if (ins->count != ins->args[0].count) return ir_eval_stop(run, PS_FAIL);
    memcpy(&words[ins->dst], &words[ins->args[0].slot], sizeof(uint64_t) * ins->count);
    return ir_eval_spend(run, ins->count);
}

/* An axis splits a tile into `outer` blocks of `length` runs of `inner` elements. */
bool ir_eval_reduce(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const PsTypeInfo *tile = ps_type_info(run->module, ins->args[0].type);
    uint64_t axis = ps_reduce_axis(ins->imm), inner = 1;
    if (axis >= tile->ndim) return ir_eval_stop(run, PS_FAIL);
    for (uint64_t i = axis + 1; i < tile->ndim; i++) inner *= (uint64_t)tile->shape[i];
    uint64_t length = (uint64_t)tile->shape[axis];
    PsOpCode op = ps_ir_combine_op(ps_reduce_combine(ins->imm));
    if (ins->count * length != ins->args[0].count) return ir_eval_stop(run, PS_FAIL);
    for (uint64_t e = 0; e < ins->count; e++) {
        const uint64_t *from = &words[ins->args[0].slot + e / inner * length * inner + e % inner];
        uint64_t pair[2] = {from[0]};
        for (uint64_t i = 1; i < length; i++) {
            pair[1] = from[i * inner];
            pair[0] = ps_eval_scalar(op, ins->type, ins->type, pair);
        }
        words[ins->dst + e] = pair[0];
    }
    return ir_eval_spend(run, ins->args[0].count);
}

bool ir_eval_permute(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const PsTypeInfo *from = ps_type_info(run->module, ins->args[0].type);
    uint64_t steps[PS_MAX_AXES], step = 1; /* in the operand, by its axes */
    for (int i = from->ndim - 1; i >= 0; i--) {
        steps[i] = step;
        step *= (uint64_t)from->shape[i];
    }
    for (uint32_t e = 0; e < ins->count; e++) {
        uint64_t rest = e, at = 0;
        for (int i = from->ndim - 1; i >= 0; i--) {
            uint64_t axis = ins->imm >> 4 * i & 15;
            if (axis >= from->ndim) return ir_eval_stop(run, PS_FAIL);
            at += rest % (uint64_t)from->shape[axis] * steps[axis];
            rest /= (uint64_t)from->shape[axis];
        }
        if (at >= ins->args[0].count) return ir_eval_stop(run, PS_FAIL);
        words[ins->dst + e] = words[ins->args[0].slot + at];
    }
    return ir_eval_spend(run, ins->count);
}

/* One sum after the other: their terms in ascending order. */
bool ir_eval_dot(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const PsTypeInfo *a = ps_type_info(run->module, ins->args[0].type);
    uint64_t terms = (uint64_t)a->shape[1], columns = ins->count / (uint64_t)a->shape[0];
    bool is_float = ps_scalar_class(ins->type) == PS_CLASS_FLOAT;
    if (ins->args[1].count != terms * columns) return ir_eval_stop(run, PS_FAIL);
    for (uint64_t e = 0; e < ins->count; e++) {
        const uint64_t *left = &words[ins->args[0].slot + e / columns * terms];
        const uint64_t *right = &words[ins->args[1].slot + e % columns];
        uint64_t sum = ps_eval_scalar(PS_OP_MUL, ins->type, ins->type, (uint64_t[]){left[0], right[0]});
        for (uint64_t k = 1; k < terms; k++) {
            uint64_t values[3] = {left[k], right[k * columns], sum};
            if (!is_float) values[0] = ps_eval_scalar(PS_OP_MUL, ins->type, ins->type, values);
            if (!is_float) values[1] = sum;
            sum = ps_eval_scalar(is_float ? PS_OP_FMA : PS_OP_ADD, ins->type, ins->type, values);
        }
        words[ins->dst + e] = sum;
    }
    return ir_eval_spend(run, ins->count * terms);
}
