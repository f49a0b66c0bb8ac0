# SPDX-License-Identifier: Apache-2.0
"""Functions and types of shading languages: vec3, mix, smoothstep, reflect, rotations, complex numbers as vec2. For
kernels and funcs; those that are builtins of Pestle can be called from Python, too."""

from math import e, inf, nan, pi

from pestle._pestle import (
    acos, asin, atan2, ceil, clz, cos, exp, floor, isinf, isnan, log, log2, max, min, popcnt, pow, round, sin, sqrt, tan, tanh,
)
from pestle._pestle import cast as _cast, func as _func, Matrix as _Matrix, loop_config as _loop_config, select as _select
from pestle._pestle import template as _template, u32 as _u32, _matrix_type, _uint, _vector_type, zero as _zero

# The element types are default_fp and default_ip, whatever init() says when they are used.
vec2, vec3, vec4 = (_vector_type(n, float) for n in (2, 3, 4))
ivec2, ivec3, ivec4 = (_vector_type(n, int) for n in (2, 3, 4))
uvec2, uvec3, uvec4 = (_vector_type(n, _uint) for n in (2, 3, 4))
mat2, mat3, mat4 = (_matrix_type(n, n, float) for n in (2, 3, 4))


@_func
def clamp(x, xmin, xmax):
    """x moved into [xmin, xmax]."""
    return min(xmax, max(xmin, x))


@_func
def mix(x, y, a):
    """From x to y as a goes from 0 to 1."""
    return x * (1.0 - a) + y * a


@_func
def step(edge, x):
    """0.0 below the edge, 1.0 from it on."""
    return _cast(x >= edge, float)


