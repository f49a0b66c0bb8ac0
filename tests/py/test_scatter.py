"""`grid[cell] += w`: additions into places that the data choose, on any number of threads."""
import numpy as np
import pytest

import pestle as ti

THREADS = 1, 2, 4
INTS = "i8 u8 i16 u16 i32 u32 i64 u64".split()
N = 200_000


def numpy_type(name):
    return np.dtype({"i": "int", "u": "uint", "f": "float"}[name[0]] + name[1:])


def on_threads(run):
    """What run() gives for each number of threads; the last is left for the test."""
    results = []
    for threads in THREADS:
        ti.init(arch=ti.cpu, cpu_max_num_threads=threads)
        results.append(run())
    return results


def places(n, size, seed=0):
    return np.random.default_rng(seed).integers(0, size, n).astype(np.int32)


@pytest.mark.parametrize("size", [1, 7, 1000, 3_000_000])  # copies of small arrays, locks on large ones
@pytest.mark.parametrize("name", INTS + ["f16", "f32", "f64"])
def test_histogram(name, size):
    dtype = getattr(ti, name)

    @ti.kernel
    def histogram(at: ti.types.ndarray(ti.i32, 1), w: ti.types.ndarray(dtype, 1), out: ti.types.ndarray(dtype, 1)):
        for i in at:
            out[at[i]] += w[i]

    n = N if name != "f16" else 2000
    at = places(n, size)
    w = (places(n, 3, 1) - 1).astype(numpy_type(name))  # exact sums, in floats too
    expected = np.ones(size, numpy_type(name))
    np.add.at(expected, at, w)

    def run():
        out = np.ones(size, numpy_type(name))
        histogram(at, w, out)
        return out

    for out in on_threads(run):
        assert (out == expected).all()


@pytest.mark.parametrize("name", ["i32", "u64", "f32", "f64", "u1"])
@pytest.mark.parametrize("op", ["min", "max", "mul", "and", "or", "xor"])
def test_other_combines(name, op):
    if name[0] == "f" and op in ("and", "or", "xor"):
        pytest.skip("floats have no bits")
    dtype, update = getattr(ti, name), getattr(ti, "atomic_" + op)

    @ti.kernel
    def combine(at: ti.types.ndarray(ti.i32, 1), w: ti.types.ndarray(dtype, 1), out: ti.types.ndarray(dtype, 1)):
        for i in at:
            update(out[at[i]], w[i])

    kind = np.bool_ if name == "u1" else numpy_type(name)
    at, w = places(N, 50), places(N, 4, 1).astype(kind)
    if op == "mul":
        w = (1 - 2 * (w == 1)).astype(kind) if name != "u1" else w

    def run():
        out = np.ones(50, kind)
        combine(at, w, out)
        return out

    first, *rest = on_threads(run)
    for out in rest:
        assert (out == first).all()
    if op in ("min", "max") and name != "u1":
        expected = np.ones(50, kind)
        (np.minimum if op == "min" else np.maximum).at(expected, at, w)
        assert (first == expected).all()


def test_several_arrays_and_components():
    @ti.kernel
    def spread(x: ti.types.ndarray(ti.i32, 1), a: ti.types.ndarray(ti.f32, 2), b: ti.types.ndarray(ti.i64, 3),
               c: ti.types.ndarray(ti.f64, 1)):
        for i in x:
            p = x[i]
            for k in range(3):
                a[p, k] += 1.0
                b[p % 3, k, p % 2] += k
            if p % 5 == 0:
                c[p] += 0.5
                a[p, 0] += 2.0

    x = places(N, 40)

    def run():
        a, b, c = np.zeros((40, 3), np.float32), np.zeros((3, 3, 2), np.int64), np.zeros(40)
        spread(x, a, b, c)
        return a, b, c

    count = np.bincount(x, minlength=40)
    expected = np.repeat(count[:, None], 3, 1).astype(np.float32)
    expected[::5, 0] += 2 * count[::5]
    for a, b, c in on_threads(run):
        assert (a == expected).all() and b[:, 2].sum() == 2 * N and b[:, 0].sum() == 0
        assert c.sum() == count[::5].sum() / 2


