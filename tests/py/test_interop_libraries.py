"""Tensors and arrays of other libraries: torch of any version, jax, Arrow, ml_dtypes. What is not installed is skipped;
`make test-torch` and `make test-debian` install it."""

import gc
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import pestle as ti

try:
    import torch
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="no torch")
NEWER = torch is not None and hasattr(torch.Tensor, "__dlpack_c_exchange_api__")  # 2.9 and later
needs_newer = pytest.mark.skipif(not NEWER, reason="no torch from 2.9 on")

ARRAY = ti.types.ndarray()
I2 = ti.types.ndarray(dtype=ti.i32, ndim=2)
F1 = ti.types.ndarray(dtype=ti.f32, ndim=1)


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


@ti.kernel
def double(x: ARRAY, y: ARRAY):
    for i in x:
        y[i] = x[i] + x[i]


@ti.kernel
def scale(x: F1, n: ti.f32):
    for i in x:
        x[i] *= n


@ti.kernel
def add_up(x: F1) -> ti.f32:
    s = 0.0
    for i in x:
        s += x[i]
    return s


def expected(shape):
    return (100 * np.arange(shape[0])[:, None] + np.arange(shape[1])[None, :]).tolist()


# -- torch: what works

VIEWS = {
    "C order": lambda t: t.zeros((4, 6), dtype=t.int32),
    "transposed": lambda t: t.zeros((4, 6), dtype=t.int32).t(),
    "every other row": lambda t: t.zeros((8, 6), dtype=t.int32)[::2],
    "every other column": lambda t: t.zeros((4, 12), dtype=t.int32)[:, ::2],
    "columns of a wider one": lambda t: t.zeros((4, 12), dtype=t.int32)[:, 3:9],
    "one column": lambda t: t.zeros((4, 6), dtype=t.int32)[:, :1],
    "one row": lambda t: t.zeros((4, 6), dtype=t.int32)[1:2],
    "one": lambda t: t.zeros((4, 6), dtype=t.int32)[1:2, 3:4],
    "permuted": lambda t: t.zeros((2, 3, 4), dtype=t.int32).permute(2, 0, 1)[:, :, 1],
    "empty": lambda t: t.zeros((0, 6), dtype=t.int32),
    "empty, strided": lambda t: t.zeros((4, 6), dtype=t.int32)[::2, 6:],
    "offset": lambda t: t.zeros((5, 7), dtype=t.int32)[1:, 1:],
    "of numpy": lambda t: t.from_numpy(np.zeros((4, 6), np.int32)),
}


@needs_torch
@pytest.mark.parametrize("name", VIEWS)
def test_tensors_in_place(name):
    x = VIEWS[name](torch)
    for run in (number, number, number._evaluate):
        x.zero_()
        run(x)
        assert x.tolist() == expected(x.shape)
        assert total(x) == total._evaluate(x) == int(x.sum())


@needs_torch
def test_nothing_beside_the_view_is_written():
    base = torch.full((9, 14), -1, dtype=torch.int32)
    base[1:8:2, 2:12:3] = 0
    number(base[1:8:2, 2:12:3])
    assert base[1:8:2, 2:12:3].tolist() == expected((4, 4))
    base[1:8:2, 2:12:3] = -1
    assert bool((base == -1).all())


@needs_torch
def test_contiguous_tensors_share_a_specialisation_with_numpy():
    @ti.kernel
    def f(x: I2):
        x[0, 0] = 1

    f(np.zeros((4, 6), np.int32))
    for name in ("C order", "one row", "one", "of numpy", "columns of a wider one"):
        f(VIEWS[name](torch))
    assert f._times["specialisations"] == 1


@needs_torch
def test_expanded_tensors_can_be_read():
    assert total(torch.tensor([[2]], dtype=torch.int32).expand(3, 5)) == 30
    x = torch.arange(3, dtype=torch.int32).unsqueeze(1).expand(3, 4)
    assert total(x) == 12 and total(x.t()) == 12


@needs_torch
def test_tensors_without_axes():
    @ti.kernel
    def f(x: ti.types.ndarray(dtype=ti.f64, ndim=0)):
        x[()] += 1.5

    x = torch.tensor(2.0, dtype=torch.float64)
    f(x), f(x), f._evaluate(x)
    assert x.item() == 6.5


