"""Write src/math/coefficients.def: the polynomials of the math functions, computed here from their definitions.

    math_coefficients.py [FILE]     print the tables, or write them to FILE (needs mpmath; two minutes)

Each is a minimax polynomial by Remez' exchange on a fine grid, in 50 digits: of all with its powers, the one whose
largest weighted error is smallest. Its coefficients are then rounded to the type one by one, lowest power first, and
those that are left are fitted again, so that they make up for the rounding. The figure behind each table is that
largest error as a power of two, after rounding.

Constants such as the parts of pi and log 2 stand where they are used, in hexadecimal; `parts` prints them.
"""
import sys

import mpmath as mp

mp.mp.dps = 50
GRID = 400


def rounded(value, bits):
    """The float of so many bits next to the value (no subnormals here)."""
    if value == 0:
        return mp.mpf(0)
    man, exp = mp.frexp(value)
    return mp.ldexp(mp.nint(mp.ldexp(man, bits)), exp - bits)


def remez(target, rows):
    """The coefficients of least largest |target - rows * c|, on points: one weighted target, one row of powers each."""
    n = len(rows[0])
    signs = [mp.sign(row[0]) for row in rows]  # the lowest power is a part of the weight, and that is positive
    target = [t * sign for t, sign in zip(target, signs)]
    rows = [[entry * sign for entry in row] for row, sign in zip(rows, signs)]
    chosen = [round(i * (len(rows) - 1) / n) for i in range(n + 1)]
    best = None
    for _ in range(16):
        matrix, right = mp.matrix(n + 1, n + 1), mp.matrix(n + 1, 1)
        for row, at in enumerate(chosen):
            for column in range(n):
                matrix[row, column] = rows[at][column]
            matrix[row, n] = (-1) ** row
            right[row] = target[at]
        solution = mp.lu_solve(matrix, right)
        c = [solution[i] for i in range(n)]
        errors = [t - mp.fdot(c, row) for t, row in zip(target, rows)]
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[0]:
            best = (worst, c)
        if worst <= abs(solution[n]) * mp.mpf("1.01"):
            break
        chosen = exchanged(errors, n + 1)
    return best[1]


