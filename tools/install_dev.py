"""Install the built package into the environment that runs this, when something changed.

    install_dev.py BUILD_DIR

Runs `meson install`, then removes what stands in site-packages/pestle and is no longer part of the package,
so that a module that was renamed cannot be imported by its old name. There are no import hooks: importing
Pestle from .venv costs what it costs a user.
"""
import json
import pathlib
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "python/pestle"
PACKAGE = pathlib.Path(sysconfig.get_path("platlib")) / "pestle"
STAMP = pathlib.Path(sys.prefix) / ".pestle-installed"


def libraries(build):
    """The shared objects that Meson installs; libpestle_llvm.so may come from elsewhere."""
    installed = json.loads((build / "meson-info/intro-installed.json").read_text())
    return [pathlib.Path(path) for path in installed if path.endswith(".so")]


def signature(build):
    """What an install depends on, as text: which build, and every file with its size and time."""
    files = [path for path in SOURCE.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    files += [build / "build.ninja", *libraries(build)]
    lines = [f"{build.resolve()}"]
    for path in sorted(files):
        stat = path.stat()
        lines.append(f"{path} {stat.st_size} {stat.st_mtime_ns}")
    return "\n".join(lines)


def remove_leftovers(build):
    wanted = {PACKAGE / path.relative_to(SOURCE) for path in SOURCE.rglob("*")}
    wanted |= {PACKAGE / path.name for path in libraries(build)}
    for path in sorted(PACKAGE.rglob("*"), reverse=True):
        if path.suffix == ".pyc":
            keep = path.parent.parent / (path.name.split(".")[0] + ".py") in wanted
        else:
            keep = path.is_dir() or path in wanted
        if not keep:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def main(build):
    now = signature(build)
    if PACKAGE.exists() and STAMP.exists() and STAMP.read_text() == now:
        return
    STAMP.unlink(missing_ok=True)
    subprocess.run(["meson", "install", "-C", str(build), "--no-rebuild", "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    remove_leftovers(build)
    STAMP.write_text(now)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
