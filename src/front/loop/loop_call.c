/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls. What is called decides: one of our builtins, a dtype, a func, a Python builtin or a function of math or numpy
 * that has a counterpart here; anything else is called now, as Python, with proxies for runtime values.
 */
#include "front/loop/loop_int.h"

#include <string.h>

/* -- arguments -- */

typedef PsVec(PsValue) Values;
typedef PsVec(PyObject *) Names;

static PsStatus eval_keywords(Loop *l, PsAst *node, bool places, CallArgs *args) {
    Values values = {0};
    Names names = {0};
    for (uint32_t i = 0; i < node->body.len; i++) {
        PsAst *keyword = node->body.items[i];
        PsValue value;
        PyObject *key, *item;
        Py_ssize_t at = 0;
        TRY(places ? loop_eval_holder(l, keyword->a, &value) : loop_eval(l, keyword->a, &value));
        if (keyword->name) {
            if (!ps_vec_push(l->front.arena, &names, keyword->name)) return PS_NOMEM;
            if (!ps_vec_push(l->front.arena, &values, value)) return PS_NOMEM;
            continue;
        }
        if (value.kind != PS_VALUE_PYTHON || !PyDict_Check(value.object))
            return FAIL(l, CALL_STARS, loop_describe(l, &value));
        while (PyDict_Next(value.object, &at, &key, &item)) {
            PsValue taken;
            if (!PyUnicode_Check(key)) return FAIL(l, CALL_STARS, "a dict with keys that are no strings");
            TRY(ps_value_take(&l->front, Py_NewRef(item), &taken));
            if (!ps_vec_push(l->front.arena, &names, key)) return PS_NOMEM;
            if (!ps_vec_push(l->front.arena, &values, taken)) return PS_NOMEM;
        }
    }
    args->names = names.data;
    args->named = values.data;
    args->nnamed = names.len;
    return PS_OK;
}

static PsStatus eval_args(Loop *l, PsAst *node, bool first_place, bool all_places, CallArgs *args) {
    Values values = {0};
    for (uint32_t i = 0; i < node->list.len; i++) {
        PsAst *item = node->list.items[i];
        PsValue value, *items;
        uint32_t n;
        if (item->kind == PS_AST_STARRED) {
            PsAstList one = {&node->list.items[i], 1};
            TRY(loop_eval_list(l, &one, &items, &n));
            for (uint32_t k = 0; k < n; k++)
                if (!ps_vec_push(l->front.arena, &values, items[k])) return PS_NOMEM;
            continue;
        }
        TRY(all_places              ? loop_eval_holder(l, item, &value)
            : first_place && i == 0 ? loop_eval_place(l, item, &value)
                                    : loop_eval(l, item, &value));
        if (!ps_vec_push(l->front.arena, &values, value)) return PS_NOMEM;
    }
    args->args = values.data;
    args->nargs = values.len;
    return eval_keywords(l, node, all_places, args);
}

PsStatus loop_no_keywords(Loop *l, const char *name, const CallArgs *args) {
    if (!args->nnamed) return PS_OK;
    const char *keyword = PyUnicode_AsUTF8(args->names[0]);
    return keyword ? FAIL(l, CALL_KEYWORD, name, keyword) : PS_PYERR;
}

/* Whether Python alone cannot do it: some argument is no plain Python object. */
static bool any_runtime(const CallArgs *args) {
    for (uint32_t i = 0; i < args->nargs; i++)
        if (args->args[i].kind != PS_VALUE_PYTHON) return true;
    for (uint32_t i = 0; i < args->nnamed; i++)
        if (args->named[i].kind != PS_VALUE_PYTHON) return true;
    return false;
}

/* The same, or in a container among them. */
static bool holds_runtime(Loop *l, const CallArgs *args) {
    for (uint32_t i = 0; i < args->nargs; i++)
        if (loop_holds_proxies(l, &args->args[i])) return true;
    for (uint32_t i = 0; i < args->nnamed; i++)
        if (loop_holds_proxies(l, &args->named[i])) return true;
    return false;
}

/* -- Python -- */

