"""What people look at: kernel.ir, kernel.asm, PESTLE_DUMP, PESTLE_TIME, progress on a terminal, the command `pestle`."""

import importlib
import os
import dataclasses
import pathlib
import pty
import re
import subprocess
import sys

import numpy as np
import process
import pytest

import pestle as ti
from pestle import __main__ as command

KERNEL = "@ti.kernel\ndef add(x: A, n: ti.i32):\n    for i in x:\n        x[i] += n * 2 + 0\n"
CALL = KERNEL + "add(np.zeros(3, np.int32), 4)\n"


@ti.kernel
def saxpy(x: ti.types.ndarray(dtype=ti.f32, ndim=1), y: ti.types.ndarray(dtype=ti.f32, ndim=1), a: ti.f32):
    for i in x:
        y[i] += a * x[i] + 0.0


def floats(n):
    return np.zeros(n, np.float32)


# -- kernel.ir, kernel.asm --


def test_ir():
    front = saxpy.ir(floats(3), floats(3), 2.0)
    assert front.startswith('source 1 "saxpy"\nfunc @main(array<f32,1,unit>, array<f32,1,unit>, f32)') and "parfor[0]" in front
    assert "mul" in front and "fma" not in front and "atomic_add" in front
    contracted = saxpy.ir(floats(3), floats(3), a=2.0, after="contract")
    assert "fma" in contracted and "atomic_add" in contracted
    done = saxpy.ir(floats(3), y=floats(3), a=2.0, after="dce")
    assert "atomic_add" not in done and "place" not in done
    strided = saxpy.ir(floats(6)[::2], floats(3), 1)
    assert "array<f32,1>," in strided
    ti.init(checked=True)
    assert "check[0]" in saxpy.ir(floats(3), floats(3), 2.0, after="check")
    assert saxpy.ir(floats(3), floats(3), 2.0, after="llvm").startswith("; ModuleID")


def test_ir_of_the_last_launch():
    @ti.kernel
    def f(x: ti.types.ndarray(), k: ti.template(), n: ti.i64):
        for i in x:
            x[i] = k + n

    with pytest.raises(ti.KernelValueError, match="about the last launch, and there was none"):
        f.ir()
    f(np.zeros(3, np.int16), 7, 1)
    assert "array<i16,1,unit>" in f.ir() and "const 7" in f.ir()
    f(np.zeros((3, 2), np.float64)[:, 0], 9, 1)
    assert "array<f64,1>," in f.ir() and "const 9" in f.ir(after="fold") and "task:" in f.asm()


def test_the_last_launch_of_a_dataclass():
    @dataclasses.dataclass
    class Inner:
        x: ti.types.ndarray(dtype=ti.f32, ndim=1)

    @dataclasses.dataclass
    class Scene:
        inner: Inner
        n: ti.i16

    @ti.kernel
    def f(s: Scene, k: ti.i32):
        for i in s.inner.x:
            s.inner.x[i] += s.n * k

    scene = Scene(Inner(np.zeros(3, np.float32)), 2)
    f(scene, 7)
    assert f.ir() == f.ir(scene, 7) and "i16" in f.ir(after="fold")
    assert f.asm() == f.asm(scene, 7) and sys.getrefcount(scene) == 2
    del scene
    with pytest.raises(ti.KernelTypeError, match="a dataclass that is gone"):
        f.ir()



def test_ir_without_parameters():
    @ti.kernel
    def f() -> ti.i32:
        return 6 * 7

    assert "const 42" in f.ir(after="fold") and "$42" in f.asm()


def test_asm():
    assembly = saxpy.asm(floats(3), floats(3), 2.0)
    assert "ps_main:" in assembly and "\tret" in assembly


def test_ir_refusals():
    with pytest.raises(ti.KernelValueError, match='nothing to dump is called "optimise"; expected front'):
        saxpy.ir(floats(3), floats(3), 2.0, after="optimise")
    with pytest.raises(ti.KernelValueError, match='nothing to dump is called "int"'):
        saxpy.ir(floats(3), floats(3), 2.0, after=3)
    with pytest.raises(ti.KernelTypeError, match="Missing argument 'a'"):
        saxpy.ir(floats(3), floats(3))
    with pytest.raises(ti.KernelTypeError, match="Unexpected argument 'b'"):
        saxpy.asm(floats(3), floats(3), b=3)
    with pytest.raises(ti.KernelTypeError, match="argument 'x'"):
        saxpy.ir(3, floats(3), 2.0)


# -- PESTLE_DUMP, PESTLE_TIME, progress --


def stderr_of(tmp_path, text, **env):
    done = process.run(tmp_path, text, check=False, PESTLE_CACHE_DIR=str(tmp_path / "cache"), **env)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_dump(tmp_path):
    seen = stderr_of(tmp_path, CALL, PESTLE_DUMP="front,fold,asm")
    assert re.findall("^# after (.*)$", seen, re.M) == ["front", "fold", "asm"] and "ps_main:" in seen
    assert "nothing to dump" in process.run(tmp_path, CALL, check=False, PESTLE_DUMP="nothing").stderr
    assert seen.count("# after ") == 3 and "# after llvm" in stderr_of(tmp_path, CALL, PESTLE_DUMP="all")


