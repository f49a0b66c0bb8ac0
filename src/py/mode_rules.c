/* SPDX-License-Identifier: Apache-2.0
 *
 * What operators on typed numbers give: the rules of front/loop (loop_binop.c, loop_promote.c), with the value at once
 * instead of an op. The tables are theirs. Contraction (pass contract) is here too: a product remembers its factors
 * until it gets a name, and a sum with it is an fma.
 */
#include "py/mode_int.h"
#include "py/py_matrix.h"

/* -- tables -- */

#define PS_PROMOTE(type, ...) [PS_##type] = {PS_KIND_NONE, PROMOTE_ROW(__VA_ARGS__)},
#define PROMOTE_ROW(a, b, c, d, e, f, g, h, i, j, k, l, m)                                                     \
    PS_##a, PS_##b, PS_##c, PS_##d, PS_##e, PS_##f, PS_##g, PS_##h, PS_##i, PS_##j, PS_##k, PS_##l, PS_##m
static const uint8_t promoted[PS_SCALAR_END][PS_SCALAR_END] = {
#include "front/loop/promote.def"
};

PsType mode_promote(PsType a, PsType b) { return promoted[a][b]; }
PsType mode_promote_keep(PsType a, PsType b) { return a == b ? a : mode_promote(a, b); }

