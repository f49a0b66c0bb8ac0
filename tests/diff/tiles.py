"""Random programs on tiles, in the text form of the IR, run by ps-run every way there is:

    python tiles.py [--seconds S] [--count N] [--seed FIRST] [--keep DIR]

Tiles of one to three axes, 1 to 9 long, of every dtype; every op that takes tiles; places of tiles in arrays whose axes
lie in any order, in locals and as parameters of functions; running indices, also beside the tile. The evaluator on the
program as it was made is the oracle; against it: the evaluator after pass tiles, the machine code on one thread and on two, and
checked, which may stop at a fault that the evaluator stops at too. Prints the first difference with its program, and
exits with 1.
"""

import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
BITS = {t: int("".join(c for c in t if c.isdigit())) for t in INTS + FLOATS}
COMBINES = {"add": 0, "mul": 1, "min": 2, "max": 3, "and": 4, "or": 5, "xor": 6}
UNARY_FLOAT = ["neg", "abs", "sqrt", "floor", "ceil", "round", "trunc", "sin", "rsqrt"]
UNARY_INT = ["neg", "abs", "not", "popcnt", "clz", "ctz"]
BINARY_FLOAT = ["add", "sub", "mul", "div", "min", "max", "mod", "floordiv", "atan2"]
BINARY_INT = ["add", "sub", "mul", "min", "max", "and", "or", "xor", "floordiv", "mod", "truncdiv", "truncmod"]
COMPARES = ["eq", "ne", "lt", "le", "gt", "ge"]


def tile(dtype, shape):
    return f"tile<{dtype},{'x'.join(map(str, shape))}>" if shape else dtype


