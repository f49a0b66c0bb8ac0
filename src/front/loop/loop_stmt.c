/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements, through one table from node kind to its rule. A block is a scope: names born in it end with it. `flow`
 * says what happens next at compile time; after a break, continue or return the rest of the block is unreachable and is
 * not built.
 */
#include "front/loop/loop_int.h"

typedef PsStatus (*Exec)(Loop *l, PsAst *node, Flow *flow);

static PsStatus exec(Loop *l, PsAst *node, Flow *flow);

PsStatus loop_exec_list(Loop *l, const PsAstList *body, Flow *flow) {
    *flow = FLOW_NEXT;
    for (uint32_t i = 0; i < body->len && *flow == FLOW_NEXT; i++) TRY(exec(l, body->items[i], flow));
    return PS_OK;
}

PsStatus loop_exec_block(Loop *l, const PsAstList *body, Flow *flow) {
    uint32_t mark = ps_names_enter(&l->func->base);
    PsStatus status = loop_exec_list(l, body, flow);
    ps_names_leave(&l->front, &l->func->base, mark);
    return status;
}

PsStatus loop_exec_region(Loop *l, PsRegion region, const PsAstList *body, Flow *flow) {
    PsBuilder saved = *loop_b(l);
    loop_b(l)->region = region;
    PsStatus status = loop_exec_block(l, body, flow);
    *loop_b(l) = saved;
    return status;
}

/* -- if, while -- */

/* What is known while compiling picks a branch, and only that one is built. The loops in it are parallel only if the
 * program says ti.static: without it, a for inside an if is serial. */
static PsStatus exec_static_if(Loop *l, PsAst *node, bool is_static, int truth, Flow *flow) {
    l->serial += !is_static;
    PsStatus status = loop_exec_block(l, truth ? &node->body : &node->orelse, flow);
    l->serial -= !is_static;
    return status;
}

static Flow joined(Flow a, Flow b) { return a == FLOW_RETURN && b == FLOW_RETURN ? FLOW_RETURN : FLOW_NEXT; }

static PsStatus exec_if(Loop *l, PsAst *node, Flow *flow) {
    PsValue value;
    PsRef condition;
    Flow then, otherwise;
    int truth;
    TRY(loop_eval(l, node->a, &value));
    loop_at(l, node->a);
    TRY(loop_truth(l, &value, &truth));
    if (truth >= 0) return exec_static_if(l, node, value.is_static, truth, flow);
    TRY(loop_condition(l, "if", &value, &condition));
    PsRef branch = ps_build_op(loop_b(l), PS_OP_IF, PS_KIND_NONE, &condition, 1, 0);
    PsRegion region = ps_op(loop_b(l)->func, branch)->region0;
    TRY(loop_exec_region(l, region, &node->body, &then));
    TRY(loop_exec_region(l, region + 1, &node->orelse, &otherwise));
    *flow = joined(then, otherwise);
    return PS_OK;
}

/* Whether a break in the body can end this loop (one in a loop inside cannot). */
static bool has_break(const PsAstList *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const PsAst *node = body->items[i];
        if (node->kind == PS_AST_BREAK) return true;
        if (node->kind == PS_AST_IF && (has_break(&node->body) || has_break(&node->orelse))) return true;
        if ((node->kind == PS_AST_FOR || node->kind == PS_AST_WHILE) && has_break(&node->orelse)) return true;
    }
    return false;
}

static PsStatus exec_while_condition(Loop *l, PsAst *node, PsRegion region, int *truth) {
    PsBuilder saved = *loop_b(l);
    PsValue value;
    PsRef condition;
    loop_b(l)->region = region;
    PsStatus status = loop_eval(l, node->a, &value);
    loop_at(l, node->a);
    if (!status) status = loop_truth(l, &value, truth);
    if (!status) status = loop_condition(l, "while", &value, &condition);
    if (!status) ps_build_op(loop_b(l), PS_OP_YIELD, PS_KIND_NONE, &condition, 1, 0);
    *loop_b(l) = saved;
    return status;
}

