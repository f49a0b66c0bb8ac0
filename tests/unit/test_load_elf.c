/* SPDX-License-Identifier: Apache-2.0
 *
 * The loader on objects that the C compiler makes: every relocation it must know, functions that are far away, what
 * it must refuse, and thousands of damaged objects. Without a C compiler at run time nothing is tested.
 */
#include "unit.h"

#include "load/load.h"

#include <elf.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)

static char folder[] = "/tmp/pestle-test-load-XXXXXX";

/* The bytes of an object made from C text; false when there is no compiler or it does not know the flags. */
static bool compile(const char *text, const char *flags, PsBuf *out) {
    char path[200], command[600];
    snprintf(path, sizeof path, "%s/a.c", folder);
    FILE *file = fopen(path, "w");
    if (!file) return false;
    fputs(text, file);
    fclose(file);
    snprintf(command, sizeof command, "%s -c -O2 -w %s %s/a.c -o %s/a.o 2>/dev/null",
             getenv("CC") ? getenv("CC") : "cc", flags, folder, folder);
    if (system(command) != 0) return false;
    snprintf(path, sizeof path, "%s/a.o", folder);
    file = fopen(path, "rb");
    if (!file) return false;
    char chunk[4096];
    *out = (PsBuf){0};
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;) ps_buf_add(out, chunk, got);
    fclose(file);
    return !out->failed;
}

static int32_t forty_two(void) { return 42; }
static double twice(double x) { return 2 * x; }
static void *far_twice; /* more than 2 GiB away from everything */

static void *near_symbols(const char *name) {
    if (strcmp(name, "forty_two") == 0) return (void *)forty_two;
    if (strcmp(name, "twice") == 0) return (void *)twice;
    if (strcmp(name, "memcpy") == 0) return (void *)memcpy;
    return NULL;
}
static void *far_symbols(const char *name) {
    return strcmp(name, "twice") == 0 ? far_twice : near_symbols(name);
}
static void *no_symbols(const char *name) {
    (void)name;
    return NULL;
}

static const char everything[] =
    "extern int forty_two(void); extern double twice(double); typedef int (*Fn)(int);\n"
    "static int one(int x) { return x + 1; } static int two(int x) { return x * 2; } static int counter = 5;\n"
    "static int zeroed[100]; static const char *const names[] = {\"a\", \"bc\", \"def\"};\n"
    "static Fn const table[] = {one, two};\n"
    "__attribute__((noinline)) static int pick(int k) { switch (k) { case 0: return 3; case 1: return 14;\n"
    "    case 2: return 159; case 3: return 26; case 4: return 535; case 5: return 89; case 6: return 7; } "
    "return -1; }\n"
    "int calls(void) { return forty_two() + 1; }\n"
    "double math(double x) { return twice(x) * 0.1 + 3.25; }\n"
    "int jump(int k) { return pick(k); }\n"
    "int through(int k, int x) { return table[k & 1](x); }\n"
    "const char *name(int k) { return names[k]; }\n"
    "int count(void) { zeroed[7]++; return counter++ + zeroed[7]; }\n"
    "void *address(void) { return (void *)forty_two; }\n";

static void check_everything(const PsLoadedCode *code) {
    int (*calls)(void) = (int (*)(void))ps_load_symbol(code, "calls");
    double (*math)(double) = (double (*)(double))ps_load_symbol(code, "math");
    int (*jump)(int) = (int (*)(int))ps_load_symbol(code, "jump");
    int (*through)(int, int) = (int (*)(int, int))ps_load_symbol(code, "through");
    const char *(*name)(int) = (const char *(*)(int))ps_load_symbol(code, "name");
    int (*count)(void) = (int (*)(void))ps_load_symbol(code, "count");
    void *(*address)(void) = (void *(*)(void))ps_load_symbol(code, "address");
    REQUIRE(calls && math && jump && through && name && count && address);
    CHECK_INT(calls(), 43);
    CHECK_DOUBLE(math(1.5), 1.5 * 2 * 0.1 + 3.25);
    CHECK_INT(jump(2), 159);
    CHECK_INT(jump(6), 7);
    CHECK_INT(jump(9), -1);
    CHECK_INT(through(0, 10), 11);
    CHECK_INT(through(1, 10), 20);
    CHECK_STR(name(2), "def");
    CHECK_INT(count(), 6);
    CHECK_INT(count(), 8);
    CHECK_PTR(address(), (void *)forty_two);
    CHECK_PTR(ps_load_symbol(code, "one"), NULL);
    CHECK_PTR(ps_load_symbol(code, "nothing"), NULL);
}

