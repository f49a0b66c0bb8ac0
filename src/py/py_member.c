/* SPDX-License-Identifier: Apache-2.0
 *
 * What each launch reads of objects anew (front/loop/loop_member.c): members of dataclass arguments, numbers of
 * instances. Here: what a member is, by its annotation; and reading them all, for launches that are not like the last
 * one. The hot path's half is in py_launch.c.
 */
#include "py/decode_scalar.h"
#include "py/py_view.h"

/* -- what a member is -- */

/* The globals of the module that the field was written in: a string there may name what is defined later. */
static PyObject *globals_of(PyTypeObject *class, PyObject *name) {
    PyObject *bases = class->tp_mro, *modules = PyImport_GetModuleDict(), *dict = NULL;
    for (Py_ssize_t i = 0; bases && i < PyTuple_GET_SIZE(bases) && !dict; i++) {
        PyObject *base = PyTuple_GET_ITEM(bases, i);
        PyObject *own = PyType_Check(base) ? PyObject_GetAttrString(base, "__annotations__") : NULL;
        PyObject *text = own ? PyObject_GetAttrString(base, "__module__") : NULL;
        int has = own && PyDict_Check(own) ? PyDict_Contains(own, name) : 0;
        PyObject *module = has == 1 && text ? PyDict_GetItemWithError(modules, text) : NULL;
        if (module && PyModule_Check(module)) dict = PyModule_GetDict(module);
        Py_XDECREF(text);
        Py_XDECREF(own);
        PyErr_Clear();
    }
    return dict;
}

static int read_annotation(PyKernel *kernel, PyTypeObject *class, PyObject *name, PyObject *annotation,
                           PyParam *out) {
    PyObject *globals = PyUnicode_Check(annotation) ? globals_of(class, name) : NULL;
    out->annotation = py_signature_evaluate(kernel->state, annotation, kernel->function, globals, out->name);
    return out->annotation ? py_signature_param(kernel->state, out, kernel->function) : -1;
}

/* Of "argument 'p.x' of ..." what stands in quotes. */
static PyObject *path_in(const char *where) {
    const char *from = strchr(where, '\''), *to = from ? strchr(from + 1, '\'') : NULL;
    return PyUnicode_FromStringAndSize(to ? from + 1 : where, to ? to - from - 1 : (Py_ssize_t)strlen(where));
}

int py_member_describe(void *data, PyTypeObject *class, PyObject *name, PyObject *annotation, PyObject *value,
                       const char *where, PsParam *out) {
    PyKernel *kernel = data;
    const ScalarPlace place = {.what = where};
    PyParam param = {.name = path_in(where)};
    int status = param.name ? read_annotation(kernel, class, name, annotation, &param) : -1;
    PyObject *seen = NULL;
    if (!status && param.kind == PS_PARAM_ARRAY && !(seen = py_view_of(kernel->state, &place, value)))
        status = -1;
    if (!status) status = py_describe_one(kernel, &param, seen ? seen : value, where, out);
    out->name = NULL;
    out->given = NULL; /* it may be a view, which ends here */
    if (status)
        out->annotation = NULL;
    else
        Py_XINCREF(out->annotation);
    Py_XDECREF(seen);
    Py_XDECREF(param.annotation);
    Py_XDECREF(param.name);
    return status;
}

/* -- gradients of arrays -- */

bool py_has_grad(PyState *state, PyObject *array) {
    if (ps_is_array(&state->types, array)) return ((PyNdarray *)array)->grad != NULL;
    const DlKnown *known = dlpack_known(&state->dlpack, Py_TYPE(array));
    return known && dlpack_wants_grad(known, array);
}

/* torch.zeros_like(tensor), which becomes tensor.grad; a new reference. */
static PyObject *make_grad(PyObject *tensor) {
    PyObject *torch = PyImport_ImportModule("torch");
    PyObject *made = torch ? PyObject_CallMethod(torch, "zeros_like", "O", tensor) : NULL;
    if (made && PyObject_SetAttrString(tensor, "grad", made)) Py_CLEAR(made);
    Py_XDECREF(torch);
    return made;
}

PyObject *py_member_grad(void *data, PyObject *array) {
    PyKernel *kernel = data;
    PyObject *grad = PyObject_GetAttrString(array, "grad");
    if (grad != Py_None || ps_is_array(&kernel->state->types, array) || !py_has_grad(kernel->state, array)) {
        if (!grad && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
        return grad;
    }
    Py_DECREF(grad);
    return make_grad(array);
}

/* -- reading them -- */

PyMember *py_members_make(PsArena *arena, const PsBuild *build) {
    PyMember *made = ps_arena_alloc(arena, (build->nmembers + 1) * sizeof *made);
    for (uint32_t i = 0; made && i < build->nmembers; i++) {
        const PsMember *m = &build->members[i];
        made[i] = (PyMember){m->from, m->used, m->grad, Py_XNewRef(m->holder), Py_NewRef(m->name)};
    }
    return made;
}

void py_members_drop(PyMember *members, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        Py_CLEAR(members[i].holder);
        Py_CLEAR(members[i].name);
    }
}

void py_members_close(PyObject **objects, uint32_t nparams, uint32_t n) {
    for (uint32_t i = 0; objects && i < n; i++) Py_XDECREF(objects[nparams + i]);
    PyMem_Free(objects);
}

/* Those that are arrays as what can be decoded. */
static int take_view(PyState *state, const PyPlan *plan, PyObject **at) {
    if (plan->how != PY_HOW_ARRAY) return 0;
    const ScalarPlace place = {.what = plan->where};
    PyObject *seen = py_view_of(state, &place, *at);
    if (seen) Py_SETREF(*at, seen);
    return seen ? 0 : -1;
}

PyObject **py_members_open(PyKernel *kernel, const PyPlan *plans, uint32_t nparams, const PyMember *members,
                           uint32_t n, PyObject *const *args) {
    PyObject **objects = PyMem_Calloc(nparams + n + 1, sizeof *objects);
    if (!objects) return (PyObject **)PyErr_NoMemory();
    for (uint32_t i = 0; i < nparams; i++) objects[i] = args[i];
    for (uint32_t i = 0; i < n; i++) {
        if (!members[i].used) continue;
        PyObject **at = &objects[nparams + i];
        *at = members[i].grad ? py_member_grad(kernel, objects[members[i].from])
                              : py_member_get(&members[i], objects);
        if (!*at && !PyErr_Occurred()) PyErr_SetNone(PyExc_AttributeError);
        if (*at && !take_view(kernel->state, &plans[nparams + i], at)) continue;
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
        py_members_close(objects, nparams, n);
        return NULL;
    }
    return objects;
}

/* -- plans -- */

uint32_t py_member_plans_make(const PyState *state, const PsBuild *build, PsArena *arena, uint32_t word,
                              PyPlan *out) {
    uint32_t start = word;
    for (uint32_t i = 0; i < build->nmembers; i++) {
        const PsMember *m = &build->members[i];
        uint32_t words = 0;
        PsBuild known = {.writes = (bool *)&m->writes, .pins = (uint8_t *)&m->pins};
        out[i] = (PyPlan){.how = PY_HOW_UNUSED};
        if (m->used) py_plans_make(state, &m->param, 1, &known, &out[i], &words);
        out[i].word += word;
        word += words;
        Py_XSETREF(out[i].class, (PyTypeObject *)Py_XNewRef(m->class));
        out[i].where = ps_arena_copy(arena, m->where, strlen(m->where));
        if (!out[i].where) out[i].where = "?";
    }
    return word - start;
}
