/* SPDX-License-Identifier: Apache-2.0
 *
 * front/loop, between its files. One Loop is one build of a kernel.
 *
 *     loop_build.c    entry: parameters, body, result     loop_func.c     funcs: expanded in place or built once
 *     loop_stmt.c     statements                          loop_args.c     arguments to parameters
 *                                                         loop_pass.c     structs and tuples across calls
 *     loop_assign.c   = and op=                           loop_call.c     calls
 *     loop_for.c      for, break, continue                loop_builtin.c  ti.sqrt, ti.cast, abs, ...
 *     loop_domain.c   what a for runs over                loop_atomic.c   atomic updates
 *     loop_static.c   unrolled loops, comprehensions      loop_index.c    x[i], x.shape
 *     loop_expr.c     expressions
 *     loop_logic.c    conditions, and/or, a if c else b   loop_print.c    print, f-strings; loop_percent.c: "%d" % x
 *     loop_binop.c    operators                           loop_writes.c   which arrays are written
 *     loop_promote.c  types of results                    loop_return.c   return
 *     loop_random.c   random, randn
 *     loop_field.c    fields and ndarrays from outside    loop_member.c   members of dataclass arguments
 *     loop_tile.c     vectors and matrices                loop_make.c     making them
 *     loop_struct.c   structs                             loop_form.c     values of the kernel's caller
 *     loop_part.c     their elements, slices, swizzles    loop_method.c   their methods, @
 *     loop_fill.c     x.fill(v) of arrays                 loop_structs.c  arrays of structs
 *     loop_view.c     ranges of arrays
 */
#ifndef PS_FRONT_LOOP_INT_H
#define PS_FRONT_LOOP_INT_H

#include "front/eval/build.h"
#include "front/loop/loop.h"

/* What happens after a statement at compile time. */
typedef enum Flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } Flow;

typedef enum LoopKind { LOOP_PARALLEL, LOOP_SERIAL, LOOP_STATIC } LoopKind;
typedef struct LoopContext { /* a loop around what is being built */
    struct LoopContext *outer;
    LoopKind kind;
    PsRegion region; /* of its body */
    PsRef broken;    /* u1 var that break sets, so that the loops around it end too; 0: one loop only */
} LoopContext;

typedef enum LoopFuncKind { FUNC_KERNEL, FUNC_INLINE, FUNC_CALLED } LoopFuncKind;

/* A func built once for one set of argument types. */
typedef enum InstanceState { INSTANCE_NEW, INSTANCE_BUILDING, INSTANCE_DONE, INSTANCE_INLINE } InstanceState;
typedef struct Instance {
    InstanceState state;
    uint32_t index;             /* in module->funcs */
    PsType result;              /* of what has been returned so far; PS_KIND_NONE: nothing or unknown */
    PsType widen;               /* when a return did not fit: build again with this */
    PsValue shape, widen_shape; /* the same of structs and tuples (loop_pass.c); kind NONE: none */
    bool returns, returns_nothing;
    bool recursive; /* called while it was being built */
    bool
        spreads; /* calls, at its outermost level, what has loops that are parallel at the kernel's top level */
} Instance;

typedef struct LoopFunc {
    PsFrontFunc base;
    LoopFuncKind kind;
    LoopContext *loops;
    PsRegion region;    /* of the body */
    Instance *instance; /* CALLED */
    bool real;          /* CALLED: @real_func */
    bool at_top;        /* CALLED: from the kernel's top level, where it could be expanded instead */
    bool early;         /* CALLED: it returns inside a branch or loop, so it cannot be expanded in place */
    PsType annotated;   /* of the result: a scalar or tile; PS_KIND_NONE: not annotated so */
    const PsForm *form; /* of the result; NULL: not annotated */
    bool returned;      /* INLINE, KERNEL: the return statement was met */
    PsValue result;     /* INLINE */
} LoopFunc;

typedef struct LoopHidden {
    PyObject *object; /* kept; NULL: a member, or what every function is given that draws random numbers */
    PsType type;
    int64_t member; /* -1: none */
} LoopHidden;
typedef struct LoopMember {
    PsMember base;    /* with its references, until they are the build's */
    uint32_t hidden;  /* the first of its scalars, or the only one */
    const char *path; /* "p.inner.x" */
} LoopMember;

