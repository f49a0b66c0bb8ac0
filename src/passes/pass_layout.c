/* SPDX-License-Identifier: Apache-2.0
 *
 * layout: places become addresses.
 *
 *     place arr, i, j   ->   ptradd(ptradd(base arr, i * stride[0] arr), j * 4)
 *     place arr, i      ->   ptradd(base arr, i * stride[0] arr), of a tile
 *
 * Offsets are in bytes and 64 bits wide. The outer axes come first, so that the address of a row is a value of its own
 * which neighbours share; the unit axis of a `unit` array (mostly the last one) is multiplied by a constant, the element's
 * size, and comes last.
 *
 * An i32 index made of add, sub and mul that cannot wrap is computed again in 64 bits, right behind the i32 value: then
 * every address is affine in the 64-bit loop index, which is what LLVM needs to see. Where it might wrap, the i32 value
 * is extended. Not here: sparse and quantised places (later).
 */
#include "passes/passes_int.h"

#define MAX_CHAIN 24 /* ops of an index that are computed again; a longer one is extended at that point */

typedef struct Array { /* what an array's addresses are made of; 0: not made yet */
    PsRef base, strides[PS_MAX_AXES];
} Array;

typedef struct Layout {
    PsFunc *f;
    uint32_t known;     /* ops before the pass */
    PsRef *wide;        /* by PsRef: the i64 version of an index */
    uint32_t *array_of; /* by PsRef of an array: index into arrays + 1 */
    PsVec(Array) arrays;
} Layout;

/* -- what is made once an array, where the array is -- */

static Array *array_at(Layout *c, PsRef array) {
    uint32_t *entry = &c->array_of[array];
    if (!*entry) {
        if (!ps_vec_push(c->f->module->arena, &c->arrays, (Array){0})) return NULL;
        *entry = c->arrays.len;
    }
    return &c->arrays.data[*entry - 1];
}

/* As a place of this type: an element's, or that of a tile of the last axes. */
static PsRef base_of(Layout *c, Array *a, PsRef array, PsType place) {
    if (a->base && ps_op(c->f, a->base)->type == place) return a->base;
    PsBuilder b = passes_after(c->f, array);
    return a->base = ps_build_op(&b, PS_OP_BASE, place, &array, 1, 0);
}

static PsRef stride_of(Layout *c, Array *a, PsRef array, uint32_t axis) {
    if (a->strides[axis]) return a->strides[axis];
    PsBuilder b = passes_after(c->f, array);
    return a->strides[axis] = ps_build_op(&b, PS_OP_STRIDE, PS_I64, &array, 1, axis);
}

/* -- indices in 64 bits -- */

static PsBuilder behind(PsFunc *f, PsRef value) {
    const PsOp *o = ps_op(f, value);
    if (o->code != PS_OP_PARAM) return passes_after(f, value);
    PsRef first = ps_region(f, o->region0)->first;
    return first ? ps_builder_before(f, first) : ps_builder_at_end(f, o->region0);
}

static PsRef widen(Layout *c, PsRef index, int chain) {
    PsFunc *f = c->f;
    const PsOp o = *ps_op(f, index);
    if (o.type == PS_I64) return index;
    if (c->wide[index]) return c->wide[index];
    PsRef made = 0;
    if (o.code == PS_OP_CONST) {
        PsBuilder b = behind(f, index);
        made = ps_build_int(&b, PS_I64, passes_signed(o.type, o.imm));
    } else if ((o.code == PS_OP_ADD || o.code == PS_OP_SUB || o.code == PS_OP_MUL) && chain < MAX_CHAIN &&
               passes_is_exact(f, index)) {
        PsRef left = widen(c, ps_op_arg(f, index, 0), chain + 1),
              right = widen(c, ps_op_arg(f, index, 1), chain + 1);
        PsBuilder b = behind(f, index);
        made = ps_build_binary(&b, o.code, left, right);
    } else {
        PsBuilder b = behind(f, index);
        made = ps_build_cast(&b, index, PS_I64);
    }
    return c->wide[index] = made;
}

/* -- addresses -- */

static bool const_value(const PsFunc *f, PsRef index, int64_t *out) {
    uint64_t bits;
    if (!ps_op_is_const(f, index, &bits)) return false;
    *out = passes_signed(ps_op(f, index)->type, bits);
    return true;
}

/* index * stride in bytes; 0: nothing to add. `size`: the stride where it is known, else 0. */
static PsRef term(Layout *c, PsBuilder *b, Array *a, PsRef place, uint32_t axis, int64_t size) {
    PsFunc *f = c->f;
    PsRef array = ps_op_arg(f, place, 0), index = ps_op_arg(f, place, axis + 1);
    int64_t value;
    bool is_const = const_value(f, index, &value);
    if (is_const && value == 0) return 0;
    if (is_const && size) return ps_build_int(b, PS_I64, (int64_t)((uint64_t)value * (uint64_t)size));
    if (is_const && value == 1) return stride_of(c, a, array, axis);
    PsRef wide = widen(c, index, 0);
    if (size == 1) return wide;
    return ps_build_binary(b, PS_OP_MUL, wide,
                           size ? ps_build_int(b, PS_I64, size) : stride_of(c, a, array, axis));
}

static void lower(Layout *c, PsRef place) {
    PsFunc *f = c->f;
    PsRef array = ps_op_arg(f, place, 0);
    const PsTypeInfo type = *ps_type_info(f->module, ps_op(f, array)->type);
    Array *a = array_at(c, array);
    if (!a) return;
    PsRef base = base_of(c, a, array, ps_op(f, place)->type), outer = 0, last = 0;
    PsBuilder b = passes_before(f, place);
    uint32_t axes = ps_op(f, place)->nargs - 1;
    uint32_t inner = (uint32_t)type.ndim - 1 - type.outer;
    for (uint32_t axis = 0; axis < axes; axis++) {
        if (axis == inner) continue;
        PsRef more = term(c, &b, a, place, axis, 0);
        outer = outer && more ? ps_build_binary(&b, PS_OP_ADD, outer, more) : more ? more : outer;
    }
    if (axes > inner) last = term(c, &b, a, place, inner, type.unit ? ps_scalar_size(type.elem) : 0);
    if (outer && last) {
        PsRef args[2] = {base, outer};
        base = ps_build_op(&b, PS_OP_PTRADD, ps_op(f, place)->type, args, 2, 0);
    }
    PsRef args[2] = {base, last ? last : outer};
    if (args[1])
        passes_become(f, place, PS_OP_PTRADD, args, 2, 0);
    else
        passes_become(f, place, PS_OP_BASE, &array, 1, 0);
}

PsStatus ps_pass_layout(PsModule *m, PsDiag *diag) {
    (void)diag;
    for (uint32_t i = 0; i < m->funcs.len; i++) {
        PsFunc *f = m->funcs.data[i];
        Layout c = {.f = f, .known = f->ops.len};
        c.wide = ps_arena_alloc(m->arena, sizeof(PsRef) * c.known);
        c.array_of = ps_arena_alloc(m->arena, sizeof(uint32_t) * c.known);
        if (!c.wide || !c.array_of) return PS_NOMEM;
        for (PsRef r = ps_walk_first(f), next; r; r = next) {
            next = ps_walk_next(f, r);
            if (ps_op(f, r)->code == PS_OP_PLACE) lower(&c, r);
        }
    }
    return PS_OK;
}
