/* SPDX-License-Identifier: Apache-2.0
 *
 * base_map: a hash map from byte strings to 64-bit values. Open addressing with linear probing, a power of two of
 * slots, at most three quarters full; growing leaves the old table to the arena. Nothing is ever deleted, so no
 * tombstones. The hash serves this process only and is never stored.
 */
#include "base/base_int.h"

#include <string.h>

#define FIRST_CAP 16
#define MAX_CAP   ((uint32_t)1 << 30)

static uint64_t mix(uint64_t a, uint64_t b) {
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_bytes(const char *bytes, size_t len) {
    uint64_t hash = 0x9e3779b97f4a7c15u ^ len, word;
    for (; len >= 8; bytes += 8, len -= 8) {
        memcpy(&word, bytes, 8);
        hash = mix(hash ^ word, 0xd6e8feb86659fd93u);
    }
    word = 0;
    if (len) memcpy(&word, bytes, len);
    return mix(hash ^ word, 0xa0761d6478bd642fu);
}

void ps_map_init(PsMap *map, PsArena *arena) { *map = (PsMap){.arena = arena}; }

/* The key's slot, or the free one where it belongs. The table has a free slot. */
static PsMapEntry *find_slot(const PsMap *map, const void *key, size_t len, uint64_t hash) {
    for (uint32_t mask = map->cap - 1, i = (uint32_t)hash & mask;; i = (i + 1) & mask) {
        PsMapEntry *entry = &map->entries[i];
        if (!entry->key) return entry;
        if (entry->hash == hash && entry->len == len && (!len || !memcmp(entry->key, key, len))) return entry;
    }
}

static bool grow(PsMap *map) {
    if (map->cap >= MAX_CAP) {
        map->arena->failed = true;
        return false;
    }
    PsMap bigger = {.arena = map->arena, .len = map->len, .cap = map->cap ? map->cap * 2 : FIRST_CAP};
    bigger.entries = ps_arena_alloc(map->arena, bigger.cap * sizeof *bigger.entries);
    if (!bigger.entries) return false;
    for (uint32_t i = 0; i < map->cap; i++) {
        const PsMapEntry *entry = &map->entries[i];
        if (entry->key) *find_slot(&bigger, entry->key, entry->len, entry->hash) = *entry;
    }
    *map = bigger;
    return true;
}

PsMapEntry *base_map_entry(PsMap *map, const void *key, size_t len) {
    uint64_t hash = hash_bytes(key, len);
    if (map->cap) {
        PsMapEntry *found = find_slot(map, key, len, hash);
        if (found->key) return found;
    }
    if (map->len >= map->cap / 4 * 3 && !grow(map)) return NULL;
    const char *copy = ps_arena_copy(map->arena, key, len);
    if (!copy) return NULL;
    PsMapEntry *entry = find_slot(map, key, len, hash);
    *entry = (PsMapEntry){.key = copy, .len = len, .hash = hash};
    map->len++;
    return entry;
}

bool ps_map_put(PsMap *map, const void *key, size_t len, uint64_t value) {
    PsMapEntry *entry = base_map_entry(map, key, len);
    if (!entry) return false;
    entry->value = value;
    return true;
}

bool ps_map_get(const PsMap *map, const void *key, size_t len, uint64_t *out_value) {
    if (!map->len) return false;
    const PsMapEntry *entry = find_slot(map, key, len, hash_bytes(key, len));
    if (!entry->key) return false;
    *out_value = entry->value;
    return true;
}
