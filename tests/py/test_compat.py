"""Other projects' names for Pestle (pestle.compat) and `pestle run --as`."""

import subprocess
import sys

import numpy as np
import pytest

import pestle
import process
from pestle import compat


@pytest.fixture(params=sorted(compat.PEERS))
def name(request):
    if request.param in sys.modules:
        pytest.skip("the real package has been imported")
    compat.install(request.param)
    yield request.param
    compat.uninstall(request.param)
    pestle.reset()


def imported(name):
    return __import__(name)


def test_a_program_under_the_other_name(name):
    ti = imported(name)
    ti.init(arch=ti.cpu, random_seed=3, print_ir=False)

    @ti.kernel
    def f(x: ti.types.ndarray()):
        for i in x:
            x[i] += i

    x = np.zeros(3)
    f(x)
    assert x.tolist() == [0, 1, 2]
    assert ti.cfg.random_seed == 3 and ti.cfg.arch == ti.x64
    ti.reset()
    assert ti.cfg.random_seed == 0


def test_modules_and_exceptions(name):
    ti = imported(name)
    prefix = compat.PEERS[name].prefix
    impl = __import__(f"{name}.lang.impl", fromlist=["impl"])
    error = getattr(ti, prefix + "SyntaxError")
    assert issubclass(error, SyntaxError) and getattr(ti.lang.exception, prefix + "SyntaxError") is error
    assert impl.current_cfg() is ti.cfg and impl.get_runtime().default_fp is pestle.f32
    with pytest.raises(ModuleNotFoundError):
        __import__(f"{name}.nowhere")
    with pytest.raises(AttributeError, match="'nowhere'"):
        ti.nowhere

    @ti.kernel
    def f():
        import os  # noqa: F401

    with pytest.raises(getattr(ti, prefix + "CompilationError")):
        f()


def test_options(name, monkeypatch):
    ti = imported(name)
    with pytest.raises(KeyError, match="Unrecognized keyword argument.*colour"):
        ti.init(colour=1)
    with pytest.raises(KeyError, match="default_up"):
        ti.init(default_up=ti.u64)
    with pytest.raises(RuntimeError, match="Arch=cuda is not supported"):
        ti.init(arch=ti.cuda, enable_fallback=False)
    with pytest.warns(UserWarning, match="falling back to CPU"):
        ti.init(arch=ti.gpu)
    monkeypatch.setenv(compat.PEERS[name].environment + "DEFAULT_FP", "64")
    monkeypatch.setenv(compat.PEERS[name].environment + "DEBUG", "1")
    ti.init()
    assert ti.cfg.default_fp is pestle.f64 and ti.cfg.debug is True

    @ti.kernel
    def f(x: ti.types.ndarray(), i: ti.i32):
        x[i] = 1

    with pytest.raises(AssertionError, match="out of bounds"):
        f(np.zeros(2), 7)
    with pytest.warns(UserWarning, match="DEFAULT_FP"):
        ti.init(default_fp=ti.f32)
    assert ti.cfg.default_fp is pestle.f32


def test_install_refuses():
    with pytest.raises(ValueError, match="expected one of gstaichi, quadrants, taichi, found 'numpy'"):
        compat.install("numpy")
    program = "import sys, types\nsys.modules['taichi'] = types.ModuleType('taichi')\nimport pestle.compat\npestle.compat.install('taichi')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "RuntimeError: install: taichi itself has been imported already" in done.stderr


def test_run(tmp_path):
    (tmp_path / "beside.py").write_text("FACTOR = 3\n")
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nimport gstaichi as ti\nimport beside\nti.init()\n\n"
        "@ti.kernel\ndef f(x: ti.i32) -> ti.i32:\n    return x * beside.FACTOR\n\n"
        "if __name__ == '__main__':\n    print(f(int(sys.argv[2])), sys.argv[1:])\n"
    )
    env = process.environment({"PESTLE_CACHE_DIR": str(tmp_path / "cache")})
    words = [sys.executable, "-m", "pestle", "run", "--as", "gstaichi", str(program), "--as", "14"]
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    assert done.stdout == "42 ['--as', '14']\n", done.stderr
    done = subprocess.run([*words[:-3], "nowhere.py"], capture_output=True, text=True, env=env)
    assert done.returncode == 1 and "nowhere.py" in done.stderr and "Traceback" not in done.stderr
    program.write_text("open('/nowhere/at/all')\n")
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    assert done.returncode == 1 and "Traceback" in done.stderr and f'File "{program}", line 1' in done.stderr


def test_messages_name_the_alias(name):
    ti, short = imported(name), compat.PEERS[name].short

    @ti.kernel
    def f():
        def inner():
            pass

    @ti.kernel
    def g():
        ti.static_assert(False, "ti.text")

    with pytest.raises(SyntaxError, match=f"Function definition is not allowed in '{short}.kernel'"):
        f()
    with pytest.raises(AssertionError, match="ti.text") as caught:
        g()
    assert isinstance(caught.value, getattr(ti, compat.PEERS[name].prefix + "CompilationError"))
    with pytest.raises(SyntaxError, match=f"^{short}.ndrange.axes=...."):
        ti.ndrange(2, axes=(1,))


def test_private_names(name):
    ti, short = imported(name), compat.PEERS[name].short
    runtime = ti.lang.impl.get_runtime()
    ti.init(default_fp=ti.f64)
    runtime.set_default_ip(ti.i64)
    assert ti.cfg.default_fp is ti.f64 and runtime.default_ip is ti.i64
    assert ti.types.is_integral(ti.u8) and not ti.types.is_signed(ti.u8) and ti.types.is_real(ti.f16)
    kinds = __import__(f"{name}.types.primitive_types", fromlist=["all_types"])
    assert len(kinds.all_types) == 12 and id(ti.f32) in kinds.type_ids and ti.f32.to_string() == "f32"
    assert ti.init(_test_mode=True, log_level=ti.WARN).log_level == "warn"
    ti.set_logging_level(ti.ERROR)
    assert ti._logging.is_logging_effective(ti.CRITICAL) and not ti.is_logging_effective(ti.INFO)
    with pytest.raises(RuntimeError, match="version 9.9.9 is required"):
        ti.init(require_version="9.9.9")
    Ndrange = __import__(f"{name}.lang._ndrange", fromlist=["_Ndrange"])._Ndrange
    assert Ndrange(2, 2, axes=(0, 1)).axes is None and Ndrange(2, 2, axes=(1, 0)).axes == (1, 0)
    assert [v.to_list() for v in Ndrange(1, 2).grouped()] == [[0, 0], [0, 1]]
    with pytest.warns(DeprecationWarning, match=f"Use {short}.real_func instead"):
        ti.experimental.real_func(annotated)
    loader = __import__(f"{name}._test_tools.load_kernel_string", fromlist=["load_kernel_from_string"])
    with loader.load_kernel_from_string(f"import {name} as m\n@m.kernel\ndef one() -> m.i32:\n    return 1\n", "one") as one:
        assert one() == 1
    ti.reset()


def annotated(a: int) -> int:
    return a
