/* SPDX-License-Identifier: Apache-2.0
 *
 * format() of what is known while compiling, as kernels have it: Python's, and what printf has for integers beyond that
 * (base_spec.c); with init(formats="c") a float's digits are those behind the point where the type is left out.
 */
#include "front/eval/build.h"

#include "front/eval/eval_objects.h"

PyObject *ps_number_spec(const PsFrontOptions *options, PyObject *spec, bool is_float) {
    PsSpec parsed;
    Py_ssize_t len;
    const char *text = PyUnicode_AsUTF8AndSize(spec, &len);
    if (!text) return NULL;
    bool add = is_float && options->c_formats && ps_spec_parse(text, (size_t)len, &parsed) &&
               parsed.precision >= 0 && !parsed.type;
    return add ? PyUnicode_FromFormat("%Uf", spec) : Py_NewRef(spec);
}

/* NULL, without an exception of its own: it is none of printf's. */
static PyObject *format_integer(PyObject *number, PyObject *spec) {
    PsSpec parsed;
    PsBuf text = {0};
    Py_ssize_t len;
    int64_t value;
    PyObject *made = NULL;
    const char *chars = PyUnicode_AsUTF8AndSize(spec, &len);
    if (!chars || !ps_number_int(number, &value) || !ps_spec_parse(chars, (size_t)len, &parsed)) return NULL;
    char letter = value < 0 ? PS_FORMAT_I64 : PS_FORMAT_U64;
    if (!ps_spec_fits(&parsed, letter)) return NULL;
    ps_format_spec(&text, &parsed, letter, (uint64_t)value);
    if (!text.failed) made = PyUnicode_DecodeUTF8(text.data, (Py_ssize_t)text.len, "replace");
    ps_buf_free(&text);
    return made;
}

PyObject *ps_number_format(const PsFrontOptions *options, PyObject *object, PyObject *given) {
    PyObject *type, *value, *traceback, *spec = NULL;
    if (given && !(spec = ps_number_spec(options, given, PyFloat_Check(object)))) return NULL;
    PyObject *made = PyObject_Format(object, spec);
    if (!made && spec && PyLong_Check(object) && PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Fetch(&type, &value, &traceback);
        made = format_integer(object, spec);
        if (!made) {
            PyErr_Restore(type, value, traceback);
        } else {
            Py_XDECREF(type);
            Py_XDECREF(value);
            Py_XDECREF(traceback);
        }
    }
    Py_XDECREF(spec);
    return made;
}
