/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_symbols: the addresses of what generated code may call: rt's own functions, the math of math/math.h under the
 * names ps_rt_<op>_f32 and _f64, and the few functions of libc and libm that LLVM calls of its own accord. Nothing
 * else of the process can be reached from generated code by name.
 */
#include "rt/rt.h"

#include "abi/half.h"
#include "math/math.h"

#include <math.h>
#include <string.h>

/* LLVM's name for f64 -> f16, which it may want where codegen made f32 between the two: it takes copysign(a, (f32)b) for
 * copysign(a, b). An f16 is returned in the low bits of a register of floats, as this f32 is. */
static float truncdfhf2(double value) { return ps_f32_from_bits(ps_f64_to_f16(value)); }

typedef struct Symbol {
    const char *name;
    void *address;
} Symbol;

static const Symbol symbols[] = {
#define PS_RT_SYMBOL(name) {#name, (void *)name},
#include "abi/rt_symbols.def"
/* ps_rt_<op> is another name of ps_math_<op>: one that LLVM knows nothing about, so that it never folds a call. */
#define MATH(OP, op)                                                                                           \
    {"ps_rt_" #op "_f32", (void *)ps_math_##op##_f32}, {"ps_rt_" #op "_f64", (void *)ps_math_##op##_f64},
    PS_MATH_UNARY(MATH) PS_MATH_BINARY(MATH){"__truncdfhf2", (void *)truncdfhf2}};

/* A kernel refers to a handful of names, a look-up compares some sixty first letters: about 0.1 us. */
void *ps_rt_symbol(const char *name) {
    for (size_t i = 0; i < PS_COUNT(symbols); i++)
        if (strcmp(symbols[i].name, name) == 0) return symbols[i].address;
    return NULL;
}
