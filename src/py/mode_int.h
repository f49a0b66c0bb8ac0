/* SPDX-License-Identifier: Apache-2.0
 *
 * Python mode: kernels run as plain Python, for stepping through with a debugger. What its files share.
 *
 *     mode_call.c     a launch: arguments in, the rewritten function, the result out; calls of funcs
 *     mode_name.c     what the rewritten function calls where a name gets a value
 *     mode_number.c   numbers with a type: what arguments, elements and locals are
 *     mode_rules.c    the types and values of operators on them
 *     mode_builtin.c  pestle's builtins, casts, and Python's own functions on them
 *     mode_array.c    array arguments: checked elements
 *     mode_value.c    vectors, matrices and structs: the host's, with elements that have types
 *     mode_domain.c   what loops run over
 *
 * python/pestle/_python_mode.py rewrites a function so that it calls the above where Python alone would do something
 * else than the language says: assignments, calls, loops. Operators need no rewriting: numbers have types and compute
 * with ps_eval_scalar, so that results have the bits that compiled code gives, but for the order of float sums. All of
 * it is C, because a debugger does not step into it.
 *
 * A Python int or float is a value known while compiling, as in front/eval: it has no width until it meets a number
 * that has one.
 */
#ifndef PS_PY_MODE_INT_H
#define PS_PY_MODE_INT_H

#include "py/decode_scalar.h"

typedef struct ModeArray {
    PyObject_HEAD PyObject *owner; /* the argument */
    PsArrayView view;
    PsType dtype;
    int edim;                            /* of the axes, those of the elements: vectors and matrices */
    int64_t first[PS_MAX_AXES];          /* index of each axis: fields may have an offset */
    bool readonly, clamp, shifted, dead; /* clamp: indices are moved to the nearest that there is */
} ModeArray;

typedef struct ModeNumber {
    PyObject_HEAD uint64_t bits;
    PsType type;
    bool reference; /* a caller's variable or element that a func has by reference: assignments change it */
    bool product;   /* bits are a * b, not yet given a name: a + may make it an fma */
    bool lent;      /* a product, surely nothing but an operand */
    uint64_t a, b;  /* the factors */
    PyObject
        *from; /* what it was read from, for atomics: a ModeArray, a vector, matrix or struct. NULL: nothing */
    char *place;    /* there, in an array */
    uint32_t index; /* in others */
} ModeNumber;

/* A number of any kind, taken apart. */
typedef enum ModeKind { MODE_TYPED, MODE_INT, MODE_UINT, MODE_REAL } ModeKind;
typedef struct ModeOperand {
    ModeKind kind;
    PsType type;   /* TYPED: its own; others: the default of their kind, u1 for a bool */
    uint64_t bits; /* TYPED: of its type; INT: i64, UINT: u64 of an int beyond that, REAL: f64 */
    PyObject *object;
} ModeOperand;

/* mode_number.c */
int mode_init(PyState *state, PyObject *module); /* makes the types when first needed; -1 with an exception */
PyObject *mode_number(const PyState *state, PsType type, uint64_t bits);
bool mode_is_number(const PyState *state, PyObject *object); /* one with a type */
bool mode_number_check(PyObject *object);                    /* the same, of whatever module */
static inline bool mode_runs(const PyState *state) { return state->mode.depth > 0; }
bool mode_read(const PyState *state, PyObject *object, ModeOperand *out); /* false: no number */
/* The operand in a type; -1 with an exception. as: what does not fit is refused; cast: as ti.cast. */
int mode_as(const PyState *state, const ModeOperand *operand, PsType type, uint64_t *out);
int mode_cast(const PyState *state, const ModeOperand *operand, PsType type, uint64_t *out);
PyObject *mode_cast_object(const PyState *state, PyObject *object, PsType type); /* numbers and vectors */
PyObject *mode_typed(const PyState *state,
                     PyObject *object); /* a fresh number with a type; others as they are */
PyObject *mode_not_a_number(const PyState *state, const char *what, PyObject *found); /* raises */
PyTypeObject *mode_number_type(PyObject *module);

/* mode_rules.c: NULL with an exception; Py_NotImplemented: an operand is no number. */
PyObject *mode_binary(const PyState *state, PsAstOp op, PyObject *a, PyObject *b);
PyObject *mode_inplace(const PyState *state, PsAstOp op, PyObject *a, PyObject *b);
PyObject *mode_unary(const PyState *state, PsAstOp op, PyObject *a);
PyObject *mode_compare(const PyState *state, int op, PyObject *a, PyObject *b); /* op: Py_LT, ... */
PsType mode_promote(PsType a, PsType b);
bool mode_lends(const PsMatrixObject *m);     /* a product that is nothing but an operand */
PsType mode_promote_keep(PsType a, PsType b); /* u1 with u1 stays u1 */

