/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel object: what @kernel makes of a function. Calls go straight to py_launch.c. The type has the
 * METHOD_DESCRIPTOR flag: on a class, `obj.kernel(x)` passes obj as the first argument without making a bound method.
 */
#include "py/py_int.h"

#include <structmember.h>

static const char *kernel_name(const PyKernel *kernel) {
    const char *name = PyUnicode_AsUTF8(((PyFunctionObject *)kernel->function)->func_name);
    if (!name) PyErr_Clear();
    return name ? name : "?";
}

/* -- arguments by position and name -- */

int py_kernel_prepare(PyKernel *kernel) {
    if (kernel->signature_read) return 0;
    PySignature made = {0};
    if (py_signature_read(kernel->state, kernel->function, kernel->annotations, &made)) return -1;
    if (kernel->signature_read) { /* evaluating annotations ran code that launched this kernel */
        py_signature_free(&made);
        return 0;
    }
    kernel->signature = made;
    kernel->signature_read = true;
    return 0;
}

static int refuse_call(const PyKernel *kernel, const char *format, ...) {
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    py_error(kernel->state, PS_MSG_PY_CALL, kernel_name(kernel), text);
    return -1;
}

static int bind_named(PyKernel *kernel, PyObject *name, PyObject *value, PyObject **out) {
    const PySignature *signature = &kernel->signature;
    const char *text = PyUnicode_AsUTF8(name);
    if (!text) return -1;
    int first = ((PyCodeObject *)PyFunction_GET_CODE(kernel->function))->co_posonlyargcount;
    for (uint32_t i = (uint32_t)first; i < signature->nparams; i++) {
        if (signature->params[i].name != name && PyUnicode_Compare(signature->params[i].name, name) != 0)
            continue;
        if (out[i]) return refuse_call(kernel, "Multiple values for argument '%s'", text);
        out[i] = value;
        return 0;
    }
    return refuse_call(kernel, "Unexpected argument '%s'", text);
}

/* Defaults belong to the last parameters. */
static int bind_defaults(PyKernel *kernel, PyObject *defaults, PyObject **out) {
    const PySignature *signature = &kernel->signature;
    uint32_t ndefaults = defaults && PyTuple_Check(defaults) ? (uint32_t)PyTuple_GET_SIZE(defaults) : 0;
    uint32_t first = ndefaults > signature->nparams ? 0 : signature->nparams - ndefaults;
    for (uint32_t i = 0; i < signature->nparams; i++) {
        if (out[i]) continue;
        if (i < first) {
            const char *text = PyUnicode_AsUTF8(signature->params[i].name);
            return text ? refuse_call(kernel, "Missing argument '%s'", text) : -1;
        }
        out[i] = PyTuple_GET_ITEM(defaults, i - first);
    }
    return 0;
}

int py_kernel_bind(PyKernel *kernel, PyObject *const *args, Py_ssize_t nargs, PyObject *names, PyObject **out,
                   PyObject **out_held) {
    uint32_t nparams = kernel->signature.nparams;
    *out_held = Py_XNewRef(((PyFunctionObject *)kernel->function)->func_defaults);
    if (nargs > (Py_ssize_t)nparams)
        return refuse_call(kernel, "Too many arguments: expected %u, found %zd", nparams, nargs);
    for (uint32_t i = 0; i < nparams; i++) out[i] = i < nargs ? args[i] : NULL;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++)
        if (bind_named(kernel, PyTuple_GET_ITEM(names, i), args[nargs + i], out)) return -1;
    return bind_defaults(kernel, *out_held, out);
}

/* -- the object -- */

static int Kernel_traverse(PyObject *object, visitproc visit, void *arg) {
    PyKernel *self = (PyKernel *)object;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->function);
    Py_VISIT(self->dict);
    Py_VISIT(self->annotations);
    Py_VISIT(self->module);
    for (uint32_t i = 0; i < self->signature.nparams; i++) Py_VISIT(self->signature.params[i].annotation);
    Py_VISIT(self->signature.returns);
    int stop = ps_ast_trees_traverse(self->trees, visit, arg);
    return stop ? stop : py_spec_traverse(self->specs, visit, arg);
}

