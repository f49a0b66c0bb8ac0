/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of structs as arguments: fields of structs for template() parameters, those and pestle.StructNdarray for
 * types.ndarray() ones. To a kernel each is the arrays of its members, one after the other; any of the same type and
 * layout fits the same code, but for what is pinned.
 */
#include "py/decode_scalar.h"
#include "py/py_ndarray.h"

/* -- what an argument is -- */

int py_describe_structs(const PyState *state, PyObject *arg, PsParam *out) {
    const PsArrayObject *first = ps_structs_first(&state->types, arg);
    out->kind = PS_PARAM_STRUCTS;
    out->value = arg;
    out->ndim = first->ndim;
    return 0;
}

/* The type of structs that types.ndarray(dtype=...) asks for, or NULL. */
static PyObject *wanted_type(const PyState *state, const PyParam *param) {
    if (!Py_IS_TYPE(param->annotation, state->types.ndarray_annotation)) return NULL;
    PyObject *dtype = ((PsNdarrayAnnotationObject *)param->annotation)->dtype;
    dtype = dtype ? ps_front_annotation(&state->types, dtype) : NULL;
    return dtype && Py_IS_TYPE(dtype, state->types.struct_type) ? dtype : NULL;
}

static int refuse(const PyState *state, const char *name, PyObject *wanted, PyObject *found) {
    PyObject *a = wanted ? PyObject_Repr(wanted) : PyUnicode_FromString("numbers or vectors"),
             *b = found ? PyObject_Repr(found) : NULL;
    const char *x = a ? PyUnicode_AsUTF8(a) : NULL, *y = b ? PyUnicode_AsUTF8(b) : NULL;
    bool alike = x && y && !strcmp(x, y);
    if (x && y)
        py_error(state, PS_MSG_PY_ARRAY_STRUCTS, name, x, alike ? "one of another type with such members" : y);
    Py_XDECREF(a);
    Py_XDECREF(b);
    return -1;
}

int py_describe_array_of_structs(const PyState *state, const PyParam *param, PyObject *arg, const char *name,
                                 PsParam *out) {
    PyObject *wanted = wanted_type(state, param);
    if (!ps_is_structs(&state->types, arg)) return wanted ? refuse(state, name, wanted, arg) : 0;
    const PsStructFieldObject *array = (const PsStructFieldObject *)arg;
    const PsArrayObject *first = ps_structs_first(&state->types, arg);
    bool any = !Py_IS_TYPE(param->annotation, state->types.ndarray_annotation) ||
               ((PsNdarrayAnnotationObject *)param->annotation)->dtype == Py_None;
    if (!wanted && !any) return refuse(state, name, NULL, (PyObject *)array->type);
    if (wanted && !ps_struct_same_type((PsStructTypeObject *)wanted, array->type))
        return refuse(state, name, wanted, (PyObject *)array->type);
    if (param->ndim >= 0 && param->ndim != first->ndim)
        return py_error(state, PS_MSG_PY_ARRAY_NDIM, name, param->ndim, param->ndim == 1 ? "is" : "es",
                        first->ndim),
               -1;
    if (first->shifted) return py_refuse_offset(state, arg, name);
    if (param->needs_grad && !array->grad) return py_error(state, PS_MSG_PY_ARRAY_NO_GRAD, name), -1;
    out->clamp = param->clamp;
    return py_describe_structs(state, arg, out) ? -1 : 1;
}

/* -- plans -- */

static uint32_t words_of(const PyState *state, PyObject *object) {
    if (!ps_is_structs(&state->types, object)) return 1 + 2 * (uint32_t)ndarray_axes((const PyNdarray *)object);
    PyObject *members = ((PsStructFieldObject *)object)->members;
    uint32_t n = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(members); i++)
        n += words_of(state, PyTuple_GET_ITEM(members, i));
    return n;
}

uint32_t py_plan_structs(const PyState *state, PyPlan *plan, const PsParam *param, uint8_t pins) {
    plan->how = PY_HOW_STRUCTS;
    plan->ndim = (uint8_t)param->ndim;
    plan->field.like = pins & PS_PIN_OBJECT ? Py_NewRef(param->value) : py_structs_outline(param->value);
    plan->field.pins = pins;
    if (!plan->field.like) { /* no memory: no other fits */
        PyErr_Clear();
        plan->field.like = Py_NewRef(param->value);
        plan->field.pins = PS_PIN_OBJECT;
    }
    return words_of(state, param->value);
}

uint32_t py_param_words(const PyState *state, const PsParam *param) {
    switch (param->kind) {
    case PS_PARAM_VALUE: return param->form->words;
    case PS_PARAM_STRUCTS: return words_of(state, param->value);
    default: return 1 + 2 * (uint32_t)(param->ndim + param->edim);
    }
}

/* -- launches -- */

static bool same_shape(const PyNdarray *a, const PyNdarray *b) {
    return memcmp(a->shape, b->shape, sizeof a->shape[0] * (size_t)a->ndim) == 0;
}

static uint64_t *put_words(const PyState *state, PyObject *object, uint64_t *words, int64_t *elements) {
    if (!ps_is_structs(&state->types, object)) {
        *elements += ((const PyNdarray *)object)->size;
        return words + py_array_words((const PyNdarray *)object, words);
    }
    PyObject *members = ((PsStructFieldObject *)object)->members;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(members); i++)
        words = put_words(state, PyTuple_GET_ITEM(members, i), words, elements);
    return words;
}

int64_t py_decode_structs(const PyState *state, const PyPlan *plan, PyObject *arg, uint64_t *words) {
    PyObject *like = plan->field.like;
    int64_t elements = 0;
    if (arg != like) {
        if (plan->field.pins & PS_PIN_OBJECT || !ps_structs_same_type(&state->types, arg, like))
            return NUMPY_OTHER;
        if (plan->field.pins & PS_PIN_SHAPE &&
            !same_shape(ps_structs_first(&state->types, arg), ps_structs_first(&state->types, like)))
            return NUMPY_OTHER;
    }
    if (plan->grad && !((PsStructFieldObject *)arg)->grad) return NUMPY_OTHER;
    put_words(state, arg, words, &elements);
    return elements;
}

int64_t py_structs_size(const PyState *state, PyObject *object) {
    uint32_t leaves = ps_structs_leaves(&state->types, object);
    return ps_structs_first(&state->types, object)->size * (int64_t)leaves;
}
