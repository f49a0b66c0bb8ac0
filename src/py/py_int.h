/* SPDX-License-Identifier: Apache-2.0
 *
 * py: the extension module pestle._pestle. What its files share.
 *
 *     py_module.c      module, state            py_kernel.c      the kernel object
 *     py_func.c        decorators of funcs
 *     py_init.c        init, reset, sync        py_signature.c   parameters from annotations
 *     py_errors.c      exceptions, messages     py_specialise.c  arguments -> specialisation (build, compile)
 *     py_ndarray*.c    pestle.Ndarray           py_launch.c      the hot path: decode, run, result
 *     py_field.c       pestle.Field             py_random.c      what random numbers start from
 *     py_tools.c       ir, asm, doctor, cache   py_watch.c       counts changes of names in dicts
 *     py_debug.c       _ir, _evaluate           py_guard.*       do the facts of a specialisation still hold
 *     py_member.c      members of dataclass arguments
 *     py_interrupt.*   Ctrl-C in long launches  py_view.*        arrays that are held while a kernel runs
 *     decode_numpy.*   numpy's struct layout    decode_scalar.*  Python numbers -> bits
 *     decode_dlpack.*  torch, DLPack            decode_buffer.c  formats of the buffer protocol
 *     decode_strided.h shape, strides -> words  decode_refuse.*  why an array cannot be used
 *     mode_*           kernels run as plain Python, see mode_int.h
 *
 * All of it runs under the GIL, which is what protects the state, kernels and their lists. State is per module.
 */
#ifndef PS_PY_INT_H
#define PS_PY_INT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "data/data.h"
#include "driver/driver.h"
#include "front/loop/loop.h"
#include "launch/launch.h"
#include "py/decode_dlpack.h"
#include "py/decode_numpy.h"

typedef PsArrayObject PyNdarray; /* pestle.Ndarray and pestle.Field alike */

#define PY_COLD __attribute__((noinline, cold))
#define PY_HOT  inline __attribute__((always_inline))

/* -- state -- */

/* Kernels run as plain Python (mode_int.h); made when first needed. */
typedef struct PyMode {
    bool on, always; /* asked for by init(arch=python); by PESTLE=python */
    int depth;       /* kernels that run as plain Python now: elements of fields are numbers with a type */
    PyTypeObject *number, *array, *domain, *iterator;
    PyObject *rewrite, *kept; /* of pestle._python_mode */
} PyMode;

typedef struct PyState {
    PyObject *module; /* borrowed: the state dies with it */
    PsFrontTypes types;
    PsFrontOptions options;
    uint32_t options_word; /* options packed: equal words, equal options */
    bool no_cache;
    uint64_t random_seed;
    int threads; /* as asked for; 0: as many as there are CPUs */
    PyTypeObject *kernel_type, *ndarray_type, *field_type, *struct_field_type, *struct_array_type, *view_type,
        *buffer_view_type;
    PyObject *pestle_error; /* base of all exception classes; the others are types.errors[] */
    PyMode mode;
    PyNumpy numpy;
    PyDlpack dlpack;
    bool store_warned, threads_warned, setting_warned; /* these warnings were given */
    int watcher;                                       /* of dicts (py_watch.c), its number + 1; 0: none */
} PyState;
PyState *py_state(PyObject *module);
uint32_t py_options_word(const PsFrontOptions *options);
PsFrontOptions py_options_default(void);

