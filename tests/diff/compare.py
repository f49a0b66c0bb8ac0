"""Runs random programs every way there is and compares bits:

    python compare.py [--seconds S] [--count N] [--seed FIRST] [--values]

The evaluator (which shares nothing with code generation) is the oracle; against it: compiled on 1 and on 2 threads, and
checked on 2. Checked mode may also stop at a fault: then the evaluator must stop at the same one. NaNs count as equal whatever their payload. Prints the first difference with the program, and exits with 1.
The programs are those of programs.py, with --values those of values.py.
"""

import argparse
import linecache
import sys
import time
import warnings

import numpy as np
import programs
import values

import pestle as ti

MODES = {"compiled, 1 thread": (False, 1), "compiled, 2 threads": (False, 2), "checked, 2 threads": (True, 2)}
FAULT = ("raised", "KernelAssertionError")
NUMPY = {"i": "int", "u": "uint", "f": "float"}  # and the bits


def define(program, seed):
    name = f"<random program {seed}>"
    linecache.cache[name] = (len(program.source), None, program.source.splitlines(True), name)
    scope = {"ti": ti}
    exec(compile(program.source, name, "exec"), scope)
    return scope["kernel"]


def arguments(program, seed):
    rng = np.random.default_rng(seed)
    arrays = []
    for dtype, shape in program.arrays:
        numpy_type = NUMPY[dtype[0]] + dtype[1:]
        if dtype[0] != "f":
            array = rng.integers(0 if dtype[0] == "u" else -100, 100, shape).astype(numpy_type)
        else:
            array = (rng.standard_normal(shape) * 10).astype(numpy_type)
            array[rng.random(shape) < 0.02] = rng.choice([np.inf, -np.inf, np.nan, -0.0, 6e4])
        arrays.append(array)
    return arrays, [value for _, value in program.scalars]


def outcome(call, program, seed):
    """What a call gives: its result and the arrays after it, or the class and text of its exception."""
    arrays, scalars = arguments(program, seed)
    try:
        result = call(*arrays, *scalars)
    except ti.CompilationError as error:
        return ("refused", str(error)), []
    except Exception as error:
        return ("raised", type(error).__name__, str(error)), []
    return ("result", result), arrays


def same(a, b):
    (head_a, arrays_a), (head_b, arrays_b) = a, b
    if head_a[0] == head_b[0] == "result" and isinstance(head_a[1], float):
        heads = np.float64(head_a[1]).tobytes() == np.float64(head_b[1]).tobytes() or (head_a[1] != head_a[1] and head_b[1] != head_b[1])
    else:
        heads = head_a == head_b
    return heads and all(same_bits(x, y) for x, y in zip(arrays_a, arrays_b))


def same_bits(x, y):
    if x.dtype.kind == "f":
        nan = np.isnan(x)
        if (nan != np.isnan(y)).any():
            return False
        x, y = np.where(nan, 0, x), np.where(nan, 0, y)
    return x.tobytes() == y.tobytes()


def check(seed, make=programs.Program):
    """None when all ways agree, "refused" when they agree to refuse the program, else a description."""
    program = make(seed)
    oracles = {}
    for mode, (checked, threads) in MODES.items():
        ti.init(checked=checked, threads=threads)
        kernel = define(program, seed)
        if checked not in oracles:
            oracles[checked] = outcome(kernel._evaluate, program, seed)
        found = outcome(kernel, program, seed)
        if not same(oracles[checked], found):
            return describe(seed, program, mode, oracles[checked], found)
    plain, checked = oracles[False], oracles[True]
    if checked[0][:2] != FAULT and not same(plain, checked):
        return describe(seed, program, "checked mode", plain, checked)
    return None if oracles[False][0][0] == "result" else "refused"


def describe(seed, program, mode, oracle, found):
    lines = [f"seed {seed}: {mode} differs from the evaluator", program.source, f"{program.arrays} {program.scalars}"]
    lines.append(f"evaluator: {oracle[0]}\n{mode}: {found[0]}")
    for k, (x, y) in enumerate(zip(oracle[1], found[1])):
        if not same_bits(x, y):
            where = np.argwhere(~((x == y) | ((x != x) & (y != y))))
            at = tuple(where[0]) if len(where) else ()
            lines.append(f"a{k}{list(at)}: {x[at]!r} against {y[at]!r}; {len(where)} elements differ")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--values", action="store_true")
    options = parser.parse_args()
    make = values.Program if options.values else programs.Program
    warnings.simplefilter("ignore")
    start, done, refused = time.perf_counter(), 0, 0
    while done < options.count and time.perf_counter() - start < options.seconds:
        difference = check(options.seed + done, make)
        if difference and difference != "refused":
            print(difference)
            return 1
        refused += difference == "refused"
        done += 1
    print(f"{done} programs, no difference ({refused} of them refused by all)")
    return 0 if refused < 0.1 * done else 1


if __name__ == "__main__":
    sys.exit(main())
