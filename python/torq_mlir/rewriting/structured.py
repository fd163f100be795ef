# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builders of linalg.generic and of what surrounds it, at the current insertion point."""

import math
from collections.abc import Callable, Iterable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

PARALLEL = linalg.IteratorType.parallel
REDUCTION = linalg.IteratorType.reduction


def build_generic(
    inputs: Sequence[ir.Value],
    init: ir.Value,
    maps: Sequence[ir.AffineMap],
    iterator_types: Sequence[linalg.IteratorType],
    body: Callable[..., ir.Value],
) -> ir.Value:
    """linalg.generic with one result, of the type of `init` (none when `init` is a memref).

    Args:
      maps: one for each input and one for `init`.
      body: called with the elements of the inputs and of `init`; returns the element of the result.
    """
    results = build_generics(inputs, [init], maps, iterator_types, lambda *elements: [body(*elements)])
    return results[0] if results else None


def build_generics(
    inputs: Sequence[ir.Value],
    inits: Sequence[ir.Value],
    maps: Sequence[ir.AffineMap],
    iterator_types: Sequence[linalg.IteratorType],
    body: Callable[..., Sequence[ir.Value]],
) -> list[ir.Value]:
    """As `build_generic` with a result for each of several `inits`; `body` returns an element of each."""
    results = [init.type for init in inits if isinstance(init.type, ir.RankedTensorType)]
    map_attributes = ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps])
    generic = linalg.GenericOp(results, inputs, inits, map_attributes, iterator_types)
    block = generic.regions[0].blocks.append(*(element_type(value) for value in (*inputs, *inits)))
    with ir.InsertionPoint(block):
        linalg.yield_(body(*block.arguments))
    return list(generic.results)


def clone_body(operations: Iterable[ir.Operation], mapping: dict[ir.Value, ir.Value]) -> None:
    """Copies of operations at the current insertion point; operands are replaced as `mapping` says, which grows."""
    for operation in operations:
        clone = operation.operation.clone()
        for index, operand in enumerate(operation.operands):
            clone.operation.operands[index] = mapping.get(operand, operand)
        mapping |= zip(operation.results, clone.operation.results, strict=True)


def build_elementwise(inputs: Sequence[ir.Value], init: ir.Value, body: Callable[..., ir.Value]) -> ir.Value:
    """linalg.generic that is parallel in every dimension of `init`; inputs broadcast to it as numpy's do.

    The body is called with the elements of the inputs alone.
    """
    shape = ir.ShapedType(init.type).shape
    maps = [broadcast_map(ir.ShapedType(value.type).shape, shape) for value in inputs]
    maps.append(ir.AffineMap.get_identity(len(shape)))
    return build_generic(inputs, init, maps, [PARALLEL] * len(shape), lambda *elements: body(*elements[:-1]))


def broadcast_map(shape: Sequence[int], target: Sequence[int]) -> ir.AffineMap:
    """Map from the indices of a tensor of shape `target` to those of one of `shape`: aligned right, 1 stretches."""
    offset = len(target) - len(shape)
    expressions = [
        ir.AffineExpr.get_constant(0) if size == 1 and target[d + offset] != 1 else ir.AffineExpr.get_dim(d + offset)
        for d, size in enumerate(shape)
    ]
    return ir.AffineMap.get(len(target), 0, expressions)


def projection(rank: int, dimensions: Sequence[int]) -> ir.AffineMap:
    """Map from `rank` loops to those of `dimensions`, in that order."""
    return ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(d) for d in dimensions])


def sizes(value: ir.Value) -> list[int | ir.Value]:
    """Extents of a tensor: integers where static, tensor.dim where dynamic."""
    shaped = ir.RankedTensorType(value.type)
    return [
        tensor.dim(value, index_constant(d)) if shaped.is_dynamic_dim(d) else shaped.shape[d]
        for d in range(shaped.rank)
    ]


def empty_like(value: ir.Value, element: ir.Type) -> ir.Value:
    """tensor.empty of the shape of `value`."""
    return tensor.empty(sizes(value), element)


def scalar_of(value: ir.Value) -> ir.Value:
    """The element of a tensor that has one; a scalar as it is."""
    if not isinstance(value.type, ir.RankedTensorType):
        return value
    return tensor.extract(value, [index_constant(0) for _ in range(ir.RankedTensorType(value.type).rank)])


def element_type(value: ir.Value) -> ir.Type:
    """Element type of a tensor or memref; the type of a scalar."""
    return value.type.element_type if isinstance(value.type, ir.ShapedType) else value.type


