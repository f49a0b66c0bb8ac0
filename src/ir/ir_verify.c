/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_verify: whether a module is well-formed: its lists are sound, values are visible where they are used, control ops
 * stand where they may, and every op's types follow its rule (ir_rules.c). The first thing wrong becomes the message,
 * with the op as it would be printed. What passes here, no later stage has to doubt.
 *
 * Arrays and lists are checked first, so that the rest, and the printing of a message, can trust them: a region is
 * entered once, found only through its owner, and prev, next and region must agree for every op, so that a damaged
 * list cannot make a walk run in circles.
 */
#include "ir/ir_int.h"

#include <string.h>

typedef struct Verifier {
    const PsModule *m;
    const PsFunc *f;
    const char *after;
    PsDiag *diag;
    PsArena scratch;
    PsBits visible;     /* by op */
    uint64_t *partials; /* by var: the parfor and the combine of its partials, or 0 */
    PsRef parfor;       /* the one we are in */
} Verifier;

/* The surroundings that matter to control ops. */
typedef struct Scope {
    PsOpCode loop;  /* the innermost for, while or parfor around; none directly in a while's first region */
    bool condition; /* directly in a while's first region */
} Scope;

/* Says what is wrong with the op (0: with the function as a whole). */
static bool fail(Verifier *v, PsRef r, const char *what) {
    PsBuf text = {0};
    const PsFunc *f = v->f;
    uint32_t *numbers = f && r ? ir_number_values(f, &v->scratch) : NULL;
    if (f) ps_buf_printf(&text, "@%s: ", f->name);
    ps_buf_text(&text, what);
    if (numbers) {
        ps_buf_text(&text, ": ");
        ir_print_op(f, numbers, r, &text);
    }
    uint32_t span = f && r ? ps_op(f, r)->span : 0;
    PsSpan at = span < v->m->spans.len ? v->m->spans.data[span] : (PsSpan){0};
    (void)ps_diag_fail(v->diag, at, PS_MSG_IR_VERIFY, v->after, text.data && !text.failed ? text.data : what);
    ps_buf_free(&text);
    return false;
}

/* -- arrays and lists: what must hold before a function can be walked or printed -- */

static const char *check_numbers(const Verifier *v, PsRef r) {
    const PsFunc *f = v->f;
    const PsOp *op = ps_op(f, r);
    if (op->code >= PS_OP_COUNT) return "an op has no known code";
    if (op->type >= v->m->types.len) return "an op's type is not in the table";
    if (op->nargs > f->args.len || op->args > f->args.len - op->nargs)
        return "an op's operands are not in the list";
    if (op->nregions > f->regions.len || op->region0 > f->regions.len - op->nregions) {
        return "an op's regions are not in the list";
    }
    for (uint32_t i = 0; i < op->nargs; i++) {
        if (ps_op_arg(f, r, i) >= f->ops.len) return "an operand is no op";
    }
    return NULL;
}

static const char *check_params(const Verifier *v, PsRegion r) {
    const PsRegionInfo *region = ps_region(v->f, r);
    if (region->nparams > v->f->ops.len || region->params > v->f->ops.len - region->nparams) {
        return "a region's parameters are not in the list";
    }
    for (uint32_t i = 0; i < region->nparams; i++) {
        const PsOp *param = ps_op(v->f, region->params + i);
        if (param->code != PS_OP_PARAM || param->imm != i || param->region0 != r || param->region) {
            return "a region's parameter is not one";
        }
    }
    return NULL;
}

static const char *check_list(const Verifier *v, PsRegion r, int depth) {
    const PsRegionInfo *region = ps_region(v->f, r);
    PsRef before = 0;
    if (depth > PS_MAX_NESTING) return "regions are nested too deeply";
    for (PsRef at = region->first; at; before = at, at = ps_op(v->f, at)->next) {
        if (at >= v->f->ops.len) return "a region's list leaves the function";
        const PsOp *op = ps_op(v->f, at);
        if (op->region != r || op->prev != before) return "a region's list is broken";
        for (uint32_t i = 0; i < op->nregions; i++) {
            if (ps_region(v->f, op->region0 + i)->owner != at) return "a region belongs to another op";
            const char *wrong = check_list(v, op->region0 + i, depth + 1);
            if (wrong) return wrong;
        }
    }
    return region->last == before ? NULL : "a region's list is broken at its end";
}

