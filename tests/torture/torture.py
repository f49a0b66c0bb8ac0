"""The campaign of faults: make torture. Counts what was tried, and what came out wrong, hung or crashed: nothing may.

    torture.py [--short] [--seed N] [PART ...]

Each try is a forked child in which something fails: an allocation, the file of a compiled kernel, its directory, the child
itself. It may then raise an exception; what it computes must be right, and once the fault is over everything works again.

Not here: what the compiler refuses (tests/reject), sanitizers (make check-hostile), random programs (tests/diff).
"""

import argparse
import errno
import gc
import json
import linecache
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings

os.environ.update(PESTLE_NUM_THREADS="2")
for name in ("PESTLE_CACHE_DIR", "PESTLE_DUMP", "PESTLE_TIME", "PESTLE_CPU", "PESTLE_CACHE_LIMIT_MB"):
    os.environ.pop(name, None)

import pestle as ti
from pestle import _pestle

from answers import NAMES, call

VICTIMS = pathlib.Path(__file__).with_name("victims.py")
CODE = compile("".join(linecache.getlines(str(VICTIMS))), str(VICTIMS), "exec")
HANG = 30  # seconds; machines that run this may be busy
FINE, RAISED, WRONG = 0, 10, 11  # not 1, with which sanitizers end a process


def kernels(number):
    """The kernels with a number of their own."""
    scope = {"__name__": "victims", "__file__": str(VICTIMS)}
    exec(CODE, scope)
    scope["NUMBER"] = number
    return scope


# -- children


class Child:
    """A forked process that runs work() and ends with its number: FINE, RAISED, WRONG."""

    def __init__(self, work, folder):
        self.log = tempfile.TemporaryFile(dir=folder)
        self.started = time.monotonic()
        self.pid = os.fork()
        if self.pid:
            return
        code = 9
        try:
            os.dup2(self.log.fileno(), 1)
            os.dup2(self.log.fileno(), 2)
            sys.stdout = os.fdopen(1, "w", closefd=False)
            sys.stderr = os.fdopen(2, "w", closefd=False)
            warnings.simplefilter("ignore")
            code = work()
            sys.stdout.flush()
        except BaseException:
            _pestle._alloc_fail_after(-1)
            traceback.print_exc()
            sys.stderr.flush()
            code = WRONG
        finally:
            os._exit(code)

    def wait(self, hang=HANG):
        """Its end: "fine", "raised", "wrong", "hang", or "crash"; and what it printed."""
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - self.started > hang:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                return self.end("hang")
            time.sleep(0.0005)
        code = os.waitstatus_to_exitcode(status)
        return self.end({FINE: "fine", RAISED: "raised", WRONG: "wrong"}.get(code, f"crash ({code})"))

    def end(self, how):
        self.log.seek(0)
        text = self.log.read().decode(errors="replace")
        self.log.close()
        return how, text


