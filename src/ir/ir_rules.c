/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_rules: what the types of an op's operands and result must be, one function for each rule of ops.def and one for
 * each op whose rule is OTHER. Each gives NULL, or what is wrong in words. They look at one op; where it stands and
 * whether its operands are visible is ir_verify.c's.
 */
#include "ir/ir_int.h"

#include <string.h>

typedef struct At {
    const PsFunc *f;
    const PsModule *m;
    const PsOp *op;
} At;
typedef const char *(*Check)(const At *a);

static PsType arg_type(const At *a, uint32_t i) { return ps_op(a->f, a->f->args.data[a->op->args + i])->type; }
static const PsTypeInfo *info(const At *a, PsType t) { return ps_type_info(a->m, t); }
static PsKind kind(const At *a, PsType t) { return info(a, t)->kind; }
static PsType element(const At *a, PsType t) { return ps_type_element(a->m, t); }

/* A scalar or a tile of scalars. */
static bool is_numeric(const At *a, PsType t) { return ps_type_is_scalar(element(a, t)); }
static bool is_float(const At *a, PsType t) {
    return is_numeric(a, t) && ps_scalar_class(element(a, t)) == PS_CLASS_FLOAT;
}
static bool is_integer(const At *a, PsType t) {
    return is_numeric(a, t) && ps_scalar_class(element(a, t)) != PS_CLASS_FLOAT;
}
static bool is_index(PsType t) { return t == PS_I32 || t == PS_I64; }

static bool same_shape(const At *a, PsType s, PsType t) {
    const PsTypeInfo *x = info(a, s), *y = info(a, t);
    if (!is_numeric(a, s) || !is_numeric(a, t) || x->ndim != y->ndim) return false;
    for (int i = 0; i < x->ndim; i++) {
        if (x->shape[i] != y->shape[i]) return false;
    }
    return true;
}

/* The type is an elementwise answer of yes or no to `t`. */
static bool is_truth_of(const At *a, PsType truth, PsType t) {
    return element(a, truth) == PS_U1 && same_shape(a, truth, t);
}

/* -- the rules -- */

static const char *check_none(const At *a) { return a->op->type ? "it gives no result" : NULL; }

static const char *check_same(const At *a) {
    if (a->op->imm > 1) return "its immediate is 0 or 1";
    if (!is_numeric(a, a->op->type)) return "the result must be a scalar or a tile";
    for (uint32_t i = 0; i < a->op->nargs; i++) {
        if (arg_type(a, i) != a->op->type) return "operands and result must have one type";
    }
    return NULL;
}

static const char *check_int(const At *a) {
    return is_integer(a, a->op->type) ? check_same(a) : "the result must be an integer";
}

static const char *check_float(const At *a) {
    return is_float(a, a->op->type) ? check_same(a) : "the result must be a float";
}

static const char *check_compare(const At *a) {
    if (!is_numeric(a, arg_type(a, 0))) return "operands must be scalars or tiles";
    if (arg_type(a, 0) != arg_type(a, 1)) return "operands must have one type";
    return is_truth_of(a, a->op->type, arg_type(a, 0)) ? NULL : "the result must be u1 in the operands' shape";
}

static const char *check_integer_second(const At *a) {
    if (a->op->type != arg_type(a, 0)) return "the result must have the first operand's type";
    if (!is_integer(a, arg_type(a, 1)) || !same_shape(a, arg_type(a, 0), arg_type(a, 1))) {
        return "the second operand must be an integer in the first one's shape";
    }
    return NULL;
}

static const char *check_shift(const At *a) {
    if (a->op->imm > 1) return "its immediate is 0 or 1";
    return is_integer(a, a->op->type) ? check_integer_second(a) : "the result must be an integer";
}

static const char *check_ipow(const At *a) {
    return is_numeric(a, a->op->type) ? check_integer_second(a) : "the result must be a scalar or a tile";
}

