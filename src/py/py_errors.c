/* SPDX-License-Identifier: Apache-2.0
 *
 * The exception classes, and how a message with spans becomes one: file, line, source line, carets, call chain.
 */
#include "py/py_int.h"

#include <string.h>

/* -- classes -- */

typedef struct ErrorClass {
    const char *name; /* with "pestle." */
    const char *base; /* name of the class above, or NULL: the base of all */
    PyObject **twin;  /* the Python exception it also is */
    const char *also; /* classes above it also is, with blanks between them, or NULL */
    int kind;         /* PsErrorKind, or -1 */
    const char *doc;
} ErrorClass;

static const ErrorClass classes[] = {
    {"pestle.PestleError", NULL, &PyExc_Exception, NULL, -1, "Whatever Pestle raises."},
    {"pestle.CompilationError", "PestleError", NULL, NULL, PS_ERR_COMPILE, "A kernel or a launch was refused."},
    {"pestle.KernelSyntaxError", "CompilationError", &PyExc_SyntaxError, NULL, PS_ERR_SYNTAX,
     "A construct that kernels do not have."},
    {"pestle.KernelTypeError", "CompilationError", &PyExc_TypeError, NULL, PS_ERR_TYPE, "Types do not fit."},
    {"pestle.KernelCallError", "KernelSyntaxError", NULL, "KernelTypeError", PS_ERR_CALL,
     "Arguments do not fit the parameters."},
    {"pestle.KernelNameError", "CompilationError", &PyExc_NameError, NULL, PS_ERR_NAME, "An unknown name."},
    {"pestle.KernelIndexError", "CompilationError", &PyExc_IndexError, NULL, PS_ERR_INDEX, "A wrong index."},
    {"pestle.KernelValueError", "CompilationError", &PyExc_ValueError, NULL, PS_ERR_VALUE, "A wrong value."},
    {"pestle.StaticAssertionError", "CompilationError", &PyExc_AssertionError, NULL, PS_ERR_STATIC_ASSERT,
     "A static_assert, or an assert of Python code called while compiling, does not hold."},
    {"pestle.KernelRuntimeError", "PestleError", &PyExc_RuntimeError, NULL, PS_ERR_RUNTIME, "A launch failed."},
    {"pestle.KernelArgumentError", "KernelTypeError", NULL, "KernelValueError KernelRuntimeError",
     PS_ERR_ARGUMENT, "A value does not fit the parameter, element or shape it is given for."},
    {"pestle.KernelAssertionError", "KernelRuntimeError", &PyExc_AssertionError, NULL, PS_ERR_ASSERT,
     "A check failed while a kernel ran: a bound, a division by zero, an assertion."},
    {"pestle.InternalError", "PestleError", NULL, NULL, PS_ERR_INTERNAL, "A bug in Pestle. Please report it."},
};

/* The class's bases, a list: the class above, then the others. NULL: an exception is set. */
static PyObject *bases_of(const ErrorClass *c, PyObject *module) {
    PyObject *bases = PyList_New(0);
    const char *names[2] = {c->base, c->also};
    for (int i = 0; bases && i < 2; i++) {
        for (const char *name = names[i]; name && *name;
             name += strcspn(name, " "), name += strspn(name, " ")) {
            PyObject *text = PyUnicode_FromStringAndSize(name, (Py_ssize_t)strcspn(name, " "));
            PyObject *base = text ? PyObject_GetAttr(module, text) : NULL;
            Py_XDECREF(text);
            if (!base || PyList_Append(bases, base)) Py_CLEAR(bases);
            Py_XDECREF(base);
            if (!bases) return NULL;
        }
    }
    if (bases && c->twin && PyList_Append(bases, *c->twin)) Py_CLEAR(bases);
    return bases;
}

