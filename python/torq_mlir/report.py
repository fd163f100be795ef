# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What became of each operator of the source model: who executes it, and why what stays on the host does."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from torch_mlir import ir

from torq_mlir.deviation import Deviation
from torq_mlir.dialects.locations import source_names
from torq_mlir.rewriting.assignment import COPIES, computes_nothing
from torq_mlir.source_nodes import DEQUANTIZE, QUANTIZE, SourceNode

NPU, HOST = "nss", "host"
NONE = "-"
# Names of operations in one row of the text.
_MOST_LISTED = 5

# Discardable attributes: who executes an operation, and why which pattern has left it.
_EXECUTOR, _REFUSAL, _REFUSED_BY = "torq-executor", "torq_hl.refusal", "torq_hl.refused_by"
_BUFFERS = frozenset({"arith.constant", "tensor.empty"})
# What only moves values, in ONNX and in PyTorch (without namespace and overload).
_ONNX_MOVEMENTS = (
    *("Concat", "DepthToSpace", "Dropout", "Expand", "Flatten", "Gather", "Identity", "Pad", "Reshape", "Slice"),
    *("SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"),
)
_TORCH_MOVEMENTS = (
    *("alias", "cat", "clone", "concat", "constant_pad_nd", "contiguous", "detach", "dropout", "expand", "flatten"),
    *("narrow", "pad", "permute", "repeat", "reshape", "select", "slice", "split", "split_with_sizes", "squeeze"),
    *("stack", "t", "transpose", "unflatten", "unsqueeze", "view"),
)
_MOVEMENTS = frozenset((*_ONNX_MOVEMENTS, *(f"aten.{name}" for name in _TORCH_MOVEMENTS)))


@dataclass(frozen=True)
class Refusal:
    """Why an operation did not become one of the NPU: the pattern that came closest, and what stood in the way."""

    reason: str
    pattern: str = ""


@dataclass(frozen=True)
class Row:
    """What became of one operator.

    Attributes:
      name, op_type: of the source node.
      operations: names of the operations that compute it, without repetition. An operation that stands for several
        nodes is in the row of each; none is left of a node that was folded into a constant or removed.
      executor: "nss", "css" or "host", several joined by "+"; "-" where nothing is left to execute.
      reason: why it stays on the host; empty where it does not.
      pattern: the pattern of the conversion to torq_hl that came closest; empty where none had anything to say.
      note: where no operation is its own, what it is part of, or why nothing is left.
    """

    name: str
    op_type: str
    operations: tuple[str, ...]
    executor: str
    reason: str = ""
    pattern: str = ""
    note: str = ""

    @property
    def remark(self) -> str:
        """Reason with its pattern, or note, in one line."""
        return f"{self.reason} ({self.pattern})" if self.pattern else self.reason or self.note

    @property
    def quantizes(self) -> bool:
        """Whether it is a quantization or dequantization."""
        return self.op_type.startswith(QUANTIZE + DEQUANTIZE)

    @property
    def is_part(self) -> bool:
        """Whether it is a quantization or dequantization that is not executed on its own."""
        return self.quantizes and HOST not in self.executor


