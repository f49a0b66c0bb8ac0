/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts that a Python function may stand in, one after the other:
 *
 *     what Python keeps by code object  3.13 and later: the prompt, `python -c`
 *     the file                          read here, in the encoding its first lines name
 *     linecache                         notebooks, doctests, zip files and other loaders, exec with an entry there
 *     the command line                  `python -c`, before 3.13
 *
 * Whether a text really is the function's is not decided here (ast_source.c). What is known of a file helps there:
 * its stamp, and whether it is older than the process that imported the function, so that it cannot have been edited
 * since. Standard input cannot be read again.
 */
#include "front/ast/ast_int.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* -- files: what they are, without reading them -- */

#define MARGIN_NS 20000000 /* a process's start is known to 10 ms, a file's times to 4 */

/* When the process started that imported the functions, in ns since 1970; -1: unknown. Asked at the first decorator and
 * not later: after a fork the answer would be the child's. */
static int64_t process_start; /* atomic; 0: not asked yet */

static int64_t now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The 22nd field of /proc/self/stat, in ticks since the machine started. */
static int64_t read_process_start(void) {
    char text[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[len > 0 ? len : 0] = 0;
    const char *at = strrchr(text, ')'); /* after the name, which may hold anything */
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    long ticks = sysconf(_SC_CLK_TCK);
    if (!at || ticks <= 0) return -1;
    int64_t since_boot = (int64_t)(strtoull(at + 1, NULL, 10) * (1000000000 / (unsigned long)ticks));
    return now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME) + since_boot;
}

static int64_t stat_ns(const struct timespec *t) { return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec; }

static bool is_older_than_process(const struct stat *info) {
    int64_t start = __atomic_load_n(&process_start, __ATOMIC_RELAXED);
    return start > 0 && stat_ns(&info->st_ctim) < start - MARGIN_NS &&
           stat_ns(&info->st_mtim) < start - MARGIN_NS;
}

static uint64_t stamp_of(const struct stat *info) {
    uint64_t parts[] = {(uint64_t)info->st_dev, (uint64_t)info->st_ino, (uint64_t)info->st_size,
                        (uint64_t)stat_ns(&info->st_mtim), (uint64_t)stat_ns(&info->st_ctim)};
    uint64_t stamp = 0;
    for (size_t i = 0; i < PS_COUNT(parts); i++) {
        stamp = (stamp ^ parts[i]) * 0x9e3779b97f4a7c15;
        stamp ^= stamp >> 29;
    }
    return stamp ? stamp : 1;
}

static bool is_file_name(const char *name) { return name[0] && name[0] != '<'; }

#if PY_VERSION_HEX < 0x030C0000
#define PyUnstable_Eval_RequestCodeExtraIndex _PyEval_RequestCodeExtraIndex
#define PyUnstable_Code_GetExtra              _PyCode_GetExtra
#define PyUnstable_Code_SetExtra              _PyCode_SetExtra
#endif

/* The stamp when a function with this code was decorated first. A factory gives the same code each time it is called, long
 * after the file was imported, so later stamps say less about the text that was compiled. */
static uint64_t first_stamp(PyObject *code, uint64_t stamp) {
    static Py_ssize_t place =
        -1; /* under the GIL; of another interpreter it is refused, and nothing remembered */
    void *known = NULL;
    if (place < 0) place = PyUnstable_Eval_RequestCodeExtraIndex(NULL);
    if (place >= 0 && PyUnstable_Code_GetExtra(code, place, &known) == 0 && !known && stamp)
        (void)PyUnstable_Code_SetExtra(code, place, (void *)(uintptr_t)stamp);
    PyErr_Clear();
    return known ? (uint64_t)(uintptr_t)known : stamp;
}

