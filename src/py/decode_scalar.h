/* SPDX-License-Identifier: Apache-2.0
 *
 * Python numbers -> the bits of a scalar type, zero-extended to a word.
 */
#ifndef PS_PY_DECODE_SCALAR_H
#define PS_PY_DECODE_SCALAR_H

#include "py/py_int.h"

#if PY_VERSION_HEX < 0x030B0000
#include <longintrepr.h>
#endif
#include <string.h>

/* Whose value it is, for messages: a parameter of a kernel, or something named outright. */
typedef struct ScalarPlace {
    PyKernel *kernel; /* NULL: `what` alone */
    uint32_t param;
    const char *what;
} ScalarPlace;

/* Any Python number of the type: int, bool, float, numpy scalars, whatever has __index__ (integers) or __float__.
 * A float for an integer type and values out of range are refused. -1 with an exception. */
int scalar_decode(const PyState *state, PsType type, PyObject *value, const ScalarPlace *place, uint64_t *out);
PyObject *scalar_encode(PsType type, uint64_t bits); /* a Python int, float or bool */
/* A value of the form into its words. -1 with an exception. */
int py_form_read(const PyState *state, const PsForm *form, PyObject *arg, const ScalarPlace *place,
                 uint64_t *words);
/* "argument 'n' of kernel 'k'" or the place's own words; into the buffer. */
const char *scalar_place_text(const ScalarPlace *place, char *buffer, size_t size);
void scalar_range(PsType type, int64_t *lo, uint64_t *hi); /* of an integer type */

/* The value of an exact int of at most one digit (two, before 3.12: |value| < 2^60); false otherwise. */
static inline bool scalar_small_int(PyObject *object, int64_t *out) {
#if PY_VERSION_HEX < 0x030C0000
    const PyLongObject *integer = (const PyLongObject *)object;
    Py_ssize_t size = Py_SIZE(integer); /* digits, negative for a negative number */
    if (PS_LIKELY(size >= -1 && size <= 1)) {
        *out = (int64_t)size * (int64_t)integer->ob_digit[0];
        return true;
    }
    if (size < -2 || size > 2) return false;
    int64_t value = (int64_t)integer->ob_digit[0] | (int64_t)integer->ob_digit[1] << PyLong_SHIFT;
    *out = size < 0 ? -value : value;
    return true;
#else
    if (!PyUnstable_Long_IsCompact((const PyLongObject *)object)) return false;
    *out = PyUnstable_Long_CompactValue((const PyLongObject *)object);
    return true;
#endif
}

static inline uint64_t scalar_f64_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t scalar_f32_bits(double value) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

#endif
