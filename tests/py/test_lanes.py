"""Parallel loops that run W iterations at a time: compiled by 1 and 2 threads and evaluated, the same bits."""

import numpy as np
import pytest

import pestle as ti
from pestle import _pestle

F1 = ti.types.ndarray(dtype=ti.f32, ndim=1)
F2 = ti.types.ndarray(dtype=ti.f32, ndim=2)
D1 = ti.types.ndarray(dtype=ti.f64, ndim=1)
H1 = ti.types.ndarray(dtype=ti.f16, ndim=1)
I1 = ti.types.ndarray(dtype=ti.i32, ndim=1)
I2 = ti.types.ndarray(dtype=ti.i32, ndim=2)
L1 = ti.types.ndarray(dtype=ti.i64, ndim=1)
B1 = ti.types.ndarray(dtype=ti.u8, ndim=1)
S1 = ti.types.ndarray(dtype=ti.i16, ndim=1)
U1 = ti.types.ndarray(dtype=ti.u1, ndim=1)

LENGTHS = [1, 2, 7, 8, 9, 31, 33, 63, 64, 65, 100, 257]


def copies(args):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def same(kernel, *args, threads=(1, 2)):
    """Compiled = evaluated: the result and all arrays. Gives the arguments as they are after the launch."""
    expected = copies(args)
    result = kernel._evaluate(*expected)
    for n in threads:
        ti.init(threads=n)
        found = copies(args)
        try:
            got = kernel(*found)
        finally:
            ti.reset()
        assert repr(got) == repr(result), f"{n} threads"
        for i, (a, b) in enumerate(zip(expected, found)):
            if isinstance(a, np.ndarray):
                where = np.flatnonzero(a.ravel().view(np.uint8) != b.ravel().view(np.uint8))
                assert a.tobytes() == b.tobytes(), f"{n} threads, argument {i}, byte {where[:4]}: {a} against {b}"
    return expected


def floats(n, seed=1, dtype=np.float32):
    return (np.random.default_rng(seed).standard_normal(n) * 3).astype(dtype)


def ints(n, seed=1, low=-5, high=20, dtype=np.int32):
    return np.random.default_rng(seed).integers(low, high, n).astype(dtype)


# -- tails --


def test_tails_of_all_lengths():
    @ti.kernel
    def f(a: F1, b: F1):
        for i in range(a.shape[0]):
            x = a[i]
            if x > 0.5:
                x = ti.sqrt(x) * 3.0 + 1.0
            b[i] = x * x - a[i]

    for n in range(1, 71):
        same(f, floats(n, n), np.full(n, 7, np.float32), threads=(1,))


@pytest.mark.parametrize("n", [1, 5, 8, 13, 70])
def test_a_tail_leaves_what_is_behind_it_alone(n):
    @ti.kernel
    def f(a: F1, h: H1, b: B1, d: D1, n: ti.i32):
        for i in range(n):
            a[i] = a[i] * 2.0 + 1.0
            h[i] = h[i] + 1.0
            b[i] = b[i] + 3
            d[i] = d[i] * 0.5

    after = same(f, floats(100), floats(100, 2, np.float16), ints(100, 3, 0, 250, np.uint8), floats(100, 4, np.float64), n)
    assert (after[0][n:] == floats(100)[n:]).all()


# -- if --


@pytest.mark.parametrize("n", LENGTHS)
def test_a_branch(n):
    @ti.kernel
    def f(a: F1, b: I1, out: F1):
        for i in a:
            if a[i] > 0.0:
                out[i] = ti.sqrt(a[i]) + 1.0
            elif b[i] > 3:
                out[i] = a[i] * a[i]
                b[i] = 0
            else:
                b[i] += 1

    same(f, floats(n), ints(n), np.zeros(n, np.float32))


@pytest.mark.parametrize("n", LENGTHS)
def test_sides_that_store_to_the_same_places(n):
    @ti.kernel
    def f(a: F1, h: H1, u: U1, w: L1, out: F1):
        for i in a:
            if a[i] > 0.0:
                h[i] = ti.cast(a[i], ti.f16)
                u[i] = a[i] > 2.0
                w[i] = i
                out[i + 1] = ti.sqrt(a[i])
            elif a[i] < -1.0:
                k = i * 2
                h[i] = h[i] + ti.cast(1.0, ti.f16)
                u[i] = False
                w[i] = k
                out[i + 1] = a[i] * a[i]
            else:
                if a[i] > -0.1:
                    continue
                h[i] = ti.cast(i, ti.f16)
                u[i] = True
                w[i] = -w[i]
                out[i + 1] = 7.0

    flags = floats(n, 3) > 0
    after = same(f, floats(n), floats(n, 2, np.float16), flags, ints(n, dtype=np.int64), np.zeros(n + 1, np.float32))
    assert after[4][0] == 0


