/* SPDX-License-Identifier: Apache-2.0
 *
 * pestle.Domain: what ranges, ti.ndrange and ti.grouped are while a kernel runs as plain Python. A loop of the kernel
 * (mode_loop) gives indices with their types; anything else that iterates (ti.static, comprehensions) gives Python's
 * ints, which are known while compiling.
 */
#include "py/mode_int.h"
#include "py/py_matrix.h"

typedef struct Domain {
    PyObject_HEAD int ndim;
    int64_t lo[PS_MAX_AXES], hi[PS_MAX_AXES];
    bool wide[PS_MAX_AXES];    /* a bound is wider than i32 */
    bool u64[PS_MAX_AXES];     /* both bounds are u64s: lo and hi have their top bits flipped */
    uint8_t axes[PS_MAX_AXES]; /* order of the loops, outermost first */
    bool grouped;
} Domain;

typedef struct Iterator {
    PyObject_HEAD Domain *domain;
    int64_t at[PS_MAX_AXES];
    bool done, typed, parallel, tuple;
} Iterator;

static PyState *state_of(PyObject *self) { return PyType_GetModuleState(Py_TYPE(self)); }

static Domain *new_domain(const PyState *state, int ndim) {
    Domain *self = (Domain *)state->mode.domain->tp_alloc(state->mode.domain, 0);
    if (!self) return NULL;
    self->ndim = ndim;
    for (int k = 0; k < ndim; k++) self->axes[k] = (uint8_t)k;
    return self;
}

/* -- bounds -- */

static int refuse_count(const PyState *state, const char *what, int64_t expected, int64_t found) {
    py_error(state, PS_MSG_MODE_COUNT, what, (long long)expected, (long long)found);
    return -1;
}

/* *out_u64: a typed u64, whose bits *out holds. */
static int read_bound(const PyState *state, PyObject *object, int64_t *out, bool *wide, bool *out_u64) {
    ModeOperand operand;
    uint64_t bits;
    if (!mode_read(state, object, &operand) || ps_scalar_class(operand.type) == PS_CLASS_FLOAT) {
        py_error(state, PS_MSG_MODE_WANTS, "a range", "integer bounds", Py_TYPE(object)->tp_name);
        return -1;
    }
    PsType type = operand.type == PS_U64 ? PS_U64 : PS_I64;
    if (mode_as(state, &operand, type, &bits)) return -1;
    *out = (int64_t)bits;
    *out_u64 = operand.kind == MODE_TYPED && type == PS_U64;
    *wide |= operand.kind == MODE_TYPED ? ps_scalar_bits(operand.type) == 64 || operand.type == PS_U32
                                        : *out < INT32_MIN || *out > INT32_MAX;
    return 0;
}

static int64_t flip_order(int64_t bits) { return (int64_t)((uint64_t)bits ^ (uint64_t)1 << 63); }
static int64_t cut_u64(int64_t bits) { return bits < 0 ? INT64_MAX : bits; }

/* lo NULL: 0. Two u64s are counted as i64s of the same order; one is cut to i64. */
static int read_bounds(const PyState *state, PyObject *lo, PyObject *hi, Domain *out, int axis) {
    bool u64[2] = {false};
    if ((lo && read_bound(state, lo, &out->lo[axis], &out->wide[axis], &u64[0])) ||
        read_bound(state, hi, &out->hi[axis], &out->wide[axis], &u64[1]))
        return -1;
    int64_t (*const map)(int64_t) = u64[0] && u64[1] ? flip_order : cut_u64;
    out->u64[axis] = u64[0] && u64[1];
    if (u64[0]) out->lo[axis] = map(out->lo[axis]);
    if (u64[1]) out->hi[axis] = map(out->hi[axis]);
    return 0;
}

static int read_axis(const PyState *state, PyObject *arg, Domain *out, int axis) {
    if (!PyTuple_Check(arg) && !PyList_Check(arg)) return read_bounds(state, NULL, arg, out, axis);
    if (PySequence_Fast_GET_SIZE(arg) != 2)
        return refuse_count(state, "bounds of an axis", 2, PySequence_Fast_GET_SIZE(arg));
    return read_bounds(state, PySequence_Fast_GET_ITEM(arg, 0), PySequence_Fast_GET_ITEM(arg, 1), out, axis);
}

