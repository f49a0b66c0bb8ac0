"""init(arch=pestle.python) and PESTLE=python: kernels as plain Python, with the bits that compiled code gives."""

import pathlib
import subprocess
import sys

import numpy as np
import process
import pytest

import pestle as ti
from language import both

F1 = ti.types.ndarray(dtype=ti.f32, ndim=1)
I1 = ti.types.ndarray(dtype=ti.i32, ndim=1)
A = ti.types.ndarray()
COMPARE = pathlib.Path(__file__).parent.parent / "diff" / "python_mode.py"


# -- the same results --


@ti.kernel
def mandelbrot(out: A, width: ti.f32):
    for y, x in ti.ndrange(out.shape[0], out.shape[1]):
        cr, ci = width * x / out.shape[1] - 2.2, width * y / out.shape[0] - 1.5
        zr, zi, n = 0.0, 0.0, 0
        while n < 100 and zr * zr + zi * zi < 4.0:
            zr, zi, n = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci, n + 1
        out[y, x] = n


def test_mandelbrot():
    both(mandelbrot, np.zeros((24, 32), np.int32), 3.0)


@pytest.mark.parametrize("options", [[], ["--values"]], ids=["numbers", "values"])
def test_random_programs(options):
    run = subprocess.run([sys.executable, COMPARE, "--count", "60", "--seed", "5000", *options], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-3000:]


def test_types_of_variables():
    @ti.kernel
    def f(x: F1, y: I1) -> ti.f64:
        total = 0  # an i32, whatever is added
        for i in x:
            if y[i] > 2:
                v = 1  # this block's own
                x[i] = v / 3
            else:
                v = 0.5
                v += 0.25
                x[i] = v
            total += 1.7
        z: ti.i8 = 127
        z += 1
        a = b = 2.9
        b = int(b)
        c, (d, e) = 1, (2.5, 7)
        d, e = e, d
        k = 7 if z < 0 else 0.5
        h = 1
        for i in range(12):
            h = h * 1664525 + 1013904223  # wraps
        return total + z + a + b + c + d + e + k + h % 1000

    both(f, np.zeros(5, np.float32), np.arange(5, dtype=np.int32))


def test_conditional_expressions():
    @ti.kernel
    def f(x: F1, calls: I1) -> ti.f64:
        total = ti.f64(0)
        for i in range(4):
            a = ti.sqrt(x[i]) if x[i] > 0 else 0
            a += 0.75
            b = 1 if x[i] > 0 else (count(calls) if x[i] < -5 else ti.u16(7))
            c = x[i] if 0 <= i + 2 < x.shape[0] and x[i + 2] > 1 else x[i + 2] if i < 2 else -1
            d = i if True else 0.5
            e = not_annotated(calls) if i > 9 else 2
            total += a + b / 3 + c / 7 + d / 2 + e / 4
        return total

    both(f, np.array([4, -1, 9, 0.25], np.float32), np.zeros(1, np.int32))


@ti.func
def count(calls: I1) -> ti.i64:
    calls[0] += 1
    return calls[0]


@ti.func
def not_annotated(calls):
    calls[0] += 100
    return 0


def test_integers():
    @ti.kernel
    def f(x: I1, y: I1, out: ti.types.ndarray(dtype=ti.i64, ndim=2)):
        for i, j in ti.ndrange(x.shape[0], y.shape[0]):
            a, b = x[i], y[j]
            out[i, j] = a // b * 3 + a % b * 5 + (a << (b & 3)) - (a >> 1) + ti.raw_div(a, b) + (a & b) * 7 + (a ^ b) ** 2
            out[i, j] += ti.popcnt(a) + (ti.u8(a) + ti.u8(b)) // 2 + (a < b) * 1000 + min(a, b, 3)

    values = np.array([-7, 7, -1, 0, 2147483647, -2147483648, 3], np.int32)
    both(f, values, values, np.zeros((7, 7), np.int64))


def test_products_and_sums_are_contracted():
    @ti.kernel
    def f(x: F1, y: F1):
        for i in x:
            a, b, c = x[i], y[i], x[i] + 0.1
            p = a * b
            x[i] = a * b + c * a - b * c + p + a**2 - (c - a * b)
            s = c
            s += a * b
            y[i] = s
            y[i] += a * b

    rng = np.random.default_rng(1)
    both(f, rng.standard_normal(50).astype(np.float32), rng.standard_normal(50).astype(np.float32))