def test_time(tmp_path):
    line = r"pestle: add {}: (\w+ \d+\.\d{{3}} )+ms\n"
    twice = CALL + KERNEL.replace("add", "again") + "again(np.zeros(3, np.int32), 4)\n"
    assert re.fullmatch(line.format("compiled") + "pestle: again .*\n", stderr_of(tmp_path, twice, PESTLE_TIME="1"))
    assert re.fullmatch(line.format("from the cache"), stderr_of(tmp_path, CALL, PESTLE_TIME="1"))
    assert stderr_of(tmp_path, CALL, PESTLE_TIME="0") == ""


def on_a_terminal(words, **env):
    ours, theirs = pty.openpty()
    child = subprocess.Popen(words, stderr=theirs, stdout=subprocess.DEVNULL, env=process.environment(env))
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:
        pass
    os.close(ours)
    assert child.wait() == 0, seen
    return seen.decode().replace("\r\n", "\n")


def test_progress_on_a_terminal(tmp_path):
    words = process.command(tmp_path, CALL)
    cache = {"PESTLE_CACHE_DIR": str(tmp_path / "cache")}
    assert on_a_terminal(words, **cache, PESTLE_PROGRESS_MS="100000") == ""
    shown = on_a_terminal(words, PESTLE_CACHE_DIR=str(tmp_path / "other"), PESTLE_PROGRESS_MS="0")
    assert shown == "pestle: still compiling add ...\n"
    assert on_a_terminal(words, **cache, PESTLE_PROGRESS_MS="0") == ""  # from the cache
    assert stderr_of(tmp_path / "cache", CALL, PESTLE_PROGRESS_MS="0") == ""  # no terminal


# -- the command --


def pestle(*words, status=0, **env):
    run = subprocess.run([sys.executable, "-m", "pestle", *words], capture_output=True, text=True, env=process.environment(env))
    assert run.returncode == status, run.stdout + run.stderr
    return run.stdout + run.stderr


def test_version_and_usage():
    assert pestle("--version") == f"pestle {ti.__version__}\n"
    assert "doctor" in pestle("--help") and "clear" in pestle("cache", "--help")
    assert "usage: pestle" in pestle(status=2) and "invalid choice" in pestle("cache", "empty", status=2)


def test_console_script():
    text = (pathlib.Path(__file__).parents[2] / "pyproject.toml").read_text()
    module, function = re.search(r'\[project.scripts\]\npestle = "(.*):(.*)"', text).groups()
    assert getattr(importlib.import_module(module), function) is command.main


def test_nothing_of_it_is_imported(tmp_path):
    text = "print([m for m in ('argparse', 'pestle.__main__', 'pestle._python_mode', 'ast', 'inspect', 'numpy.testing') if m in sys.modules])\n"
    assert process.run(tmp_path, text).strip() in ("[]", "['ast', 'inspect']", "['ast']", "['inspect']")
    run = subprocess.run([sys.executable, "-Sc", f"import sys; sys.path.insert(0, {os.path.dirname(os.path.dirname(ti.__file__))!r}); "
                          "import pestle; print(sorted(m for m in sys.modules if m.startswith('pestle') or m in ('ast', 'argparse')))"],
                         capture_output=True, text=True)  # fmt: skip
    assert run.stdout == "['pestle', 'pestle._pestle', 'pestle.types']\n"


def test_doctor(tmp_path):
    told = pestle("doctor", PESTLE_CACHE_DIR=str(tmp_path / "c"), PESTLE_NUM_THREADS="1")
    lines = dict(line.split(None, 1) for line in told.splitlines())
    assert list(lines) == ["pestle", "python", "system", "processor", "features", "threads", "LLVM", "cache", "packages", "settings", "trial"]
    assert lines["pestle"].startswith(f"{ti.__version__}, build ") and lines["threads"] == "1 thread"
    assert f"numpy {np.__version__}" in lines["packages"] and "PESTLE_NUM_THREADS=1" in lines["settings"]
    assert "libpestle_llvm.so, " in lines["LLVM"] and f"{tmp_path}/c: 0 kernels" in lines["cache"]
    assert re.fullmatch(r"compiled and ran in \d+\.\d ms", lines["trial"])


def test_doctor_in_other_modes(tmp_path):
    cache = {"PESTLE_CACHE_DIR": str(tmp_path)}
    assert re.search(r"trial +ran as plain Python, for PESTLE=python; nothing was compiled: \d+\.\d ms\n", pestle("doctor", PESTLE="python", **cache))
    assert re.search(r"features +none; vectors of 128 bits\n", pestle("doctor", PESTLE_CPU="scalar", **cache))
    told = pestle("doctor", status=1, PESTLE_CPU="8086", **cache)
    assert "trial     FAILED: KernelValueError: PESTLE_CPU=8086: expected avx2 or scalar" in told
    told = pestle("doctor", status=1, PESTLE_VECTOR_BITS="100", **cache)
    assert "trial     FAILED: KernelValueError: PESTLE_VECTOR_BITS=100: expected 128, 256 or 512" in told
    assert "features  not known, see the trial" in told


