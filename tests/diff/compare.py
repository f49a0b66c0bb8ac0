"""Runs random programs every way there is and compares bits:

    python compare.py [--seconds S] [--count N] [--seed FIRST] [--values] [--refused]

The evaluator (which shares nothing with code generation) is the oracle; against it: compiled on 1 and on 2 threads, and
checked on 2, of every fourth program with overflow="error"; the IR is verified after every pass. Checked mode may also stop at a fault: then the evaluator must
stop at the same one. NaNs count as equal whatever their payload. The programs are those of programs.py, with --values those
of values.py.

A process of its own runs the programs, and a crash or a hang (a minute for one program) of it is a difference like others.
The first is printed with its program, made shorter by shrink.py, and the exit code is 1. --refused prints what was refused.
"""

import argparse
import gc
import itertools
import linecache
import os
import queue
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import programs
import values

import pestle as ti

FAULT = ("raised", "KernelAssertionError")
NUMPY = {"i": "int", "u": "uint", "f": "float"}  # and the bits
PATIENCE = 60  # seconds for a program
VERSIONS = itertools.count(1)  # made by shrink.py: a file's text is read once


# -- a program --


class Loaded:
    """A program's functions, after its text ran."""

    def __init__(self, program, source, seed):
        name = f"<random program {seed}{'' if source == program.source else f', version {next(VERSIONS)}'}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        self.scope = {"ti": ti, "__name__": "random_program"}
        exec(compile(source, name, "exec"), self.scope)
        self.kernel = self.scope["kernel"]
        self.fields = self.scope.get("fields", [])
        rng = np.random.default_rng(seed + 1)
        self.contents = [filled(field.to_numpy(), rng) for field in self.fields]
        self.launch = self.scope.get("launch") or (lambda call, a: call(*a, *[value for _, value in program.scalars]))


def fill(rng, dtype, shape):
    if dtype[0] != "f":
        return rng.integers(0 if dtype[0] == "u" else -100, 100, shape).astype(NUMPY[dtype[0]] + dtype[1:])
    array = np.asarray(rng.standard_normal(shape) * 10).astype("float" + dtype[1:])
    array[rng.random(shape) < 0.02] = rng.choice([np.inf, -np.inf, np.nan, -0.0, 6e4])
    return array


def arguments(program, seed):
    rng = np.random.default_rng(seed)
    return [fill(rng, dtype, shape) for dtype, shape, *_ in program.arrays]


def in_order(program, arrays):
    """Copies, each in the order of memory that the program wants."""
    made = []
    for array, (_, _, *order) in zip(arrays, program.arrays):
        order = order[0] if order else "C"
        copy = array.copy(order="F" if order == "F" else "C")
        made.append(np.ascontiguousarray(copy[::-1])[::-1] if order == "reversed" else copy)
    return made


def filled(data, rng):
    """Contents for a field, or for each member of one of structs."""
    if isinstance(data, dict):
        return {name: filled(member, rng) for name, member in data.items()}
    kind = {"i": "i", "u": "u", "f": "f"}[data.dtype.kind]
    return fill(rng, kind + str(8 * data.dtype.itemsize), data.shape).astype(data.dtype)


def flat(value):
    """Arrays of what a kernel gave, or a field holds."""
    if isinstance(value, (tuple, list)):
        return [array for part in value for array in flat(part)]
    if isinstance(value, dict):
        return [array for part in value.values() for array in flat(part)]
    if isinstance(value, ti.Struct):
        return flat(value.to_dict())
    if isinstance(value, ti.Matrix):
        return [value.to_numpy()]
    return [np.asarray(value)]


def outcome(call, loaded, program, arrays):
    """What a call gives: its head, "result" or the class and text of an exception, and the arrays afterwards."""
    arrays = in_order(program, arrays)
    for field, contents in zip(loaded.fields, loaded.contents):
        field.from_numpy(contents)
    try:
        result = loaded.launch(call, arrays)
    except ti.CompilationError as error:
        return ("refused", str(error)), []
    except Exception as error:
        return ("raised", type(error).__name__, str(error)), []
    return ("result",), flat(result) + arrays + flat([field.to_numpy() for field in loaded.fields])


# -- comparing --


def same(a, b):
    (head_a, arrays_a), (head_b, arrays_b) = a, b
    return head_a == head_b and len(arrays_a) == len(arrays_b) and all(same_bits(x, y) for x, y in zip(arrays_a, arrays_b))


