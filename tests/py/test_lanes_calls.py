"""Calls of functions that are compiled once, in loops that run in lanes: as evaluated, whatever the threads, and checked."""

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


@pytest.mark.parametrize("n", [1, 7, 8, 33, 257])
@pytest.mark.parametrize("kernel", [mandel, searches, rays, leaves_early])
def test_calls(kernel, n):
    rng = np.random.default_rng(n)
    same(kernel, *[(rng.standard_normal(n) * 2).astype(np.float32) for _ in range(2)])
