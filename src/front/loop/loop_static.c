/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops that run while compiling: `for x in ti.static(...)` and comprehensions. Each iteration is a scope of its own; a
 * break or continue is followed while compiling, so it may depend only on what is known then.
 */
#include "front/loop/loop_int.h"

#define MAX_UNROLLED (1u << 18) /* iterations of all static loops of a kernel together */

/* Once per iteration: endless iterators end with a message, and Ctrl-C works. */
static PsStatus count_iteration(Loop *l) {
    if (++l->unrolled > MAX_UNROLLED) return FAIL(l, UNROLL_LIMIT, MAX_UNROLLED);
    if (l->unrolled % 256 == 0 && PyErr_CheckSignals()) return PS_PYERR;
    return PS_OK;
}

static PsStatus give(Loop *l, LoopEach each, void *data, PsValue *value, bool *stop) {
    TRY(count_iteration(l));
    value->is_static = true;
    return each(l, data, value, stop);
}

static PsStatus each_python(Loop *l, PyObject *iterable, LoopEach each, void *data) {
    PyObject *iterator = PyObject_GetIter(iterable), *item;
    bool stop = false;
    PsStatus status = PS_OK;
    if (!iterator) {
        PsValue value = ps_value_python(iterable);
        if (!PyErr_ExceptionMatches(PyExc_TypeError) || l->front.diag->set)
            return ps_front_python_failed(&l->front);
        PyErr_Clear();
        return FAIL(l, STATIC_ITERABLE, loop_describe(l, &value));
    }
    while (!status && !stop && (item = PyIter_Next(iterator))) {
        PsValue value;
        status = ps_value_take(&l->front, item, &value);
        if (!status) status = give(l, each, data, &value, &stop);
    }
    if (!status && PyErr_Occurred()) status = ps_front_python_failed(&l->front);
    Py_DECREF(iterator);
    return status;
}

static PsStatus each_item(Loop *l, const PsValue *tile, LoopEach each, void *data) {
    PsValue *items;
    uint32_t n;
    bool stop = false;
    TRY(loop_items(l, tile, &items, &n));
    for (uint32_t i = 0; i < n && !stop; i++) TRY(give(l, each, data, &items[i], &stop));
    return PS_OK;
}

static PsStatus known_bound(Loop *l, const PsValue *value, int64_t *out) {
    if (value->kind != PS_VALUE_PYTHON || !ps_number_int(value->object, out))
        return FAIL(l, STATIC_RANGE, loop_describe(l, value));
    return PS_OK;
}

/* The indices as a number, a tuple or, for a grouped domain, a vector: all known. */
static PsStatus domain_value(Loop *l, const PsDomain *domain, const int64_t *at, bool grouped, PsValue *out) {
    PyObject *tuple = ps_front_keep(&l->front, PyTuple_New(domain->ndim));
    for (uint32_t i = 0; tuple && i < domain->ndim; i++) {
        PyObject *index = PyLong_FromLongLong(at[i]);
        if (!index) return PS_PYERR;
        PyTuple_SET_ITEM(tuple, i, index);
    }
    if (!tuple) return PS_PYERR;
    if (grouped && domain->ndim)
        return ps_value_take(&l->front, PyObject_CallOneArg((PyObject *)l->front.types->vector, tuple), out);
    *out = ps_value_python(domain->ndim == 1 ? PyTuple_GET_ITEM(tuple, 0) : tuple);
    return PS_OK;
}

static PsStatus each_domain(Loop *l, const PsDomain *domain, bool grouped, LoopEach each, void *data) {
    int64_t lo[PS_MAX_AXES] = {0}, hi[PS_MAX_AXES] = {0}, at[PS_MAX_AXES];
    bool stop = false;
    for (uint32_t i = 0; i < domain->ndim; i++) {
        TRY(known_bound(l, &domain->lo[i], &lo[i]));
        TRY(known_bound(l, &domain->hi[i], &hi[i]));
        at[i] = lo[i];
        if (hi[i] <= lo[i]) return PS_OK;
    }
    while (!stop) {
        PsValue value;
        TRY(domain_value(l, domain, at, grouped, &value));
        TRY(give(l, each, data, &value, &stop));
        uint32_t level = domain->ndim;
        for (; level > 0; level--) { /* the innermost axis first */
            uint32_t axis = domain->axes[level - 1];
            if (++at[axis] < hi[axis]) break;
            at[axis] = lo[axis];
        }
        if (!level) break;
    }
    return PS_OK;
}

PsStatus loop_each(Loop *l, const PsValue *iterable, LoopEach each, void *data) {
    bool grouped = iterable->kind == PS_VALUE_GROUPED;
    const PsValue *inner = grouped ? &iterable->items[0] : iterable;
    switch (inner->kind) {
    case PS_VALUE_PYTHON:
        if (loop_is_array_object(l, inner)) return FAIL(l, STATIC_ITERABLE, loop_describe(l, inner));
        return each_python(l, inner->object, each, data);
    case PS_VALUE_TILE: return each_item(l, inner, each, data);
    case PS_VALUE_NDRANGE: return each_domain(l, inner->domain, grouped, each, data);
    default: return FAIL(l, STATIC_ITERABLE, loop_describe(l, inner));
    }
}

