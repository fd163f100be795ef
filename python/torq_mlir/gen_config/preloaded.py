# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports all that a layer needs, before processes are forked: each of them has it then."""

from torq_mlir import passes, pipelines
from torq_mlir.backends import interpreter, jit
from torq_mlir.gen_config import sensitivity, tasks

__all__ = ["interpreter", "jit", "sensitivity", "tasks"]

_PIPELINES = ("torq-onnx-to-torq-hl", "torq-hl-to-linalg")


def _load_passes(text: str) -> None:
    for element in pipelines.parse(pipelines.named.get(text, text)).elements:
        if isinstance(element, pipelines.PipelineText):
            _load_passes(str(element))
        elif element.name in pipelines.named:
            _load_passes(element.name)
        elif element.name in passes.registry():
            passes.registry()[element.name].load()


for _pipeline in (*_PIPELINES, "builtin.module(torq-assign-executors)"):
    _load_passes(_pipeline)
