/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch of a kernel as plain Python: arguments are decoded and refused as for compiled code, wrapped, and given to
 * the rewritten function; what it returns is converted to the kernel's return type. Funcs are rewritten when first
 * called. When the launch is over its arrays are dead: what Python code kept of them raises.
 */
#include "py/mode_int.h"
#include "py/py_matrix.h"
#include "py/py_view.h"

/* -- rewritten functions -- */

#define KEPT "_python" /* where a kernel or func keeps (code, rewritten function) */

/* Why there is no source, as when compiling. */
static PyObject *refuse_source(const PyState *state, PyObject *function) {
    PyObject *type, *value, *traceback;
    if (!PyErr_ExceptionMatches(PyExc_OSError) && !PyErr_ExceptionMatches(PyExc_TypeError)) return NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *chars = text ? PyUnicode_AsUTF8(text) : NULL;
    PyErr_Clear();
    py_error_at(state, function, NULL, PS_MSG_MODE_SOURCE, chars ? chars : "no source");
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return NULL;
}

void mode_hide(void) {
    PyThreadState *thread = PyThreadState_Get();
#if PY_VERSION_HEX >= 0x030B0000
    PyThreadState_EnterTracing(thread);
#else
    thread->tracing++;
    thread->cframe->use_tracing = 0;
#endif
}

void mode_unhide(void) {
    PyThreadState *thread = PyThreadState_Get();
#if PY_VERSION_HEX >= 0x030B0000
    PyThreadState_LeaveTracing(thread);
#else
    thread->tracing--;
    thread->cframe->use_tracing = thread->c_tracefunc || thread->c_profilefunc;
#endif
}

static PyObject *rewrite(PyState *state, PyObject *function, uint64_t stamp, bool is_kernel) {
    mode_hide();
    PsAstTree *tree = ps_ast_read(function, stamp);
    mode_unhide();
    if (!tree) return refuse_source(state, function);
    PyObject *file = ((PyCodeObject *)PyFunction_GET_CODE(function))->co_filename;
    mode_hide();
    PyObject *made = PyObject_CallFunction(state->mode.rewrite, "OOsIOO", state->module, function, tree->text,
                                           tree->first_line, file, is_kernel ? Py_True : Py_False);
    mode_unhide();
    ps_ast_tree_free(tree);
    return made;
}

static int copy_defaults(PyObject *from, PyObject *to) {
    PyObject *defaults = PyFunction_GET_DEFAULTS(from), *named = PyFunction_GET_KW_DEFAULTS(from);
    if (PyFunction_GET_DEFAULTS(to) != defaults && PyFunction_SetDefaults(to, defaults ? defaults : Py_None))
        return -1;
    return PyFunction_GET_KW_DEFAULTS(to) == named ? 0 : PyFunction_SetKwDefaults(to, named ? named : Py_None);
}

/* Borrowed from the dict. */
static PyObject *rewritten(PyState *state, PyObject *dict, PyObject *function, uint64_t stamp, bool is_kernel) {
    PyObject *code = PyFunction_GET_CODE(function), *kept = dict ? ps_dict_find(dict, KEPT) : NULL;
    if (kept && PyTuple_Check(kept) && PyTuple_GET_ITEM(kept, 0) == code)
        return copy_defaults(function, PyTuple_GET_ITEM(kept, 1)) ? NULL : PyTuple_GET_ITEM(kept, 1);
    if (PyErr_Occurred()) return NULL;
    PyObject *made = dict ? rewrite(state, function, stamp, is_kernel) : NULL;
    kept = made ? PyTuple_Pack(2, code, made) : NULL;
    int failed = !kept || PyDict_SetItemString(dict, KEPT, kept);
    Py_XDECREF(kept);
    Py_XDECREF(made); /* the dict holds it */
    return failed ? NULL : made;
}

/* The value of `return` as the annotation says (NULL, None: as it is); takes it over. */
static PyObject *as_annotated(const PyState *state, PyObject *annotation, PyObject *value) {
    if (!value) return NULL;
    PyObject *made, *parts = NULL;
    if (annotation && !PyTuple_Check(annotation) && !ps_form_known(&state->types, annotation) &&
        PyObject_HasAttrString(annotation, "__args__")) /* tuple[f32, vec3] */
        parts = PyObject_GetAttrString(annotation, "__args__");
    if (parts) annotation = parts;
    if (!annotation || annotation == Py_None)
        made = mode_is_number(state, value) ? mode_typed(state, value) : py_value_copy(state, value);
    else if (PyTuple_Check(annotation) && PyTuple_Check(value) &&
             PyTuple_GET_SIZE(annotation) == PyTuple_GET_SIZE(value)) {
        made = PyTuple_New(PyTuple_GET_SIZE(value));
        for (Py_ssize_t i = 0; made && i < PyTuple_GET_SIZE(value); i++) {
            PyObject *item =
                as_annotated(state, PyTuple_GET_ITEM(annotation, i), Py_NewRef(PyTuple_GET_ITEM(value, i)));
            if (item)
                PyTuple_SET_ITEM(made, i, item);
            else
                Py_CLEAR(made);
        }
    } else
        made = mode_annotate(state, annotation, value);
    Py_XDECREF(parts);
    Py_DECREF(value);
    return made;
}

