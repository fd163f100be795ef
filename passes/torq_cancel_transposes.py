# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torq-cancel-transposes: transposes move behind elementwise operations until they meet others, and cancel there."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from torq_mlir.dialects import elements, torq_hl
from torq_mlir.dialects.locations import fuse
from torq_mlir.rewriting.patterns import NOT_MINE, Pattern, apply_greedily
from torq_mlir.rewriting.structured import element_type, reshape

_TRANSPOSE = "torq_hl.transpose"
# An operation whose result has other dimensions than the value of the source model that it is: dimension d of that
# value is dimension layout[d] of the result.
LAYOUT = "torq_hl.layout"
# How far to look for a transpose that one might cancel with.
_MOST_USERS = 64

# Elementwise operations, and where their tensors begin among the operands; the others are parameters.
_ELEMENTWISE = {
    "torq_hl.act": 1,
    "torq_hl.add": 3,
    "torq_hl.convert": 1,
    "torq_hl.elementwisebinary": 1,
    "torq_hl.fma": 3,
    "torq_hl.identity": 1,
    "torq_hl.mul": 2,
    "torq_hl.select": 1,
    "torq_hl.table": 2,
}


def run(op: ir.Operation) -> None:
    """Move and cancel the transposes inside `op` until nothing changes."""
    apply_greedily(op, PATTERNS)


def compose(operation: ir.Operation, rewriter) -> object:
    """A transpose of a transpose is one; it is none where it changes nothing."""
    permutation, source = _permutation(operation), operation.operands[1]
    inner = _transpose_of(source)
    if inner is not None:
        permutation = [_permutation(inner)[d] for d in permutation]
        source = inner.operands[1]
    elif not _is_view(permutation, _shape(source)):
        return NOT_MINE
    location = operation.location if inner is None else fuse([inner.location, operation.location])
    with ir.InsertionPoint(operation), location:
        rewriter.replace_op(operation, [_transposed(source, permutation)])
    return None


def sink_elementwise(operation: ir.Operation, rewriter) -> object:
    """`f(transpose(x), ..)` becomes `transpose(f(x, ..))`."""
    if operation.name == "torq_hl.fma" and math.prod(_shape(operation.operands[1])) != 1:
        return NOT_MINE  # its channels are a dimension of their own
    if operation.name == "torq_hl.fma" and math.prod(_shape(operation.operands[2])) != 2:
        return NOT_MINE
    return _sink(operation, _ELEMENTWISE[operation.name], rewriter, _rebuild_elementwise)


def sink_concatenation(operation: ir.Operation, rewriter) -> object:
    """A concatenation of tensors that are transposed alike is transposed."""
    return _sink(operation, 0, rewriter, _rebuild_concatenation)


def sink_slice(operation: ir.Operation, rewriter) -> object:
    """A slice of a transposed tensor is a transposed slice."""
    if len(operation.operands) != 1 or len(_shape(operation.results[0])) != len(_shape(operation.operands[0])):
        return NOT_MINE
    return _sink(operation, 0, rewriter, _rebuild_slice)


Rebuild = Callable[[ir.Operation, list[ir.Value], list[int], ir.RankedTensorType], ir.Value]


def _sink(operation: ir.Operation, first: int, rewriter, rebuild: Rebuild) -> object:
    values = list(operation.operands)[first:]
    transposes = list({each: None for each in map(_transpose_of, values) if each is not None})
    result = operation.results[0]
    if not transposes or not ir.RankedTensorType(result.type).has_static_shape:
        return NOT_MINE
    permutation = _permutation(transposes[0])
    if len(permutation) != len(_shape(result)) or not _pays(transposes, result):
        return NOT_MINE
    moved = [_before_transpose(value, permutation) for value in values]
    if any(build is None for build in moved):
        return NOT_MINE
    shape = [0] * len(permutation)
    for d, size in zip(permutation, _shape(result), strict=True):
        shape[d] = size
    with ir.InsertionPoint(operation):
        with operation.location:
            inputs = [build() for build in moved]
            type_ = ir.RankedTensorType.get(shape, element_type(result))
            value = rebuild(operation, inputs, permutation, type_)
            _record_layout(value, operation, permutation)
        with fuse([*(each.location for each in transposes), operation.location]):
            rewriter.replace_op(operation, [torq_hl.transpose(value, perm=permutation)])
    return None


def _pays(transposes: Sequence[ir.Operation], result: ir.Value) -> bool:
    """Whether there are fewer transposes then, at once or when the moved one has met another."""
    # Where transposes use one, it is gone for them.
    others = [{use.owner for use in each.results[0].uses if use.owner.name != _TRANSPOSE} for each in transposes]
    return sum(len(users) == 1 for users in others) > 1 or _meets_transpose(result, _permutation(transposes[0]))


