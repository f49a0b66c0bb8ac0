/* SPDX-License-Identifier: Apache-2.0
 *
 * Values: Python numbers as constants of the IR, objects in and out, and how a value is called in a message.
 *
 * A Python number has no width until it meets a typed value; then it becomes a constant of the type that the
 * operation has. So 0.1 beside an f64 is 0.1 to f64's precision, and 2 ** 40 beside an i64 just fits.
 */
#include "front/eval/build.h"

#include <float.h>
#include <math.h>
#include <string.h>

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* -- what an object is -- */

bool ps_is_numpy(PyObject *object, const char *type_name) {
    const char *name = Py_TYPE(object)->tp_name;
    if (strncmp(name, "numpy.", 6) != 0) return false;
    return !type_name || strcmp(name + 6, type_name) == 0;
}

/* numpy scalars and 0-d arrays -> Python's own; a new reference to anything else as it is. */
static PyObject *plain_number(PyObject *object) {
    if (PyLong_Check(object) || PyFloat_CheckExact(object) || !ps_is_numpy(object, NULL))
        return Py_NewRef(object);
    if (!PyObject_HasAttrString(object, "item")) return Py_NewRef(object);
    return PyObject_CallMethod(object, "item", NULL); /* raises for arrays of more than one element */
}

/* An array of axes is not a number, even with one element in it. */
static bool has_axes(PyObject *object) {
    if (!ps_is_numpy(object, "ndarray")) return false;
    PyObject *ndim = PyObject_GetAttrString(object, "ndim");
    long n = ndim ? PyLong_AsLong(ndim) : -1;
    Py_XDECREF(ndim);
    PyErr_Clear();
    return n != 0;
}

PsType ps_number_type(PsFront *front, PyObject *object) {
    if (PyBool_Check(object)) return PS_U1;
    if (PyLong_Check(object)) return front->options->default_ip;
    if (PyFloat_Check(object)) return front->options->default_fp;
    if (!ps_is_numpy(object, NULL) || has_axes(object)) return PS_KIND_NONE;
    PyObject *plain = plain_number(object);
    PsType type = PS_KIND_NONE;
    if (!plain)
        PyErr_Clear();
    else if (!ps_is_numpy(plain, NULL))
        type = ps_number_type(front, plain);
    Py_XDECREF(plain);
    return type;
}

bool ps_number_int(PyObject *object, int64_t *out) {
    if (PyBool_Check(object)) {
        *out = object == Py_True;
        return true;
    }
    PyObject *integer = NULL;
    if (PyLong_Check(object))
        integer = Py_NewRef(object);
    else if (ps_is_numpy(object, NULL) && !has_axes(object) && PyIndex_Check(object))
        integer = PyNumber_Index(object);
    if (!integer) {
        PyErr_Clear();
        return false;
    }
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(integer, &overflow);
    Py_DECREF(integer);
    *out = value;
    return !overflow;
}

/* -- numbers as constants -- */

static bool is_float(PsType type) { return ps_scalar_class(type) == PS_CLASS_FLOAT; }

/* An int's bits in an integer type. Negative numbers may stand for an unsigned value of the same width. */
static bool int_bits(PyObject *integer, PsType type, uint64_t *bits) {
    int overflow, width = ps_scalar_bits(type);
    long long value = PyLong_AsLongLongAndOverflow(integer, &overflow);
    *bits = (uint64_t)value;
    if (overflow < 0) return false;
    if (overflow > 0) {
        if (type != PS_U64) return false;
        *bits = PyLong_AsUnsignedLongLong(integer);
        if (!PyErr_Occurred()) return true;
        PyErr_Clear();
        return false;
    }
    if (width == 64) return true;
    bool is_unsigned = ps_scalar_class(type) == PS_CLASS_UINT;
    int64_t low = -((int64_t)1 << (width - 1)), high = ((int64_t)1 << (is_unsigned ? width : width - 1)) - 1;
    return value >= low && value <= high;
}

/* "-128 to 127" */
static void show_range(PsType type, char *buffer, size_t size) {
    int width = ps_scalar_bits(type);
    if (is_float(type)) {
        double most = type == PS_F16    ? 65504.0
                      : type == PS_F64  ? DBL_MAX
                      : type == PS_BF16 ? 0x1.FEp127
                                        : FLT_MAX;
        snprintf(buffer, size, "%g to %g", -most, most);
    } else if (ps_scalar_class(type) == PS_CLASS_INT) {
        int64_t most = (int64_t)(UINT64_MAX >> (65 - width));
        snprintf(buffer, size, "%lld to %lld", (long long)(-most - 1), (long long)most);
    } else {
        snprintf(buffer, size, "0 to %llu", (unsigned long long)(UINT64_MAX >> (64 - width)));
    }
}

