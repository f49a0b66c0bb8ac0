/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments that no specialisation fits -> what each of them is -> front end -> driver -> a new specialisation. Here
 * too every argument gets its refusal when it cannot be one.
 */
#include "py/decode_refuse.h"
#include "py/decode_scalar.h"
#include "py/py_guard.h"
#include "py/py_interrupt.h"
#include "py/py_matrix.h"
#include "py/py_ndarray.h"
#include "py/py_view.h"

#include <stdlib.h>
#include <time.h>

/* -- template arguments -- */

static bool same_tuple(PyObject *a, PyObject *b) {
    if (PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); i++)
        if (!py_template_same(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) return false;
    return true;
}

static bool same_struct(const PsStructObject *a, const PsStructObject *b) {
    if (a->type != b->type) return false;
    for (Py_ssize_t i = 0; i < Py_SIZE(a); i++)
        if (!py_template_same(a->values[i], b->values[i])) return false;
    return true;
}

bool py_template_same(PyObject *a, PyObject *b) {
    if (a == b) return true;
    if (Py_TYPE(a) != Py_TYPE(b)) return false; /* 1, 1.0 and True make different programs */
    if (PyFloat_CheckExact(a))                  /* by bits: -0.0 is not 0.0, and a NaN is itself */
        return scalar_f64_bits(PyFloat_AS_DOUBLE(a)) == scalar_f64_bits(PyFloat_AS_DOUBLE(b));
    if (PyLong_CheckExact(a)) return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
    if (PyUnicode_CheckExact(a)) return PyUnicode_Compare(a, b) == 0;
    if (PyTuple_CheckExact(a)) return same_tuple(a, b);
    if (matrix_check(a)) return ps_same_matrix((PsMatrixObject *)a, (PsMatrixObject *)b);
    return py_struct_check(a) && same_struct((PsStructObject *)a, (PsStructObject *)b);
}

static void plan_array(const PyState *state, PyPlan *plan, const PsParam *param, bool writes);

/* -- what an argument is -- */

static int refuse_array_type(const PyState *state, PyObject *arg, const char *name) {
    if (py_refuse_proxy(state, arg)) return -1;
    const char *hint = PyObject_HasAttrString(arg, "__array__")  ? "; pass numpy.asarray(...) of it"
                       : PyList_Check(arg) || PyTuple_Check(arg) ? "; make it an array with numpy.array(...)"
                                                                 : "";
    py_error(state, PS_MSG_PY_ARRAY_TYPE, name, Py_TYPE(arg)->tp_name, hint);
    return -1;
}

static int refuse_element(const PyState *state, const NumpyArray *array, const char *name) {
    PyObject *text = PyObject_Str(array->descr);
    const char *dtype = text ? PyUnicode_AsUTF8(text) : NULL;
    if (!dtype) PyErr_Clear();
    const char *hint = "", *numbers = "biuf";
    if (dtype && (dtype[0] == '>' || dtype[0] == '<') && strchr(numbers, dtype[1]))
        hint = " (bytes in the other order; pass a copy in native order)";
    if (dtype && strncmp(dtype, "complex", 7) == 0) hint = " (pass its .real and .imag)";
    py_error(state, PS_MSG_PY_ARRAY_ELEMENT, name, dtype ? dtype : "?", hint);
    Py_XDECREF(text);
    return -1;
}

static int describe_numpy(PyState *state, PyObject *arg, const char *name, PsParam *out) {
    const NumpyArray *array = (const NumpyArray *)arg;
    if (numpy_is_masked(arg)) return py_error(state, PS_MSG_PY_ARRAY_MASKED, name), -1;
    if (array->nd > PS_MAX_AXES) return py_error(state, PS_MSG_PY_ARRAY_AXES, name, array->nd, PS_MAX_AXES), -1;
    out->dtype = numpy_element(&state->numpy, array);
    if (out->dtype == PS_KIND_NONE) return refuse_element(state, array, name);
    out->ndim = array->nd;
    out->unit = numpy_unit(array, ps_scalar_size(out->dtype));
    return 0;
}

