# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executors of the operators of a model, by the line and column at which its imported IR has them."""

from collections.abc import Iterator, Mapping

from torch_mlir import ir

from torq_mlir import pipelines
from torq_mlir.dialects.locations import source_names

# Elements above which a constant is left out of the text whose lines are counted.
ELISION_LIMIT = 16

_ASSIGN = "torq-assign-executors"
# Passes that leave to other executors what is assigned to them.
_RESPECTING = ("torq-fuse-quantized-ops", "convert-linalg-to-torq-hl")


def source_text(module: ir.Module) -> str:
    """The IR of an imported model, as its lines and columns are counted: without locations and large constants."""
    return module.operation.get_asm(large_elements_limit=ELISION_LIMIT, assume_verified=True)


def locate(module: ir.Module, filename: str = "model.mlir") -> dict[str, str]:
    """Give each operation its line and column in `source_text`, next to the name that its location has.

    Returns:
      `line:col` by name of the source node.
    """
    positions: dict[str, str] = {}
    parsed = ir.Module.parse(source_text(module), module.context)
    for operation, twin in zip(_operations(module), _operations(parsed), strict=True):
        names = source_names(operation.location)
        if len(names) != 1 or not isinstance(twin.location, ir.FileLineColLoc):
            continue
        line, column = twin.location.start_line, twin.location.start_col
        file = ir.Location.file(filename, line, column, module.context)
        operation.location = ir.Location.name(names[0], file, module.context)
        if not _is_constant(operation):
            positions.setdefault(names[0], f"{line}:{column}")
    return positions


def assigning(pipeline: str, assignments: Mapping[str, str]) -> str:
    """`pipeline`, with an assignment of executors before each pass that respects it, and at its end."""
    entries = ",".join(f"{position}={executor}" for position, executor in assignments.items())
    assign = pipelines.PassText(_ASSIGN, f"map={entries}" if entries else None)
    parsed = pipelines.parse(pipeline)
    elements: list[pipelines.PassText | pipelines.PipelineText] = []
    for element in parsed.elements:
        if isinstance(element, pipelines.PassText) and element.name in _RESPECTING:
            elements.append(assign)
        elements.append(element)
    return str(pipelines.PipelineText(parsed.anchor, (*elements, assign)))


def _operations(module: ir.Module) -> Iterator[ir.Operation]:
    """The operations of the body of each function."""
    for function in module.body.operations:
        for region in function.operation.regions:
            for block in region.blocks:
                yield from (operation.operation for operation in block.operations)


def _is_constant(operation: ir.Operation) -> bool:
    """A constant is named as its tensor, which a node may be as well."""
    return "name" in operation.attributes and str(operation.attributes["name"]) == '"onnx.Constant"'