static PyObject *make_class(const ErrorClass *c, PyObject *module) {
    PyObject *list = bases_of(c, module);
    PyObject *bases = list ? PyList_AsTuple(list) : NULL, *dict = PyDict_New(), *made = NULL, *str = NULL;
    if (!bases || !dict) goto done;
    /* SyntaxError's str adds "(file, line)": the message has it already. */
    if (c->kind == PS_ERR_SYNTAX) {
        str = PyObject_GetAttrString(PyExc_BaseException, "__str__");
        if (!str || PyDict_SetItemString(dict, "__str__", str)) goto done;
    }
    made = PyErr_NewExceptionWithDoc(c->name, c->doc, bases, dict);
done:
    Py_XDECREF(str);
    Py_XDECREF(dict);
    Py_XDECREF(bases);
    Py_XDECREF(list);
    return made;
}

int py_errors_init(PyState *state, PyObject *module) {
    for (size_t i = 0; i < PS_COUNT(classes); i++) {
        PyObject *made = make_class(&classes[i], module);
        if (!made) return -1;
        if (classes[i].kind >= 0)
            state->types.errors[classes[i].kind] = made;
        else
            state->pestle_error = made;
        if (PyModule_AddObjectRef(module, strchr(classes[i].name, '.') + 1, made)) return -1;
    }
    return 0;
}

bool py_has_alias(const PyState *state) {
    PyObject *alias = PyObject_GetAttrString(state->module, "_alias");
    PyErr_Clear();
    Py_XDECREF(alias);
    return alias != NULL;
}

/* `message` with the pattern replaced by an attribute of the C module and `rest`; takes it. As it is when that fails. */
static PyObject *with_name(const PyState *state, PyObject *message, const char *pattern, const char *attribute,
                           const char *rest) {
    PyObject *name = PyObject_GetAttrString(state->module, attribute), *text = NULL, *re = NULL, *out = NULL;
    PyErr_Clear();
    if (message && name && PyUnicode_Check(name) && (text = PyUnicode_FromFormat("%U%s", name, rest)) &&
        (re = PyImport_ImportModule("re")))
        out = PyObject_CallMethod(re, "sub", "sOO", pattern, text, message);
    PyErr_Clear();
    Py_XDECREF(re);
    Py_XDECREF(text);
    Py_XDECREF(name);
    if (!out) return message;
    Py_DECREF(message);
    return out;
}

/* The messages say `ti.static`, and Pestle of itself. Under an import alias (pestle.compat) they name the module as its
 * programs do: _alias and _alias_name of the C module. Texts that programs write are left alone. */
static PyObject *in_alias(const PyState *state, PsMessageId id, PyObject *message) {
    PsErrorKind kind = ps_message_kind(id);
    if (kind == PS_ERR_STATIC_ASSERT || kind == PS_ERR_ASSERT) return message;
    message = with_name(state, message, "\\bti\\.", "_alias", ".");
    return with_name(state, message, "\\bPestle\\b", "_alias_name", "");
}

PyObject *py_error(const PyState *state, PsMessageId id, ...) {
    PsBuf text = {0};
    va_list args;
    va_start(args, id);
    ps_buf_vprintf(&text, ps_message_text(id), args);
    va_end(args);
    PyObject *message =
        text.failed ? NULL : PyUnicode_DecodeUTF8(text.data ? text.data : "", (Py_ssize_t)text.len, "replace");
    message = in_alias(state, id, message);
    ps_buf_free(&text);
    if (message)
        PyErr_SetObject(state->types.errors[ps_message_kind(id)], message);
    else if (!PyErr_Occurred())
        PyErr_NoMemory();
    Py_XDECREF(message);
    return NULL;
}

/* -- places -- */

