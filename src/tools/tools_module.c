/* SPDX-License-Identifier: Apache-2.0
 *
 * tools_module: what both tools do first (read text, parse, verify) and how they say what is wrong.
 */
#include "tools/tools_int.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool tools_error(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("error: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

bool tools_failed(PsStatus status, const PsDiag *diag) {
    if (status == PS_NOMEM || !diag->set || !diag->message.text) return tools_error("out of memory");
    return tools_error("%s", diag->message.text);
}

bool tools_read(const char *path, PsBuf *out) {
    char chunk[1 << 16];
    size_t got;
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "rb");
    if (!file) return tools_error("cannot open %s: %s", path, strerror(errno));
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0) ps_buf_add(out, chunk, got);
    bool bad = ferror(file) != 0;
    if (!standard) fclose(file);
    if (bad) return tools_error("cannot read %s", path);
    return out->failed ? tools_error("out of memory") : true;
}

PsModule *tools_parse(const PsBuf *text, PsDiag *diag) {
    PsModule *m = NULL;
    PsStatus status = ps_ir_parse(diag->arena, text->data ? text->data : "", text->len, diag, &m);
    if (status == PS_OK) status = ps_ir_verify(m, "parsing", diag);
    if (status == PS_OK) return m;
    tools_failed(status, diag);
    return NULL;
}

const char *tools_option(const char *argument, const char *name) {
    size_t len = strlen(name);
    return strncmp(argument, name, len) == 0 && argument[len] == '=' ? argument + len + 1 : NULL;
}
