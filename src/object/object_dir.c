/* SPDX-License-Identifier: Apache-2.0
 *
 * object_dir: which directory the store uses, and whether it may be trusted: what is loaded from it runs as us. So it
 * must be ours and not open to everybody's writing. Missing parents are made, for us alone.
 */
#include "object/object_int.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_LIMIT_MB 512

char *object_warning(PsMessageId id, ...) {
    va_list args;
    PsBuf text = {0};
    va_start(args, id);
    ps_buf_vprintf(&text, ps_message_text(id), args);
    va_end(args);
    if (!text.failed) return text.data;
    ps_buf_free(&text);
    return NULL;
}

static const char *set_variable(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

uint64_t object_read_limit(char **out_warning) {
    const char *text = set_variable("PESTLE_CACHE_LIMIT_MB");
    *out_warning = NULL;
    if (!text) return (uint64_t)DEFAULT_LIMIT_MB << 20;
    if (*text >= '0' && *text <= '9') {
        char *end;
        unsigned long long limit = strtoull(text, &end, 10);
        if (!*end && limit <= UINT64_MAX >> 20) return (uint64_t)limit << 20;
    }
    *out_warning = object_warning(PS_MSG_STORE_LIMIT, text, DEFAULT_LIMIT_MB);
    return (uint64_t)DEFAULT_LIMIT_MB << 20;
}

/* The path as the environment has it; NULL when it has none or there is no memory. */
static char *choose(const char *dir) {
    PsBuf path = {0};
    const char *part;
    if (!dir) dir = set_variable("PESTLE_CACHE_DIR");
    const char *home = set_variable("HOME");
    if (dir && home && dir[0] == '~' && (dir[1] == '/' || !dir[1])) { /* no shell was there to do it */
        ps_buf_printf(&path, "%s%s", home, dir + 1);
    } else if (dir) {
        ps_buf_text(&path, dir);
    } else if ((part = set_variable("XDG_CACHE_HOME")) &&
               *part == '/') { /* its standard says: ignore relative ones */
        ps_buf_printf(&path, "%s/pestle", part);
    } else if ((part = set_variable("HOME"))) {
        ps_buf_printf(&path, "%s/.cache/pestle", part);
    }
    if (!path.failed) return path.data;
    ps_buf_free(&path);
    return NULL;
}

/* mkdir -p. False with errno; a path that is too long for the system leaves nothing behind. */
static bool make_dirs(char *path) {
    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (char *at = path + 1; *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST || errno == EROFS || errno == EACCES;
        *at = '/';
        if (!made) return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool is_ours(const char *path, char **out_warning) {
    struct stat info;
    if (stat(path, &info) != 0) {
        *out_warning = object_warning(PS_MSG_STORE_NONE, path, strerror(errno));
    } else if (!S_ISDIR(info.st_mode)) {
        *out_warning = object_warning(PS_MSG_STORE_NONE, path, strerror(ENOTDIR));
    } else if (info.st_uid != geteuid()) {
        *out_warning = object_warning(PS_MSG_STORE_OWNER, path);
    } else if (info.st_mode & S_IWOTH) {
        *out_warning = object_warning(PS_MSG_STORE_OPEN, path);
    } else {
        return true;
    }
    return false;
}

char *object_find_dir(const char *dir, char **out_warning, int *out_cause) {
    char *path = choose(dir), *full = NULL;
    *out_cause = 0;
    *out_warning = NULL;
    if (!path) {
        *out_warning = object_warning(PS_MSG_STORE_NO_HOME);
        return NULL;
    }
    struct stat info;
    if (stat(path, &info) != 0 && !make_dirs(path)) {
        *out_warning = object_warning(PS_MSG_STORE_NONE, path, strerror(errno));
        goto fail;
    }
    if (!is_ours(path, out_warning)) goto fail;
    if (access(path, W_OK | X_OK) != 0) *out_cause = errno;
    full = ps_alloc(PATH_MAX); /* the working directory may change later */
    if (!full || !realpath(path, full)) goto fail;
    ps_free(path);
    return full;
fail:
    ps_free(full);
    ps_free(path);
    return NULL;
}
