/* SPDX-License-Identifier: Apache-2.0
 *
 * The entry: a kernel's tree and what its parameters are in this specialisation -> a module that verifies.
 */
#include "front/loop/loop_int.h"

/* -- the rules, as proxies call them -- */

static PsStatus rule_binary(PsFront *front, PsAstOp op, const PsValue *a, const PsValue *b, PsValue *out) {
    return loop_binary((Loop *)front, op, a, b, out);
}
static PsStatus rule_unary(PsFront *front, PsAstOp op, const PsValue *a, PsValue *out) {
    return loop_unary((Loop *)front, op, a, out);
}
static PsStatus rule_compare(PsFront *front, PsAstOp op, const PsValue *a, const PsValue *b, PsValue *out) {
    return loop_compare((Loop *)front, op, a, b, out);
}
static PsStatus rule_index(PsFront *front, const PsValue *base, const PsValue *index, PsValue *out) {
    PsValue place;
    TRY(loop_index((Loop *)front, base, index, 1, &place));
    *out = loop_load((Loop *)front, &place);
    return PS_OK;
}
static PsStatus rule_attribute(PsFront *front, const PsValue *base, PyObject *name, PsValue *out) {
    PsValue place;
    TRY(loop_attribute((Loop *)front, base, name, &place));
    *out = loop_load((Loop *)front, &place);
    return PS_OK;
}
static PsStatus rule_call(PsFront *front, PyObject *callee, const PsValue *values, uint32_t nargs,
                          PsValue *out) {
    PsValue function, *copy = ps_arena_alloc(front->arena, sizeof *copy * (nargs + 1));
    if (!copy) return PS_NOMEM;
    TRY(ps_value_take(front, Py_NewRef(callee), &function)); /* a proxy may be a method */
    for (uint32_t i = 0; i < nargs; i++) copy[i] = values[i];
    CallArgs args = {.args = copy, .nargs = nargs};
    return loop_call((Loop *)front, &function, &args, out);
}

static const PsRules rules = {rule_binary, rule_unary, rule_compare, rule_index, rule_attribute, rule_call};

/* -- the kernel -- */

typedef struct StructsParam {
    const PsParam *param;
    uint32_t *narg;
} StructsParam;

static PsStatus bind_leaf(Loop *l, void *data, PyObject *object, PsValue *out) {
    const StructsParam *p = data;
    const PsArrayObject *array = (const PsArrayObject *)object;
    PsType type = loop_array_type(l, array->dtype, array->ndim, array->edim, array->unit);
    if (!ps_vec_push(l->front.arena, &loop_b(l)->func->params, type)) return PS_NOMEM;
    PsRef ref = ps_build_op(loop_b(l), PS_OP_ARG, type, NULL, 0, (*p->narg)++);
    *out = loop_array_value(l, ref, type, array->edim, array->shape + array->ndim, object);
    out->clamp = p->param->clamp;
    return PS_OK;
}

static PsStatus bind_structs(Loop *l, const PsParam *param, uint32_t *narg) {
    StructsParam p = {param, narg};
    PsValue value;
    TRY(loop_make_structs(l, param->value, bind_leaf, &p, &value));
    loop_set_given(&value, (uint32_t)(param - l->params));
    return ps_name_bind(&l->front, param->name, PS_BIND_ARGUMENT, &value);
}

static PsStatus bind_parameter(Loop *l, const PsParam *param, uint32_t *narg) {
    PsFunc *main = loop_b(l)->func;
    if (param->kind == PS_PARAM_TEMPLATE) {
        PsValue value;
        TRY(ps_front_check_float(&l->front, param->value, param->name));
        TRY(ps_value_found(&l->front, param->value, &value));
        return ps_name_bind(&l->front, param->name, PS_BIND_ARGUMENT, &value);
    }
    if (param->kind == PS_PARAM_VALUE) {
        PsValue value;
        TRY(loop_form_argument(l, param->form, narg, &value));
        return ps_name_bind(&l->front, param->name, PS_BIND_ARGUMENT, &value);
    }
    if (param->kind == PS_PARAM_OBJECT) {
        PsValue value = {.kind = PS_VALUE_OBJECT, .object = param->value};
        value.count = (uint32_t)(param - l->params);
        return ps_name_bind(&l->front, param->name, PS_BIND_ARGUMENT, &value);
    }
    if (param->kind == PS_PARAM_STRUCTS) return bind_structs(l, param, narg);
    bool array = param->kind != PS_PARAM_SCALAR;
    PsType type =
        array ? loop_array_type(l, param->dtype, param->ndim, param->edim, param->unit) : param->dtype;
    if (!ps_vec_push(l->front.arena, &main->params, type)) return PS_NOMEM;
    PsRef ref = ps_build_op(loop_b(l), PS_OP_ARG, type, NULL, 0, (*narg)++);
    PsValue value = {.kind = PS_VALUE_SCALAR, .ref = ref, .type = type};
    if (array) value = loop_array_value(l, ref, type, param->edim, param->eshape, param->value);
    value.clamp = param->clamp;
    if (array) loop_set_given(&value, (uint32_t)(param - l->params));
    return ps_name_bind(&l->front, param->name, PS_BIND_ARGUMENT, &value);
}

