# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What became of each operator of the source model: who executes it, and why what stays on the host does."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import onnx
from torch_mlir import ir

from torq_mlir.dialects.locations import source_names

if TYPE_CHECKING:
    import torch

NPU, HOST = "nss", "host"
NONE = "-"

# Discardable attributes: who executes an operation, and why a pass has left it.
_EXECUTOR, _REFUSAL = "torq-executor", "torq_hl.refusal"
_BUFFERS = frozenset({"arith.constant", "tensor.empty"})
# Another shape for the same buffer: nothing to execute.
_VIEWS = frozenset({"tensor.cast", "tensor.collapse_shape", "tensor.expand_shape"})
_REAL_TYPES = frozenset(onnx.TensorProto.DataType.Value(name) for name in ("FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE"))
_QUANTIZE = ("QuantizeLinear", "quantized_decomposed.quantize_")
_DEQUANTIZE = ("DequantizeLinear", "quantized_decomposed.dequantize_")
# How a graph of PyTorch takes one of several results.
_ITEM = "getitem"


@dataclass(frozen=True)
class SourceNode:
    """An operator of the source model.

    Attributes:
      takes_quantized: all its inputs that are real numbers and not constant are quantized.
      gives_quantized: all that reads its results quantizes them.
    """

    name: str
    op_type: str
    takes_quantized: bool = True
    gives_quantized: bool = True


def source_nodes(graph: onnx.GraphProto) -> list[SourceNode]:
    """The operators of `graph`, in order."""
    constants = {tensor.name for tensor in graph.initializer}
    values = [*graph.input, *graph.value_info]
    real = {value.name for value in values if value.type.tensor_type.elem_type in _REAL_TYPES} - constants
    producers = {output: node.op_type for node in graph.node for output in node.output}
    readers: dict[str, list[str]] = {output.name: ["an output of the model"] for output in graph.output}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node.op_type)

    def describe(node: onnx.NodeProto) -> SourceNode:
        takes = all(producers.get(name) == "DequantizeLinear" for name in node.input if name in real)
        gives = all(reader == "QuantizeLinear" for name in node.output for reader in readers.get(name, ()))
        integer = node.op_type.startswith("QLinear")
        return SourceNode(node.name, node.op_type, integer or takes, integer or gives)

    return [describe(node) for node in graph.node]


def exported_nodes(
    program: "torch.export.ExportedProgram", operator_name: Callable[["torch.fx.Node"], str]
) -> list[SourceNode]:
    """The operators of an exported program, in order; `operator_name` gives what a node calls."""
    signature, nodes = program.graph_signature, program.graph.nodes
    constants = {
        *signature.inputs_to_parameters,
        *signature.inputs_to_buffers,
        *signature.inputs_to_lifted_tensor_constants,
    }
    names = {node: operator_name(node) if node.op == "call_function" else node.op for node in nodes}

    def describe(node: "torch.fx.Node") -> SourceNode:
        takes = all(names[each].startswith(_DEQUANTIZE) for each in node.all_input_nodes if each.name not in constants)
        gives = all(names[user].startswith(_QUANTIZE) for user in node.users)
        return SourceNode(node.name, names[node], takes, gives)

    return [describe(node) for node in nodes if node.op == "call_function" and names[node] != _ITEM]


@dataclass(frozen=True)
class Row:
    """What became of one operator.

    Attributes:
      name, op_type: of the source node.
      operations: names of the operations that compute it, without repetition. An operation that stands for several
        nodes is in the row of each; none is left of a node that was folded into a constant or removed.
      executor: "nss", "css" or "host", several joined by "+"; "-" where nothing is left to execute.
      reason: why it stays on the host; empty where it does not.
    """

    name: str
    op_type: str
    operations: tuple[str, ...]
    executor: str
    reason: str = ""


