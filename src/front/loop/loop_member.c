/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel reads of objects anew at each launch: the members of dataclass arguments, and, where a class asks for it
 * (data_oriented(template_primitives=False)), the numbers in its instances.
 *
 * A dataclass argument is an OBJECT while compiling. Nothing is known of a member until the program uses it; then its
 * annotation says what it is, as of a parameter, and it becomes a hidden parameter (loop_field.c). So members that are
 * not used need not be anything a kernel could take, nor be there. Funcs are given the OBJECT; their code has the hidden
 * parameters of what they use.
 *
 * Also here: properties of objects known while compiling. Those that are one simple expression are read as if it stood in
 * the kernel, so that what it reads is noticed when it changes.
 */
#include "front/loop/loop_int.h"

#include <string.h>

static PsStatus add_fact(Loop *l, PyTypeObject *class, PyObject *name, PyObject *found) {
    return ps_facts_add(l->front.facts, PS_FACT_ATTRIBUTE, (PyObject *)class, name, found) ? PS_OK : PS_NOMEM;
}

/* -- members that are there already -- */

static bool is_same(const PsMember *m, uint32_t from, PyObject *holder, PyObject *name) {
    if (m->holder != holder || (!holder && m->from != from)) return false;
    return m->name == name || PyUnicode_Compare(m->name, name) == 0;
}

static PsStatus add_hidden(Loop *l, uint32_t index, PsType type) {
    LoopHidden hidden = {.type = type, .member = index};
    return ps_vec_push(l->front.arena, &l->hidden, hidden) ? PS_OK : PS_NOMEM;
}

/* One for each scalar of a vector, matrix or struct. */
static PsStatus add_scalars(Loop *l, uint32_t index, const PsForm *form) {
    for (uint32_t i = 0; i < form->nodes; i++) {
        uint32_t n = form[i].kind == PS_FORM_SCALAR || form[i].kind == PS_FORM_MATRIX ? form[i].words : 0;
        for (uint32_t k = 0; k < n; k++) TRY(add_hidden(l, index, form[i].elem));
    }
    return PS_OK;
}

static PsType type_of(Loop *l, const PsParam *param) {
    if (param->kind == PS_PARAM_SCALAR) return param->dtype;
    return loop_array_type(l, param->dtype, param->ndim, param->edim, param->unit);
}

static bool is_hidden(const PsParam *param) {
    return param->kind != PS_PARAM_TEMPLATE && param->kind != PS_PARAM_OBJECT;
}

/* -- arrays of structs: one for each of their arrays -- */

static PsStatus add_leaf(Loop *l, void *data, PyObject *object, PsValue *out) {
    const PsArrayObject *array = (const PsArrayObject *)object;
    *out = (PsValue){0};
    return add_hidden(l, *(uint32_t *)data,
                      loop_array_type(l, array->dtype, array->ndim, array->edim, array->unit));
}

typedef struct Leaves {
    uint32_t hidden;
    bool clamp;
} Leaves;

static PsStatus leaf_of(Loop *l, void *data, PyObject *object, PsValue *out) {
    Leaves *leaves = data;
    const PsArrayObject *array = (const PsArrayObject *)object;
    PsType type = l->hidden.data[leaves->hidden].type;
    PsRef ref;
    TRY(loop_hidden_arg(l, leaves->hidden++, &ref));
    *out = loop_array_value(l, ref, type, array->edim, array->shape + array->ndim, object);
    out->clamp = leaves->clamp;
    return PS_OK;
}

static PsStatus structs_of(Loop *l, uint32_t index, PsValue *out) {
    const LoopMember *member = &l->members.data[index];
    Leaves leaves = {member->hidden, member->base.param.clamp};
    TRY(loop_make_structs(l, member->base.param.value, leaf_of, &leaves, out));
    loop_set_given(out, l->nparams + index);
    return PS_OK;
}

