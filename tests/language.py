"""Runs a kernel every way there is and compares: compiled, by the evaluator, checked, as plain Python."""

import contextlib
import io

import numpy as np

import pestle as ti


def _copies(args):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def _same(a, b):
    if isinstance(a, np.ndarray):
        return a.tobytes() == b.tobytes()
    return (a != a and b != b) or (type(a) is type(b) and a == b)


def _run(call, args):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        result = call(*args)
    return result, args, out.getvalue()


def _run_with(options, call, args):
    ti.init(**options)
    try:
        return _run(call, args)
    finally:
        ti.reset()


def run(kernel, *args):
    """Launches the kernel on `args`; the evaluator, checked mode and plain Python must do the same, to the bit."""
    given = _copies(args)
    others = [
        ("evaluator", _run(kernel._evaluate, _copies(args))),
        ("checked", _run_with({"checked": True}, kernel, _copies(args))),
        ("plain Python", _run_with({"arch": ti.python}, kernel, _copies(args))),
    ]
    result = _run(kernel, args)
    for name, other in others:
        assert _same(result[0], other[0]), f"{name}: {other[0]!r}, compiled: {result[0]!r}"
        assert result[2] == other[2], f"{name} printed {other[2]!r}, compiled {result[2]!r}"
        for i, (a, b) in enumerate(zip(result[1], other[1])):
            assert _same(a, b), f"{name}: argument {i} is {b!r}, compiled: {a!r}, was {given[i]!r}"
    return result[0]


def printed(kernel, *args):
    """What a launch prints."""
    out = _run(kernel, _copies(args))[2]
    run(kernel, *args)
    return out


def both(kernel, *args):
    """What a kernel gives compiled; checks that plain Python gives the same, to the bit."""
    found = []
    for arch in (ti.cpu, ti.python):
        ti.init(arch=arch)
        given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        result = kernel(*given)
        found.append((result, type(result), [a.tobytes() for a in given if isinstance(a, np.ndarray)]))
    assert found[0] == found[1]
    return found[0][0]
