# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and outputs of an exported program: those of its caller, and what it updates besides."""

import json
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


def call_structure(program: ExportedProgram) -> str | None:
    """How a call of the program is made of tensors, in JSON.

    Keys: "in" and "out", the structures of the arguments and of the results as `pytree` writes them; "inputs", for each
    leaf of the arguments `{"name": ...}`, that of the input, or `{"constant": ...}`, what the program is specialized
    for; "outputs", for each leaf of the results the name of the output, or null for None.

    None if the structure has a class that pytree cannot write, one without a `serialized_type_name`.
    """
    try:
        specs = {"in": program.call_spec.in_spec, "out": program.call_spec.out_spec}
        written = {side: pytree.treespec_dumps(spec) for side, spec in specs.items()}
    except NotImplementedError:
        return None
    inputs = [
        {"name": name} if isinstance(value, torch.Tensor) else {"constant": value}
        for name, value in user_inputs(program)
    ]
    returned = [spec.arg for spec in program.graph_signature.output_specs if spec.kind == OutputKind.USER_OUTPUT]
    outputs = [
        name if isinstance(argument, TensorArgument) else None
        for name, argument in zip(output_names(program), returned, strict=True)
    ]
    return json.dumps({**written, "inputs": inputs, "outputs": outputs})


class Explicit(NamedTuple):
    """Names of what a function takes and returns that has no side effects.

    Attributes:
      inputs: those of a call by the names of their placeholders, then the buffers by their own names.
      outputs: what a call returns, then what it updates, by the names of the inputs.
      updates: for each output the name of the input that it is the new value of; None for what a call returns.
      state: values of the buffers that a call updates, by name.
    """

    inputs: list[str]
    outputs: list[str]
    updates: list[str | None]
    state: dict[str, torch.Tensor]


def make_updates_explicit(program: ExportedProgram) -> Explicit:
    """Change the signature so that what a call updates is an output, and a buffer that it updates an input.

    Outputs that are None disappear.
    """
    signature = program.graph_signature
    returned = [spec for spec in signature.output_specs if spec.kind == OutputKind.USER_OUTPUT]
    updates = [spec for spec in signature.output_specs if spec.kind in _UPDATES]
    names = [
        name for name, spec in zip(output_names(program), returned, strict=True) if isinstance(spec.arg, TensorArgument)
    ]
    returned = [spec for spec in returned if isinstance(spec.arg, TensorArgument)]

    targets = {spec.target for spec in updates}
    state = [spec for spec in signature.input_specs if spec.target in targets]
    others = [spec for spec in signature.input_specs if spec.target not in targets]
    given = [spec.arg.name for spec in others if spec.kind == InputKind.USER_INPUT and _is_tensor(spec)]

    signature.input_specs[:] = others + [InputSpec(InputKind.USER_INPUT, spec.arg, None) for spec in state]
    signature.output_specs[:] = [OutputSpec(OutputKind.USER_OUTPUT, spec.arg, None) for spec in returned + updates]
    return Explicit(
        inputs=given + [spec.target for spec in state],
        outputs=names + [spec.target for spec in updates],
        updates=[None] * len(names) + [spec.target for spec in updates],
        state={spec.target: _held(program, spec.target) for spec in state},
    )


def _is_tensor(spec: InputSpec) -> bool:
    return isinstance(spec.arg, TensorArgument)


def _held(program: ExportedProgram, target: str) -> torch.Tensor:
    """A parameter or buffer; those that are not persistent are among the constants."""
    return program.state_dict[target] if target in program.state_dict else program.constants[target]
