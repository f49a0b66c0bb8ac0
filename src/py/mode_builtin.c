/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls in a kernel that runs as plain Python. What is called decides, as in front/loop (loop_call.c, loop_builtin.c):
 * pestle's builtins, dtypes and funcs follow the language's rules; so do Python's, math's and numpy's functions that
 * have a counterpart, when an argument has a type; anything else is called as it is.
 */
#include "py/mode_int.h"

#include <math.h>

typedef struct Call {
    const PyState *state;
    PsBuiltinId id;
    const PsBuiltinInfo *info;
} Call;

static bool is_float(PsType type) { return ps_scalar_class(type) == PS_CLASS_FLOAT; }

static int read_number(const PyState *state, const char *name, PyObject *object, ModeOperand *out) {
    if (mode_read(state, object, out)) return 0;
    mode_not_a_number(state, name, object);
    return -1;
}

static int read_dtype(const PyState *state, const char *name, PyObject *object, PsType *out) {
    *out = ps_front_dtype(&state->types, &state->options, object);
    if (*out) return 0;
    py_error(state, PS_MSG_MODE_WANTS, name, "a dtype", Py_TYPE(object)->tp_name);
    return -1;
}

static bool has_type(const PyState *state, PyObject *object) {
    return mode_is_typed(state, object) || Py_IS_TYPE(object, state->mode.array);
}

static bool any_type(const PyState *state, PyObject *const *args, int nargs) {
    for (int i = 0; i < nargs; i++)
        if (has_type(state, args[i])) return true;
    return false;
}

/* -- one and two operands -- */

static PyObject *integer_only(const Call *call, PsType found) {
    return py_error(call->state, PS_MSG_MODE_WANTS, call->info->name, "integers", ps_scalar_name(found));
}

static bool rounds(PsOpCode op) {
    return op == PS_OP_FLOOR || op == PS_OP_CEIL || op == PS_OP_ROUND || op == PS_OP_RINT || op == PS_OP_TRUNC;
}

static PyObject *unary(const PyState *state, void *data, PyObject *const *args) {
    const Call *call = data;
    PsOpCode op = call->info->op;
    ModeOperand a;
    uint64_t bits;
    if (read_number(state, call->info->name, args[0], &a)) return NULL;
    if (op == PS_OP_NOT) return mode_unary(state, PS_AST_INVERT, args[0]);
    PsType type = a.type == PS_U1 ? PS_I32 : a.type;
    bool integers = ps_op_info[op].rule == PS_RULE_INT;
    if (integers && is_float(type)) return integer_only(call, type);
    if (ps_op_info[op].rule == PS_RULE_FLOAT && !is_float(type)) {
        if (rounds(op))
            return py_error(state, PS_MSG_MODE_WANTS, call->info->name, "floats", ps_scalar_name(a.type));
        type = state->options.default_fp;
    }
    if (mode_as(state, &a, type, &bits)) return NULL;
    bits = ps_eval_scalar(op, type, type, &bits);
    if (!integers) return mode_number(state, type, bits);
    return mode_number(state, PS_I32, ps_eval_scalar(PS_OP_CAST, type, PS_I32, &bits)); /* popcnt, clz */
}

static PyObject *both_as(const PyState *state, PsOpCode op, const ModeOperand *a, const ModeOperand *b,
                         PsType left, PsType right) {
    uint64_t bits[2];
    if (mode_as(state, a, left, &bits[0]) || mode_as(state, b, right, &bits[1])) return NULL;
    return mode_number(state, left, ps_eval_scalar(op, left, right, bits));
}

static PyObject *binary(const PyState *state, void *data, PyObject *const *args) {
    const Call *call = data;
    ModeOperand a, b;
    if (read_number(state, call->info->name, args[0], &a) || read_number(state, call->info->name, args[1], &b))
        return NULL;
    PsType type = mode_promote(a.type, b.type);
    switch (call->id) {
    case PS_BUILTIN_POW: return mode_binary(state, PS_AST_POW, args[0], args[1]);
    case PS_BUILTIN_BIT_SHR:
        if (is_float(type)) return integer_only(call, type);
        return both_as(state, PS_OP_USHR, &a, &b, a.type == PS_U1 ? PS_I32 : a.type,
                       b.type == PS_U1 ? PS_I32 : b.type);
    case PS_BUILTIN_RAW_DIV:
        return both_as(state, is_float(type) ? PS_OP_DIV : PS_OP_TRUNCDIV, &a, &b, type, type);
    case PS_BUILTIN_RAW_MOD:
        return both_as(state, is_float(type) ? PS_OP_FMOD : PS_OP_TRUNCMOD, &a, &b, type, type);
    default: break;
    }
    if (!is_float(type)) type = state->options.default_fp;
    return both_as(state, call->info->op, &a, &b, type, type);
}

