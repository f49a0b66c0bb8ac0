"""Measure the errors of the math functions; the table goes to docs/math.md.

    check_math.py [--f32 STEP] [--own STEP] [--f64 COUNT] [NAME ...]

f32: every STEP-th bit pattern (1, the default: all 2**32 of them, a minute or two a function) of the functions of one
argument, and 2**28 / STEP pairs for those of two, against the f64 functions of numpy and the C library. With --own also
against Pestle's f64 functions, in a tenth of the time: what can be said of those is said by the other checks.
f64: COUNT values a function (20000) against mpmath, half of them of moderate size, half any bits.

An error is in units in the last place of the exact result (2**-149 and 2**-1074 at least). What should be a NaN, an
infinity or a zero of some sign and is not counts as a billion. Needs numpy and mpmath.
"""

import argparse
import math
import sys

import mpmath as mp
import numpy as np

import pestle as ti

UNARY = "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh cbrt erf".split()
UNARY += "sqrt rsqrt floor ceil round".split()  # operations of the machine
BINARY = "pow atan2 hypot".split()
NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
CHUNK = 1 << 22
WRONG = 1e9


def reference(name):
    others = {
        "erf": np.vectorize(math.erf, otypes=[np.float64]),
        "rsqrt": lambda x: 1 / np.sqrt(x),
        "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),  # halves away from zero
    }
    return others.get(name) or getattr(np, NUMPY.get(name, name))


@ti.func
def error_of(y: ti.f64, exact: ti.f64) -> ti.f64:
    """Of an f32 `y`, in units of the last place of `exact`."""
    field = (ti.bit_cast(exact, ti.u64) >> 52) & 2047
    per_unit = ti.bit_cast((2046 + 23 - ti.max(field, ti.u64(897))) << 52, ti.f64)
    limit = ti.f64(2.0) ** 128
    got = ti.min(ti.max(y, -limit), limit)  # beyond the largest float stands one more, and infinity
    want = ti.min(ti.max(exact, -limit), limit)
    error = ti.abs(got - want) * per_unit
    same_sign = (ti.bit_cast(y, ti.i64) ^ ti.bit_cast(exact, ti.i64)) >= 0
    error = ti.select(same_sign, error, ti.f64(WRONG))
    error = ti.select((y != y) | (exact != exact), ti.f64(WRONG), error)
    return ti.select((y != y) & (exact != exact), ti.f64(0), error)


@ti.kernel
def worst_of(y: ti.types.ndarray(ti.f32, 1), exact: ti.types.ndarray(ti.f64, 1)) -> ti.f64:
    worst = ti.f64(0)
    for i in y:
        ti.atomic_max(worst, error_of(ti.f64(y[i]), exact[i]))
    return worst


@ti.kernel
def errors(y: ti.types.ndarray(ti.f32, 1), exact: ti.types.ndarray(ti.f64, 1), out: ti.types.ndarray(ti.f64, 1)):
    for i in y:
        out[i] = error_of(ti.f64(y[i]), exact[i])


def kernel_of(name, dtype):
    function = getattr(ti, name)

    @ti.kernel
    def one(x: ti.types.ndarray(dtype, 1), y: ti.types.ndarray(dtype, 1)):
        for i in x:
            y[i] = function(x[i])

    @ti.kernel
    def two(x: ti.types.ndarray(dtype, 1), z: ti.types.ndarray(dtype, 1), y: ti.types.ndarray(dtype, 1)):
        for i in x:
            y[i] = function(x[i], z[i])

    return two if name in BINARY else one


def own_of(name):
    """A kernel that gives the largest error in a run of bit patterns."""
    function = getattr(ti, name)

    @ti.kernel
    def worst(start: ti.u32, step: ti.u32, count: ti.i32) -> ti.f64:
        most = ti.f64(0)
        for i in range(count):
            x = ti.bit_cast(start + ti.cast(i, ti.u32) * step, ti.f32)
            ti.atomic_max(most, error_of(ti.f64(function(x)), function(ti.f64(x))))
        return most

    return worst


