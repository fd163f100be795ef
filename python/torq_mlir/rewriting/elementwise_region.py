# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise float computation between one dequantization and one quantization, and its values on all inputs."""

import functools
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, func, linalg

from torq_mlir.execution import Executable, compile_linalg

from .constant_folding import fold_number
from .qdq_generics import dequantize_generic, quantize_generic
from .qparams import Dequantize, Quantize, match_dequantize
from .structured import PARALLEL, element_type

# A region that is larger than this is worth more than a table, or not elementwise in truth.
_MOST_OPERATIONS = 64


@dataclass(frozen=True)
class ElementwiseRegion:
    """Generics that compute each element of a float tensor from the same element of one dequantized tensor.

    Attributes:
      dequantize: the dequantization at the start; there may be equal others.
      operations: the generics, operands before users.
      starts: the dequantized values.
      result: the float tensor.
    """

    dequantize: Dequantize
    operations: tuple[ir.Operation, ...]
    starts: tuple[ir.Value, ...]
    result: ir.Value

    def evaluate(self, quantize: Quantize) -> np.ndarray:
        """The integers that the region and `quantize` make of each i8 from -128 to 127, computed by that very region.

        Returns:
          int8 of shape (256,).
        """
        with ir.Location.unknown():
            module = ir.Module.create()
            types = [_tensor(256, ir.IntegerType.get_signless(8))]
            types += [_tensor(element) for element in (ir.F32Type.get(), ir.IntegerType.get_signless(32))] * 2
            with ir.InsertionPoint(module.body):
                func.FuncOp.from_py_func(*types, name="main")(lambda *values: self._rebuild(quantize, *values))
        given, wanted = self.dequantize, quantize
        parameters = [
            np.asarray(value, dtype).reshape(())
            for each in (given, wanted)
            for value, dtype in ((each.scale, np.float32), (each.zero_point, np.int32))
        ]
        (values,) = _compiled(str(module))([np.arange(-128, 128).astype(np.int8), *parameters])
        return values

    def _rebuild(
        self,
        quantize: Quantize,
        x: ir.Value,
        given_scale: ir.Value,
        given_zero_point: ir.Value,
        wanted_scale: ir.Value,
        wanted_zero_point: ir.Value,
    ) -> ir.Value:
        start = dequantize_generic(
            x, given_scale, given_zero_point, axis=None, unsigned=False, result_element_type=ir.F32Type.get()
        )
        values = dict.fromkeys(self.starts, start)
        for operation in self.operations:
            values[operation.results[0]] = _rebuild_generic(operation, values)
        return quantize_generic(
            values[self.result],
            wanted_scale,
            wanted_zero_point,
            axis=None,
            quant_min=quantize.minimum,
            quant_max=quantize.maximum,
            unsigned=False,
            divide=quantize.divide,
            storage_type=ir.IntegerType.get_signless(8),
        )


@functools.lru_cache(maxsize=128)
def _compiled(text: str) -> Executable:
    """Machine code for a region. The same function occurs with many scales, which are arguments for that reason."""
    return compile_linalg(ir.Module.parse(text, ir.Context()))


def _tensor(*shape: int | ir.Type) -> ir.RankedTensorType:
    """Sizes, then the element type."""
    return ir.RankedTensorType.get(shape[:-1], shape[-1])


def match_elementwise_region(value: ir.Value) -> ElementwiseRegion | None:
    """The region that ends in `value`, when everything in it comes from one dequantized i8 tensor."""
    operations: list[ir.Operation] = []
    starts: list[ir.Value] = []
    dequantize = _collect(value, operations, starts)
    if dequantize is None or not operations or len(operations) > _MOST_OPERATIONS:
        return None
    if not isinstance(element_type(value), ir.F32Type):
        return None
    element = ir.RankedTensorType(dequantize.input.type).element_type
    if element.width != 8 or not dequantize.per_tensor or dequantize.unsigned:
        return None
    return ElementwiseRegion(dequantize, tuple(operations), tuple(starts), value)


