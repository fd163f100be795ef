# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of quantized_decomposed on builtin tensors, converted one by one."""

from collections.abc import Callable, Iterable, Sequence

from torch_mlir import ir, rewrite
from torch_mlir.dialects import tensor

from . import element_types, groups, qparams, quantize
from .arithmetic import Inexpressible, TensorArithmetic
from .parameters import is_constant_zero

_LAST = -1

Converter = Callable[[TensorArithmetic, ir.Operation], Sequence[ir.Value]]


def convert_operations(root: ir.Operation, arithmetic: TensorArithmetic, names: Iterable[str] | None = None) -> None:
    """Replaces the operations of quantized_decomposed inside `root`; those on `!torch.vtensor` stay.

    Args:
      names: of those to replace, without the dialect; all by default.

    Raises:
      Inexpressible: the dialect cannot express an operation.
    """
    patterns = rewrite.RewritePatternSet()
    for name in CONVERTERS if names is None else names:
        patterns.add(f"quantized_decomposed.{name}", _pattern(CONVERTERS[name], arithmetic))
    rewrite.walk_and_apply_patterns(root, patterns.freeze())


def _pattern(converter: Converter, arithmetic: TensorArithmetic) -> Callable:
    def convert(op: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
        """A pattern as MLIR calls it: true for no match."""
        operation = op.operation
        values = [*operation.operands, *operation.results]
        if not all(isinstance(value.type, ir.RankedTensorType | ir.IntegerType | ir.FloatType) for value in values):
            return True
        with rewriter.ip, operation.location:
            try:
                converted = converter(arithmetic, operation)
            except Inexpressible as inexpressible:
                raise inexpressible.in_operation(operation) from None
            results = zip(converted, operation.results, strict=True)
            replacements = [v if v.type == result.type else tensor.cast(result.type, v) for v, result in results]
        rewriter.replace_op(operation, replacements)
        return False

    return convert


def _quantize(a: TensorArithmetic, operation: ir.Operation) -> list[ir.Value]:
    input, scale, zero_point, *bounds = operation.operands
    attributes = operation.attributes
    return [
        quantize.quantize(
            a,
            input,
            scale,
            _unless_zero(zero_point),
            axis=attributes["axis"].value if "axis" in attributes else None,
            bounds=tuple(bounds) or _bounds(operation),
            unsigned=_is_unsigned(operation),
            divide="divide" in attributes,
            storage_type=_result_element(operation),
        )
    ]


def _dequantize(a: TensorArithmetic, operation: ir.Operation) -> list[ir.Value]:
    input, scale, zero_point = list(operation.operands)[:3]
    attributes = operation.attributes
    return [
        quantize.dequantize(
            a,
            input,
            scale,
            _unless_zero(zero_point),
            axis=attributes["axis"].value if "axis" in attributes else None,
            unsigned=_is_unsigned(operation),
            result_element_type=_result_element(operation),
        )
    ]


def _quantize_groups(a: TensorArithmetic, operation: ir.Operation) -> list[ir.Value]:
    input, scales, *zero_points = operation.operands
    axis, group_size = _groups(operation)
    return [
        groups.quantize_groups(
            a,
            input,
            scales,
            _unless_zero(zero_points[0]) if zero_points else None,
            axis=axis,
            group_size=group_size,
            bounds=_bounds(operation),
            unsigned=_is_unsigned(operation),
            divide="divide" in operation.attributes,
            round_first="round_first" in operation.attributes,
            storage_type=_result_element(operation),
        )
    ]


def _dequantize_groups(a: TensorArithmetic, operation: ir.Operation) -> list[ir.Value]:
    input, scales, *zero_points = operation.operands
    axis, group_size = _groups(operation)
    return [
        groups.dequantize_groups(
            a,
            input,
            scales,
            _unless_zero(zero_points[0]) if zero_points else None,
            axis=axis,
            group_size=group_size,
            unsigned=_is_unsigned(operation),
            result_element_type=_result_element(operation),
        )
    ]


def _fake_quantize(a: TensorArithmetic, operation: ir.Operation) -> list[ir.Value]:
    axis, bounds = operation.attributes["axis"].value, _bounds(operation)
    return [quantize.fake_quantize(a, *operation.operands, axis=axis, bounds=bounds)]


def _choose_qparams(a: TensorArithmetic, operation: ir.Operation) -> Sequence[ir.Value]:
    return qparams.choose_qparams(a, operation.operands[0], *_bounds(operation), operation.attributes["eps"].value)


def _choose_qparams_symmetric(a: TensorArithmetic, operation: ir.Operation) -> Sequence[ir.Value]:
    eps, dtype = operation.attributes["eps"].value, ir.IntegerType(operation.attributes["dtype"].value)
    return qparams.choose_qparams_symmetric(a, operation.operands[0], *_bounds(operation), eps, dtype)


def _choose_qparams_per_token(a: TensorArithmetic, operation: ir.Operation) -> Sequence[ir.Value]:
    return qparams.choose_qparams_per_token(a, operation.operands[0])


def _choose_qparams_per_token_asymmetric(a: TensorArithmetic, operation: ir.Operation) -> Sequence[ir.Value]:
    return qparams.choose_qparams_per_token_asymmetric(a, operation.operands[0])


def _convert_element_type(a: TensorArithmetic, operation: ir.Operation) -> list[ir.Value]:
    source, target = (operation.attributes[name].value for name in ("input_dtype", "dtype"))
    return [element_types.convert_element_type(a, operation.operands[0], source, target)]


CONVERTERS: dict[str, Converter] = {
    "quantize_per_tensor": _quantize,
    "quantize_per_channel": _quantize,
    "quantize_per_token": _quantize_groups,
    "quantize_per_channel_group": _quantize_groups,
    "dequantize_per_tensor": _dequantize,
    "dequantize_per_channel": _dequantize,
    "dequantize_per_token": _dequantize_groups,
    "dequantize_per_channel_group": _dequantize_groups,
    "choose_qparams": _choose_qparams,
    "choose_qparams_symmetric": _choose_qparams_symmetric,
    "choose_qparams_per_token": _choose_qparams_per_token,
    "choose_qparams_per_token_asymmetric": _choose_qparams_per_token_asymmetric,
    "_choose_qparams_per_token_asymmetric_impl": _choose_qparams_per_token_asymmetric,
    "fake_quant_per_channel": _fake_quantize,
    "convert_element_type": _convert_element_type,
}

CHOOSING = tuple(name for name in CONVERTERS if "choose_qparams" in name)


def _unless_zero(zero_point: ir.Value) -> ir.Value | None:
    return None if is_constant_zero(zero_point) else zero_point


def _bounds(operation: ir.Operation) -> tuple[int, int]:
    return operation.attributes["quant_min"].value, operation.attributes["quant_max"].value


def _is_unsigned(operation: ir.Operation) -> bool:
    return ir.IntegerType(operation.attributes["dtype"].value).is_unsigned


def _result_element(operation: ir.Operation) -> ir.Type:
    return ir.RankedTensorType(operation.results[0].type).element_type


def _groups(operation: ir.Operation) -> tuple[int, int | None]:
    """Axis and group size; None for a token, which is all of the last dimension."""
    attributes = operation.attributes
    axis = attributes["axis"].value if "axis" in attributes else _LAST
    return axis, attributes["group_size"].value if "group_size" in attributes else None
