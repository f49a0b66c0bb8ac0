/* SPDX-License-Identifier: Apache-2.0
 *
 * plain: an atomic that nothing else can meet becomes load, op, store; its old value is the load. That holds
 *
 *   in main outside parallel loops, for every place;
 *   for locals of the iteration, for a function's own locals, and for a function's parameters that only ever are such
 *   locals' places (places in arrays stay atomic there: a parallel loop may call it);
 *   in a parallel loop over i, j for `x[i, j, k] += ...` when each iteration owns its places: every index of the loop
 *   is one of the place's indices, bare or a constant away, on the same axis and at the same distance wherever the loop
 *   touches the array (the other indices may be anything), the array's places do not overlap (unit), and the loop writes
 *   no other array.
 *
 * Run after reduce, which takes the atomics into fixed places.
 */
#include <string.h>

#include "passes/passes_int.h"

enum { UNKNOWN = -1, NO_ARRAY = -2, SEVERAL = -3 };

/* What is known of functions, themselves and through calls. */
typedef struct FuncFacts {
    bool writes;  /* stores to arrays, or to what several iterations can reach */
    bool *shared; /* by parameter: a place that several iterations may reach */
} FuncFacts;

typedef struct Plain {
    PsFunc *f;
    bool is_main;
    uint32_t index;   /* of the function */
    PassLoop loop;    /* the parallel loop at hand; loop.loop 0: none */
    int64_t owned;    /* the one array parameter that iterations of it own, or one of the above */
    FuncFacts *facts; /* by function */
} Plain;

/* -- functions -- */

/* Whether iterations of a parallel loop may meet at the root of a place that `op`, in this function, gets. */
static bool is_shared(const PsFunc *f, const PsRef *parfor_of, const FuncFacts *facts, PsRef op, PsRef root) {
    const PsOp *o = ps_op(f, root);
    if (o->code == PS_OP_ARG) return facts->shared[o->imm];
    if (o->code != PS_OP_VAR) return true;
    return f == f->module->funcs.data[0] && parfor_of[root] != parfor_of[op];
}

/* What op adds to what is known; whether it does. */
static bool learn(const PsFunc *f, const PsRef *parfor_of, FuncFacts *all, FuncFacts *own, PsRef op) {
    const PsOp *o = ps_op(f, op);
    bool changed = false;
    if (ps_op_info[o->code].effect == PS_EFFECT_WRITE && o->nargs && !own->writes)
        changed = own->writes = is_shared(f, parfor_of, own, op, ps_place_root(f, ps_op_arg(f, op, 0)));
    if (o->code != PS_OP_CALL) return changed;
    FuncFacts *callee = &all[o->imm];
    if (callee->writes && !own->writes) changed = own->writes = true;
    for (uint32_t i = 0; i < o->nargs; i++) {
        PsRef value = ps_op_arg(f, op, i);
        if (ps_type_info(f->module, ps_op(f, value)->type)->kind != PS_KIND_PTR || callee->shared[i]) continue;
        if (is_shared(f, parfor_of, own, op, ps_place_root(f, value))) changed = callee->shared[i] = true;
    }
    return changed;
}

#define MAX_ROUNDS 64 /* along calls; in deeper programs everything is taken to be shared */

static bool learn_all(const PsModule *m, FuncFacts *facts, PsRef *const *parfor_of) {
    bool changed = false;
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        const PsFunc *f = m->funcs.data[i];
        for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r))
            changed |= learn(f, parfor_of[i], facts, &facts[i], r);
    }
    return changed;
}

static FuncFacts *find_facts(const PsModule *m) {
    PsArena *arena = m->arena;
    FuncFacts *facts = ps_arena_alloc(arena, sizeof *facts * (m->funcs.len + 1));
    PsRef **parfor_of = ps_arena_alloc(arena, sizeof *parfor_of * (m->funcs.len + 1));
    if (!facts || !parfor_of) return NULL;
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        facts[i].shared = ps_arena_alloc(arena, m->funcs.data[i]->params.len + 1);
        if (i == 0) parfor_of[i] = passes_parfor_of(m->funcs.data[i]); /* they are in main only */
    }
    if (ps_arena_failed(arena)) return NULL;
    int rounds = 0;
    while (rounds < MAX_ROUNDS && learn_all(m, facts, parfor_of)) rounds++;
    for (uint32_t i = 0; rounds == MAX_ROUNDS && i < m->funcs.len; i++) {
        facts[i].writes = true;
        memset(facts[i].shared, true, m->funcs.data[i]->params.len);
    }
    return facts;
}

