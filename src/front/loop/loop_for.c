/* SPDX-License-Identifier: Apache-2.0
 *
 * for, break, continue. A for in main's body is parallel, over all axes of its domain at once; anywhere else, and after
 * ti.loop_config(serialize=True), it is a nest of serial loops. A loop over something from ti.static is unrolled.
 */
#include "front/loop/loop_int.h"

typedef struct For {
    PsAst *node;
    PsDomain domain;
    bool grouped, is_ndrange;
    bool once;                /* over an array without axes, whose one index is () */
    PsValue tile;             /* over the elements of a vector, the rows of a matrix: where it lies */
    PsRef index[PS_MAX_AXES]; /* by axis of the domain */
    bool unsigned_axis[PS_MAX_AXES];
} For;

/* -- targets -- */

PsStatus loop_new_name(Loop *l, PsAst *target) {
    if (target->kind != PS_AST_NAME) return FAIL(l, LOOP_TARGET);
    if (!ps_name_find(&l->func->base, target->name) || PyUnicode_CompareWithASCIIString(target->name, "_") == 0)
        return PS_OK;
    const char *name = PyUnicode_AsUTF8(target->name);
    return name ? FAIL(l, LOOP_NAME_TAKEN, name) : PS_PYERR;
}

static PsStatus bind_index(Loop *l, PsAst *target, const PsValue *value) {
    loop_at(l, target);
    TRY(loop_new_name(l, target));
    return ps_name_bind(&l->front, target->name, PS_BIND_INDEX, value);
}

/* A grouped index has one type, the widest of its axes'. */
static PsRef as_wide_as(Loop *l, PsRef index, const For *f) {
    PsType type = PS_I32;
    for (uint32_t i = 0; i < f->domain.ndim; i++) type = loop_promote(type, loop_type_of(l, f->index[i]));
    return ps_build_cast(loop_b(l), index, type);
}

static PsStatus bind_targets(Loop *l, For *f) {
    PsAst *target = f->node->a;
    uint32_t ndim = f->domain.ndim;
    loop_at(l, target);
    if (f->tile.kind) {
        PsValue index = loop_value(l, f->index[0]), item;
        TRY(loop_index_tile(l, &f->tile, &index, 1, &item));
        item = loop_load(l, &item);
        return bind_index(l, target, &item);
    }
    if (f->once) {
        PsValue nothing;
        TRY(ps_value_take(&l->front, PyTuple_New(0), &nothing));
        return bind_index(l, target, &nothing);
    }
    if (f->grouped) {
        if (target->kind == PS_AST_TUPLE) return FAIL(l, GROUPED_TARGETS, target->list.len);
        PsRef index[PS_MAX_AXES];
        for (uint32_t i = 0; i < ndim; i++) index[i] = as_wide_as(l, f->index[i], f);
        PsValue vector = loop_tile(l, loop_vector_type(l, loop_type_of(l, index[0]), ndim), index);
        return bind_index(l, target, &vector);
    }
    if (target->kind == PS_AST_NAME && ndim == 1) {
        PsValue value = loop_value(l, f->index[0]);
        return bind_index(l, target, &value);
    }
    bool sequence = target->kind == PS_AST_TUPLE || target->kind == PS_AST_LIST;
    if (!sequence && target->kind != PS_AST_NAME) return FAIL(l, LOOP_TARGET);
    uint32_t n = sequence ? target->list.len : 1;
    if (n != ndim || !sequence)
        return f->is_ndrange ? FAIL(l, LOOP_NDRANGE_TARGETS, n, ndim) : FAIL(l, LOOP_TARGETS, n, ndim);
    for (uint32_t i = 0; i < n; i++) {
        PsValue value = loop_value(l, f->index[i]);
        TRY(bind_index(l, target->list.items[i], &value));
    }
    return PS_OK;
}

static PsStatus exec_body(Loop *l, For *f, LoopContext *context) {
    Flow flow;
    uint32_t mark = ps_names_enter(&l->func->base);
    context->outer = l->func->loops;
    context->region = loop_b(l)->region;
    l->func->loops = context;
    PsStatus status = bind_targets(l, f);
    if (!status) status = loop_exec_block(l, &f->node->body, &flow);
    l->func->loops = context->outer;
    ps_names_leave(&l->front, &l->func->base, mark);
    return status;
}

/* -- parallel -- */

