"""A minute of random programs (PESTLE_DIFF_SECONDS): evaluator, compiled, checked, 1 and 2 threads, vectors of several widths,
equal to the bit."""

import os
import subprocess
import sys

import pytest

COMPARE = os.path.join(os.path.dirname(__file__), "compare.py")


@pytest.mark.parametrize("bits", ["", "128", "512"])
@pytest.mark.parametrize("options", [[], ["--values", "--shrink"]], ids=["numbers", "values"])
def test_random_programs(options, bits):
    seconds = str(float(os.environ.get("PESTLE_DIFF_SECONDS", "60")) / 6)
    env = dict(os.environ, PESTLE_VECTOR_BITS=bits) if bits else None
    command = [sys.executable, COMPARE, "--seconds", seconds, *options]
    run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-3000:]
    print(run.stdout)