def exchanged(errors, count):
    """The largest error of each run of one sign. Too many: the smallest goes, and with it one of the two beside it, which
    have one sign; a single one too many goes from an end."""
    runs = []
    for at, error in enumerate(errors):
        if runs and (errors[runs[-1]] >= 0) == (error >= 0):
            if abs(error) > abs(errors[runs[-1]]):
                runs[-1] = at
        else:
            runs.append(at)
    while len(runs) > count:
        sizes = [abs(errors[at]) for at in runs]
        least = sizes.index(min(sizes))
        if len(runs) == count + 1 or least in (0, len(runs) - 1):
            runs.pop(0 if sizes[0] < sizes[-1] else -1)
        else:
            beside = least - 1 if sizes[least - 1] < sizes[least + 1] else least
            del runs[beside : beside + 2]
    while len(runs) < count:  # of a function that is a polynomial but for rounding
        gaps = [(b - a, a) for a, b in zip(runs, runs[1:])]
        widest = max(gaps) if gaps else (len(errors) // 2, 0)
        runs = sorted(set(runs + [widest[1] + widest[0] // 2 or 1]))
        if widest[0] < 2:
            break
    return runs


def fit(name, kind, f, low, high, powers, weight):
    bits = 24 if kind == "float" else 53
    low, high = mp.mpf(low), mp.mpf(high)
    points = [low + (high - low) * (1 - mp.cos(mp.pi * i / GRID)) / 2 for i in range(GRID + 1)]
    points = [x for x in points if abs(x) > high * mp.mpf(2) ** -20]
    w = [abs(weight(x)) for x in points]
    rest = [f(x) * k for x, k in zip(points, w)]
    rows = [[x**p * k for p in powers] for x, k in zip(points, w)]
    coefficients = []
    for _ in powers:
        first = rounded(remez(rest, rows)[0], bits)
        coefficients.append(first)
        rest = [r - first * row[0] for r, row in zip(rest, rows)]
        rows = [row[1:] for row in rows]
    worst = max(abs(r) for r in rest)
    digits = ", ".join(literal(c, bits) for c in coefficients)
    return f"static const {kind} {name}[] = {{{digits}}}; /* 2**{mp.nstr(mp.log(worst, 2), 4)} */\n"


def literal(value, bits):
    """C's hexadecimal, exact."""
    text = float(value).hex()
    head, exponent = text.split("p")
    if "." in head:
        head = head.rstrip("0").rstrip(".")
    return f"{head}p{exponent}" + ("f" if bits == 24 else "")


# The functions that the tables hold. Of those that stand behind a leading term computed apart, what is left.


def exp_rest(r):  # e**r = 1 + r + r r Q
    return (mp.expm1(r) - r) / r**2


def exp2_rest(r):  # 2**r = 1 + r Q
    return mp.expm1(r * mp.log(2)) / r


def log_rest(f):  # log(1 + f) = f - f f / 2 + f f f Q
    return (mp.log1p(f) - f + f * f / 2) / f**3


def log_even(z):  # log(1 + f) = 2 s + s R(s s), s = f / (2 + f); R = z Q
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) - 2 * s) / s / z


def atanh_far(z):  # atanh(s) = s (1 + z / 3 + z z Q)
    s = mp.sqrt(z)
    return (mp.atanh(s) / s - 1 - z / 3) / z**2


def log2_of(f):  # log2(1 + f) = f Q
    return mp.log1p(f) / mp.log(2) / f


def sin_rest(z):  # sin r = r + r z Q
    r = mp.sqrt(z)
    return (mp.sin(r) / r - 1) / z


def cos_rest(z):  # cos r = 1 - z / 2 + z z Q
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


def tan_rest(z):
    r = mp.sqrt(z)
    return (mp.tan(r) / r - 1) / z


def atan_rest(z):
    r = mp.sqrt(z)
    return (mp.atan(r) / r - 1) / z


def asin_rest(z):
    r = mp.sqrt(z)
    return (mp.asin(r) / r - 1) / z


def sinh_rest(z):
    r = mp.sqrt(z)
    return (mp.sinh(r) / r - 1) / z


def cosh_rest(z):  # cosh r = 1 + z Q
    return (mp.cosh(mp.sqrt(z)) - 1) / z


def tanh_rest(z):
    r = mp.sqrt(z)
    return (mp.tanh(r) / r - 1) / z


def erf_near(z):  # erf x = x + x Q(z)
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1


def erfc_log(x):  # erfc x = exp(-Q)
    return -mp.log(mp.erfc(x))


def cbrt_rest(r):
    return mp.cbrt(1 / r)


def one(x):
    return mp.mpf(1)


HALF_LN2 = "0.34668"  # log(2) / 2 and what rounding may add
SQRT_LOW, SQRT_HIGH = mp.sqrt(mp.mpf(1) / 2) - 1 - mp.mpf(2) ** -20, mp.sqrt(2) - 1 + mp.mpf(2) ** -20
S_HIGH = mp.mpf("0.02945")  # s s, s = f / (2 + f)
CBRT_LOW, CBRT_HIGH = "0.899", "1.105"


def span(low, count):
    return list(range(low, low + count))


# name, type, function, interval, powers, weight: what an error there is worth in the result, relative to it
TABLES = [
    ("exp_f32_q", "float", exp_rest, "-" + HALF_LN2, HALF_LN2, span(0, 5), lambda r: r * r / mp.exp(r)),
    ("exp_f64_q", "double", exp_rest, "-" + HALF_LN2, HALF_LN2, span(0, 10), lambda r: r * r / mp.exp(r)),
    ("expm1_f32_q", "float", exp_rest, "-" + HALF_LN2, HALF_LN2, span(0, 5), lambda r: r * r / mp.expm1(r)),
    ("expm1_f64_q", "double", exp_rest, "-" + HALF_LN2, HALF_LN2, span(0, 11), lambda r: r * r / mp.expm1(r)),
    ("exp2_f32_q", "float", exp2_rest, "-0.5", "0.5", span(0, 6), lambda r: r / mp.power(2, r)),
    ("exp2_f64_q", "double", exp2_rest, "-0.5", "0.5", span(0, 12), lambda r: r / mp.power(2, r)),
    ("pow_f32_exp", "double", exp2_rest, "-0.5001", "0.5001", span(0, 6), lambda r: r / mp.power(2, r)),
    ("log_f32_q", "float", log_rest, SQRT_LOW, SQRT_HIGH, span(0, 8), lambda f: f**3 / mp.log1p(f)),
    ("log_f64_r", "double", log_even, "0", S_HIGH, span(0, 7), lambda z: z),
    ("pow_f64_log", "double", atanh_far, "0", S_HIGH, span(0, 8), lambda z: z * z),
    ("pow_f32_log", "double", log2_of, SQRT_LOW, SQRT_HIGH, span(0, 15), lambda f: f / mp.log1p(f)),
    ("sin_f32_q", "float", sin_rest, "0", "0.64", span(0, 3), lambda z: z * mp.sqrt(z) / mp.sin(mp.sqrt(z))),
    ("sin_f64_q", "double", sin_rest, "0", "0.6188", span(0, 6), lambda z: z * mp.sqrt(z) / mp.sin(mp.sqrt(z))),
    ("cos_f32_q", "float", cos_rest, "0", "0.64", span(0, 3), lambda z: z * z / mp.cos(mp.sqrt(z))),
    ("cos_f64_q", "double", cos_rest, "0", "0.6188", span(0, 6), lambda z: z * z / mp.cos(mp.sqrt(z))),
    ("tan_f32_q", "float", tan_rest, "0", "0.64", span(0, 7), lambda z: z * mp.sqrt(z) / mp.tan(mp.sqrt(z))),
    ("tan_f64_q", "double", tan_rest, "0", "0.6188", span(0, 14), lambda z: z * mp.sqrt(z) / mp.tan(mp.sqrt(z))),
    ("atan_f32_q", "float", atan_rest, "0", "1", span(0, 9), lambda z: z * mp.sqrt(z) / mp.atan(mp.sqrt(z))),
    ("atan_f64_q", "double", atan_rest, "0", "1", span(0, 20), lambda z: z * mp.sqrt(z) / mp.atan(mp.sqrt(z))),
    ("asin_f32_q", "float", asin_rest, "0", "0.25", span(0, 5), lambda z: z * mp.sqrt(z) / mp.asin(mp.sqrt(z))),
    ("asin_f64_q", "double", asin_rest, "0", "0.25", span(0, 12), lambda z: z * mp.sqrt(z) / mp.asin(mp.sqrt(z))),
    ("sinh_f32_q", "float", sinh_rest, "0", "0.12019", span(0, 3), lambda z: z * mp.sqrt(z) / mp.sinh(mp.sqrt(z))),
    ("sinh_f64_q", "double", sinh_rest, "0", "0.12019", span(0, 6), lambda z: z * mp.sqrt(z) / mp.sinh(mp.sqrt(z))),
    ("cosh_f32_q", "float", cosh_rest, "0", "0.12019", span(0, 3), lambda z: z),
    ("cosh_f64_q", "double", cosh_rest, "0", "0.12019", span(0, 6), lambda z: z),
    ("tanh_f32_q", "float", tanh_rest, "0", "0.36", span(0, 5), lambda z: z * mp.sqrt(z) / mp.tanh(mp.sqrt(z))),
    ("tanh_f64_q", "double", tanh_rest, "0", "0.36", span(0, 11), lambda z: z * mp.sqrt(z) / mp.tanh(mp.sqrt(z))),
    ("erf_f32_near", "float", erf_near, "0", "1", span(0, 7), lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z))),
    ("erf_f64_near", "double", erf_near, "0", "1", span(0, 12), lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z))),
    ("erf_f32_far", "float", erfc_log, "1", "4", span(0, 8), lambda x: mp.erfc(x) / mp.erf(x)),
    ("erf_f64_far", "double", erfc_log, "1", "6", span(0, 19), lambda x: mp.erfc(x) / mp.erf(x)),
    ("cbrt_f64_q", "double", cbrt_rest, CBRT_LOW, CBRT_HIGH, span(0, 5), one),
]

