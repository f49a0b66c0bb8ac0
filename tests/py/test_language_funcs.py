"""Funcs, helpers, methods; values known while compiling; proxies."""

import math

import numpy as np
import pytest

import pestle as ti
from language import printed, run

F1 = ti.types.ndarray(dtype=ti.f32, ndim=1)
I1 = ti.types.ndarray(dtype=ti.i32, ndim=1)


@ti.func
def square(x):
    return x * x


@ti.func
def sign(x):
    if x < 0: return -1
    elif x > 0: return 1
    return 0


@ti.func
def factorial(n: ti.i32) -> ti.i32:
    r = 1
    if n > 1: r = n * factorial(n - 1)
    return r


@ti.func
def ackermann(m: ti.i32, n: ti.i32) -> ti.i32:
    if m == 0: return n + 1
    if n == 0: return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@ti.func
def is_even(n: ti.i32) -> ti.i32:
    r = 1
    if n > 0: r = is_odd(n - 1)
    return r


@ti.func
def is_odd(n: ti.i32) -> ti.i32:
    r = 0
    if n > 0: r = is_even(n - 1)
    return r


def test_results():
    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        return square(n) + sign(-n) * 100 + sign(n - n) * 1000 + factorial(5) + ackermann(2, n)

    assert run(f, 3) == 9 - 100 + 120 + 9


def test_mutual_recursion():
    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        return is_even(n) * 10 + is_odd(n)

    assert run(f, 10) == 10 and run(f, 7) == 1


def test_endless_recursion_is_a_fault():
    @ti.func
    def deep(n: ti.i32) -> ti.i32:
        return deep(n + 1) + 1

    @ti.kernel
    def f() -> ti.i32:
        return deep(0)

    with pytest.raises(ti.KernelAssertionError, match="deep"):
        f()


def test_a_result_holds_all_returns():
    @ti.func
    def mixed(x):
        if x > 2: return 1
        if x > 1: return ti.i64(2**40)
        return 0.5

    @ti.kernel
    def f(x: ti.f32, n: ti.i32) -> ti.f64:
        return mixed(x) + mixed(n)

    assert run(f, 0.0, 3) == 1.5


def test_one_build_a_signature():
    @ti.func
    def many(a, b):
        for i in range(a): b += i
        return b

    @ti.kernel
    def f(n: ti.i32, x: ti.f32) -> ti.f32:
        r = 0.0
        for _ in range(1):
            r = many(n, n) + many(n, 1) + many(2, n) + many(n, x) + many(3, x)
        return r

    assert f._ir(1, 1.0).count("func @many") == 2
    assert run(f, 3, 0.5) == 6 + 4 + 4 + 3.5 + 3.5


def test_arguments_by_value():
    @ti.func
    def change(a, b: ti.f32):
        a += 1
        b *= 2
        return a + b

    @ti.kernel
    def f(n: ti.i32) -> ti.f32:
        a = n
        r = change(a, a)
        return r * 10 + a

    assert run(f, 3) == 103


def test_arguments_by_reference():
    @ti.func
    def swap(a: ti.template(), b: ti.template()):
        t = a
        a = b
        b = t

    @ti.func
    def bump(a: ti.template()):
        a += 1
        swap(a, a)

    @ti.kernel
    def f(x: I1) -> ti.i32:
        a, b = 1, 2
        swap(a, b)
        bump(a)
        swap(x[0], x[1])
        for i in range(1):
            bump(x[2])
        return a * 10 + b

    x = np.array([5, 6, 7], np.int32)
    assert run(f, x) == 31
    assert x.tolist() == [6, 5, 8]


def test_arrays():
    @ti.func
    def fill(x: ti.template(), v):
        for i in x: x[i] = v

    @ti.func
    def add(x: ti.types.ndarray(dtype=ti.i32, ndim=1), i, v=3, *, w=4):
        x[i] += v * w

    @ti.func
    def find(x, v):
        for i in range(x.shape[0]):
            if x[i] == v: return i
        return -1

    @ti.kernel
    def f(x: I1) -> ti.i32:
        fill(x, 1)
        for i in range(2): add(x, i)
        add(x, 2, v=1)
        add(i=3, x=x, w=1)
        return find(x, 4) * 10 + find(x, 99)

    x = np.zeros(5, np.int32)
    assert run(f, x) == 29
    assert x.tolist() == [13, 13, 5, 4, 1]


