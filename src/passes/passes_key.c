/* SPDX-License-Identifier: Apache-2.0
 *
 * passes_key: names for values by what they compute, so that `s[k + 1]` written twice is one place. A key is a short
 * byte string: a tree of pure ops over constants, arguments, values from outside the loop, and locals of the outside
 * that the loop does not write. Passes reduce and plain group and compare places by it.
 */
#include <string.h>

#include "passes/passes_int.h"

typedef enum Tag { TAG_CONST = 1, TAG_FLOAT, TAG_ARG, TAG_DIM, TAG_VALUE, TAG_PARAM, TAG_LOCAL, TAG_OP } Tag;

static void add(PassKey *key, Tag tag, uint64_t a, uint64_t b) {
    uint64_t words[3] = {tag, a, b};
    if (!key->ok || key->len + sizeof words > PASS_KEY_MAX) {
        key->ok = false;
        return;
    }
    memcpy(key->bytes + key->len, words, sizeof words);
    key->len += sizeof words;
}

static void add_varying(PassKey *key, Tag tag, uint64_t a, uint64_t b) {
    key->constant = false;
    add(key, tag, a, b);
}

void passes_key_start(PassKey *key, uint64_t first) {
    *key = (PassKey){.ok = true, .fixed = true, .constant = true};
    memcpy(key->bytes, &first, sizeof first);
    key->len = sizeof first;
}

bool passes_is_inside(const PassLoop *loop, PsRef value) {
    return value < loop->known && loop->parfor_of[value] == loop->loop;
}

/* A local from outside, or an element of one, that keeps its value while the loop runs. */
static bool is_kept_local(const PassLoop *loop, PsRef place) {
    PsRef root = ps_place_root(loop->f, place);
    return ps_op(loop->f, root)->code == PS_OP_VAR && !passes_is_inside(loop, root) &&
           loop->written_in[root] != loop->loop;
}

static bool is_pure_scalar(const PsOp *o) {
    const PsOpInfo *info = &ps_op_info[o->code];
    return info->effect == PS_EFFECT_PURE && info->rule != PS_RULE_OTHER && info->rule != PS_RULE_NONE &&
           ps_type_is_scalar(o->type);
}

static void add_op(const PassLoop *loop, PassKey *key, PsRef value) {
    const PsFunc *f = loop->f;
    const PsOp *o = ps_op(f, value);
    if (o->code == PS_OP_LOAD && is_kept_local(loop, ps_op_arg(f, value, 0))) {
        PsRef place = ps_op_arg(f, value, 0);
        add_varying(key, TAG_LOCAL, ps_place_root(f, place), ps_op(f, place)->nargs);
        for (uint32_t i = 1; key->ok && i < ps_op(f, place)->nargs; i++)
            passes_key_value(loop, key, ps_op_arg(f, place, i));
    } else if (is_pure_scalar(o)) {
        add_varying(key, TAG_OP, (uint64_t)o->code << 32 | o->type,
                    (uint64_t)o->nargs << 32 | (uint32_t)o->imm);
        for (uint32_t i = 0; key->ok && i < o->nargs; i++) passes_key_value(loop, key, ps_op_arg(f, value, i));
    } else {
        key->ok = false;
    }
}

void passes_key_value(const PassLoop *loop, PassKey *key, PsRef value) {
    const PsFunc *f = loop->f;
    const PsOp *o = ps_op(f, value);
    if (o->code == PS_OP_CONST && ps_scalar_class(o->type) != PS_CLASS_FLOAT) {
        /* without the type: indices 1:i32 and 1:i64 are one */
        add(key, TAG_CONST, (uint64_t)passes_signed(o->type, o->imm), 0);
    } else if (o->code == PS_OP_CONST) {
        add(key, TAG_FLOAT, o->imm, o->type);
    } else if (o->code == PS_OP_ARG) {
        add_varying(key, TAG_ARG, o->imm, 0);
    } else if (o->code == PS_OP_DIM && passes_array_param(f, ps_op_arg(f, value, 0)) >= 0) {
        add_varying(key, TAG_DIM, (uint64_t)passes_array_param(f, ps_op_arg(f, value, 0)), o->imm);
    } else if (!passes_is_inside(loop, value)) {
        add_varying(key, TAG_VALUE, value, 0);
    } else if (o->code == PS_OP_PARAM) {
        key->fixed = false;
        add_varying(key, TAG_PARAM, value, 0);
    } else {
        add_op(loop, key, value);
    }
}

/* An integer division that pass check finds nothing wrong with, whatever the divisor: the loop itself need not have got
 * to the one it repeats. */
static PsRef rebuild_division(PsBuilder *b, const PsOp *o, const PsRef *args) {
    PsRef zero = ps_build_int(b, o->type, 0), good = ps_build_binary(b, PS_OP_NE, args[1], zero);
    PsRef divisor = ps_build_select(b, good, args[1], ps_build_int(b, o->type, 1));
    return ps_build_select(b, good, ps_build_binary(b, o->code, args[0], divisor), zero);
}

PsRef passes_key_rebuild(const PassLoop *loop, PsBuilder *b, PsRef value) {
    PsFunc *f = loop->f;
    if (!passes_is_inside(loop, value)) return value;
    PsOp o = *ps_op(f, value);
    if (o.code == PS_OP_LOAD) return ps_build_load(b, passes_key_rebuild(loop, b, ps_op_arg(f, value, 0)));
    PsRef args[PS_MAX_AXES + 1] = {0};
    if (o.nargs > PS_COUNT(args)) return 0; /* elem of so many axes; no pure scalar op */
    for (uint32_t i = 0; i < o.nargs; i++) args[i] = passes_key_rebuild(loop, b, ps_op_arg(f, value, i));
    if (f->module->checked && passes_is_int_division(o.code) && passes_is_int(f->module, o.type))
        return rebuild_division(b, &o, args);
    return ps_build_op(b, o.code, o.type, args, o.nargs, o.imm);
}

void passes_note_written(const PassLoop *loop) {
    const PsFunc *f = loop->f;
    PsRef end = ps_walk_skip(f, loop->loop);
    for (PsRef r = ps_walk_next(f, loop->loop); r != end; r = ps_walk_next(f, r)) {
        const PsOp *o = ps_op(f, r);
        bool writes = ps_op_info[o->code].effect == PS_EFFECT_WRITE;
        uint32_t places = o->code == PS_OP_CALL ? o->nargs : writes && o->nargs ? 1 : 0;
        for (uint32_t i = 0; i < places; i++) {
            PsRef root = ps_place_root(f, ps_op_arg(f, r, i));
            if (ps_op(f, root)->code == PS_OP_VAR) loop->written_in[root] = loop->loop;
        }
    }
}
