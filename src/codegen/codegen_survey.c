/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_survey: what must be known before anything is emitted. Of the functions: who can recurse, fault, be inlined.
 * Of main: which of its values and locals each parallel loop needs, hence their frame words; which loops LLVM can make
 * vectors of. Of the whole: which passes are worth running, and whether it may run for long.
 *
 * Not here: which loops are worth vectors (codegen_lanes.c), which loops poll (codegen_poll.c).
 */
#include "codegen/codegen_int.h"

#include "math/math.h"

/* What an op is to the vectoriser, and whether its order matters. */
typedef enum Nature { NATURE_PLAIN, NATURE_SERIAL, NATURE_ORDERED, NATURE_FAULT } Nature;

static const uint8_t natures[PS_OP_COUNT] = {
#define SERIAL(OP, op) [PS_OP_##OP] = NATURE_SERIAL,
    PS_MATH_UNARY(SERIAL) PS_MATH_BINARY(SERIAL) SERIAL(FOR, ) SERIAL(WHILE, ) SERIAL(ATOMIC_ADD, )
        SERIAL(ATOMIC_MUL, ) SERIAL(ATOMIC_MIN, ) SERIAL(ATOMIC_MAX, ) SERIAL(ATOMIC_AND, ) SERIAL(ATOMIC_OR, )
            SERIAL(ATOMIC_XOR, ) SERIAL(ATOMIC_XCHG, ) SERIAL(ATOMIC_CAS, ) SERIAL(VOLATILE, ) SERIAL(ADDRESS, )
#undef SERIAL
                [PS_OP_PRINT] = NATURE_ORDERED,
    [PS_OP_CHECK] = NATURE_FAULT,
    [PS_OP_WARN] = NATURE_SERIAL,
};

/* A loop that LLVM unrolls altogether is no obstacle to vectors of the loop around it. */
#define UNROLLED_TRIPS 8

static bool is_unrolled(const PsFunc *f, const PsOp *loop) {
    uint64_t lo, hi;
    if (loop->nargs != 2 || loop->imm || !ps_op_is_const(f, f->args.data[loop->args], &lo)) return false;
    return ps_op_is_const(f, f->args.data[loop->args + 1], &hi) && hi - lo <= UNROLLED_TRIPS;
}

static Nature nature_of(const PsFunc *f, PsRef r) {
    const PsOp *op = ps_op(f, r);
    uint64_t bits;
    if (op->code == PS_OP_FOR && is_unrolled(f, op)) return NATURE_PLAIN;
    if (op->code >= PS_OP_SIN_FAR && op->code <= PS_OP_TAN_FAR) return NATURE_PLAIN; /* codegen_far.c */
    if (op->code == PS_OP_MOD && ps_type_is_scalar(op->type) && cg_is_float(op->type))
        return NATURE_SERIAL; /* fmod */
    if (op->code == PS_OP_IPOW && !ps_op_is_const(f, ps_op_arg(f, r, 1), &bits)) return NATURE_SERIAL;
    return (Nature)natures[op->code];
}

PsRef cg_owner(const PsFunc *f, PsRef r) {
    PsRegion region = ps_op(f, r)->code == PS_OP_PARAM ? ps_op(f, r)->region0 : ps_op(f, r)->region;
    return region ? ps_region(f, region)->owner : 0;
}

bool cg_is_loop(const PsFunc *f, PsRef r) {
    uint16_t code = ps_op(f, r)->code;
    return code == PS_OP_FOR || code == PS_OP_WHILE || code == PS_OP_PARFOR;
}

/* What LLVM's vectoriser must not see under a condition: it computes a place that iterations share from the first lane alone,
 * and of a division or load that this lane does not take part in there is no value (LLVM 22: `if 4 < i <= a[11 % n]`). */
static bool is_taken_apart(const PsFunc *f, PsRef r) {
    const PsOp *op = ps_op(f, r);
    switch (op->code) {
    case PS_OP_FLOORDIV:
    case PS_OP_MOD:
    case PS_OP_TRUNCDIV:
    case PS_OP_TRUNCMOD: return !cg_is_float(op->type);
    case PS_OP_LOAD: return ps_op(f, ps_place_root(f, ps_op_arg(f, r, 0)))->code != PS_OP_VAR;
    default: return op->code == PS_OP_CALL;
    }
}

