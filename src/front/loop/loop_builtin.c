/* SPDX-License-Identifier: Apache-2.0
 *
 * The builtins of builtins.def on runtime values: the elementwise ones by kind, the forms through a table.
 */
#include "front/loop/loop_int.h"

#include <math.h>

typedef struct Call {
    PsBuiltinId id;
    const PsBuiltinInfo *info;
} Call;

static PsStatus wants_number(Loop *l, const char *name, const PsValue *value, PsType *out) {
    *out = loop_element(l, value);
    return *out ? PS_OK : FAIL(l, BUILTIN_OPERAND, name, loop_describe(l, value));
}

/* -- one operand -- */

static PsStatus unary_integer(Loop *l, const Call *call, const PsValue *value, PsType type, PsValue *out) {
    PsRef ref;
    if (loop_is_float(type)) return FAIL(l, INTEGERS_ONLY, call->info->name, ps_scalar_name(type));
    TRY(loop_as(l, value, type == PS_U1 ? PS_I32 : type, &ref));
    ref = ps_build_unary(loop_b(l), call->info->op, ref);
    type = ps_type_with_element(l->front.module, loop_type_of(l, ref), PS_I32);
    *out = loop_value(l, ps_build_cast(loop_b(l), ref, type));
    return PS_OK;
}

static bool rounds(PsOpCode op) {
    return op == PS_OP_FLOOR || op == PS_OP_CEIL || op == PS_OP_ROUND || op == PS_OP_RINT || op == PS_OP_TRUNC;
}

static PsStatus unary(Loop *l, void *data, const PsValue *args, PsValue *out) {
    const Call *call = data;
    PsOpCode op = call->info->op;
    PsType type;
    PsRef ref;
    TRY(wants_number(l, call->info->name, &args[0], &type));
    if (op == PS_OP_NOT) return loop_unary(l, PS_AST_INVERT, &args[0], out);
    if (ps_op_info[op].rule == PS_RULE_INT) return unary_integer(l, call, &args[0], type, out);
    if (ps_op_info[op].rule == PS_RULE_FLOAT && !loop_is_float(type)) {
        if (rounds(op)) return FAIL(l, REALS_ONLY, call->info->name, ps_scalar_name(type));
        type = l->front.options->default_fp;
    }
    if (type == PS_U1) type = PS_I32;
    TRY(loop_as(l, &args[0], type, &ref));
    *out = loop_value(l, ps_build_unary(loop_b(l), op, ref));
    return PS_OK;
}

static PsStatus cast_to(Loop *l, void *data, const PsValue *args, PsValue *out) {
    PsRef ref;
    TRY(loop_cast(l, &args[0], *(PsType *)data, &ref));
    *out = loop_value(l, ref);
    return PS_OK;
}

static PsStatus wants_dtype(Loop *l, const char *name, const PsValue *value, PsType *out) {
    *out = value->kind == PS_VALUE_PYTHON ? ps_front_dtype(l->front.types, l->front.options, value->object)
                                          : PS_KIND_NONE;
    return *out ? PS_OK : FAIL(l, BUILTIN_DTYPE, name, loop_describe(l, value));
}

static PsStatus call_unary(Loop *l, Call *call, CallArgs *args, PsValue *out) {
    PsType type;
    TRY(unary(l, call, args->args, out));
    if (args->nargs == 1) return PS_OK;
    TRY(wants_dtype(l, call->info->name, &args->args[1], &type));
    PsValue whole = *out;
    return cast_to(l, &type, &whole, out);
}

/* -- two operands -- */

static PsStatus both_as(Loop *l, PsOpCode op, const PsValue *args, PsType type, PsValue *out) {
    PsRef a, b;
    TRY(loop_as(l, &args[0], type, &a));
    TRY(loop_as(l, &args[1], type, &b));
    *out = loop_value(l, ps_build_binary(loop_b(l), op, a, b));
    return PS_OK;
}

