"""Runs random programs as plain Python and compares them with the evaluator, bit by bit:

    python python_mode.py [--seconds S] [--count N] [--seed FIRST] [--values]

The programs are those of programs.py, with --values those of values.py. One whose func returns
values of different types in two places may differ, as plain Python sees only one of them; so do random numbers, assertions (which are
always checked), and sums of floats from many iterations into one element. A program with sums of floats over a parallel loop may differ: the order of such sums is compiled code's own.
"""

import argparse
import re
import sys
import time
import warnings

import programs
import values
from compare import Loaded, arguments, describe, outcome, same

import pestle as ti

OTHER = re.compile(r"^        +return |ti\.rand|^ +assert |\[.*\] [-+]= |atomic_(add|sub)", re.M)
FLOAT_SUM = re.compile(r"^    s\d+(: ti\.f64)? = 0\.0$", re.M)


def without_place(found):
    """An exception's message without the place: a traceback has that."""
    head, arrays = found
    return (*head[:2], head[2].rpartition("\n")[2]) if head[0] == "raised" else head, arrays


def without_sum(found):
    """Of programs of values.py, which give the sum over their loop and do nothing else with it."""
    head, arrays = found
    return ("result", None) if head[0] == "result" else head, arrays


def check(seed, make):
    program = make(seed)
    arrays = arguments(program, seed)
    for checked in (False, True):
        ti.init(checked=checked)
        loaded = Loaded(program, program.source, seed)
        oracle = without_place(outcome(loaded.kernel._evaluate, loaded, program, arrays))
        if oracle[0][0] == "refused":
            return "refused"
        ti.init(arch=ti.python, checked=checked)
        found = without_place(outcome(loaded.kernel, loaded, program, arrays))
        if make is values.Program:
            oracle, found = without_sum(oracle), without_sum(found)
        if not same(oracle, found) and (FLOAT_SUM if make is programs.Program else OTHER).search(program.source):
            return "left out"
        if not same(oracle, found):
            return describe(seed, program.source, ("plain Python", oracle, found))
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--values", action="store_true")
    options = parser.parse_args()
    make = values.Program if options.values else programs.Program
    warnings.simplefilter("ignore")
    start, done, other = time.perf_counter(), 0, 0
    while done < options.count and time.perf_counter() - start < options.seconds:
        difference = check(options.seed + done, make)
        if difference and difference not in ("refused", "left out"):
            print(difference)
            return 1
        other += difference is not None
        done += 1
    print(f"{done} programs, no difference ({other} of them refused or left out)")
    return 0 if other < 0.2 * done else 1


if __name__ == "__main__":
    sys.exit(main())
