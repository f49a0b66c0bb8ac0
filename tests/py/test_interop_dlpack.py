"""DLPack: capsules from __dlpack__, versioned and not, and exchange functions. The producers are tests/dlpack.py's, which
can be made to be what no library at hand is."""

import array
import ctypes

import dlpack
import pytest

import pestle as ti

I1 = ti.types.ndarray(dtype=ti.i32, ndim=1)


@ti.kernel
def add(x: I1, n: ti.i32):
    for i in x:
        x[i] += n


@ti.kernel
def total(x: I1) -> ti.i64:
    s = ti.i64(0)
    for i in x:
        s += x[i]
    return s


@ti.kernel
def move(x: I1, y: I1):
    for i in x:
        y[i] = x[i]


# -- DLPack by capsule


@pytest.mark.parametrize("version", [(1, 0), (1, 3), (1, 99), None], ids=str)
@pytest.mark.parametrize("old", [False, True], ids=["new signature", "old signature"])
def test_dlpack_capsules(version, old):
    x = dlpack.Producer((ctypes.c_int32 * 4)(1, 2, 3, 4), version=version, old=old)
    add(x, 10)
    assert list(x.memory) == [11, 12, 13, 14] and x.deleted == 1
    assert total(x) == 50 and x.deleted == 2
    assert total._evaluate(x) == 50 and x.deleted == 3
    assert x.asked[0] == {"max_version": (1, 3)} and (x.asked[1] == {}) == old


@pytest.mark.parametrize(
    "shape, strides, offset, values",
    [
        ((2, 3), None, 0, range(6)),
        ((2, 3), (3, 1), 0, range(6)),
        ((3, 2), (1, 3), 0, [0, 3, 1, 4, 2, 5]),
        ((2, 2), (3, 2), 4, [1, 3, 4, 6]),
        ((2, 3), (3, -1), 8, [2, 1, 0, 5, 4, 3]),
        ((2, 3), (0, 1), 0, [0, 1, 2, 0, 1, 2]),
        ((2, 0), (1, 1), 0, []),
        ((0, 3), None, 0, []),
        ((1, 3), (77, 1), 0, [0, 1, 2]),
        ((3, 1), (1, 77), 0, [0, 1, 2]),
        ((3, 1), (2, 1), 0, [0, 2, 4]),
    ],
)
def test_dlpack_layouts(shape, strides, offset, values):
    @ti.kernel
    def read(x: ti.types.ndarray(dtype=ti.i32, ndim=2), y: I1):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[i * x.shape[1] + j] = x[i, j]

    x = dlpack.Producer((ctypes.c_int32 * 8)(*range(8)), shape, strides, offset=offset)
    for run in (read, read._evaluate):
        y = array.array("i", [-1] * len(values))
        run(x, y)
        assert list(y) == list(values)


def test_dlpack_without_axes():
    @ti.kernel
    def f(x: ti.types.ndarray(dtype=ti.i32, ndim=0)):
        x[()] += 7

    x = dlpack.Producer((ctypes.c_int32 * 1)(1), (), None)
    f(x)
    assert x.memory[0] == 8


def test_read_only_dlpack():
    for flag in (dlpack.READ_ONLY, dlpack.COPIED, 3):
        x = dlpack.Producer((ctypes.c_int32 * 2)(1, 2), flags=flag)
        assert total(x) == 3
        with pytest.raises(ti.KernelValueError, match="read-only"):
            add(x, 1)
        assert list(x.memory) == [1, 2] and x.deleted == 2
    Frozen = type("Frozen", (dlpack.Producer,), {"__module__": "jaxlib.something"})
    x = Frozen((ctypes.c_int32 * 2)(1, 2), version=None)  # its old capsule cannot say so
    assert total(x) == 3
    with pytest.raises(ti.KernelValueError, match="read-only"):
        add(x, 1)


