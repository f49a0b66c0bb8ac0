# SPDX-License-Identifier: Apache-2.0
"""Rewrites a kernel or func so that it runs as plain Python and gives what the compiled one gives.

Numbers with types do most of it (src/py/mode_*.c). What is left is what Python cannot know: that `x = 1` makes a variable
of type i32 which keeps its type, where that variable's block ends, that the index of a loop has a type, and that calls
follow the language's rules. Lines and columns stay, so that breakpoints, stepping and tracebacks show the user's text.
"""

import ast
import copy
import types
import warnings

HELPER = "__pestle__"  # the module pestle._pestle, in the closure of a rewritten function
NAME = "__function__"  # of the function while it is compiled: its own may be a global that it calls
SPEC = "__parameters__"  # the annotations of a func's parameters


class StaticInt(int):
    """A number from ti.static: a name that gets it stays known."""


class StaticFloat(float):
    """The same of a float."""


kept = {int: StaticInt, float: StaticFloat}


def at_start(node, of):
    """A node on one line, where another one starts: Python would take a longer one for the line that its end stands on."""
    node.lineno = node.end_lineno = of.lineno
    node.col_offset = node.end_col_offset = of.col_offset
    return node


def helper(name, *args, at, keywords=()):
    """A call of a function of pestle._pestle in the place of the node `at`."""
    module = at_start(ast.Name(HELPER, ast.Load()), at)
    function = at_start(ast.Attribute(module, name, ast.Load()), at)
    return ast.copy_location(ast.Call(function, list(args), list(keywords)), at)


def last_name(node):
    """Of `ti.static(...)`: static."""
    function = node.func if isinstance(node, ast.Call) else node
    return getattr(function, "attr", getattr(function, "id", None))


PLACES = (ast.Name, ast.Attribute, ast.Subscript)
ATOMIC = (ast.Add, ast.Sub, ast.BitAnd, ast.BitOr, ast.BitXor)  # op= of these adds after the right side


def may_change(node):
    """Whether evaluating it may assign to variables."""
    return any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in ast.walk(node))


