# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""quantized-decomposed-backend-type-conversion: the bridge from torch types to builtin tensors.

The operations themselves stay; `torch_c` casts stand where their torch operands and results were, as they do when a
conversion of torch-mlir lowers an operation. Between a cast to an unsigned type, which StableHLO has, and the signless
type of the operation is a bitcast.
"""

import functools

from torch_mlir import ir, rewrite
from torch_mlir.dialects import arith
from torch_mlir.passmanager import PassManager

from torq_mlir.dialects import elements, quantized_decomposed, tensor_types
from torq_mlir.dialects.predicates import is_torch_type
from torq_mlir.passes import PassFailure

_SCALARS = {"float": ("to_f64", ir.F64Type.get), "int": ("to_i64", lambda: ir.IntegerType.get_signless(64))}


def run(op: ir.Operation, unsigned_types: bool = False) -> None:
    _load_torch_c(op.context)
    patterns = rewrite.RewritePatternSet()
    for name in quantized_decomposed.OPERATIONS:
        patterns.add(name, functools.partial(_convert, unsigned_types))
    rewrite.walk_and_apply_patterns(op, patterns.freeze())


def _load_torch_c(context: ir.Context) -> None:
    """The bindings load torch_c with the first pass that depends on it."""
    if not context.is_dialect_loaded("torch_c"):
        empty = ir.Module.create(ir.Location.unknown(context))
        PassManager.parse("builtin.module(torch-func-backend-type-conversion)", context).run(empty.operation)


def _convert(unsigned_types: bool, operation: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
    """A pattern as MLIR calls it, but for its first argument: true for no match."""
    operation = operation.operation
    if not any(is_torch(value.type) for value in [*operation.operands, *operation.results]):
        return True
    with rewriter.ip, operation.location:
        operands = [_to_builtin(operation, value, unsigned_types) for value in operation.operands]
        results = [_builtin_tensor(operation, result.type) for result in operation.results]
        attributes = {name: operation.attributes[name] for name in operation.attributes}
        converted = ir.Operation.create(operation.name, results, operands, attributes)
        replacements = [
            value if value.type == result.type else _to_torch(value, result.type, unsigned_types)
            for value, result in zip(converted.results, operation.results, strict=True)
        ]
    rewriter.replace_op(operation, replacements)
    return False


def is_torch(type_: ir.Type) -> bool:
    """Whether a type is one of the torch dialect."""
    return str(type_).startswith("!torch.")


def _to_builtin(operation: ir.Operation, value: ir.Value, unsigned_types: bool) -> ir.Value:
    if not is_torch(value.type):
        return value
    for mnemonic, (cast, builtin) in _SCALARS.items():
        if is_torch_type(value.type, mnemonic):
            return _cast(cast, value, builtin())
    builtin = _builtin_tensor(operation, value.type)
    constant = elements.constant_value(value)
    if constant is not None:
        return arith.constant(None, elements.from_numpy(_signless(constant), builtin.element_type))
    visible = _visible(builtin, value.type, unsigned_types)
    cast = value.owner.operation if visible != builtin and not isinstance(value.owner, ir.Block) else None
    if cast is not None and cast.name == "torch_c.from_builtin_tensor":  # made here, of what `_bitcast` made
        return cast.operands[0].owner.operation.operands[0]
    return _bitcast(_cast("to_builtin_tensor", value, visible), builtin)


def _to_torch(value: ir.Value, type_: ir.Type, unsigned_types: bool) -> ir.Value:
    return _cast("from_builtin_tensor", _bitcast(value, _visible(value.type, type_, unsigned_types)), type_)


def _visible(builtin: ir.Type, type_: ir.Type, unsigned_types: bool) -> ir.Type:
    """What other operations see of a torch tensor that is `builtin` to its operation."""
    element = tensor_types.element_type(type_)
    is_unsigned = isinstance(element, ir.IntegerType) and element.is_unsigned
    return tensor_types.with_element(builtin, element) if unsigned_types and is_unsigned else builtin


def _bitcast(value: ir.Value, type_: ir.Type) -> ir.Value:
    if value.type == type_:
        return value
    return ir.Operation.create("stablehlo.bitcast_convert", [type_], [value]).result


def _builtin_tensor(operation: ir.Operation, type_: ir.Type) -> ir.Type:
    """The builtin tensor that the bridge makes of a torch tensor; its integers are signless."""
    if not is_torch(type_):
        return type_
    shape, element = tensor_types.shape(type_), tensor_types.element_type(type_)
    if not tensor_types.is_torch_tensor(type_) or shape is None or element is None:
        operation.location.emit_error(f"'{operation.name}' has type {type_}, which says no shape or no element type")
        raise PassFailure
    if isinstance(element, ir.IntegerType):
        element = ir.IntegerType.get_signless(element.width)
    return tensor_types.tensor(shape, element)


def _signless(array):
    return array.view(f"int{array.dtype.itemsize * 8}") if array.dtype.kind == "u" else array


def _cast(name: str, value: ir.Value, result: ir.Type) -> ir.Value:
    return ir.Operation.create(f"torch_c.{name}", [result], [value]).result
