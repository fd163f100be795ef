# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From an imported ONNX model to linalg: the pipelines of torch-mlir, pass by pass, with ours in between.

The pipelines of the wheel cannot be used as they are: they fuse quantized operations into `!torch.qint8`, and their
last pass refuses foreign operations. The lists are those of torch-onnx-to-torch-backend-pipeline and
torch-backend-to-linalg-on-tensors-backend-pipeline, without torch-fuse-quantized-ops, the random numbers of ml_program
and the passes on memrefs.
"""

# Types of the values that decompositions create in between; once, where the wheel does it twice.
_REFINE_TYPES = (
    "torch-reify-shape-calculations,"
    "inline,"
    "func.func(torch-simplify-shape-calculations,cse,torch-simplify-shape-calculations,"
    "torch-drop-abstract-interp-calculations,torch-scalarize-shapes),"
    "torch-refine-public-return,"
)

ONNX_TO_TORCH = (
    "builtin.module("
    "raise-onnx-quantization,"
    "func.func(convert-torch-onnx-to-torch,torch-decompose-complex-ops,canonicalize,cse),"
    f"{_REFINE_TYPES}"
    "func.func(canonicalize,torch-decompose-complex-ops,canonicalize,cse),"
    "quantized-decomposed-simplify)"
)

TORCH_TO_LINALG = (
    "builtin.module("
    "quantized-decomposed-backend-type-conversion,"
    "func.func(torch-restructure-non-constant-axes,"
    "convert-torch-to-tmtensor,canonicalize,"
    "convert-torch-to-linalg,canonicalize,"
    "convert-torch-to-scf,convert-torch-to-arith,convert-torch-to-tensor,canonicalize,"
    "resolve-shaped-type-result-dims,cse),"
    "torch-func-backend-type-conversion,"
    "func.func(canonicalize,torch-finalizing-backend-type-conversion,linalg-inline-scalar-operands,canonicalize,cse),"
    "quantized-decomposed-simplify)"
)
