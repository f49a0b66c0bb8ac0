/* SPDX-License-Identifier: Apache-2.0
 *
 * A call's arguments to a func's parameters: positions, keywords, defaults, *args and **kwargs, as Python binds them;
 * then what each parameter's annotation says.
 */
#include "front/loop/loop_int.h"

#include <string.h>

enum { PARAM_PLAIN, PARAM_STAR, PARAM_STAR_STAR, PARAM_KEYWORD, PARAM_POSITIONAL };

static bool is_positional(const PsAst *param) {
    return param->op == PARAM_PLAIN || param->op == PARAM_POSITIONAL;
}

typedef struct Binder {
    Loop *l;
    PyObject *function;
    const char *name;
    const PsAstList *params;
    const PsValue *self;
    CallArgs *args;
    BoundArg *out;
    bool *used; /* keyword arguments that found their parameter */
} Binder;

static uint32_t npositional(const Binder *b) { return b->args->nargs + (b->self ? 1 : 0); }
static PsValue positional(const Binder *b, uint32_t i) {
    return b->self ? (i ? b->args->args[i - 1] : *b->self) : b->args->args[i];
}

static const char *text_of(PyObject *name) {
    const char *text = PyUnicode_AsUTF8(name);
    if (!text) PyErr_Clear();
    return text ? text : "?";
}

static PsStatus find_keyword(Binder *b, PsAst *param, PsValue *out, bool *found) {
    for (uint32_t i = 0; i < b->args->nnamed; i++) {
        if (PyUnicode_Compare(b->args->names[i], param->name) != 0) continue;
        if (*found || b->used[i]) {
            Loop *l = b->l;
            return FAIL(l, CALL_TWICE, b->name, text_of(param->name));
        }
        b->used[i] = true;
        *found = true;
        *out = b->args->named[i];
    }
    return PS_OK;
}

/* The value evaluated when the func was defined. */
static PsStatus find_default(Binder *b, uint32_t index, uint32_t nplain, PsValue *out, bool *found) {
    PsAst *param = b->params->items[index];
    bool keyword = param->op == PARAM_KEYWORD;
    PyObject *value = NULL, *defaults = keyword ? PyFunction_GET_KW_DEFAULTS(b->function)
                                                : PyFunction_GET_DEFAULTS(b->function);
    if (!ps_facts_add(b->l->front.facts, keyword ? PS_FACT_KWDEFAULTS : PS_FACT_DEFAULTS, b->function, NULL,
                      defaults))
        return PS_NOMEM;
    if (keyword) {
        value = defaults ? PyDict_GetItemWithError(defaults, param->name) : NULL;
    } else {
        Py_ssize_t n = defaults ? PyTuple_GET_SIZE(defaults) : 0,
                   at = (Py_ssize_t)index - ((Py_ssize_t)nplain - n);
        if (at >= 0 && at < n) value = PyTuple_GET_ITEM(defaults, at);
    }
    if (!value) return PyErr_Occurred() ? PS_PYERR : PS_OK;
    *found = true;
    return ps_value_take(&b->l->front, Py_NewRef(value), out);
}

static PsStatus collect_star(Binder *b, uint32_t from, PsValue *out) {
    uint32_t n = npositional(b) > from ? npositional(b) - from : 0;
    PyObject *tuple = PyTuple_New(n);
    for (uint32_t i = 0; tuple && i < n; i++) {
        PsValue value = positional(b, from + i), loaded = loop_load(b->l, &value);
        PyObject *item = ps_value_object(&b->l->front, &loaded);
        if (!item)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, item);
    }
    return ps_value_take(&b->l->front, tuple, out);
}

static PsStatus collect_star_star(Binder *b, PsValue *out) {
    PyObject *dict = ps_front_keep(&b->l->front, PyDict_New());
    if (!dict) return PS_PYERR;
    for (uint32_t i = 0; i < b->args->nnamed; i++) {
        if (b->used[i]) continue;
        b->used[i] = true;
        PsValue loaded = loop_load(b->l, &b->args->named[i]);
        PyObject *item = ps_value_object(&b->l->front, &loaded);
        int failed = !item || PyDict_SetItem(dict, b->args->names[i], item);
        Py_XDECREF(item);
        if (failed) return PS_PYERR;
    }
    *out = ps_value_python(dict);
    return PS_OK;
}

static bool takes(const Binder *b, PyObject *name) {
    for (uint32_t i = 0; i < b->params->len; i++) {
        const PsAst *param = b->params->items[i];
        if (param->op == PARAM_STAR_STAR) return true;
        if (param->op != PARAM_STAR && PyUnicode_Compare(name, param->name) == 0) return true;
    }
    return false;
}