def test_atomics_give_the_old_value():
    @ti.kernel
    def f(x: I1, log: I1) -> ti.i32:
        for i in range(3):
            log[i] = ti.atomic_add(x[0], 10)
        log[3] = ti.atomic_max(x[1], 7)
        log[4] = ti.atomic_sub(x[1], 2.9)
        log[5] = ti.atomic_cas(x[2], 2, 9)
        log[6] = ti.atomic_cas(x[2], 2, 8)
        n = 5
        old = ti.atomic_add(n, 3)
        return n * 100 + old

    assert both(f, np.arange(3, dtype=np.int32), np.zeros(7, np.int32)) == 805


def test_loops():
    @ti.kernel
    def f(x: ti.types.ndarray(dtype=ti.f32, ndim=2), order: I1):
        n = 0
        for I in ti.grouped(x):
            J = I + (1, 2)
            J[0] += 1
            x[I] = J.x * 10 + (I * 2).y + I[1] % 2
        for i, j in ti.ndrange(2, (1, 3), axes=(1, 0)):
            x[i, j] += 100 * i
        ti.loop_config(serialize=True)
        for k in range(order.shape[0]):
            if k == 5:
                break
            order[k] = n
            n += k
        for k in ti.static(range(2)):
            for v in ti.static([3, 4]):
                x[k, 0] += v * k
        for a, b in ti.static(ti.ndrange(1, 2)):
            x[a, b] += ti.static(sum([c for c in range(4) if c != a]))

    both(f, np.zeros((3, 4), np.float32), np.zeros(8, np.int32))


@ti.func
def by_value(a, b: ti.i32):
    a += 1
    return a + b


@ti.func
def by_reference(a: ti.template(), b: ti.template()):
    a, b = a + 1, b * 2


@ti.func
def factorial(n: ti.i32) -> ti.i32:
    r = 1
    if n > 1:
        r = n * factorial(n - 1)
    return r


def helper(x):
    return ti.sqrt(x) + by_value(x, 1) + abs(-x)


class Solver:
    scale = 3

    def __init__(self):
        self.offset = 0.5

    @ti.func
    def shift(self, x):
        return x * self.scale + self.offset

    @ti.kernel
    def run(self: ti.template(), x: F1):
        for i in x:
            x[i] = self.shift(x[i])


def test_functions():
    @ti.kernel
    def f(x: F1, y: I1) -> ti.f32:
        p, q = 1, 2.5
        by_reference(p, q)
        by_reference(y[0], y[1])
        r = by_value(p, 2.9)
        return p + q + r + factorial(6) + helper(x[0]) + by_value(b=1, a=x[1])

    both(f, np.array([2, 3], np.float32), np.array([5, 6], np.int32))
    both(Solver().run, np.arange(4, dtype=np.float32))


@ti.func
def change(a: ti.template(), by: ti.i32) -> ti.i32:
    a += 100 * by
    return by


@ti.func
def fill(x: ti.template(), value: ti.i32) -> ti.i32:
    x[0] = value
    return value


@ti.func
def fillv(x: ti.template(), value: ti.i32):
    x[0][0] = value
    return ti.Vector([value])


def test_the_left_side_is_read_first():
    @ti.kernel
    def f(x: I1, log: I1):
        s = 1
        log[0] = s + change(s, 1)  # 1 + 1
        log[1] = s
        log[2] = s > change(s, 1)  # 101 > 1
        log[3] = s * change(s, 2) + s  # 201 * 2 + 401
        s = 3
        s *= change(s, 5)
        log[4] = s  # 3 * 5
        s += change(s, 5)
        log[5] = s  # 15 + 500 + 5
        v = ti.Vector([2, 7])
        log[6] = v[0] + change(v[0], 1)
        log[7] = x[0] + change(x[0], 1)
        log[8] = x[0]

    log = np.zeros(9, np.int32)
    both(f, np.full(1, 4, np.int32), log)
    f(np.full(1, 4, np.int32), log)
    assert log.tolist() == [2, 101, 1, 803, 15, 520, 3, 5, 104]


