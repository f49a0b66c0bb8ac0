"""A while of random programs on tiles (PESTLE_DIFF_SECONDS / 3): evaluated, lowered, compiled and checked, equal to the bit."""

import os
import subprocess
import sys

TILES = os.path.join(os.path.dirname(__file__), "tiles.py")


def test_random_tiles():
    seconds = str(float(os.environ.get("PESTLE_DIFF_SECONDS", "60")) / 3)
    run = subprocess.run([sys.executable, TILES, "--seconds", seconds], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-3000:]
    print(run.stdout)
