/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators on host vectors and matrices, element by element: the types and values that a kernel would give. Elements
 * that are plain Python numbers give way to a type beside them, and are computed in i64 and f64 among themselves.
 */
#include "py/mode_int.h"
#include "py/py_matrix.h"

#include <string.h>

PsType matrix_promote(PsType a, PsType b) { return mode_promote(a, b); }

/* -- operands -- */

typedef struct Operand {
    const PsMatrixObject *matrix; /* NULL: one number */
    PsType elem;
    bool weak;
    uint64_t bits;
} Operand;

static const PyState *state_of(PyObject *a, PyObject *b) { return matrix_state(matrix_check(a) ? a : b); }

/* U1, I64 or F64 of Python's and numpy's numbers. */
static PsType plain_number(PyObject *object) {
    const char *name = Py_TYPE(object)->tp_name;
    if (PyBool_Check(object) || !strcmp(name, "numpy.bool") || !strcmp(name, "numpy.bool_")) return PS_U1;
    if (PyLong_Check(object) || PyFloat_Check(object)) return PyLong_Check(object) ? PS_I64 : PS_F64;
    if (strncmp(name, "numpy.", 6) != 0 || PySequence_Check(object)) return PS_KIND_NONE;
    return PyIndex_Check(object) ? PS_I64 : PS_F64;
}

/* 1: read. 0: nothing that operators take. -1: exception. *held: what must be released. */
static int read_operand(const PyState *state, PyObject *object, Operand *out, PyObject **held) {
    *out = (Operand){0};
    *held = NULL;
    if (mode_is_number(state, object)) {
        const ModeNumber *number = (ModeNumber *)object;
        *out = (Operand){.elem = number->type, .bits = number->reference ? mode_get(number) : number->bits};
        return 1;
    }
    if (!ps_is_matrix(&state->types, object)) {
        PsType type = plain_number(object);
        if (type) {
            out->elem = type;
            out->weak = true;
            return ps_number_bits(object, type, &out->bits) ? -1 : 1;
        }
        if (!PySequence_Check(object) || Py_IS_TYPE(object, state->types.proxy)) return 0;
        if (!(*held = (PyObject *)matrix_from(state, object, PS_KIND_NONE))) return -1;
        object = *held;
    }
    out->matrix = (const PsMatrixObject *)object;
    out->elem = out->matrix->elem;
    out->weak = out->matrix->weak;
    return 1;
}

static uint64_t bits_at(const Operand *o, uint32_t i, PsType type) {
    uint64_t bits = o->matrix ? o->matrix->words[i] : o->bits;
    return o->elem == type ? bits : ps_eval_scalar(PS_OP_CAST, o->elem, type, &bits);
}

/* -- types -- */

static bool is_float(PsType type) { return ps_scalar_class(type) == PS_CLASS_FLOAT; }

/* What both are together, and whether it is still of plain numbers. */
static PsType joined(const PyState *state, const Operand *a, const Operand *b, bool keep, bool *weak) {
    *weak = a->weak && b->weak;
    if (*weak) {
        if (is_float(a->elem) || is_float(b->elem)) return PS_F64;
        return keep && a->elem == b->elem ? a->elem : PS_I64;
    }
    if (a->weak || b->weak) {
        const Operand *strong = a->weak ? b : a, *number = a->weak ? a : b;
        if (is_float(number->elem) && !is_float(strong->elem)) return state->options.default_fp;
        if (strong->elem != PS_U1) return strong->elem;
        return number->elem == PS_U1 ? (keep ? PS_U1 : PS_I32) : state->options.default_ip;
    }
    return keep && a->elem == b->elem ? a->elem : mode_promote(a->elem, b->elem);
}

static const PsMatrixObject *shape_of(const Operand *a, const Operand *b) {
    if (!a->matrix || !b->matrix) return a->matrix ? a->matrix : b->matrix;
    const PsMatrixObject *x = a->matrix, *y = b->matrix;
    if (x->ndim == y->ndim && x->n == y->n && x->m == y->m) return x;
    PyErr_Format(PyExc_TypeError,
                 "the shapes differ: (%d, %d) and (%d, %d); only a number can stand for all elements",
                 (int)x->n, (int)x->m, (int)y->n, (int)y->m);
    return NULL;
}

