# SPDX-License-Identifier: Apache-2.0
"""Pestle: Python functions as native parallel code.

    import pestle as ti

    @ti.kernel
    def scale(x: ti.types.ndarray(dtype=ti.f32, ndim=1), a: ti.f32):
        for i in x:
            x[i] *= a

All of it is the C module pestle._pestle; this file only gives its names.
"""

from pestle import _pestle
from pestle._pestle import *
from pestle._pestle import __version__
from pestle import types

NDArray = types.NDArray
Template = template
