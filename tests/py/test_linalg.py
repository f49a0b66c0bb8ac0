# SPDX-License-Identifier: Apache-2.0
"""pestle.linalg: systems whose matrix is a kernel."""

import numpy as np
import pytest

import pestle as ti
from pestle.linalg import LinearOperator, MatrixFreeBICGSTAB, MatrixFreeCG

SHAPES = [(17,), (6, 7), (3, 4, 5), ()]


def matrix_of(operator, dtype, shape):
    """The matrix, column by column: what the operator makes of unit vectors."""
    n = int(np.prod(shape))
    v, out, columns = ti.field(dtype, shape), ti.field(dtype, shape), []
    for k in range(n):
        unit = np.zeros(n)
        unit[k] = 1
        v.from_numpy(unit.reshape(shape).astype(v.to_numpy().dtype))
        operator.matvec(v, out)
        columns.append(out.to_numpy().ravel().astype(np.float64))
    return np.array(columns).T


def operator(skew):
    @ti.kernel
    def apply(v: ti.template(), out: ti.template()):
        for I in ti.grouped(v):
            total = 8 * v[I]
            for k in ti.static(range(len(v.shape))):
                if I[k] > 0:
                    J = I
                    J[k] -= 1
                    total -= (1 + skew) * v[J]
                if I[k] < v.shape[k] - 1:
                    J = I
                    J[k] += 1
                    total -= v[J]
            out[I] = total

    @ti.kernel
    def apply_number(v: ti.template(), out: ti.template()):
        out[None] = 8 * v[None]

    return lambda shape: LinearOperator(apply if shape else apply_number)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype, tol, near", [(ti.f32, 1e-5, 1e-5), (ti.f64, 1e-12, 1e-12)], ids=["f32", "f64"])
@pytest.mark.parametrize("solve, skew", [(MatrixFreeCG, 0), (MatrixFreeBICGSTAB, 0), (MatrixFreeBICGSTAB, 0.7)])
def test_solution(solve, skew, dtype, tol, near, shape):
    made = operator(skew)(shape)
    b, x = ti.field(dtype, shape), ti.field(dtype, shape)
    rng = np.random.default_rng(1)
    right = rng.standard_normal(shape)
    b.from_numpy(np.asarray(right, b.to_numpy().dtype))
    x.fill(0.5)
    assert solve(made, b, x, tol=tol) is True
    want = np.linalg.solve(matrix_of(made, dtype, shape), b.to_numpy().ravel().astype(np.float64))
    np.testing.assert_allclose(x.to_numpy().ravel(), want, atol=near)
    before = x.to_numpy()
    assert solve(made, b, x, tol=tol * 1000) is True and np.array_equal(x.to_numpy(), before)  # a guess that is good already


@pytest.mark.parametrize("solve", [MatrixFreeCG, MatrixFreeBICGSTAB])
def test_as_far_as_it_goes(solve, capsys):
    """A tolerance that cannot be met ends with the best there is, and says so."""
    made = operator(0)((12,))
    b, x = ti.field(ti.f32, 12), ti.field(ti.f32, 12)
    b.fill(1)
    assert solve(made, b, x, tol=0.0, maxiter=5000) is False
    residual = np.ones(12) - matrix_of(made, ti.f32, (12,)) @ x.to_numpy().astype(np.float64)
    assert np.isfinite(x.to_numpy()).all() and np.abs(residual).max() < 1e-5
    x.fill(0)
    assert solve(made, b, x, tol=1e-30, maxiter=1, quiet=False) is False
    assert "step 0: residual 3.46" in capsys.readouterr().out
    b.fill(0)
    x.fill(0)
    assert solve(made, b, x) is True and not x.to_numpy().any()


@pytest.mark.parametrize("solve", [MatrixFreeCG, MatrixFreeBICGSTAB])
def test_offsets(solve):
    n = 9

    @ti.kernel
    def apply(v: ti.template(), out: ti.template()):
        for i in v:
            out[i] = 4 * v[i] - (v[i - 1] if i > -3 else 0.0) - (v[i + 1] if i < n - 4 else 0.0)

    b, x = (ti.field(ti.f64, n, offset=-3) for _ in range(2))
    b.fill(1)
    assert solve(LinearOperator(apply), b, x, tol=1e-12)
    a = 4 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    np.testing.assert_allclose(x.to_numpy(), np.linalg.solve(a, np.ones(n)), atol=1e-12)


@pytest.mark.parametrize("solve", [MatrixFreeCG, MatrixFreeBICGSTAB])
def test_refusals(solve):
    made = operator(0)((3,))
    x, name = ti.field(ti.f32, 3), solve.__name__
    for b, error, text in [
        (ti.field(ti.f32, 4), ti.KernelValueError, "one shape, found .4,. and .3,."),
        (ti.field(ti.f64, 3), ti.KernelTypeError, "one dtype, found f64 and f32"),
        (ti.field(ti.i32, 3), ti.KernelTypeError, "b must be a field of f32 or f64, found i32"),
        (np.zeros(3, np.float32), ti.KernelTypeError, "b must be a field of f32 or f64, found ndarray"),
        (ti.Vector.field(2, ti.f32, 3), ti.KernelTypeError, "b must be a field of f32 or f64"),
    ]:
        with pytest.raises(error, match=f"{name}: .*{text}"):
            solve(made, b, x)
    with pytest.raises(ti.KernelValueError, match="matvec: the shapes"):
        made.matvec(x, ti.field(ti.f32, 4))