static bool is_conditional(const PsFunc *f, PsRef r, PsRef loop) {
    for (PsRef owner = cg_owner(f, r); owner && owner != loop; owner = cg_owner(f, owner))
        if (ps_op(f, owner)->code == PS_OP_IF) return true;
    return ps_op(f, r)->code == PS_OP_CALL; /* may have conditions inside */
}

/* Long bodies are not what it is good at, and it may take for ever over them: its analyses visit the operands of selects
 * without end. */
#define LONG_BODY 100

bool cg_stays_scalar(const PsFunc *f, PsRef loop) {
    PsRef end = ps_walk_skip(f, loop);
    uint32_t size = 0;
    for (PsRef r = ps_walk_next(f, loop); r && r != end; r = ps_walk_next(f, r))
        if (++size > LONG_BODY || (is_taken_apart(f, r) && is_conditional(f, r, loop))) return true;
    return false;
}

/* -- functions -- */

static const FuncInfo *callee_of(const Codegen *cg, const PsOp *op) {
    return op->code == PS_OP_CALL && op->imm < cg->m->funcs.len ? &cg->funcs[op->imm] : NULL;
}

/* An element of a tile at indices that are not constants. */
static bool is_running_elem(const PsFunc *f, PsRef r) {
    uint64_t bits;
    if (ps_op(f, r)->code != PS_OP_ELEM) return false;
    for (uint32_t i = 1; i < ps_op(f, r)->nargs; i++)
        if (!ps_op_is_const(f, ps_op_arg(f, r, i), &bits)) return true;
    return false;
}

static uint64_t bytes_of(const Codegen *cg, const PsOp *op) {
    return op->code == PS_OP_VAR ? cg_type_bytes(cg, ps_type_info(cg->m, op->type)->elem) : 0;
}

/* Whether all callees are known; then what follows for the function. */
static bool survey_func(Codegen *cg, uint32_t index) {
    const PsFunc *f = cg->m->funcs.data[index];
    FuncInfo *info = &cg->funcs[index], sum = {0};
    uint64_t size = 0, locals = 0, below = 0;
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        const FuncInfo *callee = callee_of(cg, ps_op(f, r));
        if (callee && !callee->known) return false;
        Nature nature = nature_of(f, r);
        size += 1 + (callee && callee->inlined ? callee->size : 0);
        locals += bytes_of(cg, ps_op(f, r)) + (callee && callee->inlined ? callee->locals : 0);
        if (callee && callee->chain > below) below = callee->chain;
        sum.lasts |= is_running_elem(f, r) || (callee && (callee->lasts || !callee->inlined));
        sum.faults |= nature == NATURE_FAULT || (callee && callee->faults);
        sum.ordered |= nature >= NATURE_ORDERED || (callee && callee->ordered);
        sum.serial |= nature != NATURE_PLAIN || (callee && (callee->serial || !callee->inlined));
    }
    cg_poll_survey(cg, index);
    sum.polls = info->polls;
    sum.lasting = info->lasting;
    sum.unbounded = info->unbounded;
    sum.degree = info->degree;
    sum.trips = info->trips;
    sum.faults |= sum.lasting;
    sum.known = true;
    sum.size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    sum.chain = locals + below;
    sum.locals = locals > UINT32_MAX ? UINT32_MAX : (uint32_t)locals;
    sum.sites = info->sites;
    sum.inlined =
        sum.size <= CG_INLINE_OPS && locals <= CG_INLINE_LOCALS && size * sum.sites <= CG_INLINE_TOTAL;
    *info = sum;
    return true;
}

/* How deep calls may go. A frame holds at most a few words per op (PS_MAX_DEPTH of them would fill a thread's stack only
 * where functions are very large), so this bound is far from the stack's end. */
#define STACK_BYTES ((uint64_t)4 << 20)
#define FRAME_BYTES 256
#define OP_BYTES    12

static uint32_t max_depth(const Codegen *cg) {
    uint64_t largest = 0;
    for (uint32_t i = 1; i < cg->m->funcs.len; i++) {
        const PsFunc *f = cg->m->funcs.data[i];
        uint64_t size = 0;
        for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
            const FuncInfo *callee = callee_of(cg, ps_op(f, r));
            size += OP_BYTES * (1 + (uint64_t)(callee && callee->inlined ? callee->size : 0));
            size += bytes_of(cg, ps_op(f, r)) + (callee && callee->inlined ? callee->locals : 0);
        }
        if (size > largest) largest = size;
    }
    uint64_t fit = STACK_BYTES / (FRAME_BYTES + largest);
    return fit < PS_MAX_DEPTH ? (uint32_t)fit : PS_MAX_DEPTH;
}

