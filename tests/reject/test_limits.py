# SPDX-License-Identifier: Apache-2.0
"""Programs too deep, too large or without an end while compiling: a message, or Ctrl-C works; never a crash."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

import pestle as ti

HEAD = """
@ti.func
def g(n):
    return n + 1

@ti.func
def twice(n: ti.template(), k: ti.template()):
    if ti.static(k < 1):
        n += 1
    else:
        twice(n, k - 1)
        twice(n, k - 1)

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    y = 0
"""


def launch(body, tmp_path, *args):
    path = tmp_path / "program.py"
    text = HEAD + textwrap.indent(body, "    ") + "\n    return y\n"
    path.write_text(text)
    names = {"ti": ti, "__name__": "program"}
    try:
        code = compile(text, str(path), "exec")
    except (RecursionError, MemoryError, SyntaxError) as error:
        pytest.skip(f"Python itself refuses it: {error}")
    exec(code, names)
    return names["f"](*args)


def nested(n, head, last):
    return "\n".join(" " * i + head.format(i=i) for i in range(n)) + "\n" + " " * n + last


# Deep, and fine: what each gives for n = 1.
DEEP = {
    "parentheses": ("y = " + "(" * 90 + "n" + ")" * 90, 1),
    "minus": ("y = " + "-" * 400 + "n", 1),
    "sums": ("y = n" + " + n" * 400, 401),
    "calls": ("y = " + "g(" * 90 + "n" + ")" * 90, 91),
    "ifs": (nested(90, "if n == 1:", "y = 3"), 3),
    "whiles": (nested(19, "while y < n:", "y += 1"), 1),
    "fors": (nested(19, "for i{i} in range(n):", "y += 1"), 1),
    "elifs": ("if n == 0:\n    y = 1\n" + "\n".join(f"elif n == {i + 2}:\n    y = {i}" for i in range(100)) + "\nelse:\n    y = 7", 7),
    "ands": ("if " + " and ".join(["n == 1"] * 200) + ":\n    y = 2", 2),
    "chain": ("if 0 < " + " <= ".join(["n"] * 200) + ":\n    y = 2", 2),
    "lists": ("z = " + "[" * 90 + "n" + "]" * 90 + "\ny = z" + "[0]" * 90, 1),
    "lines": ("y = 1\n" + "y = y * 3 + n\n" * 1000, None),
    "locals": ("\n".join(f"y{i} = n + {i}" for i in range(1000)) + "\ny = y999", 1000),
}


@pytest.mark.parametrize("name", DEEP)
def test_deep(name, tmp_path):
    body, expected = DEEP[name]
    found = launch(body, tmp_path, 1)
    assert expected is None or found == expected


TOO_DEEP = {
    "sums": "y = n" + " + n" * 950,
    "nots": "y = " + "not " * 950 + "n",
    "attributes": "y = n" + ".x" * 950,
    "elifs": "if n == 0:\n    y = 1\n" + "\n".join(f"elif n == {i}:\n    y = {i}" for i in range(300)),
    "ands": "if " + " and ".join(["g(n) > 0"] * 1000) + ":\n    y = 1",
    "chain": "if " + " < ".join(["n // n"] * 1000) + ":\n    y = 1",
    "conditions": "y = " + "1 if n else " * 400 + "2",
    "subscripts": "y = n" + "[0]" * 950,
    "ifs around the stack": "y = " + "g(" * 95 + "1 if n else " * 300 + "2" + ")" * 95,
}


@pytest.mark.parametrize("name", TOO_DEEP)
def test_too_deep(name, tmp_path):
    with pytest.raises(ti.CompilationError) as caught:
        launch(TOO_DEEP[name], tmp_path, 1)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f'File "{tmp_path}/program.py", line ') and lines[0].endswith(", in f")
    assert lines[-1] == "statements, expressions and calls are nested too deeply to compile"
    assert max(map(len, lines)) < 300


TOO_LARGE = {
    "an unrolled loop": "for i in ti.static(range(200000)):\n    y += (i * n) // (n + i) + n ** 13",
    "unrolled loops": "for i in ti.static(range(500)):\n    for j in ti.static(range(500)):\n        y += (i * n) // (n + j) + n ** 13",
    "expanded funcs": "twice(y, 40)",
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_too_large(name, tmp_path):
    with pytest.raises(ti.CompilationError) as caught:
        launch(TOO_LARGE[name], tmp_path, 1)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f'File "{tmp_path}/program.py", line ')
    assert lines[-1] == "a function of this kernel has more than 1048576 operations; unroll less, and expand fewer funcs in place"


ENDLESS = {
    "a helper": "def helper(n):\n    while True:\n        pass\n@ti.kernel\ndef f(n: ti.i32):\n    y = helper(n)\n",
    "funcs at compile time": "@ti.func\ndef e(k):\n    return [e([k[0] - 1])[0] + e([k[0] - 1])[0]] if ti.static(k[0] > 0) else [1]\n"
    "@ti.kernel\ndef f(n: ti.i32):\n    y = e([60])\n",
    "a while loop": "@ti.kernel\ndef f(n: ti.i32):\n    y = 0\n    while n == 1:\n        y += 1\n",
    "parallel iterations": "@ti.kernel\ndef f(n: ti.i32):\n    for i in range(2):\n        y = 0\n        while n == 1:\n            y += i\n",
    "checked": "ti.init(checked=True)\n@ti.kernel\ndef f(n: ti.i32):\n    y = 0\n    while n == 1:\n        y += 1\n",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_stops_at_ctrl_c(name, tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import pestle as ti\n" + ENDLESS[name] + "print('ready', flush=True)\nf(1)\n")
    run = subprocess.Popen([sys.executable, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert run.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(0.7)
        os.kill(run.pid, signal.SIGINT)
        _, errors = run.communicate(timeout=20)
    finally:
        run.kill()
    assert "KeyboardInterrupt" in errors, errors[-2000:]


def test_python_values_do_not_explode(tmp_path):
    for body in ["z = ti.static(9 ** 9999)\nz = ti.static(z ** 9999)", "z = [0] * 100000\nz = z * 100000",
                 "z = ti.static(2 ** 90000)\nfor i in ti.static(range(100)):\n    z = ti.static(z * z)",
                 "z = 'a'\nfor i in ti.static(range(100)):\n    z = z + z"]:  # fmt: skip
        with pytest.raises(ti.CompilationError, match="too large to compute while compiling"):
            launch(body, tmp_path, 1)


def test_very_long_texts(tmp_path, capsys):
    assert launch("print('" + "a" * 100000 + "', n)", tmp_path, 5) == 0
    assert capsys.readouterr().out == "a" * 100000 + " 5\n"
    with pytest.raises(ti.CompilationError) as caught:
        launch("y = 0x" + "f" * 100000, tmp_path, 1)
    assert len(str(caught.value)) < 1000
