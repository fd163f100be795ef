# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The entry function, from tensors in and out to buffers that the caller provides.

    func @f(%x: tensor<A>) -> (tensor<B>, tensor<?xC>)
    func @main(%x: tensor<A>, %weights: tensor<D>, %result: memref<B>) -> tensor<?xC>

Constants become arguments, which costs neither a copy nor compile time. Results of static shape are copied to the
caller's buffers; those of dynamic shape are buffers of their own, which the caller frees. Scalars become 0-d tensors.
"""

from typing import NamedTuple

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import bufferization, func, tensor

from torq_mlir.dialects import elements
from torq_mlir.errors import CompileError

ENTRY_NAME = "main"

# Constants of at most so many elements stay in the code, where LLVM sees their values. If it saw different ones for the
# elements of a loop, its SLP vectorizer would join code that differs between them, and does that wrongly: a lane
# without a maximum gets one with the least i64, which is zero once it is narrowed to 32 bits.
_SMALL = 1


class TensorSpec(NamedTuple):
    """Shape (None where dynamic), numpy dtype and width in bits of the elements of an argument or result."""

    shape: tuple[int | None, ...]
    dtype: np.dtype
    bits: int

    @classmethod
    def of(cls, type_: ir.Type) -> "TensorSpec":
        """The spec of a ranked tensor, or of a scalar as a 0-d tensor.

        Raises:
          TypeError: there is no numpy dtype for the elements.
        """
        is_tensor = isinstance(type_, ir.RankedTensorType)
        element = type_.element_type if is_tensor else type_
        dynamic = ir.ShapedType.get_dynamic_size()
        shape = tuple(None if size == dynamic else size for size in type_.shape) if is_tensor else ()
        dtype = elements.numpy_dtype(element)
        return cls(shape, dtype, getattr(element, "width", 8 * dtype.itemsize))

    @property
    def is_static(self) -> bool:
        return None not in self.shape


class Signature(NamedTuple):
    """Inputs, constants and results of a compiled function; constants follow the inputs.

    A function of static shapes takes pointers to its buffers, any other takes memref descriptors.
    """

    inputs: tuple[TensorSpec, ...]
    constants: tuple[tuple[np.ndarray, TensorSpec], ...]
    results: tuple[TensorSpec, ...]

    @property
    def takes_pointers(self) -> bool:
        # MLIR passes empty buffers by descriptor.
        return all(spec.is_static and 0 not in spec.shape for spec in (*self.inputs, *self.results))

    @property
    def symbol(self) -> str:
        """Name of the compiled function, whose arguments are an array of pointers to them."""
        return ENTRY_NAME if self.takes_pointers else f"_mlir_ciface_{ENTRY_NAME}"


def entry_function(module: ir.Module) -> func.FuncOp:
    """The function `main`, or the only public function.

    Raises:
      CompileError: there is no such function, or it takes or returns anything but tensors and scalars of numbers.
    """
    functions = [op for op in module.body.operations if isinstance(op, func.FuncOp) and not op.is_external]
    public = [f for f in functions if _is_public(f)]
    candidates = [f for f in public if f.name.value == ENTRY_NAME] or public
    if len(candidates) != 1:
        names = ", ".join(f"@{f.name.value}" for f in public) or "none"
        raise CompileError(f"expected a function @{ENTRY_NAME} or one public function; public functions: {names}")
    entry = candidates[0]
    if len(entry.regions[0].blocks) != 1:
        raise CompileError(f"@{entry.name.value} has several blocks; structured control flow is needed")
    for kind, types in (("argument", entry.type.inputs), ("result", entry.type.results)):
        for position, type_ in enumerate(types):
            _check_type(type_, f"{kind} {position} of @{entry.name.value}")
    return entry


def keep_only_public(module: ir.Module, entry: func.FuncOp) -> None:
    """Makes every other function private, so that it can be inlined and removed."""
    for operation in module.body.operations:
        if isinstance(operation, func.FuncOp) and operation != entry and _is_public(operation):
            operation.attributes["sym_visibility"] = ir.StringAttr.get("private")


def lower(entry: func.FuncOp) -> Signature:
    """Gives `entry`, which contains everything, the form above and the name `main`."""
    inputs = tuple(TensorSpec.of(type_) for type_ in entry.type.inputs)
    results = tuple(TensorSpec.of(type_) for type_ in entry.type.results)
    scalars_to_tensors(entry)
    block = entry.regions[0].blocks[0]
    constants = _constants_to_arguments(block)
    returned = _return_in_buffers(block)
    arguments = [argument.type for argument in block.arguments]
    entry.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(arguments, returned))
    entry.attributes["sym_name"] = ir.StringAttr.get(ENTRY_NAME)
    signature = Signature(inputs, constants, results)
    convention = "llvm.bareptr" if signature.takes_pointers else "llvm.emit_c_interface"
    entry.attributes[convention] = ir.UnitAttr.get()
    read_only = ir.DictAttr.get({"bufferization.writable": ir.BoolAttr.get(False)})
    is_tensor = [isinstance(type_, ir.RankedTensorType) for type_ in arguments]
    entry.attributes["arg_attrs"] = ir.ArrayAttr.get([read_only if each else ir.DictAttr.get({}) for each in is_tensor])
    if "res_attrs" in entry.attributes:
        del entry.attributes["res_attrs"]
    return signature


def _is_public(function: func.FuncOp) -> bool:
    attributes = function.attributes
    return "sym_visibility" not in attributes or attributes["sym_visibility"].value == "public"


def _check_type(type_: ir.Type, what: str) -> None:
    if not isinstance(type_, (ir.RankedTensorType, ir.IntegerType, ir.FloatType, ir.IndexType)):
        raise CompileError(f"{what} is {type_}, not a ranked tensor of numbers")
    try:
        TensorSpec.of(type_)
    except TypeError as error:
        raise CompileError(f"{what} is {type_}: {error}") from error


def scalars_to_tensors(entry: func.FuncOp) -> None:
    """Makes arguments and results that are scalars tensors of rank 0."""
    block = entry.regions[0].blocks[0]
    for argument in block.arguments:
        if isinstance(argument.type, ir.RankedTensorType):
            continue
        scalar = argument.type
        argument.set_type(ir.RankedTensorType.get([], scalar))
        with ir.InsertionPoint.at_block_begin(block):
            element = tensor.ExtractOp(argument, [], results=[scalar])
        argument.replace_all_uses_except(element.result, element.operation)
    return_op = _terminator(block)
    with ir.InsertionPoint(return_op):
        for position, value in enumerate(return_op.operands):
            if not isinstance(value.type, ir.RankedTensorType):
                boxed = tensor.from_elements(ir.RankedTensorType.get([], value.type), [value])
                return_op.operands[position] = boxed
    types = [argument.type for argument in block.arguments], [value.type for value in return_op.operands]
    entry.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*types))


def _constants_to_arguments(block: ir.Block) -> tuple[tuple[np.ndarray, TensorSpec], ...]:
    """Replaces constants anywhere in `block` by new arguments, the same one for equal constants."""
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name == "arith.constant" and _is_large(operation.results[0].type):
            found.append(operation)
        return ir.WalkResult.ADVANCE

    block.owner.operation.walk(visit)
    arguments: dict[ir.Attribute, ir.Value] = {}
    constants = []
    for operation in found:
        attribute = operation.attributes["value"]
        if attribute not in arguments:
            arguments[attribute] = block.add_argument(operation.results[0].type, operation.location)
            constants.append((elements.to_numpy(attribute), TensorSpec.of(operation.results[0].type)))
        operation.results[0].replace_all_uses_with(arguments[attribute])
        operation.erase()
    return tuple(constants)


def _is_large(type_: ir.Type) -> bool:
    return isinstance(type_, ir.RankedTensorType) and np.prod(type_.shape, dtype=np.int64) > _SMALL


def _return_in_buffers(block: ir.Block) -> list[ir.Type]:
    """Stores results of static shape in new arguments; returns the types of those that are still returned."""
    return_op = _terminator(block)
    returned = []
    with ir.InsertionPoint(return_op), return_op.location:
        for value in return_op.operands:
            tensor_type = ir.RankedTensorType(value.type)
            if tensor_type.has_static_shape:
                buffer_type = ir.MemRefType.get(tensor_type.shape, tensor_type.element_type)
                buffer = block.add_argument(buffer_type, return_op.location)
                bufferization.materialize_in_destination(None, value, buffer, writable=True)
            else:  # a copy, so that what the caller frees is neither an argument nor another result
                returned.append(bufferization.AllocTensorOp(tensor_type, [], copy=value).result)
        func.ReturnOp(returned)
    return_op.erase()
    return [value.type for value in returned]


def _terminator(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation
