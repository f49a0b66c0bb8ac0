/* SPDX-License-Identifier: Apache-2.0
 *
 * front/ast: a Python function -> its source -> Python's own parser -> an arena tree. Made once per function object's
 * code and kept for later specialisations. Neither `inspect` nor the `ast` module is imported: builtins.compile with
 * PyCF_ONLY_AST is enough.
 */
#ifndef PS_FRONT_AST_H
#define PS_FRONT_AST_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "base/base.h"

/* As PyDict_GetItemString, which hides exceptions: borrowed; NULL, perhaps with an exception. */
static inline PyObject *ps_dict_find(PyObject *dict, const char *name) {
    PyObject *key = PyUnicode_InternFromString(name), *found = key ? PyDict_GetItemWithError(dict, key) : NULL;
    Py_XDECREF(key);
    return found;
}
/* Drops an exception that only says "not so". Ctrl-C and lack of memory stay: they are not for us to answer. */
static inline void ps_forgive(void) {
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_MemoryError)) return;
    if (PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();
}

typedef enum PsAstKind {
#define PS_AST(id, name) PS_AST_##id,
#include "front/ast/ast.def"
    PS_AST_COUNT
} PsAstKind;

typedef struct PsAst PsAst;
typedef struct PsAstList {
    PsAst **items;
    uint32_t len;
} PsAstList;

/* One node: kind + the fields that kind uses (ast.def says which). Strings are interned Python str objects (borrowed;
 * kept alive by the tree). Spans: line 0 = the function's first line (its first decorator). */
struct PsAst {
    PsAstKind kind;
    PsSpan span;      /* source 0: the user of the tree fills it in */
    PyObject *name;   /* identifier: Name.id, Attribute.attr, arg, keyword, FunctionDef */
    PyObject *value;  /* Constant: the Python object */
    int op;           /* PsAstOp of BinOp, UnaryOp, BoolOp, AugAssign; */
    int *ops;         /* Compare: one per comparator */
    PsAst *a, *b, *c; /* sub-expressions, see ast.def */
    PsAstList list, body, orelse;
};

typedef enum PsAstOp {
    PS_AST_ADD,
    PS_AST_SUB,
    PS_AST_MULT,
    PS_AST_DIV,
    PS_AST_FLOORDIV,
    PS_AST_MOD,
    PS_AST_POW,
    PS_AST_MATMULT,
    PS_AST_LSHIFT,
    PS_AST_RSHIFT,
    PS_AST_BITAND,
    PS_AST_BITOR,
    PS_AST_BITXOR,
    PS_AST_UADD,
    PS_AST_USUB,
    PS_AST_INVERT,
    PS_AST_NOT,
    PS_AST_AND,
    PS_AST_OR,
    PS_AST_EQ,
    PS_AST_NOTEQ,
    PS_AST_LT,
    PS_AST_LTE,
    PS_AST_GT,
    PS_AST_GTE,
    PS_AST_IS,
    PS_AST_ISNOT,
    PS_AST_IN,
    PS_AST_NOTIN,
} PsAstOp;

/* The tree of one function. Refcounted by hand: ps_ast_tree_free when the owner (a Python object) dies. */
typedef struct PsAstTree {
    PsArena arena;
    PyObject *keep;          /* list of the Python objects the nodes borrow */
    PsAst *function;         /* FUNCTION or LAMBDA node */
    const char *name, *file; /* __name__; file as in co_filename */
    const char *text;        /* the source as it stands in the file, from first_line on */
    uint32_t first_line;     /* in the file, from 1 */
} PsAstTree;

/* ast_text.c: a mark of the file that a function was imported from, as it is now: take it when the function is
 * decorated. 0: there is no such file. Costs one stat. */
uint64_t ps_ast_stamp(PyObject *function);
/* New tree for a function object, with the stamp from when it was decorated (0: none); NULL with a Python exception set:
 * OSError when the text is not to be had, or is not what is running (ast_source.c), TypeError for lambdas. Decorators,
 * nested functions, methods, notebooks, `python -c`, exec with an entry in linecache are fine. */
PsAstTree *ps_ast_read(PyObject *function, uint64_t stamp);
void ps_ast_tree_free(PsAstTree *tree);

/* The trees of one function object, newest first: one for each code object that it had, which is one, but for acrobats.
 * All stay until the owner dies, since a build may be using an older one. */
typedef struct PsAstTrees {
    PsAstTree *tree;
    PyObject *code; /* owned */
    struct PsAstTrees *next;
} PsAstTrees;
/* The tree of the function's code as it is now, read when first needed; the stamp is of the code that was decorated. NULL
 * with an exception. */
PsAstTree *ps_ast_tree_of(PsAstTrees **trees, PyObject *function, uint64_t stamp);
void ps_ast_trees_free(PsAstTrees *trees);
int ps_ast_trees_traverse(const PsAstTrees *trees, visitproc visit, void *arg);

#endif