static PsStatus call_python(Loop *l, PyObject *callee, const CallArgs *args, PsValue *out) {
    uint32_t n = args->nargs + args->nnamed, made = 0;
    PyObject **objects = ps_arena_alloc(l->front.arena, sizeof *objects * (n + 1)), *names = NULL,
             *result = NULL;
    if (!objects) return PS_NOMEM;
    for (; made < n; made++) {
        const PsValue *value = made < args->nargs ? &args->args[made] : &args->named[made - args->nargs];
        if (!(objects[made] = ps_value_object(&l->front, value))) goto done;
    }
    if (args->nnamed) {
        if (!(names = PyTuple_New(args->nnamed))) goto done;
        for (uint32_t i = 0; i < args->nnamed; i++) PyTuple_SET_ITEM(names, i, Py_NewRef(args->names[i]));
    }
    PsFrontFunc *func = l->front.func;
    PsSpan at = l->front.at;
    result = PyObject_Vectorcall(callee, objects, args->nargs, names);
    l->front.func = func;
    l->front.at = at;
done:
    for (uint32_t i = 0; i < made; i++) Py_DECREF(objects[i]);
    Py_XDECREF(names);
    return ps_value_take(&l->front, result, out);
}

static PsStatus call_function(Loop *l, PyObject *callee, const CallArgs *args, PsValue *out) {
    PyObject *function = PyMethod_Check(callee) ? PyMethod_GET_FUNCTION(callee) : callee;
    if (PyFunction_Check(function) && !ps_facts_add_function(l->front.facts, function))
        return PyErr_Occurred() ? PS_PYERR : PS_NOMEM;
    TRY(loop_warn_impure(l, callee));
    return call_python(l, callee, args, out);
}

/* -- Python's own builtins, math and numpy -- */

static bool is_function_of(PyObject *callee, const char *module, const char *name) {
    if (!PyCFunction_Check(callee)) return false;
    PyCFunctionObject *function = (PyCFunctionObject *)callee;
    if (!function->m_module || !PyUnicode_Check(function->m_module)) return false;
    return PyUnicode_CompareWithASCIIString(function->m_module, module) == 0 &&
           (!name || strcmp(function->m_ml->ml_name, name) == 0);
}

/* Names that differ from ours. */
static const struct {
    const char *name;
    PsBuiltinId id;
} aliases[] = {
    {"fabs", PS_BUILTIN_ABS},    {"absolute", PS_BUILTIN_ABS}, {"arcsin", PS_BUILTIN_ASIN},
    {"arccos", PS_BUILTIN_ACOS}, {"arctan", PS_BUILTIN_ATAN},  {"arctan2", PS_BUILTIN_ATAN2},
    {"power", PS_BUILTIN_POW},   {"maximum", PS_BUILTIN_MAX},  {"minimum", PS_BUILTIN_MIN},
    {"fmax", PS_BUILTIN_MAX},    {"fmin", PS_BUILTIN_MIN},     {"logical_not", PS_BUILTIN_LOGICAL_NOT},
};

static bool find_builtin(const char *name, PsBuiltinId *out) {
    for (size_t i = 0; i < PS_COUNT(aliases); i++)
        if (!strcmp(aliases[i].name, name)) return *out = aliases[i].id, true;
    for (int id = 0; id < PS_BUILTIN_COUNT; id++) {
        PsBuiltinKind kind = ps_builtin_info[id].kind;
        bool number = kind == PS_BUILTIN_KIND_UNARY || kind == PS_BUILTIN_KIND_BINARY ||
                      kind == PS_BUILTIN_KIND_FOLD || id == PS_BUILTIN_ISNAN || id == PS_BUILTIN_ISINF;
        if (number && !strcmp(ps_builtin_info[id].name, name)) return *out = (PsBuiltinId)id, true;
    }
    return false;
}

bool loop_python_builtin(PyObject *callee, PsBuiltinId *out) {
    if (is_function_of(callee, "builtins", NULL)) {
        const char *name = ((PyCFunctionObject *)callee)->m_ml->ml_name;
        static const char *const names[] = {"abs", "min", "max", "pow", "round"};
        for (size_t i = 0; i < PS_COUNT(names); i++)
            if (!strcmp(names[i], name)) return find_builtin(!strcmp(name, "round") ? "rint" : name, out);
        return false;
    }
    if (is_function_of(callee, "math", NULL))
        return find_builtin(((PyCFunctionObject *)callee)->m_ml->ml_name, out);
    if (!ps_is_numpy(callee, "ufunc")) return false;
    PyObject *name = PyObject_GetAttrString(callee, "__name__");
    const char *text = name ? PyUnicode_AsUTF8(name) : NULL;
    bool found = text && find_builtin(text, out);
    Py_XDECREF(name);
    PyErr_Clear();
    return found;
}