static PsStatus out_of_range(PsFront *front, PyObject *number, PsType type) {
    char range[60];
    show_range(type, range, sizeof range);
    PyObject *text = ps_front_keep(front, PyObject_Repr(number));
    const char *shown = text ? PyUnicode_AsUTF8(text) : NULL;
    if (!shown) PyErr_Clear(); /* too long to print */
    if (!shown || strlen(shown) > 60) shown = "(a very large number)";
    bool real = PyFloat_Check(number),
         standard = type == (real ? front->options->default_fp : front->options->default_ip);
    return PS_FRONT_FAIL(front, FRONT_LITERAL_RANGE, real ? "Floating-point" : "Integer", shown,
                         standard ? (real ? "default_fp" : "default_ip") : "specified dtype",
                         ps_scalar_name(type), range);
}

static PsStatus float_const(PsFront *front, PyObject *number, double value, PsType type, PsRef *out) {
    uint64_t bits = bits_of(value), rounded = ps_eval_scalar(PS_OP_CAST, PS_F64, type, &bits);
    uint64_t back = ps_eval_scalar(PS_OP_CAST, type, PS_F64, &rounded);
    if (isfinite(value) && !isfinite(double_of(back))) return out_of_range(front, number, type);
    *out = ps_build_const(&front->b, type, rounded);
    return PS_OK;
}

static PsStatus int_const(PsFront *front, PyObject *number, PsType type, PsRef *out) {
    uint64_t bits;
    int64_t small;
    if (type == PS_U1) {
        *out = ps_build_int(&front->b, PS_U1, PyObject_IsTrue(number) == 1);
        return PS_OK;
    }
    if (is_float(type)) {
        if (ps_number_int(number, &small) && type != PS_F16) {
            *out = ps_build_int(&front->b, type, small);
            return PS_OK;
        }
        double value = PyLong_AsDouble(number);
        if (value == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return out_of_range(front, number, type);
        }
        return float_const(front, number, value, type, out);
    }
    if (!int_bits(number, type, &bits)) return out_of_range(front, number, type);
    *out = ps_build_const(&front->b, type, bits);
    return PS_OK;
}

PsStatus ps_number_const(PsFront *front, PyObject *object, PsType type, PsRef *out) {
    PyObject *number = ps_front_keep(front, plain_number(object));
    if (!number) return PS_PYERR;
    if (type == PS_KIND_NONE) type = ps_number_type(front, number);
    if (PyLong_Check(number) && type) return int_const(front, number, type, out);
    if (PyFloat_Check(number) && is_float(type))
        return float_const(front, number, PyFloat_AS_DOUBLE(number), type, out);
    PsValue value = ps_value_python(object);
    return PS_FRONT_FAIL(front, FRONT_NOT_A_NUMBER, ps_value_describe(front, &value));
}

/* The integer is one of default_ip, beyond the narrower type: as such it is converted. Its bits as an i64. */
static bool wraps(PsFront *front, PyObject *number, PsType type, uint64_t *bits) {
    uint64_t unused;
    PsClass class = ps_scalar_class(type);
    if (type == PS_U1 || (class != PS_CLASS_INT && class != PS_CLASS_UINT)) return false;
    return !int_bits(number, type, &unused) && int_bits(number, front->options->default_ip, bits);
}

PsStatus ps_number_cast(PsFront *front, PyObject *object, PsType type, PsRef *out, bool *out_exact) {
    uint64_t bits;
    PyObject *number = ps_front_keep(front, plain_number(object));
    if (!number) return PS_PYERR;
    *out_exact = true;
    if (PyLong_Check(number) && wraps(front, number, type, &bits)) {
        *out_exact = false;
        *out = ps_build_const(&front->b, type, ps_eval_scalar(PS_OP_CAST, PS_I64, type, &bits));
        return PS_OK;
    }
    if (!PyFloat_Check(number) || is_float(type)) return ps_number_const(front, number, type, out);
    double value = PyFloat_AS_DOUBLE(number);
    bits = bits_of(value);
    uint64_t cast = ps_eval_scalar(PS_OP_CAST, PS_F64, type, &bits);
    uint64_t back = ps_eval_scalar(PS_OP_CAST, type, PS_F64, &cast);
    *out_exact = double_of(back) == value;
    *out = ps_build_const(&front->b, type, cast);
    return PS_OK;
}

