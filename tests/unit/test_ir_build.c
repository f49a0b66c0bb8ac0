/* SPDX-License-Identifier: Apache-2.0
 *
 * ir: types, building, walking, editing; the same without memory.
 */
#include "../unit/unit.h"
#include "ir/ir.h"

static PsArena arena;
static PsModule *m;
static PsFunc *f;
static PsBuilder b;

static void begin(void) {
    ps_arena_init(&arena);
    m = ps_module_new(&arena);
    f = ps_func_new(m, "main", 4);
    b = ps_builder_at_end(f, 1);
}

static void end(void) { ps_arena_free(&arena); }

static void check_text(const char *want) {
    PsBuf buf = {0};
    ps_ir_print(m, true, &buf);
    CHECK_STR(buf.data, want);
    ps_buf_free(&buf);
}

static void check_type(PsType type, const char *want) {
    PsBuf buf = {0};
    ps_type_print(m, type, &buf);
    CHECK_STR(buf.data, want);
    ps_buf_free(&buf);
}

static void test_types(void) {
    begin();
    for (PsType t = PS_KIND_NONE + 1; t < PS_SCALAR_END; t++) {
        const char *name = ps_scalar_name(t);
        CHECK_INT(ps_scalar_by_name(name, strlen(name)), t);
        CHECK_INT(ps_scalar_size(t) * 8, ps_scalar_bits(t));
        check_type(t, name);
    }
    CHECK_INT(ps_scalar_by_name("f3", 2), PS_KIND_NONE);
    CHECK_INT(ps_scalar_by_name("", 0), PS_KIND_NONE);
    CHECK_INT(ps_scalar_class(PS_U1), PS_CLASS_UINT);
    PsType array = ps_type_array(m, PS_F32, 2, true), tile = ps_type_tile(m, PS_F32, 2, (int64_t[]){4, 3});
    check_type(array, "array<f32,2,unit>");
    check_type(ps_type_array(m, PS_F32, 2, false), "array<f32,2>");
    check_type(ps_type_ptr(m, tile), "ptr<tile<f32,4x3>>");
    CHECK_INT(ps_type_array(m, PS_F32, 2, true), array);
    CHECK(ps_type_array(m, PS_F32, 2, false) != array);
    check_type(ps_type_array_outer(m, PS_F32, 3, 2), "array<f32,3,unit,2>");
    CHECK(ps_type_array_outer(m, PS_F32, 2, 1) != array);
    CHECK_INT(ps_type_array_outer(m, PS_F32, 2, 0), array);
    CHECK_INT(ps_type_array_outer(m, PS_F32, 2, 2), PS_KIND_NONE);
    CHECK_INT(ps_type_tile(m, PS_F32, 2, (int64_t[]){4, 3}), tile);
    CHECK_INT(ps_type_count(m, tile), 12);
    CHECK_INT(ps_type_count(m, PS_F32), 1);
    CHECK_INT(ps_type_element(m, tile), PS_F32);
    check_type(ps_type_with_element(m, tile, PS_U1), "tile<u1,4x3>");
    CHECK_INT(ps_type_with_element(m, PS_I64, PS_U1), PS_U1);
    CHECK_INT(ps_type_ptr(m, array), PS_KIND_NONE);
    CHECK_INT(ps_type_array(m, tile, 2, false), PS_KIND_NONE);
    CHECK_INT(ps_type_array(m, PS_F32, PS_MAX_AXES + 1, false), PS_KIND_NONE);
    CHECK_INT(ps_type_tile(m, PS_F32, 2, (int64_t[]){4, 0}), PS_KIND_NONE);
    CHECK_INT(ps_type_tile(m, PS_F32, 2, (int64_t[]){1 << 20, 2}), PS_KIND_NONE);
    CHECK_INT(ps_type_tile(m, PS_F32, 2, (int64_t[]){INT64_MAX, INT64_MAX}), PS_KIND_NONE);
    CHECK(!ps_arena_failed(&arena));
    end();
}

static void check_const(PsRef r, uint64_t want) {
    uint64_t bits = 0;
    CHECK(ps_op_is_const(f, r, &bits));
    CHECK_INT(bits, want);
}