bool ps_loop_keeps_nan(PyObject *callee) {
    PyObject *name = ps_is_numpy(callee, "ufunc") ? PyObject_GetAttrString(callee, "__name__") : NULL;
    bool keeps = name && PyUnicode_Check(name) &&
                 (PyUnicode_CompareWithASCIIString(name, "maximum") == 0 ||
                  PyUnicode_CompareWithASCIIString(name, "minimum") == 0);
    Py_XDECREF(name);
    PyErr_Clear();
    return keeps;
}

bool ps_loop_python_builtin(PyObject *callee, PsBuiltinId *out) { return loop_python_builtin(callee, out); }

static PsStatus call_len(Loop *l, CallArgs *args, PsValue *out) {
    PsValue *value = &args->args[0];
    TRY(loop_from_outside(l, value));
    if (value->kind == PS_VALUE_STRUCTS) *value = *loop_first_array(value);
    if (value->kind == PS_VALUE_ARRAY) {
        if (!loop_axes(l, value)) return FAIL(l, LEN_NO_AXES);
        return loop_dim(l, value, 0, out);
    }
    PsType tile = loop_tile_type(l, value);
    if (tile) return ps_value_take(&l->front, PyLong_FromLongLong(loop_tile_axis(l, tile, 0)), out);
    return FAIL(l, LEN, loop_describe(l, value));
}

static PsStatus call_range(Loop *l, CallArgs *args, PsValue *out) {
    if (!any_runtime(args)) {
        for (uint32_t i = 0; i < args->nargs; i++)
            if (PyFloat_Check(args->args[i].object))
                return FAIL(l, RANGE_TYPE, loop_describe(l, &args->args[i]));
        return call_python(l, (PyObject *)&PyRange_Type, args, out);
    }
    if (args->nargs == 3) return FAIL(l, RANGE_STEP);
    PsDomain *domain = ps_arena_alloc(l->front.arena, sizeof *domain);
    if (!domain) return PS_NOMEM;
    TRY(loop_range_domain(l, args, domain));
    *out = (PsValue){.kind = PS_VALUE_NDRANGE, .domain = domain};
    return PS_OK;
}

/* Python's round(): halves to even; an integer is itself. */
static PsStatus round_plain(Loop *l, const PsValue *value, PsValue *out) {
    PsType type = loop_element(l, value);
    if (!type) return FAIL(l, BUILTIN_OPERAND, "round", loop_describe(l, value));
    if (!loop_is_float(type)) return loop_unary(l, PS_AST_UADD, value, out);
    CallArgs args = {.args = (PsValue *)value, .nargs = 1};
    return loop_call_builtin(l, PS_BUILTIN_RINT, &args, out);
}

static PsStatus call_round(Loop *l, CallArgs *args, PsValue *out) {
    TRY(loop_no_keywords(l, "round", args));
    const PsValue *value = &args->args[0], *digits = args->nargs > 1 ? &args->args[1] : NULL;
    if (!digits || (digits->kind == PS_VALUE_PYTHON && digits->object == Py_None))
        return round_plain(l, value, out);
    if (digits->kind != PS_VALUE_PYTHON || !ps_front_dtype(l->front.types, l->front.options, digits->object))
        return FAIL(l, ROUND_DIGITS);
    return loop_call_builtin(l, PS_BUILTIN_RINT, args, out);
}

/* max([a, b]) of one sequence: its elements. */
static PsStatus spread(Loop *l, PsBuiltinId id, CallArgs *args) {
    if ((id != PS_BUILTIN_MIN && id != PS_BUILTIN_MAX) || args->nargs != 1) return PS_OK;
    if (loop_numeric(l, &args->args[0])) return PS_OK;
    if (loop_is_tile(l, &args->args[0]) && loop_tile_ndim(l, loop_tile_type(l, &args->args[0])) != 1)
        return PS_OK;
    return loop_items(l, &args->args[0], &args->args, &args->nargs);
}

