# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What quantizing each layer alone costs at the outputs of the model."""

import concurrent.futures
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnxruntime.quantization.calibrate import TensorsData

from torq_mlir import quantization
from torq_mlir.errors import TorqError
from torq_mlir.gen_config import workers
from torq_mlir.gen_config.comparing import sqnr_db
from torq_mlir.gen_config.extraction import ExtractedLayer
from torq_mlir.gen_config.files import LayerSensitivity, Sensitivity
from torq_mlir.gen_config.loading import LoadedModel
from torq_mlir.gen_config.options import ModelOptions
from torq_mlir.quantization import QuantizationOptions, sessions
from torq_mlir.quantization.quantizers import QDQ_OPERATORS

# Samples of the calibration data that the outputs are compared on.
_SAMPLES = 4
# Layers are suggested to stay in float until the noise that is left is so much of it: 3 dB less.
_REMAINING_NOISE = 0.5
# Layers of a task: the whole model is sent with each.
_CHUNK = 8


@dataclass(frozen=True)
class SensitivityTask:
    """Some layers of a model, each to be quantized alone.

    Attributes:
      expected: the outputs of the float model, for each of `feeds`, one after the other in one array.
    """

    model: bytes
    layers: tuple[str, ...]
    ranges: TensorsData
    options: QuantizationOptions
    feeds: tuple[Mapping[str, np.ndarray], ...]
    expected: tuple[np.ndarray, ...]


def check(loaded: LoadedModel) -> None:
    """Raise a TorqError if there is nothing to measure: the model is not quantized here, or too large to be sent."""
    if loaded.ranges is None:
        raise TorqError("--sensitivity needs a float model and --quantize")
    if sessions.data_size(loaded.base) >= sessions.EXTERNAL_DATA_FROM:
        raise TorqError("--sensitivity does not take models of more than 2 GiB")


def measure(
    loaded: LoadedModel, layers: Sequence[ExtractedLayer], options: ModelOptions, pool: workers.Workers
) -> Sensitivity:
    """Rank layers by the SQNR at the outputs of the model when each is quantized alone, the costliest first.

    Args:
      loaded: what `check` has accepted.
    """
    feeds = tuple(loaded.feeds[:_SAMPLES])
    expected = tuple(_outputs(loaded.base, feeds))
    chosen = QuantizationOptions("qdq", options.per_channel, False, options.quant_dtype)
    names = [
        layer.name
        for layer in layers
        if layer.op_type in QDQ_OPERATORS and layer.name not in options.quantization.exclude
    ]
    model = loaded.base.SerializeToString()
    chunks = [tuple(names[start : start + _CHUNK]) for start in range(0, len(names), _CHUNK)]
    futures = [
        pool.submit(run_sensitivity, SensitivityTask(model, chunk, loaded.ranges, chosen, feeds, expected))
        for chunk in chunks
    ]
    concurrent.futures.wait(futures)
    found = [each for future in futures for each in workers.result_of(future)]
    ranked = tuple(sorted(found, key=lambda each: each.sqnr_db))
    return Sensitivity(ranked, suggest(ranked))


def run_sensitivity(task: SensitivityTask) -> list[LayerSensitivity]:
    """The SQNR for each layer of the task."""
    model = onnx.ModelProto.FromString(task.model)
    expected = np.concatenate(task.expected)
    found = []
    for name in task.layers:
        quantized = quantization.quantize(model, task.ranges, task.options, nodes=[name])
        actual = np.concatenate(list(_outputs(quantized, task.feeds)))
        found.append(LayerSensitivity(name, sqnr_db(actual, expected)))
    return found


def _outputs(model: onnx.ModelProto, feeds: Sequence[Mapping[str, np.ndarray]]) -> list[np.ndarray]:
    session = sessions.session(model, threads=1)
    return [
        np.concatenate([output.astype(np.float64).ravel() for output in session.run(None, dict(feed))])
        for feed in feeds
    ]


def suggest(ranked: Sequence[LayerSensitivity]) -> tuple[str, ...]:
    """The layers to keep in float: the costliest ones, until half of the noise is left.

    The noise of layers is taken to add up. Nothing is suggested if that takes more than a quarter of the layers: the
    noise is spread over the model then, and no few layers are to blame.
    """
    noise = [0.0 if math.isinf(each.sqnr_db) else 10 ** (-each.sqnr_db / 10) for each in ranked]
    total, remaining = sum(noise), sum(noise)
    suggested: list[str] = []
    for each, part in zip(ranked, noise, strict=True):
        if remaining <= _REMAINING_NOISE * total:
            break
        suggested.append(each.layer)
        remaining -= part
    return tuple(suggested) if 4 * len(suggested) <= len(ranked) else ()
