# SPDX-License-Identifier: Apache-2.0
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Protocol, runtime_checkable

class Backend(IntEnum):
    """What tensor() makes."""

    FIELD = 0
    NDARRAY = 1

@runtime_checkable
class Tensor(Protocol):
    """A field or an ndarray: isinstance(x, Tensor). As an annotation of parameters and members: either, or None."""

    @property
    def shape(self) -> Any:
        """The lengths of the axes."""

    @property
    def dtype(self) -> Any:
        """The type of a scalar, such as pestle.f32."""

    @property
    def grad(self) -> Any:
        """The tensor of the same shape that needs_grad=True made, or None."""

    def __getitem__(self, index: Any, /) -> Any: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...
    def __iter__(self) -> Any: ...
    def __len__(self) -> int: ...

@runtime_checkable
class VectorTensor(Tensor, Protocol):
    """One of vectors, to ask isinstance for."""

@runtime_checkable
class MatrixTensor(Tensor, Protocol):
    """One of matrices, to ask isinstance for."""

def wrap(array: Any) -> Any:
    """The array itself, which is a tensor already; TypeError for what is none."""

def tensor(
    dtype: Any,
    shape: int | Sequence[int],
    *,
    backend: Backend | int = ...,
    layout: Sequence[int] | None = None,
    needs_grad: bool = False,
) -> Any:
    """A field or an ndarray of zeros. layout: the axes from the outermost in memory on, as (1, 0)."""
