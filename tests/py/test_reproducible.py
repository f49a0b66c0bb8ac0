"""The benchmark's loops give the same bits on 1 and 2 threads, checked or not, and by the evaluator."""

import os
import sys

import numpy as np
import pytest

import pestle as ti

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "bench"))
import loops  # noqa: E402

N, SIDE, BODIES = 300_000, 400, 300


def arguments(name):
    rng = np.random.default_rng(0)
    x, y, z = (rng.random(N, dtype=np.float32) for _ in range(3))
    u, v = (rng.random((SIDE, SIDE), dtype=np.float32) for _ in range(2))
    p, a = (rng.random((BODIES, 3), dtype=np.float32) for _ in range(2))
    return {
        "saxpy": (x, y, 0.3),
        "triad": (x, y, z, 2.0),
        "total": (x,),
        "expmap": (x, y),
        "jacobi": (u, v),
        "stencil": (u, v, 0.1),
        "mandel": (v, 50),
        "nbody": (p, a),
    }[name]


def run(name, way, checked, threads):
    ti.init(checked=checked, threads=threads)
    kernel, args = loops.family(ti)[name], arguments(name)
    result = way(kernel)(*args)
    return np.float64(result if result is not None else 0).tobytes(), [a.tobytes() for a in args if isinstance(a, np.ndarray)]


@pytest.mark.parametrize("name", ["saxpy", "triad", "total", "expmap", "jacobi", "stencil", "mandel", "nbody"])
def test_same_bits(name):
    one = run(name, lambda k: k, False, 1)
    assert run(name, lambda k: k, False, 2) == one
    assert run(name, lambda k: k, True, 2) == one
    assert run(name, lambda k: k._evaluate, False, 1) == one
