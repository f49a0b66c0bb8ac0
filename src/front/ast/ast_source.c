/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the source text of a Python function and has Python parse it.
 *
 * `inspect` is not used: importing it costs more than a whole compile. The end of the function is found by trying: the
 * block ends before a line indented no deeper than its first one; lines inside multi-line strings and brackets look
 * like that too, so a candidate counts only when Python parses what it gives. An indented function is parsed under
 * `if 1:`, which leaves its columns as they are in the file.
 *
 * A text is the function's if nothing can have changed since it was imported, or if it compiles to the code that is
 * running:
 *
 *   - a file older than this process is taken as it is, which is the usual case and costs one look at its times;
 *   - any other text is compiled and compared (ast_compare.c; 95 us for a small function on 2.2 GHz);
 *   - code does not show the annotations of local variables, but they decide types here. So if the file is not even the
 *     one that was there when a function with this code was decorated first, a function with such annotations is refused
 *     (ast_read.c). What a factory makes has the same code each time.
 *
 * What remains unseen: a factory whose file was edited, in the annotations of locals alone, after it was imported and before
 * it was called for the first time. What is refused although nothing changed: code that an import hook rewrote, in a
 * file younger than the process.
 */
#include "front/ast/ast_int.h"

#include <string.h>

#define AST_ONLY_AST 0x400 /* PyCF_ONLY_AST */
#define MAX_TRIES    200

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
    PyObject *quiet = ast_quiet_begin(start, end);
    PyObject *module = Py_CompileStringObject(buf.data, filename, Py_file_input, &flags, -1);
    ast_quiet_end(quiet);
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

/* 1: found, 0: no candidate is a whole block, -1: exception. */
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
            return 1;
        }
        if (!PyErr_ExceptionMatches(PyExc_SyntaxError)) return -1;
        PyErr_Clear();
        if (at >= end) return 0;
        at = skip_lines(at, end, 1);
    }
    return 0;
}

static bool has_name(PyObject *node, PyObject *wanted) {
    PyObject *name = PyObject_GetAttrString(node, "name");
    bool same = name && PyUnicode_Check(name) && PyUnicode_Compare(name, wanted) == 0;
    Py_XDECREF(name);
    PyErr_Clear();
    return same;
}

/* Whether the function stands in the text: 1 and *out, 0, or -1 with an exception. */
static int look_in(PyFunctionObject *function, const AstText *text, AstSource *out) {
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    int first = code->co_firstlineno;
    Py_ssize_t size;
    const char *start = PyUnicode_AsUTF8AndSize(text->text, &size), *block_end;
    if (!start) return -1;
    const char *end = start + size;
    start = skip_lines(start, end, first - 1);
    if (start == end) return 0;
    int found =
        find_block(start, end, last_line(function->func_code) - first + 1, code->co_filename, &block_end, out);
    if (found == 1 &&
        !(has_name(out->node, code->co_name) &&
          (text->unchanged || ast_compiles_to(function->func_code, start, block_end, out->line_shift != 0,
                                              text->text, code->co_filename))))
        found = 0;
    if (found == 1 && !(out->text = PyUnicode_FromStringAndSize(start, block_end - start))) found = -1;
    if (found != 1) Py_CLEAR(out->node);
    return found;
}

/* -- refusals -- */

static const char *utf8(PyObject *text) {
    const char *chars = PyUnicode_AsUTF8(text);
    if (!chars) PyErr_Clear();
    return chars ? chars : "?";
}

static void raise(PsMessageId id, PyObject *filename, PyObject *name, int line) {
    PyErr_Format(PyExc_OSError, ps_message_text(id), utf8(name), utf8(filename), line);
}

void ast_source_refuse(PyObject *object) {
    PyCodeObject *code = (PyCodeObject *)object;
    raise(PS_MSG_AST_CHANGED, code->co_filename, code->co_name, code->co_firstlineno);
}

static void refuse_missing(PyFunctionObject *function) {
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    const char *file = utf8(code->co_filename);
    PsMessageId id = strcmp(file, "<stdin>") == 0    ? PS_MSG_AST_STDIN
                     : strcmp(file, "<string>") == 0 ? PS_MSG_AST_STRING
                     : file[0] == '<'                ? PS_MSG_AST_NOWHERE
                                                     : PS_MSG_AST_FILE;
    raise(id, code->co_filename, function->func_qualname, code->co_firstlineno);
}

int ast_source_find(PyObject *object, uint64_t stamp, AstSource *out) {
    *out = (AstSource){0};
    if (!PyFunction_Check(object)) {
        PyErr_Format(PyExc_TypeError, ps_message_text(PS_MSG_AST_FUNCTION), Py_TYPE(object)->tp_name);
        return -1;
    }
    PyFunctionObject *function = (PyFunctionObject *)object;
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    if (PyUnicode_CompareWithASCIIString(code->co_name, "<lambda>") == 0) {
        PyErr_SetString(PyExc_TypeError, ps_message_text(PS_MSG_AST_LAMBDA));
        return -1;
    }
    AstText text;
    int which = 0, more, texts = 0;
    while ((more = ast_text_next(function, &which, &text)) == 1) {
        int found = look_in(function, &text, out);
        Py_DECREF(text.text);
        if (found < 0) return -1;
        out->edited = text.stamp && stamp && text.stamp != stamp;
        if (found) return 0;
        texts += !text.guess;
    }
    if (more == 0 && texts)
        ast_source_refuse(function->func_code);
    else if (more == 0)
        refuse_missing(function);
    return -1;
}
