/* SPDX-License-Identifier: Apache-2.0
 *
 * pass_tiles_loop: ops that read or make a tile of more than TILES_SMALL elements, as loops from local to local. A result
 * is written once, before anybody reads it. Where an op's result is small again, its elements are read back. A tile that
 * is loaded is read where it lies, when nothing writes before its last use.
 */
#include "passes/pass_tiles.h"

static PsRef arg_of(const Tiles *c, PsRef op, uint32_t i) { return ps_op_arg(c->f, op, i); }

static PsRef number(PsBuilder *b, int64_t value) { return ps_build_int(b, PS_I64, value); }

static void note_depth(Tiles *c, PsRef op) {
    int depth = 0;
    for (PsRegion r = ps_op(c->f, op)->region; r > 1; r = ps_op(c->f, ps_region(c->f, r)->owner)->region)
        depth++;
    if (depth > PS_MAX_NESTING - 2 - PS_MAX_AXES)
        c->too_deep = op; /* a nest has an axis' loop each, and one more */
}

/* One loop per axis; at[] are its indices. */
static void open_nest(PsBuilder *b, const PsTypeInfo *shape, PsRef *at) {
    for (int i = 0; i < shape->ndim; i++) at[i] = tiles_open_loop(b, 0, shape->shape[i]);
}

/* -- results -- */

static PsRef element_of(PsBuilder *b, PsRef local, PsRef flat) { return ps_build_elem(b, local, &flat, 1); }

static PsRef new_result(Tiles *c, PsBuilder *b, PsRef op) {
    note_depth(c, op);
    return tiles_local(c, b, ps_type_element(c->m, ps_op(c->f, op)->type), tiles_count(c, op));
}

/* The op's value is in the local, one axis long. */
static void set_result(Tiles *c, PsRef op, PsRef local) {
    int64_t count = tiles_count(c, op);
    if (count > TILES_SMALL) {
        tiles_set(c, op, TILE_MEMORY, local);
        return;
    }
    PsBuilder b = passes_before(c->f, op);
    uint32_t first = tiles_is_tile(c, op) ? tiles_set_scalars(c, op, count) : 0;
    for (int64_t k = 0; k < count; k++) {
        PsRef value = ps_build_load(&b, element_of(&b, local, tiles_index(c, k)));
        if (tiles_is_tile(c, op))
            c->elements.data[first + (uint32_t)k] = value;
        else
            c->to[op] = value;
    }
}

/* -- ops -- */

void tiles_loop_map(Tiles *c, PsRef op) {
    PsOp o = *ps_op(c->f, op);
    PsTypeInfo shape = tiles_info(c, op);
    PsBuilder b = passes_before(c->f, op);
    PsRef out = new_result(c, &b, op), args[3] = {0}, at[PS_MAX_AXES];
    bool in_place = false; /* then with an index per axis */
    for (uint32_t i = 0; i < o.nargs; i++) {
        PsRef value = arg_of(c, op, i);
        in_place |= tiles_is_tile(c, value) && c->values[value].form == TILE_PLACE;
    }
    if (in_place) open_nest(&b, &shape, at);
    PsRef flat = in_place ? tiles_flat(&b, &shape, at) : tiles_open_loop(&b, 0, tiles_count(c, op));
    for (uint32_t i = 0; i < o.nargs && i < PS_COUNT(args); i++)
        args[i] = tiles_fetch(c, &b, arg_of(c, op, i), (TileIndex){flat, in_place ? at : NULL});
    PsRef value = ps_build_op(&b, o.code, ps_type_element(c->m, o.type), args, o.nargs, o.imm);
    ps_build_store(&b, element_of(&b, out, flat), value);
    set_result(c, op, out);
}

void tiles_loop_splat(Tiles *c, PsRef op) { tiles_set(c, op, TILE_SPLAT, arg_of(c, op, 0)); }

/* As many stores as the program wrote elements. */
void tiles_loop_tile(Tiles *c, PsRef op) {
    PsBuilder b = passes_before(c->f, op);
    PsRef out = new_result(c, &b, op);
    for (uint32_t k = 0; k < ps_op(c->f, op)->nargs; k++)
        ps_build_store(&b, element_of(&b, out, number(&b, k)), arg_of(c, op, k));
    set_result(c, op, out);
}

void tiles_loop_move(Tiles *c, PsRef op) {
    PsRef from = arg_of(c, op, 0), at[PS_MAX_AXES], source[PS_MAX_AXES];
    PsTypeInfo to = tiles_info(c, op), shape = tiles_info(c, from);
    PsBuilder b = passes_before(c->f, op);
    int axes[PS_MAX_AXES];
    tiles_axes(c, op, axes);
    if (c->values[from].form == TILE_SPLAT) {
        tiles_set(c, op, TILE_SPLAT, c->values[from].at);
        return;
    }
    PsRef out = new_result(c, &b, op), zero = number(&b, 0);
    open_nest(&b, &to, at);
    for (int i = 0; i < shape.ndim; i++) source[i] = zero;
    for (int i = 0; i < to.ndim; i++)
        if (axes[i] >= 0) source[axes[i]] = at[i];
    PsRef value = tiles_fetch(c, &b, from, (TileIndex){0, source});
    ps_build_store(&b, element_of(&b, out, tiles_flat(&b, &to, at)), value);
    set_result(c, op, out);
}

