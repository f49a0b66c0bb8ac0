/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of ours (fields, ndarrays) that a kernel finds in its surroundings: a global, a closure cell, an attribute, an
 * element of a list. Each becomes a hidden parameter of main, behind those that the user wrote, so that no address and
 * no length is in the code: the launch fills it from the object (PsBuild.fields). A field given to a template()
 * parameter is a parameter like any array; what else the program reads of it while compiling is pinned, so that other
 * fields fit the same code unless they differ there. What is read at each launch (loop_member.c) is handed on in the same
 * way, and so is the place of the stream of random numbers.
 *
 * Functions of the IR see parameters of their own only. While they are built, a hidden array is an `arg` whose number
 * lies beyond HIDDEN; loop_fields_finish gives every function the parameters it and its callees need, and hands them on
 * in calls. That comes last because a func may call one that is still being built.
 */
#include "front/loop/loop_int.h"

#define HIDDEN ((uint64_t)1 << 32)

bool loop_is_array_object(Loop *l, const PsValue *value) {
    return value->kind == PS_VALUE_PYTHON &&
           (ps_is_array(l->front.types, value->object) || ps_is_structs(l->front.types, value->object));
}

/* -- values -- */

PsType loop_array_type(Loop *l, PsType dtype, int ndim, int edim, uint8_t unit) {
    if (unit == PS_UNIT_SOA) return ps_type_array_outer(l->front.module, dtype, ndim + edim, edim);
    return ps_type_array(l->front.module, dtype, ndim + edim, unit == PS_UNIT_C);
}

PsValue loop_array_value(Loop *l, PsRef ref, PsType type, int edim, const int64_t *eshape, PyObject *object) {
    PsModule *m = l->front.module;
    PsValue value = {.kind = PS_VALUE_ARRAY, .ref = ref, .type = type, .object = object};
    if (edim) value.elem = ps_type_tile(m, ps_type_info(m, type)->elem, edim, eshape);
    return value;
}

static PsRef arg_at_start(PsFunc *f, PsType type, uint64_t imm) {
    PsRef first = ps_region(f, 1)->first;
    PsBuilder b = first ? ps_builder_before(f, first) : ps_builder_at_end(f, 1);
    b.span = 0;
    return ps_build_op(&b, PS_OP_ARG, type, NULL, 0, imm);
}

static PsStatus find_hidden(Loop *l, PyObject *object, PsType type, uint32_t *out) {
    uint64_t found;
    if (ps_map_get(&l->hidden_ids, &object, sizeof object, &found)) {
        *out = (uint32_t)found;
        return PS_OK;
    }
    LoopHidden hidden = {ps_front_keep(&l->front, Py_NewRef(object)), type, -1};
    *out = l->hidden.len;
    if (!hidden.object) return PS_PYERR;
    return ps_vec_push(l->front.arena, &l->hidden, hidden) &&
                   ps_map_put(&l->hidden_ids, &object, sizeof object, *out)
               ? PS_OK
               : PS_NOMEM;
}

typedef struct ArgKey { /* of one hidden array in one function */
    PsFunc *func;
    uint64_t hidden;
} ArgKey;

/* A func may have been emptied to be built anew: then what was found is no longer there. */
static bool is_hidden_arg(const PsFunc *f, uint64_t ref, uint64_t imm) {
    return ref < f->ops.len && ps_op(f, (PsRef)ref)->code == PS_OP_ARG && ps_op(f, (PsRef)ref)->imm == imm &&
           ps_op(f, (PsRef)ref)->region == 1;
}

PsStatus loop_hidden_arg(Loop *l, uint32_t hidden, PsRef *out) {
    ArgKey key = {loop_b(l)->func, hidden};
    uint64_t ref;
    if (!ps_map_get(&l->hidden_args, &key, sizeof key, &ref) ||
        !is_hidden_arg(key.func, ref, HIDDEN | hidden)) {
        ref = arg_at_start(key.func, l->hidden.data[hidden].type, HIDDEN | hidden);
        if (!ps_map_put(&l->hidden_args, &key, sizeof key, ref)) return PS_NOMEM;
    }
    *out = (PsRef)ref;
    return PS_OK;
}

PsStatus loop_from_outside(Loop *l, PsValue *value) {
    if (!loop_is_array_object(l, value)) return PS_OK;
    if (ps_is_structs(l->front.types, value->object)) return loop_structs_from_outside(l, value);
    if (!value->looked_up)
        ps_front_pin(&l->front, value->object); /* an element of a container: it stays the same one */
    const PsArrayObject *array = (const PsArrayObject *)value->object;
    PsType type = loop_array_type(l, array->dtype, array->ndim, array->edim, array->unit);
    uint32_t hidden;
    PsRef ref;
    TRY(find_hidden(l, value->object, type, &hidden));
    TRY(loop_hidden_arg(l, hidden, &ref));
    bool is_static = value->is_static;
    *value = loop_array_value(l, ref, type, array->edim, array->shape + array->ndim, value->object);
    value->is_static = is_static;
    return PS_OK;
}

