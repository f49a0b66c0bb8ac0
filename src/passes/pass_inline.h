/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of pass inline share: the choice of calls (pass_inline.c), and the copying (pass_inline_copy.c).
 */
#ifndef PS_PASSES_PASS_INLINE_H
#define PS_PASSES_PASS_INLINE_H

#include "passes/passes_int.h"

/* Puts the ops of the called function before a call in `to`, and gives the value that stands for its result (0: it has none).
 * False: no memory. */
bool inline_copy(PsFunc *to, PsRef call, PsRef *out_result);

#endif