/* -- places that an iteration owns -- */

/* On which axis of a place each index of the loop stands first, and how far it is moved; `ok` when all of them do. */
typedef struct Owner {
    bool ok;
    uint8_t axis[PS_MAX_AXES];
    uint64_t shift[PS_MAX_AXES];
} Owner;

static bool same_owner(const Owner *a, const Owner *b) {
    return memcmp(a->axis, b->axis, sizeof a->axis) == 0 && memcmp(a->shift, b->shift, sizeof a->shift) == 0;
}

/* i, i + 3, i - 3 -> i. */
static PsRef without_shift(const PsFunc *f, PsRef index, uint64_t *shift) {
    const PsOp *op = ps_op(f, index);
    uint64_t bits;
    *shift = 0;
    if (op->code != PS_OP_ADD && op->code != PS_OP_SUB) return index;
    if (ps_op_is_const(f, ps_op_arg(f, index, 1), &bits)) {
        bits = (uint64_t)passes_signed(op->type, bits);
        *shift = op->code == PS_OP_ADD ? bits : 0 - bits;
        return ps_op_arg(f, index, 0);
    }
    if (op->code == PS_OP_SUB || !ps_op_is_const(f, ps_op_arg(f, index, 0), &bits)) return index;
    *shift = (uint64_t)passes_signed(op->type, bits);
    return ps_op_arg(f, index, 1);
}

static Owner owner_of(const Plain *c, PsRef place) {
    const PsFunc *f = c->f;
    uint32_t axes = ps_op(f, c->loop.loop)->nargs / 2, seen = 0;
    PsRegion body = ps_op(f, c->loop.loop)->region0;
    Owner owner = {0};
    for (uint32_t i = 1; i < ps_op(f, place)->nargs; i++) {
        uint64_t shift;
        const PsOp *index = ps_op(f, without_shift(f, ps_op_arg(f, place, i), &shift));
        if (index->code != PS_OP_PARAM || index->region0 != body || seen >> index->imm & 1) continue;
        seen |= 1u << index->imm;
        owner.axis[index->imm] = (uint8_t)i;
        owner.shift[index->imm] = shift;
    }
    owner.ok = seen == (1u << axes) - 1;
    return owner;
}

static void note_array(int64_t *written, int64_t param) {
    *written = *written == NO_ARRAY || *written == param ? param : SEVERAL;
}

/* The one array parameter that the loop writes; NO_ARRAY, SEVERAL. */
static int64_t written_array(const Plain *c) {
    const PsFunc *f = c->f;
    int64_t written = NO_ARRAY;
    PsRef end = ps_walk_skip(f, c->loop.loop);
    for (PsRef r = ps_walk_next(f, c->loop.loop); r != end; r = ps_walk_next(f, r)) {
        const PsOp *o = ps_op(f, r);
        if (o->code == PS_OP_CALL && c->facts[o->imm].writes) return SEVERAL;
        if (ps_op_info[o->code].effect != PS_EFFECT_WRITE || o->nargs == 0) continue;
        PsRef place = ps_place_root(f, ps_op_arg(f, r, 0));
        if (ps_op(f, place)->code == PS_OP_VAR) continue;
        if (ps_op(f, place)->code != PS_OP_PLACE) return SEVERAL;
        int64_t param = passes_array_param(f, ps_op_arg(f, place, 0));
        if (param < 0) return SEVERAL;
        note_array(&written, param);
    }
    return written;
}

/* Whether the op touches the array otherwise than the owner does (set by the first place met). */
static bool breaks_ownership(const Plain *c, PsRef op, int64_t array, Owner *owner) {
    const PsFunc *f = c->f;
    PsOpCode code = ps_op(f, op)->code;
    if (code == PS_OP_PLACE || code == PS_OP_DIM) return false; /* what uses the place counts */
    for (uint32_t i = 0; i < ps_op(f, op)->nargs; i++) {
        PsRef value = ps_op_arg(f, op, i);
        const PsOp *o = ps_op(f, value);
        if (o->code == PS_OP_ARG && (int64_t)o->imm == array) return true; /* handed to a call */
        if (o->code != PS_OP_PLACE || passes_array_param(f, ps_op_arg(f, value, 0)) != array) continue;
        Owner here = owner_of(c, value);
        if (!owner->ok) *owner = here;
        if (!here.ok || !same_owner(owner, &here)) return true;
    }
    return false;
}

