/* SPDX-License-Identifier: Apache-2.0
 *
 * Ctrl-C while a long launch runs without the GIL: Python's own handler only notes the signal, and nobody would look
 * at the note. So for the length of the launch another handler stands before it, which also sets the flag that rt
 * polls. Main thread only, as for Python's handlers.
 */
#ifndef PS_PY_INTERRUPT_H
#define PS_PY_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct PyInterrupt {
    struct sigaction old;
    bool installed;
} PyInterrupt;
/* The flag to poll, or NULL: this launch cannot be interrupted. */
volatile int32_t *py_interrupt_begin(PyInterrupt *interrupt);
void py_interrupt_end(PyInterrupt *interrupt);

#endif
