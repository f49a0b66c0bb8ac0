/* SPDX-License-Identifier: Apache-2.0
 *
 * ir: the one typed representation of both languages: functions of structured regions.
 *
 * A function is a set of arrays in its module's arena. An op is named by a 32-bit index (PsRef), a region by
 * another (PsRegion); nothing points. Index 0 is the placeholder op: what a builder call returns after an
 * allocation failed, harmless as an operand; stages ask ps_arena_failed once at their end.
 *
 *     func @main(array<f32,1>, f32) {          parfor[grain] takes low/high per axis;
 *       %1:array<f32,1> = arg[0]               its region has one i32 parameter per axis
 *       %2:f32 = arg[1]
 *       %3:i32 = const 0
 *       %4:i32 = dim[0] %1
 *       parfor[64] %3, %4 {^ %5:i32
 *         %6:ptr<f32> = place %1, %5  !1:2:4:2:8      (span: source:line:col:end_line:end_col)
 *         %7:f32 = load %6
 *         %8:f32 = mul %7, %2
 *         store %6, %8
 *       }
 *     }
 *
 * Structure: regions are ordered lists; a value is visible after its op, in its region and regions inside it.
 * break, continue, return and yield end their region: nothing stands behind them.
 * Locals are `var` places. Functions other than main take scalars, arrays and places and give at most one scalar: tiles
 * and further results travel through places.
 * An array of vectors or matrices is an array of scalars whose trailing axes are the element's, whatever their strides.
 * Ownership: everything belongs to the module's arena. Threads: one compilation, one thread.
 */
#ifndef PS_IR_IR_H
#define PS_IR_IR_H

#include "base/base.h"
#include "layout/layout.h"

typedef uint32_t PsRef;    /* an op of a function; 0 = none */
typedef uint32_t PsRegion; /* a region of a function; 0 = none, 1 = the body */
typedef uint32_t PsType;   /* an entry of the module's type table; ids below PS_KIND_PTR are the scalars */

typedef enum PsKind {
    PS_KIND_NONE, /* no value */
#define PS_SCALAR(id, name, bits, class, ctype) PS_##id,
#include "ir/types.def"
    PS_KIND_PTR,   /* place of an element */
    PS_KIND_ARRAY, /* strided array parameter: element, ndim, unit */
    PS_KIND_TILE,  /* shape + element */
    PS_KIND_STRUCT,
} PsKind;
#define PS_SCALAR_END PS_KIND_PTR /* scalars are 1 .. PS_SCALAR_END - 1; their type id is their kind */

typedef enum PsClass { PS_CLASS_UINT, PS_CLASS_INT, PS_CLASS_FLOAT } PsClass;

typedef struct PsTypeInfo {
    PsKind kind;
    PsType elem;  /* of ptr, array, tile */
    uint8_t ndim; /* of array, tile */
    bool unit; /* of array: C order without overlap: the last axis' stride is the element's size and every other
                       axis' stride is at least the extent of the axes inside it */
    uint8_t outer; /* of a unit array: so many of the last axes are outside all others in memory, not inside */
    int64_t shape[PS_MAX_AXES]; /* of tile */
    uint32_t fields, nfields;   /* of struct: run of module->field_types (later) */
} PsTypeInfo;

typedef enum PsOpCode {
#define PS_OP(id, ...) PS_OP_##id,
#include "ir/ops.def"
    PS_OP_COUNT
} PsOpCode;

