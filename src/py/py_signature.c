/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel's parameters from its annotations. Read at the first launch, so that annotations may name what is defined
 * later; string annotations (`from __future__ import annotations`) are evaluated in the function's globals and closure.
 */
#include "py/py_int.h"

#include <string.h>

static const char *utf8(PyObject *text) {
    const char *chars = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : NULL;
    if (!chars) PyErr_Clear();
    return chars ? chars : "?";
}

static const char *name_of(PyObject *function) { return utf8(((PyFunctionObject *)function)->func_name); }

void py_signature_free(PySignature *signature) {
    for (uint32_t i = 0; i < signature->nparams; i++) {
        Py_XDECREF(signature->params[i].name);
        Py_XDECREF(signature->params[i].annotation);
    }
    ps_free(signature->params);
    Py_XDECREF(signature->returns);
    *signature = (PySignature){0};
}

/* -- string annotations -- */

/* Names of the closure with what they hold now, over `base` (a mapping, or NULL). */
static PyObject *closure_names(PyObject *function, PyObject *base) {
    PyObject *names = PyDict_New();
    if (!names || (base && PyDict_Update(names, base))) goto fail;
    PyObject *closure = PyFunction_GET_CLOSURE(function);
    PyObject *free_vars = closure ? PyObject_GetAttrString(PyFunction_GET_CODE(function), "co_freevars") : NULL;
    if (closure && !free_vars) goto fail;
    for (Py_ssize_t i = 0; free_vars && i < PyTuple_GET_SIZE(free_vars) && i < PyTuple_GET_SIZE(closure); i++) {
        PyObject *found = PyCell_GET(PyTuple_GET_ITEM(closure, i));
        if (found && PyDict_SetItem(names, PyTuple_GET_ITEM(free_vars, i), found)) {
            Py_DECREF(free_vars);
            goto fail;
        }
    }
    Py_XDECREF(free_vars);
    return names;
fail:
    Py_XDECREF(names);
    return NULL;
}

/* The object itself, or what its text evaluates to; a new reference. */
static PyObject *evaluate(PyObject *annotation, PyObject *function, PyObject *globals, PyObject *locals) {
    if (!PyUnicode_Check(annotation)) return Py_NewRef(annotation);
    const char *text = PyUnicode_AsUTF8(annotation);
    PyObject *code = text ? Py_CompileString(text, "<annotation>", Py_eval_input) : NULL;
    if (!code) return NULL;
    PyObject *result = PyEval_EvalCode(code, globals ? globals : PyFunction_GET_GLOBALS(function), locals);
    Py_DECREF(code);
    return result;
}

static bool any_text(PyObject *annotations) {
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(annotations, &at, &key, &value);)
        if (PyUnicode_Check(value)) return true;
    return false;
}

PyObject *py_signature_early(PyObject *function) {
    if (!(((PyCodeObject *)PyFunction_GET_CODE(function))->co_flags & CO_NESTED)) return NULL;
#if PY_VERSION_HEX >= 0x030E0000
    /* Those that are not text stand in a function of their own, which sees what is around it. */
    if (((PyFunctionObject *)function)->func_annotate) return NULL;
#endif
    PyObject *annotations = PyFunction_GetAnnotations(function);
    if (!annotations || !PyDict_Check(annotations) || !any_text(annotations)) return NULL;
    PyObject *outer = PyEval_GetLocals(), *out = PyDict_New(); /* the decorator's caller */
    PyObject *locals = out ? closure_names(function, outer) : NULL;
    PyObject *items = locals ? PyDict_Items(annotations) : NULL;
    for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items); i++) {
        PyObject *pair = PyList_GET_ITEM(items, i);
        PyObject *value = evaluate(PyTuple_GET_ITEM(pair, 1), function, NULL, locals);
        if (!value) PyErr_Clear(); /* later, then */
        if (PyDict_SetItem(out, PyTuple_GET_ITEM(pair, 0), value ? value : PyTuple_GET_ITEM(pair, 1)))
            PyErr_Clear();
        Py_XDECREF(value);
    }
    Py_XDECREF(items);
    Py_XDECREF(locals);
    if (PyErr_Occurred()) PyErr_Clear();
    return out;
}

PyObject *py_signature_evaluate(const PyState *state, PyObject *annotation, PyObject *function,
                                PyObject *globals, PyObject *name) {
    if (!PyUnicode_Check(annotation)) return Py_NewRef(ps_front_annotation(&state->types, annotation));
    PyObject *locals = closure_names(function, NULL);
    PyObject *value = locals ? evaluate(annotation, function, globals, locals) : NULL;
    Py_XDECREF(locals);
    if (value) {
        PyObject *inner = Py_NewRef(ps_front_annotation(&state->types, value));
        Py_DECREF(value);
        return inner;
    }
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return NULL;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyObject *why = error ? PyObject_Str(error) : NULL;
    if (!why) PyErr_Clear();
    py_error_at(state, function, utf8(name), PS_MSG_PY_ANNOTATION_TEXT, utf8(annotation), name_of(function),
                utf8(why));
    Py_XDECREF(why);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return NULL;
}

