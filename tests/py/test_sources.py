"""Where kernels live: files, notebooks, prompts, `python -c`, standard input, exec; and text that is not what is running."""

import linecache
import os
import pty
import subprocess
import sys
import textwrap
import zipfile

import numpy as np
import pytest

import pestle as ti

KERNEL = """
import pestle as ti

@ti.kernel
def f(x: ti.i32) -> ti.i32:
    return x + 1
"""
RUN = KERNEL + "print(f(41))\n"


def python(*words, text=None, cwd=None):
    run = subprocess.run([sys.executable, *words], input=text, capture_output=True, text=True, cwd=cwd)
    return run.stdout + run.stderr.strip().rpartition("\n")[2]


# -- where --


@pytest.mark.parametrize("options", [["-c"], ["-Bc"], ["-W", "ignore", "-Xutf8", "-c"], ["-bbWignore", "-c"],
                                     ["--check-hash-based-pycs", "default", "-c"]])  # fmt: skip
def test_command_line(options):
    assert python(*options, RUN, "-c", "an argument") == "42\n"


def test_command_line_holds_several_functions():
    text = KERNEL + "def make(k):\n  @ti.kernel\n  def f(x: ti.i32) -> ti.i32:\n    return x * k\n  return f\nprint(f(1), make(3)(5), make(4)(5))"
    assert python("-c", text) == "2 15 20\n"


def test_exec_inside_a_command():
    """It has the command's file name, <string>, but not its text."""
    text = "import pestle as ti\nexec('''\n@ti.kernel\ndef f(x: ti.i32) -> ti.i32:\n  return x''')\nf(1)"
    assert "the source of 'f' is not" in python("-c", text)


def test_standard_input():
    assert "the source of 'f' is not available: it was read from standard input, which cannot be read again" in python("-", text=RUN)


def test_script(tmp_path):
    (tmp_path / "script.py").write_text(RUN + "import os\nos.chdir('/')\n" + RUN.replace("+ 1", "+ 2").replace("def f", "def g").replace("f(41)", "g(41)"))
    assert python("script.py", cwd=tmp_path) == "42\n43\n"
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__main__.py").write_text(RUN)
    assert python("-m", "pkg", cwd=tmp_path) == "42\n"


def test_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as file:
        file.writestr("inside.py", KERNEL)
    assert python("-c", "import sys; sys.path.insert(0, 'all.zip'); import inside; print(inside.f(1))", cwd=tmp_path) == "2\n"


def test_without_its_source(tmp_path):
    (tmp_path / "m.py").write_text(KERNEL)
    subprocess.run([sys.executable, "-m", "compileall", "-qb", "m.py"], cwd=tmp_path, check=True)
    (tmp_path / "m.py").unlink()
    assert "the source of 'f' is not available: its file " in python("-c", "import m; m.f(1)", cwd=tmp_path)


def test_exec_without_text():
    scope = {}
    exec(KERNEL, scope)
    with pytest.raises(ti.CompilationError, match=r"source of 'f' is not available: it was defined in <string>, that is by exec\(\)"):
        scope["f"](1)
    exec(compile(KERNEL, "<made up>", "exec"), scope)
    with pytest.raises(ti.CompilationError, match="it was defined in <made up> and linecache has no text"):
        scope["f"](1)


def test_lambda():
    with pytest.raises(ti.CompilationError, match="a lambda cannot be a kernel or a func"):
        ti.kernel(lambda: 1)()


# -- notebooks --


class Notebook:
    """What ipykernel does: each cell is compiled under the name of a file that does not exist, and linecache knows it."""

    def __init__(self):
        self.scope = {"__name__": "__main__"}

    def run(self, cell):
        name = f"/tmp/ipykernel_{os.getpid()}/{abs(hash(cell))}.py"
        linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
        exec(compile(cell, name, "exec"), self.scope)
        return self.scope


