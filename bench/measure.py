"""One measurement of one system, in a process of its own; run.py starts these and puts the figures together.

    python measure.py SYSTEM first|launch|speed|hard [LOOP ...]        SYSTEM: pestle, quadrants, taichi, gstaichi, numba

Prints one JSON object. `first`: milliseconds to import the system, and of its first launch (saxpy). `launch`: nanoseconds
a call, the Python loop around it subtracted. `speed`: per loop, time over that of hand-written C (native.c), turn and
turn about in this process, the median of the pairs; and both best times in ms. `hard`: the same for hard.py and hard.c.
"""

import ctypes
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # C's threads must not spin while the other system runs

import numpy as np  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
N, SIDE, BODIES = 1 << 24, 2048, 4096


def kernels(system, loops="loops"):
    """The system's kernels, and how long importing and initialising it took (ms)."""
    loops = importlib.import_module(loops)
    start = time.perf_counter()
    if system == "numba":
        found = loops.numba()
        return found, 1e3 * (time.perf_counter() - start)
    ti = importlib.import_module(system)
    if system != "pestle":
        cache = os.environ.get("BENCH_CACHE")
        ti.init(arch=ti.cpu, **({"offline_cache": True, "offline_cache_file_path": cache} if cache else {}))
    elapsed = 1e3 * (time.perf_counter() - start)
    return loops.family(ti), elapsed


def first(system):
    k, elapsed = kernels(system)
    x = np.ones(1000, np.float32)
    y = x.copy()
    start = time.perf_counter()
    k["saxpy"](x, y, 2.0)
    launch = 1e3 * (time.perf_counter() - start)
    assert y[5] == 3.0
    return {"import": elapsed, "first launch": launch}


def per_call(code, names, calls):
    """Nanoseconds a call of `code` costs, less what the loop around it costs; the best of nine."""

    def best(body):
        scope = dict(names)
        exec(f"def run(n):\n    for _ in range(n):\n        {body}\n", scope)
        times = []
        for _ in range(9):
            start = time.perf_counter()
            scope["run"](calls)
            times.append((time.perf_counter() - start) / calls)
        return min(times)

    return 1e9 * (best(code) - best("pass"))


def launch(system):
    k, _ = kernels(system)
    x = np.ones(8, np.float32)
    y, z = x.copy(), x.copy()
    calls = {
        "no arguments": "empty()",
        "3 arrays + int + float": "empty5(x, y, z, 1, 2.0)",
        "10 scalars": "scalars10(1, 2, 3, 4, 5, 1.0, 2.0, 3.0, 4.0, 5.0)",
        "saxpy of 8": "saxpy(x, y, 0.0)",
    }
    names = {**k, "x": x, "y": y, "z": z}
    if system == "pestle" and importlib.util.find_spec("torch"):
        import torch

        names.update(tx=torch.ones(8), ty=torch.ones(8), tz=torch.ones(8))
        calls["3 torch tensors + int + float"] = "empty5(tx, ty, tz, 1, 2.0)"
        calls["saxpy of 8, torch"] = "saxpy(tx, ty, 0.0)"
    found = {}
    for name, code in calls.items():
        exec(code, dict(names))
        start = time.perf_counter()
        exec(code, dict(names))
        found[name] = per_call(code, names, 200_000 if time.perf_counter() - start < 5e-6 else 3000)
    return found


def native(source="native.c"):
    library = os.path.join(tempfile.mkdtemp(), "native.so")
    flags = ["-O3", "-march=native", "-ffast-math", "-fopenmp", "-mprefer-vector-width=512", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, os.path.join(HERE, source), "-o", library, "-lm"], check=True)
    lib = ctypes.CDLL(library)
    return lib


