/* SPDX-License-Identifier: Apache-2.0
 *
 * front/eval: what both languages share while a function is being built: values (Python objects known now, or IR
 * values known later), name look-up, facts, Python-facing type objects (dtypes, annotations, builtins, functions),
 * proxies, and messages with spans. front/loop gives the loop language's rules on top of it.
 */
#ifndef PS_FRONT_EVAL_H
#define PS_FRONT_EVAL_H

#include "front/ast/ast.h"
#include "ir/ir.h"

/* What passes by value between a kernel and its caller: a number, a vector, a matrix, a struct, a tuple of these. A tree
 * as an array: a node is followed by its parts. Its scalars lie in words of the frame, one after the other. */
typedef enum PsFormKind { PS_FORM_SCALAR, PS_FORM_MATRIX, PS_FORM_STRUCT, PS_FORM_TUPLE } PsFormKind;
typedef struct PsForm {
    PsFormKind kind;
    PsType elem;        /* SCALAR, MATRIX */
    int32_t ndim, n, m; /* MATRIX */
    uint32_t parts;     /* STRUCT, TUPLE: how many follow */
    uint32_t nodes;     /* of this tree, with the root */
    uint32_t words;     /* scalars in it */
    PyObject *type;     /* STRUCT: its PsStructTypeObject, borrowed from the annotation */
} PsForm;
#define PS_FORM_WORDS 1024 /* most scalars of one parameter or result */

/* What is known of an array's strides, all axes together: as PsTypeInfo.unit, .outer has it. */
typedef enum PsUnit {
    PS_UNIT_NONE,
    PS_UNIT_C,   /* C order */
    PS_UNIT_SOA, /* the axes of elements, of which there are some, outside; else C order */
} PsUnit;
/* What a kernel parameter is in one specialisation. */
typedef enum PsParamKind {
    PS_PARAM_SCALAR,
    PS_PARAM_VALUE, /* a vector, matrix or struct by value */
    PS_PARAM_ARRAY,
    PS_PARAM_FIELD,   /* an array of ours as a template argument */
    PS_PARAM_STRUCTS, /* an array of structs of ours: an array for each member, see PsStructFieldObject */
    PS_PARAM_TEMPLATE,
    PS_PARAM_OBJECT, /* a dataclass: what the kernel uses of it is read at each launch (PsMember) */
} PsParamKind;
typedef struct PsParam {
    PyObject *name; /* borrowed str */
    PsParamKind kind;
    PsType dtype; /* SCALAR: its type; ARRAY, FIELD: of a scalar */
    int ndim,
        edim; /* ARRAY, FIELD: axes of the array, and of its elements (0 scalars, 1 vectors, 2 matrices) */
    int64_t eshape[2];    /* lengths of the latter */
    uint8_t unit;         /* ARRAY, FIELD: PsUnit */
    bool annotated;       /* ARRAY: the annotation says what its elements are, not the argument */
    bool clamp;           /* ARRAY, STRUCTS: indices are moved to the nearest that there is */
    bool grad;            /* the same: it must have a gradient array */
    bool view;            /* ARRAY: it is given as a BufferView */
    PyObject *value;      /* TEMPLATE, FIELD, STRUCTS, OBJECT: borrowed */
    PyObject *given;      /* ARRAY, STRUCTS: the argument, while the kernel is built. Borrowed */
    PyObject *annotation; /* the same: what said that it is one. Borrowed */
    const PsForm *form;   /* VALUE */
} PsParam;

/* Of a class whose instances' numbers are read at each launch: the name that is True in it. */
#define PS_RUNTIME_NUMBERS "_pestle_runtime_numbers"
/* Something that each launch reads anew: a member of a dataclass argument, or an attribute of an object known while
 * compiling. */
typedef struct PsMember {
    uint32_t from;       /* whose it is: a parameter, or (their number +) an earlier member */
    PyObject *holder;    /* owned; or it is this object's */
    PyObject *name;      /* owned */
    PsParam param;       /* what it is; its value is owned */
    PyTypeObject *class; /* borrowed from the value, if it must have exactly this class; else NULL */
    const char *where;   /* for messages: "argument 'p.x' of kernel 'k'" */
    bool used;           /* false: nothing of it is left in the code */
    bool
        grad; /* it is the gradient array of an array argument, and made if that is a tensor which asks for it */
    bool writes; /* as PsBuild's, per parameter */
    uint8_t pins;
} PsMember;

