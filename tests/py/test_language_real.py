"""real_func, ref, requires_top_level, data_oriented."""

import numpy as np
import pytest

import pestle as ti


@ti.real_func
def total(f: ti.template(), low: ti.i32, high: ti.i32) -> ti.i32:
    if low == high:
        return f[low]
    return total(f, low, (low + high) // 2) + total(f, (low + high) // 2 + 1, high)


@ti.real_func
def first_beyond(a: ti.i32) -> ti.i32:
    s = 0
    for i in range(100):
        if i == a + 1:
            return s
        s += i
    return s


@ti.real_func
def swap(a: ti.ref(ti.f32), b: ti.ref(ti.f32)):
    c = a
    a = b
    b = c


@ti.real_func
def double(a: ti.ref(ti.f32)):
    a += a


def test_recursion_and_early_returns():
    f = ti.field(ti.i32, 100)
    f.from_numpy(np.arange(100, dtype=np.int32))

    @ti.kernel
    def sums(x: ti.types.ndarray()) -> ti.i32:
        x[0] = first_beyond(10)
        x[1] = first_beyond(200)
        return total(f, 0, 99)

    x = np.zeros(2, np.int32)
    assert sums(x) == 4950 and x.tolist() == [55, 4950]


def test_it_is_called_not_expanded():
    @ti.real_func
    def one(a: ti.i32) -> ti.i32:
        return a + 1

    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        return one(one(n))

    assert f(3) == 5 and f._ir(3).count("call[@one") == 2


def test_arguments_are_converted():
    @ti.real_func
    def add(a: ti.f32, b: ti.f32) -> ti.f32:
        return a + b

    @ti.kernel
    def f() -> ti.i32:
        return add(1, 2)

    assert f() == 3


def test_ref():
    @ti.kernel
    def f(x: ti.types.ndarray(dtype=ti.f32, ndim=1)):
        a, b = 1.0, 2.0
        swap(a, b)
        swap(x[0], x[1])
        double(x[2])
        double(a)
        x[3] = a
        x[4] = b

    x = np.array([5, 6, 7, 0, 0], np.float32)
    f(x)
    assert x.tolist() == [6, 5, 14, 4, 1]
    ti.init(arch=ti.python)
    y = np.array([5, 6, 7, 0, 0], np.float32)
    f(y)
    ti.init()
    assert np.array_equal(x, y)


def test_requires_top_level():
    @ti.func(requires_top_level=True)
    def bump(x: ti.template(), n):
        for i in range(n):
            x[i] += 1

    @ti.kernel
    def run(x: ti.types.ndarray(), n: ti.i32):
        for _ in ti.static(range(2)):
            bump(x, n)

    x = np.zeros(8, np.int32)
    run(x, 8)
    assert (x == 2).all()


def test_data_oriented():
    @ti.data_oriented
    class Counter:
        def __init__(self, step):
            self.step = step
            self.seen = ti.field(ti.i32, ())

        @ti.func
        def by(self, n):
            return n * self.step

        @ti.kernel
        def add(self, n: ti.i32) -> ti.i32:
            self.seen[None] += self.by(n)
            return self.seen[None]

    @ti.data_oriented()
    class Twice(Counter):
        @ti.func
        def by(self, n):
            return 2 * n * self.step

    a, b, c = Counter(1), Counter(10), Twice(10)
    assert [a.add(2), b.add(2), a.add(3), c.add(2)] == [2, 20, 5, 40]
    b.step = 100
    assert b.add(1) == 120
    with pytest.raises(TypeError, match="data_oriented.. expects a class, found int"):
        ti.data_oriented(3)


def test_decorators_refuse():
    with pytest.raises(SyntaxError, match="every parameter of a real_func must be type annotated, found none for b"):

        @ti.real_func
        def add(a: ti.i32, b) -> ti.i32:
            return a + b

    with pytest.raises(TypeError, match="func.. got an unexpected keyword argument 'inline'|inline"):

        @ti.func(inline=True)
        def nothing():
            pass



def test_a_real_func_may_end_without_a_return():
    @ti.real_func
    def first(n: ti.i32) -> ti.i32:
        for i in range(n):
            return 42

    @ti.real_func
    def vector(n: ti.i32) -> ti.types.vector(2, ti.f32):
        if n > 0:
            return ti.Vector([1.0, 2.0])

    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        return first(n)

    @ti.kernel
    def g(n: ti.i32) -> ti.f32:
        return vector(n).sum()

    assert [f(1), f(0), g(1), g(0)] == [42, 0, 3, 0]
    ti.init(debug=True)
    try:
        assert f(1) == 42
        with pytest.raises(ti.KernelAssertionError, match="this function ended without returning a value"):
            f(0)
    finally:
        ti.reset()


def test_loops_of_funcs_that_funcs_call_are_parallel_too():
    @ti.func(requires_top_level=True)
    def bump(x: ti.template(), n):
        for i in range(n):
            x[i] += 1

    @ti.func
    def add(x: ti.template(), n):
        for i in range(n):
            x[i] += 10

    @ti.func
    def both(x: ti.template(), n):
        bump(x, n)
        add(x, n)

    @ti.func
    def twice(x: ti.template(), n):
        x[0] += 100
        both(x, n)

    @ti.func
    def adds(x: ti.template(), n):
        add(x, n)

    @ti.kernel
    def top(x: ti.types.ndarray(ti.i32, 1), n: ti.i32):
        twice(x, n)

    @ti.kernel
    def mixed(x: ti.types.ndarray(ti.i32, 1), n: ti.i32):
        for _ in range(1):
            adds(x, n)
        adds(x, n)

    @ti.kernel
    def inside(x: ti.types.ndarray(ti.i32, 1), n: ti.i32):
        if n > 0:
            twice(x, n)

    x = np.zeros(3, np.int32)
    top(x, 3)
    mixed(x, 3)
    assert x.tolist() == [131, 31, 31]
    assert top._ir(x, 3).count("parfor") == 2
    with pytest.raises(ti.KernelSyntaxError, match="bump says requires_top_level=True"):
        inside(x, 3)
