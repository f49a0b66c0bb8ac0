/* SPDX-License-Identifier: Apache-2.0
 *
 * The Python objects a program hands to front as they are: dtypes (ti.f32), annotations (types.ndarray, template),
 * functions (@func, @pyfunc). Builtins have a file of their own, eval_builtin.c.
 */
#include "front/eval/build.h"
#include "front/eval/eval_objects.h"

#include <string.h>

/* -- dtypes -- */

static PyObject *Dtype_repr(PyObject *self) {
    if (((PsDtypeObject *)self)->follows_ip) return PyUnicode_FromString("_uint");
    return PyUnicode_FromString(ps_scalar_name(((PsDtypeObject *)self)->type));
}

/* ti.f32(x) outside kernels: the number x as that type holds it. */
static PyObject *Dtype_call(PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *value;
    if (kwargs && PyDict_GET_SIZE(kwargs)) {
        PyErr_Format(PyExc_TypeError, "%s() takes no keyword arguments",
                     ps_scalar_name(((PsDtypeObject *)self)->type));
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O", &value)) return NULL;
    PyObject *ruled = ps_proxy_call(self, &value, 1);
    if (ruled != Py_NotImplemented) return ruled;
    Py_DECREF(ruled);
    return eval_python_cast(value, ((PsDtypeObject *)self)->type);
}

/* The class is ours alone: it is immutable and nothing can derive from it. */
bool eval_is_dtype(PyObject *object) { return Py_TYPE(object)->tp_call == Dtype_call; }

static PyObject *Dtype_get_itemsize(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(ps_scalar_size(((PsDtypeObject *)self)->type));
}

static PyObject *Dtype_get_name(PyObject *self, void *unused) {
    (void)unused;
    return Dtype_repr(self);
}

static PyObject *Dtype_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return Dtype_repr(self); /* pickled as a name of its module */
}

static PyGetSetDef dtype_getset[] = {
    {"name", Dtype_get_name, NULL, "The type's short name, such as 'f32'.", NULL},
    {"itemsize", Dtype_get_itemsize, NULL, "Bytes of one element.", NULL},
    {0},
};
static PyMethodDef dtype_methods[] = {
    {"to_string", Dtype_reduce, METH_NOARGS, "to_string()\n--\n\nThe same as name, as the peers call it."},
    {"__reduce__", Dtype_reduce, METH_NOARGS, NULL},
    {0},
};
static PyType_Slot dtype_slots[] = {
    {Py_tp_repr, Dtype_repr},
    {Py_tp_call, Dtype_call},
    {Py_tp_getset, dtype_getset},
    {Py_tp_methods, dtype_methods},
    {Py_tp_doc, "A scalar type. In a kernel, calling it converts; as an annotation it types a parameter."},
    {0},
};
static PyType_Spec dtype_spec = {
    "pestle.Dtype", sizeof(PsDtypeObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, dtype_slots};

/* -- types.ndarray(dtype=None, ndim=None, ...) -- */

/* An int or None, which is -1. False with an exception. */
static bool read_axes(const char *name, PyObject *object, long most, int *out) {
    long axes = -1;
    if (object != Py_None) {
        axes = PyLong_AsLong(object);
        if (axes == -1 && PyErr_Occurred()) return false;
        if (axes < 0 || axes > most) {
            PyErr_Format(PyExc_ValueError, "types.ndarray: %s must be from 0 to %ld, found %ld", name, most,
                         axes);
            return false;
        }
    }
    *out = (int)axes;
    return true;
}

static bool read_element_shape(PyObject *shape, PsNdarrayAnnotationObject *self) {
    if (shape == Py_None) return true;
    PyObject *items = PySequence_Tuple(shape);
    Py_ssize_t n = items ? PyTuple_GET_SIZE(items) : -1;
    bool fits = n >= 0 && n <= 2 && (self->edim < 0 || self->edim == n);
    for (Py_ssize_t i = 0; fits && i < n; i++) {
        long length = PyLong_AsLong(PyTuple_GET_ITEM(items, i));
        fits = length > 0 && length <= PS_MAX_TILE;
        self->eshape[i] = length;
    }
    self->edim = (int)n;
    Py_XDECREF(items);
    if (items && !fits) {
        PyErr_Clear();
        PyErr_Format(
            PyExc_ValueError,
            "types.ndarray: element_shape must have at most 2 lengths from 1 on, as many as element_dim says, "
            "found %R",
            shape);
    }
    return fits;
}

static bool read_boundary(PyObject *boundary, bool *out_clamp) {
    const char *text = PyUnicode_Check(boundary) ? PyUnicode_AsUTF8(boundary) : NULL;
    *out_clamp = text && strcmp(text, "clamp") == 0;
    if (*out_clamp || (text && strcmp(text, "unsafe") == 0)) return true;
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "types.ndarray: boundary must be 'unsafe' or 'clamp', found %R", boundary);
    return false;
}