bool py_sources_copy(PySources *out, PsArena *arena, const PsModule *module) {
    *out = (PySources){0};
    out->items = ps_arena_alloc(arena, module->sources.len * sizeof *out->items);
    if (!out->items) return module->sources.len == 0;
    for (uint32_t i = 0; i < module->sources.len; i++) {
        const PsSource *from = &module->sources.data[i];
        PsSource *to = &out->items[i];
        *to = *from;
        if (from->same) { /* a function before, expanded in place */
            to->name = out->items[from->same].name;
            to->file = out->items[from->same].file;
            to->text = out->items[from->same].text;
            continue;
        }
        to->name = from->name ? ps_arena_copy(arena, from->name, strlen(from->name)) : NULL;
        to->file = from->file ? ps_arena_copy(arena, from->file, strlen(from->file)) : NULL;
        to->text = from->text ? ps_arena_copy(arena, from->text, strlen(from->text)) : NULL;
    }
    out->len = module->sources.len;
    out->texts = ps_arena_alloc(arena, (module->texts.len + 1) * sizeof *out->texts);
    if (!out->texts) return false;
    for (uint32_t i = 1; i < module->texts.len; i++)
        out->texts[i] = ps_arena_copy(arena, module->texts.data[i], strlen(module->texts.data[i]));
    out->ntexts = module->texts.len;
    return !ps_arena_failed(arena);
}

PySources py_sources_of(const PsModule *module) {
    return (PySources){module->sources.data, module->sources.len, module->texts.data, module->texts.len};
}

static const PsSource *source_of(const PySources *sources, PsSpan span) {
    if (!sources || !span.source || span.source >= sources->len) return NULL;
    return &sources->items[span.source];
}

/* Line number `line` (from 0) of a text, without its end; NULL: there is none. */
static const char *text_line(const char *text, uint32_t line, size_t *out_len) {
    if (!text) return NULL;
    for (; line; line--) {
        text = strchr(text, '\n');
        if (!text) return NULL;
        text++;
    }
    *out_len = strcspn(text, "\r\n");
    return *text ? text : NULL;
}

/* Columns that UTF-8 text takes when printed: one a code point. */
static size_t columns(const char *text, size_t len) {
    size_t n = 0;
    for (size_t i = 0; i < len; i++) n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}

static void add_repeated(PsBuf *out, char c, size_t n) {
    for (size_t i = 0; i < n; i++) ps_buf_add(out, &c, 1);
}

#define LINE_SHOWN 160 /* bytes of a source line */

/* The part of a line around [start, end) that is worth showing: all of it, or LINE_SHOWN bytes with dots where it was
 * cut. */
static void show_line(PsBuf *out, const char *line, size_t from, size_t len, size_t start, size_t end) {
    size_t to = len;
    if (len - from > LINE_SHOWN) {
        if (start > from + LINE_SHOWN / 3) from = start - LINE_SHOWN / 3;
        if (len - from > LINE_SHOWN) to = from + LINE_SHOWN;
        while (from > 0 && ((unsigned char)line[from] & 0xC0) == 0x80) from--;
        while (to < len && ((unsigned char)line[to] & 0xC0) == 0x80) to++;
    }
    bool cut_left = from > 0 && strspn(line, " \t") < from, cut_right = to < len;
    if (end > to) end = to;
    ps_buf_text(out, cut_left ? "    ..." : "    ");
    ps_buf_add(out, line + from, to - from);
    ps_buf_text(out, cut_right ? "...\n    " : "\n    ");
    add_repeated(out, ' ', columns(line + from, start - from) + (cut_left ? 3 : 0));
    add_repeated(out, '^', end > start ? columns(line + start, end - start) : 1);
    ps_buf_text(out, "\n");
}

/*     File "f.py", line 12, in saxpy
 *         y[i] = a * x[i]
 *                    ^^^^
 * `peer`: as the projects that Pestle stands for under an alias have it. */
static void add_place(PsBuf *out, const PySources *sources, PsSpan span, bool peer) {
    const PsSource *source = source_of(sources, span);
    if (!source) return;
    if (peer && !out->len) ps_buf_text(out, "\n");
    ps_buf_printf(out, "File \"%s\", line %u, in %s%s\n", source->file ? source->file : "?",
                  source->first_line + span.line, source->name ? source->name : "?", peer ? ":" : "");
    size_t len = 0, indent = 0;
    const char *line = text_line(source->text, span.line, &len);
    if (!line) return;
    while (indent < len && (line[indent] == ' ' || line[indent] == '\t')) indent++;
    size_t start = span.col < indent ? indent : span.col > len ? len : span.col;
    size_t end = span.end_line != span.line || span.end_col > len ? len : span.end_col;
    if (peer)
        py_peer_line(out, line, len, start, end);
    else
        show_line(out, line, indent, len, start, end);
}