static PsStatus build_kernel(Loop *l, PyObject *function, PsAstTree *tree, const PsParam *params,
                             uint32_t nparams, PyObject *returns) {
    LoopFunc kernel = {.kind = FUNC_KERNEL, .region = 1};
    uint32_t narg = 0;
    Flow flow;
    PsFunc *main = ps_func_new(l->front.module, "main", 4);
    if (!main) return PS_NOMEM;
    *loop_b(l) = ps_builder_at_end(main, 1);
    TRY(ps_front_func_begin(&l->front, &kernel.base, function, tree, (PsSpan){0}));
    l->func = &kernel;
    l->front.func = &kernel.base;
    loop_at(l, tree->function);
    if (tree->function->a) loop_at(l, tree->function->a);
    if (returns) TRY(loop_return_type(l, returns, &kernel));
    loop_at(l, tree->function);
    for (uint32_t i = 0; i < nparams; i++) TRY(bind_parameter(l, &params[i], &narg));
    if (kernel.form) TRY(loop_form_types(l, kernel.form, main));
    TRY(loop_exec_list(l, &tree->function->body, &flow));
    loop_at(l, tree->function);
    if (l->config) {
        l->front.at = l->config_at;
        return FAIL(l, LOOP_CONFIG_UNUSED);
    }
    if (kernel.form && !kernel.returned)
        return loop_tree_returns_value(tree) && flow == FLOW_RETURN ? FAIL(l, RETURN_ENDLESS)
                                                                    : FAIL(l, KERNEL_RETURN_MISSING);
    l->build->result = kernel.form;
    return loop_fields_finish(l);
}

static PsStatus finish(const PsFrontTypes *types, PsBuild *out, const PsParam *params, uint32_t nparams,
                       PsStatus status) {
    if (status) return status;
    if (out->diag.set) return PS_FAIL; /* Python code in between caught what we raised */
    if (ps_arena_failed(&out->arena)) return PS_NOMEM;
    TRY(loop_find_writes(types, out->module, params, nparams, out));
#ifndef NDEBUG
    TRY(ps_ir_verify(out->module, "front", &out->diag));
#endif
    return ps_arena_failed(&out->arena) ? PS_NOMEM : PS_OK;
}

PsStatus ps_loop_build(PsFrontTypes *types, const PsFrontOptions *options, PyObject *function, PsAstTree *tree,
                       const PsParam *params, uint32_t nparams, PyObject *return_annotation,
                       const PsDescriber *describer, PsBuild *out) {
    *out = (PsBuild){0};
    ps_arena_init(&out->arena);
    ps_diag_init(&out->diag, &out->arena);
    out->module = ps_module_new(&out->arena);
    out->writes = ps_arena_alloc(&out->arena, nparams + 1);
    out->pins = ps_arena_alloc(&out->arena, nparams + 1);
    Loop *l = ps_arena_alloc(&out->arena, sizeof *l);
    if (!out->module || !out->writes || !out->pins || !l) return PS_NOMEM;
    out->module->checked = options->checked;
    out->module->overflow = options->checked && options->overflow == PS_OVERFLOW_ERROR;
    out->module->fast_math = options->fast_math;
    out->module->deterministic = options->deterministic;
    l->build = out;
    l->params = params;
    l->nparams = nparams;
    l->describer = describer;
    ps_map_init(&l->hidden_ids, &out->arena);
    ps_map_init(&l->hidden_args, &out->arena);
    ps_map_init(&l->instances, &out->arena);
    ps_map_init(&l->warned, &out->arena);
    PsStatus status = ps_front_begin(&l->front, types, options, out->module, &out->diag, &out->facts, &rules);
    if (!status)
        status = tree ? build_kernel(l, function, tree, params, nparams, return_annotation)
                      : ps_front_no_tree(&l->front, function);
    if (status == PS_PYERR && PyErr_Occurred()) status = ps_front_python_failed(&l->front);
    if (status == PS_FAIL) {
        out->cause = l->front.cause;
        l->front.cause = NULL;
    }
    loop_members_free(l);
    out->pinned = l->front.pinned.data;
    out->npinned = l->front.pinned.len;
    ps_front_end(&l->front);
    status = finish(types, out, params, nparams, status);
    if (ps_arena_failed(&out->arena) || (status == PS_PYERR && !PyErr_Occurred())) status = PS_NOMEM;
    if (status != PS_PYERR) PyErr_Clear();
    return status;
}

void ps_build_free(PsBuild *build) {
    ps_facts_free(&build->facts);
    for (uint32_t i = 0; i < build->nfields; i++) Py_CLEAR(build->fields[i]);
    for (uint32_t i = 0; i < build->nmembers; i++) {
        Py_CLEAR(build->members[i].holder);
        Py_CLEAR(build->members[i].name);
        Py_CLEAR(build->members[i].param.value);
    }
    Py_CLEAR(build->cause);
    ps_arena_free(&build->arena);
    *build = (PsBuild){0};
}
