"""The stubs name what is there, and say what it is."""

import ast
import inspect
import pathlib
import pydoc

import pytest

import pestle as ti

MODULES = {"pestle": ti, "pestle.types": ti.types}
FUNCTIONS = (ast.FunctionDef, ast.ClassDef)


def stub(module):
    return ast.parse(pathlib.Path(module.__file__).with_suffix(".pyi").read_text())


def names_of(node):
    if isinstance(node, FUNCTIONS):
        return {node.name}
    if isinstance(node, ast.AnnAssign):
        return {node.target.id}
    if isinstance(node, ast.ImportFrom):
        return {alias.asname for alias in node.names if alias.asname}
    return set()


def is_public(name):
    return not name.startswith("_")


@pytest.mark.parametrize("name", MODULES)
def test_names(name):
    module = MODULES[name]
    told = {n for node in stub(module).body for n in names_of(node) if is_public(n)}
    loaded = {n for n, value in vars(module).items() if getattr(value, "__name__", None) == f"{name}.{n}"}  # by other tests
    there = set(filter(is_public, vars(module))) - loaded | told & loaded
    assert {n for n in told - there if not hasattr(module, n)} == set()  # some are loaded when asked for
    assert there - told - {"ndarray_annotation"} == set()


def signature(node):
    """What inspect gives, of the stub: without annotations."""
    node = ast.parse(ast.unparse(node)).body[0]
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    scope = {}
    exec(f"def function({ast.unparse(node.args)}): pass", scope)
    return inspect.signature(scope["function"])


def of_all(signatures):
    """Of a function with overloads: how each of its parameters may be passed, and by which name."""
    return {(p.name, p.kind) for s in signatures for p in s.parameters.values()}


def functions(body, owner):
    """(name, what is there, its stubs); one that nobody finds by the name is left to test_names."""
    found = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and not any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list):
            found.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.ClassDef) and hasattr(owner, node.name):
            yield from functions(node.body, getattr(owner, node.name))
    for name, nodes in found.items():
        if hasattr(owner, name):
            yield f"{owner.__name__}.{name}", getattr(owner, name), nodes


# Python makes these of a type's slots, with names of its own for parameters that can't be passed by name.
SLOTS = {"__init__", "__setattr__", "__getitem__", "__setitem__", "__len__", "__iter__", "__get__"}


@pytest.mark.parametrize("module", MODULES)
def test_signatures(module):
    checked = 0
    for name, there, nodes in functions(stub(MODULES[module]).body, MODULES[module]):
        told = [signature(node) for node in nodes]
        if name.split(".")[-1] in SLOTS or name == "pestle.static":
            continue
        checked += 1
        if len(nodes) > 1:
            assert of_all([inspect.signature(there)]) == of_all(told), name
        else:
            found = inspect.signature(there)
            found, told = (
                s.replace(parameters=[p for p in s.parameters.values() if p.name not in ("self", "cls")]) for s in (found, told[0])
            )
            found = found.replace(parameters=[p.replace(annotation=p.empty) for p in found.parameters.values()])  # of funcs
            assert str(found) == str(told), name
    assert checked > (70 if module == "pestle" else 1)


def test_bases():
    classes = [node for node in stub(ti).body if isinstance(node, ast.ClassDef) and node.bases and node.name != "Kernel"]
    assert len(classes) > 8
    for node in classes:
        there = [base.__name__ for base in getattr(ti, node.name).__bases__]
        assert there == [ast.unparse(base) for base in node.bases], node.name


def test_help():
    assert ti.hypot.__doc__.startswith("sqrt(x * x + y * y)") and str(inspect.signature(ti.hypot)) == "(x, y, /)"
    assert str(inspect.signature(ti.ndrange)) == "(*ranges, axes=Ellipsis)" and ti.ndrange.__qualname__ == "ndrange"
    assert not hasattr(ti.static, "__signature__")  # it has two
    assert "e to the power of x" in pydoc.render_doc(ti.exp)


def undocumented(body, prefix):
    told = {node.name for node in body if isinstance(node, FUNCTIONS) and ast.get_docstring(node)}
    for node in body:
        if isinstance(node, FUNCTIONS) and is_public(node.name):
            if node.name not in told:
                yield prefix + node.name
            if isinstance(node, ast.ClassDef):
                yield from undocumented(node.body, f"{prefix}{node.name}.")


@pytest.mark.parametrize("name", MODULES)
def test_each_public_name_has_a_docstring(name):
    assert list(undocumented(stub(MODULES[name]).body, "")) == []


def test_builtin_docstrings():
    for name in ("init", "reset", "sync", "kernel", "func", "pyfunc", "ndarray", "Ndarray", "Kernel"):
        assert getattr(ti, name).__doc__, name
    for name in filter(is_public, dir(ti.Ndarray)):
        assert getattr(ti.Ndarray, name).__doc__, name
