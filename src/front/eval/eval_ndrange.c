/* SPDX-License-Identifier: Apache-2.0
 *
 * ti.ndrange outside kernels: what a kernel's loop would visit, in its order. Iterating gives an itertools.product of the
 * axes from the outermost to the innermost; with axes=..., each tuple's items are put back in the order of the arguments.
 * A kernel that gets one from a Python function loops over it as if the call stood in its own text (PsNdrangeObject).
 */
#include "front/eval/build.h"
#include "front/eval/eval_objects.h"

#include <string.h>

/* PyErr_Format of "%s%s": the front's messages begin with the module's name, which an import alias changes. */
static PyObject *refuse(PyObject *builtin, const char *class_name, const char *text) {
    PyObject *module = PyType_GetModule(Py_TYPE(builtin));
    PyObject *class = module ? PyObject_GetAttrString(module, class_name) : NULL;
    PyObject *alias = class ? PyObject_GetAttrString(module, "_alias") : NULL; /* see py_errors.c */
    const char *name = alias ? PyUnicode_AsUTF8(alias) : NULL;
    if (!class) return NULL;
    PyErr_Clear();
    PyErr_Format(class, "%s%s",
                 strncmp(text, "ti.", 3) ? ""
                 : name                  ? name
                                         : "ti",
                 strncmp(text, "ti.", 3) ? text : text + 2);
    Py_XDECREF(alias);
    Py_DECREF(class);
    return NULL;
}

static PyObject *refuse_count(PyObject *builtin, PsMessageId id, Py_ssize_t a, Py_ssize_t b) {
    char text[160];
    PyOS_snprintf(text, sizeof text, ps_message_text(id), (unsigned)a, (unsigned)b);
    return refuse(builtin, "KernelSyntaxError", text);
}

static PyObject *refuse_axis(PyObject *builtin, PyObject *axis) {
    char text[200];
    PyOS_snprintf(text, sizeof text, ps_message_text(PS_MSG_FRONT_NDRANGE_AXES_TYPE), Py_TYPE(axis)->tp_name);
    return refuse(builtin, "KernelTypeError", text);
}

static PyObject *range_of(PyObject *bounds) {
    if (!PyTuple_Check(bounds) && !PyList_Check(bounds))
        return PyObject_CallOneArg((PyObject *)&PyRange_Type, bounds);
    if (PySequence_Fast_GET_SIZE(bounds) != 2)
        return PyErr_Format(PyExc_TypeError, "ndrange(): expected (begin, end), found %R", bounds);
    return PyObject_Vectorcall((PyObject *)&PyRange_Type, PySequence_Fast_ITEMS(bounds), 2, NULL);
}

/* axes[k]: the argument that the k-th loop from outside runs over. -1: refused. 1: some other order than as given. */
static int read_axes(PyObject *builtin, PyObject *given, Py_ssize_t n, Py_ssize_t *axes) {
    uint64_t seen = 0;
    int other = 0;
    for (Py_ssize_t k = 0; k < n; k++) axes[k] = k;
    if (!given || given == Py_None) return 0;
    PyObject *items = PySequence_Fast(given, "ndrange(axes=...): expected a tuple");
    if (!items) return -1;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    if (count != n) refuse_count(builtin, PS_MSG_FRONT_NDRANGE_AXES_COUNT, count, n);
    for (Py_ssize_t k = 0; k < n && count == n && !PyErr_Occurred(); k++) {
        PyObject *item = PySequence_Fast_GET_ITEM(items, k);
        Py_ssize_t axis = PyLong_Check(item) && !PyBool_Check(item) ? PyNumber_AsSsize_t(item, NULL) : -1;
        if (!PyLong_Check(item) || PyBool_Check(item)) {
            refuse_axis(builtin, item);
            break;
        }
        if (axis < 0 || axis >= n || seen >> axis & 1) {
            refuse_count(builtin, PS_MSG_FRONT_NDRANGE_AXES, n, 0);
            break;
        }
        seen |= (uint64_t)1 << axis;
        axes[k] = axis;
        other |= axis != k;
    }
    Py_DECREF(items);
    return PyErr_Occurred() ? -1 : other;
}

/* A call of module.name; takes the arguments. */
static PyObject *call(const char *module_name, const char *name, PyObject *args) {
    PyObject *module = args ? PyImport_ImportModule(module_name) : NULL;
    PyObject *callee = module ? PyObject_GetAttrString(module, name) : NULL;
    PyObject *result = callee ? PyObject_CallObject(callee, args) : NULL;
    Py_XDECREF(callee);
    Py_XDECREF(module);
    Py_XDECREF(args);
    return result;
}

