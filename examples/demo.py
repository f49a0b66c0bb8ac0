"""A photograph through an image pipeline and a wave simulation, all written as Pestle loop kernels.

    python examples/demo.py [OUTPUT_DIRECTORY]

1. A bilateral filter smooths the photo and keeps its edges.
2. Region growing joins neighbouring pixels of similar colour (union-find: loops whose length depends on the data), and
   every region is painted in its mean colour.
3. The photo's edges become walls in a pool of water; drops fall in, and the wave equation does the rest.

Writes PNGs and an animated GIF, and prints what each step took beside the same work in numpy.
"""

import math
import os
import sys
import time
from typing import Annotated

import matplotlib
import numpy as np
from PIL import Image

import pestle as ti

f32 = ti.f32
i32 = ti.i32
# ti.types.ndarray(...) is what Pestle wants to know; Annotated tells type checkers what the caller passes.
Grey = Annotated[np.ndarray, ti.types.ndarray(dtype=f32, ndim=2)]
Colour = Annotated[np.ndarray, ti.types.ndarray(dtype=f32, ndim=3)]
Parents = Annotated[np.ndarray, ti.types.ndarray(dtype=i32, ndim=1)]


# -- 1. bilateral filter ------------------------------------------------------------------------------------------


@ti.kernel
def bilateral(src: Colour, dst: Colour, radius: i32, sigma_space: f32, sigma_colour: f32):
    for i, j in ti.ndrange(src.shape[0], src.shape[1]):
        red, green, blue, total = 0.0, 0.0, 0.0, 0.0
        for di in range(-radius, radius + 1):
            for dj in range(-radius, radius + 1):
                y = min(max(i + di, 0), src.shape[0] - 1)
                x = min(max(j + dj, 0), src.shape[1] - 1)
                dr = src[y, x, 0] - src[i, j, 0]
                dg = src[y, x, 1] - src[i, j, 1]
                db = src[y, x, 2] - src[i, j, 2]
                space = (di * di + dj * dj) / (2.0 * sigma_space * sigma_space)
                colour = (dr * dr + dg * dg + db * db) / (2.0 * sigma_colour * sigma_colour)
                w = ti.exp(-space - colour)
                red += w * src[y, x, 0]
                green += w * src[y, x, 1]
                blue += w * src[y, x, 2]
                total += w
        dst[i, j, 0] = red / total
        dst[i, j, 1] = green / total
        dst[i, j, 2] = blue / total


def bilateral_numpy(src, radius, sigma_space, sigma_colour):
    h, w, _ = src.shape
    padded = np.pad(src, ((radius, radius), (radius, radius), (0, 0)), mode="edge")
    total = np.zeros((h, w, 1), np.float32)
    out = np.zeros_like(src)
    for di in range(2 * radius + 1):
        for dj in range(2 * radius + 1):
            near = padded[di : di + h, dj : dj + w]
            d2 = ((near - src) ** 2).sum(2, keepdims=True)
            space = ((di - radius) ** 2 + (dj - radius) ** 2) / (2 * sigma_space**2)
            weight = np.exp(-space - d2 / (2 * sigma_colour**2)).astype(np.float32)
            out += weight * near
            total += weight
    return out / total


# -- 2. region growing --------------------------------------------------------------------------------------------


@ti.func
def find_root(parent: Parents, start: i32) -> i32:
    at = start
    while parent[at] != at:
        at = parent[at]
    return at


@ti.func
def join(parent: Parents, a: i32, b: i32):
    """The smaller root becomes the parent of the larger one; retried when another thread was faster."""
    p, q = find_root(parent, a), find_root(parent, b)
    while p != q:
        low, high = min(p, q), max(p, q)
        old = ti.atomic_min(parent[high], low)
        if old == high:
            p = q
        else:
            p, q = find_root(parent, old), find_root(parent, low)


@ti.func
def colour_distance(src: Colour, i: i32, j: i32, y: i32, x: i32) -> f32:
    dr = src[i, j, 0] - src[y, x, 0]
    dg = src[i, j, 1] - src[y, x, 1]
    db = src[i, j, 2] - src[y, x, 2]
    return ti.sqrt(dr * dr + dg * dg + db * db)


@ti.kernel
def grow(src: Colour, parent: Parents, threshold: f32):
    h, w = src.shape[0], src.shape[1]
    for k in range(h * w):
        parent[k] = k
    for i, j in ti.ndrange(h, w):
        if j + 1 < w and colour_distance(src, i, j, i, j + 1) < threshold:
            join(parent, i * w + j, i * w + j + 1)
        if i + 1 < h and colour_distance(src, i, j, i + 1, j) < threshold:
            join(parent, i * w + j, (i + 1) * w + j)
    for k in range(h * w):
        parent[k] = find_root(parent, k)


