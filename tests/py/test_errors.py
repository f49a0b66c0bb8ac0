"""Exceptions: their classes, where they point, what a checked launch says."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pestle as ti

I1 = ti.types.ndarray(dtype=ti.i32, ndim=1)


def test_classes():
    for name, twin in [("Syntax", SyntaxError), ("Type", TypeError), ("Name", NameError), ("Index", IndexError), ("Value", ValueError)]:
        error = getattr(ti, f"Kernel{name}Error")
        assert issubclass(error, ti.CompilationError) and issubclass(error, twin)
    assert issubclass(ti.CompilationError, ti.PestleError)
    assert issubclass(ti.KernelAssertionError, ti.KernelRuntimeError)
    assert issubclass(ti.KernelAssertionError, AssertionError) and issubclass(ti.KernelRuntimeError, RuntimeError)
    assert issubclass(ti.InternalError, ti.PestleError)
    for base in (ti.KernelTypeError, ti.KernelValueError, ti.KernelRuntimeError):
        assert issubclass(ti.KernelArgumentError, base)


def test_arguments_that_do_not_fit():
    """Whatever does not fit is one class, a TypeError, ValueError and RuntimeError, so that each way to ask for it works."""

    @ti.kernel
    def f(x: I1, n: ti.i8, v: ti.types.vector(2, ti.f32)):
        pass

    x, v = np.zeros(3, np.int32), [1.0, 2.0]
    wrong = [(None, 1, v), (x.astype(float), 1, v), (x[:, None], 1, v), (x, 1.5, v), (x, 128, v), (x, 1, [1.0]), (x, 1, "ab")]
    for args in wrong:
        with pytest.raises(ti.KernelArgumentError, match="argument '[xnv]' of kernel 'f'"):
            f(*args)
    for make in (ti.ndarray, ti.field):
        for shape in (-1, 2**31, 1.5, (1, 0.5), (1, 2**31)):
            with pytest.raises(ti.KernelArgumentError, match=f"is not a valid shape for {make.__name__}"):
                make(ti.i32, shape)
    with pytest.raises(ti.KernelArgumentError, match="a shape is needed"):
        ti.field(ti.i32)
    with pytest.raises(ti.KernelArgumentError, match="128 is out of range for i8"):
        ti.ndarray(ti.i8, 1)[0] = 128


def test_place_of_a_refusal(from_source, tmp_path):
    scope = from_source("import pestle as ti\n\n@ti.kernel\ndef f(x: ti.i32):\n    if x > 0:\n        y = unknown + x\n")
    with pytest.raises(ti.KernelNameError) as caught:
        scope["f"](1)
    lines = str(caught.value).splitlines()
    assert lines[:3] == [f'File "{tmp_path}/program.py", line 6, in f', "    y = unknown + x", "        ^^^^^^^"]
    assert "unknown" in lines[3] and len(lines) == 4
    error = caught.value
    assert error.filename == f"{tmp_path}/program.py" and error.lineno == 6
    assert (error.offset, error.end_offset) == (13, 20) and error.text == "        y = unknown + x"


def test_carets_count_characters(from_source):
    scope = from_source("import pestle as ti\n@ti.kernel\ndef f(x: ti.i32):\n    ñandú = x; y = ñandú + чужой\n")
    with pytest.raises(ti.KernelNameError) as caught:
        scope["f"](1)
    lines = str(caught.value).splitlines()
    assert lines[1][4:][lines[2].index("^") - 4 : lines[2].rindex("^") - 3] == "чужой"


def test_call_chain(from_source, tmp_path):
    scope = from_source(
        "import pestle as ti\n@ti.func\ndef g(x):\n    return x + nothing\n"
        "@ti.func\ndef h(x):\n    return g(x) * 2\n@ti.kernel\ndef f(x: ti.i32) -> ti.i32:\n    return h(x)\n"
    )
    with pytest.raises(ti.KernelNameError) as caught:
        scope["f"](1)
    places = [line for line in str(caught.value).splitlines() if line.startswith("File")]
    file = tmp_path / "program.py"
    assert places == [f'File "{file}", line 10, in f', f'File "{file}", line 7, in h', f'File "{file}", line 4, in g']


def test_syntax_error_is_shown_once(from_source, tmp_path):
    text = "import pestle as ti\n@ti.kernel\ndef f(x: ti.i32):\n    try:\n        pass\n    finally:\n        pass\n"
    scope = from_source(text)
    with pytest.raises(ti.KernelSyntaxError) as caught:
        scope["f"](1)
    assert str(caught.value).startswith(f'File "{tmp_path}/program.py", line 4, in f\n    try:\n')
    run = subprocess.run([sys.executable, "-c", f"import runpy; runpy.run_path({str(tmp_path / 'program.py')!r})['f'](1)"],
                         capture_output=True, text=True)  # fmt: skip
    shown = run.stderr.splitlines()
    assert [line.strip() for line in shown].count("try:") == 1
    assert shown[-1].startswith("pestle.KernelSyntaxError: ")


def test_bounds(from_source, tmp_path):
    ti.init(checked=True)
    scope = from_source("import pestle as ti\n@ti.kernel\ndef f(x: ti.types.ndarray(), n: ti.i32):\n    for i in range(n):\n        x[i] = i\n")
    x = np.zeros(10, np.int32)
    for call in (scope["f"], scope["f"]._evaluate):
        with pytest.raises(ti.KernelAssertionError) as caught:
            call(x, 12)
        assert str(caught.value).splitlines() == [
            f'File "{tmp_path}/program.py", line 5, in f',
            "    x[i] = i",
            "    ^^^^",
            "Out of bound access: index 10 is out of bounds for axis 0 with length 10",
        ]
        assert caught.value.lineno == 5
    scope["f"](x, 10)
    assert x.tolist() == list(range(10))


def test_division_by_zero():
    @ti.kernel
    def f(a: ti.i32, b: ti.i32) -> ti.i32:
        return a // b

    assert f(7, 0) == 0
    ti.init(checked=True)
    assert f(7, 2) == 3
    with pytest.raises(ti.KernelAssertionError, match="integer division by zero: the dividend is 7"):
        f(7, 0)


def test_no_fault_for_a_division_that_is_never_reached():
    @ti.kernel
    def f(x: ti.types.ndarray(), s: ti.types.ndarray(), d: ti.i32):
        for i in range(x.shape[0]):
            if d != 0:
                s[10 // d] += x[i]

    x, s = np.ones(1000, np.float32), np.zeros(11, np.float32)
    ti.init(checked=True)
    f(x, s, 0)
    assert s.tolist() == [0.0] * 11
    f(x, s, 2)
    assert s[5] == 1000.0


def test_assertion():
    @ti.kernel
    def f(a: ti.i32):
        assert a > 2

    f(1)
    ti.init(debug=True)
    f(3)
    with pytest.raises(ti.KernelAssertionError, match="assertion failed: a > 2"):
        f(1)


def test_prints_come_before_the_exception(capsys):
    ti.init(checked=True)

    @ti.kernel
    def f(x: I1, n: ti.i32):
        print("at", n)
        x[n] = 1

    with pytest.raises(ti.KernelAssertionError):
        f(np.zeros(3, np.int32), 5)
    assert capsys.readouterr().out == "at 5\n"


def test_failure_is_repeated(from_source):
    scope = from_source("import pestle as ti\n@ti.kernel\ndef f(x: ti.types.ndarray()):\n    x[0] = 1\n    y = nothing\n")
    x = np.zeros(3, np.int32)
    for _ in range(3):
        with pytest.raises(ti.KernelNameError):
            scope["f"](x)
    assert not x.any()


def test_too_large_a_domain():
    @ti.kernel
    def f(n: ti.i64):
        for i in range(n):
            pass

    with pytest.raises(ti.PestleError):
        f(2**40)


def test_missing_source():
    scope = {"ti": ti}
    exec(textwrap.dedent("@ti.kernel\ndef f():\n    pass\n"), scope)
    with pytest.raises(Exception, match="source of 'f' is not available"):
        scope["f"]()


def test_unwritable_cache_warns_once(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    (tmp_path / "p.py").write_text(
        "import warnings, pestle as ti\n"
        "@ti.kernel\ndef f() -> ti.i32:\n    return 1\n"
        "@ti.kernel\ndef g() -> ti.i32:\n    return 2\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    print(f(), g(), len(seen))\n"
    )
    import os

    env = dict(os.environ, PESTLE_CACHE_DIR=str(file / "below"))
    run = subprocess.run([sys.executable, str(tmp_path / "p.py")], capture_output=True, text=True, env=env)
    assert run.stdout == "1 2 1\n", run.stderr
