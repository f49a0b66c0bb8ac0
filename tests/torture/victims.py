"""The kernels that torture.py runs. In a file of their own, older than the process, so that Python need not compile it again
to know that it is the program: under failing allocations Python's compiler crashes."""

import pestle as ti

A = ti.types.ndarray()
NUMBER = 1  # torture.py gives each copy its own: then no cache has `told`


@ti.kernel
def first(n: ti.i32) -> ti.i32:
    return n + 1


@ti.func
def fib(n: ti.i32) -> ti.i32:
    r = n
    if n > 1:
        r = fib(n - 1) + fib(n - 2)
    return r


@ti.kernel
def total(x: A, a: ti.f32) -> ti.f32:
    s = ti.f32(0)
    for i, j in x:
        x[i, j] = x[i, j] * a + 1
        s += x[i, j]
    return s


@ti.kernel
def collatz(x: A):
    for i in x:
        n, steps = i + 1, 0
        while n != 1 and steps < 1000:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        x[i] = steps


@ti.kernel
def told(n: ti.i32) -> ti.i64:
    print("fib of", n, "is", fib(n))
    return ti.i64(fib(n)) * NUMBER