typedef enum PsOverflow {
    PS_OVERFLOW_WARN,
    PS_OVERFLOW_ERROR,
    PS_OVERFLOW_PRINT,
    PS_OVERFLOW_IGNORE
} PsOverflow;
typedef struct PsFrontOptions {
    PsType default_fp, default_ip;
    bool checked;
    uint8_t overflow;   /* PsOverflow: of integers, in checked mode */
    bool fast_math;     /* pass fast_math runs */
    bool deterministic; /* additions of floats to places that the data choose in the order of iterations */
    bool c_formats;     /* '{:.2}' of a float is '{:.2f}' */
    bool no_floats;     /* that are known while compiling and come from outside: refused */
} PsFrontOptions;

/* The trace: outside facts a build used. Each: how it was resolved (container, key) and what was found. */
typedef enum PsFactKind {
    PS_FACT_GLOBAL, /* holder: a globals dict (or builtins'), key: name; found NULL: the name was not there */
    PS_FACT_CELL,   /* holder: a closure cell */
    PS_FACT_ATTRIBUTE,  /* holder: a module (its dict is looked at), class or instance; key: name */
    PS_FACT_CODE,       /* holder: a Python function; found: its code object */
    PS_FACT_DEFAULTS,   /* the same; found: the tuple of its defaults, NULL for none */
    PS_FACT_KWDEFAULTS, /* the same; found: the dict of its defaults for keywords */
    PS_FACT_COMPUTED,   /* holder: any object; key: name; found: what Python code gave for the attribute */
} PsFactKind;
typedef struct PsFact {
    PsFactKind kind;
    PyObject *holder; /* owned: globals dict, cell, object, function */
    PyObject *key;    /* owned: name; NULL for cells */
    PyObject *found;  /* owned: the object found; NULL: nothing was there */
    uint8_t follows;  /* PsFollows: what is found may become another field of the same type */
    uint32_t array; /* 1 + that of what is found among the specialisation's arrays; 0: none, or a twin has it */
    uint32_t twin;  /* 1 + the first fact that found the same array; 0: this one is it */
    bool like;      /* what is found may become another instance of the same class */
    uint32_t from;  /* where another launch finds the holder, PsFacts.nargs says how; 0: it is this one */
} PsFact;
typedef enum PsFollows {
    PS_FOLLOWS_NOT,
    PS_FOLLOWS, /* an array of ours, of which the kernel's code knows nothing but the type */
    PS_FOLLOWS_NEVER,
} PsFollows;
struct PsArrayObject;
struct PsFrontTypes;
typedef struct PsFacts {
    PsFact *items;
    uint32_t len, cap;
    uint32_t
        nargs; /* arguments: `from` is 1 + the number of one, or 1 + nargs + that of the fact that found it */
} PsFacts;
/* Records a fact once; takes new references. False: no memory. `found` may be NULL: nothing was there. */
bool ps_facts_add(PsFacts *facts, PsFactKind kind, PyObject *holder, PyObject *key, PyObject *found);
/* All that a Python function called at compile time may read: its code, defaults, cells and globals, and those of the
 * functions it names. What it reads inside containers and instances is not seen. */
bool ps_facts_add_function(PsFacts *facts, PyObject *function);
void ps_facts_free(PsFacts *facts);
/* Whether two things found are one: identity, or equality for small immutable values of one type. */
bool ps_facts_same(PyObject *a, PyObject *b);
/* Asks for the computed attributes once more: Python code runs. Whether they are as they were; false also with an
 * exception, where a new build could not say the same. */
bool ps_facts_replay(const PsFacts *facts, const struct PsFrontTypes *types);
/* Whether all other facts still hold for these arguments of the kernel; runs no Python code. Where arrays of ours were
 * replaced by others of their type, these take the old one's place among `arrays` (owned references), and *out_moved
 * says so. */
