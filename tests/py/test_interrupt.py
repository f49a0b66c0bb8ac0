"""Ctrl-C stops what takes long, wherever the loop stands, and leaves everything usable."""

import os
import signal
import subprocess
import time

import pytest

import process

KERNELS = """
@ti.kernel
def while_serial() -> ti.i32:
    i = 0
    while True:
        i += 1
        if i == -5:
            break
        if i < 0:
            i = 0
    return i

@ti.kernel
def while_parallel(x: A):
    for i in x:
        while x[i] >= 0:
            x[i] = (x[i] + 1) % 100

@ti.kernel
def while_around_parallel(x: A):
    n = 1
    while n > 0:
        n = n % 7 + 1
    for i in x:
        x[i] = n

@ti.kernel
def nested_for(x: A, n: ti.i64):
    for i in range(4):
        for j in range(n):
            for k in range(n):
                x[i] += ti.i32(j ^ k)

@ti.kernel
def one_long_for(n: ti.i64) -> ti.i64:
    s = ti.i64(0)
    ti.loop_config(serialize=True)
    for i in range(n):
        s = s ^ (i * s + 3)
    return s

@ti.kernel
def nested_serial(n: ti.i32) -> ti.i32:
    s = 0
    ti.loop_config(serialize=True)
    for j in range(n):
        for i in range(n):
            s = s ^ (i * s + 3)
    return s

@ti.func
def chain(n: ti.i64) -> ti.i64:
    s = ti.i64(1)
    for k in range(n):
        s = s * 3 ^ k
    return s

@ti.kernel
def in_a_func(x: A, n: ti.i64):
    for i in x:
        x[i] = ti.i32(chain(n) & 127)

@ti.func
def fib(n: ti.i32) -> ti.i32:
    r = n
    if n > 1:
        r = fib(n - 1) + fib(n - 2)
    return r

@ti.kernel
def recursion(n: ti.i32) -> ti.i32:
    return fib(n)

@ti.kernel
def constant_bounds(x: A):
    for i in range(60):
        for a in range(60):
            for b in range(60):
                for c in range(60):
                    for d in range(60):
                        for e in range(60):
                            for f in range(60):
                                x[i] ^= a * b * c ^ d * e * f

@ti.kernel
def cubes_of_lengths(x: A):
    for i in x:
        for j in range(x.shape[0]):
            for k in range(x.shape[0]):
                for l in range(x.shape[0]):
                    x[i] ^= j * k ^ l

@ti.kernel
def long_bodies(x: A, n: ti.i32):
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += ti.sin(ti.cast(i ^ j, ti.f32))
        x[i % 3] = ti.i32(s)

@ti.kernel
def reduction(n: ti.i32) -> ti.f64:
    s = ti.f64(0)
    for i, j in ti.ndrange(n, n):
        s += ti.sin(ti.cast(i ^ j, ti.f64))
    return s

@ti.kernel
def shared_row(x: A, n: ti.i32):
    for i, j in ti.ndrange(n, 3):
        x[i % 7] = ti.i32(ti.sin(ti.cast(i * j, ti.f32)))

@ti.kernel
def double(x: A):
    for i in x:
        x[i] *= 2
"""

RUN = """
few, some = np.zeros(8, np.int32), np.zeros(4000, np.int32)
CALLS = {
    "while_serial": lambda: while_serial(),
    "while_parallel": lambda: while_parallel(few),
    "while_around_parallel": lambda: while_around_parallel(few),
    "nested_for": lambda: nested_for(few, 10**9),
    "one_long_for": lambda: one_long_for(10**15),
    "nested_serial": lambda: nested_serial(2**31 - 1),
    "in_a_func": lambda: in_a_func(few, 10**15),
    "recursion": lambda: recursion(100),
    "constant_bounds": lambda: constant_bounds(np.zeros(60, np.int32)),
    "cubes_of_lengths": lambda: cubes_of_lengths(some),
    "long_bodies": lambda: long_bodies(few, 2**31 - 2**25),
    "reduction": lambda: reduction(2**30),
    "shared_row": lambda: shared_row(few, 2**30),
}
def stops(name):
    start = []
    def kick():
        start.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(0.08, kick)
    timer.start()
    try:
        CALLS[name]()
        print(name, "returned")
    except KeyboardInterrupt:
        taken = time.monotonic() - start[0]
        if taken > 3:
            print(name, "took", taken)
    timer.join()

for threads in 1, 2:
    ti.init(threads=threads)
    for name in CALLS:
        stops(name)
        x = np.arange(100000, dtype=np.int32)
        double(x)
        assert np.array_equal(x, 2 * np.arange(100000))
print("done")
"""


def test_every_kind_of_loop(tmp_path):
    assert process.run(tmp_path, KERNELS + RUN, timeout=110) == "done\n"


def start(tmp_path, text):
    """The program, once it has printed `ready`."""
    child = subprocess.Popen(process.command(tmp_path, text), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.1)
    return child


def test_a_program_ends_by_the_signal(tmp_path):
    child = start(tmp_path, KERNELS + "x = np.zeros(8, np.int32)\nprint('ready', flush=True)\nwhile_parallel(x)\n")
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert child.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in err and "while_parallel(x)" in err


def test_other_signals_keep_their_meaning(tmp_path):
    child = start(tmp_path, KERNELS + "print('ready', flush=True)\nwhile_serial()\n")
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=30)
    assert child.returncode == -signal.SIGTERM