static const char *check_arrays(const Verifier *v) {
    const PsFunc *f = v->f;
    const char *wrong = NULL;
    if (f->regions.len < 2 || ps_region(f, 1)->owner || ps_region(f, 1)->nparams)
        return "the body is not sound";
    for (PsRef r = 0; !wrong && r < f->ops.len; r++) wrong = check_numbers(v, r);
    for (PsRegion r = 1; !wrong && r < f->regions.len; r++) wrong = check_params(v, r);
    return wrong ? wrong : check_list(v, 1, 0);
}

/* -- one op -- */

static const char *check_shape(const Verifier *v, PsRef r) {
    const PsOp *op = ps_op(v->f, r);
    const PsOpInfo *info = &ps_op_info[op->code];
    if (info->nargs >= 0 && op->nargs != (uint32_t)info->nargs) return "it has the wrong number of operands";
    if (op->nregions != info->nregions) return "it has the wrong number of regions";
    if (info->imm == PS_IMM_NO && op->imm) return "it takes no immediate";
    if (op->span >= v->m->spans.len || v->m->spans.data[op->span].source >= v->m->sources.len) {
        return "its span is not in the table";
    }
    for (uint32_t i = 0; i < op->nargs; i++) {
        PsRef arg = ps_op_arg(v->f, r, i);
        if (!arg) return "an operand is missing";
        if (!ps_bits_get(&v->visible, arg)) return "an operand is not visible here";
        if (!ps_op(v->f, arg)->type) return "an operand has no value";
    }
    return NULL;
}

static const char *check_partial(Verifier *v, const PsOp *op) {
    if (!v->parfor) return "a partial stands in a parfor only";
    PsRef var = v->f->args.data[op->args];
    uint64_t mark = (uint64_t)v->parfor << 8 | (op->imm + 1), *seen = &v->partials[var];
    if (ps_region_contains(v->f, ps_op(v->f, v->parfor)->region0, var))
        return "its var must stand outside the parfor";
    if (*seen >> 8 == v->parfor && *seen != mark) return "a var has one combine in a parfor";
    *seen = mark;
    return NULL;
}

/* Whether the op may stand here. */
static const char *check_place(Verifier *v, const PsOp *op, const Scope *scope) {
    bool last = !op->next;
    switch (op->code) {
    case PS_OP_PARFOR:
        return v->f == v->m->funcs.data[0] && op->region == 1 ? NULL : "a parfor stands in main's body only";
    case PS_OP_YIELD: return scope->condition && last ? NULL : "a yield ends a while's first region only";
    case PS_OP_BREAK:
        if (!scope->loop || scope->loop == PS_OP_PARFOR) return "a break needs a for or while around it";
        break;
    case PS_OP_CONTINUE:
        if (!scope->loop) return "a continue needs a loop around it";
        break;
    case PS_OP_RETURN:
        if (v->parfor) return "a return cannot stand in a parfor";
        break;
    case PS_OP_PARTIAL: return check_partial(v, op);
    default: return NULL;
    }
    return last ? NULL : "something stands behind it in its region";
}

/* -- regions -- */

static bool verify_region(Verifier *v, PsRegion r, Scope scope);

static bool verify_regions(Verifier *v, PsRef r, const Scope *scope) {
    const PsOp *op = ps_op(v->f, r);
    bool loop = op->code == PS_OP_FOR || op->code == PS_OP_PARFOR || op->code == PS_OP_WHILE;
    if (op->code == PS_OP_PARFOR) v->parfor = r;
    for (uint32_t i = 0; i < op->nregions; i++) {
        Scope inner = {.loop = loop ? (PsOpCode)op->code : scope->loop};
        inner.condition = op->code == PS_OP_WHILE && !i;
        if (inner.condition) inner.loop = PS_OP_NONE;
        PsRegion region = op->region0 + i;
        if (op->nregions > 1 && ps_region(v->f, region)->nparams)
            return fail(v, r, "its region takes no parameters");
        if (!verify_region(v, region, inner)) return false;
    }
    if (op->code == PS_OP_PARFOR) v->parfor = 0;
    return true;
}