/* mode_array.c */
PyTypeObject *mode_array_type(PyObject *module);
/* A dataclass argument; what its members became is added to `arrays`. */
PyObject *mode_object(PyKernel *kernel, PyObject *instance, PyObject *name, PyObject *arrays);
bool mode_is_readonly(PyState *state, PyObject *arg);
/* What a launch would get of an array argument. */
PyObject *mode_array_view(const PyState *state, PyObject *args,
                          PyObject *kwargs); /* BufferView(array, offset, size) */
PyObject *mode_array_of_words(PyState *state, PyObject *owner, const PyPlan *plan, const uint64_t *words);
void mode_array_end(PyObject *array);
/* A field or Ndarray from outside the kernel as such an array; others as they are. A new reference. */
PyObject *mode_array_of(const PyState *state, PyObject *object);
/* Of a number read from one: what lies there now; -1 with an exception: it cannot be written. */
uint64_t mode_array_read(const ModeNumber *number);
int mode_array_write(const ModeNumber *number, uint64_t bits);
char *mode_array_place(const ModeArray *self,
                       PyObject *key); /* where self[key] lies; NULL: an exception is set */
uint64_t mode_array_word(const ModeArray *self, const char *at, uint32_t i); /* the i-th of an element */
int mode_array_set_words(const ModeArray *self, char *at, const uint64_t *words, uint32_t n);

/* mode_value.c */
bool mode_is_vector(const PyState *state, PyObject *object); /* or a matrix */
bool mode_is_typed(const PyState *state,
                   PyObject *object); /* a number or vector that is not of Python numbers */
/* f(data, args) for each element of the vectors and sequences among the arguments. Vectors only if mode_any_vector. */
PyObject *mode_map(const PyState *state, PyObject *(*f)(const PyState *, void *, PyObject *const *), void *data,
                   PyObject *const *args, int nargs);
bool mode_any_vector(const PyState *state, PyObject *const *args, int nargs);
PyObject *mode_element(const PyState *state, const PsMatrixObject *m, uint32_t i);
PyObject *mode_member(const PyState *state, PsStructObject *s, int i);
PyObject *mode_copy(const PyState *state,
                    PyObject *value); /* a variable's value: vectors and structs of its own */
PyObject *mode_annotate(const PyState *state, PyObject *annotation, PyObject *value); /* in the type it names */
int mode_overwrite(const PyState *state, PyObject *place,
                   PyObject *value); /* place: a vector, matrix, struct */
/* The number as a place, of an element or a variable: what lies there now; -1 with an exception: it cannot be written. */
uint64_t mode_get(const ModeNumber *number);
int mode_set(const PyState *state, ModeNumber *number, uint64_t bits);

/* mode_domain.c */
PyTypeObject *mode_domain_type(PyObject *module);
PyTypeObject *mode_domain_iterator_type(PyObject *module);
PyObject *mode_ndrange(const PyState *state, PyObject *const *args, int nargs, PyObject *axes);
PyObject *mode_range(const PyState *state, PyObject *const *args, int nargs);
/* py_random.c */
PyObject *mode_random(const PyState *state, PsBuiltinId id, PyObject *dtype); /* dtype NULL: default_fp */
PyObject *mode_grouped(const PyState *state, PyObject *domain);
PyObject *mode_loop(PyObject *module, PyObject *const *args, Py_ssize_t nargs);
PyObject *mode_loop_call(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names);

/* mode_builtin.c */
PyObject *mode_dry_call(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *mode_call(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *mode_builtin(const PyState *state, PsBuiltinId id, PyObject *arg); /* of one number or vector */
bool mode_is_static(const PyState *state, PyObject *callee);
/* number._rule(callee, *args): pestle's callables called by Python code that was not rewritten (eval_proxy.c). */
PyObject *mode_rule(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
#define MODE_RULE (PyCFunction)(void (*)(void)) mode_rule
PyObject *mode_not(PyObject *module, PyObject *value);

/* mode_name.c: functions of the module, for rewritten functions. */
PyObject *mode_local(PyObject *module, PyObject *value);
PyObject *mode_assign(PyObject *module, PyObject *const *args, Py_ssize_t nargs);
PyObject *mode_annotated(PyObject *module, PyObject *const *args, Py_ssize_t nargs);
PyObject *mode_unpack(PyObject *module, PyObject *const *args, Py_ssize_t nargs);
PyObject *mode_enter(PyObject *module, PyObject *const *args, Py_ssize_t nargs);
PyObject *mode_choose(PyObject *module, PyObject *const *args, Py_ssize_t nargs);
PyObject *mode_round(PyObject *module, PyObject *value);
PyObject *mode_decides(PyObject *module, PyObject *const *args, Py_ssize_t nargs);
PyObject *mode_join(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* mode_call.c */
int mode_add_functions(PyObject *module);
PsType mode_result_type(const PyState *state,
                        PsFuncObject *func); /* of a number, as annotated; PS_KIND_NONE: not */
void mode_hide(void);                        /* debuggers do not step into what runs between these two */
void mode_unhide(void);
PyObject *mode_call_func(const PyState *state, PyObject *func, PyObject *const *args, size_t nargsf,
                         PyObject *names);

#endif
