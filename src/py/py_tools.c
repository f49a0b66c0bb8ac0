/* SPDX-License-Identifier: Apache-2.0
 *
 * What people ask: a kernel's IR and assembly and what became of its lines (Kernel.ir, .asm, .explain), and the facts behind `pestle doctor` and
 * `pestle cache` (python/pestle/__main__.py prints them).
 */
#include "passes/passes.h"
#include "py/py_view.h"

#include "build_id.h"

#include <errno.h>
#include <limits.h>

/* -- kernel.ir(*args, after=...), kernel.asm(*args) -- */

static void describe_array_plan(const PyPlan *plan, PsParam *out) {
    out->kind = PS_PARAM_ARRAY;
    out->ndim = plan->ndim - plan->edim;
    out->edim = plan->edim;
    for (int k = 0; k < plan->edim; k++) out->eshape[k] = plan->eshape[k];
    out->unit = plan->unit;
    out->annotated = plan->annotated;
    out->clamp = plan->clamp;
}

/* What the newest launch was made for, as if its arguments had been given. Pinned, for the values in `out`; NULL with an
 * exception. A dataclass is the one that the specialisation was made for, if it still lives. */
static PySpec *describe_last(PyKernel *kernel, PsParam *out, PyObject *keep) {
    PySpec *spec = kernel->last ? kernel->last : kernel->specs;
    if (!spec) return py_error(kernel->state, PS_MSG_TOOLS_NO_LAUNCH), NULL;
    for (uint32_t i = 0; i < spec->nparams; i++) {
        const PyPlan *plan = &spec->plans[i];
        if (plan->how != PY_HOW_OBJECT) continue;
        PyObject *instance = plan->value ? PyWeakref_GetObject(plan->value) : Py_None;
        if (instance == Py_None) return py_error(kernel->state, PS_MSG_TOOLS_OBJECT), NULL;
        out[i].kind = PS_PARAM_OBJECT;
        out[i].value = instance;
        if (PyList_Append(keep, instance)) return NULL;
    }
    for (uint32_t i = 0; i < spec->nmembers; i++)
        if (spec->members[i].grad) return py_error(kernel->state, PS_MSG_TOOLS_OBJECT), NULL;
    py_spec_pin(spec);
    for (uint32_t i = 0; i < spec->nparams; i++) {
        const PyPlan *plan = &spec->plans[i];
        if (plan->how == PY_HOW_OBJECT) {
            out[i].name = kernel->signature.params[i].name;
            continue;
        }
        out[i] = (PsParam){.name = kernel->signature.params[i].name, .dtype = plan->dtype};
        if (plan->how == PY_HOW_TEMPLATE || plan->how == PY_HOW_LIKE)
            out[i].kind = PS_PARAM_TEMPLATE, out[i].value = plan->value;
        else if (plan->how == PY_HOW_VALUE)
            out[i].kind = PS_PARAM_VALUE, out[i].form = plan->form;
        else if (plan->how == PY_HOW_ARRAY || plan->how == PY_HOW_BUFFER)
            describe_array_plan(plan, &out[i]);
        else if (plan->how == PY_HOW_FIELD)
            py_describe_field(plan->field.like, &out[i]);
        else if (plan->how == PY_HOW_STRUCTS)
            py_describe_structs(kernel->state, plan->field.like, &out[i]);
    }
    return spec;
}

/* The passes of the pipeline up to one, as a list of names. */
static void add_pipeline(PsBuf *out, const char *last) {
    for (int i = 0; i < ps_npasses; i++) {
        ps_buf_printf(out, i ? ",%s" : "%s", ps_passes[i].name);
        if (strcmp(ps_passes[i].name, last) == 0) return;
    }
}

static bool is_pass(const char *name) {
    for (int i = 0; i < ps_npasses; i++)
        if (strcmp(ps_passes[i].name, name) == 0) return true;
    return false;
}

static PsStatus write_text(PsBuild *build, const char *after, PsBuf *out) {
    const PsDriverOptions options = {.opt_level = 2};
    if (strcmp(after, "llvm") == 0 || strcmp(after, "asm") == 0 || strcmp(after, "lines") == 0)
        return ps_driver_text(build->module, &options, after, out, &build->diag);
    PsBuf passes = {0};
    PsStatus status = PS_OK;
    add_pipeline(&passes, after);
    if (passes.failed) status = PS_NOMEM;
    if (status == PS_OK && strcmp(after, "front") != 0)
        status = ps_passes_run(build->module, passes.data, false, NULL, NULL, &build->diag);
    if (status == PS_OK) ps_ir_print(build->module, false, out);
    ps_buf_free(&passes);
    return status == PS_OK && out->failed ? PS_NOMEM : status;
}

/* -- kernel.explain(*args): python/pestle/_explain.py shows it -- */

static PyObject *source_tuple(const PsSource *source) {
    return Py_BuildValue("(zzIzII)", source->name, source->file, source->first_line, source->text,
                         source->call.source, source->call.line);
}

static PyObject *note_tuple(const PsCodeNote *note) {
    return Py_BuildValue("(IIssII)", note->span.source, note->span.line, ps_note_topic(note->id), note->text,
                         note->bytes, note->flops);
}

