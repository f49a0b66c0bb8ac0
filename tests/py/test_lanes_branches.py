"""Branches whose sides store to the same element, and what is loaded again: as evaluated, in lanes and checked."""

import numpy as np
import pytest

import pestle as ti
from lanes import same

F1 = ti.types.ndarray(dtype=ti.f32, ndim=1)
F2 = ti.types.ndarray(dtype=ti.f32, ndim=2)
I1 = ti.types.ndarray(dtype=ti.i32, ndim=1)
LENGTHS = [1, 7, 8, 9, 33, 100, 257]


def floats(n, seed=1):
    return (np.random.default_rng(seed).standard_normal(n) * 3).astype(np.float32)


@ti.kernel
def two_sides(a: F1, b: F1):
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            b[i] = a[i] * ti.exp(-a[i])
        else:
            b[i] = a[i] / (1.0 + abs(a[i]))


@ti.kernel
def elif_chain(a: F1, b: F1):
    for i in range(a.shape[0] - 1):
        if a[i] > 1.0:
            b[i + 1] = a[i]
        elif a[i] > 0.0:
            b[i + 1] = ti.sin(a[i])
        elif a[i + 1] < -1.0:
            b[i + 1] = 3.0
        else:
            b[i + 1] = -a[i + 1]


@ti.kernel
def two_places(a: F1, b: F1, c: F1):
    for i in range(a.shape[0]):
        if a[i] > 0.0:
            b[i] = a[i]
            c[i] = 1.0
        else:
            b[i] = 2.0
            c[i] = b[i] + a[i]


@ti.kernel
def other_order(a: F1, b: F1, c: F1):
    for i in range(a.shape[0]):
        if a[i] > 0.0:
            b[i] = a[i]
            c[i] = 1.0
        else:
            c[i] = 2.0
            b[i] = 3.0


@ti.kernel
def under_a_mask(a: F1, b: F1):
    for i in range(a.shape[0]):
        if a[i] > -1.0:
            x = a[i] * 2.0
            if x > 0.0:
                b[i] = x
            else:
                b[i] = -x - 1.0


@ti.kernel
def in_a_loop(a: F1, b: F1, n: I1):
    for i in range(a.shape[0]):
        for k in range(n[i]):
            if k % 2 == 0:
                b[i] = a[i] + k
            elif a[i] > 2.0:
                break
            else:
                b[i] = a[i] * k


@ti.kernel
def stored_then_loaded(a: F1, b: F1):
    for i in range(a.shape[0]):
        b[i] = a[i] + 1.0
        a[i] = b[i] * 2.0
        if a[i] > 2.0:
            b[i] += a[i]
        else:
            b[i] = a[i] - b[i]


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("kernel", [two_sides, elif_chain, under_a_mask, stored_then_loaded])
def test_one_array_out(kernel, n):
    same(kernel, floats(n), floats(n, 2))


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("kernel", [two_places, other_order])
def test_two_arrays_out(kernel, n):
    same(kernel, floats(n), floats(n, 2), floats(n, 3))


def test_serial_loop_inside():
    same(in_a_loop, floats(100), floats(100, 2), np.random.default_rng(3).integers(-5, 20, 100).astype(np.int32))


def test_names_of_one_array():
    """A store may change what another name of the same array loads."""

    @ti.kernel
    def f(a: F1, b: F1) -> ti.f32:
        s = a[0]
        b[0] = 5.0
        s += a[0] * 10.0
        k = 0
        while k < 2:
            k += 1
            b[0] += 1.0
            s += a[0] * 100.0
        return s

    x = np.ones(3, np.float32)
    assert f(x, x) == 1 + 50 + 600 + 700
    assert f._evaluate(np.ones(3, np.float32), np.ones(3, np.float32)) == 1 + 10 + 200
    assert f(np.ones(3, np.float32), np.ones(3, np.float32)) == 1 + 10 + 200


def test_other_places_each_side():
    @ti.kernel
    def f(a: F2):
        for i, j in ti.ndrange(a.shape[0], a.shape[1] - 1):
            if (i + j) % 3 == 0:
                a[i, j] = 1.0
            else:
                a[i, j] = 2.0 + i
            x = a[i, j]
            if j > 4:
                a[i, j] = x + 1.0

    same(f, floats(12 * 9).reshape(12, 9))


