/* SPDX-License-Identifier: Apache-2.0
 *
 * The hot path: a call of a kernel -> its arguments' words in a frame on this stack -> main -> the result. The budget
 * stands in docs/launch.md: no allocation, no lock, no attribute look-up, no Python call when a launch is like the one
 * before. A launch that is not goes through the kernel's other specialisations, then to py_specialise.c.
 *
 * The caller holds references to the kernel and the arguments. A specialisation is pinned (py_specs.c) where Python code
 * may run or the GIL is free; a launch like the one before that does neither needs nothing.
 */
#include "py/decode_refuse.h"
#include "py/py_guard.h"
#include "py/py_interrupt.h"
#include "py/py_view.h"

/* Launches with more array elements than this, or with loops of unknown length, release the GIL: it costs 30 ns. */
#define GIL_ELEMENTS 32768
/* ... and with more than this, or loops of unknown length, they can be interrupted: it costs as much. */
#define INTERRUPT_ELEMENTS 1000000

/* -- arguments -- */

/* What becomes of one argument: the number of its array elements, 0 for a scalar; OTHER: it wants another
 * specialisation; LATER: it fits as far as can be seen without care, see decode_later. */
enum { OTHER = NUMPY_OTHER, LATER = NUMPY_REFUSED };

uint32_t py_array_words(const PyNdarray *array, uint64_t *words) {
    int axes = array->ndim + array->edim;
    words[0] = (uint64_t)(uintptr_t)array->data;
    for (int k = 0; k < axes; k++) {
        words[1 + k] = (uint64_t)array->shape[k];
        words[1 + axes + k] = (uint64_t)array->strides[k];
    }
    return 1 + 2 * (uint32_t)axes;
}

/* Whether the last axes are those of the elements; the words are filled. */
static bool elements_fit(const PyPlan *plan, const uint64_t *words) {
    const uint64_t *lengths = words + 1 + plan->ndim - plan->edim;
    for (int k = 0; k < plan->edim; k++)
        if (lengths[k] != (uint64_t)plan->eshape[k]) return false;
    return true;
}

static int64_t decode_ndarray(const PyNdarray *array, const PyPlan *plan, uint64_t *words) {
    int axes = array->ndim + array->edim;
    if (array->dtype != plan->dtype || axes != plan->ndim || array->unit != plan->unit) return OTHER;
    if (!plan->annotated && array->edim != plan->edim) return OTHER;
    py_array_words(array, words);
    return elements_fit(plan, words) ? array->size : OTHER;
}

static int64_t decode_field(const PyState *state, const PyPlan *plan, PyObject *arg, uint64_t *words) {
    if (!Py_IS_TYPE(arg, state->field_type)) return OTHER;
    const PyNdarray *field = (const PyNdarray *)arg, *like = (const PyNdarray *)plan->field.like;
    if (PS_UNLIKELY(plan->field.pins) && field != like) {
        if (plan->field.pins & PS_PIN_OBJECT) return OTHER;
        for (int k = 0; k < field->ndim && field->ndim == like->ndim; k++)
            if (field->shape[k] != like->shape[k]) return OTHER;
    }
    if (PS_UNLIKELY(field->shifted || like->shifted) &&
        (field->ndim != like->ndim || !ps_array_same_offset(field, like)))
        return OTHER;
    return decode_ndarray(field, plan, words);
}

#define OF_NUMPY (-3) /* of a class derived from numpy's: decode it as numpy's */

/* All arrays but numpy's own. What is held while the kernel runs comes here as a view, see py_view.h; the first time
 * it comes as it is, and wants call_slow. */
static __attribute__((noinline)) int64_t decode_other(PyState *state, const PyPlan *plan, PyObject *arg,
                                                      uint64_t *words) {
    const PyTypeObject *type = Py_TYPE(arg);
    if (type == state->ndarray_type || type == state->field_type)
        return ((const PyNdarray *)arg)->shifted ? OTHER : decode_ndarray((const PyNdarray *)arg, plan, words);
    const DlKnown *known = dlpack_known(&state->dlpack, type);
    if (known) return dlpack_decode(known, arg, plan, words);
    if (type == state->view_type) return view_decode((const PyView *)arg, plan, words);
    return numpy_check(&state->numpy, arg) && !numpy_is_masked(arg) ? OF_NUMPY : OTHER;
}

