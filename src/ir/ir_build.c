/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_build: making modules, functions and ops. Builders trust their caller about types (the verifier checks them);
 * they survive lack of memory by giving reference 0, the placeholder op. Not here: changing what was made
 * (ir_edit.c).
 */
#include "ir/ir_int.h"

#include "abi/half.h"

#include <assert.h>
#include <string.h>

PsModule *ps_module_new(PsArena *arena) {
    PsModule *m = ps_arena_alloc(arena, sizeof *m);
    if (!m) return NULL;
    m->arena = arena;
    ps_strings_init(&m->strings, arena);
    ps_map_init(&m->type_ids, arena);
    ps_map_init(&m->func_ids, arena);
    if (!ps_vec_reserve(arena, &m->types, 2 * PS_SCALAR_END)) return NULL;
    for (uint32_t t = 0; t < PS_SCALAR_END; t++) m->types.data[t] = (PsTypeInfo){.kind = (PsKind)t};
    m->types.len = PS_SCALAR_END;
    if (!ps_vec_push(arena, &m->spans, (PsSpan){0})) return NULL;
    if (!ps_vec_push(arena, &m->sources, (PsSource){.name = ""})) return NULL;
    if (!ps_vec_push(arena, &m->texts, "")) return NULL;
    return m;
}

PsFunc *ps_func_new(PsModule *m, const char *name, size_t len) {
    PsArena *arena = m->arena;
    uint64_t id;
    if (ps_map_get(&m->func_ids, name, len, &id)) return NULL;
    PsFunc *f = ps_arena_alloc(arena, sizeof *f);
    if (!f) return NULL;
    f->module = m;
    f->name = ps_strings_intern(&m->strings, name, len);
    if (!f->name || !ps_vec_reserve(arena, &f->ops, 64) || !ps_vec_reserve(arena, &f->args, 64)) return NULL;
    f->ops.data[f->ops.len++] = (PsOp){.code = PS_OP_NONE};
    f->args.data[f->args.len++] = 0;
    for (int i = 0; i < 2; i++) { /* none, and the body */
        if (!ps_vec_push(arena, &f->regions, (PsRegionInfo){0})) return NULL;
    }
    if (!ps_vec_push(arena, &m->funcs, f)) return NULL;
    if (ps_map_put(&m->func_ids, name, len, m->funcs.len - 1)) return f;
    m->funcs.len--;
    return NULL;
}

int ps_module_find_func(const PsModule *m, const char *name) {
    uint64_t id;
    return ps_map_get(&m->func_ids, name, strlen(name), &id) ? (int)id : -1;
}

uint32_t ps_module_add_span(PsModule *m, PsSpan span) {
    const PsSpan *last = &m->spans.data[m->spans.len - 1]; /* ops of one expression come together */
    if (!memcmp(last, &span, sizeof span)) return m->spans.len - 1;
    return ps_vec_push(m->arena, &m->spans, span) ? m->spans.len - 1 : 0;
}

uint32_t ps_module_add_text(PsModule *m, const char *text) {
    const char *kept = ps_strings_intern(&m->strings, text, strlen(text));
    return kept && ps_vec_push(m->arena, &m->texts, kept) ? m->texts.len - 1 : 0;
}

PsBuilder ps_builder_at_end(PsFunc *func, PsRegion region) {
    return (PsBuilder){.func = func, .region = region};
}

PsBuilder ps_builder_before(PsFunc *func, PsRef op) {
    return (PsBuilder){
        .func = func, .region = ps_op(func, op)->region, .before = op, .span = ps_op(func, op)->span};
}

static bool add_regions(PsFunc *f, PsRef owner, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (!ps_vec_push(f->module->arena, &f->regions, (PsRegionInfo){.owner = owner})) return false;
    }
    return true;
}

PsRef ps_build_op(PsBuilder *b, PsOpCode code, PsType type, const PsRef *args, uint32_t nargs, uint64_t imm) {
    PsFunc *f = b->func;
    PsArena *arena = f->module->arena;
    uint32_t nregions = ps_op_info[code].nregions;
    PsOp op = {.code = (uint16_t)code,
               .nregions = (uint16_t)nregions,
               .nargs = nargs,
               .type = type,
               .args = f->args.len,
               .region0 = nregions ? f->regions.len : 0,
               .imm = imm,
               .span = b->span};
    assert(b->region != 0);
    if (!ps_vec_reserve(arena, &f->args, nargs) || !ps_vec_reserve(arena, &f->ops, 1)) return 0;
    if (!add_regions(f, f->ops.len, nregions)) return 0;
    if (nargs) memmove(f->args.data + f->args.len, args, nargs * sizeof *args);
    f->args.len += nargs;
    PsRef r = f->ops.len++;
    f->ops.data[r] = op;
    ir_link(f, r, b->region, b->before);
    return r;
}

