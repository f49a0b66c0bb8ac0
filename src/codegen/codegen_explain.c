/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_explain: the notes that `explain` shows: what codegen_lanes decided of each parallel loop, what codegen_uniform
 * found of control, how the emitters made each access (Codegen.how), what the passes decided (PsModule.notes), and what an
 * op costs. Nothing is decided here. Runs when everything is emitted, before anything is optimised.
 */
#include "codegen/codegen_int.h"

#include <string.h>

typedef struct Explain {
    Codegen *cg;
    const PsFunc *f;
    uint32_t *kept;   /* by span: 1 + the pass's note on why an atomic is none */
    uint8_t *reduced; /* by span: it is a reduction; what stands behind the loop is part of it */
} Explain;

static void add(Explain *x, uint32_t span, PsCodeNote note) {
    const PsModule *m = x->cg->m;
    if (!note.text) note.text = ps_note_text(note.id);
    if (!span || span >= m->spans.len) return;
    note.span = m->spans.data[span];
    ps_vec_push(x->cg->arena, &x->cg->out->notes, note);
}

static void say(Explain *x, PsRef r, PsNoteId id) { add(x, ps_op(x->f, r)->span, (PsCodeNote){.id = id}); }

static const char *with_word(const Explain *x, PsNoteId id, const char *word) {
    return word ? ps_arena_format(x->cg->arena, ps_note_text(id), word) : ps_note_text(id); /* NOLINT */
}

static void say_word(Explain *x, PsRef r, PsNoteId id, const char *word) {
    add(x, ps_op(x->f, r)->span, (PsCodeNote){.id = id, .text = with_word(x, id, word)});
}

/* -- loops -- */

/* A func's name is that of the program and a number. */
static const char *name_of(const Explain *x, PsRef r) {
    const PsOp *op = ps_op(x->f, r);
    if (op->code != PS_OP_CALL || op->imm >= x->cg->m->funcs.len) return ps_op_info[op->code].name;
    const char *name = x->cg->m->funcs.data[op->imm]->name, *dot = strrchr(name, '.');
    return dot ? ps_arena_copy(x->cg->arena, name, (size_t)(dot - name)) : name;
}

/* In the file of the user; 0: unknown. */
static uint32_t line_of(const Explain *x, PsRef r) {
    const PsModule *m = x->cg->m;
    uint32_t span = ps_op(x->f, r)->span;
    PsSpan where = span < m->spans.len ? m->spans.data[span] : (PsSpan){0};
    return where.source && where.source < m->sources.len ? m->sources.data[where.source].first_line + where.line
                                                         : 0;
}

static void explain_parfor(Explain *x, const ParforInfo *parfor) {
    const char *text = ps_note_text(parfor->why);
    if (parfor->why_number) text = ps_arena_format(x->cg->arena, text, parfor->why_number); /* NOLINT */
    if (parfor->why_op) {
        uint32_t line = line_of(x, parfor->why_op);
        text = with_word(x, parfor->why, name_of(x, parfor->why_op));
        if (line && text) text = ps_arena_format(x->cg->arena, "%s (line %u)", text, line);
    }
    add(x, ps_op(x->f, parfor->ref)->span, (PsCodeNote){.id = parfor->why, .text = text});
    if (parfor->width <= 1 && !parfor->serial) say(x, parfor->ref, PS_NOTE_LLVM_MAY);
}

static void explain_control(Explain *x, PsRef r) {
    bool parts = x->cg->uniform.marks[r] & CG_DIVERGES;
    if (ps_op(x->f, r)->code == PS_OP_IF)
        say(x, r, parts ? PS_NOTE_BRANCH_PARTS : PS_NOTE_BRANCH_SAME);
    else
        say(x, r, parts ? PS_NOTE_LOOP_PARTS : PS_NOTE_LOOP_SAME);
}

/* -- accesses -- */

