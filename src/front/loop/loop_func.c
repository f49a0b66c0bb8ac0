/* SPDX-License-Identifier: Apache-2.0
 *
 * Funcs. Most are built once for the types of their arguments and called. Expanded in place are those that
 *   - take a number, vector or matrix of the caller by reference (template()), or values that exist only while compiling
 *     (tuples, ...); structs are passed member by member (loop_pass.c);
 *   - return such values, but for tuples of what can be passed;
 *   - are called at the kernel's top level and contain a for, which is parallel there, or call at their outermost
 *     level what contains one;
 *   - are a single return: the call would cost more than the expression.
 * The result has the same bits either way: arguments and results pass through locals, so no expression reaches across.
 */
#include "front/loop/loop_int.h"

#include <stdio.h>

#include <string.h>

#define MAX_EXPANSIONS 64 /* of one func inside itself */

typedef struct FuncCall {
    PsFuncObject *func;
    PsAstTree *tree;
    const char *name;
    BoundArg *args;
    uint32_t nargs;
    PyObject *returns; /* annotation or NULL */
} FuncCall;

/* -- entering and leaving -- */

typedef struct Saved {
    LoopFunc *func;
    PsBuilder b;
    PsRegion parallel;
    int serial;
    bool config, in_static;
    PsSpan at, value_at;
} Saved;

static PsStatus enter(Loop *l, FuncCall *call, LoopFunc *func, Saved *saved) {
    *saved =
        (Saved){l->func, *loop_b(l), l->parallel, l->serial, l->config, l->in_static, l->front.at, l->value_at};
    if (!ps_vec_push(l->front.arena, &l->front.diag->calls, l->front.at)) return PS_NOMEM;
    PsSpan at = func->kind == FUNC_INLINE ? l->front.at : (PsSpan){0};
    TRY(ps_front_func_begin(&l->front, &func->base, call->func->function, call->tree, at));
    l->func = func;
    l->front.func = &func->base;
    l->config = l->in_static = false;
    l->value_at = (PsSpan){0};
    PyObject *returns = call->returns;
    loop_at(l, call->tree->function->a ? call->tree->function->a : call->tree->function);
    if (returns && PyUnicode_Check(returns) && call->tree->function->a) /* from __future__ import annotations */
        TRY(loop_eval_python(l, call->tree->function->a, &returns));
    return loop_return_type(l, returns, func);
}

static PsStatus return_missing(Loop *l, const FuncCall *call) {
    loop_at(l, call->tree->function);
    if (!loop_tree_returns_value(call->tree)) return FAIL(l, RETURN_NEVER);
    return FAIL(l, RETURN_MISSING, call->name);
}

static void leave(Loop *l, const Saved *saved, bool failed) {
    l->func = saved->func;
    l->front.func = &saved->func->base;
    *loop_b(l) = saved->b;
    l->parallel = saved->parallel;
    l->serial = saved->serial;
    l->config = saved->config;
    l->in_static = saved->in_static;
    l->value_at = saved->value_at;
    if (!failed) l->front.at = saved->at;
    l->front.diag->calls.len--;
}

/* -- in place -- */

static bool is_plain(Loop *l, PsRef ref) {
    switch (ps_op(loop_b(l)->func, ref)->code) {
    case PS_OP_CONST:
    case PS_OP_ARG:
    case PS_OP_PARAM:
    case PS_OP_DIM:
    case PS_OP_LOAD: return true;
    default: return false;
    }
}

/* A parameter by value: a local of its own when the func may change it or the argument is an expression. */
static PsStatus bind_scalar(Loop *l, FuncCall *call, const BoundArg *arg, PsRef ref) {
    if (loop_param_assigned(call->tree, arg->param->name) || !is_plain(l, ref))
        return loop_new_local(l, arg->param->name, ref);
    PsValue value = loop_value(l, ref);
    return ps_name_bind(&l->front, arg->param->name, PS_BIND_CONSTANT, &value);
}

