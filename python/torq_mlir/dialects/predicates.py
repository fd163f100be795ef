# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predicates that the ODS names and Python has no one expression for."""

from torch_mlir import ir


def is_signless(element: ir.Type, width: int) -> bool:
    """Whether a type is the signless integer of `width` bits."""
    return isinstance(element, ir.IntegerType) and element.width == width and element.is_signless


def is_storage_type(element: ir.Type) -> bool:
    """Whether a type states how quantized values are stored: a signed or unsigned integer of 4, 8, 16 or 32 bits."""
    return (
        isinstance(element, ir.IntegerType)
        and not element.is_signless
        and (element.width in (4, 8, 16) or (element.width == 32 and element.is_signed))
    )


def is_element_type(element: ir.Type) -> bool:
    """Whether numbers in a torch tensor can have a type: f16, bf16, f32, f64, i1, si8 to si64, ui8 or ui16."""
    if isinstance(element, ir.IntegerType):
        widths = (1,) if element.is_signless else (8, 16) if element.is_unsigned else (8, 16, 32, 64)
        return element.width in widths
    return isinstance(element, ir.F16Type | ir.BF16Type | ir.F32Type | ir.F64Type)


def is_torch_type(type_: ir.Type, mnemonic: str) -> bool:
    """Whether a type is `!torch.<mnemonic>`, with or without parameters."""
    text = str(type_)
    return text == f"!torch.{mnemonic}" or text.startswith(f"!torch.{mnemonic}<")
