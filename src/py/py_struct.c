/* SPDX-License-Identifier: Apache-2.0
 *
 * py_struct: structs on the host: calling a type of structs (or Struct(a=1)) makes values with the members as attributes.
 * Members are held as their types say. How types are declared: py_struct_type.c.
 */
#include "py/py_matrix.h"
#include "py/mode_int.h"

#include <structmember.h>

int py_struct_find(const PsStructTypeObject *type, PyObject *name) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(type->members); i++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(type->members, i), name) == 0) return (int)i;
    return -1;
}

/* -- values of a member -- */

static bool is_struct(const PyState *state, PyObject *object) {
    return Py_IS_TYPE(object, state->types.structure);
}

static PyObject *no_value(PyObject *name, PyObject *value) {
    return PyErr_Format(PyExc_TypeError, "member '%U' cannot be %R", name, value);
}

static bool is_number(PyObject *value) {
    return (PyIndex_Check(value) || PyFloat_Check(value)) && !PySequence_Check(value);
}

/* The value as the annotation holds it; NULL annotation: as it is. A new reference. */
static PyObject *convert(const PyState *state, PyObject *annotation, PyObject *name, PyObject *value) {
    uint64_t bits;
    if (py_refuse_proxy(state, value)) return NULL;
    if (annotation == Py_None) {
        if (PyLong_Check(value) || PyFloat_Check(value) || is_struct(state, value) || matrix_check(value))
            return Py_NewRef(value);
        if (PyDict_Check(value)) return PyObject_CallOneArg((PyObject *)state->types.structure, value);
        return PySequence_Check(value) && !PyUnicode_Check(value)
                   ? (PyObject *)matrix_from(state, value, PS_KIND_NONE)
                   : no_value(name, value);
    }
    if (Py_IS_TYPE(annotation, state->types.struct_type)) {
        if (is_struct(state, value) && ((PsStructObject *)value)->type == (PsStructTypeObject *)annotation)
            return py_value_copy(state, value);
        if (is_struct(state, value) || PyDict_Check(value) ||
            is_number(value)) /* Line(0): of its first member */
            return PyObject_CallOneArg(annotation, value);
        return no_value(name, value);
    }
    if (Py_IS_TYPE(annotation, state->types.matrix_type)) {
        const PsMatrixTypeObject *type = (PsMatrixTypeObject *)annotation;
        if (is_number(value)) return PyObject_CallOneArg(annotation, value);
        PsType elem = ps_front_dtype(&state->types, &state->options, type->dtype);
        PsMatrixObject *made = matrix_from(state, value, elem);
        if (!made || (made->ndim == type->ndim && made->n == type->n && made->m == type->m))
            return (PyObject *)made;
        Py_DECREF(made);
        return no_value(name, value);
    }
    PsType type = ps_front_dtype(&state->types, &state->options, annotation);
    if (!type) return no_value(name, value);
    return matrix_bits(value, type, &bits) ? NULL : ps_number_object(type, bits);
}

static PyObject *zero_of(const PyState *state, PyObject *annotation) {
    if (Py_IS_TYPE(annotation, state->types.struct_type)) return PyObject_CallNoArgs(annotation);
    if (Py_IS_TYPE(annotation, state->types.matrix_type)) return PyObject_CallOneArg(annotation, Py_False);
    return convert(state, annotation, Py_None, Py_False);
}

/* -- values -- */

static PsStructObject *alloc(const PyState *state, PsStructTypeObject *type) {
    Py_ssize_t n = PyTuple_GET_SIZE(type->members);
    PsStructObject *self = (PsStructObject *)state->types.structure->tp_alloc(state->types.structure, n);
    if (self) self->type = (PsStructTypeObject *)Py_NewRef(type);
    return self;
}

PyObject *py_struct_new(const PyState *state, PsStructTypeObject *type, PyObject *values) {
    PsStructObject *self = alloc(state, type);
    for (Py_ssize_t i = 0; self && i < Py_SIZE(self); i++)
        self->values[i] = Py_NewRef(PyTuple_GET_ITEM(values, i));
    return (PyObject *)self;
}

