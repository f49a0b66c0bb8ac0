"""A kernel sees every way in which a global, or a name of a module, can change between two launches."""

import builtins
import types

import pytest

import pestle as ti

SOURCE = """
import pestle as ti
N = 1
other = 0

@ti.kernel
def k() -> ti.i32:
    return N

@ti.kernel
def twice() -> ti.i32:
    return 2 * N
"""


@pytest.fixture
def program(from_source):
    scope = from_source(SOURCE)
    assert scope["k"]() == 1 and scope["twice"]() == 2
    return scope


class Odd(str):
    """Equal to a name, and no plain str."""


CHANGES = {
    "assign": lambda scope: scope.__setitem__("N", 5),
    "a name made at run time": lambda scope: scope.__setitem__("".join(["", "N"]), 5),
    "a derived str": lambda scope: scope.__setitem__(Odd("N"), 5),
    "update": lambda scope: scope.update({"other": 3, "N": 5}),
    "or": lambda scope: scope.__ior__({"N": 5}),
    "exec": lambda scope: exec("global N; N = 5", scope),
    "delete and set": lambda scope: (scope.pop("N"), scope.setdefault("N", 5)),
    "clear and restore": lambda scope: (kept := dict(scope), scope.clear(), scope.update(kept, N=5)),
}


@pytest.mark.parametrize("how", CHANGES)
def test_global(program, how):
    k, twice = program["k"], program["twice"]
    for _ in range(3):
        program["other"] += 1
        assert k() == 1 and twice() == 2
    CHANGES[how](program)
    assert k() == 5 and twice() == 10
    program["N"] = 1
    assert k() == 1 and twice() == 2


def test_deleted(program):
    del program["N"]
    for _ in range(2):
        with pytest.raises(ti.KernelNameError, match="N"):
            program["k"]()
    builtins.N = 7
    try:
        assert program["k"]() == 7
        program["N"] = 8
        assert program["k"]() == 8
        del program["N"]
        builtins.N = 9
        assert program["k"]() == 9
    finally:
        del builtins.N


def test_module(from_source):
    constants = types.ModuleType("constants")
    constants.N = 1
    scope = from_source("import pestle as ti\n@ti.kernel\ndef k() -> ti.i32:\n    return constants.N\n")
    scope["constants"] = constants
    k = scope["k"]
    assert k() == 1
    constants.N = 2
    assert k() == 2
    vars(constants)["N"] = 3
    assert k() == 3
    constants.unrelated = 1
    assert k() == 3
    scope["constants"] = types.SimpleNamespace(N=4)
    assert k() == 4


def test_many_programs(from_source):
    """Dicts that are watched come and go."""
    for i in range(200):
        scope = {"__name__": "program"}
        exec("N = 1", scope)
        made = from_source(SOURCE.replace("N = 1", f"N = {i}"), f"program{i}.py")
        assert made["k"]() == i
        made["N"] = -i
        assert made["k"]() == -i
        made.clear()
