# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled models as modules of PyTorch."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from torq_mlir import interface
from torq_mlir.compiler import CompiledModel, DynamicModel
from torq_mlir.errors import InputError, TorqError
from torq_mlir.frontends.fx import numpy_view, torch_view
from torq_mlir.frontends.tensor_info import TensorInfo

from .structures import FlatStructure, ProgramStructure


def torch_module(model: CompiledModel | DynamicModel) -> "TorqModule":
    """A `torch.nn.Module` that calls a compiled model.

        module = torq_mlir.torch_module(torq_mlir.compile(program))
        logits = module(images)

    Arguments and results are nested as those of the exported program. A model from ONNX takes tensors by position or by
    name, and returns a tensor, or a tuple of several.
    """
    return TorqModule(model)


class TorqModule(nn.Module):
    """A compiled model that takes and returns tensors on the CPU.

    A contiguous tensor is read where it is, and results are where the compiled code has written them: nothing is
    copied. There are no gradients, and no other mode than the one that the program was exported in: `training` is
    False, and `train()` has no effect.

    The buffers that calls update are buffers of the module, named as in the program; they are its `state_dict`. They
    start as copies of `compiled.state`, which is left as it is.
    `copy.deepcopy` shares the compiled code, and copies the buffers. A module of a `CompiledModel` can be pickled.

    Attributes:
      compiled: the model.
    """

    def __init__(self, model: CompiledModel | DynamicModel) -> None:
        super().__init__()
        self.training = False
        self.compiled = model
        self._structure = ProgramStructure(model.structure) if model.structure else FlatStructure(model)
        for name, value in model.state.items():
            _register_buffer(self, name, torch_view(value.copy()))

    @torch.compiler.disable
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the model.

        Raises:
          InputError: an argument is missing, unknown, no tensor on the CPU, of another shape or dtype, or has a
            gradient.
          CompileError: the backend has no code for an operation.
        """
        given = self._structure.inputs(args, kwargs)
        arrays = {info.name: _array(info, given[info.name]) for info in self.compiled.inputs}
        buffers = {name: self.get_buffer(name) for name in self.compiled.state}
        outputs, updated = self.compiled.evaluate(arrays, {name: numpy_view(each) for name, each in buffers.items()})
        with torch.no_grad():
            for name, value in updated.items():
                (buffers[name] if name in buffers else given[name]).copy_(torch_view(value))
        return self._structure.outputs([torch_view(value) for value in outputs])

    def train(self, mode: bool = True) -> "TorqModule":
        """No effect: the mode is that of the program."""
        return self

    def to(self, *args: Any, **kwargs: Any) -> "TorqModule":
        """As of every module; there is no other device than the CPU, and no other dtype.

        Raises:
          TorqError: the device is not the CPU, or the dtype is another one.
        """
        _check_device(torch._C._nn._parse_to(*args, **kwargs)[0])
        return super().to(*args, **kwargs)

    def cuda(self, device: int | torch.device | None = None) -> "TorqModule":
        """Raises a TorqError."""
        return self.to("cuda")

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> "TorqModule":
        """What moves and converts all modules. This one stays on the CPU, and of its dtypes."""
        for probe in (torch.empty(0), torch.empty(0, dtype=torch.float64)):
            result = fn(probe)
            _check_device(result.device)
            if result.dtype != probe.dtype:
                raise TorqError(f"a compiled model cannot be converted to {result.dtype}; compile it of that dtype")
        return super()._apply(fn, recurse)

    def __deepcopy__(self, memo: dict) -> "TorqModule":
        made = self.__class__.__new__(self.__class__)
        memo[id(self)] = made
        memo[id(self.compiled)] = self.compiled
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return made

    def extra_repr(self) -> str:
        """The inputs and outputs."""
        return f"{_described(self.compiled.inputs)} -> {_described(self.compiled.outputs)}"


def _check_device(device: torch.device | None) -> None:
    if device is not None and device.type != "cpu":
        raise TorqError(f"a compiled model runs on the CPU and cannot move to {device}; move its inputs to the CPU")


def _described(infos: Sequence[TensorInfo]) -> str:
    return ", ".join(f"{info.name}: {info.dtype.name}[{interface.format_shape(info.shape)}]" for info in infos)


def _array(info: TensorInfo, value: object) -> np.ndarray:
    """The memory of a tensor that is passed for an input."""
    if not isinstance(value, torch.Tensor):
        raise InputError(f"input '{info.name}' is a {type(value).__name__}, not a tensor")
    if value.device.type != "cpu" or value.layout != torch.strided:
        raise InputError(f"input '{info.name}' is on {value.device}; a compiled model takes dense tensors on the CPU")
    if value.requires_grad and torch.is_grad_enabled():
        raise InputError(f"input '{info.name}' has a gradient, but a compiled model has none; use torch.no_grad()")
    array = numpy_view(value)
    return array.astype(info.dtype) if info.dtype.name in ("int4", "uint4") else array


def _register_buffer(module: nn.Module, path: str, value: torch.Tensor) -> None:
    """Register a buffer of a nested name such as `layer.cache`."""
    *parents, name = path.split(".")
    for parent in parents:
        if not hasattr(module, parent):
            module.add_module(parent, nn.Module())
        module = getattr(module, parent)
    module.register_buffer(name, value)
