"""Vectors, matrices, structs, fields and dataclasses in kernels as plain Python. What tests/language.py runs is compared,
too; here stand launches with fields and structs, and what only plain Python has."""

import dataclasses
import sys

import numpy as np
import pytest

import pestle as ti
import pestle.math as tm
from language import both

vec2, vec3, mat3 = ti.types.vector(2, ti.f32), ti.types.vector(3, ti.f32), ti.types.matrix(3, 3, ti.f32)
V3 = ti.types.ndarray(dtype=vec3, ndim=1)
Inner = ti.types.struct(v=vec2, k=ti.u8)


@ti.dataclass
class Ball:
    pos: vec3
    mass: ti.f32
    inner: Inner

    @ti.func
    def push(self, by):
        self.pos += by / self.mass
        self.mass *= 1.1
        self.inner.k += 200

    @ti.func
    def energy(self) -> ti.f32:
        return 0.5 * self.mass * self.pos.norm_sqr() + self.inner.v.dot(self.inner.v)


balls, scalars, vectors = Ball.field(shape=(2, 3)), ti.field(ti.f32, 4), ti.Vector.field(3, ti.f32, 4, layout=ti.Layout.SOA)
matrices, number, ints = ti.Matrix.field(3, 3, ti.f32, 4), ti.field(ti.f32, ()), ti.field(ti.i16, 4)


def state():
    return {
        "balls": {name: a.tobytes() for name, a in flat(balls.to_numpy()).items()},
        "fields": [f.to_numpy().tobytes() for f in (scalars, vectors, matrices, number, ints)],
    }


def flat(arrays, prefix=""):
    found = {}
    for name, a in arrays.items():
        found.update(flat(a, prefix + name + ".") if isinstance(a, dict) else {prefix + name: a})
    return found


def same(kernel, *args):
    """Both ways, from the same contents of the fields: the same results, and the same contents afterwards."""
    found = []
    for arch in (ti.cpu, ti.python):
        ti.init(arch=arch)
        rng = np.random.default_rng(3)
        for f in (scalars, vectors, matrices, number):
            f.from_numpy(rng.uniform(-2, 2, f.to_numpy().shape).astype(np.float32))
        ints.from_numpy(np.arange(4, dtype=np.int16))
        for i, j in np.ndindex(2, 3):
            balls[i, j] = Ball(rng.uniform(-2, 2, 3).astype(np.float32), 1 + i + j, Inner([i, j + 0.1], 250 + i))
        given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        result = kernel(*given)
        found.append((repr(result), state(), [a.tobytes() for a in given if isinstance(a, np.ndarray)]))
    assert found[0] == found[1]
    return result


def test_fields_of_all_kinds():
    @ti.kernel
    def f(t: ti.template()) -> ti.f32:
        for i in scalars:
            scalars[i] += vectors[i].dot(vectors[i]) / 3 + t[i].x
            vectors[i] = matrices[i] @ vectors[i] * 0.3 + vectors[i]
            vectors[i].xy = vectors[i].yx
            vectors[i][2] -= scalars[i] * 0.7
            matrices[i][i % 3, 1] = 7
            matrices[i] = matrices[i].transpose() * 2 - matrices[i]
            ints[i] += 40000
        for i in range(scalars.shape[0]):
            number[None] += scalars[i] / scalars.shape[0]
        for I in ti.grouped(vectors):
            old = ti.atomic_add(vectors[I], ti.Vector([1.0, 0.1, 0.01]))
            ti.atomic_max(vectors[I][1], old[2])
        return number[None]

    same(f, vectors)


def test_fields_of_structs():
    @ti.kernel
    def f(x: ti.template()) -> ti.f32:
        total = 0.0
        for i, j in balls:
            balls[i, j].push(ti.Vector([0.1, 0.2, 0.3]) * i)
            b = x[i, j]
            b.pos.x = 100  # of a copy
            total += b.energy()
            x[i, j].inner.v[1] += total
            x.mass[i, j] += 0.5
            old = ti.atomic_add(x[i, j].mass, 0.25)
            x[i, j].inner = Inner(v=[old, 1], k=7)
        for I in ti.grouped(x):
            if I[0] == I[1]:
                x[I] = Ball(1.5, 2, Inner(3))
        return total

    same(f, balls)


def test_structs_as_values():
    @ti.func
    def changed(b: Ball, s: ti.template()):
        b.mass = 77  # of a copy
        s.a += 1
        s.v = s.v.yx * s.a
        return ti.Struct(a=b.mass, v=s.v)

    @ti.kernel
    def f(b: Ball, n: ti.i32) -> Ball:
        s = ti.Struct(a=n, v=ti.Vector([1.5, 0.1]))
        t = s
        r = changed(b, s)
        c = Ball(b.pos + r.v.x, s.a + t.a, b.inner)
        c, d = b, c
        c.mass += d.mass + r.a
        c.inner.k -= 3
        c.pos[n] = t.v[1]
        return c

    @ti.kernel
    def pair(b: Ball) -> tuple[vec3, ti.i32]:
        return b.pos * 2, b.mass

    same(f, Ball([1, 2, 3], 0.1, Inner([4, 5], 2)), 2)
    same(f, {"pos": [1, 2, 3], "mass": 0.1, "inner": {"v": [4, 5], "k": 2}}, 0)
    same(pair, Ball([1, 2, 3], 2.7))


