# SPDX-License-Identifier: Apache-2.0
"""Objects as arguments: dataclasses, and classes whose numbers are read at each launch; random numbers in called funcs."""

import array
import dataclasses
import linecache
import threading
from typing import ClassVar

import numpy as np
import pytest

import pestle as ti

A1 = ti.types.ndarray(dtype=ti.f32, ndim=1)


@dataclasses.dataclass
class Inner:
    y: A1
    n: ti.i32
    junk: object


@dataclasses.dataclass
class State:
    x: A1
    inner: Inner
    a: ti.f32
    flag: ti.template()
    unused: dict
    GAIN: ClassVar[int] = 10

    def total(self):
        return self.a + self.inner.n

    @property
    def twice(self):
        return self.a * 2

    @ti.func
    def pick(self, i):
        if i > 2:
            return self.inner.y[i]
        return self.inner.y[i] * self.GAIN


@ti.func
def bump(p: State, i):
    p.x[i] += p.a


@ti.func
def early(q: Inner, i):
    if i > 2:
        return q.y[i]
    return q.y[i] * 10.0


@ti.kernel
def step(p: State, s: ti.f32):
    for i in p.x:
        bump(p, i)
        p.x[i] += early(q=p.inner, i=i) * p.inner.n + s
        if ti.static(p.flag == 3):
            p.x[i] += 1000
        p.x[i] += p.twice + p.total() + p.pick(i)


def expected(p, s):
    y, n, out = p.inner.y, p.inner.n, []
    for i, x in enumerate(p.x):
        scaled = y[i] if i > 2 else y[i] * 10
        out.append(x + p.a + scaled * n + s + (1000 if p.flag == 3 else 0) + p.a * 2 + p.a + n + scaled)
    return out


def make():
    return State(np.arange(5, dtype=np.float32), Inner(np.full(5, 2, np.float32), 3, object()), 0.5, 3, {})


def check(p, s=1.0):
    want = expected(p, s)
    step(p, s)
    np.testing.assert_allclose(np.asarray(p.x), want)


def test_members_are_read_at_each_launch():
    p = make()
    check(p)
    count = step._times["specialisations"]
    p.inner.n, p.a = 7, -2
    check(p)
    p.x = np.ones(9, np.float32)
    p.inner = Inner(np.arange(9, dtype=np.float32), 1, None)
    check(p)
    check(make())
    assert step._times["specialisations"] == count
    p.flag = 4  # known while compiling
    check(p)
    check(make())
    check(p)
    assert step._times["specialisations"] == count + 1


def test_evaluator_checked_and_plain_python_agree():
    p = make()
    want = expected(p, 2.0)
    step._evaluate(p, 2.0)
    np.testing.assert_allclose(p.x, want)
    try:
        ti.init(checked=True)
        check(make())
        ti.init(arch=ti.python)
        check(make())
    finally:
        ti.init()


def test_members_of_every_kind_of_array():
    p = make()
    p.x = array.array("f", [1, 2, 3, 4])
    p.inner.y = ti.ndarray(ti.f32, (4,))
    p.inner.y.fill(2)
    want = expected(p, 0.0)
    step(p=p, s=0.0)
    np.testing.assert_allclose(list(p.x), want)
    torch = pytest.importorskip("torch")
    p.x = torch.ones(4)
    p.inner.y = torch.arange(8.0)[::2]
    want = [float(v) for v in expected(p, 0.0)]
    step(p, 0.0)
    np.testing.assert_allclose(p.x.numpy(), want)


def test_only_what_is_used_is_looked_at():
    @dataclasses.dataclass
    class Partly:
        x: A1
        y: A1
        other: "no such thing"  # noqa: F722

    @ti.kernel
    def fill(p: Partly):
        for i in p.x:
            p.x[i] = i

    p = Partly(np.zeros(3, np.float32), "not an array", None)
    del p.other
    fill(p)
    assert list(p.x) == [0, 1, 2]


@pytest.mark.parametrize("options", [{"frozen": True}, {"slots": True}, {"frozen": True, "slots": True}, {"eq": False}])
def test_kinds_of_dataclasses(options):
    @dataclasses.dataclass(**options)
    class Pair:
        x: A1
        n: ti.i32 = 4

    @ti.kernel
    def fill(p: Pair, q: Pair) -> ti.i32:
        p.x[0] = p.n + 10 * q.n
        q.x[0] = 7
        return p.n

    p, q = Pair(np.zeros(1, np.float32)), Pair(np.zeros(1, np.float32), 5)
    assert (fill(p, q), p.x[0], q.x[0]) == (4, 54, 7)
    assert (fill(q, p), q.x[0], p.x[0]) == (5, 45, 7)
    assert fill(p, p) == 4 and p.x[0] == 7


