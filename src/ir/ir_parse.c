/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_parse: the text form -> a module. It takes any bytes: what is not the text form gets a message with its line.
 * It checks the grammar, that names and value numbers are defined before they are used (functions: anywhere), and
 * what the builder needs; all else about a module is the verifier's, which callers run afterwards.
 *
 *     module  = { "checked" | "overflow" | "fast_math" | "deterministic" | "source" N string | func }
 *     func    = "func" "@" name "(" [types] ")" [ "->" types ] region
 *     region  = "{" [ "^" value { "," value } ] { op } "}"
 *     op      = [ value "=" ] opname [imm] [ "%"N { "," "%"N } ] [ "!" N:N:N:N:N ] [ region [ ("else" | "do") region ] ]
 *     value   = "%"N ":" type      the colon at once: it tells a result from an operand of the op before
 *     imm     = "[" N "]" | "[" string "]" | "[" "@" name "]" | literal (of const)
 *     type    = scalar | "ptr<" type ">" | "array<" type "," N [ ",unit" [ "," N ] ] ">" | "tile<" type "," N { "x" N } ">"
 */
#include "ir/ir_int.h"

#include <string.h>

#define MAX_TYPE_NESTING 4
#define FREE_NUMBERS     65536 /* value numbers up to this are taken in a text of any length */

typedef struct Definition {
    uint32_t func; /* + 1; of another function: not defined here */
    PsRef ref;
} Definition;

typedef struct Call { /* to a function that may stand further down */
    PsFunc *func;
    PsRef op;
    const char *name;
    uint32_t line;
} Call;

typedef struct Parser {
    const char *at, *end;
    uint32_t line, max_number;
    PsModule *m;
    PsFunc *f;
    PsDiag *diag;
    PsArena scratch;
    PsVec(Definition) values; /* by their numbers in the text */
    PsVec(PsRef) operands;    /* of the op being read */
    PsVec(Call) calls;
} Parser;

static bool fail(Parser *p, const char *what) {
    (void)ps_diag_fail(p->diag, (PsSpan){0}, PS_MSG_IR_PARSE, p->line, what);
    return false;
}

/* -- words and signs -- */

static void skip_blanks(Parser *p) {
    for (; p->at < p->end; p->at++) {
        if (*p->at == '#') {
            while (p->at + 1 < p->end && p->at[1] != '\n') p->at++;
        } else if (*p->at == '\n') {
            p->line++;
        } else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r') {
            return;
        }
    }
}

static bool accept(Parser *p, const char *sign) {
    size_t len = strlen(sign);
    skip_blanks(p);
    if ((size_t)(p->end - p->at) < len || memcmp(p->at, sign, len)) return false;
    p->at += len;
    return true;
}

static bool expect(Parser *p, const char *sign) {
    if (accept(p, sign)) return true;
    const char *what = ps_arena_format(&p->scratch, "expected %s", sign);
    return what ? fail(p, what) : false;
}

/* A run of letters, digits, _ and dots; empty when there is none. */
static size_t peek_word(Parser *p) {
    skip_blanks(p);
    const char *at = p->at;
    while (at < p->end && ir_name_char(*at)) at++;
    return (size_t)(at - p->at);
}

static bool accept_word(Parser *p, const char *word) {
    size_t len = peek_word(p);
    if (len != strlen(word) || memcmp(p->at, word, len)) return false;
    p->at += len;
    return true;
}