typedef struct LoopStream { /* of random numbers, of one iteration */
    PsRegion region;        /* the parallel loop's body */
    PsRef state;
} LoopStream;

typedef struct Loop {
    PsFront front;
    PsBuild *build;
    LoopFunc *func;
    PsRegion parallel;      /* body of the parallel loop around; 0: none */
    int serial;             /* > 0: a for here is serial even in main's body */
    bool in_static;         /* inside ti.static(...) */
    bool config, serialize; /* ti.loop_config waits for its loop */
    PsSpan config_at;
    PsSpan value_at;               /* of what is being assigned; source 0: nothing is */
    uint32_t made;                 /* functions of the IR, dropped ones too */
    uint32_t statements;           /* built so far */
    uint32_t unrolled;             /* iterations of static loops so far */
    PsRef random_key, random_main; /* of the launch; the state of main's serial code; 0: not made yet */
    PsVec(LoopStream) streams;     /* of parallel loops with random numbers */
    uint32_t random_hidden;        /* where funcs get the state from: its number among `hidden`, + 1 */
    PsMap instances;               /* key of a func with argument types -> Instance * */
    PsMap warned;                  /* spans that gave a warning */
    const PsParam *params;         /* of the kernel */
    uint32_t nparams;
    PsVec(LoopHidden) hidden;  /* arrays from outside, in the order they were met */
    PsMap hidden_ids;          /* object -> its number among them */
    PsVec(LoopMember) members; /* what each launch reads */
    const PsDescriber *describer;
    PsMap hidden_args;           /* function and number -> the op */
    PsVec(PyObject *) expanding; /* funcs being expanded in place, for the message on endless recursion */
} Loop;

#define FAIL(l, id, ...) PS_FRONT_FAIL(&(l)->front, FRONT_##id, ##__VA_ARGS__)
#define TRY(expr)                                                                                              \
    do {                                                                                                       \
        PsStatus try_status_ = (expr);                                                                         \
        if (try_status_) return try_status_;                                                                   \
    } while (0)

static inline void loop_at(Loop *l, const PsAst *node) { ps_front_at(&l->front, node); }
static inline PsBuilder *loop_b(Loop *l) { return &l->front.b; }
static inline PsType loop_type_of(Loop *l, PsRef r) { return ps_op(l->front.b.func, r)->type; }
static inline PsValue loop_value(Loop *l, PsRef ref) { return ps_value_of(&l->front, ref); }
static inline bool loop_is_float(PsType t) { return ps_scalar_class(t) == PS_CLASS_FLOAT; }
static inline const char *loop_describe_type(Loop *l, PsType type) { return ps_type_describe(&l->front, type); }
static inline const char *loop_describe(Loop *l, const PsValue *v) { return ps_value_describe(&l->front, v); }

typedef struct CallArgs {
    PsValue *args;
    uint32_t nargs;
    PyObject **names; /* of keyword arguments */
    PsValue *named;
    uint32_t nnamed;
} CallArgs;

/* loop_expr.c */
PsStatus loop_eval(Loop *l, PsAst *node, PsValue *out) PS_MUST_CHECK;       /* never a PLACE */
PsStatus loop_eval_place(Loop *l, PsAst *node, PsValue *out) PS_MUST_CHECK; /* a PLACE where there is one */
/* As loop_eval_place, of what only attributes are asked of, or a func is called with. */
PsStatus loop_eval_holder(Loop *l, PsAst *node, PsValue *out) PS_MUST_CHECK;
PsStatus loop_eval_list(Loop *l, const PsAstList *list, PsValue **out,
                        uint32_t *out_len) PS_MUST_CHECK; /* expands *x */
PsStatus loop_eval_python(Loop *l, PsAst *node,
                          PyObject **out) PS_MUST_CHECK; /* kept; a proxy for runtime values */
PsStatus loop_attribute(Loop *l, const PsValue *base, PyObject *name, PsValue *out) PS_MUST_CHECK;
PsValue loop_load(Loop *l, const PsValue *value); /* what lies in a PLACE; others as they are */
PsStatus loop_items(Loop *l, const PsValue *value, PsValue **out,
                    uint32_t *out_len) PS_MUST_CHECK; /* of tuples, vectors */
/* It is no plain Python value: known later, or a container with such values in it, however deep. */
bool loop_holds_proxies(Loop *l, const PsValue *value);