/* A struct comes as it is, so a method can change self; as one of an annotated type it is a copy. */
static PsStatus bind_struct(Loop *l, const BoundArg *arg) {
    PsValue typed, local;
    if (!arg->structure || arg->is_template)
        return ps_name_bind(&l->front, arg->param->name, PS_BIND_REFERENCE, &arg->value);
    TRY(loop_struct_as(l, arg->structure, &arg->value, &typed));
    TRY(loop_struct_local(l, &typed, &local));
    return ps_name_bind(&l->front, arg->param->name, PS_BIND_LOCAL, &local);
}

static PsStatus bind_inline(Loop *l, FuncCall *call, const BoundArg *arg) {
    PsRef ref;
    loop_at(l, arg->param);
    if (loop_is_struct(l, &arg->value)) return bind_struct(l, arg);
    if (arg->is_template) return ps_name_bind(&l->front, arg->param->name, PS_BIND_REFERENCE, &arg->value);
    if (!loop_element(l, &arg->value))
        return ps_name_bind(&l->front, arg->param->name, PS_BIND_CONSTANT, &arg->value);
    TRY(arg->type ? loop_store_value(l, &arg->value, arg->type, "Argument", &ref)
                  : loop_runtime(l, &arg->value, &ref));
    return bind_scalar(l, call, arg, ref);
}

static uint32_t count_expanding(Loop *l, PsFuncObject *func) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->expanding.len; i++) n += l->expanding.data[i] == (PyObject *)func;
    return n;
}

static PsStatus expand(Loop *l, FuncCall *call, PsValue *out) {
    LoopFunc func = {.kind = FUNC_INLINE, .region = loop_b(l)->region};
    Saved saved;
    Flow flow;
    if (count_expanding(l, call->func) >= MAX_EXPANSIONS) return FAIL(l, RECURSION, call->name, MAX_EXPANSIONS);
    if (!ps_vec_push(l->front.arena, &l->expanding, (PyObject *)call->func)) return PS_NOMEM;
    PsStatus status = enter(l, call, &func, &saved);
    for (uint32_t i = 0; !status && i < call->nargs; i++) status = bind_inline(l, call, &call->args[i]);
    if (!status) status = loop_exec_list(l, &call->tree->function->body, &flow);
    if (!status && func.annotated && !func.returned) status = return_missing(l, call);
    *out = func.returned ? func.result : ps_value_python(Py_None);
    leave(l, &saved, status != PS_OK);
    l->expanding.len--;
    return status;
}

/* -- built once -- */

static bool is_tile(Loop *l, PsType type) { return ps_type_info(l->front.module, type)->kind == PS_KIND_TILE; }

static PsType param_type(Loop *l, const BoundArg *arg) {
    if (arg->value.kind == PS_VALUE_ARRAY) return arg->value.type;
    if (arg->is_template && arg->value.kind == PS_VALUE_PYTHON) return PS_KIND_NONE;
    PsType type = loop_tile_type(l, &arg->value);
    if (!type) type = loop_numeric(l, &arg->value);
    return type && arg->type ? arg->type : type;
}

static PsStatus key_of(Loop *l, const BoundArg *arg, LoopKey *out) {
    const PsValue *value = &arg->value;
    PsType type = param_type(l, arg);
    bool array = value->kind == PS_VALUE_ARRAY;
    KeyPart part = {value->clamp ? PASS_CLAMPED : PASS_TYPE, type | (uint64_t)(array ? value->elem : 0) << 32,
                    array ? (uint64_t)(uintptr_t)value->object : 0};
    if (value->kind == PS_VALUE_STRUCT || value->kind == PS_VALUE_STRUCTS || loop_is_view(value))
        return loop_pass_key(l, value, out);
    if (value->kind == PS_VALUE_OBJECT)
        part = (KeyPart){PASS_ARGUMENT, value->count, 0};
    else if (!type)
        part = (KeyPart){PASS_OBJECT, (uint64_t)(uintptr_t)value->object, 0};
    return ps_vec_push(l->front.arena, out, part) ? PS_OK : PS_NOMEM;
}