static void test_relocations(void) {
    static const char *const flags[] = {"-fPIC", "-fPIC -fno-plt", "-fPIC -O0 -fno-jump-tables",
                                        "-fPIC -mcmodel=medium -O1", "-fPIC -g -fasynchronous-unwind-tables"};
    for (size_t i = 0; i < PS_COUNT(flags); i++) {
        PsBuf elf = {0};
        const char *error = NULL;
        if (!compile(everything, flags[i], &elf)) continue;
        PsLoadedCode *code = ps_load_elf(elf.data, elf.len, near_symbols, "test", &error);
        CHECK_STR(error, NULL);
        if (code) check_everything(code);
        ps_load_free(code);
        ps_buf_free(&elf);
    }
}

/* vaddsd %xmm0, %xmm0 by hand, where no 32-bit displacement reaches. */
static bool make_far_function(void) {
    uintptr_t here = (uintptr_t)forty_two;
    void *page = mmap((void *)((here + ((uintptr_t)64 << 32)) & ~(uintptr_t)0xfff), 4096,
                      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return false;
    memcpy(page, "\xf2\x0f\x58\xc0\xc3", 5);
    far_twice = page;
    return mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
}

static void test_far_functions(void) {
    static const char *const flags[] = {"-fPIC", "-fPIC -fno-plt"};
    REQUIRE(make_far_function());
    for (size_t i = 0; i < PS_COUNT(flags); i++) {
        PsBuf elf = {0};
        const char *error = NULL;
        if (!compile(everything, flags[i], &elf)) continue;
        PsLoadedCode *code = ps_load_elf(elf.data, elf.len, far_symbols, "test", &error);
        CHECK_STR(error, NULL);
        if (code) check_everything(code);
        ps_load_free(code);
        ps_buf_free(&elf);
    }
}

/* What /proc/self/maps says of an address, as "r-xp". */
static void rights_of(const void *address, char out[5]) {
    char line[400], *end;
    snprintf(out, 5, "none");
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) { /* low-high rights ... */
        uintptr_t lo = strtoul(line, &end, 16), hi = strtoul(end + 1, &end, 16);
        if ((uintptr_t)address >= lo && (uintptr_t)address < hi) snprintf(out, 5, "%.4s", end + 1);
    }
    if (maps) fclose(maps);
}

static void test_write_or_execute(void) {
    PsBuf elf = {0};
    const char *error = NULL;
    if (!compile("int data = 1; const int fixed[9] = {4}; int *f(void) { return &data; }\n"
                 "const int *g(void) { return fixed; }",
                 "-fPIC -fvisibility=hidden", &elf))
        return;
    PsLoadedCode *code = ps_load_elf(elf.data, elf.len, no_symbols, "test", &error);
    REQUIRE(code != NULL);
    int *(*f)(void) = (int *(*)(void))ps_load_symbol(code, "f");
    const int *(*g)(void) = (const int *(*)(void))ps_load_symbol(code, "g");
    char rights[5];
    rights_of((void *)f, rights);
    CHECK_STR(rights, "r-xp");
    rights_of(f(), rights);
    CHECK_STR(rights, "rw-p");
    rights_of(g(), rights);
    CHECK_STR(rights, "r--p");
    CHECK_INT(g()[0], 4);
    ps_load_free(code);
    ps_buf_free(&elf);
}

static void test_refusals(void) {
    static const struct {
        const char *text, *flags, *error;
    } cases[] = {
        {"int x; int *f(void) { return &x; }", "-fno-pic -mcmodel=kernel",
         "the object has a relocation of a kind that is not loaded"},
        {"_Thread_local int x; int *f(void) { return &x; }", "-fPIC -fvisibility=hidden",
         "the object has a section of a kind that is not loaded"},
        {"extern int nowhere(void); int f(void) { return nowhere(); }", "-fPIC",
         "the object refers to a function that the runtime does not have"},
        {"int x; int *f(void) { return &x; }", "-fPIC -fcommon", "a symbol is in no loaded section"},
        {"__attribute__((constructor)) void f(void) {}", "-fPIC",
         "the object has a section of a kind that is not loaded"},
        {"int x = 3;", "-fPIC", "the object has no code"},
    };
    for (size_t i = 0; i < PS_COUNT(cases); i++) {
        PsBuf elf = {0};
        const char *error = NULL;
        if (!compile(cases[i].text, cases[i].flags, &elf)) continue;
        CHECK_PTR(ps_load_elf(elf.data, elf.len, no_symbols, "test", &error), NULL);
        CHECK_STR(error, cases[i].error);
        ps_buf_free(&elf);
    }
    const char *error = NULL;
    CHECK_PTR(ps_load_elf("", 0, no_symbols, "test", &error), NULL);
    CHECK_STR(error, "the object is cut short");
}

