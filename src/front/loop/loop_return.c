/* SPDX-License-Identifier: Apache-2.0
 *
 * return: of a kernel, of a func expanded in place, of a func built once.
 *
 * A func built once has the type of its first return; when a later one does not fit that, the func is built again with
 * the wider type, so that no path loses anything.
 */
#include "front/loop/loop_int.h"

PsStatus loop_return_type(Loop *l, PyObject *annotation, PsType *out) {
    *out = PS_KIND_NONE;
    if (!annotation || annotation == Py_None) return PS_OK;
    *out = ps_front_dtype(l->front.types, l->front.options, annotation);
    if (*out) return PS_OK;
    PsValue found = ps_value_python(annotation);
    return FAIL(l, RETURN_ANNOTATION, loop_describe(l, &found));
}

static bool is_nothing(const PsValue *value) {
    return value->kind == PS_VALUE_PYTHON && value->object == Py_None;
}

static PsStatus return_kernel(Loop *l, const PsValue *value) {
    LoopFunc *func = l->func;
    PsRef ref;
    func->returned = true;
    if (is_nothing(value)) return func->annotated ? FAIL(l, RETURN_NOTHING) : PS_OK;
    if (!func->annotated) return FAIL(l, RETURN_UNANNOTATED);
    if (!loop_numeric(l, value)) return FAIL(l, RETURN_VALUE, loop_describe(l, value));
    TRY(loop_store_value(l, value, func->annotated, "Return", &ref));
    ps_build_op(loop_b(l), PS_OP_RETURN, PS_KIND_NONE, &ref, 1, 0);
    return PS_OK;
}

/* Values that a func gives back pass through a local, so that an expression never reaches across a call. */
static PsStatus fresh(Loop *l, PsRef ref, PsValue *out) {
    PsRef place = ps_build_var(loop_b(l), loop_type_of(l, ref));
    ps_build_store(loop_b(l), place, ref);
    *out = loop_scalar(l, ps_build_load(loop_b(l), place));
    return PS_OK;
}

static PsStatus return_inline(Loop *l, const PsValue *value) {
    LoopFunc *func = l->func;
    PsRef ref;
    func->returned = true;
    func->result = *value;
    if (func->annotated) {
        if (!loop_numeric(l, value)) return FAIL(l, RETURN_VALUE, loop_describe(l, value));
        TRY(loop_store_value(l, value, func->annotated, "Return", &ref));
        return fresh(l, ref, &func->result);
    }
    return value->kind == PS_VALUE_SCALAR ? fresh(l, value->ref, &func->result) : PS_OK;
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
    PsType type = loop_numeric(l, value);
    if (!type) { /* a tuple, a dtype, ...: known only while compiling */
        instance->state = INSTANCE_INLINE;
        return PS_FAIL;
    }
    if (l->func->annotated) {
        instance->result = l->func->annotated;
        TRY(loop_store_value(l, value, instance->result, "Return", &ref));
    } else {
        PsType both = instance->result ? loop_promote_keep(instance->result, type) : type;
        if (instance->result && both != instance->result) {
            instance->widen = both;
            return PS_FAIL;
        }
        instance->result = both;
        TRY(loop_as(l, value, both, &ref));
    }
    instance->returns = true;
    ps_build_op(loop_b(l), PS_OP_RETURN, PS_KIND_NONE, &ref, 1, 0);
    return PS_OK;
}

PsStatus loop_exec_return(Loop *l, PsAst *node, Flow *flow) {
    LoopFunc *func = l->func;
    PsValue value = ps_value_python(Py_None);
    if (func->kind != FUNC_CALLED && (loop_b(l)->region != func->region || func->loops))
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