static PyObject *NdarrayAnnotation_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"dtype",      "ndim",     "element_dim", "element_shape",
                            "needs_grad", "boundary", "field_dim",   NULL};
    PyObject *dtype = Py_None, *ndim = Py_None, *edim = Py_None, *eshape = Py_None, *grad = Py_None,
             *boundary = NULL, *field_dim = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOOOOO:ndarray", names, &dtype, &ndim, &edim, &eshape,
                                     &grad, &boundary, &field_dim))
        return NULL;
    if (field_dim) {
        PyErr_SetString(PyExc_ValueError, "types.ndarray: field_dim is already deprecated; use ndim");
        return NULL;
    }
    PsNdarrayAnnotationObject *self = (PsNdarrayAnnotationObject *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->dtype = Py_NewRef(dtype);
    self->eshape[0] = self->eshape[1] = -1;
    self->needs_grad = grad == Py_None ? -1 : PyObject_IsTrue(grad);
    if (!read_axes("ndim", ndim, PS_MAX_AXES, &self->ndim) || !read_axes("element_dim", edim, 2, &self->edim) ||
        !read_element_shape(eshape, self) || (boundary && !read_boundary(boundary, &self->clamp)) ||
        (grad != Py_None && self->needs_grad < 0))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void NdarrayAnnotation_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((PsNdarrayAnnotationObject *)self)->dtype);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *NdarrayAnnotation_repr(PyObject *object) {
    PsNdarrayAnnotationObject *self = (PsNdarrayAnnotationObject *)object;
    char ndim[40] = "", edim[40] = "";
    if (self->ndim >= 0) snprintf(ndim, sizeof ndim, ", ndim=%d", self->ndim);
    if (self->edim >= 0) snprintf(edim, sizeof edim, ", element_dim=%d", self->edim);
    return PyUnicode_FromFormat("types.ndarray(dtype=%R%s%s)", self->dtype, ndim, edim);
}

/* types.ndarray[f32, 2], the subscript form. */
static PyObject *NdarrayAnnotation_class_getitem(PyObject *type, PyObject *item) {
    if (PyTuple_Check(item)) return PyObject_Call(type, item, NULL);
    return PyObject_CallOneArg(type, item);
}

static PyObject *annotation_ndim(PyObject *self, void *unused) {
    (void)unused;
    int ndim = ((PsNdarrayAnnotationObject *)self)->ndim;
    return ndim < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(ndim);
}
static PyObject *annotation_dtype(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(((PsNdarrayAnnotationObject *)self)->dtype);
}
static PyObject *annotation_grad(PyObject *self, void *unused) {
    (void)unused;
    int grad = ((PsNdarrayAnnotationObject *)self)->needs_grad;
    return grad < 0 ? Py_NewRef(Py_None) : PyBool_FromLong(grad);
}
static PyGetSetDef ndarray_annotation_getset[] = {
    {"dtype", annotation_dtype, NULL, "What the elements are, or None.", NULL},
    {"ndim", annotation_ndim, NULL, "The number of axes, or None.", NULL},
    {"needs_grad", annotation_grad, NULL, "Whether a gradient array is asked for, or None.", NULL},
    {0},
};
static PyMethodDef ndarray_annotation_methods[] = {
    {"__class_getitem__", NdarrayAnnotation_class_getitem, METH_O | METH_CLASS,
     "__class_getitem__($type, item, /)\n--\n\nThe same as ndarray(dtype, ndim)."},
    {0}};