static const char *check_select(const At *a) {
    if (!is_numeric(a, a->op->type)) return "the result must be a scalar or a tile";
    if (arg_type(a, 0) != PS_U1 && !is_truth_of(a, arg_type(a, 0), a->op->type))
        return "the condition must be u1";
    if (arg_type(a, 1) != a->op->type || arg_type(a, 2) != a->op->type) {
        return "both choices and the result must have one type";
    }
    return NULL;
}

static const char *check_cast(const At *a) {
    return same_shape(a, arg_type(a, 0), a->op->type)
               ? NULL
               : "operand and result must be scalars, or tiles of one shape";
}

static const char *check_bitcast(const At *a) {
    PsType from = element(a, arg_type(a, 0)), to = element(a, a->op->type);
    if (!same_shape(a, arg_type(a, 0), a->op->type))
        return "operand and result must be scalars, or tiles of one shape";
    if (from == PS_U1 || to == PS_U1) return "u1 has no other type of its width";
    return ps_scalar_bits(from) == ps_scalar_bits(to) ? NULL : "operand and result must have one width";
}

/* -- ops with a check of their own -- */

static const char *check_const(const At *a) {
    PsType t = a->op->type;
    if (!ps_type_is_scalar(t)) return "a constant is a scalar";
    int width = t == PS_U1 ? 1 : ps_scalar_bits(t);
    return a->op->imm > UINT64_MAX >> (64 - width) ? "the constant has more bits than its type" : NULL;
}

static const char *check_arg(const At *a) {
    if (a->op->imm >= a->f->params.len) return "the function has no such parameter";
    return a->op->type == a->f->params.data[a->op->imm] ? NULL : "the parameter has another type";
}

static const char *check_splat(const At *a) {
    if (kind(a, a->op->type) != PS_KIND_TILE) return "the result must be a tile";
    return element(a, a->op->type) == arg_type(a, 0) ? NULL : "the operand must have the tile's element type";
}

static const char *check_tile(const At *a) {
    if (kind(a, a->op->type) != PS_KIND_TILE) return "the result must be a tile";
    if (ps_type_count(a->m, a->op->type) != a->op->nargs)
        return "a tile takes as many operands as it has elements";
    for (uint32_t i = 0; i < a->op->nargs; i++) {
        if (arg_type(a, i) != element(a, a->op->type)) return "operands must have the tile's element type";
    }
    return NULL;
}

/* Operand 0 has n axes; the others are one index for each. */
static const char *check_indices(const At *a, int n) {
    if (a->op->nargs != (uint32_t)n + 1) return "it takes one index per axis";
    for (uint32_t i = 1; i < a->op->nargs; i++) {
        if (!is_index(arg_type(a, i))) return "indices must be i32 or i64";
    }
    return NULL;
}

static const char *check_extract(const At *a) {
    if (!a->op->nargs || kind(a, arg_type(a, 0)) != PS_KIND_TILE) return "the first operand must be a tile";
    if (a->op->type != element(a, arg_type(a, 0))) return "the result must be the tile's element";
    return check_indices(a, info(a, arg_type(a, 0))->ndim);
}

static const char *check_two_tiles(const At *a) {
    if (kind(a, arg_type(a, 0)) != PS_KIND_TILE || kind(a, a->op->type) != PS_KIND_TILE) {
        return "operand and result must be tiles";
    }
    return element(a, arg_type(a, 0)) == element(a, a->op->type) ? NULL
                                                                 : "both tiles must have one element type";
}

static const char *check_broadcast(const At *a) {
    const char *wrong = check_two_tiles(a);
    const PsTypeInfo *from = info(a, arg_type(a, 0)), *to = info(a, a->op->type);
    if (wrong) return wrong;
    if (from->ndim != to->ndim) return "both tiles must have as many axes";
    for (int i = 0; i < from->ndim; i++) {
        if (from->shape[i] != 1 && from->shape[i] != to->shape[i])
            return "only axes of length 1 can be repeated";
    }
    return NULL;
}