class Rewriter(ast.NodeTransformer):
    def __init__(self, parameters, is_kernel):
        self.scopes = [set(parameters)]  # names by block, innermost last
        self.top = is_kernel  # whether a for here is parallel
        self.parallel = None  # the number of scopes around the parallel loop
        self.serialize = False
        self.lefts = 0  # names that visit_BoolOp made
        self.inner = 0  # comprehensions and lambdas around
        self.dry = False  # in what only a type is wanted of

    # -- names --

    def known(self, name):
        return any(name in scope for scope in self.scopes)

    def bound(self, target, value):
        """The value for a target: a new variable's, an old one's, or whatever a place makes of it."""
        if not isinstance(target, ast.Name):
            return value
        if self.known(target.id):
            return helper("_mode_assign", at_start(ast.Name(target.id, ast.Load()), value), value, at=value)
        self.scopes[-1].add(target.id)
        return helper("_mode_local", value, at=value)

    def taken(self, node):
        """A value as it is now, before other targets get theirs."""
        place = isinstance(node, PLACES)
        value = self.visit(node)
        return helper("_mode_round", value, at=node) if place else value

    def targets(self, node):
        """What _mode_unpack is to do with each target."""
        if isinstance(node, (ast.Tuple, ast.List)):
            return ast.List([self.targets(item) for item in node.elts], ast.Load())
        if not isinstance(node, ast.Name):
            return ast.Constant(...)
        if self.known(node.id):
            return ast.Name(node.id, ast.Load())
        self.scopes[-1].add(node.id)
        return ast.Constant(None)

    def block(self, body, *names, top=False):
        outer = self.top
        self.top = outer and top
        self.scopes.append({name.id for target in names for name in ast.walk(target) if isinstance(name, ast.Name)})
        statements = []
        for statement in body:
            made = self.visit(statement)
            statements += made if isinstance(made, list) else [made]
        self.scopes.pop()
        self.top = outer
        return statements

    # -- statements --

    def visit_Assign(self, node):
        value, target = node.value, node.targets[0]
        sequences = (ast.Tuple, ast.List)
        if len(node.targets) > 1:  # a = b = value
            first = ast.copy_location(ast.Assign([ast.Name("__value__", ast.Store())], self.visit(value)), node)
            again = at_start(ast.Name("__value__", ast.Load()), node)
            rest = [ast.copy_location(ast.Assign([t], again), node) for t in node.targets]
            return [first] + [self.visit_Assign(statement) for statement in rest]
        pairs = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts)
        if pairs and any(isinstance(item, PLACES) for item in value.elts):  # a, b = b, a
            value.elts = [self.taken(item) for item in value.elts]
            node.value = helper("_mode_unpack", value, self.targets(target), at=value)
        elif pairs and not any(isinstance(item, (ast.Starred, *sequences)) for item in target.elts + value.elts):
            value.elts = [self.visit(item) for item in value.elts]
            value.elts = [self.bound(t, v) for t, v in zip(target.elts, value.elts)]
        elif isinstance(target, sequences):
            node.value = helper("_mode_unpack", self.visit(value), self.targets(target), at=value)
        else:
            node.value = self.bound(target, self.visit(value))
        node.targets = [self.visit(target)]
        return node

    def visit_AnnAssign(self, node):
        if node.value is None or not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        value = helper("_mode_annotated", self.visit(node.annotation), self.visit(node.value), at=node.value)
        self.scopes[-1].add(node.target.id)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_AugAssign(self, node):
        name, loads = node.target, not isinstance(node.op, ATOMIC)
        if isinstance(name, ast.Name) and self.known(name.id) and loads and may_change(node.value):
            value = ast.copy_location(ast.BinOp(at_start(ast.Name(name.id, ast.Load()), node), node.op, node.value), node)
            return self.visit_Assign(ast.copy_location(ast.Assign([name], value), node))
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and self.parallel is not None:
            inside = any(node.target.id in scope for scope in self.scopes[self.parallel :])
            if not inside:  # shared between iterations: atomic, so what is added has been rounded
                node.value = helper("_mode_round", node.value, at=node.value)
        return node

    def visit_Expr(self, node):
        if last_name(node.value) == "loop_config":
            self.serialize = any(k.arg == "serialize" and getattr(k.value, "value", True) for k in node.value.keywords)
        return self.generic_visit(node)

    def visit_For(self, node):
        parallel = self.top and not self.serialize
        self.serialize = False
        flags = [ast.Constant(parallel), ast.Constant(isinstance(node.target, (ast.Tuple, ast.List)))]
        if isinstance(node.iter, ast.Call):
            call = node.iter
            args = [self.visit(arg) for arg in call.args]
            keywords = [self.visit(keyword) for keyword in call.keywords]
            function = self.visit(call.func)
            node.iter = helper("_mode_loop_call", *flags, function, *args, keywords=keywords, at=call)
        else:
            node.iter = helper("_mode_loop", *flags, self.visit(node.iter), at=node.iter)
        outer = self.parallel
        if parallel:
            self.parallel = len(self.scopes)
        node.body = self.block(node.body, node.target)
        self.parallel = outer
        return node

    def visit_While(self, node):
        node.test = self.visit(node.test)
        node.body = self.block(node.body)
        return node

    def visit_If(self, node):
        top = last_name(node.test) == "static"
        node.test = self.visit(node.test)
        node.body = self.block(node.body, top=top)
        node.orelse = self.block(node.orelse, top=top)
        return node

    def visit_FunctionDef(self, node):
        return node  # refused in a kernel, as in compiled ones, by nobody calling it

    # -- expressions --

    def visit_Call(self, node):
        self.generic_visit(node)
        name = "_mode_dry_call" if self.dry else "_mode_call"
        return helper(name, node.func, *node.args, keywords=node.keywords, at=node)

    def left_first(self, node, rest):
        """What the left side is now, before a func of the right side changes it by reference."""
        copies = isinstance(node.left, PLACES) and any(map(may_change, rest))
        self.generic_visit(node)
        if copies:
            node.left = helper("_mode_round", node.left, at=node.left)
        return node

    def visit_BoolOp(self, node):
        """a and b: _mode_join(False, left := a, _mode_decides(False, left) or b), for vectors take both sides."""
        if self.inner:
            return self.generic_visit(node)
        either = ast.Constant(isinstance(node.op, ast.Or))
        made = self.visit(node.values[0])
        for value in node.values[1:]:
            self.lefts += 1
            name = f"__left{self.lefts}__"
            left = at_start(ast.NamedExpr(at_start(ast.Name(name, ast.Store()), node), made), node)
            decides = helper("_mode_decides", either, at_start(ast.Name(name, ast.Load()), node), at=node)
            right = at_start(ast.BoolOp(ast.Or(), [decides, self.visit(value)]), value)
            made = helper("_mode_join", either, left, right, at=node)
        return made

    def visit_ListComp(self, node):
        self.inner += 1
        node = self.generic_visit(node)
        self.inner -= 1
        return node

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_Lambda = visit_ListComp

    def visit_BinOp(self, node):
        return self.left_first(node, [node.right])

    def visit_Compare(self, node):
        return self.left_first(node, node.comparators)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return helper("_mode_not", node.operand, at=node) if isinstance(node.op, ast.Not) else node

    def visit_NamedExpr(self, node):
        node.value = self.bound(node.target, self.visit(node.value))
        return node

    def visit_IfExp(self, node):
        """Its arms become functions. An arm with calls has a second one, for its type alone: it does no harm."""
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            return self.generic_visit(node)

        def function(body):
            nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
            return ast.copy_location(ast.Lambda(nothing, body), body)

        def dry(arm):
            if self.dry or not any(isinstance(part, ast.Call) for part in ast.walk(arm)):
                return ast.Constant(None)
            self.dry = True
            made = function(self.visit(copy.deepcopy(arm)))
            self.dry = False
            return made

        arms = [node.body, node.orelse]
        drys = [dry(arm) for arm in arms]
        test, arms = self.visit(node.test), [function(self.visit(arm)) for arm in arms]
        return helper("_mode_choose", test, *arms, *drys, at=node)


