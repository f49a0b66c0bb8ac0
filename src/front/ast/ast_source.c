/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the source text of a Python function and has Python parse it.
 *
 * `inspect` is not used: importing it costs more than a whole compile. The lines come from the file, or from
 * linecache where there is no file (notebooks, exec with an entry there). The end of the function is found by
 * trying: the block ends before a line indented no deeper than its first one; lines inside multi-line strings and
 * brackets look like that too, so a candidate counts only when Python parses what it gives. An indented function is
 * parsed under `if 1:`, which leaves its columns as they are in the file.
 */
#include "front/ast/ast_int.h"

#include <string.h>

#define AST_ONLY_AST        0x400 /* PyCF_ONLY_AST */
#define MAX_TRIES           200
#define FUNCTION_TYPE_ERROR "expected a Python function, found %.200s"

/* The text of a file by name, as str; NULL without an exception when there is no such file. */
static PyObject *read_file(PyObject *filename) {
    PyObject *path = NULL, *bytes = NULL, *text = NULL;
    if (!PyUnicode_FSConverter(filename, &path)) {
        PyErr_Clear();
        return NULL;
    }
    FILE *file = fopen(PyBytes_AS_STRING(path), "rb");
    Py_DECREF(path);
    if (!file) return NULL;
    PsBuf buf = {0};
    char chunk[16384];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0) ps_buf_add(&buf, chunk, n);
    fclose(file);
    if (!buf.failed) bytes = PyBytes_FromStringAndSize(buf.data, (Py_ssize_t)buf.len);
    ps_buf_free(&buf);
    if (!bytes) return NULL;
    const char *start = PyBytes_AS_STRING(bytes);
    Py_ssize_t size = PyBytes_GET_SIZE(bytes);
    if (size >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0) start += 3, size -= 3;
    text = PyUnicode_DecodeUTF8(start, size, NULL);
    if (!text) PyErr_Clear(); /* another encoding: linecache reads the cookie */
    Py_DECREF(bytes);
    return text;
}

/* The same from linecache: "".join(linecache.getlines(filename, globals)). Empty when it knows nothing. */
static PyObject *read_linecache(PyObject *filename, PyObject *globals) {
    PyObject *module = PyImport_ImportModule("linecache");
    if (!module) return NULL;
    PyObject *lines = PyObject_CallMethod(module, "getlines", "OO", filename, globals);
    Py_DECREF(module);
    if (!lines) return NULL;
    PyObject *empty = PyUnicode_FromString("");
    PyObject *text = empty ? PyUnicode_Join(empty, lines) : NULL;
    Py_XDECREF(empty);
    Py_DECREF(lines);
    return text;
}

static PyObject *read_text(PyFunctionObject *function, PyObject *filename) {
    const char *name = PyUnicode_AsUTF8(filename);
    if (!name) return NULL;
    PyObject *text = name[0] == '<' ? NULL : read_file(filename);
    if (!text && PyErr_Occurred()) return NULL;
    if (!text) text = read_linecache(filename, function->func_globals);
    if (text && PyUnicode_GET_LENGTH(text) == 0) {
        PyErr_Format(
            PyExc_OSError,
            "the source of %R is not available (it was defined in %R); a kernel is compiled from its source "
            "text, so define it in a file or a notebook cell",
            function->func_qualname, filename);
        Py_CLEAR(text);
    }
    return text;
}

/* Last line that any instruction of the code, or of code inside it, stands on; 0 when unknown. */
static long last_line(PyObject *code) {
    long last = 0;
    PyObject *lines = PyObject_CallMethod(code, "co_lines", NULL);
    PyObject *item, *iterator = lines ? PyObject_GetIter(lines) : NULL;
    while (iterator && (item = PyIter_Next(iterator))) {
        PyObject *line = PyTuple_Check(item) && PyTuple_GET_SIZE(item) == 3 ? PyTuple_GET_ITEM(item, 2) : NULL;
        if (line && PyLong_Check(line)) {
            long value = PyLong_AsLong(line);
            if (value > last) last = value;
        }
        Py_DECREF(item);
    }
    Py_XDECREF(iterator);
    Py_XDECREF(lines);
    PyErr_Clear();
    return last;
}

static const char *skip_lines(const char *at, const char *end, long count) {
    for (; count > 0 && at < end; count--) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    return at;
}

static long indent_of(const char *line, const char *end) {
    long indent = 0;
    for (; line < end && (*line == ' ' || *line == '\t' || *line == '\f'); line++)
        indent = *line == '\t' ? (indent / 8 + 1) * 8 : *line == '\f' ? 0 : indent + 1;
    return indent;
}

