"""Jelly, water and snow in a box: a material point method on fields of vectors and matrices. Writes a GIF and a PNG.

Source of the method: Y. Hu et al., A Moving Least Squares Material Point Method with Displacement Discontinuity and Two-Way
Rigid Body Coupling, ACM Transactions on Graphics 37 (2018); snow: A. Stomakhin et al., A Material Point Method for Snow
Simulation, ACM Transactions on Graphics 32 (2013).
"""

import os
import sys
import time

import numpy as np
from PIL import Image

import pestle as ti

N, GRID, FRAMES, SUBSTEPS = 9000, 128, 60, 50
DX, DT = 1 / GRID, 1e-4
VOLUME = (DX / 2) ** 2
MASS = VOLUME * 1.0
E, NU = 1000.0, 0.2
MU, LAMBDA = E / (2 * (1 + NU)), E * NU / ((1 + NU) * (1 - 2 * NU))
WATER, JELLY, SNOW = 0, 1, 2

x = ti.Vector.field(2, ti.f32, N)  # position
v = ti.Vector.field(2, ti.f32, N)  # velocity
C = ti.Matrix.field(2, 2, ti.f32, N)  # affine velocity
F = ti.Matrix.field(2, 2, ti.f32, N)  # deformation gradient
J = ti.field(ti.f32, N)  # plastic deformation
material = ti.field(ti.i32, N)
grid_v = ti.Vector.field(2, ti.f32, (GRID, GRID))
grid_m = ti.field(ti.f32, (GRID, GRID))


@ti.func
def rotation_of(a):
    """The rotation R of a = R S with S symmetric, of 2 x 2 matrices."""
    c, s = a[0, 0] + a[1, 1], a[1, 0] - a[0, 1]
    length = ti.sqrt(c * c + s * s) + 1e-12
    return ti.Matrix([[c, -s], [s, c]]) / length


@ti.func
def eigenvectors(s):
    """Of a symmetric 2 x 2 matrix: a rotation."""
    angle = 0.5 * ti.atan2(2 * s[0, 1], s[0, 0] - s[1, 1])
    return ti.Matrix([[ti.cos(angle), -ti.sin(angle)], [ti.sin(angle), ti.cos(angle)]])


@ti.kernel
def reset():
    for i in x:
        k = i // (N // 3)
        x[i] = ti.Vector([ti.random() * 0.2 + 0.3 + 0.10 * k, ti.random() * 0.2 + 0.05 + 0.32 * k])
        v[i] = ti.Vector([0.0, 0.0])
        F[i] = ti.Matrix.identity(ti.f32, 2)
        C[i] = ti.Matrix.zero(ti.f32, 2, 2)
        J[i] = 1.0
        material[i] = k


@ti.func
def stress_of(p):
    """Kirchhoff stress; snow's deformation gradient is brought back to what is elastic."""
    hard = min(ti.exp(10.0 * (1.0 - J[p])), 20.0)
    if material[p] == JELLY:
        hard = 0.3
    mu, lam = MU * hard, LAMBDA * hard
    if material[p] == WATER:
        mu = 0.0
    r = rotation_of(F[p])
    stretch = r.transpose() @ F[p]
    if material[p] == SNOW:
        q = eigenvectors(stretch)
        d = q.transpose() @ stretch @ q
        a, b = min(max(d[0, 0], 1 - 2.5e-2), 1 + 4.5e-3), min(max(d[1, 1], 1 - 2.5e-2), 1 + 4.5e-3)
        J[p] *= d[0, 0] * d[1, 1] / (a * b)
        stretch = q @ ti.Matrix([[a, 0.0], [0.0, b]]) @ q.transpose()
        F[p] = r @ stretch
    volume = F[p].determinant()
    if material[p] == WATER:
        F[p] = ti.Matrix.identity(ti.f32, 2) * ti.sqrt(volume)
        r = ti.Matrix.identity(ti.f32, 2)
    return 2 * mu * (F[p] - r) @ F[p].transpose() + ti.Matrix.identity(ti.f32, 2) * lam * volume * (volume - 1)


@ti.kernel
def substep():
    for i, j in grid_m:
        grid_v[i, j] = ti.Vector([0.0, 0.0])
        grid_m[i, j] = 0.0
    for p in x:
        base = ti.cast(x[p] * GRID - 0.5, ti.i32)
        f = x[p] * GRID - base
        w = [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1) ** 2, 0.5 * (f - 0.5) ** 2]
        F[p] += DT * C[p] @ F[p]
        affine = -DT * VOLUME * 4 * GRID * GRID * stress_of(p) + MASS * C[p]
        for i, j in ti.static(ti.ndrange(3, 3)):
            offset = ti.Vector([i, j])
            weight = w[i].x * w[j].y
            grid_v[base + offset] += weight * (MASS * v[p] + affine @ ((offset - f) * DX))
            grid_m[base + offset] += weight * MASS
    for i, j in grid_m:
        if grid_m[i, j] > 0:
            velocity = grid_v[i, j] / grid_m[i, j]
            velocity.y -= DT * 50
            if i < 3: velocity.x = max(velocity.x, 0.0)
            if i > GRID - 3: velocity.x = min(velocity.x, 0.0)
            if j < 3: velocity.y = max(velocity.y, 0.0)
            if j > GRID - 3: velocity.y = min(velocity.y, 0.0)
            grid_v[i, j] = velocity
    for p in x:
        base = ti.cast(x[p] * GRID - 0.5, ti.i32)
        f = x[p] * GRID - base
        w = [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1) ** 2, 0.5 * (f - 0.5) ** 2]
        velocity = ti.Vector([0.0, 0.0])
        affine = ti.Matrix([[0.0, 0.0], [0.0, 0.0]])
        for i, j in ti.static(ti.ndrange(3, 3)):
            offset = ti.Vector([i, j])
            g = w[i].x * w[j].y * grid_v[base + offset]
            velocity += g
            affine += 4 * GRID * g.outer_product(offset - f)
        v[p] = velocity
        C[p] = affine
        x[p] += DT * velocity


def picture(size=512):
    image = np.full((size, size, 3), (16, 24, 38), np.uint8)
    colours = np.array([(60, 150, 230), (235, 95, 80), (238, 238, 245)], np.uint8)
    at = np.clip((x.to_numpy() * size).astype(int), 1, size - 2)
    for dy, dx in ((0, 0), (0, 1), (1, 0), (1, 1)):
        image[size - 1 - at[:, 1] - dy, at[:, 0] + dx] = colours[material.to_numpy()]
    return Image.fromarray(image)


def main(folder="demo-output", frames=FRAMES):
    os.makedirs(folder, exist_ok=True)
    reset()
    start = time.perf_counter()
    substep()
    print(f"first substep: {1e3 * (time.perf_counter() - start):.0f} ms")
    pictures, start = [], time.perf_counter()
    for _ in range(frames):
        for _ in range(SUBSTEPS):
            substep()
        pictures.append(picture())
    each = 1e3 * (time.perf_counter() - start) / (frames * SUBSTEPS)
    print(f"{frames * SUBSTEPS} substeps of {N} particles: {each:.2f} ms each")
    pictures[len(pictures) // 2].save(f"{folder}/mpm.png")
    pictures[0].save(f"{folder}/mpm.gif", save_all=True, append_images=pictures[1:], duration=50, loop=0)
    print(f"wrote {folder}/mpm.png and {folder}/mpm.gif")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "demo-output")