def address(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def compare(pairs):
    """By name: (the system's loop, C's)."""

    def once(call):
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    found = {}
    for name, (theirs, c) in pairs.items():
        if sys.argv[3:] and name not in sys.argv[3:]:
            continue
        theirs(), c(), theirs(), c()
        times = [(once(theirs), once(c)) for _ in range(15)]
        found[name] = {
            "ratio": statistics.median(t / base for t, base in times),
            "ms": 1e3 * min(t for t, _ in times),
            "c_ms": 1e3 * min(base for _, base in times),
        }
    return found


def speed(system):
    k, lib = kernels(system)[0], native()
    lib.total.restype = ctypes.c_float
    rng = np.random.default_rng(0)
    x = rng.random(N, dtype=np.float32)
    y, z = x.copy(), x.copy()
    u = rng.random((SIDE, SIDE), dtype=np.float32)
    v = u.copy()
    p = rng.random((BODIES, 3), dtype=np.float32)
    a = p.copy()
    X, Y, Z, U, V, P, A = map(address, (x, y, z, u, v, p, a))
    f, n, side = ctypes.c_float, ctypes.c_long(N), ctypes.c_long(SIDE)
    pairs = {
        "saxpy": (lambda: k["saxpy"](x, y, 0.0), lambda: lib.saxpy(X, Y, f(0), n)),
        "triad": (lambda: k["triad"](x, y, z, 2.0), lambda: lib.triad(X, Y, Z, f(2), n)),
        "total": (lambda: k["total"](x), lambda: lib.total(X, n)),
        "expmap": (lambda: k["expmap"](x, y), lambda: lib.expmap(X, Y, n)),
        "jacobi": (lambda: k["jacobi"](u, v), lambda: lib.jacobi(U, V, side, side)),
        "stencil": (lambda: k["stencil"](u, v, 0.1), lambda: lib.stencil(U, V, f(0.1), side, side)),
        "mandel": (lambda: k["mandel"](v, 200), lambda: lib.mandel(V, 200, side, side)),
        "nbody": (lambda: k["nbody"](p, a), lambda: lib.nbody(P, A, ctypes.c_long(BODIES))),
    }
    return compare(pairs)


def hard(system):
    k, lib = kernels(system, "hard")[0], native("hard.c")
    rng = np.random.default_rng(0)
    table = np.sort(rng.random(1 << 20, dtype=np.float32))
    queries = rng.random(1 << 21, dtype=np.float32)
    found = np.empty(queries.size, np.int32)
    values = rng.integers(0, 256, N, dtype=np.int32)
    bins = np.zeros(256, np.int32)
    start = np.concatenate([[0], np.cumsum(rng.integers(0, 33, 1 << 18))]).astype(np.int32)
    column = rng.integers(0, start.size - 1, start[-1], dtype=np.int32)
    value = rng.random(start[-1], dtype=np.float32)
    x = rng.random(start.size - 1, dtype=np.float32)
    y = np.empty_like(x)
    u = rng.random((192, 192, 192))
    v = u.copy()
    a = rng.random((1 << 16, 3, 3), dtype=np.float32)
    left, right, s = a.copy(), a.copy(), np.empty(a.shape[:2], np.float32)
    n = lambda array: ctypes.c_long(len(array))  # noqa: E731
    T, Q, F, H, B, S, C, W, X, Y, U, V, A, L, D, R = map(
        address, (table, queries, found, values, bins, start, column, value, x, y, u, v, a, left, s, right)
    )
    return compare(
        {
            "search": (lambda: k["search"](table, queries, found), lambda: lib.search(T, Q, F, n(table), n(queries))),
            "histogram": (lambda: k["histogram"](values, bins), lambda: lib.histogram(H, B, n(values))),
            "rows": (lambda: k["rows"](start, column, value, x, y), lambda: lib.rows(S, C, W, X, Y, n(y))),
            "heat": (lambda: k["heat"](u, v, 0.1), lambda: lib.heat(U, V, ctypes.c_double(0.1), n(u))),
            "svd": (lambda: k["svd"](a, left, s, right), lambda: lib.svd(A, L, D, R, n(a))),
        }
    )


if __name__ == "__main__":
    print("RESULT " + json.dumps({"first": first, "launch": launch, "speed": speed, "hard": hard}[sys.argv[2]](sys.argv[1])))