TORCH = {"u1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
         "u32": "uint32", "u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32",
         "f64": "float64"}  # fmt: skip


@needs_torch
@pytest.mark.parametrize("name", TORCH)
def test_dtypes_of_tensors(name):
    if not hasattr(torch, TORCH[name]):
        pytest.skip("torch has no such dtype")
    dtype = getattr(torch, TORCH[name])
    values = [1, 0, 1] if name == "u1" else [1, 2, 50] if name[0] in "iu" else [1, 0.5, -50.25]
    x, y = torch.tensor(values, dtype=dtype), torch.zeros(3, dtype=dtype)
    if name == "u1" and not NEWER:
        with pytest.raises(ti.KernelTypeError, match="this Tensor cannot be used as an array: Bool type is not supp"):
            double(x, y)
        return
    if name == "u1":

        @ti.kernel
        def run(x: ARRAY, y: ARRAY):
            for i in x:
                y[i] = not x[i]

        want = [not v for v in values]
    else:
        run, want = double, [v + v for v in values]
    run(x, y)
    assert y.tolist() == want
    y.zero_()
    run._evaluate(x, y)
    assert y.tolist() == want
    a = ti.ndarray(getattr(ti, name), 3)
    run(x, a)
    assert a.tolist() == want


@needs_torch
def test_derived_classes():
    class Mine(torch.Tensor):
        pass

    for x in (torch.nn.Parameter(torch.ones(4), requires_grad=False), torch.ones(4).as_subclass(Mine)):
        for _ in range(2):
            scale(x, 2.0)
        assert x.tolist() == [4.0] * 4 and add_up(x) == 16


@needs_torch
def test_tensors_that_want_gradients_can_be_read():
    x = torch.ones(4, requires_grad=True)
    if not NEWER:
        with pytest.raises(ti.KernelTypeError, match="cannot be used as an array: .*detach"):
            add_up(x)
        return
    assert add_up(x) == 4 and add_up(x * 2) == 8 and add_up(torch.nn.Parameter(torch.ones(3))) == 3


@needs_torch
def test_a_tensor_that_changes():
    x = torch.ones(4)
    scale(x, 2.0)
    x.resize_(100_000)
    x.fill_(3)
    scale(x, 2.0)
    assert bool((x == 6).all())
    x.set_(torch.ones(3))
    scale(x, 2.0)
    assert x.tolist() == [2, 2, 2]
    x.data = torch.arange(8.0)[::2]
    scale(x, 2.0)
    assert x.tolist() == [0, 4, 8, 12]
    if NEWER:
        x.requires_grad_(True)
        with pytest.raises(ti.KernelValueError, match="requires grad"):
            scale(x, 2.0)
        x.requires_grad_(False)
        scale(x, 0.5)
        assert x.tolist() == [0, 2, 4, 6]


@needs_torch
@pytest.mark.parametrize("shift", [0, 1, -1])
def test_tensors_that_overlap(shift):
    @ti.kernel
    def f(x: F1, y: F1):
        for i in x:
            x[i] += 1.0
            y[i] += 10.0

    n = 100_000
    base = torch.zeros(n + 8)
    f(base[4 : 4 + n], base[4 + shift : 4 + shift + n])
    want = torch.zeros(n + 8)
    want[4 : 4 + n] += 1
    want[4 + shift : 4 + shift + n] += 10
    assert torch.equal(base, want)


# -- torch: what is refused


def refused(call, error, text):
    for _ in range(2):
        with pytest.raises(error, match="argument 'x' of kernel '.*': .*" + text):
            call()


@needs_torch
def test_written_tensors_must_not_want_gradients():
    for x in (torch.ones(4, requires_grad=True), torch.ones(4, requires_grad=True) * 2):
        refused(lambda x=x: scale(x, 2.0), ti.CompilationError, r"detach\(\)")
        scale(x.detach(), 2.0)
        refused(lambda x=x: scale(x, 2.0), ti.CompilationError, r"detach\(\)")
        if NEWER:
            with torch.no_grad():
                refused(lambda x=x: scale(x, 2.0), ti.KernelValueError, r"the tensor requires grad.*detach\(\)")
    assert x.tolist() == [4.0] * 4


