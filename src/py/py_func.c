/* SPDX-License-Identifier: Apache-2.0
 *
 * The decorators of what kernels call: func, pyfunc, real_func; and data_oriented, of classes whose methods are kernels and
 * funcs. The object they make is the front end's (front/eval/eval_types.c).
 */
#include "py/py_int.h"

typedef struct FuncKeyword {
    const char *name;
    uint8_t flag;
} FuncKeyword;

static const FuncKeyword func_keywords[] = {
    {"is_real_function", PS_FUNC_REAL},
    {"requires_top_level", PS_FUNC_TOP_LEVEL},
    {0},
};
static const FuncKeyword no_keywords[] = {{0}};

/* @func(requires_top_level=True): the decorator with these keywords. */
static PyObject *decorator_with(PyObject *module, const char *name, PyObject *const *values, PyObject *names) {
    PyObject *tools = PyImport_ImportModule("functools"), *kwargs = PyDict_New(), *result = NULL;
    PyObject *partial = tools ? PyObject_GetAttrString(tools, "partial") : NULL;
    PyObject *args = PyTuple_New(1), *plain = PyObject_GetAttrString(module, name);
    for (Py_ssize_t i = 0; kwargs && names && i < PyTuple_GET_SIZE(names); i++)
        if (PyDict_SetItem(kwargs, PyTuple_GET_ITEM(names, i), values[i])) Py_CLEAR(kwargs);
    if (args && plain) {
        PyTuple_SET_ITEM(args, 0, plain);
        if (partial && kwargs) result = PyObject_Call(partial, args, kwargs);
    }
    Py_XDECREF(args);
    Py_XDECREF(partial);
    Py_XDECREF(kwargs);
    Py_XDECREF(tools);
    return result;
}

static const FuncKeyword *find_keyword(const FuncKeyword *known, PyObject *name) {
    while (known->name && PyUnicode_CompareWithASCIIString(name, known->name) != 0) known++;
    return known->name ? known : NULL;
}

static int read_keywords(PyObject *module, const char *name, const FuncKeyword *known, PyObject *const *values,
                         PyObject *names, uint8_t *flags) {
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        const FuncKeyword *keyword = find_keyword(known, PyTuple_GET_ITEM(names, i));
        int on = keyword ? PyObject_IsTrue(values[i]) : 0;
        const char *text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
        if (!keyword && text)
            py_error(py_state(module), PS_MSG_PY_KEYWORD, name, text,
                     known->name ? "is_real_function, requires_top_level" : "none");
        if (!keyword || on < 0) return -1;
        if (on) *flags |= keyword->flag;
    }
    return 0;
}

/* All parameters of a real function have types; the first of a method has not. */
static int check_annotated(const PyState *state, PyObject *function) {
    const PyCodeObject *code = (const PyCodeObject *)PyFunction_GET_CODE(function);
    PyObject *annotations = PyFunction_GetAnnotations(function);
    PyObject *names = PyObject_GetAttrString((PyObject *)code, "co_varnames");
    if (!names) return -1;
    for (int i = 0; i < code->co_argcount + code->co_kwonlyargcount; i++) {
        const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
        if (!name) goto fail;
        if ((i == 0 && !strcmp(name, "self")) || (annotations && ps_dict_find(annotations, name))) continue;
        if (!PyErr_Occurred()) py_error_at(state, function, name, PS_MSG_PY_REAL_FUNC_ANNOTATION, name);
        goto fail;
    }
    Py_DECREF(names);
    return 0;
fail:
    Py_DECREF(names);
    return -1;
}

static PyObject *decorate(PyObject *module, const char *name, const FuncKeyword *known, uint8_t flags,
                          PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    const PyState *state = py_state(module);
    if (read_keywords(module, name, known, args + nargs, names, &flags)) return NULL;
    if (nargs == 0 && !names) return PyObject_GetAttrString(module, name);
    if (nargs == 0) return decorator_with(module, name, args, names);
    if (nargs != 1)
        return PyErr_Format(PyExc_TypeError, "%s() takes one function, found %zd arguments", name, nargs);
    if (!PyFunction_Check(args[0]))
        return py_error(state, PS_MSG_PY_DECORATED, name, Py_TYPE(args[0])->tp_name);
    if (flags & PS_FUNC_REAL && check_annotated(state, args[0])) return NULL;
    return ps_front_func_new(state->types.func, args[0], flags);
}

PyObject *py_func_decorator(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    return decorate(module, "func", func_keywords, 0, args, nargs, names);
}

PyObject *py_pyfunc_decorator(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    return decorate(module, "pyfunc", no_keywords, PS_FUNC_PYFUNC, args, nargs, names);
}

PyObject *py_real_func_decorator(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    return decorate(module, "real_func", no_keywords, PS_FUNC_REAL, args, nargs, names);
}

/* Nothing has to be done to a class for its methods to be kernels; but where its instances' numbers are to be read at
 * each launch, it says so (a derived class that says the opposite, too). */
static PyObject *mark_class(PyObject *class, bool numbers) {
    if (!PyType_Check(class))
        return PyErr_Format(PyExc_TypeError, "data_oriented() expects a class, found %.200s",
                            Py_TYPE(class)->tp_name);
    PyObject *name = PyUnicode_FromString(PS_RUNTIME_NUMBERS);
    PyObject *before = name ? _PyType_Lookup((PyTypeObject *)class, name) : NULL;
    int failed = !name;
    if (name && (before == Py_True) != numbers)
        failed = PyObject_SetAttr(class, name, numbers ? Py_True : Py_False);
    Py_XDECREF(name);
    return failed ? NULL : Py_NewRef(class);
}

PyObject *py_data_oriented(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    bool numbers = false;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        const char *text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
        int on = text ? PyObject_IsTrue(args[nargs + i]) : -1;
        if (on < 0) return NULL;
        if (strcmp(text, "template_primitives") != 0)
            return py_error(py_state(module), PS_MSG_PY_KEYWORD, "data_oriented", text, "template_primitives");
        numbers = !on;
    }
    if (nargs == 0) return decorator_with(module, "data_oriented", args, names);
    if (nargs != 1)
        return PyErr_Format(PyExc_TypeError, "data_oriented() takes one class, found %zd arguments", nargs);
    return mark_class(args[0], numbers);
}