@pytest.mark.parametrize(
    "given, error, text",
    [
        ({"device": (2, 1)}, ti.KernelValueError, r"memory of a CUDA device \(number 1\).*\.cpu\(\)"),
        ({"device": (10, 0)}, ti.KernelValueError, "ROCm"),
        ({"device": (99, 0)}, ti.KernelValueError, "unknown device"),
        ({"device": (-5, 0)}, ti.KernelValueError, "unknown device"),
        ({"device": (8, 0), "tells": (1, 0)}, ti.KernelValueError, "Metal"),
        ({"tells": (13, 0)}, ti.KernelValueError, "managed CUDA"),
        ({"tells": "cpu"}, ti.KernelTypeError, "cannot be used as an array"),
        ({"tells": ("a", 1)}, ti.KernelTypeError, "cannot be used as an array"),
        ({"dtype": (dlpack.COMPLEX, 64)}, ti.KernelTypeError, "dtype number 5 of DLPack with 64 bits .*real"),
        ({"dtype": (dlpack.FLOAT, 128)}, ti.KernelTypeError, "number 2 of DLPack with 128 bits"),
        ({"dtype": (200, 4)}, ti.KernelTypeError, "number 200 of DLPack"),
        ({"dtype": (dlpack.FLOAT, 32)}, ti.KernelTypeError, "expected an array of i32, found an array of f32"),
        ({"shape": (1,) * 13}, ti.KernelValueError, "13 axes; the most is 12"),
        ({"shape": (1, 2)}, ti.KernelValueError, "expected an array with 1 axis, found one with 2"),
        ({"shape": (2**31,), "strides": (0,)}, ti.KernelValueError, "axis 0 has 2147483648 elements"),
        ({"offset": 1}, ti.KernelValueError, "not aligned"),
        ({"version": (2, 0)}, ti.KernelTypeError, "DLPack version is 2.0"),
    ],
)  # fmt: skip
def test_refused_dlpack(given, error, text):
    x = dlpack.Producer((ctypes.c_int32 * 4)(), **given)
    for kernel in (total, total._evaluate):
        with pytest.raises(error, match="argument 'x' of kernel 'total': .*" + text):
            kernel(x)
    assert x.deleted == len(x.asked)  # whatever was taken was given back


def test_dlpack_that_raises():
    class Failing:
        def __init__(self, error):
            self.error = error

        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **request):
            raise self.error

    with pytest.raises(ti.KernelTypeError, match="this Failing cannot be used as an array: not today") as caught:
        total(Failing(BufferError("not today")))
    assert isinstance(caught.value.__cause__, BufferError)
    with pytest.raises(ti.KernelTypeError, match="not this way"):
        total(Failing(TypeError("not this way")))
    with pytest.raises(KeyboardInterrupt):
        total(Failing(KeyboardInterrupt()))
    with pytest.raises(MemoryError):
        total(Failing(MemoryError()))

    class Nonsense(Failing):
        def __dlpack__(self, **request):
            return self.error

    for value in (None, 3, dlpack.capsule_new(1, b"something else", None)):
        with pytest.raises(ti.KernelTypeError, match="gave no DLPack capsule"):
            total(Nonsense(value))

    class NoDevice:
        def __dlpack__(self):
            pass

    with pytest.raises(ti.KernelTypeError, match="__dlpack_device__"):
        total(NoDevice())


def test_a_used_capsule_is_refused():
    x = dlpack.Producer((ctypes.c_int32 * 4)())
    capsule = x.__dlpack__(max_version=(1, 0))
    x.__class__ = type("Reused", (dlpack.Producer,), {"__dlpack__": lambda self, **request: capsule})
    total(x)
    with pytest.raises(ti.KernelTypeError, match="gave no DLPack capsule"):
        total(x)
    assert x.deleted == 1


# -- DLPack by exchange functions


def test_exchange_functions():
    Fast = dlpack.exchanging(lambda self: self.tensor())
    x = Fast((ctypes.c_int32 * 4)(1, 2, 3, 4))
    for _ in range(3):
        add(x, 10)
    assert list(x.memory) == [31, 32, 33, 34] and total(x) == total._evaluate(x) == 130
    assert not x.asked  # __dlpack__ was not needed


def test_refused_by_exchange_functions():
    Fast = dlpack.exchanging(lambda self: self.tensor() if self.flags == 0 else None)
    good = (ctypes.c_int32 * 4)(1, 2, 3, 4)
    assert total(Fast(good)) == 10
    for given, error, text in (
        ({"device": (2, 3)}, ti.KernelValueError, r"CUDA device \(number 3\)"),
        ({"dtype": (dlpack.COMPLEX, 64)}, ti.KernelTypeError, "number 5 of DLPack"),
        ({"dtype": (dlpack.FLOAT, 32)}, ti.KernelTypeError, "found an array of f32"),
        ({"shape": (1,) * 13}, ti.KernelValueError, "13 axes"),
        ({"offset": 2}, ti.KernelValueError, "not aligned"),
        ({"shape": (2**31,), "strides": (0,)}, ti.KernelValueError, "axis 0 has 2147483648 elements"),
        ({"flags": 1}, ti.KernelTypeError, "cannot be used as an array"),
    ):
        with pytest.raises(error, match="argument 'x' of kernel 'total': .*" + text):
            total(Fast(good, **given))


def test_exchange_functions_of_another_version():
    Fast = dlpack.exchanging(lambda self: self.tensor(), version=(2, 0))
    x = Fast((ctypes.c_int32 * 4)(1, 2, 3, 4))
    assert total(x) == 10 and x.asked  # by __dlpack__


def test_many_classes():
    for i in range(20):
        Fast = dlpack.exchanging(lambda self: self.tensor())
        x, y = Fast((ctypes.c_int32 * 4)(1, 2, 3, i)), Fast((ctypes.c_int32 * 4)())
        for _ in range(2):
            assert total(x) == 6 + i
            move(x, y)
        assert list(y.memory) == [1, 2, 3, i]
