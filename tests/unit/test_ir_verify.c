/* SPDX-License-Identifier: Apache-2.0
 *
 * ir: the verifier: what it refuses, with which words. Each case is the body of main, with a few values at hand.
 */
#include "../unit/unit.h"
#include "ir/ir.h"

static const char head[] = "func @main(array<f32,2>, i32, f32) -> f32 {\n"
                           "%1:array<f32,2> = arg[0] %2:i32 = arg[1] %3:f32 = arg[2] %4:u1 = const 1\n"
                           "%5:ptr<f32> = var %6:i64 = const 7 %7:tile<f32,2x3> = splat %3\n"
                           "%8:tile<i32,2x3> = splat %2 %9:ptr<i32> = var\n";
static const char tail[] = "\n}\nfunc @f(f32, array<f32,2>) -> i32 { %1:i32 = const 1 return %1 }\n"
                           "func @g() { }\n";

static PsStatus verify(const char *text, PsBuf *message) {
    PsArena arena;
    PsDiag diag;
    PsModule *m;
    ps_arena_init(&arena);
    ps_diag_init(&diag, &arena);
    PsStatus status = ps_ir_parse(&arena, text, strlen(text), &diag, &m);
    if (status == PS_OK) status = ps_ir_verify(m, "test", &diag);
    ps_buf_text(message, diag.set ? diag.message.text : "");
    ps_arena_free(&arena);
    return status;
}

/* `want`: what is wrong, up to the op; NULL: nothing. */
static void check(const char *body, const char *want) {
    static const char start[] = "verifier after test: @main: ";
    PsBuf text = {0}, message = {0};
    ps_buf_printf(&text, "%s%s%s", head, body, tail);
    PsStatus status = verify(text.data, &message);
    const char *got = message.data;
    if (!strncmp(got, start, strlen(start))) got += strlen(start);
    size_t len = want ? strlen(want) : 0;
    CHECK_INT(status, want ? PS_FAIL : PS_OK);
    if (!want || strncmp(got, want, len) || got[len] != ':') CHECK_STR(got, want ? want : "");
    ps_buf_free(&text);
    ps_buf_free(&message);
}

static void test_rules(void) {
    check("%20:f32 = add %3, %3 %21:tile<f32,2x3> = mul %7, %7", NULL);
    check("%20:f32 = add %3, %2", "operands and result must have one type");
    check("%20:i32 = add %3, %3", "operands and result must have one type");
    check("%20:f32 = add %3", "it has the wrong number of operands");
    check("%20:ptr<f32> = add %5, %5", "the result must be a scalar or a tile");
    check("add %3, %3", "the result must be a scalar or a tile");
    check("%20:f32 = and %3, %3", "the result must be an integer");
    check("%20:u1 = and %4, %4", NULL);
    check("%20:i32 = sqrt %2", "the result must be a float");
    check("%20:u1 = lt %3, %3 %21:tile<u1,2x3> = eq %7, %7", NULL);
    check("%20:u1 = lt %3, %2", "operands must have one type");
    check("%20:i32 = lt %3, %3", "the result must be u1 in the operands' shape");
    check("%20:u1 = lt %7, %7", "the result must be u1 in the operands' shape");
    check("%20:u1 = lt %5, %5", "operands must be scalars or tiles");
    check("%20:i32 = shl %2, %6", NULL);
    check("%20:i64 = shl %2, %6", "the result must have the first operand's type");
    check("%20:f32 = shl %3, %2", "the result must be an integer");
    check("%20:i32 = shl %2, %3", "the second operand must be an integer in the first one's shape");
    check("%20:f32 = ipow %3, %2 %21:tile<f32,2x3> = ipow %7, %8", NULL);
    check("%20:f32 = ipow %3, %3", "the second operand must be an integer in the first one's shape");
    check("%20:f32 = select %4, %3, %3 %21:tile<f32,2x3> = select %4, %7, %7", NULL);
    check("%20:tile<u1,2x3> = eq %7, %7 %21:tile<f32,2x3> = select %20, %7, %7", NULL);
    check("%20:f32 = select %2, %3, %3", "the condition must be u1");
    check("%20:f32 = select %4, %3, %2", "both choices and the result must have one type");
    check("%20:u8 = cast %3 %21:tile<f64,2x3> = cast %8", NULL);
    check("%20:tile<f32,2> = cast %7", "operand and result must be scalars, or tiles of one shape");
    check("%20:i32 = bitcast %3", NULL);
    check("%20:i64 = bitcast %3", "operand and result must have one width");
    check("%20:u8 = bitcast %4", "u1 has no other type of its width");
}