/* Without recursion nothing counts calls: what a call in main may need must be known to fit. */
static void check_chains(Codegen *cg) {
    const PsFunc *f = cg->m->funcs.data[0];
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        const FuncInfo *callee = callee_of(cg, ps_op(f, r));
        if (callee && callee->chain > CG_MAX_CHAIN) cg_too_many_locals(cg, ps_op(f, r)->span, CG_MAX_CHAIN);
    }
}

static void count_sites(Codegen *cg) {
    for (uint32_t i = 0; i < cg->m->funcs.len; i++) {
        const PsFunc *f = cg->m->funcs.data[i];
        for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
            const PsOp *op = ps_op(f, r);
            if (op->code == PS_OP_CALL && op->imm < cg->m->funcs.len) cg->funcs[op->imm].sites++;
        }
    }
}

/* Callees before callers; what remains calls in circles, or calls what does. */
static void survey_funcs(Codegen *cg) {
    uint32_t n = cg->m->funcs.len;
    count_sites(cg);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 1; i < n; i++)
            if (!cg->funcs[i].known && survey_func(cg, i)) more = true;
    }
    for (uint32_t i = 1; i < n; i++) {
        FuncInfo *info = &cg->funcs[i];
        cg->has_inlined |= info->inlined;
        if (info->known) continue;
        cg->has_recursion = true;
        info->recursive = info->faults = info->ordered = info->serial = true;
        cg_poll_survey(cg, i);
    }
    if (cg->has_recursion)
        cg->max_depth = max_depth(cg);
    else
        check_chains(cg);
    cg_poll_survey(cg, 0);
}

/* -- main's parallel loops -- */

static ParforInfo *parfor_at(const Codegen *cg, uint32_t home) {
    return home ? &cg->parfors.data[home - 1] : NULL;
}

static void set_home(Codegen *cg, const PsFunc *f, PsRef r, uint32_t home, uint32_t inside) {
    const PsOp *op = ps_op(f, r);
    cg->homes[r].parfor = home;
    for (uint16_t k = 0; k < op->nregions; k++) {
        const PsRegionInfo *region = ps_region(f, op->region0 + k);
        for (uint32_t i = 0; i < region->nparams; i++) cg->homes[region->params + i].parfor = inside;
    }
}

/* Which parfor each op stands in. A parfor's own operands are main's. */
static bool find_parfors(Codegen *cg, const PsFunc *f) {
    uint32_t inside = 0;
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        uint32_t home = inside;
        if (ps_op(f, r)->region == 1) {
            home = inside = 0;
            if (ps_op(f, r)->code == PS_OP_PARFOR) {
                if (!ps_vec_push(cg->arena, &cg->parfors, (ParforInfo){.ref = r})) return false;
                inside = cg->parfors.len;
            }
        }
        set_home(cg, f, r, home, inside);
    }
    return true;
}

/* What a task makes again instead of loading it. */
static bool is_remade(uint16_t code) {
    return code == PS_OP_CONST || code == PS_OP_ARG || code == PS_OP_DIM || code == PS_OP_BASE ||
           code == PS_OP_STRIDE;
}

/* `user` does something with a local of main, or an element of it: all but reading changes one place in all iterations. */
static void note_use(Codegen *cg, const PsFunc *f, ParforInfo *parfor, PsRef user, PsRef local) {
    uint16_t code = ps_op(f, user)->code;
    if (code == PS_OP_LOAD || code == PS_OP_VOLATILE || code == PS_OP_ADDRESS || code == PS_OP_ELEM) return;
    parfor->serial = true;
    ps_vec_push(cg->arena, &parfor->written, local);
}

/* A value of main that the op `user` in this parfor reads. */
static void capture(Codegen *cg, const PsFunc *f, ParforInfo *parfor, PsRef user, PsRef value) {
    uint32_t home = cg->homes[user].parfor;
    Home *to = &cg->homes[value];
    const PsOp *op = ps_op(f, value);
    if (to->parfor || is_remade(op->code)) return;
    if (!to->word) {
        to->word = cg->next_word + 1;
        cg->next_word += op->code == PS_OP_VAR ? (uint32_t)((bytes_of(cg, op) + 7) / 8) : 1;
    }
    if (op->code == PS_OP_VAR) {
        note_use(cg, f, parfor, user, value);
    } else if (to->captured != home) {
        to->captured = home;
        ps_vec_push(cg->arena, &parfor->captures, value);
    }
}

