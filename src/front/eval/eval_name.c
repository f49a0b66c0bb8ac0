/* SPDX-License-Identifier: Apache-2.0
 *
 * Names: those of the function being built, by block; then what Python would find outside it: closure cells, globals,
 * builtins. Every outside look-up is a fact, also one that found nothing.
 *
 * A name that the function assigns anywhere is local everywhere in it, as in Python: it never falls back to a global
 * of the same name.
 */
#include "front/eval/build.h"

#include "front/eval/eval_objects.h"

#include <string.h>

PsBinding *ps_name_find(PsFrontFunc *func, PyObject *name) {
    for (uint32_t i = func->names.len; i-- > 0;)
        if (func->names.data[i].name == name) return &func->names.data[i];
    for (uint32_t i = func->names.len; i-- > 0;) { /* equal but not interned */
        PyObject *other = func->names.data[i].name;
        if (PyUnicode_CHECK_INTERNED(name) && PyUnicode_CHECK_INTERNED(other)) continue;
        if (PyUnicode_Compare(other, name) == 0) return &func->names.data[i];
    }
    return NULL;
}

PsStatus ps_name_bind(PsFront *front, PyObject *name, PsBindKind kind, const PsValue *value) {
    PsBinding binding = {
        .name = name, .value = *value, .kind = (uint8_t)kind, .region = front->b.region, .span = front->at};
    return ps_vec_push(front->arena, &front->func->names, binding) ? PS_OK : PS_NOMEM;
}

uint32_t ps_names_enter(const PsFrontFunc *func) { return func->names.len; }

void ps_names_leave(PsFront *front, PsFrontFunc *func, uint32_t mark) {
    for (uint32_t i = mark; i < func->names.len; i++) {
        bool known = false;
        for (uint32_t j = 0; j < func->gone.len && !known; j++)
            known = func->gone.data[j].name == func->names.data[i].name;
        if (!known) (void)ps_vec_push(front->arena, &func->gone, func->names.data[i]);
    }
    func->names.len = mark;
}

PsStatus ps_front_func_begin(PsFront *front, PsFrontFunc *func, PyObject *function, PsAstTree *tree,
                             PsSpan call) {
    func->caller = front->func;
    func->function = function;
    func->tree = tree;
    func->source = ps_front_add_source(front, tree, call);
    if (!func->source) return PS_NOMEM;
    PyObject *code = PyFunction_GET_CODE(function);
    func->freevars = ps_front_keep(front, PyObject_GetAttrString(code, "co_freevars"));
    if (!func->freevars) return PS_PYERR;
    return ps_facts_add(front->facts, PS_FACT_CODE, function, NULL, code) ? PS_OK : PS_NOMEM;
}

/* -- is the name assigned in the function? -- */

static bool assigns(const PsAst *node, PyObject *name, int depth);

static bool list_assigns(const PsAstList *list, PyObject *name, int depth) {
    for (uint32_t i = 0; i < list->len; i++)
        if (list->items[i] && assigns(list->items[i], name, depth)) return true;
    return false;
}

static bool is_target(const PsAst *node, PyObject *name) {
    if (!node) return false;
    if (node->kind == PS_AST_NAME) return PyUnicode_Compare(node->name, name) == 0;
    if (node->kind == PS_AST_STARRED) return is_target(node->a, name);
    if (node->kind != PS_AST_TUPLE && node->kind != PS_AST_LIST) return false;
    for (uint32_t i = 0; i < node->list.len; i++)
        if (is_target(node->list.items[i], name)) return true;
    return false;
}

/* Walks statements and the named expressions in them, but no lambda or comprehension: these have names of their own. */
static bool assigns(const PsAst *node, PyObject *name, int depth) {
    if (!node || depth > PS_FRONT_MAX_DEPTH) return false;
    switch (node->kind) {
    case PS_AST_LAMBDA:
    case PS_AST_LISTCOMP:
    case PS_AST_DICTCOMP: return false;
    case PS_AST_ASSIGN:
        for (uint32_t i = 0; i < node->list.len; i++)
            if (is_target(node->list.items[i], name)) return true;
        break;
    case PS_AST_AUGASSIGN:
    case PS_AST_ANNASSIGN:
    case PS_AST_FOR:
    case PS_AST_NAMEDEXPR:
        if (is_target(node->a, name)) return true;
        break;
    default: break;
    }
    return assigns(node->a, name, depth + 1) || assigns(node->b, name, depth + 1) ||
           assigns(node->c, name, depth + 1) || list_assigns(&node->list, name, depth + 1) ||
           list_assigns(&node->body, name, depth + 1) || list_assigns(&node->orelse, name, depth + 1);
}

/* -- outside -- */

/* Not in our own funcs (pestle.math, ...). */
static bool is_users(const PsFrontFunc *func) {
    PyObject *name = PyDict_GetItemString(PyFunction_GET_GLOBALS(func->function), "__name__");
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (!text) PyErr_Clear();
    return !text || strncmp(text, "pestle.", 7) != 0;
}

PsStatus ps_front_check_float(PsFront *front, PyObject *object, PyObject *name) {
    const char *text;
    if (!front->options->no_floats || !PyFloat_Check(object) || !is_users(front->func)) return PS_OK;
    return (text = PyUnicode_AsUTF8(name)) ? PS_FRONT_FAIL(front, FRONT_FLOAT, text) : PS_PYERR;
}

static PsStatus found(PsFront *front, PsFactKind kind, PyObject *holder, PyObject *key, PyObject *object,
                      PsValue *out) {
    PsStatus status = ps_value_found(front, object, out);
    if (status || !ps_is_array(front->types, object)) return status;
    out->looked_up = true;
    ps_facts_mark(front->facts, kind, holder, key, PS_FOLLOWS);
    return PS_OK;
}

