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
} AstSource;
int ast_source_find(PyObject *function, AstSource *out); /* -1 with an exception set */

/* ast_read.c */
PsAst *ast_read_function(PsAstTree *tree, PyObject *node, int line_shift); /* NULL: exception set */

#endif
