/* SPDX-License-Identifier: Apache-2.0
 *
 * math: functions such as exp and sin are written out as arithmetic (ps_build_math), in loops that can then run in vectors.
 * The evaluator, and the functions that generated code calls where nothing was written out, compute the same steps, so no
 * bit depends on what this pass does.
 *
 * Written out is all of a parallel loop or nothing, and of a function that such loops call: one call that stays keeps LLVM
 * from making vectors, and in scalar code a call costs no more than its text, which would only take time to compile. So a
 * loop with something in it that has no vectors keeps its calls. f16 and bf16 are computed in f32.
 *
 * Needs scalars (pass tiles). Runs after check: the steps are exact where they should be, and never fault.
 */
#include "passes/passes_int.h"

#include "math/math.h"

#define MAX_CALLS  16 /* of a loop: beyond, the time to compile them is worth more */
#define MAX_TRIPS  8  /* of an inner loop that LLVM unrolls */
#define MAX_NESTED 32 /* calls of functions */

static const bool has_text[PS_OP_COUNT] = {
#define MATH(OP, op) [PS_OP_##OP] = true,
    PS_MATH_UNARY(MATH) PS_MATH_BINARY(MATH)
#undef MATH
};

/* fmod has none: it takes as many steps as the quotient has bits; and sin_far and its like are what texts call. */
static bool is_math(PsOpCode code) {
    return has_text[code] && code != PS_OP_FMOD && (code < PS_OP_SIN_FAR || code > PS_OP_TAN_FAR);
}

/* -- what can be vectors -- */

typedef struct Body {
    uint32_t calls; /* of math functions, also in functions it calls */
    bool blocked, needs_lanes, calls_functions;
} Body;

enum { NOT_YET, RUNNING, DONE };
typedef struct Work {
    PsModule *m;
    Body *bodies;    /* of functions */
    uint8_t *states; /* of bodies */
    bool *wanted;    /* functions to be written out */
} Work;

static bool is_short(const PsFunc *f, const PsOp *loop) {
    uint64_t low, high;
    if (loop->imm || !ps_op_is_const(f, f->args.data[loop->args], &low)) return false;
    return ps_op_is_const(f, f->args.data[loop->args + 1], &high) && high - low <= MAX_TRIPS;
}

static bool is_float(PsType type) { return ps_type_is_scalar(type) && ps_scalar_class(type) == PS_CLASS_FLOAT; }

/* What no loop in vectors may hold; and what only lanes of our own may, which call no functions. */
static bool blocks(PsOpCode code) {
    return ps_op_info[code].lane == PS_LANE_SERIAL || code == PS_OP_CHECK || code == PS_OP_WARN;
}

static bool blocks_llvm(const PsFunc *f, PsRef r) {
    const PsOp *op = ps_op(f, r);
    uint64_t bits;
    switch (op->code) {
    case PS_OP_FOR: return !is_short(f, op);
    case PS_OP_WHILE:
    case PS_OP_FMOD: return true;
    case PS_OP_MOD:
    case PS_OP_FLOORDIV: return is_float(op->type);
    case PS_OP_IPOW: return !ps_op_is_const(f, ps_op_arg(f, r, 1), &bits);
    default: return passes_is_atomic((PsOpCode)op->code);
    }
}

static Body body_of(Work *w, const PsFunc *f, PsRef first, PsRef end, int depth);

static Body function(Work *w, uint32_t index, int depth) {
    const PsFunc *f = w->m->funcs.data[index];
    if (w->states[index] == DONE) return w->bodies[index];
    if (w->states[index] == RUNNING || depth > MAX_NESTED) return (Body){.blocked = true};
    w->states[index] = RUNNING;
    w->bodies[index] = body_of(w, f, ps_walk_first(f), 0, depth + 1);
    w->states[index] = DONE;
    return w->bodies[index];
}

static Body body_of(Work *w, const PsFunc *f, PsRef first, PsRef end, int depth) {
    Body body = {0};
    for (PsRef r = first; r && r != end; r = ps_walk_next(f, r)) {
        const PsOp *op = ps_op(f, r);
        body.blocked |= blocks((PsOpCode)op->code);
        body.needs_lanes |= blocks_llvm(f, r);
        body.calls += is_math((PsOpCode)op->code);
        if (op->code != PS_OP_CALL || op->imm >= w->m->funcs.len) continue;
        Body callee = function(w, (uint32_t)op->imm, depth);
        body.calls += callee.calls;
        body.blocked |= callee.blocked;
        body.needs_lanes |= callee.needs_lanes;
        body.calls_functions = true;
    }
    body.blocked |= body.calls > MAX_CALLS || (body.needs_lanes && body.calls_functions);
    return body;
}

