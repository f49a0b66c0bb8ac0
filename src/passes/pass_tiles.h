/* SPDX-License-Identifier: Apache-2.0
 *
 * pass_tiles: what the files of pass tiles share.
 *
 *     pass_tiles.c        the walk, the table of ops, the forms of tile values
 *     pass_tiles_small.c  ops on at most TILES_SMALL elements: that many scalars
 *     pass_tiles_loop.c   ops on more: loops over locals
 */
#ifndef PS_PASSES_PASS_TILES_H
#define PS_PASSES_PASS_TILES_H

#include "passes/passes_int.h"

#define TILES_SMALL 16 /* elements; a tile of more is never unrolled */

typedef enum TileForm {
    TILE_NONE,
    TILE_SCALARS, /* one value per element, in c->elements from `first` on: every small tile */
    TILE_SPLAT,   /* all elements are `at` */
    TILE_MEMORY,  /* elements of the local `at`, which has one axis, row-major; nobody writes it again */
    TILE_PLACE,   /* the elements of the place `at`, which nothing writes before the last use */
} TileForm;

typedef struct TileValue {
    TileForm form;
    PsRef at;
    uint32_t first;
    PsRef memory; /* of scalars and splats: a local with the same elements; 0: not made yet */
} TileValue;

typedef struct Tiles {
    PsFunc *f;
    PsModule *m;
    uint32_t known;    /* ops there were before */
    TileValue *values; /* by PsRef */
    PsRef *to;         /* by PsRef of a scalar: what it became; 0: itself */
    uint32_t *uses;    /* by PsRef */
    PsBits gone;       /* by PsRef: removed at the end; until then it marks where its successor stands */
    PsVec(PsRef) elements;
    PsRef consts[TILES_SMALL]; /* i32 0, 1, ..; at the function's start */
    PsRef too_deep;            /* an op whose loops would nest too deeply; 0: none */
} Tiles;

/* pass_tiles.c */
bool tiles_is_tile(const Tiles *c, PsRef value);
int64_t tiles_count(const Tiles *c, PsRef value);   /* elements; 1 of a scalar */
PsTypeInfo tiles_info(const Tiles *c, PsRef value); /* of the value's type; of a place: of what it points to */
PsRef tiles_index(Tiles *c, int64_t value);         /* a constant below TILES_SMALL */
/* Room for a small tile's elements; the first's index. Without memory, room that is nobody's, at 0. */
uint32_t tiles_set_scalars(Tiles *c, PsRef op, int64_t count);
void tiles_set(Tiles *c, PsRef op, TileForm form, PsRef at);
/* Element k of a small tile; a scalar itself. */
PsRef tiles_element(const Tiles *c, PsRef value, int64_t k);
/* An element of any tile, at i64 indices; a scalar itself. */
typedef struct TileIndex {
    PsRef flat;      /* 0: not computed yet */
    const PsRef *at; /* an index per axis; NULL: flat alone is known */
} TileIndex;
PsRef tiles_fetch(Tiles *c, PsBuilder *b, PsRef value, TileIndex index);
PsRef tiles_flat(PsBuilder *b, const PsTypeInfo *shape, const PsRef *at); /* its number in row-major order */
PsRef tiles_scaled(PsBuilder *b, PsRef a, int64_t by, PsRef plus);        /* a * by + plus, of i64 */
/* for i in from .. to - 1: the builder goes on inside. Of one turn there is no loop. */
PsRef tiles_open_loop(PsBuilder *b, int64_t from, int64_t to);
/* The place of the element at these indices, which are inside, of a tile's place. */
PsRef tiles_place(Tiles *c, PsBuilder *b, PsRef place, const PsRef *indices);
/* A local of so many elements. */
PsRef tiles_local(Tiles *c, PsBuilder *b, PsType elem, int64_t count);
/* Of broadcast and permute: the axis of the operand that goes with each axis of the result; -1: none moves. */
void tiles_axes(const Tiles *c, PsRef op, int *out);

/* Lowering of one op, by its kind: new ops stand before it. */
typedef void (*TilesFn)(Tiles *c, PsRef op);
void tiles_small_map(Tiles *c, PsRef op);
void tiles_small_splat(Tiles *c, PsRef op);
void tiles_small_tile(Tiles *c, PsRef op);
void tiles_small_move(Tiles *c, PsRef op); /* broadcast, permute */
void tiles_small_reduce(Tiles *c, PsRef op);
void tiles_small_dot(Tiles *c, PsRef op);
PsRef tiles_build_sum(PsBuilder *b, PsOpCode code, PsRef x, PsRef y, bool written);
PsRef tiles_build_product(PsBuilder *b, PsRef sum, PsRef x, PsRef y, bool written); /* sum 0: none */
void tiles_small_load(Tiles *c, PsRef op);
void tiles_small_store(Tiles *c, PsRef op);
void tiles_small_atomic(Tiles *c, PsRef op);
void tiles_loop_map(Tiles *c, PsRef op);
void tiles_loop_splat(Tiles *c, PsRef op);
void tiles_loop_tile(Tiles *c, PsRef op);
void tiles_loop_move(Tiles *c, PsRef op);
void tiles_loop_reduce(Tiles *c, PsRef op);
void tiles_loop_dot(Tiles *c, PsRef op);
void tiles_loop_load(Tiles *c, PsRef op);
void tiles_loop_store(Tiles *c, PsRef op);
void tiles_loop_atomic(Tiles *c, PsRef op);
void tiles_extract(Tiles *c, PsRef op);

#endif
