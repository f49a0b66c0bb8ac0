# SPDX-License-Identifier: Apache-2.0
"""Vectors and matrices in kernels: every operation on every type, element by element against the same on numbers; linear
algebra against numpy; elements, slices and swizzles; what an assignment copies."""

import math

import numpy as np
import pytest

import pestle as ti
from language import printed, run

NUMPY = {"i": "int", "u": "uint", "f": "float"}
DTYPES = [ti.i8, ti.i16, ti.i32, ti.i64, ti.u8, ti.u16, ti.u32, ti.u64, ti.f16, ti.f32, ti.f64]
A1 = ti.types.ndarray(ndim=1)
A2 = ti.types.ndarray(ndim=2)
A3 = ti.types.ndarray(ndim=3)
vec2 = ti.types.vector(2, ti.f32)


def numbers(dtype, *shape, seed=0, low=-20, high=20):
    random = np.random.default_rng(seed)
    kind = np.dtype(NUMPY[dtype.name[0]] + dtype.name[1:])
    if kind.kind == "f":
        return random.uniform(low, high, shape).astype(kind)
    return random.integers(max(low, 0) if kind.kind == "u" else low, high, shape).astype(kind)


# -- operators and functions, as on numbers --


@ti.func
def arithmetic(a, b):
    return a + b * 2 - b


@ti.func
def divide(a, b):
    return a / b


@ti.func
def floor_divide(a, b):
    return a // (b * 2 + 1) + a % (b * 2 + 1)


@ti.func
def power(a, b):
    return ti.max((a / 8) ** 3, abs(b) ** 0.5)


@ti.func
def extremes(a, b):
    return ti.min(a, b, 3) - ti.max(a, b, 5)


@ti.func
def choose(a, b):
    return ti.select(a < b, a, b * 2) + ti.select(a == b, 1, 0)


@ti.func
def logic(a, b):
    return (a < b) & (b != 3) | ~(a >= 1)


@ti.func
def conditions(a, b):
    return (a < b) and (b > 0) or not (a > 0)


@ti.func
def functions(a, b):
    return ti.sin(a) + ti.exp(b / 8) + ti.sqrt(abs(a)) + ti.atan2(a, b) + ti.copysign(a, b) + ti.cast(b, ti.f32)


@ti.func
def rounding(a, b):
    return ti.floor(a * 0.75) + ti.round(b * 0.3) + ti.ceil(a * 0.5) * ti.trunc(b * 0.5)


@ti.func
def convert(a, b):
    return ti.i64(a) + ti.cast(b, ti.i32)


@ti.func
def bits(a, b):
    return (a ^ b) | (a << 1) | (b >> 1) | (a & b)


@ti.func
def negate(a, b):
    return -a + +b


BOTH = [arithmetic, divide, floor_divide, power, extremes, choose, logic, conditions, functions, rounding, convert,
        negate]  # fmt: skip


@ti.kernel
def on_vectors(op: ti.template(), x: A2, y: A2, out: A2, single: A2):
    for i in range(x.shape[0]):
        a = ti.Vector([x[i, 0], x[i, 1], x[i, 2]])
        b = ti.Vector([y[i, 0], y[i, 1], y[i, 2]])
        r = op(a, b)
        s = op(a, y[i, 0])
        t = op(x[i, 0], b)
        for k in ti.static(range(3)):
            out[i, k], out[i, 3 + k], out[i, 6 + k] = r[k], s[k], t[k]
            single[i, k] = op(x[i, k], y[i, k])
            single[i, 3 + k] = op(x[i, k], y[i, 0])
            single[i, 6 + k] = op(x[i, 0], y[i, k])


