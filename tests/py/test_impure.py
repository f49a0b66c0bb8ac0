"""Python functions that give another result each time run once, while a kernel is compiled: a warning says so."""

import os
import warnings

import pytest

import pestle as ti

CALLS = {
    "time": "time.time()",
    "perf_counter_ns": "time.perf_counter_ns() % 7",
    "random": "random.random()",
    "randint": "random.randint(0, 9)",
    "rand": "np.random.rand()",
    "normal": "generator.normal()",
    "urandom": "len(os.urandom(2))",
    "now": "datetime.datetime.now().year",
    "uuid4": "uuid.uuid4().int % 5",
    "token_bytes": "len(secrets.token_bytes(3))",
    "input": "len(input())",
}
PROGRAM = """
import datetime, os, random, secrets, time, uuid
import numpy as np
import pestle as ti
generator = np.random.default_rng(0)
input = __import__("builtins").input
@ti.kernel
def f(x: ti.f64) -> ti.f64:
    a = x
    return a + {}
"""


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_with_the_line(from_source, monkeypatch, name):
    monkeypatch.setattr("sys.stdin", open(os.devnull))
    scope = from_source(PROGRAM.format(CALLS[name]))
    with pytest.warns(UserWarning) as caught:
        try:
            first = scope["f"](1.0)
        except EOFError:  # of input(): it was called
            first = None
        except ti.CompilationError as error:
            assert name == "input" and isinstance(error.__cause__, EOFError)
            first = None
    (warning,) = caught
    assert str(warning.message).startswith(f"{name}() is called once, while the kernel is compiled")
    assert warning.filename.endswith("program.py") and warning.lineno == 10
    if first is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert scope["f"](1.0) == first  # frozen, and no second warning


@pytest.mark.parametrize("text", ["ti.static(time.time())", "time.strptime('2020', '%Y').tm_year", "abs(-2) + len('random')",
                                  "os.path.getsize('/')", "math.floor(2.5)", "random_of(x)"])  # fmt: skip
def test_no_warning(from_source, text):
    source = PROGRAM.replace("import numpy", "import math\nimport numpy").replace("@ti.kernel", "def random_of(x): return x\n@ti.kernel")
    scope = from_source(source.format(text))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scope["f"](1.0)


def test_a_warning_may_be_an_error(from_source):
    scope = from_source(PROGRAM.format("time.time()"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="time"):
            scope["f"](1.0)
