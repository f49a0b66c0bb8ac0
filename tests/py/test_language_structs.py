# SPDX-License-Identifier: Apache-2.0
"""Structs: made, nested, assigned, passed and returned; dataclasses with methods; vectors, matrices and structs as arguments
and results of kernels; struct values on the host."""

from typing import Tuple

import numpy as np
import pytest

import pestle as ti
from language import printed

vec3 = ti.types.vector(3, ti.f32)
mat2 = ti.types.matrix(2, 2, ti.i32)
Pair = ti.types.struct(a=ti.f32, v=vec3)
Nested = ti.types.struct(p=Pair, n=ti.i32)


def run(kernel, *args):
    """Compiled, checked and by the evaluator, on one thread and on two: the same values."""
    want = kernel(*args)
    assert repr(kernel._evaluate(*args)) == repr(want)
    for options in ({"checked": True}, {"threads": 1}, {"threads": 2}):
        ti.init(**options)
        assert repr(kernel(*args)) == repr(want)
    ti.reset()
    return want


@ti.dataclass
class Sphere:
    center: vec3
    radius: ti.f32

    @ti.func
    def area(self):
        return 3.0 * self.radius**2

    @ti.func
    def grow(self, by):
        self.radius += by
        self.center.x = 9
        return self.area()

    def plain(self):
        return self.radius * 2


def test_locals_and_methods():
    @ti.kernel
    def f(n: ti.i32) -> Tuple[ti.f32, ti.f32, ti.f32, vec3]:
        a = Sphere([1, 2, 3], 2)
        b = a
        area = b.grow(1.5)
        a.center[n] += 100
        a.center.yz = a.center.zy
        c = Sphere(radius=n)
        return area, b.plain() + c.radius, a.radius, a.center + c.center

    area, plain, radius, center = run(f, 1)
    assert (area, plain, radius, center.to_list()) == (36.75, 8, 2, [1, 3, 102])


def test_nesting_and_copies():
    @ti.kernel
    def f() -> Nested:
        x = Nested(p=Pair(1, [1, 2, 3]), n=3)
        y = x
        y.p.v[1] = 50
        y.p.a += x.p.v.sum()
        z = y.p
        z.a = -1
        x.p = z
        x.n = ti.cast(y.p.a, ti.i32)
        return x

    got = run(f)
    assert got.p.a == -1 and got.p.v.to_list() == [1, 50, 3] and got.n == 7


def test_in_branches_and_loops():
    @ti.kernel
    def f(n: ti.i32) -> Pair:
        best = Pair(-1, [0, 0, 0])
        for i in range(n):
            if i % 3 == 1:
                best = Pair(i, [i, i * 2, 0])
            else:
                best.v.z += 1
        return best

    got = run(f, 9)
    assert got.a == 7 and got.v.to_list() == [7, 14, 1]


def test_anonymous():
    @ti.kernel
    def f(x: ti.f32) -> ti.f32:
        s = ti.Struct(a=x, b=ti.Vector([1, 2]), inner=ti.Struct({"c": 3}))
        s.b += s.inner.c
        s.inner.c = 100
        t = s
        t.a = 0
        return s.a + s.b.sum() + s.inner.c + t.a

    assert run(f, 0.5) == 109.5


def test_arguments_of_funcs():
    @ti.func
    def by_value(p: Pair) -> Pair:
        p.a = 100
        return p

    @ti.func
    def by_reference(p):
        p.a = 200
        p.v = 1

    @ti.func
    def by_template(p: ti.template()):
        p.v.x = 7

    @ti.kernel
    def f() -> Tuple[ti.f32, ti.f32, ti.f32, vec3]:
        p = Pair(1, [1, 2, 3])
        q = by_value(p)
        first = p.a
        by_reference(p)
        by_template(p)
        return first, q.a, p.a, p.v

    first, q, p, v = run(f)
    assert (first, q, p, v.to_list()) == (1, 100, 200, [7, 1, 1])


