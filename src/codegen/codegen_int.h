/* SPDX-License-Identifier: Apache-2.0
 *
 * codegen_int: what the files of codegen share. A Codegen is one compilation of one module; an Emitter fills one LLVM
 * function: main, a task (the body of a parfor), or a function of the module.
 *
 * Values: e->slots holds the LLVM value of each op of the IR function, valid for the emitter that wrote it. In a task,
 * cg_value brings what main computed: constants and what follows from parameters are made again, other values and main's
 * locals come through frame words (codegen_survey.c chooses them). All of that is loaded in the entry block, so that no
 * load of the frame stands in a loop, where LLVM could not tell it from the stores to arrays.
 *
 * Errors: cg_unsupported records the first one; emitters then go on with zeros, and the entry asks once at its end.
 */
#ifndef PS_CODEGEN_CODEGEN_INT_H
#define PS_CODEGEN_CODEGEN_INT_H

#include "codegen/codegen.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/TargetMachine.h>

#define CG_INLINE_OPS    100  /* a function of at most so many ops, inlined callees included, is inlined */
#define CG_INLINE_TOTAL  3000 /* ... unless its copies would have more than so many together */
#define CG_MAX_NESTING   256  /* of regions; LLVM's passes recurse over them */
#define CG_INLINE_LOCALS 4096 /* ... and locals of so many bytes: they would all be in its callers' frames */
#define CG_MAX_CHAIN     (1 << 20)   /* bytes of locals of functions that call one another */
#define CG_MAX_LOCALS    (512 << 10) /* bytes of a function's locals, which are on the stack of a thread */
#define CG_DOUBLE_BODY   16 /* a reduction's body of at most so many ops is emitted twice: full blocks, rest */

typedef struct FuncInfo {
    LLVMValueRef fn;
    LLVMTypeRef type;
    PsType result;   /* PS_KIND_NONE: none */
    uint32_t size;   /* ops, with those of inlined callees */
    uint32_t sites;  /* calls of it in the module */
    uint32_t locals; /* bytes, with those of inlined callees */
    uint64_t chain;  /* bytes, with those of the callees that hold most */
    bool known;      /* it and what it calls are surveyed; never, when it may call itself again */
    bool recursive;  /* on a cycle of calls, or calls one */
    bool faults;     /* may set ts->fault: checks, depth, an interrupt */
    bool ordered;    /* prints or faults: ts->leaf must be right */
    bool inlined;
    bool serial; /* holds what the vectoriser refuses: loops, atomics, prints, checks, calls */
    bool lasts;  /* touches elements of locals at running indices: they stay in memory */
    /* codegen_poll.c */
    uint8_t *polls;          /* by op: which loops poll the interrupt */
    bool lasting, unbounded; /* holds a loop that may be long; one of unknown length */
    uint32_t degree;         /* of its nests, the most array lengths multiplied ... */
    uint64_t trips;          /* ... and the most constant iterations */
} FuncInfo;

/* A reduction: accumulators of their own for each var and combine. */
typedef struct Slot {
    PsRef var;
    PsCombine combine;
    PsType type;
} Slot;

/* An array that a parallel loop touches (codegen_scatter.c). */
typedef struct Touched {
    uint32_t param;
    PsTouch how;  /* PS_TOUCH_OTHER, or only adds to it */
    bool updated; /* by atomics */
} Touched;

typedef struct ParforInfo {
    PsRef ref;
    LLVMValueRef task;
    uint32_t size;         /* ops of the body, with those of inlined callees */
    bool serial, ordered;  /* as in FuncInfo */
    bool in_order;         /* of a deterministic module: its atomics are made in the order of iterations */
    int element;           /* bytes of the type that decides the vector width */
    unsigned width;        /* lanes; 1: none of our own */
    PsNoteId why;          /* of the width */
    uint32_t why_number;   /* in the note's text */
    PsRef why_op;          /* what keeps it scalar; 0: no single op */
    uint32_t lane_work;    /* what of lane_size differs from lane to lane */
    uint32_t scatters;     /* in lanes: stores that are no rows */
    uint32_t lane_size;    /* ops of the body, accesses lane by lane counted as many as there are lanes */
    bool masked;           /* in lanes, most of it runs under masks whether or not the turn is whole */
    PsVec(PsRef) captures; /* values of main it reads through frame words */
    PsVec(PsRef) written;  /* locals of main that it does not only read */
    PsVec(Slot) slots;
    PsVec(Touched) touched; /* those that are only added to come first */
    uint32_t scattered;     /* so many of them, at most PS_MAX_SCATTERED; 0: threads share the arrays */
    uint32_t updates;       /* atomics of an iteration that ask PsTaskState.shared; 0: none do */
} ParforInfo;

