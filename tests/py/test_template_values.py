"""Vectors, matrices and structs as template arguments: known while compiling, by value."""

import pestle as ti

Pair = ti.types.struct(a=ti.i32, v=ti.types.vector(2, ti.i32))


def test_changed_in_place_is_another_program():
    @ti.kernel
    def vector(v: ti.template()) -> ti.i32:
        return ti.static(v[0] + v[1])

    @ti.kernel
    def struct(s: ti.template()) -> ti.i32:
        return s.a + s.v[0]

    v, s = ti.Vector([1, 2]), Pair(1, [2, 3])
    assert (vector(v), struct(s)) == (3, 3)
    v[0], s.a = 10, 10
    assert (vector(v), struct(s)) == (12, 12)
    s.v[0] = 5
    assert struct(s) == 15
    assert (vector(ti.Vector([1, 2])), struct(Pair(1, [2, 3]))) == (3, 3)