HANDLERS = """
class Mine(Exception):
    pass

def raising(number, frame):
    raise Mine("from the handler")

seen = []
def noting(number, frame):
    seen.append(number)

def kick():
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

signal.signal(signal.SIGINT, raising)
kick()
try:
    while_serial()
except Mine as error:
    print(error)

# A handler that returns: the launch is over all the same, and says so.
signal.signal(signal.SIGINT, noting)
time.sleep(0.02)
kick()
try:
    while_serial()
except ti.KernelRuntimeError as error:
    print(error, seen)

# Nobody wants to know.
signal.signal(signal.SIGINT, signal.SIG_IGN)
time.sleep(0.02)
kick()
start = time.time()
x = np.zeros(8, np.int32)
while time.time() < start + 0.3:
    in_a_func(x, 100000)
print("ignored")

# A signal that comes just before the launch is not lost.
signal.signal(signal.SIGINT, signal.default_int_handler)
time.sleep(0.02)
try:
    signal.raise_signal(signal.SIGINT)
    while_serial()
except KeyboardInterrupt:
    print("not lost")

# A launch in another thread goes on, as Python's own long calls do; the main thread is told.
done = []
thread = threading.Thread(target=lambda: done.append(one_long_for(300_000_000)))
thread.start()
kick()
try:
    time.sleep(10)
except KeyboardInterrupt:
    thread.join()
    print(len(done))

# After a fork in another thread that one is the main thread.
def child():
    pid = os.fork()
    if pid == 0:
        kick()
        try:
            while_serial()
        except KeyboardInterrupt:
            os._exit(7)
        os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
one_long_for(3)
thread = threading.Thread(target=lambda: (one_long_for(3), child()))
thread.start()
thread.join()
"""


def test_handlers(tmp_path):
    told = process.run(tmp_path, KERNELS + HANDLERS).splitlines()
    assert told[0] == "from the handler"
    assert told[1].startswith("kernel 'while_serial' was interrupted") and told[1].endswith("[2]")
    assert told[2:] == ["ignored", "not lost", "1", "7"]


COMPILING = """
import linecache
lines = ["import pestle as ti", "@ti.kernel", "def big(x: ti.types.ndarray(dtype=ti.f32, ndim=1)):", "    for i in x:"]
lines += [f"        if x[i] > {k}: x[i] = x[i] * {k}.5 + ti.sin(x[i])" for k in range(800)]
lines += ["@ti.kernel", "def unrolled() -> ti.i32:", "    s = 0", "    for i in ti.static(range(90000)):",
          "        s += i % 7", "    return s"]
text = "\\n".join(lines) + "\\n"
linecache.cache["<big>"] = (len(text), None, text.splitlines(True), "<big>")
scope = {}
exec(compile(text, "<big>", "exec"), scope)
x = np.zeros(4, np.float32)
for call in lambda: scope["big"](x), lambda: scope["unrolled"]():
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        call()
        print("compiled")
    except KeyboardInterrupt:
        print("stopped")
    timer.join()
"""


def test_compiling_stops(tmp_path):
    assert process.run(tmp_path, COMPILING, PESTLE_CACHE_DIR=str(tmp_path / "cache"), PESTLE_VERIFY=None) == "stopped\nstopped\n"


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux only")
def test_a_compile_that_another_thread_does(tmp_path):
    """The main thread waits for it, and need not."""
    text = """
import linecache
lines = ["import pestle as ti", "@ti.kernel", "def big(x: ti.types.ndarray(dtype=ti.f32, ndim=1)):", "    for i in x:"]
lines += [f"        if x[i] > {k}: x[i] = x[i] * {k}.5 + ti.sin(x[i])" for k in range(700)]
text = "\\n".join(lines) + "\\n"
linecache.cache["<big>"] = (len(text), None, text.splitlines(True), "<big>")
scope = {}
exec(compile(text, "<big>", "exec"), scope)
x, y = np.zeros(4, np.float32), np.zeros(4, np.float32)
thread = threading.Thread(target=scope["big"], args=(y,))
thread.start()
time.sleep(0.01)
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    scope["big"](x)
    print("ran")
except KeyboardInterrupt:
    print("stopped")
thread.join()
scope["big"](x)
print(np.array_equal(x, y))
"""
    told = process.run(tmp_path, text, PESTLE_CACHE_DIR=str(tmp_path / "cache"), PESTLE_VERIFY=None)
    assert told.endswith("True\n"), told


LONG_PRINTS = """
@ti.kernel
def talk(x: A, n: ti.i32):
    print("before")
    for i in x:
        for k in range(n):
            x[i] += ti.sin(x[i])
    print("after")

class Told(Exception): pass
def handler(*args): raise Told()
signal.signal(signal.SIGALRM, handler)
class Out:
    "sys.stdout as Python code: signals are handled in there too"
    def write(self, text): time.sleep(0); sys.__stdout__.write(text)
    def flush(self): pass
x = np.ones(2_000_000, np.float32)
talk(x, 1)
for out in sys.__stdout__, Out():
    sys.stdout = out
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        talk(x, 400)
        print("no exception")
    except Told:
        print("told")
    try: time.sleep(0.1)
    except Told: print("late")
sys.stdout = sys.__stdout__
"""


def test_prints_come_out_before_a_handlers_exception(tmp_path):
    told = process.run(tmp_path, LONG_PRINTS)
    assert told == "before\nafter\n" + "before\nafter\ntold\n" * 2
