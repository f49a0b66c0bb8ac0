/* SPDX-License-Identifier: Apache-2.0
 *
 * init, reset, sync. Nothing needs init: it only changes options from their defaults. A call of it starts from the
 * defaults again, as in Taichi, and changes nothing when one of its arguments is wrong. Kernels compiled under other
 * options stay and are used again when the options come back (PyState.options_word is part of a specialisation).
 */
#include "py/py_int.h"

typedef struct Config {
    PsFrontOptions options;
    bool no_cache, python;
    uint64_t random_seed;
    long threads;
} Config;

PsFrontOptions py_options_default(void) { return (PsFrontOptions){.default_fp = PS_F32, .default_ip = PS_I32}; }

uint32_t py_options_word(const PsFrontOptions *options) {
    return (uint32_t)options->default_fp | (uint32_t)options->default_ip << 8 |
           (uint32_t)options->checked << 16 | (uint32_t)options->overflow << 17 |
           (uint32_t)options->c_formats << 24 | (uint32_t)options->no_floats << 25 |
           (uint32_t)options->fast_math << 26 | (uint32_t)options->deterministic << 27;
}

/* -- one option -- */

typedef struct Option {
    const char *name;
    int (*set)(const PyState *state, Config *config, const struct Option *option, PyObject *value);
} Option;

static int refuse(const PyState *state, const Option *option, const char *expected, PyObject *found) {
    PyObject *repr = PyObject_Repr(found);
    const char *text = repr ? PyUnicode_AsUTF8(repr) : NULL;
    if (text) py_error(state, PS_MSG_PY_OPTION, option->name, expected, text);
    Py_XDECREF(repr);
    return -1;
}

static int set_arch(const PyState *state, Config *config, const Option *option, PyObject *value) {
    if (value == Py_None) return 0;
    if (!PyUnicode_Check(value)) return refuse(state, option, "pestle.cpu", value);
    const char *text = PyUnicode_AsUTF8(value);
    if (!text) return -1;
    config->python = strcmp(text, "python") == 0;
    if (config->python) return 0;
#if defined(__x86_64__)
    static const char *const here[] = {"cpu", "x64", "x86_64"};
#else
    static const char *const here[] = {"cpu", "arm64"};
#endif
    for (size_t i = 0; i < PS_COUNT(here); i++)
        if (strcmp(text, here[i]) == 0) return 0;
    py_error(state, PS_MSG_PY_ARCH, text);
    return -1;
}

static int truth(const PyState *state, const Option *option, PyObject *value, bool *out) {
    if (value == Py_None) return 0; /* as if left out */
    if (!PyBool_Check(value) && !PyLong_Check(value)) return refuse(state, option, "True or False", value);
    *out = PyObject_IsTrue(value) == 1;
    return 0;
}

/* debug and checked both turn the checks on; neither turns off what the other asked for. */
static int set_checked(const PyState *state, Config *config, const Option *option, PyObject *value) {
    bool on = false;
    if (truth(state, option, value, &on)) return -1;
    config->options.checked |= on;
    return 0;
}

static int set_overflow(const PyState *state, Config *config, const Option *option, PyObject *value) {
    static const char *const names[] = {"warn", "error", "print", "ignore"}; /* as PsOverflow */
    if (value == Py_None) return 0;
    for (uint8_t i = 0; PyUnicode_Check(value) && i < PS_COUNT(names); i++)
        if (PyUnicode_CompareWithASCIIString(value, names[i]) == 0) return config->options.overflow = i, 0;
    return refuse(state, option, "'warn', 'error', 'print' or 'ignore'", value);
}

static int set_formats(const PyState *state, Config *config, const Option *option, PyObject *value) {
    if (value == Py_None) return 0;
    bool c = PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, "c") == 0;
    bool python = PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, "python") == 0;
    config->options.c_formats = c;
    return c || python ? 0 : refuse(state, option, "'python' or 'c'", value);
}