REFUSED = {
    "sparse": (lambda t: t.ones(3).to_sparse(), ti.KernelTypeError, r"the tensor is sparse.*to_dense\(\)"),
    "sparse rows": (lambda t: t.ones(2, 2).to_sparse_csr(), ti.KernelTypeError, r"the tensor is sparse.*to_dense\(\)"),
    "meta": (lambda t: t.ones(3, device="meta"), ti.KernelTypeError, "'meta', which has no memory"),
    "quantized": (lambda t: t.quantize_per_tensor(t.ones(3), 0.1, 0, t.qint8), ti.KernelTypeError,
                  r"quantized.*dequantize\(\)"),
    "complex": (lambda t: t.ones(3, dtype=t.complex64), ti.KernelTypeError, "complex64.*real and imaginary"),
    "conjugate": (lambda t: t.ones(3, dtype=t.complex64).conj(), ti.KernelTypeError, "complex64|conj"),
    "negated": (lambda t: t.tensor([1 + 2j, 3j]).conj().imag, ti.KernelTypeError, r"negated.*resolve_neg\(\)"),
    "negated, one": (lambda t: t.tensor([1 + 2j]).conj().imag, ti.KernelTypeError, r"negated.*resolve_neg\(\)"),
    "other dtype": (lambda t: t.ones(3, dtype=t.float64), ti.KernelTypeError, "an array of f32, found an array of f64"),
    "other rank": (lambda t: t.ones(3, 1), ti.KernelValueError, "1 axis, found one with 2"),
    "misaligned": (lambda t: t.frombuffer(bytearray(17), dtype=t.float32, offset=1), ti.KernelValueError, "not aligned"),
    "many axes": (lambda t: t.ones((1,) * 13), ti.KernelValueError, "13 axes"),
    "long": (lambda t: t.ones(1).expand(2**31), ti.KernelValueError, "axis 0 has 2147483648 elements"),
}  # fmt: skip


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_refused_tensors(name):
    make, error, text = REFUSED[name]
    try:
        x = make(torch)
    except (RuntimeError, ValueError, AttributeError) as cause:
        pytest.skip(f"this torch has none: {cause}")
    refused(lambda: add_up(x), error, text)
    refused(lambda: add_up._evaluate(x), error, text)
    assert add_up(torch.ones(3)) == 3
    refused(lambda: add_up(x), error, text)


@needs_torch
def test_negation_that_is_resolved():
    x = torch.tensor([1 + 2j, 3j]).conj().imag
    assert add_up(x.resolve_neg()) == -5
    assert add_up(torch.tensor([1 + 2j, 3j]).imag) == 5


@needs_torch
def test_tensors_as_template_arguments():
    @ti.kernel
    def f(x: ti.template()):
        pass

    if NEWER:
        with pytest.raises(ti.KernelTypeError, match="an array cannot be a template argument"):
            f(torch.ones(3))


# -- torch: lifetimes


@needs_torch
def test_a_tensor_is_held_while_the_kernel_runs():
    @ti.kernel
    def spin(x: F1, rounds: ti.i32):
        for i in x:
            for _ in range(rounds):
                x[i] = x[i] * 0.5 + 1.0

    spin(torch.zeros(4), 1)
    keep = np.zeros(200_000, np.float32)
    base = torch.from_numpy(keep)
    box, alive = [base], weakref.ref(base)
    thread = threading.Thread(target=lambda: spin(box.pop(), 500))
    thread.start()
    del base
    while thread.is_alive():
        gc.collect()
    thread.join()
    gc.collect()
    assert alive() is None and (keep == 2).all()


@needs_torch
def test_launches_leave_no_reference():
    x = torch.zeros(4)
    scale(x, 1.0)
    before = sys.getrefcount(x)
    for _ in range(100):
        scale(x, 1.0)
        add_up._evaluate(x)
        with pytest.raises(ti.CompilationError):
            scale(x, "2")
        with pytest.raises(ti.CompilationError):
            number(x)
    assert sys.getrefcount(x) == before