@ti.kernel
def paint(src: Colour, parent: Parents, sums: ti.types.ndarray(dtype=ti.f64, ndim=2), dst: Colour) -> i32:
    h, w = src.shape[0], src.shape[1]
    for i, j in ti.ndrange(h, w):
        root = parent[i * w + j]
        for c in range(3):
            sums[root, c] += src[i, j, c]
        sums[root, 3] += 1.0
    regions = 0
    for i, j in ti.ndrange(h, w):
        root = parent[i * w + j]
        regions += root == i * w + j
        for c in range(3):
            dst[i, j, c] = ti.cast(sums[root, c] / sums[root, 3], f32)
    return regions


def grow_numpy(src, threshold):
    """Labels by spreading minima until nothing changes: what numpy can say without a loop over pixels."""
    h, w, _ = src.shape
    right = np.sqrt(((src[:, 1:] - src[:, :-1]) ** 2).sum(2)) < threshold
    down = np.sqrt(((src[1:] - src[:-1]) ** 2).sum(2)) < threshold
    label = np.arange(h * w, dtype=np.int32).reshape(h, w)
    while True:
        before = label.copy()
        for a, b, ok in ((label[:, 1:], label[:, :-1], right), (label[1:], label[:-1], down)):
            low = np.minimum(a, b)
            a[ok] = low[ok]
            b[ok] = np.minimum(b, low)[ok]
        label = label.ravel()[label]  # pointer jumping
        if (label == before).all():
            return label.ravel()


# -- 3. waves among the edges -------------------------------------------------------------------------------------


@ti.kernel
def edges(src: Colour, wall: Grey, threshold: f32) -> i32:
    count = 0
    for i, j in wall:
        wall[i, j] = 0.0
    for i, j in ti.ndrange((1, src.shape[0] - 1), (1, src.shape[1] - 1)):
        strength = 0.0
        for c in ti.static(range(3)):
            gx = src[i, j + 1, c] - src[i, j - 1, c]
            gy = src[i + 1, j, c] - src[i - 1, j, c]
            strength = max(strength, gx * gx + gy * gy)
        if ti.sqrt(strength) > threshold:
            wall[i, j] = 1.0
            count += 1
    return count


@ti.kernel
def wave_step(now: Grey, before: Grey, after: Grey, wall: Grey, c2: f32, damping: f32):
    for i, j in ti.ndrange((1, now.shape[0] - 1), (1, now.shape[1] - 1)):
        lap = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1] - 4.0 * now[i, j]
        value = now[i, j] + damping * (now[i, j] - before[i, j]) + c2 * lap
        after[i, j] = value * (1.0 - wall[i, j])


def wave_step_numpy(now, before, after, wall, c2, damping):
    lap = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - np.float32(4) * now[1:-1, 1:-1]
    value = now[1:-1, 1:-1] + np.float32(damping) * (now[1:-1, 1:-1] - before[1:-1, 1:-1]) + np.float32(c2) * lap
    after[1:-1, 1:-1] = value * (np.float32(1) - wall[1:-1, 1:-1])


@ti.kernel
def drop(surface: Grey, y: f32, x: f32, radius: f32, height: f32):
    for i, j in surface:
        d2 = ((i - y) ** 2 + (j - x) ** 2) / (radius * radius)
        if d2 < 9.0:
            surface[i, j] += height * ti.exp(-d2)


@ti.kernel
def render(now: Grey, wall: Grey, photo: Colour, frame: ti.types.ndarray(dtype=i32, ndim=3)):
    """Light from the upper left on the slope of the water; the photo lies on the ground and is seen through it."""
    h, w = now.shape[0], now.shape[1]
    for i, j in now:
        sx = now[i, min(j + 1, w - 1)] - now[i, max(j - 1, 0)]
        sy = now[min(i + 1, h - 1), j] - now[max(i - 1, 0), j]
        light = 0.55 - 1.6 * (sx + sy)
        y = min(max(i + int(14.0 * sy), 0), h - 1)
        x = min(max(j + int(14.0 * sx), 0), w - 1)
        for c in ti.static(range(3)):
            tint = ti.static((0.25, 0.55, 0.85)[c])
            value = 0.45 * photo[y, x, c] + tint * light * 0.75
            if wall[i, j] > 0.5:
                value = 0.95
            frame[i, j, c] = int(255.0 * min(max(value, 0.0), 1.0))