def _meets_transpose(result: ir.Value, permutation: list[int]) -> bool:
    """Whether a transpose uses the result, or an operation on the way that has another operand transposed alike."""
    pending, seen = [result], 0
    while pending and seen < _MOST_USERS:
        value = pending.pop()
        for use in value.uses:
            user, seen = use.owner.operation, seen + 1
            if user.name == _TRANSPOSE:
                return True
            if user.name not in _ROOTS:
                continue
            others = [_transpose_of(operand) for operand in user.operands if operand != value]
            if any(each is not None and _permutation(each) == permutation for each in others):
                return True
            pending.append(user.results[0])
    return False


def _before_transpose(value: ir.Value, permutation: list[int]) -> Callable[[], ir.Value] | None:
    """A builder of what is `value` when it is transposed; None if that takes a transpose of its own."""
    transpose = _transpose_of(value)
    if transpose is not None and _permutation(transpose) == permutation:
        return lambda: transpose.operands[1]
    shape = _shape(value)
    if math.prod(shape) == 1:
        return lambda: value
    inverse = [permutation.index(d) for d in range(len(permutation))]
    constant = elements.constant_value(value)
    if constant is not None:
        extended = constant.reshape([1] * (len(inverse) - constant.ndim) + list(constant.shape))
        moved = np.ascontiguousarray(extended.transpose(inverse))
        return lambda: arith.constant(None, elements.from_numpy(moved, element_type(value)))
    if len(shape) == len(inverse) and _is_view(inverse, shape):
        return lambda: reshape(value, [shape[d] for d in inverse])
    return None


def _rebuild_elementwise(operation, inputs: list[ir.Value], permutation: list[int], type_) -> ir.Value:
    parameters = list(operation.operands)[1 : _ELEMENTWISE[operation.name]]
    init = tensor.empty(type_.shape, type_.element_type)
    return ir.Operation.create(operation.name, [type_], [init, *parameters, *inputs], _attributes(operation)).result


def _rebuild_concatenation(operation, inputs: list[ir.Value], permutation: list[int], type_) -> ir.Value:
    dimension = ir.IntegerAttr(operation.attributes["dim"]).value
    attributes = _attributes(operation) | {
        "dim": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), permutation[dimension])
    }
    return ir.Operation.create(operation.name, [type_], inputs, attributes).result


def _rebuild_slice(operation, inputs: list[ir.Value], permutation: list[int], type_) -> ir.Value:
    attributes = _attributes(operation)
    for name in ("static_offsets", "static_sizes", "static_strides"):
        values = list(ir.DenseI64ArrayAttr(attributes[name]))
        attributes[name] = ir.DenseI64ArrayAttr.get([values[permutation.index(d)] for d in range(len(values))])
    return ir.Operation.create(operation.name, [type_], inputs, attributes).result


def _record_layout(value: ir.Value, operation: ir.Operation, permutation: list[int]) -> None:
    layout = range(len(permutation))
    if LAYOUT in operation.attributes:
        layout = ir.DenseI64ArrayAttr(operation.attributes[LAYOUT])
    value.owner.attributes[LAYOUT] = ir.DenseI64ArrayAttr.get([permutation[d] for d in layout])


def _attributes(operation: ir.Operation) -> dict[str, ir.Attribute]:
    return {name: operation.attributes[name] for name in operation.attributes}


def _transposed(value: ir.Value, permutation: list[int]) -> ir.Value:
    if _is_view(permutation, _shape(value)):
        return reshape(value, [_shape(value)[d] for d in permutation])
    return torq_hl.transpose(value, perm=permutation)


def _is_view(permutation: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether the dimensions of more than one element stay in order."""
    if ir.ShapedType.get_dynamic_size() in shape:
        return False
    order = [d for d in permutation if shape[d] != 1]
    return order == sorted(order)


def _transpose_of(value: ir.Value) -> ir.Operation | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != _TRANSPOSE:
        return None
    return value.owner.operation


def _permutation(transpose: ir.Operation) -> list[int]:
    return list(ir.DenseI64ArrayAttr(transpose.attributes["perm"]))


def _shape(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


PATTERNS = (
    Pattern(_TRANSPOSE, compose, benefit=2),
    *(Pattern(root, sink_elementwise) for root in _ELEMENTWISE),
    Pattern("tensor.concat", sink_concatenation),
    Pattern("tensor.extract_slice", sink_slice),
)
_ROOTS = frozenset(pattern.root for pattern in PATTERNS) - {_TRANSPOSE}
