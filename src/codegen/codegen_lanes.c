/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_lanes: which parallel loops are worth vectors, and of what type. Lanes run along the last axis. An access whose
 * address goes up by the element's size is a vector load or store; one that does not is as many accesses as there
 * are lanes plus the moving of values in and out of vectors, which only much arithmetic pays for.
 */
#include "codegen/codegen_int.h"

#define ODD_WORK 6  /* vector ops that pay for an access which is none */
#define MANY_ODD 12 /* so many of them take longer to compile than any loop but the longest gains */
#define MAX_LOCALS                                                                                             \
    4096 /* bytes: times W they would no longer be in the first cache; CG_MAX_LOCALS is for scalars */
#define MAX_BODY                                                                                               \
    2500 /* ops: the time of LLVM's loop vectoriser grows with the square: 1 s for 2,500 on 2 GHz */

typedef struct Body {
    uint32_t sizes[4];    /* accesses and arithmetic by their type's bytes: 1, 2, 4, 8 */
    uint32_t work, odd;   /* what vectors make quicker; accesses that they make slower */
    uint64_t size;        /* ops, also of functions that are inlined */
    uint64_t locals;      /* bytes of one iteration's */
    bool refused;         /* lanes would change the program, or cannot do something of it yet */
    PsNoteId why;         /* refused, by the first reason found ... */
    PsRef why_op;         /* ... and the op that is it, or 0 */
    bool parts;           /* holds a loop that diverges */
    bool rounds;          /* holds a loop that stores nothing in arrays: what is around it hardly counts */
    uint32_t parting;     /* ops in such loops; UINT32_MAX: some are accesses of arrays */
    uint32_t each;        /* accesses lane by lane */
    uint32_t scatters;    /* stores that are no rows */
    double scalar, lanes; /* estimates: simple ops of one iteration; of W at a time, by W = 8 */
} Body;

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
        bool is_small_int =
            steps[r] == CG_UNEVEN && type != PS_U1 && ps_scalar_size(type) < 8; /* i64: addresses */
        if (cg_is_float(type) || is_small_int) count_type(body, type, false);
        body->work += ps_op_info[op->code].effect == PS_EFFECT_PURE && steps[r] == CG_UNEVEN;
    }
}

/* The type whose lanes fill a vector is the one that most accesses and operations have; of equals, the larger. */
static int element_of(const Body *body) {
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (body->sizes[i] >= body->sizes[best]) best = i;
    return body->sizes[best] ? 1 << best : 4;
}

/* -- what lanes cannot do -- */

/* Checks are one iteration's, as is what ops.def says; a call would need lanes of its own. (Places are gone after pass
 * layout.) */
static bool is_refused(const PsFunc *f, PsRef r) {
    uint16_t code = ps_op(f, r)->code;
    return ps_op_info[code].lane == PS_LANE_SERIAL || code == PS_OP_CHECK || code == PS_OP_WARN ||
           code == PS_OP_CALL || code == PS_OP_PLACE;
}

static void refuse(Body *body, PsNoteId why, PsRef op) {
    if (body->refused) return;
    body->refused = true;
    body->why = why;
    body->why_op = op;
}

static void refuse_op(Body *body, const PsFunc *f, PsRef r) {
    uint16_t code = ps_op(f, r)->code;
    bool is_check = code == PS_OP_CHECK || code == PS_OP_WARN;
    if (!is_refused(f, r)) return;
    refuse(body,
           code == PS_OP_CALL ? PS_NOTE_SCALAR_CALL
           : is_check         ? PS_NOTE_SCALAR_CHECK
                              : PS_NOTE_SCALAR_OP,
           r);
}

/* The array that an op reads or writes an element of; 0: none. */
static PsRef array_of(const PsFunc *f, PsRef r) {
    const PsOp *op = ps_op(f, r);
    PsEffect effect = ps_op_info[op->code].effect;
    if (effect != PS_EFFECT_READ && effect != PS_EFFECT_WRITE) return 0;
    PsRef root = ps_place_root(f, ps_op_arg(f, r, 0));
    return ps_op(f, root)->code == PS_OP_BASE ? ps_op_arg(f, root, 0) : 0;
}

static void note_writes(const PsFunc *f, PsRef parfor, uint8_t *written) {
    PsRef end = ps_walk_skip(f, parfor);
    for (PsRef r = ps_walk_next(f, parfor); r && r != end; r = ps_walk_next(f, r))
        if (ps_op_info[ps_op(f, r)->code].effect == PS_EFFECT_WRITE) written[array_of(f, r)] = 1;
    written[0] = 0;
}