/* A name that nothing has is why another is missing: most often that one, misspelt. */
static PsStatus refuse_missing(Binder *b, const PsAst *param) {
    Loop *l = b->l;
    for (uint32_t i = 0; i < b->args->nnamed; i++)
        if (!takes(b, b->args->names[i])) return FAIL(l, CALL_KEYWORD, b->name, text_of(b->args->names[i]));
    return FAIL(l, CALL_MISSING, b->name, text_of(param->name));
}

static PsStatus bind_one(Binder *b, uint32_t index, uint32_t nplain) {
    PsAst *param = b->params->items[index];
    PsValue *value = &b->out[index].value;
    bool found = false;
    b->out[index].param = param;
    if (param->op == PARAM_STAR) return collect_star(b, nplain, value);
    if (param->op == PARAM_STAR_STAR) return collect_star_star(b, value);
    if (is_positional(param) && index < npositional(b)) {
        *value = positional(b, index);
        found = true;
    }
    if (param->op != PARAM_POSITIONAL) TRY(find_keyword(b, param, value, &found));
    if (!found) TRY(find_default(b, index, nplain, value, &found));
    return found ? PS_OK : refuse_missing(b, param);
}

static PsStatus bind_all(Binder *b) {
    Loop *l = b->l;
    uint32_t nplain = 0;
    bool has_star = false;
    for (uint32_t i = 0; i < b->params->len; i++) {
        nplain += is_positional(b->params->items[i]);
        has_star |= b->params->items[i]->op == PARAM_STAR;
    }
    if (npositional(b) > nplain && !has_star) return FAIL(l, CALL_TOO_MANY, b->name, nplain, npositional(b));
    for (uint32_t i = 0; i < b->params->len; i++) TRY(bind_one(b, i, nplain));
    for (uint32_t i = 0; i < b->args->nnamed; i++)
        if (!b->used[i]) return FAIL(l, CALL_KEYWORD, b->name, text_of(b->args->names[i]));
    return PS_OK;
}

/* -- annotations -- */

static bool is_template(const PsFrontTypes *types, PyObject *annotation) {
    return annotation == (PyObject *)types->template_annotation ||
           Py_IS_TYPE(annotation, types->template_annotation);
}

static bool is_array(const PsFrontTypes *types, PyObject *annotation) {
    return annotation == (PyObject *)types->ndarray_annotation || annotation == types->buffer_view ||
           Py_IS_TYPE(annotation, types->ndarray_annotation);
}

static PsStatus refuse_array(Loop *l, const BoundArg *arg, PyObject *annotation) {
    PyObject *repr = ps_front_keep(&l->front, PyObject_Repr(annotation));
    const char *text = repr ? PyUnicode_AsUTF8(repr) : NULL;
    if (!text) return PS_PYERR;
    return FAIL(l, PARAM_ARRAY_TYPE, text_of(arg->param->name), text, loop_describe(l, &arg->value));
}

/* Arrays of structs. *done: it is one, and fits. */
static PsStatus check_structs(Loop *l, const BoundArg *arg, PyObject *annotation, bool *done) {
    const PsNdarrayAnnotationObject *asked = (const PsNdarrayAnnotationObject *)annotation;
    PyObject *dtype =
        PyType_Check(annotation) || !asked->dtype ? Py_None : ps_front_annotation(l->front.types, asked->dtype);
    bool wanted = Py_IS_TYPE(dtype, l->front.types->struct_type), is = arg->value.kind == PS_VALUE_STRUCTS;
    *done = is;
    if (!wanted && !is) return PS_OK;
    bool fits = is && (wanted || dtype == Py_None) &&
                (!wanted || ps_struct_same_type((PsStructTypeObject *)dtype, loop_structs_type(&arg->value))) &&
                (PyType_Check(annotation) || asked->ndim < 0 ||
                 asked->ndim == loop_axes(l, loop_first_array(&arg->value)));
    return fits ? PS_OK : refuse_array(l, arg, annotation);
}

/* types.ndarray(dtype, ndim): what is given must fit. */
static PsStatus check_array(Loop *l, BoundArg *arg, PyObject *annotation) {
    const char *name = text_of(arg->param->name);
    TRY(loop_from_outside(l, &arg->value));
    bool done;
    TRY(check_structs(l, arg, annotation, &done));
    if (done) return PS_OK;
    if (arg->value.kind != PS_VALUE_ARRAY) return FAIL(l, PARAM_ARRAY, name, loop_describe(l, &arg->value));
    if (PyType_Check(annotation)) return PS_OK;
    PsNdarrayAnnotationObject *wanted = (PsNdarrayAnnotationObject *)annotation;
    const PsTypeInfo *info = ps_type_info(l->front.module, arg->value.type);
    PsElement element;
    bool known = ps_front_annotated_element(l->front.types, l->front.options, annotation, &element);
    bool fits = known && (!element.dtype || element.dtype == info->elem) &&
                (wanted->ndim < 0 || wanted->ndim == loop_axes(l, &arg->value)) &&
                loop_has_elements(l, &arg->value, &element);
    return fits ? PS_OK : refuse_array(l, arg, annotation);
}

