# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The verifier of every operation: the constraints of the ODS, the inferred shape, and rules across operands."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch_mlir import ir

from torq_mlir.dialects import inference, ods, quantized_decomposed, tensor_types, torq_hl
from torq_mlir.dialects.ods import InvalidOperationError
from torq_mlir.dialects.quantized_decomposed_rules import RULES as QUANTIZED_DECOMPOSED_RULES
from torq_mlir.dialects.tensor_types import TensorInfo
from torq_mlir.dialects.torq_hl_rules import RULES as TORQ_HL_RULES

_OPERATIONS = {**quantized_decomposed.OPERATIONS, **torq_hl.OPERATIONS}
_RULES = {**QUANTIZED_DECOMPOSED_RULES, **TORQ_HL_RULES}

# Names without a dialect prefix that any operation may carry.
_DISCARDABLE = frozenset({"torq-executor"})


class Verifier(ir.DynamicOpTrait):
    """Attached to every operation of the dialects."""

    @staticmethod
    def verify_invariants(op: ir.OpView) -> bool:
        definition = _OPERATIONS[op.operation.name]
        try:
            _verify(op.operation, definition)
        except InvalidOperationError as error:
            op.location.emit_error(f"'{definition.name}' op {error}")
            return False
        return True


def _verify(operation: ir.Operation, definition: ods.Operation) -> None:
    """Checks in the order of the verifiers that MLIR generates from the ODS."""
    results = _group("result", operation.results, definition.results)
    operands = _group("operand", operation.operands, definition.operands)
    attributes, found = _check_attributes(operation, definition)
    operands = _check_types("operand", operands, definition.operands)
    results = _check_types("result", results, definition.results)
    if found < len(operation.attributes):
        _check_discardable(operation, attributes)
    shapes = {name: value.shape for name, value in operands.items() if isinstance(value, TensorInfo)}
    inferred = inference.result_shape(definition.name, shapes, attributes)
    for position, (name, result) in enumerate(results.items()):
        if not tensor_types.compatible(result.shape, inferred):
            raise InvalidOperationError(
                f"result #{position} ('{name}') must have the inferred shape {tensor_types.text(inferred)}, "
                f"but got '{result.type}'"
            )
    outcome = result if len(results) == 1 else tuple(results.values())
    for rule in _RULES[definition.name]:
        rule(operands, attributes, outcome)


def _group(what: str, values: Sequence[ir.Value], definitions: tuple[ods.Value, ...]) -> dict[str, Any]:
    return ods.group(what, [values[index].type for index in range(len(values))], definitions)


def _check_types(what: str, types: dict[str, Any], definitions: tuple[ods.Value, ...]) -> dict[str, Any]:
    """The types of operands or results by name: a TensorInfo, None when absent, or a tuple when variadic."""
    position = 0
    for definition in definitions:
        group = types[definition.name]
        for type_ in group if isinstance(group, tuple) else () if group is None else (group,):
            if not definition.constraint.holds(type_):
                raise InvalidOperationError(
                    f"{what} #{position} ('{definition.name}') must be {definition.constraint.summary}, "
                    f"but got '{type_}'"
                )
            position += 1
    return {
        name: tensor_types.describe(value) if isinstance(value, ir.Type) else value for name, value in types.items()
    }


def _check_attributes(operation: ir.Operation, definition: ods.Operation) -> tuple[dict[str, Any], int]:
    """The declared attributes by name as Python values, with defaults, and how many of them are present."""
    present = operation.attributes
    found = {declared.name: present[declared.name] for declared in definition.attributes if declared.name in present}
    values = {}
    for declared in definition.attributes:
        if declared.name not in found:
            if declared.required:
                raise InvalidOperationError(f"requires attribute '{declared.name}'")
            values[declared.name] = ods.absent_value(declared)
    for declared in definition.attributes:
        if declared.name not in found:
            continue
        attribute = found[declared.name]
        if not declared.constraint.holds(attribute):
            raise InvalidOperationError(
                f"attribute '{declared.name}' failed to satisfy constraint: {declared.constraint.summary}"
            )
        values[declared.name] = ods.python_value(attribute)
    return values, len(found)


def _check_discardable(operation: ir.Operation, declared: Mapping[str, Any]) -> None:
    """What is not declared has the prefix of a dialect."""
    for name in operation.attributes:
        if name not in declared and name not in _DISCARDABLE and "." not in name:
            raise InvalidOperationError(
                f"has no attribute '{name}'; a discardable attribute has the prefix of a dialect"
            )
