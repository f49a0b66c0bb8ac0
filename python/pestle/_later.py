# SPDX-License-Identifier: Apache-2.0
"""Names of Taichi's that Pestle does not have yet, and what they belong to: asking for one says so."""

_NAMES = {
    "differentiation": "ad Tape FwdMode grad_replaced grad_for no_grad stop_grad clear_all_gradients",
    "sparse linear algebra": "linalg sparse_matrix_builder",
    "textures": "texture Texture rw_texture",
    "argument packs": "argpack ArgPack",
}
_SUBJECTS = {name: subject for subject, names in _NAMES.items() for name in names.split()}


def refuse(module, name):
    """AttributeError for a name that a module does not have (so that hasattr and getattr's default work)."""
    subject = _SUBJECTS.get(name)
    why = f": {subject} {'are' if subject.endswith('s') else 'is'} not there yet" if subject else ""
    raise AttributeError(f"module {module!r} has no attribute {name!r}{why}", name=name)
