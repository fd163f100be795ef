# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and outputs of an exported program: those of its caller, and what it updates besides."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ConstantArgument,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.utils import _pytree as pytree

from torq_mlir.errors import ModelError

# What the entries of a path in a structure call their key.
_KEY_FIELDS = ("key", "idx", "name")
_UPDATES = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION, OutputKind.USER_INPUT_MUTATION)


def user_inputs(program: ExportedProgram) -> Iterator[tuple[str, Any]]:
    """Name and value of each argument of a call, flattened: a fake tensor, or what the program is specialized for."""
    values = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    for spec in program.graph_signature.input_specs:
        if spec.kind == InputKind.USER_INPUT:
            constant = isinstance(spec.arg, ConstantArgument)
            yield spec.arg.name, spec.arg.value if constant else values[spec.arg.name]


def check_signature(program: ExportedProgram) -> None:
    """Inputs are tensors and constants, outputs are tensors or None."""
    for spec in program.graph_signature.input_specs:
        if spec.kind not in (InputKind.USER_INPUT, InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR):
            raise ModelError(f"'{spec.target or spec.arg.name}': inputs of the kind {spec.kind.name} are not supported")
        if not isinstance(spec.arg, TensorArgument | ConstantArgument):
            raise ModelError(
                f"input '{spec.arg.name}': only tensors and constants are supported, not a symbolic number"
            )
    names = iter(output_names(program))
    for spec in program.graph_signature.output_specs:
        name = next(names) if spec.kind == OutputKind.USER_OUTPUT else None
        if spec.kind not in (OutputKind.USER_OUTPUT, *_UPDATES):
            raise ModelError(f"'{spec.arg.name}': outputs of the kind {spec.kind.name} are not supported")
        if isinstance(spec.arg, ConstantArgument) and spec.arg.value is not None:
            raise ModelError(f"output '{name}': is the constant {spec.arg.value!r}; only tensors are supported")
        if not isinstance(spec.arg, TensorArgument | ConstantArgument):
            raise ModelError(f"output '{name}': only tensors are supported, not a symbolic number")


def output_names(program: ExportedProgram) -> list[str]:
    """A name for each value that a call returns: keys and positions of the structure that it is in.

    `output` for a single tensor, `output_0`, `output_1` of a tuple, `logits` of a dict, `cache.0` of a tuple in a dict.
    """
    spec = program.call_spec.out_spec
    paths = pytree.tree_flatten_with_path(spec.unflatten(range(spec.num_leaves)))[0]
    return [_path_name(path) for path, _ in paths]


def _path_name(path: tuple) -> str:
    keys = ".".join(str(next(getattr(key, each) for each in _KEY_FIELDS if hasattr(key, each))) for key in path)
    if not path:
        return "output"
    return f"output_{keys}" if isinstance(path[0], pytree.SequenceKey) else keys


class Output(NamedTuple):
    """A result of the imported function: what a call returns, or the new value of the input that it `updates`."""

    name: str
    updates: str | None = None


def make_updates_explicit(program: ExportedProgram) -> list[Output]:
    """Change the signature so that what a call updates is an output, and a buffer that it updates an input.

    These come last, after the inputs and outputs of the caller. Outputs that are None disappear.

    Returns:
      The outputs, in order.
    """
    signature = program.graph_signature
    names = output_names(program)
    updates = [spec for spec in signature.output_specs if spec.kind in _UPDATES]
    returned = [spec for spec in signature.output_specs if spec.kind == OutputKind.USER_OUTPUT]
    outputs = [(Output(name), spec) for name, spec in zip(names, returned, strict=True)]
    outputs = [(output, spec) for output, spec in outputs if isinstance(spec.arg, TensorArgument)]

    targets = {spec.target for spec in updates}
    state = [spec for spec in signature.input_specs if spec.target in targets]
    names_of_state = {spec.target: spec.arg.name for spec in state}
    for spec in updates:
        name = names_of_state.get(spec.target, spec.target)
        outputs.append((Output(name, name), spec))

    constants = [spec for spec in signature.input_specs if spec.target not in targets]
    signature.input_specs[:] = constants + [InputSpec(InputKind.USER_INPUT, spec.arg, None) for spec in state]
    signature.output_specs[:] = [OutputSpec(OutputKind.USER_OUTPUT, spec.arg, None) for _, spec in outputs]
    return [output for output, _ in outputs]


def state_values(program: ExportedProgram) -> dict[str, torch.Tensor]:
    """The values, by name of the input, of buffers and parameters that a call updates."""
    signature = program.graph_signature
    updated = {spec.target for spec in signature.output_specs if spec.kind in _UPDATES}
    values = {}
    for spec in signature.input_specs:
        if spec.target in updated:
            held = program.state_dict if spec.target in program.state_dict else program.constants
            values[spec.arg.name] = held[spec.target]
    return values
