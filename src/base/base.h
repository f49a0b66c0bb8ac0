/* SPDX-License-Identifier: Apache-2.0
 *
 * base: what every other folder stands on. Arena, vector, byte buffer, hash map, interned strings,
 * bit set, SHA-256, status and messages. Nothing here knows what a compiler is.
 *
 * Memory: a compilation owns one PsArena and drops it in one call. An allocation that fails returns
 * NULL and marks the arena `failed`; the mark stays, so a stage may build on and ask once at its end
 * (ps_arena_failed). Nothing exits or aborts.
 */
#ifndef PS_BASE_BASE_H
#define PS_BASE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PS_MUST_CHECK     __attribute__((warn_unused_result))
#define PS_PRINTF(f, a)   __attribute__((format(printf, f, a)))
#define PS_COUNT(array)   (sizeof(array) / sizeof((array)[0]))
#define PS_LIKELY(cond)   __builtin_expect(!!(cond), 1)
#define PS_UNLIKELY(cond) __builtin_expect(!!(cond), 0)

/* The result of everything that can fail. */
typedef enum PsStatus {
    PS_OK = 0,
    PS_FAIL,  /* the PsDiag at hand holds what went wrong */
    PS_NOMEM, /* no memory; nothing more is said */
    PS_PYERR, /* front and py only: a Python exception is set */
} PsStatus;

/* base_arena.c: bump allocation, freed at once. Not thread-safe; one owner. */
typedef struct PsArenaBlock PsArenaBlock;
typedef struct PsArena {
    PsArenaBlock *blocks;
    char *at, *end;
    size_t total; /* bytes handed out */
    bool failed;  /* sticky: some allocation returned NULL */
} PsArena;

void ps_arena_init(PsArena *arena);
void ps_arena_free(PsArena *arena);                /* drops all blocks; the arena may be used again */
void *ps_arena_alloc(PsArena *arena, size_t size); /* zeroed, 16-byte aligned; NULL marks `failed` */
char *ps_arena_copy(PsArena *arena, const char *text, size_t len); /* NUL-terminated copy */
char *ps_arena_format(PsArena *arena, const char *format, ...) PS_PRINTF(2, 3);
static inline bool ps_arena_failed(const PsArena *arena) { return arena->failed; }

/* base_alloc.c: the one place that calls malloc. ps_alloc_fail_after(n) lets the n-th next allocation
 * fail (hostile builds and tests); a negative n turns that off. */
void *ps_alloc(size_t size) PS_MUST_CHECK; /* zeroed */
void *ps_realloc(void *old, size_t size) PS_MUST_CHECK;
void ps_free(void *memory);
void ps_alloc_fail_after(long n);
long ps_alloc_fails_after(void); /* what is left of n; negative: none will fail, or the one has failed */

/* base_stack.c: bytes of this thread's stack that are left; SIZE_MAX: unknown. */
size_t ps_stack_left(void);
#define PS_STACK_RESERVE ((size_t)48 << 10) /* with less than this left, recursion must end */

/* Vectors: struct { T *data; uint32_t len, cap; } in an arena. Pushing may move the data.
 *     PsVec(int) v = {0};  if (!ps_vec_push(arena, &v, 3)) return PS_NOMEM;                         */
#define PsVec(T)                                                                                               \
    struct {                                                                                                   \
        T *data;                                                                                               \
        uint32_t len, cap;                                                                                     \
    }
bool ps_vec_grow(PsArena *arena, void **data, uint32_t *cap, size_t item, uint32_t need);
#define ps_vec_reserve(arena, v, n)                                                                            \
    ((v)->len + (n) <= (v)->cap ||                                                                             \
     ps_vec_grow(arena, (void **)&(v)->data, &(v)->cap, sizeof(*(v)->data), (v)->len + (n)))
#define ps_vec_push(arena, v, ...)                                                                             \
    (ps_vec_reserve(arena, v, 1) && ((v)->data[(v)->len++] = (__VA_ARGS__), true))

