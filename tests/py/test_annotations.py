"""typing.Annotated: one type for type checkers, the other for the kernel. See docs/typing.md."""

import dataclasses
import sys
import typing
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


@pytest.mark.skipif(sys.version_info < (3, 11), reason="typing of Python 3.10 takes no objects in Optional that cannot be called")
def test_optional_arrays_and_templates():
    @ti.kernel
    def used(a: ti.types.ndarray | None, b: typing.Optional[ti.types.ndarray(ti.f32, 1)], c: ti.template | None) -> ti.i32:
        r = 0
        if ti.static(a is not None):
            r += a.shape[0]
        if ti.static(b is not None):
            r += 10 * b.shape[0]
        if ti.static(c is not None):
            r += 100 * c
        return r

    x = np.zeros(3, np.float32)
    for _ in range(2):  # warm, too
        assert [used(None, None, None), used(x, None, None), used(None, x, 1), used(x, x, 2)] == [0, 3, 130, 233]
    with pytest.raises(TypeError, match="'b' of kernel .* expected an array .*, found int"):
        used(None, 3, None)
    with pytest.raises(TypeError, match="expected an array of f32, found an array of f64"):
        used(None, np.zeros(3), None)

    @ti.kernel
    def number(a: int | None):
        pass

    with pytest.raises(ti.KernelSyntaxError, match=r"annotation int \| None"):
        number(1)


def test_optional_members():
    @dataclasses.dataclass
    class Parts:
        x: typing.Optional[ti.types.ndarray]
        n: ti.i32

    @ti.kernel
    def fill(parts: Parts) -> ti.i32:
        if ti.static(parts.x is not None):
            parts.x[0] = parts.n
        return parts.n

    x = np.zeros(2, np.float32)
    for n in (4, 5):
        assert fill(Parts(None, 3)) == 3 and fill(Parts(x, n)) == n and x[0] == n


def test_elements_of_another_kind():
    @ti.kernel
    def numbers(x: ti.types.ndarray(ti.f32)):
        x[0] = 4

    @ti.kernel
    def vectors(x: ti.types.ndarray(ti.types.vector(2, ti.f32), 1)):
        pass

    with pytest.raises(TypeError, match="expected an array of f32, found an array of vectors of f32"):
        numbers(ti.Vector.ndarray(2, ti.f32, 3))
    with pytest.raises(ValueError, match="expected an array of vectors of f32, found an array of matrices of f32"):
        vectors(ti.Matrix.ndarray(2, 2, ti.f32, 3))
