/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_eval_int: shared by the files of the evaluator only.
 *
 *     ir_eval_code.c    a function's regions -> a flat list of instructions with jumps, once per run
 *     ir_eval.c         the loop over instructions: control, calls, prints, checks; entry ps_ir_eval
 *     ir_eval_memory.c  places, loads, stores, atomics, every access against its object's bounds
 *     ir_eval_tile.c    elementwise ops on tiles and the tile ops
 *     ir_eval_parfor.c  parallel loops, leaf after leaf, and their partials
 *
 * A frame is an array of words. A value has a run of them: a scalar one (its bits), a tile one per element, a place
 * an EvalPlace, an array one (its EvalArray). Each op's run is fixed when its function is flattened.
 */
#ifndef PS_IR_EVAL_INT_H
#define PS_IR_EVAL_INT_H

#include "ir/ir.h"

typedef struct EvalRun EvalRun;
typedef struct EvalIns EvalIns;

/* An array argument: its own object, bytes [low, high) from view.data. */
typedef struct EvalArray {
    PsArrayView view;
    int64_t low, high;
} EvalArray;

/* Some bytes of an object, or the elements of a tile in it. Whether they are inside is asked at the access. */
typedef struct EvalPlace {
    char *base;
    int64_t offset;
    const int64_t *strides;      /* of a tile's axes; NULL: row-major without gaps */
    int64_t low, high;           /* the object: [low, high) from base */
    int64_t index, axis, length; /* the first index that is out of bounds; axis -1: none */
} EvalPlace;
#define EVAL_PLACE_WORDS ((uint32_t)((sizeof(EvalPlace) + 7) / 8))

typedef struct EvalOperand {
    uint32_t slot;  /* first word in the frame */
    uint32_t count; /* elements; 1 for anything but a tile */
    PsType type;    /* of it as a whole */
    uint8_t unused; /* bits above a scalar integer's width */
    bool has_sign;
} EvalOperand;

/* What the loop does itself; everything else is EVAL_RUN and a function. */
typedef enum EvalCode {
    EVAL_RUN,
    EVAL_JUMP,
    EVAL_JUMP_UNLESS,
    EVAL_FOR,      /* enter or skip */
    EVAL_FOR_NEXT, /* once more, or fall out */
    EVAL_PARFOR,
    EVAL_PARFOR_NEXT,
    EVAL_CALL,
    EVAL_RETURN,
} EvalCode;

/* False: stop; the run's status, result or steps say why. */
typedef bool (*EvalFn)(EvalRun *run, const EvalIns *ins, uint64_t *words);

/* One slot of partials: all partials of a parfor with the same place and combine. */
typedef struct EvalPartial {
    PsRef place;
    EvalOperand operand; /* the place */
    PsCombine combine;
    PsType type; /* element */
    uint32_t count;
} EvalPartial;

struct EvalIns {
    uint16_t code; /* EvalCode */
    uint16_t op;   /* PsOpCode to compute with; of atomics and reductions the one they stand for */
    uint32_t nargs;
    const EvalOperand *args;
    EvalFn run;
    uint32_t dst;    /* first word of the result; of a FOR or PARFOR its (first) region parameter */
    uint32_t count;  /* elements of the result */
    uint32_t target; /* of jumps: index of an instruction */
    PsType type;     /* element that is computed with */
    PsType to;       /* as ps_eval_scalar wants it */
    PsRef ref;
    uint64_t imm;
    union {
        uint32_t storage;      /* VAR: first word of its memory */
        uint32_t slot;         /* PARTIAL: which of the parfor's */
        uint64_t *values;      /* PRINT: room for its operands */
        EvalPartial *partials; /* PARFOR: imm many */
    } u;
};

typedef struct EvalConst {
    uint32_t slot;
    uint64_t bits;
} EvalConst;
typedef struct EvalParam {
    uint32_t slot, index, words;
} EvalParam;