/* -- one parameter -- */

static int refuse_annotation(const PyState *state, const PyParam *param, PyObject *function) {
    const char *hint = "";
    PyObject *repr = PyObject_Repr(param->annotation);
    if (!repr) return -1;
    if (PyCFunction_Check(param->annotation) && PyCFunction_GET_SELF(param->annotation) == state->module)
        hint = " (not the function ndarray(), which makes an array)";
    else if (param->annotation == (PyObject *)state->ndarray_type ||
             (PyType_Check(param->annotation) &&
              !strcmp(((PyTypeObject *)param->annotation)->tp_name, "numpy.ndarray")))
        hint = " (an array parameter is annotated with types.ndarray())";
    else if (PyType_Check(param->annotation) &&
             ((PyTypeObject *)param->annotation)->tp_flags & Py_TPFLAGS_HEAPTYPE)
        hint = " (instances of other classes, @data_oriented ones too, are passed as ti.template())";
    py_error_at(state, function, utf8(param->name), PS_MSG_PY_ANNOTATION, utf8(param->name), name_of(function),
                utf8(repr), hint);
    Py_DECREF(repr);
    return -1;
}

static int read_array(const PyState *state, PyParam *param, PyObject *function) {
    param->kind = PS_PARAM_ARRAY;
    param->ndim = -1;
    if (param->view) param->ndim = 1;
    if (!Py_IS_TYPE(param->annotation, state->types.ndarray_annotation)) return 0; /* the bare class */
    PsNdarrayAnnotationObject *annotation = (PsNdarrayAnnotationObject *)param->annotation;
    param->ndim = annotation->ndim;
    param->clamp = annotation->clamp;
    param->view = annotation->view;
    param->needs_grad = annotation->needs_grad == 1;
    if (annotation->dtype &&
        Py_IS_TYPE(ps_front_annotation(&state->types, annotation->dtype), state->types.struct_type))
        return 0;
    PsFrontOptions options = state->options;
    PsElement element;
    if (ps_front_annotated_element(&state->types, &options, param->annotation, &element)) return 0;
    PyObject *repr = PyObject_Repr(annotation->dtype);
    if (repr)
        py_error_at(state, function, utf8(param->name), PS_MSG_PY_ANNOTATION_DTYPE, utf8(param->name),
                    name_of(function), utf8(repr));
    Py_XDECREF(repr);
    return -1;
}

/* The T of `T | None` and Optional[T] for arrays and templates, which may be None; NULL: it is nothing of the kind. */
static PyObject *of_optional(const PsFrontTypes *types, PyObject *annotation) {
    const char *name = Py_TYPE(annotation)->tp_name, *dot = strrchr(name, '.');
    name = dot ? dot + 1 : name;
    if (strcmp(name, "UnionType") && strcmp(name, "_UnionGenericAlias") && strcmp(name, "Union")) return NULL;
    PyObject *args = PyObject_GetAttrString(annotation, "__args__"), *found = NULL;
    if (args && PyTuple_Check(args) && PyTuple_GET_SIZE(args) == 2)
        for (int i = 0; i < 2; i++) {
            PyObject *one = PyTuple_GET_ITEM(args, i), *other = PyTuple_GET_ITEM(args, 1 - i);
            bool known = one == (PyObject *)types->template_annotation ||
                         one == (PyObject *)types->ndarray_annotation || ps_is_tensor_annotation(types, one) ||
                         Py_IS_TYPE(one, types->template_annotation) ||
                         Py_IS_TYPE(one, types->ndarray_annotation);
            if (known && other == (PyObject *)Py_TYPE(Py_None)) found = Py_NewRef(one);
        }
    Py_XDECREF(args);
    if (!args) PyErr_Clear();
    return found;
}

int py_signature_param(const PyState *state, PyParam *param, PyObject *function) {
    const PsFrontTypes *types = &state->types;
    PyObject *inner = of_optional(types, param->annotation);
    if (inner) {
        param->optional = true;
        Py_SETREF(param->annotation, inner);
    }
    PyObject *annotation = param->annotation;
    if (Py_IS_TYPE(annotation, types->template_annotation) ||
        annotation == (PyObject *)types->template_annotation) {
        param->kind = PS_PARAM_TEMPLATE;
        return 0;
    }
    if (Py_IS_TYPE(annotation, types->ndarray_annotation) ||
        annotation == (PyObject *)types->ndarray_annotation)
        return read_array(state, param, function);
    if (annotation == types->buffer_view) {
        param->view = true;
        return read_array(state, param, function);
    }
    if (ps_is_tensor_annotation(types, annotation)) {
        param->tensor = param->optional = true;
        return read_array(state, param, function);
    }
    if (ps_front_is_dataclass(annotation)) {
        param->kind = PS_PARAM_OBJECT;
        return 0;
    }
    PsFrontOptions options = state->options;
    if (ps_form_known(types, annotation)) {
        param->kind = PS_PARAM_VALUE;
        param->dtype = annotation;
        return 0;
    }
    if (ps_front_dtype(types, &options, annotation) == PS_KIND_NONE)
        return refuse_annotation(state, param, function);
    param->kind = PS_PARAM_SCALAR;
    param->dtype = annotation;
    return 0;
}