class Part:
    """The counts of one kind of fault."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.tried = self.raised = 0
        self.bad = {"wrong": [], "hang": [], "crash": []}

    def note(self, how, text, what):
        self.tried += 1
        self.raised += how == "raised"
        if how not in ("fine", "raised"):
            self.bad[how.split()[0]].append(f"{what}: {how}\n{text[-1500:]}")

    def run(self, work, what, hang=HANG):
        how, text = Child(work, self.folder).wait(hang)
        self.note(how, text, what)
        return how, text

    def check(self, right, what):
        self.note("fine" if right else "wrong", "", what)


def use(directory):
    """The cache directory of this child; its store has not been opened yet."""
    os.environ["PESTLE_CACHE_DIR"] = str(directory)


def all_right(scope, number):
    return FINE if all(call(scope, name, number) for name in NAMES) else WRONG


# -- allocations


class Failing:
    """Around a launch: something fails in it."""

    def __init__(self, begin, end):
        self.begin, self.end, self.failed = begin, end, True

    def __enter__(self):
        self.begin()

    def __exit__(self, *_):
        self.failed = self.end()


def failing(scope, name, number, directory, around):
    """In a child: a launch with a failing allocation, then one without. An exception or the right answer."""

    def work():
        use(directory)
        code = FINE
        try:
            if not call(scope, name, number, around):
                return WRONG
        except SystemError:  # an error without an exception
            raise
        except Exception:
            code = RAISED
        print("failed" if around.failed else "enough", flush=True)
        return code if call(scope, name, number) else WRONG

    return work


def allocations(part, short, rng):
    """Each allocation of Pestle's own in turn: cold, with a cache, checked."""
    chosen = rng.choice(NAMES[1:])
    for checked in (False, True):
        ti.init(checked=checked)
        for name in NAMES if not short else ("total", chosen):
            for warm in (False, True):
                directory = part.folder / f"alloc-{name}-{checked}"
                scope = kernels(7)
                if warm:
                    part.run(lambda: (use(directory), all_right(scope, 7))[1], "warming up")
                step = rng.randrange(4, 9) if short else 1
                for n in range(0, 3000, step):
                    around = Failing(lambda n=n: _pestle._alloc_fail_after(n), lambda: _pestle._alloc_fail_after(-1) < 0)
                    at = directory if warm else part.folder / "alloc-cold"
                    how, text = part.run(failing(scope, name, 7, at, around), f"{name}, {'warm' if warm else 'cold'}, allocation {n}")
                    if not warm:
                        shutil.rmtree(at, ignore_errors=True)
                    if "enough" in text:
                        break
    ti.reset()


def python_allocations(part, short, rng):
    """One of Python's allocations fails, anywhere in a first call: the front end, arguments, results, exceptions."""
    try:
        from _testcapi import remove_mem_hooks, set_nomemory
    except ImportError:
        return

    def points():
        """Densely at first, then ever more rarely; all of them would take an hour."""
        n = 1
        while n < 40000:
            yield n
            n += 1 + rng.randrange(1 + n // (4 if short else 40))

    scope = kernels(8)
    gc.disable()
    for name in NAMES if not short else (rng.choice(NAMES),):
        for n in points():
            around = Failing(lambda n=n: set_nomemory(n, n + 1), remove_mem_hooks)
            part.run(failing(scope, name, 8, part.folder / "python", around), f"{name}, Python's allocation {n}")


# -- files


def damages(data, short, rng):
    """(what, the damaged bytes)"""
    size = len(data)
    count = 2 if short else 60
    for at in sorted({0, 1, 8, size - 1, size - 32, size - 40, *(rng.randrange(size) for _ in range(count))}):
        yield f"cut to {at} of {size} bytes", data[:at]
    for at in [rng.randrange(size) for _ in range(count)]:
        long = rng.choice((1, 8, 64, 512, 4096))
        yield f"{long} zeros at {at}", data[:at] + bytes(min(long, size - at)) + data[at + long :]
    for bit in [*range(0, 512, 128 if short else 8), *(rng.randrange(8 * size) for _ in range(2 * count))]:
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit} flipped", bytes(flipped)
    yield "empty", b""
    yield "one byte more", data + b"\0"
    yield "twice", data + data
    yield "noise", rng.randbytes(size)
    yield "zeros", bytes(size)


def read_all(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir() if not path.name.startswith("tmp-")}


