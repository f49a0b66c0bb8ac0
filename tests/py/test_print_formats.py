"""Format specifications of runtime values: what a kernel prints is what Python's format() gives."""

import linecache
import random

import numpy as np
import pytest

import pestle as ti

FLOATS = [0.0, -0.0, 1.0, 1.5, -2.25, 1e16, 123456.789, 1e-5, 9.9999, 0.5, 2.5, 1e300, 5e-324, 0.1, float("inf"), float("-inf"), float("nan")]
INTEGERS = [0, 1, -1, 65, 8364, 123456789, -(2**31), 2**31 - 1]
PARTS = [
    ["", "", "*<", ">", "^", "=", "é^", "0=", "<"],
    ["", "", "+", "-", " "],
    ["", "", "#"],
    ["", "", "0"],
    ["", "", "3", "12", "25"],
    ["", "", ",", "_"],
    ["", "", ".0", ".1", ".3", ".12", ".40"],
]


def specifications(rng, value, types, count):
    """Those of random parts that Python has for the value."""
    found = []
    while len(found) < count:
        text = "".join(rng.choice(part) for part in PARTS) + rng.choice(types)
        try:
            format(value, text)
        except ValueError:
            continue
        found.append(text)
    return found


def printer(name, dtype, texts):
    source = f"def f(x: ti.{dtype}):\n" + "".join(f"    print(f'{{x:{text}}}', end='|')\n" for text in texts)
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope = {"ti": ti}
    exec(compile(source, name, "exec"), scope)
    return ti.kernel(scope["f"])


@pytest.mark.parametrize("dtype, values, types", [("f64", FLOATS, ["", *"eEfFgG%n"]), ("i32", INTEGERS, ["", *"eEfFgG%ndboxX"])])
@pytest.mark.parametrize("seed", range(3))
def test_as_python_formats(capsys, dtype, values, types, seed):
    texts = specifications(random.Random(seed), values[1], types, 30)
    f = printer(f"<formats {dtype} {seed}>", dtype, texts)
    for value in values:
        f(value)
        assert capsys.readouterr().out.split("|")[:-1] == [format(value, text) for text in texts], value


def test_all_types(capsys):
    @ti.kernel
    def f(a: ti.i8, b: ti.u64, c: ti.f16, d: ti.f32, e: ti.bf16, g: ti.u1):
        print(f"{a:x} {a:+d} {b:,} {c:.2f} {d:.9g} {d} {e:8.3f}| {g:d} {g} {65 + a:c} {a!r:>5}")

    f(-1, 2**64 - 1, 0.1, 0.1, 1.7, True)
    small, single = float(np.float16(0.1)), float(np.float32(0.1))
    want = f"-1 -1 {2**64 - 1:,} {small:.2f} {single:.9g} 0.1 {1.703125:8.3f}| 1 True @    -1\n"
    assert capsys.readouterr().out == want


def test_vectors_str_format_and_the_evaluator(capsys):
    @ti.kernel
    def f(t: ti.f64):
        for i in ti.grouped(ti.ndrange(1, 2)):
            print("{:03d} {x:.1f} {}".format(i, 7, x=t), f"{'known':>7}")

    f(2.25)
    out = capsys.readouterr().out
    assert out == "[000, 000] 2.2 7   known\n[000, 001] 2.2 7   known\n"
    f._evaluate(2.25)
    assert capsys.readouterr().out == out


def test_percent_formats(capsys):
    @ti.kernel
    def f(a: ti.f32, n: ti.i32):
        print("%d %i %5.2f|%-8.3f|%+d|%x|%s|%r|%8s|%06d|%% {}" % (a, n, a, a, n, n, n, "q", n, -n))
        print("n = %d" % n, "%s %d" % ("known", 2.75), "%d %s" % (1.5, n))
        print("%s" % ti.Vector([n, 2]))

    f(3.75, 10)
    want = "%d %i %5.2f|%-8.3f|%+d|%x|%s|%r|%8s|%06d|%% {}" % (3.75, 10, 3.75, 3.75, 10, 10, 10, "q", 10, -10)
    assert capsys.readouterr().out == want + "\nn = 10 known 2 1 10\n[10, 2]\n"


