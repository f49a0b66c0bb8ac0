# SPDX-License-Identifier: Apache-2.0
"""Names of Taichi's that Pestle does not have yet, and what they belong to: asking for one says so."""

import pestle

_NAMES = {
    "differentiation": "ad Tape FwdMode grad_replaced grad_for no_grad stop_grad clear_all_gradients",
    "sparse linear algebra": "sparse_matrix_builder SparseMatrixBuilder SparseMatrix SparseSolver SparseCG",
    "textures": "texture Texture rw_texture",
    "argument packs": "argpack ArgPack",
    "layout trees": """FieldsBuilder SNode root axes i j k l ij ik il jk jl kl ijk ijl ikl jkl ijkl activate deactivate
        deactivate_all_snodes append is_active length rescale_index no_activate sparse grid usage parent snode
        dense pointer bitmasked dynamic place lazy_grad lazy_dual deactivate_all finalize""",
    "quantised types": "quant BitpackedFields quant_array",
    "meshes": "Mesh MeshInstance mesh_local mesh_patch_idx",
    "graphs of kernels": """graph GraphStatus checkpoint graph_do_while graph_parallel graph_parallel_context do_while
        parallel parallel_context""",
    "streams": "Stream Event create_stream create_event stream_parallel",
    "kernels that choose among implementations": "perf_dispatch",
    "algorithms": """PrefixSumExecutor parallel_sort sort exclusive_scan_add exclusive_scan_max exclusive_scan_min
        exclusive_scan_scratch_slots reduce_add reduce_max reduce_min reduce_by_key_add reduce_by_key_scratch_slots
        reduce_scratch_slots select_scratch_slots sort_scratch_slots""",
    "what only GPUs have": "simt global_thread_idx get_mps_command_queue DeviceCapability Format",
}
_SUBJECTS = {name: subject for subject, names in _NAMES.items() for name in names.split()}


def _why(name):
    subject = _SUBJECTS.get(name)
    return f"{subject} {'are' if subject.endswith('s') else 'is'} not there yet" if subject else ""


def refuse(holder, name, kind="module"):
    """AttributeError for a name that a module or class does not have (so that hasattr and getattr's default work)."""
    why = _why(name)
    raise AttributeError(f"{kind} {holder!r} has no attribute {name!r}{why and ': '}{why}", name=name)


def refuse_use(name):
    """KernelRuntimeError for making something that is not there yet."""
    raise pestle.KernelRuntimeError(f"{name}: {_why(name)}")
