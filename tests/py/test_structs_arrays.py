"""Ndarrays of structs, and fields of structs as arguments."""

import copy
import pickle

import numpy as np
import pytest

import pestle as ti

Inner = ti.types.struct(k=ti.u8, d=ti.f64)
S = ti.types.struct(a=ti.i32, v=ti.math.vec3, w=Inner, m=ti.types.matrix(2, 2, ti.f16))
LAYOUTS = [ti.Layout.AOS, ti.Layout.SOA]


@ti.dataclass
class Ball:
    mass: ti.f32
    v: ti.math.vec3

    @ti.func
    def push(self, by):
        if by < 0:
            return 0
        self.mass += by
        self.v[1] += by
        self.v.x = by
        return 1


@pytest.fixture(params=[False, True], ids=["plain", "checked"], autouse=True)
def mode(request):
    ti.init(checked=request.param)
    yield
    ti.init()


@ti.kernel
def number(x: ti.types.ndarray(dtype=S, ndim=2), s: ti.i32) -> ti.f64:
    total = ti.f64(0)
    for i, j in x:
        x[i, j].a = i * 10 + j
        x[i, j].v = [i, j, s]
        x[i, j].w.d += s
        x[i, j].w.k = 250 + j
        x[i, j].m[1, 0] = 0.5
        x.v[i, j].z += 1
    for I in ti.grouped(x):
        total += x[I].w.d + x[I].a + x[I].m[1, 0]
    return total


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("make", [lambda n, **k: S.ndarray(n, **k), lambda n, **k: ti.ndarray(S, n, **k), lambda n, **k: S.field(n, **k)])
def test_elements(make, layout):
    x = make((2, 3), layout=layout)
    assert x.shape == (2, 3) and x.ndim == 2 and x.size == 6 and x.keys() == ["a", "v", "w", "m"] and x.dtype is S
    assert number(x, 2) == 6 * 2.5 + 36 and number._evaluate(x, 2) == 6 * 4.5 + 36 and number(x, 2) == 6 * 6.5 + 36
    i, j = np.mgrid[:2, :3]
    found = x.to_numpy()
    assert np.array_equal(found["a"], i * 10 + j) and np.array_equal(found["v"], np.stack([i, j, 0 * i + 3], axis=-1))
    assert np.all(found["w"]["d"] == 6) and np.array_equal(found["w"]["k"], 250 + j) and np.all(found["m"][..., 1, 0] == 0.5)
    assert x[1, 2].a == 12 and list(x[1, 2].v) == [1, 2, 3] and x[1, 2].w.k == 252
    x[1, 2].w.d = -1
    x[0, 0] = {"a": 5, "v": [7, 8, 9], "w": {"k": 1, "d": 2}, "m": [[1, 2], [3, 4]]}
    assert x.w.d[1, 2] == -1 and x[0, 0].v.y == 8 and x.m[0, 0][1, 1] == 4
    other = make((2, 3), layout=layout)
    other.from_numpy(x.to_numpy())
    third = S.ndarray((2, 3))
    third.copy_from(other)
    assert third[0, 0].w.d == 2 and third[1, 2].a == 12
    third.fill(0)
    assert third[0, 0].w.d == 0


def test_how_it_lies():
    x, y = S.ndarray(4), S.ndarray(4, layout=ti.Layout.SOA)
    assert np.asarray(x.a).strides == (40,) and np.asarray(x.v).strides == (40, 4) and np.asarray(x.w.d).strides == (40,)
    assert np.asarray(y.a).strides == (4,) and np.asarray(y.v).strides == (4, 16)
    assert type(x.v) is ti.Ndarray and type(x.w) is ti.StructNdarray
    v = ti.Vector.ndarray(3, ti.f32, 5, layout=ti.Layout.SOA)
    assert np.asarray(v).strides == (4, 20) and v.layout is ti.Layout.SOA
    assert ti.ndarray(S, 0).shape == (0,) and ti.ndarray(S, ()).shape == ()