@pytest.mark.parametrize(
    "symbol, expected",
    [("*", 14), ("/", 0), ("//", 0), ("%", 2), ("**", 128), ("<<", 256), (">>", 0)]
    + [("+", 14), ("-", 0), ("&", 7), ("|", 7), ("^", 0)],
)
def test_which_old_value_an_update_takes(symbol, expected, tmp_path):
    """Of 2 with a right side that writes 7 and is 7: 2 where the operator loads first, 7 where it is atomic."""
    source = tmp_path / "updates.py"
    source.write_text(
        f"@ti.kernel\ndef f(x: I1):\n    x[0] {symbol}= fill(x, 7)\n"
        f"@ti.kernel\ndef v(x: ti.types.ndarray(ti.types.vector(1, ti.i32), 1)):\n    x[0] {symbol}= fillv(x, 7)\n"
    )
    names = {"ti": ti, "I1": I1, "fill": fill, "fillv": fillv}
    exec(compile(source.read_text(), source, "exec"), names)
    ti.init()
    for name, shape in [("f", (1,)), ("v", (1, 1))]:
        x = np.full(shape, 2, np.int32)
        names[name](x)
        assert x.ravel()[0] == expected
    both(names["f"], np.full(3, 2, np.int32))


def test_closures_and_defaults():
    def make(k):
        @ti.kernel
        def f(x: ti.i32 = 4) -> ti.i32:
            return x * k

        return f

    ti.init(arch=ti.python)
    three, four = make(3), make(4)
    assert (three(), four(), three(x=5)) == (12, 16, 15)


