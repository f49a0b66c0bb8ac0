# SPDX-License-Identifier: Apache-2.0
"""Every mistake a user can make, with the whole message: the programs in cases/, run by runner.py."""

import difflib
import importlib.util
import pathlib

import pytest

spec = importlib.util.spec_from_file_location("reject_runner", pathlib.Path(__file__).parent / "runner.py")
runner = importlib.util.module_from_spec(spec)
spec.loader.exec_module(runner)

CASES = [case for path in runner.FILES for case in runner.read(path)[1]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.path.stem}-{case.title}")
def test_reject(case, tmp_path):
    found = runner.run(case, tmp_path)
    lines = difflib.unified_diff([f"{line}\n" for line in case.expect], [f"{line}\n" for line in found], "expected", "found")
    assert runner.same(case.expect, found), f"{case.path}:{case.line}\n" + "".join(lines)