@pytest.mark.parametrize("n", [5, 40, 100])
def test_sides_whose_stores_are_not_the_last_word(n):
    @ti.kernel
    def f(a: F1, b: F1, c: F1, k: ti.i32):
        for i in a:
            if a[i] > 0.0:
                b[i] = 1.0
                c[i] = b[i] + a[i]
            else:
                c[i] = 2.0
                b[i] = c[i] * a[i]
            if k > 2:
                b[i] += 1.0
            else:
                b[i] += 2.0

    same(f, floats(n), floats(n, 2), floats(n, 3), 2)
    same(f, floats(n), floats(n, 2), floats(n, 3), 3)


@pytest.mark.parametrize("n", LENGTHS)
def test_branches_in_branches(n):
    @ti.kernel
    def f(a: F1, b: I1, c: I1, u: ti.i32):
        for i in a:
            x, k = a[i], 0
            if x > 0.0:
                if b[i] > 5:
                    k = 1
                    if u > 3:
                        x *= 2.0
                    else:
                        x -= 1.0
                        k += 2
                else:
                    k = 5
                    if x > 1.0:
                        x = 1.0
                k *= 3
            elif u > 2:
                if b[i] < 3:
                    x = -x
                    k = b[i]
            a[i] = x
            c[i] = k + b[i]

    for u in (0, 3, 9):
        same(f, floats(n), ints(n), np.zeros(n, np.int32), u)


def test_continue_of_the_parallel_loop():
    @ti.kernel
    def f(a: F1, b: I1, u: ti.i32):
        for i in a:
            b[i] += 1
            if a[i] > 1.0:
                continue
            b[i] += 10
            if u > 0:
                b[i] += 100
                if a[i] < -1.0:
                    b[i] += 1000
                    if u > 1:
                        continue
                    b[i] += 10000
            if u > 2:
                continue
            b[i] = -b[i]

    for n in LENGTHS:
        for u in (0, 1, 2, 3):
            same(f, floats(n), np.zeros(n, np.int32), u)


def test_all_lanes_continue():
    @ti.kernel
    def f(a: F1, b: I1, n: ti.i32):
        for i in a:
            if i < n:
                if a[i] > 100.0:
                    b[i] = 1
                else:
                    continue
            b[i] += i

    for n in (0, 5, 16, 64, 100):
        same(f, floats(70), np.zeros(70, np.int32), n)


# -- loops --


@pytest.mark.parametrize("n", LENGTHS)
def test_while(n):
    @ti.kernel
    def f(a: I1, out: I1):
        for i in a:
            x, turns = a[i], 0
            while x > 1:
                x = x // 2 if x % 2 == 0 else 3 * x + 1
                turns += 1
            out[i] = turns

    same(f, ints(n, high=40), np.zeros(n, np.int32))


@pytest.mark.parametrize("n", LENGTHS)
def test_while_with_break_and_continue(n):
    @ti.kernel
    def f(a: F1, limits: I1, out: F1):
        for i in a:
            x, turns, total = a[i], 0, 0.0
            while turns < limits[i]:
                turns += 1
                if x > 8.0:
                    total -= 1.0
                    break
                if turns % 3 == 0:
                    continue
                x = x * 1.25 + 0.5
                total += x
                if total > 40.0:
                    if turns > 4:
                        break
                    total -= 3.0
            out[i] = total + x

    same(f, floats(n), ints(n), np.zeros(n, np.float32))


def test_mandelbrot():
    @ti.kernel
    def f(out: I2, w: ti.f32):
        for j, i in out:
            cx, cy = -2.0 + i * w, -1.2 + j * w
            x = y = ti.f32(0.0)
            k = 0
            while k < 50 and x * x + y * y < 4.0:
                x, y = x * x - y * y + cx, 2 * x * y + cy
                k += 1
            out[j, i] = k

    same(f, np.zeros((21, 37), np.int32), 0.08)


