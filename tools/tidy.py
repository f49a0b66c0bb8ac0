"""clang-tidy (checks: .clang-tidy) and gcc's -fanalyzer over the C files of src/, with asserts on; every warning is an
error. Tests are left to the sanitizers: there the analysers mostly find that a failed check does not end the test. Nothing
is suppressed in the sources: where an analyser cannot follow, write what it can.

    tidy.py BUILD_DIR [FILE ...]

What was clean is looked at again only when the file, a header that it includes, .clang-tidy or a tool has changed;
BUILD_DIR/tidy.json remembers. The build has to be up to date.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# gcc's own options mean nothing to clang.
OPTIONS = ["--quiet", "--warnings-as-errors=*", "--extra-arg=-UNDEBUG", "--extra-arg=-Wno-unknown-warning-option",
           "--extra-arg=-Wno-unused-command-line-argument"]
NOISE = re.compile(r"\d+ warnings? (generated|treated as errors?)|Suppressed|Use -header-filter|$")
# gcc's analyser takes the words of the build but these.
DROPPED, DROPPED_WITH_NEXT = {"-MD", "-c", "-DNDEBUG"}, {"-MQ", "-MF", "-o"}
# What the build does not compile: the fuzzers, which need clang.
OUTSIDE = ["-std=c17", "-D_GNU_SOURCE", "-Isrc"]


def find_tool(*names):
    for name in names:
        if path := shutil.which(name):
            return path
    sys.exit(f"tidy: no {names[-1]}; tools/setup.sh --lint installs it")


def version(tool):
    return subprocess.run([tool, "--version"], check=True, capture_output=True).stdout


def sources(build):
    paths = [line.split()[1] for line in (build / "sources.txt").read_text().splitlines()]
    return [path for path in paths if path.startswith("src/")]


def dependencies(build):
    """{source: all files it was compiled from}, as the compiler told Ninja."""
    ninja = pathlib.Path(sys.executable).parent / "ninja"
    text = subprocess.run([ninja, "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    found = {}
    for block in text.split("\n\n"):
        files = [(build / line.strip()).resolve() for line in block.splitlines()[1:]]
        if files and files[0].is_relative_to(ROOT):
            found[str(files[0].relative_to(ROOT))] = files
    return found


def digest(setting, files):
    sha = hashlib.sha256(setting)
    for path in sorted(files):
        if path.is_relative_to(ROOT):
            sha.update(f"{path}\n".encode() + path.read_bytes())
        else:
            sha.update(f"{path} {path.stat().st_mtime_ns}\n".encode())
    return sha.hexdigest()


def commands(build):
    """{source: (folder, options)} of the build's compiler."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = iter(shlex.split(entry["command"]))
        options = []
        for word in words:
            if word in DROPPED_WITH_NEXT:
                next(words)
            elif word not in DROPPED:
                options.append(word)
        first = next(i for i, word in enumerate(options) if word.startswith("-"))  # after the compiler
        found[os.path.relpath(build / entry["file"], ROOT)] = (build, options[first:])
    return found


def run_quietly(words, cwd, path):
    """What a tool says about a file; empty when it is clean."""
    run = subprocess.run(words, cwd=cwd, capture_output=True, text=True)
    lines = [line for line in (run.stdout + run.stderr).splitlines() if not NOISE.match(line)]
    return "\n".join(lines) or ("" if run.returncode == 0 else f"{path}: {words[0]} ended with {run.returncode}")


def main(build, *chosen):
    build = pathlib.Path(build).resolve()
    clang, gcc = find_tool("clang-tidy-14", "clang-tidy"), find_tool("gcc-12", "gcc")
    memory, files = build / "tidy.json", dependencies(build)
    clean = json.loads(memory.read_text()) if memory.exists() else {}
    setting = version(clang) + version(gcc) + (ROOT / ".clang-tidy").read_bytes() + pathlib.Path(__file__).read_bytes()
    compiled = commands(build)
    headers = [path for path in (ROOT / "src").rglob("*") if path.suffix in (".h", ".def")]
    # For what this build does not compile, the fuzzers, clang-tidy guesses the command.
    now = {path: digest(setting, files.get(path, [ROOT / path, *headers])) for path in chosen or sources(build)}
    # The largest first, so that the processors finish together.
    todo = sorted((path for path in now if clean.get(path) != now[path]), key=lambda path: (ROOT / path).stat().st_size, reverse=True)

    def check(path):
        folder, options = compiled.get(path, (ROOT, [*OUTSIDE, path]))
        analyse = [gcc, *options, "-UNDEBUG", "-fanalyzer", "-Werror", "-fdiagnostics-color=never", "-c", "-o", "/dev/null"]
        said = (run_quietly([clang, "-p", build, *OPTIONS, path], ROOT, path), run_quietly(analyse, folder, path))
        return "\n".join(filter(None, said))

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for path, said in zip(todo, pool.map(check, todo)):
            if said:
                print(said, file=sys.stderr, flush=True)
                failed += 1
            else:
                clean[path] = now[path]
    memory.write_text(json.dumps(clean))
    if failed:
        sys.exit(f"tidy: findings in {failed} of {len(todo)} files")


if __name__ == "__main__":
    main(*sys.argv[1:])