/* -- what is known of a field while compiling -- */

/* Whether what is given for the parameter is the array, or has it as a member. */
static bool is_given(Loop *l, const PsParam *param, const PyObject *array) {
    if (param->kind == PS_PARAM_FIELD) return param->value == array;
    return param->kind == PS_PARAM_STRUCTS && loop_has_leaf(l, param->value, array);
}

void loop_pin(Loop *l, const PsValue *array, uint8_t what) {
    bool given = false;
    for (uint32_t i = 0; array->object && i < l->nparams; i++)
        if (is_given(l, &l->params[i], array->object)) l->build->pins[i] |= what, given = true;
    for (uint32_t i = 0; array->object && i < l->members.len; i++) {
        PsMember *m = &l->members.data[i].base;
        if (is_given(l, &m->param, array->object)) m->pins |= what, given = true;
    }
    if (array->object && !given) ps_front_pin(&l->front, array->object);
}

static bool is_pinned(Loop *l, PyObject *object) {
    for (uint32_t i = 0; i < l->front.pinned.len; i++)
        if (l->front.pinned.data[i] == object) return true;
    return false;
}

/* Facts of arrays whose identity was used follow no more. */
static void settle_facts(Loop *l) {
    PsFacts *facts = l->front.facts;
    for (uint32_t i = 0; i < facts->len; i++)
        if (facts->items[i].found && is_pinned(l, facts->items[i].found))
            facts->items[i].follows = PS_FOLLOWS_NEVER;
}

PsStatus loop_field_attribute(Loop *l, const PsValue *base, const char *name, PyObject *key, PsValue *out,
                              bool *done) {
    static const char *const shown[] = {"n", "m", "element_shape", "name", "layout", "offset"};
    *done = true;
    if (!strcmp(name, "shape") && l->in_static)
        loop_pin(l, base, PS_PIN_SHAPE);
    else if (!strcmp(name, "grad"))
        loop_pin(l, base, PS_PIN_OBJECT);
    else {
        *done = false;
        for (size_t i = 0; i < PS_COUNT(shown); i++) *done |= !strcmp(name, shown[i]);
        if (!*done) return PS_OK;
        if (!strcmp(name, "name") || !strcmp(name, "layout")) loop_pin(l, base, PS_PIN_OBJECT);
    }
    PyObject *found = PyObject_GetAttr(base->object, key);
    if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return ps_value_take(&l->front, found, out);
    PyErr_Clear();
    *done = false;
    return PS_OK;
}

/* -- the end: parameters for what was found -- */

typedef struct Threading {
    Loop *l;
    PsModule *m;
    uint32_t n;       /* hidden arrays */
    bool **uses;      /* [function][hidden] */
    PsRef **args;     /* their ops */
    uint32_t **param; /* and parameters */
} Threading;

static bool threading_init(Threading *t) {
    uint32_t nfuncs = t->m->funcs.len;
    PsArena *arena = t->l->front.arena;
    t->uses = ps_arena_alloc(arena, sizeof *t->uses * nfuncs);
    t->args = ps_arena_alloc(arena, sizeof *t->args * nfuncs);
    t->param = ps_arena_alloc(arena, sizeof *t->param * nfuncs);
    for (uint32_t i = 0; t->uses && t->args && t->param && i < nfuncs; i++) {
        t->uses[i] = ps_arena_alloc(arena, t->n);
        t->args[i] = ps_arena_alloc(arena, sizeof *t->args[i] * t->n);
        t->param[i] = ps_arena_alloc(arena, sizeof *t->param[i] * t->n);
        if (!t->uses[i] || !t->args[i] || !t->param[i]) return false;
    }
    return t->uses && t->args && t->param;
}

static void find_own(Threading *t, uint32_t i) {
    const PsFunc *f = t->m->funcs.data[i];
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        const PsOp *op = ps_op(f, r);
        if (op->code != PS_OP_ARG || op->imm < HIDDEN) continue;
        uint32_t hidden = (uint32_t)(op->imm - HIDDEN);
        t->uses[i][hidden] = true;
        t->args[i][hidden] = r;
    }
}

static bool find_passed(Threading *t, uint32_t i) {
    const PsFunc *f = t->m->funcs.data[i];
    bool changed = false;
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        const PsOp *op = ps_op(f, r);
        if (op->code != PS_OP_CALL || op->imm >= t->m->funcs.len) continue;
        for (uint32_t k = 0; k < t->n; k++) {
            changed |= t->uses[op->imm][k] && !t->uses[i][k];
            t->uses[i][k] |= t->uses[op->imm][k];
        }
    }
    return changed;
}

static bool is_random(const Threading *t, uint32_t k) { return t->l->random_hidden == k + 1; }