static PyObject *cell_of(PsFrontFunc *func, PyObject *name) {
    PyObject *closure = PyFunction_GET_CLOSURE(func->function);
    for (Py_ssize_t i = 0; closure && i < PyTuple_GET_SIZE(func->freevars) && i < PyTuple_GET_SIZE(closure);
         i++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(func->freevars, i), name) == 0)
            return PyTuple_GET_ITEM(closure, i);
    return NULL;
}

static PsStatus not_defined(PsFront *front, PyObject *name, bool local) {
    PsFrontFunc *func = front->func;
    const char *text = PyUnicode_AsUTF8(name);
    if (!text) return PS_PYERR;
    for (uint32_t i = func->gone.len; i-- > 0;) {
        const PsBinding *gone = &func->gone.data[i];
        uint32_t line = func->tree->first_line + gone->span.line;
        if (PyUnicode_Compare(gone->name, name) != 0) continue;
        return gone->kind == PS_BIND_INDEX ? PS_FRONT_FAIL(front, FRONT_NAME_LOOP, text, line)
                                           : PS_FRONT_FAIL(front, FRONT_NAME_GONE, text, line, text);
    }
    return local ? PS_FRONT_FAIL(front, FRONT_NAME_UNASSIGNED, text) : PS_FRONT_FAIL(front, FRONT_NAME, text);
}

/* Whether Python treats the name as local to the function. co_varnames alone would not do: from 3.12 on it also lists
 * the names of comprehensions. */
static int is_local(PsFrontFunc *func, PyObject *name) {
    static const char *const lists[] = {"co_varnames", "co_cellvars"};
    for (int i = 0; i < 2; i++) {
        PyObject *names = PyObject_GetAttrString(PyFunction_GET_CODE(func->function), lists[i]);
        int listed = names ? PySequence_Contains(names, name) : -1;
        Py_XDECREF(names);
        if (listed < 0) return -1;
        if (listed) return list_assigns(&func->tree->function->body, name, 0);
    }
    return 0;
}

static PsStatus look_in(PsFront *front, PyObject *dict, PyObject *name, PyObject **out) {
    *out = PyDict_GetItemWithError(dict, name);
    if (!*out && PyErr_Occurred()) return PS_PYERR;
    return ps_facts_add(front->facts, PS_FACT_GLOBAL, dict, name, *out) ? PS_OK : PS_NOMEM;
}

PsStatus ps_name_outside(PsFront *front, PyObject *name, PsValue *out) {
    PsFrontFunc *func = front->func;
    PyObject *object, *cell = cell_of(func, name);
    PsStatus status;
    if (cell) {
        object = PyCell_GET(cell);
        if (!ps_facts_add(front->facts, PS_FACT_CELL, cell, NULL, object)) return PS_NOMEM;
        if (!object) return not_defined(front, name, false);
        status = ps_front_check_float(front, object, name);
        return status ? status : found(front, PS_FACT_CELL, cell, NULL, object, out);
    }
    int local = is_local(func, name);
    if (local) return local < 0 ? PS_PYERR : not_defined(front, name, true);
    PyObject *globals = PyFunction_GET_GLOBALS(func->function);
    if ((status = look_in(front, globals, name, &object))) return status;
    if (object && (status = ps_front_check_float(front, object, name))) return status;
    if (object) return found(front, PS_FACT_GLOBAL, globals, name, object, out);
    PyObject *builtins = PyEval_GetBuiltins(); /* borrowed */
    if (builtins && (status = look_in(front, builtins, name, &object))) return status;
    return object ? ps_value_found(front, object, out) : not_defined(front, name, false);
}

/* -- attributes of Python objects -- */

static PsStatus note_attribute(PsFront *front, PyObject *object, PyObject *name, PyObject *value) {
    PyTypeObject *type = Py_TYPE(object);
    if (type == front->types->dtype || type == front->types->builtin || ps_is_matrix(front->types, object) ||
        type == front->types->matrix_type || PyLong_Check(object) || PyFloat_Check(object) ||
        PyUnicode_Check(object) || PyTuple_Check(object))
        return PS_OK; /* these do not change */
    PyObject *now = ps_facts_attribute(object, name);
    if (!now && PyErr_Occurred()) return PS_PYERR;
    if (!ps_facts_add(front->facts, PS_FACT_ATTRIBUTE, object, name, now)) return PS_NOMEM;
    return eval_note_computed(front, object, name, now, value);
}

PsStatus ps_python_attribute(PsFront *front, PyObject *object, PyObject *name, PsValue *out) {
    /* Noted afterwards: asking may be what makes it (modules with __getattr__, cached properties). */
    PyObject *value = PyObject_GetAttr(object, name);
    PsStatus status = value ? note_attribute(front, object, name, value) : PS_OK;
    if (status) {
        Py_XDECREF(value);
        return status;
    }
    if (value && ps_is_array(front->types, value) && ps_facts_attribute(object, name) == value) {
        status = found(front, PS_FACT_ATTRIBUTE, object, name, value, out);
        Py_DECREF(value);
        return status;
    }
    if (value) {
        status = ps_is_instance(front->types, object) ? ps_front_check_float(front, value, name) : PS_OK;
        if (!status) status = ps_value_found(front, value, out);
        Py_DECREF(value);
        return status;
    }
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return ps_front_python_failed(front);
    PyErr_Clear();
    const char *text = PyUnicode_AsUTF8(name);
    PsValue holder = ps_value_python(object);
    return text ? PS_FRONT_FAIL(front, FRONT_ATTRIBUTE, ps_value_describe(front, &holder), text) : PS_PYERR;
}
