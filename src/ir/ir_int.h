/* SPDX-License-Identifier: Apache-2.0
 *
 * ir_int: what files of ir share and nobody else needs.
 */
#ifndef PS_IR_INT_H
#define PS_IR_INT_H

#include "ir/ir.h"

/* ir_edit.c: puts an op that is in no region before another of the region, or at its end (before = 0). */
void ir_link(PsFunc *f, PsRef op, PsRegion region, PsRef before);

/* ir_print.c: for each op of the function its number in the text form, 0 for what has none; NULL: no memory. */
uint32_t *ir_number_values(const PsFunc *f, PsArena *arena);
/* One op without its regions and its span, as it stands in the text. */
void ir_print_op(const PsFunc *f, const uint32_t *numbers, PsRef op, PsBuf *out);
/* A function name after its @: bare where it can be. */
void ir_print_name(const char *name, PsBuf *out);
bool ir_name_char(char c);

/* ir_rules.c: what is wrong with the op's types and immediate, or NULL. Its operands are there and have values. */
const char *ir_check_types(const PsFunc *f, PsRef r);

/* ir_literal.c: constants as text. Printing and reading are inverse, bit for bit, and independent of the locale. */
void ir_print_const(PsType scalar, uint64_t bits, PsBuf *out);
/* The bits of a constant's token; NULL, or what is wrong with it. */
const char *ir_read_const(PsType scalar, const char *token, size_t len, uint64_t *out_bits);
void ir_print_string(const char *text, PsBuf *out); /* quoted */

#endif