def test_inheritance_and_fields_as_members():
    @dataclasses.dataclass
    class Base:
        f: ti.template()
        scale: ti.f32

    @dataclasses.dataclass
    class Derived(Base):
        x: A1

    @ti.kernel
    def run(d: Derived):
        for i in d.f:
            d.f[i] = d.x[i] * d.scale

    for n in (3, 5):
        field = ti.field(ti.f32, n)
        run(Derived(field, 3, np.arange(n, dtype=np.float32)))
        assert list(field.to_numpy()) == [3 * i for i in range(n)]
    assert run._times["specialisations"] == 1


def test_a_member_may_be_replaced_while_the_kernel_runs():
    @dataclasses.dataclass
    class Box:
        x: A1

    @ti.kernel
    def slow(b: Box):
        for i in b.x:
            s = 0.0
            for k in range(200):
                s += ti.sin(b.x[i] + k)
            b.x[i] = s

    box, done = Box(np.zeros(200_000, np.float32)), threading.Event()

    def replace():
        while not done.is_set():
            box.x = np.zeros(200_000, np.float32)

    thread = threading.Thread(target=replace)
    thread.start()
    for _ in range(10):
        slow(box)
    done.set()
    thread.join()


def test_changed_class_is_noticed():
    @dataclasses.dataclass
    class Box:
        x: A1
        K: ClassVar[int] = 2

    @ti.kernel
    def put(b: Box):
        b.x[0] = b.K

    box = Box(np.zeros(1, np.float32))
    put(box)
    Box.K = 5
    put(box)
    assert box.x[0] == 5


def test_more_than_a_stack_of_members():
    n = 512
    Many = dataclasses.make_dataclass("Many", [(f"m{i}", ti.i32) for i in range(n)])

    @ti.kernel
    def total(p: Many) -> ti.i32:
        s = 0
        for i in ti.static(range(n)):
            s += getattr(p, f"m{i}")
        return s

    assert total(Many(*range(n))) == n * (n - 1) // 2
    assert total(Many(*range(1, n + 1))) == n * (n + 1) // 2


# -- numbers of objects --


@ti.data_oriented(template_primitives=False)
class Body:
    def __init__(self):
        self.n, self.a, self.on = 3, 0.5, True
        self.x = ti.ndarray(ti.f32, (8,))

    @ti.func
    def scale(self, v):
        if v > 3:
            return v * self.a
        return v

    @ti.kernel
    def run(self):
        for i in range(self.n):
            if self.on:
                self.x[i] += self.scale(ti.f32(i)) + self.a


class Derived(Body):
    @ti.kernel
    def run(self):
        self.x[0] = 100

    def base(self):
        super().run()


def test_numbers_of_objects_are_arguments():
    body, want = Body(), np.zeros(8, np.float32)

    def go():
        for i in range(body.n):
            if body.on:
                want[i] += (i * body.a if i > 3 else i) + body.a
        body.run()
        np.testing.assert_array_equal(body.x.to_numpy(), want)

    go()
    count = Body.run._times["specialisations"]
    for i in range(8):
        body.n, body.a, body.on = i, i * 0.25, bool(i % 2)
        go()
    assert Body.run._times["specialisations"] == count
    body.a = 2  # another type
    go()
    body.x, want = ti.ndarray(ti.f64, (8,)), np.zeros(8)
    go()


def test_kernels_of_base_classes_on_objects_in_turn():
    one, two = Derived(), Derived()
    two.n = 2
    one.base(), two.base()
    count = Body.run._times["specialisations"]
    for _ in range(20):
        one.base(), two.base(), one.run()
    assert Body.run._times["specialisations"] == count
    assert one.x.to_numpy()[1] == 21 * 1.5 and two.x.to_numpy()[2] == 0 and one.x.to_numpy()[0] == 100


def test_slots_are_read_anew():
    class Slots:
        __slots__ = ("n", "f")

    holder, x = Slots(), np.zeros(1, np.float32)
    holder.n, holder.f = 2, ti.field(ti.f32, 2)

    @ti.kernel
    def put(h: ti.template(), x: A1):
        x[0] = h.n
        h.f[1] = h.n

    put(holder, x)
    holder.n, holder.f = 5, ti.field(ti.f32, 2)
    put(holder, x)
    assert x[0] == 5 and holder.f[1] == 5