@_func
def smoothstep(edge0, edge1, x):
    """0 below edge0, 1 above edge1, and a smooth way between them."""
    t = clamp((x - edge0) / (edge1 - edge0), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


@_func
def fract(x):
    """x - floor(x)."""
    return x - floor(x)


@_func
def mod(x, y):
    """x - y * floor(x / y)."""
    return x - y * floor(x / y)


@_func
def sign(x):
    """-1.0, 0.0 or 1.0."""
    return _cast(x > 0, float) - _cast(x < 0, float)


@_func
def degrees(x):
    """Of an angle in radians."""
    return x * (180.0 / pi)


@_func
def radians(x):
    """Of an angle in degrees."""
    return x * (pi / 180.0)


# -- vectors --


@_func
def dot(x, y):
    """The inner product."""
    return x.dot(y)


@_func
def cross(x, y):
    """The cross product of two vectors of 3 elements, or of 2: then a number."""
    return x.cross(y)


@_func
def length(x):
    """sqrt of the sum of squares."""
    return x.norm()


@_func
def distance(x, y):
    """length(x - y)."""
    return (x - y).norm()


@_func
def normalize(x):
    """x divided by its length."""
    return x / x.norm()


@_func
def reflect(x, n):
    """The direction x mirrored at a plane with the unit normal n."""
    return x - 2.0 * x.dot(n) * n


@_func
def refract(x, n, eta):
    """The unit direction x behind a surface with the unit normal n; zero where it is reflected as a whole."""
    along = x.dot(n)
    k = 1.0 - eta * eta * (1.0 - along * along)
    bent = eta * x - (eta * along + sqrt(max(k, 0.0))) * n
    return _select(k < 0.0, _zero(bent), bent)


@_func
def vdir(ang):
    """The unit vector at an angle."""
    return vec2(cos(ang), sin(ang))


# -- matrices --


@_func
def eye(n: _template()):
    """The unit matrix of n rows."""
    return _Matrix.identity(float, n)


@_func
def inverse(x):
    """The inverse of a square matrix."""
    return x.inverse()


@_func
def determinant(x):
    """The determinant of a square matrix."""
    return x.determinant()


@_func
def rotation2d(ang):
    """The counter-clockwise rotation of the plane."""
    return mat2(cos(ang), -sin(ang), sin(ang), cos(ang))


@_func
def scale(dx, dy, dz):
    """The 4 by 4 matrix that stretches the axes."""
    return mat4(dx, 0.0, 0.0, 0.0, 0.0, dy, 0.0, 0.0, 0.0, 0.0, dz, 0.0, 0.0, 0.0, 0.0, 1.0)


@_func
def translate(dx, dy, dz):
    """The 4 by 4 matrix that moves points."""
    return mat4(1.0, 0.0, 0.0, dx, 0.0, 1.0, 0.0, dy, 0.0, 0.0, 1.0, dz, 0.0, 0.0, 0.0, 1.0)


@_func
def rot_by_axis(axis, ang):
    """The 4 by 4 rotation about an axis."""
    c, s = cos(ang), sin(ang)
    u = axis / axis.norm()
    t = (1.0 - c) * u
    return mat4(
        c + t.x * u.x, t.x * u.y + s * u.z, t.x * u.z - s * u.y, 0.0,
        t.y * u.x - s * u.z, c + t.y * u.y, t.y * u.z + s * u.x, 0.0,
        t.z * u.x + s * u.y, t.z * u.y - s * u.x, c + t.z * u.z, 0.0,
        0.0, 0.0, 0.0, 1.0,
    )  # fmt: skip


@_func
def rot_yaw_pitch_roll(yaw, pitch, roll):
    """The 4 by 4 rotation by three angles."""
    cy, sy, cp, sp, cr, sr = cos(yaw), sin(yaw), cos(pitch), sin(pitch), cos(roll), sin(roll)
    return mat4(
        cy * cr + sy * sp * sr, sr * cp, -sy * cr + cy * sp * sr, 0.0,
        -cy * sr + sy * sp * cr, cr * cp, sr * sy + cy * sp * cr, 0.0,
        sy * cp, -sp, cy * cp, 0.0,
        0.0, 0.0, 0.0, 1.0,
    )  # fmt: skip


@_func
def rotation3d(ang_x, ang_y, ang_z):
    """The 4 by 4 rotation about the axes z, y and x: rot_yaw_pitch_roll(ang_z, ang_x, ang_y)."""
    return rot_yaw_pitch_roll(ang_z, ang_x, ang_y)


# -- complex numbers: vec2(real, imaginary) --


@_func
def cmul(z1, z2):
    """The product."""
    return vec2(z1.x * z2.x - z1.y * z2.y, z1.x * z2.y + z1.y * z2.x)


@_func
def cconj(z):
    """The conjugate."""
    return vec2(z.x, -z.y)


@_func
def cdiv(z1, z2):
    """The quotient."""
    return vec2(z1.x * z2.x + z1.y * z2.y, z1.y * z2.x - z1.x * z2.y) / z2.norm_sqr()


@_func
def cinv(z):
    """1 / z."""
    return vec2(z.x, -z.y) / z.norm_sqr()


@_func
def csqrt(z):
    """The root whose real part is not negative."""
    return sqrt(z.norm()) * vdir(atan2(z.y, z.x) / 2.0)


@_func
def cpow(z, n):
    """z ** n for a real n."""
    return pow(z.norm(), n * 1.0) * vdir(atan2(z.y, z.x) * n)


@_func
def cexp(z):
    """e ** z."""
    return exp(z.x) * vdir(z.y)


@_func
def clog(z):
    """The natural logarithm."""
    return vec2(log(z.norm()), atan2(z.y, z.x))


# -- bits --


@_func
def ffs(x):
    """The number of the lowest bit that is set, from 1 on; of 0: 0."""
    return _select(x == 0, 0, popcnt((x & -x) - 1) + 1)


@_func
def fns(mask, base, offset):
    """The place of the offset-th bit that is set, from base on upwards (downwards for a negative offset; 0: base itself);
    0xffffffff when there is none."""
    found, left, at = _u32(0xFFFFFFFF), abs(offset), _cast(base, int)
    if offset == 0:
        left = 1
    _loop_config(serialize=True)
    for k in range(32):
        i = at + k if offset >= 0 else at - k
        if 0 <= i and i < 32 and left > 0 and (offset != 0 or k == 0):
            if (_cast(mask, _u32) >> i) & 1 == 1:
                left -= 1
                if left == 0:
                    found = _cast(i, _u32)
    return found
