"""Five loops that are hard to run in vectors, for `ti` = pestle, quadrants, gstaichi or taichi; hard.c has them by hand."""


def family(ti):
    f32, f64, i32 = ti.f32, ti.f64, ti.i32
    A1 = ti.types.ndarray(dtype=f32, ndim=1)
    I1 = ti.types.ndarray(dtype=i32, ndim=1)
    D3 = ti.types.ndarray(dtype=f64, ndim=3)
    M1 = ti.types.ndarray(dtype=ti.types.matrix(3, 3, f32), ndim=1)
    V1 = ti.types.ndarray(dtype=ti.types.vector(3, f32), ndim=1)

    @ti.kernel
    def search(table: A1, queries: A1, out: I1):
        for i in range(queries.shape[0]):
            q = queries[i]
            low = 0
            n = table.shape[0]
            while n > 1:
                half = n // 2
                if table[low + half - 1] < q:
                    low += half
                n -= half
            if table[low] < q:
                low += 1
            out[i] = low

    @ti.kernel
    def histogram(values: I1, bins: I1):
        for i in values:
            bins[values[i]] += 1

    @ti.kernel
    def rows(start: I1, column: I1, value: A1, x: A1, y: A1):
        for r in range(y.shape[0]):
            s = 0.0
            for k in range(start[r], start[r + 1]):
                s += value[k] * x[column[k]]
            y[r] = s

    @ti.kernel
    def heat(u: D3, v: D3, c: f64):
        for i, j, k in ti.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1), (1, u.shape[2] - 1)):
            around = u[i - 1, j, k] + u[i + 1, j, k] + u[i, j - 1, k] + u[i, j + 1, k] + u[i, j, k - 1] + u[i, j, k + 1]
            v[i, j, k] = u[i, j, k] + c * (around - 6.0 * u[i, j, k])

    @ti.kernel
    def svd(a: M1, u: M1, s: V1, v: M1):
        for i in a:
            U, S, V = ti.svd(a[i])
            u[i] = U
            s[i] = ti.Vector([S[0, 0], S[1, 1], S[2, 2]])
            v[i] = V

    return {name: value for name, value in locals().items() if name in LOOPS}


LOOPS = ["search", "histogram", "rows", "heat", "svd"]
