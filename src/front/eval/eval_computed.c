/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes that code computes: properties, other descriptors, __getattr__ and __getattribute__. No look into a dict
 * tells whether they would still give the same, so each launch asks for them again and compares values. Only what can be
 * compared is a fact: numbers, strings, tuples and vectors by value, other things if they are the same object
 * when asked twice. For the rest the kernel keeps what it got, and a warning says so.
 */
#include "front/eval/build.h"
#include "front/eval/eval_objects.h"

#include <string.h>

/* -- which attributes these are -- */

/* Descriptors that give the same for ever: what they make follows from them alone. */
static bool is_steady(const PsFrontTypes *types, PyObject *found) {
    const PyTypeObject *type = Py_TYPE(found);
    const PyTypeObject *const known[] = {&PyFunction_Type,
                                         &PyClassMethod_Type,
                                         &PyStaticMethod_Type,
                                         &PyMethodDescr_Type,
                                         &PyClassMethodDescr_Type,
                                         &PyWrapperDescr_Type,
                                         types->func,
                                         (PyTypeObject *)types->kernel_type};
    for (size_t i = 0; i < PS_COUNT(known); i++)
        if (type == known[i]) return true;
    return false;
}

static bool has_getattribute(PyObject *object) {
    PyObject *key = PyUnicode_InternFromString("__getattribute__");
    PyObject *found = key ? _PyType_Lookup(Py_TYPE(object), key) : NULL;
    Py_XDECREF(key);
    PyErr_Clear();
    return found && !Py_IS_TYPE(found, &PyWrapperDescr_Type);
}

/* Of a C type: what it computes is no Python code, and rarely something else the next time. */
static bool is_of_c(PyObject *found) {
    return found && (Py_IS_TYPE(found, &PyGetSetDescr_Type) || Py_IS_TYPE(found, &PyMemberDescr_Type));
}

/* -- comparing what they gave -- */

static bool same(const PsFrontTypes *types, PyObject *a, PyObject *b, int depth);

static bool same_items(const PsFrontTypes *types, PyObject *const *a, PyObject *const *b, Py_ssize_t n,
                       int depth) {
    for (Py_ssize_t i = 0; i < n; i++)
        if (!same(types, a[i], b[i], depth + 1)) return false;
    return true;
}

static bool same_bytes(PyObject *a, PyObject *b) {
    PyObject *x = PyObject_CallMethod(a, "tobytes", NULL),
             *y = x ? PyObject_CallMethod(b, "tobytes", NULL) : NULL;
    bool equal = x && y && PyBytes_Check(x) && PyBytes_Check(y) && PyBytes_GET_SIZE(x) == PyBytes_GET_SIZE(y) &&
                 memcmp(PyBytes_AS_STRING(x), PyBytes_AS_STRING(y), (size_t)PyBytes_GET_SIZE(x)) == 0;
    Py_XDECREF(x);
    Py_XDECREF(y);
    PyErr_Clear();
    return equal;
}

static bool is_numpy_scalar(PyObject *object) {
    return ps_is_numpy(object, NULL) && !ps_is_numpy(object, "ndarray") &&
           PyObject_HasAttrString((PyObject *)Py_TYPE(object), "tobytes");
}

static bool same(const PsFrontTypes *types, PyObject *a, PyObject *b, int depth) {
    if (ps_facts_same(a, b)) return true;
    if (Py_TYPE(a) != Py_TYPE(b) || depth > PS_FRONT_MAX_DEPTH) return false;
    if (PyTuple_CheckExact(a))
        return PyTuple_GET_SIZE(a) == PyTuple_GET_SIZE(b) &&
               same_items(types, PySequence_Fast_ITEMS(a), PySequence_Fast_ITEMS(b), PyTuple_GET_SIZE(a),
                          depth);
    if (PyMethod_Check(a))
        return PyMethod_GET_SELF(a) == PyMethod_GET_SELF(b) &&
               PyMethod_GET_FUNCTION(a) == PyMethod_GET_FUNCTION(b);
    if (ps_is_matrix(types, a)) return ps_same_matrix((const PsMatrixObject *)a, (const PsMatrixObject *)b);
    return is_numpy_scalar(a) && same_bytes(a, b);
}

/* -- at compile time -- */

static PsStatus warn_frozen(PsFront *front, PyObject *object, PyObject *name) {
    PsValue holder = ps_value_python(object);
    const char *key = PyUnicode_AsUTF8(name);
    if (!key) return PS_PYERR;
    const char *text =
        ps_arena_format(front->arena,
                        "attribute '%s' of %s is computed by Python code and another object each "
                        "time; the kernel keeps the first. Pass it as an argument",
                        key, ps_value_describe(front, &holder));
    return text ? ps_front_warn(front, text) : PS_NOMEM;
}

/* A fact if asking once more gives the same; then it will do so at a launch where nothing changed. */
PsStatus eval_note_computed(PsFront *front, PyObject *object, PyObject *name, PyObject *found,
                            PyObject *value) {
    bool any = has_getattribute(object);
    if (!any && (value == found || (found && is_steady(front->types, found)))) return PS_OK;
    bool number =
        PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value) || value == Py_None;
    PyObject *again = number ? Py_NewRef(value) : PyObject_GetAttr(object, name);
    if (!again) return ps_front_python_failed(front);
    bool equal = same(front->types, value, again, 0);
    Py_DECREF(again);
    if (equal) return ps_facts_add(front->facts, PS_FACT_COMPUTED, object, name, value) ? PS_OK : PS_NOMEM;
    return PyCallable_Check(value) || (!any && is_of_c(found)) ? PS_OK : warn_frozen(front, object, name);
}

/* -- at a launch -- */

/* What a new build will run into again, and say with its line, is no news. */
static void drop_error(void) {
    if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_RecursionError) ||
        PyErr_ExceptionMatches(PyExc_MemoryError))
        return;
    PyErr_Clear();
}

bool ps_facts_replay(const PsFacts *facts, const PsFrontTypes *types) {
    bool holds = true;
    if (Py_EnterRecursiveCall(" while asking for what a kernel reads")) return false;
    for (uint32_t i = 0; i < facts->len && holds; i++) {
        if (facts->items[i].kind != PS_FACT_COMPUTED) continue;
        PyObject *now = PyObject_GetAttr(facts->items[i].holder, facts->items[i].key);
        holds = now && same(types, now, facts->items[i].found, 0);
        if (!now) drop_error();
        Py_XDECREF(now);
    }
    Py_LeaveRecursiveCall();
    return holds;
}
