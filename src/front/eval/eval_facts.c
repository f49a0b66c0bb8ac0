/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace of outside facts a build used, and whether they still hold. Checking looks into dicts, slots and cells only
 * and runs no Python code; but for attributes that code computes, which are asked for first (eval_computed.c).
 */
#include "front/eval/eval.h"

#include <string.h>
#include <structmember.h>

static bool same_fact(const PsFact *a, PsFactKind kind, PyObject *holder, PyObject *key) {
    return a->kind == kind && a->holder == holder &&
           (a->key == key || (a->key && key && PyUnicode_Compare(a->key, key) == 0));
}

bool ps_facts_add(PsFacts *facts, PsFactKind kind, PyObject *holder, PyObject *key, PyObject *found) {
    for (uint32_t i = 0; i < facts->len; i++)
        if (same_fact(&facts->items[i], kind, holder, key)) return true;
    if (facts->len == facts->cap) {
        uint32_t cap = facts->cap ? facts->cap * 2 : 8;
        PsFact *items = ps_realloc(facts->items, cap * sizeof *items);
        if (!items) return false;
        facts->items = items;
        facts->cap = cap;
    }
    Py_INCREF(holder);
    Py_XINCREF(key);
    Py_XINCREF(found);
    facts->items[facts->len++] = (PsFact){.kind = kind, .holder = holder, .key = key, .found = found};
    return true;
}

void ps_facts_mark(PsFacts *facts, PsFactKind kind, PyObject *holder, PyObject *key, PsFollows follows) {
    for (uint32_t i = 0; i < facts->len; i++)
        if (same_fact(&facts->items[i], kind, holder, key) && facts->items[i].follows != PS_FOLLOWS_NEVER)
            facts->items[i].follows = (uint8_t)follows;
}

/* -- Python functions that run while compiling -- */

static bool add_names(PsFacts *facts, PyObject *function, PyObject *code);

static bool add_name(PsFacts *facts, PyObject *globals, PyObject *name) {
    PyObject *found = PyDict_GetItemWithError(globals, name);
    if (!ps_facts_add(facts, PS_FACT_GLOBAL, globals, name, found)) return false;
    ps_facts_mark(facts, PS_FACT_GLOBAL, globals, name, PS_FOLLOWS_NEVER);
    return !found || !PyFunction_Check(found) || ps_facts_add_function(facts, found);
}

/* The names of the code itself, then of the code inside it (comprehensions, inner functions). A name may be that of an
 * attribute: then a global of that name is looked at needlessly, which costs a rebuild at worst. */
static bool add_names(PsFacts *facts, PyObject *function, PyObject *code) {
    PyObject *names = PyObject_GetAttrString(code, "co_names"),
             *consts = PyObject_GetAttrString(code, "co_consts");
    bool done = names && consts && PyTuple_Check(names) && PyTuple_Check(consts);
    for (Py_ssize_t i = 0; done && i < PyTuple_GET_SIZE(names); i++)
        done = add_name(facts, PyFunction_GET_GLOBALS(function), PyTuple_GET_ITEM(names, i));
    for (Py_ssize_t i = 0; done && i < PyTuple_GET_SIZE(consts); i++)
        if (PyCode_Check(PyTuple_GET_ITEM(consts, i)))
            done = add_names(facts, function, PyTuple_GET_ITEM(consts, i));
    Py_XDECREF(names);
    Py_XDECREF(consts);
    return done;
}

bool ps_facts_add_function(PsFacts *facts, PyObject *function) {
    for (uint32_t i = 0; i < facts->len; i++)
        if (same_fact(&facts->items[i], PS_FACT_DEFAULTS, function, NULL))
            return true; /* seen, or being seen */
    if (Py_EnterRecursiveCall(" while noting what a function reads")) return false;
    PyFunctionObject *f = (PyFunctionObject *)function;
    bool done = ps_facts_add(facts, PS_FACT_DEFAULTS, function, NULL, f->func_defaults) &&
                ps_facts_add(facts, PS_FACT_KWDEFAULTS, function, NULL, f->func_kwdefaults) &&
                ps_facts_add(facts, PS_FACT_CODE, function, NULL, f->func_code);
    Py_ssize_t ncells = f->func_closure ? PyTuple_GET_SIZE(f->func_closure) : 0;
    for (Py_ssize_t i = 0; done && i < ncells; i++) {
        PyObject *cell = PyTuple_GET_ITEM(f->func_closure, i), *content = PyCell_GET(cell);
        done = ps_facts_add(facts, PS_FACT_CELL, cell, NULL, content) &&
               (!content || !PyFunction_Check(content) || ps_facts_add_function(facts, content));
        ps_facts_mark(facts, PS_FACT_CELL, cell, NULL, PS_FOLLOWS_NEVER);
    }
    done = done && add_names(facts, function, f->func_code);
    Py_LeaveRecursiveCall();
    return done;
}