static PsStatus value_of(Loop *l, uint32_t index, PsValue *out) {
    const LoopMember *member = &l->members.data[index];
    const PsParam *param = &member->base.param;
    PsRef ref;
    if (param->kind == PS_PARAM_TEMPLATE) return ps_value_take(&l->front, Py_NewRef(param->value), out);
    if (param->kind == PS_PARAM_OBJECT) {
        *out = (PsValue){.kind = PS_VALUE_OBJECT, .object = param->value, .count = l->nparams + index};
        return PS_OK;
    }
    if (param->kind == PS_PARAM_VALUE) {
        uint32_t at = LOOP_HIDDEN_ARGS + member->hidden;
        return loop_form_argument(l, param->form, &at, out);
    }
    if (param->kind == PS_PARAM_STRUCTS) return structs_of(l, index, out);
    TRY(loop_hidden_arg(l, member->hidden, &ref));
    if (param->kind == PS_PARAM_SCALAR) {
        *out = loop_value(l, ref);
        return PS_OK;
    }
    *out = loop_array_value(l, ref, type_of(l, param), param->edim, param->eshape, param->value);
    out->clamp = param->clamp;
    loop_set_given(out, l->nparams + index);
    return PS_OK;
}

/* Takes over the reference to the value. */
static PsStatus add_member(Loop *l, LoopMember *made, PyObject *value, PsValue *out) {
    PsMember *m = &made->base;
    uint32_t index = l->members.len;
    if (l->nparams + index >= PS_MAX_ARGUMENTS) {
        Py_DECREF(value);
        return FAIL(l, ARGUMENTS, l->describer->kernel, PS_MAX_ARGUMENTS);
    }
    m->used = !is_hidden(&m->param);
    m->param.value = value;
    if (!ps_vec_push(l->front.arena, &l->members, *made)) {
        Py_DECREF(value);
        return PS_NOMEM;
    }
    Py_INCREF(m->name);
    Py_XINCREF(m->holder);
    if (m->param.kind == PS_PARAM_ARRAY || m->param.kind == PS_PARAM_STRUCTS) /* for its gradient array */
        l->members.data[index].base.param.given = ps_front_keep(&l->front, Py_NewRef(value));
    if (m->param.kind == PS_PARAM_ARRAY || m->param.kind == PS_PARAM_VALUE)
        Py_CLEAR(l->members.data[index].base.param.value);
    l->members.data[index].hidden = l->hidden.len;
    if (m->param.kind == PS_PARAM_VALUE)
        TRY(add_scalars(l, index, m->param.form));
    else if (m->param.kind == PS_PARAM_STRUCTS) {
        PsValue unused;
        TRY(loop_make_structs(l, m->param.value, add_leaf, &index, &unused));
    } else if (is_hidden(&m->param))
        TRY(add_hidden(l, index, type_of(l, &m->param)));
    return value_of(l, index, out);
}

void loop_members_free(Loop *l) {
    for (uint32_t i = 0; i < l->members.len; i++) {
        PsMember *m = &l->members.data[i].base;
        Py_CLEAR(m->name);
        Py_CLEAR(m->holder);
        Py_CLEAR(m->param.value);
    }
    l->members.len = 0;
}

/* -- dataclasses -- */

/* What a field of the class is annotated with; NULL: it has none of that name. Kept. */
static PsStatus find_annotation(Loop *l, PyTypeObject *class, PyObject *name, PyObject **out) {
    PyObject *key = ps_front_keep(&l->front, PyUnicode_InternFromString("__dataclass_fields__"));
    if (!key) return PS_PYERR;
    PyObject *fields = _PyType_Lookup(class, key);
    TRY(add_fact(l, class, key, fields));
    PyObject *field = fields && PyDict_Check(fields) ? PyDict_GetItemWithError(fields, name) : NULL;
    *out = NULL;
    if (!field) return PyErr_Occurred() ? PS_PYERR : PS_OK;
    PyObject *kind = PyObject_GetAttrString(field, "_field_type"), /* class variables are among them, too */
        *text = kind ? PyObject_GetAttrString(kind, "name") : NULL;
    bool is_field = text && PyUnicode_CompareWithASCIIString(text, "_FIELD") == 0;
    Py_XDECREF(text);
    Py_XDECREF(kind);
    if (!text) return PS_PYERR;
    if (!is_field) return PS_OK;
    *out = ps_front_keep(&l->front, PyObject_GetAttrString(field, "type"));
    return *out ? PS_OK : PS_PYERR;
}