def test_properties_are_read_anew():
    @ti.data_oriented
    class Holder:
        def __init__(self):
            self._n, self._x, self.parts = 2, ti.ndarray(ti.f32, (2,)), [1, 2]

        @property
        def n(self):
            """Twice what it holds."""
            return self._n * 2

        @property
        def x(self):
            return self._x

        @property
        def total(self):
            return sum(p for p in self.parts)

        @ti.kernel
        def put(self):
            self.x[1] = self.n + self.total

    holder = Holder()
    holder.put()
    holder._n, holder._x = 5, ti.ndarray(ti.f32, (2,))
    holder.put()
    assert holder._x[1] == 13
    Holder.n = property(lambda self: 100)
    holder.put()
    assert holder._x[1] == 103


# -- random numbers in funcs that are called --


@ti.func
def walk(n):
    x = ti.random()
    if x < 0.5:
        return x
    s = 0.0
    for i in range(n):
        s += ti.random()
    return s


@ti.real_func
def recursive(n: ti.i32) -> ti.f32:
    if n == 0:
        return ti.random()
    return recursive(n - 1) + ti.random()


@ti.kernel
def draw(x: A1):
    for i in x:
        x[i] = walk(3)
    x[0] = recursive(3)
    for i in range(x.shape[0] // 2):
        x[i] += recursive(2) + ti.random()


def test_random_in_called_funcs():
    def launches(threads):
        ti.init(cpu_max_num_threads=threads, random_seed=5)
        x = np.zeros(1000, np.float32)
        draw(x)
        first = x.copy()
        draw(x)
        return first, x

    try:
        (a, b), (c, d) = launches(1), launches(2)
        assert np.array_equal(a, c) and np.array_equal(b, d) and not (a == b).any()
        assert len(set(a)) > 990
        ti.init(random_seed=5)
        x = np.zeros(1000, np.float32)
        draw._evaluate(x)
        assert np.array_equal(x, a)
    finally:
        ti.init()


# -- members that are vectors, matrices, structs --


def test_members_by_value():
    vec3 = ti.types.vector(3, ti.f32)
    pair = ti.types.struct(a=ti.i32, v=vec3)

    @dataclasses.dataclass
    class Values:
        v: vec3
        s: pair
        m: ti.types.matrix(2, 2, ti.f64)
        x: A1

    @ti.func
    def last(p: Values, k):
        if k > 0:
            return p.s.v[k]
        return p.m[1, 0]

    @ti.kernel
    def run(p: Values) -> ti.f32:
        p.x[0] = p.v[1] + p.s.a
        p.x[1] = last(p, 2)
        p.x[2] = last(p, 0)
        return p.v.dot(p.s.v)

    for scale in (1, 3):
        p = Values([1 * scale, 2, 3], pair(a=scale, v=[1, 1, 5]), [[1, 2], [7 * scale, 4]], np.zeros(3, np.float32))
        want = [2 + scale, 5, 7 * scale]
        assert run(p) == scale + 2 + 15 and list(p.x) == want
        p.x[:] = 0
        assert run._evaluate(p) == scale + 2 + 15 and list(p.x) == want
    assert run._times["specialisations"] == 1


def many(n):
    """A kernel of n parameters that gives their sum."""
    names = ", ".join(f"a{i}: ti.i32" for i in range(n))
    lines = ["@ti.kernel", f"def total({names}) -> ti.i32:", "    s = 0", *(f"    s += a{i}" for i in range(n)), "    return s"]
    text = "\n".join(lines) + "\n"
    linecache.cache[f"<many {n}>"] = (len(text), None, text.splitlines(True), f"<many {n}>")
    scope = {"ti": ti}
    exec(compile(text, f"<many {n}>", "exec"), scope)
    return scope["total"]


def test_how_many_arguments():
    assert many(512)(*range(512)) == 512 * 511 // 2
    with pytest.raises(ti.KernelSyntaxError, match="kernel 'total' has more than 4096 arguments"):
        many(4097)(*range(4097))
    Many = dataclasses.make_dataclass("Many", [(f"m{i}", ti.i32) for i in range(4100)])

    @ti.kernel
    def total(p: Many) -> ti.i32:
        s = 0
        for i in ti.static(range(4100)):
            s += getattr(p, f"m{i}")
        return s

    with pytest.raises(ti.KernelSyntaxError, match="kernel 'total' has more than 4096 arguments"):
        total(Many(*range(4100)))


def test_what_comes_later_says_so():
    for owner, name in ((ti, "ad"), (ti, "stop_grad"), (ti.types, "sparse_matrix_builder"), (ti.types, "argpack")):
        assert not hasattr(owner, name)
        with pytest.raises(AttributeError, match="not there yet"):
            getattr(owner, name)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'$"):
        ti.nonsense
    with pytest.raises(ti.KernelRuntimeError, match="differentiation is not there yet"):
        draw.grad(1)
