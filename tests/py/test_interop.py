"""Arrays of others in kernels: the buffer protocol, arrays that overlap, lifetimes; and Ndarray handed to others. DLPack
is in test_interop_dlpack.py, torch and other libraries in test_interop_libraries.py."""

import array
import ctypes
import gc
import linecache
import mmap
import pickle
import subprocess
import sys
import threading

import dlpack
import numpy as np
import pytest

import pestle as ti

ARRAY = ti.types.ndarray()
I1 = ti.types.ndarray(dtype=ti.i32, ndim=1)
F1 = ti.types.ndarray(dtype=ti.f32, ndim=1)

FORMATS = {"i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "f32": "f",
           "f64": "d"}  # fmt: skip
NUMPY = {"u1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
         "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64"}  # fmt: skip


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
def number(x: ti.types.ndarray(dtype=ti.i32, ndim=2)):
    for i, j in x:
        x[i, j] += 100 * i + j


@ti.kernel
def move(x: ARRAY, y: ARRAY):
    for i in x:
        y[i] = x[i]


def expected(shape):
    return [[100 * i + j for j in range(shape[1])] for i in range(shape[0])]


def specialisations(kernel):
    return kernel._times["specialisations"]


class Calls:
    """As a scalar argument: runs `what` when the arguments are being decoded, that is while views are held."""

    def __init__(self, what, value=1):
        self.what, self.value = what, value

    def __index__(self):
        self.what()
        return self.value


# -- buffers

BUFFERS = {
    "array.array": lambda: array.array("i", [1, 2, 3, 4]),
    "memoryview": lambda: memoryview(array.array("i", [1, 2, 3, 4])),
    "bytearray": lambda: memoryview(bytearray(array.array("i", [1, 2, 3, 4]))).cast("i"),
    "ctypes": lambda: (ctypes.c_int32 * 4)(1, 2, 3, 4),
    "every other": lambda: memoryview(array.array("i", [1, 0, 2, 0, 3, 0, 4, 0]))[::2],
    "backwards": lambda: memoryview(array.array("i", [4, 3, 2, 1]))[::-1],
    "Ndarray": lambda: memoryview(filled(ti.i32, [1, 2, 3, 4])),
}


def filled(dtype, values):
    made = ti.ndarray(dtype, len(values))
    for i, value in enumerate(values):
        made[i] = value
    return made


@pytest.mark.parametrize("name", BUFFERS)
def test_buffers_in_place(name):
    x = BUFFERS[name]()
    add(x, 10)
    assert list(x) == [11, 12, 13, 14]
    assert total(x) == total._evaluate(x) == 50
    add._evaluate(x, -11)
    assert list(x) == [0, 1, 2, 3]


def test_contiguous_buffers_share_a_specialisation():
    @ti.kernel
    def f(x: I1):
        x[0] = 1

    f(np.zeros(4, np.int32))
    for name in ("array.array", "memoryview", "ctypes", "Ndarray"):
        f(BUFFERS[name]())
    assert specialisations(f) == 1


@pytest.mark.parametrize("name", FORMATS)
def test_formats(name):
    x = array.array(FORMATS[name], [1, 2, 3])
    y = array.array(FORMATS[name], [0, 0, 0])
    move(x, y)
    assert x == y
    read, write = memoryview(bytes(x)).cast(FORMATS[name]), memoryview(bytearray(y)).cast(FORMATS[name])
    move(read, write)
    assert list(write) == [1, 2, 3]


@pytest.mark.parametrize("letter", "bBhHiIlLqQnN")
def test_native_sizes(letter):
    x = memoryview(bytearray(8 * 4)).cast(letter)
    move(memoryview(bytes(range(1, 9)) + bytes(24)).cast(letter), x)
    assert x.tobytes()[:8] == bytes(range(1, 9))


def test_formats_with_a_byte_order():
    for kind in (ctypes.c_int8, ctypes.c_uint16, ctypes.c_int32, ctypes.c_long, ctypes.c_uint64, ctypes.c_float,
                 ctypes.c_double, ctypes.c_bool):  # fmt: skip
        x, y = (kind * 3)(1, 1, 0), (kind * 3)()
        assert memoryview(x).format[0] in "<?" or ctypes.sizeof(kind) == 1
        move(x, y)
        assert list(y) == [1, 1, 0]


def test_half_and_bool_formats():
    for dtype in ("float16", "bool"):
        x, y = np.array([1, 0, 1], dtype), np.zeros(3, dtype)
        move(memoryview(x), memoryview(y))
        assert np.array_equal(x, y)


