/* SPDX-License-Identifier: Apache-2.0
 *
 * pestle.StructField: a field of structs is a field for each member, all of the same axes. With Layout.AOS they are views
 * of one storage, in which a struct lies as C would lay it out; with Layout.SOA each has its own. x.member is the field
 * of one member; x[i] is a struct with the element's values, and what is assigned to its members goes into the field.
 * pestle.StructNdarray is the same of Ndarrays.
 */
#include "py/py_matrix.h"
#include "py/py_ndarray.h"

typedef PsStructFieldObject StructField;

static PyState *state_of(const void *self) { return PyType_GetModuleState(Py_TYPE(self)); }
static Py_ssize_t count_of(const StructField *self) { return PyTuple_GET_SIZE(self->members); }
static PyObject *member(const StructField *self, Py_ssize_t i) { return PyTuple_GET_ITEM(self->members, i); }
static PyObject *name_of(const StructField *self, Py_ssize_t i) {
    return PyTuple_GET_ITEM(self->type->members, i);
}

/* -- how a struct lies in memory -- */

typedef struct Making {
    const PyState *state;
    const char *what;
    const NdarrayForm *form; /* shape, order, soa; of no element */
    PsStorage *storage;      /* AOS: of all members; else NULL, and each has its own */
    int64_t size;            /* of one struct, AOS */
    bool array;              /* of Ndarrays; else a field */
} Making;

typedef struct Extent { /* in bytes, as in C */
    int64_t size, align;
} Extent;

static bool is_struct_type(const PyState *state, PyObject *type) {
    return Py_IS_TYPE(type, state->types.struct_type);
}

static int64_t round_up(int64_t at, int64_t align) { return (at + align - 1) / align * align; }

static int measure_struct(const Making *m, const PsStructTypeObject *type, Extent *out);

/* A member: its element, if it is no struct, and its extent. -1 with an exception. */
static int measure(const Making *m, PyObject *type, PsElement *out_element, Extent *out) {
    if (is_struct_type(m->state, type)) return measure_struct(m, (PsStructTypeObject *)type, out);
    if (ndarray_read_element(m->state, m->what, type, NULL, NULL, out_element)) return -1;
    out->size = out->align = ps_scalar_size(out_element->dtype);
    for (int k = 0; k < out_element->edim; k++) out->size *= out_element->eshape[k];
    return 0;
}

static int measure_struct(const Making *m, const PsStructTypeObject *type, Extent *out) {
    *out = (Extent){.size = 0, .align = 1};
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(type->types); i++) {
        PsElement element;
        Extent each;
        if (measure(m, PyTuple_GET_ITEM(type->types, i), &element, &each)) return -1;
        out->size = round_up(out->size, each.align) + each.size;
        if (each.align > out->align) out->align = each.align;
    }
    out->size = round_up(out->size, out->align);
    return 0;
}

/* Strides of the array's axes between things of `item` bytes; false: they cannot be addressed. */
static bool outer_strides(const NdarrayForm *form, int64_t item, int64_t *out, int64_t *out_bytes) {
    int64_t lengths[PS_MAX_AXES], strides[PS_MAX_AXES];
    for (int k = 0; k < form->ndim; k++) lengths[k] = form->shape[form->order[k]];
    if (!ps_layout_dense(form->ndim, lengths, item, strides, out_bytes)) return false;
    for (int k = 0; k < form->ndim; k++) out[form->order[k]] = strides[k];
    return true;
}

static PyTypeObject *leaf_type(const Making *m) {
    return m->array ? m->state->ndarray_type : m->state->field_type;
}

static PyObject *make_leaf(const Making *m, const PsElement *element, int64_t at) {
    NdarrayForm form = *m->form;
    int64_t unused, step = ps_scalar_size(element->dtype);
    ndarray_set_element(&form, element);
    if (!m->storage) return (PyObject *)ndarray_make(leaf_type(m), &form);
    PyNdarray *field = (PyNdarray *)leaf_type(m)->tp_alloc(leaf_type(m), 0);
    if (!field) return NULL;
    field->storage = m->storage;
    ps_storage_retain(m->storage);
    field->data = m->storage->data + at;
    field->dtype = element->dtype;
    field->ndim = form.ndim;
    field->edim = form.edim;
    memcpy(field->shape, form.shape, sizeof field->shape);
    memcpy(field->offset, form.offset, sizeof field->offset);
    outer_strides(m->form, m->size, field->strides, &unused);
    for (int k = form.edim - 1; k >= 0; k--) {
        field->strides[form.ndim + k] = step;
        step *= element->eshape[k];
    }
    ndarray_view_done(field);
    return (PyObject *)field;
}

