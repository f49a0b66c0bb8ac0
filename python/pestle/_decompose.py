# SPDX-License-Identifier: Apache-2.0
"""Decompositions of small matrices, in the language: svd, polar_decompose, eig, sym_eig, make_spd, solve; and of floats: frexp.

By rotations (Jacobi's methods), which are accurate to the last digits, also for small singular values, and need no special
cases for equal or zero ones; see Golub and Van Loan, Matrix Computations, 8.5 and 8.6.3. The pairs of 2 or 3 rows are written
out, as these stand in the innermost loops of simulations; larger matrices go through loops, so that their code does not grow.
Matrices are scaled by their largest element first: squares neither overflow nor vanish.
"""

from pestle._pestle import abs, cast, func, loop_config, max, select, sqrt, static, static_assert, template, Matrix, Vector
from pestle._pestle import bit_cast, f16, f32, f64, i32, i64

SWEEPS = 15  # 4 to 6 are enough, but for what rounding keeps apart
EPS = {f16: 1e-3, f32: 6e-8, f64: 1.2e-16}  # rows that differ from perpendicular by less count as such
TINY = {f16: 1e-2, f32: 1e-15, f64: 1e-140}  # rows shorter than this have no direction: their squares vanish


def pairs(n):
    return [(p, q) for p in range(n) for q in range(p + 1, n)]


@func
def floats(a, dt: template()):
    """a in the type dt; None: its own, default_fp for integers. No literal below is a float, which could be a wider one."""
    if static(dt is not None):
        return cast(a, dt)
    elif static(a.dtype in EPS):
        return a
    else:
        return a * 1.0


@func
def size_of(a):
    """The largest magnitude, or 1 for zeros."""
    m = abs(a).max()
    return select(m > 0, m, m * 0 + 1)


@func
def turn(m: template(), p, q, c, s):
    """Rows p and q of m, rotated."""
    x, y = m[p, :], m[q, :]
    m[p, :] = c * x - s * y
    m[q, :] = s * x + c * y


@func
def tangent(zeta):
    """The smaller root t of t * t + 2 * zeta * t == 1."""
    t = 1 / (abs(zeta) + sqrt(1 + zeta * zeta))
    return select(zeta < 0, -t, t)


# -- singular values --


@func
def make_perpendicular(w: template(), v: template(), p, q):
    """Rotates rows p and q of w, and those of v alike, until they are perpendicular. Whether they were not."""
    x, y = w[p, :], w[q, :]
    a, b, c = x.dot(x), y.dot(y), x.dot(y)
    found = abs(c) > cast(EPS[w.dtype], w.dtype) * sqrt(a * b)
    if found:
        t = tangent((b - a) / (2 * c))
        cosine = 1 / sqrt(1 + t * t)
        turn(w, p, q, cosine, cosine * t)
        turn(v, p, q, cosine, cosine * t)
    return found


@func
def direction(x, otherwise):
    length = x.norm()
    return select(length > cast(TINY[x.dtype], x.dtype), x / length, otherwise)


@func
def perpendicular(u):
    """A unit vector perpendicular to the unit vector u of 3."""
    a = abs(u)
    axis = select(a.x <= a.y and a.x <= a.z, Vector([1, 0, 0]), select(a.y <= a.z, Vector([0, 1, 0]), Vector([0, 0, 1])))
    v = u.cross(axis)
    return v / v.norm()