def test_notebook():
    notebook = Notebook()
    notebook.run("import pestle as ti\n@ti.func\ndef twice(x):\n    return 2 * x\n")
    f = notebook.run("@ti.kernel\ndef f(x: ti.i32) -> ti.i32:\n    return twice(x)\n")["f"]
    assert f(4) == 8
    g = notebook.run("# edited\n@ti.kernel\ndef f(x: ti.i32) -> ti.i32:\n    return twice(x) + 1\n")["f"]
    assert g(4) == 9 and f(4) == 8
    notebook.run("@ti.func\ndef twice(x):\n    return 3 * x\n")
    assert g(4) == 13 and f(4) == 12
    with pytest.raises(ti.CompilationError, match=r"ipykernel_\d+/\d+.py\", line 3, in f"):
        notebook.run("@ti.kernel\ndef f(x: ti.i32):\n    y = nothing\n")["f"](1)


def test_ipython(tmp_path):
    pytest.importorskip("IPython")
    (tmp_path / "cells.ipy").write_text(RUN)
    program = "from IPython.core.interactiveshell import InteractiveShell as S\ns = S.instance()\n"
    program += f"for c in ({KERNEL!r}, 'print(f(41))', {RUN!r}): s.run_cell(c)"
    assert python("-c", program).endswith("42\n42\n")


def test_doctest():
    import doctest

    text = ">>> import pestle as ti\n>>> @ti.kernel\n... def f(x: ti.i32) -> ti.i32:\n...     return x + 1\n>>> f(1)\n2\n"
    test = doctest.DocTestParser().get_doctest(text, {}, "example", None, None)
    assert doctest.DocTestRunner().run(test).failed == 0


def type_in(lines, **variables):
    """What the prompt prints when the lines are typed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-q"], stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True,
                               env=dict(os.environ, **variables), start_new_session=True)  # fmt: skip
    os.close(theirs)
    seen = b""
    try:
        for line in [*lines, "exit()"]:
            answer = b""
            while not answer.rstrip(b" ").endswith((b">>>", b"...")):
                answer += os.read(ours, 4096)
            seen += answer
            os.write(ours, line.encode() + b"\n")
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:
        pass
    os.close(ours)
    process.wait()
    return seen.decode()


def test_prompt():
    lines = ["import pestle as ti", "@ti.kernel", "def f(x: ti.i32) -> ti.i32:", " return x + 1", "", "print('result', f(41))"]
    seen = type_in(lines, TERM="dumb", PYTHON_BASIC_REPL="1")
    assert ("result 42" if sys.version_info >= (3, 13) else "read from standard input, which cannot be read again") in seen


# -- how it is written --


def module_of(tmp_path, text, name="module.py", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    scope = {"__name__": "module", "__file__": str(path)}
    exec(compile(path.read_bytes(), str(path), "exec"), scope)
    return path, scope


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(tmp_path, end):
    _, scope = module_of(tmp_path, (KERNEL + "x = 1\n").replace("\n", end))
    assert scope["f"](1) == 2


@pytest.mark.parametrize("encoding, head", [("utf-8", ""), ("utf-8-sig", ""), ("latin-1", "# -*- coding: latin-1 -*-\n"),
                                            ("cp1251", "#!/usr/bin/python\n# vim: set fileencoding=cp1251 :\n")])  # fmt: skip
def test_encodings(tmp_path, encoding, head):
    name = "длина" if encoding == "cp1251" else "größe"
    text = head + f"import pestle as ti\n@ti.kernel\ndef f({name}: ti.i32) -> ti.i32:\n    '''{name}'''\n    return {name} + 1\n"
    _, scope = module_of(tmp_path, text, encoding=encoding)
    assert scope["f"](1) == 2


def test_shapes_of_functions(tmp_path):
    text = '''
import pestle as ti
def decorator(*lines):
    return lambda f: f
class Outer:
    class __Inner:
        __k = 3
        @ti.kernel
        def method(self: ti.template(),
                   x: ti.i32,
        ) -> ti.i32:
            """A docstring with \\d and
