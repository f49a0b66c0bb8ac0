/* SPDX-License-Identifier: Apache-2.0
 *
 * How much stack is left, and errands on a thread with a large one.
 */
#include "unit.h"

#include "rt/rt.h"

#include <fenv.h>
#include <pthread.h>

#define SMALL ((size_t)128 << 10)

typedef struct Seen {
    pthread_t thread;
    size_t left;
    double third;
    int runs;
} Seen;

static void look(void *data) {
    Seen *seen = data;
    seen->thread = pthread_self();
    seen->left = ps_stack_left();
    volatile double one = 1, three = 3;
    seen->third = one / three;
    seen->runs++;
}

__attribute__((noinline)) static size_t left_below(void) {
    volatile char room[20000];
    room[0] = room[sizeof room - 1] = 1;
    return ps_stack_left() + (size_t)(room[0] - room[sizeof room - 1]);
}

static void test_left(void) {
    size_t here = ps_stack_left(), below = left_below();
    CHECK(here > 100000 && here < SIZE_MAX);
    CHECK(below < here - 19000 && below > here - 50000);
}

static void test_here(void) {
    Seen seen = {0};
    CHECK(ps_rt_with_stack(0, look, &seen));
    CHECK(seen.runs == 1 && pthread_equal(seen.thread, pthread_self()));
    CHECK(ps_rt_with_stack(ps_stack_left() / 2, look, &seen));
    CHECK(seen.runs == 2 && pthread_equal(seen.thread, pthread_self()));
}

static void test_elsewhere(void) {
    Seen seen = {0};
    fesetround(FE_UPWARD);
    CHECK(ps_rt_with_stack((size_t)1 << 40, look, &seen));
    CHECK_INT(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    CHECK(seen.runs == 1 && !pthread_equal(seen.thread, pthread_self()));
    CHECK(seen.left > ((size_t)8 << 20));
    CHECK_DOUBLE(seen.third, 0x1.5555555555555p-2); /* to nearest, whatever the maker's mode */
}

static void *small_main(void *data) {
    Seen *seen = data;
    CHECK(ps_stack_left() < SMALL);
    CHECK(ps_rt_with_stack((size_t)1 << 20, look, seen));
    CHECK(!pthread_equal(seen->thread, pthread_self()));
    return NULL;
}

static void test_small_stack(void) {
    Seen seen = {0};
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, SMALL);
    REQUIRE(pthread_create(&thread, &attr, small_main, &seen) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    CHECK_INT(seen.runs, 1);
}

int main(void) {
    RUN(test_left);
    RUN(test_here);
    RUN(test_elsewhere);
    RUN(test_small_stack);
    return unit_result();
}
