# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that are another one, or known: per token, per group, chosen parameters, conversions, empty views."""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir, rewrite
from torch_mlir.dialects import arith

from torq_mlir.dialects import elements, tensor_types
from torq_mlir.numerics import choose_qparams, groups
from torq_mlir.rewriting.patterns import NOT_MINE, Pattern


def remove_identity_conversion(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """A conversion to the type that the values have is nothing."""
    if operation.operands[0].type != operation.results[0].type or _dtype(operation, "input_dtype") != _dtype(operation):
        return NOT_MINE
    rewriter.replace_op(operation, [operation.operands[0]])
    return None


def replace_implementation(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`_choose_qparams_per_token_asymmetric_impl` computes what the operator without `_impl` does."""
    with ir.InsertionPoint(operation), operation.location:
        results = [result.type for result in operation.results]
        attributes = {"dtype": operation.attributes["dtype"]}
        name = "quantized_decomposed.choose_qparams_per_token_asymmetric"
        replacement = ir.Operation.create(name, results, [operation.operands[0]], attributes)
    rewriter.replace_op(operation, list(replacement.results))
    return None


def remove_zero_points(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """Integer zero points of 0 are as none. Floating-point ones remain: what they are added to has their type then."""
    input, scales, *zero_points = operation.operands
    if not zero_points or not isinstance(tensor_types.element_type(zero_points[0].type), ir.IntegerType):
        return NOT_MINE
    constant = elements.constant_value(zero_points[0])
    if constant is None or constant.any():
        return NOT_MINE
    attributes = {name: operation.attributes[name] for name in operation.attributes}
    with ir.InsertionPoint(operation), operation.location:
        results = [operation.results[0].type]
        replacement = ir.Operation.create(operation.name, results, [input, scales], attributes)
    rewriter.replace_op(operation, [replacement.result])
    return None


def fold_quantized_groups(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """`quantize(constant)` becomes an integer constant, per token and per group too."""
    constants = [elements.constant_value(operand) for operand in operation.operands]
    if any(constant is None for constant in constants):
        return NOT_MINE
    attributes, storage = operation.attributes, ir.IntegerType(_dtype(operation))
    values, scales = constants[:2]
    integers = groups.quantize_per_channel_group(
        values,
        scales,
        _integers_with_sign(operation.operands[2], storage) if len(constants) > 2 else None,
        attributes["quant_min"].value,
        attributes["quant_max"].value,
        elements.numpy_dtype(storage),
        group_size=attributes["group_size"].value if "group_size" in attributes else max(1, values.shape[-1]),
        axis=attributes["axis"].value if "axis" in attributes else -1,
        divide="divide" in attributes,
        round_first="round_first" in attributes,
    )
    return _replace_by_constants(operation, rewriter, [integers])


def _integers_with_sign(zero_points: ir.Value, storage: ir.IntegerType) -> np.ndarray:
    """Constant zero points; those of the width of an unsigned storage type are signless on builtin tensors."""
    constant, element = elements.constant_value(zero_points), tensor_types.element_type(zero_points.type)
    if not isinstance(element, ir.IntegerType) or not element.is_signless:
        return constant
    unsigned = storage.is_unsigned and element.width <= storage.width
    return constant.astype(np.int64) & ((1 << element.width) - 1) if unsigned else constant


def fold_chosen_qparams(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """The parameters chosen for a constant are constants."""
    values = elements.constant_value(operation.operands[0])
    if values is None:
        return NOT_MINE
    attributes, name = operation.attributes, operation.name.partition(".")[2]
    arguments = [attributes[each].value for each in ("quant_min", "quant_max", "eps") if each in attributes]
    if name == "choose_qparams_symmetric":
        arguments.append(elements.numpy_dtype(_dtype(operation)))
    return _replace_by_constants(operation, rewriter, getattr(choose_qparams, name)(values, *arguments))


def fold_empty_view(operation: ir.Operation, rewriter: rewrite.PatternRewriter) -> object:
    """A view without elements is a constant without elements; torch-mlir's lowering divides by their number."""
    shape, element = (of(operation.results[0].type) for of in (tensor_types.shape, tensor_types.element_type))
    if shape is None or element is None or None in shape or 0 not in shape:
        return NOT_MINE
    return _replace_by_constants(operation, rewriter, [np.zeros(shape, elements.numpy_dtype(element))])


def _replace_by_constants(
    operation: ir.Operation, rewriter: rewrite.PatternRewriter, arrays: Sequence[np.ndarray]
) -> object:
    shapes = [tensor_types.shape(result.type) for result in operation.results]
    if any(shape != array.shape for shape, array in zip(shapes, arrays, strict=True)):
        return NOT_MINE  # a type that does not say what is known
    with ir.InsertionPoint(operation), operation.location:
        constants = [_constant(array, result.type) for array, result in zip(arrays, operation.results, strict=True)]
    rewriter.replace_op(operation, constants)
    return None


def _constant(array: np.ndarray, type_: ir.Type) -> ir.Value:
    element = tensor_types.element_type(type_)
    if tensor_types.is_torch_tensor(type_):
        return elements.torch_literal(elements.from_numpy(array, element), type_)
    signless = array.view(elements.numpy_dtype(element)) if array.dtype.kind == "u" else array
    return arith.constant(None, elements.from_numpy(signless, element))


def _dtype(operation: ir.Operation, name: str = "dtype") -> ir.Type:
    return ir.TypeAttr(operation.attributes[name]).value


_GRANULARITIES = ("per_token", "per_channel_group")
_CHOOSE = (
    "choose_qparams",
    "choose_qparams_symmetric",
    "choose_qparams_per_token",
    "choose_qparams_per_token_asymmetric",
)

PATTERNS = (
    Pattern("torch.aten.view", fold_empty_view, benefit=3),
    Pattern("quantized_decomposed.convert_element_type", remove_identity_conversion),
    Pattern("quantized_decomposed._choose_qparams_per_token_asymmetric_impl", replace_implementation),
    *(Pattern(f"quantized_decomposed.{name}", fold_chosen_qparams) for name in _CHOOSE),
    *(Pattern(f"quantized_decomposed.quantize_{each}", fold_quantized_groups, benefit=2) for each in _GRANULARITIES),
    *(
        Pattern(f"quantized_decomposed.{direction}_{each}", remove_zero_points)
        for direction in ("quantize", "dequantize")
        for each in _GRANULARITIES
    ),
)
