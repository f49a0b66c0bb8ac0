/* SPDX-License-Identifier: Apache-2.0
 *
 * unit: checks for the C tests. Each tests/unit/test_<topic>.c is an executable of its own:
 *
 *     #include "unit.h"
 *     static void test_push(void) { CHECK_INT(v.len, 3); CHECK_STR(name, "x"); CHECK(ok); }
 *     int main(void) { RUN(test_push); return unit_result(); }
 *
 * A failed check prints the file, the line and both values, and the test goes on; REQUIRE ends the test
 * function. Threads may check too. Not here: fixtures, mocks, a registry.
 */
#ifndef PS_TESTS_UNIT_H
#define PS_TESTS_UNIT_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int unit_checks, unit_failures; /* atomic */
static const char *unit_name = "main";

static inline int unit_report(int ok, const char *file, int line) {
    __atomic_fetch_add(&unit_checks, 1, __ATOMIC_RELAXED);
    if (!ok) {
        __atomic_fetch_add(&unit_failures, 1, __ATOMIC_RELAXED);
        fprintf(stderr, "%s:%d: in %s: ", file, line, unit_name);
    }
    return ok;
}

static inline int unit_int(int64_t got, int64_t want, const char *text, const char *file, int line) {
    int ok = unit_report(got == want, file, line);
    if (!ok) fprintf(stderr, "%s is %" PRId64 " (0x%" PRIx64 "), expected %" PRId64 "\n", text, got, got, want);
    return ok;
}

static inline int unit_ptr(const void *got, const void *want, const char *text, const char *file, int line) {
    int ok = unit_report(got == want, file, line);
    if (!ok) fprintf(stderr, "%s is %p, expected %p\n", text, got, want);
    return ok;
}

static inline int unit_str(const char *got, const char *want, const char *text, const char *file, int line) {
    int ok = unit_report(got == want || (got && want && strcmp(got, want) == 0), file, line);
    if (!ok) fprintf(stderr, "%s is\n  %s\nexpected\n  %s\n", text, got ? got : "NULL", want ? want : "NULL");
    return ok;
}

/* Equal bits: tells -0.0 from 0.0, and a NaN equals the same NaN. */
static inline int unit_double(double got, double want, const char *text, const char *file, int line) {
    int ok = unit_report(memcmp(&got, &want, sizeof got) == 0, file, line);
    if (!ok) fprintf(stderr, "%s is %.17g (%a), expected %.17g (%a)\n", text, got, got, want, want);
    return ok;
}

static inline int unit_near(double got, double want, double within, const char *text, const char *file,
                            int line) {
    double difference = got > want ? got - want : want - got;
    int ok = unit_report(difference <= within, file, line); /* false for a NaN */
    if (!ok) fprintf(stderr, "%s is %.17g, expected %.17g within %g\n", text, got, want, within);
    return ok;
}

static inline int unit_true(int got, const char *text, const char *file, int line) {
    int ok = unit_report(got, file, line);
    if (!ok) fprintf(stderr, "%s is false\n", text);
    return ok;
}

static inline int unit_memory(const void *got, const void *want, size_t size, const char *text,
                              const char *file, int line) {
    const unsigned char *a = got, *b = want;
    size_t at = 0;
    while (at < size && a[at] == b[at]) at++;
    int ok = unit_report(at == size, file, line);
    if (!ok) fprintf(stderr, "%s: byte %zu is 0x%02x, expected 0x%02x\n", text, at, a[at], b[at]);
    return ok;
}

static inline int unit_result(void) {
    fprintf(stderr, "%d checks, %d failed\n", unit_checks, unit_failures);
    return unit_failures != 0;
}

#define CHECK(cond)                unit_true(!!(cond), #cond, __FILE__, __LINE__)
#define CHECK_INT(got, want)       unit_int((int64_t)(got), (int64_t)(want), #got, __FILE__, __LINE__)
#define CHECK_PTR(got, want)       unit_ptr((got), (want), #got, __FILE__, __LINE__)
#define CHECK_STR(got, want)       unit_str((got), (want), #got, __FILE__, __LINE__)
#define CHECK_DOUBLE(got, want)    unit_double((got), (want), #got, __FILE__, __LINE__)
#define CHECK_NEAR(got, want, eps) unit_near((got), (want), (eps), #got, __FILE__, __LINE__)
#define CHECK_MEMORY(got, want, n) unit_memory((got), (want), (n), #got, __FILE__, __LINE__)

/* Ends the test function when it fails, for what later checks stand on. */
#define REQUIRE(cond)                                                                                          \
    do {                                                                                                       \
        if (!CHECK(cond)) return;                                                                              \
    } while (0)

#define RUN(test)                                                                                              \
    do {                                                                                                       \
        unit_name = #test;                                                                                     \
        test();                                                                                                \
    } while (0)

#endif
