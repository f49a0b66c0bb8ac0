/* SPDX-License-Identifier: Apache-2.0
 *
 * The module pestle._pestle: multi-phase initialisation, all state in PyState. python/pestle/__init__.py gives its
 * names to users.
 */
#include "py/py_matrix.h"
#include "py/py_view.h"

#include "build_id.h"

PyState *py_state(PyObject *module) { return PyModule_GetState(module); }

/* -- for tests and the curious -- */

static PyObject *llvm_is_open(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyBool_FromLong(ps_driver_llvm_is_open());
}

static PyObject *threads(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyLong_FromLong(ps_rt_threads());
}

/* Lets the n-th next allocation of Pestle's own fail (negative: none); gives what was left of the n before. */
static PyObject *alloc_fail_after(PyObject *module, PyObject *number) {
    (void)module;
    long left = ps_alloc_fails_after(), n = PyLong_AsLong(number);
    if (n == -1 && PyErr_Occurred()) return NULL;
    ps_alloc_fail_after(n);
    return PyLong_FromLong(left);
}

static PyObject *config(PyObject *module, PyObject *unused) {
    (void)unused;
    const PyState *state = py_state(module);
    return Py_BuildValue("{sOsOsOsOsOsKsi}", "default_fp", state->types.dtypes[state->options.default_fp],
                         "default_ip", state->types.dtypes[state->options.default_ip], "checked",
                         state->options.checked ? Py_True : Py_False, "fast_math",
                         state->options.fast_math ? Py_True : Py_False, "deterministic",
                         state->options.deterministic ? Py_True : Py_False, "random_seed",
                         (unsigned long long)state->random_seed, "threads", ps_rt_threads());
}

#define FAST(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS

/* _tensor_class(Tensor): what annotates tensors. */
static PyObject *tensor_class(PyObject *module, PyObject *class) {
    Py_XSETREF(py_state(module)->types.tensor_class, Py_NewRef(class));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"init", FAST(py_init),
     "init(arch=None, *, debug=False, checked=False, overflow=None, default_fp=None, default_ip=None, "
     "fast_math=False, deterministic=False, "
     "random_seed=0, threads=None, cpu_max_num_threads=None, offline_cache=True, formats=None, "
     "**ignored)\n--\n\nSets options. Not needed: everything works without."},
    {"reset", py_reset, METH_NOARGS, "reset()\n--\n\nSets all options to their defaults."},
    {"sync", py_sync, METH_NOARGS,
     "sync()\n--\n\nWaits for launches. On the CPU they are over when they return."},
    {"kernel", FAST(py_kernel_decorator),
     "kernel(function=None, /, *, fastcache=False, pure=False, graph=False, checkpoints=None)\n--\n\n"
     "Makes a function a kernel."},
    {"func", FAST(py_func_decorator),
     "func(function=None, /, *, is_real_function=False, requires_top_level=False)\n--\n\nMakes a function one "
     "that kernels can call."},
    {"real_func", FAST(py_real_func_decorator),
     "real_func(function=None, /)\n--\n\nAs func, and always called: never expanded in place."},
    {"data_oriented", FAST(py_data_oriented),
     "data_oriented(cls=None, /, *, template_primitives=True)\n--\n\nMarks a class whose methods are kernels "
     "and "
     "funcs."},
    {"pyfunc", FAST(py_pyfunc_decorator),
     "pyfunc(function=None, /)\n--\n\nAs func, and Python can call it too."},
    {"ndarray", FAST(py_ndarray_new),
     "ndarray(dtype, shape, needs_grad=False, layout=None, order=None)\n--\n\nA dense array of zeros."},
    {"field", (PyCFunction)(void (*)(void))py_field_new, METH_VARARGS | METH_KEYWORDS,
     "field(dtype, shape=None, order=None, name=None, offset=None, needs_grad=False, needs_dual=False, "
     "layout=None)\n--\n\n"
     "A dense array of zeros that kernels may use without its being passed."},
    {"_vector_type", (PyCFunction)(void (*)(void))py_types_vector, METH_VARARGS | METH_KEYWORDS,
     "_vector_type(n, dtype, unpacked=False)\n--\n\nThe type of vectors of n elements."},
    {"_matrix_type", (PyCFunction)(void (*)(void))py_types_matrix, METH_VARARGS | METH_KEYWORDS,
     "_matrix_type(n, m, dtype)\n--\n\nThe type of matrices of n rows and m columns."},
    {"_struct_type", (PyCFunction)(void (*)(void))py_types_struct, METH_VARARGS | METH_KEYWORDS,
     "_struct_type(**members)\n--\n\nThe type of structs with these members."},
    {"dataclass", py_dataclass, METH_O,
     "dataclass(cls, /)\n--\n\nMakes a class the type of structs whose members are its annotations and whose "
     "methods "
     "are its functions."},
    {"_tensor_class", tensor_class, METH_O, NULL},
    {"_ndarray_restore", py_ndarray_restore, METH_VARARGS, NULL},
    {"_doctor", py_doctor, METH_NOARGS, NULL},
    {"_cache", py_cache, METH_NOARGS, NULL},
    {"_cache_clear", py_cache_clear, METH_NOARGS, NULL},
    {"_llvm_is_open", llvm_is_open, METH_NOARGS, NULL},
    {"_threads", threads, METH_NOARGS, NULL},
    {"_alloc_fail_after", alloc_fail_after, METH_O, NULL},
    {"_config", config, METH_NOARGS, NULL},
    {0},
};