typedef enum PsEffect {
    PS_EFFECT_PURE,
    PS_EFFECT_READ,
    PS_EFFECT_WRITE,
    PS_EFFECT_ALLOC,
    PS_EFFECT_CONTROL,
    PS_EFFECT_IO,
    PS_EFFECT_FAULT,
} PsEffect;
typedef enum PsRule {
    PS_RULE_NONE,
    PS_RULE_SAME,
    PS_RULE_INT,
    PS_RULE_FLOAT,
    PS_RULE_COMPARE,
    PS_RULE_SHIFT,
    PS_RULE_SELECT,
    PS_RULE_CAST,
    PS_RULE_BITCAST,
    PS_RULE_IPOW,
    PS_RULE_OTHER,
} PsRule;
typedef enum PsImm { PS_IMM_NO, PS_IMM_INT, PS_IMM_OPT, PS_IMM_BITS, PS_IMM_FUNC, PS_IMM_TEXT } PsImm;
typedef enum PsGrad { PS_GRAD_NO, PS_GRAD_LINEAR, PS_GRAD_RULE, PS_GRAD_MEMORY, PS_GRAD_CONTROL } PsGrad;
typedef enum PsLane { PS_LANE_MAP, PS_LANE_UNIFORM, PS_LANE_MEMORY, PS_LANE_MASK, PS_LANE_SERIAL } PsLane;
typedef enum PsCost {
    PS_COST_FREE,
    PS_COST_ADDRESS,
    PS_COST_SIMPLE,
    PS_COST_MEMORY,
    PS_COST_DIV,
    PS_COST_MATH,
    PS_COST_TWO_DIV,
    PS_COST_SLOW,
    PS_COST_ATOMIC,
    PS_COST_INT_DIV,
    PS_COST_PRINT,
} PsCost;
typedef enum PsCombine { /* of reduce, partial; identities: ps_ir_identity */
                         PS_COMBINE_ADD,
                         PS_COMBINE_MUL,
                         PS_COMBINE_MIN,
                         PS_COMBINE_MAX,
                         PS_COMBINE_AND,
                         PS_COMBINE_OR,
                         PS_COMBINE_XOR,
} PsCombine;

typedef struct PsOpInfo {
    const char *name;
    int8_t nargs; /* -1: any */
    uint8_t nregions;
    PsRule rule;
    PsImm imm;
    PsEffect effect;
    PsGrad grad;
    PsLane lane;
    PsCost cost;
    const char *doc;
} PsOpInfo;
extern const PsOpInfo ps_op_info[PS_OP_COUNT];

typedef struct PsOp {
    uint16_t code; /* PsOpCode */
    uint16_t nregions;
    uint32_t nargs;
    PsType type;   /* of the result; PS_KIND_NONE when there is none */
    uint32_t args; /* first operand in func->args */
    PsRegion
        region0; /* first of its nregions consecutive regions; of a PARAM: the region it is a parameter of */
    uint64_t imm;
    uint32_t span; /* index into module->spans; 0 = unknown */
    PsRef prev, next;
    PsRegion region; /* the region it stands in; 0: removed or a region parameter */
} PsOp;

typedef struct PsRegionInfo {
    PsRef first, last;
    PsRef owner;     /* the op it belongs to; 0 for the body */
    uint32_t params; /* first parameter op; they are consecutive ops of code PARAM */
    uint32_t nparams;
} PsRegionInfo;

typedef struct PsModule PsModule;

typedef struct PsFunc {
    PsModule *module;
    const char *name; /* unique in the module; "main" is the kernel itself, function 0 */
    PsVec(PsType) params;
    PsVec(PsType) results;
    PsVec(PsOp) ops;
    PsVec(PsRef) args;
    PsVec(PsRegionInfo) regions;
} PsFunc;

/* A Python function that spans refer to (sources[0] is unused). The name is part of the text form, file and
 * first_line are not: moving a function does not change its IR's text. */
typedef struct PsSource {
    const char *name, *file;
    uint32_t first_line;
    const char *text; /* the function's source text from its first line on, or NULL */
    PsSpan call;      /* expanded in place: where it was called, in a source before this one; else source 0 */
    uint32_t same;    /* the first source with this function's file and text; 0: this one */
} PsSource;

/* What a pass decided about a piece of the program; for `explain`, no part of the text form. */
typedef struct PsNote {
    uint32_t span; /* of the op */
    PsNoteId id;
    const char *word; /* of the text, or NULL */
} PsNote;

