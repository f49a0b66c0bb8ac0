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
        root, _, inner = fullname.partition(".")
        if root != self.peer.name or not self.peer.has(inner):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return make(self.peer, spec.name.partition(".")[2])

    def exec_module(self, module):
        pass


def install(name: str) -> None:
    """From here on `import NAME` gives Pestle: "quadrants", "gstaichi" or "taichi".

    Raises ValueError for another name, RuntimeError when the real package has been imported already.
    """
    if name not in PEERS:
        raise ValueError(f"install: expected one of {', '.join(sorted(PEERS))}, found {name!r}")
    if any(isinstance(finder, _Finder) and finder.peer.name == name for finder in sys.meta_path):
        return
    if name in sys.modules:
        raise RuntimeError(f"install: {name} itself has been imported already")
    sys.meta_path.insert(0, _Finder(PEERS[name]))
    _pestle._alias = PEERS[name].short  # what messages call the module


def uninstall(name: str) -> None:
    """Undoes `install`: the next `import NAME` looks for the real package."""
    sys.meta_path[:] = [f for f in sys.meta_path if not (isinstance(f, _Finder) and f.peer.name == name)]
    for module in [m for m in sys.modules if m.partition(".")[0] == name]:
        del sys.modules[module]
    vars(_pestle).pop("_alias", None)