static PyType_Slot ndarray_annotation_slots[] = {
    {Py_tp_new, NdarrayAnnotation_new},
    {Py_tp_dealloc, NdarrayAnnotation_dealloc},
    {Py_tp_repr, NdarrayAnnotation_repr},
    {Py_tp_methods, ndarray_annotation_methods},
    {Py_tp_getset, ndarray_annotation_getset},
    {Py_tp_doc,
     "ndarray(dtype=None, ndim=None, element_dim=None, element_shape=None, needs_grad=None, "
     "boundary='unsafe')\n--"
     "\n\nAnnotates an array parameter: numpy arrays and pestle.Ndarray. What is left out is taken from the "
     "argument. dtype may be the type of a vector or matrix: then the last axes of other libraries' arrays are "
     "its."},
    {0},
};
static PyType_Spec ndarray_annotation_spec = {"pestle.types.ndarray", sizeof(PsNdarrayAnnotationObject), 0,
                                              Py_TPFLAGS_DEFAULT, ndarray_annotation_slots};

/* -- template() -- */

static PyObject *TemplateAnnotation_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    if (PyTuple_GET_SIZE(args) || (kwargs && PyDict_GET_SIZE(kwargs))) {
        PyErr_SetString(PyExc_TypeError, "template() takes no arguments");
        return NULL;
    }
    return type->tp_alloc(type, 0);
}

static PyObject *TemplateAnnotation_repr(PyObject *self) {
    (void)self;
    return PyUnicode_FromString("template()");
}

static PyType_Slot template_annotation_slots[] = {
    {Py_tp_new, TemplateAnnotation_new},
    {Py_tp_repr, TemplateAnnotation_repr},
    {Py_tp_doc,
     "template()\n--\n\nAnnotates a parameter that is known when a kernel is compiled; in a func, one that is "
     "passed by reference."},
    {0},
};
static PyType_Spec template_annotation_spec = {"pestle.template", sizeof(PsTemplateAnnotationObject), 0,
                                               Py_TPFLAGS_DEFAULT, template_annotation_slots};

/* -- ref(dtype) -- */

static PyObject *RefAnnotation_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"dtype", NULL};
    PyObject *dtype;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:ref", names, &dtype)) return NULL;
    PsRefAnnotationObject *self = (PsRefAnnotationObject *)type->tp_alloc(type, 0);
    if (self) self->dtype = Py_NewRef(dtype);
    return (PyObject *)self;
}

static void RefAnnotation_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((PsRefAnnotationObject *)self)->dtype);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *RefAnnotation_repr(PyObject *self) {
    return PyUnicode_FromFormat("ref(%R)", ((PsRefAnnotationObject *)self)->dtype);
}

static PyType_Slot ref_annotation_slots[] = {
    {Py_tp_new, RefAnnotation_new},
    {Py_tp_dealloc, RefAnnotation_dealloc},
    {Py_tp_repr, RefAnnotation_repr},
    {Py_tp_doc,
     "ref(dtype)\n--\n\nAnnotates a func's parameter that is passed by reference: a variable or an element "
     "of exactly this dtype, which the func may change."},
    {0},
};
static PyType_Spec ref_annotation_spec = {"pestle.ref", sizeof(PsRefAnnotationObject), 0, Py_TPFLAGS_DEFAULT,
                                          ref_annotation_slots};

/* -- @func, @pyfunc, @real_func -- */

static int Func_traverse(PyObject *object, visitproc visit, void *arg) {
    PsFuncObject *self = (PsFuncObject *)object;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->function);
    Py_VISIT(self->dict);
    return ps_ast_trees_traverse(self->trees, visit, arg);
}

static int Func_clear(PyObject *object) {
    PsFuncObject *self = (PsFuncObject *)object;
    Py_CLEAR(self->function);
    Py_CLEAR(self->dict);
    return 0;
}

