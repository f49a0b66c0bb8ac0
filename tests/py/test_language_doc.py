# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/language*.md: they run, and what they assert holds; some are looked at more closely here."""

import math
import pathlib
import re
import warnings

import numpy as np
import pytest

import pestle as ti

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(DOCS.glob("language*.md"))
TEXT = "\n".join(page.read_text() for page in PAGES)
TITLES = re.findall(r"^## (.*)$", TEXT, re.M)
WITHOUT = ["Not here yet"]  # sections without examples
PRINTED = {"Printing": "x is, 0.25, 0007 0.2 x=0.25\n[7, 2] of True\n", "Functions": "n is 3\n"}
PRINTED["Printing"] += "   2.500 0031    31|1f 2.5e+00 [2.5, 2.0] [2.5, 2.0]\n0\n1\n2\n3\n"
PARAMETERS = "x: ti.f32, n: ti.i32, m: ti.i64, a: ti.types.ndarray(ti.i32, 1)"


def refused(body, path, scope):
    """Whether a kernel of that body is: when it is compiled or, for its arguments, launched."""
    program = f"@ti.kernel\ndef kernel({PARAMETERS}):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    path.write_text(program)
    scope = dict(scope)
    try:
        exec(compile(program, str(path), "exec"), scope)
        scope["kernel"](0.5, 1, 2**40, np.zeros(2, np.int32))
    except ti.PestleError:
        return True
    return False


def helpers(plain):
    """What the pages of data and programs use; plain Python refuses less and does not warn, so that it is not asked."""

    def raises(f, *args):
        if not plain:
            with pytest.raises((ti.PestleError, TypeError, RuntimeError)):
                f(*args)
        return True

    def warned(f, *args):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            f(*args)
        return bool(said)

    return {"compiled": not plain, "raises": raises, "warned": warned}


def section(title, tmp_path, plain=False):
    """The names that the examples of a section define."""
    text = re.split(r"\n##? ", TEXT.split(f"\n## {title}\n", 1)[1], maxsplit=1)[0]
    program = "\n\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    path = tmp_path / "example.py"
    path.write_text(program)
    scope = {"ti": ti, "np": np, "math": math, "vec3": ti.types.vector(3, ti.f32), **helpers(plain)}

    def all_refused(*bodies):
        """Each of these is; plain Python mode, which refuses less, is not asked."""
        taken = [body for n, body in enumerate(bodies) if not plain and not refused(body, tmp_path / f"body{n}.py", scope)]
        assert not taken, "not refused"
        return True

    scope["refused"] = all_refused
    exec(compile(program, str(path), "exec"), scope)
    return scope


def test_links():
    """Each link of these pages leads to a page and a heading that are there; the index names every section, once."""
    for page in PAGES:
        for file, heading in re.findall(r"\]\(([\w.-]*)(?:#([\w-]+))?\)", page.read_text()):
            there = DOCS / (file or page.name)
            headings = [line.lower().replace(" ", "-") for line in re.findall(r"^## (.*)$", there.read_text(), re.M)]
            assert not heading or heading in headings, f"{page.name}: {file}#{heading}"
    index = re.split(r"\n## ", (DOCS / "language.md").read_text(), maxsplit=1)[0]
    named = re.findall(r"#([\w-]+)\)", index)
    assert sorted(named) == sorted(title.lower().replace(" ", "-") for title in TITLES)


@pytest.mark.filterwarnings("ignore:.*may lose precision")
@pytest.mark.parametrize("title", [title for title in TITLES if title not in WITHOUT])
@pytest.mark.parametrize("mode", ["compiled", "checked", "python"])
def test_examples(title, mode, tmp_path, capsys):
    ti.init(arch=ti.python if mode == "python" else ti.cpu, checked=mode == "checked", overflow="ignore")
    assert len(section(title, tmp_path, plain=mode == "python")) > 8, "it has no example"
    assert capsys.readouterr().out == PRINTED.get(title, "")


def test_refused(tmp_path):
    """What the examples say to be refused is so for its own sake: a kernel of those parameters is not."""
    ti.init(arch=ti.cpu)
    assert not refused("pass", tmp_path / "fine.py", {"ti": ti})
    assert refused("if x: pass", tmp_path / "wrong.py", {"ti": ti})


def test_warnings(tmp_path):
    """The lines of the examples about conversions that say so warn, and no others."""
    ti.init(arch=ti.cpu)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        section("Conversions", tmp_path)
    lines = (tmp_path / "example.py").read_text().split("\n")
    assert [w.lineno for w in caught] == [n for n, line in enumerate(lines, 1) if "# warns" in line]


def promotion_table():
    """The cells of the table of promotion, as dtypes: {left: {right: both}}."""
    lines = [line for line in TEXT.split("\n## Promotion\n")[1].split("\n## ")[0].splitlines() if line.startswith("|")]
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines if "---" not in line]
    dtypes = [[getattr(ti, cell) for cell in row[1:]] for row in rows]
    return {getattr(ti, row[0]): dict(zip(dtypes[0], of)) for row, of in zip(rows[1:], dtypes[1:])}


@pytest.mark.parametrize("mode", ["compiled", "checked", "python"])
def test_promotion_table(mode):
    """Every cell is what a sum, a product and a difference of such values have, of numbers and of vectors."""
    ti.init(arch=ti.python if mode == "python" else ti.cpu, checked=mode == "checked")
    table = promotion_table()
    assert len(table) == 13 and all(len(row) == 13 for row in table.values())

    @ti.kernel
    def cells(x: ti.i32):
        for a, row in ti.static(table.items()):
            for b, both in ti.static(row.items()):
                p, q = ti.cast(x, a), ti.cast(x, b)
                number = p + q
                ti.static_assert(ti.Vector([number]).dtype == both, (a, b))
                ti.static_assert(ti.Vector([p * q]).dtype == both, (a, b))
                ti.static_assert((ti.Vector([p]) - ti.Vector([q])).dtype == both, (a, b))

    cells(1)
    table[ti.u1][ti.u1] = ti.u1
    with pytest.raises((ti.PestleError, AssertionError)):
        ti.kernel(cells.__wrapped__)(1)
    ti.init(arch=ti.cpu)


def test_vectors_and_matrices(tmp_path):
    scope = section("Vectors and matrices", tmp_path)
    w = np.array([3.0, 2, 4]) * [1, 2, 1]
    w = w[[1, 0, 2]]
    np.testing.assert_allclose(scope["bounce"]([1, 2, 3], 1), w / np.linalg.norm(w) + w, rtol=1e-6)


def test_structs(tmp_path):
    scope = section("Structs", tmp_path)
    hit, Sphere = scope["hit"], scope["Sphere"]
    assert hit(Sphere([0, 1, 5], 1), {"origin": [0, 0, 0], "to": [0, 0, 1]})
    assert not hit(Sphere([0, 2, 5], 1), {"origin": [0, 0, 0], "to": [0, 0, 1]})
