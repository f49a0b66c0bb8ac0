/* SPDX-License-Identifier: Apache-2.0
 *
 * object_list: what the store holds, for `pestle cache`: a list of its files with the names of their kernels, and
 * removing them all. Other processes may use the directory meanwhile: a file that is gone is left out, one that comes is
 * left alone.
 */
#include "object/object_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void read_name(int dir, const char *file, char out[PS_OBJECT_NAME_SIZE]) {
    char head[512];
    int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : read(fd, head, sizeof head);
    if (fd >= 0) close(fd);
    if (got < 0 || !ps_object_peek(head, (size_t)got, out)) out[0] = 0;
}

static bool push(PsStoreList *list, size_t *cap, int dir, const char *file, const struct stat *info) {
    if (list->len == *cap) {
        size_t more = *cap ? *cap * 2 : 64;
        PsStoreEntry *entries = ps_realloc(list->entries, more * sizeof *entries);
        if (!entries) return false;
        list->entries = entries;
        *cap = more;
    }
    PsStoreEntry *entry = &list->entries[list->len++];
    memcpy(entry->key, file, sizeof entry->key);
    read_name(dir, file, entry->name);
    entry->size = (uint64_t)info->st_size;
    entry->used = info->st_mtim.tv_sec;
    return true;
}

static int last_used_first(const void *left, const void *right) {
    const PsStoreEntry *a = left, *b = right;
    if (a->used != b->used) return a->used < b->used ? 1 : -1;
    return strcmp(a->key, b->key);
}

bool ps_store_list(const PsStore *store, PsStoreList *out) {
    DIR *dir = opendir(ps_store_dir(store));
    const struct dirent *item;
    size_t cap = 0;
    bool whole = true;
    *out = (PsStoreList){0};
    if (!dir) return false;
    while (whole && (item = readdir(dir))) {
        struct stat info;
        if (!object_is_name(item->d_name) ||
            fstatat(dirfd(dir), item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
            continue;
        whole = push(out, &cap, dirfd(dir), item->d_name, &info);
    }
    closedir(dir);
    if (!whole) ps_store_list_free(out);
    if (out->len) qsort(out->entries, out->len, sizeof *out->entries, last_used_first);
    return whole;
}

void ps_store_list_free(PsStoreList *list) {
    ps_free(list->entries);
    *list = (PsStoreList){0};
}

int64_t ps_store_clear(const PsStore *store) {
    DIR *dir = opendir(ps_store_dir(store));
    const struct dirent *item;
    int64_t removed = 0;
    int failed = 0;
    if (!dir) return -1;
    while ((item = readdir(dir))) {
        bool object = object_is_name(item->d_name);
        if (!object && strncmp(item->d_name, OBJECT_TEMPORARY, strlen(OBJECT_TEMPORARY)) != 0) continue;
        if (unlinkat(dirfd(dir), item->d_name, 0) == 0)
            removed += object;
        else if (errno != ENOENT)
            failed = errno;
    }
    closedir(dir);
    errno = failed;
    return failed ? -1 : removed;
}