@func
def svd(A, dt: template() = None):
    """The singular value decomposition of a 2 by 2 or 3 by 3 matrix: U, S, V with A = U @ S @ V.transpose(). U and V are
    rotations; S is diagonal, its elements descend, and the last one has the sign of A's determinant. dt: the type to compute
    in; without it that of A, default_fp for integers. StaticAssertionError for other sizes."""
    static_assert(A.n == A.m and 2 <= A.n <= 3, "svd() works on 2 by 2 and 3 by 3 matrices")
    a = floats(A, dt)
    size = size_of(a)
    w = (a / size).transpose()  # its rows become U times the singular values
    v = Matrix.identity(a.dtype, a.n)
    sweeps = 0
    while sweeps < SWEEPS:
        sweeps += 1
        turned = False
        for p, q in static(pairs(a.n)):
            if make_perpendicular(w, v, p, q):
                turned = True
        if not turned:
            sweeps = SWEEPS
    for p, q in static([(0, 1)] if a.n == 2 else [(0, 1), (1, 2), (0, 1)]):
        if w[p, :].norm_sqr() < w[q, :].norm_sqr():
            turn(w, p, q, 0, -1)
            turn(v, p, q, 0, -1)
    if static(a.n == 2):
        x, y = w[0, :], w[1, :]
        u = direction(x, Vector([1, 0]))
        r = Vector([-u.y, u.x])
        return (
            Matrix.cols([u, r]),
            Matrix([[x.dot(u) * size, 0], [0, y.dot(r) * size]]),
            v.transpose(),
        )
    else:
        x, y, z = w[0, :], w[1, :], w[2, :]
        u = direction(x, Vector([1, 0, 0]))
        r = direction(y, perpendicular(u))
        s = u.cross(r)
        return (
            Matrix.cols([u, r, s]),
            Matrix([[x.dot(u) * size, 0, 0], [0, y.dot(r) * size, 0], [0, 0, z.dot(s) * size]]),
            v.transpose(),
        )


@func
def polar_decompose(A, dt: template() = None):
    """An orthogonal R and a symmetric P with A = R @ P, of a 2 by 2 or 3 by 3 matrix. Of a 2 by 2 matrix P is positive semidefinite,
    and R a reflection if the determinant is negative; of a 3 by 3 one R is a rotation always. dt: as for svd. StaticAssertionError
    for other sizes."""
    static_assert(A.n == A.m and 2 <= A.n <= 3, "Polar decomposition only supports 2x2 and 3x3 matrices.")
    a = floats(A, dt)
    if static(a.n == 2):
        b = a / size_of(a)
        sign = cast(select(b[0, 0] * b[1, 1] < b[0, 1] * b[1, 0], -1, 1), a.dtype)
        x, y = b[0, 0] + sign * b[1, 1], b[1, 0] - sign * b[0, 1]
        length = sqrt(x * x + y * y)
        c, s = select(length > 0, x / length, 1), select(length > 0, y / length, 0)
        r = Matrix([[c, -sign * s], [s, sign * c]])
        return r, r.transpose() @ a
    else:
        u, s, v = svd(a)
        return u @ v.transpose(), v @ s @ v.transpose()


# -- eigenvalues --


@func
def make_zero(a: template(), v: template(), p, q):
    """Rotates rows and columns p and q of the symmetric a so that a[p, q] is 0; the rows of v alike. Whether it was not."""
    found = abs(a[p, q]) > cast(EPS[a.dtype] / 8, a.dtype)
    if found:
        t = tangent((a[q, q] - a[p, p]) / (2 * a[p, q]))
        c = 1 / sqrt(1 + t * t)
        s = c * t
        turn(a, p, q, c, s)
        x, y = a[:, p], a[:, q]
        a[:, p] = c * x - s * y
        a[:, q] = s * x + c * y
        a[p, q] = 0
        a[q, p] = 0
        turn(v, p, q, c, s)
    return found


@func
def put_in_order(a: template(), v: template(), p, q):
    """The eigenvalues at p and q ascending, the rows of v alike."""
    if a[q, q] < a[p, p]:
        a[p, p], a[q, q] = a[q, q], a[p, p]
        turn(v, p, q, 0, -1)


@func
def sym_eig(A, dt: template() = None):
    """The eigenvalues of a symmetric matrix, ascending, and a matrix whose columns are their eigenvectors, of length 1 and
    perpendicular to each other. dt: as for svd. StaticAssertionError when it is not square."""
    static_assert(A.n == A.m and A.n > 1, "sym_eig() works on symmetric matrices")
    a = floats(A, dt)
    size = size_of(a)
    a /= size
    v = Matrix.identity(a.dtype, a.n)
    sweeps = 0
    while sweeps < SWEEPS:
        sweeps += 1
        turned = False
        if static(a.n <= 3):
            for p, q in static(pairs(a.n)):
                if make_zero(a, v, p, q):
                    turned = True
        else:
            for p in range(a.n - 1):
                for q in range(p + 1, a.n):
                    if make_zero(a, v, p, q):
                        turned = True
        if not turned:
            sweeps = SWEEPS
    values = a[:, 0]
    if static(a.n <= 3):
        for p, q in static(pairs(a.n)):
            put_in_order(a, v, p, q)
        for i in static(range(a.n)):
            values[i] = a[i, i] * size
    else:
        loop_config(serialize=True)
        for p in range(a.n - 1):
            for q in range(p + 1, a.n):
                put_in_order(a, v, p, q)
        loop_config(serialize=True)
        for i in range(a.n):
            values[i] = a[i, i] * size
    return values, v.transpose()


