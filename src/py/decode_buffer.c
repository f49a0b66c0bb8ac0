/* SPDX-License-Identifier: Apache-2.0
 *
 * The element type behind a buffer's format string (the struct module's letters). One letter, with or without a sign of
 * byte order. The letter says what kind of number it is, the item size how wide: ctypes writes '<l' for a long of 8
 * bytes, where struct would say 4.
 */
#include "py/py_view.h"

#include <string.h>

static PsType by_size(const PsType types[4], Py_ssize_t item) {
    return item == 1   ? types[0]
           : item == 2 ? types[1]
           : item == 4 ? types[2]
           : item == 8 ? types[3]
                       : PS_KIND_NONE;
}

PsType buffer_element(const char *format, Py_ssize_t item) {
    static const PsType ints[4] = {PS_I8, PS_I16, PS_I32, PS_I64}, uints[4] = {PS_U8, PS_U16, PS_U32, PS_U64},
                        floats[4] = {PS_KIND_NONE, PS_F16, PS_F32, PS_F64};
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    if (!format) return item == 1 ? PS_U8 : PS_KIND_NONE; /* what a buffer without a format holds */
    if (*format && strchr("@=<>!", *format)) {
        bool other = *format == '<' ? !little : (*format == '>' || *format == '!') && little;
        if (other && item != 1) return PS_KIND_NONE;
        format++;
    }
    if (!format[0] || format[1]) return PS_KIND_NONE;
    if (*format == '?') return item == 1 ? PS_U1 : PS_KIND_NONE;
    if (strchr("bhilqn", *format)) return by_size(ints, item);
    if (strchr("BHILQN", *format)) return by_size(uints, item);
    return strchr("efd", *format) ? by_size(floats, item) : PS_KIND_NONE;
}
