/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_poll: stopping long loops. The runtime polls the launch's interrupt between leaves of parallel loops; what may
 * take long within a leaf, or in serial code, polls it here: one load and a branch that is never taken, at the start of
 * the body of
 *
 *     each `while`, and each loop that holds another loop which may be long, or calls a function with one
 *     each function that may call itself
 *
 * Loops that hold none are what LLVM makes vectors of. Where they may be long (in serial code; bodies that take a while;
 * indices of 64 bits) they are cut into chunks, and the poll stands between two of them, as it does between some rows of
 * a parallel loop. Elsewhere they stay as they are: a chunk costs a nanosecond, and there are loops of three iterations.
 * When the poll finds the flag set, the function returns as after a fault, and sets ts->fault where its caller looks for
 * that. No poll changes what a loop computes.
 *
 * Here too, from the same walk: whether a kernel may run for long, so that the launcher can decide what to do about it.
 */
#include "codegen/codegen_int.h"

#include "math/math.h"

#define SHORT_TRIPS 64    /* a loop of at most so many iterations is none for those around it ... */
#define NEST_TRIPS  4096  /* ... unless a nest of such loops has more than this */
#define CHUNK_WORK  20    /* simple ops in a body from which a chunk's cost does not matter */
#define LONG_TRIPS  32768 /* a nest of this many iterations may take long whatever the arguments */
#define MANY_TRIPS  ((uint64_t)1 << 40)

_Static_assert(CG_CHUNK % PS_STRIPES == 0, "blocks of a reduction are not cut");

enum { EACH = 1, HELD = 2 }; /* of FuncInfo.polls: polls in each iteration; holds a loop that may be long */

/* -- how long loops are -- */

static uint64_t times(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) || product > MANY_TRIPS ? MANY_TRIPS : product;
}

/* Iterations of a for or parfor whose bounds are constants; false: they are not. */
static bool const_trips(const PsFunc *f, PsRef r, uint64_t *out) {
    const PsOp *op = ps_op(f, r);
    *out = 1;
    if (op->code == PS_OP_WHILE) return false;
    for (uint32_t i = 0; i + 1 < op->nargs; i += 2) {
        PsRef low = ps_op_arg(f, r, i), high = ps_op_arg(f, r, i + 1);
        uint64_t a, b;
        if (!ps_op_is_const(f, low, &a) || !ps_op_is_const(f, high, &b)) return false;
        int64_t lo = ps_op(f, low)->type == PS_I32 ? (int32_t)a : (int64_t)a;
        int64_t hi = ps_op(f, high)->type == PS_I32 ? (int32_t)b : (int64_t)b;
        *out = times(*out, hi > lo ? (uint64_t)hi - (uint64_t)lo : 0);
    }
    return true;
}

/* A value that a program cannot make large without having memory or time for it: lengths, constants, sums of them.
 * *array becomes the array of one such length. */
static bool is_bounded(const PsFunc *f, PsRef r, int depth, PsRef *array) {
    const PsOp *op = ps_op(f, r);
    switch (op->code) {
    case PS_OP_DIM: *array = ps_op_arg(f, r, 0); return true;
    case PS_OP_CONST:
    case PS_OP_PARAM: return true;
    case PS_OP_CAST:
    case PS_OP_ADD:
    case PS_OP_SUB:
    case PS_OP_MIN:
    case PS_OP_MAX:
    case PS_OP_FLOORDIV:
    case PS_OP_MOD: break;
    default: return false;
    }
    if (depth > 6) return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!is_bounded(f, ps_op_arg(f, r, i), depth + 1, array)) return false;
    return true;
}

/* Whether all bounds of a for or parfor are such values, and of how many arrays' lengths the product is (at least 1). */
static bool measure(const PsFunc *f, PsRef r, uint32_t *out_arrays) {
    const PsOp *op = ps_op(f, r);
    PsRef arrays[PS_MAX_AXES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < op->nargs; i++) {
        PsRef array = 0;
        bool seen = false;
        if (!is_bounded(f, ps_op_arg(f, r, i), 0, &array)) return false;
        for (uint32_t k = 0; k < n; k++) seen |= arrays[k] == array;
        if (array && !seen && n < PS_MAX_AXES) arrays[n++] = array;
    }
    *out_arrays = n ? n : 1;
    return true;
}

