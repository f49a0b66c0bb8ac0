"""What a launch costs, in nanoseconds, beside the budget of docs/launch.md:  python bench/launch.py [ROUNDS]

The Python loop around each call is subtracted. Rounds of all cases take turns, and the best of each counts: other
programs can only make a round slower. Exits with 1 when a budget is passed.
"""

import dataclasses
import sys
import time

import numpy as np

import pestle as ti

CALLS = 20000
f32, i32 = ti.f32, ti.i32
A1 = ti.types.ndarray(dtype=f32, ndim=1)
A2 = ti.types.ndarray(dtype=f32, ndim=2)
FACTOR = 2.0


@ti.kernel
def empty():
    pass


@ti.kernel
def arrays(x: A1, y: A1, z: A1, i: i32, f: f32):
    pass


@ti.kernel
def planes(x: A2, y: A2, z: A2, i: i32, f: f32):
    pass


@ti.kernel
def scalars(a: i32, b: i32, c: i32, d: i32, e: i32, f: f32, g: f32, h: f32, i: f32, j: f32):
    pass


@ti.kernel
def result(a: f32) -> f32:
    return a * FACTOR


@ti.kernel
def saxpy(x: A1, y: A1, a: f32):
    for i in x:
        y[i] = a * x[i] + y[i]


@dataclasses.dataclass
class Three:
    x: A1
    y: A1
    z: A1


@ti.kernel
def members(p: Three):
    p.x[0] = p.y[0] + p.z[0]


FIELDS = [ti.field(f32, 8) for _ in range(3)]
first, second, third = FIELDS


@ti.kernel
def fields(i: i32, f: f32):
    first[0] = second[0]
    third[0] = f


@ti.kernel
def arguments(x: ti.template(), y: ti.template(), z: ti.template(), i: i32, f: f32):
    x[0] = y[0]
    z[0] = f


@ti.kernel
def elements(x: A1, y: A1, z: A1, i: i32, f: f32):
    x[0] = y[0]
    z[0] = f


@ti.kernel
def count(n: i32) -> i32:
    s = 0
    for _ in range(1):
        for j in range(n):
            s += j
    return s


def python_function():
    pass


def timer(code, names):
    scope = dict(names)
    exec(f"def run(n):\n    for _ in range(n):\n        {code}\n", scope)
    run = scope["run"]

    def once():
        start = time.perf_counter()
        run(CALLS)
        return 1e9 * (time.perf_counter() - start) / CALLS

    return once


def main(rounds):
    x, y, z = (np.ones(8, np.float32) for _ in range(3))
    p, q, r = (np.ones((4, 6), np.float32)[:, 1:5] for _ in range(3))
    names = {**globals(), **locals(), "own": ti.ndarray(f32, 8), "three": Three(x, y, z)}
    cases = {  # what: code, budget
        "loop": ("pass", None),
        "Python function, no arguments": ("python_function()", None),
        "C function, no arguments": ("ti.sync()", None),
        "no arguments": ("empty()", 40),
        "3 numpy arrays, int, float": ("arrays(x, y, z, 3, 2.5)", 80),
        "3 strided 2-D numpy arrays, int, float": ("planes(p, q, r, 3, 2.5)", None),
        "3 Ndarrays, int, float": ("arrays(own, own, own, 3, 2.5)", None),
        "the same, an element of each used": ("elements(own, own, own, 3, 2.5)", None),
        "3 fields from outside, int, float": ("fields(3, 2.5)", 80),
        "3 fields as template arguments, int, float": ("arguments(first, second, third, 3, 2.5)", None),
        "a dataclass of 3 numpy arrays": ("members(three)", 160),
        "10 scalars": ("scalars(1, 2, 3, 4, 5, 1.0, 2.0, 3.0, 4.0, 5.0)", 120),
        "a float to a float": ("result(1.5)", None),
        "keyword arguments": ("result(a=1.5)", None),
        "saxpy of 8": ("saxpy(x, y, 2.0)", 300),
        "a loop of unknown length (0)": ("count(0)", None),
        "two specialisations in turn": ("arrays(x, y, z, 3, 2.5); arrays(x, y, z, 3, x0)", None),
        "after a change of a global": ("result(1.5); globals().__setitem__('unused', _)", None),
    }
    names["x0"] = np.float64(2.5)
    timers = {what: timer(code, names) for what, (code, _) in cases.items()}
    for once in timers.values():
        once()
    best = {what: min(once() for _ in range(3)) for what, once in timers.items()}
    for _ in range(rounds):
        for what, once in timers.items():
            best[what] = min(best[what], once())
    over = False
    for what, (_, budget) in cases.items():
        cost = best[what] - (best["loop"] if what != "loop" else 0)
        over |= budget is not None and cost > budget
        print(f"{what:42} {cost:8.1f} ns" + (f"   budget {budget}" if budget else ""))
    return over


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 30))
