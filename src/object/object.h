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

#define PS_OBJECT_NAME_SIZE 64
typedef struct PsObject { /* points into `bytes` after reading */
    uint32_t param_words, result_words, frame_words, ntasks, flags;
    const char *name; /* of the kernel, for people; may be NULL when writing */
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
/* The kernel's name from the first bytes of a container; 512 are enough. False: it is none of this version. */
bool ps_object_peek(const char *bytes, size_t size, char out_name[PS_OBJECT_NAME_SIZE]);
uint64_t ps_object_checksum(const char *bytes,
                            size_t size); /* what stands behind the bytes; size: of whole words */

/* object_store.c; thread-safe, and safe between processes. */
typedef struct PsStore PsStore;
/* NULL: no cache; *out_warning, if there is memory for it, says why and is the caller's (ps_free). */
PsStore *ps_store_open(const char *dir /* NULL: as above */, const char **out_warning);
void ps_store_close(PsStore *store);
bool ps_store_get(PsStore *store, const PsHash *key, PsObject *out);
void ps_store_put(PsStore *store, const PsHash *key, const void *bytes, size_t size); /* best effort */
const char *ps_store_warning(const PsStore *store); /* why nothing is written any more, or NULL; the store's */
const char *ps_store_dir(const PsStore *store);
uint64_t ps_store_limit(const PsStore *store); /* in bytes */

/* object_list.c: for people who look at the store. */
typedef struct PsStoreEntry {
    char key[65];                   /* in hexadecimal: the file's name */
    char name[PS_OBJECT_NAME_SIZE]; /* of the kernel; "": of another version of Pestle, or damaged */
    uint64_t size;                  /* in bytes */
    int64_t used;                   /* seconds since 1970, to the hour */
} PsStoreEntry;
typedef struct PsStoreList {
    PsStoreEntry *entries; /* last used first */
    size_t len;
} PsStoreList;
/* All files of kernels; false: the directory can't be read, or no memory. */
bool ps_store_list(const PsStore *store, PsStoreList *out) PS_MUST_CHECK;
void ps_store_list_free(PsStoreList *list);
/* Removes all files of kernels and what writing left behind; the number of files that were removed, -1: errno. */
int64_t ps_store_clear(const PsStore *store);

#endif
