/* SPDX-License-Identifier: Apache-2.0
 *
 * fold: operations on constants are computed (by ps_eval_scalar, so to the same bits), branches on constants are
 * taken, code after a break, continue or return goes, and integer identities and exact casts disappear. Nothing here
 * may change a bit of any result: `x + 0.0` stays (it turns -0.0 into 0.0), and so does an integer division by a
 * constant zero (checked mode wants to fault there).
 *
 * One walk: operands are replaced as their users are reached, and every value stands before its uses. Not here: what
 * LLVM does better on code it has in registers (common subexpressions, loads).
 */
#include "passes/passes_int.h"

typedef struct Fold {
    PsFunc *f;
    PsRef *to; /* what a removed value is replaced with; 0: itself */
} Fold;

static const PsModule *module_of(const Fold *fold) { return fold->f->module; }

static PsRef forward(Fold *fold, PsRef op, PsRef value) {
    PsRef next = ps_walk_next(fold->f, op);
    fold->to[op] = value;
    ps_op_remove(fold->f, op);
    return next;
}

/* -- operations on constants -- */

static bool can_compute(const PsFunc *f, const PsOp *o) {
    const PsOpInfo *info = &ps_op_info[o->code];
    if (info->effect != PS_EFFECT_PURE || info->rule == PS_RULE_OTHER || info->rule == PS_RULE_NONE)
        return false;
    if (!ps_type_is_scalar(o->type) || o->nargs == 0 || o->nargs > 3) return false;
    uint64_t bits;
    for (uint32_t i = 0; i < o->nargs; i++)
        if (!ps_op_is_const(f, f->args.data[o->args + i], &bits)) return false;
    return true;
}

static bool compute(Fold *fold, PsRef op) {
    PsFunc *f = fold->f;
    const PsOp *o = ps_op(f, op);
    if (!can_compute(f, o)) return false;
    uint64_t args[3] = {0};
    for (uint32_t i = 0; i < o->nargs; i++) args[i] = ps_op(f, ps_op_arg(f, op, i))->imm;
    PsType type = ps_op(f, ps_op_arg(f, op, 0))->type;
    if (passes_is_int_division(o->code) && args[1] == 0 && passes_is_int(module_of(fold), type)) return false;
    PsType to = o->code == PS_OP_IPOW ? ps_op(f, ps_op_arg(f, op, 1))->type : o->type;
    return passes_become(f, op, PS_OP_CONST, NULL, 0, ps_eval_scalar(o->code, type, to, args));
}

/* -- integer identities -- */

enum { ZERO, ONE, ONES };             /* the constant operand */
enum { OTHER, THE_CONST, MAKE_ZERO }; /* the result */
typedef struct Identity {
    uint8_t code, side; /* side: which operand is the constant */
    uint8_t constant, result;
} Identity;
static const Identity identities[] = {
    {PS_OP_ADD, 0, ZERO, OTHER},     {PS_OP_ADD, 1, ZERO, OTHER},         {PS_OP_SUB, 1, ZERO, OTHER},
    {PS_OP_MUL, 0, ONE, OTHER},      {PS_OP_MUL, 1, ONE, OTHER},          {PS_OP_MUL, 0, ZERO, THE_CONST},
    {PS_OP_MUL, 1, ZERO, THE_CONST}, {PS_OP_FLOORDIV, 1, ONE, OTHER},     {PS_OP_TRUNCDIV, 1, ONE, OTHER},
    {PS_OP_MOD, 1, ONE, MAKE_ZERO},  {PS_OP_TRUNCMOD, 1, ONE, MAKE_ZERO}, {PS_OP_AND, 0, ZERO, THE_CONST},
    {PS_OP_AND, 1, ZERO, THE_CONST}, {PS_OP_AND, 0, ONES, OTHER},         {PS_OP_AND, 1, ONES, OTHER},
    {PS_OP_OR, 0, ZERO, OTHER},      {PS_OP_OR, 1, ZERO, OTHER},          {PS_OP_OR, 0, ONES, THE_CONST},
    {PS_OP_OR, 1, ONES, THE_CONST},  {PS_OP_XOR, 0, ZERO, OTHER},         {PS_OP_XOR, 1, ZERO, OTHER},
    {PS_OP_SHL, 1, ZERO, OTHER},     {PS_OP_SHR, 1, ZERO, OTHER},         {PS_OP_USHR, 1, ZERO, OTHER},
};

static bool is_the_constant(const PsFunc *f, PsRef value, uint8_t which) {
    const PsOp *o = ps_op(f, value);
    if (o->code != PS_OP_CONST) return false;
    uint64_t ones = o->type == PS_U1 ? 1 : UINT64_MAX >> (64 - ps_scalar_bits(o->type));
    return o->imm == (which == ZERO ? 0 : which == ONE ? 1 : ones);
}

static const Identity *find_identity(const PsFunc *f, PsRef op) {
    const PsOp *o = ps_op(f, op);
    if (o->nargs != 2) return NULL;
    if (!passes_is_int(f->module, o->type) || ps_op_info[o->code].rule == PS_RULE_COMPARE) return NULL;
    for (uint32_t i = 0; i < PS_COUNT(identities); i++) {
        const Identity *id = &identities[i];
        if (id->code == o->code && is_the_constant(f, ps_op_arg(f, op, id->side), id->constant)) return id;
    }
    return NULL;
}

/* -- casts -- */