static bool verify_op(Verifier *v, PsRef r, const Scope *scope) {
    const char *wrong = check_shape(v, r);
    if (!wrong) wrong = ir_check_types(v->f, r);
    if (!wrong) wrong = check_place(v, ps_op(v->f, r), scope);
    return wrong ? fail(v, r, wrong) : verify_regions(v, r, scope);
}

static void set_visible(Verifier *v, const PsRegionInfo *region, bool visible) {
    void (*set)(PsBits *, uint32_t) = visible ? ps_bits_set : ps_bits_clear;
    for (uint32_t i = 0; i < region->nparams; i++) set(&v->visible, region->params + i);
    if (visible) return; /* ops become visible one by one */
    for (PsRef at = region->first; at; at = ps_op(v->f, at)->next) set(&v->visible, at);
}

static bool verify_region(Verifier *v, PsRegion r, Scope scope) {
    const PsRegionInfo *region = ps_region(v->f, r);
    set_visible(v, region, true);
    for (PsRef at = region->first; at; at = ps_op(v->f, at)->next) {
        if (!verify_op(v, at, &scope)) return false;
        ps_bits_set(&v->visible, at);
    }
    if (scope.condition && (!region->last || ps_op(v->f, region->last)->code != PS_OP_YIELD)) {
        return fail(v, region->owner, "a while's first region must end with yield");
    }
    set_visible(v, region, false);
    return true;
}

/* -- functions -- */

static const char *check_signature(const Verifier *v) {
    const PsFunc *f = v->f;
    bool is_main = f == v->m->funcs.data[0];
    if (is_main != !strcmp(f->name, "main")) return "the first function, and no other, is main";
    if (f->regions.len < 2 || ps_region(f, 1)->owner || ps_region(f, 1)->nparams)
        return "the body is not sound";
    for (uint32_t i = 0; i < f->params.len; i++) {
        PsType t = f->params.data[i];
        PsKind kind = t < v->m->types.len ? ps_type_info(v->m, t)->kind : PS_KIND_NONE;
        if (!ps_type_is_scalar(t) && kind != PS_KIND_ARRAY && (is_main || kind != PS_KIND_PTR)) {
            return is_main ? "main's parameters are scalars and arrays"
                           : "parameters are scalars, arrays and places";
        }
    }
    if (f->results.len > (is_main ? PS_MAX_RESULTS : 1)) return "the function has too many results";
    for (uint32_t i = 0; i < f->results.len; i++) {
        if (!ps_type_is_scalar(f->results.data[i])) return "results are scalars";
    }
    return NULL;
}

static bool verify_func(Verifier *v) {
    const char *wrong = check_signature(v);
    if (!wrong) wrong = check_arrays(v);
    if (wrong) return fail(v, 0, wrong);
    v->parfor = 0;
    v->partials = ps_arena_alloc(&v->scratch, v->f->ops.len * sizeof *v->partials);
    if (!v->partials || !ps_bits_init(&v->visible, &v->scratch, v->f->ops.len)) return false;
    return verify_region(v, 1, (Scope){0});
}

PsStatus ps_ir_verify(const PsModule *m, const char *after, PsDiag *diag) {
    Verifier v = {.m = m, .after = after, .diag = diag};
    if (m->arena->failed) return PS_NOMEM;
    ps_arena_init(&v.scratch);
    bool good = m->funcs.len || fail(&v, 0, "there is no function main");
    for (uint32_t i = 0; good && i < m->funcs.len; i++) {
        v.f = m->funcs.data[i];
        good = verify_func(&v);
    }
    bool failed = v.scratch.failed && !diag->set;
    ps_arena_free(&v.scratch);
    return good ? PS_OK : failed ? PS_NOMEM : PS_FAIL;
}
