# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far parts of a compiled model are from what the source model computes, on sample inputs.

Each part is fed with the values of the source model, so that the error of one does not appear in the next.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch_mlir import ir

from torq_mlir import interface, pipelines
from torq_mlir.dialects.elements import constant_value
from torq_mlir.dialects.locations import fuse, source_names
from torq_mlir.frontends.tensor_info import TensorInfo

_APPROXIMATION = "torq_hl.approximation"
_BF16 = "bf16"
_TAG = "#operation "


@dataclass(frozen=True)
class Deviation:
    """The error of a part of a model.

    Attributes:
      kind: "softmax", "normalization", "bf16" for neighbouring operations in bf16, or the name of an operation of
        torq_hl.
      names: the source nodes.
      sqnr: signal to quantization noise ratio in dB of what the part gives; None where nothing differs.
      max_steps: greatest difference of a quantized result; None of a part whose results are floats.
    """

    kind: str
    names: tuple[str, ...]
    sqnr: float | None
    max_steps: int | None = None

    def __str__(self) -> str:
        error = "no difference" if self.sqnr is None else f"{self.sqnr:.1f} dB"
        steps = "" if not self.max_steps else f", at most {self.max_steps} step{'s' * (self.max_steps > 1)}"
        return f"{self.kind} ({', '.join(self.names)}): {error}{steps}"


def sample_inputs(inputs: Sequence[TensorInfo], count: int = 2) -> list[dict[str, np.ndarray]]:
    """Random inputs, the same each time.

    Floats are normal with a variance of 1, quantized integers uniform; other integers, which may index something, are
    0 or 1.
    """
    generator = np.random.default_rng(0)

    def draw(info: TensorInfo) -> np.ndarray:
        dtype = np.dtype(info.dtype)
        if dtype.kind not in "iub":
            return generator.standard_normal(info.shape).astype(dtype)
        limits = (0, 1) if info.scale is None else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        return generator.integers(*limits, info.shape, endpoint=True).astype(dtype)

    return [{info.name: draw(info) for info in inputs} for _ in range(count)]


def measure(
    source: ir.Operation,
    lowering: str,
    exact: str,
    operands: Sequence[Sequence[np.ndarray]],
    every_layer: bool = False,
) -> tuple[Deviation, ...]:
    """The deviations of the parts of a module that two pipelines lower in different ways.

    Args:
      source: linalg with quantized_decomposed. It is not modified.
      lowering, exact: pipelines to torq_hl, one that computes some parts other than the source and one that does not.
      operands: for each sample the arguments of the function, as `interface.arrange` gives them.
      every_layer: also of each operation of torq_hl, where `exact` leaves it to the host.
    """
    from torq_mlir.backends.interpreter import Interpreter

    module, exact_module = _tagged(source), _tagged(source)
    pipelines.run(module, lowering, verify=False)
    pipelines.run(exact_module, exact, verify=False)
    with module.context:
        parts = list(_parts(interface.entry_function(module)))
        if every_layer:
            parts += _layers(interface.entry_function(module), parts)
        checkpoints = {operation: part for part in parts for operation in part.results}
        twins = _twins(checkpoints, interface.entry_function(exact_module))
        zero_points = {operation: _zero_point(operation) for operation in twins}
    compared_with = {twin.operation for twin in twins.values()}
    run, run_exactly = Interpreter(module), Interpreter(exact_module)
    for sample in operands:
        expected: dict[ir.Operation, np.ndarray] = {}

        def keep(operation, _, results, expected=expected) -> None:
            if operation in compared_with:
                expected[operation] = results[0]

        def compare(operation, _, results, expected=expected) -> list[np.ndarray] | None:
            if operation not in twins:
                return None
            twin = twins[operation]
            value = twin.unmoved(expected[twin.operation])
            checkpoints[operation].add(results[0], value, zero_points[operation])
            return [value]

        run_exactly(sample, on_result=keep)
        run(sample, on_result=compare)
    return tuple(part.deviation() for part in parts if part.compared)