/* base_buf.c: a growable byte buffer on the heap. A failed growth is sticky in `failed`. */
typedef struct PsBuf {
    char *data; /* NUL-terminated when not NULL */
    size_t len, cap;
    bool failed;
} PsBuf;
void ps_buf_free(PsBuf *buf);
void ps_buf_add(PsBuf *buf, const void *bytes, size_t len);
void ps_buf_text(PsBuf *buf, const char *text);
void ps_buf_printf(PsBuf *buf, const char *format, ...) PS_PRINTF(2, 3);
void ps_buf_vprintf(PsBuf *buf, const char *format, va_list args);

/* base_format.c: values as printed text: integers in decimal, u1 as True or False, floats as Python's repr (the fewest
 * digits that read back as the same value of that type). A value's type is a letter, 'a' + PsKind. In a format, \x01 and
 * a letter stand for the next value, and so do \x02, a letter, a format specification, \x02; `values` holds bits, one word
 * each. */
enum {
    PS_FORMAT_U1 = 'b',
    PS_FORMAT_I8,
    PS_FORMAT_I16,
    PS_FORMAT_I32,
    PS_FORMAT_I64,
    PS_FORMAT_U8,
    PS_FORMAT_U16,
    PS_FORMAT_U32,
    PS_FORMAT_U64,
    PS_FORMAT_F16,
    PS_FORMAT_BF16,
    PS_FORMAT_F32,
    PS_FORMAT_F64,
};
#define PS_FORMAT_PLAIN '\x01'
#define PS_FORMAT_SPEC  '\x02'
void ps_format_scalar(PsBuf *out, char letter, uint64_t bits);
double ps_format_float_value(char letter, uint64_t bits); /* of F16 .. F64 */
void ps_format_values(PsBuf *out, const char *format, const uint64_t *values);

/* base_spec.c: Python's format specifications, and printf's for integers. */
typedef struct PsSpec {
    char fill[5];                     /* one character in UTF-8 */
    char align, sign, grouping, type; /* 0: not given */
    bool no_negative_zero, alternate;
    int width, precision; /* precision -1: not given */
} PsSpec;
bool ps_spec_parse(const char *text, size_t len, PsSpec *out); /* false: no such specification */
bool ps_spec_fits(const PsSpec *spec, char letter);            /* whether ints have it, or floats */
void ps_format_spec(PsBuf *out, const PsSpec *spec, char letter, uint64_t bits);

/* base_map.c: hash map from byte strings to 64-bit values, in an arena; keys are copied. */
typedef struct PsMapEntry PsMapEntry;
typedef struct PsMap {
    PsArena *arena;
    PsMapEntry *entries;
    uint32_t len, cap;
} PsMap;
void ps_map_init(PsMap *map, PsArena *arena);
bool ps_map_put(PsMap *map, const void *key, size_t len, uint64_t value); /* false: no memory */
bool ps_map_get(const PsMap *map, const void *key, size_t len, uint64_t *out_value);

/* base_strings.c: interned strings: equal text, equal pointer (within one table). */
typedef struct PsStrings {
    PsMap map;
} PsStrings;
void ps_strings_init(PsStrings *strings, PsArena *arena);
const char *ps_strings_intern(PsStrings *strings, const char *text, size_t len); /* NULL: no memory */

/* base_bits.c: a fixed-size bit set in an arena. */
typedef struct PsBits {
    uint64_t *words;
    uint32_t len; /* in bits */
} PsBits;
bool ps_bits_init(PsBits *bits, PsArena *arena, uint32_t len);
static inline bool ps_bits_get(const PsBits *b, uint32_t i) { return b->words[i >> 6] >> (i & 63) & 1; }
static inline void ps_bits_set(PsBits *b, uint32_t i) { b->words[i >> 6] |= (uint64_t)1 << (i & 63); }
static inline void ps_bits_clear(PsBits *b, uint32_t i) { b->words[i >> 6] &= ~((uint64_t)1 << (i & 63)); }

