/* SPDX-License-Identifier: Apache-2.0
 *
 * pestle.Vector and pestle.Matrix on the host: what kernels give and take. Small values with their elements inside.
 * Made of Python numbers without dt= their elements stay Python numbers; with a dtype each is held as that type does.
 */
#include "py/py_matrix.h"
#include "py/mode_int.h"

#include <stddef.h>
#include <string.h>

PyState *matrix_state(PyObject *self) { return PyType_GetModuleState(Py_TYPE(self)); }

/* -- making -- */

PsMatrixObject *matrix_alloc(const PyState *state, PsType elem, int ndim, int32_t n, int32_t m, size_t words) {
    PyTypeObject *type = ndim == 1 ? state->types.vector : state->types.matrix;
    PsMatrixObject *self = (PsMatrixObject *)type->tp_alloc(type, (Py_ssize_t)words);
    if (!self) return NULL;
    self->elem = elem;
    self->ndim = ndim;
    self->n = n;
    self->m = m;
    return self;
}

PsMatrixObject *matrix_new(const PyState *state, PsType elem, bool weak, int ndim, int32_t n, int32_t m) {
    if ((int64_t)n * m > PS_MAX_TILE || n < 1 || m < 1) {
        PyErr_Format(PyExc_ValueError, "a vector or matrix has 1 to %lld elements, found a shape of %d by %d",
                     (long long)PS_MAX_TILE, (int)n, (int)m);
        return NULL;
    }
    PsMatrixObject *self = matrix_alloc(state, elem, ndim, n, m, (size_t)n * (size_t)m);
    if (self) self->weak = weak;
    return self;
}

int matrix_bits(PyObject *number, PsType type, uint64_t *out) {
    if (!mode_number_check(number)) return ps_number_bits(number, type, out);
    ModeOperand operand;
    const PyState *state = PyType_GetModuleState(Py_TYPE(number));
    return mode_read(state, number, &operand) ? mode_cast(state, &operand, type, out) : -1;
}

PyObject *matrix_element(const PsMatrixObject *m, uint32_t i) {
    const PyState *state = matrix_state((PyObject *)m);
    return mode_runs(state) ? mode_element(state, m, i) : ps_matrix_element(m, i);
}

PyObject *matrix_number(const PyState *state, PsType type, uint64_t bits) {
    return mode_runs(state) ? mode_number(state, type, bits) : ps_number_object(type, bits);
}

/* U1, I64 or F64: what holds all of these numbers. */
static int plain_type(PyObject *const *items, Py_ssize_t n, PsType *out) {
    bool bools = true;
    *out = PS_I64;
    for (Py_ssize_t i = 0; i < n; i++) {
        const char *name = Py_TYPE(items[i])->tp_name;
        bool boolean = PyBool_Check(items[i]) || !strcmp(name, "numpy.bool") || !strcmp(name, "numpy.bool_");
        bools &= boolean;
        if (!boolean && !PyIndex_Check(items[i])) *out = PS_F64;
    }
    if (bools) *out = PS_U1;
    return 0;
}

/* Of numbers in a kernel that runs as plain Python. */
static int joined_type(const PyState *state, PyObject *const *items, Py_ssize_t n, PsType *out) {
    ModeOperand operand;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!mode_read(state, items[i], &operand)) return mode_not_a_number(state, "a vector", items[i]), -1;
        *out = *out ? mode_promote_keep(*out, operand.type) : operand.type;
    }
    return 0;
}

static int fill_words(PsMatrixObject *self, PyObject *const *items) {
    for (uint32_t i = 0; i < matrix_count(self); i++)
        if (matrix_bits(items[i], self->elem, &self->words[i])) return -1;
    return 0;
}

static PsMatrixObject *from_items(const PyState *state, PyObject *const *items, int ndim, int32_t n, int32_t m,
                                  PsType elem) {
    bool weak = elem == PS_KIND_NONE && !mode_runs(state);
    Py_ssize_t count = (Py_ssize_t)n * m;
    if (!elem && (weak ? plain_type(items, count, &elem) : joined_type(state, items, count, &elem)))
        return NULL;
    PsMatrixObject *self = matrix_new(state, elem, weak, ndim, n, m);
    if (self && fill_words(self, items)) Py_CLEAR(self);
    return self;
}

