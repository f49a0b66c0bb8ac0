# What a checked launch finds: bounds, division by zero, assertions; the lowest fault, whatever the threads.

#-- an index beyond the end [checked]
@ti.kernel
def f(x: F1, n: ti.i32):
    x[n] = 1
f(np.zeros(3, np.float32), 3)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     x[n] = 1
#!     ^^^^
#! Out of bound access: index 3 is out of bounds for axis 0 with length 3

#-- an index below zero [checked]
@ti.kernel
def f(x: F1, n: ti.i32) -> ti.f32:
    return x[n]
f(np.zeros(3, np.float32), -1)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return x[n]
#!            ^^^^
#! Out of bound access: index -1 is out of bounds for axis 0 with length 3

#-- an index beyond the end of a field with an offset [checked]
@ti.kernel
def f(i: ti.i32, j: ti.i32):
    a[i, j] = 1
a = ti.field(ti.i32, (3, 4), offset=(10, -2))
f(12, 2)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     a[i, j] = 1
#!     ^^^^^^^
#! Out of bound access: index 2 is out of bounds for axis 1, whose indices are -2 to 1

#-- an index before the offset, so far that the difference wraps [checked]
@ti.kernel
def f(i: ti.i32):
    for j in range(1):
        a[i].x = 1
a = ti.Struct.field({"x": ti.i32}, 3, offset=2**30)
f(-2**31 + 1)
#! KernelAssertionError
#! File "program.py", line 4, in f
#!     a[i].x = 1
#!     ^^^^
#! Out of bound access: index -2147483647 is out of bounds for axis 0, whose indices are 1073741824 to 1073741826

#-- a known index beyond the end of a field with an offset [checked]
@ti.kernel
def f():
    a[-4] = 1
a = ti.field(ti.i32, 3, offset=-7)
f()
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     a[-4] = 1
#!     ^^^^^
#! Out of bound access: index -4 is out of bounds for axis 0, whose indices are -7 to -5

#-- a known index beyond the end [checked]
@ti.kernel
def f(x: F1) -> ti.f32:
    return x[7]
f(np.zeros(3, np.float32))
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return x[7]
#!            ^^^^
#! Out of bound access: index 7 is out of bounds for axis 0 with length 3

#-- the first axis [checked]
@ti.kernel
def f(x: ti.types.ndarray(), i: ti.i32, j: ti.i32, k: ti.i32) -> ti.i32:
    return x[i, j, k]
f(np.zeros((2, 3, 4), np.int32), 2, 0, 0)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return x[i, j, k]
#!            ^^^^^^^^^^
#! Out of bound access: index 2 is out of bounds for axis 0 with length 2

#-- the second axis [checked]
@ti.kernel
def f(x: ti.types.ndarray(), i: ti.i32, j: ti.i32, k: ti.i32) -> ti.i32:
    return x[i, j, k]
f(np.zeros((2, 3, 4), np.int32), 1, -5, 9)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return x[i, j, k]
#!            ^^^^^^^^^^
#! Out of bound access: index -5 is out of bounds for axis 1 with length 3

#-- the third axis [checked]
@ti.kernel
def f(x: ti.types.ndarray(), i: ti.i32, j: ti.i32, k: ti.i32) -> ti.i32:
    return x[i, j, k]
f(np.zeros((2, 3, 4), np.int32), 1, 2, 4)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return x[i, j, k]
#!            ^^^^^^^^^^
#! Out of bound access: index 4 is out of bounds for axis 2 with length 4

#-- a wide index [checked]
@ti.kernel
def f(x: F1, n: ti.i64) -> ti.f32:
    return x[n]
f(np.zeros(3, np.float32), 2**32)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return x[n]
#!            ^^^^
#! Out of bound access: index 4294967296 is out of bounds for axis 0 with length 3

#-- an unsigned wide index [checked]
@ti.kernel
def f(x: F1, n: ti.u64) -> ti.f32:
    return x[n]