/* The lengths of the last axes, which have to be the annotation's. */
static int read_trailing(PyState *state, PyObject *arg, const char *name, const PsElement *element,
                         PsParam *out) {
    uint64_t words[1 + 2 * PS_MAX_AXES];
    PsParam plain = *out;
    PyPlan plan = {.dtype = (uint8_t)out->dtype};
    plain.ndim = out->ndim + out->edim;
    plain.edim = 0;
    plain.annotated = true;
    plan_array(state, &plan, &plain, false);
    if (py_decode_array(state, &plan, arg, words) < 0)
        return 0; /* refused with its reason when it is launched */
    for (int k = 0; k < out->edim; k++) {
        int64_t length = (int64_t)words[1 + out->ndim + k], wanted = element->eshape[k];
        if (out->annotated && wanted >= 0 && wanted != length) {
            py_error(state, PS_MSG_PY_ARRAY_ESHAPE, name, (long long)wanted, out->ndim + k, (long long)length);
            return -1;
        }
        out->eshape[k] = length;
    }
    return 0;
}

/* Of all axes those of the elements, as the annotation or an array of ours has them. */
static int describe_elements(PyState *state, const PyParam *param, PyObject *arg, const char *name,
                             PsParam *out) {
    PsElement element;
    bool ours = Py_IS_TYPE(arg, state->ndarray_type) || Py_IS_TYPE(arg, state->field_type);
    int all = out->ndim;
    ps_front_annotated_element(&state->types, &state->options, param->annotation, &element);
    if (element.dtype && element.dtype != out->dtype) {
        py_error(state, PS_MSG_PY_ARRAY_DTYPE, name, ps_scalar_name(element.dtype), ps_scalar_name(out->dtype));
        return -1;
    }
    out->annotated = element.edim >= 0;
    out->edim = out->annotated ? element.edim : ours ? ((PyNdarray *)arg)->edim : 0;
    out->ndim = all - out->edim;
    if (ours && out->annotated && ((PyNdarray *)arg)->edim && ((PyNdarray *)arg)->edim != element.edim)
        return refuse_elements(state, name, out->dtype, element.edim, ((PyNdarray *)arg)->edim);
    if (out->ndim < 0 || (param->ndim >= 0 && param->ndim != out->ndim))
        return refuse_rank(state, param, name, out->edim, all);
    return out->edim ? read_trailing(state, arg, name, &element, out) : 0;
}

int py_refuse_offset(const PyState *state, PyObject *arg, const char *name) {
    PyObject *offset = PyObject_GetAttrString(arg, "offset"), *repr = offset ? PyObject_Repr(offset) : NULL;
    const char *text = repr ? PyUnicode_AsUTF8(repr) : NULL;
    if (text) py_error(state, PS_MSG_PY_ARRAY_OFFSET, name, text);
    Py_XDECREF(repr);
    Py_XDECREF(offset);
    return -1;
}

static int describe_array(PyKernel *kernel, const PyParam *param, PyObject *arg, const char *name,
                          PsParam *out) {
    PyState *state = kernel->state;
    ScalarPlace place = {.what = name};
    out->given = arg;
    out->annotation = param->annotation;
    int structs = py_describe_array_of_structs(state, param, arg, name, out);
    if (structs) return structs < 0 ? -1 : 0;
    if (param->needs_grad && !py_has_grad(state, arg))
        return py_error(state, PS_MSG_PY_ARRAY_NO_GRAD, name), -1;
    int known = py_view_describe(state, arg, &place, out);
    if (known < 0) return -1;
    if (Py_IS_TYPE(arg, state->ndarray_type) || Py_IS_TYPE(arg, state->field_type)) {
        const PyNdarray *array = (const PyNdarray *)arg;
        if (array->shifted) return py_refuse_offset(state, arg, name);
        out->dtype = array->dtype;
        out->ndim = array->ndim + array->edim;
        out->unit = array->unit;
    } else if (!known && !numpy_check(&state->numpy, arg)) {
        return refuse_array_type(state, arg, name);
    } else if (!known && describe_numpy(state, arg, name, out)) {
        return -1;
    }
    out->clamp = param->clamp;
    out->grad = param->needs_grad;
    return describe_elements(state, param, arg, name, out);
}

