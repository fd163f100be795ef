# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data movement between a dequantization and its use, redone on the integers."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg

from ..dialects import elements
from .qparams import Dequantize, match_dequantize
from .run_time_qparams import RunTimeDequantize
from .scalar_body import body_expression, evaluate_indices
from .structured import PARALLEL, build_generic

MOVEMENTS = "tensor.expand_shape", "tensor.collapse_shape", "linalg.transpose"
_INTO_ZEROS = "tensor.pad", "tensor.insert_slice"


@dataclass(frozen=True)
class IntegerChain:
    """A dequantization and the data movement that follows it.

    Attributes:
      dequantize: the dequantization.
      steps: tensor.pad and tensor.insert_slice into zeros, tensor.expand_shape, tensor.collapse_shape,
        linalg.transpose, generics that repeat a tensor along new dimensions, and generics that pick elements of a
        constant, in order.
    """

    dequantize: Dequantize | RunTimeDequantize
    steps: tuple[ir.Operation, ...]

    def build(self) -> ir.Value:
        """The moved integers: a constant when the source is one, otherwise the same operations on the integers."""
        constant = elements.constant_value(self.dequantize.input)
        if constant is not None and not self.pads:
            return self.dequantize.input if not self.steps else _constant(self.move(constant))
        return self.rebuild(self.dequantize.input, int(self.dequantize.zero_point) if self.pads else 0)

    def rebuild(self, value: ir.Value, padding: int | ir.Value) -> ir.Value:
        """The same operations on another tensor, which is padded with an integer or a scalar of its element type."""
        for step in self.steps:
            if step.name == "tensor.pad":
                value = rebuild_pad(step, value, padding)
            elif step.name == "tensor.insert_slice":
                value = _rebuild_insert(step, value, padding)
            else:
                value = rebuild_movement(step, value)
        return value

    @property
    def pads(self) -> bool:
        """Whether the movement puts zeros around or between the elements."""
        return any(step.name in _INTO_ZEROS for step in self.steps)

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
    """A reshape, linalg.transpose, repeating or picking generic on a numpy array."""
    repeated = repeated_dims(step)
    if repeated is not None:
        shape = ir.RankedTensorType(step.results[0].type).shape
        return np.broadcast_to(array.reshape([n if d in repeated else 1 for d, n in enumerate(shape)]), shape)
    if step.name == "linalg.generic":
        _, indices = _match_picking(step)
        return array[indices]
    if step.name == "linalg.transpose":
        return array.transpose(list(ir.DenseI64ArrayAttr(step.attributes["permutation"])))
    return array.reshape(ir.RankedTensorType(step.results[0].type).shape)


def match_integer_chain(
    value: ir.Value,
    match: Callable[[ir.Value], Dequantize | RunTimeDequantize | None] = match_dequantize,
) -> IntegerChain | None:
    """The chain that ends in `value`, from a dequantization that `match` knows; padding only when per tensor."""
    steps: list[ir.Operation] = []
    while (dequantize := match(value)) is None:
        if isinstance(value.owner, ir.Block):
            return None
        step = value.owner.operation
        source = _source(step)
        if source is None:
            return None
        steps.insert(0, step)
        value = source
    names = {step.name for step in steps}
    if dequantize.axis is not None and names & set(_INTO_ZEROS):
        return None
    picks = any(step.name == "linalg.generic" and repeated_dims(step) is None for step in steps)
    if picks and (names & set(_INTO_ZEROS) or elements.constant_value(dequantize.input) is None):
        return None
    return IntegerChain(dequantize, tuple(steps))


def _source(step: ir.Operation) -> ir.Value | None:
    """What a step moves."""
    if step.name in MOVEMENTS or pad_value(step) == 0.0 or inserted_into(step) == 0.0:
        return step.operands[0]
    if repeated_dims(step) is not None:
        return step.operands[0]
    picking = _match_picking(step) if step.name == "linalg.generic" else None
    return None if picking is None else picking[0]