static int int_width(PsType type) { return type == PS_U1 ? 1 : ps_scalar_bits(type); }

/* Bits of an integer that a float type holds exactly. */
static int significand(PsType type) {
    return type == PS_F64 ? 53 : type == PS_F32 ? 24 : type == PS_F16 ? 11 : 8;
}

/* Whether every value of `from` is one of `to`. */
static bool is_exact_cast(PsType from, PsType to) {
    PsClass a = ps_scalar_class(from), b = ps_scalar_class(to);
    if (a == PS_CLASS_FLOAT) {
        if (b != PS_CLASS_FLOAT) return false;
        return to == PS_F64 || (to == PS_F32 && from != PS_F64);
    }
    int width = int_width(from) - (a == PS_CLASS_INT); /* without the sign */
    if (b == PS_CLASS_FLOAT) return width <= significand(to);
    return width <= int_width(to) - (b == PS_CLASS_INT) && (a == PS_CLASS_UINT || b == PS_CLASS_INT);
}

/* Whether from -> mid -> to is from -> to. A float to an integer saturates where an integer wraps, and a float's NaN
 * may change its bits on the way through another type. */
static bool can_skip(PsType from, PsType mid, PsType to) {
    if (!ps_type_is_scalar(from) || !ps_type_is_scalar(mid) || !ps_type_is_scalar(to)) return false;
    if (!is_exact_cast(from, mid)) return false;
    bool from_float = ps_scalar_class(from) == PS_CLASS_FLOAT, to_float = ps_scalar_class(to) == PS_CLASS_FLOAT;
    if (from_float) return !to_float;
    if (ps_scalar_class(mid) != PS_CLASS_FLOAT || to_float || to == PS_U1) return true;
    return is_exact_cast(from, to);
}

static PsRef fold_cast(Fold *fold, PsRef op) {
    PsFunc *f = fold->f;
    PsRef inner = ps_op_arg(f, op, 0);
    PsType to = ps_op(f, op)->type;
    if (ps_op(f, inner)->code == PS_OP_CAST) {
        PsRef from = ps_op_arg(f, inner, 0);
        if (can_skip(ps_op(f, from)->type, ps_op(f, inner)->type, to)) {
            inner = from;
            ps_op_set_arg(f, op, 0, from);
        }
    }
    return ps_op(f, inner)->type == to ? forward(fold, op, inner) : ps_walk_next(f, op);
}

/* -- control -- */

/* The region that is taken moves before the if. Gives the op to go on with. */
static PsRef splice(Fold *fold, PsRef op, bool taken) {
    PsFunc *f = fold->f;
    PsRegion region = ps_op(f, op)->region0 + (taken ? 0 : 1);
    PsRef first = ps_region(f, region)->first, last = ps_region(f, region)->last;
    if (last && passes_is_exit(f, last) && passes_in_condition(f, op)) return ps_walk_next(f, op);
    PsRef next = first ? first : ps_walk_skip(f, op);
    for (PsRef r = first, after; r; r = after) {
        after = ps_op(f, r)->next;
        ps_op_move_before(f, r, op);
    }
    ps_op_remove(f, op);
    return next;
}

/* Folds one op; gives the one to go on with. */
static PsRef fold_op(Fold *fold, PsRef op) {
    PsFunc *f = fold->f;
    uint64_t cond;
    switch (ps_op(f, op)->code) {
    case PS_OP_BREAK:
    case PS_OP_CONTINUE:
    case PS_OP_RETURN: passes_cut_after(f, op); return ps_walk_next(f, op);
    case PS_OP_IF:
        if (!ps_op_is_const(f, ps_op_arg(f, op, 0), &cond)) return ps_walk_next(f, op);
        return splice(fold, op, cond & 1);
    case PS_OP_SELECT:
        if (ps_op_is_const(f, ps_op_arg(f, op, 0), &cond))
            return forward(fold, op, ps_op_arg(f, op, cond & 1 ? 1 : 2));
        if (ps_op_arg(f, op, 1) == ps_op_arg(f, op, 2)) return forward(fold, op, ps_op_arg(f, op, 1));
        return ps_walk_next(f, op);
    default: break;
    }
    if (compute(fold, op)) return ps_walk_next(f, op);
    if (ps_op(f, op)->code == PS_OP_CAST) return fold_cast(fold, op);
    const Identity *id = find_identity(f, op);
    if (!id) return ps_walk_next(f, op);
    if (id->result == OTHER) return forward(fold, op, ps_op_arg(f, op, 1 - id->side));
    if (id->result == THE_CONST) return forward(fold, op, ps_op_arg(f, op, id->side));
    passes_become(f, op, PS_OP_CONST, NULL, 0, 0);
    return ps_walk_next(f, op);
}

PsStatus ps_pass_fold(PsModule *m, PsDiag *diag) {
    (void)diag;
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        PsFunc *f = m->funcs.data[i];
        Fold fold = {f, ps_arena_alloc(m->arena, sizeof(PsRef) * f->ops.len)};
        if (!fold.to) return PS_NOMEM;
        for (PsRef r = ps_walk_first(f); r;) {
            for (uint32_t k = 0; k < ps_op(f, r)->nargs; k++) {
                PsRef to = fold.to[ps_op_arg(f, r, k)];
                if (to) ps_op_set_arg(f, r, k, to);
            }
            r = fold_op(&fold, r);
        }
    }
    return PS_OK;
}
