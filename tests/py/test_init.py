"""init, reset: options, refusals; nothing needs them."""

import subprocess
import sys

import pytest

import pestle as ti
from pestle import _pestle


def test_defaults():
    assert _pestle._config() == {
        "default_fp": ti.f32, "default_ip": ti.i32, "checked": False, "fast_math": False, "deterministic": False, "random_seed": 0,
        "threads": _pestle._threads(),
    }  # fmt: skip


def test_options():
    ti.init(arch=ti.cpu, debug=True, default_fp=ti.f64, default_ip=ti.i64, fast_math=True, deterministic=True, random_seed=7, threads=1)
    assert _pestle._config() == {
        "default_fp": ti.f64, "default_ip": ti.i64, "checked": True, "fast_math": True, "deterministic": True, "random_seed": 7, "threads": 1,
    }  # fmt: skip
    ti.init(ti.cpu, cpu_max_num_threads=2)
    assert _pestle._config()["threads"] == 2 and _pestle._config()["default_fp"] is ti.f32
    ti.reset()
    assert not _pestle._config()["checked"]


@pytest.mark.parametrize("name", ["checked", "debug", "check_out_of_bound"])
def test_ways_to_check(name):
    ti.init(**{name: True})
    assert _pestle._config()["checked"]


def test_taichi_options_without_effect():
    ti.init(ti.cpu, log_level="error", verbose=False, offline_cache_file_path="/nowhere", offline_cache=True)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"default_fp": ti.i32}, r"init\(default_fp=...\): expected f16, f32 or f64, found i32"),
        ({"default_fp": float}, "expected f16, f32 or f64"),
        ({"default_ip": ti.u8}, "expected i32 or i64, found u8"),
        ({"debug": "yes"}, "expected True or False, found 'yes'"),
        ({"random_seed": 1.5}, "expected an int, found 1.5"),
        ({"threads": -1}, "expected a number of threads"),
        ({"threads": 10**30}, "expected a number of threads"),
        ({"arch": 3}, "expected pestle.cpu, found 3"),
        ({"arch": ti.gpu}, r"init\(arch=gpu\): this build of Pestle runs on the CPU only"),
        ({"arch": ti.cuda}, "CPU only"),
    ],
)
def test_wrong_options_change_nothing(options, text):
    ti.init(random_seed=5)
    with pytest.raises(ti.KernelValueError, match=text):
        ti.init(checked=True, **options)
    assert _pestle._config()["random_seed"] == 5 and not _pestle._config()["checked"]


def test_unknown_keywords():
    with pytest.raises(ti.KernelTypeError, match=r"init\(\) got an unexpected keyword argument 'precision'; it knows arch, debug, "):
        ti.init(precision=3)
    with pytest.raises(TypeError, match="found 2 arguments"):
        ti.init(ti.cpu, True)


def test_names():
    assert ti.float32 is ti.f32 and ti.int64 is ti.i64 and ti.uint8 is ti.u8 and ti.bfloat16 is ti.bf16
    assert ti.types.f32 is ti.f32 and ti.types.ndarray is ti.types.NDArray and ti.Template is ti.template
    assert ti.sync() is None
    assert isinstance(ti.__version__, str)


def test_several_interpreters_of_the_module():
    program = "import pestle as a, sys\nfor n in [n for n in sys.modules if n.startswith('pestle')]: del sys.modules[n]\n"
    program += "import pestle as b\nassert a.f32 is not b.f32\nprint(b.ndarray(b.f32, 2).dtype is b.f32)\n"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "True\n", run.stderr


RATE, STEPS = 0.5, 3


def test_raise_on_templated_floats():
    class Sim:
        def __init__(self):
            self.rate, self.steps = 0.25, 2

    @ti.kernel
    def by_template(a: ti.template()) -> ti.f32:
        return a + 1

    @ti.kernel
    def by_global() -> ti.f32:
        return RATE * STEPS

    @ti.kernel
    def by_attribute(s: ti.template()) -> ti.f32:
        return s.rate * s.steps

    @ti.kernel
    def without(s: ti.template(), a: ti.f32) -> ti.f32:
        return a * s.steps + 0.5 + ti.math.radians(a) * 0 + ti.math.pi * 0

    for _ in range(2):
        ti.init(raise_on_templated_floats=True)
        for call, name in ((lambda: by_template(1.5), "a"), (by_global, "RATE"), (lambda: by_attribute(Sim()), "rate")):
            with pytest.raises(ti.KernelValueError, match=f"'{name}' is a float") as caught:
                call()
            assert isinstance(caught.value, (ti.CompilationError, ValueError))
        assert by_template(2) == 3 and without(Sim(), 1.0) == 2.5
        ti.init()
        assert (by_template(1.5), by_global(), by_attribute(Sim())) == (2.5, 1.5, 0.5)
