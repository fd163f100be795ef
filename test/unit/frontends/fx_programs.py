# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small exported programs, written down."""

from collections.abc import Callable

import torch
from torch import nn
from torch.export import ExportedProgram


def export(
    forward: Callable,
    *inputs: object,
    buffers: dict[str, torch.Tensor] | None = None,
    persistent: bool = True,
    **options,
) -> ExportedProgram:
    """The program of a module with this `forward` and these buffers; options are those of `torch.export.export`."""
    module = type("Function", (nn.Module,), {"forward": forward})()
    for name, value in (buffers or {}).items():
        module.register_buffer(name, value, persistent=persistent)
    return torch.export.export(module.eval(), inputs, **options)