void py_describe_field(PyObject *object, PsParam *out) {
    const PyNdarray *field = (const PyNdarray *)object;
    out->value = object;
    out->kind = PS_PARAM_FIELD;
    out->dtype = field->dtype;
    out->ndim = field->ndim;
    out->edim = field->edim;
    for (int k = 0; k < field->edim; k++) out->eshape[k] = field->shape[field->ndim + k];
    out->unit = field->unit;
}

static int describe_value(PyKernel *kernel, const PyParam *param, PsParam *out) {
    PyState *state = kernel->state;
    bool too_large;
    out->form = ps_form_read(&kernel->forms, &state->types, &state->options, param->dtype, &too_large);
    if (out->form) return 0;
    if (too_large)
        py_error_at(state, kernel->function, PyUnicode_AsUTF8(param->name), PS_MSG_PY_VALUE_LARGE,
                    PyUnicode_AsUTF8(param->name), PS_FORM_WORDS);
    else if (!PyErr_Occurred())
        PyErr_NoMemory();
    return -1;
}

static int describe_object(PyKernel *kernel, const PyParam *param, PyObject *arg, const char *name,
                           PsParam *out) {
    out->value = arg;
    if ((PyObject *)Py_TYPE(arg) == param->annotation) return 0;
    if (!py_refuse_proxy(kernel->state, arg))
        py_error(kernel->state, PS_MSG_PY_ARGUMENT_CLASS, name, ((PyTypeObject *)param->annotation)->tp_name,
                 PyType_Check(arg) ? "the class " : "",
                 PyType_Check(arg) ? ((PyTypeObject *)arg)->tp_name : Py_TYPE(arg)->tp_name);
    return -1;
}

static int describe_template(PyKernel *kernel, PyObject *arg, const char *name, PsParam *out) {
    PyState *state = kernel->state;
    if (Py_IS_TYPE(arg, state->ndarray_type) || Py_IS_TYPE(arg, state->struct_array_type) ||
        numpy_check(&state->numpy, arg) || dlpack_learn(&state->dlpack, arg)) {
        py_error(state, PS_MSG_PY_ARGUMENT_TEMPLATE, name);
        return -1;
    }
    if (py_refuse_proxy(state, arg)) return -1;
    out->value = arg;
    if (Py_IS_TYPE(arg, state->field_type)) py_describe_field(arg, out);
    return Py_IS_TYPE(arg, state->struct_field_type) ? py_describe_structs(state, arg, out) : 0;
}

int py_describe_one(PyKernel *kernel, const PyParam *param, PyObject *arg, const char *where, PsParam *out) {
    PyState *state = kernel->state;
    *out = (PsParam){.name = param->name, .kind = param->kind};
    bool field = Py_IS_TYPE(arg, state->field_type) || Py_IS_TYPE(arg, state->struct_field_type);
    if ((param->optional && arg == Py_None) || (param->tensor && field)) out->kind = PS_PARAM_TEMPLATE;
    switch (out->kind) {
    case PS_PARAM_SCALAR: out->dtype = ps_front_dtype(&state->types, &state->options, param->dtype); return 0;
    case PS_PARAM_VALUE: return describe_value(kernel, param, out);
    case PS_PARAM_ARRAY:
        if (!param->view) return describe_array(kernel, param, arg, where, out);
        if (!Py_IS_TYPE(arg, state->buffer_view_type))
            return py_refuse_proxy(state, arg)
                       ? -1
                       : (py_error(state, PS_MSG_PY_VIEW_ARGUMENT, where, Py_TYPE(arg)->tp_name), -1);
        out->view = true;
        return describe_array(kernel, param, (PyObject *)((PyBufferView *)arg)->view, where, out);
    case PS_PARAM_OBJECT: return describe_object(kernel, param, arg, where, out);
    default: return describe_template(kernel, arg, where, out);
    }
}

int py_describe(PyKernel *kernel, PyObject *const *args, PsParam *out) {
    for (uint32_t i = 0; i < kernel->signature.nparams; i++) {
        const PyParam *param = &kernel->signature.params[i];
        ScalarPlace place = {kernel, i, NULL};
        char where[200];
        const char *name = scalar_place_text(&place, where, sizeof where);
        if (py_describe_one(kernel, param, args[i], name, &out[i])) return -1;
    }
    return 0;
}

/* -- plans -- */

