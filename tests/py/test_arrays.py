"""numpy arrays in place, whatever their strides, and pestle.Ndarray."""

import copy
import subprocess
import sys

import numpy as np
import pytest

import pestle as ti

DTYPES = ["u1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64"]
NUMPY = {"u1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
         "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32,
         "f64": np.float64}  # fmt: skip
ARRAY = ti.types.ndarray()
I2 = ti.types.ndarray(dtype=ti.i32, ndim=2)


@ti.kernel
def number(x: I2):
    for i, j in x:
        x[i, j] += 100 * i + j


@ti.kernel
def total(x: I2) -> ti.i64:
    s = ti.i64(0)
    for i, j in x:
        s += x[i, j]
    return s


def expected(shape):
    return 100 * np.arange(shape[0])[:, None] + np.arange(shape[1])[None, :]


# -- numpy

VIEWS = {
    "C order": lambda: np.zeros((4, 6), np.int32),
    "F order": lambda: np.zeros((4, 6), np.int32, order="F"),
    "transposed": lambda: np.zeros((4, 6), np.int32).T,
    "every other row": lambda: np.zeros((8, 6), np.int32)[::2],
    "every other column": lambda: np.zeros((4, 12), np.int32)[:, ::2],
    "columns of a wider one": lambda: np.zeros((4, 12), np.int32)[:, 3:9],
    "reversed": lambda: np.zeros((4, 6), np.int32)[::-1, ::-1],
    "one row": lambda: np.zeros((1, 6), np.int32)[:, ::-1],
    "one column": lambda: np.zeros((4, 6), np.int32)[:, :1],
    "empty": lambda: np.zeros((0, 6), np.int32),
    "empty, strided": lambda: np.zeros((4, 6), np.int32)[::2, 6:],
    "offset": lambda: np.zeros((5, 7), np.int32)[1:, 1:],
}


@pytest.mark.parametrize("name", VIEWS)
def test_any_stride_in_place(name):
    x = VIEWS[name]()
    number(x)
    assert np.array_equal(x, expected(x.shape))
    number._evaluate(x)
    assert np.array_equal(x, 2 * expected(x.shape))
    assert total(x) == x.sum()


def test_nothing_beside_the_view_is_written():
    base = np.full((9, 14), -1, np.int32)
    x = base[1:8:2, 2:12:3]
    x[:] = 0
    number(x)
    outside = np.ones(base.shape, bool)
    outside[1:8:2, 2:12:3] = False
    assert (base[outside] == -1).all()
    assert np.array_equal(x, expected(x.shape))


def test_broadcast_array_can_be_read():
    assert total(np.broadcast_to(np.int32(2), (3, 5))) == 30


def test_zero_axes():
    @ti.kernel
    def f(x: ti.types.ndarray(dtype=ti.f64, ndim=0)):
        x[()] += 1.5

    x = np.array(2.0)
    f(x)
    assert x == 3.5


def test_read_only_is_refused_when_written():
    x = np.zeros((2, 2), np.int32)
    x.flags.writeable = False
    assert total(x) == 0
    with pytest.raises(ti.KernelValueError, match="argument 'x' of kernel 'number': the array is read-only"):
        number(x)
    assert (x == 0).all()
    y = np.zeros((2, 2), np.int32)
    number(y)
    with pytest.raises(ti.KernelValueError, match="read-only"):
        number(x)


def test_misaligned_is_refused():
    raw = np.zeros(4 * 6 + 1, np.uint8)
    x = raw[1:].view(np.int32).reshape(2, 3)
    with pytest.raises(ti.KernelValueError, match="argument 'x' of kernel 'total': .* not aligned"):
        total(x)
    records = np.zeros((3, 2), np.dtype([("a", "u1"), ("b", "<i4")]))
    with pytest.raises(ti.KernelValueError, match="not aligned"):
        total(records["b"])


@pytest.mark.parametrize(
    "value, text",
    [
        (np.zeros((2, 2), ">i4"), "dtype >i4 .*native order"),
        (np.zeros((2, 2), complex), "dtype complex128 .*real"),
        (np.zeros((2, 2), object), "dtype object"),
        (np.zeros((2, 2), "S3"), r"dtype \|S3"),
        (np.zeros((2, 2), "M8[s]"), "dtype datetime64"),
        (np.zeros((2, 2), np.longdouble), "dtype float128"),
        (np.zeros((2, 2), np.float32), "expected an array of i32, found an array of f32"),
        (np.ma.masked_array(np.zeros((2, 2), np.int32)), "masked"),
        ([[1, 2]], r"found list; make it an array with numpy.array\(...\)"),
        (3, "found int"),
        (None, "found NoneType"),
        (memoryview(b"abc"), "expected an array of i32, found an array of u8"),
    ],
)
def test_not_such_an_array(value, text):
    with pytest.raises(ti.KernelTypeError, match="argument 'x' of kernel 'total': .*" + text):
        total(value)


@pytest.mark.parametrize("shape", [(), (3,), (2, 2, 2)])
def test_wrong_number_of_axes(shape):
    with pytest.raises(ti.KernelValueError, match=f"expected an array with 2 axes, found one with {len(shape)}"):
        total(np.zeros(shape, np.int32))


