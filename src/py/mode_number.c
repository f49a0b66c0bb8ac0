/* SPDX-License-Identifier: Apache-2.0
 *
 * pestle.Number: a number with a type, as the kernel computes it. To Python code it behaves like a number: it prints as
 * one, can be an index or go into a range, and math's functions take it. What an operator means stands in mode_rules.c.
 */
#include "py/mode_int.h"

#include <math.h>

/* -- making and reading -- */

int mode_init(PyState *state, PyObject *module) {
    PyMode *mode = &state->mode;
    const struct {
        PyTypeObject **at;
        PyTypeObject *(*make)(PyObject *);
    } types[] = {{&mode->number, mode_number_type},
                 {&mode->array, mode_array_type},
                 {&mode->domain, mode_domain_type},
                 {&mode->iterator, mode_domain_iterator_type}};
    for (size_t i = 0; i < PS_COUNT(types); i++)
        if (!*types[i].at && !(*types[i].at = types[i].make(module))) return -1;
    if (mode->rewrite && mode->kept) return 0;
    if (mode_add_functions(module)) return -1;
    mode_hide();
    PyObject *python = PyImport_ImportModule("pestle._python_mode");
    mode_unhide();
    if (python && !mode->rewrite) mode->rewrite = PyObject_GetAttrString(python, "rewrite");
    if (python && !mode->kept) mode->kept = PyObject_GetAttrString(python, "kept");
    Py_XDECREF(python);
    return mode->rewrite && mode->kept ? 0 : -1;
}

PyObject *mode_number(const PyState *state, PsType type, uint64_t bits) {
    ModeNumber *self = (ModeNumber *)state->mode.number->tp_alloc(state->mode.number, 0);
    if (!self) return NULL;
    self->type = type;
    self->bits = bits;
    return (PyObject *)self;
}

bool mode_is_number(const PyState *state, PyObject *object) { return Py_IS_TYPE(object, state->mode.number); }

static void read_int(PyObject *integer, ModeOperand *out) {
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(integer, &overflow);
    out->kind = MODE_INT;
    out->bits = (uint64_t)value;
    if (!overflow) return;
    out->kind = MODE_UINT;
    out->bits = PyLong_AsUnsignedLongLong(integer);
    if (!PyErr_Occurred()) return;
    PyErr_Clear();
    out->kind = MODE_REAL; /* no integer type holds it */
    out->bits = scalar_f64_bits(PyLong_AsDouble(integer));
    PyErr_Clear();
}

/* numpy's scalars, and arrays without axes, are Python numbers here. */
static bool read_numpy(const PyState *state, PyObject *object, ModeOperand *out) {
    bool number = numpy_is_scalar(object) ||
                  (numpy_check((PyNumpy *)&state->numpy, object) && ((const NumpyArray *)object)->nd == 0);
    PyObject *plain = number ? PyObject_CallMethod(object, "item", NULL) : NULL;
    bool read = plain && !numpy_is_scalar(plain) && mode_read(state, plain, out);
    Py_XDECREF(plain);
    PyErr_Clear();
    out->object = object;
    return read;
}

bool mode_read(const PyState *state, PyObject *object, ModeOperand *out) {
    *out = (ModeOperand){.object = object};
    if (mode_is_number(state, object)) {
        out->type = ((ModeNumber *)object)->type;
        out->bits =
            ((ModeNumber *)object)->reference ? mode_get((ModeNumber *)object) : ((ModeNumber *)object)->bits;
    } else if (PyLong_Check(object)) {
        out->type = PyBool_Check(object) ? PS_U1 : state->options.default_ip;
        read_int(object, out);
    } else if (PyFloat_Check(object)) {
        out->type = state->options.default_fp;
        out->kind = MODE_REAL;
        out->bits = scalar_f64_bits(PyFloat_AS_DOUBLE(object));
    } else {
        return read_numpy(state, object, out);
    }
    return true;
}

PyObject *mode_not_a_number(const PyState *state, const char *what, PyObject *found) {
    return py_error(state, PS_MSG_MODE_WANTS, what, "a number", Py_TYPE(found)->tp_name);
}

/* -- in a type -- */

static double real_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool is_float(PsType type) { return ps_scalar_class(type) == PS_CLASS_FLOAT; }

/* Negative ints may stand for an unsigned value of the same width, as in a kernel. */
static bool int_fits(const ModeOperand *operand, PsType type) {
    int64_t lo, value = (int64_t)operand->bits;
    uint64_t hi;
    scalar_range(type, &lo, &hi);
    if (operand->kind == MODE_UINT) return type == PS_U64;
    if (ps_scalar_bits(type) == 64 || type == PS_U1) return true;
    if (ps_scalar_class(type) == PS_CLASS_UINT) lo = -(int64_t)((hi >> 1) + 1);
    return value >= lo && (value < 0 || (uint64_t)value <= hi);
}