def test_written_arrays_are_known_through_calls():
    @ti.func
    def inner(x, v):
        if v > 0: x[0] = v

    @ti.func
    def outer(x, y):
        inner(x, y[0])

    @ti.kernel
    def f(x: I1, y: I1):
        for _ in range(1): outer(x, y)

    x, y = np.zeros(1, np.int32), np.ones(1, np.int32)
    y.flags.writeable = False
    f(x, y)
    assert x[0] == 1
    x.flags.writeable = False
    with pytest.raises(ti.PestleError, match="read-only"):
        f(x, y)


def test_tuples_and_functions_as_arguments():
    @ti.func
    def apply(g, x):
        return g(x)

    @ti.func
    def both(a):
        return a, a + 1

    @ti.func
    def total(v):
        r = 0.0
        for x in ti.static(v): r += x
        return r

    @ti.func
    def count(*args, **named):
        return len(args) * 10 + len(named) + named["k"]

    @ti.kernel
    def f(n: ti.i32) -> ti.f32:
        p, q = both(n)
        return p * 10 + q + apply(square, n) * 100 + apply(ti.abs, -n) * 1000 + total((n, 0.5, p)) + count(1, n, k=n, m=2)

    assert run(f, 3) == 30 + 4 + 900 + 3000 + 6.5 + 25


def test_loops_of_a_func_at_the_top_level_are_parallel():
    @ti.func
    def fill(x):
        for i in x: x[i] = i

    @ti.kernel
    def f(x: I1):
        fill(x)

    @ti.kernel
    def g(x: I1):
        for _ in range(1): fill(x)

    x = np.zeros(3, np.int32)
    assert "parfor" in f._ir(x) and "call" not in f._ir(x)
    assert "call[@fill" in g._ir(x) and "parfor" in g._ir(x)
    run(f, x)
    assert x.tolist() == [0, 1, 2]


def test_the_same_bits_in_place_and_called():
    """An fma reaches no further than the expression it is written in."""

    @ti.func
    def product(a, b):
        return a * b

    @ti.func
    def product_called(a, b):
        r = 0.0
        if a == a: r = a * b
        return r

    @ti.kernel
    def f(a: ti.f32, b: ti.f32, c: ti.f32, out: F1):
        out[0] = product(a, b) + c
        out[1] = product_called(a, b) + c
        out[2] = square(a * b) + c
        p = a * b
        out[3] = p + c

    a, b = np.float32(1 + 2**-12), np.float32(1 - 2**-12)
    out = np.zeros(4, np.float32)
    run(f, a, b, -1.0, out)
    assert out[0] == out[1] == out[3] == a * b - np.float32(1)


def test_helpers_and_lambdas():
    def hypot(a, b):
        if isinstance(a, int): return a
        return (a**2 + b**2) ** 0.5

    twice = lambda q: ti.max(q, 0) * 2
    root = lambda q: ti.sqrt(ti.f32(q)) + abs(-q) + round(q * 1.0)

    @ti.kernel
    def f(x: F1, n: ti.i32) -> ti.f32:
        return hypot(x[0], x[1]) * 100 + hypot(3, n) + twice(-n) + twice(n) * 10 + root(n) * 1000

    assert run(f, np.array([3, 4], np.float32), 4) == 500 + 3 + 80 + 10000


def test_helpers_may_use_funcs_and_numpy_scalars():
    half = np.float32(0.5)

    def helper(v):
        return half * square(v) + np.int64(1)

    @ti.kernel
    def f(x: ti.f32) -> ti.f32:
        return helper(x)

    assert run(f, 3.0) == 5.5


def test_containers():
    table = {"a": 3, "b": (4, 5)}

    @ti.kernel
    def f(x: F1, n: ti.i32) -> ti.f32:
        values = [x[i] * 2 for i in range(2)]
        values.append(n)
        named = {k: v for k, v in zip("pq", values)}
        s = sum(values) + named["q"] + table["a"] + table["b"][1]
        for i, v in ti.static(enumerate(values)): s += i * v
        for a, b in ti.static(zip(values, (1, 2))): s += a * b
        first, *_rest = 1, 2
        return s + len(values) + first

    @ti.kernel
    def g(x: F1, n: ti.i32) -> ti.f32:
        values = [x[i] * 2 for i in range(2)]
        values.append(n)
        named = {k: v for k, v in zip("pq", values)}
        s = sum(values) + named["q"] + table["a"] + table["b"][1]
        for i, v in ti.static(enumerate(values)): s += i * v
        for a, b in ti.static(zip(values, (1, 2))): s += a * b
        return s + len(values)

    x = np.array([1, 2], np.float32)
    with pytest.raises(ti.KernelSyntaxError):
        f(x, 5)
    assert run(g, x, 5) == 11 + 4 + 3 + 5 + (4 + 10) + (2 + 8) + 3


