/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_print: print within kernels. Each text is kept with the task and leaf that printed it; the launcher takes all of
 * them in that order, so what is printed does not depend on threads. The text itself is base's (ps_format_values),
 * shared with the evaluator. Warnings are kept beside: which sites gave one, without an order. Not here: writing anywhere; py hands the text to Python's sys.stdout.
 */
#include "rt/rt_int.h"

#include <stdlib.h>

typedef struct PrintRecord {
    int32_t task;
    int64_t leaf;
    size_t at, len; /* in PsPrints.text; `at` rises within a leaf, which one thread runs in order */
} PrintRecord;

#define WARN_CHUNKS 64
#define CHUNK_WORDS 64
#define CHUNK_SITES (64 * CHUNK_WORDS)

struct PsPrints {
    PrintRecord *records;
    size_t len, cap;
    PsBuf text;
    uint64_t *warned[WARN_CHUNKS]; /* a bit per site */
};

static void free_prints(PsPrints *prints) {
    ps_buf_free(&prints->text);
    for (int i = 0; i < WARN_CHUNKS; i++) ps_free(prints->warned[i]);
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

/* Under the launch's lock. NULL: no memory. */
static PsPrints *prints_of(PsLaunch *launch) {
    if (launch->prints) return launch->prints;
    PsPrints *prints = ps_alloc(sizeof *prints); /* zeroed */
    if (prints) __atomic_store_n(&launch->prints, prints, __ATOMIC_RELEASE);
    return prints;
}

/* Under the launch's lock. */
static bool append(PsLaunch *launch, const PsTaskState *ts, const PsBuf *text) {
    PsPrints *prints = prints_of(launch);
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

/* -- warnings -- */

static uint64_t *words_of(const PsPrints *prints, uint32_t site) {
    uint32_t chunk = site / CHUNK_SITES;
    return prints && chunk < WARN_CHUNKS ? __atomic_load_n(&prints->warned[chunk], __ATOMIC_ACQUIRE) : NULL;
}

static bool is_warned(const uint64_t *words, uint32_t site) {
    uint32_t at = site % CHUNK_SITES;
    return words && __atomic_load_n(&words[at / 64], __ATOMIC_RELAXED) >> at % 64 & 1;
}

/* A loop that overflows each time passes here each time: without the lock but for the first. */
void ps_rt_warn(PsTaskState *ts, uint32_t site) {
    PsLaunch *launch = ts->frame->launch;
    if (is_warned(words_of(__atomic_load_n(&launch->prints, __ATOMIC_ACQUIRE), site), site)) return;
    if (site / CHUNK_SITES >= WARN_CHUNKS) return;
    ps_rt_lock(&launch->lock);
    PsPrints *prints = prints_of(launch);
    uint64_t *words = words_of(prints, site);
    if (prints && !words && (words = ps_alloc(CHUNK_WORDS * sizeof *words)))
        __atomic_store_n(&prints->warned[site / CHUNK_SITES], words, __ATOMIC_RELEASE);
    if (words) __atomic_fetch_or(&words[site % CHUNK_SITES / 64], (uint64_t)1 << site % 64, __ATOMIC_RELAXED);
    ps_rt_unlock(&launch->lock);
    if (!words) __atomic_store_n(&launch->out_of_memory, true, __ATOMIC_RELAXED);
}

bool ps_launch_warned(const PsLaunch *launch, uint32_t site) {
    return is_warned(words_of(launch->prints, site), site);
}