static PY_HOT int64_t decode_any(PyState *state, const PyPlan *plan, PyObject *arg, uint64_t *words) {
    if (PS_UNLIKELY(!Py_IS_TYPE(arg, state->numpy.type))) {
        int64_t count = decode_other(state, plan, arg, words);
        if (count != OF_NUMPY) return count;
    }
    return numpy_decode(&state->numpy, (const NumpyArray *)arg, plan->dtype, plan->ndim, plan->unit,
                        plan->array.descr, plan->array.required, plan->array.item, words);
}

/* Arrays of vectors and matrices: those of other libraries have them only where the annotation says so. */
static __attribute__((noinline)) int64_t decode_elements(PyState *state, const PyPlan *plan, PyObject *arg,
                                                         uint64_t *words) {
    bool ours = Py_IS_TYPE(arg, state->ndarray_type) || Py_IS_TYPE(arg, state->field_type);
    if (!ours && (!plan->annotated || plan->unit == PS_UNIT_SOA)) return OTHER;
    int64_t count = decode_any(state, plan, arg, words);
    return count >= 0 && !elements_fit(plan, words) ? OTHER : count;
}

static PY_HOT int64_t decode_array(PyState *state, const PyPlan *plan, PyObject *arg, uint64_t *words) {
    if (PS_UNLIKELY(plan->grad) && !py_has_grad(state, arg)) return OTHER;
    return PS_UNLIKELY(plan->edim) ? decode_elements(state, plan, arg, words)
                                   : decode_any(state, plan, arg, words);
}

int64_t py_decode_array(PyState *state, const PyPlan *plan, PyObject *arg, uint64_t *words) {
    return decode_array(state, plan, arg, words);
}

static PY_HOT bool decode_int(const PyPlan *plan, PyObject *arg, uint64_t *word) {
    int64_t value;
    if (PS_LIKELY(PyLong_CheckExact(arg))) {
        if (!scalar_small_int(arg, &value)) return false;
    } else if (arg == Py_True || arg == Py_False) {
        value = arg == Py_True;
    } else {
        return false;
    }
    if (value < plan->range.lo || value > plan->range.hi) return false;
    *word = (uint64_t)value & plan->range.mask;
    return true;
}

static PY_HOT bool decode_float(bool wide, PyObject *arg, uint64_t *word) {
    double value;
    int64_t integer;
    if (PyFloat_CheckExact(arg))
        value = PyFloat_AS_DOUBLE(arg);
    else if (PyLong_CheckExact(arg) && scalar_small_int(arg, &integer) && integer < (int64_t)1 << 53 &&
             integer > -((int64_t)1 << 53))
        value = (double)integer;
    else
        return false;
    *word = wide ? scalar_f64_bits(value) : scalar_f32_bits(value);
    return true;
}

/* Arguments that are neither arrays nor numbers. */
static __attribute__((noinline)) int64_t decode_rare(PyState *state, const PyPlan *plan, PyObject *arg,
                                                     uint64_t *word) {
    switch (plan->how) {
    case PY_HOW_LIKE: return Py_TYPE(arg) == Py_TYPE(plan->value) ? 0 : OTHER;
    case PY_HOW_FIELD: return decode_field(state, plan, arg, word);
    case PY_HOW_BUFFER:
        return Py_IS_TYPE(arg, state->buffer_view_type)
                   ? decode_ndarray(((PyBufferView *)arg)->view, plan, word)
                   : OTHER;
    case PY_HOW_STRUCTS: return py_decode_structs(state, plan, arg, word);
    case PY_HOW_VALUE: return py_form_quick(state, plan->form, arg, word) ? 0 : LATER;
    case PY_HOW_OBJECT: return Py_IS_TYPE(arg, plan->class) ? 0 : OTHER;
    case PY_HOW_UNUSED: return 0;
    default: return LATER;
    }
}

/* Compares, not a jump table: each argument of a kernel then has branches of its own to be predicted. As few as these, since
 * gcc makes a table of more. */