static PyObject *fold_pair(const PyState *state, void *data, PyObject *const *args) {
    const Call *call = data;
    ModeOperand a, b;
    if (read_number(state, call->info->name, args[0], &a) || read_number(state, call->info->name, args[1], &b))
        return NULL;
    PsType type = mode_promote_keep(a.type, b.type);
    return both_as(state, call->info->op, &a, &b, type, type);
}

/* The first NaN among the operands of numpy's maximum or minimum, if there is one. */
static PyObject *fold_nan(const PyState *state, void *data, PyObject *const *args) {
    PyObject *result = fold_pair(state, data, args);
    PsType type = result ? ((ModeNumber *)result)->type : PS_U1;
    for (int i = 1; i >= 0 && result && is_float(type); i--) {
        ModeOperand operand;
        uint64_t pair[2];
        if (!mode_read(state, args[i], &operand) || mode_as(state, &operand, type, &pair[0])) {
            Py_DECREF(result);
            return NULL;
        }
        pair[1] = pair[0];
        if (ps_eval_scalar(PS_OP_NE, type, type, pair)) ((ModeNumber *)result)->bits = pair[0];
    }
    return result;
}

typedef PyObject *(*Rule)(const PyState *, void *, PyObject *const *);

static PyObject *map(const Call *call, Rule rule, PyObject *const *args, int nargs) {
    if (mode_any_vector(call->state, args, nargs))
        return mode_map(call->state, rule, (void *)call, args, nargs);
    return rule(call->state, (void *)call, args);
}

static PyObject *fold(const Call *call, PyObject *const *args, int nargs) {
    PyObject *result = Py_NewRef(args[0]);
    for (int i = 1; result && i < nargs; i++) {
        PyObject *pair[2] = {result, args[i]}, *next = map(call, fold_pair, pair, 2);
        Py_DECREF(result);
        result = next;
    }
    return result;
}

/* -- atomics: the old value -- */

static PyObject *atomic(const PyState *state, void *data, PyObject *const *args) {
    static const PsOpCode plain[] = {[PS_BUILTIN_ATOMIC_ADD] = PS_OP_ADD, [PS_BUILTIN_ATOMIC_SUB] = PS_OP_ADD,
                                     [PS_BUILTIN_ATOMIC_MUL] = PS_OP_MUL, [PS_BUILTIN_ATOMIC_MIN] = PS_OP_MIN,
                                     [PS_BUILTIN_ATOMIC_MAX] = PS_OP_MAX, [PS_BUILTIN_ATOMIC_AND] = PS_OP_AND,
                                     [PS_BUILTIN_ATOMIC_OR] = PS_OP_OR,   [PS_BUILTIN_ATOMIC_XOR] = PS_OP_XOR};
    const Call *call = data;
    if (!mode_is_number(state, args[0]))
        return py_error(state, PS_MSG_MODE_WANTS, call->info->name, "an element or a variable",
                        Py_TYPE(args[0])->tp_name);
    ModeNumber *number = (ModeNumber *)args[0];
    ModeOperand operand;
    PsType type = number->type;
    PsOpCode op = call->id == PS_BUILTIN_ATOMIC_EXCHANGE ? PS_OP_NONE : plain[call->id];
    uint64_t bits[2] = {number->bits}, after;
    if (is_float(type) && ps_op_info[op].rule == PS_RULE_INT)
        return py_error(state, PS_MSG_MODE_WANTS, call->info->name, "integers", ps_scalar_name(type));
    if (read_number(state, call->info->name, args[1], &operand) || mode_cast(state, &operand, type, &bits[1]))
        return NULL;
    bits[0] = mode_get(number); /* another argument may have changed it */
    bool sub = call->id == PS_BUILTIN_ATOMIC_SUB;
    if (type == PS_U1 && op == PS_OP_ADD)
        op = sub ? PS_OP_XOR : PS_OP_OR;
    else if (sub)
        bits[1] = ps_eval_scalar(PS_OP_NEG, type, type, &bits[1]);
    after = op == PS_OP_NONE ? bits[1] : ps_eval_scalar(op, type, type, bits);
    return mode_set(state, number, after) ? NULL : mode_number(state, type, bits[0]);
}

