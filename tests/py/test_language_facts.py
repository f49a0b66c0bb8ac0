"""What a kernel took from outside: a change of it is seen by the next launch."""

import types

import pytest

import pestle as ti

LEVEL = 3
module = types.SimpleNamespace()


def helper(x):
    return x + 1


@ti.func
def scaled(x):
    return x * LEVEL


@ti.kernel
def uses_global() -> ti.i32:
    return LEVEL


@ti.kernel
def uses_func() -> ti.i32:
    return scaled(2)


@ti.kernel
def uses_helper(x: ti.i32) -> ti.i32:
    return helper(x)


def test_global(monkeypatch):
    assert uses_global() == 3
    monkeypatch.setitem(globals(), "LEVEL", 4)
    assert uses_global() == 4
    monkeypatch.setitem(globals(), "LEVEL", 3)
    assert uses_global() == 3


def test_global_of_a_func(monkeypatch):
    assert uses_func() == 6
    monkeypatch.setitem(globals(), "LEVEL", 5)
    assert uses_func() == 10


def test_helper_replaced(monkeypatch):
    assert uses_helper(1) == 2
    monkeypatch.setitem(globals(), "helper", lambda x: x + 10)
    assert uses_helper(1) == 11


def test_helper_code_replaced(monkeypatch):
    assert uses_helper(1) == 2
    monkeypatch.setattr(helper, "__code__", (lambda x: x + 20).__code__)
    assert uses_helper(1) == 21


def test_closure():
    value = 1

    @ti.kernel
    def f() -> ti.i32:
        return value

    assert f() == 1
    value = 2
    assert f() == 2


def test_a_builtin_gets_shadowed(monkeypatch):
    @ti.kernel
    def f(x: ti.i32) -> ti.i32:
        return abs(x)

    assert f(-3) == 3
    monkeypatch.setitem(globals(), "abs", lambda x: x * 2)
    assert f(-3) == -6


def test_module_attribute(monkeypatch):
    import math

    @ti.kernel
    def f() -> ti.f32:
        return math.tau

    before = f()
    monkeypatch.setattr(math, "tau", 1.5)
    assert f() == 1.5 != before


def test_numbers_keep_their_kind(monkeypatch):
    @ti.kernel
    def f(n: ti.i32) -> ti.f32:
        return n / 2 * LEVEL + (LEVEL == 1)

    monkeypatch.setitem(globals(), "LEVEL", 1)
    assert f(3) == 2.5
    monkeypatch.setitem(globals(), "LEVEL", 1.0)
    assert f(3) == 2.5
    monkeypatch.setitem(globals(), "LEVEL", True)
    assert f(3) == 2.5


def test_a_local_name_is_never_a_global(from_source):
    scope = from_source("import pestle as ti\na = 5\n@ti.kernel\ndef f() -> ti.i32:\n    b = a\n    a = 2\n    return b\n")
    with pytest.raises(ti.KernelNameError, match="before assignment"):
        scope["f"]()


def test_the_code_and_the_defaults_of_a_func():
    @ti.func
    def inner(x, y=1, *, z=2):
        return x + y + z

    def other(x, y=1, *, z=2):
        return x * y * z

    @ti.kernel
    def f(x: ti.i32) -> ti.i32:
        return inner(x)

    function = inner.__wrapped__
    assert f(5) == 8
    function.__defaults__ = (10,)
    assert f(5) == 17
    function.__kwdefaults__ = {"z": 100}
    assert f(5) == 115
    function.__code__ = other.__code__
    assert f(5) == 5000
    assert f(6) == 6000
