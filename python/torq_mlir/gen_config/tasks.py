# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A layer as a piece of work that another process can do."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import onnx
from onnxruntime.quantization.calibrate import TensorsData

from torq_mlir import quantization
from torq_mlir.errors import ModelError, TorqError
from torq_mlir.gen_config.executors import LayerUnderTest, Settings, one_line
from torq_mlir.gen_config.files import ExecutorResult, IrText, Status
from torq_mlir.gen_config.loading import quantize_feed
from torq_mlir.quantization import QuantizationOptions
from torq_mlir.quantization.preparation import QUANTIZING
from torq_mlir.quantization.quantizers import PREFERRED


@dataclass(frozen=True)
class LayerTask:
    """All that is needed to test a layer on executors.

    Attributes:
      executors: to try, in order.
      stop_at_success: leave out those after the first one that succeeds.
      model: the layer, serialized.
      feeds: of its inputs, float where it is to be quantized.
      ranges: of its float tensors; None if it is tested as it is.
      options: how it is quantized.
    """

    layer: str
    op_type: str
    executors: tuple[str, ...]
    stop_at_success: bool
    model: bytes
    feeds: Mapping[str, np.ndarray]
    ranges: TensorsData | None
    options: QuantizationOptions
    settings: Settings


@dataclass(frozen=True)
class TaskResult:
    """What came of a layer on an executor; `ir` is the layer before it is compiled for any."""

    layer: str
    executor: str
    result: ExecutorResult
    ir: IrText | None = None
    seconds: float = 0.0


def run_task(task: LayerTask) -> list[TaskResult]:
    """Quantize the layer, and for each executor compile it, run it and compare. Errors of the layer are results."""
    try:
        model = onnx.ModelProto.FromString(task.model)
        if task.ranges is not None:
            model = quantize_layer(model, task.op_type, task.ranges, task.options)
        layer = LayerUnderTest(model, quantize_feed(task.feeds, model), task.settings)
    except (TorqError, ValueError, KeyError) as error:
        result = ExecutorResult(Status.ERROR, one_line(error))
        return [TaskResult(task.layer, executor, result) for executor in task.executors]
    found: list[TaskResult] = []
    for executor in task.executors:
        begin = time.perf_counter()
        result = layer.run(executor)
        found.append(TaskResult(task.layer, executor, result, layer.ir(), time.perf_counter() - begin))
        if task.stop_at_success and result.status is Status.SUCCESS:
            break
    return found


def quantize_layer(
    model: onnx.ModelProto, op_type: str, ranges: TensorsData, options: QuantizationOptions
) -> onnx.ModelProto:
    """A layer on its own, quantized in the format that its operator gets.

    The hybrid format is QOperator for the operators that it prefers, and QDQ for others. An operator that ONNX Runtime
    has no integer form of is put between quantized tensors in each format. A layer whose inputs or outputs cannot be
    integers, such as one that computes shapes, keeps them in float.
    """
    integers = options.quant_format == "qoperator" or (options.quant_format == "hybrid" and op_type in PREFERRED)
    chosen = replace(options, quant_format="qoperator" if integers else "qdq", full_integer=False)
    quantized = quantization.quantize(model, ranges, chosen, isolated=True)
    if integers and _has_float_operator(quantized):
        quantized = quantization.quantize(model, ranges, replace(chosen, quant_format="qdq"), isolated=True)
    if not options.full_integer:
        return quantized
    stripped = onnx.ModelProto()
    stripped.CopyFrom(quantized)
    try:
        quantization.strip_float_boundary(stripped)
    except ModelError:
        return quantized
    return stripped


def _has_float_operator(model: onnx.ModelProto) -> bool:
    """Whether an operator reads a float input of the model as it is."""
    inputs = {value.name for value in model.graph.input if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT}
    return any(inputs & set(node.input) for node in model.graph.node if node.op_type not in QUANTIZING)
