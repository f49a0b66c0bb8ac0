"""Math functions: their errors, what is special, and the same bits however they are run.

The errors of all f32 values, and of many f64 ones against mpmath, are found by tools/check_math.py (docs/math.md); here
are samples. References in f64 are numpy's, whose own error does not show in f32.
"""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import pestle as ti

UNARY = "exp exp2 log log2 log10 expm1 log1p sin cos tan asin acos atan sinh cosh tanh cbrt erf".split()
BINARY = "atan2 pow hypot".split()
NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}


def reference(name):
    if name == "erf":
        import math

        return np.vectorize(math.erf, otypes=[np.float64])
    return getattr(np, NUMPY.get(name, name))


def samples(dtype, count=20000, seed=1):
    """Special values, moderate ones, and all kinds of bits."""
    rng = np.random.default_rng(seed)
    special = [0.0, -0.0, 1, -1, 0.5, 2, -3, np.inf, -np.inf, np.nan, 88.8, -104.5, 710, -746, 131072.0, 1e22, 1e-40, 1e-45]
    moderate = rng.standard_normal(count) * 10.0 ** rng.integers(-6, 4, count)
    word = np.uint32 if dtype == np.float32 else np.uint64
    bits = rng.integers(0, np.iinfo(word).max, count, dtype=word).view(dtype)
    with np.errstate(over="ignore"):
        return np.concatenate([np.array(special).astype(dtype), moderate.astype(dtype), bits])


def ulps(found, exact):
    """Distances of f32 results from f64 ones, in units of the last place of an f32 there."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        unit = np.spacing(np.abs(rounded)).astype(np.float64)
        error = np.abs(found.astype(np.float64) - exact) / unit
    same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
    return np.where(same & ~np.isfinite(error), 0, np.where(np.isfinite(error), error, np.inf))


def apply(name, x, y=None):
    """The function over arrays, by a kernel whose loop runs in vectors."""
    function = getattr(ti, name)
    dtype = ti.f32 if x.dtype == np.float32 else ti.f64
    out = np.empty_like(x)
    if y is None:

        @ti.kernel
        def run(x: ti.types.ndarray(dtype, 1), out: ti.types.ndarray(dtype, 1)):
            for i in x:
                out[i] = function(x[i])

        run(x, out)
    else:

        @ti.kernel
        def run2(x: ti.types.ndarray(dtype, 1), y: ti.types.ndarray(dtype, 1), out: ti.types.ndarray(dtype, 1)):
            for i in x:
                out[i] = function(x[i], y[i])

        run2(x, y, out)
    return out


def same_bits(a, b):
    word = np.uint32 if a.dtype == np.float32 else np.uint64
    return ((a.view(word) == b.view(word)) | (np.isnan(a) & np.isnan(b))).all()


@pytest.mark.parametrize("name", UNARY)
def test_f32_within_two_ulp(name):
    x = samples(np.float32)
    with np.errstate(all="ignore"):
        exact = reference(name)(x.astype(np.float64))
    assert ulps(apply(name, x), exact).max() <= 2


@pytest.mark.parametrize("name", BINARY)
def test_f32_of_two_within_two_ulp(name):
    x, y = samples(np.float32), samples(np.float32, seed=2)
    y[:18] = y[:18][::-1]
    with np.errstate(all="ignore"):
        exact = reference(name)(x.astype(np.float64), y.astype(np.float64))
    assert ulps(apply(name, x, y), exact).max() <= 2


@pytest.mark.parametrize("name", UNARY)
def test_f64_near_another_library(name):
    """numpy's are within an ulp or two themselves; sin and its like of large arguments, too."""
    x = samples(np.float64)
    with np.errstate(all="ignore"):
        theirs = reference(name)(x)
        ours = apply(name, x)
        away = np.abs(ours - theirs) / np.spacing(np.abs(theirs))
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    assert np.where(same, 0, away).max() <= 4


@pytest.mark.parametrize("name", UNARY + BINARY)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vectors_and_calls_give_the_same_bits(name, dtype):
    """A loop in vectors, a loop that has none (calls), and python mode (the evaluator's own)."""
    function, type_ = getattr(ti, name), ti.f32 if dtype == np.float32 else ti.f64
    x = samples(dtype, 1000)
    y = np.roll(x, 7)
    two = name in BINARY
    vectors = apply(name, x, y) if two else apply(name, x)
    calls = np.empty_like(x)

    @ti.kernel
    def run(x: ti.types.ndarray(type_, 1), y: ti.types.ndarray(type_, 1), out: ti.types.ndarray(type_, 1)):
        for i in x:
            turns = 0
            while turns < 1:
                if ti.static(two):
                    out[i] = function(x[i], y[i])
                else:
                    out[i] = function(x[i])
                turns += 1

    run(x, y, calls)
    assert same_bits(vectors, calls)
    if dtype == np.float64:
        mode = np.array([function(float(a), float(b)) if two else function(float(a)) for a, b in zip(x[:400], y[:400])])
        assert same_bits(mode, vectors[:400])


