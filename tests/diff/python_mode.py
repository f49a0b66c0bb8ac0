"""Runs random programs as plain Python and compares them with the evaluator, bit by bit:

    python python_mode.py [--seconds S] [--count N] [--seed FIRST]

A program with sums of floats over a parallel loop may differ: the order of such sums is compiled code's own.
"""

import argparse
import re
import sys
import time
import warnings

from compare import define, describe, outcome, same
from programs import Program

import pestle as ti

FLOAT_SUM = re.compile(r"^    s\d+(: ti\.f64)? = 0\.0$", re.M)


def without_place(found):
    """An exception's message without the place: a traceback has that."""
    head, arrays = found
    return (*head[:2], head[2].rpartition("\n")[2]) if head[0] == "raised" else head, arrays


def check(seed):
    program = Program(seed)
    for checked in (False, True):
        ti.init(checked=checked)
        kernel = define(program, seed)
        oracle = without_place(outcome(kernel._evaluate, program, seed))
        if oracle[0][0] == "refused":
            return "refused"
        ti.init(arch=ti.python, checked=checked)
        found = without_place(outcome(kernel, program, seed))
        if not same(oracle, found) and FLOAT_SUM.search(program.source):
            return "left out"
        if not same(oracle, found):
            return describe(seed, program, "plain Python", oracle, found)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    start, done, other = time.perf_counter(), 0, 0
    while done < options.count and time.perf_counter() - start < options.seconds:
        difference = check(options.seed + done)
        if difference and difference not in ("refused", "left out"):
            print(difference)
            return 1
        other += difference is not None
        done += 1
    print(f"{done} programs, no difference ({other} of them refused or left out)")
    return 0 if other < 0.2 * done else 1


if __name__ == "__main__":
    sys.exit(main())
