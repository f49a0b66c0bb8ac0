/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_cpus: how many threads can run at once: the affinity mask of this process, cut by the CPU quota of its control
 * group (version 2: cpu.max of the group and of all above it; version 1: cpu.cfs_quota_us). In a container more
 * threads than that only take turns, and a spinning one then steals from a working one.
 */
#include "rt/rt_int.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int count_affinity(void) {
    for (int room = 1024; room <= 1 << 20; room *= 2) { /* the kernel's mask may be larger than cpu_set_t */
        cpu_set_t *set = CPU_ALLOC(room);
        if (!set) break;
        size_t size = CPU_ALLOC_SIZE(room);
        int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0) return count;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < PS_RT_MAX_THREADS ? (int)online : 1;
}

/* The file's text, NUL-terminated and perhaps cut; false when it cannot be read. */
static bool read_small(const char *path, char *out, size_t room) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = read(fd, out, room - 1);
    close(fd);
    out[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* CPUs of a quota, rounded up; INT32_MAX: no limit. */
static int quota_cpus(long long quota, long long period) {
    if (quota <= 0 || period <= 0) return INT32_MAX;
    long long cpus = (quota - 1) / period + 1;
    return cpus < INT32_MAX ? (int)cpus : INT32_MAX;
}

/* cpu.max: "quota period", or "max period". */
static int group_quota_v2(const char *root, const char *group) {
    char path[1200], text[64], *end;
    snprintf(path, sizeof path, "%s%s/cpu.max", root, group);
    if (!read_small(path, text, sizeof text)) return INT32_MAX;
    long long quota = strtoll(text, &end, 10);
    return end > text ? quota_cpus(quota, strtoll(end, NULL, 10)) : INT32_MAX;
}

static int group_quota_v1(const char *root, const char *group) {
    char path[1200], quota[64], period[64];
    snprintf(path, sizeof path, "%s/cpu%s/cpu.cfs_quota_us", root, group);
    if (!read_small(path, quota, sizeof quota)) return INT32_MAX;
    snprintf(path, sizeof path, "%s/cpu%s/cpu.cfs_period_us", root, group);
    if (!read_small(path, period, sizeof period)) return INT32_MAX;
    return quota_cpus(strtoll(quota, NULL, 10), strtoll(period, NULL, 10));
}

/* The least quota of the group and of the groups above it. Inside a container the path may be one of the host that
 * is not mounted here; the walk then still ends at the mounted root. */
static int walk_groups(const char *root, char *group, int (*quota_of)(const char *root, const char *group)) {
    int least = INT32_MAX;
    for (;;) {
        int cpus = quota_of(root, group);
        if (cpus < least) least = cpus;
        char *slash = strrchr(group, '/');
        if (!slash) return least;
        *slash = 0;
    }
}

/* Whether the comma-separated list of controllers names `cpu`. */
static bool names_cpu(const char *list, const char *end) {
    while (list < end) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        if (!comma) comma = end;
        if (comma - list == 3 && memcmp(list, "cpu", 3) == 0) return true;
        list = comma + 1;
    }
    return false;
}

/* The file's lines are `number:controllers:path`; `0::path` is version 2. */
int rt_count_quota(const char *file, const char *root) {
    char text[4096];
    int least = INT32_MAX;
    if (!read_small(file, text, sizeof text)) return least;
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        char *list = strchr(line, ':');
        char *group = list ? strchr(++list, ':') : NULL;
        if (!group) continue;
        bool v2 = list == group;
        if (!v2 && !names_cpu(list, group)) continue;
        if (strlen(++group) > 500) continue;
        if (group[0] == '/' && !group[1]) group++;
        int cpus = walk_groups(root, group, v2 ? group_quota_v2 : group_quota_v1);
        if (cpus < least) least = cpus;
    }
    return least;
}

int rt_count_cpus(void) {
    int cpus = count_affinity(), quota = rt_count_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    return quota < cpus ? quota : cpus;
}
