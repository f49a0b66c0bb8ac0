/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_scatter: `grid[cell] += w` in parallel loops. A locked addition takes as long as ten others, and most need no
 * lock: a thread that runs the loop alone meets nobody, and one of several may add to a copy of the array that is its
 * own, as the runtime decides for each loop (rt_scatter.c). So an atomic of a task is
 *
 *     if ts->shared { atomic }
 *     else { plain load, op, store at place + ts->moved }
 *
 * Copies are possible of arrays that the loop adds to, without wanting the old value, and touches in no other way.
 * The runtime gets a list of all arrays that the loop touches, as arguments may overlap.
 *
 * Loops that wait for others (volatile loads, exchanges) keep true atomics; so do functions that are called.
 */
#include "codegen/codegen_int.h"

#define TURNS 8 /* of a loop */
#define MOST  (1 << 20)

/* -- survey -- */

static PsTouch touch_of(PsType type) {
    static const PsTouch ints[9] = {
        [1] = PS_TOUCH_ADD_I8, [2] = PS_TOUCH_ADD_I16, [4] = PS_TOUCH_ADD_I32, [8] = PS_TOUCH_ADD_I64};
    if (type == PS_F32) return PS_TOUCH_ADD_F32;
    if (type == PS_F64) return PS_TOUCH_ADD_F64;
    return type == PS_U1 || cg_is_float(type) ? PS_TOUCH_OTHER : ints[ps_scalar_size(type)];
}

static Touched *find_touched(const ParforInfo *parfor, uint32_t param) {
    for (uint32_t i = 0; i < parfor->touched.len; i++)
        if (parfor->touched.data[i].param == param) return &parfor->touched.data[i];
    return NULL;
}

static void touch(Codegen *cg, ParforInfo *parfor, uint32_t param, PsTouch how, bool updates) {
    Touched *known = find_touched(parfor, param);
    if (known) {
        if (known->how != how) known->how = PS_TOUCH_OTHER;
        known->updated |= updates;
    } else {
        ps_vec_push(cg->arena, &parfor->touched, (Touched){param, how, updates});
    }
}

/* The array parameter that a place is in, or that a value is; -1: none. */
static int64_t param_of(const PsFunc *f, PsRef value) {
    PsKind kind = ps_type_info(f->module, ps_op(f, value)->type)->kind;
    if (kind == PS_KIND_PTR) value = ps_place_root(f, value);
    if (ps_op(f, value)->code == PS_OP_BASE || ps_op(f, value)->code == PS_OP_PLACE)
        value = ps_op_arg(f, value, 0);
    kind = ps_type_info(f->module, ps_op(f, value)->type)->kind;
    return kind == PS_KIND_ARRAY && ps_op(f, value)->code == PS_OP_ARG ? (int64_t)ps_op(f, value)->imm : -1;
}

static bool is_update(const PsOp *op) {
    return cg_atomic_combine((PsOpCode)op->code) && ps_type_is_scalar(op->type);
}

/* What the op does with places; addresses and lengths alone touch nothing. */
static void survey_op(Codegen *cg, const PsFunc *f, ParforInfo *parfor, PsRef r) {
    const PsOp *op = ps_op(f, r);
    if (op->code == PS_OP_PTRADD || op->code == PS_OP_BASE || op->code == PS_OP_STRIDE ||
        op->code == PS_OP_DIM || op->code == PS_OP_PLACE || op->code == PS_OP_ELEM)
        return;
    bool adds = op->code == PS_OP_ATOMIC_ADD && !cg->uses[r] && ps_type_is_scalar(op->type);
    for (uint32_t i = 0; i < op->nargs; i++) {
        int64_t param = param_of(f, ps_op_arg(f, r, i));
        PsTouch how = adds && i == 0 ? touch_of(op->type) : PS_TOUCH_OTHER;
        if (param >= 0) touch(cg, parfor, (uint32_t)param, how, is_update(op) && i == 0);
    }
}

