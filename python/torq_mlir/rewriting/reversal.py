# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors read backwards along some dimensions, as torch-mlir writes aten.flip."""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from .scalar_body import body_expression
from .structured import PARALLEL, build_generic, empty_like, index_constant


@dataclass(frozen=True)
class Reversal:
    """`source` read backwards along `dimensions`."""

    source: ir.Value
    dimensions: list[int]

    def build(self, value: ir.Value) -> ir.Value:
        """The same of a tensor of the shape of the source."""
        shaped = ir.RankedTensorType(value.type)

        def body(_: ir.Value) -> ir.Value:
            indices = [linalg.IndexOp(d).result for d in range(shaped.rank)]
            for d in self.dimensions:
                indices[d] = arith.subi(index_constant(shaped.shape[d] - 1), indices[d])
            return tensor.extract(value, indices)

        maps = [ir.AffineMap.get_identity(shaped.rank)]
        return build_generic([], empty_like(value, shaped.element_type), maps, [PARALLEL] * shaped.rank, body)


def match_reversal(value: ir.Value) -> Reversal | None:
    """The reversal that defines `value`."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return None
    generic = value.owner.operation
    match body_expression(generic):
        case ("tensor.extract", ("outer", source), *indices) if source.type == value.type:
            pass
        case _:
            return None
    dimensions = []
    for d, (index, size) in enumerate(zip(indices, ir.RankedTensorType(value.type).shape, strict=True)):
        match index:
            case ("index", loop) if loop == d:
                continue
            case ("const", 0) if size == 1:
                continue
            case ("arith.subi", ("const", last), ("index", loop)) if loop == d and last == size - 1:
                dimensions.append(d)
            case _:
                return None
    return Reversal(source, dimensions) if dimensions else None
