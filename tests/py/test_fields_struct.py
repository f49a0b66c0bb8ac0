"""Fields of structs: a field for each member."""

import numpy as np
import pytest

import pestle as ti

VEC3 = ti.types.vector(3, ti.f32)
PARTICLE = ti.types.struct(pos=VEC3, mass=ti.f64, tag=ti.i8)
NESTED = ti.types.struct(a=ti.i32, inner=PARTICLE)


@ti.dataclass
class Ball:
    pos: VEC3
    r: ti.f32

    @ti.func
    def volume(self):
        return self.r * self.r * self.r

    @ti.func
    def grow(self, by):
        self.r += by


LAYOUTS = [ti.Layout.AOS, ti.Layout.SOA]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_from_python(layout):
    x = PARTICLE.field(shape=(2, 3), layout=layout, name="x")
    assert x.shape == (2, 3) and x.ndim == 2 and x.keys() == ["pos", "mass", "tag"] and x.dtype is PARTICLE and len(x) == 2
    assert x.name == "x" and x.grad is None and bool(x)
    x[0, 1] = PARTICLE(pos=[1, 2, 3], mass=2, tag=3)
    x[1, 0] = {"pos": [4, 5, 6], "mass": 5, "tag": 6}
    x[1, 2].mass = 7
    x[1, 2].pos[1] = 8
    x[1, 2].pos.z = 9
    assert x[0, 1] == PARTICLE(pos=[1, 2, 3], mass=2, tag=3) and x[1, 0].pos.to_list() == [4, 5, 6]
    arrays = x.to_numpy()
    assert arrays["mass"].tolist() == [[0, 2, 0], [5, 0, 7]] and arrays["pos"][1, 2].tolist() == [0, 8, 9]
    assert x.get_member_field("tag") is x.tag and x.tag.tolist() == [[0, 3, 0], [6, 0, 0]]
    y = PARTICLE.field(shape=(2, 3))
    y.copy_from(x)
    x.fill(0)
    x.fill(PARTICLE(pos=[1, 1, 1], mass=1, tag=1))
    assert x.mass.tolist() == [[1] * 3] * 2
    x.from_numpy(arrays)
    assert all(np.array_equal(x.to_numpy()[name], y.to_numpy()[name]) for name in x.keys())


def test_memory():
    x = PARTICLE.field(shape=4)  # as in C: 12 bytes, 4 of padding before the double, 8, 1 and 7 of padding
    places = [np.asarray(m).ctypes.data for m in (x.pos, x.mass, x.tag)]
    assert [p - places[0] for p in places] == [0, 16, 24] and np.asarray(x.mass).strides == (32,)
    y = ti.Struct.field({"a": ti.i8, "b": ti.f64}, shape=(2, 3), order="ji", layout=ti.Layout.SOA, needs_grad=False)
    assert np.asarray(y.a).strides == (1, 2) and np.asarray(y.b).strides == (8, 16)
    z = NESTED.field(shape=3)
    assert np.asarray(z.inner.pos).strides == (40, 4) and np.asarray(z.inner.pos).ctypes.data % 8 == 0
    assert NESTED.field(shape=3, needs_grad=True).grad.inner.mass.shape == (3,)
    assert ti.field(PARTICLE, 5).shape == (5,) and PARTICLE.field(()).shape == ()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_kernels(layout):
    x, y = PARTICLE.field(shape=4, layout=layout), ti.Struct.field({"pos": VEC3, "mass": ti.f64, "tag": ti.i8}, shape=4)

    @ti.kernel
    def run() -> ti.f64:
        total = ti.f64(0)
        for i in x:
            x[i].pos = ti.Vector([i, 1, 2])
            x[i].pos.y += 0.5
            x[i].mass += i
            total += x[i].mass
            y[i] = x[i]
            y[i].tag = 9
            p = x[i]
            p.mass = 100
            y.pos[i].z = -1
        return total + x.shape[0] * 100 + len(y) * 1000

    assert run() == 4406
    assert x.mass.tolist() == [0, 1, 2, 3] and y.mass.tolist() == [0, 1, 2, 3] and y.tag.tolist() == [9] * 4
    assert x.pos.tolist() == [[i, 1.5, 2] for i in range(4)] and y.pos.tolist() == [[i, 1.5, -1] for i in range(4)]
    assert run._evaluate() == 4412


def test_methods_and_nesting():
    balls, nested = Ball.field(shape=3), NESTED.field(shape=(2, 3))
    balls.r.fill(2)

    @ti.kernel
    def run(f: ti.template()) -> ti.f32:
        s = 0.0
        for I in ti.grouped(nested):
            nested[I].a = 10 * I[0] + I[1]
            nested[I].inner.pos.x = I[1]
        for i in f:
            f[i].grow(1)
            s += f[i].volume()
        return s

    assert run(balls) == 81 and balls.r.tolist() == [3] * 3
    assert nested.a.tolist() == [[0, 1, 2], [10, 11, 12]] and nested[1, 2].inner.pos.x == 2
    nested[1, 2].inner.mass = 4
    assert nested.inner.mass[1, 2] == 4


def test_without_axes():
    state = ti.Struct.field({"n": ti.i32, "v": VEC3}, shape=())

    @ti.kernel
    def step():
        state[None].n += 1
        for i in range(10):
            state[None].v[i % 3] += 1.0

    step()
    assert state[None].n == 1 and state[None].v.to_list() == [4, 3, 3]
