/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors through DLPack's exchange functions (see decode_dlpack.h), and DLPack's element types.
 *
 * DLPack says nothing of two things that torch has: autograd, which must not miss a write, and lazy negation, where
 * memory holds the negatives of the values. Both are asked for through the C functions behind the class's attributes.
 * The first costs 20 to 50 ns, so only what a kernel writes is asked. The second costs twice that, but the views that
 * torch negates lazily are imaginary parts, in which every second element along each axis belongs: an array of more
 * than one element in a row side by side is none of them.
 */
#include "py/decode_strided.h"

#include <string.h>

/* -- element types -- */

static const DlDtype dtypes[PS_SCALAR_END] = {
    [PS_U1] = {DL_BOOL, 8, 1},     [PS_I8] = {DL_INT, 8, 1},     [PS_I16] = {DL_INT, 16, 1},
    [PS_I32] = {DL_INT, 32, 1},    [PS_I64] = {DL_INT, 64, 1},   [PS_U8] = {DL_UINT, 8, 1},
    [PS_U16] = {DL_UINT, 16, 1},   [PS_U32] = {DL_UINT, 32, 1},  [PS_U64] = {DL_UINT, 64, 1},
    [PS_F16] = {DL_FLOAT, 16, 1},  [PS_F32] = {DL_FLOAT, 32, 1}, [PS_F64] = {DL_FLOAT, 64, 1},
    [PS_BF16] = {DL_BFLOAT, 16, 1}};

DlDtype dlpack_dtype(PsType type) { return dtypes[type]; }

static uint32_t word_of(DlDtype dtype) {
    uint32_t word;
    memcpy(&word, &dtype, sizeof word);
    return word;
}

uint32_t dlpack_dtype_word(PsType type) { return word_of(dtypes[type]); }

PsType dlpack_element(DlDtype dtype) {
    for (PsType t = 1; t < PS_SCALAR_END; t++)
        if (word_of(dtypes[t]) == word_of(dtype)) return t;
    return PS_KIND_NONE;
}

/* -- classes -- */

/* An attribute of the class; NULL without an exception: none. */
static PyObject *attribute(PyTypeObject *type, const char *name) {
    PyObject *found = PyObject_GetAttrString((PyObject *)type, name);
    if (!found) PyErr_Clear();
    return found;
}

static const DlExchange *exchange_of(PyTypeObject *type) {
    PyObject *capsule = attribute(type, "__dlpack_c_exchange_api__");
    const DlExchange *exchange = NULL;
    if (capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
        exchange = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    Py_XDECREF(capsule);
    while (exchange && exchange->version.major != DL_MAJOR) exchange = exchange->previous;
    return exchange;
}

/* Fills what is asked beside the DlTensor; false: the class has the attribute in another form than C functions. */
static bool learn_extras(PyTypeObject *type, DlKnown *out) {
    PyObject *grad = attribute(type, "requires_grad"), *neg = attribute(type, "is_neg");
    bool ok =
        (!grad || Py_IS_TYPE(grad, &PyGetSetDescr_Type)) && (!neg || Py_IS_TYPE(neg, &PyMethodDescr_Type));
    if (ok && grad) out->requires_grad = ((PyGetSetDescrObject *)grad)->d_getset;
    if (ok && neg) out->is_neg = ((PyMethodDescrObject *)neg)->d_method;
    ok = ok && (!out->requires_grad || out->requires_grad->get) &&
         (!out->is_neg || out->is_neg->ml_flags == METH_NOARGS);
    Py_XDECREF(grad);
    Py_XDECREF(neg);
    return ok;
}

const DlKnown *dlpack_learn(PyDlpack *dlpack, PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    const DlKnown *found = dlpack_known(dlpack, type);
    if (found || dlpack->count >= DL_KNOWN) return found;
    const DlExchange *exchange = exchange_of(type);
    DlKnown made = {.type = type};
    if (!exchange || !exchange->read || !learn_extras(type, &made)) return NULL;
    made.read = exchange->read;
    if (torch_learn(&dlpack->torch, object)) made.torch = &dlpack->torch;
    if ((found = dlpack_known(dlpack, type))) return found; /* looking at attributes may have run code */
    DlKnown *kept = ps_alloc(sizeof *kept);
    if (!kept) return NULL;
    made.next = dlpack->first;
    *kept = made;
    Py_INCREF(type);
    dlpack->first = kept;
    dlpack->count++;
    return kept;
}

void dlpack_forget(PyDlpack *dlpack) {
    while (dlpack->first) {
        DlKnown *known = dlpack->first;
        dlpack->first = known->next;
        Py_DECREF(known->type);
        ps_free(known);
    }
}

int dlpack_traverse(const PyDlpack *dlpack, visitproc visit, void *arg) {
    for (const DlKnown *known = dlpack->first; known; known = known->next) Py_VISIT(known->type);
    return 0;
}

/* -- tensors -- */

/* Whether a call gave True; takes the result. */
static bool is_true(PyObject *result) {
    bool truth = result == Py_True;
    if (!result) PyErr_Clear();
    Py_XDECREF(result);
    return truth;
}

bool dlpack_wants_grad(const DlKnown *known, PyObject *tensor) {
    const PyGetSetDef *get = known->requires_grad;
    return get && is_true(get->get(tensor, get->closure));
}

bool dlpack_is_negated(const DlKnown *known, PyObject *tensor) {
    return known->is_neg && is_true(known->is_neg->ml_meth(tensor, NULL));
}

/* What DLPack tells of it: 0, or what becomes of the argument. */
static int64_t read_tensor(const DlKnown *known, PyObject *tensor, const PyPlan *plan, StridedSource *out) {
    DlTensor t;
    if (PS_UNLIKELY(known->read(tensor, &t))) {
        PyErr_Clear();
        return NUMPY_REFUSED;
    }
    if (word_of(t.dtype) != plan->array.dlpack || !dlpack_on_cpu(t.device)) return NUMPY_OTHER;
    int item = plan->array.item;
    *out = (StridedSource){dlpack_data(&t), t.shape, t.strides, item, t.ndim, item};
    return 0;
}

int64_t dlpack_decode(const DlKnown *known, PyObject *tensor, const PyPlan *plan, uint64_t *words) {
    StridedSource from;
    if (!known->torch || PS_UNLIKELY(!torch_read(known->torch, tensor, plan, &from))) {
        int64_t fit = read_tensor(known, tensor, plan, &from);
        if (fit < 0) return fit;
    }
    int64_t count = strided_decode(plan, &from, false, words);
    if (PS_UNLIKELY(count < 0)) return count;
    bool dense = plan->unit && plan->ndim && words[plan->ndim] > 1; /* the last axis' length */
    if (PS_UNLIKELY(!dense) && count && dlpack_is_negated(known, tensor)) return NUMPY_REFUSED;
    if ((plan->array.required & NUMPY_WRITEABLE) && ps_scalar_class(plan->dtype) == PS_CLASS_FLOAT &&
        dlpack_wants_grad(known, tensor))
        return NUMPY_REFUSED;
    return count;
}