bool ps_facts_follow(PsFacts *facts, PyObject *const *args, PyObject **arrays, bool *out_moved);
void ps_facts_number(PsFacts *facts, PyObject *const *arrays, uint32_t n); /* fills PsFact.array and .twin */
/* eval_relate.c: for which of the kernel's template arguments (`args`; NULL: another kind) any other instance would do
 * that makes the facts hold. `pinned`: what must be itself. */
void ps_facts_relate(PsFacts *facts, const struct PsFrontTypes *types, PyObject *const *args, bool *out_vary,
                     uint32_t nargs, PyObject *const *pinned, uint32_t npinned);
/* The fact of the look-up may follow, or must never. */
void ps_facts_mark(PsFacts *facts, PsFactKind kind, PyObject *holder, PyObject *key, PsFollows follows);
bool ps_array_same_offset(const struct PsArrayObject *a, const struct PsArrayObject *b); /* of as many axes */
/* Whether two arrays of ours make the same program. */
bool ps_array_same_type(const struct PsArrayObject *a, const struct PsArrayObject *b);
/* What an ATTRIBUTE fact compares: the entry found without running Python code (borrowed; NULL: none). */
PyObject *ps_facts_attribute(PyObject *holder, PyObject *key);

/* The Python objects front knows by their C layout (eval_types.c). */
typedef enum PsBuiltinId {
#define PS_BUILTIN(id, ...) PS_BUILTIN_##id,
#include "front/eval/builtins.def"
    PS_BUILTIN_COUNT
} PsBuiltinId;
typedef enum PsBuiltinKind {
    PS_BUILTIN_KIND_UNARY,
    PS_BUILTIN_KIND_BINARY,
    PS_BUILTIN_KIND_FOLD,
    PS_BUILTIN_KIND_ATOMIC,
    PS_BUILTIN_KIND_FORM,
} PsBuiltinKind;
typedef struct PsBuiltinInfo {
    const char *name;
    PsBuiltinKind kind;
    PsOpCode op;
    int min_args, max_args;
} PsBuiltinInfo;
extern const PsBuiltinInfo ps_builtin_info[PS_BUILTIN_COUNT];

/* A dense array of ours, pestle.Ndarray or pestle.Field (py/py_array.h). Where and how it lies never changes. */
struct PsStorage;
typedef struct PsArrayObject {
    PyObject_HEAD struct PsStorage *storage; /* retained; views share it */
    char *data;                              /* the first element */
    PsType dtype;                            /* of a scalar */
    int32_t ndim, edim; /* axes of the array, and of its elements: 0 scalars, 1 vectors, 2 matrices */
    uint8_t unit;       /* PsUnit */
    bool shifted;       /* some offset is not 0 */
    int64_t size;       /* elements */
    int64_t shape[PS_MAX_AXES], strides[PS_MAX_AXES]; /* the elements' axes last; strides in bytes */
    int64_t offset[PS_MAX_AXES];                      /* the first index of each axis of the array */
    PyObject *name;                                   /* or NULL */
    PyObject *grad;                                   /* of the same kind and shape, or NULL */
} PsArrayObject;
typedef struct PsDtypeObject {
    PyObject_HEAD PsType type;
    bool follows_ip; /* u32, or u64 where default_ip has 64 bits: of ti.math.uvec2 */
} PsDtypeObject;
typedef struct PsBuiltinObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    PsBuiltinId id;
    const struct PsFrontTypes *types; /* of its module, which its type keeps */
} PsBuiltinObject;
typedef struct PsNdrangeObject {    /* what ndrange() gives outside kernels */
    PyObject_HEAD PyObject *bounds; /* a tuple, one a range: as they were given */
    Py_ssize_t axes[PS_MAX_AXES];   /* the range that the k-th loop from outside runs over */
    bool reordered;                 /* some other order than as given */
} PsNdrangeObject;
/* The place of a keyword argument of a builtin, which has no other name: `dtype` of floor(x, dtype=ti.i32). -1: it takes
 * none of that name. */
int ps_builtin_keyword(PsBuiltinId id, PyObject *name);

