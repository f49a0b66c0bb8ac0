/* SPDX-License-Identifier: Apache-2.0
 *
 * A source line with carets as the peers show it, for programs that run under an import alias and look for it: with its
 * own indentation, tabs as blanks up to a multiple of four, and in rows of 80 columns. Pestle's own form is in
 * py_errors.c.
 */
#include "py/py_int.h"

#define ROW_COLUMNS 80
#define TAB_COLUMNS 4

typedef struct Rows {
    PsBuf *out;
    PsBuf line, carets; /* of this row */
    size_t column;
    bool marked; /* this row has a caret */
} Rows;

static void end_row(Rows *rows) {
    if (!rows->column) return;
    ps_buf_add(rows->out, rows->line.data, rows->line.len);
    ps_buf_text(rows->out, "\n");
    if (rows->marked) {
        ps_buf_add(rows->out, rows->carets.data, rows->carets.len);
        ps_buf_text(rows->out, "\n");
    }
    rows->line.len = rows->carets.len = rows->column = 0;
    rows->marked = false;
}

static void add_column(Rows *rows, const char *text, size_t len, bool marked) {
    if (rows->column == ROW_COLUMNS) end_row(rows);
    rows->column++;
    ps_buf_add(&rows->line, text, len);
    if (!marked) return;
    rows->marked = true;
    while (rows->carets.len + 1 < rows->column) ps_buf_add(&rows->carets, " ", 1);
    ps_buf_add(&rows->carets, "^", 1);
}

void py_peer_line(PsBuf *out, const char *line, size_t len, size_t start, size_t end) {
    Rows rows = {.out = out};
    if (end <= start) end = start + 1;
    for (size_t at = 0; at < len;) {
        size_t next = at + 1;
        while (next < len && ((unsigned char)line[next] & 0xC0) == 0x80) next++;
        bool marked = at >= start && at < end;
        if (line[at] == '\t') do
                add_column(&rows, " ", 1, marked);
            while (rows.column % TAB_COLUMNS);
        else
            add_column(&rows, line + at, next - at, marked);
        at = next;
    }
    if (start >= len) add_column(&rows, " ", 1, true);
    end_row(&rows);
    if (rows.line.failed || rows.carets.failed) out->failed = true;
    ps_buf_free(&rows.line);
    ps_buf_free(&rows.carets);
}