static void test_constants(void) {
    begin();
    check_const(ps_build_int(&b, PS_I8, -1), 0xff);
    check_const(ps_build_int(&b, PS_U16, 0x12345), 0x2345);
    check_const(ps_build_int(&b, PS_I64, -1), UINT64_MAX);
    check_const(ps_build_int(&b, PS_U1, 2), 1);
    check_const(ps_build_int(&b, PS_F32, 16777217), 0x4b800000);
    check_const(ps_build_int(&b, PS_F64, -3), 0xc008000000000000);
    check_const(ps_build_float(&b, PS_F32, 0.1), 0x3dcccccd);
    check_const(ps_build_float(&b, PS_F16, 65520), 0x7c00);
    check_const(ps_build_float(&b, PS_BF16, 1), 0x3f80);
    check_const(ps_build_const(&b, PS_I32, UINT64_MAX), 0xffffffff);
    PsRef cast = ps_build_float(&b, PS_I32, 2.5);
    CHECK_INT(ps_op(f, cast)->code, PS_OP_CAST);
    CHECK_INT(ps_op(f, cast)->type, PS_I32);
    uint64_t bits;
    CHECK(!ps_op_is_const(f, cast, &bits));
    end();
}

static void test_identities(void) {
    CHECK_INT(ps_ir_identity(PS_COMBINE_ADD, PS_F32), 0x80000000);
    CHECK_INT(ps_ir_identity(PS_COMBINE_MUL, PS_F64), 0x3ff0000000000000);
    CHECK_INT(ps_ir_identity(PS_COMBINE_MAX, PS_F32), 0x7fc00000);
    CHECK_INT(ps_ir_identity(PS_COMBINE_ADD, PS_I32), 0);
    CHECK_INT(ps_ir_identity(PS_COMBINE_MIN, PS_I32), 0x7fffffff);
    CHECK_INT(ps_ir_identity(PS_COMBINE_MAX, PS_I32), 0x80000000);
    CHECK_INT(ps_ir_identity(PS_COMBINE_MIN, PS_U8), 0xff);
    CHECK_INT(ps_ir_identity(PS_COMBINE_MAX, PS_U64), 0);
    CHECK_INT(ps_ir_identity(PS_COMBINE_MAX, PS_I64), INT64_MIN);
    CHECK_INT(ps_ir_identity(PS_COMBINE_AND, PS_U1), 1);
    CHECK_INT(ps_ir_identity(PS_COMBINE_AND, PS_I16), 0xffff);
    CHECK_INT(ps_ir_identity(PS_COMBINE_XOR, PS_I16), 0);
    CHECK_INT(ps_ir_combine_op(PS_COMBINE_MAX), PS_OP_MAX);
    CHECK_INT(ps_ir_combine_op((PsCombine)99), PS_OP_NONE);
}

static void test_ops_table(void) {
    for (int code = 0; code < PS_OP_COUNT; code++) {
        const PsOpInfo *info = &ps_op_info[code];
        CHECK(info->name && *info->name && *info->doc);
        for (int other = 0; other < code; other++) CHECK(strcmp(info->name, ps_op_info[other].name) != 0);
    }
}

/* for i in 0 .. n: if i < 3: x = x + i */
typedef struct Example {
    PsRef zero, n, var, loop, index, test, branch, old, sum, store;
} Example;

static Example build_example(void) {
    Example e = {0};
    e.zero = ps_build_int(&b, PS_I32, 0);
    e.n = ps_build_int(&b, PS_I32, 10);
    e.var = ps_build_var(&b, PS_I32);
    e.loop = ps_build_op(&b, PS_OP_FOR, PS_KIND_NONE, (PsRef[]){e.zero, e.n}, 2, 0);
    e.index = ps_region_add_param(f, ps_op(f, e.loop)->region0, PS_I32);
    PsBuilder inner = ps_builder_at_end(f, ps_op(f, e.loop)->region0);
    e.test = ps_build_binary(&inner, PS_OP_LT, e.index, ps_build_int(&inner, PS_I32, 3));
    e.branch = ps_build_op(&inner, PS_OP_IF, PS_KIND_NONE, &e.test, 1, 0);
    PsBuilder then = ps_builder_at_end(f, ps_op(f, e.branch)->region0);
    e.old = ps_build_load(&then, e.var);
    e.sum = ps_build_binary(&then, PS_OP_ADD, e.old, e.index);
    ps_build_store(&then, e.var, e.sum);
    e.store = ps_region(f, ps_op(f, e.branch)->region0)->last;
    return e;
}