static int set_no_floats(const PyState *state, Config *config, const Option *option, PyObject *value) {
    return truth(state, option, value, &config->options.no_floats);
}

static int set_fast_math(const PyState *state, Config *config, const Option *option, PyObject *value) {
    return truth(state, option, value, &config->options.fast_math);
}

static int set_deterministic(const PyState *state, Config *config, const Option *option, PyObject *value) {
    return truth(state, option, value, &config->options.deterministic);
}

static int set_offline_cache(const PyState *state, Config *config, const Option *option, PyObject *value) {
    bool on = true;
    if (truth(state, option, value, &on)) return -1;
    config->no_cache = !on;
    return 0;
}

static int set_default_fp(const PyState *state, Config *config, const Option *option, PyObject *value) {
    if (value == Py_None) return 0;
    PsType type = ps_front_dtype(&state->types, &state->options, value);
    if (!Py_IS_TYPE(value, state->types.dtype) || (type != PS_F16 && type != PS_F32 && type != PS_F64))
        return refuse(state, option, "f16, f32 or f64", value);
    config->options.default_fp = type;
    return 0;
}

static int set_default_ip(const PyState *state, Config *config, const Option *option, PyObject *value) {
    if (value == Py_None) return 0;
    PsType type = ps_front_dtype(&state->types, &state->options, value);
    if (!Py_IS_TYPE(value, state->types.dtype) || (type != PS_I32 && type != PS_I64))
        return refuse(state, option, "i32 or i64", value);
    config->options.default_ip = type;
    return 0;
}

static int set_random_seed(const PyState *state, Config *config, const Option *option, PyObject *value) {
    if (value == Py_None) return 0;
    if (!PyLong_Check(value)) return refuse(state, option, "an int", value);
    config->random_seed = PyLong_AsUnsignedLongLongMask(value);
    return config->random_seed == (uint64_t)-1 && PyErr_Occurred() ? -1 : 0;
}

static int set_threads(const PyState *state, Config *config, const Option *option, PyObject *value) {
    int overflow = 0;
    if (value == Py_None) return 0;
    long threads =
        PyLong_Check(value) && !PyBool_Check(value) ? PyLong_AsLongAndOverflow(value, &overflow) : -1;
    if (threads < 0 || overflow || threads > PS_RT_MOST_ASKED)
        return refuse(state, option, "a number of threads from 1 to 4096 (0: as many as there are CPUs)",
                      value);
    config->threads = threads;
    return 0;
}

/* Options of Taichi that only tell its compiler how to go about things, or where to write what Pestle does not. */
static int set_nothing(const PyState *state, Config *config, const Option *option, PyObject *value) {
    (void)state, (void)config, (void)option, (void)value;
    return 0;
}

static const Option options[] = {
    {"arch", set_arch},
    {"debug", set_checked},
    {"checked", set_checked},
    {"overflow", set_overflow},
    {"default_fp", set_default_fp},
    {"default_ip", set_default_ip},
    {"fast_math", set_fast_math},
    {"deterministic", set_deterministic},
    {"random_seed", set_random_seed},
    {"threads", set_threads},
    {"cpu_max_num_threads", set_threads},
    {"offline_cache", set_offline_cache},
    {"check_out_of_bound", set_checked},
    {"formats", set_formats},
    {"raise_on_templated_floats", set_no_floats},
    /* accepted, without effect */
    {"offline_cache_file_path", set_nothing},
    {"offline_cache_cleaning_policy", set_nothing},
    {"offline_cache_max_size_of_files", set_nothing},
    {"log_level", set_nothing},
    {"verbose", set_nothing},
    {"enable_fallback", set_nothing},
    {"print_full_traceback", set_nothing},
    {"gdb_trigger", set_nothing},
    {"advanced_optimization", set_nothing},
    {"cfg_optimization", set_nothing},
    {"opt_level", set_nothing},
    {"num_compile_threads", set_nothing},
    {"unrolling_limit", set_nothing},
    {"device_memory_GB", set_nothing},
    {"device_memory_fraction", set_nothing},
};
#define OPTIONS_TOLD 10 /* the first of them: what messages list */