#define CHAIN_SHOWN PS_FAULT_CALLS /* calls shown at either end of a long chain */

/* `chain`: innermost first; of `hidden` more, in the middle, nothing is known. */
static void add_chain(PsBuf *out, const PySources *sources, const PsSpan *chain, uint32_t n, uint32_t hidden,
                      bool peer) {
    bool all = n + hidden <= 2 * CHAIN_SHOWN;
    uint32_t outer = all ? n : CHAIN_SHOWN, inner = all ? 0 : CHAIN_SHOWN;
    for (uint32_t i = 0; i < outer; i++) add_place(out, sources, chain[n - 1 - i], peer);
    if (!all) ps_buf_printf(out, "(%u more calls)\n", n + hidden - outer - inner);
    for (uint32_t i = inner; i-- > 0;) add_place(out, sources, chain[i], peer);
}

/* -- what led to a fault -- */

typedef struct Chain {
    PsVec(PsSpan) calls; /* innermost first */
    PsArena arena;
    uint32_t hidden;
} Chain;

/* The function that the span belongs to may be expanded in another, and that in a third. */
static void add_expansions(Chain *chain, const PySources *sources, PsSpan span) {
    const PsSource *source = source_of(sources, span);
    for (; source && source->call.source; source = source_of(sources, source->call))
        if (!ps_vec_push(&chain->arena, &chain->calls, source->call)) return;
}

static void find_chain(Chain *chain, const PySources *sources, const PyFault *fault) {
    *chain = (Chain){.hidden = fault->calls.n - ps_fault_kept_calls(&fault->calls)};
    ps_arena_init(&chain->arena);
    add_expansions(chain, sources, fault->span);
    for (uint32_t i = 0; i < ps_fault_kept_calls(&fault->calls); i++) {
        PsSpan call = fault->call_span(fault->data, ps_fault_kept_call(&fault->calls, i));
        if (!ps_vec_push(&chain->arena, &chain->calls, call)) return;
        add_expansions(chain, sources, call);
    }
}

/* -- raising -- */

static void set_attribute(PyObject *error, const char *name, PyObject *value) {
    if (!value || PyObject_SetAttrString(error, name, value)) PyErr_Clear();
    Py_XDECREF(value);
}

static PyObject *utf8(const char *text, size_t len) {
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "replace");
}

/* filename, lineno, offset, text, end_lineno, end_offset as SyntaxError has them (offsets in characters, from 1). */
static void set_place(PyObject *error, const PySources *sources, PsSpan span) {
    const PsSource *source = source_of(sources, span);
    if (!source) return;
    size_t len = 0, end_len = 0;
    const char *line = text_line(source->text, span.line, &len);
    const char *end_line = text_line(source->text, span.end_line, &end_len);
    if (source->file) set_attribute(error, "filename", PyUnicode_DecodeFSDefault(source->file));
    set_attribute(error, "lineno", PyLong_FromUnsignedLong(source->first_line + span.line));
    set_attribute(error, "end_lineno", PyLong_FromUnsignedLong(source->first_line + span.end_line));
    if (!line || !end_line) return;
    size_t col = span.col > len ? len : span.col, end_col = span.end_col > end_len ? end_len : span.end_col;
    set_attribute(error, "text", utf8(line, len));
    set_attribute(error, "offset", PyLong_FromSize_t(columns(line, col) + 1));
    set_attribute(error, "end_offset", PyLong_FromSize_t(columns(end_line, end_col) + 1));
}