struct PsModule {
    PsArena *arena;
    PsStrings strings;
    PsVec(PsTypeInfo) types;
    PsVec(PsFunc *) funcs;
    PsVec(PsSpan) spans;
    PsVec(PsSource) sources;
    PsVec(const char *) texts; /* of print; texts[0] is unused */
    PsVec(PsNote) notes;
    bool checked;       /* option: faults instead of the defined results */
    bool overflow;      /* of checked: integer overflow is a fault, not only remembered */
    bool fast_math;     /* option: pass fast_math may change roundings */
    bool deterministic; /* option: loops with atomics whose order shows run them in the order of iterations */
    PsMap type_ids, func_ids; /* what types and funcs hold, to find them quickly */
};

#define PS_MAX_NESTING 500                /* regions inside regions; the verifier and the parser refuse more */
#define PS_MAX_TILE    ((int64_t)1 << 20) /* elements of a tile */
#define PS_MAX_RESULTS 1024               /* of main */

/* ir_types.c: the table of types, each once. What cannot be (13 axes, a tile of no or too many elements, a pointer to
 * an array, an array of tiles) and what finds no memory gives PS_KIND_NONE. */
PsType ps_type_ptr(PsModule *m, PsType elem);
PsType ps_type_array(PsModule *m, PsType elem, int ndim, bool unit);
PsType ps_type_array_outer(PsModule *m, PsType elem, int ndim, int outer); /* unit; see PsTypeInfo.outer */
/* The axis whose stride is the element's size; -1: none is known. */
static inline int ps_type_unit_axis(const PsTypeInfo *array) {
    return array->unit ? array->ndim - 1 - array->outer : -1;
}
PsType ps_type_tile(PsModule *m, PsType elem, int ndim, const int64_t *shape);
static inline const PsTypeInfo *ps_type_info(const PsModule *m, PsType t) { return &m->types.data[t]; }
static inline bool ps_type_is_scalar(PsType t) { return t > PS_KIND_NONE && t < PS_SCALAR_END; }
PsClass ps_scalar_class(PsType scalar);
int ps_scalar_bits(PsType scalar); /* 8 for u1 */
int ps_scalar_size(PsType scalar); /* in bytes */
const char *ps_scalar_name(PsType scalar);
PsType ps_scalar_by_name(const char *name, size_t len); /* PS_KIND_NONE: no such */
PsType ps_type_element(const PsModule *m, PsType t);    /* a scalar itself; a tile's element */
int64_t ps_type_count(const PsModule *m, PsType t);     /* 1 for a scalar; a tile's number of elements */
PsType ps_type_with_element(PsModule *m, PsType like, PsType elem); /* same shape, other element */
void ps_type_print(const PsModule *m, PsType t, PsBuf *out);

/* ir_build.c: making modules, functions, ops. */
PsModule *ps_module_new(PsArena *arena); /* NULL: no memory */
/* The name must be new in the module. NULL: it is not, or no memory. */
PsFunc *ps_func_new(PsModule *m, const char *name, size_t len);
uint32_t ps_module_add_span(PsModule *m, PsSpan span);        /* 0: no memory */
uint32_t ps_module_add_text(PsModule *m, const char *text);   /* 0: no memory */
int ps_module_find_func(const PsModule *m, const char *name); /* -1: none */

/* A position to add ops at: the end of a region, or before an op. */
typedef struct PsBuilder {
    PsFunc *func;
    PsRegion region;
    PsRef before;  /* 0: at the end of the region */
    uint32_t span; /* given to new ops */
} PsBuilder;
PsBuilder ps_builder_at_end(PsFunc *func, PsRegion region);
PsBuilder ps_builder_before(PsFunc *func, PsRef op);
/* The general form; makes the op's regions too (empty; their parameters by ps_region_add_param). */
PsRef ps_build_op(PsBuilder *b, PsOpCode code, PsType type, const PsRef *args, uint32_t nargs, uint64_t imm);
PsRef ps_build_const(PsBuilder *b, PsType type, uint64_t bits);
PsRef ps_build_int(PsBuilder *b, PsType type, int64_t value);  /* wraps; u1: value != 0; floats: rounds */
PsRef ps_build_float(PsBuilder *b, PsType type, double value); /* rounds; integers: a cast of the value */
PsRef ps_build_unary(PsBuilder *b, PsOpCode code, PsRef a);    /* result as a; FLOAT, INT, SAME rules */
PsRef ps_build_binary(PsBuilder *b, PsOpCode code, PsRef a,
                      PsRef c); /* SAME, INT, FLOAT, SHIFT, COMPARE, IPOW */