/* What a func is handed places of are mostly its caller's variables: they do not count. */
static bool is_in_array(const Explain *x, PsRef r) {
    uint16_t root = ps_op(x->f, ps_place_root(x->f, ps_op_arg(x->f, r, 0)))->code;
    return root != PS_OP_VAR && root != PS_OP_ARG;
}

static void explain_access(Explain *x, PsRef r) {
    static const PsNoteId loads[] = {PS_NOTE_LOAD_ONE, PS_NOTE_LOAD_ROW, PS_NOTE_LOAD_BACK, PS_NOTE_LOAD_EACH},
                          stores[] = {PS_NOTE_STORE_ONE, PS_NOTE_STORE_ROW, PS_NOTE_STORE_BACK,
                                      PS_NOTE_STORE_EACH};
    uint8_t how = x->cg->how[r];
    unsigned kind = how & CG_ROW ? 1 : how & CG_BACK ? 2 : how & CG_EACH ? 3 : 0;
    PsNoteId id = ps_op(x->f, r)->code == PS_OP_LOAD ? loads[kind] : stores[kind];
    bool masked = kind && (how & CG_MASKED);
    if (how) say(x, r, masked ? id + (PS_NOTE_LOAD_ROW_MASKED - PS_NOTE_LOAD_ROW) : id);
}

_Static_assert(PS_NOTE_LOAD_EACH_MASKED - PS_NOTE_LOAD_EACH == PS_NOTE_STORE_ROW_MASKED - PS_NOTE_STORE_ROW &&
                   PS_NOTE_LOAD_ROW_MASKED - PS_NOTE_LOAD_ROW == PS_NOTE_STORE_ROW_MASKED - PS_NOTE_STORE_ROW &&
                   PS_NOTE_STORE_EACH_MASKED - PS_NOTE_STORE_EACH ==
                       PS_NOTE_LOAD_EACH_MASKED - PS_NOTE_LOAD_EACH,
               "masked accesses stand in the order of the others");

static bool is_atomic(uint16_t code) { return code >= PS_OP_ATOMIC_ADD && code <= PS_OP_ATOMIC_CAS; }

static void explain_atomic(Explain *x, PsRef r, bool in_main) {
    uint8_t how = in_main ? x->cg->how[r] : 0;
    uint32_t kept = x->kept[ps_op(x->f, r)->span];
    PsType type = ps_op(x->f, r)->type;
    say(x, r,
        how & CG_COMBINED ? PS_NOTE_ATOMIC_COMBINED
        : how & CG_EACH   ? PS_NOTE_ATOMIC_LANES
                          : PS_NOTE_ATOMIC);
    if (kept) say(x, r, x->cg->m->notes.data[kept - 1].id);
    uint16_t code = ps_op(x->f, r)->code;
    if ((code == PS_OP_ATOMIC_ADD || code == PS_OP_ATOMIC_MUL) && ps_type_is_scalar(type) && cg_is_float(type))
        say(x, r, PS_NOTE_ATOMIC_ORDER);
}

/* -- costs -- */

static uint32_t flops_of(const PsFunc *f, PsRef r) {
    const PsOp *op = ps_op(f, r);
    PsType type = op->code == PS_OP_PARTIAL ? ps_op(f, ps_op_arg(f, r, 1))->type : op->type;
    if (!ps_type_is_scalar(type) || !cg_is_float(type)) return 0;
    switch (op->code) {
    case PS_OP_FMA: return 2;
    case PS_OP_ADD:
    case PS_OP_SUB:
    case PS_OP_MUL:
    case PS_OP_DIV:
    case PS_OP_SQRT:
    case PS_OP_MIN:
    case PS_OP_MAX:
    case PS_OP_PARTIAL: return 1;
    default: return is_atomic(op->code) && op->code < PS_OP_ATOMIC_XCHG;
    }
}

static uint32_t bytes_of(const Explain *x, PsRef r) {
    const PsOp *op = ps_op(x->f, r);
    bool is_store = op->code == PS_OP_STORE;
    if (op->code != PS_OP_LOAD && !is_store && op->code != PS_OP_VOLATILE && !is_atomic(op->code)) return 0;
    PsType type = is_store ? ps_op(x->f, ps_op_arg(x->f, r, 1))->type : op->type;
    if (!is_in_array(x, r)) return 0;
    return (uint32_t)cg_type_bytes(x->cg, type) * (is_atomic(op->code) ? 2 : 1);
}