static PyObject *atomic_cas(const PyState *state, PyObject *const *args) {
    ModeOperand expected, fresh;
    uint64_t old = 0, wanted, after;
    if (!mode_is_number(state, args[0]))
        return py_error(state, PS_MSG_MODE_WANTS, "atomic_cas", "an element or a variable",
                        Py_TYPE(args[0])->tp_name);
    ModeNumber *number = (ModeNumber *)args[0];
    if (is_float(number->type))
        return py_error(state, PS_MSG_MODE_WANTS, "atomic_cas", "integers", ps_scalar_name(number->type));
    if (read_number(state, "atomic_cas", args[1], &expected) ||
        read_number(state, "atomic_cas", args[2], &fresh) ||
        mode_cast(state, &expected, number->type, &wanted) || mode_cast(state, &fresh, number->type, &after))
        return NULL;
    old = mode_get(number);
    return old == wanted && mode_set(state, number, after) ? NULL : mode_number(state, number->type, old);
}

static PyObject *get_addr(const PyState *state, PyObject *const *args) {
    PyObject *array = mode_array_of(state, args[0]), *address = NULL;
    uint64_t at;
    if (!array) return NULL;
    if (!Py_IS_TYPE(array, state->mode.array) || ps_is_structs(&state->types, args[0]))
        py_error(state, PS_MSG_FRONT_ADDRESS_ARRAY, Py_TYPE(args[0])->tp_name);
    else if ((at = (uint64_t)(uintptr_t)mode_array_place((ModeArray *)array, args[1])))
        address = mode_number(state, PS_U64, at);
    Py_DECREF(array);
    return address;
}

static PyObject *volatile_load(const PyState *state, PyObject *place) {
    bool number = mode_is_number(state, place);
    if (number && ((ModeNumber *)place)->from)
        return mode_number(state, ((ModeNumber *)place)->type, mode_get((ModeNumber *)place));
    return py_error(state, PS_MSG_MODE_WANTS, "volatile_load", "an element of an array or field",
                    number ? ps_scalar_name(((ModeNumber *)place)->type) : Py_TYPE(place)->tp_name);
}

/* -- forms -- */

static PyObject *select_one(const PyState *state, void *data, PyObject *const *args) {
    (void)data;
    ModeOperand a, b;
    uint64_t bits;
    int truth = PyObject_IsTrue(args[0]);
    if (truth < 0 || read_number(state, "select", args[1], &a) || read_number(state, "select", args[2], &b))
        return NULL;
    PsType type = mode_promote_keep(a.type, b.type);
    return mode_as(state, truth ? &a : &b, type, &bits) ? NULL : mode_number(state, type, bits);
}

static PyObject *is_one(const PyState *state, void *data, PyObject *const *args) {
    const Call *call = data;
    ModeOperand a;
    if (read_number(state, call->info->name, args[0], &a)) return NULL;
    PyObject *real = PyNumber_Float(args[0]);
    double value = real ? PyFloat_AS_DOUBLE(real) : 0.0;
    Py_XDECREF(real);
    if (!real) return NULL;
    return mode_number(state, PS_U1, call->id == PS_BUILTIN_ISNAN ? isnan(value) != 0 : isinf(value) != 0);
}

static PyObject *like_one(const PyState *state, void *data, PyObject *const *args) {
    const Call *call = data;
    ModeOperand a;
    uint64_t one = call->id == PS_BUILTIN_ONE;
    if (read_number(state, call->info->name, args[0], &a)) return NULL;
    return mode_number(state, a.type, ps_eval_scalar(PS_OP_CAST, PS_I32, a.type, &one));
}

static PyObject *not_one(const PyState *state, void *data, PyObject *const *args) {
    (void)data;
    int truth = PyObject_IsTrue(args[0]);
    return truth < 0 ? NULL : mode_number(state, PS_U1, !truth);
}

