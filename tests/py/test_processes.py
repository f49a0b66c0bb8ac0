"""Forks before, while and after threads launch and compile; multiprocessing; the end of the interpreter."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import pestle as ti
import process

A = ti.types.ndarray()

KERNELS = """
@ti.kernel
def scale(x: A, a: ti.f32) -> ti.f32:
    s = ti.f32(0)
    for i in x:
        x[i] = x[i] * a + 1
        s += x[i]
    return s

@ti.kernel
def spin(x: A):
    for i in x:
        while x[i] >= 0:
            x[i] = (x[i] + 1) % 1000

def right(threads=0):
    if threads:
        ti.init(threads=threads)
    x = np.arange(200000, dtype=np.float32) % 8
    s = scale(x, 2.0)
    return s == 1600000.0 and np.array_equal(x, np.arange(200000, dtype=np.float32) % 8 * 2 + 1)

def fresh(number):
    '''Compiles a kernel that nobody else has.'''
    text = f"import pestle as ti\\n@ti.kernel\\ndef f(n: ti.i32) -> ti.i32:\\n    return n * {number} + 1\\n"
    import linecache
    name = f"<{number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {}
    exec(compile(text, name, "exec"), scope)
    return scope["f"](3) == number * 3 + 1

def fork(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(50)
        try:
            os._exit(0 if work() else 1)
        except BaseException as error:
            print("child:", repr(error), file=sys.stderr, flush=True)
            os._exit(2)
    return pid

def wait(*pids):
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
"""


def test_fork_before_and_after_use(tmp_path):
    text = """
print(wait(fork(right), fork(lambda: fresh(1001))))        # the child is the first to use it
assert right(2)
print(wait(fork(right), fork(lambda: fresh(1002)), fork(lambda: right(3))))
print(wait(fork(lambda: wait(fork(right), fork(lambda: fresh(1003))) == [0, 0] and right())))  # of a child's child
print(right(), fresh(1004))
"""
    assert process.run(tmp_path, KERNELS + text) == "[0, 0]\n[0, 0, 0]\n[0]\nTrue True\n"


def test_fork_while_threads_launch_and_compile(tmp_path):
    text = """
assert right(2)
stop = False
failed = []
def launch():
    while not stop:
        if not right():
            failed.append("launch")
def build(first):
    number = first
    while not stop:
        number += 1
        if not fresh(number):
            failed.append("build")
threads = [threading.Thread(target=launch), threading.Thread(target=launch), threading.Thread(target=build, args=(10000,)),
           threading.Thread(target=build, args=(20000,))]
[t.start() for t in threads]
codes = []
for turn in range(12):
    time.sleep(0.005)
    codes += wait(fork(lambda: right() and fresh(30000 + turn) and right(2)))
stop = True
[t.join() for t in threads]
print(codes == [0] * 12, failed)
"""
    assert process.run(tmp_path, KERNELS + text, PESTLE_CACHE_DIR=str(tmp_path / "cache")) == "True []\n"


def test_fork_in_another_thread(tmp_path):
    text = """
assert right(2)
codes = []
thread = threading.Thread(target=lambda: codes.extend(wait(fork(lambda: right() and fresh(77)))))
thread.start()
thread.join()
print(codes)
"""
    assert process.run(tmp_path, KERNELS + text) == "[0]\n"


def test_several_processes_with_an_empty_cache(tmp_path):
    text = "print(right(), all(fresh(n) for n in range(20)))\n"
    env = process.environment({"PESTLE_CACHE_DIR": str(tmp_path / "cache")})
    command = process.command(tmp_path, KERNELS + text)
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) for _ in range(4)]
    assert [child.communicate(timeout=60) for child in children] == [("True True\n", "")] * 4
    assert not [name for name in os.listdir(tmp_path / "cache") if name.startswith("tmp-")]


@ti.kernel
def square_sum(x: A) -> ti.f64:
    s = ti.f64(0)
    for i in x:
        s += x[i] * x[i]
    return s


def in_worker(n):
    return square_sum(np.arange(n, dtype=np.float64))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method, tmp_path):
    sizes = [10, 1000, 100000, 3]
    want = [sum(i * i for i in range(n)) for n in sizes]
    if method == "fork":
        square_sum(np.arange(10.0))
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(in_worker, sizes) == want
        return
    # Children import the program's file; pytest's own cannot be imported by its name.
    text = """
import multiprocessing
@ti.kernel
def square_sum(x: A) -> ti.f64:
    s = ti.f64(0)
    for i in x:
        s += x[i] * x[i]
    return s
def in_worker(n):
    return square_sum(np.arange(n, dtype=np.float64))
if __name__ == "__main__":
    square_sum(np.arange(10.0))
    with multiprocessing.get_context("%s").Pool(2) as pool:
        print(pool.map(in_worker, %r) == %r)
""" % (method, sizes, want)
    assert process.run(tmp_path, text) == "True\n"


ENDINGS = {
    "in a launch": "def work():\n    spin(np.zeros(100, np.int32))\n",
    "launching": "def work():\n    while True:\n        right()\n",
    "compiling": "def work():\n    n = threading.get_ident() % 100000\n    while True:\n        n += 1\n        fresh(n)\n",
}


@pytest.mark.parametrize("doing", ENDINGS)
def test_the_end_with_daemon_threads(tmp_path, doing):
    text = KERNELS + ENDINGS[doing] + "assert right(2)\n"
    text += "for _ in range(3):\n    threading.Thread(target=work, daemon=True).start()\n"
    text += "time.sleep(float(sys.argv[1]))\nprint('end', flush=True)\n"
    command = process.command(tmp_path, text)
    env = process.environment({"PESTLE_CACHE_DIR": str(tmp_path / "cache")})
    for turn in range(3):
        start = time.monotonic()
        done = subprocess.run([*command, str(0.02 * turn)], capture_output=True, text=True, timeout=60, env=env)
        assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", ""), turn
        assert time.monotonic() - start < 30


def test_the_end_in_other_ways(tmp_path):
    text = KERNELS + "assert right(2)\nthreading.Thread(target=spin, args=(np.zeros(9, np.int32),), daemon=True).start()\n"
    text += "time.sleep(0.05)\n"
    for ending, code in {"sys.exit(3)": 3, "os._exit(4)": 4, "os.kill(os.getpid(), signal.SIGKILL)": -signal.SIGKILL}.items():
        done = process.run(tmp_path, text + ending + "\n", check=False)
        assert (done.returncode, done.stderr) == (code, "")
    done = process.run(tmp_path, text + "import atexit\natexit.register(lambda: print(right(), fresh(5)))\n")
    assert done == "True True\n"


def test_threads_that_are_waited_for(tmp_path):
    text = "thread = threading.Thread(target=lambda: (time.sleep(0.1), print(right(), fresh(6))))\nthread.start()\n"
    assert process.run(tmp_path, KERNELS + text) == "True True\n"


def test_workers_do_not_take_signals(tmp_path):
    """A signal to the process goes to a thread of Python's own, and its handler runs."""
    text = """
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
assert right(4)
for _ in range(20):
    os.kill(os.getpid(), signal.SIGUSR1)
    right()
time.sleep(0.01)
print(len(seen) > 0)
"""
    assert process.run(tmp_path, KERNELS + text) == "True\n"