/* -- for x in ti.static(...) -- */

static PsStatus bind_target(Loop *l, PsAst *target, const PsValue *value, bool shadows) {
    PsValue *items;
    uint32_t n;
    loop_at(l, target);
    if (target->kind != PS_AST_TUPLE && target->kind != PS_AST_LIST) {
        if (!shadows)
            TRY(loop_new_name(l, target));
        else if (target->kind != PS_AST_NAME)
            return FAIL(l, LOOP_TARGET);
        return ps_name_bind(&l->front, target->name, PS_BIND_INDEX, value);
    }
    TRY(loop_items(l, value, &items, &n));
    if (n != target->list.len) return FAIL(l, UNPACK_COUNT, target->list.len, n);
    for (uint32_t i = 0; i < n; i++) TRY(bind_target(l, target->list.items[i], &items[i], shadows));
    return PS_OK;
}

typedef struct Unrolled {
    PsAst *node;
    Flow *flow;
} Unrolled;

static PsStatus exec_iteration(Loop *l, void *data, const PsValue *value, bool *stop) {
    Unrolled *u = data;
    uint32_t mark = ps_names_enter(&l->func->base);
    Flow flow = FLOW_NEXT;
    PsStatus status = bind_target(l, u->node->a, value, false);
    if (!status) status = loop_exec_list(l, &u->node->body, &flow);
    ps_names_leave(&l->front, &l->func->base, mark);
    if (!status) loop_at(l, u->node->b); /* what the next value says belongs there */
    *stop = flow == FLOW_BREAK || flow == FLOW_RETURN;
    if (flow == FLOW_RETURN) *u->flow = flow;
    return status;
}

PsStatus loop_exec_static_for(Loop *l, PsAst *node, const PsValue *iterable, Flow *flow) {
    LoopContext context = {.outer = l->func->loops, .kind = LOOP_STATIC, .region = loop_b(l)->region};
    Unrolled unrolled = {node, flow};
    l->func->loops = &context;
    PsStatus status = loop_each(l, iterable, exec_iteration, &unrolled);
    l->func->loops = context.outer;
    return status;
}

/* -- comprehensions -- */

typedef struct Comprehension {
    PsAst *node;
    uint32_t level;
    PyObject *result; /* list or dict */
} Comprehension;

static PsStatus run_level(Loop *l, Comprehension *c);

static PsStatus add_element(Loop *l, Comprehension *c) {
    PyObject *key, *value;
    TRY(loop_eval_python(l, c->node->a, &key));
    if (c->node->kind == PS_AST_LISTCOMP) return PyList_Append(c->result, key) ? PS_PYERR : PS_OK;
    TRY(loop_eval_python(l, c->node->b, &value));
    loop_at(l, c->node->a);
    return PyDict_SetItem(c->result, key, value) ? ps_front_python_failed(&l->front) : PS_OK;
}

static PsStatus run_element(Loop *l, void *data, const PsValue *value, bool *stop) {
    Comprehension c = *(Comprehension *)data;
    PsAst *clause = c.node->list.items[c.level++];
    uint32_t mark = ps_names_enter(&l->func->base);
    int truth = 1;
    (void)stop;
    PsStatus status = bind_target(l, clause->a, value, true);
    for (uint32_t i = 0; !status && truth && i < clause->list.len; i++) {
        PsValue condition;
        status = loop_eval(l, clause->list.items[i], &condition);
        if (!status) status = loop_truth(l, &condition, &truth);
        if (!status && truth < 0)
            status = FAIL(l, STATIC_NEEDED, "a comprehension's condition", loop_describe(l, &condition));
    }
    if (!status && truth) status = run_level(l, &c);
    if (!status) loop_at(l, clause->b);
    ps_names_leave(&l->front, &l->func->base, mark);
    return status;
}

static PsStatus run_level(Loop *l, Comprehension *c) {
    if (c->level == c->node->list.len) return add_element(l, c);
    PsValue iterable;
    PsAst *source = c->node->list.items[c->level]->b;
    TRY(loop_eval(l, source, &iterable));
    loop_at(l, source);
    return loop_each(l, &iterable, run_element, c);
}

PsStatus loop_eval_comprehension(Loop *l, PsAst *node, PsValue *out) {
    bool is_list = node->kind == PS_AST_LISTCOMP;
    Comprehension c = {.node = node,
                       .result = ps_front_keep(&l->front, is_list ? PyList_New(0) : PyDict_New())};
    if (!c.result) return PS_PYERR;
    TRY(run_level(l, &c));
    *out = ps_value_python(c.result);
    return PS_OK;
}
