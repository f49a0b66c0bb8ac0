"""random and randn: a function of the seed, the launch, the iteration and the draw; distributions; all types."""

import numpy as np
import pytest

import pestle as ti
import process

N = 200_000


@ti.kernel
def fill(x: ti.types.ndarray()):
    for i in x:
        x[i] = ti.random(ti.f64)


@ti.kernel
def everything(x: ti.types.ndarray(), n: ti.i32):
    x[0, 0] = ti.random()
    for i, j in ti.ndrange((1, n), 4):
        a = ti.random()
        if a > 0.5:
            a += ti.randn()
        for k in range(3):
            a += ti.random() * k
        x[i, j] = a
    for i in range(n):
        x[i, 0] += draws_early()
    x[0, 1] = ti.random()


@ti.func
def draws_early() -> ti.f32:
    a = ti.random()
    if a < 0.25:
        a = a * 2 + ti.random()
    return a


@pytest.fixture(autouse=True)
def defaults():
    ti.init()
    yield
    ti.init()


def values(shape=(500, 4), **options):
    ti.init(random_seed=3, **options)
    found = []
    for _ in range(3):
        x = np.zeros(shape, np.float32)
        everything(x, shape[0])
        found.append(x)
    return np.array(found)


def test_same_numbers_whatever_runs_them(tmp_path):
    one = values(threads=1)
    assert np.array_equal(one, values(threads=2)) and np.array_equal(one, values(debug=True))
    ti.init(random_seed=3)
    for want in one:
        x = np.zeros_like(want)
        everything._evaluate(x, len(x))
        assert np.array_equal(x, want)
    assert len(np.unique(one)) > 0.99 * one.size


def test_seed_and_launches():
    x, y = np.zeros(1000), np.zeros(1000)
    fill(x)
    fill(y)
    assert not np.any(x == y)
    ti.init(random_seed=0)
    fill(y)
    assert np.array_equal(x, y)
    for seed in (1, -1, 2**63):
        ti.init(random_seed=seed)
        fill(y)
        assert not np.any(x == y)


def test_a_new_process_gives_the_same(tmp_path):
    program = (
        "@ti.kernel\ndef f(x: ti.types.ndarray()):\n    for i in x:\n        x[i] = ti.random(ti.f64)\n"
        "x = np.zeros(3)\nf(x)\nprint(x.tolist())\n"
    )
    first, second = (process.run(tmp_path, program) for _ in range(2))
    x = np.zeros(3)
    fill(x)
    assert first == second == f"{x.tolist()}\n"


def test_distribution():
    x, z = np.zeros(N), np.zeros(N)

    @ti.kernel
    def normal(z: ti.types.ndarray()):
        for i in z:
            z[i] = ti.randn(ti.f64)

    fill(x)
    normal(z)
    assert 0 <= x.min() and x.max() < 1 and len(np.unique(x)) == N
    counts = np.histogram(x, 100, (0, 1))[0]
    assert ((counts - N / 100) ** 2).sum() / (N / 100) < 180  # chi square of 99 degrees of freedom
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 5 / N**0.5
    for power, want, error in [(1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)]:
        assert abs((z**power).mean() - want) < 5 * (error / N) ** 0.5, power


def test_all_types():
    for dtype, numpy_type in [(ti.f16, np.float16), (ti.f32, np.float32), (ti.f64, np.float64)]:

        @ti.kernel
        def real(x: ti.types.ndarray(), z: ti.types.ndarray()):
            for i in x:
                x[i] = ti.random(dtype)
                z[i] = ti.randn(dtype)

        x, z = np.zeros(20000, numpy_type), np.zeros(20000, numpy_type)
        real(x, z)
        assert x.min() >= 0 and x.max() < 1 and abs(x.astype(float).mean() - 0.5) < 0.01 and abs(z.astype(float).std() - 1) < 0.03
    for name in "u1 i8 u8 i16 u16 i32 u32 i64 u64".split():
        dtype = getattr(ti, name)
        numpy_type = np.dtype(bool if name == "u1" else {"i": "int", "u": "uint"}[name[0]] + name[1:])

        @ti.kernel
        def integer(x: ti.types.ndarray()):
            for i in x:
                x[i] = ti.random(dtype)

        x = np.zeros(20000, numpy_type)
        integer(x)
        bits = np.unpackbits(x.view(np.uint8)) if name != "u1" else x.astype(int)
        assert abs(bits.mean() - 0.5) < 0.02, name


def test_default_type_is_default_fp():
    ti.init(default_fp=ti.f64)

    @ti.kernel
    def f() -> ti.f64:
        return ti.random()

    value = f()
    assert value != float(np.float32(value))


def test_as_plain_python():
    ti.init(arch=ti.python, random_seed=5)
    x = np.zeros((500, 4), np.float32)
    everything(x, 500)
    assert len(np.unique(x)) > 1900
    ti.init(arch=ti.python, random_seed=5)
    y = np.zeros((500, 4), np.float32)
    everything(y, 500)
    assert np.array_equal(x, y)