@dataclass(frozen=True)
class Report:
    """One row for each operator of the model, and counts of operations.

    Quantizations and dequantizations have a row only where they are executed on their own.

    Attributes:
      dialects: number of operations in the compiled function by dialect, without constants and empty tensors.
      executors: the same by executor.
    """

    rows: tuple[Row, ...]
    dialects: Mapping[str, int]
    executors: Mapping[str, int]

    def to_dict(self) -> dict:
        """The report as JSON has it: `Report.from_dict(json.loads(json.dumps(report.to_dict()))) == report`."""
        rows = [asdict(row) | {"operations": list(row.operations)} for row in self.rows]
        return {"rows": rows, "dialects": dict(self.dialects), "executors": dict(self.executors)}

    @classmethod
    def from_dict(cls, values: Mapping) -> "Report":
        """The inverse of `to_dict`."""
        rows = tuple(Row(**(row | {"operations": tuple(row["operations"])})) for row in values["rows"])
        return cls(rows, dict(values["dialects"]), dict(values["executors"]))

    def __str__(self) -> str:
        header = ("node", "operator", "executor", "operations", "why not on the NPU")
        cells = [
            (row.name, row.op_type, row.executor, ", ".join(row.operations) or NONE, row.reason) for row in self.rows
        ]
        table = _table([header, *cells]) if cells else []
        counts = (("operations", self.dialects), ("executors", self.executors))
        lines = [
            f"{title}: " + ", ".join(f"{n} {name}" for name, n in count.items()) for title, count in counts if count
        ]
        return "\n".join([*table, *([""] if table else []), *lines])


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def build_report(function: ir.Operation, nodes: Sequence[SourceNode], refusals: Mapping[str, str]) -> Report:
    """The report of a compiled function.

    Args:
      nodes: operators of the source model, in order. Without any, the names that are in the locations stand for them.
      refusals: by name of the node, why its operation did not become one of the NPU.
    """
    executed = [op for op in _operations(function) if op.name not in _BUFFERS]
    by_node: dict[str, list[ir.Operation]] = {}
    for operation in executed:
        for name in source_names(operation.location):
            by_node.setdefault(name, []).append(operation)
    nodes = nodes or [SourceNode(name, "") for name in by_node]
    rows = (_row(node, by_node.get(node.name, []), refusals.get(node.name, "")) for node in nodes)
    shown = tuple(row for row in rows if not row.op_type.startswith(_QUANTIZE + _DEQUANTIZE) or row.executor == HOST)
    executors = Counter(executor for op in executed if (executor := executor_of(op)) != NONE)
    return Report(shown, _sorted(op.name.partition(".")[0] for op in executed), dict(executors.most_common()))


def _sorted(names: Iterable[str]) -> dict[str, int]:
    return dict(Counter(names).most_common())


def executor_of(operation: ir.Operation) -> str:
    """The executor that the operation is assigned to; else the NPU for torq_hl, nobody for views, and the host."""
    if _EXECUTOR in operation.attributes:
        return ir.StringAttr(operation.attributes[_EXECUTOR]).value
    if operation.name.startswith("torq_hl."):
        return NPU
    return NONE if operation.name in _VIEWS else HOST


def _row(node: SourceNode, operations: Sequence[ir.Operation], refusal: str) -> Row:
    executors = sorted({executor_of(op) for op in operations} - {NONE}, reverse=True)
    reason = (refusal or _default_reason(node, operations)) if HOST in executors else ""
    names = tuple(dict.fromkeys(op.name for op in operations))
    return Row(node.name, node.op_type, names, "+".join(executors) or NONE, reason)


def _default_reason(node: SourceNode, operations: Sequence[ir.Operation]) -> str:
    """Why operations stayed that no pattern for the NPU had anything to say about."""
    if node.op_type.startswith(_QUANTIZE):
        given = any(isinstance(value.owner, ir.Block) for op in operations for value in op.operands)
        return "quantizes a float input of the model" if given else "quantizes a value that is computed in float"
    if node.op_type.startswith(_DEQUANTIZE):
        users = (use.owner.operation.name for op in operations for value in op.results for use in value.uses)
        return "gives a float output of the model" if "func.return" in users else "its result is used in float"
    on_host = [op for op in operations if executor_of(op) == HOST]
    if not any(_is_float(value) for op in on_host for value in (*op.operands, *op.results)):
        return f"torq_hl has no operation for {', '.join(dict.fromkeys(op.name for op in on_host))}"
    if node.takes_quantized and node.gives_quantized:
        return f"torq_hl has no form of {node.op_type or 'it'} with these operands"
    if node.takes_quantized:
        return "computed in float: its result is not quantized"
    if node.gives_quantized:
        return "computed in float: its inputs are not quantized"
    return "computed in float: neither its inputs nor its result are quantized"


def _is_float(value: ir.Value) -> bool:
    type_ = value.type
    element = type_.element_type if isinstance(type_, ir.RankedTensorType) else type_
    return isinstance(element, ir.FloatType)


def read_refusals(function: ir.Operation) -> dict[str, str]:
    """By name of the node, the reasons that `torq_hl.refusal` gives in IR that the conversion to torq_hl has left.

    An operation that a reason is not about stays for that of the operation its result flows to: the contraction for
    the quantization that could not take it in.
    """
    reasons: dict[ir.Operation, str] = {}
    by_node: dict[str, list[str]] = {}
    for operation in reversed(list(_operations(function))):
        reason = _own_or_users(operation, reasons)
        if not reason:
            continue
        reasons[operation] = reason
        for name in source_names(operation.location):
            by_node.setdefault(name, []).append(reason)
    return {name: "; ".join(dict.fromkeys(found)) for name, found in by_node.items()}


def _own_or_users(operation: ir.Operation, reasons: Mapping[ir.Operation, str]) -> str:
    if _REFUSAL in operation.attributes:
        return ir.StringAttr(operation.attributes[_REFUSAL]).value
    if operation.name in _BUFFERS or operation.name.startswith(("torq_hl.", "quantized_decomposed.quantize")):
        return ""
    users = (use.owner.operation for result in operation.results for use in result.uses)
    return next((reasons[user] for user in users if user in reasons), "")


def _operations(function: ir.Operation) -> Iterator[ir.Operation]:
    """The operations of the body, without its terminator."""
    for block in function.regions[0].blocks:
        for operation in list(block.operations)[:-1]:
            yield operation.operation
