# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipelines that have a name, and with it a flag of torq-opt.

A pipeline may name others. The levels are those of the IR: 0 is what an importer writes, 1 the torch dialect,
2 linalg on tensors, both with quantized_decomposed, and 3 torq_hl.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from torq_mlir.pipelines import fx, onnx


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
        "torq-linalg-to-torq-hl": NamedPipeline(
            "builtin.module("
            "torq-signed-storage,"
            "torq-fuse-quantized-ops,"
            "convert-linalg-to-torq-hl,"
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
        "torq-hl-to-linalg": NamedPipeline(
            "builtin.module(convert-torq-hl-to-linalg,convert-quantized-decomposed-to-linalg,canonicalize,cse)",
            "torq_hl (level 3) to linalg on tensors with the same results, for a compiler that knows linalg only",
        ),
    }
)

named: Mapping[str, str] = MappingProxyType({name: pipeline.text for name, pipeline in NAMED_PIPELINES.items()})
