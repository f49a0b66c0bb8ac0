# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar, final, overload

from pestle import _pestle as _pestle
from pestle._explain import Explanation as _Explanation
from pestle import linalg as linalg
from pestle import math as math
from pestle import types as types
from pestle._tensor import Backend as Backend
from pestle._tensor import MatrixTensor as MatrixTensor
from pestle._tensor import Tensor as Tensor
from pestle._tensor import VectorTensor as VectorTensor
from pestle._tensor import tensor as tensor
from pestle._tensor import wrap as wrap
from pestle.types import NDArray as NDArray
from pestle.types import Template as Template
from pestle.types import bf16 as bf16
from pestle.types import bfloat16 as bfloat16
from pestle.types import f16 as f16
from pestle.types import f32 as f32
from pestle.types import f64 as f64
from pestle.types import float16 as float16
from pestle.types import float32 as float32
from pestle.types import float64 as float64
from pestle.types import i8 as i8
from pestle.types import i16 as i16
from pestle.types import i32 as i32
from pestle.types import i64 as i64
from pestle.types import int8 as int8
from pestle.types import int16 as int16
from pestle.types import int32 as int32
from pestle.types import int64 as int64
from pestle.types import ref as ref, template as template
from pestle.types import u1 as u1
from pestle.types import u8 as u8
from pestle.types import u16 as u16
from pestle.types import u32 as u32
from pestle.types import u64 as u64
from pestle.types import uint1 as uint1
from pestle.types import uint8 as uint8
from pestle.types import uint16 as uint16
from pestle.types import uint32 as uint32
from pestle.types import uint64 as uint64

__version__: str

_P = ParamSpec("_P")
_Q = ParamSpec("_Q")
_R = TypeVar("_R")
_S = TypeVar("_S")
_T = TypeVar("_T")
_Number: TypeAlias = int | float | bool
_Dtype: TypeAlias = Any  # f32 and the like, int, float, bool, numpy dtypes

# -- options ---------------------------------------------------------------------------------------------------------

def init(
    arch: str | None = None,
    *,
    debug: bool = False,
    checked: bool = False,
    overflow: str | None = None,
    default_fp: _Dtype = None,
    default_ip: _Dtype = None,
    fast_math: bool = False,
    deterministic: bool = False,
    random_seed: int = 0,
    threads: int | None = None,
    cpu_max_num_threads: int | None = None,
    offline_cache: bool = True,
    formats: str | None = None,
    **ignored: Any,
) -> None:
    """Sets options. Not needed: everything works without. Each call starts from the defaults again.

    arch: "cpu" and its other names, or "python": kernels run as the plain Python that they are, for stepping through.
    debug, checked: kernels check indices, divisors and assertions and raise KernelAssertionError.
    overflow: what checked kernels do where an integer `+`, `-`, `*` or `<<` that the program writes has an exact result
    beyond its type: "warn" (a RuntimeWarning with file and line, once a place; the default), "error" (a
    KernelAssertionError), "print" (to sys.stdout, each launch), "ignore". The result wraps, as unchecked.
    default_fp (f16, f32, f64), default_ip (i32, i64): the types of literals; None: f32, i32.
    deterministic: loops that add floats to places which the data choose, or use the old value of an atomic, run on one thread
    in the order of iterations, so that their results have the same bits always.
    threads: how many work on a parallel loop; None or 0: as many as there are CPUs.
    offline_cache: False: nothing is kept on disk.
    formats: "python" (the default) or "c": `f"{x:.2}"` of a float then has two digits behind the point, as with `:.2f`.

    Options of Taichi that have no meaning here are accepted; unknown ones raise KernelTypeError.
    """

def reset() -> None:
    """Sets all options to their defaults."""

def sync() -> None:
    """Waits for launches. On the CPU they are over when they return."""

cpu: str
gpu: str
x64: str
arm64: str
cuda: str
amdgpu: str
vulkan: str
metal: str
python: str

# -- kernels ---------------------------------------------------------------------------------------------------------

