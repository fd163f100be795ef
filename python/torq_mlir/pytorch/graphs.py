# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of TorchDynamo for the arguments of one call: numbers are constants, shapes are static."""

import contextlib
import copy
import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import ExportedProgram

from torq_mlir.errors import ModelError
from torq_mlir.frontends import fx as fx_frontend

from .aliasing import Values

_ASSERTIONS = (torch.ops.aten._assert_async.default, torch.ops.aten._assert_async.msg)
_OPERATORS = (torch._ops.OpOverload, torch._ops.OpOverloadPacket)
_TENSORS = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
# What is raised for a graph that cannot be traced without values.
_TRACING_ERRORS = (AssertionError, AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)


def placeholders(graph: fx.Graph) -> list[fx.Node]:
    """The arguments of a graph, in order."""
    return list(graph.find_nodes(op="placeholder"))


def is_number(node: fx.Node) -> bool:
    """Whether an argument is a number that TorchDynamo passes in a tensor, to compile once for all its values."""
    argument = node.meta.get("grapharg")
    return argument is not None and argument.pass_arg_as_tensor


def is_held(node: fx.Node, example: object) -> bool:
    """Whether an argument is a tensor that a module holds: a parameter, a buffer, or an attribute."""
    marked = (node.meta.get("tensor_dict") or {}).get("_dynamo_static_input_type") is not None
    return marked or isinstance(example, torch.nn.Parameter)


def is_quantized(graph: fx.Graph) -> bool:
    """Whether a node quantizes or dequantizes."""
    operators = (node.target for node in graph.nodes if isinstance(node.target, _OPERATORS))
    return any(str(each).partition(".")[0] in fx_frontend.QUANTIZED_NAMESPACES for each in operators)


def attributes(module: fx.GraphModule) -> list[Callable[[], torch.Tensor]]:
    """What gives the tensors that a graph has itself, at present."""
    targets = {node.target for node in module.graph.find_nodes(op="get_attr")}
    getters = [functools.partial(operator.attrgetter(target), module) for target in sorted(targets)]
    calls = {node.target for node in module.graph.find_nodes(op="call_module")}
    for name, called in ((name, module.get_submodule(name)) for name in sorted(calls)):
        for path in (*dict(called.named_parameters()), *dict(called.named_buffers())):
            getters.append(functools.partial(operator.attrgetter(f"{name}.{path}"), module))
    return [getter for getter in getters if isinstance(getter(), torch.Tensor)]


def check_tensors(tensors: Sequence[torch.Tensor]) -> None:
    """Raise a ModelError unless all are dense tensors on the host."""
    for tensor in tensors:
        if type(tensor) not in _TENSORS:
            raise ModelError(f"a tensor is a {type(tensor).__name__}; only torch.Tensor is supported")
        if tensor.layout != torch.strided or tensor.is_quantized:
            raise ModelError(f"a tensor has the layout {tensor.layout}; only dense ones are supported")
        if tensor.device.type != "cpu":
            raise ModelError(f"a tensor is on {tensor.device}; what is compiled runs on the CPU")


def with_constants(module: fx.GraphModule, arguments: Sequence[Any], numbers: Sequence[int]) -> fx.GraphModule:
    """A copy of a graph where arguments that are numbers are constants; they stay, but without users.

    Args:
      numbers: positions of the numbers that are passed in tensors.
    """
    graph = copy.deepcopy(module.graph)
    for position, (node, value) in enumerate(zip(placeholders(graph), arguments, strict=True)):
        if position in numbers:
            for user in [user for user in node.users if user.op == "call_method" and user.target == "item"]:
                _replace(user, value.item())
                graph.erase_node(user)
        elif not isinstance(value, torch.Tensor):
            _replace(node, value)
    return fx.GraphModule(module, graph)


def _replace(node: fx.Node, value: float) -> None:
    for user in list(node.users):
        user.args, user.kwargs = fx.map_arg((user.args, user.kwargs), lambda each: value if each is node else each)