/* Arrays that stay with the specialisation come before what is read at each launch. */
static PsStatus add_params(Threading *t, uint32_t i, bool members) {
    PsFunc *f = t->m->funcs.data[i];
    for (uint32_t k = 0; k < t->n; k++) {
        if (!t->uses[i][k] || (t->l->hidden.data[k].member >= 0) != members) continue;
        if (i == 0 && is_random(t, k)) continue; /* main has streams of its own */
        PsType type = t->l->hidden.data[k].type;
        t->param[i][k] = f->params.len;
        if (!ps_vec_push(t->l->front.arena, &f->params, type)) return PS_NOMEM;
        if (!t->args[i][k]) t->args[i][k] = arg_at_start(f, type, 0);
        ps_op(f, t->args[i][k])->imm = t->param[i][k];
    }
    return PS_OK;
}

static PsStatus extend_call(Threading *t, uint32_t i, PsRef call) {
    PsFunc *f = t->m->funcs.data[i];
    PsArena *arena = t->l->front.arena;
    PsRef stream = 0;
    if (i == 0 && t->l->random_hidden && t->uses[ps_op(f, call)->imm][t->l->random_hidden - 1])
        TRY(loop_random_stream(t->l, call, &stream)); /* may add ops: before the arguments are copied */
    PsOp *op = ps_op(f, call);
    uint32_t at = f->args.len, callee = (uint32_t)op->imm, n = op->nargs;
    for (uint32_t k = 0; k < n; k++) {
        PsRef arg = f->args.data[op->args + k];
        if (!ps_vec_push(arena, &f->args, arg)) return PS_NOMEM;
    }
    for (uint32_t k = 0; k < t->n; k++) {
        if (!t->uses[callee][k]) continue;
        PsRef arg = stream && is_random(t, k) ? stream : t->args[i][k];
        if (!ps_vec_push(arena, &f->args, arg)) return PS_NOMEM;
        n++;
    }
    op->args = at;
    op->nargs = n;
    return PS_OK;
}

static bool uses_any(const Threading *t, uint64_t func) {
    for (uint32_t k = 0; k < t->n; k++)
        if (t->uses[func][k]) return true;
    return false;
}

static PsStatus extend_calls(Threading *t, uint32_t i) {
    const PsFunc *f = t->m->funcs.data[i];
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        const PsOp *op = ps_op(f, r);
        if (op->code == PS_OP_CALL && op->imm < t->m->funcs.len && uses_any(t, op->imm))
            TRY(extend_call(t, i, r));
    }
    return PS_OK;
}

/* A vector that is read in part is given whole. */
static void use_whole_members(Threading *t) {
    const LoopHidden *hidden = t->l->hidden.data;
    for (uint32_t k = 0; k < t->n; k++) /* the scalars of a member stand side by side */
        if (k && hidden[k].member >= 0 && hidden[k].member == hidden[k - 1].member)
            t->uses[0][k] |= t->uses[0][k - 1];
    for (uint32_t k = t->n; k-- > 1;)
        if (hidden[k].member >= 0 && hidden[k].member == hidden[k - 1].member)
            t->uses[0][k - 1] |= t->uses[0][k];
}

static PsStatus hand_out(Threading *t) {
    PsBuild *build = t->l->build;
    build->fields = ps_arena_alloc(t->l->front.arena, sizeof *build->fields * t->n);
    if (!build->fields) return PS_NOMEM;
    for (uint32_t k = 0; k < t->n; k++) {
        const LoopHidden *hidden = &t->l->hidden.data[k];
        if (!t->uses[0][k] || is_random(t, k)) continue;
        if (hidden->member >= 0)
            t->l->members.data[hidden->member].base.used = true;
        else
            build->fields[build->nfields++] = Py_NewRef(hidden->object);
    }
    return PS_OK;
}

static PsStatus hand_out_members(Loop *l) {
    PsBuild *build = l->build;
    build->members = ps_arena_alloc(l->front.arena, sizeof *build->members * (l->members.len + 1));
    if (!build->members) return PS_NOMEM;
    for (uint32_t i = 0; i < l->members.len; i++) {
        build->members[i] = l->members.data[i].base;
        build->members[i].param.given = build->members[i].param.annotation = NULL; /* of the build only */
    }
    build->nmembers = l->members.len;
    l->members.len = 0;
    return PS_OK;
}

PsStatus loop_fields_finish(Loop *l) {
    Threading t = {.l = l, .m = l->front.module, .n = l->hidden.len};
    uint32_t nfuncs = t.m->funcs.len;
    bool changed = true;
    settle_facts(l);
    if (!t.n) return hand_out_members(l);
    if (!threading_init(&t)) return PS_NOMEM;
    for (uint32_t i = 0; i < nfuncs; i++) find_own(&t, i);
    while (changed) {
        changed = false;
        for (uint32_t i = nfuncs; i-- > 0;) changed |= find_passed(&t, i);
    }
    use_whole_members(&t);
    for (uint32_t i = 0; i < nfuncs; i++) {
        TRY(add_params(&t, i, false));
        TRY(add_params(&t, i, true));
    }
    for (uint32_t i = 0; i < nfuncs; i++) TRY(extend_calls(&t, i));
    TRY(hand_out(&t));
    return hand_out_members(l);
}