def test_a_side_that_faults_keeps_what_was_stored():
    @ti.kernel
    def f(a: F1, b: F1, k: ti.i32):
        for i in range(1):
            if k > 0:
                b[i] = 1.0
                b[i] = a[k]
            else:
                b[i] = 2.0

    ti.init(checked=True)
    b = np.zeros(1, np.float32)
    try:
        with pytest.raises(Exception, match="a"):
            f(np.zeros(3, np.float32), b, 5)
    finally:
        ti.reset()
    assert b[0] == 1.0


# Loops that diverge, short and without arrays in them: two vectors at a time where registers are many.


@ti.kernel
def escapes(a: F1, n: I1, last: F1):
    for i in range(a.shape[0]):
        x = 0.0
        turns = 0
        while x * x < 4.0 and turns < 50:
            x = x * x + 0.3 * a.shape[0] / 100 - 0.01 * i
            turns += 1
        n[i] = turns
        last[i] = x


@ti.kernel
def halves(a: I1, b: I1, total: I1):
    for i in range(a.shape[0]):
        x = a[i]
        if x > 3:
            turns = 0
            while x > 1:
                turns += 1
                if turns > 40:
                    break
                if x % 2 == 1:
                    x = 3 * x + 1
                    continue
                x >>= 1
            b[i] = turns
            total[0] += turns


@ti.kernel
def roots(a: ti.types.ndarray(ti.f64, 1), b: ti.types.ndarray(ti.f64, 1)):
    for i in range(a.shape[0]):
        x = ti.f64(1.0)
        square = a[i]
        for k in range(30):
            nearer = 0.5 * (x + square / x)
            if ti.abs(nearer - x) < 1e-12:
                break
            x = nearer
        b[i] = x


@pytest.mark.parametrize("n", LENGTHS + [31, 64, 65])
def test_short_loops_that_diverge(n):
    rng = np.random.default_rng(n)
    same(escapes, floats(n), np.zeros(n, np.int32), np.zeros(n, np.float32))
    same(halves, rng.integers(-9, 99, n).astype(np.int32), np.zeros(n, np.int32), np.zeros(1, np.int32))
    same(roots, rng.random(n) * 100, np.zeros(n))


# What only some iterations compute and all would share: the vectoriser of LLVM, for loops without lanes of our own, takes it from
# an iteration that did not compute it.


@ti.kernel
def shared_under_conditions(a: I1, b: I1, c: I1, n: ti.i32):
    for i in range(n):
        if 4 < i <= a[11 % n]:
            b[i] = i // a[1]
        else:
            c[i] = a[a[2] % n] + i
    for i in range(n):
        if i % 3 == 1:
            if a[a[3] % n] > a[11 // a[4]]:
                b[i] += a[b[0] % 5]


@ti.kernel
def serial_under_conditions(a: I1, b: I1, c: I1, n: ti.i32) -> ti.i32:
    total = 0
    if n > 0:
        for i in range(n):
            if 4 < i:
                total += a[11 % n]
                if i <= a[12 % n]:
                    b[i] = 7
            else:
                c[i] = a[a[2] % n]
        for i in range(n):
            total += a[13 // (n + 1)] if i > n // 2 else i
    return total


L1 = ti.types.ndarray(dtype=ti.i64, ndim=1)


@ti.func
def remainder(p: ti.i16) -> ti.i16:
    return p % 526 % (p | 1)


@ti.kernel
def long_ones_under_conditions(a: L1, b: L1, c: L1, d: ti.i16):
    for i in range(c.shape[0] - 1):
        if 4 < i <= a[ti.u32(11) % a.shape[0]]:
            b[i] = remainder(i) // 7
        else:
            c[i] = remainder(i // d)


@pytest.mark.parametrize("n", [14, 37, 100])
def test_what_iterations_share_under_conditions(n):
    rng = np.random.default_rng(n)
    a = rng.integers(1, n, n).astype(np.int32)
    a[11 % n], a[12 % n] = 10, 9
    for seed in range(4):
        b, c = rng.integers(0, n, (2, n)).astype(np.int32)
        same(shared_under_conditions, a, b, c, n)
        same(serial_under_conditions, a, b, c, n)
        same(long_ones_under_conditions, a.astype(np.int64), b.astype(np.int64), c.astype(np.int64), -23)