def check_own(name, step):
    """The largest error of f32 against f64, and the run of 2**20 patterns it stands in."""
    worst_in, best = own_of(name), (0.0, None)
    count = 1 << 20
    for start in range(0, 1 << 32, count * step):
        found = worst_in(start, step, min(count, ((1 << 32) - start) // step))
        if found > best[0]:
            best = (found, [float(np.uint32(start).view(np.float32))])
    return best


def f32_chunks(name, step):
    """Arguments: all bits, or pairs of them of which every other has two moderate ones."""
    if name in UNARY:
        for start in range(0, 1 << 32, CHUNK * step):
            yield [np.arange(start, min(start + CHUNK * step, 1 << 32), step, dtype=np.uint64).astype(np.uint32).view(np.float32)]
        return
    rng = np.random.default_rng(1)
    for _ in range(max((1 << 28) // CHUNK // step, 1)):
        yield [mixed(rng, np.float32, CHUNK, name == "pow" and i == 0) for i in range(2)]


def mixed(rng, dtype, count, positive=False):
    word = np.uint32 if dtype == np.float32 else np.uint64
    bits = rng.integers(0, np.iinfo(word).max, count, dtype=word, endpoint=True).view(dtype)
    moderate = (rng.standard_normal(count) * 2.0 ** rng.integers(-20, 8, count)).astype(dtype)
    values = np.where(np.arange(count) % 2 == 0, moderate, bits)
    return np.where(rng.random(count) < 0.9, np.abs(values), values) if positive else values


def check_f32(name, step):
    run, exact_of = kernel_of(name, ti.f32), reference(name)
    worst, at = 0.0, None
    for args in f32_chunks(name, step):
        y = np.empty(len(args[0]), np.float32)
        run(*args, y)
        with np.errstate(all="ignore"):
            exact = exact_of(*[a.astype(np.float64) for a in args])
        found = worst_of(y, exact)
        if found > worst:
            each = np.empty(len(y))
            errors(y, exact, each)
            worst, at = found, [float(a[each.argmax()]) for a in args]
    return worst, at


# -- f64 --

MPMATH = {
    "exp2": lambda x: mp.power(2, x), "log2": lambda x: mp.log(x, 2), "log10": mp.log10, "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "pow": mp.power, "rsqrt": lambda x: 1 / mp.sqrt(x), "round": lambda x: mp.sign(x) * mp.floor(abs(x) + 0.5),
}  # fmt: skip


def exact_f64(name, args):
    """The value, or None where it is not a real number that mpmath has."""
    function = MPMATH.get(name) or getattr(mp, name)
    try:
        value = function(*[mp.mpf(a) for a in args])
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return value if isinstance(value, mp.mpf) and mp.isfinite(value) else None


def error_f64(y, exact):
    if math.isnan(y):
        return WRONG
    limit = mp.mpf(2) ** 1024
    got = mp.mpf(y) if math.isfinite(y) else limit * int(math.copysign(1, y))
    want = max(min(exact, limit), -limit)
    exponent = mp.frexp(want)[1] if want else -1021
    return float(abs(got - want) / mp.ldexp(1, max(exponent, -1021) - 53))


def too_large(name, args):
    """Results far beyond the largest float, which mpmath would compute for long."""
    if name in ("exp", "exp2", "expm1", "sinh", "cosh"):
        return abs(args[0]) > 2000
    if name == "pow":
        return args[0] <= 0 or abs(args[1] * math.log2(args[0])) > 2000
    return name in ("erf", "tanh") and abs(args[0]) > 40


def check_f64(name, count):
    rng = np.random.default_rng(2)
    run = kernel_of(name, ti.f64)
    args = [mixed(rng, np.float64, count, name in ("pow", "log", "log2", "log10", "log1p")) for _ in range(2 if name in BINARY else 1)]
    if name == "pow":
        with np.errstate(all="ignore"):
            far = args[1] * np.log2(np.abs(args[0]))
        args[1] = np.where(np.abs(far) < 1100, args[1], rng.uniform(-1, 1, count) * 1070 / np.log2(np.abs(args[0])))
    if name in ("asin", "acos"):
        args[0] = np.where(np.abs(args[0]) < 1, args[0], rng.uniform(-1, 1, count))
    y = np.empty(count)
    run(*args, y)
    worst, at = 0.0, None
    for i in range(count):
        here = [float(a[i]) for a in args]
        if not all(map(math.isfinite, here)) or too_large(name, here):
            continue
        exact = exact_f64(name, here)
        error = 0 if exact is None else error_f64(float(y[i]), exact)
        if error > worst:
            worst, at = error, here
    return worst, at


def show(found):
    worst, at = found
    return f"{worst:.3f} at {', '.join(float(a).hex() for a in at)}" if at else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--f32", type=int, default=1, metavar="STEP", help="every STEP-th f32; 0: none")
    parser.add_argument("--own", type=int, default=0, metavar="STEP", help="every STEP-th f32 against our f64; 0: none")
    parser.add_argument("--f64", type=int, default=20000, metavar="COUNT", help="values in f64; 0: none")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    mp.mp.prec = 1200  # enough to reduce any f64
    checks = {"f32": (check_f32, options.f32), "f32, own": (check_own, options.own), "f64": (check_f64, options.f64)}
    checks = {title: check for title, check in checks.items() if check[1]}
    print(f"| function | {' | '.join(checks)} |\n|{'---|' * (1 + len(checks))}", flush=True)
    worst = 0.0
    for name in options.names or UNARY + BINARY:
        found = [check(name, n) if check is not check_own or name in UNARY else (0.0, None) for check, n in checks.values()]
        worst = max([worst] + [error for error, _ in found])
        print(f"| `{name}` | {' | '.join(map(show, found))} |", flush=True)
    return worst > 2


if __name__ == "__main__":
    sys.exit(main())
