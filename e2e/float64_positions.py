# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX operators that say where an extremum is, and the conversion of what they give to a number."""

from collections.abc import Callable
from typing import Any

import numpy as np


def _position(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Of numpy, the first of equals or the last."""

    def position(attributes: dict[str, Any], x: np.ndarray) -> np.ndarray:
        axis, keepdims = attributes.get("axis", 0), bool(attributes.get("keepdims", 1))
        if not attributes.get("select_last_index"):
            return function(x, axis=axis, keepdims=keepdims)
        return x.shape[axis] - 1 - function(np.flip(x, axis), axis=axis, keepdims=keepdims)

    return position


POSITIONS: dict[str, Callable[..., np.ndarray]] = {
    "ArgMax": _position(np.argmax),
    "ArgMin": _position(np.argmin),
    "Cast": lambda attributes, x: x,
}
