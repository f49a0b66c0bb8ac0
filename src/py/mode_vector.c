/* SPDX-License-Identifier: Apache-2.0
 *
 * pestle.Vector: the index of a grouped loop and what is computed from it, while a kernel runs as plain Python: a list
 * with elementwise operators. A number or a sequence of the same length may stand beside it, as in front/loop.
 */
#include "py/mode_int.h"

static PyState *state_of(PyObject *self) { return PyType_GetModuleState(Py_TYPE(self)); }

PyObject *mode_vector(const PyState *state, PyObject *list) {
    PyObject *made = list ? PyObject_CallOneArg((PyObject *)state->mode.vector, list) : NULL;
    Py_XDECREF(list);
    return made;
}

bool mode_is_vector(const PyState *state, PyObject *object) { return Py_IS_TYPE(object, state->mode.vector); }

bool mode_any_vector(const PyState *state, PyObject *const *args, int nargs) {
    for (int i = 0; i < nargs; i++)
        if (mode_is_vector(state, args[i])) return true;
    return false;
}

static Py_ssize_t length_of(const PyState *state, PyObject *const *args, int nargs) {
    for (int i = 0; i < nargs; i++)
        if (mode_is_vector(state, args[i])) return PyList_GET_SIZE(args[i]);
    return 0;
}

#define MOST_ARGS 4
PyObject *mode_map(const PyState *state, PyObject *(*f)(const PyState *, void *, PyObject *const *), void *data,
                   PyObject *const *args, int nargs) {
    Py_ssize_t n = length_of(state, args, nargs);
    PyObject *row[MOST_ARGS];
    if (nargs > MOST_ARGS)
        return py_error(state, PS_MSG_MODE_COUNT, "vectors in an operation", (long long)MOST_ARGS,
                        (long long)nargs);
    for (int k = 0; k < nargs; k++) {
        bool sequence = PyList_Check(args[k]) || PyTuple_Check(args[k]);
        if (sequence && PySequence_Fast_GET_SIZE(args[k]) != n)
            return py_error(state, PS_MSG_MODE_COUNT, "elements of a vector", (long long)n,
                            (long long)PySequence_Fast_GET_SIZE(args[k]));
    }
    PyObject *list = PyList_New(n);
    for (Py_ssize_t i = 0; list && i < n; i++) {
        for (int k = 0; k < nargs; k++) {
            bool sequence = PyList_Check(args[k]) || PyTuple_Check(args[k]);
            row[k] = sequence ? PySequence_Fast_GET_ITEM(args[k], i) : args[k];
        }
        PyObject *item = f(state, data, row);
        if (item)
            PyList_SET_ITEM(list, i, item);
        else
            Py_CLEAR(list);
    }
    return mode_vector(state, list);
}

/* -- operators -- */

static void Vector_dealloc(PyObject *self);
static bool is_vector(PyObject *object) { return Py_TYPE(object)->tp_dealloc == Vector_dealloc; }

/* The list's own, and the type's reference. */
static void Vector_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyList_Type.tp_dealloc(self);
    Py_DECREF(type);
}

typedef PyObject *(*Binary)(PyObject *, PyObject *);

static PyObject *call_binary(const PyState *state, void *data, PyObject *const *args) {
    (void)state;
    return (*(Binary *)data)(args[0], args[1]);
}

static PyObject *elementwise(Binary f, PyObject *a, PyObject *b) {
    const PyState *state = state_of(is_vector(a) ? a : b);
    ModeOperand unused;
    PyObject *args[2] = {a, b}, *other = is_vector(a) ? b : a;
    if (!PyList_Check(other) && !PyTuple_Check(other) && !mode_read(state, other, &unused))
        Py_RETURN_NOTIMPLEMENTED;
    return mode_map(state, call_binary, &f, args, 2);
}

/* a op= b keeps the vector and changes its elements, as a name does. */
static PyObject *in_place(Binary f, PyObject *a, PyObject *b) {
    PyObject *made = elementwise(f, a, b);
    if (!made || made == Py_NotImplemented) return made;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(made) && i < PyList_GET_SIZE(a); i++)
        if (PyList_SetItem(a, i, Py_NewRef(PyList_GET_ITEM(made, i)))) break;
    Py_DECREF(made);
    return PyErr_Occurred() ? NULL : Py_NewRef(a);
}

static PyObject *power2(PyObject *a, PyObject *b) { return PyNumber_Power(a, b, Py_None); }
static PyObject *inplace_power2(PyObject *a, PyObject *b) { return PyNumber_InPlacePower(a, b, Py_None); }

#define BINARY(name, f, in)                                                                                    \
    static PyObject *Vector_##name(PyObject *a, PyObject *b) { return elementwise(f, a, b); }                  \
    static PyObject *Vector_inplace_##name(PyObject *a, PyObject *b) { return in_place(in, a, b); }
