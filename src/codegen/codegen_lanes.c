/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_lanes: which parallel loops are worth vectors, and of what type. Lanes run along the last axis. Every value of a
 * body has a step along it: 0 when it is the same in all lanes, a constant when it goes up evenly, or neither. An access
 * whose address goes up by the element's size is a vector load or store; one that does not is as many accesses as there
 * are lanes plus the moving of values in and out of vectors, which only much arithmetic pays for.
 */
#include "codegen/codegen_int.h"

#define UNEVEN   INT64_MIN /* the step of a value that has none */
#define ODD_WORK 6         /* vector ops that pay for an access which is none */
#define MANY_ODD 12        /* so many of them take longer to compile than any loop but the longest gains */
#define MAX_STEP ((int64_t)1 << 30)
#define MAX_BODY                                                                                               \
    2500 /* ops: the time of LLVM's loop vectoriser grows with the square: 1 s for 2,500 on 2 GHz */

typedef struct Body {
    uint32_t sizes[4];  /* accesses and float ops by their type's bytes: 1, 2, 4, 8 */
    uint32_t work, odd; /* what vectors make quicker; accesses that they make slower */
    uint64_t size;      /* ops, also of functions that are inlined */
} Body;

/* -- steps -- */

static int64_t limited(int64_t step) { return step > -MAX_STEP && step < MAX_STEP ? step : UNEVEN; }

static int64_t step_of_product(const PsFunc *f, PsRef r, int64_t a, int64_t b) {
    uint64_t bits;
    if (a == 0 && b == 0) return 0;
    PsRef other = ps_op_arg(f, r, a == 0 ? 0 : 1);
    if ((a != 0 && b != 0) || ps_op(f, r)->type != PS_I64 || !ps_op_is_const(f, other, &bits)) return UNEVEN;
    return limited((int64_t)bits) == UNEVEN ? UNEVEN : limited((int64_t)bits * (a + b));
}

/* i32 arithmetic that might wrap is not even for LLVM; pass layout has widened what can't. */
static int64_t step_of(const PsFunc *f, PsRef r, const int64_t *steps) {
    const PsOp *op = ps_op(f, r);
    bool all_same = true;
    for (uint32_t i = 0; i < op->nargs; i++) all_same &= steps[ps_op_arg(f, r, i)] == 0;
    if (ps_op_info[op->code].effect == PS_EFFECT_PURE && all_same) return 0;
    if (op->code == PS_OP_LOAD) {
        PsRef root = ps_place_root(f, ps_op_arg(f, r, 0));
        return all_same && ps_op(f, root)->code != PS_OP_VAR ? 0 : UNEVEN;
    }
    if (op->code == PS_OP_CAST) {
        PsRef from = ps_op_arg(f, r, 0);
        return ps_op(f, from)->code == PS_OP_PARAM && op->type == PS_I64 ? steps[from] : UNEVEN;
    }
    if (op->nargs != 2 || steps[ps_op_arg(f, r, 0)] == UNEVEN || steps[ps_op_arg(f, r, 1)] == UNEVEN)
        return UNEVEN;
    int64_t a = steps[ps_op_arg(f, r, 0)], b = steps[ps_op_arg(f, r, 1)];
    switch (op->code) {
    case PS_OP_ADD: return op->type == PS_I64 ? limited(a + b) : UNEVEN;
    case PS_OP_SUB: return op->type == PS_I64 ? limited(a - b) : UNEVEN;
    case PS_OP_MUL: return step_of_product(f, r, a, b);
    case PS_OP_PTRADD: return limited(a + b);
    default: return UNEVEN;
    }
}

/* -- what a body is made of -- */

static void count_type(Body *body, PsType type, bool is_access) {
    int size = cg_is_half(type) && !is_access ? 4 : ps_scalar_size(type);
    body->sizes[__builtin_ctz((unsigned)size)]++;
}

