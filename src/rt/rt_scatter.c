/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_scatter: `grid[cell] += w` on several threads without locks. The thread that owns the loop adds to the array itself,
 * each worker to a copy that it has filled with the sum's identity; in the end the copies are added to the array, worker
 * by worker. That pays where there are about as many additions as elements; else, and where copies would not mean the same,
 * generated code locks (codegen_scatter.c).
 *
 * The memory of copies is kept for the next loop, up to MOST_BYTES; the owner of the pool alone asks for it.
 */
#include "rt/rt_int.h"

#include <string.h>

#define MOST_BYTES     ((size_t)64 << 20)
#define PER_UPDATE     4     /* elements of copies that may be filled and added for one update */
#define CHUNK          4096  /* elements that are added up at once, at least */
#define ALONE_ELEMENTS 65536 /* fewer are added up without the pool */

static char *kept;
static size_t kept_bytes;

void rt_scatter_free(void) {
    ps_free(kept);
    kept = NULL;
    kept_bytes = 0;
}

/* -- plan -- */

typedef struct Extent {
    const char *lo, *hi; /* bytes lo .. hi - 1 hold its elements */
    int64_t bytes;       /* of the elements alone */
} Extent;

static Extent extent_of(const PsFrame *frame, uint64_t touched) {
    const uint64_t *words = frame->words + ps_touched_word(touched);
    uint32_t ndim = ps_touched_ndim(touched);
    int64_t size = ps_touched_size(touched);
    Extent extent = {(const char *)(uintptr_t)words[0], (const char *)(uintptr_t)words[0] + size, size};
    for (uint32_t i = 0; i < ndim; i++) {
        int64_t length = (int64_t)words[1 + i], stride = (int64_t)words[1 + ndim + i];
        extent.bytes *= length;
        if (stride < 0)
            extent.lo += stride * (length - 1);
        else
            extent.hi += stride * (length - 1);
    }
    if (!extent.bytes) extent.hi = extent.lo;
    return extent;
}

/* An array that is dense, and that no other one overlaps. */
static bool is_apart(const PsParfor *parfor, const Extent *extents, int64_t at) {
    const Extent *own = &extents[at];
    if (own->hi - own->lo != own->bytes) return false;
    for (int64_t i = 0; i < parfor->touched; i++)
        if (i != at && extents[i].lo < own->hi && own->lo < extents[i].hi) return false;
    return true;
}

static char *memory_of(size_t bytes) {
    if (bytes <= kept_bytes) return kept;
    rt_scatter_free();
    kept = ps_alloc(bytes);
    kept_bytes = kept ? bytes : 0;
    return kept;
}

bool rt_scatter_plan(RtScatter *s, const PsParfor *parfor, const PsFrame *frame, int threads, double part) {
    Extent extents[PS_MAX_TOUCHED];
    double elements = 0, updates = (double)parfor->rows * (double)parfor->row_len * parfor->updates * part;
    s->n = parfor->scattered;
    s->part = 64; /* so that neighbours share no line */
    if (!s->n || parfor->touched < s->n) return false;
    memset(extents, 0, sizeof extents);
    for (int64_t i = 0; i < parfor->touched; i++) extents[i] = extent_of(frame, parfor->arrays[i]);
    for (int i = 0; i < s->n; i++) {
        const Extent *extent = &extents[i];
        int64_t size = ps_touched_size(parfor->arrays[i]);
        if (!size || !is_apart(parfor, extents, i) || (size_t)extent->bytes > MOST_BYTES) return false;
        s->arrays[i].data = (char *)(uintptr_t)extent->lo;
        s->arrays[i].bytes = extent->bytes;
        s->arrays[i].count = extent->bytes / size;
        s->arrays[i].how = ps_touched_how(parfor->arrays[i]);
        s->arrays[i].at = s->part;
        s->part += ((size_t)extent->bytes + 127) & ~(size_t)63;
        elements += (double)s->arrays[i].count;
    }
    if (elements * threads > PER_UPDATE * updates || s->part * (size_t)threads > MOST_BYTES) return false;
    memset(s->joined, 0, sizeof s->joined);
    s->copies = memory_of(s->part * (size_t)(threads - 1));
    return s->copies != NULL;
}

