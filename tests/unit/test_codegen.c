/* SPDX-License-Identifier: Apache-2.0
 *
 * Generated code against ps_eval_scalar, to the bit: every elementwise op on every type it takes, on all pairs of a list
 * of values at the edges (zeros, ones, limits, denormals, infinities, NaNs), in vectors and not. A NaN is equal to any
 * other. Larger programs are compared by tests/diff. Without libpestle_llvm.so nothing is tested.
 */
#include "unit.h"

#include "math/math.h"
#include "driver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define EDGES 36
#define N     (EDGES * EDGES)
#define OPS   160

/* One op to compare: its operand types and result. */
typedef struct Case {
    PsOpCode code;
    PsType args[3], to; /* to: as ps_eval_scalar wants it */
    PsType result;
    void *out;
} Case;

typedef struct Program {
    PsArena arena;
    PsDiag diag;
    PsModule *module;
    Case cases[OPS];
    uint32_t ncases;
    PsType inputs[PS_SCALAR_END * 3]; /* array parameters before the outputs: type t as operand k */
} Program;

/* -- values -- */

static const double float_edges[EDGES] = {
    0.0,    -0.0,   1,        -1,           0.5,           -0.5,         1.5,    -1.5,    2,      3,
    -3,     7,      100,      -7.25,        255,           256.5,        65504,  65520,   1e-7,   6e-8,
    -1e-40, 1e30,   -1e30,    2147483648.0, -2147483649.0, 4294967295.5, 9.3e18, -9.3e18, 1.9e19, 0.4999999702,
    1e-310, 3.4e38, INFINITY, -INFINITY,    NAN,           2.5,
};
static const uint64_t int_edges[EDGES] = {
    0,
    1,
    ~(uint64_t)0,
    ~(uint64_t)1,
    2,
    3,
    5,
    7,
    10,
    0x7e,
    0x7f,
    0x80,
    0x81,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xffffffff,
    1ull << 32,
    1ull << 53,
    1ull << 62,
    INT64_MAX,
    1ull << 63,
    (1ull << 53) + 1,
    8,
    16,
    31,
    32,
    33,
    63,
    64,
    -7ull,
    -100ull,
};

static uint64_t mask_of(PsType type) { return type == PS_U1 ? 1 : UINT64_MAX >> (64 - ps_scalar_bits(type)); }

static uint64_t edge(PsType type, int i) {
    uint64_t bits;
    if (ps_scalar_class(type) != PS_CLASS_FLOAT) return int_edges[i] & mask_of(type);
    memcpy(&bits, &float_edges[i], sizeof bits);
    return ps_eval_scalar(PS_OP_CAST, PS_F64, type, &bits);
}

/* Operand k at iteration i. */
static uint64_t operand(PsType type, int k, int i) {
    int which = k == 0 ? i / EDGES : k == 1 ? i % EDGES : (i / EDGES * 7 + i % EDGES * 5 + 3) % EDGES;
    return edge(type, which);
}

static bool is_nan(PsType type, uint64_t bits) {
    double value;
    if (ps_scalar_class(type) != PS_CLASS_FLOAT) return false;
    bits = ps_eval_scalar(PS_OP_CAST, type, PS_F64, &bits);
    memcpy(&value, &bits, sizeof value);
    return value != value;
}

/* -- the cases of a type -- */

static void add_case(Program *p, PsOpCode code, PsType type, PsType second, PsType to, PsType result) {
    Case c = {.code = code, .args = {type, second, type}, .to = to, .result = result};
    if (code == PS_OP_SELECT) c.args[0] = PS_U1, c.args[1] = c.args[2] = type;
    if (CHECK(p->ncases < OPS)) p->cases[p->ncases++] = c;
}

static bool is_math(PsOpCode code) {
    switch (code) {
#define MATH(OP, op) case PS_OP_##OP:
        PS_MATH_UNARY(MATH)
        PS_MATH_BINARY(MATH)
#undef MATH
    case PS_OP_IPOW: return true;
    default: return false;
    }
}