static void Func_dealloc(PyObject *object) {
    PsFuncObject *self = (PsFuncObject *)object;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Func_clear(object);
    ps_ast_trees_free(self->trees);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *Func_call(PyObject *object, PyObject *args, PyObject *kwargs) {
    PsFuncObject *self = (PsFuncObject *)object;
    PyObject *ruled = ps_proxy_call(object, PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args));
    if (ruled != Py_NotImplemented) return ruled;
    Py_DECREF(ruled);
    if (self->flags & PS_FUNC_PYFUNC) return PyObject_Call(self->function, args, kwargs);
    PyErr_Format(
        PyExc_TypeError,
        "%S is a func: it can be called from kernels and other funcs, not from Python (use @pyfunc for both)",
        ((PyFunctionObject *)self->function)->func_qualname);
    return NULL;
}

/* A method when looked up on an instance, as plain functions are. */
static PyObject *Func_descr_get(PyObject *self, PyObject *instance, PyObject *owner) {
    (void)owner;
    if (!instance || instance == Py_None) return Py_NewRef(self);
    return PyMethod_New(self, instance);
}

static PyObject *Func_repr(PyObject *self) {
    PyFunctionObject *function = (PyFunctionObject *)((PsFuncObject *)self)->function;
    return PyUnicode_FromFormat("<pestle func %U>", function->func_qualname);
}

PyObject *ps_front_func_new(PyTypeObject *type, PyObject *function, uint8_t flags) {
    if (!PyFunction_Check(function)) {
        PyErr_Format(PyExc_TypeError, "@%s expects a function written with def, found %.200s",
                     flags & PS_FUNC_PYFUNC ? "pyfunc"
                     : flags & PS_FUNC_REAL ? "real_func"
                                            : "func",
                     Py_TYPE(function)->tp_name);
        return NULL;
    }
    PsFuncObject *self = (PsFuncObject *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->function = Py_NewRef(function);
    self->stamp = ps_ast_stamp(function);
    self->flags = flags;
    self->dict = PyDict_New();
    static const char *const copied[] = {"__name__", "__qualname__", "__doc__", "__module__",
                                         "__annotations__"};
    for (size_t i = 0; self->dict && i < PS_COUNT(copied); i++) {
        PyObject *value = PyObject_GetAttrString(function, copied[i]);
        if (value) PyDict_SetItemString(self->dict, copied[i], value);
        Py_XDECREF(value);
    }
    PyErr_Clear();
    if (self->dict) PyDict_SetItemString(self->dict, "__wrapped__", function);
    return (PyObject *)self;
}

static PyMemberDef func_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(PsFuncObject, dict), READONLY, NULL},
    {"function", T_OBJECT, offsetof(PsFuncObject, function), READONLY, "The Python function."},
    {0},
};
/* By its name, as plain functions are pickled; copies are the func itself. */
static PyObject *Func_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyObject_GetAttrString(self, "__qualname__");
}

static PyMethodDef func_methods[] = {
    {"__reduce__", Func_reduce, METH_NOARGS, NULL},
    {0},
};
static PyType_Slot func_slots[] = {
    {Py_tp_call, Func_call},
    {Py_tp_repr, Func_repr},
    {Py_tp_dealloc, Func_dealloc},
    {Py_tp_traverse, Func_traverse},
    {Py_tp_clear, Func_clear},
    {Py_tp_members, func_members},
    {Py_tp_methods, func_methods},
    {Py_tp_descr_get, Func_descr_get},
    {Py_tp_getattro, PyObject_GenericGetAttr},
    {Py_tp_doc, "A function for use inside kernels."},
    {0},
};
static PyType_Spec func_spec = {"pestle.Func", sizeof(PsFuncObject), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                func_slots};

/* -- all of them -- */

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
}

