/* SPDX-License-Identifier: Apache-2.0
 *
 * DLPack (github.com/dmlc/dlpack, version 1.3): the part of its C interface that Pestle uses, in Pestle's own words, and
 * arrays that come by it. Three ways in, quickest first:
 *
 *   the exchange functions that a class offers as __dlpack_c_exchange_api__ (torch from 2.9 on): no allocation, no
 *   Python call; decoded on the hot path, and plain torch tensors quicker still (decode_torch.h);
 *   a capsule from __dlpack__, versioned or not: taken by py_view.c, which holds it while the kernel runs;
 *   and one way out: Ndarray.__dlpack__ (py_ndarray_export.c).
 */
#ifndef PS_PY_DECODE_DLPACK_H
#define PS_PY_DECODE_DLPACK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ir/ir.h"
#include "py/decode_torch.h"

/* -- the interface -- */

typedef struct DlDtype {
    uint8_t code, bits; /* DlCode; of one lane */
    uint16_t lanes;
} DlDtype;
typedef enum DlCode {
    DL_INT = 0,
    DL_UINT = 1,
    DL_FLOAT = 2,
    DL_BFLOAT = 4,
    DL_COMPLEX = 5,
    DL_BOOL = 6
} DlCode;
typedef enum DlDeviceType {
    DL_CPU = 1,
    DL_CUDA_HOST = 3,
    DL_ROCM_HOST = 11
} DlDeviceType; /* the CPU's memory */
typedef struct DlDevice {
    int32_t type, id;
} DlDevice;
typedef struct DlVersion {
    uint32_t major, minor;
} DlVersion;
#define DL_MAJOR 1
#define DL_MINOR 3

typedef struct DlTensor {
    void *data;
    DlDevice device;
    int32_t ndim;
    DlDtype dtype;
    int64_t *shape, *strides; /* strides in elements; NULL: C order */
    uint64_t byte_offset;
} DlTensor;
typedef struct DlManaged { /* in a capsule "dltensor" */
    DlTensor tensor;
    void *context;
    void (*deleter)(struct DlManaged *self); /* may be NULL */
} DlManaged;
typedef struct DlManagedVersioned { /* in a capsule "dltensor_versioned" */
    DlVersion version;
    void *context;
    void (*deleter)(struct DlManagedVersioned *self); /* may be NULL */
    uint64_t flags;
    DlTensor tensor; /* only when the major version is ours */
} DlManagedVersioned;
#define DL_FLAG_READ_ONLY 1u
#define DL_FLAG_COPIED    2u
_Static_assert(sizeof(DlTensor) == 48 && sizeof(DlManaged) == 64 && sizeof(DlManagedVersioned) == 80,
               "DLPack's structs");

typedef struct DlExchange { /* in a capsule "dlpack_exchange_api"; lives as long as the process */
    DlVersion version;
    struct DlExchange *previous; /* of an older version, or NULL */
    void *allocate, *managed_from, *managed_to;
    int (*read)(void *object, DlTensor *out); /* borrows; -1 with a Python exception; may be NULL */
    void *current_stream;
} DlExchange;

/* -- classes with exchange functions -- */

/* What is asked of a tensor beside its DlTensor, without a Python call. */
typedef struct DlKnown {
    PyTypeObject *type; /* owned */
    int (*read)(void *object, DlTensor *out);
    const PyGetSetDef *requires_grad; /* NULL: the class has no such attribute */
    const PyMethodDef *is_neg;        /* the same */
    const PyTorch *torch;             /* not NULL: torch_read is quicker */
    struct DlKnown *next;
} DlKnown;
#define DL_KNOWN 64 /* classes at most; objects of further ones go through __dlpack__ */
typedef struct PyDlpack {
    DlKnown *first; /* they stay where they are */
    uint32_t count;
    PyTorch torch;
} PyDlpack;

static inline const DlKnown *dlpack_known(const PyDlpack *dlpack, const PyTypeObject *type) {
    for (const DlKnown *known = dlpack->first; known; known = known->next)
        if (known->type == type) return known;
    return NULL;
}
/* The same of the object's class, and looks whether it has the functions when it is a new one. Never an exception. */
const DlKnown *dlpack_learn(PyDlpack *dlpack, PyObject *object);
void dlpack_forget(PyDlpack *dlpack);
int dlpack_traverse(const PyDlpack *dlpack, visitproc visit, void *arg);

/* -- arrays -- */

uint32_t dlpack_dtype_word(PsType type); /* the bytes of a DlDtype */
DlDtype dlpack_dtype(PsType type);
PsType dlpack_element(DlDtype dtype); /* PS_KIND_NONE: one that kernels do not have */
static inline bool dlpack_on_cpu(DlDevice device) {
    return device.type == DL_CPU || device.type == DL_CUDA_HOST || device.type == DL_ROCM_HOST;
}
static inline char *dlpack_data(const DlTensor *tensor) {
    return tensor->data ? (char *)tensor->data + tensor->byte_offset : NULL;
}
struct PyPlan;
/* As numpy_decode. */
int64_t dlpack_decode(const DlKnown *known, PyObject *tensor, const struct PyPlan *plan, uint64_t *words);
/* Whether its memory holds the negatives of its values; never an exception. */
bool dlpack_is_negated(const DlKnown *known, PyObject *tensor);
bool dlpack_wants_grad(const DlKnown *known, PyObject *tensor);

#endif
