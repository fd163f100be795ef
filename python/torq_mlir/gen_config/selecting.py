# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers by name, as people give names on a command line."""

import fnmatch
from collections.abc import Sequence

from torq_mlir.errors import TorqError
from torq_mlir.gen_config.files import Layer, Report


def select(report: Report, names: str | Sequence[str]) -> list[Layer]:
    """The layers with one of `names`, in order: "ALL", exact names, else wildcards, else parts of names.

    Raises:
      TorqError: one of them fits no layer.
    """
    names = [names] if isinstance(names, str) else names
    chosen = {layer.name for name in names for layer in _matches(report, name)}
    return [layer for layer in report.layers if layer.name in chosen]


def _matches(report: Report, name: str) -> list[Layer]:
    exact = [layer for layer in report.layers if layer.name == name]
    if exact or name == "ALL":
        return exact or list(report.layers)
    wild = [layer for layer in report.layers if fnmatch.fnmatchcase(layer.name, name)]
    found = wild or [layer for layer in report.layers if name and name in layer.name]
    if not found:
        raise TorqError(f"no layer of {report.model.name} is called '{name}', contains or matches it")
    return found