static PY_HOT int64_t decode_one(PyState *state, const PyPlan *plan, PyObject *arg, uint64_t *words) {
    uint64_t *word = words + plan->word;
    if (plan->how == PY_HOW_ARRAY) return decode_array(state, plan, arg, word);
    if (plan->how == PY_HOW_INT) return PS_LIKELY(decode_int(plan, arg, word)) ? 0 : LATER;
    if (plan->how <= PY_HOW_F32) return PS_LIKELY(decode_float(plan->how == PY_HOW_F64, arg, word)) ? 0 : LATER;
    if (plan->how == PY_HOW_TEMPLATE)
        return arg == plan->value || py_template_same(arg, plan->value) ? 0 : OTHER;
    return decode_rare(state, plan, arg, word);
}

static ScalarPlace place_of(PyKernel *kernel, const PyPlan *plans, uint32_t i) {
    const char *where = plans[i].where;
    return where ? (ScalarPlace){.what = where} : (ScalarPlace){kernel, i, NULL};
}

/* What was left for later, once all else fits: scalars that are no plain int or float, whose decoding may run Python
 * code of their class; then the arrays once more, since that code may have resized them; then refusals. */
static PY_COLD int decode_later(PyKernel *kernel, const PyPlan *plans, uint32_t nparams, PyObject *const *args,
                                uint64_t *words, int64_t *elements) {
    PyState *state = kernel->state;
    for (uint32_t i = 0; i < nparams; i++) {
        ScalarPlace place = place_of(kernel, plans, i);
        if (plans[i].how == PY_HOW_ARRAY || plans[i].how == PY_HOW_FIELD || plans[i].how == PY_HOW_STRUCTS ||
            plans[i].how == PY_HOW_BUFFER || decode_one(state, &plans[i], args[i], words) != LATER)
            continue;
        uint64_t *word = words + plans[i].word;
        if (plans[i].how == PY_HOW_VALUE ? py_form_read(state, plans[i].form, args[i], &place, word)
                                         : scalar_decode(state, plans[i].dtype, args[i], &place, word))
            return -1;
    }
    *elements = 0;
    for (uint32_t i = 0; i < nparams; i++) {
        if (plans[i].how == PY_HOW_BUFFER) *elements += ((const PyBufferView *)args[i])->view->size;
        if (plans[i].how == PY_HOW_FIELD) *elements += ((const PyNdarray *)args[i])->size;
        if (plans[i].how == PY_HOW_STRUCTS) *elements += py_structs_size(state, args[i]);
        if (plans[i].how != PY_HOW_ARRAY) continue;
        int64_t count = decode_array(state, &plans[i], args[i], words + plans[i].word);
        ScalarPlace place = place_of(kernel, plans, i);
        if (count == LATER) return refuse_array(state, &place, args[i]);
        if (count == OTHER) return 0;
        *elements = (int64_t)((uint64_t)*elements + (uint64_t)count);
    }
    return 1;
}

/* 1 or 0; LATER: decode_later decides. */
static PY_HOT int decode(PyKernel *kernel, const PyPlan *plans, uint32_t nparams, PyObject *const *args,
                         uint64_t *words, int64_t *elements) {
    bool later = false;
    uint64_t total = 0;
    for (uint32_t i = 0; i < nparams; i++) {
        int64_t count = decode_one(kernel->state, &plans[i], args[i], words);
        if (PS_UNLIKELY(count == OTHER)) return 0;
        later |= count < 0;
        total += (uint64_t)count;
    }
    *elements = (int64_t)total;
    return PS_LIKELY(!later) ? 1 : LATER;
}

/* The same where members are among them. */
static __attribute__((noinline)) int decode_all(PyKernel *kernel, const PyPlan *plans, uint32_t n,
                                                PyObject *const *objects, uint64_t *words, int64_t *elements) {
    for (uint32_t i = 0; i < n; i++)
        if (plans[i].class && PS_UNLIKELY(!Py_IS_TYPE(objects[i], plans[i].class))) return 0;
    return decode(kernel, plans, n, objects, words, elements);
}

int py_decode(PyKernel *kernel, const PyPlan *plans, uint32_t n, PyObject *const *args, uint64_t *words,
              int64_t *elements) {
    int fit = decode_all(kernel, plans, n, args, words, elements);
    return fit == LATER ? decode_later(kernel, plans, n, args, words, elements) : fit;
}

