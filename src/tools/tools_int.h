/* SPDX-License-Identifier: Apache-2.0
 *
 * tools_int: shared by ps-opt and ps-run: reading a module, reporting, values given on the command line.
 */
#ifndef PS_TOOLS_TOOLS_INT_H
#define PS_TOOLS_TOOLS_INT_H

#include "ir/ir.h"

/* tools_module.c */
bool tools_read(const char *path, PsBuf *out); /* "-": standard input; false: reported */
/* Parses and verifies; NULL: reported. The module is in the diag's arena. */
PsModule *tools_parse(const PsBuf *text, PsDiag *diag);
/* "error: ..." on standard error; always false. */
bool tools_error(const char *format, ...) PS_PRINTF(1, 2);
bool tools_failed(PsStatus status, const PsDiag *diag);

/* The value behind "-name=" when the argument is that, else NULL. */
const char *tools_option(const char *argument, const char *name);

/* tools_value.c: a parameter's value. An array is dense, its axes in memory in any order. */
typedef struct ToolsValue {
    PsType elem; /* the scalar */
    bool is_array;
    uint64_t bits; /* of a scalar */
    int32_t ndim;  /* of the array */
    int64_t shape[PS_MAX_AXES];
    int64_t count; /* scalars in all */
    char *data;
    PsArrayView view;
} ToolsValue;
/* From 1, -2.5, inf, True; [1,2], [[1,2],[3,4]], zeros(3,4); order(1,0)[[1,2],[3,4]]: the axes from the outermost in
 * memory to the innermost. False: reported. */
bool tools_value_parse(const PsModule *m, PsType type, const char *text, ToolsValue *out);
void tools_value_free(ToolsValue *value);
void tools_value_print(const ToolsValue *value, PsBuf *out);
/* The bits of scalar number i of an array. */
uint64_t tools_value_get(const ToolsValue *value, int64_t i);
/* Equal bits, or both a NaN, whose bits neither IEEE 754 nor LLVM fixes. */
bool tools_same(PsType scalar, uint64_t a, uint64_t b);

#endif
