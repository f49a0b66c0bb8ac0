/* SPDX-License-Identifier: Apache-2.0
 *
 * Do the facts of a specialisation still hold? A launch asks this every time, so the answer must cost about a
 * nanosecond: it compares a count of changes for each dict involved, the contents of each closure cell, the code of each
 * function and the version of each class. When one of them differs, py_guard_look compares all facts, which finds out
 * whether anything that matters changed, and remembers the new counts.
 *
 * What an instance holds cannot be watched: a specialisation that read an attribute of one looks at all its facts at
 * every launch, some ten nanoseconds each, those of an argument in the one given (eval_relate.c); one that read an attribute that Python code computes (a property) asks for it
 * again, with the specialisation pinned. What a container holds is frozen, as the documentation says.
 */
#include "py/py_guard.h"

_Static_assert(sizeof(PyObject *) == sizeof(uint64_t), "pointers are compared as words");

static void add_word(PyGuard *guard, const void *at) {
    for (uint32_t i = 0; i < guard->nwords; i++)
        if (guard->words[i].at == at) return;
    guard->words[guard->nwords++] = (PyGuardWord){at, 0};
}

static void add_type(PyGuard *guard, PyTypeObject *type) {
    for (uint32_t i = 0; i < guard->ntypes; i++)
        if (guard->types[i].type == type) return;
    guard->types[guard->ntypes++] = (PyGuardType){type, 0};
}

/* Contents of cells, code and defaults of functions: the words that hold a reference, so that what was seen stays alive and its
 * address cannot become another object's. */
static void add_slot(PyGuard *guard, const PsFact *fact) {
    if (fact->kind == PS_FACT_CELL) add_word(guard, &((PyCellObject *)fact->holder)->ob_ref);
    const PyFunctionObject *function = (PyFunctionObject *)fact->holder;
    if (fact->kind == PS_FACT_CODE) add_word(guard, &function->func_code);
    if (fact->kind == PS_FACT_DEFAULTS) add_word(guard, &function->func_defaults);
    if (fact->kind == PS_FACT_KWDEFAULTS) add_word(guard, &function->func_kwdefaults);
}

static void add_name(PyGuard *guard, const PyState *state, PyObject *dict, PyObject *name) {
    const uint64_t *changes = py_watch(state, dict, name);
    if (changes)
        add_word(guard, changes);
    else
        guard->blind = true;
}

static void add_rest(PyGuard *guard, const PyState *state, const PsFact *fact) {
    PyObject *holder = fact->holder;
    if (fact->kind == PS_FACT_GLOBAL) add_name(guard, state, holder, fact->key);
    if (fact->kind == PS_FACT_COMPUTED) guard->blind = true, guard->computed = &state->types;
    if (fact->kind != PS_FACT_ATTRIBUTE) return;
    if (PyModule_Check(holder))
        add_name(guard, state, PyModule_GetDict(holder), fact->key);
    else
        add_type(guard, PyType_Check(holder) ? (PyTypeObject *)holder : Py_TYPE(holder));
    if (!PyModule_Check(holder) && !PyType_Check(holder)) guard->blind = true;
}

bool py_guard_make(PyGuard *guard, const PyState *state, PsArena *arena, const PsFacts *facts) {
    *guard = (PyGuard){.always = true};
    guard->words = ps_arena_alloc(arena, (facts->len + 1) * sizeof *guard->words);
    guard->types = ps_arena_alloc(arena, (facts->len + 1) * sizeof *guard->types);
    if (!guard->words || !guard->types) return false;
    for (uint32_t i = 0; i < facts->len; i++) add_slot(guard, &facts->items[i]);
    guard->nowned = guard->nwords;
    for (uint32_t i = 0; i < facts->len; i++) add_rest(guard, state, &facts->items[i]);
    return true;
}

static PyObject **owned(PyGuard *guard, uint32_t i) { return (PyObject **)&guard->words[i].seen; }

void py_guard_free(PyGuard *guard) {
    for (uint32_t i = 0; i < guard->nowned; i++) Py_CLEAR(*owned(guard, i));
    guard->nwords = guard->nowned = guard->ntypes = 0;
}

int py_guard_traverse(PyGuard *guard, visitproc visit, void *arg) {
    for (uint32_t i = 0; i < guard->nowned; i++) Py_VISIT(*owned(guard, i));
    return 0;
}

static bool replay(PySpec *spec) {
    py_spec_pin(spec);
    bool holds = ps_facts_replay(&spec->facts, spec->guard.computed) && !spec->dropped;
    py_spec_unpin(spec);
    return holds;
}

bool py_guard_look(PySpec *spec, PyObject *const *args) {
    PyGuard *guard = &spec->guard;
    bool moved;
    if (guard->computed && !replay(spec)) return false;
    if (!ps_facts_follow(&spec->facts, args, spec->fields, &moved)) return false;
    if (moved) py_spec_fields(spec);
    for (uint32_t i = guard->nowned; i < guard->nwords; i++) guard->words[i].seen = *guard->words[i].at;
    for (uint32_t i = 0; i < guard->ntypes; i++) guard->types[i].tag = py_type_tag(guard->types[i].type);
    guard->always = guard->blind;
    py_spec_pin(spec); /* what is released may be the last reference to something with a destructor */
    for (uint32_t i = 0; i < guard->nowned; i++) {
        PyObject *old = *owned(guard, i);
        guard->words[i].seen = *guard->words[i].at;
        Py_XINCREF(*owned(guard, i));
        Py_XDECREF(old);
    }
    bool holds = !spec->dropped;
    py_spec_unpin(spec);
    return holds;
}
