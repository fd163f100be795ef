# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What executes a compiled model on the host."""

import dataclasses
import os
from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir

BACKENDS = ("cpu", "jit", "interpreter")
# Each needs the extra of its name.
EXTRA_BACKENDS = ("iree",)

Executable = Callable[[Sequence[np.ndarray]], list[np.ndarray]]


@dataclasses.dataclass(frozen=True)
class Execution:
    """How to execute a model. All give the same bits.

    Attributes:
      backend: "cpu", kernels that are generated for the shapes of the model and for the processor; "jit", MLIR's own
        lowering, for shapes that are known at run time only; "interpreter", numpy, slower, the definition of what
        the operations compute; or "iree", IREE's compiler and runtime, which the extra `iree` brings.
      cpu: for the backend "cpu", instructions to use: "avx512-vnni", "avx-vnni", "avx2" or "generic"; the best that
        the machine has for None.
      num_threads: for the backends "cpu" and "iree", threads of a call; as many as the machine has cores for None.
      cache_dir: for the backend "cpu", folder where compiled code is kept.
      opt_level: of LLVM, 0 (compiles fastest) to 3 (runs fastest); what is usual for the backend for None.

    Raises:
      ValueError: there is no such backend or level, or the number of threads is not positive.
    """

    backend: str = "cpu"
    cpu: str | None = None
    num_threads: int | None = None
    cache_dir: str | os.PathLike | None = None
    opt_level: int | None = None

    def __post_init__(self) -> None:
        known = (*BACKENDS, *EXTRA_BACKENDS)
        if self.backend not in known:
            raise ValueError(f"there is no backend {self.backend!r}; the backends are {', '.join(known)}")
        if self.num_threads is not None and self.num_threads < 1:
            raise ValueError(f"the number of threads is {self.num_threads}, not 1 or more")
        if self.opt_level is not None and self.opt_level not in range(4):
            raise ValueError(f"the optimization level is {self.opt_level}, not 0 to 3")

    @classmethod
    def of(cls, backend: "str | Execution") -> "Execution":
        """That of a backend's name, with its other options as they are by default."""
        return backend if isinstance(backend, Execution) else cls(backend)

    def compile(self, module: ir.Module) -> tuple[str, Executable]:
        """The name of the backend that takes the module, and what executes it.

        What has no static shapes is executed by "jit" instead of "cpu".

        Raises:
          CompileError: the backend has no code for an operation, or the machine not the instructions.
          MissingPackageError: the extra of the backend is not installed.
        """
        level = {} if self.opt_level is None else {"opt_level": self.opt_level}
        if self.backend == "interpreter":
            from torq_mlir.backends import interpreter

            return self.backend, interpreter.Interpreter(module)
        if self.backend == "iree":
            from torq_mlir.backends import iree

            return self.backend, iree.compile(module, num_threads=self.num_threads, **level)
        if self.backend == "cpu":
            from torq_mlir.backends import cpu

            try:
                options = {"cpu": self.cpu, "num_threads": self.num_threads, "cache_dir": self.cache_dir}
                return self.backend, cpu.compile(module, **options, **level)
            except cpu.NotPlannedError:
                pass
        from torq_mlir.backends import jit

        return "jit", jit.compile(module, **level)