def test_printing(capsys):
    @ti.kernel
    def f(x: F1, n: ti.i32):
        print("x", x[0], n, n > 1, 0.1, x[0] / 3, sep="|")
        print(f"{n} of {x[0]}: {x[0] * 3}")
        for I in ti.grouped(x):
            print(I, x.shape, x.dtype)

    both(f, np.array([0.1], np.float32), 2)
    out = capsys.readouterr().out
    assert out[: len(out) // 2] == out[len(out) // 2 :] and "0.1|2|True" in out


def test_every_array_and_type():
    @ti.kernel
    def f(x: A, y: A):
        for i in x:
            x[i] = x[i] * 3 + y[i]

    for name in ("bool", "int8", "uint8", "int16", "uint16", "uint32", "int64", "uint64", "float16", "float32", "float64"):
        x = np.arange(20).astype(name)
        both(f, x, x[::-1])
    ti.init(arch=ti.python)
    x = ti.ndarray(ti.bf16, 3)
    x.fill(1.5)
    f(x, bytearray(b"abc"))
    assert x.tolist() == [101.5, 102.5, 103.5]


# -- turning it on --


def test_any_byte_but_zero_is_true():
    bools = ti.types.ndarray(dtype=ti.u1, ndim=1)

    @ti.kernel
    def f(x: bools, copy: bools, out: I1):
        for i in x:
            copy[i] = x[i]
            out[i] = x[i] + ti.cast(x[i], ti.i32) * 10 + ti.select(x[i], 100, 0) + (x[i] == True) * 1000 + int(x[i] & True) * 10000
            if x[i]:
                out[i] += 100000
            if not x[i]:
                out[i] += 1000000

    @ti.kernel
    def atomics(x: bools, old: bools):
        for i in range(1):
            for k in range(3):
                old[k] = ti.atomic_and(x[k], True)
                old[k + 3] = ti.atomic_xor(x[k + 3], True)

    def bools_of(values):
        return np.array(values, np.uint8).view(bool)

    for arch in (ti.cpu, ti.python):
        ti.init(arch=arch)
        x = bools_of([0, 1, 2, 254, 255, 128] * 40)
        copy, out = np.zeros_like(x), np.zeros(len(x), np.int32)
        f(x, copy, out)
        assert copy.view(np.uint8).tolist() == [0, 1, 1, 1, 1, 1] * 40
        assert out.tolist() == [1000000, 111111, 111111, 111111, 111111, 111111] * 40
        x, old = bools_of([0, 2, 255, 0, 2, 255]), bools_of([0] * 6)
        atomics(x, old)
        assert x.view(np.uint8).tolist() == [0, 1, 1, 1, 0, 0]
        assert old.view(np.uint8).tolist() == [0, 1, 1, 0, 1, 1]
    ti.init()
    seen = ti.field(ti.u1, 4)
    seen.from_numpy(bools_of([0, 1, 2, 254]))
    assert [seen[i] for i in range(4)] == [False, True, True, True]


def test_numpys_maximum_keeps_nans():
    @ti.kernel
    def f(x: F1, y: F1, out: ti.types.ndarray(dtype=ti.f32, ndim=2)):
        for i in x:
            out[i, 0] = np.maximum(x[i], y[i])
            out[i, 1] = np.minimum(x[i], y[i])
            out[i, 2] = np.maximum(x[i], 1)
            out[i, 3] = np.minimum(1, y[i])
            out[i, 4] = np.fmax(x[i], y[i])
            out[i, 5] = ti.min(x[i], y[i])

    @ti.kernel
    def vectors(x: F1, out: F1):
        for i in range(1):
            v = np.maximum(ti.Vector([x[0], x[1]]), 2.0)
            out[0] = v[0]
            out[1] = v[1]

    nan = np.float32("nan")
    x = np.array([nan, 1, nan, 1, 3, -np.inf], np.float32)
    y = np.array([1, nan, nan, 2, 2, np.inf], np.float32)
    one, out = np.float32(1), np.zeros((len(x), 6), np.float32)
    wanted = [np.maximum(x, y), np.minimum(x, y), np.maximum(x, one), np.minimum(one, y), np.fmax(x, y), np.fmin(x, y)]
    both(f, x, y, out)
    for arch in (ti.cpu, ti.python):
        ti.init(arch=arch)
        f(x, y, out)
        np.testing.assert_array_equal(out.T, wanted)
    ti.init()
    two = np.zeros(2, np.float32)
    vectors(np.array([nan, 1], np.float32), two)
    np.testing.assert_array_equal(two, [nan, 2])


def test_turned_on_and_off():
    @ti.kernel
    def f() -> ti.i32:
        seen.append(1)
        return 3

    seen = []
    ti.init(arch=ti.python)
    assert f() == 3 and f() == 3 and seen == [1, 1]
    ti.init()
    with pytest.raises(ti.CompilationError):
        f()
    ti.init(arch="python")
    assert f() == 3 and len(seen) == 3


def test_environment(tmp_path):
    text = "@ti.kernel\ndef f() -> ti.i32:\n    seen.append(1)\n    return 3\nseen = []\nti.init(arch=ti.cpu)\nprint(f(), seen, _pestle._llvm_is_open())\n"
    assert process.run(tmp_path, text, PESTLE="python") == "3 [1] False\n"
    assert process.run(tmp_path, "import pestle\nprint('ast' in sys.modules, 'pestle._python_mode' in sys.modules)\n", PESTLE="python").endswith("False\n")


# -- debugging --


def test_lines_and_locals_are_the_users():
    @ti.kernel
    def f(x: F1) -> ti.i32:
        n = 0
        for i in x:
            v = x[i] * 2
            if v > 1:
                n += 1
        return n

    lines, values = [], []

    def trace(frame, event, arg):
        if frame.f_code.co_filename != __file__ or frame.f_code.co_name != "f":
            return None
        if event == "line":
            lines.append(frame.f_lineno - frame.f_code.co_firstlineno)
            values.append({k: repr(v) for k, v in frame.f_locals.items() if k in ("n", "i", "v", "x")})
        return trace

    ti.init(arch=ti.python)
    x = np.array([0.1, 3], np.float32)
    sys.settrace(trace)
    try:
        assert f(x) == 1
    finally:
        sys.settrace(None)
    base = lines[0]
    assert [line - base for line in lines] == [0, 1, 2, 3, 1, 2, 3, 4, 1, 5]
    assert values[-1] == {"n": "1", "i": "1", "v": "6.0", "x": "array([0.1, 3. ], dtype=float32)"}
    assert values[3]["v"] == "0.2"  # as an f32 prints


def test_a_debugger(tmp_path):
    text = """
@ti.func
def twice(x):
    y = 2 * x
    return y
@ti.kernel
def f(x: A):
    for i in x:
        x[i] = twice(i)
import pdb, io
commands = io.StringIO("b 14\\nc\\np i, x\\np i * 2, i.dtype\\ns\\nn\\nn\\nn\\np 'y', y\\nc\\np i\\ncl 1\\nc\\n")
debugger = pdb.Pdb(stdin=commands, stdout=sys.stdout, nosigint=True)
debugger.use_rawinput = False
debugger.prompt = ""
debugger.set_trace()
f(np.zeros(3, np.int32))
"""
    out = process.run(tmp_path, text, PESTLE="python")
    assert "(0, array([0, 0, 0], dtype=int32))" in out and "(0, i32)" in out
    assert "-> y = 2 * x" in out and "program.py(14)f()" in out and "('y', 0)" in out
    assert "_python_mode" not in out


def test_breakpoint_in_a_kernel(tmp_path):
    text = "@ti.kernel\ndef f(x: ti.i32):\n    y = x + 1\n    breakpoint()\nsys.breakpointhook = lambda: print(sys._getframe(1).f_locals)\nf(4)\n"
    assert "'y': 5" in process.run(tmp_path, text, PESTLE="python")


def test_traceback(tmp_path):
    text = "@ti.func\ndef g(x, k):\n    return x[k]\n@ti.kernel\ndef f(x: A) -> ti.i32:\n    return g(x, 7)\nf(np.zeros(3, np.int32))\n"
    shown = process.run(tmp_path, text, check=False, PESTLE="python").stderr.splitlines()
    assert [line.split(", ", 1)[1] for line in shown if line.startswith("  File")] == ["line 12, in <module>", "line 11, in f", "line 8, in g"]
    assert shown[-1] == "pestle.KernelAssertionError: Out of bound access: index 7 is out of bounds for axis 0 with length 3"


# -- what goes wrong --


def refused(error, match, kernel, *args):
    ti.init(arch=ti.python)
    with pytest.raises(error, match=match):
        kernel(*args)


def test_bounds_are_always_checked():
    @ti.kernel
    def f(x: I1, i: ti.i32):
        x[i] = 1

    refused(ti.KernelAssertionError, "index 3 is out of bounds for axis 0 with length 3", f, np.zeros(3, np.int32), 3)
    refused(ti.KernelAssertionError, "index -1 is out of bounds", f, np.zeros(3, np.int32), -1)
    refused(ti.KernelAssertionError, "index 0 is out of bounds for axis 0 with length 0", f, np.zeros(0, np.int32), 0)


def test_division_by_zero_when_checked():
    @ti.kernel
    def f(a: ti.i32) -> ti.i32:
        return a // 0 + a % (a - a)

    ti.init(arch=ti.python)
    assert f(7) == 0
    ti.init(arch=ti.python, checked=True)
    with pytest.raises(ti.KernelAssertionError, match="integer division by zero: the dividend is 7"):
        f(7)


def test_arrays():
    kept = []

    @ti.kernel
    def f(x: A, y: A):
        kept.append(x)
        y[0] = x[0]

    @ti.kernel
    def g(x: A):
        x[0, 1] = 2

    @ti.kernel
    def h(x: A):
        x[0.5] = 2

    x = np.ones(3, np.int32)
    x.flags.writeable = False
    ti.init(arch=ti.python)
    f(x, x.copy())
    assert kept[0].owner is x
    with pytest.raises(ti.KernelRuntimeError, match="belongs to a launch that is over"):
        kept[0][0]
    refused(ti.KernelValueError, "the array is read-only", f, x, x)
    refused(ti.KernelIndexError, "indices of an array: expected 1, found 2", g, x)
    refused(ti.KernelTypeError, "an array expects integer indices, found f32", h, x)
    refused(ti.KernelTypeError, "expected an array", f, 3, x)


def test_other_refusals():
    def kernel(body, annotation="ti.i32"):
        text = f"import pestle as ti\n@ti.kernel\ndef f(x: ti.types.ndarray(dtype=ti.f32, ndim=1), n: ti.i32) -> {annotation}:\n    {body}\n"
        import linecache

        linecache.cache["<refused>"] = (len(text), None, text.splitlines(True), "<refused>")
        scope = {}
        exec(compile(text, "<refused>", "exec"), scope)
        return scope["f"]

    x = np.zeros(2, np.float32)
    for body, error, match in [
        ("return x[0] & n", ti.KernelTypeError, "& expects integers, found f32"),
        ("return ~x[0]", ti.KernelTypeError, "~ expects integers, found f32"),
        ("return n ** -1", ti.KernelTypeError, "an exponent from 0"),
        ("return n + 3000000000", ti.KernelTypeError, "the number 3000000000 does not fit i32"),
        ("return ti.popcnt(x[0])", ti.KernelTypeError, "popcnt expects integers, found f32"),
        ("return ti.floor(n)", ti.KernelTypeError, "floor expects floats, found i32"),
        ("return ti.cast(n, 'i32')", ti.KernelTypeError, "cast expects a dtype, found str"),
        ("return ti.atomic_add(3, n)", ti.KernelTypeError, "atomic_add expects an element or a variable, found int"),
        ("return ti.atomic_or(x[0], 1)", ti.KernelTypeError, "atomic_or expects integers, found f32"),
        ("return ti.bit_cast(n, ti.f64)", ti.KernelTypeError, "bit_cast expects f64, found i32"),
        ("a, b = x.shape\n    return a", ti.KernelIndexError, "values to unpack: expected 2, found 1"),
        ("for i in x[0]: pass\n    return 1", ti.KernelTypeError, "a for loop expects .*, found pestle.Number"),
        ("for i in range(0, n, 2): pass\n    return 1", ti.KernelTypeError, "one or two bounds, found a step"),
        ("for i in range(x[0]): pass\n    return 1", ti.KernelTypeError, "integer bounds, found pestle.Number"),
        ("for I in ti.grouped(n): pass\n    return 1", ti.KernelTypeError, "grouped.. expects an array or ndrange"),
        ("for i in ti.ndrange((1, 2, 3)): pass\n    return 1", ti.KernelIndexError, "bounds of an axis: expected 2, found 3"),
        ("for i, j in ti.ndrange(2, 2, axes=(0, 0)): pass\n    return 1", ti.KernelSyntaxError, "expected each axis once"),
        ("for i in range(ti.i64(2) ** 40): pass\n    return 1", ti.KernelRuntimeError, "its indices must fit i32"),
        ("for I in ti.grouped(x): J = I + (1, 2)\n    return 1", ti.KernelTypeError, r"the shapes differ: \(1, 1\) and \(2, 1\)"),
        ("v: int32 = 3\n    return v", NameError, "int32"),
        ("v: 'x' = 3\n    return v", ti.KernelTypeError, "an annotation expects a dtype, or a type of vectors or structs, found str"),
        ("return x", ti.KernelTypeError, "i32 expects a number, found pestle.Array"),
        ("x[0] = None\n    return 1", ti.KernelTypeError, "an element of an array expects a number, found NoneType"),
        ("return len(x[0])", TypeError, "has no len"),
    ]:
        refused(error, match, kernel(body), x, 3)
    refused(ti.KernelSyntaxError, "needs a return annotation", kernel("return n", "None"), x, 3)


def test_no_source():
    scope = {"ti": ti}
    exec("@ti.kernel\ndef f():\n    pass\n", scope)
    refused(ti.CompilationError, "the source of 'f' is not available", scope["f"])


def test_vectors_and_large_matrices_as_arguments():
    vec3, large = ti.types.vector(3, ti.f32), ti.types.matrix(20, 20, ti.f32)

    @ti.kernel
    def total(v: vec3, m: large) -> ti.f32:
        return v[0] + v[2] + m[19, 19]

    ti.init(arch=ti.python)
    try:
        assert total([1, 2, 3], np.full((20, 20), 5)) == 9
    finally:
        ti.init()


def test_forms_on_typed_numbers(capsys):
    """What the compiler alone would ask of known values may be a typed number here."""

    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        ti.static_print(n, ti.static(n, 2))
        ti.static_assert(n == 3, "no three")
        ti.static_assert(ti.static(n) > 0)
        return n

    ti.init(arch=ti.python)
    try:
        assert f(3) == 3 and capsys.readouterr().out == "3 (3, 2)\n"
        with pytest.raises(AssertionError, match="no three"):
            f(4)
    finally:
        ti.init()
