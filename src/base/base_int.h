/* SPDX-License-Identifier: Apache-2.0
 *
 * base_int: what files of base share and nobody else needs.
 */
#ifndef PS_BASE_INT_H
#define PS_BASE_INT_H

#include "base/base.h"

struct PsMapEntry {
    const char *key; /* NUL-terminated copy in the map's arena; NULL: free slot */
    size_t len;
    uint64_t hash;
    uint64_t value;
};
/* The key's entry, made (with value 0) when absent; NULL: no memory, and the map is as before. */
PsMapEntry *base_map_entry(PsMap *map, const void *key, size_t len);

#endif
