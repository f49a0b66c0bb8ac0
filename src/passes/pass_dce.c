/* SPDX-License-Identifier: Apache-2.0
 *
 * dce: what does not matter goes: pure values and loads nobody uses, locals nobody reads with the stores to them, ifs
 * and serial loops in which nothing is left, code behind a break, continue or return.
 *
 * What matters is found from the effects: stores to arrays, calls, prints, checks, exits, whiles (which may never end)
 * and parallel loops (whose bounds are checked). Their operands matter, the control around them does, and of a local
 * that is read, every write. Linear: each op is reached once.
 */
#include "passes/passes_int.h"

typedef struct Dce {
    PsFunc *f;
    PsBits live, read;  /* by PsRef: op matters; local is read */
    PsRef *first_write; /* of a local; 0: none */
    PsRef *next_write;  /* the next op that writes the same local */
    PsVec(PsRef) work;
} Dce;

static void mark(Dce *c, PsRef op) {
    if (!op || ps_bits_get(&c->live, op)) return;
    ps_bits_set(&c->live, op);
    ps_vec_push(c->f->module->arena, &c->work, op);
}

/* The local that an op writes, or writes an element of; 0: none. */
static PsRef written_local(const PsFunc *f, PsRef op) {
    const PsOp *o = ps_op(f, op);
    if (ps_op_info[o->code].effect != PS_EFFECT_WRITE || o->nargs == 0) return 0;
    PsRef root = ps_place_root(f, ps_op_arg(f, op, 0));
    return ps_op(f, root)->code == PS_OP_VAR ? root : 0;
}

static bool is_root(const PsFunc *f, PsRef op) {
    const PsOp *o = ps_op(f, op);
    switch (ps_op_info[o->code].effect) {
    case PS_EFFECT_WRITE: return !written_local(f, op);
    case PS_EFFECT_CONTROL: return o->code != PS_OP_IF && o->code != PS_OP_FOR && o->code != PS_OP_YIELD;
    case PS_EFFECT_IO:
    case PS_EFFECT_FAULT: return true;
    default: return false;
    }
}

static void read_local(Dce *c, PsRef local) {
    if (ps_bits_get(&c->read, local)) return;
    ps_bits_set(&c->read, local);
    for (PsRef w = c->first_write[local]; w; w = c->next_write[w]) mark(c, w);
}

/* Marks what an op that matters needs. */
static void visit(Dce *c, PsRef op) {
    PsFunc *f = c->f;
    const PsOp *o = ps_op(f, op);
    /* What is done with an element's place counts, and it may be written only. */
    bool only_writes = o->code == PS_OP_STORE || o->code == PS_OP_PARTIAL || o->code == PS_OP_ELEM;
    if (o->region) mark(c, ps_region(f, o->region)->owner);
    if (o->code == PS_OP_PARAM) mark(c, ps_region(f, o->region0)->owner);
    if (o->code == PS_OP_WHILE) mark(c, ps_region(f, o->region0)->last); /* its yield */
    for (uint32_t i = 0; i < o->nargs; i++) {
        PsRef value = ps_op_arg(f, op, i);
        mark(c, value);
        PsRef root = ps_place_root(f, value);
        if (ps_op(f, root)->code == PS_OP_VAR && (i > 0 || !only_writes)) read_local(c, root);
    }
}

static bool start(Dce *c, PsFunc *f) {
    PsArena *arena = f->module->arena;
    *c = (Dce){.f = f};
    if (!ps_bits_init(&c->live, arena, f->ops.len) || !ps_bits_init(&c->read, arena, f->ops.len)) return false;
    c->first_write = ps_arena_alloc(arena, sizeof(PsRef) * f->ops.len);
    c->next_write = ps_arena_alloc(arena, sizeof(PsRef) * f->ops.len);
    return c->first_write && c->next_write && ps_vec_reserve(arena, &c->work, f->ops.len);
}

static void find_roots(Dce *c) {
    PsFunc *f = c->f;
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        if (passes_is_exit(f, r)) passes_cut_after(f, r);
        if (is_root(f, r)) mark(c, r);
        PsRef local = written_local(f, r);
        if (!local) continue;
        c->next_write[r] = c->first_write[local];
        c->first_write[local] = r;
    }
}

PsStatus ps_pass_dce(PsModule *m, PsDiag *diag) {
    (void)diag;
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        Dce c;
        if (!start(&c, m->funcs.data[i])) return PS_NOMEM;
        find_roots(&c);
        while (c.work.len) visit(&c, c.work.data[--c.work.len]);
        for (PsRef r = ps_walk_first(c.f), next; r; r = next) {
            bool live = ps_bits_get(&c.live, r);
            next = live ? ps_walk_next(c.f, r) : ps_walk_skip(c.f, r);
            if (!live) ps_op_remove(c.f, r);
        }
    }
    return PS_OK;
}