def test_methods():
    class Scale:
        offset = 3

        def __init__(self, factor):
            self.factor = factor

        def python(self, x):
            return x * self.factor

        @ti.func
        def compiled(self, x):
            return x * self.factor + self.offset

    scale = Scale(4)

    @ti.kernel
    def f(x: ti.i32) -> ti.i32:
        return scale.python(x) * 1000 + scale.compiled(x)

    assert run(f, 2) == 8011


def test_static():
    @ti.kernel
    def f(s: ti.template(), flag: ti.template()) -> ti.i32:
        r = 0
        for k in ti.static(s):
            r = r * 10 + k
            if ti.static(k == 2): break
        for k in ti.static(range(5)):
            if ti.static(k % 2 == 0): continue
            r += k
        for i, j in ti.static(ti.ndrange(2, (1, 3))): r += i * j * 1000
        for I in ti.static(ti.grouped(ti.ndrange(2, 2))): r += I[0] * I.y * 10000
        if ti.static(flag is None): r += 100000
        else: r += nothing_of_this_is_compiled
        n = ti.static(3)
        n = n + 1
        for i in ti.static(range(n)): r += 1000000
        return r

    assert run(f, (3, 1, 2, 9), None) == 312 + 4 + 3000 + 10000 + 100000 + 4000000


def test_a_static_branch_may_not_break_by_runtime_values(from_source):
    scope = from_source(
        "import pestle as ti\n@ti.kernel\ndef f(n: ti.i32):\n    for k in ti.static(range(3)):\n        if n > k: break\n"
    )
    with pytest.raises(ti.KernelSyntaxError, match="static `for`"):
        scope["f"](1)


def test_proxies_end_with_their_build():
    seen = []

    def keep(v):
        seen.append(v)
        return v

    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        return keep(n + 1)

    assert f(1) == 2
    for use in (lambda v: v + 1, lambda v: -v, lambda v: v == 1, lambda v: v[0], lambda v: ti.sqrt(v), lambda v: v.dtype):
        with pytest.raises(RuntimeError, match="compilation has ended"):
            use(seen[0])
    assert "ended" in repr(seen[0])


def test_proxies_end_with_their_block():
    seen = []

    def keep(v):
        seen.append(v)
        return v

    def recall(v):
        return seen[-1] + v

    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        r = 0
        for i in range(n): r += keep(i * 2)
        r += recall(n)
        return r

    with pytest.raises(ti.CompilationError, match="block that has ended"):
        f(3)


def test_proxies_have_no_truth_value():
    def helper(v):
        return 1 if v > 0 else 2

    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        return helper(n)

    with pytest.raises(TypeError, match="known only when the kernel runs"):
        f(1)


def test_errors_of_helpers_are_the_cause():
    def helper(v):
        raise KeyError("mine")

    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        return helper(n)

    with pytest.raises(ti.CompilationError, match="mine") as caught:
        f(1)
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError) and cause.__traceback__.tb_frame.f_code is helper.__code__


def test_a_swallowed_refusal_still_fails():
    def helper(v):
        try:
            v & 1
        except Exception:
            return v

    @ti.kernel
    def f(x: ti.f32) -> ti.f32:
        return helper(x)

    with pytest.raises(ti.KernelTypeError, match="&"):
        f(1.0)


def test_future_annotations(from_source):
    scope = from_source(
        "from __future__ import annotations\nimport pestle as ti\n"
        "@ti.func\ndef g(x: ti.f32, y: ti.template()) -> ti.i32:\n    y = 5\n    return x\n"
        "@ti.kernel\ndef f(n: ti.i32) -> ti.i32:\n    a = 1\n    r = g(n / 2, a)\n    return r * 10 + a\n"
    )
    with pytest.warns(UserWarning):
        assert run(scope["f"], 5) == 25


def test_print():
    @ti.kernel
    def f(n: ti.i32, x: ti.f32):
        print("n =", n, "x =", x, sep="|")
        print(f"{n} {x} {n=} {math.pi:.2f}", n > 1, end="!\n")
        print("{} and {b}".format(n, b=x), (n, "a", [x]))
        for i in ti.static(range(2)): print(i, end=" ")
        print()

    assert printed(f, 3, 0.1) == "n =|3|x =|0.1\n3 0.1 n=3 3.14 True!\n3 and 0.1 (3, 'a', [0.1])\n0 1 \n"