/* Raises what `kind` says with the text so far and `summary`, of the message `id`, as its last line; takes the buffer. */
static void raise_at(const PyState *state, PsMessageId id, PsErrorKind kind, PsBuf *text, const char *summary,
                     const PySources *sources, PsSpan span) {
    PyObject *class = state->types.errors[kind], *message = NULL, *error = NULL;
    PyObject *last = in_alias(state, id, utf8(summary, strlen(summary)));
    PyObject *places = last ? utf8(text->data ? text->data : "", text->len) : NULL;
    if (places && !text->failed) message = PyUnicode_Concat(places, last);
    if (message) error = PyObject_CallOneArg(class, message);
    if (!error && !PyErr_Occurred()) PyErr_NoMemory();
    if (error) {
        set_place(error, sources, span);
        if (PyObject_IsInstance(error, PyExc_SyntaxError) == 1) set_attribute(error, "msg", Py_NewRef(last));
        PyErr_SetObject(class, error);
    }
    ps_buf_free(text);
    Py_XDECREF(last);
    Py_XDECREF(places);
    Py_XDECREF(message);
    Py_XDECREF(error);
}

int py_refuse_proxy(const PyState *state, PyObject *value) {
    if (!Py_IS_TYPE(value, state->types.proxy)) return 0;
    py_error(state, PS_MSG_FRONT_KERNEL_CALL);
    return -1;
}

/* -- at a function -- */

static const PsAst *find_param(const PsAstTree *tree, const char *name) {
    const PsAst *function = tree->function;
    for (uint32_t i = 0; name && i < function->list.len; i++) {
        const PsAst *param = function->list.items[i];
        const char *text = PyUnicode_AsUTF8(param->name);
        if (text && !strcmp(text, name)) return param->a ? param->a : param;
        PyErr_Clear();
    }
    return name && !strcmp(name, "return") && function->a ? function->a : function;
}

static const char *utf8_or(PyObject *text, const char *otherwise) {
    const char *chars = PyUnicode_AsUTF8(text);
    if (!chars) PyErr_Clear();
    return chars ? chars : otherwise;
}

PyObject *py_error_at(const PyState *state, PyObject *function, const char *param, PsMessageId id, ...) {
    PsBuf text = {0}, summary = {0};
    va_list args;
    va_start(args, id);
    ps_buf_vprintf(&summary, ps_message_text(id), args);
    va_end(args);
    PyFunctionObject *f = (PyFunctionObject *)function;
    PyCodeObject *code = (PyCodeObject *)f->func_code;
    PsAstTree *tree = ps_ast_read(function, 0);
    if (!tree) PyErr_Clear(); /* then without its line */
    PsSource sources[2] = {{0}, {.name = utf8_or(f->func_name, "?"), .file = utf8_or(code->co_filename, "?")}};
    sources[1].first_line = (uint32_t)code->co_firstlineno;
    sources[1].text = tree ? tree->text : NULL;
    PySources both = {sources, 2};
    PsSpan span = tree ? find_param(tree, param)->span : (PsSpan){0};
    span.source = 1;
    add_place(&text, &both, span, py_has_alias(state));
    if (!summary.failed && summary.data)
        raise_at(state, id, ps_message_kind(id), &text, summary.data, &both, span);
    else
        PyErr_NoMemory();
    ps_buf_free(&text);
    ps_buf_free(&summary);
    ps_ast_tree_free(tree);
    return NULL;
}

void py_raise_diag(const PyState *state, const PySources *sources, const PsDiag *diag) {
    PsBuf text = {0};
    const PsMessage *message = &diag->message;
    if (!diag->set) {
        PyErr_SetString(state->types.errors[PS_ERR_INTERNAL], "a stage failed without saying why");
        return;
    }
    bool peer = py_has_alias(state);
    add_chain(&text, sources, message->chain, message->nchain, 0, peer);
    add_place(&text, sources, message->span, peer);
    raise_at(state, message->id, message->kind, &text, message->text ? message->text : "out of memory", sources,
             message->span);
}