/* A sum's first term, then the others one by one: the builder goes on behind the loop. */
typedef PsRef (*TermFn)(Tiles *c, PsBuilder *b, PsRef op, const PsRef *at, PsRef k, PsRef sum);

#define MAX_UNROLLED 16 /* terms of a sum that LLVM may write out: its turns are too short for a loop */

static PsRef sum_up(Tiles *c, PsBuilder *b, PsRef op, const PsRef *at, int64_t terms, PsRef local,
                    TermFn term) {
    ps_build_store(b, local, term(c, b, op, at, number(b, 0), 0));
    PsBuilder in = *b;
    if (terms == 1) return ps_build_load(b, local);
    PsRef k = tiles_open_loop(&in, 1, terms);
    if (terms <= MAX_UNROLLED) ps_op(c->f, ps_region(c->f, in.region)->owner)->imm = 0;
    ps_build_store(&in, local, term(c, &in, op, at, k, ps_build_load(&in, local)));
    return ps_build_load(b, local);
}

/* Of reduce: the operand's indices are the result's, with k at the axis. */
static PsRef reduce_term(Tiles *c, PsBuilder *b, PsRef op, const PsRef *at, PsRef k, PsRef sum) {
    PsRef from = arg_of(c, op, 0), source[PS_MAX_AXES];
    uint64_t imm = ps_op(c->f, op)->imm, axis = ps_reduce_axis(imm);
    for (uint64_t i = 0; i < tiles_info(c, from).ndim; i++) source[i] = i == axis ? k : at[i - (i > axis)];
    PsRef value = tiles_fetch(c, b, from, (TileIndex){0, source});
    PsOpCode code = ps_ir_combine_op(ps_reduce_combine(imm));
    return sum ? tiles_build_sum(b, code, sum, value, imm & PS_REDUCE_WRITTEN) : value;
}

static PsRef dot_term(Tiles *c, PsBuilder *b, PsRef op, const PsRef *at, PsRef k, PsRef sum) {
    PsRef x = tiles_fetch(c, b, arg_of(c, op, 0), (TileIndex){0, (PsRef[]){at[0], k}});
    PsRef y = tiles_fetch(c, b, arg_of(c, op, 1), (TileIndex){0, (PsRef[]){k, at[1]}});
    return tiles_build_product(b, sum, x, y, ps_op(c->f, op)->imm);
}

static void lower_sums(Tiles *c, PsRef op, int64_t terms, TermFn term) {
    PsTypeInfo shape = tiles_info(c, op);
    PsBuilder b = passes_before(c->f, op);
    PsRef out = new_result(c, &b, op), local = ps_build_var(&b, ps_type_element(c->m, ps_op(c->f, op)->type));
    PsRef at[PS_MAX_AXES];
    open_nest(&b, &shape, at);
    PsRef sum = sum_up(c, &b, op, at, terms, local, term);
    PsRef flat = tiles_is_tile(c, op) ? tiles_flat(&b, &shape, at) : number(&b, 0);
    ps_build_store(&b, element_of(&b, out, flat), sum);
    set_result(c, op, out);
}

void tiles_loop_reduce(Tiles *c, PsRef op) {
    uint64_t axis = ps_reduce_axis(ps_op(c->f, op)->imm);
    lower_sums(c, op, tiles_info(c, arg_of(c, op, 0)).shape[axis], reduce_term);
}

void tiles_loop_dot(Tiles *c, PsRef op) {
    lower_sums(c, op, tiles_info(c, arg_of(c, op, 0)).shape[1], dot_term);
}

/* -- memory -- */

#define NEAR 64 /* ops behind a load among which its last use is looked for */

static bool writes(const PsOp *o) {
    PsEffect effect = ps_op_info[o->code].effect;
    return effect == PS_EFFECT_WRITE || effect == PS_EFFECT_CONTROL;
}

/* Whether the op, which writes, is but the last use: the loaded local goes into another place. */
static bool only_stores(const Tiles *c, PsRef op, PsRef load, uint32_t left) {
    PsRef from = ps_place_root(c->f, arg_of(c, load, 0));
    if (left != 1 || ps_op(c->f, op)->code != PS_OP_STORE || arg_of(c, op, 1) != load) return false;
    return ps_op(c->f, from)->code == PS_OP_VAR && ps_place_root(c->f, arg_of(c, op, 0)) != from;
}

