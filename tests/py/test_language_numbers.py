"""Numbers mean what Python says: the same for literals and for runtime values, compiled, evaluated and in plain Python."""

import itertools
import math

import numpy as np
import pytest

import pestle as ti
from language import both, run

A = ti.types.ndarray()
FLOATS = {ti.f16: np.float16, ti.f32: np.float32, ti.f64: np.float64}
SPECIAL = [0.0, 1.0, 0.5, 0.1, 3.0, 2.5, 7.0, 1e-3, 65504.0, 6e-8, 1e-40, 5e-324, 1e300, 3e38, 1e16, math.inf, math.nan]
SPECIAL += [-x for x in SPECIAL]


def pairs(dtype, seed=0):
    """All pairs of special values, and many of random ones: of like and unlike size, and exact multiples."""
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        a, b = (np.array(x, np.float64).astype(dtype) for x in zip(*itertools.product(SPECIAL, SPECIAL)))
        x = (rng.standard_normal(20000) * 10.0 ** rng.integers(-6, 7, 20000)).astype(dtype)
        y = (rng.standard_normal(20000) * 10.0 ** rng.integers(-6, 7, 20000)).astype(dtype)
        few = rng.integers(-200, 200, 20000)
        tenths = (rng.integers(-30, 30, 20000) / 10).astype(dtype)
        bits = rng.integers(0, 2 ** (8 * a.itemsize), 40000, dtype=np.uint64).astype(f"u{a.itemsize}").view(dtype)
        return np.concatenate([a, x, (few * tenths).astype(dtype), bits[:20000]]), np.concatenate([b, y, tenths, bits[20000:]])


def same(found, expected):
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), nan)
    kind = f"u{found.itemsize}"
    np.testing.assert_array_equal(found[~nan].view(kind), expected[~nan].view(kind))


@ti.kernel
def divide(a: A, b: A, q: A, r: A):
    for i in a:
        q[i] = a[i] // b[i]
        r[i] = a[i] % b[i]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_floor_division_is_numpys(dtype):
    a, b = pairs(FLOATS[dtype])
    q, r = np.empty_like(a), np.empty_like(a)
    run(divide, a, b, q, r)
    with np.errstate(all="ignore"):
        same(q, np.floor_divide(a, b))
        ok = b != 0  # numpy's remainder of x and 0 is NaN too
        same(r[ok], np.remainder(a, b)[ok])
        assert np.isnan(r[~ok]).all()
    both(divide, a[:2000], b[:2000], q[:2000].copy(), r[:2000].copy())