def test_shapes_of_buffers():
    x = memoryview(bytearray(24)).cast("i", (2, 3))
    number(x)
    assert x.tolist() == expected((2, 3))
    number((ctypes.c_int32 * 3 * 2)())
    empty = array.array("i")
    add(empty, 1)
    assert total(empty) == 0

    @ti.kernel
    def f(x: ti.types.ndarray(dtype=ti.i32, ndim=0)):
        x[()] += 7

    scalar = ctypes.c_int32(1)
    f(scalar)
    assert scalar.value == 8


def test_mmap():
    with mmap.mmap(-1, 4096) as m:

        @ti.kernel
        def f(x: ARRAY, n: ti.u8):
            for i in x:
                x[i] = n

        f(m, 3)
        assert m[:] == b"\3" * 4096
        with pytest.raises(BufferError):
            f(m, Calls(m.close))
        f(m, 4)
    with open("/dev/zero", "rb") as file, mmap.mmap(file.fileno(), 16, mmap.MAP_PRIVATE, mmap.PROT_READ) as m:
        with pytest.raises(ti.KernelValueError, match="read-only"):
            f(m, 3)


def test_read_only_buffers():
    x = bytes(array.array("i", [1, 2, 3]))
    view = memoryview(x).cast("i")
    assert total(view) == 6
    with pytest.raises(ti.KernelValueError, match="argument 'x' of kernel 'add': the array is read-only"):
        add(view, 1)
    assert list(view) == [1, 2, 3]


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: bytearray(8), "expected an array of i32, found an array of u8"),
        (lambda: array.array("f", [1]), "expected an array of i32, found an array of f32"),
        (lambda: memoryview(np.zeros(3, ">i4")), "buffer format '>i' .*native order"),
        (lambda: (ctypes.c_int32.__ctype_be__ * 2)(), "buffer format '>[il]' .*native order"),
        (lambda: (type("S", (ctypes.Structure,), {"_fields_": [("a", ctypes.c_int)]}) * 2)(), "buffer format 'T"),
        (lambda: memoryview(np.zeros(3, "i4,f4")), "buffer format 'T"),
        (lambda: memoryview(np.zeros(3, "M8[s]").view("S8")), "buffer format '8s'"),
        (lambda: memoryview(np.zeros(3, complex)), "buffer format 'Zd'"),
        (lambda: memoryview(b"abc").cast("c"), "buffer format 'c'"),
        (lambda: array.array("w" if sys.version_info >= (3, 13) else "u", "abc"), "buffer format '[wu]'"),
        (lambda: "abc", "found str"),
        (lambda: np.float32(1), r"found numpy.float32; pass numpy.asarray\(...\) of it"),
    ],
)  # fmt: skip
def test_not_such_a_buffer(make, text):
    with pytest.raises(ti.KernelTypeError, match="argument 'x' of kernel 'total': .*" + text):
        total(make())


def test_other_refusals_of_buffers():
    with pytest.raises(ti.KernelValueError, match="not aligned"):
        total(memoryview(bytearray(9))[1:].cast("i"))
    released = memoryview(b"abcd")
    released.release()
    with pytest.raises(ti.KernelTypeError, match="this memoryview cannot be used as an array: .*released") as caught:
        total(released)
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(ti.KernelValueError, match="expected an array with 1 axis, found one with 2"):
        total(memoryview(bytes(8)).cast("i", (1, 2)))
    with pytest.raises(ti.KernelTypeError, match="memoryview"):  # after a launch that was fine

        @ti.kernel
        def f(x: F1, y: F1):
            pass

        f(array.array("f", [1]), array.array("f", [1]))
        f(array.array("f", [1]), released)


def test_a_buffer_is_held_while_the_kernel_runs():
    b = bytearray(array.array("i", [1, 2, 3]))
    tried = []

    def resize():
        with pytest.raises(BufferError):
            b.extend(b"1234")
        tried.append(1)

    @ti.kernel
    def f(x: ARRAY, n: ti.i32) -> ti.i32:
        return x[0] + n

    assert f(b, Calls(resize)) == 2
    assert f(b, Calls(resize)) == 2
    assert len(tried) == 2
    b.extend(b"1234")
    assert len(b) == 16
    with pytest.raises(ti.KernelTypeError):
        f(b, "no number")
    b.extend(b"1234")


