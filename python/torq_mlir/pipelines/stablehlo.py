# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the torch dialect to StableHLO, and from there to linalg.

The first list is that of torch-backend-to-stablehlo-backend-pipeline, without the pass in the middle that refuses
foreign operations.
"""

TORCH_TO_STABLEHLO = (
    "builtin.module("
    "torch-integers-in-float{signed-types=true},"
    "quantized-decomposed-backend-type-conversion{unsigned-types=true},"
    "func.func(canonicalize,convert-torch-to-stablehlo,chlo-legalize-to-stablehlo,convert-torch-to-arith,canonicalize,cse),"
    "torch-func-backend-type-conversion-for-stablehlo,"
    "func.func(canonicalize,torch-finalizing-backend-type-conversion-for-stablehlo,"
    "stablehlo-canonicalize-dynamism,canonicalize),"
    "stablehlo-refine-shapes,"
    "func.func(canonicalize,stablehlo-canonicalize-dynamism,canonicalize,"
    "stablehlo-legalize-deprecated-ops{fail-on-unused=false}),"
    "canonicalize,"
    "cse)"
)

STABLEHLO_TO_LINALG = (
    "builtin.module(func.func(stablehlo-legalize-to-linalg),stablehlo-convert-to-signless,canonicalize,cse)"
)
