/* SPDX-License-Identifier: Apache-2.0
 *
 * object_evict: keeps the store within its limit. The files' modification times say when they were last used
 * (object_store.c sets them forward on use). Other processes may evict at the same time; a file that is gone already
 * is as good as removed. Files whose names are not ours are left alone, whatever the directory is.
 */
#include "object/object_int.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct Entry {
    int64_t used; /* ns since 1970 */
    uint64_t size;
    char name[OBJECT_NAME_LEN + 1];
} Entry;

typedef struct Entries {
    Entry *data;
    size_t len, cap;
    uint64_t total;
} Entries;

bool object_is_name(const char *name) {
    return strspn(name, "0123456789abcdef") == OBJECT_NAME_LEN && !name[OBJECT_NAME_LEN];
}

static bool push(Entries *entries, const char *name, const struct stat *info) {
    if (entries->len == entries->cap) {
        size_t cap = entries->cap ? entries->cap * 2 : 256;
        Entry *data = ps_realloc(entries->data, cap * sizeof *data);
        if (!data) return false;
        entries->data = data;
        entries->cap = cap;
    }
    Entry *entry = &entries->data[entries->len++];
    entry->used = (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
    entry->size = ((uint64_t)info->st_size + 4095) & ~(uint64_t)4095;
    memcpy(entry->name, name, sizeof entry->name);
    entries->total += entry->size;
    return true;
}

/* What a process left behind that died while writing. */
static void remove_stale(int dir, const char *name, const struct stat *info) {
    if (info->st_mtim.tv_sec < time(NULL) - OBJECT_STALE_HOURS * 3600) unlinkat(dir, name, 0);
}

static bool list(DIR *dir, Entries *entries) {
    const struct dirent *item;
    while ((item = readdir(dir))) {
        bool object = object_is_name(item->d_name);
        bool temporary = strncmp(item->d_name, OBJECT_TEMPORARY, strlen(OBJECT_TEMPORARY)) == 0;
        struct stat info;
        if (!object && !temporary) continue;
        if (fstatat(dirfd(dir), item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
            continue;
        if (temporary) {
            remove_stale(dirfd(dir), item->d_name, &info);
        } else if (!push(entries, item->d_name, &info)) {
            return false;
        }
    }
    return true;
}

static int oldest_first(const void *left, const void *right) {
    const Entry *a = left, *b = right;
    return a->used < b->used ? -1 : a->used > b->used;
}

void object_evict(const char *path, uint64_t limit) {
    Entries entries = {0};
    DIR *dir = opendir(path);
    if (!dir) return;
    if (list(dir, &entries) && entries.len && entries.total > limit) {
        uint64_t keep = limit - limit / 8; /* some room, or each new file would evict again */
        qsort(entries.data, entries.len, sizeof *entries.data, oldest_first);
        for (size_t i = 0; i < entries.len && entries.total > keep; i++) {
            unlinkat(dirfd(dir), entries.data[i].name, 0);
            entries.total -= entries.data[i].size;
        }
    }
    ps_free(entries.data);
    closedir(dir);
}