f(np.zeros(3, np.float32), 2**64 - 1)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return x[n]
#!            ^^^^
#! Out of bound access: index -1 is out of bounds for axis 0 with length 3

#-- an empty array [checked]
@ti.kernel
def f(x: F1) -> ti.f32:
    return x[0]
f(np.zeros(0, np.float32))
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return x[0]
#!            ^^^^
#! Out of bound access: index 0 is out of bounds for axis 0 with length 0

#-- an index of a pestle array [checked]
@ti.kernel
def f(x: I2, n: ti.i32) -> ti.i32:
    return x[1, n]
f(ti.ndarray(ti.i32, (2, 3)), 3)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return x[1, n]
#!            ^^^^^^^
#! Out of bound access: index 3 is out of bounds for axis 1 with length 3

#-- a strided array [checked]
@ti.kernel
def f(x: F1, n: ti.i32) -> ti.f32:
    return x[n]
f(np.zeros(10, np.float32)[::-2], 5)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return x[n]
#!            ^^^^
#! Out of bound access: index 5 is out of bounds for axis 0 with length 5

#-- the lowest fault of a parallel loop [checked]
@ti.kernel
def f(x: F1, n: ti.i32):
    for i in range(n):
        x[i] = 1
f(np.zeros(100000, np.float32), 1000000)
#! KernelAssertionError
#! File "program.py", line 4, in f
#!     x[i] = 1
#!     ^^^^
#! Out of bound access: index 100000 is out of bounds for axis 0 with length 100000

#-- the lowest fault of a loop over two axes [checked]
@ti.kernel
def f(x: I2, n: ti.i32):
    for i, j in ti.ndrange(n, n):
        x[i, j] = 1
f(np.zeros((300, 200), np.int32), 400)
#! KernelAssertionError
#! File "program.py", line 4, in f
#!     x[i, j] = 1
#!     ^^^^^^^
#! Out of bound access: index 200 is out of bounds for axis 1 with length 200

#-- the lowest fault, not the first in time [checked]
@ti.kernel
def f(x: F1, n: ti.i32):
    for i in range(n):
        y = 0.0
        for k in range((n - i) * 20):
            y += ti.sin(y + k)
        x[i + 10] = y
f(np.zeros(100, np.float32), 1000)
#! KernelAssertionError
#! File "program.py", line 7, in f
#!     x[i + 10] = y
#!     ^^^^^^^^^
#! Out of bound access: index 100 is out of bounds for axis 0 with length 100

#-- an earlier loop's fault [checked]
@ti.kernel
def f(x: F1, n: ti.i32):
    for i in range(n):
        x[i] = 1
    for i in range(n):
        x[-i - 1] = 1
f(np.zeros(100, np.float32), 101)
#! KernelAssertionError
#! File "program.py", line 4, in f
#!     x[i] = 1
#!     ^^^^
#! Out of bound access: index 100 is out of bounds for axis 0 with length 100

#-- a serial loop's fault [checked]
@ti.kernel
def f(x: F1, n: ti.i32) -> ti.f32:
    y = 0.0
    i = 0
    while i < n:
        y += x[i]
        i += 1
    return y
f(np.zeros(4, np.float32), 6)
#! KernelAssertionError
#! File "program.py", line 6, in f
#!     y += x[i]
#!          ^^^^
#! Out of bound access: index 4 is out of bounds for axis 0 with length 4

#-- an atomic beyond the end [checked]
@ti.kernel
def f(x: F1, n: ti.i32):
    for i in range(n):
        x[i * 2] += 1.0
f(np.zeros(7, np.float32), 5)
#! KernelAssertionError
#! File "program.py", line 4, in f
#!     x[i * 2] += 1.0
#!     ^^^^^^^^
#! Out of bound access: index 8 is out of bounds for axis 0 with length 7

#-- an atomic of ti beyond the end [checked]
@ti.kernel
def f(x: F1, n: ti.i32):
    for i in range(n):
        ti.atomic_max(x[i + 1], 1.0)