/* The nest that the loop or call `r` is the innermost part of: constant iterations, lengths multiplied. */
static void weigh_nest(const PsFunc *f, PsRef r, uint64_t trips, uint32_t degree, FuncInfo *info) {
    for (; r; r = cg_owner(f, r)) {
        uint64_t constant;
        uint32_t arrays;
        if (!cg_is_loop(f, r)) continue;
        if (const_trips(f, r, &constant))
            trips = times(trips, constant);
        else if (ps_op(f, r)->code == PS_OP_WHILE || !measure(f, r, &arrays))
            info->unbounded = true;
        else
            degree += arrays;
    }
    if (trips > info->trips) info->trips = trips;
    if (degree > info->degree) info->degree = degree;
}

/* -- who polls -- */

/* What is around the loop or call `r` of so many iterations (MANY_TRIPS: unknown). */
static void mark_outer(const PsFunc *f, PsRef r, uint64_t trips, FuncInfo *info) {
    bool is_long = trips > SHORT_TRIPS;
    info->lasting |= is_long;
    for (r = cg_owner(f, r); r; r = cg_owner(f, r)) {
        uint64_t constant;
        uint16_t code = ps_op(f, r)->code;
        if (!cg_is_loop(f, r)) continue;
        if (!is_long && code == PS_OP_FOR && const_trips(f, r, &constant)) {
            trips = times(trips, constant);
            is_long = trips > NEST_TRIPS;
            info->lasting |= is_long;
        }
        if (!is_long) continue;
        if (info->polls[r] & HELD) return;
        info->polls[r] = EACH | HELD;
    }
}

void cg_poll_survey(Codegen *cg, uint32_t index) {
    const PsFunc *f = cg->m->funcs.data[index];
    FuncInfo *info = &cg->funcs[index];
    info->polls = ps_arena_alloc(cg->arena, f->ops.len + 1);
    if (!info->polls) return;
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        const PsOp *op = ps_op(f, r);
        uint64_t trips = MANY_TRIPS;
        if (op->code == PS_OP_CALL && op->imm < cg->m->funcs.len) {
            const FuncInfo *callee = &cg->funcs[op->imm];
            bool again = !callee->known; /* it may call itself */
            if (again || callee->lasting) mark_outer(f, r, MANY_TRIPS, info);
            info->unbounded |= again || callee->unbounded;
            weigh_nest(f, r, callee->known ? callee->trips : 1, callee->degree, info);
        } else if (cg_is_loop(f, r)) {
            if (op->code == PS_OP_WHILE) info->polls[r] |= EACH;
            if (op->code != PS_OP_PARFOR)
                mark_outer(f, r, const_trips(f, r, &trips) ? trips : MANY_TRIPS, info);
            weigh_nest(f, r, 1, 0, info);
        }
    }
}

void cg_poll_conclude(const Codegen *cg) {
    const FuncInfo *main = &cg->funcs[0];
    cg->out->has_recursion = cg->has_recursion;
    cg->out->has_nested_loops = main->degree >= 2;
    cg->out->has_unbounded_loops = main->unbounded || main->degree >= 3 || main->trips > LONG_TRIPS ||
                                   (main->degree >= 2 && main->trips > SHORT_TRIPS);
}

static const FuncInfo *info_of(const Emitter *e) { return e->info ? e->info : &e->cg->funcs[0]; }

bool cg_poll_each(const Emitter *e, PsRef loop) {
    const uint8_t *polls = info_of(e)->polls;
    return polls && polls[loop] & EACH;
}

/* In simple ops. */
static uint32_t work_of(const PsFunc *f, PsRef r) {
    switch (ps_op(f, r)->code) {
    case PS_OP_CONST:
    case PS_OP_CAST:
    case PS_OP_BASE:
    case PS_OP_STRIDE:
    case PS_OP_PTRADD: return 0;
    case PS_OP_FLOORDIV:
    case PS_OP_MOD:
    case PS_OP_TRUNCDIV:
    case PS_OP_TRUNCMOD: return 10;
#define MATH(OP, op) case PS_OP_##OP:
        PS_MATH_UNARY(MATH)
        PS_MATH_BINARY(MATH)
#undef MATH
    case PS_OP_IPOW:
    case PS_OP_CALL:
    case PS_OP_PRINT: return CHUNK_WORK;
    default: return 1;
    }
}