static PsStatus find_instance(Loop *l, FuncCall *call, Instance **out) {
    LoopKey key = {0};
    KeyPart func = {PASS_FUNC, (uint64_t)(uintptr_t)call->func, 0};
    uint64_t found;
    if (!ps_vec_push(l->front.arena, &key, func)) return PS_NOMEM;
    for (uint32_t i = 0; i < call->nargs; i++) TRY(key_of(l, &call->args[i], &key));
    size_t size = sizeof *key.data * key.len;
    if (ps_map_get(&l->instances, key.data, size, &found)) {
        *out = (Instance *)(uintptr_t)found;
        return PS_OK;
    }
    *out = ps_arena_alloc(l->front.arena, sizeof **out);
    return *out && ps_map_put(&l->instances, key.data, size, (uint64_t)(uintptr_t)*out) ? PS_OK : PS_NOMEM;
}

static PsFunc *new_func(Loop *l, FuncCall *call, Instance *instance) {
    PsModule *m = l->front.module;
    char text[80];
    size_t n = 0;
    for (const char *c = call->name; *c && n < 48; c++)
        text[n++] = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ? *c : '_';
    n += (size_t)snprintf(text + n, sizeof text - n, ".%u",
                          ++l->made); /* unique, also when one is dropped again */
    instance->index = m->funcs.len;
    return ps_func_new(m, text, n);
}

static bool is_top_level(Loop *l) {
    PsBuilder *b = loop_b(l);
    return b->func == l->front.module->funcs.data[0] && b->region == 1 && !l->serial;
}

/* Here is the kernel's top level, or will be when the func around is expanded. */
static bool may_become_top_level(Loop *l) {
    bool outermost = l->func->kind == FUNC_CALLED && loop_b(l)->region == l->func->region && !l->serial;
    return is_top_level(l) || (outermost && l->func->at_top);
}

static void empty_func(PsFunc *f) {
    f->params.len = f->results.len = 0;
    f->ops.len = f->args.len = 1;
    f->regions.len = 2;
    f->regions.data[1] = (PsRegionInfo){0};
}

/* By reference; of an annotated type a copy. */
static PsStatus bind_struct_param(Loop *l, const BoundArg *arg) {
    PsValue value, local;
    TRY(loop_pass_param(l, &arg->value, &value));
    if (!arg->structure || arg->is_template)
        return ps_name_bind(&l->front, arg->param->name, PS_BIND_REFERENCE, &value);
    TRY(loop_struct_local(l, &value, &local));
    return ps_name_bind(&l->front, arg->param->name, PS_BIND_LOCAL, &local);
}

static PsStatus bind_param(Loop *l, FuncCall *call, PsFunc *f, const BoundArg *arg) {
    PsType type = param_type(l, arg);
    loop_at(l, arg->param);
    if (loop_is_struct(l, &arg->value)) return bind_struct_param(l, arg);
    if (arg->value.kind == PS_VALUE_STRUCTS || loop_is_view(&arg->value)) {
        PsValue value;
        TRY(loop_pass_param(l, &arg->value, &value));
        return ps_name_bind(&l->front, arg->param->name, PS_BIND_REFERENCE, &value);
    }
    PsBindKind kind = arg->is_template ? PS_BIND_REFERENCE : PS_BIND_CONSTANT;
    if (!type) return ps_name_bind(&l->front, arg->param->name, kind, &arg->value);
    bool is_array = arg->value.kind == PS_VALUE_ARRAY;
    PsType passed = is_tile(l, type) ? ps_type_ptr(l->front.module, type) : type;
    PsRef ref = ps_build_op(loop_b(l), PS_OP_ARG, passed, NULL, 0, f->params.len);
    if (!ps_vec_push(l->front.arena, &f->params, passed)) return PS_NOMEM;
    if (passed != type) ref = ps_build_load(loop_b(l), ref);
    if (!is_array && !arg->is_template) return bind_scalar(l, call, arg, ref);
    PsValue value = loop_value(l, ref);
    if (is_array) {
        value = (PsValue){.kind = PS_VALUE_ARRAY, .ref = ref, .type = type};
        value.elem = arg->value.elem;
        value.object = arg->value.object;
        value.clamp = arg->value.clamp;
    }
    return ps_name_bind(&l->front, arg->param->name, kind, &value);
}