def _collect(value: ir.Value, operations: list[ir.Operation], starts: list[ir.Value]) -> Dequantize | None:
    """Appends what computes `value`; the dequantization everything starts from, None when there is no one such."""
    if value in starts:
        return match_dequantize(value)
    dequantize = match_dequantize(value)
    if dequantize is not None:
        starts.append(value)
        return dequantize
    if isinstance(value.owner, ir.Block) or not _is_elementwise(value.owner.operation):
        return None
    generic = value.owner.operation
    found = None
    for operand in list(generic.operands)[:-1]:
        if _is_number(operand):
            continue
        start = _collect(operand, operations, starts)
        if start is None or (found is not None and not _same(found, start)):
            return None
        found = start
    if found is not None and generic not in operations:
        operations.append(generic)
    return found


def _is_elementwise(operation: ir.Operation) -> bool:
    """A generic that computes an element of its result from the same elements of its operands, and from numbers."""
    if operation.name != "linalg.generic" or len(operation.results) != 1:
        return False
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(operation.attributes["indexing_maps"])]
    identity = ir.AffineMap.get_identity(maps[0].n_dims)
    if maps[-1] != identity:
        return False
    block = operation.regions[0].blocks[0]
    init = block.arguments[len(maps) - 1]
    if any(inner.operation.name == "linalg.index" for inner in block.operations) or any(True for _ in init.uses):
        return False
    if any(fold_number(value) is None for value in _captured(operation)):
        return False
    operands = zip(list(operation.operands)[:-1], maps[:-1], strict=True)
    return all(affine_map == identity or _is_number(operand) for operand, affine_map in operands)


def _captured(generic: ir.Operation) -> list[ir.Value]:
    """What the body uses from outside."""
    block = generic.regions[0].blocks[0]
    used = [operand for inner in block.operations for operand in inner.operation.operands]
    return [v for v in used if (v.owner if isinstance(v.owner, ir.Block) else v.owner.operation.block) != block]


def _is_number(value: ir.Value) -> bool:
    return fold_number(value) is not None


def _same(first: Dequantize, second: Dequantize) -> bool:
    parameters = [(x.input, float(x.scale), int(x.zero_point), x.unsigned) for x in (first, second) if x.per_tensor]
    return len(parameters) == 2 and parameters[0] == parameters[1]


def _rebuild_generic(generic: ir.Operation, values: dict[ir.Value, ir.Value]) -> ir.Value:
    """The computation of `generic` on tensors of 256 elements; numbers are captured."""
    operands = list(generic.operands)[:-1]
    inputs = [values[operand] for operand in operands if not _is_number(operand)]
    result = ir.RankedTensorType.get([256], element_type(generic.results[0]))
    init = ir.Operation.create("tensor.empty", results=[result]).result
    maps = [ir.AffineMapAttr.get(ir.AffineMap.get_identity(1))] * (len(inputs) + 1)
    rebuilt = linalg.GenericOp([result], inputs, [init], ir.ArrayAttr.get(maps), [PARALLEL])
    block = rebuilt.regions[0].blocks.append(*(element_type(value) for value in (*inputs, init)))
    old = generic.regions[0].blocks[0]
    with ir.InsertionPoint(block):
        arguments = iter(block.arguments)
        mapping = {
            argument: _number(operand) if _is_number(operand) else next(arguments)
            for argument, operand in zip(list(old.arguments)[:-1], operands, strict=True)
        }
        for operation in old.operations:
            _copy(operation.operation, mapping)
    return rebuilt.operation.results[0]


def _copy(operation: ir.Operation, mapping: dict[ir.Value, ir.Value]) -> None:
    if operation.name == "tensor.extract":  # of a tensor from outside that is one number
        mapping[operation.results[0]] = _number(operation.operands[0])
        return
    clone = operation.clone()
    for index, operand in enumerate(operation.operands):
        if operand not in mapping:  # from outside the body
            mapping[operand] = _number(operand)
            mapping[operand].owner.operation.move_before(clone)
        clone.operands[index] = mapping[operand]
    for old, new in zip(operation.results, clone.operation.results, strict=True):
        mapping[old] = new


def _number(value: ir.Value) -> ir.Value:
    return arith.constant(element_type(value), fold_number(value).item())