static PsStatus read_annotation(Loop *l, BoundArg *arg, PyObject *annotations) {
    PyObject *annotation = annotations ? PyDict_GetItemWithError(annotations, arg->param->name) : NULL;
    const char *name = text_of(arg->param->name);
    if (!annotation) return PyErr_Occurred() ? PS_PYERR : PS_OK;
    if (PyUnicode_Check(annotation) && arg->param->a) /* from __future__ import annotations */
        TRY(loop_eval_python(l, arg->param->a, &annotation));
    arg->annotation = annotation = ps_front_annotation(l->front.types, annotation);
    if (is_template(l->front.types, annotation)) {
        arg->is_template = true;
        return PS_OK;
    }
    if (ps_is_tensor_annotation(l->front.types, annotation)) {
        arg->is_tensor = true;
        return PS_OK;
    }
    if (is_array(l->front.types, annotation) || ps_front_is_dataclass(annotation)) return PS_OK;
    if (Py_IS_TYPE(annotation, l->front.types->ref_annotation)) {
        arg->is_template = arg->is_ref = true;
        annotation = ((PsRefAnnotationObject *)annotation)->dtype;
    }
    if (Py_IS_TYPE(annotation, l->front.types->matrix_type))
        return loop_matrix_type_of(l, annotation, &arg->type);
    if (Py_IS_TYPE(annotation, l->front.types->struct_type)) {
        arg->structure = (PsStructTypeObject *)annotation;
        return PS_OK;
    }
    PsValue found = ps_value_python(annotation);
    arg->type = ps_front_dtype(l->front.types, l->front.options, annotation);
    if (arg->type) return PS_OK;
    loop_at(l, arg->param->a ? arg->param->a : arg->param);
    return FAIL(l, PARAM_ANNOTATION, name, loop_describe(l, &found));
}

/* A dataclass: an argument of the kernel, or an object known while compiling, of exactly that class. */
static PsStatus check_object(Loop *l, const BoundArg *arg) {
    const PsValue *value = &arg->value;
    bool object = value->kind == PS_VALUE_OBJECT || value->kind == PS_VALUE_PYTHON;
    if (object && (PyObject *)Py_TYPE(value->object) == arg->annotation) return PS_OK;
    return FAIL(l, PARAM_CLASS, text_of(arg->param->name), ((PyTypeObject *)arg->annotation)->tp_name,
                loop_describe(l, value));
}

/* Where the call stands: whether the value is what the annotation says. */
static PsStatus check_value(Loop *l, BoundArg *arg) {
    if (arg->is_ref && !arg->structure && (arg->value.kind != PS_VALUE_PLACE || arg->value.type != arg->type))
        return FAIL(l, PARAM_REF, text_of(arg->param->name), loop_describe_type(l, arg->type),
                    loop_describe(l, &arg->value));
    if (!arg->annotation || arg->is_template || arg->structure) return PS_OK;
    bool none = arg->value.kind == PS_VALUE_PYTHON && arg->value.object == Py_None;
    if (arg->is_tensor && none) return PS_OK;
    if (ps_front_is_dataclass(arg->annotation)) return check_object(l, arg);
    if (!arg->type) return check_array(l, arg, arg->annotation);
    PsType found = loop_tile_type(l, &arg->value);
    bool wants_tile = !ps_type_is_scalar(arg->type);
    if (wants_tile ? found && loop_same_shape(l, found, arg->type) : loop_numeric(l, &arg->value)) return PS_OK;
    return FAIL(l, PARAM_NUMBER, text_of(arg->param->name), loop_describe_type(l, arg->type),
                loop_describe(l, &arg->value));
}

