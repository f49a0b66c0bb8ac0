/* SPDX-License-Identifier: Apache-2.0
 *
 * tiles: vectors and matrices become scalars and locals. Afterwards only locals, and places that go to functions, are of
 * tiles; everything later works on scalars.
 *
 * A tile of at most TILES_SMALL elements is that many values: what a programmer would write by hand, and what registers
 * and vectors of a loop's iterations want. A larger one lives in a local and is computed by loops, so that the code, and
 * the time to compile it, do not grow with the size.
 *
 * A place of a tile in an array becomes places of its elements: the indices that stand for the tile's axes are known to
 * be inside, so that nothing checks them. An extract at running indices leaves an elem behind that nobody uses, but which
 * pass check guards, as it guards an elem that is.
 *
 * New ops stand before the op they replace, which stays as a mark until all is done. One walk: values stand before their
 * uses.
 */
#include "passes/pass_tiles.h"

#include <string.h>

/* -- values -- */

static PsType type_of(const Tiles *c, PsRef value) { return ps_op(c->f, value)->type; }

bool tiles_is_tile(const Tiles *c, PsRef value) {
    return ps_type_info(c->m, type_of(c, value))->kind == PS_KIND_TILE;
}

int64_t tiles_count(const Tiles *c, PsRef value) { return ps_type_count(c->m, type_of(c, value)); }

PsTypeInfo tiles_info(const Tiles *c, PsRef value) {
    const PsTypeInfo *info = ps_type_info(c->m, type_of(c, value));
    return info->kind == PS_KIND_PTR ? *ps_type_info(c->m, info->elem) : *info;
}

PsRef tiles_index(Tiles *c, int64_t value) {
    if (!c->consts[value]) {
        PsBuilder b = ps_builder_before(c->f, ps_walk_first(c->f));
        b.span = 0;
        c->consts[value] = ps_build_int(&b, PS_I32, value);
    }
    return c->consts[value];
}

uint32_t tiles_set_scalars(Tiles *c, PsRef op, int64_t count) {
    uint32_t first = c->elements.len;
    if (!ps_vec_reserve(c->m->arena, &c->elements, (uint32_t)count)) return 0;
    c->elements.len += (uint32_t)count;
    c->values[op] = (TileValue){.form = TILE_SCALARS, .first = first};
    return first;
}

void tiles_set(Tiles *c, PsRef op, TileForm form, PsRef at) {
    c->values[op] = (TileValue){.form = form, .at = at};
}

PsRef tiles_element(const Tiles *c, PsRef value, int64_t k) {
    return tiles_is_tile(c, value) ? c->elements.data[c->values[value].first + (uint32_t)k] : value;
}

PsRef tiles_local(Tiles *c, PsBuilder *b, PsType elem, int64_t count) {
    PsRef local = ps_build_var(b, ps_type_tile(c->m, elem, 1, &count));
    ps_op(c->f, local)->imm = local != 0;
    return local;
}

/* -- loops and numbers, all i64 -- */

PsRef tiles_open_loop(PsBuilder *b, int64_t from, int64_t to) {
    PsRef args[2] = {ps_build_int(b, PS_I64, from), 0};
    if (to - from == 1) return args[0];
    args[1] = ps_build_int(b, PS_I64, to);
    PsRef loop = ps_build_op(b, PS_OP_FOR, PS_KIND_NONE, args, 2, 1);
    if (!loop) return 0;
    PsBuilder in = ps_builder_at_end(b->func, ps_op(b->func, loop)->region0);
    in.span = b->span;
    *b = in;
    return ps_region_add_param(b->func, in.region, PS_I64);
}

PsRef tiles_scaled(PsBuilder *b, PsRef a, int64_t by, PsRef plus) {
    uint64_t bits;
    if (ps_op_is_const(b->func, a, &bits) && !bits) return plus;
    if (by != 1) a = ps_build_binary(b, PS_OP_MUL, a, ps_build_int(b, PS_I64, by));
    if (ps_op_is_const(b->func, plus, &bits) && !bits) return a;
    return ps_build_binary(b, PS_OP_ADD, a, plus);
}