static PsStatus build_body(Loop *l, FuncCall *call, PsFunc *f, Instance *instance) {
    Flow flow;
    for (uint32_t i = 0; i < call->nargs; i++) TRY(bind_param(l, call, f, &call->args[i]));
    TRY(loop_exec_list(l, &call->tree->function->body, &flow));
    if (flow != FLOW_RETURN && (instance->returns || l->func->annotated || instance->shape.kind)) {
        if (!l->func->real || !instance->returns || instance->shape.kind) return return_missing(l, call);
        loop_at(l, call->tree->function);
        TRY(loop_return_by_falling_off(l));
    }
    if (!instance->returns) return PS_OK;
    if (instance->shape.kind) return loop_parts_params(l, &instance->shape, f);
    if (is_tile(l, instance->result)) /* comes back through a place of the caller's */
        return ps_vec_push(l->front.arena, &f->params, ps_type_ptr(l->front.module, instance->result))
                   ? PS_OK
                   : PS_NOMEM;
    return ps_vec_push(l->front.arena, &f->results, instance->result) ? PS_OK : PS_NOMEM;
}

static PsStatus build_once(Loop *l, FuncCall *call, PsFunc *f, Instance *instance) {
    LoopFunc func = {.kind = FUNC_CALLED, .region = 1, .instance = instance};
    func.real = call->func->flags & PS_FUNC_REAL;
    func.early = loop_tree_returns_early(call->tree);
    func.at_top = !func.real && may_become_top_level(l) && !count_expanding(l, call->func) && !func.early;
    Saved saved;
    PsStatus status = enter(l, call, &func, &saved);
    PsSpan at = l->front.at;
    *loop_b(l) = ps_builder_at_end(f, 1);
    l->parallel = 0;
    l->front.at = at;
    if (func.annotated) instance->result = func.annotated;
    if (!status && !instance->shape.kind) status = loop_annotated_shape(l, func.form, &instance->shape);
    if (!status) status = build_body(l, call, f, instance);
    leave(l, &saved, status != PS_OK);
    return status;
}

/* Builds until the result's type holds all returns. INSTANCE_INLINE afterwards: it must be expanded instead. */
static PsStatus build_instance(Loop *l, FuncCall *call, Instance *instance) {
    PsFunc *f = new_func(l, call, instance);
    PsStatus status;
    bool spreads = instance->spreads, again;
    if (!f) return PS_NOMEM;
    do {
        *instance = (Instance){.state = INSTANCE_BUILDING,
                               .index = instance->index,
                               .result = instance->widen,
                               .shape = instance->widen_shape,
                               .spreads = spreads};
        empty_func(f);
        status = build_once(l, call, f, instance);
        again = status == PS_FAIL && (instance->widen || instance->widen_shape.kind) && !l->front.diag->set;
        if (again && instance->recursive) return FAIL(l, RECURSIVE_RESULT, call->name);
    } while (again);
    if (status == PS_FAIL && instance->state != INSTANCE_BUILDING && !l->front.diag->set) {
        empty_func(f);
        if (instance->index + 1 == l->front.module->funcs.len) l->front.module->funcs.len--;
        return PS_OK;
    }
    if (!status) instance->state = INSTANCE_DONE;
    return status;
}

