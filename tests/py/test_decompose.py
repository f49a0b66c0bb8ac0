"""svd, polar_decompose, eig, sym_eig, make_spd, solve against numpy, in f32 and f64; hostile matrices among random ones."""

import numpy as np
import pytest

import pestle as ti
from language import run

TYPES = [(ti.f32, np.float32, 2e-6), (ti.f64, np.float64, 1e-14)]


def arrays(n, m, dt):
    return ti.types.ndarray(ti.types.matrix(n, m, dt), 1)


def hostile(n, dtype, symmetric=False):
    """Zeros, ranks of 1, equal values, extreme scales; then whatever comes."""
    a = np.random.default_rng(n).standard_normal((60, n, n))
    a[0], a[1], a[2], a[3] = 0, np.eye(n), 1, -np.eye(n)
    a[4] = np.outer(a[4, 0], a[4, 1])
    a[5, 0] = 0
    a[6, :, 1] = a[6, :, 0] * (1 + 1e-4)
    a[7], a[8] = a[7] * 1e30, a[8] * 1e-30
    a[9] = np.diag(np.arange(n))
    return (a + a.transpose(0, 2, 1) if symmetric else a).astype(dtype)


def scales(a):
    most = np.abs(a).max((1, 2), keepdims=True)
    return np.where(most > 0, most, 1)


def t(a):
    return a.transpose(0, 2, 1)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("dt, dtype, tol", TYPES)
def test_svd_and_polar(n, dt, dtype, tol):
    A = arrays(n, n, dt)

    @ti.kernel
    def f(a: A, u: A, s: A, v: A, r: A, p: A):
        for i in a:
            u[i], s[i], v[i] = ti.svd(a[i])
            r[i], p[i] = ti.polar_decompose(a[i], dt)

    a = hostile(n, dtype)
    u, s, v, r, p = (np.zeros_like(a) for _ in range(5))
    run(f, a, u, s, v, r, p)
    values = np.diagonal(s, axis1=1, axis2=2)
    for rotation in (u, v, r):
        assert np.abs(rotation @ t(rotation) - np.eye(n)).max() < tol
        determinants = np.linalg.det(rotation.astype(np.float64))
        assert np.abs((np.abs(determinants) if rotation is r and n == 2 else determinants) - 1).max() < tol
    if n == 2:  # as scipy.linalg.polar; of 3 by 3 matrices R is a rotation, as in Taichi
        assert (np.linalg.eigvalsh((p / scales(a)).astype(np.float64)) > -10 * tol).all()
        assert (np.linalg.det(r.astype(np.float64)) < 0).any() and (np.linalg.det(r.astype(np.float64)) > 0).any()
    assert np.abs((u @ s @ t(v) - a) / scales(a)).max() < tol
    assert np.abs((r @ p - a) / scales(a)).max() < tol and np.abs((p - t(p)) / scales(a)).max() < tol
    want = np.linalg.svd(a.astype(np.float64), compute_uv=False)
    assert np.abs((np.abs(values) - want) / scales(a)[:, 0]).max() < tol
    assert (np.diff(values, axis=1) <= tol * scales(a)[:, 0]).all() and (values[:, :-1] >= 0).all()
    assert all(np.count_nonzero(m - np.diag(np.diag(m))) == 0 for m in s)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("dt, dtype, tol", TYPES)
def test_symmetric(n, dt, dtype, tol):
    A, V = arrays(n, n, dt), ti.types.ndarray(ti.types.vector(n, dt), 1)

    @ti.kernel
    def f(a: A, w: V, v: A, spd: A):
        for i in a:
            w[i], v[i] = ti.sym_eig(a[i], dt)
            spd[i] = ti.make_spd(a[i])

    a = hostile(n, dtype, symmetric=True)
    w, v, spd = np.zeros(a.shape[:2], dtype), np.zeros_like(a), np.zeros_like(a)
    run(f, a, w, v, spd)
    values, vectors = np.linalg.eigh(a.astype(np.float64))
    positive = vectors @ (np.maximum(values, 0)[:, :, None] * t(vectors))
    assert np.abs((w - values) / scales(a)[:, 0]).max() < tol and (np.diff(w, axis=1) >= 0).all()
    assert np.abs((a @ v - v * w[:, None, :]) / scales(a)).max() < tol and np.abs(v @ t(v) - np.eye(n)).max() < tol
    assert np.abs((spd - positive) / scales(a)).max() < tol


@pytest.mark.parametrize("dt, dtype, tol", TYPES)
def test_eig(dt, dtype, tol):
    @ti.kernel
    def f(a: arrays(2, 2, dt), w: arrays(2, 2, dt), v: arrays(4, 2, dt)):
        for i in a:
            w[i], v[i] = ti.eig(a[i])

    a = hostile(2, dtype)
    a[10], a[11], a[12] = [[0, -1], [1, 0]], [[1, 1], [0, 1]], [[1, 0], [1, 1]]
    w, v = np.zeros_like(a), np.zeros((len(a), 4, 2), dtype)
    run(f, a, w, v)
    values, vectors = w[:, :, 0] + 1j * w[:, :, 1], v[:, ::2] + 1j * v[:, 1::2]
    assert np.abs((a @ vectors - vectors * values[:, None, :]) / scales(a)).max() < tol
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < tol


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("dt, dtype, tol", TYPES)
def test_solve(n, dt, dtype, tol):
    V = ti.types.ndarray(ti.types.vector(n, dt), 1)

    @ti.kernel
    def f(a: arrays(n, n, dt), b: V, x: V):
        for i in a:
            x[i] = ti.solve(a[i], b[i])

    rng = np.random.default_rng(n)
    a = (rng.standard_normal((50, n, n)) + n * np.eye(n)[::-1]).astype(dtype)
    b, x = rng.standard_normal((50, n)).astype(dtype), np.zeros((50, n), dtype)
    run(f, a, b, x)
    size = scales(a)[:, 0] * np.abs(x).max(1, keepdims=True)
    assert np.abs(((a @ x[:, :, None])[:, :, 0] - b) / size).max() < 10 * tol


def test_integers_and_types():
    @ti.kernel
    def f() -> tuple[ti.types.vector(2, ti.f64), ti.types.vector(2, ti.f32)]:
        w, v = ti.sym_eig(ti.Matrix([[2, 1], [1, 2]]), ti.f64)
        return w, ti.solve(ti.Matrix([[2, 0], [0, 4]]), ti.Vector([2, 2]))

    w, x = f()
    assert np.allclose(w, [1, 3], rtol=0, atol=1e-15) and x.to_list() == [1, 0.5]


@pytest.mark.parametrize("call", ["svd(m)", "polar_decompose(m)", "eig(m)", "solve(m, ti.Vector([1, 2]))"])
def test_sizes(call, tmp_path):
    source = tmp_path / "wrong.py"
    source.write_text(f"import pestle as ti\n@ti.kernel\ndef f():\n    m = ti.Matrix.identity(ti.f32, 4)\n    x = ti.{call}\n")
    scope = {"__name__": "wrong"}
    exec(compile(source.read_text(), str(source), "exec"), scope)
    with pytest.raises(ti.StaticAssertionError, match="works on|supports"):
        scope["f"]()