static int refuse_literal(const PyState *state, const ModeOperand *operand, PsType type) {
    PyObject *repr = PyObject_Repr(operand->object);
    const char *text = repr ? PyUnicode_AsUTF8(repr) : NULL;
    if (!text) PyErr_Clear();
    py_error(state, PS_MSG_MODE_LITERAL, text ? text : "?", ps_scalar_name(type));
    Py_XDECREF(repr);
    return -1;
}

int mode_cast(const PyState *state, const ModeOperand *operand, PsType type, uint64_t *out) {
    static const PsType from[] = {[MODE_INT] = PS_I64, [MODE_UINT] = PS_U64, [MODE_REAL] = PS_F64};
    PsType own = operand->kind == MODE_TYPED ? operand->type : from[operand->kind];
    *out = ps_eval_scalar(PS_OP_CAST, own, type, &operand->bits);
    if (operand->kind != MODE_REAL || !is_float(type)) return 0;
    uint64_t back = ps_eval_scalar(PS_OP_CAST, type, PS_F64, out);
    return isfinite(real_of(operand->bits)) && !isfinite(real_of(back)) ? refuse_literal(state, operand, type)
                                                                        : 0;
}

int mode_as(const PyState *state, const ModeOperand *operand, PsType type, uint64_t *out) {
    bool fits = operand->kind == MODE_TYPED || is_float(type) ||
                (operand->kind != MODE_REAL && int_fits(operand, type));
    return fits ? mode_cast(state, operand, type, out) : refuse_literal(state, operand, type);
}

static PyObject *cast_one(const PyState *state, void *data, PyObject *const *args) {
    PsType type = *(PsType *)data;
    ModeOperand operand;
    uint64_t bits;
    if (!mode_read(state, args[0], &operand)) return mode_not_a_number(state, ps_scalar_name(type), args[0]);
    return mode_cast(state, &operand, type, &bits) ? NULL : mode_number(state, type, bits);
}

PyObject *mode_cast_object(const PyState *state, PyObject *object, PsType type) {
    if (mode_is_vector(state, object)) return mode_map(state, cast_one, &type, &object, 1);
    return cast_one(state, &type, &object);
}

PyObject *mode_typed(const PyState *state, PyObject *object) {
    ModeOperand operand;
    uint64_t bits;
    if (!mode_read(state, object, &operand)) return Py_NewRef(object);
    return mode_as(state, &operand, operand.type, &bits) ? NULL : mode_number(state, operand.type, bits);
}

/* -- as Python's numbers -- */

static PyState *state_of(PyObject *self) { return PyType_GetModuleState(Py_TYPE(self)); }

static void Number_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    Py_XDECREF(((ModeNumber *)object)->from);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *plain(PyObject *self) {
    return scalar_encode(((ModeNumber *)self)->type, ((ModeNumber *)self)->bits);
}

/* As a kernel prints it. */
static PyObject *Number_repr(PyObject *object) {
    ModeNumber *self = (ModeNumber *)object;
    PsBuf text = {0};
    ps_format_scalar(&text, (char)('a' + self->type), self->bits);
    PyObject *result =
        text.failed ? PyErr_NoMemory() : PyUnicode_FromStringAndSize(text.data, (Py_ssize_t)text.len);
    ps_buf_free(&text);
    return result;
}

static PyObject *Number_format(PyObject *self, PyObject *spec) {
    if (PyUnicode_Check(spec) && PyUnicode_GET_LENGTH(spec) == 0) return Number_repr(self);
    PyObject *number = plain(self);
    PyObject *result = number ? ps_number_format(&state_of(self)->options, number, spec) : NULL;
    Py_XDECREF(number);
    return result;
}

static Py_hash_t Number_hash(PyObject *self) {
    PyObject *number = plain(self);
    Py_hash_t hash = number ? PyObject_Hash(number) : -1;
    Py_XDECREF(number);
    return hash;
}

static int Number_bool(PyObject *self) {
    PyObject *number = plain(self);
    int truth = number ? PyObject_IsTrue(number) : -1;
    Py_XDECREF(number);
    return truth;
}

static PyObject *through(PyObject *self, PyObject *(*f)(PyObject *)) {
    PyObject *number = plain(self), *result = number ? f(number) : NULL;
    Py_XDECREF(number);
    return result;
}
static PyObject *Number_int(PyObject *self) { return through(self, PyNumber_Long); }
static PyObject *Number_float(PyObject *self) { return through(self, PyNumber_Float); }
static PyObject *Number_index(PyObject *self) { return through(self, PyNumber_Index); }

static PyObject *Number_get_dtype(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(state_of(self)->types.dtypes[((ModeNumber *)self)->type]);
}

