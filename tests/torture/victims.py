"""The kernels that torture.py runs. In a file of their own, older than the process, so that Python need not compile it again
to know that it is the program: under failing allocations Python's compiler crashes."""

import pestle as ti

A = ti.types.ndarray()
VEC = ti.types.vector(3, ti.f32)
VECS = ti.types.ndarray(VEC, 1)
MAT = ti.types.matrix(3, 3, ti.f32)
NUMBER = 1  # torture.py gives each copy its own: then no cache has those that use it


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


@ti.kernel
def turned(m: MAT, v: VEC, x: VECS) -> VEC:
    s = VEC(0)
    for i in range(x.shape[0]):
        w = (m @ m.transpose()) @ v + i
        x[i] = w.xzy
        s += ti.max(w, 2 * v)
    s[0] += NUMBER
    return s


heat = ti.field(ti.f32, (40, 70))
cooler = ti.field(ti.f32, (40, 70))
least = ti.field(ti.f32, ())


@ti.kernel
def spread(n: ti.i32) -> ti.i32:
    least[None] = 1e9
    for i, j in heat:
        cooler[i, j] = heat[i, j] / 2 + heat[i, (j + n) % 70]
        ti.atomic_min(least[None], cooler[i, j] + NUMBER)
    return cooler.shape[0] + cooler.shape[1]


@ti.dataclass
class Ball:
    pos: VEC
    turn: MAT
    weight: ti.f64
    tag: ti.i8

    @ti.func
    def push(self, by):
        self.pos += by * self.turn[0, :]

    @ti.func
    def far(self):
        return self.pos.norm_sqr() > 100


@ti.kernel
def roll(balls: ti.template(), first: Ball) -> Ball:
    heavy = first
    for i in balls:
        b = first
        b.pos.x = i
        b.push(2)
        if b.far():
            b.tag = 1
            heavy.weight += b.weight
        balls[i] = b
    heavy.tag = ti.cast(NUMBER % 100, ti.i8)
    return heavy


def rolled(count, first):
    """Makes a field, too."""
    field = Ball.field(shape=count)
    result = roll(field, first)
    return result, field.to_numpy()