PsStatus ps_number_check_range(PsFront *front, const PsValue *value, PsType type) {
    uint64_t bits;
    int64_t small;
    PsClass class = ps_scalar_class(type);
    if (value->kind != PS_VALUE_PYTHON || !PyLong_Check(value->object) || type == PS_U1) return PS_OK;
    if (class != PS_CLASS_UINT && class != PS_CLASS_INT) return PS_OK;
    bool negative = ps_number_int(value->object, &small) && small < 0;
    bool fits = int_bits(value->object, type, &bits) && !(negative && class == PS_CLASS_UINT);
    return fits ? PS_OK : out_of_range(front, value->object, type);
}

/* -- objects in and out -- */

static PsStatus take(PsFront *front, PyObject *owned, PsValue *out) {
    PyObject *object = ps_front_keep(front, owned);
    if (!object) return ps_front_python_failed(front);
    if (ps_proxy_check(front, object)) return ps_proxy_value(front, object, out);
    *out = ps_value_python(object);
    return PS_OK;
}

PsStatus ps_value_take(PsFront *front, PyObject *owned, PsValue *out) {
    PsStatus status = take(front, owned, out);
    if (!status) ps_front_pin_instance(front, out);
    return status;
}

PsStatus ps_value_found(PsFront *front, PyObject *object, PsValue *out) {
    return take(front, Py_NewRef(object), out);
}

void ps_front_pin(PsFront *front, PyObject *array) {
    for (uint32_t i = 0; i < front->pinned.len; i++)
        if (front->pinned.data[i] == array) return;
    (void)ps_vec_push(front->arena, &front->pinned, array); /* no memory: the build fails */
}

void ps_front_pin_instance(PsFront *front, const PsValue *value) {
    PyObject *object = value->kind == PS_VALUE_PYTHON ? value->object : NULL;
    if (object && PyMethod_Check(object)) object = PyMethod_GET_SELF(object);
    if (object && ps_is_instance(front->types, object)) ps_front_pin(front, object);
}

PyObject *ps_value_object(PsFront *front, const PsValue *value) {
    if (value->kind == PS_VALUE_PYTHON) {
        if (ps_is_array(front->types, value->object))
            ps_front_pin(front, value->object); /* Python may ask anything */
        ps_front_pin_instance(front, value);
        return Py_NewRef(value->object);
    }
    return ps_proxy_new(front, value);
}

bool ps_value_is_runtime(const PsValue *value) {
    switch ((PsValueKind)value->kind) {
    case PS_VALUE_SCALAR:
    case PS_VALUE_TILE:
    case PS_VALUE_PLACE:
    case PS_VALUE_ARRAY:
    case PS_VALUE_STRUCTS: return true;
    case PS_VALUE_PARTS:
    case PS_VALUE_STRUCT:
    case PS_VALUE_TEXT:
        for (uint32_t i = 0; i < value->count; i++)
            if (ps_value_is_runtime(&value->items[i])) return true;
        return false;
    case PS_VALUE_METHOD: return ps_value_is_runtime(&value->items[0]);
    default: return false;
    }
}

static const char *describe_tile(PsFront *front, int ndim, int64_t n, int64_t m, const char *elem) {
    const char *text =
        ndim == 1 ? ps_arena_format(front->arena, "vector of %lld %s", (long long)n, elem)
                  : ps_arena_format(front->arena, "%lldx%lld matrix of %s", (long long)n, (long long)m, elem);
    return text ? text : "matrix";
}

static const char *describe_array(PsFront *front, const PsArrayObject *array) {
    const char *kind = (PyObject *)Py_TYPE(array) == front->types->field_type ? "field" : "array", *of = "",
               *text;
    if (array->edim) of = array->edim == 1 ? "vector " : "matrix ";
    text = ps_arena_format(front->arena, "%s %s%s of %d ax%s", ps_scalar_name(array->dtype), of, kind,
                           array->ndim, array->ndim == 1 ? "is" : "es");
    return text ? text : kind;
}

/* "struct(a, b)" */
static const char *describe_members(PsFront *front, PyObject *names) {
    const char *text = "struct(";
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names) && text; i++) {
        const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
        if (!name) PyErr_Clear();
        text = ps_arena_format(front->arena, "%s%s%s", text, i ? ", " : "", name ? name : "?");
    }
    text = text ? ps_arena_format(front->arena, "%s)", text) : NULL;
    return text ? text : "struct";
}