static PsStatus shift_unsigned(Loop *l, const char *name, const PsValue *args, PsType left, PsType right,
                               PsValue *out) {
    PsRef a, b;
    if (loop_is_float(left) || loop_is_float(right))
        return FAIL(l, INTEGERS_ONLY, name, ps_scalar_name(loop_is_float(left) ? left : right));
    TRY(loop_as(l, &args[0], left == PS_U1 ? PS_I32 : left, &a));
    TRY(loop_as(l, &args[1], right == PS_U1 ? PS_I32 : right, &b));
    *out = loop_value(l, ps_build_binary(loop_b(l), PS_OP_USHR, a, b));
    return PS_OK;
}

static PsStatus binary(Loop *l, void *data, const PsValue *args, PsValue *out) {
    const Call *call = data;
    PsType left, right;
    TRY(wants_number(l, call->info->name, &args[0], &left));
    TRY(wants_number(l, call->info->name, &args[1], &right));
    PsType type = loop_promote(left, right);
    switch (call->id) {
    case PS_BUILTIN_POW: return loop_binary(l, PS_AST_POW, &args[0], &args[1], out);
    case PS_BUILTIN_BIT_SHR: return shift_unsigned(l, call->info->name, args, left, right, out);
    case PS_BUILTIN_RAW_DIV:
        return both_as(l, loop_is_float(type) ? PS_OP_DIV : PS_OP_TRUNCDIV, args, type, out);
    case PS_BUILTIN_RAW_MOD:
        return both_as(l, loop_is_float(type) ? PS_OP_FMOD : PS_OP_TRUNCMOD, args, type, out);
    default: break;
    }
    if (!loop_is_float(type)) type = l->front.options->default_fp;
    return both_as(l, call->info->op, args, type, out);
}

/* min, max: all operands in one type, from the left. */
static PsStatus fold_pair(Loop *l, void *data, const PsValue *args, PsValue *out) {
    const Call *call = data;
    PsType left, right;
    TRY(wants_number(l, call->info->name, &args[0], &left));
    TRY(wants_number(l, call->info->name, &args[1], &right));
    return both_as(l, call->info->op, args, loop_promote_keep(left, right), out);
}

/* numpy's maximum and minimum: the first NaN among the operands, if there is one. */
static PsStatus fold_nan(Loop *l, void *data, const PsValue *args, PsValue *out) {
    PsBuilder *b = loop_b(l);
    TRY(fold_pair(l, data, args, out));
    PsType type = loop_element(l, out);
    for (int i = 1; i >= 0 && loop_is_float(type); i--) {
        PsRef ref;
        TRY(loop_as(l, &args[i], type, &ref));
        *out = loop_value(l, ps_build_select(b, ps_build_binary(b, PS_OP_NE, ref, ref), ref, out->ref));
    }
    return PS_OK;
}

static PsStatus call_fold(Loop *l, Call *call, CallArgs *args, PsValue *out) {
    *out = args->args[0];
    for (uint32_t i = 1; i < args->nargs; i++) {
        PsValue pair[2] = {*out, args->args[i]};
        PsType shape;
        TRY(loop_spread(l, 2, pair, &shape));
        TRY(fold_pair(l, call, pair, out));
    }
    return PS_OK;
}

/* -- forms on values -- */

static PsStatus select_rule(Loop *l, void *data, const PsValue *args, PsValue *out) {
    PsRef condition, a, b;
    PsType left, right;
    (void)data;
    TRY(loop_truths(l, "select", &args[0], &condition));
    TRY(wants_number(l, "select", &args[1], &left));
    TRY(wants_number(l, "select", &args[2], &right));
    PsType type = loop_promote_keep(left, right);
    TRY(loop_as(l, &args[1], type, &a));
    TRY(loop_as(l, &args[2], type, &b));
    *out = loop_value(l, ps_build_select(loop_b(l), condition, a, b));
    return PS_OK;
}

static PsStatus is_rule(Loop *l, void *data, const PsValue *args, PsValue *out) {
    bool nan = *(PsBuiltinId *)data == PS_BUILTIN_ISNAN;
    PsBuilder *b = loop_b(l);
    PsType type;
    PsRef ref;
    TRY(wants_number(l, nan ? "isnan" : "isinf", &args[0], &type));
    TRY(loop_as(l, &args[0], type, &ref));
    if (nan || !loop_is_float(type)) { /* an integer is neither */
        ref = ps_build_binary(b, PS_OP_NE, ref, ref);
    } else {
        PsRef infinity = ps_build_float(b, type, INFINITY);
        PsType shape = loop_type_of(l, ref);
        if (!ps_type_is_scalar(shape)) infinity = loop_splat(l, infinity, shape);
        ref = ps_build_binary(b, PS_OP_EQ, ps_build_unary(b, PS_OP_ABS, ref), infinity);
    }
    *out = loop_value(l, ref);
    return PS_OK;
}

