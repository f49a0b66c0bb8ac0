/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements, through one table from node kind to its rule. A block is a scope: names born in it end with it. `flow`
 * says what happens next at compile time; after a break, continue or return the rest of the block is unreachable and is
 * not built.
 */
#include "front/loop/loop_int.h"

#include <string.h>

#define MAX_REGIONS 200 /* code generation takes 256; passes add some */

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

/* An op with regions. Python itself limits how deep statements nest, but not what
 * expressions and funcs expand to. */
PsStatus loop_build_regions(Loop *l, PsOpCode code, const PsRef *args, uint32_t nargs, PsRef *out,
                            PsRegion *region) {
    PsBuilder *b = loop_b(l);
    int depth = 0;
    for (PsRegion r = b->region; ps_region(b->func, r)->owner; depth++)
        r = ps_op(b->func, ps_region(b->func, r)->owner)->region;
    if (depth >= MAX_REGIONS) return FAIL(l, TOO_DEEP);
    *out = ps_build_op(b, code, PS_KIND_NONE, args, nargs, 0);
    if (!*out) return PS_NOMEM;
    *region = ps_op(b->func, *out)->region0;
    return PS_OK;
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
    PsRef condition, branch;
    PsRegion region;
    Flow then, otherwise;
    int truth;
    TRY(loop_eval(l, node->a, &value));
    loop_at(l, node->a);
    TRY(loop_truth(l, &value, &truth));
    if (truth >= 0) return exec_static_if(l, node, value.is_static, truth, flow);
    TRY(loop_condition(l, "if", &value, &condition));
    TRY(loop_build_regions(l, PS_OP_IF, &condition, 1, &branch, &region));
    TRY(loop_exec_region(l, region, &node->body, &then));
    TRY(loop_exec_region(l, region + 1, &node->orelse, &otherwise));
    *flow = joined(then, otherwise);
    return PS_OK;
}

bool loop_has_break(const PsAstList *body) {
    for (uint32_t i = 0; i < body->len; i++) {
        const PsAst *node = body->items[i];
        if (node->kind == PS_AST_BREAK) return true;
        if (node->kind == PS_AST_IF && (loop_has_break(&node->body) || loop_has_break(&node->orelse)))
            return true;
    }
    return false;
}

static PsStatus exec_while_condition(Loop *l, PsAst *node, PsRegion region, int *truth) {
    PsBuilder saved = *loop_b(l);
    PsValue value;
    PsRef condition;
    uint32_t mark = ps_names_enter(&l->func->base);
    loop_b(l)->region = region;
    PsStatus status = loop_eval(l, node->a, &value);
    loop_at(l, node->a);
    if (!status) status = loop_truth(l, &value, truth);
    if (!status) status = loop_condition(l, "while", &value, &condition);
    if (!status) ps_build_op(loop_b(l), PS_OP_YIELD, PS_KIND_NONE, &condition, 1, 0);
    ps_names_leave(&l->front, &l->func->base, mark);
    *loop_b(l) = saved;
    return status;
}

static PsStatus exec_while(Loop *l, PsAst *node, Flow *flow) {
    int truth = -1;
    Flow body;
    if (node->orelse.len) return FAIL(l, LOOP_ELSE, "while");
    PsRef op;
    PsRegion region;
    TRY(loop_build_regions(l, PS_OP_WHILE, NULL, 0, &op, &region));
    TRY(exec_while_condition(l, node, region, &truth));
    if (truth == 0) {
        ps_op_remove(loop_b(l)->func, op);
        return PS_OK;
    }
    LoopContext context = {.outer = l->func->loops, .kind = LOOP_SERIAL, .region = region + 1};
    l->func->loops = &context;
    PsStatus status = loop_exec_region(l, region + 1, &node->body, &body);
    l->func->loops = context.outer;
    if (truth == 1 && !loop_has_break(&node->body)) *flow = FLOW_RETURN; /* nothing after it is reached */
    return status;
}

/* -- assert, expressions -- */

/* The fault's values are the number of the message among the module's texts, and what is to be put into it. */
static PsStatus check_assertion(Loop *l, PsRef condition, const LoopText *message) {
    PsBuilder *b = loop_b(l);
    PsRef args[1 + PS_FAULT_VALUES] = {condition};
    uint32_t n = 1;
    if (message && message->nvalues < PS_FAULT_VALUES) { /* else the message is the text of the statement */
        args[n++] = ps_build_int(b, PS_I32, message->id);
        for (uint32_t i = 0; i < message->nvalues; i++) {
            PsType type = loop_type_of(l, message->values[i]);
            static const PsType words[] = {[16] = PS_U16, [32] = PS_U32, [64] = PS_U64};
            if (loop_is_float(type))
                args[n++] =
                    ps_build_op(b, PS_OP_BITCAST, words[ps_scalar_bits(type)], &message->values[i], 1, 0);
            else
                args[n++] = type == PS_U1 ? ps_build_cast(b, message->values[i], PS_I32) : message->values[i];
        }
    }
    ps_build_op(b, PS_OP_CHECK, PS_KIND_NONE, args, n, PS_FAULT_ASSERT);
    return PS_OK;
}

