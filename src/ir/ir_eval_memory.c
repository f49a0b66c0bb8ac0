/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_eval_memory: memory in the evaluator. A place is a byte offset into an object (an array argument or a local), and
 * knows the object's extent; making one that points outside is allowed, as the op is pure, and every access asks. A
 * place made from indices also remembers the first index that was out of bounds, since such an index may still hit
 * bytes of the object. Data is copied, never dereferenced in place: arrays may lie at any address.
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
    PsType elem = ps_type_info(m, type)->elem;
    EvalArray array = {.view = *view};
    array.high = ps_scalar_size(ps_type_element(m, elem)) * ps_type_count(m, elem);
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

bool ir_eval_base(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    (void)run;
    const EvalArray *array = array_of(&ins->args[0], words);
    *place_at(words, ins->dst) =
        (EvalPlace){.base = array->view.data, .low = array->low, .high = array->high, .axis = -1};
    return true;
}

bool ir_eval_place(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    (void)run;
    const EvalArray *array = array_of(&ins->args[0], words);
    EvalPlace place = {.base = array->view.data, .low = array->low, .high = array->high, .axis = -1};
    for (uint32_t i = 1; i < ins->nargs; i++) {
        int64_t index = ir_eval_int(&ins->args[i], words), length = array->view.shape[i - 1];
        if ((index < 0 || index >= length) && place.axis < 0) {
            place.index = index;
            place.axis = i - 1;
            place.length = length;
        }
        place.offset = wrap_add(place.offset, wrap_mul(index, array->view.strides[i - 1]));
    }
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

bool ir_eval_read(EvalRun *run, PsRef ref, const EvalPlace *place, PsType elem, uint32_t count, uint64_t *out) {
    int64_t size = ps_scalar_size(elem);
    const char *from = reach(run, ref, place, size * count);
    if (!from) return false;
    for (uint32_t i = 0; i < count; i++) out[i] = get(from + i * size, elem);
    return count == 1 || ir_eval_spend(run, count);
}

bool ir_eval_write(EvalRun *run, PsRef ref, const EvalPlace *place, PsType elem, uint32_t count,
                   const uint64_t *values) {
    int64_t size = ps_scalar_size(elem);
    char *to = reach(run, ref, place, size * count);
    if (!to) return false;
    for (uint32_t i = 0; i < count; i++) put(to + i * size, elem, values[i]);
    return count == 1 || ir_eval_spend(run, count);
}

bool ir_eval_load(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const EvalPlace *place = place_at(words, ins->args[0].slot);
    return ir_eval_read(run, ins->ref, place, ins->type, ins->count, &words[ins->dst]);
}

bool ir_eval_store(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const EvalPlace *place = place_at(words, ins->args[0].slot);
    return ir_eval_write(run, ins->ref, place, ins->type, ins->count, &words[ins->args[1].slot]);
}

/* One thread runs everything, so an atomic is a load, the op, a store. */
bool ir_eval_atomic(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const EvalPlace *place = place_at(words, ins->args[0].slot);
    int64_t size = ps_scalar_size(ins->type);
    char *at = reach(run, ins->ref, place, size * ins->count);
    if (!at) return false;
    for (uint32_t i = 0; i < ins->count; i++) {
        uint64_t pair[2] = {get(at + i * size, ins->type), words[ins->args[1].slot + i]};
        words[ins->dst + i] = pair[0];
        put(at + i * size, ins->type, ps_eval_scalar(ins->op, ins->type, ins->type, pair));
    }
    return ins->count == 1 || ir_eval_spend(run, ins->count);
}

bool ir_eval_exchange(EvalRun *run, const EvalIns *ins, uint64_t *words) {
    const EvalPlace *place = place_at(words, ins->args[0].slot);
    uint64_t *old = &words[ins->dst];
    if (!ir_eval_read(run, ins->ref, place, ins->type, ins->count, old)) return false;
    bool compares = ins->op == PS_OP_ATOMIC_CAS;
    size_t size = sizeof *old * ins->count;
    if (compares && memcmp(old, &words[ins->args[1].slot], size) != 0) return true;
    return ir_eval_write(run, ins->ref, place, ins->type, ins->count, &words[ins->args[compares ? 2 : 1].slot]);
}
