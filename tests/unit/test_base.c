/* SPDX-License-Identifier: Apache-2.0
 *
 * base: arena, vectors, buffer, map, strings, bits, SHA-256, messages; with memory and without.
 */
#include "../unit/unit.h"
#include "base/base.h"

#include <stdlib.h>

static void test_arena(void) {
    PsArena arena;
    ps_arena_init(&arena);
    for (size_t size = 0; size < 5000; size += 37) {
        char *memory = ps_arena_alloc(&arena, size);
        REQUIRE(memory);
        CHECK_INT((uintptr_t)memory % 16, 0);
        bool zero = true;
        for (size_t i = 0; i < size; i++) zero &= memory[i] == 0;
        CHECK(zero);
        memset(memory, 0xff, size);
    }
    char *large = ps_arena_alloc(&arena, (size_t)3 << 20);
    REQUIRE(large);
    CHECK_INT(large[((size_t)3 << 20) - 1], 0);
    CHECK_STR(ps_arena_copy(&arena, "abcdef", 3), "abc");
    CHECK_STR(ps_arena_copy(&arena, "", 0), "");
    CHECK_STR(ps_arena_format(&arena, "%d %s", 7, "x"), "7 x");
    CHECK_INT(strlen(ps_arena_format(&arena, "%1000d", 7)), 1000);
    CHECK(!ps_arena_failed(&arena));
    CHECK(!ps_arena_alloc(&arena, SIZE_MAX));
    CHECK(ps_arena_failed(&arena));
    CHECK(ps_arena_alloc(&arena, 8)); /* the mark stays, small requests still work */
    CHECK(ps_arena_failed(&arena));
    ps_arena_free(&arena);
    CHECK(!ps_arena_failed(&arena));
    CHECK(ps_arena_alloc(&arena, 8));
    ps_arena_free(&arena);
}

static void test_vector(void) {
    PsArena arena;
    ps_arena_init(&arena);
    PsVec(int) v = {0}, w = {0};
    for (int i = 0; i < 10000; i++) {
        REQUIRE(ps_vec_push(&arena, &v, i));
        if (i % 3 == 0) REQUIRE(ps_vec_push(&arena, &w, -i));
    }
    CHECK_INT(v.len, 10000);
    bool good = true;
    for (int i = 0; i < 10000; i++) good &= v.data[i] == i;
    for (int i = 0; i < 10000; i += 3) good &= w.data[i / 3] == -i;
    CHECK(good);
    int *before = v.data;
    REQUIRE(ps_vec_reserve(&arena, &v, 20000));
    CHECK(v.data[9999] == 9999 && v.cap >= 30000);
    (void)before;
    CHECK(!ps_vec_reserve(&arena, &v, 0xffff0000u));
    CHECK(ps_arena_failed(&arena));
    ps_arena_free(&arena);
}

static void test_failing(void) {
    PsArena arena;
    ps_arena_init(&arena);
    ps_alloc_fail_after(0);
    CHECK(!ps_arena_alloc(&arena, 8));
    CHECK(ps_arena_failed(&arena));
    CHECK(ps_arena_alloc(&arena, 8)); /* one allocation failed, the next did not */
    ps_arena_free(&arena);

    PsBuf buf = {0};
    ps_buf_text(&buf, "kept");
    ps_alloc_fail_after(0);
    for (int i = 0; i < 1000; i++) ps_buf_text(&buf, "more");
    ps_alloc_fail_after(-1);
    CHECK(buf.failed);
    CHECK_INT(strncmp(buf.data, "kept", 4), 0);
    CHECK_INT(strlen(buf.data), buf.len);
    ps_buf_printf(&buf, "%d", 5);
    CHECK_INT(strlen(buf.data), buf.len);
    ps_buf_free(&buf);
}

static void test_buf(void) {
    PsBuf buf = {0};
    ps_buf_add(&buf, "", 0);
    CHECK_STR(buf.data, "");
    for (int i = 0; i < 300; i++) ps_buf_printf(&buf, "%d,", i);
    CHECK_INT(buf.len, 10 * 2 + 90 * 3 + 200 * 4);
    ps_buf_printf(&buf, "%0*d", 5000, 1);
    CHECK_INT(buf.len, 10 * 2 + 90 * 3 + 200 * 4 + 5000);
    CHECK_INT(strlen(buf.data), buf.len);
    CHECK(!buf.failed);
    ps_buf_free(&buf);
    CHECK(!buf.data);
}

static void test_map(void) {
    PsArena arena;
    PsMap map;
    uint64_t value;
    ps_arena_init(&arena);
    ps_map_init(&map, &arena);
    CHECK(!ps_map_get(&map, "a", 1, &value));
    for (uint32_t i = 0; i < 5000; i++) {
        char key[32];
        int len = snprintf(key, sizeof key, "key %u", i * 7919);
        REQUIRE(ps_map_put(&map, key, (size_t)len, i));
        REQUIRE(ps_map_put(&map, &i, sizeof i, i + 1)); /* keys with zero bytes */
    }
    CHECK_INT(map.len, 10000);
    bool good = true;
    for (uint32_t i = 0; i < 5000; i++) {
        char key[32];
        int len = snprintf(key, sizeof key, "key %u", i * 7919);
        good &= ps_map_get(&map, key, (size_t)len, &value) && value == i;
        good &= ps_map_get(&map, &i, sizeof i, &value) && value == i + 1;
    }
    CHECK(good);
    CHECK(!ps_map_get(&map, "key", 3, &value));
    CHECK(!ps_map_get(&map, "", 0, &value));
    CHECK(ps_map_put(&map, "", 0, 9) && ps_map_put(&map, "", 0, 10));
    CHECK(ps_map_get(&map, "", 0, &value));
    CHECK_INT(value, 10);
    CHECK_INT(map.len, 10001);
    ps_arena_free(&arena);
}

