# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipelines that have a name, and with it a flag of torq-opt.

A pipeline may name others. The levels are those of the IR: 0 is what an importer writes, 1 the torch dialect,
2 linalg on tensors (or TOSA, or StableHLO), both with quantized_decomposed, and 3 torq_hl.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from torq_mlir.pipelines import fx, onnx, stablehlo, tosa


class NamedPipeline(NamedTuple):
    """The text of a pipeline and one line on what it does."""

    text: str
    summary: str


NAMED_PIPELINES: Mapping[str, NamedPipeline] = MappingProxyType(
    {
        "torq-onnx-to-torch": NamedPipeline(
            onnx.ONNX_TO_TORCH,
            "An imported ONNX model (level 0) to the torch dialect with quantized_decomposed (level 1)",
        ),
        "torq-fx-to-torch": NamedPipeline(
            fx.FX_TO_TORCH,
            "An imported program of torch.export (level 0) to the torch dialect with quantized_decomposed (level 1)",
        ),
        "torq-torch-to-linalg": NamedPipeline(
            onnx.TORCH_TO_LINALG,
            "The torch dialect with quantized_decomposed (level 1) to linalg on tensors (level 2)",
        ),
        "torq-onnx-to-linalg": NamedPipeline(
            "builtin.module(torq-onnx-to-torch,torq-torch-to-linalg)",
            "An imported ONNX model (level 0) to linalg with quantized_decomposed (level 2)",
        ),
        "torq-fx-to-linalg": NamedPipeline(
            "builtin.module(torq-fx-to-torch,torq-torch-to-linalg)",
            "An imported program of torch.export (level 0) to linalg with quantized_decomposed (level 2)",
        ),
        "torq-torch-to-tosa": NamedPipeline(
            tosa.TORCH_TO_TOSA,
            "The torch dialect with quantized_decomposed (level 1) to TOSA with quantized_decomposed (level 2)",
        ),
        "torq-onnx-to-tosa": NamedPipeline(
            "builtin.module(torq-onnx-to-torch,torq-torch-to-tosa)",
            "An imported ONNX model (level 0) to TOSA with quantized_decomposed (level 2)",
        ),
        "torq-fx-to-tosa": NamedPipeline(
            "builtin.module(torq-fx-to-torch,torq-torch-to-tosa)",
            "An imported program of torch.export (level 0) to TOSA with quantized_decomposed (level 2)",
        ),
        "torq-quantized-tosa-to-tosa": NamedPipeline(
            "builtin.module(torq-fuse-quantized-ops-tosa,convert-quantized-decomposed-to-tosa,canonicalize,cse)",
            "TOSA with quantized_decomposed (level 2) to TOSA: integer contractions, the rest in float",
        ),
        "torq-tosa-to-linalg": NamedPipeline(
            tosa.TOSA_TO_LINALG,
            "TOSA to linalg on tensors",
        ),
        "torq-torch-to-stablehlo": NamedPipeline(
            stablehlo.TORCH_TO_STABLEHLO,
            "The torch dialect with quantized_decomposed (level 1) to StableHLO with quantized_decomposed (level 2)",
        ),
        "torq-onnx-to-stablehlo": NamedPipeline(
            "builtin.module(torq-onnx-to-torch,torq-torch-to-stablehlo)",
            "An imported ONNX model (level 0) to StableHLO with quantized_decomposed (level 2)",
        ),
        "torq-fx-to-stablehlo": NamedPipeline(
            "builtin.module(torq-fx-to-torch,torq-torch-to-stablehlo)",
            "An imported program of torch.export (level 0) to StableHLO with quantized_decomposed (level 2)",
        ),
        "torq-quantized-stablehlo-to-stablehlo": NamedPipeline(
            "builtin.module("
            "torq-fuse-quantized-ops-stablehlo,convert-quantized-decomposed-to-stablehlo,canonicalize,cse)",
            "StableHLO with quantized_decomposed (level 2) to StableHLO: integer contractions, the rest in float",
        ),
        "torq-stablehlo-to-linalg": NamedPipeline(
            stablehlo.STABLEHLO_TO_LINALG,
            "StableHLO to linalg on tensors",
        ),
        "torq-linalg-to-torq-hl": NamedPipeline(
            "builtin.module("
            "torq-signed-storage,"
            "quantized-decomposed-simplify,"  # through maxima, which compare signed integers
            "torq-fuse-quantized-ops,"
            "convert-linalg-to-torq-hl,"
            "torq-cancel-transposes,"
            "convert-quantized-decomposed-to-linalg,"
            "canonicalize,"
            "cse)",
            "linalg with quantized_decomposed (level 2) to torq_hl (level 3); what the NPU does not take stays",
        ),
        "torq-onnx-to-torq-hl": NamedPipeline(
            "builtin.module(torq-onnx-to-linalg,torq-linalg-to-torq-hl)",
            "An imported ONNX model (level 0) to torq_hl (level 3)",
        ),
        "torq-fx-to-torq-hl": NamedPipeline(
            "builtin.module(torq-fx-to-linalg,torq-linalg-to-torq-hl)",
            "An imported program of torch.export (level 0) to torq_hl (level 3)",
        ),
        "torq-hl-to-iree": NamedPipeline(
            "builtin.module("
            "func.func(linalg-generalize-named-ops),"  # of floats, for torq-keep-float-bits
            "torq-convolutions-to-matmuls,"
            "torq-cancel-transposes,"
            "convert-torq-hl-to-linalg,"
            "convert-quantized-decomposed-to-linalg,"
            "torq-keep-float-bits,"
            "canonicalize,"
            "cse)",
            "torq_hl (level 3) to linalg on tensors with the same results, in the form that IREE compiles best",
        ),
        "torq-hl-to-linalg": NamedPipeline(
            "builtin.module(convert-torq-hl-to-linalg,convert-quantized-decomposed-to-linalg,canonicalize,cse)",
            "torq_hl (level 3) to linalg on tensors with the same results, for a compiler that knows linalg only",
        ),
    }
)

named: Mapping[str, str] = MappingProxyType({name: pipeline.text for name, pipeline in NAMED_PIPELINES.items()})
