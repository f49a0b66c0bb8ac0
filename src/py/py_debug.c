/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests and the curious ask of a kernel: its IR, and its result by the evaluator, which shares nothing with code
 * generation.
 */
#include "passes/passes.h"
#include "py/decode_scalar.h"
#include "py/py_view.h"

#define EVALUATOR_STEPS ((uint64_t)1 << 32)

/* The passes that are rules of the language (contraction, the order of reductions, what checked mode checks), and those
 * before them that they see the work of: the grain, and so the order of a reduction, follows from what tiles and plain
 * leave. Pass tiles has random programs of its own (tests/diff/tiles.py). */
#define LANGUAGE_PASSES "contract,tiles,fold,reduce,plain,grain,check"

typedef struct Built { /* a front-end result for some arguments */
    PsParam *params;
    PyObject **args; /* one per parameter, borrowed, or a view of it */
    PyObject *held;  /* what some of them are borrowed from, or NULL */
    PyKernel *taken; /* whose views there are, or NULL */
    PsBuild build;
    bool built;
} Built;

static void built_free(Built *built) {
    if (built->built) ps_build_free(&built->build);
    if (built->taken) py_views_drop(built->taken, built->args);
    Py_XDECREF(built->held);
    PyMem_Free(built->params);
    PyMem_Free(built->args);
}

static int build(PyKernel *kernel, PyObject *const *given, Py_ssize_t nargs, PyObject *names, Built *out) {
    *out = (Built){0};
    if (py_kernel_prepare(kernel)) return -1;
    uint32_t nparams = kernel->signature.nparams;
    out->params = PyMem_Calloc(nparams + 1, sizeof *out->params);
    out->args = PyMem_Calloc(nparams + 1, sizeof *out->args);
    if (!out->params || !out->args) return PyErr_NoMemory(), -1;
    if (py_kernel_bind(kernel, given, nargs, names, out->args, &out->held) || py_views_take(kernel, out->args))
        return -1;
    out->taken = kernel;
    if (py_describe(kernel, out->args, out->params)) return -1;
    PsFrontOptions options = kernel->state->options;
    PsStatus status = py_front(kernel, &options, out->params, &out->build);
    out->built = true;
    if (status != PS_OK) py_build_raise(kernel->state, status, &out->build);
    return status == PS_OK ? 0 : -1;
}

static PyObject *take_text(PsBuf *text) {
    PyObject *result =
        text->failed ? PyErr_NoMemory()
                     : PyUnicode_DecodeUTF8(text->data ? text->data : "", (Py_ssize_t)text->len, "replace");
    ps_buf_free(text);
    return result;
}

PyObject *py_kernel_ir(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    Built built;
    PyObject *result = NULL;
    if (!build((PyKernel *)self, args, nargs, names, &built)) {
        PsBuf text = {0};
        ps_ir_print(built.build.module, false, &text);
        result = take_text(&text);
    }
    built_free(&built);
    return result;
}

/* The module of a build after passes ("fold,dce"), or what LLVM makes of it ("llvm", "asm"). */
static PsStatus text_of(const char *what, PsBuild *build, PsBuf *out) {
    const PsDriverOptions options = {.opt_level = 2};
    if (strcmp(what, "llvm") == 0 || strcmp(what, "asm") == 0)
        return ps_driver_text(build->module, &options, what, out, &build->diag);
    const char *names = strcmp(what, "all") == 0 ? NULL : what;
    PsStatus status = ps_passes_run(build->module, names, true, NULL, NULL, &build->diag);
    if (status == PS_OK) ps_ir_print(build->module, false, out);
    return status;
}

PyObject *py_kernel_text(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    const char *what = nargs && PyUnicode_Check(args[0]) ? PyUnicode_AsUTF8(args[0]) : NULL;
    if (!what)
        return PyErr_Format(PyExc_TypeError,
                            "_text(what, *args): what is 'llvm', 'asm', 'all' or names of passes");
    Built built;
    PyObject *result = NULL;
    if (!build((PyKernel *)self, args + 1, nargs - 1, names, &built)) {
        PsBuf text = {0};
        PsStatus status = text_of(what, &built.build, &text);
        if (status == PS_OK) {
            result = take_text(&text);
        } else {
            py_build_raise(((PyKernel *)self)->state, status, &built.build);
            ps_buf_free(&text);
        }
    }
    built_free(&built);
    return result;
}

/* -- evaluating -- */