def test_arrays_of_vectors():
    @ti.kernel
    def f(x: V3, y: ti.types.ndarray(dtype=mat3, ndim=1)):
        for i in x:
            x[i] += y[i] @ x[i]
            x[i][1] *= 0.1
            y[i][0, 2], y[i][1, 1] = y[i][1, 1], y[i][0, 2]
            for k in ti.static(range(3)):
                y[i][k, 0] += x[i][k]

    rng = np.random.default_rng(1)
    both(f, rng.standard_normal((5, 3)).astype(np.float32), rng.standard_normal((5, 3, 3)).astype(np.float32))
    ti.init(arch=ti.python)
    frozen = np.ones((5, 3), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(ti.KernelValueError, match="read-only"):
        f(frozen, np.ones((5, 3, 3), np.float32))
    ours = ti.Vector.ndarray(3, ti.f32, 5)
    ours.fill(1)
    f(ours, np.ones((5, 3, 3), np.float32))
    np.testing.assert_array_equal(ours.to_numpy()[2], np.array([4, 0.4, 4], np.float32))


def test_dataclasses():
    @dataclasses.dataclass
    class Scene:
        x: ti.types.ndarray(dtype=vec3, ndim=1)
        gravity: vec3
        dt: ti.f32
        f: ti.template()

    @ti.func
    def step(s: Scene, i):
        s.x[i] += s.gravity * s.dt
        s.f[i] = s.x[i] * 2 + s.gravity

    @ti.kernel
    def f(s: Scene):
        for i in s.x:
            step(s, i)

    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    found = []
    for arch in (ti.cpu, ti.python):
        ti.init(arch=arch)
        scene = Scene(x.copy(), ti.Vector([0, -9.8, 0.1], dt=ti.f32), 0.3, vectors)
        f(scene)
        found.append((scene.x.tobytes(), vectors.to_numpy().tobytes()))
    assert found[0] == found[1]


def test_math_and_decompositions():
    @ti.kernel
    def f(a: mat3, v: vec3, n: ti.i32) -> mat3:
        u, s, w = ti.svd(a)
        r = tm.rot_by_axis(v.normalized(), 0.3)
        q = tm.mix(v, tm.reflect(v, tm.normalize(v.zyx)), 0.2) + tm.cross(v, v.yzx)
        m = u @ s @ w.transpose() + a.inverse() * a.determinant()
        for i in ti.static(range(3)):
            m[i, n] += r[i, 0] * q[i] + tm.clamp(v[i], -1.0, 0.5)
        return m + v.outer_product(q) * v.norm(1e-3) + ti.select(v.max() > 1, a, m)

    same(f, [[1, 2, 3], [0, 1, 4], [5, 6, 0.1]], [0.1, 2, 0.3], 1)


def test_contraction_of_vectors():
    @ti.kernel
    def f(x: V3, y: V3, z: V3):
        for i in x:
            a, b = x[i], y[i]
            p = a * b
            z[i] = a * b + p - b * a * 0.3 - (p + a**2)
            z[i] += a * b
            p += a * b
            p -= 0.7 * b
            z[i] = z[i] + p + a.cross(b) + a.normalized() - b
            z[i] -= a.outer_product(b)[1, :] * 0.1

    rng = np.random.default_rng(5)
    both(f, *(rng.standard_normal((20, 3)).astype(np.float32) for _ in range(3)))


def test_refused():
    @ti.kernel
    def outside(v: vec3, i: ti.i32) -> ti.f32:
        return v[i]

    @ti.kernel
    def shapes(v: vec3):
        w = ti.Vector([1.0, 2.0])
        w = v  # noqa: F841

    ti.init(arch=ti.python)
    for i in (3, -1):
        with pytest.raises(ti.KernelAssertionError, match=f"index {i} is out of bounds for axis 0 with length 3"):
            outside([1, 2, 3], i)
    with pytest.raises(ti.KernelTypeError, match="the shapes differ"):
        shapes([1, 2, 3])


def test_what_a_debugger_shows():
    @ti.kernel
    def f(b: Ball):
        v = b.pos * 2
        s = ti.Struct(n=3, v=v)
        print(s, v)

    seen = {}

    def trace(frame, event, arg):
        if frame.f_code.co_name == "f":
            seen.update({k: repr(value) for k, value in frame.f_locals.items()})
            return trace
        return None

    ti.init(arch=ti.python)
    sys.settrace(trace)
    try:
        f(Ball([1, 2, 0.1], 1))
    finally:
        sys.settrace(None)
    assert seen["v"] == "Vector([2.0, 4.0, 0.2], dt=f32)" and "n=3" in seen["s"] and seen["b"].startswith("Ball(pos=")
