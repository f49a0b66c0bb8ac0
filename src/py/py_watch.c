/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts the changes of names in dicts by CPython's dict watchers (3.12 and later), so that a guard compares one word
 * for each dict whatever else is assigned in it: a script's own loop variables are globals, too.
 *
 * A watcher's callback is given the dict and nothing of ours, which is why the list of watched dicts belongs to the
 * process. The GIL protects it.
 */
#include "py/py_guard.h"

#if PY_WATCHES_DICTS

/* A dict with the names that matter, by their hashes: that of another name makes a guard look once too often. */
typedef struct Watched {
    PyObject *dict; /* borrowed: the entry goes when the dict does */
    uint64_t changes;
    Py_hash_t *names;
    uint32_t nnames;
    struct Watched *next;
} Watched;
static Watched *all;

/* The dict's entry, which comes to the front: the next change is most likely one of the same dict. */
static Watched *find(PyObject *dict) {
    Watched **at = &all;
    while (*at && (*at)->dict != dict) at = &(*at)->next;
    Watched *entry = *at;
    if (!entry) return NULL;
    *at = entry->next;
    entry->next = all;
    return all = entry;
}

static bool has_name(const Watched *entry, Py_hash_t name) {
    for (uint32_t i = 0; i < entry->nnames; i++)
        if (entry->names[i] == name) return true;
    return false;
}

static int on_change(PyDict_WatchEvent event, PyObject *dict, PyObject *key, PyObject *value) {
    (void)value;
    Watched *entry = find(dict);
    if (!entry) return 0;
    if (event == PyDict_EVENT_DEALLOCATED) {
        all = entry->next;
        ps_free(entry->names);
        ps_free(entry);
    } else if (!key || !PyUnicode_CheckExact(key) || has_name(entry, PyObject_Hash(key))) {
        entry->changes++;
    }
    return 0;
}

static Watched *make(PyObject *dict) {
    Watched *entry = ps_alloc(sizeof *entry);
    if (!entry) return NULL;
    entry->dict = dict;
    entry->next = all;
    return all = entry;
}

const uint64_t *py_watch(const PyState *state, PyObject *dict, PyObject *name) {
    if (!state->watcher || PyDict_Watch(state->watcher - 1, dict)) {
        PyErr_Clear();
        return NULL;
    }
    Watched *entry = find(dict);
    Py_hash_t hash = PyObject_Hash(name);
    if (!entry && !(entry = make(dict))) return NULL;
    if (has_name(entry, hash)) return &entry->changes;
    Py_hash_t *names = ps_realloc(entry->names, (entry->nnames + 1) * sizeof *names);
    if (!names) return NULL;
    entry->names = names;
    names[entry->nnames++] = hash;
    return &entry->changes;
}

/* There are few watchers in a process. Without one, guards look at all facts at each launch. */
void py_watch_begin(PyState *state) {
    state->watcher = PyDict_AddWatcher(on_change) + 1;
    if (!state->watcher) PyErr_Clear();
}

void py_watch_end(PyState *state) {
    if (state->watcher && PyDict_ClearWatcher(state->watcher - 1)) PyErr_Clear();
    state->watcher = 0;
}

#else

void py_watch_begin(PyState *state) { (void)state; }
void py_watch_end(PyState *state) { (void)state; }

#endif
