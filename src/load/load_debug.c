/* SPDX-License-Identifier: Apache-2.0
 *
 * load_debug: tells tools about loaded code, when asked by the environment:
 *
 *   PESTLE_PERF=1   /tmp/perf-PID.map gets a line for each function; `perf report` then shows kernels by name
 *   PESTLE_GDB=1    the object is registered through gdb's JIT interface; backtraces and breakpoints then know it
 *
 * Both are looked at when code is loaded. A map file that can't be written is not an error.
 */
#include "load/load_int.h"

#include "rt/rt.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool asked(const char *variable) {
    const char *value = getenv(variable);
    return value && strcmp(value, "1") == 0;
}

/* -- perf -- */

static bool is_function(const LoadImage *image, const Elf64_Sym *symbol) {
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
           symbol->st_shndx < image->nsections && image->places[symbol->st_shndx] != LOAD_SKIPPED;
}

/* Lines `address size kernel:function`, the numbers in hexadecimal. */
static void list_functions(const PsLoadedCode *code, const LoadImage *image, const char *kernel, PsBuf *out) {
    for (uint32_t i = 0; i < image->nsymbols; i++) {
        Elf64_Sym symbol = load_symbol_at(image, i);
        const char *name = is_function(image, &symbol) ? load_symbol_name(image, &symbol) : NULL;
        if (!name) continue;
        uint64_t address = (uint64_t)(uintptr_t)code->base + image->places[symbol.st_shndx] + symbol.st_value;
        ps_buf_printf(out, "%" PRIx64 " %" PRIx64 " %s:%s\n", address, symbol.st_size, kernel, name);
    }
}

static void write_perf_map(const PsLoadedCode *code, const LoadImage *image, const char *kernel) {
    char path[64];
    PsBuf text = {0};
    list_functions(code, image, kernel, &text);
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) {
        ssize_t written = text.len ? write(fd, text.data, text.len) : 0;
        (void)written; /* a map is a help, no more */
        close(fd);
    }
    ps_buf_free(&text);
}

/* -- gdb: the structures and the two names are gdb's ("JIT Compilation Interface" in its manual) -- */

typedef struct JitEntry {
    struct JitEntry *next, *prev;
    const char *symfile;
    uint64_t symfile_size;
} JitEntry;
typedef struct JitDescriptor {
    uint32_t version, action;
    JitEntry *relevant, *first;
} JitDescriptor;
enum { JIT_REGISTER = 1, JIT_UNREGISTER = 2 };

#define FOR_GDB __attribute__((visibility("default"), used))
FOR_GDB JitDescriptor __jit_debug_descriptor = {.version = 1};
FOR_GDB __attribute__((noinline)) void __jit_debug_register_code(void) { __asm__ volatile("" : : : "memory"); }
static PsLock jit_lock; /* of the list */

typedef struct LoadDebug {
    JitEntry entry;
    char elf[]; /* with addresses in its section headers */
} LoadDebug;

static void tell_gdb(JitEntry *entry, uint32_t action) {
    __jit_debug_descriptor.action = action;
    __jit_debug_descriptor.relevant = entry;
    __jit_debug_register_code();
}

static LoadDebug *copy_for_gdb(const PsLoadedCode *code, const LoadImage *image) {
    LoadDebug *debug = ps_alloc(sizeof *debug + image->size);
    if (!debug) return NULL;
    Elf64_Ehdr head;
    memcpy(debug->elf, image->elf, image->size);
    memcpy(&head, image->elf, sizeof head);
    for (uint32_t i = 0; i < image->nsections; i++) {
        if (image->places[i] == LOAD_SKIPPED) continue;
        Elf64_Shdr section = image->sections[i];
        section.sh_addr = (uint64_t)(uintptr_t)code->base + image->places[i];
        memcpy(debug->elf + head.e_shoff + i * sizeof section, &section, sizeof section);
    }
    debug->entry.symfile = debug->elf;
    debug->entry.symfile_size = image->size;
    return debug;
}

static void register_with_gdb(PsLoadedCode *code, const LoadImage *image) {
    code->debug = copy_for_gdb(code, image);
    if (!code->debug) return;
    JitEntry *entry = &code->debug->entry;
    ps_rt_lock(&jit_lock);
    entry->next = __jit_debug_descriptor.first;
    if (entry->next) entry->next->prev = entry;
    __jit_debug_descriptor.first = entry;
    tell_gdb(entry, JIT_REGISTER);
    ps_rt_unlock(&jit_lock);
}

void load_debug_register(PsLoadedCode *code, const LoadImage *image, const char *name) {
    if (asked("PESTLE_PERF")) write_perf_map(code, image, name);
    if (asked("PESTLE_GDB")) register_with_gdb(code, image);
}

void load_debug_unregister(PsLoadedCode *code) {
    if (!code->debug) return;
    JitEntry *entry = &code->debug->entry;
    ps_rt_lock(&jit_lock);
    if (entry->next) entry->next->prev = entry->prev;
    if (entry->prev)
        entry->prev->next = entry->next;
    else
        __jit_debug_descriptor.first = entry->next;
    tell_gdb(entry, JIT_UNREGISTER);
    ps_rt_unlock(&jit_lock);
    ps_free(code->debug);
    code->debug = NULL;
}