/* A while that reads an array which the parallel loop writes may be waiting for it, that is for a lane of the same vector. */
static bool may_wait(const PsFunc *f, PsRef parfor, const uint8_t *written) {
    PsRef end = ps_walk_skip(f, parfor), inner_end = parfor;
    bool inside = false;
    for (PsRef r = ps_walk_next(f, parfor); r && r != end; r = ps_walk_next(f, r)) {
        if (r == inner_end) inside = false;
        if (inside && written[array_of(f, r)]) return true;
        if (inside || ps_op(f, r)->code != PS_OP_WHILE) continue;
        inside = true;
        inner_end = ps_walk_skip(f, r);
    }
    return false;
}

/* -- what lanes gain -- */

#define TYPICAL_WIDTH 8
#define GATHERED      0.8  /* of an element that a gather loads, against one loaded alone */
#define LARGE_BODY    1500 /* ops: as many must gain once more what they cost, for the time to compile them */
#define MUCH_ADDED    4 /* the same, for accesses lane by lane that make as much code as there is without them */
#define TURNS         16  /* of a loop */
#define IMBALANCE     1.5 /* lanes wait for the one that goes round longest */
#define SHORT_LOOP    24  /* ops of loops that wait for their own results rather than for free units */
#define SHORT_LOCALS  8   /* that take less than half of 32 registers in two vectors each */

typedef struct Cost {
    double scalar, lanes;
    bool each; /* lane by lane */
} Cost;

/* Steps lead to the place from one that lanes share or are neighbours at. */
static bool is_gathered(const Codegen *cg, const PsFunc *f, PsRef place, PsType type) {
    while (cg->uniform.steps[place] == CG_UNEVEN && ps_op(f, place)->code == PS_OP_PTRADD)
        place = ps_op_arg(f, place, 0);
    return cg_lane_gathers(cg, type) && cg->uniform.steps[place] != CG_UNEVEN;
}

/* An access that is not a row: a gather; or lane by lane, with an address each, and a choice of address where lanes may be
 * inactive. */
static Cost cost_of_access(const Codegen *cg, const PsFunc *f, PsRef r, PsRef place, PsType type, bool masked) {
    int64_t step = cg->uniform.steps[place], size = ps_scalar_size(type);
    if (step == 0)
        return (Cost){1, ps_op(f, ps_place_root(f, place))->code == PS_OP_VAR ? 1 : 1.0 / TYPICAL_WIDTH};
    if (step == size || step == -size) return (Cost){1, ps_op(f, r)->code == PS_OP_STORE && masked ? 4 : 1};
    if (is_gathered(cg, f, place, type)) return (Cost){1, TYPICAL_WIDTH * (masked ? 3 : GATHERED), false};
    return (Cost){1, TYPICAL_WIDTH * (masked ? 4 : 1.5), true};
}

static Cost cost_of_op(const Codegen *cg, const PsFunc *f, PsRef r, bool masked) {
    const PsOp *op = ps_op(f, r);
    bool varies = cg->uniform.steps[r] == CG_UNEVEN, parts = cg->uniform.marks[r] & CG_DIVERGES;
    switch (op->code) {
    case PS_OP_LOAD: return cost_of_access(cg, f, r, ps_op_arg(f, r, 0), op->type, masked);
    case PS_OP_STORE:
        return cost_of_access(cg, f, r, ps_op_arg(f, r, 0), ps_op(f, ps_op_arg(f, r, 1))->type, masked);
    case PS_OP_PARTIAL: return (Cost){2, 2};
    case PS_OP_IF: return parts ? (Cost){4, 3} : (Cost){1, 1.0 / TYPICAL_WIDTH};
    case PS_OP_FOR:
    case PS_OP_WHILE: return parts ? (Cost){4, 8} : (Cost){2, 2.0 / TYPICAL_WIDTH};
    case PS_OP_FLOORDIV:
    case PS_OP_MOD:
    case PS_OP_TRUNCDIV:
    case PS_OP_TRUNCMOD:
        if (!cg_is_float(op->type)) return (Cost){10, varies ? 13 * TYPICAL_WIDTH : 1};
        break;
    default: break;
    }
    if (op->code >= PS_OP_ATOMIC_ADD && op->code <= PS_OP_ATOMIC_XOR)
        return (Cost){3, 16 * TYPICAL_WIDTH}; /* a thread alone adds plainly */
    if (cg_is_math((PsOpCode)op->code)) return (Cost){20, 21 * TYPICAL_WIDTH};
    if (ps_op_info[op->code].effect != PS_EFFECT_PURE || op->code == PS_OP_CONST || op->code == PS_OP_PTRADD)
        return (Cost){0, 0};
    if (op->type == PS_I64 && op->code == PS_OP_CAST) return (Cost){0, 0}; /* part of an address */
    return (Cost){1, varies ? 1 : 1.0 / TYPICAL_WIDTH};
}

