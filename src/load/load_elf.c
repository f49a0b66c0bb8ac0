/* SPDX-License-Identifier: Apache-2.0
 *
 * load_elf: relocatable ELF -> running code, in one mapping:
 *
 *     text sections, stubs | constants, GOT | writable data          each part from a page on
 *     read + execute       | read           | read + write           once loaded; all writable before
 *
 * Relocations are those that LLVM and gcc emit for position-independent code of the small model on x86-64. Symbols
 * that the object does not define come from the caller's table and may be out of reach of a 32-bit displacement: each
 * has a GOT entry and a stub that jumps through it. Not here: any other machine; C++ initialisers, thread-local
 * variables, common symbols (all refused).
 */
#include "load/load_int.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_BYTES ((uint64_t)1 << 30) /* so that a displacement within the mapping fits 32 bits */
#define STUB_BYTES 16
#define GOT_BYTES  8

typedef struct LoadSymbol {
    const char *name;
    void *address;
} LoadSymbol;

/* -- where sections go -- */

typedef enum Part { PART_NONE, PART_TEXT, PART_CONST, PART_DATA, PART_REFUSED } Part;

static Part part_of(const Elf64_Shdr *s) {
    if (!(s->sh_flags & SHF_ALLOC) || s->sh_type == SHT_NOTE) return PART_NONE;
    if (s->sh_type != SHT_PROGBITS && s->sh_type != SHT_NOBITS && s->sh_type != SHT_X86_64_UNWIND)
        return PART_REFUSED;
    if (s->sh_flags & (SHF_TLS | SHF_COMPRESSED)) return PART_REFUSED;
    bool write = s->sh_flags & SHF_WRITE, execute = s->sh_flags & SHF_EXECINSTR;
    if (write && execute) return PART_REFUSED;
    return execute ? PART_TEXT : write ? PART_DATA : PART_CONST;
}

/* Rounds *at up to a power of two and moves it on by `size`; the place, or LOAD_SKIPPED when there is too much. */
static size_t take(uint64_t *at, uint64_t align, uint64_t size) {
    uint64_t place = (*at + align - 1) & ~(align - 1);
    if (place > MOST_BYTES || size > MOST_BYTES - place) return LOAD_SKIPPED;
    *at = place + size;
    return place;
}

static bool place_part(LoadImage *image, Part part, uint64_t page, uint64_t *at) {
    for (uint32_t i = 0; i < image->nsections; i++) {
        const Elf64_Shdr *s = &image->sections[i];
        if (part_of(s) != part) continue;
        uint64_t align = s->sh_addralign ? s->sh_addralign : 1;
        if (align > page || (align & (align - 1)))
            return load_fail(image, "a section has an unusable alignment");
        image->places[i] = take(at, align, s->sh_size);
        if (image->places[i] == LOAD_SKIPPED) return load_fail(image, "the object is too large");
    }
    return true;
}

static bool place_sections(LoadImage *image) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), at = 0;
    for (uint32_t i = 0; i < image->nsections; i++)
        if (part_of(&image->sections[i]) == PART_REFUSED)
            return load_fail(image, "the object has a section of a kind that is not loaded");
    if (!place_part(image, PART_TEXT, page, &at)) return false;
    image->stubs = take(&at, STUB_BYTES, (uint64_t)image->nslots * STUB_BYTES);
    image->text_size = at;
    image->const_start = take(&at, page, 0);
    if (image->stubs == LOAD_SKIPPED || image->const_start == LOAD_SKIPPED) goto too_large;
    if (!place_part(image, PART_CONST, page, &at)) return false;
    image->got = take(&at, GOT_BYTES, (uint64_t)image->nslots * GOT_BYTES);
    image->const_size = at - image->const_start;
    if (image->got == LOAD_SKIPPED || take(&at, page, 0) == LOAD_SKIPPED) goto too_large;
    if (!place_part(image, PART_DATA, page, &at)) return false;
    image->total = at;
    return true;
too_large:
    return load_fail(image, "the object is too large");
}

/* -- symbols -- */

static bool goes_through_got(uint32_t type) {
    return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
}

/* Sections that relocations may touch are known by part_of; places are not decided yet. Gives a slot to each symbol
 * that is not defined here or is wanted through the GOT. */
static bool give_slot(LoadImage *image, uint32_t target, const Elf64_Rela *rela, void *data) {
    (void)target, (void)data;
    uint32_t index = ELF64_R_SYM(rela->r_info), type = ELF64_R_TYPE(rela->r_info);
    Elf64_Sym symbol = load_symbol_at(image, index);
    bool wanted = goes_through_got(type) || (index != 0 && symbol.st_shndx == SHN_UNDEF);
    if (wanted && !image->slots[index]) image->slots[index] = ++image->nslots;
    return true;
}