@final
class Kernel(Generic[_P, _R]):
    """What @kernel makes of a function: call it like the function. It is compiled at the first call with each
    combination of argument types, and kept on disk for the next process."""

    __name__: str
    @property
    def __wrapped__(self) -> Callable[_P, _R]: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    @overload
    def __get__(self, instance: None, owner: type, /) -> Kernel[_P, _R]: ...
    @overload
    def __get__(self: Kernel[Concatenate[Any, _Q], _S], instance: object, owner: type | None = None, /) -> Callable[_Q, _S]: ...
    def ir(self, *args: Any, after: str = "front", **kwargs: Any) -> str:
        """The text of the IR that these arguments give: after the front end, after a pass ("fold", ...), or LLVM's
        ("llvm"). Without arguments: for the last launch."""

    def asm(self, *args: Any, **kwargs: Any) -> str:
        """The assembly that these arguments give. Without arguments: for the last launch."""

    def explain(self, *args: Any, asm: bool = False, **kwargs: Any) -> _Explanation:
        """What these arguments make of each line: lanes or scalar and why, accesses, reductions, bytes and flops; with asm=True
        its assembly. Print it. Without arguments: for the last launch."""

    def grad(self, *args: Any, **kwargs: Any) -> None:
        """Differentiation is not there yet: raises KernelRuntimeError."""

    def _ir(self, *args: _P.args, **kwargs: _P.kwargs) -> str: ...
    def _text(self, what: str, *args: Any, **kwargs: Any) -> str: ...
    def _evaluate(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    @property
    def _times(self) -> dict[str, int | bool] | None: ...

@overload
def kernel(function: Callable[_P, _R], /) -> Kernel[_P, _R]:
    """Makes a function a kernel, which runs as native code; its outermost `for` loops run in parallel.

    Parameters are annotated: a scalar type (f32), types.ndarray(dtype, ndim) for an array, template() for what is
    known when the kernel is compiled. The result, if there is one, is a scalar and annotated too (`-> ti.f32`).
    Raises KernelTypeError when it is no plain function. What the function says is looked at when it is first called;
    errors in it raise KernelSyntaxError, KernelTypeError and others, with the line.
    """

@overload
def kernel(*, fastcache: bool = False, pure: bool = False, graph: bool = False, checkpoints: Any = None) -> Callable[[Callable[_P, _R]], Kernel[_P, _R]]:
    """@kernel(...): the keywords are Taichi's, and without effect; nothing has to be asked for."""

@overload
def func(function: Callable[_P, _R], /) -> Callable[_P, _R]:
    """Makes a function one that kernels and other funcs can call. Calling it from Python raises TypeError.

    Annotated parameters convert scalars; others take the type of what is passed.
    """

@overload
def func(*, is_real_function: bool = False, requires_top_level: bool = False) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """is_real_function: as real_func. requires_top_level: KernelSyntaxError for a call inside a run-time if, for or while,
    where the func's loops would not be parallel."""

@overload
def real_func(function: Callable[_P, _R], /) -> Callable[_P, _R]:
    """A func that is always called, never expanded in place: it may return from anywhere and call itself. All parameters
    are annotated, and the result if there is one; KernelSyntaxError when not."""

@overload
def real_func() -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...
@overload
def data_oriented(cls: type[_T], /) -> type[_T]:
    """Marks a class whose methods are kernels and funcs. Nothing needs it: methods may be kernels in any class."""

@overload
def data_oriented(*, template_primitives: bool = True) -> Callable[[type[_T]], type[_T]]: ...
@overload
def pyfunc(function: Callable[_P, _R], /) -> Callable[_P, _R]:
    """As func, and Python can call it too: then it runs as the plain function that it is."""

@overload
def pyfunc() -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...

# -- arrays ----------------------------------------------------------------------------------------------------------

class Matrix:
    """A matrix, or a vector when made from numbers: what kernels give and take, and what ti.Matrix([[..]]) makes in them.

    arr is a list of rows (or of numbers), a numpy array, a Matrix. With dt its elements are held as that type does;
    without they are Python numbers and become default_fp or default_ip in a kernel. Operators work element by element, as
    in kernels; so do comparisons. Raises TypeError for elements that are no numbers, ValueError for rows of different
    lengths and for more than 2**20 elements.
    """

    def __init__(self, arr: Any, dt: Any = None) -> None: ...
    @property
    def n(self) -> int:
        """Rows, or elements of a vector."""

    @property
    def m(self) -> int:
        """Columns; of a vector 1."""

    @property
    def ndim(self) -> int:
        """Axes: 1 of a vector, 2 of a matrix."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""

    @property
    def dtype(self) -> Any:
        """The type of the elements in a kernel."""

    @property
    def entries(self) -> Any:
        """The elements as a numpy array: to_numpy()."""

    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, index: Any, /) -> Any: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __add__(self, value: Any, /) -> Any: ...
    def __radd__(self, value: Any, /) -> Any: ...
    def __sub__(self, value: Any, /) -> Any: ...
    def __rsub__(self, value: Any, /) -> Any: ...
    def __mul__(self, value: Any, /) -> Any: ...
    def __rmul__(self, value: Any, /) -> Any: ...
    def __truediv__(self, value: Any, /) -> Any: ...
    def __rtruediv__(self, value: Any, /) -> Any: ...
    def __floordiv__(self, value: Any, /) -> Any: ...
    def __rfloordiv__(self, value: Any, /) -> Any: ...
    def __mod__(self, value: Any, /) -> Any: ...
    def __rmod__(self, value: Any, /) -> Any: ...
    def __pow__(self, value: Any, mod: Any = None, /) -> Any: ...
    def __rpow__(self, value: Any, mod: Any = None, /) -> Any: ...
    def __matmul__(self, value: Any, /) -> Any: ...
    def __rmatmul__(self, value: Any, /) -> Any: ...
    def __and__(self, value: Any, /) -> Any: ...
    def __rand__(self, value: Any, /) -> Any: ...
    def __or__(self, value: Any, /) -> Any: ...
    def __ror__(self, value: Any, /) -> Any: ...
    def __xor__(self, value: Any, /) -> Any: ...
    def __rxor__(self, value: Any, /) -> Any: ...
    def __lshift__(self, value: Any, /) -> Any: ...
    def __rlshift__(self, value: Any, /) -> Any: ...
    def __rshift__(self, value: Any, /) -> Any: ...
    def __rrshift__(self, value: Any, /) -> Any: ...
    def __lt__(self, value: Any, /) -> Any: ...
    def __le__(self, value: Any, /) -> Any: ...
    def __gt__(self, value: Any, /) -> Any: ...
    def __ge__(self, value: Any, /) -> Any: ...
    def __neg__(self) -> Any: ...
    def __pos__(self) -> Any: ...
    def __abs__(self) -> Any: ...
    def __invert__(self) -> Any: ...

    def sum(self) -> Any:
        """The sum of all elements."""

    def max(self) -> Any:
        """The largest element."""

    def min(self) -> Any:
        """The smallest element."""

    def any(self) -> Any:
        """Whether some element is not 0."""

    def all(self) -> Any:
        """Whether no element is 0."""

    def norm_sqr(self) -> Any:
        """The sum of the squares of all elements."""

    def norm(self, eps: float = 0) -> Any:
        """sqrt(norm_sqr() + eps)."""

    def norm_inv(self, eps: float = 0) -> Any:
        """1 / norm(eps)."""

    def normalized(self, eps: float = 0) -> Any:
        """The elements divided by norm() + eps."""

    def dot(self, other: Any, /) -> Any:
        """The inner product of two vectors."""

    def frobenius_inner(self, other: Any, /) -> Any:
        """The sum of products of elements."""

    def cross(self, other: Any, /) -> Any:
        """The cross product of two vectors of 3, or of 2: then a number."""

    def outer_product(self, other: Any, /) -> Any:
        """The matrix of all products."""

    def transpose(self) -> Any:
        """Rows become columns."""

    def trace(self) -> Any:
        """The sum of the diagonal of a square matrix."""

    def determinant(self) -> Any:
        """Of a square matrix."""

    def inverse(self) -> Any:
        """Of a square matrix."""

    def cast(self, dtype: Any, /) -> Any:
        """A copy with elements of the type."""

    def copy(self) -> Any:
        """A copy."""

    def fill(self, value: Any, /) -> Any:
        """Sets all elements."""

    def to_list(self) -> Any:
        """The elements as a list, of a matrix of lists."""

    def to_numpy(self, dtype: Any = None) -> Any:
        """The elements as a numpy array."""

    def get_shape(self) -> Any:
        """The lengths of the axes."""

    @classmethod
    def zero(cls, dt: Any, n: int, m: int = ..., /) -> Any:
        """Zeros; of a vector zero(dt, n)."""

    @classmethod
    def one(cls, dt: Any, n: int, m: int = ..., /) -> Any:
        """Ones; of a vector one(dt, n)."""

    @classmethod
    def unit(cls, n: int, i: int, dt: Any = None, /) -> Any:
        """A vector of zeros with a 1 at i."""

    @classmethod
    def identity(cls, dt: Any, n: int, /) -> Any:
        """The unit matrix."""

    @classmethod
    def diag(cls, dim: int, val: Any) -> Any:
        """A square matrix with val on its diagonal."""

    @classmethod
    def field(cls, n: int, *args: Any, **kwargs: Any) -> Any:
        """A field of vectors, Vector.field(n, dtype, shape), or matrices, Matrix.field(n, m, dtype, shape). The rest as for
        pestle.field: layout=Layout.SOA keeps each scalar of all elements side by side."""

    @classmethod
    def ndarray(cls, n: int, *args: Any, **kwargs: Any) -> Any:
        """An Ndarray of vectors, Vector.ndarray(n, dtype, shape), or matrices, Matrix.ndarray(n, m, dtype, shape)."""

    @classmethod
    def tensor(cls, n: int, *args: Any, **kwargs: Any) -> Any:
        """A field or an ndarray of vectors, Vector.tensor(n, dtype, shape), or matrices, Matrix.tensor(n, m, dtype, shape);
        backend and needs_grad as those of pestle.tensor."""

    @classmethod
    def rows(cls, rows: Any, /) -> Any:
        """A matrix from its rows."""

    @classmethod
    def cols(cls, columns: Any, /) -> Any:
        """A matrix from its columns."""

@final
class Vector(Matrix):
    """A vector: ti.Vector([1.0, 2.0, 3.0]). Its components are x, y, z and w, r, g, b and a, or s, t, p and q too, and any
    sequence of up to four of these is a vector of them: v.xy = v.yx."""

@final
class Struct:
    """A value with named members: Struct(a=1, b=[1.5, 2]) or Struct({"a": 1}). Members are attributes, and are held as the
    struct's type says (without one: Python numbers, vectors, structs). Raises TypeError for other values."""

    def __init__(self, **members: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any, /) -> None: ...
    def __getitem__(self, index: str, /) -> Any: ...
    def to_dict(self, include_methods: bool = False, include_ndim: bool = False) -> dict[str, Any]:
        """The members by name; structs in it as dicts."""

    def keys(self) -> list[str]:
        """The names of the members."""

    def items(self) -> list[tuple[str, Any]]:
        """Pairs of names and members."""

def dataclass(cls: type, /) -> Any:
    """Makes a class the type of structs whose members are its annotations and whose methods are its functions (those with
    @func; plain ones can be called from Python, too). Raises KernelSyntaxError for a default value, TypeError for annotations
    that are no types."""

# -- decompositions of matrices, in kernels ----------------------------------------------------------------------------

def svd(A: Any, dt: Any = None) -> Any:
    """The singular value decomposition of a 2 by 2 or 3 by 3 matrix: U, S, V with A = U @ S @ V.transpose(). U and V are
    rotations; S is diagonal, its elements descend, and the last one has the sign of A's determinant. dt: the type to compute
    in; without it that of A, default_fp for integers. StaticAssertionError for other sizes."""

def polar_decompose(A: Any, dt: Any = None) -> Any:
    """A rotation R and a symmetric P with A = R @ P, of a 2 by 2 or 3 by 3 matrix. dt: as for svd. StaticAssertionError for other
    sizes."""

def sym_eig(A: Any, dt: Any = None) -> Any:
    """The eigenvalues of a symmetric matrix, ascending, and a matrix whose columns are their eigenvectors, of length 1 and
    perpendicular to each other. dt: as for svd. StaticAssertionError when it is not square."""

def make_spd(A: Any, dt: Any = None) -> Any:
    """The nearest positive semidefinite matrix to a symmetric one: its negative eigenvalues become 0. dt: as for svd."""

def eig(A: Any, dt: Any = None) -> Any:
    """The eigenvalues of a 2 by 2 matrix, a row each of real and imaginary part, and a 4 by 2 matrix whose columns are their
    eigenvectors, of length 1: real and imaginary part of the first component, then of the second. dt: as for svd."""

def solve(A: Any, b: Any, dt: Any = None) -> Any:
    """x with A @ x = b, by elimination with partial pivoting. Of a singular A: infinities and NaNs. dt: as for svd.
    StaticAssertionError when A is not square or b not as long."""

@final
class Ndarray:
    """A dense array in C order, made by ndarray(dtype, shape). Needs no numpy; numpy.asarray(a) shares its memory."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""

    @property
    def dtype(self) -> Any:
        """The element type, such as pestle.f32."""

    @property
    def ndim(self) -> int:
        """The number of axes."""

    @property
    def size(self) -> int:
        """The number of elements."""

    @property
    def layout(self) -> Layout:
        """How the scalars of the elements lie in memory."""

    @property
    def name(self) -> str:
        """What it was called when it was made, or ""."""

    @property
    def grad(self) -> Any:
        """The array of the same shape that needs_grad=True made, or None."""

    @property
    def element_shape(self) -> tuple[int, ...]:
        """The shape of one element: () for scalars."""

    @property
    def n(self) -> int:
        """Vectors: their length; matrices: their rows. Scalars have none: AttributeError."""

    @property
    def m(self) -> int:
        """Matrices: their columns; vectors: 1. Scalars have none: AttributeError."""

    def __getitem__(self, index: int | tuple[int, ...] | slice | None, /) -> Any:
        """One element, as a Python number: a[i, j]; a[()] or a[None] without axes. Negative indices count from the
        end. Raises IndexError. With one axis, a[i:j] is a BufferView; other slices are numpy.asarray(a)[...]."""

    def __setitem__(self, index: int | tuple[int, ...] | None, value: _Number, /) -> None:
        """Sets one element. A float for an integer type raises TypeError, a value out of range ValueError."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """A copy as a numpy array, converted to dtype if given. copy=False raises ValueError."""

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __copy__(self) -> Ndarray: ...
    def __deepcopy__(self, memo: Any, /) -> Ndarray: ...
    def fill(self, value: _Number, /) -> None:
        """Sets every element. The value has to fit the element type, as for a[i] = value."""

    def copy_from(self, other: Any, /) -> None:
        """Copies the elements of an Ndarray or numpy array of the same shape, converted as by ti.cast (from numpy: within
        one kind). Raises ValueError when the shapes differ."""

    def to_numpy(self, dtype: Any = None, keep_dims: bool = False, copy: bool | None = True) -> Any:
        """A copy as a numpy array (bf16: as float32), with the axes of the elements last. keep_dims: vectors as matrices
        of one column. copy=None shares the memory where numpy can; copy=False raises ValueError where it cannot."""

    def from_numpy(self, array: Any, /) -> None:
        """Copies a numpy array of the same shape; its dtype may differ within its kind. Raises ValueError when the
        shapes differ, TypeError for another kind."""

    def to_torch(self, device: Any = None, keep_dims: bool = False, copy: bool | None = True) -> Any:
        """A copy as a torch tensor, on a device. copy=False or None: of the same memory."""

    def from_torch(self, tensor: Any, /) -> None:
        """Copies a torch tensor of the same shape, from any device. Raises ValueError when the shapes differ."""

    def get_scalar_field(self, *index: int) -> Any:
        """One scalar of every element, as a view: x.get_scalar_field(i) of vectors, (i, j) of matrices. Raises IndexError."""

    def tolist(self) -> Any:
        """The elements in nested lists of Python numbers; without axes, one number."""

def ndarray(
    dtype: Any, shape: int | Sequence[int], needs_grad: bool = False, layout: Any = None, order: str | None = None
) -> Ndarray:
    """A dense array of zeros. needs_grad: makes a.grad, an array of the same shape. dtype may be the type of a vector, matrix
    or struct; layout: for those, Layout.AOS or Layout.SOA. order="ji" stores the last axis outermost.

    dtype: a scalar type (f32), int, float, bool, or a numpy dtype. shape: a length or a sequence of up to 8, each
    from 0 to 2**31 - 1. Raises KernelTypeError for another dtype, KernelValueError for a shape that cannot be.
    """

class Layout:
    """How the elements of fields of vectors, matrices and structs lie in memory."""

    AOS: Layout
    SOA: Layout
    name: str
    value: int
    def __init__(self, name: str, value: int) -> None: ...

class BufferView:
    """A range of an ndarray with one axis, as an argument of kernels: arr[a:b] makes one, too. Nothing is copied.

    It annotates parameters that take one: `v: ti.BufferView`, `v: ti.BufferView[ti.f32]`. In kernels it makes views of arrays.
    """

    def __init__(self, arr: Any, offset: int, size: int) -> None: ...
    def __class_getitem__(cls, dtype: Any, /) -> Any: ...
    @property
    def offset(self) -> int:
        """The first element's index in the ndarray."""

    @property
    def size(self) -> int:
        """The number of elements."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(size,)"""

    @property
    def dtype(self) -> Any:
        """The type of a scalar, such as pestle.f32."""

    def subview(self, offset: int, size: int) -> BufferView:
        """A range of this one, as view[offset:offset + size]. Raises KernelValueError where it does not fit."""

    def get_ndarray(self) -> Ndarray:
        """The ndarray that it is a range of."""

    def __getitem__(self, index: Any, /) -> Any: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...

@final
class Field:
    """A dense array that kernels may use without its being passed: from a global, a closure, an attribute, a list.

    It is made by field(dtype, shape), keeps its memory as long as it lives, whatever init() and reset() do, and cannot
    be pickled. numpy.asarray(x) shares its memory.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes; () without axes."""

    @property
    def offset(self) -> tuple[int, ...]:
        """The first index of each axis: zeros, if it was made without."""

    @property
    def dtype(self) -> Any:
        """The type of a scalar, such as pestle.f32."""

    @property
    def ndim(self) -> int:
        """The number of axes."""

    @property
    def size(self) -> int:
        """The number of elements."""

    @property
    def layout(self) -> Layout:
        """How the scalars of the elements lie in memory."""

    @property
    def name(self) -> str:
        """What it was called when it was made, or ""."""

    @property
    def grad(self) -> Any:
        """The field of the same shape that needs_grad=True made, or None."""

    @property
    def element_shape(self) -> tuple[int, ...]:
        """The shape of one element: () for scalars."""

    @property
    def n(self) -> int:
        """Vectors: their length; matrices: their rows. Scalars have none: AttributeError."""

    @property
    def m(self) -> int:
        """Matrices: their columns; vectors: 1. Scalars have none: AttributeError."""

    def __getitem__(self, index: Any, /) -> Any:
        """One element: x[i, j]; x[None] or x[()] without axes. From Python, negative indices count from the end; a
        wrong index raises IndexError, a slice TypeError (numpy.asarray(x)[...] has slices)."""

    def __setitem__(self, index: Any, value: Any, /) -> None:
        """Sets one element. A float for an integer type raises TypeError, a value out of range ValueError."""

    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __copy__(self) -> Field: ...
    def __deepcopy__(self, memo: Any, /) -> Field: ...
    def fill(self, value: Any, /) -> None:
        """Sets every element. The value has to fit the element type, as for x[i] = value."""

    def copy_from(self, other: Any, /) -> None:
        """Copies the elements of a field, Ndarray or numpy array of the same shape, converted as by ti.cast (from numpy:
        within one kind). Raises ValueError when the shapes differ."""

    def to_numpy(self, dtype: Any = None, keep_dims: bool = False, copy: bool | None = True) -> Any:
        """A copy as a numpy array (bf16: as float32), with the axes of the elements last. keep_dims: vectors as matrices
        of one column. copy=None shares the memory where numpy can; copy=False raises ValueError where it cannot."""

    def from_numpy(self, array: Any, /) -> None:
        """Copies a numpy array of the same shape; its dtype may differ within its kind. Raises ValueError when the
        shapes differ, TypeError for another kind."""

    def to_torch(self, device: Any = None, keep_dims: bool = False, copy: bool | None = True) -> Any:
        """A copy as a torch tensor, on a device. copy=False or None: of the same memory."""

    def from_torch(self, tensor: Any, /) -> None:
        """Copies a torch tensor of the same shape, from any device. Raises ValueError when the shapes differ."""

    def get_scalar_field(self, *index: int) -> Any:
        """One scalar of every element, as a view: x.get_scalar_field(i) of vectors, (i, j) of matrices. Raises IndexError."""

    def tolist(self) -> Any:
        """The scalars in nested lists."""

@final
class StructField:
    """A field of structs: x.member is the field of one member, x[i] a struct with the element's values; what is assigned to
    its members goes into the field. Made by types.struct(...).field(shape), Struct.field(members, shape), field(type, shape)."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""

    @property
    def offset(self) -> tuple[int, ...]:
        """The first index of each axis."""

    @property
    def ndim(self) -> int:
        """The number of axes."""

    @property
    def size(self) -> int:
        """The number of elements."""

    @property
    def dtype(self) -> Any:
        """The type of the structs."""

    @property
    def grad(self) -> Any:
        """The field of the same structs that needs_grad=True made, or None."""

    @property
    def name(self) -> str:
        """What it was called when it was made, or ""."""

    def __getattr__(self, name: str, /) -> Any: ...
    def __getitem__(self, index: Any, /) -> Any: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def fill(self, value: Any, /) -> None:
        """Sets every element: to a struct or dict, or all members to a number."""

    def copy_from(self, other: Any, /) -> None:
        """Copies a field of such structs, of the same shape."""

    def to_numpy(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """A numpy array for each member, by name."""

    def from_numpy(self, arrays: Any, /) -> None:
        """Copies a dict of numpy arrays, one a member. Raises ValueError for other members or shapes."""

    def to_torch(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """A tensor for each member, by name."""

    def from_torch(self, tensors: Any, /) -> None:
        """Copies a dict of tensors, one a member."""

    def get_member_field(self, name: str, /) -> Any:
        """The field of one member. Raises AttributeError."""

    def keys(self) -> list[str]:
        """The names of the members."""

@final
class StructNdarray:
    """An ndarray of structs: x.member is the Ndarray of one member, x[i] a struct with the element's values; what is assigned
    to its members goes into the array. Made by types.struct(...).ndarray(shape), ndarray(type, shape)."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""

    @property
    def offset(self) -> tuple[int, ...]:
        """The first index of each axis."""

    @property
    def ndim(self) -> int:
        """The number of axes."""

    @property
    def size(self) -> int:
        """The number of elements."""

    @property
    def dtype(self) -> Any:
        """The type of the structs."""

    @property
    def grad(self) -> Any:
        """The array of the same structs that needs_grad=True made, or None."""

    @property
    def name(self) -> str:
        """What it was called when it was made, or ""."""

    def __getattr__(self, name: str, /) -> Any: ...
    def __getitem__(self, index: Any, /) -> Any: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def fill(self, value: Any, /) -> None:
        """Sets every element: to a struct or dict, or all members to a number."""

    def copy_from(self, other: Any, /) -> None:
        """Copies an array of such structs, of the same shape."""

    def to_numpy(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """A numpy array for each member, by name."""

    def from_numpy(self, arrays: Any, /) -> None:
        """Copies a dict of numpy arrays, one a member. Raises ValueError for other members or shapes."""

    def to_torch(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """A tensor for each member, by name."""

    def from_torch(self, tensors: Any, /) -> None:
        """Copies a dict of tensors, one a member."""

    def get_member_field(self, name: str, /) -> Any:
        """The array of one member. Raises AttributeError."""

    def keys(self) -> list[str]:
        """The names of the members."""

def field(
    dtype: _Dtype,
    shape: int | Sequence[int] | None = None,
    order: str | None = None,
    name: str | None = None,
    offset: int | Sequence[int] | None = None,
    needs_grad: bool = False,
    needs_dual: bool = False,
    layout: Any = None,
) -> Field:
    """A dense array of zeros that kernels may use without its being passed.

    dtype: a scalar type (f32), int, float, bool, or a numpy dtype. shape: a length or a sequence of up to 12, each from 1
    on; () for a single value, x[None]. order: the axes from the outermost in memory on, "ij" or "ji". offset: the
    first index of each axis; may be negative. layout: for elements of several scalars, Layout.AOS or Layout.SOA.
    needs_grad: makes x.grad, a field of the same shape.
    Raises KernelTypeError for another dtype, KernelValueError for a shape or an offset that cannot be.
    """

# -- functions for kernels ---------------------------------------------------------------------------------------------
#
# In a kernel they take scalars of any type (and vectors, element by element) unless said otherwise. Functions of floats
# take integers as default_fp. Outside kernels those that compute work on Python numbers too, in f64 and i64; the others
# raise TypeError.

def sqrt(x: Any, /) -> Any:
    """The square root; NaN below 0. A float; integers become default_fp."""

def rsqrt(x: Any, /) -> Any:
    """1 / sqrt(x). A float; integers become default_fp."""

def exp(x: Any, /) -> Any:
    """e to the power of x. A float; integers become default_fp."""

def exp2(x: Any, /) -> Any:
    """2 to the power of x. A float; integers become default_fp."""

def log(x: Any, /) -> Any:
    """The natural logarithm; NaN below 0, -inf at 0. A float; integers become default_fp."""

def log2(x: Any, /) -> Any:
    """The logarithm to base 2; NaN below 0, -inf at 0. A float; integers become default_fp."""

def log10(x: Any, /) -> Any:
    """The logarithm to base 10; NaN below 0, -inf at 0. A float; integers become default_fp."""

def expm1(x: Any, /) -> Any:
    """exp(x) - 1, precise near 0. A float; integers become default_fp."""

def log1p(x: Any, /) -> Any:
    """log(1 + x), precise near 0; NaN below -1, -inf at -1. A float; integers become default_fp."""

def sin(x: Any, /) -> Any:
    """The sine; x in radians. A float; integers become default_fp."""

def cos(x: Any, /) -> Any:
    """The cosine; x in radians. A float; integers become default_fp."""

def tan(x: Any, /) -> Any:
    """The tangent; x in radians. A float; integers become default_fp."""

def asin(x: Any, /) -> Any:
    """The arc sine, from -pi/2 to pi/2; NaN outside [-1, 1]. A float; integers become default_fp."""

def acos(x: Any, /) -> Any:
    """The arc cosine, from 0 to pi; NaN outside [-1, 1]. A float; integers become default_fp."""

def atan(x: Any, /) -> Any:
    """The arc tangent, from -pi/2 to pi/2. A float; integers become default_fp."""

def sinh(x: Any, /) -> Any:
    """The hyperbolic sine. A float; integers become default_fp."""

def cosh(x: Any, /) -> Any:
    """The hyperbolic cosine. A float; integers become default_fp."""

def tanh(x: Any, /) -> Any:
    """The hyperbolic tangent. A float; integers become default_fp."""

def cbrt(x: Any, /) -> Any:
    """The cube root, of negative numbers too. A float; integers become default_fp."""

def erf(x: Any, /) -> Any:
    """The error function. A float; integers become default_fp."""

def abs(x: Any, /) -> Any:
    """The absolute value, of x's type; the lowest signed integer stays as it is."""

def floor(x: Any, dtype: _Dtype = ..., /) -> Any:
    """The largest whole number that is not above x: a float, or converted to dtype."""

def ceil(x: Any, dtype: _Dtype = ..., /) -> Any:
    """The smallest whole number that is not below x: a float, or converted to dtype."""

def round(x: Any, dtype: _Dtype = ..., /) -> Any:
    """The nearest whole number, halves away from zero: a float, or converted to dtype."""

def rint(x: Any, dtype: _Dtype = ..., /) -> Any:
    """The nearest whole number, halves to the even one, as Python's round(): a float, or converted to dtype."""

def trunc(x: Any, dtype: _Dtype = ..., /) -> Any:
    """x without its fraction: a float, or converted to dtype."""

def popcnt(x: Any, /) -> Any:
    """How many bits of an integer are 1: an i32."""

def clz(x: Any, /) -> Any:
    """How many bits of an integer are 0 before the first 1: an i32; the width for 0."""

def bit_not(x: Any, /) -> Any:
    """~x of an integer; of a u1, not x."""

def atan2(y: Any, x: Any, /) -> Any:
    """The angle of the point (x, y), from -pi to pi. A float; integers become default_fp."""

def hypot(x: Any, y: Any, /) -> Any:
    """sqrt(x * x + y * y) without overflow. A float; integers become default_fp."""

def copysign(x: Any, y: Any, /) -> Any:
    """abs(x) with the sign of y, that of -0.0 and of a NaN too. A float; integers become default_fp."""

def pow(x: Any, y: Any, /) -> Any:
    """x ** y. With an integer y the result has x's type, else the promoted one."""

def raw_div(x: Any, y: Any, /) -> Any:
    """Division of integers rounded towards zero, as in C; 0 for y == 0. (`//` rounds down.)"""

def raw_mod(x: Any, y: Any, /) -> Any:
    """The remainder of raw_div, with the sign of x; 0 for y == 0."""

def bit_shr(x: Any, y: Any, /) -> Any:
    """x >> y with zeros shifted in, whatever the sign of x."""

def min(x: Any, y: Any, /, *more: Any) -> Any:
    """The smallest, in the promoted type; of a NaN and a number, the number."""

def max(x: Any, y: Any, /, *more: Any) -> Any:
    """The largest, in the promoted type; of a NaN and a number, the number."""

def atomic_add(place: Any, value: Any, /) -> Any:
    """place += value, at once for all threads; gives the old value. place: an array element or a variable."""

def atomic_sub(place: Any, value: Any, /) -> Any:
    """place -= value, at once for all threads; gives the old value. place: an array element or a variable."""

def atomic_mul(place: Any, value: Any, /) -> Any:
    """place *= value, at once for all threads; gives the old value. place: an array element or a variable."""

def atomic_min(place: Any, value: Any, /) -> Any:
    """place = min(place, value), at once for all threads; gives the old value. place: an array element or a variable."""

def atomic_max(place: Any, value: Any, /) -> Any:
    """place = max(place, value), at once for all threads; gives the old value. place: an array element or a variable."""

def atomic_and(place: Any, value: Any, /) -> Any:
    """place &= value, at once for all threads; gives the old value. place: an array element or a variable. Integers only."""

def atomic_or(place: Any, value: Any, /) -> Any:
    """place |= value, at once for all threads; gives the old value. place: an array element or a variable. Integers only."""

def atomic_xor(place: Any, value: Any, /) -> Any:
    """place ^= value, at once for all threads; gives the old value. place: an array element or a variable. Integers only."""

def atomic_exchange(place: Any, value: Any, /) -> Any:
    """place = value, at once for all threads; gives the old value."""

def atomic_cas(place: Any, expected: Any, value: Any, /) -> Any:
    """place = value if place == expected, at once for all threads; gives the old value."""

def volatile_load(place: Any, /) -> Any:
    """The number at an element of an array or field, read anew each time: for waiting on what another thread writes, which
    sees all that it wrote before. KernelSyntaxError for a value or a whole field, KernelTypeError for a variable."""

def frexp(x: Any) -> tuple[Any, Any]:
    """(m, e) with x == m * 2 ** e and 0.5 <= abs(m) < 1, m an f64 and e an i32; of 0, infinities and NaN: x and 0."""

def get_addr(x: Any, indices: Any, /) -> Any:
    """The address of x[indices] in memory, a u64: of a field or array; of an element of several numbers the first one's."""

def clock_counter() -> int:
    """How far the processor's counter is, an i64: of cycles, or of time at some fixed rate. For differences within one run."""

def cast(x: Any, dtype: _Dtype, /) -> Any:
    """x as dtype. Integers wrap; a float becomes an integer by dropping its fraction, saturates, and NaN gives 0."""

def bit_cast(x: Any, dtype: _Dtype, /) -> Any:
    """The bits of x as a dtype of the same width. KernelTypeError for another width."""

def select(condition: Any, x: Any, y: Any, /) -> Any:
    """x where the condition is true, else y, in their promoted type. Both are evaluated."""

def random(dtype: _Dtype = ..., /) -> Any:
    """A random number: a float of default_fp or the dtype in [0, 1), any value of an integer dtype. It depends on
    init(random_seed=...), the number of launches since then, the iteration and the draws before in it, not on threads."""

def randn(dtype: _Dtype = ..., /) -> Any:
    """A random number of the standard normal distribution, as a float of default_fp or the dtype."""

def logical_not(x: Any, /) -> Any:
    """not x, of an integer: a u1."""

def isnan(x: Any, /) -> Any:
    """Whether a float is not a number: a u1."""

def isinf(x: Any, /) -> Any:
    """Whether a float is infinite: a u1."""

@overload
def static(value: _T, /) -> _T:
    """The value as Python computes it while the kernel is compiled: a loop over it is unrolled, an `if` keeps one branch.
    Several values give a tuple. KernelTypeError for what is only known when the kernel runs."""

@overload
def static(first: Any, second: Any, /, *more: Any) -> tuple[Any, ...]: ...
def static_assert(condition: Any, message: str = ..., /) -> None:
    """Stops compiling with the message when the condition, which must be known then, is false."""

def static_print(*values: Any) -> None:
    """Prints while the kernel is compiled: types of what is known later, values of what is known now."""

def ndrange(*ranges: Any, axes: Sequence[int] = ...) -> Any:
    """All combinations of up to 8 ranges, each an int or a pair (begin, end); the last varies fastest, or axes says
    which is the outermost, and so on. For `for i, j in ti.ndrange(n, (1, m)):`."""

def grouped(domain: Any, /) -> Any:
    """The indices of an array or ndrange as one vector: `for I in ti.grouped(x): x[I] = I[0]`."""

def loop_config(*, serialize: bool = ..., **hints: Any) -> None:
    """For the loop that follows. serialize=True: it is not run in parallel. Taichi's other hints have no effect."""

def zero(x: Any, /) -> Any:
    """0 of x's type."""

def one(x: Any, /) -> Any:
    """1 of x's type."""

# -- exceptions ------------------------------------------------------------------------------------------------------

class PestleError(Exception):
    """The base of all exceptions of Pestle."""

class CompilationError(PestleError):
    """A kernel that cannot be compiled. The subclasses are also Python's own classes of these kinds. The attributes
    say where, as those of SyntaxError do."""

    filename: str
    lineno: int
    offset: int
    text: str
    end_lineno: int
    end_offset: int

class KernelSyntaxError(CompilationError, SyntaxError):  # type: ignore[misc]
    """A form that kernels do not have."""

class KernelTypeError(CompilationError, TypeError):
    """Types that do not fit: of an operation, an argument, an annotation."""

class KernelCallError(KernelSyntaxError, KernelTypeError):  # type: ignore[misc]
    """Arguments that do not fit the parameters of a kernel or func: too many, too few, of a wrong kind."""

class KernelNameError(CompilationError, NameError):
    """A name that is not there, or not yet."""

class KernelIndexError(CompilationError, IndexError):
    """A wrong index that is known while compiling: out of bounds, negative, too many. (When running: KernelAssertionError.)"""

class KernelValueError(CompilationError, ValueError):
    """A value that cannot be: out of a type's range, of an option, of a shape."""

class StaticAssertionError(CompilationError, AssertionError):
    """A static_assert, or an assert of Python code called while compiling, that does not hold."""

class KernelRuntimeError(PestleError, RuntimeError):
    """A launch that failed: a parallel loop over too large a domain, an interrupt; or the compiler could not be opened."""

class KernelArgumentError(KernelTypeError, KernelValueError, KernelRuntimeError):
    """A value that does not fit what it is given for: a parameter, an element of a field or array, a shape."""

class KernelAssertionError(KernelRuntimeError, AssertionError):
    """In checked mode: an index out of bounds, an integer division by zero, an `assert` that does not hold. Always: a
    recursion that is too deep."""

class InternalError(PestleError):
    """A mistake in Pestle: please report it."""