/* A message is evaluated only where the assertion fails. */
static PsStatus assert_with_message(Loop *l, PsAst *node, PsRef condition) {
    PsValue value;
    LoopText message;
    PsRef branch;
    PsRegion region;
    PsRegion before = loop_b(l)->region;
    bool constant = node->b->kind == PS_AST_CONSTANT;
    if (!constant) {
        TRY(loop_build_regions(l, PS_OP_IF, &condition, 1, &branch, &region));
        loop_b(l)->region = region + 1;
    }
    PsStatus status = loop_eval(l, node->b, &value);
    loop_at(l, node->b);
    if (!status) status = loop_text(l, &value, &message);
    if (!status) loop_at(l, node);
    if (!status && !constant) condition = ps_build_int(loop_b(l), PS_U1, 0);
    if (!status) status = check_assertion(l, condition, &message);
    loop_b(l)->region = before;
    return status;
}

static PsStatus exec_assert(Loop *l, PsAst *node, Flow *flow) {
    (void)flow;
    PsValue value;
    PsRef condition;
    TRY(loop_eval(l, node->a, &value)); /* always: it may call what has effects, in both modes */
    loop_at(l, node);
    if (value.kind == PS_VALUE_PYTHON) {
        int truth;
        TRY(loop_truth(l, &value, &truth));
        if (truth) return PS_OK;
    }
    TRY(loop_condition(l, "assert", &value, &condition));
    if (!l->front.options->checked) return PS_OK;
    return node->b ? assert_with_message(l, node, condition) : check_assertion(l, condition, NULL);
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

/* What to write instead. */
static const struct {
    const char *node, *instead;
} refused[] = {
    {"Try", "there are no exceptions in kernels; use if, or assert in checked mode"},
    {"TryStar", "there are no exceptions in kernels; use if, or assert in checked mode"},
    {"Raise", "there are no exceptions in kernels; use assert, in checked mode"},
    {"Import", "import outside the kernel"},
    {"ImportFrom", "import outside the kernel"},
    {"ClassDef", "define the class outside the kernel"},
    {"AsyncFunctionDef", "define the function outside the kernel"},
    {"AsyncFor", "use a plain for"},
    {"AsyncWith", "there are no context managers in kernels"},
    {"With", "there are no context managers in kernels"},
    {"Match", "use if and elif"},
    {"Delete", "names end with their block"},
    {"Global", "a kernel cannot assign to variables outside it; return a value or write to an array"},
    {"Nonlocal", "a kernel cannot assign to variables outside it; return a value or write to an array"},
    {"Set", "use a tuple or a list"},
    {"SetComp", "use a list comprehension"},
    {"GeneratorExp", "use a list comprehension"},
    {"Await", "kernels run to their end"},
    {"Yield", "kernels run to their end; write to an array"},
    {"YieldFrom", "kernels run to their end; write to an array"},
    {"starred expression", "a * belongs into a call, a tuple or a list"},
    {"slice", "pass a slice of an array as an argument"},
};

PsStatus loop_refuse_node(Loop *l, const char *name) {
    for (size_t i = 0; i < PS_COUNT(refused); i++)
        if (!strcmp(refused[i].node, name)) return FAIL(l, UNSUPPORTED_NODE, name, refused[i].instead);
    return FAIL(l, UNSUPPORTED_NODE, name, "kernels do not have it");
}

static PsStatus exec_other(Loop *l, PsAst *node, Flow *flow) {
    (void)flow;
    if (node->kind == PS_AST_TOO_DEEP) return FAIL(l, TOO_DEEP);
    const char *name = node->kind == PS_AST_WITH ? "With"
                       : node->name              ? PyUnicode_AsUTF8(node->name)
                                                 : "statement";
    return name ? loop_refuse_node(l, name) : PS_PYERR;
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

#define MAX_OPS (1u << 20) /* of one function: LLVM needs a minute for as many */

/* Once per statement: what is too large ends with a message, and Ctrl-C works however long funcs expand. */
static PsStatus watch(Loop *l) {
    if (loop_b(l)->func->ops.len > MAX_OPS) return FAIL(l, OPS_LIMIT, MAX_OPS);
    if (++l->statements % 256 == 0 && PyErr_CheckSignals()) return PS_PYERR;
    return PS_OK;
}

static PsStatus exec(Loop *l, PsAst *node, Flow *flow) {
    TRY(ps_front_deeper(&l->front));
    loop_at(l, node);
    TRY(watch(l));
    PsStatus status = (execs[node->kind] ? execs[node->kind] : exec_other)(l, node, flow);
    l->front.depth--;
    return status;
}
