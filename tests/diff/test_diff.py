"""Two half minutes of random programs (PESTLE_DIFF_SECONDS): evaluator, compiled, checked, 1 and 2 threads, equal to the bit."""

import os
import subprocess
import sys

import pytest

COMPARE = os.path.join(os.path.dirname(__file__), "compare.py")


@pytest.mark.parametrize("options, share", [([], 2), (["--values", "--shrink"], 2)])
def test_random_programs(options, share):
    seconds = str(float(os.environ.get("PESTLE_DIFF_SECONDS", "60")) / share)
    run = subprocess.run([sys.executable, COMPARE, "--seconds", seconds, *options], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-3000:]
    print(run.stdout)
