"""Runs a program in a Python of its own: kernels need source text, so it is written to a file first."""

import os
import subprocess
import sys

HEAD = """\
import os, signal, sys, threading, time
import numpy as np
import pestle as ti
from pestle import _pestle
A = ti.types.ndarray()
"""


def command(tmp_path, text, name="program.py"):
    path = tmp_path / name
    path.write_text(HEAD + text)
    return [sys.executable, str(path)]


def environment(env):
    """Of this process, with `env` on top; None removes."""
    merged = {**os.environ, **env}
    return {name: value for name, value in merged.items() if value is not None}


def run(tmp_path, text, timeout=60, check=True, **env):
    """What it printed; with check=False the finished process. It must end in time, with status 0."""
    done = subprocess.run(command(tmp_path, text), capture_output=True, text=True, timeout=timeout, env=environment(env))
    if not check:
        return done
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout
