# SPDX-License-Identifier: Apache-2.0
"""Pestle: Python functions as native parallel code.

    import pestle as ti

    @ti.kernel
    def scale(x: ti.types.ndarray(dtype=ti.f32, ndim=1), a: ti.f32):
        for i in x:
            x[i] *= a

All of it is the C module pestle._pestle; this file only gives its names.
"""

from enum import Enum as _Enum

from pestle import _pestle
from pestle._pestle import *
from pestle._pestle import __version__
from pestle import types

NDArray = types.NDArray
Template = template


class Layout(_Enum):
    """How the elements of fields of vectors, matrices and structs lie in memory."""

    AOS = 1  # the scalars of an element side by side
    SOA = 2  # each scalar of all elements side by side
