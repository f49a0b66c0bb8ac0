/* SPDX-License-Identifier: Apache-2.0
 *
 * The container and the store: what is written comes back, and nothing that is damaged, planted, cut or too much
 * does harm. Directories are made under /tmp and removed.
 */
#include "unit.h"

#include "object/object.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char root[] = "/tmp/pestle-test-store-XXXXXX";

/* A directory of that name under the root, which is not made. */
static const char *place(const char *name) {
    static char path[4][200];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", root, name);
    return path[turn];
}

static PsHash key_of(uint32_t number) { return ps_sha256(&number, sizeof number); }

static const char *file_of(const char *dir, uint32_t number) {
    static char path[300];
    char hex[65];
    PsHash key = key_of(number);
    ps_hash_hex(&key, hex);
    snprintf(path, sizeof path, "%s/%s", dir, hex);
    return path;
}

static int count_files(const char *dir) {
    int count = 0;
    DIR *d = opendir(dir);
    for (struct dirent *item; d && (item = readdir(d));) count += item->d_name[0] != '.';
    if (d) closedir(d);
    return count;
}

/* An object whose ELF is `size` bytes that follow from the number. */
static void make_object(uint32_t number, size_t size, PsBuf *out) {
    PsObjectSite sites[3] = {{PS_FAULT_BOUNDS, {1, number, 2, 3, 4}}, {PS_FAULT_ASSERT, {2, 5, 6, 7, 8}}, {0}};
    char *elf = malloc(size + 1);
    for (size_t i = 0; i < size; i++) elf[i] = (char)(number * 31 + i * i);
    PsObject object = {.param_words = 3,
                       .result_words = 1,
                       .frame_words = 9,
                       .ntasks = 2,
                       .flags = PS_OBJECT_UNBOUNDED,
                       .sites = sites,
                       .nsites = number % 4,
                       .elf = elf,
                       .elf_size = size};
    *out = (PsBuf){0};
    CHECK_INT(ps_object_write(&object, out), PS_OK);
    free(elf);
}

static bool is_object(const PsObject *object, uint32_t number, size_t size) {
    if (object->nsites != number % 4 || object->elf_size != size || object->frame_words != 9) return false;
    if (object->nsites > 1 && (object->sites[0].span.line != number || object->sites[1].span.end_col != 8))
        return false;
    for (size_t i = 0; i < size; i++)
        if (object->elf[i] != (char)(number * 31 + i * i)) return false;
    return true;
}

static void put(PsStore *store, uint32_t number, size_t size) {
    PsBuf bytes;
    PsHash key = key_of(number);
    make_object(number, size, &bytes);
    ps_store_put(store, &key, bytes.data, bytes.len);
    ps_buf_free(&bytes);
}

static bool get(PsStore *store, uint32_t number, size_t size) {
    PsObject object;
    PsHash key = key_of(number);
    if (!ps_store_get(store, &key, &object)) return false;
    CHECK(is_object(&object, number, size));
    ps_object_free(&object);
    return true;
}

/* -- the container -- */

static void test_container(void) {
    for (uint32_t number = 0; number < 40; number++) {
        PsBuf bytes;
        PsObject object;
        make_object(number, number * 7, &bytes);
        REQUIRE(ps_object_read(bytes.data, bytes.len, &object));
        CHECK(is_object(&object, number, number * 7));
        CHECK_INT((uintptr_t)object.elf % 16, 0);
        CHECK_INT(object.param_words, 3);
        CHECK_INT(object.result_words, 1);
        CHECK_INT(object.ntasks, 2);
        CHECK_INT(object.flags, PS_OBJECT_UNBOUNDED);
        ps_object_free(&object);
    }
}

/* Every byte changed, every length cut: never accepted. */
static void test_damaged_container(void) {
    PsBuf bytes;
    PsObject object;
    make_object(3, 100, &bytes);
    int accepted = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        for (int bit = 0; bit < 8; bit++) {
            bytes.data[i] ^= (char)(1 << bit);
            accepted += ps_object_read(bytes.data, bytes.len, &object);
            bytes.data[i] ^= (char)(1 << bit);
        }
        char *cut = malloc(i + 1);
        memcpy(cut, bytes.data, i);
        accepted += ps_object_read(cut, i, &object);
        memset(cut, 0, i);
        accepted += ps_object_read(cut, i, &object);
        free(cut);
    }
    CHECK_INT(accepted, 0);
    CHECK(ps_object_read(bytes.data, bytes.len, &object));
    ps_object_free(&object);
}

