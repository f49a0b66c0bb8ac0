# SPDX-License-Identifier: Apache-2.0
"""tensor(), Tensor, wrap: fields and ndarrays by one name."""

import dataclasses
import typing

import numpy as np
import pytest

import pestle as ti

WAYS = {"compiled": {}, "checked": {"checked": True}, "plain": {"arch": ti.python}}
BACKENDS = list(ti.Backend)


@pytest.fixture(params=WAYS)
def way(request):
    ti.init(**WAYS[request.param])
    yield request.param
    ti.init()


@ti.func
def add(x: ti.Tensor, i, by):
    if i < 0:
        return
    x[i] += by


@ti.func
def is_there(x: ti.Tensor) -> ti.i32:
    return 1 if ti.static(x is not None) else 0


@ti.kernel
def both(x: ti.Tensor, y: ti.Tensor | None) -> ti.i32:
    if ti.static(x is not None):
        for i in x:
            add(x, i, i + 1)
    return is_there(x) * 10 + is_there(y)


@pytest.mark.parametrize("backend", BACKENDS)
def test_factories(backend):
    kind = ti.Field if backend is ti.Backend.FIELD else ti.Ndarray
    x = ti.tensor(ti.f32, (3, 5), backend=backend, needs_grad=True)
    v = ti.Vector.tensor(3, ti.f32, 4, backend=backend)
    m = ti.Matrix.tensor(2, 3, ti.f64, shape=(2,), backend=int(backend), needs_grad=True)
    assert type(x) is type(v) is type(m) is kind and type(x.grad) is type(m.grad) is kind
    assert (x.shape, x.dtype, v.element_shape, m.element_shape, m.dtype) == ((3, 5), ti.f32, (3,), (2, 3), ti.f64)
    found = [[isinstance(one, c) for c in (ti.Tensor, ti.VectorTensor, ti.MatrixTensor)] for one in (x, v, m)]
    assert found == [[True, False, False], [True, True, False], [True, False, True]]
    assert ti.wrap(x) is x is ti.Tensor(x) and ti.VectorTensor(v) is v
    assert not isinstance(np.zeros(3), ti.Tensor) and not isinstance(None, ti.Tensor)
    assert isinstance(ti.Struct.field({"a": ti.f32}, 3), ti.Tensor)
    assert isinstance(ti.tensor(ti.f32, ()), ti.Ndarray)


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: ti.tensor(ti.f32, (4, 5), layout=(0, 1, 2)), ValueError, "layout must be a permutation of range(2), found (0, 1, 2)"),
        (lambda: ti.tensor(ti.f32, 4, layout=(1,)), ValueError, "permutation of range(1)"),
        (lambda: ti.tensor(ti.f32, (4, 5), layout=(0, 0)), ValueError, "permutation"),
        (lambda: ti.tensor(ti.f32, (4, 5), order="ji"), TypeError, "'order'"),
        (lambda: ti.Vector.tensor(2, ti.f32, (4, 5), layout=(1, 0)), TypeError, "'layout'"),
        (lambda: ti.tensor(ti.f32, 4, backend=7), ValueError, "backend must be one of Backend.FIELD, Backend.NDARRAY, found 7"),
        (lambda: ti.tensor(ti.field(ti.f32, 3), 4), TypeError, "expected a dtype, found Field, which is a tensor already"),
        (lambda: ti.tensor("f", 4), ti.PestleError, "dtype"),
        (lambda: ti.wrap(3), TypeError, "expected a field or an ndarray, found int"),
        (lambda: ti.VectorTensor(ti.field(ti.f32, 3)), TypeError, "VectorTensor: expected"),
        (lambda: both([1], None), ti.KernelArgumentError, "argument 'x' of kernel 'both': expected an array"),
        (lambda: both(3, None), ti.KernelArgumentError, "found int"),
    ],
)
def test_refused(make, error, text):
    with pytest.raises(error) as e:
        make()
    assert text in str(e.value)