static bool give_slots(LoadImage *image) {
    size_t count = image->nsymbols ? image->nsymbols : 1;
    image->slots = ps_alloc(count * sizeof *image->slots);
    image->values = ps_alloc(count * sizeof *image->values);
    if (!image->slots || !image->values) return load_fail(image, "no memory");
    for (uint32_t i = 0; i < image->nsections; i++)
        if (part_of(&image->sections[i]) != PART_NONE) image->places[i] = 0;
    return load_each_rela(image, give_slot, NULL);
}

static bool find_outside(LoadImage *image, const Elf64_Sym *symbol, PsSymbolFn symbols, uint64_t *out) {
    const char *name = load_symbol_name(image, symbol);
    void *address = name && *name ? symbols(name) : NULL;
    if (!address) return load_fail(image, "the object refers to a function that the runtime does not have");
    *out = (uint64_t)(uintptr_t)address;
    return true;
}

/* The address of a symbol, kept in image->values. */
static bool find_value(LoadImage *image, const char *base, uint32_t index, PsSymbolFn symbols) {
    if (index == 0 || image->values[index]) return true;
    Elf64_Sym symbol = load_symbol_at(image, index);
    uint32_t section = symbol.st_shndx;
    if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS || ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
        return load_fail(image, "a symbol is of a kind that is not loaded");
    if (section == SHN_UNDEF) return find_outside(image, &symbol, symbols, &image->values[index]);
    if (section == SHN_ABS) {
        image->values[index] = symbol.st_value;
        return true;
    }
    if (section >= image->nsections || image->places[section] == LOAD_SKIPPED)
        return load_fail(image, "a symbol is in no loaded section");
    if (symbol.st_value > image->sections[section].sh_size)
        return load_fail(image, "a symbol is outside its section");
    image->values[index] = (uint64_t)(uintptr_t)base + image->places[section] + symbol.st_value;
    return true;
}

/* -- relocation -- */

typedef struct Relocation {
    char *base;
    PsSymbolFn symbols;
} Relocation;

static bool store_32(LoadImage *image, char *at, uint64_t value) {
    int32_t narrow = (int32_t)value;
    if ((uint64_t)(int64_t)narrow != value) return load_fail(image, "a displacement does not fit 32 bits");
    memcpy(at, &narrow, sizeof narrow);
    return true;
}

static bool store_64(char *at, uint64_t value) {
    memcpy(at, &value, sizeof value);
    return true;
}

/* Calls go straight to the symbol when it is in reach, else to its stub. */
static uint64_t call_target(const LoadImage *image, const char *base, uint32_t index, uint64_t relative) {
    uint64_t direct = image->values[index] + relative;
    if (!image->slots[index] || (uint64_t)(int64_t)(int32_t)direct == direct) return direct;
    return (uint64_t)(uintptr_t)base + image->stubs + (uint64_t)(image->slots[index] - 1) * STUB_BYTES +
           relative;
}

static bool relocate(LoadImage *image, uint32_t target, const Elf64_Rela *rela, void *data) {
    const Relocation *r = data;
    uint32_t index = ELF64_R_SYM(rela->r_info), type = ELF64_R_TYPE(rela->r_info);
    if (type == R_X86_64_NONE) return true;
    bool wide = type == R_X86_64_64 || type == R_X86_64_PC64;
    if (!load_inside(rela->r_offset, wide ? 8 : 4, image->sections[target].sh_size))
        return load_fail(image, "a relocation is outside its section");
    if (image->sections[target].sh_type == SHT_NOBITS)
        return load_fail(image, "a relocation is in zeroed data");
    if (!find_value(image, r->base, index, r->symbols)) return false;
    char *at = r->base + image->places[target] + rela->r_offset;
    uint64_t addend = (uint64_t)rela->r_addend, relative = addend - (uint64_t)(uintptr_t)at;
    switch (type) {
    case R_X86_64_64: return store_64(at, image->values[index] + addend);
    case R_X86_64_PC64: return store_64(at, image->values[index] + relative);
    case R_X86_64_PC32:
    case R_X86_64_PLT32: return store_32(image, at, call_target(image, r->base, index, relative));
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: {
        uint64_t entry =
            (uint64_t)(uintptr_t)r->base + image->got + (uint64_t)(image->slots[index] - 1) * GOT_BYTES;
        return store_32(image, at, entry + relative);
    }
    default: return load_fail(image, "the object has a relocation of a kind that is not loaded");
    }
}