PsRef tiles_flat(PsBuilder *b, const PsTypeInfo *shape, const PsRef *at) {
    PsRef flat = at[0];
    for (int i = 1; i < shape->ndim; i++) flat = tiles_scaled(b, flat, shape->shape[i], at[i]);
    return flat;
}

/* -- elements -- */

/* A local with the tile's elements, filled right behind where the tile is made. */
static PsRef memory_of(Tiles *c, PsRef tile) {
    TileValue v = c->values[tile];
    if (v.form == TILE_MEMORY) return v.at;
    if (v.memory) return v.memory;
    PsBuilder b = passes_after(c->f, tile);
    PsTypeInfo info = tiles_info(c, tile);
    int64_t count = tiles_count(c, tile);
    PsRef local = tiles_local(c, &b, info.elem, count), indices[PS_MAX_AXES] = {0};
    c->values[tile].memory = local;
    if (v.form == TILE_PLACE) {
        for (int i = 0; i < info.ndim; i++) indices[i] = tiles_open_loop(&b, 0, info.shape[i]);
        PsRef flat = tiles_flat(&b, &info, indices), value = tiles_fetch(c, &b, tile, (TileIndex){0, indices});
        ps_build_store(&b, ps_build_elem(&b, local, &flat, 1), value);
        return local;
    }
    for (int64_t k = 0; k < count; k++) { /* splats of many elements are never asked */
        PsRef at = tiles_index(c, k);
        ps_build_store(&b, ps_build_elem(&b, local, &at, 1), tiles_element(c, tile, k));
    }
    return local;
}

PsRef tiles_fetch(Tiles *c, PsBuilder *b, PsRef value, TileIndex index) {
    if (!tiles_is_tile(c, value)) return value;
    TileValue v = c->values[value];
    if (!index.flat && !index.at) return 0; /* no memory to make an index */
    if (v.form == TILE_SPLAT) return v.at;
    if (v.form == TILE_PLACE && index.at) return ps_build_load(b, tiles_place(c, b, v.at, index.at));
    PsTypeInfo info = tiles_info(c, value);
    PsRef flat = index.flat ? index.flat : tiles_flat(b, &info, index.at);
    return ps_build_load(b, ps_build_elem(b, memory_of(c, value), &flat, 1));
}

/* -- places -- */

/* Whether an index is below the axis' length, whatever runs. */
static bool is_inside(const Tiles *c, PsRef index, int64_t length) {
    PsRange range = ps_range_of(c->f, index);
    return range.lo >= 0 && range.hi < length;
}

PsRef tiles_place(Tiles *c, PsBuilder *b, PsRef place, const PsRef *indices) {
    PsOp op = *ps_op(c->f, place);
    uint32_t n = tiles_info(c, place).ndim;
    if (op.code != PS_OP_PLACE) return ps_build_elem(b, place, indices, n);
    PsRef all[PS_MAX_AXES];
    if (op.nargs - 1 + n > PS_MAX_AXES) return 0;
    memcpy(all, c->f->args.data + op.args + 1, (op.nargs - 1) * sizeof *all);
    memcpy(all + op.nargs - 1, indices, n * sizeof *all);
    PsRef made = ps_build_place(b, c->f->args.data[op.args], all, op.nargs - 1 + n, tiles_info(c, place).elem);
    ps_op(c->f, made)->imm = made ? n : 0;
    return made;
}