@pytest.mark.parametrize("backend", BACKENDS)
def test_layouts(way, backend):
    @ti.kernel
    def fill(x: ti.Tensor):
        for i, j, k in x:
            x[i, j, k] = i * 100 + j * 10 + k

    expected = np.fromfunction(lambda i, j, k: i * 100 + j * 10 + k, (2, 3, 4)).astype(np.float32)
    for layout in [(0, 1, 2), (2, 0, 1), [1, 2, 0], (2, 1, 0), None]:
        x = ti.tensor(ti.f32, (2, 3, 4), layout=layout, backend=backend)
        fill(x)
        strides = np.asarray(x).strides
        assert x.shape == (2, 3, 4) and np.array_equal(x.to_numpy(), expected) and x[1, 2, 3] == 123
        order = sorted(range(3), key=lambda axis: -strides[axis])
        assert order == list(layout or (0, 1, 2))
        y = ti.tensor(ti.f32, (2, 3, 4), layout=(1, 0, 2), backend=backend)
        y.copy_from(x)
        y[1, 2, 3] = 5
        assert y.to_numpy()[1, 2, 3] == 5 and np.array_equal(y.to_numpy()[0], expected[0])


def test_order_of_ndarrays():
    x = ti.ndarray(ti.i32, (2, 3), order="ji")
    assert np.asarray(x).strides == (4, 8) == np.asarray(ti.ndarray(ti.i32, (2, 3), False, None, "ji")).strides
    v = ti.Vector.ndarray(2, ti.f32, (2, 3), order="ji")
    assert np.asarray(v).strides == (8, 16, 4)
    with pytest.raises(ti.PestleError):
        ti.ndarray(ti.i32, (2, 3), order="ik")


def test_annotation_takes_any_kind_in_any_order(way):
    def kinds():
        return [ti.tensor(ti.i32, 3), ti.field(ti.i32, 3), np.zeros(3, np.int32), ti.field(ti.i32, 3, offset=0), None]

    for first in range(5):
        for x in kinds()[first:] + kinds()[:first]:
            assert both(x, None) == (0 if x is None else 10)
            assert both(x, x) == (0 if x is None else 11)
            assert x is None or list(np.asarray(x)) == [2, 4, 6]
    moved = ti.field(ti.i32, 3, offset=2)
    both(moved, None)
    assert moved.to_numpy().tolist() == [3, 4, 5]


def test_what_is_known_of_a_field(way):
    @ti.kernel
    def length(x: ti.Tensor) -> ti.i32:
        n = 0
        for _ in ti.static(range(x.shape[0])):
            n += 1
        return n

    assert length(ti.field(ti.i32, 3)) == 3 and length(ti.field(ti.i32, 4)) == 4


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_members_and_structs(way, backend):
    @dataclasses.dataclass
    class State:
        a: ti.Tensor
        b: typing.Optional[ti.Tensor]

    @ti.kernel
    def write(x: ti.Tensor):
        for i in x:
            x.grad[i] = i * 100

    @ti.kernel
    def step(s: State):
        for i in s.a:
            s.a[i] += 1
            if ti.static(s.b is not None):
                s.a[i] += s.b[i]

    @ti.kernel
    def set(x: ti.Tensor):
        for i in x:
            x[i].a = i

    x = ti.tensor(ti.f32, 3, backend=backend, needs_grad=True)
    write(x)
    assert x.grad.to_numpy().tolist() == [0, 100, 200]
    for other in BACKENDS:
        y = ti.tensor(ti.f32, 3, backend=other)
        step(State(y, x)), step(State(y, None)), step(State(y, y))
        assert y.to_numpy().tolist() == [6, 6, 6]
    S = ti.types.struct(a=ti.f32, b=ti.i32)
    for s in (S.field(3), S.ndarray(3)):
        set(s)
        assert s[2].a == 2
