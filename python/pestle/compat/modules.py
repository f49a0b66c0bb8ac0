# SPDX-License-Identifier: Apache-2.0
"""The modules an alias consists of: for each its own names; the rest comes from Pestle's module of that name."""

import contextlib
import enum
import functools
import importlib
import operator
import types
import warnings

import pestle
import pestle._later
from pestle.compat import names
from pestle.compat.classes import classes, swizzles
from pestle.compat.options import LEVELS, VERSION, Configuration

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
    lang.expr lang.any_array lang._ndarray lang._kernel_types
    types types.primitive_types types.annotations types.ndarray_type types.enums types.compound_types
    _logging math linalg ad algorithms tools profiler sparse simt experimental interop graph
    _lib _lib.core _lib.utils _lib.core.quadrants_python _test_tools _test_tools.load_kernel_string
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
        return Configuration(self)

    def arch(self, name):
        name = "x64" if name in ("cpu", "x86_64") else name
        if name not in self.archs.__members__:
            raise ValueError(f"there is no arch {name!r}; expected cpu, {', '.join(self.archs.__members__)}")
        return self.archs[name]

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
        pestle._later.refuse(self.__name__, name)

    def __dir__(self):
        found = names.of_module(self._peer.prefix, self._inner)
        return super().__dir__() if found is None else found


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


def logging(peer):
    configuration = peer.configuration
    return {
        **{level.upper(): level for level in LEVELS},
        "set_logging_level": lambda level: setattr(configuration, "log_level", level),
        "is_logging_effective": lambda level: LEVELS.index(level) >= LEVELS.index(configuration.log_level),
    }


@pestle.func
def assume_in_range(value, base, low, high):
    """value, which the program promises to be in [base + low, base + high): of no use here."""
    return value


@pestle.func
def loop_unique(value, covers=None):
    """value, which the program promises to be another one in each iteration: of no use here."""
    return value


def hint(*fields):
    """What only tells the peers' compilers where to keep fields."""


def no_clock():
    """The frequency of a GPU's clock: NotImplementedError."""
    raise NotImplementedError("clock_freq_hz: kernels run on the CPU, whose clock has no fixed frequency")


def top(peer):
    archs, configuration = peer.archs, peer.configuration
    return {
        "__version__": VERSION,
        "init": configuration.init,
        "reset": configuration.reset,
        "cpu": archs.x64,
        "x64": archs.x64,
        "x86_64": archs.x64,
        **{name: archs[name] for name in ("arm64", "cuda", "metal", "vulkan", "amdgpu", "python")},
        "gpu": [archs.cuda, archs.metal, archs.vulkan, archs.amdgpu],
        "extension": peer.extensions,
        "is_extension_enabled": lambda extension: extension.name in HERE,
        "pure": lambda kernel: kernel,
        "clock_freq_hz": no_clock,
        "assume_in_range": assume_in_range,
        "block_local": hint,
        "cache_read_only": hint,
        **classes(),
        "dump_compile_config": lambda: print(vars(configuration.cfg)),
        **logging(peer),
        **peer.exceptions,
    }


class Runtime:
    """What programs reach for in `impl.get_runtime()`."""

    def __init__(self, peer):
        self._peer = peer
        self.prog = types.SimpleNamespace(config=lambda: peer.configuration.cfg)

    default_fp = property(
        lambda self: self._peer.configuration.cfg.default_fp, lambda self, dtype: self._peer.configuration.change(default_fp=dtype)
    )
    default_ip = property(
        lambda self: self._peer.configuration.cfg.default_ip, lambda self, dtype: self._peer.configuration.change(default_ip=dtype)
    )
    unrolling_limit = property(lambda self: self._peer.configuration.unrolling_limit)

    def set_default_fp(self, dtype):
        self.default_fp = dtype

    def set_default_ip(self, dtype):
        self.default_ip = dtype

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
        f"{peer.short}_float": float,
        f"{peer.short}_int": int,
        "Kernel": pestle._pestle.Kernel,
        **peer.exceptions,
    }