PsStatus loop_bind_args(Loop *l, PsFuncObject *func, PsAstTree *tree, const PsValue *self, CallArgs *args,
                        BoundArg **out, uint32_t *out_len) {
    Binder b = {
        .l = l, .function = func->function, .params = &tree->function->list, .self = self, .args = args};
    b.name = text_of(((PyFunctionObject *)func->function)->func_name);
    b.out = ps_arena_alloc(l->front.arena, sizeof *b.out * (b.params->len + 1));
    b.used = ps_arena_alloc(l->front.arena, args->nnamed + 1);
    if (!b.out || !b.used) return PS_NOMEM;
    TRY(bind_all(&b));
    PyObject *annotations = ps_front_keep(&l->front, PyObject_GetAttrString(func->function, "__annotations__"));
    if (!annotations) return PS_PYERR;
    /* Strings among the annotations are looked up where the func was defined. */
    LoopFunc scope = {.kind = FUNC_INLINE}, *caller = l->func;
    PsSpan at = l->front.at;
    PsBuilder saved = *loop_b(l);
    TRY(ps_front_func_begin(&l->front, &scope.base, func->function, tree, (PsSpan){0}));
    if (!ps_vec_push(l->front.arena, &l->front.diag->calls, at)) return PS_NOMEM;
    PsStatus status = PS_OK;
    l->func = &scope;
    l->front.func = &scope.base;
    for (uint32_t i = 0; !status && i < b.params->len; i++)
        status = read_annotation(l, &b.out[i], PyDict_Check(annotations) ? annotations : NULL);
    l->func = caller;
    l->front.func = &caller->base;
    l->front.diag->calls.len--;
    if (!status) {
        l->front.at = at;
        *loop_b(l) = saved;
    }
    for (uint32_t i = 0; !status && i < b.params->len; i++) status = check_value(l, &b.out[i]);
    *out = b.out;
    *out_len = b.params->len;
    return status;
}

/* -- what a func's text says about calling it -- */

typedef bool (*Test)(const PsAst *node, void *data);

static bool any(const PsAst *node, Test test, void *data);

static bool any_of(const PsAstList *list, Test test, void *data) {
    for (uint32_t i = 0; i < list->len; i++)
        if (list->items[i] && any(list->items[i], test, data)) return true;
    return false;
}

static bool any(const PsAst *node, Test test, void *data) {
    if (!node) return false;
    return test(node, data) || any(node->a, test, data) || any(node->b, test, data) ||
           any(node->c, test, data) || any_of(&node->list, test, data) || any_of(&node->body, test, data) ||
           any_of(&node->orelse, test, data);
}

static bool is_name(const PsAst *node, PyObject *name) {
    return node && node->kind == PS_AST_NAME && PyUnicode_Compare(node->name, name) == 0;
}

/* The name itself, or an element or member of what it names. */
static bool targets(const PsAst *node, PyObject *name) {
    while (node && (node->kind == PS_AST_SUBSCRIPT || node->kind == PS_AST_ATTRIBUTE)) node = node->a;
    if (!node || is_name(node, name)) return node != NULL;
    for (uint32_t i = 0; i < node->list.len && (node->kind == PS_AST_TUPLE || node->kind == PS_AST_LIST); i++)
        if (targets(node->list.items[i], name)) return true;
    return false;
}

static bool assigns_or_passes(const PsAst *node, void *name) {
    switch (node->kind) {
    case PS_AST_ASSIGN:
        for (uint32_t i = 0; i < node->list.len; i++)
            if (targets(node->list.items[i], name)) return true;
        return false;
    case PS_AST_AUGASSIGN:
    case PS_AST_ANNASSIGN:
    case PS_AST_NAMEDEXPR: return targets(node->a, name);
    case PS_AST_CALL:
        for (uint32_t i = 0; i < node->list.len; i++)
            if (is_name(node->list.items[i], name)) return true;
        return false;
    case PS_AST_KEYWORD: return is_name(node->a, name);
    default: return false;
    }
}

bool loop_param_assigned(const PsAstTree *tree, PyObject *name) {
    return any_of(&tree->function->body, assigns_or_passes, name);
}

static bool is_for(const PsAst *node, void *data) {
    (void)data;
    return node->kind == PS_AST_FOR;
}

bool loop_tree_has_for(const PsAstTree *tree) { return any_of(&tree->function->body, is_for, NULL); }

static bool is_return(const PsAst *node, void *data) {
    (void)data;
    return node->kind == PS_AST_RETURN;
}

/* A return anywhere but as the last statement. */
bool loop_tree_returns_early(const PsAstTree *tree) {
    const PsAstList *body = &tree->function->body;
    for (uint32_t i = 0; i < body->len; i++) {
        bool last = i + 1 == body->len && body->items[i]->kind == PS_AST_RETURN;
        if (!last && any(body->items[i], is_return, NULL)) return true;
    }
    return false;
}

static bool returns_value(const PsAst *node, void *data) {
    (void)data;
    return node->kind == PS_AST_RETURN && node->a;
}

bool loop_tree_returns_value(const PsAstTree *tree) {
    return any_of(&tree->function->body, returns_value, NULL);
}

static bool returns_container(const PsAst *node, void *data) {
    (void)data;
    if (node->kind != PS_AST_RETURN || !node->a) return false;
    switch (node->a->kind) {
    case PS_AST_LIST:
    case PS_AST_LISTCOMP:
    case PS_AST_DICT:
    case PS_AST_DICTCOMP:
    case PS_AST_FSTRING: return true;
    default: return false;
    }
}

bool loop_tree_returns_container(const PsAstTree *tree) {
    return any_of(&tree->function->body, returns_container, NULL);
}