static PsStatus add_ref(Loop *l, LoopRefs *refs, PsRef ref) {
    return ps_vec_push(l->front.arena, refs, ref) ? PS_OK : PS_NOMEM;
}

static PsStatus pass_arg(Loop *l, const BoundArg *arg, LoopRefs *out) {
    PsType type = param_type(l, arg);
    PsRef ref;
    if (loop_is_struct(l, &arg->value) || arg->value.kind == PS_VALUE_STRUCTS || loop_is_view(&arg->value))
        return loop_pass_args(l, &arg->value, out);
    if (!type) return PS_OK;
    if (arg->value.kind == PS_VALUE_ARRAY) return add_ref(l, out, arg->value.ref);
    TRY(loop_store_value(l, &arg->value, type, "Argument", &ref));
    return add_ref(l, out, is_tile(l, type) ? loop_in_memory(l, ref) : ref);
}

static PsStatus emit_call(Loop *l, FuncCall *call, Instance *instance, PsValue *out) {
    PsBuilder *b = loop_b(l);
    LoopRefs args = {0};
    for (uint32_t i = 0; i < call->nargs; i++) TRY(pass_arg(l, &call->args[i], &args));
    uint32_t n = args.len;
    bool place = !instance->shape.kind && is_tile(l, instance->result);
    if (instance->shape.kind) TRY(loop_parts_args(l, &instance->shape, &args));
    if (place) TRY(add_ref(l, &args, ps_build_var(b, instance->result)));
    PsType type = place || instance->shape.kind ? PS_KIND_NONE : instance->result;
    PsRef result = ps_build_op(b, PS_OP_CALL, type, args.data, args.len, instance->index);
    const PsRef *places = args.data + n;
    if (instance->shape.kind) return loop_parts_result(l, &instance->shape, &places, out);
    if (place) result = ps_build_load(b, *places);
    *out = instance->result ? loop_value(l, result) : ps_value_python(Py_None);
    return PS_OK;
}

/* A call of a func that is being built: its result must be known already. */
static PsStatus check_recursive(Loop *l, FuncCall *call, Instance *instance) {
    if (instance->state != INSTANCE_BUILDING) return PS_OK;
    instance->recursive = true;
    if (instance->result || instance->shape.kind || !loop_tree_returns_value(call->tree)) return PS_OK;
    return FAIL(l, RECURSIVE_RESULT, call->name);
}

/* -- which way -- */

/* Arguments that no function of the IR can take. */
static bool needs_place(Loop *l, const BoundArg *arg) {
    switch (arg->value.kind) {
    case PS_VALUE_SCALAR:
    case PS_VALUE_TILE:
    case PS_VALUE_OBJECT:
    case PS_VALUE_ARRAY: return false;
    case PS_VALUE_PLACE: return arg->is_template;
    case PS_VALUE_STRUCT:
    case PS_VALUE_STRUCTS: return !loop_can_pass(l, &arg->value);
    case PS_VALUE_PYTHON: return loop_is_struct(l, &arg->value) || loop_holds_proxies(l, &arg->value);
    default: return true;
    }
}

static bool is_expression(const PsAstTree *tree) {
    const PsAstList *body = &tree->function->body;
    uint32_t first = 0;
    while (first < body->len && body->items[first]->kind == PS_AST_EXPR &&
           body->items[first]->a->kind == PS_AST_CONSTANT)
        first++;
    return first + 1 == body->len && body->items[first]->kind == PS_AST_RETURN;
}

static bool must_expand(Loop *l, FuncCall *call) {
    for (uint32_t i = 0; i < call->nargs; i++)
        if (needs_place(l, &call->args[i])) return true;
    return loop_tree_returns_container(call->tree);
}

static bool prefers_expansion(Loop *l, FuncCall *call) {
    if (count_expanding(l, call->func) || call->func->flags & PS_FUNC_REAL) return false;
    if (is_expression(call->tree)) return true;
    return is_top_level(l) && loop_tree_has_for(call->tree) && !loop_tree_returns_early(call->tree);
}