/* -- running -- */

PyObject *py_result(const PyState *state, const PsForm *form, const uint64_t *words) {
    return form ? py_form_encode(state, form, words) : Py_NewRef(Py_None);
}

int py_write_stdout(const char *text, size_t len) {
    PyObject *out = PySys_GetObject("stdout");
    if (!out || out == Py_None || !len) return 0;
    Py_INCREF(out);
    PyObject *string = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "replace");
    PyObject *result = string ? PyObject_CallMethod(out, "write", "O", string) : NULL;
    Py_DECREF(out);
    Py_XDECREF(string);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

static PsSpan span_of_site(const void *spec, uint32_t site) {
    const PsObject *object = &((const PySpec *)spec)->exe->object;
    return site < object->nsites ? object->sites[site].span : (PsSpan){0};
}

static int raise_stopped(PyKernel *kernel, const PySpec *spec, const PsLaunch *launch) {
    if (launch->out_of_memory) {
        PyErr_NoMemory();
    } else if (launch->fault.set && launch->fault.site < spec->exe->object.nsites) {
        const PsObjectSite *site = &spec->exe->object.sites[launch->fault.site];
        PyFault fault = {
            site->kind,   site->span, launch->fault.values, launch->fault.nvalues, launch->fault.calls,
            span_of_site, spec};
        py_raise_fault(kernel->state, &spec->sources, &fault);
    } else if (!PyErr_CheckSignals()) {
        py_error(kernel->state, PS_MSG_PY_INTERRUPTED,
                 PyUnicode_AsUTF8(((PyFunctionObject *)kernel->function)->func_name));
    }
    return -1;
}

/* Also with an exception set, which stays. -1: it failed, with its own exception if there was none. */
static int write_prints(PsLaunch *launch) {
    PsBuf text = {0};
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    ps_launch_take_prints(launch, &text);
    int status = py_write_stdout(text.data ? text.data : "", text.len);
    ps_buf_free(&text);
    if (type) PyErr_Restore(type, value, traceback);
    return status;
}

/* Of the sites where integers overflowed, each once; option `print` tells of each launch. */
static int warn_overflow(PyKernel *kernel, PySpec *spec, const PsLaunch *launch) {
    const PsObject *object = &spec->exe->object;
    bool always = kernel->state->options.overflow == PS_OVERFLOW_PRINT;
    for (uint32_t i = 0; i < object->nsites; i++) {
        if (!ps_launch_warned(launch, i)) continue;
        if (!spec->warned) spec->warned = ps_arena_alloc(&spec->arena, object->nsites);
        if (!spec->warned) return PyErr_NoMemory(), -1;
        if (spec->warned[i] && !always) continue;
        spec->warned[i] = true;
        if (py_warn_overflow(kernel->state, &spec->sources, (PsFaultKind)object->sites[i].kind,
                             object->sites[i].span))
            return -1;
    }
    return 0;
}

/* What is seldom: signals that came during a long launch, prints, faults, scratch to free. Signals first: sys.stdout may
 * be Python code, and what a handler raises in there would take the text with it. -1 with an exception. */
static PY_COLD int finish(PyKernel *kernel, PySpec *spec, PsLaunch *launch, int32_t stopped) {
    int status = PyErr_Occurred() || PyErr_CheckSignals() ? -1 : 0;
    if (launch->prints && !status) status = warn_overflow(kernel, spec, launch);
    if (launch->prints && write_prints(launch)) status = -1;
    if (stopped && !status) status = raise_stopped(kernel, spec, launch);
    ps_launch_end(launch);
    return status;
}

typedef struct Run {
    PsMainFn main;
    PsFrame *frame;
    int32_t stopped;
} Run;

static void run_main(void *at) {
    Run *run = at;
    run->stopped = run->main(run->frame);
}