/* -- making the module -- */

static int add_long_names(PyState *state, PyObject *module) {
    static const struct {
        const char *name;
        PsType type;
    } names[] = {{"uint1", PS_U1},   {"int8", PS_I8},     {"int16", PS_I16},     {"int32", PS_I32},
                 {"int64", PS_I64},  {"uint8", PS_U8},    {"uint16", PS_U16},    {"uint32", PS_U32},
                 {"uint64", PS_U64}, {"float16", PS_F16}, {"bfloat16", PS_BF16}, {"float32", PS_F32},
                 {"float64", PS_F64}};
    for (size_t i = 0; i < PS_COUNT(names); i++)
        if (PyModule_AddObjectRef(module, names[i].name, state->types.dtypes[names[i].type])) return -1;
    return 0;
}

static int add_types(PyState *state, PyObject *module) {
    if (!(state->ndarray_type = py_ndarray_type(module)) || !(state->field_type = py_field_type(module)) ||
        !(state->struct_field_type = py_struct_field_type(module)) ||
        !(state->struct_array_type = py_struct_array_type(module)) ||
        !(state->kernel_type = py_kernel_type(module)) || !(state->view_type = py_view_type(module)) ||
        !(state->buffer_view_type = py_buffer_view_type(module)))
        return -1;
    if (!(state->types.matrix = py_matrix_base_type(module)) ||
        !(state->types.vector = py_matrix_vector_type(module, state->types.matrix)) ||
        !(state->types.matrix_type = py_matrix_type_type(module)) ||
        !(state->types.struct_type = py_struct_type_type(module)) ||
        !(state->types.structure = py_struct_value_type(module)) ||
        PyModule_AddObjectRef(module, "Struct", (PyObject *)state->types.structure) ||
        PyModule_AddObjectRef(module, "Matrix", (PyObject *)state->types.matrix) ||
        PyModule_AddObjectRef(module, "Vector", (PyObject *)state->types.vector))
        return -1;
    state->types.array_type = Py_NewRef((PyObject *)state->ndarray_type);
    state->types.field_type = Py_NewRef((PyObject *)state->field_type);
    state->types.struct_field_type = Py_NewRef((PyObject *)state->struct_field_type);
    state->types.struct_array_type = Py_NewRef((PyObject *)state->struct_array_type);
    state->types.buffer_view = Py_NewRef((PyObject *)state->buffer_view_type);
    state->types.kernel_type = Py_NewRef((PyObject *)state->kernel_type);
    return PyModule_AddObjectRef(module, "BufferView", (PyObject *)state->buffer_view_type) ||
                   PyModule_AddObjectRef(module, "Ndarray", (PyObject *)state->ndarray_type) ||
                   PyModule_AddObjectRef(module, "Field", (PyObject *)state->field_type) ||
                   PyModule_AddObjectRef(module, "StructField", (PyObject *)state->struct_field_type) ||
                   PyModule_AddObjectRef(module, "StructNdarray", (PyObject *)state->struct_array_type) ||
                   PyModule_AddObjectRef(module, "Kernel", (PyObject *)state->kernel_type)
               ? -1
               : 0;
}