/* -- copies -- */

static char *copy_of(const RtScatter *s, int i, int worker) {
    return s->copies + s->part * (size_t)(worker - 1) + s->arrays[i].at;
}

/* Adding the identity changes no bit: -0.0 of floats. */
static void fill(char *copy, PsTouch how, int64_t count, int64_t bytes) {
    if (how == PS_TOUCH_ADD_F32)
        for (int64_t i = 0; i < count; i++) ((float *)copy)[i] = -0.0f;
    else if (how == PS_TOUCH_ADD_F64)
        for (int64_t i = 0; i < count; i++) ((double *)copy)[i] = -0.0;
    else
        memset(copy, 0, (size_t)bytes);
}

void rt_scatter_join(RtScatter *s, PsTaskState *ts) {
    for (int i = 0; i < s->n; i++) {
        char *copy = copy_of(s, i, ts->thread);
        if (!s->joined[ts->thread]) fill(copy, s->arrays[i].how, s->arrays[i].count, s->arrays[i].bytes);
        ts->moved[i] = (int64_t)((uintptr_t)copy - (uintptr_t)s->arrays[i].data);
    }
    s->joined[ts->thread] = 1;
}

/* -- sums -- */

static void add(char *to, const char *from, PsTouch how, int64_t lo, int64_t hi) {
#define ADD(type)                                                                                              \
    for (int64_t i = lo; i < hi; i++) ((type *)to)[i] = (type)(((type *)to)[i] + ((const type *)from)[i]);     \
    break
    switch (how) {
    case PS_TOUCH_ADD_F32: ADD(float);
    case PS_TOUCH_ADD_F64: ADD(double);
    case PS_TOUCH_ADD_I8: ADD(uint8_t);
    case PS_TOUCH_ADD_I16: ADD(uint16_t);
    case PS_TOUCH_ADD_I32: ADD(uint32_t);
    case PS_TOUCH_ADD_I64: ADD(uint64_t);
    case PS_TOUCH_OTHER: break;
    }
#undef ADD
}

/* A loop over chunks of one array. */
typedef struct Sum {
    PsParfor parfor; /* first: the task gets its address */
    const RtScatter *s;
    int array, threads;
    int64_t chunk;
} Sum;

static int32_t add_chunks(PsTaskState *ts, const PsParfor *parfor, int64_t chunk_lo, int64_t chunk_hi) {
    const Sum *sum = (const Sum *)(const void *)parfor;
    int64_t count = sum->s->arrays[sum->array].count;
    (void)ts;
    for (int64_t i = chunk_lo; i < chunk_hi; i++) {
        int64_t lo = i * sum->chunk, hi = lo + sum->chunk < count ? lo + sum->chunk : count;
        for (int worker = 1; worker < sum->threads; worker++)
            if (sum->s->joined[worker])
                add(sum->s->arrays[sum->array].data, copy_of(sum->s, sum->array, worker),
                    sum->s->arrays[sum->array].how, lo, hi);
    }
    return 0;
}

void rt_scatter_combine(RtScatter *s, PsTaskState *ts, int threads) {
    int64_t joined = 0;
    for (int worker = 1; worker < threads; worker++) joined += s->joined[worker];
    for (int i = 0; joined && i < s->n; i++) {
        int64_t count = s->arrays[i].count, chunk = count / PS_MAX_LEAVES + 1;
        if (chunk < CHUNK) chunk = CHUNK;
        Sum sum = {.s = s, .array = i, .threads = threads, .chunk = chunk};
        sum.parfor.leaves = (count + chunk - 1) / chunk;
        RtJob job = {
            .parfor = &sum.parfor, .task = add_chunks, .frame = ts->frame, .number = ts->task, .piece = 16};
        if (count * joined < ALONE_ELEMENTS)
            rt_run_leaves(ts, &job, 0, sum.parfor.leaves);
        else
            rt_pool_run(&job, ts, 0, threads, false);
    }
}
