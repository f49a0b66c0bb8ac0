"""Random programs of the whole language: vectors and matrices of every shape, also beyond what is unrolled, nested structs
with methods, funcs with early returns, recursion and places as arguments, fields of every kind, arrays of vectors,
dataclasses as arguments, kernels as methods, atomics, random numbers. A seed gives one program, always the same.

`source` defines `kernel`, `fields` (those that the program uses; they are filled before each run) and `launch(call, a)`,
which gives `call` the arguments, `a` being the arrays. `arrays` lists those: (dtype, shape, memory order).
The result is defined: what parallel iterations share is combined by what has no order, or a fixed one (statements.py).
"""

from expressions import FLOATS, INTS, count
from statements import SHARED, Statements


class Array:
    """An array or field: how it is called, what its elements are (of structs: kind is the type's name, shape "struct")."""

    def __init__(self, text, kind, shape, lengths, dtype=None):
        self.text, self.kind, self.shape, self.lengths, self.dtype = text, kind, shape, lengths, dtype


class Program(Statements):
    def __init__(self, seed):
        super().__init__(seed)
        self.large = self.chance(0.15)
        self.budget = 80
        self.form = self.r.choices(["plain", "dataclass", "class"], [6, 2, 2])[0]
        sizes = [1, 2, 3, 5] if self.large else [1, 2, 3, 5, 17, 64, 64, 130, 130, 130, 1500]
        self.size = self.r.choice(sizes)
        self.make()

    # -- types and funcs --

    def body(self, scope, statements, finish, budget=30):
        """The text of a func's body. Parameters can be assigned unless `scope` says otherwise."""
        saved = self.scope, self.lines, self.indent, self.mine, self.leaves, self.inside, self.spent, self.budget
        self.scope, self.lines, self.indent, self.mine, self.leaves, self.inside = [], [], 0, set(), None, True
        self.spent, self.budget = 0, budget
        for name, kind, shape, mine in scope:
            self.born(name, kind, shape, mine)
        for _ in range(statements):
            self.statement(1)
        finish()
        lines = self.lines
        self.scope, self.lines, self.indent, self.mine, self.leaves, self.inside, self.spent, self.budget = saved
        return "\n".join(lines) + "\n"

    def returns(self, value, early):
        if early:
            self.emit(f"if {self.expr('bool')}:")
            self.emit(f"    return {value()}")
        self.emit(f"return {value()}")

    def new_type(self):
        name, members = self.name("S"), []
        for k in range(self.r.randint(1, 3)):
            if self.structs and self.chance(0.4):
                kind = self.r.choice(list(self.structs))
                members.append((f"m{k}", kind, "struct", kind))
            else:
                kind, shape = self.r.choice(["int", "float"]), self.shape()
                members.append((f"m{k}", kind, shape, self.type_text(kind, shape)))
        self.structs[name] = members
        lines = "".join(f"    {member}: {text}\n" for member, _, _, text in members)
        text = f"@ti.dataclass\nclass {name}:\n{lines}"
        if self.chance(0.6):
            early = self.chance(0.5)
            scope = [("self", name, "struct", True), ("p", "float", (), False)]
            change = self.body(scope, self.r.randint(1, 2), lambda: self.returns(self.number, early))
            text += "\n    @ti.func\n    def change(self, p):\n" + "".join(f"    {line}\n" for line in change.splitlines())
            self.methods.append(name)
            if early:
                self.early.add(name)
        return text

    def parameter(self):
        """(kind, shape), and how it may be annotated."""
        if self.structs and self.chance(0.3):
            kind = self.r.choice(list(self.structs))
            return (kind, "struct"), kind
        kind, shape = self.kind(), self.shape()
        return (kind, shape), self.type_text(kind, shape)

    def func(self):
        return self.pick((self.value_func, 5), (self.several_func, 2 if self.structs else 0), (self.changing_func, 2), (self.real_func, 3),
                         (self.ref_func, 1), (self.table_func, 1))  # fmt: skip

    def signature(self, params, annotated):
        return ", ".join(f"p{k}{f': {text}' if annotated or self.chance(0.2) else ''}" for k, (_, text) in enumerate(params))

    def value_func(self):
        name, kind, shape, early = self.name("f"), self.kind(), self.shape(), self.chance(0.5)
        params = [self.parameter() for _ in range(self.r.randint(1, 3))]
        scope = [(f"p{k}", *p, False) for k, (p, _) in enumerate(params)]
        text = self.body(scope, self.r.randint(0, 2), lambda: self.returns(lambda: self.expr(kind, shape), early))
        self.calls.append((name, [p for p, _ in params], kind, shape))
        if early:
            self.early.add(name)
        return f"@ti.func\ndef {name}({self.signature(params, False)}):\n{text}"

    def several_func(self):
        name, struct, early = self.name("f"), self.r.choice(list(self.structs)), self.chance(0.5)
        kind, shape = self.kind(), self.shape()
        params = [((struct, "struct"), struct), self.parameter()]
        scope = [(f"p{k}", *p, False) for k, (p, _) in enumerate(params)]
        value = lambda: f"{self.struct(struct)}, {self.expr(kind, shape)}"  # noqa: E731
        text = self.body(scope, self.r.randint(0, 2), lambda: self.returns(value, early))
        self.procedures.append(("several", name, (struct, (kind, shape)), [p for p, _ in params]))
        if early:
            self.early.add(name)
        return f"@ti.func\ndef {name}({self.signature(params, False)}):\n{text}"

    def changing_func(self):
        """Its first parameter is the caller's variable."""
        name = self.name("f")
        first, params = self.parameter()[0], [self.parameter() for _ in range(self.r.randint(0, 1))]
        scope = [("p", *first, True)] + [(f"p{k}", *p, False) for k, (p, _) in enumerate(params)]
        text = self.body(scope, 0, lambda: [self.r.choice([self.assign, self.update])() for _ in range(self.r.randint(1, 3))])
        self.procedures.append(("changing", name, first, [p for p, _ in params]))
        return f"@ti.func\ndef {name}(p: ti.template(){', ' if params else ''}{self.signature(params, False)}):\n{text}"

    def real_func(self):
        """It calls itself until its first argument is 0."""
        name, kind, shape = self.name("r"), self.kind(), self.shape()
        params = [self.parameter() for _ in range(self.r.randint(1, 2))]
        scope = [("n", "int", (), False)] + [(f"p{k}", *p, False) for k, (p, _) in enumerate(params)]

        def finish():
            self.emit("if n <= 0:")
            self.emit(f"    return {self.expr(kind, shape)}")
            deeper = f"{name}(n - 1, {self.given([p for p, _ in params])})"
            self.emit(f"return {deeper} {self.r.choice('+-*')} {self.expr(kind, shape)}")

        text = self.body(scope, self.r.randint(0, 1), finish)
        self.calls.append((name, [("depth", ())] + [p for p, _ in params], kind, shape))
        return f"@ti.real_func\ndef {name}(n: ti.i32, {self.signature(params, True)}) -> {self.type_text(kind, shape)}:\n{text}"

    def table_func(self):
        """Reads an array that it is given."""
        name = self.name("f")
        decorator, result = self.r.choice([("func", ""), ("func", ""), ("real_func", " -> ti.f64")])
        scope = [("q", "float", (), False), ("p[n % p.shape[0]]", "float", (), False)]
        text = self.body(scope, self.r.randint(0, 1), lambda: self.returns(lambda: f"p[n % p.shape[0]] + {self.number('float')}", self.chance(0.4)))
        self.calls.append((name, [("table", ()), ("int", ()), ("float", ())], "float", ()))
        return f"@ti.{decorator}\ndef {name}(p: ti.template(), n: ti.i32, q: ti.f32){result}:\n{text}"

    def ref_func(self):
        name, kind, shape = self.name("r"), self.kind(), self.shape()
        type_text = self.type_text(kind, shape)
        scope = [("p", kind, shape, True), ("q", "float", (), False)]
        text = self.body(scope, 0, lambda: [self.r.choice([self.assign, self.update])() for _ in range(2)])
        self.procedures.append(("ref", name, (kind, shape, type_text), [("float", ())]))
        return f"@ti.real_func\ndef {name}(p: ti.ref({type_text}), q: ti.f32):\n{text}"

    # -- arrays --

    def lengths(self):
        if self.chance(0.15):
            return (max(1, self.size // 8), 5)
        return (self.size,)

    def element(self):
        """(kind, shape, dtype) of a scalar, vector or matrix."""
        kind, shape = self.r.choice(["int", "float"]), self.shape()
        dtype = self.r.choice(["i32", "f32", "f64"][:: 1 if kind == "float" else -1][:2] if self.chance(0.6) else (INTS if kind == "int" else FLOATS))
        if (dtype[0] == "f") != (kind == "float"):
            dtype = "i64" if kind == "int" else "f32"
        return kind, shape, dtype

    def new_ndarray(self):
        kind, shape, dtype = self.element()
        array = Array(f"a{len(self.ndarrays)}", kind, shape, self.lengths(), dtype)
        self.ndarrays.append(array)
        self.arrays.append((dtype, array.lengths + shape, self.r.choice(["C", "C", "F", "reversed"])))
        return array

    def new_field(self):
        name, lengths = self.name("x"), () if self.chance(0.2) else self.lengths()
        layout = f", layout=ti.Layout.{self.r.choice(['AOS', 'SOA'])}" if lengths else ""
        if self.structs and self.chance(0.35):
            kind = self.r.choice(list(self.structs))
            array, text = Array(name, kind, "struct", lengths), f"{kind}.field(shape={lengths}{layout})"
        else:
            kind, shape, dtype = self.element()
            array = Array(name, kind, shape, lengths, dtype)
            maker = "ti." + ("Vector.field" if len(shape) == 1 else "Matrix.field") if shape else "ti.field"
            text = f"{maker}({', '.join(map(str, shape + (f'ti.{dtype}', f'shape={lengths}')))}{layout if shape else ''})"
        self.fields.append((name, text))
        return array

    def at(self, array, index=None):
        """An element at an index, or somewhere."""
        if not array.lengths:
            return f"{array.text}[None]"
        return f"{array.text}[{index or ', '.join(self.position(n) for n in array.lengths)}]"

    def within(self, array):
        """(function that gives a text, kind, shape) of what lies in an array's elements."""
        somewhere = lambda: self.at(array)  # noqa: E731
        if array.shape != "struct":
            return [(somewhere, array.kind, array.shape)]
        members = [(text, k, s) for text, k, s in self.members("", array.kind) if s != "struct"]
        return [(lambda text=text: self.at(array) + text, k, s) for text, k, s in members]

    def everything_free(self):
        """In serial code any element can be read and written."""
        for array in self.all_arrays:
            self.elements += self.within(array)
            self.places.append((lambda array=array: self.at(array), array.kind, array.shape))

    def nothing_free(self):
        self.elements, self.places, self.shared = [], [], []

    # -- the kernel --

    def give_roles(self, lengths, index, shifted):
        for array in self.all_arrays:
            role = self.r.choice(["own", "own", "own", "read", "shared", "out"])
            if role == "own" and array.lengths == lengths:
                text = f"{index} + {self.r.randint(0, 2)}" if shifted else index
                self.born(self.at(array, text), array.kind, array.shape)
            elif not array.lengths and role in ("own", "shared"):
                self.sums += [(make(), k, s) for make, k, s in self.within(array)]
            elif role == "shared":
                ints = [w for w in self.within(array) if w[1] == "int"]
                self.shared += [(make, self.r.choice(list(SHARED)), k, s) for make, k, s in ints]
            elif role in ("read", "own"):
                self.elements += self.within(array)

    def new_sums(self):
        for _ in range(self.r.randint(0, 2)):
            name, kind, shape = self.name("t"), self.r.choice(["int", "float"]), self.shape()
            value = f"{self.type_text(kind, shape)}(0)" if shape else f"ti.{self.dtype(kind)}(0)"
            self.emit(f"{name} = {value}")
            self.sums.append((name, kind, shape))

    def top_loop(self):
        r = self.r
        array = r.choice(self.looped)
        lengths = array.lengths
        serial = self.size <= 20 and self.chance(0.2)
        kept = list(self.sums)
        self.sums = []
        self.new_sums()
        born = [s for s in self.sums]
        names, grouped = [self.name("i") for _ in lengths], self.chance(0.2)
        ranges = "range" if len(lengths) == 1 else "ti.ndrange"
        domain = r.choice([array.text, f"{ranges}({', '.join(map(str, lengths))})"])
        shifted = len(lengths) == 1 and lengths[0] > 2 and not grouped and self.chance(0.2)  # x[i + 1] is an iteration's own, too
        if shifted:
            domain = f"range({lengths[0] - 2})"
        if serial:
            self.emit("ti.loop_config(serialize=True)")
        if grouped:
            names = [self.name("i")]
            domain = f"ti.grouped({domain})".replace("(range(", "(ti.ndrange(")
        self.emit(f"for {', '.join(names)} in {domain}:")
        mark, mine = len(self.scope), set(self.mine)
        self.indent, self.inside, self.leaves = 1, True, "serial" if serial else "parallel"
        self.nothing_free()
        if serial:
            self.everything_free()
        else:
            self.mine.clear()
            self.give_roles(lengths, ", ".join(names), shifted)
        for name in names:
            self.born(name, "int", (len(lengths),) if grouped else (), False)
        self.lines_of_loop(names, grouped, len(lengths))
        self.indent, self.inside, self.leaves = 0, False, None
        del self.scope[mark:]
        self.mine = mine
        self.nothing_free()
        self.sums = kept + born
        for name, kind, shape in born:
            self.born(name, kind, shape)

    def lines_of_loop(self, names, grouped, axes):
        before = len(self.lines)
        for _ in range(self.r.randint(2, 4)):
            self.statement(2)
        for name, kind, shape in [entry for entry in self.scope if entry[0] in self.mine and "[" in entry[0]][:2]:
            self.emit(f"{name} = {self.value_for(kind, shape)}")
        if len(self.lines) == before:
            self.emit("pass")
        if axes == 1:
            self.observe(names[0] + ("[0]" if grouped else ""))

    def top_func_call(self):
        """A func whose loop is parallel, as it is called at the kernel's top level."""
        name, array = self.name("f"), self.r.choice(self.looped)
        index = ", ".join("ij"[: len(array.lengths)])
        scope = [(f"p[{index}]", array.kind, array.shape, True), ("q", "float", (), False), ("i", "int", (), False)]

        def finish():
            self.leaves = "parallel"
            for _ in range(self.r.randint(1, 2)):
                self.r.choice([self.assign, self.update, self.new_value])()
            self.emit(f"p[{index}] = {self.value_for(array.kind, array.shape)}")

        text = self.body(scope, 0, finish)
        text = "".join(f"    {line}\n" for line in text.splitlines())
        self.late_funcs.append(f"@ti.func\ndef {name}(p: ti.template(), q):\n    for {index} in p:\n{text}")
        self.emit(f"{name}({array.text}, {self.number('float')})")

    def observe(self, i):
        """What was computed becomes visible."""
        seen = [entry for entry in self.scope if entry[2] != "struct" and "[" not in entry[0]]
        for name, struct, _ in self.structs_in_sight():
            seen += [entry for entry in self.members(name, struct) if entry[2] != "struct" and "[" not in name]
        for k, (text, kind, shape) in enumerate(self.r.sample(seen, min(3, len(seen)))):
            value = text if not shape else f"{text}.sum()" if kind != "bool" else f"{text}.any()"
            self.emit(f"out[{i} % 1500, {k}] = {value}")

    def result(self):
        """(annotation, text of the value)."""
        r = self.r
        if self.structs and self.chance(0.2):
            kind = r.choice(list(self.structs))
            return kind, self.struct(kind)
        parts = []
        for _ in range(r.choice([1, 1, 1, 2])):
            kind, shape = r.choice(["int", "float"]), self.shape()
            parts.append((self.type_text(kind, shape, r.choice(["i32", "i64", "u8"] if kind == "int" else ["f32", "f64"])), self.expr(kind, shape)))
        if len(parts) == 1:
            return parts[0]
        return f"tuple[{', '.join(p[0] for p in parts)}]", ", ".join(p[1] for p in parts)

    def host_value(self, kind, shape):
        if shape == "struct":
            return f"dict({', '.join(f'{member}={self.host_value(k, s)}' for member, k, s, _ in self.structs[kind])})"
        if not shape:
            return str(self.r.randint(0, 9)) if kind == "int" else self.plain(kind)
        items = [self.host_value(kind, shape[1:]) for _ in range(shape[0])]
        return f"[{', '.join(items)}]"

    def make(self):
        r = self.r
        types = [self.new_type() for _ in range(r.choice([0, 0, 1, 1, 2]))]
        self.can_draw = self.chance(0.2)
        funcs = [self.func() for _ in range(r.choice([0, 0, 1, 1, 2]))]
        self.ndarrays, self.arrays, self.fields, self.late_funcs = [], [], [], []
        self.all_arrays = [self.new_ndarray() for _ in range(r.randint(1, 2))]
        self.all_arrays += [self.new_field() for _ in range(r.randint(1, 3))]
        self.looped = [a for a in self.all_arrays if a.lengths]
        arguments = [("c", "ti.f32", self.plain("float")), ("d", "ti.i32", self.plain("int"))]
        self.scope += [("c", "float", ()), ("d", "int", ())]
        for k in range(r.randint(0, 2)):
            (kind, shape), annotation = self.parameter()
            arguments.append((f"c{k}", annotation, self.host_value(kind, shape)))
            self.scope.append((f"c{k}", kind, shape))
        self.annotations = [(a.text, self.array_type(a)) for a in self.ndarrays] + [a[:2] for a in arguments]
        if self.form == "dataclass":
            self.rename({a[0]: f"g.{a[0]}" for a in self.annotations})
        if self.form == "class":
            self.rename({name: f"self.{name}" for name, _ in self.fields})
        for _ in range(r.choice([1, 1, 1, 2])):
            self.everything_free()
            for _ in range(r.choice([0, 0, 1, 2])):
                self.statement(1)
            self.spent = 0
            self.top_loop()
            if self.chance(0.1):
                self.top_func_call()
        self.everything_free()
        self.spent = max(self.spent, self.budget - 30)
        annotation, value = self.result()
        self.emit(f"return {value}")
        self.write(types, funcs, arguments, annotation)

    def array_type(self, array):
        return f"ti.types.ndarray(dtype={self.type_text(array.kind, array.shape, array.dtype)}, ndim={len(array.lengths)})"

    def rename(self, names):
        for array in self.all_arrays:
            array.text = names.get(array.text, array.text)
        self.scope = [(names.get(text, text), kind, shape) for text, kind, shape in self.scope]

    def write(self, types, funcs, arguments, annotation):
        out = ("out", "ti.types.ndarray(dtype=ti.f64, ndim=2)")
        self.arrays.append(("f64", (min(self.size, 1500), 4), "C"))
        given = [f"a[{k}]" for k in range(len(self.ndarrays))] + [value for _, _, value in arguments]
        last = f"a[{len(self.arrays) - 1}]"
        makers = [f"{name} = {text}\n" for name, text in self.fields]
        text = "import dataclasses\n\ntable = ti.field(ti.f32, 7)\n" + "\n".join(types + funcs + self.late_funcs) + "\n"
        params, extra = self.annotations + [out], ", ".join([*given, last])
        if self.form == "dataclass":
            text += "@dataclasses.dataclass\nclass D:\n" + "".join(f"    {name}: {t}\n" for name, t in self.annotations) + "\n"
            params, extra = [("g", "D"), out], f"D({', '.join(given)}), {last}"
        head = ", ".join(f"{name}: {t}" for name, t in params)
        if self.form == "class":
            text += "@ti.data_oriented\nclass K:\n    def __init__(self):\n" + "".join(f"        self.{line}" for line in makers)
            text += f"\n    @ti.kernel\n    def kernel(self, {head}) -> {annotation}:\n" + "".join(f"    {line}\n" for line in self.lines)
            text += "\nk = K()\nkernel = K.kernel\n"
            fields, extra = [f"k.{name}" for name, _ in self.fields], f"k, {extra}"
        else:
            text += "".join(makers) + f"\n@ti.kernel\ndef kernel({head}) -> {annotation}:\n" + "\n".join(self.lines) + "\n\n"
            fields = [name for name, _ in self.fields]
        text += f"fields = [{', '.join(['table', *fields])}]\n\ndef launch(call, a):\n    return call({extra})\n"
        self.source = text


if __name__ == "__main__":
    import sys

    program = Program(int(sys.argv[1]))
    print(program.source, program.arrays)
