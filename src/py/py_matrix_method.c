/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods of host vectors and matrices, and the ways to make them: Matrix.zero(), Vector.unit(), ... Lengths and
 * quotients are computed in f64 and held as the elements' type holds them.
 */
#include "py/py_matrix.h"
#include "py/mode_int.h"

#include <math.h>
#include <string.h>

static bool is_float(PsType type) { return ps_scalar_class(type) == PS_CLASS_FLOAT; }

double matrix_double(const PsMatrixObject *m, uint32_t i) {
    uint64_t bits = ps_eval_scalar(PS_OP_CAST, m->elem, PS_F64, &m->words[i]);
    double value;
    memcpy(&value, m->elem == PS_F64 ? &m->words[i] : &bits, sizeof value);
    return value;
}

static const PsMatrixObject *matrix_of(PyObject *object) { return (const PsMatrixObject *)object; }

static PsType real_type(const PsMatrixObject *m) {
    if (is_float(m->elem)) return m->elem;
    return m->weak ? PS_F64 : matrix_state((PyObject *)m)->options.default_fp;
}

static PyObject *real(const PsMatrixObject *m, double value) {
    uint64_t bits;
    PsType type = real_type(m);
    memcpy(&bits, &value, sizeof bits);
    if (type != PS_F64) bits = ps_eval_scalar(PS_OP_CAST, PS_F64, type, &bits);
    return matrix_number(matrix_state((PyObject *)m), type, bits);
}

/* -- sums -- */

static PyObject *fold(PyObject *self, PsOpCode op) {
    const PsMatrixObject *m = matrix_of(self);
    PsType type = m->elem == PS_U1 && op == PS_OP_ADD ? PS_I32 : m->elem;
    uint64_t sum = m->words[0];
    for (uint32_t i = 1; i < matrix_count(m); i++) {
        uint64_t args[2] = {sum, m->words[i]};
        sum = ps_eval_scalar(op, type, type, args);
    }
    return matrix_number(matrix_state(self), type, sum);
}

static PyObject *sum(PyObject *self, PyObject *unused) { return (void)unused, fold(self, PS_OP_ADD); }
static PyObject *max(PyObject *self, PyObject *unused) { return (void)unused, fold(self, PS_OP_MAX); }
static PyObject *min(PyObject *self, PyObject *unused) { return (void)unused, fold(self, PS_OP_MIN); }

static PyObject *any(PyObject *self, PyObject *unused) {
    (void)unused;
    for (uint32_t i = 0; i < matrix_count(matrix_of(self)); i++)
        if (matrix_double(matrix_of(self), i) != 0) return matrix_number(matrix_state(self), PS_U1, 1);
    return matrix_number(matrix_state(self), PS_U1, 0);
}
static PyObject *all(PyObject *self, PyObject *unused) {
    (void)unused;
    for (uint32_t i = 0; i < matrix_count(matrix_of(self)); i++)
        if (matrix_double(matrix_of(self), i) == 0) return matrix_number(matrix_state(self), PS_U1, 0);
    return matrix_number(matrix_state(self), PS_U1, 1);
}

static PyObject *product_sum(PyObject *a, PyObject *b) {
    PyObject *product = matrix_binary(PS_AST_MULT, a, b);
    const PyState *state = matrix_state(a);
    if (product && !ps_is_matrix(&state->types, product)) {
        Py_DECREF(product);
        return PyErr_Format(PyExc_TypeError, "expected a vector or matrix, found %.100s", Py_TYPE(b)->tp_name);
    }
    PyObject *result = product ? fold(product, PS_OP_ADD) : NULL;
    Py_XDECREF(product);
    return result;
}

static PyObject *norm_sqr(PyObject *self, PyObject *unused) { return (void)unused, product_sum(self, self); }

/* *eps: NULL, not given. */
static int read_eps(PyObject *args, PyObject *names, PyObject **eps) {
    static char *known[] = {"eps", NULL};
    *eps = NULL;
    return PyArg_ParseTupleAndKeywords(args, names, "|O", known, eps) ? 0 : -1;
}

static PyObject *plus(PyObject *a, PyObject *eps) {
    PyObject *result = a && eps ? PyNumber_Add(a, eps) : Py_XNewRef(a);
    Py_XDECREF(a);
    return result;
}