/* any(v), all(v): of all elements, also those of a matrix; of a list of numbers as of a vector of them. */
static PsStatus call_truths(Loop *l, const char *name, const CallArgs *args, PsValue *out) {
    PsValue tile = args->args[0], method, *items;
    CallArgs none = {0};
    uint32_t n;
    if (!loop_is_tile(l, &tile)) {
        TRY(loop_items(l, &args->args[0], &items, &n));
        for (uint32_t i = 0; i < n; i++) {
            PsRef truth;
            TRY(loop_truths(l, "any and all", &items[i], &truth));
            items[i] = loop_value(l, truth);
        }
        TRY(loop_make_tile(l, items, n, PS_U1, &tile));
    }
    TRY(loop_tile_attribute(l, &tile, name, &method));
    return loop_call_method(l, &method, &none, out);
}

/* What to use instead of functions of math and numpy. */
static const struct {
    const char *name, *instead;
} nearest[] = {
    {"isfinite", "; use `not (ti.isnan(x) or ti.isinf(x))`"},
    {"square", "; use `x * x`"},
    {"reciprocal", "; use `1 / x`"},
    {"where", "; use ti.select(condition, a, b)"},
    {"clip", "; use ti.math.clamp(x, low, high)"},
    {"sign", "; use ti.math.sign(x)"},
    {"degrees", "; use ti.math.degrees(x)"},
    {"rad2deg", "; use ti.math.degrees(x)"},
    {"radians", "; use ti.math.radians(x)"},
    {"deg2rad", "; use ti.math.radians(x)"},
    {"fmod", "; use ti.raw_mod(a, b)"},
    {"erfc", "; use `1 - ti.erf(x)`"},
    {"fsum", "; add in a loop"},
    {"sum", "; add in a loop"},
    {"norm", "; use the vector's norm()"},
    {"dot", "; use the vector's dot()"},
};

/* Functions of math and numpy that have no counterpart here cannot see what a kernel computes. Those of numpy that are
 * written in Python may call methods of a vector, which are there. */
static PsStatus check_available(Loop *l, PyObject *callee, const CallArgs *args) {
    bool ufunc = ps_is_numpy(callee, "ufunc"), dispatched = ps_is_numpy(callee, "_ArrayFunctionDispatcher");
    const char *module = "numpy", *instead = "";
    if (!ufunc && !dispatched && !is_function_of(callee, "math", NULL)) return PS_OK;
    if (!holds_runtime(l, args)) return PS_OK;
    for (uint32_t i = 0; i < args->nargs && dispatched; i++)
        if (!loop_numeric(l, &args->args[i])) return PS_OK;
    PyObject *name = ps_front_keep(&l->front, PyObject_GetAttrString(callee, "__name__"));
    const char *text = name ? PyUnicode_AsUTF8(name) : NULL;
    if (!text) return PS_PYERR;
    if (!ufunc) {
        PyObject *holder = ps_front_keep(&l->front, PyObject_GetAttrString(callee, "__module__"));
        if (!holder || !(module = PyUnicode_AsUTF8(holder))) return PS_PYERR;
    }
    for (size_t i = 0; i < PS_COUNT(nearest); i++)
        if (!strcmp(nearest[i].name, text)) instead = nearest[i].instead;
    return FAIL(l, NOT_AVAILABLE, module, text, instead);
}

/* Vectors known now, too: Python's max would ask whether one is greater as a whole. */
static bool any_tile(Loop *l, const CallArgs *args) {
    for (uint32_t i = 0; i < args->nargs && !l->in_static; i++)
        if (loop_is_tile(l, &args->args[i])) return true;
    return false;
}

