# SPDX-License-Identifier: Apache-2.0
"""Determinants and inverses, in the language. Up to 4 by 4 by cofactors, without loops; larger ones by elimination with
partial pivoting, in loops, so that their code does not grow with the size."""

from pestle._pestle import cast, func, loop_config, static, Matrix


@func
def trace(a):
    total = a[0, 0]
    loop_config(serialize=True)
    for i in range(1, a.n):
        total += a[i, i]
    return total


@func
def eliminated(a):
    """The determinant: the product of the pivots."""
    result = cast(1, a.dtype)
    loop_config(serialize=True)
    for k in range(a.n):
        p = k
        for i in range(k + 1, a.n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            result = -result
            for j in range(a.n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
        result *= a[k, k]
        if a[k, k] != 0:
            for i in range(k + 1, a.n):
                factor = a[i, k] / a[k, k]
                for j in range(k + 1, a.n):
                    a[i, j] -= factor * a[k, j]
    return result


@func
def inverted(a):
    """Gauss and Jordan. Of a singular matrix: infinities and NaNs."""
    b = Matrix.identity(a.dtype, a.n)
    loop_config(serialize=True)
    for k in range(a.n):
        p = k
        for i in range(k + 1, a.n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            for j in range(a.n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
                b[k, j], b[p, j] = b[p, j], b[k, j]
        scale = 1 / a[k, k]
        for j in range(a.n):
            a[k, j] *= scale
            b[k, j] *= scale
        for i in range(a.n):
            factor = a[i, k]
            if i != k:
                for j in range(a.n):
                    a[i, j] -= factor * a[k, j]
                    b[i, j] -= factor * b[k, j]
    return b


@func
def determinant(a):
    if static(a.n == 1):
        return a[0, 0]
    elif static(a.n == 2):
        return a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    elif static(a.n == 3):
        return a[0].dot(a[1].cross(a[2]))
    elif static(a.n == 4):
        # The minors of the first two rows with those of the last two.
        p, q, r, s = a[0], a[1], a[2], a[3]
        return (
            (p.x * q.y - p.y * q.x) * (r.z * s.w - r.w * s.z)
            - (p.x * q.z - p.z * q.x) * (r.y * s.w - r.w * s.y)
            + (p.x * q.w - p.w * q.x) * (r.y * s.z - r.z * s.y)
            + (p.y * q.z - p.z * q.y) * (r.x * s.w - r.w * s.x)
            - (p.y * q.w - p.w * q.y) * (r.x * s.z - r.z * s.x)
            + (p.z * q.w - p.w * q.z) * (r.x * s.y - r.y * s.x)
        )
    else:
        return eliminated(a)


@func
def inverse(a):
    if static(a.n == 1):
        return 1 / a
    elif static(a.n == 2):
        return Matrix([[a[1, 1], -a[0, 1]], [-a[1, 0], a[0, 0]]]) * (1 / determinant(a))
    elif static(a.n == 3):
        p, q, r = a[0], a[1], a[2]
        x, y, z = q.cross(r), r.cross(p), p.cross(q)
        return Matrix.cols([x, y, z]) * (1 / p.dot(x))
    elif static(a.n == 4):
        p, q, r, s = a[0], a[1], a[2], a[3]
        a0, a1, a2 = p.x * q.y - p.y * q.x, p.x * q.z - p.z * q.x, p.x * q.w - p.w * q.x
        a3, a4, a5 = p.y * q.z - p.z * q.y, p.y * q.w - p.w * q.y, p.z * q.w - p.w * q.z
        b0, b1, b2 = r.x * s.y - r.y * s.x, r.x * s.z - r.z * s.x, r.x * s.w - r.w * s.x
        b3, b4, b5 = r.y * s.z - r.z * s.y, r.y * s.w - r.w * s.y, r.z * s.w - r.w * s.z
        scale = 1 / (a0 * b5 - a1 * b4 + a2 * b3 + a3 * b2 - a4 * b1 + a5 * b0)
        return scale * Matrix(
            [
                [
                    q.y * b5 - q.z * b4 + q.w * b3, -p.y * b5 + p.z * b4 - p.w * b3,
                    s.y * a5 - s.z * a4 + s.w * a3, -r.y * a5 + r.z * a4 - r.w * a3,
                ],
                [
                    -q.x * b5 + q.z * b2 - q.w * b1, p.x * b5 - p.z * b2 + p.w * b1,
                    -s.x * a5 + s.z * a2 - s.w * a1, r.x * a5 - r.z * a2 + r.w * a1,
                ],
                [
                    q.x * b4 - q.y * b2 + q.w * b0, -p.x * b4 + p.y * b2 - p.w * b0,
                    s.x * a4 - s.y * a2 + s.w * a0, -r.x * a4 + r.y * a2 - r.w * a0,
                ],
                [
                    -q.x * b3 + q.y * b1 - q.z * b0, p.x * b3 - p.y * b1 + p.z * b0,
                    -s.x * a3 + s.y * a1 - s.z * a0, r.x * a3 - r.y * a1 + r.z * a0,
                ],
            ]
        )  # fmt: skip
    else:
        return inverted(a)
