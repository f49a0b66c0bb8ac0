# SPDX-License-Identifier: Apache-2.0
"""hasattr(), getattr() with a default and `except AttributeError`, of values that are known only when the kernel runs."""

import numpy as np
import pytest

import pestle as ti

Pair = ti.types.struct(a=ti.i32, b=ti.i32)
vec2 = ti.types.vector(2, ti.i32)


@pytest.fixture(autouse=True, params=["compiled", "checked", "python"])
def mode(request):
    ti.init(arch=ti.python if request.param == "python" else ti.cpu, checked=request.param == "checked")
    yield request.param
    ti.init()


def test_in_kernels():
    field = ti.field(ti.i32, 3)

    @ti.kernel
    def has(x: ti.f32, s: Pair, v: vec2, a: ti.types.ndarray()) -> ti.types.vector(10, ti.i32):
        return ti.Vector(
            [hasattr(x, "a"), hasattr(s, "a"), hasattr(s, "c"), hasattr(v, "x"), hasattr(v, "z"), hasattr(a, "shape")]
            + [hasattr(a, "nothing"), hasattr(field, "shape"), hasattr(field, "nothing"), hasattr(v, "norm")]
        )

    assert has(1, Pair(1, 2), [1, 2], np.zeros(3)).to_list() == [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]

    @ti.kernel
    def get(x: ti.i32, s: Pair) -> ti.i32:
        return getattr(s, "a") + getattr(s, "b", 50) * 10 + getattr(s, "c", 7) * 100 + getattr(x, "a", x) * 1000

    assert get(4, Pair(1, 2)) == 4721


def test_in_functions_that_run_while_compiling():
    def asked(x):
        return getattr(x, "a", 5) if hasattr(x, "a") or hasattr(x, "x") else 6

    def tried(x):
        try:
            return x.a + x.c
        except AttributeError:
            return 7

    @ti.kernel
    def k(x: ti.i32, s: Pair, v: vec2) -> ti.i32:
        r = 0
        for i in range(1):
            if x > 0:
                r = asked(x) + 10 * asked(s) + 100 * asked(v) + 1000 * tried(x) + 10000 * tried(s)
        return r + x

    assert k(1, Pair(3, 4), [1, 2]) == 77537


def test_what_nobody_catches_is_said_as_ever(mode):
    if mode == "python":
        pytest.skip("the exception is Python's own there")

    def dots(x):
        return x.nothing

    def other(x):
        try:
            return x.nothing
        except AttributeError:
            return x & 0.5

    def chained(x):
        try:
            return x.nothing
        except AttributeError as error:
            raise KeyError("mine") from error

    @ti.kernel
    def k(x: ti.i32, f: ti.template()) -> ti.i32:
        return f(x)

    @ti.kernel
    def direct(x: ti.i32) -> ti.i32:
        return x.nothing

    for call in (lambda: k(1, dots), lambda: direct(1)):
        with pytest.raises(ti.KernelNameError, match=r"line \d+, in (k|direct)\n(?s:.*)i32 has no attribute 'nothing'$"):
            call()
    with pytest.raises(ti.KernelTypeError, match="unsupported operand type"):
        k(1, other)
    with pytest.raises(ti.KernelIndexError, match="KeyError while compiling: 'mine'"):
        k(1, chained)
