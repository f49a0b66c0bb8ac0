/* SPDX-License-Identifier: Apache-2.0
 *
 * The colder half of decode_numpy.h: which type numpy's array type is, which element types it can hold.
 */
#include "py/decode_numpy.h"

#include <string.h>

typedef struct
    NumpyDescr { /* the head of PyArray_Descr; the item size's offset differs between numpy 1 and 2 */
    PyObject_HEAD PyTypeObject *typeobj;
    char kind, type, byteorder, flags;
    int type_num;
} NumpyDescr;

/* NPY_TYPES, on systems where long has 64 bits. */
static const uint8_t element_of_num[24] = {
    [0] = PS_U1,  [1] = PS_I8,  [2] = PS_U8,  [3] = PS_I16,  [4] = PS_U16,  [5] = PS_I32,  [6] = PS_U32,
    [7] = PS_I64, [8] = PS_U64, [9] = PS_I64, [10] = PS_U64, [11] = PS_F32, [12] = PS_F64, [23] = PS_F16,
};
_Static_assert(sizeof(long) == 8, "numpy's type 7 is long");

/* The class of this name among the object's bases. */
static PyTypeObject *base_named(PyTypeObject *type, const char *name) {
    PyObject *mro = type->tp_mro;
    for (Py_ssize_t i = 0; mro && i < PyTuple_GET_SIZE(mro); i++) {
        PyObject *base = PyTuple_GET_ITEM(mro, i);
        if (PyType_Check(base) && strcmp(((PyTypeObject *)base)->tp_name, name) == 0)
            return (PyTypeObject *)base;
    }
    return NULL;
}

/* numpy.ndarray of the numpy that this process imported; borrowed, NULL: not imported. */
static PyObject *imported_type(void) {
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *module = modules ? PyDict_GetItemString(modules, "numpy") : NULL;
    if (!module || !PyModule_Check(module)) return NULL;
    return PyDict_GetItemString(PyModule_GetDict(module), "ndarray");
}

bool numpy_check(PyNumpy *numpy, PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    if (numpy->type) return type == numpy->type || PyType_IsSubtype(type, numpy->type);
    PyTypeObject *found = base_named(type, "numpy.ndarray");
    if (!found || (PyObject *)found != imported_type() || found->tp_basicsize < (Py_ssize_t)sizeof(NumpyArray))
        return false;
    numpy->type = (PyTypeObject *)Py_NewRef(found);
    return true;
}

bool numpy_is_masked(PyObject *object) { return base_named(Py_TYPE(object), "MaskedArray") != NULL; }

bool numpy_is_scalar(PyObject *object) { return base_named(Py_TYPE(object), "numpy.generic") != NULL; }

PsType numpy_element(PyNumpy *numpy, const NumpyArray *array) {
    const NumpyDescr *descr = (const NumpyDescr *)array->descr;
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    if (descr->byteorder == (little ? '>' : '<')) return PS_KIND_NONE;
    PsType type = PS_KIND_NONE;
    if (descr->type_num >= 0 && descr->type_num < (int)PS_COUNT(element_of_num))
        type = element_of_num[descr->type_num];
    else if (descr->typeobj && (strcmp(descr->typeobj->tp_name, "bfloat16") == 0 ||
                                strcmp(descr->typeobj->tp_name, "ml_dtypes.bfloat16") == 0))
        type = PS_BF16;
    if (type != PS_KIND_NONE && !numpy->descrs[type]) numpy->descrs[type] = Py_NewRef(array->descr);
    return type;
}

bool numpy_unit(const NumpyArray *array, int item) {
    if (array->flags & NUMPY_C_CONTIGUOUS) return true;
    int last = array->nd - 1;
    if (array->strides[last] != item) return false;
    for (int k = last - 1; k >= 0; k--) {
        Py_ssize_t extent;
        if (__builtin_mul_overflow(array->dimensions[k + 1], array->strides[k + 1], &extent) ||
            array->strides[k] < extent)
            return false;
    }
    return true;
}

NumpyStrided numpy_words_strided(const NumpyArray *array, int item, uint64_t *words) {
    NumpyStrided out = {1, 0, numpy_unit(array, item)};
    for (int k = 0; k < array->nd; k++) {
        uint64_t length = (uint64_t)array->dimensions[k];
        words[1 + k] = length;
        words[1 + array->nd + k] = (uint64_t)array->strides[k];
        out.total *= length;
        if (length > out.longest) out.longest = length;
    }
    return out;
}

void numpy_forget(PyNumpy *numpy) {
    Py_CLEAR(numpy->type);
    for (int t = 0; t < PS_SCALAR_END; t++) Py_CLEAR(numpy->descrs[t]);
}