static int Kernel_clear(PyObject *object) {
    PyKernel *self = (PyKernel *)object;
    py_specs_clear(self);
    self->signature_read = false;
    py_signature_free(&self->signature);
    Py_CLEAR(self->dict);
    Py_CLEAR(self->annotations);
    return 0;
}

static void Kernel_dealloc(PyObject *object) {
    PyKernel *self = (PyKernel *)object;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (self->weakrefs) PyObject_ClearWeakRefs(object);
    Kernel_clear(object);
    ps_ast_trees_free(self->trees);
    ps_arena_free(&self->forms);
    Py_XDECREF(self->function);
    Py_XDECREF(self->module);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *Kernel_repr(PyObject *self) {
    return PyUnicode_FromFormat("<pestle kernel %U>",
                                ((PyFunctionObject *)((PyKernel *)self)->function)->func_qualname);
}

static PyObject *Kernel_descr_get(PyObject *self, PyObject *instance, PyObject *owner) {
    (void)owner;
    if (!instance || instance == Py_None) return Py_NewRef(self);
    return PyMethod_New(self, instance);
}

static PyMemberDef kernel_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyKernel, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(PyKernel, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyKernel, weakrefs), READONLY, NULL},
    {"__wrapped__", T_OBJECT, offsetof(PyKernel, function), READONLY, "The Python function."},
    {0},
};
static PyGetSetDef kernel_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {"_times", py_kernel_times, NULL, "Nanoseconds that the stages of the newest specialisation took.", NULL},
    {0},
};
static PyObject *refuse_grad(PyObject *self, PyObject *args, PyObject *kwargs) {
    (void)args, (void)kwargs;
    const PyKernel *kernel = (PyKernel *)self;
    return py_error(kernel->state, PS_MSG_PY_KERNEL_GRAD,
                    PyUnicode_AsUTF8(((PyFunctionObject *)kernel->function)->func_name));
}

/* By its name, as plain functions are pickled; copies are the kernel itself. */
static PyObject *reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyObject_GetAttrString(self, "__qualname__");
}

static PyMethodDef kernel_methods[] = {
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {"grad", (PyCFunction)(void (*)(void))refuse_grad, METH_VARARGS | METH_KEYWORDS,
     "grad($self, *args, **kwargs)\n--\n\nDifferentiation is not there yet: raises KernelRuntimeError."},
    {"ir", (PyCFunction)(void (*)(void))py_kernel_show_ir, METH_FASTCALL | METH_KEYWORDS,
     "ir($self, *args, after='front', **kwargs)\n--\n\nThe text of the IR that these arguments give, after the "
     "front end, after "
     "a "
     "pass ('fold', ...), or LLVM's ('llvm'). Without arguments: for the last launch."},
    {"asm", (PyCFunction)(void (*)(void))py_kernel_show_asm, METH_FASTCALL | METH_KEYWORDS,
     "asm($self, *args, **kwargs)\n--\n\nThe assembly that these arguments give. Without arguments: for the "
     "last launch."},
    {"explain", (PyCFunction)(void (*)(void))py_kernel_explain, METH_FASTCALL | METH_KEYWORDS,
     "explain($self, *args, asm=False, **kwargs)\n--\n\nWhat these arguments make of each line: lanes or "
     "scalar and why, "
     "accesses, reductions, bytes and flops; with asm=True its assembly. Print it. Without arguments: for the "
     "last launch."},
    {"_ir", (PyCFunction)(void (*)(void))py_kernel_ir, METH_FASTCALL | METH_KEYWORDS,
     "_ir($self, *args, **kwargs)\n--\n\nThe text of the IR that the front end makes for these arguments."},
    {"_text", (PyCFunction)(void (*)(void))py_kernel_text, METH_FASTCALL | METH_KEYWORDS,
     "_text($self, what, *args, **kwargs)\n--\n\nThe kernel after passes ('fold,dce', 'all'), as LLVM IR "
     "('llvm') or assembly "
     "('asm')."},
    {"_evaluate", (PyCFunction)(void (*)(void))py_kernel_evaluate, METH_FASTCALL | METH_KEYWORDS,
     "_evaluate($self, *args, **kwargs)\n--\n\nRuns the kernel by the IR evaluator instead of compiled code."},
    {0},
};
static PyType_Slot kernel_slots[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_repr, Kernel_repr},
    {Py_tp_dealloc, Kernel_dealloc},
    {Py_tp_traverse, Kernel_traverse},
    {Py_tp_clear, Kernel_clear},
    {Py_tp_members, kernel_members},
    {Py_tp_getset, kernel_getset},
    {Py_tp_methods, kernel_methods},
    {Py_tp_descr_get, Kernel_descr_get},
    {Py_tp_getattro, PyObject_GenericGetAttr},
    {Py_tp_setattro, PyObject_GenericSetAttr},
    {Py_tp_doc, "A function that runs as native parallel code."},
    {0},
};
static PyType_Spec kernel_spec = {"pestle.Kernel", sizeof(PyKernel), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                      Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                      Py_TPFLAGS_IMMUTABLETYPE,
                                  kernel_slots};