/* base_clock.c: a counter of cycles, or of time at a fixed rate. */
int64_t ps_clock_ticks(void);

/* base_sha256.c: FIPS 180-4. */
typedef struct PsHash {
    uint8_t bytes[32];
} PsHash;
typedef struct PsSha256 {
    uint32_t state[8];
    uint64_t len;
    uint8_t block[64];
} PsSha256;
void ps_sha256_init(PsSha256 *sha);
void ps_sha256_add(PsSha256 *sha, const void *bytes, size_t len);
PsHash ps_sha256_end(PsSha256 *sha);
PsHash ps_sha256(const void *bytes, size_t len);
void ps_hash_hex(const PsHash *hash, char out_hex[65]);

/* base_diag.c: messages. Every text a user may see stands in messages.def, with the kind of error it
 * is; py maps kinds to Python exceptions. A message has a primary span and a call chain (innermost
 * first), all in terms of the compilation's sources. */
typedef enum PsErrorKind {
    PS_ERR_SYNTAX,   /* pestle.SyntaxError: a construct the language does not have */
    PS_ERR_TYPE,     /* TypeError */
    PS_ERR_NAME,     /* NameError */
    PS_ERR_INDEX,    /* IndexError */
    PS_ERR_VALUE,    /* ValueError */
    PS_ERR_COMPILE,  /* CompilationError: any other refusal while compiling */
    PS_ERR_RUNTIME,  /* RuntimeError */
    PS_ERR_ASSERT,   /* AssertionError: a fault in checked mode, a failed assertion */
    PS_ERR_ARGUMENT, /* TypeError, ValueError and RuntimeError: a value that does not fit what it is given to */
    PS_ERR_CALL,     /* SyntaxError and TypeError: arguments that do not fit the parameters */
    PS_ERR_STATIC_ASSERT, /* CompilationError and AssertionError: a failed static assertion */
    PS_ERR_INTERNAL,      /* a bug in Pestle: verifier, LLVM */
} PsErrorKind;

typedef enum PsMessageId {
#define PS_MSG(id, kind, text) PS_MSG_##id,
#include "base/messages.def"
    PS_MSG_COUNT
} PsMessageId;

/* What `explain` says (notes.def). */
typedef enum PsNoteId {
#define PS_NOTE(id, topic, text) PS_NOTE_##id,
#include "base/notes.def"
    PS_NOTE_COUNT
} PsNoteId;
const char *ps_note_topic(PsNoteId id);
const char *ps_note_text(PsNoteId id); /* the format: %s, %u or neither */

/* Where something stands: source (index into the module's Python functions, 0 = none given), lines
 * counted from the function's first line (0 = that line), columns in UTF-8 bytes from 0. */
typedef struct PsSpan {
    uint32_t source;
    uint32_t line, col, end_line, end_col;
} PsSpan;

typedef struct PsMessage {
    PsMessageId id;
    PsErrorKind kind;
    const char *text; /* formatted, in the diag's arena */
    PsSpan span;
    PsSpan *chain; /* the calls that led here, innermost first */
    uint32_t nchain;
} PsMessage;

typedef struct PsDiag {
    PsArena *arena;
    PsMessage message; /* the first one; compiling stops there */
    bool set;
    PsVec(PsSpan) calls; /* the call chain at this moment, outermost first */
} PsDiag;
void ps_diag_init(PsDiag *diag, PsArena *arena);
/* Records the message unless one is set already; always returns PS_FAIL, so that
 * `return ps_diag_fail(...)` reads well. */
PsStatus ps_diag_fail(PsDiag *diag, PsSpan span, PsMessageId id, ...);
PsErrorKind ps_message_kind(PsMessageId id);
const char *ps_message_text(PsMessageId id); /* the format as it stands in the list */

#endif
