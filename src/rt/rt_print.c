/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_print: print within kernels. Each text is kept with the task and leaf that printed it; the launcher takes all of
 * them in that order, so what is printed does not depend on threads. The text itself is base's (ps_format_values),
 * shared with the evaluator. Not here: writing anywhere; py hands the text to Python's sys.stdout.
 */
#include "rt/rt_int.h"

#include <stdlib.h>

typedef struct PrintRecord {
    int32_t task;
    int64_t leaf;
    size_t at, len; /* in PsPrints.text; `at` rises within a leaf, which one thread runs in order */
} PrintRecord;

struct PsPrints {
    PrintRecord *records;
    size_t len, cap;
    PsBuf text;
};

static void free_prints(PsPrints *prints) {
    ps_buf_free(&prints->text);
    ps_free(prints->records);
    ps_free(prints);
}

/* Room for one record more; NULL: no memory. */
static PrintRecord *next_record(PsPrints *prints) {
    if (prints->len == prints->cap) {
        size_t cap = prints->cap ? prints->cap * 2 : 16;
        PrintRecord *records = ps_realloc(prints->records, cap * sizeof *records);
        if (!records) return NULL;
        prints->records = records;
        prints->cap = cap;
    }
    return &prints->records[prints->len];
}

/* Under the launch's lock. */
static bool append(PsLaunch *launch, const PsTaskState *ts, const PsBuf *text) {
    if (!launch->prints) launch->prints = ps_alloc(sizeof *launch->prints);
    PsPrints *prints = launch->prints;
    if (!prints) return false;
    PrintRecord *record = next_record(prints);
    size_t at = prints->text.len;
    if (record) ps_buf_add(&prints->text, text->data, text->len);
    if (!record || prints->text.failed) return false;
    if (prints->len && record[-1].task == ts->task && record[-1].leaf == ts->leaf) {
        record[-1].len += text->len;
        return true;
    }
    *record = (PrintRecord){ts->task, ts->leaf, at, text->len};
    prints->len++;
    return true;
}

void ps_rt_format(PsBuf *out, const char *format, const uint64_t *values) {
    ps_format_values(out, format, values);
}

void ps_rt_print(PsTaskState *ts, const char *format, const uint64_t *values) {
    PsLaunch *launch = ts->frame->launch;
    PsBuf text = {0};
    ps_rt_format(&text, format, values);
    bool kept = !text.failed;
    if (kept && text.len) {
        ps_rt_lock(&launch->lock);
        kept = append(launch, ts, &text);
        ps_rt_unlock(&launch->lock);
    }
    if (!kept) __atomic_store_n(&launch->out_of_memory, true, __ATOMIC_RELAXED);
    ps_buf_free(&text);
}

static int compare(const void *left, const void *right) {
    const PrintRecord *a = left, *b = right;
    if (a->task != b->task) return a->task < b->task ? -1 : 1;
    if (a->leaf != b->leaf) return a->leaf < b->leaf ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* With `out` NULL the prints are dropped. */
void ps_launch_take_prints(PsLaunch *launch, PsBuf *out) {
    PsPrints *prints = launch->prints;
    if (!prints) return;
    launch->prints = NULL;
    if (out && prints->len) {
        qsort(prints->records, prints->len, sizeof *prints->records, compare);
        for (size_t i = 0; i < prints->len; i++)
            ps_buf_add(out, prints->text.data + prints->records[i].at, prints->records[i].len);
    }
    free_prints(prints);
}
