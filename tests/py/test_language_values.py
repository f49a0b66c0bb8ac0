"""Numbers: literals, promotion, operators, comparisons, casts, builtins."""

import itertools
import math

import numpy as np
import pytest

import pestle as ti
from language import both, run

INTS = [ti.i8, ti.i16, ti.i32, ti.i64, ti.u8, ti.u16, ti.u32, ti.u64]
FLOATS = [ti.f16, ti.f32, ti.f64]
F1 = ti.types.ndarray(dtype=ti.f32, ndim=1)
I1 = ti.types.ndarray(dtype=ti.i32, ndim=1)


def _bits(t):
    return 8 * t.itemsize


def promoted(a, b):
    """docs/language.md in other words."""
    if a in FLOATS or b in FLOATS:
        if a in FLOATS and b in FLOATS:
            return max(a, b, key=_bits)
        return a if a in FLOATS else b
    if a is ti.u1 and b is ti.u1:
        return ti.i32
    if ti.u1 in (a, b):
        return b if a is ti.u1 else a
    if _bits(a) != _bits(b):
        return max(a, b, key=_bits)
    return a if a.name[0] == "u" else b


@pytest.mark.parametrize("pair", list(itertools.product([ti.u1] + INTS + FLOATS, repeat=2)), ids=lambda p: f"{p[0]}-{p[1]}")
def test_promotion(pair):
    S, T = pair
    R = promoted(S, T)

    @ti.kernel
    def f(n: ti.i32):
        a = ti.cast(n, S)
        b = ti.cast(n, T)
        ti.static_assert((a + b).dtype is R)
        ti.static_assert((a * b).dtype is R)
        ti.static_assert((a == b).dtype is ti.u1)
        ti.static_assert((a / b).dtype is (R if R in FLOATS else ti.f32))

    f._ir(1)


def test_small_floats():
    @ti.kernel
    def f(n: ti.i32):
        ti.static_assert((ti.cast(n, ti.f16) + ti.cast(n, ti.bf16)).dtype is ti.f32)
        ti.static_assert((ti.cast(n, ti.i64) + ti.cast(n, ti.bf16)).dtype is ti.bf16)

    f._ir(1)


def test_literals_take_the_type_of_the_operation():
    @ti.kernel
    def f(x: ti.f64, n: ti.i64) -> ti.f64:
        ti.static_assert((x * 0.1).dtype is ti.f64)
        ti.static_assert((n + 1).dtype is ti.i64)
        ti.static_assert((ti.cast(n, ti.u8) + 1).dtype is ti.i32)
        ti.static_assert((n + 0.5).dtype is ti.f32)
        return x * 0.1 + (n + 2**40)

    assert run(f, 1.0, 1) == 0.1 + (2**40 + 1)


def test_default_types():
    @ti.kernel
    def f():
        a = 1
        b = 0.5
        c = True
        ti.static_assert(a.dtype is ti.i64)
        ti.static_assert(b.dtype is ti.f64)
        ti.static_assert(c.dtype is ti.u1)

    ti.init(default_ip=ti.i64, default_fp=ti.f64)
    f._ir()


def test_numpy_scalars_are_literals():
    one, half, yes, zero_d = np.int64(1), np.float64(0.5), np.bool_(True), np.array(3)

    @ti.kernel
    def f() -> ti.f32:
        a = one
        b = half
        c = yes
        ti.static_assert(a.dtype is ti.i32)
        ti.static_assert(b.dtype is ti.f32)
        ti.static_assert(c.dtype is ti.u1)
        return a + b + zero_d

    assert run(f) == 4.5


def test_python_values_are_computed_by_python():
    big = 10**30

    @ti.kernel
    def f() -> ti.f64:
        return big / 10**29 + 7 // 2 + 1 / 4

    assert run(f) == 10.0 + 3 + 0.25