static int read_order(const PyState *state, PyObject *axes, Domain *out) {
    unsigned seen = 0;
    Py_ssize_t n = PyTuple_Check(axes) || PyList_Check(axes) ? PySequence_Fast_GET_SIZE(axes) : 0;
    if (n != out->ndim) return refuse_count(state, "axes of ndrange", out->ndim, n);
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_ssize_t axis = PyNumber_AsSsize_t(PySequence_Fast_GET_ITEM(axes, i), NULL);
        if (axis < 0 || axis >= n || seen >> axis & 1) {
            PyErr_Clear();
            return py_error(state, PS_MSG_MODE_AXES), -1;
        }
        seen |= 1u << axis;
        out->axes[i] = (uint8_t)axis;
    }
    return 0;
}

PyObject *mode_ndrange(const PyState *state, PyObject *const *args, int nargs, PyObject *axes) {
    if (nargs > PS_MAX_AXES) return refuse_count(state, "axes of ndrange", PS_MAX_AXES, nargs), NULL;
    Domain *self = new_domain(state, nargs);
    for (int i = 0; self && i < nargs; i++)
        if (read_axis(state, args[i], self, i)) Py_CLEAR(self);
    if (self && axes && read_order(state, axes, self)) Py_CLEAR(self);
    return (PyObject *)self;
}

/* range() with a typed bound. */
PyObject *mode_range(const PyState *state, PyObject *const *args, int nargs) {
    if (nargs != 1 && nargs != 2)
        return py_error(state, PS_MSG_MODE_WANTS, "range()", "one or two bounds", "a step");
    Domain *self = new_domain(state, 1);
    if (self && read_bounds(state, nargs == 2 ? args[0] : NULL, args[nargs - 1], self, 0)) Py_CLEAR(self);
    return (PyObject *)self;
}

/* Of ndrange() called by Python code that is no part of a kernel. */
static PyObject *domain_of_known(const PyState *state, PyObject *object) {
    const PsNdrangeObject *known = (PsNdrangeObject *)object;
    int n = (int)PyTuple_GET_SIZE(known->bounds);
    PyObject *domain = mode_ndrange(state, PySequence_Fast_ITEMS(known->bounds), n, NULL);
    for (int k = 0; domain && k < n; k++) ((Domain *)domain)->axes[k] = (uint8_t)known->axes[k];
    return domain;
}

static Domain *domain_of_array(const PyState *state, const ModeArray *array) {
    Domain *self = new_domain(state, array->view.ndim - array->edim);
    for (int k = 0; self && k < self->ndim; k++) {
        self->lo[k] = array->first[k];
        self->hi[k] = array->first[k] + array->view.shape[k];
    }
    return self;
}

PyObject *mode_grouped(const PyState *state, PyObject *given) {
    Domain *self = NULL;
    PyObject *object =
        Py_IS_TYPE(given, state->types.ndrange) ? domain_of_known(state, given) : mode_array_of(state, given);
    if (!object) return NULL;
    if (Py_IS_TYPE(object, state->mode.array)) {
        self = domain_of_array(state, (ModeArray *)object);
    } else if (Py_IS_TYPE(object, state->mode.domain)) {
        const Domain *other = (Domain *)object;
        self = new_domain(state, other->ndim);
        if (self) {
            memcpy(self->lo, other->lo, sizeof self->lo);
            memcpy(self->hi, other->hi, sizeof self->hi);
            memcpy(self->wide, other->wide, sizeof self->wide);
            memcpy(self->u64, other->u64, sizeof self->u64);
            memcpy(self->axes, other->axes, sizeof self->axes);
        }
    } else {
        py_error(state, PS_MSG_MODE_WANTS, "grouped()", "an array or ndrange()", Py_TYPE(object)->tp_name);
    }
    Py_DECREF(object);
    if (self) self->grouped = true;
    return (PyObject *)self;
}

/* -- iteration -- */