/* A call of a builtin as outside kernels: its arguments are known, or numbers of the plain Python mode. */
PyObject *ps_builtin_plain(PyObject *self, PyObject *const *args, int nargs, PyObject *names);

typedef struct PsNdarrayAnnotationObject { /* types.ndarray(dtype=None, ndim=None, ...) */
    PyObject_HEAD PyObject *dtype;         /* a dtype object, that of a vector or matrix, or None */
    int ndim;                              /* -1: any */
    int edim;                              /* axes of the elements, if asked for beside dtype; -1: not */
    int64_t eshape[2];                     /* their lengths; -1: any */
    int needs_grad;                        /* -1: either */
    bool clamp;                            /* indices are moved to the nearest that there is */
    bool view;                             /* BufferView[dtype] */
} PsNdarrayAnnotationObject;
/* What the elements of an array are. */
typedef struct PsElement {
    PsType dtype;      /* of a scalar; PS_KIND_NONE: any */
    int edim;          /* 0 scalars, 1 vectors, 2 matrices; -1: whatever the array has */
    int64_t eshape[2]; /* -1: any length */
} PsElement;
typedef struct PsMatrixTypeObject { /* types.vector(n, dtype), types.matrix(n, m, dtype) */
    PyObject_HEAD PyObject *dtype;  /* what ps_front_dtype reads: Python's float stands for default_fp */
    int32_t ndim, n, m;             /* a vector: 1, n, 1 */
    bool unpacked;                  /* types.vector(.., unpacked=True): of members of dataclasses only */
} PsMatrixTypeObject;
typedef struct PsMatrixObject { /* pestle.Vector, pestle.Matrix: a value on the host */
    PyObject_VAR_HEAD PsType elem;
    bool
        weak; /* made of Python numbers without a dtype: elem is U1, I64 or F64, and gives way to any other type */
    uint8_t
        product; /* in kernels as plain Python, of a * b: behind the words stand those of a and of b; 2: nobody else has it */
    char truth; /* of a == b 'a': true when all elements are; of a != b 'o': when one is; 0: it has none */
    int32_t ndim, n, m;
    PyObject *
        home; /* the array that it was read from, or NULL: what is assigned to its elements goes there too. Owned */
    char *at;         /* where it lies there */
    uint64_t words[]; /* row-major, bits of elem */
} PsMatrixObject;
static inline bool ps_same_matrix(const PsMatrixObject *a, const PsMatrixObject *b) {
    size_t words = (size_t)a->n * (size_t)a->m;
    return a->elem == b->elem && a->weak == b->weak && a->ndim == b->ndim && a->n == b->n && a->m == b->m &&
           memcmp(a->words, b->words, words * sizeof *a->words) == 0;
}
typedef struct PsStructTypeObject { /* types.struct(a=f32, b=vec3), a class decorated with dataclass */
    PyObject_HEAD PyObject *name;   /* of the class, or NULL */
    PyObject *members, *types;      /* tuples of the same length: names; dtypes, matrix and struct types */
    PyObject *methods;              /* dict of funcs */
} PsStructTypeObject;
typedef struct PsStructObject { /* a value on the host */
    PyObject_VAR_HEAD PsStructTypeObject *type;
    PyObject *home,
        *key; /* the field of structs that it was read from and where, or NULL: what is assigned to its
                             members goes there too. Owned */
    PyObject *values[]; /* in the order of the members */
} PsStructObject;
typedef struct
    PsStructFieldObject { /* pestle.StructField, pestle.StructNdarray (py/py_struct_field.c). All owned;
                                        immutable */
    PyObject_HEAD PsStructTypeObject *type;
    PyObject *members; /* a tuple: fields, fields of structs */
    PyObject *name, *grad;
} PsStructFieldObject;
typedef struct PsTemplateAnnotationObject { /* template() */
    PyObject_HEAD
} PsTemplateAnnotationObject;
typedef struct PsRefAnnotationObject { /* ref(dtype) */
    PyObject_HEAD PyObject *dtype;
} PsRefAnnotationObject;
typedef struct PsFuncObject {         /* @func, @pyfunc, @real_func */
    PyObject_HEAD PyObject *function; /* the Python function */
    PyObject *dict;                   /* __name__, __doc__, __wrapped__, ... */
    PsAstTrees *trees;                /* NULL until first used; owned */
    uint64_t stamp;                   /* of its file when it was decorated */
    uint8_t flags;                    /* PS_FUNC_* */
} PsFuncObject;
#define PS_FUNC_PYFUNC    1u /* may also be called from Python */
#define PS_FUNC_REAL      2u /* always called, never expanded in place */
#define PS_FUNC_TOP_LEVEL 4u /* only at a kernel's top level, where its loops are parallel */
/* What @func, @pyfunc and @real_func make of a Python function; TypeError for anything else. */
PyObject *ps_front_func_new(PyTypeObject *type, PyObject *function, uint8_t flags);