/* -- the store -- */

static void test_put_and_get(void) {
    const char *warning, *dir = place("a/b/c");
    PsStore *store = ps_store_open(dir, &warning);
    REQUIRE(store != NULL);
    CHECK_STR(warning, NULL);
    CHECK_STR(ps_store_dir(store), dir);
    struct stat info;
    REQUIRE(stat(dir, &info) == 0);
    CHECK_INT(info.st_mode & 0777, 0700);
    CHECK(!get(store, 1, 50));
    for (uint32_t i = 0; i < 20; i++) put(store, i, i * 100);
    for (uint32_t i = 0; i < 20; i++) CHECK(get(store, i, i * 100));
    put(store, 5, 77); /* the newest wins */
    CHECK(get(store, 5, 77));
    CHECK_INT(count_files(dir), 20);
    CHECK_STR(ps_store_warning(store), NULL);
    ps_store_close(store);
    store = ps_store_open(dir, &warning);
    REQUIRE(store != NULL);
    CHECK(get(store, 19, 1900));
    ps_store_close(store);
}

static void overwrite(const char *path, long at, const void *bytes, size_t len, long cut) {
    int fd = open(path, O_WRONLY);
    CHECK(fd >= 0);
    if (len) CHECK(pwrite(fd, bytes, len, at) == (ssize_t)len);
    if (cut >= 0) CHECK(ftruncate(fd, cut) == 0);
    close(fd);
}

static void test_bad_files(void) {
    const char *warning, *dir = place("bad");
    PsStore *store = ps_store_open(dir, &warning);
    REQUIRE(store != NULL);
    static const char zeros[4096];
    for (uint32_t i = 0; i < 6; i++) put(store, i, 3000);
    overwrite(file_of(dir, 0), 0, "", 0, 0);         /* emptied */
    overwrite(file_of(dir, 1), 0, "", 0, 1500);      /* cut */
    overwrite(file_of(dir, 2), 0, zeros, 3000, -1);  /* zeroed by a crash */
    overwrite(file_of(dir, 3), 2000, "\x55", 1, -1); /* a flipped bit or several */
    char other[300];
    snprintf(other, sizeof other, "%s", file_of(dir, 4));
    CHECK(rename(other, file_of(dir, 5)) == 0); /* a sound file under a wrong name */
    for (uint32_t i = 0; i < 6; i++) {
        CHECK(!get(store, i, 3000));
        CHECK(access(file_of(dir, i), F_OK) != 0);
        put(store, i, 3000);
        CHECK(get(store, i, 3000));
    }
    ps_store_close(store);
}

/* Things that are no plain files: not followed, not waited for. */
static void test_planted_files(void) {
    const char *warning, *dir = place("planted");
    PsStore *store = ps_store_open(dir, &warning);
    REQUIRE(store != NULL);
    put(store, 1, 10);
    CHECK(symlink(file_of(dir, 1), place("planted/link")) == 0);
    CHECK(rename(place("planted/link"), file_of(dir, 2)) == 0);
    CHECK(mkfifo(file_of(dir, 3), 0600) == 0);
    CHECK(mkdir(file_of(dir, 4), 0700) == 0);
    for (uint32_t i = 2; i < 5; i++) CHECK(!get(store, i, 10));
    CHECK(get(store, 1, 10));
    ps_store_close(store);
}

static void check_refused(const char *dir, const char *part) {
    const char *warning = NULL;
    PsStore *store = ps_store_open(dir, &warning);
    CHECK_PTR(store, NULL);
    CHECK(warning && strstr(warning, part));
    if (warning && !strstr(warning, part)) fprintf(stderr, "the warning is: %s\n", warning);
    ps_free((char *)warning);
    ps_store_close(store);
}

