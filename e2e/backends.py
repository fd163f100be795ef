# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What executes the compiled models."""

import enum

from torq_mlir.executing import Execution


class Backend(enum.Flag):
    """Executors to run. The layers are compared in the interpreter; all must agree with it bit for bit."""

    INTERPRETER = enum.auto()
    CPU = enum.auto()
    JIT = enum.auto()
    IREE = enum.auto()
    ALL = INTERPRETER | CPU | JIT  # without IREE, which takes a second or more to compile a layer

    @property
    def names(self) -> list[str]:
        """As `torq_mlir.compile` knows them, the interpreter first."""
        return [member.name.lower() for member in type(self) if member in self]

    @classmethod
    def parse(cls, text: str) -> "Backend":
        """Of names with commas in between, or "all".

        Raises:
          ValueError: there is none of a name.
        """
        found = cls(0)
        for name in text.split(","):
            if name.upper() not in cls.__members__:
                raise ValueError(f"there is no executor {name!r}")
            found |= cls[name.upper()]
        return found


def execution(executor: str) -> Execution:
    """An executor for one run, which does not repay optimizing kernels: they have the instructions that they need."""
    return Execution(executor, num_threads=1, opt_level=0 if executor == "cpu" else None)
