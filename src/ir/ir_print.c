/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_print: the text form. It is canonical: values are numbered in the order they are printed, whatever their indices
 * are, so equal programs have equal text; the text is what cache keys are made of. It prints modules that do not
 * verify too: an operand that is not visible prints as %?, which the parser refuses.
 */
#include "ir/ir_int.h"

#include <string.h>

bool ir_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

uint32_t *ir_number_values(const PsFunc *f, PsArena *arena) {
    uint32_t *numbers = ps_arena_alloc(arena, f->ops.len * sizeof *numbers), next = 1;
    if (!numbers) return NULL;
    for (PsRef r = ps_walk_first(f); r; r = ps_walk_next(f, r)) {
        const PsOp *op = ps_op(f, r);
        if (op->type != PS_KIND_NONE) numbers[r] = next++;
        /* The parameters of an op's only region are printed right behind it; no op of several has any. */
        for (uint32_t i = 0; i < op->nregions; i++) {
            const PsRegionInfo *region = ps_region(f, op->region0 + i);
            for (uint32_t p = 0; p < region->nparams; p++) numbers[region->params + p] = next++;
        }
    }
    return numbers;
}

void ir_print_name(const char *name, PsBuf *out) {
    const char *at = name;
    while (ir_name_char(*at)) at++;
    if (*at || !*name) {
        ir_print_string(name, out);
    } else {
        ps_buf_text(out, name);
    }
}

static void print_number(uint32_t number, PsBuf *out) {
    if (number) {
        ps_buf_printf(out, "%%%u", number);
    } else {
        ps_buf_text(out, "%?");
    }
}

static void print_value(const PsFunc *f, const uint32_t *numbers, PsRef r, PsBuf *out) {
    print_number(numbers[r], out);
    ps_buf_text(out, ":");
    ps_type_print(f->module, ps_op(f, r)->type, out);
}

static void print_imm(const PsModule *m, const PsOp *op, PsBuf *out) {
    switch (ps_op_info[op->code].imm) {
    case PS_IMM_NO: return;
    case PS_IMM_OPT:
        if (!op->imm) return;
        /* fall through */
    case PS_IMM_INT: ps_buf_printf(out, "[%llu]", (unsigned long long)op->imm); return;
    case PS_IMM_BITS:
        ps_buf_text(out, " ");
        ir_print_const(op->type, op->imm, out);
        return;
    case PS_IMM_FUNC:
        ps_buf_text(out, "[@");
        ir_print_name(op->imm < m->funcs.len ? m->funcs.data[op->imm]->name : "?", out);
        break;
    case PS_IMM_TEXT:
        ps_buf_text(out, "[");
        ir_print_string(op->imm < m->texts.len ? m->texts.data[op->imm] : "?", out);
        break;
    }
    ps_buf_text(out, "]");
}

void ir_print_op(const PsFunc *f, const uint32_t *numbers, PsRef r, PsBuf *out) {
    const PsOp *op = ps_op(f, r);
    if (op->type != PS_KIND_NONE) {
        print_value(f, numbers, r, out);
        ps_buf_text(out, " = ");
    }
    ps_buf_text(out, ps_op_info[op->code].name);
    print_imm(f->module, op, out);
    for (uint32_t i = 0; i < op->nargs; i++) {
        ps_buf_text(out, i ? ", " : " ");
        print_number(numbers[ps_op_arg(f, r, i)], out);
    }
}

static void print_span(const PsSpan *s, PsBuf *out) {
    ps_buf_printf(out, " !%u:%u:%u:%u:%u", s->source, s->line, s->col, s->end_line, s->end_col);
}

typedef struct Printer {
    const PsFunc *f;
    const uint32_t *numbers;
    bool spans;
    PsBuf *out;
} Printer;

static void indent(int depth, PsBuf *out) {
    static const char blanks[] = "                                ";
    for (int left = 2 * depth; left > 0; left -= 32) ps_buf_add(out, blanks, left < 32 ? (size_t)left : 32);
}

static void open_region(const Printer *p, PsRegion r) {
    const PsRegionInfo *info = ps_region(p->f, r);
    ps_buf_text(p->out, " {");
    for (uint32_t i = 0; i < info->nparams; i++) {
        ps_buf_text(p->out, i ? ", " : "^ ");
        print_value(p->f, p->numbers, info->params + i, p->out);
    }
    ps_buf_text(p->out, "\n");
}

