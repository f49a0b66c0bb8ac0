/* SPDX-License-Identifier: Apache-2.0
 *
 * front/eval while a function is being built: the state of one build, values, names, and how Python code that runs at
 * compile time sees runtime values. What an operator or a statement means is the language's (front/loop,
 * front/block): it hands in a table of rules, so that proxies work for both.
 *
 * Ownership: Python objects that values refer to are kept by the build (ps_front_keep) and released at its end, so
 * values are plain structs that may be copied. Everything runs under the GIL, on one thread.
 */
#ifndef PS_FRONT_BUILD_H
#define PS_FRONT_BUILD_H

#include "front/eval/eval.h"

#define PS_FRONT_MAX_DEPTH 1200 /* of nested statements, expressions and functions while building */

typedef struct PsFront PsFront;
struct PsDomain;

typedef enum PsValueKind {
    PS_VALUE_NONE,
    PS_VALUE_PYTHON, /* known now: object */
    PS_VALUE_SCALAR, /* known when the kernel runs: ref, of a scalar type */
    PS_VALUE_TILE,   /* a vector or matrix, known when the kernel runs: ref, of a tile type */
    PS_VALUE_PLACE,  /* something in memory: ref is its place, type what lies there: a scalar or a tile */
    PS_VALUE_PARTS,  /* some elements of a tile in memory (v.xy, m[i, :]): `count` PLACEs of scalars, row-major;
                         type: the tile that they make */
    PS_VALUE_STRUCT, /* `count` items, the members in order; object: its type */
    PS_VALUE_METHOD, /* a method of one of these: items[0] the object, count which; of a struct: object the func */
    PS_VALUE_ARRAY, /* ref of an array; `elem`: the tile that its last axes are, 0: its elements are scalars;
                         object: the field it is the memory of, or NULL (borrowed by whoever kept it);
                         count: which argument it is (loop_given) */
    PS_VALUE_STRUCTS, /* an array of structs: `count` ARRAYs or STRUCTS in items, one a member, all of the same axes;
                         object: the PsStructFieldObject that they are of; ref: which argument it is (loop_given) */
    PS_VALUE_OBJECT, /* a dataclass argument: object what it is now (borrowed), count its number (PsMember.from) */
    PS_VALUE_TEXT,    /* for print: `count` strings and SCALARs one after the other (f-strings, str.format) */
    PS_VALUE_NDRANGE, /* a domain not yet looped over: domain */
    PS_VALUE_GROUPED, /* items[0]: ARRAY or NDRANGE, looped over with one vector as index */
} PsValueKind;

typedef struct PsValue {
    uint8_t kind;
    bool is_static; /* from ti.static: assigning it to a new name keeps it known */
    bool looked_up; /* PYTHON: an array of ours, just found by a look-up that is a fact (PsFact.follows) */
    bool clamp;     /* ARRAY, and PLACEs in one: indices are moved to the nearest that there is */
    uint32_t count;
    PsType type;
    PsType elem; /* ARRAY */
    PsRef ref;
    PsType like; /* of a number beside a tile: it is repeated in the shape of this type when it becomes an op */
    PyObject *object;
    union {
        struct PsValue *items;
        struct PsDomain *domain;
    };
} PsValue;

typedef enum PsBindKind {
    PS_BIND_LOCAL,     /* PLACE, or a STRUCT of them */
    PS_BIND_CONSTANT,  /* a Python value, an array: known now */
    PS_BIND_INDEX,     /* of a loop: read-only */
    PS_BIND_ARGUMENT,  /* of a kernel: read-only */
    PS_BIND_REFERENCE, /* a template() parameter of a func: whatever the caller named */
} PsBindKind;

typedef struct PsBinding {
    PyObject *name;
    PsValue value;
    uint8_t kind;    /* PsBindKind */
    PsRegion region; /* where it was made */
    PsSpan span;
} PsBinding;

/* A Python function while its body is being built. */
typedef struct PsFrontFunc {
    struct PsFrontFunc *caller;
    PyObject *function; /* a Python function */
    PsAstTree *tree;
    PyObject *freevars;     /* co_freevars */
    uint32_t source;        /* in module->sources */
    PsVec(PsBinding) names; /* innermost last */
    PsVec(PsBinding) gone;  /* names whose block has ended */
} PsFrontFunc;

