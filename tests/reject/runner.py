# SPDX-License-Identifier: Apache-2.0
"""Refused programs as text: read the files in cases/, run them, compare whole messages.

    python tests/reject/runner.py [--update] [FILE ...]

A file of cases is Python to look at:

    #-- a statement kernels do not have          starts a case; the title is its name
    try:                                         the program, as program.py of an empty folder
        pass
    finally:
        pass
    #! KernelSyntaxError                         the exception's class, then str() of it
    #! File "program.py", line 3, in f
    #!     try:
    #! ...
    #! from ValueError: ...                      its __cause__, where there is one

A program without a decorator is the body of the kernel HEADER below, launched with ARGUMENTS; so its first line is
line 3. Others, and those with [module] in their title, are whole; `ti`, `np` and `I1 I2 F1` (annotations of arrays) are
there. With [checked] the program runs with checked=True, on one thread, on two and by the evaluator. Each program's last
statement runs twice, since a failed launch must leave nothing behind. --update writes what came out into the files; read
the difference afterwards.
"""

import ast
import os
import pathlib
import sys
import tempfile
import traceback
import warnings

import numpy as np

import pestle as ti

FILES = sorted((pathlib.Path(__file__).resolve().parent / "cases").glob("*.py"))
TITLE, EXPECT = "#-- ", "#!"

HEADER = "@ti.kernel\ndef f(n: ti.i32, t: ti.f32, x: F1, m: I2):\n"
ARGUMENTS = "f(2, 0.5, np.zeros(4, np.float32), np.zeros((2, 3), np.int32))"


class Case:
    def __init__(self, path, line, title):
        self.path, self.line, self.title = path, line, title
        self.program, self.expect = [], []
        self.checked, self.module = "[checked]" in title, "[module]" in title

    def source(self):
        text = "\n".join(self.program).rstrip() + "\n"
        if self.module or any(line.startswith("@") for line in self.program):
            return text
        return HEADER + "".join(f"    {line}" if line.strip() else line for line in text.splitlines(True)) + ARGUMENTS + "\n"


def read(path):
    """Lines before the first case, and the cases."""
    preface, cases = [], []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith(TITLE):
            cases.append(Case(path, number, line[len(TITLE) :].strip()))
        elif not cases:
            preface.append(line)
        elif line.startswith(EXPECT):
            cases[-1].expect.append(line[len(EXPECT) + 1 :])
        else:
            cases[-1].program.append(line)
    return preface, cases


def show(error, folder):
    """Class, text and cause, without the folder's name; "(nothing)" when there was no exception."""
    if error is None:
        return ["(nothing)"]
    lines = [type(error).__name__] + str(error).splitlines()
    if error.__cause__ is not None:
        lines.append(f"from {type(error.__cause__).__name__}: {error.__cause__}")
    return [line.replace(f"{folder}/", "") for line in lines]


def check_place(error, folder):
    """The attributes must say what the text says."""
    places = [line for line in str(error).splitlines() if line.startswith('File "')]
    if not places:
        return
    file, line = places[-1].split('", line ')
    assert error.filename == file[len('File "') :] and error.lineno == int(line.split(",")[0]), (error.filename, error.lineno)
    lines = str(error).splitlines()
    at = len(lines) - 1 - lines[::-1].index(places[-1])
    if at + 2 < len(lines) and lines[at + 2].strip(" ^") == "" and "^" in lines[at + 2]:
        caret = lines[at + 2].index("^") - 4
        assert error.text.lstrip()[caret:] == error.text[error.offset - 1 :], (error.text, error.offset)


def attempt(run):
    try:
        run()
    except Exception as error:
        return error
    return None


def outcomes(case, folder):
    """What each way of running the program gives: a list of line lists, all equal when all is well."""
    text, path = case.source(), folder / "program.py"
    path.write_text(text)
    tree = ast.parse(text)
    *first, last = tree.body
    names = {"ti": ti, "np": np, "__name__": "program", "I1": ti.types.ndarray(dtype=ti.i32, ndim=1),
             "I2": ti.types.ndarray(dtype=ti.i32, ndim=2), "F1": ti.types.ndarray(dtype=ti.f32, ndim=1)}  # fmt: skip
    once, again = (compile(ast.Module(part, []), str(path), "exec") for part in (first, [last]))
    error = attempt(lambda: exec(once, names))
    runs = [lambda: exec(again, names)] * 2
    if case.checked:
        evaluated = ast.unparse(last).replace("(", "._evaluate(", 1)
        runs += [lambda: (ti.init(checked=True, threads=1), exec(again, names)), lambda: exec(evaluated, names)]
    found = []
    for run in runs if error is None else [lambda: None]:
        error = error or attempt(run)
        if error is not None:
            check_place(error, folder)
        found.append(show(error, folder))
        error = None
    return found


def run(case, folder):
    ti.reset()
    if case.checked:
        ti.init(checked=True, threads=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcomes(case, folder)
    for other in found[1:]:
        assert other == found[0], "\n".join(["differs from the first time:"] + other)
    return found[0]


def same(expected, found):
    """Python 3.11 wrote the expected texts; in others Python's own messages and the places in f-strings differ."""
    if sys.version_info[:2] == (3, 11):
        return expected == found

    def comparable(lines):
        for before, line in zip([""] + lines, lines):
            if " while compiling: " in line or line.startswith("from "):
                line = line.split(": ")[0]
            if not (line.strip(" ^") == "" and ('f"' in before or "f'" in before)):
                yield line

    return list(comparable(expected)) == list(comparable(found))


def update(path):
    preface, cases = read(path)
    out = list(preface)
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            try:
                case.expect = run(case, pathlib.Path(folder))
            except Exception:
                case.expect = ["BROKEN"] + traceback.format_exc().splitlines()[-12:]
        program = "\n".join(case.program).strip("\n").splitlines()
        out += [TITLE + case.title] + program + [f"{EXPECT} {line}".rstrip() for line in case.expect] + [""]
    path.write_text("\n".join(out).rstrip("\n") + "\n")


if __name__ == "__main__":
    os.environ.setdefault("PESTLE_CACHE_DIR", tempfile.mkdtemp(prefix="pestle-reject-"))
    chosen = [pathlib.Path(name).resolve() for name in sys.argv[1:] if not name.startswith("--")] or FILES
    for path in chosen:
        if "--update" in sys.argv:
            update(path)
        else:
            print(*(f"{path.name}:{case.line}: {case.title}" for case in read(path)[1]), sep="\n")