@dataclass(frozen=True)
class Report:
    """One row for each operator that an output of the model depends on, and counts of operations.

    Attributes:
      dialects: number of operations in the compiled function by dialect, without constants and empty tensors.
      executors: the same by executor.
      deviations: the error of what is computed other than in the source model, by option, on random inputs.
    """

    rows: tuple[Row, ...]
    dialects: Mapping[str, int]
    executors: Mapping[str, int]
    deviations: tuple[Deviation, ...] = ()

    @property
    def listed(self) -> tuple[Row, ...]:
        """The rows but those of quantizations and dequantizations that are part of other operations."""
        return tuple(row for row in self.rows if not row.is_part)

    def to_dict(self) -> dict:
        """The report in lists, dictionaries and strings; see `to_json`."""
        rows = [asdict(row) | {"operations": list(row.operations)} for row in self.rows]
        deviations = [asdict(each) | {"names": list(each.names)} for each in self.deviations]
        return {
            "rows": rows,
            "dialects": dict(self.dialects),
            "executors": dict(self.executors),
            "deviations": deviations,
        }

    def to_json(self) -> str:
        """The report as JSON: `Report.from_dict(json.loads(report.to_json())) == report`."""
        return json.dumps(self.to_dict(), indent=1)

    @classmethod
    def from_dict(cls, values: Mapping) -> "Report":
        """The inverse of `to_dict`; fields that it does not know are left out."""
        known = [field.name for field in fields(Row)]
        rows = ({name: row[name] for name in known if name in row} for row in values["rows"])
        return cls(
            tuple(Row(**(row | {"operations": tuple(row["operations"])})) for row in rows),
            dict(values["dialects"]),
            dict(values["executors"]),
            tuple(Deviation(**(each | {"names": tuple(each["names"])})) for each in values.get("deviations", ())),
        )

    def text(self, width: int | None = None) -> str:
        """A table, or, where that is wider than `width` columns, a paragraph for each operator.

        Quantizations and dequantizations that are part of other operations are counted, not listed.
        """
        rows = self.listed
        parts = len(self.rows) - len(rows)
        lines = _table(rows)
        if width and max(map(len, lines), default=0) > width:
            lines = [line for row in rows for line in _paragraph(row, width)]
        if parts:
            plural = "s are" if parts > 1 else " is"
            lines += ["", *_wrapped(f"{parts} quantization{plural} part of these operations", width)]
        counts = (("operations", self.dialects), ("executors", self.executors))
        counted = [
            line
            for title, count in counts
            if count
            for line in _wrapped(f"{title}: {', '.join(f'{n} {name}' for name, n in count.items())}", width)
        ]
        deviations = [line for each in self.deviations for line in _wrapped(f"  {each}", width)]
        if deviations:
            deviations = [
                "",
                "error of what is computed other than in the source model, on random inputs:",
                *deviations,
            ]
        return "\n".join([*lines, *([""] if lines and not parts else []), *counted, *deviations])

    def __str__(self) -> str:
        return self.text()


def _table(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    header = ("node", "operator", "executor", "operations", "remark")
    cells = [(row.name, row.op_type, row.executor, _listed(row.operations) or NONE, row.remark) for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *cells)
    ]