def test_runtime_values_deep_in_containers(capsys):
    @ti.kernel
    def f(n: ti.i32):
        print([[n, 1], (n + 1,)], f"{[[n]]}", "{}".format([(n, [2])]), "%s" % [[n]])

    f(5)
    out = capsys.readouterr().out
    assert out == "[[5, 1], (6,)] [[5]] [(5, [2])] [[5]]\n"


@pytest.mark.parametrize("mode", ["compiled", "python"])
def test_formats_of_printf(capsys, mode):
    """Python has none of these for integers."""

    @ti.kernel
    def f(a: ti.i32, b: ti.u8, v: ti.types.vector(2, ti.i64)):
        print(f"{a:.5d}|{a:i}|{a:8.5d}|{a:08.5i}|{a:.0d}|{a:lld}|{b:u}|{b:.3x}|{v:.2d}|{a:.2}|{a:+.3d}|{a:<7.4d}|")
        print("{:.10d} {:i} {x:u} {{}}".format(a, b, x=b), "%.4d" % a)

    ti.init(arch=ti.python if mode == "python" else None)
    f(-42, 7, [3, -4])
    assert capsys.readouterr().out == (
        "-00042|-42|  -00042|  -00042|-42|-42|7|007|[03, -04]|-42|-042|-0042  |\n-0000000042 7 7 {} -0042\n"
    )


def test_formats_of_printf_of_known_values(capsys):
    @ti.kernel
    def f():
        print(f"{3:.4d} {-3:.4i} {7:u} {2**40:.3d} {1.5:.3}")
        print("{:i} {:.3d}".format(1, 2), "{2} {} {1} {}".format(1, 2, 3), "{{{:.2i}}}".format(5))

    f()
    assert capsys.readouterr().out == "0003 -0003 7 1099511627776 1.5\n1 002 3 1 2 2 {05}\n"


def test_vectors_on_the_host():
    v, m = ti.Vector([1.5, -2.25]), ti.Matrix([[1, 2], [3, 4]], ti.i32)
    assert f"{v:.1f} {v} {m:3d} {m:.2d}" == "[1.5, -2.2] [1.5, -2.25] [[  1,   2], [  3,   4]] [[01, 02], [03, 04]]"
    with pytest.raises(ValueError):
        format(v, "d")


def test_formats_c(capsys):
    @ti.kernel
    def f(x: ti.f32, n: ti.i32):
        print(f"{x:.2} {x:8.1} {x:.3e} {x:.3g} {x} {n:.3} {2.5:.2}", "{:.1} {:.0} {}".format(x, 2.5, 2.5))

    ti.init(formats="c")
    f(233.3, 5)
    ti.init(formats="python")
    f(233.3, 5)
    assert capsys.readouterr().out == (
        "233.30    233.3 2.333e+02 233 233.3 005 2.50 233.3 2 2.5\n"
        "2.3e+02    2e+02 2.333e+02 233 233.3 005 2.5 2e+02 2e+00 2.5\n"
    )
    with pytest.raises(ti.KernelValueError, match="'python' or 'c'"):
        ti.init(formats="pascal")


def test_formats_that_fit_nothing():
    for value, spec in (("x", ".2d"), ("x", "i"), ("x", "lf"), ("n", "u"), ("n", ".3,d"), ("n", ".2c"), ("n", "l")):
        source = f"def f(x: ti.f32, n: ti.i32):\n    print(f'{{{value}:{spec}}}')\n"
        name = f"<formats {value} {spec}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        scope = {"ti": ti}
        exec(compile(source, name, "exec"), scope)
        with pytest.raises(ti.KernelValueError, match="is no format specification"):
            ti.kernel(scope["f"])(1.0, 2)
