/* SPDX-License-Identifier: Apache-2.0
 *
 * ps-opt: text IR in, passes, text IR out. `-passes=a,b` runs those in that order, `-passes=` none, without it the whole
 * pipeline runs. The verifier runs first and after every pass. Errors: "error: ..." on standard error, status 1.
 */
#include "tools/tools_int.h"
#include "passes/passes.h"

#include <stdio.h>
#include <string.h>

static const char usage[] = "usage: ps-opt [-passes=NAME,..] [-checked] [-spans] [FILE]\n"
                            "Runs passes over a module in text form; FILE is standard input unless given.\n"
                            "  -passes=NAME,..  these passes, in this order (default: all)\n"
                            "  -checked         as if the module said `checked`\n"
                            "  -spans           print the ops' source positions\n";

typedef struct Options {
    const char *passes, *file;
    bool checked, spans;
} Options;

static bool read_options(int argc, char **argv, Options *o) {
    *o = (Options){.file = "-"};
    for (int i = 1; i < argc; i++) {
        const char *passes = tools_option(argv[i], "-passes");
        if (passes)
            o->passes = passes;
        else if (strcmp(argv[i], "-checked") == 0)
            o->checked = true;
        else if (strcmp(argv[i], "-spans") == 0)
            o->spans = true;
        else if (argv[i][0] == '-' && argv[i][1])
            return tools_error("unknown option %s", argv[i]);
        else
            o->file = argv[i];
    }
    return true;
}

static bool run(const Options *o, PsBuf *text, PsDiag *diag, PsBuf *out) {
    if (!tools_read(o->file, text)) return false;
    PsModule *m = tools_parse(text, diag);
    if (!m) return false;
    if (o->checked) m->checked = true;
    PsStatus status = ps_passes_run(m, o->passes, true, NULL, NULL, diag);
    if (status != PS_OK) return tools_failed(status, diag);
    ps_ir_print(m, o->spans, out);
    if (out->failed) return tools_error("out of memory");
    if (out->data) fwrite(out->data, 1, out->len, stdout);
    return fflush(stdout) == 0 || tools_error("cannot write");
}

int main(int argc, char **argv) {
    Options options;
    PsArena arena;
    PsDiag diag;
    PsBuf text = {0}, out = {0};
    if (argc == 2 && strcmp(argv[1], "-help") == 0) return fputs(usage, stdout) < 0;
    ps_arena_init(&arena);
    ps_diag_init(&diag, &arena);
    bool ok = read_options(argc, argv, &options) && run(&options, &text, &diag, &out);
    ps_buf_free(&text);
    ps_buf_free(&out);
    ps_arena_free(&arena);
    return !ok;
}