static void test_build(void) {
    begin();
    Example e = build_example();
    CHECK_INT(ps_op(f, e.test)->type, PS_U1);
    check_text("func @main() {\n"
               "  %1:i32 = const 0\n"
               "  %2:i32 = const 10\n"
               "  %3:ptr<i32> = var\n"
               "  for %1, %2 {^ %4:i32\n"
               "    %5:i32 = const 3\n"
               "    %6:u1 = lt %4, %5\n"
               "    if %6 {\n"
               "      %7:i32 = load %3\n"
               "      %8:i32 = add %7, %4\n"
               "      store %3, %8\n"
               "    }\n"
               "  }\n"
               "}\n");
    PsRegion body = ps_op(f, e.loop)->region0, then = ps_op(f, e.branch)->region0;
    CHECK(ps_region_contains(f, body, e.sum) && ps_region_contains(f, body, e.index));
    CHECK(ps_region_contains(f, then, e.sum) && !ps_region_contains(f, then, e.index));
    CHECK(!ps_region_contains(f, body, e.loop) && ps_region_contains(f, 1, e.index));
    CHECK(!ps_region_contains(f, then + 1, e.sum));
    CHECK_INT(ps_build_cast(&b, e.sum, PS_I32), e.sum);
    end();
}

static void test_walk(void) {
    begin();
    Example e = build_example();
    PsRef last = ps_build_int(&b, PS_I32, 5);
    uint32_t n = 0;
    PsRef before = 0;
    for (PsRef r = ps_walk_first(f); r; before = r, r = ps_walk_next(f, r)) n++;
    CHECK_INT(n, 11);
    CHECK_INT(before, last);
    CHECK_INT(ps_walk_next(f, e.loop), ps_region(f, ps_op(f, e.loop)->region0)->first);
    CHECK_INT(ps_walk_skip(f, e.loop), last);
    CHECK_INT(ps_walk_skip(f, e.branch), last);
    CHECK_INT(ps_walk_next(f, e.store), last);
    CHECK_INT(ps_walk_next(f, last), 0);

    n = 0; /* removing while walking */
    for (PsRef r = ps_walk_first(f), next; r; r = next, n++) {
        next = ps_op(f, r)->nregions ? ps_walk_skip(f, r) : ps_walk_next(f, r);
        ps_op_remove(f, r);
        ps_op_remove(f, r); /* twice does no harm */
    }
    CHECK_INT(ps_walk_first(f), 0);
    CHECK_INT(ps_region(f, 1)->last, 0);
    end();
}

static void test_edit(void) {
    begin();
    Example e = build_example();
    uint32_t *uses = ps_func_count_uses(f);
    REQUIRE(uses);
    CHECK_INT(uses[e.var], 2);
    CHECK_INT(uses[e.index], 2);
    CHECK_INT(uses[e.loop], 0);
    PsBuilder before = ps_builder_before(f, e.loop);
    PsRef one = ps_build_int(&before, PS_I32, 1);
    CHECK_INT(ps_op(f, e.loop)->prev, one);
    ps_func_replace(f, e.n, one);
    CHECK_INT(ps_op_arg(f, e.loop, 1), one);
    ps_op_move_before(f, e.zero, e.loop);
    CHECK_INT(ps_op(f, e.zero)->prev, one);
    CHECK_INT(ps_walk_first(f), e.n);
    ps_op_move_before(f, e.zero, e.zero);
    CHECK_INT(ps_op(f, e.loop)->prev, e.zero);
    ps_op_remove(f, e.branch);
    uses = ps_func_count_uses(f);
    REQUIRE(uses);
    CHECK_INT(uses[e.var], 0); /* its users went with the region */
    PsRef *map = ps_arena_alloc(&arena, f->ops.len * sizeof *map);
    map[one] = e.n;
    map[e.n] = e.zero;
    ps_func_remap(f, map);
    CHECK_INT(ps_op_arg(f, e.loop, 1), e.zero);
    CHECK_INT(ps_op_arg(f, e.test, 0), e.index);
    end();
}

