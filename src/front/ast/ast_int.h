/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of front/ast share.
 */
#ifndef PS_FRONT_AST_INT_H
#define PS_FRONT_AST_INT_H

#include "front/ast/ast.h"

/* ast_source.c: the lines of a function as they stand in its file, and Python's parse of them. */
typedef struct AstSource {
    PyObject *text; /* str: whole lines from the function's first line on */
    PyObject *node; /* FunctionDef of the _ast module */
    int line_shift; /* lineno in `node` = line in the text (from 0) + 1 + line_shift */
    bool edited;    /* the file changed since the function was decorated, though not in what its code shows */
} AstSource;
int ast_source_find(PyObject *function, uint64_t stamp, AstSource *out); /* -1 with an exception set */
void ast_source_refuse(PyObject *code); /* raises: what stands there is not what is running */

/* ast_text.c: the texts that may hold the function, best first. */
typedef struct AstText {
    PyObject *text; /* str, owned; lines end with \n */
    uint64_t stamp; /* of its file (ps_ast_stamp); 0: it is in no file */
    bool unchanged; /* the file is older than the process that imported it */
    bool guess;     /* it may be another program's */
} AstText;
int ast_text_next(PyFunctionObject *function, int *which, AstText *out); /* 1, 0: no more, -1: exception */

/* ast_compare.c */
/* Whether the lines compile to the code; never leaves an exception. */
bool ast_compiles_to(PyObject *code, const char *start, const char *end, bool indented, PyObject *file,
                     PyObject *filename);
PyObject *ast_quiet_begin(const char *start, const char *end); /* no warnings of Python's parser until ... */
void ast_quiet_end(PyObject *guard);

/* ast_read.c */
/* NULL: exception set. */
PsAst *ast_read_function(PsAstTree *tree, PyObject *function, PyObject *node, int line_shift);

#endif
