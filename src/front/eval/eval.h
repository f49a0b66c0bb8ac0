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

/* What a kernel parameter is in one specialisation. */
typedef enum PsParamKind {
    PS_PARAM_SCALAR,
    PS_PARAM_VALUE, /* a vector, matrix or struct by value */
    PS_PARAM_ARRAY,
    PS_PARAM_FIELD, /* an array of ours as a template argument */
    PS_PARAM_TEMPLATE,
    PS_PARAM_OBJECT, /* a dataclass: what the kernel uses of it is read at each launch (PsMember) */
} PsParamKind;
typedef struct PsParam {
    PyObject *name; /* borrowed str */
    PsParamKind kind;
    PsType dtype; /* SCALAR: its type; ARRAY, FIELD: of a scalar */
    int ndim,
        edim; /* ARRAY, FIELD: axes of the array, and of its elements (0 scalars, 1 vectors, 2 matrices) */
    int64_t eshape[2];  /* lengths of the latter */
    bool unit;          /* ARRAY, FIELD: C order, all axes together */
    bool annotated;     /* ARRAY: the annotation says what its elements are, not the argument */
    bool clamp;         /* ARRAY: indices are moved to the nearest that there is */
    PyObject *value;    /* TEMPLATE, FIELD, OBJECT: borrowed */
    const PsForm *form; /* VALUE */
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
    bool writes;         /* as PsBuild's, per parameter */
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
    uint8_t overflow; /* PsOverflow: of integers, in checked mode */
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
/* Whether all other facts still hold; runs no Python code. Where arrays of ours were replaced by others of their type,
 * these take the old one's place among `arrays` (owned references), and *out_moved says so. */
bool ps_facts_follow(PsFacts *facts, PyObject **arrays, uint32_t n, bool *out_moved);
/* The fact of the look-up may follow, or must never. */
void ps_facts_mark(PsFacts *facts, PsFactKind kind, PyObject *holder, PyObject *key, PsFollows follows);
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
    bool unit;          /* as PsTypeInfo.unit, all axes together */
    int64_t size;       /* elements */
    int64_t shape[PS_MAX_AXES], strides[PS_MAX_AXES]; /* the elements' axes last; strides in bytes */
    PyObject *name;                                   /* or NULL */
    PyObject *grad;                                   /* of the same kind and shape, or NULL */
} PsArrayObject;
typedef struct PsDtypeObject {
    PyObject_HEAD PsType type;
} PsDtypeObject;
typedef struct PsBuiltinObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    PsBuiltinId id;
} PsBuiltinObject;
typedef struct PsNdarrayAnnotationObject { /* types.ndarray(dtype=None, ndim=None, ...) */
    PyObject_HEAD PyObject *dtype;         /* a dtype object, that of a vector or matrix, or None */
    int ndim;                              /* -1: any */
    int edim;                              /* axes of the elements, if asked for beside dtype; -1: not */
    int64_t eshape[2];                     /* their lengths; -1: any */
    int needs_grad;                        /* -1: either */
    bool clamp;                            /* indices are moved to the nearest that there is */
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
    char truth; /* of a == b 'a': true when all elements are; of a != b 'o': when one is; 0: it has none */
    int32_t ndim, n, m;
    PyObject *
        home; /* the array that it was read from, or NULL: what is assigned to its elements goes there too. Owned */
    char *at;         /* where it lies there */
    uint64_t words[]; /* row-major, bits of elem */
} PsMatrixObject;
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
typedef struct PsStructFieldObject { /* pestle.StructField (py/py_struct_field.c). All owned; immutable */
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
    PyTypeObject *proxy;             /* a runtime value seen by Python code, valid while its build runs */
    PyObject *dtypes[PS_SCALAR_END]; /* the dtype objects, by kind */
    PyObject *kernel_type;           /* set by py: so that calling a kernel in a kernel can be refused */
    PyObject *array_type;            /* set by py: pestle.Ndarray */
    PyObject *field_type;            /* set by py: pestle.Field */
    PyObject *struct_field_type;     /* set by py: pestle.StructField */
    PyObject *random_words;          /* set by py: an Ndarray of two u64: the seed, the number of launches */
    PyTypeObject *matrix_type;       /* types.vector(...), types.matrix(...) */
    PyTypeObject *matrix, *vector;   /* set by py: pestle.Matrix and Vector, which is one */
    PyTypeObject *struct_type;       /* set by py: types.struct(...) */
    PyTypeObject *structure;         /* set by py: pestle.Struct, a value */
    PyObject *errors[10];            /* exception classes by PsErrorKind, set by py */
} PsFrontTypes;
static inline bool ps_is_array(const PsFrontTypes *types, PyObject *object) { /* pestle.Field, pestle.Ndarray */
    PyObject *type = (PyObject *)Py_TYPE(object);
    return type == types->field_type || type == types->array_type;
}
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

bool ps_front_is_dataclass(PyObject *object);           /* a class of the standard library's dataclass */
PyObject *ps_number_object(PsType type, uint64_t bits); /* bits of a scalar as a Python number */
/* A Python number as the type holds it, converted as ti.cast does; -1 with an exception. */
int ps_number_bits(PyObject *number, PsType type, uint64_t *out);
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

#endif