PROGRAM = """
import hashlib, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from test_math import BINARY, UNARY, apply, samples
digest = hashlib.sha256()
for dtype in np.float32, np.float64:
    x = samples(dtype, 1500)
    for name in UNARY + BINARY:
        out = apply(name, x, np.roll(x, 7)) if name in BINARY else apply(name, x)
        digest.update(np.where(np.isnan(out), 0, out).tobytes())
print(digest.hexdigest())
"""


def test_any_machine_gives_the_same_bits(tmp_path):
    """Vectors of 16, 8 and 4, and none, with and without fma, the library's optimisation off."""
    digests = {}
    for cpu in "", "avx2", "scalar":
        env = dict(os.environ, PESTLE_CACHE_DIR=str(tmp_path), PESTLE_CPU=cpu)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, os.path.dirname(__file__)], env=env, capture_output=True, text=True, check=True
        )
        digests[cpu] = done.stdout.strip()
    assert len(set(digests.values())) == 1, digests


def test_what_is_exact_comes_out_exact():
    powers = np.arange(23, dtype=np.float64)
    assert np.array_equal(apply("log10", 10.0**powers), powers)
    assert np.array_equal(apply("log2", 2.0**powers), powers)
    assert np.array_equal(apply("exp2", powers), 2.0**powers)
    assert np.array_equal(apply("cbrt", powers**3), powers)
    assert np.array_equal(apply("pow", powers, np.full(23, 3.0)), powers**3)
    zeros = np.array([0.0, -0.0], np.float32)
    for name in "exp exp2 cos cosh".split():
        assert (apply(name, zeros) == 1).all()
    for name in "sin tan asin atan sinh tanh expm1 log1p cbrt erf".split():
        assert np.array_equal(np.signbit(apply(name, zeros)), [False, True])


def test_halves_are_rounded_once_from_f32():
    x = np.linspace(-4, 4, 1000).astype(np.float16)
    out = np.empty_like(x)

    @ti.kernel
    def run(x: ti.types.ndarray(ti.f16, 1), out: ti.types.ndarray(ti.f16, 1)):
        for i in x:
            out[i] = ti.exp(x[i]) + ti.f16(0)

    run(x, out)
    assert np.array_equal(out, apply("exp", x.astype(np.float32)).astype(np.float16))


def test_functions_called_in_a_loop():
    """Written out in functions too, however often they are called."""

    @ti.func
    def wave(a: ti.f32, k: ti.i32) -> ti.f32:
        return ti.sin(a) * ti.exp(-a * a) + ti.tanh(a + k)

    @ti.kernel
    def run(x: ti.types.ndarray(ti.f32, 1), out: ti.types.ndarray(ti.f32, 1)):
        for i in x:
            a = x[i]
            out[i] = wave(a, 1) + wave(a * 0.5, 2) * wave(a, 0)

    x = np.linspace(-3, 3, 777).astype(np.float32)
    out = np.empty_like(x)
    run(x, out)

    def there(a, k):
        return np.sin(a) * np.exp(-a * a) + np.tanh(a + k)

    wide = x.astype(np.float64)
    assert np.allclose(out, there(wide, 1) + there(wide * 0.5, 2) * there(wide, 0), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("wide", [ti.f64, ti.f32])
@pytest.mark.parametrize("small", [ti.f16, ti.bf16])
def test_signs_through_conversions(wide, small):
    """LLVM may move roundings past a function that only passes a sign on, and then asks for conversions of its own."""

    @ti.kernel
    def run(sign: wide, size: ti.f32, out: ti.types.ndarray(ti.f32, 1)):
        for i in range(out.shape[0]):
            out[i] = ti.f32(small(ti.copysign(size, ti.f32(sign))))
        out[0] = ti.f32(small(ti.atan(ti.f32(sign))))

    out = np.zeros(19, np.float32)
    for sign in (-1e300, -0.0, 0.0, 2.5):
        sign = sign if wide is ti.f64 else float(np.float32(max(sign, -1e30)))
        run(sign, 1.5, out)
        assert (out[1:] == np.copysign(1.5, sign)).all()
        assert abs(out[0] - math.atan(sign)) < 0.01 and np.signbit(out[0]) == np.signbit(sign)
