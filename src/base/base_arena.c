/* SPDX-License-Identifier: Apache-2.0
 *
 * base_arena: bump allocation. Blocks double in size up to a limit, so that a small compilation touches few pages
 * and a large one makes few calls. Blocks come zeroed and are handed out once, so nothing is cleared twice; a vector
 * that was the last thing allocated grows where it stands.
 */
#include "base/base.h"

#include <stdio.h>
#include <string.h>

#define ALIGN 16
#ifdef PS_HOSTILE /* each allocation is a block of its own: it can fail, and overruns are seen */
#define FIRST_BLOCK ((size_t)ALIGN)
#define LAST_BLOCK  ((size_t)ALIGN)
#else
#define FIRST_BLOCK ((size_t)16 << 10)
#define LAST_BLOCK  ((size_t)1 << 20)
#endif
#define MAX_ITEMS ((uint32_t)1 << 31)

struct PsArenaBlock {
    _Alignas(ALIGN) PsArenaBlock *next; /* the one made before */
    size_t size;                        /* of the room after this head */
};

void ps_arena_init(PsArena *arena) { *arena = (PsArena){0}; }

void ps_arena_free(PsArena *arena) {
    for (PsArenaBlock *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        ps_free(block);
    }
    ps_arena_init(arena);
}

/* A block with room for at least `size`; larger requests get one of their own behind the current one. */
static void *alloc_block(PsArena *arena, size_t size) {
    size_t room = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
    if (room > LAST_BLOCK) room = LAST_BLOCK;
    bool own = size > room / 2 && arena->blocks;
    if (own || size > room) room = size;
    if (room > SIZE_MAX / 2) goto fail;
    PsArenaBlock *block = ps_alloc(sizeof *block + room);
    if (!block) goto fail;
    block->size = room;
    char *data = (char *)(block + 1);
    arena->total += size;
    if (own) {
        block->next = arena->blocks->next;
        arena->blocks->next = block;
        return data;
    }
    block->next = arena->blocks;
    arena->blocks = block;
    arena->at = data + size;
    arena->end = data + room;
    return data;
fail:
    arena->failed = true;
    return NULL;
}

void *ps_arena_alloc(PsArena *arena, size_t size) {
    if (PS_UNLIKELY(size > SIZE_MAX / 4)) {
        arena->failed = true;
        return NULL;
    }
    size = size ? (size + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;
    if (PS_UNLIKELY(size > (size_t)(arena->end - arena->at))) return alloc_block(arena, size);
    void *memory = arena->at;
    arena->at += size;
    arena->total += size;
    return memory;
}

char *ps_arena_copy(PsArena *arena, const char *text, size_t len) {
    char *copy = ps_arena_alloc(arena, len + 1);
    if (copy && len) memcpy(copy, text, len);
    return copy;
}

char *ps_arena_format(PsArena *arena, const char *format, ...) {
    va_list args;
    char small[256];
    va_start(args, format);
    int len = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (len < 0) {
        arena->failed = true;
        return NULL;
    }
    if ((size_t)len < sizeof small) return ps_arena_copy(arena, small, (size_t)len);
    char *text = ps_arena_alloc(arena, (size_t)len + 1);
    if (!text) return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}

/* `data` points to the vector's data pointer, whatever its type; read and written as bytes for that reason. */
bool ps_vec_grow(PsArena *arena, void **data, uint32_t *cap, size_t item, uint32_t need) {
    if (need > MAX_ITEMS || need < *cap) {
        arena->failed = true;
        return false;
    }
    uint32_t grown = *cap ? (*cap > MAX_ITEMS / 2 ? MAX_ITEMS : *cap * 2) : 8;
    if (grown < need) grown = need;
    char *old;
    memcpy(&old, data, sizeof old);
    size_t used = ((size_t)*cap * item + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    size_t size = ((size_t)grown * item + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (old && old + used == arena->at && size - used <= (size_t)(arena->end - arena->at)) {
        arena->at += size - used;
        arena->total += size - used;
        *cap = grown;
        return true;
    }
    char *room = ps_arena_alloc(arena, size);
    if (!room) return false;
    if (old) memcpy(room, old, (size_t)*cap * item);
    memcpy(data, &room, sizeof room);
    *cap = grown;
    return true;
}
