/* SPDX-License-Identifier: Apache-2.0
 *
 * types.vector(n, dtype) and types.matrix(n, m, dtype): annotations of parameters and results, and constructors. A call
 * takes numbers, vectors and lists, whose elements fill the value one after the other, or one number for all.
 */
#include "py/py_matrix.h"

#include <structmember.h>

static PsMatrixTypeObject *new_type(PyObject *module, int ndim, PyObject *n, PyObject *m, PyObject *dtype) {
    const PyState *state = py_state(module);
    Py_ssize_t rows = PyIndex_Check(n) ? PyNumber_AsSsize_t(n, NULL) : -1;
    Py_ssize_t columns = !m ? 1 : PyIndex_Check(m) ? PyNumber_AsSsize_t(m, NULL) : -1;
    const char *name = ndim == 1 ? "vector" : "matrix";
    if (PyErr_Occurred()) return NULL;
    if (rows < 1 || columns < 1 || rows > PS_MAX_TILE / columns) {
        PyErr_Format(PyExc_ValueError, "types.%s: it has 1 to %lld elements, found %R by %R", name,
                     (long long)PS_MAX_TILE, n, m ? m : Py_None);
        return NULL;
    }
    if (!ps_front_dtype(&state->types, &state->options, dtype)) {
        PyErr_Format(PyExc_TypeError, "types.%s: the element type must be a dtype such as ti.f32, found %R",
                     name, dtype);
        return NULL;
    }
    PsMatrixTypeObject *self =
        (PsMatrixTypeObject *)state->types.matrix_type->tp_alloc(state->types.matrix_type, 0);
    if (!self) return NULL;
    self->dtype = Py_NewRef(dtype);
    self->ndim = ndim;
    self->n = (int32_t)rows;
    self->m = (int32_t)columns;
    return self;
}

PyObject *py_types_vector(PyObject *module, PyObject *args, PyObject *names) {
    static char *known[] = {"n", "dtype", "unpacked", NULL};
    PyObject *n, *dtype;
    int unpacked = 0;
    if (!PyArg_ParseTupleAndKeywords(args, names, "OO|p:vector", known, &n, &dtype, &unpacked)) return NULL;
    PsMatrixTypeObject *made = new_type(module, 1, n, NULL, dtype);
    if (made) made->unpacked = unpacked;
    return (PyObject *)made;
}

/* A vector's elements are scalars to the compiler anyway; what is asked for by unpacked=True is to be had of members of a
 * dataclass, and refused elsewhere. */
static int refuse_unpacked(PyObject *object) {
    if (!((PsMatrixTypeObject *)object)->unpacked) return 0;
    py_error(PyType_GetModuleState(Py_TYPE(object)), PS_MSG_PY_UNPACKED);
    return -1;
}

PyObject *py_types_matrix(PyObject *module, PyObject *args, PyObject *names) {
    static char *known[] = {"n", "m", "dtype", NULL};
    PyObject *n, *m, *dtype;
    if (!PyArg_ParseTupleAndKeywords(args, names, "OOO:matrix", known, &n, &m, &dtype)) return NULL;
    return (PyObject *)new_type(module, 2, n, m, dtype);
}

static void MatrixType_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((PsMatrixTypeObject *)self)->dtype);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *MatrixType_repr(PyObject *object) {
    const PsMatrixTypeObject *self = (PsMatrixTypeObject *)object;
    PyObject *dtype = PyType_Check(self->dtype) ? PyObject_GetAttrString(self->dtype, "__name__")
                                                : PyObject_Repr(self->dtype);
    PyObject *text = NULL;
    if (dtype && self->ndim == 1) text = PyUnicode_FromFormat("types.vector(%d, %U)", (int)self->n, dtype);
    if (dtype && self->ndim == 2)
        text = PyUnicode_FromFormat("types.matrix(%d, %d, %U)", (int)self->n, (int)self->m, dtype);
    Py_XDECREF(dtype);
    return text;
}

