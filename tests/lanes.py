"""What tests of lanes ask of a kernel."""

import numpy as np

import pestle as ti


def copied(args):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def same(kernel, *args):
    """Compiled, by 1 and by 2 threads, and checked: what the evaluator gives back and leaves in the arrays."""
    expected = copied(args)
    result = kernel._evaluate(*expected)
    for options in {"threads": 1}, {"threads": 2}, {"checked": True}:
        ti.init(**options)
        found = copied(args)
        try:
            assert kernel(*found) == result, options
        finally:
            ti.reset()
        for i, (a, b) in enumerate(zip(expected, found)):
            same_bits = a.tobytes() == b.tobytes() if isinstance(a, np.ndarray) else True
            assert same_bits, f"{options}, argument {i}: {a} against {b}"