static PyObject *make_struct(const Making *m, PsStructTypeObject *type, int64_t at) {
    PyTypeObject *kind = m->array ? m->state->struct_array_type : m->state->struct_field_type;
    StructField *self = (StructField *)kind->tp_alloc(kind, 0);
    if (!self) return NULL;
    self->type = (PsStructTypeObject *)Py_NewRef((PyObject *)type);
    self->members = PyTuple_New(PyTuple_GET_SIZE(type->types));
    for (Py_ssize_t i = 0; self->members && i < PyTuple_GET_SIZE(type->types); i++) {
        PyObject *each = PyTuple_GET_ITEM(type->types, i), *made = NULL;
        PsElement element;
        Extent extent;
        if (!measure(m, each, &element, &extent)) {
            at = round_up(at, extent.align);
            bool nested = is_struct_type(m->state, each);
            made = nested ? make_struct(m, (PsStructTypeObject *)each, at) : make_leaf(m, &element, at);
            at += extent.size;
        }
        if (!made) Py_CLEAR(self->members);
        if (made) PyTuple_SET_ITEM(self->members, i, made);
    }
    if (!self->members) Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *make(Making *m, PsStructTypeObject *type, PyObject *shape) {
    int64_t strides[PS_MAX_AXES], bytes;
    Extent extent;
    if (measure_struct(m, type, &extent)) return NULL;
    m->size = extent.size;
    if (!outer_strides(m->form, m->size, strides, &bytes))
        return ndarray_refuse_size(m->state, m->what, shape), NULL;
    if (!m->form->soa && !(m->storage = ps_storage_new(bytes ? (size_t)bytes : 1))) return PyErr_NoMemory();
    PyObject *made = make_struct(m, type, 0);
    if (m->storage) ps_storage_release(m->storage);
    m->storage = NULL;
    return made;
}

PyObject *py_struct_field_make(const PyState *state, const char *what, PyObject *type, const NdarrayForm *form,
                               PyObject *shape, PyObject *name, bool grad) {
    Making m = {.state = state, .what = what, .form = form, .array = !name};
    StructField *made = (StructField *)make(&m, (PsStructTypeObject *)type, shape);
    if (made && name && name != Py_None && PyUnicode_GET_LENGTH(name)) made->name = Py_NewRef(name);
    if (made && grad && !(made->grad = make(&m, (PsStructTypeObject *)type, shape))) Py_CLEAR(made);
    return (PyObject *)made;
}

static void dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    StructField *self = (StructField *)object;
    Py_XDECREF((PyObject *)self->type);
    Py_XDECREF(self->members);
    Py_XDECREF(self->name);
    Py_XDECREF(self->grad);
    type->tp_free(object);
    Py_DECREF(type);
}

/* -- elements -- */

static PyObject *subscript(PyObject *object, PyObject *key) {
    const StructField *self = (StructField *)object;
    PyObject *values = PyTuple_New(count_of(self));
    for (Py_ssize_t i = 0; values && i < count_of(self); i++) {
        PyObject *value = PyObject_GetItem(member(self, i), key);
        if (value)
            PyTuple_SET_ITEM(values, i, value);
        else
            Py_CLEAR(values);
    }
    PsStructObject *made = values ? (PsStructObject *)py_struct_new(state_of(self), self->type, values) : NULL;
    Py_XDECREF(values);
    if (made) made->home = Py_NewRef(object), made->key = Py_NewRef(key);
    return (PyObject *)made;
}

int py_struct_write_home(const PsStructObject *value, int i) {
    if (!value->home) return 0;
    return PyObject_SetItem(member((StructField *)value->home, i), value->key, value->values[i]);
}

typedef int (*ForMember)(PyObject *field, PyObject *key, PyObject *value);

