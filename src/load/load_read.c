/* SPDX-License-Identifier: Apache-2.0
 *
 * load_read: reads the headers of a relocatable ELF file. The bytes may be anything: each offset, size and index is
 * checked here before use, and headers are copied out because the file's alignment is not known. Not here: deciding
 * where sections go (load_elf.c).
 */
#include "load/load_int.h"

#include <string.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#endif

static bool read_header(LoadImage *image, Elf64_Ehdr *head) {
    if (image->size < sizeof *head) return load_fail(image, "the object is cut short");
    memcpy(head, image->elf, sizeof *head);
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_ident[EI_DATA] != ELFDATA2LSB || head->e_ident[EI_VERSION] != EV_CURRENT)
        return load_fail(image, "the object is not 64-bit little-endian ELF");
    if (head->e_type != ET_REL || head->e_machine != MACHINE)
        return load_fail(image, "the object is not relocatable code for this machine");
    if (head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shnum == 0 ||
        !load_inside(head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr), image->size))
        return load_fail(image, "the section table is outside the object");
    return true;
}

static bool read_symtab(LoadImage *image, const Elf64_Shdr *table) {
    if (image->nsymbols) return load_fail(image, "the object has two symbol tables");
    if (table->sh_entsize != sizeof(Elf64_Sym) || table->sh_link >= image->nsections)
        return load_fail(image, "the symbol table is damaged");
    const Elf64_Shdr *names = &image->sections[table->sh_link];
    if (names->sh_type != SHT_STRTAB || !load_inside(names->sh_offset, names->sh_size, image->size))
        return load_fail(image, "the symbol table has no names");
    image->symtab = table->sh_offset;
    image->nsymbols = (uint32_t)(table->sh_size / sizeof(Elf64_Sym));
    image->strtab = names->sh_offset;
    image->strtab_size = names->sh_size;
    return true;
}

bool load_read_sections(LoadImage *image) {
    Elf64_Ehdr head;
    if (!read_header(image, &head)) return false;
    image->nsections = head.e_shnum;
    image->sections = ps_alloc(image->nsections * sizeof *image->sections);
    image->places = ps_alloc(image->nsections * sizeof *image->places);
    if (!image->sections || !image->places) return load_fail(image, "no memory");
    memcpy(image->sections, image->elf + head.e_shoff, image->nsections * sizeof *image->sections);
    for (uint32_t i = 0; i < image->nsections; i++) {
        const Elf64_Shdr *s = &image->sections[i];
        image->places[i] = LOAD_SKIPPED;
        if (s->sh_type == SHT_NULL) continue;
        if (s->sh_type != SHT_NOBITS && !load_inside(s->sh_offset, s->sh_size, image->size))
            return load_fail(image, "a section is outside the object");
        if (s->sh_type == SHT_SYMTAB && !read_symtab(image, s)) return false;
    }
    return true;
}

Elf64_Sym load_symbol_at(const LoadImage *image, uint32_t index) {
    Elf64_Sym symbol;
    memcpy(&symbol, image->elf + image->symtab + (uint64_t)index * sizeof symbol, sizeof symbol);
    return symbol;
}

const char *load_symbol_name(const LoadImage *image, const Elf64_Sym *symbol) {
    if (symbol->st_name >= image->strtab_size) return NULL;
    const char *name = image->elf + image->strtab + symbol->st_name;
    uint64_t room = image->strtab_size - symbol->st_name;
    return memchr(name, 0, room < LOAD_NAME_MOST ? room : LOAD_NAME_MOST) ? name : NULL;
}

static bool each_of_section(LoadImage *image, const Elf64_Shdr *table, LoadRelaFn act, void *data) {
    if (table->sh_type != SHT_RELA || table->sh_entsize != sizeof(Elf64_Rela))
        return load_fail(image, "a relocation table is of an unknown form");
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table->sh_size; at += sizeof(Elf64_Rela)) {
        Elf64_Rela rela;
        memcpy(&rela, image->elf + table->sh_offset + at, sizeof rela);
        if (ELF64_R_SYM(rela.r_info) >= image->nsymbols)
            return load_fail(image, "a relocation names no symbol");
        if (!act(image, table->sh_info, &rela, data)) return false;
    }
    return true;
}

bool load_each_rela(LoadImage *image, LoadRelaFn act, void *data) {
    for (uint32_t i = 0; i < image->nsections; i++) {
        const Elf64_Shdr *s = &image->sections[i];
        if (s->sh_type != SHT_RELA && s->sh_type != SHT_REL) continue;
        if (s->sh_info >= image->nsections) return load_fail(image, "a relocation table is for no section");
        if (image->places[s->sh_info] == LOAD_SKIPPED) continue;
        if (!each_of_section(image, s, act, data)) return false;
    }
    return true;
}

void load_image_free(LoadImage *image) {
    ps_free(image->sections);
    ps_free(image->places);
    ps_free(image->slots);
    ps_free(image->values);
}