/* Of a rewritten function, whose annotations are evaluated; borrowed, NULL: none, or an exception. */
static PyObject *annotated_result(PyObject *function) {
    PyObject *annotations = PyObject_GetAttrString(function, "__annotations__");
    PyObject *found = annotations ? ps_dict_find(annotations, "return") : NULL;
    Py_XDECREF(annotations); /* the function's */
    return found;
}

PsType mode_result_type(const PyState *state, PsFuncObject *func) {
    PyObject *function = rewritten((PyState *)state, func->dict, func->function, func->stamp, false);
    PyObject *annotation = function ? annotated_result(function) : NULL;
    return annotation ? ps_front_dtype(&state->types, &state->options, annotation) : PS_KIND_NONE;
}

PyObject *mode_call_func(const PyState *state, PyObject *callee, PyObject *const *args, size_t nargs,
                         PyObject *names) {
    PyObject *self = PyMethod_Check(callee) ? PyMethod_GET_SELF(callee) : NULL;
    PsFuncObject *func = (PsFuncObject *)(self ? PyMethod_GET_FUNCTION(callee) : callee);
    PyObject *function = rewritten((PyState *)state, func->dict, func->function, func->stamp, false);
    if (!function) return NULL;
    PyObject *bound = self ? PyMethod_New(function, self) : Py_NewRef(function);
    PyObject *result = bound ? PyObject_Vectorcall(bound, args, nargs, names) : NULL;
    Py_XDECREF(bound);
    if (!result) return NULL;
    PyObject *annotation = annotated_result(function);
    if (PyErr_Occurred()) Py_CLEAR(result);
    return as_annotated(state, annotation, result);
}

/* -- a launch -- */

typedef struct Launch {
    PyKernel *kernel;
    uint32_t nparams;
    PyObject **args; /* borrowed, or views */
    PyObject *held;  /* what some of them are borrowed from, or NULL */
    PsParam *params;
    PyPlan *plans;
    uint64_t *words;
    PyObject **wrapped; /* owned */
    PyObject *inner;    /* list of what the members of dataclasses became; NULL: none yet */
    bool viewed;
} Launch;

static void launch_free(Launch *l) {
    for (uint32_t i = 0; l->wrapped && i < l->nparams; i++) {
        if (l->wrapped[i] && Py_IS_TYPE(l->wrapped[i], l->kernel->state->mode.array))
            mode_array_end(l->wrapped[i]);
        Py_XDECREF(l->wrapped[i]);
    }
    for (Py_ssize_t i = 0; l->inner && i < PyList_GET_SIZE(l->inner); i++)
        if (Py_IS_TYPE(PyList_GET_ITEM(l->inner, i), l->kernel->state->mode.array))
            mode_array_end(PyList_GET_ITEM(l->inner, i));
    Py_XDECREF(l->inner);
    if (l->plans) py_plans_drop(l->plans, l->nparams);
    if (l->viewed) py_views_drop(l->kernel, l->args);
    Py_XDECREF(l->held);
    PyMem_Free(l->args);
    PyMem_Free(l->params);
    PyMem_Free(l->plans);
    PyMem_Free(l->words);
    PyMem_Free(l->wrapped);
}

static int launch_alloc(Launch *l) {
    size_t n = l->nparams + 1;
    l->args = PyMem_Calloc(n, sizeof *l->args);
    l->params = PyMem_Calloc(n, sizeof *l->params);
    l->plans = PyMem_Calloc(n, sizeof *l->plans);
    l->wrapped = PyMem_Calloc(n, sizeof *l->wrapped);
    if (l->args && l->params && l->plans && l->wrapped) return 0;
    PyErr_NoMemory();
    return -1;
}

/* Arrays are decoded without asking whether they can be written: that is asked when it happens. */
static int launch_decode(Launch *l, PyObject *const *given, Py_ssize_t nargs, PyObject *names) {
    uint32_t nwords;
    int64_t elements;
    if (py_kernel_bind(l->kernel, given, nargs, names, l->args, &l->held) || py_views_take(l->kernel, l->args))
        return -1;
    l->viewed = true;
    if (py_describe(l->kernel, l->args, l->params)) return -1;
    py_plans_make(l->kernel->state, l->params, l->nparams, NULL, l->plans, &nwords);
    l->words = PyMem_Calloc(nwords + 1, sizeof *l->words);
    if (!l->words) return PyErr_NoMemory(), -1;
    int fit = py_decode(l->kernel, l->plans, l->nparams, l->args, l->words, &elements);
    if (fit == 0) py_error(l->kernel->state, PS_MSG_PY_MISMATCH, "Python mode");
    return fit == 1 ? 0 : -1;
}

