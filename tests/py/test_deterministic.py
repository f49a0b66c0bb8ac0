"""init(deterministic=True): sums of floats at places that the data choose have the same bits always, those of the evaluator."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import pestle as ti

N = 60_000


@ti.func
def add(grid: ti.types.ndarray(ti.f32, 1), at: ti.i32, w: ti.f32) -> ti.i32:
    if w < 0.0:
        return 0
    ti.atomic_add(grid[at], w * 0.5)
    return 1


@ti.kernel
def scatter(at: ti.types.ndarray(ti.i32, 1), w: ti.types.ndarray(ti.f32, 1), grid: ti.types.ndarray(ti.f32, 1),
            pairs: ti.types.ndarray(ti.math.vec2, 1), tickets: ti.types.ndarray(ti.i32, 1)) -> ti.i32:  # fmt: skip
    for i in at:
        grid[at[i]] += w[i] * 0.1
        pairs[at[i]] += ti.Vector([ti.sin(w[i]), ti.exp(w[i])])
        grid[(at[i] * 7) % 50] -= w[i]
    for i in at:
        tickets[i] = ti.atomic_add(tickets[N], 1)
    for i in at:
        ti.atomic_max(grid[at[i] + 50], w[i])
        ti.atomic_mul(grid[at[i] + 100], 1.0 + w[i] * 1e-3)
    added = 0
    for i in at:
        added += add(grid, at[i], w[i])
    return added


def results(call):
    rng = np.random.default_rng(5)
    at, w = rng.integers(0, 50, N).astype(np.int32), rng.standard_normal(N).astype(np.float32)
    grid, pairs, tickets = np.ones(150, np.float32), np.zeros((50, 2), np.float32), np.zeros(N + 1, np.int32)
    added = call(at, w, grid, pairs, tickets)
    return added, grid.tobytes(), pairs.tobytes(), tickets.tobytes()


@pytest.fixture(scope="module")
def wanted():
    ti.reset()
    return results(scatter._evaluate)


@pytest.mark.parametrize("options", [{}, {"threads": 1}, {"threads": 2}, {"threads": 5}, {"threads": 3, "checked": True}], ids=str)
def test_order_of_iterations(wanted, options):
    ti.init(deterministic=True, **options)
    try:
        for _ in range(2):
            assert results(scatter) == wanted
    finally:
        ti.reset()
    assert np.frombuffer(wanted[3], np.int32)[:N].tolist() == list(range(N))


@pytest.mark.parametrize("setting", ["PESTLE_VECTOR_BITS=128", "PESTLE_VECTOR_BITS=256", "PESTLE_CPU=scalar", "PESTLE_NUM_THREADS=4"])
def test_elsewhere(wanted, setting, tmp_path):
    """In another process, with a cache that is cold, then warm."""
    name, value = setting.split("=")
    here = pathlib.Path(__file__)
    program = "import test_deterministic as t, hashlib, pestle\npestle.init(deterministic=True)\nprint(hashlib.sha256(repr(t.results(t.scatter)).encode()).hexdigest())"
    env = dict(os.environ, PESTLE_CACHE_DIR=str(tmp_path), PYTHONPATH=f"{here.parent}:{here.parent.parent}", **{name: value})
    import hashlib

    want = hashlib.sha256(repr(wanted).encode()).hexdigest()
    for _ in range(2):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], env=env, capture_output=True, text=True, timeout=120)
        assert done.stdout.strip() == want, done.stderr


def test_explained():
    ti.init(deterministic=True)
    try:
        text = str(scatter.explain(np.zeros(3, np.int32), np.zeros(3, np.float32), np.zeros(150, np.float32),
                                   np.zeros((50, 2), np.float32), np.zeros(N + 1, np.int32)))  # fmt: skip
    finally:
        ti.reset()
    assert text.count("on one thread: deterministic additions") == 4


def test_what_needs_no_order_keeps_its_threads():
    @ti.kernel
    def counts(at: ti.types.ndarray(ti.i32, 1), bins: ti.types.ndarray(ti.i32, 1), w: ti.types.ndarray(ti.f32, 1)) -> ti.f32:
        total = 0.0
        for i in at:
            bins[at[i]] += 1
            total += w[i]
        return total

    args = np.zeros(9, np.int32), np.zeros(9, np.int32), np.zeros(9, np.float32)
    ti.init(deterministic=True)
    try:
        assert "deterministic additions" not in str(counts.explain(*args))
    finally:
        ti.reset()