text at the margin
            """
            y = (x +
1)
            return y * self.__k
    inner = __Inner
def make(n, unused):
    @ti.kernel
    @decorator(1,
               2)
    def f(x: ti.i32) -> ti.i32:  # a comment
        s = 0
        for i in ti.static([j for j in range(n) if j != unused]):
            s += i * x
    # less indented
        return s
    return f
if True:
	@ti.kernel
	def tabs(x: ti.i32) -> ti.i32:
		return x; x = 1
def last(x: ti.i32) -> ti.i32: return x + 5'''
    _, scope = module_of(tmp_path, text)
    assert scope["Outer"].inner().method(4) == 15
    assert scope["make"](4, 2)(10) == 40 and scope["make"](3, 7)(10) == 30
    assert scope["tabs"](7) == 7
    assert ti.kernel(scope["last"])(1) == 6


def test_no_warnings_of_what_was_warned_of(tmp_path):
    (tmp_path / "m.py").write_text(KERNEL.replace("    return", "    '''\\d'''\n    return"))
    assert python("-W", "ignore", "-c", "import m, warnings; warnings.simplefilter('error'); print(m.f(1))", cwd=tmp_path) == "2\n"


# -- text that is not what is running --

LONG = """
import pestle as ti
@ti.kernel
def f(x: ti.i32) -> ti.i32:
    return x + 1
@ti.kernel
def annotated(x: ti.i32) -> ti.i32:
    y: ti.i32 = x
    return y + 1
def make(n):
    @ti.kernel
    def g(x: ti.i32) -> ti.i32:
        return x * n - 7.0 * 0
    return g
class Tree:
    def __init__(self): self.__k = 2
    @ti.kernel
    def h(self: ti.template(), x: ti.i32) -> ti.i32:
        return x * self.__k
"""
CHANGED = "the source of '{}' is not what is running: .*module.py has other text at line {}, so it was changed after it was imported"


def edited(tmp_path, old, new):
    path, scope = module_of(tmp_path, LONG)
    os.utime(path, ns=(1, 1))  # an edit that keeps the file's time must not go unseen either
    assert old in LONG
    path.write_text(LONG.replace(old, new))
    return scope


def test_unchanged_functions_of_an_edited_file(tmp_path):
    scope = edited(tmp_path, LONG, LONG + "# one more line\n")
    assert (scope["f"](1), scope["make"](3)(2), scope["Tree"]().h(4)) == (2, 6, 8)
    scope = edited(tmp_path, "@ti.kernel\ndef f", "\n@ti.kernel\ndef f")  # a line before it is still at its place
    assert scope["f"](1) == 2


@pytest.mark.parametrize(
    "old, new, name, line",
    [
        ("x + 1", "x + 2", "f", 3),
        ("x + 1", "x - 1", "f", 3),
        ("x + 1", "x + ", "f", 3),
        ("x + 1", "x + 1.0", "f", 3),
        ("def f(x", "def f(z", "f", 3),
        ("def f", "def f2", "f", 3),
        ("import pestle as ti\n", "import pestle as ti\nx = 1\n", "f", 3),
        (LONG, "import pestle as ti\n", "f", 3),
        ("y: ti.i32 = x", "y: ti.i64 = x", "annotated", 6),
        ("y: ti.i32 = x", "y: ti.i32 = x  # no change, but who can tell", "annotated", 6),
        ("x * n", "x + n", "g", 11),
        ("7.0", "-7.0", "g", 11),
        ("x * self.__k", "x * self.__l", "h", 17),
    ],
)
def test_edited_after_import(tmp_path, old, new, name, line):
    scope = edited(tmp_path, old, new)
    kernel = {"g": lambda x: scope["make"](3)(x), "h": lambda x: scope["Tree"]().h(x)}.get(name, scope.get(name))
    with pytest.raises(ti.CompilationError, match=CHANGED.format(name, line)):
        kernel(1)


def test_edited_between_two_calls_of_a_factory(tmp_path):
    """The annotation of a local does not show in code, which the factory gives a second time."""
    text = """
