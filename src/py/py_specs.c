/* SPDX-License-Identifier: Apache-2.0
 *
 * The specialisations of a kernel, the one used last first. There are at most PY_SPECS_MAX of them: a kernel that is
 * called with ever-new template values, or whose globals change for ever, drops what it has not used for the longest
 * time. The order changes only when a launch is not like the one before, so the hot path knows nothing of it.
 *
 * Whoever uses a specialisation while Python code may run or the GIL is free pins it. One that is dropped meanwhile
 * leaves the list at once and is freed by the last unpin.
 */
#include "py/py_int.h"

#define PY_SPECS_MAX 256

void py_spec_unpin(PySpec *spec) {
    if (--spec->pins == 0 && spec->dropped) py_spec_free(spec);
}

static PySpec **place_of(PyKernel *kernel, const PySpec *spec) {
    PySpec **at = &kernel->specs;
    while (*at && *at != spec) at = &(*at)->next;
    return at;
}

static void drop(PyKernel *kernel, PySpec **at) {
    PySpec *spec = *at;
    *at = spec->next;
    spec->next = NULL;
    spec->dropped = true;
    kernel->nspecs--;
    kernel->drops++;
    if (kernel->last == spec) kernel->last = NULL;
    py_spec_pin(spec);
    py_spec_unpin(spec);
}

void py_specs_add(PyKernel *kernel, PySpec *spec) {
    spec->next = kernel->specs;
    kernel->specs = spec;
    if (++kernel->nspecs <= PY_SPECS_MAX) return;
    PySpec **at = &kernel->specs;
    while ((*at)->next) at = &(*at)->next;
    drop(kernel, at);
}

void py_specs_use(PyKernel *kernel, PySpec *spec) {
    if (spec->dropped) return;
    kernel->last = spec;
    if (kernel->specs == spec) return;
    PySpec **at = place_of(kernel, spec);
    *at = spec->next;
    spec->next = kernel->specs;
    kernel->specs = spec;
}

void py_specs_clear(PyKernel *kernel) {
    while (kernel->specs) drop(kernel, &kernel->specs);
}
