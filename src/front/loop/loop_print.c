/* SPDX-License-Identifier: Apache-2.0
 *
 * print, f-strings and str.format. What is known while compiling is text at once; a runtime value leaves a mark in the
 * text and becomes an operand of the print op, with its format specification if it has one. A text with runtime values
 * in it can only be printed.
 */
#include "front/loop/loop_int.h"

#include <stdlib.h>
#include <string.h>

typedef struct Text {
    PsBuf text;
    PsVec(PsRef) values;
} Text;

static PsStatus add_chars(Loop *l, Text *t, const char *chars, size_t len) {
    if (memchr(chars, PS_FORMAT_PLAIN, len) || memchr(chars, PS_FORMAT_SPEC, len) || memchr(chars, 0, len))
        return FAIL(l, PRINT_CHARACTER);
    ps_buf_add(&t->text, chars, len);
    return PS_OK;
}

static PsStatus add_str(Loop *l, Text *t, PyObject *owned) {
    Py_ssize_t len;
    PyObject *str = ps_front_keep(&l->front, owned);
    const char *chars = str ? PyUnicode_AsUTF8AndSize(str, &len) : NULL;
    return chars ? add_chars(l, t, chars, (size_t)len) : ps_front_python_failed(&l->front);
}

static PsStatus add_value(Loop *l, Text *t, const PsValue *value, bool inside);
static PsStatus add_struct(Loop *l, Text *t, const PsValue *value);

static PsStatus add_items(Loop *l, Text *t, const char *open, const PsValue *items, uint32_t n,
                          const char *close) {
    TRY(add_chars(l, t, open, strlen(open)));
    for (uint32_t i = 0; i < n; i++) {
        if (i) TRY(add_chars(l, t, ", ", 2));
        TRY(add_value(l, t, &items[i], true));
    }
    return add_chars(l, t, close, strlen(close));
}

/* A SCALAR's object, where it has one, is its format specification. */
static PsStatus add_scalar(Loop *l, Text *t, const PsValue *value) {
    PsValue loaded = loop_load(l, value);
    const char *spec = value->kind == PS_VALUE_SCALAR && value->object ? PyUnicode_AsUTF8(value->object) : NULL;
    char letter = (char)('a' + loaded.type);
    if (spec)
        ps_buf_printf(&t->text, "%c%c%s%c", PS_FORMAT_SPEC, letter, spec, PS_FORMAT_SPEC);
    else
        ps_buf_printf(&t->text, "%c%c", PS_FORMAT_PLAIN, letter);
    return ps_vec_push(l->front.arena, &t->values, loaded.ref) ? PS_OK : PS_NOMEM;
}

/* str() of what is known now. Of a field that is its values, which a kernel does not know: repr(). */
PyObject *loop_text_of(const Loop *l, PyObject *object) {
    const PsFrontTypes *types = l->front.types;
    return ps_is_array(types, object) || ps_is_structs(types, object) ? PyObject_Repr(object)
                                                                      : PyObject_Str(object);
}

static PsStatus add_python(Loop *l, Text *t, const PsValue *value, bool inside) {
    PyObject *object = value->object;
    if (PyTuple_Check(object) || PyList_Check(object)) {
        PsValue *items;
        uint32_t n;
        bool tuple = PyTuple_Check(object);
        TRY(loop_items(l, value, &items, &n));
        return add_items(l, t, tuple ? "(" : "[", items, n, tuple ? (n == 1 ? ",)" : ")") : "]");
    }
    return add_str(l, t, inside ? PyObject_Repr(object) : loop_text_of(l, object));
}

static PsStatus add_value(Loop *l, Text *t, const PsValue *value, bool inside) {
    switch (value->kind) {
    case PS_VALUE_PYTHON: return add_python(l, t, value, inside);
    case PS_VALUE_SCALAR:
    case PS_VALUE_PLACE: return add_scalar(l, t, value);
    case PS_VALUE_STRUCT: return add_struct(l, t, value);
    case PS_VALUE_TILE: {
        PsValue *items;
        uint32_t n;
        TRY(loop_items(l, value, &items, &n));
        return add_items(l, t, "[", items, n, "]");
    }
    case PS_VALUE_TEXT:
        for (uint32_t i = 0; i < value->count; i++) TRY(add_value(l, t, &value->items[i], false));
        return PS_OK;
    default: return FAIL(l, PRINT_VALUE, loop_describe(l, value));
    }
}

