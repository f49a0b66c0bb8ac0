/* SPDX-License-Identifier: Apache-2.0
 *
 * Which facts are about an instance among the arguments (self of a method, a template() argument) and so may be asked of
 * another instance of its class: then all instances that a kernel would be compiled alike for share one specialisation.
 *
 * An instance is a root if the program used nothing of it but attributes that were looked up as facts; what else it is
 * used for pins it (ps_front_pin_instance). What a fact about a root found is, on the same terms, an instance of its own
 * whose facts are asked of whatever stands there. One that can be reached in two ways must be itself: the program may
 * depend on the two being one.
 */
#include "front/eval/build.h"

static bool is_pythons(const PsFrontTypes *types, const PyTypeObject *type) {
    const PyTypeObject *known = (const PyTypeObject *)types->errors[0]; /* made as classes of Python are */
    for (; type && type != &PyBaseObject_Type; type = type->tp_base)
        if (!known || type->tp_dealloc != known->tp_dealloc) return false;
    return type != NULL;
}

bool ps_is_instance(const PsFrontTypes *types, PyObject *object) {
    const PyTypeObject *type = Py_TYPE(object);
    return type->tp_flags & Py_TPFLAGS_HEAPTYPE && type->tp_getattro == PyObject_GenericGetAttr &&
           is_pythons(types, type);
}

typedef struct Relate {
    PsFacts *facts;
    const PsFrontTypes *types;
    PyObject *const *args;
    bool *vary; /* of args: it is a root */
    uint32_t nargs;
    PyObject *const *pinned;
    uint32_t npinned;
} Relate;

static uint32_t times_given(const Relate *r, PyObject *object) {
    uint32_t times = 0;
    for (uint32_t i = 0; i < r->nargs; i++) times += r->args[i] == object;
    return times;
}

/* Found by nothing but the fact `finder` (UINT32_MAX: it is an argument), and all of its facts are plain look-ups. */
static bool may_vary(const Relate *r, PyObject *object, uint32_t finder) {
    uint32_t given = finder == UINT32_MAX;
    if (!ps_is_instance(r->types, object) || times_given(r, object) != given) return false;
    for (uint32_t i = 0; i < r->npinned; i++)
        if (r->pinned[i] == object) return false;
    for (uint32_t i = 0; i < r->facts->len; i++) {
        const PsFact *fact = &r->facts->items[i];
        if (fact->found == object && i != finder) return false;
        if (fact->holder == object &&
            (fact->kind != PS_FACT_ATTRIBUTE || (finder != UINT32_MAX && i <= finder)))
            return false;
    }
    return true;
}

/* 1 + its number among the arguments, 0: it is none. */
static uint32_t root_of(const Relate *r, PyObject *object) {
    for (uint32_t i = 0; i < r->nargs; i++)
        if (r->vary[i] && r->args[i] == object) return i + 1;
    return 0;
}

static uint32_t from_of(const Relate *r, uint32_t end, PyObject *holder) {
    uint32_t root = root_of(r, holder);
    for (uint32_t i = 0; i < end && !root; i++)
        if (r->facts->items[i].like && r->facts->items[i].found == holder) return 1 + r->nargs + i;
    return root;
}

void ps_facts_relate(PsFacts *facts, const PsFrontTypes *types, PyObject *const *args, bool *vary,
                     uint32_t nargs, PyObject *const *pinned, uint32_t npinned) {
    const Relate r = {facts, types, args, vary, nargs, pinned, npinned};
    facts->nargs = nargs;
    bool any = false;
    for (uint32_t i = 0; i < nargs; i++) {
        vary[i] = args[i] && may_vary(&r, args[i], UINT32_MAX);
        any |= vary[i];
    }
    for (uint32_t i = 0; i < facts->len; i++) {
        PsFact *fact = &facts->items[i];
        fact->from = any ? from_of(&r, i, fact->holder) : 0; /* of each with all before it */
        fact->like = fact->from && fact->found && may_vary(&r, fact->found, i);
    }
}