static void add_slot(Codegen *cg, const PsFunc *f, ParforInfo *parfor, PsRef r) {
    Slot slot = {ps_op_arg(f, r, 0), (PsCombine)ps_op(f, r)->imm, ps_op(f, ps_op_arg(f, r, 1))->type};
    for (uint32_t i = 0; i < parfor->slots.len; i++)
        if (parfor->slots.data[i].var == slot.var && parfor->slots.data[i].combine == slot.combine) return;
    ps_vec_push(cg->arena, &parfor->slots, slot);
}

static void find_captures(Codegen *cg, const PsFunc *f) {
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        ParforInfo *parfor = parfor_at(cg, cg->homes[r].parfor);
        const PsOp *op = ps_op(f, r);
        if (!parfor) continue;
        bool partial = op->code == PS_OP_PARTIAL && op->nargs == 2;
        if (partial) add_slot(cg, f, parfor, r);
        for (uint32_t i = partial; i < op->nargs; i++) {
            PsRef value = ps_op_arg(f, r, i), root = ps_place_root(f, value);
            capture(cg, f, parfor, r, value);
            if (root != value && ps_op(f, root)->code == PS_OP_VAR && !cg->homes[root].parfor)
                note_use(cg, f, parfor, r, root);
        }
    }
}

/* -- what is in them -- */

static void weigh_parfors(Codegen *cg, const PsFunc *f) {
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        ParforInfo *parfor = parfor_at(cg, cg->homes[r].parfor);
        if (!parfor) continue;
        const FuncInfo *callee = callee_of(cg, ps_op(f, r));
        Nature nature = nature_of(f, r);
        if (is_running_elem(f, r)) cg->homes[ps_place_root(f, r)].lasts = true;
        if (callee && (callee->lasts || !callee->inlined))
            for (uint32_t i = 0; i < ps_op(f, r)->nargs; i++)
                cg->homes[ps_place_root(f, ps_op_arg(f, r, i))].lasts = true;
        parfor->size += 1 + (callee && callee->inlined ? callee->size : 0);
        parfor->serial |= nature != NATURE_PLAIN || (callee && (callee->serial || !callee->inlined));
        parfor->ordered |=
            nature >= NATURE_ORDERED || (callee && callee->ordered) || (callee && cg->has_recursion);
    }
    cg->uses = ps_func_count_uses(f);
    for (uint32_t i = 1; i <= cg->parfors.len; i++) {
        ParforInfo *parfor = parfor_at(cg, i);
        if (parfor) parfor->in_order = cg_scatter_in_order(cg, parfor->ref);
    }
    cg_lanes_survey(cg);
    cg_scatter_survey(cg);
    for (uint32_t i = 0; i < cg->parfors.len; i++) {
        ParforInfo *parfor = &cg->parfors.data[i];
        parfor->serial |= cg_stays_scalar(f, parfor->ref);
        cg->has_vector_loops |= !parfor->serial;
    }
}

/* -- the whole -- */

static void survey_ops(Codegen *cg, const PsFunc *f) {
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        const PsOp *op = ps_op(f, r);
        cg->has_vars |= op->code == PS_OP_VAR;
        cg->has_loops |= op->code == PS_OP_FOR || op->code == PS_OP_WHILE;
    }
}

static uint32_t count_params(const PsFunc *f) { return cg_param_word(f, f->params.len); }

void cg_survey(Codegen *cg) {
    const PsFunc *main = cg->m->funcs.data[0];
    cg->out->param_words = cg->result_word0 = count_params(main);
    cg->out->result_words = main->results.len;
    cg->next_word = cg->result_word0 + main->results.len;
    cg->funcs = ps_arena_alloc(cg->arena, sizeof *cg->funcs * (cg->m->funcs.len + 1));
    cg->homes = ps_arena_alloc(cg->arena, sizeof *cg->homes * (main->ops.len + 1));
    if (!cg->funcs || !cg->homes) return;
    survey_funcs(cg);
    if (!find_parfors(cg, main)) return;
    find_captures(cg, main);
    weigh_parfors(cg, main);
    for (uint32_t i = 0; i < cg->m->funcs.len; i++) survey_ops(cg, cg->m->funcs.data[i]);
    cg_poll_conclude(cg);
    cg->out->frame_words = cg->next_word;
    cg->out->ntasks = cg->parfors.len;
}