def test_floor_division_and_modulo():
    a = np.array([-7, 7, -1, -7, 7], np.int32)
    b = np.array([2, -2, 2, -2, 2], np.int32)

    @ti.kernel
    def f(a: I1, b: I1, q: I1, r: I1, t: I1, u: I1):
        for i in a:
            q[i] = a[i] // b[i]
            r[i] = a[i] % b[i]
            t[i] = ti.raw_div(a[i], b[i])
            u[i] = ti.raw_mod(a[i], b[i])

    q, r, t, u = (np.zeros(5, np.int32) for _ in range(4))
    run(f, a, b, q, r, t, u)
    assert q.tolist() == [x // y for x, y in zip(a.tolist(), b.tolist())]
    assert r.tolist() == [x % y for x, y in zip(a.tolist(), b.tolist())]
    assert t.tolist() == [-3, -3, 0, 3, 3] and u.tolist() == [-1, 1, -1, -1, 1]


def test_float_floor_division_and_modulo():
    @ti.kernel
    def f(a: ti.f64, b: ti.f64, out: ti.types.ndarray(ti.f64, 1)):
        out[0] = a // b
        out[1] = a % b

    for a, b in [(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-7.5, -2.0)]:
        out = np.zeros(2)
        run(f, a, b, out)
        assert out.tolist() == [a // b, a % b]


def test_power():
    @ti.kernel
    def f(x: ti.f32, n: ti.i32, out: F1):
        ti.static_assert((x**2).dtype is ti.f32)
        ti.static_assert((n**2).dtype is ti.i32)
        ti.static_assert((n**2.0).dtype is ti.f32)
        out[0] = x**3
        out[1] = x**-2
        out[2] = x**n
        out[3] = n**n
        out[4] = x**0.5
        out[5] = x**0

    out = np.zeros(6, np.float32)
    run(f, 4.0, 3, out)
    assert out.tolist() == [64.0, 0.0625, 64.0, 27.0, 2.0, 1.0]


def test_shifts_have_the_type_of_the_left_operand():
    @ti.kernel
    def f(n: ti.i32, out: I1):
        ti.static_assert((ti.cast(n, ti.u8) << n).dtype is ti.u8)
        ti.static_assert((n << ti.cast(n, ti.i64)).dtype is ti.i32)
        out[0] = n << 3
        out[1] = (-n) >> 1
        out[2] = ti.bit_shr(-n, 1)
        out[3] = n << 40
        out[4] = (-n) >> 40

    out = np.zeros(5, np.int32)
    run(f, 5, out)
    assert out.tolist() == [40, -3, (2**32 - 5) >> 1, 0, -1]


def test_bits():
    @ti.kernel
    def f(a: ti.i32, b: ti.i32, p: ti.u1, out: I1):
        ti.static_assert((p & (a > 0)).dtype is ti.u1)
        out[0] = a & b
        out[1] = a | b
        out[2] = a ^ b
        out[3] = ~a
        out[4] = ~p
        out[5] = ti.popcnt(a) * 100 + ti.clz(a)

    out = np.zeros(6, np.int32)
    run(f, 12, 10, True, out)
    assert out.tolist() == [8, 14, 6, -13, 0, 228]


def test_booleans_count():
    @ti.kernel
    def f(a: ti.i32) -> ti.i32:
        p = a > 1
        q = a > 2
        return p + q + p * q - (-p)

    assert run(f, 3) == 4


def test_comparisons_of_signed_with_unsigned_compare_numbers():
    @ti.kernel
    def f(a: ti.i32, b: ti.u32, c: ti.u64, d: ti.i64) -> ti.i32:
        r = 0
        if a < b: r += 1
        if b > a: r += 2
        if a < c: r += 4
        if c > d: r += 8
        if b > -1: r += 16
        if c == -1: r += 32
        if d <= c: r += 64
        if c != d: r += 128
        if d >= c: r += 256
        return r

    assert run(f, -1, 5, 5, -7) == 1 + 2 + 4 + 8 + 16 + 64 + 128
    assert run(f, -1, 5, 2**64 - 1, -1) == 1 + 2 + 4 + 8 + 16 + 64 + 128


def test_comparisons_with_nan():
    @ti.kernel
    def f(x: ti.f32) -> ti.i32:
        r = 0
        if x != x: r += 1
        if x == x: r += 2
        if not x == x: r += 4
        if x < 1 or x >= 1: r += 8
        if ti.isnan(x): r += 16
        if ti.isinf(x) or math.isinf(x): r += 32
        return r

    assert run(f, math.nan) == 1 + 4 + 16
    assert run(f, math.inf) == 2 + 8 + 32
    assert run(f, 0.0) == 2 + 8


def test_casts():
    @ti.kernel
    def f(x: ti.f32, n: ti.i32, out: ti.types.ndarray(ti.f64, 1)):
        out[0] = int(x)
        out[1] = ti.cast(x, ti.u8)
        out[2] = float(n) / 2
        out[3] = bool(x)
        out[4] = ti.i64(2**40)
        out[5] = ti.f32(0.1)
        out[6] = ti.f64(0.1)
        out[7] = ti.bit_cast(ti.bit_cast(x, ti.i32) + n, ti.f32)
        out[8] = ti.cast(2.9, ti.i32)
        a: ti.i8 = x
        out[9] = a

    out = np.zeros(10)
    run(f, -3.7, 1, out)
    near = np.nextafter(np.float32(-3.7), np.float32(-10))
    assert out.tolist() == [-3, 0, 0.5, 1, 2.0**40, np.float32(0.1), 0.1, near, 2, -3]


def test_out_of_range_casts_saturate():
    @ti.kernel
    def f(x: ti.f32, out: I1):
        out[0] = int(x)
        out[1] = ti.cast(x, ti.i8)

    for x, want in [(1e20, [2**31 - 1, 127]), (-1e20, [-(2**31), -128]), (math.nan, [0, 0])]:
        out = np.zeros(2, np.int32)
        run(f, x, out)
        assert out.tolist() == want


def test_math_functions():
    @ti.kernel
    def f(x: ti.f64, out: ti.types.ndarray(ti.f64, 1)):
        out[0] = ti.sin(x) + math.cos(x) + np.tan(x)
        out[1] = math.atan2(x, 2.0) + np.arctan2(x, 2.0)
        out[2] = ti.sqrt(x) + ti.rsqrt(x) + math.sqrt(4)
        out[3] = abs(-x) + math.fabs(x) + ti.abs(-2)
        out[4] = ti.floor(x) + ti.ceil(x) + round(x) + ti.trunc(x)
        out[5] = math.pi
        out[6] = ti.exp(x) - ti.log(x)
        out[7] = ti.hypot(3, x + 2.5) + math.hypot(x, x) - np.hypot(x, x)
        out[8] = math.expm1(1e-9 * x) + np.log1p(1e-9)

    out = np.zeros(9)
    x = 1.5
    run(f, x, out)
    want = [math.sin(x) + math.cos(x) + math.tan(x), 2 * math.atan2(x, 2), math.sqrt(x) + 1 / math.sqrt(x) + 2,
            2 * x + 2, 1 + 2 + 2 + 1, math.pi, math.exp(x) - math.log(x), 5, math.expm1(1e-9 * x) + math.log1p(1e-9)]
    np.testing.assert_allclose(out, want, rtol=1e-14)


COPYSIGN_EDGES = [0.0, 1.0, 0.1, 7.5, 65504.0, 6e-8, 1e-40, 3e38, 1e300, math.inf, math.nan]


@pytest.mark.parametrize("dtype", [*FLOATS, ti.bf16], ids=str)
def test_copysign(dtype):
    """All pairs of edges and their negatives, NaNs too, bit by bit, against numpy (bf16: the sign bit alone)."""
    wide = {ti.f16: np.float16, ti.f32: np.float32, ti.f64: np.float64, ti.bf16: np.float32}[dtype]
    with np.errstate(over="ignore"):
        edges = np.array(COPYSIGN_EDGES).astype(wide)
    edges = np.concatenate([edges, -edges])
    a, b = (x.ravel() for x in np.meshgrid(edges, edges))
    want = np.copysign(a, b)
    uint = {2: np.uint16, 4: np.uint32, 8: np.uint64}[a.itemsize]
    a, b, want = a.view(uint), b.view(uint), want.view(uint)
    if dtype is ti.bf16:
        a, b, want = ((x >> 16).astype(np.uint16) for x in (a, b, want))
    U = {2: ti.u16, 4: ti.u32, 8: ti.u64}[a.itemsize]

    @ti.kernel
    def f(a: ti.types.ndarray(), b: ti.types.ndarray(), out: ti.types.ndarray()):
        for i in a:
            x, y = ti.bit_cast(a[i], dtype), ti.bit_cast(b[i], dtype)
            z = ti.copysign(x, y)
            ti.static_assert(z.dtype is dtype)
            out[0, i] = ti.bit_cast(z, U)
            out[1, i] = ti.bit_cast(math.copysign(x, y), U)
            out[2, i] = ti.bit_cast(np.copysign(x, y), U)
            out[3, i] = ti.bit_cast(ti.copysign(x, dtype(-0.0)), U)

    out = np.zeros((4, len(a)), a.dtype)
    both(f, a, b, out)
    run(f, a, b, out)
    top = np.array(1 << (8 * a.itemsize - 1), a.dtype)
    for row in out[:3]:
        np.testing.assert_array_equal(row, want)
    np.testing.assert_array_equal(out[3], a | top)


def test_copysign_of_arrays_literals_and_integers():
    @ti.kernel
    def f(x: ti.types.ndarray(), y: ti.types.ndarray(), out: ti.types.ndarray(), n: ti.i32, t: ti.f64):
        for i in x:
            out[i] = ti.copysign(x[i], y[i])
        ti.static_assert(ti.copysign(n, n).dtype is ti.f32)
        ti.static_assert(ti.copysign(n, t).dtype is ti.f64)
        ti.static_assert(ti.copysign(ti.f16(1), ti.bf16(1)).dtype is ti.f32)
        ti.static_assert(ti.copysign(3, -0.0) == -3.0)
        last = out.shape[0] - 1
        out[last - 1] = ti.cast(ti.copysign(n, -t), out.dtype)
        out[last] = ti.cast(ti.copysign(2.5, n), out.dtype)

    rng = np.random.default_rng(0)
    for dtype in (np.float16, np.float32, np.float64):
        x, y = (rng.standard_normal(1003).astype(dtype) for _ in range(2))
        y[::7], y[::11], x[::13] = -0.0, -np.inf, -np.nan
        want = np.copysign(x, y)
        want[-2:] = -3, -2.5
        out = np.zeros_like(x)
        both(f, x, y, out, -3, 1.0)
        run(f, x, y, out, -3, 1.0)
        assert out.tobytes() == want.tobytes()


def test_copysign_outside_kernels():
    assert ti.copysign(3, -0.0) == -3.0 and ti.copysign(-2.5, 1) == 2.5
    assert math.copysign(1, ti.copysign(0.0, -math.inf)) == -1 and math.copysign(1, ti.copysign(-math.nan, 1)) == 1


def test_float_functions_of_integers():
    @ti.kernel
    def f(n: ti.i32, m: ti.i64):
        ti.static_assert(ti.sqrt(n).dtype is ti.f32)
        ti.static_assert(ti.sin(m).dtype is ti.f32)
        ti.static_assert(ti.atan2(n, ti.f64(1.0)).dtype is ti.f64)
        ti.static_assert(ti.abs(n).dtype is ti.i32)
        ti.static_assert(ti.round(ti.f32(1.5), ti.i32).dtype is ti.i32)

    f._ir(1, 1)


def test_min_max_select():
    @ti.kernel
    def f(a: ti.i32, b: ti.f32, out: F1):
        out[0] = max(a, b, 2)
        out[1] = ti.min(a, b, 2)
        out[2] = ti.select(a > 1, a, b)
        out[3] = min([b, a])
        out[4] = max(b, math.nan)
        ti.static_assert(max(a > 0, a > 1).dtype is ti.u1)

    out = np.zeros(5, np.float32)
    run(f, 3, 1.5, out)
    assert out.tolist() == [3.0, 1.5, 3.0, 1.5, 1.5]


def test_zero_one():
    @ti.kernel
    def f(x: ti.f32, n: ti.i64):
        ti.static_assert(ti.zero(x).dtype is ti.f32)
        ti.static_assert(ti.one(n).dtype is ti.i64)

    f._ir(1.0, 1)


@pytest.mark.parametrize("value", [-(2**31), 2**31 - 1])
def test_int_limits(value):
    @ti.kernel
    def f() -> ti.i32:
        return value

    assert run(f) == value


def test_u1_arrays():
    @ti.kernel
    def f(p: ti.types.ndarray(ti.u1, 1), n: ti.i32) -> ti.i32:
        p[0] = n > 1
        p[1] += 1
        p[1] += 1
        p[2] = not p[0]
        p[3] = n
        r = 0
        if p[0] and p[1] and not p[2]: r = p[0] + p[1] + p[3]
        return r

    p = np.zeros(4, bool)
    with pytest.warns(UserWarning, match="u1 <- i32"):
        assert run(f, p, 2) == 3
    assert p.tolist() == [True, True, False, True]


@pytest.mark.parametrize("mode", ["compiled", "python"])
def test_last_arguments_of_builtins_by_name(mode):
    ti.init("python" if mode == "python" else "cpu")

    @ti.kernel
    def f(x: ti.types.ndarray(ti.i32, 1), v: ti.f32) -> ti.f64:
        ti.static_assert(ti.static(1 < 2), msg="never")
        x[0] = ti.floor(v, dtype=ti.i32)
        x[1] = ti.ceil(v, dtype=ti.i32)
        x[2] = ti.round(v, dtype=ti.i32)
        x[3] = ti.rint(v, dtype=ti.i32)
        x[4] = ti.trunc(v, dtype=ti.i32)
        x[5] = ti.cast(v, dtype=ti.i32)
        x[6] = ti.bit_cast(v, dtype=ti.i32)
        x[7] = ti.random(dtype=ti.i32) | 1
        return ti.random(dtype=ti.f64) + 0.0 * ti.randn(dt=ti.f64)

    x = np.zeros(8, np.int32)
    assert 0 <= f(x, 2.5) < 1
    assert x[:7].tolist() == [2, 3, 3, 2, 2, 2, 0x40200000] and x[7] != 0
    assert ti.floor(2.5, dtype=ti.i32) == 2 and ti.cast(2.5, dtype=ti.i32) == 2
    with pytest.raises(TypeError):
        ti.floor(2.5, dt=ti.i32)
    with pytest.raises(TypeError):
        ti.cast(dtype=ti.i32)
