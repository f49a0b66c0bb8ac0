"""Random loop kernels as Python source. A seed gives one program, always the same.

Programs are made so that their result is defined: indices are brought into range, loops end, a parallel iteration
stores into its own element only, and what iterations share is combined by atomics whose order does not matter (integers)
or by reductions, whose order is fixed.
"""

import random

INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f16", "f32", "f64"]
UNARY_FLOAT = ["sqrt", "exp", "sin", "cos", "tanh", "floor", "ceil", "round", "rint", "abs", "log", "atan", "cbrt", "rsqrt",
               "expm1", "log1p", "exp2", "log2", "log10", "tan", "asin", "acos", "sinh", "cosh", "erf"]
INT = "int"
SIZES = [0, 1, 2, 7, 64, 100, 1000, 5000]


def limits(dtype):
    bits = int(dtype[1:])
    return (0, 2**bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


class Program:
    """One kernel: `source` defines `kernel`; `arrays` is a list of (dtype, shape), `scalars` a list of (dtype, value)."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines = []
        self.funcs = []
        self.fresh = 0
        self.depth = 0
        self.make()

    # -- small choices --

    def name(self, prefix):
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def pick(self, *weighted):
        return self.r.choices([w[0] for w in weighted], [w[1] for w in weighted])[0]

    def emit(self, text):
        self.lines.append("    " * (1 + self.indent) + text)

    # -- expressions: text of kind "int", "float" or "bool"; dtypes vary underneath --

    def int_literal(self):
        return str(self.pick((self.r.randint(-3, 9), 6), (self.r.randint(-1000, 1000), 2), (2147483647, 1), (-2147483648, 1)))

    def float_literal(self):
        return self.pick((f"{self.r.uniform(-4, 4):.3f}", 6), ("0.0", 1), ("1e-3", 1), ("-1e6", 1), ("3e38", 1))

    def dtype(self, kind, anywhere=True):
        """Mostly the four everyone uses. numpy's arrays and arguments have no bf16."""
        common, every = (["i32", "i64"], INTS) if kind == "int" else (["f32", "f64"], FLOATS + ["bf16"] * anywhere)
        return self.r.choice(common if self.r.random() < 0.6 else every)

    def typed_literal(self, dtype):
        if dtype not in INTS:
            return f"ti.{dtype}({self.r.uniform(-4, 4):.3f})" if "16" in dtype else f"ti.{dtype}({self.float_literal()})"
        low, high = limits(dtype)
        wanted = self.pick((self.r.randint(-3, 9), 6), (self.r.randint(-1000, 1000), 2), (low, 1), (high, 1))
        return f"ti.{dtype}({min(max(wanted, low), high)})"

    def leaf(self, kind):
        r = self.r
        names = [n for n, k in self.scope if k == kind]
        choices = [("literal", 2), ("name", 5 if names else 0)]
        arrays = [a for a in self.readable if (self.arrays[a][0] in INTS) == (kind == "int")] if kind != "bool" else []
        if arrays and self.depth < 4:
            choices.append(("array", 3))
        what = self.pick(*choices)
        if what == "name":
            return r.choice(names)
        if what == "array":
            return self.element(r.choice(arrays))
        if kind == "bool":
            return r.choice(["True", "False"])
        if self.r.random() < 0.1:  # a Python number: meets others while compiling, as Python would compute it
            return self.int_literal() if kind == "int" else self.float_literal()
        return self.typed_literal(self.dtype(kind))

    def element(self, array, own=None):
        """An element of an array at an index that is always in range (arrays that may be empty are read in loops over
        themselves only)."""
        _, shape = self.arrays[array]
        if own:
            return f"a{array}[{', '.join(own)}]"
        self.depth += 1
        index = ", ".join(f"({self.expr('int')}) % a{array}.shape[{k}]" for k in range(len(shape)))
        self.depth -= 1
        return f"a{array}[{index}]"

    def expr(self, kind):
        self.depth += 1
        text = self.leaf(kind) if self.depth > 4 or self.r.random() < 0.2 else getattr(self, kind + "_expr")()
        self.depth -= 1
        return text

    def int_expr(self):
        e, r = self.expr, self.r
        form = self.pick(("binary", 10), ("shift", 1), ("unary", 2), ("minmax", 2), ("choose", 2), ("cast", 2), ("power", 1),
                         ("call", 2 if self.funcs else 0))
        if form == "binary":
            return f"({e('int')} {r.choice(['+', '-', '*', '//', '%', '&', '|', '^'])} {e('int')})"
        if form == "shift":
            return f"({e('int')} {r.choice(['<<', '>>'])} {self.pick((str(r.randint(0, 31)), 3), (e('int'), 1))})"
        if form == "unary":
            return f"{r.choice(['-', '~', 'abs'])}({e('int')})"
        if form == "minmax":
            return f"{r.choice(['min', 'max'])}({e('int')}, {e('int')})"
        if form == "choose":
            return f"({e('int')} if {e('bool')} else {e('int')})"
        if form == "power":
            return f"({e('int')} ** {r.randint(0, 4)})"
        if form == "call":
            return f"{r.choice(self.funcs)}({e('int')}, {e('float')})"
        return self.pick((f"ti.cast({e('float')}, ti.{self.dtype('int')})", 1), (f"ti.cast({e('int')}, ti.{self.dtype('int')})", 1),
                         (f"int({e('bool')})", 1))

    def float_expr(self):
        e, r = self.expr, self.r
        form = self.pick(("binary", 10), ("unary", 4), ("minmax", 2), ("choose", 2), ("cast", 2), ("power", 1), ("two", 1))
        if form == "binary":
            return f"({e('float')} {r.choice(['+', '-', '*', '/', '+', '*', '//', '%'])} {e('float')})"
        if form == "unary":
            return self.pick((f"ti.{r.choice(UNARY_FLOAT)}({e('float')})", 3), (f"-({e('float')})", 1))
        if form == "minmax":
            return f"{r.choice(['min', 'max'])}({e('float')}, {e('float')})"
        if form == "choose":
            return self.pick((f"({e('float')} if {e('bool')} else {e('float')})", 1),
                             (f"ti.select({e('bool')}, {e('float')}, {e('float')})", 1))
        if form == "power":
            return self.pick((f"({e('float')} ** {r.randint(-2, 4)})", 2), (f"({e('float')} ** {e('float')})", 1),
                             (f"({e('float')} ** ({e('int')} % 7))", 1))
        if form == "two":
            if r.random() < 0.3:  # the sign of a NaN is nobody's: it comes from an integer
                return f"ti.copysign({e('float')}, {e('int')})"
            return f"ti.{r.choice(['atan2', 'hypot'])}({e('float')}, {e('float')})"
        return self.pick((f"ti.cast({e('int')}, ti.{self.dtype('float')})", 1), (f"ti.cast({e('float')}, ti.{self.dtype('float')})", 1),
                         (f"({e('int')} / {e('int')})", 1), (f"({e('int')} + {e('float')})", 1),
                         (f"round(ti.cast({e('float')}, ti.{self.dtype('float')}))", 1))

    def bool_expr(self):
        e, r = self.expr, self.r
        form = self.pick(("compare", 6), ("and", 2), ("not", 1), ("chain", 1))
        kind = r.choice(["int", "float"])
        if form == "compare":
            return f"({e(kind)} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {e(kind)})"
        if form == "and":
            return f"({e('bool')} {r.choice(['and', 'or'])} {e('bool')})"
        if form == "not":
            return f"(not {e('bool')})"
        return f"({e(kind)} < {e(kind)} <= {e(kind)})"

    # -- statements --

    def block(self, budget, in_loop):
        """A few statements; names born here end with the block."""
        mark = len(self.scope)
        for _ in range(self.r.randint(1, 3)):
            self.statement(budget, in_loop)
        del self.scope[mark:]

    def nested(self, budget, in_loop):
        self.indent += 1
        self.block(budget - 1, in_loop)
        self.indent -= 1

    def statement(self, budget, in_loop):
        r = self.r
        form = self.pick(("assign", 6), ("update", 4 if self.mutable() else 0), ("if", 3 if budget else 0),
                         ("for", 2 if budget else 0), ("while", 1 if budget else 0), ("leave", 1 if in_loop else 0),
                         ("atomic", 1 if self.shared else 0), ("reduce", 1 if self.sums else 0))
        if form == "assign":
            kind = r.choice(["int", "float"])
            text = self.expr(kind)
            name = self.name("v")
            if r.random() < 0.3:
                dtype = self.dtype(kind)
                self.emit(f"{name}: ti.{dtype} = {text}")
            else:
                self.emit(f"{name} = {text}")
            self.scope.append((name, kind))
            if self.locals_mutable:
                self.mutables.append(name)
        elif form == "update":
            name, kind = r.choice(self.mutable())
            if r.random() < 0.5:
                self.emit(f"{name} = {self.expr(kind)}")
            else:
                ops = ["+=", "-=", "*=", "//=", "%="] + (["&=", "|=", "^="] if kind == "int" else ["/="])
                self.emit(f"{name} {r.choice(ops)} {self.expr(kind)}")
        elif form == "if":
            self.emit(f"if {self.expr('bool')}:")
            self.nested(budget, in_loop)
            if r.random() < 0.5:
                self.emit("else:")
                self.nested(budget, in_loop)
        elif form == "for":
            name = self.name("j")
            if self.indent == 0:  # at the top it would be parallel, and what its iterations share a race
                self.emit("ti.loop_config(serialize=True)")
            self.emit(f"for {name} in range({self.pick((r.randint(0, 6), 3), (f'({self.expr(INT)}) % 5', 1))}):")
            self.scope.append((name, "int"))
            self.nested(budget, True)
            self.scope.pop()
        elif form == "while":
            name = self.name("w")
            self.emit(f"{name} = 0")
            self.emit(f"while {name} < {r.randint(1, 5)} and {self.expr('bool')}:")
            self.indent += 1
            self.emit(f"{name} += 1")
            self.block(budget - 1, True)
            self.indent -= 1
        elif form == "leave":
            self.emit(f"if {self.expr('bool')}:")
            self.indent += 1
            self.emit(r.choice(["continue", "break"]) if in_loop != "parallel" else "continue")
            self.indent -= 1
        elif form == "atomic":
            array = r.choice(self.shared)
            op = r.choice(["add", "min", "max", "and", "or", "xor", "sub"])
            self.emit(f"ti.atomic_{self.shared_op.setdefault(array, op)}({self.element(array)}, {self.expr('int')})")
        else:
            name, kind = r.choice(self.sums)
            self.emit(f"{name} += {self.expr(kind)}")

    def mutable(self):
        return [(n, k) for n, k in self.scope if n in self.mutables]

    def stores(self, out, index, depth):
        """An element of each array, sometimes by both sides of a branch."""
        if depth and self.r.random() < 0.3:
            for side in (f"if {self.expr('bool')}:", "else:"):
                self.emit(side)
                mark = len(self.scope)
                self.indent += 1
                if self.r.random() < 0.4:
                    self.statement(1, "parallel")
                self.stores(out, index, depth - 1)
                self.indent -= 1
                del self.scope[mark:]
            return
        for a in out:
            kind = "int" if self.arrays[a][0] in INTS else "float"
            self.emit(f"{self.element(a, index)} = {self.expr(kind)}")

    def parallel_loop(self):
        """One loop over an array or a range; stores into its own elements; a few shared atomics and reductions."""
        r = self.r
        over = r.randrange(len(self.arrays))
        shape = self.arrays[over][1]
        index = [self.name("i") for _ in shape]
        writable = [a for a, (_, s) in enumerate(self.arrays) if len(s) == len(shape) and s == shape]
        out = r.sample(writable, r.randint(1, min(2, len(writable))))
        empty = [a for a, (_, s) in enumerate(self.arrays) if 0 in s]
        self.shared = [a for a, (d, _) in enumerate(self.arrays) if d in INTS and a not in out and a not in empty and r.random() < 0.3]
        self.shared_op = {}
        self.readable = [a for a in range(len(self.arrays)) if a not in out and a not in self.shared and a not in empty]
        sums = [self.name("s") for _ in range(r.randint(0, 2))]
        self.sums = [(s, r.choice(["int", "float"])) for s in sums]
        for name, kind in self.sums:
            self.emit(f"{name}{r.choice([': ti.i64', '']) if kind == 'int' else r.choice([': ti.f64', ''])} = {0 if kind == 'int' else 0.0}")
        names = ", ".join(index)
        domain = self.pick((f"a{over}", 2), ("ti.ndrange(" + ", ".join(f"a{over}.shape[{k}]" for k in range(len(shape))) + ")", 2))
        if len(shape) == 1:
            domain = self.pick((domain, 1), (f"range(a{over}.shape[0])", 1))
        self.emit(f"for {names} in {domain}:")
        mark, mutables = len(self.scope), list(self.mutables)
        self.mutables = []  # what lies outside is shared between iterations
        self.scope += [(i, "int") for i in index]
        self.indent += 1
        for _ in range(r.randint(1, 4)):
            self.statement(2, "parallel")
        self.stores(out, index, 2)
        self.indent -= 1
        del self.scope[mark:]
        self.mutables = mutables
        self.scope += self.sums
        self.shared, self.sums, self.readable = [], [], []

    def func(self):
        """A @func of an int and a float that gives an int, with early returns."""
        name = self.name("f")
        saved = self.scope, self.readable, self.lines, self.indent, self.mutables
        self.scope, self.readable, self.lines, self.indent, self.mutables = [("p", "int"), ("q", "float")], [], [], 0, []
        for _ in range(self.r.randint(0, 2)):
            self.statement(1, False)
        if self.r.random() < 0.5:
            self.emit(f"if {self.expr('bool')}:")
            self.emit(f"    return {self.expr('int')}")
        self.emit(f"return {self.expr('int')}")
        text = f"@ti.func\ndef {name}(p: ti.{self.dtype('int')}, q: ti.{self.dtype('float')}) -> ti.{self.dtype('int')}:\n"
        text += "\n".join(self.lines) + "\n"
        self.scope, self.readable, self.lines, self.indent, self.mutables = saved
        self.funcs.append(name)
        return text

    def make(self):
        r = self.r
        self.scope, self.readable, self.shared, self.sums, self.mutables = [], [], [], [], []
        self.shared_op = {}
        self.locals_mutable = True
        self.indent = 0
        size = r.choice(SIZES)
        self.arrays = []
        for _ in range(r.randint(1, 4)):
            n = size if r.random() < 0.7 else r.choice(SIZES)
            shape = (n,) if r.random() < 0.7 else (r.choice([1, 3, 17]), max(1, n // 8))
            self.arrays.append((self.dtype(r.choice(['int', 'float']), False), shape))
        self.scalars = []
        for _ in range(r.randint(0, 3)):
            dtype = self.dtype(r.choice(["int", "float"]), False)
            low = 0 if dtype[0] == "u" else -50
            self.scalars.append((dtype, r.randint(low, 50) if dtype in INTS else r.uniform(-8, 8)))
        funcs = [self.func() for _ in range(r.randint(0, 2))]
        params = [f"a{k}: ti.types.ndarray(dtype=ti.{d}, ndim={len(s)})" for k, (d, s) in enumerate(self.arrays)]
        params += [f"c{k}: ti.{d}" for k, (d, _) in enumerate(self.scalars)]
        self.scope = [(f"c{k}", "int" if d in INTS else "float") for k, (d, _) in enumerate(self.scalars)]
        for _ in range(r.randint(1, 3)):
            if r.random() < 0.5:
                self.statement(2, False)
            self.parallel_loop()
        result = self.dtype(r.choice(["int", "float"]), False)
        self.emit(f"return {self.expr('int' if result in INTS else 'float')}")
        self.source = "\n".join(funcs) + f"\n@ti.kernel\ndef kernel({', '.join(params)}) -> ti.{result}:\n" + "\n".join(self.lines) + "\n"


if __name__ == "__main__":
    import sys

    program = Program(int(sys.argv[1]))
    print(program.source)
    print(program.arrays, program.scalars)
