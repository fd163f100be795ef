# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interpreter of modules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch_mlir import ir

from torq_mlir.dialects import elements, locations, ods, torq_hl
from torq_mlir.errors import InputError, TorqError
from torq_mlir.execution.signature import TensorSpec, entry_function

from .data_movement import data_movement
from .kernels import KERNELS
from .outlining import CompiledOperations

# Called with an operation, its operand arrays and its result arrays; returns arrays to use instead, or None.
OnResult = Callable[[ir.Operation, list[np.ndarray], list[np.ndarray]], Sequence[np.ndarray] | None]
Evaluation = Callable[[list[np.ndarray]], list[np.ndarray]]


class InterpreterError(TorqError):
    """An operation that cannot be interpreted, or failed. The text names its source node or location, and itself."""

    def __init__(self, operation: ir.Operation, reason: object) -> None:
        where = ", ".join(locations.source_names(operation.location)) or str(operation.location)
        super().__init__(f"{where}: '{operation.name}' op {reason}")


def run(module: ir.Module, inputs: Sequence[np.ndarray], *, on_result: OnResult | None = None) -> list[np.ndarray]:
    """Runs the function `main` of `module`, or its only public function, once. See `Interpreter`."""
    return Interpreter(module)(inputs, on_result=on_result)


@dataclass
class _Step:
    """An operation, and how to compute its results.

    Attributes:
      operands, results: slots of the operation's values.
      arguments: slots of the values that `evaluate` takes.
      released: slots that no later step reads.
    """

    operation: ir.Operation
    operands: list[int]
    arguments: list[int]
    results: list[int]
    evaluate: Evaluation
    released: list[int] = field(default_factory=list)