static bool has_more_work(const PsFunc *f, PsRef loop, uint32_t most) {
    PsRef end = ps_walk_skip(f, loop);
    uint32_t work = 0;
    for (PsRef r = ps_walk_next(f, loop); r && r != end && work <= most; r = ps_walk_next(f, r))
        work += work_of(f, r);
    return work > most;
}

bool cg_poll_chunks(const Emitter *e, PsRef loop) {
    const PsFunc *f = e->f;
    uint64_t trips;
    if (cg_poll_each(e, loop)) return false;
    if (ps_op(f, loop)->code == PS_OP_PARFOR) return has_more_work(f, loop, CHUNK_WORK);
    if (const_trips(f, loop, &trips)) return trips > CG_CHUNK;
    if (e->kind == EMIT_MAIN || ps_op(f, ps_region(f, ps_op(f, loop)->region0)->params)->type == PS_I64)
        return true;
    return has_more_work(f, loop, CHUNK_WORK);
}

/* -- the poll -- */

/* The flag's address never changes in a launch, which LLVM cannot know. */
static LLVMValueRef flag_of(Emitter *e) {
    Codegen *cg = e->cg;
    if (e->interrupt) return e->interrupt;
    LLVMBuilderRef back = e->b;
    e->b = e->entry;
    e->interrupt = cg_load_at(e, cg->ptr, e->ts, offsetof(PsTaskState, interrupt), 8);
    e->b = back;
    LLVMSetMetadata(e->interrupt, cg->md_invariant,
                    LLVMMetadataAsValue(cg->ctx, LLVMMDNodeInContext2(cg->ctx, NULL, 0)));
    return e->interrupt;
}

void cg_poll(Emitter *e) {
    Codegen *cg = e->cg;
    LLVMBasicBlockRef go = cg_block(e, "go"), out = cg_block(e, "interrupted");
    LLVMValueRef flag = LLVMBuildLoad2(e->b, cg->i32, flag_of(e), "");
    LLVMSetAlignment(flag, 4);
    LLVMSetVolatile(flag, 1);
    cg_branch_cold(e, LLVMBuildICmp(e->b, LLVMIntEQ, flag, LLVMConstInt(cg->i32, 0, 0), ""), go, out);
    LLVMPositionBuilderAtEnd(e->b, out);
    if (e->kind == EMIT_FUNC)
        cg_store_at(e, LLVMConstInt(cg->i32, 1, 0), e->ts, offsetof(PsTaskState, fault), 4);
    cg_return_fault(e);
    LLVMPositionBuilderAtEnd(e->b, go);
}

void cg_chunks_begin(Emitter *e, Chunks *chunks, LLVMValueRef lo, LLVMValueRef hi, uint64_t iterations) {
    Codegen *cg = e->cg;
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    LLVMValueRef most = LLVMConstInt(cg->i64, iterations, 0);
    chunks->head = cg_block(e, "chunk");
    chunks->leave = cg_block(e, "end");
    chunks->hi = hi;
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, lo, hi, ""), chunks->head, chunks->leave);
    LLVMPositionBuilderAtEnd(e->b, chunks->head);
    chunks->lo = LLVMBuildPhi(e->b, cg->i64, "");
    LLVMAddIncoming(chunks->lo, &lo, &from, 1);
    cg_poll(e);
    LLVMValueRef left = LLVMBuildSub(e->b, hi, chunks->lo, ""); /* as unsigned; lo < hi */
    LLVMValueRef part = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntULT, left, most, ""), left, most, "");
    chunks->end = LLVMBuildAdd(e->b, chunks->lo, part, "");
}

void cg_chunks_end(Emitter *e, Chunks *chunks) {
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    LLVMAddIncoming(chunks->lo, &chunks->end, &from, 1);
    LLVMValueRef done = LLVMBuildICmp(e->b, LLVMIntEQ, chunks->end, chunks->hi, "");
    LLVMBuildCondBr(e->b, done, chunks->leave, chunks->head);
    LLVMPositionBuilderAtEnd(e->b, chunks->leave);
}
