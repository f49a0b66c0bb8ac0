/* SPDX-License-Identifier: Apache-2.0
 *
 * forward: a load of a local becomes the value that was stored there last, where that is one value whatever way control
 * came. A name that a program assigns once, or again and again in a straight line, thus stops being a place, and what
 * later passes and the lanes want to know of a value (its range, its step from lane to lane) is no longer lost in it.
 * What is left is what differs by the way: locals that branches and loops change.
 *
 * One walk with what is known of each local. A branch may leave nothing known that it wrote; a loop may not even begin with
 * it. Changes are logged, so that leaving a region takes them back.
 *
 * Only loads change here; dce takes away what nobody reads any more. Not here: elements of tiles.
 */
#include "passes/passes_int.h"

typedef struct Change {
    PsRef local, value; /* what was known before */
} Change;

typedef struct Forward {
    PsFunc *f;
    PsRef *known;          /* by PsRef of a local: the value it holds; 0: not known */
    PsRef *becomes;        /* by PsRef of a load: the value it is; 0: stays */
    uint32_t *first_write; /* by PsRef: how many of `writes` stand before the op */
    PsVec(PsRef) writes;   /* the locals that ops write, in order */
    PsVec(Change) log;
    bool failed;
} Forward;

/* -- who writes what -- */

static bool is_local(const PsFunc *f, PsRef place) {
    return ps_op(f, place)->code == PS_OP_VAR &&
           ps_type_is_scalar(ps_type_info(f->module, ps_op(f, place)->type)->elem);
}

/* Of a call each operand that is a place; of a write its place. */
static void note_writes(Forward *c, PsRef r) {
    const PsOp *op = ps_op(c->f, r);
    bool writes = ps_op_info[op->code].effect == PS_EFFECT_WRITE;
    uint32_t n = op->code == PS_OP_CALL ? op->nargs : writes && op->nargs ? 1 : 0;
    for (uint32_t i = 0; i < n; i++) {
        PsRef place = ps_op_arg(c->f, r, i);
        if (is_local(c->f, place) && !ps_vec_push(c->f->module->arena, &c->writes, place)) c->failed = true;
    }
}

static void find_writes(Forward *c) {
    for (PsRef r = ps_walk_first(c->f); r; r = ps_walk_next(c->f, r)) {
        c->first_write[r] = c->writes.len;
        note_writes(c, r);
    }
}

/* -- the walk -- */

static void learn(Forward *c, PsRef local, PsRef value) {
    if (c->known[local] == value) return;
    if (!ps_vec_push(c->f->module->arena, &c->log, (Change){local, c->known[local]})) c->failed = true;
    c->known[local] = value;
}

static void take_back(Forward *c, uint32_t to) {
    while (c->log.len > to) {
        Change last = c->log.data[--c->log.len];
        c->known[last.local] = last.value;
    }
}

static void forget_written(Forward *c, PsRef op) {
    PsRef after = ps_walk_skip(c->f, op);
    const PsRef *writes = c->writes.data;
    if (!writes) return;
    uint32_t end = after ? c->first_write[after] : c->writes.len;
    for (uint32_t i = c->first_write[op]; i < end; i++) learn(c, writes[i], 0);
}

static void visit_region(Forward *c, PsRegion region);

/* What a region learns holds in it alone: its values are not visible elsewhere. */
static void visit_control(Forward *c, PsRef r) {
    const PsOp *op = ps_op(c->f, r);
    bool is_loop = op->code != PS_OP_IF;
    if (is_loop) forget_written(c, r);
    uint32_t before = c->log.len;
    for (uint32_t i = 0; i < op->nregions; i++) {
        visit_region(c, op->region0 + i);
        take_back(c, before);
    }
    if (!is_loop) forget_written(c, r);
}

static void visit_region(Forward *c, PsRegion region) {
    for (PsRef r = ps_region(c->f, region)->first; r; r = ps_op(c->f, r)->next) {
        const PsOp *op = ps_op(c->f, r);
        PsRef place = op->nargs ? ps_op_arg(c->f, r, 0) : 0;
        if (op->nregions) {
            visit_control(c, r);
        } else if (op->code == PS_OP_VAR && is_local(c->f, r)) {
            learn(c, r, 0);
        } else if (op->code == PS_OP_LOAD && is_local(c->f, place)) {
            c->becomes[r] = c->known[place];
        } else if (op->code == PS_OP_STORE && is_local(c->f, place)) {
            PsRef value = ps_op_arg(c->f, r, 1);
            learn(c, place, c->becomes[value] ? c->becomes[value] : value);
        } else {
            forget_written(c, r);
        }
    }
}

PsStatus ps_pass_forward(PsModule *m, PsDiag *diag) {
    (void)diag;
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        Forward c = {.f = m->funcs.data[i]};
        size_t n = c.f->ops.len;
        c.known = ps_arena_alloc(m->arena, sizeof *c.known * n);
        c.becomes = ps_arena_alloc(m->arena, sizeof *c.becomes * n);
        c.first_write = ps_arena_alloc(m->arena, sizeof *c.first_write * n);
        if (!c.known || !c.becomes || !c.first_write) return PS_NOMEM;
        find_writes(&c);
        visit_region(&c, 1);
        if (c.failed) return PS_NOMEM;
        ps_func_remap(c.f, c.becomes);
    }
    return PS_OK;
}