static PsStatus exec_parallel(Loop *l, For *f) {
    PsRef args[2 * PS_MAX_AXES];
    PsDomain *domain = &f->domain;
    for (uint32_t i = 0; i < domain->ndim; i++) {
        uint32_t axis = domain->has_axes ? domain->axes[i] : i;
        TRY(loop_parallel_bounds(l, &domain->lo[axis], &domain->hi[axis], &args[2 * i], &args[2 * i + 1]));
    }
    PsBuilder *b = loop_b(l), saved = *b;
    PsRef op;
    PsRegion region;
    TRY(loop_build_regions(l, PS_OP_PARFOR, args, 2 * domain->ndim, &op, &region));
    for (uint32_t i = 0; i < domain->ndim; i++)
        f->index[domain->has_axes ? domain->axes[i] : i] = ps_region_add_param(b->func, region, PS_I32);
    LoopContext context = {.kind = LOOP_PARALLEL};
    b->region = region;
    l->parallel = region;
    PsStatus status = exec_body(l, f, &context);
    l->parallel = 0;
    *b = saved;
    return status;
}

/* -- serial -- */

static PsStatus exec_serial_axis(Loop *l, For *f, uint32_t level, PsRef broken, const PsRef *bounds);

/* After the loops inside a nest: a break there ends this one too. */
static PsStatus pass_break_on(Loop *l, PsRef broken) {
    PsBuilder *b = loop_b(l), saved = *b;
    PsRef flag = ps_build_load(b, broken);
    PsRef branch;
    TRY(loop_build_regions(l, PS_OP_IF, &flag, 1, &branch, &b->region));
    ps_build_op(b, PS_OP_BREAK, PS_KIND_NONE, NULL, 0, 0);
    *b = saved;
    return PS_OK;
}

static PsStatus exec_serial_inside(Loop *l, For *f, uint32_t level, PsRef broken, const PsRef *bounds) {
    if (level + 1 == f->domain.ndim) {
        LoopContext context = {.kind = LOOP_SERIAL, .broken = broken};
        return exec_body(l, f, &context);
    }
    TRY(exec_serial_axis(l, f, level + 1, broken, bounds));
    return broken ? pass_break_on(l, broken) : PS_OK;
}

static PsStatus exec_serial_axis(Loop *l, For *f, uint32_t level, PsRef broken, const PsRef *bounds) {
    PsBuilder *b = loop_b(l), saved = *b;
    PsRef op = 0;
    PsRegion region = 0;
    TRY(loop_build_regions(l, PS_OP_FOR, &bounds[2 * level], 2, &op, &region));
    uint32_t axis = f->domain.has_axes ? f->domain.axes[level] : level;
    f->index[axis] = ps_region_add_param(b->func, region, loop_type_of(l, bounds[2 * level]));
    b->region = region;
    if (f->unsigned_axis[axis]) f->index[axis] = loop_flip_order(l, f->index[axis], PS_U64);
    PsStatus status = exec_serial_inside(l, f, level, broken, bounds);
    *b = saved;
    return status;
}

static PsStatus exec_serial(Loop *l, For *f) {
    PsRef bounds[2 * PS_MAX_AXES] = {0}, broken = 0;
    PsDomain *domain = &f->domain;
    for (uint32_t i = 0; i < domain->ndim; i++) {
        uint32_t axis = domain->has_axes ? domain->axes[i] : i;
        PsType type = loop_bounds_type(l, &domain->lo[axis], &domain->hi[axis]);
        for (int end = 0; end < 2; end++) {
            PsRef *bound = &bounds[2 * i + (uint32_t)end];
            TRY(loop_bound_as(l, end ? &domain->hi[axis] : &domain->lo[axis], type, bound));
            if (type == PS_U64) *bound = loop_flip_order(l, *bound, PS_I64);
        }
        f->unsigned_axis[axis] = type == PS_U64;
    }
    /* a break leaves a nest as a whole */
    if (domain->ndim > 1 && loop_has_break(&f->node->body)) broken = ps_build_var(loop_b(l), PS_U1);
    return exec_serial_axis(l, f, 0, broken, bounds);
}

/* -- which kind -- */

static bool is_parallel(Loop *l) {
    PsBuilder *b = loop_b(l);
    return b->func == l->front.module->funcs.data[0] && b->region == 1 && !l->serial;
}

static PsStatus python_range(Loop *l, PyObject *range, PsDomain *out) {
    static const char *const names[] = {"start", "stop", "step"};
    PyObject *parts[3];
    for (int i = 0; i < 3; i++) {
        parts[i] = ps_front_keep(&l->front, PyObject_GetAttrString(range, names[i]));
        if (!parts[i]) return PS_PYERR;
    }
    int64_t step;
    if (!ps_number_int(parts[2], &step) || step != 1) return FAIL(l, RANGE_STEP);
    PsValue bounds[2] = {ps_value_python(parts[0]), ps_value_python(parts[1])};
    CallArgs args = {.args = bounds, .nargs = 2};
    return loop_range_domain(l, &args, out);
}

