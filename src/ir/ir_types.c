/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_types: the table of types of a module. Equal types have equal ids, so comparing types is comparing integers;
 * the scalars' ids are their kinds and the same in every module.
 */
#include "ir/ir.h"

#include <string.h>

static const struct ScalarInfo {
    const char *name;
    PsClass class;
    uint8_t bits, size;
} scalars[PS_SCALAR_END] = {
#define PS_SCALAR(id, name, bits, class, ctype) [PS_##id] = {name, PS_CLASS_##class, bits, sizeof(ctype)},
#include "ir/types.def"
};

#define PS_SCALAR(id, name, bits, class, ctype)                                                                \
    _Static_assert(bits == 8 * sizeof(ctype), "the bits of " name " are those of its C type");
#include "ir/types.def"

static const struct ScalarInfo *scalar_info(PsType scalar) {
    return &scalars[ps_type_is_scalar(scalar) ? scalar : PS_KIND_NONE];
}

PsClass ps_scalar_class(PsType scalar) { return scalar_info(scalar)->class; }
int ps_scalar_bits(PsType scalar) { return scalar_info(scalar)->bits; }
int ps_scalar_size(PsType scalar) { return scalar_info(scalar)->size; }
const char *ps_scalar_name(PsType scalar) { return ps_type_is_scalar(scalar) ? scalars[scalar].name : "none"; }

PsType ps_scalar_by_name(const char *name, size_t len) {
    for (PsType t = PS_KIND_NONE + 1; t < PS_SCALAR_END; t++) {
        if (strlen(scalars[t].name) == len && !memcmp(scalars[t].name, name, len)) return t;
    }
    return PS_KIND_NONE;
}

/* What tells two types apart, without padding or unused axes. */
typedef struct TypeKey {
    int64_t head[2];
    int64_t shape[PS_MAX_AXES];
} TypeKey;

static PsType find_or_add(PsModule *m, const PsTypeInfo *info) {
    TypeKey key = {
        .head = {(int64_t)info->kind << 32 | info->elem, info->ndim << 1 | info->unit | info->outer << 8}};
    size_t axes = info->kind == PS_KIND_TILE ? info->ndim : 0, len = sizeof key.head + axes * sizeof *key.shape;
    memcpy(key.shape, info->shape, axes * sizeof *key.shape);
    uint64_t id;
    if (ps_map_get(&m->type_ids, &key, len, &id)) return (PsType)id;
    if (!ps_vec_push(m->arena, &m->types, *info)) return PS_KIND_NONE;
    if (ps_map_put(&m->type_ids, &key, len, m->types.len - 1)) return m->types.len - 1;
    m->types.len--;
    return PS_KIND_NONE;
}

/* What can be stored and loaded. */
static bool is_value(const PsModule *m, PsType t) {
    return ps_type_is_scalar(t) || (t < m->types.len && m->types.data[t].kind == PS_KIND_TILE);
}

PsType ps_type_ptr(PsModule *m, PsType elem) {
    if (!is_value(m, elem)) return PS_KIND_NONE;
    return find_or_add(m, &(PsTypeInfo){.kind = PS_KIND_PTR, .elem = elem});
}

PsType ps_type_array(PsModule *m, PsType elem, int ndim, bool unit) {
    if (!ps_type_is_scalar(elem) || ndim < 0 || ndim > PS_MAX_AXES) return PS_KIND_NONE;
    return find_or_add(m,
                       &(PsTypeInfo){.kind = PS_KIND_ARRAY, .elem = elem, .ndim = (uint8_t)ndim, .unit = unit});
}

PsType ps_type_array_outer(PsModule *m, PsType elem, int ndim, int outer) {
    if (!ps_type_is_scalar(elem) || ndim > PS_MAX_AXES || outer < 0 || outer >= ndim) return PS_KIND_NONE;
    return find_or_add(
        m,
        &(PsTypeInfo){
            .kind = PS_KIND_ARRAY, .elem = elem, .ndim = (uint8_t)ndim, .unit = true, .outer = (uint8_t)outer});
}

PsType ps_type_tile(PsModule *m, PsType elem, int ndim, const int64_t *shape) {
    if (!ps_type_is_scalar(elem) || ndim < 1 || ndim > PS_MAX_AXES) return PS_KIND_NONE;
    PsTypeInfo info = {.kind = PS_KIND_TILE, .elem = elem, .ndim = (uint8_t)ndim};
    int64_t count = 1;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 1 || shape[i] > PS_MAX_TILE / count) return PS_KIND_NONE;
        count *= shape[i];
        info.shape[i] = shape[i];
    }
    return find_or_add(m, &info);
}

PsType ps_type_element(const PsModule *m, PsType t) {
    const PsTypeInfo *info = ps_type_info(m, t);
    return info->kind == PS_KIND_TILE ? info->elem : t;
}

int64_t ps_type_count(const PsModule *m, PsType t) {
    const PsTypeInfo *info = ps_type_info(m, t);
    if (info->kind != PS_KIND_TILE) return 1;
    int64_t count = 1;
    for (int i = 0; i < info->ndim; i++) count *= info->shape[i];
    return count;
}

PsType ps_type_with_element(PsModule *m, PsType like, PsType elem) {
    PsTypeInfo info = *ps_type_info(m, like); /* a copy: the table may move */
    return info.kind == PS_KIND_TILE ? ps_type_tile(m, elem, info.ndim, info.shape) : elem;
}

static void print_shape(const PsTypeInfo *info, PsBuf *out) {
    for (int i = 0; i < info->ndim; i++) ps_buf_printf(out, "%s%lld", i ? "x" : ",", (long long)info->shape[i]);
}

void ps_type_print(const PsModule *m, PsType t, PsBuf *out) {
    const PsTypeInfo *info = ps_type_info(m, t);
    switch (info->kind) {
    case PS_KIND_PTR: ps_buf_text(out, "ptr<"); break;
    case PS_KIND_ARRAY: ps_buf_text(out, "array<"); break;
    case PS_KIND_TILE: ps_buf_text(out, "tile<"); break;
    default: ps_buf_text(out, ps_scalar_name(t)); return;
    }
    ps_type_print(m, info->elem, out);
    if (info->kind == PS_KIND_ARRAY) ps_buf_printf(out, ",%d%s", info->ndim, info->unit ? ",unit" : "");
    if (info->kind == PS_KIND_ARRAY && info->outer) ps_buf_printf(out, ",%d", info->outer);
    if (info->kind == PS_KIND_TILE) print_shape(info, out);
    ps_buf_text(out, ">");
}