@pytest.mark.parametrize("v", [[1, 2, 3], (1, 2, 3), np.array([1, 2, 3]), np.array([1, 2, 3], np.float32), ti.Vector([1, 2, 3]), vec3(1, 2, 3)],
                         ids=lambda v: type(v).__name__)  # fmt: skip
@pytest.mark.parametrize("m", [[[1, 2], [3, 4]], np.array([[1, 2], [3, 4]]), ti.Matrix([[1, 2], [3, 4]]), mat2(1, 2, 3, 4)], ids=lambda v: type(v).__name__)
def test_vector_arguments(v, m):
    @ti.kernel
    def f(v: vec3, m: mat2, n: ti.i32) -> vec3:
        return v * 2 + m[0, n] + m.sum()

    assert run(f, v, m, 1).to_list() == [14, 16, 18]


@pytest.mark.parametrize("dtype", [ti.u1, ti.i8, ti.u8, ti.i16, ti.u16, ti.i32, ti.u32, ti.i64, ti.u64, ti.f16, ti.f32, ti.f64], ids=repr)
def test_every_type_there_and_back(dtype):
    vector, matrix = ti.types.vector(3, dtype), ti.types.matrix(2, 2, dtype)

    @ti.kernel
    def f(v: vector, m: matrix) -> Tuple[vector, matrix, dtype]:
        return v.zyx, m.transpose(), v[1]

    most = {"u": 2 ** int(dtype.name[1:]) - 1, "i": 2 ** (int(dtype.name[1:]) - 1) - 1}.get(dtype.name[0], 1.5)
    v, m, x = run(f, [0, 1, most], [[0, 1], [most, 0]])
    assert v.to_list() == [most, 1, 0] and m.to_list() == [[0, most], [1, 0]] and x == 1 and v.dtype is dtype


def test_struct_arguments():
    @ti.kernel
    def f(s: Sphere, n: Nested) -> Tuple[Sphere, ti.f32]:
        return Sphere(s.center + n.p.v, s.radius * n.n), n.p.a

    want = "(Sphere(center=Vector([2.0, 2.0, 2.0], dt=f32), radius=6.0), 5.0)"
    for s in (Sphere([1, 1, 1], 2), {"center": [1, 1, 1], "radius": 2}):
        for n in (Nested(p=Pair(5, [1, 1, 1]), n=3), {"p": {"a": 5, "v": (1, 1, 1)}, "n": 3}):
            assert repr(run(f, s, n)) == want


def test_results():
    @ti.kernel
    def f(x: ti.i32) -> tuple[ti.i32, vec3, tuple[ti.f64, mat2]]:
        return x, [x, 2, 3], (x / 2, ti.Matrix([[x, 1], [2, 3]]))

    assert repr(run(f, 7)) == "(7, Vector([7.0, 2.0, 3.0], dt=f32), (3.5, Matrix([[7, 1], [2, 3]], dt=i32)))"


def test_large_result():
    large = ti.types.vector(1000, ti.i32)

    @ti.kernel
    def f(x: ti.i32) -> large:
        v = large(0)
        for i in range(1000):
            v[i] = i * x
        return v

    assert f(3).to_list() == [3 * i for i in range(1000)]


def test_captured_struct():
    s = Sphere([1, 2, 3], 4)
    t = ti.Struct(a=1, b=[1.5, 2.5])

    @ti.kernel
    def f() -> ti.f32:
        u = s
        u.radius += 1
        return s.center.sum() + u.area() + t.b[1] + ti.static(t.a)

    assert run(f) == 6 + 75 + 2.5 + 1


def test_print():
    @ti.kernel
    def f(x: ti.i32):
        print(ti.Struct(a=x, b=ti.Vector([x, 2])))

    assert printed(f, 1) == "{'a': 1, 'b': [1, 2]}\n"


