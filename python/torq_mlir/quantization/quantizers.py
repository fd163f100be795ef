# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The quantized forms of a model that ONNX Runtime's quantizers make."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnxruntime.quantization import QuantType
from onnxruntime.quantization.calibrate import TensorsData
from onnxruntime.quantization.onnx_model import ONNXModel
from onnxruntime.quantization.onnx_quantizer import ONNXQuantizer
from onnxruntime.quantization.qdq_quantizer import QDQQuantizer
from onnxruntime.quantization.quant_utils import QuantizationMode, add_infer_metadata
from onnxruntime.quantization.registry import QDQRegistry, QLinearOpsRegistry

from torq_mlir.errors import ModelError, first_few
from torq_mlir.frontends.onnx import naming

from .full_integer import drop_unused_initializers, strip_float_boundary
from .preparation import QUANTIZING, quiet

FORMATS = ("qdq", "qoperator", "hybrid")
DTYPES = ("A8W8",)

# The quantizer's own choice leaves these in float, though it can put any operator between quantized tensors.
_UNREGISTERED = (
    *("Abs", "Div", "Elu", "Erf", "Exp", "Expand", "Gelu", "HardSigmoid", "HardSwish", "Max", "Min", "Neg", "PRelu"),
    *("ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "Sqrt", "Sub", "Tanh"),
)
QOPERATOR_OPERATORS = tuple(sorted(QLinearOpsRegistry))
QDQ_OPERATORS = tuple(sorted({*QLinearOpsRegistry, *QDQRegistry, *_UNREGISTERED}))

# Operators that the hybrid format has in QOperator form: there is a form that computes on integers, and it is compact.
PREFERRED = ("Add", "AveragePool", "Clip", "Concat", "Conv", "MatMul", "MaxPool", "Mul", "Relu", "Reshape", "Transpose")


@dataclass(frozen=True)
class QuantizationOptions:
    """How a model is quantized.

    Attributes:
      quant_format: "qdq", "qoperator" or "hybrid".
      per_channel: a scale for each output channel of weights, where the operator has such a form.
      full_integer: inputs and outputs of the model are integers.
      quant_dtype: "A8W8", signed 8 bits for activations and weights; upper or lower case.
      exclude: names of nodes that stay in float.
    """

    quant_format: str = "qdq"
    per_channel: bool = False
    full_integer: bool = False
    quant_dtype: str = "A8W8"
    exclude: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        """Normalizes upper and lower case.

        Raises:
          ValueError: a format or dtype is not one of those that are supported.
        """
        for name, value, known in (
            ("quant_format", self.quant_format.lower(), FORMATS),
            ("quant_dtype", self.quant_dtype.upper(), DTYPES),
        ):
            if value not in known:
                raise ValueError(f"{name} {getattr(self, name)!r} is not supported; supported: {', '.join(known)}")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "exclude", tuple(self.exclude))


def quantize(
    model: onnx.ModelProto,
    ranges: TensorsData,
    options: QuantizationOptions,
    *,
    nodes: Collection[str] = (),
    isolated: bool = False,
) -> onnx.ModelProto:
    """Quantize a float model with ranges that are known.

    Args:
      model: as `prepare` returns it; it is not modified.
      ranges: of all float tensors, as `calibrate` returns them.
      nodes: names of the nodes to quantize; all of them if it is empty.
      isolated: the model is a part of another one: its inputs are quantized whatever reads them, and an activation is
        not merged into the operator before it.

    Raises:
      ModelError: `full_integer`, and an input or output cannot be quantized; or a tensor has no finite range.
    """
    try:
        with quiet():
            quantized = _FORMS[options.quant_format](model, ranges, options, list(nodes), isolated)
    except AssertionError as error:  # how ONNX Runtime refuses a range that gives no scale
        raise ModelError(f"ONNX Runtime cannot quantize the model: {error}{_not_finite(model, ranges)}") from error
    naming.name_nodes(quantized.graph)
    drop_unused_initializers(quantized.graph)
    if options.full_integer:
        strip_float_boundary(quantized)
    return quantized


def _not_finite(model: onnx.ModelProto, ranges: TensorsData) -> str:
    """Names the tensors that are not finite on the calibration data, in the order in which they are computed."""
    known = {name: each.range_value for name, each in ranges.items()}
    computed = [name for node in model.graph.node for name in node.output if name in known]
    names = [name for name in computed if not np.isfinite(known[name]).all()]
    return f"; not finite on the calibration data: {first_few(names)}" if names else ""


