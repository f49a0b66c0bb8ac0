"""What type checkers make of kernels: read by mypy and pyright (make typecheck), not run. A line with an `ignore` must
be wrong for both."""

from typing import Annotated, Any

import numpy as np
from typing_extensions import assert_type

import pestle as ti

Grey = Annotated[np.ndarray, ti.types.ndarray(dtype=ti.f32, ndim=2)]
real = ti.f32


@ti.func
def twice(x: ti.f32) -> ti.f32:
    return 2 * x


@ti.kernel
def scale(x: Grey, by: ti.f32, rounds: ti.i32 = 1) -> real:
    total = 0.0
    for i, j in ti.ndrange(x.shape[0], x.shape[1]):
        x[i, j] = twice(by) + ti.sqrt(x[i, j])
        total += by * rounds
    return total


@ti.kernel
def taichi_forms(x: ti.types.ndarray(dtype=ti.f32, ndim=2), n: ti.template(), y: ti.types.NDArray[ti.f32, 2]):
    for i, j in x:
        x[i, j] = n + y[i, j]


@ti.kernel(fastcache=True)
def with_keywords(flag: ti.u1) -> ti.i64:
    return 1 if flag else 2


class Body:
    @ti.kernel
    def step(self, dt: ti.f32) -> ti.i32:
        return int(dt)


image = np.zeros((2, 2), np.float32)
assert_type(scale(image, 0.5), float)
assert_type(scale(x=image, by=1, rounds=2), float)
assert_type(with_keywords(True), int)
assert_type(Body().step(0.5), int)
assert_type(Body.step(Body(), 0.5), int)
assert_type(twice(3), float)
assert_type(scale.ir(), str)
taichi_forms(image, "anything", ti.ndarray(ti.f32, (2, 2)))

scale(image)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
scale(image, "0.5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
scale(3, 0.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
scale(image, 0.5, roundz=2)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
Body().step()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
with_keywords(2.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

array = ti.ndarray(ti.f32, shape=(2, 3))
assert_type(array.shape, tuple[int, ...])
array[0, 1] = 0.5
array["a"] = 1  # type: ignore[index]  # pyright: ignore[reportArgumentType]
ti.ndarray(np.float64, 3).fill(1)
small: ti.i32 = ti.i32(4.5)
anything: Any = ti.cast(small, ti.f64)
ti.init(arch=ti.cpu, default_fp=ti.f64, threads=2)
assert_type(ti.static(3), int)


@ti.func()
def half(x: ti.f32) -> ti.f32:
    return x / 2


@ti.kernel
def mixed(a: ti.i32, b: ti.u1, x: ti.f64 = 0.5) -> ti.i64:
    return a if b else int(half(x))


assert_type(half(1), float)
assert_type(mixed(1, True, x=2), int)
assert_type(mixed.asm(), str)
assert_type(mixed.ir(1, False, after="llvm"), str)
assert_type(mixed.__name__, str)
assert_type(mixed.__wrapped__(1, True), int)
mixed(1.5, True)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mixed(1, True, 0.5, 3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
mixed.assembly()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
mixed.ir(after=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
ti.hypot(3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
ti.init(arch=ti.python)
ti.init(arch=ti.cpu, debug=True, offline_cache=False)
ti.init(arch=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
