/* SPDX-License-Identifier: Apache-2.0
 *
 * The builtins (builtins.def) as Python objects, and what they do when called outside a kernel: the same functions on
 * Python numbers, so that a @pyfunc runs in both worlds. Floats are computed in f64, integers in i64.
 */
#include "front/eval/build.h"
#include "front/eval/eval_objects.h"

#include <math.h>
#include <string.h>

const PsBuiltinInfo ps_builtin_info[PS_BUILTIN_COUNT] = {
#define PS_BUILTIN(id, name, kind, op, min, max) {name, PS_BUILTIN_KIND_##kind, PS_OP_##op, min, max},
#include "front/eval/builtins.def"
};

int ps_builtin_keyword(PsBuiltinId id, PyObject *name) {
    static const struct {
        PsBuiltinId id;
        const char *name;
    } last[] = {
        {PS_BUILTIN_RANDOM, "dtype"},      {PS_BUILTIN_RANDN, "dtype"},
        {PS_BUILTIN_RANDN, "dt"},          {PS_BUILTIN_FLOOR, "dtype"},
        {PS_BUILTIN_CEIL, "dtype"},        {PS_BUILTIN_ROUND, "dtype"},
        {PS_BUILTIN_RINT, "dtype"},        {PS_BUILTIN_TRUNC, "dtype"},
        {PS_BUILTIN_CAST, "dtype"},        {PS_BUILTIN_BIT_CAST, "dtype"},
        {PS_BUILTIN_STATIC_ASSERT, "msg"}, {PS_BUILTIN_STATIC_ASSERT, "message"},
    };
    for (size_t i = 0; i < PS_COUNT(last); i++)
        if (last[i].id == id && PyUnicode_CompareWithASCIIString(name, last[i].name) == 0)
            return ps_builtin_info[id].max_args - 1;
    return -1;
}

/* -- numbers -- */

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

/* A Python number as i64 or f64 bits. Integers that do not fit i64 become u64, or f64. */
static int number_of(PyObject *object, PsType *type, uint64_t *bits) {
    if (PyLong_Check(object) || (!PyFloat_Check(object) && PyIndex_Check(object))) {
        PyObject *integer = PyNumber_Index(object);
        if (!integer) return -1;
        int overflow;
        long long value = PyLong_AsLongLongAndOverflow(integer, &overflow);
        unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(integer) : 0;
        bool fits = overflow > 0 && !PyErr_Occurred();
        PyErr_Clear();
        double real = overflow && !fits ? PyLong_AsDouble(integer) : 0.0;
        Py_DECREF(integer);
        if (PyErr_Occurred()) return -1;
        *type = fits ? PS_U64 : overflow ? PS_F64 : PS_I64;
        *bits = fits ? large : overflow ? bits_of(real) : (uint64_t)value;
        return 0;
    }
    double value = PyFloat_AsDouble(object);
    if (value == -1.0 && PyErr_Occurred()) return -1;
    *type = PS_F64;
    *bits = bits_of(value);
    return 0;
}

PyObject *ps_number_object(PsType type, uint64_t bits) {
    if (type == PS_U1) return PyBool_FromLong(bits != 0);
    if (ps_scalar_class(type) == PS_CLASS_FLOAT)
        return PyFloat_FromDouble(double_of(ps_eval_scalar(PS_OP_CAST, type, PS_F64, &bits)));
    uint64_t wide = ps_eval_scalar(PS_OP_CAST, type, type == PS_U64 ? PS_U64 : PS_I64, &bits);
    return type == PS_U64 ? PyLong_FromUnsignedLongLong(wide) : PyLong_FromLongLong((long long)wide);
}

int ps_number_bits(PyObject *number, PsType type, uint64_t *out) {
    PsType from;
    uint64_t bits;
    if (number_of(number, &from, &bits)) return -1;
    *out = from == type ? bits : ps_eval_scalar(PS_OP_CAST, from, type, &bits);
    return 0;
}

PyObject *eval_python_cast(PyObject *value, PsType type) {
    PsType from;
    uint64_t bits;
    if (number_of(value, &from, &bits)) return NULL;
    return ps_number_object(type, ps_eval_scalar(PS_OP_CAST, from, type, &bits));
}

/* Whether the width of an integer shows in the result. */
static bool counts_bits(PsOpCode op) { return op == PS_OP_POPCNT || op == PS_OP_CLZ || op == PS_OP_USHR; }

/* One op on one or two numbers: in f64, or when all are integers and the op takes them in i64, or in i32, as
 * the variables that such numbers become have it, where they fit and it matters. */