/* loop_promote.c */
PsType loop_promote(PsType a, PsType b);
PsType loop_promote_keep(PsType a, PsType b); /* u1 with u1 stays u1 */
PsType loop_numeric(Loop *l,
                    const PsValue *value); /* type of a scalar or Python number; PS_KIND_NONE: neither */
/* The value as an op of the (scalar) type, in its own shape: numbers become constants, others are cast. */
PsStatus loop_as(Loop *l, const PsValue *value, PsType type, PsRef *out) PS_MUST_CHECK;
PsStatus loop_runtime(Loop *l, const PsValue *value, PsRef *out) PS_MUST_CHECK;           /* in its own type */
PsStatus loop_cast(Loop *l, const PsValue *value, PsType type, PsRef *out) PS_MUST_CHECK; /* as ti.cast */
/* For a store into something of the type, a scalar or tile: casts, and warns where that may lose something. */
PsStatus loop_store_value(Loop *l, const PsValue *value, PsType type, const char *what,
                          PsRef *out) PS_MUST_CHECK;

/* loop_binop.c */
PsRef loop_written(Loop *l, PsRef ref); /* an op that stands in the program: its overflow is looked for */
PsStatus loop_binary(Loop *l, PsAstOp op, const PsValue *a, const PsValue *b, PsValue *out) PS_MUST_CHECK;
PsStatus loop_unary(Loop *l, PsAstOp op, const PsValue *a, PsValue *out) PS_MUST_CHECK;
PsStatus loop_compare(Loop *l, PsAstOp op, const PsValue *a, const PsValue *b, PsValue *out) PS_MUST_CHECK;
const char *loop_operator_symbol(PsAstOp op);
PsOpCode loop_operator_atomic(PsAstOp op);

/* loop_logic.c */
PsStatus loop_condition(Loop *l, const char *what, const PsValue *value, PsRef *out) PS_MUST_CHECK; /* -> u1 */
PsStatus loop_truth(Loop *l, const PsValue *value,
                    int *out) PS_MUST_CHECK; /* 0, 1; -1: known only at run time */
PsStatus loop_truths(Loop *l, const char *what, const PsValue *value,
                     PsRef *out) PS_MUST_CHECK; /* of a tile, each */
PsStatus loop_eval_boolop(Loop *l, PsAst *node, PsValue *out) PS_MUST_CHECK;
PsStatus loop_eval_compare(Loop *l, PsAst *node, PsValue *out) PS_MUST_CHECK;
PsStatus loop_eval_ifexp(Loop *l, PsAst *node, PsValue *out) PS_MUST_CHECK;

/* loop_field.c: arrays of ours from outside the kernel */
bool loop_is_array_object(Loop *l, const PsValue *value);
PsStatus loop_from_outside(Loop *l,
                           PsValue *value) PS_MUST_CHECK; /* one of those -> ARRAY; others as they are */
PsType loop_array_type(Loop *l, PsType dtype, int ndim, int edim, uint8_t unit /* PsUnit */);
PsValue loop_array_value(Loop *l, PsRef ref, PsType type, int edim, const int64_t *eshape, PyObject *object);
/* loop_structs.c. Arrays of structs: STRUCTS, or still an object. */
bool loop_has_leaf(Loop *l, PyObject *object,
                   const PyObject *array); /* whether it is one of its members, or itself */
typedef PsStatus (*LoopLeaf)(Loop *l, void *data, PyObject *array, PsValue *out);
/* STRUCTS, whose ARRAYs `leaf` makes, in order; of a plain array just that. */
PsStatus loop_make_structs(Loop *l, PyObject *object, LoopLeaf leaf, void *data, PsValue *out) PS_MUST_CHECK;
PsStatus loop_structs_from_outside(Loop *l, PsValue *value) PS_MUST_CHECK;
PsStructTypeObject *loop_structs_type(const PsValue *value);
const PsValue *loop_first_array(const PsValue *value); /* of its members; an ARRAY as it is */
PsStatus loop_index_structs(Loop *l, const PsValue *base, const PsValue *indices, uint32_t n,
                            PsValue *out) PS_MUST_CHECK;
