"""Makes a program that shows a difference shorter: statements are left out, blocks stand for their statements, expressions
become parts of themselves, as long as the same difference shows."""

import ast
import copy
import time


def shrink(source, mode, find, seconds=120):
    """`find(source)` gives what differs, (mode, ...), or None."""
    end = time.perf_counter() + seconds
    best = ast.parse(source)

    def found_in(tree):
        """The mode and how both ended: "result", or "raised" and what."""
        try:
            found = find(ast.unparse(tree))
        except Exception:
            return None
        return found and (found[0], found[1][0][:2], found[2][0][:2])

    def still(tree):
        return found_in(tree) == first and launches(tree) == launched

    def launches(tree):
        return any(isinstance(node, ast.Call) and ast.unparse(node.func) == "call" for node in ast.walk(tree))

    first, launched = found_in(best), launches(best)
    progress = first is not None and first[0] == mode
    while progress and time.perf_counter() < end:
        progress = False
        for make in (smaller_blocks, smaller_expressions):
            k = 0
            while time.perf_counter() < end:
                tree = make(copy.deepcopy(best), k)
                if tree is None:
                    break
                if still(ast.fix_missing_locations(tree)):
                    best, progress = tree, True
                else:
                    k += 1
    return ast.unparse(best)


def bodies(tree):
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            if isinstance(getattr(node, name, None), list) and not isinstance(node, ast.ClassDef):
                yield node, name


def smaller_blocks(tree, k):
    """The k-th way to leave out a statement, or the block around some; None when there are no more."""
    for node, name in bodies(tree):
        statements = getattr(node, name)
        for i, statement in enumerate(statements):
            if isinstance(statement, ast.Pass):
                continue
            inner = getattr(statement, "body", []) if isinstance(statement, (ast.If, ast.For, ast.While)) else []
            for new in ([], inner) if inner else ([],):
                if k == 0:
                    setattr(node, name, statements[:i] + new + statements[i + 1 :] or ([ast.Pass()] if name == "body" else []))
                    return tree
                k -= 1
    return None


def smaller_expressions(tree, k):
    """The k-th way to put a part of an expression for the whole."""
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            for at, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(child, ast.expr) or isinstance(node, (ast.FunctionDef, ast.AnnAssign, ast.arg, ast.ClassDef)):
                    continue
                parts = [part for part in ast.iter_child_nodes(child) if isinstance(part, ast.expr) and not is_name_of_module(part)]
                for part in parts:
                    if k == 0:
                        if at is None:
                            setattr(node, field, part)
                        else:
                            value[at] = part
                        return tree
                    k -= 1
    return None


def is_name_of_module(node):
    return isinstance(node, ast.Name) and node.id == "ti" or isinstance(node, ast.Attribute) and is_name_of_module(node.value)