/* One op on both, computed in `type`; the second operand in `second` (shifts and integer powers keep theirs). */
static PyObject *compute(const PyState *state, PsOpCode op, const Operand *a, const Operand *b, PsType type,
                         PsType second, PsType result, bool weak) {
    const PsMatrixObject *shape = shape_of(a, b);
    PsMatrixObject *made = shape ? matrix_new(state, result, weak, shape->ndim, shape->n, shape->m) : NULL;
    for (uint32_t i = 0; made && i < matrix_count(made); i++) {
        uint64_t args[2] = {bits_at(a, i, type), bits_at(b, i, second)};
        made->words[i] = ps_eval_scalar(op, type, second, args);
    }
    return (PyObject *)made;
}

typedef enum Rule { RULE_ARITH, RULE_DIVIDE, RULE_BITS, RULE_SHIFT, RULE_POWER, RULE_MATRIX } Rule;
static const struct {
    const char *symbol;
    PsOpCode op;
    Rule rule;
} operators[PS_AST_BITXOR + 1] = {
#define PS_OPERATOR(ast, symbol, op, rule, python, atomic) [PS_AST_##ast] = {symbol, PS_OP_##op, RULE_##rule},
#include "front/loop/operators.def"
};

static PyObject *apply(const PyState *state, PsAstOp op, const Operand *a, const Operand *b) {
    Rule rule = operators[op].rule;
    bool weak, integers = !is_float(a->elem) && !is_float(b->elem);
    PsType type = joined(state, a, b, rule == RULE_BITS, &weak);
    if ((rule == RULE_BITS || rule == RULE_SHIFT) && !integers)
        return PyErr_Format(PyExc_TypeError, "'%s' works on integers, found %s and %s", operators[op].symbol,
                            ps_scalar_name(a->elem), ps_scalar_name(b->elem));
    if (rule == RULE_DIVIDE && !is_float(type)) type = weak ? PS_F64 : state->options.default_fp;
    if (rule == RULE_POWER && !is_float(b->elem)) {
        PsType base = a->weak && !weak && !is_float(a->elem) ? state->options.default_ip : a->elem;
        if (a->weak && !weak && is_float(a->elem)) base = state->options.default_fp;
        if (base == PS_U1) base = a->weak ? PS_I64 : PS_I32;
        return compute(state, PS_OP_IPOW, a, b, base, b->elem == PS_U1 ? PS_I32 : b->elem, base, weak);
    }
    if (rule == RULE_SHIFT) {
        type = a->elem == PS_U1 ? PS_I32 : a->elem;
        return compute(state, operators[op].op, a, b, type, b->elem == PS_U1 ? PS_I32 : b->elem, type, a->weak);
    }
    return compute(state, operators[op].op, a, b, type, type, type, weak);
}

/* As read_operand, of both. */
static int read_operands(const PyState *state, PyObject *a, PyObject *b, Operand *left, Operand *right,
                         PyObject *held[2]) {
    int known = read_operand(state, a, left, &held[0]);
    return known == 1 ? read_operand(state, b, right, &held[1]) : known;
}

/* In a kernel that runs as plain Python the rules of numbers, with their contraction, are those of elements. Not of
 * vectors and numbers of Python alone: these are known while compiling. */
static bool by_element(const PyState *state, PyObject *a, PyObject *b) {
    return mode_runs(state) && (mode_is_typed(state, a) || mode_is_typed(state, b));
}

static PyObject *binary_one(const PyState *state, void *op, PyObject *const *args) {
    return mode_binary(state, *(PsAstOp *)op, args[0], args[1]);
}

PyObject *matrix_binary(PsAstOp op, PyObject *a, PyObject *b) {
    const PyState *state = state_of(a, b);
    Operand left, right;
    PyObject *held[2] = {NULL, NULL}, *result = NULL;
    if (!state) return NULL;
    if (by_element(state, a, b)) return mode_map(state, binary_one, &op, (PyObject *[]){a, b}, 2);
    int known = read_operands(state, a, b, &left, &right, held);
    if (known == 1) result = apply(state, op, &left, &right);
    if (known == 0) result = Py_NewRef(Py_NotImplemented);
    Py_XDECREF(held[0]);
    Py_XDECREF(held[1]);
    return result;
}

