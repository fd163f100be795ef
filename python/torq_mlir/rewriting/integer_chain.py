# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data movement between a dequantization and its use, redone on the integers."""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import linalg

from ..dialects import elements
from .qparams import Dequantize, match_dequantize

MOVEMENTS = "tensor.expand_shape", "tensor.collapse_shape", "linalg.transpose"


@dataclass(frozen=True)
class IntegerChain:
    """A dequantization and the data movement that follows it.

    Attributes:
      dequantize: the dequantization.
      steps: tensor.pad with zero, tensor.expand_shape, tensor.collapse_shape and linalg.transpose, in order.
    """

    dequantize: Dequantize
    steps: tuple[ir.Operation, ...]

    def build(self) -> ir.Value:
        """The moved integers: a constant when the source is one, otherwise the same operations on the integers."""
        constant = elements.constant_value(self.dequantize.input)
        if constant is not None and not any(step.name == "tensor.pad" for step in self.steps):
            return self.dequantize.input if not self.steps else _constant(self.move(constant))
        value = self.dequantize.input
        for step in self.steps:
            if step.name == "tensor.pad":
                value = rebuild_pad(step, value, int(self.dequantize.zero_point))
            else:
                value = rebuild_movement(step, value)
        return value

    def constant(self) -> np.ndarray | None:
        """The moved integers when they are constant."""
        constant = elements.constant_value(self.dequantize.input)
        return None if constant is None else self.move(constant)

    def parameter(self, values: np.ndarray) -> np.ndarray:
        """A scale or zero point, moved along: it broadcasts against the moved integers."""
        axis = self.dequantize.axis
        if axis is None:
            return values
        shape = ir.RankedTensorType(self.dequantize.input.type).shape
        values = values.reshape([-1 if d == axis else 1 for d in range(len(shape))])
        return self.move(np.broadcast_to(values, shape)) if self.steps else values

    def move(self, array: np.ndarray) -> np.ndarray:
        """The data movement on a numpy array of the source's shape."""
        for step in self.steps:
            array = move_array(step, array)
        return array


def move_array(step: ir.Operation, array: np.ndarray) -> np.ndarray:
    """A reshape or linalg.transpose on a numpy array."""
    if step.name == "linalg.transpose":
        return array.transpose(list(ir.DenseI64ArrayAttr(step.attributes["permutation"])))
    return array.reshape(ir.RankedTensorType(step.results[0].type).shape)


def match_integer_chain(value: ir.Value) -> IntegerChain | None:
    """The chain that ends in `value`; padding only when per tensor."""
    steps: list[ir.Operation] = []
    while (dequantize := match_dequantize(value)) is None:
        if isinstance(value.owner, ir.Block):
            return None
        step = value.owner.operation
        if step.name not in MOVEMENTS and pad_value(step) != 0.0:
            return None
        steps.insert(0, step)
        value = step.operands[0]
    if dequantize.axis is not None and any(step.name == "tensor.pad" for step in steps):
        return None
    return IntegerChain(dequantize, tuple(steps))


def pad_value(operation: ir.Operation) -> float | None:
    """The constant that a tensor.pad pads with, None for other operations and other paddings."""
    if operation.name != "tensor.pad":
        return None
    block = operation.regions[0].blocks[0]
    constant = elements.constant_value(block.operations[len(block.operations) - 1].operands[0])
    return None if constant is None else constant.item()


def pad_amounts(operation: ir.Operation) -> tuple[list[int], list[int]] | None:
    """Static low and high padding of each dimension of a tensor.pad."""
    amounts = [list(ir.DenseI64ArrayAttr(operation.attributes[name])) for name in ("static_low", "static_high")]
    return None if any(amount < 0 for side in amounts for amount in side) else (amounts[0], amounts[1])


def _constant(array: np.ndarray) -> ir.Value:
    return ir.Operation.create(
        "arith.constant",
        results=[ir.RankedTensorType.get(array.shape, elements.element_type(array.dtype))],
        attributes={"value": elements.from_numpy(array)},
    ).result


def _result_type(step: ir.Operation, value: ir.Value) -> ir.Type:
    shape = ir.RankedTensorType(step.results[0].type).shape
    return ir.RankedTensorType.get(shape, ir.RankedTensorType(value.type).element_type)


def rebuild_movement(step: ir.Operation, value: ir.Value) -> ir.Value:
    """The reshape, slice or transpose `step` on `value`, whose element type it takes."""
    result_type = _result_type(step, value)
    attributes = {name: step.attributes[name] for name in step.attributes}
    operands = [value, *list(step.operands)[1:]]
    if step.name == "linalg.transpose":
        empty = ir.Operation.create("tensor.empty", results=[result_type], loc=step.location).result
        moved = linalg.transpose(value, outs=[empty], permutation=attributes["permutation"])
        return moved.operation.results[0]
    moved = ir.Operation.create(
        step.name, results=[result_type], operands=operands, attributes=attributes, loc=step.location
    )
    return moved.result


def rebuild_pad(step: ir.Operation, value: ir.Value, padding: int) -> ir.Value:
    """The tensor.pad `step` on `value`, whose element type it takes, with another padding."""
    element = ir.RankedTensorType(value.type).element_type
    constant = ir.Operation.create(
        "arith.constant",
        results=[element],
        attributes={"value": ir.IntegerAttr.get(element, padding)},
        loc=step.location,
    ).result
    attributes = {name: step.attributes[name] for name in step.attributes}
    operands = [value, *list(step.operands)[1:]]
    padded = ir.Operation.create(
        "tensor.pad",
        results=[_result_type(step, value)],
        operands=operands,
        attributes=attributes,
        regions=1,
        loc=step.location,
    )
    rank = ir.RankedTensorType(value.type).rank
    block = padded.regions[0].blocks.append(*[ir.IndexType.get()] * rank, arg_locs=[step.location] * rank)
    with ir.InsertionPoint(block):
        ir.Operation.create("tensor.yield", operands=[constant], loc=step.location)
    return padded.result
