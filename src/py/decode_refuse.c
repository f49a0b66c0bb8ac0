/* SPDX-License-Identifier: Apache-2.0
 *
 * See decode_refuse.h. Every message names the argument and, where there is a way, says what to pass instead.
 */
#include "py/decode_refuse.h"

#include "py/py_view.h"

#define TEXT(place) scalar_place_text(place, (char[200]){0}, 200) /* for the block it stands in */

/* -- what a library says of its own array -- */

/* Kinds of tensors whose memory is not their values: the attribute that says so, and the way out. */
typedef struct Obstacle {
    const char *attribute;
    bool is_method;
    const char *what, *instead;
} Obstacle;
static const Obstacle negated = {"is_neg", true, "lazily negated", "its .resolve_neg()"};
static const Obstacle obstacles[] = {
    {"is_sparse", false, "sparse", "its .to_dense()"},
    {"is_sparse_csr", false, "sparse", "its .to_dense()"},
    {"is_mkldnn", false, "in a layout of oneDNN's", "its .to_dense()"},
    {"is_quantized", false, "quantized", "its .dequantize() or .int_repr()"},
    {"is_nested", false, "nested", "its .to_padded_tensor(...)"},
    {"is_meta", false, "on the device 'meta', which has no memory", "a tensor on the CPU instead"},
};

static bool holds(const Obstacle *obstacle, PyObject *arg) {
    PyObject *found = obstacle->is_method ? PyObject_CallMethod(arg, obstacle->attribute, NULL)
                                          : PyObject_GetAttrString(arg, obstacle->attribute);
    if (!found) PyErr_Clear();
    Py_XDECREF(found);
    return found == Py_True;
}

static int refuse_obstacle(const PyState *state, const ScalarPlace *place, const Obstacle *obstacle) {
    py_error(state, PS_MSG_PY_ARRAY_OBSTACLE, TEXT(place), obstacle->what, obstacle->instead);
    return -1;
}

int refuse_negated(const PyState *state, const ScalarPlace *place, PyObject *arg) {
    PyObject *method = PyObject_GetAttrString((PyObject *)Py_TYPE(arg), negated.attribute);
    if (!method) PyErr_Clear();
    Py_XDECREF(method);
    return method && holds(&negated, arg) ? refuse_obstacle(state, place, &negated) : 0;
}

int refuse_export(const PyState *state, const ScalarPlace *place, PyObject *arg) {
    PyObject *class, *value, *trace;
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return -1; /* KeyboardInterrupt, ... */
    if (PyErr_ExceptionMatches(PyExc_MemoryError)) return -1;
    PyErr_Fetch(&class, &value, &trace);
    PyErr_NormalizeException(&class, &value, &trace);
    for (size_t i = 0; i < PS_COUNT(obstacles); i++) {
        if (!holds(&obstacles[i], arg)) continue;
        refuse_obstacle(state, place, &obstacles[i]);
        goto done;
    }
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *chars = text ? PyUnicode_AsUTF8(text) : NULL;
    char line[300]; /* the first; torch goes on with where in C++ it was */
    if (!chars) PyErr_Clear();
    snprintf(line, sizeof line, "%.*s", chars ? (int)strcspn(chars, "\n") : 0, chars ? chars : "");
    py_error(state, PS_MSG_PY_ARRAY_EXPORT, TEXT(place), Py_TYPE(arg)->tp_name,
             line[0] ? line : "its library gives no reason");
    if (value) py_raise_from(value);
    Py_XDECREF(text);
done:
    Py_XDECREF(class);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return -1;
}

/* -- facts of DLPack and buffers -- */

int refuse_device(const PyState *state, const ScalarPlace *place, DlDevice device) {
    static const char *const names[] = {
        [2] = "CUDA",     [4] = "OpenCL",        [7] = "Vulkan",   [8] = "Metal",
        [10] = "ROCm",    [13] = "managed CUDA", [14] = "oneAPI",  [15] = "WebGPU",
        [16] = "Hexagon", [17] = "MAIA",         [18] = "Trainium"};
    const char *known = device.type >= 0 && device.type < (int)PS_COUNT(names) ? names[device.type] : NULL;
    py_error(state, PS_MSG_PY_ARRAY_DEVICE, TEXT(place), known ? known : "unknown", (int)device.id);
    return -1;
}

int refuse_axes(const PyState *state, const ScalarPlace *place, int ndim) {
    py_error(state, PS_MSG_PY_ARRAY_AXES, TEXT(place), ndim, PS_MAX_AXES);
    return -1;
}

int refuse_format(const PyState *state, const ScalarPlace *place, const char *format) {
    const char *hint = format && (*format == '>' || *format == '!') && format[1] && !format[2]
                           ? " (bytes in the other order; pass a copy in native order)"
                           : "";
    py_error(state, PS_MSG_PY_ARRAY_FORMAT, TEXT(place), format ? format : "", hint);
    return -1;
}

