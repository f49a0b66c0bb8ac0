# SPDX-License-Identifier: Apache-2.0
from typing import Any, Protocol, TypeAlias

# To a type checker a scalar type is the Python type of its values: `x: f32` takes any float or int, and f32(x) gives
# a float. (At run time it is an object with the attributes `name` and `itemsize`.)
u1: TypeAlias = bool
i8: TypeAlias = int
i16: TypeAlias = int
i32: TypeAlias = int
i64: TypeAlias = int
u8: TypeAlias = int
u16: TypeAlias = int
u32: TypeAlias = int
u64: TypeAlias = int
f16: TypeAlias = float
bf16: TypeAlias = float
f32: TypeAlias = float
f64: TypeAlias = float
uint1: TypeAlias = bool
int8: TypeAlias = int
int16: TypeAlias = int
int32: TypeAlias = int
int64: TypeAlias = int
uint8: TypeAlias = int
uint16: TypeAlias = int
uint32: TypeAlias = int
uint64: TypeAlias = int
float16: TypeAlias = float
bfloat16: TypeAlias = float
float32: TypeAlias = float
float64: TypeAlias = float

def ndarray(
    dtype: Any = None,
    ndim: int | None = None,
    element_dim: int | None = None,
    element_shape: Any = None,
    needs_grad: bool | None = None,
    boundary: str = "unsafe",
) -> Any:
    """Annotates an array parameter: `x: ti.types.ndarray(dtype=ti.f32, ndim=2)`.

    dtype is a scalar type, a numpy dtype or the type of a vector or matrix, ndim the number of axes (0 to 12) without
    those of the elements. Elements can also be described by element_dim (1: vectors, 2: matrices) and element_shape: the
    last axes of the argument are then theirs. boundary="clamp" moves indices to the nearest that there is. What is left out is taken from the
    argument, and each combination is compiled for itself. The kernel works on the caller's memory, whatever its
    strides: nothing is copied. Another dtype or number of axes raises KernelTypeError at the launch.

    Type checkers do not expect a call in an annotation: see docs/typing.md.
    """

class NDArray(Protocol):
    """ndarray in the form `x: ti.types.NDArray[ti.f32, 2]`."""

    def __class_getitem__(cls, item: Any, /) -> Any: ...
    @property
    def shape(self) -> Any:
        """The lengths of the axes, each a number in a kernel."""

    def __getitem__(self, index: Any, /) -> Any: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...
    def __iter__(self) -> Any: ...

class _MatrixType:
    """The type of a vector or matrix: annotates parameters and results, and makes values when called with numbers,
    vectors and lists that fill it one after the other, or with one number for all elements."""

    n: int
    m: int
    ndim: int
    dtype: Any
    shape: tuple[int, ...]
    def __call__(self, *elements: Any) -> Any: ...

def vector(n: int, dtype: Any, unpacked: bool = False) -> Any:
    """The type of vectors of n elements: `vec3 = ti.types.vector(3, ti.f32)`, then `v: vec3` and `vec3(1, 2, 3)`.

    unpacked=True is for members of a dataclass; such a type makes no values, fields or ndarrays (KernelSyntaxError)."""

def matrix(n: int, m: int, dtype: Any) -> Any:
    """The type of matrices of n rows and m columns."""

def struct(**members: Any) -> Any:
    """The type of structs with these members: `Ray = ti.types.struct(at=vec3, to=vec3)`. Members may be numbers, vectors,
    matrices and structs. It annotates parameters and results, and makes values: Ray(to=[0, 0, 1])."""

def template() -> Any:
    """Annotates a parameter whose value is known when the kernel is compiled: `n: ti.template()`, or `n: ti.Template`.

    Any Python object may be passed; each different one compiles a kernel of its own. In a func, such a parameter is
    the caller's variable itself: assigning to it changes the caller's.
    """

def ref(dtype: Any) -> Any:
    """Annotates a func's parameter that is passed by reference: a variable or an element of exactly this dtype, which the
    func may change. KernelTypeError for anything else."""

Template: TypeAlias = Any
