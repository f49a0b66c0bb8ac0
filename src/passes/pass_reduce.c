/* SPDX-License-Identifier: Apache-2.0
 *
 * reduce: `total += x[i]` in a parallel loop. Atomics into one fixed place become partials, which are combined in an
 * order that depends on the loop alone: quick, and the same bits for any number of threads.
 *
 *   a local from outside the loop, which the loop touches in no other way: its atomics become partials into it;
 *   an element of such a local that is a tile, or of an array parameter, at indices that stay the same, when the loop
 *   touches that local or array in no other way: partials into a fresh local that starts as the combine's identity. After the loop
 *       if the element exists and the loop ran { element = element combine local }
 *   so a loop that never gets to the atomic touches nothing out of bounds.
 *
 * The old value must be unused. All atomics on a local, or on one element, must combine alike; elements of one array
 * that combine differently must be told apart by constant indices. What does not fit stays atomic.
 */
#include "passes/passes_int.h"

#define MAX_SLOTS 64 /* partials of one loop; each costs PS_STRIPES accumulators */

/* What the loop accumulates into: a local or an array parameter. */
typedef struct Target {
    PsRef loop;    /* the loop this is about: targets of earlier loops are stale */
    PsRef local;   /* 0: an array */
    bool refused;  /* touched in another way, or combined in two ways at one place */
    bool crowded;  /* refused for the number of partials */
    bool mixed;    /* two combines */
    bool variable; /* an element whose indices are not constants */
    bool any;
    PsCombine combine; /* of the first atomic */
    uint32_t slots;
} Target;

/* One place of a target. */
typedef struct Slot {
    uint32_t target;
    PsRef place, local; /* the local partials go to; made late */
    PsCombine combine;
    uint32_t span;
} Slot;

typedef struct Site {
    PsRef op;
    uint32_t slot;
} Site;

typedef struct Reduce {
    PsFunc *f;
    PassLoop loop;
    const uint32_t *uses;
    uint32_t *of_local, *of_param; /* index of the target + 1, by PsRef and by parameter */
    PsMap slot_of;                 /* (target, indices) -> slot */
    PsVec(Target) targets;
    PsVec(Slot) slots;
    PsVec(Site) sites;
    uint32_t first_target, first_slot, first_site; /* of this loop */
} Reduce;

/* The target of this loop at *entry; made when there is none. Its index, or -1: no memory. */
static int64_t target_at(Reduce *c, uint32_t *entry, PsRef local) {
    if (*entry && c->targets.data[*entry - 1].loop == c->loop.loop) return *entry - 1;
    Target t = {.loop = c->loop.loop, .local = local};
    if (!ps_vec_push(c->f->module->arena, &c->targets, t)) return -1;
    *entry = c->targets.len;
    return *entry - 1;
}

/* The target that a place or an array belongs to; -1: none of interest. */
static int64_t target_of(Reduce *c, PsRef value) {
    value = ps_place_root(c->f, value);
    const PsOp *o = ps_op(c->f, value);
    if (o->code == PS_OP_VAR)
        return passes_is_inside(&c->loop, value) ? -1 : target_at(c, &c->of_local[value], value);
    if (o->code == PS_OP_PLACE) value = ps_op_arg(c->f, value, 0);
    int64_t param = ps_type_info(c->f->module, ps_op(c->f, value)->type)->kind == PS_KIND_ARRAY
                        ? passes_array_param(c->f, value)
                        : -1;
    return param < 0 ? -1 : target_at(c, &c->of_param[param], 0);
}

static void refuse(Reduce *c, PsRef value) {
    int64_t target = target_of(c, value);
    if (target >= 0) c->targets.data[target].refused = true;
}

/* -- finding -- */

/* The slot of a place, made when new; -1: this place cannot have one. */
static int64_t slot_of(Reduce *c, uint32_t target, PsRef place, PsCombine combine, uint32_t span) {
    PsArena *arena = c->f->module->arena;
    Target *t = &c->targets.data[target];
    PassKey key;
    passes_key_start(&key, target);
    for (uint32_t i = 1; i < ps_op(c->f, place)->nargs; i++)
        passes_key_value(&c->loop, &key, ps_op_arg(c->f, place, i));
    if (!key.ok || !key.fixed) return -1;
    t->variable |= !key.constant;
    uint64_t slot;
    if (ps_map_get(&c->slot_of, key.bytes, key.len, &slot)) return (int64_t)slot;
    if (!ps_vec_push(arena, &c->slots, (Slot){target, place, 0, combine, span})) return -1;
    if (!ps_map_put(&c->slot_of, key.bytes, key.len, c->slots.len - 1)) return -1;
    t->slots++;
    return c->slots.len - 1;
}

