/* SPDX-License-Identifier: Apache-2.0
 *
 * Conditions; and, or, chained comparisons and `a if c else b`. What is known while compiling is decided while
 * compiling. Otherwise the right-hand side stands in a branch of its own, as in Python: `i < n and x[i] > 0` does not
 * read x[n]. Where that side is a few harmless operations it is computed always and the branch becomes an `and`, an
 * `or` or a select: the same value, and code that vectorises.
 */
#include "front/loop/loop_int.h"

#include <string.h>

/* -- conditions -- */

PsStatus loop_truth(Loop *l, const PsValue *value, int *out) {
    *out = -1;
    if (value->kind == PS_VALUE_PYTHON && !loop_is_tile(l, value)) {
        *out = PyObject_IsTrue(value->object);
        if (*out < 0) return ps_front_python_failed(&l->front);
    }
    return PS_OK;
}

/* The hint is the user's own statement: `if x != 0`; for what stands between operands, the operand alone. */
static PsStatus float_condition(Loop *l, const char *what, PsType type) {
    bool statement = !strcmp(what, "if") || !strcmp(what, "while") || !strcmp(what, "assert");
    const char *hint = statement ? ps_arena_format(l->front.arena, "%s ", what) : "";
    return FAIL(l, CONDITION_FLOAT, what, ps_scalar_name(type), hint ? hint : "");
}

PsStatus loop_condition(Loop *l, const char *what, const PsValue *value, PsRef *out) {
    PsValue loaded = loop_load(l, value);
    PsBuilder *b = loop_b(l);
    if (loaded.kind == PS_VALUE_PYTHON && !loop_is_tile(l, &loaded)) {
        int truth;
        TRY(loop_truth(l, &loaded, &truth));
        *out = ps_build_int(b, PS_U1, truth);
        return PS_OK;
    }
    if (loaded.kind != PS_VALUE_SCALAR) return FAIL(l, CONDITION_AMBIGUOUS, what, loop_describe(l, value));
    if (loop_is_float(loaded.type)) return float_condition(l, what, loaded.type);
    *out = loaded.ref;
    if (loaded.type != PS_U1) *out = ps_build_binary(b, PS_OP_NE, loaded.ref, ps_build_int(b, loaded.type, 0));
    return PS_OK;
}

/* Of a vector or matrix each element, too. */
PsStatus loop_truths(Loop *l, const char *what, const PsValue *value, PsRef *out) {
    if (!loop_is_tile(l, value) && !value->like) return loop_condition(l, what, value, out);
    PsType type = loop_element(l, value);
    if (!type) return FAIL(l, CONDITION_AMBIGUOUS, what, loop_describe(l, value));
    if (loop_is_float(type)) return float_condition(l, what, type);
    TRY(loop_runtime(l, value, out));
    if (type != PS_U1) *out = ps_build_binary(loop_b(l), PS_OP_NE, *out, loop_const_like(l, *out, 0));
    return PS_OK;
}

/* -- computing a branch always -- */

#define MAX_ALWAYS 16

/* An element by a constant index is inside: the front end has looked. */
static bool has_constant_indices(const PsFunc *f, const PsOp *op) {
    for (uint32_t i = 1; i < op->nargs; i++)
        if (ps_op(f, f->args.data[op->args + i])->code != PS_OP_CONST) return false;
    return true;
}

static bool is_small(const PsFunc *f, PsType type) {
    const PsTypeInfo *info = ps_type_info(f->module, type);
    return info->kind != PS_KIND_TILE || ps_type_count(f->module, type) <= MAX_ALWAYS;
}

/* Checked or not decides nothing here: the program must be the same. Integer divisions can fault in checked mode. */
static bool is_harmless(const PsFunc *f, const PsOp *op) {
    if (!is_small(f, op->type)) return false;
    switch (op->code) {
    case PS_OP_FLOORDIV:
    case PS_OP_MOD:
    case PS_OP_TRUNCDIV:
    case PS_OP_TRUNCMOD: return loop_is_float(ps_type_element(f->module, op->type));
    case PS_OP_EXTRACT:
    case PS_OP_ELEM: return has_constant_indices(f, op);
    case PS_OP_DOT:
    case PS_OP_PLACE: return false;
    case PS_OP_LOAD: return ps_op(f, ps_place_root(f, f->args.data[op->args]))->code == PS_OP_VAR;
    default: return ps_op_info[op->code].effect == PS_EFFECT_PURE && ps_op_info[op->code].cost <= PS_COST_DIV;
    }
}

