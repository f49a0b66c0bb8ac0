"""What the programs of victims.py are called with, and what must come out."""

import contextlib

import numpy as np


def collatz_steps(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


STEPS = np.array([collatz_steps(i + 1) for i in range(300)], np.int32)
GRID = np.arange(40 * 70, dtype=np.float32).reshape(40, 70) % 5
MAT = np.arange(9, dtype=np.float32).reshape(3, 3)

# Each takes the kernels and their number, and gives the arguments and a test of the result. All numbers are exact.


def total(scope, number):
    x, want = GRID.copy(), GRID * 2 + 1
    return (x, 2.0), lambda result: result == want.sum() and np.array_equal(x, want)


def collatz(scope, number):
    x = np.zeros(300, np.int32)
    return (x,), lambda result: np.array_equal(x, STEPS)


def told(scope, number):
    return (9,), lambda result: result == 34 * number


def turned(scope, number):
    x, v = np.zeros((50, 3), np.float32), np.array([1, 2, 3], np.float32)
    w = MAT @ MAT.T @ v + np.arange(50, dtype=np.float32)[:, None]
    want = np.maximum(w, 2 * v).sum(0) + [number, 0, 0]
    return (MAT, v, x), lambda result: result.to_list() == want.tolist() and np.array_equal(x, w[:, [0, 2, 1]])


def spread(scope, number):
    scope["heat"].from_numpy(GRID)
    want = GRID / 2 + np.roll(GRID, -3, 1)

    def right(result):
        return result == 110 and scope["least"][None] == want.min() + number and np.array_equal(scope["cooler"].to_numpy(), want)

    return (3,), right


def rolled(scope, number):
    ball = scope["Ball"](pos=[0, 1, 2], turn=MAT + 1, weight=3, tag=0)
    pos = np.stack([np.arange(40) + 2, np.full(40, 5), np.full(40, 8)], 1)
    far = (pos * pos).sum(1) > 100

    def right(result):
        heavy, made = result
        same = np.array_equal(made["pos"], pos) and np.array_equal(made["tag"], far) and (made["turn"] == MAT + 1).all()
        return same and heavy == scope["Ball"](pos=[0, 1, 2], turn=MAT + 1, weight=3 + 3 * far.sum(), tag=number % 100)

    return (40, ball), right


PROGRAMS = {program.__name__: program for program in (total, collatz, told, turned, spread, rolled)}
NAMES = tuple(PROGRAMS)


def call(scope, name, number, around=contextlib.nullcontext()):
    """Whether the program gave what it must. `around`: a context manager around the launch alone."""
    arguments, right = PROGRAMS[name](scope, number)
    with around:
        result = scope[name](*arguments)
    return right(result)