PsStatus loop_structs_attribute(Loop *l, const PsValue *base, PyObject *name, PsValue *out) PS_MUST_CHECK;
bool loop_is_structs(Loop *l, const PsValue *value);
void loop_pin(Loop *l, const PsValue *array, uint8_t what); /* PS_PIN_*: it is a fact of this specialisation */
/* Attributes that are values known while compiling; *done false: the name is none of these. */
PsStatus loop_field_attribute(Loop *l, const PsValue *base, const char *name, PyObject *key, PsValue *out,
                              bool *done) PS_MUST_CHECK;
#define LOOP_HIDDEN_ARGS (1u << 31) /* numbers of arguments from here on are of hidden ones */
PsStatus loop_hidden_arg(Loop *l, uint32_t hidden, PsRef *out) PS_MUST_CHECK; /* in the function being built */
PsStatus loop_fields_finish(Loop *l) PS_MUST_CHECK;

/* loop_member.c: members of dataclass arguments, run-time numbers of objects, gradients of array arguments */
/* Which argument or member (PsMember.from) an ARRAY or STRUCTS is, + 1; 0: none. */
static inline uint32_t loop_given(const PsValue *value) {
    return value->kind == PS_VALUE_STRUCTS ? value->ref : value->count;
}
static inline void loop_set_given(PsValue *value, uint32_t from) {
    *(value->kind == PS_VALUE_STRUCTS ? &value->ref : &value->count) = from + 1;
}
PsStatus loop_array_grad(Loop *l, const PsValue *array, PsValue *out) PS_MUST_CHECK;
PsStatus loop_member(Loop *l, const PsValue *object, PyObject *name, PsValue *out) PS_MUST_CHECK;
PsStatus loop_object_number(Loop *l, PyObject *object, PyObject *name, PsValue *out, bool *done) PS_MUST_CHECK;
PsStatus loop_object_property(Loop *l, const PsValue *object, PyObject *name, PsValue *out,
                              bool *done) PS_MUST_CHECK;
PsStatus loop_call_object_method(Loop *l, const PsValue *method, CallArgs *args, PsValue *out) PS_MUST_CHECK;
void loop_members_free(Loop *l);

/* loop_tile.c: vectors and matrices; a tile type stands for element and shape */
PsType loop_tile_type(Loop *l, const PsValue *value); /* PS_KIND_NONE: it is no vector or matrix */
bool loop_is_tile(Loop *l, const PsValue *value);
PsType loop_element(Loop *l, const PsValue *value); /* loop_numeric, or a tile's element type */
int loop_tile_ndim(Loop *l, PsType tile);
int64_t loop_tile_axis(Loop *l, PsType tile, int axis); /* 1 for an axis it does not have */
int64_t loop_tile_count(Loop *l, PsType type);
bool loop_same_shape(Loop *l, PsType a, PsType b);
PsType loop_vector_type(Loop *l, PsType elem, int64_t n);
PsType loop_matrix_type(Loop *l, PsType elem, int64_t n, int64_t m);
PsValue loop_tile(Loop *l, PsType type, const PsRef *elements);
PsRef loop_splat(Loop *l, PsRef scalar, PsType like);
PsRef loop_const_like(Loop *l, PsRef like, int64_t value); /* of its type and shape */
PsStatus loop_host_tile(Loop *l, const PsValue *value, PsType elem, PsRef *out) PS_MUST_CHECK;
/* A vector of numbers or a matrix of rows; elem PS_KIND_NONE: what the elements are together. */
PsStatus loop_make_tile(Loop *l, const PsValue *items, uint32_t n, PsType elem, PsValue *out) PS_MUST_CHECK;
/* Operands side by side: when one is a vector or matrix, numbers will be repeated and sequences become one, too.
 * *shape: PS_KIND_NONE when none is. */
PsStatus loop_spread(Loop *l, uint32_t n, PsValue *args, PsType *shape) PS_MUST_CHECK;

/* loop_part.c: elements, slices, swizzles */
PsStatus loop_index_tile(Loop *l, const PsValue *base, const PsValue *indices, uint32_t n,
                         PsValue *out) PS_MUST_CHECK;