static void plan_scalar(PyPlan *plan) {
    PsType type = plan->dtype;
    if (ps_scalar_class(type) == PS_CLASS_FLOAT) {
        plan->how = type == PS_F64 ? PY_HOW_F64 : type == PS_F32 ? PY_HOW_F32 : PY_HOW_NUMBER;
        return;
    }
    uint64_t hi;
    int width = ps_scalar_bits(type);
    plan->how = PY_HOW_INT;
    scalar_range(type, &plan->range.lo, &hi);
    plan->range.hi = hi > INT64_MAX ? INT64_MAX : (int64_t)hi;
    plan->range.mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

static void plan_array(const PyState *state, PyPlan *plan, const PsParam *param, bool writes) {
    plan->how = param->view ? PY_HOW_BUFFER : PY_HOW_ARRAY;
    plan->ndim = (uint8_t)(param->ndim + param->edim);
    plan->edim = (uint8_t)param->edim;
    for (int k = 0; k < param->edim; k++) plan->eshape[k] = (int32_t)param->eshape[k];
    plan->annotated = param->annotated;
    plan->clamp = param->clamp;
    plan->grad = param->grad;
    plan->unit = param->unit;
    plan->array.descr = state->numpy.descrs[param->dtype];
    plan->array.item = ps_scalar_size(param->dtype);
    plan->array.dlpack = dlpack_dtype_word(param->dtype);
    plan->array.required = NUMPY_ALIGNED | (writes ? NUMPY_WRITEABLE : 0);
}

static void plan_field(PyPlan *plan, const PsParam *param, uint8_t pins) {
    plan->how = PY_HOW_FIELD;
    plan->ndim = (uint8_t)(param->ndim + param->edim);
    plan->edim = (uint8_t)param->edim;
    plan->unit = param->unit;
    plan->field.like =
        pins & PS_PIN_OBJECT ? Py_NewRef(param->value) : ndarray_outline((PyNdarray *)param->value);
    plan->field.pins = plan->field.like ? pins : PS_PIN_OBJECT; /* no memory: no other field fits */
    for (int k = 0; k < param->edim; k++) plan->eshape[k] = (int32_t)param->eshape[k];
}

void py_plans_make(const PyState *state, const PsParam *params, uint32_t nparams, const PsBuild *build,
                   PyPlan *out, uint32_t *out_words) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < nparams; i++) {
        PyPlan *plan = &out[i];
        *plan = (PyPlan){.dtype = (uint8_t)params[i].dtype, .word = word};
        switch (params[i].kind) {
        case PS_PARAM_SCALAR:
            plan_scalar(plan);
            word++;
            break;
        case PS_PARAM_VALUE:
            plan->how = PY_HOW_VALUE;
            plan->form = params[i].form;
            word += params[i].form->words;
            break;
        case PS_PARAM_ARRAY:
            plan_array(state, plan, &params[i], build && build->writes[i]);
            word += 1 + 2 * (uint32_t)plan->ndim;
            break;
        case PS_PARAM_FIELD:
            plan_field(plan, &params[i], build ? build->pins[i] : 0);
            word += 1 + 2 * (uint32_t)plan->ndim;
            break;
        case PS_PARAM_STRUCTS:
            word += py_plan_structs(state, plan, &params[i], build ? build->pins[i] : 0);
            plan->grad = params[i].grad;
            break;
        case PS_PARAM_TEMPLATE:
            plan->how = PY_HOW_TEMPLATE;
            plan->value = py_value_copy(state, params[i].value); /* the vector may be changed in place */
            if (!plan->value) PyErr_Clear(), plan->value = Py_NewRef(params[i].value);
            break;
        case PS_PARAM_OBJECT:
            plan->how = PY_HOW_OBJECT;
            plan->class = (PyTypeObject *)Py_NewRef(Py_TYPE(params[i].value));
            if (!(plan->value = PyWeakref_NewRef(params[i].value, NULL))) PyErr_Clear(); /* slots */
            break;
        }
    }
    *out_words = word;
}

void py_plans_drop(PyPlan *plans, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (plans[i].how == PY_HOW_TEMPLATE || plans[i].how == PY_HOW_LIKE || plans[i].how == PY_HOW_OBJECT)
            Py_CLEAR(plans[i].value);
        else if (plans[i].how == PY_HOW_FIELD || plans[i].how == PY_HOW_STRUCTS)
            Py_CLEAR(plans[i].field.like);
        Py_CLEAR(plans[i].class);
    }
}