static int add_dtypes(PsFrontTypes *types, PyObject *module) {
    for (PsType t = PS_U1; t < PS_SCALAR_END; t++) {
        PsDtypeObject *dtype = (PsDtypeObject *)types->dtype->tp_alloc(types->dtype, 0);
        if (!dtype) return -1;
        dtype->type = t;
        types->dtypes[t] = (PyObject *)dtype;
        if (PyModule_AddObjectRef(module, ps_scalar_name(t), (PyObject *)dtype)) return -1;
    }
    PsDtypeObject *unsigned_int = (PsDtypeObject *)types->dtype->tp_alloc(types->dtype, 0);
    if (!unsigned_int) return -1;
    unsigned_int->type = PS_U32;
    unsigned_int->follows_ip = true;
    int failed = PyModule_AddObjectRef(module, "_uint", (PyObject *)unsigned_int);
    Py_DECREF(unsigned_int);
    return failed;
}

int ps_front_types_init(PsFrontTypes *types, PyObject *module) {
    if (!(types->dtype = add_type(module, &dtype_spec)) ||
        !(types->ndarray_annotation = add_type(module, &ndarray_annotation_spec)) ||
        !(types->template_annotation = add_type(module, &template_annotation_spec)) ||
        !(types->ref_annotation = add_type(module, &ref_annotation_spec)) ||
        !(types->func = add_type(module, &func_spec)) || !(types->builtin = eval_builtin_type(module)) ||
        !(types->proxy = eval_proxy_type(module)))
        return -1;
    if (!(types->ndrange = eval_ndrange_type(module))) return -1;
    if (PyModule_AddObjectRef(module, "ndarray_annotation", (PyObject *)types->ndarray_annotation) ||
        PyModule_AddObjectRef(module, "template", (PyObject *)types->template_annotation) ||
        PyModule_AddObjectRef(module, "ref", (PyObject *)types->ref_annotation))
        return -1;
    return add_dtypes(types, module) || eval_builtins_add(types, module) ? -1 : 0;
}

/* A numpy dtype, or a numpy scalar type, by its name: numpy itself is not imported. */
static PsType numpy_dtype(PyObject *object) {
    static const struct {
        const char *name;
        PsType type;
    } names[] = {{"bool", PS_U1},    {"bool_", PS_U1},   {"int8", PS_I8},     {"int16", PS_I16},
                 {"int32", PS_I32},  {"int64", PS_I64},  {"uint8", PS_U8},    {"uint16", PS_U16},
                 {"uint32", PS_U32}, {"uint64", PS_U64}, {"float16", PS_F16}, {"float32", PS_F32},
                 {"float64", PS_F64}};
    const char *module = PyType_Check(object) ? "__module__" : NULL;
    PyObject *where = module ? PyObject_GetAttrString(object, module) : NULL;
    bool numpy = module
                     ? where && PyUnicode_Check(where) && PyUnicode_CompareWithASCIIString(where, "numpy") == 0
                     : strstr(Py_TYPE(object)->tp_name, "dtype") != NULL;
    Py_XDECREF(where);
    PyObject *name = numpy ? PyObject_GetAttrString(object, module ? "__name__" : "name") : NULL;
    PsType found = PS_KIND_NONE;
    for (size_t i = 0; name && PyUnicode_Check(name) && i < PS_COUNT(names); i++)
        if (PyUnicode_CompareWithASCIIString(name, names[i].name) == 0) found = names[i].type;
    Py_XDECREF(name);
    PyErr_Clear();
    return found;
}

static bool is_ours(const PsFrontTypes *types, PyObject *object) {
    return Py_IS_TYPE(object, types->dtype) || Py_IS_TYPE(object, types->ndarray_annotation) ||
           Py_IS_TYPE(object, types->template_annotation) || Py_IS_TYPE(object, types->matrix_type) ||
           Py_IS_TYPE(object, types->struct_type) || Py_IS_TYPE(object, types->ref_annotation) ||
           object == (PyObject *)types->ndarray_annotation ||
           object == (PyObject *)types->template_annotation || object == types->buffer_view ||
           ps_is_tensor_annotation(types, object);
}