static void find_atomic(Reduce *c, PsRef op, PsCombine combine) {
    PsFunc *f = c->f;
    PsRef place = ps_op_arg(f, op, 0);
    int64_t target = target_of(c, place);
    if (target < 0) return;
    PsType elem = ps_type_info(f->module, ps_op(f, place)->type)->elem;
    int64_t slot = -1;
    if (c->uses[op] == 0 && ps_type_is_scalar(elem))
        slot = slot_of(c, (uint32_t)target, place, combine, ps_op(f, op)->span);
    Target *t = &c->targets.data[target];
    if (slot < 0 || c->slots.data[slot].combine != combine) {
        PsNoteId why = c->uses[op] ? PS_NOTE_KEPT_USED : slot < 0 ? PS_NOTE_KEPT_MOVES : PS_NOTE_KEPT_TOUCHED;
        passes_note(f, op, why, NULL);
        t->refused = true;
        return;
    }
    t->mixed |= t->any && t->combine != combine;
    if (!t->any) t->combine = combine;
    t->any = true;
    ps_vec_push(f->module->arena, &c->sites, (Site){op, (uint32_t)slot});
}

static void find_in(Reduce *c, PsRef op) {
    const PsOp *o = ps_op(c->f, op);
    if (o->code == PS_OP_PLACE || o->code == PS_OP_ELEM || o->code == PS_OP_DIM)
        return; /* what uses the place counts */
    PsCombine combine;
    bool atomic = passes_atomic_combine(o->code, &combine);
    uint32_t nargs = o->nargs;
    if (atomic) find_atomic(c, op, combine);
    for (uint32_t i = atomic; i < nargs; i++) refuse(c, ps_op_arg(c->f, op, i));
}

/* Settles which targets are taken. */
static void decide(Reduce *c) {
    uint32_t slots = 0;
    for (uint32_t i = c->first_target; i < c->targets.len; i++) {
        Target *t = &c->targets.data[i];
        if (t->mixed && t->variable) t->refused = true;
        t->crowded = !t->refused && slots + t->slots > MAX_SLOTS;
        if (!t->any || t->crowded) t->refused = true;
        if (!t->refused) slots += t->slots;
    }
    for (uint32_t i = c->first_site; i < c->sites.len; i++) {
        const Target *t = &c->targets.data[c->slots.data[c->sites.data[i].slot].target];
        if (t->refused)
            passes_note(c->f, c->sites.data[i].op, t->crowded ? PS_NOTE_KEPT_MANY : PS_NOTE_KEPT_TOUCHED, NULL);
    }
}

/* -- rewriting -- */

/* The fresh local of an element's slot, holding the identity, before the loop. */
static PsRef make_local(Reduce *c, const Slot *slot) {
    PsFunc *f = c->f;
    PsType type = ps_type_info(f->module, ps_op(f, slot->place)->type)->elem;
    PsBuilder b = ps_builder_before(f, c->loop.loop);
    b.span = slot->span;
    PsRef local = ps_build_var(&b, type);
    ps_build_store(&b, local, ps_build_const(&b, type, ps_ir_identity(slot->combine, type)));
    return local;
}

static PsRef also(PsBuilder *b, PsRef cond, PsRef more) {
    return cond ? ps_build_binary(b, PS_OP_AND, cond, more) : more;
}

/* cond and: the loop has iterations. */
static PsRef and_ran(Reduce *c, PsBuilder *b, PsRef cond) {
    PsFunc *f = c->f;
    uint32_t axes = ps_op(f, c->loop.loop)->nargs / 2;
    for (uint32_t i = 0; i < axes; i++) {
        PsRef lo = ps_op_arg(f, c->loop.loop, 2 * i), hi = ps_op_arg(f, c->loop.loop, 2 * i + 1);
        if (ps_range_of(f, lo).hi < ps_range_of(f, hi).lo) continue;
        cond = also(b, cond, ps_build_binary(b, PS_OP_LT, lo, hi));
    }
    return cond;
}

/* cond and: 0 <= index < length, for the axis of the array or of the tile in a local. */
static PsRef and_exists(PsBuilder *b, PsRef cond, PsRef root, uint32_t axis, PsRef index) {
    PsFunc *f = b->func;
    PsType type = ps_op(f, index)->type;
    const PsTypeInfo *info = ps_type_info(f->module, ps_op(f, root)->type);
    PsRef length;
    if (info->kind == PS_KIND_PTR) {
        int64_t n = ps_type_info(f->module, info->elem)->shape[axis];
        PsRange range = ps_range_of(f, index);
        if (range.lo >= 0 && range.hi < n) return cond;
        length = ps_build_int(b, type, n);
    } else {
        length = ps_build_cast(b, ps_build_op(b, PS_OP_DIM, PS_I32, &root, 1, axis), type);
    }
    if (ps_range_of(f, index).lo < 0)
        cond = also(b, cond, ps_build_binary(b, PS_OP_GE, index, ps_build_int(b, type, 0)));
    return also(b, cond, ps_build_binary(b, PS_OP_LT, index, length));
}

