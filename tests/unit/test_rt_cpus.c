/* SPDX-License-Identifier: Apache-2.0
 *
 * How many CPUs the control groups leave us, from files as the kernel writes them, and the affinity mask.
 */
#include "unit.h"

#include "rt/rt_int.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/pestle-test-cpus-XXXXXX";

/* Writes a file below the root, and the folders it needs. */
static const char *write_file(const char *name, const char *text) {
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *at = path + strlen(root) + 1; *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        CHECK(mkdir(path, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    if (!file) return path;
    fputs(text, file);
    fclose(file);
    return path;
}

static int quota(const char *groups) { return rt_count_quota(write_file("self", groups), root); }

static void test_version_2(void) {
    CHECK_INT(quota("0::/\n"), INT32_MAX);
    write_file("a/b/cpu.max", "max 100000\n");
    CHECK_INT(quota("0::/a/b\n"), INT32_MAX);
    write_file("a/b/cpu.max", "250000 100000\n");
    CHECK_INT(quota("0::/a/b\n"), 3); /* 2.5 rounded up */
    write_file("a/cpu.max", "100000 100000\n");
    CHECK_INT(quota("0::/a/b\n"), 1); /* the group above has less */
    CHECK_INT(quota("0::/a\n"), 1);
    CHECK_INT(quota("0::/elsewhere/c\n"), INT32_MAX); /* a path of the host */
    write_file("cpu.max", "50000 100000\n");
    CHECK_INT(quota("0::/elsewhere/c\n"), 1);
    CHECK_INT(quota("0::/\n"), 1);
    write_file("cpu.max", "max 100000\n");
}

static void test_version_1(void) {
    write_file("cpu/docker/cpu.cfs_quota_us", "400000\n");
    write_file("cpu/docker/cpu.cfs_period_us", "100000\n");
    CHECK_INT(quota("5:cpuset:/x\n4:cpu,cpuacct:/docker\n3:memory:/y\n0::/none\n"), 4);
    CHECK_INT(quota("4:cpuacct,cpuset:/docker\n"), INT32_MAX);
    write_file("cpu/docker/cpu.cfs_quota_us", "-1\n");
    CHECK_INT(quota("4:cpu,cpuacct:/docker\n"), INT32_MAX);
}

static void test_nonsense(void) {
    static const char *const texts[] = {
        "", "\n", "0", "0:", "0::", ":::", "0::\n\n0::", "4:cpu", "4:cpu:", "x\ny\nz"};
    char longer[3000];
    for (size_t i = 0; i < PS_COUNT(texts); i++) CHECK(quota(texts[i]) >= 1);
    memset(longer, '/', sizeof longer);
    memcpy(longer, "0::", 3);
    longer[sizeof longer - 1] = 0;
    CHECK(quota(longer) >= 1);
    write_file("a/b/cpu.max", "0 0\n");
    write_file("a/cpu.max", "-100 5\n");
    CHECK_INT(quota("0::/a/b\n"), INT32_MAX);
    write_file("a/cpu.max", "99999999999999999999999 1\n");
    CHECK_INT(quota("0::/a/b\n"), INT32_MAX);
    CHECK_INT(rt_count_quota("/nonexistent/file", root), INT32_MAX);
}

static void test_affinity(void) {
    cpu_set_t all, one;
    CPU_ZERO(&one);
    REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
    for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    CHECK(rt_count_cpus() <= CPU_COUNT(&all));
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK_INT(rt_count_cpus(), 1);
    CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
}

int main(void) {
    char command[100];
    if (!mkdtemp(root)) return 1;
    RUN(test_version_2);
    RUN(test_version_1);
    RUN(test_nonsense);
    RUN(test_affinity);
    snprintf(command, sizeof command, "rm -rf %s", root);
    int left = system(command);
    return unit_result() || left;
}
