/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_eval_memory: memory in the evaluator. A place is a byte offset into an object (an array argument or a local), and
 * knows the object's extent; making one that points outside is allowed, as the op is pure, and every access asks. A
 * place made from indices also remembers the first index that was out of bounds, since such an index may still hit
 * bytes of the object. A tile's place has a stride an axis. Data is copied, never dereferenced in place: arrays may lie at any address.
 */
#include "ir/ir_eval_int.h"

#include <string.h>

static EvalPlace *place_at(uint64_t *words, uint32_t slot) { return (EvalPlace *)(void *)&words[slot]; }
static const EvalArray *array_of(const EvalOperand *o, const uint64_t *words) {
    return (const EvalArray *)(uintptr_t)words[o->slot];
}

/* Sums and products of offsets wrap; a view that needs more than 64 bits does not exist. */
static int64_t wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

EvalArray ir_eval_array(const PsModule *m, PsType type, const PsArrayView *view) {
    EvalArray array = {.view = *view};
    array.high = ps_scalar_size(ps_type_info(m, type)->elem);
    for (int i = 0; i < view->ndim; i++) {
        int64_t reach = wrap_mul(view->shape[i] - 1, view->strides[i]);
        if (view->shape[i] <= 0) {
            array.low = array.high = 0;
            break;
        }
        if (reach < 0)
            array.low = wrap_add(array.low, reach);
        else
            array.high = wrap_add(array.high, reach);
    }
    return array;
}

/* -- places -- */

bool ir_eval_var(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    size_t size = (size_t)ins->count * (size_t)ps_scalar_size(ins->type);
    char *storage = (char *)&words[ins->u.storage];
    memset(storage, 0, size);
    *place_at(words, ins->dst) = (EvalPlace){.base = storage, .high = (int64_t)size, .axis = -1};
    return ins->count == 1 || ir_eval_spend(run, ins->count);
}

bool ir_eval_dim(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    (void)run;
    words[ins->dst] = (uint32_t)array_of(&ins->args[0], words)->view.shape[ins->imm];
    return true;
}

bool ir_eval_stride(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    (void)run;
    words[ins->dst] = (uint64_t)array_of(&ins->args[0], words)->view.strides[ins->imm];
    return true;
}

/* Goes `index` strides on, on an axis of this length. */
static void step(EvalPlace *place, int64_t index, int64_t axis, int64_t length, int64_t stride) {
    if ((index < 0 || index >= length) && place->axis < 0) {
        place->index = index;
        place->axis = axis;
        place->length = length;
    }
    place->offset = wrap_add(place->offset, wrap_mul(index, stride));
}

static const PsTypeInfo *pointee(const EvalRun *run, PsType ptr) {
    return ps_type_info(run->module, ps_type_info(run->module, ptr)->elem);
}

/* The trailing axes of an array become those of the tile that the place is of. If they are too short for it, no element
 * may be touched. */
static void take_axes(const EvalRun *run, const EvalIns *ins, const PsArrayView *view, EvalPlace *place) {
    const PsTypeInfo *tile = pointee(run, ps_op(run->frame->func->func, ins->ref)->type);
    int first = view->ndim - tile->ndim;
    if (!tile->ndim || first < 0) return;
    place->strides = &view->strides[first];
    for (int i = 0; i < tile->ndim; i++) {
        int64_t length = view->shape[first + i];
        if (length < tile->shape[i]) step(place, tile->shape[i] - 1, first + i, length, 0);
    }
}

bool ir_eval_place(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const EvalArray *array = array_of(&ins->args[0], words);
    EvalPlace place = {.base = array->view.data, .low = array->low, .high = array->high, .axis = -1};
    for (uint32_t i = 1; i < ins->nargs; i++) {
        int64_t index = ir_eval_int(&ins->args[i], words);
        step(&place, index, i - 1, array->view.shape[i - 1], array->view.strides[i - 1]);
    }
    take_axes(run, ins, &array->view, &place);
    *place_at(words, ins->dst) = place;
    return true;
}