def find(code, name):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found = constant if constant.co_name == name else find(constant, name)
            if found:
                return found
    return None


def class_name(function):
    """The class that the function's text stands in, for its private names."""
    parts = function.__qualname__.split(".")[:-1]
    while parts and parts[-1] == "<locals>":
        parts = parts[:-2]
    return parts[-1] if parts else None


def annotations_of(function):
    """With strings (from __future__ import annotations) evaluated."""
    cells = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            cells[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            pass
    found = function.__annotations__
    return {k: eval(v, function.__globals__, cells) if isinstance(v, str) else v for k, v in found.items()}


def parse(text, filename, first_line):
    indented = text[:1] in " \t"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        node = ast.parse("if 1:\n" + text if indented else text, filename).body[0]
    node = node.body[0] if indented else node
    return ast.increment_lineno(node, first_line - 1 - indented)


def rewrite(module, function, text, first_line, filename, is_kernel):
    """The function to run instead; `text` is its source from line `first_line` of the file on."""
    node = parse(text, filename, first_line)
    node.decorator_list, node.returns, node.name = [], None, NAME
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    for parameter in filter(None, every):
        parameter.annotation = None
    names = [parameter.arg for parameter in filter(None, every)]
    plain = [parameter.arg for parameter in every[: len(every) - 2]]
    node.body = Rewriter(names, is_kernel).block(node.body, top=True)
    annotations = {} if is_kernel else annotations_of(function)
    if plain and not is_kernel:
        target = ast.Tuple([ast.Name(name, ast.Store()) for name in plain], ast.Store())
        values = [ast.Name(name, ast.Load()) for name in (SPEC, *plain)]
        head = at_start(ast.Assign([target], helper("_mode_enter", *values, at=node)), node)
        at_start(head.value, node)
        node.body.insert(0, head)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells[HELPER], cells[SPEC] = types.CellType(module), types.CellType(tuple(annotations.get(name) for name in plain))
    around = ast.parse(f"def around({', '.join(cells)}): pass")
    around.body[0].body = [node]
    if class_name(function):
        class_body = ast.parse(f"class {class_name(function)}: pass")
        class_body.body[0].body = around.body
        around = class_body
    # Defaults are the function's own: they were evaluated where it was defined.
    node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
    node.args.kw_defaults = [default and ast.Constant(None) for default in node.args.kw_defaults]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = find(compile(ast.fix_missing_locations(around), filename, "exec", dont_inherit=True), NAME)
    code = code.replace(co_name=function.__code__.co_name)
    if hasattr(code, "co_qualname"):
        code = code.replace(co_qualname=function.__code__.co_qualname)
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__, made.__annotations__ = function.__kwdefaults__, annotations
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made