HEAD = """/* Written by tools/math_coefficients.py, which says what each is. Lowest power first; behind each its largest error in
 * the result, relative to it. */
"""


def main():
    if sys.argv[1:2] == ["parts"]:
        return parts()
    wanted = [t for t in TABLES if len(sys.argv) < 3 or sys.argv[2] in t[0]]
    out = open(sys.argv[1], "w") if len(sys.argv) > 1 else sys.stdout
    out.write(HEAD)
    for table in wanted:
        out.write(fit(*table))
        out.flush()


def parts():
    """Constants in as many floats as they need, largest first."""
    values = {"pi": mp.pi, "pi/2": mp.pi / 2, "pi/4": mp.pi / 4, "1/pi": 1 / mp.pi, "2/pi": 2 / mp.pi, "log 2": mp.log(2),
              "1/log 2": 1 / mp.log(2), "2/log 2": 2 / mp.log(2), "log10 2": mp.log10(2), "log10 e": mp.log10(mp.e), "1/3": mp.mpf(1) / 3}
    for name, value in values.items():
        for bits in 24, 53:
            rest, found = value, []
            for _ in range(4):
                part = rounded(rest, bits)
                found.append(literal(part, bits))
                rest -= part
            print(f"{name:8} {' '.join(found)}")


if __name__ == "__main__":
    main()
