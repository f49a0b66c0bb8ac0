"""Programs that other systems of this kind got wrong, with their right answers. Run by test_cases.py:

    python case_programs.py MODE THREADS       MODE: plain, checked, python

prints one line per case and exits with 1 when an answer is wrong. The cases are independent of one another. TURNS is how
often long loops turn.
"""

import sys

import numpy as np

import pestle as ti

i32, f32 = ti.i32, ti.f32
I1 = ti.types.ndarray(dtype=i32, ndim=1)
F1 = ti.types.ndarray(dtype=f32, ndim=1)
vec2, vec3, mat3 = ti.types.vector(2, f32), ti.types.vector(3, f32), ti.types.matrix(3, 3, f32)
THIRTY_TWO = 32
TURNS = 1_000_000
CASES = []


def case(f):
    CASES.append(f)
    return f


def compiled(f):
    """A case of what compiling refuses: plain Python runs up to there."""
    f.compiled = True
    return case(f)


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

    @ti.kernel
    def of_fields():
        for p in range(1):
            if fs[p] == 0:
                fx[p] = 1
                continue
            if fs[p] != 0:
                fseen[p] = 1

    x, s, seen = (np.zeros(1, np.int32) for _ in range(3))
    fx, fs, fseen = (ti.field(i32, 1) for _ in range(3))
    k(x, s, seen)
    of_fields()
    return [int(x[0]), int(seen[0]), fx[0], fseen[0]], [1, 0, 1, 0]


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

    @ti.kernel
    def of_field(val: i32):
        for i in range(1):
            for j in range(1):
                a = val
                f[None] = a

    f = ti.field(i32, ())
    of_field(10)
    return [k(10), f[None]], [10, 10]


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


@compiled
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
def two_boxes_and_an_untaken_branch():
    """The second box's corner must not become the first one's."""

    @ti.func
    def corners_agree(box0: ti.template(), box1: ti.template(), p: i32):
        b = box0
        a = b[0]
        x0 = a
        if p != 0:
            x0 = x0 + 0
        b = box1
        a = b[0]
        return x0 == a

    @ti.kernel
    def k(p: i32, out: I1):
        for i in boxes0:
            out[i] = corners_agree(boxes0[i], boxes1[i], p)

    rng, n = np.random.default_rng(3), 10
    boxes0, boxes1, out = ti.field(vec2, n), ti.field(vec2, n), np.zeros(n, np.int32)
    first, second = (rng.integers(0, 2, (n, 2)).astype(np.float32) for _ in range(2))
    boxes0.from_numpy(first)
    boxes1.from_numpy(second)
    k(0, out)
    return out.tolist(), (first[:, 0] == second[:, 0]).astype(int).tolist()


@case
def vectors_are_copied():
    """By assignment, from elements of fields too."""

    @ti.kernel
    def k() -> f32:
        a = ti.Vector([5.0, 6.0, 7.0])
        b = a
        a[2] = 2 + a[1]
        return b[2]

    @ti.kernel
    def of_field() -> f32:
        b = f[None]
        b[0] = 5
        return b[0]

    f = ti.Vector.field(3, f32, ())
    return [k(), of_field(), f[None].to_list()], [7.0, 5.0, [0.0, 0.0, 0.0]]


@case
def an_index_chosen_in_a_branch():
    @ti.kernel
    def k(out: F1):
        for i in x:
            x[i][2] += 1
            for _ in range(1):
                x[i][2] -= 5
            for z in range(1):
                idx = 0
                if z == 0:
                    idx = 2
                out[i] = x[i][idx]

    x, out = ti.field(vec3, 4), np.zeros(4, np.float32)
    k(out)
    return [out.tolist(), x.to_numpy()[:, 2].tolist()], [[-4.0] * 4, [-4.0] * 4]


