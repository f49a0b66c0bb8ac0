/* SPDX-License-Identifier: Apache-2.0
 *
 * fast_math: only in modules that ask for it. Arithmetic of f32 and f64 becomes what is quicker and nearly the same, in
 * the IR, where it can be read; LLVM may relax nothing, so the bits are still the same whatever the number of lanes or
 * threads. docs/language.md tells users what each may change:
 *
 *     x / c           x * (1 / c)        a constant whose reciprocal is a normal number
 *     x / d           x * (1 / d)        d the same in all iterations of a parallel loop: the reciprocal stands before it
 *     x / d, y / d    x * r, y * r       both in one region: r = 1 / d stands before the first
 *     x ** c          products, a root   a constant c with 2 c whole and |c| <= MAX_POWER
 *     a * b + c       fma(a, b, c)       where a rule above left the product
 *
 * After forward, which finds what divisors are one, and before grain, which asks what the arithmetic costs.
 */
#include <math.h>

#include "passes/passes_int.h"

#define MAX_POWER 8

typedef struct FastMath {
    PsFunc *f;
    PassLoop loop;
    PsMap before; /* key of a divisor of this loop -> its reciprocal, before the loop */
    PsMap first;  /* (divisor, region) -> the first division by it; then the reciprocal before that one */
} FastMath;

static bool is_relaxed(const PsFunc *f, PsRef value) {
    PsType type = ps_op(f, value)->type;
    return type == PS_F32 || type == PS_F64;
}

static bool is_constant(const PsFunc *f, PsRef value, double *out) {
    const PsOp *o = ps_op(f, value);
    if (o->code != PS_OP_CONST) return false;
    union {
        uint64_t bits;
        double d;
        float f;
    } as = {.bits = o->imm};
    *out = o->type == PS_F64 ? as.d : (double)as.f;
    return true;
}

/* -- division -- */

static PsRef reciprocal_at(PsBuilder *b, PsRef divisor) {
    return ps_build_binary(b, PS_OP_DIV, ps_build_float(b, ps_op(b->func, divisor)->type, 1.0), divisor);
}

static PsRef of_constant(FastMath *c, PsRef op, double divisor) {
    bool wide = ps_op(c->f, op)->type == PS_F64;
    double reciprocal = wide ? 1.0 / divisor : (double)(1.0f / (float)divisor);
    if (!(wide ? isnormal(reciprocal) : isnormal((float)reciprocal))) return 0;
    PsBuilder b = passes_before(c->f, op);
    return ps_build_float(&b, ps_op(c->f, op)->type, reciprocal);
}

/* Of a divisor that is the same in all iterations; 0: it is not, or this is no parallel loop. */
static PsRef of_loop(FastMath *c, PsRef divisor) {
    if (!c->loop.loop) return 0;
    PassKey key;
    passes_key_start(&key, ps_op(c->f, divisor)->type);
    passes_key_value(&c->loop, &key, divisor);
    if (!key.ok || !key.fixed) return 0;
    uint64_t made;
    if (ps_map_get(&c->before, key.bytes, key.len, &made)) return (PsRef)made;
    PsBuilder b = passes_before(c->f, c->loop.loop);
    PsRef reciprocal = reciprocal_at(&b, passes_key_rebuild(&c->loop, &b, divisor));
    ps_map_put(&c->before, key.bytes, key.len, reciprocal);
    return reciprocal;
}

/* Of a divisor that an earlier division of this region has, too; 0: this is the first. */
static PsRef of_region(FastMath *c, PsRef op, PsRef divisor) {
    uint32_t key[2] = {divisor, ps_op(c->f, op)->region};
    uint64_t found;
    if (!ps_map_get(&c->first, key, sizeof key, &found)) {
        ps_map_put(&c->first, key, sizeof key, op);
        return 0;
    }
    PsRef first = (PsRef)found;
    if (ps_op(c->f, first)->code != PS_OP_DIV || ps_op_arg(c->f, first, 1) != divisor) return first;
    PsBuilder b = passes_before(c->f, first);
    PsRef reciprocal = reciprocal_at(&b, divisor);
    PsRef args[2] = {ps_op_arg(c->f, first, 0), reciprocal};
    passes_become(c->f, first, PS_OP_MUL, args, 2, 0);
    ps_map_put(&c->first, key, sizeof key, reciprocal);
    return reciprocal;
}

