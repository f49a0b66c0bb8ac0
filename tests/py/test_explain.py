# SPDX-License-Identifier: Apache-2.0
"""kernel.explain() and `pestle explain`: each kind of answer once, in a comment on the line it is about, with the whole text."""

import pathlib
import re
import subprocess
import sys

import process
import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "explain.md"
CPU = {"PESTLE_CPU": "avx2", "PESTLE_VECTOR_BITS": "256"}  # eight lanes of f32 everywhere

LOOK = """
import re
def look(kernel, *args):
    for line in kernel.explain(*args).lines:
        expected, found = line.text.partition("  # ")[2], re.sub("[0-9]+%", "N%", " | ".join(line.words()))
        if expected != found:
            print(f"{line.text}\\n    {found}")

def floats(*shape):
    return np.ones(shape, np.float32)

def ints(*shape):
    return np.ones(shape, np.int32)
"""

ACCESSES = """
@ti.kernel
def f(x: A, y: A, at: A):
    for i in x:  # loop: lanes: 8 iterations at a time
        a = x[i] * 2.0  # load: contiguous | 4 bytes, 1 flop
        b = x[x.shape[0] - 1 - i]  # load: contiguous, backwards | 4 bytes
        c = x[at[i]]  # load: contiguous | load: gather: a place for each lane | 8 bytes
        d = x[3]  # load: one element for all lanes | 4 bytes
        y[at[i]] = a + b * c + d  # store: scatter: a place for each lane | 4 bytes, 3 flops
        y[y.shape[0] - 1 - i] = c  # store: contiguous, backwards | 4 bytes
        y[0] = a  # store: one element for all lanes | 4 bytes
look(f, floats(9), floats(9), ints(9))
"""

CONTROL = """
@ti.kernel
def f(x: A, y: A, n: ti.i32):
    for i in x:  # loop: lanes: 8 iterations at a time
        if n > 3:  # branch: all lanes go one way: a real branch
            y[i] = 1.0  # store: contiguous | 4 bytes
        s = x[i]  # load: contiguous | 4 bytes
        for k in range(n):  # loop: all lanes go round together
            s += 1.5  # 1 flop
        while s > 4.0:  # loop: goes round until no lane is left
            s = s / 3.0  # 1 flop
        if s > 2.0:  # branch: lanes may part: both sides under masks
            y[i] = x[i]  # load: contiguous, masked | store: contiguous, masked | 8 bytes
look(f, floats(9), floats(9), 3)
"""

SUMS = """
@ti.kernel
def f(x: A, h: A, c: A) -> ti.f32:
    total = 0.0
    for i in range(x.shape[0]):  # loop: lanes: 8 iterations at a time
        total += x[i]  # load: contiguous | reduction: reproducible: by leaf and stripe, the same for any number of threads | 4 bytes, 1 flop
        c[0] += 1  # reduction: reproducible: by leaf and stripe, the same for any number of threads
    return total
look(f, floats(9), floats(9), ints(9))

@ti.kernel
def own(x: A):
    for i in x:  # loop: lanes: 8 iterations at a time
        x[i] += 2.0  # load: contiguous | store: contiguous | atomic: not needed: nothing else can touch the element at the same time | 8 bytes, 1 flop
look(own, floats(9))

@ti.kernel
def used(x: A, c: A):
    for i in x:  # loop: scalar: lanes would take an estimated N% of the time
        x[i] = ti.atomic_add(c[0], 1)  # atomic: one instruction or loop for each iteration | atomic: no reduction: its old value is used | 12 bytes
look(used, ints(9), ints(9))

@ti.kernel
def touched(x: A, c: A):
    for i in x:  # loop: scalar: lanes would take an estimated N% of the time
        c[0] += x[i]  # atomic: one instruction or loop for each iteration | atomic: no reduction: the loop also reads or writes it in another way | atomic: not reproducible: floats are combined in the order in which threads come | 12 bytes, 1 flop
        x[i] = c[0]  # 8 bytes
look(touched, floats(9), floats(9))
"""