static const char *check_reshape(const At *a) {
    const char *wrong = check_two_tiles(a);
    if (wrong) return wrong;
    return ps_type_count(a->m, arg_type(a, 0)) == ps_type_count(a->m, a->op->type)
               ? NULL
               : "both tiles must have as many elements";
}

static const char *check_combine(const At *a, uint64_t combine, PsType elem) {
    if (combine > PS_COMBINE_XOR) return "there is no such combine";
    if (combine >= PS_COMBINE_AND && !is_integer(a, elem)) return "and, or and xor combine integers";
    return NULL;
}

static const char *check_reduce(const At *a) {
    const PsTypeInfo *from = info(a, arg_type(a, 0)), *to = info(a, a->op->type);
    uint64_t axis = ps_reduce_axis(a->op->imm);
    if (from->kind != PS_KIND_TILE) return "the operand must be a tile";
    if (axis >= from->ndim) return "the tile has no such axis";
    if (element(a, a->op->type) != from->elem || to->ndim != from->ndim - 1) {
        return "the result must be the tile without that axis";
    }
    for (int i = 0; i < to->ndim; i++) {
        if (to->shape[i] != from->shape[i + ((uint64_t)i >= axis)]) {
            return "the result must be the tile without that axis";
        }
    }
    if (a->op->imm >> 17) return "its immediate has bits without a meaning";
    return check_combine(a, ps_reduce_combine(a->op->imm), from->elem);
}

static const char *check_permute(const At *a) {
    const char *wrong = check_two_tiles(a);
    const PsTypeInfo *from = info(a, arg_type(a, 0)), *to = info(a, a->op->type);
    if (wrong) return wrong;
    if (from->ndim != to->ndim || a->op->imm >> 4 * from->ndim) return "it takes each of the tile's axes once";
    uint32_t seen = 0;
    for (int i = 0; i < to->ndim; i++) {
        uint64_t axis = a->op->imm >> 4 * i & 15;
        if (axis >= from->ndim || seen >> axis & 1) return "it takes each of the tile's axes once";
        if (to->shape[i] != from->shape[axis]) return "the result must have the axes in that order";
        seen |= 1u << axis;
    }
    return NULL;
}

static const char *check_dot(const At *a) {
    if (a->op->imm > 1) return "its immediate is 0 or 1";
    const PsTypeInfo *x = info(a, arg_type(a, 0)), *y = info(a, arg_type(a, 1)), *to = info(a, a->op->type);
    const PsTypeInfo *all[] = {x, y, to};
    for (int i = 0; i < 3; i++) {
        if (all[i]->kind != PS_KIND_TILE || all[i]->ndim != 2)
            return "operands and result must be tiles of two axes";
        if (all[i]->elem != x->elem) return "all tiles must have one element type";
    }
    if (x->shape[1] != y->shape[0]) return "the first's rows must be as long as the second's columns";
    return to->shape[0] == x->shape[0] && to->shape[1] == y->shape[1] ? NULL
                                                                      : "the result must be rows x columns";
}

static const char *check_var(const At *a) {
    if (a->op->imm > 1) return "its immediate is 0 or 1";
    return kind(a, a->op->type) == PS_KIND_PTR ? NULL : "the result must be a ptr";
}

/* dim and stride: axis imm of an array, as `result`. */
static const char *check_axis(const At *a, PsType result) {
    if (kind(a, arg_type(a, 0)) != PS_KIND_ARRAY) return "the operand must be an array";
    if (a->op->imm >= info(a, arg_type(a, 0))->ndim) return "the array has no such axis";
    if (a->op->type == result) return NULL;
    return result == PS_I32 ? "the result must be i32" : "the result must be i64";
}

static const char *check_dim(const At *a) { return check_axis(a, PS_I32); }
static const char *check_stride(const At *a) { return check_axis(a, PS_I64); }

