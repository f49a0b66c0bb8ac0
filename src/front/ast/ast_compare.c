/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a text is that of the code that is running: the text is compiled and the two code objects are compared, with
 * the functions inside them. What stands around the function decides how its names are compiled, so that is made up:
 * the free variables become the parameters of a function around it, and a private name (self.__x) counts as equal to
 * what a class made of it.
 *
 * What code objects do not hold is not compared: comments, lines, and the annotations of local variables.
 */
#include "front/ast/ast_int.h"

#include <string.h>

/* -- quiet compiling -- */

/* Python warns of "\d" in a docstring each time it compiles it; it did so when the function was imported. */
PyObject *ast_quiet_begin(const char *start, const char *end) {
    if (start == end || !memchr(start, '\\', (size_t)(end - start))) return NULL;
    PyObject *warnings = PyImport_ImportModule("warnings");
    PyObject *guard = warnings ? PyObject_CallMethod(warnings, "catch_warnings", NULL) : NULL;
    PyObject *entered = guard ? PyObject_CallMethod(guard, "__enter__", NULL) : NULL;
    PyObject *set = entered ? PyObject_CallMethod(warnings, "simplefilter", "s", "ignore") : NULL;
    if (!entered) Py_CLEAR(guard);
    Py_XDECREF(set);
    Py_XDECREF(entered);
    Py_XDECREF(warnings);
    PyErr_Clear();
    return guard;
}

void ast_quiet_end(PyObject *guard) {
    PyObject *type, *value, *traceback;
    if (!guard) return;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *left = PyObject_CallMethod(guard, "__exit__", "OOO", Py_None, Py_None, Py_None);
    Py_XDECREF(left);
    Py_DECREF(guard);
    PyErr_Restore(type, value, traceback);
}

/* -- comparing -- */

static bool same_code(PyObject *a, PyObject *b);

/* The part of a text that does not depend on what stands around the function: of "f.<locals>.<lambda>", which code of
 * Python 3.10 holds as a constant, what follows the last "<locals>.". */
static const char *inner_part(const char *text) {
    const char *found = text, *next;
    while ((next = strstr(found, "<locals>."))) found = next + 9;
    return found;
}

static bool same_text(PyObject *a, PyObject *b) {
    if (PyUnicode_Compare(a, b) == 0) return true;
    const char *left = PyUnicode_AsUTF8(a), *right = PyUnicode_AsUTF8(b);
    if (!left || !right) return PyErr_Clear(), false;
    size_t nleft = strlen(left), nright = strlen(right);
    if (right[0] == '_' && right[1] == '_' && left[0] == '_' && nleft > nright + 1 &&
        strcmp(left + nleft - nright, right) == 0)
        return true; /* _Class__name and __name */
    const char *inner = inner_part(right);
    return inner != right && strcmp(inner_part(left), inner) == 0;
}

static bool same_constant(PyObject *a, PyObject *b) {
    if (a == b) return true;
    if (Py_TYPE(a) != Py_TYPE(b)) return false;
    if (PyCode_Check(a)) return same_code(a, b);
    if (PyUnicode_Check(a)) return same_text(a, b);
    if (PyFloat_Check(a)) {
        double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
        return memcmp(&x, &y, sizeof x) == 0;
    }
    if (PyTuple_Check(a)) {
        bool same = PyTuple_GET_SIZE(a) == PyTuple_GET_SIZE(b);
        for (Py_ssize_t i = 0; same && i < PyTuple_GET_SIZE(a); i++)
            same = same_constant(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i));
        return same;
    }
    int same = PyObject_RichCompareBool(a, b, Py_EQ);
    if (same < 0) PyErr_Clear();
    return same == 1;
}

static bool same_attribute(PyObject *a, PyObject *b, const char *name) {
    PyObject *left = PyObject_GetAttrString(a, name), *right = left ? PyObject_GetAttrString(b, name) : NULL;
    bool same = right && same_constant(left, right);
    Py_XDECREF(left);
    Py_XDECREF(right);
    PyErr_Clear();
    return same;
}

#ifndef CO_METHOD /* of a function in a class, from 3.14 on */
#define CO_METHOD 0
#endif

