/* SPDX-License-Identifier: Apache-2.0
 *
 * random: SplitMix64, as kernels compute it (front/loop/loop_random.c makes IR of it) and kernels that run as plain
 * Python (py/py_random.c): a state grows by PS_RANDOM_STEP, and a number is the state, mixed.
 *
 * Source: G. Steele, D. Lea, C. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014; the mixing function is
 * D. Stafford's variant 13.
 */
#ifndef PS_ABI_RANDOM_H
#define PS_ABI_RANDOM_H

#include <stdint.h>

#define PS_RANDOM_STEP 0x9e3779b97f4a7c15u

/* X(SHIFT, FACTOR): z = (z ^ z >> SHIFT) * FACTOR, one after the other. */
#define PS_RANDOM_MIX(X)                                                                                       \
    X(30, 0xbf58476d1ce4e5b9u)                                                                                 \
    X(27, 0x94d049bb133111ebu)                                                                                 \
    X(31, 1)

static inline uint64_t ps_random_mix(uint64_t z) {
#define PS_RANDOM_ROUND(shift, factor) z = (z ^ z >> (shift)) * (factor);
    PS_RANDOM_MIX(PS_RANDOM_ROUND)
#undef PS_RANDOM_ROUND
    return z;
}

#endif
