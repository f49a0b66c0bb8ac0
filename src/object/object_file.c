/* SPDX-License-Identifier: Apache-2.0
 *
 * object_file: the container of one compiled kernel, as bytes:
 *
 *     ObjectHead | nsites × PsObjectSite | zeros up to 16 bytes | ELF | zeros up to 8 bytes | checksum, 8 bytes
 *
 * Read in place: an object points into its bytes. The checksum finds damage (a torn write, a bad disk), not malice:
 * who may write our cache directory may run code as us anyway. It is a chain of multiplications, at a gigabyte or
 * more a second; SHA-256 would take most of the time of a warm start. Everything is little-endian, as are the machines.
 */
#include "object/object.h"

#include <stddef.h>
#include <string.h>

#define VERSION 2

typedef struct ObjectHead {
    char magic[8];
    uint32_t version, abi;
    uint32_t machine;
    uint32_t flags;
    uint32_t param_words, result_words, frame_words, ntasks;
    uint32_t nsites, site_size;
    uint64_t elf_size;
    char name[PS_OBJECT_NAME_SIZE]; /* of the kernel, cut and padded with zeros */
} ObjectHead;

#if defined(__x86_64__)
#define MACHINE 62 /* EM_X86_64 */
#elif defined(__aarch64__)
#define MACHINE 183 /* EM_AARCH64 */
#endif

static const char magic[8] = "PESTLE\r\n"; /* text conversion would change it */

/* Each step is one-to-one in `sum` and in the word, so no change within a single word goes unseen. */
uint64_t ps_object_checksum(const char *bytes, size_t size) {
    uint64_t sum = 0x9e3779b97f4a7c15 ^ size;
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, 8);
        sum = (sum ^ word) * 0xd6e8feb86659fd93;
        sum ^= sum >> 32;
    }
    return sum;
}

static uint64_t round_up(uint64_t size, uint64_t to) { return (size + to - 1) / to * to; }

/* Where the ELF and the checksum stand. */
static uint64_t elf_at(uint32_t nsites) {
    return round_up(sizeof(ObjectHead) + (uint64_t)nsites * sizeof(PsObjectSite), 16);
}
static uint64_t sum_at(uint32_t nsites, uint64_t elf_size) { return round_up(elf_at(nsites) + elf_size, 8); }

static void pad(PsBuf *out, size_t start, uint64_t to) {
    static const char zeros[16];
    size_t size = out->len - start;
    ps_buf_add(out, zeros, (size_t)(to - size));
}

PsStatus ps_object_write(const PsObject *object, PsBuf *out) {
    ObjectHead head = {.version = VERSION,
                       .abi = PS_ABI_VERSION,
                       .machine = MACHINE,
                       .flags = object->flags,
                       .param_words = object->param_words,
                       .result_words = object->result_words,
                       .frame_words = object->frame_words,
                       .ntasks = object->ntasks,
                       .nsites = object->nsites,
                       .site_size = sizeof(PsObjectSite),
                       .elf_size = object->elf_size};
    memcpy(head.magic, magic, sizeof magic);
    if (object->name) memcpy(head.name, object->name, strnlen(object->name, sizeof head.name - 1));
    size_t start = out->len;
    ps_buf_add(out, &head, sizeof head);
    ps_buf_add(out, object->sites, object->nsites * sizeof *object->sites);
    if (out->failed) return PS_NOMEM;
    pad(out, start, elf_at(object->nsites));
    ps_buf_add(out, object->elf, object->elf_size);
    if (out->failed) return PS_NOMEM;
    pad(out, start, sum_at(object->nsites, object->elf_size));
    if (out->failed) return PS_NOMEM;
    uint64_t sum = ps_object_checksum(out->data + start, out->len - start);
    ps_buf_add(out, &sum, sizeof sum);
    return out->failed ? PS_NOMEM : PS_OK;
}

static bool is_sound(const char *bytes, size_t size, ObjectHead *head) {
    if (size < sizeof *head) return false;
    memcpy(head, bytes, sizeof *head);
    if (memcmp(head->magic, magic, sizeof magic) != 0 || head->version != VERSION ||
        head->abi != PS_ABI_VERSION || head->machine != MACHINE || head->site_size != sizeof(PsObjectSite))
        return false;
    if (head->elf_size > size || sum_at(head->nsites, head->elf_size) + 8 != size) return false;
    if (head->name[sizeof head->name - 1]) return false;
    if ((uint64_t)head->param_words + head->result_words > head->frame_words) return false;
    uint64_t sum;
    memcpy(&sum, bytes + size - 8, 8);
    return sum == ps_object_checksum(bytes, size - 8);
}

bool ps_object_read(void *bytes, size_t size, PsObject *out) {
    ObjectHead head;
    if (!is_sound(bytes, size, &head)) return false;
    char *at = bytes;
    *out = (PsObject){.param_words = head.param_words,
                      .result_words = head.result_words,
                      .frame_words = head.frame_words,
                      .ntasks = head.ntasks,
                      .flags = head.flags,
                      .name = at + offsetof(ObjectHead, name),
                      .sites = (const PsObjectSite *)(at + sizeof head),
                      .nsites = head.nsites,
                      .elf = at + elf_at(head.nsites),
                      .elf_size = head.elf_size,
                      .bytes = bytes,
                      .size = size};
    return true;
}

bool ps_object_peek(const char *bytes, size_t size, char out_name[PS_OBJECT_NAME_SIZE]) {
    ObjectHead head;
    if (size < sizeof head) return false;
    memcpy(&head, bytes, sizeof head);
    if (memcmp(head.magic, magic, sizeof magic) != 0 || head.version != VERSION) return false;
    memcpy(out_name, head.name, sizeof head.name);
    out_name[sizeof head.name - 1] = 0;
    return true;
}

void ps_object_free(PsObject *object) {
    ps_free(object->bytes);
    *object = (PsObject){0};
}
