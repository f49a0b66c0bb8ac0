"""The benchmark's kernels: the same source for every member of the Taichi family, and the same loops for numba."""


def family(ti):
    """Kernels of the loop language, for `ti` = pestle, quadrants, gstaichi or taichi."""
    f32, i32 = ti.f32, ti.i32
    A1 = ti.types.ndarray(dtype=f32, ndim=1)
    A2 = ti.types.ndarray(dtype=f32, ndim=2)

    @ti.kernel
    def empty():
        pass

    @ti.kernel
    def empty5(x: A1, y: A1, z: A1, i: i32, f: f32):
        pass

    @ti.kernel
    def scalars10(a: i32, b: i32, c: i32, d: i32, e: i32, f: f32, g: f32, h: f32, i: f32, j: f32):
        pass

    @ti.kernel
    def saxpy(x: A1, y: A1, a: f32):
        for i in range(x.shape[0]):
            y[i] = a * x[i] + y[i]

    @ti.kernel
    def triad(x: A1, y: A1, z: A1, a: f32):
        for i in x:
            z[i] = x[i] + a * y[i]

    @ti.kernel
    def total(x: A1) -> f32:
        s = 0.0
        for i in x:
            s += x[i]
        return s

    @ti.kernel
    def expmap(x: A1, y: A1):
        for i in x:
            y[i] = ti.exp(x[i]) * ti.sin(x[i]) + ti.sqrt(ti.abs(x[i]))

    @ti.kernel
    def jacobi(u: A2, v: A2):
        for i, j in ti.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

    @ti.kernel
    def stencil(u: A2, v: A2, dt: f32):
        for i, j in ti.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
            lap = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
            g = ti.exp(-lap * lap)
            if u[i, j] > 0.5:
                v[i, j] = u[i, j] + dt * g * lap
            else:
                v[i, j] = u[i, j] + dt * lap / (1.0 + ti.abs(lap))

    @ti.kernel
    def mandel(out: A2, iters: i32):
        for i, j in out:
            cx = -2.0 + 3.0 * j / out.shape[1]
            cy = -1.5 + 3.0 * i / out.shape[0]
            x = 0.0
            y = 0.0
            n = 0
            while x * x + y * y < 4.0 and n < iters:
                t = x * x - y * y + cx
                y = 2.0 * x * y + cy
                x = t
                n += 1
            out[i, j] = n

    @ti.kernel
    def nbody(p: A2, a: A2):
        for i in range(p.shape[0]):
            ax = 0.0
            ay = 0.0
            az = 0.0
            for j in range(p.shape[0]):
                dx = p[j, 0] - p[i, 0]
                dy = p[j, 1] - p[i, 1]
                dz = p[j, 2] - p[i, 2]
                r2 = dx * dx + dy * dy + dz * dz + 1e-4
                inv = 1.0 / (r2 * ti.sqrt(r2))
                ax += dx * inv
                ay += dy * inv
                az += dz * inv
            a[i, 0] = ax
            a[i, 1] = ay
            a[i, 2] = az

    return {name: value for name, value in locals().items() if name not in ("ti", "f32", "i32", "A1", "A2")}


def numba():
    """The same loops in numba, fast-math and parallel on."""
    from math import exp, sin, sqrt

    import numba as nb
    from numpy import float32 as f32

    jit = nb.njit(parallel=True, fastmath=True)

    @nb.njit
    def empty():
        pass

    @nb.njit
    def empty5(x, y, z, i, f):
        pass

    @nb.njit
    def scalars10(a, b, c, d, e, f, g, h, i, j):
        pass

    @jit
    def saxpy(x, y, a):
        a = f32(a)
        for i in nb.prange(x.shape[0]):
            y[i] = a * x[i] + y[i]

    @jit
    def triad(x, y, z, a):
        a = f32(a)
        for i in nb.prange(x.shape[0]):
            z[i] = x[i] + a * y[i]

    @jit
    def total(x):
        s = f32(0)
        for i in nb.prange(x.shape[0]):
            s += x[i]
        return s

    @jit
    def expmap(x, y):
        for i in nb.prange(x.shape[0]):
            y[i] = exp(x[i]) * sin(x[i]) + sqrt(abs(x[i]))

    @jit
    def jacobi(u, v):
        for i in nb.prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = f32(0.25) * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

    @jit
    def stencil(u, v, dt):
        dt = f32(dt)
        for i in nb.prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                lap = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f32(4) * u[i, j]
                g = exp(-lap * lap)
                if u[i, j] > f32(0.5):
                    v[i, j] = u[i, j] + dt * g * lap
                else:
                    v[i, j] = u[i, j] + dt * lap / (f32(1) + abs(lap))

    @jit
    def mandel(out, iters):
        for i in nb.prange(out.shape[0]):
            for j in range(out.shape[1]):
                cx = f32(-2 + 3 * j / out.shape[1])
                cy = f32(-1.5 + 3 * i / out.shape[0])
                x = f32(0)
                y = f32(0)
                n = 0
                while x * x + y * y < f32(4) and n < iters:
                    t = x * x - y * y + cx
                    y = f32(2) * x * y + cy
                    x = t
                    n += 1
                out[i, j] = n

    @jit
    def nbody(p, a):
        for i in nb.prange(p.shape[0]):
            ax = f32(0)
            ay = f32(0)
            az = f32(0)
            for j in range(p.shape[0]):
                dx = p[j, 0] - p[i, 0]
                dy = p[j, 1] - p[i, 1]
                dz = p[j, 2] - p[i, 2]
                r2 = dx * dx + dy * dy + dz * dz + f32(1e-4)
                inv = f32(1) / (r2 * sqrt(r2))
                ax += dx * inv
                ay += dy * inv
                az += dz * inv
            a[i, 0] = ax
            a[i, 1] = ay
            a[i, 2] = az

    return {name: value for name, value in locals().items() if name not in ("exp", "sin", "sqrt", "nb", "f32", "jit")}