/* ([(function, file, first line, text, caller's source, line there), ...],
 *  [(source, line from the function's first, topic, text, bytes, flops), ...]) */
static PyObject *notes_of(const PsModule *m, const PsCode *code) {
    PyObject *sources = PyList_New(0), *notes = PyList_New(0), *item = NULL;
    bool ok = sources && notes;
    for (uint32_t i = 0; ok && i < m->sources.len; i++) {
        ok = (item = source_tuple(&m->sources.data[i])) && PyList_Append(sources, item) == 0;
        Py_XDECREF(item);
    }
    for (uint32_t i = 0; ok && i < code->notes.len; i++) {
        ok = (item = note_tuple(&code->notes.data[i])) && PyList_Append(notes, item) == 0;
        Py_XDECREF(item);
    }
    PyObject *result = ok ? PyTuple_Pack(2, sources, notes) : NULL;
    Py_XDECREF(sources);
    Py_XDECREF(notes);
    return result;
}

static PyObject *notes_for(PyKernel *kernel, const PsParam *params) {
    const PsDriverOptions driver = {.opt_level = 2};
    PsFrontOptions options = kernel->state->options;
    PsBuild build;
    PsCode code = {0};
    PsStatus status = py_front(kernel, &options, params, &build);
    if (status == PS_OK) status = ps_driver_explain(build.module, &driver, &code, &build.diag);
    if (status != PS_OK) py_build_raise(kernel->state, status, &build);
    PyObject *result = status == PS_OK ? notes_of(build.module, &code) : NULL;
    ps_build_free(&build);
    return result;
}

static PyObject *text_for(PyKernel *kernel, const PsParam *params, const char *after) {
    if (strcmp(after, "notes") == 0) return notes_for(kernel, params);
    PsFrontOptions options = kernel->state->options;
    PsBuild build;
    PsBuf text = {0};
    PsStatus status = py_front(kernel, &options, params, &build);
    if (status == PS_OK) status = write_text(&build, after, &text);
    if (status != PS_OK) py_build_raise(kernel->state, status, &build);
    PyObject *result = status == PS_OK
                           ? PyUnicode_DecodeUTF8(text.data ? text.data : "", (Py_ssize_t)text.len, "replace")
                           : NULL;
    ps_buf_free(&text);
    ps_build_free(&build);
    return result;
}

/* What `after` asks for has been checked. */
static PyObject *kernel_show(PyKernel *kernel, PyObject *const *args, Py_ssize_t nargs, PyObject *names,
                             const char *after) {
    if (py_kernel_prepare(kernel)) return NULL;
    uint32_t nparams = kernel->signature.nparams;
    PyObject *result = NULL, *held = NULL, **bound = PyMem_Calloc(nparams + 1, sizeof *bound);
    PsParam *params = PyMem_Calloc(nparams + 1, sizeof *params);
    if (!bound || !params) {
        PyErr_NoMemory();
    } else if (nargs == 0 && !(names && PyTuple_GET_SIZE(names)) && nparams) {
        PyObject *keep = PyList_New(0);
        PySpec *last = keep ? describe_last(kernel, params, keep) : NULL;
        if (last) {
            result = text_for(kernel, params, after);
            py_spec_unpin(last);
        }
        Py_XDECREF(keep);
    } else if (!py_kernel_bind(kernel, args, nargs, names, bound, &held) && !py_views_take(kernel, bound)) {
        if (!py_describe(kernel, bound, params)) result = text_for(kernel, params, after);
        py_views_drop(kernel, bound);
    }
    Py_XDECREF(held);
    PyMem_Free(bound);
    PyMem_Free(params);
    return result;
}

/* A call without one keyword argument, which is no parameter of the kernel: after=, asm=. */
typedef struct Call {
    PyObject *args, *names;
    PyObject *value; /* borrowed; NULL: not given */
} Call;

/* -1 with an exception. */
static int split_call(PyObject *const *args, Py_ssize_t nargs, PyObject *names, const char *keyword,
                      Call *out) {
    Py_ssize_t nnames = names ? PyTuple_GET_SIZE(names) : 0, kept = 0;
    *out = (Call){.args = PyTuple_New(nargs + nnames), .names = PyTuple_New(nnames)};
    if (!out->args || !out->names) return -1;
    for (Py_ssize_t i = 0; i < nargs; i++) PyTuple_SET_ITEM(out->args, i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; i < nnames; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i), *value = args[nargs + i];
        if (PyUnicode_CompareWithASCIIString(name, keyword) == 0) {
            out->value = value;
            continue;
        }
        PyTuple_SET_ITEM(out->names, kept, Py_NewRef(name));
        PyTuple_SET_ITEM(out->args, nargs + kept++, Py_NewRef(value));
    }
    return _PyTuple_Resize(&out->args, nargs + kept) || _PyTuple_Resize(&out->names, kept) ? -1 : 0;
}

static void drop_call(Call *call) {
    Py_XDECREF(call->args);
    Py_XDECREF(call->names);
}