static bool scatters(const Codegen *cg, const PsFunc *f, PsRef r) {
    if (ps_op(f, r)->code != PS_OP_STORE) return false;
    int64_t step = cg->uniform.steps[ps_op_arg(f, r, 0)],
            size = ps_scalar_size(ps_op(f, ps_op_arg(f, r, 1))->type);
    return step != 0 && step != size && step != -size;
}

static void count_parting(const PsFunc *f, PsRef loop, Body *body) {
    PsRef end = ps_walk_skip(f, loop);
    for (PsRef r = ps_walk_next(f, loop); r && r != end; r = ps_walk_next(f, r)) {
        bool pure = ps_op_info[ps_op(f, r)->code].effect == PS_EFFECT_PURE;
        if (is_work(f, r) && body->parting != UINT32_MAX) body->parting = pure ? body->parting + 1 : UINT32_MAX;
    }
}

static void weigh_region(const Codegen *cg, const PsFunc *f, PsRegion region, double turns, bool masked,
                         Body *body);

/* Turns of a loop, 1 of other control. */
static double turns_of(const PsFunc *f, PsRef r) {
    const PsOp *op = ps_op(f, r);
    uint64_t lo, hi;
    if (op->code == PS_OP_WHILE) return TURNS;
    if (op->code != PS_OP_FOR) return 1;
    if (!ps_op_is_const(f, ps_op_arg(f, r, 0), &lo) || !ps_op_is_const(f, ps_op_arg(f, r, 1), &hi))
        return TURNS;
    return hi - lo < TURNS ? (double)(hi - lo) : TURNS;
}

static bool stores_inside(const PsFunc *f, PsRef loop) {
    PsRef end = ps_walk_skip(f, loop);
    for (PsRef r = ps_walk_next(f, loop); r && r != end; r = ps_walk_next(f, r)) {
        bool writes = ps_op_info[ps_op(f, r)->code].effect == PS_EFFECT_WRITE;
        if (writes && ps_op(f, ps_place_root(f, ps_op_arg(f, r, 0)))->code != PS_OP_VAR) return true;
    }
    return false;
}

static void weigh_control(const Codegen *cg, const PsFunc *f, PsRef r, double turns, bool masked, Body *body) {
    const PsOp *op = ps_op(f, r);
    bool parts = cg->uniform.marks[r] & CG_DIVERGES;
    double own = turns_of(f, r), lanes = body->lanes;
    for (uint32_t i = 0; i < op->nregions; i++)
        weigh_region(cg, f, op->region0 + i, turns * own, masked || parts, body);
    body->rounds |= own >= TURNS && !stores_inside(f, r);
    if (!parts || op->code == PS_OP_IF || own <= 1) return;
    body->lanes = lanes + (body->lanes - lanes) * IMBALANCE;
    body->parts = true;
    count_parting(f, r, body);
}

static void weigh_region(const Codegen *cg, const PsFunc *f, PsRegion region, double turns, bool masked,
                         Body *body) {
    for (PsRef r = ps_region(f, region)->first; r; r = ps_op(f, r)->next) {
        Cost cost = cost_of_op(cg, f, r, masked);
        double times = turns * turns_of(f, r);
        body->scalar += cost.scalar * times;
        body->lanes += cost.lanes * times;
        body->each += cost.each;
        body->scatters += scatters(cg, f, r);
        if (ps_op(f, r)->nregions) weigh_control(cg, f, r, turns, masked, body);
    }
}

/* -- the choice -- */

/* An access lane by lane takes some three ops for each. */
static uint32_t lane_size(const ParforInfo *parfor, const Body *body, unsigned width) {
    return parfor->size + 3 * width * body->each;
}

/* The time to compile a large body counts, which grows with the square; and that of many accesses lane by lane where they
 * are more code than the rest. */
static double lane_cost(const ParforInfo *parfor, const Body *body, unsigned width) {
    double size = (double)lane_size(parfor, body, width), large = size / LARGE_BODY;
    double added = body->each > MANY_ODD ? size / parfor->size - 1 : 0;
    return body->lanes * (1.1 + large * large + MUCH_ADDED * added);
}

/* LANES, or the note that says why not. */
static PsNoteId choose(const Codegen *cg, const ParforInfo *parfor, const Body *body, unsigned width) {
    if (!cg->request->target.opt_level) return PS_NOTE_SCALAR_OPT;
    if (!cg->has_lanes) return PS_NOTE_SCALAR_CPU;
    if (body->refused) return body->why;
    if (width > PS_STRIPES) return PS_NOTE_SCALAR_WIDE;
    if (body->locals > MAX_LOCALS) return PS_NOTE_SCALAR_LOCALS;
    return lane_cost(parfor, body, width) > body->scalar * TYPICAL_WIDTH ? PS_NOTE_SCALAR_COST : PS_NOTE_LANES;
}