/* -- building -- */

void py_spec_free(PySpec *spec) {
    if (!spec) return;
    if (spec->plans) py_plans_drop(spec->plans, spec->nparams + spec->nmembers);
    py_members_drop(spec->members, spec->nmembers);
    for (uint32_t i = 0; i < spec->nfields; i++) Py_CLEAR(spec->fields[i]);
    py_guard_free(&spec->guard);
    ps_facts_free(&spec->facts);
    if (spec->exe) ps_executable_release(spec->exe);
    ps_arena_free(&spec->arena);
    ps_free(spec);
}

int py_spec_traverse(PySpec *spec, visitproc visit, void *arg) {
    for (; spec; spec = spec->next) {
        for (uint32_t i = 0; i < spec->nparams + spec->nmembers; i++) {
            const PyPlan *plan = &spec->plans[i];
            if (plan->how == PY_HOW_TEMPLATE || plan->how == PY_HOW_LIKE || plan->how == PY_HOW_OBJECT)
                Py_VISIT(plan->value);
            if (plan->how == PY_HOW_FIELD || plan->how == PY_HOW_STRUCTS) Py_VISIT(plan->field.like);
            Py_VISIT(plan->class);
        }
        for (uint32_t i = 0; i < spec->nmembers; i++) {
            Py_VISIT(spec->members[i].holder);
            Py_VISIT(spec->members[i].name);
        }
        for (uint32_t i = 0; i < spec->nfields; i++) Py_VISIT(spec->fields[i]);
        for (uint32_t i = 0; i < spec->facts.len; i++) {
            Py_VISIT(spec->facts.items[i].holder);
            Py_VISIT(spec->facts.items[i].key);
            Py_VISIT(spec->facts.items[i].found);
        }
        int stop = py_guard_traverse(&spec->guard, visit, arg);
        if (stop) return stop;
    }
    return 0;
}

PsStatus py_front(PyKernel *kernel, const PsFrontOptions *options, const PsParam *params, PsBuild *out) {
    memset(out, 0, sizeof *out);
    PsAstTree *tree = ps_ast_tree_of(&kernel->trees, kernel->function, kernel->stamp);
    PyObject *function = kernel->function, *code = PyFunction_GET_CODE(function);
    const char *name = PyUnicode_AsUTF8(((PyFunctionObject *)function)->func_name);
    const PsDescriber describer = {py_member_describe, py_member_grad, kernel, name ? name : "?"};
    if (!name) PyErr_Clear();
    PsStatus status = ps_loop_build(&kernel->state->types, options, function, tree, params,
                                    kernel->signature.nparams, kernel->signature.returns, &describer, out);
    if (status == PS_OK && !ps_facts_add(&out->facts, PS_FACT_CODE, function, NULL, code)) status = PS_NOMEM;
    return status;
}

void py_build_raise(const PyState *state, PsStatus status, const PsBuild *build) {
    PySources sources = {0};
    if (build->module) sources = py_sources_of(build->module);
    py_raise_status(state, status, &sources, &build->diag);
    if (build->cause) py_raise_from(build->cause);
}