def _listed(operations: Sequence[str]) -> str:
    more = len(operations) - _MOST_LISTED
    return ", ".join(operations[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _paragraph(row: Row, width: int) -> list[str]:
    what = f"{row.name} ({row.op_type})" if row.op_type else row.name
    details = (_listed(row.operations), row.remark)
    lines = (_wrapped(text, width, "  ") for text in details if text)
    return [*_wrapped(f"{what}: {row.executor}", width), *(line for part in lines for line in part)]


def _wrapped(text: str, width: int | None, indent: str = "") -> list[str]:
    if not width:
        return [f"{indent}{text}"]
    return textwrap.wrap(
        text,
        max(width, len(indent) + 10),
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def build_report(function: ir.Operation, nodes: Sequence[SourceNode], refusals: Mapping[str, Refusal]) -> Report:
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
    rows = tuple(_row(node, by_node.get(node.name, []), refusals.get(node.name)) for node in nodes)
    executors = Counter(executor for op in executed if (executor := executor_of(op)) != NONE)
    return Report(rows, _sorted(op.name.partition(".")[0] for op in executed), dict(executors.most_common()))


def _sorted(names: Iterable[str]) -> dict[str, int]:
    return dict(Counter(names).most_common())


def executor_of(operation: ir.Operation) -> str:
    """The executor that the operation is assigned to; else the NPU for torq_hl, and the host.

    Nobody for what computes nothing: another shape of a buffer, and copies of integers.
    """
    if _EXECUTOR in operation.attributes:
        return ir.StringAttr(operation.attributes[_EXECUTOR]).value
    if operation.name.startswith("torq_hl."):
        return NPU
    return NONE if computes_nothing(operation) else HOST


def _row(node: SourceNode, operations: Sequence[ir.Operation], refusal: Refusal | None) -> Row:
    executors = sorted({executor_of(op) for op in operations} - {NONE}, reverse=True)
    names = tuple(dict.fromkeys(op.name for op in operations))
    executor = "+".join(executors) or NONE
    note = _note(node, operations)
    if HOST not in executors:
        return Row(node.name, node.op_type, names, executor, note=note)
    refusal = refusal or Refusal(_default_reason(node, operations))
    return Row(node.name, node.op_type, names, executor, refusal.reason, refusal.pattern, note)


def _note(node: SourceNode, operations: Sequence[ir.Operation]) -> str:
    """What a node is part of that no operation is named after first, or why nothing is left of it."""
    executed = [op for op in operations if executor_of(op) != NONE]
    if not executed:
        return _movement(operations) if operations else _absence(node)
    owners = {op: source_names(op.location)[0] for op in executed}
    if node.name in owners.values():
        return ""
    return ", ".join(dict.fromkeys(f"in {op.name} of {owner}" for op, owner in owners.items()))


def _movement(operations: Sequence[ir.Operation]) -> str:
    copies = dict.fromkeys(op.name for op in operations if op.name in COPIES)
    return f"moves integers only: {', '.join(copies)}" if copies else "another shape of the same values"


def _absence(node: SourceNode) -> str:
    if node.is_constant:
        return "constant: computed at compile time"
    if node.dequantizes:
        return f"{', '.join(node.readers) or 'the caller'} takes the integers"
    if node.quantizes:
        return "what it reads has these integers already"
    if ".".join(node.op_type.split(".")[:2]) in _MOVEMENTS:
        return "moves values only: what reads it takes them from where they are"
    return "nothing to compute: no value changes, or another node gives the same"


def _default_reason(node: SourceNode, operations: Sequence[ir.Operation]) -> str:
    """Why operations stayed that no pattern for the NPU had anything to say about."""
    on_host = [op for op in operations if executor_of(op) == HOST]
    if not any(_is_float(value) for op in on_host for value in (*op.operands, *op.results)):
        return f"torq_hl has no operation for {', '.join(dict.fromkeys(op.name for op in on_host))}"
    if node.quantizes:
        given = any(isinstance(value.owner, ir.Block) for op in operations for value in op.operands)
        return "quantizes a float input of the model" if given else "quantizes a value that is computed in float"
    if node.dequantizes:
        users = (use.owner.operation.name for op in operations for value in op.results for use in value.uses)
        return "gives a float output of the model" if "func.return" in users else "its result is used in float"
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


def read_refusals(function: ir.Operation) -> dict[str, Refusal]:
    """By name of the node, the reason that `torq_hl.refusal` gives in IR that the conversion to torq_hl has left.

    An operation that a reason is not about stays for that of the operation its result flows to: the contraction for
    the quantization that could not take it in. Among several operations of a node the last one counts.
    """
    found: dict[ir.Operation, Refusal] = {}
    by_node: dict[str, Refusal] = {}
    for operation in reversed(list(_operations(function))):
        refusal = _own_or_users(operation, found)
        if refusal is None:
            continue
        found[operation] = refusal
        for name in source_names(operation.location):
            by_node.setdefault(name, refusal)
    return by_node


def _own_or_users(operation: ir.Operation, found: Mapping[ir.Operation, Refusal]) -> Refusal | None:
    if _REFUSAL in operation.attributes:
        return Refusal(_text(operation, _REFUSAL), _text(operation, _REFUSED_BY))
    if operation.name in _BUFFERS or operation.name.startswith(("torq_hl.", "quantized_decomposed.quantize")):
        return None
    users = (use.owner.operation for result in operation.results for use in result.uses)
    return next((found[user] for user in users if user in found), None)


def _text(operation: ir.Operation, name: str) -> str:
    return ir.StringAttr(operation.attributes[name]).value if name in operation.attributes else ""


def _operations(function: ir.Operation) -> Iterator[ir.Operation]:
    """The operations of the body, without its terminator."""
    for block in function.regions[0].blocks:
        for operation in list(block.operations)[:-1]:
            yield operation.operation
