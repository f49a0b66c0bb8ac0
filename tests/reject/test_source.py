# SPDX-License-Identifier: Apache-2.0
"""Kernels whose source text is missing, was changed, or is hard to find; and places in unusual files."""

import linecache
import subprocess
import sys
import threading

import pytest

import pestle as ti


def message(call, *args):
    with pytest.raises(ti.PestleError) as caught:
        call(*args)
    return f"{type(caught.value).__name__}\n{caught.value}"


def define(text, path, tmp_path=None):
    names = {"ti": ti, "__name__": "program"}
    exec(compile(text, str(path), "exec"), names)
    return names


WRONG = "@ti.kernel\ndef f(n: ti.i32):\n    y = n + unknown\n"


def wrong_message(file, line, source="y = n + unknown", column=8):
    return (
        f'KernelNameError\nFile "{file}", line {line}, in f\n    {source}\n    {" " * column}{"^" * 7}\nName "unknown" is not defined'
    )


def not_running(path, line):
    return (
        f"the source of 'f' is not what is running: {path} has other text at line {line}, so it was changed after it was imported "
        "(or an import hook rewrote it); import it again or restart Python"
    )


def test_no_source():
    f = define(WRONG, "<string>")["f"]
    assert message(f, 1) == (
        'CompilationError\nFile "<string>", line 1, in f\n'
        "the source of 'f' is not available: it was defined in <string>, that is by exec() or eval(); a kernel is compiled from its "
        "source text, so define it in a file or a notebook cell, or give the text to linecache.cache under its file name"
    )


def test_no_source_of_a_func(tmp_path):
    g = define("@ti.func\ndef g(n):\n    return n\n", "<string>")["g"]
    path = tmp_path / "program.py"
    text = "@ti.kernel\ndef f(n: ti.i32) -> ti.i32:\n    return g(n)\n"
    path.write_text(text)
    names = define(text, path)
    names["g"] = g
    assert message(names["f"], 1) == (
        f'CompilationError\nFile "{path}", line 3, in f\n    return g(n)\n           ^^^^\nFile "<string>", line 1, in g\n'
        "the source of 'g' is not available: it was defined in <string>, that is by exec() or eval(); a kernel is compiled from its "
        "source text, so define it in a file or a notebook cell, or give the text to linecache.cache under its file name"
    )


def test_standard_input():
    program = "import pestle as ti\n@ti.kernel\ndef f() -> ti.i32:\n    return 1\nf()\n"
    run = subprocess.run([sys.executable], input=program, capture_output=True, text=True)
    assert run.returncode == 1 and 'File "<stdin>", line 2, in f\nthe source of \'f\' is not available' in run.stderr


def test_linecache_is_enough():
    linecache.cache["<cell 7>"] = (len(WRONG), None, WRONG.splitlines(True), "<cell 7>")
    assert message(define(WRONG, "<cell 7>")["f"], 1) == wrong_message("<cell 7>", 3)


def test_file_is_gone(tmp_path):
    path = tmp_path / "program.py"
    f = define(WRONG, path)["f"]
    assert message(f, 1) == (
        f'CompilationError\nFile "{path}", line 1, in f\n'
        f"the source of 'f' is not available: its file {path} cannot be read; a kernel is compiled from its source text"
    )


def test_a_name_that_linecache_does_not_know():
    assert message(define(WRONG, "<cell 8>")["f"], 1) == (
        'CompilationError\nFile "<cell 8>", line 1, in f\n'
        "the source of 'f' is not available: it was defined in <cell 8> and linecache has no text of that name; "
        "a kernel is compiled from its source text, so define it in a file or a notebook cell"
    )


def test_file_became_shorter(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import pestle\n")
    f = define("\n" * 9 + WRONG, path)["f"]
    assert message(f, 1) == (
        f'CompilationError\nFile "{path}", line 10, in f\n' + not_running(path, 10)
    )


def test_another_function_stands_there(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(WRONG.replace("def f", "def g"))
    f = define(WRONG, path)["f"]
    assert message(f, 1) == (
        f'CompilationError\nFile "{path}", line 1, in f\n' + not_running(path, 1)
    )


def test_no_function_stands_there(tmp_path):
    path = tmp_path / "program.py"
    f = define(WRONG, path)["f"]
    for text in ["x = 1\n", "(((\n", "    )\n", '"""' + "\n" * 300, "@ti.kernel\n", "if 1:\n    pass\nelse:\n"]:
        path.write_text(text)
        assert message(f, 1).startswith(f'CompilationError\nFile "{path}", line 1, in f\n'), text


def test_file_is_no_text(tmp_path):
    path = tmp_path / "program.py"
    f = define(WRONG, path)["f"]
    path.write_bytes(bytes(range(256)) * 40)
    assert message(f, 1).startswith(f'CompilationError\nFile "{path}", line 1, in f\n')
    path.unlink()
    path.mkdir()
    assert "the source of 'f' is not available" in message(f, 1)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "cp1252"])