def files(part, short, rng):
    """Files of the cache cut, zeroed, bit-flipped, exchanged, replaced by what is no file."""
    scope = kernels(9)
    directory = part.folder / "files"
    part.run(lambda: (use(directory), all_right(scope, 9))[1], "warming up")
    good = read_all(directory)
    assert len(good) == len(NAMES)

    def work():
        use(directory)
        return all_right(scope, 9)

    def attempt(what):
        part.run(work, what)
        now = read_all(directory)
        part.check(now == good, f"{what}: not the same files again")

    for name, data in rng.sample(sorted(good.items()), 2 if short else len(good)):
        for what, bad in damages(data, short, rng):
            if bad == data:
                continue
            (directory / name).write_bytes(bad)
            attempt(f"{name[:8]}: {what}")
    names = rng.sample(sorted(good), 2 if short else len(good))
    for a, b in zip(names, names[1:]):  # each in the other's place
        (directory / a).write_bytes(good[b])
        (directory / b).write_bytes(good[a])
        attempt("files exchanged")
    for name in names:
        path = directory / name
        for what, make in {
            "a link": lambda p: p.symlink_to(directory / names[0]),
            "a dangling link": lambda p: p.symlink_to(directory / "nothing"),
            "a FIFO": os.mkfifo,
        }.items():
            path.unlink()
            make(path)
            attempt(f"{name[:8]}: {what}")
        path.unlink()
        path.mkdir()
        part.run(work, f"{name[:8]}: a folder")
        path.rmdir()
        attempt("gone")
        with open(path, "wb") as file:
            file.truncate(1 << 40)
        attempt(f"{name[:8]}: a terabyte of nothing")


# -- directories


def as_nobody():
    """Gives up root, whom no permission stops; False when it cannot."""
    if os.geteuid() != 0:
        return True
    try:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        return True
    except OSError:
        return False


def own(path, mode):
    path.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    path.chmod(mode)
    return path


def directories(part, short, rng):
    """The cache's directory read-only, missing, somebody else's, a file, full; no more file descriptors."""
    scope = kernels(10)
    part.folder.chmod(0o755)

    def with_(directory, before=lambda: None, between=lambda: None):
        def work():
            use(directory)
            before()
            if all_right(scope, 10):
                return WRONG
            between()
            return FINE if call(kernels(11), "told", 11) else WRONG

        return work

    def nobody():
        if not as_nobody():
            os._exit(FINE)

    def limit_file_size(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    def no_descriptors():
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
        try:
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        except OSError as error:
            assert error.errno == errno.EMFILE
        held.append(None)

    held = []
    warm = part.folder / "warm"
    part.run(with_(warm), "warming up")
    for turn in range(1 if short else 5):
        part.run(with_(own(part.folder / f"read-only-{turn}", 0o500), nobody), "a read-only directory")
        part.run(with_(own(part.folder / f"no-entry-{turn}", 0o000), nobody), "a directory without permissions")
        part.run(with_(own(part.folder / f"closed-{turn}", 0o500) / "below" / "it", nobody), "a directory that cannot be made")
        part.run(with_(own(part.folder / f"open-{turn}", 0o777), nobody), "a directory open to everybody")
        part.run(with_(warm, nobody), "somebody else's directory")
        (part.folder / "file").write_text("x")
        part.run(with_(part.folder / "file"), "a file for a directory")
        part.run(with_(part.folder / "file" / "below"), "a directory below a file")
        part.run(with_("/dev/null"), "a device for a directory")
        part.run(with_("/proc/self/task"), "a directory that cannot hold files")
        part.run(with_("x" * 300), "a name too long")
        part.run(with_(str(part.folder) + "/y" * 3000), "a path too long")
        part.run(with_(""), "no name")
        loop = part.folder / f"loop-{turn}"
        loop.symlink_to(loop)
        part.run(with_(loop), "a link to itself")
        gone = part.folder / f"gone-{turn}"
        part.run(with_(gone, between=lambda gone=gone: shutil.rmtree(gone)), "removed while running")
        for size in (0, 1, 100, 4096, rng.randrange(2000, 9000)):
            full = part.folder / f"full-{turn}-{size}"
            part.run(with_(full, lambda size=size: limit_file_size(size)), f"files of at most {size} bytes")
            left = [path.name for path in full.iterdir()] if full.exists() else []
            part.check(not any(name.startswith("tmp-") for name in left), f"after at most {size} bytes: {left}")
            part.run(with_(full), "after that")
        part.run(with_(warm, before=no_descriptors), "no file descriptors, with a cache")

        def without_descriptors():
            use(part.folder / "descriptors")
            no_descriptors()
            try:
                if all_right(scope, 10):
                    return WRONG
            except Exception as error:
                print(error)
            for fd in held[:-1]:
                os.close(fd)
            return all_right(scope, 10)

        part.run(without_descriptors, "no file descriptors for a while")
        tiny = part.folder / f"tiny-{turn}"
        tiny.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={rng.choice((4, 8, 12))}k,mode=700", "tmpfs", str(tiny)],
                                 capture_output=True).returncode == 0  # fmt: skip
        if mounted:
            try:
                part.run(with_(tiny), "a full file system")
                part.run(with_(tiny), "a full file system, again")
                subprocess.run(["mount", "-o", "remount,ro", str(tiny)], capture_output=True)
                part.run(with_(tiny), "a read-only file system")
            finally:
                subprocess.run(["umount", "-l", str(tiny)], capture_output=True)


