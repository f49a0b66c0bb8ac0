"""Attributes that no look into a dict tells of: slots, properties, __getattr__. A kernel sees what they are at each launch."""

import dataclasses
import functools
import types
import warnings

import numpy as np
import pytest

import pestle as ti


@dataclasses.dataclass(slots=True)
class Slots:
    dt: float = 0.25


class Base:
    __slots__ = ("dt",)


class Derived(Base):
    __slots__ = ("other",)


class WithDict(Base):
    pass


@pytest.mark.parametrize("cls", [Slots, Base, Derived, WithDict])
def test_slots_are_looked_at(cls):
    p = cls()
    p.dt = 0.25

    @ti.kernel
    def step() -> ti.f32:
        return p.dt

    assert step() == 0.25
    compiled = step._times["specialisations"]
    p.dt = 0.25 + 0.0  # equal: the same program
    assert step() == 0.25 and step._times["specialisations"] == compiled
    p.dt = 0.5
    assert step() == 0.5
    del p.dt
    with pytest.raises(ti.CompilationError, match="dt"):
        step()
    p.dt = 0.75
    assert step() == 0.75


def test_a_slot_goes_before_the_dict():
    p = WithDict()
    p.dt = 1.0
    p.__dict__["dt"] = 9.0

    @ti.kernel
    def step() -> ti.f32:
        return p.dt

    assert step() == 1.0
    p.dt = 2.0
    assert step() == 2.0


def test_a_slot_with_a_field():
    p = Base()
    p.dt = ti.field(ti.i32, shape=3)

    @ti.kernel
    def fill(v: ti.i32):
        for i in p.dt:
            p.dt[i] = v

    fill(1)
    old, p.dt = p.dt, ti.field(ti.i32, shape=5)
    fill(2)
    assert old.to_numpy().tolist() == [1] * 3 and p.dt.to_numpy().tolist() == [2] * 5


class Descriptor:
    def __get__(self, instance, owner):
        return instance.m + 1


class Model:
    described = Descriptor()

    def __init__(self):
        self.m = 1.0
        self.hidden = {"found": 2.0}
        self.asked = 0

    @property
    def half(self):
        self.asked += 1
        return self.m * 0.5

    @property
    def pair(self):
        return self.m, int(self.m)

    @property
    def vector(self):
        return ti.Vector([self.m, 2.0])

    @property
    def scalar(self):
        return np.float32(self.m)

    @property
    def count(self):
        return int(self.m)

    def __getattr__(self, name):
        if name == "found":
            return self.m * 3
        raise AttributeError(name)


class Always(Model):
    def __getattribute__(self, name):
        value = object.__getattribute__(self, name)
        return -value if name == "m" else value


READS = {
    "half": ("self.half", lambda m: m * 0.5),
    "pair": ("self.pair[0] + self.pair[1]", lambda m: m + int(m)),
    "vector": ("self.vector[0]", lambda m: m),
    "scalar": ("self.scalar", lambda m: m),
    "count": ("self.count", int),
    "descriptor": ("self.described", lambda m: m + 1),
    "getattr": ("self.found", lambda m: m * 3),
}


@pytest.mark.parametrize("name", READS)
def test_what_code_computes_is_asked_for_at_each_launch(from_source, name):
    text, expected = READS[name]
    scope = from_source(f"import pestle as ti\n@ti.kernel\ndef f(self: ti.template()) -> ti.f32:\n    return {text}\n")
    f, model = scope["f"], Model()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for m in (1.0, 1.0, 3.0, 3.0, 1.0):
            model.m = m
            assert f(model) == expected(m)
    assert f._times["specialisations"] == 2  # equal values make one program


def test_getattribute():
    model = Always()

    @ti.kernel
    def f() -> ti.f32:
        return model.m

    assert f() == -1.0
    model.m = 4.0
    assert f() == -4.0


def test_a_module_with_getattr():
    module, value = types.ModuleType("lazy"), [1.0]
    module.__getattr__ = lambda name: value[0]

    @ti.kernel
    def f() -> ti.f32:
        return module.x

    assert f() == 1.0
    value[0] = 2.0
    assert f() == 2.0
    module.x = 5.0
    assert f() == 5.0


def test_one_that_differs_each_time():
    class Counter:
        n = 0

        @property
        def next(self):
            self.n += 1
            return self.n

    counter = Counter()

    @ti.kernel
    def f() -> ti.i32:
        return counter.next

    seen = [f() for _ in range(5)]
    assert seen == sorted(set(seen))


def test_another_object_each_time_is_frozen_with_a_warning():
    class Lists:
        m = 1.0

        @property
        def values(self):
            return [self.m]

    lists = Lists()

    @ti.kernel
    def f() -> ti.f32:
        return lists.values[0]

    with pytest.warns(UserWarning, match="attribute 'values' of Lists is computed by Python code") as caught:
        assert f() == 1.0
    assert caught[0].filename == __file__
    lists.m = 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f() == 1.0


def test_what_it_raises():
    class Fails:
        error = None

        @property
        def x(self):
            if self.error:
                raise self.error
            return 1

    fails = Fails()

    @ti.kernel
    def f() -> ti.i32:
        return fails.x

    assert f() == 1
    fails.error = ValueError("no x")
    with pytest.raises(ti.CompilationError, match="no x"):
        f()
    fails.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        f()
    fails.error = None
    assert f() == 1


def test_one_that_launches_its_own_kernel():
    class Loop:
        @property
        def x(self):
            return f() if looping else 1

    looping, loop = False, Loop()

    @ti.kernel
    def f() -> ti.i32:
        return loop.x

    assert f() == 1
    looping = True
    with pytest.raises((RecursionError, ti.CompilationError)):
        f()
    looping = False
    assert f() == 1


def test_cached_properties_and_methods_cost_nothing_more():
    class Cached:
        @functools.cached_property
        def x(self):
            return 3

        @ti.func
        def twice(self, a):
            return a * 2

    cached = Cached()

    @ti.kernel
    def f() -> ti.i32:
        return cached.twice(cached.x)

    assert f() == 6
    cached.x = 4
    assert f() == 8