def test_floor_division_is_pythons():
    a, b = pairs(np.float64, 1)
    finite = b != 0
    a, b = a[finite], b[finite]
    q, r = np.empty_like(a), np.empty_like(a)
    run(divide, a, b, q, r)
    same(q, np.array([x // y for x, y in zip(a.tolist(), b.tolist())]))
    same(r, np.array([x % y for x, y in zip(a.tolist(), b.tolist())]))


def test_floor_division_of_bf16():
    """In f32, and rounded once."""
    rng = np.random.default_rng(2)
    a, b = (rng.integers(0, 2**16, 40000, dtype=np.uint16) for _ in range(2))

    @ti.kernel
    def f(a: A, b: A, q: A):
        for i in a:
            x, y = ti.bit_cast(a[i], ti.bf16), ti.bit_cast(b[i], ti.bf16)
            q[i] = ti.bit_cast(x // y, ti.u16)

    q = np.empty_like(a)
    run(f, a, b, q)
    wide = [(x.astype(np.uint32) << 16).view(np.float32) for x in (a, b)]
    with np.errstate(all="ignore"):
        exact = np.floor_divide(*wide).view(np.uint32).astype(np.uint64)
    rounded = (exact + 0x7FFF + (exact >> 16 & 1)) >> 16
    nan = np.isnan(exact.astype(np.uint32).view(np.float32))
    np.testing.assert_array_equal(q[~nan], rounded[~nan].astype(np.uint16))
    assert ((q[nan] & 0x7FFF) > 0x7F80).all()


def test_floor_division_of_literals_and_values():
    @ti.kernel
    def f(out: A, a: ti.f64, b: ti.f64):
        out[0] = a // b
        out[1] = 1.0 // 0.1
        out[2] = a // 0.1
        out[3] = 1.0 // b
        a_ = a
        a_ //= b
        out[4] = a_

    out = np.empty(5)
    run(f, out, 1.0, 0.1)
    assert out.tolist() == [1.0 // 0.1] * 5 == [9.0] * 5
    both(f, out, 1.0, 0.1)


def test_division_by_zero_does_not_raise():
    @ti.kernel
    def f(a: ti.f32, b: ti.f32) -> ti.f32:
        return a // b

    assert run(f, 1.0, 0.0) == math.inf and run(f, 1.0, -0.0) == -math.inf and run(f, -2.0, 0.0) == -math.inf
    assert math.isnan(run(f, 0.0, 0.0)) and math.isnan(run(f, math.inf, 1.0))


def test_a_class_that_is_called_like_a_dtype():
    fake = type("pestle.Dtype", (), {"__call__": lambda self, x: ("called with", x)})()
    assert ti.cast(1.5, fake) == ("called with", 1.5)
    assert ti.cast(1.5, ti.i32) == 1 and ti.floor(2.5, ti.i32) == 2


HALVES = [x / 4 for x in range(-18, 19)] + [0.49999999999999994, 2.0**52 + 1, -0.0, 1e300, math.inf, -math.inf]


def test_round_is_pythons():
    @ti.kernel
    def f(x: A, even: A, away: A, near: A):
        for i in x:
            even[i] = round(x[i])
            away[i] = ti.round(x[i])
            near[i] = np.rint(x[i]) + ti.rint(x[i])

    for dtype in FLOATS.values():
        with np.errstate(all="ignore"):
            x = np.array(HALVES, dtype)
        even, away, near = (np.empty_like(x) for _ in range(3))
        run(f, x, even, away, near)
        same(even, np.rint(x))
        wide = x.astype(np.float64)
        with np.errstate(all="ignore"):
            far = np.abs(wide - np.trunc(wide)) >= 0.5
            same(away, np.where(far, np.trunc(wide) + np.sign(wide), np.trunc(wide)).astype(dtype))
            same(near, np.rint(x) + np.rint(x))
        both(f, x, even, away, near)


def test_round_of_literals_and_values():
    @ti.kernel
    def f(out: A, x: ti.f64, n: ti.i64, b: ti.u1):
        out[0] = round(2.5)
        out[1] = round(x)
        out[2] = ti.round(2.5)
        out[3] = ti.round(x)
        out[4] = round(x, None)
        out[5] = round(x, ti.i32)
        out[6] = round(n)
        out[7] = round(b)
        out[8] = round(5)

    out = np.empty(9)
    run(f, out, 2.5, 2**40, True)
    assert out.tolist() == [2, 2, 3, 3, 2, 2, 2**40, 1, 5]
    both(f, out, 2.5, 2**40, True)


def test_round_in_plain_python_code():
    def helper(x, n):
        return round(x) + round(n)

    @ti.kernel
    def f(x: ti.f64, n: ti.i32) -> ti.f64:
        return helper(x, n) + helper(2.5, 3)

    assert run(f, 2.5, 3) == 10
    both(f, 2.5, 3)


@pytest.mark.parametrize("dtype", [ti.f16, ti.bf16], ids=str)
def test_powers_of_half_floats_round_once(dtype):
    """x ** 5 is x ** n with n = 5."""

    @ti.kernel
    def f(bits: A, out: A, five: ti.i32, one: ti.i64):
        for i in bits:
            x = ti.bit_cast(bits[i], dtype)
            out[i, 0] = ti.bit_cast(x**5, ti.u16)
            out[i, 1] = ti.bit_cast(x**five, ti.u16)
            out[i, 2] = ti.bit_cast(x ** (-3), ti.u16)
            out[i, 3] = ti.bit_cast(x ** (2 - five), ti.u16)
            out[i, 4] = ti.bit_cast(x**2 + x, ti.u16)
            out[i, 5] = ti.bit_cast(x ** (one * 2) + x, ti.u16)
            out[i, 6] = ti.bit_cast(pow(x, 3), ti.u16)
            out[i, 7] = ti.bit_cast(x ** (five - 2), ti.u16)

    bits = np.arange(0, 2**16, 7).astype(np.uint16)
    out = np.empty((len(bits), 8), np.uint16)
    run(f, bits, out, 5, 1)
    for k in range(0, 8, 2):
        np.testing.assert_array_equal(out[:, k], out[:, k + 1])
    if dtype is ti.f16:
        x = bits.view(np.float16).astype(np.float32)
        with np.errstate(all="ignore"):
            same(out[:, 0].copy().view(np.float16), (x * (x * x * (x * x))).astype(np.float16))
    both(f, bits[::97].copy(), out[: len(bits[::97])].copy(), 5, 1)


def test_atomics_of_u1_see_and_leave_0_or_1():
    """A byte of 2 comes in through a view: it is true, and what is written is 1."""

    @ti.kernel
    def f(x: A, old: A, at: A, value: ti.u1):
        for i in range(256):
            k = at[i]
            old[0, k] = ti.atomic_or(x[0, k], value)
            old[1, k] = ti.atomic_and(x[1, k], value)
            old[2, k] = ti.atomic_xor(x[2, k], value)
            old[3, k] = ti.atomic_add(x[3, k], value)
            old[4, k] = ti.atomic_mul(x[4, k], value)
            old[5, k] = ti.atomic_min(x[5, k], value)
            old[6, k] = ti.atomic_max(x[6, k], value)
            old[7, k] = ti.atomic_sub(x[7, k], value)
            old[8, k] = ti.atomic_cas(x[8, k], True, value)
            old[9, k] = ti.atomic_cas(x[9, k], False, value)
            old[10, k] = ti.atomic_exchange(x[10, k], value)

    at = np.random.default_rng(0).permutation(256).astype(np.int32)
    for value in (False, True):
        x = np.broadcast_to(np.arange(256, dtype=np.uint8), (11, 256)).copy()
        old = np.full((11, 256), 7, np.uint8).view(bool)
        run(f, x.view(bool), old, at, value)
        was = np.arange(256) != 0
        assert (old.view(np.uint8) == was).all()
        new = [was | value, was & value, was ^ value, was | value, was & value, was & value, was | value, was ^ value]
        assert (x[:8] == np.array(new)).all()
        assert (x[8] == np.where(was, value, 0)).all()
        assert (x[9] == np.where(was, np.arange(256), value)).all()
        assert (x[10] == value).all()


BIG = 2**63


def test_u64_bounds_beyond_i64():
    @ti.kernel
    def f(lo: ti.u64, hi: ti.u64, out: A) -> ti.i32:
        n = 0
        ti.loop_config(serialize=True)
        for i in range(lo, hi):
            if n < 8:
                out[n] = i
            n += 1
        return n

    @ti.kernel
    def nest(lo: ti.u64, hi: ti.u64, out: A) -> ti.i32:
        n = 0
        ti.loop_config(serialize=True)
        for i, j in ti.ndrange((lo, hi), 2):
            out[n] = i + ti.cast(j, ti.u64)
            n += 1
        return n

    for lo, hi in [(BIG - 2, BIG + 3), (BIG, BIG + 1), (2**64 - 3, 2**64 - 1), (0, 4), (BIG, BIG), (2**64 - 1, 0), (BIG, 5)]:
        expected = list(range(lo, hi))
        for kernel, values in ((f, expected), (nest, [i + j for i in expected for j in range(2)])):
            out = np.zeros(16, np.uint64)
            assert run(kernel, lo, hi, out) == len(values)
            assert out[: len(values)].tolist() == values
            both(kernel, lo, hi, out)


def test_parallel_u64_bounds_are_never_cut():
    @ti.kernel
    def f(lo: ti.u64, hi: ti.u64, x: A):
        for i in range(lo, hi):
            x[0] += 1

    @ti.kernel
    def mixed(lo: ti.i64, hi: ti.u64, x: A):
        for i in range(lo, hi):
            x[0] += 1

    x = np.zeros(1, np.int32)
    run(f, BIG + 5, BIG, x)
    run(f, BIG, 7, x)
    assert x[0] == 0
    run(f, 3, 10, x)
    run(mixed, -3, 4, x)
    assert x[0] == 14
    for kernel, lo, hi in [(f, BIG, BIG + 5), (f, 0, 2**64 - 1), (mixed, 2**63 - 2, BIG + 5), (mixed, -1, 2**64 - 1)]:
        for arch in (ti.cpu, ti.python):
            ti.init(arch=arch)
            with pytest.raises(Exception, match="axis|domain|loop"):
                kernel(lo, hi, x)
            ti.reset()
    assert x[0] == 14


def test_zeros_of_widened_floats_keep_their_sign():
    """LLVM must not take x < 0 ? 0 : x of a widened x for x > 0 ? x : 0."""

    @ti.kernel
    def f(x: A, y: A, out: A, zero: ti.i32):
        for i in x:
            z, wide, wider = ti.f64(0.0), ti.cast(x[i], ti.f64), ti.cast(y[i], ti.f32)
            out[0, i] = max(z, x[i])
            out[1, i] = min(z, x[i])
            out[2, i] = max(-z, x[i])
            out[3, i] = min(-z, x[i])
            out[4, i] = z if z > wide else wide
            out[5, i] = z if wide < z else wide
            out[6, i] = max(ti.f32(0.0), wider)
            out[7, i] = min(ti.f32(-0.0), wider)
            out[8, i] = max(z, y[i])
            out[9, i] = -max(z, zero / ti.cast(x[i] - 1.0, ti.f32))
            if wide < 0.0:
                wide = 0.0
            out[10, i] = wide

    values = [-0.0, 0.0, 1.0, -1.0, math.inf, -math.inf, math.nan] * 20
    x, y = np.array(values, np.float32), np.array(values, np.float16)
    out = np.empty((11, len(x)))
    run(f, x, y, out, 0)
    both(f, x, y, out, 0)
    assert np.signbit(out[0, 0]) and not np.signbit(out[9, 0]) and np.signbit(out[10, 0])


def test_widened_floats_do_not_hinder_vectors():
    @ti.kernel
    def f(x: A, y: A):
        for i in x:
            y[i] = ti.cast(x[i], ti.f64) * 3.0

    @ti.kernel
    def g(x: A):
        for i in x:
            x[i] = x[i] * 3.0

    x, y = np.ones(100, np.float32), np.zeros(100)
    run(f, x, y)
    run(g, y)
    assert (y == 9).all()
    if " x double>" in g.ir(y, after="llvm"):
        assert " x double>" in f.ir(x, y, after="llvm")


def test_literals_have_the_width_of_i32_where_it_shows():
    @ti.kernel
    def known() -> ti.types.vector(5, ti.i64):
        return ti.Vector([ti.popcnt(-1), ti.clz(1), ti.bit_shr(-8, 1), ti.clz(2**40), ti.popcnt(ti.i64(-1))], ti.i64)

    @ti.kernel
    def variables() -> ti.types.vector(5, ti.i64):
        a, b, c, d, e = -1, 1, -8, ti.i64(2**40), ti.i64(-1)
        return ti.Vector([ti.popcnt(a), ti.clz(b), ti.bit_shr(c, 1), ti.clz(d), ti.popcnt(e)], ti.i64)

    assert list(known()) == list(variables()) == list(known._evaluate()) == [32, 31, 2**31 - 4, 23, 64]