def test_encodings(tmp_path, encoding):
    head = "" if encoding == "utf-8-sig" else f"# -*- coding: {encoding} -*-\n"
    path = tmp_path / "program.py"
    text = head + "@ti.kernel\ndef f(n: ti.i32):\n    é = n; y = é + unknown\n"
    path.write_bytes(text.encode(encoding))
    linecache.clearcache()
    assert message(define(text, path)["f"], 1) == wrong_message(path, text.count("\n"), "é = n; y = é + unknown", 15)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends(tmp_path, end):
    path = tmp_path / "program.py"
    path.write_bytes(WRONG.replace("\n", end).encode())
    assert message(define(WRONG, path)["f"], 1) == wrong_message(path, 3)


def test_tabs(tmp_path):
    path = tmp_path / "program.py"
    text = "if True:\n\t@ti.kernel\n\tdef f(n: ti.i32):\n\t\ty = n + unknown\n"
    path.write_text(text)
    assert message(define(text, path)["f"], 1) == wrong_message(path, 4)


def test_form_feed_and_no_newline_at_the_end(tmp_path):
    path = tmp_path / "program.py"
    text = "\f\n@ti.kernel\ndef f(n: ti.i32):\n    y = n + unknown"
    path.write_text(text)
    assert message(define(text, path)["f"], 1) == wrong_message(path, 4)


def test_strings_that_look_like_the_end(tmp_path):
    path = tmp_path / "program.py"
    text = 'class A:\n    @ti.kernel\n    def f(self, n: ti.i32):\n        """\nA text\n  that ends\n"""\n        z = (n +\n1)\n        y = n + unknown\n\nx = 1\n'
    path.write_text(text)
    assert message(define(text, path)["A"]().f, 1) == wrong_message(path, 10)


def test_two_on_one_line(tmp_path):
    path = tmp_path / "program.py"
    text = "f = ti.kernel(lambda: 1); g = 2\n"
    path.write_text(text)
    assert message(define(text, path)["f"]) == (
        f"CompilationError\nFile \"{path}\", line 1, in <lambda>\na lambda cannot be a kernel or a func; write it with def"
    )


def test_decorators_above(tmp_path):
    path = tmp_path / "program.py"
    text = "def same(x):\n    return x\n@same\n@ti.kernel\n@same\ndef f(\n    n: ti.i32,\n):\n    y = n + unknown\n"
    path.write_text(text)
    assert message(define(text, path)["f"], 1) == wrong_message(path, 9)


def test_a_very_long_line(tmp_path):
    path = tmp_path / "program.py"
    text = "@ti.kernel\ndef f(n: ti.i32):\n    y = " + "n + " * 400 + "unknown" + " + n" * 400 + "\n"
    path.write_text(text)
    lines = message(define(text, path)["f"], 1).splitlines()
    assert len(lines) == 5 and max(map(len, lines)) < 300
    start = lines[3].index("^")
    assert lines[2][start : start + 7] == "unknown" and lines[3].strip() == "^" * 7


def test_annotations_as_text(tmp_path):
    path = tmp_path / "program.py"
    text = "from __future__ import annotations\n@ti.kernel\ndef f(n: ti.i32, m: missing.thing) -> ti.i32:\n    return n\n"
    path.write_text(text)
    assert message(define(text, path)["f"], 1, 2) == (
        f'KernelNameError\nFile "{path}", line 3, in f\n    def f(n: ti.i32, m: missing.thing) -> ti.i32:\n'
        f"                        ^^^^^^^^^^^^^\nthe annotation missing.thing of kernel 'f' cannot be evaluated: name 'missing' is not defined"
    )


def test_a_thread_with_a_small_stack(tmp_path):
    """Deep nesting must end in a message however small the stack."""
    path = tmp_path / "program.py"
    text = "@ti.kernel\ndef f(n: ti.i32) -> ti.i32:\n    return n" + " + n" * 800 + "\n"
    path.write_text(text)
    found = []
    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(define(text, path)["f"](1)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert found in ([801], [])
