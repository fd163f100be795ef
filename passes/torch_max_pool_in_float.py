# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Max pooling of stored values goes through f32, which holds all integers of up to 16 bits."""

import functools

from torch_mlir import ir, rewrite

from torq_mlir.dialects import quantized_decomposed, tensor_types

_POOLS = "torch.aten.max_pool1d", "torch.aten.max_pool2d", "torch.aten.max_pool3d"


def run(op: ir.Operation, signed_types: bool = False) -> None:
    patterns = rewrite.RewritePatternSet()
    for name in _POOLS:
        patterns.add(name, functools.partial(_convert, signed_types))
    rewrite.walk_and_apply_patterns(op, patterns.freeze())


def _convert(signed_types: bool, operation: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
    """A pattern as MLIR calls it, but for its first argument: true for no match."""
    operation = operation.operation
    dtype = tensor_types.element_type(operation.results[0].type)
    if not isinstance(dtype, ir.IntegerType) or dtype.width > 16 or not (dtype.is_unsigned or signed_types):
        return True
    low, high = (0, 2**dtype.width - 1) if dtype.is_unsigned else (-(2 ** (dtype.width - 1)), 2 ** (dtype.width - 1) - 1)
    attributes = {"quant_min": low, "quant_max": high, "dtype": dtype}
    f32 = ir.F32Type.get()
    with rewriter.ip, operation.location:
        scale, zero_point = _number("float", ir.FloatAttr.get(ir.F64Type.get(), 1.0)), _number("int", _i64(0))
        input = quantized_decomposed.dequantize_per_tensor(operation.operands[0], scale, zero_point, **attributes)
        result = tensor_types.with_element(operation.results[0].type, f32)
        others = {name: operation.attributes[name] for name in operation.attributes}
        pooled = ir.Operation.create(operation.name, [result], [input, *list(operation.operands)[1:]], others)
        stored = quantized_decomposed.quantize_per_tensor(pooled.result, scale, zero_point, **attributes)
    rewriter.replace_op(operation, [stored])
    return False


def _number(mnemonic: str, value: ir.Attribute) -> ir.Value:
    type_ = ir.Type.parse(f"!torch.{mnemonic}")
    return ir.Operation.create(f"torch.constant.{mnemonic}", [type_], attributes={"value": value}).result


def _i64(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