static PyObject *compute(PsOpCode op, PyObject *const *args, int nargs) {
    PsType types[2] = {PS_I64, PS_I64};
    uint64_t bits[2] = {0};
    bool real = ps_op_info[op].rule == PS_RULE_FLOAT, narrow = counts_bits(op);
    for (int i = 0; i < nargs; i++) {
        if (number_of(args[i], &types[i], &bits[i])) return NULL;
        real |= types[i] != PS_I64;
        narrow &= (int64_t)bits[i] == (int32_t)bits[i];
    }
    PsType type = real ? PS_F64 : narrow ? PS_I32 : PS_I64;
    if (real && (ps_op_info[op].rule == PS_RULE_INT || ps_op_info[op].rule == PS_RULE_SHIFT)) {
        PyErr_Format(PyExc_TypeError, "%s expects integers, found a float", ps_op_info[op].name);
        return NULL;
    }
    for (int i = 0; i < nargs; i++) bits[i] = ps_eval_scalar(PS_OP_CAST, types[i], type, &bits[i]);
    return ps_number_object(type, ps_eval_scalar(op, type, type, bits));
}

/* -- forms -- */

static PyObject *form_static(PyObject *const *args, int nargs) {
    if (nargs == 1) return Py_NewRef(args[0]);
    PyObject *tuple = PyTuple_New(nargs);
    for (int i = 0; tuple && i < nargs; i++) PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
    return tuple;
}