# -- kills, crowds


def worker(seed, directory, count):
    """Compiles and runs a few kernels of a small family, so that several children meet at the same files."""
    rng = random.Random(seed)
    use(directory)
    for _ in range(count):
        number = rng.randrange(20, 26)
        scope = kernels(number)
        if not call(scope, rng.choice(NAMES), number):
            return WRONG
    return FINE


def kills(part, short, rng):
    """Children killed at any moment while they compile and write; others, and those after them, go on."""
    directory = part.folder / "kills"
    for turn in range(8 if short else 300):
        children = [Child(lambda s=rng.random(): worker(s, directory, 50), part.folder) for _ in range(3)]
        time.sleep(rng.random() * 0.05)
        for child in children[:2]:
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)
            child.end("")
            part.tried += 1
        os.kill(children[2].pid, signal.SIGTERM)
        os.waitpid(children[2].pid, 0)
        children[2].end("")
        if turn % 5 == 0:
            part.run(lambda s=rng.random(): worker(s, directory, 12), f"after kill {turn}")
            if rng.random() < 0.3:
                shutil.rmtree(directory, ignore_errors=True)


def crowd(part, short, rng):
    """Sixteen processes on one cache, while its files are damaged, removed and evicted."""
    for turn in range(1 if short else 12):
        directory = part.folder / f"crowd-{turn}"
        limit = rng.choice((None, "0", "1"))

        def work(seed):
            if limit:
                os.environ["PESTLE_CACHE_LIMIT_MB"] = limit
            return worker(seed, directory, 6 if short else 25)

        children = [Child(lambda s=rng.random(): work(s), part.folder) for _ in range(16)]
        deadline = time.monotonic() + (0.2 if short else 3)
        while time.monotonic() < deadline:
            try:
                paths = list(directory.iterdir())
                path = rng.choice(paths) if paths else None
                if path and rng.random() < 0.5:
                    path.unlink()
                elif path:
                    os.truncate(path, rng.randrange(1 + path.stat().st_size))
            except OSError:
                pass
            time.sleep(0.002)
        for child in children:
            part.note(*child.wait(4 * HANG), "one of sixteen")


# -- threads, forks, interrupts


