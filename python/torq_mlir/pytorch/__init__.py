# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled models inside PyTorch: `torch.compile(model, backend="torq")` and modules that take and return tensors."""

from torq_mlir import extras

extras.require("torch", "torch")

from .dynamo import backend  # noqa: E402 - they import PyTorch
from .module import TorqModule, torch_module  # noqa: E402

__all__ = ["TorqModule", "backend", "torch_module"]