/* One row as a tuple: a sequence, a vector, a numpy array. */
static PyObject *row_of(PyObject *object) {
    if (PyUnicode_Check(object) || !PySequence_Check(object)) return NULL;
    return PySequence_Tuple(object);
}

static bool is_row(PyObject *object) {
    return PySequence_Check(object) && !PyUnicode_Check(object) && PySequence_Size(object) >= 0;
}

static PsMatrixObject *from_rows(const PyState *state, PyObject *rows, PsType elem) {
    Py_ssize_t n = PyTuple_GET_SIZE(rows), m = 0;
    PyObject *all = PyList_New(0);
    PsMatrixObject *made = NULL;
    for (Py_ssize_t i = 0; all && i < n; i++) {
        PyObject *row = row_of(PyTuple_GET_ITEM(rows, i));
        Py_ssize_t length = row ? PyTuple_GET_SIZE(row) : -1;
        if (!row && !PyErr_Occurred())
            PyErr_Format(PyExc_TypeError,
                         "an element of a matrix must be a row, as the first one is, found %.100s",
                         Py_TYPE(PyTuple_GET_ITEM(rows, i))->tp_name);
        if (i == 0) m = length;
        if (row && length != m)
            PyErr_Format(PyExc_ValueError,
                         "all rows of a matrix must have the same length: expected %zd elements, found %zd", m,
                         length);
        else if (row) /* a failure is seen below */
            (void)PyList_SetSlice(all, PyList_GET_SIZE(all), PyList_GET_SIZE(all), row);
        Py_XDECREF(row);
        if (PyErr_Occurred()) Py_CLEAR(all);
    }
    if (all) made = from_items(state, ((PyListObject *)all)->ob_item, 2, (int32_t)n, (int32_t)m, elem);
    Py_XDECREF(all);
    return made;
}

PsMatrixObject *matrix_from(const PyState *state, PyObject *object, PsType elem) {
    if (ps_is_matrix(&state->types, object)) {
        const PsMatrixObject *m = (const PsMatrixObject *)object;
        return (PsMatrixObject *)matrix_cast(m, state, elem ? elem : m->elem, !elem && m->weak);
    }
    PyObject *items = row_of(object);
    if (!items) {
        if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError,
                         "a vector or matrix is made from a list, tuple or array, found %.100s",
                         Py_TYPE(object)->tp_name);
        return NULL;
    }
    PsMatrixObject *made = NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    if (!n || n > PS_MAX_TILE)
        PyErr_Format(PyExc_ValueError, "a vector or matrix has 1 to %lld elements, found %zd",
                     (long long)PS_MAX_TILE, n);
    else if (is_row(PyTuple_GET_ITEM(items, 0)))
        made = from_rows(state, items, elem);
    else if (!PyErr_Occurred() || (PyErr_Clear(), true))
        made = from_items(state, ((PyTupleObject *)items)->ob_item, 1, (int32_t)n, 1, elem);
    Py_DECREF(items);
    return made;
}

static PyObject *Matrix_new(PyTypeObject *type, PyObject *args, PyObject *names) {
    static char *known[] = {"arr", "dt", NULL};
    const PyState *state = PyType_GetModuleState(type);
    PyObject *object, *dt = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O|O:Matrix", known, &object, &dt)) return NULL;
    PsType elem = dt == Py_None ? PS_KIND_NONE : ps_front_dtype(&state->types, &state->options, dt);
    if (dt != Py_None && !elem) return PyErr_Format(PyExc_TypeError, "dt must be a dtype, found %R", dt);
    if (py_refuse_proxy(state, object)) return NULL;
    PsMatrixObject *made = matrix_from(state, object, elem);
    if (made && type == state->types.vector && made->ndim != 1) {
        Py_DECREF(made);
        return PyErr_Format(PyExc_TypeError, "Vector() makes a vector from a list of numbers, found rows");
    }
    return (PyObject *)made;
}

static void Matrix_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((PsMatrixObject *)self)->home);
    type->tp_free(self);
    Py_DECREF(type);
}

