"""Calls of functions that are compiled once, in loops that run in lanes: as evaluated, whatever the threads, and checked."""

import os

import numpy as np
import pytest

import pestle as ti
from lanes import same

F1 = ti.types.ndarray(dtype=ti.f32, ndim=1)


@ti.dataclass
class Ray:
    at: ti.math.vec3
    speed: ti.f32


@ti.func
def moved(ray: Ray, t: ti.f32) -> Ray:
    step = ray.speed * t
    for k in ti.static(range(3)):
        ray.at[k] += step * (k + 1)
    if ray.at[0] > 1.0:
        ray.speed = -ray.speed
    return ray


@ti.func
def early(x: ti.f32) -> ti.f32:
    if x > 0.0:
        return x * 2.0
    return ti.exp(x)


@ti.func
def turns(x0: ti.f32, y0: ti.f32, limit: ti.i32) -> ti.i32:
    x = 0.0
    y = 0.0
    n = 0
    while x * x + y * y < 4.0 and n < limit:
        x, y = x * x - y * y + x0, 2.0 * x * y + y0
        n += 1
    return n


@ti.func
def below(a: F1, x: ti.f32) -> ti.f32:
    found = 0.0
    for k in range(a.shape[0]):
        if k > 20:
            break
        if a[k] < x:
            found += a[k]
    return found


@ti.kernel
def mandel(a: F1, b: F1):
    for i in range(a.shape[0]):
        b[i] = turns(a[i], b[i], 50) + turns(b[i], 0.3, 20)


@ti.kernel
def searches(a: F1, b: F1):
    for i in range(b.shape[0]):
        if b[i] > 0.0:
            b[i] = below(a, b[i])


@ti.kernel
def rays(a: F1, b: F1):
    for i in range(a.shape[0]):
        ray = Ray(at=ti.math.vec3(a[i], b[i], 1.0), speed=a[i])
        other = moved(ray, 0.5)
        if b[i] > 0.0:
            other = moved(other, b[i])
        b[i] = other.at[0] + other.at[1] * other.at[2] + other.speed + ray.speed


@ti.kernel
def leaves_early(a: F1, b: F1):
    for i in range(a.shape[0]):
        b[i] = early(a[i]) + b[i]


@ti.func
def first_above(a: F1, x: ti.f32, start: ti.i32) -> ti.i32:
    for k in range(start, a.shape[0]):
        t = a[k]
        while t > 0.1:
            if t > x:
                return k
            if t < 0.2:
                break
            t = t * 0.5
        if k > 20:
            return -2
    return -1


@ti.func
def sides(a: F1, x: ti.f32) -> ti.i32:
    """Calls others, from a branch and from a loop, and leaves both early."""
    if x > 0.5:
        return first_above(a, x, 0) * 100
    for k in range(3):
        found = first_above(a, x, k)
        if found == 3:
            continue
        if found > k:
            return found + early_sign(x)
    return early_sign(x) - 5


@ti.func
def early_sign(x: ti.f32) -> ti.i32:
    if x < 0.0:
        return -1
    if x > 0.0:
        return 1
    return 0


@ti.func
def leaves_nothing(b: F1, i: ti.i32, x: ti.f32):
    for k in range(4):
        if x > k:
            return
        b[i] += 1.0
    b[i] = -b[i]


@ti.kernel
def nested_returns(a: F1, b: F1):
    for i in range(a.shape[0]):
        if b[i] > -1.0:
            b[i] = sides(a, ti.sin(ti.exp(b[i])) * ti.cos(b[i]))
        else:
            leaves_nothing(b, i, a[i])


@ti.func
def largest(m: ti.types.matrix(3, 3, ti.f32), n: ti.i32) -> ti.f32:
    """A matrix for each lane, at indices that differ from lane to lane."""
    best = m[n % 3, 0]
    for k in range(n):
        if k == 3:
            return best
        if m[k % 3, (k + n) % 3] > best:
            best = m[k % 3, (k + n) % 3]
    return -best


@ti.kernel
def matrices(a: F1, b: F1):
    for i in range(a.shape[0]):
        m = ti.Matrix([[a[i], 1.0, b[i]], [0.5, -a[i], 2.0], [b[i], b[i] * a[i], 0.0]])
        m[i % 3, i % 2] = 3.0
        x = largest(m, i % 7)
        for k in range(50):  # what makes lanes pay
            x = ti.sin(x + k)
        b[i] = x


@pytest.mark.parametrize("n", [1, 7, 8, 33, 257])
@pytest.mark.parametrize("kernel", [mandel, searches, rays, leaves_early, nested_returns, matrices])
def test_calls(kernel, n):
    rng = np.random.default_rng(n)
    same(kernel, *[(rng.standard_normal(n) * 2).astype(np.float32) for _ in range(2)])


@pytest.mark.skipif(os.environ.get("PESTLE_CPU") == "scalar", reason="no lanes")
def test_they_run_in_lanes():
    arrays = [np.zeros(9, np.float32) for _ in range(2)]
    for kernel in mandel, searches, rays, leaves_early, nested_returns, matrices:
        assert "loop: lanes" in str(kernel.explain(*arrays)), kernel


@ti.func
def constant(q: ti.f32) -> ti.i32:
    v: ti.i32 = 894
    if q % q > q:
        return v
    return v


@ti.func
def narrowed(q: ti.f16) -> ti.i32:
    return constant(q)


@ti.kernel
def slow_to_compile(a: ti.types.ndarray(dtype=ti.f64, ndim=1), b: ti.types.ndarray(dtype=ti.f16, ndim=1), k: ti.i64, c: ti.f64):
    x: ti.f32 = 0.112 // c
    for i in range(a.shape[0]):
        y: ti.f16 = x % (narrowed(c) % 7)
        a[i] = ti.log10(ti.cbrt(b[k])) + y


def test_what_llvm_would_take_for_ever_over():
    """On a CPU without lanes its vectoriser looked at this loop for a minute."""
    same(slow_to_compile, np.zeros(9), np.ones(9, np.float16), 3, 1.5)
