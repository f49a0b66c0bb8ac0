/* SPDX-License-Identifier: Apache-2.0
 *
 * What random numbers start from: the seed and the number of launches, two words of an array that kernels update
 * themselves (front/loop/loop_random.c). Also random and randn of kernels that run as plain Python: numbers of the same
 * distributions, in the order of the calls.
 */
#include "py/mode_int.h"
#include "py/py_ndarray.h"

#include "abi/random.h"

#include <math.h>

static uint64_t *words(const PyState *state) {
    return (uint64_t *)((PyNdarray *)state->types.random_words)->data;
}

int py_random_init(PyState *state) {
    NdarrayForm form = {.dtype = PS_U64, .ndim = 1, .shape = {2}};
    ndarray_c_order(&form);
    state->types.random_words = (PyObject *)ndarray_make(state->ndarray_type, &form);
    return state->types.random_words ? 0 : -1;
}

void py_random_seed(PyState *state, uint64_t seed) {
    words(state)[0] = seed;
    words(state)[1] = 0;
}

/* -- as plain Python -- */

static uint64_t draw(const PyState *state) {
    uint64_t *word = words(state);
    return ps_random_mix(ps_random_mix(word[0]) + ++word[1] * PS_RANDOM_STEP);
}

static double uniform(const PyState *state, PsType type) {
    int bits = type == PS_F64 ? 53 : type == PS_F32 ? 24 : type == PS_F16 ? 11 : 8;
    return ldexp((double)(draw(state) >> (64 - bits)), -bits);
}

PyObject *mode_random(const PyState *state, PsBuiltinId id, PyObject *dtype) {
    bool normal = id == PS_BUILTIN_RANDN;
    PsType type = dtype ? ps_front_dtype(&state->types, &state->options, dtype) : state->options.default_fp;
    if (!type || (normal && ps_scalar_class(type) != PS_CLASS_FLOAT))
        return py_error(state, PS_MSG_FRONT_RANDOM_DTYPE, normal ? "randn" : "random",
                        normal ? "a float dtype" : "a dtype", dtype ? Py_TYPE(dtype)->tp_name : "none");
    if (ps_scalar_class(type) != PS_CLASS_FLOAT) {
        uint64_t bits = draw(state) >> (64 - (type == PS_U1 ? 1 : ps_scalar_bits(type)));
        return mode_number(state, type, bits);
    }
    double u = uniform(state, type);
    if (normal) u = sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * uniform(state, type));
    uint64_t bits, wide;
    memcpy(&wide, &u, sizeof wide);
    bits = ps_eval_scalar(PS_OP_CAST, PS_F64, type, &wide);
    return mode_number(state, type, bits);
}
