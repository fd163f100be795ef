# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regions that move or mix the elements of one tensor, and what they do, found by running them.

Lowerings of gathers, resizes and reflections compute positions in many ways. What matters is which element ends where,
and that is what a region gives when it is run on the numbers of the elements.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

from torq_mlir.execution import compile_linalg

from ..dialects import elements
from .structured import element_type

_MOST_OPERATIONS = 256
_MOST_ELEMENTS = 1 << 24
_MOVEMENTS = ("tensor.extract_slice", "tensor.insert_slice", "tensor.concat", "linalg.transpose", "linalg.broadcast")
_KNOWN = (*_MOVEMENTS, "linalg.generic", "linalg.fill", "tensor.empty", "tensor.expand_shape", "tensor.collapse_shape")


@dataclass(frozen=True)
class Region:
    """Operations without side effects that compute `result` from the elements of `source` and from constants.

    Attributes:
      operations: operands before users.
      starts: the values of the region that stand for the source, all of its shape.
    """

    source: ir.Value
    operations: tuple[ir.Operation, ...]
    starts: tuple[ir.Value, ...]
    result: ir.Value

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Of the source and of the result."""
        return tuple(ir.RankedTensorType(self.starts[0].type).shape), tuple(ir.RankedTensorType(self.result.type).shape)

    def compile(self) -> Callable[[np.ndarray], np.ndarray]:
        """The region as a function of the elements of its start, in their type."""
        with ir.Location.unknown():
            module = ir.Module.create()
            with ir.InsertionPoint(module.body):

                @func.FuncOp.from_py_func(self.starts[0].type, name="main")
                def main(start):
                    mapping = dict.fromkeys(self.starts, start)
                    for operation in self.operations:
                        _clone(operation, mapping)
                    return mapping[self.result]

            executable = compile_linalg(module)
        return lambda array: executable([array])[0]


def match_region(result: ir.Value, start_of: Callable[[ir.Value], ir.Value | None]) -> Region | None:
    """The region that ends in `result`, when it moves elements at all.

    Args:
      start_of: the source that a value stands for, None if it stands for none.
    """
    operations: list[ir.Operation] = []
    starts: list[ir.Value] = []
    sources: list[ir.Value] = []
    pending, seen = [result], set()
    while pending:
        value = pending.pop()
        source = start_of(value)
        if source is not None:
            starts += [] if value in starts else [value]
            sources += [] if source in sources else [source]
        elif isinstance(value.owner, ir.Block) or len(operations) > _MOST_OPERATIONS:
            return None
        elif value.owner.operation not in seen:
            operation = value.owner.operation
            if not _is_known(operation):
                return None
            seen.add(operation)
            operations.append(operation)
            pending.extend(_used_values(operation))
    moving = any(operation.name in _MOVEMENTS or _reads_anywhere(operation) for operation in operations)
    if len(sources) != 1 or not moving or not _are_static(result, *starts):
        return None
    return Region(sources[0], tuple(_sorted(operations)), tuple(starts), result)


def moved_elements(region: Region, run: Callable[[np.ndarray], np.ndarray]) -> np.ndarray | None:
    """Which element of the source each element of the result is, as its number; None for anything but a movement.

    Returns:
      int64, in the shape of the result.
    """
    shape, _ = region.shapes
    count = math.prod(shape)
    dtype = elements.numpy_dtype(element_type(region.starts[0]))
    base = 100 if dtype.itemsize == 1 else 4000  # digits that the element type holds exactly
    numbers, rest, weight = np.zeros((), np.int64), np.arange(count), 1
    while weight < count:
        digits = run((rest % base + 1).astype(dtype).reshape(shape)).astype(np.float64)
        if not np.all((digits >= 1) & (digits <= base) & (digits == np.rint(digits))):
            return None
        numbers = numbers + (digits.astype(np.int64) - 1) * weight
        rest, weight = rest // base, weight * base
    probe = np.random.default_rng(0).integers(-100, 100, count).astype(dtype)
    if weight == 1:
        numbers = np.zeros(region.shapes[1], np.int64)
    if np.any(numbers >= count):
        return None
    # What else is done to some values shows with those of both signs, or with extreme ones.
    negated = ~probe if dtype.kind == "b" else -probe
    probes = (probe, negated, *(np.full(count, extreme, dtype) for extreme in _extremes(dtype)))
    return numbers if all(np.array_equal(run(each.reshape(shape)), each[numbers]) for each in probes) else None


def _extremes(dtype: np.dtype) -> tuple[float, float]:
    if dtype.kind == "b":
        return False, True
    if dtype.kind == "i":
        return np.iinfo(dtype).min, np.iinfo(dtype).max
    largest = 2.0**15 if dtype.itemsize == 2 else 2.0**100
    return -largest, largest


def along_dimensions(numbers: np.ndarray, shape: tuple[int, ...]) -> list[tuple[int | None, np.ndarray]] | None:
    """Element numbers as positions of each dimension of `shape`, each along one dimension of `numbers`.

    Returns:
      For each dimension the one of the result that it is read along, None for a single position, and the positions;
      None where a position depends on several dimensions, or two on the same.
    """
    found: list[tuple[int | None, np.ndarray]] = []
    for position in np.unravel_index(numbers, shape):
        varying = [d for d in range(numbers.ndim) if np.any(position != position.take([0], axis=d))]
        if len(varying) > 1:
            return None
        axis = varying[0] if varying else None
        index = tuple(slice(None) if d == axis else 0 for d in range(numbers.ndim))
        found.append((axis, np.atleast_1d(position[index])))
    axes = [axis for axis, _ in found if axis is not None]
    return found if len(set(axes)) == len(axes) else None


def _is_known(operation: ir.Operation) -> bool:
    if operation.name not in _KNOWN:
        return operation.name == "arith.constant"
    if operation.name != "linalg.generic":
        return True
    return all("parallel" in str(each) for each in ir.ArrayAttr(operation.attributes["iterator_types"]))


def _reads_anywhere(operation: ir.Operation) -> bool:
    """Whether a generic extracts elements of a tensor of several."""
    if operation.name != "linalg.generic":
        return False
    inner = [nested.operation for nested in operation.regions[0].blocks[0].operations]
    tensors = [ir.RankedTensorType(nested.operands[0].type) for nested in inner if nested.name == "tensor.extract"]
    return any(math.prod(each.shape) != 1 for each in tensors)


def _are_static(*values: ir.Value) -> bool:
    """Whether all are tensors of static shape, of one element type, neither empty nor too large to run."""
    types = [value.type for value in values]
    if not all(isinstance(each, ir.RankedTensorType) and each.has_static_shape for each in types):
        return False
    sizes = [math.prod(each.shape) for each in types]
    return 0 < min(sizes) <= max(sizes) <= _MOST_ELEMENTS and len({each.element_type for each in types}) == 1


def _used_values(operation: ir.Operation) -> list[ir.Value]:
    """Operands, and what nested operations use from outside."""
    used, inside = list(operation.operands), [block for region in operation.regions for block in region.blocks]
    for block in inside:
        for nested in block.operations:
            used += [value for value in nested.operation.operands if _block_of(value) not in inside]
    return used


def _block_of(value: ir.Value) -> ir.Block:
    return value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block


def _sorted(operations: list[ir.Operation]) -> list[ir.Operation]:
    """In the order of their block, in which they all are."""
    wanted = set(operations)
    return [each.operation for each in operations[0].block.operations if each.operation in wanted]


def _clone(operation: ir.Operation, mapping: dict[ir.Value, ir.Value]) -> None:
    clone = operation.clone().operation
    for each in [clone, *(nested.operation for r in clone.regions for b in r.blocks for nested in b.operations)]:
        for index, operand in enumerate(each.operands):
            if operand in mapping:
                each.operands[index] = mapping[operand]
    mapping |= zip(operation.results, clone.results, strict=True)