def run_on_fakes(module: fx.GraphModule, arguments: Sequence[Any]) -> tuple[Values, bool]:
    """The values of all nodes, as tensors without data that share memory where those of PyTorch do.

    Returns:
      The values, and whether gradients are recorded after the graph, which can switch that.

    Raises:
      ModelError: shapes depend on values, or the graph does not fit its arguments.
    """
    with FakeTensorMode(allow_non_fake_inputs=True) as mode, _reporting("the graph cannot be traced"):
        recorder = _Recorder(module)
        with torch.set_grad_enabled(torch.is_grad_enabled()):
            recorder.run(*(mode.from_tensor(each) if isinstance(each, torch.Tensor) else each for each in arguments))
            return recorder.values, torch.is_grad_enabled()


class _Recorder(fx.Interpreter):
    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.values: dict[fx.Node, Any] = {}

    def run_node(self, node: fx.Node) -> Any:
        self.values[node] = super().run_node(node)
        return self.values[node]


def check_values(values: Values) -> None:
    """Raise a ModelError where a node is transformed or on another device, or an output has a gradient."""
    for node, value in values.items():
        if isinstance(value, torch.Tensor) and torch._C._functorch.is_functorch_wrapped_tensor(value):
            raise ModelError(f"{node.name}: transforms of torch.func such as vmap and grad are not supported")
        if isinstance(value, torch.Tensor) and value.device.type != "cpu":
            raise ModelError(f"{node.name} is on {value.device}; what is compiled runs on the CPU")
        if node.op == "output":
            check_gradients(value)


def check_gradients(values: Iterable[Any]) -> None:
    """Raise a ModelError where a value that a graph returns or writes has a gradient."""
    if any(isinstance(each, torch.Tensor) and each.requires_grad for each in values):
        raise ModelError("the results have gradients; call it under torch.no_grad() or torch.inference_mode()")


def returning(module: fx.GraphModule, results: Sequence[fx.Node]) -> fx.GraphModule:
    """A copy that returns these nodes, and does not switch gradients on and off."""
    graph, copies = fx.Graph(), {}
    graph.graph_copy(module.graph, copies)
    for node in list(graph.nodes):
        if node.target is torch._C._set_grad_enabled:
            graph.erase_node(node)
    graph.output(tuple(copies[node] for node in results))
    return fx.GraphModule(module, graph)


def held_name(position: int) -> str:
    """Of the argument at that position, where it becomes a constant of an exported program."""
    return f"held_{position}"


def export(module: fx.GraphModule, arguments: Sequence[Any], held: Mapping[int, torch.Tensor]) -> ExportedProgram:
    """The program of a graph. Its inputs are the tensors among the arguments that are not held.

    Args:
      held: parameters by position among the arguments, which become constants.

    Raises:
      ModelError: the graph cannot be exported, or it checks values.
    """
    graph = copy.deepcopy(module.graph)
    root = torch.nn.Module()
    root.graph_module = module  # for the graph's own tensors and modules
    for node in graph.nodes:
        if node.op in ("get_attr", "call_module"):
            node.target = f"graph_module.{node.target}"
    for position, (node, value) in enumerate(zip(placeholders(graph), arguments, strict=True)):
        if position in held:
            root.register_buffer(held_name(position), held[position].detach())
            with graph.inserting_before(node):
                node.replace_all_uses_with(graph.get_attr(held_name(position)))
        if position in held or not isinstance(value, torch.Tensor):
            graph.erase_node(node)
    tensors = [each for i, each in enumerate(arguments) if isinstance(each, torch.Tensor) and i not in held]
    with torch.inference_mode(False), torch.no_grad(), _reporting("torch.export"):
        program = torch.export.export(fx.GraphModule(root, graph), tuple(_like(each) for each in tensors))
    for node in program.graph.nodes:
        if node.target in _ASSERTIONS:
            raise ModelError(f"{node.name}: assertions about values are not supported")
    return program


def _like(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of the same shape and strides, without what users and TorchDynamo have marked the tensor with."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)


def has_effect(program: ExportedProgram) -> bool:
    """Whether a program returns or writes to something."""
    operators = (node.target for node in program.graph.nodes if isinstance(node.target, torch._ops.OpOverload))
    return bool(program.graph_signature.output_specs) or any(each._schema.is_mutable for each in operators)


@contextlib.contextmanager
def _reporting(subject: str) -> Iterator[None]:
    """What PyTorch raises for a graph becomes a ModelError of one line."""
    try:
        yield
    except _TRACING_ERRORS as error:
        first_line = str(error).strip().partition("\n")[0]
        raise ModelError(f"{subject}: {first_line or type(error).__name__}") from error