@pytest.mark.parametrize("n", LENGTHS)
def test_for_with_ends_that_differ(n):
    @ti.kernel
    def f(lo: I1, hi: I1, a: F1, out: F1):
        for i in lo:
            s = ti.f32(0.0)
            for k in range(lo[i], hi[i]):
                s += a[(k + 5) % a.shape[0]] * k
            for k in range(hi[i]):
                s -= 0.25 * k
            for k in range(3, 9):
                if k == hi[i]:
                    break
                s += k
            out[i] = s

    same(f, ints(n), ints(n, 2), floats(n, 3), np.zeros(n, np.float32))


@pytest.mark.parametrize("n", [1, 7, 40, 70])
def test_triangular_loops(n):
    @ti.kernel
    def f(a: F1, out: F1, m: F2):
        for i in range(a.shape[0]):
            s = ti.f32(0.0)
            for k in range(i):
                s += a[k] * 2.0
            for k in range(i + 1, a.shape[0]):
                s -= a[k]
            for k in range(i, a.shape[0]):
                s += m[i, k] + m[k, i]
            for k in range(a.shape[0] - i, a.shape[0]):
                s += a[k] * a[a.shape[0] - 1 - k]
            out[i] = s

    same(f, floats(n), np.zeros(n, np.float32), floats(n * n, 2).reshape(n, n))


def test_loops_in_loops():
    @ti.kernel
    def f(a: I1, out: I1, u: ti.i32):
        for i in a:
            total = 0
            for j in range(a[i]):
                if j == 7:
                    continue
                for k in range(j, u):
                    if (k + i) % 5 == 0:
                        continue
                    if k * j > 30:
                        break
                    total += k
                    for q in range(3):
                        if q > u:
                            break
                        total ^= q + i
                m = j
                while m > 0:
                    m -= 2
                    if total % 7 == 3:
                        break
                    total += m
                else_ = total % 11
                if else_ == 10:
                    break
                total += 1
            out[i] = total

    for n in (1, 9, 70):
        for u in (0, 2, 9):
            same(f, ints(n), np.zeros(n, np.int32), u)


def test_uniform_loops_and_jumps_among_lanes():
    @ti.kernel
    def f(a: F1, b: F1, n: ti.i32, u: ti.i32):
        for i in a:
            s = ti.f32(0.0)
            if a[i] > 0.0:
                for k in range(n):
                    if k == u:
                        continue
                    if k > 2 * u:
                        break
                    s += b[k] * a[i]
            else:
                k = 0
                while k < n:
                    k += 1
                    if k == u:
                        break
                    s -= b[k - 1]
            a[i] = s

    for n in (0, 5, 30):
        same(f, floats(67), floats(30, 2), n, 4)


def test_an_index_that_wraps_in_some_lanes():
    @ti.kernel
    def f(a: L1, b: F1, big: ti.i32):
        for i in b:
            total, x = ti.i64(0), b[i]
            for k in range(i + 2147483643, -2147483640):
                total += ti.i64(k)
                x = ti.sqrt(x * x + 1.0) * 0.5 + ti.sqrt(x * x + 2.0) * 0.25 - ti.sqrt(x * x + 3.0)
            for k in range(i + big, 2147483647):
                total += ti.i64(k) * 3
                x = ti.sqrt(x * x + 1.0) * 0.5 + ti.sqrt(x * x + 2.0) * 0.25 - ti.sqrt(x * x + 3.0)
                if x > 2.0 or (k & 31) == 20:
                    break
            a[i], b[i] = total, x

    for n in (8, 21, 70):
        same(f, np.zeros(n, np.int64), floats(n), 2147483603)


def test_indices_and_counts_near_the_ends_of_their_type():
    @ti.kernel
    def f(a: L1, b: B1):
        for i in a:
            c = ti.u8(i) * ti.u8(100)
            b[i] = c + ti.u8(200)
            a[i] = ti.i64(c) + ti.i64(ti.i32(i) * 100000000) + (ti.i64(i) << 33)

    same(f, np.zeros(90, np.int64), np.zeros(90, np.uint8))


# -- memory --