/* base and place: an array's element, or a tile of its last axes. */
static const char *check_base(const At *a) {
    if (!a->op->nargs || kind(a, arg_type(a, 0)) != PS_KIND_ARRAY) return "the first operand must be an array";
    PsType elem = kind(a, a->op->type) == PS_KIND_PTR ? info(a, a->op->type)->elem : PS_KIND_NONE;
    if (element(a, elem) != info(a, arg_type(a, 0))->elem)
        return "the result must be a ptr to the array's element";
    return info(a, elem)->ndim > info(a, arg_type(a, 0))->ndim ? "the array has fewer axes than the tile"
                                                               : NULL;
}

static const char *check_place(const At *a) {
    const char *wrong = check_base(a);
    if (wrong) return wrong;
    if (a->op->imm > a->op->nargs - 1) return "it has fewer indices than it knows";
    return check_indices(a, info(a, arg_type(a, 0))->ndim - info(a, info(a, a->op->type)->elem)->ndim);
}

static const char *check_elem(const At *a) {
    PsType place = a->op->nargs ? arg_type(a, 0) : PS_KIND_NONE;
    const PsTypeInfo *tile = info(a, kind(a, place) == PS_KIND_PTR ? info(a, place)->elem : PS_KIND_NONE);
    if (tile->kind != PS_KIND_TILE) return "the first operand must be a ptr to a tile";
    if (kind(a, a->op->type) != PS_KIND_PTR || info(a, a->op->type)->elem != tile->elem) {
        return "the result must be a ptr to the tile's element";
    }
    return check_indices(a, tile->ndim);
}

static const char *check_ptradd(const At *a) {
    if (kind(a, arg_type(a, 0)) != PS_KIND_PTR) return "the first operand must be a ptr";
    if (arg_type(a, 1) != PS_I64) return "the second operand must be i64";
    return a->op->type == arg_type(a, 0) ? NULL : "the result must have the first operand's type";
}

static const char *check_load(const At *a) {
    if (kind(a, arg_type(a, 0)) != PS_KIND_PTR) return "the operand must be a ptr";
    return a->op->type == info(a, arg_type(a, 0))->elem ? NULL : "the result must be what the ptr points to";
}

static const char *check_volatile(const At *a) {
    if (!ps_type_is_scalar(a->op->type)) return "the result must be a scalar";
    return check_load(a);
}

static const char *check_address(const At *a) {
    if (kind(a, arg_type(a, 0)) != PS_KIND_PTR || !ps_type_is_scalar(info(a, arg_type(a, 0))->elem))
        return "the operand must be a ptr to a scalar";
    return a->op->type == PS_U64 ? NULL : "the result must be u64";
}

static const char *check_clock(const At *a) { return a->op->type == PS_I64 ? NULL : "the result must be i64"; }

/* A place and values of its type. */
static const char *check_stored(const At *a) {
    if (kind(a, arg_type(a, 0)) != PS_KIND_PTR) return "the first operand must be a ptr";
    for (uint32_t i = 1; i < a->op->nargs; i++) {
        if (arg_type(a, i) != info(a, arg_type(a, 0))->elem)
            return "the value must be of the type the ptr points to";
    }
    return NULL;
}

static const char *check_store(const At *a) {
    const char *wrong = check_none(a);
    return wrong ? wrong : check_stored(a);
}

static const char *check_atomic(const At *a) {
    const char *wrong = check_stored(a);
    if (wrong) return wrong;
    if (a->op->imm > 1) return "its immediate is 0 or 1";
    return a->op->type == arg_type(a, 1) ? NULL : "the result must be the old value";
}

static const char *check_atomic_int(const At *a) {
    return is_integer(a, arg_type(a, 1)) ? check_atomic(a) : "the value must be an integer";
}

static const char *check_partial(const At *a) {
    const char *wrong = check_store(a);
    if (wrong) return wrong;
    if (ps_op(a->f, a->f->args.data[a->op->args])->code != PS_OP_VAR) return "the first operand must be a var";
    if (!ps_type_is_scalar(arg_type(a, 1))) return "partials are scalars";
    return check_combine(a, a->op->imm, arg_type(a, 1));
}

