"""The short form of the campaign of faults (tests/torture/torture.py); the whole of it is `make torture`."""

import json
import os
import pathlib
import subprocess
import sys

import process

TORTURE = pathlib.Path(__file__).parent.parent / "torture" / "torture.py"


def test_torture(tmp_path):
    env = process.environment({"TMPDIR": str(tmp_path), "PESTLE_CACHE_DIR": None})
    done = subprocess.run([sys.executable, str(TORTURE), "--short"], capture_output=True, text=True, env=env, timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts["tried"] > 150 and counts["wrong"] == counts["hang"] == counts["crash"] == 0
    assert not os.listdir(tmp_path)