# -- the run ------------------------------------------------------------------------------------------------------


def timed(f):
    start = time.perf_counter()
    result = f()
    return result, 1e3 * (time.perf_counter() - start)


def row(name, first, again, numpy_ms):
    print(f"{name:<34}{first:>12.1f}{again:>12.2f}{numpy_ms:>12.1f}{numpy_ms / again:>9.1f} x")


def save(directory, name, array):
    path = os.path.join(directory, name)
    Image.fromarray(np.clip(array * 255 if array.dtype == np.float32 else array, 0, 255).astype(np.uint8)).save(path)
    return path


def main(directory="demo-output"):
    os.makedirs(directory, exist_ok=True)
    with Image.open(os.path.join(matplotlib.get_data_path(), "sample_data", "grace_hopper.jpg")) as file:
        photo = np.asarray(file.convert("RGB"), dtype=np.float32) / np.float32(255)
    h, w, _ = photo.shape
    print(f"photo: grace_hopper.jpg, {w} x {h}\n")
    print(f"{'milliseconds':<34}{'first call':>12}{'again':>12}{'numpy':>12}{'speed-up':>11}")

    smooth = np.empty_like(photo)
    _, first = timed(lambda: bilateral(photo, smooth, 5, 3.0, 0.12))
    _, again = timed(lambda: bilateral(photo, smooth, 5, 3.0, 0.12))
    reference, reference_ms = timed(lambda: bilateral_numpy(photo, 5, 3.0, 0.12))
    assert np.abs(smooth - reference).max() < 1e-3
    row("bilateral filter, 11 x 11", first, again, reference_ms)
    paths = [save(directory, "smooth.png", smooth)]

    parent = np.empty(h * w, np.int32)
    _, first = timed(lambda: grow(smooth, parent, 0.02))
    _, again = timed(lambda: grow(smooth, parent, 0.02))
    labels, reference_ms = timed(lambda: grow_numpy(smooth, 0.02))
    assert (labels == parent).all()
    row("region growing", first, again, reference_ms)
    sums, flat = np.zeros((h * w, 4)), np.empty_like(photo)
    regions = paint(smooth, parent, sums, flat)
    paths.append(save(directory, "regions.png", flat))

    wall = np.zeros((h, w), np.float32)
    count = edges(smooth, wall, 0.16)
    paths.append(save(directory, "edges.png", wall))

    now, before, after = (np.zeros((h, w), np.float32) for _ in range(3))
    drop(now, h * 0.12, w * 0.12, 6.0, 1.0)
    before[:] = now
    fields = now.copy(), before.copy(), after.copy()
    _, first = timed(lambda: wave_step(now, before, after, wall, 0.24, 0.999))
    _, again = timed(lambda: [wave_step(now, before, after, wall, 0.24, 0.999) for _ in range(100)])
    _, reference_ms = timed(lambda: [wave_step_numpy(*fields, wall, 0.24, 0.999) for _ in range(100)])
    row("wave equation, one step", first, again / 100, reference_ms / 100)

    frames, frame = [], np.zeros((h, w, 3), np.int32)
    start = time.perf_counter()
    for step in range(720):
        if step % 90 == 0:
            turn = 2 * math.pi * step / 720
            drop(now, h * (0.5 + 0.42 * math.sin(turn)), w * (0.5 + 0.42 * math.cos(turn)), 6.0, 0.9)
        wave_step(now, before, after, wall, 0.24, 0.999)
        now, before, after = after, now, before
        if step % 12 == 0:
            render(now, wall, smooth, frame)
            frames.append(Image.fromarray(frame.astype(np.uint8)).quantize(64))
        if step == 420:
            paths.append(save(directory, "waves.png", frame))
    elapsed = time.perf_counter() - start
    gif = os.path.join(directory, "waves.gif")
    frames[0].save(gif, save_all=True, append_images=frames[1:], duration=40, loop=0)
    paths.append(gif)
    overview = np.concatenate([photo, smooth, flat, frame.astype(np.float32) / np.float32(255)], axis=1)
    paths.append(save(directory, "demo.png", overview))

    print(f"\n{regions} regions, {count} edge pixels; 720 wave steps and {len(frames)} pictures in {elapsed:.2f} s")
    print("wrote " + ", ".join(paths))


if __name__ == "__main__":
    main(*sys.argv[1:])