static void add_cases(Program *p, PsType type, bool math) {
    bool is_float = ps_scalar_class(type) == PS_CLASS_FLOAT;
    for (PsOpCode code = 0; code < PS_OP_COUNT; code++) {
        if (is_math(code) != math) continue;
        switch (ps_op_info[code].rule) {
        case PS_RULE_FLOAT:
            if (!is_float) break;
            add_case(p, code, type, type, type, type);
            break;
        case PS_RULE_INT:
            if (is_float) break;
            add_case(p, code, type, type, type, type);
            break;
        case PS_RULE_SHIFT:
            if (is_float) break;
            add_case(p, code, type, type, type, type);
            add_case(p, code, type, PS_I32, PS_I32, type);
            break;
        case PS_RULE_SAME:
        case PS_RULE_SELECT: add_case(p, code, type, type, type, type); break;
        case PS_RULE_COMPARE: add_case(p, code, type, type, type, PS_U1); break;
        case PS_RULE_IPOW:
            add_case(p, code, type, PS_I32, PS_I32, type);
            add_case(p, code, type, PS_U8, PS_U8, type);
            break;
        case PS_RULE_CAST:
            for (PsType to = PS_U1; to < PS_SCALAR_END; to++)
                if (to != type) add_case(p, code, type, PS_KIND_NONE, to, to);
            break;
        default: break;
        }
    }
}

/* -- the program: out_k[i] = op_k(a[i], b[i], c[i]) in a parallel loop -- */

static PsRef place_of(PsBuilder *b, PsRef array, PsType elem, PsRef index) {
    PsRef args[2] = {array, index};
    return ps_build_op(b, PS_OP_PLACE, ps_type_ptr(b->func->module, elem), args, 2, 0);
}

static PsRef array_arg(PsBuilder *b, PsType elem) {
    PsFunc *f = b->func;
    PsType type = ps_type_array(f->module, elem, 1, true);
    if (!ps_vec_push(f->module->arena, &f->params, type)) return 0;
    return ps_build_op(b, PS_OP_ARG, type, NULL, 0, f->params.len - 1);
}

static bool make_program(Program *p) {
    PsRef inputs[PS_SCALAR_END][3] = {{0}}, outputs[OPS], loaded[PS_SCALAR_END][3] = {{0}};
    uint32_t ninputs = 0;
    PsFunc *f = p->module ? ps_func_new(p->module, "main", 4) : NULL;
    if (!f) return false;
    PsBuilder b = ps_builder_at_end(f, 1);
    for (uint32_t c = 0; c < p->ncases; c++)
        for (int k = 0; k < ps_op_info[p->cases[c].code].nargs; k++) {
            PsType type = p->cases[c].args[k];
            if (inputs[type][k]) continue;
            inputs[type][k] = array_arg(&b, type);
            p->inputs[ninputs++] = type | (PsType)k << 8;
        }
    for (uint32_t c = 0; c < p->ncases; c++) outputs[c] = array_arg(&b, p->cases[c].result);
    PsRef bounds[2] = {ps_build_int(&b, PS_I32, 0), ps_build_int(&b, PS_I32, N)};
    PsRef loop = ps_build_op(&b, PS_OP_PARFOR, PS_KIND_NONE, bounds, 2, 0);
    PsRegion body = ps_op(f, loop)->region0;
    PsRef index = ps_region_add_param(f, body, PS_I32);
    b = ps_builder_at_end(f, body);
    for (uint32_t c = 0; c < p->ncases; c++) {
        Case *which = &p->cases[c];
        PsRef args[3] = {0};
        for (int k = 0; k < ps_op_info[which->code].nargs; k++) {
            PsRef *have = &loaded[which->args[k]][k];
            if (!*have)
                *have = ps_build_load(&b, place_of(&b, inputs[which->args[k]][k], which->args[k], index));
            args[k] = *have;
        }
        PsRef value =
            ps_build_op(&b, which->code, which->result, args, (uint32_t)ps_op_info[which->code].nargs, 0);
        ps_build_store(&b, place_of(&b, outputs[c], which->result, index), value);
    }
    return !ps_arena_failed(&p->arena);
}

/* -- running and comparing -- */

static void *input_array(PsArena *arena, PsType type, int k) {
    int size = ps_scalar_size(type);
    char *data = ps_arena_alloc(arena, (size_t)N * (size_t)size + 64);
    for (int i = 0; data && i < N; i++) {
        uint64_t bits = operand(type, k, i);
        memcpy(data + (size_t)i * (size_t)size, &bits, (size_t)size);
    }
    return data;
}

