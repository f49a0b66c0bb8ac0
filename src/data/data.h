/* SPDX-License-Identifier: Apache-2.0
 *
 * data: storage of arrays, no Python: aligned to 64 bytes, zeroed, huge pages asked for when large; reference-counted,
 * so that a launch in flight pins what it uses.
 */
#ifndef PS_DATA_DATA_H
#define PS_DATA_DATA_H

#include "base/base.h"
#include "layout/layout.h"

typedef struct PsStorage {
    char *data;
    size_t size;
    long refs; /* atomic */
} PsStorage;
PsStorage *ps_storage_new(size_t size); /* NULL: no memory */
void ps_storage_retain(PsStorage *storage);
void ps_storage_release(PsStorage *storage);

#endif
