/* SPDX-License-Identifier: Apache-2.0
 *
 * The quick half of the guard, for the hot path. See py_guard.c.
 */
#ifndef PS_PY_GUARD_H
#define PS_PY_GUARD_H

#include "py/py_int.h"

/* Until 3.11 every change of a dict gives it another version tag; from 3.12 on there are watchers, which say what name
 * changed, and from 3.14 on no tags. */
#define PY_WATCHES_DICTS (PY_VERSION_HEX >= 0x030C0000)

/* A word that changes whenever the name is assigned or deleted in the dict; NULL: there is none. */
#if PY_WATCHES_DICTS
const uint64_t *py_watch(const PyState *state, PyObject *dict, PyObject *name);
#else
static inline const uint64_t *py_watch(const PyState *state, PyObject *dict, PyObject *name) {
    (void)state, (void)name;
    return &((PyDictObject *)dict)->ma_version_tag;
}
#endif

/* 0 when the class changed since anything was looked up in it. */
static inline unsigned py_type_tag(const PyTypeObject *type) {
#if PY_VERSION_HEX < 0x030D0000
    if (!(type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG)) return 0;
#endif
    return type->tp_version_tag;
}

static PY_HOT bool py_guard_holds(PySpec *spec, PyObject *const *args) {
    const PyGuard *guard = &spec->guard;
    uint64_t changed = guard->always;
    for (uint32_t i = 0; i < guard->nwords; i++) changed |= *guard->words[i].at ^ guard->words[i].seen;
    for (uint32_t i = 0; i < guard->ntypes; i++) {
        unsigned tag = py_type_tag(guard->types[i].type);
        changed |= !tag || tag != guard->types[i].tag;
    }
    return PS_LIKELY(!changed) || py_guard_look(spec, args);
}

#endif