/* An element of a place in an array is a place in the array. */
static void lower_elem(Tiles *c, PsRef op) {
    PsRef place = ps_op_arg(c->f, op, 0), args[PS_MAX_AXES + 1];
    PsOp outer = *ps_op(c->f, place), inner = *ps_op(c->f, op);
    PsTypeInfo tile = tiles_info(c, place);
    uint32_t n = outer.nargs + tile.ndim, known = 0;
    if (outer.code != PS_OP_PLACE || n > PS_COUNT(args)) return;
    memcpy(args, c->f->args.data + outer.args, outer.nargs * sizeof *args);
    memcpy(args + outer.nargs, c->f->args.data + inner.args + 1, tile.ndim * sizeof *args);
    while (known < tile.ndim && is_inside(c, args[n - 1 - known], tile.shape[tile.ndim - 1 - known])) known++;
    passes_become(c->f, op, PS_OP_PLACE, args, n, known);
}

/* -- moves -- */

void tiles_axes(const Tiles *c, PsRef op, int *out) {
    PsTypeInfo from = tiles_info(c, ps_op_arg(c->f, op, 0)), to = tiles_info(c, op);
    for (int i = 0; i < to.ndim; i++) {
        int axis = ps_op(c->f, op)->code == PS_OP_PERMUTE ? (int)(ps_op(c->f, op)->imm >> 4 * i & 15) : i;
        out[i] = from.shape[axis] == 1 ? -1 : axis;
    }
}

static void lower_reshape(Tiles *c, PsRef op) {
    PsRef from = ps_op_arg(c->f, op, 0);
    c->values[op] = c->values[from];
    if (c->values[from].form == TILE_PLACE) tiles_set(c, op, TILE_MEMORY, memory_of(c, from));
}

/* -- extract -- */

#define MAX_CHAIN                                                                                              \
    8 /* elements of a tile that an extract looks through by selects: no memory, and good in lanes */

/* The element's number, when the indices are constants inside the tile; -1. */
static int64_t const_element(const Tiles *c, PsRef op, const PsTypeInfo *tile) {
    int64_t flat = 0;
    for (int i = 0; i < tile->ndim; i++) {
        uint64_t bits;
        if (!ps_op_is_const(c->f, ps_op_arg(c->f, op, (uint32_t)i + 1), &bits)) return -1;
        if (bits >= (uint64_t)tile->shape[i]) return -1;
        flat = flat * tile->shape[i] + (int64_t)bits;
    }
    return flat;
}

static PsRef also(PsBuilder *b, PsRef cond, PsRef more) {
    return cond ? ps_build_binary(b, PS_OP_AND, cond, more) : more;
}

/* The number (i64) of the element at running indices; *inside: whether it exists; 0: it does for sure. */
static PsRef running_element(Tiles *c, PsBuilder *b, PsRef op, const PsTypeInfo *tile, PsRef *inside) {
    PsRef flat = 0;
    *inside = 0;
    for (int i = 0; i < tile->ndim; i++) {
        PsRef index = ps_op_arg(c->f, op, (uint32_t)i + 1), wide = ps_build_cast(b, index, PS_I64);
        PsRef length = ps_build_int(b, PS_I64, tile->shape[i]);
        if (!is_inside(c, index, tile->shape[i])) { /* as unsigned numbers: one comparison for both ends */
            PsRef u = ps_build_cast(b, wide, PS_U64), end = ps_build_cast(b, length, PS_U64);
            *inside = also(b, *inside, ps_build_binary(b, PS_OP_LT, u, end));
        }
        if (flat) flat = ps_build_binary(b, PS_OP_MUL, flat, length);
        flat = flat ? ps_build_binary(b, PS_OP_ADD, flat, wide) : wide;
    }
    return flat;
}

static PsRef choose(Tiles *c, PsBuilder *b, PsRef tile, PsRef flat, PsRef none) {
    PsRef value = none;
    for (int64_t k = 0; k < tiles_count(c, tile); k++) {
        PsRef is = ps_build_binary(b, PS_OP_EQ, flat, ps_build_int(b, PS_I64, k));
        value = ps_build_select(b, is, tiles_element(c, tile, k), value);
    }
    return value;
}

