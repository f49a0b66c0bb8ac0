/* SPDX-License-Identifier: Apache-2.0
 *
 * The math functions have one text and two readings: as C, which ps_eval_scalar calls, and as IR. Both must give the same
 * bits for all that is special, and for whatever bits come along. That LLVM makes the same of the IR is for tests of
 * compiled code (tests/py/test_math.py).
 */
#include "unit.h"

#include "abi/half.h"
#include "ir/ir.h"
#include "math/math.h"

#include <math.h>
#include <string.h>

static const PsOpCode codes[] = {
#define CODE(OP, op) PS_OP_##OP,
    PS_MATH_UNARY(CODE) PS_MATH_BINARY(CODE)
#undef CODE
};

static const float edges[] = {0.0f,     -0.0f,    1.0f,    -1.0f,     0.5f,      2.0f,      -2.5f,
                              3.0f,     1e-45f,   -1e-45f, 0x1p-126f, 0x1p-130f, 1e30f,     0x1p17f,
                              131071.f, 88.8f,    -104.2f, -87.5f,    INFINITY,  -INFINITY, NAN,
                              0.99999f, 1.00001f, 1e10f,   -3.5e37f,  0.3f,      -0.7f,     710.3f,
                              -745.5f,  1025.f,   2e9f,    0x1p127f,  25.f,      -0x1p-30f, 1.5f};

static uint64_t state;
static uint64_t next(void) { /* xorshift64 */
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

/* Half of them of moderate size. */
static uint64_t some_bits(PsType type, uint32_t i) {
    if (i < PS_COUNT(edges)) return type == PS_F64 ? ps_f64_bits((double)edges[i]) : ps_f32_bits(edges[i]);
    uint64_t bits = next();
    if (i % 2) return type == PS_F64 ? bits : bits >> 32;
    double value = ldexp((double)(int64_t)bits, (int)(bits % 24) - 78);
    return type == PS_F64 ? ps_f64_bits(value) : ps_f32_bits((float)value);
}

static bool is_nan(PsType type, uint64_t bits) {
    if (type == PS_F64) return isnan(ps_f64_from_bits(bits));
    return isnan(ps_f32_from_bits((uint32_t)bits));
}

/* A module whose main(a, b) returns the function written out. NULL: it has no text. */
static PsModule *written_out(PsArena *arena, PsOpCode code, PsType type) {
    PsDiag diag;
    ps_arena_init(arena);
    ps_diag_init(&diag, arena);
    PsModule *m = ps_module_new(arena);
    PsFunc *f = ps_func_new(m, "main", 4);
    bool made = ps_vec_push(arena, &f->params, type) && ps_vec_push(arena, &f->params, type) &&
                ps_vec_push(arena, &f->results, type);
    if (!CHECK(made)) return NULL;
    PsBuilder b = ps_builder_at_end(f, 1);
    PsRef a = ps_build_op(&b, PS_OP_ARG, type, NULL, 0, 0), c = ps_build_op(&b, PS_OP_ARG, type, NULL, 0, 1);
    PsRef result = ps_build_math(&b, code, a, c);
    if (!result) return NULL;
    ps_build_op(&b, PS_OP_RETURN, PS_KIND_NONE, &result, 1, 0);
    if (CHECK_INT(ps_ir_verify(m, "math", &diag), PS_OK)) return m;
    return NULL;
}

static void compare(PsOpCode code, PsType type) {
    PsArena arena;
    PsModule *m = written_out(&arena, code, type);
    uint32_t n = PS_COUNT(edges), wrong = 0;
    bool two = ps_op_info[code].nargs > 1;
    for (uint32_t i = 0; m && i < n * n; i++) {
        uint64_t args[2] = {some_bits(type, two ? i / n : i), some_bits(type, i % n)};
        if (two && i % 3 == 2) args[0] = some_bits(type, n), args[1] = some_bits(type, n + i % 2);
        PsEvalArg values[2] = {{.bits = args[0]}, {.bits = args[1]}};
        PsEvalResult out;
        CHECK_INT(ps_ir_eval(m, values, 2, 10000, &out), PS_OK);
        uint64_t want = ps_eval_scalar(code, type, type, args);
        if (out.results[0] == want || (is_nan(type, want) && is_nan(type, out.results[0]))) continue;
        if (!wrong++)
            fprintf(stderr, "%s.%s of %llx, %llx: IR %llx, C %llx\n", ps_op_info[code].name,
                    ps_scalar_name(type), (unsigned long long)args[0], (unsigned long long)args[1],
                    (unsigned long long)out.results[0], (unsigned long long)want);
    }
    CHECK_INT(wrong, 0);
    ps_arena_free(&arena);
}

static void test_readings_agree(void) {
    state = 88172645463325252u;
    for (size_t i = 0; i < PS_COUNT(codes); i++) {
        compare(codes[i], PS_F32);
        compare(codes[i], PS_F64);
    }
}

/* fmod is libm's, and so is the way out for large arguments; all others are written. */
static void test_all_are_written(void) {
    for (size_t i = 0; i < PS_COUNT(codes); i++) {
        PsArena arena;
        bool written = written_out(&arena, codes[i], PS_F32) != NULL;
        bool called = codes[i] == PS_OP_FMOD || (codes[i] >= PS_OP_SIN_FAR && codes[i] <= PS_OP_TAN_FAR);
        CHECK_INT(written, !called);
        ps_arena_free(&arena);
    }
}

int main(void) {
    RUN(test_readings_agree);
    RUN(test_all_are_written);
    return unit_result();
}