static PyObject *root(const PyState *state, PyObject *square) {
    if (!square) return NULL;
    double value = mode_runs(state) ? 0 : PyFloat_AsDouble(square);
    PyObject *result =
        mode_runs(state) ? mode_builtin(state, PS_BUILTIN_SQRT, square) : PyFloat_FromDouble(sqrt(value));
    Py_DECREF(square);
    if (PyErr_Occurred()) Py_CLEAR(result);
    return result;
}

/* In a kernel in the elements' type, as compiled code does it; else in f64. */
static PyObject *squares(PyObject *self) {
    const PsMatrixObject *m = matrix_of(self);
    double total = 0;
    if (mode_runs(matrix_state(self))) return product_sum(self, self);
    for (uint32_t i = 0; i < matrix_count(m); i++) total += matrix_double(m, i) * matrix_double(m, i);
    return PyFloat_FromDouble(total);
}

static PyObject *length(PyObject *self, PyObject *eps) {
    return root(matrix_state(self), plus(squares(self), eps));
}

/* As the elements' type holds it. */
static PyObject *held(PyObject *self, PyObject *number) {
    if (!number || mode_runs(matrix_state(self))) return number;
    PyObject *result = real(matrix_of(self), PyFloat_AS_DOUBLE(number));
    Py_DECREF(number);
    return result;
}

static PyObject *one_by(PyObject *number) {
    PyObject *result = number ? PyNumber_TrueDivide(Py_True, number) : NULL;
    Py_XDECREF(number);
    return result;
}

static PyObject *norm(PyObject *self, PyObject *args, PyObject *names) {
    PyObject *eps;
    return read_eps(args, names, &eps) ? NULL : held(self, length(self, eps));
}
static PyObject *norm_inv(PyObject *self, PyObject *args, PyObject *names) {
    PyObject *eps;
    return read_eps(args, names, &eps) ? NULL : held(self, one_by(length(self, eps)));
}
static PyObject *normalized(PyObject *self, PyObject *args, PyObject *names) {
    PyObject *eps, *result = NULL;
    if (read_eps(args, names, &eps)) return NULL;
    PyObject *by = plus(length(self, NULL), eps);
    if (by && mode_runs(matrix_state(self))) {
        by = one_by(by);
        if (by) result = matrix_binary(PS_AST_MULT, by, self);
    } else if (by)
        result = matrix_binary(PS_AST_DIV, self, by);
    Py_XDECREF(by);
    return result;
}

/* -- products -- */

/* The argument as a matrix of its own reference; NULL with an exception. */
static PyObject *other(PyObject *self, PyObject *object, bool vectors) {
    PyObject *made = (PyObject *)matrix_from(matrix_state(self), object, PS_KIND_NONE);
    if (!made || !vectors || (matrix_of(self)->ndim == 1 && matrix_of(made)->ndim == 1)) return made;
    PyErr_SetString(PyExc_TypeError, "this method works on two vectors");
    Py_DECREF(made);
    return NULL;
}

static PyObject *dot(PyObject *self, PyObject *object) {
    PyObject *b = other(self, object, true), *result = b ? product_sum(self, b) : NULL;
    Py_XDECREF(b);
    return result;
}
static PyObject *frobenius_inner(PyObject *self, PyObject *object) {
    PyObject *b = other(self, object, false), *result = b ? product_sum(self, b) : NULL;
    Py_XDECREF(b);
    return result;
}

static PsMatrixObject *rotated(PyObject *self, int by) {
    const PsMatrixObject *m = matrix_of(self);
    PsMatrixObject *made = matrix_new(matrix_state(self), m->elem, m->weak, 1, m->n, 1);
    for (int32_t i = 0; made && i < m->n; i++) made->words[i] = m->words[(i + by) % m->n];
    return made;
}