static bool run(Program *p, const PsExecutable *exe) {
    PsLaunch launch;
    PsFrame *frame = ps_arena_alloc(&p->arena, sizeof *frame + exe->frame_words * sizeof frame->words[0]);
    uint64_t *word = frame ? frame->words : NULL;
    uint32_t ninputs = p->module->funcs.data[0]->params.len - p->ncases;
    if (!frame) return false;
    for (uint32_t i = 0; i < ninputs + p->ncases; i++) {
        PsType type = i < ninputs ? (p->inputs[i] & 255) : p->cases[i - ninputs].result;
        void *data = i < ninputs ? input_array(&p->arena, type, (int)(p->inputs[i] >> 8))
                                 : ps_arena_alloc(&p->arena, (size_t)N * (size_t)ps_scalar_size(type) + 64);
        if (i >= ninputs) p->cases[i - ninputs].out = data;
        *word++ = (uintptr_t)data;
        *word++ = N;
        *word++ = (uint64_t)ps_scalar_size(type);
    }
    if (ps_arena_failed(&p->arena)) return false;
    ps_launch_begin(&launch, frame);
    int32_t stopped = ps_executable_run(exe, frame);
    ps_launch_end(&launch);
    return stopped == 0;
}

static void compare(const Case *c, int opt_level) {
    int size = ps_scalar_size(c->result);
    for (int i = 0; i < N; i++) {
        uint64_t args[3], got = 0;
        for (int k = 0; k < 3; k++) args[k] = c->args[k] ? operand(c->args[k], k, i) : 0;
        memcpy(&got, (const char *)c->out + (size_t)i * (size_t)size, (size_t)size);
        PsType type = c->code == PS_OP_SELECT ? c->args[1] : c->args[0];
        uint64_t want = ps_eval_scalar(c->code, type, c->to, args);
        if (got == want || (is_nan(c->result, got) && is_nan(c->result, want))) continue;
        fprintf(stderr, "%s on %s to %s, -opt=%d, operands %#" PRIx64 " %#" PRIx64 " %#" PRIx64 ":\n  ",
                ps_op_info[c->code].name, ps_scalar_name(type), ps_scalar_name(c->result), opt_level, args[0],
                args[1], args[2]);
        CHECK_INT(got, want);
        return;
    }
}

static void check_type(PsType type, bool math, int opt_level) {
    Program p = {0};
    PsExecutable *exe = NULL;
    PsDriverTimes times;
    PsDriverOptions options = {.opt_level = opt_level, .no_cache = true, .verify = true};
    ps_arena_init(&p.arena);
    ps_diag_init(&p.diag, &p.arena);
    p.module = ps_module_new(&p.arena);
    add_cases(&p, type, math);
    if (p.ncases && CHECK(make_program(&p))) {
        PsStatus status = ps_driver_compile(p.module, &options, &exe, &times, &p.diag);
        if (!CHECK_INT(status, PS_OK) && p.diag.set) fprintf(stderr, "  %s\n", p.diag.message.text);
        if (status == PS_OK && CHECK(run(&p, exe)))
            for (uint32_t c = 0; c < p.ncases; c++) compare(&p.cases[c], opt_level);
        ps_executable_release(exe);
    }
    ps_arena_free(&p.arena);
}

static void test_vectors(void) {
    for (PsType type = PS_U1; type < PS_SCALAR_END; type++) check_type(type, false, 2);
}

static void test_math(void) {
    for (PsType type = PS_U1; type < PS_SCALAR_END; type++) check_type(type, true, 2);
}

static void test_unoptimised(void) {
    for (PsType type = PS_U1; type < PS_SCALAR_END; type++)
        for (int math = 0; math < 2; math++) check_type(type, math, 0);
}

int main(void) {
    const char *library = getenv("PESTLE_LLVM_LIBRARY");
    if (!library || access(library, R_OK) != 0) {
        fprintf(stderr, "PESTLE_LLVM_LIBRARY names no library: code generation is not tested\n");
        return 77; /* skipped */
    }
    RUN(test_vectors);
    RUN(test_math);
    RUN(test_unoptimised);
    return unit_result();
}
