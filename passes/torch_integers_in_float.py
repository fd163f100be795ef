# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling and products of stored integers go through f32, as if they were quantized with a scale of 1."""

from torch_mlir import ir, rewrite

from torq_mlir.dialects import quantized_decomposed, tensor_types

_POOLS = "torch.aten.max_pool1d", "torch.aten.max_pool2d", "torch.aten.max_pool3d"
_PRODUCTS = "torch.aten.mm", "torch.aten.bmm", "torch.aten.matmul"


def run(op: ir.Operation, signed_types: bool = False) -> None:
    patterns = rewrite.RewritePatternSet()
    for names, tensors in ((_POOLS, 1), (_PRODUCTS, 2)):
        for name in names:
            patterns.add(name, _pattern(tensors, signed_types))
    rewrite.walk_and_apply_patterns(op, patterns.freeze())


def _pattern(tensors: int, signed_types: bool):
    """A pattern for operations whose first operands are `tensors` tensors; the others are kept."""

    def convert(operation: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
        """A pattern as MLIR calls it: true for no match."""
        operation = operation.operation
        operands = list(operation.operands)
        stored = [_storage(value) for value in operands[:tensors]]
        dtype = tensor_types.element_type(operation.results[0].type)
        if None in stored or not isinstance(dtype, ir.IntegerType) or dtype.width > 32:
            return True
        if not signed_types and not any(element.is_unsigned for element in stored):
            return True
        with rewriter.ip, operation.location:
            scale, zero_point = _number("float", ir.FloatAttr.get_f64(1.0)), _number("int", _i64(0))
            parameters = {"scale": scale, "zero_point": zero_point}
            floats = [
                quantized_decomposed.dequantize_per_tensor(value, **parameters, **_range(element))
                for value, element in zip(operands, stored, strict=False)
            ]
            result = tensor_types.with_element(operation.results[0].type, ir.F32Type.get())
            attributes = {name: operation.attributes[name] for name in operation.attributes}
            computed = ir.Operation.create(operation.name, [result], [*floats, *operands[tensors:]], attributes).result
            integers = quantized_decomposed.quantize_per_tensor(computed, **parameters, **_range(dtype))
        rewriter.replace_op(operation, [integers])
        return False

    return convert


def _storage(value: ir.Value) -> ir.IntegerType | None:
    """The element type of stored values: of at most 16 bits, so that f32 holds them."""
    element = tensor_types.element_type(value.type)
    return element if isinstance(element, ir.IntegerType) and 1 < element.width <= 16 else None


def _range(dtype: ir.IntegerType) -> dict:
    half = 1 << (dtype.width - 1)
    low, high = (0, 2 * half - 1) if dtype.is_unsigned else (-half, half - 1)
    return {"quant_min": low, "quant_max": high, "dtype": dtype}


def _number(mnemonic: str, value: ir.Attribute) -> ir.Value:
    type_ = ir.Type.parse(f"!torch.{mnemonic}")
    return ir.Operation.create(f"torch.constant.{mnemonic}", [type_], attributes={"value": value}).result


def _i64(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