class Program:
    """One module: `text`, and `args` as ps-run takes them."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.params, self.args, self.funcs = [], [], []
        self.length = self.r.choice([1, 2, 5, 70])
        self.narrow = self.r.random() < 0.3  # one number per iteration: what LLVM makes vectors of
        self.large = 0.2 if self.narrow else 1
        self.body, self.scope = [], []  # lines; (value, dtype, shape)
        self.locals = []  # (place, dtype, shape) that may be written
        self.n, self.depth = 0, 1
        self.heavy = 0  # elements computed with, so that programs stay small
        self.make()

    # -- text --

    def line(self, text):
        self.body.append("  " * self.depth + text)

    def new(self, type, text):
        self.n += 1
        self.line(f"%{self.n}:{type} = {text}")
        return f"%{self.n}"

    def value(self, dtype, shape, text):
        count = 1
        for s in shape:
            count *= s
        self.heavy += count
        v = self.new(tile(dtype, shape), text)
        self.scope.append((v, dtype, shape))
        return v

    def const(self, dtype, value):
        return self.new(dtype, f"const {value}")

    # -- choices --

    def dtype(self):
        return self.r.choice(["i32", "f32", "f64"]) if self.r.random() < 0.5 else self.r.choice(INTS + FLOATS)

    def shape(self, axes=None):
        r = self.r
        axes = axes or r.choice([1, 1, 2, 2, 2, 3])
        top = r.choice([3, 4, 9]) if r.random() < self.large else 2
        return tuple(r.randint(1, top if axes < 3 else 4) for _ in range(axes))

    def scalar(self, dtype):
        found = [v for v, d, s in self.scope if d == dtype and not s]
        if found and self.r.random() < 0.6:
            return self.r.choice(found)
        if dtype == "u1":
            return self.const("u1", self.r.choice([0, 1]))
        if dtype in FLOATS:
            return self.const(dtype, f"{self.r.uniform(-4, 4):.2f}")
        return self.const(dtype, self.r.randint(0 if dtype[0] == "u" else -9, 9))

    def some(self, dtype=None, shape=None, axes=None):
        """A value with these properties, found or made: (value, dtype, shape)."""
        found = [
            x
            for x in self.scope
            if x[2] and (not dtype or x[1] == dtype) and (not shape or x[2] == shape) and (not axes or len(x[2]) == axes)
        ]
        if found and self.r.random() < 0.85:
            return self.r.choice(found[-12:])
        dtype, shape = dtype or self.dtype(), shape or self.shape(axes)
        count = 1
        for s in shape:
            count *= s
        if count <= 20 and self.r.random() < 0.7:
            elements = ", ".join(self.scalar(dtype) for _ in range(count))
            v = self.value(dtype, shape, f"tile {elements}")
        else:
            v = self.value(dtype, shape, f"splat {self.scalar(dtype)}")
        return v, dtype, shape

    def index(self, length, inside=True):
        """An index of a tile's axis: a constant, a running one, or one that may be anywhere."""
        kind = self.r.random()
        if kind < 0.4:
            return self.const("i32", self.r.randrange(length))
        i = self.scalar("i32") if kind < 0.7 else self.number
        if not inside and self.r.random() < 0.4:
            return i
        return self.new("i32", f"mod {i}, {self.const('i32', length)}")

    def indices(self, shape, inside=True):
        return ", ".join(self.index(s, inside) for s in shape)

    # -- ops --

    def op_unary(self):
        v, d, s = self.some(self.dtype())
        self.value(d, s, f"{self.r.choice(UNARY_FLOAT if d in FLOATS else UNARY_INT)} {v}")

    def op_binary(self):
        a, d, s = self.some(self.dtype())
        b, _, _ = self.some(d, s)
        self.value(d, s, f"{self.r.choice(BINARY_FLOAT if d in FLOATS else BINARY_INT)} {a}, {b}")

    def op_fma(self):
        a, d, s = self.some(self.r.choice(FLOATS))
        b, c = self.some(d, s)[0], self.some(d, s)[0]
        self.value(d, s, f"fma {a}, {b}, {c}")

    def op_shift(self):
        a, d, s = self.some(self.r.choice(INTS))
        b, _, _ = self.some(self.r.choice(INTS), s)
        self.value(d, s, f"{self.r.choice(['shl', 'shr', 'ushr'])} {a}, {b}")

    def op_ipow(self):
        a, d, s = self.some(self.dtype())
        b, _, _ = self.some(self.r.choice(["i32", "i64"]), s)
        self.value(d, s, f"ipow {a}, {b}")

    def op_compare(self):
        a, d, s = self.some(self.dtype())
        self.value("u1", s, f"{self.r.choice(COMPARES)} {a}, {self.some(d, s)[0]}")

    def op_select(self):
        a, d, s = self.some(self.dtype())
        b, _, _ = self.some(d, s)
        c = self.some("u1", s)[0] if self.r.random() < 0.7 else self.scalar("u1")
        self.value(d, s, f"select {c}, {a}, {b}")

    def op_cast(self):
        a, _, s = self.some()
        self.value(self.dtype(), s, f"cast {a}")

    def op_bitcast(self):
        a, d, s = self.some(self.r.choice(INTS))
        to = self.r.choice([t for t in INTS if BITS[t] == BITS[d]])  # floats: the bits of NaNs are nobody's
        self.value(to, s, f"bitcast {a}")

    def op_broadcast(self):
        s = self.shape()
        small = tuple(1 if self.r.random() < 0.6 else n for n in s)
        a, d, _ = self.some(None, small)
        self.value(d, s, f"broadcast {a}")

    def op_permute(self):
        a, d, s = self.some()
        axes = list(range(len(s)))
        self.r.shuffle(axes)
        imm = sum(axis << 4 * i for i, axis in enumerate(axes))
        self.value(d, tuple(s[axis] for axis in axes), f"permute[{imm}] {a}")

    def op_reshape(self):
        a, d, s = self.some()
        count = 1
        for n in s:
            count *= n
        shapes = [(count,), (count, 1), (1, count)] + [(n, count // n) for n in range(1, 10) if count % n == 0]
        self.value(d, self.r.choice(shapes), f"reshape {a}")

    def op_reduce(self):
        a, d, s = self.some()
        axis = self.r.randrange(len(s))
        combine = self.r.choice(["add", "mul", "min", "max"] if d in FLOATS else list(COMBINES))
        self.value(d, s[:axis] + s[axis + 1 :], f"reduce[{axis << 8 | COMBINES[combine]}] {a}")

    def op_dot(self):
        a, d, s = self.some(self.dtype(), axes=2)
        b, _, t = self.some(d, (s[1], self.r.randint(1, 9)) if self.r.random() < 0.5 else s[::-1])
        self.heavy += s[0] * t[1] * s[1]
        self.value(d, (s[0], t[1]), f"dot {a}, {b}")

    def op_extract(self):
        a, d, s = self.some()
        self.value(d, (), f"extract {a}, {self.indices(s, inside=False)}")

    def op_scalar(self):
        a = [x for x in self.scope if not x[2] and x[1] != "u1"]
        if a:
            v, d, _ = self.r.choice(a)
            self.value(d, (), f"{self.r.choice(BINARY_FLOAT if d in FLOATS else BINARY_INT)} {v}, {self.scalar(d)}")

    # -- memory --

    def local(self):
        if self.locals and self.r.random() < 0.7:
            return self.r.choice(self.locals)
        _, d, s = self.some()
        self.locals.append((self.new(f"ptr<{tile(d, s)}>", "var"), d, s))
        return self.locals[-1]

    def op_store(self):
        p, d, s = self.local()
        self.line(f"store {p}, {self.some(d, s)[0]}")

    def op_load(self):
        p, d, s = self.local()
        self.value(d, s, f"load {p}")

    def op_elem(self):
        p, d, s = self.local()
        e = self.new(f"ptr<{d}>", f"elem {p}, {self.indices(s)}")
        if self.r.random() < 0.5:
            self.line(f"store {e}, {self.scalar(d)}")
        elif self.r.random() < 0.5 and d != "u1":
            self.value(d, (), f"atomic_{self.atomic(d)} {e}, {self.scalar(d)}")
        else:
            self.value(d, (), f"load {e}")

    def atomic(self, d):
        return self.r.choice(["add", "min", "max", "mul"] + ([] if d in FLOATS else ["and", "or", "xor"]))

    def op_atomic(self):
        p, d, s = self.local()
        v = self.some(d, s)[0]
        kind = self.r.random()
        if kind < 0.7:
            self.value(d, s, f"atomic_{self.atomic(d)} {p}, {v}")
        elif kind < 0.85:
            self.value(d, s, f"atomic_xchg {p}, {v}")
        elif d not in FLOATS:
            self.value(d, s, f"atomic_cas {p}, {self.some(d, s)[0]}, {v}")

    def op_call(self):
        p, d, s = self.local()
        q = self.r.choice([x for x in self.locals if x[1:] == (d, s)])[0]
        name = f"f{len(self.funcs)}"
        self.funcs.append(self.func(name, d, s))
        self.value(d, (), f"call[@{name}] {p}, {q}, {self.scalar(d)}, {self.index(s[-1])}")

    def func(self, name, d, s):
        """Changes what its first place holds, from its second and a number, and gives an element."""
        t, r = tile(d, s), self.r
        op = r.choice(["add", "mul", "min", "max"])
        # at a running index, in functions that LLVM cannot make values of; through another function's place
        at = ", ".join(["%7"] * (len(s) - 1) + [r.choice(["%7", "%11"])])
        change = f"store %1, %6" if r.random() < 0.6 or d == "u1" else f"%9:{t} = atomic_{op} %1, %5"
        return "\n".join(
            [
                f"func @{name}(ptr<{t}>, ptr<{t}>, {d}, i32) -> {d} {{",
                f"  %1:ptr<{t}> = arg[0]",
                f"  %2:ptr<{t}> = arg[1]",
                f"  %3:{d} = arg[2]",
                f"  %4:{t} = load %2",
                f"  %5:{t} = splat %3",
                f"  %6:{t} = {op} %4, %5",
                f"  {change}",
                "  %7:i32 = const 0",
                f"  %11:i32 = arg[3]",
                f"  %8:ptr<{d}> = elem %1, {at}",
                f"  store %8, %3" if r.random() < 0.4 else f"  call[@{name}b] %8, %3",
                f"  %10:{d} = load %8",
                f"  return %10",
                "}",
                f"func @{name}b(ptr<{d}>, {d}) {{",
                f"  %1:ptr<{d}> = arg[0]",
                f"  %2:{d} = arg[1]",
                f"  %3:{d} = load %1",
                f"  %4:{d} = {op} %3, %2",
                f"  store %1, %4",
                "}",
            ]
        )

    # -- control --

    def block(self, count):
        """Statements whose values and locals are not seen behind them."""
        self.depth += 1
        scope, places = len(self.scope), len(self.locals)
        self.statements(count)
        del self.scope[scope:], self.locals[places:]
        self.depth -= 1

    def op_for(self):
        if self.depth > 3:
            return
        self.local()
        low, high = self.const("i32", 0), self.const("i32", self.r.randint(0, 4))
        self.n += 1
        index = f"%{self.n}"
        self.line(f"for {low}, {high} {{^ {index}:i32")
        outer, self.number = self.number, index
        self.block(self.r.randint(1, 4))
        self.number = outer
        self.line("}")

    def op_if(self):
        if self.depth > 3:
            return
        self.local()
        self.line(f"if {self.scalar('u1')} {{")
        self.block(self.r.randint(1, 4))
        if self.r.random() < 0.5:
            self.line("} else {")
            self.block(self.r.randint(1, 3))
        self.line("}")

    OPS = {
        "unary": 4, "binary": 8, "fma": 1, "shift": 1, "ipow": 1, "compare": 2, "select": 2, "cast": 2, "bitcast": 1,
        "broadcast": 2, "permute": 2, "reshape": 2, "reduce": 3, "dot": 3, "extract": 4, "scalar": 2, "store": 4,
        "load": 4, "elem": 4, "atomic": 2, "call": 2, "for": 2, "if": 1,
    }  # fmt: skip

    def statements(self, count):
        for _ in range(count):
            if self.heavy < 3000:
                getattr(self, "op_" + self.r.choices(list(self.OPS), list(self.OPS.values()))[0])()

    # -- the whole --

    def array(self, dtype, shape, fill):
        """An array parameter of one tile per iteration, or of one tile; its number."""
        axes = list(range(len(shape)))
        unit = self.r.random() < (0.8 if self.narrow else 0.4)
        if not unit:
            self.r.shuffle(axes)
        order = "" if unit or not axes else f"order({','.join(map(str, axes))})"
        self.params.append(f"array<{dtype},{len(shape)}{',unit' if unit else ''}>")
        self.args.append(order + (self.numbers(dtype, shape) if fill else f"zeros({','.join(map(str, shape))})"))
        return self.new(self.params[-1], f"arg[{len(self.params) - 1}]")

    def numbers(self, dtype, shape):
        if shape:
            return "[" + ",".join(self.numbers(dtype, shape[1:]) for _ in range(shape[0])) + "]"
        if dtype == "u1":
            return self.r.choice(["True", "False"])
        if dtype in FLOATS:
            return f"{self.r.uniform(-4, 4):.2f}"
        return str(self.r.randint(0 if dtype[0] == "u" else -9, 9))

    def make(self):
        r = self.r
        inputs = []
        for _ in range(r.randint(1, 3)):
            d, s = self.dtype(), (1,) * r.randint(1, 2) if self.narrow else self.shape()
            inputs.append((self.array(d, (self.length,) + s, True), d, s))
        outer = self.const("i32", 0)
        self.number = outer
        inside = []
        if r.random() < 0.5:  # main's locals, which iterations read
            self.statements(r.randint(1, 4))
        shared = self.local() if r.random() < 0.6 else None
        main_scope, main_locals = len(self.scope), self.locals
        head, self.body = self.body, []
        length = self.n = self.n + 1
        self.n += 1
        self.number = f"%{self.n}"
        self.depth = 2
        # what is main's can be read; writing it would be a race
        self.locals = []
        for p, d, s in main_locals:
            self.value(d, s, f"load {p}")
            self.value(d, (), f"load {self.new(f'ptr<{d}>', f'elem {p}, {self.indices(s)}')}")
        for a, d, s in inputs:
            p = self.new(f"ptr<{tile(d, s)}>", f"place {a}, {self.number}")
            self.value(d, s, f"load {p}")
            if r.random() < 0.5:
                self.locals.append((p, d, s))
        self.statements(r.randint(2, 5) if self.narrow else r.randint(4, 14))
        if self.narrow:  # what is stored is one number an iteration
            for v, d, s in list(self.scope[-4:]):
                if s:
                    self.value(d, (), f"extract {v}, {self.indices(s)}")
            narrow = [x for x in self.scope if not x[2]]
            self.scope = narrow or [self.some()]
        stored, outputs = self.scope[-r.randint(1, 6) :], []
        tail, self.body = self.body, head
        self.depth = 1
        for v, d, s in stored:
            outputs.append((self.array(d, (self.length,) + s, False), v, d, s))
        total = shared if shared and shared[1] in INTS else None
        shape = total[2] if total else self.shape()
        d = total[1] if total else r.choice(INTS)
        sums = self.array(d, shape, False)
        low, high = self.const("i32", 0), self.const("i32", self.length)
        self.line(f"parfor[0] {low}, {high} {{^ {self.number}:i32")
        self.body += tail
        self.depth = 2
        for a, v, dt, s in outputs:
            p = self.new(f"ptr<{tile(dt, s)}>", f"place {a}, {self.number}")
            self.line(f"store {p}, {v}")
        more = self.some(d, shape)[0] if not self.narrow or r.random() < 0.3 else None
        p = self.new(f"ptr<{tile(d, shape)}>", f"place {sums}")
        op = r.choice(["add", "min", "max", "xor"])
        if more:
            self.new(tile(d, shape), f"atomic_{op} {p}, {more}")
        self.depth = 1
        self.line("}")
        signature = ", ".join(self.params)
        self.text = f"func @main({signature}) {{\n" + "\n".join(self.body) + "\n}\n" + "\n".join(self.funcs) + "\n"


# what is run, and whether it may stop at a fault
WAYS = [
    ("evaluated", ["-eval", "-passes=contract"], False),
    ("evaluated after tiles", ["-eval", "-passes=contract,tiles"], False),
    ("evaluated after all passes, and compiled, 1 thread", ["-both", "-threads=1"], False),
    ("compiled, 2 threads", ["-compile", "-threads=2"], False),
    ("checked, evaluated and compiled, 2 threads", ["-both", "-checked", "-threads=2"], True),
]


def run(tool, options, path, args):
    # A NaN is a NaN, whatever its sign.
    done = subprocess.run([tool, *options, path, *args], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout.replace("-nan", "nan"), done.stderr


def check(seed, tool, folder):
    """None, "fault" when checked code stopped, or what differs."""
    program = Program(seed)
    path = os.path.join(folder, "program.ps")
    pathlib.Path(path).write_text(program.text)
    result = None
    oracle = None
    for name, options, may_fault in WAYS:
        code, out, err = run(tool, options, path, program.args)
        if code and may_fault and err.startswith("error: fault"):
            result = "fault"
        elif code:
            return f"seed {seed}: {name}: exit {code}\n{err}\n{program.text}\n{' '.join(program.args)}"
        elif oracle is None:
            oracle = out
        elif out != oracle:
            return f"seed {seed}: {name} differs\n{program.text}\n{' '.join(program.args)}\n{oracle}\n{out}"
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bin", default=str(ROOT / "build"))
    options = parser.parse_args()
    start, done, faults = time.perf_counter(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while done < options.count and time.perf_counter() - start < options.seconds:
            difference = check(options.seed + done, os.path.join(options.bin, "ps-run"), folder)
            if difference and difference != "fault":
                print(difference)
                return 1
            faults += difference == "fault"
            done += 1
    print(f"{done} programs, no difference ({faults} of them stopped at a fault when checked)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
