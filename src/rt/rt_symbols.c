/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_symbols: the addresses of what generated code may call: rt's own functions, the math of abi/math.h under the
 * names ps_rt_<op>_f32 and _f64, and the few functions of libc and libm that LLVM calls of its own accord. Nothing
 * else of the process can be reached from generated code by name.
 */
#include "rt/rt.h"

#include "abi/math.h"

#include <math.h>
#include <string.h>

/* The math functions of abi/math.h have other names and are inline: give each a second name and a body here. */
#define SECOND_NAME(OP, op)                                                                                    \
    extern __typeof__(ps_math_##op##_f32) ps_rt_##op##_f32 __attribute__((alias("ps_math_" #op "_f32")));      \
    extern __typeof__(ps_math_##op##_f64) ps_rt_##op##_f64 __attribute__((alias("ps_math_" #op "_f64")));
PS_MATH_UNARY(SECOND_NAME)
PS_MATH_BINARY(SECOND_NAME)

typedef struct Symbol {
    const char *name;
    void *address;
} Symbol;

static const Symbol symbols[] = {
#define PS_RT_SYMBOL(name) {#name, (void *)name},
#include "abi/rt_symbols.def"
};

/* A kernel refers to a handful of names, a look-up compares some sixty first letters: about 0.1 us. */
void *ps_rt_symbol(const char *name) {
    for (size_t i = 0; i < PS_COUNT(symbols); i++)
        if (strcmp(symbols[i].name, name) == 0) return symbols[i].address;
    return NULL;
}