static PsStatus add_struct(Loop *l, Text *t, const PsValue *value) {
    PyObject *names = ((PsStructTypeObject *)value->object)->members;
    TRY(add_chars(l, t, "{", 1));
    for (uint32_t i = 0; i < value->count; i++) {
        if (i) TRY(add_chars(l, t, ", ", 2));
        TRY(add_str(l, t, PyObject_Repr(PyTuple_GET_ITEM(names, i))));
        TRY(add_chars(l, t, ": ", 2));
        TRY(add_value(l, t, &value->items[i], true));
    }
    return add_chars(l, t, "}", 1);
}

static PsStatus add_args(Loop *l, Text *t, CallArgs *args) {
    PsValue sep = ps_value_python(NULL), end = ps_value_python(NULL);
    for (uint32_t i = 0; i < args->nnamed; i++) {
        PsValue *value = &args->named[i];
        bool is_sep = PyUnicode_CompareWithASCIIString(args->names[i], "sep") == 0;
        bool is_end = PyUnicode_CompareWithASCIIString(args->names[i], "end") == 0;
        if (PyUnicode_CompareWithASCIIString(args->names[i], "flush") == 0) continue;
        if (!is_sep && !is_end) return loop_no_keywords(l, "print", args);
        if (value->kind != PS_VALUE_PYTHON || !(PyUnicode_Check(value->object) || value->object == Py_None))
            return FAIL(l, PRINT_SEP, is_sep ? "sep" : "end", loop_describe(l, value));
        if (value->object != Py_None) *(is_sep ? &sep : &end) = *value;
    }
    for (uint32_t i = 0; i < args->nargs; i++) {
        if (i && sep.object)
            TRY(add_value(l, t, &sep, false));
        else if (i)
            TRY(add_chars(l, t, " ", 1));
        TRY(add_value(l, t, &args->args[i], false));
    }
    return end.object ? add_value(l, t, &end, false) : add_chars(l, t, "\n", 1);
}

PsStatus loop_print(Loop *l, CallArgs *args, PsValue *out) {
    Text t = {0};
    PsStatus status = add_args(l, &t, args);
    *out = ps_value_python(Py_None);
    if (!status && t.text.failed) status = PS_NOMEM;
    if (!status && t.text.len) {
        uint32_t text = ps_module_add_text(l->front.module, t.text.data);
        ps_build_op(loop_b(l), PS_OP_PRINT, PS_KIND_NONE, t.values.data, t.values.len, text);
    }
    ps_buf_free(&t.text);
    return status;
}

PsStatus loop_text(Loop *l, const PsValue *value, LoopText *out) {
    Text t = {0};
    PsStatus status = add_value(l, &t, value, false);
    if (!status && t.text.failed) status = PS_NOMEM;
    if (!status) {
        out->id = ps_module_add_text(l->front.module, t.text.data ? t.text.data : "");
        out->values = t.values.data;
        out->nvalues = t.values.len;
        if (!out->id) status = PS_NOMEM;
    }
    ps_buf_free(&t.text);
    return status;
}

/* -- texts as values -- */

typedef PsVec(PsValue) Parts;

static PsStatus add_part(Loop *l, Parts *parts, const PsValue *value) {
    if (value->kind == PS_VALUE_TEXT) {
        for (uint32_t i = 0; i < value->count; i++) TRY(add_part(l, parts, &value->items[i]));
        return PS_OK;
    }
    return ps_vec_push(l->front.arena, parts, *value) ? PS_OK : PS_NOMEM;
}