/* *done: it was one of these. */
static PsStatus call_known_python(Loop *l, PyObject *callee, CallArgs *args, PsValue *out, bool *done) {
    PsBuiltinId id;
    bool runtime = any_runtime(args);
    *done = true;
    if (callee == (PyObject *)&PyRange_Type) return call_range(l, args, out);
    if (is_function_of(callee, "builtins", "print")) return loop_print(l, args, out);
    if (is_function_of(callee, "builtins", "getattr") && args->nargs == 2 && !args->nnamed &&
        args->args[1].kind == PS_VALUE_PYTHON && PyUnicode_Check(args->args[1].object))
        return loop_attribute(l, &args->args[0], args->args[1].object, out);
    if (args->nargs == 1 &&
        (args->args[0].kind != PS_VALUE_PYTHON || loop_is_array_object(l, &args->args[0])) &&
        is_function_of(callee, "builtins", "len"))
        return call_len(l, args, out);
    if ((runtime || any_tile(l, args)) && args->nargs >= 1 && is_function_of(callee, "builtins", "round"))
        return call_round(l, args, out);
    bool any = is_function_of(callee, "builtins", "any"), all = is_function_of(callee, "builtins", "all");
    if ((any || all) && args->nargs == 1 &&
        (holds_runtime(l, args) || (loop_is_tile(l, &args->args[0]) && !l->in_static)))
        return call_truths(l, any ? "any" : "all", args, out);
    if ((runtime || holds_runtime(l, args) || any_tile(l, args)) && loop_python_builtin(callee, &id)) {
        if (ps_loop_keeps_nan(callee)) return loop_call_keeping_nan(l, id, args, out);
        TRY(spread(l, id, args));
        return loop_call_builtin(l, id, args, out);
    }
    *done = false;
    return PS_OK;
}

/* -- dtypes as functions -- */

static PsStatus call_dtype(Loop *l, PyObject *callee, PsType type, CallArgs *args, PsValue *out) {
    bool ours = Py_IS_TYPE(callee, l->front.types->dtype);
    if (!ours && !any_runtime(args)) return call_python(l, callee, args, out);
    if (args->nargs != 1 || args->nnamed)
        return FAIL(l, DTYPE_ARGS, ps_scalar_name(type), args->nargs,
                    args->nnamed ? " and keyword arguments" : "");
    PsValue *value = &args->args[0];
    if (!loop_element(l, value)) return FAIL(l, DTYPE_VALUE, ps_scalar_name(type), loop_describe(l, value));
    if (value->kind == PS_VALUE_PYTHON && PyFloat_Check(value->object) && !loop_is_float(type))
        return FAIL(l, DTYPE_LITERAL, loop_describe(l, value), ps_scalar_name(type));
    PsRef ref;
    TRY(ps_number_check_range(&l->front, value, type)); /* -1 is no u16, though its bits would be */
    TRY(loop_cast(l, value, type, &ref));
    *out = loop_value(l, ref);
    return PS_OK;
}

/* -- methods that change a container -- */

static bool is_mutator(PyObject *callee) {
    static const char *const names[] = {"append",  "extend",     "insert",  "remove", "pop",
                                        "clear",   "sort",       "reverse", "update", "add",
                                        "discard", "setdefault", "popitem"};
    if (!PyCFunction_Check(callee)) return false;
    PyCFunctionObject *function = (PyCFunctionObject *)callee;
    PyObject *self = function->m_self;
    if (!self || !(PyList_Check(self) || PyDict_Check(self) || PySet_Check(self))) return false;
    for (size_t i = 0; i < PS_COUNT(names); i++)
        if (!strcmp(names[i], function->m_ml->ml_name)) return true;
    return false;
}

/* A container changes once, while compiling: allowed only where it was made, so that no branch or loop of the running
 * kernel stands between. */
static PsStatus check_mutation(Loop *l, PsAst *node, PyObject *callee) {
    if (!is_mutator(callee)) return PS_OK;
    PsAst *holder = node->a->kind == PS_AST_ATTRIBUTE ? node->a->a : NULL;
    PsBinding *binding =
        holder && holder->kind == PS_AST_NAME ? ps_name_find(&l->func->base, holder->name) : NULL;
    PsValue self = ps_value_python(((PyCFunctionObject *)callee)->m_self);
    if (binding && binding->region == loop_b(l)->region) return PS_OK;
    return FAIL(l, MUTATE, loop_describe(l, &self));
}

/* -- calls -- */

bool loop_is_builtin(Loop *l, const PsValue *callee, PsBuiltinId id) {
    return callee->kind == PS_VALUE_PYTHON && Py_IS_TYPE(callee->object, l->front.types->builtin) &&
           ((PsBuiltinObject *)callee->object)->id == id;
}

