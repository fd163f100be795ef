# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph of TorchDynamo, compiled for the shapes and numbers of one call."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from torq_mlir import compiler
from torq_mlir.errors import ModelError
from torq_mlir.frontends.fx import numpy_view, torch_view

from . import graphs, preconditions
from .aliasing import Outputs, split_outputs


class Held:
    """A parameter that is a constant of compiled code, and the way to see that it has another value now."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor, self._pointer, self._requires_grad = tensor, tensor.data_ptr(), tensor.requires_grad
        # What is made under inference_mode counts no versions.
        self._copy = tensor.detach().clone() if tensor.is_inference() else None
        self._version = None if tensor.is_inference() else tensor._version

    def is_still(self, tensor: torch.Tensor) -> bool:
        """Whether this is the tensor that was compiled, and nothing has been written to it since."""
        if tensor is not self._tensor or tensor.data_ptr() != self._pointer:
            return False
        if tensor.requires_grad != self._requires_grad:
            return False
        return tensor._version == self._version if self._copy is None else torch.equal(tensor, self._copy)


@dataclass(frozen=True)
class Specialization:
    """What calls a compiled model in place of a graph.

    Attributes:
      held: the parameters that are constants, by position among the arguments.
      attributes: tensors of the graph itself, which are constants, with what gives their present value.
      inputs: positions of the arguments that are inputs of the model, by name.
      violations: takes these inputs, and says which of the conditions that the code has on their values are violated.
      outputs: how the outputs of the graph come about.
      layouts: shape and strides of each computed tensor in PyTorch.
      given: positions of the arguments that outputs are views of.
      records_gradients: whether gradients are recorded after the graph.
    """

    model: compiler.CompiledModel
    held: Mapping[int, Held]
    attributes: Sequence[tuple[Held, Callable[[], torch.Tensor]]]
    inputs: Mapping[str, int]
    violations: fx.GraphModule | None
    outputs: Outputs
    layouts: Sequence[tuple[torch.Size, tuple[int, ...]]]
    given: Sequence[int]
    records_gradients: bool

    def is_current(self, arguments: Sequence[Any]) -> bool:
        """Whether the parameters that are constants still have their values."""
        if not all(held.is_still(arguments[position]) for position, held in self.held.items()):
            return False
        return all(held.is_still(present()) for held, present in self.attributes)

    def takes(self, arguments: Sequence[Any]) -> bool:
        """Whether the code may run: indices are in range, and no divisor of integers is zero."""
        if self.violations is None:
            return True
        with torch.no_grad():
            return not any(self.violations(*(arguments[position] for position in self.inputs.values())))

    def updates_shared(self, arguments: Sequence[Any]) -> bool:
        """Whether memory of an argument that is written to is that of another argument too."""
        written = {self.inputs[name] for name in self.model.updated}
        pointers = {arguments[position].untyped_storage().data_ptr() for position in written}
        others = (each for i, each in enumerate(arguments) if i not in written and isinstance(each, torch.Tensor))
        return len(pointers) < len(written) or any(each.untyped_storage().data_ptr() in pointers for each in others)

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """The outputs of the graph; arguments that it updates are written to.

        Raises:
          TorqError: the computation failed; nothing was written.
        """
        arrays = {name: numpy_view(arguments[position]) for name, position in self.inputs.items()}
        results, updated = self.model.evaluate(arrays, {})
        with torch.no_grad():
            for name, array in updated.items():
                arguments[self.inputs[name]].copy_(torch_view(array))
        computed = [_laid_out(torch_view(each), *layout) for each, layout in zip(results, self.layouts, strict=True)]
        results = self.outputs.views(*computed, *(arguments[position] for position in self.given))
        torch._C._set_grad_enabled(self.records_gradients)
        return results


def _laid_out(tensor: torch.Tensor, shape: torch.Size, strides: tuple[int, ...]) -> torch.Tensor:
    if tensor.stride() == strides:
        return tensor
    return torch.empty_strided(shape, strides, dtype=tensor.dtype).copy_(tensor)


def specialize(
    module: fx.GraphModule,
    arguments: Sequence[Any],
    *,
    held: Sequence[int],
    numbers: Sequence[int],
    options: Mapping[str, Any],
) -> Specialization | None:
    """Compile a graph for the shapes and numbers of these arguments; None where it computes nothing.

    Args:
      held: positions of parameters that become constants, if the graph does not update them.
      numbers: positions of numbers that are passed in tensors.
      options: of `torq_mlir.compile`.

    Raises:
      ModelError, CompileError: the graph cannot be compiled; the message is one line.
    """
    graphs.check_tensors([each for each in arguments if isinstance(each, torch.Tensor)])
    module = graphs.with_constants(module, arguments, numbers)
    values, records_gradients = graphs.run_on_fakes(module, arguments)
    graphs.check_values(values)
    outputs = split_outputs(module.graph, values)
    head = graphs.returning(module, outputs.computed)
    arguments = [each.item() if i in numbers else each for i, each in enumerate(arguments)]
    constants = {position: arguments[position] for position in held}
    program = graphs.export(head, arguments, constants)
    if not graphs.has_effect(program):
        return None
    model = compiler.compile(program, **options)
    if model.state:  # parameters that are updated are no constants
        constants = {i: each for i, each in constants.items() if graphs.held_name(i) not in model.state}
        program = graphs.export(head, arguments, constants)
        model = compiler.compile(program, **options)
    if model.state:
        raise ModelError(f"{min(model.state)} is updated, but is no input of the graph")
    model.prepare()
    positions = [i for i, each in enumerate(arguments) if isinstance(each, torch.Tensor) and i not in constants]
    inputs = dict(zip((info.name for info in model.inputs), positions, strict=True))
    nodes = graphs.placeholders(module.graph)
    if torch.is_grad_enabled():
        graphs.check_gradients(values[nodes[inputs[name]]] for name in model.updated)
    return Specialization(
        model=model,
        held={position: Held(tensor) for position, tensor in constants.items()},
        attributes=[(Held(present()), present) for present in graphs.attributes(module)],
        inputs=inputs,
        violations=preconditions.violations(program),
        outputs=outputs,
        layouts=[(values[node].shape, values[node].stride()) for node in outputs.computed],
        given=[nodes.index(node) for node in outputs.given],
        records_gradients=records_gradients,
    )
