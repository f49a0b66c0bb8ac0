/* SPDX-License-Identifier: Apache-2.0
 *
 * base_buf: a growable byte buffer on the heap, for text and files whose size is not known before. After a failed
 * growth it takes no more and says so in `failed`; what it held stays.
 */
#include "base/base.h"

#include <stdio.h>
#include <string.h>

void ps_buf_free(PsBuf *buf) {
    ps_free(buf->data);
    *buf = (PsBuf){0};
}

/* Room for `more` bytes and the final NUL. */
static bool reserve(PsBuf *buf, size_t more) {
    if (buf->failed) return false;
    if (more < buf->cap - buf->len) return true;
    if (more > SIZE_MAX / 4 || buf->len > SIZE_MAX / 4) goto fail;
    size_t cap = buf->cap ? buf->cap * 2 : 256;
    if (cap < buf->len + more + 1) cap = buf->len + more + 1;
    char *data = ps_realloc(buf->data, cap);
    if (!data) goto fail;
    buf->data = data;
    buf->cap = cap;
    return true;
fail:
    buf->failed = true;
    return false;
}

void ps_buf_add(PsBuf *buf, const void *bytes, size_t len) {
    if (!reserve(buf, len)) return;
    if (len) memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = 0;
}

void ps_buf_text(PsBuf *buf, const char *text) { ps_buf_add(buf, text, strlen(text)); }

void ps_buf_vprintf(PsBuf *buf, const char *format, va_list args) {
    if (!reserve(buf, 64)) return;
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(buf->data + buf->len, buf->cap - buf->len, format, args);
    if (len < 0) {
        buf->failed = true;
    } else if ((size_t)len >= buf->cap - buf->len && reserve(buf, (size_t)len)) {
        vsnprintf(buf->data + buf->len, buf->cap - buf->len, format, again);
    }
    va_end(again);
    if (!buf->failed) buf->len += (size_t)len;
    buf->data[buf->len] = 0;
}

void ps_buf_printf(PsBuf *buf, const char *format, ...) {
    va_list args;
    va_start(args, format);
    ps_buf_vprintf(buf, format, args);
    va_end(args);
}