bool loop_builtin_wants_place(Loop *l, const PsValue *callee) {
    if (callee->kind != PS_VALUE_PYTHON || !Py_IS_TYPE(callee->object, l->front.types->builtin)) return false;
    PsBuiltinId id = ((PsBuiltinObject *)callee->object)->id;
    return ps_builtin_info[id].kind == PS_BUILTIN_KIND_ATOMIC || id == PS_BUILTIN_ATOMIC_CAS ||
           id == PS_BUILTIN_VOLATILE_LOAD;
}

/* floor(x, dtype=ti.i32): the one named argument that there may be stands where it would without its name. */
static PsStatus place_keyword(Loop *l, PsBuiltinId id, CallArgs *args) {
    if (args->nnamed != 1 || ps_builtin_keyword(id, args->names[0]) != (int)args->nargs) return PS_OK;
    PsValue *all = ps_arena_alloc(l->front.arena, sizeof *all * (args->nargs + 1));
    if (!all) return PS_NOMEM;
    if (args->nargs) memcpy(all, args->args, sizeof *all * args->nargs);
    all[args->nargs++] = args->named[0];
    args->args = all;
    args->nnamed = 0;
    return PS_OK;
}

static PsStatus call_builtin(Loop *l, PyObject *callee, CallArgs *args, PsValue *out) {
    PsBuiltinId id = ((PsBuiltinObject *)callee)->id;
    TRY(place_keyword(l, id, args));
    PsBuiltinKind kind = ps_builtin_info[id].kind;
    bool numbers = kind == PS_BUILTIN_KIND_UNARY || kind == PS_BUILTIN_KIND_BINARY ||
                   kind == PS_BUILTIN_KIND_FOLD || id == PS_BUILTIN_ISNAN || id == PS_BUILTIN_ISINF;
    if (!numbers || any_runtime(args)) return loop_call_builtin(l, id, args, out);
    if (id == PS_BUILTIN_POW && args->nargs == 2)
        return loop_binary(l, PS_AST_POW, &args->args[0], &args->args[1], out);
    if (any_tile(l, args)) return loop_call_builtin(l, id, args, out);
    TRY(loop_check_builtin(l, id, args));
    return call_python(l, callee, args, out);
}

PsStatus loop_call(Loop *l, const PsValue *callee_value, CallArgs *args, PsValue *out) {
    PsFrontTypes *types = l->front.types;
    if (callee_value->kind == PS_VALUE_METHOD && callee_value->items[0].kind == PS_VALUE_OBJECT)
        return loop_call_object_method(l, callee_value, args, out);
    if (callee_value->kind == PS_VALUE_METHOD && callee_value->object)
        return loop_call_func(l, (PsFuncObject *)callee_value->object, &callee_value->items[0], args, out);
    if (callee_value->kind == PS_VALUE_METHOD && callee_value->count &&
        callee_value->items[0].kind == PS_VALUE_ARRAY)
        return loop_call_subview(l, &callee_value->items[0], args, out);
    if (loop_is_fill(callee_value)) return loop_call_fill(l, callee_value, args, out);
    if (callee_value->kind == PS_VALUE_METHOD) return loop_call_method(l, callee_value, args, out);
    if (callee_value->kind != PS_VALUE_PYTHON) return FAIL(l, NOT_CALLABLE, loop_describe(l, callee_value));
    PyObject *callee = callee_value->object;
    if (Py_IS_TYPE(callee, types->builtin)) return call_builtin(l, callee, args, out);
    if (Py_IS_TYPE(callee, types->func)) return loop_call_func(l, (PsFuncObject *)callee, NULL, args, out);
    if (PyMethod_Check(callee) && Py_IS_TYPE(PyMethod_GET_FUNCTION(callee), types->func)) {
        PsValue self;
        TRY(ps_value_found(&l->front, PyMethod_GET_SELF(callee), &self));
        return loop_call_func(l, (PsFuncObject *)PyMethod_GET_FUNCTION(callee), &self, args, out);
    }
    if (Py_TYPE(callee) == (PyTypeObject *)types->kernel_type) return FAIL(l, KERNEL_CALL);
    if (callee == types->buffer_view) return loop_call_view(l, args, out);
    bool is_vector = callee == (PyObject *)types->vector;
    if ((is_vector || callee == (PyObject *)types->matrix) && (!l->in_static || any_runtime(args)))
        return loop_make_value(l, is_vector, args, out);
    if (Py_IS_TYPE(callee, types->matrix_type) && (!l->in_static || any_runtime(args))) {
        PsType type;
        TRY(loop_matrix_type_of(l, callee, &type));
        return loop_make_typed(l, type, args, out);
    }
    if (Py_IS_TYPE(callee, types->struct_type) && (!l->in_static || any_runtime(args)))
        return loop_make_struct(l, (PsStructTypeObject *)callee, args, out);
    if (callee == (PyObject *)types->structure && (!l->in_static || any_runtime(args)))
        return loop_make_anonymous(l, args, out);
    if (Py_IS_TYPE(callee, types->dtype) || PyType_Check(callee)) {
        PsType type = ps_front_dtype(types, l->front.options, callee);
        if (type) return call_dtype(l, callee, type, args, out);
    }
    if (!PyCallable_Check(callee)) return FAIL(l, NOT_CALLABLE, loop_describe(l, callee_value));
    bool done;
    TRY(loop_check_inspection(l, callee, args));
    TRY(loop_make_static(l, callee, args, out, &done));
    if (!done) TRY(call_known_python(l, callee, args, out, &done));
    if (done) return PS_OK;
    TRY(check_available(l, callee, args));
    return call_function(l, callee, args, out);
}

