# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a loop over groups takes of tensors in each of its iterations."""

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements


class GroupSlices:
    """Of a loop over `groups`; without a loop, whole tensors are those of the only group."""

    def __init__(self, groups: int = 1, group: ir.Value | None = None) -> None:
        """Takes the induction variable."""
        self._groups, self._group = groups, group

    @classmethod
    def of(cls, loop: ir.Operation) -> "GroupSlices | None":
        """None where the bounds of an scf.for are not 0 and a constant."""
        bounds = [elements.constant_value(value) for value in list(loop.operands)[:3]]
        if any(bound is None for bound in bounds) or (bounds[0], bounds[2]) != (0, 1):
            return None
        return cls(int(bounds[1]), loop.regions[0].blocks[0].arguments[0])

    def of_constant(self, value: ir.Value) -> np.ndarray | None:
        """A constant [groups, ..], of which `value` is what belongs to a group; or one that all groups share."""
        shared = elements.constant_value(value)
        if shared is not None:
            return np.broadcast_to(shared, (self._groups, *shared.shape))
        slice_ = _contiguous_slice(value)
        constant = None if slice_ is None else elements.constant_value(slice_.operands[0])
        if constant is None or list(slice_.operands)[1:] != [self._group] or len(constant) != self._groups:
            return None
        rest = list(constant.shape[1:])
        is_row = _static(slice_, "offsets")[1:] == [0] * len(rest) and _static(slice_, "sizes") == [1, *rest]
        return constant if is_row and list(ir.RankedTensorType(value.type).shape) == rest else None

    def of_input(self, value: ir.Value) -> ir.Value | None:
        """A tensor of which `value` is the part along the last dimension that belongs to a group."""
        if self._group is None:
            return value
        slice_ = _contiguous_slice(value)
        offset = None if slice_ is None or len(slice_.operands) != 2 else defining(slice_.operands[1], "arith.muli")
        if offset is None:
            return None
        source = slice_.operands[0]
        *rows, _ = ir.RankedTensorType(source.type).shape
        *others, size = _static(slice_, "sizes")
        factors = [elements.constant_value(each) for each in offset.operands if each != self._group]
        if others != rows or any(_static(slice_, "offsets")[:-1]) or len(factors) != 1 or factors[0] != size:
            return None
        return source if ir.RankedTensorType(value.type).shape == [*rows, size] else None


def defining(value: ir.Value, name: str) -> ir.Operation | None:
    """The operation of that name that a value is the result of."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != name:
        return None
    return value.owner.operation


def _contiguous_slice(value: ir.Value) -> ir.Operation | None:
    slice_ = defining(value, "tensor.extract_slice")
    return slice_ if slice_ is not None and set(_static(slice_, "strides")) <= {1} else None


def _static(slice_: ir.Operation, what: str) -> list[int]:
    """Offsets, sizes or strides; a value that no number is where they are known at run time only."""
    return list(ir.DenseI64ArrayAttr(slice_.attributes[f"static_{what}"]))