def test_doctor_says_what_is_wrong(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    told = pestle("doctor", status=1, PESTLE_LLVM_LIBRARY=str(tmp_path / "missing.so"), PESTLE_CACHE_DIR=str(file / "below"),
                  PESTLE_NUM_THREADS="many")  # fmt: skip
    assert "missing.so, MISSING" in told and "FAILED: the compiler cannot be opened" in told and "trial     FAILED" in told
    assert "compiled kernels are not kept in" in told and "PESTLE_NUM_THREADS=many is no number of threads" in told


def test_cache(tmp_path):
    cache = {"PESTLE_CACHE_DIR": str(tmp_path / "cache")}
    assert pestle("cache", **cache) == f"{tmp_path}/cache: 0 kernels, 0 bytes of 512 MiB\n"
    process.run(tmp_path, CALL + KERNEL.replace("add", "ajouter_é").replace("+ 0", "+ 1") + "ajouter_é(np.zeros(3), 1)\n", **cache)
    (tmp_path / "cache" / "notes.txt").write_text("mine")
    (tmp_path / "cache" / ("0" * 64)).write_text("damaged")
    (tmp_path / "cache" / "tmp-1-2-3").write_text("left behind")
    assert re.fullmatch(rf"{tmp_path}/cache: 3 kernels, [\d.]+ KiB of 10 MiB\n", pestle("cache", "size", **cache, PESTLE_CACHE_LIMIT_MB="10"))
    listed = [line.split(None, 5) for line in pestle("cache", "list", **cache).splitlines()]
    assert {line[5] for line in listed} == {"add", "ajouter_é", "(another version)"}
    assert all(re.fullmatch("[0-9a-f]{16}", line[0]) for line in listed)
    assert re.fullmatch(rf"removed 3 kernels, [\d.]+ KiB, from {tmp_path}/cache\n", pestle("cache", "clear", **cache))
    assert os.listdir(tmp_path / "cache") == ["notes.txt"]
    assert "0 kernels" in pestle("cache", **cache)


def test_empty_cache(tmp_path):
    assert pestle("cache", "list", PESTLE_CACHE_DIR=str(tmp_path)) == f"no kernels in {tmp_path}\n"
    assert pestle("cache", "clear", PESTLE_CACHE_DIR=str(tmp_path)) == f"removed 0 kernels, 0 bytes, from {tmp_path}\n"
    told = pestle("cache", PESTLE_CACHE_DIR=str(tmp_path), PESTLE_CACHE_LIMIT_MB="1 GB")
    assert told == f"{tmp_path}: 0 kernels, 0 bytes of 512 MiB; PESTLE_CACHE_LIMIT_MB=1 GB is no number of megabytes; 512 are used\n"
    assert "RuntimeWarning: PESTLE_CACHE_LIMIT_MB=1 GB is no" in stderr_of(tmp_path, CALL, PESTLE_CACHE_LIMIT_MB="1 GB")


def test_settings(tmp_path):
    (tmp_path / "home").mkdir()
    told = pestle("cache", PESTLE_CACHE_DIR="~/kernels", HOME=str(tmp_path / "home"))
    assert told.startswith(f"{tmp_path}/home/kernels: 0 kernels")
    assert "PESTLE=foo is ignored: the one value it may have is python" in stderr_of(tmp_path, CALL, PESTLE="foo")
    assert not stderr_of(tmp_path, CALL, PESTLE="")


def test_static_print_of_what_is_not_known(capfd):
    @ti.kernel
    def f(n: ti.i32, x: ti.types.ndarray(dtype=ti.f32, ndim=1)):
        ti.static_print("types:", n, n + 1.5, ti.Vector([n, 1.0]), x, 3)

    f(1, np.zeros(2, np.float32))
    assert capfd.readouterr().out == "types: i32 f32 vector of 2 f32 f32 array of 1 axis 3\n"


def test_no_cache(tmp_path):
    (tmp_path / "file").write_text("")
    for action in ("size", "list", "clear"):
        assert "compiled kernels are not kept in" in pestle("cache", action, status=1, PESTLE_CACHE_DIR=str(tmp_path / "file" / "below"))


def test_very_long_bodies_are_not_vectorised(from_source):
    """The time to compile vectors of such a body is more than they save."""

    def text(n):
        lines = "".join(f"        a = a * {k}.5\n" for k in range(n))
        source = "import pestle as ti\n@ti.kernel\ndef f(x: ti.types.ndarray(dtype=ti.f32, ndim=1)):\n    for i in x:\n        a = x[i]\n"
        kernel = from_source(source + lines + "        x[i] = a\n", f"body{n}.py")["f"]
        x = np.ones(3, np.float32)
        kernel(x)
        expected = np.float32(1)
        with np.errstate(over="ignore"):
            for k in range(n):
                expected = expected * np.float32(k + 0.5)
        assert (x == expected).all()
        return kernel.ir(x, after="llvm")

    if " x float>" in text(20):
        assert " x float>" not in text(2600)