static const char *check_call(const At *a) {
    if (!a->op->imm || a->op->imm >= a->m->funcs.len) return "there is no such function, or it is main";
    const PsFunc *callee = a->m->funcs.data[a->op->imm];
    if (a->op->nargs != callee->params.len) return "it takes as many operands as the function has parameters";
    for (uint32_t i = 0; i < a->op->nargs; i++) {
        if (arg_type(a, i) != callee->params.data[i]) return "operands must have the types of the parameters";
    }
    PsType result = callee->results.len ? callee->results.data[0] : PS_KIND_NONE;
    return a->op->type == result ? NULL : "the result must be the function's";
}

static const char *check_print(const At *a) {
    static const char letters[] = "the text must name each operand's type, in order";
    const char *wrong = check_none(a);
    if (wrong) return wrong;
    if (!a->op->imm || a->op->imm >= a->m->texts.len) return "there is no such text";
    uint32_t n = 0;
    for (const char *at = a->m->texts.data[a->op->imm]; *at; at++) {
        PsSpec spec;
        char mark = *at;
        if (mark != PS_FORMAT_PLAIN && mark != PS_FORMAT_SPEC) continue;
        at++;
        if (n == a->op->nargs || !ps_type_is_scalar(arg_type(a, n)) || *at != (char)('a' + arg_type(a, n))) {
            return letters;
        }
        n++;
        if (mark == PS_FORMAT_PLAIN) continue;
        size_t len = strcspn(++at, "\x02");
        if (!at[len] || !ps_spec_parse(at, len, &spec) || !ps_spec_fits(&spec, at[-1]))
            return "there is no such format specification";
        at += len;
    }
    return n == a->op->nargs ? NULL : letters;
}

static const char *check_warn(const At *a) {
    const char *wrong = check_none(a);
    if (wrong) return wrong;
    if (arg_type(a, 0) != PS_U1) return "the operand must be u1";
    return a->op->imm < PS_FAULT_CALLED ? NULL : "there is no such fault";
}

static const char *check_check(const At *a) {
    const char *wrong = check_none(a);
    if (wrong) return wrong;
    if (!a->op->nargs || arg_type(a, 0) != PS_U1) return "the first operand must be u1";
    if (a->op->nargs > 1 + PS_FAULT_VALUES) return "it takes at most 20 values";
    for (uint32_t i = 1; i < a->op->nargs; i++) {
        if (!ps_type_is_scalar(arg_type(a, i)) || !is_integer(a, arg_type(a, i)))
            return "the values must be integers";
    }
    return a->op->imm < PS_FAULT_CALLED ? NULL : "there is no such fault";
}

/* -- control -- */

static const char *check_if(const At *a) {
    return arg_type(a, 0) == PS_U1 ? check_none(a) : "the condition must be u1";
}

/* One region parameter of `type` for each of n axes. */
static const char *check_params(const At *a, uint32_t n, PsType type) {
    const PsRegionInfo *region = ps_region(a->f, a->op->region0);
    if (region->nparams != n) return "the region has the wrong number of parameters";
    for (uint32_t i = 0; i < n; i++) {
        if (ps_op(a->f, region->params + i)->type != type)
            return "the region's parameters must be of the bounds' type";
    }
    return NULL;
}

static const char *check_for(const At *a) {
    if (a->op->type) return check_none(a);
    if (a->op->imm > 1) return "its immediate is 0 or 1";
    if (!is_index(arg_type(a, 0)) || arg_type(a, 0) != arg_type(a, 1))
        return "both bounds must be i32, or both i64";
    return check_params(a, 1, arg_type(a, 0));
}

static const char *check_parfor(const At *a) {
    if (a->op->type) return check_none(a);
    if (!a->op->nargs || a->op->nargs % 2 || a->op->nargs > 2 * PS_MAX_AXES) {
        return "it takes low and high for each of 1 to 12 axes";
    }
    for (uint32_t i = 0; i < a->op->nargs; i++) {
        if (arg_type(a, i) != PS_I32) return "the bounds must be i32";
    }
    if (a->op->imm > INT64_MAX) return "the grain is too large";
    return check_params(a, a->op->nargs / 2, PS_I32);
}