def threads_and_forks(part, short, rng):
    """Threads launch, compile and fork at once; children launch, compile and fork."""
    use(part.folder / "threads")

    def one(seed, until, deep, bad):
        rng = random.Random(seed)
        while time.monotonic() < until:
            number = rng.randrange(40, 80)
            scope = kernels(number)
            if rng.random() < 0.1 and deep:
                pid = os.fork()
                if pid == 0:
                    signal.alarm(HANG)
                    code = 3
                    try:
                        code = FINE if call(scope, rng.choice(NAMES), number) and not many(seed + 1, 0.05, 2, False) else WRONG
                    finally:
                        os._exit(code)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                forks.append(code)
                if code:
                    bad.append(f"a fork's child: {code}")
            elif not call(scope, rng.choice(NAMES), number):
                bad.append("a launch")

    forks = []

    def many(seed, seconds, count, deep):
        bad = []
        until = time.monotonic() + seconds
        threads = [threading.Thread(target=one, args=(seed + 100 * i, until, deep, bad)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return bad

    for turn in range(2 if short else 20):

        def work(seed=rng.randrange(1 << 30)):
            ti.init(threads=1 + seed % 3)
            bad = many(seed, 0.4 if short else 3, 4, True)
            print(len(forks), "forks", bad)
            return WRONG if bad else FINE

        how, text = part.run(work, f"turn {turn}", 4 * HANG)
        forked = text.split(" forks")[0].split()[-1:] if " forks" in text else []
        part.tried += int(forked[0]) if forked and forked[0].isdigit() else 0


def interrupts(part, short, rng):
    """Ctrl-C at any moment of a first call; then the call again."""
    for turn in range(12 if short else 600):
        number = rng.randrange(100, 100000)
        name = rng.choice(NAMES)
        after = rng.random() * 0.02

        def work():
            use(part.folder / "interrupts")
            code = FINE
            signal.signal(signal.SIGINT, signal.default_int_handler)
            scope = kernels(number)
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, after)
                    if not call(scope, name, number):
                        return WRONG
                    time.sleep(0.1)
                except KeyboardInterrupt:
                    code = RAISED
            except KeyboardInterrupt:
                code = RAISED
            signal.setitimer(signal.ITIMER_REAL, 0)
            return code if call(scope, name, number) else WRONG

        def interrupted():
            signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
            return work()

        part.run(interrupted, f"{name} after {after * 1000:.1f} ms")


PARTS = (allocations, python_allocations, files, directories, kills, crowd, threads_and_forks, interrupts)


def main():
    names = [part.__name__.replace("_", "-") for part in PARTS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="some seconds")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(names))
    options = parser.parse_args()
    unknown = set(options.parts) - set(names)
    if unknown:
        parser.error(f"no part is called {', '.join(unknown)}; there are {', '.join(names)}")
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 31)
    print(f"torture: seed {seed}", flush=True)
    # LLVM is opened here, once, by a kernel that goes into no cache; the store is not.
    root = pathlib.Path(tempfile.mkdtemp(prefix="pestle-torture-"))
    ti.init(offline_cache=False)
    assert kernels(1)["first"](3) == 4
    ti.reset()
    total = {"tried": 0, "raised": 0, "wrong": 0, "hang": 0, "crash": 0}
    findings = []
    print(f"{'':20}{'tried':>8}{'raised':>8}{'wrong':>8}{'hung':>8}{'crashed':>8}{'s':>8}", flush=True)
    try:
        for work in PARTS:
            name = work.__name__.replace("_", "-")
            if options.parts and name not in options.parts:
                continue
            folder = root / name
            folder.mkdir()
            part = Part(name, folder)
            os.chdir(folder)  # for what a relative path makes
            start = time.monotonic()
            work(part, options.short, random.Random(f"{seed} {name}"))
            counts = {"tried": part.tried, "raised": part.raised, **{kind: len(found) for kind, found in part.bad.items()}}
            print(f"{name:20}" + "".join(f"{n:>8}" for n in counts.values()) + f"{time.monotonic() - start:>8.1f}", flush=True)
            for kind, n in counts.items():
                total[kind] += n
            findings += [f"{name}: {text}" for found in part.bad.values() for text in found]
    finally:
        os.chdir("/")
        subprocess.run(["rm", "-rf", str(root)])  # also what is too deep for Python
    print(f"{'all':20}" + "".join(f"{n:>8}" for n in total.values()))
    for text in findings[:20]:
        print("\n" + text)
    print(json.dumps(total))
    return 1 if findings or not total["tried"] else 0


if __name__ == "__main__":
    sys.exit(main())