/* -- products -- */

PyObject *matrix_matmul(PyObject *a, PyObject *b) {
    const PyState *state = state_of(a, b);
    Operand x, y;
    PyObject *held[2] = {NULL, NULL}, *result = NULL;
    if (!state) return NULL;
    int known = read_operands(state, a, b, &x, &y, held);
    bool weak, both = known == 1 && x.matrix && y.matrix;
    if (known < 0) goto done;
    if (!both) {
        result = Py_NewRef(Py_NotImplemented);
        goto done;
    }
    bool row = x.matrix->ndim == 1, column = y.matrix->ndim == 1;
    int32_t n = row ? 1 : x.matrix->n, k = row ? x.matrix->n : x.matrix->m, m = column ? 1 : y.matrix->m;
    if (k != y.matrix->n) {
        PyErr_Format(PyExc_TypeError,
                     "'@' needs as many columns on the left as rows on the right, found %d and %d", (int)k,
                     (int)y.matrix->n);
        goto done;
    }
    PsType type = joined(state, &x, &y, false, &weak);
    PsMatrixObject *made =
        matrix_new(state, type, weak, row || column ? 1 : 2, row && !column ? m : n, row || column ? 1 : m);
    for (int32_t i = 0; made && i < n; i++)
        for (int32_t j = 0; j < m; j++) {
            uint64_t sum = 0;
            for (int32_t c = 0; c < k; c++) {
                uint64_t args[3] = {bits_at(&x, (uint32_t)(i * k + c), type),
                                    bits_at(&y, (uint32_t)(c * m + j), type), sum};
                if (!c || !is_float(type)) {
                    args[0] = ps_eval_scalar(PS_OP_MUL, type, type, args);
                    args[1] = sum;
                    sum = c ? ps_eval_scalar(PS_OP_ADD, type, type, args) : args[0];
                } else
                    sum = ps_eval_scalar(PS_OP_FMA, type, type, args);
            }
            made->words[i * m + j] = sum;
        }
    if (made && row && column) {
        result = matrix_number(state, made->elem, made->words[0]);
        Py_DECREF(made);
    } else
        result = (PyObject *)made;
done:
    Py_XDECREF(held[0]);
    Py_XDECREF(held[1]);
    return result;
}

/* -- comparisons -- */

static PsType compared(const PyState *state, const Operand *a, const Operand *b) {
    bool weak, same = (ps_scalar_class(a->elem) == PS_CLASS_INT) == (ps_scalar_class(b->elem) == PS_CLASS_INT);
    PsType type = joined(state, a, b, true, &weak);
    if (is_float(type) || same || a->elem == PS_U1 || b->elem == PS_U1) return type;
    return a->elem == PS_U64 || b->elem == PS_U64 ? type : PS_I64;
}

static PyObject *compare_one(const PyState *state, void *how, PyObject *const *args) {
    return mode_compare(state, *(int *)how, args[0], args[1]);
}

PyObject *matrix_compare(PyObject *a, PyObject *b, int how) {
    static const PsOpCode ops[] = {[Py_LT] = PS_OP_LT, [Py_LE] = PS_OP_LE, [Py_EQ] = PS_OP_EQ,
                                   [Py_NE] = PS_OP_NE, [Py_GT] = PS_OP_GT, [Py_GE] = PS_OP_GE};
    const PyState *state = state_of(a, b);
    Operand x, y;
    PyObject *held[2] = {NULL, NULL}, *result = NULL;
    if (!state) return NULL;
    if (by_element(state, a, b)) return mode_map(state, compare_one, &how, (PyObject *[]){a, b}, 2);
    int known = read_operands(state, a, b, &x, &y, held);
    PsType type = known == 1 ? compared(state, &x, &y) : PS_KIND_NONE;
    if (known == 1) result = compute(state, ops[how], &x, &y, type, type, PS_U1, false);
    if (known == 1 && result && (how == Py_EQ || how == Py_NE))
        ((PsMatrixObject *)result)->truth = how == Py_EQ ? 'a' : 'o';
    if (known == 0) result = Py_NewRef(Py_NotImplemented);
    Py_XDECREF(held[0]);
    Py_XDECREF(held[1]);
    return result;
}