/* The rules of a language, as proxies need them. All leave a message in the diag on PS_FAIL. */
typedef struct PsRules {
    PsStatus (*binary)(PsFront *, PsAstOp, const PsValue *, const PsValue *, PsValue *out);
    PsStatus (*unary)(PsFront *, PsAstOp, const PsValue *, PsValue *out);
    PsStatus (*compare)(PsFront *, PsAstOp, const PsValue *, const PsValue *, PsValue *out);
    PsStatus (*index)(PsFront *, const PsValue *base, const PsValue *index, PsValue *out);
    PsStatus (*attribute)(PsFront *, const PsValue *base, PyObject *name, PsValue *out);
    PsStatus (*call)(PsFront *, PyObject *callee, const PsValue *args, uint32_t nargs, PsValue *out);
} PsRules;

/* Shared by a build and its proxies; dead once the build has ended. */
typedef struct PsFrontToken {
    PsFront *front;
    long refs;
} PsFrontToken;

struct PsFront {
    PsFrontTypes *types;
    const PsFrontOptions *options;
    PsArena *arena;
    PsModule *module;
    PsDiag *diag;
    PsFacts *facts;
    const PsRules *rules;
    PsBuilder b;
    PsFrontFunc *func;
    PsSpan at; /* of what is being built: for messages */
    int depth;
    PsFrontToken *token;
    PsMap expanded; /* (source, call) -> source */
    PsVec(PyObject *) keep;
    PsVec(PyObject *)
        pinned;       /* arrays of ours of which more than their type was used; instances, see eval_relate.c */
    PyObject *cause;  /* the Python exception that the message was made of; NULL: none. Owned */
    PyObject *raised; /* the last AttributeError that a proxy raised, which Python code may catch. Owned */
    PsMessage raised_message; /* what it says, and where */
};

/* eval_build.c */
PsStatus ps_front_begin(PsFront *front, PsFrontTypes *types, const PsFrontOptions *options, PsModule *module,
                        PsDiag *diag, PsFacts *facts, const PsRules *rules) PS_MUST_CHECK;
void ps_front_end(PsFront *front);
/* Takes over the reference; NULL (with an exception) passes through. */
PyObject *ps_front_keep(PsFront *front, PyObject *owned);
/* Of a function; with a call (of a source other than 0), of it expanded there. 0: no memory. */
uint32_t ps_front_add_source(PsFront *front, const PsAstTree *tree, PsSpan call);
void ps_front_at(PsFront *front, const PsAst *node);    /* messages and ops from here on belong to the node */
PsStatus ps_front_deeper(PsFront *front) PS_MUST_CHECK; /* depth + 1, or the message that it is too deep */
/* After a Python call failed: PS_FAIL when a message of ours was the cause, else PS_PYERR. */
PsStatus ps_front_python_failed(PsFront *front) PS_MUST_CHECK;
/* After ps_ast_read failed: the message, at the function and called from here. */
PsStatus ps_front_no_tree(PsFront *front, PyObject *function) PS_MUST_CHECK;
/* A warning at the current place; PS_PYERR when warnings are errors. */
PsStatus ps_front_warn(PsFront *front, const char *text) PS_MUST_CHECK;
#define PS_FRONT_FAIL(front, id, ...) ps_diag_fail((front)->diag, (front)->at, PS_MSG_##id, ##__VA_ARGS__)

