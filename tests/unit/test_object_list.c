/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of the store for people: names of kernels, order, foreign and damaged files, clearing, no memory.
 */
#include "unit.h"

#include "object/object.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/pestle-test-list-XXXXXX";

static const char *file_in_root(const char *name) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static PsHash key_of(uint32_t number) { return ps_sha256(&number, sizeof number); }

static void put(PsStore *store, uint32_t number, const char *name) {
    PsBuf bytes = {0};
    PsHash key = key_of(number);
    PsObject object = {.name = name, .elf = "0123456789", .elf_size = 10};
    CHECK_INT(ps_object_write(&object, &bytes), PS_OK);
    ps_store_put(store, &key, bytes.data, bytes.len);
    ps_buf_free(&bytes);
}

static void set_time(uint32_t number, time_t when) {
    char hex[65];
    PsHash key = key_of(number);
    struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};
    ps_hash_hex(&key, hex);
    CHECK(utimensat(AT_FDCWD, file_in_root(hex), times, 0) == 0);
}

static void make_file(const char *name, const char *text) {
    FILE *file = fopen(file_in_root(name), "w");
    REQUIRE(file != NULL);
    fputs(text, file);
    fclose(file);
}

static PsStore *open_store(void) {
    const char *warning;
    return ps_store_open(root, &warning);
}

static void test_names(void) {
    static const char long_name[] =
        "a_kernel_with_a_name_that_is_longer_than_what_a_container_keeps_of_it_by_a_good_deal";
    PsStore *store = open_store();
    PsStoreList list;
    REQUIRE(store != NULL);
    put(store, 1, "saxpy");
    put(store, 2, NULL);
    put(store, 3, long_name);
    set_time(1, 3000), set_time(2, 1000), set_time(3, 2000);
    make_file("0000000000000000000000000000000000000000000000000000000000000000", "PESTLE, but not quite");
    make_file("notes", "mine");
    REQUIRE(ps_store_list(store, &list));
    CHECK_INT(list.len, 4);
    CHECK_STR(list.entries[0].name, ""); /* the damaged one is the newest */
    CHECK_STR(list.entries[1].name, "saxpy");
    CHECK_INT(list.entries[1].used, 3000);
    CHECK(list.entries[1].size > 100);
    CHECK_INT(strlen(list.entries[2].name), PS_OBJECT_NAME_SIZE - 1);
    CHECK(strncmp(list.entries[2].name, long_name, PS_OBJECT_NAME_SIZE - 1) == 0);
    CHECK_STR(list.entries[3].name, "");
    ps_store_list_free(&list);
    CHECK(list.entries == NULL);

    PsObject object;
    PsHash key = key_of(1);
    REQUIRE(ps_store_get(store, &key, &object));
    CHECK_STR(object.name, "saxpy");
    ps_object_free(&object);
    ps_store_close(store);
}

static void test_no_memory(void) {
    PsStore *store = open_store();
    PsStoreList list;
    REQUIRE(store != NULL);
    for (uint32_t i = 10; i < 90; i++) put(store, i, "many"); /* the list grows once */
    for (long n = 0; n < 2; n++) {
        ps_alloc_fail_after(n);
        CHECK(!ps_store_list(store, &list));
        ps_alloc_fail_after(-1);
        CHECK(list.entries == NULL && list.len == 0);
    }
    REQUIRE(ps_store_list(store, &list));
    CHECK_INT(list.len, 84);
    ps_store_list_free(&list);
    ps_store_close(store);
}

static void test_clear(void) {
    PsStore *store = open_store();
    PsStoreList list;
    REQUIRE(store != NULL);
    make_file("tmp-1-2-3", "half a file");
    CHECK_INT(ps_store_clear(store), 84);
    REQUIRE(ps_store_list(store, &list));
    CHECK_INT(list.len, 0);
    ps_store_list_free(&list);
    CHECK(access(file_in_root("notes"), F_OK) == 0);
    CHECK(access(file_in_root("tmp-1-2-3"), F_OK) != 0);
    CHECK_INT(ps_store_clear(store), 0);
    unlink(file_in_root("notes"));
    CHECK(rmdir(root) == 0);
    CHECK(!ps_store_list(store, &list));
    CHECK_INT(ps_store_clear(store), -1);
    ps_store_close(store);
}

static void test_peek(void) {
    char name[PS_OBJECT_NAME_SIZE];
    PsBuf bytes = {0};
    PsObject object = {.name = "f", .elf = "", .elf_size = 0};
    CHECK_INT(ps_object_write(&object, &bytes), PS_OK);
    CHECK(ps_object_peek(bytes.data, bytes.len, name));
    CHECK_STR(name, "f");
    CHECK(!ps_object_peek(bytes.data, 40, name));
    CHECK(!ps_object_peek(NULL, 0, name));
    bytes.data[3] ^= 1;
    CHECK(!ps_object_peek(bytes.data, bytes.len, name));
    ps_buf_free(&bytes);
}

int main(void) {
    if (!mkdtemp(root)) return 1;
    RUN(test_names);
    RUN(test_no_memory);
    RUN(test_clear);
    RUN(test_peek);
    return unit_result();
}
