# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compiled code takes for granted: indices are in range, and divisors of integers are not zero.

PyTorch raises an error where they are not; compiled code would read and write memory that is not its own, or end the
process. So these values are looked at before it runs, as far as integers alone decide them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import fx
from torch.export import ExportedProgram

from torq_mlir.errors import ModelError

_aten = torch.ops.aten
_ALONG_A_DIMENSION = frozenset(
    {"gather", "index_add", "index_copy", "index_fill", "index_select", "scatter", "scatter_add", "scatter_reduce"}
)
_DIVISIONS = frozenset({"div", "divide", "floor_divide", "fmod", "remainder"})
_LOSSES = frozenset({"cross_entropy_loss", "nll_loss", "nll_loss_nd", "nll_loss2d"})


@dataclass(frozen=True)
class _Range:
    """Elements of `node` are from `low` to before `high`, or `ignored`; not zero where there are no bounds."""

    node: fx.Node
    low: int | None = None
    high: int | None = None
    ignored: int | None = None


def violations(program: ExportedProgram) -> fx.GraphModule | None:
    """A module that takes the inputs of a program, and returns for each condition whether some element violates it.

    An index that floats decide, such as that of the largest element, is not looked at.

    Returns:
      None where there are no conditions.

    Raises:
      ModelError: a divisor is the constant zero.
    """
    nodes = [node for node in program.graph.nodes if isinstance(node.target, torch._ops.OpOverload)]
    ranges = dict.fromkeys(each for node in nodes for each in _ranges(node))
    slices = _Slices(program, nodes)
    results = [slices.violation(each) for each in ranges if slices.add(each.node)]
    return slices.finish(results) if results else None


def _ranges(node: fx.Node) -> Iterator[_Range]:
    name, args = node.target._schema.name.removeprefix("aten::").removesuffix("_"), node.args
    if name == "embedding":
        yield _Range(args[1], 0, _shape(args[0])[0])
    elif name in ("index", "index_put"):
        yield from _of_dimensions(_shape(args[0]), args[1])
    elif name in _ALONG_A_DIMENSION and isinstance(args[1], int):
        yield _Range(args[2], 0, (_shape(args[0]) or (1,))[args[1]])
    elif name == "take":
        size = args[0].meta["val"].numel()
        yield _Range(args[1], -size, size)
    elif name == "one_hot" and len(args) > 1 and args[1] >= 0:
        yield _Range(args[0], 0, args[1])
    elif name in _LOSSES:
        shape = _shape(args[0])
        ignored = args[4] if len(args) > 4 else node.kwargs.get("ignore_index", -100)
        yield _Range(args[1], 0, shape[min(1, len(shape) - 1)], ignored)
    elif name in _DIVISIONS and _is_integer(node):
        if isinstance(args[1], fx.Node):
            yield _Range(args[1])
        elif args[1] == 0:
            raise ModelError(f"{node.name}: the divisor is zero")


def _of_dimensions(shape: torch.Size, indices: Sequence[fx.Node | None]) -> Iterator[_Range]:
    dimension = 0
    for index in indices:
        if index is None:
            dimension += 1
        elif index.meta["val"].dtype in (torch.bool, torch.uint8):  # a mask
            dimension += index.meta["val"].dim()
        else:
            yield _Range(index, -shape[dimension], shape[dimension])
            dimension += 1


def _shape(node: fx.Node) -> torch.Size:
    return node.meta["val"].shape


def _is_integer(node: fx.Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and not value.is_floating_point() and not value.is_complex()


class _Slices:
    """A graph of what the indices and divisors of a program are computed of."""

    def __init__(self, program: ExportedProgram, nodes: Sequence[fx.Node]) -> None:
        self._constants = self._root_constants(program)
        self._written = {_storage(each) for node in nodes for each in _written(node)}
        self._graph, self._copies = fx.Graph(), {}
        inputs = {node.name: node for node in program.graph.find_nodes(op="placeholder")}
        for name in program.graph_signature.user_inputs:
            self._copies[inputs[name]] = self._graph.placeholder(name)

    @staticmethod
    def _root_constants(program: ExportedProgram) -> Mapping[str, torch.Tensor]:
        signature, held = program.graph_signature, {**program.state_dict, **program.constants}
        targets = {**signature.inputs_to_buffers, **signature.inputs_to_parameters}
        targets |= signature.inputs_to_lifted_tensor_constants
        return {name: held[target] for name, target in targets.items()}

    def add(self, node: fx.Node) -> bool:
        """Whether integers alone decide a value that nothing is written to; then the graph has it."""
        if not _is_integer(node) or _storage(node) in self._written:
            return False
        if node in self._copies:
            return True
        if node.name in self._constants:
            self._copies[node] = self._graph.get_attr(node.name)
            return True
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
            return False
        if not all(self.add(each) for each in node.all_input_nodes):
            return False
        self._copies[node] = self._graph.node_copy(node, self._copies.__getitem__)
        return True

    def violation(self, condition: _Range) -> fx.Node:
        """Whether an element violates a condition."""
        call, value = self._graph.call_function, self._copies[condition.node]
        if condition.low is None:
            wrong = call(_aten.eq.Scalar, (value, 0))
        else:
            outside = call(_aten.lt.Scalar, (value, condition.low)), call(_aten.ge.Scalar, (value, condition.high))
            wrong = call(_aten.bitwise_or.Tensor, outside)
        if condition.ignored is not None:
            wrong = call(_aten.bitwise_and.Tensor, (wrong, call(_aten.ne.Scalar, (value, condition.ignored))))
        return call(_aten.any.default, (wrong,))

    def finish(self, results: Sequence[fx.Node]) -> fx.GraphModule:
        """The module that returns these values."""
        self._graph.output(tuple(results))
        self._graph.eliminate_dead_code()
        return fx.GraphModule(dict(self._constants), self._graph)


def _written(node: fx.Node) -> Iterator[fx.Node]:
    """The arguments that a node writes to, of integers."""
    for described, argument in zip(node.target._schema.arguments, node.args, strict=False):
        is_written = described.alias_info is not None and described.alias_info.is_write
        if is_written and isinstance(argument, fx.Node) and _is_integer(argument):
            yield argument


def _storage(node: fx.Node) -> int:
    return node.meta["val"].untyped_storage()._cdata
