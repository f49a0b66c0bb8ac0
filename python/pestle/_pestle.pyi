# SPDX-License-Identifier: Apache-2.0
# The C module. What users need of it stands in __init__.pyi and types.pyi.
from typing import Any

def __getattr__(name: str) -> Any: ...