/* A function of codegen_far.c. */
typedef struct FarFunction {
    LLVMValueRef by_lanes[8]; /* 1, 2, 4, ..; NULL: not needed so far */
} FarFunction;

/* How main's ops travel into tasks; indexed by PsRef. */
typedef struct Home {
    uint32_t parfor;   /* 1 + index of the parfor it stands in; 0: main's serial code */
    uint32_t word;     /* 1 + frame word of a captured value or local */
    uint32_t captured; /* 1 + index of the last parfor that captured it */
    bool lasts;        /* a local that stays in memory, whatever LLVM does */
} Home;

/* An operation that LLVM's instcombine must not see through. */
typedef struct LateFunction {
    const char *name;
    LLVMTypeRef type;
    LLVMValueRef fn;
} LateFunction;

/* How values of parallel loops differ between lanes (codegen_uniform.c); by PsRef of main's ops. */
#define CG_UNEVEN INT64_MIN             /* the step of a value that varies */
enum { CG_DIVERGES = 1, CG_LOSES = 2 }; /* marks of control: lanes may part there; may leave by a jump inside */
typedef struct Uniform {
    int64_t *steps;                   /* from lane to lane: 0 uniform, else affine, or CG_UNEVEN */
    int64_t *held;                    /* of locals: the step of what they hold */
    uint8_t *marks, *inside, *stored; /* of control; of locals: of a parallel loop, stored to before loads */
} Uniform;

/* How an access of a loop in lanes was emitted, for `explain`; bits, as a body may be emitted twice. */
enum { CG_ONE = 1, CG_ROW = 2, CG_BACK = 4, CG_EACH = 8, CG_MASKED = 16, CG_COMBINED = 32 };

typedef struct Codegen {
    const PsModule *m;
    const PsCodegenRequest *request;
    PsArena *arena;
    PsCode *out;
    PsDiag *diag;
    PsStatus status;
    char *llvm_error; /* of LLVM's malloc kind; NULL: none */

    LLVMContextRef ctx;
    LLVMModuleRef module;
    LLVMTypeRef i1, i8, i16, i32, i64, f16, f32, f64, ptr, none;
    LLVMTypeRef scalars[PS_SCALAR_END]; /* as values: u1 is i1, f16 and bf16 are i16 */
    LLVMValueRef fault_fn, called_fn, warn_fn, print_fn, parallel_fn;
    LLVMTypeRef fault_type, called_type, warn_type, print_type, parallel_type, task_type;
    LLVMValueRef math[PS_OP_COUNT][2]; /* external functions, f32 and f64 */
    FarFunction far[PS_OP_TAN_FAR - PS_OP_SIN_FAR + 1][2];
    LLVMValueRef ipow[PS_SCALAR_END]; /* internal functions, made when needed */
    PsVec(LateFunction) late;         /* the same, expanded when instcombine is done */
    LLVMBasicBlockRef late_back;      /* where emission goes on after one of them */
    unsigned md_parallel, md_loop, md_weights, md_invariant;
    LLVMMetadataRef cold_weights;

    FuncInfo *funcs;
    PsVec(ParforInfo) parfors;
    Uniform uniform;
    Home *homes;            /* of main's ops */
    LLVMDIBuilderRef lines; /* codegen_lines.c; NULL: nobody wants to know */
    LLVMMetadataRef lines_file;
    bool has_recursion, has_inlined, has_vars, has_loops, has_vector_loops; /* what the passes have to do */
    bool has_far;                                                           /* codegen_far.c made any */
    bool has_f16c, has_masks, has_lanes; /* of the target: AVX-512's registers; AVX2 and FMA */
    uint32_t *uses;                      /* of main's ops */
    uint8_t *how;                        /* of main's ops, in lanes; NULL: nobody asks */
    uint32_t result_word0, next_word;    /* of the frame */
    uint32_t next_emitter;
    uint32_t max_depth; /* of calls: less than PS_MAX_DEPTH when functions are large, for the stack */
} Codegen;