static void test_tiles(void) {
    check("%20:tile<f32,3x2> = permute[1] %7", NULL);
    check("%20:tile<f32,2x3> = permute[16] %7", NULL);
    check("%20:tile<f32,2x3> = permute[1] %7", "the result must have the axes in that order");
    check("%20:tile<f32,3x2> = permute[17] %7", "it takes each of the tile's axes once");
    check("%20:tile<f32,3x2> = permute[2] %7", "it takes each of the tile's axes once");
    check("%20:tile<f32,3x2> = permute[257] %7", "it takes each of the tile's axes once");
    check("%20:tile<f32,3x2> = permute[1] %7 %21:tile<f32,2x2> = dot %7, %20 %22:tile<f32,3x3> = dot %20, %7",
          NULL);
    check("%20:tile<f32,2x2> = dot %7, %7", "the first's rows must be as long as the second's columns");
    check("%20:tile<f32,3x2> = permute[1] %7 %21:tile<f32,2x3> = dot %7, %20",
          "the result must be rows x columns");
    check("%20:tile<f32,3> = splat %3 %21:tile<f32,2> = dot %7, %20",
          "operands and result must be tiles of two axes");
    check("%20:tile<i32,3x2> = splat %2 %21:tile<f32,2x2> = dot %7, %20",
          "all tiles must have one element type");
    check("%20:tile<f32,2> = tile %3, %3 %21:f32 = extract %20, %6", NULL);
    check("%20:tile<f32,2> = tile %3", "a tile takes as many operands as it has elements");
    check("%20:tile<f32,1> = tile %2", "operands must have the tile's element type");
    check("%20:f32 = splat %3", "the result must be a tile");
    check("%20:tile<f32,2> = splat %2", "the operand must have the tile's element type");
    check("%20:f32 = extract %7, %2", "it takes one index per axis");
    check("%20:f32 = extract %7, %2, %3", "indices must be i32 or i64");
    check("%20:i32 = extract %7, %2, %2", "the result must be the tile's element");
    check("%20:f32 = extract", "the first operand must be a tile");
    check("%20:tile<f32,1x3> = splat %3 %21:tile<f32,5x3> = broadcast %20", NULL);
    check("%20:tile<f32,2x6> = broadcast %7", "only axes of length 1 can be repeated");
    check("%20:tile<f32,2x3x1> = broadcast %7", "both tiles must have as many axes");
    check("%20:tile<f32,6> = reshape %7", NULL);
    check("%20:tile<f32,5> = reshape %7", "both tiles must have as many elements");
    check("%20:tile<i32,6> = reshape %7", "both tiles must have one element type");
    check("%20:tile<f32,3> = reduce[0] %7 %21:tile<f32,2> = reduce[259] %7 %22:f32 = reduce[0] %20", NULL);
    check("%20:tile<f32,2> = reduce[0] %7", "the result must be the tile without that axis");
    check("%20:tile<f32,2> = reduce[512] %7", "the tile has no such axis");
    check("%20:tile<f32,3> = reduce[4] %7", "and, or and xor combine integers");
    check("%20:tile<f32,3> = reduce[7] %7", "there is no such combine");
}

#define FIVE "%2, %2, %2, %2, %2"