def test_print_in_parallel_is_in_order():
    @ti.kernel
    def f(n: ti.i32):
        for i in range(n): print(i)

    assert printed(f, 200) == "".join(f"{i}\n" for i in range(200))

# -- structs and tuples: passed and returned member by member --

V = ti.types.vector(3, ti.f32)

@ti.dataclass
class P:
    x: V
    m: ti.f32
    n: ti.i32

    @ti.func
    def push(self, by):
        if by < 0:
            return -1
        self.x += by
        self.n += 1
        return self.n

    @ti.func
    def bump(self):
        self.n += 1

    @ti.func
    def both(self, o):
        r = P(self.x + o.x, self.m * o.m, self.n + o.n)
        if o.n > 100:
            return P(self.x, 0.0, 0)
        return r


@ti.func
def pair(a, b):
    if a > b:
        return b, a
    return a, b


@ti.func
def fib(n: ti.i32) -> tuple[ti.i32, ti.i32]:
    if n == 0:
        return 0, 1
    a, b = fib(n - 1)
    return b, a + b


@ti.func
def halve(p: P, k: ti.i32) -> P:
    p.m /= 2
    if k <= 0:
        return p
    return halve(p, k - 1)


@ti.func
def split(a, v):
    if a < 0:
        return (0, v), P(v, a, 1)
    return (1.5, v * 2), P(v, 2, 3)


@ti.kernel
def many_parts(out: ti.types.ndarray(ti.f32, 2), k: ti.i32):
    for i in range(out.shape[0]):
        p = P(V(1, 2, i), 8.0, i)
        c = p.push(1.0) + p.push(-1.0)
        q = p.both(p)
        lo, hi = pair(i, k)
        x, y = fib(i % 20)
        h = halve(p, i % 4)
        (u, w), r = split(i - 3.5, p.x)
        vals = ti.Vector([c, p.x.x, p.x.z, p.m, p.n, q.x.y, q.m, q.n, lo, hi, x, y, h.m, p.m, u, w.y, r.m, r.n])
        for j in ti.static(range(18)):
            out[i, j] = vals[j]


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a, b


def parts_in_python(n, k):
    rows = []
    for i in range(n):
        x = np.array([2, 3, i + 1], float)
        y, m, count = (2 * x, 64, 2 * (i + 1)) if i + 1 <= 100 else (x, 0, 0)
        u, w, r = (0, x, (i - 3.5, 1)) if i < 3.5 else (1.5, 2 * x, (2, 3))
        row = [i, 2, i + 1, 8, i + 1, y[1], m, count, min(i, k), max(i, k), *fibonacci(i % 20), 8 / 2 ** (i % 4 + 1), 8, u, w[1], *r]
        rows.append(row)
    return np.array(rows, np.float32)


def test_structs_and_tuples_across_calls():
    """Early returns, recursion and changes of self: none of these funcs can be expanded in place."""
    out = np.zeros((120, 18), np.float32)
    run(many_parts, out, 50)
    assert np.array_equal(out, parts_in_python(120, 50))
    functions = [line for line in many_parts.ir(after="front").splitlines() if line.startswith("func @")]
    assert len(functions) == 7


def test_one_function_for_all_calls():
    @ti.func
    def step(p: ti.template(), by):
        p.x += by
        q, r = p.x.y * 2, p.x.z
        return q, r

    @ti.kernel
    def f() -> ti.f32:
        p = P(n=1)
        total = 0.0
        for i in ti.static(range(20)):
            a, b = step(p, i)
            total += a - b
        return total

    assert f() == sum(i * (i + 1) / 2 for i in range(20))
    assert f.ir(after="front").count("func @step") == 1


def test_types_of_parts_widen():
    @ti.func
    def g(a: ti.i32):
        if a < 0:
            return a, ti.Vector([1, 2])
        return a * 0.5, ti.Vector([0.25, 1])

    @ti.kernel
    def f(a: ti.i32) -> tuple[ti.f32, ti.types.vector(2, ti.f32)]:
        return g(a)

    assert f(-3) == (-3, [1, 2]) and f(3) == (1.5, [0.25, 1])


def test_elements_of_fields_are_changed_in_place():
    """Their members lie in arrays: the method is expanded, and += is atomic."""
    ps = P.field(shape=4)

    @ti.kernel
    def f():
        for i in range(400):
            ps[i % 4].bump()

    f()
    assert ps.n.to_numpy().tolist() == [100] * 4
