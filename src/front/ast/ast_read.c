/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns Python's own tree (objects of the _ast module) into the arena tree of ast.h, once per function. A table maps
 * class names to readers; a class that is not in it becomes OTHER_STATEMENT or OTHER_EXPRESSION, which the languages
 * refuse by name.
 */
#include "front/ast/ast_int.h"

#include <string.h>

#define MAX_DEPTH 900 /* of nested nodes; the languages' own recursion relies on it */

typedef struct Reader {
    PsAstTree *tree;
    PyObject *class; /* name of the class whose text the function stands in, or NULL */
    int line_shift;
    int depth;
} Reader;

static PsAst *read_node(Reader *r, PyObject *object);

/* -- fields -- */

/* A field, kept alive by the tree; NULL with an exception when there is none. */
static PyObject *field(Reader *r, PyObject *object, const char *name) {
    PyObject *value = PyObject_GetAttrString(object, name);
    if (!value) return NULL;
    int failed = PyList_Append(r->tree->keep, value);
    Py_DECREF(value); /* the list holds it */
    return failed ? NULL : value;
}

static int read_child(Reader *r, PyObject *object, const char *name, PsAst **out) {
    PyObject *value = PyObject_GetAttrString(object, name);
    if (!value) return -1;
    *out = value == Py_None ? NULL : read_node(r, value);
    int failed = value != Py_None && !*out;
    Py_DECREF(value);
    return failed ? -1 : 0;
}

/* A field that is a list; elements that are None stay NULL. */
static int read_list(Reader *r, PyObject *object, const char *name, PsAstList *out) {
    PyObject *list = PyObject_GetAttrString(object, name);
    if (!list) return -1;
    int status = -1;
    Py_ssize_t len = PyList_Check(list) ? PyList_GET_SIZE(list) : 0;
    out->items = ps_arena_alloc(&r->tree->arena, sizeof(PsAst *) * (size_t)(len ? len : 1));
    if (!out->items) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t i = 0; i < len; i++) {
        PyObject *item = PyList_GET_ITEM(list, i);
        if (item != Py_None && !(out->items[i] = read_node(r, item))) goto done;
    }
    out->len = (uint32_t)len;
    status = 0;
done:
    Py_DECREF(list);
    return status;
}

/* In a class, Python turns __name into _Class__name. NULL with an exception; a new reference. */
static PyObject *mangled(const Reader *r, PyObject *name) {
    const char *text = r->class && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    size_t len = text ? strlen(text) : 0;
    if (len < 3 || text[0] != '_' || text[1] != '_' || (text[len - 1] == '_' && text[len - 2] == '_'))
        return Py_NewRef(name);
    const char *class = PyUnicode_AsUTF8(r->class);
    if (!class) return NULL;
    while (*class == '_') class ++;
    PyObject *made = *class ? PyUnicode_FromFormat("_%s%s", class, text) : Py_NewRef(name);
    if (made) PyUnicode_InternInPlace(&made);
    return made;
}

static int read_name(Reader *r, PyObject *object, const char *name, PsAst *node) {
    PyObject *value = field(r, object, name), *made = value ? mangled(r, value) : NULL;
    int failed = !made || (made != value && PyList_Append(r->tree->keep, made));
    node->name = value == Py_None ? NULL : made;
    Py_XDECREF(made); /* the list holds it */
    return failed ? -1 : 0;
}