/* Without the GIL. -1: an exception that was there before. */
static PY_COLD int32_t run_long(const PySpec *spec, PsFrame *frame, PsLaunch *launch, bool interruptible) {
    Run run = {spec->main, frame, 1};
    bool recursive = spec->exe->flags & PS_OBJECT_RECURSIVE, ran;
    const volatile int32_t *flag = interruptible ? py_interrupt_flag() : NULL;
    if (flag) launch->main.interrupt = flag;
    if (flag && PyErr_CheckSignals()) return -1; /* what came before the flag was cleared */
    Py_BEGIN_ALLOW_THREADS ran = ps_rt_with_stack(recursive ? PS_RECURSION_STACK : 0, run_main, &run);
    Py_END_ALLOW_THREADS launch->out_of_memory |= !ran;
    return run.stopped;
}

static PyObject *result_of(const PyKernel *kernel, const PySpec *spec, const PsFrame *frame) {
    const uint64_t *words = &frame->words[spec->result_word];
    if (!spec->form) return Py_NewRef(Py_None);
    if (PS_LIKELY(spec->result)) return scalar_encode(spec->result, *words);
    return py_form_encode(kernel->state, spec->form, words);
}

/* What runs Python code or goes without the GIL: the specialisation is pinned. */
static PY_COLD PyObject *finish_pinned(PyKernel *kernel, PySpec *spec, PsLaunch *launch, int32_t stopped) {
    py_spec_pin(spec);
    PyObject *result =
        finish(kernel, spec, launch, stopped) ? NULL : result_of(kernel, spec, launch->main.frame);
    py_spec_unpin(spec);
    return result;
}

/* Another thread may give the names that the arrays were found by to others: these must live until the launch ends. */
static int hold_fields(const PySpec *spec, PyObject ***out) {
    *out = NULL;
    if (!spec->nfields) return 0;
    *out = PyMem_Malloc(spec->nfields * sizeof **out);
    if (!*out) return PyErr_NoMemory(), -1;
    for (uint32_t i = 0; i < spec->nfields; i++) (*out)[i] = Py_NewRef(spec->fields[i]);
    return 0;
}

static void drop_fields(const PySpec *spec, PyObject **held) {
    for (uint32_t i = 0; held && i < spec->nfields; i++) Py_DECREF(held[i]);
    PyMem_Free(held);
}

static PY_COLD PyObject *launch_long(PyKernel *kernel, PySpec *spec, PsFrame *frame, int64_t elements) {
    int64_t most = spec->nested ? GIL_ELEMENTS : INTERRUPT_ELEMENTS;
    PyObject *result = NULL;
    PsLaunch launch;
    PyObject **held;
    if (hold_fields(spec, &held)) return NULL;
    ps_launch_begin(&launch, frame);
    py_spec_pin(spec);
    int32_t stopped = run_long(spec, frame, &launch, elements > most || spec->unbounded);
    if (stopped < 0) /* it did not run */
        ps_launch_end(&launch);
    else if (!finish(kernel, spec, &launch, stopped))
        result = result_of(kernel, spec, frame);
    drop_fields(spec, held);
    py_spec_unpin(spec);
    return result;
}

/* The arrays from outside, as they lie in the specialisation; gives their number of elements. */
static PY_HOT int64_t copy_fields(const PySpec *spec, PsFrame *frame) {
    uint64_t *words = frame->words + spec->field_word;
    for (uint32_t i = 0; i < spec->nfield_words; i++) words[i] = spec->field_words[i];
    return spec->field_elements;
}

static PY_HOT PyObject *launch(PyKernel *kernel, PySpec *spec, PsFrame *frame, int64_t elements) {
    if (spec->nfield_words) elements = (int64_t)((uint64_t)elements + (uint64_t)copy_fields(spec, frame));
    if (PS_UNLIKELY(elements > GIL_ELEMENTS || spec->unbounded))
        return launch_long(kernel, spec, frame, elements);
    PsLaunch launch;
    ps_launch_begin(&launch, frame);
    int32_t stopped = spec->main(frame);
    if (PS_UNLIKELY(stopped || launch.prints || launch.partials))
        return finish_pinned(kernel, spec, &launch, stopped);
    return result_of(kernel, spec, frame);
}

/* -- calls -- */

typedef union SmallFrame {
    PsFrame frame;
    uint64_t words[1 + PS_FRAME_STACK_WORDS];
} SmallFrame;

/* After Python code ran: other threads may have launched what is shared for another instance, and changed the fields in
 * it. As try_spec. */