def _tagged(source: ir.Operation) -> ir.OpView:
    """A copy in which each operation has a name of its own next to those of the source nodes.

    A source node is several operations, and a pass names what it makes after all that it stands for: with these names
    one finds the operation that gives the same value.
    """
    module = source.clone()
    with module.context:
        for number, operation in enumerate(_operations(interface.entry_function(module))):
            operation.location = fuse([operation.location, ir.Location.name(f"{_TAG}{number}")])
    return module


def _tags(operation: ir.Operation) -> set[str]:
    return {name for name in source_names(operation.location) if name.startswith(_TAG)}


def _names(operation: ir.Operation) -> list[str]:
    """The source nodes of an operation."""
    return [name for name in source_names(operation.location) if not name.startswith(_TAG)]


@dataclass
class _Part:
    """Operations that compute other than the source model, and how far their results are from it.

    Attributes:
      results: operations that give the values to compare.
      noise, signal: sums of squares, of the differences and of the exact values.
    """

    kind: str
    names: list[str]
    results: list[ir.Operation]
    noise: float = 0.0
    signal: float = 0.0
    max_steps: int | None = None
    compared: bool = field(default=False)

    def add(self, actual: np.ndarray, expected: np.ndarray, zero_point: float) -> None:
        self.compared = True
        difference = actual.astype(np.float64) - expected
        finite = np.isfinite(difference)
        self.noise += float(np.square(difference[finite]).sum())
        self.signal += float(np.square(expected.astype(np.float64)[finite] - zero_point).sum())
        if actual.dtype.kind == "i":
            self.max_steps = max(self.max_steps or 0, int(np.abs(difference).max(initial=0)))

    def deviation(self) -> Deviation:
        sqnr = 10 * math.log10(max(self.signal, 1e-300) / self.noise) if self.noise else None
        return Deviation(self.kind, tuple(self.names), sqnr, self.max_steps)


def _parts(function: ir.Operation) -> Iterator[_Part]:
    """Approximations, and the operations in bf16 that are connected."""
    islands: list[set[ir.Operation]] = []
    for operation in _operations(function):
        if _APPROXIMATION in operation.attributes:
            kind = ir.StringAttr(operation.attributes[_APPROXIMATION]).value
            yield _Part(kind, _names(operation), [operation])
        if any(_is_bf16(value) for value in (*operation.operands, *operation.results)):
            before = {_owner(value) for value in operation.operands if _is_bf16(value)}
            joined = [island for island in islands if island & before]
            islands = [island for island in islands if island not in joined] + [{operation}.union(*joined)]
    order = {operation: position for position, operation in enumerate(_operations(function))}
    for island in islands:
        operations = sorted((operation for operation in island if operation in order), key=order.__getitem__)
        names = dict.fromkeys(name for operation in operations for name in _names(operation))
        results = [result for operation in operations if (result := _leaves_bf16(operation)) is not None]
        yield _Part(_BF16, list(names), results)


def _layers(function: ir.Operation, parts: Iterable[_Part]) -> list[_Part]:
    """Each operation of torq_hl that gives quantized integers and is in no part yet."""
    taken = {name for part in parts for name in part.names}
    layers = (operation for operation in _operations(function) if operation.name.startswith("torq_hl."))
    return [
        _Part(operation.name, _names(operation), [operation])
        for operation in layers
        if taken.isdisjoint(_names(operation)) and not _is_bf16(operation.results[0])
    ]


def _leaves_bf16(operation: ir.Operation) -> ir.Operation | None:
    """What gives a value of another type for one of bf16; after a conversion to integers the clamp that follows."""
    if _is_bf16(operation.results[0]):
        return None
    users = [use.owner.operation for use in operation.results[0].uses]
    is_quantization = isinstance(ir.RankedTensorType(operation.results[0].type).element_type, ir.IntegerType)
    return users[0] if is_quantization and len(users) == 1 and users[0].name == "torq_hl.fma" else operation