static const char *text_of(PyObject *name) {
    const char *text = PyUnicode_AsUTF8(name);
    if (!text) PyErr_Clear();
    return text ? text : "?";
}

static const char *path_of(Loop *l, const PsValue *object, PyObject *name) {
    const char *outer = object->count < l->nparams ? text_of(l->params[object->count].name)
                                                   : l->members.data[object->count - l->nparams].path;
    return ps_arena_format(l->front.arena, "%s.%s", outer, text_of(name));
}

/* Takes over the reference to the value. */
static PsStatus read_as(Loop *l, const PsValue *object, PyTypeObject *class, PyObject *name,
                        PyObject *annotation, PyObject *value, bool is_grad, PsValue *out) {
    LoopMember made = {.base = {.from = object->count, .name = name, .grad = is_grad},
                       .path = path_of(l, object, name)};
    PsMember *m = &made.base;
    if (made.path)
        m->where =
            ps_arena_format(l->front.arena, "argument '%s' of kernel '%s'", made.path, l->describer->kernel);
    if (!m->where) {
        Py_DECREF(value);
        return PS_NOMEM;
    }
    if (l->describer->describe(l->describer->data, class, name, annotation, value, m->where, &m->param)) {
        Py_DECREF(value);
        PsStatus status = ps_front_python_failed(&l->front);
        if (status == PS_FAIL) Py_CLEAR(l->front.cause); /* it says no more than the message made of it */
        return status;
    }
    if (m->param.annotation) ps_front_keep(&l->front, m->param.annotation);
    if (m->param.kind == PS_PARAM_OBJECT) m->class = Py_TYPE(value);
    return add_member(l, &made, value, out);
}

static PsStatus read_field(Loop *l, const PsValue *object, PyObject *name, PyObject *annotation, PsValue *out) {
    PyObject *value = PyObject_GenericGetAttr(object->object, name);
    if (!value) return ps_front_python_failed(&l->front);
    return read_as(l, object, Py_TYPE(object->object), name, annotation, value, false, out);
}

/* -- gradient arrays of array arguments -- */

static const PsParam *param_of(Loop *l, uint32_t from) {
    return from < l->nparams ? &l->params[from] : &l->members.data[from - l->nparams].base.param;
}

/* Inside a func that is called it is not known which argument an array is: the func is expanded in place instead. */
static PsStatus grad_in_func(Loop *l) {
    Instance *instance = l->func->instance;
    if (l->func->kind != FUNC_CALLED || instance->recursive || l->func->early || l->func->real)
        return FAIL(l, GRAD_FUNC);
    instance->state = INSTANCE_INLINE;
    return PS_FAIL;
}

PsStatus loop_array_grad(Loop *l, const PsValue *array, PsValue *out) {
    uint32_t from = loop_given(array) - 1;
    if (!loop_given(array)) return grad_in_func(l);
    PyObject *name = ps_front_keep(&l->front, PyUnicode_InternFromString("grad"));
    if (!name) return PS_PYERR;
    for (uint32_t i = 0; i < l->members.len; i++)
        if (is_same(&l->members.data[i].base, from, NULL, name)) return value_of(l, i, out);
    const PsParam *param = param_of(l, from);
    PyObject *given = param->given ? param->given : param->value;
    PyObject *annotation =
        param->annotation ? param->annotation : (PyObject *)l->front.types->ndarray_annotation;
    annotation = ps_front_keep(&l->front, ps_front_annotation_of_grad(l->front.types, annotation));
    PyObject *grad = annotation && given ? l->describer->grad(l->describer->data, given) : NULL;
    if (!grad && PyErr_Occurred()) return ps_front_python_failed(&l->front);
    if (!grad || grad == Py_None) return Py_XDECREF(grad), FAIL(l, NO_GRAD, loop_describe(l, array));
    PsValue object = {.count = from};
    return read_as(l, &object, Py_TYPE(given), name, annotation, grad, true, out);
}

