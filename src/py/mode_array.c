/* SPDX-License-Identifier: Apache-2.0
 *
 * pestle.Array: an array while a kernel runs as plain Python. Elements are numbers, vectors and matrices that know where they
 * were read, so that atomics can find their place. Indices are always checked: a wrong one would be a crash, not a result.
 */
#include "py/mode_int.h"
#include "py/py_matrix.h"

static PyState *state_of(PyObject *self) { return PyType_GetModuleState(Py_TYPE(self)); }

static PyObject *new_array(const PyState *state, PyObject *owner, PsType dtype, const PsArrayView *view,
                           int edim) {
    ModeArray *self = (ModeArray *)state->mode.array->tp_alloc(state->mode.array, 0);
    if (!self) return NULL;
    self->owner = Py_NewRef(owner);
    self->dtype = dtype;
    self->view = *view;
    if (ps_is_array(&state->types, owner)) {
        memcpy(self->first, ((PyNdarray *)owner)->offset, sizeof self->first);
        self->shifted = ((PyNdarray *)owner)->shifted;
    }
    self->edim = edim;
    return (PyObject *)self;
}

PyObject *mode_array_of_words(PyState *state, PyObject *owner, const PyPlan *plan, const uint64_t *words) {
    PsArrayView view = {.data = (char *)(uintptr_t)words[0], .ndim = plan->ndim};
    for (int k = 0; k < plan->ndim; k++) {
        view.shape[k] = (int64_t)words[1 + k];
        view.strides[k] = (int64_t)words[1 + plan->ndim + k];
    }
    ModeArray *made = (ModeArray *)new_array(state, owner, plan->dtype, &view, plan->edim);
    if (!made) return NULL;
    made->readonly = mode_is_readonly(state, owner);
    made->clamp = plan->clamp;
    return (PyObject *)made;
}

PyObject *mode_array_of(const PyState *state, PyObject *object) {
    while (ps_is_structs(&state->types, object)) /* has the shape of its members */
        object = PyTuple_GET_ITEM(((PsStructFieldObject *)object)->members, 0);
    if (!ps_is_array(&state->types, object)) return Py_NewRef(object);
    const PyNdarray *array = (const PyNdarray *)object;
    PsArrayView view = {.data = array->data, .ndim = array->ndim + array->edim};
    for (int k = 0; k < view.ndim; k++) {
        view.shape[k] = array->shape[k];
        view.strides[k] = array->strides[k];
    }
    return new_array(state, object, array->dtype, &view, array->edim);
}

void mode_array_end(PyObject *array) { ((ModeArray *)array)->dead = true; }

static void Array_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    Py_XDECREF(((ModeArray *)object)->owner);
    type->tp_free(object);
    Py_DECREF(type);
}

static int axes_of(const ModeArray *self) { return self->view.ndim - self->edim; }

/* -- elements -- */

typedef struct Indices {
    int64_t at[PS_MAX_AXES];
    int n;
} Indices;

static int refuse_count(const ModeArray *self, int found) {
    py_error(state_of((PyObject *)self), PS_MSG_MODE_COUNT, "indices of an array", (long long)axes_of(self),
             (long long)found);
    return -1;
}

static int add_index(const ModeArray *self, PyObject *object, Indices *out) {
    ModeOperand operand;
    const PyState *state = state_of((PyObject *)self);
    bool number = mode_read(state, object, &operand);
    if (!number || ps_scalar_class(operand.type) == PS_CLASS_FLOAT) {
        py_error(state, PS_MSG_MODE_WANTS, "an array", "integer indices",
                 number ? ps_scalar_name(operand.type) : Py_TYPE(object)->tp_name);
        return -1;
    }
    if (out->n == PS_MAX_AXES) return refuse_count(self, out->n + 1);
    uint64_t bits;
    PsType wide = operand.type == PS_U64 ? PS_U64 : PS_I64;
    if (mode_as(state, &operand, wide, &bits)) return -1;
    if (wide == PS_U64 && bits > INT64_MAX) bits = INT64_MAX; /* outside any array */
    out->at[out->n++] = (int64_t)bits;
    return 0;
}

