/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_uniform: how the values of a parallel loop differ from lane to lane, lanes being neighbours along its last axis.
 *
 *     step 0       uniform: the same in all lanes that are active; kept as a scalar
 *     step s       affine: lane l has l * s more than lane 0, modulo the type's size; kept as lane 0's scalar
 *     UNEVEN       varying: kept as a vector
 *
 * An `if` or loop diverges when lanes may part there: its condition or bounds are not uniform, or a `break` or `continue` in
 * it stands under control that diverges. What is stored to a local under divergence differs from what the
 * lanes that were not there hold, so the local varies.
 *
 * Sweeps over the loop in program order, from "everything is uniform" upwards, until nothing changes. Stores decide what
 * locals hold, and only what locals hold can make another sweep necessary.
 */
#include "codegen/codegen_int.h"

#define MAX_STEP   ((int64_t)1 << 30)
#define MAX_SWEEPS 30
#define UNKNOWN    (INT64_MIN + 1) /* of what a local holds: no store seen yet */

typedef struct Sweep {
    const Codegen *cg;
    const PsFunc *f;
    Uniform *u;
    bool changed;
} Sweep;

static int64_t limited(int64_t step) { return step > -MAX_STEP && step < MAX_STEP ? step : CG_UNEVEN; }

/* -- pure values -- */

static int64_t step_of_product(const PsFunc *f, PsRef r, int64_t a, int64_t b) {
    uint64_t bits;
    PsRef other = ps_op_arg(f, r, a == 0 ? 0 : 1);
    PsType type = ps_op(f, r)->type;
    if ((a != 0 && b != 0) || !ps_op_is_const(f, other, &bits)) return CG_UNEVEN;
    int shift = 64 - ps_scalar_bits(type);
    int64_t factor = (int64_t)(bits << shift) >> shift;
    return limited(factor) == CG_UNEVEN ? CG_UNEVEN : limited(factor * (a + b));
}

/* Whether lanes hold neighbours of an index that count on without wrapping: of the parallel loop, or of a loop that begins
 * at one, or right behind it. */
static bool is_index(const PsFunc *f, PsRef r) {
    uint64_t bits;
    while (ps_op(f, r)->code == PS_OP_PARAM && ps_op(f, cg_owner(f, r))->code == PS_OP_FOR) {
        r = ps_op_arg(f, cg_owner(f, r), 0);
        bool is_next =
            ps_op(f, r)->code == PS_OP_ADD && ps_op_is_const(f, ps_op_arg(f, r, 1), &bits) && bits == 1;
        if (is_next) r = ps_op_arg(f, r, 0);
        if (is_next && (ps_op(f, r)->code != PS_OP_PARAM || ps_op(f, cg_owner(f, r))->code != PS_OP_PARFOR))
            return false;
    }
    return ps_op(f, r)->code == PS_OP_PARAM;
}

/* A wider integer counts on where a narrower one would wrap. Indices of parallel loops never do; what else cannot wrap was
 * widened by pass layout. */
static int64_t step_of_cast(const PsFunc *f, PsRef r, int64_t a) {
    PsRef from = ps_op_arg(f, r, 0);
    PsType have = ps_op(f, from)->type, want = ps_op(f, r)->type;
    if (!ps_type_is_scalar(have) || cg_is_float(have) || cg_is_float(want) || have == PS_U1 || want == PS_U1)
        return CG_UNEVEN;
    bool is_exact = ps_scalar_bits(want) <= ps_scalar_bits(have) || is_index(f, from);
    return is_exact ? a : CG_UNEVEN;
}

static bool is_integer(PsType type) { return ps_type_is_scalar(type) && type != PS_U1 && !cg_is_float(type); }

