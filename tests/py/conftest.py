"""What all Python tests share: a cache directory of the session's own, default options after each test."""

import os
import tempfile

# Before pestle is imported: its store is opened once a process.
os.environ.setdefault("PESTLE_CACHE_DIR", tempfile.mkdtemp(prefix="pestle-tests-"))
os.environ.setdefault("PESTLE_VERIFY", "1")

import pytest

import pestle as ti


@pytest.fixture(autouse=True)
def default_options():
    yield
    ti.reset()


@pytest.fixture
def from_source(tmp_path):
    """Runs source text as a module of its own and gives its names: for programs that cannot stand in a test file."""

    def run(text, name="program.py"):
        path = tmp_path / name
        path.write_text(text)
        scope = {"__name__": path.stem, "__file__": str(path)}
        exec(compile(text, str(path), "exec"), scope)
        return scope

    return run
