# SPDX-License-Identifier: Apache-2.0
"""Kernels of many instances: those that make the same program share one specialisation, and each gets its own values."""

import gc
import threading
import weakref

import numpy as np
import pytest

import pestle as ti

A = ti.types.ndarray(dtype=ti.i32, ndim=1)


def count(kernel):
    return kernel._times["specialisations"]


@ti.data_oriented
class Part:
    def __init__(self, weight):
        self.weight = weight
        self.y = ti.field(ti.i32, 3)


@ti.data_oriented
class Body:
    scale = 1

    def __init__(self, n=1, weight=1):
        self.n = n
        self.x = ti.field(ti.i32, 4)
        self.part = Part(weight)
        self.pair = [n, n]

    @ti.kernel
    def step(self, a: ti.i32):
        for i in self.x:
            self.x[i] += a * self.n * self.scale

    @ti.func
    def more(self, i):
        if i > 2:
            i += self.n
        return self.x[0] + i

    @ti.kernel
    def by_method(self) -> ti.i32:
        return self.more(3)

    @ti.kernel
    def nested(self):
        self.part.y[1] += self.part.weight

    @ti.kernel
    def listed(self) -> ti.i32:
        return self.pair[0] + self.n


def test_equal_instances_share():
    bodies = [Body() for _ in range(20)]
    for k in range(3):
        for j, body in enumerate(bodies):
            body.step(j)
            body.nested()
    assert [body.x[2] for body in bodies] == [3 * j for j in range(20)]
    assert [body.part.y[1] for body in bodies] == [3] * 20
    assert [body.by_method() for body in bodies] == [3 * j + 4 for j in range(20)]
    assert count(Body.step) == count(Body.nested) == count(Body.by_method) == 1


def test_different_instances_do_not():
    bodies = [Body(n, 2 * n) for n in range(30)]
    before = count(Body.step)
    for _ in range(4):
        for body in bodies:
            body.step(1)
            body.nested()
    assert [body.x[0] for body in bodies] == [4 * n for n in range(30)]
    assert [body.part.y[1] for body in bodies] == [8 * n for n in range(30)]
    assert count(Body.step) >= 30 > before


def test_what_changes_is_noticed():
    a, b = Body(), Body()
    for body in (a, b, a):
        body.step(1)
    b.n = 5
    for body in (a, b, a, b):
        body.step(1)
    assert (a.x[0], b.x[0]) == (4, 1 + 10)
    a.x, b.x = b.x, a.x
    a.step(1)
    assert (a.x[0], b.x[0]) == (12, 4)
    a.part.weight = 7
    a.nested(), b.nested()
    assert (a.part.y[1], b.part.y[1]) == (7, 1)
    a.part = b.part
    a.nested()
    assert b.part.y[1] == 2
    a.scale = 100  # the class has it, too
    a.step(1), b.step(1)
    assert (a.x[0], b.x[0]) == (112, 9)
    del a.n
    with pytest.raises(ti.CompilationError, match="'n'"):
        a.step(1)
    b.step(1)
    assert b.x[0] == 14


def test_containers_are_those_of_the_instance():
    bodies = [Body(n) for n in (1, 1, 4)]
    assert [body.listed() for body in bodies] == [2, 2, 8]


def test_classes_differ():
    class Heavy(Body):
        scale = 10

    a, b = Body(), Heavy()
    for body in (a, b, a, b):
        body.step(1)
    assert (a.x[0], b.x[0]) == (2, 20)


# -- instances of which more than attributes is used --


def test_identity_is_seen():
    first, second = Body(), Body()

    @ti.kernel
    def is_first(body: ti.template()) -> ti.i32:
        return 1 if ti.static(body is first) else 0

    @ti.kernel
    def same(a: ti.template(), b: ti.template()) -> ti.i32:
        r = a.n + b.n
        if ti.static(a is b):
            r += 100
        return r

    assert [is_first(b) for b in (first, second, first)] == [1, 0, 1]
    assert [same(first, second), same(first, first), same(second, second)] == [2, 102, 102]


def test_twice_the_same_argument():
    a, b = Body(), Body()

    @ti.kernel
    def add(p: ti.template(), q: ti.template()):
        p.x[0] += p.n
        q.x[0] += q.n

    add(a, a)
    b.n = 5
    add(b, a)
    add(a, b)
    add(b, b)
    assert (a.x[0], b.x[0]) == (4, 20)


def test_given_to_python():
    seen = []

    def weigh(body):
        seen.append(body)
        return body.n * 10

    @ti.kernel
    def f(body: ti.template()) -> ti.i32:
        return weigh(body) + body.n

    bodies = [Body(n) for n in (1, 2, 1)]
    assert [f(b) for b in bodies] == [11, 22, 11]
    assert [f(b) for b in bodies] == [11, 22, 11]
    assert {id(b) for b in bodies} == {id(b) for b in seen}


def test_methods_of_python():
    class Plain(Body):
        def double(self):
            return self.n * 2

        @property
        def hidden(self):
            return int(f"{self.n}") * 3

        @ti.kernel
        def f(self) -> ti.i32:
            return self.double() + self.hidden

    bodies = [Plain(n) for n in (1, 2, 3, 2)]
    for _ in range(2):
        assert [b.f() for b in bodies] == [5, 10, 15, 10]