def test_too_many_axes():
    @ti.kernel
    def f(x: ARRAY):
        pass

    f(np.zeros((1,) * 12))
    with pytest.raises(ti.KernelValueError, match="13 axes; the most is 12"):
        f(np.zeros((1,) * 13))


def test_too_long_an_axis():
    x = np.broadcast_to(np.int32(0), (2, 2**31 - 2**24 + 1))
    with pytest.raises(ti.KernelValueError, match="axis 1 has 2130706433 elements; the most is 2130706431"):
        total(x)


def test_subclasses():
    x = np.memmap.__new__(np.memmap, "/dev/zero", np.int32, "c", shape=(2, 3))
    assert total(x) == 0
    m = np.zeros((2, 3), np.int32).view(np.matrix)
    number(m)
    assert np.array_equal(np.asarray(m), expected((2, 3)))


def test_dtype_objects_that_are_equal():
    dtype = np.dtype("i4", metadata={"a": 1})
    x = np.zeros((2, 3), np.int32).view(dtype)
    number(x)
    assert np.array_equal(x, expected((2, 3)))
    y = np.zeros((2, 3), np.dtype("<i4"))
    number(y)
    assert np.array_equal(y, expected((2, 3)))


def test_an_argument_that_resizes_another():
    x = np.zeros((2, 2), np.int32)

    class Evil:
        def __index__(self):
            x.resize((50, 50), refcheck=False)
            return 5

    @ti.kernel
    def f(x: I2, n: ti.i32):
        for i, j in x:
            x[i, j] += n

    f(x, 0)
    f(x, Evil())
    assert x.shape == (50, 50) and (x == 5).all()


@pytest.mark.parametrize("name", DTYPES)
def test_all_dtypes(name):
    @ti.kernel
    def move(x: ARRAY, y: ARRAY):
        for i in x:
            y[i] = x[i]

    rng = np.random.default_rng(1)
    x = rng.integers(0, 2 if name == "u1" else 100, 50).astype(NUMPY[name])
    y = np.zeros_like(x)
    move(x, y)
    assert np.array_equal(x, y)


# -- Ndarray


@pytest.mark.parametrize("name", DTYPES)
def test_round_trip(name):
    a = ti.ndarray(getattr(ti, name), (3, 4))
    assert a.shape == (3, 4) and a.dtype is getattr(ti, name) and a.ndim == 2 and a.size == 12 and len(a) == 3
    view = np.asarray(a)
    assert view.dtype == NUMPY[name] and not view.any()
    x = np.random.default_rng(0).integers(0, 2 if name == "u1" else 120, (3, 4)).astype(NUMPY[name])
    a.from_numpy(x)
    assert np.array_equal(view, x) and np.array_equal(a.to_numpy(), x)
    assert a[2, 3] == x[2, 3] and a[-1, -4] == x[2, 0]
    assert type(a[0, 0]) is (bool if name == "u1" else float if name[0] == "f" else int)
    a[1, 2] = 1
    assert view[1, 2] == 1
    a.fill(1)
    assert (view == 1).all()
    assert a.tolist() == view.tolist()


def test_repr():
    assert repr(ti.ndarray(ti.f32, (3, 4))) == "<pestle.ndarray shape=(3, 4) dtype=f32>"
    assert repr(ti.ndarray(ti.i64, ())) == "<pestle.ndarray shape=() dtype=i64>"


def test_to_numpy_copies_and_asarray_shares():
    a = ti.ndarray(ti.i32, 4)
    copied, shared = a.to_numpy(), np.asarray(a)
    a[1] = 5
    assert copied[1] == 0 and shared[1] == 5
    shared[2] = 7
    assert a[2] == 7
    del a
    assert shared.tolist() == [0, 5, 7, 0]


def test_kernels_take_ndarrays():
    a = ti.ndarray(ti.i32, (4, 6))
    number(a)
    assert np.array_equal(a.to_numpy(), expected((4, 6)))
    count = number._times["specialisations"]
    number(np.zeros((4, 6), np.int32))
    assert number._times["specialisations"] == count


def test_no_axes():
    a = ti.ndarray(ti.f64, ())
    a[()] = 1.5
    assert a[()] == 1.5 and a[None] == 1.5 and a.shape == () and a.size == 1
    with pytest.raises(TypeError, match="has no length"):
        len(a)
    assert a.to_numpy() == 1.5


def test_empty():
    a = ti.ndarray(ti.f32, (0, 3))
    assert len(a) == 0 and a.to_numpy().shape == (0, 3) and a.tolist() == []
    a.fill(1.0)


def test_iteration():
    a = ti.ndarray(ti.i32, 3)
    a.from_numpy(np.array([1, 2, 3], np.int32))
    assert list(a) == [1, 2, 3]
    with pytest.raises(TypeError, match="only an Ndarray with one axis"):
        list(ti.ndarray(ti.i32, (2, 2)))


