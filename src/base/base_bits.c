/* SPDX-License-Identifier: Apache-2.0
 *
 * base_bits: a bit set of fixed size in an arena; getting and setting are inline in base.h.
 */
#include "base/base.h"

bool ps_bits_init(PsBits *bits, PsArena *arena, uint32_t len) {
    bits->words = ps_arena_alloc(arena, ((size_t)len + 63) / 64 * sizeof *bits->words);
    bits->len = bits->words ? len : 0;
    return bits->words != NULL;
}