static int64_t step_of_pure(const PsFunc *f, PsRef r, const int64_t *steps) {
    const PsOp *op = ps_op(f, r);
    bool all_same = true, uneven = false;
    for (uint32_t i = 0; i < op->nargs; i++) {
        int64_t step = steps[ps_op_arg(f, r, i)];
        all_same &= step == 0;
        uneven |= step == CG_UNEVEN;
    }
    if (all_same) return 0;
    if (uneven) return CG_UNEVEN;
    int64_t a = steps[ps_op_arg(f, r, 0)], b = op->nargs > 1 ? steps[ps_op_arg(f, r, 1)] : 0;
    switch (op->code) {
    case PS_OP_PTRADD: return limited(a + b);
    case PS_OP_CAST: return step_of_cast(f, r, a);
    default: break;
    }
    if (!is_integer(op->type)) return CG_UNEVEN;
    switch (op->code) {
    case PS_OP_ADD: return limited(a + b);
    case PS_OP_SUB: return limited(a - b);
    case PS_OP_NEG: return -a;
    case PS_OP_MUL: return step_of_product(f, r, a, b);
    default: return CG_UNEVEN;
    }
}

/* -- divergence -- */

static void mark(Sweep *s, PsRef r, uint8_t bit) {
    if (s->u->marks[r] & bit) return;
    s->u->marks[r] |= bit;
    s->changed = true;
}

bool cg_lanes_part(const PsFunc *f, const Uniform *u, PsRef r, PsRegion outer) {
    while (ps_op(f, r)->region != outer) {
        r = cg_owner(f, r);
        if (!r) return false;
        if (u->marks[r] & CG_DIVERGES) return true;
    }
    return false;
}

/* Everything between a jump and the loop it goes to may lose lanes; that loop diverges when some lanes may stay. */
static void visit_jump(Sweep *s, PsRef r) {
    const PsFunc *f = s->f;
    bool divergent = false;
    PsRef at = cg_owner(f, r);
    for (; at && !cg_is_loop(f, at); at = cg_owner(f, at)) {
        mark(s, at, CG_LOSES);
        divergent |= (s->u->marks[at] & CG_DIVERGES) != 0;
    }
    if (divergent && at) mark(s, at, CG_DIVERGES);
}

/* -- locals -- */

static bool is_tile(const Sweep *s, PsRef local) {
    return !ps_type_is_scalar(ps_type_info(s->cg->m, ps_op(s->f, local)->type)->elem);
}

static void hold(Sweep *s, PsRef local, int64_t step) {
    int64_t *held = &s->u->held[local];
    if (step != 0 && is_tile(s, local)) step = CG_UNEVEN;
    int64_t next = *held == UNKNOWN || *held == step ? step : CG_UNEVEN;
    if (next == *held) return;
    *held = next;
    s->changed = true;
}

static bool is_lane_local(const Sweep *s, PsRef root) {
    return ps_op(s->f, root)->code == PS_OP_VAR && s->u->inside[root];
}

static void visit_store(Sweep *s, PsRef r) {
    PsRef place = ps_op_arg(s->f, r, 0), root = ps_place_root(s->f, place);
    if (!is_lane_local(s, root)) return;
    int64_t step = s->u->steps[ps_op_arg(s->f, r, 1)];
    if (cg_lanes_part(s->f, s->u, r, ps_op(s->f, root)->region) || s->u->steps[place] != 0) step = CG_UNEVEN;
    if (ps_op(s->f, r)->region == ps_op(s->f, root)->region) s->u->stored[root] = 1;
    hold(s, root, step);
}

static int64_t visit_load(Sweep *s, PsRef r) {
    PsRef place = ps_op_arg(s->f, r, 0), root = ps_place_root(s->f, place);
    int64_t at = s->u->steps[place];
    if (!is_lane_local(s, root)) return at == 0 ? 0 : CG_UNEVEN;
    if (!s->u->stored[root]) hold(s, root, 0); /* the zero it begins with */
    int64_t held = s->u->held[root];
    return at == 0 ? (held == UNKNOWN ? 0 : held) : CG_UNEVEN;
}