def test_a_buffer_is_held_while_another_thread_runs_the_kernel():
    @ti.kernel
    def spin(x: ARRAY, rounds: ti.i32):
        for i in x:
            for _ in range(rounds):
                x[i] = ti.u8((x[i] * 5 + 1) & 127)

    b = bytearray(100_000)
    spin(b, 1)
    want = b[0]
    for _ in range(2999):
        want = (want * 5 + 1) & 127
    box = [b]
    thread = threading.Thread(target=lambda: spin(box.pop(), 2999))
    thread.start()
    refused = 0
    while thread.is_alive():
        try:
            b.append(0)
            del b[-1]
        except BufferError:
            refused += 1
    thread.join()
    assert refused and b == bytes([want]) * 100_000


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes in Python have no buffers before 3.12")
def test_buffers_written_in_python():
    class Box:
        def __init__(self, inner):
            self.inner, self.released = inner, 0

        def __buffer__(self, flags):
            return memoryview(self.inner)

        def __release_buffer__(self, view):
            self.released += 1

    x = Box(array.array("i", [1, 2]))
    add(x, 1)
    assert x.inner.tolist() == [2, 3] and x.released == 1
    with pytest.raises(ti.KernelTypeError):
        add(x, "n")
    assert x.released == 2


def test_threads_with_buffers_of_their_own():
    failures = []

    def work(start):
        x = array.array("i", range(start, start + 50))
        for _ in range(500):
            add(x, 1)
            if total(x) < 0:
                failures.append(start)
        if x.tolist() != list(range(start + 500, start + 550)):
            failures.append(x)

    threads = [threading.Thread(target=work, args=(1000 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_launches_leave_no_reference():
    x = array.array("i", [1, 2, 3])
    producer = dlpack.Producer((ctypes.c_int32 * 3)(1, 2, 3))
    add(x, 0), add(producer, 0)
    before = sys.getrefcount(x), sys.getrefcount(producer)
    for _ in range(100):
        add(x, 1)
        add(producer, 1)
        total._evaluate(x)
        for wrong in (lambda: add(x, 2**40), lambda: add(producer, "n"), lambda: number(x), lambda: number(producer)):
            with pytest.raises(ti.CompilationError):
                wrong()
    assert (sys.getrefcount(x), sys.getrefcount(producer)) == before
    assert producer.deleted == len([r for r in producer.asked])
    x.append(4)


def test_more_arguments_than_the_stack_has_room_for():
    names = [f"a{i}" for i in range(40)]
    text = "import pestle as ti\n@ti.kernel\ndef f(" + ", ".join(f"{n}: ti.types.ndarray()" for n in names) + "):\n"
    text += "".join(f"    {n}[0] = {i}\n" for i, n in enumerate(names))
    linecache.cache["<forty>"] = (len(text), None, text.splitlines(True), "<forty>")
    scope = {}
    exec(compile(text, "<forty>", "exec"), scope)
    arrays = [array.array("i", [99]) for _ in names]
    for _ in range(3):
        scope["f"](*arrays)
    assert [a[0] for a in arrays] == list(range(40))


# -- arrays that overlap


@pytest.mark.parametrize("shift", [0, 1, 3, -1])
def test_atomics_on_overlapping_arrays(shift):
    @ti.kernel
    def f(x: I1, y: I1):
        for i in x:
            x[i] += 1
            y[i] += 10

    n = 100_000
    base = np.zeros(n + 8, np.int32)
    x, y = base[4 : 4 + n], base[4 + shift : 4 + shift + n]
    f(x, y)
    want = np.zeros_like(base)
    want[4 : 4 + n] += 1
    want[4 + shift : 4 + shift + n] += 10
    assert np.array_equal(base, want)


def test_reductions_into_one_element_by_two_names():
    @ti.kernel
    def f(x: I1, a: I1, b: I1):
        for i in x:
            a[0] += x[i]
            b[0] += 1

    x, s = np.arange(10_000, dtype=np.int32), np.zeros(1, np.int32)
    f(x, s, s)
    assert s[0] == x.sum() + 10_000
    f(x, s, s[:1])
    assert s[0] == 2 * (x.sum() + 10_000)


@pytest.mark.parametrize("shift", [0, 1, 2, 7, -1])
def test_serial_loops_over_overlapping_arrays(shift):
    @ti.kernel
    def f(x: I1, y: I1):
        for _ in range(1):
            for i in range(x.shape[0]):
                y[i] = x[i] + 1

    base = np.arange(1000, dtype=np.int32)
    want = base.copy()
    for i in range(900):
        want[10 + shift + i] = want[10 + i] + 1
    for run in (f, f._evaluate):
        got = base.copy()
        run(got[10:910], got[10 + shift : 910 + shift])
        assert np.array_equal(got, want)


def test_the_same_array_read_and_written():
    @ti.kernel
    def f(x: F1, y: F1) -> ti.f32:
        s = 0.0
        for i in x:
            y[i] = x[i] * 2
            s += x[i]
        return s

    x = np.arange(1000, dtype=np.float32)
    y = x.copy()
    assert f(x, x) == 2 * y.sum() and np.array_equal(x, 2 * y)


# -- Ndarray for others


@pytest.mark.parametrize("name", NUMPY)
def test_numpy_takes_ndarrays_by_dlpack(name):
    a = filled(getattr(ti, name), [1, 0, 1])
    if name != "u1" or np.lib.NumpyVersion(np.__version__) >= "1.25.0":
        x = np.from_dlpack(a)
        assert x.dtype == NUMPY[name] and x.tolist() == [1, 0, 1]
        a[1] = 1
        assert x[1] == 1
        del a
        gc.collect()
        assert x.tolist() == [1, 1, 1]


def test_kernels_take_ndarrays_by_dlpack():
    class Wrapped:
        def __init__(self, inner):
            self.inner = inner

        def __dlpack__(self, **request):
            return self.inner.__dlpack__(**request)

        def __dlpack_device__(self):
            return self.inner.__dlpack_device__()

    a = ti.ndarray(ti.i32, (3, 4))
    number(Wrapped(a))
    assert a.tolist() == expected((3, 4))
    b, c = ti.ndarray(ti.bf16, 3), ti.ndarray(ti.bf16, 3)
    b.fill(1.5)
    move(Wrapped(b), Wrapped(c))
    assert c.tolist() == [1.5] * 3


def test_requests_of_dlpack():
    a = filled(ti.i32, [1, 2, 3])
    assert a.__dlpack_device__() == (1, 0)
    name = lambda capsule: repr(capsule).split('"')[1]  # noqa: E731
    assert name(a.__dlpack__()) == name(a.__dlpack__(max_version=(0, 8))) == "dltensor"
    assert name(a.__dlpack__(max_version=(1, 0))) == name(a.__dlpack__(max_version=(5, 0))) == "dltensor_versioned"
    assert name(a.__dlpack__(dl_device=(1, 0), copy=False, stream=None, max_version=None)) == "dltensor"
    for wrong in ({"stream": 1}, {"dl_device": (2, 0)}, {"dl_device": (1, 1)}):
        with pytest.raises(BufferError, match="CPU"):
            a.__dlpack__(**wrong)
    for wrong in ({"max_version": 1}, {"dl_device": 3}, {"device": 1}):
        with pytest.raises(TypeError):
            a.__dlpack__(**wrong)
    copied = dlpack.Producer((ctypes.c_int32 * 1)())
    copied.__class__ = type("Copied", (dlpack.Producer,), {"__dlpack__": lambda self, **r: a.__dlpack__(copy=True, **r)})
    assert total(copied) == 6
    with pytest.raises(ti.KernelValueError, match="read-only"):
        add(copied, 1)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", [*NUMPY, "bf16"])
def test_pickling(name, protocol):
    for shape in ((2, 3), (), (0, 4)):
        a = ti.ndarray(getattr(ti, name), shape)
        a.fill(1)
        if shape == (2, 3):
            a[1, 2] = 0
        b = pickle.loads(pickle.dumps(a, protocol))
        assert type(b) is ti.Ndarray and b.dtype is a.dtype and b.shape == a.shape and b.tolist() == a.tolist()


def test_pickling_out_of_band():
    a = filled(ti.i64, [1, 2, 3])
    buffers = []
    data = pickle.dumps(a, 5, buffer_callback=buffers.append)
    assert len(buffers) == 1 and pickle.loads(data, buffers=buffers).tolist() == [1, 2, 3]


def test_broken_pickles():
    restore = ti._pestle._ndarray_restore
    assert restore("i32", (2,), b"12345678").shape == (2,)
    for wrong in (("i32", (2,), b"1234567"), ("i32", (3,), b"12345678"), ("i33", (2,), b"12345678"),
                  ("i32", (-2,), b""), ("i32", "ab", b"")):  # fmt: skip
        with pytest.raises(ValueError):
            restore(*wrong)
    with pytest.raises(TypeError):
        restore("i32", (2,), 5)


# -- without numpy


def test_without_numpy(tmp_path):
    program = """
import sys
sys.modules["numpy"] = None
import array, ctypes
import pestle as ti

@ti.kernel
def add(x: ti.types.ndarray(), n: ti.i32) -> ti.i32:
    s = 0
    for i in x:
        x[i] += n
        s += x[i]
    return s

a, n = array.array("i", [1, 2, 3]), ti.ndarray(ti.i32, 3)
print(add(a, 1), list(a), add(n, 2), n.tolist(), add((ctypes.c_int * 2)(5, 6), 1))
try:
    add([1, 2], 1)
except ti.KernelTypeError as error:
    print(error)
"""
    path = tmp_path / "program.py"
    path.write_text(program)
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
    lines = run.stdout.splitlines()
    assert lines and lines[0] == "9 [2, 3, 4] 6 [2, 2, 2] 13", run.stderr
    assert "found list" in lines[1]
