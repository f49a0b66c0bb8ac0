"""Many threads at once: first launches, launches, faults and prints; the floating-point mode; how many threads there are."""

import ctypes
import os
import platform
import threading
import warnings

import numpy as np
import pytest

import pestle as ti
import process
from pestle import _pestle

A = ti.types.ndarray()
F1 = ti.types.ndarray(dtype=ti.f32, ndim=1)


def together(count, work):
    """Runs work(i) in `count` threads that start as nearly at once as can be; what each returned or raised."""
    barrier = threading.Barrier(count)
    outcome = [None] * count

    def run(i):
        barrier.wait()
        try:
            outcome[i] = work(i)
        except Exception as error:
            outcome[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcome


# -- at once


def test_first_launches_of_one_kernel():
    for turn in range(6):

        @ti.kernel
        def f(x: F1, a: ti.f32) -> ti.f32:
            s = ti.f32(0)
            for i in x:
                x[i] = x[i] * a + ti.static(turn)
                s += x[i]
            return s

        arrays = [np.full(5000, i, np.float32) for i in range(8)]
        outcome = together(8, lambda i: f(arrays[i], 2.0))
        assert outcome == [5000 * (2 * i + turn) for i in range(8)]
        assert all((x == 2 * i + turn).all() for i, x in enumerate(arrays))
        assert f._times["specialisations"] == 1


def test_first_launches_compile_once(tmp_path):
    text = """
@ti.kernel
def f(x: A, a: ti.f32):
    for i in x:
        x[i] = ti.sin(x[i]) * a
@ti.kernel
def g(x: A, a: ti.f32):
    for i in x:
        x[i] = ti.cos(x[i]) * a
barrier = threading.Barrier(8)
def work(kernel):
    x = np.ones(1000, np.float32)
    barrier.wait()
    kernel(x, 2.0)
threads = [threading.Thread(target=work, args=(k,)) for k in (f, g) * 4]
[t.start() for t in threads]
[t.join() for t in threads]
"""
    done = process.run(tmp_path, text, check=False, PESTLE_TIME="1", PESTLE_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("pestle: f compiled") == 1 and done.stderr.count("pestle: g compiled") == 1, done.stderr


def test_first_launches_of_many_kernels(from_source):
    text = "import pestle as ti\nA = ti.types.ndarray()\n"
    for k in range(24):
        text += f"@ti.kernel\ndef k{k}(x: A, n: ti.i32):\n    for i in x:\n        x[i] = (x[i] + i) * {k} + n\n"
    scope = from_source(text)

    def work(i):
        order = np.random.default_rng(i).permutation(24)
        for k in order:
            x = np.arange(300, dtype=np.int64)
            scope[f"k{k}"](x, i)
            assert np.array_equal(x, 2 * np.arange(300) * k + i)

    assert together(6, work) == [None] * 6


def test_first_launches_with_many_types():
    @ti.kernel
    def f(x: A):
        for i in x:
            x[i] += 1

    dtypes = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64]

    def work(i):
        for dtype in dtypes[i:] + dtypes[:i]:
            for array in (np.zeros(40, dtype), np.zeros(80, dtype)[::2]):
                f(array)
                assert (array == 1).all()

    assert together(8, work) == [None] * 8
    assert f._times["specialisations"] == 20


def test_options_change_while_others_launch():
    @ti.kernel
    def f(x: F1) -> ti.f32:
        s = ti.f32(0)
        for i in x:
            s += x[i]
        return s

    x = np.random.default_rng(0).random(100000, np.float32)
    want = f(x)
    stop = threading.Event()

    def work(i):
        if i == 0:
            for k in range(60):
                ti.init(threads=k % 5, checked=bool(k & 1))
            stop.set()
            return None
        wrong = 0
        while not stop.is_set():
            wrong += f(x) != want
        return wrong

    assert together(4, work) == [None, 0, 0, 0]


def test_reductions_do_not_depend_on_who_else_runs():
    @ti.kernel
    def f(x: F1) -> ti.f32:
        s = ti.f32(0)
        for i in x:
            s += x[i] * x[i]
        return s

    x = np.random.default_rng(1).random(300000, np.float32)
    ti.init(threads=1)
    want = f(x)
    ti.init(threads=3)
    outcome = together(5, lambda i: {f(x) for _ in range(40)})
    assert outcome == [{want}] * 5


def test_faults_go_to_the_thread_that_launched():
    ti.init(checked=True)

    @ti.kernel
    def f(x: A, n: ti.i32):
        for i in range(n):
            x[i] = i

    def work(i):
        x = np.zeros(1000, np.int32)
        told = []
        for k in range(30):
            if (i + k) % 3:
                f(x, 1000)
            else:
                with pytest.raises(AssertionError, match=f"index {500 + i} is out of bounds for axis 0 with length {500 + i}"):
                    f(x[: 500 + i], 1000)
                told.append(k)
        return len(told)

    assert together(6, work) == [10] * 6


def test_prints_of_one_launch_stay_together(capfd, tmp_path):
    text = """
@ti.kernel
def f(n: ti.i32):
    for i in range(3):
        print(n, i)
barrier = threading.Barrier(6)
def work(n):
    barrier.wait()
    for _ in range(20):
        f(n)
threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
[t.start() for t in threads]
[t.join() for t in threads]
"""
    lines = process.run(tmp_path, text).splitlines()
    assert len(lines) == 6 * 20 * 3
    for at in range(0, len(lines), 3):
        n = lines[at].split()[0]
        assert lines[at : at + 3] == [f"{n} {i}" for i in range(3)]


@pytest.mark.parametrize("kind", ["many elements", "a while loop"])
def test_others_run_python_meanwhile(kind):
    @ti.kernel
    def busy(x: F1, n: ti.i32):
        for i in x:
            k = 0
            while k < n:
                x[i] = ti.sin(x[i])
                k += 1

    @ti.kernel
    def large(x: F1):
        for i in x:
            x[i] = ti.sin(ti.cos(ti.sin(ti.cos(x[i]))))

    x = np.ones(1_000_000 if kind == "many elements" else 100, np.float32)
    call = (lambda: large(x)) if kind == "many elements" else (lambda: busy(x, 10000))
    call()
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    done = 0
    while counted[0] == before or done < 3:
        call()
        done += 1
        assert done < 1000
    stop.set()
    thread.join()


def test_small_stacks():
    old = threading.stack_size(128 * 1024)
    try:
        for turn in range(3):

            @ti.func
            def fib(n: ti.i32) -> ti.i32:
                r = n + ti.static(turn)
                if n > 1:
                    r = fib(n - 1) + fib(n - 2)
                return r

            @ti.kernel
            def f(x: A, n: ti.i32):
                for i in x:
                    x[i] = fib(n)

            x = np.zeros(100, np.int32)
            outcome = together(2, lambda i: f(x.copy() if i else x, 10))
            assert outcome == [None, None] and (x == 55 + 89 * turn).all()
    finally:
        threading.stack_size(old)


# -- the floating-point mode


class Mode:
    """Rounds upward, flushes denormals to zero and takes them for zero, in this thread, inside the `with`."""

    def __enter__(self):
        self.libm = ctypes.CDLL("libm.so.6")
        self.saved = ctypes.create_string_buffer(32)
        assert self.libm.fegetenv(self.saved) == 0
        changed = ctypes.create_string_buffer(self.saved.raw, 32)
        mxcsr = int.from_bytes(self.saved.raw[28:32], "little") | 0x8040 | 0x4000
        changed[28:32] = mxcsr.to_bytes(4, "little")
        assert self.libm.fesetenv(changed) == 0
        return self

    def word(self):
        now = ctypes.create_string_buffer(32)
        self.libm.fegetenv(now)
        return int.from_bytes(now.raw[28:32], "little") & ~0x3F

    def __exit__(self, *_):
        self.libm.fesetenv(self.saved)


ROUNDING = """
@ti.kernel
def serial(a: ti.f32, b: ti.f64) -> ti.f64:
    s = a * ti.f32(0.1) + ti.f32(1e-42)
    return ti.f64(s) / ti.f64(3) + b * ti.f64(5e-324)

@ti.kernel
def folded() -> ti.f64:
    return ti.f64(ti.f32(0.1) * ti.f32(0.3)) + ti.f64(1) / ti.f64(3)

@ti.kernel
def denormal(a: ti.f32) -> ti.f32:
    return a

@ti.kernel
def parallel(x: A, y: A):
    for i in x:
        y[i] = x[i] / 3 + x[i] * ti.f32(1e-20) * ti.f32(1e-20)
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="MXCSR")
def test_results_do_not_depend_on_the_floating_point_mode(from_source):
    def results(scope):
        x = np.random.default_rng(2).random(1000, np.float32)
        y = np.zeros_like(x)
        scope["parallel"](x, y)
        found = [scope["serial"](0.7, 1.0), scope["folded"](), scope["denormal"](1e-40), scope["denormal"](0.1)]
        return [value.hex() for value in found], y.tobytes()

    head = "import pestle as ti\nA = ti.types.ndarray()\n"
    usual = from_source(head + ROUNDING)
    want = results(usual)
    # The same program, and one with another key that is compiled in this mode.
    other = from_source(head + "\n" + ROUNDING.replace("def ", "def _").replace("_serial", "serial_"), "other.py")
    other = {name: other[name] for name in other}
    renamed = {"serial": other["serial_"], **{name: other["_" + name] for name in ("folded", "denormal", "parallel")}}
    with Mode() as mode:
        before = mode.word()
        again = [results(usual), results(renamed)]
        after = mode.word()
    assert before == after != 0x1F80
    assert again == [want, want]
    assert results(renamed) == want


# -- how many


def test_number_of_threads(monkeypatch):
    monkeypatch.delenv("PESTLE_NUM_THREADS", raising=False)
    ti.init()
    usual = _pestle._threads()
    assert 1 <= usual <= len(os.sched_getaffinity(0))
    for text, threads in {"3": 3, "1": 1, "0": usual, "": usual, " 7": 7, "1000": 1000, "4096": 1024}.items():
        monkeypatch.setenv("PESTLE_NUM_THREADS", text)
        ti.init()
        assert _pestle._threads() == threads, text
    for text in ("many", "-1", "2x", "1.5", "99999", "99999999999999999999", " ", "0x10"):
        monkeypatch.setenv("PESTLE_NUM_THREADS", text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ti.init()
        assert _pestle._threads() == usual, text


@pytest.mark.parametrize("first", ["f(x)", "ti.init()"])
def test_a_wrong_number_of_threads_is_told(tmp_path, first):
    program = "@ti.kernel\ndef f(x: A):\n    for i in x:\n        x[i] = 1\nx = np.zeros(3)\n"
    done = process.run(tmp_path, program + first + "\nf(x)\nti.init()\nprint(x)\n", check=False, PESTLE_NUM_THREADS="many")
    assert done.stdout == "[1. 1. 1.]\n"
    message = "PESTLE_NUM_THREADS=many is ignored: expected a number of threads from 1 to 4096"
    assert done.stderr.count("RuntimeWarning: " + message) == 1, done.stderr


def test_what_init_says_goes_first(tmp_path):
    program = "ti.init(threads=3)\nprint(_pestle._threads())\nti.init()\nprint(_pestle._threads())\n"
    done = process.run(tmp_path, program, check=False, PESTLE_NUM_THREADS="2")
    assert (done.stdout, done.stderr) == ("3\n2\n", "")
    done = process.run(tmp_path, "ti.init(threads=3)\nprint(_pestle._threads())\n", check=False, PESTLE_NUM_THREADS="x")
    assert (done.stdout, done.stderr) == ("3\n", "")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU")
def test_affinity(tmp_path):
    program = """
cpus = os.sched_getaffinity(0)
os.sched_setaffinity(0, {min(cpus)})
print(_pestle._threads())
os.sched_setaffinity(0, cpus)
print(_pestle._threads())
ti.init()
print(_pestle._threads() > 1 or "quota")
"""
    told = process.run(tmp_path, program, PESTLE_NUM_THREADS=None).split()
    assert told[:2] == ["1", "1"] and told[2] in ("True", "quota")


def test_more_threads_than_cpus():
    @ti.kernel
    def f(x: F1) -> ti.f32:
        s = ti.f32(0)
        for i in x:
            s += ti.sin(x[i])
        return s

    x = np.random.default_rng(3).random(200000, np.float32)
    found = set()
    for threads in (1, 2, 7, 64, 1):
        ti.init(threads=threads)
        found |= {f(x) for _ in range(3)}
        assert _pestle._threads() == threads
    assert len(found) == 1