def _qdq(
    model: onnx.ModelProto,
    ranges: TensorsData,
    options: QuantizationOptions,
    nodes: list[str],
    isolated: bool,
    quantized: Collection[str] = (),
) -> onnx.ModelProto:
    """The QDQ form; tensors of `quantized` are, whatever reads them."""
    quantizer = QDQQuantizer(
        _copy(model),
        options.per_channel,
        False,
        QuantType.QInt8,
        QuantType.QInt8,
        _copy_ranges(ranges),
        nodes,
        list(options.exclude),
        list(QDQ_OPERATORS),
        {
            "ForceQuantizeNoInputCheck": isolated or options.full_integer,
            "QDQKeepRemovableActivations": isolated,
        },
    )
    for value in model.graph.input:
        if value.name in quantized or ((isolated or options.full_integer) and value.name in ranges):
            quantizer.quantize_activation_tensor(value.name)
    quantizer.quantize_model()
    quantizer.model.topological_sort()
    return quantizer.model.model


def _qoperator(
    model: onnx.ModelProto,
    ranges: TensorsData,
    options: QuantizationOptions,
    nodes: list[str],
    isolated: bool,
    operators: Sequence[str] = QOPERATOR_OPERATORS,
) -> onnx.ModelProto:
    quantizer = ONNXQuantizer(
        _copy(model),
        options.per_channel,
        False,
        QuantizationMode.QLinearOps,
        True,
        QuantType.QInt8,
        QuantType.QInt8,
        _copy_ranges(ranges),
        nodes,
        list(options.exclude),
        list(operators),
        {"ForceQuantizeNoInputCheck": isolated or options.full_integer},
    )
    quantizer.quantize_model()
    quantizer.model.topological_sort()
    return quantizer.model.model


def _hybrid(
    model: onnx.ModelProto, ranges: TensorsData, options: QuantizationOptions, nodes: list[str], isolated: bool
) -> onnx.ModelProto:
    """First what is preferred in QOperator form; then the float operators that are left, between Q and DQ nodes."""
    first = _qoperator(model, ranges, options, nodes, isolated, PREFERRED)
    naming.name_nodes(first.graph)
    left = [node for node in first.graph.node if _is_left_in_float(node, first.graph, nodes)]
    if not left:
        return first
    # The QDQ quantizer does not end on an operator that is to share the parameters of a dequantized tensor: these are
    # inputs of the graph for as long as it works.
    read = {name for node in left for name in node.input}
    cut = [node for node in first.graph.node if node.op_type == "DequantizeLinear" and node.output[0] in read]
    values = {value.name: value for value in first.graph.value_info}
    for node in cut:
        first.graph.node.remove(node)
        first.graph.input.append(values[node.output[0]])
    names = {node.output[0] for node in cut}
    second = _qdq(first, ranges, options, [node.name for node in left], isolated, quantized=names)
    for value in [value for value in second.graph.input if value.name in names]:
        second.graph.input.remove(value)
    second.graph.node.extend(cut)
    joined = ONNXModel(second)
    joined.topological_sort()
    return joined.model


def _is_left_in_float(node: onnx.NodeProto, graph: onnx.GraphProto, nodes: Collection[str]) -> bool:
    """Whether an operator reads a float tensor, and not all of its results are quantized."""
    if node.op_type in QUANTIZING or not node.input or (nodes and node.name not in nodes):
        return False
    readers = [each.op_type for each in graph.node if set(node.output) & set(each.input)]
    between = bool(readers) and all(op_type == "QuantizeLinear" for op_type in readers)
    return node.input[0] in _float_tensors(graph) and not between


def _float_tensors(graph: onnx.GraphProto) -> set[str]:
    values = (*graph.input, *graph.output, *graph.value_info)
    return {value.name for value in values if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT}


_FORMS = {"qdq": _qdq, "qoperator": _qoperator, "hybrid": _hybrid}


def _copy(model: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    add_infer_metadata(copy)  # the types are known: the quantizer need not write the model to a file to infer them
    return copy


def _copy_ranges(ranges: TensorsData) -> TensorsData:
    """The quantizers change the ranges before activations."""
    return TensorsData(ranges.calibration_method, dict(ranges.items()))