static bool can_run_always(Loop *l, PsRegion region) {
    const PsFunc *f = loop_b(l)->func;
    int n = 0;
    for (PsRef r = ps_region(f, region)->first; r; r = ps_op(f, r)->next)
        if (++n > MAX_ALWAYS || !is_harmless(f, ps_op(f, r))) return false;
    return true;
}

static void run_always(Loop *l, PsRegion region, PsRef branch) {
    PsFunc *f = loop_b(l)->func;
    for (PsRef r = ps_region(f, region)->first, next; r; r = next) {
        next = ps_op(f, r)->next;
        if (ps_op_info[ps_op(f, r)->code].imm == PS_IMM_OPT && ps_op(f, r)->imm == 1 &&
            ps_op_info[ps_op(f, r)->code].effect == PS_EFFECT_PURE)
            ps_op(f, r)->imm = 0; /* computed where the program would not: its overflow means nothing */
        if (ps_op(f, r)->code == PS_OP_REDUCE) ps_op(f, r)->imm &= ~PS_REDUCE_WRITTEN;
        ps_op_move_before(f, r, branch);
    }
}

/* -- and, or -- */

typedef PsStatus (*Rest)(Loop *l, void *data, PsValue *out);

/* Evaluates in a region of its own, with the builder back where it was afterwards. */
static PsStatus eval_in(Loop *l, PsRegion region, Rest rest, void *data, PsValue *out) {
    PsBuilder saved = *loop_b(l);
    uint32_t mark = ps_names_enter(&l->func->base); /* a := in here may not have run */
    loop_b(l)->region = region;
    PsStatus status = rest(l, data, out);
    if (!status) *out = loop_load(l, out);
    ps_names_leave(&l->front, &l->func->base, mark);
    *loop_b(l) = saved;
    return status;
}

/* Stores a value at the end of a region. */
static PsStatus store_in(Loop *l, PsRegion region, const PsValue *value, PsType type, PsRef place) {
    PsBuilder saved = *loop_b(l);
    PsRef ref;
    loop_b(l)->region = region;
    PsStatus status = loop_as(l, value, type, &ref);
    if (!status) ps_build_store(loop_b(l), place, ref);
    *loop_b(l) = saved;
    return status;
}

static PsRef var_before(Loop *l, PsRef op, PsType type) {
    PsBuilder before = ps_builder_before(loop_b(l)->func, op);
    before.span = loop_b(l)->span;
    return ps_build_var(&before, type);
}

static PsStatus logic_type(Loop *l, bool is_and, const PsValue *a, const PsValue *b, PsType *out) {
    const char *name = is_and ? "and" : "or";
    PsType left = loop_numeric(l, a), right = loop_numeric(l, b);
    if (!left || !right) return FAIL(l, OPERANDS, name, loop_describe(l, a), loop_describe(l, b), "integers");
    if (loop_is_float(left) || loop_is_float(right))
        return float_condition(l, name, loop_is_float(left) ? left : right);
    *out = loop_promote_keep(left, right);
    return PS_OK;
}

/* a and rest, a or rest: the value of the operand that decides, in the type of both. */
static PsStatus short_circuit(Loop *l, bool is_and, const PsValue *a, Rest rest, void *data, PsValue *out) {
    PsValue first = loop_load(l, a), second;
    PsBuilder *b = loop_b(l);
    PsRef condition = 0, left = 0, right = 0, branch = 0;
    PsRegion region = 0;
    PsType type = PS_KIND_NONE;
    PsSpan at = l->front.at;
    TRY(loop_condition(l, is_and ? "and" : "or", &first, &condition));
    TRY(loop_build_regions(l, PS_OP_IF, &condition, 1, &branch, &region));
    region += is_and ? 0 : 1;
    TRY(eval_in(l, region, rest, data, &second));
    l->front.at = at;
    TRY(logic_type(l, is_and, &first, &second, &type));
    if (can_run_always(l, region)) {
        run_always(l, region, branch);
        ps_op_remove(b->func, branch);
        TRY(loop_as(l, &first, type, &left));
        TRY(loop_as(l, &second, type, &right));
        PsRef value = type == PS_U1
                          ? ps_build_binary(b, is_and ? PS_OP_AND : PS_OP_OR, left, right)
                          : ps_build_select(b, condition, is_and ? right : left, is_and ? left : right);
        *out = loop_value(l, value);
        return PS_OK;
    }
    PsBuilder before = ps_builder_before(b->func, branch);
    before.span = b->span;
    PsRef place = ps_build_var(&before, type);
    ps_build_store(&before, place, ps_build_cast(&before, first.ref, type));
    TRY(store_in(l, region, &second, type, place));
    *out = loop_value(l, ps_build_load(b, place));
    return PS_OK;
}

typedef struct Operands {
    PsAst *node;
    uint32_t next;
} Operands;

