/* SPDX-License-Identifier: Apache-2.0
 *
 * tools_value: parameters as text. A scalar is a number; an array is a list, lists in lists, or zeros(shape), behind
 * order(axes) when its axes lie in memory in another order than C's. Numbers
 * that their type cannot hold are refused, since a test that meant them would mislead.
 */
#include "tools/tools_int.h"
#include "abi/half.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((int64_t)1 << 28)

typedef struct Reader {
    const char *at, *text;
    ToolsValue *value;
    PsBuf data;
    bool known[PS_MAX_AXES]; /* whether the axis has its length */
    int order[PS_MAX_AXES];  /* the axes from the outermost in memory to the innermost */
} Reader;

static bool refuse(const Reader *r, const char *what) {
    return tools_error("%s in argument %s", what, r->text);
}

static void skip_blanks(Reader *r) {
    while (isspace((unsigned char)*r->at)) r->at++;
}

static bool accept(Reader *r, const char *word) {
    skip_blanks(r);
    size_t len = strlen(word);
    if (strncmp(r->at, word, len) != 0) return false;
    r->at += len;
    return true;
}

/* -- numbers -- */

static bool fits(PsType t, bool negative, uint64_t size) {
    int bits = t == PS_U1 ? 1 : ps_scalar_bits(t);
    if (ps_scalar_class(t) != PS_CLASS_INT) return !negative ? size <= UINT64_MAX >> (64 - bits) : size == 0;
    return size <= ((uint64_t)1 << (bits - 1)) - !negative;
}

static bool read_int(Reader *r, PsType t, uint64_t *out) {
    bool negative = *r->at == '-';
    if (*r->at == '-' || *r->at == '+') r->at++;
    if (!isdigit((unsigned char)*r->at)) return refuse(r, "expected an integer");
    char *end;
    errno = 0;
    uint64_t size = strtoull(r->at, &end, strncmp(r->at, "0x", 2) == 0 ? 16 : 10);
    if (errno || !fits(t, negative, size)) return refuse(r, "an integer beyond its type");
    r->at = end;
    int bits = t == PS_U1 ? 1 : ps_scalar_bits(t);
    *out = (negative ? 0 - size : size) & UINT64_MAX >> (64 - bits);
    return true;
}

static bool read_float(Reader *r, PsType t, uint64_t *out) {
    char *end;
    float single = strtof(r->at, &end);
    double value = strtod(r->at, &end);
    if (end == r->at) return refuse(r, "expected a number");
    r->at = end;
    *out = t == PS_F64   ? ps_f64_bits(value)
           : t == PS_F32 ? ps_f32_bits(single)
           : t == PS_F16 ? ps_f64_to_f16(value)
                         : ps_f64_to_bf16(value);
    return true;
}

static bool read_number(Reader *r, uint64_t *out) {
    PsType t = r->value->elem;
    bool truth = accept(r, "True");
    if (truth || accept(r, "False")) {
        uint64_t bits = truth;
        *out = ps_eval_scalar(PS_OP_CAST, PS_U1, t, &bits);
        return true;
    }
    return ps_scalar_class(t) == PS_CLASS_FLOAT ? read_float(r, t, out) : read_int(r, t, out);
}

/* -- arrays -- */

/* Little-endian machines only, as the rest of Pestle. */
static void add_element(Reader *r, uint64_t bits) {
    ps_buf_add(&r->data, &bits, (size_t)ps_scalar_size(r->value->elem));
}

static bool read_list(Reader *r, int axis) {
    ToolsValue *v = r->value;
    uint64_t bits = 0;
    if (axis == v->ndim) {
        if (!read_number(r, &bits)) return false;
        add_element(r, bits);
        return true;
    }
    int64_t length = 0;
    if (!accept(r, "[")) return refuse(r, "expected [");
    for (; !accept(r, "]"); length++) {
        if (length && !accept(r, ",")) return refuse(r, "expected , or ]");
        if (!read_list(r, axis + 1)) return false;
    }
    if (r->known[axis] && v->shape[axis] != length) return refuse(r, "lists of different lengths");
    r->known[axis] = true;
    v->shape[axis] = length;
    return true;
}

static bool read_zeros(Reader *r) {
    ToolsValue *v = r->value;
    int64_t strides[PS_MAX_AXES], bytes;
    for (int axis = 0; axis < v->ndim; axis++) {
        char *end;
        skip_blanks(r);
        errno = 0;
        v->shape[axis] = strtoll(r->at, &end, 10);
        if (end == r->at || errno || v->shape[axis] < 0) return refuse(r, "expected a length");
        r->at = end;
        if (!accept(r, axis == v->ndim - 1 ? ")" : ",")) return refuse(r, "expected as many lengths as axes");
    }
    if (!v->ndim && !accept(r, ")")) return refuse(r, "expected )");
    if (!ps_layout_dense(v->ndim, v->shape, ps_scalar_size(v->elem), strides, &bytes) || bytes > MAX_BYTES)
        return refuse(r, "too much");
    r->data.data = ps_alloc((size_t)bytes + 1);
    r->data.failed = !r->data.data;
    return true;
}