@pytest.mark.parametrize("n", LENGTHS)
def test_gather_and_scatter(n):
    @ti.kernel
    def f(a: F1, at: I1, out: F1, h: H1, b: B1):
        for i in a:
            j = at[i]
            x = a[j] * 2.0 + ti.f32(h[j]) + ti.f32(b[j])
            y = ti.sqrt(ti.abs(x)) + x * x - 0.5 * x
            if y > 1.0:
                out[j] = y
                h[j] = x
                b[j] = ti.u8(j) + ti.u8(3)

    at = np.random.default_rng(n).permutation(n).astype(np.int32)
    same(f, floats(n), at, np.zeros(n, np.float32), floats(n, 2, np.float16), ints(n, 3, 0, 250, np.uint8))


def test_indices_of_64_bits_that_grow_from_each_other():
    @ti.kernel
    def f(a: F1, at: L1, out: F1):
        for i in a:
            j = at[i]
            s = ti.f32(0.0)
            for _ in ti.static(range(40)):
                j = j + j
                s += a[j] * a[i] + ti.sqrt(ti.abs(a[i]))
            out[i] = s

    same(f, floats(64), np.zeros(64, np.int64), np.zeros(64, np.float32))


@pytest.mark.parametrize("n", LENGTHS)
def test_backwards(n):
    @ti.kernel
    def f(a: F1, b: F1, h: B1, c: I1):
        for i in a:
            k = a.shape[0] - 1 - i
            x = a[k] * 2.0 + a[i]
            if x > 0.0:
                b[k] = x
                c[k] += 3
            h[k] = h[k] * ti.u8(3)

    same(f, floats(n), np.zeros(n, np.float32), ints(n, 2, 0, 250, np.uint8), ints(n, 3))


def test_strides():
    @ti.kernel
    def f(a: F1, b: F2, out: F1):
        for i in out:
            x = a[3 * i + 1] * 2.0
            y = b[i, 2] - b[i, 0]
            if x > y:
                x = ti.sqrt(ti.abs(x * y)) + x
            b[i, 1] = x + y
            a[3 * i] = x - y
            out[i] = x * y

    for n in (1, 8, 50):
        same(f, floats(3 * n), floats(3 * n, 2).reshape(n, 3), np.zeros(n, np.float32))


def test_one_place_for_all():
    @ti.kernel
    def f(a: F1, b: F1, u: ti.i32):
        for i in a:
            s = a[i] * b[u]
            if a[i] > 0.0:
                s += b[u + 1]
            for k in range(4):
                s = s * 0.5 + b[k]
            a[i] = s

    same(f, floats(70), floats(9, 2), 3)


def test_a_place_only_some_lanes_may_read():
    @ti.kernel
    def f(a: F1, b: F1, at: I1, u: ti.i32):
        for i in a:
            s = ti.f32(0.0)
            if at[i] >= 0:
                s = b[at[i]] + b[u * at[i]]
            if u > 0 and a[i] > 0.0:
                s += b[(1 << 20) * (1 - u)]
            while a[i] > 1e9:
                s += b[1 << 30]
                break
            a[i] = s * 2.0 + 1.0

    at = ints(70, 2, -3, 9)
    at[at < 0] = -(1 << 29)
    same(f, floats(70), floats(9, 2), at, 1)


# -- locals --


@pytest.mark.parametrize("n", LENGTHS)
def test_truth_values(n):
    @ti.kernel
    def f(a: F1, m: U1, out: I1, u: ti.i32):
        for i in a:
            big, known = a[i] > 1.0, m[i]
            both = big and known
            if not known:
                both = a[i] < -1.0
            for k in range(out[i]):
                if k > u:
                    known = not known
                    big = big != both
            m[i] = known
            out[i] = ti.i32(big) + 2 * ti.i32(both) + 4 * ti.i32(known)

    same(f, floats(n), ints(n, 2, 0, 2, np.bool_), ints(n, 3), 3)


def test_locals_that_keep_values_between_turns():
    @ti.kernel
    def f(a: I1, out: I1):
        for i in a:
            last, count, step = -1, 0, ti.u8(250)
            for k in range(20):
                fresh = 0
                if (k * a[i]) % 3 == 1:
                    fresh = k
                    last = k
                step += ti.u8(fresh)
                if fresh > a[i]:
                    count += last
            out[i] = last * 10000 + count + ti.i32(step)

    for n in (1, 9, 70):
        same(f, ints(n), np.zeros(n, np.int32))


