# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that move the elements of one tensor: reshapes and permutations, of torch and of builtin tensors."""

import math
from collections.abc import Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from torq_mlir.dialects import elements, tensor_types
from torq_mlir.dialects.tensor_types import Shape

from .operations import QuantizationOp

_PERMUTATIONS = (
    "linalg.transpose",
    "torch.aten.numpy_T",
    "torch.aten.permute",
    "torch.aten.t",
    "torch.aten.transpose.int",
)
RESHAPES = (
    "tensor.collapse_shape",
    "tensor.expand_shape",
    "torch.aten.flatten.using_ints",
    "torch.aten.reshape",
    "torch.aten.squeeze",
    "torch.aten.squeeze.dim",
    "torch.aten.unflatten.int",
    "torch.aten.unsqueeze",
    "torch.aten.view",
    "torch.prims.collapse",
    "torch.prims.squeeze",
)
MOVEMENTS = _PERMUTATIONS + RESHAPES


class Movement:
    """A reshape or permutation.

    Attributes:
      operation: the operation.
      source, result: the tensor that is moved, and the moved one.
    """

    def __init__(self, operation: ir.Operation) -> None:
        self.operation = operation
        self.source = operation.operands[0]
        self.result = operation.results[0]

    @property
    def source_shape(self) -> Shape | None:
        return tensor_types.shape(self.source.type)

    @property
    def result_shape(self) -> Shape | None:
        return tensor_types.shape(self.result.type)

    def permutation(self) -> list[int] | None:
        """Dimension d of the result is dimension permutation[d] of the source; None for other movements.

        A permutation whose dimensions are not constant has none either.
        """
        if self.operation.name not in _PERMUTATIONS or self.source_shape is None:
            return None
        rank = len(self.source_shape)
        order = list(range(rank))
        if self.operation.name == "linalg.transpose":
            return list(ir.DenseI64ArrayAttr(self.operation.attributes["permutation"]))
        if self.operation.name in ("torch.aten.t", "torch.aten.numpy_T"):
            return order[::-1]
        if self.operation.name == "torch.aten.permute":
            dimensions = constant_ints(self.operation.operands[1])
            return None if dimensions is None else [dimension % rank for dimension in dimensions]
        swapped = [constant_int(value) for value in list(self.operation.operands)[1:3]]
        if None in swapped:
            return None
        first, second = (dimension % rank for dimension in swapped)
        order[first], order[second] = order[second], order[first]
        return order

    def result_axis(self, axis: int) -> int | None:
        """Where dimension `axis` of the source is in the result; None when it is split or merged with others."""
        if self.operation.name in _PERMUTATIONS:
            permutation = self.permutation()
            return None if permutation is None else permutation.index(axis)
        return _corresponding_axis(axis, self.source_shape, self.result_shape)

    def source_axis(self, axis: int) -> int | None:
        """Where dimension `axis` of the result is in the source; None when it is split or merged with others."""
        if self.operation.name in _PERMUTATIONS:
            permutation = self.permutation()
            return None if permutation is None else permutation[axis]
        return _corresponding_axis(axis, self.result_shape, self.source_shape)

    def moves(self, dequantization: QuantizationOp) -> bool:
        """Whether a dequantize moves behind at all, wherever its axis is."""
        return True

    def single_index(self, axis: int) -> int | None:
        """The index along dimension `axis` of the source that all elements of the result have; None for several."""
        return 0 if self.source_shape is not None and self.source_shape[axis] == 1 else None

    def picks_along(self, axis: int) -> bool:
        """Whether dimension `axis` of the source loses elements."""
        return False

    def rebuild(self, value: ir.Value, shape: Shape | None = None) -> ir.Value:
        """The movement of another tensor of the shape of the source, at the current insertion point.

        Args:
          shape: that of the result, when it differs because that of the tensor does.
        """
        operation = self.operation
        element = tensor_types.element_type(value.type)
        result = tensor_types.with_shape(self.result.type, self.result_shape if shape is None else shape, element)
        if operation.name == "linalg.transpose":
            init = self._init(result)
            return linalg.transpose(value, outs=[init], permutation=self.permutation()).operation.results[0]
        attributes = {name: operation.attributes[name] for name in operation.attributes}
        operands = [value, *list(operation.operands)[1:]]
        return ir.Operation.create(operation.name, [result], operands, attributes).result

    def _init(self, result: ir.RankedTensorType, position: int = 1) -> ir.Value:
        """What an operation of linalg writes to: of the shape of its present init, whose values are not read."""
        present = self.operation.operands[position]
        sizes = [
            tensor.dim(present, arith.constant(ir.IndexType.get(), d)) if result.is_dynamic_dim(d) else result.shape[d]
            for d in range(result.rank)
        ]
        return tensor.empty(sizes, result.element_type)

    def rebuild_constant(self, array: np.ndarray) -> ir.Value | None:
        """The moved constant, at the current insertion point; None when the movement is not known exactly."""
        if self.operation.name in _PERMUTATIONS:
            permutation = self.permutation()
            if permutation is None:
                return None
            moved = array.transpose(permutation)
        elif self.result_shape is None or None in self.result_shape:
            return None
        else:
            moved = array.reshape(self.result_shape)
        value = elements.from_numpy(np.ascontiguousarray(moved), tensor_types.element_type(self.source.type))
        if tensor_types.is_torch_tensor(self.source.type):
            return elements.torch_literal(value, self.result.type)
        return arith.constant(None, value)


def _corresponding_axis(axis: int, source: Shape | None, result: Shape | None) -> int | None:
    """The dimension of `result` that a reshape makes of dimension `axis` of `source` alone."""
    if source is None or result is None or None in source or None in result:
        return None
    before = math.prod(source[:axis])
    for candidate, size in enumerate(result):
        if size == source[axis] and math.prod(result[:candidate]) == before:
            return candidate
    return None


def constant_int(value: ir.Value) -> int | None:
    """The value of a `torch.constant.int`."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "torch.constant.int":
        return None
    return ir.IntegerAttr(value.owner.operation.attributes["value"]).value


def constant_ints(value: ir.Value) -> Sequence[int] | None:
    """The values of a list of `torch.constant.int`."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "torch.prim.ListConstruct":
        return None
    values = [constant_int(operand) for operand in value.owner.operation.operands]
    return None if None in values else values


def int_list(values: Sequence[int]) -> ir.Value:
    """A list of `torch.constant.int`, at the current insertion point."""
    integers = [int_constant(value) for value in values]
    return ir.Operation.create("torch.prim.ListConstruct", [ir.Type.parse("!torch.list<int>")], integers).result


def int_constant(value: int) -> ir.Value:
    """A `torch.constant.int`, at the current insertion point."""
    attributes = {"value": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)}
    return ir.Operation.create("torch.constant.int", [ir.Type.parse("!torch.int")], [], attributes).result


def float_constant(value: float) -> ir.Value:
    """A `torch.constant.float`, at the current insertion point."""
    attributes = {"value": ir.FloatAttr.get(ir.F64Type.get(), value)}
    return ir.Operation.create("torch.constant.float", [ir.Type.parse("!torch.float")], [], attributes).result


def view(value: ir.Value, shape: Shape) -> ir.Value:
    """A reshape of a torch tensor to a static shape, at the current insertion point."""
    result = tensor_types.torch_tensor(shape, tensor_types.element_type(value.type))
    return ir.Operation.create("torch.aten.view", [result], [value, int_list(shape)]).result