static Iterator *iterate(const PyState *state, Domain *domain) {
    Iterator *self = (Iterator *)state->mode.iterator->tp_alloc(state->mode.iterator, 0);
    if (!self) return NULL;
    self->domain = (Domain *)Py_NewRef(domain);
    for (int k = 0; k < domain->ndim; k++) {
        self->at[k] = domain->lo[k];
        self->done |= domain->lo[k] >= domain->hi[k];
    }
    return self;
}

static PyObject *Domain_iter(PyObject *self) { return (PyObject *)iterate(state_of(self), (Domain *)self); }

static void advance(Iterator *self) {
    const Domain *domain = self->domain;
    for (int level = domain->ndim; level > 0; level--) { /* the innermost axis first */
        int axis = domain->axes[level - 1];
        if (++self->at[axis] < domain->hi[axis]) return;
        self->at[axis] = domain->lo[axis];
    }
    self->done = true;
}

static PyObject *index_at(const Iterator *self, const PyState *state, int axis) {
    int64_t at = self->at[axis];
    bool u64 = self->domain->u64[axis];
    if (u64) at = flip_order(at);
    if (!self->typed) return u64 ? PyLong_FromUnsignedLongLong((uint64_t)at) : PyLong_FromLongLong(at);
    if (u64 && !self->parallel) return mode_number(state, PS_U64, (uint64_t)at);
    if (self->domain->wide[axis] && !self->parallel) return mode_number(state, PS_I64, (uint64_t)at);
    return mode_number(state, PS_I32, (uint32_t)at);
}

/* The index of a grouped loop: a vector, of Python numbers if nothing has a type. */
static PyObject *grouped_at(const Iterator *self, const PyState *state) {
    const Domain *domain = self->domain;
    bool wide = false;
    for (int k = 0; k < domain->ndim; k++) wide |= domain->wide[k] && !self->parallel;
    PsType elem = self->typed && !wide ? PS_I32 : PS_I64;
    PsMatrixObject *made = matrix_new(state, elem, !self->typed, 1, domain->ndim, 1);
    for (int k = 0; made && k < domain->ndim; k++) {
        int64_t at = domain->u64[k] ? flip_order(self->at[k]) : self->at[k];
        made->words[k] = elem == PS_I32 ? (uint32_t)at : (uint64_t)at;
    }
    return (PyObject *)made;
}

