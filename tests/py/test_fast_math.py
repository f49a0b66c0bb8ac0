"""init(fast_math=True): what it may change, by how much, and that it changes nothing by itself."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

import pestle as ti
import pestle.compat

TYPES = {ti.f32: np.float32, ti.f64: np.float64}


@pytest.fixture(autouse=True)
def defaults():
    yield
    ti.reset()


def ulps(found, exact):
    """Errors in ulp of the exact values, which are wider than what was found."""
    return np.abs((found.astype(exact.dtype) - exact) / np.spacing(np.abs(exact).astype(found.dtype)).astype(exact.dtype))


def kernels(T):
    array = ti.types.ndarray(T, 1)

    @ti.kernel
    def constants(x: array, y: array):
        for i in x:
            y[i] = x[i] / 3.0

    @ti.kernel
    def same(x: array, y: array, d: T):
        for i in x:
            y[i] = x[i] / (d * 2)

    @ti.kernel
    def vectors(x: array, y: array):
        for i in x:
            v = ti.Vector([x[i], 2.0, 3.0]) / (x[i] + 1)
            y[i] = v[0]

    return constants, same, vectors


@pytest.mark.parametrize("T", TYPES, ids=str)
def test_divisions(T):
    wide = np.longdouble
    x = (np.random.default_rng(1).random(5000) * 100 + 0.01).astype(TYPES[T])
    constants, same, vectors = kernels(T)
    exact = x.astype(wide) / 3, x.astype(wide) / (wide(TYPES[T](0.7)) * 2), x.astype(wide) / (x + TYPES[T](1)).astype(wide)
    strict = [np.empty_like(x) for _ in range(3)]
    fast = [np.empty_like(x) for _ in range(3)]
    for on, out in ((False, strict), (True, fast)):
        ti.init(fast_math=on)
        constants(x, out[0])
        same(x, out[1], 0.7)
        vectors(x, out[2])
    for want, a, b in zip(exact, strict, fast):
        assert ulps(a, want).max() <= 0.5
        assert 0.5 < ulps(b, want).max() <= 1.5


def powers(T):
    array = ti.types.ndarray(T, 2)

    @ti.kernel
    def f(x: ti.types.ndarray(T, 1), y: array):
        for i in x:
            for k in ti.static(range(-16, 17)):
                y[k + 16, i] = x[i] ** (k / 2)

    return f


@pytest.mark.parametrize("T", TYPES, ids=str)
def test_powers(T):
    x = np.linspace(0.3, 3, 999, dtype=TYPES[T])
    y = np.empty((33, 999), TYPES[T])
    ti.init(fast_math=True)
    powers(T)(x, y)
    for k in range(-16, 17):
        want = x.astype(np.longdouble) ** (np.longdouble(k) / 2)
        assert ulps(y[k + 16], want).max() <= abs(k / 2) + 1.5, k / 2


def test_where_it_differs_from_the_strict_result():
    @ti.kernel
    def f(x: ti.f32) -> ti.types.vector(3, ti.f32):
        return ti.Vector([x**0.5, x ** (-8.0), x / 2.0**-130])

    given = [0.0, -0.0, -np.inf, 2.0**-17, 2.0**17, 2.0**-20]
    strict = [list(f(x)) for x in given]
    ti.init(fast_math=True)
    fast = [list(f(x)) for x in given]
    assert np.signbit(fast[1][0]) and not np.signbit(strict[1][0])
    assert np.isnan(fast[2][0]) and strict[2][0] == np.inf
    assert fast[4][1] == 0 and strict[4][1] == 2.0**-136
    assert [a[2] for a in fast] == [a[2] for a in strict]  # 1 / 2**-130 is no normal number: the division stays


def test_the_same_bits_on_threads_widths_and_checked(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import hashlib, sys
import numpy as np
import pestle as ti
A = ti.types.ndarray(ti.f32, 1)
@ti.kernel
def f(x: A, y: A, d: ti.f32) -> ti.f32:
    s = 0.0
    for i in x:
        r = ti.sqrt(x[i] + 1)
        a, b = x[i] / r, d / r
        y[i] = a / 7 + b / d + x[i] ** 2.5
        s += y[i] / d
    return s
ti.init(fast_math=True, threads=int(sys.argv[1]), debug=sys.argv[2] == "checked")
x = np.random.default_rng(3).random(100000, np.float32)
y = np.empty_like(x)
s = f(x, y, 0.3)
print(s, hashlib.sha256(y).hexdigest())
""")
    told = set()
    for threads in "1", "2":
        for mode in "plain", "checked":
            for bits in "128", "256", "512":
                env = dict(os.environ, PESTLE_VECTOR_BITS=bits, PESTLE_CACHE_DIR=str(tmp_path / "cache"))
                done = subprocess.run([sys.executable, program, threads, mode], env=env, capture_output=True, text=True, check=True)
                told.add(done.stdout)
    assert len(told) == 1, told


@pytest.fixture
def aliased():
    if "quadrants" in sys.modules:
        pytest.skip("the real package has been imported")
    pestle.compat.install("quadrants")
    yield importlib.import_module("quadrants")
    pestle.compat.uninstall("quadrants")


def test_under_an_alias_only_where_it_is_asked_for(aliased):
    peer = aliased
    x = np.linspace(1, 2, 1000, dtype=np.float32)
    y, z = np.empty_like(x), np.empty_like(x)
    constants = kernels(ti.f32)[0]
    peer.init()
    assert peer.cfg.fast_math is True  # as the peer's says
    constants(x, y)
    assert np.array_equal(y, x / np.float32(3))
    peer.init(fast_math=True)
    constants(x, z)
    assert not np.array_equal(z, y)
    peer.reset()
    constants(x, z)
    assert np.array_equal(z, y)