bool ir_eval_base(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const EvalArray *array = array_of(&ins->args[0], words);
    EvalPlace place = {.base = array->view.data, .low = array->low, .high = array->high, .axis = -1};
    take_axes(run, ins, &array->view, &place);
    *place_at(words, ins->dst) = place;
    return true;
}

/* The bytes between neighbours on each axis of a tile's place. */
static void find_strides(const EvalPlace *place, const PsTypeInfo *tile, int64_t *out) {
    int64_t dense = ps_scalar_size(tile->elem);
    for (int i = tile->ndim - 1; i >= 0; i--) {
        out[i] = place->strides ? place->strides[i] : dense;
        dense *= tile->shape[i];
    }
}

bool ir_eval_elem(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const PsTypeInfo *tile = pointee(run, ins->args[0].type);
    EvalPlace place = *place_at(words, ins->args[0].slot);
    int64_t strides[PS_MAX_AXES];
    find_strides(&place, tile, strides);
    if (ins->nargs != 1u + tile->ndim) return ir_eval_stop(run, PS_FAIL);
    for (uint32_t i = 0; i < tile->ndim; i++)
        step(&place, ir_eval_int(&ins->args[i + 1], words), i, tile->shape[i], strides[i]);
    place.strides = NULL;
    *place_at(words, ins->dst) = place;
    return true;
}

bool ir_eval_ptradd(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    (void)run;
    EvalPlace place = *place_at(words, ins->args[0].slot);
    place.offset = wrap_add(place.offset, ir_eval_int(&ins->args[1], words));
    *place_at(words, ins->dst) = place;
    return true;
}

/* -- accesses -- */

/* The address of `size` bytes at the place; NULL after a fault. */
static char *reach(EvalRun *run, PsRef ref, const EvalPlace *place, int64_t size) {
    if (place->axis >= 0) {
        int64_t values[] = {place->index, place->axis, place->length};
        ir_eval_fault(run, ref, PS_FAULT_BOUNDS, 3, values);
        return NULL;
    }
    if (place->offset < place->low || size > place->high - place->low || place->offset > place->high - size) {
        int64_t values[] = {place->offset, -1, place->high - place->low};
        ir_eval_fault(run, ref, PS_FAULT_BOUNDS, 3, values);
        return NULL;
    }
    return place->base + place->offset;
}

static uint64_t get(const char *from, PsType elem) {
    uint8_t b1;
    uint16_t b2;
    uint32_t b4;
    uint64_t b8;
    switch (ps_scalar_size(elem)) {
    case 1: memcpy(&b1, from, 1); return elem == PS_U1 ? b1 != 0 : b1;
    case 2: memcpy(&b2, from, 2); return b2;
    case 4: memcpy(&b4, from, 4); return b4;
    default: memcpy(&b8, from, 8); return b8;
    }
}

static void put(char *to, PsType elem, uint64_t bits) {
    uint8_t b1 = (uint8_t)bits;
    uint16_t b2 = (uint16_t)bits;
    uint32_t b4 = (uint32_t)bits;
    switch (ps_scalar_size(elem)) {
    case 1: memcpy(to, &b1, 1); break;
    case 2: memcpy(to, &b2, 2); break;
    case 4: memcpy(to, &b4, 4); break;
    default: memcpy(to, &bits, 8); break;
    }
}

/* -- whole values: a scalar, or a tile element after element -- */

typedef struct Walk {
    EvalPlace at; /* the element's */
    PsType elem;
    int64_t size; /* in bytes */
    uint32_t left;
    int ndim;
    int64_t index[PS_MAX_AXES], shape[PS_MAX_AXES], strides[PS_MAX_AXES];
} Walk;

static Walk walk_of(const EvalRun *run, const EvalPlace *place, PsType ptr) {
    PsType type = ps_type_info(run->module, ptr)->elem;
    const PsTypeInfo *info = ps_type_info(run->module, type);
    Walk w = {.at = *place, .elem = ps_type_element(run->module, type), .ndim = info->ndim};
    w.size = ps_scalar_size(w.elem);
    w.left = (uint32_t)ps_type_count(run->module, type);
    memcpy(w.shape, info->shape, sizeof w.shape);
    if (w.ndim) find_strides(place, info, w.strides);
    return w;
}

