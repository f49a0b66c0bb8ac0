"""x.fill(v) in kernels."""

import numpy as np
import pytest

import pestle as ti

V2 = ti.types.vector(2, ti.i32)
Ball = ti.types.struct(mass=ti.f32, at=ti.math.vec3)


@pytest.fixture(params=[False, True], ids=["plain", "checked"], autouse=True)
def mode(request):
    ti.init(checked=request.param)
    yield
    ti.init()


@pytest.mark.parametrize("layout", [ti.Layout.AOS, ti.Layout.SOA])
def test_fields(layout):
    x = ti.field(ti.i32, (3, 4), offset=(1, -1))
    none = ti.field(ti.f64, ())
    m = ti.Matrix.field(2, 3, ti.f32, 5, layout=layout)
    s = Ball.field(6, layout=layout)

    @ti.kernel
    def fill(v: ti.i32, w: ti.types.matrix(2, 3, ti.f32)):
        x.fill(v + 1)
        none.fill(v)
        m.fill(w * 2)
        s.fill(Ball(3, [1, 2, 3]))
        s.at.fill([v, 0, -1])

    @ti.kernel
    def numbers(v: ti.i32):
        m.fill(v)
        s.fill(val=v)

    fill(7, [[1, 2, 3], [4, 5, 6]])
    assert np.all(x.to_numpy() == 8) and none[None] == 7
    assert np.array_equal(m.to_numpy(), np.tile([[2, 4, 6], [8, 10, 12]], (5, 1, 1)))
    assert np.all(s.mass.to_numpy() == 3) and np.array_equal(s.at.to_numpy(), np.tile([7, 0, -1], (6, 1)))
    numbers(5)
    assert np.all(m.to_numpy() == 5) and np.all(s.mass.to_numpy() == 5) and np.all(s.at.to_numpy() == 5)


def test_arguments():
    @ti.kernel
    def fill(x: ti.types.ndarray(), y: ti.types.ndarray(dtype=V2), z: ti.template(), v: ti.i32):
        x.fill(v)
        y.fill([v, -1])
        z.fill(v * 3)

    x, y, z = np.zeros((3, 4), np.float32)[:, ::2], V2.ndarray(4), ti.field(ti.f64, 3)
    fill(x, y, z, 2)
    assert np.all(x == 2) and np.array_equal(y.to_numpy(), np.tile([2, -1], (4, 1))) and z.tolist() == [6, 6, 6]


def test_elements_and_variables():
    m = ti.Vector.field(2, ti.i32, 3)

    @ti.kernel
    def fill() -> ti.types.vector(3, ti.i32):
        m[1].fill(4)
        v = ti.Vector([1, 2, 3])
        v.fill(9)
        v.xy.fill(8)
        return v

    assert list(fill()) == [8, 8, 9] and m.to_numpy().tolist() == [[0, 0], [4, 4], [0, 0]]


def test_where_it_stands():
    x, counts = ti.field(ti.i32, 50), ti.field(ti.i32, 3)

    @ti.func
    def clear(a: ti.template(), v):
        if v > 0:
            a.fill(v)

    @ti.func
    def early(v):
        if v < 0:
            return 0
        x.fill(v)
        return 1

    @ti.kernel
    def run(n: ti.i32) -> ti.i32:
        clear(x, n)
        for i in range(1):
            counts.fill(n + i)
            clear(counts, 100)
        if n > 5:
            x.fill(n * 2)
        return early(-1) * 10 + early(x[3] + 1)

    assert run(3) == 1 and x.tolist() == [4] * 50 and counts.tolist() == [100] * 3
    assert run(6) == 1 and x.tolist() == [13] * 50


def test_the_value_is_taken_first():
    x = ti.field(ti.i32, 100)
    x.from_numpy(np.arange(100, dtype=np.int32))

    @ti.kernel
    def fill():
        x.fill(x[99] + 1)

    fill()
    assert x.tolist() == [100] * 100


def test_lossy():
    x = ti.field(ti.i32, 3)

    @ti.kernel
    def fill(v: ti.f32):
        x.fill(v)

    with pytest.warns(UserWarning, match="fill may lose precision: i32 <- f32"):
        fill(2.5)
    assert x.tolist() == [2, 2, 2]