static bool read_order(Reader *r) {
    int ndim = r->value->ndim;
    bool seen[PS_MAX_AXES] = {0}, given = accept(r, "order(");
    for (int i = 0; i < ndim; i++) r->order[i] = i;
    for (int i = 0; given && i < ndim; i++) {
        char *end;
        long axis = strtol(r->at, &end, 10);
        if (end == r->at || axis < 0 || axis >= ndim || seen[axis]) return refuse(r, "expected each axis once");
        r->at = end;
        seen[r->order[i] = (int)axis] = true;
        if (!accept(r, i == ndim - 1 ? ")" : ",")) return refuse(r, "expected each axis once");
    }
    return true;
}

/* Where scalar number i lies. */
static char *address(const ToolsValue *v, int64_t i) {
    int64_t offset = 0;
    for (int axis = v->ndim - 1; axis >= 0; axis--) {
        offset += i % v->shape[axis] * v->view.strides[axis];
        i /= v->shape[axis];
    }
    return v->data + offset;
}

/* Strides and count from the shape; the elements, read in C order, to where they belong. */
static bool finish(Reader *r) {
    ToolsValue *v = r->value;
    int64_t stride = ps_scalar_size(v->elem), size = stride;
    v->count = 1;
    for (int i = v->ndim - 1; i >= 0; i--) {
        int axis = r->order[i];
        v->view.strides[axis] = stride;
        v->view.shape[axis] = v->shape[axis];
        /* Beside an empty axis others may be of any length. */
        if (__builtin_mul_overflow(stride, v->shape[axis], &stride)) stride = 0;
        if (__builtin_mul_overflow(v->count, v->shape[axis], &v->count)) v->count = 0;
    }
    v->view.ndim = v->ndim;
    char *from = v->data;
    v->data = v->view.data = ps_alloc((size_t)(v->count * size) + 1);
    for (int64_t i = 0; v->data && i < v->count; i++) memcpy(address(v, i), from + i * size, (size_t)size);
    ps_free(from);
    return v->data != NULL;
}

bool tools_value_parse(const PsModule *m, PsType type, const char *text, ToolsValue *out) {
    const PsTypeInfo *info = ps_type_info(m, type);
    Reader r = {.at = text, .text = text, .value = out};
    *out = (ToolsValue){.elem = type, .is_array = info->kind == PS_KIND_ARRAY};
    bool ok;
    if (out->is_array) {
        out->elem = info->elem;
        out->ndim = info->ndim;
        ok = read_order(&r) && (accept(&r, "zeros(") ? read_zeros(&r) : read_list(&r, 0));
        for (int i = 0; i < out->ndim; i++)
            if (info->unit && r.order[i] != (i + info->ndim - info->outer) % info->ndim)
                ok = refuse(&r, "a unit array with another order");
        if (ok && !r.data.data && !r.data.failed) r.data.data = ps_alloc(1); /* no elements */
        out->data = r.data.data;
        if (ok && (r.data.failed || !out->data || !finish(&r))) ok = tools_error("out of memory");
    } else {
        ok = read_number(&r, &out->bits);
    }
    skip_blanks(&r);
    if (ok && *r.at) ok = refuse(&r, "something behind the value");
    if (!ok) tools_value_free(out);
    return ok;
}

void tools_value_free(ToolsValue *value) {
    ps_free(value->data);
    value->data = value->view.data = NULL;
}

uint64_t tools_value_get(const ToolsValue *value, int64_t i) {
    uint64_t bits = 0;
    size_t size = (size_t)ps_scalar_size(value->elem);
    memcpy(&bits, address(value, i), size);
    return value->elem == PS_U1 ? bits != 0 : bits;
}

static void print_axis(const ToolsValue *v, int axis, int64_t *at, PsBuf *out) {
    if (axis == v->ndim) {
        ps_format_scalar(out, (char)('a' + v->elem), tools_value_get(v, (*at)++));
        return;
    }
    ps_buf_text(out, "[");
    for (int64_t i = 0; i < v->shape[axis]; i++) {
        if (i) ps_buf_text(out, ", ");
        print_axis(v, axis + 1, at, out);
    }
    ps_buf_text(out, "]");
}

/* Its other axes may be long. */
static void print_empty(const ToolsValue *v, PsBuf *out) {
    for (int axis = 0; axis < v->ndim; axis++)
        ps_buf_printf(out, "%s%lld", axis ? "," : "zeros(", (long long)v->shape[axis]);
    ps_buf_text(out, ")");
}

void tools_value_print(const ToolsValue *value, PsBuf *out) {
    int64_t at = 0;
    if (!value->is_array)
        ps_format_scalar(out, (char)('a' + value->elem), value->bits);
    else if (value->count == 0 && value->ndim > 1)
        print_empty(value, out);
    else
        print_axis(value, 0, &at, out);
}

bool tools_same(PsType scalar, uint64_t a, uint64_t b) {
    if (a == b) return true;
    uint64_t pair[2][2] = {{a, a}, {b, b}};
    return ps_scalar_class(scalar) == PS_CLASS_FLOAT && ps_eval_scalar(PS_OP_NE, scalar, PS_U1, pair[0]) &&
           ps_eval_scalar(PS_OP_NE, scalar, PS_U1, pair[1]);
}