PyObject *ps_front_annotation(const PsFrontTypes *types, PyObject *annotation) {
    if (strcmp(Py_TYPE(annotation)->tp_name, "_AnnotatedAlias") != 0) return annotation;
    PyObject *origin = PyObject_GetAttrString(annotation, "__origin__"), *found = origin;
    PyObject *told = origin ? PyObject_GetAttrString(annotation, "__metadata__") : NULL;
    if (!told) PyErr_Clear();
    Py_ssize_t len = told && PyTuple_Check(told) ? PyTuple_GET_SIZE(told) : 0;
    for (Py_ssize_t i = len - 1; i >= 0; i--)
        if (is_ours(types, PyTuple_GET_ITEM(told, i))) found = PyTuple_GET_ITEM(told, i);
    Py_XDECREF(told); /* the annotation holds both */
    Py_XDECREF(origin);
    return found ? found : annotation;
}

PsType ps_front_dtype(const PsFrontTypes *types, const PsFrontOptions *options, PyObject *object) {
    object = ps_front_annotation(types, object);
    if (Py_IS_TYPE(object, types->dtype)) {
        const PsDtypeObject *dtype = (PsDtypeObject *)object;
        return dtype->follows_ip && ps_scalar_bits(options->default_ip) == 64 ? PS_U64 : dtype->type;
    }
    if (object == (PyObject *)&PyLong_Type) return options->default_ip;
    if (object == (PyObject *)&PyFloat_Type) return options->default_fp;
    if (object == (PyObject *)&PyBool_Type) return PS_U1;
    return numpy_dtype(object);
}

bool ps_front_element(const PsFrontTypes *types, const PsFrontOptions *options, PyObject *object,
                      PsElement *out) {
    object = ps_front_annotation(types, object);
    if (Py_IS_TYPE(object, types->matrix_type)) {
        const PsMatrixTypeObject *tile = (const PsMatrixTypeObject *)object;
        *out = (PsElement){ps_front_dtype(types, options, tile->dtype), tile->ndim, {tile->n, tile->m}};
    } else {
        *out = (PsElement){.dtype = ps_front_dtype(types, options, object)};
    }
    return out->dtype != PS_KIND_NONE;
}

bool ps_front_is_dataclass(PyObject *object) {
    if (!PyType_Check(object)) return false;
    PyObject *fields = PyObject_GetAttrString(object, "__dataclass_fields__");
    bool found = fields && PyDict_Check(fields);
    if (!fields) PyErr_Clear();
    Py_XDECREF(fields);
    return found;
}

PyObject *ps_front_annotation_of_grad(const PsFrontTypes *types, PyObject *annotation) {
    if (!Py_IS_TYPE(annotation, types->ndarray_annotation)) return Py_NewRef(annotation);
    PsNdarrayAnnotationObject *copy =
        (PsNdarrayAnnotationObject *)types->ndarray_annotation->tp_alloc(types->ndarray_annotation, 0);
    const PsNdarrayAnnotationObject *from = (const PsNdarrayAnnotationObject *)annotation;
    if (!copy) return NULL;
    copy->dtype = Py_XNewRef(from->dtype);
    copy->ndim = from->ndim;
    copy->edim = from->edim;
    memcpy(copy->eshape, from->eshape, sizeof copy->eshape);
    copy->needs_grad = -1;
    copy->clamp = from->clamp;
    copy->view = from->view;
    return (PyObject *)copy;
}

bool ps_front_annotated_element(const PsFrontTypes *types, const PsFrontOptions *options, PyObject *annotation,
                                PsElement *out) {
    *out = (PsElement){.edim = -1, .eshape = {-1, -1}};
    if (!Py_IS_TYPE(annotation, types->ndarray_annotation)) return true; /* the bare class */
    const PsNdarrayAnnotationObject *asked = (const PsNdarrayAnnotationObject *)annotation;
    bool any = !asked->dtype || asked->dtype == Py_None;
    if (!any && !ps_front_element(types, options, asked->dtype, out)) return false;
    if (asked->edim < 0) {
        if (any) out->edim = -1;
        return true;
    }
    if (out->edim <= 0) { /* element_dim and element_shape beside the type of a scalar, or alone */
        out->edim = asked->edim;
        for (int k = 0; k < asked->edim; k++) out->eshape[k] = asked->eshape[k];
        return true;
    }
    bool same = out->edim == asked->edim;
    for (int k = 0; k < asked->edim; k++) same &= asked->eshape[k] < 0 || asked->eshape[k] == out->eshape[k];
    return same;
}
