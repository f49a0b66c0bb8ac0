/* SPDX-License-Identifier: Apache-2.0
 *
 * front/loop: the rules of the loop language (Taichi family): statements, expressions, promotion, builtins -> IR.
 */
#ifndef PS_FRONT_LOOP_H
#define PS_FRONT_LOOP_H

#include "front/eval/eval.h"

#define PS_MAX_ARGUMENTS 4096 /* of a kernel, members and scalars of vectors counted */
#define PS_PIN_SHAPE     1u   /* the lengths of its axes */
#define PS_PIN_OBJECT    2u   /* which field it is */
typedef struct PsBuild {      /* the result; owned by the caller */
    PsArena arena;
    PsModule *module; /* in the arena */
    PsDiag diag;
    PsFacts facts;
    /* What the launch must know of each parameter beyond its kind. */
    bool *writes;      /* per parameter: the kernel stores into this array (a read-only one is refused) */
    uint8_t *pins;     /* per parameter: what of the field given for it was read while compiling (PS_PIN_*) */
    PyObject **fields; /* main's parameters behind the user's: arrays of ours (PsArrayObject), owned */
    uint32_t nfields;
    PsMember *members; /* what comes behind those: read at each launch */
    uint32_t nmembers;
    PyObject **pinned; /* of what the program used more than its type or attributes; only to be compared */
    uint32_t npinned;
    const PsForm *result; /* of main, in the arena; NULL when it returns nothing */
    PyObject *cause;      /* of a failure: the Python exception behind diag's message, or NULL */
} PsBuild;

/* Says what a member of a dataclass is by its annotation (text, too), as of an argument; the annotation in what it says
 * is a new reference, or NULL. -1 with an exception. */
typedef struct PsDescriber {
    int (*describe)(void *data, PyTypeObject *class, PyObject *name, PyObject *annotation, PyObject *value,
                    const char *where, PsParam *out);
    /* The gradient array of an array argument (new reference): None, or NULL without an exception, if it has none. One
     * that a tensor asks for is made. */
    PyObject *(*grad)(void *data, PyObject *array);
    void *data;
    const char *kernel; /* its name */
} PsDescriber;

/* Builds main from the Python function of a kernel. PS_FAIL: build->diag has the message; PS_PYERR: a Python exception
 * (Ctrl-C, no memory, a warning made an error) is set. The build must be freed in every case. `tree` may be NULL, with
 * the exception set that says why it could not be read. */
PsStatus ps_loop_build(PsFrontTypes *types, const PsFrontOptions *options, PyObject *function, PsAstTree *tree,
                       const PsParam *params, uint32_t nparams, PyObject *return_annotation /* NULL: none */,
                       const PsDescriber *describer, PsBuild *out) PS_MUST_CHECK;
void ps_build_free(PsBuild *build);
/* Whether a function of Python's, of math or a numpy ufunc has a counterpart among the builtins. */
bool ps_loop_python_builtin(PyObject *callee, PsBuiltinId *out);
/* Of those: numpy's maximum and minimum, which give a NaN where min and max give the other operand. */
bool ps_loop_keeps_nan(PyObject *callee);

#endif