/* round() of Python code that was not rewritten. */
static PyObject *Number_round(PyObject *object, PyObject *digits) {
    const ModeNumber *self = (ModeNumber *)object;
    if (PyTuple_GET_SIZE(digits))
        return PyErr_Format(PyExc_TypeError, "round() with a number of digits is not supported in kernels");
    if (ps_scalar_class(self->type) != PS_CLASS_FLOAT) return mode_unary(state_of(object), PS_AST_UADD, object);
    uint64_t bits = self->reference ? mode_get(self) : self->bits;
    return mode_number(state_of(object), self->type, ps_eval_scalar(PS_OP_RINT, self->type, self->type, &bits));
}

static PyObject *Number_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return Py_BuildValue("O(N)", state_of(self)->types.dtypes[((ModeNumber *)self)->type], plain(self));
}

/* -- operators -- */

bool mode_number_check(PyObject *object) { return Py_TYPE(object)->tp_dealloc == Number_dealloc; }

static const PyState *either(PyObject *a, PyObject *b) {
    PyObject *self = Py_TYPE(a)->tp_dealloc == Number_dealloc ? a : b;
    return state_of(self);
}

#define BINARY(name, op)                                                                                       \
    static PyObject *Number_##name(PyObject *a, PyObject *b) {                                                 \
        return mode_binary(either(a, b), PS_AST_##op, a, b);                                                   \
    }                                                                                                          \
    static PyObject *Number_inplace_##name(PyObject *a, PyObject *b) {                                         \
        return mode_inplace(either(a, b), PS_AST_##op, a, b);                                                  \
    }
BINARY(add, ADD)
BINARY(subtract, SUB)
BINARY(multiply, MULT)
BINARY(true_divide, DIV)
BINARY(floor_divide, FLOORDIV)
BINARY(remainder, MOD)
BINARY(lshift, LSHIFT)
BINARY(rshift, RSHIFT)
BINARY(and, BITAND)
BINARY(or, BITOR)
BINARY(xor, BITXOR)

static PyObject *Number_power(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return mode_binary(either(a, b), PS_AST_POW, a, b);
}
static PyObject *Number_inplace_power(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return mode_inplace(either(a, b), PS_AST_POW, a, b);
}

static PyObject *Number_negative(PyObject *a) { return mode_unary(state_of(a), PS_AST_USUB, a); }
static PyObject *Number_positive(PyObject *a) { return mode_unary(state_of(a), PS_AST_UADD, a); }
static PyObject *Number_invert(PyObject *a) { return mode_unary(state_of(a), PS_AST_INVERT, a); }
static PyObject *Number_absolute(PyObject *a) {
    const ModeNumber *self = (ModeNumber *)a;
    return mode_number(state_of(a), self->type, ps_eval_scalar(PS_OP_ABS, self->type, self->type, &self->bits));
}

static PyObject *Number_richcompare(PyObject *a, PyObject *b, int op) {
    return mode_compare(either(a, b), op, a, b);
}

static PyGetSetDef number_getset[] = {{"dtype", Number_get_dtype, NULL, "Its type, such as pestle.f32.", NULL},
                                      {0}};
static PyMethodDef number_methods[] = {{"__format__", Number_format, METH_O, NULL},
                                       {"__round__", Number_round, METH_VARARGS, NULL},
                                       {"__reduce__", Number_reduce, METH_NOARGS, NULL},
                                       {"_rule", MODE_RULE, METH_FASTCALL, NULL},
                                       {0}};
#define SLOTS(name)                                                                                            \
    {Py_nb_##name, Number_##name}, { Py_nb_inplace_##name, Number_inplace_##name }
static PyType_Slot number_slots[] = {
    {Py_tp_dealloc, Number_dealloc},
    {Py_tp_repr, Number_repr},
    {Py_tp_hash, Number_hash},
    {Py_tp_richcompare, Number_richcompare},
    {Py_tp_getset, number_getset},
    {Py_tp_methods, number_methods},
    {Py_tp_doc, "A number of a kernel that runs as plain Python."},
    SLOTS(add),
    SLOTS(subtract),
    SLOTS(multiply),
    SLOTS(true_divide),
    SLOTS(floor_divide),
    SLOTS(remainder),
    SLOTS(lshift),
    SLOTS(rshift),
    SLOTS(and),
    SLOTS(or),
    SLOTS(xor),
    SLOTS(power),
    {Py_nb_negative, Number_negative},
    {Py_nb_positive, Number_positive},
    {Py_nb_invert, Number_invert},
    {Py_nb_absolute, Number_absolute},
    {Py_nb_bool, Number_bool},
    {Py_nb_int, Number_int},
    {Py_nb_float, Number_float},
    {Py_nb_index, Number_index},
    {0},
};
static PyType_Spec number_spec = {"pestle.Number", sizeof(ModeNumber), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, number_slots};

PyTypeObject *mode_number_type(PyObject *module) {
    PyObject *type = PyType_FromModuleAndSpec(module, &number_spec, NULL);
    /* numpy's operators step back for operands that say this. */
    if (type && PyObject_SetAttrString(type, "__array_ufunc__", Py_None)) Py_CLEAR(type);
    return (PyTypeObject *)type;
}
