/* SPDX-License-Identifier: Apache-2.0
 *
 * torch.Tensor, quicker than by DLPack. torch's exchange function copies the C++ handle of the tensor, which takes two
 * looks at the GIL and most of its 50 to 100 ns. torch also has a C interface with a stable ABI that takes the handle's
 * address ("aoti_torch_...", made for code compiled ahead of time): six calls of 2 ns. The address is the one thing
 * nobody promises; it is the first field of the Python object since torch 2.10, and the attribute _cdata says what it
 * must hold. Where anything of this is otherwise, and for tensors that are out of the ordinary, DLPack has the word.
 */
#ifndef PS_PY_DECODE_TORCH_H
#define PS_PY_DECODE_TORCH_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ir/ir.h"

typedef struct PyTorch { /* torch's functions: 0, or an error */
    bool asked, found;
    int32_t strided, cpu;          /* layout; device */
    int32_t dtypes[PS_SCALAR_END]; /* -1: none */
    int32_t (*get_layout)(void *handle, int32_t *out);
    int32_t (*get_device)(void *handle, int32_t *out);
    int32_t (*get_dtype)(void *handle, int32_t *out);
    int32_t (*get_ndim)(void *handle, int64_t *out);
    int32_t (*get_shape)(void *handle, int64_t **out);
    int32_t (*get_strides)(void *handle, int64_t **out);
    int32_t (*get_data)(void *handle, void **out);
} PyTorch;

/* Whether tensors of this class can be read so; the tensor is one of them. */
bool torch_learn(PyTorch *torch, PyObject *tensor);

struct PyPlan;
struct StridedSource;
/* 1: *out is filled. 0: it is not what the plan expects, or nothing usual: ask DLPack. */
bool torch_read(const PyTorch *torch, PyObject *tensor, const struct PyPlan *plan, struct StridedSource *out);

#endif