static int exec(PyObject *module) {
    PyState *state = py_state(module);
    state->module = module;
    state->options = py_options_default();
    py_watch_begin(state);
    if (ps_driver_open())
        (void)Py_AtExit(ps_driver_close); /* threads may compile until then; at worst exit() waits */
    state->options_word = py_options_word(&state->options);
    py_init_python_mode(state);
    if (py_errors_init(state, module) || ps_front_types_init(&state->types, module) ||
        add_types(state, module) || py_random_init(state) || add_long_names(state, module) ||
        py_init_add_names(module))
        return -1;
    return PyModule_AddStringConstant(module, "__version__", PS_VERSION);
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
    PyState *state = py_state(module);
    PsFrontTypes *types = &state->types;
    Py_VISIT(types->dtype);
    Py_VISIT(types->ndarray_annotation);
    Py_VISIT(types->template_annotation);
    Py_VISIT(types->ref_annotation);
    Py_VISIT(types->func);
    Py_VISIT(types->builtin);
    Py_VISIT(types->ndrange);
    Py_VISIT(types->proxy);
    Py_VISIT(types->matrix);
    Py_VISIT(types->vector);
    Py_VISIT(types->matrix_type);
    Py_VISIT(types->struct_type);
    Py_VISIT(types->structure);
    Py_VISIT(types->kernel_type);
    Py_VISIT(types->array_type);
    Py_VISIT(types->field_type);
    Py_VISIT(types->struct_field_type);
    Py_VISIT(state->struct_field_type);
    Py_VISIT(types->struct_array_type);
    Py_VISIT(state->struct_array_type);
    Py_VISIT(types->random_words);
    Py_VISIT(types->tensor_class);
    for (int t = 0; t < PS_SCALAR_END; t++) Py_VISIT(types->dtypes[t]);
    for (size_t i = 0; i < PS_COUNT(types->errors); i++) Py_VISIT(types->errors[i]);
    Py_VISIT(state->pestle_error);
    Py_VISIT(state->kernel_type);
    Py_VISIT(state->ndarray_type);
    Py_VISIT(state->field_type);
    Py_VISIT(state->view_type);
    Py_VISIT(state->buffer_view_type);
    Py_VISIT(types->buffer_view);
    PyObject *const of_mode[] = {
        (PyObject *)state->mode.number,   (PyObject *)state->mode.array, (PyObject *)state->mode.domain,
        (PyObject *)state->mode.iterator, state->mode.rewrite,           state->mode.kept};
    for (size_t i = 0; i < PS_COUNT(of_mode); i++) Py_VISIT(of_mode[i]);
    Py_VISIT(state->numpy.type);
    return dlpack_traverse(&state->dlpack, visit, arg);
}

static int clear(PyObject *module) {
    PyState *state = py_state(module);
    PsFrontTypes *types = &state->types;
    Py_CLEAR(types->dtype);
    Py_CLEAR(types->ndarray_annotation);
    Py_CLEAR(types->template_annotation);
    Py_CLEAR(types->ref_annotation);
    Py_CLEAR(types->func);
    Py_CLEAR(types->builtin);
    Py_CLEAR(types->ndrange);
    Py_CLEAR(types->proxy);
    Py_CLEAR(types->matrix);
    Py_CLEAR(types->vector);
    Py_CLEAR(types->matrix_type);
    Py_CLEAR(types->struct_type);
    Py_CLEAR(types->structure);
    Py_CLEAR(types->kernel_type);
    Py_CLEAR(types->array_type);
    Py_CLEAR(types->field_type);
    Py_CLEAR(types->struct_field_type);
    Py_CLEAR(state->struct_field_type);
    Py_CLEAR(types->struct_array_type);
    Py_CLEAR(state->struct_array_type);
    Py_CLEAR(types->random_words);
    Py_CLEAR(types->tensor_class);
    for (int t = 0; t < PS_SCALAR_END; t++) Py_CLEAR(types->dtypes[t]);
    for (size_t i = 0; i < PS_COUNT(types->errors); i++) Py_CLEAR(types->errors[i]);
    Py_CLEAR(state->pestle_error);
    Py_CLEAR(state->kernel_type);
    Py_CLEAR(state->ndarray_type);
    Py_CLEAR(state->field_type);
    Py_CLEAR(state->view_type);
    Py_CLEAR(state->buffer_view_type);
    Py_CLEAR(types->buffer_view);
    Py_CLEAR(state->mode.number);
    Py_CLEAR(state->mode.array);
    Py_CLEAR(state->mode.domain);
    Py_CLEAR(state->mode.iterator);
    Py_CLEAR(state->mode.rewrite);
    Py_CLEAR(state->mode.kept);
    numpy_forget(&state->numpy);
    dlpack_forget(&state->dlpack);
    return 0;
}

static void release(void *module) {
    py_watch_end(py_state(module));
    clear(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, exec},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0},
};
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pestle._pestle",
    .m_doc = "The compiler and its launch path. Import pestle instead.",
    .m_size = sizeof(PyState),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__pestle(void);
PyMODINIT_FUNC PyInit__pestle(void) { return PyModuleDef_Init(&definition); }
