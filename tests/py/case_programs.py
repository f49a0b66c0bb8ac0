"""Programs that other systems of this kind got wrong, with their right answers. Run by test_cases.py:

    python case_programs.py CHECKED THREADS

prints one line per case and exits with 1 when an answer is wrong. The cases are independent of one another.
"""

import sys

import numpy as np

import pestle as ti

i32, f32 = ti.i32, ti.f32
I1 = ti.types.ndarray(dtype=i32, ndim=1)
F1 = ti.types.ndarray(dtype=f32, ndim=1)
THIRTY_TWO = 32
CASES = []


def case(f):
    CASES.append(f)
    return f


@case
def continue_then_later_statement():
    """A `continue` inside an if must not undo the stores before it, nor run what follows."""

    @ti.kernel
    def k(x: I1, s: I1, seen: I1):
        for p in range(1):
            if s[p] == 0:
                x[p] = 1
                continue
            if s[p] != 0:
                seen[p] = 1

    x, s, seen = (np.zeros(1, np.int32) for _ in range(3))
    k(x, s, seen)
    return [int(x[0]), int(seen[0])], [1, 0]


@case
def continue_in_a_serial_loop():
    @ti.kernel
    def k(n: i32, out: I1):
        for _ in range(1):
            a = 10
            b = 0
            for i in range(n):
                b += a
                a = i
                if i == 5:
                    continue
                a = 100
            out[0] = a + b
            a = 1000
            out[1] = a + b

    out, found = np.zeros(2, np.int32), []
    for n in (1, 5, 6, 7):
        k(n, out)
        found.append(int(out[1]))
    return found, [1010, 1410, 1510, 1515]


@case
def break_under_false_in_a_static_loop():
    """The branch is never taken: three turns, or a refusal; never one turn."""

    @ti.kernel
    def k(out: I1):
        n1 = 0
        n2 = 0
        if 1 > 0:
            for i in ti.static(range(3)):
                n1 += 1
                if 1 < 0:
                    break
                n2 += 1
        out[0] = n1
        out[1] = n2

    out = np.zeros(2, np.int32)
    try:
        k(out)
    except ti.CompilationError:
        return "refused", "refused"
    return out.tolist(), [3, 3]


@case
def store_in_nested_one_trip_loops():
    @ti.kernel
    def k(val: i32) -> i32:
        a = val
        v = 0
        for i in range(1):
            for j in range(1):
                v = a
        return v

    return k(10), 10


@case
def loop_on_a_value_made_from_a_global_constant():
    @ti.kernel
    def k(out: I1) -> i32:
        n = 0
        c = THIRTY_TWO // 2
        while c:
            out[n] = c
            n += 1
            c //= 2
        return n

    out = np.zeros(8, np.int32)
    n = k(out)
    return out[:n].tolist(), [16, 8, 4, 2, 1]


@case
def assigned_only_in_a_branch():
    @ti.kernel
    def k(x: F1):
        if False:
            a = 1.0
        x[0] = a  # noqa: F821

    x = np.zeros(1, np.float32)
    try:
        k(x)
    except ti.CompilationError as error:
        return ("a" in str(error), float(x[0])), (True, 0.0)
    return float(x[0]), "an error"


@case
def floor_division_and_remainder():
    @ti.kernel
    def k(a: I1, b: I1, q: I1, r: I1):
        for i in a:
            q[i] = a[i] // b[i]
            r[i] = a[i] % b[i]

    a, b = np.array([-7, 7, -1, -7], np.int32), np.array([2, -2, 2, -2], np.int32)
    q, r = np.zeros(4, np.int32), np.zeros(4, np.int32)
    k(a, b, q, r)
    return [q.tolist(), r.tolist()], [[-4, -4, -1, 3], [1, -1, 1, -1]]


@case
def counting_up_and_down():
    @ti.kernel
    def k(n: i32, flag: i32) -> i32:
        count = 0
        for _ in range(n):
            if flag != 0:
                count += 1
            else:
                count -= 3
        return count

    return [k(1_000_000, 0), k(1_000_000, 1)], [-3_000_000, 1_000_000]


@case
def successive_parallel_loops():
    @ti.kernel
    def k(counters: I1, r: I1):
        for i in counters:
            counters[i] = i
        for i in range(1, r.shape[0]):
            r[i] = counters[i] - counters[i - 1]

    counters, r = np.zeros(100_000, np.int32), np.ones(100_000, np.int32)
    k(counters, r)
    return bool((r == 1).all()), True


@case
def old_value_of_an_atomic():
    @ti.kernel
    def k(c: I1, x: I1):
        for i in x:
            x[i] = ti.atomic_add(c[0], 3)

    found = []
    for n in (4, 10_000):
        c, x = np.zeros(1, np.int32), np.zeros(n, np.int32)
        k(c, x)
        found.append([int(c[0]), bool((np.sort(x) == 3 * np.arange(n)).all())])
    return found, [[12, True], [30_000, True]]


def main(checked, threads):
    ti.init(checked=checked, threads=threads)
    wrong = 0
    for f in CASES:
        found, expected = f()
        wrong += found != expected
        print(f"{'ok   ' if found == expected else 'WRONG'} {f.__name__}: found {found}, expected {expected}")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] == "checked", int(sys.argv[2])))
