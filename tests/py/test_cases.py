"""Known wrong answers of other systems: right here, cold and from the cache, checked or not, on 1 and 2 threads, with and
without a print in every loop."""

import ast
import pathlib
import subprocess
import sys

import process
import pytest

PROGRAMS = pathlib.Path(__file__).with_name("case_programs.py")
LONG = "TURNS = 1_000_000"


def with_prints(text):
    """The same programs with a print in each loop of each kernel and func; long loops turn less often."""

    class Printing(ast.NodeTransformer):
        def visit_loop(self, node):
            self.generic_visit(node)
            node.body.insert(0, ast.parse('print("turn", 1)').body[0])
            return node

        visit_For = visit_While = visit_loop

    tree = ast.parse(text.replace(LONG, "TURNS = 1_000"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(ast.unparse(d) in ("ti.kernel", "ti.func") for d in node.decorator_list):
            Printing().visit(node)
    return ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.parametrize("printing", [False, True], ids=["quiet", "printing"])
@pytest.mark.parametrize("mode, threads", [("plain", "1"), ("plain", "2"), ("checked", "1"), ("checked", "2"), ("python", "1")])
def test_cases(tmp_path, mode, threads, printing):
    text = PROGRAMS.read_text()
    assert LONG in text
    program = tmp_path / "programs.py"
    shorter = text.replace(LONG, "TURNS = 1_000") if mode == "python" else text
    program.write_text(with_prints(text) if printing else shorter)
    env = process.environment({"PESTLE_CACHE_DIR": str(tmp_path / "cache")})
    for temperature in ("cold", "warm"):
        run = subprocess.run([sys.executable, program, mode, threads], env=env, capture_output=True, text=True, timeout=120)
        lines = run.stdout.splitlines()
        wrong = [line for line in lines if line.startswith("WRONG")]
        assert run.returncode == 0, f"{temperature}: {wrong}\n{run.stderr}"
        assert sum(line.startswith("ok   ") for line in lines) == text.count("\n@case\n") + (mode != "python") * text.count("\n@compiled\n")
        assert ("turn 1" in lines) == printing