static PyObject *bit_cast_one(const PyState *state, void *data, PyObject *const *args) {
    ModeOperand a;
    PsType type = *(PsType *)data;
    uint64_t bits;
    if (read_number(state, "bit_cast", args[0], &a)) return NULL;
    if (a.type == PS_U1 || type == PS_U1 || ps_scalar_bits(a.type) != ps_scalar_bits(type))
        return py_error(state, PS_MSG_MODE_WANTS, "bit_cast", ps_scalar_name(type), ps_scalar_name(a.type));
    return mode_as(state, &a, a.type, &bits) ? NULL : mode_number(state, type, bits);
}

static PyObject *bit_cast(const PyState *state, PyObject *const *args) {
    PsType type;
    if (read_dtype(state, "bit_cast", args[1], &type)) return NULL;
    return mode_any_vector(state, args, 1) ? mode_map(state, bit_cast_one, &type, args, 1)
                                           : bit_cast_one(state, &type, args);
}

static PyObject *cast(const PyState *state, PyObject *const *args) {
    PsType type;
    return read_dtype(state, "cast", args[1], &type) ? NULL : mode_cast_object(state, args[0], type);
}

/* A number from ti.static keeps being Python's: a subclass tells a name that gets it from any other number. */
static PyObject *keep_static(const PyState *state, PyObject *value) {
    PyObject *kept = PyDict_GetItemWithError(state->mode.kept, (PyObject *)Py_TYPE(value));
    if (!kept) return PyErr_Occurred() ? NULL : Py_NewRef(value);
    return PyObject_CallOneArg(kept, value);
}

static PyObject *form_ndrange(const PyState *state, PyObject *const *args, int nargs, PyObject *names) {
    Py_ssize_t nnames = names ? PyTuple_GET_SIZE(names) : 0;
    if (nnames > 1 || (nnames && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "axes") != 0))
        return PyErr_Format(PyExc_TypeError, "ndrange() takes no keyword argument but axes");
    return mode_ndrange(state, args, nargs, nnames ? args[nargs] : NULL);
}

static PyObject *form(Call *call, PyObject *const *args, int nargs, PyObject *names, bool *done) {
    const PyState *state = call->state;
    *done = true;
    switch (call->id) {
    case PS_BUILTIN_ATOMIC_CAS: return atomic_cas(state, args);
    case PS_BUILTIN_GET_ADDR: return get_addr(state, args);
    case PS_BUILTIN_CLOCK_COUNTER: return mode_number(state, PS_I64, (uint64_t)ps_clock_ticks());
    case PS_BUILTIN_VOLATILE_LOAD: return volatile_load(state, args[0]);
    case PS_BUILTIN_CAST: return cast(state, args);
    case PS_BUILTIN_BIT_CAST: return bit_cast(state, args);
    case PS_BUILTIN_SELECT: return map(call, select_one, args, 3);
    case PS_BUILTIN_ZERO:
    case PS_BUILTIN_ONE: return map(call, like_one, args, 1);
    case PS_BUILTIN_ISNAN:
    case PS_BUILTIN_ISINF: return map(call, is_one, args, 1);
    case PS_BUILTIN_LOGICAL_NOT: return map(call, not_one, args, 1);
    case PS_BUILTIN_RANDOM:
    case PS_BUILTIN_RANDN: return mode_random(state, call->id, nargs ? args[0] : NULL);
    case PS_BUILTIN_GROUPED: return mode_grouped(state, args[0]);
    case PS_BUILTIN_NDRANGE: return form_ndrange(state, args, nargs, names);
    case PS_BUILTIN_STATIC:
        if (nargs == 1) return keep_static(state, args[0]);
        break;
    default: break;
    }
    *done = false;
    return NULL;
}

/* -- calls -- */

bool mode_is_static(const PyState *state, PyObject *callee) {
    return Py_IS_TYPE(callee, state->types.builtin) && ((PsBuiltinObject *)callee)->id == PS_BUILTIN_STATIC;
}

static PyObject *call_as_it_is(PyObject *callee, PyObject *const *args, int nargs, PyObject *names) {
    return PyObject_Vectorcall(callee, args, (size_t)nargs, names);
}

/* On numbers: floor(x, ti.i32) too. */
static PyObject *call_unary(Call *call, PyObject *const *args, int nargs) {
    PyObject *result = map(call, unary, args, 1);
    if (!result || nargs == 1) return result;
    PyObject *pair[2] = {result, args[1]}, *converted = cast(call->state, pair);
    Py_DECREF(result);
    return converted;
}