static uint32_t turns_of(const PsFunc *f, PsRef r) {
    uint32_t turns = 1;
    for (PsRef owner = cg_owner(f, r); owner && turns < MOST; owner = cg_owner(f, owner))
        if (cg_is_loop(f, owner) && ps_op(f, owner)->code != PS_OP_PARFOR) turns *= TURNS;
    return turns;
}

/* What is only added to comes first. All atomics must be on such arrays. */
static void conclude(ParforInfo *parfor, bool fixed) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < parfor->touched.len; i++) {
        Touched t = parfor->touched.data[i];
        fixed |= t.how == PS_TOUCH_OTHER && t.updated;
        if (t.how == PS_TOUCH_OTHER) continue;
        parfor->touched.data[i] = parfor->touched.data[n];
        parfor->touched.data[n++] = t;
    }
    if (n <= PS_MAX_SCATTERED && parfor->touched.len <= PS_MAX_TOUCHED && !fixed) parfor->scattered = n;
}

/* Whether it shows in which order atomics are made. Of functions' nobody asks who wants the old value. */
static bool has_order(const Codegen *cg, const PsFunc *f, PsRef r) {
    const PsOp *op = ps_op(f, r);
    bool is_atomic = op->code >= PS_OP_ATOMIC_ADD && op->code <= PS_OP_ATOMIC_CAS;
    return is_atomic &&
           (cg_is_float(ps_type_element(f->module, op->type)) || f != cg->m->funcs.data[0] || cg->uses[r]);
}

static bool any_func_has_order(const Codegen *cg) {
    for (uint32_t i = 1; i < cg->m->funcs.len; i++) {
        const PsFunc *f = cg->m->funcs.data[i];
        for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r))
            if (has_order(cg, f, r)) return true;
    }
    return false;
}

bool cg_scatter_in_order(const Codegen *cg, PsRef parfor) {
    const PsFunc *f = cg->m->funcs.data[0];
    PsRef end = ps_walk_skip(f, parfor);
    bool ordered = false, calls = false;
    if (!cg->m->deterministic || !cg->uses) return false;
    for (PsRef r = ps_walk_next(f, parfor); r && r != end; r = ps_walk_next(f, r)) {
        const PsOp *op = ps_op(f, r);
        if (op->code == PS_OP_VOLATILE) return false; /* iterations that may wait for each other need threads */
        calls |= op->code == PS_OP_CALL;
        ordered |= has_order(cg, f, r);
    }
    return ordered || (calls && any_func_has_order(cg));
}

/* What is seen of the ops of one loop. */
typedef struct Seen {
    bool waits; /* for other iterations: atomics must be some */
    bool fixed; /* has atomics of locals, or calls, which have no copies */
} Seen;

static void survey_in(Codegen *cg, const PsFunc *f, ParforInfo *parfor, PsRef r, Seen *seen) {
    const PsOp *op = ps_op(f, r);
    survey_op(cg, f, parfor, r);
    seen->waits |= op->code == PS_OP_VOLATILE || op->code == PS_OP_ATOMIC_XCHG || op->code == PS_OP_ATOMIC_CAS;
    seen->fixed |= op->code == PS_OP_CALL;
    if (!is_update(op)) return;
    seen->fixed |= param_of(f, ps_op_arg(f, r, 0)) < 0;
    if (parfor->updates < MOST) parfor->updates += turns_of(f, r);
}

/* Which loops have atomics, and whether all of them are on arrays that can have copies. */
void cg_scatter_survey(Codegen *cg) {
    const PsFunc *f = cg->m->funcs.data[0];
    Seen *seen = ps_arena_alloc(cg->arena, sizeof *seen * (cg->parfors.len + 1));
    if (!cg->uses || !seen) return;
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        uint32_t home = cg->homes[r].parfor;
        if (home) survey_in(cg, f, &cg->parfors.data[home - 1], r, &seen[home]);
    }
    for (uint32_t i = 0; i < cg->parfors.len; i++) {
        ParforInfo *parfor = &cg->parfors.data[i];
        if (seen[i + 1].waits) parfor->updates = 0;
        if (parfor->updates) conclude(parfor, seen[i + 1].fixed);
    }
}

