/* SPDX-License-Identifier: Apache-2.0
 *
 * The specialisations of a kernel, the one used last first. There are at most PY_SPECS_MAX of them: a kernel that is
 * called with ever-new template values, or whose globals change for ever, drops what it has not used for the longest
 * time. The order changes only when a launch is not like the one before, so the hot path knows nothing of it.
 *
 * A kernel with template arguments may have hundreds, one for each instance that it is a method of, say. A table says
 * which one these arguments had the last time; it is only a hint, for the specialisation's own checks decide.
 *
 * Whoever uses a specialisation while Python code may run or the GIL is free pins it. One that is dropped meanwhile
 * leaves the list at once and is freed by the last unpin.
 */
#include "py/decode_scalar.h"
#include "py/py_int.h"

#define PY_SPECS_MAX 1024

#define HINTS_FIRST    64u
#define HINTS_FOR_EACH 4u  /* specialisation: the table is sparse */
#define HINTS_NEAR     16u /* places where a key may stand */

void py_spec_unpin(PySpec *spec) {
    if (--spec->pins == 0 && spec->dropped) py_spec_free(spec);
}

/* -- by last use -- */

static void unlink_spec(PyKernel *kernel, PySpec *spec) {
    *(spec->before ? &spec->before->next : &kernel->specs) = spec->next;
    *(spec->next ? &spec->next->before : &kernel->tail) = spec->before;
    spec->next = spec->before = NULL;
}

static void link_first(PyKernel *kernel, PySpec *spec) {
    spec->next = kernel->specs;
    *(spec->next ? &spec->next->before : &kernel->tail) = spec;
    kernel->specs = spec;
}

static void drop(PyKernel *kernel, PySpec *spec) {
    unlink_spec(kernel, spec);
    spec->dropped = true;
    kernel->nspecs--;
    kernel->drops++;
    if (kernel->last == spec) kernel->last = NULL;
    for (uint32_t i = 0; i < kernel->nhints; i++)
        if (kernel->hints[i].spec == spec) kernel->hints[i].spec = NULL;
    py_spec_pin(spec);
    py_spec_unpin(spec);
}

void py_specs_add(PyKernel *kernel, PySpec *spec) {
    link_first(kernel, spec);
    if (++kernel->nspecs > PY_SPECS_MAX) drop(kernel, kernel->tail);
}

void py_specs_use(PyKernel *kernel, PySpec *spec) {
    if (spec->dropped) return;
    kernel->last = spec;
    if (kernel->specs == spec) return;
    unlink_spec(kernel, spec);
    link_first(kernel, spec);
}

void py_specs_clear(PyKernel *kernel) {
    while (kernel->specs) drop(kernel, kernel->specs);
    ps_free(kernel->hints);
    kernel->hints = NULL;
    kernel->nhints = 0;
}

/* -- by template arguments -- */

/* Equal for arguments that py_template_same takes for the same; runs no Python code. */
static uint64_t word_of(PyObject *arg) {
    if (PyFloat_CheckExact(arg)) return scalar_f64_bits(PyFloat_AS_DOUBLE(arg));
    if (PyLong_CheckExact(arg) || PyUnicode_CheckExact(arg)) return (uint64_t)PyObject_Hash(arg);
    if (PyTuple_CheckExact(arg)) return (uint64_t)PyTuple_GET_SIZE(arg);
    return (uint64_t)(uintptr_t)arg >> 4;
}

/* 0: no template arguments, which would make it no key. */
static uint64_t key_of(const PyKernel *kernel, PyObject *const *args) {
    uint64_t key = 0;
    for (uint32_t i = 0; i < kernel->signature.nparams; i++) {
        if (kernel->signature.params[i].kind != PS_PARAM_TEMPLATE) continue;
        key = (key + word_of(args[i]) + 1) * 0x9E3779B97F4A7C15u;
        key ^= key >> 32;
    }
    return key;
}

PySpec *py_specs_find(const PyKernel *kernel, PyObject *const *args) {
    if (!kernel->nhints) return NULL;
    uint64_t key = key_of(kernel, args);
    for (uint32_t k = 0; k < HINTS_NEAR; k++) {
        const PyHint *hint = &kernel->hints[(key + k) & (kernel->nhints - 1)];
        if (hint->spec && hint->key == key) return hint->spec;
    }
    return NULL;
}

/* In the first place that is empty or has the key; where there is none, the first loses what it has. */
static void place(PyHint *hints, uint32_t n, uint64_t key, PySpec *spec) {
    PyHint *at = &hints[key & (n - 1)];
    for (uint32_t k = HINTS_NEAR; k-- > 0;) {
        PyHint *hint = &hints[(key + k) & (n - 1)];
        if (!hint->spec || hint->key == key) at = hint;
    }
    *at = (PyHint){key, spec};
}

static void grow(PyKernel *kernel) {
    uint32_t n = kernel->nhints ? kernel->nhints * 4 : HINTS_FIRST;
    PyHint *hints = ps_alloc(n * sizeof *hints); /* no memory: it stays as it is */
    if (!hints) return;
    for (uint32_t i = 0; i < kernel->nhints; i++)
        if (kernel->hints[i].spec) place(hints, n, kernel->hints[i].key, kernel->hints[i].spec);
    ps_free(kernel->hints);
    kernel->hints = hints;
    kernel->nhints = n;
}

void py_specs_note(PyKernel *kernel, PyObject *const *args, PySpec *spec) {
    uint64_t key = kernel->nspecs > 1 && !spec->dropped ? key_of(kernel, args) : 0;
    if (!key) return;
    if (kernel->nhints < kernel->nspecs * HINTS_FOR_EACH) grow(kernel);
    if (kernel->nhints) place(kernel->hints, kernel->nhints, key, spec);
}