static PsStatus like_rule(Loop *l, void *data, const PsValue *args, PsValue *out) {
    PsType type;
    PsRef ref;
    TRY(wants_number(l, *(int *)data ? "one" : "zero", &args[0], &type));
    TRY(loop_as(l, &args[0], type, &ref));
    *out = loop_value(l, loop_const_like(l, ref, *(int *)data));
    return PS_OK;
}

static PsStatus not_rule(Loop *l, void *data, const PsValue *args, PsValue *out) {
    (void)data;
    return loop_unary(l, PS_AST_NOT, &args[0], out);
}

typedef PsStatus (*Rule)(Loop *, void *, const PsValue *, PsValue *);

/* The rule on all operands in one shape. */
static PsStatus map(Loop *l, CallArgs *args, Rule rule, void *data, PsValue *out) {
    PsType shape;
    TRY(loop_spread(l, args->nargs, args->args, &shape));
    return rule(l, data, args->args, out);
}

static PsStatus form_select(Loop *l, CallArgs *args, PsValue *out) {
    return map(l, args, select_rule, NULL, out);
}
static PsStatus form_not(Loop *l, CallArgs *args, PsValue *out) { return map(l, args, not_rule, NULL, out); }
static PsStatus form_isnan(Loop *l, CallArgs *args, PsValue *out) {
    PsBuiltinId id = PS_BUILTIN_ISNAN;
    return map(l, args, is_rule, &id, out);
}
static PsStatus form_isinf(Loop *l, CallArgs *args, PsValue *out) {
    PsBuiltinId id = PS_BUILTIN_ISINF;
    return map(l, args, is_rule, &id, out);
}
static PsStatus form_zero(Loop *l, CallArgs *args, PsValue *out) {
    int value = 0;
    return map(l, args, like_rule, &value, out);
}
static PsStatus form_one(Loop *l, CallArgs *args, PsValue *out) {
    int value = 1;
    return map(l, args, like_rule, &value, out);
}

static PsStatus form_cast(Loop *l, CallArgs *args, PsValue *out) {
    PsType type, from;
    TRY(wants_dtype(l, "cast", &args->args[1], &type));
    TRY(wants_number(l, "cast", &args->args[0], &from));
    return cast_to(l, &type, args->args, out);
}

static PsStatus form_bit_cast(Loop *l, CallArgs *args, PsValue *out) {
    PsType type, from;
    PsRef ref;
    TRY(wants_dtype(l, "bit_cast", &args->args[1], &type));
    TRY(wants_number(l, "bit_cast", &args->args[0], &from));
    if (from == PS_U1 || type == PS_U1 || ps_scalar_bits(from) != ps_scalar_bits(type))
        return FAIL(l, BIT_CAST, ps_scalar_name(from), ps_scalar_name(type));
    TRY(loop_runtime(l, &args->args[0], &ref));
    PsType to = ps_type_with_element(l->front.module, loop_type_of(l, ref), type);
    if (from != type) ref = ps_build_op(loop_b(l), PS_OP_BITCAST, to, &ref, 1, 0);
    *out = loop_value(l, ref);
    return PS_OK;
}

/* -- forms at compile time -- */

static PsStatus form_static(Loop *l, CallArgs *args, PsValue *out) {
    for (uint32_t i = 0; i < args->nargs; i++)
        if (args->args[i].kind == PS_VALUE_SCALAR || args->args[i].kind == PS_VALUE_STRUCT)
            return FAIL(l, STATIC_NEEDED, "ti.static", loop_describe(l, &args->args[i]));
    if (args->nargs == 1)
        *out = args->args[0];
    else {
        PyObject *tuple = ps_front_keep(&l->front, PyTuple_New(args->nargs));
        for (uint32_t i = 0; tuple && i < args->nargs; i++) {
            PyObject *item = ps_value_object(&l->front, &args->args[i]);
            if (!item) return PS_PYERR;
            PyTuple_SET_ITEM(tuple, i, item);
        }
        if (!tuple) return PS_PYERR;
        *out = ps_value_python(tuple);
    }
    out->is_static = true;
    return PS_OK;
}

