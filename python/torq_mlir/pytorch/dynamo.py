# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend `torq` of `torch.compile`."""

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import fx
from torch._dynamo.convert_frame import compile_lock
from torch._guards import CompileContext

from torq_mlir.errors import TorqError
from torq_mlir.executing import Execution

from . import graphs
from .specialization import Specialization, specialize

_log = logging.getLogger("torq_mlir.pytorch")
_EXECUTION = tuple(field.name for field in dataclasses.fields(Execution))
_COMPILATION = ("float", "approximate")
_FREEZE = "freeze"
# Of one graph, for different shapes, numbers and values of parameters.
_MOST_COMPILED = 16


def backend(
    graph_module: fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> "CompiledGraph":
    """What `torch.compile(model, backend="torq")` calls for each graph.

    Args:
      options: those of `Execution` (backend, cpu, num_threads, cache_dir, opt_level) and of `compile` (float,
        approximate); and `freeze`, whether parameters and buffers are constants of the compiled code, which is compiled
        again when they change: by default where a graph quantizes.

    Raises:
      ValueError: there is no such option, or it has no such value.
    """
    if mode is not None:
        raise ValueError(f"the backend torq has no modes such as {mode!r}; it has options")
    options = dict(options or {})
    if unknown := options.keys() - {*_EXECUTION, *_COMPILATION, _FREEZE}:
        known = ", ".join((*_EXECUTION, *_COMPILATION, _FREEZE))
        raise ValueError(f"the backend torq has no option {min(unknown)!r}; its options are {known}")
    freeze = options.pop(_FREEZE, None)
    if freeze not in (None, False, True):
        raise ValueError(f"the option freeze is {freeze!r}, not True, False or None")
    execution = Execution(**{name: options.pop(name) for name in _EXECUTION if name in options})
    return CompiledGraph(graph_module, example_inputs, {"backend": execution, **options}, freeze)


class CompiledGraph:
    """A graph that is compiled at the first call, and again for other shapes, numbers and values of parameters.

    What cannot be compiled runs as PyTorch runs it, which is logged once. Compiled code may run in several threads.

    Attributes:
      specializations: what has been compiled, by shapes and numbers; None for what runs as PyTorch runs it.
    """

    def __init__(
        self,
        graph_module: fx.GraphModule,
        examples: Sequence[Any],
        options: Mapping[str, Any],
        freeze: bool | None,
    ) -> None:
        self.specializations: dict[tuple, Specialization | None] = {}
        self._module, self._options = graph_module, options
        nodes = graphs.placeholders(graph_module.graph)
        self._numbers = frozenset(i for i, node in enumerate(nodes) if graphs.is_number(node))
        if freeze is None:
            freeze = graphs.is_quantized(graph_module.graph)
        held = [i for i, pair in enumerate(zip(nodes, examples, strict=True)) if graphs.is_held(*pair)]
        self._held = held if freeze else []
        self._free = [i for i in range(len(nodes)) if i not in self._held]
        self._name = str(CompileContext.current_compile_id() or "")
        self._count, self._has_fallen_back = 0, False

    def __call__(self, *arguments: Any) -> Sequence[Any]:
        found = self._found_or_made(self._key(arguments), arguments)
        if found is None:
            return self._module(*arguments)
        if found.model.updated and found.updates_shared(arguments):
            self._fall_back("memory that the graph writes to is that of several of its inputs")
            return self._module(*arguments)
        if not found.takes(arguments):
            self._fall_back("an index is out of range, or a divisor is zero")
            return self._module(*arguments)
        try:
            return found(arguments)
        except TorqError as error:  # before anything was written
            self._fall_back(str(error))
            return self._module(*arguments)

    def _key(self, arguments: Sequence[Any]) -> tuple:
        """What the code depends on that TorchDynamo may not compile again for."""
        return (torch.is_grad_enabled(), *(self._described(i, arguments[i]) for i in self._free))

    def _described(self, position: int, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if position in self._numbers:
            return repr(value.item())  # which tells 0 from -0
        return value.shape, value.stride(), value.dtype, value.requires_grad

    def _found_or_made(self, key: tuple, arguments: Sequence[Any]) -> Specialization | None:
        if self._is_current(key, arguments):
            return self.specializations[key]
        if self._count >= _MOST_COMPILED:
            self._fall_back(f"it has been compiled for {_MOST_COMPILED} other shapes or values")
            return None
        with compile_lock:  # tracing has state that all threads share
            if not self._is_current(key, arguments):
                self._count += 1
                self.specializations[key] = self._made(arguments)
            return self.specializations[key]

    def _is_current(self, key: tuple, arguments: Sequence[Any]) -> bool:
        if key not in self.specializations:
            return False
        found = self.specializations[key]
        return found is None or found.is_current(arguments)

    def _made(self, arguments: Sequence[Any]) -> Specialization | None:
        try:
            return specialize(self._module, arguments, held=self._held, numbers=self._numbers, options=self._options)
        except TorqError as error:
            self._fall_back(str(error))
            return None

    def _fall_back(self, reason: str) -> None:
        if not self._has_fallen_back:
            _log.warning("graph %s runs in eager mode: %s", self._name, " ".join(reason.split()))
        self._has_fallen_back = True
