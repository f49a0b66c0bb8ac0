# SPDX-License-Identifier: Apache-2.0
"""BufferView: ranges of arrays of one axis, made on the host and in kernels; checked, unchecked and as plain Python."""

import dataclasses
import gc
import sys

import numpy as np
import pytest

import pestle as ti

WAYS = {"compiled": {}, "checked": {"checked": True}, "plain": {"arch": ti.python}}


@pytest.fixture(params=WAYS)
def way(request):
    ti.init(**WAYS[request.param])
    yield request.param
    ti.init()


def ndarray(n=32):
    x = ti.ndarray(ti.f32, n)
    x.from_numpy(np.arange(n, dtype=np.float32))
    return x


@ti.func
def put(v: ti.BufferView[ti.f32], i, by):
    if by == 0:
        return
    v[i] += by


@ti.kernel
def add(v: ti.BufferView[ti.f32], by: ti.f32) -> ti.i32:
    for i in range(v.size):
        v[i] += by
    return v.size * 100 + v.shape[0] * 10 + len(v)


@ti.kernel
def add_any(v: ti.BufferView):
    for i in v:
        v[i] += 1


@ti.kernel
def cuts(v: ti.BufferView, n: ti.i32):
    middle = v.subview(2, 10)  # 10..19 of the ndarray
    for i in middle:
        middle[i] = -1
    last = middle[n:]  # 18, 19
    inner = last[1:]
    for i in range(2):
        put(last, i, 100)  # a func that is built once, with views of two kinds
    put(inner, 0, 1000)
    put(v, 0, 5)
    v[-1:][0] = 7
    v[:2].fill(3)


@ti.kernel
def own(x: ti.types.ndarray(ti.f32, ndim=1), offset: ti.i64, size: ti.u8) -> ti.f32:
    view = ti.BufferView(x, offset, size=size)
    total = 0.0
    for i in view:
        total += view[i]
    view[0] = ti.atomic_add(view[1], 1)
    return total + view.size


def test_ranges_on_the_host():
    x = ndarray()
    v = x[8:24]
    assert isinstance(v, ti.BufferView) and (v.offset, v.size, v.shape, len(v), v.dtype) == (8, 16, (16,), 16, ti.f32)
    assert v.get_ndarray() is x and v[4:12][:4].get_ndarray() is x
    found = [(w.offset, w.size) for w in (x[:], x[-8:], x[30:50], x[9:3], v[4:12], v[4:12][:4], v.subview(4, 8), v[-1:])]
    assert found == [(0, 32), (24, 8), (30, 2), (9, 0), (12, 8), (12, 4), (12, 8), (23, 1)]
    assert (ti.BufferView(x, offset=4, size=8).offset, ti.BufferView(x, 32, 0).size) == (4, 0)
    assert repr(v) == "<pestle.BufferView offset=8 size=16 dtype=f32>"


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda x: ti.BufferView(x, 16, 32), ti.KernelValueError, "BufferView out of range: offset 16 and size 32 do not fit a length of 32"),
        (lambda x: ti.BufferView(x, -1, 2), ti.KernelValueError, "out of range: offset -1"),
        (lambda x: ti.BufferView(x, 0, -1), ti.KernelValueError, "out of range"),
        (lambda x: ti.BufferView(x, 2**62, 2**62), ti.KernelValueError, "out of range"),
        (lambda x: ti.BufferView(x, 1.5, 2), TypeError, "float"),
        (lambda x: ti.BufferView(x[:], 0, 1), ti.KernelTypeError, "expected an ndarray, found pestle.BufferView"),
        (lambda x: ti.BufferView(np.zeros(3), 0, 1), ti.KernelTypeError, "expected an ndarray, found numpy.ndarray"),
        (lambda x: x[:16].subview(8, 16), ti.KernelValueError, "subview out of range: offset 8 and size 16 do not fit a length of 16"),
        (lambda x: x[::2], ti.KernelValueError, "step=1, found step=2"),
        (lambda x: x[:4][::-1], ti.KernelValueError, "step=1, found step=-1"),
        (lambda x: x[:4][0], ti.KernelTypeError, "indexed with a slice, found int"),
        (lambda x: ti.ndarray(ti.f32, (4, 4))[:2], ti.KernelTypeError, "1D ndarray, found one with 2 axes"),
        (lambda x: add(x, 1), ti.KernelArgumentError, "expected a BufferView, such as x[a:b] of an ndarray, found pestle.Ndarray"),
        (lambda x: add(np.zeros(3, np.float32), 1), ti.KernelArgumentError, "found numpy.ndarray"),
        (lambda x: add(ti.ndarray(ti.i32, 3)[:], 1), ti.KernelArgumentError, "expected an array of f32, found an array of i32"),
    ],
)
def test_refused_on_the_host(make, error, text):
    add(ndarray()[:], 0)  # what is compiled already does not take others
    with pytest.raises(error) as e:
        make(ndarray())
    assert text in str(e.value)


def test_kernels_write_through_views(way):
    x = ndarray()
    assert add(x[8:16], 1) == 888 and add(x[30:], by=2) == 222 and add(x[3:3], 1) == 0
    expected = np.arange(32, dtype=np.float32)
    expected[8:16] += 1
    expected[30:] += 2
    assert np.array_equal(x.to_numpy(), expected)
    add_any(x[1:3])
    counts = ti.ndarray(ti.i64, 4)
    add_any(counts[2:])
    assert x.to_numpy()[:4].tolist() == [0, 2, 3, 3] and counts.tolist() == [0, 0, 1, 1]