/* Python-facing types, made once per module and reachable from py's module state. */
typedef struct PsFrontTypes {
    PyTypeObject *dtype; /* ti.f32: .name, callable (casts), == by identity, repr, numpy conversion by name */
    PyTypeObject *ndarray_annotation; /* ti.types.ndarray(dtype=, ndim=) */
    PyTypeObject *template_annotation;
    PyTypeObject *ref_annotation;
    PyTypeObject *func;              /* @func objects: .function, .__wrapped__ */
    PyTypeObject *builtin;           /* ti.sin, ti.static, ti.ndrange, ...: see builtins.def */
    PyTypeObject *ndrange;           /* what ti.ndrange gives outside kernels */
    PyTypeObject *proxy;             /* a runtime value seen by Python code, valid while its build runs */
    PyObject *dtypes[PS_SCALAR_END]; /* the dtype objects, by kind */
    PyObject *kernel_type;           /* set by py: so that calling a kernel in a kernel can be refused */
    PyObject *array_type;            /* set by py: pestle.Ndarray */
    PyObject *field_type;            /* set by py: pestle.Field */
    PyObject *struct_field_type;     /* set by py: pestle.StructField */
    PyObject *struct_array_type;     /* set by py: pestle.StructNdarray */
    PyObject *buffer_view;           /* set by py: pestle.BufferView */
    PyObject *tensor_class;          /* set by py: Tensor; NULL: not asked for yet */
    PyObject *random_words;          /* set by py: an Ndarray of two u64: the seed, the number of launches */
    PyTypeObject *matrix_type;       /* types.vector(...), types.matrix(...) */
    PyTypeObject *matrix, *vector;   /* set by py: pestle.Matrix and Vector, which is one */
    PyTypeObject *struct_type;       /* set by py: types.struct(...) */
    PyTypeObject *structure;         /* set by py: pestle.Struct, a value */
    PyObject *errors[PS_ERR_INTERNAL + 1]; /* exception classes by PsErrorKind, set by py */
} PsFrontTypes;
static inline bool ps_is_array(const PsFrontTypes *types, PyObject *object) { /* pestle.Field, pestle.Ndarray */
    PyObject *type = (PyObject *)Py_TYPE(object);
    return type == types->field_type || type == types->array_type;
}
/* Tensor as an annotation: a field or an array. */
static inline bool ps_is_tensor_annotation(const PsFrontTypes *types, PyObject *object) {
    return object && object == types->tensor_class;
}
static inline bool ps_is_structs(const PsFrontTypes *types, PyObject *object) { /* PsStructFieldObjects */
    PyObject *type = (PyObject *)Py_TYPE(object);
    return type == types->struct_field_type || type == types->struct_array_type;
}
/* eval_structs.c. Of arrays of structs: how many arrays of ours they are made of, and the first of them (a plain array is
 * one, itself). */
uint32_t ps_structs_leaves(const PsFrontTypes *types, PyObject *object);
const PsArrayObject *ps_structs_first(const PsFrontTypes *types, PyObject *object);
/* Whether they make the same program; struct types without methods are the same when their members are. */
bool ps_structs_same_type(const PsFrontTypes *types, PyObject *a, PyObject *b);
bool ps_struct_same_type(const PsStructTypeObject *a, const PsStructTypeObject *b);
/* types.ndarray(...) as it is, but for needs_grad, which is left open (new reference). */
PyObject *ps_front_annotation_of_grad(const PsFrontTypes *types, PyObject *annotation);
/* Adds the types and all dtype and builtin objects to the module dict. -1 with an exception set. */
int ps_front_types_init(PsFrontTypes *types, PyObject *module);

