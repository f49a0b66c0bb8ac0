"""Statements: variables and scopes, if, while, for, break, continue, conditions."""

import numpy as np
import pytest

import pestle as ti
from language import run

F1 = ti.types.ndarray(dtype=ti.f32, ndim=1)
F2 = ti.types.ndarray(dtype=ti.f32, ndim=2)
I1 = ti.types.ndarray(dtype=ti.i32, ndim=1)
I2 = ti.types.ndarray(dtype=ti.i32, ndim=2)
L1 = ti.types.ndarray(dtype=ti.i64, ndim=1)


def test_a_variable_keeps_its_first_type():
    @ti.kernel
    def f(x: ti.f32) -> ti.i32:
        a = 1
        a = x
        b = 0.5
        b = a
        ti.static_assert(a.dtype is ti.i32)
        ti.static_assert(b.dtype is ti.f32)
        return a

    with pytest.warns(UserWarning, match="may lose precision: i32 <- f32"):
        assert run(f, 2.75) == 2


def test_one_warning_a_line():
    @ti.kernel
    def f(x: ti.f32, out: I1):
        for i in ti.static(range(4)):
            out[i] = x

    with pytest.warns(UserWarning) as caught:
        f._ir(1.0, np.zeros(4, np.int32))
    assert len(caught) == 1 and caught[0].filename == __file__


def test_tuples_swap():
    @ti.kernel
    def f(x: I1) -> ti.i32:
        a, b = 1, 2
        a, b = b, a
        x[0], x[1] = x[1], x[0]
        (c, d), e = (a, b), 5
        p = q = a
        p += 1
        return a * 10000 + b * 1000 + c * 100 + d * 10 + e + p + q

    x = np.array([7, 8], np.int32)
    assert run(f, x) == 21000 + 210 + 5 + 3 + 2
    assert x.tolist() == [8, 7]


def test_augmented_assignment_converts_the_value_first():
    @ti.kernel
    def f(x: ti.f32) -> ti.i32:
        a = -1
        a += x
        b = 7
        b /= 2
        c = 5
        c **= 2
        c <<= 1
        c %= 7
        return a * 100 + b * 10 + c

    with pytest.warns(UserWarning):
        assert run(f, 0.5) == -100 + 30 + 1


def test_scopes_end_with_their_block():
    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        r = 0
        for i in range(n):
            t = i * 2
            r += t
        for i in range(n):
            t = 0.5
            r += int(t * 4)
        i = 10
        return r + i

    assert run(f, 4) == 12 + 8 + 10