/* The place of a local is uniform, that of an element at a running index is not. */
static int64_t visit_elem(const Sweep *s, PsRef r) {
    for (uint32_t i = 0; i < ps_op(s->f, r)->nargs; i++)
        if (s->u->steps[ps_op_arg(s->f, r, i)] != 0) return CG_UNEVEN;
    return 0;
}

/* -- the sweep -- */

static void visit_control(Sweep *s, PsRef r) {
    const PsFunc *f = s->f;
    const PsOp *op = ps_op(f, r);
    const int64_t *steps = s->u->steps;
    if (op->code == PS_OP_IF && steps[ps_op_arg(f, r, 0)] != 0) mark(s, r, CG_DIVERGES);
    if (op->code == PS_OP_FOR) {
        const PsRegionInfo *region = ps_region(f, op->region0);
        int64_t lo = steps[ps_op_arg(f, r, 0)], hi = steps[ps_op_arg(f, r, 1)];
        if (lo != 0 || hi != 0) mark(s, r, CG_DIVERGES);
        if (region->nparams) s->u->steps[region->params] = lo; /* lanes go round together */
    }
    if (op->code == PS_OP_YIELD && steps[ps_op_arg(f, r, 0)] != 0) mark(s, cg_owner(f, r), CG_DIVERGES);
}

static void visit(Sweep *s, PsRef r) {
    const PsOp *op = ps_op(s->f, r);
    int64_t step = 0;
    switch (op->code) {
    case PS_OP_VAR:
        s->u->inside[r] = 1;
        s->u->stored[r] = op->imm != 0; /* it is stored to before it is read */
        break;
    case PS_OP_LOAD: step = visit_load(s, r); break;
    case PS_OP_STORE: visit_store(s, r); break;
    case PS_OP_ELEM: step = visit_elem(s, r); break;
    case PS_OP_BREAK:
    case PS_OP_CONTINUE: visit_jump(s, r); break;
    case PS_OP_IF:
    case PS_OP_FOR:
    case PS_OP_YIELD: visit_control(s, r); break;
    default:
        if (ps_op_info[op->code].effect == PS_EFFECT_PURE)
            step = step_of_pure(s->f, r, s->u->steps);
        else if (op->type != PS_KIND_NONE)
            step = CG_UNEVEN; /* the old value of an atomic, the result of a call */
    }
    s->u->steps[r] = step;
}

static bool uniform_init(Codegen *cg, const PsFunc *f, Uniform *u) {
    size_t n = f->ops.len + 1;
    u->steps = ps_arena_alloc(cg->arena, sizeof *u->steps * n);
    u->held = ps_arena_alloc(cg->arena, sizeof *u->held * n);
    u->marks = ps_arena_alloc(cg->arena, n);
    u->inside = ps_arena_alloc(cg->arena, n);
    u->stored = ps_arena_alloc(cg->arena, n);
    if (!u->steps || !u->held || !u->marks || !u->inside || !u->stored) return false;
    for (size_t i = 0; i < n; i++) u->held[i] = UNKNOWN;
    return true;
}

bool cg_uniform_loop(Codegen *cg, PsRef parfor) {
    Sweep s = {.cg = cg, .f = cg->m->funcs.data[0], .u = &cg->uniform};
    const PsRegionInfo *region = ps_region(s.f, ps_op(s.f, parfor)->region0);
    if (!cg->uniform.steps && !uniform_init(cg, s.f, &cg->uniform)) return false;
    if (!region->nparams) return false;
    cg->uniform.steps[region->params + region->nparams - 1] = 1;
    PsRef end = ps_walk_skip(s.f, parfor);
    for (int i = 0; i < MAX_SWEEPS; i++) {
        s.changed = false;
        for (PsRef r = ps_walk_next(s.f, parfor); r && r != end; r = ps_walk_next(s.f, r)) visit(&s, r);
        if (!s.changed) return true;
    }
    return false;
}
