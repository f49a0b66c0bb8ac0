"""The stubs name what is there, and say what it is."""

import ast
import pathlib

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
    there = set(filter(is_public, vars(module)))
    assert told - there == set()
    assert there - told - {"ndarray_annotation"} == set()


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