static const char *describe_object(PsFront *front, PyObject *object) {
    if (object == Py_None) return "None";
    if (PyLong_Check(object) || PyFloat_Check(object) || PyUnicode_Check(object)) {
        PyObject *repr = PyObject_Repr(object);
        const char *text = repr ? PyUnicode_AsUTF8(repr) : NULL;
        if (text && strlen(text) > 60) text = NULL;
        text = text ? ps_arena_format(front->arena, "%s %s", Py_TYPE(object)->tp_name, text) : NULL;
        Py_XDECREF(repr);
        PyErr_Clear();
        if (text) return text;
    }
    if (PyModule_Check(object)) {
        const char *name = PyModule_GetName(object);
        if (name) return ps_arena_format(front->arena, "module %s", name);
        PyErr_Clear();
    }
    if (ps_is_array(front->types, object)) return describe_array(front, (const PsArrayObject *)object);
    if (ps_is_matrix(front->types, object)) {
        const PsMatrixObject *m = (const PsMatrixObject *)object;
        return describe_tile(front, m->ndim, m->n, m->m, m->weak ? "numbers" : ps_scalar_name(m->elem));
    }
    const PsStructTypeObject *type = NULL;
    if (Py_IS_TYPE(object, front->types->structure)) type = ((PsStructObject *)object)->type;
    if (Py_IS_TYPE(object, front->types->struct_type)) type = (PsStructTypeObject *)object;
    if (type) {
        const char *name = type->name ? PyUnicode_AsUTF8(type->name) : NULL;
        if (!name) PyErr_Clear();
        return name ? ps_arena_format(front->arena, "struct %s", name) : describe_members(front, type->members);
    }
    const char *what = NULL, *which = NULL;
    if (Py_IS_TYPE(object, front->types->dtype))
        what = "dtype", which = ps_scalar_name(((PsDtypeObject *)object)->type);
    else if (Py_IS_TYPE(object, front->types->builtin))
        what = "function", which = ps_builtin_info[((PsBuiltinObject *)object)->id].name;
    else if (PyType_Check(object))
        what = "class", which = ((PyTypeObject *)object)->tp_name;
    what = what ? ps_arena_format(front->arena, "%s %s", what, which) : NULL;
    if (what) return what;
    if (PyFunction_Check(object)) {
        const char *name = PyUnicode_AsUTF8(((PyFunctionObject *)object)->func_name);
        if (name) return ps_arena_format(front->arena, "function %s", name);
        PyErr_Clear();
    }
    const char *text = ps_arena_copy(front->arena, Py_TYPE(object)->tp_name, strlen(Py_TYPE(object)->tp_name));
    return text ? text : "object";
}

const char *ps_type_describe(PsFront *front, PsType type) {
    const PsTypeInfo *info = ps_type_info(front->module, type);
    if (info->kind != PS_KIND_TILE) return ps_scalar_name(type);
    return describe_tile(front, info->ndim, info->shape[0], info->shape[1], ps_scalar_name(info->elem));
}

const char *ps_value_describe(PsFront *front, const PsValue *value) {
    const char *text = NULL;
    switch ((PsValueKind)value->kind) {
    case PS_VALUE_PYTHON: return describe_object(front, value->object);
    case PS_VALUE_SCALAR:
    case PS_VALUE_TILE:
    case PS_VALUE_PLACE:
    case PS_VALUE_PARTS: return ps_type_describe(front, value->type);
    case PS_VALUE_STRUCT: return describe_object(front, value->object);
    case PS_VALUE_METHOD: return "method";
    case PS_VALUE_ARRAY: {
        const PsTypeInfo *info = ps_type_info(front->module, value->type);
        if (value->object) return describe_array(front, (const PsArrayObject *)value->object);
        text = ps_arena_format(front->arena, "%s array of %d ax%s", ps_scalar_name(info->elem), info->ndim,
                               info->ndim == 1 ? "is" : "es");
        break;
    }
    case PS_VALUE_OBJECT: return describe_object(front, value->object);
    case PS_VALUE_STRUCTS: return "array of structs";
    case PS_VALUE_TEXT: return "text with runtime values";
    case PS_VALUE_NDRANGE: return "range() or ndrange()";
    case PS_VALUE_GROUPED: return "grouped domain";
    case PS_VALUE_NONE: return "nothing";
    }
    return text ? text : "value";
}