void ps_facts_free(PsFacts *facts) {
    for (uint32_t i = 0; i < facts->len; i++) {
        Py_DECREF(facts->items[i].holder);
        Py_XDECREF(facts->items[i].key);
        Py_XDECREF(facts->items[i].found);
    }
    ps_free(facts->items);
    *facts = (PsFacts){0};
}

/* Equal numbers of one exact type make the same program; so do equal strings. -0.0 differs from 0.0, NaN equals its own
 * bits. Anything else must be the same object. */
bool ps_facts_same(PyObject *a, PyObject *b) {
    if (a == b) return true;
    if (!a || !b || Py_TYPE(a) != Py_TYPE(b)) return false;
    if (PyFloat_CheckExact(a)) {
        double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
        return memcmp(&x, &y, sizeof x) == 0;
    }
    if (PyLong_CheckExact(a)) return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
    if (PyUnicode_CheckExact(a)) return PyUnicode_Compare(a, b) == 0;
    return false;
}

static PyObject *dict_of(PyObject *holder) {
    if (PyDict_Check(holder)) return holder;
    if (PyModule_Check(holder)) return PyModule_GetDict(holder);
    return NULL;
}

/* What stands in the slot that __slots__ made; false: it is no such slot, or not one of the holder's. */
static bool read_slot(PyObject *holder, PyObject *in_class, PyObject **out) {
    if (!in_class || !Py_IS_TYPE(in_class, &PyMemberDescr_Type)) return false;
    const PyMemberDef *member = ((PyMemberDescrObject *)in_class)->d_member;
    if (member->type != T_OBJECT_EX || !PyObject_TypeCheck(holder, PyDescr_TYPE(in_class))) return false;
    *out = *(PyObject **)((char *)holder + member->offset);
    return true;
}

/* What an attribute look-up found: in a module's dict, else through the type without running code. As in Python, what has
 * a __set__ in the class goes before the instance's dict. */
PyObject *ps_facts_attribute(PyObject *holder, PyObject *key) {
    PyObject *dict = dict_of(holder);
    if (dict) return PyDict_GetItemWithError(dict, key);
    if (PyType_Check(holder)) return _PyType_Lookup((PyTypeObject *)holder, key);
    PyObject *in_class = _PyType_Lookup(Py_TYPE(holder), key), *found;
    if (read_slot(holder, in_class, &found)) return found;
    if (in_class && Py_TYPE(in_class)->tp_descr_set) return in_class;
    PyObject **instance = _PyObject_GetDictPtr(holder);
    found = instance && *instance ? PyDict_GetItemWithError(*instance, key) : NULL;
    return found ? found : in_class;
}

/* What facts are looked at for: those of an instance among the arguments are looked for in the one given now. */
typedef struct Look {
    const PsFacts *facts;
    PyObject *const *args;
} Look;

static PyObject *found_now(const Look *look, const PsFact *fact);

/* NULL: it is none of the class. Facts come after the one that found their holder. */
static PyObject *holder_now(const Look *look, const PsFact *fact) {
    uint32_t nargs = look->facts->nargs, from = fact->from - 1;
    if (!fact->from) return fact->holder;
    PyObject *now = from < nargs ? look->args[from] : found_now(look, &look->facts->items[from - nargs]);
    return now && Py_TYPE(now) == Py_TYPE(fact->holder) ? now : NULL;
}

