"""Expressions of random programs: the text of one of a kind ("int", "float", "bool") and a shape (() is a number, (3,) a
vector, (2, 3) a matrix). Which dtype comes out is left to promotion.

What a program computes with is counted in numbers (`spent`), so that it stays small: beyond its budget only leaves are
made.
"""

import random

INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f16", "f32", "f64"]
UNARY = {
    "float": ["ti.sqrt", "ti.exp", "ti.sin", "ti.cos", "ti.tanh", "ti.floor", "ti.ceil", "ti.round", "ti.rint", "ti.trunc", "abs", "-",
              "ti.atan", "ti.cbrt", "ti.math.fract", "ti.math.sign", "ti.rsqrt"],
    "int": ["abs", "-", "~", "ti.popcnt", "ti.clz"],
}  # fmt: skip
BINARY = {
    "float": ["+", "-", "*", "+", "-", "*", "/", "%", "//"],
    "int": ["+", "-", "*", "+", "-", "*", "//", "%", "&", "|", "^"],
}
COMPARE = ["<", "<=", ">", ">=", "==", "!="]
MAX_DEPTH = 4


def count(shape):
    product = 1
    for n in shape:
        product *= n
    return product


class Expressions:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.fresh = 0
        self.spent, self.budget = 0, 0
        self.scope = []  # (text, kind, shape): what can be read; of a struct, kind is its name and shape "struct"
        self.structs = {}  # name -> [(member, kind or struct, shape, type's text)]
        self.early = set()  # names of funcs, and structs whose method, return early
        self.calls = []  # (name, parameters, kind, shape) of funcs that give a value
        self.elements = []  # (function of no arguments that gives a text, kind, shape): array elements that can be read
        self.inside = False  # a loop or a func, whose loops are serial
        self.can_draw = False  # random numbers

    # -- choices --

    def name(self, start="v"):
        self.fresh += 1
        return f"{start}{self.fresh}"

    def chance(self, p):
        return self.r.random() < p

    def pick(self, *weighted):
        """One of (function, weight), called."""
        return self.r.choices([w[0] for w in weighted], [w[1] for w in weighted])[0]()

    def dtype(self, kind, common=0.6):
        if kind == "bool":
            return "u1"
        if self.chance(common):
            return self.r.choice(["i32", "i32", "i64"] if kind == "int" else ["f32", "f32", "f64"])
        return self.r.choice(INTS if kind == "int" else FLOATS + ["bf16"])

    def kind(self):
        return self.r.choice(["int", "float", "float"])

    def shape(self):
        r = self.r
        chosen = r.random()
        if chosen < 0.35:
            return ()
        if self.large and chosen < 0.6:
            return r.choice([(5, 5), (17,), (3, 7), (9, 2), (20,), (1, 18), (4, 5), (17, 1), (6, 6), (9,), (4, 4)])
        if chosen < 0.75:
            return (r.choice([1, 2, 2, 3, 3, 3, 4, 4, 5, 7, 9]),)
        return r.choice([(1, 1), (1, 3), (4, 1), (2, 2), (2, 2), (3, 3), (2, 3), (3, 2), (2, 4), (3, 1), (1, 2)])

    # -- the whole --

    def expr(self, kind, shape=(), depth=None):
        if depth is None:
            depth = self.r.choice([1, 1, 2])
        self.spent += count(shape)
        if depth <= 0 or self.chance(0.15) or self.spent > self.budget:
            return self.leaf(kind, shape)
        if shape and self.chance(0.45):
            return self.shaped(kind, shape, depth)
        if not shape and self.chance(0.35) and kind != "bool":
            return self.from_tile(kind, depth)
        return self.elementwise(kind, shape, depth)

    def number(self, kind="int", depth=1):
        return self.expr(kind, (), depth)

    def leaf(self, kind, shape):
        found = self.readable(kind, shape)
        if found and self.chance(0.8):
            return self.r.choice(found)
        reads = [make for make, k, s in self.elements if (k, s) == (kind, shape)]
        if reads and self.chance(0.6):
            return self.r.choice(reads)()
        if not shape:
            return self.literal(kind)
        if kind == "bool":
            return f"({self.leaf('int', shape)} {self.r.choice(COMPARE)} {self.literal('int')})"
        return self.literals(kind, shape)

    def literals(self, kind, shape):
        dtype = f"ti.{self.dtype(kind)}"
        how = self.r.random()
        if how < 0.15:
            return f"ti.{'Vector' if len(shape) == 1 else 'Matrix'}.{self.r.choice(['zero', 'one'])}({dtype}, {', '.join(map(str, shape))})"
        if how < 0.3 or count(shape) > 9:
            return f"{self.type_text(kind, shape)}({self.leaf(kind, ())})"
        items = [self.some_number(kind) for _ in range(count(shape))]
        if len(shape) == 1:
            return f"ti.Vector([{', '.join(items)}], {dtype})"
        rows = [f"[{', '.join(items[k * shape[1] : (k + 1) * shape[1]])}]" for k in range(shape[0])]
        return f"ti.Matrix([{', '.join(rows)}], {dtype})"

    def some_number(self, kind):
        return self.plain(kind) if self.chance(0.4) else self.leaf(kind, ())

    def plain(self, kind):
        """A Python number."""
        if kind == "int":
            return str(self.r.randint(-9, 9))
        return repr(round(self.r.uniform(-4, 4), 2))

    def literal(self, kind):
        if kind == "bool":
            kind = self.kind()
            found = self.readable(kind, ())
            if found and self.chance(0.9):
                return f"({self.r.choice(found)} {self.r.choice(COMPARE)} {self.literal(kind)})"
            return self.r.choice(["True", "False"])
        if self.can_draw and self.chance(0.1):
            return f"ti.random(ti.{self.dtype(kind)})" if kind == "int" or self.chance(0.7) else "ti.randn(ti.f32)"
        if self.chance(0.3):
            return self.plain(kind)
        dtype = self.dtype(kind)
        if kind == "float":
            return f"ti.{dtype}({self.plain(kind)})"
        if self.chance(0.15):
            bits = int(dtype[1:])
            low, high = (0, 2**bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
            return f"ti.{dtype}({self.r.choice([low, high, high - 1])})"
        return f"ti.{dtype}({self.r.randint(0 if dtype[0] == 'u' else -9, 9)})"

    def readable(self, kind, shape):
        found = [name for name, k, s in self.scope if (k, s) == (kind, shape)]
        for name, struct, _ in self.structs_in_sight():
            found += [text for text, k, s in self.members(name, struct) if (k, s) == (kind, shape)]
        return found

    def structs_in_sight(self):
        return [entry for entry in self.scope if entry[2] == "struct"]

    def members(self, name, struct):
        """Of a struct, and of those in it."""
        for member, kind, shape, _ in self.structs[struct]:
            yield f"{name}.{member}", kind, shape
            if shape == "struct":
                yield from self.members(f"{name}.{member}", kind)

    def type_text(self, kind, shape, dtype=None):
        dtype = f"ti.{dtype or self.dtype(kind)}"
        return f"ti.types.{'vector' if len(shape) == 1 else 'matrix'}({', '.join(map(str, shape))}, {dtype})" if shape else dtype

    def position(self, n):
        """An index below n, known or not."""
        if self.chance(0.5):
            return str(self.r.randrange(n))
        return f"({self.number()}) % {n}"

    def maybe_outside(self):
        """An index of a vector that is no variable: outside it gives 0, and a fault when checked."""
        found = self.readable("int", ())
        return f"({self.r.choice(found)} & 3)" if found else "0"

    # -- of any shape --

    def elementwise(self, kind, shape, depth):
        e, r = self.expr, self.r
        if kind == "bool":
            return self.condition(shape, depth)
        other = shape if self.chance(0.7) else ()
        choices = [
            (lambda: f"({e(kind, shape, depth - 1)} {r.choice(BINARY[kind])} {e(kind, other, depth - 1)})", 10),
            (lambda: f"({e(kind, other, depth - 1)} {r.choice(BINARY[kind])} {e(kind, shape, depth - 1)})", 3),
            (lambda: f"{r.choice(UNARY[kind])}({e(kind, shape, depth - 1)})", 4),
            (lambda: f"{r.choice(['max', 'min', 'ti.max', 'ti.min'])}({e(kind, shape, depth - 1)}, {e(kind, other, depth - 1)})", 3),
            (lambda: f"ti.select({e('bool', shape, depth - 1)}, {e(kind, shape, depth - 1)}, {e(kind, shape, depth - 1)})", 2),
            (lambda: f"ti.cast({e(r.choice(['int', 'float', 'bool']), shape, depth - 1)}, ti.{self.dtype(kind)})", 3),
            (lambda: f"({e(kind, shape, depth - 1)} ** {r.randint(0, 4)})", 1),
            (lambda: f"ti.{r.choice(['zero', 'one'])}({e(kind, shape, depth - 1)})", 0.3),
            (lambda: self.call(kind, shape), 4 if self.callable(kind, shape) else 0),
        ]
        if kind == "int":
            choices += [(lambda: f"({e(kind, shape, depth - 1)} {r.choice(['<<', '>>'])} ({e(kind, other, depth - 1)} & {r.choice([7, 63])}))", 1)]
            choices += [(lambda: f"ti.{r.choice(['raw_div', 'raw_mod', 'bit_shr'])}({e(kind, shape, depth - 1)}, {e(kind, shape, depth - 1)})", 1)]
        else:
            choices += [(lambda: f"ti.{r.choice(['atan2', 'hypot', 'pow'])}({e(kind, shape, depth - 1)}, {e(kind, other, depth - 1)})", 1)]
            choices += [(lambda: f"({e('int', shape, depth - 1)} {r.choice(['/', '+', '*'])} {e(r.choice(['int', 'float']), other, depth - 1)} / 2)", 1)]
            choices += [(lambda: f"ti.math.{r.choice(['clamp', 'mix', 'smoothstep'])}({e(kind, shape, depth - 1)}, 0.5, 2.0)", 1)]
        if not shape:
            choices += [(lambda: f"({e(kind, (), depth - 1)} if {e('bool', (), depth - 1)} else {e(kind, (), depth - 1)})", 2)]
        elif self.chance(0.1):
            choices += [(lambda: f"{e(r.choice(['int', 'float']), shape, depth - 1)}.cast(ti.{self.dtype(kind)})", 20)]
        return self.pick(*choices)

    def condition(self, shape, depth):
        e, r = self.expr, self.r
        kind, other = self.kind(), shape if self.chance(0.6) else ()
        choices = [
            (lambda: f"({e(kind, shape, depth - 1)} {r.choice(COMPARE)} {e(self.kind(), other, depth - 1)})", 6),
            (lambda: f"({e('bool', shape, depth - 1)} {r.choice(['&', '|', '^', 'and', 'or'])} {e('bool', shape, depth - 1)})", 2),
            (lambda: f"(not {e('bool', shape, depth - 1)})", 1),
            (lambda: f"ti.{r.choice(['isnan', 'isinf'])}({e('float', shape, depth - 1)})", 1),
        ]
        if not shape:
            tile = self.tile_shape()
            choices += [
                (lambda: f"({e(kind, (), depth - 1)} {r.choice(COMPARE)} {e(kind, (), depth - 1)} {r.choice(COMPARE)} {e(kind, (), depth - 1)})", 1),
                (lambda: f"{e('bool', tile, depth - 1)}.{r.choice(['any', 'all'])}()", 1),
                (lambda: f"{r.choice(['any', 'all'])}({e('bool', tile, depth - 1)})", 1),
                (lambda: f"({e(kind, (), depth - 1)} in {e(kind, (r.randint(1, 4),), depth - 1)})", 1),
            ]
        return self.pick(*choices)

    def callable(self, kind, shape):
        return [c for c in self.calls if c[2:] == (kind, shape)]

    def call(self, kind, shape):
        name, params, _, _ = self.r.choice(self.callable(kind, shape))
        return f"{name}({self.given(params, name in self.early)})"

    def given(self, params, plain=False):
        """Arguments. A func with early returns takes no elements of fields of structs, as those make it expand in place."""
        return ", ".join(self.argument(kind, shape, plain) for kind, shape in params)

    def argument(self, kind, shape, plain):
        if kind == "table":
            return "table"
        if kind == "depth":
            return str(self.r.randint(0, 4))
        return self.struct(kind, plain) if shape == "struct" else self.expr(kind, shape, 1)

    def struct(self, kind, plain=False):
        """A struct of a type: one that is there (an element of a field only if it may be), or a new one."""
        found = [name for name, struct, shape in self.scope if (struct, shape) == (kind, "struct")]
        for name, struct, _ in self.structs_in_sight():
            found += [text for text, k, s in self.members(name, struct) if (k, s) == (kind, "struct")]
        found = [text for text in found if not plain or "[" not in text]
        if found and self.chance(0.5):
            return self.r.choice(found)
        named = self.chance(0.3)
        values = [self.struct(k, plain) if s == "struct" else self.expr(k, s, 1) for _, k, s, _ in self.structs[kind]]
        names = [f"{member}=" if named else "" for member, *_ in self.structs[kind]]
        return f"{kind}({', '.join(name + value for name, value in zip(names, values))})"

    # -- numbers out of tiles, and tiles --

    def tile_shape(self):
        while not (shape := self.shape()):
            pass
        return shape

    def from_tile(self, kind, depth):
        e, r = self.expr, self.r
        shape = self.tile_shape()
        n = r.choice([1, 2, 3, 3, 4])
        square = (r.choice([1, 2, 2, 3, 3, 4]),) * 2
        tile = lambda: e(kind, shape, depth - 1)  # noqa: E731
        choices = [
            (lambda: f"{tile()}[{', '.join(self.position(k) for k in shape)}]", 4),
            (lambda: f"({tile()} + {self.plain(kind)})[{', '.join(self.maybe_outside() for _ in shape)}]", 0.3),
            (lambda: f"{e(kind, (n,), depth - 1)}.{r.choice([names[r.randrange(n)] for names in ('xyzw', 'rgba', 'stpq')])}", 1),
            (lambda: f"{tile()}.{r.choice(['sum', 'max', 'min'] + (['norm_sqr'] if kind == 'float' else []))}()", 3),
            (lambda: f"{e(kind, (n,), depth - 1)}.dot({e(kind, (n,), depth - 1)})", 1),
            (lambda: f"({e(kind, (n,), depth - 1)} @ {e(kind, (n,), depth - 1)})", 1),
            (lambda: f"{e(kind, square, depth - 1)}.trace()", 1),
            (lambda: f"{e(kind, (2,), depth - 1)}.cross({e(kind, (2,), depth - 1)})", 1),
        ]
        if kind == "float":
            choices += [
                (lambda: f"{e(kind, square, depth - 1)}.determinant()", 1),
                (lambda: f"{tile()}.{r.choice(['norm', 'norm_inv'])}()", 1),
                (lambda: f"{e(kind, square, depth - 1)}.frobenius_inner({e(kind, square, depth - 1)})", 1),
                (lambda: f"ti.math.{r.choice(['distance', 'dot'])}({e(kind, (n,), depth - 1)}, {e(kind, (n,), depth - 1)})", 1),
                (lambda: f"ti.math.length({tile()})", 1),
            ]
        else:
            choices += [(lambda: f"ti.cast({e('bool', shape, depth - 1)}.{r.choice(['any', 'all'])}(), ti.i32)", 1)]
            choices += [(lambda: f"len({tile()})", 0.3)]
        return self.pick(*choices)

    def shaped(self, kind, shape, depth):
        if kind == "bool":
            return self.condition(shape, depth)
        return self.vector(kind, shape[0], depth) if len(shape) == 1 else self.matrix(kind, shape, depth)

    def vector(self, kind, n, depth):
        e, r = self.expr, self.r
        m, longer = r.randint(1, 4), n + r.randint(0, 3)
        start = r.randint(0, longer - n)
        letters = r.choice(["xyzw", "rgba", "stpq"])
        choices = [
            (lambda: f"({e(kind, (n, m), depth - 1)} @ {e(kind, (m,), depth - 1)})", 2),
            (lambda: f"({e(kind, (m,), depth - 1)} @ {e(kind, (m, n), depth - 1)})", 1),
            (lambda: f"{e(kind, (m, n), depth - 1)}[{self.position(m)}, :]", 1),
            (lambda: f"{e(kind, (m, n), depth - 1)}[{self.position(m)}]", 1),
            (lambda: f"{e(kind, (n, m), depth - 1)}[:, {self.position(m)}]", 1),
            (lambda: f"{e(kind, (longer,), depth - 1)}[{start}:{start + n}]", 1 if n > 1 else 0),
        ]
        if n <= 6:
            choices += [(lambda: f"ti.Vector([{', '.join(e(kind, (), depth - 2) for _ in range(n))}])", 2)]
        if self.inside and n <= 4:
            k = self.name("k")
            choices += [(lambda: f"ti.Vector([{self.number(kind)} * {k} for {k} in ti.static(range({n}))])", 1)]
        if 2 <= n <= 4:
            m = max(n, r.randint(2, 4))
            choices += [(lambda: f"{e(kind, (m,), depth - 1)}.{''.join(r.choice(letters[:m]) for _ in range(n))}", 2)]
        if n == 3:
            choices += [(lambda: f"{e(kind, (3,), depth - 1)}.cross({e(kind, (3,), depth - 1)})", 1)]
        if kind == "float":
            choices += [(lambda: f"{e(kind, (n,), depth - 1)}.normalized()", 1)]
        return self.pick(*choices)

    def matrix(self, kind, shape, depth):
        e, r = self.expr, self.r
        n, m = shape
        k = r.randint(1, 4)
        choices = [
            (lambda: f"{e(kind, (m, n), depth - 1)}.transpose()", 2),
            (lambda: f"({e(kind, (n, k), depth - 1)} @ {e(kind, (k, m), depth - 1)})", 3),
            (lambda: f"{e(kind, (n,), depth - 1)}.outer_product({e(kind, (m,), depth - 1)})", 1),
        ]
        if n <= 4 and m <= 4:
            choices += [
                (lambda: f"ti.Matrix.rows([{', '.join(e(kind, (m,), depth - 2) for _ in range(n))}])", 1),
                (lambda: f"ti.Matrix.cols([{', '.join(e(kind, (n,), depth - 2) for _ in range(m))}])", 1),
                (lambda: f"{e(kind, (n + 1, m + 1), depth - 1)}[{r.choice(['1:', f':{n}', f'0:{n}'])}, {r.choice(['1:', f':{m}'])}]", 1),
            ]
        if n == m:
            choices += [(lambda: f"ti.Matrix.identity(ti.{self.dtype(kind)}, {n})", 0.5)]
            choices += [(lambda: f"ti.Matrix.diag({n}, {self.number(kind)})", 0.5)]
            if kind == "float" and n <= 4:
                choices += [(lambda: f"{e(kind, shape, depth - 1)}.inverse()", 1)]
        return self.pick(*choices)