PsStatus loop_tile_element(Loop *l, const PsValue *base, int64_t i, int64_t j, PsValue *out) PS_MUST_CHECK;
PsStatus loop_tile_items(Loop *l, const PsValue *value, PsValue **out, uint32_t *out_len) PS_MUST_CHECK;
int loop_swizzle(const char *name, int *letters); /* how many; 0: it is none */
PsStatus loop_swizzle_of(Loop *l, const PsValue *base, const char *name, PsValue *out) PS_MUST_CHECK;

/* loop_index.c */
PsStatus loop_index(Loop *l, const PsValue *base, const PsValue *indices, uint32_t n,
                    PsValue *out) PS_MUST_CHECK;
PsStatus loop_eval_subscript(Loop *l, PsAst *node, PsValue *out) PS_MUST_CHECK;
PsStatus loop_subscript_of(Loop *l, PsAst *node, const PsValue *base, PsValue *out) PS_MUST_CHECK;
int loop_axes(Loop *l, const PsValue *array); /* without those of its elements */
bool loop_has_elements(Loop *l, const PsValue *array, const PsElement *wanted);      /* by their shape */
PsStatus loop_array_size(Loop *l, const PsValue *array, PsValue *out) PS_MUST_CHECK; /* its elements */
PsStatus loop_shape(Loop *l, const PsValue *array, PsValue *out) PS_MUST_CHECK;
PsStatus loop_dim(Loop *l, const PsValue *array, int axis, PsValue *out) PS_MUST_CHECK;
static inline int64_t loop_first_index(const PsValue *array, int axis) { /* its offset, if it is a field's */
    return array->object ? ((const PsArrayObject *)array->object)->offset[axis] : 0;
}
PsStatus loop_to_index(Loop *l, const PsValue *value, int position, PsRef *out) PS_MUST_CHECK;

/* loop_view.c. A view is an ARRAY with items: its offset and size, i32. */
bool loop_is_view(const PsValue *value);
PsStatus loop_slice(Loop *l, PsAst *node, const PsValue *array, PsValue *out) PS_MUST_CHECK;
PsStatus loop_call_view(Loop *l, const CallArgs *args, PsValue *out) PS_MUST_CHECK;
PsStatus loop_call_subview(Loop *l, const PsValue *array, const CallArgs *args, PsValue *out) PS_MUST_CHECK;
PsStatus loop_view_index(Loop *l, const PsValue *view, PsRef *index) PS_MUST_CHECK;

PsStatus loop_warn_impure(Loop *l, PyObject *callee) PS_MUST_CHECK; /* loop_impure.c */
/* loop_inspect.c: refuses builtins that look at the Python frame, or at what stands for a runtime value. */
PsStatus loop_check_inspection(Loop *l, PyObject *callee, const CallArgs *args) PS_MUST_CHECK;

/* loop_call.c, loop_builtin.c */
PsStatus loop_eval_call(Loop *l, PsAst *node, PsValue *out) PS_MUST_CHECK;
PsStatus loop_call(Loop *l, const PsValue *callee, CallArgs *args, PsValue *out) PS_MUST_CHECK;
PsStatus loop_call_builtin(Loop *l, PsBuiltinId id, CallArgs *args, PsValue *out) PS_MUST_CHECK;
/* min, max as numpy's minimum, maximum: a NaN stays one */
PsStatus loop_call_keeping_nan(Loop *l, PsBuiltinId id, CallArgs *args, PsValue *out) PS_MUST_CHECK;
PsStatus loop_check_builtin(Loop *l, PsBuiltinId id, const CallArgs *args) PS_MUST_CHECK; /* their number */
bool loop_python_builtin(PyObject *callee,
                         PsBuiltinId *out); /* abs, math.sin, numpy.sqrt, ... as one of ours */
bool loop_is_builtin(Loop *l, const PsValue *callee, PsBuiltinId id);
bool loop_builtin_wants_place(Loop *l, const PsValue *callee); /* first argument is updated in place */
PsStatus loop_no_keywords(Loop *l, const char *name, const CallArgs *args) PS_MUST_CHECK;

/* loop_form.c: values to and from the caller of a kernel */
typedef PsVec(PsRef) LoopRefs;
PsStatus loop_form_argument(Loop *l, const PsForm *form, uint32_t *narg, PsValue *out) PS_MUST_CHECK;
PsStatus loop_form_results(Loop *l, const PsForm *form, const PsValue *value, LoopRefs *out) PS_MUST_CHECK;
PsStatus loop_form_types(Loop *l, const PsForm *form, PsFunc *f) PS_MUST_CHECK;

