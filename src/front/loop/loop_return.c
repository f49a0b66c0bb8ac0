/* SPDX-License-Identifier: Apache-2.0
 *
 * return: of a kernel, of a func expanded in place, of a func built once.
 *
 * A func built once has the type of its first return; when a later one does not fit that, the func is built again with
 * the wider type, so that no path loses anything.
 */
#include "front/loop/loop_int.h"

PsStatus loop_return_type(Loop *l, PyObject *annotation, LoopFunc *out) {
    bool too_large;
    out->annotated = PS_KIND_NONE;
    if (!annotation || annotation == Py_None) return PS_OK;
    out->form = ps_form_read(l->front.arena, l->front.types, l->front.options, annotation, &too_large);
    if (too_large) return FAIL(l, RETURN_LARGE, PS_FORM_WORDS);
    if (!out->form) {
        PsValue found = ps_value_python(annotation);
        return FAIL(l, RETURN_ANNOTATION, loop_describe(l, &found));
    }
    if (out->form->kind == PS_FORM_SCALAR) out->annotated = out->form->elem;
    if (out->form->kind == PS_FORM_MATRIX)
        return loop_matrix_type_of(l, ps_front_annotation(l->front.types, annotation), &out->annotated);
    return PS_OK;
}

static bool is_nothing(const PsValue *value) {
    return value->kind == PS_VALUE_PYTHON && value->object == Py_None;
}

/* A vector for a vector of that shape, a number for a number. */
static PsStatus check_fits(Loop *l, const PsValue *value, PsType wanted) {
    PsType found = loop_tile_type(l, value);
    if (ps_type_is_scalar(wanted) ? loop_numeric(l, value) : found && loop_same_shape(l, found, wanted))
        return PS_OK;
    return found || !ps_type_is_scalar(wanted)
               ? FAIL(l, RETURN_TILE, loop_describe_type(l, wanted), loop_describe(l, value))
               : FAIL(l, RETURN_VALUE, loop_describe(l, value));
}

static PsStatus return_kernel(Loop *l, const PsValue *value) {
    LoopFunc *func = l->func;
    LoopRefs refs = {0};
    func->returned = true;
    if (is_nothing(value)) return func->form ? FAIL(l, RETURN_NOTHING) : PS_OK;
    if (!func->form) return FAIL(l, RETURN_UNANNOTATED);
    TRY(loop_form_results(l, func->form, value, &refs));
    ps_build_op(loop_b(l), PS_OP_RETURN, PS_KIND_NONE, refs.data, refs.len, 0);
    return PS_OK;
}

/* Values that a func gives back pass through a local, so that an expression never reaches across a call. */
static PsStatus fresh(Loop *l, PsRef ref, PsValue *out) {
    PsRef place = ps_build_var(loop_b(l), loop_type_of(l, ref));
    ps_build_store(loop_b(l), place, ref);
    *out = loop_value(l, ps_build_load(loop_b(l), place));
    return PS_OK;
}

static PsStatus return_inline(Loop *l, const PsValue *value) {
    LoopFunc *func = l->func;
    PsRef ref;
    func->returned = true;
    func->result = *value;
    if (func->annotated) {
        TRY(check_fits(l, value, func->annotated));
        TRY(loop_store_value(l, value, func->annotated, "Return", &ref));
        return fresh(l, ref, &func->result);
    }
    if (loop_is_struct(l, value) || (func->form && func->form->kind == PS_FORM_STRUCT)) {
        PsValue typed = *value, local;
        if (func->form && func->form->kind == PS_FORM_STRUCT)
            TRY(loop_struct_as(l, (PsStructTypeObject *)func->form->type, value, &typed));
        TRY(loop_struct_local(l, &typed, &local));
        func->result = loop_load(l, &local);
        return PS_OK;
    }
    return value->kind == PS_VALUE_SCALAR || value->kind == PS_VALUE_TILE ? fresh(l, value->ref, &func->result)
                                                                          : PS_OK;
}

/* One type for two returns: of one shape. */
static PsStatus join(Loop *l, PsType before, const PsValue *value, PsType *out) {
    PsModule *m = l->front.module;
    PsType tile = loop_tile_type(l, value), elem = loop_element(l, value);
    if (ps_type_is_scalar(before) ? tile : !tile || !loop_same_shape(l, before, tile))
        return FAIL(l, RETURN_TILE, loop_describe_type(l, before), loop_describe(l, value));
    *out = ps_type_with_element(m, before, loop_promote_keep(ps_type_element(m, before), elem));
    return PS_OK;
}