BINARY(add, PyNumber_Add, PyNumber_InPlaceAdd)
BINARY(subtract, PyNumber_Subtract, PyNumber_InPlaceSubtract)
BINARY(multiply, PyNumber_Multiply, PyNumber_InPlaceMultiply)
BINARY(true_divide, PyNumber_TrueDivide, PyNumber_InPlaceTrueDivide)
BINARY(floor_divide, PyNumber_FloorDivide, PyNumber_InPlaceFloorDivide)
BINARY(remainder, PyNumber_Remainder, PyNumber_InPlaceRemainder)
BINARY(lshift, PyNumber_Lshift, PyNumber_InPlaceLshift)
BINARY(rshift, PyNumber_Rshift, PyNumber_InPlaceRshift)
BINARY(and, PyNumber_And, PyNumber_InPlaceAnd)
BINARY(or, PyNumber_Or, PyNumber_InPlaceOr)
BINARY(xor, PyNumber_Xor, PyNumber_InPlaceXor)

static PyObject *Vector_power(PyObject *a, PyObject *b, PyObject *modulus) {
    (void)modulus;
    return elementwise(power2, a, b);
}
static PyObject *Vector_inplace_power(PyObject *a, PyObject *b, PyObject *modulus) {
    (void)modulus;
    return in_place(inplace_power2, a, b);
}

typedef PyObject *(*Unary)(PyObject *);
static PyObject *call_unary(const PyState *state, void *data, PyObject *const *args) {
    (void)state;
    return (*(Unary *)data)(args[0]);
}
static PyObject *each(PyObject *self, Unary f) { return mode_map(state_of(self), call_unary, &f, &self, 1); }
static PyObject *Vector_negative(PyObject *self) { return each(self, PyNumber_Negative); }
static PyObject *Vector_positive(PyObject *self) { return each(self, PyNumber_Positive); }
static PyObject *Vector_invert(PyObject *self) { return each(self, PyNumber_Invert); }
static PyObject *Vector_absolute(PyObject *self) { return each(self, PyNumber_Absolute); }

static PyObject *call_compare(const PyState *state, void *data, PyObject *const *args) {
    return mode_compare(state, *(int *)data, args[0], args[1]);
}

static PyObject *Vector_richcompare(PyObject *a, PyObject *b, int op) {
    PyObject *args[2] = {a, b};
    ModeOperand unused;
    if (!PyList_Check(b) && !PyTuple_Check(b) && !mode_read(state_of(a), b, &unused)) Py_RETURN_NOTIMPLEMENTED;
    return mode_map(state_of(a), call_compare, &op, args, 2);
}

/* -- components -- */

static Py_ssize_t component(PyObject *name) {
    static const char letters[] = "xyzw";
    for (Py_ssize_t i = 0; i < 4; i++)
        if (PyUnicode_GET_LENGTH(name) == 1 && PyUnicode_READ_CHAR(name, 0) == (Py_UCS4)letters[i]) return i;
    return -1;
}

static PyObject *Vector_getattro(PyObject *self, PyObject *name) {
    Py_ssize_t i = component(name);
    return i >= 0 && i < PyList_GET_SIZE(self) ? Py_NewRef(PyList_GET_ITEM(self, i))
                                               : PyObject_GenericGetAttr(self, name);
}

static int set_item(PyObject *self, Py_ssize_t i, PyObject *value) {
    PyObject *pair[2] = {i >= 0 && i < PyList_GET_SIZE(self) ? PyList_GET_ITEM(self, i) : Py_None, value};
    PyObject *typed = mode_assign(PyType_GetModule(Py_TYPE(self)), pair, 2);
    return typed ? PyList_SetItem(self, i, typed) : -1;
}

static int Vector_setattro(PyObject *self, PyObject *name, PyObject *value) {
    Py_ssize_t i = component(name);
    return value && i >= 0 ? set_item(self, i, value) : PyObject_GenericSetAttr(self, name, value);
}

static int Vector_ass_subscript(PyObject *self, PyObject *key, PyObject *value) {
    Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred()) return -1;
    if (value) return set_item(self, i, value);
    PyErr_SetString(PyExc_TypeError, "elements of a vector cannot be deleted");
    return -1;
}

static PyMethodDef vector_methods[] = {{"_rule", MODE_RULE, METH_FASTCALL, NULL}, {0}};
#define SLOTS(name)                                                                                            \
    {Py_nb_##name, Vector_##name}, { Py_nb_inplace_##name, Vector_inplace_##name }
static PyType_Slot vector_slots[] = {
    {Py_tp_dealloc, Vector_dealloc},
    {Py_tp_getattro, Vector_getattro},
    {Py_tp_setattro, Vector_setattro},
    {Py_tp_richcompare, Vector_richcompare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_methods, vector_methods},
    {Py_tp_doc, "A vector of a kernel that runs as plain Python."},
    {Py_mp_ass_subscript, Vector_ass_subscript},
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
    {Py_nb_negative, Vector_negative},
    {Py_nb_positive, Vector_positive},
    {Py_nb_invert, Vector_invert},
    {Py_nb_absolute, Vector_absolute},
    {0},
};
static PyType_Spec vector_spec = {"pestle.Vector", 0, 0, Py_TPFLAGS_DEFAULT, vector_slots};

PyTypeObject *mode_vector_type(PyObject *module) {
    PyObject *bases = PyTuple_Pack(1, &PyList_Type);
    PyObject *type = bases ? PyType_FromModuleAndSpec(module, &vector_spec, bases) : NULL;
    Py_XDECREF(bases);
    if (type && PyObject_SetAttrString(type, "__array_ufunc__", Py_None)) Py_CLEAR(type);
    return (PyTypeObject *)type;
}
