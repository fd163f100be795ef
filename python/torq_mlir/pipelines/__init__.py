# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines of Python and C++ passes, in MLIR's textual syntax."""

from torq_mlir.pipelines.execution import Pipeline, PipelineFailure, nest, run
from torq_mlir.pipelines.instrumentation import EVERY_PASS, DumpIR, Instrumentation, PrintIR, Timing
from torq_mlir.pipelines.named import NAMED_PIPELINES, NamedPipeline, named
from torq_mlir.pipelines.syntax import PassText, PipelineSyntaxError, PipelineText, parse
from torq_mlir.pipelines.wheel import PassParseError

__all__ = [
    "EVERY_PASS",
    "NAMED_PIPELINES",
    "DumpIR",
    "Instrumentation",
    "NamedPipeline",
    "PassParseError",
    "PassText",
    "Pipeline",
    "PipelineFailure",
    "PipelineSyntaxError",
    "PipelineText",
    "PrintIR",
    "Timing",
    "named",
    "nest",
    "parse",
    "run",
]
