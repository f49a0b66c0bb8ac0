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
