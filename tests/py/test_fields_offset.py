"""Fields whose indices do not start at 0."""

import copy

import numpy as np
import pytest

import pestle as ti

OFFSETS = [(16, -16), (-40, 7), (0, 3), (0, 0), (-(2**20), 2**30)]
SHAPE = (5, 6)


def indices(offset):
    i, j = (np.arange(n) + o for n, o in zip(SHAPE, offset))
    return i[:, None], j[None, :]


@pytest.fixture(params=[False, True], ids=["plain", "checked"], autouse=True)
def mode(request):
    ti.init(checked=request.param)
    yield request.param
    ti.init()


@pytest.mark.parametrize("offset", OFFSETS)
def test_scalars(offset):
    x = ti.field(ti.i64, SHAPE, offset=offset)
    y = ti.field(ti.i64, SHAPE, offset=offset, order="ji")

    @ti.kernel
    def number():
        for i, j in x:
            x[i, j] = i + 1000 * ti.i64(j)
        for I in ti.grouped(y):
            y[I] = x[I] - 1
            y[I] += 2

    number()
    i, j = indices(offset)
    want = i + 1000 * j
    assert x.offset == offset and x.shape == SHAPE
    assert np.array_equal(x.to_numpy(), want) and np.array_equal(y.to_numpy(), want + 1)
    for a in i[:, 0].tolist():
        for b in j[0].tolist():
            assert x[a, b] == a + 1000 * b == y[a, b] - 1
    x[i[1, 0], j[0, 2]] = 7
    assert x.to_numpy()[1, 2] == 7


@pytest.mark.parametrize("offset", OFFSETS)
def test_elements(offset):
    vectors = ti.Vector.field(3, ti.f64, SHAPE, offset=offset)
    matrices = ti.Matrix.field(2, 3, ti.f64, SHAPE, offset=offset, layout=ti.Layout.SOA)
    for layout in (ti.Layout.AOS, ti.Layout.SOA):
        structs = ti.types.struct(a=ti.f64, v=ti.types.vector(3, ti.f64)).field(SHAPE, offset=offset, layout=layout)

        @ti.kernel
        def number():
            for i, j in vectors:
                vectors[i, j][1] = i
                vectors[i, j].z = j
            for i, j in matrices:
                matrices[i, j][1, 2] += i
                matrices[i, j] += 1
            for i, j in structs:
                structs[i, j].a = i
                structs[i, j].v = vectors[i, j]
                structs.v[i, j].x += 5

        matrices.fill(0)
        number()
        i, j = indices(offset)
        zero = 0 * (i + j)
        assert structs.offset == structs.v.offset == vectors.offset == offset
        assert np.array_equal(vectors.to_numpy(), np.stack([zero, zero + i, zero + j], axis=-1))
        assert np.array_equal(matrices.to_numpy()[..., 1, 2], zero + i + 1) and np.all(matrices.to_numpy()[..., 0, :] == 1)
        assert np.array_equal(structs.a.to_numpy(), zero + i)
        at = int(i[2, 0]), int(j[0, 3])
        assert list(structs[at].v) == [5, at[0], at[1]] and matrices[at][0, 0] == 1
        structs[at].a = -1
        matrices[at][1, 1] = -2
        assert structs.a[at] == -1 and matrices.to_numpy()[2, 3, 1, 1] == -2


def test_one_axis_and_known_indices():
    x = ti.field(ti.i32, 4, offset=-2)

    @ti.kernel
    def known() -> ti.i32:
        x[-2] = 1
        x[1] = 2
        for k in ti.static(range(-1, 1)):
            x[k] = k * 10
        return x[-2] + x[1] + x.offset[0] * 100 + ti.static(x.offset[0]) * 1000

    assert known() == 3 - 2200
    assert x.tolist() == [1, -10, 0, 2] and list(x) == [1, -10, 0, 2]


def test_the_offset_is_part_of_the_type():
    @ti.kernel
    def total(x: ti.template()) -> ti.i64:
        found = ti.i64(0)
        for i in x:
            found += i * x[i]
        return found

    for offset in (None, 3, -3, 0, 3):
        x = ti.field(ti.i32, 3, offset=offset)
        x.fill(1)
        assert total(x) == 3 + 3 * (offset or 0)


def test_a_name_that_gets_a_field_with_another_offset():
    global shifted
    shifted = ti.field(ti.i32, 3, offset=5)

    @ti.kernel
    def first() -> ti.i32:
        least = 1000
        for i in shifted:
            ti.atomic_min(least, i)
            shifted[i] = i
        return least

    assert first() == 5
    for offset in (7, None, -1, 7):
        shifted = ti.field(ti.i32, 3, offset=offset)
        assert first() == (offset or 0) and shifted.tolist() == [(offset or 0) + k for k in range(3)]


def test_funcs():
    x, y = ti.field(ti.f32, 8, offset=-4), ti.field(ti.f32, 8, offset=100)

    @ti.func
    def put(a: ti.template(), i, v):
        if v < 0:
            a[i] = 0
        else:
            a[i] = v

    @ti.real_func
    def get(i: ti.i32) -> ti.f32:
        return y[i]

    @ti.kernel
    def copy_over() -> ti.f32:
        for i in x:
            put(x, i, ti.f32(i))
            put(y, i + 104, ti.f32(-i))
        return get(100)

    assert copy_over() == 4
    assert x.tolist() == [0, 0, 0, 0, 0, 1, 2, 3] and y.tolist() == [4, 3, 2, 1, 0, 0, 0, 0]


def test_gradients_copies_and_views():
    x = ti.Vector.field(2, ti.f32, 3, offset=10, needs_grad=True)

    @ti.kernel
    def number():
        for i in x:
            x[i] = [i, -i]
            x.grad[i].x = 2 * i

    number()
    assert x.grad.offset == (10,) and x.grad[12].x == 24
    assert copy.deepcopy(x)[11].y == -11 and x.get_scalar_field(1)[12] == -12
    other = ti.Vector.field(2, ti.f32, 3)
    other.copy_from(x)
    assert other[2].x == 12
    assert repr(x) == repr(other)


def test_atomics_and_sums():
    x = ti.field(ti.i32, 1000, offset=-500)
    total = ti.field(ti.i32, 1, offset=9)

    @ti.kernel
    def add():
        for i in x:
            x[i] += 2
            total[9] += x[i]
        for i in range(-500, 499):
            x[i + 1] += i

    add()
    assert total[9] == 2000
    assert np.array_equal(x.to_numpy(), np.concatenate([[2], np.arange(-498, 501)]))