/* a x b = (a shifted by one) * (b shifted by two) - (a by two) * (b by one); of two elements the last of these. */
static PyObject *cross(PyObject *self, PyObject *object) {
    PyObject *b = other(self, object, true), *parts[4] = {0}, *products[2] = {0}, *result = NULL;
    int32_t n = matrix_of(self)->n;
    if (b && (n != matrix_of(b)->n || (n != 2 && n != 3)))
        PyErr_SetString(PyExc_TypeError, "cross() works on two vectors of 3 elements or two of 2");
    for (int i = 0; b && !PyErr_Occurred() && i < 4; i++)
        parts[i] = (PyObject *)rotated(i % 2 ? b : self,
                                       n == 2 ? (i == 0 || i == 3 ? 0 : 1) : (i == 0 || i == 3 ? 1 : 2));
    for (int i = 0; parts[3] && i < 2; i++)
        products[i] = matrix_binary(PS_AST_MULT, parts[2 * i], parts[2 * i + 1]);
    for (int i = 0; products[1] && i < 2; i++) /* no expression but this has them */
        if (((PsMatrixObject *)products[i])->product) ((PsMatrixObject *)products[i])->product = 2;
    if (products[0] && products[1]) result = matrix_binary(PS_AST_SUB, products[0], products[1]);
    if (result && n == 2)
        Py_SETREF(result,
                  matrix_number(matrix_state(self), matrix_of(result)->elem, matrix_of(result)->words[0]));
    for (int i = 0; i < 4; i++) Py_XDECREF(parts[i]);
    for (int i = 0; i < 2; i++) Py_XDECREF(products[i]);
    Py_XDECREF(b);
    return result;
}

static PyObject *reshaped(PyObject *self, int32_t n, int32_t m) {
    const PsMatrixObject *from = matrix_of(self);
    PsMatrixObject *made = matrix_new(matrix_state(self), from->elem, from->weak, 2, n, m);
    if (made) memcpy(made->words, from->words, matrix_count(from) * sizeof *from->words);
    return (PyObject *)made;
}

static PyObject *outer_product(PyObject *self, PyObject *object) {
    PyObject *b = other(self, object, true), *result = NULL;
    PyObject *column = b ? reshaped(self, matrix_of(self)->n, 1) : NULL,
             *row = column ? reshaped(b, 1, matrix_of(b)->n) : NULL;
    if (row) result = matrix_matmul(column, row);
    Py_XDECREF(column);
    Py_XDECREF(row);
    Py_XDECREF(b);
    return result;
}

/* -- matrices -- */

static PyObject *transpose(PyObject *self, PyObject *unused) {
    (void)unused;
    const PsMatrixObject *m = matrix_of(self);
    if (m->ndim != 2) return PyErr_Format(PyExc_TypeError, "`transpose()` cannot apply to a vector");
    PsMatrixObject *made = matrix_new(matrix_state(self), m->elem, m->weak, 2, m->m, m->n);
    for (int32_t i = 0; made && i < m->n; i++)
        for (int32_t j = 0; j < m->m; j++) made->words[j * m->n + i] = m->words[i * m->m + j];
    return (PyObject *)made;
}

static int wants_square(const PsMatrixObject *m) {
    if (m->ndim == 2 && m->n == m->m) return 0;
    py_error(matrix_state((PyObject *)m), PS_MSG_FRONT_SQUARE, (long long)m->n, (long long)m->m);
    return -1;
}

static PyObject *trace(PyObject *self, PyObject *unused) {
    (void)unused;
    const PsMatrixObject *m = matrix_of(self);
    if (wants_square(m)) return NULL;
    uint64_t total = m->words[0];
    for (int32_t i = 1; i < m->n; i++) {
        uint64_t args[2] = {total, m->words[i * (m->n + 1)]};
        total = ps_eval_scalar(PS_OP_ADD, m->elem, m->elem, args);
    }
    return matrix_number(matrix_state(self), m->elem, total);
}

/* Gauss and Jordan with partial pivoting, in f64: a becomes the unit matrix and b, when given, the inverse. */
static double eliminate(double *a, double *b, int n) {
    double determinant = 1;
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
        double p = a[pivot * n + k];
        determinant *= pivot == k ? p : -p;
        if (p == 0 && !b) return 0;
        for (int j = 0; j < n; j++) {
            double t = a[k * n + j];
            a[k * n + j] = a[pivot * n + j] / p;
            if (pivot != k) a[pivot * n + j] = t;
            if (!b) continue;
            t = b[k * n + j];
            b[k * n + j] = b[pivot * n + j] / p;
            if (pivot != k) b[pivot * n + j] = t;
        }
        for (int i = 0; i < n; i++) {
            double factor = a[i * n + k];
            if (i == k || factor == 0) continue;
            for (int j = 0; j < n; j++) {
                a[i * n + j] -= factor * a[k * n + j];
                if (b) b[i * n + j] -= factor * b[k * n + j];
            }
        }
    }
    return determinant;
}