static PyObject *form_static_assert(PyObject *const *args, int nargs) {
    int truth = PyObject_IsTrue(args[0]);
    if (truth == 0) PyErr_SetObject(PyExc_AssertionError, nargs > 1 ? args[1] : Py_None);
    return truth == 1 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *form_static_print(PyObject *const *args, int nargs) {
    PyObject *builtins = PyImport_ImportModule("builtins");
    PyObject *print = builtins ? PyObject_GetAttrString(builtins, "print") : NULL;
    PyObject *result = print ? PyObject_Vectorcall(print, args, (size_t)nargs, NULL) : NULL;
    Py_XDECREF(print);
    Py_XDECREF(builtins);
    return result;
}

static PyObject *form_select(PyObject *const *args, int nargs) {
    (void)nargs;
    int truth = PyObject_IsTrue(args[0]);
    return truth < 0 ? NULL : Py_NewRef(args[truth ? 1 : 2]);
}

static PyObject *form_logical_not(PyObject *const *args, int nargs) {
    (void)nargs;
    int truth = PyObject_IsTrue(args[0]);
    return truth < 0 ? NULL : PyBool_FromLong(!truth);
}

static PyObject *form_cast(PyObject *const *args, int nargs) {
    (void)nargs;
    if (eval_is_dtype(args[1])) return eval_python_cast(args[0], ((PsDtypeObject *)args[1])->type);
    return PyObject_CallOneArg(args[1], args[0]);
}

static PyObject *form_isnan(PyObject *const *args, int nargs) {
    (void)nargs;
    double value = PyFloat_AsDouble(args[0]);
    return value == -1.0 && PyErr_Occurred() ? NULL : PyBool_FromLong(isnan(value));
}

static PyObject *form_isinf(PyObject *const *args, int nargs) {
    (void)nargs;
    double value = PyFloat_AsDouble(args[0]);
    return value == -1.0 && PyErr_Occurred() ? NULL : PyBool_FromLong(isinf(value));
}

static PyObject *form_zero(PyObject *const *args, int nargs) {
    (void)nargs;
    return PyObject_CallOneArg((PyObject *)Py_TYPE(args[0]), Py_False);
}

static PyObject *form_one(PyObject *const *args, int nargs) {
    (void)nargs;
    return PyObject_CallOneArg((PyObject *)Py_TYPE(args[0]), Py_True);
}

static PyObject *form_loop_config(PyObject *const *args, int nargs) {
    (void)args, (void)nargs;
    Py_RETURN_NONE;
}

static PyObject *form_grouped(PyObject *const *args, int nargs) {
    (void)nargs;
    return Py_NewRef(args[0]);
}

static PyObject *form_clock_counter(PyObject *const *args, int nargs) {
    (void)args, (void)nargs;
    return PyLong_FromLongLong(ps_clock_ticks());
}

static PyObject *(*const forms[PS_BUILTIN_COUNT])(PyObject *const *args, int nargs) = {
    [PS_BUILTIN_STATIC] = form_static,
    [PS_BUILTIN_STATIC_ASSERT] = form_static_assert,
    [PS_BUILTIN_STATIC_PRINT] = form_static_print,
    [PS_BUILTIN_SELECT] = form_select,
    [PS_BUILTIN_LOGICAL_NOT] = form_logical_not,
    [PS_BUILTIN_CLOCK_COUNTER] = form_clock_counter,
    [PS_BUILTIN_CAST] = form_cast,
    [PS_BUILTIN_ISNAN] = form_isnan,
    [PS_BUILTIN_ISINF] = form_isinf,
    [PS_BUILTIN_ZERO] = form_zero,
    [PS_BUILTIN_ONE] = form_one,
    [PS_BUILTIN_LOOP_CONFIG] = form_loop_config,
    [PS_BUILTIN_GROUPED] = form_grouped,
};

/* -- calls -- */

/* Vectors and matrices (of py) compute themselves, element by element. NULL without an exception: none is there. */
static PyObject *of_matrix(PyObject *self, PyObject *const *args, int nargs) {
    PyObject *all[4] = {self};
    for (int i = 0; i < nargs; i++) {
        if (PyLong_Check(args[i]) || PyFloat_Check(args[i]) || nargs > 3) continue;
        PyObject *apply = PyObject_GetAttrString((PyObject *)Py_TYPE(args[i]), "_apply_builtin");
        PyErr_Clear();
        if (!apply) continue;
        memcpy(all + 1, args, sizeof *args * (size_t)nargs);
        PyObject *result = PyObject_Vectorcall(apply, all, (size_t)nargs + 1, NULL);
        Py_DECREF(apply);
        return result;
    }
    return NULL;
}

static PyObject *fold(PyObject *self, PsOpCode op, PyObject *const *args, int nargs) {
    PyObject *result = Py_NewRef(args[0]);
    for (int i = 1; result && i < nargs; i++) {
        PyObject *pair[2] = {result, args[i]}, *next = of_matrix(self, pair, 2);
        if (!next && !PyErr_Occurred()) next = compute(op, pair, 2);
        Py_DECREF(result);
        result = next;
    }
    return result;
}

/* floor, ceil, round, trunc with a dtype: the result converted. */
static PyObject *unary(PsOpCode op, PyObject *const *args, int nargs) {
    PyObject *result = compute(op, args, 1);
    if (!result || nargs == 1) return result;
    PyObject *pair[2] = {result, args[1]}, *cast = form_cast(pair, 2);
    Py_DECREF(result);
    return cast;
}

static PyObject *call_plain(PyObject *self, const PsBuiltinInfo *info, PyObject *const *args, int nargs) {
    PsBuiltinId id = ((PsBuiltinObject *)self)->id;
    if ((info->kind != PS_BUILTIN_KIND_FORM && info->kind != PS_BUILTIN_KIND_FOLD) ||
        id == PS_BUILTIN_LOGICAL_NOT) {
        PyObject *result = of_matrix(self, args, nargs);
        if (result || PyErr_Occurred()) return result;
    }
    switch (info->kind) {
    case PS_BUILTIN_KIND_UNARY: return unary(info->op, args, nargs);
    case PS_BUILTIN_KIND_BINARY: return compute(info->op, args, 2);
    case PS_BUILTIN_KIND_FOLD: return fold(self, info->op, args, nargs);
    case PS_BUILTIN_KIND_ATOMIC: break;
    case PS_BUILTIN_KIND_FORM:
        if (forms[id]) return forms[id](args, nargs);
    }
    return PyErr_Format(PyExc_TypeError, "%s() can be called in kernels and funcs only", info->name);
}

PyObject *ps_builtin_plain(PyObject *self, PyObject *const *args, int nargs, PyObject *names) {
    const PsBuiltinInfo *info = &ps_builtin_info[((PsBuiltinObject *)self)->id];
    if (((PsBuiltinObject *)self)->id == PS_BUILTIN_NDRANGE) return eval_ndrange(self, args, nargs, names);
    if (names && PyTuple_GET_SIZE(names) == 1 &&
        ps_builtin_keyword(((PsBuiltinObject *)self)->id, PyTuple_GET_ITEM(names, 0)) == nargs)
        nargs++; /* it stands where it would without its name */
    else if (names && PyTuple_GET_SIZE(names) && ((PsBuiltinObject *)self)->id != PS_BUILTIN_LOOP_CONFIG)
        return PyErr_Format(PyExc_TypeError, "%s() takes no keyword arguments outside a kernel", info->name);
    if (nargs < info->min_args || (info->max_args >= 0 && nargs > info->max_args))
        return PyErr_Format(PyExc_TypeError, "%s() takes %d%s argument%s, found %d", info->name, info->min_args,
                            info->max_args == info->min_args ? "" : " or more", info->min_args == 1 ? "" : "s",
                            nargs);
    return call_plain(self, info, args, nargs);
}

static PyObject *Builtin_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
    int nargs = (int)PyVectorcall_NARGS(nargsf);
    PyObject *ruled = ps_proxy_call(self, args, nargs); /* from Python code called while a kernel is compiled */
    if (ruled != Py_NotImplemented) return ruled;
    Py_DECREF(ruled);
    return ps_builtin_plain(self, args, nargs, names);
}

