# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The computation of a linalg.generic on one element, as instructions that are emitted for vectors.

Each instruction does to every lane what the operation does to a scalar, so that the bits are the same. What is the same
for all lanes stays a scalar until it meets a vector.
"""

import dataclasses
import math
import struct
from collections.abc import Callable, Iterable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from torq_mlir.dialects import elements
from torq_mlir.execution.float_functions import CONSTANTS

_MATH = frozenset(
    f"math.{name}"
    for name in (
        "absf",
        "absi",
        "ceil",
        "copysign",
        "ctlz",
        "ctpop",
        "cttz",
        "floor",
        "fma",
        "round",
        "roundeven",
        "rsqrt",
        "sqrt",
        "trunc",
    )
)
# Their second results, or what they do to lanes that a scalar would not reach, are not those of vectors.
_NOT_VECTORS = frozenset(
    f"arith.{name}"
    for name in ("addui_extended", "divsi", "divui", "mulsi_extended", "mului_extended", "remsi", "remui")
)
_EXTREMES = ("llvm.intr.maximum", "llvm.intr.minimum")
# Operations whose order does not matter.
_INTEGERS = ("addi", "andi", "maxsi", "maxui", "minsi", "minui", "muli", "ori", "xori")
ANY_ORDER = frozenset((*_EXTREMES, *(f"arith.{name}" for name in _INTEGERS)))
INDEX = "linalg.index"
_CONSTANT = "arith.constant"


@dataclasses.dataclass(frozen=True)
class Instruction:
    """Attributes:
    operands: numbers of values.
    type: of the only result.
    attributes: of the operation.
    """

    name: str
    operands: tuple[int, ...]
    type: ir.Type
    attributes: tuple[tuple[str, ir.Attribute], ...]


@dataclasses.dataclass(frozen=True)
class Body:
    """Values are numbered: inputs, accumulators, parameters, and the results of the instructions.

    Attributes:
      inputs, outputs, parameters: types of elements. Parameters are constants that kernels of other layers have others
        for.
      results: the value of each output.
    """

    inputs: tuple[ir.Type, ...]
    outputs: tuple[ir.Type, ...]
    parameters: tuple[ir.Type, ...]
    instructions: tuple[Instruction, ...]
    results: tuple[int, ...]

    @property
    def first_parameter(self) -> int:
        return len(self.inputs) + len(self.outputs)

    @property
    def first_result(self) -> int:
        return self.first_parameter + len(self.parameters)

    @property
    def accumulators(self) -> range:
        return range(len(self.inputs), self.first_parameter)

    @property
    def has_index(self) -> bool:
        return any(each.name == INDEX for each in self.instructions)

    @property
    def width(self) -> int:
        """Bits of the widest value, at most 32: what is wider takes several registers."""
        types = (*self.inputs, *self.outputs, *(each.type for each in self.instructions))
        return max(8, *(min(32, getattr(each, "width", 32)) for each in types))

    def used(self) -> set[int]:
        return {operand for each in self.instructions for operand in each.operands} | set(self.results)

    def depending_on(self, values: Iterable[int]) -> set[int]:
        """These values, and the results of instructions that need one of them."""
        found = set(values)
        for number, each in enumerate(self.instructions, self.first_result):
            if found.intersection(each.operands):
                found.add(number)
        return found

    def emit(
        self, values: dict[int, ir.Value], which: Iterable[int], lanes: int, index: Callable[[int], ir.Value] | None
    ) -> None:
        """Emits the instructions of these values, in order, and adds their results to `values`.

        Args:
          index: the position in a loop, which is an instruction too.
        """
        for number in sorted(which):
            each = self.instructions[number - self.first_result]
            if each.name == INDEX:
                values[number] = index(ir.IntegerAttr(dict(each.attributes)["dim"]).value)
            else:
                values[number] = _emit(each, [values[operand] for operand in each.operands], lanes)


def of_operation(operation: ir.Operation) -> tuple[Body, list[int]] | None:
    """The body of a linalg.generic, and the bits of its parameters; None if it has something that vectors have not."""
    block = operation.regions[0].blocks[0]
    count = len(block.arguments) - len(operation.results)
    types = tuple(argument.type for argument in block.arguments)
    *nested, last = [each.operation for each in block.operations]
    constants = _captured(nested, last)
    if constants is None or not all(map(_is_supported, types)):
        return None
    numbers = {argument: number for number, argument in enumerate(block.arguments)}
    parameters = [value for value in constants if not _is_common(value)]
    numbers |= {value: len(types) + number for number, value in enumerate(parameters)}
    instructions: list[Instruction] = []

    def append(each: ir.Operation) -> None:
        numbers[each.results[0]] = len(types) + len(parameters) + len(instructions)
        operands = tuple(numbers[value] for value in each.operands)
        attributes = tuple((name, each.attributes[name]) for name in sorted(each.attributes))
        instructions.append(Instruction(each.name, operands, each.results[0].type, attributes))

    for value in constants:
        if _is_common(value):
            append(value.owner.operation)
    for each in nested:
        if not _has_vector_form(each):
            return None
        append(each)
    results = tuple(numbers[value] for value in last.operands)
    parameter_types = tuple(value.type for value in parameters)
    body = Body(types[:count], types[count:], parameter_types, tuple(instructions), results)
    return body, [_bits(value) for value in parameters]


def _captured(nested: Sequence[ir.Operation], last: ir.Operation) -> list[ir.Value] | None:
    """Constants from outside, each once; None if there are other values."""
    inside = {result for each in nested for result in each.results}
    found: dict[ir.Value, None] = {}
    for each in (*nested, last):
        for value in each.operands:
            if value in inside or (isinstance(value.owner, ir.Block) and value.owner == last.block):
                continue
            if isinstance(value.owner, ir.Block) or value.owner.operation.name != _CONSTANT:
                return None
            if not _is_supported(value.type):  # a table that elements are extracted from
                return None
            if isinstance(value.type, ir.ShapedType):
                return None
            found[value] = None
    return list(found)


def _has_vector_form(operation: ir.Operation) -> bool:
    if len(operation.regions) or len(operation.results) != 1 or not _is_supported(operation.results[0].type):
        return False
    if operation.name == INDEX or operation.name in _MATH or operation.name in _EXTREMES:
        return True
    return operation.name.startswith("arith.") and operation.name not in _NOT_VECTORS


def _is_supported(type_: ir.Type) -> bool:
    if isinstance(type_, ir.IntegerType):
        return type_.width in (1, 8, 16, 32, 64)
    return isinstance(type_, (ir.IndexType, ir.F32Type, ir.F64Type, ir.BF16Type))


def _is_common(value: ir.Value) -> bool:
    """Whether a constant is likely to be the same in other layers: integers and halves, infinity, and indices."""
    attribute = value.owner.operation.attributes["value"]
    if not isinstance(attribute, ir.FloatAttr):
        return isinstance(value.type, ir.IndexType) or abs(ir.IntegerAttr(attribute).value) < 256
    number = attribute.value
    return number in CONSTANTS or math.isinf(number) or math.isnan(number) or (2 * number).is_integer()


def _bits(value: ir.Value) -> int:
    """Of a constant, as an integer of the same width."""
    attribute = value.owner.operation.attributes["value"]
    if not isinstance(attribute, ir.FloatAttr):
        return ir.IntegerAttr(attribute).value
    if isinstance(value.type, ir.F64Type):
        return struct.unpack("<q", struct.pack("<d", attribute.value))[0]
    (single,) = struct.unpack("<i", struct.pack("<f", attribute.value))
    return single if isinstance(value.type, ir.F32Type) else single >> 16


def _emit(instruction: Instruction, operands: list[ir.Value], lanes: int) -> ir.Value:
    type_ = instruction.type
    if any(isinstance(operand.type, ir.VectorType) for operand in operands):
        operands = [spread(operand, lanes) for operand in operands]
        type_ = ir.VectorType.get([lanes], type_)
    if _is_half(instruction, operands):
        return _in_f32(instruction, operands, lanes)
    return ir.Operation.create(instruction.name, [type_], operands, dict(instruction.attributes)).results[0]


def _is_half(instruction: Instruction, operands: Sequence[ir.Value]) -> bool:
    """Whether it is arithmetic in bf16, which is in f32, rounded after each operation."""
    types = [instruction.type, *(_element(operand.type) for operand in operands)]
    moves = ("arith.select", "arith.bitcast", "arith.extf", "arith.truncf", _CONSTANT)
    return instruction.name not in moves and any(isinstance(each, ir.BF16Type) for each in types)


def _in_f32(instruction: Instruction, operands: Sequence[ir.Value], lanes: int) -> ir.Value:
    single = ir.F32Type.get()

    def like(element: ir.Type, value: ir.Value) -> ir.Type:
        return ir.VectorType.get([lanes], element) if isinstance(value.type, ir.VectorType) else element

    wide = [
        arith.extf(like(single, each), each) if isinstance(_element(each.type), ir.BF16Type) else each
        for each in operands
    ]
    is_half = isinstance(instruction.type, ir.BF16Type)
    value = _emit(dataclasses.replace(instruction, type=single) if is_half else instruction, wide, lanes)
    return arith.truncf(like(ir.BF16Type.get(), value), value) if is_half else value


def _element(type_: ir.Type) -> ir.Type:
    return ir.VectorType(type_).element_type if isinstance(type_, ir.VectorType) else type_


def spread(value: ir.Value, lanes: int) -> ir.Value:
    """A scalar in all lanes; a vector as it is."""
    if isinstance(value.type, ir.VectorType):
        return value
    return vector.broadcast(ir.VectorType.get([lanes], value.type), value)


def stored_width(type_: ir.Type) -> int:
    """Bits of an element in memory."""
    return 8 * elements.numpy_dtype(type_).itemsize


def from_memory(value: ir.Value, type_: ir.Type, biased: bool) -> ir.Value:
    """Integers as they are stored, scalar or vector, as values of an element type."""
    if biased:
        value = arith.xori(value, _like_constant(-128, value.type))
    if type_ == _element(value.type):
        return value
    target = ir.VectorType.get(value.type.shape, type_) if isinstance(value.type, ir.VectorType) else type_
    return (arith.trunci if isinstance(type_, ir.IntegerType) else arith.bitcast)(target, value)


def to_memory(value: ir.Value, width: int, biased: bool) -> ir.Value:
    """The opposite."""
    element = _element(value.type)
    integer = ir.IntegerType.get_signless(width)
    if element != integer:
        target = ir.VectorType.get(value.type.shape, integer) if isinstance(value.type, ir.VectorType) else integer
        value = (arith.extui if isinstance(element, ir.IntegerType) else arith.bitcast)(target, value)
    return arith.xori(value, _like_constant(-128, value.type)) if biased else value


def _like_constant(value: int, type_: ir.Type) -> ir.Value:
    attribute = ir.IntegerAttr.get(_element(type_), value)
    if isinstance(type_, ir.VectorType):
        attribute = ir.DenseElementsAttr.get_splat(type_, attribute)
    return arith.constant(type_, attribute)
