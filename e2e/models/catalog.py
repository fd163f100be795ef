# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized models and their inputs, by the name of the model and of the variant."""

from collections.abc import Mapping

import numpy as np
import onnx
from onnx import helper

from e2e.graph import QuantizedGraph
from e2e.models import qdq_movements  # noqa: F401  (its import registers more of the features)
from e2e.models.built import BUILT, built_inputs, built_model
from e2e.models.cache import cached
from e2e.models.features import FEATURES
from e2e.models.light import light_model
from e2e.models.network import seed_of
from e2e.models.qdq_features import QDQ_FEATURES
from e2e.models.quantization import VARIANTS, float_inputs, quantize


def quantized_model(name: str, variant: str) -> onnx.ModelProto:
    """A small model or one of `LIGHT` or `BUILT` in one of its quantized forms; those of `LIGHT` are kept on disk."""
    features = FEATURES | QDQ_FEATURES
    if name in features:
        return _quantized(features[name](), name, variant, calibration_samples=8)
    if name in BUILT:
        model = built_model(name)
        return quantize(model, VARIANTS[variant], built_inputs(name, model, "calibration", 8))

    samples = 1 if name == "vgg19" else 3

    @cached(f"{name}.{variant}", VARIANTS[variant], samples)
    def build() -> onnx.ModelProto:
        return _quantized(light_model(name), name, variant, calibration_samples=samples)

    return build()


def _quantized(model: onnx.ModelProto, name: str, variant: str, calibration_samples: int) -> onnx.ModelProto:
    feeds = float_inputs(model, seed_of(f"{name}.calibration"), calibration_samples)
    return quantize(model, VARIANTS[variant], feeds)


def model_inputs(model: onnx.ModelProto, name: str, count: int) -> list[Mapping[str, np.ndarray]]:
    """Seeded inputs: standard normal floats, or integers of the whole range; of `BUILT`, what they are made for."""
    if name in BUILT:
        return [_stored(model, feeds) for feeds in built_inputs(name, model, "inputs", count)]
    rng = np.random.default_rng(seed_of(f"{name}.inputs"))
    return [{value.name: _random(rng, value) for value in model.graph.input} for _ in range(count)]


def _stored(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Real inputs as a quantized model takes them."""
    quantizations = QuantizedGraph(model).quantizations
    stored = dict(feeds)
    for value in model.graph.input:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))
        if dtype.itemsize == 1:
            scale, zero_point = quantizations[value.name].along(feeds[value.name].ndim)
            limits = np.iinfo(dtype)
            integers = np.clip(np.rint(feeds[value.name] / scale) + zero_point, limits.min, limits.max)
            stored[value.name] = integers.astype(dtype)
    return stored


def _random(rng: np.random.Generator, value: onnx.ValueInfoProto) -> np.ndarray:
    shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))
    if dtype.kind == "f":
        return rng.standard_normal(shape, dtype=np.float32).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
