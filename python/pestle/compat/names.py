# SPDX-License-Identifier: Apache-2.0
"""The public names of the peers' modules and classes, as their documentation and dir() have them: what dir() says under an
alias. Names that Pestle does not have stand here too; asking for one of them says what is missing (pestle._later)."""

TOP = """
    BitpackedFields CRITICAL DEBUG DeviceCapability ERROR Field FieldsBuilder Format INFO Layout Matrix MatrixField
    MatrixNdarray Mesh MeshInstance Ndarray SNode ScalarField ScalarNdarray Struct StructField TRACE Template Vector
    VectorNdarray WARN abs acos activate ad algorithms amdgpu append arm64 asin assume_in_range atan2 atomic_add
    atomic_and atomic_max atomic_min atomic_mul atomic_or atomic_sub atomic_xor axes bit_cast bit_shr block_local
    cache_read_only cast ceil clock_counter clock_freq_hz cos cpu cuda data_oriented dataclass deactivate
    deactivate_all_snodes dump_compile_config eig exp experimental extension f16 f32 f64 field float16 float32
    float64 floor frexp func get_addr global_thread_idx gpu grouped i i16 i32 i64 i8 ij ijk ijkl ijl ik ikl il init
    int16 int32 int64 int8 is_active is_extension_enabled is_logging_effective j jk jkl jl k kernel kl l lang length
    linalg log loop_config math max mesh_local mesh_patch_idx metal min ndarray ndrange no_activate one
    polar_decompose pow profiler pure pyfunc randn random raw_div raw_mod real_func ref rescale_index reset root
    round rsqrt select set_logging_level simt sin solve sparse sparse_matrix_builder sqrt static static_assert
    static_print stop_grad svd sym_eig sync tan tanh template tools types u1 u16 u32 u64 u8 uint1 uint16 uint32
    uint64 uint8 vulkan x64 x86_64 zero
"""
# Of the newest of the three alone.
QUADRANTS = """
    Backend BufferView Event GraphStatus MatrixTensor Stream Tensor VectorTensor atomic_cas atomic_exchange
    checkpoint create_event create_stream graph graph_do_while graph_parallel graph_parallel_context interop
    make_spd perf_dispatch python stream_parallel tensor volatile_load wrap
"""
EXCEPTIONS = "AssertionError CompilationError NameError RuntimeError RuntimeTypeError SyntaxError TypeError"

MODULES = {
    "graph": "do_while parallel parallel_context",
    "ad": "FwdMode Tape clear_all_gradients grad_for grad_replaced no_grad",
    "algorithms": """
    PrefixSumExecutor exclusive_scan_add exclusive_scan_max exclusive_scan_min exclusive_scan_scratch_slots
    parallel_sort reduce_add reduce_by_key_add reduce_by_key_scratch_slots reduce_max reduce_min
    reduce_scratch_slots select select_scratch_slots sort sort_scratch_slots
    """,
    "math": """
    acos asin atan2 cconj cdiv ceil cexp cinv clamp clog clz cmul cos cpow cross csqrt degrees determinant distance
    dot e exp eye ffs floor fns fract inf inverse isinf isnan ivec2 ivec3 ivec4 length log log2 mat2 mat3 mat4 max
    min mix mod nan normalize pi popcnt pow radians reflect refract rot_by_axis rot_yaw_pitch_roll rotation2d
    rotation3d round scale sign sin smoothstep sqrt step tan tanh translate uvec2 uvec3 uvec4 vdir vec2 vec3 vec4
    """,
    "interop": "get_mps_command_queue",
    "sparse": "grid usage",
}

_ANY = "copy_from fill has_dual has_grad layout shape to_dlpack"
_FIELD = _ANY + " dtype from_numpy from_torch parent snode to_numpy to_torch"
_NDARRAY = _ANY + " element_shape get_type"
_TREE = "bitmasked deactivate_all dense dynamic lazy_dual lazy_grad place pointer quant_array"

CLASSES = {
    "Field": _FIELD,
    "ScalarField": _FIELD,
    "MatrixField": _FIELD + " get_scalar_field",
    "StructField": _FIELD + " get_member_field keys",
    "Ndarray": _NDARRAY,
    "ScalarNdarray": _NDARRAY + " from_numpy from_torch to_numpy to_torch",
    "VectorNdarray": _NDARRAY + " from_numpy from_torch to_numpy to_torch",
    "MatrixNdarray": _NDARRAY + " from_numpy from_torch to_numpy to_torch",
    "FieldsBuilder": _TREE + " finalize",
    "SNode": _TREE + " parent shape",
}


def of_module(prefix, inner):
    """What dir() of a module below an alias says; None: what the module has."""
    if inner:
        names = MODULES.get(inner)
        return None if names is None else names.split()
    newest = QUADRANTS.split() if prefix == "Quadrants" else []
    return TOP.split() + newest + [prefix + name for name in EXCEPTIONS.split()]