static PyObject *Builtin_repr(PyObject *self) {
    return PyUnicode_FromFormat("<pestle builtin %s>", ps_builtin_info[((PsBuiltinObject *)self)->id].name);
}

static PyObject *Builtin_get_name(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(ps_builtin_info[((PsBuiltinObject *)self)->id].name);
}

/* -- what they say of themselves: parameters and docstring of their stubs -- */

static const struct {
    const char *parameters; /* NULL: several signatures */
    const char *doc;
} docs[PS_BUILTIN_COUNT] = {
#include "builtin_docs.h"
};

static PyObject *Builtin_get_doc(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(docs[((PsBuiltinObject *)self)->id].doc);
}

/* The signature of a lambda with these parameters: inspect's public interface makes none of a text. */
static PyObject *Builtin_get_signature(PyObject *self, void *unused) {
    (void)unused;
    const char *parameters = docs[((PsBuiltinObject *)self)->id].parameters;
    PyObject *scope = NULL, *text = NULL, *lambda = NULL, *inspect = NULL, *signature = NULL;
    if (!parameters) return PyErr_Format(PyExc_AttributeError, "%R has several signatures", self);
    if (!(text = PyUnicode_FromFormat("lambda %s: None", parameters)) || !(scope = PyDict_New()) ||
        PyDict_SetItemString(scope, "__builtins__", PyEval_GetBuiltins()))
        goto done;
    lambda = PyRun_String(PyUnicode_AsUTF8(text), Py_eval_input, scope, scope);
    if (lambda && (inspect = PyImport_ImportModule("inspect")))
        signature = PyObject_CallMethod(inspect, "signature", "O", lambda);
done:
    Py_XDECREF(inspect);
    Py_XDECREF(lambda);
    Py_XDECREF(scope);
    Py_XDECREF(text);
    return signature;
}

static PyObject *Builtin_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return Builtin_get_name(self, NULL);
}

static PyMemberDef builtin_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PsBuiltinObject, vectorcall), READONLY, NULL}, {0}};
static PyGetSetDef builtin_getset[] = {{"__name__", Builtin_get_name, NULL, NULL, NULL},
                                       {"__qualname__", Builtin_get_name, NULL, NULL, NULL},
                                       {"__doc__", Builtin_get_doc, NULL, NULL, NULL},
                                       {"__signature__", Builtin_get_signature, NULL, NULL, NULL},
                                       {0}};
static PyMethodDef builtin_methods[] = {{"__reduce__", Builtin_reduce, METH_NOARGS, NULL}, {0}};
static PyType_Slot builtin_slots[] = {
    {Py_tp_call, PyVectorcall_Call}, {Py_tp_repr, Builtin_repr},       {Py_tp_members, builtin_members},
    {Py_tp_getset, builtin_getset},  {Py_tp_methods, builtin_methods}, {0},
};
static PyType_Spec builtin_spec = {"pestle.Builtin", sizeof(PsBuiltinObject), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                                       Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                                   builtin_slots};

PyTypeObject *eval_builtin_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &builtin_spec, NULL);
}

int eval_builtins_add(PsFrontTypes *types, PyObject *module) {
    for (int id = 0; id < PS_BUILTIN_COUNT; id++) {
        PsBuiltinObject *builtin = (PsBuiltinObject *)types->builtin->tp_alloc(types->builtin, 0);
        if (!builtin) return -1;
        builtin->types = types;
        builtin->vectorcall = Builtin_vectorcall;
        builtin->id = (PsBuiltinId)id;
        int failed = PyModule_AddObjectRef(module, ps_builtin_info[id].name, (PyObject *)builtin);
        Py_DECREF(builtin);
        if (failed) return -1;
    }
    return 0;
}