typedef struct EvalFunc {
    const PsFunc *func;
    PsVec(EvalIns) code;
    PsVec(EvalConst) consts;
    PsVec(EvalParam) params;
    uint32_t nwords;
} EvalFunc;

typedef struct EvalFrame EvalFrame;
struct EvalFrame {
    EvalFrame *caller;
    const EvalFunc *func;
    const EvalIns *call; /* the caller's instruction */
    int32_t depth;
    size_t size;
    uint64_t words[];
};

/* The parallel loop that is running; main has one at a time. */
typedef struct EvalParfor {
    bool active;
    PsParfor domain;
    PsLeaf leaf;
    int64_t leaf_at, row, col;
    int64_t index[PS_MAX_AXES]; /* of the current row, without the last axis */
    uint64_t **stripes;         /* [slot] of [stripe][element] */
    uint64_t **totals;          /* [slot] of [element] */
    PsArena arena;
} EvalParfor;

struct EvalRun {
    const PsModule *module;
    EvalFunc **funcs; /* flattened when first called */
    EvalFrame *frame;
    EvalParfor parfor;
    uint64_t steps; /* left */
    size_t room;    /* bytes of frames that may still be made */
    PsStatus status;
    bool done;
    PsEvalResult *out;
    PsArena arena;
};

/* ir_eval_code.c: NULL: run->status says why. */
EvalFunc *ir_eval_flatten(EvalRun *run, const PsFunc *func);

/* ir_eval.c: both return false, for `return`. */
bool ir_eval_fault(EvalRun *run, PsRef ref, PsFaultKind kind, uint32_t nvalues, const int64_t *values);
bool ir_eval_stop(EvalRun *run, PsStatus status);
/* Counts work done beyond the one step of an instruction. */
bool ir_eval_spend(EvalRun *run, uint64_t steps);
bool ir_eval_print(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_check(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_warn(EvalRun *run, const EvalIns *ins, uint64_t *words);

/* ir_eval_memory.c */
EvalArray ir_eval_array(const PsModule *m, PsType type, const PsArrayView *view);
bool ir_eval_var(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_dim(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_place(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_elem(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_base(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_stride(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_ptradd(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_load(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_address(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_clock(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_store(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_atomic(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_exchange(EvalRun *run, const EvalIns *ins, uint64_t *words); /* xchg and cas */
/* Between memory and words: a scalar, or the elements of a tile in order. `ptr`: the place's type. False after a fault. */
bool ir_eval_read(EvalRun *run, PsRef ref, const EvalPlace *place, PsType ptr, uint64_t *out);
bool ir_eval_write(EvalRun *run, PsRef ref, const EvalPlace *place, PsType ptr, const uint64_t *values);

/* ir_eval_tile.c; the first two are for all elementwise ops. */
bool ir_eval_scalar(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_map(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_splat(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_tile(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_extract(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_broadcast(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_reshape(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_permute(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_dot(EvalRun *run, const EvalIns *ins, uint64_t *words);
bool ir_eval_reduce(EvalRun *run, const EvalIns *ins, uint64_t *words);

/* ir_eval_parfor.c */
bool ir_eval_parfor_enter(EvalRun *run, const EvalIns *ins, uint64_t *words, bool *out_any);
bool ir_eval_parfor_next(EvalRun *run, const EvalIns *parfor, uint64_t *words, bool *out_more);
bool ir_eval_partial(EvalRun *run, const EvalIns *ins, uint64_t *words);

static inline uint64_t ir_eval_word(const EvalOperand *o, const uint64_t *words) { return words[o->slot]; }
/* An integer operand's value. */
static inline int64_t ir_eval_int(const EvalOperand *o, const uint64_t *words) {
    uint64_t bits = words[o->slot] << o->unused;
    return o->has_sign ? (int64_t)bits >> o->unused : (int64_t)(bits >> o->unused);
}

#endif
