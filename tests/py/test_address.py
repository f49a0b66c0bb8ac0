"""get_addr, the address of an element, and frexp."""

import math

import numpy as np
import pytest

import pestle as ti


@pytest.fixture(params=["compiled", "checked", "python"])
def way(request):
    ti.init(checked=request.param == "checked", arch=ti.python if request.param == "python" else ti.cpu)
    yield request.param
    ti.init()


@pytest.mark.parametrize("order", [None, "ij", "ji"])
@pytest.mark.parametrize("dtype", [ti.i8, ti.f32, ti.f64])
def test_fields(way, order, dtype):
    x = ti.field(dtype, (3, 5), order=order)

    @ti.kernel
    def addresses(out: ti.types.ndarray(dtype=ti.u64, ndim=2)):
        for i, j in out:
            out[i, j] = ti.get_addr(x, [i, j])

    out = np.zeros((3, 5), np.uint64)
    addresses(out)
    size = {ti.i8: 1, ti.f32: 4, ti.f64: 8}[dtype]
    i, j = np.indices((3, 5))
    steps = (j * 3 + i if order == "ji" else i * 5 + j) * size
    assert (out - out[0, 0] == steps).all() and out[0, 0]


def test_arrays_and_elements(way):
    v, m = ti.Vector.field(3, ti.f32, 4), ti.Matrix.ndarray(2, 2, ti.f64, 4)
    shifted = ti.field(ti.i32, 4, offset=-2)

    @ti.kernel
    def addresses(a: ti.types.ndarray(dtype=ti.i16, ndim=1), b: ti.types.ndarray(dtype=ti.math.vec2, ndim=1), i: ti.i32) -> ti.types.vector(6, ti.u64):
        p = ti.Vector([i])
        return ti.Vector([ti.get_addr(a, i), ti.get_addr(b, p), ti.get_addr(v, (i,)) - ti.get_addr(v, 0),
                          ti.get_addr(m, i) - ti.get_addr(m, [0]), ti.get_addr(shifted, i) - ti.get_addr(shifted, -2),
                          ti.get_addr(a, i) - ti.get_addr(a, 0)], ti.u64)  # fmt: skip

    a, b = np.zeros(20, np.int16)[::3], np.zeros((4, 2), np.float32)
    found = addresses(a, b, 1).to_list()
    assert found == [a.ctypes.data + 6, b.ctypes.data + 8, 12, 32, 12, 6]


def test_refused(way):
    x, s = ti.field(ti.f32, (2, 2)), ti.Struct.field({"a": ti.f32}, 3)

    def refused(function, error, text):
        with pytest.raises(error, match=text):
            ti.kernel(function)()

    def number():
        ti.get_addr(3, 0)

    def struct():
        ti.get_addr(s, 0)

    def count():
        ti.get_addr(x, [0])

    refused(number, ti.KernelTypeError, "get_addr expects a field or array")
    refused(struct, ti.KernelTypeError, "get_addr expects a field or array")
    refused(count, ti.KernelIndexError, "ind")


def test_out_of_bounds():
    x = ti.field(ti.f32, 4)

    @ti.kernel
    def address(i: ti.i32) -> ti.u64:
        return ti.get_addr(x, i)

    ti.init(checked=True)
    with pytest.raises(ti.KernelAssertionError, match="index 4 is out of bounds"):
        address(4)
    ti.init()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_frexp(way, dtype):
    @ti.kernel
    def parts(x: ti.types.ndarray(ndim=1), m: ti.types.ndarray(dtype=ti.f64, ndim=1), e: ti.types.ndarray(dtype=ti.i32, ndim=1)):
        for i in x:
            m[i], e[i] = ti.frexp(x[i])

    info = np.finfo(dtype)
    edges = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, math.inf, -math.inf, math.nan, info.max, info.tiny, info.smallest_subnormal, -info.tiny / 2]
    x = np.array(edges + list(np.random.default_rng(1).standard_normal(50)), dtype)
    m, e = np.zeros(len(x)), np.zeros(len(x), np.int32)
    parts(x, m, e)
    wanted, exponents = np.frexp(x.astype(np.float64))
    assert np.array_equal(m, wanted, equal_nan=True) and np.array_equal(np.signbit(m), np.signbit(wanted))
    assert e.tolist() == np.where(np.isfinite(x), exponents, 0).tolist()


def test_frexp_of_other_things(way):
    @ti.kernel
    def f(n: ti.i32, x: ti.f32) -> ti.types.vector(4, ti.f64):
        m, e = ti.frexp(n)
        p, q = ti.frexp(ti.Vector([x, 0.25]))
        return ti.Vector([m, e, p[0] + p[1], q[0] + q[1]], ti.f64)

    assert f(-12, 6.0).to_list() == [-0.75, 4, 0.75 + 0.5, 3 - 1]


def test_clock_counter():
    @ti.kernel
    def spent(n: ti.i32, out: ti.types.ndarray(ti.f32, 1)) -> ti.i64:
        start = ti.clock_counter()
        s = 0.0
        for i in range(n):
            s += ti.sin(s + i)
        out[0] = s
        ti.static_assert(start.dtype is ti.i64)
        return ti.clock_counter() - start

    @ti.kernel
    def each(out: ti.types.ndarray(ti.i64, 1)):
        for i in out:
            out[i] = ti.clock_counter()

    out = np.zeros(1, np.float32)
    for run in spent, spent._evaluate:
        assert min(run(20000, out) for _ in range(5)) > 10 * max(min(run(1, out) for _ in range(5)), 1)
    before, ticks = ti.clock_counter(), np.zeros(100, np.int64)
    each(ticks)
    assert (ticks >= before).all() and (ticks <= ti.clock_counter()).all() and len(set(ticks)) > 1