/* -- one operand -- */

PyObject *matrix_cast(const PsMatrixObject *m, const PyState *state, PsType elem, bool weak) {
    PsMatrixObject *made = matrix_new(state, elem, weak, m->ndim, m->n, m->m);
    for (uint32_t i = 0; made && i < matrix_count(m); i++)
        made->words[i] =
            m->elem == elem ? m->words[i] : ps_eval_scalar(PS_OP_CAST, m->elem, elem, &m->words[i]);
    return (PyObject *)made;
}

static PyObject *unary(PsOpCode op, PyObject *object) {
    const PyState *state = matrix_state(object);
    const PsMatrixObject *m = (PsMatrixObject *)object;
    PsType type = m->elem == PS_U1 && op != PS_OP_NOT ? (m->weak ? PS_I64 : PS_I32) : m->elem;
    if (op == PS_OP_NOT && is_float(type))
        return PyErr_Format(PyExc_TypeError, "'~' works on integers, found %s", ps_scalar_name(type));
    PsMatrixObject *made = (PsMatrixObject *)matrix_cast(m, state, type, m->weak);
    for (uint32_t i = 0; made && op && i < matrix_count(m); i++)
        made->words[i] = ps_eval_scalar(op, type, type, &made->words[i]);
    return (PyObject *)made;
}

static PyObject *negative(PyObject *a) { return unary(PS_OP_NEG, a); }
static PyObject *positive(PyObject *a) { return unary(PS_OP_NONE, a); }
static PyObject *absolute(PyObject *a) { return unary(PS_OP_ABS, a); }
static PyObject *invert(PyObject *a) { return unary(PS_OP_NOT, a); }

static PyObject *in_place_one(const PyState *state, void *op, PyObject *const *args) {
    return mode_inplace(state, *(PsAstOp *)op, args[0], args[1]);
}

/* a += b changes a, as in a kernel: it keeps its type. */
static PyObject *in_place(PsAstOp op, PyObject *a, PyObject *b) {
    const PyState *state = matrix_state(a);
    bool each = op != PS_AST_MATMULT && by_element(state, a, b) && !((PsMatrixObject *)a)->weak;
    PyObject *result = op == PS_AST_MATMULT ? matrix_matmul(a, b)
                       : each               ? mode_map(state, in_place_one, &op, (PyObject *[]){a, b}, 2)
                                            : matrix_binary(op, a, b);
    if (!result || result == Py_NotImplemented || !ps_is_matrix(&state->types, result)) return result;
    PsMatrixObject *self = (PsMatrixObject *)a, *made = (PsMatrixObject *)result;
    if (self->weak) return result;
    if (made->ndim != self->ndim || made->n != self->n || made->m != self->m) return result;
    for (uint32_t i = 0; i < matrix_count(self); i++)
        self->words[i] = made->elem == self->elem
                             ? made->words[i]
                             : ps_eval_scalar(PS_OP_CAST, made->elem, self->elem, &made->words[i]);
    Py_DECREF(result);
    return py_matrix_write_home(self) ? NULL : Py_NewRef(a);
}