static PyObject *solve(PyObject *self, bool inverse) {
    const PsMatrixObject *m = matrix_of(self);
    if (wants_square(m)) return NULL;
    int n = m->n;
    size_t count = (size_t)n * (size_t)n;
    double *a = PyMem_Calloc(2 * count, sizeof *a), *b = inverse && a ? a + count : NULL;
    if (!a) return PyErr_NoMemory();
    for (uint32_t i = 0; i < count; i++) a[i] = matrix_double(m, i);
    for (int i = 0; b && i < n; i++) b[i * (n + 1)] = 1;
    double determinant = eliminate(a, b, n);
    PsMatrixObject *made = inverse ? matrix_new(matrix_state(self), real_type(m), m->weak, 2, n, n) : NULL;
    for (uint32_t i = 0; made && b && i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &b[i], sizeof bits);
        made->words[i] = made->elem == PS_F64 ? bits : ps_eval_scalar(PS_OP_CAST, PS_F64, made->elem, &bits);
    }
    PyMem_Free(a);
    return inverse ? (PyObject *)made : real(m, determinant);
}

/* The func of pestle._linalg that kernels call, in a kernel as plain Python. */
static PyObject *by_func(PyObject *self, const char *name) {
    const PyState *state = matrix_state(self);
    if (wants_square(matrix_of(self))) return NULL;
    PyObject *module = PyImport_ImportModule("pestle._linalg");
    PyObject *func = module ? PyObject_GetAttrString(module, name) : NULL;
    PyObject *value = func ? matrix_cast(matrix_of(self), state, real_type(matrix_of(self)), false) : NULL;
    PyObject *result = value ? mode_call_func(state, func, &value, 1, NULL) : NULL;
    Py_XDECREF(value);
    Py_XDECREF(func);
    Py_XDECREF(module);
    return result;
}

static PyObject *determinant(PyObject *self, PyObject *unused) {
    (void)unused;
    return mode_runs(matrix_state(self)) ? by_func(self, "determinant") : solve(self, false);
}
static PyObject *inverse(PyObject *self, PyObject *unused) {
    (void)unused;
    return mode_runs(matrix_state(self)) ? by_func(self, "inverse") : solve(self, true);
}

/* -- copies -- */

static PyObject *cast(PyObject *self, PyObject *dtype) {
    const PyState *state = matrix_state(self);
    PsType elem = ps_front_dtype(&state->types, &state->options, dtype);
    if (!elem) return PyErr_Format(PyExc_TypeError, "cast() expects a dtype, found %R", dtype);
    return matrix_cast(matrix_of(self), state, elem, false);
}

static PyObject *copy(PyObject *self, PyObject *unused) {
    (void)unused;
    return matrix_cast(matrix_of(self), matrix_state(self), matrix_of(self)->elem, matrix_of(self)->weak);
}

