"""Random kernels on vectors, matrices and structs: funcs that take, change and return them, fields of them. For compare.py:

    python values.py SEED      prints the program of a seed

What a program computes goes into its arrays; its fields are filled from them first, so that every run starts alike. Only the
kind of elements is followed (int, float), as promotion finds the types.
"""

import random

FLOATS, INTS = ["f32", "f32", "f64"], ["i32", "i32", "i64", "u32"]
SIZES = [1, 2, 3, 17, 130]


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.n, self.lines, self.indent, self.scope = 0, [], 0, []
        self.readable, self.index, self.calls = None, "0", []
        self.make()

    def name(self, start="v"):
        self.n += 1
        return f"{start}{self.n}"

    def emit(self, text):
        self.lines.append("    " * (self.indent + 1) + text)

    def some(self, *choices):
        return self.r.choice(choices)()

    def dtype(self, kind):
        return self.r.choice(INTS if kind == "int" else FLOATS)

    def shape(self):
        r = self.r.random()
        if r < 0.35:
            return ()
        return (self.r.randint(2, 4),) if r < 0.8 else (self.r.randint(2, 3), self.r.randint(2, 3))

    # -- expressions: of a kind and a shape --

    def literal(self, kind):
        return str(self.r.randint(-9, 9)) if kind == "int" else repr(round(self.r.uniform(-4, 4), 2))

    def named(self, kind, shape):
        """Something in sight, or None."""
        found = [name for name, k, s in self.scope if (k, s) == (kind, shape)]
        for name, _, members in self.structs_in_sight():
            found += [f"{name}.{member}" for member, k, s, _ in members if (k, s) == (kind, shape)]
        return self.r.choice(found) if found else None

    def structs_in_sight(self):
        return [(name, kind, self.structs[kind]) for name, kind, shape in self.scope if shape == "struct"]

    def position(self, n):
        """An index below n, known or not."""
        if self.r.random() < 0.6:
            return str(self.r.randrange(n))
        return f"ti.cast({self.expr('int', (), 1)}, ti.i32) % {n}"

    def expr(self, kind, shape, depth=3):
        r = self.r
        if depth <= 0 or r.random() < 0.2:
            return self.leaf(kind, shape)
        if shape == ():
            return self.scalar(kind, depth)
        if r.random() < 0.4:
            return self.elementwise(kind, shape, depth)
        return self.vector(kind, shape[0], depth) if len(shape) == 1 else self.matrix(kind, shape, depth)

    def leaf(self, kind, shape):
        found = self.named(kind, shape)
        if found and self.r.random() < 0.8:
            return found
        if shape == ():
            if self.readable and kind == "float" and self.r.random() < 0.4:
                return f"{self.readable}[{self.index}]"
            return self.literal(kind)
        items = [self.literal(kind) for _ in range(shape[0])]
        if len(shape) == 1:
            return f"ti.Vector([{', '.join(items)}], ti.{self.dtype(kind)})"
        rows = [f"[{', '.join(self.literal(kind) for _ in range(shape[1]))}]" for _ in range(shape[0])]
        return f"ti.Matrix([{', '.join(rows)}], ti.{self.dtype(kind)})"

    def elementwise(self, kind, shape, depth):
        a, b = self.expr(kind, shape, depth - 1), self.expr(kind, shape if self.r.random() < 0.6 else (), depth - 1)
        operator = self.r.choice(["+", "-", "*"] + (["/"] if kind == "float" else ["//", "%", "&", "^"]))
        choices = [
            lambda: f"({a} {operator} {b})",
            lambda: f"(-{a})",
            lambda: f"ti.{self.r.choice(['max', 'min'])}({a}, {b})",
            lambda: f"ti.select({self.expr('int', shape, depth - 1)} > {self.literal('int')}, {a}, {b})",
            lambda: f"ti.cast({self.expr(self.r.choice(['int', 'float']), shape, depth - 1)}, ti.{self.dtype(kind)})",
        ]
        if kind == "float":
            choices += [lambda: f"ti.sqrt(abs({a}))", lambda: f"ti.floor({a})", lambda: f"abs({a})"]
        return self.some(*choices)

    def scalar(self, kind, depth):
        n = self.r.randint(2, 4)
        vector, other = self.expr(kind, (n,), depth - 1), self.expr(kind, (n,), depth - 1)
        square = (self.r.randint(2, 3),) * 2
        matrix = self.expr(kind, square, depth - 1)
        choices = [
            lambda: f"{vector}[{self.position(n)}]",
            lambda: f"{vector}.{self.r.choice('xyzw'[:n])}",
            lambda: f"{vector}.{self.r.choice(['sum', 'max', 'min', 'norm_sqr'])}()",
            lambda: f"{vector}.dot({other})",
            lambda: f"{matrix}[{self.position(square[0])}, {self.position(square[0])}]",
            lambda: f"{matrix}.trace()",
            lambda: self.elementwise(kind, (), depth),
        ]
        if kind == "float":
            choices += [lambda: f"{matrix}.determinant()", lambda: f"{vector}.norm()"]
        else:
            choices += [lambda: f"ti.cast({vector}.{self.r.choice(['any', 'all'])}(), ti.i32)"]
        plain = [c for c in self.calls if c[1] == "number"]
        if plain and kind == "float":
            name, _, size = self.r.choice(plain)
            choices += [lambda: f"{name}({self.expr('float', (), depth - 1)}, {self.expr('float', (size,), depth - 1)})"]
        return self.some(*choices)

    def vector(self, kind, n, depth):
        longer, m = self.r.randint(max(2, n - 1), 4), self.r.randint(2, 3)
        choices = [
            lambda: f"ti.Vector([{', '.join(self.expr(kind, (), depth - 2) for _ in range(n))}])",
            lambda: f"{self.expr(kind, (longer,), depth - 1)}.{''.join(self.r.choice('xyzw'[:longer]) for _ in range(n))}",
        ]
        if n <= 3:
            choices += [
                lambda: f"({self.expr(kind, (n, m), depth - 1)} @ {self.expr(kind, (m,), depth - 1)})",
                lambda: f"{self.expr(kind, (m, n), depth - 1)}[{self.position(m)}, :]",
            ]
        if n == 3:
            choices += [lambda: f"{self.expr(kind, (3,), depth - 1)}.cross({self.expr(kind, (3,), depth - 1)})"]
        return self.some(*choices)

    def matrix(self, kind, shape, depth):
        n, m = shape
        k = self.r.randint(2, 3)
        choices = [
            lambda: f"{self.expr(kind, (m, n), depth - 1)}.transpose()",
            lambda: f"({self.expr(kind, (n, k), depth - 1)} @ {self.expr(kind, (k, m), depth - 1)})",
            lambda: f"{self.expr(kind, (n,), depth - 1)}.outer_product({self.expr(kind, (m,), depth - 1)})",
            lambda: f"ti.Matrix.rows([{', '.join(self.expr(kind, (m,), depth - 2) for _ in range(n))}])",
        ]
        if n == m and kind == "float":
            choices += [lambda: f"{self.expr(kind, shape, depth - 1)}.inverse()"]
        return self.some(*choices)

    def struct(self, kind):
        values = [self.expr(k, s, 1) for _, k, s, _ in self.structs[kind]]
        return f"{kind}({', '.join(values)})"

    # -- statements --

    def place(self):
        """Something that can be assigned: (text, kind, shape)."""
        names = [v for v in self.scope if v[2] != "struct" and v[0].startswith("v")]
        places = names + [(f"{n}.{m}", k, s) for n, _, ms in self.structs_in_sight() for m, k, s, _ in ms]
        if not places:
            return None
        text, kind, shape = self.r.choice(places)
        if len(shape) == 1 and self.r.random() < 0.5:
            if self.r.random() < 0.4:
                return f"{text}.{''.join(self.r.sample('xyzw'[: shape[0]], 2))}", kind, (2,)
            return f"{text}[{self.position(shape[0])}]", kind, ()
        if len(shape) == 2 and self.r.random() < 0.5:
            if self.r.random() < 0.4:
                return f"{text}[{self.r.randrange(shape[0])}, :]", kind, (shape[1],)
            return f"{text}[{self.position(shape[0])}, {self.position(shape[1])}]", kind, ()
        return text, kind, shape

    def statement(self, depth):
        place = self.place()
        choices = [self.new_value, self.new_struct, self.new_value]
        if place:
            choices += [lambda: self.assign(*place)] * 3
        if any(c[1] == "pair" for c in self.calls):
            choices += [self.new_pair]
        if self.structs_in_sight() and self.methods:
            choices += [self.method] * 2
        if depth:
            choices += [lambda: self.branch(depth), lambda: self.loop(depth)]
        self.some(*choices)

    def new_value(self):
        kind, shape, name = self.r.choice(["int", "float", "float"]), self.shape(), self.name()
        self.emit(f"{name} = {self.expr(kind, shape)}")
        self.scope.append((name, kind, shape))

    def new_struct(self):
        kind, name = self.r.choice(list(self.structs)), self.name("s")
        others = [n for n, k, _ in self.structs_in_sight() if k == kind]
        self.emit(f"{name} = {self.r.choice(others) if others and self.r.random() < 0.3 else self.struct(kind)}")
        self.scope.append((name, kind, "struct"))

    def new_pair(self):
        func, _, (kind, n) = self.r.choice([c for c in self.calls if c[1] == "pair"])
        struct, value = self.name("s"), self.name()
        self.emit(f"{struct}, {value} = {func}({self.struct(kind)}, {self.expr('float', (n,))})")
        self.scope += [(struct, kind, "struct"), (value, "float", (n,))]

    def method(self):
        found = [s for s in self.structs_in_sight() if "[" not in s[0] or s[1] not in self.early]  # those are expanded in place
        if not found:
            return self.new_value()
        name, kind, _ = self.r.choice(found)
        value = self.name()
        self.emit(f"{value} = {name}.change({self.expr('float', ())})")
        self.scope.append((value, "int", ()))

    def assign(self, place, kind, shape):
        operator = self.r.choice(["=", "=", "+=", "-=", "*="])
        if self.r.random() < 0.2 and shape != ():
            self.emit(f"{place} {operator} {self.expr(kind, ())}")
        else:
            self.emit(f"{place} {operator} {self.expr(kind, shape)}")

    def block(self, depth):
        mark = len(self.scope)
        self.indent += 1
        for _ in range(self.r.randint(1, 3)):
            self.statement(depth - 1)
        self.indent -= 1
        del self.scope[mark:]

    def branch(self, depth):
        self.emit(f"if {self.expr('float', ())} < {self.literal('float')}:")
        self.block(depth)
        if self.r.random() < 0.5:
            self.emit("else:")
            self.block(depth)

    def loop(self, depth):
        name = self.name("k")
        self.emit(f"for {name} in range({self.r.randint(1, 4)}):")
        self.scope.append((name, "int", ()))
        self.block(min(depth, 1))
        self.scope.pop()

    # -- funcs, structs, the kernel --

    def body(self, scope, statements, finish):
        saved = self.scope, self.lines, self.indent
        self.scope, self.lines, self.indent = scope, [], 0
        for _ in range(statements):
            self.statement(1)
        finish()
        text = "\n".join(self.lines) + "\n"
        self.scope, self.lines, self.indent = saved
        return text

    def returns(self, value, early):
        if early:
            self.emit(f"if {self.expr('float', ())} > {self.literal('float')}:")
            self.emit(f"    return {value()}")
        self.emit(f"return {value()}")

    def func(self):
        early, n = self.r.random() < 0.6, self.r.randint(2, 4)
        scope = [("p", "float", ()), ("q", "float", (n,))]
        if self.r.random() < 0.5:
            name = self.name("f")
            text = self.body(scope, self.r.randint(0, 3), lambda: self.returns(lambda: self.expr("float", ()), early))
            self.calls.append((name, "number", n))
            return f"@ti.func\ndef {name}(p, q):\n{text}"
        name, kind = self.name("g"), self.r.choice(list(self.structs))
        scope = [("p", kind, "struct"), ("q", "float", (n,))]
        annotation = f": {kind}" if self.r.random() < 0.5 else ""
        value = lambda: f"{self.struct(kind)}, {self.expr('float', (n,))}"  # noqa: E731
        text = self.body(scope, self.r.randint(0, 3), lambda: self.returns(value, early))
        self.calls.append((name, "pair", (kind, n)))
        return f"@ti.func\ndef {name}(p{annotation}, q):\n{text}"

    def type_text(self, kind, shape):
        dtype = f"ti.{self.dtype(kind)}"
        return dtype if not shape else f"ti.types.{'vector' if len(shape) == 1 else 'matrix'}({', '.join(map(str, shape))}, {dtype})"

    def new_type(self):
        name = self.name("S")
        members = []
        for k in range(self.r.randint(1, 3)):
            kind, shape = self.r.choice(["int", "float"]), self.shape()
            members.append((f"m{k}", kind, shape, self.type_text(kind, shape)))
        self.structs[name] = members
        early = self.r.random() < 0.5
        if early:
            self.early.add(name)
        change = self.body([("self", name, "struct"), ("p", "float", ())], 2, lambda: self.returns(lambda: self.expr("int", ()), early))
        change = "".join("    " + line + "\n" for line in change.splitlines())
        lines = "".join(f"    {member}: {text}\n" for member, _, _, text in members)
        return f"@ti.dataclass\nclass {name}:\n{lines}\n    @ti.func\n    def change(self, p):\n{change}"

    def make(self):
        r = self.r
        size = r.choice(SIZES)
        self.structs, self.methods, self.early = {}, False, set()
        types = [self.new_type() for _ in range(r.randint(1, 2))]
        self.methods = True
        funcs = [self.func() for _ in range(r.randint(0, 3))]
        self.arrays, self.scalars = [("f64", (size, 12)), ("f32", (size,))], [("f32", round(r.uniform(-3, 3), 3))]
        kind, shape = r.choice(list(self.structs)), (r.randint(2, 4),)
        fields = f"sf = {kind}.field(shape={size}, layout=ti.Layout.{r.choice(['AOS', 'SOA'])})\n"
        fields += f"vf = ti.Vector.field({shape[0]}, ti.{self.dtype('float')}, shape={size})\n"
        self.emit(f"total = ti.{self.dtype('float')}(0.0)")
        self.emit(f"for i in range({size}):")
        self.indent += 1
        self.readable, self.index = "a1", "i"
        self.scope = [("c0", "float", ()), ("i", "int", ())]
        self.emit(f"sf[i] = {self.struct(kind)}")
        self.emit(f"vf[i] = {self.expr('float', shape, 1)}")
        self.scope += [("sf[i]", kind, "struct"), ("vf[i]", "float", shape)]
        for _ in range(r.randint(2, 6)):
            self.statement(2)
        for k in range(12):
            self.emit(f"a0[i, {k}] = {self.expr(r.choice(['int', 'float']), (), 2)}")
        for k, (text, _, shape) in enumerate([v for v in self.scope if v[2] != "struct"][-6:]):
            self.emit(f"a0[i, {k}] += {text}{'.sum()' if shape else ''}")
        self.emit(f"total += {self.expr('float', ())}")
        self.indent -= 1
        self.emit("return total")
        head = "@ti.kernel\ndef kernel(a0: ti.types.ndarray(dtype=ti.f64, ndim=2), a1: ti.types.ndarray(dtype=ti.f32, ndim=1), c0: ti.f32) -> ti.f64:\n"
        self.source = "\n".join(types) + fields + "\n".join(funcs) + "\n" + head + "\n".join(self.lines) + "\n"


if __name__ == "__main__":
    import sys

    print(Program(int(sys.argv[1])).source)
