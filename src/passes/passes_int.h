/* SPDX-License-Identifier: Apache-2.0
 *
 * passes_int: what the passes share among themselves: entry points, where values stand, in-place changes of ops, keys
 * of values, ranges with their context.
 *
 * A pass changes an op where it stands rather than building another and replacing all uses: a replacement reads the
 * whole function, an in-place change costs nothing, so every pass stays linear in the module's size.
 */
#ifndef PS_PASSES_PASSES_INT_H
#define PS_PASSES_PASSES_INT_H

#include "passes/passes.h"

#define PS_PASS(name, checked_only, doc) PsStatus ps_pass_##name(PsModule *m, PsDiag *diag);
#include "passes/passes.def"

/* -- passes_util.c -- */

/* The parallel loop each value stands in, its region's parameters included, 0 if none; by PsRef, for the ops there are
 * now. NULL: no memory. */
PsRef *passes_parfor_of(const PsFunc *f);
void passes_note(const PsFunc *f, PsRef op, PsNoteId id, const char *word); /* for `explain` */

PsStatus passes_contract_func(PsFunc *f);        /* pass_contract.c */
void passes_check_overflow(PsFunc *f, PsRef op); /* pass_check_overflow.c */
PsBuilder passes_after(PsFunc *f, PsRef op);     /* adds right after the op; new ops carry its span */
PsBuilder passes_before(PsFunc *f, PsRef op);    /* adds right before the op; new ops carry its span */
/* Makes the op another one without regions, keeping its place in the list, its type and its span. */
bool passes_become(PsFunc *f, PsRef op, PsOpCode code, const PsRef *args, uint32_t nargs, uint64_t imm);
bool passes_is_exit(const PsFunc *f, PsRef op); /* break, continue or return */
/* Removes what follows in the op's region, where an op that never ends normally stands; not in a while's condition,
 * which must keep its yield. */
void passes_cut_after(PsFunc *f, PsRef op);
bool passes_in_condition(const PsFunc *f, PsRef op); /* directly in the first region of a while */

bool passes_is_int(const PsModule *m, PsType type);   /* an integer scalar, u1 included */
bool passes_is_float(const PsModule *m, PsType type); /* a float scalar or a tile of floats */
bool passes_is_int_division(PsOpCode code); /* of integer operands: the ops whose divisor may not be 0 */
bool passes_is_atomic(PsOpCode code);
bool passes_atomic_combine(PsOpCode code, PsCombine *out); /* false: xchg, cas and what is no atomic */
/* The parameter an array operand is; -1 when it is no parameter. */
int64_t passes_array_param(const PsFunc *f, PsRef array);
int64_t passes_signed(PsType scalar, uint64_t bits); /* an integer constant's value; u64 as two's complement */

/* -- passes_key.c: values by what they compute -- */

/* Equal keys: equal values, within one iteration of one loop. `fixed`: the same value in all iterations. */
#define PASS_KEY_MAX 240
typedef struct PassKey {
    uint8_t bytes[PASS_KEY_MAX];
    uint32_t len;
    bool ok;       /* false: too long or not a pure function of values known by their names */
    bool fixed;    /* no part of it changes while the loop runs */
    bool constant; /* nothing but constants */
} PassKey;
/* A parallel loop and what is known of the function around it. */
typedef struct PassLoop {
    PsFunc *f;
    PsRef loop;
    const PsRef *parfor_of; /* passes_parfor_of(f) */
    uint32_t known;         /* ops there were then */
    PsRef *written_in;      /* by PsRef of a local: the last loop seen to write it */
} PassLoop;
void passes_key_start(PassKey *key, uint64_t first);
void passes_key_value(const PassLoop *loop, PassKey *key, PsRef value);
/* The value of a fixed key, computed again where the builder stands (outside the loop). */
PsRef passes_key_rebuild(const PassLoop *loop, PsBuilder *b, PsRef value);
/* Notes in written_in[] every local that ops of the loop write: to be done before keys are asked for. */
void passes_note_written(const PassLoop *loop);
bool passes_is_inside(const PassLoop *loop, PsRef value);

/* -- passes_range.c -- */

/* Whether an add, sub or mul gives the exact result: no value of its operands' ranges wraps. */
bool passes_is_exact(const PsFunc *f, PsRef value);
/* Whether 0 <= index < length of the axis of array parameter `param`, whatever the launch. */
bool passes_in_bounds(const PsFunc *f, PsRef index, int64_t param, uint32_t axis);

#endif