def scalar_constant(type_: ir.Type, value: float) -> ir.Value:
    """arith.constant of an integer or float type."""
    if isinstance(type_, ir.IntegerType):
        return arith.constant(type_, int(value))
    return arith.constant(type_, float(value))


def index_constant(value: int) -> ir.Value:
    """arith.constant of index type."""
    return arith.constant(ir.IndexType.get(), value)


def integer_type(width: int) -> ir.IntegerType:
    """The signless integer type of `width` bits."""
    return ir.IntegerType.get_signless(width)


def extend(value: ir.Value, target: ir.IntegerType, unsigned: bool = False) -> ir.Value:
    """The integer in a type at least as wide."""
    if value.type == target:
        return value
    return arith.extui(target, value) if unsigned else arith.extsi(target, value)


def integer_to_float(value: ir.Value, target: ir.Type, unsigned: bool = False) -> ir.Value:
    """The float nearest to an integer."""
    return arith.uitofp(target, value) if unsigned else arith.sitofp(target, value)


def convert_float(value: ir.Value, target: ir.Type) -> ir.Value:
    """The float in another float type; from f64 to a 16-bit type by way of f32, as PyTorch and numpy's bfloat16 do."""
    if value.type == target:
        return value
    source_width, target_width = ir.FloatType(value.type).width, ir.FloatType(target).width
    if target_width == 16 and source_width != 32:
        value = convert_float(value, ir.F32Type.get())
        source_width = 32
    return arith.extf(target, value) if source_width < target_width else arith.truncf(target, value)


def reshape(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    """A static reshape: an expansion or a collapse where one is enough, else a collapse to one dimension in between."""
    source = ir.RankedTensorType(value.type).shape
    if source == list(shape):
        return value
    groups = None if len(source) == len(shape) else _groups(*sorted((source, shape), key=len))
    if groups is not None:
        return _regroup(value, shape, groups)
    flat = _regroup(value, [math.prod(source)], [range(len(source))])
    return _regroup(flat, shape, [range(len(shape))])


def pad_with(value: ir.Value, low: Sequence[int], high: Sequence[int], fill: int) -> ir.Value:
    """tensor.pad of static amounts with one value; the tensor itself when there is nothing to add."""
    if not any(low) and not any(high):
        return value
    shaped = ir.RankedTensorType(value.type)
    shape = [
        size if shaped.is_dynamic_dim(d) else before + size + after
        for d, (before, size, after) in enumerate(zip(low, shaped.shape, high, strict=True))
    ]
    result = ir.RankedTensorType.get(shape, shaped.element_type)
    padding = scalar_constant(shaped.element_type, fill)
    pad = tensor.PadOp(result, value, [], [], low, high)
    block = pad.regions[0].blocks.append(*[ir.IndexType.get()] * shaped.rank)
    with ir.InsertionPoint(block):
        tensor.yield_(padding)
    return pad.result


def reassociation(reshape: ir.Operation) -> list[list[int]]:
    """Dimensions of the longer shape for each one of the shorter, of tensor.collapse_shape or tensor.expand_shape."""
    groups = ir.ArrayAttr(reshape.attributes["reassociation"])
    return [[ir.IntegerAttr(d).value for d in ir.ArrayAttr(group)] for group in groups]


def _groups(short: Sequence[int], long: Sequence[int]) -> list[list[int]] | None:
    """Consecutive dimensions of the long shape whose product each one of the short shape is; None if it is none."""
    groups: list[list[int]] = []
    rest = list(range(len(long)))
    for size in short:
        if not rest:
            return None
        group = [rest.pop(0)]
        while rest and math.prod(long[d] for d in group) < size:
            group.append(rest.pop(0))
        if math.prod(long[d] for d in group) != size:
            return None
        groups.append(group)
    if any(long[d] != 1 for d in rest):
        return None
    if groups:
        groups[-1] += rest
    return groups


def _regroup(value: ir.Value, shape: Sequence[int], groups: Sequence[Sequence[int]]) -> ir.Value:
    source = ir.RankedTensorType(value.type)
    i64 = ir.IntegerType.get_signless(64)
    expands = len(shape) > source.rank
    attributes = {
        "reassociation": ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, d) for d in g]) for g in groups])
    }
    if expands:
        attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(list(shape))
    result = ir.RankedTensorType.get(shape, source.element_type)
    name = "tensor.expand_shape" if expands else "tensor.collapse_shape"
    return ir.Operation.create(name, [result], [value], attributes).result