/* *done: it was one of these. */
static PyObject *call_builtin(const PyState *state, PsBuiltinId id, PyObject *const *args, int nargs,
                              PyObject *names, bool *done) {
    Call call = {state, id, &ps_builtin_info[id]};
    *done = nargs >= call.info->min_args && (call.info->max_args < 0 || nargs <= call.info->max_args);
    if (!*done) return NULL; /* it says itself how many it takes */
    bool typed = any_type(state, args, nargs);
    switch (call.info->kind) {
    case PS_BUILTIN_KIND_ATOMIC: return map(&call, atomic, args, 2);
    case PS_BUILTIN_KIND_FORM: return form(&call, args, nargs, names, done);
    case PS_BUILTIN_KIND_UNARY:
        if (typed) return call_unary(&call, args, nargs);
        break;
    case PS_BUILTIN_KIND_BINARY:
        if (typed) return map(&call, binary, args, 2);
        break;
    case PS_BUILTIN_KIND_FOLD:
        if (typed) return fold(&call, args, nargs);
        break;
    }
    *done = false;
    return NULL;
}

PyObject *mode_builtin(const PyState *state, PsBuiltinId id, PyObject *arg) {
    Call call = {state, id, &ps_builtin_info[id]};
    return map(&call, unary, &arg, 1);
}

/* Python's round(): halves to even; an integer is itself. */
static PyObject *round_number(const PyState *state, void *call, PyObject *const *args) {
    ModeOperand a;
    if (read_number(state, "round", args[0], &a)) return NULL;
    return is_float(a.type) ? unary(state, call, args) : mode_unary(state, PS_AST_UADD, args[0]);
}

static bool is_round(PyObject *callee) {
    return PyCFunction_Check(callee) && !strcmp(((PyCFunctionObject *)callee)->m_ml->ml_name, "round");
}

/* Python's own, math's and numpy's functions on typed numbers. */
static PyObject *call_known(const PyState *state, PyObject *callee, PyObject *const *args, int nargs,
                            bool *done) {
    PsBuiltinId id;
    *done = true;
    if (callee == (PyObject *)&PyRange_Type) return mode_range(state, args, nargs);
    if (PyCFunction_Check(callee) && !strcmp(((PyCFunctionObject *)callee)->m_ml->ml_name, "len") &&
        nargs == 1) {
        Py_ssize_t length = PyObject_Size(args[0]);
        bool array = Py_IS_TYPE(args[0], state->mode.array);
        return length < 0 ? NULL
               : array    ? mode_number(state, PS_I32, (uint32_t)length)
                          : PyLong_FromSsize_t(length);
    }
    if (is_round(callee) && (nargs == 1 || (nargs == 2 && args[1] == Py_None))) {
        Call round = {state, PS_BUILTIN_RINT, &ps_builtin_info[PS_BUILTIN_RINT]};
        return map(&round, round_number, args, 1);
    }
    if (nargs == 1 && PyCFunction_Check(callee) && mode_is_vector(state, args[0])) {
        const char *name = ((PyCFunctionObject *)callee)->m_ml->ml_name;
        if (!strcmp(name, "any") || !strcmp(name, "all")) return PyObject_CallMethod(args[0], name, NULL);
    }
    if (nargs == 2 && ps_loop_keeps_nan(callee) && ps_loop_python_builtin(callee, &id)) {
        Call keeping = {state, id, &ps_builtin_info[id]};
        return map(&keeping, fold_nan, args, 2);
    }
    if (ps_loop_python_builtin(callee, &id)) return call_builtin(state, id, args, nargs, NULL, done);
    *done = false;
    return NULL;
}

/* max([a, b]) of one sequence: its elements. */
static PyObject *spread(PyObject *callee, PyObject *const **args, int *nargs) {
    if (*nargs != 1 || !PyCFunction_Check(callee) || !(PyList_Check(**args) || PyTuple_Check(**args)))
        return NULL;
    const char *name = ((PyCFunctionObject *)callee)->m_ml->ml_name;
    if (strcmp(name, "min") != 0 && strcmp(name, "max") != 0) return NULL;
    PyObject *tuple = PySequence_Tuple(**args);
    if (!tuple || PyTuple_GET_SIZE(tuple) == 0) return tuple;
    *nargs = (int)PyTuple_GET_SIZE(tuple);
    *args = PySequence_Fast_ITEMS(tuple);
    return tuple;
}

