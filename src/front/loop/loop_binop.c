/* SPDX-License-Identifier: Apache-2.0
 *
 * The operators. Two Python values: Python computes. Otherwise the operands get the type that operators.def and
 * promote.def say and become one op; of vectors and matrices too, whose shapes must be the same.
 *
 * Comparisons of a signed with an unsigned integer compare the numbers, not the bits: -1 < 1 whatever the types.
 */
#include "front/loop/loop_int.h"

typedef enum OperatorRule {
    RULE_NONE,
    RULE_ARITH,
    RULE_DIVIDE,
    RULE_BITS,
    RULE_SHIFT,
    RULE_POWER,
    RULE_MATRIX
} OperatorRule;
typedef struct Operator {
    const char *symbol;
    PsOpCode op;
    OperatorRule rule;
    PyObject *(*python)(PyObject *, PyObject *);
    PsOpCode atomic;
} Operator;

static PyObject *python_power(PyObject *a, PyObject *b) { return PyNumber_Power(a, b, Py_None); }

static const Operator operators[PS_AST_BITXOR + 1] = {
#define PS_OPERATOR(ast, symbol, op, rule, python, atomic)                                                     \
    [PS_AST_##ast] = {symbol, PS_OP_##op, RULE_##rule, python, PS_OP_##atomic},
#include "front/loop/operators.def"
};

const char *loop_operator_symbol(PsAstOp op) { return operators[op].symbol; }
PsOpCode loop_operator_atomic(PsAstOp op) { return operators[op].atomic; }

static PsStatus unsupported(Loop *l, const char *symbol, const PsValue *a, const PsValue *b,
                            const char *expected) {
    if (a->kind == PS_VALUE_ARRAY || b->kind == PS_VALUE_ARRAY || loop_is_array_object(l, a) ||
        loop_is_array_object(l, b))
        return FAIL(l, OPERAND_ARRAY, symbol, loop_describe(l, a), loop_describe(l, b));
    const PsValue *numpy = a->kind == PS_VALUE_PYTHON && ps_is_numpy(a->object, "ndarray") ? a : b;
    if (numpy->kind == PS_VALUE_PYTHON && ps_is_numpy(numpy->object, "ndarray")) return FAIL(l, CAPTURED_NUMPY);
    return FAIL(l, OPERANDS, symbol, loop_describe(l, a), loop_describe(l, b), expected);
}

/* -- Python values -- */

/* Results beyond this many bits or elements have no use in a kernel, but could take minutes and all memory. */
#define MAX_PYTHON_SIZE 1048576.0

static double bits_of(PyObject *integer) {
    PyObject *bits = PyObject_CallMethod(integer, "bit_length", NULL);
    double n = bits ? PyLong_AsDouble(bits) : 0;
    Py_XDECREF(bits);
    PyErr_Clear();
    return n;
}

static double count_of(PyObject *integer) {
    double n = PyLong_AsDouble(integer);
    if (n == -1.0 && PyErr_Occurred()) n = MAX_PYTHON_SIZE * 2;
    PyErr_Clear();
    return n;
}

/* Of a str, bytes, list or tuple; -1: none of these. */
static double length_of(PyObject *object) {
    if (!PyUnicode_Check(object) && !PyBytes_Check(object) && !PyList_Check(object) && !PyTuple_Check(object))
        return -1;
    double n = (double)PyObject_Size(object);
    PyErr_Clear();
    return n;
}

/* Of the result, as far as it can be large. */
static double size_of_result(PsAstOp op, PyObject *a, PyObject *b) {
    if (PyLong_Check(a) && PyLong_Check(b)) {
        switch (op) {
        case PS_AST_MULT: return bits_of(a) + bits_of(b);
        case PS_AST_LSHIFT: return bits_of(a) + count_of(b);
        case PS_AST_POW: return bits_of(a) > 1 ? bits_of(a) * count_of(b) : 0;
        default: return 0;
        }
    }
    if (op == PS_AST_MULT && PyLong_Check(b)) return length_of(a) * count_of(b);
    if (op == PS_AST_MULT && PyLong_Check(a)) return length_of(b) * count_of(a);
    return op == PS_AST_ADD ? length_of(a) + length_of(b) : 0;
}

static PsStatus python_binary(Loop *l, PsAstOp op, PyObject *a, PyObject *b, PsValue *out) {
    if (size_of_result(op, a, b) > MAX_PYTHON_SIZE) return FAIL(l, PYTHON_HUGE, operators[op].symbol);
    return ps_value_take(&l->front, operators[op].python(a, b), out);
}

/* -- runtime values -- */

PsRef loop_written(Loop *l, PsRef ref) {
    PsOp *op = ps_op(loop_b(l)->func, ref);
    PsOpCode code = (PsOpCode)op->code;
    bool counts = code == PS_OP_ADD || code == PS_OP_SUB || code == PS_OP_MUL || code == PS_OP_SHL ||
                  code == PS_OP_ATOMIC_ADD || code == PS_OP_ATOMIC_MUL || code == PS_OP_DOT;
    bool real = loop_is_float(ps_type_element(l->front.module, op->type));
    if (real || !l->front.options->checked || l->front.options->overflow == PS_OVERFLOW_IGNORE) return ref;
    if (counts) op->imm = 1;
    if (code == PS_OP_REDUCE) op->imm |= PS_REDUCE_WRITTEN;
    return ref;
}

static PsStatus as_both(Loop *l, PsOpCode op, const PsValue *a, const PsValue *b, PsType type, PsValue *out) {
    PsRef left, right;
    TRY(loop_as(l, a, type, &left));
    TRY(loop_as(l, b, type, &right));
    *out = loop_value(l, loop_written(l, ps_build_binary(loop_b(l), op, left, right)));
    return PS_OK;
}

static PsStatus divide(Loop *l, const PsValue *a, const PsValue *b, PsType type, PsValue *out) {
    if (!loop_is_float(type)) type = l->front.options->default_fp;
    return as_both(l, PS_OP_DIV, a, b, type, out);
}

static PsStatus shift(Loop *l, PsOpCode op, const PsValue *a, const PsValue *b, PsValue *out) {
    PsType type = loop_element(l, a), amount = loop_element(l, b);
    PsRef left, right;
    TRY(loop_as(l, a, type == PS_U1 ? PS_I32 : type, &left));
    TRY(loop_as(l, b, amount == PS_U1 ? PS_I32 : amount, &right));
    *out = loop_value(l, loop_written(l, ps_build_binary(loop_b(l), op, left, right)));
    return PS_OK;
}

/* a ** n for a known n: the products that PS_OP_IPOW computes, without its loop. A half float's power is rounded once, so
 * it stays an IPOW. */
#define MAX_UNROLLED_POWER 64
static PsRef power_product(Loop *l, PsRef base, uint32_t n) {
    PsBuilder *b = loop_b(l);
    PsRef result = 0, one = base;
    for (; n; n >>= 1) {
        if (n & 1) result = result ? ps_build_binary(b, PS_OP_MUL, result, base) : base;
        if (n > 1) base = ps_build_binary(b, PS_OP_MUL, base, base);
    }
    return result ? result : loop_const_like(l, one, 1);
}

static PsStatus power_known(Loop *l, const PsValue *a, int64_t n, PsType type, PsValue *out) {
    PsBuilder *b = loop_b(l);
    PsRef base;
    if (n < 0 && !loop_is_float(type)) return FAIL(l, NEGATIVE_POWER);
    TRY(loop_as(l, a, type, &base));
    if (type == PS_F16 || type == PS_BF16) {
        PsRef exponent = ps_build_int(b, PS_I32, n);
        PsType like = loop_type_of(l, base);
        if (!ps_type_is_scalar(like)) exponent = loop_splat(l, exponent, like);
        *out = loop_value(l, ps_build_binary(b, PS_OP_IPOW, base, exponent));
        return PS_OK;
    }
    PsRef result = power_product(l, base, (uint32_t)(n < 0 ? -n : n));
    if (n < 0) result = ps_build_binary(b, PS_OP_DIV, loop_const_like(l, result, 1), result);
    *out = loop_value(l, result);
    return PS_OK;
}

static PsStatus power(Loop *l, const PsValue *a, const PsValue *b, PsType type, PsValue *out) {
    PsType base = loop_element(l, a), exponent = loop_element(l, b);
    int64_t known;
    if (loop_is_float(exponent)) return as_both(l, PS_OP_POW, a, b, type, out);
    if (base == PS_U1) base = PS_I32;
    if (b->kind == PS_VALUE_PYTHON && ps_number_int(b->object, &known) && known >= -MAX_UNROLLED_POWER &&
        known <= MAX_UNROLLED_POWER)
        return power_known(l, a, known, base, out);
    PsRef left, right;
    TRY(loop_as(l, a, base, &left));
    TRY(loop_as(l, b, exponent == PS_U1 ? PS_I32 : exponent, &right));
    *out = loop_value(l, ps_build_binary(loop_b(l), PS_OP_IPOW, left, right));
    return PS_OK;
}

static PsStatus scalar_binary(Loop *l, PsAstOp op, const PsValue *a, const PsValue *b, PsValue *out) {
    const Operator *info = &operators[op];
    PsType left = loop_element(l, a), right = loop_element(l, b);
    if (!left || !right) return unsupported(l, info->symbol, a, b, "numbers");
    bool real = loop_is_float(left) || loop_is_float(right);
    switch (info->rule) {
    case RULE_ARITH: return as_both(l, info->op, a, b, loop_promote(left, right), out);
    case RULE_DIVIDE: return divide(l, a, b, loop_promote(left, right), out);
    case RULE_POWER: return power(l, a, b, loop_promote(left, right), out);
    case RULE_BITS:
        if (real) return unsupported(l, info->symbol, a, b, "integers");
        return as_both(l, info->op, a, b, loop_promote_keep(left, right), out);
    case RULE_SHIFT:
        return real ? unsupported(l, info->symbol, a, b, "integers") : shift(l, info->op, a, b, out);
    default: return unsupported(l, info->symbol, a, b, "numbers");
    }
}

PsStatus loop_binary(Loop *l, PsAstOp op, const PsValue *a, const PsValue *b, PsValue *out) {
    if (loop_is_array_object(l, a) || loop_is_array_object(l, b))
        return unsupported(l, operators[op].symbol, a, b, "numbers");
    if (op == PS_AST_MOD && a->kind == PS_VALUE_PYTHON && PyUnicode_Check(a->object) &&
        loop_holds_proxies(l, b))
        return loop_percent(l, a->object, b, out);
    if (a->kind == PS_VALUE_PYTHON && b->kind == PS_VALUE_PYTHON && !(loop_is_tile(l, a) && !l->in_static) &&
        !(loop_is_tile(l, b) && !l->in_static))
        return python_binary(l, op, a->object, b->object, out);
    PsValue args[2] = {loop_load(l, a), loop_load(l, b)};
    PsType shape;
    if (op == PS_AST_MATMULT) return loop_matmul(l, &args[0], &args[1], out);
    TRY(loop_spread(l, 2, args, &shape));
    return scalar_binary(l, op, &args[0], &args[1], out);
}

/* -- unary -- */

static PsStatus python_unary(Loop *l, PsAstOp op, PyObject *a, PsValue *out) {
    PyObject *result = NULL;
    if (op == PS_AST_NOT) {
        int truth = PyObject_IsTrue(a);
        result = truth < 0 ? NULL : PyBool_FromLong(!truth);
    } else if (op == PS_AST_USUB)
        result = PyNumber_Negative(a);
    else if (op == PS_AST_UADD)
        result = PyNumber_Positive(a);
    else
        result = PyBool_Check(a) ? PyBool_FromLong(a == Py_False) : PyNumber_Invert(a);
    return ps_value_take(&l->front, result, out);
}

PsStatus loop_unary(Loop *l, PsAstOp op, const PsValue *a, PsValue *out) {
    static const char *const symbols[] = {
        [PS_AST_UADD] = "+", [PS_AST_USUB] = "-", [PS_AST_INVERT] = "~", [PS_AST_NOT] = "not"};
    if (loop_is_array_object(l, a)) return FAIL(l, OPERAND, symbols[op], loop_describe(l, a));
    if (a->kind == PS_VALUE_PYTHON && (l->in_static || !loop_is_tile(l, a)))
        return python_unary(l, op, a->object, out);
    PsType type = loop_element(l, a);
    PsRef value;
    if (!type) return FAIL(l, OPERAND, symbols[op], loop_describe(l, a));
    if (op == PS_AST_NOT) {
        if (loop_is_float(type)) return FAIL(l, INTEGERS_ONLY, "not", ps_scalar_name(type));
        TRY(loop_truths(l, "not", a, &value));
        *out = loop_value(l, ps_build_unary(loop_b(l), PS_OP_NOT, value));
        return PS_OK;
    }
    if (op == PS_AST_INVERT && loop_is_float(type)) return FAIL(l, INTEGERS_ONLY, "~", ps_scalar_name(type));
    TRY(loop_as(l, a, type == PS_U1 && op != PS_AST_INVERT ? PS_I32 : type, &value));
    if (op != PS_AST_UADD) value = ps_build_unary(loop_b(l), op == PS_AST_USUB ? PS_OP_NEG : PS_OP_NOT, value);
    *out = loop_value(l, value);
    return PS_OK;
}

/* -- comparisons -- */

static const struct {
    const char *symbol;
    PsOpCode op;
    int python;
} comparisons[] = {
    [PS_AST_EQ] = {"==", PS_OP_EQ, Py_EQ}, [PS_AST_NOTEQ] = {"!=", PS_OP_NE, Py_NE},
    [PS_AST_LT] = {"<", PS_OP_LT, Py_LT},  [PS_AST_LTE] = {"<=", PS_OP_LE, Py_LE},
    [PS_AST_GT] = {">", PS_OP_GT, Py_GT},  [PS_AST_GTE] = {">=", PS_OP_GE, Py_GE},
};

static bool is_signed(PsType t) { return ps_scalar_class(t) == PS_CLASS_INT; }

/* i against u64, a signed and an unsigned integer of which the unsigned one is 64 bits wide: where i is negative the
 * answer is known, else both fit u64. `swapped`: u64 op i. */
static PsStatus compare_u64(Loop *l, PsOpCode op, const PsValue *a, const PsValue *b, bool swapped,
                            PsValue *out) {
    PsBuilder *builder = loop_b(l);
    PsRef i, u, result, negative, known;
    TRY(loop_as(l, swapped ? b : a, PS_I64, &i));
    TRY(loop_as(l, swapped ? a : b, PS_U64, &u));
    negative = ps_build_binary(builder, PS_OP_LT, i, loop_const_like(l, i, 0));
    PsRef wide = ps_build_cast(builder, i, ps_type_with_element(l->front.module, loop_type_of(l, i), PS_U64));
    result = ps_build_binary(builder, op, swapped ? u : wide, swapped ? wide : u);
    bool less = op == PS_OP_LT || op == PS_OP_LE, more = op == PS_OP_GT || op == PS_OP_GE;
    known = loop_const_like(l, result, op == PS_OP_NE || (swapped ? more : less));
    *out = loop_value(l, ps_build_select(builder, negative, known, result));
    return PS_OK;
}

/* The type in which a literal takes part in a comparison: wide enough for its value. */
static PsType comparison_type(Loop *l, const PsValue *value) {
    PsType type = loop_element(l, value);
    int64_t known;
    if (value->kind != PS_VALUE_PYTHON || loop_is_float(type) || type == PS_U1 || loop_is_tile(l, value))
        return type;
    if (!ps_number_int(value->object, &known)) return PS_U64; /* loop_as refuses what does not fit */
    return known >= INT32_MIN && known <= INT32_MAX ? type : PS_I64;
}

static PsStatus scalar_compare(Loop *l, PsAstOp op, const PsValue *a, const PsValue *b, PsValue *out) {
    PsType left = loop_element(l, a), right = loop_element(l, b);
    PsOpCode code = comparisons[op].op;
    if (!left || !right) return unsupported(l, comparisons[op].symbol, a, b, "numbers");
    left = comparison_type(l, a), right = comparison_type(l, b);
    PsType type = loop_promote_keep(left, right);
    if (loop_is_float(type) || is_signed(left) == is_signed(right) || left == PS_U1 || right == PS_U1)
        return as_both(l, code, a, b, type, out);
    if (left == PS_U64 || right == PS_U64) return compare_u64(l, code, a, b, left == PS_U64, out);
    return as_both(l, code, a, b, PS_I64, out);
}

PsStatus loop_compare(Loop *l, PsAstOp op, const PsValue *a, const PsValue *b, PsValue *out) {
    if ((loop_is_array_object(l, a) && loop_numeric(l, b)) ||
        (loop_is_array_object(l, b) && loop_numeric(l, a)))
        return unsupported(l, comparisons[op].symbol, a, b, "numbers");
    if (loop_is_array_object(l, a)) loop_pin(l, a, PS_PIN_OBJECT);
    if (loop_is_array_object(l, b)) loop_pin(l, b, PS_PIN_OBJECT);
    if (a->kind == PS_VALUE_PYTHON && b->kind == PS_VALUE_PYTHON &&
        (l->in_static || (!loop_is_tile(l, a) && !loop_is_tile(l, b))))
        return ps_value_take(&l->front, PyObject_RichCompare(a->object, b->object, comparisons[op].python),
                             out);
    PsValue args[2] = {loop_load(l, a), loop_load(l, b)};
    PsType shape;
    TRY(loop_spread(l, 2, args, &shape));
    /* Of values that can never be equal, such as a number and None. */
    if ((op == PS_AST_EQ || op == PS_AST_NOTEQ) && !shape && (!loop_element(l, a) || !loop_element(l, b)) &&
        (a->kind == PS_VALUE_PYTHON || b->kind == PS_VALUE_PYTHON) &&
        (a->kind != PS_VALUE_ARRAY && b->kind != PS_VALUE_ARRAY)) {
        *out = ps_value_python(op == PS_AST_NOTEQ ? Py_True : Py_False);
        return PS_OK;
    }
    return scalar_compare(l, op, &args[0], &args[1], out);
}
