/* SPDX-License-Identifier: Apache-2.0
 *
 * random and randn. A number is a function of the seed, the launch, the loop, the iteration's indices and how many were
 * drawn in the iteration before, never of the thread: the same numbers for any number of threads and any vector width.
 *
 * Seed and count of launches lie in a hidden array of two words (PsFrontTypes.random_words); main adds one to the count at
 * its start and mixes both into a key. An iteration's stream is SplitMix64 from a start that the key and the indices are
 * mixed into; its state is a local of the iteration. Serial code of main has a stream of its own. Funcs that are called are
 * given its place (loop_field.c hands it on).
 *
 * randn: G. Box, M. Muller, 1958.
 */
#include "front/loop/loop_int.h"

#include "abi/random.h"

static PsRef word(PsBuilder *b, uint64_t bits) { return ps_build_const(b, PS_U64, bits); }

static PsRef mix_once(PsBuilder *b, PsRef z, int shift, uint64_t factor) {
    PsRef high = ps_build_binary(b, PS_OP_USHR, z, ps_build_int(b, PS_I32, shift));
    z = ps_build_binary(b, PS_OP_XOR, z, high);
    return factor == 1 ? z : ps_build_binary(b, PS_OP_MUL, z, word(b, factor));
}

static PsRef mix(PsBuilder *b, PsRef z) {
#define MIX(shift, factor) z = mix_once(b, z, shift, factor);
    PS_RANDOM_MIX(MIX)
#undef MIX
    return z;
}

static PsRef add(PsBuilder *b, PsRef a, uint64_t c) { return ps_build_binary(b, PS_OP_ADD, a, word(b, c)); }

static PsBuilder builder_after(PsFunc *f, PsRef op) {
    PsRef next = ps_op(f, op)->next;
    return next ? ps_builder_before(f, next) : ps_builder_at_end(f, ps_op(f, op)->region);
}

/* The launch's key, and the stream of main's serial code, at main's start. */
static PsStatus make_key(Loop *l) {
    PsFunc *main = l->front.module->funcs.data[0];
    PsBuilder saved = *loop_b(l);
    PsValue words = ps_value_python(l->front.types->random_words);
    loop_b(l)->func = main;
    PsStatus status = loop_from_outside(l, &words);
    *loop_b(l) = saved;
    if (status) return status;
    PsBuilder b = builder_after(main, words.ref);
    b.span = saved.span;
    PsRef places[2];
    for (int i = 0; i < 2; i++) {
        PsRef args[] = {words.ref, ps_build_int(&b, PS_I32, i)};
        places[i] = ps_build_op(&b, PS_OP_PLACE, ps_type_ptr(l->front.module, PS_U64), args, 2, 0);
    }
    PsRef count_args[] = {places[1], word(&b, 1)};
    PsRef count = ps_build_op(&b, PS_OP_ATOMIC_ADD, PS_U64, count_args, 2, 0);
    PsRef seed = mix(&b, add(&b, ps_build_load(&b, places[0]), PS_RANDOM_STEP));
    PsRef steps = ps_build_binary(&b, PS_OP_MUL, count, word(&b, PS_RANDOM_STEP));
    l->random_key = mix(&b, ps_build_binary(&b, PS_OP_ADD, seed, steps));
    l->random_main = ps_build_var(&b, PS_U64);
    ps_build_store(&b, l->random_main, l->random_key);
    return PS_OK;
}

/* The stream of one iteration of a parallel loop, at the start of its body. */
static PsStatus stream_of(Loop *l, PsRegion region, PsRef *out) {
    PsFunc *main = l->front.module->funcs.data[0];
    for (uint32_t i = 0; i < l->streams.len; i++)
        if (l->streams.data[i].region == region) return *out = l->streams.data[i].state, PS_OK;
    const PsRegionInfo *body = ps_region(main, region);
    PsBuilder b = body->first ? ps_builder_before(main, body->first) : ps_builder_at_end(main, region);
    uint32_t nparams = body->nparams, params = body->params;
    b.span = loop_b(l)->span;
    PsRef state = mix(&b, add(&b, l->random_key, l->streams.len + 1));
    for (uint32_t i = 0; i < nparams; i++) {
        PsRef index = ps_build_cast(&b, params + i, PS_U64);
        state = mix(&b, add(&b, ps_build_binary(&b, PS_OP_ADD, state, index), PS_RANDOM_STEP));
    }
    LoopStream made = {region, ps_build_var(&b, PS_U64)};
    ps_build_store(&b, made.state, state);
    *out = made.state;
    return ps_vec_push(l->front.arena, &l->streams, made) ? PS_OK : PS_NOMEM;
}