typedef struct Value {
    LLVMValueRef value;
    LLVMValueRef wide; /* an i32's value as i64, where it is known without a conversion */
    uint32_t emitter;  /* whose they are */
} Value;

typedef struct ArrayWords {
    LLVMValueRef data, shape[PS_MAX_AXES], strides[PS_MAX_AXES];
} ArrayWords;

/* Where break and continue go. */
typedef struct Target {
    LLVMBasicBlockRef next, leave;
    LLVMValueRef off,
        gone; /* in lanes: masks in memory, of lanes that are done with the iteration, with the loop;
                               NULL: jumps there are real ones */
    struct Target *outer;
} Target;

typedef enum EmitterKind { EMIT_MAIN, EMIT_TASK, EMIT_FUNC } EmitterKind;

typedef enum UpdateForm { EITHER_FORM, LOCKED_FORM, PLAIN_FORM } UpdateForm;

typedef struct Emitter {
    Codegen *cg;
    const PsFunc *f;
    EmitterKind kind;
    uint32_t id;
    FuncInfo *info;     /* of a function of the module */
    ParforInfo *parfor; /* of a task */
    LLVMValueRef fn, ts, frame;
    LLVMMetadataRef scope;   /* of lines, or NULL */
    LLVMBuilderRef b, entry; /* entry: adds to the entry block, before it is closed */
    LLVMBasicBlockRef body;
    Value *slots;
    LLVMValueRef *params; /* a function's scalar parameters */
    ArrayWords **arrays;  /* by parameter */
    Target *target;
    LLVMValueRef yielded;
    LLVMValueRef parallel;  /* loop id: accesses to arrays carry it; NULL: none */
    LLVMValueRef *stripes;  /* accumulators of a task's reductions, by slot */
    LLVMValueRef stripe;    /* which stripe the iteration adds to */
    LLVMValueRef interrupt; /* address of the flag to poll; NULL: not loaded yet */
    /* lanes: codegen_lane_*.c */
    unsigned width;             /* how many; 1 or 0: none, all values are scalars */
    LLVMValueRef mask;          /* vector of i1: the active lanes; NULL: all */
    LLVMValueRef tail, is_full; /* the mask of the whole body, or NULL; an i1: it has all lanes */
    LLVMBasicBlockRef skip;     /* where to go when no lane is active */
    bool left;                  /* all active lanes have jumped; nothing follows in the region */
    LLVMValueRef shared, moved[PS_MAX_SCATTERED]; /* of the task state, in tasks; NULL: not loaded yet */
    UpdateForm updates;                           /* of atomics: what is known of `shared` */
    unsigned together;                            /* atomics that come next and are emitted already */
    LLVMValueRef domain;                          /* main: the PsParfor it fills */
    LLVMValueRef scratch;                         /* words for prints and faults */
    uint32_t scratch_words;
    uint32_t nesting;
    uint64_t locals; /* bytes on the stack */
} Emitter;

typedef LLVMValueRef (*EmitFn)(Emitter *e, PsRef r);

/* codegen_module.c */
void cg_unsupported(Codegen *cg, uint32_t span, const char *format, ...) PS_PRINTF(3, 4);
void cg_too_many_locals(Codegen *cg, uint32_t span, int bytes);
uint32_t cg_site(Codegen *cg, PsFaultKind kind, uint32_t span);

/* codegen_target.c */
typedef struct Machine Machine;
Machine *cg_machine_take(const PsTarget *target, const char **out_error); /* NULL: *out_error says why */
void cg_machine_give(Machine *machine);
LLVMTargetMachineRef cg_machine_llvm(const Machine *machine);
void cg_optimise(Codegen *cg, LLVMTargetMachineRef machine);
/* Runs `work` so that a fatal error inside LLVM ends it: false and *out_error. */
bool cg_guarded(void (*work)(void *data), void *data, const char **out_error);

/* codegen_lines.c: nothing happens unless the request wants lines */
void cg_lines_open(Codegen *cg);
void cg_lines_function(Emitter *e);
void cg_lines_at(Emitter *e, uint32_t span); /* from here on instructions are of that line */
void cg_lines_close(Codegen *cg);

/* codegen_survey.c */
void cg_survey(Codegen *cg);
PsRef cg_owner(const PsFunc *f,
               PsRef r); /* the op whose region an op, or a region's parameter, is of; 0: the body */
