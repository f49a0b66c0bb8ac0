/* SPDX-License-Identifier: Apache-2.0
 *
 * pass_tiles_loop: ops that read or make a tile of more than TILES_SMALL elements, as loops from local to local. A result
 * is written once, before anybody reads it. Where an op's result is small again, its elements are read back.
 *
 * Sums run over their terms in the outer loop and over neighbouring elements in the inner one: each element still gets
 * its terms in ascending order, and the inner loop is one LLVM makes vectors of.
 */
#include "passes/pass_tiles.h"

static PsRef arg_of(const Tiles *c, PsRef op, uint32_t i) { return ps_op_arg(c->f, op, i); }

/* -- loops and indices, all i64 -- */

static PsRef number(PsBuilder *b, int64_t value) { return ps_build_int(b, PS_I64, value); }

static void note_depth(Tiles *c, PsRef op) {
    int depth = 0;
    for (PsRegion r = ps_op(c->f, op)->region; r > 1; r = ps_op(c->f, ps_region(c->f, r)->owner)->region)
        depth++;
    if (depth > PS_MAX_NESTING - 2 - PS_MAX_AXES)
        c->too_deep = op; /* a nest has an axis' loop each, and two more */
}

/* for i in from .. to - 1: the builder goes on inside. Of one turn there is no loop. */
static PsRef open_loop(PsBuilder *b, int64_t from, int64_t to) {
    PsRef args[2] = {number(b, from), 0};
    if (to - from == 1) return args[0];
    args[1] = number(b, to);
    PsRef loop = ps_build_op(b, PS_OP_FOR, PS_KIND_NONE, args, 2, 0);
    if (!loop) return 0;
    PsBuilder in = ps_builder_at_end(b->func, ps_op(b->func, loop)->region0);
    in.span = b->span;
    *b = in;
    return ps_region_add_param(b->func, in.region, PS_I64);
}

/* a * by + plus */
static PsRef scaled(PsBuilder *b, PsRef a, int64_t by, PsRef plus) {
    uint64_t bits;
    if (ps_op_is_const(b->func, a, &bits) && !bits) return plus;
    if (by != 1) a = ps_build_binary(b, PS_OP_MUL, a, number(b, by));
    if (ps_op_is_const(b->func, plus, &bits) && !bits) return a;
    return ps_build_binary(b, PS_OP_ADD, a, plus);
}

/* One loop per axis; at[] are its indices. Gives the element's number. */
static PsRef open_nest(PsBuilder *b, const PsTypeInfo *shape, PsRef *at) {
    for (int i = 0; i < shape->ndim; i++) at[i] = open_loop(b, 0, shape->shape[i]);
    PsRef flat = at[0];
    for (int i = 1; i < shape->ndim; i++) flat = scaled(b, flat, shape->shape[i], at[i]);
    return flat;
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
    PsBuilder b = passes_before(c->f, op);
    PsRef out = new_result(c, &b, op), args[3] = {0};
    PsRef flat = open_loop(&b, 0, tiles_count(c, op));
    for (uint32_t i = 0; i < o.nargs && i < PS_COUNT(args); i++)
        args[i] = tiles_fetch(c, &b, arg_of(c, op, i), flat);
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
    PsTypeInfo to = tiles_info(c, op);
    PsBuilder b = passes_before(c->f, op);
    PsRef from = arg_of(c, op, 0), at[PS_MAX_AXES];
    int64_t steps[PS_MAX_AXES];
    tiles_steps(c, op, steps);
    if (c->values[from].form == TILE_SPLAT) {
        tiles_set(c, op, TILE_SPLAT, c->values[from].at);
        return;
    }
    PsRef out = new_result(c, &b, op), flat = open_nest(&b, &to, at), source = number(&b, 0);
    for (int i = 0; i < to.ndim; i++)
        if (steps[i]) source = scaled(&b, at[i], steps[i], source);
    PsRef value = tiles_fetch(c, &b, from, source);
    ps_build_store(&b, element_of(&b, out, flat), value);
    set_result(c, op, out);
}

/* out[flat] = value, or combined with what is there. */
static void accumulate(PsBuilder *b, PsRef out, PsRef flat, PsOpCode code, PsRef value) {
    PsRef place = element_of(b, out, flat);
    if (code) value = ps_build_binary(b, code, ps_build_load(b, place), value);
    ps_build_store(b, place, value);
}