static void test_refused_directories(void) {
    FILE *file = fopen(place("file"), "w");
    REQUIRE(file != NULL);
    fclose(file);
    check_refused(place("file"), "Not a directory");
    check_refused(place("file/below"), "Not a directory");
    CHECK(mkdir(place("open"), 0700) == 0 && chmod(place("open"), 0777) == 0);
    check_refused(place("open"), "everybody may write");
    if (geteuid() == 0) {
        CHECK(mkdir(place("theirs"), 0700) == 0 && chown(place("theirs"), 12345, 12345) == 0);
        check_refused(place("theirs"), "another user");
    } else {
        check_refused("/", "another user");
    }
    unsetenv("PESTLE_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    check_refused(NULL, "HOME");
}

static void test_environment(void) {
    const char *warning;
    char want[300];
    setenv("HOME", root, 1);
    setenv("XDG_CACHE_HOME", "relative", 1); /* to be ignored */
    PsStore *store = ps_store_open(NULL, &warning);
    REQUIRE(store != NULL);
    snprintf(want, sizeof want, "%s/.cache/pestle", root);
    CHECK_STR(ps_store_dir(store), want);
    ps_store_close(store);
    setenv("XDG_CACHE_HOME", place("xdg"), 1);
    store = ps_store_open(NULL, &warning);
    REQUIRE(store != NULL);
    CHECK_STR(ps_store_dir(store), place("xdg/pestle"));
    ps_store_close(store);
    setenv("PESTLE_CACHE_DIR", place("chosen"), 1);
    store = ps_store_open(NULL, &warning);
    REQUIRE(store != NULL);
    CHECK_STR(ps_store_dir(store), place("chosen"));
    ps_store_close(store);
}

static void test_limit(void) {
    static const struct {
        const char *text;
        uint64_t mb;
        bool warned;
    } cases[] = {{"", 512, false},
                 {"0", 0, false},
                 {"7", 7, false},
                 {"abc", 512, true},
                 {"-1", 512, true},
                 {"10 GB", 512, true},
                 {"99999999999999999999", 512, true}};
    for (size_t i = 0; i < PS_COUNT(cases); i++) {
        const char *warning;
        char want[200];
        setenv("PESTLE_CACHE_LIMIT_MB", cases[i].text, 1);
        PsStore *store = ps_store_open(place("limit"), &warning);
        REQUIRE(store != NULL);
        CHECK_INT(ps_store_limit(store), cases[i].mb << 20);
        snprintf(want, sizeof want, "PESTLE_CACHE_LIMIT_MB=%s is no number of megabytes; 512 are used",
                 cases[i].text);
        CHECK_STR(ps_store_warning(store) ? ps_store_warning(store) : "none", cases[i].warned ? want : "none");
        ps_store_close(store);
    }
    unsetenv("PESTLE_CACHE_LIMIT_MB");
}

/* Runs the function in a child; its exit status. */
static int in_child(int (*act)(void)) {
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(act());
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A disk that takes no more: nothing is left behind, nothing more is tried, one warning. */
static int fill_disk(void) {
    const char *warning, *dir = place("full");
    PsStore *store = ps_store_open(dir, &warning);
    if (!store) return 2;
    put(store, 1, 100);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    put(store, 2, 5000);
    if (!ps_store_warning(store) || !strstr(ps_store_warning(store), "no more compiled kernels")) return 3;
    if (count_files(dir) != 1 || !get(store, 1, 100) || get(store, 2, 5000)) return 4;
    put(store, 3, 10);
    if (count_files(dir) != 1) return 5;
    ps_store_close(store);
    return 7;
}

/* Read-only: what is there is used. Root may write anywhere, so be somebody else. */
static int read_only(void) {
    const char *warning, *dir = place("readonly");
    if (geteuid() == 0 && (chown(root, 12345, 12345) || setgid(12345) || setuid(12345))) return 2;
    PsStore *store = ps_store_open(dir, &warning);
    if (!store) return 3;
    put(store, 1, 100);
    ps_store_close(store);
    if (chmod(dir, 0500)) return 4;
    store = ps_store_open(dir, &warning);
    if (!store || !ps_store_warning(store) || !get(store, 1, 100)) return 5;
    put(store, 2, 100);
    if (get(store, 2, 100)) return 6;
    ps_store_close(store);
    return chmod(dir, 0700) ? 8 : 7;
}

static void test_full_and_read_only(void) {
    CHECK_INT(in_child(fill_disk), 7);
    CHECK_INT(in_child(read_only), 7);
}

static void test_emptied_directory(void) {
    const char *warning, *dir = place("emptied");
    PsStore *store = ps_store_open(dir, &warning);
    REQUIRE(store != NULL);
    CHECK(rmdir(dir) == 0);
    CHECK(!get(store, 1, 10));
    put(store, 1, 10);
    CHECK(get(store, 1, 10));
    CHECK_STR(ps_store_warning(store), NULL);
    ps_store_close(store);
}

static void age(const char *path, int hours) {
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= hours * 3600;
    times[1] = times[0];
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

static void touch(const char *path, int hours) {
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    CHECK(fd >= 0);
    close(fd);
    age(path, hours);
}

static void test_eviction(void) {
    const char *warning, *dir = place("evict");
    setenv("PESTLE_CACHE_LIMIT_MB", "1", 1);
    PsStore *store = ps_store_open(dir, &warning);
    unsetenv("PESTLE_CACHE_LIMIT_MB");
    REQUIRE(store != NULL);
    touch(place("evict/tmp-dead"), 30);
    touch(place("evict/tmp-alive"), 0);
    touch(place("evict/notes.txt"), 1000);
    for (uint32_t i = 0; i < 8; i++) { /* 800 kB, 0 the oldest */
        put(store, i, 100000);
        age(file_of(dir, i), 100 - (int)i);
    }
    CHECK(get(store, 0, 100000)); /* used: now the newest */
    for (uint32_t i = 8; i < 12; i++) put(store, i, 100000);
    CHECK(get(store, 0, 100000));
    CHECK(get(store, 11, 100000));
    CHECK(!get(store, 1, 100000));
    CHECK(!get(store, 2, 100000));
    CHECK(count_files(dir) >= 9 && count_files(dir) <= 12); /* 7 to 10 objects, and two files more */
    CHECK(access(place("evict/tmp-dead"), F_OK) != 0);
    CHECK(access(place("evict/tmp-alive"), F_OK) == 0);
    CHECK(access(place("evict/notes.txt"), F_OK) == 0);
    put(store, 50, 900000); /* more than its share */
    CHECK(!get(store, 50, 900000));
    ps_store_close(store);
}

static int crowd_member;
static int join_crowd(void) {
    const char *warning;
    PsStore *store = ps_store_open(place("crowd/deep/er"), &warning);
    if (!store) return 2;
    for (uint32_t round = 0; round < 60; round++) {
        uint32_t number = (round * 7 + (uint32_t)crowd_member * 3) % 30;
        put(store, number, 50000 + number);
        get(store, number * 5 % 30, 50000 + number * 5 % 30);
        if (round % 20 == 10 && truncate(file_of(ps_store_dir(store), number), 100) != 0) continue; /* gone */
    }
    bool warned = ps_store_warning(store);
    ps_store_close(store);
    return unit_failures || warned ? 3 : 7;
}

/* 16 processes write, read and damage the same 30 files, with a limit that evicts all the time. */
static void test_many_processes(void) {
    pid_t children[16];
    setenv("PESTLE_CACHE_LIMIT_MB", "1", 1);
    fflush(NULL);
    for (crowd_member = 0; crowd_member < 16; crowd_member++) {
        children[crowd_member] = fork();
        REQUIRE(children[crowd_member] >= 0);
        if (children[crowd_member] == 0) _exit(join_crowd());
    }
    for (int i = 0; i < 16; i++) {
        int status = 0;
        waitpid(children[i], &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    unsetenv("PESTLE_CACHE_LIMIT_MB");
    int files = count_files(place("crowd/deep/er"));
    CHECK(files > 5 && files <= 30);
}

static void test_without_memory(void) {
    const char *dir = place("nomem");
    PsBuf bytes;
    PsHash key = key_of(9);
    make_object(9, 500, &bytes);
    bool done = false;
    for (int n = 0; n < 60 && !done; n++) {
        const char *warning;
        PsObject object;
        ps_alloc_fail_after(n);
        PsStore *store = ps_store_open(dir, &warning);
        if (store) ps_store_put(store, &key, bytes.data, bytes.len);
        bool got = store && ps_store_get(store, &key, &object);
        ps_alloc_fail_after(-1);
        if (got) {
            CHECK(is_object(&object, 9, 500));
            ps_object_free(&object);
            done = true;
        }
        ps_store_close(store);
        ps_free((char *)warning);
    }
    CHECK(done);
    ps_buf_free(&bytes);
}

int main(void) {
    char command[100];
    if (!mkdtemp(root)) return 1;
    RUN(test_container);
    RUN(test_damaged_container);
    RUN(test_put_and_get);
    RUN(test_bad_files);
    RUN(test_planted_files);
    RUN(test_refused_directories);
    RUN(test_environment);
    RUN(test_limit);
    RUN(test_full_and_read_only);
    RUN(test_emptied_directory);
    RUN(test_eviction);
    RUN(test_many_processes);
    RUN(test_without_memory);
    snprintf(command, sizeof command, "rm -rf %s", root);
    return unit_result() || system(command) != 0;
}
