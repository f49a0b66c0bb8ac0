# SPDX-License-Identifier: Apache-2.0
"""Programs written for GsTaichi, Taichi or Quadrants run on Pestle, unchanged.

    import pestle.compat
    pestle.compat.install("gstaichi")

    import gstaichi as ti  # is Pestle

or, without touching the program: `pestle run --as gstaichi program.py`.

Only what goes by another name, or takes other options, is written here (modules.py, options.py); everything else is looked
up in pestle when it is asked for.
"""

import importlib.abc
import importlib.machinery
import sys

from pestle import _pestle
from pestle.compat.modules import PEERS, Peer, make

__all__ = ["PEERS", "install", "uninstall"]


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers imports of the name and of what lies below it."""

    def __init__(self, peer: Peer):
        self.peer = peer

    def find_spec(self, fullname, path=None, target=None):
        if fullname in _SPAWNING:
            _tell_children()
        root, _, inner = fullname.partition(".")
        if root != self.peer.name or not self.peer.has(inner):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return make(self.peer, spec.name.partition(".")[2])

    def exec_module(self, module):
        pass


# What multiprocessing imports when it first starts a process that is no fork.
_SPAWNING = ("multiprocessing.popen_spawn_posix", "multiprocessing.popen_forkserver", "multiprocessing.popen_spawn_win32")


class _InChild:
    """Unpickled in a process that multiprocessing starts, before it imports the program: the same names are Pestle there."""

    def __reduce__(self):
        names = [finder.peer.name for finder in sys.meta_path if isinstance(finder, _Finder)]
        return exec, (f"import sys\nsys.path[:] = {sys.path!r}\nimport pestle.compat\nfor name in {names!r}: pestle.compat.install(name)",)


def _tell_children():
    """Has an _InChild sent to each such process."""
    from multiprocessing import spawn

    prepare = spawn.get_preparation_data
    if hasattr(prepare, "_pestle"):
        return

    def get_preparation_data(name):
        return {**prepare(name), "pestle": _InChild()}

    get_preparation_data._pestle = True
    spawn.get_preparation_data = get_preparation_data


def install(name: str) -> None:
    """From here on `import NAME` gives Pestle: "quadrants", "gstaichi" or "taichi"; also in processes that multiprocessing starts.

    Raises ValueError for another name, RuntimeError when the real package has been imported already.
    """
    if name not in PEERS:
        raise ValueError(f"install: expected one of {', '.join(sorted(PEERS))}, found {name!r}")
    if any(isinstance(finder, _Finder) and finder.peer.name == name for finder in sys.meta_path):
        return
    if name in sys.modules:
        raise RuntimeError(f"install: {name} itself has been imported already")
    sys.meta_path.insert(0, _Finder(PEERS[name]))
    if any(module in sys.modules for module in _SPAWNING):
        _tell_children()
    _pestle._alias, _pestle._alias_name = PEERS[name].short, PEERS[name].prefix  # what messages call the module


def uninstall(name: str) -> None:
    """Undoes `install`: the next `import NAME` looks for the real package."""
    sys.meta_path[:] = [f for f in sys.meta_path if not (isinstance(f, _Finder) and f.peer.name == name)]
    for module in [m for m in sys.modules if m.partition(".")[0] == name]:
        del sys.modules[module]
    for attribute in ("_alias", "_alias_name"):
        vars(_pestle).pop(attribute, None)
