/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of one build: begin, where we are (for messages and spans), what must be kept alive, end.
 */
#include "front/eval/build.h"

#include <string.h>

PsStatus ps_front_begin(PsFront *front, PsFrontTypes *types, const PsFrontOptions *options, PsModule *module,
                        PsDiag *diag, PsFacts *facts, const PsRules *rules) {
    front->types = types;
    front->options = options;
    front->arena = module->arena;
    front->module = module;
    front->diag = diag;
    front->facts = facts;
    front->rules = rules;
    front->token = ps_alloc(sizeof *front->token);
    if (!front->token) return PS_NOMEM;
    front->token->front = front;
    front->token->refs = 1;
    ps_map_init(&front->expanded, module->arena);
    return PS_OK;
}

void ps_front_end(PsFront *front) {
    if (front->token) {
        front->token->front = NULL; /* proxies that outlive the build say so when used */
        if (--front->token->refs == 0) ps_free(front->token);
        front->token = NULL;
    }
    /* Releasing may run Python code, which must not disturb an exception that is on its way. */
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    for (uint32_t i = 0; i < front->keep.len; i++) Py_DECREF(front->keep.data[i]);
    front->keep.len = 0;
    Py_CLEAR(front->cause);
    Py_CLEAR(front->raised);
    PyErr_Restore(type, value, traceback);
}

PyObject *ps_front_keep(PsFront *front, PyObject *owned) {
    if (!owned) return NULL;
    if (ps_vec_push(front->arena, &front->keep, owned)) return owned;
    Py_DECREF(owned);
    PyErr_NoMemory();
    return NULL;
}

/* One function, one source: compare what identifies it. 0: new. */
static uint32_t find_source(const PsModule *m, const PsAstTree *tree) {
    for (uint32_t i = 1; i < m->sources.len; i++) {
        const PsSource *source = &m->sources.data[i];
        if (source->same || source->first_line != tree->first_line || !source->text) continue;
        if (!strcmp(source->name, tree->name) && !strcmp(source->file, tree->file) &&
            !strcmp(source->text, tree->text ? tree->text : ""))
            return i;
    }
    return 0;
}

static uint32_t new_source(PsModule *m, const PsAstTree *tree) {
    PsSource source = {
        .name = ps_strings_intern(&m->strings, tree->name, strlen(tree->name)),
        .file = ps_arena_copy(m->arena, tree->file, strlen(tree->file)),
        .first_line = tree->first_line,
        .text = ps_arena_copy(m->arena, tree->text ? tree->text : "", tree->text ? strlen(tree->text) : 0),
    };
    if (!source.name || !source.file || !ps_vec_push(m->arena, &m->sources, source)) return 0;
    return m->sources.len - 1;
}

uint32_t ps_front_add_source(PsFront *front, const PsAstTree *tree, PsSpan call) {
    PsModule *m = front->module;
    uint32_t first = find_source(m, tree);
    if (!first) first = new_source(m, tree);
    if (!first || !call.source) return first;
    const uint32_t key[] = {first, call.source, call.line, call.col, call.end_line, call.end_col};
    uint64_t known;
    if (ps_map_get(&front->expanded, key, sizeof key, &known)) return (uint32_t)known;
    PsSource source = m->sources.data[first];
    source.call = call;
    source.same = first;
    if (!ps_vec_push(m->arena, &m->sources, source)) return 0;
    uint32_t made = m->sources.len - 1;
    return ps_map_put(&front->expanded, key, sizeof key, made) ? made : 0;
}

void ps_front_at(PsFront *front, const PsAst *node) {
    if (!node->span.end_line && !node->span.end_col) return; /* comprehension clauses have no place */
    front->at = node->span;
    front->at.source = front->func ? front->func->source : 0;
    front->b.span = ps_module_add_span(front->module, front->at);
}

PsStatus ps_front_deeper(PsFront *front) {
    if (front->depth >= PS_FRONT_MAX_DEPTH || ps_stack_left() < PS_STACK_RESERVE)
        return PS_FRONT_FAIL(front, FRONT_TOO_DEEP);
    front->depth++;
    return PS_OK;
}

/* -- exceptions of Python code -- */

/* The message that an exception becomes; PS_MSG_COUNT: none, it is passed on (Ctrl-C, no memory, warnings that were
 * made errors). */
static PsMessageId message_of(PyObject *type) {
    const struct {
        PyObject *class;
        PsMessageId id;
    } table[] = {
        {PyExc_MemoryError, PS_MSG_COUNT},
        {PyExc_Warning, PS_MSG_COUNT},
        {PyExc_TypeError, PS_MSG_FRONT_RAISED_TYPE},
        {PyExc_LookupError, PS_MSG_FRONT_RAISED_INDEX},
        {PyExc_ArithmeticError, PS_MSG_FRONT_RAISED_VALUE},
        {PyExc_ValueError, PS_MSG_FRONT_RAISED_VALUE},
        {PyExc_AssertionError, PS_MSG_FRONT_RAISED_ASSERT},
        {PyExc_Exception, PS_MSG_FRONT_RAISED},
    };
    for (size_t i = 0; type && i < PS_COUNT(table); i++)
        if (PyErr_GivenExceptionMatches(type, table[i].class)) return table[i].id;
    return PS_MSG_COUNT;
}

