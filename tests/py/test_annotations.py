"""typing.Annotated: one type for type checkers, the other for the kernel. See docs/typing.md."""

from typing import Annotated

import numpy as np
import pytest

import pestle as ti

Grey = Annotated[np.ndarray, ti.types.ndarray(dtype=ti.f32, ndim=2)]
Real = Annotated[float, "a comment", ti.f64]


@ti.func
def scaled(x: Grey, i: Annotated[int, ti.i32], by: Real) -> Real:
    return x[i, i] * by


@ti.kernel
def k(x: Grey, by: Real, twice: Annotated[bool, ti.template()]) -> Real:
    total = ti.f64(0.0)
    for i in range(x.shape[0]):
        total += scaled(x, i, by)
    return 2 * total if ti.static(twice) else total


def test_annotated():
    x = np.eye(3, dtype=np.float32)
    assert k(x, 0.1, False) == 0.1 + 0.1 + 0.1
    assert k(x, 0.1, True) == 2 * (0.1 + 0.1 + 0.1)
    with pytest.raises(ti.KernelTypeError, match="expected an array of f32"):
        k(np.eye(3), 0.1, False)


def test_annotated_without_ours():
    @ti.kernel
    def plain(x: Annotated[int, "a comment"]) -> ti.i32:
        return x + 1

    @ti.kernel
    def unknown(x: Annotated[str, "a comment"]):
        pass

    assert plain(1) == 2
    with pytest.raises(ti.KernelSyntaxError, match="<class 'str'>"):
        unknown(1)


def test_as_text(from_source):
    program = from_source(
        "from __future__ import annotations\n"
        "from typing import Annotated\n"
        "import pestle as ti\n"
        "def make():\n"
        "    wide = ti.f64\n"
        "    @ti.kernel\n"
        "    def k(x: Annotated[float, wide], n: ti.i32) -> Annotated[float, wide]:\n"
        "        return x * n\n"
        "    return k\n"
    )
    assert program["make"]()(0.1, 3) == 0.1 * 3
