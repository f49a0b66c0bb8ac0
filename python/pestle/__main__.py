# SPDX-License-Identifier: Apache-2.0
"""The command `pestle`, or `python -m pestle`: what a report needs, the cache of compiled kernels, what became of a program's
lines, other projects' programs."""

import argparse
import datetime
import errno
import gc
import os
import platform
import runpy
import sys
import time

import pestle as ti
from pestle import _pestle

VARIABLES = ("PESTLE", "XDG_CACHE_HOME", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")  # besides PESTLE_*


def size(count):
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.4g} {unit}"
        count /= 1024


def count(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


# -- doctor --


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return f"{names[0] if names else platform.machine()}, {count(len(os.sched_getaffinity(0)), 'CPU')} of {os.cpu_count()}"


def version_of(package):
    from importlib import metadata

    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"no {package}"


def cache_line():
    directory, warning, limit, entries = _pestle._cache()
    if directory is None:
        return warning or "none"
    line = f"{directory}: {count(len(entries), 'kernel')}, {size(sum(e[2] for e in entries))} of {size(limit)}"
    return f"{line}; {warning}" if warning else line


@ti.kernel
def trial_kernel(n: ti.i32) -> ti.i64:
    s: ti.i64 = 0
    for i in range(n):
        s += i
    return s


def trial():
    """Compiles a kernel without the cache, runs it and looks at what it gave. PESTLE=python keeps it from compiling."""
    start = time.perf_counter()
    try:
        ti.init(offline_cache=False)
        found = trial_kernel(100_000)
    except Exception as error:
        return False, f"FAILED: {type(error).__name__}: {error}"
    finally:
        ti.reset()
    if found != 4_999_950_000:
        return False, f"FAILED: a sum is {found} instead of 4999950000"
    how = "ran as plain Python, for PESTLE=python; nothing was compiled:" if os.environ.get("PESTLE") == "python" else "compiled and ran in"
    return True, f"{how} {1e3 * (time.perf_counter() - start):.1f} ms"


def doctor(options):
    facts = _pestle._doctor()
    library = facts["llvm_path"]
    llvm = f"{facts['llvm']} in {library}"
    llvm += f", {size(os.path.getsize(library))}" if os.path.exists(library) else ", MISSING"
    if facts["llvm_error"]:
        llvm += f"\n{'':10}FAILED: {facts['llvm_error']}"
    threads = count(facts["threads"], "thread")
    if facts["threads_refused"]:
        threads += f"; PESTLE_NUM_THREADS={facts['threads_refused']} is no number of threads"
    libc = " ".join(platform.libc_ver())
    features = facts["features"].replace("+", "").replace(",", " ") or "none"
    features = f"{features}; vectors of {facts['vector_bits']} bits" if facts["vector_bits"] else "not known, see the trial"
    variables = [f"{k}={v}" for k, v in sorted(os.environ.items()) if k.startswith("PESTLE_") or k in VARIABLES]
    works, told = trial()
    lines = [
        ("pestle", f"{ti.__version__}, build {facts['build'][:16]}, interface {facts['abi']}"),
        ("python", f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}"),
        ("system", f"{platform.system()} {platform.release()} {platform.machine()}, {libc}"),
        ("processor", processor()),
        ("features", features),
        ("threads", threads),
        ("LLVM", llvm),
        ("cache", cache_line()),
        ("packages", ", ".join(version_of(name) for name in ("numpy", "torch"))),
        ("settings", " ".join(variables) or "none"),
        ("trial", told),
    ]
    for name, text in lines:
        print(f"{name:10}{text}")
    return 0 if works else 1


# -- cache --


def cache(options):
    directory, warning, limit, entries = _pestle._cache()
    if directory is None:
        print(warning or "there is no cache", file=sys.stderr)
        return 1
    if options.action == "clear":
        total = sum(entry[2] for entry in entries)
        print(f"removed {count(_pestle._cache_clear(), 'kernel')}, {size(total)}, from {directory}")
        return 0
    if options.action == "list":
        for key, name, length, used in entries:
            when = datetime.datetime.fromtimestamp(used).isoformat(" ", "minutes")
            print(f"{key[:16]}  {when}  {size(length):>9}  {name or '(another version)'}")
        if not entries:
            print(f"no kernels in {directory}", file=sys.stderr)
        return 0
    print(cache_line())
    return 0


# -- run, explain --


def run_program(options):
    """Runs a program as `python program.py args` would. Its globals, or None: there is no such file."""
    path = options.program
    if not os.path.isfile(path):
        print(f"pestle: {os.strerror(errno.ENOENT)}: {path}", file=sys.stderr)
        return None
    sys.argv = [path, *options.args]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    return runpy.run_path(path, run_name="__main__")


def run(options):
    """Runs a program with NAME being Pestle."""
    from pestle import compat

    compat.install(options.name)
    return 1 if run_program(options) is None else 0


def explain(options):
    """Runs a program and says what became of the kernels that it launched and still has."""
    from pestle import _explain

    kept = run_program(options)
    if kept is None:
        return 1
    type_ = type(trial_kernel)
    kernels = [each for each in gc.get_objects() if type(each) is type_ and each is not trial_kernel and each._times]
    if options.kernel:
        kernels = [each for each in kernels if each.__name__ in options.kernel]
    if not kernels:
        print("pestle: no kernel was launched" + (" that is called so" if options.kernel else ""), file=sys.stderr)
        return 1
    explanations = []
    for kernel in kernels:
        try:
            explanations.append(kernel.explain(asm=options.asm))
        except ti.PestleError as error:  # of a dataclass that is gone, say
            print(f"pestle: {kernel.__name__}: {error}", file=sys.stderr)
    explanations.sort(key=lambda each: (each.lines[0].file, each.lines[0].number) if each.lines else ("", 0))
    if options.html:
        with open(options.html, "w", encoding="utf-8") as file:
            file.write(_explain.page(explanations))
    else:
        _explain.show(explanations)
    return 0


def main(words=None):
    parser = argparse.ArgumentParser(prog="pestle", description=__doc__)
    parser.add_argument("--version", action="version", version=f"pestle {ti.__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", required=True)
    each = commands.add_parser("doctor", help="say what a report should hold, and try a kernel; exit with 1 if it fails")
    each.set_defaults(run=doctor)
    each = commands.add_parser("cache", help="the cache of compiled kernels")
    each.add_argument("action", nargs="?", choices=("size", "list", "clear"), default="size",
                      help="where and how large it is (the default), its kernels, last used first, or remove them all")  # fmt: skip
    each.set_defaults(run=cache)
    each = commands.add_parser("run", help="run a program that was written for another project's name")
    each.add_argument("--as", dest="name", required=True, choices=("gstaichi", "quadrants", "taichi"), help="the name it imports")
    each.add_argument("program", help="a Python file")
    each.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")
    each.set_defaults(run=run)
    each = commands.add_parser("explain", help="run a program and say what became of each line of its kernels")
    each.add_argument("--asm", action="store_true", help="and the assembly of each line")
    each.add_argument("--html", metavar="FILE", help="write a page instead of text")
    each.add_argument("--kernel", metavar="NAME", action="append", help="only kernels of this name; may be given again")
    each.add_argument("program", help="a Python file")
    each.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")
    each.set_defaults(run=explain)
    options = parser.parse_args(words)
    if options.run in (run, explain):
        return options.run(options)  # what it raises is the program's own
    try:
        return options.run(options)
    except BrokenPipeError:  # pestle cache list | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(f"pestle: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
