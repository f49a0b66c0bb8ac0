/* SPDX-License-Identifier: Apache-2.0
 *
 * contract: a * b + c, written as one expression, is an fma. This is a rule of the language and not an optimisation:
 * it runs once, first, on the IR as the front end wrote it, so that the evaluator, every vector width and every
 * optimisation level round the same way. LLVM may contract nothing.
 *
 *     mul(a, b) + c, c + mul(a, b)   fma(a, b, c)
 *     mul(a, b) - c                  fma(a, b, -c)
 *     c - mul(a, b)                  fma(-a, b, c)
 *
 * for floats, where the mul has no other use and stands in the same region. Of two such muls the left one goes. A
 * product that passes through a local is not contracted: assigning a name rounds.
 */
#include "passes/passes_int.h"

typedef struct Contract {
    PsFunc *f;
    const uint32_t *uses;
} Contract;

static bool is_free_mul(const Contract *c, PsRef value, PsRegion region) {
    const PsOp *o = ps_op(c->f, value);
    return o->code == PS_OP_MUL && o->region == region && c->uses[value] == 1;
}

static bool contract(const Contract *c, PsRef op) {
    PsFunc *f = c->f;
    bool sub = ps_op(f, op)->code == PS_OP_SUB;
    PsRegion region = ps_op(f, op)->region;
    PsRef left = ps_op_arg(f, op, 0), right = ps_op_arg(f, op, 1);
    bool at_left = is_free_mul(c, left, region);
    if (!at_left && !is_free_mul(c, right, region)) return true;

    PsRef mul = at_left ? left : right, rest = at_left ? right : left;
    PsRef args[3] = {ps_op_arg(f, mul, 0), ps_op_arg(f, mul, 1), rest};
    if (sub) {
        PsBuilder b = ps_builder_before(f, op);
        int negated = at_left ? 2 : 0;
        args[negated] = ps_build_unary(&b, PS_OP_NEG, args[negated]);
    }
    if (!passes_become(f, op, PS_OP_FMA, args, 3, 0)) return false;
    ps_op_remove(f, mul);
    return true;
}

PsStatus passes_contract_func(PsFunc *f) {
    Contract c = {f, ps_func_count_uses(f)};
    if (!c.uses) return PS_NOMEM;
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        PsOpCode code = ps_op(f, r)->code;
        if ((code != PS_OP_ADD && code != PS_OP_SUB) || !passes_is_float(f->module, ps_op(f, r)->type))
            continue;
        if (!contract(&c, r)) return PS_NOMEM;
    }
    return PS_OK;
}

PsStatus ps_pass_contract(PsModule *m, PsDiag *diag) {
    (void)diag;
    for (uint32_t i = 0; i < m->funcs.len; i++)
        if (passes_contract_func(m->funcs.data[i])) return PS_NOMEM;
    return PS_OK;
}
