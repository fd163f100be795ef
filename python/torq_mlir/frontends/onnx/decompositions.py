# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that torch-mlir computes wrongly in some form, or not at all, as other operators."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from torq_mlir.errors import ModelError

from .data_movement import attributes_of, become
from .graph_edits import Rewriting
from .naming import describe

_LARGEST_DETERMINANT = 4
_HALF = TensorProto.FLOAT16
# Since this opset, all reductions take their axes as an input.
_REDUCES_BY_INPUT = 18


def scalar(rewriting: Rewriting, like: str, value: float) -> str:
    """A constant of the element type of a value."""
    dtype = helper.tensor_dtype_to_np_dtype(rewriting.type(like))
    array = np.array(value, dtype)
    return rewriting.add_constant(numpy_helper.from_array(array, f"torq_mlir/{array.dtype}/{value}"))


def rewrite_reciprocal(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """A quotient: what torch-mlir makes of the operator ends the process where an element is zero."""
    become(rewriting, node, "Div", [scalar(rewriting, node.input[0], 1), node.input[0]])


def rewrite_bit_shift(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """Shifts by as many bits as there are, or by a negative number, shift all bits out; MLIR leaves them undefined."""
    value, amount = node.input
    shape, width = rewriting.shape(node.output[0]), 8 * helper.tensor_dtype_to_np_dtype(rewriting.type(value)).itemsize
    dtype = helper.tensor_dtype_to_np_dtype(rewriting.type(value))
    last = scalar(rewriting, value, width - 1)
    outside = _test(rewriting, node, "Greater", amount, last)
    if dtype.kind == "i":
        negative = _test(rewriting, node, "Less", amount, scalar(rewriting, value, 0))
        amounts = rewriting.shape(amount)
        outside = rewriting.compute(node, "Or", [outside, negative], amounts, element_type=TensorProto.BOOL)
    inside = rewriting.compute(
        node, "Where", [outside, last, amount], rewriting.shape(amount), element_type=rewriting.type(value)
    )
    if attributes_of(node).get("direction") == b"RIGHT" and dtype.kind == "i":
        node.input[1] = inside  # by all bits but one, which leaves the sign
        return
    shifted = rewriting.compute(node, "BitShift", [value, inside], shape, direction=attributes_of(node)["direction"])
    become(rewriting, node, "Where", [outside, scalar(rewriting, value, 0), shifted])


def _test(rewriting: Rewriting, node: onnx.NodeProto, op_type: str, first: str, second: str) -> str:
    shape = rewriting.shape(first)
    return rewriting.compute(node, op_type, [first, second], shape, element_type=TensorProto.BOOL)


def rewrite_lp_normalization(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """A norm of zero divides nothing: the values, which are zero, stay."""
    attributes = attributes_of(node)
    shape = rewriting.shape(node.input[0])
    axis = attributes.get("axis", -1) % len(shape)
    reduced = [*shape[:axis], 1, *shape[axis + 1 :]]
    op_type = "ReduceL1" if attributes.get("p", 2) == 1 else "ReduceL2"
    norm = _reduced(rewriting, node, op_type, axis, reduced)
    zero, one = scalar(rewriting, norm, 0), scalar(rewriting, norm, 1)
    is_zero = _test(rewriting, node, "Equal", norm, zero)
    divisor = rewriting.compute(node, "Where", [is_zero, one, norm], reduced, element_type=rewriting.type(norm))
    become(rewriting, node, "Div", [node.input[0], divisor])


def rewrite_einsum(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """A product of scalars, which ends the process."""
    equation = attributes_of(node)["equation"].decode().replace(" ", "")
    if equation.strip(",->"):
        return
    value = node.input[0]
    for other in node.input[1:]:
        value = rewriting.compute(node, "Mul", [value, other], ())
    become(rewriting, node, "Identity", [value])


def rewrite_determinant(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """As the sum over all permutations: an elimination without pivots ends the process where one of them is zero.

    Raises:
      ModelError: the matrices are larger than four rows.
    """
    value, shape = node.input[0], rewriting.shape(node.input[0])
    size, batch = shape[-1], list(shape[:-2])
    if None in shape or size > _LARGEST_DETERMINANT:
        raise ModelError(f"{describe(node)}: only matrices of up to {_LARGEST_DETERMINANT} rows can be lowered")
    flat = rewriting.reshape(node, value, [*batch, size * size])
    elements = {}
    for row, column in itertools.product(range(size), repeat=2):
        index = np.array(row * size + column, np.int64)
        position = rewriting.add_constant(numpy_helper.from_array(index, f"torq_mlir/position/{index}"))
        elements[row, column] = rewriting.compute(node, "Gather", [flat, position], batch, axis=-1)
    total = None
    for permutation in itertools.permutations(range(size)):
        product = elements[0, permutation[0]]
        for row in range(1, size):
            product = rewriting.compute(node, "Mul", [product, elements[row, permutation[row]]], batch)
        inversions = sum(a > b for a, b in itertools.combinations(permutation, 2))
        if total is None:
            total = product
        else:
            total = rewriting.compute(node, "Sub" if inversions % 2 else "Add", [total, product], batch)
    become(rewriting, node, "Identity", [total])


def rewrite_modulo(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """The remainder of floats has the sign of the dividend; torch-mlir computes it from a quotient that is rounded.

    Its operator with the sign of the divisor is exact, and the same for numbers that are not negative.
    """
    kind = rewriting.type(node.input[0])
    if not attributes_of(node).get("fmod") or helper.tensor_dtype_to_np_dtype(kind).kind in "iu":
        return
    shape = rewriting.shape(node.output[0])
    positive = [rewriting.compute(node, "Abs", [name], rewriting.shape(name)) for name in node.input]
    rest = rewriting.compute(node, "Mod", positive, shape, fmod=0)
    negative = _test(rewriting, node, "Less", node.input[0], scalar(rewriting, node.input[0], 0))
    become(rewriting, node, "Where", [negative, rewriting.compute(node, "Neg", [rest], shape), rest])


def rewrite_suppression(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """A threshold of scores as a choice among what is left without one: torch-mlir ends the process of lower scores.

    Boxes are taken in the order of their scores, so that those below the threshold take no place and suppress nothing.

    Raises:
      ModelError: there is more than one batch or class.
    """
    if len(node.input) < 5 or not node.input[4]:
        return
    scores, threshold = node.input[1], node.input[4]
    batches, classes, boxes = rewriting.shape(scores)
    if (batches, classes) != (1, 1):
        raise ModelError(f"{describe(node)}: a threshold of scores is supported for one batch and class")
    int64, boolean = TensorProto.INT64, TensorProto.BOOL
    chosen = rewriting.compute(node, "NonMaxSuppression", node.input[:4], [None, 3], element_type=int64)
    for attribute in node.attribute:
        rewriting.producer(chosen).attribute.add().CopyFrom(attribute)
    flat = rewriting.reshape(node, scores, [batches * classes * boxes])
    factors = numpy_helper.from_array(np.array([classes * boxes, boxes, 1], np.int64), f"{node.name}/strides")
    places = rewriting.compute(node, "Mul", [chosen, rewriting.add_constant(factors)], [None, 3])
    axes = rewriting.integers(node, [1])
    places = rewriting.compute(node, "ReduceSum", [places, axes], [None], keepdims=0)
    scored = rewriting.compute(node, "Gather", [flat, places], [None], element_type=rewriting.type(scores), axis=0)
    limit = rewriting.reshape(node, threshold, [1])
    high = rewriting.compute(node, "Greater", [scored, limit], [None], element_type=boolean)
    kept = rewriting.compute(node, "NonZero", [high], [1, None], element_type=int64)
    kept = rewriting.compute(node, "Squeeze", [kept, rewriting.integers(node, [0])], [None])
    become(rewriting, node, "Gather", [chosen, kept], axis=0)


def rewrite_matmul(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """Vectors times batches of matrices as matrices; sums of f16 in f32, as ONNX Runtime has them."""
    first, second = (rewriting.shape(name) for name in node.input)
    is_half = rewriting.type(node.input[0]) == _HALF
    is_vector = 1 in (len(first), len(second)) and max(len(first), len(second)) > 2
    if not (is_half or is_vector) or None in (*first, *second):
        return
    operands, shapes = list(node.input), [list(first), list(second)]
    if is_half:
        operands = [_cast(rewriting, node, name, TensorProto.FLOAT) for name in operands]
    if is_vector and len(first) == 1:
        shapes[0] = [1, *first]
    if is_vector and len(second) == 1:
        shapes[1] = [*second, 1]
    operands = [
        name if list(rewriting.shape(name)) == shape else rewriting.reshape(node, name, shape)
        for name, shape in zip(operands, shapes, strict=True)
    ]
    batch = np.broadcast_shapes(*(shape[:-2] for shape in shapes)) if min(map(len, shapes)) > 1 else ()
    rows, columns = shapes[0][-2:-1], shapes[1][-1:] if len(shapes[1]) > 1 else []
    product = rewriting.compute(node, "MatMul", operands, [*batch, *rows, *columns])
    result = rewriting.shape(node.output[0])
    if list(rewriting.shape(product)) != list(result):
        product = rewriting.reshape(node, product, result)
    if is_half:
        become(rewriting, node, "Cast", [product], to=_HALF)
    else:
        become(rewriting, node, "Identity", [product])


def _cast(rewriting: Rewriting, node: onnx.NodeProto, name: str, kind: int) -> str:
    return rewriting.compute(node, "Cast", [name], rewriting.shape(name), element_type=kind, to=kind)


def rewrite_softmax(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """Of f16, the steps of its definition, each rounded to f16; exponentials and sums are computed in f32."""
    if rewriting.type(node.input[0]) != _HALF:
        return
    shape = list(rewriting.shape(node.input[0]))
    axis = attributes_of(node).get("axis", -1) % len(shape)
    reduced, axes = [*shape[:axis], 1, *shape[axis + 1 :]], rewriting.integers(node, [axis])
    greatest = _reduced(rewriting, node, "ReduceMax", axis, reduced)
    shifted = _cast(
        rewriting, node, rewriting.compute(node, "Sub", [node.input[0], greatest], shape), TensorProto.FLOAT
    )
    powers = _cast(rewriting, node, rewriting.compute(node, "Exp", [shifted], shape), _HALF)
    wide = _cast(rewriting, node, powers, TensorProto.FLOAT)
    total = rewriting.compute(node, "ReduceSum", [wide, axes], reduced, keepdims=1)
    become(rewriting, node, "Div", [powers, _cast(rewriting, node, total, _HALF)])


def _reduced(rewriting: Rewriting, node: onnx.NodeProto, op_type: str, axis: int, shape: Sequence[int]) -> str:
    """A reduction of the first input, whose axes are an attribute before opset 18, and an input since."""
    if rewriting.opset >= _REDUCES_BY_INPUT:
        operands = [node.input[0], rewriting.integers(node, [axis])]
        return rewriting.compute(node, op_type, operands, shape, keepdims=1)
    return rewriting.compute(node, op_type, [node.input[0]], shape, keepdims=1, axes=[axis])


def rewrite_prelu(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """Slopes in other shapes than one for each channel, as the definition."""
    shape, slope = rewriting.shape(node.input[0]), rewriting.shape(node.input[1])
    if math.prod(slope) == 1 or _is_channelwise(slope, shape):
        return
    negative = _test(rewriting, node, "Less", node.input[0], scalar(rewriting, node.input[0], 0))
    product = rewriting.compute(node, "Mul", list(node.input), shape)
    become(rewriting, node, "Where", [negative, product, node.input[0]])


def _is_channelwise(slope: Sequence[int], shape: Sequence[int]) -> bool:
    aligned = [*[1] * (len(shape) - len(slope)), *slope]
    return len(shape) > 1 and all(size == 1 for axis, size in enumerate(aligned) if axis != 1)


def refuse_recurrent(rewriting: Rewriting, node: onnx.NodeProto) -> None:
    """Peepholes are left out, and initial values of a reversed direction are lost.

    Raises:
      ModelError: the node has a form that is computed wrongly.
    """
    if node.op_type == "LSTM" and len(node.input) > 7 and node.input[7]:
        raise ModelError(f"{describe(node)}: peepholes are not supported")