static void test_memory(void) {
    check("%20:ptr<f32> = place %1, %2, %6 %21:f32 = load %20 store %20, %3", NULL);
    check("%20:ptr<f32> = place %1, %2", "it takes one index per axis");
    check("%20:ptr<i32> = place %1, %2, %2", "the result must be a ptr to the array's element");
    check("%20:ptr<f32> = place %5, %2", "the first operand must be an array");
    check("%20:ptr<f32> = base %1 %21:i64 = stride[1] %1 %22:ptr<f32> = ptradd %20, %21", NULL);
    check("%20:i32 = stride[1] %1", "the result must be i64");
    check("%20:i32 = dim[2] %1", "the array has no such axis");
    check("%20:i64 = dim[1] %1", "the result must be i32");
    check("%20:i32 = dim[0] %2", "the operand must be an array");
    check("%20:ptr<f32> = ptradd %5, %2", "the second operand must be i64");
    check("%20:i32 = load %5", "the result must be what the ptr points to");
    check("%20:f32 = load %3", "the operand must be a ptr");
    check("store %5, %2", "the value must be of the type the ptr points to");
    check("%20:f32 = store %5, %3", "it gives no result");
    check("%20:f32 = var", "the result must be a ptr");
    check("%20:ptr<f32> = var[1] for[1] %2, %2 {^ %21:i32 }", NULL);
    check("%20:ptr<f32> = var[2]", "its immediate is 0 or 1");
    check("for[2] %2, %2 {^ %20:i32 }", "its immediate is 0 or 1");
    check("%20:f32 = atomic_add %5, %3 %21:f32 = atomic_cas %5, %3, %3 %22:i32 = atomic_or %9, %2", NULL);
    check("atomic_add %5, %3", "the result must be the old value");
    check("%20:f32 = atomic_or %5, %3", "the value must be an integer");
    check("%20:ptr<tile<f32,2x3>> = var %21:tile<f32,2x3> = load %20 store %20, %7", NULL);
    check("%20:ptr<tile<f32,2x3>> = var %21:tile<f32,2x3> = atomic_add %20, %7", NULL);
    check("%20:ptr<tile<f32,2x3>> = var %21:f32 = atomic_add %20, %3",
          "the value must be of the type the ptr points to");
    check("%20:ptr<tile<f32,2x3>> = var %21:ptr<f32> = elem %20, %2, %6", NULL);
    check("%20:ptr<tile<f32,2x3>> = var %21:ptr<f32> = elem %20, %2", "it takes one index per axis");
    check("%20:ptr<tile<f32,2x3>> = var %21:ptr<i32> = elem %20, %2, %2",
          "the result must be a ptr to the tile's element");
    check("%20:ptr<f32> = elem %5, %2", "the first operand must be a ptr to a tile");
    check("%20:ptr<tile<f32,2x3>> = place %1 %21:ptr<f32> = place[2] %1, %2, %2", NULL);
    check("%20:ptr<tile<f32,3>> = place %1, %2 %21:ptr<tile<f32,3>> = base %1", NULL);
    check("%20:ptr<tile<f32,3>> = place %1", "it takes one index per axis");
    check("%20:ptr<tile<i32,3>> = place %1, %2", "the result must be a ptr to the array's element");
    check("%20:ptr<tile<f32,1x1x1>> = place %1", "the array has fewer axes than the tile");
    check("%20:ptr<f32> = place[3] %1, %2, %2", "it has fewer indices than it knows");
    check("%20:i32 = arg[0]", "the parameter has another type");
    check("%20:i32 = arg[3]", "the function has no such parameter");
}

static void test_control(void) {
    check("for %2, %2 {^ %20:i32 if %4 { break } else { continue } }", NULL);
    check("for %6, %6 {^ %20:i64 }", NULL);
    check("for %2, %6 {^ %20:i32 }", "both bounds must be i32, or both i64");
    check("for %2, %2 {^ %20:i64 }", "the region's parameters must be of the bounds' type");
    check("for %2, %2 { }", "the region has the wrong number of parameters");
    check("if %2 { }", "the condition must be u1");
    check("while { yield %4 } do { for %2, %2 {^ %20:i32 break } continue }", NULL);
    check("while { } do { }", "a while's first region must end with yield");
    check("while { yield %4 yield %4 } do { }", "a yield ends a while's first region only");
    check("while { if %4 { yield %4 } } do { }", "a yield ends a while's first region only");
    check("while { yield %4 } do { yield %4 }", "a yield ends a while's first region only");
    check("while { yield %2 } do { }", "the condition must be u1");
    check("for %2, %2 {^ %20:i32 while { if %4 { break } yield %4 } do { } }",
          "a break needs a for or while around it");
    check("while { for %2, %2 {^ %20:i32 break } yield %4 } do { }", NULL);
    check("break", "a break needs a for or while around it");
    check("if %4 { continue }", "a continue needs a loop around it");
    check("for %2, %2 {^ %20:i32 break break }", "something stands behind it in its region");
    check("if %4 { return %3 } return %3", NULL);
    check("return", "it takes as many operands as the function has results");
    check("return %2", "operands must have the types of the function's results");
    check("return %3 return %3", "something stands behind it in its region");
    check("%20:i32 = call[@f] %3, %1 call[@g]", NULL);
    check("call[@main] %1, %2, %3", "there is no such function, or it is main");
    check("call[@f] %3, %1", "the result must be the function's");
    check("%20:i32 = call[@g]", "the result must be the function's");
    check("%20:i32 = call[@f] %3", "it takes as many operands as the function has parameters");
    check("%20:i32 = call[@f] %2, %1", "operands must have the types of the parameters");
}