static bool read_number(Parser *p, uint64_t most, uint64_t *out) {
    uint64_t value = 0;
    skip_blanks(p);
    if (p->at == p->end || *p->at < '0' || *p->at > '9') return fail(p, "expected a number");
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++) {
        unsigned digit = (unsigned)(*p->at - '0');
        if (value > (most - digit) / 10 || digit > most) return fail(p, "the number is too large");
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

static int hex_digit(char c) {
    const char *digits = "0123456789abcdef", *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* The character behind a backslash, which is at p->at; -1: none such. */
static int read_escape(Parser *p) {
    char c = p->at < p->end ? *p->at++ : 0;
    if (c == 'n') return '\n';
    if (c == '"' || c == '\\') return c;
    if (c != 'x' || p->end - p->at < 2) return -1;
    int high = hex_digit(p->at[0]), low = hex_digit(p->at[1]), value = high * 16 + low;
    p->at += 2;
    return high < 0 || low < 0 || !value ? -1 : value;
}

/* A string in quotes, NUL-terminated, in the scratch arena. */
static const char *read_string(Parser *p) {
    static const char not_closed[] = "the string has no end";
    if (!accept(p, "\"")) {
        fail(p, "expected a string");
        return NULL;
    }
    const char *end = p->at;
    while (end < p->end && *end != '"' && *end != '\n') end += *end == '\\' ? 2 : 1;
    if (end >= p->end || *end != '"') {
        fail(p, not_closed);
        return NULL;
    }
    char *text = ps_arena_alloc(&p->scratch, (size_t)(end - p->at) + 1);
    if (!text) return NULL;
    size_t len = 0;
    while (p->at < end) {
        int c = (unsigned char)*p->at++;
        if (c == '\\') c = read_escape(p);
        if (c <= 0) {
            fail(p, "the string has a character that cannot be");
            return NULL;
        }
        text[len++] = (char)c;
    }
    p->at = end + 1;
    return text;
}

/* A function's name, after @. */
static const char *read_name(Parser *p) {
    size_t len = peek_word(p);
    if (!len) return read_string(p);
    const char *name = ps_arena_copy(&p->scratch, p->at, len);
    p->at += len;
    return name;
}

/* -- types -- */

static PsType read_type(Parser *p, int depth);

static PsType read_array(Parser *p, PsType elem) {
    uint64_t ndim, outer;
    if (!expect(p, ",") || !read_number(p, PS_MAX_AXES, &ndim)) return PS_KIND_NONE;
    bool unit = accept(p, ",");
    if (unit && !accept_word(p, "unit")) return fail(p, "expected unit");
    if (!unit || !accept(p, ",")) return ps_type_array(p->m, elem, (int)ndim, unit);
    if (!read_number(p, PS_MAX_AXES, &outer)) return PS_KIND_NONE;
    PsType type = ps_type_array_outer(p->m, elem, (int)ndim, (int)outer);
    return type ? type : fail(p, "expected fewer axes outside than there are");
}

static PsType read_tile(Parser *p, PsType elem) {
    int64_t shape[PS_MAX_AXES];
    int ndim = 0;
    if (!expect(p, ",")) return PS_KIND_NONE;
    do {
        uint64_t length;
        if (ndim == PS_MAX_AXES) return fail(p, "a tile has at most 12 axes");
        if (!read_number(p, (uint64_t)PS_MAX_TILE, &length)) return PS_KIND_NONE;
        shape[ndim++] = (int64_t)length;
    } while (accept(p, "x"));
    return ps_type_tile(p->m, elem, ndim, shape);
}

static PsType read_type(Parser *p, int depth) {
    static const char cannot[] = "there can be no such type";
    PsType type = PS_KIND_NONE;
    size_t len = peek_word(p);
    const char *word = p->at;
    if ((type = ps_scalar_by_name(word, len))) {
        p->at += len;
        return type;
    }
    bool ptr = accept_word(p, "ptr"), array = !ptr && accept_word(p, "array");
    if (!ptr && !array && !accept_word(p, "tile")) return fail(p, "expected a type");
    if (depth == MAX_TYPE_NESTING) return fail(p, cannot);
    if (!expect(p, "<")) return PS_KIND_NONE;
    PsType elem = read_type(p, depth + 1);
    if (!elem) return PS_KIND_NONE;
    type = ptr ? ps_type_ptr(p->m, elem) : array ? read_array(p, elem) : read_tile(p, elem);
    if (!type) return fail(p, cannot); /* no effect when a message stands or memory is short */
    return expect(p, ">") ? type : PS_KIND_NONE;
}

/* -- values -- */

static bool read_value_number(Parser *p, uint32_t *out) {
    uint64_t number;
    if (!expect(p, "%") || !read_number(p, p->max_number, &number)) return false;
    *out = (uint32_t)number;
    return true;
}

static bool read_value(Parser *p, uint32_t *number, PsType *type) {
    if (!read_value_number(p, number)) return false;
    if (p->at == p->end || *p->at++ != ':') return fail(p, "expected : and a type right behind the value");
    *type = read_type(p, 0);
    return *type != PS_KIND_NONE;
}

static bool define(Parser *p, uint32_t number, PsRef ref) {
    if (number >= p->values.len) {
        if (!ps_vec_reserve(&p->scratch, &p->values, number + 1 - p->values.len)) return false;
        p->values.len = number + 1; /* arena memory is zero */
    }
    Definition *d = &p->values.data[number];
    if (d->func == p->m->funcs.len) {
        const char *what = ps_arena_format(&p->scratch, "%%%u is defined twice", number);
        return what ? fail(p, what) : false;
    }
    *d = (Definition){.func = p->m->funcs.len, .ref = ref};
    return true;
}

/* Whether an operand comes next, and not the result of the next op, which has a type. Lines do not tell. */
static bool at_operand(Parser *p) {
    skip_blanks(p);
    const char *at = p->at;
    if (at == p->end || *at != '%') return false;
    do at++;
    while (at < p->end && *at >= '0' && *at <= '9');
    return at == p->end || *at != ':';
}

static bool read_operands(Parser *p) {
    p->operands.len = 0;
    if (!at_operand(p)) return true;
    do {
        uint32_t n;
        if (!read_value_number(p, &n)) return false;
        if (n >= p->values.len || p->values.data[n].func != p->m->funcs.len) {
            const char *what = ps_arena_format(&p->scratch, "%%%u is not defined above", n);
            return what ? fail(p, what) : false;
        }
        if (!ps_vec_push(&p->scratch, &p->operands, p->values.data[n].ref)) return false;
    } while (accept(p, ","));
    return true;
}

/* -- ops -- */

static bool read_op_name(Parser *p, PsOpCode *out) {
    size_t len = peek_word(p);
    for (int code = PS_OP_NONE + 1; len && code < PS_OP_COUNT; code++) {
        const char *name = ps_op_info[code].name;
        if (code == PS_OP_PARAM || *name != *p->at || strlen(name) != len || memcmp(name, p->at, len)) continue;
        p->at += len;
        *out = (PsOpCode)code;
        return true;
    }
    if (!len || len > 100) return fail(p, "expected an operation");
    const char *what = ps_arena_format(&p->scratch, "there is no operation %.*s", (int)len, p->at);
    return what ? fail(p, what) : false;
}

static bool read_literal(Parser *p, PsType type, uint64_t *out) {
    skip_blanks(p);
    const char *end = p->at;
    while (end < p->end && (ir_name_char(*end) || (*end && strchr("+-()", *end)))) end++;
    const char *wrong = ir_read_const(type, p->at, (size_t)(end - p->at), out);
    if (wrong) return fail(p, wrong);
    p->at = end;
    return true;
}

/* The immediate; a called function's name goes to *callee, to be looked up when all are known. */
static bool read_imm(Parser *p, PsOpCode code, PsType type, uint64_t *imm, const char **callee) {
    const char *text;
    PsImm kind = ps_op_info[code].imm;
    if (kind == PS_IMM_NO) return true;
    if (kind == PS_IMM_BITS) return read_literal(p, type, imm);
    if (kind == PS_IMM_OPT) {
        skip_blanks(p);
        if (p->at == p->end || *p->at != '[') return true;
    }
    if (!expect(p, "[")) return false;
    switch (kind) {
    case PS_IMM_FUNC:
        if (!expect(p, "@") || !(*callee = read_name(p))) return false;
        break;
    case PS_IMM_TEXT:
        if (!(text = read_string(p)) || !(*imm = ps_module_add_text(p->m, text))) return false;
        break;
    default:
        if (!read_number(p, UINT64_MAX, imm)) return false;
    }
    return expect(p, "]");
}

/* The span behind an op or source, when there is one. */
static bool read_place(Parser *p, PsSpan *out, bool *some) {
    uint64_t n[5];
    *some = accept(p, "!");
    if (!*some) return true;
    for (int i = 0; i < 5; i++) {
        if ((i && !expect(p, ":")) || !read_number(p, UINT32_MAX, &n[i])) return false;
    }
    if (n[0] >= p->m->sources.len) return fail(p, "the span's source is not declared above");
    *out = (PsSpan){(uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2], (uint32_t)n[3], (uint32_t)n[4]};
    return true;
}

static bool read_span(Parser *p, uint32_t *out) {
    PsSpan span;
    bool some;
    if (!read_place(p, &span, &some)) return false;
    if (some) *out = ps_module_add_span(p->m, span);
    return true;
}

static bool read_region(Parser *p, PsRegion region, bool params, int depth);

static bool read_regions(Parser *p, PsRef op, int depth) {
    PsOpCode code = ps_op(p->f, op)->code;
    PsRegion region = ps_op(p->f, op)->region0;
    int n = ps_op_info[code].nregions;
    if (!n) return true;
    if (depth == PS_MAX_NESTING) return fail(p, "regions are nested too deeply");
    if (!read_region(p, region, n == 1, depth + 1)) return false;
    if (n == 1 || (code == PS_OP_IF && !accept_word(p, "else"))) return true;
    if (code == PS_OP_WHILE && !accept_word(p, "do")) return fail(p, "expected do");
    return read_region(p, region + 1, false, depth + 1);
}

static bool read_op(Parser *p, PsRegion region, int depth) {
    PsBuilder b = ps_builder_at_end(p->f, region);
    PsOpCode code;
    PsType type = PS_KIND_NONE;
    uint32_t number = 0, line = p->line;
    uint64_t imm = 0;
    const char *callee = NULL;
    bool result = p->at < p->end && *p->at == '%';
    if (result && (!read_value(p, &number, &type) || !expect(p, "="))) return false;
    if (!read_op_name(p, &code) || !read_imm(p, code, type, &imm, &callee)) return false;
    if (!read_operands(p) || !read_span(p, &b.span)) return false;
    PsRef r = ps_build_op(&b, code, type, p->operands.data, p->operands.len, imm);
    if (!r) return false;
    if (callee && !ps_vec_push(&p->scratch, &p->calls, (Call){p->f, r, callee, line})) return false;
    return (!result || define(p, number, r)) && read_regions(p, r, depth);
}

static bool read_params(Parser *p, PsRegion region) {
    do {
        uint32_t number;
        PsType type;
        if (!read_value(p, &number, &type)) return false;
        PsRef r = ps_region_add_param(p->f, region, type);
        if (!r || !define(p, number, r)) return false;
    } while (accept(p, ","));
    return true;
}

static bool read_region(Parser *p, PsRegion region, bool params, int depth) {
    if (!expect(p, "{")) return false;
    if (params && accept(p, "^") && !read_params(p, region)) return false;
    while (!accept(p, "}")) {
        if (p->at == p->end) return fail(p, "expected }");
        if (!read_op(p, region, depth)) return false;
    }
    return true;
}

/* -- the module -- */

/* One type or more, with commas between them, into a vector. */
#define read_types(p, types)                                                                                   \
    do {                                                                                                       \
        PsType type_ = read_type(p, 0);                                                                        \
        if (!type_ || !ps_vec_push((p)->m->arena, types, type_)) return false;                                 \
    } while (accept(p, ","))

static bool read_func(Parser *p) {
    if (!expect(p, "@")) return false;
    const char *name = read_name(p);
    if (!name) return false;
    if (ps_module_find_func(p->m, name) >= 0) return fail(p, "the function is defined twice");
    PsFunc *f = p->f = ps_func_new(p->m, name, strlen(name));
    if (!f || !expect(p, "(")) return false;
    if (!accept(p, ")")) {
        read_types(p, &f->params);
        if (!expect(p, ")")) return false;
    }
    if (accept(p, "->")) read_types(p, &f->results);
    return read_region(p, 1, false, 0);
}

static bool read_source(Parser *p) {
    uint64_t number;
    if (!read_number(p, UINT32_MAX, &number)) return false;
    if (number != p->m->sources.len) return fail(p, "sources are numbered from 1 in order");
    const char *name = read_string(p);
    if (!name) return false;
    PsSource source = {.name = ps_strings_intern(&p->m->strings, name, strlen(name)), .file = ""};
    bool some;
    return source.name && read_place(p, &source.call, &some) &&
           ps_vec_push(p->m->arena, &p->m->sources, source);
}

static bool resolve_calls(Parser *p) {
    for (uint32_t i = 0; i < p->calls.len; i++) {
        const Call *call = &p->calls.data[i];
        int id = ps_module_find_func(p->m, call->name);
        p->line = call->line;
        if (id < 0) return fail(p, "the called function is not defined");
        ps_op(call->func, call->op)->imm = (uint64_t)id;
    }
    return true;
}

static bool read_module(Parser *p) {
    for (;;) {
        bool good = true;
        if (accept_word(p, "func")) {
            good = read_func(p);
        } else if (accept_word(p, "source")) {
            good = read_source(p);
        } else if (accept_word(p, "checked")) {
            p->m->checked = true;
        } else if (accept_word(p, "overflow")) {
            p->m->overflow = true;
        } else if (accept_word(p, "fast_math")) {
            p->m->fast_math = true;
        } else if (accept_word(p, "deterministic")) {
            p->m->deterministic = true;
        } else if (p->at == p->end) {
            return resolve_calls(p);
        } else {
            return fail(p, "expected func, source, checked, overflow, fast_math or deterministic");
        }
        if (!good) return false;
    }
}

PsStatus ps_ir_parse(PsArena *arena, const char *text, size_t len, PsDiag *diag, PsModule **out) {
    Parser p = {.at = text, .end = text + len, .line = 1, .diag = diag, .m = ps_module_new(arena)};
    *out = p.m;
    if (!p.m) return PS_NOMEM;
    ps_arena_init(&p.scratch);
    p.max_number = len < FREE_NUMBERS ? FREE_NUMBERS : len > UINT32_MAX / 4 ? UINT32_MAX / 4 : (uint32_t)len;
    bool good = read_module(&p);
    bool failed = p.scratch.failed;
    ps_arena_free(&p.scratch);
    if (failed || arena->failed) return PS_NOMEM;
    return good ? PS_OK : PS_FAIL;
}
