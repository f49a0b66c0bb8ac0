"""Checked mode inside funcs, struct methods and elements of vectors: overflow, recursion, assertions, indices, variables."""

import inspect
import re
import warnings

import numpy as np
import pytest

import pestle as ti

vec3 = ti.types.vector(3, ti.i32)
BIG = 2**30


@ti.func
def add(a, b):
    return a + b


@ti.func
def half(n: ti.i32, what: ti.i32) -> ti.i32:
    assert n % 2 == 0, f"{what} of {n} cannot be halved"
    return n // 2


@ti.func
def depth(n: ti.i32) -> ti.i32:
    d = 0
    if n != 0:
        d = depth(n - 1) + 1
    return d


@ti.real_func
def forever(n: ti.i32) -> ti.i32:
    return forever(n) + 1


@ti.dataclass
class Counter:
    a: ti.i32
    v: vec3

    @ti.func
    def bump(self, n):
        self.a += n
        return self.a

    @ti.func
    def scale(self, n, i):
        self.v[i] = self.v[i] * n
        return self.v[i]

    @ti.func
    def positive(self):
        assert self.a > 0, "a is %d, v is %d" % (self.a, self.v[1])
        return self.a


@ti.kernel
def in_a_func(n: ti.i32) -> ti.i32:
    return add(n, n)


@ti.kernel
def in_a_method(n: ti.i32) -> ti.i32:
    s = Counter(n, vec3(1))
    return s.bump(n)


@ti.kernel
def in_a_member(n: ti.i32) -> ti.i32:
    s = Counter(0, vec3(n))
    return s.scale(n, 1)


@ti.kernel
def in_an_element(n: ti.i32) -> ti.i32:
    v = vec3(n)
    v[n - n + 1] += n
    return v[1]


@ti.kernel
def in_a_vector(n: ti.i32) -> ti.i32:
    v = vec3(1, n, 2) * 4
    return v[1]


@ti.kernel
def in_a_product(n: ti.i32) -> ti.i32:
    v = ti.Vector([n, n])
    return v.dot(v)


@ti.kernel
def in_a_parallel_loop(n: ti.i32) -> ti.i32:
    x = vec3(0)
    for _ in range(1):
        for i in range(3):
            x[i] = x[i] - n - n - n
    return x[2]


owned = ti.Vector.field(3, ti.i32, 4)


@ti.kernel
def in_a_field(n: ti.i32) -> ti.i32:
    for i in owned:
        owned[i] = [1, n, 3]
    for i in owned:
        owned[i] += ti.Vector([0, n, 0])
    return owned[0][1]


PLACES = [
    (in_a_func, add, "return a + b", "Addition"),
    (in_a_method, Counter.methods["bump"], "self.a += n", "Addition"),
    (in_a_member, Counter.methods["scale"], "self.v[i] = self.v[i] * n", "Multiplication"),
    (in_an_element, in_an_element, "v[n - n + 1] += n", "Addition"),
    (in_a_vector, in_a_vector, "v = vec3(1, n, 2) * 4", "Multiplication"),
    (in_a_product, in_a_product, "return v.dot(v)", "Multiplication"),
    (in_a_field, in_a_field, "owned[i] += ti.Vector([0, n, 0])", "Addition"),
    (in_a_parallel_loop, in_a_parallel_loop, "x[i] = x[i] - n - n - n", "Subtraction"),
]


def line_of(function, text):
    lines, first = inspect.getsourcelines(getattr(function, "__wrapped__", function))
    return first + [line.strip() for line in lines].index(text)


@pytest.mark.parametrize("kernel, where, text, kind", PLACES, ids=[p[0].__name__ for p in PLACES])
def test_overflow(kernel, where, text, kind):
    line = line_of(where, text)
    ti.init(checked=True)
    assert kernel(2) is not None
    with pytest.warns(RuntimeWarning, match=f"{kind} overflow detected") as caught:
        wrapped = kernel(BIG)
    assert {(w.filename, w.lineno) for w in caught} == {(__file__, line)}
    ti.init()
    assert kernel(BIG) == wrapped
    for threads in (1, 2):
        ti.init(checked=True, overflow="error", threads=threads)
        with pytest.raises(ti.KernelAssertionError, match=f"{kind} overflow detected") as caught:
            kernel(BIG)
        assert f'File "{__file__}", line {line}' in str(caught.value)


def test_what_fits_is_no_overflow():
    """`-=` of unsigned elements, and reductions, whose partial sums depend on the cut of the loop."""

    @ti.kernel
    def f(x: ti.types.ndarray(ti.u32, 1), y: ti.types.ndarray(ti.i32, 1)) -> ti.i32:
        total = 0
        for i in x:
            x[i] -= 1
            y[i] -= 2**30
            y[i] += 2**30
            total += (1 - i % 2 * 2) * 2**30
        return total

    ti.init(checked=True, overflow="error")
    assert f(np.full(1000, 5, np.uint32), np.full(1000, -(2**30), np.int32)) == 0