static void test_visible(void) {
    check("if %4 { %20:f32 = neg %3 } %21:f32 = neg %20", "an operand is not visible here");
    check("if %4 { %20:f32 = neg %3 } else { %21:f32 = neg %20 }", "an operand is not visible here");
    check("for %2, %2 {^ %20:i32 } %21:i32 = neg %20", "an operand is not visible here");
    check("while { %20:u1 = not %4 yield %20 } do { %21:u1 = not %20 }", "an operand is not visible here");
    check("for %2, %2 {^ %20:i32 if %4 { %21:i32 = neg %20 } }", NULL);
}

static void test_parfor(void) {
    check("parfor[0] %2, %2 {^ %20:i32 if %4 { continue } for %2, %2 {^ %21:i32 break } }", NULL);
    check("parfor[0] %2, %2, %2, %2 {^ %20:i32, %21:i32 }", NULL);
    check("parfor[0] %2, %2, %2 {^ %20:i32 }", "it takes low and high for each of 1 to 12 axes");
    check("parfor[0] { }", "it takes low and high for each of 1 to 12 axes");
    check("parfor[0] %2, %2 {^ %20:i32, %21:i32 }", "the region has the wrong number of parameters");
    check("parfor[0] %6, %6 {^ %20:i64 }", "the bounds must be i32");
    check("parfor[9223372036854775808] %2, %2 {^ %20:i32 }", "the grain is too large");
    check("if %4 { parfor[0] %2, %2 {^ %20:i32 } }", "a parfor stands in main's body only");
    check("parfor[0] %2, %2 {^ %20:i32 parfor[0] %2, %2 {^ %21:i32 } }", "a parfor stands in main's body only");
    check("parfor[0] %2, %2 {^ %20:i32 break }", "a break needs a for or while around it");
    check("parfor[0] %2, %2 {^ %20:i32 if %4 { return %3 } }", "a return cannot stand in a parfor");
    check("parfor[0] %2, %2 {^ %20:i32 partial[0] %5, %3 partial[5] %9, %20 partial[0] %5, %3 }", NULL);
    check("parfor[0] %2, %2 {^ %20:i32 partial[0] %5, %3 } parfor[0] %2, %2 {^ %21:i32 partial[2] %5, %3 }",
          NULL);
    check("parfor[0] %2, %2 {^ %20:i32 partial[0] %5, %3 partial[1] %5, %3 }",
          "a var has one combine in a parfor");
    check("parfor[0] %2, %2 {^ %20:i32 partial[7] %5, %3 }", "there is no such combine");
    check("parfor[0] %2, %2 {^ %20:i32 partial[4] %5, %3 }", "and, or and xor combine integers");
    check("parfor[0] %2, %2 {^ %20:i32 %21:ptr<f32> = var partial[0] %21, %3 }",
          "its var must stand outside the parfor");
    check("%20:ptr<f32> = place %1, %2, %2 parfor[0] %2, %2 {^ %21:i32 partial[0] %20, %3 }",
          "the first operand must be a var");
    check("partial[0] %5, %3", "a partial stands in a parfor only");
}

static void test_effects(void) {
    check("print[\"x = \\x01m, \\x01e\"] %3, %2 print[\"\"]", NULL);
    check("print[\"x = \\x01e\"] %3", "the text must name each operand's type, in order");
    check("print[\"x\"] %3", "the text must name each operand's type, in order");
    check("print[\"\\x01m\\x01m\"] %3", "the text must name each operand's type, in order");
    check("print[\"\\x01\"] %3", "the text must name each operand's type, in order");
    check("check[0] %4, %2, %6 check[2] %4", NULL);
    check("check[0] %2", "the first operand must be u1");
    check("check[99] %4", "there is no such fault");
    check("warn[6] %4", NULL);
    check("warn[6] %2", "the operand must be u1");
    check("warn[99] %4", "there is no such fault");
    check("%29:i32 = add[2] %2, %2", "its immediate is 0 or 1");
    check("check[0] %4, %3", "the values must be integers");
    check("check[0] %4, " FIVE ", " FIVE ", " FIVE ", " FIVE, NULL);
    check("check[0] %4, " FIVE ", " FIVE ", " FIVE ", " FIVE ", %2", "it takes at most 20 values");
}

static void check_whole(const char *text, const char *want) {
    PsBuf message = {0};
    CHECK_INT(verify(text, &message), PS_FAIL);
    CHECK_STR(message.data, want);
    ps_buf_free(&message);
}

