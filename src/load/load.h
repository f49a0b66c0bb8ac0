/* SPDX-License-Identifier: Apache-2.0
 *
 * load: relocatable ELF in memory -> code that runs. Own loader: sections are laid out in one mapping, relocated
 * against rt's symbol table only (PC32, PLT32, 64, GOTPCRELX, REX_GOTPCRELX, PC64 on x86-64, with a GOT and stubs for
 * what is out of reach; anything else is refused), then made read-only or executable: never writable and executable at
 * once. The input is not trusted to be well-formed: every offset is checked.
 */
#ifndef PS_LOAD_LOAD_H
#define PS_LOAD_LOAD_H

#include "abi/abi.h"
#include "base/base.h"

typedef struct PsLoadedCode PsLoadedCode;
typedef void *(*PsSymbolFn)(const char *name);
/* NULL and *out_error (static text) when the ELF is refused or memory is out. `name` is for debuggers and perf. */
PsLoadedCode *ps_load_elf(const void *elf, size_t size, PsSymbolFn symbols, const char *name,
                          const char **out_error) PS_MUST_CHECK;
void *ps_load_symbol(const PsLoadedCode *code, const char *name); /* a defined function, or NULL */
void ps_load_free(PsLoadedCode *code);                            /* nothing of it may run any more */

#endif
