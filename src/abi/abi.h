/* SPDX-License-Identifier: Apache-2.0
 *
 * abi: what generated code and the runtime agree on. Headers only: data layouts, signatures and the
 * names generated code may call (rt_symbols.def). Change anything here and PS_ABI_VERSION.
 *
 * A launch:   launch fills a PsFrame (arguments) ─► main(frame) ─► serial parts run in main;
 *             each parfor: main stores captured values into frame words, fills a PsParfor and calls
 *             ps_rt_parallel_for(ts, task, parfor) ─► task(ts, parfor, leaf_lo, leaf_hi) on threads.
 *
 * Frame words (8 bytes each), in this order:
 *   parameters  scalar: its bits, zero-extended (u1: 0 or 1).
 *               array of n axes: data pointer, n lengths (i64), n strides in bytes (i64).
 *   results     one word each
 *   captures    values and locals that cross into tasks; chosen by code generation
 */
#ifndef PS_ABI_ABI_H
#define PS_ABI_ABI_H

#include <stdint.h>

#define PS_ABI_VERSION     5
#define PS_MAX_AXES        12
#define PS_STRIPES         64 /* accumulators of one leaf of a reduction, whatever the vector width */
#define PS_MAX_LEAVES      4096
#define PS_MAX_SCATTERED   4         /* arrays of one loop that threads may have copies of */
#define PS_MAX_TOUCHED     16        /* arrays of such a loop */
#define PS_FAULT_VALUES    20        /* a matrix of 4 by 4, and what tells which one */
#define PS_RECURSION_STACK (5 << 20) /* bytes that a kernel with recursive functions may need */
#define PS_MAX_DEPTH       1000 /* nested calls of generated functions (main is 0); one more is PS_FAULT_DEPTH */

/* Largest magnitude of a parfor bound and of an array axis length: indices are i32, and staying this
 * far from its ends lets `i + c` with |c| < 2^24 be computed in 64 bits without changing its value. */
#define PS_INDEX_LIMIT ((int64_t)0x7fffffff - ((int64_t)1 << 24))

struct PsLaunch; /* rt's state of one launch: print buffer, fault, interrupt; see rt/rt.h */

typedef struct PsFrame {
    struct PsLaunch *launch;
    uint64_t words[];
} PsFrame;

/* State of one thread while it runs a task (or main's serial parts, then leaf = -1). Passed as the first
 * argument of every generated function but main. */
typedef struct PsTaskState {
    PsFrame *frame;
    int64_t leaf;  /* the leaf that is running; a task that was given several moves it on */
    int32_t fault; /* set by ps_rt_fault: the caller must return at once */
    int32_t task;  /* counts the parfors of this launch; serial parts between them count too */
    int32_t depth; /* of calls, for the recursion check */
    int32_t thread;
    const volatile int32_t
        *interrupt;    /* never NULL. Not 0: stop; it then stays so until the launch has ended. Polled
                                          by rt between leaves, by generated code in loops that may be long */
    uint64_t spare[8]; /* what inactive lanes read and write instead of a place of theirs */
    int64_t shared;    /* the loop's atomics must be some: 0 when no other thread can meet them */
    int64_t moved
        [PS_MAX_SCATTERED]; /* bytes from an array that the loop only adds to, to this thread's copy of it */
} PsTaskState;

/* How a parallel loop uses an array: the frame word that it begins at, its axes, what is added to it. */
typedef enum PsTouch {
    PS_TOUCH_OTHER, /* reads, stores, atomics of another kind */
    PS_TOUCH_ADD_F32,
    PS_TOUCH_ADD_F64,
    PS_TOUCH_ADD_I8,
    PS_TOUCH_ADD_I16,
    PS_TOUCH_ADD_I32,
    PS_TOUCH_ADD_I64,
} PsTouch;
static inline uint64_t ps_touched(uint32_t word, uint32_t ndim, int32_t size, PsTouch touch) {
    return word | (uint64_t)ndim << 32 | (uint64_t)size << 40 | (uint64_t)touch << 48;
}
static inline uint32_t ps_touched_word(uint64_t t) { return (uint32_t)t; }
static inline uint32_t ps_touched_ndim(uint64_t t) { return t >> 32 & 0xff; }
static inline int64_t ps_touched_size(uint64_t t) { return t >> 40 & 0xff; } /* bytes of an element */
static inline PsTouch ps_touched_how(uint64_t t) { return (PsTouch)(t >> 48); }