def test_host():
    s = Sphere([1, 2, 3], 4.1)
    assert s.radius == np.float32(4.1) and s.center.y == 2 and repr(Sphere()) == "Sphere(center=Vector([0.0, 0.0, 0.0], dt=f32), radius=0.0)"
    s.radius = 7
    s.center = [4, 5, 6]
    s.center[0] = 9
    assert s.to_dict()["radius"] == 7 and s.center.to_list() == [9, 5, 6] and s["radius"] == 7
    assert s.keys() == ["center", "radius"] and dict(s.items())["radius"] == 7 and s == Sphere([9, 5, 6], 7) != Sphere()
    n = Nested(p={"a": 1, "v": [1, 2, 3]}, n=2)
    assert n.p.v.z == 3 and n.to_dict()["p"]["a"] == 1
    t = ti.Struct(a=1, b=[1, 2], c={"d": 2.5})
    assert t.a == 1 and t.b.to_list() == [1, 2] and t.c.d == 2.5 and repr(t) == "Struct(a=1, b=Vector([1, 2]), c=Struct(d=2.5))"
    assert list(Sphere.members) == ["center", "radius"] and set(Sphere.methods) == {"area", "grow", "plain"}
    for wrong, kind in [
        (lambda: Sphere([1, 2], 2), TypeError), (lambda: Sphere(x=1), AttributeError), (lambda: s.missing, AttributeError),
        (lambda: setattr(s, "missing", 1), AttributeError), (lambda: setattr(s, "center", [1, 2]), TypeError),
        (lambda: ti.types.struct(a=3), TypeError), (lambda: ti.types.struct(), TypeError), (lambda: ti.Struct(), TypeError),
        (lambda: Sphere([1, 2, 3], 2, 3), TypeError), (lambda: s["x"], KeyError), (lambda: ti.dataclass(3), TypeError),
        (lambda: ti.dataclass(type("D", (), {"__annotations__": {"a": ti.f32}, "a": 1})), ti.KernelSyntaxError),
        (ti.types.vector(2, ti.f32, unpacked=True), ti.KernelSyntaxError),
        (lambda: ti.types.vector(2, ti.f32, unpacked=True).field(shape=2), ti.KernelSyntaxError),
        (lambda: ti.types.vector(2, ti.f32, unpacked=True).ndarray(2), ti.KernelSyntaxError),
        (lambda: ti.types.struct(_r1=ti.f32, r=ti.types.vector(2, ti.f32, unpacked=True)), ti.KernelSyntaxError),
        (lambda: ti.types.struct(r=ti.types.vector(2, ti.f32, unpacked=True), _r0=ti.i32), ti.KernelSyntaxError),
    ]:  # fmt: skip
        with pytest.raises(kind):
            wrong()


@ti.dataclass
class Inner:
    a: ti.i32
    b: ti.f32


@ti.dataclass
class Outer:
    i: Inner
    n: ti.i32


@ti.dataclass
class Empty:
    def three(self):
        return 3


def test_one_value():
    """Of a whole struct, of its first member, or of the first member of that."""

    @ti.kernel
    def f(out: ti.types.ndarray(ti.f32, 1)):
        whole = Outer(Outer(Inner(1, 2), 3))
        first = Outer(Inner(4, 5))
        number = Outer(6)
        out[0], out[1], out[2] = whole.i.a, whole.i.b, whole.n
        out[3], out[4], out[5] = first.i.a, first.i.b, first.n
        out[6], out[7], out[8] = number.i.a, number.i.b, number.n

    out = np.zeros(9, np.float32)
    run(f, out)
    assert out.tolist() == [1, 2, 3, 4, 5, 0, 6, 0, 0]
    host = [Outer(Outer(Inner(1, 2), 3)), Outer(Inner(4, 5)), Outer(6)]
    assert [(s.i.a, s.i.b, s.n) for s in host] == [(1, 2, 3), (4, 5, 0), (6, 0, 0)]
    assert Sphere(2, 1).center.to_list() == [2, 2, 2]


def test_methods_on_the_host():
    """Functions without a decorator run in both worlds."""
    assert Empty().three() == 3 and list(Empty.members) == []

    @ti.kernel
    def f() -> ti.i32:
        return Empty().three()

    assert f() == 3