/* -- what a class has beside its fields -- */

static PsStatus make_method(Loop *l, const PsValue *object, PyObject *function, PsValue *out) {
    *out = (PsValue){.kind = PS_VALUE_METHOD, .object = ps_front_keep(&l->front, Py_NewRef(function))};
    out->items = ps_arena_alloc(l->front.arena, sizeof *out->items);
    if (!out->items) return PS_NOMEM;
    out->items[0] = *object;
    return PS_OK;
}

PsStatus loop_call_object_method(Loop *l, const PsValue *method, CallArgs *args, PsValue *out) {
    if (Py_IS_TYPE(method->object, l->front.types->func))
        return loop_call_func(l, (PsFuncObject *)method->object, &method->items[0], args, out);
    CallArgs with_self = *args;
    with_self.args = ps_arena_alloc(l->front.arena, sizeof *args->args * (args->nargs + 1));
    if (!with_self.args) return PS_NOMEM;
    with_self.args[0] = method->items[0];
    for (uint32_t i = 0; i < args->nargs; i++) with_self.args[i + 1] = args->args[i];
    with_self.nargs++;
    PsValue function = ps_value_python(method->object);
    return loop_call(l, &function, &with_self, out);
}

/* A property's function runs now, as Python, on a proxy of the object. */
static PsStatus read_property(Loop *l, const PsValue *object, PyObject *property, PsValue *out) {
    PyObject *getter = ps_front_keep(&l->front, PyObject_GetAttrString(property, "fget"));
    if (!getter) return PS_PYERR;
    PsValue function = ps_value_python(getter), self = *object;
    CallArgs args = {.args = &self, .nargs = 1};
    return loop_call(l, &function, &args, out);
}

static PsStatus read_class(Loop *l, const PsValue *object, PyObject *name, PsValue *out) {
    PyTypeObject *class = Py_TYPE(object->object);
    PyObject *found = _PyType_Lookup(class, name);
    TRY(add_fact(l, class, name, found));
    if (!found) return PS_FRONT_FAIL(&l->front, FRONT_ATTRIBUTE, loop_describe(l, object), text_of(name));
    if (Py_IS_TYPE(found, l->front.types->func) || PyFunction_Check(found))
        return make_method(l, object, found, out);
    if (PyObject_TypeCheck(found, &PyProperty_Type)) return read_property(l, object, found, out);
    return ps_value_take(&l->front, PyObject_GetAttr((PyObject *)class, name), out);
}

PsStatus loop_member(Loop *l, const PsValue *object, PyObject *name, PsValue *out) {
    PyTypeObject *class = Py_TYPE(object->object);
    PyObject *annotation;
    for (uint32_t i = 0; i < l->members.len; i++)
        if (is_same(&l->members.data[i].base, object->count, NULL, name)) return value_of(l, i, out);
    TRY(find_annotation(l, class, name, &annotation));
    if (!annotation) return read_class(l, object, name, out);
    TRY(add_fact(l, class, name, _PyType_Lookup(class, name)));
    return read_field(l, object, name, annotation, out);
}

/* -- numbers in objects -- */

/* Whether its class asked for run-time numbers. */
static bool wants_numbers(PyObject *object) {
    PyObject *key = PyUnicode_InternFromString(PS_RUNTIME_NUMBERS);
    PyObject *found = key ? _PyType_Lookup(Py_TYPE(object), key) : NULL;
    Py_XDECREF(key);
    PyErr_Clear();
    return found == Py_True;
}

static PsType number_type(Loop *l, PyObject *value) {
    bool plain = PyBool_Check(value) || PyLong_CheckExact(value) || PyFloat_CheckExact(value);
    return plain ? ps_number_type(&l->front, value) : PS_KIND_NONE;
}

