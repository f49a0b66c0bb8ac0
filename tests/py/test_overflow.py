"""Checked mode: what becomes of integers that overflow."""

import warnings

import numpy as np
import pytest

import pestle as ti

TYPES = (ti.i8, ti.u8, ti.i16, ti.u16, ti.i32, ti.u32, ti.i64, ti.u64)
LIMITS = {t: (-(2 ** (8 * t.itemsize - 1)), 2 ** (8 * t.itemsize - 1) - 1) if t.name[0] == "i" else (0, 2 ** (8 * t.itemsize) - 1) for t in TYPES}


@pytest.fixture(autouse=True)
def defaults():
    yield
    ti.reset()


def of_type(T):
    @ti.kernel
    def add(a: T, b: T) -> T:
        return a + b

    @ti.kernel
    def sub(a: T, b: T) -> T:
        return a - b

    @ti.kernel
    def mul(a: T, b: T) -> T:
        return a * b

    @ti.kernel
    def shl(a: T, b: ti.i32) -> T:
        return a << b

    return add, sub, mul, shl


@pytest.mark.parametrize("T", LIMITS, ids=str)
def test_exactly_what_does_not_fit(T):
    ti.init(debug=True, overflow="error")
    lo, hi = LIMITS[T]
    add, sub, mul, shl = of_type(T)
    some = {lo, hi, lo + 1, hi - 1, 0, 1, 2, hi // 2, hi // 2 + 1, int(hi**0.5), int(hi**0.5) + 1} | ({-1, -2, lo // 2, lo // 2 - 1} if lo else set())
    cases = [(f, exact, a, b) for f, exact in ((add, int.__add__), (sub, int.__sub__), (mul, int.__mul__)) for a in some for b in some]
    cases += [(shl, int.__lshift__, a, b) for a in some for b in (0, 1, 3, 7, 8, 31, 32, 63, 70)]
    for f, exact, a, b in cases:
        want = exact(a, b)
        if lo <= want <= hi:
            assert f(a, b) == want
        else:
            with pytest.raises(ti.KernelAssertionError, match="overflow detected: the exact result of `a .{1,2} b` does not fit"):
                f(a, b)


def test_a_warning_with_its_line_once_a_place():
    @ti.kernel
    def f(x: ti.types.ndarray(ti.i32, 1)) -> ti.i32:
        s = 0
        for i in x:
            x[i] = x[i] * 2
            x[i] = x[i] - 1
        for i in range(2):
            s = s + 2**30  # twice: only then it does not fit
        s += 5
        return s

    line = f.__wrapped__.__code__.co_firstlineno
    x = np.full(20000, 2**30, np.int32)
    ti.init(debug=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert f(x) == -(2**31) + 5 and x[0] == 2**31 - 1
        assert f(np.full(3, 2**30, np.int32)) == -(2**31) + 5
    assert [(w.lineno - line, w.category, str(w.message).split(":")[0]) for w in caught] == [
        (4, RuntimeWarning, "Multiplication overflow detected"),
        (5, RuntimeWarning, "Subtraction overflow detected"),
        (7, RuntimeWarning, "Addition overflow detected"),
    ]
    assert all(w.filename == __file__ for w in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ti.init(debug=True, overflow="ignore")
        f(x)
        ti.init()
        f(x)
        ti.init(debug=True)
        with pytest.raises(RuntimeWarning):
            of_type(ti.i32)[0](2**31 - 1, 1)


def test_printed_each_launch(capsys):
    @ti.kernel
    def f(a: ti.i32):
        print(a + a)

    ti.init(debug=True, overflow="print")
    for _ in range(2):
        f(2**30)
    text = capsys.readouterr().out
    assert text.count("Addition overflow detected") == 2 and text.count("print(a + a)") == 2 and text.count("-2147483648\n") == 2
    with pytest.raises(ValueError, match="overflow=.*expected 'warn', 'error', 'print' or 'ignore'"):
        ti.init(overflow="loud")


def test_vectors_locals_and_random_numbers():
    @ti.kernel
    def vectors(a: ti.i32) -> ti.i32:
        v = ti.Vector([a, 1]) * 2
        return v[0]

    @ti.kernel
    def local(a: ti.i32) -> ti.i32:
        s = a
        s -= 1
        return s

    @ti.kernel
    def harmless(a: ti.i32) -> ti.f32:
        b = 0
        if a < 0 and a - 1 < 0:  # the difference counts for nothing where a < 0 is false
            b = 1
        return ti.random() + b + (a >> 1)

    ti.init(debug=True, overflow="error")
    for f, bad, good in ((vectors, 2**30, 5), (local, -(2**31), 5)):
        f(good)
        with pytest.raises(AssertionError, match="overflow detected"):
            f(bad)
    harmless(2**31 - 1)


def test_sums_of_vectors_and_matrix_products():
    """`v.sum()`, `dot`, `norm_sqr` and `@` add and multiply as the program would: small and large tiles."""
    for n in (3, 20):

        @ti.kernel
        def total(a: ti.i32) -> ti.i32:
            return ti.types.vector(n, ti.i32)(a).sum()

        @ti.kernel
        def inner(a: ti.i32) -> ti.i32:
            v = ti.types.vector(n, ti.i32)(a)
            return v.dot(v)

        @ti.kernel
        def product(a: ti.i16) -> ti.types.matrix(n, n, ti.i16):
            m = ti.types.matrix(n, n, ti.i16)(a)
            return m @ m

        ti.init(debug=True, overflow="error")
        assert total(2**31 // n - 1) == n * (2**31 // n - 1)
        assert inner(1000) == 1000000 * n and product(20)[1, 1] == 400 * n
        for call, word in ((lambda: total(2**31 // n + 1), "add"), (lambda: inner(40000), "mul|add"), (lambda: product(150), "add|mul")):
            with pytest.raises(ti.KernelAssertionError, match="overflow detected") as error:
                call()
            assert "test_overflow.py" in str(error.value)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            ti.init(debug=True)
            total(2**31 // n + 1)
        assert [w.category for w in seen] == [RuntimeWarning] and seen[0].filename == __file__


def test_sums_that_are_not_computed_do_not_overflow():
    ti.init(debug=True, overflow="error")

    @ti.kernel
    def chosen(v: ti.types.vector(3, ti.i32), yes: ti.i32) -> ti.i32:
        return v.sum() if yes else 0

    @ti.kernel
    def both(v: ti.types.vector(3, ti.i32), yes: ti.i32) -> ti.i32:
        out = 0
        if yes != 0 and v.sum() > 3:
            out = 1
        return out

    large = ti.Vector([2**31 - 1, 1, 1], ti.i32)
    assert chosen(large, 0) == 0 and both(large, 0) == 0
