/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_llvm: opens libpestle_llvm.so when something must be compiled. It stands beside the object that holds this
 * code (the extension module, a tool), or where PESTLE_LLVM_LIBRARY says. Once open it stays: LLVM cannot be unloaded
 * cleanly. A failure is not remembered; the library may appear. When the process ends, threads that still compile are
 * waited for, since LLVM's objects are destroyed then.
 */
#include "driver/driver_int.h"

#include "rt/rt.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libpestle_llvm.so"
#define ENTRY   "ps_codegen_entry"

static PsLock open_lock;
static PsCodegenEntryFn codegen_entry; /* atomic; set once */

static PsCodegenEntryFn opened(void) { return __atomic_load_n(&codegen_entry, __ATOMIC_ACQUIRE); }

bool ps_driver_llvm_is_open(void) { return opened() != NULL; }

/* The loader knows a shared object by its path, the program itself perhaps by argv[0] only. */
static bool own_path(char out[PATH_MAX]) {
    Dl_info info;
    if (dladdr((void *)ps_driver_llvm_is_open, &info) && info.dli_fname && strchr(info.dli_fname, '/') &&
        realpath(info.dli_fname, out))
        return true;
    ssize_t len = readlink("/proc/self/exe", out, PATH_MAX - 1);
    if (len <= 0) return false;
    out[len] = 0;
    return true;
}

static bool library_path(char out[PATH_MAX]) {
    const char *chosen = secure_getenv("PESTLE_LLVM_LIBRARY"); /* it is code */
    if (chosen && *chosen) return snprintf(out, PATH_MAX, "%s", chosen) < PATH_MAX;
    if (!own_path(out)) return false;
    char *name = strrchr(out, '/');
    if (!name || (size_t)(name + 1 - out) + sizeof LIBRARY > PATH_MAX) return false;
    memcpy(name + 1, LIBRARY, sizeof LIBRARY);
    return true;
}

bool ps_driver_llvm_path(char *out, size_t size) {
    char path[PATH_MAX];
    return library_path(path) && (size_t)snprintf(out, size, "%s", path) < size;
}

static PsStatus open_library(PsDiag *diag) {
    char path[PATH_MAX];
    if (!library_path(path))
        return ps_diag_fail(diag, (PsSpan){0}, PS_MSG_DRIVER_LLVM, LIBRARY, "path too long");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *entry = library ? dlsym(library, ENTRY) : NULL;
    if (!entry) {
        const char *why = dlerror();
        PsStatus status = ps_diag_fail(diag, (PsSpan){0}, PS_MSG_DRIVER_LLVM, path, why ? why : "no " ENTRY);
        if (library) dlclose(library);
        return status;
    }
    atexit(ps_driver_close); /* after most of LLVM's own exit functions, hence called before them */
    __atomic_store_n(&codegen_entry, (PsCodegenEntryFn)entry, __ATOMIC_RELEASE);
    return PS_OK;
}

PsStatus driver_llvm_open(PsCodegenEntryFn *out, PsDiag *diag) {
    PsStatus status = PS_OK;
    if (!opened()) {
        ps_rt_lock(&open_lock);
        if (!opened()) status = open_library(diag);
        ps_rt_unlock(&open_lock);
    }
    *out = opened();
    return status;
}

PsStatus ps_driver_llvm_open(PsDiag *diag) {
    PsCodegenEntryFn unused;
    if (!driver_codegen_begin())
        return ps_diag_fail(diag, (PsSpan){0}, PS_MSG_DRIVER_LLVM, "LLVM", "the process is ending");
    PsStatus status = driver_llvm_open(&unused, diag);
    driver_codegen_end();
    return status;
}