static PsRef extract_running(Tiles *c, PsRef op, const PsTypeInfo *info) {
    PsFunc *f = c->f;
    PsBuilder b = passes_before(f, op);
    PsRef tile = ps_op_arg(f, op, 0), indices[PS_MAX_AXES] = {0}, inside;
    PsRef none = ps_build_const(&b, info->elem, 0);
    memcpy(indices, f->args.data + ps_op(f, op)->args + 1, info->ndim * sizeof *indices);
    PsRef flat = running_element(c, &b, op, info, &inside);
    if (inside) ps_build_elem(&b, ps_build_var(&b, type_of(c, tile)), indices, info->ndim); /* for pass check */
    PsRef safe = inside ? ps_build_select(&b, inside, flat, ps_build_int(&b, PS_I64, 0)) : flat;
    bool chain = c->values[tile].form == TILE_SCALARS && tiles_count(c, tile) <= MAX_CHAIN;
    PsRef value = chain ? choose(c, &b, tile, safe, none)
                        : tiles_fetch(c, &b, tile, (TileIndex){safe, inside ? NULL : indices});
    return inside ? ps_build_select(&b, inside, value, none) : value;
}

void tiles_extract(Tiles *c, PsRef op) {
    PsRef tile = ps_op_arg(c->f, op, 0);
    PsTypeInfo info = tiles_info(c, tile);
    int64_t k = const_element(c, op, &info);
    if (k < 0) {
        c->to[op] = extract_running(c, op, &info);
    } else if (c->values[tile].form == TILE_SCALARS) {
        c->to[op] = tiles_element(c, tile, k);
    } else {
        PsBuilder b = passes_before(c->f, op);
        PsRef at[PS_MAX_AXES] = {0};
        memcpy(at, c->f->args.data + ps_op(c->f, op)->args + 1, info.ndim * sizeof *at);
        c->to[op] = tiles_fetch(c, &b, tile, (TileIndex){ps_build_int(&b, PS_I64, k), at});
    }
}

/* -- the table -- */

typedef struct Lowering {
    TilesFn small, loop;
} Lowering;

#define EACH                                                                                                   \
    { tiles_small_map, tiles_loop_map }
#define ATOMIC                                                                                                 \
    { tiles_small_atomic, tiles_loop_atomic }
#define MOVE                                                                                                   \
    { tiles_small_move, tiles_loop_move }

static const Lowering by_rule[] = {
    [PS_RULE_NONE] = {NULL, NULL}, /* no such op takes a tile */
    [PS_RULE_SAME] = EACH,          [PS_RULE_INT] = EACH,     [PS_RULE_FLOAT] = EACH,
    [PS_RULE_COMPARE] = EACH,       [PS_RULE_SHIFT] = EACH,   [PS_RULE_SELECT] = EACH,
    [PS_RULE_CAST] = EACH,          [PS_RULE_BITCAST] = EACH, [PS_RULE_IPOW] = EACH,
    [PS_RULE_OTHER] = {NULL, NULL},
};

static const Lowering by_op[PS_OP_COUNT] = {
    [PS_OP_SPLAT] = {tiles_small_splat, tiles_loop_splat},
    [PS_OP_TILE] = {tiles_small_tile, tiles_loop_tile},
    [PS_OP_EXTRACT] = {tiles_extract, tiles_extract},
    [PS_OP_BROADCAST] = MOVE,
    [PS_OP_PERMUTE] = MOVE,
    [PS_OP_RESHAPE] = {lower_reshape, lower_reshape},
    [PS_OP_REDUCE] = {tiles_small_reduce, tiles_loop_reduce},
    [PS_OP_DOT] = {tiles_small_dot, tiles_loop_dot},
    [PS_OP_LOAD] = {tiles_small_load, tiles_loop_load},
    [PS_OP_STORE] = {tiles_small_store, tiles_loop_store},
    [PS_OP_ATOMIC_ADD] = ATOMIC,
    [PS_OP_ATOMIC_MUL] = ATOMIC,
    [PS_OP_ATOMIC_MIN] = ATOMIC,
    [PS_OP_ATOMIC_MAX] = ATOMIC,
    [PS_OP_ATOMIC_AND] = ATOMIC,
    [PS_OP_ATOMIC_OR] = ATOMIC,
    [PS_OP_ATOMIC_XOR] = ATOMIC,
    [PS_OP_ATOMIC_XCHG] = ATOMIC,
    [PS_OP_ATOMIC_CAS] = ATOMIC,
};