CALLS = """
@ti.func
def half(x):
    return ti.exp(x) * 0.5  # math: exp: written out as arithmetic | 22 flops

@ti.kernel
def f(x: A):
    for i in x:  # loop: lanes: 8 iterations at a time
        x[i] = half(x[i])  # load: contiguous | store: contiguous | 8 bytes
look(f, floats(9))

@ti.func
def factorial(n: ti.i32) -> ti.i32:
    r = 1
    if n > 1:
        r = n * factorial(n - 1)  # call: factorial: a call
    return r

@ti.kernel
def g(x: A):
    for i in x:  # loop: scalar: calls func factorial, which is not expanded (line LINE)
        x[i] = factorial(x[i])  # call: factorial: a call | 8 bytes
look(g, ints(9))

@ti.kernel
def h(x: A):
    for i in x:  # loop: scalar: print is done by one iteration at a time (line LINE)
        print(x[i])  # 4 bytes
look(h, ints(9))

@ti.kernel
def serial() -> ti.f32:
    s = 0.0
    if True:
        for i in range(10):  # loop: serial loop
            s += ti.sin(s)  # math: sin: a call for each iteration | 1 flop
    return s
look(serial)
"""

SCALAR = """
@ti.kernel
def wait(x: A, flags: A):
    for i in x:  # loop: scalar: its while reads an array that the loop writes, and may wait for another iteration
        flags[i] = 1  # 4 bytes
        while flags[0] == 0:  # 4 bytes
            pass
look(wait, floats(9), ints(9))

@ti.kernel
def written(x: A) -> ti.i32:
    last = 0
    for i in x:  # loop: scalar: all iterations write one variable from outside the loop
        last = i
    return last
look(written, floats(9))

ti.init(checked=True)
@ti.kernel
def checked(x: A, y: A):
    for i in x:  # loop: scalar: checked mode stops at one iteration's fault (line LINE)
        y[i] = x[i]  # 8 bytes
look(checked, floats(9), floats(9))
"""


@pytest.mark.parametrize("text", [ACCESSES, CONTROL, SUMS, CALLS, SCALAR], ids=["accesses", "control", "sums", "calls", "scalar"])
def test_each_kind(tmp_path, text):
    lines = (LOOK + text).split("\n")
    first = process.HEAD.count("\n") + 1
    lines = [line.replace("LINE", str(first + i + 1)) for i, line in enumerate(lines)]
    assert process.run(tmp_path, "\n".join(lines), **CPU) == ""


def test_scalar_cpu(tmp_path):
    text = LOOK + ACCESSES.split("        a =")[0].replace("lanes: 8 iterations at a time", "scalar: lanes need AVX2 and FMA") + "        x[i] = 1.0  # 4 bytes\n"
    text = text.replace("AVX2 and FMA", "AVX2 and FMA | loop: LLVM may still make vectors of it") + "look(f, floats(9), floats(9), ints(9))\n"
    assert process.run(tmp_path, text, PESTLE_CPU="scalar") == ""


def test_same_cold_and_cached(tmp_path):
    text = LOOK + SUMS.split("look(own")[0] + "a = str(f.explain(floats(9), floats(9), ints(9)))\nf(floats(9), floats(9), ints(9))\nassert str(f.explain()) == a\nprint(a)\n"
    env = {**CPU, "PESTLE_CACHE_DIR": str(tmp_path / "cache")}
    cold = process.run(tmp_path, text, **env)
    assert cold and process.run(tmp_path, text, **env) == cold


# -- the command --

PROGRAM = """
@ti.kernel
def double(x: A, n: ti.i32):
    for i in x:
        x[i] = x[i] * 2.0 if n < 3 else 1.0 / x[i]

@ti.kernel
def never(x: A):
    for i in x:
        x[i] = 1.0

if __name__ == "__main__":
    print(*sys.argv[1:])
    double(np.ones(9, np.float32), 2)
"""


def explain(tmp_path, *words, status=0, program=PROGRAM):
    path = process.command(tmp_path, program)[1]
    words = [path if word == "PROGRAM" else word for word in words]
    command = [sys.executable, "-m", "pestle", "explain", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=process.environment(CPU))
    assert done.returncode == status, done.stdout + done.stderr
    return (done.stdout + done.stderr).replace(path, "PROGRAM")


