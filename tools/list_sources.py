"""List the C files of the build, one `TARGET PATH` a line, so that a new file needs no entry anywhere.

    list_sources.py [--save FILE]     print the list; with --save also write it, for --compare
    list_sources.py --compare FILE    exit 1 and say what changed when the list differs from FILE

TARGET is the folder of src/ ("ir", "front/ast"), or "unit" for tests/unit/test_*.c. meson.build calls
this while configuring. Meson cannot watch folders, so tools/build.sh compares first and configures
again, and tools/gen_build_id.py, which runs in every build, stops with the same comparison.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("base abi layout math ir front/ast front/eval front/loop front/block passes codegen object rt load "
           "data launch driver py tools").split()


def listing():
    lines = []
    for folder in FOLDERS:
        for path in sorted((ROOT / "src" / folder).glob("*.c")):
            lines.append(f"{folder} {path.relative_to(ROOT)}")
    for path in sorted((ROOT / "tests/unit").glob("test_*.c")):
        lines.append(f"unit {path.relative_to(ROOT)}")
    return lines


def strays():
    """C files in folders that are no stage: a clear error beats a file that is silently not built."""
    known = {line.split(" ", 1)[1] for line in listing()}
    found = {str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.c")}
    return sorted(found - known)


def compare(saved):
    now, then = set(listing()), set(pathlib.Path(saved).read_text().splitlines())
    return [f"new: {line}" for line in sorted(now - then)] + [f"gone: {line}" for line in sorted(then - now)]


def main(argv):
    if argv[:1] == ["--compare"]:
        changes = compare(argv[1])
        print("\n".join(changes), end="\n" if changes else "")
        return 1 if changes else 0
    if strays():
        sys.exit("not in a folder that the build knows (see FOLDERS in tools/list_sources.py): " + ", ".join(strays()))
    text = "".join(line + "\n" for line in listing())
    if argv[:1] == ["--save"]:
        pathlib.Path(argv[1]).write_text(text)
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
