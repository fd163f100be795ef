# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls a module of IREE with numpy arrays."""

import functools
import os
import threading
from collections.abc import Sequence
from types import ModuleType

import numpy as np

from torq_mlir import extras
from torq_mlir.errors import InputError, TorqError
from torq_mlir.execution.executable import checked
from torq_mlir.execution.signature import TensorSpec


class Executable:
    """A function of a `.vmfb`, loaded into IREE's runtime.

    Several threads may call it; they take turns.

    Attributes:
      inputs, results: shape (None where dynamic) and dtype of each; i8 is int8 whatever its meaning.
    """

    def __init__(
        self,
        binary: bytes,
        name: str,
        inputs: Sequence[TensorSpec],
        results: Sequence[TensorSpec],
        *,
        num_threads: int | None = None,
    ) -> None:
        """Loads the module.

        Args:
          binary: contents of a `.vmfb` file.
          name: of the function.
          num_threads: as many as the machine has cores for None.

        Raises:
          MissingPackageError: the extra `iree` is not installed.
          TorqError: it is no such file, or one that this version of the runtime does not load, or has no such function.
        """
        runtime = extras.require("iree.runtime", "iree")
        self.inputs, self.results = tuple(inputs), tuple(results)
        config = runtime.Config(device=_device(runtime, num_threads or os.cpu_count() or 1))
        try:
            module = runtime.VmModule.copy_buffer(config.vm_instance, binary)
            loaded = runtime.load_vm_module(module, config)
        except (RuntimeError, ValueError) as error:
            raise TorqError(f"IREE: {error}") from error
        if name not in loaded.vm_module.function_names:
            raise TorqError(f"IREE: the module has no function '{name}'")
        self._function = loaded[name]
        self._lock = threading.Lock()

    def __call__(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Computes the results.

        Args:
          inputs: one array for each of `self.inputs`, of its shape and dtype, in any memory layout. None is written.

        Returns:
          New arrays.

        Raises:
          InputError: the number, shape or dtype of the inputs is not that of the function.
          TorqError: the runtime failed.
        """
        if len(inputs) != len(self.inputs):
            raise InputError(f"expected {len(self.inputs)} inputs, got {len(inputs)}")
        arrays = [checked(array, spec, i) for i, (array, spec) in enumerate(zip(inputs, self.inputs, strict=True))]
        with self._lock:
            try:
                results = self._function(*arrays)
                several = results if isinstance(results, tuple) else (results,) * len(self.results)
                return [value.to_host().copy() for value in several]
            except (RuntimeError, ValueError) as error:
                raise TorqError(f"IREE: {error}") from error


@functools.cache
def _device(runtime: ModuleType, num_threads: int) -> object:
    """The device that all modules with this number of threads run on."""
    if num_threads == 1:
        return runtime.get_device("local-sync")
    # The number is a flag of the process, which is read when a driver is made.
    runtime.flags.parse_flags(f"--task_topology_group_count={num_threads}")
    return runtime._binding.create_hal_driver("local-task").create_default_device()
