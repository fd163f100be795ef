# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generics that read a tensor at indices which are known at run time only."""

from dataclasses import dataclass

from torch_mlir import ir

from .patterns import NoMatch
from .scalar_body import body_expression
from .structured import element_type

_INDEX_WIDTHS = 32, 64


@dataclass(frozen=True)
class Gather:
    """`result[..] = source[.., indices[..], ..]`.

    Attributes:
      dimension: of the source, which the indices are positions of.
      indices: i32 or i64; negative ones may count from the end.
      loops: for each dimension of the source the dimensions of the result that it is read along; those of the indices
        for `dimension`, none for one of size 1.
    """

    dimension: int
    indices: ir.Value
    loops: tuple[tuple[int, ...], ...]


def read_tensor(generic: ir.Operation) -> ir.Value | None:
    """The tensor from outside of which the body of a generic yields an element, as it is."""
    if generic.name != "linalg.generic" or len(generic.results) != 1:
        return None
    match body_expression(generic):
        case ("tensor.extract", ("outer", source), *_):
            return source
    return None


def match_gather(generic: ir.Operation) -> Gather | None:
    """The gather that a generic with a `read_tensor` is; None if all its positions are constant.

    Raises:
      NoMatch: it reads at run-time positions in a way that no gather does.
    """
    _, _, *positions = body_expression(generic)
    shape = ir.RankedTensorType(read_tensor(generic).type).shape
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"])]
    found, loops = [], []
    for d, position in enumerate(positions):
        match _before_wrap_in_body(position, shape[d]):
            case ("index", loop):
                loops.append((loop,))
            case ("const", 0) if shape[d] == 1:
                loops.append(())
            case ("arith.index_cast", ("arg", argument)):
                found.append((d, argument))
                loops.append(_loops_of(maps[argument]))
            case _:
                return None
    if not found or maps[-1] != ir.AffineMap.get_identity(maps[-1].n_dims):
        return None
    used = [loop for each in loops for loop in each]
    if len(found) > 1 or len(set(used)) != len(used):
        raise NoMatch("elements are read at several run-time indices each")
    ((dimension, argument),) = found
    indices = _before_wrap(generic.operands[argument], shape[dimension])
    if element_type(indices).width not in _INDEX_WIDTHS or loops[dimension] != tuple(sorted(loops[dimension])):
        raise NoMatch(f"indices of type {indices.type} have no gather")
    return Gather(dimension, indices, tuple(loops))


def _loops_of(affine_map: ir.AffineMap) -> tuple[int, ...]:
    if not all(isinstance(each, ir.AffineDimExpr) for each in affine_map.results):
        raise NoMatch("the run-time indices are broadcast")
    return tuple(ir.AffineDimExpr(each).position for each in affine_map.results)


def _before_wrap_in_body(position: tuple, size: int) -> tuple:
    """`x` of `x < 0 ? x + size : x`; any other expression as it is."""
    match position:
        case (
            "arith.index_cast",
            ("arith.select", ("arith.cmpi", "slt", x, ("const", 0)), ("arith.addi", y, added), z),
        ):
            if x == y == z and added == ("const", size):
                return "arith.index_cast", x
    return position


def _before_wrap(value: ir.Value, size: int) -> ir.Value:
    """The same of a tensor, computed by three generics and reshaped."""
    if isinstance(value.owner, ir.Block):
        return value
    operation = value.owner.operation
    if operation.name in ("tensor.collapse_shape", "tensor.expand_shape"):
        source = _before_wrap(operation.operands[0], size)
        if source == operation.operands[0]:
            return value
        with ir.InsertionPoint(operation), operation.location:
            attributes = {name: operation.attributes[name] for name in operation.attributes}
            return ir.Operation.create(operation.name, [operation.results[0].type], [source], attributes).result
    if operation.name != "linalg.generic" or len(operation.operands) != 4:
        return value
    negative, wrapped, plain = list(operation.operands)[:3]
    if body_expression(operation) != ("arith.select", ("arg", 0), ("arg", 1), ("arg", 2)):
        return value
    match _computed_from(plain, negative), _computed_from(plain, wrapped):
        case (
            ("arith.cmpi", "slt", ("arg", 0) | ("arith.extsi", ("arg", 0)), ("const", 0)),
            ("arith.addi", ("arg", 0), ("const", added)),
        ) if added == size:
            return plain
    return value


def _computed_from(source: ir.Value, value: ir.Value) -> tuple:
    """What a generic of `source` alone computes."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "linalg.generic":
        return ()
    generic = value.owner.operation
    return body_expression(generic) if len(generic.operands) == 2 and generic.operands[0] == source else ()
