# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a front end tells of the inputs and outputs of a model."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of a model.

    Attributes:
      name: name in the source model.
      shape: static shape; -1 for a dimension that depends on the values of the inputs.
      dtype: numpy dtype, of the sign that the source model gives it.
      scale, zero_point: of a quantized tensor, `real = (integer - zero_point) * scale`; None when the tensor is not
        quantized, or not with one constant scale.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    scale: float | None = None
    zero_point: int | None = None