@pytest.mark.parametrize("n", [1, 8, 61])
def test_vectors_and_tiles(n):
    @ti.kernel
    def f(a: F1, at: I1, out: F1):
        for i in a:
            v = ti.Vector([a[i], 1.0, 2.0, 3.0])
            t = ti.Matrix.zero(ti.i32, 2, 3)
            seen = ti.Vector([False, True, False])
            for k in range(at[i]):
                v[k % 4] += k
                t[k % 2, k % 3] += at[i]
                if a[i] > 0.0:
                    v[(k + i) % 4] *= 0.5
                    seen[k % 3] = not seen[i % 3]
            w = v * 2.0 + 1.0
            out[i] = w[at[i] & 3] + w[0] + t[1, 2] + t[0, at[i] & 1] * 100.0 + ti.f32(seen[0]) + ti.f32(seen[at[i] & 1])

    same(f, floats(n), ints(n, 2, 0, 12), np.zeros(n, np.float32))


def test_a_large_local():
    @ti.kernel
    def f(a: F1, at: I1):
        for i in a:
            t = ti.Matrix.zero(ti.f32, 36, 36)
            for k in range(at[i]):
                t[k * 3 % 36, at[i]] += a[i] * k
            s = ti.f32(0.0)
            for k in range(36):
                s += t[k, at[i]] * 2.0 + ti.sqrt(s * s)
            a[i] = s

    same(f, floats(21), ints(21, 2, 0, 36))


# -- widths --


@pytest.mark.parametrize("n", LENGTHS)
def test_types_of_many_widths(n):
    @ti.kernel
    def f(b: B1, s: S1, h: H1, a: F1, d: D1, k: L1, i4: I1):
        for i in b:
            x = ti.f64(a[i]) * d[i] + ti.f64(h[i])
            j = k[i] * 3 + ti.i64(b[i]) - ti.i64(s[i])
            if x > 1.0:
                a[i] = ti.f32(x)
                h[i] = ti.f16(x * 0.5)
                k[i] = j >> 1
            elif j > 10:
                d[i] = ti.f64(j)
                s[i] = ti.i16(j * 5000)
                b[i] = ti.u8(j)
            else:
                i4[i] = ti.i32(x * 1e9)
                h[i] = h[i] * h[i] - ti.f16(0.5)

    same(f, ints(n, 1, 0, 255, np.uint8), ints(n, 2, -3000, 3000, np.int16), floats(n, 3, np.float16), floats(n, 4),
         floats(n, 5, np.float64), ints(n, 6, -99, 99, np.int64), ints(n, 7))


