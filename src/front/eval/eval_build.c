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
    PyErr_Restore(type, value, traceback);
}

PyObject *ps_front_keep(PsFront *front, PyObject *owned) {
    if (!owned) return NULL;
    if (ps_vec_push(front->arena, &front->keep, owned)) return owned;
    Py_DECREF(owned);
    PyErr_NoMemory();
    return NULL;
}

uint32_t ps_front_add_source(PsFront *front, const PsAstTree *tree) {
    PsModule *m = front->module;
    for (uint32_t i = 1; i < m->sources.len; i++) /* one function, one source: compare what identifies it */
        if (m->sources.data[i].first_line == tree->first_line && !strcmp(m->sources.data[i].file, tree->file) &&
            !strcmp(m->sources.data[i].name, tree->name) && m->sources.data[i].text &&
            !strcmp(m->sources.data[i].text, tree->text ? tree->text : ""))
            return i;
    PsSource source = {
        .name = ps_strings_intern(&m->strings, tree->name, strlen(tree->name)),
        .file = ps_arena_copy(m->arena, tree->file, strlen(tree->file)),
        .first_line = tree->first_line,
        .text = ps_arena_copy(m->arena, tree->text ? tree->text : "", tree->text ? strlen(tree->text) : 0),
    };
    if (!source.name || !source.file || !ps_vec_push(m->arena, &m->sources, source)) return 0;
    return m->sources.len - 1;
}

void ps_front_at(PsFront *front, const PsAst *node) {
    if (!node->span.end_line && !node->span.end_col) return; /* comprehension clauses have no place */
    front->at = node->span;
    front->at.source = front->func ? front->func->source : 0;
    front->b.span = ps_module_add_span(front->module, front->at);
}

PsStatus ps_front_deeper(PsFront *front) {
    if (front->depth >= PS_FRONT_MAX_DEPTH) return PS_FRONT_FAIL(front, FRONT_TOO_DEEP);
    front->depth++;
    return PS_OK;
}

PsStatus ps_front_python_failed(PsFront *front) {
    if (!front->diag->set) return PS_PYERR;
    PyErr_Clear();
    return PS_FAIL;
}

void ps_front_note_place(PsFront *front) {
    PyObject *type, *value, *traceback;
    if (!front->at.source || front->at.source >= front->module->sources.len) return;
    const PsSource *source = &front->module->sources.data[front->at.source];
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value && PyObject_HasAttrString(value, "add_note")) { /* Python 3.11 and later */
        PyObject *note = PyUnicode_FromFormat("while compiling File \"%s\", line %u, in %s", source->file,
                                              source->first_line + front->at.line, source->name);
        PyObject *done = note ? PyObject_CallMethod(value, "add_note", "O", note) : NULL;
        Py_XDECREF(done);
        Py_XDECREF(note);
        PyErr_Clear();
    }
    PyErr_Restore(type, value, traceback);
}

PsStatus ps_front_warn(PsFront *front, const char *text) {
    const PsSource *source = &front->module->sources.data[front->at.source];
    if (!front->at.source) return PyErr_WarnEx(PyExc_UserWarning, text, 1) ? PS_PYERR : PS_OK;
    int failed = PyErr_WarnExplicit(PyExc_UserWarning, text, source->file,
                                    (int)(source->first_line + front->at.line), "pestle", NULL);
    return failed ? PS_PYERR : PS_OK;
}