PsStatus loop_random_stream(Loop *l, PsRef call, PsRef *out) {
    const PsFunc *main = l->front.module->funcs.data[0];
    PsRegion region = ps_op(main, call)->region;
    while (region != 1) {
        PsRef owner = ps_region(main, region)->owner;
        if (ps_op(main, owner)->code == PS_OP_PARFOR) return stream_of(l, region, out);
        region = ps_op(main, owner)->region;
    }
    *out = l->random_main;
    return PS_OK;
}

/* A func that is called is given the place of its caller's stream. */
static PsStatus stream(Loop *l, PsRef *out) {
    LoopFunc *func = l->func;
    if (!l->random_main) TRY(make_key(l));
    while (func->kind == FUNC_INLINE && func->base.caller) func = (LoopFunc *)func->base.caller;
    if (func->kind == FUNC_CALLED) {
        LoopHidden hidden = {.type = ps_type_ptr(l->front.module, PS_U64), .member = -1};
        if (!l->random_hidden && !ps_vec_push(l->front.arena, &l->hidden, hidden)) return PS_NOMEM;
        if (!l->random_hidden) l->random_hidden = l->hidden.len;
        return loop_hidden_arg(l, l->random_hidden - 1, out);
    }
    if (l->parallel) return stream_of(l, l->parallel, out);
    *out = l->random_main;
    return PS_OK;
}

static PsStatus draw(Loop *l, PsRef *out) {
    PsRef state;
    TRY(stream(l, &state));
    PsBuilder *b = loop_b(l);
    PsRef next = add(b, ps_build_load(b, state), PS_RANDOM_STEP);
    ps_build_store(b, state, next);
    *out = mix(b, next);
    return PS_OK;
}

/* In [0, 1): as many of the highest bits as the type holds. */
static PsStatus uniform(Loop *l, PsType type, PsRef *out) {
    static const int precisions[PS_SCALAR_END] = {[PS_F16] = 11, [PS_BF16] = 8, [PS_F32] = 24, [PS_F64] = 53};
    int bits = ps_scalar_class(type) == PS_CLASS_FLOAT ? precisions[type]
               : type == PS_U1                         ? 1
                                                       : ps_scalar_bits(type);
    PsRef raw;
    TRY(draw(l, &raw));
    PsBuilder *b = loop_b(l);
    if (bits < 64) raw = ps_build_binary(b, PS_OP_USHR, raw, ps_build_int(b, PS_I32, 64 - bits));
    *out = ps_build_cast(b, raw, type);
    if (loop_is_float(type))
        *out = ps_build_binary(b, PS_OP_MUL, *out, ps_build_float(b, type, 1.0 / (double)(1ull << bits)));
    return PS_OK;
}

/* sqrt(-2 log(1 - u)) cos(2 pi v) */
static PsStatus normal(Loop *l, PsType type, PsRef *out) {
    PsType wide = type == PS_F64 ? PS_F64 : PS_F32;
    PsRef u, v;
    TRY(uniform(l, wide, &u));
    TRY(uniform(l, wide, &v));
    PsBuilder *b = loop_b(l);
    u = ps_build_binary(b, PS_OP_SUB, ps_build_float(b, wide, 1), u);
    u = ps_build_binary(b, PS_OP_MUL, ps_build_float(b, wide, -2), ps_build_unary(b, PS_OP_LOG, u));
    v = ps_build_binary(b, PS_OP_MUL, ps_build_float(b, wide, 6.283185307179586), v);
    u = ps_build_binary(b, PS_OP_MUL, ps_build_unary(b, PS_OP_SQRT, u), ps_build_unary(b, PS_OP_COS, v));
    *out = ps_build_cast(b, u, type);
    return PS_OK;
}

PsStatus loop_random(Loop *l, bool is_normal, CallArgs *args, PsValue *out) {
    PsType type = l->front.options->default_fp;
    PsRef ref;
    if (args->nargs) {
        const PsValue *dtype = &args->args[0];
        type = dtype->kind == PS_VALUE_PYTHON ? ps_front_dtype(l->front.types, l->front.options, dtype->object)
                                              : 0;
        if (!type || (is_normal && !loop_is_float(type)))
            return FAIL(l, RANDOM_DTYPE, is_normal ? "randn" : "random",
                        is_normal ? "a float dtype" : "a dtype", loop_describe(l, dtype));
    }
    TRY(is_normal ? normal(l, type, &ref) : uniform(l, type, &ref));
    *out = loop_value(l, ref);
    return PS_OK;
}