import pestle as ti
def make(n):
    @ti.func
    def g(x):
        y: ti.i32 = x
        return y * n
    @ti.kernel
    def f(x: ti.f32) -> ti.f32:
        return g(x)
    return f
def make_kernel():
    @ti.kernel
    def f(x: ti.f32) -> ti.f32:
        y: ti.i32 = x
        return y
    return f
def plain():
    @ti.kernel
    def f(x: ti.f32) -> ti.f32:
        return x
    return f
"""
    path, scope = module_of(tmp_path, text)
    assert scope["make"](2)(1.5) == 2 and scope["make_kernel"]()(1.5) == 1
    assert scope["plain"]()(1.5) == 1.5
    path.write_text(text.replace("y: ti.i32", "y: ti.f32"))
    assert scope["plain"]()(2.5) == 2.5
    for make, line, name in [(lambda: scope["make"](2), 4, "g"), (scope["make_kernel"], 13, "f")]:
        with pytest.raises(ti.CompilationError, match=CHANGED.format(name, line)):
            make()(1.5)
    path, scope = module_of(tmp_path, text.replace("y: ti.i32", "y: ti.f32"))  # imported again
    assert scope["make"](2)(1.5) == 3 and scope["make_kernel"]()(1.5) == 1.5


def test_what_was_compiled_stays(tmp_path):
    path, scope = module_of(tmp_path, LONG)
    assert scope["annotated"](1) == 2
    path.write_text(LONG.replace("y + 1", "y + 2"))
    assert scope["annotated"](2) == 3


def test_edited_func(tmp_path):
    text = "import pestle as ti\n@ti.func\ndef g(x):\n    return x + 1\n@ti.kernel\ndef f(x: ti.i32) -> ti.i32:\n    return g(x)\n"
    path, scope = module_of(tmp_path, text)
    path.write_text(text.replace("+ 1", "+ 2"))
    with pytest.raises(ti.CompilationError, match=CHANGED.format("g", 2)):
        scope["f"](1)
    path, scope = module_of(tmp_path, text.replace("+ 1", "+ 2"))  # imported again
    assert scope["f"](1) == 3


def test_replaced_text_of_linecache():
    def define(text):
        linecache.cache["<cell>"] = (len(text), None, text.splitlines(True), "<cell>")
        scope = {}
        exec(compile(text, "<cell>", "exec"), scope)
        return scope["f"]

    first, second = define(KERNEL), define(KERNEL.replace("+ 1", "+ 2"))
    assert second(1) == 3
    with pytest.raises(ti.CompilationError, match="the source of 'f' is not what is running: <cell> has other text"):
        first(1)


def test_old_files_are_taken_as_they_are(tmp_path):
    """Nothing is compared when nothing can have changed: an import hook may have rewritten the code."""
    (tmp_path / "hook.py").write_text("import ast\ndef f(): pass\n")
    (tmp_path / "m.py").write_text(KERNEL.replace("return", "assert x > 0\n    return"))
    program = textwrap.dedent("""
        import ast, time
        tree = ast.parse(open("m.py").read())
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert): node.test = ast.parse("x > -1", mode="eval").body
        scope = {}
        exec(compile(tree, "m.py", "exec"), scope)
        print(scope["f"](1))
    """)
    assert "the source of 'f' is not what is running" in python("-c", program, cwd=tmp_path)
    import time

    time.sleep(0.1)  # what is older than a process cannot have been edited while it ran
    assert python("-c", program, cwd=tmp_path) == "2\n"


def test_test_files_are_rewritten_by_pytest():
    @ti.kernel
    def f(x: ti.types.ndarray(dtype=ti.i32, ndim=1)):
        for i in x:
            assert x[i] >= 0
            x[i] += 1

    x = np.zeros(3, np.int32)
    f(x)
    assert x.tolist() == [1, 1, 1]
