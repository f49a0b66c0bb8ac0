/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_eval_parfor: parallel loops in the evaluator: one leaf after the other in ascending order, the iterations of each
 * in row-major order. The cut is layout's, so partials are combined in exactly the order generated code has:
 *
 *     leaf:   stripe[s] = identity;  iteration at column c of a row: stripe[(c - first column) % 64] op= value
 *             for (half = 32; half; half /= 2) for (i < half) stripe[i] op= stripe[i + half]
 *     end:    var = var op leaf 0 op leaf 1 op ...
 *
 * The var's part is computed in `totals` as leaves end; nothing else may touch the var meanwhile.
 */
#include "ir/ir_eval_int.h"

static const EvalPlace *place_of(const EvalPartial *p, const uint64_t *words) {
    return (const EvalPlace *)(const void *)&words[p->operand.slot];
}

static uint64_t combine(const EvalPartial *p, uint64_t a, uint64_t b) {
    uint64_t pair[2] = {a, b};
    return ps_eval_scalar(ps_ir_combine_op(p->combine), p->type, p->type, pair);
}

/* -- partials -- */

static bool start_partials(EvalRun *run, const EvalIns *ins, const uint64_t *words) {
    EvalParfor *par = &run->parfor;
    uint32_t count = ins->count;
    par->stripes = ps_arena_alloc(&par->arena, sizeof *par->stripes * (count + 1));
    par->totals = ps_arena_alloc(&par->arena, sizeof *par->totals * (count + 1));
    if (!par->stripes || !par->totals) return ir_eval_stop(run, PS_NOMEM);
    for (uint32_t i = 0; i < count; i++) {
        const EvalPartial *p = &ins->u.partials[i];
        par->stripes[i] = ps_arena_alloc(&par->arena, sizeof(uint64_t) * PS_STRIPES * p->count);
        par->totals[i] = ps_arena_alloc(&par->arena, sizeof(uint64_t) * p->count);
        if (!par->stripes[i] || !par->totals[i]) return ir_eval_stop(run, PS_NOMEM);
        if (!ir_eval_read(run, ins->ref, place_of(p, words), p->operand.type, par->totals[i])) return false;
    }
    return true;
}

static bool clear_stripes(EvalRun *run, const EvalIns *ins) {
    for (uint32_t i = 0; i < ins->count; i++) {
        const EvalPartial *p = &ins->u.partials[i];
        uint64_t identity = ps_ir_identity(p->combine, p->type);
        for (uint32_t s = 0; s < PS_STRIPES * p->count; s++) run->parfor.stripes[i][s] = identity;
        if (!ir_eval_spend(run, (uint64_t)PS_STRIPES * p->count)) return false;
    }
    return true;
}

static void fold_stripes(EvalRun *run, const EvalIns *ins) {
    for (uint32_t i = 0; i < ins->count; i++) {
        const EvalPartial *p = &ins->u.partials[i];
        uint64_t *stripes = run->parfor.stripes[i], *totals = run->parfor.totals[i];
        for (uint32_t half = PS_STRIPES / 2 * p->count; half >= p->count; half /= 2)
            for (uint32_t s = 0; s < half; s++) stripes[s] = combine(p, stripes[s], stripes[s + half]);
        for (uint32_t e = 0; e < p->count; e++) totals[e] = combine(p, totals[e], stripes[e]);
    }
}

static bool finish_partials(EvalRun *run, const EvalIns *ins, const uint64_t *words) {
    for (uint32_t i = 0; i < ins->count; i++) {
        const EvalPartial *p = &ins->u.partials[i];
        if (!ir_eval_write(run, ins->ref, place_of(p, words), p->operand.type, run->parfor.totals[i]))
            return false;
    }
    return true;
}

bool ir_eval_partial(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    EvalParfor *par = &run->parfor;
    uint64_t stripe = (uint64_t)(par->col - par->leaf.col_lo) % PS_STRIPES;
    uint64_t *into = &par->stripes[ins->u.slot][stripe * ins->count];
    PsOpCode op = ps_ir_combine_op((PsCombine)ins->imm);
    for (uint32_t e = 0; e < ins->count; e++) {
        uint64_t pair[2] = {into[e], words[ins->args[1].slot + e]};
        into[e] = ps_eval_scalar(op, ins->type, ins->type, pair);
    }
    return ins->count == 1 || ir_eval_spend(run, ins->count);
}

/* -- iterations -- */

static void leave(EvalRun *run) {
    run->parfor.active = false;
    ps_arena_free(&run->parfor.arena);
}

/* The row's index on each axis but the last. */
static void find_row(EvalParfor *par) {
    int64_t rest = par->row;
    for (int i = par->domain.ndim - 2; i >= 0; i--) {
        int64_t length = par->domain.hi[i] - par->domain.lo[i];
        par->index[i] = par->domain.lo[i] + rest % length;
        rest /= length;
    }
}

static void set_params(const EvalParfor *par, const EvalIns *ins, uint64_t *words) {
    int last = par->domain.ndim - 1;
    for (int i = 0; i < last; i++) words[ins->dst + (uint32_t)i] = (uint32_t)par->index[i];
    words[ins->dst + (uint32_t)last] = (uint32_t)(par->domain.lo[last] + par->col);
}

static bool start_leaf(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    EvalParfor *par = &run->parfor;
    par->leaf = ps_layout_leaf(&par->domain, par->leaf_at);
    par->row = par->leaf.row_lo;
    par->col = par->leaf.col_lo;
    find_row(par);
    set_params(par, ins, words);
    return clear_stripes(run, ins);
}

bool ir_eval_parfor_enter(EvalRun *run, const EvalIns *ins, uint64_t *words, bool *out_any) {
    EvalParfor *par = &run->parfor;
    int32_t axis = 0;
    if (par->active) return ir_eval_stop(run, PS_FAIL);
    par->domain = (PsParfor){.ndim = (int32_t)ins->nargs / 2, .npartials = (int32_t)ins->count};
    int64_t grain = ps_parfor_grain(ins->imm);
    par->domain.grain = grain ? grain : 1;
    for (uint32_t i = 0; i < ins->nargs / 2; i++) {
        par->domain.lo[i] = ir_eval_int(&ins->args[2 * i], words);
        par->domain.hi[i] = ir_eval_int(&ins->args[2 * i + 1], words);
    }
    if (!ps_layout_cut(&par->domain, &axis)) {
        int64_t values[] = {axis, par->domain.lo[axis], par->domain.hi[axis]};
        return ir_eval_fault(run, ins->ref, PS_FAULT_DOMAIN, 3, values);
    }
    *out_any = par->domain.leaves > 0;
    if (!*out_any) return true;
    par->active = true;
    par->leaf_at = 0;
    return start_partials(run, ins, words) && start_leaf(run, ins, words);
}

bool ir_eval_parfor_next(EvalRun *run, const EvalIns *ins, uint64_t *words, bool *out_more) {
    EvalParfor *par = &run->parfor;
    *out_more = true;
    if (++par->col < par->leaf.col_hi) {
        set_params(par, ins, words);
        return true;
    }
    par->col = par->leaf.col_lo;
    if (++par->row < par->leaf.row_hi) {
        find_row(par);
        set_params(par, ins, words);
        return true;
    }
    fold_stripes(run, ins);
    if (++par->leaf_at < par->domain.leaves) return start_leaf(run, ins, words);
    *out_more = false;
    bool ok = finish_partials(run, ins, words);
    leave(run);
    return ok;
}