/* Parts that are all Python strings are one. */
static PsStatus finish(Loop *l, Parts *parts, PsValue *out) {
    *out = (PsValue){.kind = PS_VALUE_TEXT, .count = parts->len, .items = parts->data};
    for (uint32_t i = 0; i < parts->len; i++)
        if (loop_holds_proxies(l, &parts->data[i])) return PS_OK;
    PyObject *list = ps_front_keep(&l->front, PyList_New(0)),
             *empty = ps_front_keep(&l->front, PyUnicode_FromString(""));
    if (!list || !empty) return PS_PYERR;
    for (uint32_t i = 0; i < parts->len; i++) {
        PyObject *str = ps_front_keep(&l->front, loop_text_of(l, parts->data[i].object));
        if (!str || PyList_Append(list, str)) return ps_front_python_failed(&l->front);
    }
    return ps_value_take(&l->front, PyUnicode_Join(empty, list), out);
}

/* format() of a value known now. */
static PsStatus format_object(Loop *l, PyObject *object, PyObject *spec, PsValue *out) {
    const PsFrontTypes *types = l->front.types;
    if ((ps_is_array(types, object) || ps_is_structs(types, object)) &&
        !(object = ps_front_keep(&l->front, PyObject_Repr(object))))
        return PS_PYERR;
    return ps_value_take(&l->front, ps_number_format(l->front.options, object, spec), out);
}

static PsStatus format_known(Loop *l, PsAst *node, const PsValue *value, PyObject *spec, PsValue *out) {
    PyObject *object = value->object;
    if (node->op == 'r')
        object = ps_front_keep(&l->front, PyObject_Repr(object));
    else if (node->op == 's')
        object = ps_front_keep(&l->front, loop_text_of(l, object));
    else if (node->op == 'a')
        object = ps_front_keep(&l->front, PyObject_ASCII(object));
    if (!object) return PS_PYERR;
    return format_object(l, object, spec, out);
}

static PsStatus format_runtime(Loop *l, const PsValue *value, PyObject *spec, PsValue *out);

/* "[", the elements with ", " between them, "]" */
static PsStatus format_tile(Loop *l, const PsValue *value, PyObject *spec, PsValue *out) {
    PsValue *items, text[3], part;
    static const char *const between[] = {"[", ", ", "]"};
    Parts parts = {0};
    uint32_t n;
    for (int i = 0; i < 3; i++) TRY(ps_value_take(&l->front, PyUnicode_FromString(between[i]), &text[i]));
    TRY(loop_items(l, value, &items, &n));
    for (uint32_t i = 0; i < n; i++) {
        TRY(format_runtime(l, &items[i], spec, &part));
        TRY(add_part(l, &parts, &text[i ? 1 : 0]));
        TRY(add_part(l, &parts, &part));
    }
    TRY(add_part(l, &parts, &text[2]));
    *out = (PsValue){.kind = PS_VALUE_TEXT, .count = parts.len, .items = parts.data};
    return PS_OK;
}

/* A runtime value as format() shows it: each number in it by itself. */
static PsStatus format_runtime(Loop *l, const PsValue *value, PyObject *spec, PsValue *out) {
    PsSpec parsed;
    Py_ssize_t len;
    const char *text = PyUnicode_AsUTF8AndSize(spec, &len);
    if (!text) return PS_PYERR;
    *out = *value;
    if (!len) return PS_OK;
    if (loop_is_tile(l, value)) return format_tile(l, value, spec, out);
    *out = loop_load(l, value);
    PsType type = loop_numeric(l, out);
    spec = ps_front_keep(&l->front, ps_number_spec(l->front.options, spec, type && loop_is_float(type)));
    if (!spec || !(text = PyUnicode_AsUTF8AndSize(spec, &len))) return PS_PYERR;
    if (out->kind != PS_VALUE_SCALAR || !ps_spec_parse(text, (size_t)len, &parsed) ||
        strlen(text) != (size_t)len || !ps_spec_fits(&parsed, (char)('a' + out->type)))
        return FAIL(l, FORMAT_SPEC, text, loop_describe(l, value));
    out->object = spec;
    return PS_OK;
}

