/* SPDX-License-Identifier: Apache-2.0
 *
 * The general case of scalar decoding, and the way back. The rules: an integer parameter takes integers in its range,
 * never a float; a float parameter takes any real number; u1 takes False, True, 0 and 1.
 */
#include "py/decode_scalar.h"

const char *scalar_place_text(const ScalarPlace *place, char *buffer, size_t size) {
    if (!place->kernel) return place->what;
    const PyFunctionObject *function = (const PyFunctionObject *)place->kernel->function;
    const char *param = PyUnicode_AsUTF8(place->kernel->signature.params[place->param].name);
    const char *kernel = PyUnicode_AsUTF8(function->func_name);
    if (!param || !kernel) PyErr_Clear();
    snprintf(buffer, size, "argument '%s' of kernel '%s'", param ? param : "?", kernel ? kernel : "?");
    return buffer;
}

void scalar_range(PsType type, int64_t *lo, uint64_t *hi) {
    int bits = type == PS_U1 ? 1 : ps_scalar_bits(type);
    if (ps_scalar_class(type) == PS_CLASS_INT) {
        *lo = bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
        *hi = ((uint64_t)1 << (bits - 1)) - 1;
    } else {
        *lo = 0;
        *hi = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    }
}

/* A found value as messages show it: its repr, cut short. */
static void show(PyObject *value, char *buffer, size_t size) {
    PyObject *repr = PyObject_Repr(value);
    const char *text = repr ? PyUnicode_AsUTF8(repr) : NULL;
    if (!text) PyErr_Clear(); /* Python refuses to print very many digits */
    snprintf(buffer, size, "%s", text && strlen(text) < size ? text : "a very large number");
    Py_XDECREF(repr);
}

static int refuse_type(const PyState *state, PsType type, PyObject *value, const ScalarPlace *place) {
    char where[200];
    if (py_refuse_proxy(state, value)) return -1;
    py_error(state, PS_MSG_PY_SCALAR_TYPE, scalar_place_text(place, where, sizeof where),
             ps_scalar_class(type) == PS_CLASS_FLOAT ? "a number"
             : type == PS_U1                         ? "a bool"
                                                     : "an integer",
             ps_scalar_name(type), Py_TYPE(value)->tp_name);
    return -1;
}

static int refuse_range(const PyState *state, PsType type, PyObject *value, const ScalarPlace *place) {
    char where[200], found[60];
    int64_t lo;
    uint64_t hi;
    scalar_range(type, &lo, &hi);
    show(value, found, sizeof found);
    py_error(state, PS_MSG_PY_SCALAR_RANGE, scalar_place_text(place, where, sizeof where), found,
             ps_scalar_name(type), (long long)lo, (unsigned long long)hi);
    return -1;
}

/* numpy's bool has no __index__. */
static bool is_numpy_bool(PyObject *value) {
    const char *name = Py_TYPE(value)->tp_name;
    return strcmp(name, "numpy.bool") == 0 || strcmp(name, "numpy.bool_") == 0;
}

/* An array of one element has __float__ and __index__ too; only one without axes is a number. */
static bool has_axes(const PyState *state, PyObject *value) {
    PyNumpy *numpy = (PyNumpy *)&state->numpy;
    return numpy_check(numpy, value) && ((NumpyArray *)value)->nd != 0;
}

/* The low 64 bits of what is no wider. */
static bool wrapped(PyObject *integer, uint64_t *out) {
    int overflow;
    PyLong_AsLongLongAndOverflow(integer, &overflow);
    *out = PyLong_AsUnsignedLongLongMask(integer);
    if (overflow > 0) PyLong_AsUnsignedLongLong(integer); /* does it fit? */
    bool fits = overflow >= 0 && !PyErr_Occurred();
    PyErr_Clear();
    return fits;
}

static int decode_int(const PyState *state, PsType type, PyObject *value, const ScalarPlace *place,
                      uint64_t *out) {
    if (is_numpy_bool(value)) {
        int truth = PyObject_IsTrue(value);
        *out = (uint64_t)(truth > 0);
        return truth < 0 ? -1 : 0;
    }
    if (!PyIndex_Check(value) || has_axes(state, value)) return refuse_type(state, type, value, place);
    PyObject *integer = PyNumber_Index(value);
    if (!integer) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        PyErr_Clear();
        return refuse_type(state, type, value, place);
    }
    int64_t lo;
    uint64_t hi, bits;
    scalar_range(type, &lo, &hi);
    int overflow;
    long long narrow = PyLong_AsLongLongAndOverflow(integer, &overflow);
    bool fits = !overflow && narrow >= lo && (narrow < 0 || (uint64_t)narrow <= hi);
    bits = (uint64_t)narrow;
    if (overflow > 0 && type == PS_U64) {
        bits = PyLong_AsUnsignedLongLong(integer);
        fits = !PyErr_Occurred();
        PyErr_Clear();
    }
    if (!fits && type != PS_U1 && py_has_alias(state)) /* the peers take its low bits */
        fits = wrapped(integer, &bits);
    if (!fits) refuse_range(state, type, integer, place);
    Py_DECREF(integer);
    int width = ps_scalar_bits(type);
    *out = width == 64 ? bits : bits & (((uint64_t)1 << width) - 1);
    return fits ? 0 : -1;
}

static int decode_float(const PyState *state, PsType type, PyObject *value, const ScalarPlace *place,
                        uint64_t *out) {
    double real;
    if (PyFloat_Check(value)) {
        real = PyFloat_AS_DOUBLE(value);
    } else {
        PyNumberMethods *number = Py_TYPE(value)->tp_as_number;
        if (!number || (!number->nb_float && !number->nb_index) || has_axes(state, value))
            return refuse_type(state, type, value, place);
        real = PyFloat_AsDouble(value);
        if (real == -1.0 && PyErr_Occurred()) {
            if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
                PyErr_Clear();
                char where[200];
                py_error(state, PS_MSG_PY_SCALAR_HUGE, scalar_place_text(place, where, sizeof where),
                         ps_scalar_name(type));
            }
            return -1;
        }
    }
    uint64_t wide = scalar_f64_bits(real);
    *out = type == PS_F64   ? wide
           : type == PS_F32 ? scalar_f32_bits(real)
                            : ps_eval_scalar(PS_OP_CAST, PS_F64, type, &wide);
    return 0;
}

int scalar_decode(const PyState *state, PsType type, PyObject *value, const ScalarPlace *place, uint64_t *out) {
    if (ps_scalar_class(type) == PS_CLASS_FLOAT) return decode_float(state, type, value, place, out);
    return decode_int(state, type, value, place, out);
}

PyObject *scalar_encode(PsType type, uint64_t bits) {
    if (type == PS_U1) return PyBool_FromLong((bits & 0xff) != 0); /* as kernels read a byte */
    if (ps_scalar_class(type) == PS_CLASS_FLOAT) {
        uint64_t wide = type == PS_F64 ? bits : ps_eval_scalar(PS_OP_CAST, type, PS_F64, &bits);
        double real;
        memcpy(&real, &wide, sizeof real);
        return PyFloat_FromDouble(real);
    }
    if (ps_scalar_class(type) == PS_CLASS_UINT) {
        int width = ps_scalar_bits(type);
        return PyLong_FromUnsignedLongLong(width == 64 ? bits : bits & (((uint64_t)1 << width) - 1));
    }
    int shift = 64 - ps_scalar_bits(type);
    return PyLong_FromLongLong((long long)(bits << shift) >> shift);
}
