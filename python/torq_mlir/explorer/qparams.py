# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scale, zero point and granularity of a quantization or dequantization, at each level of the IR."""

import re
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from torq_mlir.explorer import text
from torq_mlir.passes.raise_onnx_quantization.forms import QOPERATORS

_DECOMPOSED = re.compile(
    r"quantized_decomposed\.(quantize|dequantize|fake_quant)_per_(?P<of>tensor|token|channel_group|channel)"
)
_AFFINE = re.compile(r"torchao\.(quantize|dequantize)_affine")
_ONNX = re.compile(r"onnx\.(?:com\.microsoft\.)?(?P<operator>\w+)")
_RUN_TIME = "computed at run time"


@dataclass(frozen=True)
class QuantizationParameters:
    """Parameters as text.

    Attributes:
      quantizes: whether the result is quantized, rather than the input.
      scale, zero_point: a number, some, or the range of many.
      granularity: what has a scale of its own: "per tensor", "per channel, axis 1", ...
      operands: positions of scale and zero point.
    """

    quantizes: bool
    scale: str
    zero_point: str
    granularity: str
    operands: tuple[int, int]


def parameters(operation: ir.Operation) -> QuantizationParameters | None:
    """The parameters of a quantization or dequantization, or of the result of a QOperator node; None of any other."""
    form = _form(operation, text.operator_name(operation))
    if form is None or len(operation.operands) <= form[1][0]:
        return None
    quantizes, (scale, zero_point), granularity = form
    operands = list(operation.operands)
    return QuantizationParameters(
        quantizes=quantizes,
        scale=_shown(operation, operands[scale]),
        zero_point=_shown(operation, operands[zero_point]) if zero_point < len(operands) else "0",
        granularity=granularity,
        operands=(scale, zero_point),
    )


def _form(operation: ir.Operation, name: str) -> tuple[bool, tuple[int, int], str] | None:
    """Whether an operation quantizes, the positions of scale and zero point, and the granularity."""
    quantizes = "dequantize" not in name.lower()
    if match := _DECOMPOSED.search(name):
        return quantizes, (1, 2), _granularity(operation, match["of"])
    if _AFFINE.search(name):
        return quantizes, (2, 3), f"blocks of {text.constant(operation.operands[1])}"
    if match := _ONNX.fullmatch(name):
        if match["operator"] in ("QuantizeLinear", "DequantizeLinear"):
            return quantizes, (1, 2), _onnx_granularity(operation)
        form = QOPERATORS.get(match["operator"])
        if form is not None and form.scale is not None:
            return True, (form.scale, form.zero_point), "per tensor"
    return None


def _shown(operation: ir.Operation, parameter: ir.Value) -> str:
    array = text.constant_array(parameter)
    if array is not None:
        return text.numbers(_unsigned(operation, array))
    constant = text.constant(parameter)
    return "0" if constant == "none" else constant or _RUN_TIME


def _granularity(operation: ir.Operation, of: str) -> str:
    """From the name of an operation of quantized_decomposed, or of PyTorch's operator of that name."""
    attributes, operands = operation.attributes, operation.operands
    details = []
    if "axis" in attributes:
        details.append(f"axis {attributes['axis'].value}")
    elif of == "channel" and len(operands) > 3:
        details.append(f"axis {text.constant(operands[3]) or '?'}")
    if "group_size" in attributes:
        details.append(f"groups of {attributes['group_size'].value}")
    elif of == "channel_group" and operation.name.startswith("torch."):
        details.append(f"groups of {text.constant(operands[6]) or '?'}")
    return ", ".join([f"per {of.replace('_', ' ')}", *details])


def _onnx_granularity(operation: ir.Operation) -> str:
    attributes = operation.attributes
    block, axis = (
        attributes[name].value if name in attributes else None for name in ("torch.onnx.block_size", "torch.onnx.axis")
    )
    axis = 1 if axis is None else axis  # the default of ONNX
    if block:
        return f"per channel group, axis {axis}, groups of {block}"
    return f"per channel, axis {axis}" if text.dimensions(operation.operands[1].type) else "per tensor"


def _unsigned(operation: ir.Operation, parameter: np.ndarray) -> np.ndarray:
    """The value of a zero point whose unsigned storage is signless in linalg."""
    if "dtype" not in operation.attributes or parameter.dtype.kind != "i" or parameter.dtype.itemsize > 2:
        return parameter
    is_unsigned = ir.IntegerType(ir.TypeAttr(operation.attributes["dtype"]).value).is_unsigned
    return parameter.view(parameter.dtype.str.replace("i", "u")) if is_unsigned else parameter