static int set_member(const PyState *state, PsStructObject *self, PyObject *name, PyObject *value) {
    int at = py_struct_find(self->type, name);
    if (at < 0) {
        PyErr_Format(PyExc_AttributeError, "this struct has no member '%U'; it has %R", name,
                     self->type->members);
        return -1;
    }
    PyObject *made = convert(state, PyTuple_GET_ITEM(self->type->types, at), name, value);
    if (!made) return -1;
    Py_XSETREF(self->values[at], made);
    return py_struct_write_home(self, at);
}

static int fill(const PyState *state, PsStructObject *self, PyObject *args, PyObject *names) {
    PyObject *key, *value;
    for (Py_ssize_t i = 0; args && i < PyTuple_GET_SIZE(args); i++)
        if (set_member(state, self, PyTuple_GET_ITEM(self->type->members, i), PyTuple_GET_ITEM(args, i)))
            return -1;
    for (Py_ssize_t at = 0; names && PyDict_Next(names, &at, &key, &value);) {
        if (!PyUnicode_Check(key)) {
            PyErr_SetString(PyExc_TypeError, "members are named by strings");
            return -1;
        }
        if (set_member(state, self, key, value)) return -1;
    }
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++)
        if (!self->values[i] && !(self->values[i] = zero_of(state, PyTuple_GET_ITEM(self->type->types, i))))
            return -1;
    return 0;
}

static PyObject *dict_of(PsStructObject *self) {
    PyObject *dict = PyDict_New();
    for (Py_ssize_t i = 0; dict && i < Py_SIZE(self); i++)
        if (PyDict_SetItem(dict, PyTuple_GET_ITEM(self->type->members, i), self->values[i])) Py_CLEAR(dict);
    return dict;
}

/* What annotates a member of Struct(): None, a Python value; in a kernel that runs as plain Python the type of its value. */
static PyObject *kind_of(const PyState *state, PyObject *value) {
    ModeOperand operand;
    PyObject *made = NULL, *result;
    if (!mode_runs(state) || !value) return value ? Py_NewRef(Py_None) : NULL;
    if (mode_read(state, value, &operand)) return Py_NewRef(state->types.dtypes[operand.type]);
    if (PyDict_Check(value))
        made = PyObject_CallOneArg((PyObject *)state->types.structure, value);
    else if (PyList_Check(value) || PyTuple_Check(value))
        made = (PyObject *)matrix_from(state, value, PS_KIND_NONE);
    else
        made = mode_copy(state, value);
    if (!made) return NULL;
    if (matrix_check(made)) {
        const PsMatrixObject *m = (PsMatrixObject *)made;
        result = ps_matrix_type_new(&state->types, m->ndim, m->n, m->m, state->types.dtypes[m->elem]);
    } else
        result =
            py_struct_check(made) ? Py_NewRef((PyObject *)((PsStructObject *)made)->type) : Py_NewRef(Py_None);
    Py_DECREF(made);
    return result;
}

/* Struct(a=1, b=[1, 2]), Struct({...}): a type of its own, of plain numbers. */
static PyObject *Struct_new(PyTypeObject *class, PyObject *args, PyObject *names) {
    const PyState *state = PyType_GetModuleState(class);
    PyObject *given = names, *first = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : NULL;
    if (first && PyDict_Check(first) && !names) given = first;
    if (!given || !PyDict_GET_SIZE(given) || (given == names && PyTuple_GET_SIZE(args)))
        return PyErr_Format(PyExc_TypeError, "Struct() takes members by name, or one dict of them");
    PyObject *keys = PyDict_Keys(given), *members = keys ? PyList_AsTuple(keys) : NULL;
    PyObject *kinds = members ? PyTuple_New(PyTuple_GET_SIZE(members)) : NULL;
    for (Py_ssize_t i = 0; kinds && i < PyTuple_GET_SIZE(kinds); i++) {
        PyObject *kind = kind_of(state, PyDict_GetItemWithError(given, PyTuple_GET_ITEM(members, i)));
        if (kind)
            PyTuple_SET_ITEM(kinds, i, kind);
        else
            Py_CLEAR(kinds);
    }
    PyObject *type = kinds ? ps_struct_type_new(&state->types, NULL, members, kinds, NULL) : NULL;
    PsStructObject *self = type ? alloc(state, (PsStructTypeObject *)type) : NULL;
    if (self && fill(state, self, NULL, given)) Py_CLEAR(self);
    Py_XDECREF(keys);
    Py_XDECREF(members);
    Py_XDECREF(kinds);
    Py_XDECREF(type);
    return (PyObject *)self;
}