static void eval_array(const uint64_t *words, int axes, PsArrayView *out) {
    out->data = (char *)(uintptr_t)words[0];
    out->ndim = axes;
    for (int k = 0; k < axes; k++) {
        out->shape[k] = (int64_t)words[1 + k];
        out->strides[k] = (int64_t)words[1 + axes + k];
    }
}

/* An array of structs: one argument for each of its arrays. */
static const uint64_t *eval_structs(const PyState *state, PyObject *like, const uint64_t *words, PsEvalArg *out,
                                    uint32_t *n) {
    if (!ps_is_structs(&state->types, like)) {
        int axes = ((PyNdarray *)like)->ndim + ((PyNdarray *)like)->edim;
        eval_array(words, axes, &out[(*n)++].array);
        return words + 1 + 2 * axes;
    }
    PyObject *members = ((PsStructFieldObject *)like)->members;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(members); i++)
        words = eval_structs(state, PyTuple_GET_ITEM(members, i), words, out, n);
    return words;
}

/* The words of a frame as the evaluator takes arguments. Template parameters are none. */
static uint32_t eval_args(const PyState *state, const PyPlan *plans, uint32_t nparams, const uint64_t *words,
                          PsEvalArg *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < nparams; i++) {
        const PyPlan *plan = &plans[i];
        if (plan->how == PY_HOW_TEMPLATE || plan->how == PY_HOW_OBJECT || plan->how == PY_HOW_UNUSED) continue;
        if (plan->how == PY_HOW_STRUCTS) {
            eval_structs(state, plan->field.like, words + plan->word, out, &n);
            continue;
        }
        uint32_t scalars = plan->how == PY_HOW_VALUE ? plan->form->words : 0;
        for (uint32_t k = 0; k < scalars; k++) out[n++].bits = words[plan->word + k];
        if (scalars) continue;
        PsEvalArg *arg = &out[n++];
        arg->bits = words[plan->word];
        if (plan->how == PY_HOW_ARRAY || plan->how == PY_HOW_FIELD || plan->how == PY_HOW_BUFFER)
            eval_array(words + plan->word, plan->ndim, &arg->array);
    }
    return n;
}

/* The arrays from outside come behind them. */
static uint32_t eval_fields(const PsBuild *build, PsEvalArg *out) {
    uint64_t words[1 + 2 * PS_MAX_AXES];
    for (uint32_t i = 0; i < build->nfields; i++) {
        const PyNdarray *array = (const PyNdarray *)build->fields[i];
        py_array_words(array, words);
        eval_array(words, array->ndim + array->edim, &out[i].array);
    }
    return build->nfields;
}

static PsSpan span_of(const void *module, uint32_t span) {
    const PsModule *m = module;
    return span < m->spans.len ? m->spans.data[span] : (PsSpan){0};
}

static int raise_eval(PyKernel *kernel, const PsModule *module, const PsEvalResult *result) {
    PySources sources = py_sources_of(module);
    if (result->out_of_steps) {
        py_error(kernel->state, PS_MSG_PY_STEPS,
                 PyUnicode_AsUTF8(((PyFunctionObject *)kernel->function)->func_name),
                 (unsigned long long)EVALUATOR_STEPS);
    } else {
        const PsEvalFault *found = &result->fault;
        PyFault fault = {
            found->kind, span_of(module, found->span), found->values, found->nvalues, found->calls, span_of,
            module};
        py_raise_fault(kernel->state, &sources, &fault);
    }
    return -1;
}

static PyObject *evaluate(PyKernel *kernel, PsBuild *build, const PsEvalArg *args, uint32_t nargs) {
    PsEvalResult result = {0};
    PyObject *value = NULL;
    PsStatus status = ps_passes_run(build->module, LANGUAGE_PASSES, false, NULL, NULL, &build->diag);
    if (status == PS_OK) status = ps_ir_eval(build->module, args, nargs, EVALUATOR_STEPS, &result);
    if (status != PS_OK) {
        py_build_raise(kernel->state, status, build);
    } else if (!py_write_stdout(result.printed.data ? result.printed.data : "", result.printed.len) &&
               !((result.faulted || result.out_of_steps) && raise_eval(kernel, build->module, &result))) {
        value = py_result(kernel->state, build->result, result.results);
    }
    ps_buf_free(&result.printed);
    return value;
}

/* What the evaluator needs beside the module. */
typedef struct Evaluation {
    PyPlan *plans;
    uint32_t nplans; /* of parameters and members */
    PyMember *members;
    PyObject **objects;
    uint64_t *words;
    PsEvalArg *args;
} Evaluation;

