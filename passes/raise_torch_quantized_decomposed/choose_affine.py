# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torchao's choose_qparams_affine.

Per tensor it is an operation of `quantized_decomposed`. Its parameters of channels, tokens and groups differ in their
last bits from those that `choose_qparams_per_token` chooses, so that it becomes the arithmetic that it is made of.
"""

from typing import NamedTuple

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, quantized_decomposed, tensor_types

from .affine import read_blocks, read_range
from .calls import Call, converted, integer_list, reshaped, scalar
from .decomposed import Operator

_MAPPINGS = ("ASYMMETRIC", "SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR")


class _Choice(NamedTuple):
    """What a call asks for: how to map values to `low` .. `high`, with scales of at least `eps`."""

    mapping: str
    low: int
    high: int
    eps: float
    dtype: ir.IntegerType

    @property
    def middle(self) -> int:
        """The zero point of symmetric quantization."""
        return int((self.high + self.low + 1) / 2)


def _choose_qparams_affine(call: Call) -> tuple[ir.Value, ...]:
    dtype = call.storage_type("target_dtype")
    bounds = read_range(call, dtype)
    mapping = str(call.constant("mapping_type"))
    if mapping not in _MAPPINGS:
        raise call.failure(f"'mapping_type' is {mapping!r}; the mapping types are {', '.join(_MAPPINGS)}")
    element = tensor_types.element_type(call.value("input").type)
    if not isinstance(element, ir.FloatType):
        raise call.failure(f"'input' has type {call.value('input').type}; values of a float type are needed")
    eps = float(call.constant("eps")) if call.has("eps") else _smallest_normal(element)
    choice = _Choice(mapping, bounds["quant_min"], bounds["quant_max"], eps, dtype)
    blocks = read_blocks(call, prefer_tokens=True)
    chosen = _whole_tensor(call, choice) if blocks.granularity == "tensor" else None
    return _as_declared(call, chosen or _arithmetic(call, choice))


def _smallest_normal(element: ir.FloatType) -> float:
    dtype = elements.numpy_dtype(element)
    if dtype.kind != "f":  # bf16 has the exponents of f32
        dtype = np.dtype(np.float32)
    return float(np.finfo(dtype).smallest_normal)


def _whole_tensor(call: Call, choice: _Choice) -> tuple[ir.Value, ir.Value] | None:
    """The operation for a whole tensor, where it computes the same."""
    input = call.value("input")
    if not isinstance(tensor_types.element_type(input.type), ir.F32Type) or not choice.low <= 0 <= choice.high:
        return None
    attributes = {"quant_min": choice.low, "quant_max": choice.high, "eps": choice.eps, "dtype": choice.dtype}
    if choice.mapping == "ASYMMETRIC":
        return quantized_decomposed.choose_qparams(input, **attributes)
    unsigned_byte = choice.dtype.is_unsigned and choice.dtype.width == 8
    if choice.mapping == "SYMMETRIC" and choice.middle == (128 if unsigned_byte else 0):
        return quantized_decomposed.choose_qparams_symmetric(input, **attributes)
    return None


def _arithmetic(call: Call, choice: _Choice) -> tuple[ir.Value, ir.Value]:
    least, most = _extremes(call)
    if choice.mapping == "ASYMMETRIC":
        extent = _aten("sub.Tensor", most, least, scalar(1))
        scale = _at_least(_divided(extent, float(choice.high - choice.low)), choice.eps)
        steps = _aten("round", _aten("div.Tensor", least, scale))
        zero_point = _aten("rsub.Scalar", steps, scalar(choice.low), scalar(1))
        return scale, _aten("clamp", zero_point, scalar(choice.low), scalar(choice.high))
    if choice.mapping == "SYMMETRIC":
        magnitude = _aten("maximum", _aten("neg", least), most)
        scale = _divided(magnitude, (choice.high - choice.low) / 2)
    else:
        scale = _aten("maximum", _divided(least, float(choice.low)), _divided(most, float(choice.high)))
    shape = tensor_types.shape(scale.type)
    operands = [integer_list(shape), scalar(choice.middle), scalar(None), scalar(None), scalar(None), scalar(None)]
    zero_point = ir.Operation.create("torch.aten.full", [scale.type], operands).result
    return _at_least(scale, choice.eps), zero_point


def _extremes(call: Call) -> tuple[ir.Value, ir.Value]:
    """The least and the greatest value of each block, or 0 where all are greater or less."""
    split, reduced, kept = [], [], []
    for size, block in zip(call.shape("input"), call.integers("block_size"), strict=True):
        if 1 < block < size:
            split.append(size // block)
            kept.append(size // block)
        elif block == 1:
            kept.append(size)
        if block > 1:
            reduced.append(len(split))
        split.append(size if block in (1, size) else block)
    values = reshaped(call.value("input"), split)
    type_ = tensor_types.torch_tensor(tuple(kept), tensor_types.element_type(values.type))
    operands = [values, integer_list(reduced), scalar(False)]
    least, most = (ir.Operation.create(f"torch.aten.{name}", [type_], operands).result for name in ("amin", "amax"))
    return _aten("clamp", least, scalar(None), scalar(0.0)), _aten("clamp", most, scalar(0.0), scalar(None))


def _at_least(value: ir.Value, bound: float) -> ir.Value:
    return _aten("clamp", value, scalar(bound), scalar(None))


def _divided(value: ir.Value, divisor: float) -> ir.Value:
    return _aten("div.Scalar", value, scalar(divisor))


def _aten(name: str, *operands: ir.Value) -> ir.Value:
    """An operator whose result has the type of its first operand."""
    return ir.Operation.create(f"torch.aten.{name}", [operands[0].type], operands).result


def _as_declared(call: Call, chosen: tuple[ir.Value, ir.Value]) -> tuple[ir.Value, ...]:
    """Scale and zero point in the shapes and types that the call gives them."""
    values = []
    for value, result in zip(chosen, call.operation.results, strict=True):
        shape, element = tensor_types.shape(result.type), tensor_types.element_type(result.type)
        if shape is None or element is None:
            raise call.failure(f"a result has type {result.type}, which says no shape or no element type")
        values.append(reshaped(converted(value, element), shape))
    return tuple(values)


_PARAMETERS = "input mapping_type block_size target_dtype quant_min quant_max eps scale_dtype zero_point_dtype keepdim"

OPERATORS: dict[str, Operator] = {
    "torchao.choose_qparams_affine": Operator(tuple(_PARAMETERS.split()), _choose_qparams_affine)
}
