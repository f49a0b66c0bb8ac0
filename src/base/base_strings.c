/* SPDX-License-Identifier: Apache-2.0
 *
 * base_strings: interned strings: equal text, equal pointer, NUL-terminated, for the life of the arena. A map whose
 * own key copies are the strings.
 */
#include "base/base_int.h"

void ps_strings_init(PsStrings *strings, PsArena *arena) { ps_map_init(&strings->map, arena); }

const char *ps_strings_intern(PsStrings *strings, const char *text, size_t len) {
    const PsMapEntry *entry = base_map_entry(&strings->map, text, len);
    return entry ? entry->key : NULL;
}