/* Whether a block of this indentation can end before the line. */
static bool may_end(const char *line, const char *end, long indent) {
    const char *at = line;
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\f')) at++;
    if (at == end) return true;
    if (*at == '\n' || *at == '\r' || *at == '#') return false;
    return indent_of(line, end) <= indent;
}

/* Python's parse of a block: the function's node, or NULL (with SyntaxError set if it does not parse). */
static PyObject *parse_block(const char *start, const char *end, bool indented, PyObject *filename) {
    PsBuf buf = {0};
    if (indented) ps_buf_text(&buf, "if 1:\n");
    ps_buf_add(&buf, start, (size_t)(end - start));
    ps_buf_text(&buf, "\n");
    if (buf.failed) {
        ps_buf_free(&buf);
        return PyErr_NoMemory();
    }
    PyCompilerFlags flags = {.cf_flags = AST_ONLY_AST | PyCF_IGNORE_COOKIE,
                             .cf_feature_version = PY_MINOR_VERSION};
    PyObject *module = Py_CompileStringObject(buf.data, filename, Py_file_input, &flags, -1);
    ps_buf_free(&buf);
    if (!module) return NULL;
    PyObject *node = NULL;
    for (int level = indented ? 2 : 1; level > 0 && module; level--) {
        PyObject *body = PyObject_GetAttrString(module, "body");
        node = body && PyList_Check(body) && PyList_GET_SIZE(body) ? PyList_GET_ITEM(body, 0) : NULL;
        Py_XINCREF(node);
        Py_XDECREF(body);
        Py_SETREF(module, node);
    }
    if (!node && !PyErr_Occurred()) PyErr_SetString(PyExc_SyntaxError, "empty block");
    return node;
}

static int find_block(const char *start, const char *end, long sure, PyObject *filename, const char **out_end,
                      AstSource *out) {
    long indent = indent_of(start, end);
    const char *at = skip_lines(start, end, sure > 0 ? sure : 1);
    for (int tries = 0; tries < MAX_TRIES; tries++) {
        while (at < end && !may_end(at, end, indent)) at = skip_lines(at, end, 1);
        out->node = parse_block(start, at, indent > 0, filename);
        if (out->node) {
            *out_end = at;
            out->line_shift = indent > 0 ? 1 : 0;
            return 0;
        }
        if (at >= end || !PyErr_ExceptionMatches(PyExc_SyntaxError)) return -1;
        PyErr_Clear();
        at = skip_lines(at, end, 1);
    }
    PyErr_SetString(PyExc_SyntaxError, "the end of the function was not found in its source");
    return -1;
}

static int check_found(PyFunctionObject *function, PyObject *node, PyObject *filename, int line) {
    PyObject *name = PyObject_GetAttrString(node, "name");
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    if (name && PyUnicode_Check(name) && PyUnicode_Compare(name, code->co_name) == 0) {
        Py_DECREF(name);
        return 0;
    }
    Py_XDECREF(name);
    PyErr_Clear();
    if (PyUnicode_CompareWithASCIIString(code->co_name, "<lambda>") == 0)
        PyErr_SetString(PyExc_TypeError, "a lambda cannot be a kernel or a func; write it with def");
    else
        PyErr_Format(
            PyExc_OSError,
            "line %d of %R does not hold the function %R that is running: the file was changed after it was "
            "imported",
            line, filename, code->co_name);
    return -1;
}

int ast_source_find(PyObject *object, AstSource *out) {
    *out = (AstSource){0};
    if (!PyFunction_Check(object)) {
        PyErr_Format(PyExc_TypeError, FUNCTION_TYPE_ERROR, Py_TYPE(object)->tp_name);
        return -1;
    }
    PyFunctionObject *function = (PyFunctionObject *)object;
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    int first = code->co_firstlineno;
    PyObject *text = read_text(function, code->co_filename);
    if (!text) return -1;
    int status = -1;
    Py_ssize_t size;
    const char *start = PyUnicode_AsUTF8AndSize(text, &size), *block_end;
    if (!start) goto done;
    const char *end = start + size;
    start = skip_lines(start, end, first - 1);
    if (start == end) {
        PyErr_Format(PyExc_OSError,
                     "%R has no line %d where %R was defined: the file was changed after it was imported",
                     code->co_filename, first, code->co_name);
        goto done;
    }
    if (find_block(start, end, last_line(function->func_code) - first + 1, code->co_filename, &block_end, out))
        goto done;
    if (check_found(function, out->node, code->co_filename, first)) goto done;
    out->text = PyUnicode_FromStringAndSize(start, block_end - start);
    if (out->text) status = 0;
done:
    if (status) Py_CLEAR(out->node);
    Py_DECREF(text);
    return status;
}