/* What lanes take, in per cent of the time that scalars take; at most a million. */
static uint32_t percent_of(const ParforInfo *parfor, const Body *body, unsigned width) {
    double percent = 100 * lane_cost(parfor, body, width) / (body->scalar * TYPICAL_WIDTH);
    return percent < 1e6 ? (uint32_t)percent : 1000000;
}

/* A short loop that diverges has little to do but wait for one operation after the other, and for the mask: two vectors
 * at a time wait together, where registers are many. */
static bool waits(const Codegen *cg, const ParforInfo *parfor, const Body *body) {
    return cg->has_masks && parfor->element >= 4 && body->parts && body->parting <= SHORT_LOOP &&
           body->locals <= (uint64_t)parfor->element * SHORT_LOCALS;
}

static void choose_width(const Codegen *cg, ParforInfo *parfor, const Body *body) {
    unsigned width = (unsigned)(cg->request->target.vector_bits / (8 * parfor->element));
    if (waits(cg, parfor, body)) width *= 2;
    parfor->why = choose(cg, parfor, body, width);
    parfor->width = parfor->why == PS_NOTE_LANES ? width : 1;
    if (parfor->why == body->why && body->refused) parfor->why_op = body->why_op;
    if (parfor->why == PS_NOTE_LANES) parfor->why_number = width;
    if (parfor->why == PS_NOTE_SCALAR_COST) parfor->why_number = percent_of(parfor, body, width);
    if (parfor->why == PS_NOTE_SCALAR_LOCALS)
        parfor->why_number = body->locals < UINT32_MAX ? (uint32_t)body->locals : UINT32_MAX;
}

static bool uniform_bodies(Codegen *cg, const PsFunc *f, Body *bodies) {
    uint8_t *written = ps_arena_alloc(cg->arena, f->ops.len + 1); /* arrays, by PsRef, in any of the loops */
    if (!cg->uses || !written) return false;
    for (uint32_t i = 0; i < cg->parfors.len; i++) {
        PsRef parfor = cg->parfors.data[i].ref;
        note_writes(f, parfor, written);
        Body *body = &bodies[i + 1];
        if (!cg_uniform_loop(cg, parfor)) refuse(body, PS_NOTE_SCALAR_UNKNOWN, 0);
        if (cg->parfors.data[i].in_order) refuse(body, PS_NOTE_SCALAR_ORDER, 0);
        if (may_wait(f, parfor, written)) refuse(body, PS_NOTE_SCALAR_WAIT, 0);
        if (cg->parfors.data[i].written.len) /* one local for all: the last writer counts */
            refuse(body, PS_NOTE_SCALAR_WRITTEN, 0);
    }
    return cg->uniform.steps || !cg->parfors.len;
}

void cg_lanes_survey(Codegen *cg) {
    const PsFunc *f = cg->m->funcs.data[0];
    Body *bodies = ps_arena_alloc(cg->arena, sizeof *bodies * (cg->parfors.len + 1));
    uint64_t *sizes = ps_arena_alloc(cg->arena, sizeof *sizes * (cg->m->funcs.len + 1)); /* 0: not yet known */
    if (!bodies || !sizes || !uniform_bodies(cg, f, bodies)) return;
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        uint32_t home = cg->homes[r].parfor;
        if (!home) continue;
        count_op(&bodies[home], f, r, cg->uniform.steps);
        refuse_op(&bodies[home], f, r);
        const PsOp *op = ps_op(f, r);
        if (op->code == PS_OP_VAR)
            bodies[home].locals += cg_type_bytes(cg, ps_type_info(f->module, op->type)->elem);
        if (op->code != PS_OP_CALL || op->imm >= cg->m->funcs.len || !cg->funcs[op->imm].inlined) continue;
        if (!sizes[op->imm]) sizes[op->imm] = size_of(cg->m->funcs.data[op->imm]);
        bodies[home].size += sizes[op->imm];
    }
    for (uint32_t i = 0; i < cg->parfors.len; i++) {
        ParforInfo *parfor = &cg->parfors.data[i];
        const Body *body = &bodies[i + 1];
        parfor->element = element_of(body);
        parfor->serial |=
            (uint64_t)body->odd * ODD_WORK > body->work || body->odd > MANY_ODD || body->size > MAX_BODY;
        if (!body->refused) weigh_region(cg, f, ps_op(f, parfor->ref)->region0, 1, false, &bodies[i + 1]);
        choose_width(cg, parfor, body);
        parfor->scatters = body->scatters;
        parfor->lane_size = lane_size(parfor, body, parfor->width);
        parfor->masked = (body->parts || body->rounds) && !body->each;
        parfor->lane_work = body->work + parfor->lane_size - parfor->size;
    }
}