/* The array whose places the loop's iterations own. */
static int64_t find_owned(const Plain *c) {
    const PsFunc *f = c->f;
    int64_t array = written_array(c);
    if (array < 0 || !ps_type_info(f->module, f->params.data[array])->unit) return NO_ARRAY;
    Owner owner = {0};
    PsRef end = ps_walk_skip(f, c->loop.loop);
    for (PsRef r = ps_walk_next(f, c->loop.loop); r != end; r = ps_walk_next(f, r))
        if (breaks_ownership(c, r, array, &owner)) return NO_ARRAY;
    return array;
}

static bool is_alone(Plain *c, PsRef op) {
    const PsFunc *f = c->f;
    PsRef place = ps_place_root(f, ps_op_arg(f, op, 0));
    PsOpCode root = ps_op(f, place)->code;
    if (c->is_main && !c->loop.loop) return true;
    if (root == PS_OP_ARG) return !c->facts[c->index].shared[ps_op(f, place)->imm];
    if (root == PS_OP_VAR) return !c->is_main || c->loop.parfor_of[place] == c->loop.loop;
    if (!c->is_main || root != PS_OP_PLACE) return false;
    if (c->owned == UNKNOWN) c->owned = find_owned(c);
    return c->owned >= 0 && passes_array_param(f, ps_op_arg(f, place, 0)) == c->owned;
}

/* -- rewriting -- */

static PsType same_width_int(PsType type) {
    static const PsType ints[PS_SCALAR_END] = {
        [PS_F16] = PS_I16, [PS_BF16] = PS_I16, [PS_F32] = PS_I32, [PS_F64] = PS_I64};
    return ps_type_is_scalar(type) && ints[type] ? ints[type] : type;
}

static PsRef bits_of(PsBuilder *b, PsRef value) {
    PsType type = ps_op(b->func, value)->type, bits = same_width_int(type);
    return bits == type ? value : ps_build_op(b, PS_OP_BITCAST, bits, &value, 1, 0);
}

/* What the atomic leaves in its place. */
static PsRef new_value(PsBuilder *b, PsOpCode code, PsRef old, const PsRef *operands) {
    PsCombine combine;
    if (passes_atomic_combine(code, &combine))
        return ps_build_binary(b, ps_ir_combine_op(combine), old, operands[0]);
    if (code == PS_OP_ATOMIC_XCHG) return operands[0];
    PsRef equal = ps_build_binary(b, PS_OP_EQ, bits_of(b, old), bits_of(b, operands[0]));
    return ps_build_select(b, equal, operands[1], old);
}

static void make_plain(PsFunc *f, PsRef op) {
    passes_note(f, op, PS_NOTE_PLAIN, NULL);
    PsOpCode code = ps_op(f, op)->code;
    PsRef place = ps_op_arg(f, op, 0), operands[2] = {ps_op_arg(f, op, 1)};
    if (code == PS_OP_ATOMIC_CAS) operands[1] = ps_op_arg(f, op, 2);
    uint64_t written = ps_op(f, op)->imm; /* for pass check */
    passes_become(f, op, PS_OP_LOAD, &place, 1, 0);
    PsBuilder b = passes_after(f, op);
    PsRef value = new_value(&b, code, op, operands);
    if (written) ps_op(f, value)->imm = written;
    ps_build_store(&b, place, value);
}

static bool plain_func(Plain *c) {
    PsFunc *f = c->f;
    c->loop = (PassLoop){.f = f, .known = f->ops.len, .parfor_of = passes_parfor_of(f)};
    if (!c->loop.parfor_of) return false;
    for (PsRef r = ps_walk_first(f), next; r; r = next) {
        next = ps_walk_next(f, r);
        if (!passes_is_atomic(ps_op(f, r)->code)) continue;
        PsRef loop = c->loop.parfor_of[r];
        if (loop != c->loop.loop) c->owned = UNKNOWN;
        c->loop.loop = loop;
        if (is_alone(c, r)) make_plain(f, r);
    }
    return true;
}

PsStatus ps_pass_plain(PsModule *m, PsDiag *diag) {
    (void)diag;
    Plain c = {.facts = find_facts(m)};
    if (!c.facts) return PS_NOMEM;
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        c.f = m->funcs.data[i];
        c.is_main = i == 0;
        c.index = i;
        c.owned = UNKNOWN;
        if (!plain_func(&c)) return PS_NOMEM;
    }
    return PS_OK;
}
