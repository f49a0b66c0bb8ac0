/* SPDX-License-Identifier: Apache-2.0
 *
 * load_int: what the files of load share and nobody else needs.
 */
#ifndef PS_LOAD_LOAD_INT_H
#define PS_LOAD_LOAD_INT_H

#include "load/load.h"

#include <elf.h>

#define LOAD_SKIPPED   ((size_t)-1)
#define LOAD_NAME_MOST 4096 /* bytes of a symbol's name */

/* An object while it is being loaded: its headers, copied and checked, and where its parts go. */
typedef struct LoadImage {
    const char *elf;
    size_t size;
    Elf64_Shdr *sections;
    size_t *places; /* of each section in the mapping, or LOAD_SKIPPED */
    uint32_t nsections;
    uint64_t symtab, strtab; /* offsets in the ELF */
    uint32_t nsymbols;
    uint64_t strtab_size;
    uint32_t *slots;  /* of each symbol: 1 + number of its GOT entry and stub, 0: has none */
    uint64_t *values; /* addresses of the symbols that relocations name */
    uint32_t nslots;
    size_t text_size, const_start, const_size,
        total;         /* of the mapping: text | constants | data, on page bounds */
    size_t stubs, got; /* after the sections of text, and of constants */
    const char *error; /* static text */
} LoadImage;

struct PsLoadedCode {
    char *base;
    size_t size;
    struct LoadSymbol *symbols; /* global functions; names follow in the same allocation */
    uint32_t nsymbols;
    struct LoadDebug *debug; /* registration with gdb, or NULL */
};

static inline bool load_fail(LoadImage *image, const char *error) {
    if (!image->error) image->error = error;
    return false;
}
static inline bool load_inside(uint64_t offset, uint64_t len, uint64_t size) {
    return offset <= size && len <= size - offset;
}

/* load_read.c: headers in, checked. */
bool load_read_sections(LoadImage *image);
Elf64_Sym load_symbol_at(const LoadImage *image, uint32_t index);              /* index < nsymbols */
const char *load_symbol_name(const LoadImage *image, const Elf64_Sym *symbol); /* NULL: not in the table */
void load_image_free(LoadImage *image);
/* Each relocation of a section that is loaded, until the function says false. */
typedef bool (*LoadRelaFn)(LoadImage *image, uint32_t target, const Elf64_Rela *rela, void *data);
bool load_each_rela(LoadImage *image, LoadRelaFn act, void *data);

/* load_debug.c */
void load_debug_register(PsLoadedCode *code, const LoadImage *image, const char *name);
void load_debug_unregister(PsLoadedCode *code);

#endif
