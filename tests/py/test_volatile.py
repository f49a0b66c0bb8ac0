"""volatile_load: elements read anew each time."""

import threading
import time

import numpy as np
import pytest

import pestle as ti

DTYPES = ["u1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"]


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize("name", DTYPES)
def test_types(name, checked):
    dtype = getattr(ti, name)
    x = ti.ndarray(dtype, 6)
    for i in range(6):
        x[i] = i % 2 if name == "u1" else i + 1

    @ti.kernel
    def total(a: ti.types.ndarray(dtype=dtype), out: ti.types.ndarray(dtype=dtype)) -> ti.f64:
        found = ti.f64(0)
        for i in a:
            out[i] = ti.volatile_load(a[i])
            found += ti.f64(ti.volatile_load(a[i]))
        return found

    ti.init(checked=checked)
    out = ti.ndarray(dtype, 6)
    assert total(x, out) == sum(x.tolist()) and out.tolist() == x.tolist()
    ti.init()


def test_a_loop_sees_what_another_thread_writes():
    flags, value, members = ti.field(ti.i32, 4), ti.field(ti.f64, ()), ti.types.struct(a=ti.u8, b=ti.i64).field(2)

    @ti.kernel
    def wait() -> ti.f64:
        while ti.volatile_load(flags[1]) == 0:
            pass
        while ti.volatile_load(members[1].b) != 7:
            pass
        return value[None]

    @ti.kernel
    def tell():
        value[None] = 4.5
        flags[1] = 1
        members[1].b = 7

    found = []
    waiting = threading.Thread(target=lambda: found.append(wait()), daemon=True)
    waiting.start()
    time.sleep(0.1)
    assert not found
    tell()
    waiting.join(30)
    assert found == [4.5]


def test_read_only_arrays():
    @ti.kernel
    def first(a: ti.types.ndarray()) -> ti.i32:
        return ti.volatile_load(a[0])

    a = np.array([5], np.int32)
    a.flags.writeable = False
    assert first(a) == 5


def test_by_the_evaluator_and_as_python():
    x = ti.field(ti.i32, 3)
    x.fill(4)

    @ti.kernel
    def total() -> ti.i32:
        found = 0
        for i in range(3):
            found += ti.volatile_load(x[i])
        return found

    assert total() == total._evaluate() == 12