/* -- the whole -- */

/* Parameters that kernels do not have, and async; yield is refused where it stands. */
static int refuse_unusual(const PyState *state, PyObject *function, PyObject *names) {
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(function);
    Py_ssize_t at = code->co_argcount; /* of the first name that is not a plain parameter */
    const char *what = NULL;
    if (code->co_kwonlyargcount)
        what = "a keyword-only parameter";
    else if (code->co_flags & CO_VARARGS)
        what = "*args";
    else if (code->co_flags & CO_VARKEYWORDS)
        what = "**kwargs";
    if (what) {
        const char *name = at < PyTuple_GET_SIZE(names) ? utf8(PyTuple_GET_ITEM(names, at)) : NULL;
        py_error_at(state, function, name, PS_MSG_PY_PARAMS, name_of(function), what);
        return -1;
    }
    if (code->co_argcount > PS_MAX_ARGUMENTS) {
        py_error_at(state, function, NULL, PS_MSG_FRONT_ARGUMENTS, name_of(function), PS_MAX_ARGUMENTS);
        return -1;
    }
    if (!(code->co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR))) return 0;
    py_error_at(state, function, NULL, PS_MSG_PY_ASYNC, name_of(function));
    return -1;
}

static int read_params(const PyState *state, PyObject *function, PyObject *annotations, PySignature *out) {
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(function);
    PyObject *names = PyObject_GetAttrString((PyObject *)code, "co_varnames");
    out->params = ps_alloc((size_t)(code->co_argcount ? code->co_argcount : 1) * sizeof *out->params);
    if (!names || !out->params) {
        Py_XDECREF(names);
        if (!PyErr_Occurred()) PyErr_NoMemory();
        return -1;
    }
    int status = refuse_unusual(state, function, names);
    for (int i = 0; i < code->co_argcount && !status; i++) {
        PyParam *param = &out->params[out->nparams++];
        param->name = Py_NewRef(PyTuple_GET_ITEM(names, i));
        PyObject *annotation = annotations ? PyDict_GetItemWithError(annotations, param->name) : NULL;
        if (annotation) {
            param->annotation = py_signature_evaluate(state, annotation, function, NULL, param->name);
            status = param->annotation ? py_signature_param(state, param, function) : -1;
        } else if (i == 0 && PyUnicode_CompareWithASCIIString(param->name, "self") == 0) {
            param->kind = PS_PARAM_TEMPLATE;
        } else {
            bool of_class = i == 0 && PyUnicode_CompareWithASCIIString(param->name, "cls") == 0;
            if (!PyErr_Occurred() && of_class)
                py_error_at(state, function, utf8(param->name), PS_MSG_PY_CLASS_METHOD, name_of(function));
            else if (!PyErr_Occurred())
                py_error_at(state, function, utf8(param->name), PS_MSG_PY_UNANNOTATED, utf8(param->name),
                            name_of(function));
            status = -1;
        }
    }
    Py_DECREF(names);
    return status;
}

static int read_return(const PyState *state, PyObject *function, PyObject *annotations, PySignature *out) {
    PyObject *annotation = annotations ? ps_dict_find(annotations, "return") : NULL;
    if (!annotation || annotation == Py_None) return PyErr_Occurred() ? -1 : 0;
    PyObject *name = PyUnicode_FromString("return");
    PyObject *value = name ? py_signature_evaluate(state, annotation, function, NULL, name) : NULL;
    Py_XDECREF(name);
    if (!value) return -1;
    if (value == Py_None) Py_CLEAR(value);
    out->returns = value;
    return 0;
}

int py_signature_read(const PyState *state, PyObject *function, PyObject *annotations, PySignature *out) {
    PyObject *found =
        annotations ? Py_NewRef(annotations) : PyObject_GetAttrString(function, "__annotations__");
    PySignature made = {0};
    if (!found) return -1;
    PyObject *dict = PyDict_Check(found) ? found : NULL;
    int status =
        read_params(state, function, dict, &made) || read_return(state, function, dict, &made) ? -1 : 0;
    Py_DECREF(found);
    if (status)
        py_signature_free(&made);
    else
        *out = made;
    return status;
}
