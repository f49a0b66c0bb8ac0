# SPDX-License-Identifier: Apache-2.0
from typing import Any

class Dtype:
    name: str
    itemsize: int
    def __call__(self, value: Any, /) -> Any: ...

class ndarray:
    def __init__(self, dtype: Dtype | type | None = None, ndim: int | None = None) -> None: ...
    def __class_getitem__(cls, item: Any, /) -> Any: ...

class template:
    def __init__(self) -> None: ...

NDArray = ndarray
Template = template

u1: Dtype
i8: Dtype
i16: Dtype
i32: Dtype
i64: Dtype
u8: Dtype
u16: Dtype
u32: Dtype
u64: Dtype
f16: Dtype
bf16: Dtype
f32: Dtype
f64: Dtype
uint1: Dtype
int8: Dtype
int16: Dtype
int32: Dtype
int64: Dtype
uint8: Dtype
uint16: Dtype
uint32: Dtype
uint64: Dtype
float16: Dtype
bfloat16: Dtype
float32: Dtype
float64: Dtype
