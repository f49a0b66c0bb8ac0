/* SPDX-License-Identifier: Apache-2.0
 *
 * object: the container of compiled code, and the store of such containers by content hash: memory of bytes on disk.
 * Knows bytes, not LLVM. Layout of a file: a head, fault sites, ELF, and a checksum of all before it (object_file.c).
 *
 * The store: directory PESTLE_CACHE_DIR, else $XDG_CACHE_HOME/pestle, else ~/.cache/pestle; made 0700; one that
 * belongs to another user is refused; missing: no cache and one warning (returned as text, given by py); read-only or
 * full: nothing is written any more, and the same. Files are written under a temporary name and renamed; a bad file is
 * removed and counts as missing.
 * Eviction: when the total passes a limit (default 512 MiB, PESTLE_CACHE_LIMIT_MB), least recently used first.
 */
#ifndef PS_OBJECT_OBJECT_H
#define PS_OBJECT_OBJECT_H

#include "abi/abi.h"
#include "base/base.h"

typedef struct PsObjectSite { /* a fault site */
    uint32_t kind;
    PsSpan span;
} PsObjectSite;

typedef struct PsObject { /* points into `bytes` after reading */
    uint32_t param_words, result_words, frame_words, ntasks, flags;
    const PsObjectSite *sites;
    uint32_t nsites;
    const char *elf;
    size_t elf_size;
    void *bytes; /* owned; ps_object_free */
    size_t size;
} PsObject;
#define PS_OBJECT_UNBOUNDED 1u /* PsCode.has_unbounded_loops */
#define PS_OBJECT_NESTED    2u /* PsCode.has_nested_loops */
#define PS_OBJECT_RECURSIVE 4u /* PsCode.has_recursion */

/* object_file.c */
PsStatus ps_object_write(const PsObject *object, PsBuf *out) PS_MUST_CHECK;
/* Takes over `bytes` (from ps_alloc) on success. False: not an object, damaged, or of another version. */
bool ps_object_read(void *bytes, size_t size, PsObject *out);
void ps_object_free(PsObject *object);

/* object_store.c; thread-safe, and safe between processes. */
typedef struct PsStore PsStore;
/* NULL: no cache; *out_warning, if there is memory for it, says why and is the caller's (ps_free). */
PsStore *ps_store_open(const char *dir /* NULL: as above */, const char **out_warning);
void ps_store_close(PsStore *store);
bool ps_store_get(PsStore *store, const PsHash *key, PsObject *out);
void ps_store_put(PsStore *store, const PsHash *key, const void *bytes, size_t size); /* best effort */
const char *ps_store_warning(const PsStore *store); /* why nothing is written any more, or NULL; the store's */
const char *ps_store_dir(const PsStore *store);

#endif