/* x[I, k] with I a vector of two: three indices. x[None] and x[()] are none. */
static int flatten(const ModeArray *self, PyObject *key, int depth, Indices *out) {
    const PyState *state = state_of((PyObject *)self);
    if (key == Py_None && depth == 0) return 0;
    if (depth < 2 && mode_is_vector(state, key)) {
        for (uint32_t i = 0; i < matrix_count((PsMatrixObject *)key); i++) {
            PyObject *index = mode_element(state, (PsMatrixObject *)key, i);
            int status = index ? add_index(self, index, out) : -1;
            Py_XDECREF(index);
            if (status) return -1;
        }
        return 0;
    }
    if (depth < 2 && (PyTuple_Check(key) || PyList_Check(key))) {
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(key); i++)
            if (flatten(self, PySequence_Fast_GET_ITEM(key, i), depth + 1, out)) return -1;
        return 0;
    }
    return add_index(self, key, out);
}

static void refuse_bounds(const ModeArray *self, int axis, int64_t index) {
    const PyState *state = state_of((PyObject *)self);
    long long first = self->first[axis], length = self->view.shape[axis];
    if (self->shifted)
        py_error(state, PS_MSG_PY_FAULT_OFFSET, (long long)index, (long long)axis, first, first + length - 1);
    else
        py_error(state, PS_MSG_PY_FAULT_BOUNDS, (long long)index, (long long)axis, length);
}

char *mode_array_place(const ModeArray *self, PyObject *key) {
    const PyState *state = state_of((PyObject *)self);
    const PsArrayView *view = &self->view;
    Indices indices = {.n = 0};
    if (self->dead) {
        py_error(state, PS_MSG_MODE_ENDED);
        return NULL;
    }
    if (flatten(self, key, 0, &indices)) return NULL;
    if (indices.n != axes_of(self)) {
        refuse_count(self, indices.n);
        return NULL;
    }
    char *at = view->data;
    for (int k = 0; k < axes_of(self); k++) {
        int64_t index = indices.at[k], first = self->first[k], last = first + view->shape[k] - 1;
        if (self->clamp && last >= 0) index = index < 0 ? 0 : index > last ? last : index;
        if (index < first || index > last) {
            refuse_bounds(self, k, index);
            return NULL;
        }
        index -= first;
        at += index * view->strides[k];
    }
    return at;
}

/* Any byte but 0 is true. */
static uint64_t read_bits(PsType type, const char *at) {
    uint64_t bits = 0;
    memcpy(&bits, at, (size_t)ps_scalar_size(type)); /* little-endian: the low bytes */
    return type == PS_U1 ? bits != 0 : bits;
}

static int refuse_store(const ModeArray *self) {
    if (!self->readonly && !self->dead) return 0;
    py_error(state_of((PyObject *)self), self->dead ? PS_MSG_MODE_ENDED : PS_MSG_MODE_READONLY);
    return -1;
}

/* Where the i-th scalar of an element lies. */
static char *scalar_of(const ModeArray *self, const char *at, uint32_t i) {
    const PsArrayView *view = &self->view;
    int axes = axes_of(self);
    int64_t columns = self->edim == 2 ? view->shape[axes + 1] : 1;
    int64_t offset = self->edim ? (int64_t)i / columns * view->strides[axes] : 0;
    if (self->edim == 2) offset += (int64_t)i % columns * view->strides[axes + 1];
    return (char *)(uintptr_t)at + offset;
}

uint64_t mode_array_word(const ModeArray *self, const char *at, uint32_t i) {
    return read_bits(self->dtype, scalar_of(self, at, i));
}

int mode_array_set_words(const ModeArray *self, char *at, const uint64_t *words, uint32_t n) {
    if (refuse_store(self)) return -1;
    for (uint32_t i = 0; i < n; i++)
        memcpy(scalar_of(self, at, i), &words[i], (size_t)ps_scalar_size(self->dtype));
    return 0;
}

static PyObject *element_at(ModeArray *self, char *at) {
    const PyState *state = state_of((PyObject *)self);
    const int64_t *shape = self->view.shape + axes_of(self);
    PsMatrixObject *m = matrix_new(state, self->dtype, false, self->edim, (int32_t)shape[0],
                                   self->edim == 2 ? (int32_t)shape[1] : 1);
    if (!m) return NULL;
    for (uint32_t i = 0; i < matrix_count(m); i++) m->words[i] = mode_array_word(self, at, i);
    m->home = Py_NewRef((PyObject *)self);
    m->at = at;
    return (PyObject *)m;
}

/* -- views -- */

static PyObject *view_of(ModeArray *self, int64_t offset, int64_t size) {
    const PyState *state = state_of((PyObject *)self);
    if (axes_of(self) != 1 || self->shifted) return py_error(state, PS_MSG_PY_VIEW_AXES, axes_of(self));
    int64_t length = self->view.shape[0];
    if (offset < 0 || size < 0 || offset > length || size > length - offset)
        return py_error(state, PS_MSG_PY_FAULT_VIEW, (long long)offset, (long long)size, (long long)length);
    PsArrayView view = self->view;
    view.data += offset * view.strides[0];
    view.shape[0] = size;
    ModeArray *made = (ModeArray *)new_array(state, self->owner, self->dtype, &view, self->edim);
    if (!made) return NULL;
    made->readonly = self->readonly;
    made->clamp = self->clamp;
    return (PyObject *)made;
}