@pytest.mark.parametrize("name", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"])
def test_integers(name):
    dtype = getattr(ti, name)
    A = ti.types.ndarray(dtype=dtype, ndim=1)

    @ti.kernel
    def f(a: A, b: A, out: A):
        for i in a:
            x, y = a[i], b[i]
            r = x * y + (x ^ y)
            if x > y:
                r = r // y + x % y
            for k in range(3):
                r = (r << 3) ^ (r >> 2)
                if r % 5 == 1:
                    break
            r += x ** 3 + x ** dtype(y & 7)
            out[i] = ti.max(r, x) - ti.min(y, ti.abs(x))

    np_type = np.dtype(name.replace("i", "int").replace("u", "uint").replace("uintnt", "uint"))
    rng, info = np.random.default_rng(3), np.iinfo(np_type)
    for n in (5, 70):
        a, b = (rng.integers(info.min, info.max, n, np_type, endpoint=True) for _ in range(2))
        b[::3] = 0
        a[1], b[1] = info.min, np_type.type(-1 if info.min else info.max)
        same(f, a, b, np.zeros(n, np_type))


def test_functions_in_branches():
    @ti.kernel
    def f(a: F1, d: D1):
        for i in a:
            x = a[i]
            if x > 0.0:
                x = ti.sin(x) + ti.exp(-x) + ti.log(x) + x ** 2.5
            elif x < -3.0:
                x = ti.cos(x * 1e9) + ti.tan(x * 1e6)
            a[i] = x
            d[i] = ti.atan2(d[i], ti.f64(x)) + ti.floor(d[i]) % 0.75

    a = floats(70)
    a[:4] = np.inf, -np.inf, np.nan, -0.0
    same(f, a, floats(70, 2, np.float64))


# -- atomics and reductions --


def test_old_values_of_atomics_are_in_order():
    @ti.kernel
    def f(a: F1, count: I1, out: I1):
        for i in a:
            if a[i] * 2.0 + ti.sqrt(ti.abs(a[i])) > 1.0:
                k = ti.atomic_add(count[0], 1)
                out[k] = i

    for n in (1, 8, 70, 200):
        after = same(f, floats(n), np.zeros(1, np.int32), np.full(n, -1, np.int32), threads=(1,))
        found = after[2][: after[1][0]]
        assert (np.diff(found) > 0).all()


def test_atomics_of_all_kinds():
    @ti.kernel
    def f(a: I1, out: I1, k: L1, bins: I1, b: B1):
        for i in a:
            x = a[i]
            y = x * x * 3 + (x ^ 5) - x // 3
            bins[x & 7] += y
            if y > 4:
                ti.atomic_min(out[0], y)
                ti.atomic_max(out[1], y)
                out[2] ^= y
                out[3] |= x
                out[4] &= y
                out[5] += x
                k[0] += ti.i64(y) << 20
                ti.atomic_max(k[x & 3], ti.i64(x))
                ti.atomic_min(bins[8 + (i & 3)], y)

    n = 150
    same(f, ints(n), ints(6, 3), ints(4, 4, dtype=np.int64), np.zeros(12, np.int32), np.zeros(4, np.uint8))


def test_reductions_under_divergence():
    @ti.kernel
    def f(a: F1, b: I1, d: D1, sums: F1) -> ti.f32:
        s = ti.f32(0.0)
        for i in a:
            if a[i] > 0.0:
                s += a[i]
                if b[i] == 3:
                    continue
            else:
                for k in range(b[i]):
                    if k > 9:
                        break
                    sums[0] += a[i] * k
            ti.atomic_max(sums[1], a[i] * 2.0)
            d[0] += d[i + 1] * 0.1
        return s

    for n in LENGTHS:
        same(f, floats(n), ints(n), floats(n + 1, 2, np.float64), np.zeros(2, np.float32))


def test_reductions_over_rows():
    @ti.kernel
    def f(a: F2, b: I2) -> ti.f64:
        s = 0.0
        for i, j in a:
            if (i + j) % 3 != 1:
                s += ti.f64(a[i, j]) * b[i, j]
        return s

    for shape in ((1, 1), (3, 70), (70, 3), (9, 129)):
        n = shape[0] * shape[1]
        same(f, floats(n).reshape(shape), ints(n).reshape(shape))


# -- many loops --


def test_loops_after_each_other_and_captured_values():
    @ti.kernel
    def f(a: F1, b: F1, u: ti.i32):
        n = a.shape[0] * 2
        w = ti.Vector([1.0, 2.0, 3.0])
        for i in a:
            w2 = w * a[i]
            if i * 2 < n - u:
                a[i] = w2[0] + w2[u % 3] * w[(u + 1) % 3]
        m = n // 3
        for i in range(m):
            b[i] = a[i] * m + w[i % 3]
            for k in range(i, m):
                if a[k] > 1.0:
                    b[i] -= w[2]
                    break

    for n in (3, 30, 71):
        same(f, floats(n), np.zeros(n, np.float32), 2)


# -- neighbouring components of rows that lanes find by themselves --


@pytest.mark.parametrize("dtype", [ti.f32, ti.f64], ids=str)
def test_components_of_rows_under_masks(dtype):
    """Inside and beyond the memory that inactive lanes use, at the end of the array, and in tails."""
    number = np.float32 if dtype is ti.f32 else np.float64

    @ti.kernel
    def f(p: ti.types.ndarray(dtype, 2), row: I1, out: ti.types.ndarray(dtype, 2)):
        for i in row:
            r = row[i]
            if r >= 0:
                x, y, z = p[r, 0] + p[r, 1], p[r, 15] - p[r, 16], p[r, 7] * p[r, 23]
                for _ in range(12):
                    x, y, z = ti.sqrt(y * y + z * z + x), ti.sin(x) * z, ti.exp(-ti.abs(x + y))
                out[r, 0] = x
                out[r, 1] = y
                out[r, 17] = z

    for n in LENGTHS[:8]:
        p = abs(floats(24 * n, n)).reshape(n, 24).astype(number)
        row = np.random.default_rng(n).permutation(n).astype(np.int32)
        row[: n // 3] -= n  # and so most of them below 0
        args = p, row, np.zeros((n, 24), number)
        assert "loop: lanes" in str(f.explain(*args)) or "+avx2" not in _pestle._doctor()["features"]
        same(f, *args)