def same_bits(x, y):
    if x.dtype.kind == "f":
        nan = np.isnan(x)
        if (nan != np.isnan(y)).any():
            return False
        x, y = np.where(nan, 0, x), np.where(nan, 0, y)
    return x.tobytes() == y.tobytes()


def compare(program, source, seed):
    """(mode, oracle, found) of the first difference, or None; and whether it is refused, and why."""
    arrays, loaded, plain = arguments(program, seed), Loaded(program, source, seed), None
    for checked, threads in ((False, (1, 2)), (True, (2,))):
        options = {"checked": checked, "random_seed": seed, "offline_cache": seed % 10 == 0}
        if checked and seed % 4 == 3:
            options["overflow"] = "error"
        ti.init(threads=1, **options)
        oracle = outcome(loaded.kernel._evaluate, loaded, program, arrays)
        for n in threads:
            ti.init(threads=n, **options)
            found = outcome(loaded.kernel, loaded, program, arrays)
            if not same(oracle, found):
                return (f"{'checked' if checked else 'compiled'}, {n} thread{'s' * (n > 1)}", oracle, found), None
        if not checked:
            plain = oracle
        elif oracle[0][:2] != FAULT and not same(plain, oracle):
            return ("checked mode", plain, oracle), None
    return None, None if plain[0][0] == "result" else plain[0]


def describe(seed, source, difference):
    mode, oracle, found = difference
    lines = [f"seed {seed}: {mode} differs from the evaluator", source, f"evaluator: {oracle[0]}\n{mode}: {found[0]}"]
    for k, (x, y) in enumerate(zip(oracle[1], found[1])):
        if not same_bits(x, y):
            where = np.argwhere(~((x == y) | ((x != x) & (y != y))))
            at = tuple(int(i) for i in where[0]) if len(where) else ()
            lines.append(f"result {k}{list(at)}: {x[at]!r} against {y[at]!r}; {len(where)} elements differ")
    return "\n".join(lines)


# -- the process that runs programs, and the one that watches it --


def work(options, maker):
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    gc.disable()
    seed = options.seed
    while True:
        if seed % 100 == 0:
            gc.collect()
        print("seed", seed, flush=True)
        program = maker(seed)
        difference, refused = compare(program, program.source, seed)
        if difference:
            print("it differs", flush=True)
            if options.shrink:
                from shrink import shrink

                source = shrink(program.source, difference[0], lambda text: compare(program, text, seed)[0])
                difference = compare(program, source, seed)[0] or difference
                print(describe(seed, source, difference), flush=True)
            else:
                print(describe(seed, program.source, difference), flush=True)
            return 1
        if refused:
            print("refused", flush=True)
            if options.refused:
                print(seed, *refused, file=sys.stderr, flush=True)
        seed += 1


class Watched:
    """A worker and what it says, line by line."""

    def __init__(self, options, seed):
        words = [sys.executable, __file__, "--work", "--seed", str(seed)]
        words += [f"--{name}" for name in ("values", "refused", "shrink") if getattr(options, name)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={"PESTLE_VERIFY": "1", **os.environ})
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def stop(self):
        self.process.kill()
        self.process.wait()


def watch(options):
    start, done, refused, current, report = time.perf_counter(), -1, 0, options.seed, []
    worker = Watched(options, options.seed)
    failure, patience = None, PATIENCE
    try:
        while not failure:
            try:
                line = worker.lines.get(timeout=patience)
            except queue.Empty:
                failure = f"seed {current}: nothing for {PATIENCE} s"
                break
            if line is None:
                failure = "".join(report) or f"seed {current}: the process ended with {worker.process.wait()}"
            elif line.startswith("seed ") and line[5:].strip().isdigit():
                current, done = int(line[5:]), done + 1
                if done >= options.count or time.perf_counter() - start >= options.seconds:
                    break
            elif line == "refused\n":
                refused += 1
            elif line != "it differs\n":
                report.append(line)
            else:
                patience = 20 * PATIENCE
    finally:
        worker.stop()
    if failure:
        print(failure)
        return 1
    seconds = time.perf_counter() - start
    print(f"{done} programs from seed {options.seed} in {seconds:.0f} s, no difference ({refused} of them refused by all)")
    return 0 if refused <= 2 + 0.05 * done else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=0)
    for name in ("values", "refused", "shrink", "work"):
        parser.add_argument(f"--{name}", action="store_true")
    options = parser.parse_args()
    if options.work:
        return work(options, values.Program if options.values else programs.Program)
    return watch(options)


if __name__ == "__main__":
    sys.exit(main())