bool cg_is_loop(const PsFunc *f, PsRef r);
bool cg_stays_scalar(const PsFunc *f, PsRef loop); /* LLVM must not make vectors of it */

/* codegen_uniform.c: false: it has no end in sight, or no memory */
bool cg_uniform_loop(Codegen *cg, PsRef parfor);
/* Whether lanes that are active where the region `outer` begins may be inactive at `r`, and want to go on after it. */
bool cg_lanes_part(const PsFunc *f, const Uniform *u, PsRef r, PsRegion outer);

/* codegen_lanes.c */
void cg_lanes_survey(
    Codegen *cg); /* `element` and `width` of each parfor; `serial` of those not worth vectors */

/* codegen_scatter.c */
bool cg_scatter_in_order(const Codegen *cg, PsRef parfor); /* of a deterministic module */
void cg_scatter_survey(Codegen *cg);                       /* after cg_lanes_survey */
void cg_scatter_record(Emitter *e, const ParforInfo *parfor, LLVMValueRef record); /* in main: fills it */
bool cg_scatter_together(Emitter *e, PsRef r); /* emits it, and those that e->together then counts */
bool cg_scatter_splits(const Emitter *e);      /* rows are emitted by the next */
void cg_scatter_row(Emitter *e, LLVMValueRef begin, LLVMValueRef end);

/* codegen_lane_value.c: values of W lanes */
static inline bool cg_in_lanes(const Emitter *e) { return e->width > 1; }
int64_t cg_lane_step(const Emitter *e, PsRef r); /* CG_UNEVEN: it is a vector */
LLVMValueRef cg_operand(Emitter *e, PsRef r,
                        uint32_t i); /* of an op that is computed: a vector where its result is one */
LLVMValueRef cg_lane_vector(Emitter *e, PsRef r); /* always a vector */
LLVMValueRef cg_lane_splat(Emitter *e, LLVMValueRef one);
LLVMValueRef cg_lane_scalar(Emitter *e, PsRef r, unsigned lane); /* of one lane; of places too */
LLVMValueRef cg_lane_places(Emitter *e,
                            PsRef place); /* a vector of addresses; NULL: one lane after the other, please */
LLVMTypeRef cg_lane_type(const Emitter *e, LLVMTypeRef element);
LLVMTypeRef cg_lane_mask_type(const Emitter *e);
LLVMValueRef cg_lane_mask(Emitter *e, LLVMValueRef i1s);  /* from a vector of i1 */
LLVMValueRef cg_lane_test(Emitter *e, LLVMValueRef mask); /* to one */
LLVMValueRef cg_lane_none(Emitter *e);
LLVMValueRef cg_lane_mask_new(Emitter *e); /* in memory */
LLVMValueRef cg_lane_mask_load(Emitter *e, LLVMValueRef at);
void cg_lane_mask_store(Emitter *e, LLVMValueRef mask, LLVMValueRef at); /* NULL: all lanes */
void cg_lane_mask_add(Emitter *e, LLVMValueRef mask, LLVMValueRef at);
LLVMValueRef cg_lane_and(Emitter *e, LLVMValueRef a, LLVMValueRef b);     /* NULL: all lanes */
LLVMValueRef cg_lane_without(Emitter *e, LLVMValueRef a, LLVMValueRef b); /* a (NULL: all) but not b */
LLVMValueRef cg_lane_bits(Emitter *e, LLVMValueRef mask);                 /* an integer of W bits */
LLVMValueRef cg_lane_any(Emitter *e, LLVMValueRef mask);                  /* i1 */
LLVMValueRef cg_lane_first(Emitter *e, LLVMValueRef n); /* the mask of the lanes below the i64 n */
LLVMValueRef cg_lane_select(Emitter *e, LLVMValueRef value, LLVMValueRef other); /* value in active lanes */

/* codegen_lane_memory.c */
LLVMValueRef cg_lane_var(Emitter *e, PsRef r);
LLVMValueRef cg_lane_elem(Emitter *e, PsRef r);
bool cg_lane_gathers(const Codegen *cg, PsType type); /* one instruction for elements at any places */
LLVMValueRef cg_lane_load(Emitter *e, PsRef r);
LLVMValueRef cg_lane_store(Emitter *e, PsRef r);
LLVMValueRef cg_lane_atomic(Emitter *e, PsRef r);
bool cg_lane_is_local(const Emitter *e, PsRef root); /* a local of the iteration that holds a value per lane */