void tiles_loop_reduce(Tiles *c, PsRef op) {
    PsRef from = arg_of(c, op, 0);
    PsTypeInfo info = tiles_info(c, from);
    uint64_t imm = ps_op(c->f, op)->imm;
    PsOpCode code = ps_ir_combine_op((PsCombine)(imm & 255));
    int64_t axis = (int64_t)(imm >> 8), length = info.shape[axis], inner = 1, outer = 1;
    for (int64_t i = 0; i < info.ndim; i++) *(i < axis ? &outer : &inner) *= i == axis ? 1 : info.shape[i];
    PsBuilder b = passes_before(c->f, op);
    PsRef out = new_result(c, &b, op), row = open_loop(&b, 0, outer);
    for (int rest = 0; rest < 2; rest++) { /* the first terms, then the others */
        PsBuilder in = b;
        if (rest && length == 1) continue;
        PsRef k = rest ? open_loop(&in, 1, length) : number(&in, 0), column = open_loop(&in, 0, inner);
        PsRef source = scaled(&in, scaled(&in, row, length, k), inner, column);
        PsRef value = tiles_fetch(c, &in, from, source);
        accumulate(&in, out, scaled(&in, row, inner, column), rest ? code : PS_OP_NONE, value);
    }
    set_result(c, op, out);
}

/* out[flat] = x * y, or out[flat] + x * y. */
static void add_product(PsBuilder *b, PsRef out, PsRef flat, bool first, PsRef x, PsRef y) {
    PsType type = ps_op(b->func, x)->type;
    if (first || !passes_is_float(b->func->module, type)) {
        accumulate(b, out, flat, first ? PS_OP_NONE : PS_OP_ADD, ps_build_binary(b, PS_OP_MUL, x, y));
        return;
    }
    PsRef place = element_of(b, out, flat), sum = ps_build_load(b, place);
    ps_build_store(b, place, ps_build_op(b, PS_OP_FMA, type, (PsRef[]){x, y, sum}, 3, 0));
}

void tiles_loop_dot(Tiles *c, PsRef op) {
    PsRef x = arg_of(c, op, 0), y = arg_of(c, op, 1);
    int64_t rows = tiles_info(c, x).shape[0], terms = tiles_info(c, x).shape[1],
            columns = tiles_info(c, y).shape[1];
    PsBuilder b = passes_before(c->f, op);
    PsRef out = new_result(c, &b, op), row = open_loop(&b, 0, rows);
    for (int rest = 0; rest < 2; rest++) {
        PsBuilder in = b;
        if (rest && terms == 1) continue;
        PsRef k = rest ? open_loop(&in, 1, terms) : number(&in, 0);
        PsRef left = tiles_fetch(c, &in, x, scaled(&in, row, terms, k));
        PsRef column = open_loop(&in, 0, columns);
        PsRef right = tiles_fetch(c, &in, y, scaled(&in, k, columns, column));
        add_product(&in, out, scaled(&in, row, columns, column), !rest, left, right);
    }
    set_result(c, op, out);
}

/* -- memory -- */

void tiles_loop_load(Tiles *c, PsRef op) {
    PsTypeInfo shape = tiles_info(c, op);
    PsBuilder b = passes_before(c->f, op);
    PsRef out = new_result(c, &b, op), at[PS_MAX_AXES], flat = open_nest(&b, &shape, at);
    PsRef value = ps_build_load(&b, tiles_place(c, &b, arg_of(c, op, 0), at));
    ps_build_store(&b, element_of(&b, out, flat), value);
    set_result(c, op, out);
}

void tiles_loop_store(Tiles *c, PsRef op) {
    PsTypeInfo shape = tiles_info(c, arg_of(c, op, 1));
    PsBuilder b = passes_before(c->f, op);
    PsRef at[PS_MAX_AXES];
    note_depth(c, op);
    PsRef flat = open_nest(&b, &shape, at);
    PsRef value = tiles_fetch(c, &b, arg_of(c, op, 1), flat);
    ps_build_store(&b, tiles_place(c, &b, arg_of(c, op, 0), at), value);
}

void tiles_loop_atomic(Tiles *c, PsRef op) {
    PsOp o = *ps_op(c->f, op);
    PsTypeInfo shape = tiles_info(c, op);
    PsBuilder b = passes_before(c->f, op);
    bool used = c->uses[op] > 0;
    PsRef out = used ? new_result(c, &b, op) : 0, args[3], at[PS_MAX_AXES];
    note_depth(c, op);
    PsRef flat = open_nest(&b, &shape, at);
    args[0] = tiles_place(c, &b, arg_of(c, op, 0), at);
    for (uint32_t i = 1; i < o.nargs; i++) args[i] = tiles_fetch(c, &b, arg_of(c, op, i), flat);
    PsRef old = ps_build_op(&b, o.code, shape.elem, args, o.nargs, 0);
    if (!used) return;
    ps_build_store(&b, element_of(&b, out, flat), old);
    set_result(c, op, out);
}