static void test_functions(void) {
    check_whole("func @f() { }", "verifier after test: @f: the first function, and no other, is main");
    check_whole("func @main(ptr<f32>) { }",
                "verifier after test: @main: main's parameters are scalars and arrays");
    check_whole("func @main() { } func @f(tile<f32,3>) { }",
                "verifier after test: @f: parameters are scalars, arrays and places");
    check_whole("func @main() -> tile<f32,2> { }", "verifier after test: @main: results are scalars");
    check_whole("func @main() { } func @f() -> i32, i32 { }",
                "verifier after test: @f: the function has too many results");
    check_whole("func @main() { } func @f(i32) { %1:i32 = arg[0] parfor[0] %1, %1 {^ %2:i32 } }",
                "verifier after test: @f: a parfor stands in main's body only: parfor[0] %1, %1");
    check_whole("func @main(f32, i32) {\n  %8:f32 = arg[0]\n  %9:i32 = arg[1]\n  %10:f32 = add %8, %9\n}",
                "verifier after test: @main: operands and result must have one type: %3:f32 = add %1, %2");
}

/* -- modules that only a broken pass can make -- */

static PsArena arena;
static PsModule *m;
static PsFunc *f;
static PsRef loop, inside, last;

static void build(void) {
    ps_arena_init(&arena);
    m = ps_module_new(&arena);
    f = ps_func_new(m, "main", 4);
    PsBuilder b = ps_builder_at_end(f, 1);
    PsRef n = ps_build_int(&b, PS_I32, 3);
    loop = ps_build_op(&b, PS_OP_FOR, PS_KIND_NONE, (PsRef[]){n, n}, 2, 0);
    ps_region_add_param(f, ps_op(f, loop)->region0, PS_I32);
    PsBuilder inner = ps_builder_at_end(f, ps_op(f, loop)->region0);
    inside = ps_build_binary(&inner, PS_OP_ADD, n, n);
    last = ps_build_unary(&b, PS_OP_NEG, n);
}

static void check_broken(const char *want) {
    PsDiag diag;
    PsBuf text = {0};
    ps_diag_init(&diag, &arena);
    ps_buf_text(&text, "verifier after test: @main: ");
    ps_buf_text(&text, want);
    CHECK_INT(ps_ir_verify(m, "test", &diag), PS_FAIL);
    CHECK_STR(diag.message.text, text.data);
    ps_buf_free(&text);
    ps_arena_free(&arena);
}

static void test_broken(void) {
    build();
    PsDiag diag;
    ps_diag_init(&diag, &arena);
    CHECK_INT(ps_ir_verify(m, "test", &diag), PS_OK);
    ps_op(f, last)->next = loop; /* a circle */
    check_broken("a region's list is broken");
    build();
    ps_op(f, last)->next = 1000000;
    check_broken("a region's list leaves the function");
    build();
    ps_region(f, 1)->last = loop;
    check_broken("a region's list is broken at its end");
    build();
    ps_region(f, 2)->owner = last;
    check_broken("a region belongs to another op");
    build();
    ps_op_set_arg(f, inside, 0, 77777);
    check_broken("an operand is no op");
    build();
    ps_op_set_arg(f, inside, 0, 0);
    check_broken("an operand is missing: %3:i32 = add %?, %1");
    build();
    ps_op_set_arg(f, inside, 0, loop);
    check_broken("an operand is not visible here: %3:i32 = add %?, %1");
    build();
    ps_op(f, inside)->type = 12345;
    check_broken("an op's type is not in the table");
    build();
    ps_op(f, inside)->code = 12345;
    check_broken("an op has no known code");
    build();
    ps_op(f, inside)->nargs = UINT32_MAX;
    check_broken("an op's operands are not in the list");
    build();
    ps_op(f, loop)->region0 = UINT32_MAX;
    check_broken("an op's regions are not in the list");
    build();
    ps_op(f, inside)->span = 5;
    check_broken("its span is not in the table: %3:i32 = add %1, %1");
    build();
    ps_region(f, 2)->nparams = 3;
    check_broken("a region's parameter is not one");
    build();
    ps_op(f, inside)->code = PS_OP_NONE;
    ps_op(f, inside)->nargs = 0;
    check_broken("it cannot stand in a region: %3:i32 = none");
    build();
    PsRef moved = inside;
    ps_op_remove(f, moved);
    ps_op_set_arg(f, last, 0, moved);
    check_broken("an operand is not visible here: %3:i32 = neg %?");
}

int main(void) {
    RUN(test_rules);
    RUN(test_tiles);
    RUN(test_memory);
    RUN(test_control);
    RUN(test_visible);
    RUN(test_parfor);
    RUN(test_effects);
    RUN(test_functions);
    RUN(test_broken);
    return unit_result();
}
