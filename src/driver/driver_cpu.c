/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_cpu: LLVM's feature list for this CPU, from CPUID and the operating system's support of wide registers. Asked
 * of the CPU itself because cache keys need it when LLVM is not loaded, and because the model's name is wrong on
 * virtual machines. Left out on purpose: avx512bf16 (its conversions flush denormals) and avx512fp16 (its fma rounds
 * once where others round twice), so that every CPU computes the same bits.
 */
#include "driver/driver_int.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

enum { EAX, EBX, ECX, EDX };
typedef enum State { STATE_SSE, STATE_AVX, STATE_AVX512 } State; /* what the system must save for it */
typedef struct Feature {
    const char *name;
    uint32_t leaf;
    uint8_t reg, bit, state;
} Feature;

static const Feature all_features[] = {
    {"sse3", 1, ECX, 0, STATE_SSE},
    {"ssse3", 1, ECX, 9, STATE_SSE},
    {"cx16", 1, ECX, 13, STATE_SSE},
    {"sse4.1", 1, ECX, 19, STATE_SSE},
    {"sse4.2", 1, ECX, 20, STATE_SSE},
    {"movbe", 1, ECX, 22, STATE_SSE},
    {"popcnt", 1, ECX, 23, STATE_SSE},
    {"lzcnt", 0x80000001, ECX, 5, STATE_SSE},
    {"bmi", 7, EBX, 3, STATE_SSE},
    {"bmi2", 7, EBX, 8, STATE_SSE},
    {"avx", 1, ECX, 28, STATE_AVX},
    {"fma", 1, ECX, 12, STATE_AVX},
    {"f16c", 1, ECX, 29, STATE_AVX},
    {"avx2", 7, EBX, 5, STATE_AVX},
    {"avx512f", 7, EBX, 16, STATE_AVX512},
    {"avx512dq", 7, EBX, 17, STATE_AVX512},
    {"avx512cd", 7, EBX, 28, STATE_AVX512},
    {"avx512bw", 7, EBX, 30, STATE_AVX512},
    {"avx512vl", 7, EBX, 31, STATE_AVX512},
    {"avx512ifma", 7, EBX, 21, STATE_AVX512},
    {"avx512vbmi", 7, ECX, 1, STATE_AVX512},
    {"avx512vbmi2", 7, ECX, 6, STATE_AVX512},
    {"avx512vnni", 7, ECX, 11, STATE_AVX512},
    {"avx512bitalg", 7, ECX, 12, STATE_AVX512},
    {"avx512vpopcntdq", 7, ECX, 14, STATE_AVX512},
};

/* What lanes of each width need. */
static const char *const needed_256[] = {"avx2", "fma", NULL};
static const char *const needed_512[] = {"avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl", NULL};

static State system_state(void) {
    uint32_t r[4], low, high;
    const uint32_t osxsave = 1u << 27, avx = 0x6, avx512 = 0xe6;
    if (!__get_cpuid(1, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) || !(r[ECX] & osxsave)) return STATE_SSE;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & avx) != avx) return STATE_SSE;
    return (low & avx512) == avx512 ? STATE_AVX512 : STATE_AVX;
}

typedef struct Found {
    bool has[PS_COUNT(all_features)];
} Found;

static Found ask_cpu(void) {
    Found found = {{0}};
    State state = system_state();
    uint32_t r[4] = {0}, asked = 0;
    for (size_t i = 0; i < PS_COUNT(all_features); i++) {
        const Feature *f = &all_features[i];
        if (f->leaf != asked && !__get_cpuid_count(f->leaf, 0, &r[EAX], &r[EBX], &r[ECX], &r[EDX]))
            memset(r, 0, sizeof r);
        asked = f->leaf; /* neighbours share a leaf: an instruction that traps on virtual machines */
        found.has[i] = (r[f->reg] >> f->bit & 1) && f->state <= state;
    }
    return found;
}