f(np.zeros(7, np.float32), 7)
#! KernelAssertionError
#! File "program.py", line 4, in f
#!     ti.atomic_max(x[i + 1], 1.0)
#!                   ^^^^^^^^
#! Out of bound access: index 7 is out of bounds for axis 0 with length 7

#-- an index by an element [checked]
@ti.kernel
def f(x: F1, k: I1):
    for i in k:
        x[k[i]] = 1.0
f(np.zeros(7, np.float32), np.array([1, 2, 7, -1], np.int32))
#! KernelAssertionError
#! File "program.py", line 4, in f
#!     x[k[i]] = 1.0
#!     ^^^^^^^
#! Out of bound access: index 7 is out of bounds for axis 0 with length 7

#-- division by zero [checked]
@ti.kernel
def f(n: ti.i32, d: ti.i32) -> ti.i32:
    return n // d
f(7, 0)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return n // d
#!            ^^^^^^
#! integer division by zero: the dividend is 7

#-- modulo zero [checked]
@ti.kernel
def f(n: ti.i64, d: ti.i64) -> ti.i64:
    return n % d
f(-7, 0)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return n % d
#!            ^^^^^
#! integer division by zero: the dividend is -7

#-- division in place by zero [checked]
@ti.kernel
def f(k: I1):
    for i in k:
        k[i] //= i - 2
f(np.array([1, 2, 30, 4], np.int32))
#! KernelAssertionError
#! File "program.py", line 4, in f
#!     k[i] //= i - 2
#!     ^^^^^^^^^^^^^^
#! integer division by zero: the dividend is 30

#-- ti.raw_div by zero [checked]
@ti.kernel
def f(n: ti.i32, d: ti.i32) -> ti.i32:
    return ti.raw_div(n, d)
f(7, 0)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return ti.raw_div(n, d)
#!            ^^^^^^^^^^^^^^^^
#! integer division by zero: the dividend is 7

#-- ti.raw_mod of zero [checked]
@ti.kernel
def f(n: ti.i32, d: ti.i32) -> ti.i32:
    return ti.raw_mod(n, d)
f(7, 0)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return ti.raw_mod(n, d)
#!            ^^^^^^^^^^^^^^^^
#! integer division by zero: the dividend is 7

#-- unsigned division by zero [checked]
@ti.kernel
def f(n: ti.u32, d: ti.u32) -> ti.u32:
    return n // d
f(7, 0)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return n // d
#!            ^^^^^^
#! integer division by zero: the dividend is 7

#-- an assertion [checked]
@ti.kernel
def f(n: ti.i32):
    assert n > 3
f(1)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     assert n > 3
#!     ^^^^^^^^^^^^
#! assertion failed: n > 3

#-- an assertion with a text [checked]
@ti.kernel
def f(n: ti.i32):
    assert n > 3, "n is too small"
f(1)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     assert n > 3, "n is too small"
#!     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! assertion failed: n is too small

#-- an assertion with runtime values in its text [checked]
@ti.kernel
def f(n: ti.i32):
    assert n > 3, f"n is {n}"
f(1)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     assert n > 3, f"n is {n}"
#!     ^^^^^^^^^^^^^^^^^^^^^^^^^
#! assertion failed: n is 1

#-- an assertion that is known to fail [checked]
@ti.kernel
def f(n: ti.i32):
    assert False, "never"
f(1)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     assert False, "never"
#!     ^^^^^^^^^^^^^^^^^^^^^
#! assertion failed: never

#-- an assertion over two lines [checked]
@ti.kernel
def f(n: ti.i32):
    assert (n > 3
            and n < 9)