@func
def make_spd(A, dt: template() = None):
    """The nearest positive semidefinite matrix to a symmetric one: its negative eigenvalues become 0. dt: as for svd."""
    values, vectors = sym_eig(A, dt)
    scaled = vectors.transpose()
    loop_config(serialize=True)
    for i in range(A.n):
        scaled[i, :] = max(values[i], 0) * scaled[i, :]
    return vectors @ scaled


@func
def eig(A, dt: template() = None):
    """The eigenvalues of a 2 by 2 matrix, a row each of real and imaginary part, and a 4 by 2 matrix whose columns are their
    eigenvectors, of length 1: real and imaginary part of the first component, then of the second. dt: as for svd."""
    static_assert(A.n == 2 and A.m == 2, "eig() works on 2 by 2 matrices")
    given = floats(A, dt)
    size = size_of(given)
    a = given / size
    half, middle = (a[0, 0] - a[1, 1]) / 2, (a[0, 0] + a[1, 1]) / 2
    gap = half * half + a[0, 1] * a[1, 0]
    root = sqrt(abs(gap))
    re, im = select(gap < 0, 0, root), select(gap < 0, root, 0)
    values, vectors = Matrix.zero(a.dtype, 2, 2), Matrix.zero(a.dtype, 4, 2)
    for k in static(range(2)):
        sign = static(1 - 2 * k)
        values[k, 0], values[k, 1] = (middle + sign * re) * size, sign * im * size
        # Both rows of (a - value) are perpendicular to the vector: the larger of what they give.
        x, y, z = a[0, 1], sign * re - half, sign * im
        x2, y2, z2 = sign * re + half, a[1, 0], sign * im
        if gap >= 0 and abs(x2) + abs(y2) > abs(x) + abs(y):
            vectors[0, k], vectors[1, k], vectors[2, k], vectors[3, k] = x2, z2, y2, 0
        elif gap < 0 or abs(x) + abs(y) > 0:
            vectors[0, k], vectors[1, k], vectors[2, k], vectors[3, k] = x, 0, y, z
        else:
            vectors[2 * k, k] = 1
        length = vectors[:, k].norm()
        vectors[:, k] = vectors[:, k] / length
    return values, vectors


# -- equations --


@func
def solve(A, b, dt: template() = None):
    """x with A @ x = b, by elimination with partial pivoting. Of a singular A: infinities and NaNs. dt: as for svd.
    StaticAssertionError when A is not square or b not as long."""
    static_assert(A.n == A.m and A.n == b.n, "solve() works on a square matrix and a vector as long")
    a, x = floats(A, dt), floats(b, dt)
    loop_config(serialize=True)
    for k in range(a.n):
        p = k
        for i in range(k + 1, a.n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        for j in range(a.n):
            a[k, j], a[p, j] = a[p, j], a[k, j]
        x[k], x[p] = x[p], x[k]
        for i in range(k + 1, a.n):
            factor = a[i, k] / a[k, k]
            for j in range(k + 1, a.n):
                a[i, j] -= factor * a[k, j]
            x[i] -= factor * x[k]
    loop_config(serialize=True)
    for r in range(a.n):
        i = a.n - 1 - r
        for j in range(i + 1, a.n):
            x[i] -= a[i, j] * x[j]
        x[i] /= a[i, i]
    return x


@func
def frexp(x):
    """(m, e) with x == m * 2 ** e and 0.5 <= abs(m) < 1, m an f64 and e an i32; of 0, infinities and NaN: x and 0."""
    wide = cast(x, f64)
    tiny = abs(wide) < 2.0**-1022
    bits = bit_cast(select(tiny, wide * 2.0**64, wide), i64)
    exponent = cast((bits >> 52) & 0x7FF, i32)
    part = bit_cast((bits & -0x7FF0000000000001) | 0x3FE0000000000000, f64)
    plain = wide - wide == 0.0 and wide != 0.0
    return select(plain, part, wide), select(plain, exponent - 1022 - select(tiny, 64, 0), 0)
