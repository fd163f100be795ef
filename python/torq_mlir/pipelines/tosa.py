# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the torch dialect to TOSA, and from there to linalg.

The first list is that of torch-backend-to-tosa-backend-pipeline, without torch-fuse-quantized-ops and without the last
pass, which refuses foreign operations.
"""

TORCH_TO_TOSA = (
    "builtin.module("
    "torch-integers-in-float,"
    "quantized-decomposed-backend-type-conversion,"
    "func.func(canonicalize,convert-torch-to-tosa{require-full-tosa-conversion=true},"
    "tosa-layerwise-constant-fold,tosa-reduce-transposes,tosa-make-broadcastable,canonicalize,cse),"
    "torch-func-backend-type-conversion,"
    "func.func(canonicalize,torch-finalizing-backend-type-conversion,canonicalize,cse))"
)

TOSA_TO_LINALG = (
    "builtin.module("
    "func.func(tosa-make-broadcastable,tosa-optional-decompositions,tosa-to-linalg-named,tosa-to-linalg,"
    "tosa-to-arith{include-apply-rescale=true},tosa-to-tensor,tosa-to-scf,canonicalize,cse))"
)
