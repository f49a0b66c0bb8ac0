# SPDX-License-Identifier: Apache-2.0
"""Types for annotations: scalar types, ndarray(dtype, ndim), template()."""

from pestle._pestle import (
    bf16, f16, f32, f64, i8, i16, i32, i64, u1, u8, u16, u32, u64,
    bfloat16, float16, float32, float64, int8, int16, int32, int64, uint1, uint8, uint16, uint32, uint64,
    ndarray_annotation as ndarray,
    ref,
    template,
    _vector_type as vector,
    _matrix_type as matrix,
    _struct_type as struct,
)

NDArray = ndarray
Template = template


def __getattr__(name):
    """Why a name is not there."""
    from pestle._later import refuse

    refuse(__name__, name)
