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
from pestle._pestle import __version__, _uint
from pestle import types

NDArray = types.NDArray
Template = template


class Layout:
    """How the elements of fields of vectors, matrices and structs lie in memory."""

    def __init__(self, name, value):
        self.name, self.value = name, value

    def __repr__(self):
        return f"Layout.{self.name}"


Layout.AOS = Layout("AOS", 1)  # the scalars of an element side by side
Layout.SOA = Layout("SOA", 2)  # each scalar of all elements side by side


_TENSORS = "Backend MatrixTensor Tensor VectorTensor tensor wrap".split()
_DECOMPOSITIONS = "eig frexp make_spd polar_decompose solve svd sym_eig".split()


def __getattr__(name):
    """pestle.math, pestle.linalg and the decompositions, which importing pestle need not wait for; why other names are not there."""
    import importlib

    if name in ("math", "linalg"):
        return importlib.import_module(f"pestle.{name}")
    home = "_decompose" if name in _DECOMPOSITIONS else "_tensor" if name in _TENSORS else None
    if home:
        found = globals()[name] = getattr(importlib.import_module(f"pestle.{home}"), name)
        return found
    importlib.import_module("pestle._later").refuse(__name__, name)
