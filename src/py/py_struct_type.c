/* SPDX-License-Identifier: Apache-2.0
 *
 * py_struct_type: types of structs as programs declare them: types.struct(a=f32, b=vec3) and @dataclass. What a type does
 * when it is called is in py_struct.c.
 */
#include "py/py_matrix.h"

static bool is_annotation(const PyState *state, PyObject *object) {
    return Py_IS_TYPE(object, state->types.struct_type) || Py_IS_TYPE(object, state->types.matrix_type) ||
           ps_front_dtype(&state->types, &state->options, object);
}

static bool is_unpacked(const PyState *state, PyObject *type) {
    return Py_IS_TYPE(type, state->types.matrix_type) && ((PsMatrixTypeObject *)type)->unpacked;
}

/* r: types.vector(4, f32, unpacked=True) is a vector; the names _r0 .. _r3 that the peers give its elements are taken. */
static PyObject *unpack(const PyState *state, PyObject *members, PyObject *name, PyObject *type) {
    const PsMatrixTypeObject *given = (PsMatrixTypeObject *)type;
    for (int32_t i = 0; i < given->n; i++) {
        PyObject *element = PyUnicode_FromFormat("_%S%d", name, (int)i);
        int taken = element ? PyDict_Contains(members, element) : -1;
        const char *text = taken == 1 ? PyUnicode_AsUTF8(element) : NULL, *of = PyUnicode_AsUTF8(name);
        if (text && of) py_error(state, PS_MSG_PY_UNPACKED_NAME, text, of);
        Py_XDECREF(element);
        if (taken) return NULL;
    }
    return ps_matrix_type_new(&state->types, given->ndim, given->n, given->m, given->dtype);
}

/* Names and types of a dict, with the funcs among them as methods. */
static PyObject *new_type(const PyState *state, PyObject *name, PyObject *dict, PyObject *methods) {
    PyObject *names = PyList_New(0), *kinds = PyList_New(0), *key, *value, *made = NULL;
    for (Py_ssize_t at = 0; names && kinds && PyDict_Next(dict, &at, &key, &value);) {
        value = ps_front_annotation(&state->types, value);
        if (!is_annotation(state, value)) {
            PyErr_Format(
                PyExc_TypeError,
                "member '%S' of a struct needs a type: a dtype, types.vector, types.matrix or types.struct, "
                "found %R",
                key, value);
            goto done;
        }
        PyObject *kind = is_unpacked(state, value) ? unpack(state, dict, key, value) : Py_NewRef(value);
        int failed = !kind || PyList_Append(names, key) || PyList_Append(kinds, kind);
        Py_XDECREF(kind);
        if (failed) goto done;
    }
    if (!names || !kinds) goto done;
    if (!PyList_GET_SIZE(names) && !methods) {
        PyErr_SetString(PyExc_TypeError, "a struct needs at least one member");
        goto done;
    }
    PyObject *members = PyList_AsTuple(names), *types = members ? PyList_AsTuple(kinds) : NULL;
    if (types) made = ps_struct_type_new(&state->types, name, members, types, methods);
    Py_XDECREF(members);
    Py_XDECREF(types);
done:
    Py_XDECREF(names);
    Py_XDECREF(kinds);
    return made;
}

PyObject *py_types_struct(PyObject *module, PyObject *args, PyObject *names) {
    if (PyTuple_GET_SIZE(args) || !names)
        return PyErr_Format(PyExc_TypeError, "types.struct() takes members by name: types.struct(a=ti.f32)");
    PyObject *methods = PyDict_GetItemString(names, "__struct_methods"); /* as the peers pass them */
    PyObject *members = PyDict_Copy(names), *made = NULL;
    if (members && methods && PyDict_DelItemString(members, "__struct_methods")) Py_CLEAR(members);
    if (members) made = new_type(py_state(module), NULL, members, methods);
    Py_XDECREF(members);
    return made;
}

/* @dataclass: the annotations are the members, the functions the methods. */
PyObject *py_dataclass(PyObject *module, PyObject *class) {
    const PyState *state = py_state(module);
    if (!PyType_Check(class))
        return PyErr_Format(PyExc_TypeError, "@dataclass expects a class, found %R", class);
    PyObject *annotations = PyObject_GetAttrString(class, "__annotations__"), *methods = PyDict_New();
    PyObject *attributes = PyObject_GetAttrString(class, "__dict__"), *items = NULL, *made = NULL, *name = NULL;
    if (!annotations) {
        PyErr_Clear();
        annotations = PyDict_New();
    }
    if (attributes) items = PyMapping_Items(attributes);
    for (Py_ssize_t i = 0; annotations && methods && items && i < PyList_GET_SIZE(items); i++) {
        PyObject *pair = PyList_GET_ITEM(items, i), *key = PyTuple_GET_ITEM(pair, 0),
                 *value = PyTuple_GET_ITEM(pair, 1);
        if (PyDict_Contains(annotations, key) == 1) {
            const char *text = PyUnicode_AsUTF8(key);
            if (text) py_error(state, PS_MSG_PY_DATACLASS_DEFAULT, text);
            goto done;
        }
        PyObject *func = NULL;
        if (PyFunction_Check(value))
            func = ps_front_func_new(state->types.func, value, PS_FUNC_PYFUNC);
        else if (Py_IS_TYPE(value, state->types.func))
            func = Py_NewRef(value);
        else
            continue;
        int failed = !func || PyDict_SetItem(methods, key, func);
        Py_XDECREF(func);
        if (failed) goto done;
    }
    if (annotations && methods && items && (name = PyObject_GetAttrString(class, "__name__")))
        made = new_type(state, name, annotations, methods);
done:
    Py_XDECREF(name);
    Py_XDECREF(annotations);
    Py_XDECREF(methods);
    Py_XDECREF(attributes);
    Py_XDECREF(items);
    return made;
}
