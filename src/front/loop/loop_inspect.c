/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that look at Python itself. Some builtins see the frame of whoever calls them: in a kernel that is the caller's,
 * with other variables than the kernel's, so they are refused. type() and callable() of a runtime value would see its
 * stand-in (front/eval/eval_proxy.c); isinstance() does not, which answers by the value's type.
 */
#include "front/loop/loop_int.h"

#include <string.h>

/* With fewer arguments than `enough` it is the frame that they see. */
static const struct {
    const char *name;
    uint32_t enough;
    const char *instead;
} of_frame[] = {
    {"eval", 2, "write the expression itself"},
    {"exec", 2, "write the statements themselves"},
    {"locals", 1, "use the variables by their names"},
    {"globals", 1, "use the globals by their names"},
    {"vars", 1, "use the variables by their names"},
    {"dir", 1, "use the variables by their names"},
    {"super", 1, "name the class, as in Base.method(self, ...)"},
};

static const char *builtin_name(PyObject *callee) {
    if (callee == (PyObject *)&PySuper_Type) return "super";
    if (callee == (PyObject *)&PyType_Type) return "type";
    if (!PyCFunction_Check(callee)) return NULL;
    const PyCFunctionObject *function = (const PyCFunctionObject *)callee;
    bool builtin = function->m_module && PyUnicode_Check(function->m_module) &&
                   PyUnicode_CompareWithASCIIString(function->m_module, "builtins") == 0;
    return builtin ? function->m_ml->ml_name : NULL;
}

/* Whether Python would be given a stand-in for it. */
static PsStatus has_stand_in(Loop *l, const PsValue *value, bool *out) {
    PyObject *object =
        value->kind == PS_VALUE_PYTHON ? Py_NewRef(value->object) : ps_value_object(&l->front, value);
    if (!object) return ps_front_python_failed(&l->front);
    *out = ps_proxy_check(&l->front, object);
    Py_DECREF(object);
    return PS_OK;
}

PsStatus loop_check_inspection(Loop *l, PyObject *callee, const CallArgs *args) {
    const char *name = builtin_name(callee);
    if (!name) return PS_OK;
    for (size_t i = 0; i < PS_COUNT(of_frame); i++)
        if (!strcmp(of_frame[i].name, name) && args->nargs + args->nnamed < of_frame[i].enough)
            return FAIL(l, CALL_FRAME, name, of_frame[i].instead);
    bool is_type = callee == (PyObject *)&PyType_Type, stand_in = false;
    if (args->nargs != 1 || (!is_type && strcmp(name, "callable") != 0)) return PS_OK;
    TRY(has_stand_in(l, &args->args[0], &stand_in));
    return stand_in ? FAIL(l, CALL_INSPECT, name, loop_describe(l, &args->args[0])) : PS_OK;
}