static void explain_cost(Explain *x, PsRef r, bool is_serial) {
    PsCodeNote note = {.id = PS_NOTE_COST, .bytes = bytes_of(x, r), .flops = flops_of(x->f, r)};
    uint32_t span = ps_op(x->f, r)->span;
    if (ps_op(x->f, r)->code == PS_OP_PARTIAL) x->reduced[span] = 1;
    if (is_serial && x->reduced[span]) return;
    if (note.bytes || note.flops) add(x, span, note);
}

/* -- all ops -- */

static void explain_call(Explain *x, PsRef r) {
    const PsOp *op = ps_op(x->f, r);
    if (op->imm >= x->cg->m->funcs.len) return;
    say_word(x, r, x->cg->funcs[op->imm].inlined ? PS_NOTE_CALL_EXPANDED : PS_NOTE_CALL, name_of(x, r));
}

static void explain_op(Explain *x, PsRef r, bool in_main) {
    const PsOp *op = ps_op(x->f, r);
    uint32_t home = in_main ? x->cg->homes[r].parfor : 0;
    bool in_lanes = home && x->cg->parfors.data[home - 1].width > 1;
    bool is_access = op->code == PS_OP_LOAD || op->code == PS_OP_STORE;
    bool is_loop = op->code == PS_OP_FOR || op->code == PS_OP_WHILE;
    bool is_far = op->code >= PS_OP_SIN_FAR && op->code <= PS_OP_TAN_FAR;
    explain_cost(x, r, in_main && !home);
    if (in_lanes && (op->code == PS_OP_IF || is_loop)) explain_control(x, r);
    if (in_main && !home && is_loop) say(x, r, PS_NOTE_SERIAL);
    if (in_lanes && is_access && is_in_array(x, r)) explain_access(x, r);
    if (op->code == PS_OP_PARTIAL) say(x, r, PS_NOTE_REDUCTION);
    if (is_atomic(op->code)) explain_atomic(x, r, in_main);
    if (op->code == PS_OP_CALL) explain_call(x, r);
    if (cg_is_math((PsOpCode)op->code) && !is_far) say_word(x, r, PS_NOTE_MATH_CALL, name_of(x, r));
}

/* What the passes said of ops: why an atomic is one counts only if it still is. */
static void explain_passes(Explain *x) {
    const PsModule *m = x->cg->m;
    for (uint32_t i = 0; i < m->notes.len; i++) {
        const PsNote *note = &m->notes.data[i];
        if (note->id >= PS_NOTE_KEPT_USED && note->id <= PS_NOTE_KEPT_MANY) continue;
        add(x, note->span, (PsCodeNote){.id = note->id, .text = with_word(x, note->id, note->word)});
    }
}

void cg_explain(Codegen *cg) {
    const PsModule *m = cg->m;
    Explain x = {.cg = cg,
                 .kept = ps_arena_alloc(cg->arena, sizeof *x.kept * (m->spans.len + 1)),
                 .reduced = ps_arena_alloc(cg->arena, m->spans.len + 1)};
    if (!x.kept || !x.reduced) return;
    for (uint32_t i = 0; i < m->notes.len; i++)
        if (m->notes.data[i].id >= PS_NOTE_KEPT_USED && m->notes.data[i].id <= PS_NOTE_KEPT_MANY)
            x.kept[m->notes.data[i].span] = i + 1;
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        x.f = m->funcs.data[i];
        if (i == 0)
            for (uint32_t k = 0; k < cg->parfors.len; k++) explain_parfor(&x, &cg->parfors.data[k]);
        for (PsRef r = ps_walk_first(x.f); r; r = ps_walk_next(x.f, r)) explain_op(&x, r, i == 0);
    }
    explain_passes(&x);
}