static PyObject *fill(PyObject *self, PyObject *value) {
    PsMatrixObject *m = (PsMatrixObject *)self;
    uint64_t bits;
    if (matrix_bits(value, m->elem, &bits)) return NULL;
    for (uint32_t i = 0; i < matrix_count(m); i++) m->words[i] = bits;
    if (py_matrix_write_home(m)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *to_numpy(PyObject *self, PyObject *args, PyObject *names) {
    static char *known[] = {"dtype", NULL};
    static const char *const dtypes[PS_SCALAR_END] = {
        [PS_U1] = "bool",    [PS_I8] = "int8",     [PS_I16] = "int16",    [PS_I32] = "int32",
        [PS_I64] = "int64",  [PS_U8] = "uint8",    [PS_U16] = "uint16",   [PS_U32] = "uint32",
        [PS_U64] = "uint64", [PS_F16] = "float16", [PS_BF16] = "float32", [PS_F32] = "float32",
        [PS_F64] = "float64"};
    PyObject *dtype = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|O:to_numpy", known, &dtype)) return NULL;
    PyObject *numpy = PyImport_ImportModule("numpy"), *list = py_matrix_to_list(self, NULL), *array = NULL;
    if (numpy && list && dtype == Py_None)
        array = PyObject_CallMethod(numpy, "array", "Os", list, dtypes[matrix_of(self)->elem]);
    else if (numpy && list)
        array = PyObject_CallMethod(numpy, "array", "OO", list, dtype);
    Py_XDECREF(numpy);
    Py_XDECREF(list);
    return array;
}

/* numpy.asarray(m): numpy converts what it gets to the dtype it wants. */
static PyObject *array_protocol(PyObject *self, PyObject *args, PyObject *names) {
    (void)args, (void)names;
    PyObject *none = PyTuple_New(0), *array = none ? to_numpy(self, none, NULL) : NULL;
    Py_XDECREF(none);
    return array;
}

/* f"{v:.2f}": of each element. */
static PyObject *format(PyObject *self, PyObject *spec) {
    const PsMatrixObject *m = matrix_of(self);
    PyObject *parts = PyList_New(0), *comma = PyUnicode_FromString(", "), *text = NULL;
    for (int32_t i = 0; parts && i < m->n; i++) {
        PyObject *item = PySequence_GetItem(self, i), *part = item ? PyObject_Format(item, spec) : NULL;
        if (!part || PyList_Append(parts, part)) Py_CLEAR(parts);
        Py_XDECREF(part);
        Py_XDECREF(item);
    }
    PyObject *joined = parts && comma ? PyUnicode_Join(comma, parts) : NULL;
    if (joined) text = PyUnicode_FromFormat("[%U]", joined);
    Py_XDECREF(joined);
    Py_XDECREF(comma);
    Py_XDECREF(parts);
    return text;
}

static PyObject *get_shape(PyObject *self, PyObject *unused) {
    (void)unused;
    return py_matrix_shape(self, NULL);
}

static PyObject *reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    const PsMatrixObject *m = matrix_of(self);
    PyObject *list = py_matrix_to_list(self, NULL);
    PyObject *dtype = m->weak ? Py_None : matrix_state(self)->types.dtypes[m->elem];
    return list ? Py_BuildValue("O(NO)", (PyObject *)Py_TYPE(self), list, dtype) : NULL;
}

/* -- makers -- */

static int read_dtype(const PyState *state, PyObject *dtype, PsType *out) {
    *out = ps_front_dtype(&state->types, &state->options, dtype);
    if (*out) return 0;
    PyErr_Format(PyExc_TypeError, "expected a dtype such as ti.f32, found %R", dtype);
    return -1;
}

/* zero(dt, n) of a vector, zero(dt, n, m) of a matrix. */
static PyObject *filled(PyObject *class, PyObject *args, int64_t value) {
    const PyState *state = PyType_GetModuleState((PyTypeObject *)class);
    PyObject *dtype;
    int n, m = 0;
    PsType elem;
    uint64_t number = (uint64_t)value;
    if (!PyArg_ParseTuple(args, "Oi|i", &dtype, &n, &m) || read_dtype(state, dtype, &elem)) return NULL;
    bool vector = (PyTypeObject *)class == state->types.vector || !m;
    PsMatrixObject *made = matrix_new(state, elem, false, vector ? 1 : 2, n, m ? m : 1);
    uint64_t bits = ps_eval_scalar(PS_OP_CAST, PS_I64, elem, &number);
    for (uint32_t i = 0; made && i < matrix_count(made); i++) made->words[i] = elem == PS_I64 ? number : bits;
    return (PyObject *)made;
}
static PyObject *zero(PyObject *class, PyObject *args) { return filled(class, args, 0); }
static PyObject *one(PyObject *class, PyObject *args) { return filled(class, args, 1); }

static PyObject *unit(PyObject *class, PyObject *args) {
    const PyState *state = PyType_GetModuleState((PyTypeObject *)class);
    PyObject *dtype = NULL;
    int n, i;
    PsType elem = state->options.default_ip;
    if (!PyArg_ParseTuple(args, "ii|O:unit", &n, &i, &dtype) || (dtype && read_dtype(state, dtype, &elem)))
        return NULL;
    if (i < 0 || i >= n)
        return PyErr_Format(PyExc_ValueError, "unit(): index %d is outside a vector of %d", i, n);
    PsMatrixObject *made = matrix_new(state, elem, false, 1, n, 1);
    uint64_t one = 1;
    if (made) made->words[i] = elem == PS_I64 ? 1 : ps_eval_scalar(PS_OP_CAST, PS_I64, elem, &one);
    return (PyObject *)made;
}

static PyObject *identity(PyObject *class, PyObject *args) {
    const PyState *state = PyType_GetModuleState((PyTypeObject *)class);
    PyObject *dtype;
    int n;
    PsType elem;
    uint64_t one = 1;
    if (!PyArg_ParseTuple(args, "Oi:identity", &dtype, &n) || read_dtype(state, dtype, &elem)) return NULL;
    PsMatrixObject *made = matrix_new(state, elem, false, 2, n, n);
    uint64_t bits = elem == PS_I64 ? 1 : ps_eval_scalar(PS_OP_CAST, PS_I64, elem, &one);
    for (int32_t i = 0; made && i < n; i++) made->words[i * (n + 1)] = bits;
    return (PyObject *)made;
}

static PyObject *diag(PyObject *class, PyObject *args, PyObject *names) {
    static char *known[] = {"dim", "val", NULL};
    const PyState *state = PyType_GetModuleState((PyTypeObject *)class);
    PyObject *value;
    int n;
    if (!PyArg_ParseTupleAndKeywords(args, names, "iO:diag", known, &n, &value)) return NULL;
    ModeOperand operand;
    bool weak = !mode_runs(state) || !mode_read(state, value, &operand);
    PsType elem = !weak ? operand.type : PyBool_Check(value) || PyIndex_Check(value) ? PS_I64 : PS_F64;
    PsMatrixObject *made = matrix_new(state, elem, weak, 2, n, n);
    uint64_t bits;
    if (made && matrix_bits(value, elem, &bits)) Py_CLEAR(made);
    for (int32_t i = 0; made && i < n; i++) made->words[i * (n + 1)] = bits;
    return (PyObject *)made;
}

static PyObject *rows(PyObject *class, PyObject *list) {
    const PyState *state = PyType_GetModuleState((PyTypeObject *)class);
    return (PyObject *)matrix_from(state, list, PS_KIND_NONE);
}

static PyObject *cols(PyObject *class, PyObject *list) {
    PyObject *made = rows(class, list), *result = made ? transpose(made, NULL) : NULL;
    Py_XDECREF(made);
    return result;
}

#define NAMED(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
/* -- arrays of them -- */

static PyObject *field(PyObject *class, PyObject *args, PyObject *names) {
    PyObject *module = PyType_GetModule((PyTypeObject *)class);
    bool vector = (PyTypeObject *)class == py_state(module)->types.vector;
    return vector ? py_field_vector(module, args, names) : py_field_matrix(module, args, names);
}

static PyObject *ndarray(PyObject *class, PyObject *args, PyObject *names) {
    PyObject *module = PyType_GetModule((PyTypeObject *)class);
    bool vector = (PyTypeObject *)class == py_state(module)->types.vector;
    return vector ? py_ndarray_vector(module, args, names) : py_ndarray_matrix(module, args, names);
}

/* Vector.tensor and Matrix.tensor, which pestle._tensor has. */
static PyObject *tensor(PyObject *class, PyObject *args, PyObject *names) {
    PyObject *module = PyType_GetModule((PyTypeObject *)class);
    bool vector = (PyTypeObject *)class == py_state(module)->types.vector;
    PyObject *tensors = PyImport_ImportModule("pestle._tensor");
    PyObject *make =
        tensors ? PyObject_GetAttrString(tensors, vector ? "vector_tensor" : "matrix_tensor") : NULL;
    PyObject *made = make ? PyObject_Call(make, args, names) : NULL;
    Py_XDECREF(make);
    Py_XDECREF(tensors);
    return made;
}

PyMethodDef matrix_methods[] = {
    {"_apply_builtin", (PyCFunction)(void (*)(void))matrix_apply_builtin, METH_FASTCALL | METH_STATIC, NULL},
    {"_elementwise", (PyCFunction)(void (*)(void))matrix_elementwise, METH_FASTCALL, NULL},
    {"__format__", matrix_format, METH_O,
     "__format__($self, spec, /)\n--\n\nEach element by the specification."},
    {"sum", sum, METH_NOARGS, "sum($self, /)\n--\n\nThe sum of all elements."},
    {"max", max, METH_NOARGS, "max($self, /)\n--\n\nThe largest element."},
    {"min", min, METH_NOARGS, "min($self, /)\n--\n\nThe smallest element."},
    {"any", any, METH_NOARGS, "any($self, /)\n--\n\nWhether some element is not 0."},
    {"all", all, METH_NOARGS, "all($self, /)\n--\n\nWhether no element is 0."},
    {"norm_sqr", norm_sqr, METH_NOARGS, "norm_sqr($self, /)\n--\n\nThe sum of the squares of all elements."},
    {"norm", NAMED(norm), "norm($self, eps=0)\n--\n\nsqrt(norm_sqr() + eps)."},
    {"norm_inv", NAMED(norm_inv), "norm_inv($self, eps=0)\n--\n\n1 / norm(eps)."},
    {"normalized", NAMED(normalized), "normalized($self, eps=0)\n--\n\nThe elements divided by norm() + eps."},
    {"dot", dot, METH_O, "dot($self, other, /)\n--\n\nThe inner product of two vectors."},
    {"frobenius_inner", frobenius_inner, METH_O,
     "frobenius_inner($self, other, /)\n--\n\nThe sum of products of elements."},
    {"cross", cross, METH_O,
     "cross($self, other, /)\n--\n\nThe cross product of two vectors of 3, or of 2: then a number."},
    {"outer_product", outer_product, METH_O,
     "outer_product($self, other, /)\n--\n\nThe matrix of all products."},
    {"transpose", transpose, METH_NOARGS, "transpose($self, /)\n--\n\nRows become columns."},
    {"trace", trace, METH_NOARGS, "trace($self, /)\n--\n\nThe sum of the diagonal of a square matrix."},
    {"determinant", determinant, METH_NOARGS, "determinant($self, /)\n--\n\nOf a square matrix."},
    {"inverse", inverse, METH_NOARGS, "inverse($self, /)\n--\n\nOf a square matrix."},
    {"cast", cast, METH_O, "cast($self, dtype, /)\n--\n\nA copy with elements of the type."},
    {"copy", copy, METH_NOARGS, "copy($self, /)\n--\n\nA copy."},
    {"fill", fill, METH_O, "fill($self, value, /)\n--\n\nSets all elements."},
    {"to_list", py_matrix_to_list, METH_NOARGS,
     "to_list($self, /)\n--\n\nThe elements as a list, of a matrix of lists."},
    {"to_numpy", NAMED(to_numpy), "to_numpy($self, dtype=None)\n--\n\nThe elements as a numpy array."},
    {"__array__", NAMED(array_protocol), NULL},
    {"get_shape", get_shape, METH_NOARGS, "get_shape($self, /)\n--\n\nThe lengths of the axes."},
    {"__format__", format, METH_O, NULL},
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {"__copy__", copy, METH_NOARGS, NULL},
    {"__deepcopy__", copy, METH_O, NULL},
    {"zero", zero, METH_VARARGS | METH_CLASS,
     "zero($type, dt, n, m=..., /)\n--\n\nZeros; of a vector zero(dt, n)."},
    {"one", one, METH_VARARGS | METH_CLASS, "one($type, dt, n, m=..., /)\n--\n\nOnes; of a vector one(dt, n)."},
    {"unit", unit, METH_VARARGS | METH_CLASS,
     "unit($type, n, i, dt=None, /)\n--\n\nA vector of zeros with a 1 at i."},
    {"identity", identity, METH_VARARGS | METH_CLASS, "identity($type, dt, n, /)\n--\n\nThe unit matrix."},
    {"diag", NAMED(diag) | METH_CLASS,
     "diag($type, dim, val)\n--\n\nA square matrix with val on its diagonal."},
    {"field", NAMED(field) | METH_CLASS,
     "field($type, n, *args, **kwargs)\n--\n\nA field of vectors (n, dtype, shape) or matrices (n, m, dtype, "
     "shape); see "
     "pestle.field."},
    {"ndarray", NAMED(ndarray) | METH_CLASS,
     "ndarray($type, n, *args, **kwargs)\n--\n\nAn Ndarray of vectors (n, dtype, shape) or matrices (n, m, "
     "dtype, "
     "shape)."},
    {"tensor", NAMED(tensor) | METH_CLASS,
     "tensor($type, n, *args, **kwargs)\n--\n\nA tensor of vectors (n, dtype, shape) or matrices (n, m, "
     "dtype, shape); see pestle.tensor."},
    {"rows", rows, METH_O | METH_CLASS, "rows($type, rows, /)\n--\n\nA matrix from its rows."},
    {"cols", cols, METH_O | METH_CLASS, "cols($type, columns, /)\n--\n\nA matrix from its columns."},
    {0},
};