static PsStatus form_static_assert(Loop *l, CallArgs *args, PsValue *out) {
    int truth;
    TRY(loop_truth(l, &args->args[0], &truth));
    *out = ps_value_python(Py_None);
    if (truth < 0) return FAIL(l, STATIC_ASSERT_RUNTIME, loop_describe(l, &args->args[0]));
    if (truth) return PS_OK;
    if (args->nargs == 1 || args->args[1].kind != PS_VALUE_PYTHON)
        return FAIL(l, STATIC_ASSERT, "this static assertion does not hold");
    PyObject *text = ps_front_keep(&l->front, PyObject_Str(args->args[1].object));
    const char *message = text ? PyUnicode_AsUTF8(text) : NULL;
    return message ? FAIL(l, STATIC_ASSERT, message) : PS_PYERR;
}

/* What is known only when the kernel runs prints as what it is: i32, vector of 3 f32, ... */
static PyObject *printed(Loop *l, const PsValue *value) {
    const PsFrontTypes *types = l->front.types;
    if (value->kind == PS_VALUE_PYTHON &&
        (ps_is_array(types, value->object) || ps_is_structs(types, value->object)))
        return PyObject_Repr(value->object);
    if (value->kind == PS_VALUE_PYTHON) return ps_value_object(&l->front, value);
    const char *text = loop_describe(l, value);
    return text ? PyUnicode_FromString(text) : PyErr_NoMemory();
}

static PsStatus form_static_print(Loop *l, CallArgs *args, PsValue *out) {
    PyObject *builtins = PyEval_GetBuiltins(), *print = builtins ? ps_dict_find(builtins, "print") : NULL;
    PyObject *tuple = ps_front_keep(&l->front, PyTuple_New(args->nargs));
    *out = ps_value_python(Py_None);
    for (uint32_t i = 0; tuple && i < args->nargs; i++) {
        PyObject *item = printed(l, &args->args[i]);
        if (!item) return PS_PYERR;
        PyTuple_SET_ITEM(tuple, i, item);
    }
    if (!tuple || !print) return PyErr_Occurred() ? PS_PYERR : PS_OK;
    return ps_value_take(&l->front, PyObject_Call(print, tuple, NULL), out);
}

static PsStatus form_random(Loop *l, CallArgs *args, PsValue *out) { return loop_random(l, false, args, out); }
static PsStatus form_randn(Loop *l, CallArgs *args, PsValue *out) { return loop_random(l, true, args, out); }

static PsStatus form_ndrange(Loop *l, CallArgs *args, PsValue *out) { return loop_make_ndrange(l, args, out); }

static PsStatus form_grouped(Loop *l, CallArgs *args, PsValue *out) {
    PsValue *inner = ps_arena_alloc(l->front.arena, sizeof *inner);
    if (!inner) return PS_NOMEM;
    *inner = args->args[0];
    TRY(loop_from_outside(l, inner));
    if (inner->kind == PS_VALUE_STRUCTS) *inner = *loop_first_array(inner);
    TRY(loop_known_ndrange(l, inner));
    if (inner->kind != PS_VALUE_ARRAY && inner->kind != PS_VALUE_NDRANGE)
        return FAIL(l, GROUPED, loop_describe(l, inner));
    *out = (PsValue){.kind = PS_VALUE_GROUPED, .items = inner};
    return PS_OK;
}

static PsStatus form_loop_config(Loop *l, CallArgs *args, PsValue *out) {
    static const char *const known[] = {"serialize",          "parallelize",   "block_dim",
                                        "block_dim_adaptive", "bit_vectorize", "name"};
    *out = ps_value_python(Py_None);
    l->config = true;
    l->serialize = false;
    l->config_at = l->front.at;
    if (args->nargs) return FAIL(l, LOOP_CONFIG_ARGS);
    for (uint32_t i = 0; i < args->nnamed; i++) {
        size_t k = 0;
        int truth;
        while (k < PS_COUNT(known) && PyUnicode_CompareWithASCIIString(args->names[i], known[k]) != 0) k++;
        if (k == PS_COUNT(known)) return loop_no_keywords(l, "loop_config", args);
        TRY(loop_truth(l, &args->named[i], &truth));
        if (truth < 0) return FAIL(l, STATIC_NEEDED, "ti.loop_config", loop_describe(l, &args->named[i]));
        if (k == 0) l->serialize = truth;
    }
    return PS_OK;
}