/* The warning of the store (no cache directory, ...), once. */
static int warn_of_store(PyState *state) {
    const char *warning = NULL;
    if (state->store_warned || state->no_cache) return 0;
    ps_driver_store(&warning);
    if (!warning) return 0;
    state->store_warned = true;
    return PyErr_WarnEx(PyExc_RuntimeWarning, warning, 1);
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static PsStatus compile(const PyState *state, PySpec *spec, PsBuild *build) {
    const char *verify = getenv("PESTLE_VERIFY");
    PsDriverOptions options = {
        .opt_level = 2,
        .no_cache = state->no_cache,
        .verify = verify && *verify && *verify != '0',
    };
#ifndef NDEBUG
    options.verify = true;
#endif
    PsStatus status;
    options.interrupt = py_interrupt_flag();
    if (PyErr_CheckSignals()) return PS_PYERR;
    Py_BEGIN_ALLOW_THREADS status =
        ps_driver_compile(build->module, &options, &spec->exe, &spec->times, &build->diag);
    Py_END_ALLOW_THREADS if (
        PyErr_CheckSignals()) return PS_PYERR; /* what was compiled is kept by the driver */
    return status;
}

void py_spec_fields(PySpec *spec) {
    uint32_t words = 0;
    spec->field_elements = 0;
    for (uint32_t i = 0; i < spec->nfields; i++) {
        const PyNdarray *array = (const PyNdarray *)spec->fields[i];
        words += py_array_words(array, spec->field_words + words);
        spec->field_elements = (int64_t)((uint64_t)spec->field_elements + (uint64_t)array->size);
    }
    spec->nfield_words = words;
}

/* The arrays from outside: they stay where they are as long as the specialisation holds them. */
static bool fill_fields(PySpec *spec, PsBuild *build, uint32_t word) {
    uint32_t n = build->nfields;
    spec->field_word = word;
    if (!n) return true;
    spec->fields = ps_arena_alloc(&spec->arena, n * sizeof *spec->fields);
    spec->field_words = ps_arena_alloc(&spec->arena, n * (1 + 2 * PS_MAX_AXES) * sizeof *spec->field_words);
    if (!spec->fields || !spec->field_words) return false;
    for (uint32_t i = 0; i < n; i++) spec->fields[spec->nfields++] = Py_NewRef(build->fields[i]);
    py_spec_fields(spec);
    return true;
}

/* Instances among the template arguments that others may stand for. What is read of them at each launch is then read of
 * the argument. */
static bool relate(const PyState *state, PySpec *spec, const PsParam *params, uint32_t nparams,
                   PsBuild *build) {
    PyObject **args = ps_arena_alloc(&spec->arena, (nparams + 1) * sizeof *args), **pinned;
    bool *vary = ps_arena_alloc(&spec->arena, nparams + 1);
    uint32_t n = build->npinned;
    pinned = ps_arena_alloc(&spec->arena, (n + build->nmembers + 1) * sizeof *pinned);
    if (!args || !vary || !pinned) return false;
    for (uint32_t i = 0; i < nparams; i++)
        args[i] = params[i].kind == PS_PARAM_TEMPLATE ? params[i].value : NULL;
    for (uint32_t i = 0; i < n; i++) pinned[i] = build->pinned[i];
    for (uint32_t k = 0; k < spec->nmembers; k++) {
        PyObject *holder = spec->members[k].holder;
        bool given = false;
        for (uint32_t i = 0; i < nparams; i++) given |= args[i] && args[i] == holder;
        if (holder && !given) pinned[n++] = holder;
    }
    ps_facts_relate(&spec->facts, &state->types, args, vary, nparams, pinned, n);
    for (uint32_t i = 0; i < nparams; i++) {
        if (!vary[i]) continue;
        spec->shared = true;
        spec->plans[i].how = PY_HOW_LIKE;
        for (uint32_t k = 0; k < spec->nmembers; k++) {
            if (spec->members[k].holder != args[i]) continue;
            spec->members[k].from = i;
            Py_CLEAR(spec->members[k].holder);
        }
    }
    return true;
}

/* Everything of the specialisation but its code. */
static PsStatus fill(const PyState *state, PySpec *spec, const PsParam *params, uint32_t nparams,
                     PsBuild *build) {
    uint32_t words;
    ps_arena_init(&spec->arena);
    spec->plans = ps_arena_alloc(&spec->arena, (nparams + build->nmembers + 1) * sizeof *spec->plans);
    spec->members = py_members_make(&spec->arena, build);
    if (spec->members) spec->nmembers = build->nmembers;
    if (!spec->plans || !spec->members) return PS_NOMEM;
    spec->nparams = nparams;
    py_plans_make(state, params, nparams, build, spec->plans, &words);
    if (!fill_fields(spec, build, words)) return PS_NOMEM;
    if (build->result) {
        const PsForm *form = build->result;
        PsForm *copy = ps_arena_alloc(&spec->arena, form->nodes * sizeof *copy);
        if (!copy) return PS_NOMEM;
        memcpy(copy, form, form->nodes * sizeof *copy);
        spec->form = copy;
        spec->result = form->kind == PS_FORM_SCALAR ? (uint8_t)form->elem : PS_KIND_NONE;
    }
    words += spec->nfield_words;
    words += py_member_plans_make(state, build, &spec->arena, words, spec->plans + nparams);
    spec->result_word = words;
    spec->facts = build->facts;
    build->facts = (PsFacts){0};
    ps_facts_number(&spec->facts, spec->fields, spec->nfields);
    if (!py_guard_make(&spec->guard, state, &spec->arena, &spec->facts) ||
        !relate(state, spec, params, nparams, build) ||
        !py_sources_copy(&spec->sources, &spec->arena, build->module))
        return PS_NOMEM;
    return PS_OK;
}

static PySpec *specialise(PyKernel *kernel, const PsParam *params) {
    PyState *state = kernel->state;
    PsFrontOptions options = state->options;
    uint32_t word = state->options_word;
    uint64_t start = now_ns();
    PsBuild build;
    PySpec *spec = ps_alloc(sizeof *spec);
    PsStatus status = spec ? py_front(kernel, &options, params, &build) : PS_NOMEM;
    if (!spec) return PyErr_NoMemory(), NULL;
    spec->options_word = word;
    spec->front_ns = now_ns() - start;
    if (status == PS_OK) status = fill(state, spec, params, kernel->signature.nparams, &build);
    if (status == PS_OK) status = compile(state, spec, &build);
    if (status != PS_OK) py_build_raise(state, status, &build);
    ps_build_free(&build);
    if (status != PS_OK || warn_of_store(state) || py_warn_of_settings(state)) {
        py_spec_free(spec);
        return NULL;
    }
    spec->main = spec->exe->main;
    spec->frame_words = spec->exe->frame_words;
    spec->unbounded = spec->exe->flags & PS_OBJECT_UNBOUNDED;
    spec->nested = spec->exe->flags & PS_OBJECT_NESTED;
    return spec;
}

/* 1: it does what `spec` does and fits the arguments; 0, or -1 with an exception. */
static int is_same(PyKernel *kernel, PySpec *other, const PySpec *spec, PyObject *const *args) {
    if (other->exe != spec->exe || other->options_word != spec->options_word) return 0;
    if (!py_guard_holds(other, args)) return PyErr_Occurred() ? -1 : 0;
    uint64_t *words = ps_alloc((other->frame_words + 1) * sizeof *words);
    int64_t elements;
    uint32_t nparams = other->nparams, n = other->nmembers;
    PyObject **objects = words ? py_members_open(kernel, other->plans, nparams, other->members, n, args) : NULL;
    int fit = PyErr_Occurred() ? -1 : 0;
    if (objects) fit = py_decode(kernel, other->plans, nparams + n, objects, words, &elements);
    py_members_close(objects, nparams, n);
    ps_free(words);
    return fit;
}

/* Adds it to the kernel, unless another thread has made the same one meanwhile; pinned. */
static PySpec *add(PyKernel *kernel, PySpec *spec, PyObject *const *args) {
    PySpec *other = kernel->specs;
    int same = 0;
    for (uint32_t drops = kernel->drops; other && drops == kernel->drops;) {
        PySpec *next = other->next;
        py_spec_pin(other);
        same = is_same(kernel, other, spec, args);
        if (same) break;
        py_spec_unpin(other);
        other = next;
    }
    if (same) {
        py_spec_free(spec);
        if (same > 0) return other;
        py_spec_unpin(other);
        return NULL;
    }
    py_spec_pin(spec);
    py_specs_add(kernel, spec);
    if (!py_warn_of_many(kernel, spec)) return spec;
    py_spec_unpin(spec);
    return NULL;
}

PySpec *py_specialise(PyKernel *kernel, PyObject *const *args) {
    PsParam *params = PyMem_Calloc(kernel->signature.nparams + 1, sizeof *params);
    if (!params) return PyErr_NoMemory(), NULL;
    PySpec *spec = NULL;
    if (!py_describe(kernel, args, params) && !Py_EnterRecursiveCall(" while building a kernel")) {
        spec = specialise(kernel, params);
        Py_LeaveRecursiveCall();
    }
    PyMem_Free(params);
    if (spec) spec = add(kernel, spec, args);
    return spec;
}
