/* SPDX-License-Identifier: Apache-2.0
 *
 * data_storage: memory of arrays. Small ones come from the allocator, with the header in front; large ones are mapped,
 * on the bounds of huge pages, which the system is asked for: the first use of a large array then takes one page fault
 * where it took 512. Zeroed either way. Not here: shapes (layout), Python objects (py).
 */
#include "data/data.h"

#include <sys/mman.h>

#define ALIGN     64u
#define SLACK     256u
#define HUGE_PAGE ((size_t)2 << 20)
#ifdef PS_HOSTILE
#define MAPPED_BYTES ((size_t)4096)
#else
#define MAPPED_BYTES ((size_t)4 << 20) /* from here on arrays are mapped */
#endif

/* Address space for the size and one huge page more, trimmed to whole huge pages' bounds. */
static char *map_aligned(size_t size) {
    size_t room = size + HUGE_PAGE;
    char *start = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    size_t before = (HUGE_PAGE - (uintptr_t)start % HUGE_PAGE) % HUGE_PAGE;
    if (before) munmap(start, before);
    munmap(start + before + size, room - before - size);
    madvise(start + before, size, MADV_HUGEPAGE);
    return start + before;
}

/* Of a mapped array, as the kernel counts it. */
static size_t mapped_size(size_t size) { return (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1); }

static PsStorage *new_mapped(size_t size) {
    PsStorage *storage = ps_alloc(sizeof *storage);
    if (!storage) return NULL;
    storage->data = map_aligned(mapped_size(size));
    if (storage->data) return storage;
    ps_free(storage);
    return NULL;
}

/* Peers round each axis of a field up to a power of two, so programs that write a little behind the end are not noticed
 * there. Without checks they should not find the allocator's own data here. */
static size_t with_slack(size_t size) {
#ifdef PS_HOSTILE
    return size; /* the sanitizer is to see it */
#else
    size_t room = SLACK;
    while (room < size) room *= 2;
    return room + SLACK;
#endif
}

static PsStorage *new_small(size_t size) {
    char *block = ps_alloc(sizeof(PsStorage) + ALIGN + with_slack(size));
    if (!block) return NULL;
    PsStorage *storage = (PsStorage *)block;
    char *first = block + sizeof *storage;
    storage->data = first + (ALIGN - (uintptr_t)first % ALIGN) % ALIGN;
    return storage;
}

PsStorage *ps_storage_new(size_t size) {
    if (size > SIZE_MAX / 4) return NULL;
    PsStorage *storage = size >= MAPPED_BYTES ? new_mapped(size) : new_small(size);
    if (!storage) return NULL;
    storage->size = size;
    storage->refs = 1;
    return storage;
}

void ps_storage_retain(PsStorage *storage) { __atomic_fetch_add(&storage->refs, 1, __ATOMIC_RELAXED); }

void ps_storage_release(PsStorage *storage) {
    if (!storage || __atomic_sub_fetch(&storage->refs, 1, __ATOMIC_ACQ_REL) > 0) return;
    if (storage->size >= MAPPED_BYTES) munmap(storage->data, mapped_size(storage->size));
    ps_free(storage);
}
