/* SPDX-License-Identifier: Apache-2.0
 *
 * What eval_types.c, eval_builtin.c and eval_proxy.c make for one another and for py.
 */
#ifndef PS_FRONT_EVAL_OBJECTS_H
#define PS_FRONT_EVAL_OBJECTS_H

#include "front/eval/eval.h"
#include <structmember.h>

PyTypeObject *eval_builtin_type(PyObject *module); /* NULL: exception set, as all here */
int eval_builtins_add(PsFrontTypes *types, PyObject *module);
bool eval_is_dtype(PyObject *object);            /* eval_types.c: one of ours, of whichever interpreter */
PyTypeObject *eval_proxy_type(PyObject *module); /* eval_proxy.c */
/* ndrange() outside kernels, eval_ndrange.c: iterates over tuples, in the order of a kernel's loop. */
PyTypeObject *eval_ndrange_type(PyObject *module);
PyObject *eval_ndrange(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
/* A Python number as `type` holds it, back as a Python number. */
PyObject *eval_python_cast(PyObject *value, PsType type);

#endif
