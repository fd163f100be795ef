# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calibration data for who has none: the figures that come of it say nothing about accuracy."""

import warnings
import zlib
from collections.abc import Iterator

import numpy as np
import onnx
from onnx import helper

from .readers import FeedReader

# Inputs that are read as indices or as lengths stay small; what they index is not known.
_INDEX_BELOW = 2
# Samples of a model that is given no data.
COUNT = 4


class SyntheticDataWarning(UserWarning):
    """The model is calibrated on random numbers."""


def synthetic_reader(model: onnx.ModelProto, *, count: int = COUNT, seed: int = 0) -> FeedReader:
    """`count` feeds of seeded random numbers for a model whose inputs have static shapes.

    Floats are standard normal; 8-bit integers are of the whole range, wider ones, which may be indices, of 0 and 1. The
    values of an input depend on the seed and its name, not on the other inputs.
    """
    return FeedReader(_feeds(model, count, seed))


MESSAGE = (
    f"calibrated on {COUNT} synthetic samples of random numbers: accuracy figures of this model are meaningless; "
    "give representative calibration data"
)


def warn() -> None:
    """Warn of what synthetic data mean, at the caller of the function that calls this."""
    warnings.warn(MESSAGE, SyntheticDataWarning, stacklevel=3)


def _feeds(model: onnx.ModelProto, count: int, seed: int) -> Iterator[dict[str, np.ndarray]]:
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in constants]
    generators = {value.name: np.random.default_rng([seed, zlib.crc32(value.name.encode())]) for value in inputs}
    for _ in range(count):
        yield {value.name: _random(value.type.tensor_type, generators[value.name]) for value in inputs}


def _random(tensor: onnx.TypeProto.Tensor, generator: np.random.Generator) -> np.ndarray:
    shape = [dim.dim_value for dim in tensor.shape.dim]
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    if dtype == np.bool_:
        return generator.integers(0, 2, shape).astype(np.bool_)
    if dtype.kind in "iu":
        low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max + 1) if dtype.itemsize == 1 else (0, _INDEX_BELOW)
        return generator.integers(low, high, shape).astype(dtype)
    return generator.standard_normal(shape, dtype=np.float32).astype(dtype)