# -- torch: the way out


@needs_torch
@pytest.mark.parametrize("name", TORCH)
def test_torch_takes_ndarrays(name):
    a = ti.ndarray(getattr(ti, name), (2, 3))
    if not hasattr(torch, TORCH[name]) or (name == "u1" and not NEWER):
        pytest.skip("torch has no such dtype")
    x = torch.from_dlpack(a)
    assert x.dtype == getattr(torch, TORCH[name]) and x.shape == (2, 3)
    x[1, 2] = 1
    a[0, 0] = 1
    assert x.tolist() == a.tolist() and a[1, 2] == 1
    del a
    gc.collect()
    assert x[0, 0] == 1 and x[1, 2] == 1


@needs_torch
def test_torch_without_numpy(tmp_path):
    program = """
import sys, warnings
warnings.simplefilter("ignore")
sys.modules["numpy"] = None
import torch
import pestle as ti

@ti.kernel
def f(x: ti.types.ndarray(dtype=ti.f32, ndim=1)) -> ti.f32:
    s = 0.0
    for i in x:
        x[i] += 1.0
        s += x[i]
    return s

x = torch.zeros(4)
print(f(x), x.tolist())
"""
    path = tmp_path / "program.py"
    path.write_text(program)
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
    assert run.stdout.splitlines() == ["4.0 [1.0, 1.0, 1.0, 1.0]"], run.stderr


# -- others


def test_bfloat16_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([1, 0.5, -50.25], ml_dtypes.bfloat16)
    y = np.zeros_like(x)
    double(x, y)
    assert y.astype(np.float32).tolist() == [2, 1, -100.5]
    double._evaluate(y[::-1], y)
    with pytest.raises(ti.KernelTypeError, match="float8_e4m3fn"):
        double(np.zeros(3, ml_dtypes.float8_e4m3fn), y)
    with pytest.raises(ti.KernelTypeError, match="int4"):
        double(np.zeros(3, ml_dtypes.int4), y)


def test_jax():
    jax = pytest.importorskip("jax")
    x = jax.numpy.arange(6, dtype="float32")
    y = np.zeros(6, np.float32)
    double(x, y)
    assert y.tolist() == [0, 2, 4, 6, 8, 10] and add_up(x) == 15
    with pytest.raises(ti.KernelValueError, match="argument 'x' of kernel 'scale': the array is read-only"):
        scale(x, 2.0)
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    b = jax.numpy.ones(3, dtype="bfloat16")
    c = ti.ndarray(ti.bf16, 3)
    double(b, c)
    assert c.tolist() == [2, 2, 2]
    a = ti.ndarray(ti.f32, 3)
    a.fill(4)
    assert jax.numpy.from_dlpack(a).tolist() == [4, 4, 4]


def test_arrow():
    arrow = pytest.importorskip("pyarrow")
    x = arrow.array([1, 2, 3], arrow.float32())
    assert add_up(x) == 6 and add_up(x[1:]) == 5
    with pytest.raises(ti.KernelValueError, match="read-only"):
        scale(x, 2.0)
    with pytest.raises(ti.KernelTypeError, match="null"):
        add_up(arrow.array([1, None, 3], arrow.float32()))
    assert x.to_pylist() == [1, 2, 3]
    y = np.zeros(16, np.uint8)
    double(arrow.py_buffer(bytes(range(16))), y)
    assert y.tolist() == list(range(0, 32, 2))


def test_numpy_by_dlpack():
    class Wrapped:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **request):
            return self.array.__dlpack__(**request)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    for make in (lambda: np.zeros((4, 6), np.int32), lambda: np.zeros((4, 6), np.int32, order="F"),
                 lambda: np.zeros((8, 12), np.int32)[::-2, ::2], lambda: np.zeros((0, 6), np.int32)):  # fmt: skip
        x = make()
        number(Wrapped(x))
        assert x.tolist() == expected(x.shape)
        assert total(Wrapped(x)) == x.sum()
    x = np.ones((2, 2), np.int32)
    x.flags.writeable = False
    with pytest.raises(ti.CompilationError, match="read-?only"):
        number(Wrapped(x))
