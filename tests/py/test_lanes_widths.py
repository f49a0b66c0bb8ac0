"""The tests of lanes again, with lanes of other numbers than this CPU's registers hold, and for other CPUs."""

import os
import pathlib
import subprocess
import sys

import pytest

LANES = [str(pathlib.Path(__file__).with_name(f"test_lanes{part}.py")) for part in ("", "_branches", "_calls")]


@pytest.mark.parametrize("setting", ["PESTLE_VECTOR_BITS=128", "PESTLE_VECTOR_BITS=512", "PESTLE_CPU=avx2", "PESTLE_CPU=scalar"])
def test_lanes_elsewhere(setting, tmp_path):
    name, value = setting.split("=")
    if value == "avx2" and "avx512f" not in pathlib.Path("/proc/cpuinfo").read_text():
        pytest.skip("this CPU has no wider vectors than AVX2's")
    env = dict(os.environ, PESTLE_CACHE_DIR=str(tmp_path), **{name: value})
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-W", "ignore", *LANES]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