PsRef ps_build_select(PsBuilder *b, PsRef cond, PsRef a, PsRef c);
PsRef ps_build_cast(PsBuilder *b, PsRef a, PsType type); /* a itself when it has that type; shapes agree */
PsRef ps_build_var(PsBuilder *b, PsType type);
PsRef ps_build_load(PsBuilder *b, PsRef place);
void ps_build_store(PsBuilder *b, PsRef place, PsRef value);
/* ir_math.c: a function of math/math.h written out, of f32 or f64 (c: of those that take two); 0: it has no text. */
PsRef ps_build_math(PsBuilder *b, PsOpCode code, PsRef a, PsRef c);
PsRef ps_build_place(PsBuilder *b, PsRef array, const PsRef *indices, uint32_t n, PsType elem);

/* ir_build_tile.c: tiles. What needs no op gives what there is: an element of a tile made from elements, a tile in the
 * shape it has. unary, binary, select and cast above are for tiles too; scalars become tiles by splat. */
PsRef ps_build_tile(PsBuilder *b, PsType tile, const PsRef *elements, uint32_t n);
PsRef ps_build_splat(PsBuilder *b, PsType type, PsRef a); /* a itself when type is its own */
PsRef ps_build_extract(PsBuilder *b, PsRef tile, const PsRef *indices, uint32_t n);
PsRef ps_build_elem(PsBuilder *b, PsRef place, const PsRef *indices, uint32_t n); /* of a ptr<tile> */
PsRef ps_build_reshape(PsBuilder *b, PsRef tile, int ndim, const int64_t *shape);
PsRef ps_build_broadcast(PsBuilder *b, PsRef tile, int ndim, const int64_t *shape);
PsRef ps_build_permute(PsBuilder *b, PsRef tile, const uint8_t *axes); /* axis i of the result: axis axes[i] */
PsRef ps_build_reduce(PsBuilder *b, PsRef tile, int axis, PsCombine combine); /* without that axis */
PsRef ps_build_reduce_all(PsBuilder *b, PsRef tile, PsCombine combine);       /* a scalar; row-major */
PsRef ps_build_dot(PsBuilder *b, PsRef a, PsRef c);                           /* of two matrices */

/* Parameters of a region are consecutive ops: add all of them before any other op is made in the function. 0: not so,
 * or no memory. */
PsRef ps_region_add_param(PsFunc *func, PsRegion region, PsType type);

static inline PsOp *ps_op(const PsFunc *f, PsRef r) { return &f->ops.data[r]; }
static inline PsRef ps_op_arg(const PsFunc *f, PsRef r, uint32_t i) {
    return f->args.data[f->ops.data[r].args + i];
}
static inline void ps_op_set_arg(PsFunc *f, PsRef r, uint32_t i, PsRef value) {
    f->args.data[f->ops.data[r].args + i] = value;
}
static inline PsRegionInfo *ps_region(const PsFunc *f, PsRegion r) { return &f->regions.data[r]; }
/* ir_edit.c, changing: unlink an op from its region (its regions go with it); move one before another; make every operand
 * `old` read `value`. */
void ps_op_remove(PsFunc *f, PsRef op);
void ps_op_move_before(PsFunc *f, PsRef op, PsRef before);
void ps_func_replace(PsFunc *f, PsRef old, PsRef value);
/* Many at once, in one walk over all operands: each operand r with map[r] != 0 reads map[r], then map of that, and so
 * on; map is indexed by PsRef and has no cycle. */
void ps_func_remap(PsFunc *f, const PsRef *map);
/* Counts of uses of every op, indexed by PsRef (arena of the module); NULL: no memory. */
uint32_t *ps_func_count_uses(const PsFunc *f);
/* Whether op `inner` (or region parameter) stands in region `r` or one inside it. */
bool ps_region_contains(const PsFunc *f, PsRegion r, PsRef inner);
/* The constant's bits when r is one. */
bool ps_op_is_const(const PsFunc *f, PsRef r, uint64_t *out_bits);
uint64_t ps_ir_identity(PsCombine combine, PsType scalar); /* add: -0.0 for floats; min, max of floats: a NaN;
                                                              min, max of integers: the largest, the smallest */
