# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the compiler needs to know of a discovery."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from torq_mlir.gen_config.files.report import Flag, ModelInfo


@dataclass(frozen=True)
class CompilerFile:
    """Who executes each operation of the quantized MLIR of a model.

    Attributes:
      flags, hashes: as in the report; the locations are those of the MLIR with the hash "quantized_mlir".
      op_assignments: executor by "line:col".
      op_names: for the reader, the layer at each "line:col".
    """

    model: ModelInfo
    flags: Mapping[str, Flag]
    op_assignments: Mapping[str, str]
    hashes: Mapping[str, str] = field(default_factory=dict)
    op_names: Mapping[str, str] = field(default_factory=dict)