uint64_t ps_ast_stamp(PyObject *function) {
    struct stat info;
    if (!__atomic_load_n(&process_start, __ATOMIC_RELAXED))
        __atomic_store_n(&process_start, read_process_start(), __ATOMIC_RELAXED);
    if (!PyFunction_Check(function)) return 0;
    PyObject *code = PyFunction_GET_CODE(function);
    const char *name = PyUnicode_AsUTF8(((PyCodeObject *)code)->co_filename);
    if (!name) PyErr_Clear();
    return name && is_file_name(name) && stat(name, &info) == 0 ? first_stamp(code, stamp_of(&info)) : 0;
}

/* -- files: their text -- */

/* The encoding that a line names (PEP 263), into the buffer; "" when it is no such comment. */
static void read_cookie(const char *line, size_t len, char *out, size_t size) {
    size_t at = 0, n = 0;
    out[0] = 0;
    while (at < len && (line[at] == ' ' || line[at] == '\t' || line[at] == '\f')) at++;
    if (at == len || line[at] != '#') return;
    for (; at + 7 < len; at++)
        if (memcmp(line + at, "coding", 6) == 0 && (line[at + 6] == ':' || line[at + 6] == '=')) break;
    if (at + 7 >= len) return;
    for (at += 7; at < len && (line[at] == ' ' || line[at] == '\t'); at++) {
    }
    for (; at < len && n + 1 < size && (Py_ISALNUM(line[at]) || strchr("-_.", line[at])); at++)
        out[n++] = line[at];
    out[n] = 0;
}

static bool is_blank_or_comment(const char *line, size_t len) {
    size_t at = 0;
    while (at < len && (line[at] == ' ' || line[at] == '\t' || line[at] == '\f' || line[at] == '\r')) at++;
    return at == len || line[at] == '#';
}

static PyObject *decode(const char *bytes, size_t size) {
    char encoding[64] = "";
    size_t first = 0, second = 0;
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        return PyUnicode_DecodeUTF8(bytes + 3, (Py_ssize_t)size - 3, NULL);
    while (first < size && bytes[first] != '\n') first++;
    read_cookie(bytes, first, encoding, sizeof encoding);
    if (!encoding[0] && first < size && is_blank_or_comment(bytes, first)) {
        while (first + 1 + second < size && bytes[first + 1 + second] != '\n') second++;
        read_cookie(bytes + first + 1, second, encoding, sizeof encoding);
    }
    return PyUnicode_Decode(bytes, (Py_ssize_t)size, encoding[0] ? encoding : "utf-8", "strict");
}

static int read_all(int fd, PsBuf *out) {
    char chunk[16384];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) > 0) ps_buf_add(out, chunk, (size_t)n);
    return n < 0 || out->failed ? -1 : 0;
}

/* NULL, here and below: there is no such text, or an exception. */
static PyObject *text_of_file(PyFunctionObject *function, AstText *out) {
    PyObject *filename = ((PyCodeObject *)function->func_code)->co_filename, *path = NULL, *text = NULL;
    struct stat info = {0};
    PsBuf buf = {0};
    const char *name = PyUnicode_AsUTF8(filename);
    if (!name || !is_file_name(name) || !PyUnicode_FSConverter(filename, &path)) {
        ps_forgive();
        return NULL;
    }
    int fd = open(PyBytes_AS_STRING(path), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    Py_DECREF(path);
    if (fd < 0) return NULL;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && read_all(fd, &buf) == 0)
        text = decode(buf.data ? buf.data : "", buf.len);
    close(fd);
    ps_buf_free(&buf);
    if (!text) ps_forgive(); /* bytes that are not in its encoding */
    out->stamp = stamp_of(&info);
    out->unchanged = is_older_than_process(&info);
    return text;
}

/* -- linecache -- */

/* The lines that a function of linecache gives, joined. */
static PyObject *join(PyObject *lines) {
    PyObject *empty = NULL, *text = NULL;
    if (lines && (PyList_Check(lines) || PyTuple_Check(lines)) && PySequence_Size(lines) > 0 &&
        (empty = PyUnicode_FromString("")))
        text = PyUnicode_Join(empty, lines);
    Py_XDECREF(empty);
    Py_XDECREF(lines);
    if (!text) ps_forgive();
    return text;
}

