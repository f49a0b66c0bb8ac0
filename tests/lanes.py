"""What tests of lanes ask of a kernel."""

import pestle as ti


def same(kernel, *args):
    """Compiled, by 1 and by 2 threads, and checked: what the evaluator leaves in the arrays."""
    expected = [a.copy() for a in args]
    kernel._evaluate(*expected)
    for options in {"threads": 1}, {"threads": 2}, {"checked": True}:
        ti.init(**options)
        found = [a.copy() for a in args]
        try:
            kernel(*found)
        finally:
            ti.reset()
        for i, (a, b) in enumerate(zip(expected, found)):
            assert a.tobytes() == b.tobytes(), f"{options}, argument {i}: {a} against {b}"