static PsStatus form_clock_counter(Loop *l, CallArgs *args, PsValue *out) {
    (void)args;
    *out = loop_value(l, ps_build_op(loop_b(l), PS_OP_CLOCK, PS_I64, NULL, 0, 0));
    return PS_OK;
}

static PsStatus (*const forms[PS_BUILTIN_COUNT])(Loop *, CallArgs *, PsValue *) = {
    [PS_BUILTIN_CAST] = form_cast,
    [PS_BUILTIN_VOLATILE_LOAD] = loop_volatile_load,
    [PS_BUILTIN_GET_ADDR] = loop_get_addr,
    [PS_BUILTIN_CLOCK_COUNTER] = form_clock_counter,
    [PS_BUILTIN_BIT_CAST] = form_bit_cast,
    [PS_BUILTIN_SELECT] = form_select,
    [PS_BUILTIN_LOGICAL_NOT] = form_not,
    [PS_BUILTIN_ISNAN] = form_isnan,
    [PS_BUILTIN_ISINF] = form_isinf,
    [PS_BUILTIN_STATIC] = form_static,
    [PS_BUILTIN_STATIC_ASSERT] = form_static_assert,
    [PS_BUILTIN_STATIC_PRINT] = form_static_print,
    [PS_BUILTIN_NDRANGE] = form_ndrange,
    [PS_BUILTIN_GROUPED] = form_grouped,
    [PS_BUILTIN_LOOP_CONFIG] = form_loop_config,
    [PS_BUILTIN_RANDOM] = form_random,
    [PS_BUILTIN_RANDN] = form_randn,
    [PS_BUILTIN_ZERO] = form_zero,
    [PS_BUILTIN_ONE] = form_one,
};

/* -- calls -- */

PsStatus loop_check_builtin(Loop *l, PsBuiltinId id, const CallArgs *args) {
    const PsBuiltinInfo *info = &ps_builtin_info[id];
    if (id != PS_BUILTIN_NDRANGE && id != PS_BUILTIN_LOOP_CONFIG) TRY(loop_no_keywords(l, info->name, args));
    if ((int)args->nargs >= info->min_args && (info->max_args < 0 || (int)args->nargs <= info->max_args))
        return PS_OK;
    return FAIL(l, BUILTIN_COUNT, info->name, info->min_args,
                info->max_args == info->min_args ? "" : " or more",
                info->min_args == 1 && info->max_args == 1 ? "" : "s", args->nargs);
}

PsStatus loop_call_keeping_nan(Loop *l, PsBuiltinId id, CallArgs *args, PsValue *out) {
    Call call = {id, &ps_builtin_info[id]};
    TRY(loop_check_builtin(l, id, args));
    if (args->nargs > 2) return FAIL(l, BUILTIN_COUNT, call.info->name, 2, "", "s", args->nargs);
    return map(l, args, fold_nan, &call, out);
}

PsStatus loop_call_builtin(Loop *l, PsBuiltinId id, CallArgs *args, PsValue *out) {
    Call call = {id, &ps_builtin_info[id]};
    TRY(loop_check_builtin(l, id, args));
    switch (call.info->kind) {
    case PS_BUILTIN_KIND_UNARY: return call_unary(l, &call, args, out);
    case PS_BUILTIN_KIND_BINARY: return map(l, args, binary, &call, out);
    case PS_BUILTIN_KIND_FOLD: return call_fold(l, &call, args, out);
    case PS_BUILTIN_KIND_ATOMIC:
        return loop_atomic(l, call.info->op, id == PS_BUILTIN_ATOMIC_SUB, call.info->name, &args->args[0],
                           &args->args[1], out);
    case PS_BUILTIN_KIND_FORM: break;
    }
    return id == PS_BUILTIN_ATOMIC_CAS ? loop_atomic_cas(l, args, out) : forms[id](l, args, out);
}
