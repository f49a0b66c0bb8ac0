# SPDX-License-Identifier: Apache-2.0
"""ti.math: every name, against numpy and Python."""

import cmath
import math
import pickle

import numpy as np

import pestle as ti
from language import run

tm = ti.math
NAMES = """acos asin atan2 cconj cdiv ceil cexp cinv clamp clog clz cmul cos cpow cross csqrt degrees determinant distance dot e
exp eye ffs floor fns fract inf inverse isinf isnan ivec2 ivec3 ivec4 length log log2 mat2 mat3 mat4 max min mix mod nan
normalize pi popcnt pow radians reflect refract rot_by_axis rot_yaw_pitch_roll rotation2d rotation3d round scale sign sin
smoothstep sqrt step tan tanh translate uvec2 uvec3 uvec4 vdir vec2 vec3 vec4"""
OUT = ti.types.ndarray(ti.f64, 1)


def test_names():
    assert {n for n in vars(tm) if not n.startswith("_")} == set(NAMES.split()) and len(NAMES.split()) == 73


def test_elementwise():
    @ti.kernel
    def f(x: tm.vec3, y: tm.vec3, out: OUT):
        for _ in range(1):
            k = 0
            for r in ti.static([
                tm.mix(x, y, 0.25), tm.clamp(x, -1, y), tm.step(y, x), tm.smoothstep(0.0, 2.0, y), tm.fract(x), tm.mod(x, y),
                tm.sign(x), tm.degrees(x), tm.radians(x), tm.reflect(x, y), tm.normalize(x), tm.cross(x, y),
            ]):  # fmt: skip
                for i in ti.static(range(3)):
                    out[k + i] = r[i]
                k += 3
            out[36], out[37], out[38] = tm.dot(x, y), tm.length(x), tm.distance(x, y)

    x, y, out = np.array([-1.25, 0.5, 2.0]), np.array([0.5, 1.5, 3.0]), np.zeros(39)
    run(f, x, y, out)
    t = np.clip(y / 2, 0, 1)
    want = [x * 0.75 + y * 0.25, np.minimum(y, np.maximum(x, -1)), x >= y, t * t * (3 - 2 * t), x - np.floor(x)]
    want += [x - y * np.floor(x / y), np.sign(x), np.degrees(x), np.radians(x), x - 2 * (x @ y) * y]
    want += [x / np.linalg.norm(x), np.cross(x, y), [x @ y, np.linalg.norm(x), np.linalg.norm(x - y)]]
    np.testing.assert_allclose(out, np.concatenate([np.asarray(w, float) for w in want]), rtol=2e-6, atol=1e-7)


def test_refract():
    @ti.kernel
    def f(x: tm.vec2, eta: ti.f64) -> tm.vec2:
        return tm.refract(x, tm.vec2(0, 1), eta)

    x = np.array([math.sin(0.5), -math.cos(0.5)])
    bent = np.array(f(x, 0.75))
    assert abs(bent[0] - 0.75 * x[0]) < 1e-6 and abs(np.linalg.norm(bent) - 1) < 1e-6 and bent[1] < 0
    assert f(x, 4.0).to_list() == [0, 0]


def test_complex():
    @ti.kernel
    def f(a: tm.vec2, b: tm.vec2, out: OUT):
        for _ in range(1):
            k = 0
            for r in ti.static([tm.cmul(a, b), tm.cdiv(a, b), tm.cconj(a), tm.cinv(a), tm.csqrt(a), tm.cpow(a, 3), tm.cexp(a), tm.clog(a)]):
                out[k], out[k + 1] = r.x, r.y
                k += 2

    a, b, out = -1.25 + 0.5j, 2 - 3j, np.zeros(16)
    run(f, [a.real, a.imag], [b.real, b.imag], out)
    want = [a * b, a / b, a.conjugate(), 1 / a, cmath.sqrt(a), a**3, cmath.exp(a), cmath.log(a)]
    np.testing.assert_allclose(out[::2] + 1j * out[1::2], want, rtol=2e-6)


def test_matrices():
    @ti.kernel
    def f(axis: tm.vec3, a: ti.f64, out: ti.types.ndarray(ti.f64, 3)):
        for _ in range(1):
            k = 0
            for m in ti.static([
                tm.rot_by_axis(axis, a), tm.rot_yaw_pitch_roll(a, 0.3, 0.7), tm.rotation3d(0.3, 0.7, a), tm.scale(1, 2, 3),
                tm.translate(1, 2, 3), tm.eye(4), tm.inverse(tm.translate(1, 2, 3)),
            ]):  # fmt: skip
                for i, j in ti.static(ti.ndrange(4, 4)):
                    out[k, i, j] = m[i, j]
                k += 1
            out[7, 0, 0] = tm.determinant(tm.scale(1, 2, 3))
            r = tm.rotation2d(a) @ tm.vdir(0.0)
            out[7, 0, 1], out[7, 0, 2] = r.x, r.y

    out = np.zeros((8, 4, 4))
    run(f, [0, 0, 2], 0.5, out)
    c, s = math.cos(0.5), math.sin(0.5)
    np.testing.assert_allclose(out[0], [[c, s, 0, 0], [-s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], atol=1e-7)
    for m in out[:3]:
        np.testing.assert_allclose(m @ m.T, np.eye(4), atol=1e-6)
    np.testing.assert_array_equal(out[1], out[2])
    np.testing.assert_array_equal(out[3], np.diag([1, 2, 3, 1]))
    np.testing.assert_array_equal(out[4], [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])
    np.testing.assert_array_equal(out[5], np.eye(4))
    np.testing.assert_allclose(out[4] @ out[6], np.eye(4), atol=1e-6)
    np.testing.assert_allclose(out[7, 0, :3], [6, c, s], rtol=1e-6)


def test_bits():
    @ti.kernel
    def f(x: ti.i32, base: ti.i32, n: ti.i32) -> tm.ivec2:
        return tm.ivec2(tm.ffs(x), ti.cast(tm.fns(x, base, n), ti.i32))

    for x in (0, 1, 2, 12, 0x40000000, -(2**31)):
        assert f(x, 0, 1)[0] == (x & -x).bit_length()
    assert [f(0b101100, base, n)[1] for base, n in ((0, 1), (0, 3), (3, 1), (4, -2), (0, 4), (2, 0), (1, 0))] == [2, 5, 3, 2, -1, 2, -1]


def test_precision_follows_init():
    @ti.kernel
    def f() -> tm.vec2:
        return tm.vec2(0.1, 0.2)

    ti.init(default_fp=ti.f64)
    assert f().dtype is ti.f64 and f().x == 0.1
    ti.reset()
    assert f().dtype is ti.f32 and f().x == np.float32(0.1)


def test_uvec_is_as_wide_as_default_ip():
    @ti.kernel
    def f(v: ti.math.uvec2) -> ti.math.uvec2:
        return v + ti.math.uvec2(1)

    assert f([2**32 - 1, 0]).to_list() == [0, 1]
    ti.init(default_ip=ti.i64)
    assert f([2**32 - 1, 2**63]).to_list() == [2**32, 2**63 + 1]
    assert ti.math.uvec3(2**40).to_list() == [2**40] * 3
    assert pickle.loads(pickle.dumps(ti.math.uvec2)) == ti.math.uvec2