def test_views_made_in_kernels(way):
    x = ndarray()
    cuts(x[8:24], 8)
    expected = np.arange(32, dtype=np.float32)
    expected[10:20] = -1
    expected[18:20] += 100
    expected[19] += 1000
    expected[23] = 7
    expected[8:10] = 3
    assert np.array_equal(x.to_numpy(), expected)
    y = ndarray()
    assert own(y, 4, 3) == 4 + 5 + 6 + 3 and y.to_numpy()[4:7].tolist() == [5, 6, 6]
    z = np.arange(20, dtype=np.float32)[::2]
    assert own(z, 4, 3) == 8 + 10 + 12 + 3 and z[4:7].tolist() == [10, 11, 12]


def test_vectors_matrices_and_dataclasses(way):
    @dataclasses.dataclass
    class Two:
        a: ti.BufferView
        b: ti.BufferView[ti.f32]

    @ti.kernel
    def fill(v: ti.BufferView):
        for i in range(v.size):
            for k in range(2):
                v[i][k, k] = i + 1

    @ti.kernel
    def move(s: Two):
        for i in s.a:
            s.a[i].y = s.b[i]

    m, v, x = ti.Matrix.ndarray(2, 2, ti.f32, 5), ti.Vector.ndarray(3, ti.f32, 5), ndarray()
    fill(m[2:4])
    move(Two(v[1:3], x[8:10]))
    assert m.to_numpy()[:, 0, 0].tolist() == [0, 0, 1, 2, 0] == m.to_numpy()[:, 1, 1].tolist()
    assert v.to_numpy().tolist() == [[0, 0, 0], [0, 8, 0], [0, 9, 0], [0, 0, 0], [0, 0, 0]]
    move(Two(v[3:4], x[20:21]))
    assert v[3].y == 20


@pytest.mark.parametrize("way", ["checked", "plain"], indirect=True)
def test_faults(way):
    @ti.kernel
    def index(v: ti.BufferView, i: ti.i32):
        for _ in range(1):
            v[i] = 1

    @ti.kernel
    def of_view(v: ti.BufferView, i: ti.i32):
        for _ in range(1):
            put(v[2:4], i, 1)

    @ti.kernel
    def make(v: ti.BufferView, offset: ti.i32, size: ti.i32):
        for _ in range(1):
            v.subview(offset, size)

    @ti.kernel
    def cut(v: ti.BufferView, a: ti.i32, b: ti.i32):
        for _ in range(1):
            v[a:b].fill(0)

    v = ndarray()[8:24]
    for f, args, text in [
        (index, (16,), "index 16 is out of bounds for axis 0 with length 16"),
        (index, (-1,), "index -1 is out of bounds for axis 0 with length 16"),
        (of_view, (2,), "index 2 is out of bounds for axis 0 with length 2"),
        (make, (16, 1), "a view with offset 16 and size 1 is out of range of an array with length 16"),
        (make, (-1, 1), "a view with offset -1 and size 1"),
        (make, (1, -1), "a view with offset 1 and size -1"),
        (make, (2**31 - 1, 2**31 - 1), "a view with offset 2147483647"),
        (cut, (4, 3), "a view with offset 4 and size -1"),
        (cut, (-2, 3), "a view with offset -2 and size 5"),
    ]:
        with pytest.raises(ti.KernelAssertionError) as e:
            f(v, *args)
        assert text in str(e.value)
    index(v, 15), of_view(v, 1), make(v, 16, 0), cut(v, 3, 3)


def test_refused_in_kernels():
    def step(v: ti.BufferView):
        v[::2].fill(0)

    def axes(x: ti.types.ndarray(ti.f32, ndim=2)):
        x[1:].fill(0)

    def number(v: ti.BufferView):
        ti.BufferView(v.size, 0, 1).fill(0)

    def missing(v: ti.BufferView):
        v.subview(1).fill(0)

    def bound(v: ti.BufferView):
        v[1.5:].fill(0)

    def store(v: ti.BufferView):
        v[1:] = 0

    x, v = ti.ndarray(ti.f32, (2, 2)), ndarray()[:4]
    for body, argument, error, text in [
        (step, v, ti.KernelSyntaxError, "no explicit step"),
        (axes, x, ti.KernelTypeError, "a view is a range of an array with one axis"),
        (number, v, ti.KernelTypeError, "a view is a range of an array, found i32"),
        (missing, v, ti.KernelTypeError, "Missing argument 'size'"),
        (bound, v, ti.KernelTypeError, "1.5"),
        (store, v, ti.KernelSyntaxError, "a slice of an array cannot be assigned, only its elements; use fill(), or a loop"),
    ]:
        with pytest.raises(error) as e:
            ti.kernel(body)(argument)
        assert text in str(e.value), body


def test_lifetimes_and_launches():
    v = ndarray()[2:4]
    gc.collect()
    assert add(v, 1) == 222 and v.get_ndarray()[2] == 3
    before = sys.getrefcount(v)
    for _ in range(100):
        add(v, 0)
    assert sys.getrefcount(v) == before


def test_views_of_a_field_and_overlap(way):
    field = ti.field(ti.i32, 10)
    moved = ti.field(ti.i32, 10, offset=3)

    @ti.kernel
    def fill():
        for i in field[2:5]:
            field[2:5][i] = i + 1

    @ti.kernel
    def shifted():
        moved[4:6].fill(1)

    @ti.kernel
    def copy(a: ti.BufferView, b: ti.BufferView):
        for _ in range(1):
            for i in range(a.size):  # in order, each sees what the one before has stored
                b[i] = a[i] + 1

    fill()
    assert field.to_numpy().tolist() == [0, 0, 1, 2, 3, 0, 0, 0, 0, 0]
    with pytest.raises(ti.KernelTypeError):
        shifted()
    x = ndarray(6)
    copy(x[:5], x[1:])
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    y = ndarray(6)
    copy(y[2:3], y[2:3])
    assert y[2] == 3