static PsStatus combine(Loop *l, Operands *o, const PsValue *first, PsValue *out);

/* Of vectors and matrices: element by element, nothing is left out. */
static PsStatus tile_logic(Loop *l, bool is_and, PsValue *args, PsValue *out) {
    const char *name = is_and ? "and" : "or";
    PsType shape;
    PsRef a = 0, b = 0;
    TRY(loop_spread(l, 2, args, &shape));
    TRY(loop_truths(l, name, &args[0], &a));
    TRY(loop_truths(l, name, &args[1], &b));
    *out = loop_value(l, ps_build_binary(loop_b(l), is_and ? PS_OP_AND : PS_OP_OR, a, b));
    return PS_OK;
}

static PsStatus rest_of(Loop *l, void *data, PsValue *out) {
    Operands o = *(Operands *)data;
    PsValue first;
    TRY(loop_eval(l, o.node->list.items[o.next++], &first));
    return combine(l, &o, &first, out);
}

static PsStatus combine(Loop *l, Operands *o, const PsValue *first, PsValue *out) {
    bool is_and = o->node->op == PS_AST_AND;
    *out = *first;
    if (o->next == o->node->list.len) return PS_OK;
    int truth;
    TRY(loop_truth(l, first, &truth));
    if (truth >= 0) return truth == is_and ? rest_of(l, o, out) : PS_OK;
    loop_at(l, o->node);
    if (!loop_is_tile(l, first)) return short_circuit(l, is_and, first, rest_of, o, out);
    PsValue args[2] = {*first};
    TRY(rest_of(l, o, &args[1]));
    return tile_logic(l, is_and, args, out);
}

PsStatus loop_eval_boolop(Loop *l, PsAst *node, PsValue *out) {
    Operands o = {node, 0};
    return rest_of(l, &o, out);
}

/* -- comparisons -- */

/* Something whose identity is known now; of a field given as a template argument it becomes a fact by being asked. */
static bool is_object(Loop *l, const PsValue *value) {
    (void)l;
    return value->kind == PS_VALUE_PYTHON || (value->kind == PS_VALUE_ARRAY && value->object);
}

static PsStatus compare_identity(Loop *l, bool negated, const PsValue *a, const PsValue *b, PsValue *out) {
    bool both = is_object(l, a) && is_object(l, b);
    bool none = (a->kind == PS_VALUE_PYTHON && a->object == Py_None) ||
                (b->kind == PS_VALUE_PYTHON && b->object == Py_None);
    if (!both && !none) return FAIL(l, IS, negated ? "is not" : "is"); /* a runtime value is never None */
    if (both && !none) {
        if (a->kind == PS_VALUE_ARRAY || loop_is_array_object(l, a)) loop_pin(l, a, PS_PIN_OBJECT);
        if (b->kind == PS_VALUE_ARRAY || loop_is_array_object(l, b)) loop_pin(l, b, PS_PIN_OBJECT);
    }
    bool same = both && a->object == b->object;
    *out = ps_value_python(same != negated ? Py_True : Py_False);
    return PS_OK;
}

/* x in (a, b, c): x == a or x == b or x == c, all evaluated already. */
static PsStatus compare_membership(Loop *l, bool negated, const PsValue *a, const PsValue *b, PsValue *out) {
    PsValue *items, equal, any = ps_value_python(Py_False);
    uint32_t n;
    if (a->kind == PS_VALUE_PYTHON && b->kind == PS_VALUE_PYTHON && !PyTuple_Check(b->object) &&
        !PyList_Check(b->object) && !loop_is_tile(l, b)) {
        int found = PySequence_Contains(b->object, a->object);
        if (found < 0) return ps_front_python_failed(&l->front);
        *out = ps_value_python((found != 0) != negated ? Py_True : Py_False);
        return PS_OK;
    }
    bool sequence = b->kind == PS_VALUE_PYTHON && (PyTuple_Check(b->object) || PyList_Check(b->object));
    if (!sequence && !loop_is_tile(l, b)) return FAIL(l, IN, loop_describe(l, b));
    TRY(loop_items(l, b, &items, &n));
    for (uint32_t i = 0; i < n; i++) {
        int truth;
        PsRef left = 0, right = 0;
        TRY(loop_compare(l, PS_AST_EQ, a, &items[i], &equal));
        TRY(loop_truth(l, &equal, &truth));
        if (truth == 1 || (truth == -1 && any.kind == PS_VALUE_PYTHON && any.object == Py_False))
            any = equal;
        else if (truth == -1 && any.kind == PS_VALUE_SCALAR) {
            TRY(loop_condition(l, "in", &any, &left));
            TRY(loop_condition(l, "in", &equal, &right));
            any = loop_value(l, ps_build_binary(loop_b(l), PS_OP_OR, left, right));
        }
        if (truth == 1) break;
    }
    *out = any;
    return negated ? loop_unary(l, PS_AST_NOT, &any, out) : PS_OK;
}