def kernel_types(peer):
    names = "FLOAT INT UINT QD_ARRAY QD_ARRAY_WITH_GRAD"
    return {"KernelBatchedArgType": enum.Enum("KernelBatchedArgType", names, module=f"{peer.name}.lang._kernel_types")}


def misc(peer):
    return {
        **top(peer),
        "loop_unique": loop_unique,
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
        "get_version_major": lambda: VERSION[0],
        "get_version_minor": lambda: VERSION[1],
        "get_version_patch": lambda: VERSION[2],
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


def ops(peer):
    names = "add sub mul mod pow floordiv truediv matmul neg invert abs"
    return {name: getattr(operator, name) for name in names.split()}


REALS = [pestle.f16, pestle.f32, pestle.f64]
SIGNED = [pestle.i8, pestle.i16, pestle.i32, pestle.i64]
UNSIGNED = [pestle.u8, pestle.u16, pestle.u32, pestle.u64]


def dtypes(peer):
    found = [*REALS, *SIGNED, pestle.u1, *UNSIGNED]
    return {
        "all_types": found,
        "real_types": REALS,
        "integer_types": SIGNED + [pestle.u1] + UNSIGNED,
        "type_ids": [id(dtype) for dtype in found],
        "real_type_ids": [id(dtype) for dtype in REALS],
        "integer_type_ids": [id(dtype) for dtype in SIGNED + [pestle.u1] + UNSIGNED],
    }


def kinds(peer):
    return {
        "is_real": lambda dtype: dtype in REALS,
        "is_signed": lambda dtype: dtype in REALS + SIGNED,
        "is_integral": lambda dtype: dtype in SIGNED + [pestle.u1] + UNSIGNED,
    }


def ranges(peer):
    class _Ndrange:
        """An ndrange outside kernels."""

        def __init__(self, *bounds, axes=None):
            self._indices = list(pestle.ndrange(*bounds, axes=axes))
            self.axes = None if axes is None or list(axes) == list(range(len(bounds))) else tuple(axes)

        def __iter__(self):
            return iter(self._indices)

        def grouped(self):
            return map(pestle.Vector, self._indices)

    return {"_Ndrange": _Ndrange}


def experimental(peer):
    def real_func(function):
        warnings.warn(
            f"{peer.short}.experimental.real_func is deprecated because it is no longer experimental. Use {peer.short}.real_func instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        return pestle.real_func(function)

    return {"real_func": real_func}


def kernel_strings(peer):
    @contextlib.contextmanager
    def load_kernel_from_string(source, name):
        """The function of that name in a source text."""
        import linecache

        file = f"<{peer.name} {name} {id(source)}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        scope = {"__name__": "loaded_kernel"}
        exec(compile(source, file, "exec"), scope)
        yield scope[name]

    return {"load_kernel_from_string": load_kernel_from_string}


def utils(peer):
    return {f"import_{peer.short}_python_core": lambda: importlib.import_module(f"{peer.name}._lib.core")}


def test_tools(peer):
    def init_same_arch(**options):
        peer.configuration.init(arch=peer.configuration.cfg.arch, **options)

    return {f"{peer.short}_init_same_arch": init_same_arch}


NAMES = {
    "": top,
    "lang": misc,
    "lang.impl": impl,
    "lang.misc": misc,
    "lang._kernel_types": kernel_types,
    "lang.util": util,
    "lang.exception": lambda peer: peer.exceptions,
    "lang._ndrange": ranges,
    "types": kinds,
    "types.primitive_types": dtypes,
    "experimental": experimental,
    "_logging": logging,
    "_lib.core": core,
    "_lib.core.quadrants_python": core,
    "_lib.utils": utils,
    "_test_tools": test_tools,
    "_test_tools.load_kernel_string": kernel_strings,
    "lang.ops": ops,
    "lang.matrix": lambda peer: {"_generate_swizzle_patterns": swizzles},
}
