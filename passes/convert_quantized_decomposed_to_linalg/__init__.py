# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of quantized_decomposed on builtin tensors become linalg.generic on their elements, computed in floats.

Operations on `!torch.vtensor` stay: their storage has no signless form yet.
"""

from torch_mlir import ir, rewrite

from . import conversions, qparams, tensor_and_channel, token_and_group

_CONVERSIONS = {
    "quantize_per_tensor": tensor_and_channel.convert_quantize,
    "quantize_per_channel": tensor_and_channel.convert_quantize,
    "quantize_per_token": token_and_group.convert_quantize,
    "quantize_per_channel_group": token_and_group.convert_quantize,
    "dequantize_per_tensor": tensor_and_channel.convert_dequantize,
    "dequantize_per_channel": tensor_and_channel.convert_dequantize,
    "dequantize_per_token": token_and_group.convert_dequantize,
    "dequantize_per_channel_group": token_and_group.convert_dequantize,
    "choose_qparams": qparams.convert_choose_qparams,
    "choose_qparams_symmetric": qparams.convert_choose_qparams_symmetric,
    "choose_qparams_per_token": qparams.convert_choose_qparams_per_token,
    "choose_qparams_per_token_asymmetric": qparams.convert_choose_qparams_per_token_asymmetric,
    "_choose_qparams_per_token_asymmetric_impl": qparams.convert_choose_qparams_per_token_asymmetric,
    "fake_quant_per_channel": conversions.convert_fake_quant_per_channel,
    "convert_element_type": conversions.convert_convert_element_type,
}


def run(op: ir.Operation) -> None:
    """Converts the operations inside `op`."""
    patterns = rewrite.RewritePatternSet()
    for name, convert in _CONVERSIONS.items():
        patterns.add(f"quantized_decomposed.{name}", convert)
    rewrite.walk_and_apply_patterns(op, patterns.freeze())