static bool has_all(const Found *found, const char *const *names) {
    for (; *names; names++) {
        bool has = false;
        for (size_t i = 0; i < PS_COUNT(all_features); i++)
            if (strcmp(all_features[i].name, *names) == 0) has = found->has[i];
        if (!has) return false;
    }
    return true;
}

/* Nothing above the state; "scalar" is nothing at all: SSE2, which every x86-64 has. */
static void cut(Found *found, State most, bool all) {
    for (size_t i = 0; i < PS_COUNT(all_features); i++)
        if (all || all_features[i].state > most) found->has[i] = false;
}

static int vector_bits(const Found *found) {
    return has_all(found, needed_512) ? 512 : has_all(found, needed_256) ? 256 : 128;
}

static PsStatus ask(const char *want, char *features, size_t room, int *bits, PsDiag *diag) {
    Found found = ask_cpu();
    if (want && strcmp(want, "avx2") == 0) {
        if (!has_all(&found, needed_256)) return ps_diag_fail(diag, (PsSpan){0}, PS_MSG_DRIVER_CPU_LACKS, want);
        cut(&found, STATE_AVX, false);
    } else if (want && strcmp(want, "scalar") == 0) {
        cut(&found, STATE_SSE, true);
    } else if (want) {
        return ps_diag_fail(diag, (PsSpan){0}, PS_MSG_DRIVER_CPU, want);
    }
    size_t len = 0;
    for (size_t i = 0; i < PS_COUNT(all_features); i++) {
        size_t more = strlen(all_features[i].name) + 2;
        if (!found.has[i] || len + more >= room) continue;
        if (len) features[len++] = ',';
        features[len++] = '+';
        memcpy(features + len, all_features[i].name, more - 1);
        len += more - 2;
    }
    features[len] = 0;
    *bits = vector_bits(&found);
    return PS_OK;
}
#else
static PsStatus ask(const char *want, char *features, size_t room, int *bits, PsDiag *diag) {
    (void)want, (void)room, (void)diag;
    features[0] = 0;
    *bits = 128;
    return PS_OK;
}
#endif

/* Vectors of another width than the CPU's own: any number of lanes gives the same bits, which tests want to see. */
static PsStatus choose_bits(const char *want, int *bits, PsDiag *diag) {
    if (!want || !*want) return PS_OK;
    long number = strtol(want, NULL, 10);
    if (number != 128 && number != 256 && number != 512)
        return ps_diag_fail(diag, (PsSpan){0}, PS_MSG_DRIVER_VECTOR_BITS, want);
    *bits = (int)number;
    return PS_OK;
}

/* Asked once: CPUID traps on virtual machines. Written under the driver's lock, never changed after. */
static bool cpu_known;
static char cpu_features[512];
static int cpu_vector_bits;

PsStatus driver_cpu(DriverCpu *out, PsDiag *diag) {
    PsStatus status = PS_OK;
    const char *want = getenv("PESTLE_CPU");
    if (want && !*want) want = NULL;
    driver_lock();
    if (!cpu_known) {
        status = ask(want, cpu_features, sizeof cpu_features, &cpu_vector_bits, diag);
        if (status == PS_OK) status = choose_bits(getenv("PESTLE_VECTOR_BITS"), &cpu_vector_bits, diag);
        cpu_known = status == PS_OK;
    }
    driver_unlock();
    *out = (DriverCpu){cpu_features, cpu_vector_bits};
    return status;
}

static DriverCpu cpu_quietly(void) {
    DriverCpu cpu;
    PsArena arena;
    PsDiag diag;
    ps_arena_init(&arena);
    ps_diag_init(&diag, &arena);
    PsStatus status = driver_cpu(&cpu, &diag);
    ps_arena_free(&arena);
    return status == PS_OK ? cpu : (DriverCpu){"", 0};
}

const char *ps_driver_cpu_features(void) { return cpu_quietly().features; }

int ps_driver_vector_bits(void) { return cpu_quietly().vector_bits; }