#define MATRIX_BINARY(name, op)                                                                                \
    static PyObject *name(PyObject *a, PyObject *b) { return matrix_binary(PS_AST_##op, a, b); }               \
    static PyObject *in_##name(PyObject *a, PyObject *b) { return in_place(PS_AST_##op, a, b); }
MATRIX_BINARY(add, ADD)
MATRIX_BINARY(subtract, SUB)
MATRIX_BINARY(multiply, MULT)
MATRIX_BINARY(divide, DIV)
MATRIX_BINARY(floor_divide, FLOORDIV)
MATRIX_BINARY(modulo, MOD)
MATRIX_BINARY(lshift, LSHIFT)
MATRIX_BINARY(rshift, RSHIFT)
MATRIX_BINARY(bit_and, BITAND)
MATRIX_BINARY(bit_or, BITOR)
MATRIX_BINARY(bit_xor, BITXOR)

static PyObject *power(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None) return Py_NewRef(Py_NotImplemented);
    return matrix_binary(PS_AST_POW, a, b);
}

PyType_Slot matrix_number_slots[] = {
    {Py_nb_add, add},
    {Py_nb_subtract, subtract},
    {Py_nb_multiply, multiply},
    {Py_nb_true_divide, divide},
    {Py_nb_floor_divide, floor_divide},
    {Py_nb_remainder, modulo},
    {Py_nb_power, power},
    {Py_nb_lshift, lshift},
    {Py_nb_rshift, rshift},
    {Py_nb_and, bit_and},
    {Py_nb_or, bit_or},
    {Py_nb_xor, bit_xor},
    {Py_nb_matrix_multiply, matrix_matmul},
    {Py_nb_negative, negative},
    {Py_nb_positive, positive},
    {Py_nb_absolute, absolute},
    {Py_nb_invert, invert},
    {Py_nb_inplace_add, in_add},
    {Py_nb_inplace_subtract, in_subtract},
    {Py_nb_inplace_multiply, in_multiply},
    {Py_nb_inplace_true_divide, in_divide},
    {Py_nb_inplace_floor_divide, in_floor_divide},
    {Py_nb_inplace_remainder, in_modulo},
    {Py_nb_inplace_lshift, in_lshift},
    {Py_nb_inplace_rshift, in_rshift},
    {Py_nb_inplace_and, in_bit_and},
    {Py_nb_inplace_or, in_bit_or},
    {Py_nb_inplace_xor, in_bit_xor},
    {0},
};

/* -- builtins called from Python: ti.exp(v), ti.max(v, 1) -- */

static PyObject *apply_op(const PyState *state, PsOpCode op, const Operand *a, const Operand *b) {
    bool weak;
    PsRule rule = ps_op_info[op].rule;
    PsType type = joined(state, a, b, op == PS_OP_MIN || op == PS_OP_MAX || op == PS_OP_NOT, &weak);
    if (rule == PS_RULE_FLOAT && !is_float(type)) type = weak ? PS_F64 : state->options.default_fp;
    if ((rule == PS_RULE_INT || rule == PS_RULE_SHIFT) && is_float(type))
        return PyErr_Format(PyExc_TypeError, "%s expects integers, found %s", ps_op_info[op].name,
                            ps_scalar_name(type));
    return compute(state, op, a, b, type, type, type, weak);
}

/* _apply_builtin(builtin, one or two operands of which one is a matrix; of one operand a dtype may follow). */
PyObject *matrix_apply_builtin(PyObject *unused, PyObject *const *args, Py_ssize_t nargs) {
    (void)unused;
    PsBuiltinId id = ((PsBuiltinObject *)args[0])->id;
    const PsBuiltinInfo *info = &ps_builtin_info[id];
    PyObject *second = nargs > 2 && info->kind != PS_BUILTIN_KIND_UNARY ? args[2] : args[1], *held[2] = {0};
    const PyState *state = state_of(args[1], second);
    Operand operands[2];
    PyObject *result = NULL;
    if (id == PS_BUILTIN_LOGICAL_NOT) return matrix_compare(args[1], Py_False, Py_EQ);
    if (id == PS_BUILTIN_POW) return PyNumber_Power(args[1], second, Py_None);
    if (info->op == PS_OP_NOT) return PyNumber_Invert(args[1]);
    int read = read_operands(state, args[1], second, &operands[0], &operands[1], held);
    if (read == 0) PyErr_Format(PyExc_TypeError, "%s() expects numbers, vectors or matrices", info->name);
    if (read == 1) result = apply_op(state, info->op, &operands[0], &operands[1]);
    Py_XDECREF(held[0]);
    Py_XDECREF(held[1]);
    if (!result || info->kind != PS_BUILTIN_KIND_UNARY || nargs < 3) return result;
    PyObject *cast = PyObject_CallMethod(result, "cast", "O", args[2]);
    Py_DECREF(result);
    return cast;
}