static bool has_loops(const FuncCall *call) {
    bool wanted = call->func->flags & PS_FUNC_TOP_LEVEL;
    return wanted || (loop_tree_has_for(call->tree) && !loop_tree_returns_early(call->tree));
}

/* The call of what has loops for the kernel's top level stands in a func built once. Where that could be expanded
 * instead it will be: building it ends here, and says so. */
static PsStatus spread(Loop *l) {
    Instance *outer = l->func->instance;
    if (l->func->kind != FUNC_CALLED || loop_b(l)->region != l->func->region || l->serial) return PS_OK;
    outer->spreads = true;
    if (!l->func->at_top) return PS_OK;
    outer->state = INSTANCE_NEW;
    return PS_FAIL;
}

/* Structs for parameters of a struct type: their values, wherever they lie. */
static PsStatus load_structs(Loop *l, FuncCall *call) {
    for (uint32_t i = 0; i < call->nargs; i++) {
        BoundArg *arg = &call->args[i];
        if (arg->value.kind == PS_VALUE_STRUCT) TRY(loop_pass_open(l, &arg->value));
        if (!arg->structure || arg->is_template || arg->value.kind != PS_VALUE_STRUCT) continue;
        TRY(loop_struct_as(l, arg->structure, &arg->value, &arg->value));
        arg->value = loop_load(l, &arg->value);
    }
    return PS_OK;
}

static PsStatus call_either_way(Loop *l, FuncCall *call, PsValue *out) {
    Instance *instance;
    bool top = is_top_level(l);
    TRY(load_structs(l, call));
    if (has_loops(call)) TRY(spread(l));
    if (call->func->flags & PS_FUNC_TOP_LEVEL && !top) return FAIL(l, TOP_LEVEL_FUNC, call->name);
    if (must_expand(l, call) || prefers_expansion(l, call)) return expand(l, call, out);
    TRY(find_instance(l, call, &instance));
    bool expandable = top && !count_expanding(l, call->func) && !loop_tree_returns_early(call->tree);
    if (!instance->state && !(expandable && instance->spreads)) TRY(build_instance(l, call, instance));
    if (instance->spreads) TRY(spread(l));
    if (instance->state == INSTANCE_INLINE || (expandable && instance->spreads)) return expand(l, call, out);
    TRY(check_recursive(l, call, instance));
    return emit_call(l, call, instance, out);
}

PsStatus loop_call_func(Loop *l, PsFuncObject *func, const PsValue *self, CallArgs *args, PsValue *out) {
    FuncCall call = {.func = func, .tree = ps_ast_tree_of(&func->trees, func->function, func->stamp)};
    if (!call.tree) return ps_front_no_tree(&l->front, func->function);
    call.name = PyUnicode_AsUTF8(((PyFunctionObject *)func->function)->func_name);
    if (!call.name) return PS_PYERR;
    TRY(ps_front_deeper(&l->front));
    PsStatus status = loop_bind_args(l, func, call.tree, self, args, &call.args, &call.nargs);
    if (!status) {
        for (uint32_t i = 0; i < call.nargs; i++) /* by value: what it is now */
            if (!call.args[i].is_template && !loop_is_struct(l, &call.args[i].value))
                call.args[i].value = loop_load(l, &call.args[i].value);
        PyObject *annotations = PyObject_GetAttrString(func->function, "__annotations__");
        call.returns = annotations && PyDict_Check(annotations) ? ps_dict_find(annotations, "return") : NULL;
        if (call.returns) Py_INCREF(call.returns);
        Py_XDECREF(annotations);
        if (call.returns && !ps_front_keep(&l->front, call.returns))
            status = PS_PYERR;
        else if (PyErr_Occurred())
            status = PS_PYERR;
    }
    if (!status) status = call_either_way(l, &call, out);
    l->front.depth--;
    return status;
}
