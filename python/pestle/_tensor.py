# SPDX-License-Identifier: Apache-2.0
"""Tensors: fields and ndarrays by one name. There is no wrapper: tensor() gives the array itself."""

from enum import IntEnum

import pestle
from pestle import _pestle

_ARRAYS = (pestle.Field, pestle.StructField, pestle.Ndarray, pestle.StructNdarray)


class Backend(IntEnum):
    """What tensor() makes."""

    FIELD = 0
    NDARRAY = 1


class _Kind(type):
    """isinstance looks at what an array is."""

    def __instancecheck__(cls, value):
        if not isinstance(value, _ARRAYS):
            return False
        return cls.axes is None or len(getattr(value, "element_shape", ())) == cls.axes

    def __call__(cls, value):
        return wrap(value) if cls.__instancecheck__(value) else _refuse(cls, value)


class Tensor(metaclass=_Kind):
    """A field or an ndarray. As an annotation: either, or None."""

    axes = None


class VectorTensor(Tensor):
    """One of vectors."""

    axes = 1


class MatrixTensor(Tensor):
    """One of matrices."""

    axes = 2


_pestle._tensor_class(Tensor)


def _refuse(cls, value):
    raise TypeError(f"{cls.__name__}: expected a field or an ndarray, found {type(value).__name__}")


def wrap(array):
    """The array itself, which is a tensor already."""
    return array if isinstance(array, Tensor) else _refuse(wrap, array)


def _order(layout, shape):
    ndim = len(shape) if isinstance(shape, (tuple, list)) else 1
    axes = list(layout)
    if sorted(axes) != list(range(ndim)):
        raise ValueError(f"tensor: layout must be a permutation of range({ndim}), found {layout!r}")
    return "".join(chr(ord("i") + axis) for axis in axes)


def _make(of, backend, args, layout, needs_grad):
    try:
        backend = Backend(backend)
    except ValueError:
        expected = ", ".join(f"Backend.{one.name}" for one in Backend)
        raise ValueError(f"tensor: backend must be one of {expected}, found {backend!r}") from None
    order = {} if layout is None else {"order": _order(layout, args[-1])}
    new = of.field if backend is Backend.FIELD else of.ndarray
    return new(*args, needs_grad=needs_grad, **order)


def tensor(dtype, shape, *, backend=Backend.NDARRAY, layout=None, needs_grad=False):
    """A field or an ndarray of zeros; layout: the axes from the outermost in memory on."""
    if isinstance(dtype, Tensor):
        raise TypeError(f"tensor: expected a dtype, found {type(dtype).__name__}, which is a tensor already")
    return _make(pestle, backend, (dtype, shape), layout, needs_grad)


def vector_tensor(n, dtype, shape, *, backend=Backend.NDARRAY, needs_grad=False):
    """Vector.tensor."""
    return _make(pestle.Vector, backend, (n, dtype, shape), None, needs_grad)


def matrix_tensor(n, m, dtype, shape, *, backend=Backend.NDARRAY, needs_grad=False):
    """Matrix.tensor."""
    return _make(pestle.Matrix, backend, (n, m, dtype, shape), None, needs_grad)