/* py_init.c */
PyObject *py_init(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *py_reset(PyObject *module, PyObject *unused);
PyObject *py_sync(PyObject *module, PyObject *unused);
int py_init_add_names(PyObject *module);
void py_init_python_mode(PyState *state); /* PESTLE=python */
int py_warn_of_settings(
    PyState *state); /* once, if PESTLE or PESTLE_NUM_THREADS is wrong; -1: the warning is an exception */

/* py_random.c */
int py_random_init(PyState *state); /* -1 with an exception */
void py_random_seed(PyState *state, uint64_t seed);

/* -- errors (py_errors.c) -- */

int py_errors_init(PyState *state, PyObject *module);
/* Raises the class of the message's kind with its text; always NULL. */
PyObject *py_error(const PyState *state, PsMessageId id, ...);
bool py_has_alias(const PyState *state); /* pestle.compat has been told to be another module */
/* The Python functions that spans refer to, copied out of a module so that they outlive it. */
typedef struct PySources {
    PsSource *items;
    uint32_t len;
    const char **texts; /* of the module: messages of assertions are among them */
    uint32_t ntexts;
} PySources;
PySources py_sources_of(const PsModule *module); /* borrowed */
bool py_sources_copy(PySources *out, PsArena *arena, const PsModule *module);
void py_raise_diag(const PyState *state, const PySources *sources, const PsDiag *diag);
typedef struct PyFault {
    uint32_t kind; /* PsFaultKind */
    PsSpan span;
    const int64_t *values;
    uint32_t nvalues;
    PsFaultCalls calls; /* what call_span makes spans of */
    PsSpan (*call_span)(const void *data, uint32_t call);
    const void *data;
} PyFault;
void py_raise_fault(const PyState *state, const PySources *sources, const PyFault *fault);
int py_warn_overflow(const PyState *state, const PySources *sources, PsFaultKind kind,
                     PsSpan span); /* -1 with an exception */
/* Raises for a stage's status: PS_FAIL from the diag, PS_NOMEM, PS_PYERR as it is. */
void py_raise_status(const PyState *state, PsStatus status, const PySources *sources, const PsDiag *diag);
void py_raise_from(PyObject *cause); /* the exception that is set is `from` this one */
int py_refuse_proxy(const PyState *state,
                    PyObject *value); /* -1: it is a value of a kernel that is being compiled */
/* py_peer_line.c: the line and, under [start, end), carets */
void py_peer_line(PsBuf *out, const char *line, size_t len, size_t start, size_t end);
/* Raises with the place of a parameter of the function (its name), of its result ("return") or, NULL, of the def. */
PyObject *py_error_at(const PyState *state, PyObject *function, const char *param, PsMessageId id, ...);

/* -- parameters (py_signature.c) -- */

typedef struct PyParam {
    PyObject *name;       /* owned, interned */
    PyObject *annotation; /* owned, evaluated; NULL: none (self) */
    PsParamKind kind;
    PyObject *dtype; /* borrowed from the annotation: what ps_front_dtype reads; NULL: any (array) */
    int ndim;        /* ARRAY: -1 any */
    bool clamp;      /* ARRAY */
    bool needs_grad; /* ARRAY: it must have a gradient array */
    bool optional;   /* ARRAY: or None, as of a TEMPLATE */
    bool tensor;     /* ARRAY: a field is a TEMPLATE */
    bool view;       /* ARRAY: a BufferView */
} PyParam;
typedef struct PySignature {
    PyParam *params;
    uint32_t nparams;
    PyObject *returns; /* owned; NULL: none */
} PySignature;
struct PyKernel;
int py_signature_read(const PyState *state, PyObject *function, PyObject *annotations, PySignature *out);
/* What its annotation says of a parameter; -1 with an exception. */
int py_signature_param(const PyState *state, PyParam *param, PyObject *function);
/* An annotation, evaluated in `globals` (NULL: the function's) if it is text. New reference. */
PyObject *py_signature_evaluate(const PyState *state, PyObject *annotation, PyObject *function,
                                PyObject *globals, PyObject *name);
void py_signature_free(PySignature *signature);
/* The annotations of a nested function with `from __future__ import annotations`, evaluated while its surroundings
 * exist; NULL without an exception: nothing to do. */
PyObject *py_signature_early(PyObject *function);

/* -- specialisations -- */

typedef enum PyHow {
    PY_HOW_F64,
    PY_HOW_F32,
    PY_HOW_INT,
    PY_HOW_NUMBER,
    PY_HOW_VALUE,
    PY_HOW_ARRAY,
    PY_HOW_TEMPLATE,
    PY_HOW_LIKE,    /* an instance of the class of `value` for which the facts hold */
    PY_HOW_BUFFER,  /* a BufferView */
    PY_HOW_FIELD,   /* as a template argument: any field of the type, but for what is pinned */
    PY_HOW_STRUCTS, /* the same of an array of structs */
    PY_HOW_OBJECT,  /* a dataclass, of this very class; its members have plans of their own */
    PY_HOW_UNUSED,  /* a member that nothing is left of */
} PyHow;
/* What a launch expects of one argument. */
typedef struct PyPlan {
    uint8_t how; /* PyHow */
    uint8_t dtype;
    uint8_t ndim, edim; /* all axes; of them the elements' */
    uint8_t unit;       /* PsUnit */
    bool annotated;     /* ARRAY: PsParam.annotated */
    bool clamp;
    bool grad; /* ARRAY, STRUCTS: it must have a gradient array */
    int32_t eshape[2];
    uint32_t word; /* first word of the frame */
    union {
        struct {
            int64_t lo, hi;
            uint64_t mask;
        } range;
        struct {
            PyObject *descr;  /* numpy's dtype object, borrowed from the state; NULL: none seen yet */
            int32_t required; /* numpy flags */
            int32_t item;     /* bytes of one element */
            uint32_t dlpack;  /* its DlDtype */
        } array;
        PyObject *
            value; /* TEMPLATE, LIKE: owned; OBJECT: owned, a weak reference to the one it was made for, or NULL */
        const PsForm *form; /* VALUE: the kernel's */
        struct {
            PyObject *like; /* owned */
            uint8_t pins;   /* PS_PIN_* : what must be as in `like` */
        } field;
    };
    PyTypeObject *class; /* owned: exactly this one is wanted; NULL: it is not looked at */
    const char *where;   /* of a member: for messages */
} PyPlan;

/* What a launch compares to know that nothing a specialisation read has changed (py_guard.c): words of memory. */
typedef struct PyGuardWord {
    const uint64_t *at; /* a dict's count of changes; the contents of a cell; the code of a function */
    uint64_t seen;      /* when all facts last held */
} PyGuardWord;
typedef struct PyGuardType { /* a class whose attributes, or its instances' methods, were looked up */
    PyTypeObject *type;      /* borrowed from the facts */
    unsigned tag;            /* tp_version_tag when the facts last held; 0: not yet */
} PyGuardType;
typedef struct PyGuard {
    PyGuardWord *words; /* the first `nowned` hold a reference in `seen` */
    PyGuardType *types;
    uint32_t nwords, nowned, ntypes;
    bool always;                  /* look at all facts at the next launch */
    bool blind;                   /* ... and at all later ones: no cheap sign of a change exists */
    const PsFrontTypes *computed; /* not NULL: Python code runs then */
} PyGuard;

/* Where a launch finds what it reads anew (PsMember). */
typedef struct PyMember {
    uint32_t from;
    bool used, grad;         /* grad: of an array argument */
    PyObject *holder, *name; /* owned */
} PyMember;
/* A new reference; NULL with an exception. `objects`: the arguments, then earlier members. The general look-up is asked
 * for, so that no __getattr__ of a class runs; what stands in the class under the name is a fact. */
static inline PyObject *py_member_get(const PyMember *member, PyObject *const *objects) {
    PyObject *holder = member->holder ? member->holder : objects[member->from];
    return PyObject_GenericGetAttr(holder, member->name);
}

/* Compiled code for one set of argument types. Immutable but for the guard's tags and what py_specs.c keeps. */
typedef struct PySpec {
    PyPlan *plans;
    uint32_t nparams, options_word, frame_words, result_word;
    uint32_t field_word, nfield_words; /* of the arrays from outside: their words, copied into every frame */
    uint64_t *field_words;
    int64_t field_elements;
    PyObject **fields; /* owned: those arrays */
    uint32_t nfields;
    PyMember *members; /* their plans stand behind those of the parameters */
    uint32_t nmembers;
    PsMainFn main;
    uint8_t result;         /* PsType of a scalar; PS_KIND_NONE: nothing, or what the form says */
    const PsForm *form;     /* of the result, in the arena; NULL: nothing */
    bool unbounded, nested; /* PS_OBJECT_* */
    bool shared;            /* some arguments are LIKE: facts and fields are those of the last launch's */
    bool dropped;           /* no longer its kernel's: the last unpin frees it */
    uint32_t pins;
    PyGuard guard;
    struct PySpec *next, *before; /* by last use */
    PsFacts facts;
    PsExecutable *exe;
    PsArena arena; /* plans, guard, sources */
    PySources sources;
    PsDriverTimes times;
    uint64_t front_ns;
    bool *warned; /* by site: its overflow has been told; NULL: none has */
} PySpec;

/* Which specialisation template arguments had last (py_specs.c). */
typedef struct PyHint {
    uint64_t key;
    PySpec *spec; /* NULL: empty */
} PyHint;

typedef struct PyKernel {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyState *state;
    PySpec *last;         /* what the previous launch ran */
    PySpec *specs, *tail; /* all, the one used last first */
    uint32_t nspecs;
    PyHint *hints;
    uint32_t nhints; /* a power of two, or 0 */
    uint32_t drops;  /* changes when a specialisation is dropped, so that who walks `specs` begins anew */
    PyObject *function;
    PyObject *dict; /* __name__, __doc__, __wrapped__, ... */
    PyObject *weakrefs;
    PyObject *annotations; /* evaluated early, or NULL */
    PyObject *module;      /* keeps the state alive */
    PsAstTrees *trees;     /* NULL until first built */
    uint64_t stamp;        /* of the function's file when it was decorated */
    PySignature signature;
    PsArena forms; /* of its parameters */
    bool signature_read;
    bool warned_many; /* of many specialisations */
} PyKernel;

/* py_kernel.c */
PyTypeObject *py_kernel_type(PyObject *module);
PyObject *py_kernel_decorator(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
int py_kernel_prepare(PyKernel *kernel); /* reads the signature once; -1 with an exception */
/* Positional and keyword arguments and defaults -> one per parameter, borrowed: the defaults from *out_held (owned, or
 * NULL), since the function may get others while the arguments are in use. -1 with an exception, *out_held as well. */
int py_kernel_bind(PyKernel *kernel, PyObject *const *args, Py_ssize_t nargs, PyObject *names, PyObject **out,
                   PyObject **out_held);

/* py_func.c */
PyObject *py_func_decorator(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *py_pyfunc_decorator(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *py_real_func_decorator(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *py_data_oriented(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names);

/* py_specialise.c */
/* By its parameter; `where`: "argument 'x' of kernel 'k'". -1 with an exception. */
int py_describe_one(PyKernel *kernel, const PyParam *param, PyObject *arg, const char *where, PsParam *out);
int py_describe(PyKernel *kernel, PyObject *const *args, PsParam *out);      /* -1 with an exception */
int py_refuse_offset(const PyState *state, PyObject *arg, const char *name); /* -1 */
void py_describe_field(PyObject *field, PsParam *out);
PsStatus py_front(PyKernel *kernel, const PsFrontOptions *options, const PsParam *params, PsBuild *out);
void py_build_raise(const PyState *state, PsStatus status, const PsBuild *build);
/* `build` NULL: nothing is known of what the kernel does with them. */
void py_plans_make(const PyState *state, const PsParam *params, uint32_t nparams, const PsBuild *build,
                   PyPlan *out, uint32_t *out_words);
/* The words of an array of ours: 1 + 2 * its axes. Gives their number. */
uint32_t py_array_words(const PyNdarray *array, uint64_t *words);
void py_plans_drop(PyPlan *plans, uint32_t nparams);
PySpec *py_specialise(PyKernel *kernel,
                      PyObject *const *args); /* added to the kernel, pinned; NULL with an exception */
/* Whether two template arguments make the same program: one object, or equal values of one immutable type. */
bool py_template_same(PyObject *a, PyObject *b);
void py_spec_free(PySpec *spec);
void py_spec_fields(PySpec *spec); /* fills field_words from fields */
int py_spec_traverse(PySpec *spec, visitproc visit, void *arg);

/* py_member.c */
int py_member_describe(void *kernel, PyTypeObject *class, PyObject *name, PyObject *annotation, PyObject *value,
                       const char *where, PsParam *out);         /* PsDescriber.describe */
PyObject *py_member_grad(void *kernel, PyObject *array);         /* PsDescriber.grad */
PyMember *py_members_make(PsArena *arena, const PsBuild *build); /* NULL: no memory */
void py_members_drop(PyMember *members, uint32_t n);
/* The plans of a build's members, whose words begin at `word`; gives the number of their words. */
uint32_t py_member_plans_make(const PyState *state, const PsBuild *build, PsArena *arena, uint32_t word,
                              PyPlan *out);
/* The arguments, and behind them the members as they are now, or views of them. NULL: one is not there, or, with an
 * exception, it is refused. */
PyObject **py_members_open(PyKernel *kernel, const PyPlan *plans, uint32_t nparams, const PyMember *members,
                           uint32_t n, PyObject *const *args);
void py_members_close(PyObject **objects, uint32_t nparams, uint32_t n);

/* py_many.c: a warning when `spec`, just added, is one of many that differ in a number. -1 with an exception. */
int py_warn_of_many(PyKernel *kernel, const PySpec *spec);

/* py_specs.c */
static inline void py_spec_pin(PySpec *spec) { spec->pins++; }
void py_spec_unpin(PySpec *spec);
void py_specs_add(PyKernel *kernel, PySpec *spec); /* takes it over; may drop another */
void py_specs_use(PyKernel *kernel, PySpec *spec); /* it is the last one used */
void py_specs_clear(PyKernel *kernel);
/* The one that these template arguments had the last time, if that is known; NULL: not. Borrowed. */
PySpec *py_specs_find(const PyKernel *kernel, PyObject *const *args);
void py_specs_note(PyKernel *kernel, PyObject *const *args, PySpec *spec); /* they have this one now */

/* py_guard.c */
bool py_guard_make(PyGuard *guard, const PyState *state, PsArena *arena, const PsFacts *facts);
void py_guard_free(PyGuard *guard);
/* The slow half: all facts; remembers the words when they hold. May set an exception. */
bool py_guard_look(PySpec *spec, PyObject *const *args);
int py_guard_traverse(PyGuard *guard, visitproc visit, void *arg);

/* py_watch.c */
void py_watch_begin(PyState *state);
void py_watch_end(PyState *state);

/* py_form.c: vectors, matrices, structs by value */
bool py_form_quick(const PyState *state, const PsForm *form, PyObject *arg,
                   uint64_t *words); /* a vector as it is */
PyObject *py_form_encode(const PyState *state, const PsForm *form, const uint64_t *words);

/* py_launch.c */
PyObject *py_kernel_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names);
/* 1: the arguments fit the plans and the words are filled. 0: they want another specialisation. -1: exception. */
int py_decode(PyKernel *kernel, const PyPlan *plans, uint32_t n /* with members */, PyObject *const *args,
              uint64_t *words, int64_t *elements);
bool py_has_grad(PyState *state, PyObject *array); /* or a tensor that asks for one */
int64_t py_decode_array(PyState *state, const PyPlan *plan, PyObject *arg,
                        uint64_t *words);                                             /* < 0: it does not fit */
PyObject *py_result(const PyState *state, const PsForm *form, const uint64_t *words); /* NULL form: None */
int py_write_stdout(const char *text, size_t len);                                    /* -1 with an exception */

/* mode_call.c: a launch as plain Python */
PyObject *py_mode_call(PyKernel *kernel, PyObject *const *args, Py_ssize_t nargs, PyObject *names);

/* py_debug.c */
PyObject *py_kernel_ir(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *py_kernel_text(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *py_kernel_evaluate(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *py_kernel_times(PyObject *self, void *unused);

/* py_tools.c */
PyObject *py_kernel_show_ir(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *py_kernel_show_asm(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *py_kernel_explain(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *py_doctor(PyObject *module, PyObject *unused);
PyObject *py_cache(PyObject *module, PyObject *unused);
PyObject *py_cache_clear(PyObject *module, PyObject *unused);

/* py_struct_field.c */
PyTypeObject *py_struct_field_type(PyObject *module);
PyTypeObject *py_struct_array_type(PyObject *module);
PyObject *
py_structs_outline(PyObject *object); /* the same type and axes without memory; NULL with an exception */

/* py_structs.c: arrays of structs as arguments */
int py_describe_structs(const PyState *state, PyObject *arg, PsParam *out);
/* For a parameter annotated with types.ndarray(): 1: described; 0: nothing to do with structs; -1 with an exception. */
int py_describe_array_of_structs(const PyState *state, const PyParam *param, PyObject *arg, const char *name,
                                 PsParam *out);
uint32_t py_plan_structs(const PyState *state, PyPlan *plan, const PsParam *param,
                         uint8_t pins);                              /* gives its words */
uint32_t py_param_words(const PyState *state, const PsParam *param); /* at most */
int64_t py_decode_structs(const PyState *state, const PyPlan *plan, PyObject *arg,
                          uint64_t *words);                      /* < 0: it does not fit */
int64_t py_structs_size(const PyState *state, PyObject *object); /* elements of all members */

/* py_field.c */
PyTypeObject *py_field_type(PyObject *module);
PyObject *py_field_new(PyObject *module, PyObject *args, PyObject *kwargs);
typedef struct PyBufferView {       /* pestle.BufferView (py_buffer_view.c) */
    PyObject_HEAD PyNdarray *array; /* owned */
    PyNdarray *view;                /* owned: the range as an array of its own */
    int64_t offset;
} PyBufferView;
PyTypeObject *py_buffer_view_type(PyObject *module);
PyObject *py_buffer_view_of(PyState *state, PyNdarray *array, PyObject *slice);
PyObject *py_field_vector(PyObject *module, PyObject *args, PyObject *kwargs); /* Vector.field(n, dtype, ...) */
PyObject *py_field_struct(PyObject *module, PyObject *args,
                          PyObject *kwargs); /* Struct.field({name: type}, ...) */
PyObject *py_field_matrix(PyObject *module, PyObject *args,
                          PyObject *kwargs); /* Matrix.field(n, m, dtype, ...) */

/* py_ndarray.c */
PyTypeObject *py_ndarray_type(PyObject *module);
PyObject *py_ndarray_new(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *py_ndarray_vector(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *py_ndarray_matrix(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *py_ndarray_restore(PyObject *module, PyObject *args); /* py_ndarray_export.c; for pickle */

#endif