def test_host_struct_again():
    """A struct of plain numbers fixes the types of its members when it becomes a variable."""
    s = ti.Struct({"a": 2, "b": [1, 2]})

    @ti.kernel
    def f() -> ti.types.vector(3, ti.i32):
        t = s
        t = ti.Struct(a=t.a + 5, b=t.b * 3)
        return ti.Vector([t.a, t.b.x, t.b.y])

    assert f().to_list() == [7, 3, 6]


def test_unpacked():
    @ti.dataclass
    class Tile:
        r: ti.types.vector(4, ti.f32, unpacked=True)

    tiles = Tile.field(shape=2)

    @ti.kernel
    def f() -> ti.f32:
        t = Tile()
        for i in ti.static(range(4)):
            t.r[i] = 10.0 + i
        tiles[1].r[2] = t.r[3]
        return tiles[1].r[2]

    assert f() == 13 and tiles[1].r[2] == 13


def test_entries_and_methods_of_host_structs():
    @ti.dataclass
    class Ball:
        r: ti.f32
        v: ti.types.vector(2, ti.f32)

        @ti.func
        def area(self):
            return self.r**2

    ball = Ball(2, [1, 3])
    assert list(ball.entries) == ["r", "v"] and ball.entries["r"] == 2 and ball.entries["v"].to_list() == [1, 3]
    assert list(ball.methods) == ["area"] and ti.Struct(a=1).methods == {}
    ball.entries["r"] = 5  # a new dict each time
    assert ball.r == 2
    assert ti.Struct(entries=3, methods=4).entries == 3  # a member of that name is the member


def test_a_struct_for_a_struct_of_one_member_of_that_name():
    Inner = ti.types.struct(m=ti.types.matrix(2, 2, ti.i32))
    Outer = ti.types.struct(m=Inner)
    Deep = ti.types.struct(m=Outer)

    @ti.kernel
    def f(x: Inner) -> Deep:
        made = Outer(x)
        return Deep(Outer(made))

    assert run(f, Inner(3)).m.m.m.to_list() == [[3, 3], [3, 3]]
    assert Deep(Outer(Inner(3))).m.m.m.to_list() == [[3, 3], [3, 3]]
    assert Deep(Deep(Outer(Inner(3)))).m.m.m[0, 0] == 3


def test_early_returns_with_structs_from_anywhere():
    """A parameter of a struct type gets a copy, so the struct may lie in a field, or outside the parallel loop."""
    field = Nested.field(shape=4, layout=ti.Layout.SOA)

    @ti.func
    def larger(x: Nested, y: Pair, limit):
        if x.p.a > limit:
            return x, limit
        y.a += 1
        return Nested(y, 7), 0.5

    @ti.kernel
    def f(limit: ti.f32) -> tuple[ti.f32, ti.i32, ti.f32]:
        outside = Nested(Pair(5, [1, 2, 3]), 4)
        total, n, rest = 0.0, 0, 0.0
        for i in range(4):
            field[i].p.a = i
            a, b = larger(field[i], outside.p, limit)
            c, d = larger(outside, field[i].p, limit)
            total += a.p.a + c.p.a + field[i].p.a
            n += a.n + c.n
            rest += b + d
        return total, n, rest

    assert run(f, 1) == (6 + 2 * 6 + 2 + 3 + 4 * 5, 2 * 7 + 4 * 4, 2 * 0.5 + 2 + 4)


def test_integers_beyond_i64():
    wide = ti.types.struct(a=ti.u64, v=ti.types.vector(1, ti.u64))

    @ti.kernel
    def f(n: ti.u64) -> wide:
        s = wide(-n, [n])
        s.v[0] = s.a + 1
        return s

    for arch in (ti.cpu, ti.python):
        ti.init(arch=arch)
        s = f(20)
        assert (s.a, s.v[0]) == (2**64 - 20, 2**64 - 19)
    ti.init()
    s = wide(2**64 - 20, [2**63])
    assert (s.a, s.v[0], ti.cast(2**64 - 20, ti.u64)) == (2**64 - 20, 2**63, 2**64 - 20)
