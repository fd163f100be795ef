# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a discovery and the compiler file, as Python values and as JSON files."""

from torq_mlir.gen_config.files.compiler_file import CompilerFile
from torq_mlir.gen_config.files.judging import judge, recommend
from torq_mlir.gen_config.files.reading import (
    ConfigFileError,
    read_compiler_file,
    read_report,
    write_compiler_file,
    write_report,
)
from torq_mlir.gen_config.files.report import (
    EXECUTORS,
    Comparison,
    Distribution,
    ExecutorResult,
    FullModelRun,
    IrText,
    Layer,
    LayerSensitivity,
    Metrics,
    ModelInfo,
    Report,
    Sensitivity,
    Status,
    TensorInfo,
    Timing,
    Tolerance,
    Values,
)
from torq_mlir.gen_config.files.summary import Summary, critical_failures, summarize

__all__ = [
    "EXECUTORS",
    "Comparison",
    "CompilerFile",
    "ConfigFileError",
    "Distribution",
    "ExecutorResult",
    "FullModelRun",
    "IrText",
    "Layer",
    "LayerSensitivity",
    "Metrics",
    "ModelInfo",
    "Report",
    "Sensitivity",
    "Status",
    "Summary",
    "TensorInfo",
    "Timing",
    "Tolerance",
    "Values",
    "critical_failures",
    "judge",
    "read_compiler_file",
    "read_report",
    "recommend",
    "summarize",
    "write_compiler_file",
    "write_report",
]
