"""Run the text tests of the passes: IR in, IR or an exact error out. Plain Python, no packages.

    run_pass_tests.py [--bin DIR] [--update] [FILE or FOLDER ...]      default: build, tests/passes

A file holds one or more cases:

    # run: ps-opt -passes=fold             the command; ps-opt or ps-run of DIR. Several lines: each must
    func ...                               give the same. The text that follows is its standard input.
    # expect                               or: # expect error: message
    func ...                               standard output, but for blanks at line ends and blank lines around

An error case passes when the command exits with 1 and writes the message somewhere on standard error; a
crash never passes. A case ends at the next `# run:` after an `# expect`. Lines before the first `# run:`
say what the file is about. --update writes what came out into the files; read the difference afterwards.
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUN, EXPECT, ERROR = "# run:", "# expect", "# expect error:"
TIMEOUT_S = 20


class Case:
    def __init__(self, line):
        self.line = line  # of its first `# run:`, from 1
        self.commands = []
        self.input = []
        self.error = None  # the message, when an error is expected
        self.expect = None  # lines, when output is expected
        self.end = None  # one past its last line, from 0

    def complete(self):
        return self.error is not None or self.expect is not None


def parse(path):
    """The cases of a file; ValueError with a line number when it has none or one has no end."""
    cases, case = [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith(RUN):
            if case is None or case.complete():
                case = Case(number)
                cases.append(case)
            case.commands.append(line[len(RUN):].strip())
        elif case is None:
            continue
        elif line.startswith(ERROR):
            case.error = line[len(ERROR):].strip()
        elif line.rstrip() == EXPECT:
            case.expect = []
        elif case.expect is not None:
            case.expect.append(line)
        elif case.error is None:
            case.input.append(line)
        case.end = number
    if not cases:
        raise ValueError(f"{path}:1: no `{RUN}` line")
    for case in cases:
        if not case.complete():
            raise ValueError(f"{path}:{case.line}: no `{EXPECT}` or `{ERROR}` line")
    return cases


def tidy(lines):
    lines = [line.rstrip() for line in lines]
    while lines and not lines[0]:
        lines = lines[1:]
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def execute(case, command, bin_dir):
    words = shlex.split(command)
    if words[0] not in ("ps-opt", "ps-run"):
        raise ValueError(f"only ps-opt and ps-run can be run, not {words[0]}")
    words[0] = str(bin_dir / words[0])
    return subprocess.run(words, input="\n".join(case.input) + "\n", capture_output=True, text=True, errors="replace",
                          timeout=TIMEOUT_S)


def judge(case, result):
    """What is wrong with a result: an empty text when nothing is."""
    if result.returncode < 0 or result.returncode > 1:
        return f"ended with {result.returncode}:\n{result.stderr[-3000:]}"
    if case.error is not None:
        if result.returncode != 1:
            return f"gave no error; expected: {case.error}\n{result.stdout}"
        if case.error not in result.stderr:
            return f"wrong error:\n  {result.stderr.strip()}\nexpected:\n  {case.error}"
        return ""
    if result.returncode:
        return f"failed:\n{result.stderr.strip()}"
    got, want = tidy(result.stdout.splitlines()), tidy(case.expect)
    if got == want:
        return ""
    return "output differs:\n" + "\n".join(difflib.unified_diff(want, got, "expected", "got", lineterm=""))


def run_case(path, case, bin_dir):
    """(failures as text, the last result)"""
    failures, result = [], None
    for command in case.commands:
        try:
            result = execute(case, command, bin_dir)
            problem = judge(case, result)
        except (ValueError, OSError, subprocess.TimeoutExpired) as error:
            problem = str(error)
        if problem:
            failures.append(f"{path}:{case.line}: {command}: {problem}")
    return failures, result


def update(path, done):
    """Write results into the file, from the last case to the first so that line numbers hold."""
    lines = path.read_text().splitlines()
    for case, result in reversed(done):
        if result is None or result.returncode not in (0, 1):
            continue
        start = case.line - 1 + len(case.commands) + len(case.input)
        if result.returncode:
            message = (result.stderr.strip().splitlines() or [""])[-1]
            block = [f"{ERROR} {message}"] if case.error is None or case.error not in result.stderr else lines[start:case.end]
        else:
            block = [EXPECT] + tidy(result.stdout.splitlines())
        last = case is done[-1][0]
        lines[start:case.end] = block + ([] if last else [""])
    path.write_text("\n".join(lines) + "\n")


def collect(paths):
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.ps"))
        elif path.exists():
            yield path
        else:
            sys.exit(f"no such file or folder: {path}")


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--bin", type=pathlib.Path, default=ROOT / "build", help="where ps-opt and ps-run stand")
    ap.add_argument("--update", action="store_true", help="write the results into the files")
    ap.add_argument("paths", nargs="*", type=pathlib.Path, default=[ROOT / "tests/passes"])
    args = ap.parse_args()

    failures, work = [], []
    for path in collect(args.paths):
        try:
            work += [(path, case) for case in parse(path)]
        except ValueError as error:
            failures.append(str(error))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        done = list(pool.map(lambda item: run_case(*item, args.bin.resolve()), work))
    for found, _ in done:
        failures += found
    if args.update:
        for path in dict.fromkeys(path for path, _ in work):
            update(path, [(case, result) for (p, case), (_, result) in zip(work, done) if p == path])
    print("\n\n".join(failures), end="\n\n" if failures else "")
    print(f"pass tests: {len(work)} cases, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