bool matrix_check(PyObject *object) { return Py_TYPE(object)->tp_dealloc == Matrix_dealloc; }

/* -- elements -- */

static PyObject *row(const PsMatrixObject *m, Py_ssize_t i) {
    const PyState *state = matrix_state((PyObject *)m);
    PsMatrixObject *made = matrix_new(state, m->elem, m->weak, 1, m->m, 1);
    if (made) memcpy(made->words, m->words + i * m->m, (size_t)m->m * sizeof *m->words);
    if (made) made->truth = m->truth;
    return (PyObject *)made;
}

static Py_ssize_t Matrix_length(PyObject *self) { return ((PsMatrixObject *)self)->n; }

static PyObject *Matrix_item(PyObject *self, Py_ssize_t i) {
    const PsMatrixObject *m = (PsMatrixObject *)self;
    if (i < 0 || i >= m->n)
        return PyErr_Format(PyExc_IndexError, "index %zd is outside axis 0 of %d elements", i, (int)m->n);
    return m->ndim == 1 ? matrix_element(m, (uint32_t)i) : row(m, i);
}

typedef struct Axis {
    Py_ssize_t start, step, count;
    bool is_slice;
} Axis;

static int read_axis(PyObject *self, PyObject *key, int axis, Py_ssize_t length, Axis *out) {
    *out = (Axis){.step = 1, .count = 1};
    if (PySlice_Check(key)) {
        Py_ssize_t stop;
        out->is_slice = true;
        if (PySlice_Unpack(key, &out->start, &stop, &out->step)) return -1;
        out->count = PySlice_AdjustIndices(length, &out->start, &stop, out->step);
        if (out->count) return 0;
        PyErr_SetString(PyExc_IndexError, "this slice of a vector or matrix has no elements");
        return -1;
    }
    if (!PyIndex_Check(key)) {
        PyErr_Format(PyExc_TypeError, "indices of a vector or matrix are integers or slices, found %.100s",
                     Py_TYPE(key)->tp_name);
        return -1;
    }
    Py_ssize_t i = out->start = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred()) return -1;
    const PyState *state = matrix_state(self);
    if (i < 0 && !mode_runs(state)) out->start += length;
    if (out->start >= 0 && out->start < length) return 0;
    if (mode_runs(state)) {
        py_error(state, PS_MSG_PY_FAULT_BOUNDS, (long long)i, (long long)axis, (long long)length);
        return -1;
    }
    PyErr_Format(PyExc_IndexError, "index %zd is outside axis %d of %zd elements", i, axis, length);
    return -1;
}

static int read_key(const PsMatrixObject *m, PyObject *key, Axis axes[2]) {
    PyObject *one[1] = {key}, **keys = one;
    Py_ssize_t n = 1;
    if (PyTuple_Check(key)) keys = ((PyTupleObject *)key)->ob_item, n = PyTuple_GET_SIZE(key);
    axes[1] = (Axis){.step = 1, .count = m->m, .is_slice = m->ndim == 2};
    if (n < 1 || n > m->ndim) {
        PyErr_Format(PyExc_IndexError, "Expected %d indices, got %zd", (int)m->ndim, n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        if (read_axis((PyObject *)m, keys[i], (int)i, i ? m->m : m->n, &axes[i])) return -1;
    return 0;
}

static uint32_t word_at(const PsMatrixObject *m, const Axis *axes, Py_ssize_t i, Py_ssize_t j) {
    return (uint32_t)((axes[0].start + i * axes[0].step) * m->m + axes[1].start + j * axes[1].step);
}

static PyObject *Matrix_subscript(PyObject *self, PyObject *key) {
    const PsMatrixObject *m = (PsMatrixObject *)self;
    Axis axes[2];
    if (read_key(m, key, axes)) return NULL;
    if (!axes[0].is_slice && !axes[1].is_slice) return matrix_element(m, word_at(m, axes, 0, 0));
    int ndim = axes[0].is_slice && axes[1].is_slice ? 2 : 1;
    Py_ssize_t n = axes[0].count, columns = axes[1].count;
    PsMatrixObject *made =
        ndim == 2 ? matrix_new(matrix_state(self), m->elem, m->weak, 2, (int32_t)n, (int32_t)columns)
                  : matrix_new(matrix_state(self), m->elem, m->weak, 1, (int32_t)(n * columns), 1);
    for (Py_ssize_t k = 0; made && k < n * columns; k++)
        made->words[k] = m->words[word_at(m, axes, k / columns, k % columns)];
    return (PyObject *)made;
}

static int Matrix_assign(PyObject *self, PyObject *key, PyObject *value) {
    PsMatrixObject *m = (PsMatrixObject *)self, *from = NULL;
    Axis axes[2];
    uint64_t bits = 0;
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "elements of a vector or matrix cannot be deleted");
        return -1;
    }
    if (read_key(m, key, axes)) return -1;
    Py_ssize_t n = axes[0].count, columns = axes[1].count;
    if (is_row(value)) {
        if (!(from = matrix_from(matrix_state(self), value, m->elem))) return -1;
        if ((Py_ssize_t)matrix_count(from) != n * columns) {
            PyErr_Format(PyExc_ValueError, "expected %zd elements, found %u", n * columns, matrix_count(from));
            Py_DECREF(from);
            return -1;
        }
    } else if (PyErr_Clear(), matrix_bits(value, m->elem, &bits))
        return -1;
    for (Py_ssize_t k = 0; k < n * columns; k++)
        m->words[word_at(m, axes, k / columns, k % columns)] = from ? from->words[k] : bits;
    Py_XDECREF(from);
    return py_matrix_write_home(m);
}