static void divide(FastMath *c, PsRef op) {
    PsRef divisor = ps_op_arg(c->f, op, 1), reciprocal;
    double known;
    if (is_constant(c->f, divisor, &known)) {
        reciprocal = of_constant(c, op, known);
    } else {
        reciprocal = of_loop(c, divisor);
        if (!reciprocal) reciprocal = of_region(c, op, divisor);
    }
    PsRef args[2] = {ps_op_arg(c->f, op, 0), reciprocal};
    if (reciprocal) passes_become(c->f, op, PS_OP_MUL, args, 2, 0);
}

/* -- powers -- */

/* x ** n for n > 0, by squaring. */
static PsRef whole_power(PsBuilder *b, PsRef x, int n) {
    PsRef out = 0;
    for (;; x = ps_build_binary(b, PS_OP_MUL, x, x)) {
        if (n & 1) out = out ? ps_build_binary(b, PS_OP_MUL, out, x) : x;
        if (!(n >>= 1)) return out;
    }
}

static void power(FastMath *c, PsRef op) {
    double exponent;
    if (!is_constant(c->f, ps_op_arg(c->f, op, 1), &exponent)) return;
    double twice = 2.0 * fabs(exponent);
    if (!(twice >= 1.0 && twice <= 2.0 * MAX_POWER) || twice != floor(twice)) return;
    PsBuilder b = passes_before(c->f, op);
    PsRef x = ps_op_arg(c->f, op, 0), one = ps_build_float(&b, ps_op(c->f, op)->type, 1.0);
    int n = (int)twice / 2;
    PsRef value = n ? whole_power(&b, x, n) : one;
    if ((int)twice % 2) value = ps_build_binary(&b, PS_OP_MUL, value, ps_build_unary(&b, PS_OP_SQRT, x));
    PsRef args[2] = {exponent < 0 ? one : value, exponent < 0 ? value : one};
    passes_become(c->f, op, exponent < 0 ? PS_OP_DIV : PS_OP_MUL, args, 2, 0);
}

/* -- the walk -- */

static void rewrite_op(FastMath *c, PsRef op) {
    PsOpCode code = ps_op(c->f, op)->code;
    if (code == PS_OP_DIV && is_relaxed(c->f, op)) divide(c, op);
    if (code == PS_OP_POW && is_relaxed(c->f, op)) power(c, op);
}

static void enter_loop(FastMath *c, PsRef loop) {
    c->loop.loop = loop;
    ps_map_init(&c->before, c->f->module->arena);
    passes_note_written(&c->loop);
}

static PsStatus rewrite(PsFunc *f) {
    PsArena *arena = f->module->arena;
    FastMath c = {.f = f, .loop = {.f = f, .known = f->ops.len}};
    ps_map_init(&c.first, arena);
    c.loop.parfor_of = passes_parfor_of(f);
    c.loop.written_in = ps_arena_alloc(arena, sizeof(PsRef) * f->ops.len);
    if (ps_arena_failed(arena)) return PS_NOMEM;
    for (PsRef r = ps_walk_first(f), next; r; r = next) {
        next = ps_walk_next(f, r);
        if (ps_op(f, r)->region == 1) c.loop.loop = 0;
        if (ps_op(f, r)->code == PS_OP_PARFOR) enter_loop(&c, r);
        rewrite_op(&c, r);
    }
    return passes_contract_func(f);
}

PsStatus ps_pass_fast_math(PsModule *m, PsDiag *diag) {
    (void)diag;
    for (uint32_t i = 0; m->fast_math && i < m->funcs.len; i++)
        if (rewrite(m->funcs.data[i])) return PS_NOMEM;
    return PS_OK;
}
