/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of vectors and matrices: v[i], m[i, j], slices, rows, swizzles. Of what lies in memory an element is a
 * place, so that it can be assigned; slices and swizzles of it are the places of their elements. Of other values they
 * are copies. An index known only at run time is one op, for a matrix of any size.
 */
#include "front/loop/loop_int.h"

#include <string.h>

typedef struct Axis { /* one index, or the elements start, start + step, ... */
    bool is_slice;
    int64_t start, step, count;
    PsRef index; /* of an element: as an op */
} Axis;

static PsRef index_at(Loop *l, const Axis *axis, int64_t k) {
    return axis->is_slice ? ps_build_int(loop_b(l), PS_I32, axis->start + k * axis->step) : axis->index;
}

/* -- indices -- */

static PsStatus slice_axis(Loop *l, PyObject *slice, int64_t length, Axis *out) {
    Py_ssize_t start, stop, step;
    PySliceObject *parts = (PySliceObject *)slice;
    PyObject *all[3] = {parts->start, parts->stop, parts->step};
    for (int i = 0; i < 3; i++) {
        PsValue part = ps_value_python(all[i]);
        int64_t known;
        if (all[i] != Py_None && !ps_number_int(all[i], &known)) {
            if (ps_proxy_check(&l->front, all[i])) TRY(ps_proxy_value(&l->front, all[i], &part));
            return FAIL(l, SLICE_PART, loop_describe(l, &part));
        }
    }
    if (PySlice_Unpack(slice, &start, &stop, &step)) return ps_front_python_failed(&l->front);
    out->count = PySlice_AdjustIndices((Py_ssize_t)length, &start, &stop, step);
    out->is_slice = true;
    out->start = start;
    out->step = step;
    return out->count ? PS_OK : FAIL(l, TILE_EMPTY);
}

static PsStatus element_axis(Loop *l, const PsValue *index, int position, int64_t length, const char *what,
                             Axis *out) {
    int64_t known;
    *out = (Axis){.count = 1};
    if (index->kind == PS_VALUE_PYTHON && ps_number_int(index->object, &known) && known >= length)
        return FAIL(l, TILE_INDEX, (long long)known, position, what);
    return loop_to_index(l, index, position, &out->index);
}

/* Of an element of an array whose indices are moved to the nearest that there is. */
static PsStatus clamped_axis(Loop *l, const PsValue *index, int position, int64_t length, Axis *out) {
    PsBuilder *b = loop_b(l);
    int64_t known;
    *out = (Axis){.count = 1};
    if (index->kind == PS_VALUE_PYTHON && PyLong_Check(index->object) && ps_number_int(index->object, &known)) {
        out->index = ps_build_int(b, PS_I32, known < 0 ? 0 : known < length ? known : length - 1);
        return PS_OK;
    }
    TRY(loop_to_index(l, index, position, &out->index));
    PsType type = loop_type_of(l, out->index);
    out->index = ps_build_binary(b, PS_OP_MIN, out->index, ps_build_int(b, type, length - 1));
    out->index = ps_build_binary(b, PS_OP_MAX, out->index, ps_build_int(b, type, 0));
    return PS_OK;
}

static PsStatus read_axes(Loop *l, const PsValue *base, const PsValue *indices, uint32_t n, Axis *axes) {
    PsType type = loop_tile_type(l, base);
    int ndim = loop_tile_ndim(l, type);
    if (n > (uint32_t)ndim || !n || (n < (uint32_t)ndim && n != 1)) return FAIL(l, TILE_INDEX_COUNT, ndim, n);
    for (int i = 0; i < ndim; i++) {
        int64_t length = loop_tile_axis(l, type, i);
        if (i >= (int)n)
            axes[i] = (Axis){.is_slice = true, .step = 1, .count = length}; /* m[i]: a row */
        else if (indices[i].kind == PS_VALUE_PYTHON && PySlice_Check(indices[i].object))
            TRY(slice_axis(l, indices[i].object, length, &axes[i]));
        else if (base->clamp && base->kind == PS_VALUE_PLACE)
            TRY(clamped_axis(l, &indices[i], i, length, &axes[i]));
        else
            TRY(element_axis(l, &indices[i], i, length, loop_describe(l, base), &axes[i]));
    }
    return PS_OK;
}

/* -- elements -- */

static PsStatus known_part(Loop *l, const PsValue *base, const PsRef *index, PsValue *out, bool *done) {
    uint64_t at = 0, bits;
    PsType type = base->type;
    int ndim = loop_tile_ndim(l, type);
    for (int i = 0; i < ndim && i < 2; i++) { /* parts are vectors and matrices */
        if (!ps_op_is_const(loop_b(l)->func, index[i], &bits)) return PS_OK;
        at = at * (uint64_t)loop_tile_axis(l, type, i) + bits;
    }
    *out = base->items[at];
    *done = true;
    return PS_OK;
}

/* The element of a tile (a value, or where it lies) by one op per axis. */
static PsStatus element(Loop *l, const PsValue *base, const PsRef *index, PsValue *out) {
    int ndim = loop_tile_ndim(l, base->type);
    bool done = false;
    if (base->kind == PS_VALUE_PLACE) {
        PsRef place = ps_build_elem(loop_b(l), base->ref, index, (uint32_t)ndim);
        *out = (PsValue){
            .kind = PS_VALUE_PLACE, .ref = place, .type = ps_type_element(l->front.module, base->type)};
        return PS_OK;
    }
    if (base->kind == PS_VALUE_PARTS) TRY(known_part(l, base, index, out, &done));
    if (done) return PS_OK;
    PsValue tile = loop_load(l, base);
    *out = loop_value(l, ps_build_extract(loop_b(l), tile.ref, index, (uint32_t)ndim));
    return PS_OK;
}