def test_more_arrays_than_have_copies():
    names = "abcdef"
    A = ti.types.ndarray(ti.i32, 1)

    @ti.kernel
    def many(x: A, a: A, b: A, c: A, d: A, e: A, f: A):
        for i in x:
            a[x[i]] += 1
            b[x[i]] += 2
            c[x[i]] += 3
            d[x[i]] += 4
            e[x[i]] += 5
            f[x[i]] += 6

    x = places(N, 9)

    def run():
        out = [np.zeros(9, np.int32) for _ in names]
        many(x, *out)
        return out

    for out in on_threads(run):
        for k, array in enumerate(out):
            assert (array == (k + 1) * np.bincount(x, minlength=9)).all()


def test_old_values_are_tickets():
    @ti.kernel
    def tickets(x: ti.types.ndarray(ti.i32, 1), next: ti.types.ndarray(ti.i32, 1), out: ti.types.ndarray(ti.i32, 1)):
        for i in x:
            out[i] = ti.atomic_add(next[x[i]], 1)

    x = places(N, 4)

    def run():
        next, out = np.zeros(4, np.int32), np.zeros(N, np.int32)
        tickets(x, next, out)
        return out

    for out in on_threads(run):
        for k in range(4):
            assert (np.sort(out[x == k]) == np.arange((x == k).sum())).all()


def test_an_iteration_sees_its_own_additions_through_another_argument():
    @ti.kernel
    def twice(at: ti.types.ndarray(ti.i32, 1), a: ti.types.ndarray(ti.f32, 1), b: ti.types.ndarray(ti.f32, 1)):
        for i in at:
            a[at[i]] += 1.0
            b[i] = 2.0 * b[i]

    at = np.arange(N, dtype=np.int32)

    def run():
        a = np.ones(N, np.float32)
        twice(at, a, a)
        return a

    for a in on_threads(run):
        assert (a == 4).all()


def test_views():
    @ti.kernel
    def add(at: ti.types.ndarray(ti.i32, 1), out: ti.types.ndarray(ti.i32, 2)):
        for i in at:
            out[at[i], at[i] % 2] += 1

    at = places(N, 30)
    views = [lambda m: m[::2, ::3], lambda m: m[::-2, 1:3], lambda m: m[:30, :2], lambda m: m[:31:-1, ::-1][:, :2],
             lambda m: m.T[:31, :8]]
    for view in views:
        def run():
            whole = np.full((62, 62), 5, np.int32)
            add(at, view(whole))
            return whole

        expected = np.full((62, 62), 5, np.int32)
        np.add.at(view(expected), (at, at % 2), 1)
        for whole in on_threads(run):
            assert (whole == expected).all()


def test_elements_that_nothing_is_added_to_keep_their_bits():
    @ti.kernel
    def add(at: ti.types.ndarray(ti.i32, 1), out: ti.types.ndarray(ti.f32, 1)):
        for i in at:
            out[at[i]] += 1.0

    def run():
        out = np.zeros(64, np.uint32)
        out[10:] = 0x80000000
        out[11] = 0x7fc12345
        out[12] = 1
        add(places(N, 10), out.view(np.float32))
        return out

    for out in on_threads(run):
        assert out[10] == 0x80000000 and out[11] == 0x7fc12345 and out[12] == 1 and (out[13:] == 0x80000000).all()