/* -- text, truth -- */

static PyObject *to_list(const PsMatrixObject *m) {
    PyObject *list = PyList_New(m->n);
    for (int32_t i = 0; list && i < m->n; i++) {
        PyObject *item = m->ndim == 1 ? matrix_element(m, (uint32_t)i) : PyList_New(m->m);
        for (int32_t j = 0; item && m->ndim == 2 && j < m->m; j++) {
            PyObject *element = matrix_element(m, (uint32_t)(i * m->m + j));
            if (!element) {
                Py_CLEAR(item);
                break;
            }
            PyList_SET_ITEM(item, j, element);
        }
        if (item)
            PyList_SET_ITEM(list, i, item);
        else
            Py_CLEAR(list);
    }
    return list;
}

PyObject *py_matrix_to_list(PyObject *self, PyObject *unused) {
    (void)unused;
    return to_list((PsMatrixObject *)self);
}

static PyObject *Matrix_str(PyObject *self) {
    PyObject *list = to_list((PsMatrixObject *)self), *text = list ? PyObject_Repr(list) : NULL;
    Py_XDECREF(list);
    return text;
}

/* "[", the elements by the specification, "]"; a matrix row by row. */
PyObject *matrix_format(PyObject *self, PyObject *spec) {
    const PsMatrixObject *m = (PsMatrixObject *)self;
    if (!PyUnicode_Check(spec)) return PyErr_Format(PyExc_TypeError, "__format__ takes a str");
    if (!PyUnicode_GET_LENGTH(spec)) return Matrix_str(self);
    const PsFrontOptions *options = &matrix_state(self)->options;
    uint32_t columns = m->ndim == 1 ? (uint32_t)m->n : (uint32_t)m->m, count = matrix_count(m);
    PyObject *text = PyUnicode_FromString(m->ndim == 1 ? "[" : "[[");
    for (uint32_t i = 0; text && i < count; i++) {
        const char *before = !i ? "" : i % columns ? ", " : "], [";
        PyObject *number = ps_matrix_element(m, i), *made = NULL;
        PyObject *one = number ? ps_number_format(options, number, spec) : NULL;
        if (one) made = PyUnicode_FromFormat("%U%s%U", text, before, one);
        Py_XDECREF(number);
        Py_XDECREF(one);
        Py_SETREF(text, made);
    }
    if (text) Py_SETREF(text, PyUnicode_FromFormat(m->ndim == 1 ? "%U]" : "%U]]", text));
    return text;
}