def test_recursion():
    """Too deep a recursion is a fault, in every iteration that goes there; also unchecked."""

    @ti.kernel
    def serial(n: ti.i32) -> ti.i32:
        return depth(n)

    @ti.kernel
    def endless() -> ti.i32:
        return forever(0)

    @ti.kernel
    def parallel(out: ti.types.ndarray(ti.i32, 1)):
        for i in out:
            out[i] = depth(1_000_000 * (i == 5))

    for checked in (True, False):
        ti.init(checked=checked)
        assert serial(900) == 900
        for kernel, args in ((serial, (1_000_000,)), (endless, ()), (parallel, (np.zeros(9, np.int32),))):
            with pytest.raises(ti.KernelAssertionError, match="calls are nested too deeply: 1001, the most is 1000"):
                kernel(*args)
        assert serial(3) == 3


def test_assertions_with_values():
    @ti.kernel
    def funcs(x: ti.types.ndarray(ti.i32, 1)):
        for i in x:
            x[i] = half(x[i], i)

    @ti.kernel
    def methods(n: ti.i32) -> ti.i32:
        return Counter(n, vec3(1, 7, 2)).positive()

    @ti.kernel
    def vectors(v: vec3):
        w = v * 2
        for i in range(3):
            assert w[i] < 10, "w[{}] is {} of {}".format(i, w[i], w)

    @ti.kernel
    def matrices(x: ti.f32):
        m = ti.Matrix([[0, x, x], [x, 0, x], [x, x, 0]])
        assert m[0, 1] == 0, f"{m} has {x}"

    @ti.kernel
    def structs(n: ti.i32):
        s = Counter(n, vec3(1))
        assert s.a < 3, f"{s} is too much"

    ti.init(checked=True)
    cases = [
        (funcs, (np.array([2, 4, 7, 8, 9], np.int32),), "2 of 7 cannot be halved"),
        (methods, (-4,), "a is -4, v is 7"),
        (vectors, ([1, 2, 50],), "w[2] is 100 of [2, 4, 100]"),
        (matrices, (2.5,), "[[0.0, 2.5, 2.5], [2.5, 0.0, 2.5], [2.5, 2.5, 0.0]] has 2.5"),
        (structs, (3,), "{'a': 3, 'v': [1, 1, 1]} is too much"),
    ]
    for kernel, args, text in cases:
        with pytest.raises(AssertionError, match=re.escape(text)):
            kernel(*args)
    ti.init()
    funcs(np.array([7], np.int32))
    assert methods(-4) == -4


def test_indices_of_elements():
    """Of vectors in funcs, members and elements of fields, with the values."""
    f = ti.Vector.field(3, ti.i32, 4)

    @ti.func
    def at(v, i):
        return v[i]

    @ti.kernel
    def local(i: ti.i32) -> ti.i32:
        return at(vec3(1, 2, 3), i)

    @ti.kernel
    def member(i: ti.i32) -> ti.i32:
        s = Counter(0, vec3(1))
        return s.scale(2, i)

    @ti.kernel
    def field(i: ti.i32):
        f[1][i] = 1

    @ti.kernel
    def matrix(i: ti.i32) -> ti.i32:
        m = ti.Matrix([[1, 2], [3, 4]])
        return m[1, i]

    ti.init(checked=True)
    for kernel, good, bad, length in ((local, 2, 3, 3), (member, 0, -1, 3), (field, 1, 70, 3), (matrix, 1, 2, 2)):
        kernel(good)
        with pytest.raises(ti.KernelAssertionError, match=f"index {bad} is out of bounds for axis . with length {length}"):
            kernel(bad)


def test_nothing_is_uninitialised():
    """A variable has a value wherever it may be read; storage starts as zeros."""

    @ti.kernel
    def declared() -> ti.i32:
        x: ti.i32
        return x

    @ti.kernel
    def branch(n: ti.i32) -> ti.i32:
        if n > 0:
            y = 1
        return y  # noqa: F821

    for kernel, args in ((declared, ()), (branch, (1,))):
        with pytest.raises(ti.CompilationError):
            kernel(*args)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not ti.ndarray(ti.f32, 1000).to_numpy().any() and not ti.field(vec3, 1000).to_numpy().any()


@pytest.mark.parametrize("first", [True, False])
def test_sides_that_store_to_one_place_fault_where_they_are(first):
    @ti.kernel
    def f(a: ti.types.ndarray(dtype=ti.i32, ndim=1), c: ti.i32, k: ti.i32):
        for i in range(1):
            if c > 0:
                a[k] = 1  # the first
            else:
                a[k] = 2  # the second

    ti.init(debug=True)
    a = np.zeros(4, np.int32)
    try:
        f(a, 1 if first else 0, 3)
        assert a[3] == (1 if first else 2)
        with pytest.raises(ti.KernelAssertionError, match="a\\[k\\] = 1" if first else "a\\[k\\] = 2"):
            f(a, 1 if first else 0, 4)
    finally:
        ti.reset()