static const char *check_return(const At *a) {
    if (a->op->nargs != a->f->results.len) return "it takes as many operands as the function has results";
    for (uint32_t i = 0; i < a->op->nargs; i++) {
        if (arg_type(a, i) != a->f->results.data[i])
            return "operands must have the types of the function's results";
    }
    return check_none(a);
}

static const char *check_never(const At *a) {
    (void)a;
    return "it cannot stand in a region";
}

static const Check by_rule[] = {
    [PS_RULE_NONE] = check_none,
    [PS_RULE_SAME] = check_same,
    [PS_RULE_INT] = check_int,
    [PS_RULE_FLOAT] = check_float,
    [PS_RULE_COMPARE] = check_compare,
    [PS_RULE_SHIFT] = check_shift,
    [PS_RULE_SELECT] = check_select,
    [PS_RULE_CAST] = check_cast,
    [PS_RULE_BITCAST] = check_bitcast,
    [PS_RULE_IPOW] = check_ipow,
    [PS_RULE_OTHER] = NULL,
};

static const Check by_op[PS_OP_COUNT] = {
    [PS_OP_NONE] = check_never,
    [PS_OP_PARAM] = check_never,
    [PS_OP_CONST] = check_const,
    [PS_OP_ARG] = check_arg,
    [PS_OP_SPLAT] = check_splat,
    [PS_OP_TILE] = check_tile,
    [PS_OP_EXTRACT] = check_extract,
    [PS_OP_BROADCAST] = check_broadcast,
    [PS_OP_RESHAPE] = check_reshape,
    [PS_OP_REDUCE] = check_reduce,
    [PS_OP_PERMUTE] = check_permute,
    [PS_OP_DOT] = check_dot,
    [PS_OP_VAR] = check_var,
    [PS_OP_DIM] = check_dim,
    [PS_OP_PLACE] = check_place,
    [PS_OP_ELEM] = check_elem,
    [PS_OP_BASE] = check_base,
    [PS_OP_STRIDE] = check_stride,
    [PS_OP_PTRADD] = check_ptradd,
    [PS_OP_LOAD] = check_load,
    [PS_OP_VOLATILE] = check_volatile,
    [PS_OP_ADDRESS] = check_address,
    [PS_OP_CLOCK] = check_clock,
    [PS_OP_STORE] = check_store,
    [PS_OP_ATOMIC_ADD] = check_atomic,
    [PS_OP_ATOMIC_MUL] = check_atomic,
    [PS_OP_ATOMIC_MIN] = check_atomic,
    [PS_OP_ATOMIC_MAX] = check_atomic,
    [PS_OP_ATOMIC_AND] = check_atomic_int,
    [PS_OP_ATOMIC_OR] = check_atomic_int,
    [PS_OP_ATOMIC_XOR] = check_atomic_int,
    [PS_OP_ATOMIC_XCHG] = check_atomic,
    [PS_OP_ATOMIC_CAS] = check_atomic,
    [PS_OP_PARTIAL] = check_partial,
    [PS_OP_IF] = check_if,
    [PS_OP_FOR] = check_for,
    [PS_OP_PARFOR] = check_parfor,
    [PS_OP_YIELD] = check_if,
    [PS_OP_RETURN] = check_return,
    [PS_OP_CALL] = check_call,
    [PS_OP_PRINT] = check_print,
    [PS_OP_CHECK] = check_check,
    [PS_OP_WARN] = check_warn,
};

const char *ir_check_types(const PsFunc *f, PsRef r) {
    At at = {f, f->module, ps_op(f, r)};
    Check check = by_op[at.op->code] ? by_op[at.op->code] : by_rule[ps_op_info[at.op->code].rule];
    return check ? check(&at) : "its rule is missing in ir_rules.c";
}