static int Struct_traverse(PyObject *object, visitproc visit, void *arg) {
    PsStructObject *self = (PsStructObject *)object;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->type);
    Py_VISIT(self->home);
    Py_VISIT(self->key);
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) Py_VISIT(self->values[i]);
    return 0;
}

static int Struct_clear(PyObject *object) {
    PsStructObject *self = (PsStructObject *)object;
    Py_CLEAR(self->home);
    Py_CLEAR(self->key);
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) Py_CLEAR(self->values[i]);
    return 0;
}

static void Struct_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Struct_clear(object);
    Py_CLEAR(((PsStructObject *)object)->type);
    type->tp_free(object);
    Py_DECREF(type);
}

bool py_struct_check(PyObject *object) { return Py_TYPE(object)->tp_dealloc == Struct_dealloc; }

PyObject *py_value_copy(const PyState *state, PyObject *value) {
    if (matrix_check(value)) {
        const PsMatrixObject *m = (PsMatrixObject *)value;
        return matrix_cast(m, state, m->elem, m->weak);
    }
    if (mode_number_check(value)) {
        const ModeNumber *number = (ModeNumber *)value;
        return ps_number_object(number->type, number->bits);
    }
    if (!py_struct_check(value)) return Py_NewRef(value);
    PsStructObject *from = (PsStructObject *)value, *self = alloc(state, from->type);
    for (Py_ssize_t i = 0; self && i < Py_SIZE(self); i++)
        if (!(self->values[i] = py_value_copy(state, from->values[i]))) {
            Py_CLEAR(self);
            break;
        }
    return (PyObject *)self;
}

static PyObject *member(const PyState *state, PsStructObject *self, int i) {
    return mode_runs(state) ? mode_member(state, self, i) : Py_NewRef(self->values[i]);
}

static PyObject *Struct_getattro(PyObject *object, PyObject *name) {
    PsStructObject *self = (PsStructObject *)object;
    int at = py_struct_find(self->type, name);
    const PyState *state = PyType_GetModuleState(Py_TYPE(object));
    if (at >= 0 && self->values[at]) return member(state, self, at);
    PyObject *method = self->type->methods ? PyDict_GetItemWithError(self->type->methods, name) : NULL;
    if (method) return PyMethod_New(method, object);
    return PyErr_Occurred() ? NULL : PyObject_GenericGetAttr(object, name);
}

static int Struct_setattro(PyObject *object, PyObject *name, PyObject *value) {
    const PyState *state = PyType_GetModuleState(Py_TYPE(object));
    if (value) return set_member(state, (PsStructObject *)object, name, value);
    PyErr_SetString(PyExc_TypeError, "members of a struct cannot be deleted");
    return -1;
}

static PyObject *Struct_repr(PyObject *object) {
    PsStructObject *self = (PsStructObject *)object;
    PyObject *parts = PyList_New(0), *comma = PyUnicode_FromString(", "), *text = NULL;
    for (Py_ssize_t i = 0; parts && i < Py_SIZE(self); i++) {
        PyObject *part =
            PyUnicode_FromFormat("%U=%R", PyTuple_GET_ITEM(self->type->members, i), self->values[i]);
        if (!part || PyList_Append(parts, part)) Py_CLEAR(parts);
        Py_XDECREF(part);
    }
    PyObject *joined = parts && comma ? PyUnicode_Join(comma, parts) : NULL;
    if (joined && self->type->name) text = PyUnicode_FromFormat("%U(%U)", self->type->name, joined);
    if (joined && !self->type->name) text = PyUnicode_FromFormat("Struct(%U)", joined);
    Py_XDECREF(joined);
    Py_XDECREF(parts);
    Py_XDECREF(comma);
    return text;
}

