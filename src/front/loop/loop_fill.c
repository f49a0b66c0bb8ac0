/* SPDX-License-Identifier: Apache-2.0
 *
 * x.fill(v) of arrays and fields of structs: a loop over x, parallel where one written there would be, from
 * pestle._arrays. v is converted first, as by an assignment to an element. Of vectors and matrices in loop_method.c.
 */
#include "front/loop/loop_int.h"

PsStatus loop_fill_method(Loop *l, const PsValue *array, PsValue *out) {
    PsValue *self = ps_arena_alloc(l->front.arena, sizeof *self);
    if (!self) return PS_NOMEM;
    *self = *array;
    TRY(loop_from_outside(l, self));
    *out = (PsValue){.kind = PS_VALUE_METHOD, .items = self};
    return PS_OK;
}

bool loop_is_fill(const PsValue *callee) {
    return callee->kind == PS_VALUE_METHOD && !callee->object && !callee->count &&
           (callee->items[0].kind == PS_VALUE_ARRAY || callee->items[0].kind == PS_VALUE_STRUCTS);
}

static PsStatus fill_array(Loop *l, const PsValue *array, const PsValue *value) {
    const PsTypeInfo *info = ps_type_info(l->front.module, array->type);
    PsRef ref;
    TRY(loop_store_value(l, value, array->elem ? array->elem : info->elem, "fill", &ref));
    PyObject *module = ps_front_keep(&l->front, PyImport_ImportModule("pestle._arrays"));
    PyObject *func = module ? ps_front_keep(&l->front, PyObject_GetAttrString(module, "fill")) : NULL;
    if (!func) return PS_PYERR;
    PsValue callee = ps_value_python(func), args[2] = {*array, loop_value(l, ref)}, none;
    CallArgs call = {.args = args, .nargs = 2};
    return loop_call(l, &callee, &call, &none);
}

/* All members from a number, or each from its own of a struct. */
static PsStatus fill_any(Loop *l, const PsValue *array, const PsValue *value) {
    PsValue typed = *value;
    if (array->kind == PS_VALUE_ARRAY) return fill_array(l, array, value);
    bool number = loop_numeric(l, value);
    if (!number) TRY(loop_struct_as(l, loop_structs_type(array), value, &typed));
    TRY(ps_front_deeper(&l->front));
    for (uint32_t i = 0; i < array->count; i++)
        TRY(fill_any(l, &array->items[i], number ? value : &typed.items[i]));
    l->front.depth--;
    return PS_OK;
}

PsStatus loop_call_fill(Loop *l, const PsValue *method, CallArgs *args, PsValue *out) {
    *out = ps_value_python(Py_None);
    if (args->nargs == 0 && args->nnamed == 1 && !PyUnicode_CompareWithASCIIString(args->names[0], "val"))
        return fill_any(l, &method->items[0], &args->named[0]);
    TRY(loop_no_keywords(l, "fill", args));
    if (args->nargs != 1) return FAIL(l, METHOD_COUNT, "fill", 1, "", args->nargs);
    return fill_any(l, &method->items[0], &args->args[0]);
}
