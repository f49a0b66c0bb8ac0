/* SPDX-License-Identifier: Apache-2.0
 *
 * See decode_torch.h.
 */
#include "py/decode_torch.h"

#include <dlfcn.h>
#include <string.h>

#include "py/decode_strided.h"

typedef struct TensorObject { /* the head of THPVariable */
    PyObject_HEAD void *handle;
} TensorObject;

/* -- finding the functions -- */

typedef int32_t (*Number)(void);

/* A constant that torch gives by a function; -1: it has no such. */
static int32_t number(void *library, const char *name) {
    Number function;
    *(void **)&function = dlsym(library, name);
    return function ? function() : -1;
}

static void find_dtypes(PyTorch *torch, void *library) {
    static const char *const names[PS_SCALAR_END] = {
        [PS_U1] = "aoti_torch_dtype_bool",      [PS_I8] = "aoti_torch_dtype_int8",
        [PS_I16] = "aoti_torch_dtype_int16",    [PS_I32] = "aoti_torch_dtype_int32",
        [PS_I64] = "aoti_torch_dtype_int64",    [PS_U8] = "aoti_torch_dtype_uint8",
        [PS_U16] = "aoti_torch_dtype_uint16",   [PS_U32] = "aoti_torch_dtype_uint32",
        [PS_U64] = "aoti_torch_dtype_uint64",   [PS_F16] = "aoti_torch_dtype_float16",
        [PS_F32] = "aoti_torch_dtype_float32",  [PS_F64] = "aoti_torch_dtype_float64",
        [PS_BF16] = "aoti_torch_dtype_bfloat16"};
    for (PsType t = 0; t < PS_SCALAR_END; t++) torch->dtypes[t] = names[t] ? number(library, names[t]) : -1;
}

static bool find_functions(PyTorch *torch) {
    /* Not loaded by this: the process has it, or there are no tensors. */
    void *library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return false;
    *(void **)&torch->get_layout = dlsym(library, "aoti_torch_get_layout");
    *(void **)&torch->get_device = dlsym(library, "aoti_torch_get_device_type");
    *(void **)&torch->get_dtype = dlsym(library, "aoti_torch_get_dtype");
    *(void **)&torch->get_ndim = dlsym(library, "aoti_torch_get_dim");
    *(void **)&torch->get_shape = dlsym(library, "aoti_torch_get_sizes");
    *(void **)&torch->get_strides = dlsym(library, "aoti_torch_get_strides");
    *(void **)&torch->get_data = dlsym(library, "aoti_torch_get_data_ptr");
    torch->strided = number(library, "aoti_torch_layout_strided");
    torch->cpu = number(library, "aoti_torch_device_type_cpu");
    find_dtypes(torch, library);
    dlclose(library); /* torch itself keeps it */
    return torch->get_layout && torch->get_device && torch->get_dtype && torch->get_ndim && torch->get_shape &&
           torch->get_strides && torch->get_data && torch->strided >= 0 && torch->cpu >= 0;
}

/* -- trusting a class -- */

/* Only torch's own two: classes that others derive may wrap tensors without memory. */
static bool is_plain(PyTypeObject *type) {
    return strcmp(type->tp_name, "Tensor") == 0 || strcmp(type->tp_name, "Parameter") == 0;
}

static bool has_handle(PyObject *tensor) {
    if (Py_TYPE(tensor)->tp_basicsize < (Py_ssize_t)sizeof(TensorObject)) return false;
    PyObject *address = PyObject_GetAttrString(tensor, "_cdata");
    void *expected = address ? PyLong_AsVoidPtr(address) : NULL;
    if (PyErr_Occurred()) PyErr_Clear();
    Py_XDECREF(address);
    return expected && ((TensorObject *)tensor)->handle == expected;
}

bool torch_learn(PyTorch *torch, PyObject *tensor) {
    if (!is_plain(Py_TYPE(tensor)) || !has_handle(tensor)) return false;
    if (!torch->asked) {
        torch->asked = true;
        torch->found = find_functions(torch);
    }
    return torch->found;
}

/* -- reading -- */

bool torch_read(const PyTorch *torch, PyObject *tensor, const PyPlan *plan, StridedSource *out) {
    void *handle = &((TensorObject *)tensor)->handle;
    int32_t layout, device, dtype;
    int64_t ndim, *shape, *strides;
    void *data;
    if (torch->get_dtype(handle, &dtype) || dtype != torch->dtypes[plan->dtype] ||
        torch->get_device(handle, &device) || device != torch->cpu || torch->get_layout(handle, &layout) ||
        layout != torch->strided || torch->get_ndim(handle, &ndim) || ndim != plan->ndim ||
        torch->get_shape(handle, &shape) || torch->get_strides(handle, &strides) ||
        torch->get_data(handle, &data))
        return false;
    int item = plan->array.item;
    *out = (StridedSource){data, shape, strides, item, (int)ndim, item};
    return true;
}