/* loop_struct.c */
bool loop_is_struct(Loop *l, const PsValue *value); /* one of the host's, too */
PsStatus loop_struct_as(Loop *l, PsStructTypeObject *type, const PsValue *value, PsValue *out) PS_MUST_CHECK;
PsStatus loop_struct_zero(Loop *l, PsStructTypeObject *type, PsValue *out) PS_MUST_CHECK;
PsStatus loop_make_struct(Loop *l, PsStructTypeObject *type, CallArgs *args, PsValue *out) PS_MUST_CHECK;
PsStatus loop_make_anonymous(Loop *l, CallArgs *args, PsValue *out) PS_MUST_CHECK; /* ti.Struct(a=1) */
PsStatus loop_struct_attribute(Loop *l, const PsValue *base, PyObject *name, PsValue *out) PS_MUST_CHECK;
PsStatus loop_struct_local(Loop *l, const PsValue *value,
                           PsValue *out) PS_MUST_CHECK; /* variables of its own */
PsStatus loop_struct_store(Loop *l, const PsValue *place, const PsValue *value) PS_MUST_CHECK;

/* loop_make.c */
PsStatus loop_make_value(Loop *l, bool vector, CallArgs *args, PsValue *out) PS_MUST_CHECK;
PsStatus loop_matrix_type_of(Loop *l, PyObject *object, PsType *out) PS_MUST_CHECK; /* types.vector(..) */
PsStatus loop_make_typed(Loop *l, PsType type, CallArgs *args, PsValue *out) PS_MUST_CHECK;
PsStatus loop_make_static(Loop *l, PyObject *callee, CallArgs *args, PsValue *out,
                          bool *done) PS_MUST_CHECK; /* Matrix.rows, ... */

/* loop_method.c */
PsStatus loop_tile_attribute(Loop *l, const PsValue *base, const char *name, PsValue *out) PS_MUST_CHECK;
bool loop_has_method(const char *name);
PsStatus loop_call_method(Loop *l, const PsValue *method, CallArgs *args, PsValue *out) PS_MUST_CHECK;
PsStatus loop_matmul(Loop *l, const PsValue *a, const PsValue *b, PsValue *out) PS_MUST_CHECK;

/* loop_fill.c */
PsStatus loop_fill_method(Loop *l, const PsValue *array, PsValue *out) PS_MUST_CHECK;
bool loop_is_fill(const PsValue *callee);
PsStatus loop_call_fill(Loop *l, const PsValue *method, CallArgs *args, PsValue *out) PS_MUST_CHECK;

/* loop_atomic.c */
PsStatus loop_atomic(Loop *l, PsOpCode op, bool negate, const char *name, const PsValue *place,
                     const PsValue *value, PsValue *out) PS_MUST_CHECK;
PsStatus loop_atomic_cas(Loop *l, const CallArgs *args, PsValue *out) PS_MUST_CHECK;
PsStatus loop_volatile_load(Loop *l, CallArgs *args, PsValue *out) PS_MUST_CHECK;
PsStatus loop_get_addr(Loop *l, CallArgs *args, PsValue *out) PS_MUST_CHECK;
bool loop_is_own(Loop *l, PsRef place); /* a local of this iteration or of serial code */

/* loop_random.c */
PsStatus loop_random(Loop *l, bool is_normal, CallArgs *args, PsValue *out) PS_MUST_CHECK;
PsStatus loop_random_stream(Loop *l, PsRef call,
                            PsRef *out) PS_MUST_CHECK; /* the state, where main calls a func */

/* loop_func.c, loop_args.c, loop_return.c */
PsStatus loop_call_func(Loop *l, PsFuncObject *func, const PsValue *self, CallArgs *args,
                        PsValue *out) PS_MUST_CHECK;
typedef struct BoundArg {
    PsAst *param;
    PsValue value;
    PyObject *annotation; /* kept; NULL: none */
    bool is_template, is_ref, is_tensor;
    PsType type;                   /* annotated scalar, vector or matrix; PS_KIND_NONE: none */
    PsStructTypeObject *structure; /* annotated struct; NULL: none */
} BoundArg;
PsStatus loop_bind_args(Loop *l, PsFuncObject *func, PsAstTree *tree, const PsValue *self, CallArgs *args,
                        BoundArg **out, uint32_t *out_len) PS_MUST_CHECK;