@pytest.mark.parametrize("op", BOTH, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
@pytest.mark.filterwarnings("ignore:.*may lose precision")
def test_as_on_numbers(op, dtype):
    other = DTYPES[(DTYPES.index(dtype) * 5 + 3) % len(DTYPES)]
    for right in {dtype, other}:
        x, y = numbers(dtype, 8, 3), numbers(right, 8, 3, seed=1)
        out, single = np.zeros((8, 9)), np.zeros((8, 9))
        run(on_vectors, op, x, y, out, single)
        np.testing.assert_array_equal(out, single)


@pytest.mark.parametrize("dtype", DTYPES[:8], ids=lambda d: d.name)
@pytest.mark.filterwarnings("ignore:.*may lose precision")
def test_bits(dtype):
    x, y = numbers(dtype, 8, 3), numbers(dtype, 8, 3, seed=1)
    out, single = np.zeros((8, 9)), np.zeros((8, 9))
    run(on_vectors, bits, x, y, out, single)
    np.testing.assert_array_equal(out, single)


# -- linear algebra --


@ti.kernel
def products(x: A2, y: A2, out: A1):
    for _ in range(1):
        a = ti.Matrix([[x[i, j] for j in range(4)] for i in range(3)])
        b = ti.Matrix([[y[i, j] for j in range(2)] for i in range(4)])
        c = a @ b
        d = b.transpose() @ a.transpose()
        v = a @ ti.Vector([y[i, 0] for i in range(4)])
        w = ti.Vector([x[0, i] for i in range(3)]) @ a
        o = v.outer_product(w)
        for i in ti.static(range(3)):
            for j in ti.static(range(2)):
                out[i * 2 + j] = c[i, j]
                out[6 + i * 2 + j] = d[j, i]
            out[12 + i] = v[i]
        for i in ti.static(range(4)):
            out[15 + i] = w[i]
            for j in ti.static(range(3)):
                out[19 + j * 4 + i] = o[j, i]
        out[31] = v.dot(v)
        out[32] = v @ v
        out[33], out[34], out[35] = v.norm(), v.norm_sqr(), v.norm_inv()
        out[36], out[37], out[38] = c.sum(), c.max(), c.min()
        u = v.normalized()
        out[39], out[40], out[41] = u.x, u.y, u.z
        e = v.cross(u * 2 + 1)
        out[42], out[43], out[44] = e.x, e.y, e.z
        out[45] = v.xy.cross(v.yz)
        out[46] = (a @ a.transpose()).trace()


@pytest.mark.parametrize("dtype", [ti.f32, ti.f64], ids=lambda d: d.name)
@pytest.mark.filterwarnings("ignore:.*may lose precision")
def test_linear_algebra(dtype):
    ti.init(default_fp=dtype)
    x, y = numbers(dtype, 3, 4, low=-2, high=2), numbers(dtype, 4, 2, seed=1, low=-2, high=2)
    out = np.zeros(47)
    products(x, y, out)
    a, b = x.astype(np.float64), y.astype(np.float64)
    c, v = a @ b, a @ b[:, 0]
    w = a[0, :3] @ a
    u = v / np.linalg.norm(v)
    want = [*c.ravel(), *c.ravel(), *v, *w, *np.outer(v, w).ravel(), v @ v, v @ v, np.linalg.norm(v), v @ v]
    want += [1 / np.linalg.norm(v), c.sum(), c.max(), c.min(), *u, *np.cross(v, u * 2 + 1)]
    want += [v[0] * v[2] - v[1] * v[1], np.trace(a @ a.T)]
    np.testing.assert_allclose(out, want, rtol=1e-4 if dtype is ti.f32 else 1e-12, atol=1e-5)
    ti.reset()


def test_product_is_in_ascending_order():
    """One product, then one rounding for each further one: the bits are part of the language."""

    @ti.kernel
    def f(x: ti.types.ndarray(ti.f32, 2), out: ti.types.ndarray(ti.f32, 1)):
        for _ in range(1):
            out[0] = ti.Vector([x[0, i] for i in range(4)]) @ ti.Vector([x[1, i] for i in range(4)])

    x, out = numbers(ti.f32, 2, 4), np.zeros(1, np.float32)
    run(f, x, out)
    total = np.float32(x[0, 0] * x[1, 0])
    for k in range(1, 4):  # exact in f64, rounded once: what an fma gives
        total = np.float32(np.float64(x[0, k]) * np.float64(x[1, k]) + np.float64(total))
    assert abs(out[0] - total) <= np.spacing(abs(total))


def test_large():
    """Beyond 16 elements a matrix is memory and loops."""

    @ti.kernel
    def f(x: A2, y: A2, out: A2):
        for _ in range(1):
            a = ti.Matrix.zero(ti.f64, 9, 9)
            b = ti.Matrix.zero(ti.f64, 9, 9)
            for i, j in ti.ndrange(9, 9):
                a[i, j] = x[i, j]
                b[i, j] = y[i, j]
            c = a @ b + a * 2 - b.transpose()
            c[3, :] = c[4, :]
            for i, j in ti.ndrange(9, 9):
                out[i, j] = c[i, j]

    x, y, out = numbers(ti.f64, 9, 9), numbers(ti.f64, 9, 9, seed=1), np.zeros((9, 9))
    run(f, x, y, out)
    want = x @ y + x * 2 - y.T
    want[3] = want[4]
    np.testing.assert_allclose(out, want, rtol=1e-12)


# -- elements --


def test_elements():
    @ti.kernel
    def f(n: ti.i32, out: A2):
        for i in range(3):
            v = ti.Vector([1, 2, 3])
            v[i] += 10
            v[n] = v[i] * 2
            m = ti.Matrix([[1, 2, 3], [4, 5, 6]])
            m[n, i] -= 100
            m[0, 2 - i] = v.z
            for k in range(3):
                out[i, k] = v[k]
                out[i, 3 + k] = m[0, k]
                out[i, 6 + k] = m[1, k]
            row = m[1]
            out[i, 9] = row.sum()
            out[i, 10] = m[:, i].sum()

    out = np.zeros((3, 11), np.int32)
    run(f, 1, out)
    want = np.zeros((3, 11), np.int32)
    for i in range(3):
        v, m = np.array([1, 2, 3]), np.array([[1, 2, 3], [4, 5, 6]])
        v[i] += 10
        v[1] = v[i] * 2
        m[1, i] -= 100
        m[0, 2 - i] = v[2]
        want[i] = [*v, *m.ravel(), m[1].sum(), m[:, i].sum()]
    np.testing.assert_array_equal(out, want)


def test_slices_and_swizzles():
    @ti.kernel
    def f(out: A1):
        for _ in range(1):
            v = ti.Vector([1, 2, 3, 4])
            v.xy = v.yx
            v.zw += 10
            v.rgb *= 2
            w = v.wzyx
            a = v[1:3]
            b = v[::-1]
            v[0:2] = [7, 8]
            m = ti.Matrix([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
            m[0, :] = m[2, :]
            m[1:3, 0:2] *= 10
            n = m[0:2, 1:3]
            for k in ti.static(range(4)):
                out[k], out[4 + k], out[8 + k] = v[k], w[k], b[k]
            out[12], out[13] = a.x, a.y
            for i, j in ti.static(ti.ndrange(3, 3)):
                out[14 + i * 3 + j] = m[i, j]
            for i, j in ti.static(ti.ndrange(2, 2)):
                out[23 + i * 2 + j] = n[i, j]
            out[27] = v.q
            s = ti.Vector([0, 0, 0])
            s.x, s.y = v.xy
            out[28] = s.x * 100 + s.y

    out = np.zeros(29, np.int32)
    run(f, out)
    v = np.array([4, 2, 26, 14])
    m = np.array([[7, 8, 9], [40, 50, 6], [70, 80, 9]])
    want = [7, 8, 26, 14, *v[::-1], *v[::-1], 2, 26, *m.ravel(), *m[0:2, 1:3].ravel(), 14, 708]
    np.testing.assert_array_equal(out, want)


def test_assignment_copies():
    @ti.func
    def change(v):
        v[0] = 100
        return v

    @ti.func
    def change_reference(v: ti.template()):
        v[0] = 200

    @ti.kernel
    def f(out: A1):
        for _ in range(1):
            a = ti.Vector([1, 2])
            b = a
            b[0] = 5
            c = change(a)
            out[0], out[1], out[2] = a[0], b[0], c[0]
            change_reference(b)
            out[3] = b[0]
            a, b = b, a
            out[4], out[5] = a[0], b[0]
            d = [a, b]
            out[6] = d[1][0] + d[0].x

    out = np.zeros(7, np.int32)
    run(f, out)
    np.testing.assert_array_equal(out, [1, 5, 100, 200, 200, 1, 201])


def test_scope_of_a_vector():
    @ti.kernel
    def f(n: ti.i32) -> ti.f32:
        v = ti.Vector([0.0, 0.0])
        i = 0
        while i < n:
            w = v + 1
            if i % 2 == 0:
                v = w * 2
            else:
                v.y = w.x if w.x > 5 else -1.0
            i += 1
        return v.x * 1000 + v.y

    assert run(f, 5) == 14.0 * 1000 + 16.0


def test_atomics():
    @ti.kernel
    def f(n: ti.i32, out: A1):
        total = ti.Vector([0, 0, 0])
        most = ti.Vector([-1, -1])
        for i in range(n):
            total += ti.Vector([1, i, i * i])
            total.x -= 2
            ti.atomic_max(most, ti.Vector([i, -i]))
        for k in range(3):
            out[k] = total[k]
        out[3], out[4] = most.x, most.y

    out = np.zeros(5, np.int64)
    run(f, 1000, out)
    np.testing.assert_array_equal(out, [-1000, 499500, 332833500, 999, 0])


def test_in_and_iteration():
    @ti.kernel
    def f(n: ti.i32, out: A1):
        for _ in range(1):
            v = ti.Vector([2, 3, 5])
            out[0] = n in v
            out[1] = 4 in v
            total = 0
            for x in ti.static(v):
                total = total * 10 + x
            out[2] = total
            out[3] = len(v) * 100 + v.n * 10 + v.m
            a, b, c = v
            out[4] = a + b + c
            out[5] = max(v) - min(v)
            m = ti.Matrix([[1, 2], [3, 4], [5, 6]])
            out[6] = len(m) * 100 + m.n * 10 + m.m
            out[7] = sum([row.x for row in m])
            out[8] = ti.static(m.get_shape()[0])
            out[9] = v.any() + v.all() + (v > 2).all() * 10 + (v > 2).any() * 100

    out = np.zeros(10, np.int32)
    run(f, 3, out)
    np.testing.assert_array_equal(out, [1, 0, 235, 331, 10, 3, 332, 9, 3, 102])


def test_loop_over_elements():
    @ti.kernel
    def f(n: ti.i32, out: A1):
        v = ti.Vector([n, 3, 5, 7])
        total = 0
        for x in v:
            if x == 5:
                break
            total = total * 10 + x
            v[1] = 100
        out[0] = total
        for _ in range(1):
            for row in ti.Matrix([[1, 2], [3, n]]):
                out[1] = out[1] * 100 + row.x * 10 + row.y
        out[2] = ti.Matrix.diag(9, n).sum() + ti.Matrix.diag(3, n).trace() * 100 + ti.Matrix.diag(6, n).trace() * 10000

    out = np.zeros(3, np.int32)
    run(f, 2, out)
    np.testing.assert_array_equal(out, [23, 12 * 100 + 32, 18 + 600 + 120000])


def test_makers():
    @ti.kernel
    def f(x: ti.f32, out: A2):
        for _ in range(1):
            rows = ti.Matrix.rows([ti.Vector([x, 2]), ti.Vector([3, 4])])
            cols = ti.Matrix.cols([ti.Vector([x, 2]), ti.Vector([3, 4])])
            diagonal = ti.Matrix.diag(2, x)
            unit = ti.Matrix.identity(ti.f32, 2)
            zero = ti.Vector.zero(ti.f32, 2)
            one = ti.Vector.one(ti.i32, 2)
            e = ti.Vector.unit(2, 1)
            typed = ti.Vector([1.75, x], dt=ti.i32)
            vec = ti.types.vector(4, ti.f32)
            a, b = vec(1.5), vec(one, e)
            mat = ti.types.matrix(2, 2, ti.i32)
            c, d = mat(x), mat([1, 2], [3, 4])
            zero.fill(9)
            for i, j in ti.static(ti.ndrange(2, 2)):
                k = i * 2 + j
                out[0, k], out[1, k], out[2, k], out[3, k] = rows[i, j], cols[i, j], diagonal[i, j], unit[i, j]
                out[4, k], out[5, k], out[6, k], out[7, k] = a[k], b[k], c[i, j], d[i, j]
            for i in ti.static(range(2)):
                out[8, i], out[8, 2 + i], out[9, i], out[9, 2 + i] = zero[i], one[i], e[i], typed[i]

    out = np.zeros((10, 4))
    run(f, 7.5, out)
    want = [[7.5, 2, 3, 4], [7.5, 3, 2, 4], [7.5, 0, 0, 7.5], [1, 0, 0, 1], [1.5] * 4, [1, 1, 0, 1], [7] * 4]
    want += [[1, 2, 3, 4], [9, 9, 1, 1], [0, 1, 1, 7]]
    np.testing.assert_array_equal(out, want)


G, H = ti.Vector([1.5, 2.5]), ti.Matrix([[1, 2], [3, 4]], dt=ti.i64)


def test_from_outside():
    @ti.kernel
    def f(i: ti.i32, x: ti.f64) -> ti.f64:
        v = G * x + G.yx
        v[i] += G[i]
        return v.dot(G) + (H @ H).sum() + G.norm_sqr() + ti.static(G.n)

    g, h = np.array([1.5, 2.5]), np.array([[1, 2], [3, 4]])
    v = g * 0.1 + g[::-1]
    v[1] += g[1]
    assert abs(run(f, 1, 0.1) - (v @ g + (h @ h).sum() + g @ g + 2)) < 1e-12


def test_grouped_index():
    @ti.kernel
    def f(x: A2):
        for I in ti.grouped(x):
            J = (I + [1, 2]) % ti.Vector([3, 4])
            x[J] = I.x * 10 + I[1]

    x = np.zeros((3, 4), np.int32)
    run(f, x)
    want = np.zeros((3, 4), np.int32)
    for i, j in np.ndindex(3, 4):
        want[(i + 1) % 3, (j + 2) % 4] = i * 10 + j
    np.testing.assert_array_equal(x, want)


def test_print():
    @ti.kernel
    def f(x: ti.i32):
        v = ti.Vector([x, 2])
        m = ti.Matrix([[1.5, 2.5], [3.5, 4.5]])
        print(v, m[0, 0], v + 1)
        print(f"{v} {m:.2f}")

    assert printed(f, 1) == "[1, 2] 1.5 [2, 3]\n[1, 2] [[1.50, 2.50], [3.50, 4.50]]\n"


# -- funcs --


def test_called_funcs():
    vec3 = ti.types.vector(3, ti.f32)

    @ti.func
    def reflect(v: vec3, n: vec3) -> vec3:
        d = v.dot(n)
        for _ in range(1):
            d *= 2
        return v - d * n

    @ti.func
    def widen(v, flag):
        if flag > 0:
            return v
        return v * 0.5

    @ti.kernel
    def f(flag: ti.i32, out: A1):
        for i in range(1):
            a = reflect(ti.Vector([1, -1, 0]), ti.Vector([0, 1, 0]))
            b = reflect(a * 2, a)
            c = widen(ti.Vector([3, 5]), flag)
            for k in ti.static(range(3)):
                out[k], out[3 + k] = a[k], b[k]
            out[6], out[7] = c.x, c.y

    out = np.zeros(8)
    run(f, 0, out)
    np.testing.assert_array_equal(out, [1, 1, 0, -6, -6, 0, 1.5, 2.5])
    run(f, 1, out)
    np.testing.assert_array_equal(out[6:], [3, 5])


# -- on the host --


def test_host_values():
    v, m = ti.Vector([1.0, 2.0, 3.0]), ti.Matrix([[1, 2], [3, 4]])
    assert repr(v) == "Vector([1.0, 2.0, 3.0])" and str(m) == "[[1, 2], [3, 4]]"
    assert (v + 1).to_list() == [2, 3, 4] and (2 * v).to_list() == [2, 4, 6] and (v / 2).x == 0.5
    assert (m @ m).to_list() == [[7, 10], [15, 22]] and (m @ [1, 2]).to_list() == [5, 11] and v @ v == 14
    assert (v == [1, 5, 3]).to_list() == [True, False, True] and (v < 2).any() and not (v < 2).all()
    assert v.dot(v) == 14 and v.norm_sqr() == 14 and v.norm() == 14**0.5 and v.cross([0, 1, 0]).to_list() == [-3, 0, 1]
    assert ti.Vector([1, 2]).cross([3, 5]) == -1 and v.outer_product([1, 2]).shape == (3, 2)
    assert abs(m.determinant() + 2) < 1e-12 and np.allclose((m.inverse() @ m).to_numpy(), np.eye(2))
    assert m.trace() == 5 and m.transpose().to_list() == [[1, 3], [2, 4]] and m[0].to_list() == [1, 2]
    v.xy = v.yx
    v[2] = 9
    m[:, 1] = [7, 8]
    assert list(v) == [2, 1, 9] and m[1, 1] == 8 and m[-1, 0] == 3 and v.zx.to_list() == [9, 2]
    assert len(v) == 3 and v.n == 3 and m.m == 2 and m.shape == (2, 2) and 9 in list(v)
    assert np.array_equal(np.array(m), [[1, 7], [3, 8]]) and ti.Vector(np.arange(3)).to_list() == [0, 1, 2]
    i = ti.Vector([1, 2], dt=ti.i8)
    i += 127
    assert i.to_list() == [-128, -127] and (i * 1.5).dtype is ti.f32 and i.cast(ti.u8).to_list() == [128, 129]
    assert ti.types.vector(3, ti.f32) == ti.types.vector(3, ti.f32) != ti.types.vector(2, ti.f32)
    assert ti.types.matrix(2, 2, float)([1, 2], [3, 4])[1, 0] == 3 and repr(ti.types.vector(2, int)) == "types.vector(2, int)"


def test_host_refusals():
    for make, kind in [
        (lambda: ti.Vector([]), ValueError), (lambda: ti.Matrix([[1, 2], [3]]), ValueError),
        (lambda: ti.Vector([[1, 2]]), TypeError), (lambda: ti.Vector("ab"), TypeError),
        (lambda: ti.Vector([1, None]), TypeError), (lambda: ti.Vector([1, 2]) + [1, 2, 3], TypeError),
        (lambda: ti.Vector([1, 2])[2], IndexError), (lambda: ti.Vector([1, 2]).z, AttributeError),
        (lambda: ti.Matrix([[1, 2]]).inverse(), TypeError), (lambda: bool(ti.Vector([1])), TypeError), (lambda: bool(ti.Vector([1]) < 2), TypeError),
        (lambda: ti.types.vector(0, ti.f32), ValueError), (lambda: ti.types.vector(2, "x"), TypeError),
        (lambda: ti.types.vector(3, ti.f32)(1, 2), TypeError), (lambda: hash(ti.Vector([1])), TypeError),
        (lambda: ti.Vector([1.5]) << 1, TypeError), (lambda: ti.Vector([1], dt=3), TypeError),
    ]:  # fmt: skip
        with pytest.raises(kind):
            make()


def test_builtins_on_host_vectors():
    v, w = ti.Vector([0.25, 4.0]), ti.Vector([2, 3])
    assert ti.sqrt(v).to_list() == [0.5, 2.0] and ti.max(v, w, 1).to_list() == [2.0, 4.0]
    assert ti.min(1, w).to_list() == [1, 1] and ti.pow(w, 2).to_list() == [4, 9]
    assert ti.logical_not(ti.Vector([0, 3])).to_list() == [1, 0] and ti.bit_not(w).to_list() == [-3, -4]
    assert ti.floor(v, ti.i32).to_list() == [0, 4] and ti.abs(-w).to_list() == [2, 3]
    assert ti.atan2(w, v).to_list() == [math.atan2(2, 0.25), math.atan2(3, 4.0)]
    single = ti.exp(ti.Vector([1, 2], dt=ti.f32))
    assert single.to_numpy().dtype == np.float32 and ti.sqrt(ti.Vector([4, 9], dt=ti.i32)).to_list() == [2.0, 3.0]
    assert ti.exp(ti.Matrix([[0.0, 0.0]])).to_list() == [[1.0, 1.0]]
    with pytest.raises(TypeError, match="popcnt expects integers"):
        ti.popcnt(v)
    with pytest.raises(TypeError, match="shapes differ"):
        ti.max(v, ti.Vector([1, 2, 3]))
    with pytest.raises(TypeError):
        ti.max(v, "text")


def test_integers_beyond_a_narrow_type():
    @ti.kernel
    def f(x: ti.types.ndarray(ti.i16, 1)):
        x[0] = 65537  # an i32, converted

    x = np.zeros(1, np.int16)
    with pytest.warns(UserWarning, match="Assign may lose precision: i16 <- i32"):
        f(x)
    assert x[0] == 1


def test_questions_and_zeros_keep_the_shape():
    @ti.kernel
    def f(c: ti.f32, i: ti.i32) -> tuple[ti.types.matrix(2, 2, ti.i32), ti.types.matrix(2, 2, ti.i32), vec2, vec2, vec2, vec2]:
        m = ti.Matrix([[c, -1 / c], [c / c, 2]], ti.f32)
        n = ti.Vector([i, 3])
        return ti.isinf(m), ti.isnan(m), ti.isinf(n), ti.isnan(n), ti.zero(n), ti.one(m)[0, :]

    got = run(f, 0.0, 2)
    assert [x.to_list() for x in got[:2]] == [[[0, 1], [0, 0]], [[0, 0], [1, 0]]]
    assert [x.to_list() for x in got[2:]] == [[0, 0], [0, 0], [0, 0], [1, 1]]


def test_python_functions_of_vectors_known_now():
    @ti.kernel
    def f() -> tuple[vec2, vec2, vec2, vec2, ti.f32, vec2]:
        a, b = ti.Vector([1.5, -2.5]), ti.Vector([3.5, -6.5])
        known = max(ti.Vector([1.5, -2.5]), ti.Vector([3.5, -6.5])), min(ti.Vector([1.5, -2.5]), 1)
        return known[0] - max(a, b), known[1], abs(ti.Vector([-1, 2])), round(ti.Vector([1.5, -2.5])), max(ti.Vector([1, 3])), np.floor(ti.Vector([0.5, -0.5]))

    got = f()
    assert [x.to_list() for x in got[:4]] == [[0, 0], [1, -2.5], [1, 2], [2, -2]] and got[4] == 3 and got[5].to_list() == [0, -1]


def test_host_equality():
    """`if a == b` asks whether they are equal, `if a != b` whether they are not."""
    a, b = ti.Vector([1, 2]), ti.Vector([1, 3])
    assert a == [1, 2] and not a == b and a != b and not a != [1, 2]
    assert list(ti.Matrix([[1, 2], [3, 4]])) == [[1, 2], [3, 4]] and [a] != [b]
    assert all(ti.Matrix([[1, 2], [3, 4]]) == ti.Matrix([[1, 2], [3, 4]]))
    assert ti.Vector([1.5, 2], dt=ti.f32).entries.dtype == np.float32


def test_host_builtins():
    v, f = ti.Vector([4, 9]), ti.Vector([0.25, 4], dt=ti.f32)
    assert ti.sqrt(v) == [2, 3] and ti.sqrt(f).dtype is ti.f32 and ti.sqrt(f) == [0.5, 2]
    assert ti.max(5, v) == [5, 9] and ti.atan2(ti.Vector([0.0]), 1).to_list() == [0]
    assert ti.select(ti.Vector([1, 0]), v, 7) == [4, 7] and ti.cast(ti.Vector([1.5]), ti.i32) == [1]
    assert ti.floor(ti.Matrix([[1.5, -1.5]])) == [[1, -2]] and ti.isnan(ti.Vector([float("nan"), 1.0])) == [True, False]
    with pytest.raises(TypeError, match="the shapes differ"):
        ti.max(v, [1, 2, 3])


def test_any_all():
    @ti.kernel
    def f(v: ti.types.vector(3, ti.f32), m: ti.types.matrix(2, 2, ti.i32), x: ti.i32, out: ti.types.ndarray(ti.i32, 1)):
        out[0], out[1] = any(v > 2), all(v > 2)
        out[2], out[3] = any(m), all(m)
        out[4], out[5] = any([x > 1, x > 3]), all((x > 1, x > 3))
        out[6] = all(v == (1, 2, 3))

    for x in (0, 2, 4):
        out = np.zeros(7, np.int32)
        run(f, [1, 2, 3], [[0, 1], [0, 0]], x, out)
        assert out.tolist() == [1, 0, 1, 0, x > 1, x > 3, 1]


def test_lists_beside_matrices():
    shared = ti.Matrix.field(2, 2, ti.i32, shape=1)

    @ti.kernel
    def f() -> ti.types.matrix(2, 2, ti.i32):
        m = ti.Matrix([[1, 2], [3, 4]])
        m += [[10, 20], [30, 40]]
        m //= ((1, 2), (3, 4))
        shared[0] += [[1, 2], [3, 4]]
        return m + ti.Matrix.diag(dim=2, val=100)

    assert f().to_list() == [[111, 11], [11, 111]] and shared[0].to_list() == [[1, 2], [3, 4]]


def test_operators_of_python_on_both_kinds():
    import operator

    m = ti.Vector([1, 2])

    @ti.kernel
    def f(v: ti.types.vector(2, ti.i32)) -> ti.types.vector(2, ti.i32):
        return operator.add(m, v) * operator.sub(v, m)

    assert f([5, 7]).to_list() == [24, 45]


def test_evaluator_as_compiled():
    """It cuts a sum into the same leaves, whose size follows from what the tiles cost, and finds divisions by zero in them."""
    M = ti.types.ndarray(ti.types.matrix(3, 3, ti.f32), 1)

    @ti.kernel
    def total(a: M) -> ti.f32:
        t = 0.0
        for i in a:
            t += (a[i] @ a[i] * a[i].inverse() @ a[i].transpose()).sum()
        return t

    a = np.random.default_rng(1).standard_normal((20000, 3, 3)).astype(np.float32)
    assert total(a) == total._evaluate(a)

    @ti.kernel
    def divide(i: ti.i32) -> ti.i32:
        return (ti.Vector([7, 8]) // ti.Vector([1, i])).sum()

    ti.init(checked=True)
    try:
        for call in (divide, divide._evaluate):
            assert call(2) == 11
            with pytest.raises(ti.KernelAssertionError, match="integer division by zero: the dividend is 8"):
                call(0)
    finally:
        ti.init()
