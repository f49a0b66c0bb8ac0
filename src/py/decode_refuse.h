/* SPDX-License-Identifier: Apache-2.0
 *
 * Why an argument cannot be used as an array: what it is, and what it has other than its annotation asks for. Each
 * returns -1 with an exception.
 */
#ifndef PS_PY_DECODE_REFUSE_H
#define PS_PY_DECODE_REFUSE_H

#include "py/decode_dlpack.h"
#include "py/decode_scalar.h"
#include "py/decode_strided.h"

/* It has the type, rank and order of the plan, and was refused nevertheless. */
int refuse_array(PyState *state, const ScalarPlace *place, PyObject *arg);
/* Its own library raised what is pending; that, or what torch tells of such tensors. */
int refuse_export(const PyState *state, const ScalarPlace *place, PyObject *arg);
int refuse_device(const PyState *state, const ScalarPlace *place, DlDevice device);
int refuse_axes(const PyState *state, const ScalarPlace *place, int ndim);
int refuse_format(const PyState *state, const ScalarPlace *place, const char *format);
int refuse_dlpack_dtype(const PyState *state, const ScalarPlace *place, PyObject *arg, DlDtype dtype);
/* Refuses a tensor that is negated lazily, which DLPack does not tell; 0: it is not. */
int refuse_negated(const PyState *state, const ScalarPlace *place, PyObject *arg);
/* Reads a tensor, or refuses what it is whatever the kernel does with it. */
int refuse_or_read(const PyState *state, const ScalarPlace *place, const DlKnown *known, PyObject *tensor,
                   StridedSource *out, PsType *out_type);
/* It has not as many axes (`found`, those of `edim` of the elements included) as the annotation says. */
int refuse_rank(const PyState *state, const PyParam *param, const char *name, int edim, int found);
/* An array of ours knows how many axes its elements have; the annotation says another number. */
int refuse_elements(const PyState *state, const char *name, PsKind dtype, int wanted, int found);

#endif