void cg_scatter_record(Emitter *e, const ParforInfo *parfor, LLVMValueRef record) {
    Codegen *cg = e->cg;
    const PsFunc *f = e->f;
    uint32_t updates = parfor->in_order ? UINT32_MAX : parfor->updates;
    cg_store_at(e, LLVMConstInt(cg->i32, updates, 0), record, offsetof(PsParfor, updates), 4);
    if (!parfor->updates || parfor->in_order) return;
    cg_store_at(e, LLVMConstInt(cg->i32, parfor->scattered, 0), record, offsetof(PsParfor, scattered), 4);
    if (!parfor->scattered) return;
    cg_store_at(e, LLVMConstInt(cg->i64, parfor->touched.len, 0), record, offsetof(PsParfor, touched), 8);
    for (uint32_t i = 0; i < parfor->touched.len; i++) {
        const Touched *t = &parfor->touched.data[i];
        const PsTypeInfo *info = ps_type_info(f->module, f->params.data[t->param]);
        uint64_t touched =
            ps_touched(cg_param_word(f, t->param), info->ndim, ps_scalar_size(info->elem), t->how);
        cg_store_at(e, LLVMConstInt(cg->i64, touched, 0), record, offsetof(PsParfor, arrays) + 8 * (uint64_t)i,
                    8);
    }
}

/* -- emission -- */

static LLVMValueRef load_early(Emitter *e, LLVMValueRef *known, size_t offset) {
    if (*known) return *known;
    LLVMBuilderRef back = e->b;
    e->b = e->entry;
    *known = cg_load_at(e, e->cg->i64, e->ts, offset, 8);
    e->b = back;
    return *known;
}

/* The place, or the same one in the thread's copy of its array. */
static LLVMValueRef moved_place(Emitter *e, PsRef r, LLVMValueRef place) {
    int64_t param = param_of(e->f, ps_op_arg(e->f, r, 0));
    for (uint32_t i = 0; i < e->parfor->scattered; i++) {
        if ((int64_t)e->parfor->touched.data[i].param != param) continue;
        LLVMValueRef by = load_early(e, &e->moved[i], offsetof(PsTaskState, moved) + 8 * (size_t)i);
        return LLVMBuildGEP2(e->b, e->cg->i8, place, &by, 1, "");
    }
    return place;
}

static LLVMValueRef update_plainly(Emitter *e, PsOpCode code, PsType type, LLVMValueRef place,
                                   LLVMValueRef operand) {
    unsigned size = (unsigned)ps_scalar_size(type);
    LLVMValueRef stored = cg_load_at(e, cg_type_stored(e->cg, type), place, 0, size);
    LLVMValueRef old = cg_from_stored(e, type, stored);
    LLVMValueRef value = cg_binary(e, cg_atomic_combine(code), type, old, operand);
    cg_store_at(e, cg_to_stored(e, type, value), place, 0, size);
    return old;
}

static LLVMValueRef is_alone(Emitter *e) {
    LLVMValueRef shared = load_early(e, &e->shared, offsetof(PsTaskState, shared));
    return LLVMBuildICmp(e->b, LLVMIntEQ, shared, LLVMConstInt(e->cg->i64, 0, 0), "");
}

static LLVMValueRef update_either(Emitter *e, PsRef r, LLVMValueRef place, LLVMValueRef operand) {
    PsOpCode code = (PsOpCode)ps_op(e->f, r)->code;
    PsType type = ps_op(e->f, r)->type;
    LLVMBasicBlockRef alone = cg_block(e, "alone"), lock = cg_block(e, "shared"), done = cg_block(e, "done");
    cg_branch_cold(e, is_alone(e), alone, lock);
    LLVMPositionBuilderAtEnd(e->b, lock);
    LLVMValueRef old[2] = {cg_atomic(e, code, type, place, operand), NULL};
    LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(e->b), NULL};
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, alone);
    old[1] = update_plainly(e, code, type, moved_place(e, r, place), operand);
    from[1] = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    if (!e->cg->uses[r]) return NULL;
    LLVMValueRef both = LLVMBuildPhi(e->b, e->cg->scalars[type], "");
    LLVMAddIncoming(both, old, from, 2);
    return both;
}