typedef enum Rule { RULE_ARITH, RULE_DIVIDE, RULE_BITS, RULE_SHIFT, RULE_POWER, RULE_MATRIX } Rule;
static const struct {
    const char *symbol;
    PsOpCode op;
    Rule rule;
    PsOpCode atomic;
} operators[PS_AST_BITXOR + 1] = {
#define PS_OPERATOR(ast, symbol, op, rule, python, atomic)                                                     \
    [PS_AST_##ast] = {symbol, PS_OP_##op, RULE_##rule, PS_OP_##atomic},
#include "front/loop/operators.def"
};

static bool is_float(PsType type) { return ps_scalar_class(type) == PS_CLASS_FLOAT; }
static bool is_signed(PsType type) { return ps_scalar_class(type) == PS_CLASS_INT; }
static PsType at_least_i32(PsType type) { return type == PS_U1 ? PS_I32 : type; }

static PyObject *refuse_float(const PyState *state, const char *symbol, PsType found) {
    return py_error(state, PS_MSG_MODE_WANTS, symbol, "integers", ps_scalar_name(found));
}

static PyObject *refuse(const PyState *state, PsAstOp op, const ModeOperand *a, const ModeOperand *b) {
    PsType real = ps_scalar_class(a->type) == PS_CLASS_FLOAT ? a->type : b->type;
    return refuse_float(state, operators[op].symbol, real);
}

/* -- sums and products -- */

static PyObject *product(const PyState *state, PsType type, uint64_t a, uint64_t b) {
    uint64_t args[2] = {a, b};
    PyObject *made = mode_number(state, type, ps_eval_scalar(PS_OP_MUL, type, type, args));
    if (!made || !is_float(type)) return made;
    ((ModeNumber *)made)->product = true;
    ((ModeNumber *)made)->a = a;
    ((ModeNumber *)made)->b = b;
    return made;
}

/* Whether nothing but the running expression has it. From 3.14 on Python lends its variables to expressions without
 * counting a reference, so the count alone does not tell. */
static bool is_temporary(PyObject *object) {
#if PY_VERSION_HEX >= 0x030E0000
    return PyUnstable_Object_IsUniqueReferencedTemporary(object);
#else
    return Py_REFCNT(object) == 1;
#endif
}

bool mode_lends(const PsMatrixObject *m) {
    return m->product && (m->product == 2 || is_temporary((PyObject *)m));
}

/* A product that is nothing but an operand here, in the type of the sum. */
static const ModeNumber *free_product(const PyState *state, const ModeOperand *operand, PsType type) {
    if (!mode_is_number(state, operand->object)) return NULL;
    const ModeNumber *number = (const ModeNumber *)operand->object;
    bool free = number->lent || is_temporary(operand->object);
    return free && number->product && number->type == type ? number : NULL;
}

static uint64_t negated(PsType type, uint64_t bits) { return ps_eval_scalar(PS_OP_NEG, type, type, &bits); }

/* a + b, a - b: x is a product's, the other operand stands beside it. */
static uint64_t sum(const PyState *state, bool sub, PsType type, const ModeOperand *a, const ModeOperand *b,
                    const uint64_t bits[2]) {
    const ModeNumber *left = is_float(type) ? free_product(state, a, type) : NULL,
                     *right = is_float(type) && !left ? free_product(state, b, type) : NULL;
    if (left) {
        uint64_t args[3] = {left->a, left->b, sub ? negated(type, bits[1]) : bits[1]};
        return ps_eval_scalar(PS_OP_FMA, type, type, args);
    }
    if (right) {
        uint64_t args[3] = {sub ? negated(type, right->a) : right->a, right->b, bits[0]};
        return ps_eval_scalar(PS_OP_FMA, type, type, args);
    }
    return ps_eval_scalar(sub ? PS_OP_SUB : PS_OP_ADD, type, type, bits);
}

/* -- by rule -- */

static int both_as(const PyState *state, const ModeOperand *a, const ModeOperand *b, PsType left, PsType right,
                   uint64_t out[2]) {
    return mode_as(state, a, left, &out[0]) || mode_as(state, b, right, &out[1]) ? -1 : 0;
}

static int check_divisor(const PyState *state, PsType type, const uint64_t bits[2]) {
    if (!state->options.checked || bits[1]) return 0;
    uint64_t wide = ps_eval_scalar(PS_OP_CAST, type, type == PS_U64 ? PS_U64 : PS_I64, bits);
    char dividend[24];
    snprintf(dividend, sizeof dividend, type == PS_U64 ? "%llu" : "%lld", (unsigned long long)wide);
    py_error(state, PS_MSG_PY_FAULT_DIV_ZERO, dividend);
    return -1;
}

static PyObject *arithmetic(const PyState *state, PsAstOp op, const ModeOperand *a, const ModeOperand *b,
                            PsType type) {
    uint64_t bits[2];
    if (both_as(state, a, b, type, type, bits)) return NULL;
    if (op == PS_AST_ADD || op == PS_AST_SUB)
        return mode_number(state, type, sum(state, op == PS_AST_SUB, type, a, b, bits));
    if (op == PS_AST_MULT) return product(state, type, bits[0], bits[1]);
    bool divides = op == PS_AST_FLOORDIV || op == PS_AST_MOD;
    if (divides && !is_float(type) && check_divisor(state, type, bits)) return NULL;
    return mode_number(state, type, ps_eval_scalar(operators[op].op, type, type, bits));
}

static PyObject *shift(const PyState *state, PsAstOp op, const ModeOperand *a, const ModeOperand *b) {
    PsType left = at_least_i32(a->type), right = at_least_i32(b->type);
    uint64_t bits[2];
    if (both_as(state, a, b, left, right, bits)) return NULL;
    return mode_number(state, left, ps_eval_scalar(operators[op].op, left, right, bits));
}

/* a ** n for a known n: the products that loop_binop.c makes of it. */
#define MAX_UNROLLED_POWER 64
static PyObject *power_known(const PyState *state, PsType type, uint64_t base, int64_t exponent) {
    typedef struct Value {
        uint64_t bits, factors[2];
        bool is_product;
    } Value;
    Value square = {.bits = base}, result = {0};
    uint64_t one = 1;
    bool any = false;
    if (type == PS_F16 || type == PS_BF16) { /* rounded once */
        uint64_t args[2] = {base, (uint32_t)(int32_t)exponent};
        return mode_number(state, type, ps_eval_scalar(PS_OP_IPOW, type, PS_I32, args));
    }
    for (uint64_t n = (uint64_t)(exponent < 0 ? -exponent : exponent); n; n >>= 1) {
        if ((n & 1) && any) {
            result = (Value){.factors = {result.bits, square.bits}, .is_product = true};
            result.bits = ps_eval_scalar(PS_OP_MUL, type, type, result.factors);
        } else if (n & 1) {
            result = square;
            any = true;
        }
        if (n == 1) break;
        square = (Value){.factors = {square.bits, square.bits}, .is_product = true};
        square.bits = ps_eval_scalar(PS_OP_MUL, type, type, square.factors);
    }
    one = ps_eval_scalar(PS_OP_CAST, PS_I32, type, &one);
    if (!any) return mode_number(state, type, one);
    if (exponent < 0) {
        uint64_t args[2] = {one, result.bits};
        return mode_number(state, type, ps_eval_scalar(PS_OP_DIV, type, type, args));
    }
    if (result.is_product) return product(state, type, result.factors[0], result.factors[1]);
    return mode_number(state, type, result.bits);
}

static PyObject *power(const PyState *state, const ModeOperand *a, const ModeOperand *b, PsType type) {
    uint64_t bits[2];
    if (is_float(b->type)) {
        if (both_as(state, a, b, type, type, bits)) return NULL;
        return mode_number(state, type, ps_eval_scalar(PS_OP_POW, type, type, bits));
    }
    PsType base = at_least_i32(a->type), exponent = at_least_i32(b->type);
    if (both_as(state, a, b, base, exponent, bits)) return NULL;
    int64_t known = (int64_t)b->bits;
    if (b->kind == MODE_INT && known >= -MAX_UNROLLED_POWER && known <= MAX_UNROLLED_POWER) {
        if (known < 0 && !is_float(base))
            return py_error(state, PS_MSG_MODE_WANTS, "** of integers", "an exponent from 0", "a negative one");
        return power_known(state, base, bits[0], known);
    }
    return mode_number(state, base, ps_eval_scalar(PS_OP_IPOW, base, exponent, bits));
}

PyObject *mode_binary(const PyState *state, PsAstOp op, PyObject *x, PyObject *y) {
    ModeOperand a, b;
    if (!mode_read(state, x, &a) || !mode_read(state, y, &b)) Py_RETURN_NOTIMPLEMENTED;
    PsType type = mode_promote(a.type, b.type);
    bool real = is_float(type);
    switch (operators[op].rule) {
    case RULE_ARITH: return arithmetic(state, op, &a, &b, type);
    case RULE_DIVIDE: return arithmetic(state, op, &a, &b, real ? type : state->options.default_fp);
    case RULE_POWER: return power(state, &a, &b, type);
    case RULE_BITS:
        return real ? refuse(state, op, &a, &b)
                    : arithmetic(state, op, &a, &b, mode_promote_keep(a.type, b.type));
    case RULE_SHIFT: return real ? refuse(state, op, &a, &b) : shift(state, op, &a, &b);
    default: Py_RETURN_NOTIMPLEMENTED;
    }
}

/* -- a op= b -- */

/* The new value of a place of the type: + - & | ^ in its own type, others computed as an expression and converted. */
static PyObject *updated(const PyState *state, PsAstOp op, const ModeOperand *a, const ModeOperand *b,
                         bool element) {
    PsType type = a->type;
    uint64_t bits[2] = {a->bits};
    if (operators[op].atomic == PS_OP_NONE) {
        PyObject *value = mode_binary(state, op, a->object, b->object);
        if (!value || value == Py_NotImplemented) return value;
        PyObject *cast = mode_cast_object(state, value, type);
        Py_DECREF(value);
        return cast;
    }
    if (op >= PS_AST_BITAND && is_float(type)) return refuse_float(state, operators[op].symbol, type);
    if (mode_cast(state, b, type, &bits[1])) return NULL;
    PsOpCode code = type != PS_U1      ? operators[op].op
                    : op == PS_AST_ADD ? PS_OP_OR
                    : op == PS_AST_SUB ? PS_OP_XOR
                                       : operators[op].op;
    if ((code == PS_OP_ADD || code == PS_OP_SUB) &&
        !element) /* of an element it is atomic: no product goes in */
        return mode_number(state, type, sum(state, code == PS_OP_SUB, type, a, b, bits));
    return mode_number(state, type, ps_eval_scalar(code, type, type, bits));
}

/* Where other iterations may see it. */
static bool in_memory(const ModeNumber *number) {
    PyObject *from = number->from;
    if (!from) return false;
    if (matrix_check(from)) return ((PsMatrixObject *)from)->home != NULL;
    return !py_struct_check(from) || ((PsStructObject *)from)->home;
}

PyObject *mode_inplace(const PyState *state, PsAstOp op, PyObject *x, PyObject *y) {
    ModeOperand a, b;
    if (!mode_is_number(state, x)) return mode_binary(state, op, x, y);
    if (!mode_read(state, x, &a) || !mode_read(state, y, &b)) Py_RETURN_NOTIMPLEMENTED;
    ModeNumber *number = (ModeNumber *)x;
    if (number->from && operators[op].atomic != PS_OP_NONE)
        a.bits = mode_get(number); /* after the right side */
    PyObject *value = updated(state, op, &a, &b, in_memory(number));
    if (!value || value == Py_NotImplemented || !number->reference) return value;
    int failed = mode_set(state, number, ((ModeNumber *)value)->bits);
    Py_DECREF(value);
    return failed ? NULL : Py_NewRef(x);
}

/* -- one operand -- */

PyObject *mode_unary(const PyState *state, PsAstOp op, PyObject *x) {
    ModeOperand a;
    uint64_t bits;
    if (!mode_read(state, x, &a)) Py_RETURN_NOTIMPLEMENTED;
    if (op == PS_AST_INVERT && is_float(a.type)) return refuse_float(state, "~", a.type);
    PsType type = op == PS_AST_INVERT ? a.type : at_least_i32(a.type);
    if (mode_as(state, &a, type, &bits)) return NULL;
    if (op != PS_AST_UADD) bits = ps_eval_scalar(op == PS_AST_USUB ? PS_OP_NEG : PS_OP_NOT, type, type, &bits);
    return mode_number(state, type, bits);
}

/* -- comparisons: of the numbers, whatever their types -- */

static const PsOpCode comparisons[] = {[Py_LT] = PS_OP_LT, [Py_LE] = PS_OP_LE, [Py_EQ] = PS_OP_EQ,
                                       [Py_NE] = PS_OP_NE, [Py_GT] = PS_OP_GT, [Py_GE] = PS_OP_GE};

/* The type in which a literal takes part: wide enough for its value. */
static PsType comparison_type(const ModeOperand *operand) {
    int64_t value = (int64_t)operand->bits;
    if (operand->kind == MODE_UINT) return PS_U64;
    if (operand->kind != MODE_INT || operand->type == PS_U1) return operand->type;
    return value >= INT32_MIN && value <= INT32_MAX ? operand->type : PS_I64;
}

/* A signed integer against one of u64. */
static PyObject *compare_u64(const PyState *state, int op, const ModeOperand *a, const ModeOperand *b,
                             bool swapped) {
    uint64_t bits[2];
    if (both_as(state, a, b, swapped ? PS_U64 : PS_I64, swapped ? PS_I64 : PS_U64, bits)) return NULL;
    if ((int64_t)bits[swapped ? 1 : 0] < 0) {
        bool less = op == Py_LT || op == Py_LE, more = op == Py_GT || op == Py_GE;
        return mode_number(state, PS_U1, op == Py_NE || (swapped ? more : less));
    }
    return mode_number(state, PS_U1, ps_eval_scalar(comparisons[op], PS_U64, PS_U64, bits));
}

PyObject *mode_compare(const PyState *state, int op, PyObject *x, PyObject *y) {
    ModeOperand a, b;
    uint64_t bits[2];
    if (!mode_read(state, x, &a) || !mode_read(state, y, &b)) Py_RETURN_NOTIMPLEMENTED;
    PsType left = comparison_type(&a), right = comparison_type(&b), type = mode_promote_keep(left, right);
    bool mixed = !is_float(type) && is_signed(left) != is_signed(right) && left != PS_U1 && right != PS_U1;
    if (mixed && (left == PS_U64 || right == PS_U64)) return compare_u64(state, op, &a, &b, left == PS_U64);
    if (mixed) type = PS_I64;
    if (both_as(state, &a, &b, type, type, bits)) return NULL;
    return mode_number(state, PS_U1, ps_eval_scalar(comparisons[op], type, type, bits));
}
