"""The wheel in an environment with nothing else: no LLVM, numpy or torch. Run by `make wheel-test`."""

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

pytestmark = pytest.mark.skipif(os.environ.get("PESTLE_TEST_WHEEL") != "1", reason="make wheel-test builds and tests the wheel")

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Prints "cold" or "warm". What it opens beside Python and the package may come from the C library only.
PROGRAM = '''
import importlib.util, sys

def libraries():
    return {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}

for name in ("numpy", "torch", "_pytest"):
    assert importlib.util.find_spec(name) is None, name
before = libraries()
import pestle as ti

@ti.func
def square(x):
    return x * x

@ti.kernel
def fill(a: ti.types.ndarray(dtype=ti.f32, ndim=2), by: ti.f32) -> ti.i32:
    count = 0
    for i, j in a:
        a[i, j] = ti.sqrt(square(by * (i + j)))
        count += 1
    return count

a = ti.ndarray(ti.f32, (30, 40))
assert fill(a, 0.5) == 1200
assert a.tolist() == [[0.5 * (i + j) for j in range(40)] for i in range(30)]

new = libraries() - before
for path in new:
    file = path.rsplit("/", 1)[1]
    assert path.startswith((sys.prefix, sys.base_prefix)) or file.split(".")[0] in ("libc", "libm", "libdl", "libpthread", "librt"), path
llvm = [path for path in new if "llvm" in path.lower()]
assert all(path.startswith(sys.prefix + "/") and path.endswith("/pestle/libpestle_llvm.so") for path in llvm), llvm
assert bool(llvm) == ti._pestle._llvm_is_open()
print("cold" if llvm else "warm")
'''


@pytest.fixture(scope="module")
def wheel():
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    found = sorted((ROOT / "dist").glob(f"pestle-*-{tag}-{tag}-*.whl"), key=os.path.getmtime)
    assert found, "make wheel writes it to dist/"
    return found[-1]


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The Python of a new environment that holds the wheel alone."""
    path = tmp_path_factory.mktemp("clean") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", path], check=True)
    python = path / "bin/python"
    pip = [sys.executable, "-m", "pip", "--python", python, "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", wheel], check=True)
    return python


def run(python, tmp_path, *words):
    env = {"HOME": str(tmp_path), "PESTLE_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""}
    found = subprocess.run([python, *words], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


def test_content(wheel):
    names = {name.split("/", 1)[1] for name in zipfile.ZipFile(wheel).namelist() if name.startswith("pestle/")}
    source = ROOT / "python/pestle"
    files = {str(path.relative_to(source)) for path in source.rglob("*") if path.suffix in (".py", ".pyi", ".typed")}
    extension = {name for name in names if name.startswith("_pestle.") and name.endswith(".so")}
    assert names == files | extension | {"libpestle_llvm.so"} and len(extension) == 1


def test_cold_and_warm(python, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    assert run(python, tmp_path, program) == "cold"
    assert run(python, tmp_path, program) == "warm"


def test_command(python, tmp_path):
    assert run(python, tmp_path, "-m", "pestle", "--version").startswith("pestle 0.")
