# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/language.md that are whole programs: they run, and do what the page says."""

import pathlib
import re

import numpy as np

import pestle as ti

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "language.md"


def section(title, tmp_path, **names):
    """The names that the example of a section defines."""
    text = PAGE.read_text().split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    program = "\n\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    path = tmp_path / "example.py"
    path.write_text(program)
    scope = {"ti": ti, **names}
    exec(compile(program, str(path), "exec"), scope)
    return scope


def test_vectors_and_matrices(tmp_path):
    scope = section("Vectors and matrices", tmp_path)
    w = np.array([3.0, 2, 4]) * [1, 2, 1]
    w = w[[1, 0, 2]]
    np.testing.assert_allclose(scope["bounce"]([1, 2, 3], 1), w / np.linalg.norm(w) + w, rtol=1e-6)


def test_structs(tmp_path):
    scope = section("Structs", tmp_path, vec3=ti.types.vector(3, ti.f32))
    hit, Sphere = scope["hit"], scope["Sphere"]
    assert hit(Sphere([0, 1, 5], 1), {"origin": [0, 0, 0], "to": [0, 0, 1]})
    assert not hit(Sphere([0, 2, 5], 1), {"origin": [0, 0, 0], "to": [0, 0, 1]})


def test_dataclasses(tmp_path):
    assert list(section("Dataclasses as arguments", tmp_path)["state"].grid.mass) == [3, 3, 3]