/* eval_value.c */
static inline PsValue ps_value_python(PyObject *kept) {
    return (PsValue){.kind = PS_VALUE_PYTHON, .object = kept};
}
static inline PsValue ps_value_of(PsFront *front, PsRef ref) { /* SCALAR or TILE */
    PsType type = ps_op(front->b.func, ref)->type;
    return (PsValue){
        .kind = ps_type_is_scalar(type) ? PS_VALUE_SCALAR : PS_VALUE_TILE, .ref = ref, .type = type};
}
/* The result of a Python call: keeps it and unwraps a proxy. NULL: PS_PYERR or PS_FAIL. */
PsStatus ps_value_take(PsFront *front, PyObject *owned, PsValue *out) PS_MUST_CHECK;
/* The same of what a parameter or a look-up that is a fact gave (borrowed): an instance is not pinned by it. */
PsStatus ps_value_found(PsFront *front, PyObject *object, PsValue *out) PS_MUST_CHECK;
/* With init(raise_on_templated_floats=True): a float that comes from outside under this name is refused. */
PsStatus ps_front_check_float(PsFront *front, PyObject *object, PyObject *name) PS_MUST_CHECK;
/* The value is used otherwise than by its attributes: if it is an instance, or a method of one, it must be that one. */
void ps_front_pin_instance(PsFront *front, const PsValue *value);
PyObject *ps_value_object(PsFront *front, const PsValue *value); /* new reference; a proxy for runtime values */
bool ps_value_is_runtime(const PsValue *value); /* SCALAR, TILE, PLACE, ARRAY, or one of these inside */
const char *ps_type_describe(PsFront *front, PsType type); /* of a scalar or tile: "f32", "vector of 3 f32" */
const char *ps_value_describe(PsFront *front, const PsValue *value); /* for messages: "f32", "str 'a'", ... */
/* What kind of number a Python object is: PS_U1, default_ip, default_fp, or PS_KIND_NONE. numpy scalars and 0-d
 * arrays count. */
PsType ps_number_type(PsFront *front, PyObject *object);
/* A Python number as a constant of a type. Refuses what does not fit; an int becomes any float, a float only a
 * float. PS_KIND_NONE as type: the default of its kind. */
PsStatus ps_number_const(PsFront *front, PyObject *number, PsType type, PsRef *out) PS_MUST_CHECK;
/* The same converted as ti.cast does: anything to anything. *out_exact: the value did not change. */
/* Refuses a Python integer that an integer type does not hold: -1 is no u16, though its bits would be. */
PsStatus ps_number_check_range(PsFront *front, const PsValue *value, PsType type) PS_MUST_CHECK;
PsStatus ps_number_cast(PsFront *front, PyObject *number, PsType type, PsRef *out,
                        bool *out_exact) PS_MUST_CHECK;
/* A Python integer (or numpy's) as int64. False without a message when it is none or does not fit. */
bool ps_number_int(PyObject *object, int64_t *out);
bool ps_is_numpy(PyObject *object, const char *type_name); /* "ndarray", ...; NULL: anything of numpy's */

/* From here on it matters which array of ours this is, not only its type. */
void ps_front_pin(PsFront *front, PyObject *array);

/* eval_name.c */
PsBinding *ps_name_find(PsFrontFunc *func, PyObject *name);
PsStatus ps_name_bind(PsFront *front, PyObject *name, PsBindKind kind, const PsValue *value) PS_MUST_CHECK;
uint32_t ps_names_enter(const PsFrontFunc *func);
void ps_names_leave(PsFront *front, PsFrontFunc *func, uint32_t mark);
/* A name that is not local: closure, globals, builtins. */
PsStatus ps_name_outside(PsFront *front, PyObject *name, PsValue *out) PS_MUST_CHECK;
PsStatus ps_python_attribute(PsFront *front, PyObject *object, PyObject *name, PsValue *out) PS_MUST_CHECK;
/* eval_computed.c: notes the attribute that gave `value`, where the look-up without code found `found` (or NULL), if it
 * was Python code that gave it. */
PsStatus eval_note_computed(PsFront *front, PyObject *object, PyObject *name, PyObject *found,
                            PyObject *value) PS_MUST_CHECK;
/* `call`: where the function is expanded in place; of source 0 when it is built on its own. */
PsStatus ps_front_func_begin(PsFront *front, PsFrontFunc *func, PyObject *function, PsAstTree *tree,
                             PsSpan call) PS_MUST_CHECK;

/* eval_proxy.c */
PyObject *ps_proxy_new(PsFront *front, const PsValue *value);
bool ps_proxy_check(const PsFront *front, PyObject *object);
PsStatus ps_proxy_value(PsFront *front, PyObject *proxy, PsValue *out) PS_MUST_CHECK;

#endif