PsOpCode ps_ir_combine_op(PsCombine combine);              /* the binary op it stands for */

/* The immediate of a reduce. Written: as imm 1 of add, the program's own sum, whose overflow pass check looks for. */
static inline uint64_t ps_reduce_imm(int axis, PsCombine combine) {
    return (uint64_t)axis << 8 | (uint64_t)combine;
}
static inline uint64_t ps_reduce_axis(uint64_t imm) { return imm >> 8 & 255; }
static inline PsCombine ps_reduce_combine(uint64_t imm) { return (PsCombine)(imm & 255); }
#define PS_REDUCE_WRITTEN ((uint64_t)1 << 16)

/* The immediate of a parfor, set by pass grain: the smallest leaf worth having, in iterations, and the estimated cost of
 * one iteration in picoseconds. Both 0: not set yet; then a leaf may be of any size (take 1). */
static inline uint64_t ps_parfor_imm(uint32_t grain, uint32_t cost) { return (uint64_t)cost << 32 | grain; }
static inline int64_t ps_parfor_grain(uint64_t imm) { return (int64_t)(imm & 0xffffffffu); }
static inline int64_t ps_parfor_cost(uint64_t imm) { return (int64_t)(imm >> 32); }

/* ir_walk.c: every op of a function, outer before inner, in order: for (r = ps_walk_first(f); r; r = ps_walk_next(f, r)) */
PsRef ps_walk_first(const PsFunc *f);
PsRef ps_walk_next(const PsFunc *f, PsRef at);
/* The next op that is not inside `at`: take it before removing an op that has regions. */
PsRef ps_walk_skip(const PsFunc *f, PsRef at);

/* Where a place leads to, through elem and ptradd: a var, an arg, a place or base of an array. */
PsRef ps_place_root(const PsFunc *f, PsRef place);

/* ir_print.c, ir_parse.c: inverse of each other. `spans`: with !source:line:... suffixes. */
void ps_ir_print(const PsModule *m, bool spans, PsBuf *out);
PsStatus ps_ir_parse(PsArena *arena, const char *text, size_t len, PsDiag *diag, PsModule **out) PS_MUST_CHECK;

/* ir_verify.c: the module is well-formed; `after` names the pass for the message. */
PsStatus ps_ir_verify(const PsModule *m, const char *after, PsDiag *diag) PS_MUST_CHECK;

/* ir_scalar.c: what each pure op computes on scalars: the one place where its meaning is written. `type` is the
 * operands' type (for CAST and BITCAST that of the operand, with `to` the result's; for SHIFT and IPOW `to` is the type
 * of the second operand; otherwise `to` is not read). Bits in, bits out, zero-extended; 0 for ops without a value of
 * their own (memory, control, tiles). */
uint64_t ps_eval_scalar(PsOpCode code, PsType type, PsType to, const uint64_t *args);

/* ir_eval.c: runs a module's main. Arguments as in the frame: scalars' bits; arrays as views (element type from
 * the parameter). Bounds are checked always (unchecked modules too): a fault is reported, not run. */
typedef struct PsEvalArg {
    uint64_t bits;     /* scalar */
    PsArrayView array; /* array */
} PsEvalArg;
typedef struct PsEvalFault {
    PsFaultKind kind;
    uint32_t span; /* of the module */
    int64_t values[PS_FAULT_VALUES];
    uint32_t nvalues;
    PsFaultCalls calls; /* spans of the module */
} PsEvalFault;
typedef struct PsEvalResult {
    uint64_t results[PS_MAX_RESULTS];
    bool faulted, out_of_steps;
    PsEvalFault fault;
    PsBuf printed; /* as rt would have printed it; the caller frees it */
} PsEvalResult;
PsStatus ps_ir_eval(const PsModule *m, const PsEvalArg *args, uint32_t nargs, uint64_t max_steps,
                    PsEvalResult *out) PS_MUST_CHECK;

#endif