LLVMValueRef cg_update(Emitter *e, PsRef r, LLVMValueRef place, LLVMValueRef operand) {
    PsOpCode code = (PsOpCode)ps_op(e->f, r)->code;
    PsType type = ps_op(e->f, r)->type;
    bool must_lock = e->kind != EMIT_TASK || !e->parfor->updates || !cg_atomic_combine(code);
    if (must_lock || e->updates == LOCKED_FORM) return cg_atomic(e, code, type, place, operand);
    if (e->updates == PLAIN_FORM) return update_plainly(e, code, type, moved_place(e, r, place), operand);
    return update_either(e, r, place, operand);
}

/* -- neighbours -- */

#define MOST_TOGETHER 8

/* Updates of neighbours in memory that follow each other, as those of a vector's components do: they share the choice of
 * form, and the plain one loads, adds and stores them as a vector. */
typedef struct Neighbours {
    PsRef ops[MOST_TOGETHER];
    unsigned n;
} Neighbours;

/* A place as another one and the bytes from there to it. */
static PsRef place_before(const PsFunc *f, PsRef place, uint64_t *bytes) {
    uint64_t by;
    *bytes = 0;
    while (ps_op(f, place)->code == PS_OP_PTRADD && ps_op_is_const(f, ps_op_arg(f, place, 1), &by)) {
        *bytes += by;
        place = ps_op_arg(f, place, 0);
    }
    return place;
}

static bool is_next(const Emitter *e, PsRef first, PsRef r, unsigned k) {
    const PsOp *a = ps_op(e->f, first), *b = ps_op(e->f, r);
    uint64_t from, to;
    if (a->code != b->code || a->type != b->type || e->cg->uses[r]) return false;
    PsRef before = place_before(e->f, ps_op_arg(e->f, first, 0), &from);
    return before == place_before(e->f, ps_op_arg(e->f, r, 0), &to) &&
           to - from == k * (uint64_t)ps_scalar_size(a->type);
}

/* Only places and constants, which are no operands of theirs that would be missing yet, may stand between them. */
static Neighbours neighbours_of(const Emitter *e, PsRef first) {
    Neighbours found = {.ops = {first}, .n = 1};
    for (PsRef r = ps_op(e->f, first)->next; r && found.n < MOST_TOGETHER; r = ps_op(e->f, r)->next) {
        uint16_t code = ps_op(e->f, r)->code;
        if (code == PS_OP_PTRADD || code == PS_OP_CONST) continue;
        if (!is_next(e, first, r, found.n)) break;
        found.ops[found.n++] = r;
    }
    return found;
}

static void update_vector(Emitter *e, const Neighbours *all, LLVMValueRef place) {
    const PsOp *op = ps_op(e->f, all->ops[0]);
    PsType type = op->type;
    unsigned size = (unsigned)ps_scalar_size(type);
    LLVMTypeRef vector = LLVMVectorType(e->cg->scalars[type], all->n);
    LLVMValueRef values = LLVMGetPoison(vector), at = moved_place(e, all->ops[0], place);
    for (unsigned i = 0; i < all->n; i++) {
        LLVMValueRef lane = LLVMConstInt(e->cg->i32, i, 0);
        values = LLVMBuildInsertElement(e->b, values, cg_arg(e, all->ops[i], 1), lane, "");
    }
    LLVMValueRef old = cg_load_at(e, vector, at, 0, size);
    cg_store_at(e, cg_binary(e, cg_atomic_combine((PsOpCode)op->code), type, old, values), at, 0, size);
}