static PyObject *Matrix_repr(PyObject *self) {
    const PsMatrixObject *m = (PsMatrixObject *)self;
    PyObject *list = to_list(m), *text = NULL;
    const char *name = m->ndim == 1 ? "Vector" : "Matrix";
    if (list && m->weak) text = PyUnicode_FromFormat("%s(%R)", name, list);
    if (list && !m->weak) text = PyUnicode_FromFormat("%s(%R, dt=%s)", name, list, ps_scalar_name(m->elem));
    Py_XDECREF(list);
    return text;
}

/* `if a == b` asks whether they are equal; of other values, as numpy says, nobody knows what is meant. */
static int Matrix_bool(PyObject *self) {
    const PsMatrixObject *m = (PsMatrixObject *)self;
    bool all = true, any = false;
    for (uint32_t i = 0; i < matrix_count(m); i++) {
        all &= m->words[i] != 0;
        any |= m->words[i] != 0;
    }
    if (m->truth) return m->truth == 'a' ? all : any;
    PyErr_SetString(PyExc_TypeError, "a vector or matrix is neither true nor false; use .any() or .all()");
    return -1;
}

/* -- attributes -- */

static int swizzle(const char *name, int *out) {
    static const char *const sets[] = {"xyzw", "rgba", "stpq"};
    size_t n = strlen(name);
    for (size_t s = 0; n && n <= 4 && s < PS_COUNT(sets); s++) {
        size_t k = 0;
        for (const char *at; k < n && (at = strchr(sets[s], name[k])); k++) out[k] = (int)(at - sets[s]);
        if (k == n) return (int)n;
    }
    return 0;
}

/* How many letters; 0: it is no swizzle of this; -1: exception. */
static int find_swizzle(const PsMatrixObject *m, PyObject *name, int *which) {
    const char *text = m->ndim == 1 ? PyUnicode_AsUTF8(name) : NULL;
    int n = text ? swizzle(text, which) : 0;
    for (int i = 0; i < n; i++)
        if (which[i] >= m->n) {
            PyErr_Format(PyExc_AttributeError, "component .%s is outside this vector of %d", text, (int)m->n);
            return -1;
        }
    return n;
}

static PyObject *Matrix_getattro(PyObject *self, PyObject *name) {
    const PsMatrixObject *m = (PsMatrixObject *)self;
    int which[4], n = find_swizzle(m, name, which);
    if (n < 0) return NULL;
    if (!n) return PyObject_GenericGetAttr(self, name);
    if (n == 1) return matrix_element(m, (uint32_t)which[0]);
    PsMatrixObject *made = matrix_new(matrix_state(self), m->elem, m->weak, 1, n, 1);
    for (int i = 0; made && i < n; i++) made->words[i] = m->words[which[i]];
    return (PyObject *)made;
}

static int Matrix_setattro(PyObject *self, PyObject *name, PyObject *value) {
    PsMatrixObject *m = (PsMatrixObject *)self, *from = NULL;
    int which[4], n = find_swizzle(m, name, which);
    uint64_t bits = 0;
    if (n < 0) return -1;
    if (!n || !value) return PyObject_GenericSetAttr(self, name, value);
    if (is_row(value)) {
        if (!(from = matrix_from(matrix_state(self), value, m->elem))) return -1;
        if (matrix_count(from) != (uint32_t)n) {
            PyErr_Format(PyExc_ValueError, "value len does not match the swizzle pattern=%U", name);
            Py_DECREF(from);
            return -1;
        }
    } else if (PyErr_Clear(), matrix_bits(value, m->elem, &bits))
        return -1;
    for (int i = 0; i < n; i++) m->words[which[i]] = from ? from->words[i] : bits;
    Py_XDECREF(from);
    return py_matrix_write_home(m);
}

static PyObject *get_n(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(((PsMatrixObject *)self)->n);
}
static PyObject *get_m(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(((PsMatrixObject *)self)->m);
}
static PyObject *get_ndim(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(((PsMatrixObject *)self)->ndim);
}
PyObject *py_matrix_shape(PyObject *self, void *unused) {
    (void)unused;
    const PsMatrixObject *m = (PsMatrixObject *)self;
    return m->ndim == 1 ? Py_BuildValue("(i)", (int)m->n) : Py_BuildValue("(ii)", (int)m->n, (int)m->m);
}
static PyObject *get_dtype(PyObject *self, void *unused) {
    (void)unused;
    const PsMatrixObject *m = (PsMatrixObject *)self;
    const PyState *state = matrix_state(self);
    PsType elem = m->elem;
    if (m->weak && elem == PS_F64) elem = state->options.default_fp;
    if (m->weak && elem == PS_I64) elem = state->options.default_ip;
    return Py_NewRef(state->types.dtypes[elem]);
}