/* What an annotation says to us: of typing.Annotated[T, ...] the first of our annotations in it, or T; else the
 * annotation itself. Borrowed from it; no exception is set. */
PyObject *ps_front_annotation(const PsFrontTypes *types, PyObject *annotation);
/* What an annotation says of a value: a dtype, types.vector, types.matrix, types.struct, or a tuple of them (also
 * tuple[f32, vec3]). NULL without an exception: nothing of that kind, or more than PS_FORM_WORDS (*too_large). Arena. */
PsForm *ps_form_read(PsArena *arena, const PsFrontTypes *types, const PsFrontOptions *options,
                     PyObject *annotation, bool *too_large);
bool ps_form_known(const PsFrontTypes *types, PyObject *annotation); /* a type of vectors, matrices, structs */
/* The part after `form`'s whole tree: of a parent's parts, the next one. */
static inline const PsForm *ps_form_next(const PsForm *form) { return form + form->nodes; }

/* A dtype annotation or object -> scalar type: dtype objects, Python int/float/bool (default_ip, default_fp, u1),
 * numpy dtypes and scalar types; PS_KIND_NONE when it is none of these (no exception set). */
PsType ps_front_dtype(const PsFrontTypes *types, const PsFrontOptions *options, PyObject *object);
/* The same, or the type of a vector or matrix. False when it is none of these (no exception set). */
bool ps_front_element(const PsFrontTypes *types, const PsFrontOptions *options, PyObject *object,
                      PsElement *out);
/* What an annotation types.ndarray(...) asks of the elements. False: its dtype is none. */
bool ps_front_annotated_element(const PsFrontTypes *types, const PsFrontOptions *options, PyObject *annotation,
                                PsElement *out);

/* An object of a class written in Python, whose attributes are where Python puts them. */
bool ps_is_instance(const PsFrontTypes *types, PyObject *object);
bool ps_front_is_dataclass(PyObject *object);           /* a class of the standard library's dataclass */
PyObject *ps_number_object(PsType type, uint64_t bits); /* bits of a scalar as a Python number */
/* A Python number as the type holds it, converted as ti.cast does; -1 with an exception. */
int ps_number_bits(PyObject *number, PsType type, uint64_t *out);
/* eval_format.c. New references; NULL with an exception. `spec` NULL: as str(). */
PyObject *ps_number_format(const PsFrontOptions *options, PyObject *object, PyObject *spec);
PyObject *ps_number_spec(const PsFrontOptions *options, PyObject *spec, bool is_float);
static inline bool ps_is_matrix(const PsFrontTypes *types, PyObject *object) { /* a value, on the host */
    return Py_IS_TYPE(object, types->matrix) || Py_IS_TYPE(object, types->vector);
}
static inline PyObject *ps_matrix_element(const PsMatrixObject *m, uint32_t i) {
    return ps_number_object(m->elem, m->words[i]);
}

/* A callable of ours met by Python code at compile time: runs the language's rule when an argument is a proxy.
 * Returns Py_NotImplemented (new reference) when none is. */
PyObject *ps_proxy_call(PyObject *callee, PyObject *const *args, Py_ssize_t nargs);

/* Types of values made from their parts (new references; NULL: exception). The tuples are kept. */
PyObject *ps_matrix_type_new(const PsFrontTypes *types, int ndim, int64_t n, int64_t m, PyObject *dtype);
PyObject *ps_struct_type_new(const PsFrontTypes *types, PyObject *name, PyObject *members,
                             PyObject *member_types, PyObject *methods);
/* A type is called with one struct alone: whether that stands for all members, rather than for the first. */
bool ps_struct_stands_for(const PsFrontTypes *types, const PsStructTypeObject *type,
                          const PsStructTypeObject *found);

#endif