static const char *class_name(PyObject *object) {
    const char *name = Py_TYPE(object)->tp_name, *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

static int read_int(PyObject *object, const char *name, long *out) {
    PyObject *value = PyObject_GetAttrString(object, name);
    if (!value) return -1;
    *out = value == Py_None ? 0 : PyLong_AsLong(value);
    Py_DECREF(value);
    return *out == -1 && PyErr_Occurred() ? -1 : 0;
}

/* Nodes without a position (comprehension clauses, arguments) keep an empty span. */
static int read_span(Reader *r, PyObject *object, PsSpan *span) {
    long line, col, end_line, end_col;
    if (read_int(object, "lineno", &line)) {
        PyErr_Clear();
        return 0;
    }
    if (read_int(object, "col_offset", &col) || read_int(object, "end_lineno", &end_line) ||
        read_int(object, "end_col_offset", &end_col))
        return -1;
    *span = (PsSpan){0, (uint32_t)(line - 1 - r->line_shift), (uint32_t)col,
                     (uint32_t)(end_line - 1 - r->line_shift), (uint32_t)end_col};
    return 0;
}

/* -- operators -- */

static const struct {
    const char *name;
    PsAstOp op;
} operators[] = {
    {"Add", PS_AST_ADD},
    {"Sub", PS_AST_SUB},
    {"Mult", PS_AST_MULT},
    {"Div", PS_AST_DIV},
    {"FloorDiv", PS_AST_FLOORDIV},
    {"Mod", PS_AST_MOD},
    {"Pow", PS_AST_POW},
    {"MatMult", PS_AST_MATMULT},
    {"LShift", PS_AST_LSHIFT},
    {"RShift", PS_AST_RSHIFT},
    {"BitAnd", PS_AST_BITAND},
    {"BitOr", PS_AST_BITOR},
    {"BitXor", PS_AST_BITXOR},
    {"UAdd", PS_AST_UADD},
    {"USub", PS_AST_USUB},
    {"Invert", PS_AST_INVERT},
    {"Not", PS_AST_NOT},
    {"And", PS_AST_AND},
    {"Or", PS_AST_OR},
    {"Eq", PS_AST_EQ},
    {"NotEq", PS_AST_NOTEQ},
    {"Lt", PS_AST_LT},
    {"LtE", PS_AST_LTE},
    {"Gt", PS_AST_GT},
    {"GtE", PS_AST_GTE},
    {"Is", PS_AST_IS},
    {"IsNot", PS_AST_ISNOT},
    {"In", PS_AST_IN},
    {"NotIn", PS_AST_NOTIN},
};

static int operator_of(PyObject *object) {
    const char *name = class_name(object);
    for (size_t i = 0; i < PS_COUNT(operators); i++)
        if (strcmp(name, operators[i].name) == 0) return operators[i].op;
    PyErr_Format(PyExc_SyntaxError, "unknown operator %s", name);
    return -1;
}

static int read_op(Reader *r, PyObject *object, PsAst *node) {
    PyObject *op = field(r, object, "op");
    node->op = op ? operator_of(op) : -1;
    return node->op < 0 ? -1 : 0;
}

/* -- nodes whose fields are not one to one -- */

static int read_parameter(Reader *r, PyObject *object, PsAst *node) {
    return read_name(r, object, "arg", node) || read_child(r, object, "annotation", &node->a);
}

static int mark_parameters(PsAstList *list, int op) {
    for (uint32_t i = 0; i < list->len; i++) list->items[i]->op = op;
    return 0;
}

/* The parameters of a function in one list: positional, *args, keyword-only, **kwargs, with their defaults. */
static int read_parameters(Reader *r, PyObject *object, PsAst *node) {
    PyObject *args = field(r, object, "args");
    PsAstList positional_only, positional, keyword, defaults, keyword_defaults;
    PsAst *star = NULL, *star_star = NULL;
    if (!args || read_list(r, args, "posonlyargs", &positional_only) ||
        read_list(r, args, "args", &positional) || read_list(r, args, "kwonlyargs", &keyword) ||
        read_list(r, args, "defaults", &defaults) || read_list(r, args, "kw_defaults", &keyword_defaults) ||
        read_child(r, args, "vararg", &star) || read_child(r, args, "kwarg", &star_star))
        return -1;
    uint32_t npositional = positional_only.len + positional.len, n = npositional + keyword.len + 2;
    PsAst **items = ps_arena_alloc(&r->tree->arena, n * sizeof *items);
    if (!items) {
        PyErr_NoMemory();
        return -1;
    }
    node->list.items = items;
    if (positional_only.len) memcpy(items, positional_only.items, positional_only.len * sizeof *items);
    if (positional.len) memcpy(items + positional_only.len, positional.items, positional.len * sizeof *items);
    for (uint32_t i = 0; i < defaults.len; i++) items[npositional - defaults.len + i]->b = defaults.items[i];
    uint32_t at = npositional;
    mark_parameters(&positional_only, 4);
    if (star) items[at++] = star, star->op = 1;
    mark_parameters(&keyword, 3);
    for (uint32_t i = 0; i < keyword.len; i++) {
        items[at++] = keyword.items[i];
        keyword.items[i]->b = i < keyword_defaults.len ? keyword_defaults.items[i] : NULL;
    }
    if (star_star) items[at++] = star_star, star_star->op = 2;
    node->list.len = at;
    return 0;
}

static int read_function(Reader *r, PyObject *object, PsAst *node) {
    return read_name(r, object, "name", node) || read_parameters(r, object, node) ||
           read_list(r, object, "body", &node->body) || read_child(r, object, "returns", &node->a);
}

static int read_lambda(Reader *r, PyObject *object, PsAst *node) {
    return read_parameters(r, object, node) || read_child(r, object, "body", &node->b);
}

static int read_compare(Reader *r, PyObject *object, PsAst *node) {
    PyObject *ops = field(r, object, "ops");
    if (!ops || read_child(r, object, "left", &node->a) || read_list(r, object, "comparators", &node->list))
        return -1;
    Py_ssize_t n = PyList_Check(ops) ? PyList_GET_SIZE(ops) : 0;
    node->ops = ps_arena_alloc(&r->tree->arena, sizeof(int) * (size_t)(n ? n : 1));
    if (!node->ops) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        if ((node->ops[i] = operator_of(PyList_GET_ITEM(ops, i))) < 0) return -1;
    return 0;
}

static int read_format(Reader *r, PyObject *object, PsAst *node) {
    long conversion;
    if (read_child(r, object, "value", &node->a) || read_child(r, object, "format_spec", &node->b) ||
        read_int(object, "conversion", &conversion))
        return -1;
    node->op = (int)conversion;
    return 0;
}

static int read_with(Reader *r, PyObject *object, PsAst *node) {
    return read_list(r, object, "items", &node->list) || read_list(r, object, "body", &node->body);
}

static int read_constant(Reader *r, PyObject *object, PsAst *node) {
    node->value = field(r, object, "value");
    return node->value ? 0 : -1;
}

/* -- the table -- */

/* `fields` lists what to read, a letter for the place and the attribute's name: a b c sub-expressions, l list,
 * o body, e orelse, n name, p operator. */
typedef struct NodeClass {
    const char *name;
    PsAstKind kind;
    const char *fields;
    int (*read)(Reader *r, PyObject *object, PsAst *node);
} NodeClass;

static const NodeClass classes[] = {
    {"Name", PS_AST_NAME, "n:id", NULL},
    {"Constant", PS_AST_CONSTANT, "", read_constant},
    {"Attribute", PS_AST_ATTRIBUTE, "a:value n:attr", NULL},
    {"Subscript", PS_AST_SUBSCRIPT, "a:value b:slice", NULL},
    {"BinOp", PS_AST_BINOP, "a:left p:op b:right", NULL},
    {"Call", PS_AST_CALL, "a:func l:args o:keywords", NULL},
    {"Assign", PS_AST_ASSIGN, "l:targets a:value", NULL},
    {"AugAssign", PS_AST_AUGASSIGN, "a:target p:op b:value", NULL},
    {"AnnAssign", PS_AST_ANNASSIGN, "a:target b:annotation c:value", NULL},
    {"Tuple", PS_AST_TUPLE, "l:elts", NULL},
    {"For", PS_AST_FOR, "a:target b:iter o:body e:orelse", NULL},
    {"While", PS_AST_WHILE, "a:test o:body e:orelse", NULL},
    {"If", PS_AST_IF, "a:test o:body e:orelse", NULL},
    {"Compare", PS_AST_COMPARE, "", read_compare},
    {"UnaryOp", PS_AST_UNARYOP, "p:op a:operand", NULL},
    {"BoolOp", PS_AST_BOOLOP, "p:op l:values", NULL},
    {"Expr", PS_AST_EXPR, "a:value", NULL},
    {"Return", PS_AST_RETURN, "a:value", NULL},
    {"Pass", PS_AST_PASS, "", NULL},
    {"Break", PS_AST_BREAK, "", NULL},
    {"Continue", PS_AST_CONTINUE, "", NULL},
    {"Assert", PS_AST_ASSERT, "a:test b:msg", NULL},
    {"With", PS_AST_WITH, "", read_with},
    {"withitem", PS_AST_STARRED, "a:context_expr", NULL},
    {"keyword", PS_AST_KEYWORD, "n:arg a:value", NULL},
    {"arg", PS_AST_PARAMETER, "", read_parameter},
    {"IfExp", PS_AST_IFEXP, "a:test b:body c:orelse", NULL},
    {"List", PS_AST_LIST, "l:elts", NULL},
    {"Dict", PS_AST_DICT, "l:keys o:values", NULL},
    {"Slice", PS_AST_SLICE, "a:lower b:upper c:step", NULL},
    {"Lambda", PS_AST_LAMBDA, "", read_lambda},
    {"ListComp", PS_AST_LISTCOMP, "a:elt l:generators", NULL},
    {"DictComp", PS_AST_DICTCOMP, "a:key b:value l:generators", NULL},
    {"comprehension", PS_AST_GENERATOR, "a:target b:iter l:ifs", NULL},
    {"Starred", PS_AST_STARRED, "a:value", NULL},
    {"JoinedStr", PS_AST_FSTRING, "l:values", NULL},
    {"FormattedValue", PS_AST_FORMAT, "", read_format},
    {"NamedExpr", PS_AST_NAMEDEXPR, "a:target b:value", NULL},
    {"FunctionDef", PS_AST_FUNCTION, "", read_function},
};

static int read_field(Reader *r, PyObject *object, char place, const char *name, PsAst *node) {
    switch (place) {
    case 'a': return read_child(r, object, name, &node->a);
    case 'b': return read_child(r, object, name, &node->b);
    case 'c': return read_child(r, object, name, &node->c);
    case 'l': return read_list(r, object, name, &node->list);
    case 'o': return read_list(r, object, name, &node->body);
    case 'e': return read_list(r, object, name, &node->orelse);
    case 'p': return read_op(r, object, node);
    default: return read_name(r, object, name, node);
    }
}

static int read_fields(Reader *r, PyObject *object, const char *fields, PsAst *node) {
    while (*fields) {
        char name[24];
        size_t len = strcspn(fields + 2, " ");
        memcpy(name, fields + 2, len);
        name[len] = 0;
        if (read_field(r, object, fields[0], name, node)) return -1;
        fields += 2 + len;
        if (*fields == ' ') fields++;
    }
    return 0;
}

/* What the language does not have: remembered by its name. */
static int read_other(Reader *r, PyObject *object, PsAst *node) {
    PyObject *name = PyUnicode_FromString(class_name(object));
    PyObject *base = (PyObject *)Py_TYPE(object)->tp_base;
    bool is_statement = base && strstr(((PyTypeObject *)base)->tp_name, "stmt");
    node->kind = is_statement ? PS_AST_OTHER_STATEMENT : PS_AST_OTHER_EXPRESSION;
    node->name = name;
    if (!name) return -1;
    int failed = PyList_Append(r->tree->keep, name);
    Py_DECREF(name);
    return failed;
}

static PsAst *read_node(Reader *r, PyObject *object) {
    PsAst *node = ps_arena_alloc(&r->tree->arena, sizeof *node);
    if (!node) return (PsAst *)PyErr_NoMemory();
    const char *name = class_name(object);
    const NodeClass *class = NULL;
    for (size_t i = 0; i < PS_COUNT(classes) && !class; i++)
        if (strcmp(name, classes[i].name) == 0) class = &classes[i];
    if (read_span(r, object, &node->span)) return NULL;
    /* The parts of calls and comprehensions have no places of their own; what is in them has. */
    bool part = class && (class->kind == PS_AST_KEYWORD || class->kind == PS_AST_GENERATOR ||
                          class->kind == PS_AST_PARAMETER);
    if ((r->depth >= MAX_DEPTH && !part) || ps_stack_left() < PS_STACK_RESERVE) {
        node->kind = PS_AST_TOO_DEEP;
        return node;
    }
    r->depth++;
    int failed;
    if (!class) {
        failed = read_other(r, object, node);
    } else {
        node->kind = class->kind;
        failed = read_fields(r, object, class->fields, node) || (class->read && class->read(r, object, node));
    }
    r->depth--;
    return failed ? NULL : node;
}

/* The name before the function's in its qualified name, with functions it is nested in left out: "A" in A.f and in
 * A.f.<locals>.g; NULL: none. A new reference. */
static PyObject *class_of(PyObject *qualified) {
    const char *text = PyUnicode_AsUTF8(qualified), *end = text ? strrchr(text, '.') : NULL;
    while (end && end - text >= 8 && memcmp(end - 8, "<locals>", 8) == 0) {
        for (end -= 10; end > text && *end != '.'; end--) {
        } /* to the dot before the function's name */
        if (end <= text) return NULL;
    }
    if (!end) return PyErr_Clear(), NULL;
    const char *start = end;
    while (start > text && start[-1] != '.') start--;
    return PyUnicode_FromStringAndSize(start, end - start);
}

PsAst *ast_read_function(PsAstTree *tree, PyObject *function, PyObject *object, int line_shift) {
    Reader reader = {.tree = tree, .line_shift = line_shift};
    reader.class = class_of(((PyFunctionObject *)function)->func_qualname);
    PsAst *node = read_node(&reader, object);
    Py_XDECREF(reader.class);
    return node;
}

/* -- trees -- */

static char *copy_text(PsAstTree *tree, PyObject *object) {
    Py_ssize_t len;
    const char *text = PyUnicode_AsUTF8AndSize(object, &len);
    char *copy = text ? ps_arena_copy(&tree->arena, text, (size_t)len) : NULL;
    if (text && !copy) PyErr_NoMemory();
    return copy;
}

static bool annotates_locals(const PsAst *node);

static bool any_annotates_locals(const PsAstList *list) {
    for (uint32_t i = 0; i < list->len; i++)
        if (list->items[i] && annotates_locals(list->items[i])) return true;
    return false;
}

static bool annotates_locals(const PsAst *node) {
    return node->kind == PS_AST_ANNASSIGN || any_annotates_locals(&node->body) ||
           any_annotates_locals(&node->orelse);
}

PsAstTree *ps_ast_read(PyObject *function, uint64_t stamp) {
    AstSource source;
    if (ast_source_find(function, stamp, &source)) return NULL;
    PsAstTree *tree = ps_alloc(sizeof *tree);
    if (!tree) {
        PyErr_NoMemory();
        goto fail;
    }
    ps_arena_init(&tree->arena);
    PyFunctionObject *f = (PyFunctionObject *)function;
    PyCodeObject *code = (PyCodeObject *)f->func_code;
    tree->first_line = (uint32_t)code->co_firstlineno;
    if (!(tree->keep = PyList_New(0)) || !(tree->name = copy_text(tree, f->func_name)) ||
        !(tree->file = copy_text(tree, code->co_filename)) || !(tree->text = copy_text(tree, source.text)) ||
        !(tree->function = ast_read_function(tree, function, source.node, source.line_shift)))
        goto fail;
    if (tree->function->kind != PS_AST_FUNCTION) {
        PyErr_Format(PyExc_TypeError, "%s is not written with def, so it cannot be compiled", tree->name);
        goto fail;
    }
    if (source.edited && annotates_locals(tree->function)) {
        ast_source_refuse(f->func_code);
        goto fail;
    }
    Py_DECREF(source.node);
    Py_DECREF(source.text);
    return tree;
fail:
    Py_XDECREF(source.node);
    Py_XDECREF(source.text);
    ps_ast_tree_free(tree);
    return NULL;
}

void ps_ast_tree_free(PsAstTree *tree) {
    if (!tree) return;
    Py_XDECREF(tree->keep);
    ps_arena_free(&tree->arena);
    ps_free(tree);
}

/* -- the trees of one function -- */

PsAstTree *ps_ast_tree_of(PsAstTrees **trees, PyObject *function, uint64_t stamp) {
    PyObject *code = PyFunction_GET_CODE(function);
    for (const PsAstTrees *t = *trees; t; t = t->next)
        if (t->code == code) return t->tree;
    Py_INCREF(code); /* reading runs Python code */
    PsAstTree *tree = ps_ast_read(function, *trees ? 0 : stamp);
    PsAstTrees *node = tree ? ps_alloc(sizeof *node) : NULL;
    if (!node) {
        if (tree) PyErr_NoMemory();
        ps_ast_tree_free(tree);
        Py_DECREF(code);
        return NULL;
    }
    *node = (PsAstTrees){tree, code, *trees};
    *trees = node;
    return tree;
}

void ps_ast_trees_free(PsAstTrees *trees) {
    while (trees) {
        PsAstTrees *next = trees->next;
        ps_ast_tree_free(trees->tree);
        Py_DECREF(trees->code);
        ps_free(trees);
        trees = next;
    }
}

int ps_ast_trees_traverse(const PsAstTrees *trees, visitproc visit, void *arg) {
    for (; trees; trees = trees->next) {
        Py_VISIT(trees->tree->keep);
        Py_VISIT(trees->code);
    }
    return 0;
}