class Interpreter:
    """A function that was prepared to be run any number of times.

    Scalars are arrays of rank 0. Operations that share their printed form are compiled once.
    """

    def __init__(self, module: ir.Module) -> None:
        """Prepares the function `main` of `module`, or its only public function.

        Args:
          module: torq_hl, quantized_decomposed, linalg, tensor, arith, ... on builtin tensors. It is not modified, and
            must not be until the last call.

        Raises:
          CompileError: there is no such function, or its signature has other types than ranked tensors and scalars.
          InterpreterError: an operation is supported neither here nor by the JIT.
        """
        self._module = module
        with module.context:
            function = entry_function(module)
            block = function.regions[0].blocks[0]
            self._arguments = _argument_names(function.operation)
            self._specs = [TensorSpec.of(type_) for type_ in function.type.inputs]
            self._slots: dict[ir.Value, int] = {argument: slot for slot, argument in enumerate(block.arguments)}
            self._constants: dict[int, np.ndarray] = {}
            self._compiled = CompiledOperations()
            self._steps: list[_Step] = []
            self._returned: list[int] = []
            for op in block.operations:
                self._prepare(op.operation)
            self._release_early()

    @property
    def compiled_operations(self) -> int:
        """How many different operations were compiled because numpy has no function for them."""
        return len(self._compiled)

    def __call__(self, inputs: Sequence[np.ndarray], *, on_result: OnResult | None = None) -> list[np.ndarray]:
        """Computes the results.

        Args:
          inputs: one array for each argument of the function, of its shape and dtype. Signless integers are signed.
          on_result: called after each operation other than arith.constant and tensor.empty, with the operation, the
            arrays of its operands (`init` included, whose contents mean nothing) and those of its results, none of
            which may be written. It may return arrays that take the place of the results.

        Returns:
          New arrays.

        Raises:
          InputError: the number of arrays, or the shape or dtype of one, is not that of the function.
          InterpreterError: an operation failed, e.g. because an accumulator left int32.
          ValueError: `on_result` returned other numbers, shapes or dtypes than it was given.
        """
        values: list[np.ndarray | None] = [None] * len(self._slots)
        values[: len(inputs)] = self._checked(inputs)
        for slot, constant in self._constants.items():
            values[slot] = constant
        for step in self._steps:
            results = _evaluated(step, [values[slot] for slot in step.arguments])
            if on_result is not None and step.operation.name != "tensor.empty":
                operands = [values[slot] for slot in step.operands]
                results = _replaced(step.operation, results, on_result(step.operation, operands, results))
            for slot, result in zip(step.results, results, strict=True):
                values[slot] = result
            for slot in step.released:
                values[slot] = None
        return [np.array(values[slot]) for slot in self._returned]

    def _prepare(self, operation: ir.Operation) -> None:
        if operation.name == "func.return":
            self._returned = [self._slots[value] for value in operation.operands]
        elif operation.name == "arith.constant":
            self._constants[self._slot(operation.results[0])] = _constant(operation)
        else:
            operands = list(operation.operands)
            evaluate, arguments = self._evaluation(operation, operands)
            slots = ([self._slots[value] for value in values] for values in (operands, arguments))
            self._steps.append(_Step(operation, *slots, [self._slot(value) for value in operation.results], evaluate))

    def _evaluation(self, operation: ir.Operation, operands: list[ir.Value]) -> tuple[Evaluation, list[ir.Value]]:
        """How to compute the results of an operation, and from which values."""
        if operation.name in KERNELS:
            return _kernel(operation), operands
        evaluate = data_movement(operation)
        if evaluate is not None:
            return evaluate, operands
        try:
            return self._compiled.compile(operation)
        except TorqError as error:
            raise InterpreterError(operation, f"is not supported: {error}") from error

    def _slot(self, value: ir.Value) -> int:
        return self._slots.setdefault(value, len(self._slots))

    def _release_early(self) -> None:
        last_user: dict[int, _Step] = {}
        for step in self._steps:
            last_user.update(dict.fromkeys((*step.operands, *step.arguments, *step.results), step))
        kept = {*self._constants, *self._returned}
        for slot, step in last_user.items():
            if slot not in kept:
                step.released.append(slot)

    def _checked(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        if len(inputs) != len(self._specs):
            raise InputError(f"expected {len(self._specs)} inputs ({', '.join(self._arguments)}), got {len(inputs)}")
        arrays = [np.asarray(array) for array in inputs]
        for array, name, spec in zip(arrays, self._arguments, self._specs, strict=True):
            if array.dtype != spec.dtype:
                raise InputError(f"input {name} is {array.dtype}, expected {spec.dtype}")
            if len(array.shape) != len(spec.shape) or any(
                size not in (expected, None) for expected, size in zip(array.shape, spec.shape, strict=True)
            ):
                expected = "x".join("?" if size is None else str(size) for size in spec.shape) or "a scalar"
                raise InputError(f"input {name} has shape {array.shape}, expected {expected}")
        return arrays


def _constant(operation: ir.Operation) -> np.ndarray:
    result = operation.results[0]
    try:
        value, dtype = elements.constant_value(result), TensorSpec.of(result.type).dtype
    except TypeError as error:
        raise InterpreterError(operation, f"is not supported: {error}") from error
    if value is None:
        raise InterpreterError(operation, "has no value: it was elided when the module was printed")
    return value.astype(dtype, copy=False)


def _kernel(operation: ir.Operation) -> Evaluation:
    """The kernel of a torq_hl operation with its attributes."""
    kernel = KERNELS[operation.name]
    attributes = ods.attribute_values(operation, torq_hl.OPERATIONS[operation.name])
    return lambda operands: [kernel(*operands, **attributes)]


def _evaluated(step: _Step, operands: list[np.ndarray]) -> list[np.ndarray]:
    try:
        return step.evaluate(operands)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise InterpreterError(step.operation, f"failed: {error}") from error


def _replaced(
    operation: ir.Operation, results: list[np.ndarray], replacements: Sequence[np.ndarray] | None
) -> list[np.ndarray]:
    """The results, or what `on_result` returned in their place."""
    if replacements is None:
        return results
    given = [(array.shape, array.dtype) for array in replacements]
    expected = [(array.shape, array.dtype) for array in results]
    if given != expected:
        raise ValueError(f"'{operation.name}' has results {expected}, which {given} cannot replace")
    return list(replacements)


def _argument_names(function: ir.Operation) -> list[str]:
    """Names of the arguments in messages: that of the model where it is known, else the position."""
    arguments = function.regions[0].blocks[0].arguments
    names = [str(position) for position in range(len(arguments))]
    if "arg_attrs" in function.attributes:
        for position, attributes in enumerate(ir.ArrayAttr(function.attributes["arg_attrs"])):
            if "torq_hl.name" in ir.DictAttr(attributes):
                names[position] = repr(ir.StringAttr(ir.DictAttr(attributes)["torq_hl.name"]).value)
    return names