/* -- writing out -- */

typedef struct Swap {
    PsRef old, new;
} Swap;
typedef PsVec(Swap) Swaps;

static PsRef write_out(PsFunc *f, PsRef r) {
    PsBuilder b = passes_before(f, r);
    PsOpCode code = (PsOpCode)ps_op(f, r)->code;
    PsType type = ps_op(f, r)->type, wide = type == PS_F64 ? PS_F64 : PS_F32;
    bool two = ps_op(f, r)->nargs > 1;
    PsRef left = ps_op_arg(f, r, 0), right = two ? ps_op_arg(f, r, 1) : 0;
    PsRef a = ps_build_cast(&b, left, wide), c = two ? ps_build_cast(&b, right, wide) : 0;
    return ps_build_cast(&b, ps_build_math(&b, code, a, c), type);
}

static bool write_range(Work *w, PsFunc *f, PsRef first, PsRef end, Swaps *swaps) {
    for (PsRef r = first; r && r != end; r = ps_walk_next(f, r)) {
        const PsOp *op = ps_op(f, r);
        if (op->code == PS_OP_CALL && op->imm < w->m->funcs.len) w->wanted[op->imm] = true;
        if (!is_math((PsOpCode)op->code) || !is_float(op->type)) continue;
        passes_note(f, r, PS_NOTE_MATH_TEXT, ps_op_info[op->code].name);
        Swap swap = {r, write_out(f, r)};
        if (!swap.new || !ps_vec_push(w->m->arena, swaps, swap)) return false;
    }
    return true;
}

static bool swap_all(PsFunc *f, const Swaps *swaps) {
    if (!swaps->len) return true;
    PsRef *map = ps_arena_alloc(f->module->arena, sizeof *map * f->ops.len);
    if (!map) return false;
    for (uint32_t i = 0; i < swaps->len; i++) map[swaps->data[i].old] = swaps->data[i].new;
    ps_func_remap(f, map);
    for (uint32_t i = 0; i < swaps->len; i++) ps_op_remove(f, swaps->data[i].old);
    return true;
}

static bool in_loops(Work *w, PsFunc *main) {
    Swaps swaps = {0};
    for (PsRef r = ps_region(main, 1)->first; r; r = ps_op(main, r)->next) {
        if (ps_op(main, r)->code != PS_OP_PARFOR) continue;
        PsRef first = ps_region(main, ps_op(main, r)->region0)->first, end = ps_walk_skip(main, r);
        Body body = body_of(w, main, first, end, 0);
        if (!body.calls || body.blocked) continue;
        if (!write_range(w, main, first, end, &swaps)) return false;
    }
    return swap_all(main, &swaps);
}

/* Functions that a loop calls may stand anywhere: until no other is wanted. */
static bool in_functions(Work *w) {
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 1; i < w->m->funcs.len; i++) {
            if (!w->wanted[i] || w->states[i] == NOT_YET) continue;
            PsFunc *f = w->m->funcs.data[i];
            Swaps swaps = {0};
            more = true;
            w->states[i] = NOT_YET;
            if (!write_range(w, f, ps_walk_first(f), 0, &swaps) || !swap_all(f, &swaps)) return false;
        }
    }
    return true;
}

PsStatus ps_pass_math(PsModule *m, PsDiag *diag) {
    (void)diag;
    uint32_t n = m->funcs.len;
    if (!n) return PS_OK;
    Work w = {.m = m,
              .bodies = ps_arena_alloc(m->arena, sizeof *w.bodies * n),
              .states = ps_arena_alloc(m->arena, n),
              .wanted = ps_arena_alloc(m->arena, sizeof *w.wanted * n)};
    if (!w.bodies || !w.states || !w.wanted) return PS_NOMEM;
    return in_loops(&w, m->funcs.data[0]) && in_functions(&w) ? PS_OK : PS_NOMEM;
}