PsStatus loop_return_type(Loop *l, PyObject *annotation, LoopFunc *out) PS_MUST_CHECK;
PsStatus loop_return_by_falling_off(Loop *l) PS_MUST_CHECK;
PsStatus loop_exec_return(Loop *l, PsAst *node, Flow *flow) PS_MUST_CHECK;
/* loop_pass.c: structs as arguments, structs and tuples as results of functions of the IR */
typedef enum PassKind {
    PASS_FUNC,
    PASS_TYPE,
    PASS_CLAMPED, /* an array whose indices are moved to the nearest that there is */
    PASS_OBJECT,
    PASS_ARGUMENT,
    PASS_STRUCT,
    PASS_PLACE,
    PASS_VALUE
} PassKind;
/* What makes two calls the same function. Python values count by identity. */
typedef struct KeyPart {
    uint64_t kind, what, object; /* object: the field that an array is of; its elements' type goes with it */
} KeyPart;
typedef PsVec(KeyPart) LoopKey;
bool loop_can_pass(Loop *l, const PsValue *value);
PsStatus loop_pass_open(Loop *l, PsValue *value) PS_MUST_CHECK; /* in the caller, before what follows */
PsStatus loop_pass_key(Loop *l, const PsValue *value, LoopKey *out) PS_MUST_CHECK;
PsStatus loop_pass_param(Loop *l, const PsValue *value,
                         PsValue *out) PS_MUST_CHECK; /* in the func: what it gets */
PsStatus loop_pass_args(Loop *l, const PsValue *value, LoopRefs *out) PS_MUST_CHECK; /* in the caller */
PsRef loop_in_memory(Loop *l,
                     PsRef tile); /* a place of its own: functions of the IR take tiles by their place */
bool loop_returns_parts(Loop *l, const PsValue *value);
PsStatus loop_return_parts(Loop *l, Instance *instance, const PsValue *value) PS_MUST_CHECK;
PsStatus loop_parts_params(Loop *l, const PsValue *shape, PsFunc *f) PS_MUST_CHECK;   /* places of the result */
PsStatus loop_parts_args(Loop *l, const PsValue *shape, LoopRefs *out) PS_MUST_CHECK; /* the caller's */
PsStatus loop_parts_result(Loop *l, const PsValue *shape, const PsRef **place, PsValue *out) PS_MUST_CHECK;
PsStatus loop_annotated_shape(Loop *l, const PsForm *form, PsValue *out) PS_MUST_CHECK;
bool loop_param_assigned(const PsAstTree *tree, PyObject *name);
bool loop_tree_has_for(const PsAstTree *tree);
bool loop_tree_returns_early(const PsAstTree *tree);
bool loop_tree_returns_value(const PsAstTree *tree);
bool loop_tree_returns_container(const PsAstTree *tree);

/* loop_stmt.c, loop_assign.c, loop_for.c, loop_static.c */
PsStatus loop_exec_block(Loop *l, const PsAstList *body, Flow *flow) PS_MUST_CHECK; /* a scope of its own */
PsStatus loop_exec_list(Loop *l, const PsAstList *body, Flow *flow) PS_MUST_CHECK;  /* in the current scope */
PsStatus loop_build_regions(Loop *l, PsOpCode code, const PsRef *args, uint32_t nargs, PsRef *out,
                            PsRegion *region) PS_MUST_CHECK;
PsStatus loop_exec_region(Loop *l, PsRegion region, const PsAstList *body, Flow *flow) PS_MUST_CHECK;
PsStatus loop_exec_assign(Loop *l, PsAst *node, Flow *flow) PS_MUST_CHECK;
PsStatus loop_exec_augassign(Loop *l, PsAst *node, Flow *flow) PS_MUST_CHECK;
PsStatus loop_exec_annassign(Loop *l, PsAst *node, Flow *flow) PS_MUST_CHECK;
PsStatus loop_assign_name(Loop *l, PsAst *target, const PsValue *value) PS_MUST_CHECK;
PsStatus loop_new_local(Loop *l, PyObject *name, PsRef value) PS_MUST_CHECK;
PsStatus loop_store(Loop *l, const PsValue *place,
                    const PsValue *value) PS_MUST_CHECK; /* PLACE or PARTS: as an assignment */