static PsStatus compare_one(Loop *l, PsAstOp op, const PsValue *a, const PsValue *b, PsValue *out) {
    if (op == PS_AST_IS || op == PS_AST_ISNOT) return compare_identity(l, op == PS_AST_ISNOT, a, b, out);
    if (op == PS_AST_IN || op == PS_AST_NOTIN) return compare_membership(l, op == PS_AST_NOTIN, a, b, out);
    return loop_compare(l, op, a, b, out);
}

typedef struct Chain {
    PsAst *node;
    uint32_t next; /* comparator to be evaluated */
    PsValue left;
} Chain;

/* The rest of a chain from `left`: left op right and (right op ...). Each operand is evaluated once. */
static PsStatus chain_from(Loop *l, void *data, PsValue *out) {
    Chain chain = *(Chain *)data;
    PsAst *node = chain.node;
    PsValue right;
    int truth;
    TRY(loop_eval(l, node->list.items[chain.next], &right));
    loop_at(l, node);
    TRY(compare_one(l, (PsAstOp)node->ops[chain.next], &chain.left, &right, out));
    if (++chain.next == node->list.len) return PS_OK;
    chain.left = right;
    TRY(loop_truth(l, out, &truth));
    if (truth >= 0) return truth ? chain_from(l, &chain, out) : PS_OK;
    if (loop_is_tile(l, out)) {
        PsValue args[2] = {*out};
        TRY(chain_from(l, &chain, &args[1]));
        return tile_logic(l, true, args, out);
    }
    PsValue first = *out;
    return short_circuit(l, true, &first, chain_from, &chain, out);
}

PsStatus loop_eval_compare(Loop *l, PsAst *node, PsValue *out) {
    Chain chain = {.node = node};
    TRY(loop_eval(l, node->a, &chain.left));
    return chain_from(l, &chain, out);
}

/* -- a if c else b -- */

static PsStatus arm(Loop *l, void *data, PsValue *out) { return loop_eval(l, data, out); }

/* The result from both arms: numbers, vectors or matrices. */
static PsStatus merge(Loop *l, PsRef branch, PsRef condition, bool always, PsValue *arms, PsValue *out) {
    PsType left = loop_element(l, &arms[0]), right = loop_element(l, &arms[1]), shape;
    if (!left || !right) return FAIL(l, IFEXP_ARMS, loop_describe(l, &arms[0]), loop_describe(l, &arms[1]));
    PsType elem = loop_promote_keep(left, right);
    PsBuilder *builder = loop_b(l);
    TRY(loop_spread(l, 2, arms, &shape));
    if (always) {
        PsRef x, y;
        TRY(loop_as(l, &arms[0], elem, &x));
        TRY(loop_as(l, &arms[1], elem, &y));
        *out = loop_value(l, ps_build_select(builder, condition, x, y));
        return PS_OK;
    }
    PsRegion region = ps_op(builder->func, branch)->region0;
    PsRef place = var_before(l, branch, shape ? ps_type_with_element(l->front.module, shape, elem) : elem);
    TRY(store_in(l, region, &arms[0], elem, place));
    TRY(store_in(l, region + 1, &arms[1], elem, place));
    *out = loop_value(l, ps_build_load(builder, place));
    return PS_OK;
}

PsStatus loop_eval_ifexp(Loop *l, PsAst *node, PsValue *out) {
    PsValue value, arms[2];
    PsRef condition = 0, branch = 0;
    PsRegion region = 0;
    int truth;
    TRY(loop_eval(l, node->a, &value));
    TRY(loop_truth(l, &value, &truth));
    if (truth >= 0) return loop_eval(l, truth ? node->b : node->c, out);
    loop_at(l, node);
    if (loop_is_tile(l, &value)) return FAIL(l, IFEXP_VECTOR);
    TRY(loop_condition(l, "if", &value, &condition));
    TRY(loop_build_regions(l, PS_OP_IF, &condition, 1, &branch, &region));
    TRY(eval_in(l, region, arm, node->b, &arms[0]));
    TRY(eval_in(l, region + 1, arm, node->c, &arms[1]));
    loop_at(l, node);
    bool always = can_run_always(l, region) && can_run_always(l, region + 1);
    if (always) {
        run_always(l, region, branch);
        run_always(l, region + 1, branch);
        ps_op_remove(loop_b(l)->func, branch);
    }
    return merge(l, branch, condition, always, arms, out);
}