static uint32_t random_state = 12345;
static uint32_t next_random(void) {
    random_state = random_state * 1664525 + 1013904223;
    return random_state >> 8;
}

/* Wherever bytes are wrong, the loader says no or loads something; it never reads or writes out of bounds (which
 * the sanitizers see). Interesting places get more than their share: headers, symbols, relocations. */
static void test_damaged_objects(void) {
    PsBuf elf = {0};
    if (!compile(everything, "-fPIC -fno-plt", &elf)) return;
    Elf64_Ehdr head;
    memcpy(&head, elf.data, sizeof head);
    int loaded = 0;
    for (int round = 0; round < 6000; round++) {
        size_t len = round % 10 ? elf.len : next_random() % elf.len;
        char *exact = malloc(len ? len : 1);
        memcpy(exact, elf.data, len);
        for (uint32_t k = 0, n = next_random() % 4; k < n && len; k++) {
            size_t at = next_random() % len;
            if (next_random() % 2 && head.e_shoff < len)
                at = head.e_shoff + next_random() % (len - head.e_shoff);
            static const uint8_t extremes[] = {0, 1, 0xff, 0x7f, 0x80};
            exact[at] = (char)(next_random() % 2 ? extremes[next_random() % 5] : next_random());
        }
        const char *error = NULL;
        PsLoadedCode *code = ps_load_elf(exact, len, near_symbols, "test", &error);
        if (code) loaded++;
        if (!code && !error) CHECK(!"an error text");
        ps_load_free(code);
        free(exact);
    }
    CHECK(loaded > 100 && loaded < 5900);
    ps_buf_free(&elf);
}

static void test_without_memory(void) {
    PsBuf elf = {0};
    if (!compile(everything, "-fPIC", &elf)) return;
    for (int n = 0; n < 50; n++) {
        const char *error = NULL;
        ps_alloc_fail_after(n);
        PsLoadedCode *code = ps_load_elf(elf.data, elf.len, near_symbols, "test", &error);
        ps_alloc_fail_after(-1);
        if (code) {
            CHECK(n > 3);
            ps_load_free(code);
            break;
        }
        CHECK_STR(error, "no memory");
    }
    ps_buf_free(&elf);
}

static void test_debug_registration(void) {
    PsBuf elf = {0};
    if (!compile(everything, "-fPIC -g", &elf)) return;
    const char *error = NULL;
    char path[64], line[300];
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    setenv("PESTLE_PERF", "1", 1);
    setenv("PESTLE_GDB", "1", 1);
    PsLoadedCode *codes[3];
    for (int i = 0; i < 3; i++) codes[i] = ps_load_elf(elf.data, elf.len, near_symbols, "kernel", &error);
    unsetenv("PESTLE_PERF");
    unsetenv("PESTLE_GDB");
    REQUIRE(codes[0] && codes[1] && codes[2]);
    FILE *map = fopen(path, "r");
    REQUIRE(map != NULL);
    int found = 0;
    while (fgets(line, sizeof line, map)) {
        char *end;
        uintptr_t address = strtoul(line, &end, 16), size = strtoul(end, &end, 16);
        CHECK(address && size);
        found += strcmp(end, " kernel:jump\n") == 0 && address == (uintptr_t)ps_load_symbol(codes[1], "jump");
    }
    CHECK_INT(found, 1);
    fclose(map);
    unlink(path);
    ps_load_free(codes[1]);
    ps_load_free(codes[0]);
    ps_load_free(codes[2]);
    ps_buf_free(&elf);
}

int main(void) {
    PsBuf elf = {0};
    if (!mkdtemp(folder)) return 1;
    if (!compile("int f(void) { return 1; }", "-fPIC", &elf)) {
        fprintf(stderr, "no C compiler: the loader is not tested\n");
        rmdir(folder);
        return 77; /* skipped */
    }
    ps_buf_free(&elf);
    RUN(test_relocations);
    RUN(test_far_functions);
    RUN(test_write_or_execute);
    RUN(test_refusals);
    RUN(test_damaged_objects);
    RUN(test_without_memory);
    RUN(test_debug_registration);
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return unit_result() || system(command) != 0;
}

#else
static void test_refused(void) {
    const char *error = NULL;
    CHECK_PTR(ps_load_elf("", 0, NULL, "test", &error), NULL);
    CHECK_STR(error, "machine code is loaded on x86-64 only");
}
int main(void) {
    RUN(test_refused);
    return unit_result();
}
#endif