static PyObject *found_now(const Look *look, const PsFact *fact) {
    PyObject *holder = holder_now(look, fact);
    if (!holder) return NULL;
    switch (fact->kind) {
    case PS_FACT_GLOBAL: return PyDict_GetItemWithError(fact->holder, fact->key);
    case PS_FACT_CELL: return PyCell_GET(fact->holder);
    case PS_FACT_ATTRIBUTE: return ps_facts_attribute(holder, fact->key);
    case PS_FACT_CODE: return ((PyFunctionObject *)fact->holder)->func_code;
    case PS_FACT_DEFAULTS: return ((PyFunctionObject *)fact->holder)->func_defaults;
    case PS_FACT_KWDEFAULTS: return ((PyFunctionObject *)fact->holder)->func_kwdefaults;
    case PS_FACT_COMPUTED: return fact->found; /* ps_facts_replay has asked */
    }
    return NULL;
}

/* -- following arrays -- */

bool ps_array_same_offset(const PsArrayObject *a, const PsArrayObject *b) {
    if (!a->shifted && !b->shifted) return true;
    return memcmp(a->offset, b->offset, sizeof a->offset[0] * (size_t)a->ndim) == 0;
}

bool ps_array_same_type(const PsArrayObject *a, const PsArrayObject *b) {
    if (Py_TYPE(a) != Py_TYPE(b) || a->dtype != b->dtype || a->ndim != b->ndim || a->edim != b->edim ||
        a->unit != b->unit || !ps_array_same_offset(a, b))
        return false;
    for (int k = 0; k < a->edim; k++)
        if (a->shape[a->ndim + k] != b->shape[b->ndim + k]) return false;
    return true;
}

/* 1: as it was; 0: changed; 2: it follows. */
static int look_at(const Look *look, const PsFact *fact) {
    PyObject *now = found_now(look, fact);
    if (ps_facts_same(now, fact->found)) return now || !fact->from || holder_now(look, fact);
    if (!now || !fact->found || Py_TYPE(now) != Py_TYPE(fact->found)) return 0;
    if (fact->like) return 1;
    if (fact->follows != PS_FOLLOWS) return 0;
    return ps_array_same_type((PsArrayObject *)now, (PsArrayObject *)fact->found) ? 2 : 0;
}

static PsFact *first_of(PsFacts *facts, PyObject *array) {
    for (uint32_t i = 0; i < facts->len; i++)
        if (facts->items[i].found == array && facts->items[i].follows == PS_FOLLOWS) return &facts->items[i];
    return NULL;
}

void ps_facts_number(PsFacts *facts, PyObject *const *arrays, uint32_t n) {
    for (uint32_t i = 0; i < facts->len; i++) {
        PsFact *fact = &facts->items[i],
               *first = fact->follows == PS_FOLLOWS ? first_of(facts, fact->found) : NULL;
        if (first && first != fact) fact->twin = 1 + (uint32_t)(first - facts->items);
    }
    for (uint32_t k = 0; k < n; k++) {
        PsFact *first = first_of(facts, arrays[k]);
        if (first) first->array = 1 + k;
    }
}

/* Whether two look-ups that found one array did so again. */
static bool are_twins(const Look *look) {
    const PsFacts *facts = look->facts;
    for (uint32_t i = 0; i < facts->len; i++) {
        const PsFact *fact = &facts->items[i];
        if (fact->twin && found_now(look, fact) != found_now(look, &facts->items[fact->twin - 1])) return false;
    }
    return true;
}

bool ps_facts_follow(PsFacts *facts, PyObject *const *args, PyObject **arrays, bool *out_moved) {
    const Look look = {facts, args};
    *out_moved = false;
    for (uint32_t i = 0; i < facts->len; i++) {
        int found = look_at(&look, &facts->items[i]);
        if (!found) return false;
        *out_moved |= found == 2;
    }
    if (!*out_moved) return true;
    if (!are_twins(&look)) return false;
    for (uint32_t i = 0; i < facts->len; i++) {
        PsFact *fact = &facts->items[i];
        PyObject *old = fact->found, *now;
        if (fact->follows != PS_FOLLOWS || (now = found_now(&look, fact)) == old) continue;
        fact->found = Py_NewRef(now);
        if (fact->array) Py_SETREF(arrays[fact->array - 1], Py_NewRef(now)); /* the old one is alive still */
        Py_DECREF(old);
    }
    return true;
}
