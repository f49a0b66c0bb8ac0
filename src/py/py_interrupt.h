/* SPDX-License-Identifier: Apache-2.0
 *
 * Ctrl-C while a long launch runs without the GIL: Python's own handler only notes the signal, and nobody would look
 * at the note. So another handler stands before it, which also sets the flag that rt polls. It stays once it was
 * needed, as it changes nothing at other times. Launches of the main thread only, as for Python's handlers.
 */
#ifndef PS_PY_INTERRUPT_H
#define PS_PY_INTERRUPT_H

#include <stdint.h>

/* Before a launch: the flag to poll, cleared; NULL: this launch cannot be interrupted. */
volatile int32_t *py_interrupt_flag(void);

#endif