def test_copy_from():
    a, b = ti.ndarray(ti.i32, 3), ti.ndarray(ti.f64, 3)
    b.from_numpy(np.array([1.9, -2.5, 1e30]))
    a.copy_from(b)
    assert a.tolist() == [1, -2, 2**31 - 1]
    a.copy_from(np.array([7, 8, 9], np.int16))
    assert a.tolist() == [7, 8, 9]
    c = copy.deepcopy(a)
    a[0] = 0
    assert c.tolist() == [7, 8, 9]
    with pytest.raises(ti.KernelValueError, match=r"the shapes differ: \(3,\) and \(4,\)"):
        a.copy_from(ti.ndarray(ti.i32, 4))
    with pytest.raises(ti.KernelTypeError, match="found list"):
        a.copy_from([1, 2, 3])


def test_from_numpy_refusals():
    a = ti.ndarray(ti.i32, (2, 3))
    with pytest.raises(ti.KernelValueError, match=r"the shapes differ: \(2, 3\) and \(3, 2\)"):
        a.from_numpy(np.zeros((3, 2), np.int32))
    with pytest.raises(TypeError, match="same_kind"):
        a.from_numpy(np.zeros((2, 3)))
    a.from_numpy(np.ones((3, 2), np.int64).T)
    assert a.to_numpy().sum() == 6


def test_bf16_goes_through_f32():
    a = ti.ndarray(ti.bf16, 3)
    a.from_numpy(np.array([1.0, 1.00390625, -3.14], np.float32))
    assert a.to_numpy().dtype == np.float32
    assert np.asarray(a).tolist() == a.tolist() == [1.0, 1.0, -3.140625]


@pytest.mark.parametrize(
    "index, error, text",
    [
        (3, ti.KernelIndexError, "2d ndarray indexed with 1d indices"),
        ((0, 0, 0), ti.KernelIndexError, "2d ndarray indexed with 3d indices"),
        ((2, 0), ti.KernelIndexError, "index 2 is out of bounds for axis 0 with length 2"),
        ((0, -4), ti.KernelIndexError, "index -4 is out of bounds for axis 1 with length 3"),
        ((0, 1.0), ti.KernelTypeError, "expected 2 integer indices, found float"),
        (slice(None), ti.KernelTypeError, "slices: numpy.asarray"),
        ((0, 2**80), IndexError, "cannot fit"),
        (None, ti.KernelTypeError, "found NoneType"),
    ],
)
def test_wrong_indices(index, error, text):
    a = ti.ndarray(ti.i32, (2, 3))
    with pytest.raises(error, match=text):
        a[index]
    with pytest.raises(error, match=text):
        a[index] = 1


def test_wrong_elements():
    a = ti.ndarray(ti.i8, 2)
    with pytest.raises(ti.KernelValueError, match="200 is out of range for i8"):
        a[0] = 200
    with pytest.raises(ti.KernelTypeError, match="expected an integer"):
        a[0] = 1.5
    with pytest.raises(ti.KernelTypeError, match="expected an integer"):
        a.fill("x")
    with pytest.raises(TypeError, match="cannot be deleted"):
        del a[0]


@pytest.mark.parametrize("shape", [-1, (2, -1), 2.0, (1,) * 13, "ab", 2**31, (True,), None, [[1]], {1, 2}])
def test_wrong_shapes(shape):
    with pytest.raises(ti.KernelValueError, match="is not a valid shape for ndarray: expected at most 12 axes"):
        ti.ndarray(ti.f32, shape)


def test_wrong_arrays():
    with pytest.raises(ti.KernelTypeError, match="expected a dtype such as pestle.f32, found str"):
        ti.ndarray("f32", 3)
    with pytest.raises(TypeError, match="shape is missing"):
        ti.ndarray(ti.f32)
    with pytest.raises(TypeError, match="unexpected keyword argument 'strides'"):
        ti.ndarray(ti.f32, 3, strides=1)
    with pytest.raises(ti.KernelValueError, match="more memory than can be addressed"):
        ti.ndarray(ti.f64, (2**30, 2**30, 2**30))
    with pytest.raises(MemoryError):
        ti.ndarray(ti.f64, (2**20, 2**20, 2**6))
    assert ti.ndarray(dtype=float, shape=[2]).dtype is ti.f32
    assert ti.ndarray(np.float64, 2).dtype is ti.f64


def test_without_numpy():
    program = (
        "import sys\n"
        "sys.modules['numpy'] = None\n"
        "import pestle as ti\n"
        "a = ti.ndarray(ti.i32, (2, 3))\n"
        "a.fill(3); a[1, 2] = 5\n"
        "print(a.tolist(), memoryview(a).format)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "[[3, 3, 3], [3, 3, 5]] i\n", run.stderr


def test_a_read_only_array_and_another_specialisation():
    @ti.kernel
    def f(x: I2, write: ti.template()) -> ti.i32:
        if ti.static(write):
            x[0, 0] = 5
        return x[0, 0]

    x = np.zeros((1, 1), np.int32)
    assert f(x, True) == 5
    x.flags.writeable = False
    assert f(x, False) == 5
    with pytest.raises(ti.KernelValueError, match="read-only"):
        f(x, True)