static int still_fits(PySpec *spec, PyObject *const *args) {
    if (PS_LIKELY(!spec->shared) || py_guard_holds(spec, args)) return 1;
    return PyErr_Occurred() ? -1 : 0;
}

/* Tries one specialisation, pinned: 1 and *result, 0: it does not fit, -1: exception. */
static int try_spec(PyKernel *kernel, PySpec *spec, PyObject *const *args, PyObject **result) {
    SmallFrame small;
    PsFrame *frame = &small.frame;
    int64_t elements;
    if (spec->frame_words > PS_FRAME_STACK_WORDS) {
        frame = PyMem_Malloc(sizeof *frame + (size_t)spec->frame_words * sizeof frame->words[0]);
        if (!frame) return PyErr_NoMemory(), -1;
    }
    uint32_t nparams = spec->nparams, n = spec->nmembers;
    PyObject **objects = n ? py_members_open(kernel, spec->plans, nparams, spec->members, n, args) : NULL;
    int fit = PyErr_Occurred() ? -1 : 0;
    if (objects || !n)
        fit = decode_all(kernel, spec->plans, nparams + n, objects ? objects : args, frame->words, &elements);
    bool ran = objects || fit == LATER;
    if (fit == LATER)
        fit = decode_later(kernel, spec->plans, nparams + n, objects ? objects : args, frame->words, &elements);
    if (fit == 1 && ran) fit = still_fits(spec, args);
    if (fit == 1) {
        py_specs_use(kernel, spec);
        *result = launch(kernel, spec, frame, elements);
        if (!*result) fit = -1;
    }
    py_members_close(objects, nparams, n);
    if (frame != &small.frame) PyMem_Free(frame);
    return fit;
}

static bool may_fit(const PyKernel *kernel, PySpec *spec, PyObject *const *args) {
    return spec->options_word == kernel->state->options_word && py_guard_holds(spec, args);
}

/* The same with the one that template arguments had the last time. */
static int try_hint(PyKernel *kernel, PyObject *const *args, PyObject **result) {
    PySpec *spec = py_specs_find(kernel, args);
    if (!spec) return 0;
    py_spec_pin(spec);
    int fit = may_fit(kernel, spec, args) ? try_spec(kernel, spec, args, result) : PyErr_Occurred() ? -1 : 0;
    py_spec_unpin(spec);
    return fit;
}

/* The same with all of a kernel's that may fit. */
static int try_specs(PyKernel *kernel, PyObject *const *args, PyObject **result) {
    int fit = 0;
    PySpec *spec = kernel->specs;
    if (spec) py_spec_pin(spec);
    while (spec) {
        uint32_t drops = kernel->drops;
        if (may_fit(kernel, spec, args))
            fit = try_spec(kernel, spec, args, result);
        else if (PyErr_Occurred())
            fit = -1;
        if (fit == 1) py_specs_note(kernel, args, spec);
        PySpec *next = fit ? NULL : drops == kernel->drops ? spec->next : kernel->specs;
        if (next) py_spec_pin(next);
        py_spec_unpin(spec);
        spec = next;
    }
    return fit;
}

#define BOUND_ON_STACK 32

/* Anything but a launch like the last one. */
static PY_COLD PyObject *call_slow(PyKernel *kernel, PyObject *const *given, Py_ssize_t nargs,
                                   PyObject *names) {
    PyObject *result = NULL, *held = NULL, *few[BOUND_ON_STACK], **args = few;
    if (PyErr_Occurred()) return NULL; /* of the guard */
    if (kernel->state->mode.on) return py_mode_call(kernel, given, nargs, names);
    int fit =
        kernel->nhints && !names && nargs == kernel->signature.nparams ? try_hint(kernel, given, &result) : 0;
    if (fit) return result;
    if (py_kernel_prepare(kernel)) return NULL;
    uint32_t nparams = kernel->signature.nparams;
    if (nparams > BOUND_ON_STACK && !(args = PyMem_Malloc(nparams * sizeof *args))) return PyErr_NoMemory();
    bool taken = !py_kernel_bind(kernel, given, nargs, names, args, &held) && !py_views_take(kernel, args);
    fit = taken ? 0 : -1;
    if (fit == 0) fit = try_specs(kernel, args, &result);
    PySpec *spec = fit == 0 ? py_specialise(kernel, args) : NULL;
    if (spec) {
        py_specs_note(kernel, args, spec);
        fit = try_spec(kernel, spec, args, &result);
        if (fit == 0)
            py_error(kernel->state, PS_MSG_PY_MISMATCH,
                     PyUnicode_AsUTF8(((PyFunctionObject *)kernel->function)->func_name));
        py_spec_unpin(spec);
    }
    if (taken) py_views_drop(kernel, args);
    Py_XDECREF(held);
    if (args != few) PyMem_Free(args);
    return result;
}