static PyObject *call(const PyState *state, PyObject *callee, PyObject *const *args, int nargs,
                      PyObject *names) {
    const PsFrontTypes *types = &state->types;
    PyObject *function = PyMethod_Check(callee) ? PyMethod_GET_FUNCTION(callee) : callee, *result;
    bool done = false, named = names && PyTuple_GET_SIZE(names);
    PsType type;
    if (Py_IS_TYPE(function, types->func)) return mode_call_func(state, callee, args, (size_t)nargs, names);
    if (Py_IS_TYPE(callee, types->builtin)) {
        if (named && PyTuple_GET_SIZE(names) == 1 &&
            ps_builtin_keyword(((PsBuiltinObject *)callee)->id, PyTuple_GET_ITEM(names, 0)) == nargs)
            nargs++, names = NULL;
        result = call_builtin(state, ((PsBuiltinObject *)callee)->id, args, nargs, names, &done);
        return done ? result : ps_builtin_plain(callee, args, nargs, names);
    }
    bool ours = Py_IS_TYPE(callee, types->dtype);
    if (nargs == 1 && !named && (ours || (PyType_Check(callee) && has_type(state, args[0]))) &&
        (type = ps_front_dtype(types, &state->options, callee)))
        return mode_cast_object(state, args[0], type);
    PyObject *held = spread(callee, &args, &nargs);
    result = !named && any_type(state, args, nargs) ? call_known(state, callee, args, nargs, &done) : NULL;
    if (!done && held && !(result = PyErr_Occurred() ? NULL : PyObject_CallOneArg(callee, held))) done = true;
    if (!done && !held) result = call_as_it_is(callee, args, nargs, names);
    Py_XDECREF(held);
    return result;
}

/* _mode_call(callee, *args, **names): a call in a rewritten function. */
PyObject *mode_call(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    return call(py_state(module), args[0], args + 1, (int)nargs - 1, names);
}

/* -- calls of which only the type is wanted -- */

static bool is_harmless(const PyState *state, PyObject *callee) {
    PsBuiltinId id;
    if (Py_IS_TYPE(callee, state->types.builtin)) {
        id = ((PsBuiltinObject *)callee)->id;
        PsBuiltinKind kind = ps_builtin_info[id].kind;
        if (kind != PS_BUILTIN_KIND_FORM) return kind != PS_BUILTIN_KIND_ATOMIC;
        return id != PS_BUILTIN_ATOMIC_CAS && id != PS_BUILTIN_STATIC_PRINT && id != PS_BUILTIN_STATIC_ASSERT;
    }
    return ps_front_dtype(&state->types, &state->options, callee) || ps_loop_python_builtin(callee, &id);
}

/* _mode_dry_call(callee, *args, **names): of a func the type that it is annotated with; of what may have effects, an
 * exception. */
PyObject *mode_dry_call(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    const PyState *state = py_state(module);
    PyObject *function = PyMethod_Check(args[0]) ? PyMethod_GET_FUNCTION(args[0]) : args[0];
    if (Py_IS_TYPE(function, state->types.func)) {
        PsType type = mode_result_type(state, (PsFuncObject *)function);
        if (type) return mode_number(state, type, 0);
    } else if (is_harmless(state, args[0])) {
        return mode_call(module, args, nargs, names);
    }
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "only its type is wanted");
}

PyObject *mode_rule(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    const PsFrontTypes *types = &((PyState *)PyType_GetModuleState(Py_TYPE(self)))->types;
    if (Py_IS_TYPE(args[0], types->matrix_type) || Py_IS_TYPE(args[0], types->struct_type))
        Py_RETURN_NOTIMPLEMENTED; /* they take numbers with types themselves */
    return call(PyType_GetModuleState(Py_TYPE(self)), args[0], args + 1, (int)nargs - 1, NULL);
}

PyObject *mode_not(PyObject *module, PyObject *value) {
    const PyState *state = py_state(module);
    if (mode_is_vector(state, value)) return mode_map(state, not_one, NULL, &value, 1);
    if (mode_is_number(state, value)) return not_one(state, NULL, &value);
    int truth = PyObject_IsTrue(value);
    return truth < 0 ? NULL : PyBool_FromLong(!truth);
}