void cg_note_access(const Emitter *e, PsRef r, unsigned how);

/* codegen_explain.c: the notes of `explain`, once everything is emitted */
void cg_explain(Codegen *cg);

/* codegen_lane_row.c */
void cg_lane_row(Emitter *e, LLVMValueRef begin, LLVMValueRef end); /* columns begin .. end */
void cg_lane_block(Emitter *e, LLVMValueRef at, LLVMValueRef n,
                   bool is_whole); /* at most PS_STRIPES; all of them */

/* codegen_lane_control.c */
LLVMValueRef cg_lane_if(Emitter *e, PsRef r);
LLVMValueRef cg_lane_for(Emitter *e, PsRef r);
LLVMValueRef cg_lane_while(Emitter *e, PsRef r);
LLVMValueRef cg_lane_jump(Emitter *e, PsRef r);

/* codegen_type.c */
void cg_types_init(Codegen *cg);
LLVMTypeRef cg_type_stored(const Codegen *cg, PsType scalar); /* as in memory: u1 is i8 */
uint64_t cg_type_bytes(const Codegen *cg, PsType value);      /* of a scalar or tile in memory */
LLVMTypeRef cg_type_bits(const Codegen *cg, PsType scalar);   /* the integer of its width in memory */
bool cg_is_half(PsType scalar);
bool cg_is_float(PsType scalar);
bool cg_is_signed(PsType scalar);
LLVMTypeRef cg_like(LLVMTypeRef element, LLVMValueRef shape); /* element, or a vector of it when shape is one */
unsigned cg_int_bits(LLVMValueRef value);                     /* of an integer, or of each in a vector */
LLVMValueRef cg_splat_of(LLVMValueRef vector); /* the constant that all elements are; NULL: none */
LLVMValueRef cg_const(const Codegen *cg, PsType scalar, uint64_t bits, LLVMTypeRef type);
LLVMValueRef cg_int(const Codegen *cg, LLVMTypeRef type, uint64_t value); /* also splats */
LLVMValueRef cg_real(const Codegen *cg, LLVMTypeRef type, double value);  /* also splats */
LLVMValueRef cg_to_stored(Emitter *e, PsType scalar, LLVMValueRef value);
LLVMValueRef cg_from_stored(Emitter *e, PsType scalar, LLVMValueRef stored);
LLVMValueRef cg_to_word(Emitter *e, PsType scalar, LLVMValueRef value); /* i64, zero-extended */
LLVMValueRef cg_from_word(Emitter *e, PsType scalar, LLVMValueRef word);
LLVMValueRef cg_intrinsic(Emitter *e, const char *name, LLVMTypeRef *types, unsigned ntypes, LLVMValueRef *args,
                          unsigned nargs);
LLVMValueRef cg_unary(Emitter *e, const char *intrinsic, LLVMValueRef a); /* overloaded on its operand */
/* The function of that name and type. *out_is_new: the builder stands in it; emit its value, then cg_late_return. */
LLVMValueRef cg_late_function(Emitter *e, const char *name, LLVMTypeRef type, bool *out_is_new);
void cg_late_return(Emitter *e, LLVMValueRef value);
/* It computes its value from its operands, and does nothing else. */
void cg_pure(const Codegen *cg, LLVMValueRef fn);
/* What was kept from being inlined is inlined by the next run of always-inline. */
void cg_expand(const Codegen *cg, LLVMValueRef fn);
void cg_attribute(const Codegen *cg, LLVMValueRef fn, const char *name, uint64_t value);

/* codegen_func.c */
void cg_declare_funcs(Codegen *cg);
void cg_emit_funcs(Codegen *cg);
void cg_emit_main(Codegen *cg);
bool cg_emitter_open(Emitter *e, Codegen *cg, const PsFunc *f, EmitterKind kind, LLVMValueRef fn, Value *slots);
void cg_emitter_close(Emitter *e);
LLVMValueRef cg_value(Emitter *e, PsRef r);
LLVMValueRef cg_arg(Emitter *e, PsRef r, uint32_t i); /* value of an op's operand */
LLVMValueRef cg_wide(Emitter *e, PsRef r);            /* an integer as i64 */
void cg_set(Emitter *e, PsRef r, LLVMValueRef value, LLVMValueRef wide);
const ArrayWords *cg_array(Emitter *e, PsRef array);
uint32_t cg_param_word(const PsFunc *f, uint32_t param); /* the first frame word of main's parameter */
LLVMValueRef cg_frame_word(Emitter *e, uint32_t word);   /* its address; in the entry block */

