/* SPDX-License-Identifier: Apache-2.0
 *
 * object_store: containers on disk, each in a file named by its key. A file holds the container and then the key
 * again, so that a file under a wrong name is noticed. Files come into being whole, by renaming, and are never
 * changed: a reader sees a whole file or none. There is no fsync: what a crash leaves damaged, the checksum finds,
 * and it is compiled again.
 *
 * Threads: a store is immutable but for a few atomic fields. Processes: no locks between them; two that write the
 * same key write the same bytes. Not here: what keys are made of (driver).
 */
#include "object/object_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST_BYTES   ((off_t)1 << 30)
#define TOUCH_AFTER  3600 /* seconds after which a use is worth noting in the file's time */
#define EVICT_ONE_IN 32   /* puts, besides every limit / 64 bytes */
#define WARNED_NOT   0
#define WARNED_SOON  1
#define WARNED       2

struct PsStore {
    char *dir;
    uint64_t limit;
    atomic_uint counter;     /* of temporary names */
    atomic_ullong unchecked; /* bytes put since this process last evicted */
    atomic_bool closed;      /* nothing more is written */
    atomic_int evicting;     /* the process whose thread is at it: a fork's child has no such thread */
    atomic_int warned;
    char *_Atomic warning;
};

/* Nothing is written from now on, and the first reason why is kept. */
static void stop_writing(PsStore *store, int cause) {
    int not_yet = WARNED_NOT;
    atomic_store(&store->closed, true);
    if (!atomic_compare_exchange_strong(&store->warned, &not_yet, WARNED_SOON)) return;
    atomic_store(&store->warning, object_warning(PS_MSG_STORE_WRITE, store->dir, strerror(cause)));
    atomic_store(&store->warned, WARNED);
}

PsStore *ps_store_open(const char *dir, const char **out_warning) {
    char *warning = NULL;
    int cause;
    *out_warning = NULL;
    PsStore *store = ps_alloc(sizeof *store);
    if (!store) return NULL;
    store->dir = object_find_dir(dir, &warning, &cause);
    if (!store->dir) {
        ps_free(store);
        *out_warning = warning;
        return NULL;
    }
    store->limit = object_read_limit(&warning);
    if (cause) stop_writing(store, cause);
    if (warning && atomic_load(&store->warned) == WARNED_NOT) {
        atomic_store(&store->warning, warning);
        atomic_store(&store->warned, WARNED);
    } else {
        ps_free(warning);
    }
    return store;
}

void ps_store_close(PsStore *store) {
    if (!store) return;
    ps_free(atomic_load(&store->warning));
    ps_free(store->dir);
    ps_free(store);
}

const char *ps_store_dir(const PsStore *store) { return store->dir; }

uint64_t ps_store_limit(const PsStore *store) { return store->limit; }

const char *ps_store_warning(const PsStore *store) { return atomic_load(&store->warning); }

static bool make_path(const PsStore *store, const char *name, char out[PATH_MAX]) {
    int len = snprintf(out, PATH_MAX, "%s/%s", store->dir, name);
    return len > 0 && len < PATH_MAX;
}

/* -- reading -- */

/* The whole file, or NULL: gone, not ours, not plain, or of a silly size. */
static char *read_file(int fd, size_t *out_size) {
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid()) return NULL;
    if (info.st_size > MOST_BYTES) return NULL;
    size_t size = (size_t)info.st_size, have = 0;
    char *bytes = ps_alloc(size);
    if (!bytes) return NULL;
    while (have < size) {
        ssize_t got = read(fd, bytes + have, size - have);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        have += (size_t)got;
    }
    if (time(NULL) - info.st_mtim.tv_sec > TOUCH_AFTER) (void)futimens(fd, NULL);
    *out_size = have;
    return bytes;
}

static bool is_object(char *bytes, size_t size, const PsHash *key, PsObject *out) {
    if (size < sizeof *key || memcmp(bytes + size - sizeof *key, key, sizeof *key) != 0) return false;
    return ps_object_read(bytes, size - sizeof *key, out);
}

bool ps_store_get(PsStore *store, const PsHash *key, PsObject *out) {
    char name[OBJECT_NAME_LEN + 1], path[PATH_MAX];
    size_t size = 0;
    ps_hash_hex(key, name);
    if (!make_path(store, name, path)) return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    char *bytes = read_file(fd, &size);
    close(fd);
    if (!bytes) return false;
    if (is_object(bytes, size, key, out)) return true;
    ps_free(bytes);
    if (!atomic_load(&store->closed)) unlink(path);
    return false;
}

/* -- writing -- */

static bool write_all(int fd, const char *bytes, size_t size) {
    while (size) {
        ssize_t put = write(fd, bytes, size);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes += put;
        size -= (size_t)put;
    }
    return true;
}

/* A name that no other process or thread uses, even where process numbers repeat (containers). */
static int open_temporary(PsStore *store, char path[PATH_MAX]) {
    char name[80];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    unsigned count = atomic_fetch_add(&store->counter, 1);
    snprintf(name, sizeof name, OBJECT_TEMPORARY "%ld-%llx-%lx-%x", (long)getpid(),
             (unsigned long long)now.tv_sec, (unsigned long)now.tv_nsec, count);
    if (!make_path(store, name, path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* False with errno. */
static bool write_file(PsStore *store, const PsHash *key, const void *bytes, size_t size) {
    char name[OBJECT_NAME_LEN + 1], temporary[PATH_MAX], path[PATH_MAX];
    ps_hash_hex(key, name);
    int fd = open_temporary(store, temporary);
    if (fd < 0 && errno == ENOENT && mkdir(store->dir, 0700) == 0) /* somebody emptied the cache */
        fd = open_temporary(store, temporary);
    if (fd < 0) return false;
    bool written = write_all(fd, bytes, size) && write_all(fd, (const char *)key->bytes, sizeof key->bytes);
    int cause = errno;
    close(fd);
    if (written) {
        if (make_path(store, name, path) && rename(temporary, path) == 0) return true;
        cause = errno;
    }
    unlink(temporary);
    errno = cause;
    return false;
}

/* Now and then, since looking through the directory takes a microsecond a file. */
static void evict_sometimes(PsStore *store, const PsHash *key, size_t size) {
    uint64_t unchecked = atomic_fetch_add(&store->unchecked, size) + size;
    if (unchecked <= store->limit / 64 && key->bytes[0] % EVICT_ONE_IN != 0) return;
    if (atomic_exchange(&store->evicting, (int)getpid()) == (int)getpid()) return;
    atomic_store(&store->unchecked, 0);
    object_evict(store->dir, store->limit);
    atomic_store(&store->evicting, 0);
}

/* Failures that pass: the next file may be written again. */
static bool is_passing(int cause) {
    return cause == EMFILE || cause == ENFILE || cause == ENOMEM || cause == EEXIST || cause == EINTR;
}

void ps_store_put(PsStore *store, const PsHash *key, const void *bytes, size_t size) {
    if (atomic_load(&store->closed) || size > store->limit / 4) return;
    if (write_file(store, key, bytes, size)) {
        evict_sometimes(store, key, size);
    } else if (!is_passing(errno)) {
        stop_writing(store, errno);
    }
}