def _zero_point(operation: ir.Operation) -> float:
    """That of a quantized result, from the operations that quantize it."""
    if operation.name != "torq_hl.fma" and "output_zp" not in operation.attributes:
        return 0.0
    own = ir.IntegerAttr(operation.attributes["output_zp"]).value
    source = _owner(operation.operands[len(operation.operands) - 1])
    if own or operation.name != "torq_hl.fma" or isinstance(source, ir.Block) or source.name != "torq_hl.act":
        return float(own)
    product = _owner(source.operands[1])  # in bf16, whose bias is the zero point
    bias = constant_value(product.operands[1]) if getattr(product, "name", "") == "torq_hl.mul" else None
    return 0.0 if bias is None else float(bias[0])


@dataclass(frozen=True)
class _Twin:
    """The operation of the exact function that gives a value, which is moved to there in the other function.

    Attributes:
      positions: for each element of the moved value its position before; of the shape of the moved value.
      shape: of the value before.
    """

    operation: ir.Operation
    positions: np.ndarray
    shape: Sequence[int]

    def unmoved(self, value: np.ndarray) -> np.ndarray:
        """The value as it was before."""
        result = np.empty(math.prod(self.shape), value.dtype)
        result[self.positions] = value
        return result.reshape(self.shape)


def _twins(checkpoints: Iterable[ir.Operation], exact: ir.Operation) -> dict[ir.Operation, _Twin]:
    """For each operation to compare the one that gives its value in the exact function.

    That is the last one of the type of the result, moved or not, that comes from no other operations; of no such,
    the last one of as many elements, since a reshape can be part of the next.
    """
    candidates = [(operation, _tags(operation)) for operation in _operations(exact)]
    twins: dict[ir.Operation, _Twin] = {}
    for operation in checkpoints:
        tags = _tags(operation)
        result = ir.RankedTensorType(operation.results[0].type)
        own = [
            (candidate, ir.RankedTensorType(candidate.results[0].type))
            for candidate, sources in candidates
            if sources and sources <= tags
        ]
        own = [(candidate, type_) for candidate, type_ in own if str(type_.element_type) == str(result.element_type)]
        moved = [(positions, c) for positions in _movements(operation) for c, t in own if t.shape == [*positions.shape]]
        flat = [(np.arange(math.prod(t.shape)).reshape(t.shape), c) for c, t in own]
        flat = [(positions, c) for positions, c in flat if positions.size == math.prod(result.shape)]
        if moved or flat:
            positions, twin = (moved or flat)[-1]
            twins[operation] = _Twin(twin, positions, result.shape)
    return twins


def _movements(operation: ir.Operation) -> Iterator[np.ndarray]:
    """The positions of the elements of a result in itself, and in what moves it only."""
    shape = ir.RankedTensorType(operation.results[0].type).shape
    positions = np.arange(math.prod(shape)).reshape(shape)
    yield positions
    while len(users := [use.owner.operation for use in operation.results[0].uses]) == 1:
        operation = users[0]
        if operation.name == "torq_hl.transpose":
            positions = positions.transpose(list(ir.DenseI64ArrayAttr(operation.attributes["perm"])))
        elif operation.name in ("tensor.collapse_shape", "tensor.expand_shape"):
            positions = positions.reshape(ir.RankedTensorType(operation.results[0].type).shape)
        else:
            return
        yield positions


def _operations(function: ir.Operation) -> Iterator[ir.Operation]:
    """The operations of the body that compute a tensor."""
    for block in function.regions[0].blocks:
        for operation in block.operations:
            is_tensor = len(operation.results) and isinstance(operation.results[0].type, ir.RankedTensorType)
            if is_tensor and operation.name not in ("arith.constant", "tensor.empty"):
                yield operation.operation


def _is_bf16(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType) and isinstance(value.type.element_type, ir.BF16Type)


def _owner(value: ir.Value) -> ir.Operation | ir.Block:
    return value.owner if isinstance(value.owner, ir.Block) else value.owner.operation
