# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files of a discovery."""

from dataclasses import dataclass
from pathlib import Path

_STEM = "torq_gen_config_"


@dataclass(frozen=True)
class Paths:
    """The files of a model in a folder."""

    folder: Path
    model: str

    @property
    def report(self) -> Path:
        return self.folder / f"{_STEM}{self.model}.json"

    @property
    def compiler_file(self) -> Path:
        return self.folder / f"{_STEM}{self.model}_compiler.json"

    @property
    def mlir(self) -> Path:
        """The MLIR whose lines the compiler file refers to, without large constants."""
        return self.folder / f"{_STEM}{self.model}.mlir"

    @property
    def journal(self) -> Path:
        """Results of a discovery that has not ended."""
        return self.folder / f".{_STEM}{self.model}.journal"