def test_locals_are_fresh_in_each_iteration():
    @ti.kernel
    def f(x: I1):
        for i in x:
            a = 0
            for j in range(i):
                b = 1
                b += j
                a += b
            x[i] = a

    x = np.zeros(6, np.int32)
    run(f, x)
    assert x.tolist() == [i * (i + 1) // 2 for i in range(6)]


def test_while_break_continue():
    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        r = 0
        i = 0
        while True:
            i += 1
            if i > n: break
            if i % 3 == 0: continue
            r += i
        while r > 100: r -= 7
        return r

    assert run(f, 10) == 37


def test_break_leaves_a_nest():
    @ti.kernel
    def f(out: I1):
        for k in out:
            for i, j in ti.ndrange(3, 4):
                if i == 1 and j == 2: break
                out[k] += 1
            for i in range(5):
                for j in range(3):
                    if j == i: break
                    out[k] += 100

    out = np.zeros(2, np.int32)
    run(f, out)
    assert out.tolist() == [6 + 900] * 2


def test_serialize():
    @ti.kernel
    def f(x: I1):
        ti.loop_config(serialize=True)
        for i in x:
            if i == 3: break
            x[i] = i + 1
        for i in range(2): x[i] += 10

    x = np.zeros(6, np.int32)
    run(f, x)
    assert x.tolist() == [11, 12, 3, 0, 0, 0]


def test_continue_in_a_parallel_loop():
    @ti.kernel
    def f(x: I1):
        for i in x:
            if i % 2: continue
            x[i] = i

    x = np.zeros(7, np.int32)
    run(f, x)
    assert x.tolist() == [0, 0, 2, 0, 4, 0, 6]


def test_domains():
    @ti.kernel
    def f(a: I2, b: I2, c: I1, n: ti.i32):
        for i, j in a:
            a[i, j] = i * 10 + j
        for i, j in ti.ndrange((1, a.shape[0]), n):
            b[i, j] = 1
        for I in ti.grouped(b):
            b[I] += a[I] * I.x + I[1]
        for i in range(n - 3, n):
            c[i] = i
        for i in range(n, 0):
            c[0] = 99
        for I in ti.grouped(ti.ndrange(2, (1, 3))):
            c[I[0] * 2 + I.y - 1] += 100

    a, b, c = np.zeros((3, 4), np.int32), np.zeros((3, 4), np.int32), np.zeros(4, np.int32)
    run(f, a, b, c, 3)
    want_a = np.array([[i * 10 + j for j in range(4)] for i in range(3)])
    want_b = np.array([[int(i >= 1 and j < 3) + want_a[i, j] * i + j for j in range(4)] for i in range(3)])
    assert (a == want_a).all() and (b == want_b).all()
    assert c.tolist() == [100, 101, 102, 100]


def test_loops_and_serial_code_take_turns():
    @ti.kernel
    def f(x: I1) -> ti.i32:
        s = 0
        for i in x: s += x[i]
        t = s * 2
        for i in x: x[i] = t + i
        s = 0
        for i in x: s += x[i]
        return s

    x = np.arange(5, dtype=np.int32)
    assert run(f, x) == 5 * 20 + 10


def test_reductions():
    @ti.kernel
    def f(x: F1, out: F1):
        s = 0.0
        low = 1e30
        high = -1e30
        for i in x:
            s += x[i]
            ti.atomic_min(low, x[i])
            ti.atomic_max(high, x[i])
        out[0] = s
        out[1] = low
        out[2] = high

    x = np.arange(1000, dtype=np.float32)
    out = np.zeros(3, np.float32)
    run(f, x, out)
    assert out.tolist() == [499500.0, 0.0, 999.0]


def test_wide_serial_ranges():
    @ti.kernel
    def f(n: ti.i64, out: L1):
        k = 0
        ti.loop_config(serialize=True)
        for i in range(n - 2, n):
            ti.static_assert(i.dtype is ti.i64)
            out[k] = i
            k += 1

    out = np.zeros(2, np.int64)
    run(f, 2**40, out)
    assert out.tolist() == [2**40 - 2, 2**40 - 1]


def test_a_domain_that_does_not_fit_is_refused_when_it_runs():
    @ti.kernel
    def f(n: ti.i64, out: I1):
        for i in range(n): out[0] = 1

    run(f, -(2**50), np.zeros(1, np.int32))
    with pytest.raises(ti.KernelRuntimeError):
        f(2**40, np.zeros(1, np.int32))


@pytest.mark.parametrize("dtype, low", [(ti.i64, 2**40), (ti.i64, -(2**40)), (ti.u32, 3 * 10**9), (ti.u64, 2**40)])
def test_a_short_domain_beyond_i32_is_no_empty_one(dtype, low):
    @ti.kernel
    def f(a: dtype, b: dtype, out: I1):
        for i in range(a, b): out[0] += 1

    out = np.zeros(1, np.int32)
    run(f, low, low, out)
    run(f, low + 5, low, out)
    assert out[0] == 0
    with pytest.raises(ti.KernelRuntimeError, match="or (more|less); bounds beyond"):
        f(low, low + 5, out)
    run(f, 3, 8, out)
    assert out[0] == 5


def test_ndrange_axes_order():
    @ti.kernel
    def f(out: I1):
        k = 0
        ti.loop_config(serialize=True)
        for i, j in ti.ndrange(2, 3, axes=(1, 0)):
            out[k] = i * 10 + j
            k += 1

    out = np.zeros(6, np.int32)
    run(f, out)
    assert out.tolist() == [0, 10, 1, 11, 2, 12]


def test_short_circuit():
    @ti.kernel
    def f(x: I1, n: ti.i32) -> ti.i32:
        r = 0
        if n < x.shape[0] and x[n] > 0: r += 1
        if n >= x.shape[0] or x[n] > 0: r += 2
        if 0 <= n < x.shape[0] and 1 < x[n] <= 5: r += 4
        if not (n > 2) or n == 100: r += 8
        a = n and 7
        b = n or 9
        return r * 100 + a * 10 + b

    x = np.array([0, 3], np.int32)
    assert run(f, x, 1) == 1500 + 70 + 1
    assert run(f, x, 0) == 800 + 0 + 9
    assert run(f, x, 100) == 1000 + 70 + 100


def test_conditional_expressions():
    @ti.kernel
    def f(x: I1, n: ti.i32) -> ti.f32:
        a = 1 if n > 2 else 0.5
        b = x[n] if n < x.shape[0] else -1
        c = n / 2 if n > 1 else n
        return a * 100 + b + c

    assert run(f, np.array([5, 6], np.int32), 1) == 50 + 6 + 1
    assert run(f, np.array([5, 6], np.int32), 3) == 100 - 1 + 1.5


def test_chained_comparisons_evaluate_once():
    @ti.func
    def tick(x: ti.template()):
        x += 1
        return x

    @ti.kernel
    def f() -> ti.i32:
        a = 0
        r = 0
        if 0 < tick(a) < 5: r = 1
        return r * 10 + a

    assert run(f) == 11


def test_membership():
    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        r = 0
        if n in (1, 3, n * 2): r += 1
        if n not in [1, 3]: r += 2
        return r

    assert [run(f, n) for n in (0, 1, 2, 3)] == [3, 1, 2, 1]


def test_named_expressions():
    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        r = 0
        if (m := n * 2) > 3: r += m
        return r + m

    assert run(f, 3) == 12


def test_atomics_give_the_old_value():
    @ti.kernel
    def f(x: I1) -> ti.i32:
        a = ti.atomic_cas(x[0], 5, 7)
        b = ti.atomic_cas(x[0], 9, 1)
        c = ti.atomic_exchange(x[1], 3)
        d = ti.atomic_mul(x[2], 4)
        e = ti.atomic_sub(x[3], 1)
        g = ti.atomic_and(x[3], 6)
        h = ti.atomic_or(x[3], 8)
        k = ti.atomic_xor(x[3], 1)
        own = 3
        m = ti.atomic_add(own, 2)
        return a + b * 10 + c * 100 + d * 1000 + own * 10000 + m * 100000 + (e + g + h + k) * 1000000

    x = np.array([5, 2, 6, 8], np.int32)
    assert run(f, x) == 5 + 70 + 200 + 6000 + 50000 + 300000 + (8 + 7 + 6 + 14) * 1000000
    assert x.tolist() == [7, 3, 24, 15]


def test_zero_axes():
    @ti.kernel
    def f(x: ti.types.ndarray(ti.f32, 0)):
        x[None] = 3
        x[()] += 1

    x = np.zeros((), np.float32)
    run(f, x)
    assert x == 4


def test_vectors():
    @ti.kernel
    def f(x: I2, y: ti.types.ndarray(ti.i32, 3)):
        for I in ti.grouped(x):
            J = I + (1, 2)
            J[0] *= 2
            J = J - I % 2
            D = (I - J) * I
            x[I] = D[0] * 100 + D.y
            for k in range(2): y[I, k] = J.x + k

    x, y = np.zeros((2, 3), np.int32), np.zeros((2, 3, 2), np.int32)
    run(f, x, y)
    for i in range(2):
        for j in range(3):
            p, q = (i + 1) * 2 - i % 2, j + 2 - j % 2
            assert x[i, j] == (i - p) * i * 100 + (j - q) * j
            assert y[i, j].tolist() == [p, p + 1]


def test_shapes():
    @ti.kernel
    def f(x: F2) -> ti.i32:
        n, m = x.shape
        return n * 1000 + m * 100 + len(x) * 10 + x.shape[-1] + x.ndim

    assert run(f, np.zeros((2, 3), np.float32)) == 2000 + 300 + 20 + 3 + 2


def test_early_end_of_a_launch_is_the_last_statement():
    @ti.kernel
    def f(x: I1):
        x[0] = 1
        return
        x[0] = 2  # unreachable

    x = np.zeros(1, np.int32)
    run(f, x)
    assert x[0] == 1


def test_assert_counts_in_checked_mode_only():
    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        assert n > 1, "too small"
        return n

    assert f(0) == 0
    ti.init(checked=True)
    assert f(2) == 2
    with pytest.raises(ti.KernelAssertionError):
        f(0)


def stencil(*bounds, axes=None):
    return ti.ndrange(*bounds, axes=axes)


@pytest.mark.parametrize("mode", ["compiled", "python"])
def test_ndrange_that_python_code_made(mode):
    """A plain Python function gives the ndrange: the loop is as if the call stood there."""
    ti.init("python" if mode == "python" else "cpu")
    count = ti.field(ti.i32, ())
    fixed = ti.ndrange(2, (3, 5))

    @ti.kernel
    def f(x: ti.types.ndarray(ti.i32, 2), n: ti.i32):
        for i, j in stencil(2, (1, 3)):
            x[i, j] += 1 + i
        for I in ti.grouped(stencil(2, 3)):
            x[I] += 10
        for I in ti.static(ti.grouped(stencil(2, 3))):
            x[I] += 100 * I[0]
        for i, j in ti.static(stencil(1, 2)):
            x[i, j] += 1000
        for i in stencil(2):
            x[i, 0] += 10000
        for i, j in fixed:
            x[i, j - 3] += 100000
        if n == 2:  # serial, and in the order of the axes
            k = 0
            for i, j in stencil(2, 3, axes=(1, 0)):
                x[i, j] += k * 1000000
                k += 1
        for i, j in stencil(n, 2):  # bounds known when it runs
            count[None] += 1

    x = np.zeros((2, 3), np.int32)
    f(x, 2)
    expected = np.full((2, 3), 10)
    expected += [[0, 1, 1], [0, 2, 2]]
    expected[1] += 100
    expected[0, :2] += 1000
    expected[:, 0] += 10000
    expected[:, :2] += 100000
    expected += np.array([[0, 2, 4], [1, 3, 5]]) * 1000000
    assert np.array_equal(x, expected) and count[None] == 4
    assert fixed.axes is None and stencil(2, 3, axes=(1, 0)).axes == (1, 0) and stencil(2, 3, axes=(0, 1)).axes is None
    assert list(fixed) == list(fixed)  # more than once


@pytest.mark.parametrize("mode", ["compiled", "python"])
def test_ndrange_of_no_ranges_runs_once(mode):
    ti.init("python" if mode == "python" else "cpu")
    x = ti.field(ti.i32, ())

    @ti.kernel
    def f():
        for I in ti.grouped(ti.ndrange()):
            x[I] += 1
        for I in ti.static(ti.grouped(ti.ndrange())):
            x[I] += 10
        for _ in range(1):
            for I in ti.grouped(ti.ndrange()):
                x[I] += 100
                if x[None] > 0:
                    continue
                x[I] += 1000
        for I in ti.grouped(stencil()):
            x[I] += 10000

    f()
    assert x[None] == 10111


def test_ndrange_in_python_and_without_axes():
    assert list(ti.ndrange(2, (1, 3))) == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert list(ti.ndrange(2, 3, axes=(1, 0))) == [(i, j) for j in range(3) for i in range(2)]
    assert list(ti.ndrange(2, 1, 2, axes=(2, 0, 1))) == [(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1)]
    assert list(ti.ndrange()) == [()] and list(ti.ndrange(2, axes=None)) == [(0,), (1,)]
    for axes, error in [((0,), SyntaxError), ((0, 0), SyntaxError), ((0, 2), SyntaxError), ((0, "1"), TypeError), ((False, 1), TypeError)]:
        with pytest.raises(error, match="axes"):
            ti.ndrange(2, 3, axes=axes)

    @ti.kernel
    def f(x: ti.types.ndarray(ti.i32, 2)):
        for i, j in ti.ndrange(2, 3, axes=None):
            x[i, j] = 10 * i + j

    x = np.zeros((2, 3), np.int32)
    f(x)
    assert x.tolist() == [[0, 1, 2], [10, 11, 12]]


def test_return_from_an_unrolled_loop():
    @ti.func
    def index(v, wanted: ti.template()):
        for i in ti.static(range(3)):
            if ti.static(i == wanted):
                return v[i]

    @ti.kernel
    def f() -> ti.i32:
        a = 0
        for i in ti.static(range(10)):
            a += i * i + index(ti.Vector([1, 2, 3]), 1)
            if ti.static(i == 8):
                return a

    assert f() == 204 + 9 * 2


def test_an_assertion_is_evaluated_in_both_modes():
    @ti.real_func
    def count(x: ti.types.ndarray(ti.i32, 1)) -> ti.i32:
        x[0] += 1
        return x[0]

    @ti.kernel
    def f(x: ti.types.ndarray(ti.i32, 1)):
        assert count(x) == 1
        assert count(x) == 2, "second %d" % x[0]

    for debug in (False, True):
        ti.init(debug=debug)
        x = np.zeros(1, np.int32)
        f(x)
        assert x[0] == 2
    with pytest.raises(AssertionError, match="assertion failed: count.x. == 1"):
        f(np.ones(1, np.int32))
    ti.reset()