static int read_number(const PyState *state, PyObject *object, int64_t *out) {
    ModeOperand operand;
    uint64_t bits;
    if (!mode_read(state, object, &operand) || ps_scalar_class(operand.type) == PS_CLASS_FLOAT) {
        py_error(state, PS_MSG_MODE_WANTS, "a view", "integers", Py_TYPE(object)->tp_name);
        return -1;
    }
    if (mode_as(state, &operand, PS_I64, &bits)) return -1;
    *out = (int64_t)bits;
    return 0;
}

/* x[a:b], as compiled: a bound that Python knows counts from the end when it is negative. */
static PyObject *slice_of(ModeArray *self, const PySliceObject *slice) {
    const PyState *state = state_of((PyObject *)self);
    PyObject *given[2] = {slice->start, slice->stop};
    int64_t length = self->view.shape[0], at[2] = {0, length};
    if (slice->step != Py_None) return py_error(state, PS_MSG_FRONT_VIEW_STEP);
    for (int i = 0; i < 2; i++) {
        if (given[i] == Py_None) continue;
        if (read_number(state, given[i], &at[i])) return NULL;
        if (PyLong_Check(given[i]) && at[i] < 0) at[i] += length;
    }
    return view_of(self, at[0], at[1] - at[0]);
}

static PyObject *subview(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"offset", "size", NULL};
    PyObject *offset, *size;
    int64_t at, count;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:subview", names, &offset, &size)) return NULL;
    if (read_number(state_of(object), offset, &at) || read_number(state_of(object), size, &count)) return NULL;
    return view_of((ModeArray *)object, at, count);
}

PyObject *mode_array_view(const PyState *state, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"arr", "offset", "size", NULL};
    PyObject *array, *offset, *size;
    int64_t at, count;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:BufferView", names, &array, &offset, &size))
        return NULL;
    if (!Py_IS_TYPE(array, state->mode.array))
        return py_error(state, PS_MSG_PY_VIEW_OF, Py_TYPE(array)->tp_name);
    if (read_number(state, offset, &at) || read_number(state, size, &count)) return NULL;
    return view_of((ModeArray *)array, at, count);
}

static PyObject *Array_subscript(PyObject *object, PyObject *key) {
    ModeArray *self = (ModeArray *)object;
    if (PySlice_Check(key)) return slice_of(self, (PySliceObject *)key);
    char *at = mode_array_place(self, key);
    if (!at) return NULL;
    if (self->edim) return element_at(self, at);
    ModeNumber *number = (ModeNumber *)mode_number(state_of(object), self->dtype, read_bits(self->dtype, at));
    if (!number) return NULL;
    number->from = Py_NewRef(object);
    number->place = at;
    return (PyObject *)number;
}

static int set_element(ModeArray *self, char *at, PyObject *value) {
    PyObject *element = element_at(self, at);
    int status = element ? mode_overwrite(state_of((PyObject *)self), element, value) : -1;
    Py_XDECREF(element);
    return status;
}

static int Array_ass_subscript(PyObject *object, PyObject *key, PyObject *value) {
    ModeArray *self = (ModeArray *)object;
    const PyState *state = state_of(object);
    ModeOperand operand;
    uint64_t bits;
    char *at = value ? mode_array_place(self, key) : NULL;
    if (!value) PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted");
    if (!at) return -1;
    if (self->edim) return set_element(self, at, value);
    if (!mode_read(state, value, &operand)) {
        mode_not_a_number(state, "an element of an array", value);
        return -1;
    }
    return mode_cast(state, &operand, self->dtype, &bits) || mode_array_set_words(self, at, &bits, 1) ? -1 : 0;
}

static int fill_from(ModeArray *self, int axis, char *at, PyObject *value, const uint64_t *bits) {
    if (axis == axes_of(self))
        return bits ? mode_array_set_words(self, at, bits, 1) : set_element(self, at, value);
    int status = 0;
    for (int64_t i = 0; !status && i < self->view.shape[axis]; i++)
        status = fill_from(self, axis + 1, at + i * self->view.strides[axis], value, bits);
    return status;
}