def test_fields_side_by_side():
    ti.init(arch=ti.cpu, cpu_max_num_threads=2)
    v, m = ti.Vector.field(2, ti.f32, (16, 16)), ti.field(ti.f32, (16, 16))

    @ti.kernel
    def spread():
        for i in range(N):
            p = ti.Vector([i % 15, i // 7 % 15])
            for a, b in ti.static(ti.ndrange(2, 2)):
                v[p + ti.Vector([a, b])] += ti.Vector([1.0, 2.0])
                m[p + ti.Vector([a, b])] += 1.0

    spread()
    mass, speed = m.to_numpy(), v.to_numpy()
    assert mass.sum() == 4 * N and (speed[..., 0] == mass).all() and (speed[..., 1] == 2 * mass).all()


def test_checked():
    @ti.kernel
    def add(at: ti.types.ndarray(ti.i32, 1), out: ti.types.ndarray(ti.i32, 1)):
        for i in at:
            out[at[i]] += 1

    at, out = places(N, 10), np.zeros(10, np.int32)
    ti.init(arch=ti.cpu, cpu_max_num_threads=2, checked=True)
    add(at, out)
    assert (out == np.bincount(at, minlength=10)).all()
    at[N // 2] = 10
    with pytest.raises(AssertionError, match="index 10 is out of bounds"):
        add(at, out)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 7, 8, 4095, 70_001])
def test_small_bodies_of_any_length(n):
    """Several columns a turn, and the rest: with branches, `continue`, old values, rows of two axes, a local."""

    @ti.kernel
    def one(at: ti.types.ndarray(ti.i32, 1), out: ti.types.ndarray(ti.i32, 1)):
        for i in at:
            if at[i] == 3:
                continue
            k = at[i]
            if i % 2 == 1:
                k = 0
            out[k] += i

    @ti.kernel
    def two(at: ti.types.ndarray(ti.i32, 1), out: ti.types.ndarray(ti.i32, 1), rows: ti.i32):
        for r, i in ti.ndrange(rows, at.shape[0]):
            out[at[i]] += r + 1

    @ti.kernel
    def tickets(at: ti.types.ndarray(ti.i32, 1), count: ti.types.ndarray(ti.i32, 1), out: ti.types.ndarray(ti.i32, 1)):
        for i in at:
            out[i] = ti.atomic_add(count[at[i]], 1)

    at = places(n, 11)
    i = np.arange(n)
    first, second = np.zeros(11, np.int64), np.zeros(11, np.int64)
    kept = at != 3
    np.add.at(first, np.where(i % 2 == 1, 0, at)[kept], i[kept])
    np.add.at(second, at, 6)

    def run():
        a, b, c, t = np.zeros(11, np.int32), np.zeros(11, np.int32), np.zeros(11, np.int32), np.zeros(n, np.int32)
        one(at, a)
        two(at, b, 3)
        tickets(at, c, t)
        return a, b, c, t

    for a, b, c, t in on_threads(run):
        assert (a == first.astype(np.int32)).all() and (b == second).all() and (c == np.bincount(at, minlength=11)).all()
        for k in range(11):
            assert sorted(t[at == k]) == list(range(c[k]))


@pytest.mark.parametrize("name", ["f32", "f64", "i32", "u64", "i16"])
@pytest.mark.parametrize("n", [2, 3, 4, 9])
def test_vectors_are_added_as_wholes(name, n):
    """The components of a vector share one choice of form; also twice into one element, and into parts of one."""
    dtype, T = getattr(ti, name), numpy_type(name)

    @ti.kernel
    def scatter(at: ti.types.ndarray(ti.i32, 1), w: ti.types.ndarray(dtype, 1), out: ti.types.ndarray(ti.types.vector(n, dtype), 1)):
        for i in at:
            v = ti.types.vector(n, dtype)(w[i])
            for k in ti.static(range(n)):
                v[k] += dtype(k)
            out[at[i]] += v
            out[at[i]] += v
            out[at[i]][1] += w[i]
            out[at[i]][0] += w[i]
            ti.atomic_max(out[10], v)

    def run():
        out = np.zeros((11, n), T)
        scatter(at, w, out)
        return out

    at = places(N // 4, 10)
    w = (np.random.default_rng(3).integers(0, 4, at.size)).astype(T)
    want = np.zeros((11, n), np.float64)
    for k in range(n):
        want[:10, k] = np.bincount(at, (2.0 * (w + k)) + (w if k < 2 else 0), 10)
    want[10] = 3 + np.arange(n)
    want = want.astype(T) if name[0] == "f" else want.astype(np.int64).astype(T)
    for out in on_threads(run):
        assert np.array_equal(out, want)