/* What stands in the instance itself, not in its class. */
static PyObject *own_attribute(PyObject *object, PyObject *name) {
    PyObject *in_class = _PyType_Lookup(Py_TYPE(object), name);
    if (in_class && Py_TYPE(in_class)->tp_descr_set && !Py_IS_TYPE(in_class, &PyMemberDescr_Type)) return NULL;
    PyObject *value = PyObject_GenericGetAttr(object, name);
    if (value && value == in_class) Py_CLEAR(value);
    if (!value) PyErr_Clear();
    return value;
}

PsStatus loop_object_number(Loop *l, PyObject *object, PyObject *name, PsValue *out, bool *done) {
    *done = !PyType_Check(object) && !PyModule_Check(object) && wants_numbers(object);
    if (!*done) return PS_OK;
    PyObject *value = own_attribute(object, name);
    PsType type = value ? number_type(l, value) : PS_KIND_NONE;
    *done = type != PS_KIND_NONE;
    if (!*done) {
        Py_XDECREF(value);
        return PS_OK;
    }
    if (l->in_static) {
        Py_DECREF(value);
        return FAIL(l, STATIC_NUMBER, text_of(name), Py_TYPE(object)->tp_name);
    }
    for (uint32_t i = 0; i < l->members.len; i++)
        if (is_same(&l->members.data[i].base, 0, object, name)) {
            Py_DECREF(value);
            return value_of(l, i, out);
        }
    LoopMember made = {.base = {.holder = object, .name = name, .class = Py_TYPE(value)}};
    made.base.param = (PsParam){.kind = PS_PARAM_SCALAR, .dtype = type};
    made.base.where = ps_arena_format(l->front.arena, "attribute '%s' of an instance of %s, in kernel '%s'",
                                      text_of(name), Py_TYPE(object)->tp_name, l->describer->kernel);
    if (!made.base.where) {
        Py_DECREF(value);
        return PS_NOMEM;
    }
    return add_member(l, &made, value, out);
}

/* -- properties of objects -- */

/* Made of what means the same in a kernel as in Python, for objects known now. */
static bool is_simple(const PsAst *node) {
    if (!node) return true;
    switch (node->kind) {
    case PS_AST_NAME:
    case PS_AST_CONSTANT: return true;
    case PS_AST_ATTRIBUTE: return is_simple(node->a);
    case PS_AST_UNARYOP:
    case PS_AST_BINOP:
    case PS_AST_SUBSCRIPT: return is_simple(node->a) && is_simple(node->b);
    default: return false;
    }
}

static bool is_simple_return(const PsAstTree *tree) {
    const PsAstList *body = &tree->function->body;
    uint32_t first = 0;
    while (first < body->len && body->items[first]->kind == PS_AST_EXPR &&
           body->items[first]->a->kind == PS_AST_CONSTANT)
        first++;
    return first + 1 == body->len && body->items[first]->kind == PS_AST_RETURN && body->items[first]->a &&
           is_simple(body->items[first]->a);
}

PsStatus loop_object_property(Loop *l, const PsValue *object, PyObject *name, PsValue *out, bool *done) {
    PyTypeObject *class = Py_TYPE(object->object);
    PyObject *found = _PyType_Lookup(class, name);
    *done = false;
    if (!found || !Py_IS_TYPE(found, &PyProperty_Type)) return PS_OK;
    PyObject *getter = ps_front_keep(&l->front, PyObject_GetAttrString(found, "fget"));
    if (!getter) return PS_PYERR;
    if (!PyFunction_Check(getter)) return PS_OK;
    PsFuncObject *func =
        (PsFuncObject *)ps_front_keep(&l->front, ps_front_func_new(l->front.types->func, getter, 0));
    if (!func) return PS_PYERR;
    PsAstTree *tree = ps_ast_tree_of(&func->trees, getter, func->stamp);
    if (!tree) PyErr_Clear(); /* no source: it is called, as any other Python function */
    if (!tree || !is_simple_return(tree)) return PS_OK;
    CallArgs args = {0};
    *done = true;
    TRY(add_fact(l, class, name, found));
    return loop_call_func(l, func, object, &args, out);
}