/* "{}".format(x) with runtime values among the arguments. */
static bool is_format_call(PyObject *callee) {
    return PyCFunction_Check(callee) && PyCFunction_GET_SELF(callee) &&
           PyUnicode_Check(PyCFunction_GET_SELF(callee)) &&
           !strcmp(((PyCFunctionObject *)callee)->m_ml->ml_name, "format");
}

/* A format of {}, {0}, {name} with specifications, some of which Python may not have: loop_format has them. */
static bool is_beyond_python(PyObject *format) {
    const char *text = PyUnicode_AsUTF8(format);
    bool numbered = false, counted = false, beyond = false;
    if (!text) return PyErr_Clear(), false;
    for (const char *c = text; *c; c++) {
        if (*c != '{' && *c != '}') continue;
        bool twice = c[1] == *c, closing = *c == '}';
        c++;
        if (twice) continue;
        if (closing) return false;
        size_t name = strcspn(c, ":}!.[{"), spec = c[name] == ':' ? 1 + strcspn(c + name + 1, "{}") : 0;
        if (c[name + spec] != '}') return false;
        counted |= !name;
        numbered |= name && c[0] >= '0' && c[0] <= '9';
        for (size_t i = 1; i < spec; i++) beyond |= strchr(".iulh", c[name + i]) != NULL;
        c += name + spec;
    }
    return beyond || (numbered && counted);
}

PsStatus loop_eval_call(Loop *l, PsAst *node, PsValue *out) {
    PsValue callee;
    CallArgs args;
    TRY(loop_eval_holder(l, node->a, &callee));
    callee = loop_load(l, &callee);
    bool is_object = callee.kind == PS_VALUE_PYTHON, was_static = l->in_static;
    bool func = is_object && (Py_IS_TYPE(callee.object, l->front.types->func) ||
                              (PyMethod_Check(callee.object) &&
                               Py_IS_TYPE(PyMethod_GET_FUNCTION(callee.object), l->front.types->func)));
    func |= callee.kind == PS_VALUE_METHOD && callee.object;
    if (!func) ps_front_pin_instance(&l->front, &callee);
    if (loop_is_builtin(l, &callee, PS_BUILTIN_STATIC)) l->in_static = true;
    PsStatus status = eval_args(l, node, loop_builtin_wants_place(l, &callee), func, &args);
    l->in_static = was_static;
    if (status) return status;
    loop_at(l, node);
    if (is_object) TRY(check_mutation(l, node, callee.object));
    if (is_object && is_format_call(callee.object) &&
        (holds_runtime(l, &args) || is_beyond_python(PyCFunction_GET_SELF(callee.object))))
        return loop_format(l, PyCFunction_GET_SELF(callee.object), &args, out);
    return loop_call(l, &callee, &args, out);
}