def repeated_dims(generic: ir.Operation) -> list[int] | None:
    """The dimensions of the result, in order, that a linalg.generic which repeats its operand takes from that."""
    if generic.name != "linalg.generic" or len(generic.operands) != 2 or body_expression(generic) != ("arg", 0):
        return None
    source, target = (ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"]))
    if target != ir.AffineMap.get_identity(target.n_dims):
        return None
    dims = [e.position for e in source.results if isinstance(e, ir.AffineDimExpr)]
    return dims if len(dims) == len(source.results) and dims == sorted(set(dims)) else None


def _match_picking(generic: ir.Operation) -> tuple[ir.Value, tuple[np.ndarray, ...]] | None:
    """`(source, indices)` of a generic without inputs that reads another tensor at indices computed from its own."""
    if len(generic.operands) != 1:
        return None
    match body_expression(generic):
        case ("tensor.extract", ("outer", source), *expressions):
            shape = ir.RankedTensorType(generic.results[0].type).shape
            indices = [evaluate_indices(expression, shape) for expression in expressions]
            if all(index is not None for index in indices):
                return source, tuple(np.broadcast_to(index, shape) for index in indices)
    return None


def inserted_into(operation: ir.Operation) -> float | None:
    """The number that the destination of a tensor.insert_slice is filled with, None for others."""
    if operation.name != "tensor.insert_slice" or isinstance(operation.operands[1].owner, ir.Block):
        return None
    fill = operation.operands[1].owner.operation
    constant = elements.constant_value(fill.operands[0]) if fill.name == "linalg.fill" else None
    return None if constant is None else constant.item()


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


def insert_amounts(operation: ir.Operation) -> tuple[list[int], list[int]] | None:
    """A tensor.insert_slice without gaps as low and high padding of each dimension."""
    names = ("static_offsets", "static_sizes", "static_strides")
    offsets, sizes, strides = (list(ir.DenseI64ArrayAttr(operation.attributes[name])) for name in names)
    source, result = (ir.RankedTensorType(value.type) for value in (operation.operands[0], operation.results[0]))
    if any(stride != 1 for stride in strides) or min(offsets) < 0 or sizes != source.shape:
        return None
    return offsets, [whole - part - low for whole, part, low in zip(result.shape, sizes, offsets, strict=True)]


def _constant(array: np.ndarray) -> ir.Value:
    return ir.Operation.create(
        "arith.constant",
        results=[ir.RankedTensorType.get(array.shape, elements.element_type(array.dtype))],
        attributes={"value": elements.from_numpy(array)},
    ).result


def _result_type(step: ir.Operation, value: ir.Value) -> ir.RankedTensorType:
    shape = ir.RankedTensorType(step.results[0].type).shape
    return ir.RankedTensorType.get(shape, ir.RankedTensorType(value.type).element_type)


def rebuild_movement(step: ir.Operation, value: ir.Value) -> ir.Value:
    """The reshape, slice, transpose or repetition `step` on `value`, whose element type it takes."""
    result_type = _result_type(step, value)
    if step.name == "linalg.generic":
        maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(step.attributes["indexing_maps"])]
        empty = ir.Operation.create("tensor.empty", results=[result_type], loc=step.location).result
        with step.location:
            return build_generic([value], empty, maps, [PARALLEL] * len(result_type.shape), lambda x, _: x)
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


def _rebuild_insert(step: ir.Operation, value: ir.Value, filling: int | ir.Value) -> ir.Value:
    element = ir.RankedTensorType(value.type).element_type
    result_type = _result_type(step, value)
    number = arith.constant(element, filling) if isinstance(filling, int) else filling
    destination = linalg.fill(number, outs=[ir.Operation.create("tensor.empty", results=[result_type]).result])
    attributes = {name: step.attributes[name] for name in step.attributes}
    operands = [value, destination, *list(step.operands)[2:]]
    return ir.Operation.create(step.name, [result_type], operands, attributes, loc=step.location).result


def rebuild_pad(step: ir.Operation, value: ir.Value, padding: int | ir.Value) -> ir.Value:
    """The tensor.pad `step` on `value`, whose element type it takes, with another padding."""
    element = ir.RankedTensorType(value.type).element_type
    number = arith.constant(element, padding, loc=step.location) if isinstance(padding, int) else padding
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
        ir.Operation.create("tensor.yield", operands=[number], loc=step.location)
    return padded.result