/* Whether all uses stand behind the load in its region, before anything is written. */
static bool can_stay(const Tiles *c, PsRef load) {
    const PsFunc *f = c->f;
    uint32_t left = c->uses[load];
    PsRef at = ps_op(f, load)->next;
    for (int n = 0; left && at && n < NEAR; n++, at = ps_op(f, at)->next) {
        const PsOp *o = ps_op(f, at);
        if (writes(o)) return only_stores(c, at, load, left);
        for (uint32_t i = 0; i < o->nargs; i++) left -= ps_op_arg(f, at, i) == load;
    }
    return !left;
}

void tiles_loop_load(Tiles *c, PsRef op) {
    PsTypeInfo shape = tiles_info(c, op);
    if (can_stay(c, op)) {
        note_depth(c, op);
        tiles_set(c, op, TILE_PLACE, arg_of(c, op, 0));
        return;
    }
    PsBuilder b = passes_before(c->f, op);
    PsRef out = new_result(c, &b, op), at[PS_MAX_AXES];
    open_nest(&b, &shape, at);
    PsRef value = ps_build_load(&b, tiles_place(c, &b, arg_of(c, op, 0), at));
    ps_build_store(&b, element_of(&b, out, tiles_flat(&b, &shape, at)), value);
    set_result(c, op, out);
}

void tiles_loop_store(Tiles *c, PsRef op) {
    PsTypeInfo shape = tiles_info(c, arg_of(c, op, 1));
    PsBuilder b = passes_before(c->f, op);
    PsRef at[PS_MAX_AXES];
    note_depth(c, op);
    open_nest(&b, &shape, at);
    PsRef value = tiles_fetch(c, &b, arg_of(c, op, 1), (TileIndex){0, at});
    ps_build_store(&b, tiles_place(c, &b, arg_of(c, op, 0), at), value);
}

#define MAX_SUMS 64 /* elements that are worth partials of their own: as many as pass reduce makes */

/* Whether all iterations of a parallel loop combine into this one place, so that pass reduce wants to see the elements. */
static bool is_common(const Tiles *c, PsRef op) {
    const PsFunc *f = c->f;
    PsRef loop = op, root = ps_place_root(f, arg_of(c, op, 0));
    while (loop && ps_op(f, loop)->code != PS_OP_PARFOR) loop = ps_region(f, ps_op(f, loop)->region)->owner;
    if (!loop || c->uses[op] || tiles_count(c, op) > MAX_SUMS) return false;
    PsRegion body = ps_op(f, loop)->region0;
    if (ps_op(f, root)->code == PS_OP_VAR) return !ps_region_contains(f, body, root);
    for (uint32_t i = 1; i < ps_op(f, root)->nargs; i++) {
        PsRef index = arg_of(c, root, i);
        if (ps_op(f, index)->code != PS_OP_CONST && ps_region_contains(f, body, index)) return false;
    }
    return ps_op(f, root)->code == PS_OP_PLACE;
}

/* Element by element. */
static void write_out(Tiles *c, PsRef op) {
    PsOp o = *ps_op(c->f, op);
    PsTypeInfo shape = tiles_info(c, op);
    PsBuilder b = passes_before(c->f, op);
    for (int64_t k = 0; k < tiles_count(c, op); k++) {
        PsRef args[3], at[PS_MAX_AXES];
        int64_t rest = k;
        for (int i = shape.ndim - 1; i >= 0; i--) {
            at[i] = number(&b, rest % shape.shape[i]);
            rest /= shape.shape[i];
        }
        args[0] = tiles_place(c, &b, arg_of(c, op, 0), at);
        TileIndex index = {number(&b, k), at};
        for (uint32_t i = 1; i < o.nargs; i++) args[i] = tiles_fetch(c, &b, arg_of(c, op, i), index);
        ps_build_op(&b, o.code, shape.elem, args, o.nargs, o.imm);
    }
}

void tiles_loop_atomic(Tiles *c, PsRef op) {
    if (is_common(c, op)) {
        write_out(c, op);
        return;
    }
    PsOp o = *ps_op(c->f, op);
    PsTypeInfo shape = tiles_info(c, op);
    PsBuilder b = passes_before(c->f, op);
    bool used = c->uses[op] > 0;
    PsRef out = used ? new_result(c, &b, op) : 0, args[3], at[PS_MAX_AXES];
    note_depth(c, op);
    open_nest(&b, &shape, at);
    args[0] = tiles_place(c, &b, arg_of(c, op, 0), at);
    for (uint32_t i = 1; i < o.nargs; i++) args[i] = tiles_fetch(c, &b, arg_of(c, op, i), (TileIndex){0, at});
    PsRef old = ps_build_op(&b, o.code, shape.elem, args, o.nargs, o.imm);
    if (!used) return;
    ps_build_store(&b, element_of(&b, out, tiles_flat(&b, &shape, at)), old);
    set_result(c, op, out);
}