f(1)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     assert (n > 3
#!     ^^^^^^^^^^^^^
#! assertion failed: (n > 3 and n < 9)

#-- an assertion in a parallel loop [checked]
@ti.kernel
def f(n: ti.i32):
    for i in range(n):
        assert i * i < 1000
f(100000)
#! KernelAssertionError
#! File "program.py", line 4, in f
#!     assert i * i < 1000
#!     ^^^^^^^^^^^^^^^^^^^
#! assertion failed: i * i < 1000

#-- an assertion on a float [checked]
@ti.kernel
def f(t: ti.f32):
    assert t
f(1.0)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     assert t
#!     ^^^^^^^^
#! `assert` conditions must be an integer; found f32. Consider using `assert x != 0`

#-- an assertion on an array [checked]
@ti.kernel
def f(x: F1):
    assert x
f(np.zeros(3, np.float32))
#! KernelTypeError
#! File "program.py", line 3, in f
#!     assert x
#!     ^^^^^^^^
#! `assert` needs a number, as a truth value; found f32 array of 1 axis

#-- a fault in a func that is called [checked]
@ti.func
def g(x, n):
    y = 0.0
    for i in range(3):
        y += x[n + i]
    return y

@ti.kernel
def f(x: F1, n: ti.i32) -> ti.f32:
    y = 0.0
    for i in range(n):
        y += g(x, i)
    return y
f(np.zeros(7, np.float32), 6)
#! KernelAssertionError
#! File "program.py", line 12, in f
#!     y += g(x, i)
#!          ^^^^^^^
#! File "program.py", line 5, in g
#!     y += x[n + i]
#!          ^^^^^^^^
#! Out of bound access: index 7 is out of bounds for axis 0 with length 7

#-- a fault in a func that is expanded [checked]
@ti.func
def g(x, n):
    return x[n]

@ti.kernel
def f(x: F1, n: ti.i32) -> ti.f32:
    return g(x, n)
f(np.zeros(7, np.float32), 8)
#! KernelAssertionError
#! File "program.py", line 7, in f
#!     return g(x, n)
#!            ^^^^^^^
#! File "program.py", line 3, in g
#!     return x[n]
#!            ^^^^
#! Out of bound access: index 8 is out of bounds for axis 0 with length 7

#-- a fault in a parallel loop of a func [checked]
@ti.func
def g(x: ti.template(), n):
    for i in range(n):
        x[i] = 1

@ti.kernel
def f(x: F1, n: ti.i32):
    g(x, n)
f(np.zeros(7, np.float32), 8)
#! KernelAssertionError
#! File "program.py", line 8, in f
#!     g(x, n)
#!     ^^^^^^^
#! File "program.py", line 4, in g
#!     x[i] = 1
#!     ^^^^
#! Out of bound access: index 7 is out of bounds for axis 0 with length 7

#-- a fault in a helper [checked]
def helper(x, n):
    return x[n + 1]

@ti.kernel
def f(x: F1, n: ti.i32) -> ti.f32:
    return helper(x, n)
f(np.zeros(7, np.float32), 8)
#! KernelAssertionError
#! File "program.py", line 6, in f
#!     return helper(x, n)
#!            ^^^^^^^^^^^^
#! Out of bound access: index 9 is out of bounds for axis 0 with length 7

#-- a fault on the right of and [checked]
@ti.kernel
def f(x: F1, n: ti.i32) -> ti.i32:
    y = 0
    if n > 3 and x[n] > 0:
        y = 1
    return y
f(np.zeros(7, np.float32), 8)
#! KernelAssertionError
#! File "program.py", line 4, in f
#!     if n > 3 and x[n] > 0:
#!                  ^^^^
#! Out of bound access: index 8 is out of bounds for axis 0 with length 7

#-- a fault in a conditional expression [checked]
@ti.kernel
def f(x: F1, n: ti.i32) -> ti.f32:
    return x[0] if n < 3 else x[n]
f(np.zeros(7, np.float32), 8)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return x[0] if n < 3 else x[n]
#!                               ^^^^
#! Out of bound access: index 8 is out of bounds for axis 0 with length 7

#-- a fault in a condition of while [checked]
@ti.kernel
def f(x: F1) -> ti.i32:
    n = 0
    while x[n] < 1.0:
        n += 1
    return n
f(np.zeros(7, np.float32))
#! KernelAssertionError
#! File "program.py", line 4, in f
#!     while x[n] < 1.0:
#!           ^^^^
#! Out of bound access: index 7 is out of bounds for axis 0 with length 7

#-- a fault in an unrolled loop [checked]
@ti.kernel
def f(x: F1) -> ti.f32:
    y = 0.0
    for i in ti.static(range(9)):
        y += x[i]
    return y
f(np.zeros(7, np.float32))
#! KernelAssertionError
#! File "program.py", line 5, in f
#!     y += x[i]
#!          ^^^^
#! Out of bound access: index 7 is out of bounds for axis 0 with length 7

#-- a recursion that is too deep [checked]
@ti.func
def g(a: ti.i32) -> ti.i32:
    y = 0
    if a > 0:
        y = g(a - 1) + 1
    return y

@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(100000000)
#! KernelAssertionError
#! File "program.py", line 10, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 5, in g
#!     y = g(a - 1) + 1
#!         ^^^^^^^^
#! File "program.py", line 5, in g
#!     y = g(a - 1) + 1
#!         ^^^^^^^^
#! File "program.py", line 5, in g
#!     y = g(a - 1) + 1
#!         ^^^^^^^^
#! File "program.py", line 5, in g
#!     y = g(a - 1) + 1
#!         ^^^^^^^^
#! File "program.py", line 5, in g
#!     y = g(a - 1) + 1
#!         ^^^^^^^^
#! (988 more calls)
#! File "program.py", line 5, in g
#!     y = g(a - 1) + 1
#!         ^^^^^^^^
#! File "program.py", line 5, in g
#!     y = g(a - 1) + 1
#!         ^^^^^^^^
#! File "program.py", line 5, in g
#!     y = g(a - 1) + 1
#!         ^^^^^^^^
#! File "program.py", line 5, in g
#!     y = g(a - 1) + 1
#!         ^^^^^^^^
#! File "program.py", line 5, in g
#!     y = g(a - 1) + 1
#!         ^^^^^^^^
#! File "program.py", line 5, in g
#!     y = g(a - 1) + 1
#!         ^^^^^^^^
#! File "program.py", line 5, in g
#!     y = g(a - 1) + 1
#!         ^^^^^^^^
#! calls are nested too deeply: 1001, the most is 1000

#-- an axis of a grouped index [checked]
@ti.kernel
def f(m: I2):
    for I in ti.grouped(m):
        m[I + 1] = 1
f(np.zeros((3, 4), np.int32))
#! KernelAssertionError
#! File "program.py", line 4, in f
#!     m[I + 1] = 1
#!     ^^^^^^^^
#! Out of bound access: index 4 is out of bounds for axis 1 with length 4

#-- faults in two arrays of one statement [checked]
@ti.kernel
def f(x: F1, k: I1, n: ti.i32):
    x[n] = k[n + 1]
f(np.zeros(3, np.float32), np.zeros(3, np.int32), 3)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     x[n] = k[n + 1]
#!            ^^^^^^^^
#! Out of bound access: index 4 is out of bounds for axis 0 with length 3

#-- a float index is no fault but a mistake [checked]
@ti.kernel
def f(x: F1, t: ti.f32) -> ti.f32:
    return x[t]
f(np.zeros(3, np.float32), 1.0)
#! KernelTypeError
#! File "program.py", line 3, in f
#!     return x[t]
#!            ^^^^
#! indices must be integers, however 'f32' is provided as index 0

#-- a line of many statements [checked]
@ti.kernel
def f(x: F1, n: ti.i32):
    y = n + 1; x[y] = x[n]; y += 1
f(np.zeros(3, np.float32), 2)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     y = n + 1; x[y] = x[n]; y += 1
#!                ^^^^
#! Out of bound access: index 3 is out of bounds for axis 0 with length 3

#-- an index over several lines [checked]
@ti.kernel
def f(x: F1, n: ti.i32) -> ti.f32:
    return x[
        n
    ]
f(np.zeros(3, np.float32), 5)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return x[
#!            ^^
#! Out of bound access: index 5 is out of bounds for axis 0 with length 3

#-- an assertion with several values in its text [checked]
@ti.func
def g(k: ti.template(), a, b):
    assert a < b, f"{k}: {a} {b} {a < b}"

@ti.kernel
def f(n: ti.i64, t: ti.f32):
    for i in range(3):
        g("first", i, n + 100)
        g(2, t, n + 100)
        g("third", t, n)
f(-3, 0.1)
#! KernelAssertionError
#! File "program.py", line 10, in f
#!     g("third", t, n)
#!     ^^^^^^^^^^^^^^^^
#! File "program.py", line 3, in g
#!     assert a < b, f"{k}: {a} {b} {a < b}"
#!     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! assertion failed: third: 0.1 -3 False

#-- an assertion with more values in its text than a fault holds [checked]
@ti.kernel
def f(n: ti.i32):
    assert n > 3, f"{n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n}"
f(1)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     assert n > 3, f"{n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n}"
#!     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! assertion failed: n > 3, f"{n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n} {n}"

#-- an assertion whose message is not a string [checked]
@ti.kernel
def f(n: ti.i32):
    assert n > 3, (n, 1.5)
f(1)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     assert n > 3, (n, 1.5)
#!     ^^^^^^^^^^^^^^^^^^^^^^
#! assertion failed: (1, 1.5)

#-- an assertion whose message would fail itself [checked]
@ti.kernel
def f(x: F1, n: ti.i32):
    assert n > 3, f"{x[n]}"
f(np.zeros(1, np.float32), 5)
f(np.zeros(1, np.float32), 3)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     assert n > 3, f"{x[n]}"
#!                      ^^^^
#! Out of bound access: index 3 is out of bounds for axis 0 with length 1

#-- an assertion with str.format [checked]
@ti.kernel
def f(n: ti.i32):
    assert n > 3, "{} is too small, {k}".format(n, k=1)
f(1)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     assert n > 3, "{} is too small, {k}".format(n, k=1)
#!     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! assertion failed: 1 is too small, 1

#-- an assertion with an unknown name in its message [checked]
@ti.kernel
def f(n: ti.i32):
    assert n > 3, unknown
f(5)
#! KernelNameError
#! File "program.py", line 3, in f
#!     assert n > 3, unknown
#!                   ^^^^^^^
#! Name "unknown" is not defined

#-- an assertion with an array as message [checked]
@ti.kernel
def f(x: F1):
    assert False, x
f(np.zeros(1, np.float32))
#! KernelTypeError
#! File "program.py", line 3, in f
#!     assert False, x
#!                   ^
#! f32 array of 1 axis cannot be printed from a kernel; expected numbers, strings, tuples or lists

#-- division of a large unsigned number by zero [checked]
@ti.kernel
def f(n: ti.u64, d: ti.u64) -> ti.u64:
    return n // d
f(2**64 - 1, 0)
#! KernelAssertionError
#! File "program.py", line 3, in f
#!     return n // d
#!            ^^^^^^
#! integer division by zero: the dividend is 18446744073709551615

#-- a real_func that ends without a value [checked]
@ti.real_func
def g(n: ti.i32) -> ti.i32:
    while n > 0:
        return n
@ti.kernel
def f(n: ti.i32) -> ti.i32:
    return g(n)
f(0)
#! KernelAssertionError
#! File "program.py", line 7, in f
#!     return g(n)
#!            ^^^^
#! File "program.py", line 2, in g
#!     def g(n: ti.i32) -> ti.i32:
#!     ^^^^^^^^^^^^^^^^^^^^^^^^^^^
#! this function ended without returning a value