/* The members of a struct or a dict, each to its field. */
static int for_members(StructField *self, PyObject *key, PyObject *value, ForMember act) {
    bool dict = PyDict_Check(value);
    if (!dict && !Py_IS_TYPE(value, state_of(self)->types.structure)) {
        PyErr_Format(PyExc_TypeError,
                     "an element of an array of structs can be set to a struct or a dict, found %.100s",
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    Py_ssize_t given = dict ? PyDict_GET_SIZE(value) : Py_SIZE(value);
    int status = given == count_of(self) ? 0 : -1;
    if (status) PyErr_Format(PyExc_ValueError, "expected the members %R", self->type->members);
    for (Py_ssize_t i = 0; !status && i < count_of(self); i++) {
        PyObject *one = PyObject_GetItem(value, name_of(self, i));
        status = one ? act(member(self, i), key, one) : -1;
        Py_XDECREF(one);
    }
    return status;
}

static int ass_subscript(PyObject *object, PyObject *key, PyObject *value) {
    if (value) return for_members((StructField *)object, key, value, PyObject_SetItem);
    PyErr_SetString(PyExc_TypeError, "elements of a field cannot be deleted");
    return -1;
}

/* -- all of them -- */

static PyObject *to_dict(PyObject *object, const char *method, PyObject *args, PyObject *kwargs) {
    const StructField *self = (StructField *)object;
    PyObject *dict = PyDict_New();
    for (Py_ssize_t i = 0; dict && i < count_of(self); i++) {
        PyObject *call = PyObject_GetAttrString(member(self, i), method);
        PyObject *value = call ? PyObject_Call(call, args, kwargs) : NULL;
        if (!value || PyDict_SetItem(dict, name_of(self, i), value)) Py_CLEAR(dict);
        Py_XDECREF(value);
        Py_XDECREF(call);
    }
    return dict;
}

static PyObject *to_numpy(PyObject *self, PyObject *args, PyObject *kwargs) {
    return to_dict(self, "to_numpy", args, kwargs);
}
static PyObject *to_torch(PyObject *self, PyObject *args, PyObject *kwargs) {
    return to_dict(self, "to_torch", args, kwargs);
}

static int call_method(PyObject *field, const char *method, PyObject *value) {
    PyObject *result = PyObject_CallMethod(field, method, "O", value);
    Py_XDECREF(result);
    return result ? 0 : -1;
}
static int act_from_numpy(PyObject *field, PyObject *key, PyObject *value) {
    (void)key;
    return call_method(field, "from_numpy", value);
}
static int act_from_torch(PyObject *field, PyObject *key, PyObject *value) {
    (void)key;
    return call_method(field, "from_torch", value);
}
static int act_fill(PyObject *field, PyObject *key, PyObject *value) {
    (void)key;
    return call_method(field, "fill", value);
}

static PyObject *none_or_null(int status) { return status ? NULL : Py_NewRef(Py_None); }

static PyObject *from_numpy(PyObject *self, PyObject *value) {
    return none_or_null(for_members((StructField *)self, NULL, value, act_from_numpy));
}
static PyObject *from_torch(PyObject *self, PyObject *value) {
    return none_or_null(for_members((StructField *)self, NULL, value, act_from_torch));
}

/* A number for all members, or a struct. */
static PyObject *fill(PyObject *object, PyObject *value) {
    StructField *self = (StructField *)object;
    if (PyDict_Check(value) || Py_IS_TYPE(value, state_of(self)->types.structure))
        return none_or_null(for_members(self, NULL, value, act_fill));
    for (Py_ssize_t i = 0; i < count_of(self); i++)
        if (call_method(member(self, i), "fill", value)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *copy_from(PyObject *object, PyObject *other) {
    StructField *self = (StructField *)object, *from = (StructField *)other;
    if (!ps_is_structs(&state_of(self)->types, other) ||
        PyObject_RichCompareBool(self->type->members, from->type->members, Py_EQ) != 1)
        return py_error(state_of(self), PS_MSG_PY_COPY_TYPE, "copy_from", "a field or ndarray of such structs",
                        Py_TYPE(other)->tp_name);
    for (Py_ssize_t i = 0; i < count_of(self); i++)
        if (call_method(member(self, i), "copy_from", member(from, i))) return NULL;
    Py_RETURN_NONE;
}

static bool is_field(PyObject *self) { return Py_IS_TYPE(self, state_of(self)->struct_field_type); }

static PyObject *refuse_pickle(PyObject *self, PyObject *protocol) {
    (void)protocol;
    return py_error(state_of(self), is_field(self) ? PS_MSG_PY_FIELD_PICKLE : PS_MSG_PY_STRUCTS_PICKLE);
}

/* The same type and axes without memory: to compare with. */
PyObject *py_structs_outline(PyObject *object) {
    const StructField *self = (StructField *)object;
    StructField *made = (StructField *)Py_TYPE(object)->tp_alloc(Py_TYPE(object), 0);
    if (made) made->type = (PsStructTypeObject *)Py_NewRef((PyObject *)self->type);
    if (made && !(made->members = PyTuple_New(count_of(self)))) Py_CLEAR(made);
    for (Py_ssize_t i = 0; made && i < count_of(self); i++) {
        PyObject *each = member(self, i);
        PyObject *outline =
            Py_IS_TYPE(each, Py_TYPE(object)) ? py_structs_outline(each) : ndarray_outline((PyNdarray *)each);
        if (outline)
            PyTuple_SET_ITEM(made->members, i, outline);
        else
            Py_CLEAR(made);
    }
    return (PyObject *)made;
}

/* -- attributes -- */

static PyObject *get_member_field(PyObject *object, PyObject *name) {
    const StructField *self = (StructField *)object;
    int at = PyUnicode_Check(name) ? py_struct_find(self->type, name) : -1;
    if (at >= 0) return Py_NewRef(member(self, at));
    return PyErr_Format(PyExc_AttributeError, "this array of structs has no member %R; it has %R", name,
                        self->type->members);
}

static PyObject *getattro(PyObject *object, PyObject *name) {
    const StructField *self = (StructField *)object;
    int at = py_struct_find(self->type, name);
    return at >= 0 ? Py_NewRef(member(self, at)) : PyObject_GenericGetAttr(object, name);
}

static PyObject *of_first(PyObject *object, void *name) {
    return PyObject_GetAttrString(member((StructField *)object, 0), name);
}
static PyObject *get_grad(PyObject *object, void *unused) {
    (void)unused;
    PyObject *grad = ((StructField *)object)->grad;
    return Py_NewRef(grad ? grad : Py_None);
}
static PyObject *get_name(PyObject *object, void *unused) {
    (void)unused;
    PyObject *name = ((StructField *)object)->name;
    return name ? Py_NewRef(name) : PyUnicode_FromString("");
}
static PyObject *get_dtype(PyObject *object, void *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)((StructField *)object)->type);
}

static PyObject *keys(PyObject *object, PyObject *unused) {
    (void)unused;
    return PySequence_List(((StructField *)object)->type->members);
}

static Py_ssize_t length(PyObject *object) { return PyObject_Length(member((StructField *)object, 0)); }
static int truth(PyObject *self) {
    (void)self;
    return 1;
}

static PyObject *repr(PyObject *object) {
    const StructField *self = (StructField *)object;
    PyObject *shape = of_first(object, "shape");
    PyObject *text =
        shape ? PyUnicode_FromFormat("<pestle.%s of structs shape=%R members=%R>",
                                     is_field(object) ? "field" : "ndarray", shape, self->type->members)
              : NULL;
    Py_XDECREF(shape);
    return text;
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef methods[] = {
    {"fill", fill, METH_O,
     "fill($self, value, /)\n--\n\nSets every element: to a struct, or all members to a number."},
    {"copy_from", copy_from, METH_O, "copy_from($self, other, /)\n--\n\nCopies a field of such structs."},
    {"to_numpy", WITH_KEYWORDS(to_numpy),
     "to_numpy($self, *args, **kwargs)\n--\n\nA numpy array for each member, by name."},
    {"from_numpy", from_numpy, METH_O,
     "from_numpy($self, arrays, /)\n--\n\nCopies a dict of numpy arrays, one a member."},
    {"to_torch", WITH_KEYWORDS(to_torch),
     "to_torch($self, *args, **kwargs)\n--\n\nA tensor for each member, by name."},
    {"from_torch", from_torch, METH_O,
     "from_torch($self, tensors, /)\n--\n\nCopies a dict of tensors, one a member."},
    {"get_member_field", get_member_field, METH_O,
     "get_member_field($self, name, /)\n--\n\nThe field of one member."},
    {"keys", keys, METH_NOARGS, "keys($self)\n--\n\nThe names of the members."},
    {"__reduce_ex__", refuse_pickle, METH_O, NULL},
    {0},
};
static PyGetSetDef getset[] = {
    {"shape", of_first, NULL, "The lengths of the axes.", "shape"},
    {"offset", of_first, NULL, "The first index of each axis.", "offset"},
    {"ndim", of_first, NULL, "The number of axes.", "ndim"},
    {"size", of_first, NULL, "The number of elements.", "size"},
    {"dtype", get_dtype, NULL, "The type of the structs.", NULL},
    {"grad", get_grad, NULL, "What needs_grad=True made room for, or None.", NULL},
    {"name", get_name, NULL, "What it was called when it was made, or \"\".", NULL},
    {0},
};
static PyObject *text(PyObject *self) { return is_field(self) ? py_field_text(self) : repr(self); }

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc},
    {Py_tp_repr, repr},
    {Py_tp_str, text},
    {Py_tp_getattro, getattro},
    {Py_tp_getset, getset},
    {Py_tp_methods, methods},
    {Py_nb_bool, truth},
    {Py_mp_length, length},
    {Py_mp_subscript, subscript},
    {Py_mp_ass_subscript, ass_subscript},
    {Py_tp_doc, "An array of structs: x.member is the array of one member, x[i] a struct."},
    {0},
};
static PyType_Spec spec = {"pestle.StructField", sizeof(StructField), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                           slots};
static PyType_Spec array_spec = {
    "pestle.StructNdarray", sizeof(StructField), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};

PyTypeObject *py_struct_field_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
PyTypeObject *py_struct_array_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &array_spec, NULL);
}