def test_reached_in_two_ways():
    shared = Part(3)

    class Twice:
        def __init__(self, a, b):
            self.a, self.b = a, b

    @ti.kernel
    def f(t: ti.template()) -> ti.i32:
        return t.a.weight * 100 + t.b.weight + (10000 if ti.static(t.a is t.b) else 0)

    @ti.kernel
    def g(t: ti.template()) -> ti.i32:
        return t.a.weight * 100 + t.b.weight

    for kernel, extra in ((f, 10000), (g, 0)):
        assert kernel(Twice(shared, shared)) == 303 + extra
        assert kernel(Twice(Part(3), Part(3))) == 303
        assert kernel(Twice(Part(1), Part(2))) == 102
        mixed = Twice(shared, Part(5))
        assert kernel(mixed) == 305
    shared.weight = 4
    assert g(mixed) == 405 and g(Twice(shared, shared)) == 404


def test_in_a_list_beside():
    class Holder:
        def __init__(self, part, parts):
            self.part, self.parts = part, parts

    @ti.kernel
    def f(h: ti.template()) -> ti.i32:
        total = h.part.weight * 100
        for p in ti.static(h.parts):
            total += p.weight
        return total

    part = Part(1)
    parts = [part, Part(2)]
    assert f(Holder(part, parts)) == 103
    other = Holder(Part(1), parts)
    assert f(other) == 103
    other.part.weight = 5
    assert f(other) == 503
    part.weight = 7
    assert f(other) == 509


def test_global_instance_as_argument():
    @ti.kernel
    def f(body: ti.template()) -> ti.i32:
        return body.n * 10 + KNOWN.n

    other = Body(2)
    assert (f(KNOWN), f(other)) == (33, 23)
    other.n = 3
    assert (f(other), f(KNOWN)) == (33, 33)


KNOWN = Body(3)


def test_passed_to_funcs():
    @ti.func
    def inner(body, k):
        return body.n * k

    @ti.func
    def outer(body: ti.template(), k):
        return inner(body, k) + body.x[0]

    @ti.kernel
    def f(body: ti.template()) -> ti.i32:
        return outer(body, 3)

    bodies = [Body(2) for _ in range(5)] + [Body(4)]
    bodies[1].x[0] = 100
    assert [f(b) for b in bodies] == [6, 106, 6, 6, 6, 12]
    assert count(f) == 2


# -- numbers read at each launch, slots, static shapes --


def test_runtime_numbers():
    @ti.data_oriented(template_primitives=False)
    class Number:
        def __init__(self, k):
            self.k = k
            self.x = ti.field(ti.i32, 2)

        @ti.kernel
        def f(self) -> ti.i32:
            self.x[1] += self.k
            return self.x[1]

    numbers = [Number(k) for k in range(50)]
    assert [n.f() for n in numbers] == list(range(50))
    assert [n.f() for n in numbers] == [2 * k for k in range(50)]
    assert count(Number.f) == 1
    numbers[3].k = 2.5
    with pytest.warns(UserWarning, match="precision"):
        numbers[3].f()
    assert [n.f() for n in numbers[:3]] == [0, 3, 6]


def test_slots():
    class Slots:
        __slots__ = ("n", "x")

        def __init__(self, n):
            self.n, self.x = n, ti.field(ti.i32, 2)

    @ti.kernel
    def f(s: ti.template()):
        s.x[0] += s.n

    objects = [Slots(n) for n in (1, 1, 2)]
    for _ in range(2):
        for s in objects:
            f(s)
    assert [s.x[0] for s in objects] == [2, 2, 4]
    assert count(f) == 2


def test_shapes_read_while_compiling():
    class Shaped:
        def __init__(self, n):
            self.x = ti.field(ti.i32, n)

    @ti.kernel
    def f(s: ti.template()) -> ti.i32:
        total = 0
        for i in ti.static(range(s.x.shape[0])):
            total += 1
        return total

    assert [f(Shaped(n)) for n in (2, 3, 2, 5)] == [2, 3, 2, 5]


def test_element_types_differ():
    class Typed:
        def __init__(self, dtype):
            self.x = ti.field(dtype, 2)

    @ti.kernel
    def f(s: ti.template()):
        s.x[0] = 7 / 2

    floats, doubles = Typed(ti.f32), Typed(ti.f64)
    for s in (floats, doubles, floats):
        f(s)
    assert floats.x[0] == doubles.x[0] == 3.5


# -- Python code, threads and garbage in between --


def test_another_launch_in_between():
    """What an argument runs while it is read may launch the same kernel for another instance."""
    a, b = Body(), Body()

    class Index:
        def __index__(self):
            b.step(1)
            return 2

    for _ in range(3):
        a.step(Index())
    assert (a.x[0], b.x[0]) == (6, 3)


def test_threads_with_instances_of_their_own():
    bodies = [Body() for _ in range(4)]

    def work(body):
        for _ in range(500):
            body.step(np.int64(1))

    threads = [threading.Thread(target=work, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [body.x[3] for body in bodies] == [500] * 4


def test_instances_do_not_pile_up():
    alive = []
    for _ in range(50):
        body = Body()
        body.step(1)
        alive.append(weakref.ref(body))
    del body
    gc.collect()
    assert sum(ref() is not None for ref in alive) <= 1


def test_more_instances_than_are_kept():
    class Many:
        def __init__(self, k):
            self.k, self.x = k, ti.field(ti.i32, ())

        @ti.kernel
        def f(self):
            self.x[None] += ti.static(self.k % 3)

    many = [Many(k) for k in range(1100)]
    for _ in range(2):
        for one in many:
            one.f()
    assert all(one.x[None] == 2 * (k % 3) for k, one in enumerate(many))
