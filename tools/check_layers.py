"""Hold the table of layers: which folder of src/ may include which (docs/map.md explains the folders).

    check_layers.py [SRC]     print each include that breaks the table; exit 1 if there is one

Other folders are reached by their public header, `#include "ir/ir.h"`, and tables, `#include "ir/ops.def"`:
`ir/ir_int.h` is for src/ir. abi is all headers, all of them public.
Headers without a path ("build_id.h") are generated. Nothing here looks at what a macro expands to.
"""
import pathlib
import re
import sys

# Folder: what it may include besides itself and libc. In the order data goes.
TABLE = {
    "base": "",
    "abi": "base",
    "layout": "base abi",
    "math": "base abi",
    "ir": "base layout abi math",
    "front/ast": "base layout ir",
    "front/eval": "base layout ir front/ast",
    "front/loop": "base abi layout ir front/ast front/eval",
    "front/block": "base layout ir front/ast front/eval",
    "passes": "base layout math ir",
    "codegen": "base abi layout math ir",
    "object": "base abi",
    "rt": "base abi layout math",
    "load": "base abi rt",
    "data": "base layout",
    "launch": "base abi layout object data rt load",
    "driver": "base abi layout ir passes codegen object rt load data launch",
    "py": "base abi layout ir front/ast front/eval front/loop front/block passes codegen object rt load data launch driver",
    "tools": "base abi layout ir passes codegen object rt load data launch driver",
}
# Who may include what stands outside src/, by the start of the include; anyone may include the rest of libc.
OUTSIDE = {
    "Python.h": "front/ast front/eval front/loop front/block py",
    "llvm-c/": "codegen",
    "llvm/": "",
    "pthread.h": "base rt",
    "threads.h": "base rt",
    "semaphore.h": "base rt",
    "linux/futex.h": "base rt",
    "numpy/": "",  # numpy's structs are read without its headers, so that building needs no numpy
}
# Public headers beside a folder's own, for fewer folders.
MORE = {"front/eval/build.h": "front/loop front/block"}  # while a function is built; eval.h is what py sees
GENERATED = {"build_id.h": "driver py tools", "builtin_docs.h": "front/eval"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.M)


def folder_of(path):
    """The folder of the table that a path relative to src/ stands in, or None."""
    best = None
    for folder in TABLE:
        if path.startswith(folder + "/"):
            best = folder
    return best


def check_quoted(folder, target):
    if "/" not in target:
        if target not in GENERATED:
            return f'write the folder: "{folder}/{target}"'
        return "" if folder in GENERATED[target].split() else f"{folder} may not include {target}"
    other = folder_of(target)
    if other is None:
        return f"{target} is in no folder of the table"
    if other == folder:
        return ""
    if other not in TABLE[folder].split():
        return f"{folder} may not include {other}"
    public = f"{other}/{other.split('/')[-1]}.h"
    if target in MORE:
        return "" if folder in MORE[target].split() else f"{target} may be included only in: {MORE[target]}"
    if other != "abi" and target != public and not target.endswith(".def"):
        return f"{target} is private to {other}: include {public}"
    return ""


def check_outside(folder, target):
    for start, allowed in OUTSIDE.items():
        if target.startswith(start) and folder not in allowed.split():
            return f"<{target}> may be included only in: {allowed or 'no folder'}"
    return ""


def check_file(path, name):
    """The complaints about one file as (line, text)."""
    folder = folder_of(name)
    if folder is None:
        return [(1, "stands in no folder of the table")]
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), path.read_text(), flags=re.S)
    found = []
    includes = list(INCLUDE.finditer(text))
    for index, match in enumerate(includes):
        line = text.count("\n", 0, match.start()) + 1
        kind, target = match.groups()
        if target == "Python.h" and index > 0:
            found.append((line, "Python.h comes before every other include"))
        if kind == "<" or target == "pestle.h" or any(target.startswith(start) for start in OUTSIDE):
            problem = check_outside(folder, target)
        else:
            problem = check_quoted(folder, target)
        if problem:
            found.append((line, problem))
    return found


def main(src):
    count = bad = 0
    for path in sorted(src.rglob("*")):
        if path.suffix not in (".c", ".h", ".def"):
            continue
        count += 1
        for line, text in check_file(path, path.relative_to(src).as_posix()):
            bad += 1
            print(f"{path}:{line}: {text}")
    print(f"layers: {count} files, " + (f"{bad} breaches of tools/check_layers.py" if bad else "in order"))
    return 1 if bad else 0


if __name__ == "__main__":
    default = pathlib.Path(__file__).resolve().parent.parent / "src"
    sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default))