/* After the loop: element = element combine local, where it exists and the loop ran. */
static void add_up(Reduce *c, PsBuilder *after, const Slot *slot) {
    PsFunc *f = c->f;
    PsOp place = *ps_op(f, slot->place);
    PsRef args[PS_MAX_AXES + 1] = {0};
    if (place.nargs > PS_COUNT(args)) return;
    for (uint32_t i = 0; i < place.nargs; i++)
        args[i] = passes_key_rebuild(&c->loop, after, f->args.data[place.args + i]);
    PsRef cond = and_ran(c, after, 0);
    for (uint32_t i = 1; i + place.imm < place.nargs; i++)
        cond = and_exists(after, cond, args[0], i - 1, args[i]);
    PsBuilder in = *after;
    if (cond) { /* always, but for an array without axes after a loop of fixed length */
        PsRef branch = ps_build_op(after, PS_OP_IF, PS_KIND_NONE, &cond, 1, 0);
        if (!branch) return;
        in = ps_builder_at_end(f, ps_op(f, branch)->region0);
        in.span = slot->span;
    }
    PsRef element = ps_build_op(&in, place.code, place.type, args, place.nargs, place.imm);
    PsRef old = ps_build_load(&in, element);
    PsRef more = ps_build_load(&in, slot->local);
    ps_build_store(&in, element, ps_build_binary(&in, ps_ir_combine_op(slot->combine), old, more));
}

static void rewrite(Reduce *c) {
    PsFunc *f = c->f;
    PsBuilder after = passes_after(f, c->loop.loop);
    for (uint32_t i = c->first_slot; i < c->slots.len; i++) {
        Slot *slot = &c->slots.data[i];
        const Target *t = &c->targets.data[slot->target];
        if (t->refused) continue;
        bool whole = slot->place == t->local;
        slot->local = whole ? t->local : make_local(c, slot);
        after.span = slot->span;
        if (!whole) add_up(c, &after, slot);
    }
    for (uint32_t i = c->first_site; i < c->sites.len; i++) {
        const Site *site = &c->sites.data[i];
        const Slot *slot = &c->slots.data[site->slot];
        if (c->targets.data[slot->target].refused) continue;
        PsRef args[2] = {slot->local, ps_op_arg(f, site->op, 1)};
        passes_become(f, site->op, PS_OP_PARTIAL, args, 2, slot->combine);
        ps_op(f, site->op)->type = PS_KIND_NONE;
    }
}

static void reduce_loop(Reduce *c, PsRef loop) {
    c->loop.loop = loop;
    c->first_target = c->targets.len;
    c->first_slot = c->slots.len;
    c->first_site = c->sites.len;
    passes_note_written(&c->loop);
    PsRef end = ps_walk_skip(c->f, loop);
    for (PsRef r = ps_walk_next(c->f, loop); r != end; r = ps_walk_next(c->f, r)) find_in(c, r);
    decide(c);
    if (!ps_arena_failed(c->f->module->arena)) rewrite(c);
}

static bool start(Reduce *c, PsFunc *f) {
    PsArena *arena = f->module->arena;
    *c = (Reduce){.f = f, .loop = {.f = f, .known = f->ops.len}};
    ps_map_init(&c->slot_of, arena);
    c->loop.parfor_of = passes_parfor_of(f);
    c->loop.written_in = ps_arena_alloc(arena, sizeof(PsRef) * f->ops.len);
    c->uses = ps_func_count_uses(f);
    c->of_local = ps_arena_alloc(arena, sizeof(uint32_t) * f->ops.len);
    c->of_param = ps_arena_alloc(arena, sizeof(uint32_t) * (f->params.len + 1));
    return !ps_arena_failed(arena);
}

PsStatus ps_pass_reduce(PsModule *m, PsDiag *diag) {
    (void)diag;
    Reduce c;
    if (m->funcs.len == 0) return PS_OK; /* parallel loops are in main only */
    if (!start(&c, m->funcs.data[0])) return PS_NOMEM;
    for (PsRef r = ps_region(c.f, 1)->first, next; r; r = next) {
        next = ps_op(c.f, r)->next;
        if (ps_op(c.f, r)->code == PS_OP_PARFOR) reduce_loop(&c, r);
    }
    return PS_OK;
}