int refuse_dlpack_dtype(const PyState *state, const ScalarPlace *place, PyObject *arg, DlDtype dtype) {
    PyObject *own = PyObject_GetAttrString(arg, "dtype"), *text = own ? PyObject_Str(own) : NULL;
    const char *chars = text ? PyUnicode_AsUTF8(text) : NULL;
    char code[64];
    if (!chars) PyErr_Clear();
    snprintf(code, sizeof code, "number %d of DLPack with %d bits", dtype.code, dtype.bits * dtype.lanes);
    py_error(state, PS_MSG_PY_ARRAY_KIND, TEXT(place), chars ? chars : code,
             dtype.code == DL_COMPLEX ? " (pass its real and imaginary parts)" : "");
    Py_XDECREF(text);
    Py_XDECREF(own);
    return -1;
}

/* -- what fits but cannot be used -- */

/* The first axis that is too long is told; 0: there is none. */
static int refuse_long(const PyState *state, const ScalarPlace *place, int ndim, const int64_t *shape) {
    for (int k = 0; k < ndim; k++) {
        if (shape[k] <= PS_INDEX_LIMIT) continue;
        py_error(state, PS_MSG_PY_ARRAY_LONG, TEXT(place), k, (long long)shape[k], (long long)PS_INDEX_LIMIT);
        return -1;
    }
    return 0;
}

static int refuse_numpy(const PyState *state, const ScalarPlace *place, const NumpyArray *array) {
    _Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "numpy's lengths");
    if (refuse_long(state, place, array->nd, (const int64_t *)array->dimensions)) return -1;
    py_error(state, array->flags & NUMPY_ALIGNED ? PS_MSG_PY_ARRAY_READONLY : PS_MSG_PY_ARRAY_ALIGNED,
             TEXT(place));
    return -1;
}

/* Of an array without axes that are too long; 0: nothing is wrong with its memory. */
static int refuse_memory(const PyState *state, const ScalarPlace *place, const StridedSource *from) {
    static const Obstacle absent = {NULL, false, "without memory of its own", "one that has it"};
    uint64_t words[1 + 2 * PS_MAX_AXES];
    if (refuse_long(state, place, from->ndim, from->shape)) return -1;
    Strided found = strided_words(from, words);
    if (found.total && !from->data) return refuse_obstacle(state, place, &absent);
    if (!found.aligned) py_error(state, PS_MSG_PY_ARRAY_ALIGNED, TEXT(place));
    return found.aligned ? 0 : -1;
}

int refuse_or_read(const PyState *state, const ScalarPlace *place, const DlKnown *known, PyObject *tensor,
                   StridedSource *out, PsType *out_type) {
    DlTensor t;
    if (known->read(tensor, &t)) return refuse_export(state, place, tensor);
    if (!dlpack_on_cpu(t.device)) return refuse_device(state, place, t.device);
    *out_type = dlpack_element(t.dtype);
    if (*out_type == PS_KIND_NONE) return refuse_dlpack_dtype(state, place, tensor, t.dtype);
    if (t.ndim > PS_MAX_AXES) return refuse_axes(state, place, t.ndim);
    int item = ps_scalar_size(*out_type);
    *out = (StridedSource){dlpack_data(&t), t.shape, t.strides, item, t.ndim, item};
    return 0;
}

int refuse_array(PyState *state, const ScalarPlace *place, PyObject *arg) {
    const DlKnown *known = dlpack_known(&state->dlpack, Py_TYPE(arg));
    StridedSource from = {0};
    PsType type = PS_KIND_NONE;
    if (!known && !Py_IS_TYPE(arg, state->view_type))
        return refuse_numpy(state, place, (const NumpyArray *)arg);
    if (!known)
        from = view_source((const PyView *)arg);
    else if (refuse_or_read(state, place, known, arg, &from, &type))
        return -1;
    if (refuse_memory(state, place, &from) || (known && refuse_negated(state, place, arg))) return -1;
    py_error(state, known ? PS_MSG_PY_ARRAY_GRAD : PS_MSG_PY_ARRAY_READONLY, TEXT(place));
    return -1;
}

/* -- arrays that do not fit the annotation -- */

int refuse_rank(const PyState *state, const PyParam *param, const char *name, int edim, int found) {
    const char *const kinds[] = {"", " of vectors", " of matrices"};
    int wanted = param->ndim + edim;
    if (edim && param->ndim < 0)
        py_error(state, PS_MSG_PY_ARRAY_ELEMENTS, name, kinds[edim], edim, edim == 1 ? "is" : "es", found);
    else if (edim)
        py_error(state, PS_MSG_PY_ARRAY_NDIM_OF, name, kinds[edim], param->ndim, param->ndim == 1 ? "is" : "es",
                 wanted, found);
    else
        py_error(state, PS_MSG_PY_ARRAY_NDIM, name, param->ndim, param->ndim == 1 ? "is" : "es", found);
    return -1;
}

int refuse_elements(const PyState *state, const char *name, PsKind dtype, int wanted, int found) {
    const char *const kinds[] = {"", "vectors of ", "matrices of "}, *type = ps_scalar_name(dtype);
    return py_error(state, wanted ? PS_MSG_PY_ARRAY_OTHER_TILES : PS_MSG_PY_ARRAY_OTHERS, name, kinds[wanted],
                    type, kinds[found], type),
           -1;
}
