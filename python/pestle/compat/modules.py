# SPDX-License-Identifier: Apache-2.0
"""The modules an alias consists of: for each its own names; the rest comes from Pestle's module of that name."""

import enum
import functools
import importlib
import types

import pestle

EXCEPTIONS = {
    "CompilationError": pestle.CompilationError,
    "SyntaxError": pestle.KernelSyntaxError,
    "NameError": pestle.KernelNameError,
    "IndexError": pestle.KernelIndexError,
    "TypeError": pestle.KernelTypeError,
    "RuntimeError": pestle.KernelRuntimeError,
    "AssertionError": pestle.KernelAssertionError,
    "RuntimeTypeError": TypeError,
}
EXTENSIONS = "sparse quant quant_basic data64 adstack assertion extfunc mesh bls"
HERE = {"sparse", "quant", "quant_basic", "data64", "adstack", "assertion", "extfunc", "mesh"}
AXES = "i j k l ij ik il jk jl kl ijk ijl ikl jkl ijkl"

# Modules below the alias. Those that Pestle has under the same name give its names; the others stand for themselves.
INNER = """
    lang lang.impl lang.misc lang.exception lang.util lang.ops lang.matrix lang.matrix_ops lang.field lang.struct
    lang.kernel_impl lang.kernel_arguments lang._ndrange lang.snode lang.mesh lang.simt lang.common_ops lang.enums
    lang.expr lang.any_array lang._ndarray
    types types.primitive_types types.annotations types.ndarray_type types.enums types.compound_types
    math linalg ad algorithms tools profiler sparse simt experimental interop graph
    _lib _lib.core _lib.utils _test_tools
"""


class Peer:
    """One of the projects: how its names are made of Pestle's."""

    def __init__(self, name, prefix, short, environment):
        self.name, self.prefix, self.short, self.environment = name, prefix, short, environment
        self.inner = set(INNER.split())

    def has(self, inner):
        return not inner or inner in self.inner

    @functools.cached_property
    def archs(self):
        names = "x64 arm64 js cuda metal opengl dx11 dx12 vulkan amdgpu python gles"
        return enum.Enum("Arch", names.split(), module=self.name)

    @functools.cached_property
    def extensions(self):
        return enum.Enum("Extension", EXTENSIONS.split(), module=self.name)

    @functools.cached_property
    def configuration(self):
        from pestle.compat.options import Configuration

        return Configuration(self)

    def arch(self, name):
        return self.archs["x64" if name in ("cpu", "x86_64") else name]

    @property
    def exceptions(self):
        return {self.prefix + name: found for name, found in EXCEPTIONS.items()}


PEERS = {
    "quadrants": Peer("quadrants", "Quadrants", "qd", "QD_"),
    "gstaichi": Peer("gstaichi", "GsTaichi", "ti", "TI_"),
    "taichi": Peer("taichi", "Taichi", "ti", "TI_"),
}


class Alias(types.ModuleType):
    """A module whose names are its own, or else those of Pestle's module of that name."""

    def __getattr__(self, name):
        if name == "cfg" and "." not in self.__name__:
            return self._peer.configuration.cfg
        if name.startswith("__"):
            raise AttributeError(name)
        inner = f"{self._inner}.{name}".lstrip(".")
        if self._peer.has(inner):
            return importlib.import_module(f"{self._peer.name}.{inner}")
        for source in self._sources:
            if hasattr(source, name):
                return getattr(source, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}; Pestle may not have it yet")


def make(peer, inner):
    module = Alias(f"{peer.name}.{inner}".rstrip("."))
    module._peer, module._inner = peer, inner
    module._sources = [s for s in (pestle_module(inner), pestle) if s is not None]
    module.__path__ = []
    module.__dict__.update(NAMES.get(inner, lambda peer: {})(peer))
    return module


def pestle_module(inner):
    """Pestle's module of that name, if there is one."""
    found = pestle
    for part in inner.split(".") if inner else ():
        found = getattr(found, part, None)
    return found


def host_archs(peer):
    return [peer.archs.x64]


def top(peer):
    archs, configuration = peer.archs, peer.configuration
    return {
        "__version__": (1, 3, 3),
        "init": configuration.init,
        "reset": configuration.reset,
        "cpu": archs.x64,
        "x64": archs.x64,
        "x86_64": archs.x64,
        **{name: archs[name] for name in ("arm64", "cuda", "metal", "vulkan", "amdgpu", "python")},
        "gpu": [archs.cuda, archs.metal, archs.vulkan, archs.amdgpu],
        "extension": peer.extensions,
        "is_extension_enabled": lambda extension: extension.name in HERE,
        "dump_compile_config": lambda: print(vars(configuration.cfg)),
        **peer.exceptions,
    }


class Runtime:
    """What programs reach for in `impl.get_runtime()`."""

    def __init__(self, peer):
        self._peer = peer
        self.prog = types.SimpleNamespace(config=lambda: peer.configuration.cfg)

    default_fp = property(lambda self: self._peer.configuration.cfg.default_fp)
    default_ip = property(lambda self: self._peer.configuration.cfg.default_ip)
    unrolling_limit = property(lambda self: self._peer.configuration.unrolling_limit)

    def materialize(self):
        pass

    def sync(self):
        pass


def impl(peer):
    runtime = Runtime(peer)
    return {
        "current_cfg": lambda: peer.configuration.cfg,
        "get_runtime": lambda: runtime,
        "reset": peer.configuration.reset,
        "on_reset": peer.configuration.on_reset.append,
        **peer.exceptions,
    }


def misc(peer):
    return {
        **top(peer),
        "get_host_arch_list": lambda: host_archs(peer),
        "is_arch_supported": lambda arch: arch in (peer.archs.x64,),
        "is_extension_supported": lambda arch, extension: extension.name in HERE,
    }


def core(peer):
    return {
        "Arch": peer.archs,
        "Extension": peer.extensions,
        "arch_from_name": peer.arch,
        "arch_name": lambda arch: arch.name,
        "host_arch": lambda: peer.archs.x64,
        "is_extension_supported": lambda arch, extension: extension.name in HERE,
        "with_cuda": lambda: False,
        "with_metal": lambda: False,
        "with_vulkan": lambda: False,
        "with_amdgpu": lambda: False,
        "get_max_num_indices": lambda: 12,
        **peer.exceptions,
    }


def util(peer):
    def has_pytorch():
        import importlib.util

        return importlib.util.find_spec("torch") is not None

    def to_numpy_type(dtype):
        import numpy

        return getattr(numpy, {"f": "float", "i": "int", "u": "uint"}[dtype.name[0]] + dtype.name[1:])

    return {"has_pytorch": has_pytorch, "has_clangpp": lambda: False, "to_numpy_type": to_numpy_type}


def test_tools(peer):
    def init_same_arch(**options):
        peer.configuration.init(arch=peer.configuration.cfg.arch, **options)

    return {f"{peer.short}_init_same_arch": init_same_arch}


NAMES = {
    "": top,
    "lang": misc,
    "lang.impl": impl,
    "lang.misc": misc,
    "lang.util": util,
    "lang.exception": lambda peer: peer.exceptions,
    "_lib.core": core,
    "_test_tools": test_tools,
}