/* What needs no op makes none; everything that is made verifies. */
static void test_build_tiles(void) {
    begin();
    PsType matrix = ps_type_tile(m, PS_F32, 2, (int64_t[]){2, 3});
    PsRef e[6], at[4];
    for (int i = 0; i < 6; i++) e[i] = ps_build_float(&b, PS_F32, i);
    for (int i = 0; i < 4; i++) at[i] = ps_build_int(&b, i % 2 ? PS_I32 : PS_I64, i);
    PsRef tile = ps_build_tile(&b, matrix, e, 6), splat = ps_build_splat(&b, matrix, e[3]);
    uint32_t made = f->ops.len;
    CHECK_INT(ps_build_splat(&b, PS_F32, e[3]), e[3]);
    CHECK_INT(ps_build_extract(&b, tile, (PsRef[]){at[1], at[2]}, 2), e[5]);
    CHECK_INT(ps_build_extract(&b, splat, (PsRef[]){at[1], at[2]}, 2), e[3]);
    CHECK_INT(ps_build_reshape(&b, tile, 2, (int64_t[]){2, 3}), tile);
    CHECK_INT(ps_build_broadcast(&b, tile, 2, (int64_t[]){2, 3}), tile);
    CHECK_INT(ps_build_permute(&b, tile, (uint8_t[]){0, 1}), tile);
    CHECK_INT(f->ops.len, made);
    PsRef turned = ps_build_permute(&b, tile, (uint8_t[]){1, 0});
    CHECK_INT(ps_build_extract(&b, turned, (PsRef[]){at[2], at[0]}, 2), e[2]);
    PsRef flat = ps_build_reshape(&b, turned, 1, (int64_t[]){6});
    CHECK_INT(ps_build_extract(&b, flat, &at[3], 1), e[4]); /* 0 3 1 4 2 5 */
    PsRef row = ps_build_tile(&b, ps_type_tile(m, PS_F32, 2, (int64_t[]){1, 3}), e, 3);
    PsRef rows = ps_build_broadcast(&b, row, 2, (int64_t[]){2, 3});
    CHECK_INT(ps_build_extract(&b, rows, (PsRef[]){at[1], at[2]}, 2), e[2]);
    PsRef outside = ps_build_extract(&b, tile, (PsRef[]){at[2], at[0]}, 2);
    CHECK_INT(ps_op(f, outside)->code, PS_OP_EXTRACT);
    check_type(ps_op(f, ps_build_dot(&b, tile, turned))->type, "tile<f32,2x2>");
    check_type(ps_op(f, ps_build_reduce(&b, tile, 0, PS_COMBINE_ADD))->type, "tile<f32,3>");
    CHECK_INT(ps_op(f, ps_build_reduce_all(&b, tile, PS_COMBINE_MAX))->type, PS_F32);
    PsRef local = ps_build_var(&b, matrix);
    ps_build_store(&b, local, ps_build_binary(&b, PS_OP_ADD, tile, rows));
    PsRef place = ps_build_elem(&b, local, (PsRef[]){at[1], at[0]}, 2);
    ps_build_store(&b, place, ps_build_load(&b, place));
    ps_build_store(&b, local, ps_build_select(&b, ps_build_binary(&b, PS_OP_LT, tile, rows), tile, rows));
    PsDiag diag;
    ps_diag_init(&diag, &arena);
    CHECK_INT(ps_ir_verify(m, "test", &diag), PS_OK);
    end();
}

static void test_module(void) {
    begin();
    CHECK(!ps_func_new(m, "main", 4));
    CHECK(ps_func_new(m, "g", 1) != NULL);
    CHECK_INT(ps_module_find_func(m, "main"), 0);
    CHECK_INT(ps_module_find_func(m, "g"), 1);
    CHECK_INT(ps_module_find_func(m, "h"), -1);
    PsSpan span = {0, 1, 2, 3, 4};
    uint32_t id = ps_module_add_span(m, span);
    CHECK_INT(ps_module_add_span(m, span), id);
    CHECK(id != 0);
    CHECK_STR(m->texts.data[ps_module_add_text(m, "hello")], "hello");
    b.span = id;
    PsRef r = ps_build_int(&b, PS_I32, 1);
    CHECK_INT(ps_op(f, r)->span, id);
    CHECK_INT(ps_builder_before(f, r).span, id);
    end();
}

/* Fails each allocation in turn: nothing crashes, and the arena knows. */
static void test_without_memory(void) {
    bool done = false;
    for (long n = 0; n < 1000 && !done; n++) {
        ps_alloc_fail_after(n);
        ps_arena_init(&arena);
        m = ps_module_new(&arena);
        f = m ? ps_func_new(m, "main", 4) : NULL;
        if (f) {
            b = ps_builder_at_end(f, 1);
            for (int i = 0; i < 3000; i++) {
                PsRef r = ps_build_int(&b, PS_I32, i);
                r = ps_build_binary(&b, PS_OP_ADD, r, r);
                ps_build_store(&b, ps_build_var(&b, PS_I32), r);
            }
        }
        done = !ps_arena_failed(&arena);
        if (done) CHECK_INT(f->ops.len, 12001);
        ps_arena_free(&arena);
    }
    ps_alloc_fail_after(-1);
    CHECK(done);
}

int main(void) {
    RUN(test_types);
    RUN(test_constants);
    RUN(test_identities);
    RUN(test_ops_table);
    RUN(test_build);
    RUN(test_walk);
    RUN(test_edit);
    RUN(test_build_tiles);
    RUN(test_module);
    RUN(test_without_memory);
    return unit_result();
}
