# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs that have some structure: white noise looks the same to every layer that averages."""

import numpy as np
import onnx

VOCABULARY = 512


def images(rng: np.random.Generator, model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """An image of zero mean and unit variance: noise of four resolutions, f32 `[1, channels, size, size]`."""
    (value,) = model.graph.input
    _, channels, height, width = (dim.dim_value for dim in value.type.tensor_type.shape.dim)
    image = np.zeros((1, channels, height, width), np.float32)
    for block in (1, 2, 4, 8):
        grid = rng.standard_normal((1, channels, height // block, width // block), dtype=np.float32)
        image += np.kron(grid, np.ones((block, block), np.float32))
    return {value.name: (image - image.mean()) / image.std()}


def tokens(rng: np.random.Generator, model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """A sequence of token numbers, i64 below `VOCABULARY`."""
    (value,) = model.graph.input
    return {value.name: rng.integers(0, VOCABULARY, [dim.dim_value for dim in value.type.tensor_type.shape.dim])}
