"""What a kernel read outside may change between launches: the answer follows, whatever the order of the changes."""

import pestle as ti

SCALE = 1


class Sim:
    dt = 1

    def __init__(self):
        self.x = 1

    @ti.kernel
    def read(self) -> ti.i32:
        return self.x * 100 + self.dt


def test_attributes_of_an_instance():
    s = Sim()
    for value in (1, 2, 3, 2, 5):
        s.x = value
        assert (s.read(), s.read()) == (value * 100 + 1,) * 2
    s.dt = 7  # now hides the class's
    assert s.read() == 507
    Sim.dt = 9
    assert (s.read(), Sim().read()) == (507, 109)
    Sim.dt = 1


class Box:
    def __init__(self, value):
        self.value = value


BOX = Box(Box(1))


@ti.kernel
def nested() -> ti.i32:
    return BOX.value.value


def test_attributes_of_attributes():
    for value in (1, 2, 1, 3):
        BOX.value.value = value
        assert nested() == value
    BOX.value = Box(8)
    assert nested() == 8


def inner(x, *, factor=2):
    return x * factor * SCALE


def helper(x, extra=10):
    return sum([inner(x) for _ in range(1)]) + extra


@ti.kernel
def through_helpers(x: ti.i32) -> ti.i32:
    return helper(x)


def test_what_plain_helpers_read():
    global SCALE, inner
    assert through_helpers(1) == 12
    SCALE = 3
    assert through_helpers(1) == 16
    helper.__defaults__ = (20,)
    assert through_helpers(1) == 26
    inner.__kwdefaults__ = {"factor": 5}
    assert through_helpers(1) == 35
    old, inner = inner, lambda x: x
    assert through_helpers(1) == 21
    inner, SCALE = old, 1
    assert through_helpers(1) == 25


def test_cells_of_helpers():
    n = 1

    def step(x):
        return x + n

    @ti.kernel
    def k(x: ti.i32) -> ti.i32:
        return step(x)

    for value in (1, 2, 1, 4):
        n = value
        assert k(1) == 1 + value