/* Takes the exception that is set, if a message can be made of it, and keeps it as the cause. Its text is copied: of an
 * exception of ours the last line, which says what is wrong; the others say where. */
static PsMessageId take_exception(PsFront *front, const char **out_type, const char **out_text) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PsMessageId id = message_of(type);
    if (id == PS_MSG_COUNT) {
        PyErr_Restore(type, value, traceback);
        return id;
    }
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback) PyException_SetTraceback(value, traceback);
    PyObject *str = PyObject_Str(value);
    const char *text = str ? PyUnicode_AsUTF8(str) : NULL;
    PyErr_Clear();
    PyObject *ours = front->types->errors[PS_ERR_COMPILE];
    const char *line = text && ours && PyErr_GivenExceptionMatches(type, ours) ? strrchr(text, '\n') : NULL;
    if (line) text = line + 1;
    text = text && *text ? ps_arena_copy(front->arena, text, strlen(text)) : "it gives no reason";
    *out_text = text ? text : "?";
    const char *name = strrchr(((PyTypeObject *)type)->tp_name, '.');
    name = name ? name + 1 : ((PyTypeObject *)type)->tp_name;
    name = ps_arena_copy(front->arena, name, strlen(name));
    *out_type = name ? name : "?";
    Py_XDECREF(str);
    Py_XSETREF(front->cause, value);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return id;
}

/* Whether the exception that is set is the last one that a proxy raised: its message is set again. */
static bool take_raised(PsFront *front) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    bool same = value && value == front->raised;
    if (!same) {
        PyErr_Restore(type, value, traceback);
        return false;
    }
    front->diag->message = front->raised_message;
    front->diag->set = true;
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return true;
}

PsStatus ps_front_python_failed(PsFront *front) {
    const char *type, *text;
    if (front->diag->set) {
        PyErr_Clear();
        return PS_FAIL;
    }
    if (take_raised(front)) return PS_FAIL;
    PsMessageId id = take_exception(front, &type, &text);
    if (id == PS_MSG_COUNT) return PS_PYERR;
    for (size_t kind = 0; kind < PS_COUNT(front->types->errors);
         kind++) { /* one of ours keeps its class and text */
        if ((PyObject *)Py_TYPE(front->cause) != front->types->errors[kind]) continue;
        ps_diag_fail(front->diag, front->at, PS_MSG_FRONT_SOURCE, text);
        front->diag->message.kind = (PsErrorKind)kind;
        return PS_FAIL;
    }
    return ps_diag_fail(front->diag, front->at, id, type, text);
}

PsStatus ps_front_no_tree(PsFront *front, PyObject *function) {
    const char *type, *text;
    PyFunctionObject *f = (PyFunctionObject *)function;
    PyCodeObject *code = (PyCodeObject *)f->func_code;
    PsModule *m = front->module;
    if (take_exception(front, &type, &text) == PS_MSG_COUNT) return PS_PYERR;
    Py_CLEAR(front->cause);
    const char *name = PyUnicode_AsUTF8(f->func_name),
               *file = name ? PyUnicode_AsUTF8(code->co_filename) : NULL;
    if (!file) return PS_PYERR;
    PsSource source = {.name = ps_strings_intern(&m->strings, name, strlen(name)),
                       .file = ps_arena_copy(m->arena, file, strlen(file)),
                       .first_line = (uint32_t)code->co_firstlineno};
    if (!source.name || !source.file || !ps_vec_push(m->arena, &m->sources, source)) return PS_NOMEM;
    PsSpan at = {.source = m->sources.len - 1};
    if (!front->func) return ps_diag_fail(front->diag, at, PS_MSG_FRONT_SOURCE, text);
    if (!ps_vec_push(front->arena, &front->diag->calls, front->at)) return PS_NOMEM;
    ps_diag_fail(front->diag, at, PS_MSG_FRONT_SOURCE, text);
    front->diag->calls.len--;
    return PS_FAIL;
}

PsStatus ps_front_warn(PsFront *front, const char *text) {
    const PsSource *source = &front->module->sources.data[front->at.source];
    if (!front->at.source) return PyErr_WarnEx(PyExc_UserWarning, text, 1) ? PS_PYERR : PS_OK;
    int failed = PyErr_WarnExplicit(PyExc_UserWarning, text, source->file,
                                    (int)(source->first_line + front->at.line), "pestle", NULL);
    return failed ? PS_PYERR : PS_OK;
}