static PsStatus exec_while(Loop *l, PsAst *node, Flow *flow) {
    int truth = -1;
    Flow body;
    if (node->orelse.len) return FAIL(l, LOOP_ELSE, "while");
    PsRef op = ps_build_op(loop_b(l), PS_OP_WHILE, PS_KIND_NONE, NULL, 0, 0);
    PsRegion region = ps_op(loop_b(l)->func, op)->region0;
    TRY(exec_while_condition(l, node, region, &truth));
    if (truth == 0) {
        ps_op_remove(loop_b(l)->func, op);
        return PS_OK;
    }
    LoopContext context = {.outer = l->func->loops, .kind = LOOP_SERIAL, .region = region + 1};
    l->func->loops = &context;
    PsStatus status = loop_exec_region(l, region + 1, &node->body, &body);
    l->func->loops = context.outer;
    if (truth == 1 && !has_break(&node->body)) *flow = FLOW_RETURN; /* nothing after it is reached */
    return status;
}

/* -- assert, expressions -- */

static PsStatus exec_assert(Loop *l, PsAst *node, Flow *flow) {
    (void)flow;
    PsValue value;
    PsRef condition;
    if (!l->front.options->checked) return PS_OK;
    TRY(loop_eval(l, node->a, &value));
    loop_at(l, node);
    if (value.kind == PS_VALUE_PYTHON) {
        int truth;
        TRY(loop_truth(l, &value, &truth));
        if (truth) return PS_OK;
    }
    TRY(loop_condition(l, "assert", &value, &condition));
    ps_build_op(loop_b(l), PS_OP_CHECK, PS_KIND_NONE, &condition, 1, PS_FAULT_ASSERT);
    return PS_OK;
}

static PsStatus exec_expr(Loop *l, PsAst *node, Flow *flow) {
    (void)flow;
    PsValue value;
    if (node->a->kind == PS_AST_CONSTANT) return PS_OK; /* a docstring, an ellipsis */
    return loop_eval(l, node->a, &value);
}

static PsStatus exec_pass(Loop *l, PsAst *node, Flow *flow) {
    (void)l, (void)node, (void)flow;
    return PS_OK;
}

/* -- refused -- */

static PsStatus exec_function(Loop *l, PsAst *node, Flow *flow) {
    (void)node, (void)flow;
    return FAIL(l, NESTED_FUNCTION, l->func->kind == FUNC_KERNEL ? "kernel" : "func");
}

static PsStatus exec_other(Loop *l, PsAst *node, Flow *flow) {
    (void)flow;
    const char *name = node->kind == PS_AST_WITH ? "With" : node->name ? PyUnicode_AsUTF8(node->name) : "statement";
    return name ? FAIL(l, UNSUPPORTED_NODE, name) : PS_PYERR;
}

static const Exec execs[PS_AST_COUNT] = {
    [PS_AST_FUNCTION] = exec_function,
    [PS_AST_RETURN] = loop_exec_return,
    [PS_AST_ASSIGN] = loop_exec_assign,
    [PS_AST_AUGASSIGN] = loop_exec_augassign,
    [PS_AST_ANNASSIGN] = loop_exec_annassign,
    [PS_AST_FOR] = loop_exec_for,
    [PS_AST_WHILE] = exec_while,
    [PS_AST_IF] = exec_if,
    [PS_AST_ASSERT] = exec_assert,
    [PS_AST_EXPR] = exec_expr,
    [PS_AST_PASS] = exec_pass,
    [PS_AST_BREAK] = loop_exec_break,
    [PS_AST_CONTINUE] = loop_exec_continue,
};

static PsStatus exec(Loop *l, PsAst *node, Flow *flow) {
    TRY(ps_front_deeper(&l->front));
    loop_at(l, node);
    PsStatus status = (execs[node->kind] ? execs[node->kind] : exec_other)(l, node, flow);
    l->front.depth--;
    return status;
}
