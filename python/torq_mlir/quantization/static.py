# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Static quantization in one call."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader

from torq_mlir.errors import ModelError

from . import sessions, synthetic
from .calibration import calibrate, samples
from .preparation import is_quantized, prepare
from .quantizers import QuantizationOptions, quantize


def quantize_static(
    model: str | os.PathLike | bytes | onnx.ModelProto,
    model_output: str | os.PathLike | None = None,
    calibration_data_reader: CalibrationDataReader | Iterable[Mapping[str, np.ndarray]] | None = None,
    *,
    quant_format: str = "qdq",
    per_channel: bool = False,
    full_integer: bool = False,
    quant_dtype: str = "A8W8",
    calibrate_method: str = "minmax",
    percentile: float = 99.999,
    nodes_to_exclude: Sequence[str] = (),
    batch: int | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    seed: int = 0,
) -> onnx.ModelProto:
    """Quantize a float model to int8, with ONNX Runtime.

    Args:
      model: a path, a serialized model or a ModelProto, which is not modified. It is prepared as `prepare` says.
      model_output: file to write the quantized model to; from 2 GiB on, the data are in a second file next to it.
      calibration_data_reader: representative inputs: ONNX Runtime's CalibrationDataReader, or any iterable of
        dictionaries from input names to arrays. Without one the model is calibrated on seeded random numbers, and a
        SyntheticDataWarning says that accuracy figures are then meaningless.
      quant_format: "qdq", QuantizeLinear and DequantizeLinear around float operators; "qoperator", operators on
        integers; "hybrid", the latter for operators that have a compact form, the former for others.
      per_channel: a scale for each output channel of weights.
      full_integer: inputs and outputs are integers; their scales and zero points are in the metadata of the model.
      quant_dtype: "A8W8", signed 8-bit activations and weights.
      calibrate_method: "minmax", "entropy" or "percentile".
      percentile: of the absolute values, for that method.
      nodes_to_exclude: names of nodes that stay in float.
      batch: size of the first dimension of each input, where the model leaves it open; 1 if it is not given.
      input_shapes: shapes of inputs that have open dimensions, by name.
      seed: of the random numbers.

    Returns:
      The quantized model; every node has a name of its own.

    Raises:
      ModelError: the model is malformed, quantized already, cannot be quantized as asked, or has no such node.
      InputError: the calibration data do not fit the model, or there are none.
      ValueError: a format, dtype or calibration method is not supported.
      OSError: `model_output` cannot be written.
    """
    options = QuantizationOptions(quant_format, per_channel, full_integer, quant_dtype, tuple(nodes_to_exclude))
    prepared = prepare(model, batch=batch, input_shapes=input_shapes)
    check_float(prepared.model, options.exclude)
    reader = calibration_data_reader
    if reader is None:
        reader = synthetic.synthetic_reader(prepared.model, seed=seed)
        synthetic.warn()
    feeds = samples(prepared.model, reader)
    ranges = calibrate(prepared.model, feeds, method=calibrate_method, percentile=percentile)
    quantized = quantize(prepared.model, ranges, options)
    if model_output is not None:
        sessions.save(quantized, Path(model_output))
    return quantized


def check_float(model: onnx.ModelProto, exclude: Sequence[str]) -> None:
    """Raise a ModelError if the model is quantized already or has no node of a name in `exclude`."""
    if is_quantized(model):
        raise ModelError("the model is quantized already")
    names = {node.name for node in model.graph.node}
    for name in exclude:
        if name not in names:
            raise ModelError(f"there is no node '{name}' to exclude from quantization")