static void test_map_without_memory(void) {
    PsArena arena;
    PsMap map;
    uint64_t value;
    ps_arena_init(&arena);
    ps_map_init(&map, &arena);
    bool good = true, failed = false;
    for (uint32_t i = 0; i < 100000 && !failed; i++) {
        if (i == 50000) ps_alloc_fail_after(0);
        failed = !ps_map_put(&map, &i, sizeof i, i);
        if (failed) {
            for (uint32_t k = 0; k < i; k++) good &= ps_map_get(&map, &k, sizeof k, &value) && value == k;
        }
    }
    ps_alloc_fail_after(-1);
    CHECK(failed && good);
    ps_arena_free(&arena);
}

static void test_strings(void) {
    PsArena arena;
    PsStrings strings;
    ps_arena_init(&arena);
    ps_strings_init(&strings, &arena);
    char text[] = "name";
    const char *a = ps_strings_intern(&strings, text, 4), *b = ps_strings_intern(&strings, "name and more", 4);
    CHECK_PTR(a, b);
    CHECK_STR(a, "name");
    CHECK(a != text);
    CHECK(ps_strings_intern(&strings, "nam", 3) != a);
    ps_arena_free(&arena);
}

static void test_bits(void) {
    PsArena arena;
    PsBits bits;
    ps_arena_init(&arena);
    REQUIRE(ps_bits_init(&bits, &arena, 130));
    for (uint32_t i = 0; i < 130; i += 3) ps_bits_set(&bits, i);
    ps_bits_clear(&bits, 63);
    int good = 1;
    for (uint32_t i = 0; i < 130; i++) good &= ps_bits_get(&bits, i) == (i % 3 == 0 && i != 63);
    CHECK(good);
    CHECK(ps_bits_init(&bits, &arena, 0));
    ps_arena_free(&arena);
}

static void check_hash(const char *text, const char *hex) {
    PsHash hash = ps_sha256(text, strlen(text));
    char got[65];
    ps_hash_hex(&hash, got);
    CHECK_STR(got, hex);
}

/* The examples of FIPS 180-4 and NIST's long message. */
static void test_sha256(void) {
    check_hash("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_hash("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check_hash(
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
        "mnopqrstnopqrstu",
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    PsSha256 sha;
    ps_sha256_init(&sha);
    char block[977];
    memset(block, 'a', sizeof block);
    for (int left = 1000000, n; left; left -= n) {
        n = left < (int)sizeof block ? left : (int)sizeof block;
        ps_sha256_add(&sha, block, (size_t)n);
    }
    char got[65];
    PsHash hash = ps_sha256_end(&sha);
    ps_hash_hex(&hash, got);
    CHECK_STR(got, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Every length around the block's, whole and in two parts. */
static void test_sha256_parts(void) {
    uint8_t data[200];
    for (int i = 0; i < 200; i++) data[i] = (uint8_t)(i * 31);
    bool good = true;
    for (size_t len = 0; len <= sizeof data; len++) {
        PsHash whole = ps_sha256(data, len);
        for (size_t cut = 0; cut <= len; cut += 13) {
            PsSha256 sha;
            ps_sha256_init(&sha);
            ps_sha256_add(&sha, data, cut);
            ps_sha256_add(&sha, data + cut, len - cut);
            PsHash parts = ps_sha256_end(&sha);
            good &= !memcmp(&whole, &parts, sizeof whole);
        }
    }
    CHECK(good);
}

static void test_diag(void) {
    PsArena arena;
    PsDiag diag;
    ps_arena_init(&arena);
    ps_diag_init(&diag, &arena);
    PsSpan outer = {1, 2, 3, 2, 9}, inner = {2, 0, 0, 0, 1}, here = {3, 4, 5, 4, 6};
    CHECK(ps_vec_push(&arena, &diag.calls, outer) && ps_vec_push(&arena, &diag.calls, inner));
    CHECK_INT(ps_diag_fail(&diag, here, PS_MSG_IR_PARSE, 12u, "expected }"), PS_FAIL);
    CHECK_INT(ps_diag_fail(&diag, outer, PS_MSG_IR_PARSE, 13u, "too late"), PS_FAIL);
    CHECK(diag.set);
    CHECK_STR(diag.message.text, "line 12: expected }");
    CHECK_INT(diag.message.kind, PS_ERR_INTERNAL);
    CHECK_INT(diag.message.span.source, 3);
    CHECK_INT(diag.message.nchain, 2);
    CHECK_INT(diag.message.chain[0].source, 2);
    CHECK_INT(diag.message.chain[1].source, 1);
    for (int id = 0; id < PS_MSG_COUNT; id++) CHECK(ps_message_text((PsMessageId)id)[0] != 0);
    ps_arena_free(&arena);

    ps_diag_init(&diag, &arena);
    ps_alloc_fail_after(0);
    CHECK_INT(ps_diag_fail(&diag, here, PS_MSG_IR_PARSE, 12u, "expected }"), PS_FAIL);
    ps_alloc_fail_after(-1);
    CHECK_STR(diag.message.text, ps_message_text(PS_MSG_IR_PARSE));
    ps_arena_free(&arena);
}

int main(void) {
    RUN(test_arena);
    RUN(test_vector);
    RUN(test_failing);
    RUN(test_buf);
    RUN(test_map);
    RUN(test_map_without_memory);
    RUN(test_strings);
    RUN(test_bits);
    RUN(test_sha256);
    RUN(test_sha256_parts);
    RUN(test_diag);
    return unit_result();
}