static PyObject *get_entries(PyObject *self, void *unused) {
    (void)unused;
    return PyObject_CallMethod(self, "to_numpy", NULL);
}

static PyGetSetDef matrix_getset[] = {
    {"n", get_n, NULL, "Rows, or elements of a vector.", NULL},
    {"m", get_m, NULL, "Columns; of a vector 1.", NULL},
    {"ndim", get_ndim, NULL, "Axes: 1 of a vector, 2 of a matrix.", NULL},
    {"shape", py_matrix_shape, NULL, "The lengths of the axes.", NULL},
    {"dtype", get_dtype, NULL, "The type of the elements in a kernel.", NULL},
    {"entries", get_entries, NULL, "The elements as a numpy array: to_numpy().", NULL},
    {0},
};

#define MATRIX_DOC                                                                                             \
    "Matrix(arr, dt=None)\n--\n\nA matrix from rows, or a vector from numbers. With dt its elements are of "   \
    "that "                                                                                                    \
    "type, without they are Python numbers."

static PyType_Slot *all_slots(PyType_Slot *buffer) {
    static const PyType_Slot own[] = {
        {Py_tp_new, Matrix_new},
        {Py_tp_dealloc, Matrix_dealloc},
        {Py_tp_repr, Matrix_repr},
        {Py_tp_str, Matrix_str},
        {Py_tp_getattro, Matrix_getattro},
        {Py_tp_setattro, Matrix_setattro},
        {Py_tp_richcompare, matrix_compare},
        {Py_tp_hash, PyObject_HashNotImplemented},
        {Py_tp_getset, matrix_getset},
        {Py_tp_methods, matrix_methods},
        {Py_tp_doc, (void *)MATRIX_DOC},
        {Py_nb_bool, Matrix_bool},
        {Py_sq_length, Matrix_length},
        {Py_sq_item, Matrix_item},
        {Py_mp_length, Matrix_length},
        {Py_mp_subscript, Matrix_subscript},
        {Py_mp_ass_subscript, Matrix_assign},
    };
    size_t n = 0;
    for (; n < PS_COUNT(own); n++) buffer[n] = own[n];
    for (PyType_Slot *slot = matrix_number_slots; slot->slot; slot++) buffer[n++] = *slot;
    buffer[n] = (PyType_Slot){0};
    return buffer;
}

#define MOST_SLOTS 64

PyTypeObject *py_matrix_base_type(PyObject *module) {
    PyType_Slot slots[MOST_SLOTS];
    PyType_Spec spec = {"pestle.Matrix", offsetof(PsMatrixObject, words), sizeof(uint64_t),
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, all_slots(slots)};
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    /* numpy's operators step back for operands that say this. */
    if (type && PyObject_SetAttrString(type, "__array_ufunc__", Py_None)) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

PyTypeObject *py_matrix_vector_type(PyObject *module, PyTypeObject *base) {
    PyType_Slot slots[] = {{Py_tp_dealloc, Matrix_dealloc},
                           {Py_tp_doc, "Vector(arr, dt=None)\n--\n\nA vector from numbers; see Matrix."},
                           {0}};
    PyType_Spec spec = {"pestle.Vector", offsetof(PsMatrixObject, words), sizeof(uint64_t), Py_TPFLAGS_DEFAULT,
                        slots};
    PyObject *bases = PyTuple_Pack(1, base);
    PyObject *type = bases ? PyType_FromModuleAndSpec(module, &spec, bases) : NULL;
    Py_XDECREF(bases);
    base->tp_flags &= ~(unsigned long)Py_TPFLAGS_BASETYPE; /* these two, and no more */
    return (PyTypeObject *)type;
}