@case
def rows_and_columns_are_assigned():
    @ti.kernel
    def k(v: vec3) -> mat3:
        m = mat3(0.0)
        for _ in range(1):
            m[1, :] = [1, 2, 3]
            m[:, 1] += v
        return m

    @ti.kernel
    def of_field(v: vec3):
        for i in f:
            f[i][1, :] = ti.Vector([1, 2, 3])
            f[i][:, 1] += v

    f = ti.Matrix.field(3, 3, f32, 2)
    of_field([10, 20, 30])
    right = [[0.0, 10.0, 0.0], [1.0, 22.0, 3.0], [0.0, 30.0, 0.0]]
    return [k([10, 20, 30]).to_list(), *f.to_numpy().tolist()], [right] * 3


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

    return [k(TURNS, 0), k(TURNS, 1)], [-3 * TURNS, TURNS]


@case
def successive_parallel_loops():
    @ti.kernel
    def k(counters: I1, r: I1):
        for i in counters:
            counters[i] = i
        for i in range(1, r.shape[0]):
            r[i] = counters[i] - counters[i - 1]

    counters, r = np.zeros(TURNS // 10, np.int32), np.ones(TURNS // 10, np.int32)
    k(counters, r)
    return bool((r == 1).all()), True


@case
def old_value_of_an_atomic():
    @ti.kernel
    def k(c: I1, x: I1):
        for i in x:
            x[i] = ti.atomic_add(c[0], 3)

    found = []
    for n in (4, TURNS // 100):
        c, x = np.zeros(1, np.int32), np.zeros(n, np.int32)
        k(c, x)
        found.append([int(c[0]), bool((np.sort(x) == 3 * np.arange(n)).all())])
    return found, [[12, True], [3 * (TURNS // 100), True]]


@case
def arrays_of_any_order():
    """The caller's own array changes, whatever its order and strides; a read-only one is refused."""

    @ti.kernel
    def k(x: ti.types.ndarray(ndim=2)):
        for i, j in x:
            x[i, j] += 10 * i + j + 1

    def views(base):
        return base, base.T, base[::2], base[::-1], base[:, ::-3], base[1:1], base[2:5, 1:4].T

    found, expected = [], []
    for order in "CF":
        for n in range(7):
            bases = [np.asarray(np.arange(63).reshape(7, 9), order=order, dtype=np.int64) for _ in range(2)]
            k(views(bases[0])[n])
            x = views(bases[1])[n]
            x += 10 * np.arange(x.shape[0])[:, None] + np.arange(x.shape[1]) + 1
            found.append(bases[0].tolist())
            expected.append(bases[1].tolist())
    one = np.zeros(1, np.int64)
    k(np.lib.stride_tricks.as_strided(one, (1, 4), (8, 0)))
    readonly = np.zeros((2, 2))
    readonly.flags.writeable = False
    try:
        k(readonly)
    except (ValueError, TypeError):
        found.append("refused")
    return [*found, int(one[0]), readonly.sum()], [*expected, "refused", 10, 0]


@case
def arrays_with_gaps_between_rows():
    """What lies between and behind the rows stays."""

    @ti.kernel
    def k(x: ti.types.ndarray(dtype=i32, ndim=2)):
        for i, j in x:
            x[i, j] = i * j

    memory = np.full(20, 77, np.int32)
    k(np.lib.stride_tricks.as_strided(memory[1:], (3, 3), (16, 12)))
    right = np.full(20, 77)
    for i, j in np.ndindex(3, 3):
        right[1 + 4 * i + 3 * j] = i * j
    return memory.tolist(), right.tolist()


@case
def integers_beyond_32_bits():
    @ti.kernel
    def k(a: ti.i64, b: ti.u32, x: ti.types.ndarray(dtype=ti.i64, ndim=1)) -> ti.i64:
        x[0] = a
        x[1] = b
        return a + 1

    x = np.zeros(2, np.int64)
    return [k(2_147_483_648, 4_294_967_295, x), *x.tolist()], [2_147_483_649, 2_147_483_648, 4_294_967_295]


@case
def comparing_and_wrapping_u64():
    @ti.kernel
    def k(a: ti.u64, b: ti.u64, x: ti.u64, y: ti.u64, out: ti.types.ndarray(dtype=ti.u64, ndim=1)):
        for i in out:
            out[i] = 7
            if a >= b + ti.u64(5000):
                out[i] = 8
            z = x + y
            if z >= ti.u64(2**61 - 1):
                z -= ti.u64(2**61 - 1)
            if i == 1:
                out[i] = z

    out = np.zeros(2, np.uint64)
    k(1721142608025344941, 1721142608025339990, 2**61 - 2, 5, out)
    return out.tolist(), [7, 4]


@case
def shifts_and_casts_by_sign():
    @ti.kernel
    def k(u: ti.u32, s: ti.i32, small: ti.u8, big: ti.f64, out: ti.types.ndarray(dtype=ti.f64, ndim=1)):
        out[0] = u >> 4
        out[1] = s >> 4
        out[2] = small
        out[3] = ti.cast(big, ti.u32)

    out = np.zeros(4)
    k(0xF0000000, 0xF0000000 - 2**32, 200, 3e9, out)
    return out.tolist(), [0x0F000000, -(2**24), 200.0, 3e9]


@case
def half_floats_overflow():
    @ti.kernel
    def k(a: ti.f16, b: ti.f16, out: ti.types.ndarray(dtype=f32, ndim=1)):
        for i in out:
            out[i] = ti.cast(a * b, f32)

    out = np.zeros(3, np.float32)
    k(30000, 200, out)
    return out.tolist(), [float("inf")] * 3


@case
def factories_of_kernels():
    """The same text, closed over different functions."""

    @ti.func
    def one(x):
        return x + 1

    @ti.func
    def two(x):
        return x + 2

    def make(f):
        @ti.kernel
        def k(out: I1):
            for i in out:
                out[i] = f(0)

        return k

    found = []
    for k in (make(one), make(two), make(one)):
        out = np.zeros(2, np.int32)
        k(out)
        found += out.tolist()
    return found, [1, 1, 2, 2, 1, 1]


@case
def factories_of_kernels_with_writers():
    """One text, two functions that write."""

    @ti.func
    def writer_a(x: ti.template(), i):
        x[i] += 1

    @ti.func
    def writer_b(x: ti.template(), i):
        x[i] += 2

    def make(write):
        @ti.kernel
        def k(x: ti.template()):
            for i in x:
                write(x, i)

        return k

    a, b = make(writer_a), make(writer_b)
    ints, reals = ti.field(i32, 2), ti.field(f32, 2)
    for k in (a, b, b):
        k(ints)
        k(reals)
    return [ints.to_numpy().tolist(), reals.to_numpy().tolist()], [[5, 5], [5.0, 5.0]]


@compiled
def a_bad_kernel_never_runs():
    """Its good statements neither, however often it is launched."""

    @ti.kernel
    def k(out: I1):
        for i in out:
            out[i] = 1
        no_such_name += 1  # noqa: F821, F841

    out, errors = np.zeros(2, np.int32), 0
    for _ in range(3):
        try:
            k(out)
        except ti.CompilationError:
            errors += 1
    return [errors, *out.tolist()], [3, 0, 0]


@case
def containers_as_template_arguments():
    """Another content is another program."""

    @ti.kernel
    def k(v: ti.template(), out: I1):
        for i in out:
            out[i] = v[0] + v[1]

    found = []
    changed = ti.Vector([1, 2])
    for v in ((1, 2), (3, 4), (1, 2), changed, changed):
        out = np.zeros(1, np.int32)
        k(v, out)
        found.append(int(out[0]))
        if v is changed:
            changed[0] += 10
    return found, [3, 7, 3, 3, 13]


@compiled
def template_arguments_are_not_assigned():
    @ti.kernel
    def bad(v: ti.template()):
        v = 3  # noqa: F841

    try:
        bad(1)
    except ti.CompilationError:
        return "refused", "refused"
    return "accepted", "refused"


def main(mode, threads):
    ti.init(arch=ti.python if mode == "python" else ti.cpu, checked=mode == "checked", threads=threads)
    wrong = 0
    for f in [f for f in CASES if mode != "python" or not hasattr(f, "compiled")]:
        found, expected = f()
        wrong += found != expected
        print(f"{'ok   ' if found == expected else 'WRONG'} {f.__name__}: found {found}, expected {expected}")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
