# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MatMulInteger and ConvInteger, whose results are the i32 sums themselves.

They become contractions of i32 tensors, from which the zero points have been subtracted: exact, where one of real
values would be up to 2^24 only, and wrapping around beyond i32 as ONNX Runtime does.
"""

import math

from torch_mlir import ir

from torq_mlir.dialects import elements, tensor_types

from .nodes import Node, create_cast, create_node, reshape

_SIGNED = ir.IntegerType.get_signed
_NAMES = ("the first input", "the second input")


def raise_matmul_integer(node: Node) -> ir.Value:
    """A matrix product; zero points are per tensor, per row of the first input and per column of the second."""
    shapes = [node.tensor(node.operation.operands[index], _NAMES[index]).shape for index in (0, 1)]
    rows = _along(node, 2, shapes[0], len(shapes[0]) - 2)
    columns = _along(node, 3, shapes[1], len(shapes[1]) - 1)
    return _contraction(node, "MatMul", rows, columns)


def raise_conv_integer(node: Node) -> ir.Value:
    """A convolution, padded with the zero point; that of the weights is per tensor or per output channel."""
    shapes = [node.tensor(node.operation.operands[index], _NAMES[index]).shape for index in (0, 1)]
    return _contraction(node, "Conv", _along(node, 2, shapes[0], None), _along(node, 3, shapes[1], 0))


def _contraction(node: Node, op_type: str, *zero_points: ir.Value | None) -> ir.Value:
    inputs = [_shifted(node, index, zero_point) for index, zero_point in enumerate(zero_points)]
    return create_node(op_type, inputs, node.result.type, node.attributes())


def _along(node: Node, position: int, shape: tuple[int | None, ...], axis: int | None) -> ir.Value | None:
    """The zero point at a position, in a shape that broadcasts to the tensor; None where it is absent or zero."""
    zero_point = node.input(position)
    if zero_point is None:
        return None
    constant = elements.constant_value(zero_point)
    if constant is not None and not constant.any():
        return None
    what = f"the zero point of {_NAMES[position - 2]}"
    sizes = node.tensor(zero_point, what).shape
    if all(size == 1 for size in sizes):
        return reshape(zero_point, ())
    if None in sizes or axis is None or axis < 0:
        raise node.failure(f"{what} has shape {list(sizes)} where the operator takes one")
    if len(sizes) == 1:
        sizes = (*sizes, *(1,) * (len(shape) - axis - 1))
    fits = len(sizes) <= len(shape) and all(
        size in (1, whole) for size, whole in zip(reversed(sizes), reversed(shape), strict=False)
    )
    # Along the dimension that is summed over, zero points would not be those of a row or a column.
    reduced = [size for d, size in enumerate(reversed(sizes)) if len(shape) - 1 - d == _reduced(node, position, shape)]
    if not fits or math.prod(reduced) != 1:
        raise node.failure(f"{what} has shape {list(sizes)}, which does not fit a tensor of shape {list(shape)}")
    return reshape(zero_point, sizes)


def _reduced(node: Node, position: int, shape: tuple[int | None, ...]) -> int:
    if node.op_type == "ConvInteger":
        return 1
    return len(shape) - 1 if position == 2 else len(shape) - 2


def _shifted(node: Node, index: int, zero_point: ir.Value | None) -> ir.Value:
    """The input in i32, without its zero point."""
    value = node.operation.operands[index]
    element = node.tensor(value, _NAMES[index]).element_type
    if str(element) not in ("si8", "ui8"):
        raise node.failure(f"{_NAMES[index]} has element type {element}; si8 or ui8 is needed")
    wide = create_cast(value, _SIGNED(32))
    if zero_point is None:
        return wide
    if tensor_types.element_type(zero_point.type) != element:
        raise node.failure(f"the zero point of {_NAMES[index]} has another element type than {element}")
    return create_node("Sub", [wide, create_cast(zero_point, _SIGNED(32))], wide.type)