bool mode_is_readonly(PyState *state, PyObject *arg) {
    if (Py_IS_TYPE(arg, state->view_type)) return ((PyView *)arg)->readonly;
    return numpy_check(&state->numpy, arg) && !(((NumpyArray *)arg)->flags & NUMPY_WRITEABLE);
}

static PyObject *wrap(Launch *l, uint32_t i) {
    PyState *state = l->kernel->state;
    const PyPlan *plan = &l->plans[i];
    const uint64_t *words = l->words + plan->word;
    if (plan->how == PY_HOW_TEMPLATE || plan->how == PY_HOW_LIKE || plan->how == PY_HOW_STRUCTS)
        return Py_NewRef(l->args[i]);
    if (plan->how == PY_HOW_VALUE) return py_form_encode(state, plan->form, words);
    if (plan->how == PY_HOW_OBJECT) {
        if (!l->inner && !(l->inner = PyList_New(0))) return NULL;
        return mode_object(l->kernel, l->args[i], l->kernel->signature.params[i].name, l->inner);
    }
    if (plan->how != PY_HOW_ARRAY && plan->how != PY_HOW_FIELD && plan->how != PY_HOW_BUFFER)
        return mode_number(state, plan->dtype, words[0]);
    return mode_array_of_words(state, l->args[i], plan, words);
}

/* Numbers become Python's, vectors and structs the host's own; takes the value over. */
static PyObject *leave(const PyState *state, PyObject *value) {
    PyObject *made = NULL;
    if (mode_is_number(state, value))
        made = scalar_encode(((ModeNumber *)value)->type, ((ModeNumber *)value)->bits);
    else if (PyTuple_Check(value)) {
        made = PyTuple_New(PyTuple_GET_SIZE(value));
        for (Py_ssize_t i = 0; made && i < PyTuple_GET_SIZE(value); i++) {
            PyObject *item = leave(state, Py_NewRef(PyTuple_GET_ITEM(value, i)));
            if (item)
                PyTuple_SET_ITEM(made, i, item);
            else
                Py_CLEAR(made);
        }
    } else
        made = py_value_copy(state, value);
    Py_DECREF(value);
    return made;
}

static PyObject *result_of(const PyState *state, const PyKernel *kernel, PyObject *value) {
    PyObject *returns = kernel->signature.returns;
    if (!value || value == Py_None) return value;
    if (!returns || returns == Py_None) {
        Py_DECREF(value);
        return py_error(state, PS_MSG_MODE_RETURN);
    }
    value = as_annotated(state, returns, value);
    return value ? leave(state, value) : NULL;
}

PyObject *py_mode_call(PyKernel *kernel, PyObject *const *given, Py_ssize_t nargs, PyObject *names) {
    PyState *state = kernel->state;
    PyObject *result = NULL;
    if (mode_init(state, kernel->module) || py_kernel_prepare(kernel)) return NULL;
    Launch l = {.kernel = kernel, .nparams = kernel->signature.nparams};
    PyObject *function = rewritten(state, kernel->dict, kernel->function, kernel->stamp, true);
    if (!function || launch_alloc(&l) || launch_decode(&l, given, nargs, names)) goto done;
    for (uint32_t i = 0; i < l.nparams; i++)
        if (!(l.wrapped[i] = wrap(&l, i))) goto done;
    Py_INCREF(function);
    state->mode.depth++;
    PyObject *value = PyObject_Vectorcall(function, l.wrapped, l.nparams, NULL);
    result = result_of(state, kernel, value);
    state->mode.depth--;
    Py_DECREF(function);
done:
    launch_free(&l);
    return result;
}

/* -- the module's functions -- */

#define FAST(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL

static PyMethodDef methods[] = {
    {"_mode_call", (PyCFunction)(void (*)(void))mode_call, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_mode_dry_call", (PyCFunction)(void (*)(void))mode_dry_call, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_mode_loop", FAST(mode_loop), NULL},
    {"_mode_loop_call", (PyCFunction)(void (*)(void))mode_loop_call, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_mode_not", mode_not, METH_O, NULL},
    {"_mode_local", mode_local, METH_O, NULL},
    {"_mode_assign", FAST(mode_assign), NULL},
    {"_mode_annotated", FAST(mode_annotated), NULL},
    {"_mode_unpack", FAST(mode_unpack), NULL},
    {"_mode_enter", FAST(mode_enter), NULL},
    {"_mode_choose", FAST(mode_choose), NULL},
    {"_mode_round", mode_round, METH_O, NULL},
    {"_mode_decides", FAST(mode_decides), NULL},
    {"_mode_join", FAST(mode_join), NULL},
    {0},
};

int mode_add_functions(PyObject *module) { return PyModule_AddFunctions(module, methods); }