/* What stands between the two regions of an op. */
static const char *second_word(const PsOp *op) { return op->code == PS_OP_WHILE ? " do" : " else"; }

/* The else-region of an if is left out when it is empty. */
static bool is_shown(const PsFunc *f, const PsOp *op, PsRegion r) {
    return op->code != PS_OP_IF || r == op->region0 || ps_region(f, r)->first;
}

static void print_line(const Printer *p, PsRef r, int depth) {
    const PsOp *op = ps_op(p->f, r);
    indent(depth, p->out);
    ir_print_op(p->f, p->numbers, r, p->out);
    if (p->spans && op->span) print_span(&p->f->module->spans.data[op->span], p->out);
    if (op->nregions) {
        open_region(p, op->region0);
    } else {
        ps_buf_text(p->out, "\n");
    }
}

/* Closes what ends where region r ends: r itself, and opens the next region of its owner if there is one. */
static void close_region(const Printer *p, PsRegion r, int depth) {
    const PsOp *owner = ps_op(p->f, ps_region(p->f, r)->owner);
    indent(depth, p->out);
    ps_buf_text(p->out, "}");
    if (r + 1 < owner->region0 + owner->nregions && is_shown(p->f, owner, r + 1)) {
        ps_buf_text(p->out, second_word(owner));
        open_region(p, r + 1);
    } else {
        ps_buf_text(p->out, "\n");
    }
}

/* Without recursion: the depth of what is printed is not bounded before it is verified. */
static void print_body(const Printer *p) {
    PsRegion region = 1;
    PsRef at = ps_region(p->f, 1)->first;
    int depth = 1;
    for (;;) {
        if (at) {
            const PsOp *op = ps_op(p->f, at);
            print_line(p, at, depth);
            if (!op->nregions) {
                at = op->next;
                continue;
            }
            region = op->region0;
            at = ps_region(p->f, region)->first;
            depth++;
            continue;
        }
        if (region == 1) return;
        close_region(p, region, depth - 1);
        PsRef owner = ps_region(p->f, region)->owner;
        const PsOp *op = ps_op(p->f, owner);
        if (region + 1 < op->region0 + op->nregions && is_shown(p->f, op, region + 1)) {
            region++;
            at = ps_region(p->f, region)->first;
        } else {
            region = op->region;
            at = op->next;
            depth--;
        }
    }
}

static void print_types(const PsModule *m, const PsType *types, uint32_t n, PsBuf *out) {
    for (uint32_t i = 0; i < n; i++) {
        if (i) ps_buf_text(out, ", ");
        ps_type_print(m, types[i], out);
    }
}

static void print_func(const PsFunc *f, bool spans, PsBuf *out) {
    PsArena scratch;
    ps_arena_init(&scratch);
    Printer p = {.f = f, .numbers = ir_number_values(f, &scratch), .spans = spans, .out = out};
    ps_buf_text(out, "func @");
    ir_print_name(f->name, out);
    ps_buf_text(out, "(");
    print_types(f->module, f->params.data, f->params.len, out);
    ps_buf_text(out, f->results.len ? ") -> " : ")");
    print_types(f->module, f->results.data, f->results.len, out);
    ps_buf_text(out, " {\n");
    if (p.numbers) {
        print_body(&p);
    } else {
        out->failed = true;
    }
    ps_buf_text(out, "}\n");
    ps_arena_free(&scratch);
}

void ps_ir_print(const PsModule *m, bool spans, PsBuf *out) {
    if (m->checked) ps_buf_text(out, "checked\n");
    if (m->overflow) ps_buf_text(out, "overflow\n");
    if (m->fast_math) ps_buf_text(out, "fast_math\n");
    if (m->deterministic) ps_buf_text(out, "deterministic\n");
    for (uint32_t i = 1; i < m->sources.len; i++) {
        ps_buf_printf(out, "source %u ", i);
        ir_print_string(m->sources.data[i].name ? m->sources.data[i].name : "", out);
        if (spans && m->sources.data[i].call.source) print_span(&m->sources.data[i].call, out);
        ps_buf_text(out, "\n");
    }
    for (uint32_t i = 0; i < m->funcs.len; i++) print_func(m->funcs.data[i], spans, out);
}
