/* SPDX-License-Identifier: Apache-2.0
 *
 * Python functions whose result is another one each time: clocks, random numbers, input. Called in a kernel they run once,
 * while it is compiled, which is seldom what is meant; so there is a warning, except inside ti.static(...), which says
 * that it is. Known by where they come from and their names: nothing else tells them from other functions. What a
 * plain Python helper calls on its own is not seen.
 */
#include "front/loop/loop_int.h"

static const struct {
    const char *module; /* and its submodules */
    const char *names;  /* between blanks; NULL: all */
} impure[] = {
    {"time",
     " time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns "
     "thread_time thread_time_ns clock_gettime clock_gettime_ns localtime gmtime ctime asctime strftime "},
    {"random", NULL},
    {"numpy.random", NULL},
    {"secrets", NULL},
    {"datetime", " now utcnow today "},
    {"uuid", " uuid1 uuid4 uuid6 uuid7 "},
    {"posix", " urandom getrandom times getloadavg "},
    {"builtins", " input "},
};

static bool is_in(const char *module, const char *of) {
    size_t n = strlen(of);
    return strncmp(module, of, n) == 0 && (module[n] == 0 || module[n] == '.');
}

static bool has_name(const char *names, const char *name) {
    size_t n = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at += n)
        if (at[-1] == ' ' && at[n] == ' ') return true;
    return false;
}

/* Whose __module__ says where it comes from; borrowed. NULL: a callable of another kind. */
static PyObject *origin_of(PyObject *callee) {
    PyObject *self = PyMethod_Check(callee)      ? PyMethod_GET_SELF(callee)
                     : PyCFunction_Check(callee) ? ((PyCFunctionObject *)callee)->m_self
                                                 : NULL;
    if (!self) return PyFunction_Check(callee) || PyCFunction_Check(callee) ? callee : NULL;
    return PyModule_Check(self) || PyType_Check(self) ? self : (PyObject *)Py_TYPE(self);
}

PsStatus loop_warn_impure(Loop *l, PyObject *callee) {
    PyObject *origin = l->in_static ? NULL : origin_of(callee), *module = NULL, *name = NULL;
    PsStatus status = PS_OK;
    if (!origin) return PS_OK;
    module = PyObject_GetAttrString(origin, PyModule_Check(origin) ? "__name__" : "__module__");
    name = PyObject_GetAttrString(callee, "__name__");
    const char *from = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL,
               *what = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    PyErr_Clear();
    for (size_t i = 0; from && what && *what && i < PS_COUNT(impure); i++) {
        if (!is_in(from, impure[i].module) || (impure[i].names && !has_name(impure[i].names, what))) continue;
        const char *text = ps_arena_format(l->front.arena,
                                           "%s() is called once, while the kernel is compiled; its result "
                                           "stays the same in all launches. Pass it as "
                                           "an argument, or write ti.static(...) around it if that is meant",
                                           what);
        status = text ? ps_front_warn(&l->front, text) : PS_NOMEM;
        break;
    }
    Py_XDECREF(module);
    Py_XDECREF(name);
    return status;
}
