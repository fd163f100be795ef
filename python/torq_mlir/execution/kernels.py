# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loop nests as functions of their own.

LLVM's time grows faster than the size of a function, and a network repeats its layers: each linalg operation on
buffers becomes a call of a private function, and equal functions are merged later. Scalar constants are parameters as
well: layers of one shape often differ in a zero point alone.
"""

from torch_mlir import ir
from torch_mlir.dialects import func, linalg


def outline(module: ir.Module, entry: func.FuncOp) -> None:
    """Moves every linalg operation and strided copy of `entry` into a function, which it calls."""
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name.startswith("linalg.") or _is_strided_copy(operation):
            found.append(operation)
            return ir.WalkResult.SKIP
        return ir.WalkResult.ADVANCE

    entry.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    for number, operation in enumerate(found):
        _outline(module, operation, f"kernel_{number}")


def _outline(module: ir.Module, operation: ir.Operation, name: str) -> None:
    parameters = _captured_values(operation)
    with operation.location:
        with ir.InsertionPoint(module.body):
            function = func.FuncOp(name, ([value.type for value in parameters], []), visibility="private")
        function.attributes["llvm.no_inline"] = ir.UnitAttr.get()
        function.attributes["llvm.linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            _clone_as_linalg(operation)
            body = block.operations[len(block.operations) - 1].operation
            func.ReturnOp([])
        for old, new in zip(parameters, block.arguments, strict=True):
            _replace_uses(body, old, new)
        with ir.InsertionPoint(operation):
            call = func.CallOp(function, parameters)
        if all(_is_known_by_pointer(value.type) for value in parameters):
            for each in (function, call):
                each.operation.attributes["llvm.bareptr"] = ir.UnitAttr.get()
    operation.erase()


def _is_strided_copy(operation: ir.Operation) -> bool:
    """Whether `operation` is a memref.copy that would call into a library; others are a memcpy."""
    if operation.name != "memref.copy":
        return False
    return not all(ir.MemRefType(operand.type).layout == _identity(operand.type) for operand in operation.operands)


def _is_known_by_pointer(type_: ir.Type) -> bool:
    """Whether a pointer says everything about a buffer of this type that can be passed by it."""
    if not isinstance(type_, ir.MemRefType):
        return True
    return type_.has_static_shape and 0 not in type_.shape and type_.layout == _identity(type_)


def _identity(type_: ir.Type) -> ir.Attribute:
    return ir.AffineMapAttr.get(ir.AffineMap.get_identity(ir.MemRefType(type_).rank))


def _captured_values(operation: ir.Operation) -> list[ir.Value]:
    """Operands, and what the regions use of the outside, each once."""
    captured: dict[ir.Value, None] = {}
    inside: set[ir.Operation] = set()

    def visit(nested: ir.Operation) -> ir.WalkResult:
        inside.add(nested.operation)
        for value in nested.operands:
            owner = value.owner
            region_owner = owner.owner.operation if isinstance(owner, ir.Block) else owner.operation
            if region_owner not in inside or (region_owner == operation and not isinstance(owner, ir.Block)):
                captured[value] = None
        return ir.WalkResult.ADVANCE

    operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return list(captured)


def _clone_as_linalg(operation: ir.Operation) -> None:
    """A copy of `operation`; memref.copy as linalg."""
    if operation.name == "memref.copy":
        linalg.copy(operation.operands[0], outs=[operation.operands[1]])
    else:
        operation.clone()


def _replace_uses(operation: ir.Operation, old: ir.Value, new: ir.Value) -> None:
    def visit(nested: ir.Operation) -> ir.WalkResult:
        nested.operation.replace_uses_of_with(old, new)
        return ir.WalkResult.ADVANCE

    operation.walk(visit)
