/* SPDX-License-Identifier: Apache-2.0
 *
 * reuse: what was computed already is not computed again: a pure op becomes an equal one that control has passed on every
 * way here; a load of an array's element becomes the value that was loaded from there, or stored there, when nothing
 * that could change it came between.
 *
 * LLVM does as much for scalar code. In lanes it cannot see that two masked loads of one place give the same.
 *
 * One walk. What a region computes is known in it and in the regions inside, never behind it; what stands before a parallel
 * loop is not known in the loop. Memory has a version, which is part of a load's name: each write of an array, call or
 * volatile read makes a new one, as does a loop that holds one, and every while: it may be waiting for another thread.
 */
#include "passes/passes_int.h"

#define MAX_ARGS (PS_MAX_AXES + 1) /* a place's */

typedef struct Change {
    uint32_t entry;
    PsRef value; /* what was known before */
} Change;

typedef struct Reuse {
    PsFunc *f;
    PsRef *becomes; /* by PsRef: the equal value; 0: none */
    PsRef parfor;   /* the walk is in it; 0: in none */
    uint64_t memory, versions;
    PsMap entries; /* name -> index into values */
    PsVec(PsRef) values;
    PsVec(Change) log;
    bool failed;
} Reuse;

typedef struct Name {
    uint64_t words[4 + MAX_ARGS];
    uint32_t len;
} Name;

static PsRef current(const Reuse *c, PsRef value) { return c->becomes[value] ? c->becomes[value] : value; }

static Name name_of_load(const Reuse *c, PsRef place) {
    Name name = {.words = {PS_OP_LOAD, c->parfor, c->memory, current(c, place)}, .len = 4};
    return name;
}

static Name name_of(const Reuse *c, PsRef r) {
    const PsOp *op = ps_op(c->f, r);
    Name name = {.words = {op->code | (uint64_t)op->type << 16, c->parfor, op->imm}, .len = 3};
    for (uint32_t i = 0; i < op->nargs; i++) name.words[name.len++] = current(c, ps_op_arg(c->f, r, i));
    return name;
}

/* The index of what the name stands for in c->values; made when new. */
static uint32_t entry_of(Reuse *c, const Name *name) {
    uint64_t entry;
    size_t size = name->len * sizeof *name->words;
    if (ps_map_get(&c->entries, name->words, size, &entry)) return (uint32_t)entry;
    entry = c->values.len;
    c->failed |=
        !ps_vec_push(c->f->module->arena, &c->values, 0) || !ps_map_put(&c->entries, name->words, size, entry);
    return (uint32_t)entry;
}

static void learn(Reuse *c, uint32_t entry, PsRef value) {
    if (c->failed) return;
    c->failed |= !ps_vec_push(c->f->module->arena, &c->log, (Change){entry, c->values.data[entry]});
    c->values.data[entry] = value;
}

static void take_back(Reuse *c, uint32_t to) {
    while (c->log.len > to) {
        Change last = c->log.data[--c->log.len];
        c->values.data[last.entry] = last.value;
    }
}

/* -- memory -- */

static void forget_memory(Reuse *c) { c->memory = ++c->versions; }

static bool is_element(const PsFunc *f, PsRef place) { return ps_op(f, place)->code == PS_OP_PLACE; }

static bool changes_memory(const PsFunc *f, PsRef r) {
    const PsOp *op = ps_op(f, r);
    if (op->code == PS_OP_CALL || op->code == PS_OP_VOLATILE || op->code == PS_OP_WHILE) return true;
    if (ps_op_info[op->code].effect != PS_EFFECT_WRITE) return false;
    return !op->nargs || ps_op(f, ps_place_root(f, ps_op_arg(f, r, 0)))->code != PS_OP_VAR;
}

static bool holds_change(const PsFunc *f, PsRef control) {
    PsRef end = ps_walk_skip(f, control);
    for (PsRef r = control; r && r != end; r = ps_walk_next(f, r))
        if (changes_memory(f, r)) return true;
    return false;
}

/* -- the walk -- */

static void visit_value(Reuse *c, PsRef r, Name name) {
    uint32_t entry = entry_of(c, &name);
    if (c->failed) return;
    PsRef known = c->values.data[entry];
    if (known)
        c->becomes[r] = known;
    else
        learn(c, entry, r);
}

/* What is loaded next from the place is what was stored; not of halves, which may be wider in registers. */
static void visit_store(Reuse *c, PsRef r) {
    PsRef place = ps_op_arg(c->f, r, 0), value = ps_op_arg(c->f, r, 1);
    PsType type = ps_op(c->f, value)->type;
    if (!is_element(c->f, place) || !ps_type_is_scalar(type) || type == PS_F16 || type == PS_BF16) return;
    Name name = name_of_load(c, place);
    learn(c, entry_of(c, &name), current(c, value));
}

static void visit_region(Reuse *c, PsRegion region);

static void visit_control(Reuse *c, PsRef r, bool changes) {
    const PsOp *op = ps_op(c->f, r);
    PsRef outer = c->parfor;
    if (op->code == PS_OP_PARFOR) c->parfor = r;
    if (changes && op->code != PS_OP_IF) forget_memory(c);
    uint64_t before = c->memory;
    uint32_t log = c->log.len;
    for (uint32_t i = 0; i < op->nregions; i++) {
        c->memory = before;
        visit_region(c, op->region0 + i);
        take_back(c, log);
    }
    c->memory = before;
    if (changes) forget_memory(c);
    c->parfor = outer;
}

static void visit(Reuse *c, PsRef r) {
    const PsOp *op = ps_op(c->f, r);
    if (changes_memory(c->f, r)) forget_memory(c);
    if (op->nargs > MAX_ARGS) return;
    if (op->code == PS_OP_STORE)
        visit_store(c, r);
    else if (op->code == PS_OP_LOAD && is_element(c->f, ps_op_arg(c->f, r, 0)) && ps_type_is_scalar(op->type))
        visit_value(c, r, name_of_load(c, ps_op_arg(c->f, r, 0)));
    else if (ps_op_info[op->code].effect == PS_EFFECT_PURE)
        visit_value(c, r, name_of(c, r));
}

static void visit_region(Reuse *c, PsRegion region) {
    for (PsRef r = ps_region(c->f, region)->first; r && !c->failed; r = ps_op(c->f, r)->next) {
        if (ps_op(c->f, r)->nregions)
            visit_control(c, r, holds_change(c->f, r));
        else
            visit(c, r);
    }
}

PsStatus ps_pass_reuse(PsModule *m, PsDiag *diag) {
    (void)diag;
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        Reuse c = {.f = m->funcs.data[i]};
        c.becomes = ps_arena_alloc(m->arena, sizeof *c.becomes * c.f->ops.len);
        if (!c.becomes) return PS_NOMEM;
        ps_map_init(&c.entries, m->arena);
        visit_region(&c, 1);
        if (c.failed) return PS_NOMEM;
        ps_func_remap(c.f, c.becomes);
    }
    return PS_OK;
}