/* How the op is lowered: NULL: it has nothing to do with tiles. */
static TilesFn lowering_of(const Tiles *c, PsRef op) {
    const PsOp *o = ps_op(c->f, op);
    int64_t largest = tiles_count(c, op);
    bool has_tile = tiles_is_tile(c, op);
    for (uint32_t i = 0; i < o->nargs; i++) {
        PsRef value = ps_op_arg(c->f, op, i);
        has_tile |= tiles_is_tile(c, value);
        if (tiles_count(c, value) > largest) largest = tiles_count(c, value);
    }
    if (!has_tile) return NULL;
    const Lowering *how = by_op[o->code].small ? &by_op[o->code] : &by_rule[ps_op_info[o->code].rule];
    return largest <= TILES_SMALL ? how->small : how->loop;
}

/* -- the walk -- */

static void lower(Tiles *c, PsRef op) {
    PsFunc *f = c->f;
    for (uint32_t i = 0; i < ps_op(f, op)->nargs; i++) {
        PsRef arg = ps_op_arg(f, op, i), to = arg < c->known ? c->to[arg] : 0;
        if (to) ps_op_set_arg(f, op, i, to);
    }
    if (ps_op(f, op)->code == PS_OP_ELEM) {
        lower_elem(c, op);
        return;
    }
    TilesFn how = lowering_of(c, op);
    if (!how) return;
    how(c, op);
    ps_bits_set(&c->gone, op);
}

static bool has_tiles(const PsFunc *f) {
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        const PsOp *o = ps_op(f, r);
        if (o->code == PS_OP_ELEM || ps_type_info(f->module, o->type)->kind == PS_KIND_TILE) return true;
    }
    return false;
}

static bool start(Tiles *c, PsFunc *f) {
    PsArena *arena = f->module->arena;
    *c = (Tiles){.f = f, .m = f->module, .known = f->ops.len};
    c->values = ps_arena_alloc(arena, sizeof *c->values * c->known);
    c->to = ps_arena_alloc(arena, sizeof *c->to * c->known);
    c->uses = ps_func_count_uses(f);
    if (!ps_vec_reserve(arena, &c->elements, TILES_SMALL)) return false;
    c->elements.len = TILES_SMALL; /* nobody's: see tiles_set_scalars */
    return ps_bits_init(&c->gone, arena, c->known) && !ps_arena_failed(arena);
}

static PsStatus lower_func(PsFunc *f, PsDiag *diag) {
    Tiles c;
    if (!has_tiles(f)) return PS_OK;
    if (!start(&c, f)) return PS_NOMEM;
    for (PsRef r = ps_walk_first(f), next; r && !c.too_deep; r = next) {
        lower(&c, r);
        next = ps_walk_next(f, r);
        if (ps_arena_failed(f->module->arena)) return PS_NOMEM;
    }
    if (c.too_deep) {
        uint32_t span = ps_op(f, c.too_deep)->span;
        return ps_diag_fail(diag, f->module->spans.data[span], PS_MSG_PASSES_NESTING, PS_MAX_NESTING);
    }
    for (PsRef r = ps_walk_first(f), next; r; r = next) {
        next = ps_walk_next(f, r);
        if (r < c.known && ps_bits_get(&c.gone, r)) ps_op_remove(f, r);
    }
    return PS_OK;
}

PsStatus ps_pass_tiles(PsModule *m, PsDiag *diag) {
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        PsStatus status = lower_func(m->funcs.data[i], diag);
        if (status != PS_OK) return status;
    }
    return PS_OK;
}