PyTypeObject *py_kernel_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &kernel_spec, NULL);
}

/* As functools.update_wrapper, without its cost. */
static int copy_names(PyKernel *self) {
    PyFunctionObject *function = (PyFunctionObject *)self->function;
    const struct {
        const char *name;
        PyObject *value;
    } copied[] = {{"__name__", function->func_name},
                  {"__qualname__", function->func_qualname},
                  {"__module__", function->func_module},
                  {"__doc__", function->func_doc}};
    self->dict = function->func_dict ? PyDict_Copy(function->func_dict) : PyDict_New();
    if (!self->dict) return -1;
    for (size_t i = 0; i < PS_COUNT(copied); i++)
        if (copied[i].value && PyDict_SetItemString(self->dict, copied[i].name, copied[i].value)) return -1;
    return 0;
}

static PyObject *kernel_new(PyObject *module, PyObject *function) {
    PyState *state = py_state(module);
    if (!PyFunction_Check(function))
        return py_error(state, PS_MSG_PY_DECORATED, "kernel", Py_TYPE(function)->tp_name);
    PyKernel *self = (PyKernel *)state->kernel_type->tp_alloc(state->kernel_type, 0);
    if (!self) return NULL;
    self->vectorcall = py_kernel_call;
    self->state = state;
    self->module = Py_NewRef(module);
    self->function = Py_NewRef(function);
    self->stamp = ps_ast_stamp(function);
    ps_arena_init(&self->forms);
    self->annotations = py_signature_early(function);
    if (copy_names(self)) Py_CLEAR(self);
    return (PyObject *)self;
}

/* -- decorators -- */

/* Taichi's keywords of @kernel that change nothing here: nothing needs to be asked for. */
static bool known_keyword(PyObject *name) {
    static const char *const known[] = {"fastcache", "pure", "graph", "checkpoints"};
    for (size_t i = 0; i < PS_COUNT(known); i++)
        if (PyUnicode_CompareWithASCIIString(name, known[i]) == 0) return true;
    return false;
}

PyObject *py_kernel_decorator(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        if (!known_keyword(name)) {
            const char *text = PyUnicode_AsUTF8(name);
            return text ? py_error(py_state(module), PS_MSG_PY_KEYWORD, "kernel", text,
                                   "fastcache, pure, graph and checkpoints (all without effect)")
                        : NULL;
        }
    }
    if (nargs == 1) return kernel_new(module, args[0]);
    if (nargs == 0)
        return PyObject_GetAttrString(module, "kernel"); /* @kernel(...): decorate with the plain one */
    return PyErr_Format(PyExc_TypeError, "kernel() takes one function, found %zd arguments", nargs);
}