static PyObject *MatrixType_compare(PyObject *a, PyObject *b, int how) {
    if (!Py_IS_TYPE(b, Py_TYPE(a)) || (how != Py_EQ && how != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    const PsMatrixTypeObject *x = (PsMatrixTypeObject *)a, *y = (PsMatrixTypeObject *)b;
    bool same = x->dtype == y->dtype && x->ndim == y->ndim && x->n == y->n && x->m == y->m;
    return PyBool_FromLong(same == (how == Py_EQ));
}

static Py_hash_t MatrixType_hash(PyObject *object) {
    const PsMatrixTypeObject *self = (PsMatrixTypeObject *)object;
    return (Py_hash_t)(((uintptr_t)self->dtype >> 4) * 31 +
                       (uintptr_t)(self->n * 64 + self->m * 2 + self->ndim));
}

static PyObject *MatrixType_reduce(PyObject *object, PyObject *unused) {
    (void)unused;
    const PsMatrixTypeObject *self = (PsMatrixTypeObject *)object;
    PyObject *module = PyType_GetModule(Py_TYPE(object));
    PyObject *make =
        module ? PyObject_GetAttrString(module, self->ndim == 1 ? "_vector_type" : "_matrix_type") : NULL;
    if (!make) return NULL;
    return self->ndim == 1 ? Py_BuildValue("N(iO)", make, (int)self->n, self->dtype)
                           : Py_BuildValue("N(iiO)", make, (int)self->n, (int)self->m, self->dtype);
}

/* -- values of the type -- */

static int flatten(PyObject *object, PyObject *list, int depth) {
    if (PyUnicode_Check(object) || !PySequence_Check(object) || PySequence_Size(object) < 0) {
        PyErr_Clear();
        return PyList_Append(list, object);
    }
    PyObject *items = depth < 4 ? PySequence_Tuple(object) : NULL;
    int status = items ? 0 : -1;
    if (depth >= 4) PyErr_SetString(PyExc_TypeError, "lists are nested too deeply for a vector or matrix");
    for (Py_ssize_t i = 0; !status && i < PyTuple_GET_SIZE(items); i++)
        status = flatten(PyTuple_GET_ITEM(items, i), list, depth + 1);
    Py_XDECREF(items);
    return status;
}

static PyObject *MatrixType_call(PyObject *object, PyObject *args, PyObject *names) {
    const PsMatrixTypeObject *self = (PsMatrixTypeObject *)object;
    const PyState *state = PyType_GetModuleState(Py_TYPE(object));
    if (refuse_unpacked(object)) return NULL;
    if (names && PyDict_GET_SIZE(names))
        return PyErr_Format(PyExc_TypeError, "%R takes no keyword arguments", object);
    PyObject *ruled = ps_proxy_call(object, PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args));
    if (ruled != Py_NotImplemented) return ruled;
    Py_DECREF(ruled);
    PsType elem = ps_front_dtype(&state->types, &state->options, self->dtype);
    PyObject *items = PyList_New(0);
    PsMatrixObject *made =
        items && !flatten(args, items, 0) ? matrix_new(state, elem, false, self->ndim, self->n, self->m) : NULL;
    Py_ssize_t found = items ? PyList_GET_SIZE(items) : 0;
    bool repeat =
        PyTuple_GET_SIZE(args) == 1 && found == 1 && PyList_GET_ITEM(items, 0) == PyTuple_GET_ITEM(args, 0);
    if (made && !repeat && found != (Py_ssize_t)matrix_count(made)) {
        PyErr_Format(PyExc_TypeError, "%R needs %u elements, found %zd", object, matrix_count(made), found);
        Py_CLEAR(made);
    }
    for (uint32_t i = 0; made && i < matrix_count(made); i++)
        if (matrix_bits(PyList_GET_ITEM(items, repeat ? 0 : i), elem, &made->words[i])) Py_CLEAR(made);
    Py_XDECREF(items);
    return (PyObject *)made;
}

static PyMemberDef matrix_type_members[] = {
    {"n", T_INT, offsetof(PsMatrixTypeObject, n), READONLY, "Rows, or elements of a vector."},
    {"m", T_INT, offsetof(PsMatrixTypeObject, m), READONLY, "Columns; of a vector 1."},
    {"ndim", T_INT, offsetof(PsMatrixTypeObject, ndim), READONLY, "Axes."},
    {"dtype", T_OBJECT, offsetof(PsMatrixTypeObject, dtype), READONLY, "The type of the elements."},
    {0},
};
static PyObject *get_shape(PyObject *object, void *unused) {
    (void)unused;
    const PsMatrixTypeObject *self = (PsMatrixTypeObject *)object;
    return self->ndim == 1 ? Py_BuildValue("(i)", (int)self->n)
                           : Py_BuildValue("(ii)", (int)self->n, (int)self->m);
}
static PyGetSetDef matrix_type_getset[] = {{"shape", get_shape, NULL, "The lengths of the axes.", NULL}, {0}};
/* The rest of the arguments behind the type. */
static PyObject *with_type(PyObject *self, PyObject *args) {
    if (refuse_unpacked(self)) return NULL;
    PyObject *one = PyTuple_Pack(1, self), *all = one ? PySequence_Concat(one, args) : NULL;
    Py_XDECREF(one);
    return all;
}

static PyObject *MatrixType_field(PyObject *self, PyObject *args, PyObject *names) {
    PyObject *all = with_type(self, args);
    PyObject *made = all ? py_field_new(PyType_GetModule(Py_TYPE(self)), all, names) : NULL;
    Py_XDECREF(all);
    return made;
}

static PyObject *MatrixType_ndarray(PyObject *self, PyObject *args, PyObject *names) {
    PyObject *make = PyObject_GetAttrString(PyType_GetModule(Py_TYPE(self)), "ndarray");
    PyObject *all = make ? with_type(self, args) : NULL, *made = all ? PyObject_Call(make, all, names) : NULL;
    Py_XDECREF(all);
    Py_XDECREF(make);
    return made;
}

static PyMethodDef matrix_type_methods[] = {
    {"field", (PyCFunction)(void (*)(void))MatrixType_field, METH_VARARGS | METH_KEYWORDS,
     "field($self, shape, *args, **kwargs)\n--\n\nA field of such elements; see pestle.field."},
    {"ndarray", (PyCFunction)(void (*)(void))MatrixType_ndarray, METH_VARARGS | METH_KEYWORDS,
     "ndarray($self, shape, needs_grad=False)\n--\n\nAn Ndarray of such elements."},
    {"__reduce__", MatrixType_reduce, METH_NOARGS, NULL},
    {0}};
static PyType_Slot matrix_type_slots[] = {
    {Py_tp_dealloc, MatrixType_dealloc},
    {Py_tp_repr, MatrixType_repr},
    {Py_tp_richcompare, MatrixType_compare},
    {Py_tp_hash, MatrixType_hash},
    {Py_tp_call, MatrixType_call},
    {Py_tp_members, matrix_type_members},
    {Py_tp_getset, matrix_type_getset},
    {Py_tp_methods, matrix_type_methods},
    {Py_tp_doc,
     "The type of a vector or matrix: annotates parameters and results, and makes values when called."},
    {0},
};
static PyType_Spec matrix_type_spec = {
    "pestle.MatrixType", sizeof(PsMatrixTypeObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, matrix_type_slots};

PyTypeObject *py_matrix_type_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &matrix_type_spec, NULL);
}