static void update_each(Emitter *e, const Neighbours *all, LLVMValueRef place) {
    const PsOp *op = ps_op(e->f, all->ops[0]);
    for (unsigned i = 0; i < all->n; i++)
        cg_atomic(e, (PsOpCode)op->code, op->type, cg_at(e, place, i * (uint64_t)ps_scalar_size(op->type)),
                  cg_arg(e, all->ops[i], 1));
}

bool cg_scatter_together(Emitter *e, PsRef r) {
    const PsOp *op = ps_op(e->f, r);
    bool is_task = e->kind == EMIT_TASK && !cg_in_lanes(e) && e->parfor->updates;
    if (!is_task || e->updates == LOCKED_FORM || e->cg->uses[r]) return false;
    if (!cg_atomic_combine((PsOpCode)op->code) || ps_scalar_size(op->type) < 4) return false;
    Neighbours all = neighbours_of(e, r);
    if (all.n < 2) return false;
    LLVMValueRef place = cg_arg(e, r, 0);
    e->together = all.n - 1;
    if (e->updates == PLAIN_FORM) {
        update_vector(e, &all, place);
        return true;
    }
    LLVMBasicBlockRef alone = cg_block(e, "alone"), lock = cg_block(e, "shared"), done = cg_block(e, "done");
    cg_branch_cold(e, is_alone(e), alone, lock);
    LLVMPositionBuilderAtEnd(e->b, lock);
    update_each(e, &all, place);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, alone);
    update_vector(e, &all, place);
    cg_enter(e, done);
    return true;
}

/* -- rows -- */

#define SMALL_BODY 24 /* ops: what a turn costs besides them counts */
#define UNROLLED   4

bool cg_scatter_splits(const Emitter *e) {
    return e->parfor->updates && e->parfor->size <= SMALL_BODY && !e->parfor->slots.len;
}

static void emit_iteration(Emitter *e, LLVMValueRef index) {
    PsRegion region = ps_op(e->f, e->parfor->ref)->region0;
    const PsRegionInfo *info = ps_region(e->f, region);
    Target target = {.next = cg_block(e, "next")};
    cg_set_index(e, info->params + info->nparams - 1, index);
    e->target = &target;
    cg_emit_region(e, region);
    e->target = NULL;
    cg_enter(e, target.next);
}

static void emit_columns(Emitter *e, LLVMValueRef begin, LLVMValueRef end, unsigned unrolled) {
    Counter c;
    cg_count_begin(e, &c, begin, end, unrolled, true);
    c.id = cg_scalar_loop(e->cg);
    if (cg_poll_each(e, e->parfor->ref)) cg_poll(e);
    for (unsigned i = 0; i < unrolled; i++)
        emit_iteration(e, i ? LLVMBuildNSWAdd(e->b, c.phi, LLVMConstInt(e->cg->i64, i, 0), "") : c.phi);
    cg_count_end(e, &c);
}

/* A small body asks once for the whole row which form it is, and takes several columns a turn in the common one. */
void cg_scatter_row(Emitter *e, LLVMValueRef begin, LLVMValueRef end) {
    LLVMBasicBlockRef alone = cg_block(e, "alone"), lock = cg_block(e, "shared"), done = cg_block(e, "done");
    LLVMTypeRef i64 = e->cg->i64;
    cg_branch_cold(e, is_alone(e), alone, lock);
    LLVMPositionBuilderAtEnd(e->b, lock);
    e->updates = LOCKED_FORM;
    emit_columns(e, begin, end, 1);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, alone);
    e->updates = PLAIN_FORM;
    LLVMValueRef n = LLVMBuildSub(e->b, end, begin, "");
    LLVMValueRef whole = LLVMBuildAnd(e->b, n, LLVMConstInt(i64, ~(uint64_t)(UNROLLED - 1), 0), "");
    LLVMValueRef rest = LLVMBuildAdd(e->b, begin, whole, "");
    emit_columns(e, begin, rest, UNROLLED);
    emit_columns(e, rest, end, 1);
    LLVMBuildBr(e->b, done);
    LLVMPositionBuilderAtEnd(e->b, done);
    e->updates = EITHER_FORM;
}