/* One parallel loop. Generated main fills ndim, npartials, grain, cost, updates, scattered, touched, arrays, lo,
 * hi; ps_rt_parallel_for fills the rest (from layout's ps_layout_cut, the one place where the cut is decided). */
typedef struct PsParfor {
    int32_t ndim;          /* 1 .. PS_MAX_AXES */
    int32_t npartials;     /* reduction slots */
    int64_t grain;         /* smallest leaf worth having, in iterations */
    int64_t cost;          /* estimated ps (picoseconds) per iteration */
    int64_t rows;          /* product of all axes but the last */
    int64_t row_len;       /* length of the last axis */
    int64_t rows_per_leaf; /* >= 1; 1 when rows are cut into pieces */
    int64_t pieces;        /* per row; 1 when leaves hold whole rows */
    int64_t piece_len;     /* multiple of PS_STRIPES, or row_len when pieces == 1 */
    int64_t leaves;
    uint64_t *partials; /* [leaf][slot], one word each; valid until the launch's next loop with partials. A leaf
                           that did not run (fault, interrupt) leaves its words as they were */
    int64_t lo[PS_MAX_AXES], hi[PS_MAX_AXES];
    int32_t
        updates; /* atomics of one iteration, estimated; 0: none that look at PsTaskState.shared, and no arrays; -1: one
                    thread runs the loop */
    int32_t
        scattered;   /* arrays that the loop only adds to, and that are all it has such atomics on; 0: not so */
    int64_t touched; /* arrays: those come first, then all others that the loop reads or writes */
    uint64_t arrays[PS_MAX_TOUCHED]; /* ps_touched */
} PsParfor;

/* 0, or 1 after a fault. */
typedef int32_t (*PsMainFn)(PsFrame *frame);
typedef int32_t (*PsTaskFn)(PsTaskState *ts, const PsParfor *parfor, int64_t leaf_lo, int64_t leaf_hi);

/* Why checked code stopped; the values that go with each kind. */
typedef enum PsFaultKind {
    PS_FAULT_BOUNDS,   /* index, axis, length; the first index there is, if it is not 0 */
    PS_FAULT_DIV_ZERO, /* dividend; 1 when it is a u64 */
    PS_FAULT_ASSERT,   /* number of the message among the module's texts, values in it; or nothing */
    PS_FAULT_DOMAIN,   /* axis, low, high: a parallel loop's bounds beyond PS_INDEX_LIMIT (always checked) */
    PS_FAULT_DEPTH,    /* depth */
    PS_FAULT_RETURN,   /* a function that must return a value has ended without */
    PS_FAULT_ADD,      /* these four: the exact result does not fit the type (with overflow, in checked mode) */
    PS_FAULT_SUB,
    PS_FAULT_MUL,
    PS_FAULT_SHL,
    PS_FAULT_VIEW,   /* offset, size, length of the array */
    PS_FAULT_CALLED, /* no fault: the site of a call that led to one */
} PsFaultKind;

/* The calls that led to a fault, innermost first: of many the first and the last ones, the middle only counted. */
#define PS_FAULT_CALLS 6 /* kept of either end */
typedef struct PsFaultCalls {
    uint32_t n; /* all */
    uint32_t inner[PS_FAULT_CALLS], outer[PS_FAULT_CALLS];
} PsFaultCalls;
static inline void ps_fault_add_call(PsFaultCalls *calls, uint32_t call) {
    if (calls->n < PS_FAULT_CALLS)
        calls->inner[calls->n] = call;
    else
        calls->outer[calls->n % PS_FAULT_CALLS] = call;
    calls->n++;
}
static inline uint32_t ps_fault_kept_calls(const PsFaultCalls *calls) {
    return calls->n < 2 * PS_FAULT_CALLS ? calls->n : 2 * PS_FAULT_CALLS;
}
/* Call number i of those kept, innermost first. */
static inline uint32_t ps_fault_kept_call(const PsFaultCalls *calls, uint32_t i) {
    if (i < PS_FAULT_CALLS) return calls->inner[i];
    return calls->outer[(calls->n - ps_fault_kept_calls(calls) + i) % PS_FAULT_CALLS];
}

/* Generated functions call only what rt_symbols.def lists; the loader resolves those names. */

#endif