/* codegen_memory.c: the bytes between neighbours on each axis of a tile's place. False: unknown. */
bool cg_tile_strides(Emitter *e, PsRef place, LLVMValueRef *out);

/* codegen_op.c */
void cg_emit_op(Emitter *e, PsRef r);
LLVMValueRef cg_binary(Emitter *e, PsOpCode code, PsType type, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef cg_alloca(Emitter *e, LLVMTypeRef type, unsigned align);
LLVMValueRef cg_at(Emitter *e, LLVMValueRef base, uint64_t bytes); /* base + a constant */
LLVMValueRef cg_load_at(Emitter *e, LLVMTypeRef type, LLVMValueRef base, uint64_t bytes, unsigned align);
void cg_store_at(Emitter *e, LLVMValueRef value, LLVMValueRef base, uint64_t bytes, unsigned align);

/* Emitters by file; codegen_op.c has the table. */
LLVMValueRef cg_emit_int(Emitter *e, PsOpCode code, PsType type, LLVMValueRef *args);
LLVMValueRef cg_emit_float(Emitter *e, PsOpCode code, PsType type, LLVMValueRef *args);
LLVMValueRef cg_emit_compare(Emitter *e, PsOpCode code, PsType type, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef cg_emit_math(Emitter *e, PsOpCode code, PsType type,
                          LLVMValueRef *args); /* NULL: no math function */
/* codegen_far.c: of f32 or f64, or vectors of them; external: the function that large x are handed to. */
LLVMValueRef cg_emit_far(Emitter *e, PsOpCode code, PsType type, LLVMValueRef external, LLVMValueRef *args);
void cg_far_inline(Codegen *cg);
bool cg_is_math(PsOpCode code); /* a call of a math function */
LLVMValueRef cg_emit_ipow(Emitter *e, PsRef r);
LLVMValueRef cg_convert(Emitter *e, PsType from, PsType to, LLVMValueRef a);
LLVMValueRef cg_widen(Emitter *e, PsType half, LLVMValueRef a);  /* to f32 */
LLVMValueRef cg_narrow(Emitter *e, PsType half, LLVMValueRef a); /* from f32 */
LLVMValueRef cg_emit_cast(Emitter *e, PsRef r);
LLVMValueRef cg_emit_bitcast(Emitter *e, PsRef r);
LLVMValueRef cg_emit_arg(Emitter *e, PsRef r);
LLVMValueRef cg_emit_var(Emitter *e, PsRef r);
LLVMValueRef cg_emit_dim(Emitter *e, PsRef r);
LLVMValueRef cg_emit_place(Emitter *e, PsRef r);
LLVMValueRef cg_emit_elem(Emitter *e, PsRef r);
LLVMValueRef cg_emit_base(Emitter *e, PsRef r);
LLVMValueRef cg_emit_stride(Emitter *e, PsRef r);
LLVMValueRef cg_emit_ptradd(Emitter *e, PsRef r);
LLVMValueRef cg_emit_load(Emitter *e, PsRef r);
LLVMValueRef cg_emit_store(Emitter *e, PsRef r);
LLVMValueRef cg_emit_atomic(Emitter *e, PsRef r);
LLVMValueRef cg_emit_cas(Emitter *e, PsRef r);
LLVMValueRef cg_emit_address(Emitter *e, PsRef r);
LLVMValueRef cg_emit_volatile(Emitter *e, PsRef r);
LLVMValueRef cg_atomic(Emitter *e, PsOpCode code, PsType type, LLVMValueRef place, LLVMValueRef operand);
/* The atomic r on a place: none where its thread is alone. NULL where nobody wants the old value. */
LLVMValueRef cg_update(Emitter *e, PsRef r, LLVMValueRef place, LLVMValueRef operand);
PsOpCode cg_atomic_combine(PsOpCode code); /* 0: xchg, cas */
LLVMValueRef cg_emit_partial(Emitter *e, PsRef r);
LLVMValueRef cg_emit_if(Emitter *e, PsRef r);
LLVMValueRef cg_emit_for(Emitter *e, PsRef r);
LLVMValueRef cg_emit_while(Emitter *e, PsRef r);
LLVMValueRef cg_emit_jump(Emitter *e, PsRef r); /* break, continue, yield */
LLVMValueRef cg_emit_return(Emitter *e, PsRef r);
LLVMValueRef cg_emit_call(Emitter *e, PsRef r);
LLVMValueRef cg_emit_parfor(Emitter *e, PsRef r);
LLVMValueRef cg_emit_print(Emitter *e, PsRef r);
LLVMValueRef cg_emit_check(Emitter *e, PsRef r);
LLVMValueRef cg_emit_warn(Emitter *e, PsRef r);

/* codegen_control.c */
void cg_emit_region(Emitter *e, PsRegion region);
LLVMBasicBlockRef cg_block(Emitter *e, const char *name);
void cg_enter(Emitter *e, LLVMBasicBlockRef block); /* branches there unless ended; goes on in it */
bool cg_ended(Emitter *e);                          /* the current block has its terminator */
void cg_return_fault(Emitter *e);                   /* ends the block: 1, or a function's zero */
/* Branches to a block that returns after a fault when `stop` (i1) holds; goes on where it does not. */
void cg_stop_if(Emitter *e, LLVMValueRef stop);
void cg_branch_cold(Emitter *e, LLVMValueRef cond, LLVMBasicBlockRef hot, LLVMBasicBlockRef cold);
/* A loop over i64 from lo while != hi, rotated: begin ... body ... end. Guarded unless lo < hi is known. */
typedef struct Counter {
    LLVMBasicBlockRef head, latch, leave;
    LLVMValueRef phi, hi;
    uint64_t step;
    LLVMMetadataRef id; /* loop metadata or NULL */
} Counter;
void cg_count_begin(Emitter *e, Counter *c, LLVMValueRef lo, LLVMValueRef hi, uint64_t step, bool guarded);
void cg_count_end(Emitter *e, Counter *c);

/* codegen_poll.c: stopping long loops. */
void cg_poll_survey(Codegen *cg, uint32_t index);  /* of a function; its callees' surveys come first */
void cg_poll_conclude(const Codegen *cg);          /* whether the kernel may run for long */
bool cg_poll_each(const Emitter *e, PsRef loop);   /* its body begins with a poll */
bool cg_poll_chunks(const Emitter *e, PsRef loop); /* it is cut into chunks */
void cg_poll(Emitter *e);   /* returns from the function when the launch is interrupted */
#define CG_CHUNK      65536 /* iterations between two polls of a loop without loops in it */
#define CG_CHUNK_ROWS 64    /* rows of a parallel loop between two polls */
/* A loop from lo to hi as chunks [lo, end) of `most` iterations: begin .. a loop over the chunk .. end. */
typedef struct Chunks {
    LLVMBasicBlockRef head, leave;
    LLVMValueRef lo, end, hi;
} Chunks;
void cg_chunks_begin(Emitter *e, Chunks *chunks, LLVMValueRef lo, LLVMValueRef hi, uint64_t most);
void cg_chunks_end(Emitter *e, Chunks *chunks);

/* codegen_effect.c */
void cg_fault(Emitter *e, uint32_t site, LLVMValueRef *values, unsigned n); /* calls ps_rt_fault and returns */
LLVMValueRef cg_scratch(Emitter *e, uint32_t words);

/* codegen_parfor.c, codegen_partial.c */
void cg_emit_task(Codegen *cg, ParforInfo *parfor, Value *slots);
LLVMMetadataRef cg_rolled_loop(Codegen *cg); /* metadata of a loop that LLVM leaves as it is */
LLVMMetadataRef cg_scalar_loop(Codegen *cg); /* of one that it may unroll, but make no vectors of */
void cg_set_index(Emitter *e, PsRef param, LLVMValueRef wide);
void cg_emit_columns(Emitter *e, Counter *c, LLVMValueRef index,
                     bool vectors); /* the body and the end of its loop */
void cg_partials_row(Emitter *e, LLVMValueRef lo, LLVMValueRef col_lo, LLVMValueRef col_hi, bool many_rows);
void cg_partials_begin_leaf(Emitter *e);
void cg_partials_end_leaf(Emitter *e, LLVMValueRef parfor, LLVMValueRef leaf);
void cg_partials_combine(Emitter *e, const ParforInfo *parfor, LLVMValueRef domain);

#endif
