/* SPDX-License-Identifier: Apache-2.0
 *
 * The quick half of the guard, for the hot path. See py_guard.c.
 */
#ifndef PS_PY_GUARD_H
#define PS_PY_GUARD_H

#include "py/py_int.h"

#if PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
#define PY_HAS_DICT_TAGS 1
#else
#define PY_HAS_DICT_TAGS 0
#endif

static inline const uint64_t *py_dict_tag(PyObject *dict) {
#if PY_HAS_DICT_TAGS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return &((PyDictObject *)dict)->ma_version_tag;
#pragma GCC diagnostic pop
#else
    return (const uint64_t *)&((PyDictObject *)dict)->ma_used; /* not looked at: always */
#endif
}

/* 0 when the class changed since anything was looked up in it. */
static inline unsigned py_type_tag(const PyTypeObject *type) {
#if PY_VERSION_HEX < 0x030D0000
    if (!(type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG)) return 0;
#endif
    return type->tp_version_tag;
}

static PY_HOT bool py_guard_holds(PySpec *spec) {
    const PyGuard *guard = &spec->guard;
    uint64_t changed = guard->always;
    for (uint32_t i = 0; i < guard->nwords; i++) changed |= *guard->words[i].at ^ guard->words[i].seen;
    for (uint32_t i = 0; i < guard->ntypes; i++) {
        unsigned tag = py_type_tag(guard->types[i].type);
        changed |= !tag || tag != guard->types[i].tag;
    }
    return PS_LIKELY(!changed) || py_guard_look(spec);
}

#endif
