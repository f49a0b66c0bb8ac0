"""A kernel that is compiled again and again for a number that differs each time: one warning, which says what it is."""

import warnings

import pytest

import pestle as ti


def make_sim():
    """A class of its own, with a kernel that was never compiled."""

    class Sim:
        t = 0

        @ti.kernel
        def step(self) -> ti.i32:
            return self.t

    return Sim()


@ti.kernel
def templated(n: ti.template()) -> ti.i32:
    return n


@ti.kernel
def reads_global() -> ti.i32:
    return number


def attribute(sim, i):
    sim.t = i
    return sim.step()


def a_global(sim, i):
    globals()["number"] = i
    return reads_global()


CALLS = {
    "step.*the attribute 't' of Sim": attribute,
    "templated.*the template argument 'n'": lambda sim, i: templated(i),
    "reads_global.*the global 'number'": a_global,
}


@pytest.mark.parametrize("text", CALLS)
def test_one_warning(text):
    sim = make_sim()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(63):
            assert CALLS[text](sim, i) == i
    with pytest.warns(UserWarning, match=f"kernel '{text}"):
        assert CALLS[text](sim, 63) == 63
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(64, 70):
            assert CALLS[text](sim, i) == i


def test_few_values_in_turn_are_no_matter():
    sim = make_sim()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(300):
            assert attribute(sim, i % 10) == i % 10


def test_the_warning_as_an_error():
    @ti.kernel
    def f(n: ti.template()) -> ti.i32:
        return n

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="compiled 64 times"):
            for i in range(70):
                f(i)
        assert f(63) == 63 and f(64) == 64