static bool same_code(PyObject *a, PyObject *b) {
    static const char *const compared[] = {
        "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_name",     "co_code",
        "co_names",    "co_varnames",        "co_freevars",       "co_cellvars", "co_consts"};
    const int flags = ~(CO_NESTED | CO_METHOD); /* where it stands, not what it says */
    if ((((PyCodeObject *)a)->co_flags & flags) != (((PyCodeObject *)b)->co_flags & flags)) return false;
    if (Py_EnterRecursiveCall(" while comparing code")) return PyErr_Clear(), false;
    bool same = true;
    for (size_t i = 0; same && i < PS_COUNT(compared); i++) same = same_attribute(a, b, compared[i]);
    Py_LeaveRecursiveCall();
    return same;
}

/* -- compiling -- */

/* Code of the name among the constants of `code`, or one level further in (a function with type parameters has a
 * function around it); a new reference. */
static PyObject *find_code(PyObject *code, PyObject *name, int depth) {
    PyObject *constants = PyObject_GetAttrString(code, "co_consts"), *found = NULL;
    for (Py_ssize_t i = 0; constants && !found && i < PyTuple_GET_SIZE(constants); i++) {
        PyObject *item = PyTuple_GET_ITEM(constants, i);
        if (!PyCode_Check(item)) continue;
        if (PyUnicode_Compare(((PyCodeObject *)item)->co_name, name) == 0)
            found = Py_NewRef(item);
        else if (depth)
            found = find_code(item, name, depth - 1);
    }
    Py_XDECREF(constants);
    return found;
}

/* `def o(free variables):` around an indented block. */
static void add_head(PsBuf *out, PyObject *code) {
    PyObject *free_variables = PyObject_GetAttrString(code, "co_freevars");
    ps_buf_text(out, "def o(");
    for (Py_ssize_t i = 0; free_variables && i < PyTuple_GET_SIZE(free_variables); i++) {
        const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(free_variables, i));
        ps_buf_printf(out, "%s,", name ? name : "?");
    }
    ps_buf_text(out, "):\n");
    Py_XDECREF(free_variables);
    PyErr_Clear();
}

static PyObject *compile_quietly(const char *text, PyObject *code, PyObject *filename) {
    PyCompilerFlags flags = {.cf_flags = (((PyCodeObject *)code)->co_flags & PyCF_MASK) | PyCF_IGNORE_COOKIE,
                             .cf_feature_version = PY_MINOR_VERSION};
    PyObject *quiet = ast_quiet_begin(text, text + strlen(text));
    PyObject *module = Py_CompileStringObject(text, filename, Py_file_input, &flags, -1);
    ast_quiet_end(quiet);
    return module;
}

/* Code of this name and line in the code of a whole file. */
static bool holds_code(PyObject *module, PyObject *code, int depth) {
    PyObject *constants = PyObject_GetAttrString(module, "co_consts");
    bool found = false;
    for (Py_ssize_t i = 0; constants && !found && i < PyTuple_GET_SIZE(constants); i++) {
        PyObject *item = PyTuple_GET_ITEM(constants, i);
        if (!PyCode_Check(item)) continue;
        found = (((PyCodeObject *)item)->co_firstlineno == ((PyCodeObject *)code)->co_firstlineno &&
                 same_code(code, item)) ||
                (depth && holds_code(item, code, depth - 1));
    }
    Py_XDECREF(constants);
    return found;
}

/* Python compiles `math.floor(x)` in another way where the same file says `import math`: then the whole file decides. */
static bool file_compiles_to(PyObject *code, PyObject *file, PyObject *filename) {
    const char *text = PyUnicode_AsUTF8(file);
    PyObject *module = text ? compile_quietly(text, code, filename) : NULL;
    bool same = module && holds_code(module, code, 20);
    Py_XDECREF(module);
    PyErr_Clear();
    return same;
}

bool ast_compiles_to(PyObject *code, const char *start, const char *end, bool indented, PyObject *file,
                     PyObject *filename) {
    PsBuf text = {0};
    if (indented) add_head(&text, code);
    ps_buf_add(&text, start, (size_t)(end - start));
    ps_buf_text(&text, "\n");
    PyObject *module = text.failed ? NULL : compile_quietly(text.data, code, filename);
    ps_buf_free(&text);
    PyObject *found = module ? find_code(module, ((PyCodeObject *)code)->co_name, 2) : NULL;
    bool same = found && same_code(code, found);
    Py_XDECREF(found);
    Py_XDECREF(module);
    PyErr_Clear();
    return same || file_compiles_to(code, file, filename);
}