/* As kernels print it: {'a': 1, 'b': [1, 2]}. */
static PyObject *printed(const PyState *state, PsStructObject *self) {
    PyObject *dict = PyDict_New();
    for (int i = 0; dict && i < (int)Py_SIZE(self); i++) {
        PyObject *value = member(state, self, i), *part = NULL;
        if (value && matrix_check(value))
            part = py_matrix_to_list(value, NULL);
        else if (value)
            part = py_struct_check(value) ? printed(state, (PsStructObject *)value) : Py_NewRef(value);
        if (!part || PyDict_SetItem(dict, PyTuple_GET_ITEM(self->type->members, i), part)) Py_CLEAR(dict);
        Py_XDECREF(part);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *Struct_str(PyObject *object) {
    const PyState *state = PyType_GetModuleState(Py_TYPE(object));
    if (!mode_runs(state)) return Struct_repr(object);
    PyObject *dict = printed(state, (PsStructObject *)object), *text = dict ? PyObject_Str(dict) : NULL;
    Py_XDECREF(dict);
    return text;
}

static PyObject *Struct_item(PyObject *object, PyObject *key) {
    PsStructObject *self = (PsStructObject *)object;
    int at = PyUnicode_Check(key) ? py_struct_find(self->type, key) : -1;
    if (at >= 0) return member(PyType_GetModuleState(Py_TYPE(object)), self, at);
    PyErr_SetObject(PyExc_KeyError, key);
    return NULL;
}

static PyObject *Struct_compare(PyObject *a, PyObject *b, int how) {
    if (!Py_IS_TYPE(b, Py_TYPE(a)) || (how != Py_EQ && how != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    PsStructObject *x = (PsStructObject *)a, *y = (PsStructObject *)b;
    int same = PyObject_RichCompareBool(x->type->members, y->type->members, Py_EQ);
    for (Py_ssize_t i = 0; same == 1 && i < Py_SIZE(x); i++) {
        PyObject *equal = PyObject_RichCompare(x->values[i], y->values[i], Py_EQ);
        if (equal && matrix_check(equal)) Py_SETREF(equal, PyObject_CallMethod(equal, "all", NULL));
        same = equal ? PyObject_IsTrue(equal) : -1;
        Py_XDECREF(equal);
    }
    return same < 0 ? NULL : PyBool_FromLong((same != 0) == (how == Py_EQ));
}

/* to_dict(): members by name, structs in it as dicts. */
static PyObject *to_dict(PyObject *object, PyObject *args, PyObject *names) {
    static char *known[] = {"include_methods", "include_ndim", NULL};
    int methods = 0, ignored = 0;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|pp:to_dict", known, &methods, &ignored)) return NULL;
    PsStructObject *self = (PsStructObject *)object;
    PyObject *dict = dict_of(self);
    for (Py_ssize_t i = 0; dict && i < Py_SIZE(self); i++) {
        PyObject *value = self->values[i];
        if (!Py_IS_TYPE(value, Py_TYPE(object))) continue;
        PyObject *none = PyTuple_New(0), *inner = none ? to_dict(value, none, NULL) : NULL;
        if (!inner || PyDict_SetItem(dict, PyTuple_GET_ITEM(self->type->members, i), inner)) Py_CLEAR(dict);
        Py_XDECREF(inner);
        Py_XDECREF(none);
    }
    if (dict && methods && self->type->methods &&
        PyDict_SetItemString(dict, "__struct_methods", self->type->methods))
        Py_CLEAR(dict);
    return dict;
}

static PyObject *Struct_keys(PyObject *object, PyObject *unused) {
    (void)unused;
    return PySequence_List(((PsStructObject *)object)->type->members);
}
static PyObject *Struct_items(PyObject *object, PyObject *unused) {
    (void)unused;
    PyObject *dict = dict_of((PsStructObject *)object), *items = dict ? PyDict_Items(dict) : NULL;
    Py_XDECREF(dict);
    return items;
}

static PyObject *Struct_get_entries(PyObject *object, void *unused) {
    (void)unused;
    return dict_of((PsStructObject *)object);
}

static PyObject *Struct_get_methods(PyObject *object, void *unused) {
    PyObject *methods = ((PsStructObject *)object)->type->methods;
    (void)unused;
    return methods ? PyDict_Copy(methods) : PyDict_New();
}

static PyGetSetDef struct_getset[] = {
    {"entries", Struct_get_entries, NULL, "A new dict of the members, by name.", NULL},
    {"methods", Struct_get_methods, NULL, "A new dict of the methods of its type, by name.", NULL},
    {0},
};

static PyObject *Struct_field(PyObject *class, PyObject *args, PyObject *names) {
    return py_field_struct(PyType_GetModule((PyTypeObject *)class), args, names);
}

static PyMethodDef struct_methods[] = {
    {"to_dict", (PyCFunction)(void (*)(void))to_dict, METH_VARARGS | METH_KEYWORDS,
     "to_dict($self, include_methods=False, include_ndim=False)\n--\n\nThe members by name; structs in it as "
     "dicts."},
    {"keys", Struct_keys, METH_NOARGS, "keys($self, /)\n--\n\nThe names of the members."},
    {"items", Struct_items, METH_NOARGS, "items($self, /)\n--\n\nPairs of names and members."},
    {"field", (PyCFunction)(void (*)(void))Struct_field, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "field($type, members, *args, **kwargs)\n--\n\nA field of structs, from a dict of names and types; the "
     "rest as "
     "for pestle.field."},
    {0},
};
static PyType_Slot struct_slots[] = {
    {Py_tp_new, Struct_new},
    {Py_tp_dealloc, Struct_dealloc},
    {Py_tp_traverse, Struct_traverse},
    {Py_tp_clear, Struct_clear},
    {Py_tp_getattro, Struct_getattro},
    {Py_tp_setattro, Struct_setattro},
    {Py_tp_repr, Struct_repr},
    {Py_tp_str, Struct_str},
    {Py_tp_richcompare, Struct_compare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_methods, struct_methods},
    {Py_tp_getset, struct_getset},
    {Py_mp_subscript, Struct_item},
    {Py_tp_doc, "Struct(**members)\n--\n\nA value with named members; also Struct({'a': 1})."},
    {0},
};

/* -- types -- */

/* The one value that a type was called with: it all, or its first member alone? As in loop_struct.c. */
static bool is_whole(const PyState *state, const PsStructTypeObject *type, PyObject *value) {
    PyObject *first = PyTuple_GET_SIZE(type->types) ? PyTuple_GET_ITEM(type->types, 0) : NULL;
    if (!PyDict_Check(value) && !is_struct(state, value)) return false;
    if (PyDict_Check(value))
        return !first || !Py_IS_TYPE(first, state->types.struct_type) || PyTuple_GET_SIZE(type->types) != 1;
    return ps_struct_stands_for(&state->types, type, ((PsStructObject *)value)->type);
}

static PyObject *StructType_call(PyObject *object, PyObject *args, PyObject *names) {
    const PyState *state = PyType_GetModuleState(Py_TYPE(object));
    PsStructTypeObject *type = (PsStructTypeObject *)object;
    PyObject *ruled = ps_proxy_call(object, PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args));
    if (ruled != Py_NotImplemented) return ruled;
    Py_DECREF(ruled);
    PyObject *first = PyTuple_GET_SIZE(args) == 1 && !names ? PyTuple_GET_ITEM(args, 0) : NULL, *dict = NULL;
    if (first && is_whole(state, type, first))
        dict = PyDict_Check(first) ? Py_NewRef(first) : dict_of((PsStructObject *)first);
    if (!dict && PyTuple_GET_SIZE(args) > PyTuple_GET_SIZE(type->members))
        return PyErr_Format(PyExc_TypeError, "this struct has %zd members, found %zd values",
                            PyTuple_GET_SIZE(type->members), PyTuple_GET_SIZE(args));
    PsStructObject *self = PyErr_Occurred() ? NULL : alloc(state, type);
    if (self && fill(state, self, dict ? NULL : args, dict ? dict : names)) Py_CLEAR(self);
    Py_XDECREF(dict);
    return (PyObject *)self;
}

static int StructType_traverse(PyObject *object, visitproc visit, void *arg) {
    PsStructTypeObject *self = (PsStructTypeObject *)object;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->types);
    Py_VISIT(self->methods);
    return 0;
}

static int StructType_clear(PyObject *object) {
    Py_CLEAR(((PsStructTypeObject *)object)->methods);
    return 0;
}

static void StructType_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    PsStructTypeObject *self = (PsStructTypeObject *)object;
    PyObject_GC_UnTrack(object);
    Py_XDECREF(self->name);
    Py_XDECREF(self->members);
    Py_XDECREF(self->types);
    Py_XDECREF(self->methods);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *StructType_repr(PyObject *object) {
    PsStructTypeObject *self = (PsStructTypeObject *)object;
    if (self->name) return PyUnicode_FromFormat("<pestle struct %U>", self->name);
    return PyUnicode_FromFormat("<pestle struct of %R>", self->members);
}

static PyObject *get_members(PyObject *object, void *unused) {
    (void)unused;
    PsStructTypeObject *self = (PsStructTypeObject *)object;
    PyObject *dict = PyDict_New();
    for (Py_ssize_t i = 0; dict && i < PyTuple_GET_SIZE(self->members); i++)
        if (PyDict_SetItem(dict, PyTuple_GET_ITEM(self->members, i), PyTuple_GET_ITEM(self->types, i)))
            Py_CLEAR(dict);
    return dict;
}
static PyObject *get_methods(PyObject *object, void *unused) {
    (void)unused;
    PyObject *methods = ((PsStructTypeObject *)object)->methods;
    return methods ? Py_NewRef(methods) : PyDict_New();
}

static PyGetSetDef struct_type_getset[] = {
    {"members", get_members, NULL, "The members' types by name.", NULL},
    {"methods", get_methods, NULL, "The funcs of a dataclass by name.", NULL},
    {0},
};
static PyObject *StructType_field(PyObject *self, PyObject *args, PyObject *names) {
    PyObject *one = PyTuple_Pack(1, self), *all = one ? PySequence_Concat(one, args) : NULL;
    PyObject *made = all ? py_field_struct(PyType_GetModule(Py_TYPE(self)), all, names) : NULL;
    Py_XDECREF(all);
    Py_XDECREF(one);
    return made;
}
static PyObject *StructType_ndarray(PyObject *self, PyObject *args, PyObject *names) {
    PyObject *make = PyObject_GetAttrString(PyType_GetModule(Py_TYPE(self)), "ndarray");
    PyObject *one = make ? PyTuple_Pack(1, self) : NULL, *all = one ? PySequence_Concat(one, args) : NULL;
    PyObject *made = all ? PyObject_Call(make, all, names) : NULL;
    Py_XDECREF(all);
    Py_XDECREF(one);
    Py_XDECREF(make);
    return made;
}
static PyMethodDef struct_type_methods[] = {
    {"ndarray", (PyCFunction)(void (*)(void))StructType_ndarray, METH_VARARGS | METH_KEYWORDS,
     "ndarray($self, shape, needs_grad=False, layout=None)\n--\n\nAn ndarray of such structs."},
    {"field", (PyCFunction)(void (*)(void))StructType_field, METH_VARARGS | METH_KEYWORDS,
     "field($self, shape, *args, **kwargs)\n--\n\nA field of such structs; see pestle.field."},
    {0},
};
static PyType_Slot struct_type_slots[] = {
    {Py_tp_methods, struct_type_methods},
    {Py_tp_call, StructType_call},
    {Py_tp_dealloc, StructType_dealloc},
    {Py_tp_traverse, StructType_traverse},
    {Py_tp_clear, StructType_clear},
    {Py_tp_repr, StructType_repr},
    {Py_tp_getset, struct_type_getset},
    {Py_tp_doc, "The type of a struct: annotates parameters and results, and makes values when called."},
    {0},
};
static PyType_Spec struct_type_spec = {
    "pestle.StructType", sizeof(PsStructTypeObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, struct_type_slots};
static PyType_Spec struct_spec = {"pestle.Struct", offsetof(PsStructObject, values), sizeof(PyObject *),
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, struct_slots};

PyTypeObject *py_struct_type_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &struct_type_spec, NULL);
}
PyTypeObject *py_struct_value_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &struct_spec, NULL);
}