void py_raise_from(PyObject *cause) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value && value != cause) PyException_SetCause(value, Py_NewRef(cause));
    PyErr_Restore(type, value, traceback);
}

void py_raise_status(const PyState *state, PsStatus status, const PySources *sources, const PsDiag *diag) {
    if (status == PS_FAIL)
        py_raise_diag(state, sources, diag);
    else if (status == PS_NOMEM)
        PyErr_NoMemory();
    else if (!PyErr_Occurred())
        PyErr_SetString(state->types.errors[PS_ERR_INTERNAL], "a stage failed without an exception");
}

#define QUOTE_SHOWN 160

/* A bound of a domain that was clamped to i32 (front/loop, loop_parallel_bounds). */
static const char *or_beyond(long long bound) {
    return bound <= INT32_MIN + 1 ? " or less" : bound >= INT32_MAX - 1 ? " or more" : "";
}

/* The source text of a span for messages, blanks and line ends between its words as one blank; "" when unknown. */
static void quote_span(const PySources *sources, PsSpan span, char *buffer, size_t size) {
    const PsSource *source = source_of(sources, span);
    size_t n = 0;
    bool blank = false;
    buffer[0] = 0;
    for (uint32_t l = span.line; source && l <= span.end_line; l++) {
        size_t len = 0;
        const char *line = text_line(source->text, l, &len);
        if (!line) break;
        size_t at = l == span.line ? span.col : 0,
               end = l == span.end_line && span.end_col < len ? span.end_col : len;
        if (l == span.line && at + 7 <= end && !strncmp(line + at, "assert ", 7))
            at += 7; /* the whole statement */
        for (; at < end; at++) {
            bool space = line[at] == ' ' || line[at] == '\t' || (line[at] == '\\' && at + 1 == len);
            if (n + 8 > size) {
                while (n && (unsigned char)buffer[n - 1] >= 0x80) n--; /* no half of a character */
                snprintf(buffer + n, size - n, "...");
                return;
            }
            if (!space && blank && n) buffer[n++] = ' ';
            if (!space) buffer[n++] = line[at];
            blank = space;
        }
        blank = true;
    }
    buffer[n] = 0;
}

static void overflow_text(const PySources *sources, PsSpan span, PsFaultKind kind, PsBuf *out) {
    static const char *const names[] = {[PS_FAULT_ADD] = "Addition",
                                        [PS_FAULT_SUB] = "Subtraction",
                                        [PS_FAULT_MUL] = "Multiplication",
                                        [PS_FAULT_SHL] = "Shift left"};
    char quoted[QUOTE_SHOWN];
    quote_span(sources, span, quoted, sizeof quoted);
    ps_buf_printf(out, ps_message_text(PS_MSG_PY_FAULT_OVERFLOW), names[kind], quoted);
}

