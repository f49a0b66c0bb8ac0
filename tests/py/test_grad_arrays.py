"""x.grad of arrays in kernels. Differentiation itself is not there."""

import dataclasses

import numpy as np
import pytest

import pestle as ti

vec3 = ti.math.vec3
S = ti.types.struct(a=ti.f32, v=vec3)
F1 = ti.types.ndarray(dtype=ti.f32, ndim=1)


@pytest.fixture(params=[False, True], ids=["plain", "checked"], autouse=True)
def mode(request):
    ti.init(checked=request.param)
    yield
    ti.init()


def test_arguments():
    @ti.func
    def put(a, i, value):
        if value < 0:
            return 0
        a[i] = value
        return 1

    @ti.func
    def add(a, i):
        if i > 100:
            a[i] = 0
        a.grad[i] += 5

    @ti.kernel
    def run(x: F1, v: ti.types.ndarray(dtype=vec3), s: ti.types.ndarray(dtype=S), t: ti.template()):
        for i in x:
            x[i] = i
            x.grad[i] = 2 * i
            v.grad[i] = [i, 1, 2]
            s.grad[i].a = i
            s.grad[i].v = v.grad[i] * 2
            t.grad[i] += x.grad[i]
            put(x.grad, i, 10.0 + i)
            add(x, i)

    for n in (4, 4, 7):
        x, v, s = (make(n, needs_grad=True) for make in (lambda n, **k: ti.ndarray(ti.f32, n, **k), vec3.ndarray, S.ndarray))
        t = ti.field(ti.f32, n, needs_grad=True)
        run(x, v, s, t)
        i = np.arange(n)
        assert np.array_equal(x.to_numpy(), i) and np.array_equal(x.grad.to_numpy(), i + 15)
        want = np.stack([i, 0 * i + 1, 0 * i + 2], axis=-1)
        assert np.array_equal(v.grad.to_numpy(), want) and not np.any(v.to_numpy())
        assert np.array_equal(s.grad.v.to_numpy(), 2 * want) and np.array_equal(s.grad.a.to_numpy(), i) and not np.any(s.a.to_numpy())
        assert np.array_equal(t.grad.to_numpy(), 2 * i)
        run._evaluate(x, v, s, t)
        assert np.array_equal(x.grad.to_numpy(), i + 15) and np.array_equal(t.grad.to_numpy(), 4 * i)


def test_one_compilation_for_many():
    @ti.kernel
    def run(x: F1):
        for i in x:
            x.grad[i] += x[i]

    for n in (3, 5):
        x = ti.ndarray(ti.f32, n, needs_grad=True)
        x.fill(n)
        run(x)
        run(x)
        assert x.grad.tolist() == [2 * n] * n
    assert run._times["specialisations"] == 1


def test_members_and_arrays_from_outside():
    @dataclasses.dataclass
    class Pair:
        x: F1
        y: ti.types.ndarray(dtype=S)

    outside = ti.ndarray(ti.f32, 3, needs_grad=True)

    @ti.kernel
    def run(p: Pair):
        for i in p.x:
            p.x.grad[i] = i
            p.y.grad[i].v.z = i
            outside.grad[i] = -i

    for _ in range(2):
        p = Pair(ti.ndarray(ti.f32, 3, needs_grad=True), S.ndarray(3, needs_grad=True))
        run(p)
        assert p.x.grad.tolist() == [0, 1, 2] == p.y.grad.v.to_numpy()[:, 2].tolist() and outside.grad.tolist() == [0, -1, -2]
    assert run._times["specialisations"] == 1


def test_wanted_by_the_annotation():
    @ti.kernel
    def run(x: ti.types.ndarray(needs_grad=True)) -> ti.f32:
        return x[0]

    @ti.kernel
    def either(x: ti.types.ndarray(needs_grad=False)) -> ti.f32:
        return x[0]

    with_grad, without = ti.ndarray(ti.f32, 3, needs_grad=True), ti.ndarray(ti.f32, 3)
    assert run(with_grad) == 0 and either(with_grad) == either(without) == 0
    for wrong in (without, np.zeros(3, np.float32), S.ndarray(3), bytearray(12)):
        for _ in range(2):
            with pytest.raises(ti.KernelValueError, match="argument 'x' of kernel 'run': required needs_grad=True"):
                run(wrong)


def test_torch():
    torch = pytest.importorskip("torch")

    @ti.kernel
    def run(x: ti.types.ndarray()):
        for i in x:
            x.grad[i] += x[i] * 2

    @ti.kernel
    def vectors(x: ti.types.ndarray(dtype=vec3, needs_grad=True)):
        x.grad[1] = [1, 2, 3]

    for n in (4, 6):
        t = torch.arange(float(n), requires_grad=True)
        run(t)
        run(t)
        assert t.grad.tolist() == [4.0 * i for i in range(n)]
    t = torch.zeros(4, 3, requires_grad=True)
    t.grad = torch.ones(4, 3)
    vectors(t)
    assert t.grad.tolist() == [[1, 1, 1], [1, 2, 3], [1, 1, 1], [1, 1, 1]]
    with pytest.raises(ti.KernelValueError, match="has no gradient array"):
        run(torch.zeros(3))
    with pytest.raises(ti.KernelValueError, match="required needs_grad=True"):
        vectors(torch.zeros(3, 3))
