"""Statements of random programs.

Arrays and fields have a role in each loop. "own": its element at the loop's index is read and written. "free": in a serial
loop any element is. "read": any element is read, none written. "shared": any element is updated, by one operation whose
order does not matter, and none read. "out": not touched.
"""

from expressions import BINARY, Expressions

SHARED = {"add": "+=", "sub": "-=", "and": "&=", "or": "|=", "xor": "^=", "min": None, "max": None, "mul": None}


class Statements(Expressions):
    def __init__(self, seed):
        super().__init__(seed)
        self.lines, self.indent = [], 0
        self.places = []  # (function that gives a text, kind, shape) of what can be assigned beside the names in `mine`
        self.mine = set()  # names that can be assigned
        self.shared, self.sums, self.procedures, self.methods = [], [], [], []
        self.leaves = None  # what a continue would end: "parallel", "serial"

    def emit(self, text):
        self.lines.append("    " * (self.indent + 1) + text)

    def born(self, text, kind, shape, mine=True):
        self.scope.append((text, kind, shape))
        if mine:
            self.mine.add(text)

    # -- places --

    def place(self):
        """Something to assign: (text, kind, shape), or None."""
        found = [entry for entry in self.scope if entry[0] in self.mine]
        found += [(make(), k, s) for make, k, s in self.places]
        if not found:
            return None
        text, kind, shape = self.r.choice(found)
        while shape == "struct" and self.chance(0.9):
            member, kind, shape, _ = self.r.choice(self.structs[kind])
            text += f".{member}"
        return self.part(text, kind, shape)

    def part(self, text, kind, shape):
        """Of a vector or matrix perhaps an element, a row, a swizzle."""
        r = self.r
        if shape in ("struct", ()) or self.chance(0.4):
            return text, kind, shape
        if len(shape) == 1:
            if 2 <= shape[0] <= 4 and self.chance(0.3):
                letters = r.choice(["xyzw", "rgba", "stpq"])[: shape[0]]
                n = r.randint(1, shape[0])
                return f"{text}.{''.join(r.sample(letters, n))}", kind, (n,) if n > 1 else ()
            if shape[0] > 2 and self.chance(0.15):
                return f"{text}[1:{shape[0]}]", kind, (shape[0] - 1,)
            return f"{text}[{self.position(shape[0])}]", kind, ()
        if self.chance(0.3):
            row = self.chance(0.5)
            return f"{text}[{self.position(shape[0])}, :]" if row else f"{text}[:, {self.position(shape[1])}]", kind, (shape[1] if row else shape[0],)
        return f"{text}[{self.position(shape[0])}, {self.position(shape[1])}]", kind, ()

    # -- statements --

    def statement(self, depth):
        structs = bool(self.structs)
        loops = depth > 0 and self.spent < self.budget
        self.pick(
            (self.new_value, 5), (self.new_struct, 2 if structs else 0), (self.assign, 7), (self.update, 4), (self.atomic, 2),
            (self.swap, 0.5), (self.static_if, 0.5), (self.method, 2 if structs else 0), (self.procedure, 2 if self.procedures else 0), (self.share, 3 if self.shared else 0),
            (self.sum, 3 if self.sums else 0), (self.unpack, 1), (self.claim, 0.3),
            (lambda: self.branch(depth), 2 if loops else 0), (lambda: self.loop(depth), 2 if loops else 0),
            (self.leave, 1.5 if self.leaves else 0),
        )  # fmt: skip

    def new_value(self):
        kind, shape, name = self.r.choice(["int", "float", "float", "bool"]), self.shape(), self.name()
        text = self.expr(kind, shape)
        if self.chance(0.2) and kind != "bool":
            self.emit(f"{name}: {self.type_text(kind, shape)} = {text}")
        else:
            self.emit(f"{name} = {text}")
        self.born(name, kind, shape, kind != "bool")

    def new_struct(self):
        kind, name = self.r.choice(list(self.structs)), self.name("s")
        self.emit(f"{name} = {self.struct(kind)}")
        self.born(name, kind, "struct")

    def value_for(self, kind, shape):
        if shape == "struct":
            return self.struct(kind)
        return self.expr(kind, () if shape and self.chance(0.15) else shape)

    def assign(self):
        place = self.place()
        if not place:
            return self.new_value()
        text, kind, shape = place
        self.emit(f"{text} = {self.value_for(kind, shape)}")

    def update(self):
        place = self.place()
        if not place or place[2] == "struct":
            return self.new_value()
        text, kind, shape = place
        self.emit(f"{text} {self.r.choice(BINARY[kind])}= {self.value_for(kind, shape)}")

    def atomic(self):
        """On what the iteration has for itself: the order is the program's."""
        place = self.place()
        if not place or place[2] == "struct" or ("." in place[0].rsplit("]", 1)[-1] and len(place[0].rsplit(".", 1)[-1]) > 1 and place[2]):
            return self.new_value()
        text, kind, shape = place
        op = self.r.choice(["add", "sub", "min", "max", "mul"] + (["and", "or", "xor"] if kind == "int" else []))
        if not shape and self.chance(0.15):
            op = "exchange"
        name = self.name()
        self.emit(f"{name} = ti.atomic_{op}({text}, {self.expr(kind, shape)})")
        self.born(name, kind, shape)

    def share(self):
        make, op, kind, shape = self.r.choice(self.shared)
        text = make()
        if shape and self.chance(0.5):
            text, kind, shape = f"{text}[{', '.join(self.position(n) for n in shape)}]", kind, ()
        value = self.expr(kind, shape)
        if SHARED[op] and self.chance(0.5):
            self.emit(f"{text} {SHARED[op]} {value}")
        else:
            self.emit(f"ti.atomic_{op}({text}, {value})")

    def sum(self):
        """Into a variable from outside the loop, or a fixed element."""
        text, kind, shape = self.r.choice(self.sums)
        if shape and self.chance(0.3):
            text, shape = f"{text}[{', '.join(str(self.r.randrange(n)) for n in shape)}]", ()
        self.emit(f"{text} += {self.expr(kind, shape)}")

    def unpack(self):
        kind, n = self.kind(), self.r.randint(1, 4)
        names = [self.name() for _ in range(n)]
        self.emit(f"{', '.join(names)}{',' if n == 1 else ''} = {self.expr(kind, (n,))}")
        for name in names:
            self.born(name, kind, ())

    def swap(self):
        """Of two variables; or one value for two."""
        kind, shape = self.kind(), self.shape()
        found = [entry[0] for entry in self.scope if entry[0] in self.mine and entry[1:] == (kind, shape) and "[" not in entry[0]]
        if len(found) >= 2:
            a, b = self.r.sample(found, 2)
            return self.emit(f"{a}, {b} = {b}, {a}")
        a, b = self.name(), self.name()
        self.emit(f"{a} = {b} = {self.expr(kind, shape)}")
        self.born(a, kind, shape)
        self.born(b, kind, shape)

    def static_if(self):
        self.emit(f"if ti.static({self.plain('int')} < 2):")
        self.block(0)

    def claim(self):
        condition = self.expr("bool")
        self.emit(f"assert {condition}{' or True' if self.chance(0.8) else ''}, \"it does not hold\"")

    def method(self):
        found = [s for s in self.structs_in_sight() if s[0] in self.mine and s[1] in self.methods]
        found = [s for s in found if "[" not in s[0] or s[1] not in self.early]
        found += [(make(), k, s) for make, k, s in self.places if s == "struct" and k in self.methods and k not in self.early]
        if not found:
            return self.new_value()
        text, _, _ = self.r.choice(found)
        name = self.name()
        self.emit(f"{name} = {text}.change({self.expr('float')})")
        self.born(name, "int", ())

    def procedure(self):
        """A func that changes its first argument, or gives several values."""
        form, name, first, rest = self.r.choice(self.procedures)
        if form == "several":
            struct, value = self.name("s"), self.name()
            self.emit(f"{struct}, {value} = {name}({self.given(rest, name in self.early)})")
            self.born(struct, first[0], "struct")
            self.born(value, *first[1])
            return
        if form == "ref":
            text = self.name()
            self.emit(f"{text}: {first[2]} = {self.expr(*first[:2])}")
            self.born(text, *first[:2])
        else:
            found = [entry[0] for entry in self.scope if entry[0] in self.mine and entry[1:] == first]
            found += [make() for make, k, s in self.places if (k, s) == first]
            if not found:
                return self.new_value()
            text = self.r.choice(found)
        self.emit(f"{name}({text}{', ' if rest else ''}{self.given(rest)})")

    def leave(self):
        self.emit(f"if {self.expr('bool')}:")
        word = "continue" if self.leaves == "parallel" else self.r.choice(["break", "continue"])
        self.emit(f"    {word}")

    # -- blocks --

    def block(self, depth):
        mark = len(self.scope)
        self.indent += 1
        before = len(self.lines)
        for _ in range(self.r.randint(1, 3)):
            self.statement(depth - 1)
        if len(self.lines) == before:
            self.emit("pass")
        self.indent -= 1
        del self.scope[mark:]

    def branch(self, depth):
        self.emit(f"if {self.expr('bool')}:")
        self.block(depth)
        if self.chance(0.3):
            self.emit(f"elif {self.expr('bool')}:")
            self.block(depth)
        if self.chance(0.5):
            self.emit("else:")
            self.block(depth)

    def loop(self, depth):
        outer, mark = self.leaves, len(self.scope)
        if not self.inside:
            self.emit("ti.loop_config(serialize=True)")
        self.leaves = "serial"
        self.pick((self.range_head, 4), (self.static_head, 2), (self.while_head, 2), (self.tile_head, 1), (self.ndrange_head, 1))
        self.block(depth)
        del self.scope[mark:]
        self.leaves = outer

    def range_head(self):
        name = self.name("k")
        n = str(self.r.randint(0, 4)) if self.chance(0.6) else f"({self.number()}) % 4"
        self.emit(f"for {name} in range({n}):")
        self.born(name, "int", (), False)

    def static_head(self):
        name, n = self.name("k"), self.r.randint(1, 3)
        self.emit(f"for {name} in ti.static(range({n})):")
        self.born(name, "int", (), False)
        self.leaves = None

    def while_head(self):
        name = self.name("w")
        self.emit(f"{name} = 0")
        if self.chance(0.3):
            self.emit("while True:")
            self.emit(f"    {name} += 1")
            self.emit(f"    if {name} > {self.r.randint(1, 4)} or {self.expr('bool')}:")
            self.emit("        break")
        else:
            self.emit(f"while {name} < {self.r.randint(1, 4)} and {self.expr('bool')}:")
            self.emit(f"    {name} += 1")
        self.born(name, "int", (), False)

    def tile_head(self):
        name, kind, n = self.name("k"), self.kind(), self.r.choice([1, 2, 3, 5])
        rows = (n, 2) if self.chance(0.3) else (n,)
        static = self.chance(0.3)
        value = self.expr(kind, rows)
        if static:
            tile = self.name()
            self.emit(f"{tile} = {value}")
            value = f"ti.static({tile})"
        self.emit(f"for {name} in {value}:")
        self.born(name, kind, rows[1:], False)
        if static:
            self.leaves = None

    def ndrange_head(self):
        a, b = self.name("k"), self.name("k")
        self.emit(f"for {a}, {b} in ti.ndrange({self.r.randint(1, 3)}, ({self.r.randint(-1, 0)}, {self.r.randint(1, 2)})):")
        self.born(a, "int", (), False)
        self.born(b, "int", (), False)