static PyObject *show_call(PyKernel *kernel, const Call *call, const char *what) {
    return kernel_show(kernel, PySequence_Fast_ITEMS(call->args),
                       PyTuple_GET_SIZE(call->args) - PyTuple_GET_SIZE(call->names), call->names, what);
}

static const char *after_of(PyKernel *kernel, PyObject *value) {
    const char *after = PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : NULL;
    if (!after) {
        if (!PyErr_Occurred()) py_error(kernel->state, PS_MSG_DRIVER_DUMP, 20, Py_TYPE(value)->tp_name);
        return NULL;
    }
    if (strcmp(after, "front") == 0 || strcmp(after, "llvm") == 0 || strcmp(after, "asm") == 0 ||
        is_pass(after))
        return after;
    py_error(kernel->state, PS_MSG_DRIVER_DUMP, (int)strnlen(after, 64), after);
    return NULL;
}

PyObject *py_kernel_show_ir(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    Call call;
    PyObject *result = NULL;
    if (!split_call(args, nargs, names, "after", &call)) {
        const char *after = call.value ? after_of((PyKernel *)self, call.value) : "front";
        if (after) result = show_call((PyKernel *)self, &call, after);
    }
    drop_call(&call);
    return result;
}

PyObject *py_kernel_show_asm(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    return kernel_show((PyKernel *)self, args, nargs, names, "asm");
}

/* A new reference: None, or the assembly with its lines. */
static PyObject *assembly_of(PyKernel *kernel, const Call *call) {
    int wanted = call->value ? PyObject_IsTrue(call->value) : 0;
    if (wanted < 0) return NULL;
    return wanted ? show_call(kernel, call, "lines") : Py_NewRef(Py_None);
}

PyObject *py_kernel_explain(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    Call call;
    PyObject *notes = NULL, *assembly = NULL, *module = NULL, *result = NULL;
    if (!split_call(args, nargs, names, "asm", &call)) notes = show_call((PyKernel *)self, &call, "notes");
    if (notes) assembly = assembly_of((PyKernel *)self, &call);
    if (assembly) module = PyImport_ImportModule("pestle._explain");
    if (module) result = PyObject_CallMethod(module, "Explanation", "OOO", self, notes, assembly);
    Py_XDECREF(module);
    Py_XDECREF(assembly);
    Py_XDECREF(notes);
    drop_call(&call);
    return result;
}

/* -- pestle doctor -- */

static const char *why_no_llvm(char *buffer, size_t size) {
    PsArena arena;
    PsDiag diag;
    ps_arena_init(&arena);
    ps_diag_init(&diag, &arena);
    PsStatus status = ps_driver_llvm_open(&diag);
    if (status != PS_OK) snprintf(buffer, size, "%s", diag.set ? diag.message.text : "no memory");
    ps_arena_free(&arena);
    return status == PS_OK ? NULL : buffer;
}

PyObject *py_doctor(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    char path[PATH_MAX] = "?", why[1024];
    if (!ps_driver_llvm_path(path, sizeof path)) snprintf(path, sizeof path, "?");
    const char *failed = why_no_llvm(why, sizeof why);
    return Py_BuildValue("{sssssssssisiszszsi}", "build", PS_BUILD_ID, "llvm", PS_LLVM_VERSION, "llvm_path",
                         path, "features", ps_driver_cpu_features(), "vector_bits", ps_driver_vector_bits(),
                         "threads", ps_rt_threads(), "threads_refused", ps_rt_threads_refused(), "llvm_error",
                         failed, "abi", PS_ABI_VERSION);
}

/* -- pestle cache -- */

static PyObject *entry_of(const PsStoreEntry *entry) {
    return Py_BuildValue("(ssKL)", entry->key, entry->name, (unsigned long long)entry->size,
                         (long long)entry->used);
}

/* (directory or None, warning or None, limit, [(key, name, size, used), ...]) */
PyObject *py_cache(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    const char *warning = NULL;
    PsStore *store = ps_driver_store(&warning);
    PsStoreList list = {0};
    if (store && !ps_store_list(store, &list))
        return PyErr_SetFromErrnoWithFilename(PyExc_OSError, ps_store_dir(store));
    PyObject *entries = PyList_New((Py_ssize_t)list.len);
    for (size_t i = 0; entries && i < list.len; i++) {
        PyObject *entry = entry_of(&list.entries[i]);
        if (entry)
            PyList_SET_ITEM(entries, (Py_ssize_t)i, entry);
        else
            Py_CLEAR(entries);
    }
    ps_store_list_free(&list);
    if (!entries) return NULL;
    PyObject *directory = store ? PyUnicode_DecodeFSDefault(ps_store_dir(store)) : Py_NewRef(Py_None);
    return Py_BuildValue("(NzKN)", directory, warning, store ? (unsigned long long)ps_store_limit(store) : 0ull,
                         entries);
}

PyObject *py_cache_clear(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    PsStore *store = ps_driver_store(NULL);
    int64_t removed = store ? ps_store_clear(store) : 0;
    if (removed < 0) return PyErr_SetFromErrnoWithFilename(PyExc_OSError, ps_store_dir(store));
    return PyLong_FromLongLong(removed);
}
