/* SPDX-License-Identifier: Apache-2.0
 *
 * "x[%d] = %f" % (i, x[i]) with runtime values: the format becomes one of str.format (loop_print.c), its conversions
 * format specifications. What is known while compiling is converted as Python does: %d of a float cuts it, %s of
 * anything is its str(). With known values only Python does it all, and this is not asked.
 */
#include "front/loop/loop_int.h"

#include <string.h>

typedef struct Percent {
    PsBuf format;
    PsVec(PsValue) args;
    PsValue *items; /* on the right of the % */
    uint32_t nitems;
} Percent;

typedef struct Conversion {
    const char *start;
    size_t len;               /* of all of it, from the % on */
    const char *flags, *rest; /* rest: width and precision */
    size_t nflags, nrest;
    char type;
} Conversion;

static bool read_conversion(const char *at, Conversion *out) {
    const char *c = at + 1;
    out->start = at;
    out->flags = c;
    c += out->nflags = strspn(c, "-+ 0#");
    out->rest = c;
    c += strspn(c, "0123456789");
    if (*c == '.') c += 1 + strspn(c + 1, "0123456789");
    out->nrest = (size_t)(c - out->rest);
    out->type = *c;
    out->len = (size_t)(c + 1 - at);
    return *c && strchr("diuxXoeEfFgGsr", *c);
}

static bool has_flag(const Conversion *c, char flag) { return memchr(c->flags, flag, c->nflags); }

/* [align][sign][#][0][width][.precision][type]: texts stand to the right, as numbers do. */
static void add_spec(PsBuf *out, const Conversion *c) {
    static const char order[] = "+ #0";
    bool text = c->type == 's' || c->type == 'r', left = has_flag(c, '-');
    size_t width = strspn(c->rest, "0123456789");
    ps_buf_text(out, "{:");
    if (left || (text && width)) ps_buf_text(out, left ? "<" : ">");
    for (size_t i = 0; !text && order[i]; i++)
        if (has_flag(c, order[i]) && !(order[i] == '0' && left)) ps_buf_add(out, &order[i], 1);
    ps_buf_add(out, c->rest, c->nrest);
    if (!text) ps_buf_add(out, strchr("iu", c->type) ? "d" : &c->type, 1);
    ps_buf_text(out, "}");
}

static PsStatus refuse(Loop *l, const char *at) {
    char shown[16];
    size_t n = strnlen(at, sizeof shown - 1);
    memcpy(shown, at, n);
    while (n > 1 && ((unsigned char)shown[n - 1] & 0x80)) n--; /* no half of a character */
    shown[n] = 0;
    return FAIL(l, FORMAT_PERCENT, shown);
}

/* What the conversion shows of the value. */
static PsStatus convert(Loop *l, const Conversion *c, const PsValue *value, PsValue *out) {
    bool known = value->kind == PS_VALUE_PYTHON && !loop_holds_proxies(l, value);
    PsRef ref;
    *out = *value;
    if (c->type == 's' && known) return ps_value_take(&l->front, loop_text_of(l, value->object), out);
    if (c->type == 'r' && known) return ps_value_take(&l->front, PyObject_Repr(value->object), out);
    if (!strchr("diuxXo", c->type)) return PS_OK;
    if (known)
        return PyFloat_Check(value->object) && strchr("diu", c->type)
                   ? ps_value_take(&l->front, PyNumber_Long(value->object), out)
                   : PS_OK;
    PsType type = loop_element(l, value);
    if (!type || !loop_is_float(type) || !strchr("diu", c->type)) return PS_OK;
    TRY(loop_cast(l, value, PS_I64, &ref));
    *out = loop_value(l, ref);
    return PS_OK;
}

static PsStatus add_conversion(Loop *l, Percent *p, const Conversion *c) {
    PsValue shown = ps_value_python(Py_None); /* too few: refused once all have been counted */
    if (p->args.len < p->nitems) TRY(convert(l, c, &p->items[p->args.len], &shown));
    add_spec(&p->format, c);
    return ps_vec_push(l->front.arena, &p->args, shown) ? PS_OK : PS_NOMEM;
}

static PsStatus translate(Loop *l, Percent *p, const char *text) {
    for (const char *at = text; *at; at++) {
        Conversion c;
        if (*at == '{' || *at == '}') {
            ps_buf_add(&p->format, at, 1);
            ps_buf_add(&p->format, at, 1);
        } else if (*at != '%') {
            ps_buf_add(&p->format, at, 1);
        } else if (at[1] == '%') {
            ps_buf_text(&p->format, "%");
            at++;
        } else {
            if (!read_conversion(at, &c)) return refuse(l, at);
            TRY(add_conversion(l, p, &c));
            at += c.len - 1;
        }
    }
    if (p->args.len != p->nitems) return FAIL(l, FORMAT_COUNT, p->args.len, p->nitems);
    return PS_OK;
}

PsStatus loop_percent(Loop *l, PyObject *format, const PsValue *values, PsValue *out) {
    Percent p = {0};
    PsValue one = *values;
    const char *text = PyUnicode_AsUTF8(format);
    if (!text) return PS_PYERR;
    p.items = &one;
    p.nitems = 1;
    if (values->kind == PS_VALUE_PYTHON && PyTuple_Check(values->object))
        TRY(loop_items(l, values, &p.items, &p.nitems));
    PsStatus status = translate(l, &p, text);
    PyObject *braces = NULL;
    if (!status && p.format.failed) status = PS_NOMEM;
    if (!status) {
        braces = ps_front_keep(&l->front, PyUnicode_DecodeUTF8(p.format.data ? p.format.data : "",
                                                               (Py_ssize_t)p.format.len, NULL));
        if (!braces) status = PS_PYERR;
    }
    ps_buf_free(&p.format);
    CallArgs args = {.args = p.args.data, .nargs = p.args.len};
    return status ? status : loop_format(l, braces, &args, out);
}