static void count_access(Body *body, const PsFunc *f, PsRef place, PsType type, int64_t step) {
    int64_t size = ps_scalar_size(type);
    if (ps_op(f, ps_place_root(f, place))->code == PS_OP_VAR) return;
    body->work += step == size || step == -size;
    body->odd += step != 0 && step != size && step != -size;
}

/* What is still there when locals have become values. */
static bool is_work(const PsFunc *f, PsRef r) {
    const PsOp *op = ps_op(f, r);
    if (op->code == PS_OP_LOAD || op->code == PS_OP_STORE)
        return ps_op(f, ps_place_root(f, ps_op_arg(f, r, 0)))->code != PS_OP_VAR;
    return ps_op_info[op->code].effect == PS_EFFECT_PURE && op->code != PS_OP_CONST && op->code != PS_OP_ARG;
}

static uint64_t size_of(const PsFunc *f) {
    uint64_t size = 0;
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) size += is_work(f, r);
    return size;
}

static void count_op(Body *body, const PsFunc *f, PsRef r, const int64_t *steps) {
    const PsOp *op = ps_op(f, r);
    PsType type = op->type;
    body->size += is_work(f, r);
    if (op->code == PS_OP_STORE || op->code == PS_OP_PARTIAL) type = ps_op(f, ps_op_arg(f, r, 1))->type;
    if (!ps_type_is_scalar(type) || op->code == PS_OP_CONST) return;
    if (op->code == PS_OP_STORE || op->code == PS_OP_LOAD) {
        count_type(body, type, true);
        count_access(body, f, ps_op_arg(f, r, 0), type, steps[ps_op_arg(f, r, 0)]);
    } else if (op->code == PS_OP_PARTIAL) {
        count_type(body, type, true);
        body->work++;
    } else {
        if (cg_is_float(type)) count_type(body, type, false);
        body->work += ps_op_info[op->code].effect == PS_EFFECT_PURE && steps[r] == UNEVEN;
    }
}

/* The type whose lanes fill a vector is the one that most accesses and float ops have; of equals, the larger. */
static int element_of(const Body *body) {
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (body->sizes[i] >= body->sizes[best]) best = i;
    return body->sizes[best] ? 1 << best : 4;
}

void cg_lanes_survey(Codegen *cg) {
    const PsFunc *f = cg->m->funcs.data[0];
    Body *bodies = ps_arena_alloc(cg->arena, sizeof *bodies * (cg->parfors.len + 1));
    int64_t *steps =
        ps_arena_alloc(cg->arena, sizeof *steps * (f->ops.len + 1)); /* 0: also what main computed */
    uint64_t *sizes = ps_arena_alloc(cg->arena, sizeof *sizes * (cg->m->funcs.len + 1)); /* 0: not yet known */
    if (!bodies || !steps || !sizes) return;
    for (uint32_t i = 0; i < cg->parfors.len; i++) {
        const PsRegionInfo *region = ps_region(f, ps_op(f, cg->parfors.data[i].ref)->region0);
        if (region->nparams) steps[region->params + region->nparams - 1] = 1;
    }
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        uint32_t home = cg->homes[r].parfor;
        if (!home) continue;
        steps[r] = step_of(f, r, steps);
        count_op(&bodies[home], f, r, steps);
        const PsOp *op = ps_op(f, r);
        if (op->code != PS_OP_CALL || op->imm >= cg->m->funcs.len || !cg->funcs[op->imm].inlined) continue;
        if (!sizes[op->imm]) sizes[op->imm] = size_of(cg->m->funcs.data[op->imm]);
        bodies[home].size += sizes[op->imm];
    }
    for (uint32_t i = 0; i < cg->parfors.len; i++) {
        const Body *body = &bodies[i + 1];
        cg->parfors.data[i].element = element_of(body);
        cg->parfors.data[i].serial |=
            (uint64_t)body->odd * ODD_WORK > body->work || body->odd > MANY_ODD || body->size > MAX_BODY;
    }
}
