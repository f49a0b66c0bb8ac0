/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel that is compiled again and again, since a number that it reads while compiling is another one each time: one
 * warning, which says what differs from the specialisation before.
 */
#include "py/py_int.h"

#define MANY 64

static bool is_number(PyObject *object) { return object && (PyFloat_Check(object) || PyLong_Check(object)); }

/* A new reference, or NULL: it is none, or (with an exception) no text could be made. */
static PyObject *differing_fact(const PySpec *spec, const PySpec *before) {
    for (uint32_t i = 0; i < spec->facts.len && i < before->facts.len; i++) {
        const PsFact *a = &spec->facts.items[i], *b = &before->facts.items[i];
        if (a->kind != b->kind || a->holder != b->holder || !is_number(a->found) || !is_number(b->found) ||
            ps_facts_same(a->found, b->found))
            continue;
        if (a->kind == PS_FACT_GLOBAL) return PyUnicode_FromFormat("the global '%U'", a->key);
        if (a->kind == PS_FACT_CELL) return PyUnicode_FromString("a variable of the function around it");
        return PyUnicode_FromFormat("the attribute '%U' of %.200s", a->key, Py_TYPE(a->holder)->tp_name);
    }
    return NULL;
}

static PyObject *differing_argument(const PyKernel *kernel, const PySpec *spec, const PySpec *before) {
    for (uint32_t i = 0; i < spec->nparams; i++) {
        const PyPlan *a = &spec->plans[i], *b = &before->plans[i];
        if (a->how == PY_HOW_TEMPLATE && b->how == PY_HOW_TEMPLATE && is_number(a->value) &&
            is_number(b->value) && !py_template_same(a->value, b->value))
            return PyUnicode_FromFormat("the template argument '%U'", kernel->signature.params[i].name);
    }
    return NULL;
}

int py_warn_of_many(PyKernel *kernel, const PySpec *spec) {
    const PySpec *before = spec->next;
    if (kernel->nspecs < MANY || kernel->warned_many || !before || before->nparams != spec->nparams) return 0;
    PyObject *what = differing_argument(kernel, spec, before);
    if (!what && !PyErr_Occurred()) what = differing_fact(spec, before);
    if (!what) return PyErr_Occurred() ? -1 : 0;
    kernel->warned_many = true;
    int failed =
        PyErr_WarnFormat(PyExc_UserWarning, 1,
                         "kernel '%U' has been compiled %d times, since %U differs each time; pass it as an "
                         "argument that is no template()",
                         ((PyFunctionObject *)kernel->function)->func_name, (int)kernel->nspecs, what);
    Py_DECREF(what);
    return failed;
}