static const Option *find_option(PyObject *name) {
    for (size_t i = 0; i < PS_COUNT(options); i++)
        if (PyUnicode_CompareWithASCIIString(name, options[i].name) == 0) return &options[i];
    return NULL;
}

static PyObject *refuse_keyword(const PyState *state, PyObject *name) {
    char told[300];
    size_t len = 0;
    for (size_t i = 0; i < OPTIONS_TOLD; i++)
        len += (size_t)snprintf(told + len, sizeof told - len, i ? ", %s" : "%s", options[i].name);
    const char *text = PyUnicode_AsUTF8(name);
    return text ? py_error(state, PS_MSG_PY_KEYWORD, "init", text, told) : NULL;
}

/* -- the functions -- */

int py_warn_of_settings(PyState *state) {
    const char *mode = state->mode.always || state->setting_warned ? NULL : getenv("PESTLE");
    if (mode && *mode) {
        state->setting_warned = true;
        if (PyErr_WarnFormat(PyExc_RuntimeWarning, 1, ps_message_text(PS_MSG_PY_SETTING), mode)) return -1;
    }
    const char *refused = state->threads || state->threads_warned ? NULL : ps_rt_threads_refused();
    if (!refused) return 0;
    state->threads_warned = true;
    return PyErr_WarnFormat(PyExc_RuntimeWarning, 1, ps_message_text(PS_MSG_PY_NUM_THREADS), refused,
                            PS_RT_MOST_ASKED);
}

#define PYTHON_WORD ((uint32_t)1 << 31) /* fits no specialisation */

void py_init_python_mode(PyState *state) {
    const char *mode = getenv("PESTLE");
    state->mode.on = state->mode.always = mode && strcmp(mode, "python") == 0;
    if (state->mode.on) state->options_word |= PYTHON_WORD;
}

static void apply(PyState *state, const Config *config) {
    state->options = config->options;
    state->mode.on = config->python || state->mode.always;
    state->options_word = py_options_word(&config->options) | (state->mode.on ? PYTHON_WORD : 0);
    state->no_cache = config->no_cache;
    state->random_seed = config->random_seed;
    py_random_seed(state, config->random_seed);
    ps_rt_set_threads((int)config->threads); /* counts the CPUs anew: they may have changed */
    state->threads = (int)config->threads;
}

PyObject *py_init(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
    PyState *state = py_state(module);
    Config config = {.options = py_options_default()};
    if (nargs > 1)
        return PyErr_Format(PyExc_TypeError, "init() takes arch and keywords, found %zd arguments", nargs);
    if (nargs == 1 && set_arch(state, &config, &options[0], args[0])) return NULL;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        const Option *option = find_option(PyTuple_GET_ITEM(names, i));
        if (!option) return refuse_keyword(state, PyTuple_GET_ITEM(names, i));
        if (option->set(state, &config, option, args[nargs + i])) return NULL;
    }
    apply(state, &config);
    if (py_warn_of_settings(state)) return NULL;
    Py_RETURN_NONE;
}

PyObject *py_reset(PyObject *module, PyObject *unused) {
    (void)unused;
    Config config = {.options = py_options_default()};
    apply(py_state(module), &config);
    Py_RETURN_NONE;
}

/* Launches on the CPU are over when they return. */
PyObject *py_sync(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    Py_RETURN_NONE;
}

int py_init_add_names(PyObject *module) {
    static const char *const archs[] = {"cpu",    "gpu",    "x64",   "arm64", "cuda",
                                        "amdgpu", "vulkan", "metal", "python"};
    for (size_t i = 0; i < PS_COUNT(archs); i++)
        if (PyModule_AddStringConstant(module, archs[i], archs[i])) return -1;
    return 0;
}