/* Nothing to count: the body runs once, for the index (). */
static PsStatus once(Loop *l, For *f) {
    PsValue one = ps_value_python(Py_True);
    CallArgs args = {.args = &one, .nargs = 1};
    if (!f->grouped) return FAIL(l, LOOP_NO_AXES);
    f->once = true;
    return loop_range_domain(l, &args, &f->domain);
}

static PsStatus domain_of(Loop *l, PsValue *value, For *f) {
    PsValue *inner = value;
    if (value->kind == PS_VALUE_GROUPED) {
        f->grouped = true;
        inner = &value->items[0];
    }
    TRY(loop_from_outside(l, inner));
    if (inner->kind == PS_VALUE_STRUCTS) *inner = *loop_first_array(inner);
    if (inner->kind == PS_VALUE_ARRAY) {
        TRY(loop_array_domain(l, inner, &f->domain));
        return f->domain.ndim ? PS_OK : once(l, f);
    }
    TRY(loop_known_ndrange(l, inner));
    if (inner->kind == PS_VALUE_NDRANGE) {
        f->domain = *inner->domain;
        if (!f->domain.ndim) return once(l, f);
        f->is_ndrange = !f->domain.is_range;
        return PS_OK;
    }
    if (inner->kind == PS_VALUE_PYTHON && PyRange_Check(inner->object))
        return python_range(l, inner->object, &f->domain);
    if (inner->kind == PS_VALUE_PYTHON && ps_is_numpy(inner->object, "ndarray")) return FAIL(l, CAPTURED_NUMPY);
    return FAIL(l, LOOP_ITERABLE, loop_describe(l, inner));
}

/* for x in v: in order, over a copy, as an assignment in the loop does not change what it runs over. */
static PsStatus tile_domain(Loop *l, const PsValue *value, For *f) {
    PsType type;
    PsRef ref;
    TRY(loop_runtime(l, value, &ref));
    type = loop_type_of(l, ref);
    f->tile = (PsValue){.kind = PS_VALUE_PLACE, .ref = ps_build_var(loop_b(l), type), .type = type};
    ps_build_store(loop_b(l), f->tile.ref, ref);
    PsValue count;
    TRY(ps_value_take(&l->front, PyLong_FromLongLong(loop_tile_axis(l, type, 0)), &count));
    CallArgs args = {.args = &count, .nargs = 1};
    return loop_range_domain(l, &args, &f->domain);
}

PsStatus loop_exec_for(Loop *l, PsAst *node, Flow *flow) {
    For f = {.node = node};
    PsValue iterable;
    bool serialize = l->config && l->serialize;
    l->config = false;
    if (node->orelse.len) return FAIL(l, LOOP_ELSE, "for");
    TRY(loop_eval(l, node->b, &iterable));
    loop_at(l, node->b);
    if (iterable.is_static) return loop_exec_static_for(l, node, &iterable, flow);
    bool tile = loop_is_tile(l, &iterable);
    TRY(tile ? tile_domain(l, &iterable, &f) : domain_of(l, &iterable, &f));
    loop_at(l, node);
    return !tile && is_parallel(l) && !serialize ? exec_parallel(l, &f) : exec_serial(l, &f);
}

/* -- break, continue -- */

PsStatus loop_exec_break(Loop *l, PsAst *node, Flow *flow) {
    (void)node;
    PsBuilder *b = loop_b(l);
    LoopContext *loop = l->func->loops;
    *flow = FLOW_BREAK;
    if (!loop || loop->kind == LOOP_PARALLEL) return FAIL(l, BREAK_PARALLEL);
    if (loop->kind == LOOP_STATIC)
        return loop->region == b->region ? PS_OK : FAIL(l, BREAK_STATIC, "break", "break");
    if (loop->broken) ps_build_store(b, loop->broken, ps_build_int(b, PS_U1, 1));
    ps_build_op(b, PS_OP_BREAK, PS_KIND_NONE, NULL, 0, 0);
    return PS_OK;
}

PsStatus loop_exec_continue(Loop *l, PsAst *node, Flow *flow) {
    (void)node;
    PsBuilder *b = loop_b(l);
    LoopContext *loop = l->func->loops;
    *flow = FLOW_CONTINUE;
    if (loop && loop->kind == LOOP_STATIC)
        return loop->region == b->region ? PS_OK : FAIL(l, BREAK_STATIC, "continue", "continue");
    ps_build_op(b, PS_OP_CONTINUE, PS_KIND_NONE, NULL, 0, 0);
    return PS_OK;
}