static PsStatus eval_format(Loop *l, PsAst *node, Parts *parts) {
    PsValue value, spec = ps_value_python(NULL);
    TRY(loop_eval(l, node->a, &value));
    if (node->b) TRY(loop_eval(l, node->b, &spec));
    loop_at(l, node);
    if (!loop_holds_proxies(l, &value)) {
        if (spec.kind != PS_VALUE_PYTHON)
            return FAIL(l, STATIC_NEEDED, "a format specification", loop_describe(l, &spec));
        TRY(format_known(l, node, &value, spec.object, &value));
    } else if (spec.kind != PS_VALUE_PYTHON) {
        return FAIL(l, STATIC_NEEDED, "a format specification", loop_describe(l, &spec));
    } else if (node->op == 'a') {
        return FAIL(l, FORMAT_ASCII, loop_describe(l, &value));
    } else if (spec.object) {
        TRY(format_runtime(l, &value, spec.object, &value));
    }
    return add_part(l, parts, &value);
}

PsStatus loop_eval_fstring(Loop *l, PsAst *node, PsValue *out) {
    Parts parts = {0};
    for (uint32_t i = 0; i < node->list.len; i++) {
        PsAst *item = node->list.items[i];
        if (item->kind == PS_AST_FORMAT) {
            TRY(eval_format(l, item, &parts));
            continue;
        }
        PsValue value;
        TRY(loop_eval(l, item, &value));
        TRY(add_part(l, &parts, &value));
    }
    return finish(l, &parts, out);
}

/* -- "...{}...".format(...) -- */

static const PsValue *field(const CallArgs *args, const char *name, size_t len, uint32_t *next) {
    if (!len) return *next < args->nargs ? &args->args[(*next)++] : NULL;
    if (name[0] >= '0' && name[0] <= '9') {
        unsigned long at = strtoul(name, NULL, 10);
        return at < args->nargs ? &args->args[at] : NULL;
    }
    for (uint32_t i = 0; i < args->nnamed; i++) {
        const char *keyword = PyUnicode_AsUTF8(args->names[i]);
        if (keyword && strlen(keyword) == len && !strncmp(keyword, name, len)) return &args->named[i];
    }
    return NULL;
}

static PsStatus add_literal(Loop *l, Parts *parts, const char *text, size_t len) {
    PsValue value;
    if (!len) return PS_OK;
    TRY(ps_value_take(&l->front, PyUnicode_FromStringAndSize(text, (Py_ssize_t)len), &value));
    return add_part(l, parts, &value);
}

static PsStatus add_field(Loop *l, Parts *parts, const CallArgs *args, const char *text, size_t len,
                          uint32_t *next) {
    const char *colon = memchr(text, ':', len);
    size_t name_len = colon ? (size_t)(colon - text) : len;
    const PsValue *value = field(args, text, name_len, next);
    if (!value) return FAIL(l, FORMAT_FIELD, ps_arena_copy(l->front.arena, text, len));
    Py_ssize_t spec_len = colon ? (Py_ssize_t)(len - name_len - 1) : 0;
    PyObject *spec = ps_front_keep(&l->front, PyUnicode_FromStringAndSize(colon ? colon + 1 : "", spec_len));
    PsValue formatted;
    if (!spec) return PS_PYERR;
    if (loop_holds_proxies(l, value))
        TRY(format_runtime(l, value, spec, &formatted));
    else
        TRY(format_object(l, value->object, spec, &formatted));
    return add_part(l, parts, &formatted);
}

PsStatus loop_format(Loop *l, PyObject *format, const CallArgs *args, PsValue *out) {
    const char *text = PyUnicode_AsUTF8(format), *start = text;
    Parts parts = {0};
    uint32_t next = 0;
    bool numbered = false; /* then any number of arguments is right */
    if (!text) return PS_PYERR;
    for (const char *c = text; *c; c++) {
        if (*c != '{' && *c != '}') continue;
        TRY(add_literal(l, &parts, start, (size_t)(c - start)));
        if (c[1] == *c) { /* {{ and }} */
            start = ++c;
            continue;
        }
        const char *end = *c == '{' ? strchr(c, '}') : NULL;
        if (!end) return FAIL(l, FORMAT_BRACES);
        numbered |= c[1] >= '0' && c[1] <= '9';
        TRY(add_field(l, &parts, args, c + 1, (size_t)(end - c - 1), &next));
        c = end;
        start = end + 1;
    }
    TRY(add_literal(l, &parts, start, strlen(start)));
    if (next < args->nargs && next && !numbered) return FAIL(l, FORMAT_COUNT, next, args->nargs);
    return finish(l, &parts, out);
}