PsRef ps_region_add_param(PsFunc *f, PsRegion region, PsType type) {
    PsRegionInfo *info = ps_region(f, region);
    PsRef r = f->ops.len;
    bool follows = !info->nparams || info->params + info->nparams == r;
    assert(follows);
    if (!follows) return 0;
    PsOp op = {.code = PS_OP_PARAM, .type = type, .imm = info->nparams, .region0 = region};
    if (!ps_vec_push(f->module->arena, &f->ops, op)) return 0;
    if (!info->nparams++) info->params = r;
    return r;
}

PsRef ps_build_const(PsBuilder *b, PsType type, uint64_t bits) {
    int width = type == PS_U1 ? 1 : ps_scalar_bits(type);
    if (width) bits &= UINT64_MAX >> (64 - width);
    return ps_build_op(b, PS_OP_CONST, type, NULL, 0, bits);
}

PsRef ps_build_int(PsBuilder *b, PsType type, int64_t value) {
    switch (type) {
    case PS_U1: return ps_build_const(b, type, value != 0);
    case PS_F64: return ps_build_float(b, type, (double)value);
    case PS_F32: /* as f16 and bf16: rounded once */
    case PS_F16:
    case PS_BF16: return ps_build_float(b, type, ps_i64_sticky(value));
    default: return ps_build_const(b, type, (uint64_t)value);
    }
}

PsRef ps_build_float(PsBuilder *b, PsType type, double value) {
    switch (type) {
    case PS_F64: return ps_build_const(b, type, ps_f64_bits(value));
    case PS_F32: return ps_build_const(b, type, ps_f32_bits((float)value));
    case PS_F16: return ps_build_const(b, type, ps_f64_to_f16(value));
    case PS_BF16: return ps_build_const(b, type, ps_f64_to_bf16(value));
    default: return ps_build_cast(b, ps_build_float(b, PS_F64, value), type);
    }
}

static PsType type_of(const PsBuilder *b, PsRef r) { return ps_op(b->func, r)->type; }

PsRef ps_build_unary(PsBuilder *b, PsOpCode code, PsRef a) {
    return ps_build_op(b, code, type_of(b, a), &a, 1, 0);
}

PsRef ps_build_binary(PsBuilder *b, PsOpCode code, PsRef a, PsRef c) {
    PsType type = type_of(b, a);
    if (ps_op_info[code].rule == PS_RULE_COMPARE) type = ps_type_with_element(b->func->module, type, PS_U1);
    return ps_build_op(b, code, type, (PsRef[]){a, c}, 2, 0);
}

PsRef ps_build_select(PsBuilder *b, PsRef cond, PsRef a, PsRef c) {
    return ps_build_op(b, PS_OP_SELECT, type_of(b, a), (PsRef[]){cond, a, c}, 3, 0);
}

PsRef ps_build_cast(PsBuilder *b, PsRef a, PsType type) {
    if (type_of(b, a) == type) return a;
    return ps_build_op(b, PS_OP_CAST, type, &a, 1, 0);
}

PsRef ps_build_var(PsBuilder *b, PsType type) {
    return ps_build_op(b, PS_OP_VAR, ps_type_ptr(b->func->module, type), NULL, 0, 0);
}

PsRef ps_build_load(PsBuilder *b, PsRef place) {
    return ps_build_op(b, PS_OP_LOAD, ps_type_info(b->func->module, type_of(b, place))->elem, &place, 1, 0);
}

PsRef ps_build_place(PsBuilder *b, PsRef array, const PsRef *indices, uint32_t n, PsType elem) {
    PsRef args[PS_MAX_AXES + 1] = {array};
    if (n > PS_MAX_AXES) return 0;
    memcpy(args + 1, indices, n * sizeof *indices);
    return ps_build_op(b, PS_OP_PLACE, ps_type_ptr(b->func->module, elem), args, n + 1, 0);
}

void ps_build_store(PsBuilder *b, PsRef place, PsRef value) {
    ps_build_op(b, PS_OP_STORE, PS_KIND_NONE, (PsRef[]){place, value}, 2, 0);
}