static void evaluation_free(Evaluation *e, const Built *built, uint32_t nparams) {
    uint32_t nmembers = e->nplans - nparams;
    if (e->plans) py_plans_drop(e->plans, e->nplans);
    py_members_close(e->objects, nparams, nmembers);
    if (e->members) py_members_drop(e->members, built->build.nmembers);
    PyMem_Free(e->plans);
    PyMem_Free(e->words);
    PyMem_Free(e->args);
}

/* Words, which are no fewer than the evaluator's arguments. */
static uint32_t words_of(const PyState *state, const PsParam *param) {
    bool many = param->kind == PS_PARAM_VALUE || param->kind == PS_PARAM_STRUCTS;
    return many ? py_param_words(state, param) : 0;
}

static int evaluation_make(PyKernel *kernel, Built *built, Evaluation *e) {
    uint32_t nparams = kernel->signature.nparams, words, scalars = 0;
    PsBuild *build = &built->build;
    e->nplans = nparams + build->nmembers;
    for (uint32_t i = 0; i < nparams; i++) scalars += words_of(kernel->state, &built->params[i]);
    for (uint32_t i = 0; i < build->nmembers; i++) scalars += words_of(kernel->state, &build->members[i].param);
    e->plans = PyMem_Calloc(e->nplans + 1, sizeof *e->plans);
    e->words = PyMem_Calloc((e->nplans + 1) * (1 + 2 * PS_MAX_AXES) + scalars, sizeof *e->words);
    e->args = PyMem_Calloc(e->nplans + build->nfields + 1 + scalars, sizeof *e->args);
    e->members = py_members_make(&build->arena, build);
    if (!e->plans || !e->words || !e->args || !e->members) return PyErr_NoMemory(), -1;
    py_plans_make(kernel->state, built->params, nparams, build, e->plans, &words);
    py_member_plans_make(kernel->state, build, &build->arena, words, e->plans + nparams);
    e->objects = py_members_open(kernel, e->plans, nparams, e->members, build->nmembers, built->args);
    int64_t elements;
    int fit = e->objects ? py_decode(kernel, e->plans, e->nplans, e->objects, e->words, &elements) : 0;
    if (fit == 0 && !PyErr_Occurred()) py_error(kernel->state, PS_MSG_PY_MISMATCH, "_evaluate");
    return fit == 1 ? 0 : -1;
}

PyObject *py_kernel_evaluate(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    PyKernel *kernel = (PyKernel *)self;
    Built built;
    Evaluation e = {0};
    PyObject *result = NULL;
    if (!build(kernel, args, nargs, names, &built) && !evaluation_make(kernel, &built, &e)) {
        uint32_t nparams = kernel->signature.nparams;
        uint32_t n = eval_args(kernel->state, e.plans, nparams, e.words, e.args);
        n += eval_fields(&built.build, e.args + n);
        n += eval_args(kernel->state, e.plans + nparams, e.nplans - nparams, e.words, e.args + n);
        result = evaluate(kernel, &built.build, e.args, n);
    }
    if (e.nplans) evaluation_free(&e, &built, kernel->signature.nparams);
    built_free(&built);
    return result;
}

/* -- times -- */

static int add_number(PyObject *dict, const char *name, uint64_t value) {
    PyObject *number = PyLong_FromUnsignedLongLong(value);
    int status = number ? PyDict_SetItemString(dict, name, number) : -1;
    Py_XDECREF(number);
    return status;
}

PyObject *py_kernel_times(PyObject *self, void *unused) {
    (void)unused;
    const PySpec *spec = ((PyKernel *)self)->specs;
    if (!spec) Py_RETURN_NONE;
    const PsDriverTimes *times = &spec->times;
    uint32_t count = 0;
    for (const PySpec *each = spec; each; each = each->next) count++;
    PyObject *dict = PyDict_New();
    if (!dict || add_number(dict, "specialisations", count) || add_number(dict, "front", spec->front_ns) ||
        add_number(dict, "key", times->key) || add_number(dict, "lookup", times->lookup) ||
        add_number(dict, "passes", times->passes) || add_number(dict, "llvm_open", times->llvm_open) ||
        add_number(dict, "codegen", times->codegen) || add_number(dict, "store", times->store) ||
        add_number(dict, "load", times->load) ||
        PyDict_SetItemString(dict, "from_process", times->from_process ? Py_True : Py_False) ||
        PyDict_SetItemString(dict, "from_store", times->from_store ? Py_True : Py_False))
        Py_CLEAR(dict);
    return dict;
}
