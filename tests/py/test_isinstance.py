"""isinstance() of runtime values answers as for the numbers and vectors that they stand for."""

import numbers

import pytest

import pestle as ti

CLASSES = [int, float, bool, (int, float), numbers.Number, numbers.Integral, ti.Vector, ti.Matrix, str, list]
VALUES = {
    "i8": 1, "i32": 1, "u64": 1, "u1": True, "f16": 1.0, "f32": 1.0, "f64": 1.0,
}  # fmt: skip


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("cls", CLASSES, ids=str)
def test_numbers(dtype, cls):
    expected = isinstance(VALUES[dtype], cls)

    def helper(v):
        assert isinstance(v, cls) is expected
        assert isinstance(v + v, cls) is isinstance(VALUES[dtype] + VALUES[dtype], cls)
        return 1 if isinstance(v, cls) else 0

    @ti.kernel
    def f(v: getattr(ti, dtype)) -> ti.i32:
        direct = 0
        if isinstance(v, cls):
            direct = 2
        w = v
        w = v
        if isinstance(w, cls):
            direct += 4
        return helper(v) + direct

    assert f(VALUES[dtype]) == 7 * expected


@pytest.mark.parametrize("cls", CLASSES, ids=str)
def test_vectors(cls):
    def helper(v, m):
        return 10 * isinstance(v, cls) + isinstance(m, cls)

    @ti.kernel
    def f(v: ti.types.vector(3, ti.f32), m: ti.types.matrix(2, 2, ti.i32)) -> ti.i32:
        return helper(v, m)

    v, m = ti.Vector([1.0, 2, 3]), ti.Matrix([[1, 2], [3, 4]])
    assert f(v, m) == 10 * isinstance(v, cls) + isinstance(m, cls)


def test_a_helper_that_branches_by_type():
    def norm(v):
        if isinstance(v, (int, float)):
            return abs(v)
        return v.norm()

    @ti.kernel
    def f(x: ti.f32, v: ti.types.vector(2, ti.f32)) -> ti.f32:
        return norm(x) + norm(v)

    assert f(-2.0, ti.Vector([3.0, 4.0])) == 7.0


def test_frames_that_are_given():
    class A:
        @ti.func
        def g(self, n):
            return n + 1

    class B(A):
        pass

    b, three = B(), {"k": 3}

    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        return eval("k", three) + super(B, b).g(n) + len(vars(three["o"])) + ("g" in dir(b))

    class O:
        def __init__(self):
            self.x = 1

    three["o"] = O()
    assert f(1) == 3 + 2 + 1 + 1


def test_fields():
    """A field is one in a kernel too, wherever it comes from."""
    plain, vectors, structs = ti.field(ti.f32, 2), ti.Vector.field(2, ti.f32, 2), ti.Struct.field({"a": ti.f32}, 2)

    def helper(x):
        return (isinstance(x, ti.Field)) + 2 * isinstance(x, ti.StructField) + 4 * isinstance(x, ti.Ndarray)

    @ti.kernel
    def passed(x: ti.template()) -> ti.i32:
        return helper(x) + 10 * ti.static(isinstance(x, ti.Field))

    @ti.kernel
    def found() -> ti.i32:
        return helper(plain) + 10 * helper(structs)

    @ti.kernel
    def array(x: ti.types.ndarray()) -> ti.i32:
        return helper(x)

    assert passed(plain) == passed(vectors) == 11 and passed(structs) == 2 and found() == 21
    assert array(ti.ndarray(ti.f32, 2)) == array(plain) == 0  # an array as any other