static PyObject *text_of_code(PyFunctionObject *function, AstText *out) {
    (void)out;
    PyObject *linecache = PyImport_ImportModule("linecache"), *lines = NULL;
    if (linecache && PyObject_HasAttrString(linecache, "_getlines_from_code"))
        lines = PyObject_CallMethod(linecache, "_getlines_from_code", "O", function->func_code);
    Py_XDECREF(linecache);
    return join(lines);
}

/* What exec runs has the file name of `python -c` too. */
static bool is_string(PyFunctionObject *function) {
    return PyUnicode_CompareWithASCIIString(((PyCodeObject *)function->func_code)->co_filename, "<string>") ==
           0;
}

static PyObject *text_of_linecache(PyFunctionObject *function, AstText *out) {
    PyObject *filename = ((PyCodeObject *)function->func_code)->co_filename, *lines = NULL;
    PyObject *linecache = PyImport_ImportModule("linecache");
    out->guess = is_string(function);
    if (linecache) lines = PyObject_CallMethod(linecache, "getlines", "OO", filename, function->func_globals);
    Py_XDECREF(linecache);
    return join(lines);
}

/* -- python -c -- */

/* What stands after -c on Python's command line, as its own parser finds it; borrowed. */
static PyObject *find_command(PyObject *argv) {
    for (Py_ssize_t i = 1; i < PyList_GET_SIZE(argv); i++) {
        PyObject *word = PyList_GET_ITEM(argv, i);
        const char *text = PyUnicode_Check(word) ? PyUnicode_AsUTF8(word) : NULL;
        if (!text || text[0] != '-' || !text[1]) return NULL; /* a script, or standard input */
        if (text[1] == '-') {
            if (strcmp(text, "--check-hash-based-pycs") == 0) i++;
            continue;
        }
        for (const char *at = text + 1; *at; at++) {
            if (*at == 'm') return NULL;
            if (*at != 'c' && *at != 'W' && *at != 'X') continue;
            bool next = !at[1];                   /* the argument is the next word */
            if (*at == 'c' && !next) return NULL; /* -cCODE: nobody writes that */
            if (*at == 'c') return i + 1 < PyList_GET_SIZE(argv) ? PyList_GET_ITEM(argv, i + 1) : NULL;
            i += next;
            break;
        }
    }
    return NULL;
}

static PyObject *text_of_command(PyFunctionObject *function, AstText *out) {
    PyObject *argv = PySys_GetObject("orig_argv"); /* borrowed */
    if (!is_string(function)) return NULL;
    out->guess = true;
    PyObject *command = argv && PyList_Check(argv) ? find_command(argv) : NULL;
    PyErr_Clear();
    return command && PyUnicode_Check(command) ? Py_NewRef(command) : NULL;
}

/* -- one after the other -- */

/* Line ends as Python's parser sees them. Takes the text over. */
static PyObject *only_newlines(PyObject *text) {
    PyObject *from, *to, *shorter;
    static const char *const ends[] = {"\r\n", "\r"};
    for (size_t i = 0; text && i < PS_COUNT(ends); i++) {
        if (PyUnicode_FindChar(text, '\r', 0, PyUnicode_GET_LENGTH(text), 1) < 0) break;
        from = PyUnicode_FromString(ends[i]);
        to = PyUnicode_FromString("\n");
        shorter = from && to ? PyUnicode_Replace(text, from, to, -1) : NULL;
        Py_XDECREF(from);
        Py_XDECREF(to);
        Py_SETREF(text, shorter);
    }
    return text;
}

int ast_text_next(PyFunctionObject *function, int *which, AstText *out) {
    static PyObject *(*const ways[])(PyFunctionObject *, AstText *) = {text_of_code, text_of_file,
                                                                       text_of_linecache, text_of_command};
    while (*which < (int)PS_COUNT(ways)) {
        *out = (AstText){0};
        out->text = ways[(*which)++](function, out);
        if (!out->text && PyErr_Occurred()) return -1;
        if (!out->text) continue;
        out->text = only_newlines(out->text);
        return out->text ? 1 : -1;
    }
    return 0;
}