/* Each slot: its GOT entry, and `jmp *entry(%rip)` as its stub. */
static bool fill_slots(LoadImage *image, char *base, PsSymbolFn symbols) {
    for (uint32_t index = 0; index < image->nsymbols && image->nslots; index++) {
        if (!image->slots[index]) continue;
        if (!find_value(image, base, index, symbols)) return false;
        size_t slot = image->slots[index] - 1;
        char *entry = base + image->got + slot * GOT_BYTES, *stub = base + image->stubs + slot * STUB_BYTES;
        store_64(entry, image->values[index]);
        memset(stub, 0xcc, STUB_BYTES);
        stub[0] = (char)0xff;
        stub[1] = 0x25;
        if (!store_32(image, stub + 2, (uint64_t)(entry - (stub + 6)))) return false;
    }
    return true;
}

static void copy_sections(const LoadImage *image, char *base) {
    for (uint32_t i = 0; i < image->nsections; i++) {
        const Elf64_Shdr *s = &image->sections[i];
        if (image->places[i] != LOAD_SKIPPED && s->sh_type != SHT_NOBITS && s->sh_size)
            memcpy(base + image->places[i], image->elf + s->sh_offset, s->sh_size);
    }
}

static bool protect(LoadImage *image, char *base) {
    __builtin___clear_cache(base, base + image->text_size);
    if (mprotect(base, image->const_start, PROT_READ | PROT_EXEC) != 0)
        return load_fail(image, "the system forbids executable memory");
    if (image->const_size && mprotect(base + image->const_start, image->const_size, PROT_READ) != 0)
        return load_fail(image, "no memory");
    return true;
}

/* -- what stays -- */

static bool is_entry(const LoadImage *image, const Elf64_Sym *symbol) {
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL) return false;
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= image->nsections) return false;
    return part_of(&image->sections[symbol->st_shndx]) == PART_TEXT &&
           symbol->st_value < image->sections[symbol->st_shndx].sh_size;
}

/* The global functions, so that ps_load_symbol needs the ELF no more. */
static bool keep_symbols(LoadImage *image, PsLoadedCode *code) {
    size_t count = 0, text = 0;
    for (uint32_t i = 0; i < image->nsymbols; i++) {
        Elf64_Sym symbol = load_symbol_at(image, i);
        const char *name = is_entry(image, &symbol) ? load_symbol_name(image, &symbol) : NULL;
        if (name) count++, text += strlen(name) + 1;
    }
    code->symbols = ps_alloc(count * sizeof *code->symbols + text);
    if (!code->symbols) return load_fail(image, "no memory");
    char *names = (char *)(code->symbols + count);
    for (uint32_t i = 0; i < image->nsymbols; i++) {
        Elf64_Sym symbol = load_symbol_at(image, i);
        const char *name = is_entry(image, &symbol) ? load_symbol_name(image, &symbol) : NULL;
        if (!name) continue;
        size_t len = strlen(name) + 1;
        memcpy(names, name, len);
        char *address = code->base + image->places[symbol.st_shndx] + symbol.st_value;
        code->symbols[code->nsymbols++] = (LoadSymbol){names, address};
        names += len;
    }
    return true;
}

static bool load(LoadImage *image, PsSymbolFn symbols, PsLoadedCode *code) {
    if (!load_read_sections(image) || !give_slots(image) || !place_sections(image)) return false;
    if (!image->text_size) return load_fail(image, "the object has no code");
    code->base = mmap(NULL, image->total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code->base == MAP_FAILED) {
        code->base = NULL;
        return load_fail(image, "no memory");
    }
    code->size = image->total;
    copy_sections(image, code->base);
    Relocation r = {code->base, symbols};
    return fill_slots(image, code->base, symbols) && load_each_rela(image, relocate, &r) &&
           protect(image, code->base) && keep_symbols(image, code);
}

PsLoadedCode *ps_load_elf(const void *elf, size_t size, PsSymbolFn symbols, const char *name,
                          const char **out_error) {
#if !defined(__x86_64__)
    (void)elf, (void)size, (void)symbols, (void)name;
    *out_error = "machine code is loaded on x86-64 only";
    return NULL;
#else
    LoadImage image = {.elf = elf, .size = size};
    PsLoadedCode *code = ps_alloc(sizeof *code);
    if (!code) {
        *out_error = "no memory";
        return NULL;
    }
    if (load(&image, symbols, code)) {
        load_debug_register(code, &image, name);
    } else {
        *out_error = image.error;
        ps_load_free(code);
        code = NULL;
    }
    load_image_free(&image);
    return code;
#endif
}

void *ps_load_symbol(const PsLoadedCode *code, const char *name) {
    for (uint32_t i = 0; i < code->nsymbols; i++)
        if (strcmp(code->symbols[i].name, name) == 0) return code->symbols[i].address;
    return NULL;
}

void ps_load_free(PsLoadedCode *code) {
    if (!code) return;
    load_debug_unregister(code);
    if (code->base) munmap(code->base, code->size);
    ps_free(code->symbols);
    ps_free(code);
}
