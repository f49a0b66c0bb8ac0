# SPDX-License-Identifier: Apache-2.0
"""`init` as the peers have it: their options, their environment variables, their refusals.

What only tells a peer's own compiler how to go about its work is accepted and has no effect.
"""

import os
import types
import warnings

import pestle

VERSION = (1, 3, 3)
LEVELS = "trace debug info warn error critical".split()

# name: default. Those Pestle has go to pestle.init; the rest can only be read back.
DEFAULTS = {
    "arch": "x64",
    "debug": False,
    "check_out_of_bound": False,
    "default_fp": pestle.f32,
    "default_ip": pestle.i32,
    "default_up": pestle.u32,
    "fast_math": True,
    "random_seed": 0,
    "cpu_max_num_threads": 0,
    "offline_cache": True,
    "offline_cache_file_path": "",
    "offline_cache_cleaning_policy": "lru",
    "offline_cache_max_size_of_files": 100 << 20,
    "offline_cache_cleaning_factor": 0.25,
    "verbose": True,
    "num_compile_threads": 4,
    "raise_on_templated_floats": False,
    "kernel_profiler": False,
    "timeline": False,
    "device_memory_GB": 1.0,
    "device_memory_fraction": 0.0,
    "opt_level": 1,
    "external_optimization_level": 3,
    "max_vector_width": 8,
    "default_cpu_block_dim": 32,
    "default_gpu_block_dim": 128,
    "gpu_max_reg": 0,
    "saturating_grid_dim": 0,
    "max_block_dim": 0,
    "ad_stack_size": 0,
    "ad_stack_sparse_threshold_bytes": 100 << 20,
    "cuda_stack_limit": 0,
    "vk_api_version": "",
    "external_metal_command_queue": 0,
    "external_metal_command_queue_is_torch_queue": False,
    "debug_dump_path": "/tmp/ir/",
}
FLAGS = {
    True: """advanced_optimization cfg_optimization constant_folding simplify_before_lower_access
        simplify_after_lower_access lower_access cache_loop_invariant_global_vars demote_dense_struct_fors
        make_thread_local make_block_local detect_read_only real_matrix_scalarize make_cpu_multithreading_loop
        cpu_block_dim_adaptive quant_opt_store_fusion quant_opt_atomic_demotion optimize_mesh_reordered_mapping
        mesh_localize_to_end_mapping""",
    False: """move_loop_invariant_outside_if flatten_if force_scalarize_matrix half2_vectorization serial_schedule
        ad_stack_experimental_enabled print_ir print_preprocessed_ir print_accessor_ir print_ir_dbg_info
        print_kernel_llvm_ir print_kernel_llvm_ir_optimized print_kernel_asm print_kernel_amdgcn
        print_struct_llvm_ir print_kernel_nvptx quant_opt_demote_atomics mesh_localize_from_end_mapping
        mesh_localize_all_attr_mappings use_mesh debug_print_ir""",
}
for value, names in FLAGS.items():
    DEFAULTS |= dict.fromkeys(names.split(), value)

# Of Python alone: no part of the configuration that can be read back.
SPECIAL = {
    "log_level": "info",
    "gdb_trigger": False,
    "short_circuit_operators": True,
    "print_full_traceback": False,
    "unrolling_limit": 32,
    "enable_fallback": True,
    "require_version": None,
    "print_non_pure": False,
    "src_ll_cache": True,
    "_test_mode": False,
}
PASSED_ON = """debug check_out_of_bound default_fp default_ip random_seed cpu_max_num_threads offline_cache
    raise_on_templated_floats""".split()


def from_text(name, text):
    """What an environment variable says, as the type of the option's default."""
    default = DEFAULTS[name]
    try:
        if name in ("default_fp", "default_ip", "default_up"):
            return getattr(pestle, name[-2] + text if text.isdigit() else text)
        if isinstance(default, bool):
            return bool(int(text)) if text else default
        return type(default)(text)
    except (ValueError, AttributeError):
        kind = "a dtype or its bits" if name.startswith("default_") else type(default).__name__
        raise ValueError(f"the environment sets {name} to {text!r}; expected {kind}") from None


