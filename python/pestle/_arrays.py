# SPDX-License-Identifier: Apache-2.0
"""Methods of arrays in kernels, in the language."""

from pestle._pestle import func, grouped, template


@func
def fill(x: template(), value):
    for i in grouped(x):
        x[i] = value