def test_one_compilation_for_many():
    @ti.kernel
    def first(x: ti.types.ndarray()) -> ti.i32:
        return x[1].a

    @ti.kernel
    def template(x: ti.template()) -> ti.i32:
        total = 0
        for i in x:
            total += x[i].a
        return total

    @ti.kernel
    def unrolled(x: ti.template()) -> ti.i32:
        total = 0
        for i in ti.static(range(x.shape[0])):
            total += x[i].a
        return total

    for n in (2, 3, 4):
        x, f = S.ndarray(n), S.field(n)
        x.a.fill(n)
        f.a.fill(n)
        alike = ti.types.struct(a=ti.i32, v=ti.math.vec3, w=ti.types.struct(k=ti.u8, d=ti.f64), m=ti.types.matrix(2, 2, ti.f16)).field(n)
        alike.a.fill(1)
        assert first(x) == n and template(f) == n * n and template(alike) == n and unrolled(f) == n * n
    assert first._times["specialisations"] == template._times["specialisations"] == 1
    assert unrolled._times["specialisations"] == 3
    assert template(S.field(3, layout=ti.Layout.SOA)) == 0 and template(S.field(3, offset=-1)) == 0
    assert template._times["specialisations"] == 3
    with pytest.raises(ti.KernelSyntaxError, match="1 names for 2 axes"):
        template(S.field((3, 2)))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_elements_in_funcs(layout):
    field, array = Ball.field(5, layout=layout, offset=2), Ball.ndarray(5, layout=layout)

    @ti.func
    def kick(b: ti.template(), by):
        if by < 0:
            return 0.0
        b.v += by
        return b.mass

    @ti.func
    def energy(x, i):
        if i < 0:
            return 0.0
        return x[i].mass + x[i].v.x

    @ti.real_func
    def mass(x: ti.types.ndarray(dtype=Ball), i: ti.i32) -> ti.f32:
        return x[i].mass

    @ti.func
    def copied(b: Ball, n):
        if n > 10:
            return b.mass
        b.mass = 100
        return b.mass

    @ti.kernel
    def push(x: ti.types.ndarray(dtype=Ball), s: ti.f32) -> ti.f32:
        total = 0.0
        for i in field:
            total += field[i].push(s) + x[i - 2].push(s * 2)
            total += kick(field[i], s)
        return total

    @ti.kernel
    def add(x: ti.types.ndarray(dtype=Ball), y: ti.template()) -> ti.f32:
        total = 0.0
        for i in range(5):
            total += energy(x, i) + energy(field, i + 2) + energy(y, i + 2) + mass(x, i) + 0 * copied(x[i], i)
        return total

    assert push(array, 2.0) == 20 and push(array, -1.0) == 0
    assert np.all(field.mass.to_numpy() == 2) and np.array_equal(field.v.to_numpy(), np.tile([4, 4, 2], (5, 1)))
    assert np.all(array.mass.to_numpy() == 4) and np.array_equal(array.v.to_numpy(), np.tile([4, 4, 0], (5, 1)))
    assert add(array, field) == 120 == add._evaluate(array, field)
    assert np.all(array.mass.to_numpy() == 4)


def test_updates_in_funcs_are_atomic():
    balls = Ball.field(2)

    @ti.kernel
    def push(n: ti.i32):
        for i in range(n):
            balls[i % 2].push(1.0)

    push(10000)
    assert balls.mass.tolist() == [5000, 5000] and balls[0].v.y == 5000


def test_an_element_is_found_anew_in_recursion():
    balls = Ball.field(4)

    @ti.func
    def down(b: ti.template(), n):
        if n <= 0:
            return 0
        b.mass += 1
        return 1 + down(b, n - 1)

    @ti.kernel
    def run() -> ti.i32:
        total = 0
        for i in range(4):
            total += down(balls[i], i)
        return total

    assert run() == 6 and balls.mass.tolist() == [0, 1, 2, 3]


def test_as_a_member_and_from_outside():
    import dataclasses

    @dataclasses.dataclass
    class World:
        balls: ti.types.ndarray(dtype=Ball)
        more: ti.template()

    array = Ball.ndarray(3)

    @ti.kernel
    def run(w: World) -> ti.f32:
        total = 0.0
        for i in w.balls:
            w.balls[i].mass = i + 1
            w.more[i].v = [1, 2, 3]
            array[i].mass += 10
        for i in array:
            total += w.balls[i].mass + w.more.v[i].z + array[i].mass
        return total

    for _ in range(3):
        w = World(Ball.ndarray(3), Ball.field(3))
        array.fill(0)
        assert run(w) == 6 + 9 + 30 and w.more[2].v.y == 2
    assert run._times["specialisations"] == 1 and run._evaluate(w) == 6 + 9 + 60


def test_copying():
    x = S.ndarray(2)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(x)
    with pytest.raises(TypeError, match="cannot be pickled"):
        copy.copy(x)
    assert repr(x) == "<pestle.ndarray of structs shape=(2,) members=('a', 'v', 'w', 'm')>"