static PsMessageId fault_text(const PySources *sources, const PyFault *fault, PsBuf *out) {
    const int64_t *v = fault->values;
    long long a = fault->nvalues > 0 ? v[0] : 0, b = fault->nvalues > 1 ? v[1] : 0,
              c = fault->nvalues > 2 ? v[2] : 0;
    char quoted[QUOTE_SHOWN];
    PsBuf message = {0};
    switch ((PsFaultKind)fault->kind) {
    case PS_FAULT_BOUNDS:
        if (fault->nvalues > 3) { /* of a field that has an offset */
            ps_buf_printf(out, ps_message_text(PS_MSG_PY_FAULT_OFFSET), a, b, (long long)v[3],
                          (long long)v[3] + c - 1);
            return PS_MSG_PY_FAULT_OFFSET;
        }
        ps_buf_printf(out, ps_message_text(PS_MSG_PY_FAULT_BOUNDS), a, b, c);
        return PS_MSG_PY_FAULT_BOUNDS;
    case PS_FAULT_DIV_ZERO:
        snprintf(quoted, sizeof quoted, fault->nvalues > 1 ? "%llu" : "%lld", (unsigned long long)a);
        ps_buf_printf(out, ps_message_text(PS_MSG_PY_FAULT_DIV_ZERO), quoted);
        return PS_MSG_PY_FAULT_DIV_ZERO;
    case PS_FAULT_ASSERT:
        quote_span(sources, fault->span, quoted, sizeof quoted);
        if (sources && fault->nvalues && a > 0 && a < (long long)sources->ntexts) /* the statement's message */
            ps_format_values(&message, sources->texts[a], (const uint64_t *)v + 1);
        ps_buf_printf(out, ps_message_text(PS_MSG_PY_FAULT_ASSERT), message.data ? message.data : quoted);
        ps_buf_free(&message);
        return PS_MSG_PY_FAULT_ASSERT;
    case PS_FAULT_DOMAIN:
        ps_buf_printf(out, ps_message_text(PS_MSG_PY_FAULT_DOMAIN), a, b, or_beyond(b), c, or_beyond(c),
                      (long long)PS_INDEX_LIMIT);
        return PS_MSG_PY_FAULT_DOMAIN;
    case PS_FAULT_DEPTH:
        ps_buf_printf(out, ps_message_text(PS_MSG_PY_FAULT_DEPTH), a, PS_MAX_DEPTH);
        return PS_MSG_PY_FAULT_DEPTH;
    case PS_FAULT_ADD:
    case PS_FAULT_SUB:
    case PS_FAULT_MUL:
    case PS_FAULT_SHL:
        overflow_text(sources, fault->span, (PsFaultKind)fault->kind, out);
        return PS_MSG_PY_FAULT_OVERFLOW;
    case PS_FAULT_RETURN:
        ps_buf_text(out, ps_message_text(PS_MSG_PY_FAULT_RETURN));
        return PS_MSG_PY_FAULT_RETURN;
    case PS_FAULT_VIEW:
        ps_buf_printf(out, ps_message_text(PS_MSG_PY_FAULT_VIEW), a, b, c);
        return PS_MSG_PY_FAULT_VIEW;
    case PS_FAULT_CALLED: break; /* names a call, nothing that went wrong */
    }
    ps_buf_printf(out, ps_message_text(PS_MSG_PY_FAULT_UNKNOWN), fault->kind);
    return PS_MSG_PY_FAULT_UNKNOWN;
}

void py_raise_fault(const PyState *state, const PySources *sources, const PyFault *fault) {
    PsBuf text = {0}, summary = {0};
    Chain chain;
    find_chain(&chain, sources, fault);
    bool peer = py_has_alias(state);
    add_chain(&text, sources, chain.calls.data, chain.calls.len, chain.hidden, peer);
    ps_arena_free(&chain.arena);
    add_place(&text, sources, fault->span, peer);
    PsMessageId id = fault_text(sources, fault, &summary);
    if (summary.failed || !summary.data) {
        ps_buf_free(&text);
        ps_buf_free(&summary);
        PyErr_NoMemory();
        return;
    }
    raise_at(state, id, ps_message_kind(id), &text, summary.data, sources, fault->span);
    ps_buf_free(&summary);
}

/* -- integer overflow that is no fault -- */

int py_warn_overflow(const PyState *state, const PySources *sources, PsFaultKind kind, PsSpan span) {
    PsBuf text = {0};
    const PsSource *source = source_of(sources, span);
    bool prints = state->options.overflow == PS_OVERFLOW_PRINT;
    int failed = -1;
    if (prints) add_place(&text, sources, span, false);
    overflow_text(sources, span, kind, &text);
    if (prints) ps_buf_text(&text, "\n");
    if (text.failed || !text.data)
        PyErr_NoMemory();
    else if (prints)
        failed = py_write_stdout(text.data, text.len);
    else if (!source || !source->file)
        failed = PyErr_WarnEx(PyExc_RuntimeWarning, text.data, 1);
    else
        failed = PyErr_WarnExplicit(PyExc_RuntimeWarning, text.data, source->file,
                                    (int)(source->first_line + span.line), "pestle", NULL);
    ps_buf_free(&text);
    return failed;
}