def test_command(tmp_path):
    told = explain(tmp_path, "PROGRAM", "some", "--words")
    assert told == """\
some --words
double, PROGRAM
    7  @ti.kernel
    8  def double(x: A, n: ti.i32):
    9      for i in x:                                     loop: lanes: 8 iterations at a time
   10          x[i] = x[i] * 2.0 if n < 3 else 1.0 / x[i]  branch: all lanes go one way: a real branch
                                                           load: contiguous (2)
                                                           store: contiguous
                                                           12 bytes, 2 flops

"""


def test_command_names(tmp_path):
    assert explain(tmp_path, "--kernel", "double", "PROGRAM").startswith("\ndouble, PROGRAM\n")
    assert explain(tmp_path, "--kernel", "other", "PROGRAM", status=1) == "\npestle: no kernel was launched that is called so\n"
    assert explain(tmp_path, "PROGRAM", program="", status=1) == "pestle: no kernel was launched\n"
    assert "No such file" in explain(tmp_path, str(tmp_path / "none.py"), status=1)


def test_assembly(tmp_path):
    """Each line's instructions stand under it, of functions too; without asm there are none, and what runs is the same."""
    text = """
@ti.func
def root(x):
    return ti.sqrt(x)

@ti.kernel
def f(x: A, y: A):
    for i in x:
        y[i] = root(x[i])
    for i in x:
        y[i] = y[i] / x[i]

found = f.explain(np.ones(99, np.float32), np.ones(99, np.float32), asm=True)
plain = f.explain(np.ones(99, np.float32), np.ones(99, np.float32))
assert not any(line.assembly for line in plain.lines)
assert [line._replace(assembly=()) for line in found.lines] == plain.lines
of = {line.text.strip(): " ".join(line.assembly) for line in found.lines}
assert "sqrtps" in of["return ti.sqrt(x)"] and "div" not in of["return ti.sqrt(x)"]
assert "vdivps" in of["y[i] = y[i] / x[i]"] and "sqrt" not in of["y[i] = y[i] / x[i]"]
assert "ps_rt_parallel_for" in of["for i in x:"]
shown = str(found).splitlines()
assert any(row.startswith("       |     vdivps") for row in shown)
assert "vdivps" in found.html() and "vdivps" not in plain.html()
code = [row.split() for row in f.asm(np.ones(99, np.float32), np.ones(99, np.float32)).splitlines()]
assert sum(row[:1] == ["vdivps"] for row in code) == str(found).count(" vdivps ")
"""
    assert process.run(tmp_path, text, **CPU) == ""
    told = explain(tmp_path, "--asm", "PROGRAM")
    assert "       |     vmulps" in told or "       |     vaddps" in told


def test_html(tmp_path):
    page = tmp_path / "page.html"
    assert explain(tmp_path, "--html", str(page), "PROGRAM") == "\n"
    text = page.read_text()
    assert text.startswith("<!doctype html>") and "if n &lt; 3 else" in text
    assert '<span class="green">loop: lanes: 8 iterations at a time</span>' in text


def test_rich(tmp_path):
    rich = pytest.importorskip("rich.console")
    from pestle import _explain

    kernel = type("Kernel", (), {"__name__": "f"})()
    found = _explain.Explanation(kernel, ([(None,) * 6, ("f", "f.py", 1, "x[0] = 1\n", 0, 0)], [(1, 0, "store", "contiguous", 4, 0)]))
    console = rich.Console(width=100)
    with console.capture() as capture:
        console.print(found)
    assert re.search(r"1 +x\[0\] = 1 +store: contiguous", capture.get())


def test_page_is_true(tmp_path):
    """The example of docs/explain.md."""
    program, told = re.findall(r"```(?:python|text)\n(.*?)```", DOCS.read_text(), re.S)[:2]
    path = tmp_path / "program.py"
    path.write_text(program)
    command = [sys.executable, "-m", "pestle", "explain", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=process.environment(CPU))
    assert done.stdout.replace(str(path), "program.py").rstrip() == told.rstrip(), done.stdout + done.stderr
