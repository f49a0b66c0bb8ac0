/* SPDX-License-Identifier: Apache-2.0
 *
 * object_int: what the files of object share and nobody else needs.
 */
#ifndef PS_OBJECT_OBJECT_INT_H
#define PS_OBJECT_OBJECT_INT_H

#include "object/object.h"

#define OBJECT_NAME_LEN    64     /* a file's name: the key in hexadecimal */
#define OBJECT_TEMPORARY   "tmp-" /* how names of files that are being written begin */
#define OBJECT_STALE_HOURS 1      /* after which a temporary file belongs to nobody */

/* object_dir.c: the directory of the store, made if need be, as an absolute path (ps_free it). NULL and a warning
 * (from ps_alloc) when there is none to use. *out_cause: 0, or the errno that says why it can't be written. */
char *object_find_dir(const char *dir, char **out_warning, int *out_cause);
/* The message's text with its arguments, from ps_alloc; NULL: no memory. */
char *object_warning(PsMessageId id, ...);
/* Bytes, of PESTLE_CACHE_LIMIT_MB; a warning (from ps_alloc) where that is none. */
uint64_t object_read_limit(char **out_warning);

bool object_is_name(const char *name); /* object_evict.c: whether a file's name is a key */
/* object_evict.c: removes the least recently used files until the rest is well below the limit. */
void object_evict(const char *dir, uint64_t limit);

#endif