/* A value for the parts of a place: one for each. */
PsStatus loop_split(Loop *l, const char *what, const PsValue *place, const PsValue *value,
                    PsValue **out) PS_MUST_CHECK;
bool loop_has_break(const PsAstList *body); /* one that ends the loop whose body it is */
PsStatus loop_refuse_node(Loop *l, const char *name) PS_MUST_CHECK; /* a node kernels do not have */
PsStatus loop_exec_for(Loop *l, PsAst *node, Flow *flow) PS_MUST_CHECK;
PsStatus loop_exec_break(Loop *l, PsAst *node, Flow *flow) PS_MUST_CHECK;
PsStatus loop_exec_continue(Loop *l, PsAst *node, Flow *flow) PS_MUST_CHECK;
PsStatus loop_exec_static_for(Loop *l, PsAst *node, const PsValue *iterable, Flow *flow) PS_MUST_CHECK;
PsStatus loop_eval_comprehension(Loop *l, PsAst *node, PsValue *out) PS_MUST_CHECK;
/* Gives each value of something known now. */
typedef PsStatus (*LoopEach)(Loop *l, void *data, const PsValue *value, bool *stop);
PsStatus loop_each(Loop *l, const PsValue *iterable, LoopEach each, void *data) PS_MUST_CHECK;
PsStatus loop_bind_target(Loop *l, PsAst *target, const PsValue *value) PS_MUST_CHECK; /* of a static loop */
PsStatus loop_new_name(Loop *l, PsAst *target) PS_MUST_CHECK;                          /* a name, not taken */

/* loop_domain.c */
typedef struct PsDomain {
    uint32_t ndim;
    bool has_axes, is_range;
    PsValue lo[PS_MAX_AXES], hi[PS_MAX_AXES];
    uint8_t axes[PS_MAX_AXES]; /* order of the loops, outermost first */
} PsDomain;
/* What ndrange() gave to Python code -> NDRANGE; others as they are. */
PsStatus loop_known_ndrange(Loop *l, PsValue *value) PS_MUST_CHECK;
PsStatus loop_make_ndrange(Loop *l, const CallArgs *args, PsValue *out) PS_MUST_CHECK;
PsStatus loop_range_domain(Loop *l, const CallArgs *args, PsDomain *out) PS_MUST_CHECK;
PsStatus loop_array_domain(Loop *l, const PsValue *array, PsDomain *out) PS_MUST_CHECK;
PsType loop_bounds_type(Loop *l, const PsValue *lo,
                        const PsValue *hi);               /* i32; i64 for wider ones; u64 for two u64s */
PsRef loop_flip_order(Loop *l, PsRef value, PsType type); /* between u64 and i64, keeping what is less */
/* u64 beyond i64 is cut to it. */
PsStatus loop_bound_as(Loop *l, const PsValue *value, PsType type, PsRef *out) PS_MUST_CHECK;
PsStatus loop_parallel_bounds(Loop *l, const PsValue *lo, const PsValue *hi, PsRef *out_lo,
                              PsRef *out_hi) PS_MUST_CHECK;

/* loop_print.c */
PyObject *loop_text_of(const Loop *l, PyObject *object);
PsStatus loop_print(Loop *l, CallArgs *args, PsValue *out) PS_MUST_CHECK;
typedef struct LoopText { /* what print would write of one value */
    uint32_t id;          /* in module->texts, with a mark for each runtime value */
    PsRef *values;
    uint32_t nvalues;
} LoopText;
PsStatus loop_text(Loop *l, const PsValue *value, LoopText *out) PS_MUST_CHECK;
PsStatus loop_format(Loop *l, PyObject *format, const CallArgs *args, PsValue *out) PS_MUST_CHECK;
PsStatus loop_percent(Loop *l, PyObject *format, const PsValue *values,
                      PsValue *out) PS_MUST_CHECK; /* loop_percent.c */
PsStatus loop_eval_fstring(Loop *l, PsAst *node, PsValue *out) PS_MUST_CHECK;

/* loop_writes.c */
PsStatus loop_find_writes(const PsFrontTypes *types, PsModule *m, const PsParam *params, uint32_t nparams,
                          PsBuild *out) PS_MUST_CHECK;

#endif