/* Of the array or view itself: its owner may be more. */
static PyObject *fill(PyObject *object, PyObject *value) {
    ModeArray *self = (ModeArray *)object;
    const PyState *state = state_of(object);
    ModeOperand operand;
    uint64_t bits;
    bool number = !self->edim && mode_read(state, value, &operand);
    if (refuse_store(self)) return NULL;
    if (!self->edim && !number) {
        mode_not_a_number(state, "fill()", value);
        return NULL;
    }
    if (number && mode_cast(state, &operand, self->dtype, &bits)) return NULL;
    if (fill_from(self, 0, self->view.data, value, number ? &bits : NULL)) return NULL;
    Py_RETURN_NONE;
}

uint64_t mode_array_read(const ModeNumber *number) {
    return ((ModeArray *)number->from)->dead ? number->bits : read_bits(number->type, number->place);
}

int mode_array_write(const ModeNumber *number, uint64_t bits) {
    return mode_array_set_words((ModeArray *)number->from, number->place, &bits, 1);
}

/* -- attributes -- */

static Py_ssize_t Array_length(PyObject *object) {
    const PsArrayView *view = &((ModeArray *)object)->view;
    if (axes_of((ModeArray *)object)) return view->shape[0];
    py_error(state_of(object), PS_MSG_MODE_WANTS, "len()", "an array with axes", "one without");
    return -1;
}

static PyObject *get_shape(PyObject *object, void *unused) {
    (void)unused;
    const PsArrayView *view = &((ModeArray *)object)->view;
    PyObject *shape = PyTuple_New(axes_of((ModeArray *)object));
    for (int k = 0; shape && k < PyTuple_GET_SIZE(shape); k++) {
        PyObject *length = mode_number(state_of(object), PS_I32, (uint32_t)view->shape[k]);
        if (length)
            PyTuple_SET_ITEM(shape, k, length);
        else
            Py_CLEAR(shape);
    }
    return shape;
}

static PyObject *get_size(PyObject *object, void *unused) {
    (void)unused;
    const ModeArray *self = (ModeArray *)object;
    uint64_t size = 1;
    for (int k = 0; k < axes_of(self); k++) size *= (uint64_t)self->view.shape[k];
    if (!axes_of(self)) return PyLong_FromLong(1);
    return mode_number(state_of(object), PS_I32, (uint32_t)size);
}

static PyObject *get_ndim(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromLong(axes_of((ModeArray *)object));
}

static PyObject *get_dtype(PyObject *object, void *unused) {
    (void)unused;
    return Py_NewRef(state_of(object)->types.dtypes[((ModeArray *)object)->dtype]);
}

static PyObject *get_owner(PyObject *object, void *unused) {
    (void)unused;
    return Py_NewRef(((ModeArray *)object)->owner);
}

/* n, m, grad, ... */
static PyObject *Array_getattro(PyObject *object, PyObject *name) {
    PyObject *found = PyObject_GenericGetAttr(object, name);
    if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    PyErr_Clear();
    return PyObject_GetAttr(((ModeArray *)object)->owner, name);
}

static PyObject *Array_repr(PyObject *object) { return PyObject_Repr(((ModeArray *)object)->owner); }

static PyGetSetDef array_getset[] = {
    {"shape", get_shape, NULL, "The lengths of the axes.", NULL},
    {"size", get_size, NULL, "The number of elements.", NULL},
    {"ndim", get_ndim, NULL, "The number of axes.", NULL},
    {"dtype", get_dtype, NULL, "The element type, such as pestle.f32.", NULL},
    {"owner", get_owner, NULL, "The array that was passed to the kernel.", NULL},
    {0},
};
static PyMethodDef array_methods[] = {
    {"fill", fill, METH_O, NULL},
    {"subview", (PyCFunction)(void (*)(void))subview, METH_VARARGS | METH_KEYWORDS, NULL},
    {"_rule", MODE_RULE, METH_FASTCALL, NULL},
    {0}};
static PyType_Slot array_slots[] = {
    {Py_tp_dealloc, Array_dealloc},
    {Py_tp_repr, Array_repr},
    {Py_tp_getattro, Array_getattro},
    {Py_tp_getset, array_getset},
    {Py_tp_methods, array_methods},
    {Py_mp_subscript, Array_subscript},
    {Py_mp_ass_subscript, Array_ass_subscript},
    {Py_mp_length, Array_length},
    {Py_tp_doc, "An array argument of a kernel that runs as plain Python."},
    {0},
};
static PyType_Spec array_spec = {
    "pestle.Array", sizeof(ModeArray), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, array_slots};

PyTypeObject *mode_array_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &array_spec, NULL);
}