static PyObject *tuple_at(const Iterator *self, const PyState *state) {
    PyObject *tuple = PyTuple_New(self->domain->ndim);
    for (int k = 0; tuple && k < self->domain->ndim; k++) {
        PyObject *index = index_at(self, state, k);
        if (index)
            PyTuple_SET_ITEM(tuple, k, index);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *Iterator_next(PyObject *object) {
    Iterator *self = (Iterator *)object;
    const PyState *state = state_of(object);
    const Domain *domain = self->domain;
    if (self->done) return NULL;
    bool single = domain->ndim == 1 && !self->tuple;
    PyObject *result = domain->grouped && domain->ndim ? grouped_at(self, state)
                       : single                        ? index_at(self, state, 0)
                                                       : tuple_at(self, state);
    advance(self);
    return result;
}

static void Iterator_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    Py_XDECREF(((Iterator *)object)->domain);
    type->tp_free(object);
    Py_DECREF(type);
}

static void Domain_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *domain_of_range(const PyState *state, PyObject *range) {
    static const char *const names[] = {"start", "stop", "step"};
    PyObject *parts[3] = {NULL}, *domain = NULL;
    for (int i = 0; i < 3; i++)
        if (!(parts[i] = PyObject_GetAttrString(range, names[i]))) goto done;
    if (PyLong_AsLong(parts[2]) == 1)
        domain = mode_range(state, parts, 2);
    else if (!PyErr_Occurred())
        py_error(state, PS_MSG_MODE_WANTS, "range()", "one or two bounds", "a step");
done:
    for (int i = 0; i < 3; i++) Py_XDECREF(parts[i]);
    return domain;
}

/* Indices of parallel loops are i32. */
static int check_parallel(const PyState *state, const Domain *domain) {
    for (int k = 0; k < domain->ndim; k++)
        if (domain->lo[k] >= domain->hi[k]) return 0; /* runs nowhere */
    for (int k = 0; k < domain->ndim; k++) {
        int64_t lo = domain->lo[k], hi = domain->hi[k];
        if (domain->u64[k]) lo = cut_u64(flip_order(lo)), hi = cut_u64(flip_order(hi));
        if (lo >= INT32_MIN && hi <= INT32_MAX) continue;
        py_error(state, PS_MSG_MODE_DOMAIN, (long long)k, (long long)lo, (long long)hi);
        return -1;
    }
    return 0;
}

static PyObject *domain_of(const PyState *state, PyObject *over) {
    if (Py_IS_TYPE(over, state->types.ndrange)) return domain_of_known(state, over);
    if (Py_IS_TYPE(over, state->mode.domain) && (((Domain *)over)->ndim || ((Domain *)over)->grouped))
        return Py_NewRef(over);
    if (Py_IS_TYPE(over, state->mode.domain))
        return py_error(state, PS_MSG_MODE_WANTS, "a for loop", "an ndrange() with axes", "one without");
    if (PyRange_Check(over)) return domain_of_range(state, over);
    if (!Py_IS_TYPE(over, state->mode.array))
        return py_error(state, PS_MSG_MODE_WANTS, "a for loop",
                        "range(), ndrange(), grouped(), an array or static(...)", Py_TYPE(over)->tp_name);
    if (((ModeArray *)over)->view.ndim == ((ModeArray *)over)->edim)
        return py_error(state, PS_MSG_MODE_WANTS, "a for loop", "an array with axes", "one without");
    return (PyObject *)domain_of_array(state, (ModeArray *)over);
}

/* _mode_loop(parallel, tuple, iterable): what a for of the kernel runs over. */
PyObject *mode_loop(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    const PyState *state = py_state(module);
    if (nargs != 3) return PyErr_Format(PyExc_TypeError, "_mode_loop() takes 3 arguments");
    if (mode_is_vector(state, args[2])) { /* its elements as they are now */
        PyObject *copy = mode_copy(state, args[2]), *iterator = copy ? PyObject_GetIter(copy) : NULL;
        Py_XDECREF(copy);
        return iterator;
    }
    PyObject *over = mode_array_of(state, args[2]), *domain = over ? domain_of(state, over) : NULL;
    Py_XDECREF(over);
    if (domain && args[0] == Py_True && check_parallel(state, (Domain *)domain)) Py_CLEAR(domain);
    Iterator *iterator = domain ? iterate(state, (Domain *)domain) : NULL;
    Py_XDECREF(domain);
    if (!iterator) return NULL;
    iterator->typed = true;
    iterator->parallel = args[0] == Py_True;
    iterator->tuple = args[1] == Py_True;
    return (PyObject *)iterator;
}

/* _mode_loop_call(parallel, tuple, callee, *args, **names): the same over what a call gives; what ti.static gives is
 * iterated as it is. */
PyObject *mode_loop_call(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    const PyState *state = py_state(module);
    if (nargs < 3) return PyErr_Format(PyExc_TypeError, "_mode_loop_call() takes 3 or more arguments");
    PyObject *over = mode_call(module, args + 2, nargs - 2, names), *loop[3] = {args[0], args[1], over};
    if (!over || mode_is_static(state, args[2])) return over;
    PyObject *iterator = mode_loop(module, loop, 3);
    Py_DECREF(over);
    return iterator;
}

static PyType_Slot domain_slots[] = {{Py_tp_dealloc, Domain_dealloc},
                                     {Py_tp_iter, Domain_iter},
                                     {Py_tp_doc, "What a loop of a kernel runs over, in plain Python."},
                                     {0}};
static PyType_Spec domain_spec = {
    "pestle.Domain", sizeof(Domain), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, domain_slots};
static PyType_Slot iterator_slots[] = {
    {Py_tp_dealloc, Iterator_dealloc}, {Py_tp_iter, PyObject_SelfIter}, {Py_tp_iternext, Iterator_next}, {0}};
static PyType_Spec iterator_spec = {
    "pestle.DomainIterator", sizeof(Iterator), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, iterator_slots};

PyTypeObject *mode_domain_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &domain_spec, NULL);
}

PyTypeObject *mode_domain_iterator_type(PyObject *module) {
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &iterator_spec, NULL);
}
