# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is done to a module before it is planned: operations on elements become few, and products of matrices plain.

Zero points are taken out of the sums of products of bytes, scalars become operands, and elementwise operations that
follow each other one. Products of matrices stay by themselves: what is fused into them would be computed once for each
product.
"""

from collections.abc import Container

from torch_mlir import ir
from torch_mlir.dialects import func, tensor
from torch_mlir.passmanager import PassManager

from torq_mlir.backends.jit.compilation import diagnostics_as_error
from torq_mlir.dialects.modules import copy_module
from torq_mlir.execution import float_functions
from torq_mlir.execution.signature import entry_function
from torq_mlir.passes import convert_quantized_decomposed_to_linalg, convert_torq_hl_to_linalg
from torq_mlir.rewriting.structured import PARALLEL, build_generic, clone_body

from . import islands
from .zero_points import take_out_zero_point, without_zero_points

_ELEMENTWISE = "func.func(convert-elementwise-to-linalg)"
_CLEAN = "func.func(canonicalize,cse)"
_NO_CODE = frozenset({"arith.constant", "func.return", "tensor.empty"})
_FUSE = "func.func(linalg-fuse-elementwise-ops,canonicalize,cse)"


def prepare(module: ir.Module, handled: Container[str]) -> ir.Module:
    """A copy of a module, in which linalg is as `selection` likes it.

    Args:
      handled: names of operations that stay as they are.

    Raises:
      CompileError: an operation of quantized_decomposed or torq_hl has no lowering.
    """
    with module.context, ir.Location.unknown():
        copy = copy_module(module.operation)
        function = entry_function(copy)
        names = {each.operation.name for each in function.regions[0].blocks[0].operations}
        if all(name in _NO_CODE or (name in handled and not name.startswith("linalg.")) for name in names):
            return copy
        with diagnostics_as_error(copy.context):
            convert_torq_hl_to_linalg.lower(copy.operation, handled)
            convert_quantized_decomposed_to_linalg.run(copy.operation)
        PassManager.parse(_ELEMENTWISE).run(function.operation)
        float_functions.expand(copy)
        PassManager.parse(_CLEAN).run(function.operation)
        for operation in _found(function, "linalg.quantized_matmul"):
            without_zero_points(operation)
        for operation in _found(function, "linalg.generic"):
            take_out_zero_point(operation)
        for operation in _found(function, "tensor.from_elements"):
            _fill_with_scalar(operation)
        for operation in _found(function, "linalg.generic"):
            _take_in_scalars(operation)
        for operation in _found(function, "scf.for"):
            _take_scalars_into(operation)
        hidden = _hide(copy, function)
        PassManager.parse(_FUSE).run(function.operation)
        for operation in _found(function, "linalg.fill"):
            _fill_empty(operation)
        _reveal(function, hidden)
        PassManager.parse(_CLEAN).run(function.operation)
    return copy


def _found(function: func.FuncOp, name: str) -> list[ir.Operation]:
    operations = function.regions[0].blocks[0].operations
    return [each.operation for each in operations if each.operation.name == name]


def _fill_empty(operation: ir.Operation) -> None:
    """What is filled is empty, and no reshape of something empty, so that it is seen to be constant."""
    type_ = ir.RankedTensorType(operation.operands[1].type)
    if type_.has_static_shape:
        with ir.InsertionPoint(operation), operation.location:
            operation.operands[1] = tensor.empty(type_.shape, type_.element_type)


def _take_in_scalars(operation: ir.Operation) -> None:
    """Scalars that are elements of tensors, or computed from such, are read and computed inside."""
    if len(operation.results) != 1 or not all(isinstance(v.type, ir.RankedTensorType) for v in operation.operands):
        return
    (body,) = operation.regions[0].blocks
    computed: dict[ir.Operation, None] = {}
    for value in islands.captured([operation])[0]:
        if value not in list(operation.operands) and not _collect(value, computed):
            return
    extracted = [each for each in computed if each.name == "tensor.extract"]
    if not extracted:
        return
    count = len(operation.operands) - 1
    inputs, init = list(operation.operands)[:count], operation.operands[count]
    maps = [ir.AffineMapAttr(each).value for each in operation.attributes["indexing_maps"]]
    loops = maps[0].n_dims
    sources = [each.operands[0] for each in extracted]
    zeros = [[ir.AffineExpr.get_constant(0)] * ir.RankedTensorType(value.type).rank for value in sources]
    maps[count:count] = [ir.AffineMap.get(loops, 0, each) for each in zeros]
    kinds = list(operation.attributes["iterator_types"])

    def compute(*arguments: ir.Value) -> ir.Value:
        *own, last = arguments
        mapping = dict(zip(body.arguments, (*own[:count], last), strict=True))
        mapping |= {each.results[0]: value for each, value in zip(extracted, own[count:], strict=True)}
        clone_body([each for each in computed if each.name != "tensor.extract"], mapping)
        *nested, final = body.operations
        clone_body(nested, mapping)
        return mapping.get(final.operands[0], final.operands[0])

    with ir.InsertionPoint(operation), operation.location:
        built = build_generic([*inputs, *sources], init, maps, [PARALLEL] * loops, compute)
    built.owner.operation.attributes["iterator_types"] = ir.ArrayAttr.get(kinds)
    operation.results[0].replace_all_uses_with(built)
    operation.erase()


def _fill_with_scalar(operation: ir.Operation) -> None:
    """A tensor of one scalar becomes a linalg.generic, which can compute it."""
    if len(operation.operands) != 1:
        return
    scalar, type_ = operation.operands[0], ir.RankedTensorType(operation.results[0].type)
    identity, kinds = ir.AffineMap.get_identity(type_.rank), [PARALLEL] * type_.rank
    with ir.InsertionPoint(operation), operation.location:
        empty = tensor.empty(type_.shape, type_.element_type)
        operation.results[0].replace_all_uses_with(build_generic([], empty, [identity], kinds, lambda _: scalar))
    operation.erase()


def _take_scalars_into(loop: ir.Operation) -> None:
    """Scalars that a loop reads, and that are computed from elements of tensors, become tensors that it reads."""
    (block,) = loop.regions[0].blocks
    for value in islands.captured([loop])[0]:
        if isinstance(value.type, ir.RankedTensorType) or not _collect(value, {}):
            continue
        with ir.InsertionPoint(loop), loop.location:
            kept = build_generic(
                [], tensor.empty([], value.type), [ir.AffineMap.get(0, 0, [])], [], lambda _, value=value: value
            )
        with ir.InsertionPoint.at_block_begin(block), loop.location:
            mapping = {value: tensor.extract(kept, [])}
        for nested in block.operations:
            islands.replace_operands(nested.operation, mapping)
        _take_in_scalars(kept.owner.operation)


def _collect(value: ir.Value, computed: dict[ir.Operation, None]) -> bool:
    """Adds the operations that compute a scalar, operands first; False if there are others than it can take in."""
    if isinstance(value.owner, ir.Block):
        return False
    operation = value.owner.operation
    if operation.name == "tensor.extract":
        if any(size != 1 for size in ir.RankedTensorType(operation.operands[0].type).shape):
            return False
    elif (
        not operation.name.startswith(("arith.", "math.", "llvm.intr."))
        or len(operation.regions)
        or not all(_collect(operand, computed) for operand in operation.operands)
    ):
        return False
    if operation.name != "arith.constant":
        computed[operation] = None
    return True


def _hide(module: ir.Module, function: func.FuncOp) -> dict[str, ir.Operation]:
    """Moves what nothing may be fused with into functions, by name."""
    hidden = {}
    for each in list(function.regions[0].blocks[0].operations):
        operation = each.operation
        if not _stays(operation):
            continue
        name = f"hidden_{len(hidden)}"
        inputs, copied = islands.captured([operation])
        with ir.InsertionPoint(module.body):
            hidden[name] = islands.function_of(name, inputs, [*copied, operation], list(operation.results)).operation
        hidden[name].attributes["sym_visibility"] = ir.StringAttr.get("private")
        with ir.InsertionPoint(operation), operation.location:
            call = func.CallOp([value.type for value in operation.results], ir.FlatSymbolRefAttr.get(name), inputs)
        for old, new in zip(operation.results, call.results, strict=True):
            old.replace_all_uses_with(new)
        operation.erase()
    return hidden


def _stays(operation: ir.Operation) -> bool:
    from .selection.products import is_product

    if operation.name in ("linalg.generic", "linalg.fill", "linalg.transpose"):
        return is_product(operation)
    return operation.name.startswith("linalg.") or operation.name.startswith("scf.")


def _reveal(function: func.FuncOp, hidden: dict[str, ir.Operation]) -> None:
    for each in _found(function, "func.call"):
        name = ir.FlatSymbolRefAttr(each.attributes["callee"]).value
        if name not in hidden:
            continue
        block = hidden[name].regions[0].blocks[0]
        mapping = dict(zip(block.arguments, each.operands, strict=True))
        *operations, last = block.operations
        with ir.InsertionPoint(each):
            for operation in operations:
                islands.clone(operation.operation, mapping)
        for old, new in zip(each.results, last.operands, strict=True):
            old.replace_all_uses_with(mapping[new])
        each.erase()
    for operation in hidden.values():
        operation.erase()