static void walk_on(Walk *w) {
    w->left--;
    for (int i = w->ndim - 1; i >= 0; i--) {
        w->at.offset = wrap_add(w->at.offset, w->strides[i]);
        if (++w->index[i] < w->shape[i]) return;
        w->at.offset = wrap_add(w->at.offset, wrap_mul(-w->shape[i], w->strides[i]));
        w->index[i] = 0;
    }
}

static bool walk_cost(EvalRun *run, const Walk *w) { return !w->ndim || ir_eval_spend(run, w->left); }

bool ir_eval_read(EvalRun *run, PsRef ref, const EvalPlace *place, PsType ptr, uint64_t *out) {
    Walk w = walk_of(run, place, ptr);
    if (!walk_cost(run, &w)) return false;
    for (; w.left; walk_on(&w)) {
        const char *from = reach(run, ref, &w.at, w.size);
        if (!from) return false;
        *out++ = get(from, w.elem);
    }
    return true;
}

bool ir_eval_write(EvalRun *run, PsRef ref, const EvalPlace *place, PsType ptr, const uint64_t *values) {
    Walk w = walk_of(run, place, ptr);
    if (!walk_cost(run, &w)) return false;
    for (; w.left; walk_on(&w)) {
        char *to = reach(run, ref, &w.at, w.size);
        if (!to) return false;
        put(to, w.elem, *values++);
    }
    return true;
}

bool ir_eval_load(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const EvalPlace *place = place_at(words, ins->args[0].slot);
    return ir_eval_read(run, ins->ref, place, ins->args[0].type, &words[ins->dst]);
}

bool ir_eval_address(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    Walk w = walk_of(run, place_at(words, ins->args[0].slot), ins->args[0].type);
    const char *at = reach(run, ins->ref, &w.at, w.size);
    words[ins->dst] = (uint64_t)(uintptr_t)at;
    return at != NULL;
}

bool ir_eval_clock(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    (void)run;
    words[ins->dst] = (uint64_t)ps_clock_ticks();
    return true;
}

bool ir_eval_store(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const EvalPlace *place = place_at(words, ins->args[0].slot);
    return ir_eval_write(run, ins->ref, place, ins->args[0].type, &words[ins->args[1].slot]);
}

/* One thread runs everything, so an atomic is a load, the op, a store. What elements of a tile share, an earlier one has
 * changed when a later one reads it. */
static bool for_each(EvalRun *run, const EvalIns *ins, uint64_t *words,
                     bool (*change)(const EvalIns *ins, uint64_t *values)) {
    Walk w = walk_of(run, place_at(words, ins->args[0].slot), ins->args[0].type);
    if (!walk_cost(run, &w)) return false;
    for (uint32_t i = 0; w.left; walk_on(&w), i++) {
        char *at = reach(run, ins->ref, &w.at, w.size);
        if (!at) return false;
        uint64_t values[3] = {get(at, w.elem)};
        words[ins->dst + i] = values[0];
        for (uint32_t k = 1; k < ins->nargs; k++) values[k] = words[ins->args[k].slot + i];
        if (change(ins, values)) put(at, w.elem, values[0]);
    }
    return true;
}

/* values: old, operands; the new one goes first. */
static bool combine(const EvalIns *ins, uint64_t *values) {
    values[0] = ps_eval_scalar(ins->op, ins->type, ins->type, values);
    return true;
}

static bool exchange(const EvalIns *ins, uint64_t *values) {
    bool compares = ins->op == PS_OP_ATOMIC_CAS, equal = values[0] == values[1];
    values[0] = values[compares ? 2 : 1];
    return !compares || equal;
}

bool ir_eval_atomic(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    return for_each(run, ins, words, combine);
}

bool ir_eval_exchange(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    return for_each(run, ins, words, exchange);
}
