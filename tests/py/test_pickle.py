"""Kernels and funcs are pickled by their names, as plain functions are; copies are the same object."""

import copy
import multiprocessing
import pickle
import subprocess
import sys

import pytest

import pestle as ti

PROGRAM = """
import copy, multiprocessing, pickle, sys
import pestle as ti

@ti.kernel
def square(x: ti.i32) -> ti.i32:
    return x * x

class Model:
    def __init__(self):
        self.m = 3

    @ti.kernel
    def scaled(self, x: ti.i32) -> ti.i32:
        return x * self.m

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert pool.map(square, range(5)) == [0, 1, 4, 9, 16]
        assert pool.map(Model().scaled, range(3)) == [0, 3, 6]
"""


@ti.kernel
def square(x: ti.i32) -> ti.i32:
    return x * x


@ti.func
def half(x):
    return x * 0.5


class Model:
    @ti.kernel
    def run(self) -> ti.i32:
        return 1

    @ti.func
    def part(self):
        return 2


ALL = {"kernel": square, "func": half, "method": Model.run, "func of a class": Model.part}


@pytest.mark.parametrize("name", ALL)
def test_it_is_itself(name):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(ALL[name], protocol)) is ALL[name]
    assert copy.copy(ALL[name]) is ALL[name] and copy.deepcopy([ALL[name]])[0] is ALL[name]


@pytest.mark.parametrize("decorate", [ti.kernel, ti.func])
def test_a_local_one_is_refused_as_functions_are(decorate):
    @decorate
    def local():
        pass

    with pytest.raises((AttributeError, pickle.PicklingError), match="local"):
        pickle.dumps(local)
    assert copy.deepcopy(local) is local


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_pool(method, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "program.py", method], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