/* Leaves a func built once with the value, which has the result's type. */
static PsStatus emit_return(Loop *l, PsRef ref) {
    PsFunc *f = loop_b(l)->func;
    PsType type = loop_type_of(l, ref);
    if (ps_type_is_scalar(type)) {
        ps_build_op(loop_b(l), PS_OP_RETURN, PS_KIND_NONE, &ref, 1, 0);
        return PS_OK;
    }
    PsRef place = ps_build_op(loop_b(l), PS_OP_ARG, ps_type_ptr(l->front.module, type), NULL, 0,
                              f->params.len); /* it comes after all parameters */
    ps_build_store(loop_b(l), place, ref);
    ps_build_op(loop_b(l), PS_OP_RETURN, PS_KIND_NONE, NULL, 0, 0);
    return PS_OK;
}

/* A real_func whose end is reached: a fault in checked mode, else the result is 0. */
PsStatus loop_return_by_falling_off(Loop *l) {
    PsType type = l->func->instance->result;
    PsBuilder *b = loop_b(l);
    PsRef never = ps_build_int(b, PS_U1, 0);
    if (l->front.options->checked) ps_build_op(b, PS_OP_CHECK, PS_KIND_NONE, &never, 1, PS_FAULT_RETURN);
    PsRef result = ps_build_int(b, ps_type_element(l->front.module, type), 0);
    if (!ps_type_is_scalar(type)) result = loop_splat(l, result, type);
    return emit_return(l, result);
}

static PsStatus return_called(Loop *l, const PsValue *value) {
    Instance *instance = l->func->instance;
    PsRef ref;
    if (is_nothing(value)) {
        if (l->func->annotated) return FAIL(l, RETURN_NOTHING);
        if (instance->returns) return FAIL(l, RETURN_MIXED);
        instance->returns_nothing = true;
        ps_build_op(loop_b(l), PS_OP_RETURN, PS_KIND_NONE, NULL, 0, 0);
        return PS_OK;
    }
    if (instance->returns_nothing) return FAIL(l, RETURN_MIXED);
    if (l->func->real && !l->func->annotated && !l->func->form)
        return FAIL(l, REAL_RETURN, PyUnicode_AsUTF8(((PyFunctionObject *)l->func->base.function)->func_name));
    if (instance->shape.kind || loop_returns_parts(l, value)) {
        if (instance->result || !loop_returns_parts(l, value))
            return FAIL(l, RETURN_PARTS, loop_describe(l, value));
        return loop_return_parts(l, instance, value);
    }
    PsType tile = loop_tile_type(l, value), type = tile ? tile : loop_numeric(l, value);
    if (!type) { /* a tuple, a dtype, ...: known only while compiling */
        instance->state = INSTANCE_INLINE;
        return PS_FAIL;
    }
    if (l->func->annotated) {
        instance->result = l->func->annotated;
        TRY(check_fits(l, value, instance->result));
        TRY(loop_store_value(l, value, instance->result, "Return", &ref));
    } else {
        PsType both = type;
        if (instance->result) TRY(join(l, instance->result, value, &both));
        if (instance->result && both != instance->result) {
            instance->widen = both;
            return PS_FAIL;
        }
        instance->result = both;
        TRY(loop_as(l, value, ps_type_element(l->front.module, both), &ref));
    }
    instance->returns = true;
    return emit_return(l, ref);
}

PsStatus loop_exec_return(Loop *l, PsAst *node, Flow *flow) {
    LoopFunc *func = l->func;
    PsValue value = ps_value_python(Py_None);
    if (func->kind != FUNC_CALLED && loop_b(l)->region != func->region) /* unrolled loops are in it */
        return FAIL(l, RETURN_INSIDE, func->kind == FUNC_KERNEL ? "a kernel" : "a func expanded in place");
    if (node->a) TRY(loop_eval(l, node->a, &value));
    loop_at(l, node->a ? node->a : node);
    *flow = FLOW_RETURN;
    switch (func->kind) {
    case FUNC_KERNEL: return return_kernel(l, &value);
    case FUNC_INLINE: return return_inline(l, &value);
    case FUNC_CALLED: return return_called(l, &value);
    }
    return PS_OK;
}
