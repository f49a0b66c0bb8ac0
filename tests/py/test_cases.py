"""Known wrong answers of other systems: right here, cold and from the cache, checked or not, on 1 and 2 threads."""

import os
import subprocess
import sys

import pytest

PROGRAMS = os.path.join(os.path.dirname(__file__), "case_programs.py")


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("checked", ["plain", "checked"])
def test_cases(tmp_path, checked, threads):
    env = dict(os.environ, PESTLE_CACHE_DIR=str(tmp_path / "cache"))
    for temperature in ("cold", "warm"):
        run = subprocess.run([sys.executable, PROGRAMS, checked, threads], env=env, capture_output=True, text=True, timeout=120)
        assert run.returncode == 0, f"{temperature}: {run.stdout}\n{run.stderr}"
        assert run.stdout.count("ok   ") == 18
