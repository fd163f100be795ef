# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From an imported program of `torch.export` to the torch dialect.

The list is that of torchdynamo-export-to-torch-backend-pipeline. PyTorch knows the types of all values, so that there
is nothing to refine; and torch-match-quantized-custom-ops, which torch_mlir.fx runs before, has nothing to match:
quantize and dequantize are operations of `quantized_decomposed` by then.
"""

FX_TO_TORCH = (
    "builtin.module("
    "inline,"
    "raise-torch-quantized-decomposed,"
    "func.func(torch-reduce-op-variants,canonicalize,torch-decompose-complex-ops,torch-recompose-complex-ops,"
    "canonicalize,cse),"
    "quantized-decomposed-simplify)"
)