/* Items back from the loops' order: map(itemgetter(...), product). */
static PyObject *reordered(PyObject *product, const Py_ssize_t *axes, Py_ssize_t n) {
    PyObject *places = PyTuple_New(n);
    for (Py_ssize_t k = 0; places && k < n; k++) {
        PyObject *place = PyLong_FromSsize_t(k);
        if (!place) Py_CLEAR(places);
        if (places) PyTuple_SET_ITEM(places, axes[k], place);
    }
    PyObject *getter = call("operator", "itemgetter", places);
    PyObject *result =
        getter ? PyObject_CallFunctionObjArgs((PyObject *)&PyMap_Type, getter, product, NULL) : NULL;
    Py_XDECREF(getter);
    Py_DECREF(product);
    return result;
}

static PyObject *product_of(PyObject *bounds, const Py_ssize_t *axes, bool other) {
    Py_ssize_t n = PyTuple_GET_SIZE(bounds);
    PyObject *ranges = PyTuple_New(n);
    for (Py_ssize_t k = 0; ranges && k < n; k++) {
        PyObject *range = range_of(PyTuple_GET_ITEM(bounds, axes[k]));
        if (!range) Py_CLEAR(ranges);
        if (ranges) PyTuple_SET_ITEM(ranges, k, range);
    }
    PyObject *product = call("itertools", "product", ranges);
    return product && other ? reordered(product, axes, n) : product;
}

/* -- the object -- */

static PyObject *Ndrange_iter(PyObject *object) {
    const PsNdrangeObject *self = (PsNdrangeObject *)object;
    return product_of(self->bounds, self->axes, self->reordered);
}

static PyObject *Ndrange_get_axes(PyObject *object, void *unused) {
    const PsNdrangeObject *self = (PsNdrangeObject *)object;
    (void)unused;
    if (!self->reordered) Py_RETURN_NONE;
    PyObject *axes = PyTuple_New(PyTuple_GET_SIZE(self->bounds));
    for (Py_ssize_t k = 0; axes && k < PyTuple_GET_SIZE(axes); k++) {
        PyObject *axis = PyLong_FromSsize_t(self->axes[k]);
        if (!axis) Py_CLEAR(axes);
        if (axes) PyTuple_SET_ITEM(axes, k, axis);
    }
    return axes;
}

static int Ndrange_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((PsNdrangeObject *)self)->bounds);
    return 0;
}

static int Ndrange_clear(PyObject *self) {
    Py_CLEAR(((PsNdrangeObject *)self)->bounds);
    return 0;
}

static void Ndrange_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Ndrange_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyGetSetDef ndrange_getset[] = {
    {"axes", Ndrange_get_axes, NULL, "Which argument each loop runs over, from outside; None: in their order.",
     NULL},
    {0},
};
static PyType_Slot ndrange_slots[] = {
    {Py_tp_iter, Ndrange_iter},
    {Py_tp_getset, ndrange_getset},
    {Py_tp_traverse, Ndrange_traverse},
    {Py_tp_clear, Ndrange_clear},
    {Py_tp_dealloc, Ndrange_dealloc},
    {Py_tp_doc, "The combinations of some ranges: what ndrange() gives outside kernels."},
    {0},
};
static PyType_Spec ndrange_spec = {"pestle.NDRange", sizeof(PsNdrangeObject), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                       Py_TPFLAGS_IMMUTABLETYPE,
                                   ndrange_slots};

PyTypeObject *eval_ndrange_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &ndrange_spec, NULL);
}

PyObject *eval_ndrange(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    PyTypeObject *type = ((PsBuiltinObject *)self)->types->ndrange; /* NULL: the module is gone */
    Py_ssize_t axes[PS_MAX_AXES], nnames = names ? PyTuple_GET_SIZE(names) : 0;
    if (nnames > 1 || (nnames && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "axes") != 0))
        return PyErr_Format(PyExc_TypeError, "ndrange() takes no keyword argument but axes");
    if (nargs > PS_MAX_AXES) return refuse_count(self, PS_MSG_FRONT_NDRANGE_COUNT, PS_MAX_AXES, nargs);
    int other = read_axes(self, nnames ? args[nargs] : NULL, nargs, axes);
    if (other < 0 || !type) return other < 0 ? NULL : PyErr_NoMemory();
    PsNdrangeObject *made = (PsNdrangeObject *)type->tp_alloc(type, 0);
    if (!made || !(made->bounds = PyTuple_New(nargs))) {
        Py_XDECREF(made);
        return NULL;
    }
    for (Py_ssize_t k = 0; k < nargs; k++) PyTuple_SET_ITEM(made->bounds, k, Py_NewRef(args[k]));
    memcpy(made->axes, axes, sizeof axes);
    made->reordered = other;
    PyObject *checked = Ndrange_iter((PyObject *)made); /* bounds that are none are refused here */
    if (!checked) Py_CLEAR(made);
    Py_XDECREF(checked);
    return (PyObject *)made;
}