/* As the last launch, but for arguments that may run Python code of their class. */
static PY_COLD PyObject *call_later(PyKernel *kernel, PySpec *spec, PsFrame *frame, PyObject *const *args) {
    PyObject *result = NULL;
    int64_t elements;
    py_spec_pin(spec);
    int fit = decode_later(kernel, spec->plans, spec->nparams, args, frame->words, &elements);
    if (fit == 1) fit = still_fits(spec, args);
    if (fit == 1) result = launch(kernel, spec, frame, elements);
    if (fit == 0) result = call_slow(kernel, args, spec->nparams, NULL);
    py_spec_unpin(spec);
    return result;
}

#define OBJECTS_ON_STACK 64

/* As the last launch, with members of objects to be read: they are held until it is over. */
static __attribute__((noinline)) PyObject *call_members(PyKernel *kernel, PySpec *spec, PyObject *const *args) {
    uint32_t nparams = spec->nparams, n = spec->nmembers, have = 0;
    PyObject *objects[OBJECTS_ON_STACK], *result = NULL;
    SmallFrame small;
    int64_t elements;
    int fit = 0;
    if (nparams + n > OBJECTS_ON_STACK) return call_slow(kernel, args, nparams, NULL);
    for (uint32_t i = 0; i < nparams; i++) objects[i] = args[i];
    py_spec_pin(spec);
    for (; have < n; have++) {
        const PyMember *member = &spec->members[have];
        PyObject *found = member->used ? py_member_get(member, objects) : Py_NewRef(Py_None);
        if (PS_UNLIKELY(!found)) break;
        objects[nparams + have] = found;
    }
    if (PS_LIKELY(have == n))
        fit = decode_all(kernel, spec->plans, nparams + n, objects, small.frame.words, &elements);
    else if (!PyErr_ExceptionMatches(PyExc_AttributeError))
        fit = -1;
    else
        PyErr_Clear();
    if (PS_UNLIKELY(fit == LATER))
        fit = decode_later(kernel, spec->plans, nparams + n, objects, small.frame.words, &elements);
    if (PS_LIKELY(fit == 1)) fit = still_fits(spec, args);
    if (PS_LIKELY(fit == 1)) result = launch(kernel, spec, &small.frame, elements);
    while (have) Py_DECREF(objects[nparams + --have]);
    if (PS_UNLIKELY(fit == 0)) result = call_slow(kernel, args, nparams, NULL);
    py_spec_unpin(spec);
    return result;
}

static PY_HOT PyObject *call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
    PyKernel *kernel = (PyKernel *)self;
    PySpec *spec = kernel->last;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (PS_UNLIKELY(!spec || names || nargs != spec->nparams ||
                    spec->options_word != kernel->state->options_word ||
                    spec->frame_words > PS_FRAME_STACK_WORDS || !py_guard_holds(spec, args)))
        return call_slow(kernel, args, nargs, names);
    if (PS_UNLIKELY(spec->nmembers)) return call_members(kernel, spec, args);
    SmallFrame small;
    int64_t elements;
    int fit = decode(kernel, spec->plans, spec->nparams, args, small.frame.words, &elements);
    if (PS_LIKELY(fit == 1)) return launch(kernel, spec, &small.frame, elements);
    return fit == 0 ? call_slow(kernel, args, nargs, names) : call_later(kernel, spec, &small.frame, args);
}

/* All of a call is computed in the default floating-point mode, whatever this thread is set to: arguments are rounded
 * and constants folded as the language says. */
PyObject *py_kernel_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
    uint64_t mode = ps_rt_fp_enter();
    PyObject *result = call(self, args, nargsf, names);
    ps_rt_fp_leave(mode);
    return result;
}
