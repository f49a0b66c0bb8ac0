# SPDX-License-Identifier: Apache-2.0
"""Systems of linear equations whose matrix is a kernel: A x = b with A given by what it does to a vector, and vectors that
are fields of any shape."""

import math

from pestle._pestle import (
    Field as _Field, KernelTypeError as _TypeError, KernelValueError as _ValueError, cast as _cast, f32 as _f32, f64 as _f64,
    field as _field, grouped as _grouped, kernel as _kernel, template as _template,
)


class LinearOperator:
    """A matrix that is a kernel: `matvec_kernel(v, out)` stores A v into the field out, for fields v of the system's shape."""

    def __init__(self, matvec_kernel):
        self._matvec = matvec_kernel

    def matvec(self, v, out):
        """out = A v. Raises KernelValueError when the shapes differ."""
        if v.shape != out.shape:
            raise _ValueError(f"matvec: the shapes {v.shape} and {out.shape} differ")
        self._matvec(v, out)


@_kernel
def _dot(u: _template(), v: _template()) -> _f64:
    total = _cast(0.0, _f64)
    for I in _grouped(u):
        total += _cast(u[I], _f64) * _cast(v[I], _f64)
    return total


@_kernel
def _sum(out: _template(), u: _template(), factor: _f64, v: _template()):
    for I in _grouped(out):
        out[I] = u[I] + _cast(factor, out.dtype) * v[I]


def _check(name, b, x):
    """What the solvers take: two fields of floats, of one dtype and shape."""
    for side, value in (("b", b), ("x", x)):
        if not isinstance(value, _Field) or value.element_shape or value.dtype not in (_f32, _f64):
            found = value.dtype if isinstance(value, _Field) else type(value).__name__
            raise _TypeError(f"{name}: {side} must be a field of f32 or f64, found {found}")
    if b.dtype != x.dtype:
        raise _TypeError(f"{name}: b and x must have one dtype, found {b.dtype} and {x.dtype}")
    if b.shape != x.shape:
        raise _ValueError(f"{name}: b and x must have one shape, found {b.shape} and {x.shape}")


def _fields(like, n):
    return [_field(like.dtype, like.shape, offset=like.offset) for _ in range(n)]


def MatrixFreeCG(A, b, x, tol=1e-6, maxiter=5000, quiet=True):
    """Solves A x = b by conjugate gradients: A, a LinearOperator, must be symmetric and positive definite.

    b and x are fields of f32 or f64, of one shape; x holds the first guess and then the solution. Ends when the norm of
    b - A x, as the method keeps it, is below tol, after maxiter steps, or when it cannot get smaller; whether it is below
    tol is the result. With quiet=False it prints what it does. Raises KernelTypeError and KernelValueError for other fields.
    """
    _check("MatrixFreeCG", b, x)
    r, p, q = _fields(x, 3)
    A.matvec(x, q)
    _sum(r, b, -1.0, q)
    p.copy_from(r)
    rr = _dot(r, r)
    for step in range(maxiter):
        if not quiet:
            print(f"conjugate gradients, step {step}: residual {math.sqrt(rr):e}")
        if math.sqrt(rr) < tol:
            break
        A.matvec(p, q)
        curvature = _dot(p, q)
        if not curvature or not math.isfinite(curvature):  # nothing is left to divide by
            break
        _sum(x, x, rr / curvature, p)
        _sum(r, r, -rr / curvature, q)
        before, rr = rr, _dot(r, r)
        _sum(p, r, rr / before, p)
    return math.sqrt(rr) < tol


def MatrixFreeBICGSTAB(A, b, x, tol=1e-6, maxiter=5000, quiet=True):
    """Solves A x = b by stabilised biconjugate gradients: A, a LinearOperator, need not be symmetric.

    Everything else is as for MatrixFreeCG.
    """
    _check("MatrixFreeBICGSTAB", b, x)
    r, shadow, p, q, s, t = _fields(x, 6)
    A.matvec(x, q)
    _sum(r, b, -1.0, q)
    shadow.copy_from(r)
    p.copy_from(r)
    rr = rho = _dot(r, r)
    for step in range(maxiter):
        if not quiet:
            print(f"biconjugate gradients, step {step}: residual {math.sqrt(rr):e}")
        if math.sqrt(rr) < tol:
            break
        A.matvec(p, q)
        along = _dot(shadow, q)
        if not along or not math.isfinite(along):
            break
        alpha = rho / along
        _sum(s, r, -alpha, q)
        A.matvec(s, t)
        tt = _dot(t, t)
        omega = _dot(t, s) / tt if tt else 0.0
        _sum(x, x, alpha, p)
        _sum(x, x, omega, s)
        _sum(r, s, -omega, t)
        rr = _dot(r, r)
        before, rho = rho, _dot(shadow, r)
        if not omega or not rho:
            break
        beta = rho / before * (alpha / omega)
        _sum(p, p, -omega, q)
        _sum(p, r, beta, p)
    return math.sqrt(rr) < tol