class Configuration:
    """The options in force, for one alias."""

    def __init__(self, peer):
        self.peer = peer
        self.cfg = types.SimpleNamespace(**DEFAULTS)
        self.cfg.arch = peer.arch("x64")
        self.unrolling_limit = SPECIAL["unrolling_limit"]
        self.log_level = SPECIAL["log_level"]
        self.on_reset = []
        self.fast_math = False  # asked for: the peers' default says True, which must not change numbers by itself

    def init(self, arch=None, default_fp=None, default_ip=None, **kwargs):
        """Sets all options anew: from keywords, else from the environment, else to their defaults."""
        given = {k: v for k, v in {"default_fp": default_fp, "default_ip": default_ip, **kwargs}.items() if v is not None}
        special = {name: given.pop(name, self.of_environment(name, default)) for name, default in SPECIAL.items()}
        unknown = [name for name in given if name not in DEFAULTS or name in ("arch", "default_up")]
        if unknown:
            raise KeyError(
                f"Unrecognized keyword argument(s) for {self.peer.short}.init: {', '.join(unknown)}"
                if unknown != ["default_up"]
                else f"'default_up' cannot be set in {self.peer.short}.init: it follows default_ip"
            )
        if special["require_version"] not in (None, ".".join(map(str, VERSION))):
            raise RuntimeError(f"version {special['require_version']} is required, this behaves as {VERSION}")
        if special["_test_mode"]:
            return types.SimpleNamespace(**special)
        self.reset()
        chosen = dict(DEFAULTS)
        for name in DEFAULTS:
            text = os.environ.get(self.peer.environment + name.upper())
            if text is not None and name != "arch":
                chosen[name] = from_text(name, text)
                if name in given:
                    warnings.warn(f"{self.peer.short}.init({name}=...) overrides the environment's {self.peer.environment}{name.upper()}")
        chosen |= given
        chosen["default_up"] = pestle.u64 if chosen["default_ip"] == pestle.i64 else pestle.u32
        text = os.environ.get(self.peer.environment + "ARCH")
        arch = self.peer.arch(text) if text else self.peer.arch("x64") if arch is None else arch
        arch = arch[0] if isinstance(arch, (list, tuple)) else arch
        if not isinstance(arch, self.peer.archs):
            raise TypeError(f"{self.peer.short}.init(arch=...): expected {self.peer.short}.cpu or another arch, found {arch!r}")
        if arch.name not in ("x64", "python"):
            if not special["enable_fallback"]:
                raise RuntimeError(f"Arch={arch.name} is not supported")
            warnings.warn(f"Arch={arch.name} is not supported, falling back to CPU")
            arch = self.peer.arch("x64")
        chosen["arch"] = arch
        asked = "fast_math" in given or self.peer.environment + "FAST_MATH" in os.environ
        self.fast_math = asked and chosen["fast_math"]
        self.apply(chosen)
        self.unrolling_limit = special["unrolling_limit"]
        self.log_level = special["log_level"]

    def of_environment(self, name, default):
        text = os.environ.get(self.peer.environment + name.upper())
        return default if text is None or default is None else type(default)(int(text) if isinstance(default, (bool, int)) else text)

    def apply(self, chosen):
        name = "python" if chosen["arch"].name == "python" else "cpu"
        passed_on = {name: chosen[name] for name in PASSED_ON}
        pestle.init(name, overflow="print", formats="c", fast_math=self.fast_math, **passed_on)  # as the peers do
        self.cfg = types.SimpleNamespace(**chosen)

    def change(self, **options):
        """Sets some anew and keeps the others."""
        self.apply(vars(self.cfg) | options)

    def reset(self):
        """Back to the defaults."""
        for call in self.on_reset:
            call()
        self.on_reset.clear()
        pestle.reset()
        self.__dict__.update(cfg=types.SimpleNamespace(**DEFAULTS), fast_math=False)
        self.cfg.arch = self.peer.arch("x64")