/* Parts of memory stay places; of a value they become a tile. */
static PsStatus gather(Loop *l, const PsValue *base, PsType type, PsValue *items, uint32_t n, PsValue *out) {
    if (base->kind != PS_VALUE_TILE) {
        *out = (PsValue){.kind = PS_VALUE_PARTS, .type = type, .count = n, .items = items};
        return PS_OK;
    }
    PsRef *refs = ps_arena_alloc(l->front.arena, sizeof *refs * n);
    if (!refs) return PS_NOMEM;
    for (uint32_t i = 0; i < n; i++) refs[i] = items[i].ref;
    *out = loop_tile(l, type, refs);
    return PS_OK;
}

static PsStatus parts(Loop *l, const PsValue *base, const Axis *axes, PsValue *out) {
    int ndim = loop_tile_ndim(l, base->type), kept = 0;
    int64_t shape[2] = {1, 1}, columns = ndim == 2 ? axes[1].count : 1;
    for (int i = 0; i < ndim && i < 2; i++)
        if (axes[i].is_slice) shape[kept++] = axes[i].count;
    int64_t n = shape[0] * shape[1];
    PsType type = ps_type_tile(l->front.module, ps_type_element(l->front.module, base->type), kept, shape);
    PsValue *items = ps_arena_alloc(l->front.arena, sizeof *items * (size_t)n);
    if (!items) return PS_NOMEM;
    for (int64_t k = 0; k < n; k++) {
        PsRef index[2] = {index_at(l, &axes[0], k / columns)};
        if (ndim == 2) index[1] = index_at(l, &axes[1], k % columns);
        TRY(element(l, base, index, &items[k]));
    }
    return gather(l, base, type, items, (uint32_t)n, out);
}

PsStatus loop_index_tile(Loop *l, const PsValue *given, const PsValue *indices, uint32_t n, PsValue *out) {
    PsValue base = *given;
    Axis axes[2] = {{0}};
    TRY(read_axes(l, &base, indices, n, axes));
    if (base.kind == PS_VALUE_PYTHON) {
        PsRef tile;
        TRY(loop_host_tile(l, &base, loop_element(l, &base), &tile));
        base = loop_value(l, tile);
    }
    int ndim = loop_tile_ndim(l, base.type);
    if (axes[0].is_slice || (ndim == 2 && axes[1].is_slice)) return parts(l, &base, axes, out);
    PsRef index[2] = {axes[0].index, axes[1].index};
    return element(l, &base, index, out);
}

PsStatus loop_tile_element(Loop *l, const PsValue *base, int64_t i, int64_t j, PsValue *out) {
    PsRef index[2] = {ps_build_int(loop_b(l), PS_I32, i), 0};
    if (loop_tile_ndim(l, base->type) == 2) index[1] = ps_build_int(loop_b(l), PS_I32, j);
    return element(l, base, index, out);
}

/* The elements of a vector, the rows of a matrix. */
PsStatus loop_tile_items(Loop *l, const PsValue *value, PsValue **out, uint32_t *out_len) {
    PsValue base = *value;
    if (base.kind == PS_VALUE_PYTHON) {
        PsRef tile;
        TRY(loop_host_tile(l, &base, loop_element(l, &base), &tile));
        base = loop_value(l, tile);
    }
    uint32_t n = (uint32_t)loop_tile_axis(l, base.type, 0);
    PsValue *items = ps_arena_alloc(l->front.arena, sizeof *items * (n + 1));
    if (!items) return PS_NOMEM;
    Axis row[2] = {{.count = 1}, {.is_slice = true, .step = 1, .count = loop_tile_axis(l, base.type, 1)}};
    for (uint32_t i = 0; i < n; i++) {
        row[0].index = ps_build_int(loop_b(l), PS_I32, i);
        if (loop_tile_ndim(l, base.type) == 2)
            TRY(parts(l, &base, row, &items[i]));
        else
            TRY(element(l, &base, &row[0].index, &items[i]));
        items[i] = loop_load(l, &items[i]);
    }
    *out = items;
    *out_len = n;
    return PS_OK;
}

/* -- swizzles -- */

/* .xyz, .rgb, .stp: letters of one of the sets, at most four. */
int loop_swizzle(const char *name, int *out) {
    static const char *const sets[] = {"xyzw", "rgba", "stpq"};
    size_t n = strlen(name);
    if (!n || n > 4) return 0;
    for (size_t s = 0; s < PS_COUNT(sets); s++) {
        size_t k = 0;
        for (; k < n; k++) {
            const char *at = strchr(sets[s], name[k]);
            if (!at) break;
            out[k] = (int)(at - sets[s]);
        }
        if (k == n) return (int)n;
    }
    return 0;
}

PsStatus loop_swizzle_of(Loop *l, const PsValue *base, const char *name, PsValue *out) {
    int which[4], n = loop_swizzle(name, which);
    int64_t length = loop_tile_axis(l, base->type, 0);
    PsValue *items = ps_arena_alloc(l->front.arena, sizeof *items * 4);
    if (!items) return PS_NOMEM;
    for (int i = 0; i < n; i++) {
        if (which[i] >= length) return FAIL(l, SWIZZLE, name, loop_describe(l, base));
        TRY(loop_tile_element(l, base, which[i], 0, &items[i]));
    }
    if (n == 1) {
        *out = items[0];
        return PS_OK;
    }
    PsType type = loop_vector_type(l, ps_type_element(l->front.module, base->type), n);
    return gather(l, base, type, items, (uint32_t)n, out);
}
