# SPDX-License-Identifier: Apache-2.0
"""Large vectors and matrices of one number: compiled in the same time whatever their size; too large ones are refused."""

import numpy as np
import pytest

import pestle as ti
from language import run

N = 40
ZEROS = [[0] * N for _ in range(N)]
PYTHON = {
    "0.0": ti.Matrix([[0.0] * N] * N),
    "-0.0": ti.Matrix([[-0.0] * N] * N),
    "1": ti.Matrix([[1] * N] * N),
    "typed": ti.Matrix([[7] * N] * N, ti.i8),
    "bools": ti.Matrix([[True] * N] * N),
}


@pytest.mark.parametrize("name", PYTHON)
def test_of_python(name):
    """The values and the type are those of the elements one by one; a zero keeps its sign."""
    given = PYTHON[name]

    @ti.kernel
    def k(out: ti.types.ndarray(ti.f64, 1), n: ti.i32) -> ti.f64:
        m = given
        out[0] = m.sum() + m[n, n]
        m[n, n] = 3
        out[1] = m.sum()
        ti.static_assert(m.dtype == types[name])
        return 1 / ti.f64(given[n, n])

    types = {"0.0": ti.f32, "-0.0": ti.f32, "1": ti.i32, "typed": ti.i8, "bools": ti.u1}
    number = float(np.asarray(given.to_numpy())[0, 0])
    inverse = {"0.0": np.inf, "-0.0": -np.inf, "1": 1, "typed": 1 / 7, "bools": 1}[name]
    assert run(k, np.zeros(2), N - 1) == inverse
    if name in ("0.0", "1"):
        out = np.zeros(2)
        k(out, 5)
        assert out.tolist() == [number * (N * N + 1), number * N * N + 3 - number]


def made(f):
    """How many operations the IR of a kernel without arguments has."""
    f()
    return len(f.ir(after="front").splitlines())


def test_the_size_costs_nothing():
    def kernels(n):
        @ti.kernel
        def zero() -> ti.f32:
            return ti.Matrix.zero(ti.f32, n, n)[n - 1, n - 1]

        @ti.kernel
        def one() -> ti.i64:
            m = ti.Vector.one(ti.i64, n)
            m[n - 1] += 4
            return m[n - 1]

        @ti.kernel
        def grown() -> ti.f32:
            return (ti.Matrix.zero(ti.f32, n, n) + 2.0)[1, 1]

        return zero, one, grown

    for small, large in zip(kernels(20), kernels(200)):
        assert small() == large()
        assert made(small) == made(large)


def test_literals_of_one_number():
    @ti.kernel
    def k(n: ti.i32) -> ti.i32:
        stack = ti.Vector([0] * 64)
        table = ti.Matrix(ZEROS)
        for i in range(n):
            stack[i] = i
            table[i, n] = stack[i - i // 2]
        return stack.sum() * 1000 + table.sum()

    assert "splat" in k.ir(5, after="front")
    assert run(k, 9) == 36 * 1000 + sum(i - i // 2 for i in range(9))


@pytest.mark.parametrize("where", ["kernel", "loop", "func"])
def test_too_large(where):
    @ti.func
    def in_func(n: ti.i32) -> ti.f32:
        m = ti.Matrix.zero(ti.f32, 500, 500)
        m[n, n] = 1
        if n > 3:
            return m[n, n]
        return m[0, n]

    @ti.kernel
    def in_kernel(n: ti.i32) -> ti.f32:
        m = ti.Matrix.zero(ti.f32, 500, 500)
        m[n, n] = 1
        return m[n, n]

    @ti.kernel
    def in_loop(n: ti.i32) -> ti.f32:
        s = 0.0
        for i in range(n):
            m = ti.Matrix.zero(ti.f32, 500, 500)
            m[i, i] = 1
            s += m[i, n]
        return s

    @ti.kernel
    def calls(n: ti.i32) -> ti.f32:
        return in_func(n)

    with pytest.raises(ti.CompilationError, match="line (?s:.*)keep large ones in a field or an array"):
        {"kernel": in_kernel, "loop": in_loop, "func": calls}[where](5)
